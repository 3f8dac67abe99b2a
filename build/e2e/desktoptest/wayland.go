//go:build linux

package desktoptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"
)

// A Compositor is a Wayland session of its own, without a screen that anyone could look at: sway, GNOME Shell or weston,
// with XWayland. Of a Desktop's methods those that look at windows or move the pointer are for X11 only; it has its own.
type Compositor struct {
	*Desktop
	mouse   *pointer        // of sway
	hands   *remoteDesktop  // of GNOME Shell
	outside *Desktop        // in which weston is a window as large as the screen; the others are nil
	size    image.Rectangle // of all outputs together, in logical pixels
}

// An Output is a monitor of sway's, in a row from left to right.
type Output struct {
	Width, Height int // in pixels
	Scale         int
}

// StartSway starts sway with these outputs, or one of 1440 by 900. dunst shows notifications. It has no bar.
func StartSway(t testing.TB, outputs ...Output) *Compositor {
	t.Helper()
	if len(outputs) == 0 {
		outputs = []Output{{1440, 900, 1}}
	}
	d := prepare(t)
	c := &Compositor{Desktop: d}
	var config strings.Builder
	for i, o := range outputs {
		fmt.Fprintf(&config, "output HEADLESS-%d resolution %dx%d position %d 0 scale %d bg #446688 solid_color\n",
			i+1, o.Width, o.Height, c.size.Dx(), o.Scale)
		c.size = c.size.Union(image.Rect(c.size.Dx(), 0, c.size.Dx()+o.Width/o.Scale, o.Height/o.Scale))
	}
	ready := filepath.Join(d.run, "ready")
	fmt.Fprintf(&config, "focus_follows_mouse no\nexec env > %[1]s.part && mv %[1]s.part %[1]s\n", ready)
	d.Write(filepath.Join(d.Home, "sway.conf"), config.String())
	d.Env = append(d.Env, "XDG_SESSION_TYPE=wayland", "XDG_CURRENT_DESKTOP=sway", "XKB_DEFAULT_LAYOUT=us")
	d.startBus()
	command := []string{"sway", "-c", filepath.Join(d.Home, "sway.conf")}
	if os.Geteuid() == 0 { // as which it does not start; a user namespace would do as well, but a chroot cannot have one
		command = append([]string{"setpriv", "--reuid=1000", "--regid=1000", "--clear-groups",
			"--inh-caps=+dac_override", "--ambient-caps=+dac_override"}, command...)
	}
	d.Server = d.StartWith([]string{
		"WLR_BACKENDS=headless", "WLR_LIBINPUT_NO_DEVICES=1", "WLR_RENDERER=pixman", fmt.Sprintf("WLR_HEADLESS_OUTPUTS=%d", len(outputs)),
	}, command[0], command[1:]...)
	var environment []byte
	d.Wait("sway", func() (there bool) {
		var err error
		environment, err = os.ReadFile(ready)
		return err == nil
	})
	wayland := ""
	for line := range strings.Lines(string(environment)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch name {
		case "DISPLAY", "WAYLAND_DISPLAY", "SWAYSOCK":
			d.Env = append(d.Env, name+"="+value)
		}
		switch name {
		case "DISPLAY":
			d.Display = value
		case "WAYLAND_DISPLAY":
			wayland = value
		}
	}
	var err error
	if c.mouse, err = plugIn(filepath.Join(d.run, wayland), c.size.Dx(), c.size.Dy()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.mouse.conn.Close() })
	d.Start("wtype", "-s", "3600000") // without a keyboard nothing can have it
	d.startReading()
	d.startNotifications(false)
	return c
}

