package x11

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
	"deskbell/backend/record/recordtest"
	"deskbell/build/e2e/desktoptest"
)

func (d *fixture) screen() *Screen {
	s := NewScreen(d.Display, monotonic)
	d.T.Cleanup(func() {
		if err := s.Close(); err != nil {
			d.T.Error(err)
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
	d := newFixture(t)
	d.Do("xsetroot", "-solid", "#123456")
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

	d.Start("xterm", "-geometry", "40x10+300+200", "-bg", "#aabbcc")
	d.Wait("the terminal to be drawn", func() bool {
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
	d.Wait("both ways to show the same", func() bool { // the terminal may still draw between the two
		grab(t, shared, &f)
		grab(t, apart, &g)
		return bytes.Equal(f.Pix, g.Pix)
	})
}

func TestScreenConforms(t *testing.T) {
	recordtest.Screen(t, func(tb testing.TB) recordtest.ScreenRig {
		d := newFixture(tb)
		w, err := dial(tb.Context(), d.Display)
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(w.close)
		return recordtest.ScreenRig{Screen: d.screen(), Clock: monotonic, Paint: func(tb testing.TB, blue, green, red byte) {
			paint(tb, w, uint32(blue)|uint32(green)<<8|uint32(red)<<16)
		}}
	})
}

// paint fills the root window with pixels of a value, and waits until it is done.
func paint(t testing.TB, w *wire, pixel uint32) {
	t.Helper()
	const backPixel, clearArea = 1 << 1, 61
	for _, req := range [][]byte{request1(opChangeAttributes, 0, w.root, backPixel, pixel), request1(clearArea, 0, w.root, 0, 0)} {
		if _, err := w.send(req); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.call(t.Context(), request1(opGetInputFocus, 0), nil); err != nil {
		t.Fatal(err)
	}
}

func TestGrabFollowsTheSizeOfTheScreen(t *testing.T) {
	d := newFixture(t)
	s := d.screen()
	var f record.Frame
	grab(t, s, &f)
	changed, ready, ended := make(chan struct{}, 1), make(chan struct{}), make(chan error, 1)
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		ended <- s.Watch(ctx, func() { close(ready) }, func() {
			select {
			case changed <- struct{}{}:
			default:
			}
		})
	}()
	<-ready
	d.Do("xrandr", "--newmode", "small", "38.25", "800", "832", "912", "1024", "600", "603", "607", "624")
	d.Do("xrandr", "--addmode", "screen", "small")
	for _, size := range []struct {
		mode string
		w, h int
	}{{"small", 800, 600}, {"1280x800", 1280, 800}} {
		d.Do("xrandr", "--fb", fmt.Sprintf("%dx%d", size.w, size.h), "--output", "screen", "--mode", size.mode)
		select {
		case <-changed:
		case <-time.After(desktoptest.Patience):
			t.Fatal("a change of the screen's size is not told")
		}
		d.Do("xsetroot", "-solid", "#123456")
		grab(t, s, &f)
		if f.W != size.w || f.H != size.h || len(f.Pix) != 4*size.w*size.h || pixel(&f, size.w-1, size.h-1) != [3]byte{0x56, 0x34, 0x12} {
			t.Errorf("on a screen of %d by %d, a frame of %d by %d", size.w, size.h, f.W, f.H)
		}
		if screens, err := s.Screens(t.Context()); err != nil || len(screens) != 1 || screens[0] != (human.Screen{W: size.w, H: size.h, Scale: 1}) {
			t.Errorf("screens: %+v, %v", screens, err)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestGrabInOtherDepths(t *testing.T) {
	for depth, near := range map[string]int{"16": 7, "30": 1} {
		t.Run(depth, func(t *testing.T) {
			d := newFixture(t, "-screen", "0", "333x200x"+depth)
			d.Do("xsetroot", "-solid", "#c08142")
			s := d.screen()
			var f record.Frame
			for _, shared := range []bool{true, false} {
				if !shared {
					s.shm, s.memory = 0, nil
				}
				grab(t, s, &f)
				for i, want := range []int{0x42, 0x81, 0xc0} {
					at := 4*(199*333+332) + i
					if got := int(f.Pix[at]); got < want-near || got > want+near {
						t.Errorf("shared %t: the last pixel's byte %d is %x, want %x", shared, i, got, want)
					}
				}
			}
		})
	}
	t.Run("8, with a palette", func(t *testing.T) {
		d := newFixture(t, "-screen", "0", "320x200x8")
		s := d.screen()
		if err := s.Grab(t.Context(), new(record.Frame)); human.KindOf(err) != human.Unavailable {
			t.Errorf("a picture: %v", err)
		}
		if state := s.Check(t.Context()); state.Status != "missing" || state.Code != codeUnsupported || state.Fix == "" {
			t.Errorf("Check says %+v", state)
		}
	})
}

func TestGrabWithoutSharedMemory(t *testing.T) {
	d := newFixture(t, "-extension", "MIT-SHM")
	d.Do("xsetroot", "-solid", "#123456")
	s := d.screen()
	var f record.Frame
	grab(t, s, &f)
	if s.memory != nil || pixel(&f, 1279, 799) != [3]byte{0x56, 0x34, 0x12} {
		t.Errorf("%d bytes shared, and the pixel is %x", len(s.memory), pixel(&f, 1279, 799))
	}
}

// A server that writes to other memory than ours, as one in another container can, is not believed.
func TestMemoryThatTheServerDoesNotWriteTo(t *testing.T) {
	d := newFixture(t)
	s := d.screen()
	grab(t, s, new(record.Frame))
	ours := s.memory
	defer func() { s.memory = ours }()
	if shared, err := s.shared(t.Context()); err != nil || !shared {
		t.Errorf("our memory: %t, %v", shared, err)
	}
	s.memory = make([]byte, len(ours))
	if shared, err := s.shared(t.Context()); err != nil || shared {
		t.Errorf("other memory: %t, %v", shared, err)
	}
}

func FuzzPixelFormat(f *testing.F) {
	reply := make([]byte, 32+28+8+8+8)
	for at, v := range map[int]uint32{8: 1, 12: 1, 32: 5, 36: 1 | 24<<8, 40: 16 | 0xff<<16, 44: 8 | 0xff<<16, 48: 0xff << 16, 60: 1, 68: 24 | 1<<16, 76: 33, 80: 5} {
		binary.LittleEndian.PutUint32(reply[at:], v)
	}
	if format, ok := formatOf(33, reply); !ok || format != bgrx {
		f.Fatalf("the seed is %+v, %t", format, ok)
	}
	f.Add(reply)
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < 32 {
			return // no reply is shorter
		}
		if format, ok := formatOf(33, b); ok {
			format.unpack(make([]byte, 4*7*2), make([]byte, format.stride(7)*2), 7)
		}
	})
}

func TestGrabAfterTheServerHasGone(t *testing.T) {
	d := newFixture(t)
	s := d.screen()
	var f record.Frame
	grab(t, s, &f)
	d.Server.Kill()
	for range 2 {
		if err := s.Grab(t.Context(), &f); human.KindOf(err) != human.Unavailable {
			t.Errorf("without a server: %v", err)
		}
	}
}

func TestScreensAreTheMonitors(t *testing.T) {
	d := newFixture(t)
	s := d.screen()
	screens, err := s.Screens(t.Context())
	if err != nil || len(screens) != 1 || screens[0] != (human.Screen{W: 1280, H: 800, Scale: 1}) {
		t.Fatalf("one monitor: %+v, %v", screens, err)
	}
	d.Do("xrandr", "--setmonitor", "left", "800/200x800/200+0+0", "screen")
	d.Do("xrandr", "--setmonitor", "right", "480/120x600/150+800+100", "none")
	screens, err = s.Screens(t.Context())
	want := []human.Screen{{W: 800, H: 800, Scale: 1}, {X: 800, Y: 100, W: 480, H: 600, Scale: 1}}
	if err != nil || len(screens) != 2 || !slices.Contains(screens, want[0]) || !slices.Contains(screens, want[1]) {
		t.Errorf("two monitors: %+v, %v", screens, err)
	}
}

// The pointer is in no picture, so its moves are no change.
func TestWatchLeavesThePointerAside(t *testing.T) {
	d := newFixture(t)
	h := d.hand()
	s := d.screen()
	ctx, stop := context.WithCancel(t.Context())
	var changes atomic.Int64
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- s.Watch(ctx, func() { close(ready) }, func() { changes.Add(1) }) }()
	<-ready
	for i := range 50 {
		h.move(100+i, 200)
		h.sync()
		<-time.After(5 * time.Millisecond)
	}
	if n := changes.Load(); n > 0 {
		t.Errorf("%d changes while only the pointer moved", n)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestScreenCheck(t *testing.T) {
	d := newFixture(t)
	if s := d.screen().Check(t.Context()); s.Status != "complete" || s.Source != human.ScreenSource {
		t.Errorf("a plain server: %+v", s)
	}
	if s := NewScreen(":59999", monotonic).Check(t.Context()); s.Status != "missing" || s.Code != codeNoDisplay || s.Fix == "" {
		t.Errorf("no server: %+v", s)
	}
	t.Setenv("DISPLAY", d.Display)
	t.Setenv("WAYLAND_DISPLAY", "wayland-0")
	if s := NewScreen("", monotonic).Check(t.Context()); s.Status != "missing" || s.Code != codeWayland || s.Fix == "" {
		t.Errorf("on Wayland: %+v", s)
	}
}

func BenchmarkGrab(b *testing.B) {
	d := newFixture(b, "-screen", "0", "1440x900x24")
	s := NewScreen(d.Display, monotonic)
	defer s.Close()
	var f record.Frame
	for b.Loop() {
		if err := s.Grab(b.Context(), &f); err != nil {
			b.Fatal(err)
		}
	}
}
