package input_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/platform/accessibility"
	"deskbell/backend/platform/input"
	"deskbell/backend/platform/x11"
	"deskbell/backend/record"
	"deskbell/backend/record/replay"
	"deskbell/build/e2e/desktoptest"
)

// A fixture is a desktop of a test's own, on which the robot plays.
type fixture struct {
	*desktoptest.Desktop
	accessible bool
}

// newFixture starts one with nothing that knows of elements.
func newFixture(t *testing.T) *fixture {
	t.Helper()
	d := &fixture{Desktop: desktoptest.Start(t, desktoptest.Options{Width: 1280, Height: 800})}
	d.Enter()
	return d
}

// newAccessibleFixture starts one on which programs tell of their elements.
func newAccessibleFixture(t *testing.T) *fixture {
	t.Helper()
	d := newFixture(t)
	d.StartAccessibility()
	d.accessible = true
	return d
}

// player plays on the fixture.
func (d *fixture) player() *input.Player {
	d.T.Helper()
	windows := x11.NewWindows("", func() (time.Time, int64) { return time.Now(), 0 })
	var elements record.Elements // nil where there are none
	if d.accessible {
		began := time.Now()
		e := accessibility.New(accessibility.Options{
			Clock: func() (time.Time, int64) { return time.Now(), int64(time.Since(began)) }, Session: d.Session, Deadline: 5 * time.Second,
		})
		d.T.Cleanup(func() { e.Close() })
		if s := e.Check(d.T.Context()); s.Status == "missing" {
			d.T.Fatalf("elements: %+v", s)
		}
		elements = e
	}
	p, err := input.New(windows, elements)
	if err != nil {
		d.T.Fatal(err)
	}
	d.T.Cleanup(func() {
		if err := p.Close(); err != nil {
			d.T.Error(err)
		}
	})
	return p
}

// window waits until a window with this title has the keyboard.
func (d *fixture) window(p *input.Player, title string) record.Placed {
	d.T.Helper()
	var w record.Placed
	d.Wait(title, func() bool {
		var err error
		w, err = p.Active(d.T.Context())
		return err == nil && w.Window.Title == title
	})
	return w
}

// terminal opens one that writes down what is typed into it.
func (d *fixture) terminal(title string) (typed func() string) {
	file := filepath.Join(d.Home, title+".typed")
	d.Start("xterm", "-u8", "-T", title, "-e", "stty raw -echo; exec cat > '"+file+"'")
	d.Wait("the terminal to listen", func() bool { _, err := os.Stat(file); return err == nil })
	return func() string { b, _ := os.ReadFile(file); return string(b) }
}

// form opens a form in GTK 3.
func (d *fixture) form(p *input.Player) (record.Placed, *desktoptest.Form) {
	d.T.Helper()
	f := d.StartForm("form.gtk3.py", d.Home, nil)
	return d.window(p, "Form GTK 3"), f
}

// middle is a place of the screen: the middle of a part of the form in that window.
func middle(w record.Placed, f *desktoptest.Form, part string) (x, y int) {
	at := f.Place(part)
	return w.Window.Bounds.X + (at.Min.X+at.Max.X)/2, w.Window.Bounds.Y + (at.Min.Y+at.Max.Y)/2
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// every is a text with letters of Latin, accents, signs behind Shift and AltGr, Cyrillic, Greek and Chinese.
const every = `Hello, World! a@b.c {x|y} ~^" ÄÖÜß éñ € Привет, мир Ωλ 你好，世界 合同K-0417`

func TestTextComesOutRightInAnyLayout(t *testing.T) {
	for name, layout := range map[string][]string{
		"us": {"us"}, "de": {"de"}, "ru": {"ru"}, "fr": {"fr"}, "second group active": {"us,ru", "-option", "grp:menu_toggle"}, "Caps Lock": {"us"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newFixture(t)
			d.Do("setxkbmap", append([]string{"-layout"}, layout...)...)
			p := d.player()
			typed := d.terminal("listening")
			d.window(p, "listening")
			switch name {
			case "second group active":
				p.Tap(135) // Menu, which the option made the key for the next group
				p.Tap(24)
				d.Wait("a Cyrillic letter, as the second layout makes", func() bool { return typed() == "й" })
			case "Caps Lock":
				d.Do("xdotool", "key", "Caps_Lock")
			}
			before := typed()
			must(t, p.Text(every))
			d.Wait("the whole text", func() bool { return len(typed()) >= len(before+every) })
			if got := strings.TrimPrefix(typed(), before); got != every {
				t.Errorf("xterm read\n %q, was sent\n %q", got, every)
			}
			w, form := d.form(p)
			must(t, p.Move(middle(w, form, "Name")), p.Press(1), p.Release(1))
			must(t, p.Text(every))
			d.Wait("the whole text in the form", func() bool { s, _ := form.State()["name"].(string); return strings.HasSuffix(s, "K-0417") })
			if got := form.State()["name"]; got != every {
				t.Errorf("the form read\n %q, was sent\n %q", got, every)
			}
		})
	}
}