// StartGNOME starts GNOME Shell with a monitor of 1440 by 900, shows the desktop in place of the overview, and has
// something show notifications.
func StartGNOME(t testing.TB) *Compositor {
	t.Helper()
	d := prepare(t)
	c := &Compositor{Desktop: d, size: image.Rect(0, 0, 1440, 900)}
	d.Env = append(d.Env, "XDG_SESSION_TYPE=wayland", "XDG_CURRENT_DESKTOP=GNOME", "LIBGL_ALWAYS_SOFTWARE=1")
	d.startBus()
	d.Env = append(d.Env, "DBUS_SYSTEM_BUS_ADDRESS="+d.Session) // without one it does not start, and the machine's is none of a test's
	const display = "wayland-test"
	// Without the unsafe mode it gives pictures to its own tools only.
	d.Server = d.Start("gnome-shell", "--headless", "--unsafe-mode", "--wayland", "--wayland-display", display,
		"--virtual-monitor", fmt.Sprintf("%dx%d", c.size.Dx(), c.size.Dy()))
	public := regexp.MustCompile(`public X11 display (:\d+)`)
	d.Wait("GNOME Shell", func() bool { return strings.Contains(d.Server.Out()+d.Server.Err(), "GNOME Shell started") })
	d.Display = public.FindStringSubmatch(d.Server.Out() + d.Server.Err())[1]
	authority, err := filepath.Glob(filepath.Join(d.run, ".mutter-Xwaylandauth*"))
	if err != nil || len(authority) != 1 {
		t.Fatalf("its X authority: %v %v", authority, err)
	}
	d.Env = append(d.Env, "WAYLAND_DISPLAY="+display, "DISPLAY="+d.Display, "XAUTHORITY="+authority[0])
	// It has notifications of its own, of running as root and without a lock, some of which come later.
	c.Eval("imports.ui.messageTray.SystemNotificationSource.prototype.showNotification = () => {}; " +
		"Main.overview.hide(); Main.messageTray.getSources().forEach(s => s.destroy())")
	c.Wait("the desktop", func() bool { return c.Eval("Main.overview.visible || Main.overview.animationInProgress") == "false" })
	d.Start("gjs", "/usr/share/gnome-shell/org.gnome.Shell.Notifications")
	d.Wait("notifications", func() (there bool) {
		err := d.Bus.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, "org.freedesktop.Notifications").Store(&there)
		return err == nil && there
	})
	d.startReading()
	if c.hands, err = takeHands(d.Bus, c.size.Max); err != nil {
		t.Fatal(err)
	}
	return c
}

// StartWeston starts weston with a monitor of 1440 by 900, which is a window on X11: its backend without a screen has no
// pointer and no keyboard. Nothing shows notifications.
func StartWeston(t testing.TB) *Compositor {
	t.Helper()
	outside := Start(t, Options{Bare: true, Width: 1460, Height: 900})
	d := prepare(t)
	c := &Compositor{Desktop: d, outside: outside, size: image.Rect(0, 0, 1440, 900)}
	d.Env = append(d.Env, "XDG_SESSION_TYPE=wayland", "XDG_CURRENT_DESKTOP=weston")
	d.startBus()
	const display = "wayland-test"
	d.Server = d.StartWith([]string{"DISPLAY=" + outside.Display}, "weston", "--backend=x11-backend.so", "--use-pixman", "--no-config",
		fmt.Sprintf("--width=%d", c.size.Dx()), fmt.Sprintf("--height=%d", c.size.Dy()), "--xwayland", "--socket="+display)
	listens := regexp.MustCompile(`xserver listening on display (:\d+)`)
	d.Wait("weston", func() bool {
		found := listens.FindStringSubmatch(d.Server.Out() + d.Server.Err())
		if found != nil {
			d.Display = found[1]
		}
		return found != nil
	})
	d.Env = append(d.Env, "WAYLAND_DISPLAY="+display, "DISPLAY="+d.Display)
	c.Move(720, 880) // the keyboard is where the pointer is
	d.startReading()
	return c
}

// Corner is the top left of the window that has the keyboard, where GTK counts from.
func (c *Compositor) Corner() (corner image.Point) {
	c.T.Helper()
	if c.hands != nil {
		var box struct{ X, Y int }
		if err := json.Unmarshal([]byte(c.Eval("(r => ({X: r.x, Y: r.y}))(global.display.focus_window.get_buffer_rect())")), &box); err != nil {
			c.T.Fatal(err)
		}
		return image.Pt(box.X, box.Y)
	}
	n := c.focused()
	if !n.Focused {
		c.T.Fatal("no window has the keyboard")
	}
	return image.Pt(n.Rect.X+n.Window.X, n.Rect.Y+n.Window.Y)
}

// A node is a window of sway's, or what windows are in.
type node struct {
	Name          string
	Focused       bool
	Rect          struct{ X, Y int }
	Window        struct{ X, Y int } `json:"window_rect"`
	Nodes         []node
	FloatingNodes []node `json:"floating_nodes"`
}

// focused is the window of sway's that has the keyboard; the zero node when none has.
func (c *Compositor) focused() node {
	c.T.Helper()
	var root node
	if err := json.Unmarshal([]byte(c.Do("swaymsg", "-t", "get_tree", "-r")), &root); err != nil {
		c.T.Fatal(err)
	}
	for all := []node{root}; len(all) > 0; all = all[1:] {
		if all[0].Focused {
			return all[0]
		}
		all = append(all, append(all[0].Nodes, all[0].FloatingNodes...)...)
	}
	return node{}
}

