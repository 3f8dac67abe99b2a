package library

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/kind"
	"deskbell/backend/record/actions"
)

// An Evidence is one piece of what the findings of an answer rest on, as the one who asked may read it.
type Evidence struct {
	Label     string            `json:"label" doc:"e1, e2, ... as in the findings."`
	Kind      human.RefKind     `json:"kind" enum:"action,picture,command,field,step,message,answer,request"`
	Recording human.RecordingID `json:"recording_id,omitempty" doc:"Of an action, picture or command."`
	ID        string            `json:"id" doc:"What it is called there (see Ref)."`
	Text      string            `json:"text,omitempty" doc:"What was done, in words; the value of a field; the message, the step, the part of the answer or request. None of a picture."`
	Picked    string            `json:"picked,omitempty" doc:"What was picked from a page: by an action, or for a field that was then corrected by hand."`
	Where     string            `json:"where,omitempty" doc:"The page or window it was in, or that a field was picked from."`
	At        *time.Time        `json:"at,omitempty" doc:"When it was, where that is known."`
	Elapsed   *int64            `json:"at_ns,omitempty" doc:"Nanoseconds from the start of the recording."`
	Action    *human.Action     `json:"action,omitempty" doc:"As whoever asks may read it. Not in lists."`
	Pictures  []EvidencePicture `json:"pictures" doc:"That may be read. An agent gets those its operator shares."`
	Missing   string            `json:"missing,omitempty" doc:"What of it cannot be read, and why."`
}

// An EvidencePicture is a picture of a piece of evidence.
type EvidencePicture struct {
	Which string `json:"which" enum:"before,after,picture" doc:"Before or after an action; or the evidence itself."`
	ID    string `json:"picture_id"`
}

// Evidence returns a piece of evidence of a completed operation's answer by its label, in words of a language (en,
// also "", or zh-CN). An agent reads that of its own operations, also of a recording that it was not given:
// who releases a finding releases what it rests on, and no more. It is NotFound where it is not there, where the
// operator cut it out of the recording, and to other agents.
func (l *Library) Evidence(ctx context.Context, by human.Actor, op human.OperationID, label, language string) (Evidence, error) {
	f, err := l.finder(ctx, by, op, language)
	if err != nil {
		return Evidence{}, err
	}
	return f.find(ctx, label)
}

// AllEvidence returns all evidence of a completed operation's answer, in the order of its labels, without the
// actions. Missing says why one cannot be read. It is empty before the answer.
func (l *Library) AllEvidence(ctx context.Context, by human.Actor, op human.OperationID, language string) ([]Evidence, error) {
	f, err := l.finder(ctx, by, op, language)
	if err != nil {
		return nil, err
	}
	all := make([]Evidence, 0, len(f.refs))
	for i, r := range f.refs {
		e, err := f.findOrMiss(ctx, "e"+strconv.Itoa(i+1), r)
		if err != nil {
			return nil, err
		}
		e.Action = nil
		all = append(all, e)
	}
	return all, nil
}

// EvidencePicture returns a picture of a piece of evidence: before, after or picture; "" is after, where there is
// one. It has the masks of the recording's edits, whoever asks. An agent gets it where the operator shares
// pictures; without one it is NotFound.
func (l *Library) EvidencePicture(ctx context.Context, by human.Actor, op human.OperationID, label, which string, look Look) (Picture, error) {
	look, err := look.checked()
	if err != nil {
		return Picture{}, err
	}
	f, err := l.finder(ctx, by, op, "")
	if err != nil {
		return Picture{}, err
	}
	return f.picture(ctx, label, which, look)
}

