package facts

import (
	"cmp"
	"slices"
	"strings"

	"deskbell/backend/human"
)

// A Screen is what was seen of windows: dialogs and what became of them, and titles.
type Screen struct {
	Dialogs []*Dialog
	In      []*Dialog // of each action, the dialog it was done in, or that it opened; nil for none
	bad     map[string]bool
}

// A Dialog is a window that came up over another, or an element of a window that does as much.
type Dialog struct {
	Title   string
	Opened  int   // the action that tells of it; the first done in it where none does
	By      int   // what was done just before; -1 where that is not known
	Actions []int // what was done in it
	Closed  int   // the last of these, where that closed it; -1
	Own     bool  // a window of its own was seen to open
	Said    *string
}

// CauseWithin is how long after an action, in nanoseconds, a dialog comes because of it; saving and connecting take
// their time.
const CauseWithin = 30e9

// WindowKey tells windows of all recordings apart; "" where an action has no window.
func WindowKey(a Action) string {
	if a.Window == nil {
		return ""
	}
	return string(a.Rec.ID) + "\x00" + cmp.Or(a.Window.ID, a.Window.Title)
}

// WindowTitle is the title of the window of an action; "" where it has none.
func WindowTitle(a Action) string {
	if a.Window == nil {
		return ""
	}
	return a.Window.Title
}

// Screen reads what was seen of windows, once.
func (fs *Facts) Screen() *Screen {
	if fs.shown != nil {
		return fs.shown
	}
	s := &Screen{In: make([]*Dialog, len(fs.Actions)), bad: map[string]bool{}}
	fs.shown = s
	open := map[string]*Dialog{} // by window
	last := -1                   // done by hand
	for i, a := range fs.Actions {
		if !OnDesktop(a) {
			continue
		}
		key := WindowKey(a)
		by := -1
		if last >= 0 && a.At-fs.Actions[last].End <= CauseWithin && fs.Actions[last].Rec == a.Rec {
			by = last
		}
		if called, is := s.opens(a); is {
			s.In[i] = s.add(&Dialog{Title: called, Opened: i, By: by, Closed: -1, Own: true})
			if key != "" {
				open[key] = s.In[i]
			}
			continue
		}
		inner := InDialog(a.Element)
		d := open[key]
		if d == nil && inner != "" && s.Trouble(inner) && !switches(a) {
			// It is no window of its own, or was open when the recording began.
			d = s.add(&Dialog{Title: inner, Opened: i, By: by, Closed: -1})
			open[key] = d
		}
		switch {
		case d == nil:
		case d.Own || inner == d.Title || a.Type == human.CloseWindow:
			s.In[i] = d
			d.Actions = append(d.Actions, i)
			d.Closed = -1 // it was still there
			if closes(a) {
				d.Closed = i
			}
			if a.Type == human.CloseWindow || !d.Own && closes(a) {
				delete(open, key)
			}
		default:
			delete(open, key) // work continues beside it
		}
		if ByHand(a) {
			last = i
		}
	}
	return s
}

func (s *Screen) add(d *Dialog) *Dialog {
	s.Dialogs = append(s.Dialogs, d)
	return d
}

// switches says whether an action is a window that came to the front with what it has.
func switches(a Action) bool { return a.Type == human.SwitchWindow && a.Element != nil }

// opens says whether an action is a dialog that opened, or a window that tells of an error, and what it is called. It
// is not one more window of a program.
func (s *Screen) opens(a Action) (called string, is bool) {
	tells := func(title string) bool { return s.Trouble(title) && shortTitle(title) }
	called = WindowTitle(a)
	if a.Element != nil {
		called = cmp.Or(a.Element.Name, called)
	}
	switch {
	case switches(a):
		is = a.Element.Role == "dialog" || tells(called)
	case a.Type == human.OpenApp:
		is = tells(WindowTitle(a))
	}
	return called, is
}

// InDialog is what the dialog is called that an element lies in; of one that has no name, what the element says.
func InDialog(e *human.Element) string {
	if e == nil {
		return ""
	}
	for i := range e.Ancestry {
		switch up := &e.Ancestry[i]; up.Role {
		case "alert", "alertdialog", "dialog":
			if n := ElementName(up); n != "" {
				return n
			}
		}
	}
	if e.Role == "alert" || e.Role == "alertdialog" {
		return ElementName(e)
	}
	return ""
}

// closes says whether an action mostly ends a dialog.
func closes(a Action) bool {
	switch a.Type {
	case human.CloseWindow:
		return true
	case human.Click, human.DoubleClick:
		return a.Element != nil && (a.Element.Role == "button" || a.Element.Role == "togglebutton") && a.Button <= 1 && ElementName(a.Element) != ""
	case human.Shortcut:
		return len(a.Modifiers) == 0 && (a.Key == "Escape" || a.Key == "Enter") || IsQuit(a)
	}
	return false
}

