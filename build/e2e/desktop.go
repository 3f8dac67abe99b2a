//go:build window

// Package e2e tests the window with everything around it real: an X server (Xvfb), a window manager
// (openbox), a session bus, a notification service (dunst) and a pointer. Run it with
//
//	go test -tags window ./build/e2e/
//
// It needs the Debian packages xvfb, openbox, dunst, dbus, xdotool, xterm, x11-utils, x11-xserver-utils,
// at-spi2-core and imagemagick; picom too for the test of transparency, which is skipped without it.
package e2e

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/introspect"
)

// patience is how long a condition may take to come true on a busy machine.
const patience = 20 * time.Second

// Options of a desktop. The zero value is a bare one with a notification service.
type Options struct {
	Width, Height   int  // of the screen; 1440 by 900 when 0
	Compositor      bool // windows may be transparent; the test is skipped when picom is not installed
	NoNotifications bool // nobody shows notifications
	Accessible      bool // windows can be read as a screen reader reads them
}

// A Desktop is a graphical session of its own, gone when its test ends. Its home is empty. Its methods
// fail the test when the desktop does not do as told; they are for the test's goroutine.
type Desktop struct {
	t    testing.TB
	home string
	env  []string
	Bus  *dbus.Conn // to its session bus
	a11y *dbus.Conn // to its bus of accessibility, where there is one
}

// StartDesktop starts one and waits until it is ready for windows.
func StartDesktop(t testing.TB, o Options) *Desktop {
	t.Helper()
	if o.Width == 0 {
		o.Width, o.Height = 1440, 900
	}
	d := &Desktop{t: t, home: t.TempDir()}
	// The path of a socket has at most 107 bytes; a test's own folder can be longer.
	run, err := os.MkdirTemp("", "desk")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(run) })
	d.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + d.home, "USER=operator", "LANG=C.UTF-8", "SHELL=/bin/sh",
		"XDG_RUNTIME_DIR=" + run, "XDG_SESSION_TYPE=x11", "XDG_DATA_DIRS=/usr/local/share:/usr/share",
		"GTK_THEME=Adwaita",
		"GSETTINGS_BACKEND=memory",                   // nobody keeps settings here, and at-spi would take back what was switched on
		"WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS=1", // containers forbid it its namespaces
	}
	d.env = append(d.env, "DISPLAY="+d.startX(o))
	d.env = append(d.env, "DBUS_SESSION_BUS_ADDRESS="+d.startBus(run))
	if o.Accessible {
		d.startAccessibility()
	} else {
		d.env = append(d.env, "NO_AT_BRIDGE=1")
	}
	d.Start("openbox")
	d.Wait("the window manager", func() bool {
		return strings.Contains(d.try("xprop", "-root", "_NET_SUPPORTING_WM_CHECK"), "window id")
	})
	if o.Compositor {
		if _, err := exec.LookPath("picom"); err != nil {
			t.Skip("picom is not installed")
		}
		d.Start("picom", "--backend", "xrender", "--config", "/dev/null")
		d.Wait("the compositor", func() bool {
			return d.try("xdotool", "search", "--name", "^picom$") != ""
		})
	}
	if !o.NoNotifications {
		config := filepath.Join(d.home, "dunstrc")
		// What a click on a notification does is dunst's choice, not the program's: it does the action that
		// the title's first word names, and the default one else.
		d.write(config, `[global]
origin = bottom-right
markup = full
mouse_left_click = do_action, close_current
mouse_right_click = close_current
[approve]
summary = "approve*"
action_name = approve
[deny]
summary = "deny*"
action_name = deny
`)
		d.Start("dunst", "-conf", config)
		d.Wait("the notification service", func() bool {
			var there bool
			err := d.Bus.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, "org.freedesktop.Notifications").Store(&there)
			return err == nil && there
		})
	}
	return d
}

func (d *Desktop) startX(o Options) string {
	d.t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		d.t.Fatal(err)
	}
	defer read.Close()
	cmd := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", fmt.Sprintf("%dx%dx24", o.Width, o.Height), "-nolisten", "tcp", "-noreset")
	cmd.ExtraFiles = []*os.File{write}
	d.run(cmd)
	write.Close()
	number, err := bufio.NewReader(read).ReadString('\n') // written when it is ready
	if err != nil {
		d.t.Fatalf("Xvfb did not start: %v", err)
	}
	return ":" + strings.TrimSpace(number)
}

