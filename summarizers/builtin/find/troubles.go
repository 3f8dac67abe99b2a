package find

import (
	"cmp"
	"slices"
	"strings"

	"deskbell/backend/human"
	"deskbell/summarizers/builtin/facts"
)

// findTroubles tells of dialogs and windows that spoke of an error or a warning, what came before them and how they
// were answered. The same one is reported once, with how often it came.
func findTroubles(r *Result) []Claim {
	s := r.Screen()
	var same inOrder[string, []*facts.Dialog]
	for _, d := range s.Dialogs {
		if (!s.Trouble(d.Title) || facts.StartsWith(d.Title, facts.EnMail, facts.ZhMail)) && r.trouble(d) == "" {
			continue
		}
		all := same.of(d.Title + "\x00" + r.trouble(d))
		*all = append(*all, d)
	}
	var out []Claim
	for _, all := range same.all {
		out = append(out, r.troubleFound(*all))
	}
	return slices.Concat(out, r.hung(), r.vanished())
}

// trouble is what an element in a dialog said of an error, where a person clicked it: most dialogs have their
// message in a label, and only a name like Error on top.
func (r *Result) trouble(d *facts.Dialog) string {
	if d.Said == nil {
		said := r.troubleSaid(d)
		d.Said = &said
	}
	return *d.Said
}

func (r *Result) troubleSaid(d *facts.Dialog) string {
	for _, i := range d.Actions {
		a := r.Actions[i]
		if e := a.Element; e != nil && !facts.IsControl(e) {
			if n := facts.ElementName(e); n != "" && n != d.Title && r.Screen().Trouble(n) {
				return n
			}
		}
	}
	return ""
}

func (r *Result) troubleFound(all []*facts.Dialog) Claim {
	d := all[0]
	title := textOr(facts.Quote(d.Title), "without-a-title")
	evidence := make([]human.Ref, 0, len(all)+2)
	for _, d := range all {
		evidence = append(evidence, r.Actions[d.Opened].Ref())
	}
	var often Phrase // in words: among its evidence are other actions, too
	if len(all) > 1 {
		often = say("more-than-once")
	}
	what := say("dialog-came-up", title, often)
	if d.By >= 0 && !r.Described(r.Actions[d.By]).None() {
		what = say("dialog-came-up-after", title, often, r.Described(r.Actions[d.By]))
		evidence = append(evidence, r.Actions[d.By].Ref())
	}
	if said := r.trouble(d); said != "" {
		what = what.then(say("dialog-said", facts.Quote(said)))
		for _, i := range d.Actions {
			if facts.ElementName(r.Actions[i].Element) == said {
				evidence = append(evidence, r.Actions[i].Ref())
				break
			}
		}
	}
	if d.Closed >= 0 && d.Closed != d.Opened {
		if b := facts.Button(r.Actions[d.Closed]); b != "" {
			what = what.then(say("dialog-answered", facts.Quote(b)))
			evidence = append(evidence, r.Actions[d.Closed].Ref())
		}
	}
	c := claim(human.FoundError, 0.95, what, evidence...)
	if d.Title != "" {
		c.Brief = say("came-up", title)
	}
	return c
}

// hung tells of programs that did not answer, as systems say in the titles of their windows.
func (r *Result) hung() []Claim {
	var out []Claim
	told := map[string]bool{}
	s := r.Screen()
	for i, a := range r.Actions {
		t := facts.WindowTitle(a)
		if !facts.OnDesktop(a) || t == "" || told[t] || !s.Trouble(t) || s.In[i] != nil || !facts.HasAny(t, facts.EnHung, facts.ZhHung) {
			continue
		}
		told[t] = true
		out = append(out, claim(human.FoundError, 0.9, say("program-not-responding", facts.Quote(t)), a.Ref()))
	}
	return out
}

