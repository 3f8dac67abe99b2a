package windows

import (
	"context"
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"

	"deskbell/backend/record"
)

var (
	user32   = windows.NewLazySystemDLL("user32.dll")
	kernel32 = windows.NewLazySystemDLL("kernel32.dll")
	dwmapi   = windows.NewLazySystemDLL("dwmapi.dll")

	procGetMessage        = user32.NewProc("GetMessageW")
	procPeekMessage       = user32.NewProc("PeekMessageW")
	procDispatchMessage   = user32.NewProc("DispatchMessageW")
	procPostThreadMessage = user32.NewProc("PostThreadMessageW")
	procSetAwareness      = user32.NewProc("SetProcessDpiAwarenessContext")
	procSetTimer          = user32.NewProc("SetTimer")
	procKillTimer         = user32.NewProc("KillTimer")
)

const (
	wmQuit  = 0x0012
	wmTimer = 0x0113
)

type point struct{ x, y int32 }

type rect struct{ left, top, right, bottom int32 }

type message struct {
	window  uintptr
	number  uint32
	w, l    uintptr
	time    uint32
	at      point
	private uint32
}

// seePixels has the system speak of pixels to this process: to one that does not say it can, it tells of a screen of
// 96 dots per inch, and pointer, windows and pictures would not fit each other. A manifest that says it already is
// as good. It works before the process has a window, so every source calls it when it is made.
var seePixels = sync.OnceFunc(func() {
	const perMonitorV2 = ^uintptr(3)    // -4
	if procSetAwareness.Find() == nil { // Windows 10 1703
		_, _, _ = procSetAwareness.Call(perMonitorV2)
	}
})

// loop runs begin on a thread of its own that has a message queue, then handles its messages until ctx ends, then
// runs end. With tick, that is run every so many milliseconds. An error of begin is returned at once. Hooks and
// windows belong to the thread that made them; it ends with the loop, so nothing of it is left over for another.
func loop(ctx context.Context, begin func() error, every uintptr, tick func(), end func()) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine
		var m message
		_, _, _ = procPeekMessage.Call(uintptr(unsafe.Pointer(&m)), 0, 0, 0, 0) // gives the thread its queue
		thread := windows.GetCurrentThreadId()
		if err := begin(); err != nil {
			done <- err
			return
		}
		stop := context.AfterFunc(ctx, func() { _, _, _ = procPostThreadMessage.Call(uintptr(thread), wmQuit, 0, 0) })
		var timer uintptr
		if tick != nil {
			timer, _, _ = procSetTimer.Call(0, 0, every, 0)
		}
		for {
			got, _, _ := procGetMessage.Call(uintptr(unsafe.Pointer(&m)), 0, 0, 0)
			if int32(got) <= 0 {
				break
			}
			if m.number == wmTimer && m.window == 0 {
				tick()
				continue
			}
			_, _, _ = procDispatchMessage.Call(uintptr(unsafe.Pointer(&m)))
		}
		stop()
		if timer != 0 {
			_, _, _ = procKillTimer.Call(0, timer)
		}
		end()
		done <- nil
	}()
	return <-done
}

func monotonic(clock record.Clock) func() int64 {
	return func() int64 { _, mono := clock(); return mono }
}
