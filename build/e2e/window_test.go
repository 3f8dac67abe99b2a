//go:build window

// Package e2e tests the window, the server and the recorder with everything around them real: desktops of package
// desktoptest, browsers, agents. Run it with `make window` and `make browser`.
package e2e

import (
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"deskbell/build/e2e/desktoptest"
)

var shellBinary string

func TestMain(m *testing.M) {
	if os.Getenv(agentCall) != "" {
		os.Exit(runAgent())
	}
	dir, err := os.MkdirTemp("", "shell")
	if err == nil {
		shellBinary = filepath.Join(dir, "deskbell")
		err = buildShell(dir, shellBinary)
	}
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// buildShell compiles app.go with the test's main.go in the place of the program's.
func buildShell(dir, binary string) error {
	root, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(root, "main.go"): filepath.Join(root, "build/e2e/testdata/shell/main.go"),
	}})
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, overlay, 0o600); err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-tags", "desktop,production,webkit2_41", "-overlay", path, "-o", binary, ".")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building the shell: %w\n%s", err, out)
	}
	return nil
}

// A shell is the window around the page of testdata/shell.
type shell struct {
	d   *desktoptest.Desktop
	p   *desktoptest.Program
	url string
}

// startShell starts it hidden, as at login, and waits for its page.
func startShell(d *desktoptest.Desktop) *shell {
	d.T.Helper()
	s := launchShell(d, "SHELL_ARGS=--hidden")
	s.hears("page wails://wails secret")
	return s
}

func launchShell(d *desktoptest.Desktop, env ...string) *shell {
	d.T.Helper()
	s := &shell{d: d, p: d.StartWith(env, shellBinary)}
	d.Wait("the shell's address", func() bool { return strings.Contains(s.p.Out(), "\n") })
	s.url, _, _ = strings.Cut(s.p.Out(), "\n")
	return s
}

// js runs a script in the page.
func (s *shell) js(script string) {
	s.d.T.Helper()
	r, err := http.Post(s.url+"/js", "text/plain", strings.NewReader(script))
	if err != nil {
		s.d.T.Fatal(err)
	}
	r.Body.Close()
}

// says returns the next thing that happened in the shell or its page.
func (s *shell) says() string {
	s.d.T.Helper()
	client := http.Client{Timeout: desktoptest.Patience}
	r, err := client.Get(s.url + "/said")
	if err != nil {
		s.d.T.Fatal("nothing more happened: ", err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		s.d.T.Fatal(err)
	}
	return string(text)
}

func (s *shell) hears(want string) {
	s.d.T.Helper()
	if got := s.says(); got != want {
		s.d.T.Fatalf("got %q, want %q", got, want)
	}
}

type placement struct {
	Mode               string
	Width, Height, Pad int
	Transparent        bool
}

// mode has the page change the mode, and waits until it stands.
func (s *shell) mode(name string, height int) (p placement) {
	s.d.T.Helper()
	s.js(fmt.Sprintf("mode(%q, %d)", name, height))
	text, ok := strings.CutPrefix(s.says(), "mode ")
	if !ok {
		s.d.T.Fatalf("got %q, want a mode", text)
	}
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		s.d.T.Fatal(err)
	}
	return p
}

func (s *shell) pending(n int) {
	s.d.T.Helper()
	r, err := http.PostForm(s.url+"/pending", url.Values{"n": {fmt.Sprint(n)}})
	if err != nil {
		s.d.T.Fatal(err)
	}
	r.Body.Close()
}

// notify shows a notification and returns dunst's window of it.
func (s *shell) notify(notice string) desktoptest.Window {
	s.d.T.Helper()
	s.js("app.Notify(" + notice + ").then(shown => say('shown', shown))")
	s.hears("shown true")
	return s.d.WaitWindow("Dunst")
}

func wantAt(t *testing.T, d *desktoptest.Desktop, want desktoptest.Window) {
	t.Helper()
	var got desktoptest.Window
	d.Wait(fmt.Sprintf("the window to stand at %+v", want), func() bool {
		got, _ = d.FindWindow("Deskbell")
		want.ID = got.ID
		return got == want
	})
}