func (d *Desktop) startBus(run string) string {
	d.t.Helper()
	config := filepath.Join(d.home, "bus.conf")
	// A bus without service files: nothing of the machine's is started on it.
	d.write(config, `<busconfig><type>session</type><listen>unix:dir=`+run+`</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`)
	read, write, err := os.Pipe()
	if err != nil {
		d.t.Fatal(err)
	}
	defer read.Close()
	cmd := exec.Command("dbus-daemon", "--config-file", config, "--nofork", "--print-address", "3")
	cmd.ExtraFiles = []*os.File{write}
	d.run(cmd)
	write.Close()
	text, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		d.t.Fatalf("dbus-daemon did not start: %v", err)
	}
	text = strings.TrimSpace(text)
	d.Bus, err = dbus.Connect(text)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { d.Bus.Close() })
	return text
}

// Env is the environment of programs that run on this desktop.
func (d *Desktop) Env() []string { return append([]string(nil), d.env...) }

// Home is the home folder of those programs.
func (d *Desktop) Home() string { return d.home }

// Start runs a program on the desktop until it or the test ends.
func (d *Desktop) Start(name string, args ...string) *Program {
	d.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = d.env
	return d.run(cmd)
}

// StartWith runs it with more in its environment.
func (d *Desktop) StartWith(env []string, name string, args ...string) *Program {
	d.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(d.Env(), env...)
	return d.run(cmd)
}

func (d *Desktop) run(cmd *exec.Cmd) *Program {
	d.t.Helper()
	p := &Program{cmd: cmd, done: make(chan struct{})}
	cmd.Stdout = writerFunc(func(b []byte) { p.add(&p.out, b) })
	cmd.Stderr = writerFunc(func(b []byte) { p.add(&p.err, b) })
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	go func() {
		p.state = cmd.Wait()
		close(p.done)
	}()
	d.t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // its children with it
		<-p.done
		if d.t.Failed() {
			d.t.Logf("%s:\n%s%s", filepath.Base(cmd.Path), p.Out(), p.Err())
		}
	})
	return p
}

// A Program is one that runs on the desktop.
type Program struct {
	cmd   *exec.Cmd
	done  chan struct{}
	state error

	mu       sync.Mutex
	out, err bytes.Buffer
}

type writerFunc func([]byte)

func (f writerFunc) Write(b []byte) (int, error) { f(b); return len(b), nil }

func (p *Program) add(to *bytes.Buffer, b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	to.Write(b)
}

// Out is its standard output so far, and Err its standard error.
func (p *Program) Out() string { p.mu.Lock(); defer p.mu.Unlock(); return p.out.String() }

// Err is its standard error so far.
func (p *Program) Err() string { p.mu.Lock(); defer p.mu.Unlock(); return p.err.String() }

// Running is true until it has ended.
func (p *Program) Running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Signal sends it a signal.
func (p *Program) Signal(s os.Signal) error { return p.cmd.Process.Signal(s) }

// Ended waits for its end and returns its exit status.
func (d *Desktop) Ended(p *Program) int {
	d.t.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		d.t.Fatalf("%s does not end", filepath.Base(p.cmd.Path))
	}
	if p.state != nil {
		d.t.Logf("%s ended: %v", filepath.Base(p.cmd.Path), p.state)
	}
	return p.cmd.ProcessState.ExitCode()
}

func (d *Desktop) write(path, text string) {
	d.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// Do runs a program to its end and returns what it printed.
func (d *Desktop) Do(name string, args ...string) string {
	d.t.Helper()
	out, err := d.command(name, args...).Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		d.t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out))
}

// try is Do for what may fail; then it returns "".
func (d *Desktop) try(name string, args ...string) string {
	out, err := d.command(name, args...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

func (d *Desktop) command(name string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	d.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = d.env
	return cmd
}

// Wait blocks until a condition of the world outside this process is true.
func (d *Desktop) Wait(what string, condition func() bool) {
	d.t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			d.t.Fatalf("waited %v in vain for %s", patience, what)
		}
	}
}

// A Window on the screen: its place without the frame, in pixels.
type Window struct {
	ID         string
	X, Y, W, H int
}

// FindWindow returns the visible window with this title.
func (d *Desktop) FindWindow(title string) (Window, bool) {
	for _, id := range strings.Fields(d.try("xdotool", "search", "--onlyvisible", "--name", "^"+title+"$")) {
		w := Window{ID: id}
		for line := range strings.Lines(d.try("xwininfo", "-id", id)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
			n, err := strconv.Atoi(strings.TrimSpace(value))
			if err != nil {
				continue
			}
			switch name {
			case "Absolute upper-left X":
				w.X = n
			case "Absolute upper-left Y":
				w.Y = n
			case "Width":
				w.W = n
			case "Height":
				w.H = n
			}
		}
		if w.W > 1 && w.H > 1 {
			return w, true
		}
	}
	return Window{}, false
}

