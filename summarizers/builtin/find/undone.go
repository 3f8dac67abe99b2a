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

// notSaved finds windows whose title had the mark of an unsaved document when they were last seen, and where nothing
// was done since that saves.
func (r *Result) notSaved() []Finding {
	type seen struct {
		at, marked int
		title      string // with the mark
		kept       bool   // after it was marked
	}
	windows, marked := map[string]*seen{}, map[string]*seen{} // marked: and not saved since
	var order []string
	s := r.Screen()
	for i, a := range r.Actions {
		if a.Type == human.Missing || !a.Sees(human.InputSource) {
			for _, w := range marked { // it may have been saved then
				w.kept = true
			}
			clear(marked)
		}
		if a.Type == human.FileOperation && a.File != nil && a.File.Op != "deleted" {
			for key, w := range marked {
				if facts.Names(w.title, a.File) || len(marked) > manyNames {
					w.kept = true
					delete(marked, key)
				}
			}
			continue
		}
		key := facts.WindowKey(a)
		if !facts.OnDesktop(a) || key == "" || s.In[i] != nil && s.In[i].Own && a.Type != human.CloseWindow {
			if facts.SavesIt(a) {
				for _, w := range marked {
					w.kept = true
				}
				clear(marked)
			}
			continue
		}
		w := windows[key]
		if w == nil {
			w = &seen{marked: -1}
			windows[key] = w
			order = append(order, key)
		}
		w.at = i
		if a.Type == human.CloseWindow && a.Element != nil {
			continue
		}
		if _, is := facts.Unsaved(facts.WindowTitle(a)); is {
			if w.marked < 0 || facts.ByHand(a) && a.Type != human.Shortcut {
				w.kept = false
			}
			w.marked, w.title = i, facts.WindowTitle(a)
			if !w.kept {
				marked[key] = w
			}
		} else if facts.WindowTitle(a) != "" {
			w.marked = -1
		}
		if facts.SavesIt(a) {
			w.kept = true
		}
	}
	var out []Finding
	for _, key := range order {
		w := windows[key]
		if w.marked < 0 || w.kept {
			continue
		}
		out = append(out, finding(human.FoundUndone, 0.8, say("not-saved", facts.Quote(w.title)), r.Actions[w.marked].Ref()))
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
		fields []string
		acts   []facts.Action
		sent   bool
	}
	forms, open := map[string]*form{}, map[string]*form{} // open: filled in since a file was written last
	var order []string
	for _, a := range r.Actions {
		key := facts.WindowKey(a)
		if !facts.OnDesktop(a) || key == "" || a.Type == human.FileOperation {
			if a.Type == human.FileOperation || a.Type == human.Missing {
				for _, f := range open {
					f.sent = true
				}
				clear(open)
			}
			continue
		}
		f := forms[key]
		field := a.Type == human.Typing && a.Element != nil && (a.Element.Role == "textbox" || a.Element.Role == "combobox" || a.Element.Role == "spinbutton") &&
			!slices.Contains(a.Element.States, "multiline") && facts.ElementName(a.Element) != ""
		switch {
		case field && a.Sees(human.InputSource) && a.Sees(human.ElementSource):
			if f == nil {
				f = &form{}
				forms[key] = f
				order = append(order, key)
			}
			f.sent = a.Key == "Enter"
			open[key] = f
			f.acts = append(f.acts, a)
			if n := facts.Quote(a.Element.Name); len(f.fields) < manyNames && !slices.Contains(f.fields, n) {
				f.fields = append(f.fields, n)
			}
		case f == nil:
		case a.Type == human.Shortcut && (a.Key == "Enter" || len(a.Modifiers) > 0):
			f.sent = true
		case a.Type == human.Click || a.Type == human.DoubleClick:
			// What is not known may have sent it.
			if e := a.Element; e == nil || facts.ElementName(e) == "" || e.Role != "textbox" && e.Role != "label" && e.Role != "checkbox" && e.Role != "radio" && e.Role != "combobox" {
				f.sent = true
			}
		}
	}
	var out []Finding
	for _, key := range order {
		f := forms[key]
		if f.sent || len(f.fields) < 2 {
			continue
		}
		var where Phrase
		if t := facts.WindowTitle(f.acts[0]); t != "" {
			where = say("in-window", facts.Quote(t))
		}
		fields := f.fields[:min(len(f.fields), namedFiles)]
		out = append(out, finding(human.FoundUndone, 0.6, say("window-form-not-sent", fields, where), facts.Refs(f.acts...)...))
	}
	return out
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
		var fields []string
		var evidence []human.Ref
		var last facts.Action
		at, typed := -1, false
		for _, i := range v.Actions {
			a := r.Actions[i]
			switch a.Type {
			case human.Typing, human.Paste, human.Choose, human.Check, human.Upload:
				if sent[i] || facts.IsPassword(a) || !a.Sees(human.BrowserSource) {
					continue
				}
				if n := facts.ElementName(a.Element); n != "" && !facts.Searches(n) && a.Element.Role != "searchbox" && a.Element.Tag != "input/search" {
					typed = typed || a.Type == human.Typing || a.Type == human.Paste
					evidence, last, at = append(evidence, a.Ref()), a, i
					if q := facts.Quote(n); len(fields) < manyNames && !slices.Contains(fields, q) {
						fields = append(fields, q)
					}
				}
			case human.Click, human.DoubleClick, human.Shortcut, human.Drag:
				// What else was done there may have sent or taken it.
				e := facts.OrNone(a.Element)
				if a.Type != human.Shortcut && !facts.IsField(e) || a.Type == human.Shortcut && (a.Key == "Enter" || len(a.Modifiers) > 0) {
					fields, evidence, typed = nil, nil, false
				}
			}
		}
		if len(fields) < 2 || !typed {
			continue
		}
		// It may have been sent while nothing was recorded.
		if g, _ := slices.BinarySearch(gaps, at); g < len(gaps) && (v.Next == nil || gaps[g] < v.Next.Came) {
			continue
		}
		where := r.pageAt(last.Page) // as it was then
		evidence = append([]human.Ref{last.Ref()}, evidence[:len(evidence)-1]...)
		text := say("form-not-sent", fields[:min(len(fields), namedFiles)])
		if !where.None() {
			text = say("form-not-sent-on", fields[:min(len(fields), namedFiles)], where)
		}
		out = append(out, finding(human.FoundUndone, 0.7, text, evidence...))
	}
	return out
}
