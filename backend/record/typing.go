package record

import (
	"context"
	"slices"

	"deskbell/backend/human"
)

// typing makes runs of the keys that make text, and decides what of them may be stored. Only the loop uses it.
type typing struct {
	loop        *loop
	status      *status
	writer      *writer
	windows     *openWindows
	privacy     *privacy
	screenshots *screenshots
	elements    *feed
	focus       *focus

	runs   []*run // in their order; only the last may be open
	before string // the end of what was typed before the open run, in the same go
}

// open returns the run that continues, or nil.
func (t *typing) open() *run {
	if n := len(t.runs); n > 0 && !t.runs[n-1].closed {
		return t.runs[n-1]
	}
	return nil
}

// typed takes a key that made text, which is "" where it is not known which.
func (t *typing) typed(seq uint64, at int64, text string) {
	r := t.open()
	if r != nil && at-r.to > typingPause {
		t.close(byPause)
		r = nil
	}
	if r == nil {
		r = &run{in: t.windows.active, first: seq, from: at, before: t.before}
		t.runs = append(t.runs, r)
		if t.privacy.mayTypeSecret(r.in) { // what the look-ups say then is no proof for the first keys
			r.hide("password")
		}
		t.ask(question{in: r.in, first: true, value: true}, r, func(a answer) { t.begun(r, a) })
	}
	r.press(seq, at, t.loop.now())
	r.text = append(r.text, []rune(text)...)
	t.screenshots.wish("typing", "typing", r.first, afterTyping)
	if r.isLong(text) {
		t.close(byLength)
	}
}

// erased takes a Backspace.
func (t *typing) erased(seq uint64, at int64) {
	r := t.open()
	if r == nil {
		t.before = ""
		t.screenshots.wish("after", "key", seq, afterTyping)
		return
	}
	if n := len(r.text); n > 0 {
		r.text = r.text[:n-1]
	}
	r.press(seq, at, t.loop.now())
	t.screenshots.wish("typing", "typing", r.first, afterTyping)
}

// What ends a run.
type ending uint8

const (
	byPerson ending = iota // a click, a key that makes no text
	byEnter
	byPause
	byLength
	byOther
)

// close ends the run that continues, if there is one.
func (t *typing) close(why ending) {
	r := t.open()
	inOneGo := why == byPause || why == byLength
	switch {
	case !inOneGo:
		t.before = ""
	case r != nil:
		t.before = r.tail()
	}
	if r == nil {
		return
	}
	r.closed, r.goesOn = true, why == byLength
	if why == byEnter {
		r.entered = t.loop.now()
	}
	t.askAgain(r)
}

// begun takes the answer to the look-up at a run's first key.
func (t *typing) begun(r *run, a answer) {
	r.begun, r.texts = true, a.texts
	r.learn(a)
	switch {
	case a.element == nil:
	case t.privacy.secret(*a.element):
		t.privacy.remember(*a.element, a.in)
		r.mustHide("password")
		r.shown = a.shown
	default:
		r.element, r.shown, r.valued, r.value = a.element, a.shown, a.read, a.value
	}
	t.askAgain(r)
}

// askAgain begins the look-up at a run's end, once the first has been answered.
func (t *typing) askAgain(r *run) {
	if !r.closed || !r.begun || r.asked {
		return
	}
	r.asked = true
	t.ask(question{in: t.windows.active, field: r.element, value: !r.goesOn}, r, func(a answer) {
		r.ended = true
		r.learn(a)
		if a.element != nil && t.privacy.secret(*a.element) {
			t.privacy.remember(*a.element, a.in)
			r.hide("password")
		}
		r.readAfter(a)
	})
}

// ask looks up what has the keyboard, whether typing is secret, and what a field holds.
func (t *typing) ask(q question, r *run, then func(answer)) {
	q.blind = !t.windows.known || t.elements.missing() || !t.elements.up
	if t.windows.exclusions.kind(q.in) != ordinary { // the run has ended because such a window is active now
		q.in = r.in
	}
	asked := t.loop.lookUp(func(ctx context.Context) func() {
		a := t.focus.answer(ctx, q)
		return func() { then(a) }
	})
	if !asked { // too many are under way
		then(answer{in: q.in, unknown: true})
	}
}

// sawFocus takes a report of what has the focus in a window: it makes every run a suspect that it may concern.
func (t *typing) sawFocus(in Placed, secret bool) {
	t.privacy.sawFocus(in, secret)
	if secret {
		t.suspect("password")
	}
}

// suspect takes what was just learned for true of every run that it may concern.
func (t *typing) suspect(why string) {
	for _, r := range t.runs {
		if !r.closed || t.loop.now()-r.heard <= evidence {
			r.hide(why)
		}
	}
}

// movedTo ends the run that continues when the focus moves to another field. A run that has only begun has
// begun there: the report is late.
func (t *typing) movedTo(e human.Element) {
	r := t.open()
	if r == nil || t.loop.now()-r.from <= evidence || !r.begun || r.element != nil && r.element.Ref == e.Ref {
		return
	}
	t.close(byOther)
}

