package api

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/queue/receipt"
	"deskbell/backend/record"
	"deskbell/backend/record/library"
	"deskbell/backend/store/pictures"
	"deskbell/backend/store/receiptkeys"
	"deskbell/backend/store/sqlite"
	"deskbell/backend/store/views"
	"deskbell/backend/summary"
)

// A fixture is a whole server over a real database, on a real port.
type fixture struct {
	*Server
	t     testing.TB
	queue *queue.Queue
	store *sqlite.Store
	url   string
	http  *http.Client
	op    string // an operator's token
	logs  *logs

	recorder  *record.Recorder
	replays   *library.Replays
	summaries *summary.Service
	gate      *service.Service
	planFixture
	pictures *pictures.Store
	input    *hand
	playing  chan struct{} // what is played continues until something can be read from it
}

func openFixture(t testing.TB, change func(*Deps, *queue.Options)) *fixture {
	t.Helper()
	return openFixtureOn(t, change, func(j queue.Journal) queue.Journal { return j })
}

// openFixtureOn is openFixture with another journal in front of the store.
func openFixtureOn(t testing.TB, change func(*Deps, *queue.Options), on func(queue.Journal) queue.Journal) *fixture {
	t.Helper()
	h := &fixture{t: t, logs: new(logs)}
	log := slog.New(slog.NewTextHandler(h.logs, &slog.HandlerOptions{Level: slog.LevelInfo}))
	dir := t.TempDir()
	keys, err := receiptkeys.Open(dir, time.Now)
	must(t, err)
	store, err := sqlite.Open(t.Context(), dir, sqlite.Options{Key: keys.Current})
	must(t, err)
	h.store = store
	deps := Deps{Views: views.New(dir, func(prefix string) string { return prefix + rand.Text() }), Keys: store, Search: store, ReceiptKeys: keys, Operator: "ada", Version: "1.2.3", Log: log}
	opts := queue.Options{MaxPending: 100_000, Log: log, Receipts: &receipt.Maker{Key: keys.Current}}
	if change != nil {
		change(&deps, &opts)
	}
	h.queue = queue.New(on(store), store, opts)
	deps.Queue = h.queue
	if deps.StepUp != nil {
		opts.Receipts.Passkey = deps.StepUp.PublicKey
	}
	h.openRecordings(&deps)
	deps.Capturer = onePixel{}
	must(t, h.queue.Load(t.Context()))
	h.openGate(&deps)
	h.openPlans(&deps)
	h.Server, err = New(deps)
	must(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	h.url = "http://" + listener.Addr().String()
	h.http = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 128}}
	h.op = h.WindowToken()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 4)
	go func() { ended <- h.Serve(ctx, listener) }()
	go func() { ended <- h.queue.Run(ctx) }()
	go func() { ended <- h.recorder.Run(ctx) }()
	go func() { ended <- h.gate.Run(ctx) }()
	t.Cleanup(func() {
		h.http.CloseIdleConnections()
		h.replays.Close()
		h.summaries.Close()
		stop()
		for range 4 {
			if err := <-ended; err != nil {
				t.Errorf("the server ended with: %v", err)
			}
		}
		if err := store.Close(); err != nil {
			t.Errorf("the store did not close: %v", err)
		}
	})
	return h
}

// logs is what was logged.
type logs struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (h *fixture) NewCode() string {
	code, _ := h.Server.NewCode()
	return code
}

func (h *fixture) agent(name string) (key string) {
	h.t.Helper()
	key, err := h.store.AddKey(h.t.Context(), name, false)
	must(h.t, err)
	return key
}

// A reply is an HTTP answer, read.
type reply struct {
	t      testing.TB
	status int
	header http.Header
	body   []byte
}

// send makes a request. body is JSON text, or "" for none; change may be nil.
func (h *fixture) send(method, path, token, body string, change func(*http.Request)) reply {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), method, h.url+path, strings.NewReader(body))
	must(h.t, err)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if change != nil {
		change(r)
	}
	answer, err := h.http.Do(r)
	must(h.t, err)
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	must(h.t, err)
	return reply{h.t, answer.StatusCode, answer.Header, data}
}

func (h *fixture) get(path, token string) reply {
	h.t.Helper()
	return h.send("GET", path, token, "", nil)
}
func (h *fixture) post(path, token, body string) reply {
	h.t.Helper()
	return h.send("POST", path, token, body, nil)
}

func (r reply) into(v any) {
	r.t.Helper()
	if err := json.Unmarshal(r.body, v); err != nil {
		r.t.Fatalf("%d %s: %v", r.status, r.body, err)
	}
}

// operation reads a 2xx answer as an operation.
func (r reply) operation(status int) Operation {
	r.t.Helper()
	if r.status != status {
		r.t.Fatalf("status %d, want %d: %s", r.status, status, r.body)
	}
	var op Operation
	r.into(&op)
	return op
}

// problem reads an error, and checks that it is one in every respect.
func (r reply) problem(status int, in string) Problem {
	r.t.Helper()
	if r.status != status || r.header.Get("Content-Type") != "application/problem+json" {
		r.t.Fatalf("status %d %s, want a problem with %d: %s", r.status, r.header.Get("Content-Type"), status, r.body)
	}
	var p Problem
	r.into(&p)
	if p.Status != status || p.Title != http.StatusText(status) || p.Kind == "" || !strings.Contains(p.Detail, in) {
		r.t.Fatalf("problem %s does not say %q", r.body, in)
	}
	return p
}

func (h *fixture) ring(key, description string) Operation {
	h.t.Helper()
	return h.post("/api/human/invoke", key, `{"action_type":"feedback","description":`+quoted(description)+`}`).operation(http.StatusCreated)
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func idBody(id human.OperationID, more string) string {
	return `{"operation_id":` + quoted(string(id)) + more + `}`
}

// until waits for a condition that nothing announces.
func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-deadline:
			t.Fatalf("never: %s", what)
		case <-tick.C:
		}
	}
}
