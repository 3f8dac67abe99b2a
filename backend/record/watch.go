package record

import (
	"context"
	"sync"

	"deskbell/backend/human"
)

// watchers are those who want to know of a recording's changes. A slow one misses what lay in between, but no
// change of state: what waits for it is one recording for each of those.
type watchers struct {
	mu  sync.Mutex
	all map[*watcher]struct{}
}

type watcher struct {
	waiting []human.Recording
	wake    chan struct{}
}

func (w *watchers) publish(r human.Recording) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for one := range w.all {
		if n := len(one.waiting); n > 0 && sameState(one.waiting[n-1], r) {
			one.waiting[n-1] = r
		} else {
			one.waiting = append(one.waiting, r)
		}
		select {
		case one.wake <- struct{}{}:
		default:
		}
	}
}

func sameState(a, b human.Recording) bool {
	return a.ID == b.ID && a.State == b.State && a.NearLimit == b.NearLimit
}

func (w *watchers) watch(ctx context.Context, changed func(human.Recording)) {
	one := &watcher{wake: make(chan struct{}, 1)}
	w.mu.Lock()
	if w.all == nil {
		w.all = map[*watcher]struct{}{}
	}
	w.all[one] = struct{}{}
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		delete(w.all, one)
		w.mu.Unlock()
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case <-one.wake:
		}
		w.mu.Lock()
		waiting := one.waiting
		one.waiting = nil
		w.mu.Unlock()
		for _, r := range waiting {
			changed(r)
		}
	}
}
