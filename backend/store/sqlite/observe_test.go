package sqlite

import (
	"context"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue/observe"
)

func TestOpenOperationsThatAreAlike(t *testing.T) {
	h := newHistory(t, Options{})
	risky := details(`{"risk_level":"critical"}`)
	h.add("op_1", ring("one"))
	h.add("op_2", ring(`two "seen":"2026-11-29T00:00:00Z"`))
	h.add("op_3", ring("three", risky))
	h.add("op_4", ring("four", risky), human.Event{Type: human.Shown, By: ann, Channel: "card"}, human.Event{Type: human.Seen, By: ann, Channel: "card"})
	h.add("op_5", ring("five", risky), human.Event{Type: human.ClaimedBy, By: ann}, human.Event{Type: human.Expired, By: human.Actor{Role: human.System}})
	h.add("op_6", ring("six"), done("x"))
	got, err := h.Alike(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(got, func(a, b observe.Alike) int { return a.Oldest.Compare(b.Oldest) })
	var oldest []time.Time
	for _, id := range []human.OperationID{"op_1", "op_3", "op_4", "op_5"} {
		entries, err := h.Operation(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		oldest = append(oldest, entries[0].Event.At.Truncate(time.Millisecond))
	}
	kind := ring("").Request.Kind
	want := []observe.Alike{
		{Kind: kind, State: human.Pending, Count: 2, Oldest: oldest[0]},
		{Kind: kind, State: human.Pending, Risk: human.CriticalRisk, Count: 1, Oldest: oldest[1]},
		{Kind: kind, State: human.Pending, Risk: human.CriticalRisk, Seen: true, Count: 1, Oldest: oldest[2]},
		{Kind: kind, State: human.Claimed, Risk: human.CriticalRisk, Overdue: true, Count: 1, Oldest: oldest[3]},
	}
	for i := range got {
		if d := got[i].Oldest.Sub(want[min(i, 3)].Oldest).Abs(); d <= time.Millisecond {
			got[i].Oldest = want[min(i, 3)].Oldest
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestReady(t *testing.T) {
	h := newHistory(t, Options{})
	if err := h.Ready(t.Context()); err != nil {
		t.Errorf("a new file is not ready: %v", err)
	}
	var before, after int64
	var err error
	if before, err = h.Bytes(); err != nil || before == 0 {
		t.Fatalf("%d bytes, %v", before, err)
	}
	h.add("op_1", ring(string(make([]byte, 100_000))))
	if after, err = h.Bytes(); err != nil || after < before+100_000 {
		t.Errorf("%d bytes after %d, %v", after, before, err)
	}
	if err := os.Remove(h.file); err != nil {
		t.Fatal(err)
	}
	wantKind(t, h.Ready(t.Context()), human.Unavailable)

	closed := newHistory(t, Options{})
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	wantKind(t, closed.Ready(context.Background()), human.Unavailable)
}
