// Package api is the REST and WebSocket face of the queue, for agents, operators, the window, the
// console in a browser and the command line alike. It is described by OpenAPI 3.1, generated from the
// types here and in package human.
package api

import (
	"cmp"
	"context"
	"encoding/json"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"deskbell/backend/gate/callers"
	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/queue/receipt"
	"deskbell/backend/queue/stepup"
	"deskbell/backend/record/term"
	"deskbell/backend/store/settings"
)

// Keys are the agents' keys. Errors are of package human.
type Keys interface {
	// Authenticate returns the agent that bears the key; Unauthorized for a wrong or revoked one.
	Authenticate(ctx context.Context, key string) (name string, err error)
	AddKey(ctx context.Context, name string, ephemeral bool) (key string, err error)
	Keys(ctx context.Context) ([]human.Key, error)
	// RevokeKey makes all keys of that name useless and returns how many it revoked.
	RevokeKey(ctx context.Context, name string) (int, error)
	// RevokedAgents returns the agents that have keys, all of them revoked.
	RevokedAgents(ctx context.Context) ([]string, error)
	// TouchKeys stores when agents were last seen.
	TouchKeys(ctx context.Context, seen map[string]time.Time) error
}

// Settings are what the settings page shows and changes.
type Settings interface {
	Values() []settings.Value
	// Update checks and stores changes, all or none, and says whether a restart is needed for them to count.
	Update(changes map[string]json.RawMessage) (restart bool, err error)
}

// Data says how the data stands; *sqlite.Store is one.
type Data interface {
	// State does not block; the channel is closed when it changes.
	State() (human.DataState, <-chan struct{})
	ReadLosses(ctx context.Context) error
}

// Deps is what the API needs. Queue and Keys are required; without one of the others, the calls that
// need it say so.
type Deps struct {
	Queue      *queue.Queue
	Keys       Keys
	Settings   Settings
	Search     human.Searcher
	Doctor     func(context.Context) ([]human.DoctorCheck, error)
	Sample     func(context.Context) error // starts the sample agent and returns
	Console    fs.FS                       // the built frontend, index.html at its root
	Recorder   Recorder
	Library    Library
	Replay     Replay
	Capturer   Capturer
	Terminals  *term.Service
	Summaries  Summarist
	Gate       Gatekeeper
	Backups    Backups
	Plans      Plans
	Procedures Procedures
	Host       Host
	Clients    Clients
	Changes    Changes
	StepUp     *stepup.Service
	Outbox     Outbox
	Views      Views
	Retention  Retention
	Archives   func(folder string) Archives // of the folder in the settings, or another
	Phones     *Phones
	Callers    *callers.Service // nil: whoever has an operator's token may use it
	MCP        http.Handler     // at /mcp; its requests carry an agent's key, and ActorOf knows whose
	EndWaits   func()           // called when shutdown begins: answer what MCP holds open

	ReceiptKeys ReceiptKeys
	Journal     *receipt.Watch // adds to chains of receipts what it found; may be nil

	Data Data // may be nil
	Team Team // may be nil

	Ready   func(context.Context) error // whether an event can be stored now; nil: always
	Metrics *Metrics                    // at /metrics; nil: there are none

	// Terminal is the terminal of the process at the other end of a connection: Denied where it has none, NotFound where it
	// cannot be known. Without it no session is a terminal's.
	Terminal func(net.Conn) (Terminal, error)

	Operator string        // the operator's name
	InApp    bool          // the window's origins may call, too
	Hosts    []string      // names by which the API may be called besides loopback's, without ports
	MaxBody  int64         // bytes of a request's body; 0 is 4 MiB
	BodyTime time.Duration // to send it; 0 is 20 s
	MaxConns int           // connections at a time, half of them for one agent, seven of eight for all; 0 is 4096

	Version string
	Now     func() time.Time
	Log     *slog.Logger
}

// A Server is the API. It is an http.Handler; Serve runs it on a listener, or Close ends what it holds
// open. It is safe for concurrent use.
type Server struct {
	deps     Deps
	handler  *http.ServeMux
	sessions *sessions
	notices  *notices
	phones   *phoneDoor // nil: none can come in
	console  *console
	ready    readiness
	spec     []byte
	url      string // of the first listener on TCP, from Serve on

	ctx  context.Context // of sockets and long polls
	stop context.CancelFunc
	work sync.WaitGroup // sockets, and notes made after an answer went out
	slow atomic.Uint64  // readers of events that were disconnected, since the start

	mu     sync.Mutex
	closed bool
	agents map[string]*agent
	busy   int // requests of all agents under way
}

