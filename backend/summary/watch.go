package summary

import (
	"context"
	"maps"
	"slices"

	"deskbell/backend/human"
)

// A watcher waits for drafts to change. It gets the latest state of each, not every one in between.
type watcher struct {
	latest map[human.SummaryID]human.Summary
	wake   chan struct{}
}

// tell notes a change for all watchers. Service.mu is held.
func (s *Service) tell(sum human.Summary) {
	for w := range s.watchers {
		w.latest[sum.ID] = sum
		select {
		case w.wake <- struct{}{}:
		default: // it is awake
		}
	}
}

// Watch calls changed with each draft as it changes, beginning with those that are being made, until ctx ends.
// It blocks; changed may, too.
func (s *Service) Watch(ctx context.Context, changed func(human.Summary)) {
	w := &watcher{latest: map[human.SummaryID]human.Summary{}, wake: make(chan struct{}, 1)}
	s.mu.Lock()
	s.watchers[w] = struct{}{}
	for _, m := range s.making {
		w.latest[m.sum.ID] = m.sum
	}
	w.wake <- struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, w)
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		}
		s.mu.Lock()
		news := w.latest
		w.latest = map[human.SummaryID]human.Summary{}
		s.mu.Unlock()
		for _, id := range slices.Sorted(maps.Keys(news)) {
			if ctx.Err() == nil {
				changed(news[id])
			}
		}
	}
}
