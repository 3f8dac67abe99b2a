package api

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	mcpserver "deskbell/backend/transport/mcp"
)

// half sends a request with as many bytes of its body as are said, and announces one more.
func (h *fixture) half(path, token string, bytes int) net.Conn {
	h.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
	must(h.t, err)
	h.t.Cleanup(func() { _ = conn.Close() })
	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
		path, strings.TrimPrefix(h.url, "http://"), token, bytes+1)
	for blank := strings.Repeat(" ", min(bytes, 1<<16)); err == nil && bytes > 0; bytes -= len(blank) { // it may be closed meanwhile
		blank = blank[:min(bytes, len(blank))]
		_, err = conn.Write([]byte(blank))
	}
	return conn
}

// answered is what came on a connection.
func (h *fixture) answered(conn net.Conn) reply {
	h.t.Helper()
	must(h.t, conn.SetReadDeadline(time.Now().Add(time.Minute)))
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	must(h.t, err)
	data, err := io.ReadAll(answer.Body)
	must(h.t, err)
	return reply{h.t, answer.StatusCode, answer.Header, data}
}

// used is the memory that this process holds, in bytes, without garbage and without what the race detector keeps for itself.
func used() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// As many connections as there may be each send half a request: with no key, a wrong one, and right ones. The operator
// comes in, and the memory is bounded.
func TestHalfSentBodiesLockNoOneOut(t *testing.T) {
	h := openFixture(t, nil)
	keys := []string{"", "dbk_wrong", "dbo_wrong", h.agent("a"), h.agent("b")}
	before := used()
	for i := range 4096 {
		h.half([]string{"/api/human/invoke", "/mcp", "/api/session", "/api/gate/evaluate"}[i%4], keys[i%5], 1024)
	}
	h.http.CloseIdleConnections()
	start := time.Now()
	h.get("/api/agents", h.op).into(new(AgentList))
	took := time.Since(start)
	l := h.dial("", h.op)
	l.hello()
	h.ring(h.agent("c"), "in between")
	if m := l.event(); m.Type != "invoked" {
		t.Errorf("the socket got %s", m.raw)
	}
	grown := used() - before
	t.Logf("the operator waited %s; %d MB more", took, grown>>20)
	if took > headerTime {
		t.Errorf("the operator waited %s", took)
	}
	if grown > 300<<20 {
		t.Errorf("%d MB more", grown>>20)
	}
}

// 100 bodies of 4 MiB, all but the last byte, are 400 MiB. What is over an agent's budget is refused, and others are not.
func TestAnAgentHasABudgetOfBytes(t *testing.T) {
	const each = 4<<20 - 1
	h := openFixture(t, func(d *Deps, _ *queue.Options) { d.BodyTime = 10 * time.Minute }) // for 400 MiB on a busy machine
	bot := h.agent("bot")
	before := used()
	var refused sync.WaitGroup
	var mu sync.Mutex
	var over []net.Conn
	for i := range 100 {
		refused.Go(func() {
			conn := h.half([]string{"/api/human/invoke", "/api/plans"}[i%2], bot, each)
			mu.Lock()
			defer mu.Unlock()
			over = append(over, conn)
		})
	}
	refused.Wait()
	held := func(agent string) (bytes, requests int) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if a := h.agents[agent]; a != nil {
			bytes, requests = a.bytes, a.requests
		}
		return bytes, requests
	}
	until(t, "only what fits is left", func() bool { bytes, requests := held("bot"); return requests <= 4 && bytes <= agentBytes })
	grown := used() - before
	t.Logf("%d MB more", grown>>20)
	if grown > 150<<20 {
		t.Errorf("%d MB more", grown>>20)
	}
	// How many are left is chance: those that meet the limit at the same moment are all turned away.
	for _, conn := range over {
		_ = conn.Close()
	}
	until(t, "it is given back", func() bool { bytes, _ := held("bot"); return bytes == 0 })
	h.ring(bot, "there is room again")

	const fit = agentBytes / each
	full := h.agent("full")
	for range fit {
		h.half("/api/human/invoke", full, each)
	}
	until(t, "as much as fits is there", func() bool { bytes, _ := held("full"); return bytes == fit*each })
	h.answered(h.half("/api/human/invoke", full, 1<<10)).problem(http.StatusTooManyRequests, "16 MiB of bodies")
	h.ring(bot, "is not concerned")
}

