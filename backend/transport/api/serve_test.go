package api

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"deskbell/backend/queue"
)

// TestTenThousandConnections opens connections that say nothing, and half a request each, far above the
// limit, and calls the API in between.
func TestTenThousandConnections(t *testing.T) {
	const most = 1024
	h := openFixture(t, func(d *Deps, _ *queue.Options) { d.MaxConns = most })
	bot := h.agent("bot")
	waiting := h.ring(bot, "waits all the while")
	l := h.dial("", h.op)
	l.hello()
	poll := make(chan reply, 1)
	go func() { poll <- h.get("/api/human/operations/"+string(waiting.ID)+"?wait=60&after_version=1", bot) }()
	until(t, "the poll waits", func() bool { return h.requestsOf("bot") == 1 })

	var idle []net.Conn
	defer func() {
		for _, c := range idle {
			_ = c.Close()
		}
	}()
	const wanted = 10_000
	var slowest time.Duration
	for len(idle) < wanted {
		c, err := net.DialTimeout("tcp", strings.TrimPrefix(h.url, "http://"), 10*time.Second)
		if errors.Is(err, syscall.EMFILE) {
			break
		}
		must(t, err)
		idle = append(idle, c)
		if len(idle)%2 == 0 {
			_, _ = c.Write([]byte("POST /api/human/invoke HTTP/1.1\r\nHost: 127")) // it may be closed by now
		}
		if len(idle)%500 == 0 {
			// One that is kept open between two calls may have made room meanwhile.
			h.http.CloseIdleConnections()
			start := time.Now()
			h.ring(bot, "in between")
			slowest = max(slowest, time.Since(start))
		}
	}
	if len(idle) < 2*most {
		t.Skipf("only %d files may be open here", len(idle))
	}
	t.Logf("%d connections, the slowest ring took %s", len(idle), slowest)
	if slowest > 5*time.Second {
		t.Errorf("a ring took %s", slowest)
	}
	if m := l.event(); m.Type != "invoked" {
		t.Errorf("the socket got %s", m.raw)
	}
	h.post("/api/human/complete", h.op, idBody(waiting.ID, `,"human_input":"still here"`)).operation(200)
	if r := <-poll; r.operation(200).Result == nil {
		t.Errorf("the poll got %s", r.body)
	}
}

// holding holds requests, once they are there.
func holding(entered chan<- struct{}, busy *sync.WaitGroup) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // a broken one is seen at its sender
		entered <- struct{}{}
		busy.Wait()
	})
}

func TestWhenAllConnectionsAreBusy(t *testing.T) {
	const most = 8
	var busy sync.WaitGroup
	busy.Add(1)
	entered := make(chan struct{}, most)
	h := openFixture(t, func(d *Deps, _ *queue.Options) {
		d.MaxConns = most
		d.MCP = holding(entered, &busy)
	})
	keys := []string{h.agent("a"), h.agent("b")}
	var calls sync.WaitGroup
	for i := range most - 1 {
		calls.Go(func() { h.post("/mcp", keys[i%2], "{}") })
		<-entered
	}
	// What agents leave is for operators.
	h.ringRefused(h.agent("c"))
	until(t, "an operator comes in", func() bool { // the last one's connection may still be busy
		conn, answer, err := websocket.Dial(t.Context(), h.url+"/api/ws", &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + h.op}}})
		if err != nil {
			if answer == nil || answer.StatusCode != http.StatusServiceUnavailable {
				t.Fatal(err)
			}
			return false
		}
		t.Cleanup(func() { _ = conn.CloseNow() }) // its server may be gone
		return true
	})
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
	must(t, err)
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	must(t, err)
	body, err := io.ReadAll(answer.Body)
	must(t, err)
	must(t, conn.Close())
	reply{t, answer.StatusCode, answer.Header, body}.problem(http.StatusServiceUnavailable, "busy")
	if answer.Header.Get("Retry-After") == "" {
		t.Error("it does not say when to come back")
	}
	busy.Done()
	calls.Wait()
	h.get("/healthz", "").into(new(Health))
}

func TestOneAgentLeavesRoomForOthers(t *testing.T) {
	const most = 8
	var busy sync.WaitGroup
	busy.Add(1)
	entered := make(chan struct{}, most)
	h := openFixture(t, func(d *Deps, _ *queue.Options) {
		d.MaxConns = most
		d.MCP = holding(entered, &busy)
	})
	bot := h.agent("bot")
	var calls sync.WaitGroup
	for range most / 2 {
		calls.Go(func() { h.post("/mcp", bot, "{}") })
		<-entered
	}
	h.ringRefused(bot)
	h.ring(h.agent("other"), "room for me")
	busy.Done()
	calls.Wait()
	h.ring(bot, "now there is room")
}

func (h *fixture) ringRefused(key string) {
	h.t.Helper()
	h.post("/api/human/invoke", key, `{"action_type":"feedback","description":"one too many"}`).problem(http.StatusTooManyRequests, "under way")
}
