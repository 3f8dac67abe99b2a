package human

import (
	"encoding/json"
	"time"
)

// WorkVerdict is how a person judges the work they did, or the change they reviewed, in one word.
type WorkVerdict string

// The verdicts. Work by hand ends with one of the first three, a review with one of the others.
const (
	WorkDone       WorkVerdict = "done"
	WorkPartly     WorkVerdict = "partly"
	WorkCouldNot   WorkVerdict = "could_not"
	ReviewApprove  WorkVerdict = "approve"
	RequestChanges WorkVerdict = "request_changes"
	ReviewComment  WorkVerdict = "comment"
)

// WorkAnswer is what an answer of work by hand, or of a review, has besides its words (H8). Each kind says which of it.
type WorkAnswer struct {
	Verdict  WorkVerdict     `json:"verdict,omitempty" enum:"done,partly,could_not,approve,request_changes,comment" doc:"How the work ended, or what a review came to."`
	Steps    []StepResult    `json:"steps,omitempty" doc:"Of work on the desktop: what came of each step of details.action_sequence that something was noted for, in their order."`
	Comments []CodeComment   `json:"comments,omitempty" doc:"Of a review: what was said about lines of the change."`
	Focus    []FocusResult   `json:"focus,omitempty" doc:"Of a review: what was found of each area of details.focus_areas."`
	Response json.RawMessage `json:"response,omitempty" doc:"The values of details.response_schema: a JSON object that is valid by it."`
}

// A StepResult is what came of one step of a checklist.
type StepResult struct {
	Step        int        `json:"step" doc:"Its number in details.action_sequence, from 1."`
	Verdict     string     `json:"verdict,omitempty" enum:"done,skipped,failed"`
	Note        string     `json:"note,omitempty"`
	At          *time.Time `json:"at,omitempty" doc:"When it was marked."`
	Attachments []string   `json:"attachments,omitempty" doc:"Ids of attached files."`
}

// A CodeComment is about lines of a reviewed change.
type CodeComment struct {
	File       string  `json:"file" doc:"As the change names it; of a renamed file its new name."`
	Line       int     `json:"line" minimum:"1" doc:"The line, from 1, in the text of side; of a range its first."`
	EndLine    int     `json:"end_line,omitempty" doc:"The last line of a range."`
	Side       string  `json:"side" enum:"old,new" doc:"Which text line counts in: before the change, or after it."`
	Text       string  `json:"text"`
	Severity   string  `json:"severity,omitempty" enum:"blocker,major,minor,nit,question,praise"`
	Suggestion *string `json:"suggestion,omitempty" doc:"What replaces these lines, exactly; \"\" removes them."`
}

// A FocusResult is what a reviewer found of one thing they were asked to look at.
type FocusResult struct {
	Area    string `json:"area" doc:"As details.focus_areas has it."`
	Verdict string `json:"verdict" enum:"good,unsure,problem"`
	Note    string `json:"note,omitempty"`
}

// Parts are the names of the parts that are in it, in order.
func (a WorkAnswer) Parts() (names []string) {
	for _, part := range []struct {
		name string
		in   bool
	}{{"verdict", a.Verdict != ""}, {"steps", len(a.Steps) > 0}, {"comments", len(a.Comments) > 0}, {"focus", len(a.Focus) > 0}, {"response", len(a.Response) > 0}} {
		if part.in {
			names = append(names, part.name)
		}
	}
	return names
}

// Size is how many bytes of text are in it.
func (a WorkAnswer) Size() (n int) {
	n = len(a.Verdict) + len(a.Response)
	for _, s := range a.Steps {
		n += len(s.Verdict) + len(s.Note)
		for _, id := range s.Attachments {
			n += len(id)
		}
	}
	for _, c := range a.Comments {
		n += len(c.File) + len(c.Text)
		if c.Suggestion != nil {
			n += len(*c.Suggestion)
		}
	}
	for _, f := range a.Focus {
		n += len(f.Area) + len(f.Note)
	}
	return n
}

// A CodeChange is a change that was read from a repository.
type CodeChange struct {
	Folder string `json:"folder" doc:"The root of its working tree."`
	Base   string `json:"base,omitempty" doc:"The commit before the change; absent where there is none yet."`
	Head   string `json:"head,omitempty" doc:"The commit after it; absent where that is the working tree, or what is staged."`
	Diff   string `json:"diff" doc:"A unified diff, as git writes it, with full ids of files."`
}
