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
	"deskbell/build/e2e/desktoptest"
)

// A spot is a part of a form, and what is to be found in its middle.
type spot struct {
	place  string // as the form calls it
	role   string
	name   string
	secret bool
	corner bool // it is not its middle that is looked at, but its corner
}

// A form is an application with parts of all kinds.
type form struct {
	script, title string
	env           []string
	spots         []spot
}

// called is the part of that name.
func (f form) called(name string) spot {
	return f.spots[slices.IndexFunc(f.spots, func(s spot) bool { return s.name == name })]
}

var forms = map[string]form{
	"GTK 3": {"form.gtk3.py", "Form GTK 3", nil, []spot{
		{place: "File", role: "menu", name: "File"},
		{place: "Name", role: "textbox", name: "Name"},
		{place: "Notes", role: "textbox", name: "Notes"},
		{place: "Password", role: "textbox", name: "Password", secret: true},
		{place: "Answer", role: "textbox", name: "Answer", secret: true},
		{place: "Agree", role: "checkbox", name: "Agree"},
		{place: "Colour", role: "combobox", name: "Colour"},
		{place: "Greet", role: "button", name: "Greet"},
		{place: "Save file: picture", role: "button", name: "Save file"},
		{place: "Save file: words", role: "button", name: "Save file"},
		{place: "Manual", role: "button", name: "Manual"},
		{place: "Rows", role: "tab", name: "Rows"},
		{place: "Alpha", role: "listitem", name: "Alpha"},
		{place: "Delta", role: "listitem", name: "Delta"},
		{place: "Drag area", role: "drawing area", name: "Drag area"},
	}},
	"GTK 4": {"form.gtk4.py", "Form GTK 4", nil, []spot{
		{place: "File", role: "menuitem", name: "File"},
		{place: "Name", role: "textbox", name: "Name"},
		{place: "Notes", role: "textbox", name: "Notes"},
		{place: "Secret word", role: "textbox", name: "Secret word", secret: true},
		{place: "Passphrase", role: "textbox", name: "Passphrase", secret: true},
		{place: "Agree", role: "checkbox", name: "Agree"},
		{place: "Colour", role: "combobox", name: "Colour"},
		{place: "Greet", role: "button", name: "Greet"},
		{place: "Greet", role: "button", name: "Greet", corner: true}, // on its padding
		{place: "Save file: picture", role: "button", name: "Save file"},
		{place: "Save file: words", role: "button", name: "Save file"},
		{place: "Manual", role: "link", name: "Manual"},
		{place: "Alpha", role: "listitem", name: "Alpha"},
		{place: "Delta", role: "listitem", name: "Delta"},
		{place: "Drag area", role: "filler", name: "Drag area"},
	}},
	"Chromium": {"form.html", "Form Chromium", nil, []spot{
		{place: "Name", role: "textbox", name: "Name"},
		{place: "Notes", role: "textbox", name: "Notes"},
		{place: "Password", role: "textbox", name: "Password", secret: true},
		{place: "Passphrase", role: "textbox", name: "Passphrase", secret: true},
		{place: "Agree", role: "checkbox", name: "Agree"},
		{place: "Colour", role: "combobox", name: "Colour"},
		{place: "Greet", role: "button", name: "Greet"},
		{place: "Save file: bold", role: "button", name: "Save file"},
		{place: "Save file: italic", role: "button", name: "Save file"},
		{place: "Manual", role: "link", name: "Manual"},
		{place: "File", role: "menuitem", name: "File"},
		{place: "Alpha", role: "listitem", name: "Alpha"},
		{place: "Drag area", role: "img", name: "Drag area"},
	}},
	"WebKit": {"form.webkit.py", "Form WebKit", nil, []spot{
		{place: "Name", role: "textbox", name: "Name"},
		{place: "Notes", role: "textbox", name: "Notes"},
		{place: "Password", role: "textbox", name: "Password", secret: true},
		{place: "Passphrase", role: "textbox", name: "Passphrase", secret: true},
		{place: "Agree", role: "checkbox", name: "Agree"},
		{place: "Colour", role: "combobox", name: "Colour Red"},
		{place: "Greet", role: "button", name: "Greet"},
		{place: "Save file: bold", role: "button", name: "Save file"},
		{place: "Manual", role: "link", name: "Manual"},
		{place: "File", role: "menuitem", name: "File"},
		{place: "Alpha", role: "listitem", name: "Alpha"},
		{place: "Drag area", role: "img", name: "Drag area"},
	}},
	"Qt 5": {"form.qt.py", "Form Qt 5", []string{"QT=5"}, qt},
	"Qt 6": {"form.qt.py", "Form Qt 6", []string{"QT=6"}, qt},
}

var qt = []spot{
	{place: "File", role: "menuitem", name: "File"},
	{place: "Name", role: "textbox", name: "Name"},
	{place: "Notes", role: "textbox", name: "Notes"},
	{place: "Password", role: "textbox", name: "Password", secret: true},
	{place: "Answer", role: "textbox", name: "Answer", secret: true},
	{place: "Agree", role: "checkbox", name: "Agree"},
	{place: "Colour", role: "combobox", name: "Colour"},
	{place: "Greet", role: "button", name: "Greet"},
	{place: "Save file", role: "button", name: "Save file"},
	{place: "Alpha", role: "listitem", name: "Alpha"},
	{place: "Drag area", role: "filler", name: "Drag area"},
}

