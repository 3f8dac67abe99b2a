package actions

import (
	"slices"
	"strings"
	"unicode/utf8"

	"deskbell/backend/human"
)

func (d *Deriver) pageTyped(t *tab, ev human.RecordedEvent) {
	e, since, late := d.field(t, ev)
	if e == nil {
		e = d.beginPage(human.Typing, t, ev)
		e.a.Values = ev.Values
	} else if late {
		d.join(e, ev)
	} else {
		d.take(e, ev)
		e.a.End = max(e.a.End, ev.At)
	}
	e.a.Value, e.a.Element, e.page.valued = ev.Text, ev.Element, true
	e.a.Hidden, e.a.SecretID = ev.Hidden, ev.SecretID // the last verdict counts
	if e.a.Type == human.Typing {
		e.a.Count = ev.Count
		if !filled(e.a) || len(ev.Values) == 0 {
			e.a.Values = nil // not all of it was the browser's
		}
	}
	hush(&e.a)
	if ev.Count == 0 && ev.Text == "" {
		e.a.Hidden, e.a.SecretID = "", 0 // that a field is empty is no secret
	}
	d.touch(e)
	if !late {
		d.acted(e, ev)
	}
	d.claim(e, claim{kinds: []human.ActionType{human.Typing}, from: since, to: ev.At + sameMoment})
	d.claim(e, claim{kinds: []human.ActionType{human.Shortcut}, key: "Backspace", from: since, to: ev.At + sameMoment})
}

// field is the action that ev has the outcome of, and since when keys were for it; late where something else
// has been done since: a field may say what stands in it only when it is left.
func (d *Deriver) field(t *tab, ev human.RecordedEvent) (e *entry, since int64, late bool) {
	since = d.web.heard
	if e = d.going(ev); e != nil && same(e.a.Element, ev.Element) {
		switch {
		case e.a.Type == human.Typing && (e.a.Key == "" || ev.Text == e.a.Value):
			return e, e.a.At, false
		case e.a.Type == human.Typing && e.a.Key == "Enter" && multiline(ev.Element) && strings.HasPrefix(ev.Text, e.a.Value):
			e.a.Key = "" // it began a line
			return e, e.a.At, false
		case (e.a.Type == human.Paste || e.a.Type == human.Copy && cut(e.a)) && !e.page.valued:
			return e, since, false
		case e.a.Type == human.Shortcut && erases(e.a.Key) && len(e.a.Modifiers) == 0:
			e.a.Type, e.a.Key = human.Typing, ""
			return e, since, false
		}
		return nil, since, false
	}
	for i := len(t.acts) - 1; i >= max(0, len(t.acts)-3); i-- {
		f := t.acts[i]
		if !f.gone && f.a.Type == human.Typing && sameFrame(f.a.Page, ev.Page) && same(f.a.Element, ev.Element) {
			if ev.Text == f.a.Value || ev.At <= f.a.End+causePause {
				return f, f.a.At, true
			}
			break
		}
	}
	return nil, since, false
}

// filled says whether the browser filled a field in, and nobody typed.
func filled(a human.Action) bool {
	return a.Page != nil && a.Type == human.Typing && len(a.Values) > 0 && a.Values[0] == "filled"
}

func multiline(e *human.Element) bool {
	return e != nil && (e.Tag == "textarea" || slices.Contains(e.States, "multiline"))
}

func erases(key string) bool { return key == "Backspace" || key == "Delete" }

func cut(a human.Action) bool {
	return len(a.Values) > 0 && a.Values[0] == "cut" || strings.EqualFold(a.Key, "x")
}