func TestATextWithMoreSignsThanTheKeyboardHasSpareKeys(t *testing.T) {
	d := newFixture(t)
	p := d.player()
	typed := d.terminal("listening")
	d.window(p, "listening")
	var b strings.Builder
	for r := '一'; r < '一'+300; r++ {
		b.WriteRune(r)
	}
	must(t, p.Text(b.String()))
	d.Wait("the whole text", func() bool { return len(typed()) >= b.Len() })
	if typed() != b.String() {
		t.Errorf("read %q", typed())
	}
	keymap := d.Do("xmodmap", "-pke")
	must(t, p.Close())
	if after := d.Do("xmodmap", "-pke"); strings.Contains(after, "U4E") || after == keymap {
		t.Error("the keyboard is not as it was")
	}
}

func TestAPersonsDoingsInARealForm(t *testing.T) {
	d := newFixture(t)
	p := d.player()
	w, form := d.form(p)
	is := func(what string, key string, want any) { t.Helper(); t.Log(what); form.Await(key, want) }
	must(t, p.Move(middle(w, form, "Name")), p.Press(1), p.Release(1))
	must(t, p.Text("Hello"), p.Hold("ctrl"), p.Key("a"), p.LetGo("ctrl"), p.Text("Mei Lin"))
	is("select all and type", "name", "Mei Lin")
	must(t, p.Key("Home"), p.Hold("shift"), p.Key("ArrowRight"), p.Key("ArrowRight"), p.Key("ArrowRight"), p.LetGo("shift"),
		p.Hold("ctrl"), p.Key("c"), p.LetGo("ctrl"), p.Key("End"), p.Hold("ctrl"), p.Key("v"), p.LetGo("ctrl"))
	is("Shift with arrows, copy and paste", "name", "Mei LinMei")
	must(t, p.Key("Backspace"), p.Key("Tab"), p.Text("two\nlines"))
	is("Backspace", "name", "Mei LinMe")
	is("Tab, and a text of two lines", "notes", "two\nlines")
	// The box at 10, 10 of the area is dragged.
	area := form.Place("Drag area")
	x, y := w.Window.Bounds.X+area.Min.X+30, w.Window.Bounds.Y+area.Min.Y+20
	must(t, p.Move(x, y), p.Press(1))
	for i := 1; i <= 10; i++ {
		must(t, p.Move(x+10*i, y+2*i))
	}
	must(t, p.Release(1))
	is("a drag", "box", []any{110, 30})
	must(t, p.Move(middle(w, form, "Alpha")), p.Scroll(0, 1), p.Scroll(0, 1))
	is("a scroll down", "scrolled", true)
	must(t, p.Scroll(0, -1), p.Scroll(0, -1), p.Scroll(0, -1))
	is("a scroll up", "scrolled", false)
}

func TestAnotherWindowIsBroughtToTheFront(t *testing.T) {
	d := newFixture(t)
	p := d.player()
	d.terminal("one")
	one := d.window(p, "one")
	typed := d.terminal("two")
	d.window(p, "two")
	if all, err := p.Windows(t.Context()); err != nil || len(all) != 2 || all[0].Window.Title != "two" {
		t.Fatalf("windows %+v, %v", all, err)
	}
	must(t, p.Activate(t.Context(), one))
	d.window(p, "one")
	if typed() != "" {
		t.Error("something was typed")
	}
	if _, err := p.At(t.Context(), 1, 1, one); human.KindOf(err) != human.Unavailable {
		t.Errorf("without elements At says %v", err)
	}
}

