package api

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
)

// noScreen is the device of a terminal that cannot be drawn on.
const noScreen = "cmd.exe, process 10"

// A place is where programs of a test run, as the server sees them.
type place struct {
	mu    sync.Mutex
	at    Terminal
	err   error
	drawn strings.Builder
}

func (d *place) sit(t Terminal, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at, d.err = t, err
}

func (d *place) terminal(net.Conn) (Terminal, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.at
	t.Show = func(text string) error {
		d.mu.Lock()
		defer d.mu.Unlock()
		if t.Device == noScreen {
			return errors.ErrUnsupported
		}
		_, err := d.drawn.WriteString(text)
		return err
	}
	return t, d.err
}

// code is the last code that was drawn.
func (d *place) code() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, after, _ := strings.Cut(d.drawn.String()[max(0, strings.LastIndex(d.drawn.String(), "Code ")):], "Code ")
	code, _, _ := strings.Cut(after, ",")
	return code
}

var (
	ptsOne = Terminal{Session: "10-1", Device: "/dev/pts/1", Foreground: true}
	ptsTwo = Terminal{Session: "20-2", Device: "/dev/pts/2", Foreground: true}
)

func openTerminal(t *testing.T, c *clock) (*fixture, *place) {
	d := &place{at: ptsOne}
	return openFixture(t, func(deps *Deps, o *queue.Options) {
		withClock(c)(deps, o)
		deps.Terminal = d.terminal
	}), d
}

// reconnect has the next call come over a connection of its own, as another program's does.
func (h *fixture) reconnect() { h.http.CloseIdleConnections() }

func TestACodeForATerminalCountsThereOnly(t *testing.T) {
	c := newClock()
	h, d := openTerminal(t, c)
	show := func() string {
		t.Helper()
		h.reconnect()
		if r := h.post("/api/session/terminal", "", ""); r.status != http.StatusNoContent || len(r.body) > 0 {
			t.Fatalf("%d %s", r.status, r.body)
		}
		return d.code()
	}
	in := func(code string) reply {
		h.reconnect()
		return h.post("/api/session", "", `{"terminal":true,"code":`+quoted(code)+`}`)
	}
	code := show()
	_, r := h.signIn(code) // a browser
	r.problem(403, "in the terminal that showed it")
	d.sit(ptsTwo, nil)
	in(code).problem(403, "in the terminal that showed it")
	d.sit(Terminal{}, human.Errorf(human.Denied, "no terminal"))
	in(code).problem(403, "in the terminal that showed it")
	d.sit(ptsOne, nil)
	var s Session
	in(code).into(&s)
	if s.Token == "" || s.Means != ByTerminal || !s.Terminal || s.Resume != "" || s.Operator != "ada" {
		t.Fatalf("%+v", s)
	}
	in(code).problem(401, "used")
	if h.get("/api/agents", s.Token).status != 200 {
		t.Error("it cannot be used in its terminal")
	}

	// A token that was copied.
	for name, at := range map[string]Terminal{
		"another terminal":       ptsTwo,
		"the same after a logon": {Session: "10-9", Device: "/dev/pts/1", Foreground: true},
		"an agent in it":         {Session: "10-1", Device: "/dev/pts/1", Agent: "bot"},
	} {
		d.sit(at, nil)
		h.reconnect()
		if p := h.get("/api/agents", s.Token).problem(401, "another terminal"); p.Kind != "unauthorized" {
			t.Errorf("%s: %+v", name, p)
		}
	}
	d.sit(Terminal{}, human.Errorf(human.Unavailable, "who knows"))
	h.reconnect()
	h.get("/api/agents", s.Token).problem(401, "another terminal")
	d.sit(ptsOne, nil)
	h.reconnect()
	if h.get("/api/agents", s.Token).status != 200 {
		t.Error("what others tried ended it")
	}

	// The last code drawn is the only one.
	old := show()
	code = show()
	in(old).problem(401, "wrong")
	c.pass(codeLife)
	in(code).problem(401, "expired")
}

