package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"deskbell/backend/human"
	"deskbell/backend/queue/receipt"
)

// A crashTest is what the server has acknowledged so far, over all its deaths.
type crashTest struct {
	dir      string
	env      []string
	keys     []string
	lastSeq  uint64
	versions map[human.OperationID]uint64

	mu    sync.Mutex
	rings map[string]*crashRing // by idempotency key
	acked int
}

// A crashRing is one request as its callers know it.
type crashRing struct {
	agent   int
	body    map[string]any
	id      human.OperationID // empty: no answer came
	version uint64            // of the newest acknowledged change
	end     human.State       // acknowledged
	answer  string            // acknowledged, of the operator
	held    *human.Leaving    // acknowledged, of the operator, who may still undo it
	checked bool              // its end was found again after a crash
}

// TestCrash kills the server with SIGKILL at random moments under load and checks that whatever it
// acknowledged is there, once. DESKBELL_CRASH_ROUNDS says how often; DESKBELL_CRASH_SEED repeats a run's
// choices (not its timing).
func TestCrash(t *testing.T) {
	t.Parallel()
	rounds := 3
	if n, err := strconv.Atoi(os.Getenv("DESKBELL_CRASH_ROUNDS")); err == nil {
		rounds = n
	}
	seed := rand.Uint64()
	if n, err := strconv.ParseUint(os.Getenv("DESKBELL_CRASH_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("DESKBELL_CRASH_SEED=%d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	c := &crashTest{
		dir: t.TempDir(), env: []string{"DESKBELL_HUMAN_MAX_PENDING_REQUESTS=100000"},
		versions: map[human.OperationID]uint64{}, rings: map[string]*crashRing{},
	}
	for i := range 4 {
		c.keys = append(c.keys, key(t, c.dir, fmt.Sprintf("agent-%d", i)))
	}
	for round := range rounds {
		s := serve(t, c.dir, c.env)
		boss := operator(t, s.url, s.code)
		c.check(t, s, boss, false)
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
		c.load(t, s, boss, round, 1+random.IntN(200), time.Duration(random.IntN(20_000))*time.Microsecond)
		if random.IntN(3) == 0 { // sometimes it dies again while it starts
			c.killStarting(t, time.Duration(random.IntN(60))*time.Millisecond)
		}
	}
	s := serve(t, c.dir, c.env)
	c.check(t, s, operator(t, s.url, s.code), false)
	s.stop(t)
	s = serve(t, c.dir, c.env)
	c.check(t, s, operator(t, s.url, s.code), true)
	s.stop(t)
	t.Logf("%d rounds, %d rings, %d acknowledged changes, %d events", rounds, len(c.rings), c.acked, c.lastSeq)
	if c.acked < rounds {
		t.Errorf("only %d changes were acknowledged; that tests nothing", c.acked)
	}
}

// load has agents and operators work until the server is killed: a while after so many acknowledgements,
// so that a slow machine tests as much as a fast one.
func (c *crashTest) load(t *testing.T, s *server, boss *caller, round, acks int, after time.Duration) {
	c.mu.Lock()
	enough := c.acked + acks
	c.mu.Unlock()
	var callers sync.WaitGroup
	for i := range c.keys {
		callers.Go(func() { c.agent(newCaller(t, s.url, c.keys[i]), i, round) })
	}
	for i := range 2 {
		callers.Go(func() { c.operator(newCaller(t, s.url, boss.token), round, i) })
	}
	waitFor(t, "acknowledgements", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.acked >= enough
	})
	<-time.After(after)
	s.kill()
	callers.Wait()
}

func (c *crashTest) killStarting(t *testing.T, after time.Duration) {
	cmd := program(t, c.dir, c.env, "serve", "--addr", "127.0.0.1:0", "--json")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-time.After(after)
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // killed: its error says so
}

// agent rings, and replies to or cancels some of its own, until no one answers.
func (c *crashTest) agent(me *caller, agent, round int) {
	for n := 0; ; n++ {
		name := fmt.Sprintf("%d-%d-%d", agent, round, n)
		r := &crashRing{agent: agent, body: map[string]any{
			"action_type": "feedback", "description": "ring " + name, "idempotency_key": name, "details": map[string]any{"n": n},
		}}
		c.mu.Lock()
		c.rings[name] = r
		c.mu.Unlock()
		var op human.Operation
		status, err := me.call("POST", "/api/human/invoke", r.body, &op)
		if err != nil {
			return
		}
		if status != 201 || !c.note(r, op, "") {
			c.fail(r, "a ring was answered with %d, version %d, id %q", status, op.Version, op.ID)
			return
		}
		path, body := "/api/human/reply", map[string]any{"operation_id": op.ID, "text": "more about " + name}
		switch n % 8 {
		case 3:
			path, body = "/api/human/cancel", map[string]any{"operation_id": op.ID, "reason": "never mind"}
		case 5:
		default:
			continue
		}
		status, err = me.call("POST", path, body, &op)
		if err != nil {
			return
		}
		if status == 200 {
			c.note(r, op, "")
		}
	}
}

// operator answers, asks about and declines whatever waits, in competition with another, until no one answers.
func (c *crashTest) operator(me *caller, round, which int) {
	for n := 0; ; n++ {
		var page struct{ Operations []human.Operation }
		status, err := me.call("GET", "/api/human/operations?state=pending&limit=8", nil, &page)
		if err != nil {
			return
		}
		if status != 200 {
			continue
		}
		for i, brief := range page.Operations {
			answer := fmt.Sprintf("answer %d-%d-%d-%d", round, which, n, i)
			path, body := "/api/human/complete", map[string]any{"operation_id": brief.ID, "human_input": answer}
			switch (n + i) % 7 {
			case 2:
				path, body, answer = "/api/human/reply", map[string]any{"operation_id": brief.ID, "text": "why?"}, ""
			case 4:
				path, body, answer = "/api/human/decline", map[string]any{"operation_id": brief.ID, "reason": "no", "undoable": n%2 == 0}, ""
			case 5:
				body["undoable"] = true
			}
			var op human.Operation
			status, err := me.call("POST", path, body, &op)
			if err != nil {
				return
			}
			if status == 200 {
				c.mu.Lock()
				r := c.rings[op.IdempotencyKey]
				c.mu.Unlock()
				c.note(r, op, answer)
			}
		}
	}
}

// note takes down what was acknowledged; false when that cannot be.
func (c *crashTest) note(r *crashRing, op human.Operation, answer string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.acked++
	if op.ID == "" || op.Version == 0 || (r.id != "" && r.id != op.ID) {
		return false
	}
	r.id, r.version = op.ID, max(r.version, op.Version)
	if op.Leaving != nil {
		r.held = op.Leaving
	}
	if op.State.Terminal() {
		r.end = op.State
		if answer != "" {
			r.answer = answer
		}
	}
	return true
}

// fail leaves a mark that check finds, as goroutines beside the test must not end it.
func (c *crashTest) fail(r *crashRing, format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r.body["failed"] = fmt.Sprintf(format, args...)
}

// check compares what a restarted server says with what the one before acknowledged. last: the one before ended in order.
func (c *crashTest) check(t *testing.T, s *server, boss *caller, last bool) {
	c.replay(t, s, boss)
	var audit receipt.Audit
	if status, err := boss.call("GET", "/api/receipts/audit", nil, &audit); err != nil || status != 200 || len(audit.Found) > 0 {
		t.Errorf("the audit of the journal: %d, %v, %+v", status, err, audit)
	}
	var agents []*caller
	for _, k := range c.keys {
		agents = append(agents, newCaller(t, s.url, k))
	}
	for name, r := range c.rings {
		if why := r.body["failed"]; why != nil {
			t.Errorf("%s: %v", name, why)
		}
		if r.checked {
			continue
		}
		// Sending the request again tells whether an unanswered one was stored, and must not store it twice.
		var op human.Operation
		status, err := agents[r.agent].call("POST", "/api/human/invoke", r.body, &op)
		switch {
		case err != nil || (status != 200 && status != 201):
			t.Errorf("%s: ringing again gives %d, %v", name, status, err)
			continue
		case r.id != "" && (status != 200 || op.ID != r.id):
			t.Errorf("%s: was acknowledged as %s, and is %d %s now", name, r.id, status, op.ID)
			continue
		case op.Version < r.version:
			t.Errorf("%s: version %d was acknowledged, and is %d now", name, r.version, op.Version)
		case r.end != "" && op.State != r.end:
			t.Errorf("%s: was acknowledged as %s, and is %s now", name, r.end, op.State)
		case r.answer != "" && (op.Result == nil || op.Result.HumanInput != r.answer):
			t.Errorf("%s: the answer %q was acknowledged, and is %+v now", name, r.answer, op.Result)
		}
		if l := r.held; l != nil && (op.State == human.Declined && op.Ended.Reason != l.Declined || op.State == human.Completed && (l.Declined != "" || op.Result.HumanInput != l.HumanInput)) {
			t.Errorf("%s: %+v was to be sent, and it is %s, %+v, %+v now", name, l, op.State, op.Result, op.Ended)
		}
		if r.held != nil && last && !op.State.Terminal() {
			t.Errorf("%s: %+v was not sent in an orderly end, it is %s", name, r.held, op.State)
		}
		r.id, r.version = op.ID, op.Version
		if op.State.Terminal() {
			r.end, r.checked = op.State, true
			if op.Result != nil {
				r.answer = op.Result.HumanInput
			}
		}
	}
	c.once(t, boss)
}

// once lists every operation there is: each request must be there once, and nothing else.
func (c *crashTest) once(t *testing.T, boss *caller) {
	seen := map[string]bool{}
	for cursor := ""; ; {
		var page struct {
			Operations []human.Operation
			Next       string
		}
		boss.good(t, "GET", "/api/human/operations?limit=500&cursor="+cursor, nil, &page)
		for _, op := range page.Operations {
			if r := c.rings[op.IdempotencyKey]; r == nil || r.id != op.ID || seen[op.IdempotencyKey] {
				t.Errorf("%s is there with the key %q, which it should not be, or is there twice", op.ID, op.IdempotencyKey)
			}
			seen[op.IdempotencyKey] = true
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if len(seen) != len(c.rings) {
		t.Errorf("%d operations are listed, %d were rung", len(seen), len(c.rings))
	}
}

// replay reads the events since the last check over a WebSocket: no gap in seq, none in any version.
func (c *crashTest) replay(t *testing.T, s *server, boss *caller) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, strings.Replace(s.url, "http", "ws", 1)+fmt.Sprintf("/api/ws?after=%d", c.lastSeq),
		&websocket.DialOptions{HTTPClient: boss.http, HTTPHeader: map[string][]string{"Authorization": {"Bearer " + boss.token}}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.CloseNow() }() // all that counts was read
	conn.SetReadLimit(16 << 20)
	head, known := uint64(0), false
	for !known || c.lastSeq < head {
		_, text, err := conn.Read(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var m struct {
			Seq     uint64
			Type    string
			ID      human.OperationID `json:"operation_id"`
			Version uint64
		}
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		switch {
		case m.Type == "hello":
			head, known = m.Seq, true
		case m.Seq == 0:
		case m.Seq != c.lastSeq+1 || m.Version != c.versions[m.ID]+1:
			t.Fatalf("after seq %d and version %d of %s come seq %d and version %d", c.lastSeq, c.versions[m.ID], m.ID, m.Seq, m.Version)
		default:
			c.lastSeq, c.versions[m.ID] = m.Seq, m.Version
		}
	}
}
