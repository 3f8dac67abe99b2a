package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"deskbell/backend/human"
)

// takeCall takes the next call of a reply.
func (x *execution) takeCall(ctx context.Context, left []ToolUse) error {
	use := left[0]
	if i := slices.IndexFunc(left, func(c ToolUse) bool { return c.Name == proposePlan }); i >= 0 && x.deps.Plans != nil {
		use = left[i] // what stands beside a plan does not run
	}
	no := func(why string) error {
		return x.keep(ctx, Record{Kind: DoneRecord, Done: &CallDone{CallID: use.ID, Text: why, Failed: true}})
	}
	args, err := object(use.Args)
	if err != nil {
		return no("It did not run: " + human.SafeText(err) + ".")
	}
	use.Args = args
	switch {
	case use.Name == askHuman:
		if question(use) == "" {
			return no("Nothing was asked: give the question.")
		}
		return x.keep(ctx, Record{Kind: UseRecord, Use: &use})
	case use.Name == finishRun:
		p, err := ended(use.Args)
		if err != nil {
			return no(human.SafeText(err))
		}
		if x.current != nil {
			return no("Task " + x.current.ID + " has not ended: call " + endTask + " first.")
		}
		return x.keep(ctx, Record{Kind: FinishRecord, Done: &CallDone{CallID: use.ID, Text: "Noted."}, Outcome: string(p.State), Text: cmp.Or(strings.TrimSpace(p.Note), nothing)})
	case use.Name == endTask && x.deps.Plans != nil:
		if x.current == nil {
			return no("There is no task to end: none has begun.")
		}
		p, err := ended(use.Args)
		if err != nil {
			return no(human.SafeText(err))
		}
		p.Task, p.Note = x.current.ID, human.OneLine(p.Note, 300)
		return x.keep(ctx, Record{Kind: DoneRecord, Done: &CallDone{CallID: use.ID, Text: "Noted."}, Task: p.Task, Progress: &p})
	case use.Name == proposePlan && x.deps.Plans != nil:
		p, err := proposed(use.Args, x.box)
		if err != nil {
			return no("This is no plan that can be confirmed: " + human.SafeText(err) + ".")
		}
		return x.propose(ctx, p)
	case x.box.byName[use.Name] == nil:
		return no("There is no tool of this name here.")
	case x.deps.Plans == nil || x.current != nil:
		return x.perform(ctx, use)
	}
	return x.imply(ctx, left)
}

// doTask makes the one call that a task with arguments is.
func (x *execution) doTask(ctx context.Context) error {
	t := *x.current
	use := ToolUse{ID: x.callID(), Name: t.Tool, Args: t.Args}
	no := func(why string) error {
		return x.keep(ctx, Record{Kind: DoneRecord, Done: &CallDone{CallID: use.ID, Text: why, Failed: true}, Task: t.ID, Outcome: OutcomeFailed, Text: why})
	}
	switch {
	case x.lost:
		return no("It did not run: the agent was restarted, and what is secret in the call was not kept.")
	case t.Tool == askHuman && question(use) != "":
		return x.keep(ctx, Record{Kind: UseRecord, Use: &use, Task: t.ID})
	case x.box.byName[t.Tool] == nil:
		return no("It did not run: there is no tool of the name " + t.Tool + " here.")
	}
	return x.perform(ctx, use)
}

