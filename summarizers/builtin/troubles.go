package builtin

import (
	"cmp"
	"slices"
	"strings"

	"deskbell/backend/human"
)

// findTroubles tells of dialogs and windows that spoke of an error or a warning, what came before them and how they
// were answered. The same one is told once, with how often it came.
func findTroubles(r *reading) []human.Finding {
	s := r.screen()
	same := map[string][]*dialog{}
	var order []string
	for _, d := range s.dialogs {
		if (!s.trouble(d.title) || startsWith(d.title, enMail, zhMail)) && r.trouble(d) == "" {
			continue
		}
		key := d.title + "\x00" + r.trouble(d)
		if same[key] == nil {
			order = append(order, key)
		}
		same[key] = append(same[key], d)
	}
	var out []human.Finding
	for _, key := range order {
		all := same[key]
		out = append(out, r.troubleFound(all))
	}
	return slices.Concat(out, r.hung(), r.vanished())
}

// trouble is what an element in a dialog said of an error, where somebody clicked it: most dialogs have their
// message in a label, and only a name like Error on top.
func (r *reading) trouble(d *dialog) string {
	if d.said == nil {
		said := r.troubleSaid(d)
		d.said = &said
	}
	return *d.said
}

func (r *reading) troubleSaid(d *dialog) string {
	for _, i := range d.acts {
		a := r.acts[i]
		if e := a.Element; e != nil && !isControl(e) {
			if n := elementName(e); n != "" && n != d.title && r.screen().trouble(n) {
				return n
			}
		}
	}
	return ""
}

// isControl says whether an element is there to be worked with, so that its name is no message.
func isControl(e *human.Element) bool {
	switch e.Role {
	case "button", "togglebutton", "menuitem", "menuitemcheckbox", "menuitemradio", "menu", "menubar", "tab", "textbox", "searchbox", "combobox", "link",
		"checkbox", "radio", "switch", "spinbutton", "slider", "option", "treeitem", "columnheader", "rowheader", "toolbar", "scrollbar":
		return true
	}
	return false
}

func (r *reading) troubleFound(all []*dialog) human.Finding {
	d := all[0]
	title := cmp.Or(r.quote(d.title), r.say("without a title", "（无标题）"))
	evidence := make([]human.Ref, 0, len(all)+2)
	for _, d := range all {
		evidence = append(evidence, r.acts[d.opened].ref())
	}
	often := "" // in words: among its evidence are other actions, too
	if len(all) > 1 {
		often = r.say(" more than once", "多次")
	}
	what := r.say("Dialog %s came up%s", "%[2]s出现对话框%[1]s", title, often)
	if d.by >= 0 && r.deed(r.acts[d.by]) != "" {
		what = r.say("Dialog %s came up%s after this: %s", "%[3]s后，%[2]s出现对话框%[1]s", title, often, r.deed(r.acts[d.by]))
		evidence = append(evidence, r.acts[d.by].ref())
	}
	if said := r.trouble(d); said != "" {
		what += r.say("; it said %s", "，内容为%s", r.quote(said))
		for _, i := range d.acts {
			if elementName(r.acts[i].Element) == said {
				evidence = append(evidence, r.acts[i].ref())
				break
			}
		}
	}
	if d.closed >= 0 && d.closed != d.opened {
		if b := button(r.acts[d.closed]); b != "" {
			what += r.say("; it was answered with %s", "，选择了%s", r.quote(b))
			evidence = append(evidence, r.acts[d.closed].ref())
		}
	}
	return finding(human.FoundError, 0.95, what, evidence...)
}

// hung tells of programs that did not answer, as systems say in the titles of their windows.
func (r *reading) hung() []human.Finding {
	var out []human.Finding
	told := map[string]bool{}
	s := r.screen()
	for i, a := range r.acts {
		t := windowTitle(a)
		if !onDesktop(a) || t == "" || told[t] || !s.trouble(t) || s.in[i] != nil || !hasAny(t, enHung, zhHung) {
			continue
		}
		told[t] = true
		out = append(out, finding(human.FoundError, 0.9, r.say("A program did not respond: %s", "有程序没有响应：%s", r.quote(t)), a.ref()))
	}
	return out
}

