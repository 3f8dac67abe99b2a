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
// words in a language, as its agent would get them but with their pictures, how many more there are, and the
// steps of the checklist that were ticked, in order.
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
	list = actions.ForAgent(all, edits, language)
	if more = len(list) - most; more > 0 {
		list = list[:most:most]
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return list, max(more, 0), slices.Sorted(maps.Keys(b.ticked)), nil
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
