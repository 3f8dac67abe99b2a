package keychain

import (
	"context"
	"slices"

	"github.com/godbus/dbus/v5"

	"deskbell/backend/human"
)

// reachable says whether there is a Secret Service. The library would start a message bus where none is there, and
// leave it running.
func reachable(ctx context.Context) error {
	none := func(err error, why string) error {
		return human.Wrap(human.Unavailable, err, "there is no keychain here (%s): set the environment variable %s", why, Variable)
	}
	bus, err := dbus.SessionBusPrivateNoAutoStartup(dbus.WithContext(ctx))
	if err != nil {
		return none(err, "no session bus")
	}
	defer func() { _ = bus.Close() }()
	if err := bus.Auth(nil); err != nil {
		return none(err, "the session bus allows no connection")
	}
	if err := bus.Hello(); err != nil {
		return none(err, "the session bus allows no connection")
	}
	const name = "org.freedesktop.secrets"
	var running bool
	var startable []string
	if err := bus.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, name).Store(&running); err != nil {
		return none(err, "the session bus does not answer")
	}
	if running {
		return nil
	}
	if err := bus.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.ListActivatableNames", 0).Store(&startable); err != nil || !slices.Contains(startable, name) {
		return none(err, "no Secret Service runs, such as GNOME Keyring or KWallet")
	}
	return nil
}
