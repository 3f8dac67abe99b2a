package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/transport/client"
)

// A tool is what all calls of one server share.
type tool struct {
	opts       Options
	onTheirWay *deliveries
	questions  questions
	offer      *offer          // of a connection that stays open; nil: no procedures
	closing    context.Context // done once waits are to end
	close      context.CancelFunc
}

func newTool(opts Options) *tool {
	t := &tool{opts: opts.withDefaults(), onTheirWay: newDeliveries()}
	t.closing, t.close = context.WithCancel(context.Background())
	return t
}

// A call is one use of the tool.
type call struct {
	*tool
	*exchange
	client   string // as it names itself; "" where it does not
	began    time.Time
	progress func(context.Context, mcp.ProgressNotificationParams) error // nil where the client takes none
	told     float64
	trace    string // the traceparent of the call, or ""
}

// answer runs a call. Its error is for the protocol; what the agent should know of is in the result.
func (c *call) answer(ctx context.Context, raw json.RawMessage) (*mcp.CallToolResult, error) {
	r, budget, err := c.run(ctx, raw)
	if errors.Is(err, errGone) || ctx.Err() != nil {
		return nil, errGone
	}
	if err != nil {
		if human.KindOf(err) == human.Internal {
			c.opts.Log.Error("a call of the tool human failed", "err", err)
		}
		return failure(err), nil
	}
	if r.ended {
		c.deliver(ctx, r.ID)
	}
	return r.result(budget)
}

// deliver sees to it that the operation's end counts as read once this call's result has gone out.
func (c *call) deliver(ctx context.Context, id human.OperationID) {
	mark := func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		if err := c.ringer.MarkDelivered(ctx, id); err != nil {
			c.opts.Log.Warn("an answer was delivered, but that could not be stored; it may be delivered again", "operation_id", id, "err", err)
		}
	}
	if c.box == nil {
		mark()
		return
	}
	c.box.add(id, mark)
}

// run does what a call asks for. It returns how many tokens the result may have, too.
func (c *call) run(ctx context.Context, raw json.RawMessage) (reading, int, error) {
	a, err := read(raw, properties)
	if err != nil {
		return reading{}, 0, err
	}
	budget, err := a.budget()
	if err != nil {
		return reading{}, 0, err
	}
	r, err := c.do(ctx, a)
	if err == nil && !r.fitted && len(r.Files) > 0 {
		r = r.fit(budget)
		err = c.files(ctx, &r, budget-r.cost())
	}
	return r, budget, err
}

func (c *call) do(ctx context.Context, a arguments) (reading, error) {
	switch a.Action {
	case doInvoke:
		return c.invoke(ctx, a)
	case doWait, doReply, doCancel, doCheck, doEvidence:
		id, err := a.operation()
		if err != nil {
			return reading{}, err
		}
		switch a.Action {
		case doWait:
			return c.waitFor(ctx, a, human.Operation{ID: id})
		case doReply:
			return c.reply(ctx, a, id)
		case doCancel:
			op, err := c.ringer.Cancel(ctx, id, a.Reason)
			return c.read(ctx, op, err)
		case doEvidence:
			return c.evidence(ctx, a, id)
		}
		return c.check(ctx, a, id)
	case doSummary:
		return c.summary(ctx, a)
	case doList:
		return c.pending(ctx, a)
	case "":
		return reading{}, human.BadField("action", "is missing; it is one of %s", strings.Join(actions, ", "))
	}
	return reading{}, human.BadField("action", "%q is not one of %s", a.Action, strings.Join(actions, ", "))
}

func (c *call) invoke(ctx context.Context, a arguments) (reading, error) {
	r, err := a.ring(cmp.Or(c.session, c.opts.Session))
	if err != nil {
		return reading{}, err
	}
	if _, err := a.most(); err != nil {
		return reading{}, err
	}
	if r.Attachments, err = c.attach(ctx, a.Attachments); err != nil {
		return reading{}, err
	}
	r.Traceparent = c.trace
	c.onTheirWay.wait(ctx)
	op, created, err := c.ring(ctx, r)
	if err != nil {
		return reading{}, err
	}
	result, err := c.waitFor(ctx, a, op)
	result.Attached = !created
	return result, err
}

