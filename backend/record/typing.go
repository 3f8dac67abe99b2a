package record

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"deskbell/backend/human"
)

const (
	typingPause = int64(500 * time.Millisecond) // ends a run of typing
	evidence    = int64(250 * time.Millisecond) // how late one may learn that the focus has moved
	runLength   = int64(time.Second)            // a longer run is cut at the next white space,
	runMost     = int64(10 * time.Second)       // and this one wherever it is
	maxBefore   = 256                           // characters of earlier runs in which a secret may have begun
	maxFields   = 500                           // regions kept out of pictures
	maxValue    = 8 << 10                       // bytes; what is longer is a document and not a field
)

// A run is a stretch of typing. What it says is held in memory until it is known that no secret field had the
// focus: from a look-up at its first key and one at its end, and from every move of the focus that is told
// while it lasts or within 250 ms, because such tidings come late.
type run struct {
	in          Placed
	first, last uint64 // seqs of its keys
	from, to    int64  // when these were pressed
	heard       int64  // when the last was heard of
	text        []rune
	before      string // what was typed before it, in the same go

	element *human.Element // had the focus at the first key, and is not secret
	told    *human.Element // the same to be shown: masked
	valued  bool           // there and then it held
	value   string         // this
	after   string         // and this at the end, masked as
	masked  string         // this
	read    bool           // after was read
	begun   bool           // the first look-up was answered,
	closed  bool           // no key comes any more,
	ended   bool           // the last look-up was answered
	asked   bool           // the last look-up is under way, or answered
	again   bool           // after was read a second time, or is being
	goesOn  bool           // it was cut: its field is not finished
	suspect string         // why it may be secret
	sure    bool           // and it is, whatever stands in the field
}

// hide makes a run secret unless its text stands in a field that is not.
func (r *run) hide(why string) {
	if r.suspect == "" {
		r.suspect = why
	}
}

// mustHide makes a run secret.
func (r *run) mustHide(why string) {
	if !r.sure {
		r.suspect, r.sure = why, true
	}
}

// proven says whether the text of the run has appeared, all of it, in the field that had the focus at the
// first key, which is not a secret one. Then no part of it went to another.
func (r *run) proven() bool {
	text := string(r.text)
	return !r.sure && text != "" && r.valued && r.read && strings.Count(r.after, text) > strings.Count(r.value, text)
}

// wakes is when something about a run is due, if nothing happens before.
func (r *run) wakes(now int64) int64 {
	switch {
	case !r.closed:
		return r.heard + typingPause
	case r.ended && now < r.heard+evidence:
		return r.heard + evidence
	}
	return never // a look-up will be answered
}

// open returns the run that goes on, or nil.
func (s *session) openRun() *run {
	if n := len(s.runs); n > 0 && !s.runs[n-1].closed {
		return s.runs[n-1]
	}
	return nil
}

// typed takes a key that made text, which is "" where it is not known which.
func (s *session) typed(seq uint64, at int64, text string) {
	r := s.openRun()
	if r != nil && at-r.to > typingPause {
		s.closeRun(byPause)
		r = nil
	}
	if r == nil {
		r = &run{in: s.active, first: seq, from: at, before: s.before}
		s.runs = append(s.runs, r)
		// It may have left since, or not; what the look-ups say then is no proof for the first keys.
		if s.secretNow && (s.secretPID == r.in.App.PID || s.secretPID == 0) || s.secretAt != 0 && s.now()-s.secretAt <= evidence {
			r.hide("password")
		}
		s.ask(r.in, nil, true, func(f found) { s.begun(r, f) })
	}
	r.last, r.to, r.heard = seq, at, s.now()
	r.text = append(r.text, []rune(text)...)
	s.wish("typing", "typing", r.first, afterTyping)
	space := text != "" && strings.TrimFunc(text, unicode.IsSpace) == ""
	if age := at - r.from; age > runLength && space || age > runMost {
		s.closeRun(byLength)
	}
}

// erased takes a Backspace.
func (s *session) erased(seq uint64, at int64) {
	r := s.openRun()
	if r == nil {
		s.before = ""
		s.wish("after", "key", seq, afterTyping)
		return
	}
	if n := len(r.text); n > 0 {
		r.text = r.text[:n-1]
	}
	r.last, r.to, r.heard = seq, at, s.now()
	s.wish("typing", "typing", r.first, afterTyping)
}

// What ends a run.
type ending uint8

const (
	byPerson ending = iota // a click, a key that makes no text
	byPause
	byLength
	byOther
)

