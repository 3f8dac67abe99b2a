package kind

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"deskbell/backend/human"
)

// Review is code to be read before the agent continues.
var Review = Kind{
	Name:   human.Review,
	Doc:    "a review of code",
	Agents: true,
	Fields: []Field{
		{Name: "file_path", Aliases: []string{"file", "path", "filename"}, Type: Path, Doc: "the file, if it is one"},
		{Name: "diff", Aliases: []string{"patch"}, Type: Code, Doc: "the change, as a unified diff"},
		{Name: "git", Type: Any, Doc: "a change that Deskbell reads from a repository on the operator's computer: {folder} with range, or base and head, or staged: true, or worktree: true"},
		{Name: "files", Aliases: []string{"changed_files", "changes"}, Type: Any, Doc: "several files: objects with path and diff, or with path, before and after, or paths"},
		{Name: "before", Aliases: []string{"old", "original", "old_text"}, Type: Code, Doc: "the whole file before the change, with after"},
		{Name: "after", Aliases: []string{"new", "modified", "new_text"}, Type: Code, Doc: "the whole file after it"},
		{Name: "code_snippet", Aliases: []string{"snippet", "code"}, Type: Code, Doc: "the code, if there is no diff"},
		focusAreas,
		{Name: "tests_passed", Aliases: []string{"tests"}, Type: Any, Doc: "whether the tests pass"},
		risk,
		responseSchema,
	},
	Answer: append([]string{"verdict", "comments", "focus"}, inWords...),
	Undo:   always,
	Check:  reviewed,
}

// focusAreas stands alone, since the check of an answer reads it.
var focusAreas = Field{Name: "focus_areas", Aliases: []string{"focus", "questions", "checklist"}, Type: List, Doc: "what to look at, as a checklist"}

// How much of a review is taken, in bytes where it is text.
const (
	maxComments   = 500
	maxPath       = 4 << 10
	maxComment    = 20 << 10
	maxSuggestion = 64 << 10
)

var (
	reviewVerdicts = []human.WorkVerdict{human.ReviewApprove, human.RequestChanges, human.ReviewComment}
	severities     = []string{"", "blocker", "major", "minor", "nit", "question", "praise"}
	focusVerdicts  = []string{"good", "unsure", "problem"}
)

func reviewed(op human.Operation, a *human.Answer) error {
	if a.Verdict != "" && !slices.Contains(reviewVerdicts, a.Verdict) {
		return human.BadField("verdict", "%q is not one of approve, request_changes, comment", a.Verdict)
	}
	if len(a.Comments) > maxComments {
		return human.BadField("comments", "there are %d; the limit is %d", len(a.Comments), maxComments)
	}
	for _, c := range a.Comments {
		if err := checkComment(c); err != nil {
			return err
		}
	}
	asked, seen := lines(focusAreas.in(op.Details)), map[string]bool{}
	for _, f := range a.Focus {
		switch {
		case !slices.Contains(asked, f.Area):
			return human.BadField("focus.area", "%q is not in details.focus_areas", human.OneLine(f.Area, 200))
		case seen[f.Area]:
			return human.BadField("focus.area", "%q is there twice", human.OneLine(f.Area, 200))
		case !slices.Contains(focusVerdicts, f.Verdict):
			return human.BadField("focus.verdict", "%q is not one of good, unsure, problem", f.Verdict)
		case len(f.Note) > maxComment:
			return human.BadField("focus.note", "is longer than %d bytes", maxComment)
		case !utf8.ValidString(f.Note):
			return human.BadField("focus.note", "is not valid UTF-8")
		}
		seen[f.Area] = true
	}
	return says(op, a)
}

func checkComment(c human.CodeComment) error {
	switch {
	case c.File == "" || len(c.File) > maxPath || !utf8.ValidString(c.File):
		return human.BadField("comments.file", "is missing, too long or not valid UTF-8")
	case c.Line < 1:
		return human.BadField("comments.line", "is %d; lines count from 1", c.Line)
	case c.EndLine != 0 && c.EndLine < c.Line:
		return human.BadField("comments.end_line", "is %d, before line %d", c.EndLine, c.Line)
	case c.Side != "old" && c.Side != "new":
		return human.BadField("comments.side", "%q is not one of old, new", c.Side)
	case !slices.Contains(severities, c.Severity):
		return human.BadField("comments.severity", "%q is not one of blocker, major, minor, nit, question, praise", c.Severity)
	case strings.TrimSpace(c.Text) == "" && c.Suggestion == nil:
		return human.BadField("comments.text", "is empty, and there is no suggestion")
	case len(c.Text) > maxComment || !utf8.ValidString(c.Text):
		return human.BadField("comments.text", "is longer than %d bytes, or not valid UTF-8", maxComment)
	case c.Suggestion == nil:
		return nil
	case c.Side == "old":
		return human.BadField("comments.suggestion", "replaces lines of the new text; side is old")
	case len(*c.Suggestion) > maxSuggestion || !utf8.ValidString(*c.Suggestion):
		return human.BadField("comments.suggestion", "is longer than %d bytes, or not valid UTF-8", maxSuggestion)
	}
	return nil
}

// GitChange says which change of a repository is to be reviewed: of Range alone, or Base alone, up to the working tree.
type GitChange struct {
	Folder   string `json:"folder"`
	Range    string `json:"range"` // base..head, or base...head for what head has since it left base
	Base     string `json:"base"`
	Head     string `json:"head"`
	Staged   bool   `json:"staged"`
	Worktree bool   `json:"worktree"` // all that is not in the commit that is checked out, new files too
}

// GitChangeOf is the change that a review names in details.git. NotFound where it names none; Invalid where it does not say which.
func GitChangeOf(op human.Operation) (g GitChange, err error) {
	raw := Value(op, "git")
	if op.Kind != human.Review || raw == nil {
		return g, human.Errorf(human.NotFound, "the request names no change in a repository")
	}
	if json.Unmarshal(raw, &g) != nil {
		return g, human.BadField("details.git", "is no object of folder with range, base and head, staged or worktree")
	}
	if !filepath.IsAbs(g.Folder) || strings.HasPrefix(filepath.ToSlash(g.Folder), "//") {
		return g, human.BadField("details.git.folder", "%q is no absolute path of a folder on this computer", human.OneLine(g.Folder, 200))
	}
	ways := 0
	for _, way := range []bool{g.Range != "", g.Base != "" || g.Head != "", g.Staged, g.Worktree} {
		if way {
			ways++
		}
	}
	switch {
	case ways > 1:
		return g, human.BadField("details.git", "says more than one of range, base and head, staged, worktree")
	case ways == 0:
		g.Worktree = true
	case g.Base == "" && g.Head != "":
		return g, human.BadField("details.git.base", "is missing: head is compared with it")
	case g.Range != "":
		from, to, two := strings.Cut(g.Range, "..")
		g.Base, g.Head = from, to
		if two && strings.TrimPrefix(to, ".") == "" {
			g.Head += "HEAD"
		}
		if two && from == "" {
			g.Base = "HEAD"
		}
	}
	return g, nil
}
