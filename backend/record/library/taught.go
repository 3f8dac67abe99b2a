package library

import (
	"context"

	"deskbell/backend/human"
	"deskbell/backend/record/actions"
)

// Taught are a recording and its actions as they leave for people, without what was removed and with what was masked hidden, and what its
// operation asked for. Operators only; a Conflict error while it is being made.
func (l *Library) Taught(ctx context.Context, by human.Actor, id human.RecordingID) (title string, r human.Recording, list []human.Action, err error) {
	r, op, err := l.openAll(ctx, by, id)
	if err != nil {
		return "", r, nil, err
	}
	if r.Running() {
		return "", r, nil, human.Errorf(human.Conflict, "recording %s is still being made; stop it first", id)
	}
	_, all, err := l.read(ctx, id, "en")
	if err != nil {
		return "", r, nil, err
	}
	edits, err := l.deps.Store.Edits(ctx, id)
	if err != nil {
		return "", r, nil, err
	}
	return human.OneLine(op.Description, 120), r, actions.Left(all, edits, "en"), nil
}

// Share lets the agent of a recording's operation read the pictures of these actions, besides those that it may read already. Operators only.
func (l *Library) Share(ctx context.Context, by human.Actor, id human.RecordingID, actions []string) error {
	e, err := l.Edits(ctx, by, id)
	if err == nil {
		e.PicturesOf = append(e.PicturesOf, actions...)
		_, err = l.SetEdits(ctx, by, id, e)
	}
	return err
}
