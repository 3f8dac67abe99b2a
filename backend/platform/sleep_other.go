//go:build !linux

package platform

import (
	"context"
	"time"
)

// WatchSleep calls woke whenever the machine has woken from sleep, until ctx ends: the time of day has run ahead of the timers, which
// stand still while it sleeps. It is known within a minute.
func WatchSleep(ctx context.Context, woke func()) error {
	const look, jump = 30 * time.Second, 20 * time.Second
	tick := time.NewTicker(look)
	defer tick.Stop()
	for last := time.Now(); ; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		now := time.Now()
		if now.Round(0).Sub(last.Round(0))-now.Sub(last) > jump {
			woke()
		}
		last = now
	}
}
