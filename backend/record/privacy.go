package record

import (
	"slices"
	"time"

	"deskbell/backend/human"
)

const (
	evidence   = int64(250 * time.Millisecond) // how late one may learn that the focus has moved
	maxRegions = 500                           // kept out of pictures
)

// privacy knows what is secret in a recording: texts of known shapes, fields for passwords, and where on the screen such
// fields are. Only the loop uses it, but for mask.
type privacy struct {
	loop   *loop
	status *status
	mask   *mask

	refs    map[string]bool // of elements that were secret when they were last seen
	regions []region

	focusAt  int64 // when a secret field was seen to have the focus
	focusNow bool  // the last that was seen to have it is secret,
	focusPID int   // and belongs to this process
}

// hide masks known secret shapes in texts of an event, which then says so, and is counted.
func (p *privacy) hide(e *human.RecordedEvent, texts ...*string) {
	hidden := false
	for _, text := range texts {
		masked, found := p.mask.text(*text)
		*text, hidden = masked, hidden || found
	}
	if hidden {
		e.Hidden = "secret"
		p.status.rec.Counts.Masked++
	}
}

// secret says whether an element is a field for passwords, or was one when it was last seen: many can be switched to
// show what they hold.
func (p *privacy) secret(e human.Element) bool {
	return e.Secret || e.Ref != "" && p.refs[e.Ref]
}

// remember keeps a secret field out of pictures from now on.
func (p *privacy) remember(e human.Element, in Placed) {
	if e.Ref != "" {
		p.refs[e.Ref] = true
	}
	p.cover(e.Bounds, in)
}

// cover keeps a region of a window out of pictures from now on.
func (p *privacy) cover(b human.Bounds, in Placed) {
	if b.W <= 0 || b.H <= 0 || in.Window.ID == "" {
		return
	}
	b.X -= in.Window.Bounds.X
	b.Y -= in.Window.Bounds.Y
	if r := (region{window: in.Window.ID, in: b}); !slices.Contains(p.regions, r) {
		if len(p.regions) == maxRegions {
			p.regions = p.regions[1:]
		}
		p.regions = append(p.regions, r)
	}
}

// sawFocus takes a report of what has the focus in a window.
func (p *privacy) sawFocus(in Placed, secret bool) {
	p.focusNow, p.focusPID = secret, in.App.PID
	if secret {
		p.focusAt = p.loop.now()
	}
}

// mayTypeSecret says whether a secret field may have the focus in a window. It may have left since, or not.
func (p *privacy) mayTypeSecret(in Placed) bool {
	return p.focusNow && (p.focusPID == in.App.PID || p.focusPID == 0) || p.focusAt != 0 && p.loop.now()-p.focusAt <= evidence
}
