package record

import (
	"context"
	"time"

	"deskbell/backend/human"
)

const visibleFor = int64(500 * time.Millisecond) // how long the list of visible windows is taken for true

// openWindows follows which window is active and which are on the screen, recorded or not. Only the loop uses it.
type openWindows struct {
	loop       *loop
	exclusions exclusions
	source     Windows // nil where the visible ones cannot be read

	active       Placed
	activeIs     kind
	known        bool  // there is an active window
	leftExcluded int64 // when an excluded window was last left

	visible    []standing
	seenAt     int64 // when visible was read
	refreshing bool
	moved      bool // windows may have moved since
}

// A standing is where a window of a kind stands.
type standing struct {
	in human.Bounds
	is kind
}

// isActive says whether a window is the active one.
func (w *openWindows) isActive(p Placed) bool { return w.known && w.active.Window.ID == p.Window.ID }

// activate notes which window is active from a time on.
func (w *openWindows) activate(p Placed, is kind, known bool, at int64) {
	if w.activeIs == excluded && is != excluded {
		w.leftExcluded = at
	}
	w.active, w.activeIs, w.known = p, is, known
}

// mayBeExcluded says whether what came from elsewhere at a time may come from an excluded window.
func (w *openWindows) mayBeExcluded(at int64) bool {
	return w.activeIs == excluded || w.leftExcluded > 0 && at-w.leftExcluded < late
}

// late is how long after an excluded window was left something may still come from it.
const late = int64(time.Second)

// refresh has the windows on the screen read again when they may have changed: which of them the pointer is over
// decides what is recorded.
func (w *openWindows) refresh() {
	if w.refreshing || !w.moved && w.loop.now()-w.seenAt < visibleFor || w.source == nil {
		return
	}
	w.moved = false
	w.refreshing = w.loop.lookUp(func(ctx context.Context) func() {
		visible, err := w.source.Visible(ctx)
		return func() {
			w.refreshing, w.seenAt = false, w.loop.now()
			if err == nil {
				w.see(visible)
			}
			if w.moved {
				w.refresh()
			}
		}
	})
}

// see takes the windows on the screen, topmost first.
func (w *openWindows) see(visible []Placed) {
	w.seenAt = w.loop.now()
	w.visible = w.visible[:0]
	for _, p := range visible {
		w.visible = append(w.visible, standing{p.Window.Bounds, w.exclusions.kind(p)})
	}
}

// at says which kind of window is at a point. While an excluded one is active, the others count as excluded, too.
func (w *openWindows) at(x, y int) kind {
	is := ordinary
	for _, v := range w.visible {
		if v.in.Contains(x, y) {
			is = v.is
			break
		}
	}
	if w.activeIs == excluded && is == ordinary {
		return excluded
	}
	return is
}
