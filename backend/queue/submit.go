package queue

import (
	"context"

	"deskbell/backend/human"
	"deskbell/backend/kind"
)

// Submit takes a request of a kind that agents do not ask for by name: r.Kind says which. The same idempotency key again
// joins the operation that exists, whatever has changed in the request since. decided, where it is not nil, ends the
// operation at once in the system's name: both are in the journal, or neither.
func (q *Queue) Submit(ctx context.Context, r human.Request, decided *human.Answer) (op human.Operation, created bool, err error) {
	var then *human.Event
	if decided != nil {
		then = &human.Event{Type: human.Finished, By: human.Actor{Role: human.System}, Answer: decided}
	}
	return q.submit(ctx, r, then)
}

// SubmitClaimed is Submit of a request that an operator has claimed when it arrives, so that it rings no one. The journal says why.
func (q *Queue) SubmitClaimed(ctx context.Context, r human.Request, by human.Actor, why string) (op human.Operation, created bool, err error) {
	if err := onlyOperators(by); err != nil {
		return op, false, err
	}
	return q.submit(ctx, r, &human.Event{Type: human.ClaimedBy, By: by, Text: why})
}

func (q *Queue) submit(ctx context.Context, r human.Request, then *human.Event) (op human.Operation, created bool, err error) {
	k, is := kind.Of(r.Kind)
	if !is {
		return op, false, human.BadField("action_type", "%q is not one of %s", r.Kind, kind.Sentence(kind.Names()))
	}
	r.OnTimeout = k.OnTimeout
	return q.take(ctx, r, false, func(r human.Request) (human.Operation, bool, error) { return q.byKey(ctx, r) }, then)
}

// AskMember has an operator ask another member of the team, r.To, for the recording that r.Details and r.SessionID name. It joins the
// request of this desk that is open, or approved and still counts.
func (q *Queue) AskMember(ctx context.Context, by human.Actor, r human.Request) (human.Operation, error) {
	if err := onlyOperators(by); err != nil {
		return human.Operation{}, err
	}
	r.AgentID = human.PersonID(by.Name)
	op, _, err := q.take(ctx, r, true, func(r human.Request) (human.Operation, bool, error) {
		last, err := q.Newest(ctx, r.Kind, r.AgentID, r.SessionID)
		if isNotFound(err) {
			return last, false, nil
		}
		_, granted := last.Grants(q.now())
		return last, err == nil && (granted || !last.State.Terminal()), err
	}, nil)
	return op, err
}

// Newest returns the newest operation of a kind in an agent's session, or with no agent in anybody's session of that name;
// a NotFound error without.
func (q *Queue) Newest(ctx context.Context, of human.Kind, agent, session string) (human.Operation, error) {
	if session == "" {
		return human.Operation{}, human.BadField("session_id", "is missing")
	}
	page, err := q.index.List(ctx, Filter{Kind: of, AgentID: agent, SessionID: session, Limit: 1})
	if err != nil {
		return human.Operation{}, err
	}
	if len(page.Operations) == 0 {
		return human.Operation{}, human.Errorf(human.NotFound, "there is no %s in the session %q", of, human.OneLine(session, 80))
	}
	return q.load(ctx, page.Operations[0].ID)
}

// Recent returns the newest operations of a kind of all agents, at most MaxPage, without details and context.
func (q *Queue) Recent(ctx context.Context, of human.Kind, most int) ([]human.Operation, error) {
	page, err := q.index.List(ctx, Filter{Kind: of, Limit: min(most, MaxPage)})
	return page.Operations, err
}

// Note adds an event of the operation's own kind, in the name of whoever caused it: its agent, an operator or the system.
// A Conflict error where it does not fit the operation as it is; see human.Operation.Apply.
func (q *Queue) Note(ctx context.Context, by human.Actor, id human.OperationID, e human.Event) (human.Operation, error) {
	switch by.Role {
	case human.Agent:
		return q.asAgent(ctx, by, id, e)
	case human.Operator:
		return q.operate(ctx, by, id, e)
	}
	return q.change(ctx, id, func(human.Operation) ([]human.Event, error) {
		e.By = by
		return []human.Event{e}, nil
	})
}
