package kind

import (
	"slices"

	"deskbell/backend/human"
)

// Plan is a plan to be confirmed before any of its tasks runs. Its details are a human.PlanQuestion.
var Plan = Kind{
	Name:      human.Plan,
	Doc:       "a plan to confirm before its tasks run",
	OnTimeout: human.Cancel,
	Fields: []Field{
		{Name: "tasks", Type: List, Doc: "the tasks, in order"},
		{Name: "tasks_summary", Type: Any, Doc: "count, risk and usual duration"},
		{Name: "options", Type: Any, Doc: "what may be changed, and the time limit"},
		{Name: "confirmations", Type: Any, Doc: "how many operators have to confirm it"},
		{Name: "operators", Type: List, Doc: "who has to be among them"},
		{Name: "cwd", Type: Path, Doc: "the folder it is for"},
		{Name: "of", Type: Text, Doc: "of one task that is confirmed by itself: its plan"},
		{Name: "replaces", Type: Text, Doc: "the plan it takes the place of"},
		{Name: "why", Type: Text, Doc: "why it was changed"},
		risk,
	},
	Answer: []string{"decision", "plan", "human_input"},
	Check:  planned,
	Events: votes,
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
			return human.BadField("decision", "is missing; a plan is answered with approve or deny, or with changes in Deskbell's window")
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
		return human.BadField("action", "is modify, but there are no changed tasks and no words that say what to change")
	}
	return nil
}

// votes are the events by which an operator's answer to a plan is kept: it ends the plan, or, where several operators
// have to agree, it is one of their votes until enough of them have given the same answer. To cancel, or to say in words
// what to change, one is enough.
func votes(op human.Operation, by human.Actor, a human.Answer) ([]human.Event, error) {
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
