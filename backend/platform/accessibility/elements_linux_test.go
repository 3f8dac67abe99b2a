package accessibility

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

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
	"GTK 4": {"form.gtk4.py", "Form GTK 4", nil, []spot{
		{17, 13, "menuitem", "File", false},
		{316, 50, "textbox", "Name", false},
		{316, 102, "textbox", "Notes", false},
		{182, 156, "textbox", "Secret word", true},
		{182, 195, "textbox", "Passphrase", true},
		{94, 231, "checkbox", "Agree", false},
		{285, 268, "combobox", "Colour", false},
		{41, 308, "button", "Greet", false},
		{9, 318, "button", "Greet", false}, // on its padding
		{100, 308, "button", "Save file", false},
		{136, 308, "button", "Save file", false},
		{218, 308, "link", "Manual", false},
		{16, 342, "listitem", "Alpha", false},
		{389, 413, "listitem", "Delta", false},
		{182, 578, "filler", "Drag area", false},
	}},
	"Chromium": {"form.html", "Form Chromium", nil, []spot{
		{165, 97, "textbox", "Name", false},
		{150, 135, "textbox", "Notes", false},
		{190, 178, "textbox", "Password", true},
		{200, 210, "textbox", "Passphrase", true},
		{26, 241, "checkbox", "Agree", false},
		{100, 272, "combobox", "Colour", false},
		{40, 303, "button", "Greet", false},
		{90, 303, "button", "Save file", false},
		{122, 303, "button", "Save file", false},
		{170, 303, "link", "Manual", false},
		{28, 326, "menuitem", "File", false},
		{80, 365, "listitem", "Alpha", false},
		{300, 550, "img", "Drag area", false},
	}},
	"WebKit": {"form.webkit.py", "Form WebKit", nil, []spot{
		{165, 97, "textbox", "Name", false},
		{150, 135, "textbox", "Notes", false},
		{190, 184, "textbox", "Password", true},
		{200, 216, "textbox", "Passphrase", true},
		{24, 247, "checkbox", "Agree", false},
		{100, 281, "combobox", "Colour Red", false},
		{40, 318, "button", "Greet", false},
		{90, 318, "button", "Save file", false},
		{166, 316, "link", "Manual", false},
		{28, 342, "menuitem", "File", false},
		{80, 381, "listitem", "Alpha", false},
		{300, 550, "img", "Drag area", false},
	}},
	"Qt 5": {"form.qt.py", "Form Qt 5", []string{"QT=5"}, []spot{
		{20, 10, "menuitem", "File", false},
		{200, 45, "textbox", "Name", false},
		{200, 95, "textbox", "Notes", false},
		{200, 143, "textbox", "Password", true},
		{200, 175, "textbox", "Answer", true},
		{90, 201, "checkbox", "Agree", false},
		{200, 231, "combobox", "Colour", false},
		{100, 262, "button", "Greet", false},
		{400, 262, "button", "Save file", false},
		{100, 305, "listitem", "Alpha", false},
		{100, 560, "filler", "Drag area", false},
	}},
	"Qt 6": {"form.qt.py", "Form Qt 6", []string{"QT=6"}, []spot{
		{20, 10, "menuitem", "File", false},
		{200, 43, "textbox", "Name", false},
		{200, 90, "textbox", "Notes", false},
		{200, 140, "textbox", "Password", true},
		{200, 171, "textbox", "Answer", true},
		{90, 201, "checkbox", "Agree", false},
		{200, 231, "combobox", "Colour", false},
		{100, 262, "button", "Greet", false},
		{400, 262, "button", "Save file", false},
		{100, 290, "listitem", "Alpha", false},
		{100, 560, "filler", "Drag area", false},
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
	l.search(f.kit, toFind|withName, f.node, false, func(n node, _ bool) (bool, bool) {
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
			app := d.form(form.script, form.env...)
			at := d.window(form.title, app.pid())
			d.ready(e, at, form.spots[0])
			for _, s := range form.spots {
				got, err := e.At(t.Context(), at.Window.Bounds.X+s.x, at.Window.Bounds.Y+s.y, at)
				if err != nil || got.Role != s.role || got.Name != s.name || got.Secret != s.secret {
					t.Errorf("at %d,%d is %s %q, secret %t, at %v, in %v, %v; want %s %q, secret %t", s.x, s.y, got.Role, got.Name, got.Secret, got.Bounds, got.Ancestry, err, s.role, s.name, s.secret)
					continue
				}
				if last := got.Ancestry[len(got.Ancestry)-1]; last.Role != "window" || !strings.HasPrefix(last.Name, form.title) {
					t.Errorf("the ancestry of %s %q ends with %+v", got.Role, got.Name, last)
				}
			}
			if t.Failed() {
				t.Log(d.dump(e, at))
			}
		})
	}
}

