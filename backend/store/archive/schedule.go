package archive

import (
	"context"
	"time"

	"deskbell/backend/human"
)

// firstAfter is how long Deskbell runs before its first backup, retryAfter how long a daily one that failed waits, looksEvery how often
// the clock is looked at: a machine that sleeps runs no timer.
const (
	firstAfter = time.Hour
	retryAfter = time.Hour
	looksEvery = time.Minute
)

// next is when the daily backup is due: the first time of day at (15:04, in the zone of now) after the last one, which is past where one
// was missed; without any, an hour after the start.
func next(last, started, now time.Time, at string) time.Time {
	if last.IsZero() {
		return started.Add(firstAfter)
	}
	clock, err := time.Parse("15:04", at)
	if err != nil { // the settings check it
		clock = time.Date(0, 1, 1, 3, 0, 0, 0, time.UTC)
	}
	last = last.In(now.Location())
	due := time.Date(last.Year(), last.Month(), last.Day(), clock.Hour(), clock.Minute(), 0, 0, now.Location())
	if !due.After(last) {
		due = due.AddDate(0, 0, 1)
	}
	return due
}

// Run makes the daily backup until ctx ends. One that was missed is made a minute after the start, one that failed is tried again after
// an hour.
func (s *Service) Run(ctx context.Context) error {
	clock := time.NewTicker(looksEvery)
	defer clock.Stop()
	for {
		select {
		case <-clock.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		if !s.due() {
			continue
		}
		if a, err := s.Make(ctx, human.ArchiveDaily); err == nil {
			s.o.Log.Info("the daily backup was made", "backup", a.ID, "files", a.Files, "bytes", a.Bytes, "new_bytes", a.New)
		}
	}
}

func (s *Service) due() bool {
	r, now := s.o.Rules(), s.o.Now()
	s.mu.Lock()
	resting := s.running || s.failed != "" && now.Sub(s.failedAt) < retryAfter && !now.Before(s.failedAt)
	s.mu.Unlock()
	return r.Daily && !resting && !next(s.last(), s.started, now, r.At).After(now)
}

// last is when the last good backup was made; the zero time where there is none.
func (s *Service) last() time.Time {
	all, err := s.list()
	if err != nil {
		return time.Time{}
	}
	for _, a := range all {
		if a.Problem == "" {
			return a.At
		}
	}
	return time.Time{}
}
