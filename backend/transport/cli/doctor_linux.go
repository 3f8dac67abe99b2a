package cli

import (
	"context"
	"errors"

	"github.com/godbus/dbus/v5"

	"deskbell/backend/human"
)

// checkSession looks at the session bus and at who shows tray icons.
func checkSession(ctx context.Context) []human.DoctorCheck {
	// Where there is none, none is started: it would be there for this look alone.
	conn, err := dbus.SessionBusPrivateNoAutoStartup(dbus.WithContext(ctx))
	if err == nil {
		defer func() { _ = conn.Close() }()
		err = errors.Join(conn.Auth(nil), conn.Hello())
	}
	if err != nil {
		return []human.DoctorCheck{examined("session bus", human.CheckWarn, "none: no notifications, no tray icon", "start Deskbell from your desktop session, or under dbus-run-session")}
	}
	checks := []human.DoctorCheck{examined("session bus", human.CheckOK, "there is one", "")}
	var tray bool
	err = conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, "org.kde.StatusNotifierWatcher").Store(&tray)
	if err != nil || !tray {
		return append(checks, examined("tray", human.CheckWarn, "no program shows tray icons", "reach the hidden window by starting `deskbell` again, or with Ctrl Alt B"))
	}
	return append(checks, examined("tray", human.CheckOK, "a program shows tray icons", ""))
}
