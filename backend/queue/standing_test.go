package queue_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/store/sqlite"
)

// large is a request of which few fit into memory at once.
func large(by human.Actor, description string) human.Request {
	r := request(by, description)
	r.Timeout, r.Details = 0, json.RawMessage(fmt.Sprintf(`{"log":%q}`, strings.Repeat(description+" ", (900<<10)/(len(description)+1))))
	return r
}

// many is more than the queue keeps whole.
const many = 24

// What is open and was pushed out of memory is as it was: it is answered, joined by the same request, counted and put in order.
func TestMoreOpenThanMemoryKeeps(t *testing.T) {
	dir := t.TempDir()
	opts := queue.Options{MaxPending: 2 * many}
	q, _ := open(t, dir, opts)
	ops := make([]human.Operation, many)
	for i := range ops {
		r := large(bot, fmt.Sprint("request ", i))
		r.Priority = i % 3
		ops[i] = ring(t, q, r)
	}
	first, same := ops[0], large(bot, "request 0")
	if got, err := q.Get(t.Context(), mei, first.ID); err != nil || string(got.Details) != string(first.Details) || got.Version != first.Version {
		t.Errorf("the first has version %d and %d bytes of details, %v", got.Version, len(got.Details), err)
	}
	if joined, created, err := q.Ring(t.Context(), same, true); err != nil || created || joined.ID != first.ID {
		t.Errorf("the same request again: %s, created %t, %v", joined.ID, created, err)
	}
	wants := func(q *queue.Queue, n int, top ...human.OperationID) {
		t.Helper()
		var got []human.OperationID
		for _, op := range q.Waiting(len(top)) {
			got = append(got, op.ID)
		}
		if q.Pending() != n || q.PendingOf(bot.Name) != n || !slices.Equal(got, top) {
			t.Errorf("%d wait, %d of the agent, and first %v, want %d and %v", q.Pending(), q.PendingOf(bot.Name), got, n, top)
		}
	}
	wants(q, many, ops[2].ID, ops[5].ID, ops[8].ID)
	if done, err := q.Complete(t.Context(), mei, ops[2].ID, human.Answer{HumanInput: "yes"}, ops[2].Digest); err != nil || done.State != human.Completed {
		t.Errorf("answered: %s, %v", done.State, err)
	}
	if of, err := q.OpenOf(t.Context(), human.Feedback); err != nil || len(of) != many-1 {
		t.Errorf("%d are open, %v", len(of), err)
	}
	wants(q, many-1, ops[5].ID, ops[8].ID)
}

// A start reads how the open operations stand, and the rest when it is looked at.
func TestAStartWithManyOpen(t *testing.T) {
	dir := t.TempDir()
	var held human.Operation
	ids := func() (ids []human.OperationID) {
		store, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		q := queue.New(store, store, queue.Options{MaxPending: 2 * many})
		if err := q.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i := range many {
			ids = append(ids, ring(t, q, large(bot, fmt.Sprint("request ", i))).ID)
		}
		held = ring(t, q, request(bot, "Which tone?"))
		hold(t, q, held, "Plain")
		if err := store.Close(); err != nil { // without the queue's end, which would send it
			t.Fatal(err)
		}
		return ids
	}()
	q, _ := open(t, dir, queue.Options{MaxPending: 2 * many})
	done, err := q.WaitFor(t.Context(), bot, held.ID, func(op human.Operation) bool { return op.State.Terminal() })
	if err != nil || done.Result == nil || done.Result.HumanInput != "Plain" {
		t.Errorf("the answer that was held: %+v, %v", done.Result, err)
	}
	if q.Pending() != many || q.PendingOf(bot.Name) != many {
		t.Errorf("%d wait, %d of the agent", q.Pending(), q.PendingOf(bot.Name))
	}
	for _, i := range []int{0, many - 1} {
		if joined, created, err := q.Ring(t.Context(), large(bot, fmt.Sprint("request ", i)), true); err != nil || created || joined.ID != ids[i] {
			t.Errorf("the same request again: %s, created %t, %v", joined.ID, created, err)
		}
	}
	if _, created, err := q.Ring(t.Context(), large(bot, "another"), true); err != nil || !created {
		t.Errorf("another request: created %t, %v", created, err)
	}
	if err := q.Withdraw(context.Background(), bot.Name, "the agent is gone"); err != nil || q.Pending() != 0 {
		t.Errorf("%d wait after all were withdrawn, %v", q.Pending(), err)
	}
}

// slowly is a journal whose next look at an operation ends when it is let.
type slowly struct {
	queue.Journal
	slow      atomic.Bool
	read, let chan struct{}
}

func (j *slowly) Operation(ctx context.Context, id human.OperationID) ([]human.Entry, error) {
	entries, err := j.Journal.Operation(ctx, id)
	if j.slow.CompareAndSwap(true, false) {
		close(j.read)
		<-j.let
	}
	return entries, err
}

// What was read of an operation before it changed does not take the place of what it is since.
func TestALateReadChangesNothing(t *testing.T) {
	dir := t.TempDir()
	store, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	first := queue.New(store, store, queue.Options{})
	op := ring(t, first, request(bot, "Which tone?"))
	j := &slowly{Journal: store, read: make(chan struct{}), let: make(chan struct{})}
	q := queue.New(j, store, queue.Options{})
	if err := q.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	j.slow.Store(true)
	done := make(chan error)
	go func() {
		_, err := q.Get(context.Background(), mei, op.ID)
		done <- err
	}()
	<-j.read
	claimed, err := q.Claim(t.Context(), mei, op.ID)
	if err != nil {
		t.Fatal(err)
	}
	close(j.let)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if now, err := q.Get(t.Context(), mei, op.ID); err != nil || now.Version != claimed.Version || now.State != human.Claimed {
		t.Errorf("after a late read it is at version %d, %s, %v; it was claimed at version %d", now.Version, now.State, err, claimed.Version)
	}
}
