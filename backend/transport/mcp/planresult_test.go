package mcp

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"deskbell/backend/human"
	"deskbell/backend/plan"
)

// Whatever a plan is, its result fits into what it may have, says what to do, and names what is not in it.
func TestAPlansResultFits(t *testing.T) {
	text := rapid.OneOf(rapid.StringN(0, 60, 200), rapid.Map(rapid.IntRange(0, 3000), func(n int) string { return strings.Repeat("长 <\"x\">\n", n) }))
	task := rapid.Custom(func(t *rapid.T) planTask {
		args, err := json.Marshal(map[string]string{"a": text.Draw(t, "args")})
		if err != nil {
			t.Fatal(err)
		}
		return planTask{Task: human.Task{ID: rapid.StringMatching(`t[0-9]{1,3}`).Draw(t, "id"), Description: text.Draw(t, "description"), Tool: text.Draw(t, "tool"), ExpectedOutcome: text.Draw(t, "outcome"), Args: args}, Note: text.Draw(t, "note")}
	})
	order := rapid.Custom(func(t *rapid.T) planOrder {
		return planOrder{Kind: human.Pause, Text: text.Draw(t, "order"), By: "Mei", At: time.Unix(0, 0), Changes: rapid.SliceOfN(text, 0, 3).Draw(t, "changed")}
	})
	rapid.Check(t, func(t *rapid.T) {
		yes := true
		r := planReading{
			Status: "confirmed", SessionID: "a-session-of-some-length", ID: "op_01m7zpthhqdct9vfv2kqj3dbnk", Go: &yes, Next: strings.Repeat("do it ", 20),
			Question: text.Draw(t, "question"), UserMessage: text.Draw(t, "message"), RunState: "running",
			Tasks: rapid.SliceOfN(task, 0, 12).Draw(t, "tasks"), Orders: rapid.SliceOfN(order, 0, 4).Draw(t, "orders"),
			Changes: rapid.SliceOfN(text, 0, 4).Draw(t, "changes"), Votes: rapid.SliceOfN(text, 0, 2).Draw(t, "votes"),
		}
		if rapid.Bool().Draw(t, "begin") {
			one := task.Draw(t, "task")
			r.Task = &one
		}
		budget := rapid.IntRange(500, maxBudget).Draw(t, "budget")
		got := r.fit(budget)
		if got.cost() > budget {
			t.Fatalf("%d tokens of %d", got.cost(), budget)
		}
		if got.Status != r.Status || got.Next != r.Next || got.RunState != r.RunState || got.SessionID != r.SessionID {
			t.Fatalf("it lacks what to do: %+v", got)
		}
		if r.Task != nil && (got.Task == nil || got.Task.ID != r.Task.ID) {
			t.Fatalf("it lacks the task: %+v", got)
		}
		whole := r.cost() <= budget
		if whole != (len(got.Cut) == 0) {
			t.Fatalf("whole: %t, cut: %q", whole, got.Cut)
		}
		if len(got.Tasks) < len(r.Tasks) && !strings.Contains(strings.Join(got.Cut, "\n"), "tasks:") {
			t.Fatalf("%d of %d tasks, cut: %q", len(got.Tasks), len(r.Tasks), got.Cut)
		}
	})
}

// Words about one task end the plan as it was, and ask for another: the agent is not told to give up.
func TestWordsAboutATaskAskForANewPlan(t *testing.T) {
	for why, want := range map[string]string{"refused": "submit a new plan", "stopped": "do no more of it"} {
		var r planReading
		r.adviseTask(plan.Standing{Why: why, Run: &human.PlanRun{State: human.RunStopped}}, planArguments{Action: doBegin, TaskID: "a"})
		if !strings.Contains(r.Next, want) {
			t.Errorf("%s: %q does not say %q", why, r.Next, want)
		}
	}
}
