package record

import "deskbell/backend/human"

// topmost returns the topmost window that contains the point.
func topmost(visible []Placed, x, y int) (Placed, bool) {
	for _, p := range visible {
		if p.Window.Bounds.Contains(x, y) {
			return p, true
		}
	}
	return Placed{}, false
}

// without returns what of a rectangle the others leave.
func without(b human.Bounds, others []human.Bounds) []human.Bounds {
	left := []human.Bounds{b}
	for _, o := range others {
		var next []human.Bounds
		for _, r := range left {
			x1, y1 := max(r.X, o.X), max(r.Y, o.Y)
			x2, y2 := min(r.X+r.W, o.X+o.W), min(r.Y+r.H, o.Y+o.H)
			if x1 >= x2 || y1 >= y2 {
				next = append(next, r)
				continue
			}
			for _, part := range [...]human.Bounds{
				{X: r.X, Y: r.Y, W: r.W, H: y1 - r.Y},
				{X: r.X, Y: y2, W: r.W, H: r.Y + r.H - y2},
				{X: r.X, Y: y1, W: x1 - r.X, H: y2 - y1},
				{X: x2, Y: y1, W: r.X + r.W - x2, H: y2 - y1},
			} {
				if part.W > 0 && part.H > 0 {
					next = append(next, part)
				}
			}
		}
		left = next
	}
	return left
}

// A region is a part of a window that pictures must not show.
type region struct {
	window string
	in     human.Bounds // X and Y from the window's own
}

// places returns where on the desktop the regions are, as far as nothing stands before them.
func places(regions []region, visible []Placed) []human.Bounds {
	var all []human.Bounds
	for _, f := range regions {
		var above []human.Bounds
		for _, p := range visible {
			if p.Window.ID == f.window {
				b := f.in
				b.X += p.Window.Bounds.X
				b.Y += p.Window.Bounds.Y
				all = append(all, without(b, above)...)
				break
			}
			above = append(above, p.Window.Bounds)
		}
	}
	return all
}
