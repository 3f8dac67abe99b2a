package record

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"

	"deskbell/backend/human"
)

const nearEnd = int64(2 * time.Minute)

// A status is what a running recording shows of itself: its header, with the stretches in which something is missing.
// Only the loop uses it, but for latest.
type status struct {
	loop  *loop
	rec   human.Recording // without its sources and open gaps
	feeds feeds
	gaps  map[string]*human.Gap // open ones

	pausedAt int64
	idle     int64 // time paused before

	report     func(human.Recording) // the watchers
	reported   human.RecordingCounts // as the watchers last heard
	reportedAt int64
	public     bool // it has begun for everybody to see
	unsaved    bool // the store's header is out of date, though no event may say why
	discarded  bool
	latest     atomic.Pointer[human.Recording] // nil until it is public
}

// header is the recording as it is now, sharing no memory with the loop's.
func (s *status) header() human.Recording {
	now := s.loop.now()
	r := s.rec
	r.Elapsed = s.elapsed()
	r.Screens = append([]human.Screen{}, s.rec.Screens...)
	r.Gaps = append([]human.Gap{}, s.rec.Gaps...)
	for _, g := range s.gaps {
		open := *g
		open.To = now
		r.Gaps = append(r.Gaps, open)
	}
	slices.SortStableFunc(r.Gaps, func(a, b human.Gap) int { return cmp.Compare(a.From, b.From) })
	r.Sources = s.feeds.states()
	return r
}

// publish shows the recording after a change, and has the change stored even if no event follows.
func (s *status) publish() {
	s.unsaved = true
	s.show()
}

// show shows the recording as it is now.
func (s *status) show() {
	r := s.header()
	s.reported, s.reportedAt = s.rec.Counts, s.loop.now()
	if s.public {
		s.latest.Store(&r)
		if !s.discarded {
			s.report(r)
		}
	}
}

// showNews shows the recording when its counts have changed, and every second.
func (s *status) showNews() {
	if s.rec.Counts != s.reported || s.loop.now()-s.reportedAt >= int64(time.Second) {
		s.show()
	}
}

// elapsed is how long the recording has run, pauses left out.
func (s *status) elapsed() int64 {
	idle := s.idle
	if s.paused() {
		idle += s.loop.now() - s.pausedAt
	}
	return s.loop.now() - idle
}

func (s *status) paused() bool { return s.rec.State == human.RecordingPaused }

// setPaused begins a pause, or ends it.
func (s *status) setPaused(paused bool) {
	if paused {
		s.pausedAt, s.rec.State = s.loop.now(), human.RecordingPaused
	} else {
		s.idle += s.loop.now() - s.pausedAt
		s.rec.State = human.RecordingRuns
	}
}

// countPicture counts a stored picture and the bytes it took.
func (s *status) countPicture(fresh bool, bytes int64) {
	s.rec.Counts.Pictures++
	if !fresh {
		s.rec.Counts.Equal++
	}
	s.rec.Bytes += bytes
}

// countLeftOut counts an event that is left out on purpose, in the gap of that reason, too, if it is open.
func (s *status) countLeftOut(f *feed, reason string) {
	f.leftOut++
	if g := s.gaps[gapKey(reason, "")]; g != nil {
		g.Count++
	}
}

// gapKey is what an open gap is found by.
func gapKey(reason string, source human.SourceName) string { return reason + string(source) }

// checkLimits says whether the recording is at one of its limits, and shows when it comes near one.
func (s *status) checkLimits() (reached bool) {
	near := false
	elapsed := s.elapsed()
	if limit := s.rec.MaxElapsed; limit > 0 {
		left := limit - elapsed
		if left <= 0 {
			return true
		}
		near = left <= limit/10 || left <= nearEnd
	}
	if limit := s.rec.MaxBytes; limit > 0 {
		left := limit - s.rec.Bytes
		if left <= 0 {
			return true
		}
		// At the rate so far; the first seconds say little about that.
		ahead := float64(s.rec.Bytes) / float64(max(elapsed, int64(10*time.Second))) * float64(nearEnd)
		near = near || left <= limit/10 || float64(left) <= ahead
	}
	if near != s.rec.NearLimit {
		s.rec.NearLimit = near
		s.publish()
	}
	return false
}