// vanished tells of programs whose window was gone although nobody had closed it, and that were opened again: they
// may have crashed, or ended by themselves.
func (r *reading) vanished() []human.Finding {
	const soon = 2e9 // after what was done, in nanoseconds, a window is closed by it
	lost := map[string]int{}
	var out []human.Finding
	last := -1
	for i, a := range r.acts {
		if a.Type == human.Missing || !a.sees(human.InputSource) {
			last = -1
			clear(lost)
		}
		if !onDesktop(a) || a.App == nil {
			continue
		}
		app := string(a.rec.ID) + "\x00" + a.App.Name + "\x00" + a.App.Exe
		switch {
		case a.Type == human.CloseWindow && a.Element == nil:
			if last >= 0 && r.acts[last].rec == a.rec && a.At-r.acts[last].End > soon && !r.mayClose(last) && appName(r.acts[last]) == appName(a) {
				lost[app] = i
			}
		case a.Type == human.OpenApp:
			if j, ok := lost[app]; ok {
				delete(lost, app)
				closed := r.acts[j]
				text := r.say("A window of %[1]s was gone without having been closed by hand, and %[1]s was opened again", "%[1]s 的窗口在没有手动关闭的情况下消失，之后又重新打开了 %[1]s", r.app(a))
				if t := windowTitle(closed); t != "" {
					text = r.say("The window %[2]s of %[1]s was gone without having been closed by hand, and %[1]s was opened again", "%[1]s 的窗口%[2]s在没有手动关闭的情况下消失，之后又重新打开了 %[1]s", r.app(a), r.quote(t))
				}
				out = append(out, finding(human.FoundError, 0.7, text, closed.ref(), a.ref()))
			}
		case byHand(a):
			last = i
			if a.Type != human.Shortcut || !isQuit(a) {
				delete(lost, app)
			}
		}
	}
	return out
}

// mayClose says whether a program may have ended, at once or after a while, because of what was done: an answer to a
// dialog, a click on what is not known, such as the frame of its window.
func (r *reading) mayClose(i int) bool {
	a := r.acts[i]
	return isCloser(a) || isQuit(a) || r.screen().in[i] != nil || a.Type == human.Click && button(a) == ""
}

// --- detours

// findDesktopDetours tells of ways that were tried and given up: programs opened for nothing, what was undone or
// cancelled, what was tried again.
func findDesktopDetours(r *reading) []human.Finding {
	return slices.Concat(r.triedAgain(), r.undone(), r.cancelled(), r.openedForNothing())
}

