// Package trust keeps how far operators trust agents, for each project and kind of effect, between 0 and 1. It is a fold
// over the answers that operators gave: nothing is kept but those, and the same answers give the same trust.
package trust

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"time"

	"deskbell/backend/human"
)

// Options are how answers move trust.
type Options struct {
	Initial   float64
	Increment float64       // of an answer that allows
	Decrement float64       // of an answer that denies
	HalfLife  time.Duration // in which half of the way back to Initial is gone; 0: none ever is
}

// An Answer is what an operator said to one question.
type Answer struct {
	At        time.Time
	Operator  string
	Project   string // the root of a working tree
	Verbs     []human.EffectVerb
	Allowed   bool
	Read      time.Duration // between the question being seen and the answer
	Words     int           // that there were to be read
	Bulk      bool          // given to several questions at once
	HardLimit bool          // the call was a hard limit, about which trust says nothing
}

// Why says what an answer counted as.
type Why string

// What answers count as. Only the first two move trust; a denial always does.
const (
	Allowed Why = "allowed"
	Refused Why = "refused"
	TooFast Why = "too_fast"
	Bulk    Why = "bulk"
	Floor   Why = "floor"
)

// A Point is trust at a time. Why is empty where only time passed.
type Point struct {
	At     time.Time
	Value  float64
	Why    Why
	Before float64 // just before the answer; Value where there is none
}

// A Line is the trust in one kind of effect.
type Line struct {
	Verb   human.EffectVerb
	Points []Point
}

// Reading takes about 0.25 s a word: adults read 238 English words a minute silently, most of them between 175 and 300
// (M. Brysbaert, How many words do we read per minute?, Journal of Memory and Language 109, 2019). No one is held to more
// than the fastest of them, nor to reading all of a long text again.
const (
	perWord = 200 * time.Millisecond
	atLeast = 1500 * time.Millisecond // to see what it is, and to decide
	atMost  = 10 * time.Second
)

// Together is how near each other answers of one operator are no single ones.
const Together = 2 * time.Second

// Reading is the least time that a person needs to read so many words and decide.
func Reading(words int) time.Duration {
	if words < 0 || words > int(atMost/perWord) {
		return atMost
	}
	return min(atLeast+time.Duration(words)*perWord, atMost)
}

// A Ledger is answers and the trust that they make. It is safe for concurrent use.
type Ledger struct {
	options Options

	mu      sync.RWMutex
	answers map[string][]*entry // of each operator, in order
	lines   map[key][]step
}

type key struct {
	operator, project string
	verb              human.EffectVerb
}

// An entry is an answer with what it counts as.
type entry struct {
	Answer
	why Why
}

// A step is trust after an answer.
type step struct {
	*entry
	value float64
}

// New returns a Ledger without answers. Options out of range are put right.
func New(o Options) *Ledger {
	o.Initial, o.Increment, o.Decrement = unit(o.Initial), unit(o.Increment), unit(o.Decrement)
	o.HalfLife = max(o.HalfLife, 0)
	return &Ledger{options: o, answers: map[string][]*entry{}, lines: map[key][]step{}}
}

func unit(x float64) float64 {
	if !(x > 0) { // NaN, too
		return 0
	}
	return min(x, 1)
}

// Add counts an answer. Answers may come in any order; those of one operator that come in theirs cost least.
func (l *Ledger) Add(a Answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a.Verbs = slices.Clone(a.Verbs)
	slices.Sort(a.Verbs)
	a.Verbs = slices.Compact(a.Verbs)
	e := &entry{a, alone(a)}
	// Whoever answers two questions at once read neither.
	all := l.answers[a.Operator]
	i, _ := slices.BinarySearchFunc(all, a.At, func(e *entry, at time.Time) int {
		return cmp.Or(e.At.Compare(at), -1) // behind those of the same time
	})
	for _, beside := range all[max(0, i-1):min(i+1, len(all))] {
		if beside.At.Sub(a.At).Abs() < Together {
			e.why = together(e)
			l.recount(beside)
		}
	}
	l.answers[a.Operator] = slices.Insert(all, i, e)
	for _, verb := range a.Verbs {
		k := key{a.Operator, a.Project, verb}
		line := l.lines[k]
		i := upTo(line, a.At)
		l.lines[k] = slices.Insert(line, i, step{entry: e})
		l.fold(l.lines[k], i)
	}
}

