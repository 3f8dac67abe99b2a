package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// A server is a running `deskbell serve` on a folder of its own.
type server struct {
	URL   string `json:"url"`
	Code  string `json:"code"`
	dir   string
	cmd   *exec.Cmd
	token string // the operator's
}

func serve(env ...string) (*server, error) {
	dir, err := os.MkdirTemp("", "deskbell-bench-")
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir}
	s.cmd = exec.Command(*bin, "serve", "--data", dir, "--addr", "127.0.0.1:0", "--json")
	s.cmd.Env = append(os.Environ(), env...)
	s.cmd.Stderr = os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("the server did not say that it is ready: %w", err)
	}
	if err := json.Unmarshal(line, s); err != nil {
		return nil, fmt.Errorf("%q: %w", line, err)
	}
	var session struct{ Token string }
	if err := s.call("", "POST", "/api/session", map[string]string{"code": s.Code}, &session); err != nil {
		return nil, err
	}
	s.token = session.Token
	return s, nil
}

func (s *server) stop() {
	_ = s.cmd.Process.Signal(os.Interrupt)
	_ = s.cmd.Wait()
	_ = os.RemoveAll(s.dir)
}

// key makes an agent's key, as a person would.
func (s *server) key(name string) (string, error) {
	out, err := exec.Command(*bin, "keys", "add", name, "--data", s.dir, "--json").Output()
	if err != nil {
		return "", err
	}
	var k struct{ Key string }
	err = json.Unmarshal(out, &k)
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

// latency measures, at 100 rings a second, how long a ring takes to reach a subscriber as an event, and
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
	ws, _, err := websocket.Dial(ctx, strings.Replace(s.URL, "http", "ws", 1)+"/api/ws",
		&websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + s.token}}})
	if err != nil {
		return err
	}
	defer func() { _ = ws.CloseNow() }()
	ws.SetReadLimit(16 << 20)

	var mu sync.Mutex
	heard := map[string]time.Time{}
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
				mu.Lock()
				heard[e.ID] = at
				mu.Unlock()
			}
		}
	}()

	type operation struct {
		ID      string `json:"operation_id"`
		Version int
		State   string
	}
	rung, woke := make([]time.Time, count), make([]time.Duration, count)
	ids := make([]string, count)
	var failed error
	var wg sync.WaitGroup
	tick := time.NewTicker(time.Second / perSecond)
	defer tick.Stop()
	for i := range count {
		<-tick.C
		wg.Go(func() {
			fail := func(err error) {
				mu.Lock()
				defer mu.Unlock()
				failed = err
			}
			rung[i] = time.Now()
			var op operation
			if err := s.call(key, "POST", "/api/human/invoke", invocation, &op); err != nil {
				fail(err)
				return
			}
			ids[i] = op.ID
			waiting := make(chan time.Time, 1)
			go func() {
				var end operation
				if err := s.call(key, "GET", fmt.Sprintf("/api/human/operations/%s?wait=60&after_version=%d", op.ID, op.Version), nil, &end); err != nil {
					fail(err)
				}
				waiting <- time.Now()
			}()
			time.Sleep(200 * time.Millisecond) // the agent's wait is surely open by then
			answered := time.Now()
			if err := s.call(s.token, "POST", "/api/human/complete", map[string]string{"operation_id": op.ID, "decision": "approve"}, nil); err != nil {
				fail(err)
				return
			}
			woke[i] = (<-waiting).Sub(answered)
		})
	}
	wg.Wait()
	if failed != nil {
		return failed
	}
	mu.Lock()
	defer mu.Unlock()
	events := make([]time.Duration, 0, count)
	for i, id := range ids {
		at, ok := heard[id]
		if !ok {
			return fmt.Errorf("the subscriber never heard of %s", id)
		}
		events = append(events, at.Sub(rung[i]))
	}
	fmt.Printf("\n## Latency at %d rings and %d answers a second\n\n| | p50 | p99 | worst | of |\n| --- | --- | --- | --- | --- |\n", perSecond, perSecond)
	percentiles("ring sent, to event at a subscriber", events)
	percentiles("answer sent, to waiting agent awake", woke)
	return nil
}
