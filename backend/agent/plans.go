package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"deskbell/backend/human"
)

// imply makes a plan of the calls that the model made without one.
func (x *execution) imply(ctx context.Context, left []ToolUse) error {
	p := Proposal{Message: human.OneLine(cmp.Or(x.turns[len(x.turns)-1].Text, x.info.Task), 300)}
	for _, use := range left {
		args, err := object(use.Args)
		if err != nil || x.box.byName[use.Name] == nil {
			continue // told so in its turn
		}
		p.Tasks = append(p.Tasks, human.Task{
			ID: fmt.Sprintf("t%d", len(p.Tasks)+1), Description: human.OneLine(callLine(use.Name, args), 200), Tool: use.Name, Type: "tool_call", Args: args,
		})
		p.Calls = append(p.Calls, use.ID)
	}
	return x.propose(ctx, p)
}

// propose notes a plan that is to be confirmed.
func (x *execution) propose(ctx context.Context, p Proposal) error {
	why := x.why
	if x.current != nil {
		why = fmt.Sprintf("the agent found another plan while it worked on task %s", x.current.ID)
	}
	if l := x.deps.Limits.Plans; l > 0 && why != "" && x.plans >= l {
		return x.fail(ctx, EndInterrupted, human.Sayf("The limit of %d new plans is reached.", l))
	}
	p.Key, p.Why = x.deps.NewID("plan_"), why
	return x.keep(ctx, Record{Kind: ProposalRecord, Proposal: &p})
}

// confirm has the plan at hand confirmed.
func (x *execution) confirm(ctx context.Context) error {
	p := *x.proposal
	if err := x.to(ctx, Planning, human.Sayf("A plan, tasks: %d. %s", len(p.Tasks), p.Message)); err != nil {
		return err
	}
	c, err := x.deps.Plans.Confirm(ctx, p, func(c Confirmation) {
		if len(c.Tasks) == 0 {
			c.Tasks = p.Tasks
		}
		c.Status = cmp.Or(c.Status, human.PlanPending)
		x.calledBack(x.to(ctx, AwaitingConfirmation, human.Sayf("Waiting for a person to confirm the plan")))
		if x.broken == nil {
			x.calledBack(x.emit(ctx, Update{Type: ConfirmationRequest, Content: p.Message, Plan: &c}))
		}
	}, func(q string) string { return x.askedBack(ctx, q) })
	if human.KindOf(err) == human.Invalid && x.broken == nil {
		return x.keep(ctx, Record{Kind: PlanRecord, Plan: &Confirmation{}, Text: human.SafeText(err)})
	}
	if err != nil || x.broken != nil {
		return x.plansFailed(ctx, err)
	}
	switch {
	case c.Status == human.PlanCancelled:
		return x.fail(ctx, EndDenied, human.Sayf("An operator canceled the plan."), own(operatorSays(c.Message)))
	case c.Status == human.PlanTimeout:
		u := Update{Type: ConfirmationTimeout}
		u.says(human.Sayf("No operator confirmed the plan in time, so nothing of it runs."))
		if err := x.emit(ctx, u); err != nil {
			return err
		}
		return x.fail(ctx, EndDenied, human.Sayf("No operator confirmed the plan in time."))
	case c.Status == human.PlanModified && len(c.Tasks) == 0:
		return x.keep(ctx, Record{Kind: PlanRecord, Plan: &c})
	case c.Status != human.PlanConfirmed && c.Status != human.PlanModified, !sound(c.Tasks):
		return x.confirmationError(ctx, human.Sayf("what came back is no confirmed plan"))
	}
	if err := x.keep(ctx, Record{Kind: PlanRecord, Plan: &c}); err != nil {
		return err
	}
	u := Update{Type: TaskPlan, Plan: &c}
	u.says(planned(c))
	return x.emit(ctx, u)
}

// sound says whether each task has an id of its own.
func sound(tasks []human.Task) bool {
	seen := map[string]bool{"": true}
	for _, t := range tasks {
		if seen[t.ID] {
			return false
		}
		seen[t.ID] = true
	}
	return len(tasks) > 0
}

