package actions

import "deskbell/backend/human"

// programReported makes an action of what a program says was done in it, where no input is seen. It stays apart from what was
// seen: who did it, and how, is not known.
func (d *Deriver) programReported(ev human.RecordedEvent, as human.ActionType) {
	el := ev.Element
	if el == nil || as == human.Focus && (el.Role == "unknown" || el.Role == "window" || el.Role == "document") {
		return
	}
	e := d.reportedLast(ev, as)
	if e == nil {
		d.rest(nil)
		e = d.begin(as, ev)
	} else {
		e.a.Type = as
		d.take(e, ev)
	}
	e.a.Reported, e.a.Element = true, el
	if as == human.ValueChange {
		e.a.Text, e.a.Count, e.a.Hidden = ev.Text, ev.Count, ev.Hidden
		hush(&e.a)
	}
}

// reportedLast is the last action where a report is more of the same: the field that has the keyboard is changed, or is
// changed further.
func (d *Deriver) reportedLast(ev human.RecordedEvent, as human.ActionType) *entry {
	if len(d.list) == 0 {
		return nil
	}
	e := d.list[len(d.list)-1]
	elsewhere := ev.Window != nil && e.a.Window != nil && ev.Window.ID != e.a.Window.ID
	if !e.a.Reported || e.gone || elsewhere || !same(e.a.Element, ev.Element) || e.a.Type == human.ValueChange && as != human.ValueChange {
		return nil
	}
	if e.a.Type == human.ValueChange && ev.Text == "" && ev.Hidden == "" { // a box that is checked and unchecked
		return nil
	}
	return e
}