// Eval has GNOME Shell run a script, and returns what comes out as JSON.
func (c *Compositor) Eval(script string) (result string) {
	c.T.Helper()
	var ok bool
	shell := c.Bus.Object("org.gnome.Shell", "/org/gnome/Shell")
	if err := shell.Call("org.gnome.Shell.Eval", 0, script).Store(&ok, &result); err != nil || !ok {
		c.T.Fatalf("%s: %v %s", script, err, result)
	}
	return result
}

// Screenshot takes a picture of all outputs and, unless path is empty, saves it as PNG.
func (c *Compositor) Screenshot(path string) image.Image {
	c.T.Helper()
	if path == "" {
		path = filepath.Join(c.run, "screen.png")
	}
	switch {
	case c.outside != nil:
		// weston shows a new window of X11's own with the next thing that it draws, such as a pointer that moves.
		c.outside.Do("xdotool", "mousemove", "720", "880", "mousemove", "721", "881")
		return c.outside.Screenshot(path)
	case c.mouse != nil:
		c.Do("grim", path)
	default:
		var ok bool
		var used string
		shell := c.Bus.Object("org.gnome.Shell.Screenshot", "/org/gnome/Shell/Screenshot")
		if err := shell.Call("org.gnome.Shell.Screenshot.Screenshot", 0, false, false, path).Store(&ok, &used); err != nil || !ok {
			c.T.Fatalf("taking a picture of the screen: %v", err)
		}
	}
	return c.picture(path)
}

// Output takes a picture of one output of sway's, in its own pixels.
func (c *Compositor) Output(name string) image.Image {
	c.T.Helper()
	path := filepath.Join(c.run, "output.png")
	c.Do("grim", "-o", name, path)
	return c.picture(path)
}

func (c *Compositor) picture(path string) image.Image {
	c.T.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		c.T.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		c.T.Fatal(err)
	}
	return picture
}

// Move puts the pointer at a place of all outputs together, in logical pixels.
func (c *Compositor) Move(x, y int) {
	c.T.Helper()
	if c.outside != nil {
		// weston adds up how far the pointer goes, and comes to be wrong; where it comes into its window is exact.
		c.outside.Do("xdotool", "mousemove", "1450", "450", "mousemove", strconv.Itoa(x), strconv.Itoa(y))
		return
	}
	move := c.hands.move
	if c.mouse != nil {
		move = c.mouse.move
	}
	if err := move(x, y); err != nil {
		c.T.Fatal(err)
	}
	c.pointer(x, y, 0)
}

// pointer waits until GNOME Shell has seen what the pointer does: it looks at what is under it with the next frame.
func (c *Compositor) pointer(x, y, buttons int) {
	c.T.Helper()
	if what := fmt.Sprintf("[%d,%d,%d]", x, y, buttons); c.hands != nil {
		c.Wait("the pointer at "+what, func() bool { return c.Eval("global.get_pointer()") == what })
	}
}

// RightClick presses sway's right button at a place.
func (c *Compositor) RightClick(x, y int) {
	c.T.Helper()
	c.Move(x, y)
	for _, down := range []bool{true, false} {
		if err := c.mouse.press(rightButton, down); err != nil {
			c.T.Fatal(err)
		}
	}
}

// Click presses the left button at a place of all outputs together, in logical pixels.
func (c *Compositor) Click(x, y int) {
	c.T.Helper()
	c.Move(x, y)
	if c.outside != nil {
		c.outside.Do("xdotool", "click", "1")
		return
	}
	press := c.hands.press
	if c.mouse != nil {
		press = func(down bool) error { return c.mouse.press(leftButton, down) }
	}
	if err := press(true); err != nil {
		c.T.Fatal(err)
	}
	c.pointer(x, y, 256)
	if err := press(false); err != nil {
		c.T.Fatal(err)
	}
}

// Active is the title of the window that has the keyboard, or "".
func (c *Compositor) Active() (title string) {
	c.T.Helper()
	if c.hands != nil {
		if err := json.Unmarshal([]byte(c.Eval("global.display.focus_window?.title ?? ''")), &title); err != nil {
			c.T.Fatal(err)
		}
		return title
	}
	return c.focused().Name
}

