package window

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/godbus/dbus/v5"
)

// quietProperties are what services that show notifications say of their do-not-disturb, as boolean properties.
var quietProperties = []struct{ iface, name string }{
	{notifyName, "Inhibited"},           // KDE
	{"org.dunstproject.cmd0", "paused"}, // dunst
}

// WatchSystemQuiet reports the state of the system's own do-not-disturb, now and at each change, until ctx ends. GNOME's, KDE's and
// dunst's are known; others are SystemUnknown.
func WatchSystemQuiet(ctx context.Context, changed func(System)) {
	conn, err := sessionBus(ctx)
	if err != nil {
		changed(SystemUnknown)
		return
	}
	defer func() { _ = conn.Close() }()
	changes := make(chan *dbus.Signal, 16)
	conn.Signal(changes)
	err = errors.Join(
		conn.AddMatchSignal(dbus.WithMatchSender("org.freedesktop.DBus"), dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, notifyName)),
		conn.AddMatchSignal(dbus.WithMatchSender(notifyName), dbus.WithMatchInterface("org.freedesktop.DBus.Properties"), dbus.WithMatchMember("PropertiesChanged")),
		// What keeps GNOME's settings says which of them were changed.
		conn.AddMatchSignal(dbus.WithMatchInterface("ca.desrt.dconf.Writer"), dbus.WithMatchMember("Notify"), dbus.WithMatchArgPath(0, "/org/gnome/desktop/notifications/")),
	)
	if err != nil {
		changed(SystemUnknown)
		return
	}
	last := System("")
	for {
		states := []System{serviceQuiet(ctx, conn), gnomeQuiet(ctx)}
		now := SystemUnknown
		switch {
		case ctx.Err() != nil:
			return
		case slices.Contains(states, SystemQuiet):
			now = SystemQuiet
		case slices.Contains(states, SystemLoud):
			now = SystemLoud
		}
		if now != last {
			last = now
			changed(now)
		}
		select {
		case _, open := <-changes:
			if !open {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// serviceQuiet asks whoever shows notifications.
func serviceQuiet(ctx context.Context, conn *dbus.Conn) System {
	var there bool // asking one that is not there would start it
	if err := conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, notifyName).Store(&there); err != nil || !there {
		return SystemUnknown
	}
	for _, p := range quietProperties {
		var v dbus.Variant
		if err := conn.Object(notifyName, notifyPath).CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get", 0, p.iface, p.name).Store(&v); err != nil {
			continue
		}
		if on, ok := v.Value().(bool); ok {
			if on {
				return SystemQuiet
			}
			return SystemLoud
		}
	}
	return SystemUnknown
}

// gnomeQuiet reads what GNOME's switch sets.
func gnomeQuiet(ctx context.Context) System {
	if !strings.Contains(os.Getenv("XDG_CURRENT_DESKTOP"), "GNOME") {
		return SystemUnknown
	}
	shown, err := exec.CommandContext(ctx, "gsettings", "get", "org.gnome.desktop.notifications", "show-banners").Output()
	switch {
	case err != nil:
		return SystemUnknown
	case strings.TrimSpace(string(shown)) == "false":
		return SystemQuiet
	}
	return SystemLoud
}
