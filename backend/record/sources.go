package record

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"deskbell/backend/human"
)

const (
	retryTime = 5 * time.Second // between attempts to open a lost source again
	queueSize = 8192            // events between the sources and the recorder; at 2,000 a second, four seconds
)

// item is an event on its way from a source.
type item struct {
	from  *feed
	event human.RecordedEvent
}

// sources runs the sources of a recording. Only the loop uses it, but for run, runBrowser and what they call.
type sources struct {
	loop   *loop
	log    *slog.Logger
	status *status
	writer *writer

	queue     chan item
	listening context.Context // until they are stopped
	cancel    context.CancelFunc
	running   sync.WaitGroup
	stopping  bool
	silent    bool // they have ended
}

// start runs one until the sources are stopped.
func (s *sources) start(f *feed) {
	if f.name == human.BrowserSource {
		s.running.Go(func() { s.runBrowser(f) })
	} else {
		s.running.Go(func() { s.run(f) })
	}
}

// run runs a source until the sources are stopped, and opens it again when it is lost.
func (s *sources) run(f *feed) {
	for {
		err := s.runOnce(f)
		if s.listening.Err() != nil {
			return
		}
		if err == nil {
			err = errors.New("the source ended by itself")
		}
		s.loop.post(func() { s.lost(f, err) })
		if !s.waitToRetry() {
			return
		}
	}
}

// waitToRetry waits before a lost source is opened again. It returns false when the sources were stopped.
func (s *sources) waitToRetry() bool {
	select {
	case <-s.listening.Done():
		return false
	case <-time.After(retryTime):
		return true
	}
}

// runBrowser runs the browser until the sources are stopped. One that was closed or lost is opened again only when
// that is asked for: a person may have closed it on purpose.
func (s *sources) runBrowser(f *feed) {
	for {
		err := s.runOnce(f)
		if s.listening.Err() != nil {
			return
		}
		s.loop.post(func() {
			if err != nil {
				s.lost(f, err)
			}
			f.up = false
			s.status.publish()
		})
		select {
		case <-s.listening.Done():
			return
		case <-f.again:
		}
	}
}

// runOnce runs a source until it ends.
func (s *sources) runOnce(f *feed) error {
	seen, err := f.source.Run(s.listening, func() {
		s.loop.post(func() { s.found(f) })
		f.report(nil)
	}, func(e human.RecordedEvent) {
		e.Source = f.name
		f.emitted.Add(1)
		select {
		case s.queue <- item{f, e}:
		default:
			f.dropped.Add(1)
		}
	})
	f.seen.Add(seen)
	if s.listening.Err() != nil {
		f.report(s.listening.Err())
	} else {
		f.report(cmp.Or(err, errors.New("the source ended by itself")))
	}
	return err
}

// lost notes that a source delivers nothing any more.
func (s *sources) lost(f *feed, err error) {
	if s.stopping {
		return
	}
	if s.status.gaps[gapKey("lost", f.name)] == nil {
		s.log.Warn("a source of the recording was lost", "recording", s.loop.id, "source", f.name, "err", err)
	}
	f.up = false
	f.state.Status, f.state.Code, f.state.Detail = "partial", "lost", human.SafeText(err)
	switch {
	case human.KindOf(err) == human.Denied:
		f.state.Code = "declined"
	case errors.Is(err, ErrScreenWaits):
		f.state.Code = "waiting"
	}
	s.writer.openGap("lost", f.name)
	s.status.publish()
}

// found notes that a source listens.
func (s *sources) found(f *feed) {
	f.up = true
	if f.state.Code == "waiting" {
		f.state = f.said
	}
	if !s.stopping && s.writer.closeGap("lost", f.name) {
		s.status.publish()
	}
}

// reportDropped makes a gap of what the queue had no room for in the last while.
func (s *sources) reportDropped(while time.Duration) {
	for _, f := range s.status.feeds {
		if dropped := f.dropped.Load(); dropped > f.reported {
			s.writer.lose(f.name, max(0, s.loop.now()-int64(while)), dropped-f.reported)
			f.reported = dropped
		}
	}
}

// stop has the sources end. It does not wait for them.
func (s *sources) stop() {
	s.stopping = true
	s.cancel()
	go func() {
		s.running.Wait()
		s.loop.post(func() { s.silent = true })
	}()
}

// drained says whether the sources have ended and all they delivered was taken.
func (s *sources) drained() bool { return s.stopping && s.silent && len(s.queue) == 0 }

// reconcile compares what the sources counted with what the store has, nil where that is not known.
func (s *sources) reconcile(stored map[human.SourceName]uint64) {
	rec := &s.status.rec
	complete := s.silent && stored != nil && s.writer.failure == nil
	rec.Counts.Lost = 0
	for _, f := range s.status.feeds {
		complete = f.count(stored[f.name]) && complete
		rec.Counts.Lost += f.state.Lost
	}
	for _, g := range rec.Gaps {
		complete = complete && (g.Reason == "paused" || g.Reason == "excluded") // on purpose
	}
	rec.Complete = complete
}
