package actions

import (
	"slices"
	"strings"

	"deskbell/backend/human"
)

func (d *Deriver) keyDown(ev human.RecordedEvent) {
	d.input = ev.At
	switch {
	case ev.Key == "Meta" && len(others(ev.Modifiers)) == 0:
		if d.meta == nil {
			d.rest(d.typing)
			d.meta = d.begin(human.Shortcut, ev)
			d.meta.a.Key, d.meta.a.Count = ev.Key, 1
			d.drop(d.meta) // until it is released with nothing in between
		}
		return
	case modifierKeys[ev.Key]:
		return
	case ev.Key == "" || composing[ev.Key]:
		e := d.typing
		d.rest(e)
		if e == nil {
			e = d.begin(human.Typing, ev)
			e.a.Element = d.focus
			hush(&e.a)
			d.typing, d.typed = e, e
		} else {
			d.take(e, ev)
			d.await(e)
		}
		e.strokes = append(e.strokes, stroke{ev.Seq, ev.At})
		if ev.Key == "" {
			e.a.Count++ // until its text says how many characters they made
		}
		return
	case len(ev.Modifiers) == 0 && (ev.Key == "Backspace" && d.typing != nil || ev.Key == "Tab" && d.typed != nil && d.typed.a.Key == ""):
		e := d.typing
		if e == nil {
			e = d.typed
		}
		d.rest(e)
		d.take(e, ev)
		d.await(e)
		d.keys[ev.Key] = e
		if ev.Key == "Tab" { // it leaves the field, and so belongs to what was done in it
			e.a.Key = "Tab"
			d.typing, d.typed = nil, nil
		}
		return
	}
	t := d.shortcut(ev)
	if e := d.key; e != nil && t == human.Shortcut && e.a.Key == ev.Key && slices.Equal(e.a.Modifiers, ev.Modifiers) && ev.At-e.a.End <= keyPause {
		d.rest(e)
		d.take(e, ev)
		d.await(e)
		e.a.Count++
		d.keys[ev.Key] = e
		return
	}
	d.rest(nil)
	e := d.begin(t, ev)
	e.a.Key, e.a.Modifiers, e.a.Element = ev.Key, ev.Modifiers, d.focus
	d.keys[ev.Key] = e
	switch t {
	case human.Shortcut:
		e.a.Count = 1
		d.key = e
	case human.Copy:
		d.copied = e
	case human.Paste:
		if d.clip != nil && d.clip.ContentKind == "text" {
			e.a.Count, e.a.Hidden = d.clip.Count, d.clip.Hidden
			if e.a.Count == 0 {
				e.a.Count = len([]rune(d.clip.Text))
			}
		}
	}
}

// modifierKeys do nothing by themselves.
var modifierKeys = map[string]bool{
	"Control": true, "Shift": true, "Alt": true, "AltGraph": true, "Meta": true, "CapsLock": true, "NumLock": true,
	"ScrollLock": true, "Fn": true, "FnLock": true, "Hyper": true, "Super": true, "Symbol": true, "SymbolLock": true,
}

// composing keys make no text by themselves, but are on the way to one.
var composing = map[string]bool{"Dead": true, "Compose": true, "Process": true}

func others(modifiers []string) []string {
	return slices.DeleteFunc(slices.Clone(modifiers), func(m string) bool { return m == "meta" })
}

// shortcut separates copying and pasting from other shortcuts. In a terminal Ctrl+C stops a program.
func (d *Deriver) shortcut(ev human.RecordedEvent) human.ActionType {
	has := func(m string) bool { return slices.Contains(ev.Modifiers, m) }
	command := (has("ctrl") || has("meta")) && !has("alt")
	terminal := d.focus != nil && d.focus.Role == "terminal"
	if d.app != nil && !terminal {
		name := strings.ToLower(d.app.Name + " " + d.app.Exe)
		terminal = strings.Contains(name, "term") || strings.Contains(name, "konsole")
	}
	if terminal && has("ctrl") && !has("shift") {
		command = false
	}
	switch key := strings.ToLower(ev.Key); {
	case command && (key == "c" || key == "x" || key == "insert"):
		return human.Copy
	case command && key == "v", key == "insert" && slices.Equal(ev.Modifiers, []string{"shift"}):
		return human.Paste
	}
	return human.Shortcut
}

