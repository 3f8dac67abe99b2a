package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/human"
)

// errGone says that nobody reads the answer of a call any more. It goes to the SDK, which drops it.
var errGone = errors.New("the client has left; the operation stays in the queue")

// await climbs the wait ladder: it returns once the operation has ended or its operator asks something,
// or when the client's patience is over, with the operation as it then stands. A client that takes
// progress is kept informed and waits for as long as it stays; one that does not is answered within
// Options.Patience. most bounds both where it is not negative. why says, where there is more to say, why
// the operation is not settled. When the client leaves first the error is errGone.
func (c *call) await(ctx context.Context, op human.Operation, most time.Duration) (_ human.Operation, why string, err error) {
	const (
		lost   = "Deskbell could not be reached just now. The request is kept and nothing is lost."
		ending = "This connection is closing. The request is kept and nothing is lost."
	)
	patience := most
	if c.progress == nil && (most < 0 || most > c.opts.Patience) {
		patience = c.opts.Patience
	}
	var news string
	beat := c.began // when progress is due
	for {
		if settled(op) {
			return op, "", nil
		}
		now := time.Now()
		left := c.opts.Beat
		if patience >= 0 {
			if left = min(left, patience-now.Sub(c.began)); left <= 0 {
				return op, why, nil
			}
		}
		if c.progress != nil {
			if n := standing(op, why != ""); n != news || !now.Before(beat) {
				if err := c.tell(ctx, n); err != nil {
					return op, why, errGone
				}
				news, beat = n, now.Add(c.opts.Beat)
			}
			left = min(left, beat.Sub(now))
		}
		next, err := c.wait(ctx, op, left)
		switch {
		case ctx.Err() != nil:
			return op, why, errGone
		case err == nil:
			op, why = next, ""
		case errors.Is(err, errClosing):
			return op, ending, nil
		case human.KindOf(err) == human.Unavailable:
			why = lost
			pause(ctx, min(c.opts.Pause, left))
		default:
			return op, why, err
		}
	}
}

// wait is the Ringer's, ended early by the server's own end.
func (c *call) wait(ctx context.Context, op human.Operation, most time.Duration) (human.Operation, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.closing, func() { cancel(errClosing) })()
	next, err := c.ringer.Wait(ctx, op.ID, op.Version, most)
	if errors.Is(context.Cause(ctx), errClosing) && (err != nil || !settled(next)) {
		return next, errClosing
	}
	return next, err
}

var errClosing = errors.New("the server is closing")

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// settled says whether it is the agent's turn.
func settled(op human.Operation) bool { return op.State.Terminal() || op.State == human.WaitingInput }

// tell sends a note of progress. Its number is the seconds since the call began, made to increase.
func (c *call) tell(ctx context.Context, what string) error {
	seconds := int(time.Since(c.began).Seconds())
	c.told = max(c.told+1, float64(seconds))
	return c.progress(ctx, mcp.ProgressNotificationParams{
		Progress: c.told,
		Message:  fmt.Sprintf("%s, %d s", what, seconds),
	})
}

// standing says in a few words what a waiting agent may know.
func standing(op human.Operation, away bool) string {
	late := ""
	if op.Overdue {
		late = " (overdue)"
	}
	switch {
	case away:
		return "Deskbell is away for the moment; the request is kept"
	case op.State == human.Claimed:
		return op.ClaimedBy + " has taken it" + late
	case op.State == human.InProgress && op.ClaimedBy != "":
		return op.ClaimedBy + " is working on it" + late
	}
	return "waiting for a human" + late
}