func TestPopupStandsAboveWithoutTheKeyboard(t *testing.T) {
	t.Parallel()
	d := desktoptest.Start(t, desktoptest.Options{Notifications: true})
	typed := d.Terminal("editor")
	changes, windows := d.Watch("_NET_ACTIVE_WINDOW"), d.Watch("_NET_CLIENT_LIST")
	s := startShell(d)
	if n := windows(); n != 0 {
		t.Errorf("a window that starts hidden came and went: %d changes", n)
	}

	got := s.mode("popup", 160)
	if want := (placement{Mode: "popup", Width: 400, Height: 160}); got != want {
		t.Errorf("placed %+v, want %+v", got, want)
	}
	wantAt(t, d, desktoptest.Window{X: 1440 - 16 - 400, Y: 16, W: 400, H: 160})
	w, _ := d.FindWindow("Deskbell")
	state := d.Do("xprop", "-id", w.ID, "_NET_WM_STATE")
	for _, want := range []string{"_NET_WM_STATE_ABOVE", "_NET_WM_STATE_SKIP_TASKBAR", "_NET_WM_STATE_SKIP_PAGER"} {
		if !strings.Contains(state, want) {
			t.Errorf("%s is missing in %s", want, state)
		}
	}
	if frame := d.Do("xprop", "-id", w.ID, "_NET_FRAME_EXTENTS"); !strings.Contains(frame, "0, 0, 0, 0") {
		t.Errorf("the popup has a frame: %s", frame)
	}

	// A window put over it by the operator stays under it.
	d.Do("xdotool", "search", "--name", "^editor$", "windowmove", "900", "30")
	d.Wait("the card to be painted", func() bool {
		return near(d.Screenshot("").At(1024+390, 16+150), color.White)
	})

	s.mode("popup", 300)
	wantAt(t, d, desktoptest.Window{X: 1440 - 16 - 400, Y: 16, W: 400, H: 300})
	s.mode("popup", 5000)
	wantAt(t, d, desktoptest.Window{X: 1440 - 16 - 400, Y: 16, W: 400, H: 900 - 32})
	s.mode("popup", 160)
	wantAt(t, d, desktoptest.Window{X: 1440 - 16 - 400, Y: 16, W: 400, H: 160})

	d.Click(1024+76, 16+128)
	s.hears("clicked")
	d.Type("still here")
	d.Wait("the keys in the editor", func() bool { return typed() == "still here" })
	if n := changes(); n != 0 {
		t.Errorf("the keyboard changed hands %d times", n)
	}
}

func TestKeysReachThePopupOnlyWhenAskedFor(t *testing.T) {
	t.Parallel()
	d := desktoptest.Start(t, desktoptest.Options{Notifications: true})
	typed := d.Terminal("editor")
	s := startShell(d)
	s.mode("popup", 160)
	wantAt(t, d, desktoptest.Window{X: 1024, Y: 16, W: 400, H: 160})

	d.Click(1024+76, 16+70) // the text field
	d.WaitActive("Deskbell")
	d.Type("a")
	s.hears("typed a")
	d.Click(100, 300)
	d.WaitActive("editor")

	d.Key("ctrl+alt+b")
	s.hears("event keys")
	d.WaitActive("Deskbell")
	d.Type("b")
	s.hears("typed ab")
	d.Key("ctrl+alt+b") // does not arrive anywhere as text
	s.hears("event keys")

	s.mode("hidden", 0)
	d.WaitNoWindow("Deskbell")
	d.WaitActive("editor")
	d.Type("c")
	d.Wait("the key in the editor", func() bool { return typed() == "c" })

	s.mode("popup", 160)
	wantAt(t, d, desktoptest.Window{X: 1024, Y: 16, W: 400, H: 160})
	if active := d.ActiveWindow(); active != "editor" {
		t.Errorf("the second popup took the keyboard from the editor: %s has it", active)
	}
}

func TestPopupStaysInsideItsMonitor(t *testing.T) {
	t.Parallel()
	d := desktoptest.Start(t, desktoptest.Options{Notifications: true})
	d.Do("xrandr", "--setmonitor", "lower-left", "800/200x600/150+0+300", "screen")
	s := startShell(d)
	s.mode("popup", 160)
	wantAt(t, d, desktoptest.Window{X: 800 - 16 - 400, Y: 300 + 16, W: 400, H: 160})
}

