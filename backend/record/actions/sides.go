package actions

import (
	"slices"
	"strings"

	"deskbell/backend/human"
)

// What is done in a browser while the desktop is recorded is seen from two sides: by the page and by the system.
// Each side is derived for itself. Then what the desktop saw is paired with the action in the page that it is, and
// the two are given out as one: where and what from the page, the events of both.

// A claim says what the desktop may have seen of an action in a browser: which kinds of actions between when.
type claim struct {
	kinds    []human.ActionType
	button   int    // 0: any
	key      string // "": any
	app      bool   // of the browser's own windows only
	press    bool   // one press, the nearest
	from, to int64
}

const manySides = 64 // how many actions are looked at for the other side of one

// fits says how far apart an action of the desktop is from what is claimed; -1: it is another.
func (d *Deriver) fits(c *claim, e *entry) int64 {
	if c.misses(e) { // most are over by far, so that is asked first
		return -1
	}
	if e.gone || !slices.Contains(c.kinds, e.a.Type) || c.button != 0 && e.a.Button != c.button || c.key != "" && !strings.EqualFold(c.key, e.a.Key) {
		return -1
	}
	if c.app && !sameApp(d.web.app, e.a.App) {
		return -1
	}
	if !c.press {
		return 0
	}
	far := int64(-1)
	for _, at := range []int64{e.a.At, e.lastPress} {
		if at >= c.from && at <= c.to {
			off := max(at-(c.from+c.to)/2, (c.from+c.to)/2-at)
			if far < 0 || off < far {
				far = off
			}
		}
	}
	return far
}

// misses says whether e was at another time.
func (c *claim) misses(e *entry) bool {
	if !c.press {
		return e.a.At > c.to || e.a.End < c.from
	}
	return (e.a.At < c.from || e.a.At > c.to) && (e.lastPress < c.from || e.lastPress > c.to)
}

func sameApp(a, b *human.App) bool {
	switch {
	case a == nil || b == nil:
		return false
	case a.PID != 0 && b.PID != 0:
		return a.PID == b.PID
	}
	return a.Exe != "" && a.Exe == b.Exe || a.Name != "" && strings.EqualFold(a.Name, b.Name)
}

// claim pairs e with what the desktop saw of it, and will see.
func (d *Deriver) claim(e *entry, c claim) {
	w := d.web
	if n := len(e.page.claims); n > 0 && !c.press {
		// One that goes on is longer, and not another.
		for i := range e.page.claims {
			if was := &e.page.claims[i]; !was.press && was.key == c.key && was.app == c.app && slices.Equal(was.kinds, c.kinds) && c.from <= was.to {
				was.from, was.to = min(was.from, c.from), max(was.to, c.to)
				c = *was
				n = -1
				break
			}
		}
		if n >= 0 {
			e.page.claims = append(e.page.claims, c)
		}
	} else {
		e.page.claims = append(e.page.claims, c)
	}
	w.recent = append(slices.DeleteFunc(w.recent, func(f *entry) bool { return f == e || f.gone }), e)
	if len(w.recent) > manySides {
		w.recent = slices.Delete(w.recent, 0, 1)
	}
	var nearest *entry
	best := int64(-1)
	for i := len(w.loose) - 1; i >= 0; i-- {
		f := w.loose[i]
		if f.of != nil {
			continue
		}
		switch off := d.fits(&c, f); {
		case off < 0:
		case !c.press:
			d.pair(e, f)
		case best < 0 || off < best:
			nearest, best = f, off
		}
	}
	if nearest != nil {
		d.pair(e, nearest)
	}
	w.loose = slices.DeleteFunc(w.loose, func(f *entry) bool { return f.of != nil })
}

// beside looks whether what the desktop just saw was done in the browser.
func (d *Deriver) beside(ev human.RecordedEvent) {
	w := d.web
	e := d.own[ev.Seq]
	if e == nil || e.page != nil || e.of != nil || e.gone {
		return
	}
	for i := len(w.recent) - 1; i >= 0; i-- {
		f := w.recent[i]
		for j := range f.page.claims {
			if !f.gone && d.fits(&f.page.claims[j], e) >= 0 {
				d.pair(f, e)
				return
			}
		}
	}
	if !slices.Contains(w.loose, e) {
		w.loose = append(w.loose, e)
		if len(w.loose) > manySides {
			w.loose = slices.Delete(w.loose, 0, 1)
		}
	}
}

// pair makes e, of the desktop, a side of g in the browser.
func (d *Deriver) pair(g, e *entry) {
	for g.into != nil {
		g = g.into
	}
	if e.of == g {
		return
	}
	d.touch(e)
	e.of = g
	g.sides = append(g.sides, e)
	d.touch(g)
	d.affected(g)
}

// home is the entry of the browser that e is a side of, or e.
func (e *entry) home() *entry {
	if e.of != nil && !e.of.gone {
		return e.of
	}
	return e
}

// first is where the sides of e begin in the list, whether they are shown or not.
func (e *entry) first() *entry {
	first := e
	if e.of != nil {
		first = e.of
	}
	for _, s := range first.sides {
		if s.idx < first.idx {
			first = s
		}
	}
	return first
}

// lead is the one of the sides of e in whose place they are shown.
func (e *entry) lead() *entry {
	g := e.home()
	lead := g
	for _, s := range g.sides {
		if !s.gone && s.idx < lead.idx {
			lead = s
		}
	}
	return lead
}

func (e *entry) leads() bool { return !e.gone && e.lead() == e }

// complete is the action that e leads, with all its sides.
func (e *entry) complete() human.Action {
	g := e.home()
	a := g.a
	a.Seqs = slices.Clip(a.Seqs)
	if c := g.cause; c != nil {
		for c.into != nil {
			c = c.into
		}
		if !c.gone && c != g {
			a.CausedBy = "a" + utoa(c.lead().a.Seqs[0])
		}
	}
	if len(g.sides) == 0 {
		return a
	}
	seqs := slices.Clone(a.Seqs)
	step := g
	scroll := human.Action{}
	for _, s := range g.sides {
		if s.gone {
			continue
		}
		seqs = append(seqs, s.a.Seqs...)
		a.At, a.End = min(a.At, s.a.At), max(a.End, s.a.End)
		if s.a.Step != nil && (step.a.Step == nil || s.idx < step.idx) {
			step = s
		}
		if a.Window == nil {
			a.App, a.Window = s.a.App, s.a.Window
		}
		if a.Element == nil && s.a.Element != nil && windowless(a.Type) {
			element := *s.a.Element
			element.Bounds = human.Bounds{} // they are the desktop's
			a.Element = &element
		}
		scroll.DeltaX += s.a.DeltaX
		scroll.DeltaY += s.a.DeltaY
		scroll.Count += s.a.Count
	}
	slices.Sort(seqs)
	a.Seqs, a.ID, a.Step = slices.Clip(seqs), "a"+utoa(seqs[0]), step.a.Step
	if a.Type == human.Scroll && scroll.Count > 0 {
		a.DeltaX, a.DeltaY, a.Count = scroll.DeltaX, scroll.DeltaY, scroll.Count
	}
	return a
}

// windowless are the actions that are done to an element of the page.
func windowless(t human.ActionType) bool {
	switch t {
	case human.OpenPage, human.ClosePage, human.SwitchPage, human.DialogEnded, human.Extract, human.Scroll, human.Typing:
		return false
	}
	return true
}
