package window

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"

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
	var mu sync.Mutex
	service, gnome := SystemUnknown, SystemUnknown
	last := System("")
	set := func(which *System, s System) {
		mu.Lock()
		defer mu.Unlock()
		*which = s
		now := SystemUnknown
		switch {
		case service == SystemQuiet || gnome == SystemQuiet:
			now = SystemQuiet
		case service == SystemLoud || gnome == SystemLoud:
			now = SystemLoud
		}
		if now != last {
			last = now
			changed(now)
		}
	}
	var watching sync.WaitGroup
	if strings.Contains(os.Getenv("XDG_CURRENT_DESKTOP"), "GNOME") {
		watching.Go(func() { watchGNOME(ctx, func(s System) { set(&gnome, s) }) })
	}
	watchService(ctx, func(s System) { set(&service, s) })
	watching.Wait()
}

// watchService asks whoever shows notifications, and again whenever something there changed.
func watchService(ctx context.Context, set func(System)) {
	conn, err := sessionBus(ctx)
	if err != nil {
		set(SystemUnknown)
		return
	}
	defer func() { _ = conn.Close() }()
	changes := make(chan *dbus.Signal, 16)
	conn.Signal(changes)
	err = conn.AddMatchSignal(dbus.WithMatchSender("org.freedesktop.DBus"), dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, notifyName))
	if err == nil {
		err = conn.AddMatchSignal(dbus.WithMatchSender(notifyName), dbus.WithMatchInterface("org.freedesktop.DBus.Properties"), dbus.WithMatchMember("PropertiesChanged"))
	}
	if err != nil {
		set(SystemUnknown)
		return
	}
	for {
		set(serviceQuiet(ctx, conn))
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

// watchGNOME reads what GNOME's switch sets. The program that reads it ends with ctx.
func watchGNOME(ctx context.Context, set func(System)) {
	const schema, key = "org.gnome.desktop.notifications", "show-banners"
	read := func(text string) {
		switch {
		case strings.HasSuffix(strings.TrimSpace(text), "false"):
			set(SystemQuiet)
		case strings.HasSuffix(strings.TrimSpace(text), "true"):
			set(SystemLoud)
		}
	}
	monitor := exec.CommandContext(ctx, "gsettings", "monitor", schema, key)
	out, err := monitor.StdoutPipe()
	if err != nil || monitor.Start() != nil {
		return
	}
	if text, err := exec.CommandContext(ctx, "gsettings", "get", schema, key).Output(); err == nil {
		read(string(text))
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		read(lines.Text())
	}
	_ = monitor.Wait() // it was ended
}
