package window

import (
	"context"
	"fmt"
	"html"
	"slices"
	"sync"

	"github.com/godbus/dbus/v5"
)

const (
	notifyName = "org.freedesktop.Notifications"
	notifyPath = "/org/freedesktop/Notifications"
)

// Notifications speaks to the session's notification service over D-Bus (Desktop Notifications 1.2).
// Wails has the same, but answers a dismissal as if it were a click, takes anybody's word for what was
// clicked, and sends an agent's text as markup. Safe for concurrent use.
type Notifications struct {
	app      string
	icon     string
	conn     *dbus.Conn
	answered func(id, action string)
	done     chan struct{}

	mu    sync.Mutex
	shown map[uint32]string // the service's id to ours
}

// OpenNotifications connects to the session bus under the name the operator knows the program by; icon is
// the name or absolute path of its icon, or empty. Each click is reported to answered, on a goroutine of
// its own, until Close.
func OpenNotifications(app, icon string, answered func(id, action string)) (*Notifications, error) {
	conn, err := sessionBus(context.Background())
	if err != nil {
		return nil, err
	}
	for _, member := range []string{"ActionInvoked", "NotificationClosed"} {
		if err := conn.AddMatchSignal(dbus.WithMatchSender(notifyName), dbus.WithMatchInterface(notifyName), dbus.WithMatchMember(member)); err != nil {
			conn.Close()
			return nil, fmt.Errorf("desktop: listening for clicks on notifications: %w", err)
		}
	}
	n := &Notifications{
		app: app, icon: icon, conn: conn, answered: answered,
		done: make(chan struct{}), shown: map[uint32]string{},
	}
	signals := make(chan *dbus.Signal, 64)
	conn.Signal(signals)
	go n.listen(signals)
	return n, nil
}

// Send shows a notification, blocking until the service has taken it. It is an error when none answers.
func (n *Notifications) Send(ctx context.Context, m Notification) error {
	service := n.Service(ctx)
	if !service.Answers {
		return fmt.Errorf("desktop: %w: no notification service answers", ErrUnsupported)
	}
	actions := []string{}
	if service.Actions {
		actions = append(actions, DefaultAction, "")
		for _, a := range m.Actions {
			actions = append(actions, a.ID, a.Label)
		}
	}
	body := m.Body
	if service.Markup {
		body = html.EscapeString(body)
	}
	urgency := byte(1)
	if m.Urgent {
		urgency = 2
	}
	hints := map[string]dbus.Variant{
		"urgency":       dbus.MakeVariant(urgency),
		"desktop-entry": dbus.MakeVariant("deskbell"),
		"category":      dbus.MakeVariant("im.received"),
	}
	if m.Sound {
		hints["sound-name"] = dbus.MakeVariant("message-new-instant")
	}
	n.mu.Lock()
	defer n.mu.Unlock() // held over the call: a click may come back before its id does
	var id uint32
	err := n.conn.Object(notifyName, notifyPath).CallWithContext(ctx, notifyName+".Notify", 0,
		n.app, n.find(m.ID), n.icon, m.Title, body, actions, hints, int32(-1)).Store(&id)
	if err != nil {
		return fmt.Errorf("desktop: showing a notification: %w", err)
	}
	n.shown[id] = m.ID
	return nil
}

// Dismiss takes a notification away. One that is gone already, or never was, is no error.
func (n *Notifications) Dismiss(ctx context.Context, id string) error {
	n.mu.Lock()
	theirs := n.find(id)
	delete(n.shown, theirs)
	n.mu.Unlock()
	if theirs == 0 {
		return nil
	}
	if err := n.conn.Object(notifyName, notifyPath).CallWithContext(ctx, notifyName+".CloseNotification", 0, theirs).Err; err != nil {
		return fmt.Errorf("desktop: taking a notification away: %w", err)
	}
	return nil
}

// Service asks who shows notifications now: services come and go with the desktop's panel.
func (n *Notifications) Service(ctx context.Context) NotificationService {
	return service(ctx, n.conn)
}

// Close disconnects and waits for the listener. Notifications that are shown stay, without effect.
func (n *Notifications) Close() {
	n.conn.Close()
	<-n.done
}

// find returns the service's id for ours, or 0, which is never one. The caller holds mu.
func (n *Notifications) find(id string) uint32 {
	for theirs, ours := range n.shown {
		if ours == id {
			return theirs
		}
	}
	return 0
}

func (n *Notifications) listen(signals <-chan *dbus.Signal) {
	defer close(n.done)
	for s := range signals {
		if len(s.Body) < 2 || !n.fromService(s) {
			continue
		}
		theirs, ok := s.Body[0].(uint32)
		if !ok {
			continue
		}
		n.mu.Lock()
		id, known := n.shown[theirs]
		delete(n.shown, theirs)
		n.mu.Unlock()
		action, clicked := s.Body[1].(string) // NotificationClosed carries a number: a reason
		if known && clicked && s.Name == notifyName+".ActionInvoked" {
			go n.answered(id, action)
		}
	}
}

// fromService is true when the signal's sender is who shows notifications now. Any program of the session
// can send us a signal of this name; an agent could approve its own request with one.
func (n *Notifications) fromService(s *dbus.Signal) bool {
	var owner string
	err := n.conn.BusObject().Call("org.freedesktop.DBus.GetNameOwner", 0, notifyName).Store(&owner)
	return err == nil && owner == s.Sender
}

// FindNotificationService asks the session bus who shows notifications, starting it when it can be
// started. The zero value means that no one does, or that there is no session bus.
func FindNotificationService(ctx context.Context) NotificationService {
	conn, err := sessionBus(ctx)
	if err != nil {
		return NotificationService{}
	}
	defer conn.Close()
	return service(ctx, conn)
}

func service(ctx context.Context, conn *dbus.Conn) NotificationService {
	bus := conn.BusObject()
	var owned bool
	if err := bus.CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, notifyName).Store(&owned); err != nil {
		return NotificationService{}
	}
	if !owned {
		// A call to a name that cannot be started takes some buses their whole time-out to fail.
		var startable []string
		err := bus.CallWithContext(ctx, "org.freedesktop.DBus.ListActivatableNames", 0).Store(&startable)
		if err != nil || !slices.Contains(startable, notifyName) {
			return NotificationService{}
		}
	}
	var capabilities []string
	object := conn.Object(notifyName, notifyPath)
	if err := object.CallWithContext(ctx, notifyName+".GetCapabilities", 0).Store(&capabilities); err != nil {
		return NotificationService{}
	}
	s := NotificationService{
		Answers: true,
		Actions: slices.Contains(capabilities, "actions"),
		Markup:  slices.Contains(capabilities, "body-markup"),
	}
	var name, vendor, version, spec string
	if err := object.CallWithContext(ctx, notifyName+".GetServerInformation", 0).Store(&name, &vendor, &version, &spec); err == nil {
		s.Name = name + " " + version
	}
	return s
}