// A body that does not come ends, also where it was refused before it was read.
func TestBodiesHaveADeadline(t *testing.T) {
	h := openFixture(t, nil)
	bot := h.agent("bot")
	open := h.ring(bot, "waits all the while")
	poll := make(chan reply, 1)
	go func() { poll <- h.get("/api/human/operations/"+string(open.ID)+"?wait=60&after_version=1", bot) }()
	for name, tt := range map[string]struct {
		conn   net.Conn
		status int
		most   time.Duration
	}{
		"refused":       {h.half("/api/human/invoke", "dbk_wrong", 10), http.StatusUnauthorized, refusedTime},
		"no such call":  {h.half("/api/nothing", bot, 10), http.StatusNotFound, refusedTime},
		"not read":      {h.half("/api/ws", bot, 10), http.StatusMethodNotAllowed, refusedTime},
		"with a key":    {h.half("/api/human/invoke", bot, 10), http.StatusRequestTimeout, bodyTime},
		"an operator's": {h.half("/api/human/claim", h.op, 10), http.StatusRequestTimeout, bodyTime},
	} {
		start := time.Now()
		if r := h.answered(tt.conn); r.status != tt.status {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
		if _, err := tt.conn.Read(make([]byte, 1)); err == nil {
			t.Errorf("%s: more came", name)
		}
		if took := time.Since(start); took > tt.most+10*time.Second {
			t.Errorf("%s: it was left open for %s", name, took)
		}
	}
	select {
	case r := <-poll:
		t.Errorf("the poll ended: %s", r.body)
	default:
	}
	h.post("/api/human/complete", h.op, idBody(open.ID, `,"human_input":"still here"`)).operation(200)
	if r := <-poll; r.operation(200).Result == nil {
		t.Errorf("the poll got %s", r.body)
	}
}

// withMCP serves MCP for the fixture's queue.
func withMCP(d *Deps, _ *queue.Options) {
	d.MCP = mcpserver.HTTPHandler(ActorOf, func(by human.Actor) mcpserver.Ringer { return mcpserver.ForQueue(d.Queue, nil, by) }, mcpserver.Options{Version: "1"})
}

// bearer sends a key with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// All that an agent has under way when its key is revoked ends at once; other agents' continues.
func TestRevokingEndsEverything(t *testing.T) {
	for name, revoke := range map[string]func(*fixture){
		"by an operator": func(h *fixture) {
			if r := h.send("DELETE", "/api/agents/bot", h.op, "", nil); r.status != http.StatusNoContent {
				h.t.Errorf("%d %s", r.status, r.body)
			}
		},
		"by another process": func(h *fixture) { _, err := h.store.RevokeKey(h.t.Context(), "bot"); must(h.t, err) },
	} {
		t.Run(name, func(t *testing.T) {
			h := openFixture(t, withMCP)
			bot, other := h.agent("bot"), h.agent("other")
			open, kept := h.ring(bot, "waits"), h.ring(other, "waits, too")
			socket, theirs := h.dial("", bot), h.dial("", other)
			socket.hello()
			theirs.hello()
			poll, evaluation, trickle := make(chan reply, 1), make(chan reply, 1), h.half("/api/human/invoke", bot, 10)
			go func() { poll <- h.get("/api/human/operations/"+string(open.ID)+"?wait=60&after_version=1", bot) }()
			go func() {
				evaluation <- h.post("/api/gate/evaluate?wait=60", bot, `{"tool":"bash","args":{"command":"frobnicate it"}}`)
			}()
			client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
			session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
				Endpoint: h.url + "/mcp", HTTPClient: &http.Client{Transport: bearer(bot)}, MaxRetries: -1,
			}, nil)
			must(t, err)
			defer func() { _ = session.Close() }() // its key is revoked
			called := make(chan error, 1)
			go func() {
				_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "human", Arguments: map[string]any{"action": "invoke", "wait_seconds": 50, "action_type": "feedback", "description": "over MCP"}})
				called <- err
			}()
			opened := func(agent string) []human.Operation {
				page, err := h.queue.List(t.Context(), human.Actor{Role: human.Operator, Name: "ada"}, queue.Filter{AgentID: agent, Open: true})
				must(t, err)
				return page.Operations
			}
			until(t, "all is asked", func() bool { return len(opened("bot")) == 3 && h.requestsOf("bot") >= 5 })

			revoke(h)
			for what, r := range map[string]reply{"poll": <-poll, "evaluation": <-evaluation, "half a body": h.answered(trickle)} {
				if r.status != http.StatusUnauthorized || !strings.Contains(string(r.body), "revoked") {
					t.Errorf("%s: %d %s", what, r.status, r.body)
				}
			}
			if err := <-called; err == nil {
				t.Error("the MCP call was answered")
			}
			socket.closed(websocket.StatusPolicyViolation)
			until(t, "its operations end", func() bool { return len(opened("bot")) == 0 })
			op := h.get("/api/human/operations/"+string(open.ID), h.op).operation(200)
			if op.State != human.Cancelled || op.Ended.Reason != "the key of bot was revoked" || op.Ended.By.Role != human.System {
				t.Errorf("it ended as %+v %+v", op.State, op.Ended)
			}
			if len(opened("other")) != 1 {
				t.Error("another agent's ended, too")
			}
			h.post("/api/human/complete", h.op, idBody(kept.ID, `,"human_input":"for the other"`)).operation(200)
			theirs.until("its answer", func(m message) bool { return m.Type == "completed" })
			again := h.agent("bot") // a new key begins again
			h.ring(again, "with a new key")
		})
	}
}
