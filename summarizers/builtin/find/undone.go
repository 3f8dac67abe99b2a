package find

import (
	"slices"
	"strconv"
	"strings"

	"deskbell/backend/human"
	"deskbell/summarizers"
	"deskbell/summarizers/builtin/facts"
)

// findUndone tells of steps that were not ticked.
func findUndone(r *Result) []Claim {
	var open []int
	for i, s := range r.In.Checklist {
		if !s.Done && strings.TrimSpace(s.Text) != "" {
			open = append(open, i)
		}
	}
	if len(open) == 0 {
		return nil
	}
	ref := func(i int) human.Ref { return human.Ref{Kind: human.RefStep, ID: strconv.Itoa(i)} }
	if len(open) <= fewOpen && len(open) < len(r.In.Checklist) {
		var out []Claim
		for _, i := range open {
			out = append(out, claim(human.FoundUndone, 0.9, say("step-not-ticked", facts.Exactly(r.In.Checklist[i].Text, facts.MaxSaid)), ref(i)))
		}
		return out
	}
	var evidence []human.Ref
	var texts []string
	for _, i := range open {
		evidence = append(evidence, ref(i))
		if len(texts) < namedFiles {
			texts = append(texts, facts.Quote(r.In.Checklist[i].Text))
		}
	}
	n := len(evidence)
	what := series(texts)
	switch {
	case n == len(r.In.Checklist):
		return []Claim{claim(human.FoundUndone, 0.9, say("no-step-ticked", what), evidence...)}
	case n > maxRefs:
		return []Claim{claim(human.FoundUndone, 0.9, say("many-steps-not-ticked", what), evidence...)}
	}
	return []Claim{claim(human.FoundUndone, 0.9, say("steps-not-ticked", n, what), evidence...)}
}

// fewOpen is how many steps that were not ticked have a finding each.
const fewOpen = 3

// findLeftOpen tells of what was begun on the desktop and not ended: documents that were not saved, changes that were
// thrown away, dialogs that were still open.
func findLeftOpen(r *Result) []Claim {
	thrown := r.thrownAway()
	if len(thrown) == 0 {
		thrown = r.notSaved()
	}
	return slices.Concat(thrown, r.stillOpen(), r.notSent())
}

// A document is a window whose title may have the mark of one that is not saved.
type document struct {
	marked int    // where the mark was seen last, from 1; 0 without
	title  string // with the mark
	kept   bool   // saved, perhaps, after it was marked
}

// documents are what is known of windows while actions are read.
type documents struct {
	inOrder[string, document]
	open map[string]*document // marked, and not saved since
}

// kept takes note that all or some of what is open may have been saved.
func (ds *documents) kept(which func(*document) bool) {
	for key, d := range ds.open {
		if which == nil || which(d) {
			d.kept = true
			delete(ds.open, key)
		}
	}
}

// saw takes note of the title of a window at an action.
func (ds *documents) saw(i int, key string, a facts.Action) {
	d := ds.of(key)
	if a.Type == human.CloseWindow && a.Element != nil {
		return
	}
	if _, is := facts.Unsaved(facts.WindowTitle(a)); is {
		if d.marked == 0 || facts.ByHand(a) && a.Type != human.Shortcut {
			d.kept = false
		}
		d.marked, d.title = i+1, facts.WindowTitle(a)
		if !d.kept {
			ds.open[key] = d
		}
	} else if facts.WindowTitle(a) != "" {
		d.marked = 0
	}
	d.kept = d.kept || facts.SavesIt(a)
}