// WaitWindow waits for it.
func (d *Desktop) WaitWindow(title string) (w Window) {
	d.t.Helper()
	d.Wait("the window "+title, func() (there bool) {
		w, there = d.FindWindow(title)
		return there
	})
	return w
}

// WaitNoWindow waits until none with this title is to be seen.
func (d *Desktop) WaitNoWindow(title string) {
	d.t.Helper()
	d.Wait("no window "+title, func() bool {
		_, there := d.FindWindow(title)
		return !there
	})
}

// ActiveWindow is the title of the window that has the keyboard, or "".
func (d *Desktop) ActiveWindow() string { return d.try("xdotool", "getactivewindow", "getwindowname") }

// WaitActive waits until a window has the keyboard.
func (d *Desktop) WaitActive(title string) {
	d.t.Helper()
	d.Wait(title+" to have the keyboard", func() bool { return d.ActiveWindow() == title })
}

// Watch starts to note each change of a property of the root window, however brief. The function returned
// gives the number of changes so far. _NET_ACTIVE_WINDOW is who has the keyboard, _NET_CLIENT_LIST the
// windows that the window manager has seen.
func (d *Desktop) Watch(property string) (changes func() int) {
	d.t.Helper()
	spy := d.Start("xprop", "-root", "-spy", property)
	d.Wait("the first report", func() bool { return strings.Contains(spy.Out(), "\n") })
	return func() int { return strings.Count(spy.Out(), "\n") - 1 }
}

// Terminal opens a window called name, as the program the operator is using, gives it the keyboard, and
// returns a function that tells what was typed into it.
func (d *Desktop) Terminal(name string) (typed func() string) {
	d.t.Helper()
	into := filepath.Join(d.home, name+".typed")
	d.Start("xterm", "-T", name, "-geometry", "60x20+60+200", "-e", "stty -echo -icanon; exec cat > "+into)
	d.WaitActive(name)
	d.Wait("the terminal to listen", func() bool { _, err := os.Stat(into); return err == nil })
	return func() string {
		text, err := os.ReadFile(into)
		if err != nil {
			d.t.Fatal(err)
		}
		return string(text)
	}
}

// Move puts the pointer somewhere, and Click presses its button 1 there; RightClick its button 3.
func (d *Desktop) Move(x, y int) {
	d.t.Helper()
	d.Do("xdotool", "mousemove", "--sync", strconv.Itoa(x), strconv.Itoa(y))
}

// Click presses button 1 at a place of the screen.
func (d *Desktop) Click(x, y int) { d.t.Helper(); d.click(x, y, "1") }

// RightClick presses button 3.
func (d *Desktop) RightClick(x, y int) { d.t.Helper(); d.click(x, y, "3") }

func (d *Desktop) click(x, y int, button string) {
	d.t.Helper()
	d.Do("xdotool", "mousemove", strconv.Itoa(x), strconv.Itoa(y), "click", button)
}

// Key presses keys, such as "ctrl+alt+b".
func (d *Desktop) Key(keys ...string) {
	d.t.Helper()
	d.Do("xdotool", append([]string{"key"}, keys...)...)
}

// Type types a text.
func (d *Desktop) Type(text string) { d.t.Helper(); d.Do("xdotool", "type", "--delay", "20", text) }

// Screenshot takes a picture of the screen and, unless path is empty, saves it as PNG.
func (d *Desktop) Screenshot(path string) image.Image {
	d.t.Helper()
	data, err := d.command("import", "-window", "root", "png:-").Output()
	if err != nil {
		d.t.Fatalf("taking a picture of the screen: %v", err)
	}
	if path != "" {
		d.write(path, string(data))
	}
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil && !errors.Is(err, io.EOF) {
		d.t.Fatal(err)
	}
	return picture
}

// A Panel shows tray icons: the StatusNotifierWatcher of the desktop and, at once, its host.
type Panel struct {
	d     *Desktop
	items chan dbus.Sender
	owner string
}

const (
	watcherName = "org.kde.StatusNotifierWatcher"
	itemName    = "org.kde.StatusNotifierItem"
	menuName    = "com.canonical.dbusmenu"
)

