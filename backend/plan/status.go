package plan

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"deskbell/backend/human"
)

// PlansConfirmed says whether plans have to be confirmed, as the settings are now. Its error is always nil.
func (s *Service) PlansConfirmed(context.Context) (bool, error) { return s.d.Options().Confirm, nil }

// StatusOf tells how a plan stands. The error is Internal for an operation that is none.
func StatusOf(op human.Operation) (Status, error) {
	q, err := op.PlanQuestion()
	if err != nil {
		return Status{}, err
	}
	st := Status{
		SessionID: op.SessionID, OperationID: op.ID, Version: op.Version, Status: op.PlanStatus(), CreatedAt: op.CreatedAt,
		ExpiresAt: op.ExpiresAt, Summary: &q.Summary, Run: op.Run, Tasks: []human.Task{}, Needs: q.Confirmations,
		Unread: op.State.Terminal() && op.DeliveredAt == nil,
	}
	if tasks, may := op.Confirmed(); may {
		st.Tasks = tasks
		if a := op.Result.Plan; a.Summary != nil {
			st.Summary = a.Summary
		}
	}
	if op.Run != nil {
		st.Tasks = op.Run.Left()
		st.Summary = summaryOf(op.Run, q)
	}
	st.Question = question(op)
	for _, v := range op.Votes {
		st.Votes = append(st.Votes, VoteView{By: v.By.Name, At: v.At, Action: v.Answer.Plan.Action})
	}
	if r := op.Result; r != nil {
		g := GivenResponse{SessionID: op.SessionID, Message: r.HumanInput, By: r.By.Name, At: r.At, Action: human.CancelPlan}
		if r.Plan != nil {
			g.Action, g.TaskByTask, g.Changes = r.Plan.Action, r.Plan.TaskByTask, r.Plan.Changes
			if g.Action == human.ModifyPlan {
				g.Tasks = r.Plan.Tasks
			}
			if r.Plan.Auto {
				st.Auto = "safe"
			}
		}
		st.Response = &g
	} else if op.Ended != nil && op.Ended.By.Role != human.System {
		st.Response = &GivenResponse{SessionID: op.SessionID, Action: human.CancelPlan, Message: op.Ended.Reason, By: op.Ended.By.Name, At: op.Ended.At}
	}
	st.Message = st.advice()
	return st, nil
}

// summaryOf is what the tasks of a run come to that are not skipped.
func summaryOf(run *human.PlanRun, q human.PlanQuestion) *human.TasksSummary {
	known := q.Summary
	if run.Summary != nil {
		known = *run.Summary
	}
	left := run.Left()
	sum := human.Summarize(slices.DeleteFunc(slices.Clone(known.Tasks), func(t human.TaskSummary) bool {
		return !slices.ContainsFunc(left, func(o human.Task) bool { return o.ID == t.ID })
	}))
	return &sum
}

// question is what an operator asks the agent now; empty for nothing.
func question(op human.Operation) string {
	if op.State != human.WaitingInput || len(op.Messages) == 0 {
		return ""
	}
	return op.Messages[len(op.Messages)-1].Text
}

// advice is what the agent is to do now.
func (st Status) advice() string {
	said := ""
	if st.Response != nil && st.Response.Message != "" {
		said = " They said: " + st.Response.Message
	}
	switch {
	case st.Question != "":
		return "An operator asks you something; answer it with a reply to operation " + string(st.OperationID) + ", then continue to wait."
	case st.Status == human.PlanPending:
		return "No operator has answered yet. Do nothing of the plan; ask again how it stands."
	case st.Status == human.PlanTimeout:
		return "No operator answered in time, so the plan is canceled. Do nothing of it."
	case st.Status == human.PlanCancelled:
		return "The plan is canceled. Do nothing of it." + said
	case st.Auto == "safe":
		return "Confirmed by itself, because every task is safe. Begin its tasks in order."
	case len(st.Tasks) == 0:
		return "Nothing of the plan may run. Hand in a new plan, changed as was asked." + said
	case st.Response != nil && st.Response.TaskByTask:
		return "Confirmed, task by task: say that you begin a task, and wait for the answer, before you do it." + said
	case st.Status == human.PlanModified:
		return "The plan was changed. Only what is in tasks may run, in that order." + said
	}
	return "Confirmed. Begin its tasks in order." + said
}

// standing tells how a task stands in its plan's run.
func standing(op human.Operation, id, why, message string) Standing {
	st := Standing{OperationID: op.ID, Run: op.Run, Why: why, Message: message}
	if t, ok := op.Run.Task(id); ok {
		st.Task = &t.Task
	}
	if text := orderText(op.Run, id, why); text != "" {
		st.Message += " They said: " + text
	}
	return st
}

// orderText is what was said with the newest order that is why a task does not begin; empty where nothing was.
func orderText(run *human.PlanRun, id, why string) string {
	kind := map[string]human.OrderKind{"paused": human.Pause, "stopped": human.Stop, "refused": human.Stop, "skipped": human.Skip, "changed": human.Change}[why]
	for _, o := range slices.Backward(run.Orders) {
		if o.Kind == kind && (kind != human.Skip || o.Task == id) {
			return o.Text
		}
	}
	return ""
}

// digest names a task by its exact words.
func digest(t human.Task) string {
	data, _ := json.Marshal(t) // texts, and JSON that was checked
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}
