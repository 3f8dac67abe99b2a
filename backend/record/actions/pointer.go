package actions

import (
	"slices"

	"deskbell/backend/human"
)

func (d *Deriver) pressed(ev human.RecordedEvent) {
	d.input = ev.At
	e := d.click
	d.rest(e)
	if e != nil && d.held == nil && e.a.Button == ev.Button && e.presses < 3 && ev.At-e.lastPress <= clickPause &&
		near(e.a.X, e.a.Y, ev) && slices.Equal(e.a.Modifiers, ev.Modifiers) {
		e.again, e.againEnd, e.againElement = ev, e.a.End, nil
		d.take(e, ev)
		e.presses++
		e.a.Type = clicks(e.presses)
	} else {
		e = d.begin(human.Click, ev)
		e.presses = 1
		e.a.Button, e.a.X, e.a.Y, e.a.Modifiers = ev.Button, ev.X, ev.Y, ev.Modifiers
	}
	e.lastPress = ev.At
	e.moves = nil
	d.press, d.held, d.click = e, e, nil
	d.down[ev.Button] = e
}

func clicks(n int) human.ActionType {
	return [...]human.ActionType{human.Click, human.Click, human.DoubleClick, human.TripleClick}[n]
}

func near(x, y int, ev human.RecordedEvent) bool {
	dx, dy := ev.X-x, ev.Y-y
	return dx*dx+dy*dy <= clickSlop*clickSlop
}

func (d *Deriver) moved(ev human.RecordedEvent) {
	e := d.held
	if e == nil {
		return
	}
	if !e.drag && near(e.a.X, e.a.Y, ev) {
		e.moves = append(e.moves, ev.Seq)
		return
	}
	e = d.dragging(e)
	d.take(e, ev)
	e.a.ToX, e.a.ToY = ev.X, ev.Y
}

// dragging makes a press that moved a drag: of its own where it was the second of a double click.
func (d *Deriver) dragging(e *entry) *entry {
	if e.drag {
		return e
	}
	button := e.a.Button
	if e.presses > 1 {
		again := e.again
		like := human.Action{
			Type: human.Drag, At: again.At, End: again.At, Button: button, X: again.X, Y: again.Y, Modifiers: again.Modifiers,
			Element: e.againElement, App: e.a.App, Window: e.a.Window,
		}
		n := d.split(e, again.Seq-1, like)
		n.moves = e.moves
		e.presses--
		e.a.Type, e.a.End, e.moves = clicks(e.presses), e.againEnd, nil
		d.down[button] = n
		if d.held == e {
			d.held = n
		}
		e = n
	}
	e.drag = true
	e.a.Type, e.a.ToX, e.a.ToY = human.Drag, e.a.X, e.a.Y
	e.a.Seqs = append(e.a.Seqs, e.moves...)
	slices.Sort(e.a.Seqs)
	e.moves = nil
	d.touch(e)
	return e
}

func (d *Deriver) released(ev human.RecordedEvent) {
	e := d.down[ev.Button]
	if e == nil {
		return // pressed before the recording began
	}
	if e.drag || !near(e.a.X, e.a.Y, ev) {
		e = d.dragging(e)
		e.a.ToX, e.a.ToY = ev.X, ev.Y
	} else {
		d.click = e
	}
	d.take(e, ev)
	e.moves = nil
	delete(d.down, ev.Button)
	if d.held == e {
		d.held = nil
	}
	d.await(e)
}

func (d *Deriver) scrolled(ev human.RecordedEvent) {
	d.input = ev.At
	e := d.scroll
	d.rest(e)
	if e == nil || ev.At-e.a.End > scrollPause || !slices.Equal(e.a.Modifiers, ev.Modifiers) ||
		e.a.DeltaX*ev.DeltaX < 0 || e.a.DeltaY*ev.DeltaY < 0 || !over(e, ev) {
		e = d.begin(human.Scroll, ev)
		e.a.X, e.a.Y, e.a.Modifiers = ev.X, ev.Y, ev.Modifiers
		d.scroll = e
	} else {
		d.take(e, ev)
		d.await(e)
	}
	e.a.DeltaX += ev.DeltaX
	e.a.DeltaY += ev.DeltaY
	e.a.Count = int(max(e.a.DeltaX, -e.a.DeltaX) + max(e.a.DeltaY, -e.a.DeltaY) + 0.5)
}

// over says whether the pointer is still over what e scrolls, as far as that is known.
func over(e *entry, ev human.RecordedEvent) bool {
	if el := e.a.Element; el != nil && el.Bounds.W > 0 {
		return el.Bounds.Contains(ev.X, ev.Y)
	}
	if w := e.a.Window; w != nil && w.Bounds.W > 0 {
		return w.Bounds.Contains(ev.X, ev.Y) == w.Bounds.Contains(e.a.X, e.a.Y)
	}
	return true
}
