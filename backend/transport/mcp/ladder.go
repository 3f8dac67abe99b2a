package mcp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/human"
	"deskbell/backend/transport/client"
)

// errGone says that no one reads the answer of a call any more. It goes to the SDK, which drops it.
var errGone = errors.New("the client has left; the operation stays in the queue")

// await waits for an operation to end, or for its operator to ask something, and returns it as it then stands; see climb.
func (c *call) await(ctx context.Context, op human.Operation, most time.Duration) (_ human.Operation, why string, err error) {
	why, err = c.climb(ctx, most, waited{
		over:     func() bool { return settled(op) },
		standing: func() string { return standing(op) },
		wait: func(ctx context.Context, most time.Duration) error {
			next, err := c.ringer.Wait(ctx, op.ID, op.Version, most)
			if err == nil {
				op = next
			}
			return err
		},
	})
	return op, why, err
}

// waited is what a call waits for.
type waited struct {
	over     func() bool   // says whether there is nothing more to wait for
	standing func() string // says in a few words how it stands
	// wait blocks until it has changed, at the longest for most; it may return early for no reason.
	wait func(ctx context.Context, most time.Duration) error
}

// patience is how long the call may take before its client gives up; negative where it does not as long as it gets progress.
func (c *call) patience() time.Duration {
	if c.opts.Patience > 0 {
		return c.opts.Patience
	}
	return client.CallPatience(c.client, c.progress != nil)
}

// climb climbs the wait ladder: it returns once what is waited for is over, or when the client's patience is, or most where that is
// not negative. A client that takes progress is kept informed. why says, where there is more to say, why it is not over.
// When the client leaves first the error is errGone.
func (c *call) climb(ctx context.Context, most time.Duration, w waited) (why string, err error) {
	const (
		away   = "Deskbell is not reachable at the moment; the request is kept"
		lost   = "Deskbell could not be reached just now. The request is kept and nothing is lost."
		ending = "This connection is closing. The request is kept and nothing is lost."
	)
	patience := c.patience()
	if most >= 0 && (patience < 0 || most < patience) {
		patience = most
	}
	var news string
	var retry client.Backoff
	beat := c.began // when progress is due
	for {
		if w.over() {
			return "", nil
		}
		now := time.Now()
		left := c.opts.Beat
		if patience >= 0 {
			if left = min(left, patience-now.Sub(c.began)); left <= 0 {
				return why, nil
			}
		}
		if c.progress != nil {
			n := w.standing()
			if why != "" {
				n = away
			}
			if n != news || !now.Before(beat) {
				if err := c.tell(ctx, n); err != nil {
					return why, errGone
				}
				news, beat = n, now.Add(c.opts.Beat)
			}
			left = min(left, beat.Sub(now))
		}
		err := c.untilClosing(ctx, left, w)
		switch {
		case ctx.Err() != nil:
			return why, errGone
		case err == nil:
			why = ""
			retry.Reset()
		case errors.Is(err, errClosing):
			return ending, nil
		case human.KindOf(err) == human.Unavailable:
			why = lost
			pause(ctx, min(retry.Next(), left))
		default:
			return why, err
		}
	}
}

// untilClosing is w.wait, ended early by the server's own end.
func (c *call) untilClosing(ctx context.Context, most time.Duration, w waited) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.closing, func() { cancel(errClosing) })()
	err := w.wait(ctx, most)
	if errors.Is(context.Cause(ctx), errClosing) && (err != nil || !w.over()) {
		return errClosing
	}
	return err
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
func standing(op human.Operation) string {
	late := ""
	if op.Overdue {
		late = " (overdue)"
	}
	switch {
	case op.State == human.Claimed:
		return op.ClaimedBy + " has claimed it" + late
	case op.State == human.InProgress && op.ClaimedBy != "":
		return op.ClaimedBy + " is working on it" + late
	}
	return "waiting for a human" + late
}
