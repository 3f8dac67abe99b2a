package window

import (
	"context"
	"errors"
	"fmt"

	"github.com/godbus/dbus/v5"
)

// sessionBus connects to the session's bus. Where there is none, none is started: no one else would be on it, and
// it would be left behind.
func sessionBus(ctx context.Context) (*dbus.Conn, error) {
	conn, err := dbus.SessionBusPrivateNoAutoStartup(dbus.WithContext(ctx))
	if err != nil {
		return nil, fmt.Errorf("desktop: no session bus: %w", err)
	}
	if err := errors.Join(conn.Auth(nil), conn.Hello()); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("desktop: the session bus: %w", err)
	}
	return conn, nil
}
