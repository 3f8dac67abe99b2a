package kind

import (
	"encoding/json"

	"deskbell/backend/human"
)

// Permission is a question of the gatekeeper about a call of an agent's tool. Its details are a human.Question.
var Permission = Kind{
	Name:      human.Permission,
	Doc:       "the gatekeeper's question about a tool call",
	OnTimeout: human.Cancel,
	Fields: []Field{
		{Name: "tool", Type: Text, Doc: "the tool"},
		{Name: "args", Type: Any, Doc: "the call's arguments"},
		{Name: "cwd", Type: Path, Doc: "the folder it runs in"},
		{Name: "verdict", Type: Any, Doc: "what the gatekeeper found, and why it asks"},
		{Name: "project", Type: Any, Doc: "what is known of the folder's repository"},
		{Name: "check", Type: Any, Doc: "what is asked to show that it was read"},
		{Name: "task", Type: Text, Doc: "what the agent is doing"},
		{Name: "about", Type: Text, Doc: "what the tool says of itself"},
		{Name: "schema", Type: Any, Doc: "the tool's schema"},
		{Name: "annotations", Type: Any, Doc: "the hints the tool's server gives"},
		{Name: "client", Type: Text, Doc: "the program that called"},
		{Name: "root", Type: Path, Doc: "the project's folder"},
		{Name: "home", Type: Path, Doc: "the user's folder"},
		{Name: "session_id", Type: Text, Doc: "the agent's session"},
		{Name: "call_id", Type: Text, Doc: "the call, as its agent names it"},
		{Name: "files", Type: Any, Doc: "the files that the verdict rests on"},
		{Name: "asker", Type: Any, Doc: "the process of the agent's client"},
		{Name: "changed", Type: Any, Doc: "why it is asked again"},
		risk,
	},
	Answer: []string{"decision", "choice", "args", "backup", "human_input"},
	// A plain yes is not enough where something has to be typed, or shown to have been read; the gatekeeper, which sees to
	// that, names the choice.
	Check: func(op human.Operation, a *human.Answer) error {
		if a.Decision == "" {
			return human.BadField("decision", "is missing; a permission is answered with approve or deny")
		}
		if a.Decision != human.Approved || a.Choice != "" {
			return nil
		}
		var question human.Question
		if err := json.Unmarshal(op.Details, &question); err != nil {
			return human.Wrap(human.Internal, err, "the question of operation %s cannot be read, so it cannot be allowed", op.ID)
		}
		if question.Verdict.Form == human.Enter || question.Check != nil {
			return human.Errorf(human.Conflict, "operation %s needs more than a yes; answer it in Deskbell's window or console", op.ID)
		}
		return nil
	},
}
