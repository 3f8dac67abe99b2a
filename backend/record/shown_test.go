package record_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// A teller is elements that also say what a window shows.
type teller struct {
	*elements
	shows map[string]string // by ref
}

func (e teller) Shown(context.Context, record.Placed) (all []human.Element, err error) {
	e.at.Lock()
	defer e.at.Unlock()
	for ref, text := range e.shows {
		all = append(all, human.Element{Role: "label", Name: text, Ref: ref, Bounds: human.Bounds{H: 10 + len(ref)}})
	}
	return all, nil
}

// Value is of fields only.
func (e teller) Value(ctx context.Context, el human.Element) (string, error) {
	if el.Role == "button" {
		return "", human.Errorf(human.NotFound, "no field")
	}
	return e.elements.Value(ctx, el)
}

func (e teller) show(ref, text string) {
	e.at.Lock()
	defer e.at.Unlock()
	e.shows[ref] = text
}

func TestWhatKeysLedTo(t *testing.T) {
	line, key := name, human.Element{Role: "button", Name: "7", Ref: "seven"}
	line.States = []string{"editable"}
	page := line
	page.States = []string{"editable", "multiline"}
	for what, tt := range map[string]struct {
		do     func(*fixture, teller)
		values []string
		masked string
	}{
		"a display that changed": {
			do: func(d *fixture, e teller) {
				d.focus(key)
				d.types("120+15=")
				e.show("display", "135")
			},
			values: []string{"135"},
		},
		"of two the larger": {
			do: func(d *fixture, e teller) {
				d.focus(key)
				d.types("2*3=")
				e.show("note", "2*3")
				e.show("display", "6")
			},
			values: []string{"6"},
		},
		"none that stays": {do: func(d *fixture, _ teller) { d.focus(key); d.types("jk") }},
		"none in a field that has its own value": {
			do: func(d *fixture, e teller) {
				d.focus(line)
				d.types("mei")
				e.show("display", "3 characters")
			},
			values: []string{"mei"},
		},
		"what a program made of a line after Enter": {
			do: func(d *fixture, _ teller) {
				d.focus(line)
				d.types("120+15")
				d.key("Enter")
				d.elements.at.Lock()
				d.elements.values[line.Ref] = "135"
				d.elements.at.Unlock()
			},
			values: []string{"135"},
		},
		"a line that Enter empties had what was typed": {
			do: func(d *fixture, _ teller) {
				d.focus(line)
				d.types("hello")
				d.key("Enter")
				d.elements.at.Lock()
				d.elements.values[line.Ref] = ""
				d.elements.at.Unlock()
			},
			values: []string{"hello"},
		},
		"in many lines Enter is one more": {
			do: func(d *fixture, _ teller) {
				d.focus(page)
				d.types("hello")
				d.key("Enter")
				d.elements.put("\nlater")
			},
			values: []string{"hello"},
		},
		"a secret is masked": {
			do: func(d *fixture, e teller) {
				d.focus(key)
				d.types("go")
				e.show("display", "token sk-4711abcd")
			},
			values: []string{"token •••"}, masked: "secret",
		},
		"nothing beside a password": {
			do: func(d *fixture, e teller) {
				d.focus(password)
				d.types("7391")
				e.show("display", "7391")
			},
		},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var e teller
				d := newFixture(t, record.Options{}, func(deps *record.Deps) {
					e = teller{deps.Elements.(*elements), map[string]string{"display": "0", "note": "-"}}
					deps.Elements = e
				})
				defer d.close()
				r := d.start(human.RecordingOptions{})
				d.activate(editor)
				tt.do(d, e)
				d.wait(2 * time.Second)
				d.stop()
				var values []string
				for _, v := range only(d.events(r.ID), human.ValueRead) {
					values = append(values, v.Text)
					if v.Hidden != tt.masked {
						t.Errorf("%q is hidden as %q, want %q", v.Text, v.Hidden, tt.masked)
					}
				}
				if !slices.Equal(values, tt.values) {
					t.Errorf("values %q, want %q", values, tt.values)
				}
			})
		})
	}
}

func TestAnOpenMenuIsPreferredToWhatLiesBeneath(t *testing.T) {
	beneath := human.Element{Role: "textbox", Name: "Document", Ref: "text", Bounds: human.Bounds{X: 0, Y: 0, W: 600, H: 400}}
	item := human.Element{Role: "menuitem", Name: "Select All", Ref: "item", Bounds: human.Bounds{X: 100, Y: 100, W: 120, H: 24}}
	for what, tt := range map[string]struct {
		do    func(*fixture)
		under *human.Element
		want  string
	}{
		"the item that is lit":            {func(d *fixture) { d.focus(item) }, &beneath, "Select All"},
		"though nothing is found":         {func(d *fixture) { d.focus(item) }, nil, "Select All"},
		"not when the menu has closed":    {func(d *fixture) { d.focus(item); d.focus(name) }, &beneath, "Document"},
		"not beside the item":             {func(d *fixture) { off := item; off.Bounds.X = 300; d.focus(off) }, &beneath, "Document"},
		"nor without an item that is lit": {func(d *fixture) { d.focus(name) }, &beneath, "Document"},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newFixture(t, record.Options{})
				defer d.close()
				r := d.start(human.RecordingOptions{})
				d.activate(editor)
				d.elements.under = tt.under
				tt.do(d)
				d.click(110, 110)
				d.wait(time.Second)
				rec := d.stop()
				seen := only(d.events(r.ID), human.ElementSeen)
				if len(seen) != 1 || seen[0].Element.Name != tt.want {
					t.Errorf("seen %+v, want %s", seen, tt.want)
				}
				i := slices.IndexFunc(rec.Sources, func(s human.SourceState) bool { return s.Source == human.ElementSource })
				if p := rec.Sources[i].Programs; len(p) != 1 || p[0] != (human.ProgramElements{Name: editor.App.Name, Presses: 1, Seen: 1}) {
					t.Errorf("the recording counts %+v", p)
				}
			})
		})
	}
}

func TestAProgramWithoutElementsIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, record.Options{})
		defer d.close()
		d.start(human.RecordingOptions{})
		d.activate(editor)
		d.click(50, 50)
		d.click(60, 50)
		d.wait(time.Second)
		for _, s := range d.stop().Sources {
			if s.Source == human.ElementSource && (len(s.Programs) != 1 || s.Programs[0] != (human.ProgramElements{Name: editor.App.Name, Presses: 2}) || !strings.HasPrefix(s.Detail, "0 elements seen in Editor (presses: 2)")) {
				t.Errorf("it says %+v, %q", s.Programs, s.Detail)
			}
		}
	})
}