// picture is EvidencePicture with a look that was checked.
func (f *finder) picture(ctx context.Context, label, which string, look Look) (Picture, error) {
	order := []string{which}
	switch which {
	case "":
		order = []string{"after", "before", "picture"}
	case "before", "after", "picture":
	default:
		return Picture{}, human.BadField("which", "%q is not one of before, after, picture", human.OneLine(which, 40))
	}
	e, err := f.find(ctx, label)
	if err != nil {
		return Picture{}, err
	}
	for _, want := range order {
		for _, p := range e.Pictures {
			if p.Which != want {
				continue
			}
			if here := f.recordings[e.Recording]; here != nil {
				return f.library.picture(ctx, e.Recording, p.ID, look, here.edits), nil
			}
			return f.pictureElsewhere(ctx, e, want, look), nil
		}
	}
	if e.Missing != "" {
		return Picture{}, human.Errorf(human.NotFound, "the picture of evidence %s of operation %s is not available to you: %s", label, f.op.ID, e.Missing)
	}
	return Picture{}, human.Errorf(human.NotFound, "evidence %s of operation %s has no such picture", label, f.op.ID)
}

// A finder finds the evidence of one answer for one reader.
type finder struct {
	library    *Library
	by         human.Actor
	op         human.Operation
	refs       []human.Ref
	language   string
	recordings map[human.RecordingID]*opened
	given      map[human.RecordingID]fromDesk // by other desks
	here       bool                           // other desks are not asked
}

// An opened is a recording as far as its answer's evidence goes.
type opened struct {
	human.Recording
	edits   human.Edits
	actions []human.Action  // as the reader may read them
	all     map[string]bool // the ids of actions, cut ones too
	shots   map[string]bool // their pictures
	shown   map[string]bool // the ids of those that have any
}

func (l *Library) finder(ctx context.Context, by human.Actor, id human.OperationID, language string) (*finder, error) {
	language, err := languageOf(language)
	if err != nil {
		return nil, err
	}
	op, err := l.deps.Operations.Get(ctx, by, id)
	if err != nil {
		return nil, err
	}
	f := &finder{library: l, by: by, op: op, language: language, recordings: map[human.RecordingID]*opened{}, given: map[human.RecordingID]fromDesk{}}
	if op.Result != nil {
		f.refs = op.Result.Evidence()
	}
	return f, nil
}

// findOrMiss resolves a label; what cannot be found says why in Missing.
func (f *finder) findOrMiss(ctx context.Context, label string, r human.Ref) (Evidence, error) {
	e, err := f.find(ctx, label)
	if human.KindOf(err) == human.NotFound {
		return Evidence{Label: label, Kind: r.Kind, Recording: r.Recording, ID: r.ID, Pictures: []EvidencePicture{}, Missing: human.SafeText(err)}, nil
	}
	return e, err
}

// find resolves a label.
func (f *finder) find(ctx context.Context, label string) (Evidence, error) {
	digits, is := strings.CutPrefix(label, "e")
	n, err := strconv.Atoi(digits)
	if !is || err != nil || n < 1 || n > len(f.refs) || digits != strconv.Itoa(n) {
		there := "its answer has none"
		if len(f.refs) > 0 {
			there = fmt.Sprintf("its answer has e1 to e%d", len(f.refs))
		}
		return Evidence{}, human.Errorf(human.NotFound, "operation %s has no evidence %s; %s", f.op.ID, human.OneLine(label, 40), there)
	}
	r := f.refs[n-1]
	e := Evidence{Label: label, Kind: r.Kind, ID: r.ID, Pictures: []EvidencePicture{}}
	has := true
	switch r.Kind {
	case human.RefAction, human.RefPicture, human.RefCommand:
		e.Recording = r.Recording
		err := f.recorded(ctx, r, &e)
		return e, err
	case human.RefField:
		e.Text, has = f.op.Result.Fields[r.ID]
		if from, picked := f.op.Result.FieldSources[r.ID]; picked {
			e.Where, e.At = from.URL, &from.At
			if from.Corrected {
				e.Picked = from.Picked
			}
		}
	case human.RefStep:
		e.Text, has = at(kind.Steps(f.op), r.ID)
	case human.RefMessage:
		var m human.Message
		if m, has = at(f.op.Messages, r.ID); has {
			e.Text, e.At = m.Text, &m.At
		}
	case human.RefAnswer:
		a := f.op.Result
		e.Text, has = map[string]string{"human_input": a.HumanInput, "execution_result": a.ExecutionResult, "decision": string(a.Decision)}[r.ID]
		e.At = &a.At
	case human.RefRequest:
		e.Text, has = asked(f.op, r.ID)
		e.At = &f.op.CreatedAt
	}
	if !has {
		return Evidence{}, f.gone(label, "there is no %s %s in it", r.Kind, human.OneLine(r.ID, 80))
	}
	return e, nil
}

