package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"deskbell/backend/human"
)

// takeNotes is the tool by which a model notes what it must not lose of turns that are left out.
const takeNotes = "take_notes"

var takeNotesSpec = ToolSpec{
	Name: takeNotes,
	Description: "Note what you need of the conversation above, which you will not see any more. Give only what your notes so far do not have, each point in a sentence " +
		"that is clear by itself, with exact names, numbers, paths, versions and words.",
	Schema: json.RawMessage(`{"type":"object","properties":{` +
		`"goal":{"type":"string","description":"What is to come of all this, where it has changed."},` +
		`"facts":{"type":"array","items":{"type":"string"},"description":"What was found out, also what did not work."},` +
		`"decisions":{"type":"array","items":{"type":"string"},"description":"What was decided, by whom, and why."},` +
		`"open_questions":{"type":"array","items":{"type":"string"},"description":"What is not known or not done yet."},` +
		`"files":{"type":"array","items":{"type":"string"},"description":"Files that matter: path, and what is in them or was changed."},` +
		`"outdated":{"type":"array","items":{"type":"string"},"description":"The names (F1, D2, Q1, P3) of earlier notes that do not hold any more."}` +
		`},"additionalProperties":false}`),
}

// The bounds of notes.
const (
	mostNotes = 150 // of one sort; the oldest go first
	mostNote  = 500 // characters of one
)

// A Note is what a model noted of turns that were left out. What was noted stays until it is said to be outdated, so that nothing
// fades by being summed up again and again.
type Note struct {
	Goal      string   `json:"goal,omitempty"`
	Facts     []string `json:"facts,omitempty"`
	Decisions []string `json:"decisions,omitempty"`
	Questions []string `json:"open_questions,omitempty"`
	Files     []string `json:"files,omitempty"`
}

// sorts are the lists of a note, with the letter by which their points are named.
func (n *Note) sorts() []struct {
	title, letter string
	list          *[]string
} {
	return []struct {
		title, letter string
		list          *[]string
	}{
		{"What you found out:", "F", &n.Facts}, {"What was decided:", "D", &n.Decisions}, {"What is open:", "Q", &n.Questions}, {"Files:", "P", &n.Files},
	}
}

// with is the note after a model has added to it.
func (n *Note) with(args json.RawMessage) (Note, error) {
	var now Note
	if n != nil {
		now = *n
	}
	return now.and(args)
}

func (n Note) and(args json.RawMessage) (Note, error) {
	var more struct {
		Note
		Outdated []string `json:"outdated"`
	}
	if err := json.Unmarshal(args, &more); err != nil {
		return n, human.Wrap(human.Invalid, err, "these are no notes")
	}
	if goal := strings.TrimSpace(more.Goal); goal != "" {
		n.Goal = human.Shorten(goal, mostNote)
	}
	added := more.sorts()
	for i, sort := range n.sorts() {
		var kept []string
		for k, text := range *sort.list {
			if !slices.Contains(more.Outdated, fmt.Sprint(sort.letter, k+1)) {
				kept = append(kept, text)
			}
		}
		for _, text := range *added[i].list {
			if text = human.Shorten(strings.TrimSpace(text), mostNote); text != "" && !slices.Contains(kept, text) {
				kept = append(kept, text)
			}
		}
		*sort.list = kept[max(0, len(kept)-mostNotes):]
	}
	return n, nil
}

// String is the note as a model reads it, each point with its name.
func (n Note) String() string {
	var b strings.Builder
	if n.Goal != "" {
		fmt.Fprintf(&b, "The goal: %s\n", n.Goal)
	}
	for _, sort := range n.sorts() {
		if len(*sort.list) == 0 {
			continue
		}
		fmt.Fprintln(&b, sort.title)
		for k, text := range *sort.list {
			fmt.Fprintf(&b, "- %s%d: %s\n", sort.letter, k+1, text)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// noted has the model note what it needs of the turns before one, which are to be left out; nil where it does not. The error is ctx's.
func (w *work) noted(ctx context.Context, c *conversation, before int, task string) (*Note, error) {
	ask := func(longest int) (Reply, error) {
		said := transcript(c.turns[min(1, before):before], longest)
		text := fmt.Sprintf("The task: %s\n\n%s\nWhat was said and done, which you will not see any more:\n\n%s\n\nNow call %s.", human.Shorten(task, mostHeard), notesSoFar(c.note), said, takeNotes)
		return w.chat(ctx, Prompt{System: notesSystem, Turns: []Turn{{Role: User, Text: text}}, Tools: []ToolSpec{takeNotesSpec}})
	}
	tell := w.Tell
	w.Tell = nil // no one reads them as words to them
	defer func() { w.Tell = tell }()
	for _, longest := range []int{8_000, 1_500} {
		r, err := ask(longest)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			continue // perhaps it was too long; where nothing helps, the conversation becomes shorter without notes
		}
		for _, use := range r.Calls {
			if note, err := c.note.with(use.Args); use.Name == takeNotes && err == nil {
				return &note, nil
			}
		}
		return nil, nil
	}
	return nil, nil
}

const notesSystem = "You keep the notes of an assistant whose conversation became too long. Note what it needs to continue without having to look again: " +
	"facts with their exact names and values, decisions and their reasons, what is open, which files matter. " + dataRule

func notesSoFar(n *Note) string {
	if n == nil {
		return "There are no notes so far."
	}
	return "Your notes so far, which stay unless you say that they are outdated:\n" + n.String() + "\n"
}

// transcript is what was said and done in turns, as text.
func transcript(turns []Turn, longest int) string {
	var b strings.Builder
	for _, t := range turns {
		if t.Text != "" {
			fmt.Fprintf(&b, "%s: %s\n", t.Role, shortened(t.Text, longest))
		}
		for _, use := range t.Calls {
			fmt.Fprintf(&b, "call %s: %s\n", use.ID, shortened(use.Name+" "+string(use.Args), longest))
		}
		for _, r := range t.Results {
			fmt.Fprintf(&b, "result of %s: %s\n", r.CallID, shortened(r.Text, longest))
		}
	}
	return b.String()
}
