package record

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
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
	state.Programs = nil // those that were there before it began
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

// looked counts a press that was looked up in a program.
func (f *feed) looked(in human.App, seen bool) {
	name := cmp.Or(in.Name, in.Exe)
	if name == "" {
		return
	}
	i := slices.IndexFunc(f.state.Programs, func(p human.ProgramElements) bool { return p.Name == name })
	if i < 0 {
		i = len(f.state.Programs)
		f.state.Programs = append(f.state.Programs, human.ProgramElements{Name: name})
	}
	p := &f.state.Programs[i]
	p.Presses++
	if seen {
		p.Seen++
	}
}

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
		state := f.state
		state.Programs = slices.Clone(state.Programs)
		state.Detail = cmp.Or(state.Detail, silent(state.Programs))
		states = append(states, state)
	}
	return states
}

// silent names the programs that gave no elements, "" where each gave some.
func silent(all []human.ProgramElements) string {
	var names []string
	for _, p := range all {
		if p.Seen == 0 {
			names = append(names, fmt.Sprintf("%s (presses: %d)", p.Name, p.Presses))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "0 elements seen in " + strings.Join(names, ", ") + ": only the places of presses are known there."
}
