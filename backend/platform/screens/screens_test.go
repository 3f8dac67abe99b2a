//go:build linux

package screens

import (
	"testing"
	"time"

	"github.com/kbinani/screenshot"

	"deskbell/backend/human"
	"deskbell/backend/record"
	"deskbell/build/e2e/desktoptest"
)

// enter starts an X server for the process, in which the library looks for its display.
func enter(t testing.TB, colour string) {
	t.Helper()
	d := desktoptest.Start(t, desktoptest.Options{Width: 640, Height: 480, Bare: true})
	d.Enter()
	d.Do("xsetroot", "-solid", colour)
}

func clock() (time.Time, int64) { return time.Now(), time.Now().UnixNano() }

func TestScreen(t *testing.T) {
	enter(t, "#123456")
	s := New(clock)
	if state := s.Check(t.Context()); state.Status != "complete" {
		t.Errorf("with a display: %+v", state)
	}
	screens, err := s.Screens(t.Context())
	if err != nil || len(screens) != 1 || screens[0] != (human.Screen{W: 640, H: 480, Scale: 1}) {
		t.Errorf("screens %+v, %v", screens, err)
	}
	var f record.Frame
	if err := s.Grab(t.Context(), &f); err != nil {
		t.Fatal(err)
	}
	if f.W != 640 || f.H != 480 || len(f.Pix) != 4*640*480 || f.At == 0 || [3]byte(f.Pix[4*1000:]) != [3]byte{0x56, 0x34, 0x12} {
		t.Errorf("a frame of %d by %d, scale %v, with %x", f.W, f.H, f.Scale, f.Pix[4*1000:4*1000+4])
	}
	if err := s.Watch(t.Context(), func() {}, func() {}); human.KindOf(err) != human.Unavailable {
		t.Errorf("watching: %v", err)
	}
}

func TestWithoutADisplay(t *testing.T) {
	t.Setenv("DISPLAY", ":59999")
	t.Setenv("WAYLAND_DISPLAY", "")
	s := New(clock)
	if screenshot.NumActiveDisplays() > 0 {
		t.Fatal("there is a display")
	}
	if state := s.Check(t.Context()); state.Status != "missing" || state.Code != "no_display" || state.Fix == "" {
		t.Errorf("without a display: %+v", state)
	}
	var f record.Frame
	if err := s.Grab(t.Context(), &f); human.KindOf(err) != human.Unavailable {
		t.Errorf("a picture without a display: %v", err)
	}
}
