package kind

import (
	"encoding/json"
	"slices"
	"strings"

	"deskbell/backend/human"
)

// Bash is a command or other work in a terminal that the agent cannot do itself.
var Bash = Kind{
	Name:   human.Bash,
	Doc:    "a command the human runs",
	Agents: true,
	Fields: []Field{
		{Name: "required_action", Aliases: []string{"action", "task", "what_to_do", "instructions"}, Type: Text, Doc: "what to do"},
		{Name: "command", Aliases: []string{"commands", "cmd", "script"}, Type: Code, All: true, Doc: "the exact command or commands"},
		{Name: "why_agent_cant", Aliases: besides("why_agent_cant", whyHuman), Type: Text, Doc: "why you cannot do it yourself"},
		{Name: "target", Aliases: []string{"target_db", "target_host", "host", "server", "machine", "database"}, Type: Path, All: true, Doc: "the machine, database or service"},
		{Name: "folder", Aliases: []string{"cwd", "working_directory", "directory"}, Type: Path, Doc: "the folder to run it in"},
		{Name: "expected_outcome", Aliases: []string{"expected_result", "expected_output"}, Type: Text, Doc: "how to see that it worked"},
		risk,
		responseSchema,
	},
	Answer: append([]string{"verdict"}, ofWork...),
	Undo:   always,
	Check:  worked(Field{}),
}

// Limits of what is suggested.
const (
	maxCommands = 50
	maxCommand  = 16 << 10 // bytes
)

// Commands are those that an operation asks to be run, exactly as sent: a text is one, a list has one each.
func Commands(op human.Operation) []string {
	raw := Value(op, "command")
	var all []string
	var one string
	if json.Unmarshal(raw, &one) == nil {
		all = []string{one}
	} else if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	all = slices.DeleteFunc(all, func(s string) bool { return strings.TrimSpace(s) == "" || len(s) > maxCommand })
	return all[:min(len(all), maxCommands)]
}
