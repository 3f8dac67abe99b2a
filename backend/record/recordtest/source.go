// Package recordtest holds what every adapter of the recorder's interfaces must pass.
package recordtest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// patience is how long something may take on a busy machine.
const patience = 20 * time.Second

// A SourceRig is a source with the real thing it listens to.
type SourceRig struct {
	Source record.Source
	// Name is the source its Check and its events are of.
	Name  human.SourceName
	Clock record.Clock
	// Provoke makes things happen at the origin and returns events that Run must deliver for them, in this
	// order, others between them allowed. Fields that are zero may have any value. It is called again and
	// again, also while Run does not run.
	Provoke func(testing.TB) []human.RecordedEvent
	// Unordered says that the events may come in any order: for sources with several devices.
	Unordered bool
	// Early is by how much an event's time may lie before it was provoked: the grain of the origin's clock.
	Early time.Duration
	// Starts is how many starts and stops are made in a row; 20 when 0.
	Starts int
}

// Source runs the conformance suite. newRig is called once for each test; what it starts, it ends with
// tb.Cleanup.
func Source(t *testing.T, newRig func(tb testing.TB) SourceRig) {
	t.Run("Check names the source and is quick about a context that has ended", func(t *testing.T) {
		rig := newRig(t)
		state := rig.Source.Check(t.Context())
		if state.Source != rig.Name {
			t.Errorf("Check speaks of source %q, want %q", state.Source, rig.Name)
		}
		if state.Status != "complete" && state.Status != "partial" {
			t.Errorf("Check says %+v where the source works", state)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		within(t, "Check with an ended context", func() { rig.Source.Check(ended) })
	})
	t.Run("what happens from ready on is delivered in order, stamped and counted", func(t *testing.T) {
		rig := newRig(t)
		defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
		for round := range 3 { // it may be run again
			r := start(t, rig)
			r.ready(t)
			_, from := rig.Clock()
			want := rig.Provoke(t)
			if len(want) == 0 {
				t.Fatal("the rig provokes nothing: this test could not fail")
			}
			got := r.await(t, want)
			_, to := rig.Clock()
			for i, e := range got {
				if e.At < from-int64(rig.Early) || e.At > to {
					t.Errorf("round %d: event %d (%s) is stamped %v from its provocation, which took %v", round, i, e.Type,
						time.Duration(e.At-from), time.Duration(to-from))
				}
			}
			r.stop(t)
			rig.Provoke(t) // of this nothing may come, neither late nor into the next round
		}
	})
	t.Run("it stops whenever it should", func(t *testing.T) {
		rig := newRig(t)
		defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
		starts := rig.Starts
		if starts == 0 {
			starts = 20
		}
		for i := range starts {
			r := start(t, rig)
			if i%4 != 0 { // every fourth is stopped before it is ready
				r.ready(t)
			}
			if i%4 == 2 {
				rig.Provoke(t)
			}
			r.stop(t)
		}
	})
	t.Run("a context that has ended before", func(t *testing.T) {
		rig := newRig(t)
		defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		within(t, "Run with an ended context", func() {
			var emitted atomic.Uint64
			seen, err := rig.Source.Run(ended, func() {}, func(human.RecordedEvent) { emitted.Add(1) })
			if err != nil || seen != emitted.Load() {
				t.Errorf("Run = %d, %v; emitted %d", seen, err, emitted.Load())
			}
		})
	})
}

// A run is one call of Source.Run.
type run struct {
	rig     SourceRig
	cancel  context.CancelFunc
	isReady chan struct{}
	done    chan struct{}
	changed chan struct{} // a signal: there is more in events

	mu       sync.Mutex
	events   []human.RecordedEvent
	wrong    []string
	returned bool
	seen     uint64
	err      error
}

func start(t *testing.T, rig SourceRig) *run {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	r := &run{rig: rig, cancel: cancel, isReady: make(chan struct{}), done: make(chan struct{}), changed: make(chan struct{}, 1)}
	var readies atomic.Int32
	go func() {
		defer close(r.done)
		seen, err := rig.Source.Run(ctx, func() {
			if readies.Add(1) == 1 {
				close(r.isReady)
			} else {
				r.complain("ready was called a second time")
			}
		}, r.emit)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.returned, r.seen, r.err = true, seen, err
	}()
	t.Cleanup(func() { cancel(); <-r.done })
	return r
}

func (r *run) complain(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wrong = append(r.wrong, fmt.Sprintf(format, args...))
}

func (r *run) emit(e human.RecordedEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.returned {
		r.wrong = append(r.wrong, fmt.Sprintf("emitted after Run had returned: %+v", e))
	}
	if e.Source != r.rig.Name {
		r.wrong = append(r.wrong, fmt.Sprintf("an event of source %q: %+v", e.Source, e))
	}
	if e.Seq != 0 {
		r.wrong = append(r.wrong, fmt.Sprintf("Seq is the recorder's to give: %+v", e))
	}
	r.events = append(r.events, e)
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

func (r *run) ready(t *testing.T) {
	t.Helper()
	select {
	case <-r.isReady:
	case <-r.done:
		t.Fatalf("Run returned before it was ready: %v", r.err)
	case <-time.After(patience):
		t.Fatal("the source does not get ready")
	}
}

// await returns the events that fit the wanted ones, in that order.
func (r *run) await(t *testing.T, want []human.RecordedEvent) []human.RecordedEvent {
	t.Helper()
	deadline := time.After(patience)
	for {
		r.mu.Lock()
		events := slices.Clone(r.events)
		r.mu.Unlock()
		got := pick(events, want, r.rig.Unordered)
		if len(got) == len(want) {
			return got
		}
		select {
		case <-r.changed:
		case <-r.done:
			t.Fatalf("the source ended: %v", r.err)
		case <-deadline:
			t.Fatalf("event %d of those wanted did not come: %+v\nwhat came: %+v", len(got), want[len(got)], events)
		}
	}
}

// stop ends it and looks at what it says of itself.
func (r *run) stop(t *testing.T) {
	t.Helper()
	r.cancel()
	select {
	case <-r.done:
	case <-time.After(patience):
		t.Fatal("Run does not return when its context has ended")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		t.Errorf("Run: %v", r.err)
	}
	if r.seen != uint64(len(r.events)) {
		t.Errorf("Run says it saw %d events, and emitted %d", r.seen, len(r.events))
	}
	for _, w := range r.wrong {
		t.Error(w)
	}
}

// pick returns events that fit the wanted ones, as far as it gets.
func pick(events, want []human.RecordedEvent, unordered bool) []human.RecordedEvent {
	var got []human.RecordedEvent
	for _, w := range want {
		i := slices.IndexFunc(events, func(e human.RecordedEvent) bool { return Fits(e, w) })
		if i < 0 {
			return got
		}
		got = append(got, events[i])
		if unordered {
			events = slices.Delete(slices.Clone(events), i, i+1)
		} else {
			events = events[i+1:]
		}
	}
	return got
}

func within(t *testing.T, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("%s does not return", what)
	}
}
