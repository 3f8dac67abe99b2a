package record

import (
	"cmp"
	"context"
	"slices"
	"time"

	"deskbell/backend/human"
)

// durable has f called by the loop and waits until what it stored is on disk.
func (s *session) durable(ctx context.Context, f func() error) error {
	kept := make(chan struct{})
	if err := s.do(ctx, func() error {
		if err := f(); err != nil {
			return err
		}
		s.awaited = append(s.awaited, awaited{s.seq, kept})
		s.flush()
		s.settleAwaited()
		return nil
	}); err != nil {
		return err
	}
	select {
	case <-kept:
		return nil
	case <-s.over:
		if s.discard {
			return human.Errorf(human.Conflict, "recording %s has been discarded", s.id)
		}
		return s.failure
	case <-ctx.Done():
		return human.Wrap(human.Unavailable, ctx.Err(), "recording %s did not answer in time", s.id)
	}
}

// settleAwaited tells those whose events are stored.
func (s *session) settleAwaited() {
	s.awaited = slices.DeleteFunc(s.awaited, func(a awaited) bool {
		if a.seq > s.stored {
			return false
		}
		close(a.kept)
		return true
	})
}

// header is the recording as it is now, sharing no memory with the loop's.
func (s *session) header() human.Recording {
	now := s.now()
	r := s.rec
	r.Elapsed, r.Span, r.Bytes = s.elapsed(), s.span, s.size()
	r.Counts.Events = s.seq
	r.Screens = append([]human.Screen{}, s.rec.Screens...)
	r.Gaps = append([]human.Gap{}, s.rec.Gaps...)
	for _, g := range s.gaps {
		open := *g
		open.To = now
		r.Gaps = append(r.Gaps, open)
	}
	slices.SortStableFunc(r.Gaps, func(a, b human.Gap) int { return cmp.Compare(a.From, b.From) })
	r.Sources = make([]human.SourceState, 0, len(s.feeds))
	for _, f := range s.feeds {
		r.Sources = append(r.Sources, f.state)
	}
	return r
}

func (s *session) publish() {
	r := s.header()
	s.told, s.toldAt = s.rec.Counts, s.now()
	if s.public {
		s.latest.Store(&r)
	}
	if s.public && !s.discard {
		s.tell(r)
	}
}

// store gives an event its seq, to be stored with the next batch. Its At counts from the start already.
func (s *session) store(e human.RecordedEvent) uint64 {
	s.seq++
	e.Seq = s.seq
	s.span = max(s.span, e.At)
	s.bytes += weight(e)
	s.pending = append(s.pending, e)
	s.rec.Counts.Events = s.seq
	if len(s.pending) >= batchSize {
		s.flush()
	}
	return e.Seq
}

// weight is about what an event takes on disk, in bytes.
func weight(e human.RecordedEvent) int64 {
	n := 24 + len(e.Text) // compressed, most are smaller than their JSON by far
	if e.Window != nil {
		n += len(e.Window.Title) + 40
	}
	if e.Element != nil {
		n += 60 + len(e.Element.Name) + 24*len(e.Element.Ancestry)
	}
	if e.File != nil {
		n += len(e.File.Path) + len(e.File.To)
	}
	if e.Source == human.BrowserSource {
		n += 200 + len(e.DOM)/4 // a film packs well
		if e.Pick != nil {
			n += len(e.Pick.Text)
		}
	}
	return int64(n)
}

// flush hands the pending events to the store, one batch at a time, and never waits.
func (s *session) flush() {
	if s.writing || s.ending || len(s.pending) == 0 || s.failure != nil || s.discard {
		return
	}
	batch, header := s.pending, s.header()
	s.flushed = s.seq
	s.pending, s.writing = nil, true
	s.workers.Go(func() {
		// Giving it up in the midst would leave nobody knowing whether it was stored.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.working), storeTime)
		defer cancel()
		s.written <- s.deps.Store.Append(ctx, header, batch)
	})
}

// wrote takes the outcome of an append.
func (s *session) wrote(err error) {
	s.writing = false
	if err != nil {
		s.fail(err)
		return
	}
	s.stored = s.flushed
	s.settleAwaited()
	if len(s.pending) >= batchSize || len(s.awaited) > 0 {
		s.flush()
	}
}

// fail ends a recording that cannot be stored any more.
func (s *session) fail(err error) {
	if s.failure != nil || s.discard {
		return
	}
	s.log.Error("a recording could not be stored", "recording", s.id, "err", err)
	s.failure = human.Wrap(human.Internal, err,
		"recording %s could not be stored any further and has ended; what was stored until then is kept. Is the disk full?", s.id)
	s.stop("failed")
	s.rec.Reason = "failed" // it may have been stopping for a better reason
}

// gap notes a stretch that is over.
func (s *session) gap(g human.Gap) {
	if n := len(s.rec.Gaps); n > 0 {
		last := &s.rec.Gaps[n-1]
		if last.Reason == g.Reason && last.Source == g.Source && g.Reason == "overflow" && g.From-last.To < int64(time.Second) {
			last.To, last.Count = g.To, last.Count+g.Count
			s.store(human.RecordedEvent{At: g.From, Source: human.RecorderSource, Type: human.GapOpened, Gap: &g})
			return
		}
	}
	s.rec.Gaps = append(s.rec.Gaps, g)
	s.store(human.RecordedEvent{At: g.From, Source: human.RecorderSource, Type: human.GapOpened, Gap: &g})
}

// openGap begins a stretch in which something is missing; one that is open already stays.
func (s *session) openGap(reason string, source human.SourceName) *human.Gap {
	key := reason + string(source)
	if s.gaps[key] == nil {
		s.gaps[key] = &human.Gap{From: s.now(), Source: source, Reason: reason}
	}
	return s.gaps[key]
}

func (s *session) closeGap(reason string, source human.SourceName) {
	key := reason + string(source)
	if g := s.gaps[key]; g != nil {
		delete(s.gaps, key)
		g.To = s.now()
		s.gap(*g)
	}
}
