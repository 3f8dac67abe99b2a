package window

import (
	"context"
	"fmt"

	"github.com/godbus/dbus/v5"
)

// waitForPanel blocks until a program on the session bus shows tray icons. Panels start after the programs
// of a session as often as before, and the library would report each absence as an error.
func waitForPanel(ctx context.Context) error {
	const watcher = "org.kde.StatusNotifierWatcher"
	conn, err := sessionBus(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	changes := make(chan *dbus.Signal, 16)
	conn.Signal(changes)
	if err := conn.AddMatchSignal(dbus.WithMatchSender("org.freedesktop.DBus"), dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, watcher)); err != nil {
		return fmt.Errorf("desktop: watching for a panel: %w", err)
	}
	for {
		var there bool
		if err := conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, watcher).Store(&there); err != nil {
			return fmt.Errorf("desktop: looking for a panel: %w", err)
		}
		if there {
			return nil
		}
		select {
		case _, open := <-changes:
			if !open {
				return fmt.Errorf("desktop: the session bus has gone")
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
