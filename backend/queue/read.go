package queue

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue/receipt"
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
		mine := map[human.OperationID]bool{}
		for {
			for e, err := range q.journal.Read(ctx, after) {
				if err != nil {
					yield(e, err)
					return
				}
				after = e.Seq
				if by.Role == human.Agent {
					if !q.concerns(ctx, by.Name, e, mine) {
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
		return arrives || q.appending[e.ID] > 0 && q.open[e.ID].Version < e.Version
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

// concerns says whether an entry is one of the agent's own that agents may see; mine remembers the
// open operations asked about before.
func (q *Queue) concerns(ctx context.Context, agent string, e human.Entry, mine map[human.OperationID]bool) bool {
	if e.Event.Request != nil {
		mine[e.ID] = e.Event.Request.AgentID == agent
	}
	is, known := mine[e.ID]
	if !known {
		op, err := q.load(ctx, e.ID)
		is = err == nil && op.AgentID == agent
		mine[e.ID] = is
	}
	switch e.Event.Type {
	case human.Delivered:
		delete(mine, e.ID)
	}
	return is && e.Event.Type.ForAgents()
}

// A Summary is an agent's readable memory of what humans did (H4).
type Summary struct {
	Text       string            `json:"text" doc:"Markdown to put into a prompt."`
	Operations []human.Operation `json:"operations"`
}

// Summary tells what humans did lately: for an agent with its own operations, for an operator with all.
// limit is at most the setting max_history, 0 is 10; since, where not zero, leaves out what was last
// changed before it.
func (q *Queue) Summary(ctx context.Context, by human.Actor, limit int, since time.Time) (Summary, error) {
	const usual = 10
	if limit < 0 {
		return Summary{}, human.BadField("limit", "is %d; it must be 0 or more", limit)
	}
	if limit == 0 {
		limit = usual
	}
	page, err := q.List(ctx, by, Filter{
		States: []human.State{human.Completed, human.Declined, human.Cancelled}, Since: since, Order: Recent,
		Limit: min(limit, q.opts.MaxHistory, MaxPage),
	})
	if err != nil {
		return Summary{}, err
	}
	return Summary{Text: summarize(page.Operations, q.opts.Now()), Operations: page.Operations}, nil
}

func summarize(ops []human.Operation, now time.Time) string {
	if len(ops) == 0 {
		return "No human has finished anything for you yet.\n"
	}
	var b strings.Builder
	b.WriteString("# What humans did lately\n")
	for _, op := range ops {
		fmt.Fprintf(&b, "\n## %s\n", human.OneLine(op.Description, 120))
		by := ""
		if r := op.Result; r != nil {
			by = r.By.Name
		} else if op.Ended != nil {
			by = op.Ended.By.Name
		}
		fmt.Fprintf(&b, "%s, %s", op.Kind, outcome(op))
		if by != "" {
			fmt.Fprintf(&b, " by %s", by)
		}
		fmt.Fprintf(&b, " %s ago (%s)\n", age(now.Sub(op.EndedAt())), op.ID)
		if r := op.Result; r != nil {
			line(&b, "Said", r.HumanInput)
			line(&b, "Done", r.Summary)
			line(&b, "Result", r.ExecutionResult)
			for _, s := range r.Steps {
				line(&b, fmt.Sprintf("Step %d", s.Step), strings.TrimPrefix(s.Verdict+": "+s.Note, ": "))
			}
			told(&b, r.Kept())
			for _, k := range sortedKeys(r.Fields) {
				line(&b, k, r.Fields[k])
			}
		} else if op.Ended != nil {
			line(&b, "Reason", op.Ended.Reason)
		}
		for _, m := range op.Messages {
			if m.By.Role == human.Operator && m.At.After(op.EndedAt()) {
				line(&b, "Added later", m.Text)
			}
		}
	}
	return b.String()
}

// told writes what an answer found, with the labels by which its agent can ask for the evidence.
func told(b *strings.Builder, a human.Answer) {
	if len(a.Findings) == 0 {
		for _, text := range a.KeyFindings {
			line(b, "Finding", text)
		}
	}
	labels := a.Labels()
	write := func(name string, all []human.Finding) {
		for _, f := range all {
			var rests []string
			for _, r := range f.Evidence {
				rests = append(rests, labels[r])
			}
			if len(rests) > 0 {
				line(b, fmt.Sprintf("%s (%s)", name, strings.Join(rests, ", ")), f.Text)
			} else {
				line(b, name, f.Text)
			}
		}
	}
	write("Finding", a.Findings)
	write("Suggestion", a.Suggestions)
}

func outcome(op human.Operation) string {
	if op.Kind == human.Plan {
		return string(op.PlanStatus())
	}
	if op.Result != nil {
		switch op.Result.Decision {
		case human.Approved:
			return "approved"
		case human.Refused:
			return "denied"
		}
		switch op.Result.Verdict {
		case human.WorkPartly:
			return "partly done"
		case human.WorkCouldNot:
			return "could not be done"
		case "", human.WorkDone, human.ReviewApprove, human.RequestChanges, human.ReviewComment:
		}
	}
	return string(op.State)
}

func line(b *strings.Builder, label, text string) {
	const most = 600
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	fmt.Fprintf(b, "- %s: %s\n", label, human.Shorten(strings.Join(strings.Fields(text), " "), most))
}

func age(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
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
