package api

import (
	"context"
	"errors"
	"iter"
	"net"
	"net/http"
	"sync"
	"time"

	"deskbell/backend/human"
)

// A Terminal is one of this machine's that a program runs in.
type Terminal struct {
	Session    string             // names the session of the terminal for good: another terminal's, or a later one of the same, has another
	Device     string             // for a person to tell terminals apart, such as /dev/pts/3 or cmd.exe, process 812
	Foreground bool               // what is typed goes to the program
	Agent      string             // the agent that the program, or what the terminal belongs to, descends from, if any
	Show       func(string) error // draws a text on it
}

// A peer is the other end of a connection.
type peer struct {
	conn net.Conn

	once     sync.Once
	terminal Terminal
	err      error
}

type peerKey struct{}

func withPeer(ctx context.Context, conn net.Conn) context.Context {
	if c, ok := conn.(*connection); ok {
		conn = c.Conn
	}
	return context.WithValue(ctx, peerKey{}, &peer{conn: conn})
}

// terminalOf is the terminal of who calls, as it is now.
func (s *Server) terminalOf(r *http.Request) (Terminal, error) {
	p, _ := r.Context().Value(peerKey{}).(*peer)
	if p == nil || s.deps.Terminal == nil {
		return Terminal{}, human.Errorf(human.NotFound, "this system does not tell Deskbell which terminal a program runs in")
	}
	return s.deps.Terminal(p.conn)
}

// inTerminal checks that a terminal's session is used there: once for each connection, as a process keeps its terminal.
func (s *Server) inTerminal(r *http.Request, x *session) error {
	if x.terminal == "" {
		return nil
	}
	var err error
	var t Terminal
	if p, _ := r.Context().Value(peerKey{}).(*peer); p != nil {
		p.once.Do(func() { p.terminal, p.err = s.terminalOf(r) })
		t, err = p.terminal, p.err
	}
	if err == nil && t.Session == x.terminal && t.Agent == "" {
		return nil
	}
	if s.sessions.misused(x) {
		s.notices.add(notice{SessionNotice: SessionNotice{Type: "session", At: s.deps.Now().UTC(), Operator: x.name, Means: x.means, Terminal: t.Device, Blocked: true}, later: true})
		s.failed(r, human.TryTerminal)
		s.deps.Log.Warn("the session of a terminal was used outside of it, and blocked", "operator", x.name, "terminal", t.Device, "agent", t.Agent, "err", err)
	}
	return human.Errorf(human.Unauthorized, "this session belongs to another terminal; sign in in this one (deskbell login)")
}

// signIn trades a code for a session, and tells the operators who are there.
func (s *Server) signIn(ctx context.Context, r *http.Request, in SessionRequest) (*Session, error) {
	var t Terminal
	if in.Terminal {
		var err error
		if t, err = s.terminalOf(r); err == nil && t.Agent != "" {
			return nil, errAgents(t)
		}
	}
	o, err := s.sessions.signIn(ctx, in.Code, t.Session)
	switch {
	case err == nil:
	case errors.Is(err, errElsewhere):
		s.failed(r, human.TryTerminal)
		return nil, err
	case len(normal(in.Code)) == codeLength: // else a page that was left open continues after Deskbell was restarted
		s.failed(r, human.TryCode)
		return nil, err
	default:
		return nil, err
	}
	means := o.session.means
	s.deps.Log.Info("an operator signed in", "operator", o.name, "means", means, "terminal", t.Device)
	n := notice{SessionNotice: SessionNotice{Type: "session", At: s.deps.Now().UTC(), Operator: o.name, Means: means, Terminal: t.Device}, session: o.session, later: means == ByTerminal}
	s.notices.add(n)
	return &Session{Token: o.token, Resume: o.resume, Operator: o.name, Means: means, Terminal: o.session.terminal != ""}, nil
}

func errAgents(t Terminal) error {
	return human.Errorf(human.Denied, "the terminal %s belongs to the agent %s, or to a program that it started; sign in in a terminal of your own", t.Device, t.Agent)
}

// showCode draws a code on the terminal of who calls, for whom it is the only place it can be had.
func (s *Server) showCode(r *http.Request) error {
	t, err := s.terminalOf(r)
	switch {
	case err != nil:
		return err
	case t.Agent != "":
		return errAgents(t)
	case !t.Foreground:
		return human.Errorf(human.Denied, "the program that asks runs in the background of its terminal; bring it to the front")
	}
	code, _ := s.sessions.newCode(s.deps.Operator, ByTerminal, t.Session)
	// One line, which the program that asked clears when the code was typed.
	if err := t.Show("\r\x1b[2KCode " + code + ", type it here: "); err != nil {
		s.sessions.forget(code)
		return human.Wrap(human.NotFound, err, "the terminal %s cannot be written to", t.Device)
	}
	return nil
}

// SessionNotice tells operators of every sign-in.
type SessionNotice struct {
	Type     string    `json:"type" enum:"session"`
	At       time.Time `json:"at"`
	Operator string    `json:"operator"`
	Means    Means     `json:"means" enum:"code,terminal,phone"`
	Terminal string    `json:"terminal,omitempty" doc:"The device of the terminal that the session is for."`
	Device   string    `json:"device,omitempty" doc:"The name of the phone that was paired."`
	Blocked  bool      `json:"blocked,omitempty" doc:"No session was opened: a program of another terminal, or of none, used this one's; or, of phones, their list was changed while Deskbell did not run."`
}

type notice struct {
	SessionNotice
	session *session // the new one
	later   bool     // it waits for the next operator where none is there
}

// maxNotices is how many wait for an operator.
const maxNotices = 100

// notices go to every operator who is there. Those that wait for one go to the first who comes.
type notices struct {
	mu      sync.Mutex
	readers map[chan notice]struct{}
	waiting []notice
}

func newNotices() *notices { return &notices{readers: map[chan notice]struct{}{}} }

func (n *notices) add(one notice) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.readers) == 0 && one.later && len(n.waiting) < maxNotices {
		n.waiting = append(n.waiting, one)
	}
	for r := range n.readers {
		select {
		case r <- one:
		default: // it is slower than maxNotices; all are in the log
		}
	}
}

// follow yields the notices that wait, and those to come until ctx ends.
func (n *notices) follow(ctx context.Context) iter.Seq[notice] {
	return func(yield func(notice) bool) {
		own := make(chan notice, maxNotices)
		n.mu.Lock()
		waiting := n.waiting
		n.waiting = nil
		n.readers[own] = struct{}{}
		n.mu.Unlock()
		defer func() {
			n.mu.Lock()
			defer n.mu.Unlock()
			delete(n.readers, own)
		}()
		for _, one := range waiting {
			if !yield(one) {
				return
			}
		}
		for {
			select {
			case one := <-own:
				if !yield(one) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}