func TestThePersonTakesTheDesktopBack(t *testing.T) {
	d := newFixture(t)
	p := d.player()
	d.terminal("one")
	d.window(p, "one")
	must(t, p.Move(300, 300))
	if why := p.Interrupted(); why != "" {
		t.Errorf("nobody did anything, and it says %q", why)
	}
	d.Do("xdotool", "mousemove", "500", "400")
	if why := p.Interrupted(); !strings.Contains(why, "mouse") {
		t.Errorf("the mouse was moved, and it says %q", why)
	}
	must(t, p.Move(300, 300))
	d.Do("xdotool", "keydown", "Escape")
	if why := p.Interrupted(); !strings.Contains(why, "Escape") {
		t.Errorf("Escape is down, and it says %q", why)
	}
	d.Do("xdotool", "keyup", "Escape")
}

func TestNothingIsHeldAfterAStop(t *testing.T) {
	d := newFixture(t)
	p := d.player()
	w, form := d.form(p)
	ctx, cancel := context.WithCancel(t.Context())
	app, win := w.App, w.Window
	area := form.Place("Drag area")
	x, y := win.Bounds.X+area.Min.X+30, win.Bounds.Y+area.Min.Y+20
	n := 0
	_, err := replay.Run(ctx, p, []human.Action{{
		ID: "a1", Type: human.Drag, Button: 1, X: x, Y: y, ToX: x + 200, ToY: y, Modifiers: []string{"shift", "ctrl"}, App: &app, Window: &win,
	}}, replay.Options{Wait: func(ctx context.Context, d time.Duration) error {
		if n++; n == 12 {
			cancel()
		}
		return wait(ctx, d)
	}})
	if err == nil {
		t.Fatal("it was not stopped")
	}
	if mask := d.Do("xdotool", "getmouselocation"); mask == "" {
		t.Fatal("the pointer cannot be asked")
	}
	if held, err := p.Held(); err != nil || held != 0 {
		t.Errorf("buttons or modifiers %#x are held, %v", held, err)
	}
}

func TestARecordedFormIsFilledInAgain(t *testing.T) {
	d := newFixture(t)
	p := d.player()
	w, form := d.form(p)
	// As recorded when the window was elsewhere.
	app, win := w.App, w.Window
	win.Bounds.X, win.Bounds.Y = 400, 30
	done := func(a human.Action) human.Action { a.App, a.Window = &app, &win; return a }
	name, area := form.Place("Name"), form.Place("Drag area")
	list := []human.Action{
		done(human.Action{Type: human.Click, Button: 1, X: 400 + name.Min.X + 20, Y: 30 + name.Min.Y + 9}),
		done(human.Action{Type: human.Typing, Text: "Мэй 林", Count: 5, Key: "Tab"}),
		done(human.Action{Type: human.Typing, Text: "Two\nlines", Count: 9}),
		done(human.Action{Type: human.Drag, Button: 1, X: 430 + area.Min.X, Y: 50 + area.Min.Y, ToX: 530 + area.Min.X, ToY: 70 + area.Min.Y}),
	}
	report, err := replay.Run(t.Context(), p, list, replay.Options{Speed: 4, Wait: wait})
	if err != nil || report.Done != len(list) {
		t.Fatalf("%+v, %v", report, err)
	}
	d.Wait("the form to be filled in", func() bool {
		s := form.State()
		return s["name"] == "Мэй 林" && s["notes"] == "Two\nlines" && fmt.Sprint(s["box"]) == "[110 30]"
	})
}

