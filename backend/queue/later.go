package queue

import (
	"context"
	"errors"

	"deskbell/backend/human"
)

// ErrOffline is in the chain of a journal's errors that say that nothing was changed, because the team has to hear of it first and
// cannot be reached now.
var ErrOffline = errors.New("offline")

// Do does what an operator decided, now.
func (q *Queue) Do(ctx context.Context, l human.Later) (human.Operation, error) {
	return q.do(ctx, l, false)
}

func (q *Queue) do(ctx context.Context, l human.Later, hold bool) (human.Operation, error) {
	switch l.Does {
	case human.Denies:
		return q.complete(ctx, l.By, l.Operation, *l.Answer, l.Digest, hold)
	case human.Declines:
		return q.decline(ctx, l.By, l.Operation, l.Text, hold)
	}
	return q.operate(ctx, l.By, l.Operation, human.Event{Type: human.HandedOver, To: l.To, Text: l.Text})
}

// doOrKeep does what an operator decided; where the team cannot be reached, it is kept until it can, and the operation has Later.
func (q *Queue) doOrKeep(ctx context.Context, l human.Later, hold bool) (human.Operation, error) {
	op, err := q.do(ctx, l, hold)
	if q.opts.Later == nil || !errors.Is(err, ErrOffline) {
		return op, err
	}
	l.At, l.Description = q.now(), op.Description
	if err := q.opts.Later(ctx, l); err != nil {
		return op, err
	}
	op.Later = &l
	return op, nil
}
