package library

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"deskbell/backend/human"
	"deskbell/backend/record"
	"deskbell/backend/record/actions"
)

// Limits of edits.
const (
	maxMasks = 1000
	maxWords = 2000    // characters of an operator's own words for a step
	maxPixel = 1 << 20 // no picture is wider or higher
)

// Edits returns what is cut and masked. Operators only.
func (l *Library) Edits(ctx context.Context, by human.Actor, id human.RecordingID) (human.Edits, error) {
	if _, _, err := l.openAll(ctx, by, id); err != nil {
		return human.Edits{}, err
	}
	return l.deps.Store.Edits(ctx, id)
}

// SetEdits replaces the edits and returns them with their next version. Conflict where they were changed
// since the version that e names; Invalid, with the field, where they name what the recording does not have.
// Operators only.
func (l *Library) SetEdits(ctx context.Context, by human.Actor, id human.RecordingID, e human.Edits) (human.Edits, error) {
	if _, _, err := l.openAll(ctx, by, id); err != nil {
		return human.Edits{}, err
	}
	_, all, err := l.read(ctx, id, "en")
	if err != nil {
		return human.Edits{}, err
	}
	stored, err := l.deps.Store.Edits(ctx, id)
	if err != nil {
		return human.Edits{}, err
	}
	known := make(map[string]bool, len(all))
	for _, a := range all {
		known[a.ID] = true
	}
	// While it is being made an action may become part of another; what named it stays as it was.
	for _, a := range slices.Concat(stored.Cuts, stored.MaskedTexts, stored.PicturesOf, slices.Collect(maps.Keys(stored.Words))) {
		known[a] = true
	}
	if e.Cuts, err = ids("cuts", e.Cuts, known); err != nil {
		return human.Edits{}, err
	}
	if e.MaskedTexts, err = ids("masked_texts", e.MaskedTexts, known); err != nil {
		return human.Edits{}, err
	}
	if e.PicturesOf, err = ids("pictures_of", e.PicturesOf, known); err != nil {
		return human.Edits{}, err
	}
	if _, err = ids("words", slices.Sorted(maps.Keys(e.Words)), known); err != nil {
		return human.Edits{}, err
	}
	for action, words := range e.Words {
		if n := utf8.RuneCountInString(words); n > maxWords {
			return human.Edits{}, human.BadField("words", "those of %s have %d characters; the limit is %d", action, n, maxWords)
		}
	}
	if err := l.checkMasks(ctx, id, e.Masks, all); err != nil {
		return human.Edits{}, err
	}
	return l.deps.Store.SetEdits(ctx, id, e)
}

// ids are the ids of actions in order, each once.
func ids(field string, list []string, known map[string]bool) ([]string, error) {
	for _, id := range list {
		if !known[id] {
			return nil, human.BadField(field, "there is no action %q in this recording", human.OneLine(id, 80))
		}
	}
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b string) int {
		x, _ := seqOf(a) // it is one that was derived
		y, _ := seqOf(b)
		return int(x) - int(y)
	})
	return slices.Compact(list), nil
}

// seqOf is the seq in an action's id; 0 for "".
func seqOf(id string) (uint64, error) {
	if id == "" {
		return 0, nil
	}
	digits, is := strings.CutPrefix(id, "a")
	seq, err := strconv.ParseUint(digits, 10, 64)
	if !is || err != nil {
		return 0, human.BadField("after", "%q is not the id of an action", human.OneLine(id, 80))
	}
	return seq, nil
}

// checkMasks returns an error for masks that would hide nothing. One for every picture must lie within some picture.
func (l *Library) checkMasks(ctx context.Context, id human.RecordingID, masks []human.Mask, all []human.Action) error {
	if len(masks) > maxMasks {
		return human.BadField("masks", "there are %d; the limit is %d", len(masks), maxMasks)
	}
	pictures := actions.Pictures(all)
	sizes := map[string]*record.Frame{}
	within := func(m human.Mask, picture string) (bool, error) {
		f := sizes[picture]
		if f == nil {
			var err error
			if f, err = l.frame(ctx, id, picture, nil); err != nil {
				return false, err
			}
			sizes[picture] = &record.Frame{W: f.W, H: f.H}
		}
		return m.X < f.W && m.Y < f.H && m.X+m.W > 0 && m.Y+m.H > 0, nil
	}
	for i, m := range masks {
		if m.W <= 0 || m.H <= 0 {
			return human.BadField("masks", "number %d is %d by %d pixels; both must be 1 or more", i+1, m.W, m.H)
		}
		if max(m.X, m.Y, -m.X, -m.Y, m.W, m.H) > maxPixel {
			return human.BadField("masks", "number %d is outside the picture", i+1)
		}
		candidates := pictures
		if m.Picture != "" {
			if !pictureID(m.Picture) {
				return human.BadField("masks", "number %d: %q is not the id of a picture", i+1, human.OneLine(m.Picture, 80))
			}
			candidates = []string{m.Picture}
		}
		inside := false
		for _, p := range candidates {
			in, err := within(m, p)
			if human.KindOf(err) == human.NotFound && m.Picture != "" {
				return human.BadField("masks", "number %d: there is no picture %s in this recording", i+1, m.Picture)
			}
			if err != nil && human.KindOf(err) != human.NotFound {
				return err
			}
			if inside = in; inside {
				break
			}
		}
		if !inside {
			return human.BadField("masks", "number %d is outside the picture", i+1)
		}
	}
	return nil
}