// wait is the clock of replays.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func TestElementsAreFoundAgainInAWindowMovedAndResized(t *testing.T) {
	d := newAccessibleFixture(t)
	p := d.player()
	w, form := d.form(p)
	app, win := w.App, w.Window
	var list []human.Action
	// see looks up what stands where, as the recorder does at a press, and notes a click on it.
	see := func(role, name string) {
		t.Helper()
		x, y := middle(w, form, name)
		var e human.Element
		d.Wait(role+" "+name, func() bool {
			var err error
			e, err = p.At(t.Context(), x, y, w)
			return err == nil && e.Role == role && e.Name == name
		})
		x, y = e.Bounds.X+e.Bounds.W/3, e.Bounds.Y+e.Bounds.H/2
		list = append(list, human.Action{ID: "a", Words: "Clicked " + name, Type: human.Click, Button: 1, X: x, Y: y, Element: &e, App: &app, Window: &win})
	}
	for _, e := range [][2]string{{"button", "Greet"}, {"checkbox", "Agree"}, {"textbox", "Name"}} {
		see(e[0], e[1])
	}
	list = append(list, human.Action{ID: "t", Type: human.Typing, Text: "Mei 林", Count: 5, Element: list[2].Element, App: &app, Window: &win})
	id := w.Window.ID
	d.Do("xdotool", "windowsize", "--sync", id, "700", "700", "windowmove", id, "420", "60")
	d.Wait("the window to be elsewhere and larger", func() bool {
		now, err := p.Active(t.Context())
		return err == nil && now.Window.Bounds.W == 700 && now.Window.Bounds.X != win.Bounds.X
	})
	report, err := replay.Run(t.Context(), p, list, replay.Options{Speed: 4, Wait: wait})
	if err != nil {
		t.Fatalf("%+v, %v", report, err)
	}
	d.Wait("the form to be filled in", func() bool {
		s := form.State()
		return s["name"] == "Mei 林" && s["agree"] == true && fmt.Sprint(s["greetings"]) == "1"
	})

	// What is something else now is not clicked.
	other := *list[0].Element
	other.Name = "Sign"
	wrong := list[0]
	wrong.Element = &other
	_, err = replay.Run(t.Context(), p, []human.Action{wrong}, replay.Options{Patience: 300 * time.Millisecond, Wait: wait})
	if human.KindOf(err) != human.Conflict || !strings.Contains(err.Error(), `expected button "Sign"`) {
		t.Errorf("the error is %v", err)
	}
	if fmt.Sprint(form.State()["greetings"]) != "1" {
		t.Error("it was clicked all the same")
	}
}

func TestAMenuIsOpenedAndItsItemChosen(t *testing.T) {
	d := newAccessibleFixture(t)
	p := d.player()
	w, form := d.form(p)
	app, win := w.App, w.Window
	at := func(x, y int, e human.Element) human.Action {
		return human.Action{ID: "a", Words: e.Name, Type: human.Click, Button: 1, X: x, Y: y, Element: &e, App: &app, Window: &win}
	}
	// As the recorder sees them: the bar's item, then the third of its menu.
	x, y := middle(w, form, "File")
	file, err := p.At(t.Context(), x, y, w)
	if err != nil {
		t.Fatal(err)
	}
	must(t, p.Move(x, y), p.Press(1), p.Release(1))
	var export human.Element
	below := 0
	d.Wait("the menu's item", func() bool {
		for below = y + 10; below < y+150; below += 8 {
			if export, err = p.At(t.Context(), x+15, below, w); err == nil && export.Name == "Export" {
				return true
			}
		}
		return false
	})
	must(t, p.Key("Escape"), p.Key("Escape"))
	if _, err := replay.Run(t.Context(), p, []human.Action{at(x, y, file), at(x+15, below, export)}, replay.Options{Wait: wait}); err != nil {
		t.Fatal(err)
	}
	d.Wait("Export to be chosen", func() bool { return form.State()["menu"] == "Export" })
}

func TestWithoutADisplayNothingIsPlayed(t *testing.T) {
	t.Setenv("DISPLAY", "")
	_, err := input.New(x11.NewWindows("", func() (time.Time, int64) { return time.Now(), 0 }), nil)
	if human.KindOf(err) != human.Unavailable {
		t.Errorf("got %v", err)
	}
	t.Setenv("WAYLAND_DISPLAY", "wayland-0")
	t.Setenv("XDG_SESSION_TYPE", "wayland")
	if _, err := input.New(x11.NewWindows("", nil), nil); !strings.Contains(fmt.Sprint(err), "Wayland") {
		t.Errorf("got %v", err)
	}
	if _, err := input.New(nil, nil); human.KindOf(err) != human.Unavailable {
		t.Errorf("got %v", err)
	}
}
