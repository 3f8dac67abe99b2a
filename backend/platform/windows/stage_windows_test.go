package windows_test

import (
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	user32 = windows.NewLazySystemDLL("user32.dll")

	procCreateWindow     = user32.NewProc("CreateWindowExW")
	procDestroyWindow    = user32.NewProc("DestroyWindow")
	procSetForeground    = user32.NewProc("SetForegroundWindow")
	procSetFocus         = user32.NewProc("SetFocus")
	procSetText          = user32.NewProc("SetWindowTextW")
	procPeekMessage      = user32.NewProc("PeekMessageW")
	procTranslateMessage = user32.NewProc("TranslateMessage")
	procDispatchMessage  = user32.NewProc("DispatchMessageW")
	procSendInput        = user32.NewProc("SendInput")
)

var began = time.Now()

func clock() (time.Time, int64) { return time.Now(), int64(time.Since(began)) }

// A stage is a thread that has windows and answers their messages.
type stage struct {
	do   chan func()
	done chan struct{}
}

func newStage(t testing.TB) *stage {
	s := &stage{do: make(chan func()), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		runtime.LockOSThread()
		for {
			select {
			case f, ok := <-s.do:
				if !ok {
					return
				}
				f()
			case <-time.After(5 * time.Millisecond):
			}
			var m [64]byte
			for {
				got, _, _ := procPeekMessage.Call(uintptr(unsafe.Pointer(&m)), 0, 0, 0, 1)
				if got == 0 {
					break
				}
				_, _, _ = procTranslateMessage.Call(uintptr(unsafe.Pointer(&m)))
				_, _, _ = procDispatchMessage.Call(uintptr(unsafe.Pointer(&m)))
			}
		}
	}()
	t.Cleanup(func() { close(s.do); <-s.done })
	return s
}

// on runs f on the stage's thread.
func (s *stage) on(f func()) {
	finished := make(chan struct{})
	s.do <- func() { defer close(finished); f() }
	<-finished
}

const (
	overlapped = 0x00CF0000
	visible    = 0x10000000
	child      = 0x40000000
	border     = 0x00800000
	password   = 0x0020
)

// window makes one; it is gone when the test ends.
func (s *stage) window(t testing.TB, class, text string, style uintptr, parent windows.HWND, x, y, w, h int) windows.HWND {
	t.Helper()
	var made uintptr
	var err error
	s.on(func() {
		made, _, err = procCreateWindow.Call(0, wide(class), wide(text), style, uintptr(x), uintptr(y), uintptr(w), uintptr(h),
			uintptr(parent), 0, 0, 0)
	})
	if made == 0 {
		t.Fatalf("no window of class %s: %v", class, err)
	}
	t.Cleanup(func() { s.on(func() { _, _, _ = procDestroyWindow.Call(made) }) })
	return windows.HWND(made)
}

func (s *stage) foreground(h windows.HWND) {
	s.on(func() { _, _, _ = procSetForeground.Call(uintptr(h)) })
}

func wide(s string) uintptr {
	p, err := windows.UTF16PtrFromString(strings.ReplaceAll(s, "\x00", ""))
	if err != nil {
		panic(err)
	}
	return uintptr(unsafe.Pointer(p))
}

// eventually waits until something is so.
func eventually(t testing.TB, what string, so func() bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for !so() {
		select {
		case <-deadline:
			t.Fatalf("not within 20 s: %s", what)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
