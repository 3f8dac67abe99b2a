package input_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"deskbell/backend/human"
	"deskbell/backend/platform/accessibility"
	"deskbell/backend/platform/input"
	"deskbell/backend/platform/x11"
	"deskbell/backend/record"
	"deskbell/backend/record/replay"
)

// patience is how long something may take on a busy machine.
const patience = 20 * time.Second

// A desk is an X server with a window manager of a test's own.
type desk struct {
	t       *testing.T
	env     []string
	dir     string
	session string // address of its bus, where it has one
}

func newDesk(t *testing.T) *desk { return desktop(t, false) }

// desktop starts one, accessible or not: with a bus of its own on which programs tell of their elements.
func desktop(t *testing.T, accessible bool) *desk {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	server := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-noreset")
	server.ExtraFiles = []*os.File{write}
	d := &desk{t: t, dir: t.TempDir()}
	d.begin(server)
	write.Close()
	number, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		t.Fatalf("Xvfb did not start: %v", err)
	}
	display := ":" + strings.TrimSpace(number)
	t.Setenv("DISPLAY", display)
	t.Setenv("WAYLAND_DISPLAY", "")
	d.env = append(os.Environ(), "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "GTK_THEME=Adwaita", "HOME="+d.dir)
	if accessible {
		d.bus()
	} else {
		d.env = append(d.env, "NO_AT_BRIDGE=1")
	}
	d.start("openbox")
	d.wait("the window manager", func() bool {
		return strings.Contains(d.out("xprop", "-root", "_NET_SUPPORTING_WM_CHECK"), "window id")
	})
	return d
}

// bus starts a session bus and the one of accessibility.
func (d *desk) bus() {
	d.t.Helper()
	run, err := os.MkdirTemp("", "robot") // a socket's path is short
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { os.RemoveAll(run) })
	config := filepath.Join(run, "bus.conf")
	if err := os.WriteFile(config, []byte(`<busconfig><type>session</type><listen>unix:dir=`+run+`</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`), 0o600); err != nil {
		d.t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		d.t.Fatal(err)
	}
	defer read.Close()
	daemon := exec.Command("dbus-daemon", "--config-file", config, "--nofork", "--print-address", "3")
	daemon.ExtraFiles = []*os.File{write}
	d.begin(daemon)
	write.Close()
	address, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		d.t.Fatalf("dbus-daemon did not start: %v", err)
	}
	d.session = strings.TrimSpace(address)
	d.env = append(d.env, "DBUS_SESSION_BUS_ADDRESS="+d.session, "XDG_RUNTIME_DIR="+run)
	launchers := []string{"/usr/libexec/at-spi-bus-launcher", "/usr/lib/at-spi2-core/at-spi-bus-launcher"}
	i := slices.IndexFunc(launchers, func(path string) bool { _, err := os.Stat(path); return err == nil })
	if i < 0 {
		d.t.Fatal("at-spi2-core is not installed")
	}
	d.start(launchers[i], "--launch-immediately")
	conn, err := dbus.Connect(d.session)
	if err != nil {
		d.t.Fatal(err)
	}
	defer conn.Close()
	d.wait("the bus of accessibility", func() bool {
		var address string
		return conn.Object("org.a11y.Bus", "/org/a11y/bus").Call("org.a11y.Bus.GetAddress", 0).Store(&address) == nil
	})
}

func (d *desk) begin(cmd *exec.Cmd) {
	d.t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
}

func (d *desk) start(name string, args ...string) {
	d.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir = d.env, d.dir
	d.begin(cmd)
}

func (d *desk) out(name string, args ...string) string {
	cmd := exec.Command(name, args...)
	cmd.Env = d.env
	out, _ := cmd.CombinedOutput()
	return strings.TrimSpace(string(out))
}

func (d *desk) wait(what string, is func() bool) {
	d.t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-deadline:
			d.t.Fatalf("waited %v in vain for %s", patience, what)
		case <-tick.C:
		}
	}
}

