package cli

import (
	"context"
	"errors"
	"os"

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
	checks := append([]human.Diagnosis{human.Healthy(human.Sayf("session bus"), human.Sayf("there is one"))}, checkKeys(ctx, conn)...)
	var tray bool
	err = conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, "org.kde.StatusNotifierWatcher").Store(&tray)
	if err != nil || !tray {
		return append(checks, human.Limited(human.Sayf("tray"), human.Sayf("no program shows tray icons"), human.Sayf("reach the hidden window by starting `deskbell` again, or with Ctrl Alt B")))
	}
	return append(checks, human.Healthy(human.Sayf("tray"), human.Sayf("a program shows tray icons")))
}

// checkKeys looks whether a Wayland session's portal gives programs keys. On X11 the window has them itself.
func checkKeys(ctx context.Context, conn *dbus.Conn) []human.Diagnosis {
	if os.Getenv("WAYLAND_DISPLAY") == "" && os.Getenv("XDG_SESSION_TYPE") != "wayland" {
		return nil
	}
	var version dbus.Variant
	err := conn.Object("org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop").
		CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get", 0, "org.freedesktop.portal.GlobalShortcuts", "version").Store(&version)
	if err != nil {
		return []human.Diagnosis{human.Limited(human.Sayf("hot keys"), human.Sayf("this Wayland session gives programs none"), human.Sayf("bind a key to `deskbell` in the settings of your desktop"))}
	}
	return []human.Diagnosis{human.Healthy(human.Sayf("hot keys"), human.Sayf("the desktop gives them; its settings say which keys"))}
}
