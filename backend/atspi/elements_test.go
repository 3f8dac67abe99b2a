package atspi

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// A spot is a place in a form, from the top left of its window, and what is to be found there.
type spot struct {
	x, y   int
	role   string
	name   string
	secret bool
}

// forms are applications with what stands where, as they are drawn in their default theme.
var forms = map[string]struct {
	script, title string
	env           []string
	spots         []spot
}{
	"GTK 3": {"form.gtk3.py", "Form GTK 3", nil, []spot{
		{18, 13, "menu", "File", false},
		{200, 56, "textbox", "Name", false},
		{200, 100, "textbox", "Notes", false},
		{200, 162, "textbox", "Password", true},
		{200, 202, "textbox", "Answer", true},
		{80, 236, "checkbox", "Agree", false},
		{200, 271, "combobox", "Colour", false},
		{41, 311, "button", "Greet", false},
		{96, 311, "button", "Save file", false},
		{150, 311, "button", "Save file", false},
		{226, 311, "button", "Manual", false},
		{36, 359, "tab", "Rows", false},
		{20, 389, "listitem", "Alpha", false},
		{400, 458, "listitem", "Delta", false},
		{300, 600, "drawing area", "Drag area", false},
	}},
}

func (d *desktop) dump(e *Elements, at record.Placed) string {
	l, cancel, err := e.begin(d.t.Context())
	if err != nil {
		return err.Error()
	}
	defer cancel()
	f, err := l.frame(at)
	if err != nil {
		return err.Error()
	}
	var s strings.Builder
	fmt.Fprintln(&s, f.kit, f.node.box, f.placement, at.Window.Bounds)
	l.search(f.kit, f.node, func(n node, _ bool) (bool, bool) {
		fmt.Fprintln(&s, n.role, n.role.word(), n.name, n.box, f.desktop(n.box))
		return true, false
	})
	return s.String()
}

func TestPressedElements(t *testing.T) {
	d := startDesktop(t).accessible()
	e := d.elements()
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			d.t = t
			app := d.run(d.formCommand(form.script, form.env...))
			at := d.window(form.title, app.pid())
			d.ready(e, at)
			for _, s := range form.spots {
				got, err := e.At(t.Context(), at.Window.Bounds.X+s.x, at.Window.Bounds.Y+s.y, at)
				if err != nil || got.Role != s.role || got.Name != s.name || got.Secret != s.secret {
					t.Errorf("at %d,%d is %s %q, secret %t, at %v, in %v, %v; want %s %q, secret %t", s.x, s.y, got.Role, got.Name, got.Secret, got.Bounds, got.Ancestry, err, s.role, s.name, s.secret)
					continue
				}
				if last := got.Ancestry[len(got.Ancestry)-1]; last.Role != "window" || last.Name != form.title {
					t.Errorf("the ancestry of %s %q ends with %+v", got.Role, got.Name, last)
				}
			}
			if t.Failed() {
				t.Log(d.dump(e, at))
			}
		})
	}
}

// ready waits until the application is on the bus with the window drawn.
func (d *desktop) ready(e *Elements, at record.Placed) {
	d.t.Helper()
	d.wait(at.Window.Title+" on the bus", func() bool {
		got, err := e.At(d.t.Context(), at.Window.Bounds.X+at.Window.Bounds.W/2, at.Window.Bounds.Y+at.Window.Bounds.H/2, at)
		return err == nil && slices.ContainsFunc(append(got.Ancestry, got), func(e human.Element) bool { return e.Role == "window" })
	})
}
