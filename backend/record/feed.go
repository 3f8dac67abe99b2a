package record

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"deskbell/backend/human"
)

// A feed is a source in a running recording.
type feed struct {
	asked
	said    human.SourceState // before it began
	first   chan error        // how its first attempt to begin went
	again   chan struct{}     // of a browser that is closed: it is to be opened
	emitted atomic.Uint64     // events it delivered
	dropped atomic.Uint64     // of these, those the queue had no room for
	seen    atomic.Uint64     // events at its origin, as its runs said that have ended

	// Owned by the recording's loop.
	state    human.SourceState
	up       bool
	made     uint64 // events in its name that the recorder made: elements looked up, pictures
	leftOut  uint64 // events left out on purpose: excluded, paused
	reported uint64 // of dropped, those that a gap counts
}

func newFeed(a asked, state human.SourceState) *feed {
	return &feed{asked: a, said: state, state: state, first: make(chan error, 1), again: make(chan struct{}, 1)}
}

// begins waits until the source listens, or is known not to.
func (f *feed) begins(ctx context.Context) error {
	select {
	case err := <-f.first:
		return err
	default:
	}
	select {
	case err := <-f.first:
		return err
	case <-ctx.Done():
		return human.Errorf(human.Unavailable, "the %s source did not start in time", f.name)
	}
}

// report says how the attempt to begin went; only the first word of it counts.
func (f *feed) report(err error) {
	select {
	case f.first <- err:
	default:
	}
}

// missing says whether nothing is to be had of the source.
func (f *feed) missing() bool { return f.state.Status == "missing" }

// absent says whether the source does not run in this recording.
func (f *feed) absent() bool { return f.missing() || f.state.Status == "off" }

// count sets what the source's state says of its events, of which the store has so many, and returns whether all of
// them are accounted for.
func (f *feed) count(stored uint64) bool {
	if f.absent() {
		return !f.missing()
	}
	f.state.Stored = stored
	f.state.Seen = max(f.seen.Load(), f.emitted.Load()) + f.made
	if has := stored + f.leftOut; f.state.Seen > has {
		f.state.Lost = f.state.Seen - has
		f.state.Status, f.state.Code = "partial", cmp.Or(f.state.Code, "lost")
		f.state.Detail = cmp.Or(f.state.Detail, fmt.Sprintf("%d of its %d events are not stored.", f.state.Lost, f.state.Seen))
	}
	return f.state.Status == "complete"
}

// feeds are the sources of a recording, in the order they are shown.
type feeds []*feed

func (all feeds) named(name human.SourceName) *feed {
	for _, f := range all {
		if f.name == name {
			return f
		}
	}
	return nil
}

func (all feeds) without(f *feed) feeds {
	return slices.DeleteFunc(all, func(one *feed) bool { return one == f })
}

func (all feeds) states() []human.SourceState {
	states := make([]human.SourceState, 0, len(all))
	for _, f := range all {
		states = append(states, f.state)
	}
	return states
}
