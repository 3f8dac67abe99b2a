package find

import (
	"cmp"
	"slices"
	"strings"

	"deskbell/backend/human"
	"deskbell/summarizers/builtin/facts"
)

// findClicks tells which buttons and menu items were used that do more than lead somewhere else, by program. Where a
// dialog spoke of an error right after, that tells it.
func findClicks(r *Result) []Finding {
	s := r.Screen()
	led := map[int]bool{} // to trouble
	for _, d := range s.Dialogs {
		if d.By >= 0 && (s.Trouble(d.Title) || r.trouble(d) != "") {
			led[d.By] = true
		}
	}
	again := map[string]bool{} // it is reported that it was tried again
	for _, d := range s.Dialogs {
		if d.By >= 0 && led[d.By] {
			again[repeatable(r.Actions[d.By])] = true
		}
	}
	type deeds struct {
		names []string
		acts  []facts.Action
	}
	by := map[string]*deeds{}
	var order []string
	for i, a := range r.Actions {
		n := facts.Button(a)
		if !facts.OnDesktop(a) || n == "" || led[i] || !facts.IsCommand(a.Element) || !facts.CommandWords.Begins(n) || facts.StartsWith(n, facts.EnDrop, facts.ZhDrop) || strings.HasSuffix(n, "…") || strings.HasSuffix(n, "...") {
			continue
		}
		if d := s.In[i]; d != nil && s.Trouble(d.Title) {
			continue // it answers an error
		}
		// Where folders are watched, the file says what came of it; a login is no news.
		if r.savedSoon(i) || facts.StartsWith(n, facts.EnLogin, facts.ZhLogin) || again[repeatable(a)] || facts.IsCloser(a) {
			continue
		}
		app := facts.Exactly(cmp.Or(facts.AppName(a), facts.WindowTitle(a)), facts.MaxName)
		if by[app] == nil {
			by[app] = &deeds{}
			order = append(order, app)
		}
		d := by[app]
		d.acts = append(d.acts, a)
		if q := facts.Quote(n); len(d.names) < manyNames && !slices.Contains(d.names, q) {
			d.names = append(d.names, q)
		}
	}
	var out []Finding
	for _, app := range order {
		d := by[app]
		what := d.names[:min(len(d.names), namedFiles)]
		text := say("clicked-in", what, app)
		if app == "" {
			text = say("clicked", what)
		}
		out = append(out, finding(human.FoundDone, 0.95, text, facts.Refs(d.acts...)...))
	}
	if len(out) == 0 && len(r.Files()) == 0 {
		return r.closedByHand()
	}
	return out
}

// closedByHand tells which windows were closed that had been there before: where nothing else was done, that may be
// what was asked for.
func (r *Result) closedByHand() []Finding {
	const soon = 2e9            // nanoseconds after what closed it
	opened := map[string]bool{} // before or afterwards
	for _, a := range r.Actions {
		if a.Type == human.OpenApp {
			opened[facts.AppName(a)] = true
		}
	}
	var out []Finding
	last := -1
	for i, a := range r.Actions {
		switch {
		case !facts.OnDesktop(a):
		case a.Type == human.CloseWindow && a.Element == nil && facts.WindowTitle(a) != "" && !opened[facts.AppName(a)] && last >= 0 &&
			r.Actions[last].Rec == a.Rec && a.At-r.Actions[last].End <= soon && (facts.IsQuit(r.Actions[last]) || facts.IsCloser(r.Actions[last])) && len(out) < fewFiles:
			out = append(out, finding(human.FoundDone, 0.9, say("closed", facts.Quote(facts.WindowTitle(a))), a.Ref(), r.Actions[last].Ref()))
		case facts.ByHand(a):
			last = i
		}
	}
	return out
}