// vanished tells of programs whose window was gone although no one had closed it, and that were opened again: they
// may have crashed, or ended by themselves.
func (r *Result) vanished() []Claim {
	const soon = 2e9 // after what was done, in nanoseconds, a window is closed by it
	lost := map[string]int{}
	var out []Claim
	last := -1
	for i, a := range r.Actions {
		if a.Type == human.Missing || !a.Sees(human.InputSource) {
			last = -1
			clear(lost)
		}
		if !facts.OnDesktop(a) || a.App == nil {
			continue
		}
		app := string(a.Rec.ID) + "\x00" + a.App.Name + "\x00" + a.App.Exe
		switch {
		case a.Type == human.CloseWindow && a.Element == nil:
			if last >= 0 && r.Actions[last].Rec == a.Rec && a.At-r.Actions[last].End > soon && !r.mayClose(last) && facts.AppName(r.Actions[last]) == facts.AppName(a) {
				lost[app] = i
			}
		case a.Type == human.OpenApp:
			if j, ok := lost[app]; ok {
				delete(lost, app)
				closed := r.Actions[j]
				text := say("window-gone", facts.ProgramName(a))
				if t := facts.WindowTitle(closed); t != "" {
					text = say("window-gone-titled", facts.ProgramName(a), facts.Quote(t))
				}
				out = append(out, claim(human.FoundError, 0.7, text, closed.Ref(), a.Ref()))
			}
		case facts.ByHand(a):
			last = i
			if a.Type != human.Shortcut || !facts.IsQuit(a) {
				delete(lost, app)
			}
		}
	}
	return out
}

// mayClose says whether a program may have ended, at once or after a while, because of what was done: an answer to a
// dialog, a click on what is not known, such as the frame of its window.
func (r *Result) mayClose(i int) bool {
	a := r.Actions[i]
	return facts.IsCloser(a) || facts.IsQuit(a) || r.Screen().In[i] != nil || a.Type == human.Click && facts.Button(a) == ""
}

// findDesktopDetours tells of ways that were tried and given up: programs opened for nothing, what was undone or
// canceled, what was tried again.
func findDesktopDetours(r *Result) []Claim {
	return slices.Concat(r.triedAgain(), r.undone(), r.cancelled(), r.openedForNothing())
}

// repeatable tells apart what can be done again; "" for what no one would call the same.
func repeatable(a facts.Action) string {
	where := facts.AppName(a)
	switch a.Type {
	case human.Click, human.DoubleClick:
		if n := facts.Button(a); n != "" && facts.IsControl(a.Element) {
			return string(a.Type) + "\x00" + a.Element.Role + "\x00" + n + "\x00" + where
		}
	case human.Shortcut:
		if len(a.Modifiers) > 0 || len(a.Key) > 1 && a.Key[0] == 'F' || a.Key == "Enter" {
			return "key\x00" + strings.Join(a.Modifiers, "+") + "+" + a.Key + "\x00" + where
		}
	}
	return ""
}

// lookedBetween is how many actions after an error the same may be tried again for it to be a retry.
const lookedBetween = 60

// triedAgain finds what was done again after an error had come of it, and buttons that were pressed again and again.
func (r *Result) triedAgain() []Claim {
	told := map[string]bool{}
	return slices.Concat(r.triedAfterError(told), r.pressedAgain(told), r.saidAgain())
}

// isTrouble says whether a dialog spoke of an error.
func (r *Result) isTrouble(d *facts.Dialog) bool {
	return d != nil && (r.Screen().Trouble(d.Title) || r.trouble(d) != "")
}

// triedAfterError finds what was done again after an error had come of it.
func (r *Result) triedAfterError(told map[string]bool) []Claim {
	s := r.Screen()
	var out []Claim
	for _, d := range s.Dialogs {
		if d.By < 0 || !r.isTrouble(d) {
			continue
		}
		key := repeatable(r.Actions[d.By])
		if key == "" || told[key] {
			continue
		}
		tries := []int{d.By}
		bad := []int{d.Opened}
		last := d.Opened
		for i := d.Opened + 1; i < len(r.Actions) && i-last < lookedBetween; i++ {
			if repeatable(r.Actions[i]) == key && !r.isTrouble(s.In[i]) {
				tries = append(tries, i)
				last = i
			} else if e := s.In[i]; r.isTrouble(e) && e.Opened == i && e.By == last {
				bad = append(bad, i)
			}
		}
		if len(tries) < 2 {
			continue
		}
		told[key] = true
		evidence := r.RefsAt(slices.Concat(tries, bad)...)
		text := say("tried-again-after", textOr(facts.Quote(d.Title), "an-error"), r.Described(r.Actions[d.By]))
		if with := r.changedBetween(tries[0], tries[len(tries)-1]); len(with) > 0 {
			var did []Phrase
			for _, i := range with {
				did = append(did, r.Described(r.Actions[i]))
			}
			text = text.then(say("in-between", Series{"comma", did}))
			evidence = append(evidence, r.RefsAt(with...)...)
		}
		if len(bad) == len(tries) {
			text = text.then(say("it-came-up-again"))
		}
		out = append(out, claim(human.FoundDetour, 0.85, text, evidence...))
	}
	return out
}

