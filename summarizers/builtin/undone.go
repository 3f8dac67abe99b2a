package builtin

import (
	"slices"
	"strconv"
	"strings"

	"deskbell/backend/human"
)

// findUndone tells of steps that were not ticked.
func findUndone(r *reading) []human.Finding {
	var open []int
	for i, s := range r.in.Checklist {
		if !s.Done && strings.TrimSpace(s.Text) != "" {
			open = append(open, i)
		}
	}
	if len(open) == 0 {
		return nil
	}
	ref := func(i int) human.Ref { return human.Ref{Kind: human.RefStep, ID: strconv.Itoa(i)} }
	if len(open) <= fewOpen && len(open) < len(r.in.Checklist) {
		var out []human.Finding
		for _, i := range open {
			out = append(out, finding(human.FoundUndone, 0.9, r.say("Not ticked: %s", "未勾选：%s", r.exactly(r.in.Checklist[i].Text, maxSaid)), ref(i)))
		}
		return out
	}
	var evidence []human.Ref
	var texts []string
	for _, i := range open {
		evidence = append(evidence, ref(i))
		if len(texts) < namedFiles {
			texts = append(texts, r.quote(r.in.Checklist[i].Text))
		}
	}
	n := len(evidence)
	what := strings.Join(texts, r.say(", ", "、"))
	switch {
	case n == len(r.in.Checklist):
		return []human.Finding{finding(human.FoundUndone, 0.9, r.say("No step of the checklist was ticked: %s", "清单中的步骤一项都没有勾选：%s", what), evidence...)}
	case n > maxRefs:
		return []human.Finding{finding(human.FoundUndone, 0.9, r.say("Many steps were not ticked, such as %s", "有许多步骤未勾选，例如%s", what), evidence...)}
	}
	return []human.Finding{finding(human.FoundUndone, 0.9, r.say("%d steps were not ticked: %s", "%d 个步骤未勾选：%s", n, what), evidence...)}
}

// fewOpen is how many steps that were not ticked have a finding each.
const fewOpen = 3

// findLeftOpen tells of what was begun on the desktop and not ended: documents that were not saved, changes that were
// thrown away, dialogs that were still open.
func findLeftOpen(r *reading) []human.Finding {
	thrown := r.thrownAway()
	if len(thrown) == 0 {
		thrown = r.notSaved()
	}
	return slices.Concat(thrown, r.stillOpen(), r.notSent())
}

// unsaved says whether a title has a mark of a document that is not saved, and what it is without the mark.
func unsaved(title string) (bare string, marked bool) {
	t := strings.TrimSpace(title)
	for _, mark := range []string{"*", "●", "•"} {
		if rest, ok := strings.CutPrefix(t, mark); ok && strings.TrimSpace(rest) != "" {
			return strings.TrimSpace(rest), true
		}
		for _, end := range []string{mark + " - ", mark + " — ", mark + " – ", " " + mark + " "} {
			if i := strings.Index(t, end); i > 0 && mark != "•" {
				return t[:i] + strings.TrimPrefix(end, mark) + t[i+len(end):], true
			}
		}
		if rest, ok := strings.CutSuffix(t, mark); ok && mark == "*" && strings.TrimSpace(rest) != "" && !strings.HasSuffix(rest, "*") {
			return strings.TrimSpace(rest), true
		}
	}
	low := strings.ToLower(t)
	for _, mark := range slices.Concat(enUnsaved, zhUnsaved) {
		if i := strings.Index(low, mark); i > 0 && len(low) == len(t) {
			return strings.TrimSpace(t[:i] + t[i+len(mark):]), true
		}
	}
	return t, false
}

// savesIt says whether an action may have saved what is in its window.
func savesIt(a act) bool {
	switch a.Type {
	case human.Shortcut:
		return strings.EqualFold(a.Key, "s") && (slices.Contains(a.Modifiers, "ctrl") || slices.Contains(a.Modifiers, "meta"))
	case human.Click, human.DoubleClick:
		return isControl(orNone(a.Element)) && startsWith(button(a), enKeep, zhKeep)
	}
	return false
}

