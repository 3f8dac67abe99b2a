package api

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"deskbell/backend/queue"
)

// A clock that a test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func withClock(c *clock) func(*Deps, *queue.Options) {
	return func(d *Deps, _ *queue.Options) { d.Now = c.now }
}

func newClock() *clock { return &clock{at: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)} }

func (h *fixture) signIn(code string) (Session, reply) {
	var s Session
	r := h.post("/api/session", "", `{"code":`+quoted(code)+`}`)
	if r.status == http.StatusOK {
		r.into(&s)
	}
	return s, r
}

func TestCodesWorkOnce(t *testing.T) {
	c := newClock()
	h := openFixture(t, withClock(c))
	code := h.NewCode()
	if len(code) != 11 || code[5] != '-' {
		t.Errorf("a code looks like %q", code)
	}
	s, _ := h.signIn(strings.ToLower(strings.ReplaceAll(" "+code, "-", " ")))
	if s.Operator != "ada" || h.get("/api/agents", s.Token).status != 200 {
		t.Fatalf("session %+v", s)
	}
	_, again := h.signIn(code)
	again.problem(401, "used")

	var made Code
	h.post("/api/session/codes", s.Token, "").into(&made)
	if made.Console != h.url+"/#code="+made.Code {
		t.Errorf("the link is %q", made.Console)
	}
	c.pass(codeLife)
	_, late := h.signIn(made.Code)
	late.problem(401, "expired")
}

func TestWrongCodesLockNobodyOut(t *testing.T) {
	c := newClock()
	h := openFixture(t, withClock(c))
	code := h.NewCode()
	for range maxWrong {
		_, r := h.signIn("AAAAA-AAAAA")
		r.problem(401, "")
	}
	_, r := h.signIn("AAAAA-AAAAA")
	r.problem(429, "too many")
	if s, r := h.signIn(code); s.Token == "" {
		t.Errorf("the right code is locked out: %s", r.body)
	}
	c.pass(time.Minute)
	_, r = h.signIn("AAAAA-AAAAA")
	r.problem(401, "")
}

func TestResume(t *testing.T) {
	c := newClock()
	h := openFixture(t, withClock(c))
	s, _ := h.signIn(h.NewCode())

	ws := h.dial("", s.Token)
	ws.hello()
	ws.close()
	until(t, "the socket is gone", func() bool { return h.sessions.find(s.Token).isQuiet(h.sessions) })
	c.pass(resumeLife)
	next, r := h.signIn(s.Resume)
	if next.Token == "" {
		t.Fatalf("not resumed after %s: %s", resumeLife, r.body)
	}
	h.get("/api/agents", s.Token).problem(401, "session has expired")
	_, r = h.signIn(s.Resume)
	r.problem(401, "used")

	ws = h.dial("", next.Token)
	ws.hello()
	_, r = h.signIn(next.Resume)
	r.problem(401, "") // its page is still there
	ws.close()
	until(t, "the socket is gone", func() bool { return h.sessions.find(next.Token).isQuiet(h.sessions) })
	c.pass(resumeLife + time.Second)
	_, r = h.signIn(next.Resume)
	r.problem(401, "")
	if h.get("/api/agents", next.Token).status != 200 {
		t.Error("the session ended because it was not resumed")
	}
}

func (x *session) isQuiet(s *sessions) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return x.sockets == 0
}

func TestSessionsEnd(t *testing.T) {
	c := newClock()
	h := openFixture(t, withClock(c))
	s, _ := h.signIn(h.NewCode())
	ws := h.dial("", s.Token)
	ws.hello()
	if r := h.send("DELETE", "/api/session", s.Token, "", nil); r.status != http.StatusNoContent {
		t.Fatalf("%d %s", r.status, r.body)
	}
	ws.closed(1000)
	h.get("/api/agents", s.Token).problem(401, "session has expired")

	idle, _ := h.signIn(h.NewCode())
	c.pass(idleLife + time.Second)
	h.get("/api/agents", idle.Token).problem(401, "session has expired")
	if h.get("/api/agents", h.op).status != 200 {
		t.Error("the window's session ended by itself")
	}
}
