package actions

import "deskbell/backend/human"

// reshapeSlop is how far a window may be from where the pointer would have it: it is looked at a moment later, or
// earlier, and snaps to edges and lines of text.
const reshapeSlop = 48

// reshaped makes the moving or resizing of a window of the drag that the active window, which stood at was, has followed.
// Whatever the pointer held then was the window's, and not an element in it.
func (d *Deriver) reshaped(was human.Bounds, ev human.RecordedEvent) {
	e, now := d.press, ev.Window.Bounds
	if e == nil || !e.drag || was == now || ev.At-e.a.End > causePause {
		return
	}
	if e.stood == nil {
		e.stood = &was
	}
	how := reshaping(*e.stood, now, e.a)
	if how == "" {
		return
	}
	window := *ev.Window
	window.Bounds = *e.stood
	e.a.Type, e.a.App, e.a.Window, e.a.Element, e.a.Target = how, ev.App, &window, nil, nil
	d.join(e, ev)
}

// reshaping says what a drag made of a window, "" where it was not the drag.
func reshaping(from, to human.Bounds, a human.Action) human.ActionType {
	dx, dy := a.ToX-a.X, a.ToY-a.Y
	follows := func(moved, by int) bool { return moved-by <= reshapeSlop && by-moved <= reshapeSlop }
	if from.W == to.W && from.H == to.H {
		if follows(to.X-from.X, dx) && follows(to.Y-from.Y, dy) {
			return human.MoveWindow
		}
		return ""
	}
	// Each edge stays, or goes with the pointer.
	edge := func(moved, by int) bool { return moved == 0 || follows(moved, by) }
	switch {
	case edge(to.X-from.X, dx) && edge(to.Y-from.Y, dy) && edge(to.X+to.W-from.X-from.W, dx) && edge(to.Y+to.H-from.Y-from.H, dy):
		return human.ResizeWindow
	case a.Y < from.Y && a.X >= from.X && a.X < from.X+from.W: // by its title bar into an edge of the screen, which makes it large
		return human.MoveWindow
	}
	return ""
}

// reshapes says whether an action moves or resizes a window.
func reshapes(t human.ActionType) bool { return t == human.MoveWindow || t == human.ResizeWindow }
