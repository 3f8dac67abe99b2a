//go:build unix

package team_test

import (
	"context"
	"errors"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"deskbell/backend/human"
	"deskbell/backend/store/team"
)

// folds makes snapshots, and says how many messages the stream has then.
func folds(tb testing.TB, s *server.Server, before time.Time) (operations int, messages uint64) {
	tb.Helper()
	conn, err := nats.Connect(s.ClientURL())
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err == nil {
		operations, err = team.Fold(tb.Context(), js, before)
	}
	var stream jetstream.Stream
	if err == nil {
		stream, err = js.Stream(tb.Context(), team.Stream)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return operations, stream.CachedInfo().State.Msgs
}

// empty ends a desk, and starts it with nothing in its storage.
func (s *seat) empty(tb testing.TB) {
	tb.Helper()
	s.wipe(tb)
	s.open(tb)
	s.online(tb)
}

// wipe ends a desk and deletes its storage.
func (s *seat) wipe(tb testing.TB) {
	tb.Helper()
	s.stop()
	s.ended.Wait()
	if err := errors.Join(s.store.Close(), os.RemoveAll(s.dir)); err != nil {
		tb.Fatal(err)
	}
}

// noteRead notes that the agent has read an operation's end, which is the latest that comes of one.
func (s *seat) noteRead(tb testing.TB, op human.Operation) {
	tb.Helper()
	if _, err := s.j.Append(tb.Context(), op.ID, op.Version, human.Event{Type: human.Delivered, By: human.Actor{Role: human.System}, At: time.Now()}); err != nil {
		tb.Fatal(err)
	}
}

func TestWhatHasEndedIsFolded(t *testing.T) {
	t.Parallel()
	a, b, s := pair(t)
	h := &history{start: time.Now()}
	var ended []human.OperationID
	for range 20 {
		id := h.ok(t, a, "ring", "", "bot").id
		h.ok(t, a, "ring", "", "bot") // stays open
		b.sees(t, id, 1)
		h.ok(t, b, "claim", id, "")
		h.ok(t, b, "complete", id, "")
		ended = append(ended, id)
	}
	b.sees(t, h.rung[39], 1)

	if n, left := folds(t, s, time.Now().Add(-time.Hour)); n != 0 || left != 80 {
		t.Fatalf("%d operations that ended just now were folded, %d messages are left", n, left)
	}
	if n, left := folds(t, s, time.Now().Add(time.Hour)); n != 20 || left != 20 {
		t.Fatalf("%d operations were folded, %d messages are left; want 20 and 20", n, left)
	}
	if n, left := folds(t, s, time.Now().Add(time.Hour)); n != 0 || left != 20 {
		t.Fatalf("again: %d operations were folded, %d messages are left; want 0 and 20", n, left)
	}

	// A desk that has nothing gets all, and one that was online can still add to what is folded.
	b.empty(t)
	h.check(t, []*seat{a, b})
	op := a.sees(t, ended[0], 3)
	eventually(t, 10*time.Second, "the snapshot to arrive", func() error {
		at, err := a.store.Standing(context.Background(), op.ID)
		if err == nil && at.Place != 0 {
			err = errors.New("its place is the one in the stream")
		}
		return err
	})
	a.noteRead(t, op)
	b.sees(t, ended[0], 4)

	// What comes after a snapshot is no gap for a desk that has nothing, and joins the snapshot in time.
	b.empty(t)
	b.sees(t, ended[0], 4)
	h.check(t, []*seat{a, b})
	if n, left := folds(t, s, time.Now().Add(time.Hour)); n != 1 || left != 20 {
		t.Fatalf("%d operations were folded, %d messages are left; want 1 and 20", n, left)
	}
	a.empty(t)
	a.sees(t, ended[0], 4)
	if has, want := a.canonical(t), b.canonical(t); len(has) != 40 || has[ended[0]] != want[ended[0]] {
		t.Errorf("of %d operations, %s is %s, want %s", len(has), ended[0], has[ended[0]], want[ended[0]])
	}
}

// A desk that was away while messages became snapshots misses nothing, and the last message of the stream may be one of them.
func TestFoldedWhileADeskIsAway(t *testing.T) {
	t.Parallel()
	a, b, s := pair(t)
	h := &history{start: time.Now()}
	first := h.ok(t, a, "ring", "", "bot").id
	b.sees(t, first, 1)
	b.each((*proxy).cut)
	b.offline(t)
	h.ok(t, a, "claim", first, "")
	h.ok(t, a, "complete", first, "")
	second := h.ok(t, a, "ring", "", "bot").id
	h.ok(t, a, "claim", second, "")
	h.ok(t, a, "complete", second, "")
	if n, left := folds(t, s, time.Now().Add(time.Hour)); n != 2 || left != 0 {
		t.Fatalf("%d operations were folded, %d messages are left; want 2 and none", n, left)
	}
	b.each((*proxy).heal)
	b.online(t)
	b.sees(t, first, 3)
	b.sees(t, second, 3)
	h.ok(t, b, "ring", "", "bot")
	h.check(t, []*seat{a, b})
}

// A message that arrives before its operation's snapshot waits for it, and one that follows nothing holds up no other.
func TestAMessageBeforeItsSnapshot(t *testing.T) {
	t.Parallel()
	a, b, s := pair(t)
	h := &history{start: time.Now()}
	id := h.ok(t, a, "ring", "", "bot").id
	h.ok(t, a, "claim", id, "")
	h.ok(t, a, "complete", id, "")
	if n, _ := folds(t, s, time.Now().Add(time.Hour)); n != 1 {
		t.Fatalf("%d operations were folded", n)
	}
	a.restart(t)
	a.online(t) // it has the snapshot
	a.noteRead(t, a.sees(t, id, 3))
	send(t, s, team.Subject("op_none", a.name, team.ByAgent), `{"format": 1, "before": 7, "events": [{"type": "commented", "text": "follows nothing"}]}`)
	last := h.ok(t, a, "ring", "", "bot").id

	b.each((*proxy).cut)
	b.wipe(t)
	b.open(t)
	if err := b.store.Folded(t.Context(), nil, 1<<40); err != nil { // so that no snapshot comes by itself
		t.Fatal(err)
	}
	b.each((*proxy).heal)
	b.online(t)
	b.sees(t, last, 1)
	b.sees(t, id, 4)
	h.check(t, []*seat{a, b})
}

// What a desk deleted does not come back with a snapshot.
func TestWhatWasDeletedHereStaysDeleted(t *testing.T) {
	t.Parallel()
	a, b, s := pair(t)
	h := &history{start: time.Now()}
	id := h.ok(t, a, "ring", "", "bot").id
	h.ok(t, a, "claim", id, "")
	h.ok(t, a, "complete", id, "")
	b.sees(t, id, 3)
	head, err := b.store.Head(t.Context())
	if err == nil {
		err = b.store.Outbox().Post(t.Context(), head, id, nil, time.Now()) // it was read for the log of finished requests
	}
	if err == nil {
		err = b.store.DeleteRequests(t.Context(), human.Actor{Role: human.Operator, Name: b.member}, []human.OperationID{id}, time.Now())
	}
	if err != nil {
		t.Fatal(err)
	}
	deleted, err := b.store.Operation(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := folds(t, s, time.Now().Add(time.Hour)); n != 1 {
		t.Fatalf("%d operations were folded", n)
	}
	b.restart(t)
	b.online(t)
	b.sees(t, h.ok(t, a, "ring", "", "bot").id, 1) // the snapshot is here by now
	if is, err := b.store.Operation(t.Context(), id); err != nil || !reflect.DeepEqual(is, deleted) {
		t.Errorf("what was deleted is %+v, and was %+v; %v", is, deleted, err)
	}
}
