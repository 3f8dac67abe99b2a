package queue_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/store/sqlite"
)

// A step is one command of one client on one of the operations created so far.
type step struct {
	Client  int // 0, 1: agents; 2, 3: operators
	Command string
	Target  int
}

var clients = []human.Actor{bot, other, mei, tom}

var commands = map[human.Role][]string{
	human.Agent:    {"ring", "ring with a key", "reply", "cancel", "delivered", "complete", "claim", "record"},
	human.Operator: {"claim", "release", "start", "draft", "ask", "complete", "complete", "hold", "hold", "undo", "decline", "hold decline", "snooze", "seen", "cancel", "record", "record", "drop", "give"},
}

func steps(client int) *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		return step{client, rapid.SampledFrom(commands[clients[client].Role]).Draw(t, "command"), rapid.IntRange(0, 1<<20).Draw(t, "target")}
	})
}

// A ledger is what the clients were told: it must be exactly what the journal says afterwards.
type ledger struct {
	mu      sync.Mutex
	rung    []human.OperationID
	ended   map[human.OperationID][]string // who was told to have ended it
	held    map[human.OperationID][]string // whose answers, or reasons to decline, were held
	undone  map[human.OperationID]int
	begun   []recorded
	dropped map[human.RecordingID]bool
	tried   int // recordings, so that each has an id of its own
}

// A recorded is a recording that an operator was told to have begun, and of what.
type recorded struct {
	of human.OperationID
	id human.RecordingID
}

func (l *ledger) pick(target int) human.OperationID {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.rung) == 0 {
		return "op_none"
	}
	return l.rung[target%len(l.rung)]
}

// recording names a new one.
func (l *ledger) recording() human.RecordingID {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tried++
	return human.RecordingID(fmt.Sprint(human.RecordingPrefix, l.tried))
}

func (l *ledger) pickRecorded(target int) recorded {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.begun) == 0 {
		return recorded{"op_none", human.RecordingPrefix}
	}
	return l.begun[target%len(l.begun)]
}

func (l *ledger) noteRecorded(of human.OperationID, id human.RecordingID, dropped bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if dropped {
		l.dropped[id] = true
	} else {
		l.begun = append(l.begun, recorded{of, id})
	}
}

func (l *ledger) noteHeld(id human.OperationID, by string, undone int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if by != "" {
		l.held[id] = append(l.held[id], by)
	}
	l.undone[id] += undone
}

func (l *ledger) note(who human.Actor, op human.Operation, created, ended bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if created {
		l.rung = append(l.rung, op.ID)
	}
	if ended {
		l.ended[op.ID] = append(l.ended[op.ID], who.Name)
	}
}

// do carries one step out and notes what the client was told.
func (l *ledger) do(ctx context.Context, q *queue.Queue, s step) error {
	who, id := clients[s.Client], l.pick(s.Target)
	var op human.Operation
	var err error
	created, ended := false, false
	switch s.Command {
	case "ring", "ring with a key":
		r := request(who, fmt.Sprint("request ", s.Target%3))
		if s.Command == "ring with a key" {
			r.IdempotencyKey = fmt.Sprint("key ", s.Target%3)
		}
		op, created, err = q.Ring(ctx, r, false)
	case "reply", "ask":
		op, err = q.Reply(ctx, who, id, "text")
	case "cancel":
		op, err = q.Cancel(ctx, who, id, "no longer")
		ended = err == nil
	case "delivered":
		err = q.MarkDelivered(ctx, who, id)
	case "claim":
		op, err = q.Claim(ctx, who, id)
	case "release":
		op, err = q.Release(ctx, who, id, "")
	case "start":
		op, err = q.Start(ctx, who, id)
	case "draft":
		op, err = q.SaveInput(ctx, who, id, &human.Answer{HumanInput: "half"})
	case "complete":
		op, err = q.Complete(ctx, who, id, human.Answer{HumanInput: "by " + who.Name}, "")
		ended = err == nil
	case "hold":
		if op, err = q.Hold(ctx, who, id, human.Answer{HumanInput: "by " + who.Name}, ""); err == nil {
			l.noteHeld(id, who.Name, 0)
		}
	case "hold decline":
		if op, err = q.HoldDecline(ctx, who, id, "by "+who.Name); err == nil {
			l.noteHeld(id, who.Name, 0)
		}
	case "undo":
		if op, err = q.Undo(ctx, who, id); err == nil {
			l.noteHeld(id, "", 1)
		}
	case "record":
		r := l.recording()
		if op, err = q.RecordingBegan(ctx, who, id, r); err == nil {
			l.noteRecorded(id, r, false)
		}
	case "drop":
		r := l.pickRecorded(s.Target)
		if err = q.RecordingDropped(ctx, who, r.of, r.id); err == nil {
			l.noteRecorded(r.of, r.id, true)
		}
	case "give":
		op, err = q.Complete(ctx, who, id, human.Answer{Attachments: []string{string(l.pickRecorded(s.Target / 2).id)}}, "")
		ended = err == nil
		if human.KindOf(err) == human.Invalid {
			return nil // another's, or dropped
		}
	case "decline":
		op, err = q.Decline(ctx, who, id, "because")
		ended = err == nil
	case "snooze":
		op, err = q.Snooze(ctx, who, id, nil)
	case "seen":
		op, err = q.Seen(ctx, who, id, "card")
	}
	if err != nil {
		switch human.KindOf(err) {
		case human.Conflict, human.NotFound, human.Denied:
			return nil // an error changes nothing, which check proves
		}
		return fmt.Errorf("%+v: %w", s, err)
	}
	l.note(who, op, created, ended)
	return nil
}

