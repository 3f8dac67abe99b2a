package platform

import "golang.org/x/sys/unix"

// monotonic is the clock X servers stamp their events with, in nanoseconds.
func monotonic() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // fails for unknown clocks only
	return t.Nano()
}