func planned(c Confirmation) human.Sentence {
	n := len(c.Tasks)
	switch {
	case c.Auto == "safe":
		return human.Sayf("A plan, confirmed by itself, since every task is safe; tasks: %d", n)
	case c.Auto != "":
		return human.Sayf("A plan, not to be confirmed here; tasks: %d", n)
	case c.Status == human.PlanModified:
		return human.Sayf("A plan, confirmed with changes; tasks: %d", n)
	}
	return human.Sayf("A plan, confirmed; tasks: %d", n)
}

// plansFailed ends the run where plans cannot be confirmed or followed; it can be resumed.
func (x *execution) plansFailed(ctx context.Context, err error) error {
	if x.broken != nil {
		return x.broken
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return x.confirmationError(ctx, saidBy(err))
}

func (x *execution) confirmationError(ctx context.Context, why human.Sentence) error {
	u := Update{Type: ConfirmationError}
	u.says(human.Sayf("The plan could not be confirmed or followed:"), why)
	if err := x.emit(ctx, u); err != nil {
		return err
	}
	return x.fail(ctx, EndInterrupted, human.Sayf("The plan could not be confirmed or followed:"), why)
}

// beginTask begins the next task that waits.
func (x *execution) beginTask(ctx context.Context) error {
	t := *x.waiting()
	if err := x.to(ctx, Executing, human.Sayf("Carrying out the plan")); err != nil {
		return err
	}
	for asked := 0; ; asked++ {
		st, err := x.deps.Plans.Begin(ctx, t.ID)
		if err != nil || x.broken != nil {
			return x.plansFailed(ctx, err)
		}
		changed, err := x.follow(ctx, st, t.ID)
		if err != nil {
			return err
		}
		switch {
		case st.Go && st.Task.ID != t.ID:
			return x.confirmationError(ctx, human.Sayf("another task than %s may begin", t.ID))
		case st.Go:
			return x.begun(ctx, st.Task)
		case st.Why == "stopped":
			return x.fail(ctx, EndDenied, human.Sayf("An operator stopped the plan."), own(st.Message))
		case st.Why == "skipped":
			if err := x.keep(ctx, Record{Kind: TaskRecord, Progress: &human.TaskProgress{Task: t.ID, State: human.TaskSkipped, Note: st.Message}}); err != nil {
				return err
			}
			return x.emit(ctx, Update{Type: SubTaskResult, Content: cmp.Or(st.Message, t.Description), TaskID: t.ID, Tool: t.Tool, Outcome: OutcomeSkipped})
		case st.Why == "refused":
			return x.skip(ctx, t.ID, cmp.Or(st.Message, "it was denied"))
		case changed:
			return nil
		case st.Why == "paused", st.Why == "asking":
			if asked == 0 {
				err = x.status(ctx, human.Sayf("Task %s waits: %s", t.ID, cmp.Or(st.Message, st.Why)))
			}
		case asked >= stalled:
			return x.confirmationError(ctx, human.Sayf("task %s was neither allowed to begin nor removed", t.ID))
		}
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
	}
}

// begun notes that a task has begun.
func (x *execution) begun(ctx context.Context, t human.Task) error {
	if direct(t) {
		if args, err := object(t.Args); err == nil {
			t.Args = args
		}
	}
	if err := x.to(ctx, Executing, human.Sayf("Carrying out the plan as it is now")); err != nil {
		return err
	}
	if err := x.keep(ctx, Record{Kind: TaskRecord, Task: t.ID, Doing: &t}); err != nil {
		return err
	}
	u := Update{Type: TaskInit, Content: t.Description, TaskID: t.ID, Tool: t.Tool}
	if direct(t) {
		u.Call = wholeLine(t.Tool, t.Args)
	}
	return x.emit(ctx, u)
}

// follow takes what an operator changed of the tasks that wait, beside the one that is about to begin.
func (x *execution) follow(ctx context.Context, st Standing, but string) (changed bool, err error) {
	if st.Tasks == nil {
		return false, nil
	}
	now := x.merged(st.Tasks)
	ours, theirs := waitingOf(x.tasks, but), waitingOf(now, but)
	// When the task about to begin is gone, its own state says whether it was skipped or denied.
	gone := but != "" && !st.Go && st.Why != "skipped" && st.Why != "refused" &&
		!slices.ContainsFunc(now, func(t human.TaskRun) bool { return t.ID == but && t.State == human.TaskWaiting })
	if sameTasks(ours, theirs) && !gone {
		return false, nil
	}
	if err := x.to(ctx, Replanning, human.Sayf("An operator changed the plan")); err != nil {
		return false, err
	}
	if err := x.keep(ctx, Record{Kind: ChangeRecord, Tasks: st.Tasks, Text: st.Message}); err != nil {
		return false, err
	}
	for _, t := range x.tasks {
		if t.State != human.TaskSkipped || !slices.ContainsFunc(ours, func(o human.Task) bool { return o.ID == t.ID }) {
			continue
		}
		if err := x.emit(ctx, Update{Type: SubTaskResult, Content: cmp.Or(t.Note, t.Description), TaskID: t.ID, Tool: t.Tool, Outcome: OutcomeSkipped}); err != nil {
			return false, err
		}
	}
	c := Confirmation{Status: human.PlanModified, Message: st.Message}
	for _, t := range x.tasks {
		c.Tasks = append(c.Tasks, t.Task)
	}
	u := Update{Type: TaskPlan, Plan: &c}
	u.says(human.Sayf("An operator changed the plan"))
	if err := x.emit(ctx, u); err != nil {
		return false, err
	}
	return true, nil
}

func waitingOf(tasks []human.TaskRun, but string) []human.Task {
	var list []human.Task
	for _, t := range tasks {
		if t.State == human.TaskWaiting && t.ID != but {
			list = append(list, t.Task)
		}
	}
	return list
}

// endTask reports how the task at hand has ended.
func (x *execution) endTask(ctx context.Context) error {
	p, t := *x.ending, *x.current
	if err := x.to(ctx, Evaluating, human.Sayf("Task %s has ended", p.Task)); err != nil {
		return err
	}
	refused := x.last == OutcomeRefused
	st, err := x.deps.Plans.End(ctx, p)
	if err != nil || x.broken != nil {
		return x.plansFailed(ctx, err)
	}
	if _, err := x.follow(ctx, st, ""); err != nil {
		return err
	}
	if err := x.keep(ctx, Record{Kind: TaskRecord, Progress: &p}); err != nil {
		return err
	}
	u := Update{Type: SubTaskResult, Content: cmp.Or(p.Note, t.Description), TaskID: p.Task, Tool: t.Tool, Outcome: string(p.State)}
	if direct(t) {
		u.Call = wholeLine(t.Tool, t.Args)
	}
	if refused && p.State == human.TaskFailed {
		u.Outcome = OutcomeRefused
	}
	if err := x.emit(ctx, u); err != nil {
		return err
	}
	if st.Why == "stopped" {
		return x.fail(ctx, EndDenied, human.Sayf("An operator stopped the plan."), own(st.Message))
	}
	return nil
}

// giveUp takes out the next task that waits, of a plan that is not continued with.
func (x *execution) giveUp(ctx context.Context) error {
	return x.skip(ctx, x.waiting().ID, "")
}

// skip removes a task that waits; denied are an operator's words, where they denied it.
func (x *execution) skip(ctx context.Context, id, denied string) error {
	p := human.TaskProgress{Task: id, State: human.TaskSkipped, Note: cmp.Or(denied, x.abandon)}
	_, err := x.deps.Plans.End(ctx, p)
	if kind := human.KindOf(err); x.broken != nil || err != nil && (ctx.Err() != nil || kind != human.Conflict && kind != human.NotFound) {
		return x.plansFailed(ctx, err)
	}
	if err := x.keep(ctx, Record{Kind: TaskRecord, Progress: &p, Text: denied}); err != nil {
		return err
	}
	return x.emit(ctx, Update{Type: SubTaskResult, Content: p.Note, TaskID: id, Outcome: OutcomeSkipped})
}
