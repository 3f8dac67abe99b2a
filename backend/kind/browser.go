package kind

import "deskbell/backend/human"

// Browser is work on web pages, with fields to fill from what is seen there.
var Browser = Kind{
	Name:   human.Browser,
	Doc:    "work on web pages",
	Agents: true,
	Fields: []Field{
		{Name: "url", Aliases: []string{"start_url", "link", "address"}, Type: Path, Doc: "the page to start at, http or https"},
		{Name: "required_action", Aliases: []string{"action", "task", "what_to_do", "instructions"}, Type: Text, Doc: "what to do there"},
		browserSteps,
		{Name: "data_to_extract", Aliases: []string{"extract", "fields", "data", "fields_to_extract"}, Type: Any, Doc: "the fields to fill: a list of names, or an object from name to a hint"},
		{Name: "requires_human", Aliases: besides("requires_human", whyHuman), Type: Text, Doc: "why a human is needed"},
		{Name: "expected_outcome", Aliases: []string{"expected_result"}, Type: Text, Doc: "how to see that it worked"},
		risk,
		responseSchema,
	},
	Answer: append([]string{"verdict", "steps"}, ofWork...),
	Undo:   always,
	Check:  worked(browserSteps),
}

var browserSteps = Field{Name: "action_sequence", Aliases: []string{"steps", "actions", "checklist"}, Type: List, Doc: "the steps, as a checklist"}
