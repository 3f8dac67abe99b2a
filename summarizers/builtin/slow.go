package builtin

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"time"

	"deskbell/backend/human"
)

// What counts as long: a wait and a step by themselves, and beside the others of their kind.
const (
	longWait  = 10 * time.Second
	longPause = 60 * time.Second
	longStep  = 60 * time.Second
	muchMore  = 3 // times the middle one
	fewSlow   = 3 // the longest ones are told
)

// A stretch is the time between two actions, in which nobody did anything.
type stretch struct {
	from, to act
	long     time.Duration
	wait     bool // it ended with something that a person does not do: what they had begun took that long
}

// stretches are those of a second or more without a gap of the recording in them, in the order of time; usual is how
// long it mostly took from one action to the next.
func (r *reading) stretches() (out []stretch, usual time.Duration) {
	var lengths []time.Duration
	last := -1 // the one that ended last: some go on beside others
	var until time.Time
	for i, a := range r.acts {
		if a.Type == human.Missing || a.Type == human.Note && a.CausedBy == "" && a.Text == "" {
			last = -1 // what happened then is not known
			continue
		}
		began := a.began()
		if last >= 0 && r.acts[last].rec == a.rec {
			d := max(began.Sub(until), 0)
			lengths = append(lengths, d)
			if d >= time.Second {
				p := r.acts[last]
				out = append(out, stretch{from: p, to: a, long: d, wait: startsWork(p) && endsWait(a, p)})
			}
		} else {
			last = -1
		}
		if e := a.ended(); last < 0 || !e.Before(until) {
			last, until = i, e
		}
	}
	if len(lengths) < 3 { // of so few none is the usual one
		return out, 0
	}
	return out, middle(lengths)
}

// startsWork says whether something may take its time after an action.
func startsWork(a act) bool {
	switch a.Type {
	case human.Click, human.DoubleClick, human.Shortcut, human.Typing, human.DialogEnded, human.Upload, human.Drag, human.Paste, human.Navigate, human.OpenPage:
		return true
	}
	return false
}

// endsWait says whether an action, done by no hand, is what was waited for after p.
func endsWait(a, p act) bool {
	switch a.Type {
	case human.FileOperation, human.Download:
		return true
	case human.SwitchWindow:
		return a.Element != nil
	case human.Navigate, human.OpenPage:
		if n := a.Navigation; n != nil && (n.Kind == "script" || n.Kind == "redirect" || n.Kind == "form") {
			return true
		}
		return a.CausedBy == p.ID
	}
	return busy(p)
}

// busy says whether what was shown said that it is not done yet.
func busy(a act) bool {
	t := windowTitle(a)
	if a.Page != nil {
		t = a.Page.Title
	} else if a.Type == human.SwitchWindow && a.Element != nil {
		t = cmp.Or(a.Element.Name, t)
	}
	return hasAny(t, enBusy, zhBusy) || percent.MatchString(t)
}

var percent = regexp.MustCompile(`\b\d{1,2} ?%`)

// findSlow tells of what took long: what was waited for, pauses, steps of the checklist.
func findSlow(r *reading) []human.Finding {
	all, usual := r.stretches()
	var waits, pauses []stretch
	for _, s := range all {
		switch {
		case s.wait && s.long >= longWait && s.long >= muchMore*usual:
			waits = append(waits, s)
		case !s.wait && s.from.watched() && s.to.watched() && s.long >= longPause && s.long >= muchMore*usual:
			pauses = append(pauses, s)
		}
	}
	var out []human.Finding
	for _, s := range longest(waits) {
		if r.deed(s.from) == "" || r.deed(s.to) == "" {
			continue
		}
		out = append(out, finding(human.FoundSlow, 0.8, r.say("Waited %s, from this: %s, until this: %s", "从%[2]s到%[3]s，等待了 %[1]s",
			r.duration(s.long), r.deed(s.from), r.deed(s.to)), s.from.ref(), s.to.ref()))
	}
	out = append(out, r.slowSteps()...)
	for _, s := range longest(pauses) {
		if r.deed(s.from) == "" {
			continue
		}
		out = append(out, finding(human.FoundSlow, 0.8, r.say("Pause: for %s nothing was done, after this: %s", "停顿：%s内没有任何操作，此前：%s",
			r.duration(s.long), r.deed(s.from)), s.from.ref(), s.to.ref()))
	}
	return out
}

// watched says whether what a person does was recorded where an action was done: in pages, or on the desktop.
func (a act) watched() bool {
	if a.Page != nil {
		return a.sees(human.BrowserSource)
	}
	return a.sees(human.InputSource)
}

// longest keeps the longest few, in the order of time.
func longest(all []stretch) []stretch {
	if len(all) <= fewSlow {
		return all
	}
	lengths := make([]time.Duration, len(all))
	for i, s := range all {
		lengths[i] = s.long
	}
	slices.Sort(lengths)
	least := lengths[len(lengths)-fewSlow]
	var out []stretch
	for _, s := range all {
		if s.long >= least && len(out) < fewSlow {
			out = append(out, s)
		}
	}
	return out
}

// middle is the lower of the two in the middle: of few, the shorter ones are the rule.
func middle(d []time.Duration) time.Duration {
	if len(d) == 0 {
		return 0
	}
	d = slices.Clone(d)
	slices.Sort(d)
	return d[(len(d)-1)/2]
}

// slowSteps finds steps of the checklist that took much longer than the others, pauses left out.
func (r *reading) slowSteps() []human.Finding {
	n := len(r.in.Checklist)
	if n < 2 {
		return nil
	}
	type span struct {
		first, last act
		took        time.Duration
	}
	steps := make([]span, n)
	var until time.Time
	for _, a := range r.acts {
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
			from := a.began()
			if !until.IsZero() && from.Sub(until) < longPause {
				from = until
			}
			if e := a.ended(); e.After(from) {
				s.took += e.Sub(from)
			}
		}
		if e := a.ended(); e.After(until) {
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
	if len(took) < 2 || steps[slowest].took < longStep || steps[slowest].took < muchMore*middle(took)/2 {
		return nil
	}
	s := steps[slowest]
	return []human.Finding{finding(human.FoundSlow, 0.8, r.say("The step %s took %s, longer than any other", "步骤%s用时 %s，比其他步骤都长",
		r.quote(r.in.Checklist[slowest].Text), r.duration(s.last.ended().Sub(s.first.began()))),
		human.Ref{Kind: human.RefStep, ID: strconv.Itoa(slowest)}, s.first.ref(), s.last.ref())}
}
