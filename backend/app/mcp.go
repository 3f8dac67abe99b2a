package app

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	"deskbell/backend/plan"
	"deskbell/backend/record/library"
	"deskbell/backend/transport/client"
	"deskbell/backend/transport/mcp"
)

// serveMCP speaks MCP on standard input and output, over the API of a Deskbell in another process.
func serveMCP(version string) func(context.Context, func() (string, error), string, io.Reader, io.Writer) error {
	return func(ctx context.Context, find func() (string, error), key string, in io.Reader, out io.Writer) error {
		at, err := find()
		if err != nil {
			return err
		}
		r := &remote{find: find, key: key, to: unread(at, key)}
		defer r.close()
		return mcp.ServeStdio(ctx, r, in, out, mcp.Options{
			Version: version,
			Session: thread(),
			Folder:  folder(),
			Gate:    r,
			Plans:   r,
			Log:     slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
		})
	}
}

// folder is the one that this process works in, empty where that cannot be told.
func folder() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
}

// thread names this process's thread of work, as the operator sees it: the folder the agent works in, and
// something to tell apart two agents in one folder.
func thread() string {
	folder := "stdio"
	if dir, err := os.Getwd(); err == nil && len(filepath.Base(dir)) > 1 && len(filepath.Base(dir)) <= 64 {
		folder = filepath.Base(dir)
	}
	return folder + "-" + strings.ToLower(rand.Text()[:6])
}

// A remote is an agent's side of a queue in another process. When that does not answer, it looks whether
// it has moved before the next call.
type remote struct {
	find func() (string, error)
	key  string

	mu sync.Mutex
	to *client.Client
}

var (
	_ mcp.Ringer     = (*remote)(nil)
	_ mcp.Gatekeeper = (*remote)(nil)
	_ mcp.Planner    = (*remote)(nil)
)

// unread is a client for which nothing is delivered before MarkDelivered says so.
func unread(at, key string) *client.Client {
	c := client.New(at, key)
	c.Unread = true
	return c
}

func (r *remote) client() *client.Client {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.to
}

func (r *remote) close() { r.client().Close() }

// moved makes a new client where err says that nobody answered and the server is elsewhere now. It
// returns err.
func (r *remote) moved(err error) error {
	if err == nil || human.KindOf(err) != human.Unavailable {
		return err
	}
	at, findErr := r.find()
	r.mu.Lock()
	defer r.mu.Unlock()
	if findErr == nil && at != r.to.URL {
		r.to.Close()
		r.to = unread(at, r.key)
	}
	return err
}

// Ring implements mcp.Ringer.
func (r *remote) Ring(ctx context.Context, ring mcp.Ring) (human.Operation, bool, error) {
	op, created, err := r.client().Invoke(ctx, client.Ring{
		Kind: ring.Kind, Description: ring.Description, Details: ring.Details, Context: ring.Context,
		SessionID: ring.SessionID, IdempotencyKey: ring.IdempotencyKey, Priority: &ring.Priority,
		Timeout: ring.Timeout, OnTimeout: ring.OnTimeout, Attach: true,
	})
	return op, created, r.moved(err)
}

// Get implements mcp.Ringer.
func (r *remote) Get(ctx context.Context, id human.OperationID) (human.Operation, error) {
	op, err := r.client().Operation(ctx, id)
	return op, r.moved(err)
}

// Wait implements mcp.Ringer.
func (r *remote) Wait(ctx context.Context, id human.OperationID, after uint64, most time.Duration) (human.Operation, error) {
	op, err := r.client().Wait(ctx, id, after, most)
	return op, r.moved(err)
}

// Reply implements mcp.Ringer.
func (r *remote) Reply(ctx context.Context, id human.OperationID, text string) (human.Operation, error) {
	op, err := r.client().Reply(ctx, id, text)
	return op, r.moved(err)
}

// Cancel implements mcp.Ringer.
func (r *remote) Cancel(ctx context.Context, id human.OperationID, reason string) (human.Operation, error) {
	op, err := r.client().Cancel(ctx, id, reason)
	return op, r.moved(err)
}

// MarkDelivered implements mcp.Ringer.
func (r *remote) MarkDelivered(ctx context.Context, id human.OperationID) error {
	return r.moved(r.client().MarkDelivered(ctx, id))
}

// Summary implements mcp.Ringer.
func (r *remote) Summary(ctx context.Context, limit int, since time.Time) (string, error) {
	sum, err := r.client().Summary(ctx, limit, since)
	return sum.Text, r.moved(err)
}

// List implements mcp.Ringer.
func (r *remote) List(ctx context.Context, states []human.State, limit int) ([]human.Operation, error) {
	page, err := r.client().List(ctx, client.Filter{States: states, Order: "recent", Limit: limit})
	return page.Operations, r.moved(err)
}

// Actions implements mcp.Ringer.
func (r *remote) Actions(ctx context.Context, id human.RecordingID) ([]human.Action, error) {
	found, err := r.client().Actions(ctx, id, "en", "")
	return found.Actions, r.moved(err)
}

// Evidence implements mcp.Ringer.
func (r *remote) Evidence(ctx context.Context, id human.OperationID, label string) (library.Evidence, error) {
	e, err := r.client().Evidence(ctx, id, label, "en")
	return e, r.moved(err)
}

// EvidencePicture implements mcp.Ringer.
func (r *remote) EvidencePicture(ctx context.Context, id human.OperationID, label, which string, width int) ([]byte, error) {
	data, err := r.client().EvidencePicture(ctx, id, label, which, library.Look{Width: width, Format: "jpeg"})
	return data, r.moved(err)
}

// Evaluate implements mcp.Gatekeeper; whose call it is the key says.
func (r *remote) Evaluate(ctx context.Context, _ human.Actor, call human.ToolCall, how service.Asking) (human.Judgement, error) {
	if call.Home == "" {
		call.Home, _ = os.UserHomeDir() // without it the engine is the more careful
	}
	j, err := r.client().Evaluate(ctx, call, how)
	return j, r.moved(err)
}

// Submit implements mcp.Planner; whose plan it is the key says.
func (r *remote) Submit(ctx context.Context, _ human.Actor, s plan.Submission, wait time.Duration) (plan.Status, bool, error) {
	st, created, err := r.client().Submit(ctx, s, wait)
	return st, created, r.moved(err)
}

// Status implements mcp.Planner.
func (r *remote) Status(ctx context.Context, _ human.Actor, session string, wait time.Duration, after uint64) (plan.Status, error) {
	st, err := r.client().PlanStatus(ctx, session, wait, after)
	return st, r.moved(err)
}

// Progress implements mcp.Planner.
func (r *remote) Progress(ctx context.Context, _ human.Actor, session string, p human.TaskProgress, wait time.Duration) (plan.Standing, error) {
	st, err := r.client().Progress(ctx, session, p, wait)
	return st, r.moved(err)
}