// perform has a call judged and runs it, between its two records. It is the only way to a tool.
func (x *execution) perform(ctx context.Context, use ToolUse) error {
	rec := Record{Kind: DoneRecord, Done: &CallDone{CallID: use.ID, Failed: true}, Outcome: OutcomeRefused}
	u := Update{Tool: use.Name, Call: wholeLine(use.Name, use.Args)}
	if x.current != nil {
		rec.Task, u.TaskID = x.current.ID, x.current.ID
	}
	if x.deps.Plans != nil {
		if why := notConfirmed(x.current, use); why != "" {
			rec.Done.Text, rec.Text = why, why
			return x.tell(ctx, rec, u)
		}
	}
	if err := x.work.over(); err != nil {
		return x.fail(ctx, EndInterrupted, saidBy(err))
	}
	if err := x.before(ctx, u); err != nil {
		return err
	}
	tool := x.box.byName[use.Name]
	args, changed, no, err := x.work.judged(ctx, use, tool)
	if err != nil {
		return err
	}
	if no != "" {
		rec.Done.Text, rec.Text = string(no), refusedBy+human.OneLine(strings.TrimPrefix(string(no), "This call was blocked and did not run."), 300)
		return x.tell(ctx, rec, u)
	}
	use.Args = args
	counted := x.spentNow() // it counts from here on: killed in the middle of it, it may have run
	counted.Steps++
	if err := x.keep(ctx, Record{Kind: UseRecord, Use: &use, Task: rec.Task, Spent: counted}); err != nil {
		return err
	}
	out, err := x.work.perform(ctx, tool, args)
	rec.Outcome = OutcomeDone
	if out.Failed {
		rec.Outcome = OutcomeFailed
	}
	rec.Done.Text, rec.Done.Failed = joined(changed, x.work.data(use.Name, out)), out.Failed
	rec.Text, rec.Spent = human.OneLine(out.Text, 300), x.spentNow()
	u.Call = wholeLine(use.Name, args)
	if told := x.tell(ctx, rec, u); told != nil {
		return told
	}
	return err
}

// refusedBy begins the note of a call that the gatekeeper blocked or an operator denied.
const refusedBy = "refused: "

// notConfirmed says why a call is none of the task that runs; empty where it is.
func notConfirmed(t *human.Task, use ToolUse) string {
	const instead = " It did not run. Propose another plan with it, or do without."
	switch {
	case t == nil:
		return "This call is in no confirmed plan." + instead
	case t.Tool != use.Name:
		return fmt.Sprintf("This call is not in the confirmed plan: task %s is done with %s.", t.ID, cmp.Or(t.Tool, "no tool")) + instead
	case direct(*t) && !sameArgs(t.Args, use.Args):
		return fmt.Sprintf("This call is not in the confirmed plan: task %s was confirmed with just the arguments %s.", t.ID, t.Args) + instead
	}
	return ""
}

// before tells that a call is about to be made, where no update about a task has told it.
func (x *execution) before(ctx context.Context, u Update) error {
	switch {
	case x.current == nil:
		if err := x.to(ctx, Executing, human.Sayf("Working")); err != nil {
			return err
		}
		u.Type, u.Content = TaskInit, human.OneLine(u.Call, 200)
	case direct(*x.current):
		return nil
	default:
		if err := x.to(ctx, Executing, human.Sayf("Working on task %s", x.current.ID)); err != nil {
			return err
		}
		u.Type = StatusUpdate
		u.says(human.Sayf("Calling %s", u.Tool))
	}
	return x.emit(ctx, u)
}

// tell notes what came of a call, and tells it where no update about the task will.
func (x *execution) tell(ctx context.Context, rec Record, u Update) error {
	u.Outcome, u.Content = rec.Outcome, rec.Text
	u.Type = StatusUpdate
	if x.current == nil {
		u.Type = SubTaskResult
	}
	told := x.current != nil && direct(*x.current) && rec.Done.CallID == x.callID() && rec.Outcome == OutcomeDone
	if err := x.keep(ctx, rec); err != nil {
		return err
	}
	if told {
		return nil
	}
	return x.emit(ctx, u)
}

// mayHaveRun takes a call that had begun when the agent was killed.
func (x *execution) mayHaveRun(ctx context.Context) error {
	line := callLine(x.using.Name, x.using.Args)
	why := "The agent was stopped while it called " + line + ". The call may have run, in part or whole, or not at all: look before you do it again."
	rec := Record{Kind: DoneRecord, Done: &CallDone{CallID: x.using.ID, Text: why, Failed: true}, Outcome: OutcomeFailed, Text: "it may have run; the agent was stopped meanwhile"}
	u := Update{Tool: x.using.Name, Call: line}
	if x.current != nil {
		rec.Task, u.TaskID = x.current.ID, x.current.ID
	}
	return x.tell(ctx, rec, u)
}
