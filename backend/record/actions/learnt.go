package actions

import (
	"strings"

	"deskbell/backend/human"
)

func (d *Deriver) element(ev human.RecordedEvent) {
	e := d.own[ev.CausedBy]
	if e == nil || ev.Element == nil {
		return
	}
	d.join(e, ev)
	if ev.Window != nil {
		e.a.App, e.a.Window = ev.App, ev.Window
	}
	switch {
	case reshapes(e.a.Type):
		return // it is behind the window's edge
	case e.a.Type == human.Drag && ev.CausedBy != e.a.Seqs[0]:
		e.a.Target = ev.Element
	case e.presses > 1 && ev.CausedBy >= e.again.Seq:
		e.againElement = ev.Element
	default:
		e.a.Element = d.inMenu(e, ev.Element)
	}
	hush(&e.a)
}

// inMenu completes the path of a menu item whose toolkit does not say where its menu belongs, from the
// click before it.
func (d *Deriver) inMenu(e *entry, el *human.Element) *human.Element {
	if !strings.HasPrefix(el.Role, "menuitem") || e.idx == 0 {
		return el
	}
	for _, a := range el.Ancestry {
		if isMenu(a.Role) && a.Name != "" {
			return el
		}
	}
	before := d.list[e.idx-1]
	if up := before.a.Element; up != nil && before.page == nil && before.a.Type == human.Click && e.a.At-before.a.End <= 5*tempPause && isMenu(up.Role) {
		full := *el
		full.Ancestry = []human.Element{{Role: up.Role, Name: up.Name, Hidden: up.Hidden}}
		for _, a := range up.Ancestry {
			if isMenu(a.Role) {
				full.Ancestry = append(full.Ancestry, a)
			}
		}
		full.Ancestry = append(full.Ancestry, el.Ancestry...)
		return &full
	}
	return el
}

func isMenu(role string) bool { return role == "menu" || strings.HasPrefix(role, "menuitem") }

// await has e get the nearest picture after it, until one comes that was taken for it.
func (d *Deriver) await(e *entry) {
	if e.page == nil && !e.shows && (len(d.waiting) == 0 || d.waiting[len(d.waiting)-1] != e) {
		e.a.After = ""
		d.waiting = append(d.waiting, e)
	}
}

func (d *Deriver) picture(ev human.RecordedEvent) {
	if e := d.own[ev.CausedBy]; e != nil && ev.Picture != "" && (e.page != nil) == (ev.Source == human.BrowserSource) {
		if ev.When == "before" {
			if e.a.Before == "" {
				e.a.Before = ev.Picture
			}
		} else {
			e.a.After, e.shows = ev.Picture, true
		}
		d.touch(e)
	}
	if ev.Source == human.BrowserSource {
		d.pageShot(ev)
		return
	}
	rest := d.waiting[:0]
	for _, e := range d.waiting {
		switch {
		case e.shows || e.gone:
		case ev.At < e.a.End || ev.Picture == "" || ev.When == "before" && d.own[ev.CausedBy] == e:
			rest = append(rest, e)
		default:
			e.a.After = ev.Picture
			d.touch(e)
		}
	}
	d.waiting = rest
}
