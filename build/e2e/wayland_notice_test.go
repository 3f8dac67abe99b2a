//go:build window

package e2e

import (
	"image"
	"image/color"
	"testing"

	"deskbell/build/e2e/desktoptest"
)

// notified has clicks on notifications answer a request and open another. click clicks the notification that is up on its
// button of that label, or on itself with "".
func notified(t *testing.T, c *desktoptest.Compositor, name string, click func(label string)) {
	d := fixtureOn(t, c.Desktop)
	d.Env = append(d.Env, "DESKBELL_NOTIFICATIONS_AFTER=0")
	typed := c.Terminal()
	d.start()
	agent := d.rings("approve-bot", "approve", "Restart the cache", risk("low", "systemctl restart cache"))
	d.see(desktoptest.Button, "Approve")
	click("Approve")
	if r := d.printed(agent); r.Decision != "approve" {
		t.Errorf("the agent was told %+v", r)
	}
	d.waiting("Nothing is waiting")
	c.Type("a")
	c.Wait("the key in the terminal", func() bool { return typed() == "a" })

	other := d.rings("doc-writer", "feedback", "Which tone?", nil)
	d.see(desktoptest.Title, "Which tone?")
	click("")
	c.Wait("the console to have the keyboard", func() bool { return c.Active() == "Deskbell" })
	d.see(desktoptest.Title, "Which tone?")
	shot(c, name+"-notified")
	d.unanswered(other)
}

func TestWaylandNotificationOnGNOME(t *testing.T) {
	c := desktoptest.StartGNOME(t)
	notified(t, c, "gnome", func(label string) {
		var at image.Rectangle
		c.Wait("the notification", func() bool { at = c.Banner(""); return !at.Empty() })
		shot(c, "gnome-banner")
		if label != "" {
			c.Move(at.Min.X+at.Dx()/2, at.Min.Y+16) // its buttons come while the pointer is on it
			c.Wait("its button "+label+" to stand still", func() bool {
				before := at
				at = c.Banner(label)
				return !at.Empty() && at == before
			})
			shot(c, "gnome-banner-expanded")
		}
		c.Click(at.Min.X+at.Dx()/2, at.Min.Y+16)
	})
}

// dunst draws in a layer, at the bottom right. It does the action that the title begins with, or else the default one, and
// takes the notification away.
func TestWaylandNotificationOnSway(t *testing.T) {
	t.Parallel()
	c := desktoptest.StartSway(t)
	at := image.Pt(1440-40, 900-60)
	there := func() bool { return near(c.Screenshot("").At(at.X, at.Y), color.RGBA{0x28, 0x55, 0x77, 0xff}) }
	notified(t, c, "sway", func(string) {
		c.Wait("the notification", there)
		shot(c, "sway-notice")
		c.Click(at.X, at.Y)
		c.Wait("no notification", func() bool { return !there() })
		c.Move(100, 100) // dunst shows no new notification under a pointer that stayed there
	})
}
