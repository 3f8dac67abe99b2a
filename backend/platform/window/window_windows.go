package window

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	user32 = windows.NewLazySystemDLL("user32.dll")
	shcore = windows.NewLazySystemDLL("shcore.dll")

	procGetCursorPos       = user32.NewProc("GetCursorPos")
	procMonitorFromPoint   = user32.NewProc("MonitorFromPoint")
	procGetMonitorInfo     = user32.NewProc("GetMonitorInfoW")
	procGetDpiForMonitor   = shcore.NewProc("GetDpiForMonitor")
	procFindWindowEx       = user32.NewProc("FindWindowExW")
	procGetWindowLong      = user32.NewProc("GetWindowLongPtrW")
	procSetWindowLong      = user32.NewProc("SetWindowLongPtrW")
	procSetWindowPos       = user32.NewProc("SetWindowPos")
	procGetWindowPlacement = user32.NewProc("GetWindowPlacement")
	procSetWindowPlacement = user32.NewProc("SetWindowPlacement")
	procShowWindow         = user32.NewProc("ShowWindow")
	procIsWindowVisible    = user32.NewProc("IsWindowVisible")
	procSetForeground      = user32.NewProc("SetForegroundWindow")
	procGetThreadProcess   = user32.NewProc("GetWindowThreadProcessId")
	procRegisterHotKey     = user32.NewProc("RegisterHotKey")
	procUnregisterHotKey   = user32.NewProc("UnregisterHotKey")
	procGetMessage         = user32.NewProc("GetMessageW")
	procPeekMessage        = user32.NewProc("PeekMessageW")
	procPostThreadMessage  = user32.NewProc("PostThreadMessageW")
)

const (
	gwlStyle   = ^uintptr(15) // -16
	gwlExStyle = ^uintptr(19) // -20

	wsCaption     = 0x00C00000
	wsThickFrame  = 0x00040000
	wsSysMenu     = 0x00080000
	wsMinimizeBox = 0x00020000
	wsMaximizeBox = 0x00010000

	wsExToolWindow = 0x00000080
	wsExAppWindow  = 0x00040000
	wsExNoActivate = 0x08000000

	swpNoSize       = 0x0001
	swpNoMove       = 0x0002
	swpNoActivate   = 0x0010
	swpFrameChanged = 0x0020
	swpShowWindow   = 0x0040
	swpHideWindow   = 0x0080

	swHide = 0
	swShow = 5

	hwndTopmost   = ^uintptr(0) // -1
	hwndNoTopmost = ^uintptr(1) // -2

	wmHotkey = 0x0312
	wmQuit   = 0x0012
)

type winPoint struct{ X, Y int32 }
type winRect struct{ Left, Top, Right, Bottom int32 }

type winMonitorInfo struct {
	Size          uint32
	Monitor, Work winRect
	Flags         uint32
}

type winPlacement struct {
	Length, Flags, ShowCmd uint32
	Min, Max               winPoint
	Normal                 winRect
}

type winMessage struct {
	Window  uintptr
	Message uint32
	W, L    uintptr
	Time    uint32
	Point   winPoint
	Private uint32
}

// NewWindow returns the hands on the program's window; see Window. Its test has passed under Wine, and not
// yet on Windows itself.
func NewWindow() Window { return &winWindow{} }

type winWindow struct {
	mu      sync.Mutex
	handle  uintptr
	popup   bool
	placed  *winPlacement // where the console last stood
	keys    [len(winHotkeys)]bool
	thread  uint32
	stopped chan struct{}
}

func (*winWindow) Prepare(bool) error { return nil }

func (w *winWindow) Adopt(hotkey func(key Hotkey, shown bool)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	class, err := windows.UTF16PtrFromString("wailsWindow")
	if err != nil {
		return err
	}
	// Several Wails programs may run: ours is the one of this process.
	for handle := uintptr(0); ; {
		handle, _, _ = procFindWindowEx.Call(0, handle, uintptr(unsafe.Pointer(class)), 0)
		if handle == 0 {
			return errors.New("desktop: there is no window")
		}
		var process uint32
		_, _, _ = procGetThreadProcess.Call(handle, uintptr(unsafe.Pointer(&process)))
		if process == windows.GetCurrentProcessId() {
			w.handle = handle
			break
		}
	}
	registered := make(chan [len(winHotkeys)]bool)
	w.stopped = make(chan struct{})
	go w.listen(hotkey, registered)
	w.keys = <-registered
	return nil
}