// ready waits until the application is on the bus with what it draws.
func (d *desktop) ready(e *Elements, at record.Placed, first spot) {
	d.t.Helper()
	d.wait(at.Window.Title+" on the bus", func() bool {
		got, err := e.At(d.t.Context(), at.Window.Bounds.X+first.x, at.Window.Bounds.Y+first.y, at)
		return err == nil && got.Role == first.role
	})
}

// Menus and lists that open are windows of their own, over things that are still there.
func TestPopups(t *testing.T) {
	type popup struct {
		opener, entry spot
		state         string // what the form says is chosen
	}
	open := func(x, y int) spot { return spot{x: x, y: y} }
	d := startDesktop(t).accessible()
	e := d.elements()
	for name, popups := range map[string][]popup{
		"GTK 3": {
			{open(18, 13), spot{40, 67, "menuitem", "Open recent", false}, "menu"},
			{open(200, 271), spot{200, 304, "menuitem", "Green", false}, "colour"},
			{open(305, 311), spot{305, 381, "button", "Share", false}, "menu"},
		},
		"GTK 4": {
			{open(17, 13), spot{56, 77, "menuitem", "Open recent", false}, "menu"},
			{open(285, 268), spot{150, 343, "listitem", "Green", false}, "colour"},
		},
		"Chromium": {{open(100, 272), spot{90, 324, "menuitem", "Green", false}, "colour"}},
		"Qt 5": {
			{open(20, 10), spot{40, 62, "menuitem", "Open recent", false}, "menu"},
			{open(200, 231), spot{200, 256, "listitem", "Green", false}, "colour"},
		},
		"Qt 6": {
			{open(20, 10), spot{40, 60, "menuitem", "Open recent", false}, "menu"},
			{open(200, 231), spot{200, 256, "listitem", "Green", false}, "colour"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d.t = t
			form := forms[name]
			app := d.form(form.script, form.env...)
			at := d.window(form.title, app.pid())
			d.ready(e, at, form.spots[0])
			for _, p := range popups {
				d.press(at, p.opener)
				want := p.entry
				var got human.Element
				var err error
				if !d.within(func() bool {
					got, err = e.At(t.Context(), at.Window.Bounds.X+want.x, at.Window.Bounds.Y+want.y, at)
					return err == nil && got.Role == want.role && got.Name == want.name
				}) {
					t.Fatalf("at %d,%d is %s %q at %v, in %v, %v; want %s %q", want.x, want.y, got.Role, got.Name, got.Bounds, got.Ancestry, err, want.role, want.name)
				}
				d.press(at, want)
				d.state(form.script, p.state, want.name) // it was what the application says was pressed
			}
		})
	}
}

