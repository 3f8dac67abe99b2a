package accessibility

import (
	"context"

	"github.com/godbus/dbus/v5"

	"deskbell/backend/human"
)

// codeWayland is the reason of a source that delivers less than under X11.
const codeWayland = "wayland"

// An event is one that applications report.
type event struct {
	face, member string
	detail       string // the first argument, where it says what the event is about
	name         string // by which the registry knows it
}

const (
	objectFace = "org.a11y.atspi.Event.Object"
	windowFace = "org.a11y.atspi.Event.Window"
)

// The events that are listened to. Those of texts are not among them: with GTK 4 and Qt they carry what is typed into
// passwords. That the caret moved says that something may have been typed, and not what.
var (
	focused = event{objectFace, "StateChanged", "focused", "object:state-changed:focused"}
	checked = event{objectFace, "StateChanged", "checked", "object:state-changed:checked"}
	pressed = event{objectFace, "StateChanged", "pressed", "object:state-changed:pressed"}
	caret   = event{objectFace, "TextCaretMoved", "", "object:text-caret-moved"}
	chosen  = event{objectFace, "SelectionChanged", "", "object:selection-changed"}
	valued  = event{objectFace, "PropertyChange", "accessible-value", "object:property-change:accessible-value"}
	reports = []event{checked, pressed, caret, chosen, valued}

	active      = event{objectFace, "StateChanged", "active", "object:state-changed:active"} // all that GTK 4 says
	activated   = event{windowFace, "Activate", "", "window:activate"}
	deactivated = event{windowFace, "Deactivate", "", "window:deactivate"}
	created     = event{windowFace, "Create", "", "window:create"}
	destroyed   = event{windowFace, "Destroy", "", "window:destroy"}
)

// of says whether a signal is this event, and its number: 1 where a state is on.
func (e event) of(s *dbus.Signal) (is bool, number int32) {
	if s.Name != e.face+"."+e.member || len(s.Body) < 2 || (ref{s.Sender, s.Path}).null() {
		return false, 0
	}
	detail, _ := s.Body[0].(string)
	number, _ = s.Body[1].(int32)
	return e.detail == "" || e.detail == detail, number
}

// listen asks applications to report events. Signals come until stop, which is called once; the channel is closed
// when the bus goes away.
func (e *Elements) listen(ctx context.Context, what []event) (b *bus, signals <-chan *dbus.Signal, stop func(), err error) {
	if b, err = e.connect(ctx); err != nil {
		return nil, nil, nil, err
	}
	address, _, err := e.address(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	// A connection of its own: events never stand in the way of look-ups.
	conn, err := dbus.Connect(address, dbus.WithSignalHandler(dbus.NewSequentialSignalHandler()))
	if err != nil {
		return nil, nil, nil, human.Wrap(human.Unavailable, err, "%s", errNoBus.Msg)
	}
	all := make(chan *dbus.Signal, 64)
	conn.Signal(all)
	for _, w := range what {
		options := []dbus.MatchOption{dbus.WithMatchInterface(w.face), dbus.WithMatchMember(w.member)}
		if w.detail != "" {
			options = append(options, dbus.WithMatchArg(0, w.detail))
		}
		err = conn.AddMatchSignalContext(ctx, options...)
		if err == nil {
			err = conn.Object(registry, "/org/a11y/atspi/registry").CallWithContext(ctx, registry+".RegisterEvent", 0, w.name, []string{}, "").Err
		}
		if err != nil {
			conn.Close()
			return nil, nil, nil, err
		}
	}
	return b, all, func() { conn.Close() }, nil
}