// winHotkeys are the modifiers and virtual key codes, in the order of Hotkey.
var winHotkeys = [...]struct{ mods, key uintptr }{
	BellKey:   {modAlt | modControl, 0x42},
	RecordKey: {modAlt | modControl, 0x52},
	StopKey:   {modAlt | modControl | modShift, 0x52},
}

const modAlt, modControl, modShift, modNoRepeat = 0x1, 0x2, 0x4, 0x4000

// listen waits for hot keys: their messages come to the thread that registered them.
func (w *winWindow) listen(hotkey func(key Hotkey, shown bool), registered chan<- [len(winHotkeys)]bool) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(w.stopped)
	var m winMessage
	_, _, _ = procPeekMessage.Call(uintptr(unsafe.Pointer(&m)), 0, 0, 0, 0) // gives the thread its queue
	w.thread = windows.GetCurrentThreadId()
	var keys [len(winHotkeys)]bool
	for i, k := range winHotkeys {
		ok, _, _ := procRegisterHotKey.Call(0, uintptr(i+1), k.mods|modNoRepeat, k.key)
		keys[i] = ok != 0
		defer func() { _, _, _ = procUnregisterHotKey.Call(0, uintptr(i+1)) }()
	}
	registered <- keys
	for {
		got, _, _ := procGetMessage.Call(uintptr(unsafe.Pointer(&m)), 0, 0, 0)
		if int32(got) <= 0 {
			return
		}
		if m.Message != wmHotkey {
			continue
		}
		// The thread that has just received a hot key may bring a window to the front; others may not.
		shown, _, _ := procIsWindowVisible.Call(w.handle)
		key := Hotkey(m.W) - 1
		if key == BellKey && shown != 0 {
			_ = w.Focus()
		}
		go hotkey(key, shown != 0)
	}
}

func (w *winWindow) Abilities() Abilities {
	w.mu.Lock()
	defer w.mu.Unlock()
	return Abilities{Place: true, KeepAbove: true, NoFocus: true, Hotkey: w.keys[BellKey], RecordKeys: w.keys[RecordKey] && w.keys[StopKey]}
}

func (w *winWindow) Screen() (Screen, error) {
	var p winPoint
	if ok, _, err := procGetCursorPos.Call(uintptr(unsafe.Pointer(&p))); ok == 0 {
		return Screen{}, fmt.Errorf("desktop: where the pointer is: %w", err)
	}
	const nearest = 2
	// A POINT of two int32 is passed in one register.
	monitor, _, _ := procMonitorFromPoint.Call(uintptr(uint32(p.X))|uintptr(uint32(p.Y))<<32, nearest)
	info := winMonitorInfo{Size: uint32(unsafe.Sizeof(winMonitorInfo{}))}
	if ok, _, err := procGetMonitorInfo.Call(monitor, uintptr(unsafe.Pointer(&info))); ok == 0 {
		return Screen{}, fmt.Errorf("desktop: reading the monitor: %w", err)
	}
	scale := 1.0
	if procGetDpiForMonitor.Find() == nil {
		var dx, dy uint32
		if failed, _, _ := procGetDpiForMonitor.Call(monitor, 0, uintptr(unsafe.Pointer(&dx)), uintptr(unsafe.Pointer(&dy))); failed == 0 && dx > 0 {
			scale = float64(dx) / 96
		}
	}
	r := info.Work
	return Screen{Work: Rect{int(r.Left), int(r.Top), int(r.Right - r.Left), int(r.Bottom - r.Top)}, Unit: scale}, nil
}

func (w *winWindow) style(index, clear, set uintptr) {
	old, _, _ := procGetWindowLong.Call(w.handle, index)
	_, _, _ = procSetWindowLong.Call(w.handle, index, old&^clear|set)
}

