package queue

import (
	"context"
	"iter"

	"deskbell/backend/human"
	"deskbell/backend/queue/receipt"
	"deskbell/backend/queue/recent"
)

// List returns a page of operations without details and context: all for an operator, an agent's own
// for an agent.
func (q *Queue) List(ctx context.Context, by human.Actor, f Filter) (Page, error) {
	if by.Role == human.Agent {
		f.AgentID = by.Name
	}
	if f.Limit < 0 || f.Limit > MaxPage {
		return Page{}, human.BadField("limit", "is %d; it runs from 1 to %d", f.Limit, MaxPage)
	}
	if f.Limit == 0 {
		f.Limit = DefaultPage
	}
	page, err := q.index.List(ctx, f)
	if err != nil {
		return page, err
	}
	if page.Operations == nil {
		page.Operations = []human.Operation{}
	}
	if by.Role == human.Agent {
		for i, op := range page.Operations {
			page.Operations[i] = op.ForAgent()
		}
	}
	return page, nil
}

// History returns all events of one operation, in order: those its agent may see, or all for an operator.
func (q *Queue) History(ctx context.Context, by human.Actor, id human.OperationID) ([]human.Entry, error) {
	if _, err := q.Get(ctx, by, id); err != nil {
		return nil, err
	}
	entries, err := q.journal.Operation(ctx, id)
	if err != nil || by.Role != human.Agent {
		return entries, err
	}
	var seen []human.Entry
	for _, e := range entries {
		if e.Event.Type.ForAgents() {
			e.Event = e.Event.ForAgent()
			seen = append(seen, e)
		}
	}
	return seen, nil
}

// Head is the seq of the last event.
func (q *Queue) Head(ctx context.Context) (uint64, error) { return q.journal.Head(ctx) }

// Follow yields every event after a seq, those stored and then those to come, as they are committed,
// in order and without loss, until ctx ends or the caller stops. Whoever then reads the operation finds it as it is after
// the event, or newer. An agent gets the events of its own operations that agents may see. A slow reader costs no one
// anything: it reads on from storage.
func (q *Queue) Follow(ctx context.Context, by human.Actor, after uint64) iter.Seq2[human.Entry, error] {
	return func(yield func(human.Entry, error) bool) {
		var mine recent.Cache[human.OperationID, bool]
		for {
			for e, err := range q.journal.Read(ctx, after) {
				if err != nil {
					yield(e, err)
					return
				}
				after = e.Seq
				if by.Role == human.Agent {
					if !q.concerns(ctx, by.Name, e, &mine) {
						continue
					}
					e.Event = e.Event.ForAgent()
				}
				q.settled(ctx, e)
				if !yield(e, nil) {
					return
				}
			}
			if ctx.Err() != nil {
				return
			}
			if err := q.journal.Wait(ctx, after); err != nil {
				if ctx.Err() == nil {
					yield(human.Entry{}, err)
				}
				return
			}
		}
	}
}

// settled blocks until memory has an event that this queue stores, or ctx ends: the journal shows it as soon as it is
// committed.
func (q *Queue) settled(ctx context.Context, e human.Entry) {
	behind := func() bool {
		q.mu.Lock()
		defer q.mu.Unlock()
		_, arrives := q.arriving[e.ID]
		return arrives || q.appending[e.ID] > 0 && uint64(q.open[e.ID].version) < e.Version
	}
	if !behind() {
		return
	}
	w := q.watch(e.ID)
	defer q.unwatch(e.ID, w)
	for ctx.Err() == nil {
		q.mu.Lock()
		changed := w.changed
		q.mu.Unlock()
		if !behind() {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// mineBytes is about what mine takes for an operation, in bytes.
const mineBytes = 64

// concerns says whether an entry is one of the agent's own that agents may see; mine remembers the
// operations asked about before.
func (q *Queue) concerns(ctx context.Context, agent string, e human.Entry, mine *recent.Cache[human.OperationID, bool]) bool {
	is, known := mine.Get(e.ID)
	switch {
	case e.Event.Request != nil:
		is = e.Event.Request.AgentID == agent
		mine.Put(e.ID, is, mineBytes)
	case !known:
		op, err := q.load(ctx, e.ID)
		is = err == nil && op.AgentID == agent
		mine.Put(e.ID, is, mineBytes)
	}
	return is && e.Event.Type.ForAgents()
}

// Receipts returns the receipts of an operation's answers, oldest first; an agent's own only.
func (q *Queue) Receipts(ctx context.Context, by human.Actor, id human.OperationID) ([]human.Receipt, error) {
	if _, err := q.Get(ctx, by, id); err != nil {
		return nil, err
	}
	return q.journal.Receipts(ctx, id)
}

// Audit reads the whole journal again; see Journal. For operators.
func (q *Queue) Audit(ctx context.Context, by human.Actor, trust receipt.Trust) (receipt.Audit, error) {
	if err := onlyOperators(by); err != nil {
		return receipt.Audit{}, err
	}
	return q.journal.Audit(ctx, trust)
}

// Chain returns the place of an operation's last receipt among all; see Journal. For operators.
func (q *Queue) Chain(ctx context.Context, by human.Actor, id human.OperationID, trust receipt.Trust) (receipt.Chain, error) {
	if err := onlyOperators(by); err != nil {
		return receipt.Chain{}, err
	}
	if _, err := q.load(ctx, id); err != nil {
		return receipt.Chain{}, err
	}
	c, err := q.journal.Chain(ctx, id, trust)
	for i := range c.Neighbors {
		n := &c.Neighbors[i]
		if op, err := q.load(ctx, n.Operation); err == nil { // the journal may lack it
			n.Description = human.Shorten(op.Description, mostOfADescription)
		}
	}
	return c, err
}

// mostOfADescription is how much of a neighbor's is shown, in characters.
const mostOfADescription = 120
