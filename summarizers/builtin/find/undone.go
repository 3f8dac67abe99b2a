package find

import (
	"slices"
	"strconv"
	"strings"

	"deskbell/backend/human"
	"deskbell/summarizers/builtin/facts"
)

// findUndone tells of steps that were not ticked.
func findUndone(r *Result) []Finding {
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
		var out []Finding
		for _, i := range open {
			out = append(out, finding(human.FoundUndone, 0.9, say("step-not-ticked", facts.Exactly(r.In.Checklist[i].Text, facts.MaxSaid)), ref(i)))
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
		return []Finding{finding(human.FoundUndone, 0.9, say("no-step-ticked", what), evidence...)}
	case n > maxRefs:
		return []Finding{finding(human.FoundUndone, 0.9, say("many-steps-not-ticked", what), evidence...)}
	}
	return []Finding{finding(human.FoundUndone, 0.9, say("steps-not-ticked", n, what), evidence...)}
}

// fewOpen is how many steps that were not ticked have a finding each.
const fewOpen = 3

// findLeftOpen tells of what was begun on the desktop and not ended: documents that were not saved, changes that were
// thrown away, dialogs that were still open.
func findLeftOpen(r *Result) []Finding {
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
func (r *Result) notSaved() []Finding {
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
	var out []Finding
	for _, d := range ds.all {
		if d.marked > 0 && !d.kept {
			out = append(out, finding(human.FoundUndone, 0.8, say("not-saved", facts.Quote(d.title)), r.Actions[d.marked-1].Ref()))
		}
	}
	return out
}

// thrownAway finds dialogs that asked whether to save, and were answered with no.
func (r *Result) thrownAway() []Finding {
	var out []Finding
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
		out = append(out, finding(human.FoundUndone, 0.9, text, evidence...))
	}
	return out
}

// stillOpen finds a dialog that was there when a recording ended.
func (r *Result) stillOpen() []Finding {
	s := r.Screen()
	last := map[human.RecordingID]int{} // what was done last on the desktop
	var order []human.RecordingID
	for i, a := range r.Actions {
		if a.Type != human.Missing && !facts.OnDesktop(a) || a.Type == human.FileOperation {
			continue
		}
		if _, ok := last[a.Rec.ID]; !ok {
			order = append(order, a.Rec.ID)
		}
		last[a.Rec.ID] = i
	}
	var out []Finding
	for _, rec := range order {
		i := last[rec]
		d := s.In[i]
		if d == nil || !d.Own || d.Closed >= 0 || d.Title == "" || r.Actions[i].Type == human.CloseWindow {
			continue
		}
		evidence := r.RefsAt(d.Opened)
		if i != d.Opened {
			evidence = append(evidence, r.Actions[i].Ref())
		}
		out = append(out, finding(human.FoundUndone, 0.8, say("dialog-still-open", facts.Quote(d.Title)), evidence...))
	}
	return out
}

// notSent finds forms that were filled in, at least in two fields of one line each, and then left: nothing was clicked
// or pressed afterwards in that window that could have sent or saved them.
func (r *Result) notSent() []Finding {
	type form struct {
		group
		sent bool
	}
	var forms inOrder[string, form]
	open := map[string]*form{} // filled in since a file was written last
	for _, a := range r.Actions {
		if a.Type == human.FileOperation || a.Type == human.Missing {
			for _, f := range open {
				f.sent = true
			}
			clear(open)
		}
		key := facts.WindowKey(a)
		if !facts.OnDesktop(a) || key == "" || a.Type == human.FileOperation {
			continue
		}
		if inField(a) {
			f := forms.of(key)
			f.sent, open[key] = a.Key == "Enter", f
			f.add(a, a.Element.Name)
		} else if f := forms.by[key]; f != nil && maySend(a) {
			f.sent = true
		}
	}
	var out []Finding
	for _, f := range forms.all {
		if f.sent || len(f.names) < 2 {
			continue
		}
		var where Phrase
		if t := facts.WindowTitle(f.acts[0]); t != "" {
			where = say("in-window", facts.Quote(t))
		}
		out = append(out, finding(human.FoundUndone, 0.6, say("window-form-not-sent", f.some(), where), facts.Refs(f.acts...)...))
	}
	return out
}

// inField says whether something was typed into a field of one line that is known.
func inField(a facts.Action) bool {
	e := facts.OrNone(a.Element)
	return a.Type == human.Typing && (e.Role == "textbox" || e.Role == "combobox" || e.Role == "spinbutton") && !slices.Contains(e.States, "multiline") &&
		facts.ElementName(e) != "" && a.Sees(human.InputSource) && a.Sees(human.ElementSource)
}

// maySend says whether an action may send or save the form in its window. What is not known may.
func maySend(a facts.Action) bool {
	switch a.Type {
	case human.Shortcut:
		return a.Key == "Enter" || len(a.Modifiers) > 0
	case human.Click, human.DoubleClick:
		if facts.ElementName(a.Element) == "" {
			return true
		}
		switch a.Element.Role {
		case "textbox", "label", "checkbox", "radio", "combobox":
			return false
		}
		return true
	}
	return false
}

// findNotSent tells of forms of pages that were filled in, at least in two fields, and not sent.
func findNotSent(r *Result) []Finding {
	w := r.Pages()
	sent := map[int]bool{}
	for _, s := range w.Sends {
		for _, i := range s.Fields {
			sent[i] = true
		}
	}
	var gaps []int
	for i, a := range r.Actions {
		if a.Type == human.Missing {
			gaps = append(gaps, i)
		}
	}
	var out []Finding
	for _, v := range w.Visits {
		f, at := r.filledIn(v, sent)
		if len(f.names) < 2 || !slices.ContainsFunc(f.acts, func(a facts.Action) bool { return a.Type == human.Typing || a.Type == human.Paste }) {
			continue
		}
		// It may have been sent while nothing was recorded.
		if g, _ := slices.BinarySearch(gaps, at); g < len(gaps) && (v.Next == nil || gaps[g] < v.Next.Came) {
			continue
		}
		n := len(f.acts) - 1
		text := say("form-not-sent", f.some())
		if where := r.pageAt(f.acts[n].Page); !where.None() { // as it was then
			text = say("form-not-sent-on", f.some(), where)
		}
		out = append(out, finding(human.FoundUndone, 0.7, text, facts.Refs(append(f.acts[n:], f.acts[:n]...)...)...))
	}
	return out
}

// filledIn are the fields of a page that were filled in since anything was done in it that may have sent them, and the
// action that was the last of these.
func (r *Result) filledIn(v *facts.Visit, sent map[int]bool) (f group, at int) {
	for _, i := range v.Actions {
		switch a := r.Actions[i]; a.Type {
		case human.Typing, human.Paste, human.Choose, human.Check, human.Upload:
			if sent[i] || facts.IsPassword(a) || !a.Sees(human.BrowserSource) {
				continue
			}
			if n := facts.ElementName(a.Element); n != "" && !facts.Searches(n) && a.Element.Role != "searchbox" && a.Element.Tag != "input/search" {
				at = i
				f.add(a, n)
			}
		case human.Click, human.DoubleClick, human.Shortcut, human.Drag:
			// What else was done there may have sent or taken it.
			if a.Type != human.Shortcut && !facts.IsField(facts.OrNone(a.Element)) || a.Type == human.Shortcut && (a.Key == "Enter" || len(a.Modifiers) > 0) {
				f = group{}
			}
		}
	}
	return f, at
}
