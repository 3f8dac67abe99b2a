package queue_test

import (
	"context"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/sqlite"
)

// lateJournal stores a draft at once and says so late.
type lateJournal struct {
	queue.Journal
	stored, release chan struct{}
}

func (j lateJournal) Append(ctx context.Context, id human.OperationID, expected uint64, events ...human.Event) (uint64, error) {
	seq, err := j.Journal.Append(ctx, id, expected, events...)
	if events[0].Type == human.InputSaved {
		close(j.stored)
		<-j.release
	}
	return seq, err
}

// A draft that is stored just before the answer, and comes back just after it, does not open the operation again.
func TestALateDraftBringsNothingBack(t *testing.T) {
	store, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	j := lateJournal{store, make(chan struct{}), make(chan struct{})}
	q := queue.New(j, store, queue.Options{})
	if err := q.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	op := ring(t, q, request(bot, "Which name?"))
	saved := make(chan error)
	go func() {
		_, err := q.SaveInput(context.WithoutCancel(t.Context()), mei, op.ID, &human.Answer{HumanInput: "half"})
		saved <- err
	}()
	<-j.stored
	if _, err := q.Complete(t.Context(), mei, op.ID, human.Answer{HumanInput: "whole"}, op.Digest); err != nil {
		t.Fatal(err)
	}
	close(j.release)
	if err := <-saved; err != nil {
		t.Fatal(err)
	}
	if got, err := q.Get(t.Context(), mei, op.ID); err != nil || got.State != human.Completed || q.Pending() != 0 {
		t.Errorf("the answered operation is %s, and %d wait: %v", got.State, q.Pending(), err)
	}
}
