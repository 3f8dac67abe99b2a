package library

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"slices"
	"strconv"

	"deskbell/backend/human"
	"deskbell/backend/record/actions"
)

// A Wanted is what one desk of a team wants of another: the evidence in a recording, or with a label a picture of one piece; or a part of
// the recording itself.
type Wanted struct {
	Recording human.RecordingID `json:"recording"`
	Part      string            `json:"part,omitempty"`    // of the recording itself: recording (what is known of it), actions, picture or cast
	Picture   string            `json:"picture,omitempty"` // its id, of the part picture
	Language  string            `json:"language,omitempty"`
	Label     string            `json:"label,omitempty"`
	Which     string            `json:"which,omitempty"`
	Width     int               `json:"width,omitempty"`
	Format    string            `json:"format,omitempty"`
}

// Give writes what another desk wants of an answer's evidence, as the agent that asked may read it: a recording stays here, and only what a
// sent finding rests on leaves, with masks. It is a list of Evidence in JSON, or a picture.
func (l *Library) Give(ctx context.Context, id human.OperationID, w Wanted, to io.Writer) error {
	op, err := l.deps.Operations.Get(ctx, human.Actor{Role: human.System}, id)
	if err != nil {
		return err
	}
	f, err := l.finder(ctx, human.Actor{Role: human.Agent, Name: op.AgentID}, id, w.Language)
	if err != nil {
		return err
	}
	f.here = true
	if w.Label != "" {
		look, err := Look{Width: w.Width, Format: w.Format}.checked()
		if err != nil {
			return err
		}
		p, err := f.picture(ctx, w.Label, w.Which, look)
		if err != nil {
			return err
		}
		return p.Encode(to)
	}
	all := []Evidence{}
	for i, r := range f.refs {
		if r.Recorded() && r.Recording == w.Recording {
			e, err := f.findOrMiss(ctx, "e"+strconv.Itoa(i+1), r)
			if err != nil {
				return err
			}
			all = append(all, e)
		}
	}
	return json.NewEncoder(to).Encode(all)
}

// elsewhere fills in a piece of evidence from the desk that has its recording; NotFound where no other desk has it. What keeps it away for now
// is in Missing.
func (f *finder) elsewhere(ctx context.Context, r human.Ref, e *Evidence) error {
	if f.here || f.library.deps.Elsewhere == nil {
		return human.Errorf(human.NotFound, "no recording %s", human.OneLine(string(r.Recording), 80))
	}
	all, is := f.given[r.Recording]
	if !is {
		var text bytes.Buffer
		err := f.library.deps.Elsewhere(ctx, f.op.ID, Wanted{Recording: r.Recording, Language: f.language}, &text)
		if human.KindOf(err) == human.NotFound {
			return err
		}
		if err == nil {
			err = json.Unmarshal(text.Bytes(), &all.evidence)
		}
		if err != nil {
			all.missing = human.SafeText(err)
		}
		f.given[r.Recording] = all
	}
	for _, one := range all.evidence {
		if one.Label == e.Label && one.Kind == e.Kind && one.ID == e.ID && one.Recording == e.Recording {
			*e = one
			e.Pictures = append([]EvidencePicture{}, e.Pictures...)
			return nil
		}
	}
	if e.Missing = all.missing; e.Missing == "" {
		e.Missing = "the desk that has its recording does not give it"
	}
	return nil
}

// A fromDesk is what another desk gave of a recording, or why nothing.
type fromDesk struct {
	evidence []Evidence
	missing  string
}

// pictureElsewhere is a picture of evidence that another desk has. It is asked for each time: its masks may be others by then.
func (f *finder) pictureElsewhere(ctx context.Context, e Evidence, which string, look Look) Picture {
	return Picture{Tag: rand.Text(), Media: "image/" + look.Format, Encode: func(w io.Writer) error {
		return f.library.deps.Elsewhere(ctx, f.op.ID, Wanted{Recording: e.Recording, Language: f.language, Label: e.Label, Which: which, Width: look.Width, Format: look.Format}, w)
	}}
}

// GiveRecording writes a part of a recording of an operation, to whose owner another desk's member asked for it, and who agreed: without what
// was removed, without texts that were masked, and with the masks of its pictures, as they are now. Conflict while it runs.
func (l *Library) GiveRecording(ctx context.Context, op human.OperationID, w Wanted, to io.Writer) error {
	r, err := l.deps.Store.Recording(ctx, w.Recording)
	if err == nil && r.OperationID != op {
		_, _, err = none(w.Recording)
	}
	if err == nil && r.Running() {
		err = human.Errorf(human.Conflict, "recording %s is still being made", r.ID)
	}
	if err != nil {
		return err
	}
	switch w.Part {
	case "recording":
		r = WithLists(r)
		r.Options.Folders = nil // as for an agent: where the operator works is theirs
		return json.NewEncoder(to).Encode(r)
	case "cast":
		e, err := l.Cast(ctx, human.Actor{Role: human.System}, r.ID)
		if err != nil {
			return err
		}
		return e.Write(to)
	}
	language, err := languageOf(w.Language)
	if err != nil {
		return err
	}
	_, all, err := l.read(ctx, r.ID, language)
	if err != nil {
		return err
	}
	edits, err := l.deps.Store.Edits(ctx, r.ID)
	if err != nil {
		return err
	}
	all = actions.Left(all, edits, language)
	switch w.Part {
	case "actions":
		return json.NewEncoder(to).Encode(Actions{Actions: all})
	case "picture":
		look, err := Look{Width: w.Width, Format: w.Format}.checked()
		if err != nil {
			return err
		}
		if !slices.Contains(actions.Pictures(all), w.Picture) {
			return noPicture(r.ID, w.Picture)
		}
		return l.picture(ctx, r.ID, w.Picture, look, edits).Encode(to)
	}
	return human.BadField("part", "%q is not one of recording, actions, picture, cast", human.OneLine(w.Part, 40))
}

// mayAsk says whether a recording that could not be opened may be one that another desk gives this operator.
func (l *Library) mayAsk(by human.Actor, err error) bool {
	return human.KindOf(err) == human.NotFound && by.Role == human.Operator && l.deps.Asked != nil
}

// asked reads a part of a recording of another desk from JSON.
func (l *Library) asked(ctx context.Context, w Wanted, into any) (holder string, err error) {
	var text bytes.Buffer
	if holder, err = l.deps.Asked(ctx, w, &text); err == nil {
		err = json.Unmarshal(text.Bytes(), into)
	}
	return holder, err
}