func TestACodeIsDrawnForAPersonOnly(t *testing.T) {
	h, d := openTerminal(t, newClock())
	for says, at := range map[string]Terminal{
		"background":          {Session: "10-1", Device: "/dev/pts/1"},
		"agent claude-code":   {Session: "10-1", Device: "/dev/pts/1", Foreground: true, Agent: "claude-code"},
		"cannot be written":   {Session: "10-1", Device: noScreen, Foreground: true},
		"does not tell at al": {},
	} {
		var err error
		if at.Session == "" {
			err = human.Errorf(human.NotFound, "%s", says)
		}
		d.sit(at, err)
		r := h.post("/api/session/terminal", "", "")
		if r.status != 403 && r.status != 404 || !strings.Contains(string(r.body), says) {
			t.Errorf("%s: %d %s", says, r.status, r.body)
		}
	}
	if d.drawn.Len() > 0 || len(h.sessions.codes) > 0 {
		t.Errorf("%q was drawn, %d codes were made", d.drawn.String(), len(h.sessions.codes))
	}
	d.sit(Terminal{Session: "10-1", Agent: "claude-code"}, nil)
	h.post("/api/session", "", `{"terminal":true,"code":`+quoted(h.NewCode())+`}`).problem(403, "agent claude-code")
}

func TestSessionsAreKnownByWhatTheyWereOpenedWith(t *testing.T) {
	h, d := openTerminal(t, newClock())
	if x := h.sessions.find(h.op); x.means != ByWindow {
		t.Errorf("the window's is %s", x.means)
	}
	s, _ := h.signIn(h.NewCode())
	if s.Means != ByCode || s.Terminal || h.sessions.find(s.Token).means != ByCode {
		t.Errorf("%+v", s)
	}
	next, _ := h.signIn(s.Resume)
	if next.Means != ByCode {
		t.Errorf("continued, it is %+v", next)
	}
	// A code from elsewhere makes a session for this terminal, which is still a code's.
	var here Session
	h.post("/api/session", "", `{"terminal":true,"code":`+quoted(h.NewCode())+`}`).into(&here)
	if here.Means != ByCode || !here.Terminal {
		t.Errorf("%+v", here)
	}
	d.sit(ptsTwo, nil)
	h.reconnect()
	h.get("/api/agents", here.Token).problem(401, "another terminal")
}

func TestOperatorsSeeEverySignIn(t *testing.T) {
	c := newClock()
	h, d := openTerminal(t, c)
	h.post("/api/session/terminal", "", "")
	var s Session
	h.post("/api/session", "", `{"terminal":true,"code":`+quoted(d.code())+`}`).into(&s)
	d.sit(ptsTwo, nil)
	for range 3 { // told of once a minute
		h.reconnect()
		h.get("/api/agents", s.Token).problem(401, "")
	}
	told := func(ws *line) (n SessionNotice) {
		t.Helper()
		m := ws.until("that somebody signed in", func(m message) bool { return m.Type == "session" })
		must(t, json.Unmarshal([]byte(m.raw), &n))
		return n
	}
	ws := h.dial("", h.op)
	if n := told(ws); n.Means != ByTerminal || n.Terminal != "/dev/pts/1" || n.Blocked || n.Operator != "ada" || !n.At.Equal(c.now()) {
		t.Errorf("%+v", n)
	}
	if n := told(ws); !n.Blocked || n.Terminal != "/dev/pts/2" {
		t.Errorf("%+v", n)
	}
	page, _ := h.signIn(h.NewCode())
	if n := told(ws); n.Means != ByCode || n.Terminal != "" || n.Blocked {
		t.Errorf("%+v", n)
	}
	own := h.dial("", page.Token)
	until(t, "both listen", func() bool {
		h.notices.mu.Lock()
		defer h.notices.mu.Unlock()
		return len(h.notices.readers) == 2
	})
	h.signIn(h.NewCode())
	if n, m := told(ws), told(own); n != m || n.Means != ByCode {
		t.Errorf("%+v, %+v", n, m)
	}
}

func TestACodeTellsWhenItIsOver(t *testing.T) {
	h := openFixture(t, nil)
	code, over := h.Server.NewCode()
	select {
	case <-over:
		t.Fatal("it is over before it was used")
	default:
	}
	h.signIn(code)
	select {
	case <-over:
	case <-time.After(10 * time.Second):
		t.Fatal("it was used, and nobody was told")
	}
}
