package find

import (
	"slices"
	"strconv"
	"time"

	"deskbell/backend/human"
	"deskbell/summarizers/builtin/facts"
)

// findSlow tells of what took long: what was waited for, pauses, steps of the checklist.
func findSlow(r *Result) []Claim {
	all, usual := r.Stretches()
	var waits, pauses []facts.Stretch
	for _, s := range all {
		switch {
		case s.Wait && s.Long >= facts.LongWait && s.Long >= facts.MuchMore*usual:
			waits = append(waits, s)
		case !s.Wait && s.From.Watched() && s.To.Watched() && s.Long >= facts.LongPause && s.Long >= facts.MuchMore*usual:
			pauses = append(pauses, s)
		}
	}
	var out []Claim
	for _, s := range longest(waits) {
		if r.Described(s.From).None() || r.Described(s.To).None() {
			continue
		}
		out = append(out, claim(human.FoundSlow, 0.8, say("waited-for",
			s.Long, r.Described(s.From), r.Described(s.To)), s.From.Ref(), s.To.Ref()))
	}
	out = append(out, r.slowSteps()...)
	for _, s := range longest(pauses) {
		if r.Described(s.From).None() {
			continue
		}
		out = append(out, claim(human.FoundSlow, 0.8, say("paused-for",
			s.Long, r.Described(s.From)), s.From.Ref(), s.To.Ref()))
	}
	return out
}

// longest keeps the longest few, in the order of time.
func longest(all []facts.Stretch) []facts.Stretch {
	if len(all) <= facts.FewSlow {
		return all
	}
	lengths := make([]time.Duration, len(all))
	for i, s := range all {
		lengths[i] = s.Long
	}
	slices.Sort(lengths)
	least := lengths[len(lengths)-facts.FewSlow]
	var out []facts.Stretch
	for _, s := range all {
		if s.Long >= least && len(out) < facts.FewSlow {
			out = append(out, s)
		}
	}
	return out
}

// slowSteps finds steps of the checklist that took much longer than the others, pauses left out.
func (r *Result) slowSteps() []Claim {
	n := len(r.In.Checklist)
	if n < 2 {
		return nil
	}
	type span struct {
		first, last facts.Action
		took        time.Duration
	}
	steps := make([]span, n)
	var until time.Time
	for _, a := range r.Actions {
		if a.Type == human.Missing {
			until = time.Time{}
			continue
		}
		if a.Step != nil && *a.Step >= 0 && *a.Step < n {
			s := &steps[*a.Step]
			if s.first.Action == nil {
				s.first = a
			}
			s.last = a
			from := a.Began()
			if !until.IsZero() && from.Sub(until) < facts.LongPause {
				from = until
			}
			if e := a.Ended(); e.After(from) {
				s.took += e.Sub(from)
			}
		}
		if e := a.Ended(); e.After(until) {
			until = e
		}
	}
	var took []time.Duration
	slowest := -1
	for i, s := range steps {
		if s.first.Action != nil {
			took = append(took, s.took)
			if slowest < 0 || s.took > steps[slowest].took {
				slowest = i
			}
		}
	}
	if len(took) < 2 || steps[slowest].took < facts.LongStep || steps[slowest].took < facts.MuchMore*facts.Middle(took)/2 {
		return nil
	}
	s := steps[slowest]
	return []Claim{claim(human.FoundSlow, 0.8, say("step-took-longest",
		facts.Quote(r.In.Checklist[slowest].Text), s.last.Ended().Sub(s.first.Began())),
		human.Ref{Kind: human.RefStep, ID: strconv.Itoa(slowest)}, s.first.Ref(), s.last.Ref())}
}
