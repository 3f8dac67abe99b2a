package queue

import (
	"context"

	"deskbell/backend/human"
)

// Import appends operations that ended in another Deskbell, as human.ReadExported reads them, to the history. Those whose ids are
// known stay as they are. Operators only.
func (q *Queue) Import(ctx context.Context, by human.Actor, from string, ops []human.Operation) (done human.ImportResult, err error) {
	if by.Role != human.Operator {
		return done, human.Errorf(human.Denied, "only an operator can import operations")
	}
	for _, op := range ops {
		e, err := op.ImportEvent(by, q.now(), from)
		if err != nil {
			return done, err
		}
		switch _, err := q.journal.Append(ctx, op.ID, 0, e); {
		case err == nil:
			done.Imported++
		case human.KindOf(err) == human.Conflict:
			done.There++
		default:
			return done, err
		}
	}
	return done, nil
}
