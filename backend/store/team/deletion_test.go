//go:build unix

package team_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"deskbell/backend/human"
	"deskbell/backend/store/team"
)

// admin may do everything on a server.
func admin(t *testing.T, s *server.Server) jetstream.JetStream {
	t.Helper()
	conn, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// What is deleted for the whole team is in neither the stream nor the snapshots, no desk takes it that did not have it, and what is published after that
// goes too. Everything else stays.
func TestTheServerForgets(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	a, b, s := pair(t)
	h := &history{start: time.Now()}
	ends := func() human.OperationID {
		t.Helper()
		id := h.ok(t, a, "ring", "", "bot").id
		h.ok(t, a, "claim", id, "")
		h.ok(t, a, "complete", id, "")
		return id
	}
	keptFolded, folded := ends(), ends()
	b.sees(t, folded, 3)
	if n, left := folds(t, s, time.Now().Add(time.Hour)); n != 2 || left != 0 {
		t.Fatalf("%d operations were folded, %d messages are left", n, left)
	}
	kept, streamed := ends(), ends()
	b.sees(t, streamed, 3)
	b.each((*proxy).cut)
	b.until(t, false)
	unseen := ends()

	js := admin(t, s)
	forgets := func(want int) {
		t.Helper()
		if n, err := team.Forget(ctx, js); err != nil || n != want {
			t.Fatalf("%d were forgotten, want %d: %v", n, want, err)
		}
	}
	forgets(0)
	bucket, err := js.KeyValue(ctx, team.Deletions)
	for _, id := range []human.OperationID{folded, streamed, unseen} {
		if err == nil {
			_, err = bucket.Put(ctx, "Ann=1."+string(id), nil)
		}
	}
	if err != nil {
		t.Fatal(err)
	}

	// The server still has it; a desk that comes back does not take it.
	b.each((*proxy).heal)
	b.online(t)
	b.sees(t, h.ok(t, a, "ring", "", "bot").id, 1)
	if entries, err := b.store.Operation(ctx, unseen); err == nil && len(entries) > 0 {
		t.Errorf("the desk took %v", entries)
	}

	forgets(3)
	forgets(0)
	op := a.sees(t, folded, 3) // this desk keeps it, as it has no Options.Delete
	if _, err := a.j.Append(ctx, op.ID, op.Version, human.Event{Type: human.Delivered, By: human.Actor{Role: human.System}, At: time.Now()}); human.KindOf(err) != human.NotFound {
		t.Errorf("what was deleted is changed: %v", err)
	}
	send(t, s, team.Subject(folded, "Ben=1", team.ByAgent), "{}") // by a desk that did not know
	forgets(1)
	has := map[human.OperationID]int{}
	for stream, subject := range map[string]func(human.OperationID) string{
		team.Stream:            team.AllOf,
		"KV_" + team.Snapshots: func(id human.OperationID) string { return "$KV." + team.Snapshots + "." + string(id) },
	} {
		from, err := js.Stream(ctx, stream)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []human.OperationID{keptFolded, folded, kept, streamed, unseen} {
			if _, err := from.GetLastMsgForSubject(ctx, subject(id)); err == nil {
				has[id]++
			} else if !errors.Is(err, jetstream.ErrMsgNotFound) {
				t.Error(err)
			}
		}
	}
	if len(has) != 2 || has[keptFolded] != 1 || has[kept] != 1 {
		t.Errorf("the server has %v", has)
	}
	if err := a.j.DeleteForAll(ctx, []human.OperationID{kept}); human.KindOf(err) != human.Denied {
		t.Errorf("an operator deletes for all: %v", err)
	}
}

// A request of which a recording is being made stays on that desk until that has ended, and keeps no other one there.
func TestWhatIsRecordedIsDeletedLater(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	a, b, s := pair(t)
	h := &history{start: time.Now()}
	var ids []human.OperationID
	for range 5 {
		id := h.ok(t, a, "ring", "", "bot").id
		h.ok(t, a, "claim", id, "")
		h.ok(t, a, "complete", id, "")
		b.sees(t, id, 3)
		ids = append(ids, id)
	}
	slices.Sort(ids)
	recorded := ids[2]
	rec := human.Recording{ID: "rec_1", OperationID: recorded, By: b.member, State: human.RecordingRuns, StartedAt: time.Now()}
	head, err := b.store.Head(ctx)
	if err == nil {
		err = errors.Join(b.store.Outbox().Post(ctx, head, "", nil, time.Now()), b.store.Recordings().Create(ctx, rec))
	}
	bucket, none := admin(t, s).KeyValue(ctx, team.Deletions)
	deleted := func(ids ...human.OperationID) {
		t.Helper()
		for _, id := range ids {
			if _, err := bucket.Put(ctx, "Ann=1."+string(id), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(err, none); err != nil {
		t.Fatal(err)
	}
	deleted(ids...)
	b.deletes = func(ctx context.Context, by human.Actor, ids []human.OperationID) error {
		return b.store.DeleteRequests(ctx, by, ids, time.Now())
	}
	b.restart(t)
	here := func(want ...human.OperationID) {
		t.Helper()
		eventually(t, 30*time.Second, "the deletions", func() error {
			var left []human.OperationID
			for _, id := range ids {
				if entries, err := b.store.Operation(ctx, id); err != nil || entries[len(entries)-1].Event.Type != human.Erased {
					left = append(left, id)
				}
			}
			if !slices.Equal(left, want) {
				return fmt.Errorf("%v are here, want %v", left, want)
			}
			return nil
		})
	}
	here(recorded)
	rec.State = human.RecordingStopped
	if err := b.store.Recordings().Append(ctx, rec, nil); err != nil {
		t.Fatal(err)
	}
	deleted("op_another") // it is tried again at once
	here()
}

// What is asked, answered and deleted while a desk is offline was never the team's.
func TestWhatWaitsIsDeleted(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	a, b, s := pair(t)
	h := &history{start: time.Now()}
	b.each((*proxy).cut)
	b.until(t, false)
	id := h.ok(t, b, "ring", "", "bot").id
	h.ok(t, b, "claim", id, "")
	h.ok(t, b, "complete", id, "")
	head, err := b.store.Head(ctx)
	if err == nil {
		err = b.store.Outbox().Post(ctx, head, id, nil, time.Now()) // it was read for the log of finished requests
	}
	if err == nil {
		err = b.store.DeleteRequests(ctx, human.Actor{Role: human.Operator, Name: b.member}, []human.OperationID{id}, time.Now())
	}
	if err != nil {
		t.Fatal(err)
	}
	b.each((*proxy).heal)
	b.online(t)
	a.sees(t, h.ok(t, b, "ring", "", "bot").id, 1)
	stream, err := admin(t, s).Stream(ctx, team.Stream)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.GetLastMsgForSubject(ctx, team.AllOf(id)); !errors.Is(err, jetstream.ErrMsgNotFound) {
		t.Errorf("the team's journal has it: %v", err)
	}
	if waiting, err := b.store.Waiting(ctx, 1); err != nil || len(waiting) > 0 {
		t.Errorf("%v waits: %v", waiting, err)
	}
}