func (d session) dump(e *Elements, at record.Placed) string {
	l, cancel, err := e.begin(d.T.Context())
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
	d := startAccessible(t)
	e := d.elements()
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			d.T = t
			f := d.show(e, form)
			for _, s := range form.spots {
				x, y := f.point(s)
				got, err := e.At(t.Context(), x, y, f.at)
				if err != nil || got.Role != s.role || got.Name != s.name || got.Secret != s.secret {
					t.Errorf("%s, at %d,%d, is %s %q, secret %t, at %v, in %v, %v; want %s %q, secret %t", s.place, x, y, got.Role, got.Name, got.Secret, got.Bounds, got.Ancestry, err, s.role, s.name, s.secret)
					continue
				}
				if last := got.Ancestry[len(got.Ancestry)-1]; last.Role != "window" || !strings.HasPrefix(last.Name, form.title) {
					t.Errorf("the ancestry of %s %q ends with %+v", got.Role, got.Name, last)
				}
			}
			if t.Failed() {
				t.Log(d.dump(e, f.at))
			}
		})
	}
}

// Menus and lists that open are windows of their own, over things that are still there.
func TestPopups(t *testing.T) {
	type popup struct {
		opener, role, name string
		state              string // what the form says is chosen
	}
	d := startAccessible(t)
	e := d.elements()
	qt := []popup{{"File", "menuitem", "Open recent", "menu"}, {"Colour", "listitem", "Green", "colour"}}
	for name, popups := range map[string][]popup{
		"GTK 3": {
			{"File", "menuitem", "Open recent", "menu"},
			{"Colour", "menuitem", "Green", "colour"},
			{"More", "button", "Share", "menu"},
		},
		"GTK 4":    {{"File", "menuitem", "Open recent", "menu"}, {"Colour", "listitem", "Green", "colour"}},
		"Chromium": {{"Colour", "menuitem", "Green", "colour"}},
		"Qt 5":     qt,
		"Qt 6":     qt,
	} {
		t.Run(name, func(t *testing.T) {
			d.T = t
			f := d.show(e, forms[name])
			for _, p := range popups {
				x, y := f.point(spot{place: p.opener})
				d.press(x, y)
				var got human.Element
				d.Wait(p.role+" "+p.name+" below "+p.opener, func() bool {
					for down := 4; down < 124; down += 8 {
						for _, right := range []int{0, 30} {
							var err error
							if got, err = e.At(t.Context(), x+right, y+down, f.at); err == nil && got.Role == p.role && got.Name == p.name {
								return true
							}
						}
					}
					return false
				})
				d.press(got.Bounds.X+got.Bounds.W/2, got.Bounds.Y+got.Bounds.H/2)
				f.Await(p.state, p.name) // it was what the application says was pressed
			}
		})
	}
}

// Events say what has the keyboard, and it can be asked for. Only the text of ordinary fields is read.
func TestFocusAndValue(t *testing.T) {
	d := startAccessible(t)
	d.Do("setxkbmap", "de") // with ü and ß
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			d.T = t
			e := d.elements()
			f := d.show(e, form)

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
				d.Wait("the page to tell of its focus", func() bool {
					f.press(form.spots[0])
					f.press(form.spots[1])
					return len(events) > 0
				})
			}
			fields := slices.DeleteFunc(slices.Clone(form.spots), func(s spot) bool { return s.role != "textbox" })
			slices.Reverse(fields) // the first has the focus already
			for _, s := range fields {
				x, y := f.point(s)
				d.press(x, y)
				var ask func()
				if name == "WebKit" {
					// While a field that gets the focus is still to be laid out, the page says nothing of it, and then nothing
					// by itself: the event comes with the answer to the next look-up (WebKit, AXObjectCache::onFocusChange).
					ask = func() { _, _ = e.Focused(t.Context(), f.at) } // what it answers is looked at below
				}
				moved := d.focus(events, &emitted, s, ask)
				if moved.Secret != s.secret || !moved.Bounds.Contains(x, y) {
					t.Errorf("the focus moved to %+v, want %s %q, secret %t", moved, s.role, s.name, s.secret)
				}
				focused, err := e.Focused(t.Context(), f.at)
				if err != nil || focused.Name != s.name || focused.Secret != s.secret {
					t.Errorf("the focus is on %+v, %v; want %q", focused, err, s.name)
				}
				fresh := d.elements() // has heard no event
				focused, err = fresh.Focused(t.Context(), f.at)
				if err != nil || focused.Name != s.name {
					t.Errorf("by searching, the focus is on %+v, %v; want %q", focused, err, s.name)
				}
				d.Do("xdotool", "type", "--delay", "5", "Grüße 7")
				pressed, err := e.At(t.Context(), x, y, f.at)
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
			x, y := f.point(form.called("Greet"))
			greet, err := e.At(t.Context(), x, y, f.at)
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

// focus waits for the event that the focus has moved to a field. ask, unless it is nil, is done time and again
// meanwhile; without it the event has to come by itself.
func (d session) focus(events chan human.RecordedEvent, emitted *uint64, s spot, ask func()) human.Element {
	d.T.Helper()
	deadline := time.After(desktoptest.Patience)
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
			d.T.Logf("passing: %s %q", e.Element.Role, e.Element.Name)
		case <-tick:
			ask()
		case <-deadline:
			d.T.Fatalf("the focus never moved to %q", s.name)
		}
	}
}
