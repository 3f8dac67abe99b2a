package say

import (
	"cmp"
	"slices"
	"strings"
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
		if !facts.OnDesktop(a) || !facts.ByHand(a) && a.Type != human.OpenApp && a.Type != human.SwitchWindow && a.Type != human.Scroll && !a.Reported {
			continue
		}
		if n := facts.ProgramName(a); n != "" && !known[n] {
			known[n] = true
			out = append(out, n)
		}
	}
	return out
}

// maxApps are named in the line.
const maxApps = 3

// desktopLine says the most that fits one line: in which programs, what came of it, what went wrong, what is open.
func desktopLine(r *report, found []human.Finding) string {
	var parts []string
	told := map[human.Ref]bool{}
	for _, x := range r.Outcomes {
		for _, ref := range x.By {
			told[ref] = true
		}
		switch {
		case x.Verdict == facts.Agrees:
			parts = append(parts, r.say("line-as-expected", x.Brief))
		case x.Verdict != facts.Unsaid:
			parts = append(parts, r.say("line-otherwise", x.Brief))
		case !x.Brief.None():
			parts = append(parts, r.phrase(x.Brief))
		default:
			parts = append(parts, r.say("line-not-confirmed"))
		}
		if len(parts) == 2 {
			break
		}
	}
	n := len(parts)
	for _, g := range r.FileGroup() {
		known := !slices.ContainsFunc(g.Files, func(f *facts.File) bool { return !told[f.Last().Ref()] })
		if !known && len(parts) < n+2 {
			parts = append(parts, r.phrase(r.Briefly(g)))
		}
	}
	if done := of(found, human.FoundDone); len(parts) == 0 && len(done) > 0 {
		parts = append(parts, r.lower(strings.TrimRight(done[0].Text, ".。")))
	}
	seen := map[string]bool{}
	for _, d := range r.Screen().Dialogs {
		if t := facts.Quote(d.Title); t != "" && r.Screen().Trouble(d.Title) && !seen[t] && len(seen) < 2 {
			seen[t] = true
			parts = append(parts, r.say("came-up", t))
		}
	}
	if errors := of(found, human.FoundError); len(seen) == 0 && len(errors) > 0 {
		parts = append(parts, r.lower(strings.TrimRight(errors[0].Text, ".。")))
	}
	for _, f := range of(found, human.FoundUndone) {
		parts = append(parts, r.lower(strings.TrimRight(f.Text, ".。")))
	}
	where := ""
	if apps := r.apps(); len(apps) > maxApps {
		where = strings.Join(apps[:maxApps], r.say("comma")) + r.say("and-others")
	} else if len(apps) > 0 {
		where = r.list(apps)
	}
	if said := facts.Split(r.In.Answer.HumanInput); len(parts) == 0 && len(said) > 0 {
		parts = append(parts, facts.Exactly(said[0], maxAnswer))
	}
	if len(parts) == 0 {
		if where == "" {
			key := "line-no-programs"
			if slices.ContainsFunc(r.In.Recordings, func(rec summarizers.Recorded) bool { return unseen(&rec) }) {
				key = "line-not-seen"
			}
			return r.say(key, facts.Exactly(cmp.Or(r.In.Operation.Description, string(r.In.Operation.Kind)), maxAnswer))
		}
		return r.say("line-looked-at-programs", where)
	}
	return r.fit(where, parts)
}

// unseen says whether a recording of the desktop was made without pointer and keys: nothing follows from there being none.
func unseen(rec *summarizers.Recorded) bool {
	return slices.ContainsFunc(rec.Sources, func(s human.SourceState) bool { return s.Source == human.InputSource && s.Status == "missing" })
}

// Limits on the account of what was done in each program.
const (
	maxSections  = 8
	maxActions   = 24 // together, but a few in each
	leastActions = 5
)

// desktopText is a hand-over: what was done in each program in its order, what came of it, what went wrong, what is
// open.
func desktopText(r *report, found []human.Finding, left map[human.FindingKind]int) string {
	return paragraphs(r.account(r.Actions), r.tookAltogether(), r.all(found, left))
}

// withoutOutcomes leaves out files that an outcome tells of, for the account.
func (r *report) withoutOutcomes(found []human.Finding) []human.Finding {
	told := map[human.Ref]bool{}
	for _, x := range r.Outcomes {
		for _, ref := range x.By {
			told[ref] = ref.Kind == human.RefAction
		}
	}
	return slices.DeleteFunc(slices.Clone(found), func(f human.Finding) bool {
		return f.Kind == human.FoundDone && !slices.ContainsFunc(f.Evidence, func(ref human.Ref) bool { return !told[ref] })
	})
}

// account tells, program after program, what was done in each.
func (r *report) account(acts []facts.Action) string {
	type section struct {
		app   string
		deeds []string
	}
	var all []*section
	alike, times := "", 0
	for _, a := range acts {
		if !facts.OnDesktop(a) || !inAccount(a) {
			continue
		}
		app := facts.ProgramName(a)
		if n := len(all); n == 0 || all[n-1].app != app && app != "" {
			if n == maxSections+1 {
				break
			}
			all = append(all, &section{app: app})
		}
		s := all[len(all)-1]
		if a.Type == human.FileOperation && a.File != nil { // of many, the first two tell what they are
			if same := a.File.Op + facts.Folder(a.File.Path); same == alike {
				if times++; times > 2 {
					continue
				}
			} else {
				alike, times = same, 1
			}
		} else {
			alike, times = "", 0
		}
		did := r.phrase(r.Described(a))
		if a.Type == human.OpenApp && app != "" {
			did = r.say("opened-it")
		}
		if n := len(s.deeds); did != "" && (n == 0 || s.deeds[n-1] != did) && n <= maxActions {
			s.deeds = append(s.deeds, did)
		}
	}
	more := len(all) > maxSections
	all = slices.DeleteFunc(all[:min(len(all), maxSections)], func(s *section) bool { return len(s.deeds) == 0 })
	var lines []string
	for _, s := range all {
		most := max(leastActions, maxActions/len(all))
		what := strings.Join(s.deeds[:min(len(s.deeds), most)], r.say("clause"))
		if len(s.deeds) > most {
			what += r.say("list-goes-on")
		}
		if s.app == "" {
			lines = append(lines, r.fullStop(what))
			continue
		}
		lines = append(lines, r.fullStop(r.say("colon", s.app, what)))
	}
	if more {
		lines = append(lines, r.say("more-windows"))
	}
	return strings.Join(lines, r.say("space"))
}

// tookAltogether says how long was recorded; "" where that is not known.
func (r *report) tookAltogether() string {
	if took := r.took(); took != "" && len(r.Actions) > 0 {
		return r.say("took-in-all", took)
	}
	return ""
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

// inAccount says whether an action belongs into an account: not a click on nothing that has a name, nor a key that only
// moves.
func inAccount(a facts.Action) bool {
	switch a.Type {
	case human.Click, human.DoubleClick, human.TripleClick, human.Drag:
		return facts.ElementName(a.Element) != "" && a.Element.Role != "menu" && a.Element.Role != "scrollbar"
	case human.Typing, human.OpenApp, human.FileOperation, human.Paste, human.Copy:
		return true
	case human.SwitchWindow:
		return a.Element != nil
	case human.CloseWindow:
		return true
	case human.Shortcut:
		return len(a.Modifiers) > 0 || len(a.Key) > 1 && a.Key[0] == 'F'
	}
	return false
}
