package builtin

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"deskbell/backend/human"
)

// A desk is what the finders of the desktop share, read once.
type desk struct {
	touched []*file
	shown   *screen
	results []result // set by findOutcome
}

// A screen is what was seen of windows: dialogs and what became of them, and titles.
type screen struct {
	dialogs []*dialog
	in      []*dialog // of each action, the dialog it was done in, or that it opened; nil for none
	bad     map[string]bool
}

// A dialog is a window that came up over another, or an element of a window that does as much.
type dialog struct {
	title  string
	opened int   // the action that tells of it; the first done in it where none does
	by     int   // what was done just before; -1 where that is not known
	acts   []int // what was done in it
	closed int   // the last of these, where that closed it; -1
	own    bool  // a window of its own was seen to open
	said   *string
}

// causeWithin is how long after an action, in nanoseconds, a dialog comes because of it; saving and connecting take
// their time.
const causeWithin = 30e9

// onDesktop says whether an action is one of the desktop, and not of a page.
func onDesktop(a act) bool { return a.Page == nil && a.Type != human.Note && a.Type != human.Missing }

// sees says whether the recording of an action has all that a source could deliver: only then it can be said that
// something was not done.
func (a act) sees(source human.SourceName) bool {
	for _, s := range a.rec.Sources {
		if s.Source == source && s.Status != "complete" {
			return false
		}
	}
	return true
}

// byHand says whether a person did it: a window that opens and a file that changes follow from something else.
func byHand(a act) bool {
	switch a.Type {
	case human.Click, human.DoubleClick, human.TripleClick, human.Drag, human.Typing, human.Shortcut, human.Paste:
		return true
	}
	return false
}

func windowKey(a act) string {
	if a.Window == nil {
		return ""
	}
	return string(a.rec.ID) + "\x00" + cmp.Or(a.Window.ID, a.Window.Title)
}

func windowTitle(a act) string {
	if a.Window == nil {
		return ""
	}
	return a.Window.Title
}

// screen reads what was seen of windows, once.
func (r *reading) screen() *screen {
	if r.shown != nil {
		return r.shown
	}
	s := &screen{in: make([]*dialog, len(r.acts)), bad: map[string]bool{}}
	r.shown = s
	open := map[string]*dialog{} // by window
	last := -1                   // done by hand
	for i, a := range r.acts {
		if !onDesktop(a) {
			continue
		}
		key := windowKey(a)
		by := -1
		if last >= 0 && a.At-r.acts[last].End <= causeWithin && r.acts[last].rec == a.rec {
			by = last
		}
		inner := inDialog(a.Element)
		d := open[key]
		switch {
		case a.Type == human.SwitchWindow && a.Element != nil, a.Type == human.OpenApp && s.trouble(windowTitle(a)) && shortTitle(windowTitle(a)):
			called := windowTitle(a)
			if a.Element != nil {
				called = cmp.Or(a.Element.Name, called)
			}
			tells := s.trouble(called) && shortTitle(called)
			if a.Type == human.SwitchWindow && a.Element.Role != "dialog" && !tells {
				break // one more window of a program
			}
			d = &dialog{title: called, opened: i, by: by, closed: -1, own: true}
			s.dialogs = append(s.dialogs, d)
			if key != "" {
				open[key] = d
			}
			s.in[i] = d
			continue
		case d == nil && inner != "" && s.trouble(inner):
			// It is no window of its own, or was open when the recording began.
			d = &dialog{title: inner, opened: i, by: by, closed: -1}
			s.dialogs = append(s.dialogs, d)
			open[key] = d
		}
		if d != nil && (d.own || inner == d.title || a.Type == human.CloseWindow) {
			s.in[i] = d
			d.acts = append(d.acts, i)
			if closes(a) {
				d.closed = i
			} else {
				d.closed = -1 // it was still there
			}
			if a.Type == human.CloseWindow || !d.own && closes(a) {
				delete(open, key)
			}
		} else if d != nil && !d.own {
			delete(open, key) // work goes on beside it
		}
		if byHand(a) {
			last = i
		}
	}
	return s
}

// inDialog is what the dialog is called that an element lies in; of one that has no name, what the element says.
func inDialog(e *human.Element) string {
	if e == nil {
		return ""
	}
	for i := range e.Ancestry {
		switch up := &e.Ancestry[i]; up.Role {
		case "alert", "alertdialog", "dialog":
			if n := elementName(up); n != "" {
				return n
			}
		}
	}
	if e.Role == "alert" || e.Role == "alertdialog" {
		return elementName(e)
	}
	return ""
}

// closes says whether an action mostly ends a dialog.
func closes(a act) bool {
	switch a.Type {
	case human.CloseWindow:
		return true
	case human.Click, human.DoubleClick:
		return a.Element != nil && (a.Element.Role == "button" || a.Element.Role == "togglebutton") && a.Button <= 1 && elementName(a.Element) != ""
	case human.Shortcut:
		return len(a.Modifiers) == 0 && (a.Key == "Escape" || a.Key == "Enter") || isQuit(a)
	}
	return false
}

