package recordtest

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// A ScreenRig is a record.Screen with the real thing it takes pictures of.
type ScreenRig struct {
	Screen record.Screen
	Clock  record.Clock
	// Paint has the whole desktop show one color, and returns once it does.
	Paint func(tb testing.TB, blue, green, red byte)
}

// Screen runs the conformance suite. newRig is called once for each test; what it starts, it ends with
// tb.Cleanup, the screen included.
func Screen(t *testing.T, newRig func(tb testing.TB) ScreenRig) {
	t.Run("Check names the source and is quick about a context that has ended", func(t *testing.T) {
		rig := newRig(t)
		if state := rig.Screen.Check(t.Context()); state.Source != human.ScreenSource || state.Status != "complete" && state.Status != "partial" {
			t.Errorf("Check says %+v where the screen works", state)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		within(t, "Check with an ended context", func() { rig.Screen.Check(ended) })
	})
	t.Run("a picture shows the desktop with all displays, as it is", func(t *testing.T) { showsAll(t, newRig(t)) })
	t.Run("a frame's memory is used again", func(t *testing.T) {
		rig := newRig(t)
		var f record.Frame
		grab(t, rig.Screen, &f)
		kept := &f.Pix[0]
		grab(t, rig.Screen, &f)
		if kept != &f.Pix[0] {
			t.Error("it is in another place")
		}
		small := record.Frame{Pix: make([]byte, 4)}
		grab(t, rig.Screen, &small)
		if !slices.Equal(small.Pix[:4*small.W], f.Pix[:4*f.W]) {
			t.Error("into a frame of another size, it shows something else")
		}
	})
	t.Run("an ended context takes no picture and does no harm, and after Close there are more", func(t *testing.T) {
		rig := newRig(t)
		rig.Paint(t, 1, 2, 3)
		var f record.Frame
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for range 3 {
			within(t, "Grab with an ended context", func() {
				if err := rig.Screen.Grab(ended, &f); err == nil {
					t.Error("there is a picture")
				}
			})
			grab(t, rig.Screen, &f)
			if [3]byte(f.Pix) != [3]byte{1, 2, 3} {
				t.Errorf("the pixel is %x", f.Pix[:3])
			}
			if err := rig.Screen.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("Watch reports changes and nothing else, and a picture taken then shows them", func(t *testing.T) { watchesChanges(t, newRig(t)) })
}

// showsAll holds a picture against the displays and what was painted.
func showsAll(t *testing.T, rig ScreenRig) {
	screens, err := rig.Screen.Screens(t.Context())
	if err != nil || len(screens) == 0 {
		t.Fatalf("the displays: %+v, %v", screens, err)
	}
	var f record.Frame
	for i, colour := range [][3]byte{{0xff, 0x80, 0x10}, {0, 0, 0}, {0x10, 0xff, 0xff}} {
		rig.Paint(t, colour[0], colour[1], colour[2])
		_, before := rig.Clock()
		grab(t, rig.Screen, &f)
		if _, after := rig.Clock(); f.At < before || f.At > after {
			t.Errorf("it is stamped %v, taken between %v and %v", f.At, before, after)
		}
		if f.W < 1 || f.H < 1 || f.Scale <= 0 || len(f.Pix) != 4*f.W*f.H {
			t.Fatalf("%d by %d pixels, scale %v, in %d bytes", f.W, f.H, f.Scale, len(f.Pix))
		}
		all := f.Bounds()
		for _, s := range screens {
			if s.Scale <= 0 || !all.Contains(s.X, s.Y) || !all.Contains(s.X+s.W-1, s.Y+s.H-1) {
				t.Errorf("the display %+v is not in the picture %+v", s, all)
			}
			x, y := int(float64(s.X-f.X)*f.Scale), int(float64(s.Y-f.Y)*f.Scale)
			if got := [3]byte(f.Pix[4*(y*f.W+x):]); got != colour {
				t.Errorf("painting %d: the pixel at %d, %d is %x, want %x", i, x, y, got, colour)
			}
		}
	}
}

// watchesChanges holds what Watch reports against what was painted.
func watchesChanges(t *testing.T, rig ScreenRig) {
	rig.Paint(t, 0, 0, 0)
	others := goleak.IgnoreCurrent()
	defer func() {
		if err := rig.Screen.Close(); err != nil {
			t.Error(err)
		}
		goleak.VerifyNone(t, others)
	}()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	defer cancel()
	var calls atomic.Int64
	changed, ready, done := make(chan struct{}, 1), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- rig.Screen.Watch(ctx, func() { close(ready) }, func() {
			calls.Add(1)
			select {
			case changed <- struct{}{}:
			default:
			}
		})
	}()
	select {
	case err := <-done:
		if human.KindOf(err) != human.Unavailable {
			t.Errorf("Watch: %v", err)
		}
		return // it reports none, and says so at once
	case <-ready:
	case <-time.After(patience):
		t.Fatal("it does not get ready")
	}
	<-time.After(200 * time.Millisecond)
	if n := calls.Load(); n != 0 {
		t.Errorf("%d changes while nothing changed", n)
	}
	var f record.Frame
	for i := range 200 { // often enough that one would slip through between two that are reported
		rig.Paint(t, byte(i+1), byte(i), 7)
		deadline := time.After(patience)
		for [3]byte(append(f.Pix, 0, 0, 0)) != [3]byte{byte(i + 1), byte(i), 7} {
			select {
			case <-changed:
			case <-deadline:
				t.Fatalf("change %d was not reported", i)
			}
			grab(t, rig.Screen, &f)
		}
	}
	cancel()
	within(t, "the end of Watch", func() {
		if err := <-done; err != nil {
			t.Errorf("Watch: %v", err)
		}
	})
	calls.Store(0)
	rig.Paint(t, 9, 9, 9)
	if n := calls.Load(); n != 0 {
		t.Errorf("%d changes are reported after Watch has ended", n)
	}
}

func grab(tb testing.TB, s record.Screen, f *record.Frame) {
	tb.Helper()
	if err := s.Grab(tb.Context(), f); err != nil {
		tb.Fatal(err)
	}
}
