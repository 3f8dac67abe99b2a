package platform

import (
	"context"
	"fmt"

	"github.com/godbus/dbus/v5"
)

// WatchSleep calls woke whenever the machine has woken from sleep (logind's PrepareForSleep), until ctx ends. The error says why that
// cannot be known here.
func WatchSleep(ctx context.Context, woke func()) error {
	const manager = "org.freedesktop.login1.Manager"
	conn, err := dbus.ConnectSystemBus(dbus.WithContext(ctx))
	if err != nil {
		return fmt.Errorf("sleep and wake are not known: %w", err)
	}
	defer func() { _ = conn.Close() }()
	signals := make(chan *dbus.Signal, 8)
	conn.Signal(signals)
	if err := conn.AddMatchSignal(dbus.WithMatchSender("org.freedesktop.login1"), dbus.WithMatchInterface(manager), dbus.WithMatchMember("PrepareForSleep")); err != nil {
		return fmt.Errorf("sleep and wake are not known: %w", err)
	}
	for signal := range signals { // until ctx closes the connection
		if len(signal.Body) != 1 || signal.Name != manager+".PrepareForSleep" {
			continue
		}
		if begins, ok := signal.Body[0].(bool); ok && !begins {
			woke()
		}
	}
	return ctx.Err()
}
