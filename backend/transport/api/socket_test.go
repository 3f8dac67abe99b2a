package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"deskbell/backend/human"
	"deskbell/backend/queue"
)

// A line is a WebSocket of a test.
type line struct {
	t    testing.TB
	conn *websocket.Conn
}

// dial connects with a token in the header.
func (h *fixture) dial(query, token string) *line {
	h.t.Helper()
	conn, _, err := websocket.Dial(h.t.Context(), h.url+"/api/ws"+query, &websocket.DialOptions{
		HTTPClient: h.http, HTTPHeader: http.Header{"Authorization": {"Bearer " + token}},
	})
	must(h.t, err)
	conn.SetReadLimit(1 << 24)
	h.t.Cleanup(func() { _ = conn.CloseNow() })
	return &line{h.t, conn}
}

// message is any message.
type message struct {
	Type        string
	Seq         uint64
	Version     uint64
	OperationID human.OperationID `json:"operation_id"`
	By          human.Actor
	Data        struct {
		Text    string
		Request *human.Request
		Answer  *human.Answer
	}
	Operator      string
	AgentID       string          `json:"agent_id"`
	ActionType    string          `json:"action_type"`
	RequestParams json.RawMessage `json:"request_params"`
	Context       InvocationContext
	Waiting       bool
	Recording     human.Recording
	Summary       human.Summary
	RecordingID   human.RecordingID `json:"recording_id"`
	raw           string
}

func (l *line) next() message {
	l.t.Helper()
	m, err := l.read()
	if err != nil {
		l.t.Fatalf("nothing came: %v", err)
	}
	return m
}

func (l *line) read() (message, error) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), 20*time.Second)
	defer cancel()
	_, data, err := l.conn.Read(ctx)
	if err != nil {
		return message{}, err
	}
	m := message{raw: string(data)}
	must(l.t, json.Unmarshal(data, &m))
	return m, nil
}

// event returns the next event, leaving out presence and human_invocation.
func (l *line) event() message {
	l.t.Helper()
	for {
		if m := l.next(); m.Type != "presence" && m.Type != "human_invocation" {
			return m
		}
	}
}

// until reads on to a message of some kind.
func (l *line) until(what string, is func(message) bool) message {
	l.t.Helper()
	for range 1000 {
		if m := l.next(); is(m) {
			return m
		}
	}
	l.t.Fatalf("a thousand messages came, and never %s", what)
	panic("unreachable")
}

func (l *line) hello() message {
	l.t.Helper()
	m := l.next()
	if m.Type != "hello" {
		l.t.Fatalf("the first message is %s", m.raw)
	}
	return m
}

func (l *line) close() { _ = l.conn.Close(websocket.StatusNormalClosure, "") }

// closed reads until the server hangs up, with a status, -1 for any.
func (l *line) closed(status websocket.StatusCode) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), 20*time.Second)
	defer cancel()
	for {
		if _, _, err := l.conn.Read(ctx); err != nil {
			if got := websocket.CloseStatus(err); ctx.Err() != nil || status != -1 && got != status {
				l.t.Errorf("closed with %d, want %d: %v", got, status, err)
			}
			return
		}
	}
}