func (d *Deriver) chosen(t *tab, ev human.RecordedEvent) {
	kind := human.Choose
	if checkable(ev) {
		kind = human.Check
	}
	e := d.going(ev)
	if e != nil && !d.leadsTo(e, kind, ev) {
		e = nil
	}
	if e == nil {
		e = d.beginPage(kind, t, ev)
	} else {
		d.take(e, ev)
	}
	e.a.Type, e.a.Element, e.a.Values, e.a.Count = kind, ev.Element, ev.Values, 0
	e.page.chosen = true
	if kind == human.Choose { // a list that shows its options is chosen from by the pointer
		e.a.Button, e.a.Modifiers = 0, nil
	}
	if ev.Hidden != "" {
		e.a.Hidden = ev.Hidden
	}
	hush(&e.a)
	d.web.press = nil
	since := min(max(e.a.At, ev.At-answerTime)-sameMoment, ev.At-clickLate)
	if kind == human.Check { // by a key it may be, which is held for a moment
		since = max(ev.At-clickLate, d.web.heard)
	}
	d.acted(e, ev)
	// What opens to choose from is the browser's own.
	d.claim(e, claim{kinds: nativeKinds, from: since, to: ev.At + sameMoment})
}

// nativeKinds is what is done on the desktop to what a browser shows beside its page.
var nativeKinds = []human.ActionType{human.Click, human.DoubleClick, human.Drag, human.Shortcut, human.Scroll, human.Typing}

// leadsTo says whether e is how the choice that ev reports was made.
func (d *Deriver) leadsTo(e *entry, kind human.ActionType, ev human.RecordedEvent) bool {
	is := same(e.a.Element, ev.Element)
	switch e.a.Type {
	case human.Check:
		return kind == human.Check && is && !e.page.chosen && ev.At-e.a.End <= causePause
	case human.Choose:
		return kind == human.Choose && is && (!e.page.chosen || ev.At-e.a.End <= keyPause || !isList(ev.Element))
	case human.Click:
		return is || kind == human.Check && e.page.clicked && ev.At-e.a.End <= clickPause || kind == human.Choose && !e.page.clicked && option(e.a.Element)
	case human.Drag:
		return is && kind == human.Choose
	case human.Shortcut:
		return is && len(e.a.Modifiers) == 0 && ev.At-e.a.End <= causePause
	}
	return false
}

// isList says whether each change of a field is a choice of its own, and not a step to one, as those of sliders and dates are.
func isList(e *human.Element) bool { return e != nil && e.Tag == "select" }

func option(e *human.Element) bool { return e != nil && e.Role == "option" }

// checkable says whether a choice is of a box that is checked or not.
func checkable(ev human.RecordedEvent) bool {
	if len(ev.Values) != 1 || ev.Values[0] != "checked" && ev.Values[0] != "unchecked" {
		return false
	}
	e := ev.Element
	if e == nil {
		return true
	}
	switch e.Role {
	case "checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio":
		return true
	}
	return e.Tag == "input/checkbox" || e.Tag == "input/radio"
}

func (d *Deriver) pageKey(t *tab, ev human.RecordedEvent) {
	if modifierKeys[ev.Key] || composing[ev.Key] || ev.Key == "" {
		return
	}
	e := d.going(ev)
	switch {
	case e != nil && e.a.Type == human.Typing && len(ev.Modifiers) == 0 && (same(e.a.Element, ev.Element) || ev.Element == nil) && e.a.Key == "" &&
		(ev.Key == "Enter" || ev.Key == "Tab" || erases(ev.Key)):
		d.take(e, ev)
		if !erases(ev.Key) { // it sends or leaves the field, and so belongs to what was done in it
			e.a.Key = ev.Key
			if ev.Element != nil && e.a.Element != nil {
				el := *e.a.Element
				el.Form, el.Shows, el.Says = ev.Element.Form, ev.Element.Shows, ev.Element.Says
				e.a.Element = &el
			}
		}
	case e != nil && e.a.Type == human.Choose && same(e.a.Element, ev.Element) && !slices.Contains(ev.Modifiers, "ctrl") && steers[ev.Key]:
		d.take(e, ev)
	case e != nil && e.a.Type == human.Shortcut && e.a.Key == ev.Key && slices.Equal(e.a.Modifiers, ev.Modifiers) && ev.At-e.a.End <= keyPause:
		d.take(e, ev)
		e.a.Count++
	default:
		e = d.beginPage(human.Shortcut, t, ev)
		e.a.Key, e.a.Count = ev.Key, 1
	}
	if makesText(ev) || ev.Key == " " {
		if ev.Key != " " {
			e = d.letters(t, e, ev)
		}
		d.acted(e, ev)
		d.claim(e, claim{kinds: []human.ActionType{human.Typing}, from: ev.At - sameMoment, to: ev.At + sameMoment})
		return
	}
	d.acted(e, ev)
	d.claim(e, claim{kinds: keyKinds, key: ev.Key, from: ev.At - sameMoment, to: ev.At + sameMoment})
}

