//go:build window

package e2e

import (
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	c.Wait("the terminal to have the keyboard again", func() bool { active := c.Active(); return active != "" && active != "Deskbell" })
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

// Two GNOME Shells that start at the same moment can want the same X display, and one of them then ends: its tests are not
// parallel.
//
// GNOME Shell keeps a window inside the screen with its transparent rim, which is wider than the margin.
func TestWaylandPopupOnGNOME(t *testing.T) {
	popupBesideWork(t, desktoptest.StartGNOME(t), "gnome", image.Pt(1440-24-400, 32+24))
}

// The whole program: an agent's request comes as a card, and a click answers it.
func answeredByClick(t *testing.T, c *desktoptest.Compositor, name string, origin image.Point) {
	d := fixtureOn(t, c.Desktop)
	typed := c.Terminal()
	d.start()
	agent := d.rings("release-bot", "approve", "Roll out api 2.14.0", risk("medium", "kubectl apply -f api.yaml"))
	d.see(desktoptest.Button, "Approve")
	c.Type("a")
	c.Wait("the key in the terminal", func() bool { return typed() == "a" })
	shot(c, name+"-request")
	// The compositor may still put the window elsewhere: where the button is said to be it has to be drawn, which is black.
	var at image.Point
	c.Wait("the button to be where it is said to be", func() bool {
		button := d.see(desktoptest.Button, "Approve").At.Add(origin)
		at = button.Min.Add(button.Size().Div(2))
		picture := c.Screenshot("")
		corner := func(p image.Point) bool { return !near(picture.At(p.X, p.Y), color.White) }
		return corner(button.Min.Add(image.Pt(8, 4))) && corner(button.Max.Sub(image.Pt(8, 4))) && near(picture.At(button.Min.X-4, at.Y), color.White)
	})
	// A button that moved, or beside which a notification came up, takes no click for half a second: who clicked then clicks again.
	alive := func(e desktoptest.Element) bool {
		return e.Role == desktoptest.Button && strings.Contains(e.Name, "Approve") && e.Enabled
	}
	c.Wait("a click to be taken", func() bool {
		if slices.ContainsFunc(d.Elements("deskbell"), alive) {
			c.Click(at.X, at.Y)
		}
		return agent.Out() != "" || !agent.Running()
	})
	if r := d.printed(agent); r.Decision != "approve" {
		t.Errorf("the agent was told %+v", r)
	}
	c.Type("b")
	c.Wait("the next key in the terminal", func() bool { return typed() == "ab" })
}

func TestWaylandAnswerOnSway(t *testing.T) {
	t.Parallel()
	// A window of Wayland's own does not know where it is: its parts are counted from its corner.
	c := desktoptest.StartSway(t)
	answeredByClick(t, c, "sway", image.Pt(1440-16-400-24, 16-24))
}

func TestWaylandAnswerOnGNOME(t *testing.T) {
	c := desktoptest.StartGNOME(t)
	answeredByClick(t, c, "gnome", image.Point{})
}

// weston gives each new window the keyboard, but for those that it has no say in: cards are such.
func TestWaylandAnswerOnWeston(t *testing.T) {
	t.Parallel()
	answeredByClick(t, desktoptest.StartWeston(t), "weston", image.Point{})
}

// On two monitors, one of which has two pixels for each, the popup comes where the keyboard is, at the right size.
func TestWaylandPopupOnTwoOutputs(t *testing.T) {
	t.Parallel()
	c := desktoptest.StartSway(t, desktoptest.Output{Width: 1280, Height: 720, Scale: 1}, desktoptest.Output{Width: 2880, Height: 1800, Scale: 2})
	s := startShell(c.Desktop)
	outputs := []struct {
		name string
		card image.Rectangle // in the output's pixels
	}{
		{"HEADLESS-1", image.Rect(1280-16-400, 16, 1280-16, 16+160)},
		{"HEADLESS-2", image.Rect(2880-2*(16+400), 2*16, 2880-2*16, 2*(16+160))},
	}
	for _, o := range outputs {
		c.Do("swaymsg", "focus", "output", o.name)
		s.mode("popup", 160)
		c.Wait("the card on "+o.name, func() bool {
			box := card(c.Output(o.name))
			return o.card.Inset(8).In(box) && box.In(o.card.Inset(-8))
		})
		for _, other := range outputs {
			if other.name != o.name && !card(c.Output(other.name)).Empty() {
				t.Errorf("with the keyboard on %s there is a card on %s", o.name, other.name)
			}
		}
		shot(c, "two-"+o.name)
		if got, want := s.mode("popup", 5000).Height, 2*24+map[string]int{"HEADLESS-1": 720, "HEADLESS-2": 900}[o.name]-2*16; got != want {
			t.Errorf("the highest popup on %s is %d high, not %d", o.name, got, want)
		}
		s.mode("hidden", 0)
	}
}
