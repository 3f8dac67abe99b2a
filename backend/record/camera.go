package record

import (
	"context"
	"sync/atomic"
	"time"

	"deskbell/backend/human"
)

const (
	reaction = int64(20 * time.Millisecond)  // within it applications have seldom shown what a press did
	apart    = int64(200 * time.Millisecond) // pictures are not taken closer than this, but for those before a press
	margin   = 8                             // units around an excluded window: its frame,
	titleBar = 40                            // and above it: its title, which bounds of a client area leave out
	grey     = 0x80
	frames   = 8 // kept for reuse
)

// How long after the last of what was done a picture is taken, so that what it caused can be seen.
const (
	afterClick  = int64(200 * time.Millisecond)
	afterSwitch = int64(300 * time.Millisecond)
	afterScroll = int64(400 * time.Millisecond)
	afterTyping = int64(500 * time.Millisecond)
)

// A shot is one frame with the windows that were on the screen. It is shared by all pictures that show the
// same, and its memory is used again once no one holds it.
type shot struct {
	frame   Frame
	visible []Placed
	until   int64 // when the screen first changed after it, 0: not yet
	holders atomic.Int32
	id      string // once stored; only what stores pictures reads and sets it
}

// A wish is a picture that is wanted.
type wish struct {
	when   string
	cause  uint64
	due    int64 // a settled picture is taken at this time, from when the recording began
	before int64 // not 0: one of the screen as it was at this time; never: as it is
}

// A camera owns the screen. It keeps the last frame up to date while the screen changes, so that there is a
// picture from before when something happens.
type camera struct {
	screen  Screen
	windows Windows // nil: no window is known, and none excluded
	exclude exclusions
	now     func() int64
	taken   func(wish, *shot, int64, error) // called for every wish, with the last time at which the screen is known to have been so
	looked  func([]Placed)                  // called with the windows on the screen each time they were looked at

	wishes   chan wish
	changed  chan struct{}
	dirty    atomic.Int64           // when the screen first changed after the last frame; 0: not since
	watching atomic.Bool            // the system reports changes
	after    atomic.Int64           // 0, or the time from which on
	first    atomic.Int64           // the first change is noted, 0: none yet
	held     atomic.Bool            // no frames are kept up to date
	active   atomic.Pointer[Placed] // the active window where that is excluded
	spare    chan *shot

	// Of serve alone.
	last, previous *shot
	lastAt         int64
	waiting        []wish // until a picture may be taken again
}

func newCamera(screen Screen, windows Windows, exclude exclusions, now func() int64) *camera {
	return &camera{
		screen: screen, windows: windows, exclude: exclude, now: now,
		wishes: make(chan wish, 64), changed: make(chan struct{}, 1), spare: make(chan *shot, frames),
	}
}

// touched notes that the screen has changed. It does not block.
func (c *camera) touched() {
	if after := c.after.Load(); after != 0 && c.first.Load() == 0 {
		if now := c.now(); now >= after {
			c.first.CompareAndSwap(0, now)
		}
	}
	if c.dirty.Load() == 0 && c.dirty.CompareAndSwap(0, c.now()) {
		select {
		case c.changed <- struct{}{}:
		default:
		}
	}
}

// noteChange has the first change after a time noted, and forgets what was noted before.
func (c *camera) noteChange(after int64) {
	c.after.Store(0)
	c.first.Store(0)
	c.after.Store(after)
}

// noted is when the screen first changed after the time of noteChange, 0: not yet.
func (c *camera) noted() int64 { return c.first.Load() }

// hold stops keeping frames up to date, and begins again.
func (c *camera) hold(held bool) {
	c.held.Store(held)
	if !held {
		select {
		case c.changed <- struct{}{}:
		default:
		}
	}
}

// serve takes pictures until ctx ends.
func (c *camera) serve(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	defer c.end(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case w := <-c.wishes:
			if c.fulfill(ctx, w) {
				continue
			}
			c.waiting = append(c.waiting, w)
		case <-c.changed:
			if c.held.Load() {
				continue
			}
		case <-timer.C:
		}
		keep := c.watching.Load() && !c.held.Load() && c.dirty.Load() != 0
		if len(c.waiting) == 0 && !keep {
			continue
		}
		if wait := apart - (c.now() - c.lastAt); wait > 0 && c.lastAt != 0 {
			timer.Reset(time.Duration(wait))
			continue
		}
		_ = c.take(ctx)
	}
}

// fulfill gives a wish its picture if one is there that shows what is wished for, or if it can be taken at once.
func (c *camera) fulfill(ctx context.Context, w wish) bool {
	if s := c.found(w); s != nil {
		c.give(w, s, nil)
		return true
	}
	if w.before == 0 {
		return false
	}
	err := c.take(ctx)
	c.give(w, c.last, err)
	return true
}

