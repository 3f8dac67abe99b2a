package macos

import (
	"context"
	"path/filepath"
	"strconv"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// look is how often the list of windows is compared with what it was: the system tells of changes only to a program's
// main thread, which is the window's here.
const look = 200 * time.Millisecond

// Windows is a record.Windows on the system's list of windows. Titles need the permission to record the screen;
// without it they are empty. Bounds are of the whole window, its title bar included, in points.
type Windows struct{ clock record.Clock }

// NewWindows makes one.
func NewWindows(clock record.Clock) *Windows { return &Windows{clock: clock} }

// Check says whether titles can be had.
func (w *Windows) Check(context.Context) human.SourceState {
	state := permitted(human.SourceState{Source: human.WindowSource, Status: "complete"},
		func() bool { return system.CGPreflightScreenCapture() }, "read the titles of windows", "Screen & System Audio Recording")
	if state.Code == "no_permission" {
		state.Status = "partial"
	}
	return state
}

// Visible lists the windows on the screen, topmost first.
func (w *Windows) Visible(context.Context) ([]record.Placed, error) {
	if err := load(); err != nil {
		return nil, err
	}
	var placed []record.Placed
	pooled(func() { placed = list() })
	return placed, nil
}

// list reads ordinary windows (those of layer 0), in the order they lie.
func list() []record.Placed {
	const onScreen, noDesktop = 1 << 0, 1 << 4
	windows := system.CGWindowListCopyInfo(onScreen|noDesktop, 0)
	if windows == 0 {
		return nil
	}
	defer system.CFRelease(windows)
	var placed []record.Placed
	for i := range system.CFArrayGetCount(windows) {
		w := system.CFArrayGetValue(windows, i)
		get := func(key string) ref { return system.CFDictionaryGetValue(w, name(key)) }
		if number(get("kCGWindowLayer")) != 0 {
			continue
		}
		var r cgRect
		if bounds := get("kCGWindowBounds"); bounds == 0 || !system.CGRectFromDictionary(bounds, &r) {
			continue
		}
		pid := int(number(get("kCGWindowOwnerPID")))
		placed = append(placed, record.Placed{
			App: human.App{Name: text(get("kCGWindowOwnerName")), PID: pid, Exe: executable(pid)},
			Window: human.Window{ID: strconv.FormatInt(number(get("kCGWindowNumber")), 10), Title: text(get("kCGWindowName")),
				Bounds: rectangle(r)},
		})
	}
	return placed
}

func rectangle(r cgRect) human.Bounds {
	return human.Bounds{X: int(r.at.x), Y: int(r.at.y), W: int(r.size.w), H: int(r.size.h)}
}

func executable(pid int) string {
	path := make([]byte, 4096)
	n := system.PidPath(int32(pid), &path[0], uint32(len(path)))
	if n <= 0 {
		return ""
	}
	return filepath.Base(string(path[:n]))
}

// Run tells of windows; see record.Windows. Times are late by up to 200 ms, and what came and went in between is not
// seen.
func (w *Windows) Run(ctx context.Context, ready func(), emit func(human.RecordedEvent)) (seen uint64, err error) {
	if err := load(); err != nil {
		return 0, err
	}
	now := monotonic(w.clock)
	tell := func(kind human.RecordedType, p record.Placed) {
		seen++
		emit(human.RecordedEvent{At: now(), Source: human.WindowSource, Type: kind, App: &p.App, Window: &p.Window})
	}
	known := map[string]record.Placed{}
	active := ""
	first := true
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for ctx.Err() == nil {
		var placed []record.Placed
		pooled(func() { placed = list() })
		is := map[string]bool{}
		for _, p := range placed {
			is[p.Window.ID] = true
			if _, ok := known[p.Window.ID]; !ok && !first {
				tell(human.WindowOpened, p)
			}
		}
		for id, p := range known {
			if !is[id] {
				delete(known, id)
				tell(human.WindowClosed, p)
			}
		}
		for i, p := range placed {
			switch before := known[p.Window.ID]; {
			case i == 0 && p.Window.ID != active:
				active = p.Window.ID
				tell(human.WindowActive, p)
			case i == 0 && p.Window != before.Window:
				tell(human.WindowRetitled, p)
			}
			known[p.Window.ID] = p
		}
		if len(placed) == 0 {
			active = ""
		}
		if first {
			first = false
			ready()
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
	return seen, nil
}
