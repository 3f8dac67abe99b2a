package window

import (
	"context"
	"errors"
	"fmt"

	"github.com/godbus/dbus/v5"
)

// waitForPanel blocks until a program on the session bus shows tray icons. Panels start after the programs
// of a session as often as before, and the library would report each absence as an error. From then on registered is
// called whenever a panel has taken an icon, until ctx ends: what is set while the library announces its icon it loses.
func waitForPanel(ctx context.Context, registered func()) (err error) {
	const watcher, taken = "org.kde.StatusNotifierWatcher", "StatusNotifierItemRegistered"
	conn, err := sessionBus(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = conn.Close()
		}
	}()
	changes := make(chan *dbus.Signal, 16)
	conn.Signal(changes)
	if err := errors.Join(
		conn.AddMatchSignal(dbus.WithMatchSender("org.freedesktop.DBus"), dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, watcher)),
		conn.AddMatchSignal(dbus.WithMatchInterface(watcher), dbus.WithMatchMember(taken)),
	); err != nil {
		return fmt.Errorf("desktop: watching for a panel: %w", err)
	}
	for {
		var there bool
		if err := conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, watcher).Store(&there); err != nil {
			return fmt.Errorf("desktop: looking for a panel: %w", err)
		}
		if there {
			break
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
	go func() {
		for signal := range changes { // until ctx closes the connection
			if signal.Name == watcher+"."+taken {
				registered()
			}
		}
	}()
	return nil
}
