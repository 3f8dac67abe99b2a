package mcp

import (
	"context"
	"io"
	"log/slog"
	"os"
	"time"

	"deskbell/backend/agent"
	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	"deskbell/backend/plan"
	"deskbell/backend/procedure"
	"deskbell/backend/record/library"
	"deskbell/backend/transport/client"
)

// ServeRemote serves one client over in and out, as ServeStdio does, for the Deskbell in another process that find finds; of opts
// it fills in the rest. The error of find counts at the start: there must be one.
func ServeRemote(ctx context.Context, find func() (url string, err error), key string, in io.Reader, out io.Writer, opts Options) error {
	if _, err := find(); err != nil {
		return err
	}
	c := client.Finding(find, key)
	c.Unread = true
	defer c.Close()
	r := remote{c}
	folder, _ := os.Getwd() // where that cannot be told, none is
	opts.Session, opts.Folder, opts.LocalFiles, opts.Gate, opts.Plans, opts.Agents, opts.Procedures = client.Thread(folder), folder, true, r, r, r, r
	opts.Log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return ServeStdio(ctx, r, in, out, opts)
}

// A remote is an agent's side of a queue in another process; whose it is, the key says.
type remote struct{ *client.Client }

var (
	_ Ringer     = remote{}
	_ Gatekeeper = remote{}
	_ Planner    = remote{}
	_ Messenger  = remote{}
	_ Procedures = remote{}
)

// Ring implements Ringer.
func (r remote) Ring(ctx context.Context, ring Ring) (human.Operation, bool, error) {
	return r.Invoke(ctx, client.Ring{
		Kind: ring.Kind, Description: ring.Description, Details: ring.Details, Context: ring.Context,
		SessionID: ring.SessionID, IdempotencyKey: ring.IdempotencyKey, Priority: &ring.Priority,
		Timeout: ring.Timeout, OnTimeout: ring.OnTimeout, Attach: true, Attachments: ring.Attachments, Traceparent: ring.Traceparent,
	})
}

// Get implements Ringer.
func (r remote) Get(ctx context.Context, id human.OperationID) (human.Operation, error) {
	return r.Operation(ctx, id)
}

// Summary implements Ringer.
func (r remote) Summary(ctx context.Context, limit int, since time.Time, tokens int) (string, error) {
	sum, err := r.Client.Summary(ctx, limit, since, tokens)
	return sum.Text, err
}

// List implements Ringer.
func (r remote) List(ctx context.Context, states []human.State, text string, limit int) ([]human.Operation, error) {
	page, err := r.Client.List(ctx, client.Filter{States: states, Text: text, Order: "recent", Limit: limit})
	return page.Operations, err
}

// Actions implements Ringer.
func (r remote) Actions(ctx context.Context, id human.RecordingID) ([]human.Action, error) {
	found, err := r.Client.Actions(ctx, id, "en", "")
	return found.Actions, err
}

// Evidence implements Ringer.
func (r remote) Evidence(ctx context.Context, id human.OperationID, label string) (library.Evidence, error) {
	return r.Client.Evidence(ctx, id, label, "en")
}

// EvidencePicture implements Ringer.
func (r remote) EvidencePicture(ctx context.Context, id human.OperationID, label, which string, width int) ([]byte, error) {
	return r.Client.EvidencePicture(ctx, id, label, which, library.Look{Width: width, Format: "jpeg"})
}

// Evaluate implements Gatekeeper.
func (r remote) Evaluate(ctx context.Context, _ human.Actor, call human.ToolCall, how service.Asking) (human.Judgement, error) {
	how.Process = os.Getpid()
	return r.Client.Evaluate(ctx, call, how)
}

// Submit implements Planner.
func (r remote) Submit(ctx context.Context, _ human.Actor, s plan.Submission, wait time.Duration) (plan.Status, bool, error) {
	return r.Client.Submit(ctx, s, wait)
}

// Status implements Planner.
func (r remote) Status(ctx context.Context, _ human.Actor, session string, wait time.Duration, after uint64) (plan.Status, error) {
	return r.PlanStatus(ctx, session, wait, after)
}

// Progress implements Planner.
func (r remote) Progress(ctx context.Context, _ human.Actor, session string, p human.TaskProgress, wait time.Duration) (plan.Standing, error) {
	return r.Client.Progress(ctx, session, p, wait)
}

// Tools implements Procedures.
func (r remote) Tools(ctx context.Context, _ human.Actor) ([]procedure.Tool, error) {
	return r.ProcedureTools(ctx)
}

// Ask implements Procedures.
func (r remote) Ask(ctx context.Context, _ human.Actor, name string, c procedure.Call) (procedure.Asked, error) {
	return r.AskForRun(ctx, name, c)
}

// OpenAgents implements Messenger.
func (r remote) OpenAgents(ctx context.Context, _ human.Actor) ([]agent.Profile, error) {
	return r.Agents(ctx)
}

// Message implements Messenger.
func (r remote) Message(ctx context.Context, _ human.Actor, name string, sent agent.Sent, wait time.Duration) (agent.Response, error) {
	return r.Client.Message(ctx, name, sent, wait)
}
