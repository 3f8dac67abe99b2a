package window

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/godbus/dbus/v5"
)

// Names of the portal that gives programs keys where only the compositor can (GlobalShortcuts, version 1).
const (
	portalName      = "org.freedesktop.portal.Desktop"
	portalPath      = "/org/freedesktop/portal/desktop"
	portalShortcuts = "org.freedesktop.portal.GlobalShortcuts"
	portalRequest   = "org.freedesktop.portal.Request"
)

// shortcuts are the hot keys, in the order of Hotkey, by the names and keys that the portal hears of.
var shortcuts = []struct{ id, trigger string }{
	{"bell", "CTRL+ALT+b"},
	{"record", "CTRL+ALT+r"},
	{"stop", "CTRL+ALT+SHIFT+r"},
}

// WatchShortcuts asks a Wayland session's portal for the hot keys, which may ask the user, and reports each one that is
// pressed until ctx ends, when it returns nil. Which keys they are is the user's choice. It returns ErrUnsupported outside
// Wayland and where no portal gives keys.
func WatchShortcuts(ctx context.Context, words Words, pressed func(Hotkey)) error {
	if os.Getenv("WAYLAND_DISPLAY") == "" && os.Getenv("XDG_SESSION_TYPE") != "wayland" {
		return ErrUnsupported // the window has the keys itself
	}
	conn, err := sessionBus(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() // which ends the portal's session, too
	p := portal{conn: conn, signals: make(chan *dbus.Signal, 64)}
	conn.Signal(p.signals)
	session, err := p.bind(ctx, words)
	if err != nil {
		return err
	}
	for {
		s, err := p.next(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if len(s.Body) < 2 || s.Name != portalShortcuts+".Activated" || s.Body[0] != session {
			continue
		}
		for key, shortcut := range shortcuts {
			if s.Body[1] == shortcut.id {
				pressed(Hotkey(key))
			}
		}
	}
}

// A portal is a connection that talks to the desktop's portal. It is for one goroutine.
type portal struct {
	conn    *dbus.Conn
	signals chan *dbus.Signal
	owner   string // whose signals count
}

// bind has the keys bound to a new session, and returns it.
func (p *portal) bind(ctx context.Context, words Words) (dbus.ObjectPath, error) {
	desktop := p.conn.Object(portalName, portalPath)
	var version dbus.Variant
	if err := desktop.CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get", 0, portalShortcuts, "version").Store(&version); err != nil {
		return "", errors.Join(ErrUnsupported, err)
	}
	if err := p.conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.GetNameOwner", 0, portalName).Store(&p.owner); err != nil {
		return "", fmt.Errorf("desktop: the portal: %w", err)
	}
	for _, face := range []string{portalRequest, portalShortcuts} {
		if err := p.conn.AddMatchSignalContext(ctx, dbus.WithMatchSender(portalName), dbus.WithMatchInterface(face)); err != nil {
			return "", fmt.Errorf("desktop: the portal: %w", err)
		}
	}
	type shortcut struct {
		ID      string
		Options map[string]dbus.Variant
	}
	var wanted []shortcut
	for i, s := range shortcuts {
		wanted = append(wanted, shortcut{s.id, map[string]dbus.Variant{
			"description": dbus.MakeVariant(words.shortcuts[i]), "preferred_trigger": dbus.MakeVariant(s.trigger),
		}})
	}
	// KDE 5 takes the keys from here, and those of BindShortcuts only to open its settings.
	made, err := p.ask(ctx, "CreateSession", map[string]dbus.Variant{
		"session_handle_token": dbus.MakeVariant("deskbell"), "shortcuts": dbus.MakeVariant(wanted),
	})
	if err != nil {
		return "", err
	}
	handle, _ := made["session_handle"].Value().(string)
	session := dbus.ObjectPath(handle)
	_, err = p.ask(ctx, "BindShortcuts", map[string]dbus.Variant{}, session, wanted, "")
	return session, err
}

// ask calls a method whose answer comes as a signal, once the user has answered what the desktop may ask.
func (p *portal) ask(ctx context.Context, method string, options map[string]dbus.Variant, args ...any) (map[string]dbus.Variant, error) {
	token := "deskbell" + method
	options["handle_token"] = dbus.MakeVariant(token)
	sender := strings.ReplaceAll(strings.TrimPrefix(p.conn.Names()[0], ":"), ".", "_")
	request := dbus.ObjectPath(portalPath + "/request/" + sender + "/" + token)
	if err := p.conn.Object(portalName, portalPath).CallWithContext(ctx, portalShortcuts+"."+method, 0, append(args, options)...).Err; err != nil {
		return nil, fmt.Errorf("desktop: %s of the portal: %w", method, err)
	}
	for {
		s, err := p.next(ctx)
		if err != nil {
			return nil, err
		}
		if s.Path != request || s.Name != portalRequest+".Response" || len(s.Body) != 2 {
			continue
		}
		if code, _ := s.Body[0].(uint32); code != 0 {
			return nil, fmt.Errorf("desktop: the portal gives no keys: it answered %s with %d", method, code)
		}
		results, _ := s.Body[1].(map[string]dbus.Variant)
		return results, nil
	}
}

// next is the portal's next signal. Any program of the session can send one of its names.
func (p *portal) next(ctx context.Context) (*dbus.Signal, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case s, open := <-p.signals:
			if !open {
				return nil, errors.New("desktop: the session bus has gone")
			}
			if s.Sender == p.owner {
				return s, nil
			}
		}
	}
}
