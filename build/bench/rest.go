package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"deskbell/build/serving"
)

// A server is a running `deskbell serve` on a folder of its own.
type server struct {
	URL   string `json:"url"`
	dir   string
	cmd   *exec.Cmd
	token string // the operator's
}

func serve(env ...string) (*server, error) {
	dir, err := os.MkdirTemp("", "deskbell-bench-")
	if err != nil {
		return nil, err
	}
	return serveIn(dir, env...)
}

func serveIn(dir string, env ...string) (*server, error) { return serveBy(*bin, dir, env...) }

func serveBy(program, dir string, env ...string) (*server, error) {
	s := &server{dir: dir}
	s.cmd = exec.Command(program, "serve", "--data", dir, "--addr", "127.0.0.1:0", "--json")
	s.cmd.Env = append(os.Environ(), env...)
	s.cmd.Stderr = os.Stderr
	read, err := serving.Code(s.cmd)
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	ready, err := read()
	if err != nil {
		return nil, err
	}
	s.URL = ready.URL
	var session struct{ Token string }
	if err := s.call("", "POST", "/api/session", map[string]string{"code": ready.Code}, &session); err != nil {
		return nil, err
	}
	s.token = session.Token
	return s, nil
}

// stop stops the server and removes its folder.
func (s *server) stop() {
	s.end()
	_ = os.RemoveAll(s.dir)
}

func (s *server) end() {
	_ = s.cmd.Process.Signal(os.Interrupt)
	_ = s.cmd.Wait()
}

// key makes an agent's key.
func (s *server) key(name string) (string, error) {
	var k struct{ Key string }
	err := s.call(s.token, "POST", "/api/agents", map[string]string{"name": name}, &k)
	return k.Key, err
}

var httpClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}

// call sends body as JSON and decodes the answer into result, where that is not nil.
func (s *server) call(token, method, path string, body, result any) error {
	var r io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return err
		}
		r = bytes.NewReader(b)
	}
	req, err := http.NewRequest(method, s.URL+path, r)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := httpClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, b)
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(b, result)
}

var invocation = map[string]any{
	"action_type": "approve", "description": "Roll out api 2.14.0 to production",
	"details": map[string]any{"action": "kubectl apply -f prod-deployment.yaml", "risk_level": "high", "impact": "Updates 5 services"},
}

// manyPending lets the load generator ring more than a person could answer.
const manyPending = "DESKBELL_HUMAN_MAX_PENDING_REQUESTS=100000"

func overREST(_ context.Context, agents int) (load, error) {
	s, err := serve(manyPending)
	if err != nil {
		return load{}, err
	}
	keys := make([]string, agents)
	for i := range keys {
		if keys[i], err = s.key(fmt.Sprint("agent-", i)); err != nil {
			return load{}, err
		}
	}
	return load{work: func(w int) error { return s.call(keys[w], "POST", "/api/human/invoke", invocation, nil) }, end: s.stop}, nil
}

// latency measures, at 100 requests a second, how long a request takes to reach a subscriber as an event, and
// an answer to wake the agent that waits for it.
func latency(ctx context.Context) error {
	const perSecond, count = 100, 1500
	s, err := serve(manyPending)
	if err != nil {
		return err
	}
	defer s.stop()
	key, err := s.key("agent")
	if err != nil {
		return err
	}
	heard, end, err := s.subscribe(ctx)
	if err != nil {
		return err
	}
	defer end()

	trips, failures := make([]trip, count), make([]error, count)
	var wg sync.WaitGroup
	tick := time.NewTicker(time.Second / perSecond)
	defer tick.Stop()
	for i := range count {
		<-tick.C
		wg.Go(func() { trips[i], failures[i] = s.ringAndAnswer(key) })
	}
	wg.Wait()
	if err := errors.Join(failures...); err != nil {
		return err
	}
	events, woke := make([]time.Duration, count), make([]time.Duration, count)
	for i, t := range trips {
		at, ok := heard.Load(t.id)
		if !ok {
			return fmt.Errorf("the subscriber never heard of %s", t.id)
		}
		events[i], woke[i] = at.(time.Time).Sub(t.rung), t.woke
	}
	fmt.Printf("\n## Latency at %d rings and %d answers a second\n\n| | p50 | p99 | worst | of |\n| --- | --- | --- | --- | --- |\n", perSecond, perSecond)
	percentiles("ring sent, to event at a subscriber", events)
	percentiles("answer sent, to waiting agent awake", woke)
	return nil
}

// subscribe notes when the server's events tell of a new operation, by its id.
func (s *server) subscribe(ctx context.Context) (heard *sync.Map, end func(), err error) {
	ws, _, err := websocket.Dial(ctx, strings.Replace(s.URL, "http", "ws", 1)+"/api/ws",
		&websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + s.token}}})
	if err != nil {
		return nil, nil, err
	}
	ws.SetReadLimit(16 << 20)
	heard = &sync.Map{}
	go func() {
		for {
			_, b, err := ws.Read(ctx)
			at := time.Now()
			if err != nil {
				return
			}
			var e struct {
				Type string
				ID   string `json:"operation_id"`
			}
			if json.Unmarshal(b, &e) == nil && e.Type == "invoked" {
				heard.Store(e.ID, at)
			}
		}
	}()
	return heard, func() { _ = ws.CloseNow() }, nil
}

// A trip is an operation from its ring to its answer.
type trip struct {
	id   string
	rung time.Time
	woke time.Duration // what the answer took to wake the agent
}

func (s *server) ringAndAnswer(key string) (t trip, err error) {
	var op struct {
		ID      string `json:"operation_id"`
		Digest  string
		Version int
	}
	t.rung = time.Now()
	if err := s.call(key, "POST", "/api/human/invoke", invocation, &op); err != nil {
		return t, err
	}
	t.id = op.ID
	waiting := make(chan error, 1)
	var awake time.Time
	go func() {
		err := s.call(key, "GET", fmt.Sprintf("/api/human/operations/%s?wait=60&after_version=%d", op.ID, op.Version), nil, nil)
		awake = time.Now()
		waiting <- err
	}()
	time.Sleep(200 * time.Millisecond) // the agent's wait is surely open by then
	answered := time.Now()
	if err := s.call(s.token, "POST", "/api/human/complete", map[string]string{"operation_id": op.ID, "decision": "approve", "digest": op.Digest}, nil); err != nil {
		return t, err
	}
	err = <-waiting
	t.woke = awake.Sub(answered)
	return t, err
}