// check holds the journal against what the clients were told.
func (l *ledger) check(t *rapid.T, store *sqlite.Store) {
	ctx := context.Background()
	histories := map[human.OperationID][]human.Entry{}
	next := uint64(1)
	for e, err := range store.Read(ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Seq != next {
			t.Fatalf("seq %d where %d should be", e.Seq, next)
		}
		next++
		histories[e.ID] = append(histories[e.ID], e)
	}
	got, want := slices.Sorted(maps.Keys(histories)), slices.Sorted(slices.Values(l.rung))
	if !slices.Equal(got, want) {
		t.Fatalf("the journal has %v, acknowledged were %v", got, want)
	}
	for id, entries := range histories {
		op, err := human.Fold(id, entries)
		if err != nil {
			t.Fatal(err) // a gap in versions, or an event the life cycle forbids
		}
		ends, held, undone := 0, 0, 0
		var leaves *human.Event
		for i, e := range entries {
			switch e.Event.Type {
			case human.Finished, human.Withdrawn, human.TurnedDown:
				ends++
			case human.Held:
				held, leaves = held+1, &entries[i].Event
			case human.Undone:
				undone, leaves = undone+1, nil
			}
			if leaves != nil && (e.Event.Type == human.Finished || e.Event.Type == human.TurnedDown) && !left(*leaves, e.Event) {
				t.Fatalf("%s held %q of %s and got %q of %s", id, leaves.Text, leaves.By.Name, e.Event.Text, e.Event.By.Name)
			}
			if e.Event.Type != human.Finished {
				continue
			}
			before, err := human.Fold(id, entries[:i])
			if err != nil {
				t.Fatal(err)
			}
			for _, given := range e.Event.Answer.Attachments {
				if !slices.Contains(before.Recordings, human.RecordingID(given)) {
					t.Fatalf("%s was answered with %s, and had %v", id, given, before.Recordings)
				}
			}
		}
		var recordings []human.RecordingID
		for _, r := range l.begun {
			if r.of == id && !l.dropped[r.id] {
				recordings = append(recordings, r.id)
			}
		}
		slices.Sort(recordings)
		if has := slices.Sorted(slices.Values(op.Recordings)); !slices.Equal(has, recordings) {
			t.Fatalf("%s has the recordings %v, acknowledged were %v", id, has, recordings)
		}
		if op.Leaving != nil {
			t.Fatalf("%s still holds an answer", id)
		}
		if held != len(l.held[id]) || undone != l.undone[id] {
			t.Fatalf("%s was held %d times and undone %d times, acknowledged were %d and %d", id, held, undone, len(l.held[id]), l.undone[id])
		}
		told := l.ended[id]
		if leaves != nil && op.State != human.Cancelled { // the queue sent it
			told = append(slices.Clone(told), leaves.By.Name)
		}
		if ends != len(told) || ends > 1 || op.State.Terminal() != (ends == 1) || leaves != nil && !op.State.Terminal() {
			t.Fatalf("%s ended %d times, %v were told that they ended it, it is %s", id, ends, told, op.State)
		}
		if op.Result != nil && (op.Result.By.Role != human.Operator || op.Result.By.Name != told[0]) {
			t.Fatalf("%s was answered by %+v, %v was told so", id, op.Result.By, told)
		}
	}
}

// left says whether an end is what was held.
func left(held, end human.Event) bool {
	if held.Answer == nil || end.Answer == nil {
		return held.By == end.By && held.Answer == nil && end.Answer == nil && held.Text == end.Text
	}
	return held.By == end.By && held.Answer.HumanInput == end.Answer.HumanInput
}

// Any sequence of commands from several clients at once, and a crash or an orderly end after it: no operation or recording is
// lost, none is answered twice or with a recording of another, none with an answer that was undone or other than the one that was
// held, no agent answers, and versions have no gaps.
func TestAnyCommandsFromSeveralClients(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ctx := context.Background()
		store, err := sqlite.Open(ctx, t.TempDir(), sqlite.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		defer func() {
			if err := store.Close(); err != nil {
				rt.Error(err)
			}
		}()
		q := queue.New(store, store, queue.Options{MaxPending: 1000})
		l := &ledger{ended: map[human.OperationID][]string{}, dropped: map[human.RecordingID]bool{}, held: map[human.OperationID][]string{}, undone: map[human.OperationID]int{}}
		plans := make([][]step, len(clients))
		for i := range clients {
			plans[i] = rapid.SliceOfN(steps(i), 0, 25).Draw(rt, clients[i].Name)
		}
		if err := l.do(ctx, q, step{0, "ring", 0}); err != nil {
			rt.Fatal(err)
		}
		failed := make(chan error, len(plans))
		var wg sync.WaitGroup
		for _, plan := range plans {
			wg.Go(func() {
				for _, s := range plan {
					if err := l.do(ctx, q, s); err != nil {
						failed <- err
						return
					}
				}
			})
		}
		wg.Wait()
		close(failed)
		for err := range failed {
			rt.Fatal(err)
		}
		if rapid.Bool().Draw(rt, "crash") {
			q = queue.New(store, store, queue.Options{MaxPending: 1000})
			if err := q.Load(ctx); err != nil {
				rt.Fatal(err)
			}
		}
		ended, end := context.WithCancel(ctx)
		end()
		if err := q.Run(ended); err != nil {
			rt.Fatal(err)
		}
		l.check(rt, store)
	})
}