func (f *finder) gone(label, why string, args ...any) error {
	return human.Errorf(human.NotFound, "evidence %s of operation %s cannot be read: %s", label, f.op.ID, fmt.Sprintf(why, args...))
}

// at is the element of a list that an index written as text names.
func at[T any](list []T, index string) (one T, is bool) {
	i, err := strconv.Atoi(index)
	if err != nil || i < 0 || i >= len(list) {
		return one, false
	}
	return list[i], true
}

// asked is a part of the request: its description, or a part of details, as text where it is one.
func asked(op human.Operation, part string) (string, bool) {
	var details map[string]json.RawMessage
	_ = json.Unmarshal(op.Details, &details) // those that are no object have no parts
	raw, is := details[part]
	var text string
	switch {
	case !is && part == "description":
		return op.Description, true
	case json.Unmarshal(raw, &text) == nil:
		return text, is
	}
	return string(raw), is
}

// recorded resolves what lies in a recording.
func (f *finder) recorded(ctx context.Context, r human.Ref, e *Evidence) error {
	o, err := f.open(ctx, r.Recording)
	if human.KindOf(err) == human.NotFound {
		if err := f.elsewhere(ctx, r, e); human.KindOf(err) != human.NotFound {
			return err
		}
		return f.gone(e.Label, "recording %s is not there any more", human.OneLine(string(r.Recording), 80))
	}
	if err != nil {
		return err
	}
	if o.Removed != nil {
		return human.Errorf(human.NotFound, "evidence %s of operation %s cannot be read: its recording was removed on %s by retention", e.Label, f.op.ID, dayOf(o.Removed))
	}
	when := func(elapsed int64) {
		moment := o.StartedAt.Add(time.Duration(elapsed))
		e.Elapsed, e.At = &elapsed, &moment
	}
	if r.Kind == human.RefAction || r.Kind == human.RefCommand {
		i := slices.IndexFunc(o.actions, func(a human.Action) bool { return a.ID == r.ID })
		if i < 0 {
			return f.without(o.all, e)
		}
		a := o.actions[i]
		if f.by.Role == human.Agent && !f.op.Released(r.Recording) {
			a.CausedBy = "" // that one was not released
		}
		when(a.At)
		e.Text, e.Where, e.Action = a.Words, where(a), &a
		if a.Pick != nil {
			e.Picked = a.Pick.Text
		}
		if o.PicturesRemoved != nil {
			e.Missing = "its pictures were removed on " + dayOf(o.PicturesRemoved) + " by retention"
			return nil
		}
		shot := a
		if a.CausedBy != "" && a.Before == "" && a.After == "" { // what comes of an action at once, such as a download, is in its pictures
			if i := slices.IndexFunc(o.actions, func(c human.Action) bool { return c.ID == a.CausedBy }); i >= 0 {
				shot = o.actions[i]
			}
		}
		e.show(EvidencePicture{"before", shot.Before}, EvidencePicture{"after", shot.After})
		if f.by.Role == human.Agent && !o.edits.Shares(shot.ID) && o.shown[shot.ID] {
			e.Missing = "its operator shares no pictures"
		}
		return nil
	}
	if r.Kind == human.RefPicture && o.PicturesRemoved != nil {
		return human.Errorf(human.NotFound, "evidence %s of operation %s cannot be read: its picture was removed on %s by retention", e.Label, f.op.ID, dayOf(o.PicturesRemoved))
	}
	if r.Kind == human.RefPicture {
		for _, a := range o.actions {
			if a.Before == r.ID || a.After == r.ID {
				if a.After == r.ID {
					when(a.End)
				} else {
					when(a.At)
				}
				e.show(EvidencePicture{"picture", r.ID})
				return nil
			}
		}
		if f.by.Role == human.Agent && !o.edits.SharePictures && o.shots[r.ID] {
			return f.gone(e.Label, "its operator shares no pictures")
		}
		return f.without(o.shots, e)
	}
	return f.without(nil, e)
}

