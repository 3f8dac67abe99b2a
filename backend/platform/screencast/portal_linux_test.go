package screencast

import (
	"bufio"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/prop"
)

// unwilling is a portal that says no to everything, after another program has said yes in its place.
type unwilling struct{ portal, other *dbus.Conn }

func (r unwilling) CreateSession(from dbus.Sender, options map[string]dbus.Variant) (dbus.ObjectPath, *dbus.Error) {
	token, _ := options["handle_token"].Value().(string)
	request := dbus.ObjectPath(portalPath + "/request/" + strings.ReplaceAll(strings.TrimPrefix(string(from), ":"), ".", "_") + "/" + token)
	const response = "org.freedesktop.portal.Request.Response"
	yes := map[string]dbus.Variant{"session_handle": dbus.MakeVariant("/of/another")}
	err := errors.Join(
		r.other.Emit(request, response, uint32(0), yes),
		r.other.BusObject().Call("org.freedesktop.DBus.GetId", 0).Err, // the bus has passed it on
		r.portal.Emit(request, response, uint32(1), map[string]dbus.Variant{}),
	)
	if err != nil {
		return "", dbus.MakeFailedError(err)
	}
	return request, nil
}

// Whatever other programs of the session say in the portal's place counts for nothing.
func TestOnlyThePortalAnswers(t *testing.T) {
	daemon := exec.Command("dbus-daemon", "--session", "--nofork", "--print-address")
	out, err := daemon.StdoutPipe()
	if err == nil {
		err = daemon.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = daemon.Process.Kill(); _ = daemon.Wait() })
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", strings.TrimSpace(address))
	var r unwilling
	for _, conn := range []**dbus.Conn{&r.portal, &r.other} {
		if *conn, err = dbus.ConnectSessionBus(); err != nil {
			t.Fatal(err)
		}
		defer (*conn).Close()
	}
	if err := r.portal.Export(r, portalPath, castFace); err != nil {
		t.Fatal(err)
	}
	if _, err := prop.Export(r.portal, portalPath, prop.Map{castFace: {"version": {Value: uint32(4)}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.portal.RequestName(portalName, dbus.NameFlagDoNotQueue); err != nil {
		t.Fatal(err)
	}
	p, err := dialPortal(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	_, _, err = p.start(t.Context(), windows, "")
	if no := (unanswered{}); !errors.As(err, &no) || no != (unanswered{"CreateSession", 1}) {
		t.Errorf("after the portal's no: %v", err)
	}
}
