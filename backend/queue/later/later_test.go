package later_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue/later"
	"deskbell/backend/store/sqlite"
)

var (
	ann  = human.Actor{Role: human.Operator, Name: "Ann"}
	mei  = human.Actor{Role: human.Operator, Name: "Mei"}
	noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
)

// A line is a queue that may not be reached.
type line struct {
	ops  map[human.OperationID]human.Operation
	done []human.OperationID
	err  error
}

func (q *line) Get(_ context.Context, _ human.Actor, id human.OperationID) (human.Operation, error) {
	op, is := q.ops[id]
	if !is {
		return op, human.Errorf(human.NotFound, "no operation %s", id)
	}
	return op, nil
}

func (q *line) Do(_ context.Context, l human.Later) (human.Operation, error) {
	op := q.ops[l.Operation]
	if op.State.Terminal() || op.ClaimedBy != "" {
		return op, human.Errorf(human.Conflict, "another change came first")
	}
	if q.err == nil {
		q.done = append(q.done, l.Operation)
	}
	return op, q.err
}

func list(t *testing.T) *later.List {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "later.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return later.New(later.Deps{
		Store: store, Log: slog.New(slog.DiscardHandler), Changed: func() {},
		Seal: func(text []byte) string { return fmt.Sprintf("%x", text) },
		Check: func(text []byte, seal string) error {
			if !bytes.Equal(fmt.Appendf(nil, "%x", text), []byte(seal)) {
				return human.Errorf(human.Denied, "it was not written by this Deskbell")
			}
			return nil
		},
	})
}

func (q *line) sends(t *testing.T, l *later.List, kind human.ErrorKind, left ...human.OperationID) {
	t.Helper()
	if err := l.Send(t.Context(), q); err != nil && human.KindOf(err) != kind || err == nil && kind != 0 {
		t.Errorf("Send: %v", err)
	}
	all, err := l.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var ids []human.OperationID
	for _, l := range all {
		ids = append(ids, l.Operation)
	}
	if fmt.Sprint(ids) != fmt.Sprint(left) {
		t.Errorf("there are %v, want %v", ids, left)
	}
}

// What waits is done once, in order; a decision that was done before a crash, or whose request was deleted, is not done again; what came
// too late says who was first.
func TestSend(t *testing.T) {
	t.Parallel()
	l := list(t)
	keep := func(id human.OperationID, does human.Decided) {
		t.Helper()
		if err := l.Keep(t.Context(), human.Later{Operation: id, Does: does, By: ann, At: noon, Text: "why", To: "Noor", Answer: &human.Answer{Decision: human.Refused}}); err != nil {
			t.Fatal(err)
		}
	}
	by := func(who human.Actor, at time.Time, d human.Decision) human.Operation {
		return human.Operation{State: human.Completed, Result: &human.Result{Answer: human.Answer{Decision: d}, By: who, At: at}}
	}
	q := &line{ops: map[human.OperationID]human.Operation{
		"op_a": {State: human.Pending}, "op_b": {State: human.Pending},
		"op_denied": by(ann, noon, human.Refused), "op_declined": {State: human.Declined, Ended: &human.Ending{By: ann, At: noon}},
		"op_handed": {State: human.Claimed, ClaimedBy: "Ann", TeamState: human.TeamState{HandOver: &human.HandOver{By: "Ann", To: "Noor", At: noon}}},
		"op_mei":    by(mei, noon, human.Refused), "op_before": by(ann, noon.Add(-time.Second), human.Refused), "op_approved": by(ann, noon, human.Approved),
		"op_ended": {State: human.Cancelled, Ended: &human.Ending{By: mei, At: noon}}, "op_claimed": {State: human.Claimed, ClaimedBy: "Mei"},
		"op_other": {State: human.Claimed, ClaimedBy: "Ann", TeamState: human.TeamState{HandOver: &human.HandOver{By: "Ann", To: "Sam", At: noon}}},
	}}
	keep("op_gone", human.Denies)
	keep("op_a", human.Denies)
	keep("op_b", human.Declines)
	keep("op_denied", human.Denies)
	keep("op_declined", human.Declines)
	keep("op_handed", human.HandsOver)
	q.err = human.Errorf(human.Unavailable, "offline")
	q.sends(t, l, human.Unavailable, "op_a", "op_b", "op_denied", "op_declined", "op_handed")
	q.err = nil
	q.sends(t, l, 0)
	if fmt.Sprint(q.done) != "[op_a op_b]" {
		t.Errorf("done are %v", q.done)
	}
	for _, id := range []human.OperationID{"op_mei", "op_before", "op_approved", "op_ended", "op_claimed"} {
		keep(id, human.Denies)
	}
	keep("op_other", human.HandsOver)
	q.sends(t, l, 0, "op_mei", "op_before", "op_approved", "op_ended", "op_claimed", "op_other")
	all, err := l.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"Mei answered it first", "Ann answered it first", "Ann answered it first", "Mei ended it first", "Mei has claimed it", "another change came first"} {
		if all[i].Late == nil || all[i].Late.Text != want {
			t.Errorf("%s is late for %+v, want %s", all[i].Operation, all[i].Late, want)
		}
	}
	q.ops["op_claimed"] = human.Operation{State: human.Pending} // it was late, and stays so
	q.sends(t, l, 0, "op_mei", "op_before", "op_approved", "op_ended", "op_claimed", "op_other")
	if len(q.done) != 2 {
		t.Errorf("done are %v", q.done)
	}
}
