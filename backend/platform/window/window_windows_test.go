package window

import (
	"runtime"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	kernel32 = windows.NewLazySystemDLL("kernel32.dll")

	procRegisterClass    = user32.NewProc("RegisterClassExW")
	procCreateWindow     = user32.NewProc("CreateWindowExW")
	procDestroyWindow    = user32.NewProc("DestroyWindow")
	procDefWindowProc    = user32.NewProc("DefWindowProcW")
	procDispatchMessage  = user32.NewProc("DispatchMessageW")
	procGetWindowRect    = user32.NewProc("GetWindowRect")
	procGetForeground    = user32.NewProc("GetForegroundWindow")
	procKeyEvent         = user32.NewProc("keybd_event")
	procGetModuleHandleW = kernel32.NewProc("GetModuleHandleW")
)

type winClass struct {
	Size, Style          uint32
	Proc                 uintptr
	ClassExtra, WinExtra int32
	Instance, Icon       uintptr
	Cursor, Background   uintptr
	MenuName, Name       *uint16
	SmallIcon            uintptr
}

// openWindow makes a window with a thread of its own that handles its messages, as Wails does.
func openWindow(t *testing.T, class string) uintptr {
	t.Helper()
	made := make(chan uintptr)
	ended := make(chan struct{})
	var thread uint32
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(ended)
		thread = windows.GetCurrentThreadId()
		module, _, _ := procGetModuleHandleW.Call(0)
		name, _ := windows.UTF16PtrFromString(class)
		c := winClass{Proc: procDefWindowProc.Addr(), Instance: module, Name: name}
		c.Size = uint32(unsafe.Sizeof(c))
		_, _, _ = procRegisterClass.Call(uintptr(unsafe.Pointer(&c)))
		const overlapped = 0x00CF0000
		handle, _, _ := procCreateWindow.Call(wsExAppWindow, uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(name)), overlapped, 50, 60, 700, 500, 0, 0, module, 0)
		made <- handle
		var m winMessage
		for {
			got, _, _ := procGetMessage.Call(uintptr(unsafe.Pointer(&m)), 0, 0, 0)
			if int32(got) <= 0 {
				_, _, _ = procDestroyWindow.Call(handle)
				return
			}
			_, _, _ = procDispatchMessage.Call(uintptr(unsafe.Pointer(&m)))
		}
	}()
	handle := <-made
	if handle == 0 {
		t.Skip("this session has no desktop to open a window on")
	}
	t.Cleanup(func() {
		_, _, _ = procPostThreadMessage.Call(uintptr(thread), wmQuit, 0, 0)
		<-ended
	})
	return handle
}

func foreground() uintptr { h, _, _ := procGetForeground.Call(); return h }

func wait(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func TestWindowsWindow(t *testing.T) {
	editor := openWindow(t, "editor")
	_, _, _ = procShowWindow.Call(editor, swShow)
	_, _, _ = procSetForeground.Call(editor)
	wait(t, "the editor in front", func() bool { return foreground() == editor })
	handle := openWindow(t, "wailsWindow")

	w := NewWindow()
	pressed := make(chan bool, 1)
	if err := w.Adopt(func(_ Hotkey, shown bool) { pressed <- shown }); err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	style := func(index uintptr) uintptr { s, _, _ := procGetWindowLong.Call(handle, index); return s }
	rect := func() Rect {
		var r winRect
		_, _, _ = procGetWindowRect.Call(handle, uintptr(unsafe.Pointer(&r)))
		return Rect{int(r.Left), int(r.Top), int(r.Right - r.Left), int(r.Bottom - r.Top)}
	}
	visible := func() bool { v, _, _ := procIsWindowVisible.Call(handle); return v != 0 }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}

	screen, err := w.Screen()
	must(err)
	if screen.Work.W < 640 || screen.Work.H < 400 || screen.Unit < 1 {
		t.Errorf("the screen is %+v", screen)
	}

	const topmost = 0x8
	at := TopRight(screen.Work, 400, 160, 16)
	must(w.ShowPopup(Popup{At: at}))
	if !visible() || rect() != at {
		t.Errorf("the popup stands at %+v, not %+v (visible: %v)", rect(), at, visible())
	}
	if style(gwlStyle)&wsCaption == wsCaption {
		t.Error("the popup has a frame")
	}
	if got := style(gwlExStyle); got&topmost == 0 || got&wsExNoActivate == 0 || got&wsExAppWindow != 0 {
		t.Errorf("the popup's extended style is %#x", got)
	}
	if foreground() != editor {
		t.Error("the popup took the keyboard")
	}

	must(w.ShowConsole(Console{Width: 600, Height: 400}))
	wait(t, "the console in front", func() bool { return foreground() == handle })
	if style(gwlStyle)&wsCaption != wsCaption || style(gwlExStyle)&(topmost|wsExNoActivate) != 0 {
		t.Errorf("the console's styles are %#x, %#x", style(gwlStyle), style(gwlExStyle))
	}
	was := rect()
	must(w.ShowPopup(Popup{At: at}))
	must(w.ShowConsole(Console{Width: 600, Height: 400}))
	if rect() != was {
		t.Errorf("the console came back at %+v, not %+v", rect(), was)
	}
	must(w.Hide())
	if visible() {
		t.Error("it is not hidden")
	}

	if !w.Abilities().Hotkey {
		t.Skip("another program has Ctrl Alt B")
	}
	const up, control, alt = 2, 0x11, 0x12
	for _, key := range []uintptr{control, alt, 'B'} {
		_, _, _ = procKeyEvent.Call(key, 0, 0, 0)
	}
	for _, key := range []uintptr{'B', alt, control} {
		_, _, _ = procKeyEvent.Call(key, 0, up, 0)
	}
	select {
	case shown := <-pressed:
		if shown {
			t.Error("the hot key says that a hidden window is there")
		}
	case <-time.After(10 * time.Second):
		t.Error("the hot key did not come")
	}
}