// notSaved finds windows whose title had the mark of an unsaved document when they were last seen, and where nothing
// was done since that saves.
func (r *reading) notSaved() []human.Finding {
	type seen struct {
		at, marked int
		title      string // with the mark
		kept       bool   // after it was marked
	}
	windows, marked := map[string]*seen{}, map[string]*seen{} // marked: and not saved since
	var order []string
	s := r.screen()
	for i, a := range r.acts {
		if a.Type == human.Missing || !a.sees(human.InputSource) {
			for _, w := range marked { // it may have been saved then
				w.kept = true
			}
			clear(marked)
		}
		if a.Type == human.FileOperation && a.File != nil && a.File.Op != "deleted" {
			for key, w := range marked {
				if names(w.title, a.File) || len(marked) > manyNames {
					w.kept = true
					delete(marked, key)
				}
			}
			continue
		}
		key := windowKey(a)
		if !onDesktop(a) || key == "" || s.in[i] != nil && s.in[i].own && a.Type != human.CloseWindow {
			if savesIt(a) {
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
		if _, is := unsaved(windowTitle(a)); is {
			if w.marked < 0 || byHand(a) && a.Type != human.Shortcut {
				w.kept = false
			}
			w.marked, w.title = i, windowTitle(a)
			if !w.kept {
				marked[key] = w
			}
		} else if windowTitle(a) != "" {
			w.marked = -1
		}
		if savesIt(a) {
			w.kept = true
		}
	}
	var out []human.Finding
	for _, key := range order {
		w := windows[key]
		if w.marked < 0 || w.kept {
			continue
		}
		out = append(out, finding(human.FoundUndone, 0.8, r.say("Not saved when it was last seen, by the mark in its title: %s", "最后看到时尚未保存（标题带有未保存标记）：%s", r.quote(w.title)), r.acts[w.marked].ref()))
	}
	return out
}

// names says whether a title is of a file.
func names(title string, f *human.FileChange) bool {
	for _, p := range []string{f.Path, f.To} {
		if p != "" && strings.Contains(title, baseName(p)) {
			return true
		}
	}
	return false
}

// thrownAway finds dialogs that asked whether to save, and were answered with no.
func (r *reading) thrownAway() []human.Finding {
	var out []human.Finding
	for i, a := range r.acts {
		n := button(a)
		if !onDesktop(a) || n == "" || !isControl(a.Element) || !startsWith(n, enDrop, zhDrop) {
			continue
		}
		evidence := []human.Ref{a.ref()}
		where := windowTitle(a)
		if d := r.screen().in[i]; d != nil {
			where = d.title
			if d.opened != i {
				evidence = append(evidence, r.acts[d.opened].ref())
			}
		}
		text := r.say("Changes were not kept: %s was clicked", "未保留更改：点击了%s", r.quote(n))
		if where != "" {
			text = r.say("Changes were not kept: %s was clicked in %s", "未保留更改：在%[2]s中点击了%[1]s", r.quote(n), r.quote(where))
		}
		out = append(out, finding(human.FoundUndone, 0.9, text, evidence...))
	}
	return out
}

// stillOpen finds a dialog that was there when a recording ended.
func (r *reading) stillOpen() []human.Finding {
	s := r.screen()
	last := map[human.RecordingID]int{} // what was done last on the desktop
	var order []human.RecordingID
	for i, a := range r.acts {
		if a.Type != human.Missing && !onDesktop(a) || a.Type == human.FileOperation {
			continue
		}
		if _, ok := last[a.rec.ID]; !ok {
			order = append(order, a.rec.ID)
		}
		last[a.rec.ID] = i
	}
	var out []human.Finding
	for _, rec := range order {
		i := last[rec]
		d := s.in[i]
		if d == nil || !d.own || d.closed >= 0 || d.title == "" || r.acts[i].Type == human.CloseWindow {
			continue
		}
		evidence := r.refsAt(d.opened)
		if i != d.opened {
			evidence = append(evidence, r.acts[i].ref())
		}
		out = append(out, finding(human.FoundUndone, 0.8, r.say("The dialog %s was still open at the end of the recording", "录制结束时对话框%s仍然打开", r.quote(d.title)), evidence...))
	}
	return out
}

// notSent finds forms that were filled in, at least in two fields of one line each, and then left: nothing was clicked
// or pressed afterwards in that window that could have sent or saved them.
func (r *reading) notSent() []human.Finding {
	type form struct {
		fields []string
		acts   []act
		sent   bool
	}
	forms, open := map[string]*form{}, map[string]*form{} // open: filled in since a file was written last
	var order []string
	for _, a := range r.acts {
		key := windowKey(a)
		if !onDesktop(a) || key == "" || a.Type == human.FileOperation {
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
			!slices.Contains(a.Element.States, "multiline") && elementName(a.Element) != ""
		switch {
		case field && a.sees(human.InputSource) && a.sees(human.ElementSource):
			if f == nil {
				f = &form{}
				forms[key] = f
				order = append(order, key)
			}
			f.sent = a.Key == "Enter"
			open[key] = f
			f.acts = append(f.acts, a)
			if n := r.quote(a.Element.Name); len(f.fields) < manyNames && !slices.Contains(f.fields, n) {
				f.fields = append(f.fields, n)
			}
		case f == nil:
		case a.Type == human.Shortcut && (a.Key == "Enter" || len(a.Modifiers) > 0):
			f.sent = true
		case a.Type == human.Click || a.Type == human.DoubleClick:
			// What is not known may have sent it.
			if e := a.Element; e == nil || elementName(e) == "" || e.Role != "textbox" && e.Role != "label" && e.Role != "checkbox" && e.Role != "radio" && e.Role != "combobox" {
				f.sent = true
			}
		}
	}
	var out []human.Finding
	for _, key := range order {
		f := forms[key]
		if f.sent || len(f.fields) < 2 {
			continue
		}
		where := ""
		if t := windowTitle(f.acts[0]); t != "" {
			where = r.say(" in %s", "%s中的", r.quote(t))
		}
		fields := r.list(f.fields[:min(len(f.fields), namedFiles)])
		out = append(out, finding(human.FoundUndone, 0.6, r.say("%s%s were filled in, and nothing was done there afterwards that sends or saves them", "填写了%[2]s%[1]s，之后没有提交或保存的操作", fields, where), refs(f.acts...)...))
	}
	return out
}

// findNotSent tells of forms of pages that were filled in, at least in two fields, and not sent.
func findNotSent(r *reading) []human.Finding {
	w := r.pages()
	sent := map[int]bool{}
	for _, s := range w.sends {
		for _, i := range s.fields {
			sent[i] = true
		}
	}
	var gaps []int
	for i, a := range r.acts {
		if a.Type == human.Missing {
			gaps = append(gaps, i)
		}
	}
	var out []human.Finding
	for _, v := range w.visits {
		var fields []string
		var evidence []human.Ref
		var last act
		at, typed := -1, false
		for _, i := range v.acts {
			a := r.acts[i]
			switch a.Type {
			case human.Typing, human.Paste, human.Choose, human.Check, human.Upload:
				if sent[i] || isPassword(a) || !a.sees(human.BrowserSource) {
					continue
				}
				if n := elementName(a.Element); n != "" && !searches(n) && a.Element.Role != "searchbox" && a.Element.Tag != "input/search" {
					typed = typed || a.Type == human.Typing || a.Type == human.Paste
					evidence, last, at = append(evidence, a.ref()), a, i
					if q := r.quote(n); len(fields) < manyNames && !slices.Contains(fields, q) {
						fields = append(fields, q)
					}
				}
			case human.Click, human.DoubleClick, human.Shortcut, human.Drag:
				// What else was done there may have sent or taken it.
				e := orNone(a.Element)
				if a.Type != human.Shortcut && !isField(e) || a.Type == human.Shortcut && (a.Key == "Enter" || len(a.Modifiers) > 0) {
					fields, evidence, typed = nil, nil, false
				}
			}
		}
		if len(fields) < 2 || !typed {
			continue
		}
		// It may have been sent while nothing was recorded.
		if g, _ := slices.BinarySearch(gaps, at); g < len(gaps) && (v.next == nil || gaps[g] < v.next.came) {
			continue
		}
		where := r.pageAt(last.Page) // as it was then
		evidence = append([]human.Ref{last.ref()}, evidence[:len(evidence)-1]...)
		text := r.say("%s were filled in and not sent: nothing was done there afterwards that sends them", "填写了%s，但没有看到提交操作", r.list(fields[:min(len(fields), namedFiles)]))
		if where != "" {
			text = r.say("On %[2]s, %[1]s were filled in and not sent: nothing was done there afterwards that sends them", "在%[2]s上填写了%[1]s，但没有看到提交操作", r.list(fields[:min(len(fields), namedFiles)]), where)
		}
		out = append(out, finding(human.FoundUndone, 0.7, text, evidence...))
	}
	return out
}

// isField says whether an element is one to be filled in.
func isField(e *human.Element) bool {
	switch e.Role {
	case "textbox", "searchbox", "combobox", "listbox", "option", "spinbutton", "checkbox", "radio", "switch", "slider", "label":
		return true
	}
	return e.Tag == "textarea" || e.Tag == "select" || strings.HasPrefix(e.Tag, "input") && e.Tag != "input/submit" && e.Tag != "input/button" && e.Tag != "input/image"
}
