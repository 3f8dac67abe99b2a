// Package mcp shows the queue to agents as the MCP tool human (H1), has their plans confirmed as the tool confirm_plan
// (P2), and shows the gatekeeper to their clients as the tool permission (G9), over stdio and streamable HTTP. It speaks
// protocol version 2026-07-28 and the older ones the SDK negotiates. The Tasks extension is not spoken: a wait is held open
// with progress, or handed back as pending.
package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/human"
	"deskbell/backend/record/library"
)

// A Ringer is one agent's side of the queue: all that the tool asks for. Its methods are safe for
// concurrent use and return errors of package human. Where the queue lives in another process that is
// away for the moment, they return an Unavailable error.
type Ringer interface {
	// Ring puts a request into the queue, durable when it returns. It joins an operation that exists
	// (created is false) when that has the same idempotency key, or the same words in the same session
	// and an end that was not delivered yet.
	Ring(ctx context.Context, r Ring) (op human.Operation, created bool, err error)
	// Attach stores a file, for a Ring to name, durable when it returns. Doing it again changes nothing.
	Attach(ctx context.Context, name string, data []byte) (human.Attachment, error)
	// Attachment returns the bytes of a file of this agent: as they are, or with a width those of an image as a JPEG of at most so
	// many pixels across.
	Attachment(ctx context.Context, id human.AttachmentID, width int) ([]byte, error)
	// Get returns the operation as it stands.
	Get(ctx context.Context, id human.OperationID) (human.Operation, error)
	// Wait blocks until the operation's version is greater than after, at the longest for most, and
	// returns it as it then stands. It may return early for no reason.
	Wait(ctx context.Context, id human.OperationID, after uint64, most time.Duration) (human.Operation, error)
	// Reply adds a message of the agent's; it answers an operator's question.
	Reply(ctx context.Context, id human.OperationID, text string) (human.Operation, error)
	// Cancel withdraws the operation.
	Cancel(ctx context.Context, id human.OperationID, reason string) (human.Operation, error)
	// MarkDelivered notes that the agent has read the operation's end. Before the end it does nothing.
	MarkDelivered(ctx context.Context, id human.OperationID) error
	// Summary tells in Markdown what humans did lately for this agent, in at most so many tokens; a limit or tokens of 0 are the
	// usual ones, a zero since is no bound.
	Summary(ctx context.Context, limit int, since time.Time, tokens int) (string, error)
	// List returns the agent's operations in one of the states, last changed first, without details; only those with all the words of
	// text, where it has any.
	List(ctx context.Context, states []human.State, text string, limit int) ([]human.Operation, error)
	// Receipts returns the receipts of the answers to an operation of this agent, as JSON.
	Receipts(ctx context.Context, id human.OperationID) (json.RawMessage, error)
	// Actions returns what was done in a recording that came with an answer to this agent, with words in
	// English.
	Actions(ctx context.Context, id human.RecordingID) ([]human.Action, error)
	// Evidence returns a piece of what the answer to an operation of this agent rests on, by its label, with words
	// in English.
	Evidence(ctx context.Context, id human.OperationID, label string) (library.Evidence, error)
	// EvidencePicture returns a picture of it, as library.Evidence names it, as a JPEG of at most so many pixels
	// in width.
	EvidencePicture(ctx context.Context, id human.OperationID, label, which string, width int) ([]byte, error)
}

// A Ring is what an agent rings with. A nil Timeout is the default from the settings; 0 is never overdue.
type Ring struct {
	Kind           human.Kind
	Description    string
	Details        json.RawMessage // a JSON object, or nil
	Context        json.RawMessage // a JSON object, or nil
	SessionID      string
	IdempotencyKey string
	Priority       int
	Timeout        *float64 // seconds
	OnTimeout      human.OnTimeout
	Attachments    []human.AttachmentID
	Traceparent    string
}

// Options are what may be set; the zero value is the default of each.
type Options struct {
	Version string // of Deskbell, as told to clients
	// Session is the thread of an agent that names none and whose connection has none (stdio).
	Session string
	// Folder is the project that the agent works in, absolute; empty where that is not known.
	Folder string
	// LocalFiles says that this process is the agent's own: it reads the files whose paths the agent attaches, relative ones in Folder.
	LocalFiles bool
	// Gate judges calls for the tool permission; without it there is no such tool.
	Gate Gatekeeper
	// Plans has plans confirmed for the tool confirm_plan; without it there is no such tool.
	Plans Planner
	// Procedures are tools of their own; without them there are none.
	Procedures Procedures
	// Agents answer messages for the tool message_agent; without them there is no such tool.
	Agents Messenger

	// Knowledge offers what came of an agent's requests as resources.
	Knowledge bool
	// Permission lists the tool permission, for a client that asks with it; over HTTP the client's address says so.
	Permission bool

	// Patience is how long a call may take, a little less than its client waits. With 0 it is 45 s, and without end for
	// clients of which it is known that progress keeps them waiting.
	Patience time.Duration
	Beat     time.Duration // between two notes of progress; 0 is 15 s

	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	o.Version = cmp.Or(o.Version, "dev")
	o.Beat = cmp.Or(o.Beat, 15*time.Second)
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

// New makes an MCP server for the one agent behind ringer. Connected by the caller over a transport of
// its own, it counts an end as delivered when the tool call returns; ServeStdio and HTTP know better.
func New(ringer Ringer, opts Options) *mcp.Server {
	return newTool(opts).server(&exchange{ringer: ringer}, human.Actor{})
}

// ServeStdio serves one client over in and out, a line per message, until in ends, ctx ends or out
// breaks. An end of input and of ctx are no errors. It writes nothing but the protocol to out. When in
// ends, calls under way end unanswered; what they wait for stays in the queue.
func ServeStdio(ctx context.Context, ringer Ringer, in io.Reader, out io.Writer, opts Options) error {
	t := newTool(opts)
	box := newOutbox(t.onTheirWay)
	defer box.close()
	session, err := t.server(&exchange{ringer: ringer, box: box}, human.Actor{}).Connect(ctx, &mcp.IOTransport{
		Reader:        io.NopCloser(in),
		Writer:        &watchedWriter{out: out, box: box},
		MaxLineLength: maxMessage,
	}, nil)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = session.Close() })() // Wait tells how it ended
	if t.offer != nil {
		keeping, stop := context.WithCancel(ctx)
		var kept sync.WaitGroup
		kept.Go(func() { t.offer.keep(keeping) })
		defer func() { stop(); kept.Wait() }()
	}
	err = session.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// maxMessage bounds one message from a client, in bytes: details and context at their limits, escaped.