// IsQuit says whether it is a shortcut that closes a window or a program.
func IsQuit(a Action) bool {
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

// Trouble is the function of that name, asked once for each title.
func (s *Screen) Trouble(text string) bool {
	bad, known := s.bad[text]
	if !known {
		bad = Trouble(text)
		s.bad[text] = bad
	}
	return bad
}

// shortTitle says whether a window is what its title says, and not one that shows something of that name: Error, but
// not Error handling - Reader.
func shortTitle(title string) bool {
	if StartsWith(title, EnMail, ZhMail) {
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
	low := Flat(doc)
	return low == " error " || low == " warning " || low == " fatal error " || strings.HasSuffix(low, " failed ") && len(strings.Fields(doc)) <= 4 ||
		doc == "错误" || doc == "警告" || doc == "出错了" || strings.HasSuffix(doc, "失败") && len([]rune(doc)) <= 8
}

// AppName is what the program is called that an action was done in.
func AppName(a Action) string {
	if a.App == nil {
		return ""
	}
	return cmp.Or(a.App.Name, a.App.Exe)
}

// ProgramName is the name of the program, for a sentence.
func ProgramName(a Action) string { return Exactly(AppName(a), MaxName) }

// Button is what a click was on, where that has a name; "" for anything else.
func Button(a Action) string {
	if a.Type != human.Click && a.Type != human.DoubleClick || a.Button > 1 {
		return ""
	}
	return ElementName(a.Element)
}

// IsCommand says whether an element does something when it is pressed, such as a button or a menu entry.
func IsCommand(e *human.Element) bool {
	if e == nil {
		return false
	}
	switch e.Role {
	case "button", "togglebutton", "menuitem", "link":
		return true
	}
	return false
}

// IsControl says whether an element is there to be worked with, so that its name is no message.
func IsControl(e *human.Element) bool {
	switch e.Role {
	case "button", "togglebutton", "menuitem", "menuitemcheckbox", "menuitemradio", "menu", "menubar", "tab", "textbox", "searchbox", "combobox", "link",
		"checkbox", "radio", "switch", "spinbutton", "slider", "option", "treeitem", "columnheader", "rowheader", "toolbar", "scrollbar":
		return true
	}
	return false
}

// IsTerminal says whether an action was done in a terminal, where Ctrl+Z stops a program.
func IsTerminal(a Action) bool {
	if a.Element != nil && a.Element.Role == "terminal" {
		return true
	}
	n := strings.ToLower(AppName(a))
	return strings.Contains(n, "term") || strings.Contains(n, "konsole")
}

// IsUndo says whether an action undoes the one before it.
func IsUndo(a Action) bool {
	switch a.Type {
	case human.Shortcut:
		return strings.EqualFold(a.Key, "z") && len(a.Modifiers) == 1 && (a.Modifiers[0] == "ctrl" || a.Modifiers[0] == "meta") && !IsTerminal(a)
	case human.Click:
		e := OrNone(a.Element)
		return IsControl(e) && (IsOne(Button(a), enUndo, zhUndo) || strings.HasPrefix(e.Role, "menuitem") && StartsWith(Button(a), enUndo, zhUndo))
	}
	return false
}

// OrNone is the element, or an empty one for nil.
func OrNone(e *human.Element) *human.Element {
	if e == nil {
		return &human.Element{}
	}
	return e
}

// OpensMenu says whether a click only opens a menu.
func OpensMenu(a Action) bool {
	return a.Element != nil && (a.Element.Role == "menu" || a.Element.Role == "menubar")
}

// IsCloser says whether a click closes a window.
func IsCloser(a Action) bool {
	n := Button(a)
	return a.Type == human.Click && n != "" && (IsOne(n, enCloser, zhCloser) || strings.HasPrefix(a.Element.Role, "menuitem") && StartsWith(n, enQuits, zhQuits))
}

// Unsaved says whether a title has a mark of a document that is not saved, and what it is without the mark.
func Unsaved(title string) (bare string, marked bool) {
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

// SavesIt says whether an action may have saved what is in its window.
func SavesIt(a Action) bool {
	switch a.Type {
	case human.Shortcut:
		return strings.EqualFold(a.Key, "s") && (slices.Contains(a.Modifiers, "ctrl") || slices.Contains(a.Modifiers, "meta"))
	case human.Click, human.DoubleClick:
		return IsControl(OrNone(a.Element)) && StartsWith(Button(a), EnKeep, ZhKeep)
	}
	return false
}

// Names says whether a title is of a file.
func Names(title string, f *human.FileChange) bool {
	for _, p := range []string{f.Path, f.To} {
		if p != "" && strings.Contains(title, BaseName(p)) {
			return true
		}
	}
	return false
}

// IsField says whether an element is one to be filled in.
func IsField(e *human.Element) bool {
	switch e.Role {
	case "textbox", "searchbox", "combobox", "listbox", "option", "spinbutton", "checkbox", "radio", "switch", "slider", "label":
		return true
	}
	return e.Tag == "textarea" || e.Tag == "select" || strings.HasPrefix(e.Tag, "input") && e.Tag != "input/submit" && e.Tag != "input/button" && e.Tag != "input/image"
}