func TestSocketTellsEverythingInOrder(t *testing.T) {
	h := openFixture(t, nil)
	bot := h.agent("bot")
	all, own := h.dial("?after=0", h.op), h.dial("", bot)
	if m := all.hello(); m.Seq != 0 || m.Operator != "ada" {
		t.Errorf("hello %s", m.raw)
	}
	if m := own.hello(); m.AgentID != "bot" {
		t.Errorf("hello %s", m.raw)
	}
	body := `{"action_type":"bash","description":"look <here>","details":{"action":  "ls"}}`
	op := h.post("/api/human/invoke", bot, body).operation(201)
	for name, l := range map[string]*line{"operator": all, "agent": own} {
		m := l.event()
		if m.Type != "invoked" || m.Seq != 1 || m.Version != 1 || m.OperationID != op.ID || m.Data.Request.Description != "look <here>" || string(m.Data.Request.Details) != `{"action":  "ls"}` {
			t.Errorf("%s: first event %s", name, m.raw)
		}
		if m = l.next(); m.Type == "presence" {
			m = l.next()
		}
		if m.Type != "human_invocation" || m.OperationID != op.ID || m.ActionType != "bash" || string(m.RequestParams) != `{"action":  "ls"}` || m.Context.AgentID != "bot" || !m.Context.CreatedAt.Equal(op.CreatedAt) {
			t.Errorf("%s: second message %s", name, m.raw)
		}
	}
	h.post("/api/human/claim", h.op, idBody(op.ID, ""))
	h.post("/api/human/input", h.op, idBody(op.ID, `,"human_input":"draft"`))
	h.post("/api/human/complete", h.op, idBody(op.ID, `,"human_input":"done"`))
	for i, want := range []string{"claimed", "input_saved", "completed"} {
		if m := all.event(); m.Type != want || m.Seq != uint64(i+2) || m.By.Name != "ada" {
			t.Errorf("operator: %s, want %s", m.raw, want)
		}
	}
	for _, want := range []string{"claimed", "completed"} {
		if m := own.event(); m.Type != want || strings.Contains(m.raw, "draft") {
			t.Errorf("agent: %s, want %s", m.raw, want)
		}
	}
}

func TestAgentsHearOnlyTheirOwn(t *testing.T) {
	h := openFixture(t, nil)
	bot, other := h.agent("bot"), h.agent("other")
	before := h.ring(other, "before")
	l := h.dial("?after=0", bot)
	if m := l.hello(); m.Seq != 1 {
		t.Errorf("hello %s", m.raw)
	}
	theirs := h.ring(other, "secret of the other")
	h.post("/api/human/complete", h.op, idBody(theirs.ID, `,"human_input":"secret answer"`))
	h.post("/api/human/snooze", h.op, idBody(before.ID, `,"until":"2100-01-01T00:00:00Z"`))
	mine := h.ring(bot, "mine")
	h.post("/api/human/shown", h.op, idBody(mine.ID, `,"channel":"card"`))
	h.post("/api/human/decline", h.op, idBody(mine.ID, `,"reason":"no"`))
	for _, want := range []string{"invoked", "human_invocation", "declined"} {
		if m := l.next(); m.Type != want || m.OperationID != mine.ID {
			t.Errorf("%s, want %s of %s", m.raw, want, mine.ID)
		}
	}
}

func TestPresence(t *testing.T) {
	h := openFixture(t, nil)
	bot := h.agent("bot")
	op := h.ring(bot, "x")
	l := h.dial("", h.op)
	l.hello()
	wait := func(waiting bool) {
		t.Helper()
		for {
			if m := l.next(); m.Type == "presence" && m.OperationID == op.ID && m.Waiting == waiting {
				return
			}
		}
	}
	wait(false)
	own := h.dial("", bot)
	wait(true)
	own.close()
	wait(false)
	ctx, hangUp := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", h.url+"/api/human/operations/"+string(op.ID)+"?wait=60&after_version=9", nil)
	must(t, err)
	r.Header.Set("Authorization", "Bearer "+bot)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if answer, err := h.http.Do(r); err == nil {
			answer.Body.Close()
		}
	}()
	wait(true)
	hangUp()
	<-ended
	wait(false)
}