// notSaved finds windows whose title had the mark of an unsaved document when they were last seen, and where nothing
// was done since that saves.
func (r *Result) notSaved() []Claim {
	ds := documents{open: map[string]*document{}}
	s := r.Screen()
	for i, a := range r.Actions {
		if a.Type == human.Missing || !a.Sees(human.InputSource) {
			ds.kept(nil)
		}
		if a.Type == human.FileOperation && a.File != nil && a.File.Op != "deleted" {
			many := len(ds.open) > manyNames
			ds.kept(func(d *document) bool { return many || facts.Names(d.title, a.File) })
			continue
		}
		key := facts.WindowKey(a)
		if facts.OnDesktop(a) && key != "" && (s.In[i] == nil || !s.In[i].Own || a.Type == human.CloseWindow) {
			ds.saw(i, key, a)
		} else if facts.SavesIt(a) {
			ds.kept(nil)
		}
	}
	var out []Claim
	for _, d := range ds.all {
		if d.marked > 0 && !d.kept {
			out = append(out, claim(human.FoundUndone, 0.8, say("not-saved", facts.Quote(d.title)), r.Actions[d.marked-1].Ref()))
		}
	}
	return out
}

// thrownAway finds dialogs that asked whether to save, and were answered with no.
func (r *Result) thrownAway() []Claim {
	var out []Claim
	for i, a := range r.Actions {
		n := facts.Button(a)
		if !facts.OnDesktop(a) || n == "" || !facts.IsControl(a.Element) || !facts.StartsWith(n, facts.EnDrop, facts.ZhDrop) {
			continue
		}
		evidence := []human.Ref{a.Ref()}
		where := facts.WindowTitle(a)
		if d := r.Screen().In[i]; d != nil {
			where = d.Title
			if d.Opened != i {
				evidence = append(evidence, r.Actions[d.Opened].Ref())
			}
		}
		text := say("changes-not-kept", facts.Quote(n))
		if where != "" {
			text = say("changes-not-kept-in", facts.Quote(n), facts.Quote(where))
		}
		out = append(out, claim(human.FoundUndone, 0.9, text, evidence...))
	}
	return out
}

// stillOpen finds a dialog that was there when a recording ended: since it opened nothing was done that may have closed it, or the
// window it belongs to.
func (r *Result) stillOpen() []Claim {
	s := r.Screen()
	last := map[*summarizers.Recorded]*facts.Dialog{}
	for _, d := range s.Dialogs {
		if d.Own && d.Title != "" {
			last[r.Actions[d.Opened].Rec] = d
		}
	}
	var out []Claim
	for i := range r.In.Recordings {
		rec := &r.In.Recordings[i]
		d := last[rec]
		if d == nil || !r.none(search{rec, []human.SourceName{human.InputSource, human.WindowSource}, d.Opened + 1, len(r.Actions)}, func(i int) bool {
			return facts.OnDesktop(r.Actions[i]) && (s.In[i] != d || !stays(r.Actions[i]))
		}) {
			continue
		}
		evidence := r.RefsAt(d.Opened)
		if n := len(d.Actions); n > 0 && d.Actions[n-1] != d.Opened {
			evidence = append(evidence, r.Actions[d.Actions[n-1]].Ref())
		}
		out = append(out, claim(human.FoundUndone, 0.8, say("dialog-still-open", facts.Quote(d.Title)), evidence...))
	}
	return out
}

// stays says whether a dialog is still there after an action in it.
func stays(a facts.Action) bool {
	switch a.Type {
	case human.Typing:
		return a.Key != "Enter"
	case human.Scroll, human.Copy, human.Paste, human.Hover, human.ValueChange, human.Focus:
		return true
	case human.Shortcut:
		return facts.Moves(a)
	case human.Click:
		return facts.ElementName(a.Element) != "" && setsOnly(a.Element)
	}
	return false
}

// setsOnly says whether a click on an element sets something, and sends or ends nothing.
func setsOnly(e *human.Element) bool {
	switch e.Role {
	case "textbox", "searchbox", "label", "checkbox", "radio", "switch", "combobox", "spinbutton", "slider":
		return true
	}
	return false
}

