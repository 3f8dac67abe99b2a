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

// A shot is one frame with the windows that were on the screen. It is shared by all pictures that show the
// same, and its memory is used again once nobody holds it.
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
	taken   func(wish, *shot, error) // called for every wish
	looked  func([]Placed)           // called with the windows on the screen each time they were looked at

	wishes   chan wish
	changed  chan struct{}
	dirty    atomic.Int64           // when the screen first changed after the last frame; 0: not since
	watching atomic.Bool            // the system tells of changes
	held     atomic.Bool            // no frames are kept up to date
	active   atomic.Pointer[Placed] // the active window where that is excluded
	spare    chan *shot
}

func newCamera(screen Screen, windows Windows, exclude exclusions, now func() int64) *camera {
	return &camera{
		screen: screen, windows: windows, exclude: exclude, now: now,
		wishes: make(chan wish, 64), changed: make(chan struct{}, 1), spare: make(chan *shot, frames),
	}
}

// touched notes that the screen has changed. It does not block.
func (c *camera) touched() {
	if c.dirty.Load() == 0 && c.dirty.CompareAndSwap(0, c.now()) {
		select {
		case c.changed <- struct{}{}:
		default:
		}
	}
}

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

// run takes pictures until ctx ends.
func (c *camera) run(ctx context.Context) {
	var last, previous *shot
	var lastAt int64
	var settled []wish // wait until a picture may be taken again
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	defer func() {
		for _, w := range settled {
			c.taken(w, nil, ctx.Err())
		}
		for {
			select {
			case w := <-c.wishes:
				c.taken(w, nil, ctx.Err())
			default:
				_ = c.screen.Close()
				return
			}
		}
	}()
	serve := func(w wish, s *shot, err error) {
		if err == nil {
			s.holders.Add(1)
		}
		c.taken(w, s, err)
	}
	take := func() error {
		if last != nil {
			last.until = c.dirty.Load()
		}
		s, err := c.grab(ctx)
		lastAt = c.now()
		if previous != nil {
			c.release(previous)
		}
		previous, last = last, s
		for _, w := range settled {
			serve(w, s, err)
		}
		settled = nil
		return err
	}
	// there returns a frame that shows what is wished for, or nil. What changed after a press may have been
	// changed by it: the frame from before that change is wanted, the last or the one before it.
	there := func(w wish) *shot {
		switch dirty := c.dirty.Load(); {
		case !c.watching.Load():
			return nil
		case w.before != 0 && previous != nil && previous.until > w.before:
			return previous
		case dirty == 0 || w.before != 0 && dirty > w.before:
			return last
		case w.before != 0 && c.now()-w.before > reaction:
			return last // one taken now would show what the press did rather than what was before it
		}
		return nil
	}
	for {
		select {
		case <-ctx.Done():
			return
		case w := <-c.wishes:
			switch s := there(w); {
			case s != nil:
				serve(w, s, nil)
				continue
			case w.before != 0:
				err := take()
				serve(w, last, err)
				continue
			}
			settled = append(settled, w)
		case <-c.changed:
			if c.held.Load() {
				continue
			}
		case <-timer.C:
		}
		keep := c.watching.Load() && !c.held.Load() && c.dirty.Load() != 0
		if len(settled) == 0 && !keep {
			continue
		}
		if wait := apart - (c.now() - lastAt); wait > 0 && lastAt != 0 {
			timer.Reset(time.Duration(wait))
			continue
		}
		_ = take()
	}
}

// grab takes a frame and blacks out what is excluded in it. A window may come or go while the frame is taken,
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
		if len(c.exclude.patterns) > 0 {
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

// release lets go of a shot.
func (c *camera) release(s *shot) {
	if s.holders.Add(-1) > 0 {
		return
	}
	select {
	case c.spare <- s:
	default:
	}
}
