//go:build linux

package screens

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/kbinani/screenshot"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// desktop starts an X server for the process, in which the library looks for its display.
func desktop(t testing.TB, colour string) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	server := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "640x480x24", "-nolisten", "tcp", "-noreset")
	server.ExtraFiles = []*os.File{write}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	number, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		t.Fatalf("Xvfb did not start: %v", err)
	}
	t.Setenv("DISPLAY", ":"+strings.TrimSpace(number))
	t.Setenv("WAYLAND_DISPLAY", "")
	t.Setenv("XDG_SESSION_TYPE", "x11")
	if out, err := exec.Command("xsetroot", "-solid", colour).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func clock() (time.Time, int64) { return time.Now(), time.Now().UnixNano() }

func TestScreen(t *testing.T) {
	desktop(t, "#123456")
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
