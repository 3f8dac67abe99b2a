//go:build linux

// Package desktoptest gives tests a graphical session of their own, with everything in it real: an X server (Xvfb), a
// window manager (openbox), a session bus, a notification service (dunst), the bus of accessibility, a pointer and keys.
// Its fonts, themes, language, time zone and folders are the same on every machine and for every user. It is for Linux,
// and needs what build/scripts/setup installs for tests.
package desktoptest

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"

	"deskbell/build/serving"
)

// Patience is how long a condition may take to come true on a busy machine.
const Patience = 30 * time.Second

// Options of a desktop. The zero value is one with a window manager and a session bus.
type Options struct {
	Width, Height int       // of the screen, in pixels; 1440 by 900 when 0
	Monitors      []Monitor // each in its place; one as large as the screen where there are none
	Server        []string  // more arguments for the X server
	Bare          bool      // an X server and nothing else
	Compositor    bool      // windows may be transparent
	Notifications bool      // something shows notifications, at the bottom right
	TopRight      bool      // it shows them at the top right, where cards are
	Accessible    bool      // windows can be read as a screen reader reads them
}

// A Desktop is a graphical session of its own, gone when its test ends. Its methods fail the test when the desktop does
// not do as told; they are for the test's goroutine.
type Desktop struct {
	T       testing.TB // the test; a subtest that uses the desktop puts itself here
	Home    string     // the home folder of its programs, empty at first but for their settings
	Env     []string   // the environment of its programs; of two values of a variable the last holds
	Display string     // as DISPLAY names it
	Server  *Program   // the X server
	Bus     *dbus.Conn // to its session bus; nil on a bare one
	Session string     // that bus's address
	run     string     // XDG_RUNTIME_DIR
	sway    string     // what its monitors are, where it has several
	a11y    *dbus.Conn // to its bus of accessibility, where it is accessible
}

//go:embed fonts.conf
var fonts string

// gtk are the settings of GTK 3 and GTK 4.
const gtk = `[Settings]
gtk-icon-theme-name=Adwaita
gtk-cursor-theme-name=Adwaita
gtk-font-name=DejaVu Sans 10
gtk-xft-dpi=98304
`

// Start starts a desktop and waits until it is ready for windows.
func Start(t testing.TB, o Options) *Desktop {
	t.Helper()
	if o.Width == 0 {
		o.Width, o.Height = 1440, 900
	}
	d := prepare(t)
	number := ""
	if len(o.Monitors) > 0 {
		number = d.startMonitors(o.Monitors, o.Server)
	} else {
		d.Server, number = d.StartLine("Xvfb", append([]string{
			"-displayfd", "3", "-screen", "0", fmt.Sprintf("%dx%dx24", o.Width, o.Height), "-nolisten", "tcp", "-noreset", "-fp", "built-ins",
		}, o.Server...)...)
	}
	d.Display = ":" + number
	d.Env = append(d.Env, "DISPLAY="+d.Display)
	if o.Bare {
		return d
	}
	d.startBus()
	if o.Accessible {
		d.startReading()
	}
	d.StartManager()
	if o.Compositor {
		d.Start("picom", "--backend", "xrender", "--config", "/dev/null")
		d.Wait("the compositor", func() bool { return d.Try("xdotool", "search", "--name", "^picom$") != "" })
	}
	if o.Notifications {
		d.startNotifications(o.TopRight)
	}
	return d
}