// savedSoon says whether a file was written soon after an action.
func (r *Result) savedSoon(i int) bool {
	from := r.Actions[i]
	for _, a := range r.Actions[i+1 : min(i+20, len(r.Actions))] {
		if a.Rec != from.Rec || a.At-from.End > facts.CauseWithin {
			return false
		}
		if a.Type == human.FileOperation {
			return true
		}
	}
	return false
}

// manyNames are all that are looked at of one window: no more of them are reported.
const manyNames = 64

// findFilled tells which fields text was typed into, by window: that it was, and not what. One field is a detail of
// something else, and so is a login.
func findFilled(r *Result) []Finding {
	type form struct {
		fields []string
		acts   []facts.Action
		secret bool
	}
	forms := map[string]*form{}
	var order []string
	for _, a := range r.Actions {
		if !facts.OnDesktop(a) || a.Type != human.Typing && a.Type != human.Paste || a.Element == nil || facts.IsTerminal(a) {
			continue
		}
		key := facts.WindowKey(a)
		n := facts.ElementName(a.Element)
		if a.Element.Secret || a.Hidden == "password" {
			if f := forms[key]; f != nil {
				f.secret = true
			}
			continue
		}
		if n == "" || facts.Searches(n) || a.Element.Role == "document" {
			continue
		}
		if forms[key] == nil {
			forms[key] = &form{}
			order = append(order, key)
		}
		f := forms[key]
		f.acts = append(f.acts, a)
		if q := facts.Quote(n); len(f.fields) < manyNames && !slices.Contains(f.fields, q) {
			f.fields = append(f.fields, q)
		}
	}
	var out []Finding
	for _, key := range order {
		f := forms[key]
		if len(f.fields) < 2 || f.secret {
			continue
		}
		where := cmp.Or(facts.Quote(facts.WindowTitle(f.acts[0])), facts.ProgramName(f.acts[0]))
		fields := f.fields[:min(len(f.fields), namedFiles)]
		text := say("typed-into-fields-in", fields, where)
		if where == "" {
			text = say("typed-into-fields", fields)
		}
		out = append(out, finding(human.FoundDone, 1, text, facts.Refs(f.acts...)...))
	}
	return out
}

// findSettings tells which checkboxes, switches and options were clicked. Whether they are on or off now the recording
// does not know for certain.
func findSettings(r *Result) []Finding {
	type setting struct {
		names []string
		acts  []facts.Action
	}
	by := map[string]*setting{}
	var order []string
	for i, a := range r.Actions {
		n := facts.Button(a)
		if !facts.OnDesktop(a) || n == "" || r.Screen().In[i] != nil {
			continue // what is set in a dialog is a detail of what the dialog is for
		}
		switch a.Element.Role {
		case "checkbox", "switch", "radio", "menuitemcheckbox", "menuitemradio":
		default:
			continue
		}
		key := facts.WindowKey(a)
		if by[key] == nil {
			by[key] = &setting{}
			order = append(order, key)
		}
		s := by[key]
		if i := len(s.acts) - 1; i >= 0 && s.acts[i].Element.Role == a.Element.Role && strings.HasSuffix(a.Element.Role, "radio") {
			was := s.acts[i].Element.Name
			s.acts, s.names = s.acts[:i], slices.DeleteFunc(s.names, func(q string) bool { return q == facts.Quote(was) }) // another choice of the same
		}
		s.acts = append(s.acts, a)
		if q := facts.Quote(n); len(s.names) < manyNames && !slices.Contains(s.names, q) {
			s.names = append(s.names, q)
		}
	}
	var out []Finding
	for _, key := range order {
		s := by[key]
		where := cmp.Or(facts.Quote(facts.WindowTitle(s.acts[0])), facts.ProgramName(s.acts[0]))
		what := s.names[:min(len(s.names), namedFiles)]
		text := say("settings-clicked-in", what, where)
		if where == "" {
			text = say("settings-clicked", what)
		}
		out = append(out, finding(human.FoundDone, 0.95, text, facts.Refs(s.acts...)...))
	}
	return out
}
