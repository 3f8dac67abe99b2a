package kind

import (
	"encoding/json"
	"slices"

	"deskbell/backend/human"
)

// Box is what a command wrote in a box, to be kept or discarded. Its details are a human.BoxResult.
var Box = Kind{
	Name:      human.Box,
	Doc:       "what a command wrote in a box: keep or discard it",
	Program:   true,
	OnTimeout: human.Cancel,
	Fields: []Field{
		{Name: "command", Type: Code, Doc: "what ran"},
		{Name: "folder", Type: Path, Doc: "the folder it ran in"},
		{Name: "project", Type: Path, Doc: "the folder that was copied"},
		{Name: "exit_code", Type: Any, Doc: "its exit code"},
		{Name: "reason", Type: Text, Doc: "why it was ended, where it did not end by itself"},
		{Name: "seconds", Type: Any, Doc: "how long it took"},
		{Name: "output", Type: Code, Doc: "the last lines that it printed"},
		{Name: "output_lines", Type: Any, Doc: "how many lines it printed in all"},
		{Name: "files", Type: Any, Doc: "what it wrote and can be kept"},
		{Name: "more", Type: Any, Doc: "how many more files it wrote, which are discarded"},
		{Name: "lost", Type: List, Doc: "what it wrote and cannot be kept"},
		{Name: "written", Type: Any, Doc: "how many bytes it wrote"},
		{Name: "masked", Type: List, Doc: "files with secrets, which were empty for it"},
		{Name: "limits", Type: Any, Doc: "how much it might take"},
		{Name: "made_with", Type: Text, Doc: "what the box is made of"},
		risk,
	},
	Answer: []string{"decision", "keep", "human_input"},
	Check: func(op human.Operation, a *human.Answer) error {
		switch a.Decision {
		case human.Refused:
			a.Keep = nil
			return nil
		case human.Approved:
		default:
			return human.BadField("decision", "is missing; a box is answered with approve, and the paths to keep, or deny")
		}
		if len(a.Keep) == 0 {
			return human.BadField("keep", "is missing: name the files to keep, or deny to discard all of them")
		}
		files := BoxFiles(op)
		for i, path := range a.Keep {
			if !slices.ContainsFunc(files, func(f human.BoxFile) bool { return f.Path == path }) {
				return human.BadField("keep", "%q is not in details.files", human.OneLine(path, 200))
			}
			if slices.Contains(a.Keep[:i], path) {
				return human.BadField("keep", "%q is there twice", human.OneLine(path, 200))
			}
		}
		return nil
	},
}

// BoxFiles are what of a box's result can be kept.
func BoxFiles(op human.Operation) []human.BoxFile {
	var details struct{ Files []human.BoxFile }
	_ = json.Unmarshal(op.Details, &details) // of what is none, nothing can be kept
	return details.Files
}

// Harmless are the paths of those files that do no more than their text says.
func Harmless(files []human.BoxFile) (paths []string) {
	for _, f := range files {
		if f.Warning == "" {
			paths = append(paths, f.Path)
		}
	}
	return paths
}