func (w *winWindow) ShowPopup(p Popup) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.handle == 0 {
		return errors.New("desktop: there is no window")
	}
	visible, _, _ := procIsWindowVisible.Call(w.handle)
	if !w.popup || visible == 0 {
		if !w.popup && visible != 0 {
			w.remember()
		}
		_, _, _ = procShowWindow.Call(w.handle, swHide)
		w.style(gwlStyle, wsCaption|wsThickFrame|wsSysMenu|wsMinimizeBox|wsMaximizeBox, 0)
		w.style(gwlExStyle, wsExAppWindow, wsExToolWindow|wsExNoActivate)
		w.popup = true
	}
	ok, _, err := procSetWindowPos.Call(w.handle, hwndTopmost, uintptr(p.At.X), uintptr(p.At.Y), uintptr(p.At.W), uintptr(p.At.H), swpNoActivate|swpFrameChanged|swpShowWindow)
	if ok == 0 {
		return fmt.Errorf("desktop: placing the popup: %w", err)
	}
	return nil
}

func (w *winWindow) remember() {
	p := winPlacement{Length: uint32(unsafe.Sizeof(winPlacement{}))}
	if ok, _, _ := procGetWindowPlacement.Call(w.handle, uintptr(unsafe.Pointer(&p))); ok != 0 {
		w.placed = &p
	}
}

func (w *winWindow) ShowConsole(c Console) error {
	screen, err := w.Screen()
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.handle == 0 {
		return errors.New("desktop: there is no window")
	}
	if w.popup || w.placed == nil {
		_, _, _ = procShowWindow.Call(w.handle, swHide)
		w.style(gwlStyle, 0, wsCaption|wsThickFrame|wsSysMenu|wsMinimizeBox|wsMaximizeBox)
		w.style(gwlExStyle, wsExToolWindow|wsExNoActivate, wsExAppWindow)
		_, _, _ = procSetWindowPos.Call(w.handle, hwndNoTopmost, 0, 0, 0, 0, swpNoMove|swpNoSize|swpNoActivate|swpFrameChanged|swpHideWindow)
		w.popup = false
	}
	if w.placed != nil {
		_, _, _ = procSetWindowPlacement.Call(w.handle, uintptr(unsafe.Pointer(w.placed)))
	} else {
		at := screen.Work
		width := min(at.W, int(float64(c.Width)*screen.Unit))
		height := min(at.H, int(float64(c.Height)*screen.Unit))
		_, _, _ = procSetWindowPos.Call(w.handle, hwndNoTopmost, uintptr(at.X+(at.W-width)/2), uintptr(at.Y+(at.H-height)/2), uintptr(width), uintptr(height), swpFrameChanged)
	}
	_, _, _ = procShowWindow.Call(w.handle, swShow)
	w.remember()
	_, _, _ = procSetForeground.Call(w.handle)
	return nil
}

// Monitors, Place and SetPlace are not made yet: Windows keeps the place as long as the program runs.
func (w *winWindow) Monitors() ([]Rect, error) { return nil, ErrUnsupported }

// Place is not known; see Monitors.
func (w *winWindow) Place() (Place, error) { return Place{}, ErrUnsupported }

// SetPlace does nothing; see Monitors.
func (w *winWindow) SetPlace(Place) error { return ErrUnsupported }

func (w *winWindow) Hide() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.handle == 0 {
		return errors.New("desktop: there is no window")
	}
	if visible, _, _ := procIsWindowVisible.Call(w.handle); visible != 0 && !w.popup {
		w.remember()
	}
	_, _, _ = procShowWindow.Call(w.handle, swHide)
	return nil
}

func (w *winWindow) Focus() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.handle == 0 {
		return errors.New("desktop: there is no window")
	}
	w.style(gwlExStyle, wsExNoActivate, 0)
	if ok, _, err := procSetForeground.Call(w.handle); ok == 0 && !errors.Is(err, syscall.Errno(0)) {
		return fmt.Errorf("desktop: bringing the keyboard here: %w", err)
	}
	return nil
}

func (w *winWindow) Close() {
	if w.stopped == nil {
		return
	}
	_, _, _ = procPostThreadMessage.Call(uintptr(w.thread), wmQuit, 0, 0)
	<-w.stopped
}