func TestConsole(t *testing.T) {
	t.Parallel()
	d := desktoptest.Start(t, desktoptest.Options{Notifications: true})
	d.Terminal("editor")
	s := launchShell(d) // not hidden
	first := s.says()
	second := s.says()
	if first != "event mode console" && second != "event mode console" {
		t.Errorf("got %q and %q, want the console", first, second)
	}
	d.WaitActive("Deskbell")
	var w desktoptest.Window
	d.Wait("the console in the middle of the screen", func() bool {
		w, _ = d.FindWindow("Deskbell")
		middle := func(from, size, screen int) bool { return max(2*from+size-screen, screen-2*from-size) < 60 } // the frame counts
		return w.W == 1280 && w.H == 832 && middle(w.X, w.W, 1440) && middle(w.Y, w.H, 900)
	})
	if frame := d.Do("xprop", "-id", w.ID, "_NET_FRAME_EXTENTS"); strings.Contains(frame, "0, 0, 0, 0") {
		t.Error("the console has no frame")
	}
	d.Do("xdotool", "windowsize", "--sync", w.ID, "900", "600")
	d.Do("xdotool", "windowmove", "--sync", w.ID, "200", "100")
	was := d.WaitWindow("Deskbell")

	s.mode("popup", 160)
	wantAt(t, d, desktoptest.Window{X: 1024, Y: 16, W: 400, H: 160})
	d.WaitActive("editor")
	s.mode("console", 0)
	d.WaitActive("Deskbell")
	wantAt(t, d, was)

	// Its close button hides it; the program lives on.
	d.CloseWindow("Deskbell", func() bool { _, open := d.FindWindow("Deskbell"); return !open })
	s.hears("event mode hidden")
	if !s.p.Running() {
		t.Fatal("closing the window ended the program")
	}

	// A second start shows it again.
	again := d.Start(shellBinary)
	s.hears("event mode console")
	d.WaitActive("Deskbell")
	wantAt(t, d, was)
	d.Ended(again)

	// What the page had asked before it heard of that does not undo it.
	s.js(`app.Mode("popup", 160, turn - 1).then((p) => say("late", p.mode, p.turn === turn))`)
	s.hears("late console true")
	wantAt(t, d, was)
	d.WaitActive("Deskbell")
}

func TestTransparentPopupLetsClicksThrough(t *testing.T) {
	t.Parallel()
	d := desktoptest.Start(t, desktoptest.Options{Notifications: true, Compositor: true})
	s := startShell(d)
	got := s.mode("popup", 160)
	if want := (placement{Mode: "popup", Width: 448, Height: 208, Pad: 24, Transparent: true}); got != want {
		t.Fatalf("placed %+v, want %+v", got, want)
	}
	wantAt(t, d, desktoptest.Window{X: 1440 - 16 - 400 - 24, Y: 16 - 24, W: 448, H: 208})
	var picture image.Image
	d.Wait("the card to be painted", func() bool {
		picture = d.Screenshot(os.Getenv("E2E_SHOT"))
		return near(picture.At(1024+390, 16+100), color.White)
	})
	fixture := picture.At(600, 100)
	if near(fixture, color.White) {
		t.Fatal("the desktop is as white as the card")
	}
	d.Wait("the desktop to be seen beside the card, and in its rounded corner", func() bool {
		picture = d.Screenshot(os.Getenv("E2E_SHOT"))
		return near(picture.At(1024-20, 4), fixture) && near(picture.At(1024, 16), fixture)
	})

	d.Do("xdotool", "mousemove", "1010", "100")
	if under := d.Do("xdotool", "getmouselocation", "--shell"); strings.Contains(under, "WINDOW="+decimal(t, d)) {
		t.Error("a click beside the card would hit the popup")
	}
	d.Click(1024+76, 16+128)
	s.hears("clicked")
}

func decimal(t *testing.T, d *desktoptest.Desktop) string {
	t.Helper()
	w, _ := d.FindWindow("Deskbell")
	return w.ID
}

func near(a, b color.Color) bool {
	ar, ag, ab, _ := a.RGBA()
	br, bg, bb, _ := b.RGBA()
	const slack = 0x400
	diff := func(x, y uint32) bool { return max(x, y)-min(x, y) <= slack }
	return diff(ar, br) && diff(ag, bg) && diff(ab, bb)
}