// player plays on the desk.
func (d *desk) player() *input.Player {
	d.t.Helper()
	windows := x11.NewWindows("", func() (time.Time, int64) { return time.Now(), 0 })
	var elements record.Elements // nil where there are none
	if d.session != "" {
		began := time.Now()
		e := accessibility.New(accessibility.Options{
			Clock: func() (time.Time, int64) { return time.Now(), int64(time.Since(began)) }, Session: d.session, Deadline: 5 * time.Second,
		})
		d.t.Cleanup(func() { e.Close() })
		if s := e.Check(d.t.Context()); s.Status == "missing" {
			d.t.Fatalf("elements: %+v", s)
		}
		elements = e
	}
	p, err := input.New(windows, elements)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		if err := p.Close(); err != nil {
			d.t.Error(err)
		}
	})
	return p
}

// window waits until a window with this title has the keyboard.
func (d *desk) window(p *input.Player, title string) record.Placed {
	d.t.Helper()
	var w record.Placed
	d.wait(title, func() bool {
		var err error
		w, err = p.Active(d.t.Context())
		return err == nil && w.Window.Title == title
	})
	return w
}

// terminal opens one that writes down what is typed into it.
func (d *desk) terminal(title string) (typed func() string) {
	file := filepath.Join(d.dir, title+".typed")
	d.start("xterm", "-u8", "-T", title, "-e", "stty raw -echo; exec cat > '"+file+"'")
	d.wait("the terminal to listen", func() bool { _, err := os.Stat(file); return err == nil })
	return func() string { b, _ := os.ReadFile(file); return string(b) }
}

// form opens a form in GTK 3 and returns how to read its state.
func (d *desk) form(p *input.Player) (w record.Placed, state func() map[string]any) {
	d.t.Helper()
	here, err := os.Getwd()
	if err != nil {
		d.t.Fatal(err)
	}
	file := filepath.Join(d.dir, "state.json")
	_ = os.Remove(file)
	d.start("/usr/bin/python3", "-B", filepath.Join(here, "../../../build/e2e/testdata/apps/form.gtk3.py"), file, d.dir)
	w = d.window(p, "Form GTK 3")
	return w, func() map[string]any {
		b, _ := os.ReadFile(file)
		var s map[string]any
		_ = json.Unmarshal(b, &s)
		return s
	}
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
			d := newDesk(t)
			d.out("setxkbmap", append([]string{"-layout"}, layout...)...)
			p := d.player()
			typed := d.terminal("listening")
			d.window(p, "listening")
			switch name {
			case "second group active":
				p.Tap(135) // Menu, which the option made the key for the next group
				p.Tap(24)
				d.wait("a Cyrillic letter, as the second layout makes", func() bool { return typed() == "й" })
			case "Caps Lock":
				d.out("xdotool", "key", "Caps_Lock")
			}
			before := typed()
			must(t, p.Text(every))
			d.wait("the whole text", func() bool { return len(typed()) >= len(before+every) })
			if got := strings.TrimPrefix(typed(), before); got != every {
				t.Errorf("xterm read\n %q, was sent\n %q", got, every)
			}
			w, state := d.form(p)
			must(t, p.Move(w.Window.Bounds.X+300, w.Window.Bounds.Y+55), p.Press(1), p.Release(1))
			must(t, p.Text(every))
			d.wait("the whole text in the form", func() bool { s, _ := state()["name"].(string); return strings.HasSuffix(s, "K-0417") })
			if got := state()["name"]; got != every {
				t.Errorf("the form read\n %q, was sent\n %q", got, every)
			}
		})
	}
}

func TestATextWithMoreSignsThanTheKeyboardHasSpareKeys(t *testing.T) {
	d := newDesk(t)
	p := d.player()
	typed := d.terminal("listening")
	d.window(p, "listening")
	var b strings.Builder
	for r := '一'; r < '一'+300; r++ {
		b.WriteRune(r)
	}
	must(t, p.Text(b.String()))
	d.wait("the whole text", func() bool { return len(typed()) >= b.Len() })
	if typed() != b.String() {
		t.Errorf("read %q", typed())
	}
	keymap := d.out("xmodmap", "-pke")
	must(t, p.Close())
	if after := d.out("xmodmap", "-pke"); strings.Contains(after, "U4E") || after == keymap {
		t.Error("the keyboard is not as it was")
	}
}