// New makes the API. The only error is a description that cannot be written, or a console that cannot be read.
func New(deps Deps) (*Server, error) {
	deps.MaxBody = cmp.Or(deps.MaxBody, 4<<20)
	deps.BodyTime = cmp.Or(deps.BodyTime, bodyTime)
	deps.MaxConns = cmp.Or(deps.MaxConns, 4096)
	deps.Operator = cmp.Or(deps.Operator, "operator")
	deps.Version = cmp.Or(deps.Version, "dev")
	if deps.Now == nil {
		deps.Now = time.Now
	}
	if deps.Log == nil {
		deps.Log = slog.Default()
	}
	s := &Server{deps: deps, handler: http.NewServeMux(), sessions: newSessions(deps.Now), notices: newNotices(), agents: map[string]*agent{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	if deps.Phones != nil {
		s.phones = &phoneDoor{Server: s, Phones: *deps.Phones}
	}
	var err error
	if s.console, err = newConsole(deps.Console); err != nil {
		return nil, err
	}
	described := s.register()
	if s.spec, err = json.MarshalIndent(described, "", "  "); err != nil {
		return nil, err
	}
	return s, nil
}

// OpenAPI returns the description in JSON of the API of a version of Deskbell. It needs no server.
func OpenAPI(version string) ([]byte, error) {
	s, err := New(Deps{Version: version})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.spec, nil
}

// Close ends sockets and long polls, and waits for them. The API answers no more waits then.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	s.work.Wait()
}

// begin counts something in that Close waits for; false when it is too late.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.work.Add(1)
	return true
}

// NewCode makes a one-time code by which a person signs in as the operator. It is good for 10 minutes. over is closed when it is
// of no use any more: take it off the screen.
func (s *Server) NewCode() (code string, over <-chan struct{}) {
	return s.sessions.newCode(s.deps.Operator, ByCode, "")
}

// WindowToken makes an operator's session for the desktop window, and returns its token. It lasts as
// long as the Server.
func (s *Server) WindowToken() string { return s.sessions.open(s.deps.Operator, ByWindow, "").token }

// lastSeen is when an agent last called, or the zero time.
func (s *Server) lastSeen(name string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.agents[name]; a != nil {
		return a.seen
	}
	return time.Time{}
}

// storeSeen writes down when agents were last seen, those who called since the last time.
func (s *Server) storeSeen(ctx context.Context) {
	news := map[string]time.Time{}
	s.mu.Lock()
	for name, a := range s.agents {
		if a.seen.After(a.stored) {
			news[name] = a.seen
		}
	}
	s.mu.Unlock()
	if len(news) == 0 {
		return
	}
	if err := s.deps.Keys.TouchKeys(ctx, news); err != nil {
		s.deps.Log.Warn("when agents were last seen could not be stored", "err", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, at := range news {
		s.agents[name].stored = at
	}
}

// describe is the frame of the description.
func describe(version string) huma.Config {
	config := huma.DefaultConfig("Deskbell", version)
	config.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", func(t reflect.Type, hint string) string {
		if t == reflect.TypeFor[settings.Value]() || t == reflect.TypeFor[*settings.Value]() {
			return "Setting"
		}
		of := t
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		if of.PkgPath() == reflect.TypeFor[term.State]().PkgPath() {
			return "Terminal" + of.Name()
		}
		return huma.DefaultSchemaNamer(t, hint)
	})
	describeKinds(config.Components.Schemas)
	config.Info.Description = "AI agents ask a human; the human answers. Errors are RFC 9457 problem documents."
	config.OpenAPIPath, config.DocsPath, config.SchemasPath = "", "", ""
	config.CreateHooks = nil // they would add $schema to every answer
	config.RejectUnknownQueryParameters = true
	format := huma.Format{Marshal: write, Unmarshal: json.Unmarshal}
	config.Formats = map[string]huma.Format{"application/json": format, "json": format}
	config.Transformers = []huma.Transformer{func(_ huma.Context, _ string, v any) (any, error) {
		if m, ok := v.(*huma.ErrorModel); ok {
			return fromHuma(m), nil
		}
		return v, nil
	}}
	return config
}
