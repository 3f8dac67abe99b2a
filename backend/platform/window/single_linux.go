package window

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/godbus/dbus/v5"
)

// Single makes this process the only one with a window for the instance, or hands args to the one that is. There first is false: the
// other has taken them. From then on told is called with what later starts hand over, each on a goroutine of its own; whoever is on
// the session's bus may call it. Without a bus first is true and told is never called. Wails does the same, but lets the second start
// fail.
func Single(instance string, args []string, told func(args []string)) (first bool, err error) {
	const iface = "dev.deskbell.Window"
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, err := sessionBus(context.Background()) //nolint:contextcheck // the connection lasts as long as the process
	if err != nil {
		return true, nil //nolint:nilerr // without a bus the lock of the data folder is what keeps others out
	}
	name, path := iface+"."+instance, dbus.ObjectPath("/dev/deskbell/Window")
	if err := conn.Export(handed(told), path, iface); err != nil {
		return false, fmt.Errorf("desktop: waiting for later starts: %w", err)
	}
	reply, err := conn.RequestName(name, dbus.NameFlagDoNotQueue)
	if err != nil {
		return false, fmt.Errorf("desktop: the session bus: %w", err)
	}
	if reply == dbus.RequestNameReplyPrimaryOwner {
		return true, nil
	}
	defer conn.Close()
	text, err := json.Marshal(args)
	if err == nil {
		err = conn.Object(name, path).CallWithContext(ctx, iface+".Open", 0, string(text)).Err
	}
	if err != nil {
		return false, fmt.Errorf("desktop: the Deskbell that runs does not answer: %w", err)
	}
	return false, nil
}

// handed is the object on the bus.
type handed func(args []string)

// Open is called by later starts.
func (h handed) Open(text string) *dbus.Error {
	var args []string
	if err := json.Unmarshal([]byte(text), &args); err != nil {
		return dbus.MakeFailedError(fmt.Errorf("these are no arguments"))
	}
	go h(args)
	return nil
}
