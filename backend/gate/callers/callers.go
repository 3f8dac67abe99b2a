// Package callers knows which processes of this machine are agents', finds out whether who calls descends from one, and keeps
// what agents tried that only a person may do.
package callers

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"deskbell/backend/human"
)

// Processes are those of this machine.
type Processes interface {
	// Peer is the process at the other end of a connection; over TCP that takes milliseconds. It may be ErrHidden.
	Peer(conn net.Conn) (human.Process, error)
	// PeerID is the number alone, where it is quick to find: on a Unix socket, and on Windows on loopback.
	PeerID(conn net.Conn) (int, error)
	// Find finds a process by its number.
	Find(pid int) (human.Process, error)
	// Glance does, quickly: its parent and its start, which is quick.
	Glance(pid int) (human.Process, error)
	// Lineage is a process and all that it descends from, itself first.
	Lineage(p human.Process) []human.Process
	// Boot names this run of the machine.
	Boot() string
}

// ErrHidden is Peer's error where a process of this user keeps itself from being seen.
var ErrHidden = errors.New("callers: the process is hidden")

// A Store keeps attempts.
type Store interface {
	// PutAttempt stores an attempt in place of the one with its id, and forgets the oldest where there are too many.
	PutAttempt(ctx context.Context, a human.Attempt) error
	// Attempts returns the newest first; of those that no operator has dismissed, without all.
	Attempts(ctx context.Context, all bool) ([]human.Attempt, error)
}

// Deps are what the service needs; all are required.
type Deps struct {
	Processes Processes
	Store     Store
	// Load and Save keep the agents that are known beyond this process, where only this user can read them.
	Load func() ([]byte, error)
	Save func([]byte) error
	Self int                 // this process, below which everything is the operator's
	Mask func(string) string // takes secrets out of a text
	Now  func() time.Time
	Log  *slog.Logger
	// NewID makes the id of an attempt from its prefix.
	NewID func(prefix string) string
	// Off lets all callers through and looks none up.
	Off bool
}

// A Service is safe for concurrent use.
type Service struct {
	deps  Deps
	boot  string
	self  string        // the program that this process runs
	news  chan struct{} // has one where there is something to write down
	calls chan *Caller  // whose process is still to be found

	mu       sync.RWMutex
	known    map[human.ProcessID]agent
	unsaved  bool
	open     map[string]*human.Attempt // not dismissed yet, by agent
	unstored map[string]bool           // of open
	stored   time.Time                 // when a try was last stored at once
	watchers map[chan human.Attempt]struct{}

	// above is what a process descends from, nearest first, where all of it was seen. It stays true: whose parent ends is taken in by an
	// ancestor, or by the first process of the system or container, and a number that is used again has another start.
	above map[human.ProcessID][]human.ProcessID
}

// waiting is how many connections may wait for their process to be found. What does not fit is looked up at its next call.
const waiting = 256

// New makes the service, with the agents and attempts that are known from before.
func New(ctx context.Context, d Deps) (*Service, error) {
	s := &Service{
		deps: d, boot: d.Processes.Boot(), news: make(chan struct{}, 1), calls: make(chan *Caller, waiting),
		known: map[human.ProcessID]agent{}, open: map[string]*human.Attempt{}, unstored: map[string]bool{}, watchers: map[chan human.Attempt]struct{}{},
		above: map[human.ProcessID][]human.ProcessID{},
	}
	list, err := d.Store.Attempts(ctx, false)
	if err != nil {
		return nil, err
	}
	for _, a := range list {
		if s.open[a.AgentID] == nil {
			s.open[a.AgentID] = &a
		}
	}
	s.load()
	if self, err := d.Processes.Find(d.Self); err == nil {
		s.self = self.Program
		// Whom an agent started cannot switch it off.
		if _, is := s.agentIn(d.Processes.Lineage(self)); is && d.Off {
			d.Log.Warn("an agent started Deskbell with server.check_callers switched off; that does not count")
			s.deps.Off = false
		}
	}
	return s, nil
}

// settle is how long changes are gathered before they are stored and told.
const settle = time.Second

// Run finds who used agents' keys, and writes down what changed, until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		s.flush(last)
	}()
	tick := time.NewTicker(settle)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case c := <-s.calls:
			s.remember(c)
		case <-s.news: // the first of them, at once
			s.flush(ctx)
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	}
}

