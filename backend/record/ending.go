package record

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"deskbell/backend/human"
)

// stop begins to end the recording.
func (s *session) stop(reason string) {
	if s.stopping {
		return
	}
	s.stopping, s.rec.Reason = true, reason
	s.deadline = s.now() + int64(stopTime)
	if s.web.browser != nil {
		s.deadline += int64(closeTime)
	}
	s.closeRun(byOther)
	if s.rec.State == human.RecordingRuns {
		for _, w := range s.wishes {
			w.before = never
			s.shoot(w)
		}
		s.shoot(wish{when: "end", before: never})
	}
	clear(s.wishes)
	s.deafen()
	go func() {
		s.hearers.Wait()
		s.post(func() { s.silent = true })
	}()
}

// done says whether nothing is under way any more, or nothing is waited for any more.
func (s *session) done() bool {
	if !s.stopping {
		return false
	}
	if s.silent && len(s.queue) == 0 {
		if s.discard || s.failure != nil {
			return true
		}
		if len(s.runs)+s.shooting+len(s.held)+s.filming+s.lookups == 0 {
			return true
		}
	}
	return s.now() >= s.deadline
}

// end stores the last of the recording and gives account of it. What is still under way did not end in time.
func (s *session) end() {
	close(s.left)
	s.wake()
	s.ending = true
	under := len(s.runs) + s.shooting + len(s.held) + s.filming + s.lookups
	if (under > 0 || !s.silent) && !s.discard && s.failure == nil {
		s.log.Warn("a recording was ended before all of it was done", "recording", s.id, "sources_ended", s.silent,
			"runs", len(s.runs), "pictures", s.shooting+len(s.held)+s.filming, "lookups", s.lookups)
	}
	for _, r := range s.runs {
		r.hide("unknown_field")
		s.tellRun(r)
	}
	s.runs = nil
	for _, x := range s.held {
		s.camera.release(x.shot)
	}
	s.held = nil
	s.finish()
	s.workers.Wait()
	s.wake()
	if s.writing {
		s.writing = false
		if err := <-s.written; err != nil {
			s.fail(err)
		} else {
			s.stored = s.flushed
		}
	}
	wall, _ := s.deps.Clock()
	wall = wall.UTC()
	s.rec.EndedAt = &wall
	if s.discard {
		s.rec.State = Discarded
	} else {
		s.account()
	}
	s.publish()
	s.gone(s)
	close(s.over)
}

// account closes what is open, stores the last events, and says what the sources counted and the store has.
func (s *session) account() {
	if s.rec.State == human.RecordingPaused {
		s.goOn()
	}
	for _, g := range slices.SortedFunc(maps.Values(s.gaps), func(a, b *human.Gap) int { return cmp.Compare(a.From, b.From) }) {
		s.closeGap(g.Reason, g.Source)
	}
	s.store(human.RecordedEvent{At: s.now(), Source: human.RecorderSource, Type: human.RecordingEnded, Text: s.rec.Reason})
	s.rec.State, s.rec.NearLimit = human.RecordingStopped, false
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	if s.failure == nil {
		if err := s.deps.Store.Append(ctx, s.header(), s.pending); err != nil {
			s.fail(err)
		} else {
			s.stored = s.seq
		}
	}
	counts, err := s.deps.Store.CountEvents(ctx, s.id)
	if err != nil {
		s.log.Error("the events of a recording could not be counted", "recording", s.id, "err", err)
		counts = nil
	}
	s.seq = s.stored
	s.reconcile(counts)
	for range 3 {
		if err = s.deps.Store.Append(ctx, s.header(), nil); err == nil {
			return
		}
	}
	s.fail(err)
}

// reconcile compares what the sources counted with what the store has, nil where that is not known.
func (s *session) reconcile(stored map[human.SourceName]uint64) {
	complete := s.silent && stored != nil && s.failure == nil
	s.rec.Counts.Lost = 0
	for _, f := range s.feeds {
		if f.state.Status == "off" || f.state.Status == "missing" {
			complete = complete && f.state.Status == "off"
			continue
		}
		f.state.Stored = stored[f.name]
		f.state.Seen = max(f.seen.Load(), f.emitted.Load()) + f.made
		if has := f.state.Stored + f.leftOut; f.state.Seen > has {
			f.state.Lost = f.state.Seen - has
			f.state.Status, f.state.Code = "partial", cmp.Or(f.state.Code, "lost")
			f.state.Detail = cmp.Or(f.state.Detail, fmt.Sprintf("%d of its %d events are not stored.", f.state.Lost, f.state.Seen))
		}
		s.rec.Counts.Lost += f.state.Lost
		complete = complete && f.state.Status == "complete"
	}
	for _, g := range s.rec.Gaps {
		complete = complete && (g.Reason == "paused" || g.Reason == "excluded") // on purpose
	}
	s.rec.Complete = complete
}