// What has the keyboard is told by events, and can be asked for. Only the text of ordinary fields is read.
func TestFocusAndValue(t *testing.T) {
	d := startDesktop(t).accessible()
	d.try("setxkbmap", "de") // with ü and ß
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			d.t = t
			e := d.elements()
			app := d.form(form.script, form.env...)
			at := d.window(form.title, app.pid())
			d.ready(e, at, form.spots[0])

			ctx, cancel := context.WithCancel(t.Context())
			events := make(chan human.RecordedEvent, 256)
			ready := make(chan struct{})
			ended := make(chan struct{})
			var seen uint64
			var err error
			go func() {
				defer close(ended)
				seen, err = e.Run(ctx, func() { close(ready) }, func(e human.RecordedEvent) { events <- e })
			}()
			<-ready
			var emitted uint64
			if name == "WebKit" {
				// The page's own process hears a moment later that events are wanted.
				d.wait("the page to tell of its focus", func() bool {
					d.press(at, form.spots[0])
					d.press(at, form.spots[1])
					return len(events) > 0
				})
			}
			fields := slices.DeleteFunc(slices.Clone(form.spots), func(s spot) bool { return s.role != "textbox" })
			slices.Reverse(fields) // the first has the focus already
			for _, s := range fields {
				d.press(at, s)
				var ask func()
				if name == "WebKit" {
					// While a field that gets the focus is still to be laid out, the page says nothing of it, and then nothing
					// by itself: the event comes with the answer to the next look-up (WebKit, AXObjectCache::onFocusChange).
					ask = func() { _, _ = e.Focused(t.Context(), at) } // what it answers is looked at below
				}
				moved := d.focus(events, &emitted, s, ask)
				if moved.Secret != s.secret || !moved.Bounds.Contains(at.Window.Bounds.X+s.x, at.Window.Bounds.Y+s.y) {
					t.Errorf("the focus moved to %+v, want %s %q, secret %t", moved, s.role, s.name, s.secret)
				}
				focused, err := e.Focused(t.Context(), at)
				if err != nil || focused.Name != s.name || focused.Secret != s.secret {
					t.Errorf("the focus is on %+v, %v; want %q", focused, err, s.name)
				}
				fresh := d.elements() // has heard no event
				focused, err = fresh.Focused(t.Context(), at)
				if err != nil || focused.Name != s.name {
					t.Errorf("by searching, the focus is on %+v, %v; want %q", focused, err, s.name)
				}
				d.do("type", "--delay", "5", "Grüße 7")
				pressed, err := e.At(t.Context(), at.Window.Bounds.X+s.x, at.Window.Bounds.Y+s.y, at)
				if err != nil {
					t.Fatal(err)
				}
				if s.secret {
					if text, err := e.Value(t.Context(), pressed); kind(err) != human.Denied || text != "" {
						t.Errorf("the text of %q is %q, %v", s.name, text, err)
					}
					pressed.Secret = false // one who forgets
					if text, err := e.Value(t.Context(), pressed); kind(err) != human.Denied || text != "" {
						t.Errorf("the text of %q is %q, %v", s.name, text, err)
					}
					continue
				}
				var text string
				if !d.within(func() bool {
					text, err = e.Value(t.Context(), pressed)
					return err == nil && text == "Grüße 7"
				}) {
					t.Errorf("the text of %q is %q, %v", s.name, text, err)
				}
			}
			button := form.spots[slices.IndexFunc(form.spots, func(s spot) bool { return s.name == "Greet" })]
			greet, err := e.At(t.Context(), at.Window.Bounds.X+button.x, at.Window.Bounds.Y+button.y, at)
			if text, err2 := e.Value(t.Context(), greet); err != nil || kind(err2) != human.NotFound {
				t.Errorf("the text of %s %q is %q, %v, %v", greet.Role, greet.Name, text, err, err2)
			}
			cancel()
			<-ended
			close(events)
			for range events {
				emitted++
			}
			if err != nil || seen != emitted {
				t.Errorf("ended with %d seen, %d delivered, %v", seen, emitted, err)
			}
		})
	}
}

// focus waits until the focus is told to have moved to a field. ask, unless it is nil, is done time and again
// meanwhile; without it the event has to come by itself.
func (d *desktop) focus(events chan human.RecordedEvent, emitted *uint64, s spot, ask func()) human.Element {
	d.t.Helper()
	deadline := time.After(5 * time.Second)
	var tick <-chan time.Time
	if ask != nil {
		ticker := time.NewTicker(250 * time.Millisecond)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		select {
		case e := <-events:
			*emitted++
			if e.Type == human.FocusMoved && e.Element.Role == s.role && e.Element.Name == s.name {
				return *e.Element
			}
			d.t.Logf("passing: %s %q", e.Element.Role, e.Element.Name)
		case <-tick:
			ask()
		case <-deadline:
			d.t.Fatalf("the focus never moved to %q", s.name)
		}
	}
}
