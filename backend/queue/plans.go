package queue

import (
	"context"
	"slices"

	"deskbell/backend/human"
)

// Plan takes an agent's plan, as Permit takes a question: the same idempotency key again joins the plan that exists. A
// plan whose time is up ends as cancelled. decided, where it is not nil, ends the plan at once in the system's name:
// both are in the journal, or neither.
func (q *Queue) Plan(ctx context.Context, r human.Request, decided *human.Answer) (op human.Operation, created bool, err error) {
	r.Kind, r.OnTimeout = human.Plan, human.Cancel
	return q.take(ctx, r, false, func(r human.Request) (human.Operation, bool, error) { return q.byKey(ctx, r) }, decided)
}

// PlanOf returns the newest plan of an agent's session, or with no agent the newest of anybody's with that session; a
// NotFound error without.
func (q *Queue) PlanOf(ctx context.Context, agent, session string) (human.Operation, error) {
	if session == "" {
		return human.Operation{}, human.BadField("session_id", "is missing")
	}
	page, err := q.index.List(ctx, Filter{Kind: human.Plan, AgentID: agent, SessionID: session, Limit: 1})
	if err != nil {
		return human.Operation{}, err
	}
	if len(page.Operations) == 0 {
		return human.Operation{}, human.Errorf(human.NotFound, "there is no plan of the session %q", human.OneLine(session, 80))
	}
	return q.load(ctx, page.Operations[0].ID)
}

// Plans returns the newest plans of all agents, at the most MaxPage, without details and context.
func (q *Queue) Plans(ctx context.Context, most int) ([]human.Operation, error) {
	page, err := q.index.List(ctx, Filter{Kind: human.Plan, Limit: min(most, MaxPage)})
	return page.Operations, err
}

// Progress notes what an agent says about a task of its plan. A Conflict error where the task may not run now; see
// human.Operation.Apply.
func (q *Queue) Progress(ctx context.Context, by human.Actor, id human.OperationID, p human.TaskProgress) (human.Operation, error) {
	if by.Role != human.Agent {
		return human.Operation{}, human.Errorf(human.Denied, "only its agent can say how the plan %s goes", id)
	}
	return q.asAgent(ctx, by, id, human.Event{Type: human.Progressed, Progress: &p})
}

// Order gives an order to the agent whose plan runs: an operator's, or the system's where a time limit stops it.
func (q *Queue) Order(ctx context.Context, by human.Actor, id human.OperationID, o human.Order) (human.Operation, error) {
	if by.Role == human.System {
		return q.change(ctx, id, func(human.Operation) ([]human.Event, error) {
			return []human.Event{{Type: human.Ordered, By: by, Order: &o}}, nil
		})
	}
	return q.operate(ctx, by, id, human.Event{Type: human.Ordered, Order: &o})
}

// plans are the events by which an operator's answer to a plan is kept: it ends the plan, or, where several operators
// have to agree, it is one of their votes until enough of them have given the same answer. To cancel, or to say in words
// what to change, one is enough.
func plans(op human.Operation, by human.Actor, a human.Answer) ([]human.Event, error) {
	end := human.Event{Type: human.Finished, By: by, Answer: &a}
	question, err := op.PlanQuestion()
	if err != nil {
		return nil, err
	}
	if !question.Together() || a.Decision != human.Approved {
		return []human.Event{end}, nil
	}
	agree := []string{by.Name}
	for _, v := range op.Votes {
		if v.By != by && v.Answer.Plan.Agrees(*a.Plan) {
			agree = append(agree, v.By.Name)
		}
	}
	events := []human.Event{{Type: human.Voted, By: by, Answer: &a}}
	if len(agree) >= question.Confirmations && !slices.ContainsFunc(question.Operators, func(name string) bool { return !slices.Contains(agree, name) }) {
		events = append(events, end)
	}
	return events, nil
}

// planned fills in what an answer to a plan stands for, be it a plain yes or no as a notification gives it, and says what is
// wrong with it. The answer holds every task that may run.
func planned(op human.Operation, a *human.Answer) error {
	question, err := op.PlanQuestion()
	if err != nil {
		return err
	}
	if a.Plan == nil {
		switch a.Decision {
		case human.Approved:
			a.Plan = &human.PlanAnswer{Action: human.ConfirmPlan}
		case human.Refused:
			a.Plan = &human.PlanAnswer{Action: human.CancelPlan}
		default:
			return human.BadField("decision", "is missing; a plan is answered with approve or deny, or in Deskbell's window by what to change")
		}
	}
	full := *a.Plan
	a.Plan = &full
	switch {
	case full.Action == human.ConfirmPlan:
		full.Tasks, a.Decision = question.Tasks, human.Approved
	case full.Action == human.ModifyPlan && len(full.Tasks) > 0:
		a.Decision = human.Approved
	case full.Action == human.CancelPlan:
		full.Tasks, a.Decision = nil, human.Refused
	case full.Action == human.ModifyPlan && a.HumanInput != "":
		a.Decision = ""
	default:
		return human.BadField("action", "is to modify, but neither are there tasks nor words that say what to change")
	}
	return nil
}
