// Package screens takes pictures of the desktop through kbinani/screenshot: on Windows through GDI, on macOS
// through ScreenCaptureKit or Core Graphics. It implements record.Screen. X11 has a faster one in package x11;
// there this one serves to compare.
package screens

import (
	"context"
	"encoding/binary"
	"image"

	"github.com/kbinani/screenshot"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// Screen takes pictures of all displays at once. Pixels of its pictures are units of the desktop: physical
// pixels, and on macOS points, which is what the library scales to.
type Screen struct {
	clock record.Clock
	busy  chan struct{} // full while the library is at work
}

var _ record.Screen = (*Screen)(nil)

// New makes one for the session this process runs in.
func New(clock record.Clock) *Screen {
	return &Screen{clock: clock, busy: make(chan struct{}, 1)}
}

// Check implements record.Screen. It asks the person for nothing.
func (s *Screen) Check(context.Context) human.SourceState {
	state := human.SourceState{Source: human.ScreenSource, Status: "complete"}
	hindered(&state)
	if state.Status != "missing" && len(displays()) == 0 {
		state.Status, state.Code = "missing", "no_display"
		state.Detail, state.Fix = "There is no display that pictures can be taken of.", "Start Deskbell in a graphical session."
	}
	return state
}

// Screens implements record.Screen.
func (s *Screen) Screens(context.Context) ([]human.Screen, error) {
	all := displays()
	if len(all) == 0 {
		return nil, errNoDisplay
	}
	screens := make([]human.Screen, len(all))
	for i, b := range all {
		screens[i] = human.Screen{X: b.Min.X, Y: b.Min.Y, W: b.Dx(), H: b.Dy(), Scale: 1}
	}
	return screens, nil
}

var errNoDisplay = human.Errorf(human.Unavailable, "there is no display to take pictures of")

// Watch implements record.Screen: the library cannot tell of changes.
func (s *Screen) Watch(context.Context, func(), func()) error {
	return human.Errorf(human.Unavailable, "this system does not report when its screen changes")
}

// Grab implements record.Screen.
func (s *Screen) Grab(ctx context.Context, f *record.Frame) error {
	var all image.Rectangle
	for _, b := range displays() {
		all = all.Union(b)
	}
	if all.Empty() {
		return errNoDisplay
	}
	img, err := s.capture(ctx, all)
	if err != nil {
		return err
	}
	_, f.At = s.clock()
	f.X, f.Y, f.W, f.H, f.Scale = all.Min.X, all.Min.Y, img.Rect.Dx(), img.Rect.Dy(), 1
	size := 4 * f.W * f.H
	if cap(f.Pix) < size {
		f.Pix = make([]byte, size)
	}
	f.Pix = f.Pix[:size]
	for y := range f.H {
		swap(f.Pix[4*f.W*y:4*f.W*(y+1)], img.Pix[y*img.Stride:])
	}
	return nil
}

// capture takes a picture, and gives it up when ctx ends. The library cannot be interrupted, and waits for the
// system without end: what was given up continues, and the next one waits for it.
func (s *Screen) capture(ctx context.Context, b image.Rectangle) (*image.RGBA, error) {
	if ctx.Err() != nil {
		return nil, human.Wrap(human.Unavailable, ctx.Err(), "no picture was taken")
	}
	select {
	case s.busy <- struct{}{}:
	case <-ctx.Done():
		return nil, human.Wrap(human.Unavailable, ctx.Err(), "the system is still taking the previous picture")
	}
	type result struct {
		img *image.RGBA
		err error
	}
	done := make(chan result, 1)
	go func() {
		img, err := screenshot.CaptureRect(b)
		<-s.busy
		done <- result{img, err}
	}()
	select {
	case r := <-done:
		if r.err != nil {
			return nil, human.Wrap(human.Unavailable, r.err, "the system gives no picture of its screen; is it locked, or is Deskbell not allowed to take one?")
		}
		return r.img, nil
	case <-ctx.Done():
		return nil, human.Wrap(human.Unavailable, ctx.Err(), "the system took too long to take a picture")
	}
}

// Close implements record.Screen. Grab keeps nothing.
func (s *Screen) Close() error { return nil }

// displays are where the displays are, the primary one at 0, 0.
func displays() (all []image.Rectangle) {
	for i := range screenshot.NumActiveDisplays() {
		if b := screenshot.GetDisplayBounds(i); !b.Empty() {
			all = append(all, b)
		}
	}
	return all
}

// swap puts blue first where red was.
func swap(to, from []byte) {
	for ; len(to) >= 4 && len(from) >= 4; to, from = to[4:], from[4:] {
		v := binary.LittleEndian.Uint32(from)
		binary.LittleEndian.PutUint32(to, v&0xff00ff00|v>>16&0xff|v&0xff<<16)
	}
}
