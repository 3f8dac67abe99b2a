package kind

import "deskbell/backend/human"

// Approve is a yes or no before the agent acts. The answer is bound to details.action, exactly, so that field alone
// has no aliases.
var Approve = Kind{
	Name:   human.Approve,
	Doc:    "a yes or no before you act",
	Agents: true,
	Fields: []Field{
		{Name: "action", Type: Code, Doc: "the exact command or change; the answer is bound to these bytes"},
		{Name: "impact", Aliases: []string{"impact_assessment", "consequences"}, Type: Any, Doc: "what it changes, and for whom"},
		risk,
		{Name: "risk", Aliases: []string{"risks"}, Type: Text, Doc: "what could go wrong"},
		{Name: "rollback_plan", Aliases: []string{"rollback", "how_to_undo"}, Type: Any, Doc: "how to undo it"},
		{Name: "arguments", Type: Any, Doc: "where action names a call: its arguments, an object; the human may edit them, and the result then has edited: run exactly those"},
		{Name: "fixed", Type: List, Doc: "names of arguments that must stay as they are"},
		responseSchema,
	},
	Answer: append([]string{"decision", "args"}, inWords...),
	// Whoever approves something dangerous decides before the answer, not after it. What was edited may be more dangerous than what was sent.
	Undo: func(op human.Operation, a human.Answer) bool {
		return op.Risk.Level() <= human.LowRisk.Level() && a.Args == nil && op.ApprovalsNeeded < 2
	},
	Check: func(op human.Operation, a *human.Answer) error {
		if a.Decision == "" {
			return human.BadField("decision", "is missing; an approval is answered with approve or deny")
		}
		if a.Decision == human.Refused {
			a.Args = nil // nothing runs
			return nil
		}
		full, err := op.Edited(a.Args)
		a.Args = full
		return err
	},
}
