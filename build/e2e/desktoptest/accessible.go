//go:build linux

package desktoptest

import (
	"fmt"
	"image"
	"os"
	"slices"
	"strings"

	"github.com/godbus/dbus/v5"
)

// Names of AT-SPI, by which screen readers see windows.
const (
	a11yAccessible = "org.a11y.atspi.Accessible"
	a11yComponent  = "org.a11y.atspi.Component"
	a11yText       = "org.a11y.atspi.Text"
	a11yRegistry   = "org.a11y.atspi.Registry"
	a11yRoot       = "/org/a11y/atspi/accessible/root"
)

// A Role is what an element is. WebKitGTK tells it as a number only.
type Role uint32

// The roles that tests look for.
const (
	Button  Role = 43
	Status  Role = 54
	Entry   Role = 79
	Title   Role = 83
	Link    Role = 88
	Article Role = 109
)

// Bits of an element's state.
const (
	a11yEnabled   = 8
	a11yFocused   = 12
	a11ySensitive = 24
	a11yShowing   = 25
)

// launchers are where distributions keep the program that starts the bus of accessibility.
var launchers = []string{"/usr/libexec/at-spi-bus-launcher", "/usr/lib/at-spi2-core/at-spi-bus-launcher"}

// StartAccessibility starts the bus of accessibility, on which programs that start from now on tell of their windows once
// something asks them to.
func (d *Desktop) StartAccessibility() (address string) {
	d.T.Helper()
	i := slices.IndexFunc(launchers, func(path string) bool { _, err := os.Stat(path); return err == nil })
	if i < 0 {
		d.T.Fatal("at-spi2-core is not installed")
	}
	d.Start(launchers[i], "--launch-immediately")
	d.Wait("the bus of accessibility", func() bool {
		return d.Bus.Object("org.a11y.Bus", "/org/a11y/bus").Call("org.a11y.Bus.GetAddress", 0).Store(&address) == nil
	})
	d.Env = append(d.Env, "NO_AT_BRIDGE=0")
	return address
}

// startReading asks programs to tell, as a screen reader does, and connects to that bus.
func (d *Desktop) startReading() {
	d.T.Helper()
	address := d.StartAccessibility()
	if err := d.Bus.Object("org.a11y.Bus", "/org/a11y/bus").SetProperty("org.a11y.Status.IsEnabled", dbus.MakeVariant(true)); err != nil {
		d.T.Fatal(err)
	}
	var err error
	if d.a11y, err = dbus.Connect(address); err != nil {
		d.T.Fatal(err)
	}
	d.T.Cleanup(func() { d.a11y.Close() })
}

// An Element is a part of a window as a screen reader sees it.
type Element struct {
	Role    Role
	Name    string
	At      image.Rectangle // on the screen, in pixels
	Enabled bool
	Focused bool
	ref     reference
}

func (e Element) String() string {
	return fmt.Sprintf("%d %q at %v, enabled %t, focused %t", e.Role, e.Name, e.At, e.Enabled, e.Focused)
}

type reference struct {
	Bus  string
	Path dbus.ObjectPath
}

func (r reference) null() bool { return r.Bus == "" || strings.HasSuffix(string(r.Path), "/null") }

func (d *Desktop) ask(r reference, method string, into any, args ...any) bool {
	return d.a11y.Object(r.Bus, r.Path).Call(method, dbus.FlagNoAutoStart, args...).Store(into) == nil
}

// Elements are all parts of the windows called application that are to be seen, in reading order. What
// goes away while they are read is left out.
func (d *Desktop) Elements(application string) (all []Element) {
	var programs []reference
	d.ask(reference{a11yRegistry, a11yRoot}, a11yAccessible+".GetChildren", &programs)
	for _, p := range programs {
		if name, ok := d.property(p, "Name"); ok && name == application {
			d.walk(p, &all)
		}
	}
	return all
}

func (d *Desktop) property(r reference, name string) (text string, ok bool) {
	v, err := d.a11y.Object(r.Bus, r.Path).GetProperty(a11yAccessible + "." + name)
	if err != nil {
		return "", false
	}
	text, ok = v.Value().(string)
	return text, ok
}

func (d *Desktop) walk(r reference, all *[]Element) {
	if r.null() {
		return
	}
	var state []uint32
	e := Element{ref: r}
	if d.ask(r, a11yAccessible+".GetState", &state) && len(state) == 2 {
		has := func(bit int) bool { return state[bit/32]>>(bit%32)&1 == 1 }
		var box struct{ X, Y, W, H int32 }
		if has(a11yShowing) && d.ask(r, a11yComponent+".GetExtents", &box, uint32(0)) && box.W > 0 {
			e.At = image.Rect(int(box.X), int(box.Y), int(box.X+box.W), int(box.Y+box.H))
			e.Enabled, e.Focused = has(a11yEnabled) && has(a11ySensitive), has(a11yFocused)
			e.Name, _ = d.property(r, "Name")
			d.ask(r, a11yAccessible+".GetRole", &e.Role)
			*all = append(*all, e)
		}
	}
	var children []reference
	d.ask(r, a11yAccessible+".GetChildren", &children)
	if len(children) == 0 {
		// A page lives in another process, and hangs here behind a socket that is no child on any list.
		var page struct{ Ref reference }
		if d.ask(r, a11yAccessible+".GetChildAtIndex", &page.Ref, int32(0)) {
			children = append(children, page.Ref)
		}
	}
	for _, child := range children {
		d.walk(child, all)
	}
}

// Text is what an element shows or what is typed into it.
func (d *Desktop) Text(e Element) (text string) {
	d.ask(e.ref, a11yText+".GetText", &text, int32(0), int32(-1))
	return text
}
