package windows_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/windows"

	"deskbell/backend/human"
	win "deskbell/backend/platform/windows"
	"deskbell/backend/record/recordtest"
)

func TestWindowsConformance(t *testing.T) {
	recordtest.Source(t, func(t testing.TB) recordtest.SourceRig {
		s := newStage(t)
		other := s.window(t, "STATIC", "other", overlapped|visible, 0, 10, 10, 200, 100)
		n := 0
		return recordtest.SourceRig{
			Source: win.NewWindows(clock), Name: human.WindowSource, Clock: clock,
			Provoke: func(t testing.TB) []human.RecordedEvent {
				n++
				name := fmt.Sprintf("window %d", n)
				h := s.window(t, "STATIC", name, overlapped|visible, 0, 50, 60, 300, 200)
				pause := func() { <-time.After(500 * time.Millisecond) } // as people do
				s.foreground(h)
				pause()
				s.on(func() { _, _, _ = procSetText.Call(uintptr(h), wide(name+" changed")) })
				pause()
				s.foreground(other)
				pause()
				s.on(func() { _, _, _ = procDestroyWindow.Call(uintptr(h)) })
				src := human.WindowSource
				return []human.RecordedEvent{
					{Source: src, Type: human.WindowOpened, Window: &human.Window{ID: fmt.Sprint(uint64(h)), Title: name}},
					{Source: src, Type: human.WindowActive, Window: &human.Window{ID: fmt.Sprint(uint64(h)), Title: name}},
					{Source: src, Type: human.WindowRetitled, Window: &human.Window{ID: fmt.Sprint(uint64(h)), Title: name + " changed"}},
					{Source: src, Type: human.WindowActive, Window: &human.Window{ID: fmt.Sprint(uint64(other))}},
					{Source: src, Type: human.WindowClosed, Window: &human.Window{ID: fmt.Sprint(uint64(h))}},
				}
			},
		}
	})
}

func TestVisible(t *testing.T) {
	s := newStage(t)
	below := s.window(t, "STATIC", "below", overlapped|visible, 0, 10, 10, 300, 200)
	hidden := s.window(t, "STATIC", "hidden", overlapped, 0, 10, 10, 300, 200)
	above := s.window(t, "STATIC", "above", overlapped|visible, 0, 40, 50, 300, 200)
	s.foreground(above)
	placed, err := win.NewWindows(clock).Visible(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, p := range placed {
		switch p.Window.ID {
		case fmt.Sprint(uint64(hidden)):
			t.Error("a hidden window is listed")
		case fmt.Sprint(uint64(below)), fmt.Sprint(uint64(above)):
			order = append(order, p.Window.Title)
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			if !strings.EqualFold(p.App.Exe, filepath.Base(self)) || p.App.PID != os.Getpid() || p.App.Name == "" {
				t.Errorf("its application is %+v", p.App)
			}
			if b := p.Window.Bounds; b.W != 300 || b.H != 200 || b.X < 10 || b.Y < 10 {
				t.Errorf("%s is at %+v", p.Window.Title, b)
			}
		}
	}
	if fmt.Sprint(order) != "[above below]" {
		t.Errorf("from the top: %v", order)
	}
}

func TestCheckOfWindows(t *testing.T) {
	s := newStage(t)
	s.foreground(s.window(t, "STATIC", "mine", overlapped|visible, 0, 10, 10, 300, 200))
	got := win.NewWindows(clock).Check(t.Context())
	if got.Source != human.WindowSource || got.Status != "complete" {
		t.Errorf("said %+v", got)
	}
	if h := windows.GetForegroundWindow(); h == 0 {
		t.Error("no window is active")
	}
}

// Pointer, windows and elements have pixels as their unit, whatever the display's scale.
func TestPixelsAreSeen(t *testing.T) {
	win.NewWindows(clock)
	now, _, _ := user32.NewProc("GetThreadDpiAwarenessContext").Call()
	const perMonitor = 2
	if is, _, _ := user32.NewProc("GetAwarenessFromDpiAwarenessContext").Call(now); is != perMonitor {
		t.Errorf("the process has DPI awareness %d", is)
	}
}
