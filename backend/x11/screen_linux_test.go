package x11

import (
	"bytes"
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

func (d *desk) screen() *Screen {
	s := NewScreen(d.display, monotonic)
	d.t.Cleanup(func() {
		if err := s.Close(); err != nil {
			d.t.Error(err)
		}
	})
	return s
}

func grab(t testing.TB, s *Screen, f *record.Frame) {
	t.Helper()
	if err := s.Grab(t.Context(), f); err != nil {
		t.Fatal(err)
	}
}

func pixel(f *record.Frame, x, y int) [3]byte { return [3]byte(f.Pix[4*(y*f.W+x):][:3]) }

func TestGrabShowsTheScreen(t *testing.T) {
	d := newDesk(t)
	d.run("xsetroot", "-solid", "#123456")
	shared := d.screen()
	var f record.Frame
	_, before := monotonic()
	grab(t, shared, &f)
	if f.W != 1280 || f.H != 800 || f.X != 0 || f.Y != 0 || f.Scale != 1 || len(f.Pix) != 4*1280*800 || f.At < before {
		t.Fatalf("a frame of %d by %d at %d, %d, scale %v, taken %d ns after it was asked for", f.W, f.H, f.X, f.Y, f.Scale, f.At-before)
	}
	for _, at := range [][2]int{{0, 0}, {1279, 799}, {640, 400}} {
		if got := pixel(&f, at[0], at[1]); got != [3]byte{0x56, 0x34, 0x12} {
			t.Errorf("the pixel at %v is %x", at, got)
		}
	}
	if shared.memory == nil {
		t.Error("memory is not shared with a server of this machine")
	}

	d.start("xterm", "-geometry", "40x10+300+200", "-bg", "#aabbcc")
	d.wait("the terminal to be drawn", func() bool {
		grab(t, shared, &f)
		return pixel(&f, 500, 300) == [3]byte{0xcc, 0xbb, 0xaa}
	})
	kept := &f.Pix[0]
	grab(t, shared, &f)
	if kept != &f.Pix[0] {
		t.Error("a frame's memory is not used again")
	}

	// Without shared memory the same comes over the connection, here in several pieces.
	apart := d.screen()
	if err := apart.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	apart.shm = 0
	var g record.Frame
	grab(t, apart, &g)
	if !bytes.Equal(f.Pix, g.Pix) {
		t.Error("the picture over the connection is another")
	}
}

func TestGrabFollowsTheSizeOfTheScreen(t *testing.T) {
	d := newDesk(t)
	s := d.screen()
	var f record.Frame
	grab(t, s, &f)
	// Xvfb cannot change its size, so Grab is made to believe that it was another.
	for _, size := range [][2]int{{640, 480}, {1920, 1080}} {
		if err := s.share(t.Context(), size[0], size[1]); err != nil {
			t.Fatal(err)
		}
		grab(t, s, &f)
		if f.W != 1280 || f.H != 800 || len(f.Pix) != 4*1280*800 || len(s.memory) < len(f.Pix) {
			t.Errorf("after %v, a frame of %d by %d, %d bytes shared", size, f.W, f.H, len(s.memory))
		}
	}
}

func TestGrabAfterTheServerHasGone(t *testing.T) {
	d := newDesk(t)
	s := d.screen()
	var f record.Frame
	grab(t, s, &f)
	if err := d.server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = d.server.Wait()
	for range 2 {
		if err := s.Grab(t.Context(), &f); human.KindOf(err) != human.Unavailable {
			t.Errorf("without a server: %v", err)
		}
	}
}

func TestScreensAreTheMonitors(t *testing.T) {
	d := newDesk(t)
	s := d.screen()
	screens, err := s.Screens(t.Context())
	if err != nil || len(screens) != 1 || screens[0] != (human.Screen{W: 1280, H: 800, Scale: 1}) {
		t.Fatalf("one monitor: %+v, %v", screens, err)
	}
	d.run("xrandr", "--setmonitor", "left", "800/200x800/200+0+0", "screen")
	d.run("xrandr", "--setmonitor", "right", "480/120x600/150+800+100", "none")
	screens, err = s.Screens(t.Context())
	want := []human.Screen{{W: 800, H: 800, Scale: 1}, {X: 800, Y: 100, W: 480, H: 600, Scale: 1}}
	if err != nil || len(screens) != 2 || !slices.Contains(screens, want[0]) || !slices.Contains(screens, want[1]) {
		t.Errorf("two monitors: %+v, %v", screens, err)
	}
}

func TestWatchTellsOfEveryChange(t *testing.T) {
	d := newDesk(t)
	d.run("xsetroot", "-solid", "black")
	s := d.screen()
	ctx, stop := context.WithCancel(t.Context())
	var changes atomic.Int64
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- s.Watch(ctx, func() { close(ready) }, func() { changes.Add(1) }) }()
	<-ready

	// Idle: once what came before has been told, nothing more.
	idle := changes.Load()
	<-time.After(300 * time.Millisecond)
	if n := changes.Load() - idle; n > 2 {
		t.Errorf("%d changes while nothing changed", n)
	}
	var f record.Frame
	for i, colour := range []string{"red", "green", "blue", "white", "black"} {
		before := changes.Load()
		d.run("xsetroot", "-solid", colour)
		d.wait("the change to "+colour, func() bool { return changes.Load() > before })
		grab(t, s, &f)
		if i == 3 && pixel(&f, 5, 5) != [3]byte{255, 255, 255} {
			t.Error("the change was told before it could be seen")
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestScreenCheck(t *testing.T) {
	d := newDesk(t)
	if s := d.screen().Check(t.Context()); s.Status != "complete" || s.Source != human.ScreenSource {
		t.Errorf("a plain server: %+v", s)
	}
	if s := NewScreen(":59999", monotonic).Check(t.Context()); s.Status != "missing" || s.Code != codeNoDisplay || s.Fix == "" {
		t.Errorf("no server: %+v", s)
	}
	t.Setenv("DISPLAY", d.display)
	t.Setenv("WAYLAND_DISPLAY", "wayland-0")
	if s := NewScreen("", monotonic).Check(t.Context()); s.Status != "missing" || s.Code != codeWayland || s.Fix == "" {
		t.Errorf("on Wayland: %+v", s)
	}
}

func BenchmarkGrab(b *testing.B) {
	d := newDesk(b, "-screen", "0", "1440x900x24")
	s := NewScreen(d.display, monotonic)
	defer s.Close()
	var f record.Frame
	for b.Loop() {
		if err := s.Grab(b.Context(), &f); err != nil {
			b.Fatal(err)
		}
	}
}
