package accessibility

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"deskbell/backend/human"
	"deskbell/backend/record"
	"deskbell/backend/record/recordtest"
)

// An application that is stopped holds up its own look-ups only, and those no longer than the deadline.
func TestStoppedApplication(t *testing.T) {
	d := startAccessible(t)
	e := d.elements()
	stopped, runs := forms["GTK 3"], forms["Qt 5"]
	one, other := d.show(e, stopped), d.show(e, runs)

	if err := syscall.Kill(one.PID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	file, greet := stopped.spots[0], runs.called("Greet")
	look := func(f shown, s spot) (human.Element, error) {
		x, y := f.point(s)
		return e.At(t.Context(), x, y, f.at)
	}
	slow := make(chan struct{})
	go func() {
		defer close(slow)
		if _, err := look(one, file); kind(err) != human.Unavailable {
			t.Errorf("the stopped application: %v", err)
		}
		// It is left alone at once now.
		began := time.Now()
		if _, err := look(one, file); kind(err) != human.Unavailable || time.Since(began) >= e.o.Deadline {
			t.Errorf("the stopped application again: %v after %v", err, time.Since(began))
		}
	}()
	meanwhile := 0
	for waiting := true; waiting; meanwhile++ {
		got, err := look(other, greet)
		if err != nil || got.Name != "Greet" {
			t.Fatalf("meanwhile another one: %+v, %v", got, err)
		}
		select {
		case <-slow:
			waiting = false
		default:
		}
	}
	if meanwhile < 2 { // the last may have ended after it
		t.Error("another one waited, too")
	}
	// It is found again when it continues.
	if err := syscall.Kill(one.PID(), syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	one.ready(e)
}

// A slowApplication answers for a button, and not for what it is in.
type slowApplication struct{ itself string }

func (slowApplication) GetRole() (uint32, *dbus.Error) { return uint32(rolePushButton), nil }

func (a slowApplication) Get(_, property string) (dbus.Variant, *dbus.Error) {
	if property == "Parent" {
		return dbus.MakeVariant(ref{a.itself, "/window"}), nil
	}
	return dbus.MakeVariant(property), nil
}

// What an application says of half the way up to its window names no window.
func TestWindowOfHalfAnAnswer(t *testing.T) {
	d := startAccessible(t)
	e := d.elements()
	b, err := e.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	address, _, err := e.address(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	button := ref{conn.Names()[0], "/button"}
	for _, face := range []string{"org.a11y.atspi.Accessible", "org.freedesktop.DBus.Properties"} {
		if err := conn.Export(slowApplication{button.Bus}, button.Path, face); err != nil {
			t.Fatal(err)
		}
	}
	b.apps[button.Bus] = &app{root: ref{button.Bus, rootPath}, pid: os.Getpid()}
	if n := b.lookup(t.Context()).one(otherT, button, withRole|withParent); n.role != rolePushButton || n.parent.Path != "/window" {
		t.Fatalf("the application does not answer: %+v", n)
	}
	if p, ok := e.window(t.Context(), button); ok {
		t.Errorf("the window of a button is %+v", p.Window)
	}
}

// Of a terminal without accessibility nothing is known, and that is said.
func TestNotOnTheBus(t *testing.T) {
	d := startAccessible(t)
	e := d.elements()
	term := d.Start("xterm", "-T", "Plain terminal", "-e", "cat")
	at := d.window("Plain terminal", term.PID())
	middle := at.Window.Bounds
	if _, err := e.At(t.Context(), middle.X+middle.W/2, middle.Y+middle.H/2, at); kind(err) != human.NotFound {
		t.Errorf("an element of xterm: %v", err)
	}
	// It may be a password that is typed, unless something else knows of it.
	if _, err := e.Focused(t.Context(), at); kind(err) != human.Unavailable {
		t.Errorf("the focus in xterm: %v", err)
	}
	knows := New(Options{Clock: e.o.Clock, Session: d.Session, Terminal: func(_ context.Context, in record.Placed) bool { return in.App.PID == term.PID() }})
	defer knows.Close()
	if _, err := knows.Focused(t.Context(), at); kind(err) != human.NotFound {
		t.Errorf("the focus in a terminal: %v", err)
	}
}

// A Chromium that was not started for it tells of no fields, so what is typed there may be a password.
func TestSilentPage(t *testing.T) {
	d := startAccessible(t)
	e := d.elements()
	f := d.StartForm("form.html", d.Home, nil)
	at := d.window("Form Chromium", f.PID())
	d.Wait("the window on the bus", func() bool {
		_, err := e.At(t.Context(), 600, 700, at)
		return err == nil
	})
	password := f.Place("Password")
	d.Wait("a letter in the password", func() bool { // a page that has just come may take no press yet
		d.press(at.Window.Bounds.X+password.Min.X+9, at.Window.Bounds.Y+password.Min.Y+9)
		d.Do("xdotool", "type", "x")
		n, _ := f.State()["password_length"].(float64)
		return n > 0
	})
	if got, err := e.Focused(t.Context(), at); err == nil && !got.Secret || err != nil && kind(err) != human.Unavailable {
		t.Errorf("what has the keyboard is %+v, %v", got, err)
	}
}

// A table makes an object for each cell it is asked for, so it is only asked what is at a point.
func TestLongTable(t *testing.T) {
	d := startAccessible(t)
	e := d.elementsIn(0)
	table := d.Start("/usr/bin/python3", "-c", `
import gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
window = Gtk.Window(title="Long table")
window.set_default_size(400, 500)
store = Gtk.ListStore(str, str)
for i in range(20000):
    store.append([f"row {i}", str(i)])
view = Gtk.TreeView(model=store)
for i in range(2):
    view.append_column(Gtk.TreeViewColumn(str(i), Gtk.CellRendererText(), text=i))
pane = Gtk.ScrolledWindow()
pane.add(view)
window.add(pane)
window.show_all()
Gtk.main()`)
	at := d.window("Long table", table.PID())
	x, y := at.Window.Bounds.X+30, 0
	d.Wait("the second row", func() bool {
		for y = at.Window.Bounds.Y + 20; y < at.Window.Bounds.Y+120; y += 5 {
			if got, err := e.At(t.Context(), x, y, at); err == nil && got.Role == "cell" && got.Name == "row 1" {
				return true
			}
		}
		return false
	})
	d.press(x, y)
	d.Wait("the cell that was pressed", func() bool {
		got, err := e.At(t.Context(), x, y, at)
		return err == nil && got.Name == "row 1"
	})
	if !d.within(func() bool {
		got, err := e.Focused(t.Context(), at)
		return err == nil && (got.Role == "table" || got.Role == "cell")
	}) {
		got, err := e.Focused(t.Context(), at)
		t.Errorf("what has the keyboard is %+v, %v", got, err)
	}
}

// Check says what is missing and what to do about it.
func TestCheck(t *testing.T) {
	d := start(t)
	check := func(session string) human.SourceState {
		e := New(Options{Session: session})
		defer e.Close()
		return e.Check(t.Context())
	}
	nowhere := "unix:path=" + filepath.Join(d.Home, "nobody")
	for what, session := range map[string]string{"no session bus": nowhere, "no accessibility bus": d.Session} {
		s := check(session)
		if s.Source != human.ElementSource || s.Status != "missing" || s.Code != "no_accessibility_bus" || s.Detail == "" || s.Fix == "" {
			t.Errorf("%s: %+v", what, s)
		}
	}
	d.StartAccessibility()
	if s := check(d.Session); s.Status != "partial" || s.Fix == "" {
		t.Errorf("switched on just now: %+v", s)
	}
	if s := check(d.Session); s.Status != "complete" {
		t.Errorf("on already: %+v", s)
	}
}

// With a scale applications speak of units, and recordings of pixels.
func TestScale(t *testing.T) {
	d := startAccessible(t)
	e := d.elements()
	for name, env := range map[string]string{"GTK 3": "GDK_SCALE=2", "GTK 4": "GDK_SCALE=2", "Qt 5": "QT_SCALE_FACTOR=1.5", "Qt 6": "QT_SCALE_FACTOR=1.5"} {
		t.Run(name, func(t *testing.T) {
			d.T = t
			scale := 2.0
			if forms[name].script == "form.qt.py" {
				scale = 1.5
			}
			f := d.showAt(e, forms[name], scale, env)
			var x, y int
			d.Wait("the button", func() bool {
				f.at = d.window(f.title, f.PID()) // its size changes once more after it is shown
				x, y = f.point(f.called("Greet"))
				got, err := e.At(t.Context(), x, y, f.at)
				return err == nil && got.Name == "Greet" && got.Bounds.Contains(x, y)
			})
			d.press(x, y)
			f.Await("greetings", 1.0)
		})
	}
}

// Where the window manager takes part in it, GTK draws a window's shadow as a part of the window. openbox does not,
// so the test says what GTK would say.
func TestShadow(t *testing.T) {
	d := startAccessible(t)
	e := d.elements()
	f := d.show(e, forms["GTK 4"])
	d.Do("xprop", "-id", f.at.Window.ID, "-f", "_GTK_FRAME_EXTENTS", "32c", "-set", "_GTK_FRAME_EXTENTS", "14,14,12,17")
	b := f.at.Window.Bounds
	at := f.at
	at.Window.Bounds = human.Bounds{X: b.X - 14, Y: b.Y - 12, W: b.W + 28, H: b.H + 29}
	for _, s := range f.spots {
		x, y := f.point(s)
		if got, err := e.At(t.Context(), x, y, at); err != nil || got.Name != s.name {
			t.Errorf("%s, at %d,%d, is %s %q, %v; want %q", s.place, x, y, got.Role, got.Name, err, s.name)
		}
	}
	x, y := f.point(f.called("Greet"))
	want, err := e.At(t.Context(), x, y, record.Placed{App: at.App, Window: human.Window{Title: at.Window.Title, Bounds: b}})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := e.At(t.Context(), x, y, at); err != nil || got.Bounds != want.Bounds {
		t.Errorf("the button is at %v, %v; want %v", got.Bounds, err, want.Bounds)
	}
}

func TestSource(t *testing.T) {
	recordtest.Source(t, func(tb testing.TB) recordtest.SourceRig {
		d := startAccessible(tb)
		e := d.elements()
		f := d.show(e, forms["GTK 3"])
		e.screen.active() // connects
		spots := []spot{f.called("Notes"), f.called("Password"), f.called("Name")}
		return recordtest.SourceRig{
			Source: e, Name: human.ElementSource, Clock: e.o.Clock, Starts: 12,
			Provoke: func(tb testing.TB) (want []human.RecordedEvent) {
				d.T = tb
				for _, s := range spots {
					f.press(s)
					d.Wait("the focus on "+s.name, func() bool {
						got, err := e.Focused(tb.Context(), f.at)
						return err == nil && got.Name == s.name
					})
					want = append(want, human.RecordedEvent{
						Type: human.FocusMoved, App: &human.App{PID: f.PID()},
						Element: &human.Element{Role: s.role, Name: s.name, Secret: s.secret},
					})
				}
				return want
			},
		}
	})
}

func TestSecretNames(t *testing.T) {
	for name, want := range map[string]bool{
		"Password": true, "New passphrase": true, "PIN": true, "Enter your PIN:": true, "Passcode": true, "One-time code": true, "OTP": true,
		"密码": true, "请输入口令": true, "验证码": true, "Passwort": true, "Mot de passe": true, "Contraseña": true, "パスワード": true, "Пароль": true,
		"비밀번호": true, "CVV": true, "Security code": true,
		"Name": false, "Shipping": false, "Opinion": false, "Pinned note": false, "Spin": false, "Passenger": false, "Compass": false, "Bypass": false,
		"Postcode": false, "Country code": false, "Secretary": false, "姓名": false, "Key": false, "": false,
	} {
		field := []node{{role: roleEntry}}
		if got := secret(field, name, ""); got != want {
			t.Errorf("a field called %q is secret: %t, want %t", name, got, want)
		}
		if got := secret(field, "Field", name); got != want {
			t.Errorf("a field with the placeholder %q is secret: %t, want %t", name, got, want)
		}
		if secret([]node{{role: rolePushButton}}, name, "") {
			t.Errorf("a button called %q is secret", name)
		}
	}
}
