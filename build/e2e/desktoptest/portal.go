//go:build linux

package desktoptest

import (
	"encoding/json"
	"image"
	"os"
	"path/filepath"
	"time"
)

// A Portal is what lets programs see a Wayland session with the consent of its user.
type Portal struct {
	PipeWire *Program
}

// StartPortal starts the portal of this desktop, and PipeWire, through which pictures come.
func (c *Compositor) StartPortal(backend string) Portal {
	c.T.Helper()
	var p Portal
	p.PipeWire = c.Start("pipewire")
	c.Wait("PipeWire", func() bool { _, err := os.Stat(filepath.Join(c.run, "pipewire-0")); return err == nil })
	c.Start("wireplumber")
	c.await("/usr/libexec/xdg-permission-store", "org.freedesktop.impl.portal.PermissionStore")
	c.await("/usr/libexec/xdg-desktop-portal-"+backend, "org.freedesktop.impl.portal.desktop."+backend)
	c.await("/usr/libexec/xdg-desktop-portal", "org.freedesktop.portal.Desktop")
	return p
}

// await starts a program that takes a name on the session's bus.
func (c *Compositor) await(program, name string) {
	c.T.Helper()
	c.Start(program)
	c.Wait(name, func() (there bool) {
		err := c.Bus.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, name).Store(&there)
		return err == nil && there
	})
}

// An Answer is what a person says when GNOME asks what may be shared.
type Answer int

// Decline is to share nothing.
const Decline Answer = -1

// Row is to share one of the windows that are listed, counted from 0.
func Row(row int) Answer { return Answer(row) }

// Answer waits for GNOME's question, answers it with the pointer, and waits until it is gone.
func (c *Compositor) Answer(a Answer) {
	c.T.Helper()
	const title = "Screen Share"
	var corner image.Point
	asks := func() bool {
		var at struct {
			Title string
			X, Y  int
		}
		err := json.Unmarshal([]byte(c.Eval("(w => w && (r => ({Title: w.title, X: r.x, Y: r.y}))(w.get_frame_rect()))(global.display.focus_window)")), &at)
		corner = image.Pt(at.X, at.Y)
		return err == nil && at.Title == title
	}
	before := image.Pt(-1, -1)
	c.Wait("the question what may be shared to stand still", func() bool {
		still := asks() && corner == before
		before = corner
		return still
	})
	click := func(x, y int) { c.Click(corner.X+x, corner.Y+y) }
	var answered time.Time // a click too many would go to what is below
	c.Wait("the answer to be taken", func() bool {
		if !asks() {
			return true
		}
		if time.Since(answered) > 2*time.Second {
			answered = time.Now()
			if a == Decline {
				click(47, 23)
			} else {
				click(110, 165+36*int(a))
				click(474, 23)
			}
		}
		return false
	})
}
