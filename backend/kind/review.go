package kind

import "deskbell/backend/human"

// Review is code to be read before the agent continues.
var Review = Kind{
	Name:   human.Review,
	Doc:    "a review of code",
	Agents: true,
	Fields: []Field{
		{Name: "file_path", Aliases: []string{"file", "path", "filename"}, Type: Path, Doc: "the file, if it is one"},
		{Name: "diff", Aliases: []string{"patch"}, Type: Code, Doc: "the change, as a unified diff"},
		{Name: "files", Aliases: []string{"changed_files", "changes"}, Type: Any, Doc: "several files: objects with path and diff, or paths"},
		{Name: "code_snippet", Aliases: []string{"snippet", "code"}, Type: Code, Doc: "the code, if there is no diff"},
		{Name: "focus_areas", Aliases: []string{"focus", "questions", "checklist"}, Type: List, Doc: "what to look at, as a checklist"},
		{Name: "tests_passed", Aliases: []string{"tests"}, Type: Any, Doc: "whether the tests pass"},
		risk,
		responseSchema,
	},
	Answer: inWords,
	Check:  says,
}
