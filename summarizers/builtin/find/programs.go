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
func findClicks(r *Result) []Claim {
	s := r.Screen()
	led := map[int]bool{} // to trouble
	for _, d := range s.Dialogs {
		if d.By >= 0 && r.isTrouble(d) {
			led[d.By] = true
		}
	}
	again := map[string]bool{} // it is reported that it was tried again
	for _, d := range s.Dialogs {
		if d.By >= 0 && led[d.By] {
			again[repeatable(r.Actions[d.By])] = true
		}
	}
	var by inOrder[string, group]
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
		by.of(app).add(a, n)
	}
	var out []Claim
	for _, g := range by.all {
		app := facts.Exactly(cmp.Or(facts.AppName(g.acts[0]), facts.WindowTitle(g.acts[0])), facts.MaxName)
		out = append(out, g.told(0.95, "clicked", "clicked-in", app))
	}
	if len(out) == 0 && len(r.Files()) == 0 {
		return r.closedByHand()
	}
	return out
}

// inOrder holds values by key, in the order in which the keys came.
type inOrder[K comparable, V any] struct {
	by  map[K]*V
	all []*V
}

// of is the value of a key: a new one where there is none.
func (o *inOrder[K, V]) of(key K) *V {
	v := o.by[key]
	if v == nil {
		if o.by == nil {
			o.by = map[K]*V{}
		}
		v = new(V)
		o.by[key], o.all = v, append(o.all, v)
	}
	return v
}

// A group is actions that are reported together, with what they were done to.
type group struct {
	names []string
	acts  []facts.Action
}

func (g *group) add(a facts.Action, name string) {
	g.acts = append(g.acts, a)
	if q := facts.Quote(name); len(g.names) < manyNames && !slices.Contains(g.names, q) {
		g.names = append(g.names, q)
	}
}

// told says what was done to the first of them, in the sentence of one key, or of another where it is known where.
func (g *group) told(sure float64, key, keyIn, where string) Claim {
	text := say(key, g.some())
	if where != "" {
		text = say(keyIn, g.some(), where)
	}
	effect := facts.Used
	for _, a := range g.acts {
		if a.Type == human.Click || a.Type == human.DoubleClick {
			effect = max(effect, facts.EffectOf(facts.Button(a)))
		}
	}
	return claim(human.FoundDone, sure, text, facts.Refs(g.acts...)...).with(effect, Phrase{})
}

// some are the names that a sentence has room for.
func (g *group) some() []string { return g.names[:min(len(g.names), namedFiles)] }

// window is where a group was done: its window, else its program.
func (g *group) window() string {
	return cmp.Or(facts.Quote(facts.WindowTitle(g.acts[0])), facts.ProgramName(g.acts[0]))
}

// closedByHand tells which windows were closed that had been there before: where nothing else was done, that may be
// what was asked for.
func (r *Result) closedByHand() []Claim {
	const soon = 2e9            // nanoseconds after what closed it
	opened := map[string]bool{} // before or afterwards
	for _, a := range r.Actions {
		if a.Type == human.OpenApp {
			opened[facts.AppName(a)] = true
		}
	}
	var out []Claim
	last := -1
	for i, a := range r.Actions {
		switch {
		case !facts.OnDesktop(a):
		case a.Type == human.CloseWindow && a.Element == nil && facts.WindowTitle(a) != "" && !opened[facts.AppName(a)] && last >= 0 &&
			r.Actions[last].Rec == a.Rec && a.At-r.Actions[last].End <= soon && (facts.IsQuit(r.Actions[last]) || facts.IsCloser(r.Actions[last])) && len(out) < fewFiles:
			out = append(out, claim(human.FoundDone, 0.9, say("closed", facts.Quote(facts.WindowTitle(a))), a.Ref(), r.Actions[last].Ref()).with(facts.Used, Phrase{}))
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
func findFilled(r *Result) []Claim {
	var forms inOrder[string, group]
	secret := map[*group]bool{}
	for _, a := range r.Actions {
		if !facts.OnDesktop(a) || a.Type != human.Typing && a.Type != human.Paste || a.Element == nil || facts.IsTerminal(a) {
			continue
		}
		key := facts.WindowKey(a)
		n := facts.ElementName(a.Element)
		if a.Element.Secret || a.Hidden == "password" {
			secret[forms.by[key]] = true
			continue
		}
		if n == "" || facts.Searches(n) || a.Element.Role == "document" {
			continue
		}
		forms.of(key).add(a, n)
	}
	var out []Claim
	for _, g := range forms.all {
		if len(g.names) >= 2 && !secret[g] {
			out = append(out, g.told(1, "typed-into-fields", "typed-into-fields-in", g.window()))
		}
	}
	return out
}

// findReported tells which fields and choices programs reported as changed where no input was seen. It does not say that a
// person did it.
func findReported(r *Result) []Claim {
	var by inOrder[string, group]
	for _, a := range r.Actions {
		if n := facts.ElementName(a.Element); a.Reported && a.Type == human.ValueChange && n != "" {
			by.of(facts.WindowKey(a)).add(a, n)
		}
	}
	var out []Claim
	for _, g := range by.all {
		out = append(out, g.told(1, "reported-changes", "reported-changes-in", g.window()))
	}
	return out
}

// findSettings tells which checkboxes, switches and options were clicked. Whether they are on or off now the recording
// does not know for certain.
func findSettings(r *Result) []Claim {
	var by inOrder[string, group]
	for i, a := range r.Actions {
		n := facts.Button(a)
		if !facts.OnDesktop(a) || n == "" || r.Screen().In[i] != nil {
			continue // what is set in a dialog is a detail of what the dialog is for
		}
		if !facts.IsSwitch(a.Element) {
			continue
		}
		g := by.of(facts.WindowKey(a))
		if i := len(g.acts) - 1; i >= 0 && g.acts[i].Element.Role == a.Element.Role && strings.HasSuffix(a.Element.Role, "radio") {
			was := facts.Quote(g.acts[i].Element.Name)
			g.acts, g.names = g.acts[:i], slices.DeleteFunc(g.names, func(q string) bool { return q == was }) // another choice of the same
		}
		g.add(a, n)
	}
	var out []Claim
	for _, g := range by.all {
		out = append(out, g.told(0.95, "settings-clicked", "settings-clicked-in", g.window()))
	}
	return out
}