// Banner is where GNOME Shell shows the notification that is up, or, with a label, its button of that label; empty while
// it does not.
func (c *Compositor) Banner(label string) image.Rectangle {
	c.T.Helper()
	var box *struct{ X, Y, W, H float64 }
	// The state is SHOWN: it has come down. Its buttons are to be seen once it is expanded.
	found := c.Eval(`(label => {
	const tray = Main.messageTray, banner = tray._banner;
	if (!banner || tray._notificationState !== 2 || label && !banner.expanded) return null;
	const part = label ? banner._buttonBox?.get_children().find(b => b.label === label) : banner;
	if (!part?.mapped) return null;
	const [X, Y] = part.get_transformed_position(), [W, H] = part.get_transformed_size();
	return {X, Y, W, H};
})(` + strconv.Quote(label) + `)`)
	if err := json.Unmarshal([]byte(found), &box); err != nil {
		c.T.Fatal(err)
	}
	if box == nil {
		return image.Rectangle{}
	}
	return image.Rect(int(box.X), int(box.Y), int(box.X+box.W), int(box.Y+box.H))
}

// Type types a text of ASCII.
func (c *Compositor) Type(text string) {
	c.T.Helper()
	if c.outside != nil {
		c.outside.Type(text)
		return
	}
	if c.mouse != nil {
		// Some programs lose a key that comes with a new keyboard's layout: it goes to none of them.
		c.Do("wtype", "-k", "Shift_L", "-s", "100", text)
		return
	}
	for _, r := range text {
		if err := c.hands.key(uint32(r)); err != nil {
			c.T.Fatal(err)
		}
	}
}

// Terminal opens a window of Wayland's own, as the program that a person is using, gives it the keyboard, and returns a
// function that tells what was typed into it.
func (c *Compositor) Terminal() (typed func() string) {
	c.T.Helper()
	into, script := filepath.Join(c.Home, "typed"), filepath.Join(c.Home, "listen")
	c.Write(script, "#!/bin/sh\nstty -echo -icanon\nexec cat > '"+into+"'\n")
	if err := os.Chmod(script, 0o700); err != nil {
		c.T.Fatal(err)
	}
	c.Start("weston-terminal", "--shell="+script)
	c.Wait("the terminal to listen", func() bool { _, err := os.Stat(into); return err == nil })
	all := func() string {
		text, err := os.ReadFile(into)
		if err != nil {
			c.T.Fatal(err)
		}
		return string(text)
	}
	const probe = "." // of which any number may arrive
	c.Wait("the terminal to have the keyboard", func() bool { c.Type(probe); return all() != "" })
	return func() string { return strings.ReplaceAll(all(), probe, "") }
}

// A remoteDesktop moves the pointer and presses keys as GNOME's remote desktop does.
type remoteDesktop struct {
	session dbus.BusObject
	size    image.Point
}

func takeHands(bus *dbus.Conn, size image.Point) (*remoteDesktop, error) {
	var path dbus.ObjectPath
	const name = "org.gnome.Mutter.RemoteDesktop"
	if err := bus.Object(name, "/org/gnome/Mutter/RemoteDesktop").Call(name+".CreateSession", 0).Store(&path); err != nil {
		return nil, fmt.Errorf("hands for GNOME Shell: %w", err)
	}
	r := &remoteDesktop{session: bus.Object(name, path), size: size}
	if err := r.call("Start"); err != nil {
		return nil, err
	}
	// With its first motion the mouse is plugged in. What is pressed before programs have heard of the mouse is lost. With its
	// first key the keyboard is plugged in, without which nothing can have it.
	const shift = 0xffe1 // XK_Shift_L, which goes to no program
	if err := r.key(shift); err != nil {
		return nil, err
	}
	return r, r.move(size.X/2, size.Y-2)
}

func (r *remoteDesktop) call(method string, args ...any) error {
	if err := r.session.Call("org.gnome.Mutter.RemoteDesktop.Session."+method, 0, args...).Err; err != nil {
		return fmt.Errorf("%s%v: %w", method, args, err)
	}
	return nil
}

// move goes by way of a corner that does nothing: a place of the screen can only be named together with a recording of it.
func (r *remoteDesktop) move(x, y int) error {
	err := r.call("NotifyPointerMotionRelative", 2*float64(r.size.X), 2*float64(r.size.Y))
	if err != nil {
		return err
	}
	return r.call("NotifyPointerMotionRelative", float64(x-r.size.X+1), float64(y-r.size.Y+1))
}

func (r *remoteDesktop) press(down bool) error {
	return r.call("NotifyPointerButton", int32(leftButton), down)
}

func (r *remoteDesktop) key(symbol uint32) error {
	if err := r.call("NotifyKeyboardKeysym", symbol, true); err != nil {
		return err
	}
	return r.call("NotifyKeyboardKeysym", symbol, false)
}
