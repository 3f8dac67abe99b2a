//go:build linux

package desktoptest

import (
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strings"
)

// A Monitor is one of several of an X server, each an output of RandR's.
type Monitor = image.Rectangle

// startMonitors starts an X server with several monitors. Xvfb has one output; Xwayland has one for each of its compositor's, and
// rooted in a single window it is an X server like any other: window managers and their clients know nothing of Wayland.
func (d *Desktop) startMonitors(monitors []Monitor, more []string) (number string) {
	d.T.Helper()
	var config strings.Builder
	for i, m := range monitors {
		fmt.Fprintf(&config, "output HEADLESS-%d resolution %dx%d position %d %d\n", i+1, m.Dx(), m.Dy(), m.Min.X, m.Min.Y)
	}
	ready := filepath.Join(d.run, "monitors")
	fmt.Fprintf(&config, "xwayland disable\nexec env > %[1]s.part && mv %[1]s.part %[1]s\n", ready)
	d.Write(filepath.Join(d.Home, "monitors.conf"), config.String())
	command := []string{"sway", "-c", filepath.Join(d.Home, "monitors.conf")}
	if os.Geteuid() == 0 { // as which it does not start
		command = append([]string{"setpriv", "--reuid=1000", "--regid=1000", "--clear-groups",
			"--inh-caps=+dac_override", "--ambient-caps=+dac_override"}, command...)
	}
	d.StartWith([]string{
		"WLR_BACKENDS=headless", "WLR_LIBINPUT_NO_DEVICES=1", "WLR_RENDERER=pixman", fmt.Sprintf("WLR_HEADLESS_OUTPUTS=%d", len(monitors)),
	}, command[0], command[1:]...)
	var environment []byte
	d.Wait("the monitors", func() bool {
		var err error
		environment, err = os.ReadFile(ready)
		return err == nil
	})
	before := d.Env
	for line := range strings.Lines(string(environment)) {
		switch name, value, _ := strings.Cut(strings.TrimSpace(line), "="); name {
		case "WAYLAND_DISPLAY":
			d.Env = append(d.Env, name+"="+value)
		case "SWAYSOCK":
			d.sway = value
		}
	}
	d.Server, number = d.StartLine("Xwayland", append([]string{"-displayfd", "3", "-nolisten", "tcp", "-noreset", "-fp", "built-ins"}, more...)...)
	d.Env = before // which does not say that there is a compositor
	return number
}

// Arrange puts monitor n there, counted from 0, and plugs it in where there was none. The X server becomes as large as all need.
func (d *Desktop) Arrange(n int, m Monitor) {
	d.T.Helper()
	name := fmt.Sprintf("HEADLESS-%d", n+1)
	if !strings.Contains(d.Do("swaymsg", "-s", d.sway, "-t", "get_outputs"), name) {
		d.Do("swaymsg", "-s", d.sway, "create_output")
	}
	d.Do("swaymsg", "-s", d.sway, "output", name, "resolution", fmt.Sprintf("%dx%d", m.Dx(), m.Dy()), "position", fmt.Sprintf("%d %d", m.Min.X, m.Min.Y))
	place := fmt.Sprintf("XWAYLAND%d connected %dx%d+%d+%d ", n, m.Dx(), m.Dy(), m.Min.X, m.Min.Y)
	d.Wait("the X server to know the monitor", func() bool { return strings.Contains(d.Do("xrandr"), place) })
}