// prepare makes the folders, settings and environment of a desktop on which nothing runs yet.
func prepare(t testing.TB) *Desktop {
	t.Helper()
	d := &Desktop{T: t, Home: t.TempDir()}
	// The path of a socket has at most 107 bytes; a test's own folder can be longer.
	var err error
	if d.run, err = os.MkdirTemp("", "desk"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(d.run) })
	config := filepath.Join(d.Home, ".config")
	d.Write(filepath.Join(config, "fontconfig", "fonts.conf"), fonts)
	d.Write(filepath.Join(config, "gtk-3.0", "settings.ini"), gtk)
	d.Write(filepath.Join(config, "gtk-4.0", "settings.ini"), gtk)
	d.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + d.Home, "USER=operator", "SHELL=/bin/sh", "LANG=C.UTF-8", "TZ=UTC",
		"XDG_RUNTIME_DIR=" + d.run, "XDG_SESSION_TYPE=x11", "XDG_DATA_DIRS=/usr/local/share:/usr/share",
		"FONTCONFIG_FILE=" + filepath.Join(config, "fontconfig", "fonts.conf"),
		"GTK_THEME=Adwaita", "QT_QPA_PLATFORMTHEME=generic", "QT_FONT_DPI=96",
		"GSETTINGS_BACKEND=memory",                   // nobody keeps settings here, and at-spi would take back what was switched on
		"WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS=1", // containers forbid it its namespaces
		"PYTHONDONTWRITEBYTECODE=1", "NO_AT_BRIDGE=1",
		"DESKBELL_HUMAN_UNDO_SECONDS=0", "DESKBELL_UI_AUTO_ADVANCE=false", // tests read what came of an answer right after it, where it was given
	}
	return d
}

// StartManager starts the window manager.
func (d *Desktop) StartManager() *Program {
	d.T.Helper()
	// It says in its properties that it is there before it takes windows; this it runs afterwards.
	started := filepath.Join(d.run, "managed")
	p := d.Start("openbox", "--startup", "touch '"+started+"'")
	d.Wait("the window manager", func() bool { _, err := os.Stat(started); return err == nil })
	return p
}

// Enter makes this the desktop of the test's own process until the test ends.
func (d *Desktop) Enter() {
	d.T.Helper()
	for name, value := range map[string]string{"DISPLAY": d.Display, "XAUTHORITY": os.DevNull, "WAYLAND_DISPLAY": "", "XDG_SESSION_TYPE": "x11"} {
		d.T.Setenv(name, value)
	}
}

func (d *Desktop) startBus() {
	d.T.Helper()
	config := filepath.Join(d.run, "bus.conf")
	// A bus without service files: nothing of the machine's is started on it.
	d.Write(config, `<busconfig><type>session</type><listen>unix:dir=`+d.run+`</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`)
	_, d.Session = d.StartLine("dbus-daemon", "--config-file", config, "--nofork", "--print-address", "3")
	var err error
	if d.Bus, err = dbus.Connect(d.Session); err != nil {
		d.T.Fatal(err)
	}
	d.T.Cleanup(func() { d.Bus.Close() })
	d.Env = append(d.Env, "DBUS_SESSION_BUS_ADDRESS="+d.Session)
}