func alone(a Answer) Why {
	switch {
	case a.HardLimit:
		return Floor
	case !a.Allowed:
		return Refused
	case a.Bulk:
		return Bulk
	case a.Read < Reading(a.Words):
		return TooFast
	}
	return Allowed
}

func together(e *entry) Why {
	if e.why == Allowed || e.why == TooFast {
		return Bulk
	}
	return e.why
}

// recount counts an answer anew as one of several.
func (l *Ledger) recount(e *entry) {
	was := e.why
	if e.why = together(e); e.why == was || was != Allowed {
		return
	}
	for _, verb := range e.Verbs {
		line := l.lines[key{e.Operator, e.Project, verb}]
		if i := slices.IndexFunc(line, func(s step) bool { return s.entry == e }); i >= 0 {
			l.fold(line, i)
		}
	}
}

// fold makes the values of a line anew, from a place on.
func (l *Ledger) fold(line []step, from int) {
	for i := from; i < len(line); i++ {
		v := l.options.Initial
		if i > 0 {
			v = l.decayed(line[i-1], line[i].At)
		}
		switch line[i].why {
		case Allowed:
			v += l.options.Increment
		case Refused:
			v -= l.options.Decrement
		}
		line[i].value = unit(v)
	}
}

// decayed is what is left of trust at a time: half of the way back to the initial one goes in each half life.
func (l *Ledger) decayed(s step, at time.Time) float64 {
	passed := at.Sub(s.At)
	if passed <= 0 || l.options.HalfLife == 0 {
		return s.value
	}
	return l.options.Initial + (s.value-l.options.Initial)*math.Exp2(-float64(passed)/float64(l.options.HalfLife))
}

// upTo is how many steps of a line there are until a time.
func upTo(line []step, at time.Time) int {
	i, _ := slices.BinarySearchFunc(line, at, func(s step, at time.Time) int { return cmp.Or(s.At.Compare(at), -1) })
	return i
}

func (l *Ledger) at(line []step, at time.Time) float64 {
	i := upTo(line, at)
	if i == 0 {
		return l.options.Initial
	}
	return unit(l.decayed(line[i-1], at))
}

// Value is an operator's trust in a kind of effect in a project at a time, by the answers until then.
func (l *Ledger) Value(operator, project string, verb human.EffectVerb, at time.Time) float64 {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.at(l.lines[key{operator, project, verb}], at)
}

// Series is an operator's trust in a project from one time to another: a line for each kind of effect that was answered
// for until then, in the order of human.EffectVerbs, with a point at both ends and at every answer.
func (l *Ledger) Series(operator, project string, from, to time.Time) []Line {
	l.mu.RLock()
	defer l.mu.RUnlock()
	out := []Line{}
	if to.Before(from) {
		return out
	}
	for _, verb := range human.EffectVerbs {
		line := l.lines[key{operator, project, verb}]
		if len(line) == 0 || line[0].At.After(to) {
			continue
		}
		start := l.at(line, from)
		points := []Point{{At: from, Value: start, Before: start}}
		for i, s := range line {
			if !s.At.After(from) || s.At.After(to) {
				continue
			}
			before := l.options.Initial
			if i > 0 {
				before = unit(l.decayed(line[i-1], s.At))
			}
			points = append(points, Point{s.At, s.value, s.why, before})
		}
		if points[len(points)-1].At.Before(to) {
			end := l.at(line, to)
			points = append(points, Point{At: to, Value: end, Before: end})
		}
		out = append(out, Line{verb, points})
	}
	return out
}
