package x11

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record/recordtest"
)

// A maker makes windows of its own.
type maker struct {
	*viewer
	t testing.TB
}

func (d *fixture) maker() *maker {
	d.T.Helper()
	w, err := dial(context.Background(), d.Display)
	if err != nil {
		d.T.Fatal(err)
	}
	d.T.Cleanup(w.close)
	v, err := newViewer(context.Background(), w)
	if err != nil {
		d.T.Fatal(err)
	}
	return &maker{v, d.T}
}

func (m *maker) do(req []byte) {
	m.t.Helper()
	if _, err := m.send(req); err != nil {
		m.t.Fatal(err)
	}
}

// window makes one; override says that no window manager is to touch it.
func (m *maker) window(title, class string, b human.Bounds, override bool) uint32 {
	m.t.Helper()
	id := m.newID()
	req := request1(opCreateWindow, 0, id, m.root, uint32(uint16(b.X))|uint32(uint16(b.Y))<<16, uint32(b.W)|uint32(b.H)<<16, 1<<16, 0, 1<<9, 0)
	if override {
		binary.LittleEndian.PutUint32(req[32:], 1)
	}
	m.do(req)
	m.title(id, title)
	m.set(id, atomWMClass, atomString, strings.ToLower(class)+"\x00"+class+"\x00")
	m.do(request1(8, 0, id)) // MapWindow
	m.sync()
	return id
}

func (m *maker) title(id uint32, title string) { m.set(id, m.atom.name, atomString, title) }

func (m *maker) set(id, property, kind uint32, value string) {
	m.t.Helper()
	req := request1(opChangeProperty, 0, id, property, kind, 8, uint32(len(value)))
	req = append(req, value...)
	for len(req)%4 != 0 {
		req = append(req, 0)
	}
	m.do(req)
}

func (m *maker) destroy(id uint32) { m.do(request1(opDestroyWindow, 0, id)); m.sync() }

func (m *maker) sync() {
	m.t.Helper()
	if _, err := m.call(context.Background(), []byte{opGetInputFocus, 0, 0, 0}, nil); err != nil {
		m.t.Fatal(err)
	}
}

func (m *maker) state() desktop {
	m.t.Helper()
	d, err := m.desktop(context.Background())
	if err != nil {
		m.t.Fatal(err)
	}
	return d
}

func TestWindows(t *testing.T) {
	recordtest.Source(t, func(tb testing.TB) recordtest.SourceRig {
		d := newFixture(tb)
		d.StartManager()
		m := d.maker()
		n := 0
		last := m.window("Report 0", "Reports", human.Bounds{X: 100, Y: 100, W: 300, H: 200}, false)
		d.Wait("the window to be managed", func() bool { return slices.Contains(m.state().clients, last) })
		return recordtest.SourceRig{
			Source: NewWindows(d.Display, monotonic), Name: human.WindowSource, Clock: monotonic, Early: 5 * time.Millisecond,
			Unordered: true, // one closes and another opens at once
			Provoke: func(testing.TB) []human.RecordedEvent {
				before := fmt.Sprint("Report ", n)
				n++
				title := fmt.Sprint("Report ", n)
				m.destroy(last)
				last = m.window(title, "Reports", human.Bounds{X: 100, Y: 100, W: 300, H: 200}, false)
				d.Wait("the window to be active", func() bool { return m.state().active == last })
				return []human.RecordedEvent{
					{Type: human.WindowClosed, Window: &human.Window{Title: before}},
					{Type: human.WindowOpened, App: &human.App{Name: "Reports"}, Window: &human.Window{Title: title, Bounds: human.Bounds{W: 300, H: 200}}},
					{Type: human.WindowActive, App: &human.App{Name: "Reports"}, Window: &human.Window{Title: title}},
				}
			},
		}
	})
}

func is(kind human.RecordedType, title string) func(human.RecordedEvent) bool {
	return func(e human.RecordedEvent) bool { return e.Type == kind && e.Window != nil && e.Window.Title == title }
}