// isQuit says whether it is a shortcut that closes a window or a program.
func isQuit(a act) bool {
	if a.Type != human.Shortcut || len(a.Modifiers) != 1 {
		return false
	}
	key := strings.ToLower(a.Key)
	switch a.Modifiers[0] {
	case "alt":
		return key == "f4"
	case "ctrl", "meta":
		return key == "q" || key == "w"
	}
	return false
}

// trouble is the function of that name, asked once for each title.
func (s *screen) trouble(text string) bool {
	bad, known := s.bad[text]
	if !known {
		bad = trouble(text)
		s.bad[text] = bad
	}
	return bad
}

// shortTitle says whether a window is what its title says, and not one that shows something of that name: Error, but
// not Error handling - Reader.
func shortTitle(title string) bool {
	if startsWith(title, enMail, zhMail) {
		return false
	}
	doc := title
	for _, sep := range []string{" - ", " — ", " – ", " | "} {
		if before, _, found := strings.Cut(title, sep); found && len(before) < len(doc) {
			doc = before
		}
	}
	if doc == title {
		return len(strings.Fields(title)) <= 8
	}
	doc = strings.TrimSpace(doc)
	low := flat(doc)
	return low == " error " || low == " warning " || low == " fatal error " || strings.HasSuffix(low, " failed ") && len(strings.Fields(doc)) <= 4 ||
		doc == "错误" || doc == "警告" || doc == "出错了" || strings.HasSuffix(doc, "失败") && len([]rune(doc)) <= 8
}

// appName is what the program is called that an action was done in.
func appName(a act) string {
	if a.App == nil {
		return ""
	}
	return cmp.Or(a.App.Name, a.App.Exe)
}

// app is the name of the program, for a sentence.
func (r *reading) app(a act) string { return r.exactly(appName(a), maxName) }

// deed says in the words of the action what was done, for the middle of a sentence.
func (r *reading) deed(a act) string {
	if a.Type == human.Typing && a.Text != "" && a.Count > 0 { // it may be shared, and is of no use here
		if n := elementName(a.Element); n != "" {
			return r.say("typed %d characters into %s", "在%[2]s中输入 %[1]d 个字符", a.Count, r.quote(n))
		}
		return r.say("typed %d characters", "输入 %d 个字符", a.Count)
	}
	words := r.exactly(a.Words, 2*maxName)
	if r.lang == chinese || len(words) < 2 || words[1] < 'a' || words[1] > 'z' {
		return words
	}
	return strings.ToLower(words[:1]) + words[1:]
}

// button is what a click was on, where that has a name; "" for anything else.
func button(a act) string {
	if a.Type != human.Click && a.Type != human.DoubleClick || a.Button > 1 {
		return ""
	}
	return elementName(a.Element)
}

// brief is a text of one line, cut where it is longer than most characters: not within a word, a number or what is
// quoted in it, so that what is left stands in the text as it is.
func brief(s string, most int) string {
	whole := []rune(clean(s, 4*most))
	if len(whole) <= most {
		return string(whole)
	}
	cut := whole[:most]
	if letterOrDigit(whole[most]) {
		for len(cut) > 0 && letterOrDigit(cut[len(cut)-1]) {
			cut = cut[:len(cut)-1]
		}
	}
	for len(cut) > 0 && strings.ContainsRune(".,:-/+%", cut[len(cut)-1]) {
		cut = cut[:len(cut)-1]
		for len(cut) > 0 && unicode.IsDigit(cut[len(cut)-1]) { // 12.5 is one number
			cut = cut[:len(cut)-1]
		}
	}
	for _, marks := range []string{"“”", "\"\"", "「」", "『』", "«»", "„“", "‘’", "''"} {
		pair := []rune(marks)
		open := -1
		for i, c := range cut {
			switch {
			case open >= 0 && c == pair[1]:
				open = -1
			case c == pair[0]:
				open = i
			}
		}
		if open >= 0 {
			cut = cut[:open]
		}
	}
	return strings.TrimSpace(string(cut)) + "…"
}

// letterOrDigit says whether a character is within a word that is written with others; Chinese ones stand alone.
func letterOrDigit(c rune) bool { return (unicode.IsLetter(c) || unicode.IsDigit(c)) && !han(c) }

// fit joins parts to a line, as many as it has room for.
func (r *reading) fit(begin string, parts []string) string {
	line := begin
	for i, p := range parts {
		next := r.say("%s; %s", "%s；%s", line, p)
		if i == 0 {
			next = p
			if begin != "" {
				next = r.say("%s: %s", "%s：%s", begin, p)
			}
		}
		if utf8.RuneCountInString(next) > maxLine {
			if i == 0 {
				return brief(next, maxLine)
			}
			continue
		}
		line = next
	}
	return line
}
