package sqlite

import (
	"slices"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/queue/replica"
)

// What a desk has of a team that it left stays as it is, also in a projection that is made again and after a repair; another team neither changes it nor gets
// it. In the same team everything is as before.
func TestLeftTeams(t *testing.T) {
	h := newHistory(t, Options{})
	ctx := t.Context()
	stand := func(identity, desk string, want bool) {
		t.Helper()
		if left, err := h.Stand(ctx, identity, desk, time.Now()); err != nil || left != want {
			t.Fatalf("Stand(%q): %v, %v", identity, left, err)
		}
	}
	theirs := func(place uint64, id human.OperationID, before uint64, e human.Event) replica.Result {
		t.Helper()
		e.At, e.Desk = epoch, "Ben=1"
		results, err := h.Deliver(ctx, []replica.Message{{Place: place, Stamp: int64(place), ID: id, Before: before, Events: []human.Event{e}}}, place)
		if err != nil {
			t.Fatal(err)
		}
		return results[0]
	}
	at := func(id human.OperationID) replica.Standing {
		t.Helper()
		s, err := h.Standing(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	shared := func(want ...human.OperationID) {
		t.Helper()
		if _, err := h.Share(ctx); err != nil {
			t.Fatal(err)
		}
		if ids, err := h.Waiting(ctx, 10); err != nil || !slices.Equal(ids, want) {
			t.Errorf("waiting are %v, %v", ids, err)
		}
	}
	own := func(left bool, want ...human.OperationID) {
		t.Helper()
		if ids, err := h.OwnInTeam(ctx, left); err != nil || !slices.Equal(ids, want) {
			t.Errorf("open in the team, left: %v, are %v, %v", left, ids, err)
		}
	}
	stand("", "", false)
	stand("blue", "Ann=1", false)
	h.add("op_mine", ring("mine"))
	if r := theirs(1, "op_theirs", 0, ring("theirs")); r.Refused != nil {
		t.Fatal(r.Refused)
	}
	h.add("op_none", human.Event{Type: human.Invoked, By: bot, Desk: "Ben=1", Request: ring("of a team that is not known any more").Request})
	shared("op_mine")
	if err := h.Sent(ctx, "op_mine", 1, 2); err != nil {
		t.Fatal(err)
	}
	own(false, "op_mine")
	shared()

	stand("", "", true)
	own(true, "op_mine")
	kept := func() {
		t.Helper()
		h.wantIDs(queue.Filter{Open: true}, "op_none", "op_mine")
		h.wantIDs(queue.Filter{}, "op_none", "op_theirs", "op_mine")
		if s := at("op_theirs"); !s.Elsewhere || !s.Kept() {
			t.Errorf("it stands as %+v", s)
		}
	}
	kept()
	if err := h.Rebuild(ctx); err != nil {
		t.Fatal(err)
	}
	kept()
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := RepairDatabase(ctx, h.dir, time.Now(), true); err != nil {
		t.Fatal(err)
	}
	h.open(Options{})
	kept()

	stand("red", "Ann=1", true)
	if r := theirs(1, "op_theirs", 1, done("forged")); r.Refused == nil || r.Gap || at("op_theirs").Version != 1 {
		t.Errorf("another team changes it: %+v", r)
	}
	shared()
	kept()
	if place, _, err := h.Place(ctx); place != 1 || err != nil {
		t.Errorf("of the other team, %d is here, %v", place, err)
	}
	stand("blue", "Ann=2", true)
	if place, _, err := h.Place(ctx); place != 1 || err != nil {
		t.Errorf("of the first team, %d is here, %v", place, err)
	}
	h.wantIDs(queue.Filter{Open: true}, "op_none", "op_theirs", "op_mine")
	if s := at("op_mine"); s.Elsewhere || !s.Earlier || s.Shared != 1 {
		t.Errorf("it stands as %+v", s)
	}
	if r := theirs(2, "op_theirs", 1, done("by the team")); r.Refused != nil {
		t.Error(r.Refused)
	}
}