// closeRun ends the run that goes on, if there is one.
func (s *session) closeRun(why ending) {
	if why == byPerson || why == byOther {
		defer func() { s.before = "" }()
	}
	r := s.openRun()
	if r == nil {
		return
	}
	r.closed, r.goesOn = true, why == byLength
	if before := []rune(r.before + string(r.text)); why == byPause || why == byLength {
		s.before = string(before[max(0, len(before)-maxBefore):])
	}
	s.askAgain(r)
}

// askAgain begins the look-up at a run's end, once the first has been answered.
func (s *session) askAgain(r *run) {
	if !r.closed || !r.begun || r.asked {
		return
	}
	r.asked = true
	s.ask(s.active, r, !r.goesOn, func(f found) {
		r.ended = true
		s.learn(r, f)
		if f.element != nil && s.secret(*f.element) {
			s.remember(*f.element, f.in)
			r.hide("password")
		}
		s.readAfter(r, f)
	})
}

func (s *session) readAfter(r *run, f found) {
	if f.denied {
		r.mustHide("password")
	}
	if f.read {
		r.read, r.after, r.masked = true, f.value, f.masked
	}
}

// begun takes the answer to the look-up at a run's first key.
func (s *session) begun(r *run, f found) {
	r.begun = true
	s.learn(r, f)
	switch {
	case f.element == nil:
	case s.secret(*f.element):
		s.remember(*f.element, f.in)
		r.mustHide("password")
		r.told = f.shown
	default:
		r.element, r.told, r.valued, r.value = f.element, f.shown, f.read, f.value
	}
	s.askAgain(r)
}

// learn takes what a look-up says of secrecy, but for the element's own word.
func (s *session) learn(r *run, f found) {
	if f.guarded {
		r.mustHide("secure_input")
	}
	if f.unknown {
		r.hide("unknown_field")
	}
}

// found is the answer to a look-up of what has the keyboard.
type found struct {
	in      Placed
	element *human.Element // nil: it cannot be told
	shown   *human.Element // the same, masked
	guarded bool           // a guard says that what is typed is secret
	unknown bool           // it could not be told in time, or at all
	read    bool           // the value was read
	denied  bool           // it may not be: the field is secret
	value   string
	masked  string
}

// ask looks up what has the keyboard in a window, whether typing is secret, and what a field holds: that of the
// run, or without one the element found.
func (s *session) ask(in Placed, r *run, value bool, then func(found)) {
	known, elements := s.known, s.feed(human.ElementSource)
	blind := !known || elements.state.Status == "missing" || !elements.up
	var field *human.Element
	if r != nil {
		field = r.element
	}
	if s.fence.kind(in) != ordinary { // the run has ended because such a window is active now
		in = r.in
	}
	looked := s.work(func(ctx context.Context) func() {
		f := s.probe(ctx, in, blind, field, r == nil, value)
		return func() { then(f) }
	})
	if !looked { // too many are under way
		then(found{in: in, unknown: true})
	}
}

func (s *session) probe(ctx context.Context, in Placed, blind bool, field *human.Element, first, value bool) found {
	f := found{in: in, unknown: blind}
	for _, g := range s.deps.Guards {
		secret, err := g.Secret(ctx, in)
		f.guarded = f.guarded || secret
		f.unknown = f.unknown || err != nil
	}
	if blind {
		return f
	}
	el, err := s.deps.Elements.Focused(ctx, in)
	switch {
	case err == nil:
		shown, _ := s.mask.element(el)
		f.element, f.shown = &el, &shown
		if first && !el.Secret {
			field = &el
		}
	case human.KindOf(err) != human.NotFound:
		f.unknown = true
	}
	if value && field != nil {
		s.readValue(ctx, *field, &f)
	}
	return f
}

// readValue reads what a field holds. A terminal's is no field's: all that it has printed.
func (s *session) readValue(ctx context.Context, e human.Element, f *found) {
	if e.Role == "terminal" {
		return
	}
	text, err := s.deps.Elements.Value(ctx, e)
	switch {
	case err == nil && len(text) <= maxValue:
		f.read, f.value = true, text
		f.masked, _ = s.mask.text(text)
	case err != nil && human.KindOf(err) == human.Denied:
		f.denied = true
	}
}

// secret says whether an element is a field for passwords, or was one when it was last seen: many can be
// switched to show what they hold.
func (s *session) secret(e human.Element) bool {
	return e.Secret || e.Ref != "" && s.secretRefs[e.Ref]
}

// remember keeps a secret field out of pictures from now on.
func (s *session) remember(e human.Element, in Placed) {
	if e.Ref != "" {
		s.secretRefs[e.Ref] = true
	}
	s.cover(e.Bounds, in)
}