func TestNotifications(t *testing.T) {
	t.Parallel()
	d := desktoptest.Start(t, desktoptest.Options{Notifications: true})
	d.Terminal("editor")
	s := startShell(d)

	t.Run("a click on an action answers, without the page", func(t *testing.T) {
		s.js("document.body.textContent = ''; app.Notify = app.Notify") // a page that does nothing
		w := s.notify(`{id: "op1", kind: "approve", risk: "low", title: "approve me", body: "<b>100%</b> & more"}`)
		d.Click(w.Middle())
		s.hears("answer op1 approve")
		d.WaitNoWindow("Dunst")
		w = s.notify(`{id: "op2", kind: "approve", risk: "medium", title: "deny me"}`)
		d.Click(w.Middle())
		s.hears("answer op2 deny")
		d.WaitNoWindow("Dunst")
		w = s.notify(`{id: "op3", kind: "approve", risk: "critical", title: "deny me"}`)
		d.Click(w.Middle())
		s.hears("answer op3 deny")
		d.WaitNoWindow("Dunst")
	})

	t.Run("dismissing it answers nothing", func(t *testing.T) {
		w := s.notify(`{id: "op4", kind: "approve", risk: "low", title: "approve me"}`)
		d.RightClick(w.Middle())
		d.WaitNoWindow("Dunst")
		s.js("say('after')")
		s.hears("after")
		d.WaitActive("editor")
	})

	t.Run("a dangerous one cannot be approved in a notification", func(t *testing.T) {
		for _, risk := range []string{"high", "critical", ""} {
			// dunst does the action called approve when there is one, and nothing else.
			w := s.notify(`{id: "op5", kind: "approve", risk: "` + risk + `", title: "approve me"}`)
			d.Click(w.Middle())
			s.js("app.Dismiss('op5').then(() => say('after'))")
			s.hears("after")
			d.WaitNoWindow("Dunst")
		}
	})

	t.Run("nobody but the service can say what was clicked", func(t *testing.T) {
		s.notify(`{id: "op6", kind: "approve", risk: "low", title: "hello"}`)
		for id := uint32(1); id < 50; id++ {
			if err := d.Bus.Emit("/org/freedesktop/Notifications", "org.freedesktop.Notifications.ActionInvoked", id, "approve"); err != nil {
				t.Fatal(err)
			}
			unicast(t, d, id)
		}
		s.js("app.Dismiss('op6').then(() => say('after'))")
		s.hears("after")
		d.WaitNoWindow("Dunst")
	})

	t.Run("an answer that came too late is told", func(t *testing.T) {
		w := s.notify(`{id: "late", kind: "approve", risk: "low", title: "approve me"}`)
		d.Click(w.Middle())
		s.hears("event failed late something went wrong inside Deskbell; its log has the details")
		w = d.WaitWindow("Dunst")
		d.RightClick(w.Middle())
		d.WaitNoWindow("Dunst")
	})

	t.Run("a click on the notification itself opens it", func(t *testing.T) {
		w := s.notify(`{id: "op7", kind: "feedback", title: "hello"}`)
		d.Click(w.Middle())
		s.hears("event mode console")
		s.hears("event open op7")
		d.WaitActive("Deskbell")
	})
}

// unicast sends the forged signal straight to every program on the bus, past what they subscribed to.
func unicast(t *testing.T, d *desktoptest.Desktop, id uint32) {
	t.Helper()
	var names []string
	if err := d.Bus.BusObject().Call("org.freedesktop.DBus.ListNames", 0).Store(&names); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !strings.HasPrefix(name, ":") {
			continue
		}
		m := &dbus.Message{Type: dbus.TypeSignal, Headers: map[dbus.HeaderField]dbus.Variant{
			dbus.FieldPath:        dbus.MakeVariant(dbus.ObjectPath("/org/freedesktop/Notifications")),
			dbus.FieldInterface:   dbus.MakeVariant("org.freedesktop.Notifications"),
			dbus.FieldMember:      dbus.MakeVariant("ActionInvoked"),
			dbus.FieldDestination: dbus.MakeVariant(name),
			dbus.FieldSignature:   dbus.MakeVariant(dbus.SignatureOf(id, "approve")),
		}, Body: []any{id, "approve"}}
		if call := d.Bus.Send(m, nil); call != nil && call.Err != nil {
			t.Fatal(call.Err)
		}
	}
}

func TestWithoutNotificationService(t *testing.T) {
	t.Parallel()
	d := desktoptest.Start(t, desktoptest.Options{})
	s := startShell(d)
	s.js(`app.Notify({id: "op1", kind: "approve", risk: "low", title: "hello"}).then(shown => say("shown", shown))`)
	s.hears("shown false")
	s.js(`app.Desktop().then(d => say(d.notifications.answers, d.tray, d.window.hotkey))`)
	s.hears("false false true")
	s.mode("popup", 160)
	wantAt(t, d, desktoptest.Window{X: 1024, Y: 16, W: 400, H: 160})
}