func (d *Deriver) keyUp(ev human.RecordedEvent) {
	if e := d.meta; e != nil && ev.Key == "Meta" {
		d.take(e, ev)
		d.revive(e)
		d.meta, d.key = nil, e
		return
	}
	if ev.Key == "" {
		if e := d.typing; e != nil {
			d.join(e, ev)
		}
		return
	}
	if e := d.keys[ev.Key]; e != nil {
		d.join(e, ev)
		delete(d.keys, ev.Key)
	}
}

// text joins what was typed to the keys that made it. What the recorder saw as one run is one action.
func (d *Deriver) text(ev human.RecordedEvent) {
	until := max(ev.Until, ev.CausedBy)
	var e *entry
	for i := len(d.list) - 1; i >= 0 && ev.CausedBy > 0; i-- {
		f := d.list[i]
		first := f.a.Seqs[0]
		if f.a.Type == human.Typing && !f.gone && f.texts == 0 && first <= until && f.typedSince(ev.CausedBy) {
			if e != nil {
				d.merge(f, e)
			}
			e = f
		}
		if first <= ev.CausedBy {
			break
		}
	}
	if e == nil {
		e = d.begin(human.Typing, ev)
		e.a.Element = d.focus
	} else {
		d.later(e, until)
		d.join(e, ev)
	}
	if d.typing == e {
		d.typing = nil
	}
	e.texts++
	e.a.Count, e.a.Text, e.a.Hidden = ev.Count, ev.Text, ev.Hidden
	if ev.Element != nil {
		e.a.Element = ev.Element
	}
	hush(&e.a)
}

func (e *entry) typedSince(seq uint64) bool {
	return len(e.strokes) > 0 && e.strokes[len(e.strokes)-1].seq >= seq
}

// later splits off the keys that came after those of a text: another text will have them.
func (d *Deriver) later(e *entry, until uint64) {
	at := 0
	for at < len(e.strokes) && e.strokes[at].seq <= until {
		at++
	}
	if at == 0 || at == len(e.strokes) {
		return
	}
	strokes := e.strokes[at:]
	n := d.split(e, strokes[0].seq-1, human.Action{
		Type: human.Typing, At: strokes[0].at, End: e.a.End, Count: len(strokes), Key: e.a.Key, Element: d.focus, App: e.a.App, Window: e.a.Window,
	})
	n.strokes, e.strokes = strokes, e.strokes[:at:at]
	e.a.End, e.a.Key = max(e.a.At, e.strokes[at-1].at), ""
	if d.typing == e {
		d.typing = n
	}
	if d.typed == e {
		d.typed = n
	}
}

// hush takes out what a secret field's action must not say, whatever the recorder let through. A text in
// which secrets were masked stays.
func hush(a *human.Action) {
	if a.Hidden == "" && a.Element != nil && a.Element.Secret {
		a.Hidden = "password"
	}
	if a.Hidden != "" && a.Hidden != "secret" {
		a.Text, a.Value = "", ""
	}
}

// value joins what stood in a field to what was last typed or pasted into it.
func (d *Deriver) value(ev human.RecordedEvent) {
	e := d.own[ev.CausedBy]
	for i := len(d.list) - 1; e == nil && i >= max(0, len(d.list)-20); i-- {
		if f := d.list[i]; !f.gone && f.page == nil && (f.a.Type == human.Typing || f.a.Type == human.Paste) {
			e = f
		}
	}
	if e == nil || e.a.Type != human.Typing && e.a.Type != human.Paste {
		return
	}
	d.join(e, ev)
	if e.a.Element == nil {
		e.a.Element = ev.Element
	}
	e.a.Value = ev.Text
	if ev.Hidden != "" && ev.Hidden != "secret" || ev.Element != nil && ev.Element.Secret {
		e.a.Value = ""
	}
	hush(&e.a)
}
