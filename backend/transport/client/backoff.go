package client

import (
	"context"
	"time"

	"deskbell/backend/human"
)

// Pauses between attempts to reach a server that does not answer.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 5 * time.Second
)

// Patience is how long an agent waits for a Deskbell that does not answer: long enough to start it again.
const Patience = 2 * time.Minute

// A Backoff is the pauses between attempts to reach a server: 100 ms at first, then each twice as long as the one before
// it, up to 5 s. The zero value is ready for use. It is not safe for concurrent use.
type Backoff struct {
	Least time.Duration // no pause is shorter, because the server said so
	last  time.Duration
}

// Next is the next pause.
func (b *Backoff) Next() time.Duration {
	b.last = min(max(2*b.last, firstPause), lastPause)
	return max(b.last, b.Least)
}

// Wait blocks for the next pause. It returns false when ctx ends.
func (b *Backoff) Wait(ctx context.Context) bool {
	t := time.NewTimer(b.Next())
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Reset makes the next pause a first one: the server answered.
func (b *Backoff) Reset() { b.last = 0 }

// Retry calls do again while it returns Unavailable, and returns its last error. It gives up when ctx ends or the server has
// been away for as long as most. away, unless nil, is called before the first pause. do must be safe to call twice.
func Retry(ctx context.Context, most time.Duration, away func(), do func() error) error {
	var pause Backoff
	var since time.Time
	for {
		err := do()
		if human.KindOf(err) != human.Unavailable || ctx.Err() != nil {
			return err
		}
		if since.IsZero() {
			since = time.Now()
			if away != nil {
				away()
			}
		}
		if time.Since(since) > most || !pause.Wait(ctx) {
			return err
		}
	}
}
