package screencast

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/godbus/dbus/v5"

	"deskbell/backend/human"
)

const (
	portalName = "org.freedesktop.portal.Desktop"
	portalPath = "/org/freedesktop/portal/desktop"
	castFace   = "org.freedesktop.portal.ScreenCast"

	monitors = uint32(1) // kinds of what can be shown
	windows  = uint32(2)

	cursorHidden  = uint32(1)
	untilRevoked  = uint32(2) // how long consent lasts
	remembersFrom = 4         // the version of the interface that can
)

// A portal is the desktop's own, over a connection whose end ends what it shows.
type portal struct {
	conn    *dbus.Conn
	object  dbus.BusObject
	signals chan *dbus.Signal
	session dbus.ObjectPath
	owner   string // whose signals count: any program of the session can send one that looks like the portal's
}

func dialPortal(ctx context.Context) (*portal, error) {
	conn, err := dbus.ConnectSessionBus(dbus.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	p := &portal{conn: conn, object: conn.Object(portalName, portalPath), signals: make(chan *dbus.Signal, 16)}
	conn.Signal(p.signals)
	return p, nil
}

func (p *portal) close() { _ = p.conn.Close() }

// A shown is what the desktop shows.
type shown struct {
	node   uint32 // of PipeWire
	window bool   // one window, and surely no more
}

// property reads a number of the interface.
func (p *portal) property(ctx context.Context, name string) (n uint32, err error) {
	var v dbus.Variant
	if err := p.object.CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get", 0, castFace, name).Store(&v); err != nil {
		return 0, err
	}
	n, ok := v.Value().(uint32)
	if !ok {
		return 0, fmt.Errorf("%s is %v", name, v)
	}
	return n, nil
}

// An unanswered is what ask returns when the portal answers, and not with what was asked for.
type unanswered struct {
	method string
	code   uint32 // 1: the person said no; 2: it ended otherwise
}

func (r unanswered) Error() string { return fmt.Sprintf("%s: the portal answers %d", r.method, r.code) }

// ask calls a method that is answered by a signal, and waits for that: a person may be asked.
func (p *portal) ask(ctx context.Context, method string, options map[string]dbus.Variant, args ...any) (map[string]dbus.Variant, error) {
	token := "deskbell" + rand.Text()
	options["handle_token"] = dbus.MakeVariant(token)
	sender := strings.ReplaceAll(strings.TrimPrefix(p.conn.Names()[0], ":"), ".", "_")
	request := dbus.ObjectPath(portalPath + "/request/" + sender + "/" + token)
	const face = "org.freedesktop.portal.Request"
	if err := p.conn.AddMatchSignalContext(ctx, dbus.WithMatchObjectPath(request), dbus.WithMatchInterface(face)); err != nil {
		return nil, err
	}
	if err := p.object.CallWithContext(ctx, castFace+"."+method, 0, append(args, options)...).Err; err != nil {
		return nil, err
	}
	for {
		select {
		case <-ctx.Done():
			p.conn.Object(portalName, request).Go(face+".Close", dbus.FlagNoReplyExpected, nil)
			return nil, ctx.Err()
		case s, ok := <-p.signals:
			if !ok {
				return nil, human.Errorf(human.Unavailable, "the connection to the desktop was lost")
			}
			var code uint32
			var results map[string]dbus.Variant
			if s.Sender != p.owner || s.Path != request || s.Name != face+".Response" || dbus.Store(s.Body, &code, &results) != nil {
				continue
			}
			if code != 0 {
				return nil, unanswered{method, code}
			}
			return results, nil
		}
	}
}

// start has the desktop show one window or monitor of these kinds, after it has asked the person, or with what is
// left of an earlier consent. It returns what is shown, and what is to be given the next time.
func (p *portal) start(ctx context.Context, kinds uint32, consent string) (what shown, next string, err error) {
	version, err := p.property(ctx, "version")
	if err != nil {
		return what, "", err
	}
	if err := p.conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.GetNameOwner", 0, portalName).Store(&p.owner); err != nil {
		return what, "", err
	}
	made, err := p.ask(ctx, "CreateSession", map[string]dbus.Variant{"session_handle_token": dbus.MakeVariant("deskbell" + rand.Text())})
	if err != nil {
		return what, "", err
	}
	handle, _ := made["session_handle"].Value().(string)
	p.session = dbus.ObjectPath(handle)
	err = p.conn.AddMatchSignalContext(ctx, dbus.WithMatchObjectPath(p.session), dbus.WithMatchInterface("org.freedesktop.portal.Session"))
	if err != nil {
		return what, "", err
	}
	options := map[string]dbus.Variant{
		"types": dbus.MakeVariant(kinds), "multiple": dbus.MakeVariant(false), "cursor_mode": dbus.MakeVariant(cursorHidden),
	}
	if version >= remembersFrom {
		options["persist_mode"] = dbus.MakeVariant(untilRevoked)
		if consent != "" {
			options["restore_token"] = dbus.MakeVariant(consent)
		}
	}
	if _, err := p.ask(ctx, "SelectSources", options, p.session); err != nil {
		return what, "", err
	}
	started, err := p.ask(ctx, "Start", map[string]dbus.Variant{}, p.session, "")
	if err != nil {
		return what, "", err
	}
	var streams []struct {
		Node       uint32
		Properties map[string]dbus.Variant
	}
	if v, ok := started["streams"]; !ok || v.Store(&streams) != nil || len(streams) != 1 {
		return what, "", fmt.Errorf("the portal shows %v", started["streams"])
	}
	next, _ = started["restore_token"].Value().(string)
	kind, _ := streams[0].Properties["source_type"].Value().(uint32)
	return shown{streams[0].Node, kind == windows}, next, nil
}

// connect opens a connection to PipeWire on which what is shown can be received.
func (p *portal) connect(ctx context.Context) (int, error) {
	var fd dbus.UnixFD
	err := p.object.CallWithContext(ctx, castFace+".OpenPipeWireRemote", 0, p.session, map[string]dbus.Variant{}).Store(&fd)
	return int(fd), err
}
