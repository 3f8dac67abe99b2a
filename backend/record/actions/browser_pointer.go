package actions

import (
	"slices"
	"strconv"
	"strings"

	"deskbell/backend/human"
)

func (d *Deriver) pagePressed(t *tab, ev human.RecordedEvent) {
	e := d.going(ev)
	if e != nil && e.a.Type == human.Hover && same(e.a.Element, ev.Element) {
		d.take(e, ev)
		e.a.Type, e.a.Element = human.Click, ev.Element
		e.a.X, e.a.Y, e.a.Button, e.a.Modifiers = ev.X, ev.Y, ev.Button, ev.Modifiers
	} else {
		e = d.beginPage(human.Click, t, ev)
	}
	e.page.presses = 1
	d.acted(e, ev)
	d.web.press = e
	d.claim(e, claim{kinds: pointerKinds, button: ev.Button, from: ev.At - sameMoment, to: ev.At + sameMoment, press: true})
}

var pointerKinds = []human.ActionType{human.Click, human.DoubleClick, human.TripleClick, human.Drag}

func (d *Deriver) pageClicked(t *tab, ev human.RecordedEvent) {
	w := d.web
	if e := w.press; e != nil && sameFrame(e.a.Page, ev.Page) && e.a.Button == ev.Button && !e.gone {
		w.press = nil
		d.take(e, ev)
		e.page.clicked = true
		if e.a.Element == nil {
			e.a.Element = ev.Element
		} else if el := ev.Element; el != nil && e.a.Element.Bounds == (human.Bounds{}) && same(e.a.Element, el) {
			placed := *e.a.Element
			placed.Bounds = el.Bounds // to ask for it at the press would have held up the page
			e.a.Element = &placed
		}
		e = d.again(t, e, ev)
		d.acted(e, ev)
		d.checkedBy(e, ev)
		return
	}
	e := d.going(ev)
	switch {
	case e == nil:
	case e.a.Type == human.Choose && e.page.chosen && (option(ev.Element) || same(e.a.Element, ev.Element)) && ev.At-e.a.End <= clickPause:
		d.take(e, ev) // a list is chosen from when it is pressed, and clicked afterwards
		return
	case e.page.clicked && ev.At-e.a.End <= sameMoment:
		// The browser clicks what a label is for.
		d.take(e, ev)
		d.checkedBy(e, ev)
		return
	case e.a.Type == human.Typing && e.a.Key == "Enter" && ev.At-e.a.End <= clickPause:
		d.take(e, ev) // and the button that sends a form, on Enter
		return
	case e.a.Type == human.Shortcut && (e.a.Key == "Enter" || e.a.Key == " ") && len(e.a.Modifiers) == 0 && ev.At-e.a.End <= clickLate && same(e.a.Element, ev.Element):
		d.take(e, ev)
		e.a.Type, e.a.Count, e.a.Button, e.a.Element = human.Click, 0, ev.Button, ev.Element
		e.page.clicked = true
		d.acted(e, ev)
		d.checkedBy(e, ev)
		return
	}
	e = d.beginPage(human.Click, t, ev)
	e.page.clicked, e.page.presses = true, 1
	d.acted(e, ev)
	d.checkedBy(e, ev)
}

// again makes the second and third of clicks on one element a double and a triple click.
func (d *Deriver) again(t *tab, e *entry, ev human.RecordedEvent) *entry {
	n := (ev.Count-1)%3 + 1
	at := slices.Index(t.acts, e)
	if ev.Count < 2 || n == 1 || at < 1 {
		return e
	}
	was := t.acts[at-1]
	if was.gone || was.idx > e.idx || was.page.presses != n-1 || was.a.Type != clicks(n-1) || was.a.Button != e.a.Button || !sameFrame(was.a.Page, e.a.Page) ||
		!same(was.a.Element, e.a.Element) || !slices.Equal(was.a.Modifiers, e.a.Modifiers) {
		return e
	}
	d.swallow(was, e)
	was.page.presses = n
	was.a.Type = clicks(n)
	return was
}

// checkedBy makes a click that says what became of a box a check of it.
func (d *Deriver) checkedBy(e *entry, ev human.RecordedEvent) {
	if len(ev.Values) > 0 && (e.a.Type == human.Click || e.a.Type == human.Check) {
		e.a.Type, e.a.Values, e.a.Element = human.Check, ev.Values, ev.Element
		d.touch(e)
	}
}

func (d *Deriver) pageDragged(t *tab, ev human.RecordedEvent) {
	e := d.web.press
	if e == nil || e.gone || e.a.Page.Target != ev.Page.Target {
		if e = d.going(ev); e != nil && (e.a.Type != human.Click || e.a.X != ev.X || e.a.Y != ev.Y) {
			e = nil
		}
	}
	if e == nil {
		e = d.beginPage(human.Drag, t, ev)
		d.claim(e, claim{kinds: []human.ActionType{human.Drag}, from: ev.At - turnPause, to: ev.At + sameMoment})
	} else {
		d.take(e, ev)
	}
	d.web.press = nil
	e.page.clicked = true
	e.a.Type, e.a.ToX, e.a.ToY, e.a.Target = human.Drag, ev.ToX, ev.ToY, ev.Target
	if e.a.Element == nil {
		e.a.Element = ev.Element
	}
	d.acted(e, ev)
}

func (d *Deriver) hovered(t *tab, ev human.RecordedEvent) {
	e := d.going(ev)
	if e != nil && e.a.Type == human.Hover && same(e.a.Element, ev.Element) {
		d.take(e, ev)
	} else {
		e = d.beginPage(human.Hover, t, ev)
	}
	d.acted(e, ev)
}

func (d *Deriver) pageScrolled(t *tab, ev human.RecordedEvent) {
	key := scroller(ev.Page, ev.Element)
	if t.places == nil {
		t.places = map[string][2]int{}
	}
	was := t.places[key]
	t.places[key] = [2]int{ev.ToX, ev.ToY}
	// A notch of a wheel is about 100 pixels.
	dx, dy := float64(ev.ToX-was[0])/100, float64(ev.ToY-was[1])/100
	since := max(d.web.heard, ev.At-turnPause)
	e := d.going(ev)
	if e == nil || e.a.Type != human.Scroll || ev.At-e.a.End > turnPause || scroller(e.a.Page, e.a.Element) != key ||
		e.a.DeltaX*dx < 0 || e.a.DeltaY*dy < 0 {
		e = d.beginPage(human.Scroll, t, ev)
	} else {
		d.take(e, ev)
		since = e.a.At
	}
	e.a.ToX, e.a.ToY = ev.ToX, ev.ToY
	e.a.DeltaX += dx
	e.a.DeltaY += dy
	d.acted(e, ev)
	d.claim(e, claim{kinds: []human.ActionType{human.Scroll}, from: since, to: ev.At + sameMoment})
}

// scroller names what was scrolled.
func scroller(page *human.WebPage, e *human.Element) string {
	var b strings.Builder
	for _, n := range page.Frame {
		b.WriteString(strconv.Itoa(n) + "/")
	}
	if e != nil {
		b.WriteString(e.Role + "\x00" + e.Name)
		if n := len(e.Selectors); n > 0 {
			b.WriteString("\x00" + strings.Join(e.Selectors[n-1], "\x00"))
		}
	}
	return b.String()
}
