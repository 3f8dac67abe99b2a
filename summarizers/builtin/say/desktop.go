package say

import (
	"slices"
	"time"

	"deskbell/backend/human"
	"deskbell/summarizers"
	"deskbell/summarizers/builtin/facts"
)

// apps are the programs that something was done in, in the order in which that was.
func (r *report) apps() []string {
	var out []string
	known := map[string]bool{}
	for _, a := range r.Actions {
		if !worksIn(a) {
			continue
		}
		if n := facts.ProgramName(a); n != "" && !known[n] {
			known[n] = true
			out = append(out, n)
		}
	}
	return out
}

// worksIn says whether an action tells that a person worked in its program.
func worksIn(a facts.Action) bool {
	return facts.OnDesktop(a) && (facts.ByHand(a) || a.Type == human.OpenApp || a.Type == human.SwitchWindow || a.Type == human.Scroll || a.Reported)
}

// maxApps are named in the line.
const maxApps = 3

// unseen says whether a recording of the desktop was made without pointer and keys: nothing follows from there being none.
func unseen(rec *summarizers.Recorded) bool {
	return slices.ContainsFunc(rec.Sources, func(s human.SourceState) bool { return s.Source == human.InputSource && s.Status == "missing" })
}

// took is how long was recorded, pauses left out; "" where that is not known.
func (r *report) took() string {
	var elapsed int64
	for i := range r.In.Recordings {
		elapsed += r.In.Recordings[i].Elapsed
	}
	if elapsed <= 0 {
		return ""
	}
	return r.duration(time.Duration(elapsed))
}