// pressedAgain finds buttons that were pressed again and again, if that is not told.
func (r *Result) pressedAgain(told map[string]bool) []Claim {
	var out []Claim
	var run []int
	flush := func() {
		if len(run) > 1 {
			a := r.Actions[run[0]]
			key, n := repeatable(a), facts.Button(a)
			deliberate := n != "" && facts.CommandWords.Begins(n) && !facts.HasAny(n, facts.EnKeep, facts.ZhKeep)
			often := len(run) >= 3 && n != "" && a.Element.Role == "button" && !facts.StepWords.Begins(n)
			if (often || deliberate && a.Element.Role != "menuitem") && !told[key] && !told[n] {
				told[key] = true
				out = append(out, claim(human.FoundDetour, 0.7, say("did-the-same-again", min(len(run), maxRefs), r.Described(a)), r.RefsAt(run...)...))
			}
		}
		run = nil
	}
	for i, a := range r.Actions {
		if !facts.OnDesktop(a) {
			continue
		}
		key := repeatable(a)
		switch {
		case key != "" && len(run) > 0 && repeatable(r.Actions[run[0]]) == key:
			run = append(run, i)
		case facts.ByHand(a) && a.Type != human.Shortcut || a.Type == human.Note || a.Type == human.SwitchWindow || a.Type == human.OpenApp:
			flush()
			if key != "" && a.Type == human.Click {
				run = []int{i}
			}
		}
	}
	flush()
	return out
}

// saidAgain finds buttons that say so.
func (r *Result) saidAgain() []Claim {
	var again inOrder[string, []int]
	for i, a := range r.Actions {
		if n := facts.Button(a); n != "" && facts.OnDesktop(a) && facts.IsControl(a.Element) && facts.StartsWith(n, facts.EnAgain, facts.ZhAgain) {
			all := again.of(n)
			*all = append(*all, i)
		}
	}
	var out []Claim
	for _, all := range again.all {
		n := facts.Quote(facts.Button(r.Actions[(*all)[0]]))
		text := say("tried-again-with", n)
		if len(*all) > 1 {
			text = say("tried-again-with-often", n, min(len(*all), maxRefs))
		}
		out = append(out, claim(human.FoundDetour, 0.9, text, r.RefsAt(*all...)...))
	}
	return out
}

// changedBetween are the last choices and inputs that were made between two tries.
func (r *Result) changedBetween(from, to int) []int {
	var out []int
	for i := from + 1; i < to; i++ {
		a := r.Actions[i]
		e := facts.OrNone(a.Element)
		switch {
		case a.Type == human.Typing && facts.ElementName(e) != "" && !e.Secret:
		case a.Type == human.Click && facts.ElementName(e) != "" && (e.Role == "radio" || e.Role == "checkbox" || e.Role == "option" || e.Role == "switch"):
		default:
			continue
		}
		out = append(out, i)
	}
	return out[max(0, len(out)-2):]
}

// undone finds what was undone. Those that follow each other are reported as one.
func (r *Result) undone() []Claim {
	var out []Claim
	var run []int
	before, last := -1, -1 // what was undone, and what was done last
	flush := func() {
		if len(run) == 0 {
			return
		}
		evidence := r.RefsAt(run...)
		text := say("undone", r.Described(r.Actions[run[0]]))
		if w := facts.WindowTitle(r.Actions[run[0]]); w != "" {
			text = say("undone-in", r.Described(r.Actions[run[0]]), facts.Quote(w))
		}
		if before >= 0 && !r.Described(r.Actions[before]).None() {
			text = text.then(say("undone-after", r.Described(r.Actions[before])))
			evidence = append(evidence, r.Actions[before].Ref())
		}
		out = append(out, claim(human.FoundDetour, 0.95, text, evidence...))
		run = nil
	}
	for i, a := range r.Actions {
		if !facts.OnDesktop(a) {
			continue
		}
		switch {
		case facts.IsUndo(a):
			if len(run) == 0 {
				before = last
				if before >= 0 && facts.AppName(r.Actions[before]) != facts.AppName(a) {
					before = -1
				}
			}
			run = append(run, i)
		case facts.ByHand(a):
			if facts.OpensMenu(a) {
				continue
			}
			flush()
			last = i
		}
	}
	flush()
	return out
}