func TestSocketRefusals(t *testing.T) {
	h := openFixture(t, nil)
	bot := h.agent("bot")
	h.ring(bot, "x")
	upgrade := func(change func(*http.Request)) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Set("Connection", "Upgrade")
			r.Header.Set("Upgrade", "websocket")
			r.Header.Set("Sec-WebSocket-Version", "13")
			r.Header.Set("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
			if change != nil {
				change(r)
			}
		}
	}
	for query, says := range map[string]string{
		"?after=2": "the last event here is 1", "?after=-1": "not the seq", "?after=x": "not the seq", "?after=1.5": "not the seq", "?since=1": "no such parameter",
	} {
		h.send("GET", "/api/ws"+query, bot, "", upgrade(nil)).problem(422, says)
	}
	h.send("GET", "/api/ws", "", "", upgrade(nil)).problem(401, "a key is missing")
	h.send("GET", "/api/ws?token="+bot, "", "", upgrade(nil)).problem(400, "logs and histories")
	h.send("GET", "/api/ws", bot, "", upgrade(func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") })).problem(403, "evil")
	h.send("GET", "/api/ws", bot, "", upgrade(func(r *http.Request) { r.Host = "evil.example" })).problem(421, "evil")
	h.send("GET", "/api/ws", "", "", upgrade(func(r *http.Request) {
		r.Header.Set("Sec-WebSocket-Protocol", "deskbell, deskbell.bearer.wrong")
	})).problem(401, "not a Deskbell key")
	h.get("/api/ws", bot).problem(426, "WebSocket")

	l := h.dial("", bot)
	l.hello()
	must(t, l.conn.Write(t.Context(), websocket.MessageText, []byte("hello?")))
	l.closed(websocket.StatusPolicyViolation)
}

func TestPagesBringTheirTokenInASubprotocol(t *testing.T) {
	h := openFixture(t, func(d *Deps, _ *queue.Options) { d.InApp = true })
	for _, origin := range []string{h.url, "wails://wails"} {
		conn, answer, err := websocket.Dial(t.Context(), h.url+"/api/ws", &websocket.DialOptions{
			HTTPClient: h.http, HTTPHeader: http.Header{"Origin": {origin}}, Subprotocols: []string{"deskbell", "deskbell.bearer." + h.op},
		})
		must(t, err)
		if conn.Subprotocol() != "deskbell" || strings.Contains(fmt.Sprint(answer.Header), h.op) {
			t.Errorf("the server chose %q", conn.Subprotocol())
		}
		must(t, conn.CloseNow())
	}
}

// A weak link passes bytes on to the server and breaks when told to.
type weakLink struct {
	net.Listener
	to    string
	mu    sync.Mutex
	conns []net.Conn
	work  sync.WaitGroup
}

func newWeakLink(t *testing.T, url string) *weakLink {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	w := &weakLink{Listener: l, to: strings.TrimPrefix(url, "http://")}
	w.work.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", w.to)
			if err != nil {
				_ = in.Close()
				continue
			}
			w.mu.Lock()
			w.conns = append(w.conns, in, out)
			w.mu.Unlock()
			w.work.Go(func() { _, _ = io.Copy(in, out); _ = in.Close() })
			w.work.Go(func() { _, _ = io.Copy(out, in); _ = out.Close() })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		w.cut()
		w.work.Wait()
	})
	return w
}

func (w *weakLink) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.conns {
		_ = c.Close()
	}
	w.conns = nil
}

