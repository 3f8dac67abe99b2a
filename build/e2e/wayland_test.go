//go:build window

package e2e

import (
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"testing"

	"deskbell/backend/platform/window"
	"deskbell/build/e2e/desktoptest"
)

// shot saves a picture of what a test shows where E2E_SHOTS names a folder.
func shot(c *desktoptest.Compositor, name string) {
	if folder := os.Getenv("E2E_SHOTS"); folder != "" {
		c.Screenshot(filepath.Join(folder, name+".png"))
	}
}

// card finds the card's place by its color, which the desktops do not have: a box of white at the right of the screen.
func card(picture image.Image) (box image.Rectangle) {
	b := picture.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Max.X * 2 / 3; x < b.Max.X; x++ {
			if near(picture.At(x, y), color.White) {
				run := x
				for run < b.Max.X && near(picture.At(run, y), color.White) {
					run++
				}
				if run-x > 350 {
					box = box.Union(image.Rect(x, y, run, y+1))
				}
				x = run
			}
		}
	}
	return box
}

// abilities is what the program says that it can do in this session.
func abilities(s *shell) (a window.Abilities) {
	s.d.T.Helper()
	s.js(`app.Desktop().then(d => say(JSON.stringify(d.window)))`)
	if err := json.Unmarshal([]byte(s.says()), &a); err != nil {
		s.d.T.Fatal(err)
	}
	return a
}

// A person continues to type while the popup comes and while it is answered with the pointer. Its text field gets the
// keyboard once it is clicked, and a click elsewhere takes it back.
func popupBesideWork(t *testing.T, c *desktoptest.Compositor, name string, at image.Point) {
	typed := c.Terminal()
	reads := func(want string) {
		t.Helper()
		c.Wait(fmt.Sprintf("the terminal to read %q", want), func() bool { return typed() == want })
	}
	s := startShell(c.Desktop)
	if got, want := abilities(s), (window.Abilities{Place: true, KeepAbove: true, NoFocus: true, Transparent: true}); got != want {
		t.Errorf("it says it can do %+v, not %+v", got, want)
	}
	c.Type("a")
	reads("a")
	s.mode("popup", 160)
	want := image.Rect(0, 0, 400, 160).Add(at).Inset(4) // without its rim
	var box image.Rectangle
	defer func() { t.Log("the card was last seen at", box) }()
	c.Wait(fmt.Sprintf("the card at %v", want), func() bool {
		box = card(c.Screenshot(os.Getenv("E2E_SHOT")))
		return want.In(box)
	})
	shot(c, name+"-popup")
	c.Type("b")
	reads("ab")
	c.Click(at.X+76, at.Y+128)
	s.hears("clicked")
	c.Type("c")
	reads("abc")

	c.Click(at.X+76, at.Y+70) // the text field
	s.js(`const seen = () => document.hasFocus() ? say("has the keyboard") : setTimeout(seen, 50); seen()`)
	s.hears("has the keyboard")
	c.Type("d")
	s.hears("typed d")
	shot(c, name+"-field")
	c.Click(600, 300)
	c.Type("e")
	reads("abce")

	// It can be the console, and a popup again, which still does not take the keyboard.
	s.mode("console", 0)
	s.js(`text.focus(); seen()`)
	s.hears("has the keyboard")
	shot(c, name+"-console")
	s.mode("hidden", 0)
	c.Type("f")
	reads("abcef")
	s.mode("popup", 300)
	c.Wait("the card again", func() bool { return want.In(card(c.Screenshot(""))) })
	c.Type("g")
	reads("abcefg")
	s.mode("hidden", 0)
	c.Wait("no card", func() bool { return !want.In(card(c.Screenshot(""))) })
}

func TestWaylandPopupOnSway(t *testing.T) {
	t.Parallel()
	popupBesideWork(t, desktoptest.StartSway(t), "sway", image.Pt(1440-16-400, 16))
}

// GNOME Shell keeps a window inside the screen with its transparent rim, which is wider than the margin.
func TestWaylandPopupOnGNOME(t *testing.T) {
	t.Parallel()
	popupBesideWork(t, desktoptest.StartGNOME(t), "gnome", image.Pt(1440-24-400, 32+24))
}