func TestTray(t *testing.T) {
	t.Parallel()
	d := desktoptest.Start(t, desktoptest.Options{})
	s := launchShell(d, "SHELL_ARGS=--hidden", "SHELL_NEWER=9.1.0")
	s.hears("page wails://wails secret")
	panel := d.StartPanel() // panels start after programs as often as before
	panel.WaitItem()
	if got, want := panel.Tooltip(), "Deskbell: Nothing is waiting"; got != want {
		t.Errorf("the tray says %q, want %q", got, want)
	}
	if brass(panel.Icon()) {
		t.Error("the bell is brass although nothing rings")
	}
	s.pending(2)
	d.Wait("the tray to say 2", func() bool { return panel.Tooltip() == "Deskbell: 2 requests are waiting" })
	two := panel.Icon()
	if !brass(two) {
		t.Error("the bell is not brass although two ring")
	}
	if menu := panel.Menu(); len(menu) < 3 || menu["2 requests are waiting"] == 0 {
		t.Errorf("the tray menu is %v", menu)
	}
	// What agents wrote is one line, cut, without what is not to be seen, and its underscores underline nothing.
	menu := panel.Menu()
	for _, want := range []string{"Roll out · release__bot · high risk", "Harmlessgnp " + strings.Repeat("x", 35) + "… · evil Quit…"} {
		if menu[want] == 0 {
			t.Errorf("the tray menu has no %q: %v", want, menu)
		}
	}
	panel.Choose("Roll out · release__bot · high risk")
	s.hears("event mode console")
	s.hears("event open op_1")
	s.mode("hidden", 0)
	s.pending(3)
	d.Wait("the tray to say 3", func() bool { return panel.Tooltip() == "Deskbell: 3 requests are waiting" })
	if string(panel.Icon().Pix) == string(two.Pix) {
		t.Error("two and three look the same in the tray")
	}

	// What was said while a panel took the icon can be lost: it is said again.
	panel.Spoil()
	d.Wait("the tray to say 3 again", func() bool { return panel.Tooltip() == "Deskbell: 3 requests are waiting" })

	if panel.Menu()["1 more"] == 0 {
		t.Errorf("the tray menu does not say that there is one more: %v", panel.Menu())
	}
	panel.Opened() // it is looked at when it is read
	d.Wait("the menu to count the agents", func() bool { return panel.Menu()["Agents: 3 connected"] != 0 })
	for _, want := range []string{"Gatekeeper: strict, asks unless it only reads", "Start recording…", "Version 9.1.0 is available…"} {
		if panel.Menu()[want] == 0 {
			t.Errorf("the tray menu has no %q: %v", want, panel.Menu())
		}
	}
	panel.Choose("Agents: 3 connected")
	s.hears("event mode console")
	s.hears("event open agents")
	s.mode("hidden", 0)

	panel.Choose("For 30 minutes")
	s.hears("event quiet true true")
	d.Wait("the tray to say until when", func() bool { return strings.Contains(panel.Tooltip(), "Do not disturb until ") })
	panel.Choose("Still show critical ones")
	s.hears("event quiet true false")
	panel.Choose("Turn off")
	s.hears("event quiet false false")
	d.Wait("the tray to say no more of it", func() bool { return panel.Tooltip() == "Deskbell: 3 requests are waiting" })
	if _, there := panel.Menu()["Turn off"]; there {
		t.Error("what is off can be turned off")
	}

	panel.Activate()
	s.hears("event mode console")
	d.WaitActive("Deskbell")
	s.mode("hidden", 0)
	panel.Choose("Open Deskbell")
	s.hears("event mode console")

	panel.Choose("Quit…")
	d.WaitActive("Quit Deskbell?")
	d.Screenshot(os.Getenv("E2E_QUIT"))
	d.Key("Escape")
	d.WaitNoWindow("Quit Deskbell.")
	if !s.p.Running() {
		t.Fatal("the program ended although the operator said no")
	}
	s.pending(0)
	d.Wait("the tray to say none", func() bool { return panel.Tooltip() == "Deskbell: Nothing is waiting" })
	panel.Choose("Quit…")
	if code := d.Ended(s.p); code != 0 {
		t.Errorf("quitting ended with status %d", code)
	}
}

func brass(img *image.NRGBA) bool {
	for i := 0; i < len(img.Pix); i += 4 {
		if p := img.Pix[i : i+4]; p[3] == 255 && p[0] == 0xd9 && p[1] == 0xa9 && p[2] == 0x3f {
			return true
		}
	}
	return false
}

func TestEndOfSessionAsksNothing(t *testing.T) {
	t.Parallel()
	d := desktoptest.Start(t, desktoptest.Options{})
	s := startShell(d)
	s.pending(3)
	if err := s.p.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if code := d.Ended(s.p); code != 0 {
		t.Errorf("it ended with status %d", code)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("ending took %v", took)
	}
}