// switched ends the run that continues when another window has become active.
func (t *typing) switched(is kind, at int64) {
	if is == excluded {
		for _, r := range t.runs {
			if !r.closed || at <= r.to {
				r.mustHide("excluded")
			}
		}
	}
	t.close(byOther)
}

// due is when something about a run is to be done.
func (t *typing) due() int64 {
	now, at := t.loop.now(), never
	for _, r := range t.runs {
		at = min(at, r.due(now))
	}
	return at
}

// settle decides on runs that have ended, in their order.
func (t *typing) settle() {
	now := t.loop.now()
	if r := t.open(); r != nil && now-r.heard >= typingPause {
		t.close(byPause)
	}
	for len(t.runs) > 0 {
		r := t.runs[0]
		if !r.ended || now-max(r.heard, r.entered) < evidence || t.readAgain(r) || t.readOutcome(r) {
			return
		}
		t.runs = t.runs[1:]
		t.store(r)
	}
}

// readAgain has the field of a run read once more whose text is not to be seen there: the application may not have
// taken the last keys yet when it was asked. It says whether the answer is to be waited for.
func (t *typing) readAgain(r *run) bool {
	if r.suspect == "" || r.sure || !r.valued || r.proven() || r.after.again {
		return false
	}
	r.after.again = true
	r.ended = !t.loop.lookUp(func(ctx context.Context) func() {
		var a answer
		t.focus.read(ctx, *r.element, &a)
		return func() {
			r.ended = true
			r.readAfter(a)
		}
	})
	return !r.ended
}

// readOutcome reads what came of keys that a program has worked on by now: what stands in a field of one line after Enter, or
// what the window shows where keys go into no field. It says whether the answer is to be waited for.
func (t *typing) readOutcome(r *run) bool {
	oneLine := r.entered > 0 && r.valued && !slices.Contains(r.element.States, "multiline")
	if r.outcome.again || r.sure || r.goesOn || len(r.texts) == 0 && (!oneLine || r.suspect != "") || len(t.runs) > 1 {
		return false
	}
	r.outcome.again = true
	r.ended = !t.loop.lookUp(func(ctx context.Context) func() {
		var a answer
		if len(r.texts) == 0 {
			t.focus.read(ctx, *r.element, &a)
		} else if e, found := display(r.texts, t.focus.texts(ctx, r.in)); found {
			a.read, a.value, a.element = true, e.Name, &e
			a.masked, _ = t.privacy.mask.text(e.Name)
		}
		return func() {
			r.ended = true
			if a.read && a.value != "" && len(t.runs) == 1 {
				r.outcome.text, r.outcome.masked, r.outcome.done, r.showed = a.value, a.masked, true, a.element
			}
		}
	})
	return !r.ended
}

// store stores what a run said, or only that it was.
func (t *typing) store(r *run) {
	if r.element != nil && t.privacy.secret(*r.element) {
		r.mustHide("password")
	}
	e := human.RecordedEvent{
		At: r.to, Source: human.RecorderSource, Type: human.TextTyped, Element: r.shown, Count: len(r.text), CausedBy: r.first, Until: r.last,
	}
	if r.suspect != "" && !r.proven() {
		e.Hidden = r.suspect
	} else {
		e.Text, e.Hidden = r.conceal(t.privacy.mask)
	}
	t.countHidden(r, e.Hidden)
	t.writer.add(e)
	if e.Hidden == "" || e.Hidden == "secret" {
		t.storeValue(r)
	}
	r.forget()
}

// storeValue stores what stands in a run's field after it, or what the window shows.
func (t *typing) storeValue(r *run) {
	is, where := r.after, r.shown
	if r.outcome.done {
		is = r.outcome
		if r.showed != nil {
			shown := *r.showed
			shown.Name, shown.Ref = "", "" // its name is what it shows
			where = &shown
		}
	}
	if !is.done || r.goesOn || is.text == "" || where == nil {
		return
	}
	v := human.RecordedEvent{At: t.loop.now(), Source: human.ElementSource, Type: human.ValueRead, Element: where, Text: is.masked, CausedBy: r.first}
	if is.masked != is.text {
		v.Hidden = "secret"
	}
	t.countHidden(r, v.Hidden)
	t.elements.made++
	t.writer.add(v)
}

// countHidden counts what is hidden of a run, and keeps its field out of pictures.
func (t *typing) countHidden(r *run, hidden string) {
	if hidden == "" {
		return
	}
	t.status.rec.Counts.Masked++
	if r.shown != nil {
		t.privacy.cover(r.shown.Bounds, r.in)
	}
}

// storeUndecided stores the runs that are not decided on without what they say.
func (t *typing) storeUndecided() {
	for _, r := range t.runs {
		r.hide("unknown_field")
		t.store(r)
	}
	t.runs = nil
}

// undecided returns where text stands, in a picture taken at a time, that is not decided on.
func (t *typing) undecided(at int64) []human.Bounds {
	var all []human.Bounds
	for _, r := range t.runs {
		switch {
		case r.from+t.loop.began > at:
		case r.shown != nil:
			all = append(all, r.shown.Bounds)
		default:
			all = append(all, r.in.Window.Bounds)
		}
	}
	return all
}
