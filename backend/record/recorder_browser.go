package record

import (
	"context"

	"deskbell/backend/human"
)

const maxField = 200 // bytes of a field's name

// browserOf is the running recording's browser.
func (r *Recorder) browserOf(by human.Actor, id human.RecordingID) (*session, error) {
	s, err := r.find(by, id)
	switch {
	case err != nil:
		return nil, err
	case s == nil:
		return nil, human.Errorf(human.Conflict, "recording %s is not running", id)
	case s.browser.browser == nil:
		return nil, human.Errorf(human.Conflict, "recording %s has no browser", id)
	}
	return s, nil
}

// Pick has the operator point at something in the recorded browser. It returns when the page waits for them, or
// for a selection, when it was taken; what they took is an event of the recording. One with no Field ends a pick
// that waits. Conflict when there is no browser, or the recording is paused.
func (r *Recorder) Pick(ctx context.Context, by human.Actor, id human.RecordingID, p human.PickRequest) error {
	if len(p.Field) > maxField {
		return human.BadField("field", "is longer than %d bytes", maxField)
	}
	switch p.Take {
	case "":
		p.Take = human.TakeElement
	case human.TakeElement, human.TakeSelection, human.TakeTable, human.TakeList:
	default:
		return human.BadField("take", "%q is not one of element, selection, table, list", human.OneLine(p.Take, 40))
	}
	s, err := r.browserOf(by, id)
	if err != nil {
		return err
	}
	if s.album.held.Load() && p.Field != "" {
		return human.Errorf(human.Conflict, "recording %s is paused; continue it, then pick", id)
	}
	return s.browser.browser.Pick(ctx, p)
}

// ShowBrowser brings the recorded browser to the front, and opens it again when it was closed. It returns when
// that is done.
func (r *Recorder) ShowBrowser(ctx context.Context, by human.Actor, id human.RecordingID) error {
	s, err := r.browserOf(by, id)
	if err != nil {
		return err
	}
	return s.browser.show(ctx)
}