// ring sends a request, again for a while where the queue is away: what was stored is joined, so no operator is asked twice.
func (c *call) ring(ctx context.Context, r Ring) (op human.Operation, created bool, err error) {
	err = client.Retry(ctx, grace, nil, func() error {
		op, created, err = c.ringer.Ring(ctx, r)
		return err
	})
	return op, created, err
}

// grace is how long a call waits for a Deskbell that does not answer before it says so.
const grace = 5 * time.Second

func (c *call) waitFor(ctx context.Context, a arguments, op human.Operation) (reading, error) {
	most, err := a.most()
	if err != nil {
		return reading{}, err
	}
	op, why, err := c.await(ctx, op, most)
	r, err := c.read(ctx, op, err)
	if why != "" {
		r.Message = why
	}
	return r, err
}

func (c *call) reply(ctx context.Context, a arguments, id human.OperationID) (reading, error) {
	if strings.TrimSpace(a.Text) == "" {
		return reading{}, human.BadField("text", "is missing; it is what you say to the human")
	}
	op, err := c.ringer.Reply(ctx, id, a.Text)
	if err != nil {
		return reading{}, err
	}
	return c.waitFor(ctx, a, op)
}

func (c *call) check(ctx context.Context, a arguments, id human.OperationID) (reading, error) {
	op, err := c.ringer.Get(ctx, id)
	if err != nil || a.Field == "" {
		return c.read(ctx, op, err)
	}
	offset, err := a.from()
	if err != nil {
		return reading{}, err
	}
	text, err := c.text(ctx, op, a.Field)
	if err != nil {
		return reading{}, err
	}
	budget, err := a.budget()
	if err != nil {
		return reading{}, err
	}
	return excerpt(op, a.Field, text, offset, budget, fmt.Sprintf("action=check_result, operation_id=%s, field=%s", op.ID, a.Field))
}

func (c *call) summary(ctx context.Context, a arguments) (reading, error) {
	limit, err := count("limit", a.Limit)
	if err != nil {
		return reading{}, err
	}
	since, err := a.time(time.Now())
	if err != nil {
		return reading{}, err
	}
	budget := queue.UsualSummary
	if a.MaxTokens != nil {
		if budget, err = a.budget(); err != nil {
			return reading{}, err
		}
	}
	for most := budget; ; {
		text, err := c.ringer.Summary(ctx, limit, since, most)
		r := reading{Status: statusOK, Text: text}
		over := r.cost() - budget // as JSON it is longer
		if err != nil || over <= 0 || most == queue.LeastSummary {
			return r, err
		}
		most = max(min(most, human.Tokens(text))-over, queue.LeastSummary)
	}
}

func (c *call) pending(ctx context.Context, a arguments) (reading, error) {
	limit, err := count("limit", a.Limit)
	if err != nil {
		return reading{}, err
	}
	const usual, most = 20, 100
	if limit == 0 {
		limit = usual
	}
	limit = min(limit, most)
	open := slices.DeleteFunc(slices.Clone(human.States), human.State.Terminal)
	waiting, err := c.ringer.List(ctx, open, "", limit)
	if err != nil {
		return reading{}, err
	}
	over, err := c.ringer.List(ctx, ended, "", most)
	if err != nil {
		return reading{}, err
	}
	r := reading{Status: statusOK, Pending: []line{}, Unread: []line{}}
	for _, op := range waiting {
		r.Pending = append(r.Pending, lineOf(op))
	}
	for _, op := range over {
		if op.DeliveredAt == nil && len(r.Unread) < limit {
			r.Unread = append(r.Unread, lineOf(op))
		}
	}
	switch {
	case len(r.Unread) > 0:
		r.Next = "call human with action=check_result and an operation_id of unread to read that answer"
	case len(r.Pending) > 0:
		r.Next = "call human with action=wait and an operation_id of pending; one in state waiting_input waits for your action=reply"
	default:
		r.Message = "None of your requests waits for a human, and no answer is unread."
	}
	return r, nil
}
