package library

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"deskbell/backend/human"
	"deskbell/backend/record/actions"
)

// Summarized returns what a summarizer may read of a recording: at most so many actions from its beginning with
// words in a language, as its agent would get them but with their pictures and with gaps where some were removed, how
// many more there are, and the steps of the checklist that were ticked, in order.
func (l *Library) Summarized(ctx context.Context, id human.RecordingID, language string, most int) (list []human.Action, more int, ticked []int, err error) {
	if language, err = languageOf(language); err != nil {
		return nil, 0, nil, err
	}
	b, all, err := l.read(ctx, id, language)
	if err != nil {
		return nil, 0, nil, err
	}
	edits, err := l.deps.Store.Edits(ctx, id)
	if err != nil {
		return nil, 0, nil, err
	}
	edits.SharePictures = true
	list = withHoles(all, actions.ForAgent(all, edits, language), edits, language)
	if more = len(list) - most; more > 0 {
		list = list[:most:most]
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return list, max(more, 0), slices.Sorted(maps.Keys(b.ticked)), nil
}

// withHoles puts a gap in place of what was removed, so that a reader does not take removed actions for actions that were not
// done. The gap says nothing of what it was, and has no id to point at.
func withHoles(all, left []human.Action, edits human.Edits, language string) []human.Action {
	if len(edits.Cuts) == 0 {
		return left
	}
	words := "Something was left out here"
	if language == "zh-CN" {
		words = "此处略去了一些内容"
	}
	out := make([]human.Action, 0, len(left)+len(edits.Cuts))
	for _, a := range all {
		switch {
		case len(left) > 0 && left[0].ID == a.ID:
			out = append(out, left[0])
			left = left[1:]
		case len(out) > 0 && out[len(out)-1].ID == "":
			out[len(out)-1].End = max(out[len(out)-1].End, a.End)
		default:
			out = append(out, human.Action{Type: human.Missing, At: a.At, End: a.End, Seqs: []uint64{}, Words: words})
		}
	}
	return out
}

// JPEG returns a picture with its masks, at most width pixels wide (0: as it is).
func (l *Library) JPEG(ctx context.Context, id human.RecordingID, picture string, width int) ([]byte, error) {
	p, err := l.Picture(ctx, human.Actor{Role: human.System}, id, picture, Look{Width: width, Format: "jpeg", Masked: true})
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	if err := p.Encode(&buf); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}
