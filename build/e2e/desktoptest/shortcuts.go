//go:build linux

package desktoptest

import (
	"path/filepath"
	"time"

	"github.com/godbus/dbus/v5"
)

// Shortcuts are the keys of a session: a back end of its portal, xdg-desktop-portal, in place of a desktop's. No desktop of
// Debian 12 that runs without a screen has one.
type Shortcuts struct {
	d       *Desktop
	bound   chan map[string]string
	session dbus.ObjectPath // of the program that has bound some; after Bound
}

const (
	backend       = "org.freedesktop.impl.portal.desktop.test"
	implShortcuts = "org.freedesktop.impl.portal.GlobalShortcuts"
	portalPath    = "/org/freedesktop/portal/desktop"
)

// StartShortcuts starts the portal, with nothing behind it but keys.
func (d *Desktop) StartShortcuts() *Shortcuts {
	d.T.Helper()
	s := &Shortcuts{d: d, bound: make(chan map[string]string, 1)}
	if err := d.Bus.Export(shortcutMethods{s}, portalPath, implShortcuts); err != nil {
		d.T.Fatal(err)
	}
	if reply, err := d.Bus.RequestName(backend, dbus.NameFlagDoNotQueue); err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		d.T.Fatal("the name of the portal's back end is taken: ", err)
	}
	folder := filepath.Join(d.Home, "portals")
	d.Write(filepath.Join(folder, "test.portal"), "[portal]\nDBusName="+backend+"\nInterfaces="+implShortcuts+"\nUseIn=sway\n")
	d.StartWith([]string{"XDG_DESKTOP_PORTAL_DIR=" + folder}, "/usr/libexec/xdg-desktop-portal")
	d.Wait("the portal", func() bool {
		_, err := d.Bus.Object("org.freedesktop.portal.Desktop", portalPath).GetProperty("org.freedesktop.portal.GlobalShortcuts.version")
		return err == nil
	})
	return s
}

type shortcut struct {
	ID      string
	Options map[string]dbus.Variant
}

type shortcutMethods struct{ s *Shortcuts }

// CreateSession is called by the portal for each program that asks for keys. KDE 5's gives those that are named here, not in
// BindShortcuts; so this takes no others.
func (shortcutMethods) CreateSession(_, _ dbus.ObjectPath, _ string, options map[string]dbus.Variant) (uint32, map[string]dbus.Variant, *dbus.Error) {
	const failed = 2
	if _, named := options["shortcuts"]; !named {
		return failed, map[string]dbus.Variant{}, nil
	}
	return 0, map[string]dbus.Variant{}, nil
}

// BindShortcuts is called with what it asks for.
func (m shortcutMethods) BindShortcuts(_, session dbus.ObjectPath, wanted []shortcut, _ string, _ map[string]dbus.Variant) (uint32, map[string]dbus.Variant, *dbus.Error) {
	keys := map[string]string{}
	for i, w := range wanted {
		trigger, _ := w.Options["preferred_trigger"].Value().(string)
		keys[w.ID] = trigger
		wanted[i].Options = map[string]dbus.Variant{"description": w.Options["description"], "trigger_description": w.Options["preferred_trigger"]}
	}
	m.s.session = session
	m.s.bound <- keys
	return 0, map[string]dbus.Variant{"shortcuts": dbus.MakeVariant(wanted)}, nil
}

// Bound waits until a program has keys, and returns those that it would like, by their names.
func (s *Shortcuts) Bound() (keys map[string]string) {
	s.d.T.Helper()
	select {
	case keys = <-s.bound:
	case <-time.After(Patience):
		s.d.T.Fatal("no program asked for keys")
	}
	return keys
}

// Press presses the key of that name.
func (s *Shortcuts) Press(name string) {
	s.d.T.Helper()
	err := s.d.Bus.Emit(portalPath, implShortcuts+".Activated", s.session, name, uint64(time.Now().UnixMilli()), map[string]dbus.Variant{})
	if err != nil {
		s.d.T.Fatal(err)
	}
}
