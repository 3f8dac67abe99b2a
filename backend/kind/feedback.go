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
		{Name: "choose", Type: Text, Doc: "how to choose from options: one, several, or rank (all of them, the best first); the result then has response.choice"},
		{Name: "rating", Type: Any, Doc: "ask for a number on a scale: an object with its ends, min and max; the result then has response.rating"},
		responseSchema,
	},
	Answer: inWords,
	Undo:   always,
	Check:  says,
}
