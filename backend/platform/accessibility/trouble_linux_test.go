package accessibility

import (
	"context"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
	"deskbell/backend/record/recordtest"
)

// An application that is stopped holds up its own look-ups only, and those no longer than the deadline.
func TestStoppedApplication(t *testing.T) {
	d := startDesktop(t).accessible()
	e := d.elementsIn(0) // the default
	stopped, runs := forms["GTK 3"], forms["Qt 5"]
	one := d.form(stopped.script, stopped.env...)
	first := d.window(stopped.title, one.pid())
	d.ready(e, first, stopped.spots[0])
	other := d.form(runs.script, runs.env...)
	second := d.window(runs.title, other.pid())
	d.ready(e, second, runs.spots[0])

	if err := syscall.Kill(one.pid(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	look := func(at record.Placed, s spot) (human.Element, time.Duration, error) {
		began := time.Now()
		got, err := e.At(t.Context(), at.Window.Bounds.X+s.x, at.Window.Bounds.Y+s.y, at)
		return got, time.Since(began), err
	}
	slow := make(chan struct{})
	go func() {
		defer close(slow)
		if _, took, err := look(first, stopped.spots[0]); kind(err) != human.Unavailable || took > 400*time.Millisecond {
			t.Errorf("the stopped application: %v after %v", err, took)
		}
	}()
	var took []time.Duration
	for waiting := true; waiting; {
		select {
		case <-slow:
			waiting = false
		default:
		}
		got, time, err := look(second, runs.spots[7])
		if err != nil || got.Name != "Greet" {
			t.Fatalf("meanwhile another one: %+v, %v", got, err)
		}
		took = append(took, time)
	}
	slices.Sort(took)
	if p50 := took[len(took)/2]; len(took) < 5 || p50 > 200*time.Millisecond {
		t.Errorf("meanwhile another one was asked %d times and took %v", len(took), took)
	}
	// It is left alone at once now,
	if _, took, err := look(first, stopped.spots[0]); kind(err) != human.Unavailable || took > 50*time.Millisecond {
		t.Errorf("the stopped application again: %v after %v", err, took)
	}
	// and found again when it goes on.
	if err := syscall.Kill(one.pid(), syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	d.ready(e, first, stopped.spots[0])
}

// Of a terminal without accessibility nothing is known, and that is said.
func TestNotOnTheBus(t *testing.T) {
	d := startDesktop(t).accessible()
	e := d.elements()
	term := d.start("xterm", "-T", "Plain terminal", "-e", "cat")
	at := d.window("Plain terminal", term.pid())
	middle := at.Window.Bounds
	if _, err := e.At(t.Context(), middle.X+middle.W/2, middle.Y+middle.H/2, at); kind(err) != human.NotFound {
		t.Errorf("an element of xterm: %v", err)
	}
	// It may be a password that is typed, unless something else knows of it.
	if _, err := e.Focused(t.Context(), at); kind(err) != human.Unavailable {
		t.Errorf("the focus in xterm: %v", err)
	}
	knows := New(Options{Clock: e.o.Clock, Session: d.session, Terminal: func(_ context.Context, in record.Placed) bool { return in.App.PID == term.pid() }})
	defer knows.Close()
	if _, err := knows.Focused(t.Context(), at); kind(err) != human.NotFound {
		t.Errorf("the focus in a terminal: %v", err)
	}
}

// A Chromium that was not started for it tells of no fields, so what is typed there may be a password.
func TestSilentPage(t *testing.T) {
	d := startDesktop(t).accessible()
	e := d.elements()
	browser := d.start("chromium", "--no-sandbox", "--disable-gpu", "--no-first-run", "--password-store=basic", "--kiosk",
		"--user-data-dir="+filepath.Join(d.home, "chromium"), d.serve(filepath.Join(apps(), "form.html")))
	at := d.window("Form Chromium", browser.pid())
	d.wait("the window on the bus", func() bool {
		_, err := e.At(t.Context(), 600, 700, at)
		return err == nil
	})
	d.press(at, spot{x: 190, y: 178}) // the field for the password
	d.do("type", "x")
	d.state("form.html", "password_length", 1.0)
	if got, err := e.Focused(t.Context(), at); err == nil && !got.Secret || err != nil && kind(err) != human.Unavailable {
		t.Errorf("what has the keyboard is %+v, %v", got, err)
	}
}

// A table makes an object for each cell it is asked for, so it is only asked what is at a point.
func TestLongTable(t *testing.T) {
	d := startDesktop(t).accessible()
	e := d.elementsIn(0)
	table := d.start("/usr/bin/python3", "-c", `
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
	at := d.window("Long table", table.pid())
	row := spot{30, 60, "cell", "row 1", false}
	d.ready(e, at, row)
	d.press(at, row)
	if got, err := e.At(t.Context(), at.Window.Bounds.X+row.x, at.Window.Bounds.Y+row.y, at); err != nil || got.Name != row.name {
		t.Errorf("the cell is %+v, %v", got, err)
	}
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
	d := startDesktop(t)
	check := func(session string) human.SourceState {
		e := New(Options{Session: session})
		defer e.Close()
		return e.Check(t.Context())
	}
	nowhere := "unix:path=" + filepath.Join(d.home, "nobody")
	for what, session := range map[string]string{"no session bus": nowhere, "no accessibility bus": d.session} {
		s := check(session)
		if s.Source != human.ElementSource || s.Status != "missing" || s.Code != "no_accessibility_bus" || s.Detail == "" || s.Fix == "" {
			t.Errorf("%s: %+v", what, s)
		}
	}
	d.accessible()
	if s := check(d.session); s.Status != "partial" || s.Fix == "" {
		t.Errorf("switched on just now: %+v", s)
	}
	if s := check(d.session); s.Status != "complete" {
		t.Errorf("on already: %+v", s)
	}
}

// With a scale applications speak of units, and recordings of pixels.
func TestScale(t *testing.T) {
	d := startDesktop(t).accessible()
	e := d.elements()
	for name, env := range map[string]string{"GTK 3": "GDK_SCALE=2", "GTK 4": "GDK_SCALE=2", "Qt 5": "QT_SCALE_FACTOR=1.5", "Qt 6": "QT_SCALE_FACTOR=1.5"} {
		t.Run(name, func(t *testing.T) {
			d.t = t
			form := forms[name]
			app := d.form(form.script, append(form.env, env)...)
			at := d.window(form.title, app.pid())
			scale := 2.0
			if form.script == "form.qt.py" {
				scale = 1.5
			}
			i := slices.IndexFunc(form.spots, func(s spot) bool { return s.name == "Greet" })
			greet := form.spots[i]
			greet.x, greet.y = int(scale*float64(greet.x)), int(scale*float64(greet.y))
			d.ready(e, at, greet)
			got, err := e.At(t.Context(), at.Window.Bounds.X+greet.x, at.Window.Bounds.Y+greet.y, at)
			if err != nil || got.Name != "Greet" || !got.Bounds.Contains(at.Window.Bounds.X+greet.x, at.Window.Bounds.Y+greet.y) {
				t.Errorf("at the button is %+v, %v", got, err)
			}
			d.press(at, greet)
			d.state(form.script, "greetings", 1.0)
		})
	}
}

// Where the window manager takes part in it, GTK draws a window's shadow as a part of the window. openbox does not,
// so the test says what GTK would say.
func TestShadow(t *testing.T) {
	d := startDesktop(t).accessible()
	e := d.elements()
	form := forms["GTK 4"]
	app := d.form(form.script)
	at := d.window(form.title, app.pid())
	d.ready(e, at, form.spots[0])
	d.try("xprop", "-id", at.Window.ID, "-f", "_GTK_FRAME_EXTENTS", "32c", "-set", "_GTK_FRAME_EXTENTS", "14,14,12,17")
	b := at.Window.Bounds
	at.Window.Bounds = human.Bounds{X: b.X - 14, Y: b.Y - 12, W: b.W + 28, H: b.H + 29}
	for _, s := range form.spots {
		if got, err := e.At(t.Context(), b.X+s.x, b.Y+s.y, at); err != nil || got.Name != s.name {
			t.Errorf("at %d,%d is %s %q, %v; want %q", s.x, s.y, got.Role, got.Name, err, s.name)
		}
	}
	want, err := e.At(t.Context(), b.X+form.spots[7].x, b.Y+form.spots[7].y, record.Placed{App: at.App, Window: human.Window{Title: at.Window.Title, Bounds: b}})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := e.At(t.Context(), b.X+form.spots[7].x, b.Y+form.spots[7].y, at); err != nil || got.Bounds != want.Bounds {
		t.Errorf("the button is at %v, %v; want %v", got.Bounds, err, want.Bounds)
	}
}

func TestSource(t *testing.T) {
	recordtest.Source(t, func(tb testing.TB) recordtest.SourceRig {
		d := startDesktop(tb).accessible()
		e := d.elements()
		form := forms["GTK 3"]
		app := d.form(form.script, form.env...)
		at := d.window(form.title, app.pid())
		d.ready(e, at, form.spots[0])
		e.screen.active() // connects
		spots := []spot{form.spots[2], form.spots[3], form.spots[1]}
		return recordtest.SourceRig{
			Source: e, Name: human.ElementSource, Clock: e.o.Clock, Starts: 12,
			Provoke: func(tb testing.TB) (want []human.RecordedEvent) {
				d.t = tb
				for _, s := range spots {
					d.press(at, s)
					d.wait("the focus on "+s.name, func() bool {
						got, err := e.Focused(tb.Context(), at)
						return err == nil && got.Name == s.name
					})
					want = append(want, human.RecordedEvent{
						Type: human.FocusMoved, App: &human.App{PID: app.pid()},
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
