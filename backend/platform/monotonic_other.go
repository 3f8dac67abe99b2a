//go:build !linux

package platform

import "time"

var start = time.Now()

// monotonic is the system's monotonic clock, in nanoseconds since the program started.
func monotonic() int64 { return int64(time.Since(start)) }