func TestWindowsOfRealApplications(t *testing.T) {
	d := newFixture(t)
	d.StartManager()
	first := d.Start("xterm", "-T", "First", "-geometry", "40x10+50+60")
	d.Wait("the first window", func() bool {
		return d.ActiveWindow() == "First"
	})
	r := listen(t, NewWindows(d.Display, monotonic))
	begin := r.until("the active window", is(human.WindowActive, "First"))
	if begin.App.Name != "XTerm" || begin.App.PID != first.PID() || begin.App.Exe != "xterm" {
		t.Errorf("App = %+v, want xterm's, process %d", *begin.App, first.PID())
	}
	id := begin.Window.ID
	info := d.Do("xwininfo", "-id", id)
	if want := begin.Window.Bounds; !strings.Contains(info, fmt.Sprintf("Absolute upper-left X:  %d\n", want.X)) ||
		!strings.Contains(info, fmt.Sprintf("Absolute upper-left Y:  %d\n", want.Y)) || !strings.Contains(info, fmt.Sprintf("Width: %d\n", want.W)) {
		t.Errorf("bounds %+v, but\n%s", want, info)
	}

	second := d.Start("xterm", "-T", "Second – zwei", "-geometry", "40x10+500+300")
	r.until("the second window", is(human.WindowOpened, "Second – zwei"))
	active := r.until("the second window to be active", is(human.WindowActive, "Second – zwei"))
	d.Do("xdotool", "windowactivate", "--sync", id)
	d.Wait("the first again", func() bool {
		events := r.all()
		return is(human.WindowActive, "First")(events[len(events)-1])
	})
	d.Do("xdotool", "set_window", "--name", "First, renamed", id)
	r.until("the new title", is(human.WindowRetitled, "First, renamed"))
	d.Do("xdotool", "windowmove", id, "300", "200")
	r.until("the new place", func(e human.RecordedEvent) bool {
		return e.Type == human.WindowRetitled && e.Window.Bounds.X != begin.Window.Bounds.X && e.Window.Title == "First, renamed"
	})
	_ = syscall.Kill(second.PID(), syscall.SIGTERM)
	closed := r.until("the second to be closed", is(human.WindowClosed, "Second – zwei"))
	if closed.Window.ID != active.Window.ID || closed.App.PID != second.PID() {
		t.Errorf("closed %+v of %+v, active was %+v", *closed.Window, *closed.App, *active.Window)
	}
	var last human.RecordedEvent
	for _, e := range r.stop() {
		if e.Type == last.Type && *e.Window == *last.Window && *e.App == *last.App {
			t.Errorf("the same event twice: %s %+v", e.Type, *e.Window)
		}
		last = e
	}
}

func TestWindowsWithoutWindowManager(t *testing.T) {
	d := newFixture(t)
	m := d.maker()
	ws := NewWindows(d.Display, monotonic)
	if state := ws.Check(t.Context()); state.Status != "partial" || state.Code != codeUnsupported || state.Fix == "" {
		t.Errorf("Check = %+v", state)
	}
	left := m.window("Left", "Alpha", human.Bounds{X: 0, Y: 0, W: 400, H: 400}, false)
	r := listen(t, ws)
	right := m.window("Right", "Beta", human.Bounds{X: 500, Y: 0, W: 400, H: 400}, false)
	r.until("the right one to open", is(human.WindowOpened, "Right"))
	focus := func(id uint32) { m.do(request1(42, 1, id, 0)); m.sync() }
	focus(right)
	r.until("the keyboard in the right one", is(human.WindowActive, "Right"))
	focus(left)
	r.until("the keyboard in the left one", is(human.WindowActive, "Left"))
	m.destroy(right)
	r.until("the right one to close", is(human.WindowClosed, "Right"))

	// A window manager comes, and its word counts from then on.
	d.StartManager()
	d.Wait("the window manager to know the window", func() bool { return slices.Contains(m.state().clients, left) })
	d.Do("xdotool", "windowactivate", strconv.Itoa(int(left)))
	r.until("the word of the window manager", func(e human.RecordedEvent) bool {
		return e.Type == human.WindowActive && e.Window.Title == "Left" && e.Window.Bounds.Y > 0 // below its title bar
	})
	m.title(left, "Managed")
	m.sync()
	r.until("the title", is(human.WindowRetitled, "Managed"))
	if state := ws.Check(t.Context()); state.Status != "complete" {
		t.Errorf("Check = %+v", state)
	}
	r.stop()
}

