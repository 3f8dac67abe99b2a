// Package facts reads recordings and answers: which pages were visited and which forms sent, which windows came up, what
// became of files, what was asked for and answered, and what texts speak of, in English and Chinese alike. It judges
// nothing and writes nothing: what is worth telling is found by package find.
package facts

import (
	"context"
	"slices"
	"time"

	"deskbell/backend/human"
	"deskbell/summarizers"
)

// Facts are what is known of one input. They are for one report and one goroutine; what is costly to know is made when it
// is first asked for.
type Facts struct {
	In      summarizers.Input
	Actions []Action // of all recordings, in the order of time

	at      map[actionKey]int // where actions are in Actions
	web     *Web
	touched []*File
	shown   *Screen
}

// Read returns the facts of an input, or ctx's error where it ends before.
func Read(ctx context.Context, in summarizers.Input) (*Facts, error) {
	n := 0
	for i := range in.Recordings {
		n += len(in.Recordings[i].Actions)
	}
	fs := &Facts{In: in, Actions: make([]Action, 0, n)}
	for i := range in.Recordings {
		rec := &in.Recordings[i]
		for j := range rec.Actions {
			if !rec.Actions[j].Cut { // what was removed is not there; an input made by hand may have it
				fs.Actions = append(fs.Actions, Action{Action: &rec.Actions[j], Rec: rec})
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	// Recordings follow each other, and actions are in order, so that there is mostly nothing to sort.
	earlier := func(a, b Action) int { return a.Began().Compare(b.Began()) }
	if !slices.IsSortedFunc(fs.Actions, earlier) {
		slices.SortStableFunc(fs.Actions, earlier)
	}
	fs.chooses()
	return fs, ctx.Err()
}

// OnDesktop says whether an action is one of the desktop, and not of a page.
func OnDesktop(a Action) bool {
	return a.Page == nil && a.Type != human.Note && a.Type != human.Missing
}

// Sees says whether the recording of an action has all that a source could deliver: only then it can be said that
// something was not done.
func (a Action) Sees(source human.SourceName) bool {
	for _, s := range a.Rec.Sources {
		if s.Source == source && s.Status != "complete" {
			return false
		}
	}
	return true
}

// Complete says whether a source delivered all of a recording.
func Complete(rec *summarizers.Recorded, source human.SourceName) bool {
	for _, s := range rec.Sources {
		if s.Source == source {
			return s.Status == "complete" && s.Lost == 0
		}
	}
	return len(rec.Sources) == 0 && rec.Complete
}

// Ended says whether a recording is known to its end.
func Ended(rec *summarizers.Recorded) bool {
	switch rec.Reason {
	case "", "operator", "operation_ended":
		return rec.More == 0 && rec.State == human.RecordingStopped
	}
	return false
}

// Moves says whether a key only moves the page, or from field to field.
func Moves(a Action) bool {
	return len(a.Modifiers) == 0 && (a.Key == "PageUp" || a.Key == "PageDown" || a.Key == "Tab")
}

// ByHand says whether a person did it: a window that opens and a file that changes follow from something else.
func ByHand(a Action) bool {
	switch a.Type {
	case human.Click, human.DoubleClick, human.TripleClick, human.Drag, human.Typing, human.Shortcut, human.Paste:
		return true
	}
	return false
}

// Sides says whether something was done in pages, and in programs.
func (fs *Facts) Sides() (pages, programs bool) {
	for _, a := range fs.Actions {
		switch {
		case a.Page != nil:
			pages = true
		case OnDesktop(a):
			programs = true
		}
	}
	return pages, programs || len(fs.Commands()) > 0
}

// An Action is an action with the recording it is in. It points into the input: no one changes it.
type Action struct {
	*human.Action
	Rec    *summarizers.Recorded
	opened *human.Action // that opened the list from which it is a choice; nil for any other
}

type actionKey struct {
	rec human.RecordingID
	id  string
}

// Began is when an action began, by the wall clock.
func (a Action) Began() time.Time { return a.Rec.StartedAt.Add(time.Duration(a.At)) }

// Ended is when an action ended.
func (a Action) Ended() time.Time { return a.Rec.StartedAt.Add(time.Duration(max(a.At, a.End))) }

// Ref points at the action.
func (a Action) Ref() human.Ref {
	return human.Ref{Kind: human.RefAction, Recording: a.Rec.ID, ID: a.ID}
}

// Refs point at the action, and at the one that opened the list from which it is a choice.
func (a Action) Refs() []human.Ref {
	refs := []human.Ref{a.Ref()}
	if a.opened != nil {
		refs = append(refs, human.Ref{Kind: human.RefAction, Recording: a.Rec.ID, ID: a.opened.ID})
	}
	return refs
}

// Refs point at actions.
func Refs(acts ...Action) []human.Ref {
	out := make([]human.Ref, 0, len(acts))
	for _, a := range acts {
		out = append(out, a.Refs()...)
	}
	return out
}

// Index is where in r.acts an action of a recording is; -1 for one that is not there.
func (fs *Facts) Index(rec human.RecordingID, id string) int {
	if fs.at == nil {
		fs.at = make(map[actionKey]int, len(fs.Actions))
		for i, a := range fs.Actions {
			fs.at[actionKey{a.Rec.ID, a.ID}] = i
		}
	}
	if i, ok := fs.at[actionKey{rec, id}]; ok {
		return i
	}
	return -1
}

// Cause is the action that led to a, where that is known.
func (fs *Facts) Cause(a Action) (Action, bool) {
	if a.CausedBy == "" {
		return Action{}, false
	}
	i := fs.Index(a.Rec.ID, a.CausedBy)
	if i < 0 {
		return Action{}, false
	}
	return fs.Actions[i], true
}

// Watched says whether what a person does was recorded where an action was done: in pages, or on the desktop.
func (a Action) Watched() bool {
	if a.Page != nil {
		return a.Sees(human.BrowserSource)
	}
	return a.Sees(human.InputSource)
}

// RefsAt are what a finding about the actions of these indexes points at.
func (fs *Facts) RefsAt(at ...int) []human.Ref {
	out := make([]human.Ref, 0, len(at))
	for _, i := range at {
		out = append(out, fs.Actions[i].Ref())
	}
	return out
}

// First is the first action of a recording, or nil.
func (fs *Facts) First(rec human.RecordingID) *Action {
	for i := range fs.Actions {
		if fs.Actions[i].Rec.ID == rec {
			return &fs.Actions[i]
		}
	}
	return nil
}