func TestAPersonsDoingsInARealForm(t *testing.T) {
	d := newDesk(t)
	p := d.player()
	w, state := d.form(p)
	at := func(x, y int) (int, int) { return w.Window.Bounds.X + x, w.Window.Bounds.Y + y }
	click := func(x, y int) {
		t.Helper()
		x, y = at(x, y)
		must(t, p.Move(x, y), p.Press(1), p.Release(1))
	}
	is := func(what string, key string, want any) {
		t.Helper()
		d.wait(fmt.Sprintf("%s: %s to be %v", what, key, want), func() bool { return fmt.Sprint(state()[key]) == fmt.Sprint(want) })
	}
	click(300, 55)
	must(t, p.Text("Hello"), p.Hold("ctrl"), p.Key("a"), p.LetGo("ctrl"), p.Text("Mei Lin"))
	is("select all and type", "name", "Mei Lin")
	must(t, p.Key("Home"), p.Hold("shift"), p.Key("ArrowRight"), p.Key("ArrowRight"), p.Key("ArrowRight"), p.LetGo("shift"),
		p.Hold("ctrl"), p.Key("c"), p.LetGo("ctrl"), p.Key("End"), p.Hold("ctrl"), p.Key("v"), p.LetGo("ctrl"))
	is("Shift with arrows, copy and paste", "name", "Mei LinMei")
	must(t, p.Key("Backspace"), p.Key("Tab"), p.Text("two\nlines"))
	is("Backspace", "name", "Mei LinMe")
	is("Tab, and a text of two lines", "notes", "two\nlines")
	// The box at 10, 10 of the area at the bottom is dragged.
	boxX, boxY := 30, w.Window.Bounds.H-90+20
	x, y := at(boxX, boxY)
	must(t, p.Move(x, y), p.Press(1))
	for i := 1; i <= 10; i++ {
		must(t, p.Move(x+10*i, y+2*i))
	}
	must(t, p.Release(1))
	is("a drag", "box", []any{110, 30})
	x, y = at(200, 430)
	must(t, p.Move(x, y), p.Scroll(0, 1), p.Scroll(0, 1))
	is("a scroll down", "scrolled", true)
	must(t, p.Scroll(0, -1), p.Scroll(0, -1), p.Scroll(0, -1))
	is("a scroll up", "scrolled", false)
}

func TestAnotherWindowIsBroughtToTheFront(t *testing.T) {
	d := newDesk(t)
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
	d := newDesk(t)
	p := d.player()
	d.terminal("one")
	d.window(p, "one")
	must(t, p.Move(300, 300))
	if why := p.Interrupted(); why != "" {
		t.Errorf("nobody did anything, and it says %q", why)
	}
	d.out("xdotool", "mousemove", "500", "400")
	if why := p.Interrupted(); !strings.Contains(why, "mouse") {
		t.Errorf("the mouse was moved, and it says %q", why)
	}
	must(t, p.Move(300, 300))
	d.out("xdotool", "keydown", "Escape")
	if why := p.Interrupted(); !strings.Contains(why, "Escape") {
		t.Errorf("Escape is down, and it says %q", why)
	}
	d.out("xdotool", "keyup", "Escape")
}

func TestNothingIsHeldAfterAStop(t *testing.T) {
	d := newDesk(t)
	p := d.player()
	w, _ := d.form(p)
	ctx, cancel := context.WithCancel(t.Context())
	app, win := w.App, w.Window
	x, y := win.Bounds.X+30, win.Bounds.Y+win.Bounds.H-70
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
	if mask := d.out("xdotool", "getmouselocation"); mask == "" {
		t.Fatal("the pointer cannot be asked")
	}
	if held, err := p.Held(); err != nil || held != 0 {
		t.Errorf("buttons or modifiers %#x are held, %v", held, err)
	}
}