const maxMessage = 8 << 20

// An exchange is what calls come over: one HTTP request, or a whole connection of another kind.
type exchange struct {
	ringer  Ringer
	session string          // the thread of calls that name none
	box     *outbox         // nil where nothing watches what goes out
	gone    context.Context // done once the client has left; nil where the call's own context says so
	by      human.Actor     // the agent, where the connection is of several

	permission bool // the client asks with the tool permission
}

type exchangeKey struct{}

// server makes an MCP server with the tool, for calls over x, or over the exchange in their context. by is the agent, where several have
// servers.
func (t *tool) server(x *exchange, by human.Actor) *mcp.Server {
	s := mcp.NewServer(
		&mcp.Implementation{Name: "deskbell", Title: "Deskbell", Version: t.opts.Version},
		&mcp.ServerOptions{
			Instructions: instructions,
			// Over HTTP no connection stays open on which a change could be told.
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: x != nil && t.opts.Procedures != nil}},
			Logger:       slog.New(quiet{t.opts.Log.Handler()}),
		})
	s.AddTool(definition(), t.handler(x, (*call).answer))
	if t.opts.Knowledge {
		t.addKnowledge(s, x)
	}
	if t.opts.Gate != nil {
		s.AddTool(permissionDefinition(), t.handler(x, (*call).permission))
	}
	if t.opts.Plans != nil {
		s.AddTool(planDefinition(), t.handler(x, (*call).plan))
	}
	if t.opts.Procedures != nil {
		if o := t.offerProcedures(s, x, by); x != nil {
			t.offer = o
		}
	}
	if t.opts.Agents != nil {
		s.AddTool(messageDefinition(nil), t.handler(x, (*call).message))
	}
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			result, err := next(ctx, method, req)
			if list, is := result.(*mcp.ListToolsResult); is && err == nil {
				t.nameAgents(ctx, x.of(ctx), list)
				list.Tools = slices.DeleteFunc(list.Tools, func(tool *mcp.Tool) bool { return !t.inUse(ctx, x.of(ctx), tool.Name) })
			}
			return result, err
		}
	})
	return s
}

// inUse says whether a tool is listed: an agent pays for each that is, in each of its conversations. One that is not listed can
// still be called.
func (t *tool) inUse(ctx context.Context, x *exchange, tool string) bool {
	switch tool {
	case "permission":
		return t.opts.Permission || x.permission
	case "message_agent":
		open, err := t.opts.Agents.OpenAgents(ctx, x.by)
		return len(open) > 0 && err == nil
	case "confirm_plan":
		on, err := t.opts.Plans.PlansConfirmed(ctx)
		return on || err != nil // where it cannot be told, it may be
	}
	return true
}

// of is the exchange in the context, or else this one.
func (x *exchange) of(ctx context.Context) *exchange {
	if own, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		return own
	}
	return x
}

// handler makes a call of every request over x, or over the exchange in its context.
func (t *tool) handler(x *exchange, do func(*call, context.Context, json.RawMessage) (*mcp.CallToolResult, error)) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		x := x.of(ctx)
		if x.gone != nil {
			var cancel context.CancelFunc
			ctx, cancel = context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(x.gone, cancel)()
		}
		c := &call{tool: t, exchange: x, began: time.Now()}
		if info := req.ClientInfo(); info != nil {
			c.client = info.Name
		}
		if text, is := req.Params.Meta["traceparent"].(string); is {
			c.trace = human.Traceparent(text)
		}
		if token := req.Params.GetProgressToken(); token != nil {
			c.progress = func(ctx context.Context, p mcp.ProgressNotificationParams) error {
				p.ProgressToken = token
				return req.Session.NotifyProgress(ctx, &p)
			}
		}
		return do(c, ctx, req.Params.Arguments)
	}
}

// quiet keeps the SDK's own notes on every session out of the log; its warnings stay.
type quiet struct{ slog.Handler }

func (q quiet) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && q.Handler.Enabled(ctx, l)
}
