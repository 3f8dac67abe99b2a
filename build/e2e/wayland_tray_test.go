//go:build window

package e2e

import (
	"image"
	"image/color"
	"path/filepath"
	"slices"
	"testing"

	"deskbell/backend/platform/window"
	"deskbell/build/e2e/desktoptest"
)

// The tray icon in a real bar, waybar's: with the number of requests, and with a menu that opens the console.
func TestWaylandTrayInWaybar(t *testing.T) {
	t.Parallel()
	c := desktoptest.StartSway(t)
	d := fixtureBeside(t, c.Desktop)
	config, style := filepath.Join(d.Home, "waybar.json"), filepath.Join(d.Home, "waybar.css")
	d.Write(config, `{"position": "bottom", "height": 40, "modules-right": ["tray"], "tray": {"icon-size": 32}}`)
	d.Write(style, `* { color: #ffffff; } window { background: #202020; } menu { background: #804080; }`)
	d.Start("waybar", "--config", config, "--style", style)
	d.Start(d.bin, "--hidden")
	c.Wait("Deskbell", func() bool { _, ok := d.server(); return ok }) // an agent that finds none starts one, too
	of := func(part image.Rectangle, col color.Color) (box image.Rectangle) {
		picture := c.Screenshot("")
		for y := part.Min.Y; y < part.Max.Y; y++ {
			for x := part.Min.X; x < part.Max.X; x++ {
				if near(picture.At(x, y), col) {
					box = box.Union(image.Rect(x, y, x+1, y+1))
				}
			}
		}
		return box
	}
	middle := func(box image.Rectangle) image.Point { return box.Min.Add(box.Size().Div(2)) }

	d.rings("release-bot", "approve", "Restart the cache", risk("low", "systemctl restart cache"))
	d.see(desktoptest.Button, "Approve")
	var icon image.Rectangle
	c.Wait("the brass icon", func() bool {
		icon = of(image.Rect(1440-40, 900-40, 1440, 900), window.Brass)
		return icon.Dx() > 20 && icon.Dy() > 20
	})
	// On its badge stands a digit, in a color that the silent icon has not.
	if digit := of(icon, window.OnBrass); digit.Dy() < 6 {
		t.Errorf("the icon at %v has no count: %v", icon, digit)
	}
	shot(c, "waybar-icon")
	at := middle(icon)
	c.RightClick(at.X, at.Y)
	// The menu's parts are counted from the corner of its own surface.
	const menuRole = 33
	var entry image.Rectangle
	c.Wait("its menu", func() bool {
		menu := of(image.Rect(700, 400, 1440, 900), color.RGBA{0x80, 0x40, 0x80, 0xff})
		all := d.Elements("waybar")
		whole := slices.IndexFunc(all, func(e desktoptest.Element) bool { return e.Role == menuRole && e.At.Size() == menu.Size() })
		open := slices.IndexFunc(all, func(e desktoptest.Element) bool { return e.Name == "Open Deskbell" })
		if whole < 0 || open < 0 {
			return false
		}
		entry = all[open].At.Sub(all[whole].At.Min).Add(menu.Min)
		return true
	})
	shot(c, "waybar-menu")
	at = middle(entry)
	c.Click(at.X, at.Y)
	d.see(desktoptest.Title, "Inbox")
	c.Wait("the console to have the keyboard", func() bool { return c.Active() == "Deskbell" })
	shot(c, "waybar-console")
}