// cover keeps a region of a window out of pictures from now on.
func (s *session) cover(b human.Bounds, in Placed) {
	if b.W <= 0 || b.H <= 0 || in.Window.ID == "" {
		return
	}
	b.X -= in.Window.Bounds.X
	b.Y -= in.Window.Bounds.Y
	if f := (field{window: in.Window.ID, in: b}); !slices.Contains(s.fields, f) {
		if len(s.fields) == maxFields {
			s.fields = s.fields[1:]
		}
		s.fields = append(s.fields, f)
	}
}

// sawFocus takes a tiding of what has the focus in a window: it makes every run a suspect that it may concern.
func (s *session) sawFocus(in Placed, secret bool) {
	s.secretNow, s.secretPID = secret, in.App.PID
	if !secret {
		return
	}
	s.secretAt = s.now()
	s.suspect("password")
}

// suspect takes what was just learnt for true of every run that it may concern.
func (s *session) suspect(why string) {
	for _, r := range s.runs {
		if !r.closed || s.now()-r.heard <= evidence {
			r.hide(why)
		}
	}
}

// movedTo ends the run that goes on when the focus moves to another field. A run that has only begun has
// begun there: it is told late.
func (s *session) movedTo(e human.Element) {
	r := s.openRun()
	if r == nil || s.now()-r.from <= evidence || !r.begun || r.element != nil && r.element.Ref == e.Ref {
		return
	}
	s.closeRun(byOther)
}

// switched is told that another window has become active.
func (s *session) switched(is kind, at int64) {
	if is == excluded {
		for _, r := range s.runs {
			if !r.closed || at <= r.to {
				r.mustHide("excluded")
			}
		}
	}
	s.closeRun(byOther)
}

// settle decides on runs that have ended, in their order.
func (s *session) settle() {
	if s.stopping && s.silent && len(s.queue) == 0 {
		s.closeRun(byOther) // of keys that came while the sources ended
	}
	now := s.now()
	if r := s.openRun(); r != nil && now-r.heard >= typingPause {
		s.closeRun(byPause)
	}
	for len(s.runs) > 0 {
		r := s.runs[0]
		if !r.ended || now-r.heard < evidence {
			break
		}
		if r.suspect != "" && !r.sure && r.valued && !r.proven() && !r.again {
			// The application may not have taken the last keys yet when it was asked.
			r.again, r.ended = true, false
			if !s.work(func(ctx context.Context) func() {
				var f found
				s.readValue(ctx, *r.element, &f)
				return func() {
					r.ended = true
					s.readAfter(r, f)
				}
			}) {
				r.ended = true
				continue
			}
			break
		}
		s.runs = s.runs[1:]
		s.tellRun(r)
	}
	s.expose()
}

// tellRun stores what a run said, or only that it was.
func (s *session) tellRun(r *run) {
	text := string(r.text)
	if r.element != nil && s.secret(*r.element) {
		r.mustHide("password")
	}
	e := human.RecordedEvent{
		At: r.to, Source: human.RecorderSource, Type: human.TextTyped, Element: r.told, Count: len(r.text), CausedBy: r.first, Until: r.last,
	}
	if r.suspect != "" && !r.proven() {
		e.Hidden = r.suspect
	} else {
		e.Text, e.Hidden = s.conceal(r, text)
	}
	if e.Hidden != "" {
		s.rec.Counts.Masked++
		if r.told != nil {
			s.cover(r.told.Bounds, r.in)
		}
	}
	s.store(e)
	if (e.Hidden == "" || e.Hidden == "secret") && r.read && !r.goesOn && r.after != "" && r.told != nil {
		v := human.RecordedEvent{At: s.now(), Source: human.ElementSource, Type: human.ValueRead, Element: r.told, Text: r.masked, CausedBy: r.first}
		if r.masked != r.after {
			v.Hidden = "secret"
			s.rec.Counts.Masked++
			s.cover(r.told.Bounds, r.in)
		}
		s.feed(human.ElementSource).made++
		s.store(v)
	}
	clear(r.text)
	r.text, r.value, r.after = nil, "", ""
}

// conceal masks secrets in what was typed: those it has, one that began in what was typed before, and one
// whose other part stands in the field.
func (s *session) conceal(r *run, text string) (shown, hidden string) {
	if masked, found := s.mask.text(text); found {
		return masked, "secret"
	}
	if r.before != "" {
		if masked, found := s.mask.text(r.before + text); found && !strings.HasSuffix(masked, text) {
			return "", "secret"
		}
	}
	if r.read && r.masked != r.after && strings.Contains(r.after, text) && !strings.Contains(r.masked, text) {
		return "", "secret"
	}
	return text, ""
}
