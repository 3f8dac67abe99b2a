package queue_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/store/sqlite"
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

// quickJournal has a request answered before its Append has returned.
type quickJournal struct {
	queue.Journal
	answer func(human.OperationID)
}

func (j quickJournal) Append(ctx context.Context, id human.OperationID, expected uint64, events ...human.Event) (uint64, error) {
	seq, err := j.Journal.Append(ctx, id, expected, events...)
	if events[0].Type == human.Invoked && err == nil {
		j.answer(id)
	}
	return seq, err
}

// An operator who learns of a request from the journal may answer before Create returns: the answer stays.
func TestAnAnswerBeforeTheRingReturns(t *testing.T) {
	for name, do := range map[string]func(q *queue.Queue, id human.OperationID) error{
		"answered": func(q *queue.Queue, id human.OperationID) error {
			_, err := q.Complete(context.Background(), mei, id, human.Answer{HumanInput: "yes"}, "")
			return err
		},
		"claimed": func(q *queue.Queue, id human.OperationID) error {
			_, err := q.Claim(context.Background(), mei, id)
			return err
		},
	} {
		store, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		var q *queue.Queue
		q = queue.New(quickJournal{store, func(id human.OperationID) {
			if err := do(q, id); err != nil {
				t.Error(err)
			}
		}}, store, queue.Options{})
		if err := q.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		op := ring(t, q, request(bot, "Which name?"))
		got, err := q.Get(t.Context(), mei, op.ID)
		want, waits := human.Completed, 0
		if name == "claimed" {
			want, waits = human.Claimed, 1
		}
		if err != nil || got.State != want || got.Version != 2 || q.Pending() != waits || q.PendingOf(bot.Name) != waits {
			t.Errorf("%s: it is %s at version %d, %d wait, %d are counted: %v", name, got.State, got.Version, q.Pending(), q.PendingOf(bot.Name), err)
		}
	}
}

// slowJournal returns from an Append well after its events can be read.
type slowJournal struct{ queue.Journal }

func (j slowJournal) Append(ctx context.Context, id human.OperationID, expected uint64, events ...human.Event) (uint64, error) {
	seq, err := j.Journal.Append(ctx, id, expected, events...)
	<-time.After(20 * time.Millisecond)
	return seq, err
}

// Whoever reads an operation because of an event finds the event in it, and the last number that followers get of what is
// open is the true one: a window that hears too early shows what was before until something else happens.
func TestFollowersAreToldWhenItCanBeRead(t *testing.T) {
	store, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	q := queue.New(slowJournal{store}, store, queue.Options{})
	if err := q.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	var followers sync.WaitGroup
	defer followers.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	told, pending := make(chan human.EventType, 16), make(chan int, 16)
	followers.Go(func() {
		for e, err := range q.Follow(ctx, mei, 0) {
			if err != nil {
				t.Error(err)
				return
			}
			if op, err := q.Get(ctx, mei, e.ID); err != nil || op.Version < e.Version {
				t.Errorf("told of %s, event %d, the operation is at %d: %v", e.Event.Type, e.Version, op.Version, err)
			}
			told <- e.Event.Type
		}
	})
	followers.Go(func() {
		for n := range q.FollowPending(ctx) {
			pending <- n
		}
	})
	expect := func(want int, types ...human.EventType) {
		t.Helper()
		for _, want := range types {
			if got := next(t, told); got != want {
				t.Errorf("told of %s, want %s", got, want)
			}
		}
		if got := next(t, pending); got != want {
			t.Errorf("%d wait, want %d", got, want)
		}
	}
	expect(0)
	op := ring(t, q, request(bot, "Which name?"))
	expect(1, human.Invoked)
	if _, err := q.Claim(ctx, mei, op.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Complete(ctx, mei, op.ID, human.Answer{HumanInput: "Anna"}, op.Digest); err != nil {
		t.Fatal(err)
	}
	expect(0, human.ClaimedBy, human.Finished)
}

// next is what a follower says next.
func next[T any](t *testing.T, said <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-said:
	case <-time.After(20 * time.Second):
		t.Fatal("a follower was not told")
	}
	return v
}
