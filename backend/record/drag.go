package record

import (
	"time"

	"deskbell/backend/human"
)

const (
	dragSlop = 16                           // pixels: a press that moved less may be a click
	dragLook = int64(60 * time.Millisecond) // between looks at what lies under a drag
)

// A drag is a press of the left button that is held. What lies under the pointer is looked up on the way: once something is
// dropped, it may lie there itself.
type drag struct {
	x, y   int
	what   *human.Element // that was pressed; nil: not known, or not yet
	under  *sight
	looked int64
	busy   bool
	then   func() // once the look that is under way has an answer
}

// A sight is what an element at a place was.
type sight struct {
	x, y int
	el   human.Element
	in   Placed
}

// staying are roles of what is moved or marked where it is: where such a drag ends says nothing.
var staying = map[string]bool{
	"slider": true, "scrollbar": true, "separator": true, "textbox": true, "searchbox": true, "spinbutton": true, "document": true, "terminal": true,
}

func far(x, y, toX, toY int) bool { return max(toX-x, x-toX, toY-y, y-toY) > dragSlop }

// drags looks up what lies under a drag.
func (p *pointer) drags(x, y int) {
	d := p.drag
	if d == nil || d.busy || !far(d.x, d.y, x, y) || p.loop.now()-d.looked < dragLook {
		return
	}
	d.looked = p.loop.now()
	d.busy = p.find(x, y, func(el human.Element, in Placed, err error) {
		d.busy, d.under = false, nil
		if err == nil {
			d.under = &sight{x, y, el, in}
		}
		if d.then != nil {
			d.then()
		}
	})
}

// drops ends a drag with its release: what was seen there before is its target, or else what is there now.
func (p *pointer) drops(release uint64, x, y int) {
	d := p.drag
	p.drag = nil
	if d == nil || !far(d.x, d.y, x, y) {
		return
	}
	target := func(el human.Element, in Placed, err error) {
		if err == nil && (d.what == nil || !staying[d.what.Role] && (d.what.Role != el.Role || d.what.Name != el.Name)) {
			p.seen(release, el, in)
		}
	}
	d.then = func() {
		if s := d.under; s != nil && !far(s.x, s.y, x, y) && s.el.Bounds.Contains(x, y) {
			target(s.el, s.in, nil)
			return
		}
		p.find(x, y, target)
	}
	if !d.busy {
		d.then()
	}
}