func TestNothingIsLostOverBrokenConnections(t *testing.T) {
	const rings = 400
	h := openFixture(t, func(d *Deps, _ *queue.Options) { d.Hosts = []string{"127.0.0.1"} })
	bot := h.agent("bot")
	link := newWeakLink(t, h.url)
	var head atomic.Uint64
	var ringing sync.WaitGroup
	for w := range 4 {
		ringing.Go(func() {
			for i := range rings / 4 {
				op := h.ring(bot, fmt.Sprintf("ring %d of %d", i, w))
				h.post("/api/human/complete", h.op, idBody(op.ID, `,"human_input":"ok"`)).operation(200)
				head.Add(2)
			}
		})
	}
	var after uint64
	breaks := 0
	for after < 2*rings {
		conn, _, err := websocket.Dial(t.Context(), "http://"+link.Addr().String()+fmt.Sprintf("/api/ws?after=%d", after), &websocket.DialOptions{
			HTTPHeader: http.Header{"Authorization": {"Bearer " + h.op}},
		})
		must(t, err)
		l := &line{t, conn}
		for n := 0; after < 2*rings; n++ {
			_, data, err := conn.Read(t.Context())
			if err != nil {
				breaks++
				break
			}
			var m message
			must(t, json.Unmarshal(data, &m))
			if m.Type == "hello" || m.Type == "presence" || m.Type == "human_invocation" {
				continue
			}
			if m.Seq != after+1 {
				t.Fatalf("event %d follows event %d", m.Seq, after)
			}
			after = m.Seq
			if n >= 60 { // what is still on its way is lost
				link.cut()
				breaks++
				break
			}
		}
		_ = l.conn.CloseNow()
	}
	ringing.Wait()
	if breaks < 3 || head.Load() != 2*rings {
		t.Errorf("%d breaks, %d events; the test proves nothing", breaks, head.Load())
	}
}

func TestSlowReadersHoldUpNobody(t *testing.T) {
	const rings = 300
	h := openFixture(t, nil)
	bot := h.agent("bot")
	body := `{"action_type":"feedback","description":"x","details":{"x":"` + strings.Repeat("x", 64<<10) + `"}}`
	for range rings { // far more than any buffer between us holds
		h.post("/api/human/invoke", bot, body).operation(201)
	}
	// No one reads the first while the second gets everything. Then the first does, too.
	slow := h.dial("?after=0", h.op)
	fast := h.dial("?after=0", h.op)
	fast.hello()
	for seq := range uint64(rings) {
		if m := fast.event(); m.Seq != seq+1 {
			t.Fatalf("%d follows %d", m.Seq, seq)
		}
	}
	// On a busy machine it may have been disconnected by now, and comes back with the last that it has.
	for last, dials := uint64(0), 0; last < rings; {
		switch m, err := slow.read(); {
		case err != nil && dials < 10:
			slow, dials = h.dial(fmt.Sprintf("?after=%d", last), h.op), dials+1
		case err != nil:
			t.Fatal(err)
		case slices.Contains([]string{"hello", "presence", "human_invocation"}, m.Type):
		case m.Seq != last+1:
			t.Fatalf("%d follows %d", m.Seq, last)
		default:
			last = m.Seq
		}
	}
}

func TestShutdownSaysSo(t *testing.T) {
	h := openFixture(t, nil)
	bot := h.agent("bot")
	op := h.ring(bot, "x")
	l := h.dial("", bot)
	l.hello()
	got := make(chan int, 1)
	go func() {
		r, err := http.NewRequest("GET", h.url+"/api/human/operations/"+string(op.ID)+"?wait=60&after_version=1", nil)
		if err != nil {
			got <- 0
			return
		}
		r.Header.Set("Authorization", "Bearer "+bot)
		answer, err := h.http.Do(r)
		if err != nil {
			got <- 0
			return
		}
		answer.Body.Close()
		got <- answer.StatusCode
	}()
	until(t, "the poll waits", func() bool { return h.requestsOf("bot") == 2 })
	start := time.Now()
	ended := make(chan struct{})
	go func() { h.Close(); close(ended) }()
	l.closed(websocket.StatusGoingAway)
	<-ended
	if status := <-got; status != 200 || time.Since(start) > 5*time.Second {
		t.Errorf("a waiting call got %d after %s", status, time.Since(start))
	}
	conn, answer, err := websocket.Dial(t.Context(), h.url+"/api/ws", &websocket.DialOptions{HTTPClient: h.http, HTTPHeader: http.Header{"Authorization": {"Bearer " + bot}}})
	if err == nil || answer.StatusCode != 503 {
		t.Errorf("a socket after the end: %v, %v", conn, errors.Join(err))
	}
}

func (s *Server) requestsOf(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.agents[name]; a != nil {
		return a.requests
	}
	return 0
}
