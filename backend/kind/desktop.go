package kind

import "deskbell/backend/human"

// Desktop is work in the programs of the operator's desktop.
var Desktop = Kind{
	Name:   human.Desktop,
	Doc:    "work in a program on their desktop",
	Agents: true,
	Fields: []Field{
		{Name: "app", Aliases: []string{"application", "program"}, Type: Path, Doc: "the program to use"},
		{Name: "path", Aliases: []string{"project_path", "file_path", "file", "folder"}, Type: Path, All: true, Doc: "the file or folder it is about"},
		{Name: "required_action", Aliases: []string{"action", "task", "what_to_do"}, Type: Text, Doc: "what to do, in short"},
		desktopSteps,
		{Name: "expected_outcome", Aliases: []string{"expected_result"}, Type: Text, Doc: "how to see that it worked"},
		{Name: "requires_human", Aliases: besides("requires_human", whyHuman), Type: Text, Doc: "why a human is needed"},
		risk,
		responseSchema,
	},
	Answer: append([]string{"verdict", "steps"}, ofWork...),
	Undo:   always,
	Check:  worked(desktopSteps),
}

var desktopSteps = Field{Name: "action_sequence", Aliases: []string{"steps", "actions", "checklist", "instructions"}, Type: List, Doc: "the steps, as a checklist"}