// canceled finds dialogs that were opened and given up.
func (r *Result) cancelled() []Claim {
	s := r.Screen()
	var out []Claim
	told := map[string]int{}
	for _, d := range s.Dialogs {
		if d.Closed < 0 || d.Closed == d.Opened || d.Title == "" || s.Trouble(d.Title) || r.trouble(d) != "" || facts.HasAny(d.Title, facts.EnKeep, nil) && r.drops(d) {
			continue
		}
		a := r.Actions[d.Closed]
		n := facts.Button(a)
		escape := a.Type == human.Shortcut && a.Key == "Escape"
		if !escape && !facts.IsOne(n, facts.EnCancel, facts.ZhCancel) || facts.StartsWith(n, facts.EnDrop, facts.ZhDrop) {
			continue
		}
		evidence := []human.Ref{r.Actions[d.Opened].Ref(), a.Ref()}
		if i, ok := told[d.Title]; ok {
			if len(out[i].Evidence)+2 <= maxRefs {
				out[i].Evidence = append(out[i].Evidence, evidence...)
			}
			continue
		}
		told[d.Title] = len(out)
		out = append(out, claim(human.FoundDetour, 0.9, say("dialog-canceled", facts.Quote(d.Title)), evidence...))
	}
	return out
}

func (r *Result) drops(d *facts.Dialog) bool {
	return d.Closed >= 0 && facts.StartsWith(facts.Button(r.Actions[d.Closed]), facts.EnDrop, facts.ZhDrop)
}

// An openProgram is one that was opened.
type openProgram struct {
	at   int
	done bool // something in it
	last int  // a click on nothing that is known, if it was the last thing done: it may have been on the window's frame
	by   int  // the button that closed it; -1
}

// openedForNothing finds programs that were opened and closed again with nothing done in them.
func (r *Result) openedForNothing() []Claim {
	open := map[string]*openProgram{}
	var out []Claim
	for i, a := range r.Actions {
		if a.Type == human.Missing || !a.Sees(human.InputSource) {
			clear(open) // who knows what was done
		}
		if !facts.OnDesktop(a) || a.App == nil {
			continue
		}
		app := string(a.Rec.ID) + "\x00" + a.App.Name + "\x00" + a.App.Exe
		o := open[app]
		switch {
		case a.Type == human.OpenApp:
			open[app] = &openProgram{at: i, last: -1, by: -1}
		case a.Type == human.CloseWindow:
			delete(open, app)
			if o != nil && !o.done {
				out = append(out, r.leftAlone(o, i)...)
			}
		case o != nil:
			o.take(i, a)
		}
	}
	return out
}

// take takes note of what was done in a program.
func (o *openProgram) take(i int, a facts.Action) {
	unknown := a.Type == human.Click && facts.Button(a) == ""
	leaves := facts.IsQuit(a) || a.Type == human.Shortcut && a.Key == "Escape" || a.Type == human.SwitchWindow && a.Element == nil || facts.IsCloser(a) || unknown
	o.done = o.done || !leaves || o.last >= 0 && facts.ByHand(a)
	if unknown {
		o.last = i
	}
	if facts.IsCloser(a) {
		o.by = i
	}
}

// leftAlone tells of a program in which nothing was done until the action i closed its window.
func (r *Result) leftAlone(o *openProgram, i int) []Claim {
	a := r.Actions[i]
	if o.last >= 0 && a.At-r.Actions[o.last].End > frameWithin || a.Element != nil || facts.WindowKey(r.Actions[o.at]) != facts.WindowKey(a) && a.Window != nil && a.Window.ID != "" {
		return nil
	}
	called := facts.Exactly(cmp.Or(facts.AppName(a), facts.WindowTitle(a)), facts.MaxName)
	if called == "" || r.Screen().In[o.at] != nil {
		return nil
	}
	text := say("program-closed-again", called)
	evidence := r.RefsAt(o.at, i)
	if o.by >= 0 {
		text = say("program-left-again", called, facts.Quote(facts.Button(r.Actions[o.by])))
		evidence = append(evidence, r.Actions[o.by].Ref())
	}
	return []Claim{claim(human.FoundDetour, 0.9, text, evidence...)}
}

// frameWithin is how long after a click on its frame, in nanoseconds, a window is gone.
const frameWithin = 3e9
