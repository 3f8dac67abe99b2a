package kind

import "deskbell/backend/human"

// Feedback is a request for an opinion, with or without options to choose from.
var Feedback = Kind{
	Name:   human.Feedback,
	Doc:    "an opinion",
	Agents: true,
	Fields: []Field{
		{Name: "question", Aliases: []string{"questions", "prompt"}, Type: Text, Doc: "what exactly is asked"},
		{Name: "design", Aliases: []string{"current_design", "proposal", "draft"}, Type: Text, Doc: "what the opinion is about"},
		{Name: "concerns", Aliases: []string{"issues"}, Type: List, Doc: "what to think about"},
		{Name: "options", Aliases: []string{"choices", "alternatives"}, Type: List, Doc: "answers to choose from: texts, or objects with value, label and description"},
	},
	Answer: inWords,
	Check:  says,
}
