package cli

import (
	"context"

	"github.com/godbus/dbus/v5"
)

// checkSession looks at the session bus and at who shows tray icons.
func checkSession(ctx context.Context) []Check {
	conn, err := dbus.ConnectSessionBus(dbus.WithContext(ctx))
	if err != nil {
		return []Check{{"session bus", checkWarn, "none: no notifications, no tray icon", "start Deskbell from your desktop session, or under dbus-run-session"}}
	}
	defer func() { _ = conn.Close() }()
	checks := []Check{{"session bus", checkOK, "there is one", ""}}
	var tray bool
	err = conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, "org.kde.StatusNotifierWatcher").Store(&tray)
	if err != nil || !tray {
		return append(checks, Check{"tray", checkWarn, "nobody shows tray icons", "reach the hidden window by starting `deskbell` again, or with Ctrl Alt B"})
	}
	return append(checks, Check{"tray", checkOK, "somebody shows tray icons", ""})
}