// notSent finds forms that were filled in, at least in two fields of one line each, and then left: nothing was done afterwards
// that could have sent or saved them.
func (r *Result) notSent() []Claim {
	var forms inOrder[string, group]
	last := map[*group]int{}
	for i, a := range r.Actions {
		if key := facts.WindowKey(a); facts.OnDesktop(a) && key != "" && inField(a) && a.Key != "Enter" {
			f := forms.of(key)
			f.add(a, a.Element.Name)
			last[f] = i
		}
	}
	var out []Claim
	for _, f := range forms.all {
		first := r.Index(f.acts[0].Rec.ID, f.acts[0].ID)
		if len(f.names) < 2 || !r.none(search{f.acts[0].Rec, []human.SourceName{human.InputSource, human.WindowSource}, first, len(r.Actions)}, func(i int) bool {
			a := r.Actions[i]
			return facts.OnDesktop(a) && !stays(a) && a.Type != human.SwitchWindow && a.Type != human.OpenApp
		}) {
			continue
		}
		var where Phrase
		if t := facts.WindowTitle(f.acts[0]); t != "" {
			where = say("in-window", facts.Quote(t))
		}
		out = append(out, claim(human.FoundUndone, 0.6, say("window-form-not-sent", f.some(), where), facts.Refs(f.acts...)...))
	}
	return out
}

// inField says whether something was typed into a field of one line that is known.
func inField(a facts.Action) bool {
	e := facts.OrNone(a.Element)
	return a.Type == human.Typing && (e.Role == "textbox" || e.Role == "combobox" || e.Role == "spinbutton") && !slices.Contains(e.States, "multiline") &&
		facts.ElementName(e) != "" && a.Sees(human.InputSource) && a.Sees(human.ElementSource)
}

// findNotSent tells of forms of pages that were filled in, at least in two fields, and not sent.
func findNotSent(r *Result) []Claim {
	var out []Claim
	for _, v := range r.Pages().Visits {
		f, unsent := r.notSentIn(v)
		if !unsent {
			continue
		}
		n := len(f.acts) - 1
		text := say("form-not-sent", f.some())
		if where := r.pageAt(f.acts[n].Page); !where.None() { // as it was then
			text = say("form-not-sent-on", f.some(), where)
		}
		out = append(out, claim(human.FoundUndone, 0.7, text, facts.Refs(append(f.acts[n:], f.acts[:n]...)...)...))
	}
	return out
}

// notSentIn are the fields of a page that were filled in last, at least two, where certainly nothing was done afterwards that may
// have sent them: the page is still there, and can have sent nothing when it was left.
func (r *Result) notSentIn(v *facts.Visit) (f group, ok bool) {
	typed, first := false, -1
	for _, i := range v.Actions {
		switch a := r.Actions[i]; {
		case fillsIn(a) && a.Key != "Enter":
			if n := facts.ElementName(a.Element); n != "" && !facts.IsPassword(a) && !facts.IsSearch(a.Element) {
				if len(f.acts) == 0 {
					first = i
				}
				f.add(a, n)
				typed = typed || a.Type == human.Typing || a.Type == human.Paste
			}
		case !r.Inert(i) && !r.intoField(i):
			f, typed = group{}, false
		}
	}
	if len(f.names) < 2 || !typed || v.Next != nil || v.Ended >= 0 {
		return f, false
	}
	w := r.Pages()
	return f, r.none(search{r.Actions[first].Rec, []human.SourceName{human.BrowserSource}, first, len(r.Actions)}, func(i int) bool {
		return w.In[i] == v && !r.Inert(i) && !r.intoField(i) && (!fillsIn(r.Actions[i]) || r.Actions[i].Key == "Enter")
	})
}

// intoField says whether an action is a click into a field that is filled in next, whatever sort of field it is.
func (r *Result) intoField(i int) bool {
	return i+1 < len(r.Actions) && r.Actions[i].Type == human.Click && fillsIn(r.Actions[i+1]) && facts.SameElement(r.Actions[i].Element, r.Actions[i+1].Element)
}