// found returns a frame that shows what is wished for, or nil. What changed after a press may have been changed by it: the
// frame from before that change is wanted, the last or the one before it.
func (c *camera) found(w wish) *shot {
	switch dirty := c.dirty.Load(); {
	case !c.watching.Load():
		return nil
	case w.before != 0 && c.previous != nil && c.previous.until > w.before:
		return c.previous
	case dirty == 0 || w.before != 0 && dirty > w.before:
		return c.last
	case w.before != 0 && c.now()-w.before > reaction:
		return c.last // one taken now would show what the press did rather than what was before it
	}
	return nil
}

// take takes a frame, and gives it to the wishes that wait.
func (c *camera) take(ctx context.Context) error {
	if c.last != nil {
		c.last.until = c.dirty.Load()
	}
	s, err := c.grab(ctx)
	c.lastAt = c.now()
	if c.previous != nil {
		c.release(c.previous)
	}
	c.previous, c.last = c.last, s
	for _, w := range c.waiting {
		c.give(w, s, err)
	}
	c.waiting = nil
	return err
}

func (c *camera) give(w wish, s *shot, err error) {
	var at int64
	if err == nil {
		s.holders.Add(1)
		at = s.frame.At
		if now := c.now(); s == c.last && c.watching.Load() && c.dirty.Load() == 0 {
			at = now
		}
	}
	c.taken(w, s, at, err)
}

// end gives up all wishes, and the screen.
func (c *camera) end(ctx context.Context) {
	for _, w := range c.waiting {
		c.taken(w, nil, 0, ctx.Err())
	}
	for {
		select {
		case w := <-c.wishes:
			c.taken(w, nil, 0, ctx.Err())
		default:
			_ = c.screen.Close()
			return
		}
	}
}

// grab takes a frame and masks what is excluded in it. A window may come or go while the frame is taken,
// so that those before and those after count.
func (c *camera) grab(ctx context.Context) (*shot, error) {
	var s *shot
	select {
	case s = <-c.spare:
		s.id, s.visible, s.until, s.frame.At = "", nil, 0, 0
	default:
		s = &shot{}
	}
	s.holders.Store(1)
	var before []Placed
	var err error
	if c.windows != nil {
		before, err = c.windows.Visible(ctx)
	}
	c.dirty.Store(0)
	if err := c.screen.Grab(ctx, &s.frame); err != nil {
		c.release(s)
		return nil, err
	}
	if s.frame.At == 0 {
		s.frame.At = c.now()
	}
	if c.windows != nil && err == nil {
		s.visible, err = c.windows.Visible(ctx)
	}
	if err != nil {
		if len(c.exclude.patterns) > 0 || s.frame.Unplaced {
			s.frame.Black(s.frame.Bounds())
		}
		return s, nil
	}
	if c.windows != nil {
		c.looked(s.visible)
	}
	c.hide(&s.frame, before)
	c.hide(&s.frame, s.visible)
	if active := c.active.Load(); active != nil && !listed(before, active) && !listed(s.visible, active) {
		if b := active.Window.Bounds; b.W > 0 && b.H > 0 {
			s.frame.Black(framed(b))
		} else {
			s.frame.Black(s.frame.Bounds())
		}
	}
	return s, nil
}

func listed(visible []Placed, p *Placed) bool {
	for _, v := range visible {
		if v.Window.ID == p.Window.ID && v.Window.Bounds.W > 0 && v.Window.Bounds.H > 0 {
			return true
		}
	}
	return false
}

func framed(b human.Bounds) human.Bounds {
	return human.Bounds{X: b.X - margin, Y: b.Y - titleBar, W: b.W + 2*margin, H: b.H + titleBar + margin}
}

// hide paints over what can be seen of windows that are not recorded.
func (c *camera) hide(f *Frame, visible []Placed) {
	var above []human.Bounds
	for _, p := range visible {
		switch c.exclude.kind(p) {
		case excluded:
			if p.Window.Bounds == (human.Bounds{}) { // where it is is not known
				f.Black(f.Bounds())
				return
			}
			for _, b := range without(framed(p.Window.Bounds), above) {
				f.Black(b)
			}
		case own: // grey, so that pictures stay equal while only Deskbell's own window changes
			for _, b := range without(p.Window.Bounds, above) {
				f.Fill(b, grey, grey, grey)
			}
		}
		above = append(above, p.Window.Bounds)
	}
}

// release releases a shot.
func (c *camera) release(s *shot) {
	if s.holders.Add(-1) > 0 {
		return
	}
	select {
	case c.spare <- s:
	default:
	}
}
