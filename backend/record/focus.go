package record

import (
	"context"
	"slices"

	"deskbell/backend/human"
)

const maxValue = 8 << 10 // bytes; what is longer is a document and not a field

// A focus looks up what has the keyboard. It is safe for concurrent use.
type focus struct {
	elements Elements
	guards   []Guard
	mask     *mask
}

// An answer is what a look-up says of the keyboard.
type answer struct {
	in      Placed
	element *human.Element // nil: it cannot be said
	shown   *human.Element // the same, masked
	guarded bool           // a guard says that what is typed is secret
	unknown bool           // it could not be said in time, or at all
	read    bool           // the value was read
	denied  bool           // it may not be: the field is secret
	value   string
	masked  string
	texts   []human.Element // that the window shows, where nothing in it is typed into
}

// A question is what a look-up is to answer.
type question struct {
	in    Placed
	blind bool           // elements cannot be looked up
	field *human.Element // whose value to read; nil: that of the element found, where first is set
	first bool           // it is a run's first
	value bool           // a value is to be read
}

func (f *focus) answer(ctx context.Context, q question) answer {
	a := answer{in: q.in, unknown: q.blind}
	for _, g := range f.guards {
		secret, err := g.Secret(ctx, q.in)
		a.guarded = a.guarded || secret
		a.unknown = a.unknown || err != nil
	}
	if q.blind {
		return a
	}
	field := q.field
	el, err := f.elements.Focused(ctx, q.in)
	switch {
	case err == nil:
		shown, _ := f.mask.element(el)
		a.element, a.shown = &el, &shown
		if q.first && !el.Secret {
			field = &el
		}
	case human.KindOf(err) != human.NotFound:
		a.unknown = true
	}
	if q.value && field != nil {
		f.read(ctx, *field, &a)
	}
	if q.first && !a.guarded && !takesText(a.element) {
		a.texts = f.texts(ctx, q.in)
	}
	return a
}

// takesText says whether what is typed stands in the element itself, or may be secret there.
func takesText(e *human.Element) bool {
	return e != nil && (e.Secret || e.Role == "terminal" || slices.Contains(e.States, "editable"))
}

// texts are what a window shows, where the system says so.
func (f *focus) texts(ctx context.Context, in Placed) []human.Element {
	d, can := f.elements.(Displayer)
	if !can {
		return nil
	}
	texts, err := d.Shown(ctx, in)
	if err != nil {
		return nil // then it is not known what keys led to
	}
	return texts
}

// display is the element among texts that shows another text than before: of several the largest.
func display(before, after []human.Element) (changed human.Element, found bool) {
	was := map[string]string{}
	for _, e := range before {
		was[e.Ref] = e.Name
	}
	for _, e := range after {
		if old, there := was[e.Ref]; there && old != e.Name && e.Name != "" && (!found || e.Bounds.H > changed.Bounds.H) {
			changed, found = e, true
		}
	}
	return changed, found
}

// read reads what a field holds. A terminal's is no field's: all that it has printed.
func (f *focus) read(ctx context.Context, e human.Element, a *answer) {
	if e.Role == "terminal" {
		return
	}
	text, err := f.elements.Value(ctx, e)
	switch {
	case err == nil && len(text) <= maxValue:
		a.read, a.value = true, text
		a.masked, _ = f.mask.text(text)
	case err != nil && human.KindOf(err) == human.Denied:
		a.denied = true
	}
}
