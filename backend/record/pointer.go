package record

import (
	"context"
	"errors"
	"strings"

	"deskbell/backend/human"
)

// A pointer takes what the mouse does: it leaves out what belongs to windows that are not recorded, and looks up what was
// pressed. Only the loop uses it.
type pointer struct {
	loop        *loop
	status      *status
	writer      *writer
	windows     *openWindows
	privacy     *privacy
	typing      *typing
	screenshots *screenshots
	feed        *feed // of elements
	elements    Elements
	source      Windows

	lit        *human.Element // the item of an open menu that the keyboard is on, which goes with the pointer
	drag       *drag          // nil: none may be on
	pressed    map[int]uint64 // by button, the seq of its press
	pressedOut map[int]bool   // by button, whether its last press was left out
}

// owner says which kind of window an event belongs to.
func (p *pointer) owner(e human.RecordedEvent) kind {
	over := p.windows.at(e.X, e.Y)
	switch {
	case e.Type != human.PointerUp:
	case over != ordinary && p.windows.activeIs != excluded && p.pressed[e.Button] != 0:
		return ordinary // what began outside is recorded to its end
	case over == ordinary && p.pressed[e.Button] == 0 && p.pressedOut[e.Button]:
		return own // what began inside is not
	}
	return over
}

// take takes an event, and says whether it is recorded.
func (p *pointer) take(e human.RecordedEvent) bool {
	over := p.owner(e)
	if e.Type == human.PointerDown {
		p.pressedOut[e.Button] = over != ordinary
		delete(p.pressed, e.Button)
	}
	if over != ordinary {
		if over == excluded {
			p.writer.openGap("excluded", "")
		}
		return false
	}
	if p.windows.activeIs != excluded {
		p.writer.closeGap("excluded", "")
	}
	e.Key, e.Text = "", ""
	if e.Type == human.PointerDown {
		p.typing.close(byPerson)
	}
	seq := p.writer.add(e)
	switch e.Type {
	case human.PointerDown:
		p.status.rec.Counts.Clicks++
		p.pressed[e.Button] = seq
		p.screenshots.hurry(e.At) // what was to be shown of the click before is about to change
		p.screenshots.before(seq, e.At)
		p.drag = nil
		if e.Button == 1 {
			p.drag = &drag{x: e.X, y: e.Y}
		}
		p.look(seq, e.X, e.Y)
	case human.PointerMoved:
		p.drags(e.X, e.Y)
	case human.PointerUp:
		if e.Button == 1 {
			p.drops(seq, e.X, e.Y)
		}
		if press := p.pressed[e.Button]; press != 0 {
			delete(p.pressed, e.Button)
			p.screenshots.wish("after", "click", press, afterClick)
		}
	case human.Scrolled:
		p.screenshots.wish("scroll", "scroll", seq, afterScroll)
	}
	return true
}

// focused takes which element has the keyboard. While a menu is open its items take it from one another.
func (p *pointer) focused(e human.Element) {
	p.lit = nil
	if isMenu(e.Role) {
		p.lit = &e
	}
}

func isMenu(role string) bool { return strings.HasPrefix(role, "menuitem") }

// look looks up the element that was pressed.
func (p *pointer) look(press uint64, x, y int) {
	d := p.drag
	p.find(x, y, func(el human.Element, in Placed, err error) {
		if errors.Is(err, errLeftOut) {
			return
		}
		if p.lit != nil && p.lit.Bounds.Contains(x, y) && !isMenu(el.Role) {
			el, err = *p.lit, nil // it lies over whatever was found
		}
		p.feed.looked(in.App, err == nil)
		if err != nil { // nothing is there, or it cannot be said what: the press stands by itself
			return
		}
		if d != nil {
			d.what = &el
		}
		p.seen(press, el, in)
	})
}

var errLeftOut = errors.New("a window that is not recorded")

// find looks up the element at a place, and in which window it is. It says whether then will be called by the loop.
func (p *pointer) find(x, y int, then func(human.Element, Placed, error)) bool {
	if p.feed.missing() {
		return false
	}
	in := p.windows.active
	return p.loop.lookUp(func(ctx context.Context) func() {
		if p.source != nil {
			soon, cancel := context.WithTimeout(ctx, windowTime)
			visible, err := p.source.Visible(soon)
			cancel()
			if err == nil {
				if on, ok := topmost(visible, x, y); ok {
					in = on
				}
			}
		}
		if p.windows.exclusions.kind(in) != ordinary {
			return func() { then(human.Element{}, in, errLeftOut) }
		}
		el, err := p.elements.At(ctx, x, y, in)
		return func() { then(el, in, err) }
	})
}

// seen records what lay under a press or a release.
func (p *pointer) seen(cause uint64, el human.Element, in Placed) {
	shown, n := p.privacy.mask.element(el)
	if p.privacy.secret(el) {
		shown.Secret = true
		p.privacy.remember(el, in)
		p.typing.sawFocus(in, true)
	}
	p.feed.made++
	p.status.rec.Counts.Masked += n
	p.writer.add(human.RecordedEvent{
		At: p.loop.now(), Source: human.ElementSource, Type: human.ElementSeen, Element: &shown, CausedBy: cause,
	})
}