func (d *Desktop) startNotifications(topRight bool) {
	d.T.Helper()
	origin := "bottom-right"
	if topRight {
		origin = "top-right"
	}
	config := filepath.Join(d.Home, "dunstrc")
	// What a click on a notification does is dunst's choice, not the program's: it does the action that
	// the title's first word names, and the default one else.
	d.Write(config, `[global]
origin = `+origin+`
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

// Start runs a program on the desktop until it or the test ends.
func (d *Desktop) Start(name string, args ...string) *Program {
	d.T.Helper()
	return d.StartWith(nil, name, args...)
}

// StartWith runs it with more in its environment.
func (d *Desktop) StartWith(env []string, name string, args ...string) *Program {
	d.T.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = slices.Concat(d.Env, env)
	return d.begin(cmd)
}

// StartLine starts a program that writes a line to file 3 when it is ready, and returns that line.
func (d *Desktop) StartLine(name string, args ...string) (*Program, string) {
	d.T.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		d.T.Fatal(err)
	}
	defer read.Close()
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.ExtraFiles = d.Env, []*os.File{write}
	p := d.begin(cmd)
	write.Close()
	line, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		d.T.Fatalf("%s did not start: %v", name, err)
	}
	return p, strings.TrimSpace(line)
}

func (d *Desktop) begin(cmd *exec.Cmd) *Program {
	d.T.Helper()
	p := &Program{cmd: cmd, done: make(chan struct{})}
	cmd.Stdout = writerFunc(func(b []byte) { p.add(&p.out, b) })
	cmd.Stderr = writerFunc(func(b []byte) { p.add(&p.err, b) })
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		d.T.Fatal(err)
	}
	go func() {
		p.state = cmd.Wait()
		close(p.done)
	}()
	t := d.T
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("%s:\n%s%s", filepath.Base(cmd.Path), p.Out(), p.Err())
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

// PID is its process id.
func (p *Program) PID() int { return p.cmd.Process.Pid }

// Kill ends it and its children at once, and waits for its end.
func (p *Program) Kill() {
	_ = syscall.Kill(-p.PID(), syscall.SIGKILL) // it may have ended
	<-p.done
}

// Signal sends it a signal.
func (p *Program) Signal(s os.Signal) error { return p.cmd.Process.Signal(s) }

// Ended waits for its end and returns its exit status.
func (d *Desktop) Ended(p *Program) int {
	d.T.Helper()
	select {
	case <-p.done:
	case <-time.After(Patience):
		d.T.Fatalf("%s does not end", filepath.Base(p.cmd.Path))
	}
	if p.state != nil {
		d.T.Logf("%s ended: %v", filepath.Base(p.cmd.Path), p.state)
	}
	return p.cmd.ProcessState.ExitCode()
}

// Write writes a file, and the folders it lies in.
func (d *Desktop) Write(path, text string) {
	d.T.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		d.T.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		d.T.Fatal(err)
	}
}

// Do runs a program to its end and returns what it printed.
func (d *Desktop) Do(name string, args ...string) string {
	d.T.Helper()
	out, err := d.output(name, args...)
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		d.T.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out))
}

// Try is Do for what may fail; then it returns "".
func (d *Desktop) Try(name string, args ...string) string {
	out, err := d.output(name, args...)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

func (d *Desktop) output(name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = d.Env
	return cmd.Output()
}

// Wait blocks until a condition of the world outside this process is true.
func (d *Desktop) Wait(what string, condition func() bool) { d.T.Helper(); Wait(d.T, what, condition) }

// Wait blocks until a condition of the world outside this process is true, or fails the test.
func Wait(t testing.TB, what string, condition func() bool) {
	t.Helper()
	if err := serving.Until(Patience, what, condition); err != nil {
		t.Fatal(err)
	}
}

// A Window on the screen: its place without the frame, in pixels.
type Window struct {
	ID         string
	X, Y, W, H int
}

// Middle is its middle on the screen.
func (w Window) Middle() (x, y int) { return w.X + w.W/2, w.Y + w.H/2 }

// FindWindow returns the visible window with this title.
func (d *Desktop) FindWindow(title string) (Window, bool) {
	for _, id := range strings.Fields(d.Try("xdotool", "search", "--onlyvisible", "--name", "^"+title+"$")) {
		w := Window{ID: id}
		for line := range strings.Lines(d.Try("xwininfo", "-id", id)) {
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
	d.T.Helper()
	d.Wait("the window "+title, func() (there bool) {
		w, there = d.FindWindow(title)
		return there
	})
	return w
}

// WaitNoWindow waits until none with this title is to be seen.
func (d *Desktop) WaitNoWindow(title string) {
	d.T.Helper()
	d.Wait("no window "+title, func() bool {
		_, there := d.FindWindow(title)
		return !there
	})
}

// ActiveWindow is the title of the window that has the keyboard, or "".
func (d *Desktop) ActiveWindow() string { return d.Try("xdotool", "getactivewindow", "getwindowname") }

// WaitActive waits until a window has the keyboard.
func (d *Desktop) WaitActive(title string) {
	d.T.Helper()
	d.Wait(title+" to have the keyboard", func() bool { return d.ActiveWindow() == title })
}

// Watch starts to note each change of a property of the root window, however brief. The function returned
// gives the number of changes so far. _NET_ACTIVE_WINDOW is who has the keyboard, _NET_CLIENT_LIST the
// windows that the window manager has seen.
func (d *Desktop) Watch(property string) (changes func() int) {
	d.T.Helper()
	spy := d.Start("xprop", "-root", "-spy", property)
	d.Wait("the first report", func() bool { return strings.Contains(spy.Out(), "\n") })
	return func() int { return strings.Count(spy.Out(), "\n") - 1 }
}

// Terminal opens a window called name, as the program the operator is using, gives it the keyboard, and
// returns a function that tells what was typed into it.
func (d *Desktop) Terminal(name string) (typed func() string) {
	d.T.Helper()
	into := filepath.Join(d.Home, name+".typed")
	d.Start("xterm", "-T", name, "-geometry", "60x20+60+200", "-e", "stty -echo -icanon; exec cat > '"+into+"'")
	d.WaitActive(name)
	d.Wait("the terminal to listen", func() bool { _, err := os.Stat(into); return err == nil })
	return func() string {
		text, err := os.ReadFile(into)
		if err != nil {
			d.T.Fatal(err)
		}
		return string(text)
	}
}

// Move puts the pointer somewhere, and Click presses its button 1 there; RightClick its button 3.
func (d *Desktop) Move(x, y int) {
	d.T.Helper()
	d.Do("xdotool", "mousemove", "--sync", strconv.Itoa(x), strconv.Itoa(y))
}

// Click presses button 1 at a place of the screen.
func (d *Desktop) Click(x, y int) { d.T.Helper(); d.click(x, y, "1") }

// RightClick presses button 3.
func (d *Desktop) RightClick(x, y int) { d.T.Helper(); d.click(x, y, "3") }

func (d *Desktop) click(x, y int, button string) {
	d.T.Helper()
	d.Do("xdotool", "mousemove", strconv.Itoa(x), strconv.Itoa(y), "click", button)
}

// Key presses keys, such as "ctrl+alt+b".
func (d *Desktop) Key(keys ...string) {
	d.T.Helper()
	d.Do("xdotool", append([]string{"key"}, keys...)...)
}

// CloseWindow has the window manager close the active window, as its button does, and waits until closed says it is. A key
// would go to whatever window is active by then.
func (d *Desktop) CloseWindow(title string, closed func() bool) {
	d.T.Helper()
	d.WaitActive(title)
	id, err := strconv.ParseUint(d.WaitWindow(title).ID, 10, 32)
	if err != nil {
		d.T.Fatal(err)
	}
	conn, err := xgb.NewConnDisplay(d.Display)
	if err != nil {
		d.T.Fatal(err)
	}
	defer conn.Close()
	const name = "_NET_CLOSE_WINDOW"
	atom, err := xproto.InternAtom(conn, false, uint16(len(name)), name).Reply()
	if err != nil {
		d.T.Fatal(err)
	}
	message := xproto.ClientMessageEvent{
		Format: 32, Window: xproto.Window(id), Type: atom.Atom, Data: xproto.ClientMessageDataUnionData32New([]uint32{0, 2, 0, 0, 0}), // 2: a person
	}
	to := xproto.Setup(conn).DefaultScreen(conn).Root
	if err := xproto.SendEventChecked(conn, false, to, xproto.EventMaskSubstructureRedirect|xproto.EventMaskSubstructureNotify, string(message.Bytes())).Check(); err != nil {
		d.T.Fatal(err)
	}
	d.Wait("the window "+title+" to close", closed)
}

// Type types a text.
func (d *Desktop) Type(text string) { d.T.Helper(); d.Do("xdotool", "type", "--delay", "20", text) }

// Screenshot takes a picture of the screen and, unless path is empty, saves it as PNG.
func (d *Desktop) Screenshot(path string) image.Image {
	d.T.Helper()
	data, err := d.output("import", "-window", "root", "png:-")
	if err != nil {
		d.T.Fatalf("taking a picture of the screen: %v", err)
	}
	if path != "" {
		d.Write(path, string(data))
	}
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil && !errors.Is(err, io.EOF) {
		d.T.Fatal(err)
	}
	return picture
}