func TestWindowManagerDies(t *testing.T) {
	d := newFixture(t)
	manager := d.StartManager()
	m := d.maker()
	r := listen(t, NewWindows(d.Display, monotonic))
	m.window("Early", "Alpha", human.Bounds{W: 300, H: 300}, false)
	r.until("the first window", is(human.WindowOpened, "Early"))
	manager.Kill()
	d.Wait("nobody to manage", func() bool { return !m.state().managed })
	m.window("Late", "Beta", human.Bounds{X: 400, W: 300, H: 300}, false)
	r.until("a window that nobody manages", is(human.WindowOpened, "Late"))
	r.stop()
}

func TestVisible(t *testing.T) {
	for name, manage := range map[string]bool{"with a window manager": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			d := newFixture(t)
			if manage {
				d.StartManager()
			}
			m := d.maker()
			ws := NewWindows(d.Display, monotonic)
			back := m.window("Back", "Alpha", human.Bounds{X: 20, Y: 20, W: 400, H: 400}, false)
			front := m.window("Front", "Beta", human.Bounds{X: 100, Y: 100, W: 200, H: 200}, false)
			m.window("Menu", "Gamma", human.Bounds{X: 150, Y: 150, W: 50, H: 90}, true)
			m.window("Helper", "Delta", human.Bounds{X: -50, Y: -50, W: 10, H: 10}, true)
			list := func() string {
				shown, err := ws.Visible(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				var titles []string
				for _, p := range shown {
					if p.App.Exe == "openbox" {
						continue // a menu of its own that passes
					}
					if p.App.PID != syscall.Getpid() || p.App.Name == "" || !strings.Contains(p.App.Exe, "test") {
						t.Fatalf("%+v is of this process %d", p, syscall.Getpid())
					}
					titles = append(titles, p.Window.Title)
				}
				return strings.Join(titles, " ")
			}
			got := ""
			d.Wait("the windows, topmost first", func() bool { got = list(); return got == "Menu Front Back" })
			r := listen(t, ws) // from now on over its connection
			if got := list(); got != "Menu Front Back" {
				t.Errorf("while it runs: %s", got)
			}
			m.do(append(request1(12, 0, back, 1<<6), 0, 0, 0, 0)) // ConfigureWindow: raise
			m.sync()
			d.Wait("the back one to come forward", func() bool { got := list(); return got == "Menu Back Front" || got == "Back Menu Front" })
			m.do(request1(10, 0, front)) // UnmapWindow
			m.sync()
			d.Wait("the front one to go", func() bool { return !strings.Contains(list(), "Front") })
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := ws.Visible(ended); err == nil {
				t.Error("Visible with an ended context answered")
			}
			if got := list(); !strings.Contains(got, "Back") {
				t.Errorf("after one that was given up: %s", got)
			}
			r.stop()
		})
	}
}

func TestVisibleIsFast(t *testing.T) {
	d := newFixture(t)
	d.StartManager()
	m := d.maker()
	for i := range 30 {
		m.window(fmt.Sprint("Window ", i), "Alpha", human.Bounds{X: 10 * i, Y: 10 * i, W: 200, H: 200}, false)
	}
	d.Wait("the windows", func() bool { return len(m.state().clients) == 30 })
	ws := NewWindows(d.Display, monotonic)
	r := listen(t, ws)
	best := time.Hour
	for range 20 {
		start := time.Now()
		if _, err := ws.Visible(t.Context()); err != nil {
			t.Fatal(err)
		}
		best = min(best, time.Since(start))
	}
	t.Logf("30 windows in %v", best)
	if best > 20*time.Millisecond { // 2 ms here; a poll for each window in turn takes many times that
		t.Errorf("Visible takes %v", best)
	}
	r.stop()
}
