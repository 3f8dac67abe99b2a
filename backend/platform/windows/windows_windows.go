package windows

import (
	"context"
	"strconv"
	"sync"

	"golang.org/x/sys/windows"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

var (
	procSetWinEventHook = user32.NewProc("SetWinEventHook")
	procUnhookWinEvent  = user32.NewProc("UnhookWinEvent")
)

// The system's events, from winuser.h.
const (
	eventForeground    = 0x0003
	eventMoveSizeStart = 0x000A
	eventMoveSizeEnd   = 0x000B
	eventDestroy       = 0x8001
	eventShow          = 0x8002
	eventHide          = 0x8003
	eventFocus         = 0x8005
	eventLocation      = 0x800B
	eventName          = 0x800C
)

// eventHooks are those set, by handle, with what listens to them.
var eventHooks sync.Map

// The system keeps each callback for ever, so there is one for all hooks.
var eventProc = windows.NewCallback(func(hook uintptr, event uint32, h windows.HWND, object, child int32, _, _ uint32) uintptr {
	if listen, ok := eventHooks.Load(hook); ok {
		listen.(func(uint32, windows.HWND, int32, int32))(event, h, object, child)
	}
	return 0
})

// hookEvents listens to ranges of events, told on the calling thread through its messages, until unhook.
func hookEvents(listen func(event uint32, h windows.HWND, object, child int32), ranges ...[2]uint32) (unhook func(), err error) {
	var hooks []uintptr
	unhook = func() {
		for _, h := range hooks {
			_, _, _ = procUnhookWinEvent.Call(h)
			eventHooks.Delete(h)
		}
	}
	for _, r := range ranges {
		const outOfContext = 0
		h, _, err := procSetWinEventHook.Call(uintptr(r[0]), uintptr(r[1]), 0, eventProc, 0, 0, outOfContext)
		if h == 0 {
			unhook()
			return nil, human.Wrap(human.Unavailable, err, "Windows does not report its windows in this session.")
		}
		eventHooks.Store(h, listen)
		hooks = append(hooks, h)
	}
	return unhook, nil
}

// look is how often, in milliseconds, what the system tells is compared with what is: it does not tell of
// everything (a Store application that is cloaked, a window that opens without being shown anew).
const look = 200

// Windows is a record.Windows. Input into windows of programs with more rights than Deskbell has cannot be seen: a
// stretch in which such a window is active is told as a GapOpened event of the input source.
type Windows struct {
	clock     record.Clock
	processes processes
}

// NewWindows makes one.
func NewWindows(clock record.Clock) *Windows {
	seePixels()
	return &Windows{clock: clock}
}

// Check tells of an elevated window that is active now, and of this session having no desktop.
func (w *Windows) Check(context.Context) human.SourceState {
	state := human.SourceState{Source: human.WindowSource, Status: "complete"}
	h := windows.GetForegroundWindow()
	if h != 0 && w.processes.above(owner(h)) {
		state.Status, state.Code = "partial", "elevated"
		state.Detail = "The active window belongs to a program that runs as administrator: what is typed and clicked in it cannot be seen."
		state.Fix = "Run that program without administrator rights, or Deskbell with them."
	} else if h == 0 && len(enumerate(0)) == 0 {
		state.Status, state.Code = "missing", "no_display"
		state.Detail = "This session has no desktop."
		state.Fix = "Start Deskbell in the session whose desktop is to be recorded."
	}
	return state
}

// Visible lists the windows people see, topmost first. Their bounds here are those of the whole window: its title
// bar is to be blacked out with it, and a click there is a click on it.
func (w *Windows) Visible(context.Context) ([]record.Placed, error) {
	var placed []record.Placed
	for _, h := range enumerate(0) { // in that order
		if !onScreen(h) {
			continue
		}
		p := w.placed(h)
		if p.Window.Bounds = frame(h); p.Window.Bounds.W > 0 && p.Window.Bounds.H > 0 {
			placed = append(placed, p)
		}
	}
	return placed, nil
}

func (w *Windows) placed(h windows.HWND) record.Placed {
	return record.Placed{App: w.processes.of(h),
		Window: human.Window{ID: strconv.FormatUint(uint64(h), 10), Title: title(h), Bounds: bounds(h)}}
}

// Run tells of windows; see record.Windows.
func (w *Windows) Run(ctx context.Context, ready func(), emit func(human.RecordedEvent)) (uint64, error) {
	r := &windowRun{w: w, now: monotonic(w.clock), emit: emit, known: map[windows.HWND]record.Placed{}}
	var unhook func()
	err := loop(ctx, func() (err error) {
		unhook, err = hookEvents(r.take, [2]uint32{eventForeground, eventForeground}, [2]uint32{eventMoveSizeStart, eventMoveSizeEnd},
			[2]uint32{eventDestroy, eventHide}, [2]uint32{eventFocus, eventFocus}, [2]uint32{eventLocation, eventName})
		if err != nil {
			return err
		}
		for _, h := range enumerate(0) {
			if p, ok := r.application(h); ok {
				r.known[h] = p
			}
		}
		r.activate(windows.GetForegroundWindow())
		ready()
		return nil
	}, look, r.compare, func() {
		unhook()
		r.endGap()
	})
	return r.seen, err
}

// windowRun is one Run's state; only its thread touches it.
type windowRun struct {
	w        *Windows
	now      func() int64
	emit     func(human.RecordedEvent)
	known    map[windows.HWND]record.Placed
	active   windows.HWND
	moving   bool
	elevated int64 // since when an elevated window is active
	seen     uint64
}

func (r *windowRun) tell(kind human.RecordedType, p record.Placed) {
	r.seen++
	r.emit(human.RecordedEvent{At: r.now(), Source: human.WindowSource, Type: kind, App: &p.App, Window: &p.Window})
}

func (r *windowRun) take(event uint32, h windows.HWND, object, child int32) {
	if h == 0 {
		return
	}
	if event == eventFocus {
		const root = 2
		top, _, _ := procGetAncestor.Call(uintptr(h), root)
		if windows.HWND(top) == windows.GetForegroundWindow() {
			r.activate(windows.HWND(top))
		}
		return
	}
	if object != 0 || child != 0 { // of a part of a window: its caret, a menu item
		return
	}
	switch event {
	case eventForeground:
		r.activate(h)
	case eventShow:
		r.open(h)
	case eventDestroy, eventHide:
		r.closed(h)
	case eventMoveSizeStart:
		r.moving = true
	case eventMoveSizeEnd:
		r.moving = false
		r.changed(h)
	case eventLocation, eventName:
		if !r.moving {
			r.changed(h)
		}
	}
}

// compare tells of what the system did not.
func (r *windowRun) compare() {
	is := map[windows.HWND]bool{}
	for _, h := range enumerate(0) {
		is[h] = true
		r.open(h)
	}
	for h := range r.known {
		if !is[h] || !windows.IsWindowVisible(h) {
			r.closed(h)
		}
	}
	r.activate(windows.GetForegroundWindow())
	if !r.moving {
		r.changed(r.active)
	}
}

// application says whether a window is one that people see as an application's.
func (r *windowRun) application(h windows.HWND) (record.Placed, bool) {
	if !topLevel(h) || !windows.IsWindowVisible(h) {
		return record.Placed{}, false
	}
	p := r.w.placed(h)
	return p, p.Window.Title != "" || p.Window.Bounds.W*p.Window.Bounds.H > 0
}

func (r *windowRun) open(h windows.HWND) {
	if _, ok := r.known[h]; ok {
		return
	}
	if p, ok := r.application(h); ok {
		r.known[h] = p
		r.tell(human.WindowOpened, p)
	}
}

func (r *windowRun) closed(h windows.HWND) {
	if p, ok := r.known[h]; ok {
		delete(r.known, h)
		r.tell(human.WindowClosed, p)
	}
	if h == r.active {
		r.active = 0
		r.endGap()
	}
}

func (r *windowRun) activate(h windows.HWND) {
	if h == 0 || h == r.active || !windows.IsWindow(h) {
		return
	}
	r.open(h)
	r.endGap()
	p := r.w.placed(h)
	r.active, r.known[h] = h, p
	r.tell(human.WindowActive, p)
	if r.w.processes.above(owner(h)) {
		r.elevated = r.now()
	}
}

func (r *windowRun) changed(h windows.HWND) {
	if h == 0 || h != r.active || !windows.IsWindow(h) {
		return
	}
	if p := r.w.placed(h); p.Window != r.known[h].Window {
		r.known[h] = p
		r.tell(human.WindowRetitled, p)
	}
}

// endGap tells of the stretch in which a window was active whose input cannot be seen.
func (r *windowRun) endGap() {
	if r.elevated == 0 {
		return
	}
	r.seen++
	r.emit(human.RecordedEvent{At: r.now(), Source: human.WindowSource, Type: human.GapOpened,
		Gap: &human.Gap{From: r.elevated, To: r.now(), Source: human.InputSource, Reason: "lost"}})
	r.elevated = 0
}