// StartPanel adds a panel to the desktop; without one there are no tray icons.
func (d *Desktop) StartPanel() *Panel {
	d.t.Helper()
	p := &Panel{d: d, items: make(chan dbus.Sender, 4)}
	node := &introspect.Node{Name: "/StatusNotifierWatcher"}
	if err := d.Bus.Export(introspect.NewIntrospectable(node), "/StatusNotifierWatcher", "org.freedesktop.DBus.Introspectable"); err != nil {
		d.t.Fatal(err)
	}
	if err := d.Bus.Export(panelMethods{p}, "/StatusNotifierWatcher", watcherName); err != nil {
		d.t.Fatal(err)
	}
	if reply, err := d.Bus.RequestName(watcherName, dbus.NameFlagDoNotQueue); err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		d.t.Fatal("the panel's name is taken: ", err)
	}
	return p
}

type panelMethods struct{ p *Panel }

// RegisterStatusNotifierItem is called by each icon that wants to be shown.
func (m panelMethods) RegisterStatusNotifierItem(sender dbus.Sender, _ string) *dbus.Error {
	m.p.items <- sender
	return nil
}

// WaitItem waits for an icon.
func (p *Panel) WaitItem() {
	p.d.t.Helper()
	select {
	case sender := <-p.items:
		p.owner = string(sender)
	case <-time.After(patience):
		p.d.t.Fatal("no tray icon came")
	}
}

func (p *Panel) property(name string, into any) {
	p.d.t.Helper()
	v, err := p.d.Bus.Object(p.owner, "/StatusNotifierItem").GetProperty(itemName + "." + name)
	if err == nil {
		err = dbus.Store([]any{v.Value()}, into)
	}
	if err != nil {
		p.d.t.Fatalf("the tray icon's %s: %v", name, err)
	}
}

// Tooltip is what the icon says under the pointer.
func (p *Panel) Tooltip() string {
	p.d.t.Helper()
	var tip struct {
		Icon  string
		Image []struct {
			W, H int32
			Pix  []byte
		}
		Title, Text string
	}
	p.property("ToolTip", &tip)
	return tip.Title
}

// Icon is its picture.
func (p *Panel) Icon() *image.NRGBA {
	p.d.t.Helper()
	var pictures []struct {
		W, H int32
		Pix  []byte
	}
	p.property("IconPixmap", &pictures)
	if len(pictures) != 1 {
		p.d.t.Fatalf("the tray icon has %d pictures", len(pictures))
	}
	one := pictures[0]
	img := image.NewNRGBA(image.Rect(0, 0, int(one.W), int(one.H)))
	for i := 0; i+3 < len(one.Pix); i += 4 { // ARGB
		copy(img.Pix[i:], []byte{one.Pix[i+1], one.Pix[i+2], one.Pix[i+3], one.Pix[i]})
	}
	return img
}

type menuLayout struct {
	ID         int32
	Properties map[string]dbus.Variant
	Children   []dbus.Variant
}

// Menu returns the labels of its menu, by id.
func (p *Panel) Menu() map[string]int32 {
	p.d.t.Helper()
	var revision uint32
	var root menuLayout
	err := p.d.Bus.Object(p.owner, "/StatusNotifierItem/menu").Call(menuName+".GetLayout", 0, int32(0), int32(-1), []string{}).Store(&revision, &root)
	if err != nil {
		p.d.t.Fatalf("the tray menu: %v", err)
	}
	labels := map[string]int32{}
	for _, child := range root.Children {
		var item menuLayout
		if err := dbus.Store([]any{child.Value()}, &item); err != nil {
			p.d.t.Fatal(err)
		}
		if label, ok := item.Properties["label"].Value().(string); ok {
			labels[label] = item.ID
		}
	}
	return labels
}

// Choose clicks an entry of its menu.
func (p *Panel) Choose(label string) {
	p.d.t.Helper()
	id, ok := p.Menu()[label]
	if !ok {
		p.d.t.Fatalf("the tray menu has no %q: %v", label, p.Menu())
	}
	err := p.d.Bus.Object(p.owner, "/StatusNotifierItem/menu").Call(menuName+".Event", 0, id, "clicked", dbus.MakeVariant(""), uint32(0)).Err
	if err != nil {
		p.d.t.Fatal(err)
	}
}

// Activate clicks the icon itself.
func (p *Panel) Activate() {
	p.d.t.Helper()
	if err := p.d.Bus.Object(p.owner, "/StatusNotifierItem").Call(itemName+".Activate", 0, int32(0), int32(0)).Err; err != nil {
		p.d.t.Fatal(err)
	}
}
