//go:build unix

package team_test

import (
	"database/sql"
	"log/slog"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/queue/journaltest"
	"deskbell/backend/store/sqlite"
	"deskbell/backend/store/team"
)

func (s *seat) check(tb testing.TB) human.TeamCheck {
	tb.Helper()
	c, err := s.j.Check(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// What a desk had before it joined is on every desk of the team, with the same counts and the same hash; and the check sees one changed
// letter, and an operation that has another id.
func TestWhatADeskBringsIsOnAllDesks(t *testing.T) {
	t.Parallel()
	const many = 1000
	s, port := one(t, filepath.Join(t.TempDir(), "nats"), server.RANDOM_PORT)
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	// Before it joins, it has a queue of its own, and its operator another name.
	a := &seat{name: team.Desk("Ann", 1), member: "ann", dir: filepath.Join(t.TempDir(), "data")}
	var err error
	if a.store, err = sqlite.Open(t.Context(), a.dir, sqlite.Options{Key: journaltest.Key}); err != nil {
		t.Fatal(err)
	}
	a.q = queue.New(a.store, a.store, queue.Options{Now: time.Now, MaxPending: 1 << 20, Log: slog.New(slog.DiscardHandler)})
	h := &history{start: time.Now()}
	events := 0
	for i := range many {
		id := h.ok(t, a, "ring", "", "bot").id
		events++
		for _, command := range [][]string{nil, {"claim"}, {"complete"}, {"claim", "ask"}}[i%4] {
			h.ok(t, a, command, id, "")
			events++
		}
	}
	if err := a.store.Close(); err != nil {
		t.Fatal(err)
	}
	a.member = "Ann"
	a.proxies = append(a.proxies, newProxy(t, port))
	a.open(t)
	t.Cleanup(func() { a.close(t) })
	a.online(t)
	b := newSeat(t, "Ben", 0, port).online(t)
	b.sees(t, h.rung[many-1], 3)
	mine, theirs := a.check(t), b.check(t)
	if !mine.Same || !theirs.Same || mine.Here != theirs.Here || mine.Here != mine.Team || mine.Here.Operations != many || mine.Here.Events != events {
		t.Fatalf("of %d events, Ann has %+v, Ben %+v", events, mine, theirs)
	}
	if claim := b.sees(t, h.rung[1], 2); claim.ClaimedBy != "ann@Ann" {
		t.Errorf("Ben sees it claimed by %q", claim.ClaimedBy)
	}
	b.each((*proxy).cut)
	b.offline(t)
	if _, err := b.j.Check(t.Context()); human.KindOf(err) != human.Unavailable {
		t.Errorf("compared without a connection: %v", err)
	}
	b.each((*proxy).heal)
	b.online(t)

	// A part of it is in snapshots.
	if n, _ := folds(t, s, time.Now().Add(time.Hour)); n != many/4 {
		t.Errorf("%d operations are folded", n)
	}
	if again := b.check(t); !reflect.DeepEqual(again, theirs) {
		t.Errorf("once some are folded, Ben has %+v", again)
	}

	changed, gone := h.rung[1], h.rung[2]
	b.stop()
	b.ended.Wait()
	if err := b.store.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(b.dir, "deskbell.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`UPDATE journal SET payload = replace(payload, 'ann@Ann', 'eve@Ann') WHERE version = 2 AND operation_id = '` + string(changed) + `'`,
		`UPDATE journal SET operation_id = 'op_other' WHERE operation_id = '` + string(gone) + `'`,
	} {
		done, err := db.Exec(statement)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := done.RowsAffected(); n == 0 || err != nil {
			t.Fatal(statement, n, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	b.open(t)
	b.online(t)
	if c := b.check(t); c.Same || !slices.Equal(c.Different, []human.OperationID{changed}) || !slices.Equal(c.Missing, []human.OperationID{gone}) || !slices.Equal(c.OnlyHere, []human.OperationID{"op_other"}) {
		t.Errorf("of %s changed and %s renamed it says %+v", changed, gone, c)
	}
}