func TestARecordedFormIsFilledInAgain(t *testing.T) {
	d := newDesk(t)
	p := d.player()
	w, state := d.form(p)
	// As recorded when the window was elsewhere.
	app, win := w.App, w.Window
	win.Bounds.X, win.Bounds.Y = 400, 30
	done := func(a human.Action) human.Action { a.App, a.Window = &app, &win; return a }
	list := []human.Action{
		done(human.Action{Type: human.Click, Button: 1, X: 700, Y: 85}),
		done(human.Action{Type: human.Typing, Text: "Мэй 林", Count: 5, Key: "Tab"}),
		done(human.Action{Type: human.Typing, Text: "Two\nlines", Count: 9}),
		done(human.Action{Type: human.Drag, Button: 1, X: 430, Y: 30 + win.Bounds.H - 70, ToX: 530, ToY: 30 + win.Bounds.H - 50}),
	}
	report, err := replay.Run(t.Context(), p, list, replay.Options{Speed: 4, Wait: wait})
	if err != nil || report.Done != len(list) {
		t.Fatalf("%+v, %v", report, err)
	}
	d.wait("the form to be filled in", func() bool {
		s := state()
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
	d := desktop(t, true)
	p := d.player()
	w, state := d.form(p)
	app, win := w.App, w.Window
	var list []human.Action
	// see looks up what stands where, as the recorder does at a press, and notes a click on it.
	see := func(role, name string, x, y int) {
		t.Helper()
		x, y = win.Bounds.X+x, win.Bounds.Y+y
		var e human.Element
		d.wait(role+" "+name, func() bool {
			var err error
			e, err = p.At(t.Context(), x, y, w)
			return err == nil && e.Role == role && e.Name == name
		})
		x, y = e.Bounds.X+e.Bounds.W/3, e.Bounds.Y+e.Bounds.H/2
		list = append(list, human.Action{ID: "a", Words: "Clicked " + name, Type: human.Click, Button: 1, X: x, Y: y, Element: &e, App: &app, Window: &win})
	}
	find := func(role, name string) (x, y int) {
		t.Helper()
		for y := 10; y < win.Bounds.H; y += 12 {
			for _, x := range []int{30, 70, 130, 300} {
				if e, err := p.At(t.Context(), win.Bounds.X+x, win.Bounds.Y+y, w); err == nil && e.Role == role && e.Name == name {
					return x, y
				}
			}
		}
		t.Fatalf("the form has no %s %s", role, name)
		return 0, 0
	}
	for _, e := range [][2]string{{"button", "Greet"}, {"checkbox", "Agree"}, {"textbox", "Name"}} {
		x, y := find(e[0], e[1])
		see(e[0], e[1], x, y)
	}
	list = append(list, human.Action{ID: "t", Type: human.Typing, Text: "Mei 林", Count: 5, Element: list[2].Element, App: &app, Window: &win})
	id := w.Window.ID
	d.out("xdotool", "windowsize", "--sync", id, "700", "700", "windowmove", id, "420", "60")
	d.wait("the window to be elsewhere and larger", func() bool {
		now, err := p.Active(t.Context())
		return err == nil && now.Window.Bounds.W == 700 && now.Window.Bounds.X != win.Bounds.X
	})
	report, err := replay.Run(t.Context(), p, list, replay.Options{Speed: 4, Wait: wait})
	if err != nil {
		t.Fatalf("%+v, %v", report, err)
	}
	d.wait("the form to be filled in", func() bool {
		s := state()
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
	if fmt.Sprint(state()["greetings"]) != "1" {
		t.Error("it was clicked all the same")
	}
}

func TestAMenuIsOpenedAndItsItemChosen(t *testing.T) {
	d := desktop(t, true)
	p := d.player()
	w, state := d.form(p)
	app, win := w.App, w.Window
	at := func(x, y int, e human.Element) human.Action {
		return human.Action{ID: "a", Words: e.Name, Type: human.Click, Button: 1, X: win.Bounds.X + x, Y: win.Bounds.Y + y, Element: &e, App: &app, Window: &win}
	}
	// As the recorder sees them: the bar's item, then the third of its menu.
	file, err := p.At(t.Context(), win.Bounds.X+15, win.Bounds.Y+12, w)
	if err != nil {
		t.Fatal(err)
	}
	must(t, p.Move(win.Bounds.X+15, win.Bounds.Y+12), p.Press(1), p.Release(1))
	var export human.Element
	y := 0
	d.wait("the menu's item", func() bool {
		for y = 30; y < 150; y += 8 {
			if export, err = p.At(t.Context(), win.Bounds.X+30, win.Bounds.Y+y, w); err == nil && export.Name == "Export" {
				return true
			}
		}
		return false
	})
	must(t, p.Key("Escape"), p.Key("Escape"))
	if _, err := replay.Run(t.Context(), p, []human.Action{at(15, 12, file), at(30, y, export)}, replay.Options{Wait: wait}); err != nil {
		t.Fatal(err)
	}
	d.wait("Export to be chosen", func() bool { return state()["menu"] == "Export" })
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