func (s *Service) tell() {
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// A Caller is who is at the other end of a connection. It is looked up once, when first asked for.
type Caller struct {
	of   *Service
	conn net.Conn
	used atomic.Bool // an agent's key was used on it
	name string      // the agent's
	way  human.AgentMark

	once sync.Once
	line []human.Process // itself first; up to this process, which is not in it
	err  error

	onceIDs sync.Once
	ids     []human.ProcessID // of line
}

// deepest bounds how many ancestors are looked at.
const deepest = 64

// Caller is who is at the other end of a connection that this process accepted.
func (s *Service) Caller(conn net.Conn) *Caller { return &Caller{of: s, conn: conn} }

type callerKey struct{}

// NewContext is a context of the calls on a connection.
func NewContext(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// Of is who calls in a context, nil where that is not known.
func Of(ctx context.Context) *Caller {
	c, _ := ctx.Value(callerKey{}).(*Caller)
	return c
}

// Line is the caller's process and all that it descends from, itself first. Over TCP the first call takes milliseconds.
func (c *Caller) Line() ([]human.Process, error) {
	c.once.Do(func() {
		p, err := c.of.deps.Processes.Peer(c.conn)
		if err != nil {
			c.err = err
			return
		}
		c.line = c.of.below(c.of.deps.Processes.Lineage(p))
	})
	return c.line, c.err
}

// descent names the caller's process and all that it descends from. Over a Unix socket it takes a fraction of what Line does.
func (c *Caller) descent() ([]human.ProcessID, error) {
	c.onceIDs.Do(func() {
		if pid, err := c.of.deps.Processes.PeerID(c.conn); err == nil {
			c.ids = c.of.descent(pid)
		}
		if len(c.ids) == 0 { // over TCP, or it has ended
			_, _ = c.Line()
			for _, p := range c.line {
				c.ids = append(c.ids, p.ID())
			}
		}
	})
	return c.ids, c.err
}

// mostAbove is how many processes' ancestors are kept.
const mostAbove = 1024

// descent names a process and all that it descends from, itself first; up to this process, which is not in it. Of ancestors that were seen
// before, only the nearest is looked at again: it has to be the one that it was.
func (s *Service) descent(pid int) (ids []human.ProcessID) {
	unseen := 0
	for below := (human.Process{}); pid > 0 && pid != s.deps.Self; {
		p, err := s.deps.Processes.Glance(pid)
		if err != nil || len(ids) > 0 && p.Started > below.Started || len(ids) == deepest { // it ended, or its number was used again
			return ids
		}
		ids = append(ids, p.ID())
		s.mu.RLock()
		above, seen := s.above[p.ID()]
		s.mu.RUnlock()
		if seen {
			ids = append(ids, above...)
			break
		}
		below, pid, unseen = p, p.Parent, len(ids)
	}
	if unseen < 2 { // the caller itself is not kept: it makes one call, mostly
		return ids
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := 1; i < unseen; i++ {
		if len(s.above) >= mostAbove {
			clear(s.above)
		}
		s.above[ids[i]] = ids[i+1:]
	}
	return ids
}

// below cuts a line off at this process: what descends from it is the operator's, whoever started it.
func (s *Service) below(line []human.Process) []human.Process {
	if i := slices.IndexFunc(line, func(p human.Process) bool { return p.PID == s.deps.Self }); i >= 0 {
		return line[:i]
	}
	return line
}

// An Agent is one whose process is known.
type Agent struct {
	Name    string
	How     human.AgentMark
	Process human.ProcessID
}

// Descends says whether a process is a known agent's, or descends from one.
func (s *Service) Descends(p human.Process) (Agent, bool) {
	if s.deps.Off {
		return Agent{}, false
	}
	return s.agentIn(s.below(s.deps.Processes.Lineage(p)))
}

func (s *Service) agentIn(line []human.Process) (Agent, bool) {
	ids := make([]human.ProcessID, len(line))
	for i, p := range line {
		ids[i] = p.ID()
	}
	return s.agentAmong(ids)
}

// agentAmong is the agent nearest to who calls, by the process of its that began first: the others may be a shell that ran a hook.
func (s *Service) agentAmong(line []human.ProcessID) (found Agent, is bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, id := range line {
		if a, known := s.known[id]; known && (!is || a.Name == found.Name) {
			found, is = Agent{a.Name, a.How, id}, true
		}
	}
	return found, is
}

// Admit lets ctx's Caller do what only a person may do. It is a Denied error where its process descends from an agent: that is an
// attempt, and the operator sees it. detail says what it called; about is asked for the operation that an attempt is about.
func (s *Service) Admit(ctx context.Context, what human.Trial, detail string, about func() human.OperationID) error {
	if s == nil {
		return nil
	}
	c := Of(ctx)
	if c == nil || s.deps.Off {
		return nil
	}
	ids, err := c.descent()
	if errors.Is(err, ErrHidden) && what == human.TrySignIn {
		s.attempted(ctx, Agent{How: human.MarkNone}, human.Try{What: what, Limit: "caller.hidden", Detail: detail})
		return human.Errorf(human.Denied, "Deskbell cannot see which program calls, because that program hides itself; sign in from another terminal or browser")
	}
	a, is := s.agentAmong(ids)
	if !is {
		return nil
	}
	line, _ := c.Line() // for the operator to see
	s.attempted(ctx, a, human.Try{What: what, Limit: "caller." + string(what), OperationID: about(), Detail: detail, Line: s.ancestors(line, a.Process)})
	return human.Errorf(human.Denied,
		"only a person can do this, and an AI agent (%s) started the program that calls; use Deskbell's window, or a terminal or browser that no agent started. The operator sees this attempt", cmp.Or(a.Name, "unknown"))
}

// mostCommand is how much of a command line is kept, in characters.
const mostCommand = 400

// ancestors is a line as operators see it, itself last.
func (s *Service) ancestors(line []human.Process, of human.ProcessID) []human.Ancestor {
	all := make([]human.Ancestor, len(line))
	for i, p := range line {
		command := strings.Join(p.Args, " ")
		if command == "" {
			command = p.Program
		}
		all[len(line)-1-i] = human.Ancestor{
			PID: p.PID, StartedAt: p.Began.UTC().Truncate(time.Second), Agent: p.ID() == of,
			Command: s.shown(command),
		}
	}
	return all
}

// base is a program's name, of either kind of path.
func base(program string) string {
	return strings.ToLower(strings.TrimSuffix(path.Base(strings.ReplaceAll(program, `\`, "/")), ".exe"))
}