// deedKey tells apart what can be done again; "" for what nobody would call the same.
func deedKey(a act) string {
	where := appName(a)
	switch a.Type {
	case human.Click, human.DoubleClick:
		if n := button(a); n != "" && isControl(a.Element) {
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
func (r *reading) triedAgain() []human.Finding {
	s := r.screen()
	var out []human.Finding
	told := map[string]bool{}
	isTrouble := func(d *dialog) bool { return d != nil && (s.trouble(d.title) || r.trouble(d) != "") }
	for _, d := range s.dialogs {
		if d.by < 0 || !isTrouble(d) {
			continue
		}
		key := deedKey(r.acts[d.by])
		if key == "" || told[key] {
			continue
		}
		tries := []int{d.by}
		bad := []int{d.opened}
		last := d.opened
		for i := d.opened + 1; i < len(r.acts) && i-last < lookedBetween; i++ {
			if deedKey(r.acts[i]) == key && !isTrouble(s.in[i]) {
				tries = append(tries, i)
				last = i
			} else if e := s.in[i]; isTrouble(e) && e.opened == i && e.by == last {
				bad = append(bad, i)
			}
		}
		if len(tries) < 2 {
			continue
		}
		told[key] = true
		evidence := r.refsAt(slices.Concat(tries, bad)...)
		text := r.say("Tried again after %s came up: %s", "出现%s后再次尝试：%s", cmp.Or(r.quote(d.title), r.say("an error", "错误")), r.deed(r.acts[d.by]))
		if with := r.changedBetween(tries[0], tries[len(tries)-1]); len(with) > 0 {
			var did []string
			for _, i := range with {
				did = append(did, r.deed(r.acts[i]))
			}
			text += r.say("; in between: %s", "，其间：%s", strings.Join(did, r.say(", ", "、")))
			evidence = append(evidence, r.refsAt(with...)...)
		}
		if len(bad) == len(tries) {
			text += r.say("; it came up again", "，但又出现了同样的提示")
		}
		out = append(out, finding(human.FoundDetour, 0.85, text, evidence...))
	}
	// Buttons that say so.
	again := map[string][]int{}
	var order []string
	var run []int
	flush := func() {
		if len(run) > 1 {
			a := r.acts[run[0]]
			key := deedKey(a)
			n := button(a)
			deliberate := n != "" && newDeeds.begins(n) && !hasAny(n, enKeep, zhKeep)
			if len(run) >= 3 && n != "" && a.Element.Role == "button" && !stepWords.begins(n) || deliberate && a.Element.Role != "menuitem" {
				if !told[key] && !told[n] {
					told[key] = true
					out = append(out, finding(human.FoundDetour, 0.7, r.say("Did the same %d times in a row: %s", "连续 %d 次执行同一操作：%s", min(len(run), maxRefs), r.deed(a)), r.refsAt(run...)...))
				}
			}
		}
		run = nil
	}
	for i, a := range r.acts {
		if !onDesktop(a) {
			continue
		}
		if n := button(a); n != "" && isControl(a.Element) && startsWith(n, enAgain, zhAgain) {
			if again[n] == nil {
				order = append(order, n)
			}
			again[n] = append(again[n], i)
		}
		key := deedKey(a)
		switch {
		case key != "" && len(run) > 0 && deedKey(r.acts[run[0]]) == key:
			run = append(run, i)
		case byHand(a) && a.Type != human.Shortcut || a.Type == human.Note || a.Type == human.SwitchWindow || a.Type == human.OpenApp:
			flush()
			if key != "" && a.Type == human.Click {
				run = []int{i}
			}
		}
	}
	flush()
	for _, n := range order {
		all := again[n]
		text := r.say("Tried again with %s", "用%s再次尝试", r.quote(n))
		if len(all) > 1 {
			text = r.say("Tried again with %s (%d times)", "用%s再次尝试（%d 次）", r.quote(n), min(len(all), maxRefs))
		}
		out = append(out, finding(human.FoundDetour, 0.9, text, r.refsAt(all...)...))
	}
	return out
}

// changedBetween are the last choices and inputs that were made between two tries.
func (r *reading) changedBetween(from, to int) []int {
	var out []int
	for i := from + 1; i < to; i++ {
		a := r.acts[i]
		e := orNone(a.Element)
		switch {
		case a.Type == human.Typing && elementName(e) != "" && !e.Secret:
		case a.Type == human.Click && elementName(e) != "" && (e.Role == "radio" || e.Role == "checkbox" || e.Role == "option" || e.Role == "switch"):
		default:
			continue
		}
		out = append(out, i)
	}
	return out[max(0, len(out)-2):]
}

func (r *reading) refsAt(at ...int) []human.Ref {
	out := make([]human.Ref, 0, len(at))
	for _, i := range at {
		out = append(out, r.acts[i].ref())
	}
	return out
}

// newDeeds are words on buttons that do more than lead somewhere else, in programs.
var newDeeds = newWords(enDeeds, zhDeeds, deedsEnglish, deedsChinese)

// isTerminal says whether an action was done in a terminal, where Ctrl+Z stops a program.
func isTerminal(a act) bool {
	if a.Element != nil && a.Element.Role == "terminal" {
		return true
	}
	n := strings.ToLower(appName(a))
	return strings.Contains(n, "term") || strings.Contains(n, "konsole")
}

// isUndo says whether an action takes back the one before it.
func isUndo(a act) bool {
	switch a.Type {
	case human.Shortcut:
		return strings.EqualFold(a.Key, "z") && len(a.Modifiers) == 1 && (a.Modifiers[0] == "ctrl" || a.Modifiers[0] == "meta") && !isTerminal(a)
	case human.Click:
		e := orNone(a.Element)
		return isControl(e) && (isOne(button(a), enUndo, zhUndo) || strings.HasPrefix(e.Role, "menuitem") && startsWith(button(a), enUndo, zhUndo))
	}
	return false
}

func orNone(e *human.Element) *human.Element {
	if e == nil {
		return &human.Element{}
	}
	return e
}

// undone finds what was taken back. What follows each other is told as one.
func (r *reading) undone() []human.Finding {
	var out []human.Finding
	var run []int
	before, last := -1, -1 // what was taken back, and what was done last
	flush := func() {
		if len(run) == 0 {
			return
		}
		evidence := r.refsAt(run...)
		text := r.say("Something was undone: %s", "撤销了操作：%s", r.deed(r.acts[run[0]]))
		if w := windowTitle(r.acts[run[0]]); w != "" {
			text = r.say("Something was undone in %[2]s: %[1]s", "在%[2]s中撤销了操作：%[1]s", r.deed(r.acts[run[0]]), r.quote(w))
		}
		if before >= 0 && r.deed(r.acts[before]) != "" {
			text += r.say("; the last thing before was: %s", "，此前的操作：%s", r.deed(r.acts[before]))
			evidence = append(evidence, r.acts[before].ref())
		}
		out = append(out, finding(human.FoundDetour, 0.95, text, evidence...))
		run = nil
	}
	for i, a := range r.acts {
		if !onDesktop(a) {
			continue
		}
		switch {
		case isUndo(a):
			if len(run) == 0 {
				before = last
				if before >= 0 && appName(r.acts[before]) != appName(a) {
					before = -1
				}
			}
			run = append(run, i)
		case byHand(a):
			if opensMenu(a) {
				continue
			}
			flush()
			last = i
		}
	}
	flush()
	return out
}

// opensMenu says whether a click only opens a menu.
func opensMenu(a act) bool {
	return a.Element != nil && (a.Element.Role == "menu" || a.Element.Role == "menubar")
}

// cancelled finds dialogs that were opened and given up.
func (r *reading) cancelled() []human.Finding {
	s := r.screen()
	var out []human.Finding
	told := map[string]int{}
	for _, d := range s.dialogs {
		if d.closed < 0 || d.closed == d.opened || d.title == "" || s.trouble(d.title) || r.trouble(d) != "" || hasAny(d.title, enKeep, nil) && r.drops(d) {
			continue
		}
		a := r.acts[d.closed]
		n := button(a)
		escape := a.Type == human.Shortcut && a.Key == "Escape"
		if !escape && !isOne(n, enCancel, zhCancel) || startsWith(n, enDrop, zhDrop) {
			continue
		}
		evidence := []human.Ref{r.acts[d.opened].ref(), a.ref()}
		if i, ok := told[d.title]; ok {
			if len(out[i].Evidence)+2 <= maxRefs {
				out[i].Evidence = append(out[i].Evidence, evidence...)
			}
			continue
		}
		told[d.title] = len(out)
		out = append(out, finding(human.FoundDetour, 0.9, r.say("The dialog %s was opened and cancelled", "打开了对话框%s，随后取消", r.quote(d.title)), evidence...))
	}
	return out
}

func (r *reading) drops(d *dialog) bool {
	return d.closed >= 0 && startsWith(button(r.acts[d.closed]), enDrop, zhDrop)
}

// openedForNothing finds programs that were opened and closed again with nothing done in them.
func (r *reading) openedForNothing() []human.Finding {
	type run struct {
		at   int
		done bool
		last int // a click on nothing that is known, if it was the last thing done: it may have been on the window's frame
		by   int // the button that closed it; -1
	}
	open := map[string]*run{} // by program
	var out []human.Finding
	for i, a := range r.acts {
		if a.Type == human.Missing || !a.sees(human.InputSource) {
			clear(open) // who knows what was done
		}
		if !onDesktop(a) || a.App == nil {
			continue
		}
		app := string(a.rec.ID) + "\x00" + a.App.Name + "\x00" + a.App.Exe
		switch a.Type {
		case human.OpenApp:
			open[app] = &run{at: i, last: -1, by: -1}
		case human.CloseWindow:
			o := open[app]
			delete(open, app)
			if o == nil || o.done || o.last >= 0 && a.At-r.acts[o.last].End > frameWithin || a.Element != nil || windowKey(r.acts[o.at]) != windowKey(a) && a.Window != nil && a.Window.ID != "" {
				continue
			}
			called := r.exactly(cmp.Or(appName(a), windowTitle(a)), maxName)
			if called == "" || r.screen().in[o.at] != nil {
				continue
			}
			text := r.say("Opened %s and closed it again; nothing was done in it", "打开了 %s，什么也没做又关闭了", called)
			evidence := r.refsAt(o.at, i)
			if o.by >= 0 {
				text = r.say("Opened %s and left it again with %s; nothing was done in it", "打开了 %s，什么也没做又用%s离开了", called, r.quote(button(r.acts[o.by])))
				evidence = append(evidence, r.acts[o.by].ref())
			}
			out = append(out, finding(human.FoundDetour, 0.9, text, evidence...))
		default:
			o := open[app]
			if o == nil {
				continue
			}
			unknown := a.Type == human.Click && button(a) == ""
			leaves := isQuit(a) || a.Type == human.Shortcut && a.Key == "Escape" || a.Type == human.SwitchWindow && a.Element == nil || isCloser(a) || unknown
			o.done = o.done || !leaves || o.last >= 0 && byHand(a)
			if unknown {
				o.last = i
			}
			if isCloser(a) {
				o.by = i
			}
		}
	}
	return out
}

// frameWithin is how long after a click on its frame, in nanoseconds, a window is gone.
const frameWithin = 3e9

// isCloser says whether a click closes a window.
func isCloser(a act) bool {
	n := button(a)
	return a.Type == human.Click && n != "" && (isOne(n, enCloser, zhCloser) || strings.HasPrefix(a.Element.Role, "menuitem") && startsWith(n, enQuits, zhQuits))
}
