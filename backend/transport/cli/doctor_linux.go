package cli

import (
	"context"
	"errors"

	"github.com/godbus/dbus/v5"

	"deskbell/backend/human"
)

// checkSession looks at the session bus and at who shows tray icons.
func checkSession(ctx context.Context) []human.Diagnosis {
	// Where there is none, none is started: it would be there for this look alone.
	conn, err := dbus.SessionBusPrivateNoAutoStartup(dbus.WithContext(ctx))
	if err == nil {
		defer func() { _ = conn.Close() }()
		err = errors.Join(conn.Auth(nil), conn.Hello())
	}
	if err != nil {
		return []human.Diagnosis{human.Limited(human.Sayf("session bus"), human.Sayf("none: no notifications, no tray icon"), human.Sayf("start Deskbell from your desktop session, or with `dbus-run-session deskbell`"))}
	}
	checks := []human.Diagnosis{human.Healthy(human.Sayf("session bus"), human.Sayf("there is one"))}
	var tray bool
	err = conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, "org.kde.StatusNotifierWatcher").Store(&tray)
	if err != nil || !tray {
		return append(checks, human.Limited(human.Sayf("tray"), human.Sayf("no program shows tray icons"), human.Sayf("reach the hidden window by starting `deskbell` again, or with Ctrl Alt B")))
	}
	return append(checks, human.Healthy(human.Sayf("tray"), human.Sayf("a program shows tray icons")))
}