// without is the error for what is not among the actions that may be read: it was removed, or never existed.
func (f *finder) without(all map[string]bool, e *Evidence) error {
	if all[e.ID] {
		return f.gone(e.Label, "the operator left it out")
	}
	return f.gone(e.Label, "recording %s has no %s %s", e.Recording, e.Kind, human.OneLine(e.ID, 80))
}

func (e *Evidence) show(all ...EvidencePicture) {
	for _, p := range all {
		if p.ID != "" {
			e.Pictures = append(e.Pictures, p)
		}
	}
}

// where is the page or window that an action was done in.
func where(a human.Action) string {
	var parts []string
	switch {
	case a.Page != nil:
		parts = []string{a.Page.Title, a.Page.URL}
	case a.App != nil && a.Window != nil:
		parts = []string{a.App.Name, a.Window.Title}
	case a.Window != nil:
		parts = []string{a.Window.Title}
	case a.App != nil:
		parts = []string{a.App.Name}
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ": ")
}

// open reads a recording of the operation.
func (f *finder) open(ctx context.Context, id human.RecordingID) (*opened, error) {
	if o := f.recordings[id]; o != nil {
		return o, nil
	}
	l := f.library
	r, err := l.deps.Store.Recording(ctx, id)
	if err == nil && r.OperationID != f.op.ID {
		_, _, err = none(id)
	}
	if err != nil {
		return nil, err
	}
	if r.Removed != nil {
		f.recordings[id] = &opened{Recording: r}
		return f.recordings[id], nil
	}
	o := &opened{Recording: r, all: map[string]bool{}, shots: map[string]bool{}, shown: map[string]bool{}}
	if o.edits, err = l.deps.Store.Edits(ctx, id); err != nil {
		return nil, err
	}
	// Of a long recording only what may matter: what was asked for, and what was removed, whose pictures leave for no one.
	want := map[string]bool{}
	for _, r := range f.refs {
		if r.Recording == id {
			want[r.ID] = true
		}
	}
	for _, cut := range o.edits.Cuts {
		want[cut] = true
	}
	b, err := l.readOn(ctx, id, f.language)
	if err != nil {
		return nil, err
	}
	for i := range b.all { // an action without a picture is in those of what it came of
		if a := &b.all[i]; want[a.ID] && a.Before == "" && a.After == "" && a.CausedBy != "" {
			want[a.CausedBy] = true
		}
	}
	var all []human.Action
	for i := range b.all {
		if a := &b.all[i]; want[a.ID] || want[a.Before] || want[a.After] {
			all = append(all, *a)
		}
	}
	b.mu.Unlock()
	for _, a := range all {
		o.all[a.ID], o.shots[a.Before], o.shots[a.After] = true, true, true
		o.shown[a.ID] = a.Before != "" || a.After != ""
	}
	if f.by.Role == human.Agent {
		o.actions = actions.ForAgent(all, o.edits, f.language)
	} else {
		o.actions = actions.Apply(all, o.edits, f.language)
	}
	f.recordings[id] = o
	return o, nil
}