// makesText says whether a key makes text, where there is no field for it. One alone is a command of the page.
func makesText(ev human.RecordedEvent) bool {
	return utf8.RuneCountInString(ev.Key) == 1 && ev.Key != " " && !slices.ContainsFunc(ev.Modifiers, func(m string) bool { return m != "shift" })
}

// letters makes three letters and more in a row a typing: whatever takes them, such as a picture of another
// screen, they may be words, and no one's but the operator's.
func (d *Deriver) letters(t *tab, e *entry, ev human.RecordedEvent) *entry {
	if e.a.Type == human.Typing {
		return e
	}
	at := slices.Index(t.acts, e)
	if at < 0 {
		at = len(t.acts)
	}
	run := []*entry{e}
	text := strings.Repeat(e.a.Key, e.a.Count)
	for i := at - 1; i >= 0; i-- {
		f := t.acts[i]
		if f.gone || !sameFrame(f.a.Page, e.a.Page) || run[0].a.At-f.a.End > keyPause || f.idx > e.idx {
			break
		}
		if f.a.Type == human.Typing && f.a.Key == "" && f.a.Value == "" && f.a.Text != "" {
			f.a.Text += text
			f.a.Count += utf8.RuneCountInString(text)
			for _, r := range run {
				d.swallow(f, r)
			}
			return f
		}
		if f.a.Type != human.Shortcut || !makesText(human.RecordedEvent{Key: f.a.Key, Modifiers: f.a.Modifiers}) {
			break
		}
		run = slices.Insert(run, 0, f)
		text = strings.Repeat(f.a.Key, f.a.Count) + text
	}
	if len(run) < 3 {
		return e
	}
	first := run[0]
	first.a.Type, first.a.Key, first.a.Modifiers, first.a.Text, first.a.Count = human.Typing, "", nil, text, utf8.RuneCountInString(text)
	for _, r := range run[1:] {
		d.swallow(first, r)
	}
	return first
}

var keyKinds = []human.ActionType{human.Shortcut, human.Copy, human.Paste}

// steers are the keys that change what a list or slider stands at.
var steers = map[string]bool{
	"ArrowUp": true, "ArrowDown": true, "ArrowLeft": true, "ArrowRight": true, "Home": true, "End": true, "PageUp": true, "PageDown": true,
	"Enter": true, " ": true, "Escape": true,
}

func (d *Deriver) pageCopied(t *tab, ev human.RecordedEvent) {
	kind := human.Copy
	if ev.Type == human.PagePasted {
		kind = human.Paste
	}
	e := d.going(ev)
	if e != nil && e.a.Type == human.Shortcut && e.a.Count == 1 && len(e.a.Modifiers) > 0 && ev.At-e.a.End <= causePause {
		d.take(e, ev)
		e.a.Type = kind
	} else {
		e = d.beginPage(kind, t, ev)
	}
	e.a.Count, e.a.Text, e.a.Values = ev.Count, ev.Text, ev.Values
	if ev.Element != nil {
		e.a.Element = ev.Element
	}
	if ev.Hidden != "" {
		e.a.Hidden = ev.Hidden
	}
	hush(&e.a)
	d.acted(e, ev)
	d.claim(e, claim{kinds: []human.ActionType{kind}, from: ev.At - clickPause, to: ev.At + clickPause})
}
