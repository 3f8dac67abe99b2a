package window

import (
	"context"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// WatchSystemQuiet reports whether Windows wants no notifications now (SHQueryUserNotificationState: quiet time, a presentation, a
// program that fills the screen), until ctx ends. It looks every few seconds: Windows sends no event of it.
func WatchSystemQuiet(ctx context.Context, changed func(System)) {
	query := windows.NewLazySystemDLL("shell32.dll").NewProc("SHQueryUserNotificationState")
	const acceptsNotifications = 5
	tick := time.NewTicker(10 * time.Second)
	defer tick.Stop()
	last := System("")
	for {
		now, state := SystemUnknown, uint32(0)
		if query.Find() == nil {
			if r, _, _ := query.Call(uintptr(unsafe.Pointer(&state))); r == 0 && state != 0 {
				now = SystemQuiet
				if state == acceptsNotifications || state == 1 { // 1: the screen is locked
					now = SystemLoud
				}
			}
		}
		if now != last {
			last = now
			changed(now)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
