// Package observe makes of the journal what metrics and traces are made of: counts, times, and no text of a request.
package observe

import (
	"context"
	"iter"
	"slices"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
)

// Alike counts open operations that are alike.
type Alike struct {
	Kind    human.Kind
	State   human.State
	Risk    human.Risk
	Overdue bool
	Seen    bool // an operator looked at them
	Count   int
	Oldest  time.Time // when the first of them was requested
}

// Queue is what is followed; *queue.Queue is one.
type Queue interface {
	Head(ctx context.Context) (uint64, error)
	Follow(ctx context.Context, by human.Actor, after uint64) iter.Seq2[human.Entry, error]
	History(ctx context.Context, by human.Actor, id human.OperationID) ([]human.Entry, error)
}

const (
	farewell = 5 * time.Second // for the last entries once ctx ended
	pause    = time.Second     // before a journal that could not be read is read again
)

// Follow calls each for every entry after a seq, in order, until ctx ends; then for those that were stored by then, for at most
// five seconds. An entry for which each failed because ctx ended is one of those. It returns each's first other error. A journal that
// cannot be read is read again.
func Follow(ctx context.Context, q Queue, by human.Actor, after uint64, each func(context.Context, human.Entry) error) error {
	for ctx.Err() == nil {
		for e, err := range q.Follow(ctx, by, after) {
			if err != nil {
				break
			}
			if err = each(ctx, e); err == nil {
				after = e.Seq
			}
			if ctx.Err() != nil {
				break
			}
			if err != nil {
				return err
			}
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	head, err := q.Head(last)
	if err != nil || head <= after {
		return err
	}
	for e, err := range q.Follow(last, by, after) {
		if err == nil {
			err = each(last, e)
		}
		if err != nil || e.Seq >= head {
			return err
		}
	}
	return last.Err()
}

// Read returns an operation as it was after an entry, and its entries until then.
func Read(ctx context.Context, q Queue, by human.Actor, e human.Entry) (human.Operation, []human.Entry, error) {
	entries, err := q.History(ctx, by, e.ID)
	if err != nil {
		return human.Operation{}, nil, err
	}
	entries = entries[:slices.IndexFunc(entries, func(o human.Entry) bool { return o.Version == e.Version })+1]
	op, err := human.Fold(e.ID, entries)
	return op, entries, err
}

// Ends says whether an event is the end of an operation.
func Ends(e human.Event) bool {
	return e.Type == human.Finished || e.Type == human.Withdrawn || e.Type == human.TurnedDown
}

// FirstSeen says whether an entry is the first by which an operator looked at its operation, and how long after the request
// that was. op is the operation after the entry, or later.
func FirstSeen(op human.Operation, e human.Entry) (after time.Duration, is bool) {
	if e.Event.Type != human.Seen {
		return 0, false
	}
	var first human.Delivery
	for _, d := range op.Deliveries {
		if d.Seen != nil && (first.Seen == nil || d.Seen.Before(*first.Seen)) {
			first = d
		}
	}
	if first.Seen == nil || first.Channel != e.Event.Channel || !first.Seen.Equal(e.Event.At) {
		return 0, false
	}
	return e.Event.At.Sub(op.CreatedAt), true
}

// A Span is a part of the way of a request to its answer.
type Span struct {
	Name     string
	From, To time.Time
	Channel  string // of one shown or seen
	Version  uint64 // of the entry that ends it
}

// The names of spans.
const (
	Request   = "request"               // from the request to its end
	Shown     = "shown"                 // until it was shown first
	Seen      = "seen"                  // from then until an operator looked at it
	Claimed   = "claimed"               // while an operator had it
	Waiting   = "waiting for the agent" // from an operator's question to the reply
	Answered  = "answered"              // from when it was seen to the answer
	Delivered = "delivered"             // from the end, or a word after it, until its agent read it
)

// Spans are those of an operation, in the order of their ends. entries are all of it so far, from the first on.
func Spans(entries []human.Entry) []Span {
	var spans []Span
	var asked, end, claimed, waiting, shown, seen time.Time
	add := func(name string, from time.Time, e human.Entry) {
		spans = append(spans, Span{name, from, e.Event.At, e.Event.Channel, e.Version})
	}
	done := func(name string, from *time.Time, e human.Entry) {
		if !from.IsZero() {
			add(name, *from, e)
			*from = time.Time{}
		}
	}
	latest := func(times ...time.Time) (at time.Time) {
		for _, t := range times {
			if t.After(at) {
				at = t
			}
		}
		return at
	}
	for _, e := range entries {
		at := e.Event.At
		switch t := e.Event.Type; {
		case t == human.Invoked:
			asked = at
		case t == human.Shown && shown.IsZero() && e.Event.Text == "" && end.IsZero():
			add(Shown, asked, e)
			shown = at
		case t == human.Seen && seen.IsZero() && end.IsZero():
			add(Seen, latest(asked, shown), e)
			seen = at
		case t == human.ClaimedBy:
			claimed = at
		case t == human.Released:
			done(Claimed, &claimed, e)
		case t == human.Asked:
			done(Waiting, &waiting, e) // the operator asked again
			waiting = at
		case t == human.Replied:
			done(Waiting, &waiting, e)
		case Ends(e.Event):
			done(Waiting, &waiting, e)
			done(Claimed, &claimed, e)
			if t != human.Withdrawn {
				add(Answered, latest(asked, shown, seen), e)
			}
			add(Request, asked, e)
			end = at
		case t == human.Commented:
			end = at
		case t == human.Delivered:
			done(Delivered, &end, e)
		}
	}
	return spans
}

// Outcome is how an operation ended; a yes to an approval is "approved".
func Outcome(op human.Operation) string {
	if op.Result != nil && op.Result.Decision == human.Approved {
		return "approved"
	}
	return string(queue.EndOf(op))
}
