package actions

import (
	"cmp"
	"strconv"
	"strings"

	"deskbell/backend/human"
)

var enRoles = map[string]string{
	"textbox": "field", "searchbox": "search field", "combobox": "list", "listbox": "list", "listitem": "item", "option": "option",
	"gridcell": "cell", "columnheader": "column", "rowheader": "row header", "menuitem": "menu item", "menuitemcheckbox": "menu item",
	"menuitemradio": "menu item", "radio": "option", "checkbox": "checkbox", "spinbutton": "number field", "progressbar": "progress bar",
	"tab": "tab", "tabpanel": "page", "treeitem": "item", "treegrid": "table", "img": "picture", "scrollbar": "scroll bar", "statusbar": "status bar",
	"toolbar": "toolbar", "menubar": "menu bar", "document": "page", "link": "link", "heading": "heading", "togglebutton": "button",
	"drawing area": "canvas",
}

func enElement(e *human.Element) string {
	if e == nil {
		return ""
	}
	role := enRoles[e.Role]
	if role == "" && !plainRoles[e.Role] {
		role = Name(e.Role)
	}
	name := elementName(e)
	switch {
	case name == "" && role == "":
		return ""
	case name == "":
		return article(role)
	case role == "":
		return name
	}
	return role + " " + name
}

func article(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

// enField names a field without saying that it is one.
func enField(e *human.Element) string {
	if name := elementName(e); name != "" {
		return name
	}
	return enElement(e)
}

var enKeys = map[string]string{
	"ArrowLeft": "Left", "ArrowRight": "Right", "ArrowUp": "Up", "ArrowDown": "Down", "PageUp": "Page Up", "PageDown": "Page Down",
	" ": "Space", "Escape": "Escape", "ContextMenu": "Menu", "PrintScreen": "Print Screen",
}

func enWords(a human.Action) string {
	in := func(words string) string {
		if name := windowName(a); name != "" {
			return words + " in " + name
		}
		return words
	}
	with := ""
	if len(a.Modifiers) > 0 {
		with = " with " + strings.TrimSuffix(keys(human.Action{Modifiers: a.Modifiers}, nil), "+")
	}
	switch a.Type {
	case human.Click, human.DoubleClick, human.TripleClick:
		verb := map[human.ActionType]string{human.Click: "Clicked", human.DoubleClick: "Double-clicked", human.TripleClick: "Triple-clicked"}[a.Type]
		switch a.Button {
		case 2, 3:
			side := map[int]string{2: "Middle", 3: "Right"}[a.Button]
			verb = side + "-" + strings.ToLower(verb[:1]) + verb[1:]
		case 8:
			return in("Pressed the mouse's Back button")
		case 9:
			return in("Pressed the mouse's Forward button")
		}
		if a.Button == 1 && a.Type == human.Click && with == "" {
			if path := menuPath(a.Element); path != "" {
				return "Menu " + path
			}
			if a.Element != nil && a.Element.Role == "menu" && elementName(a.Element) != "" {
				return "Opened menu " + elementName(a.Element)
			}
		}
		if what := enElement(a.Element); what != "" {
			return verb + " " + what + with
		}
		return in(verb) + with
	case human.Drag:
		from, to := enElement(a.Element), enElement(a.Target)
		switch {
		case from != "" && to != "" && from != to:
			return "Dragged " + from + " to " + to + with
		case from != "" && (to == from || a.Target == nil):
			return "Dragged in " + from + with
		case from != "":
			return "Dragged " + from + with
		}
		return in("Dragged") + with
	case human.Scroll:
		words := "Scrolled " + direction(a) + with
		if what := enElement(a.Element); what != "" {
			return words + " in " + what
		}
		return in(words)
	case human.Typing:
		if cleared(a) {
			return "Cleared " + cmp.Or(enField(a.Element), "a field")
		}
		what := "Typed"
		if filled(a) {
			what = "Filled"
		}
		switch text := shown(a); {
		case text != "":
			what += " " + text
		case a.Hidden == "" && a.Count > 0:
			what += " " + enCount(a.Count, "character")
		}
		sent := ""
		if a.Page != nil && a.Key == "Enter" {
			sent = " and pressed Enter"
		}
		if field := enField(a.Element); field != "" {
			return what + " into " + field + sent
		}
		if name := windowName(a); name != "" {
			return what + " into " + name + sent
		}
		if !strings.Contains(what, " ") {
			return what + " something hidden"
		}
		return what
	case human.Shortcut:
		words := "Pressed " + keys(a, enKeys)
		if pressedOn(a) {
			words += " on " + enElement(a.Element)
		}
		if a.Count > 1 {
			words += " " + enCount(a.Count, "time")
		}
		return words
	case human.Copy:
		verb := "Copied"
		if cut(a) {
			verb = "Cut"
		}
		if a.Count > 0 && a.Hidden == "" {
			return in(verb + " " + enCount(a.Count, "character"))
		}
		return in(verb)
	case human.Paste:
		words := "Pasted"
		if a.Count > 0 && a.Hidden == "" {
			words += " " + enCount(a.Count, "character")
		}
		if field := enField(a.Element); field != "" {
			return words + " into " + field
		}
		return in(words)
	case human.SwitchWindow:
		if a.Element != nil {
			role := "Window"
			if a.Element.Role == "dialog" {
				role = "Dialog"
			}
			if name := elementName(a.Element); name != "" {
				return role + " " + name
			}
			return role + " opened"
		}
		if name := windowName(a); name != "" {
			return "Switched to " + name
		}
		return "Switched to another window"
	case human.OpenApp:
		if name := openedName(a); name != "" {
			return "Opened " + name
		}
		return "Opened a program"
	case human.CloseWindow:
		if name := elementName(a.Element); name != "" {
			return "Closed dialog " + name
		}
		if name := windowName(a); name != "" {
			return "Closed " + name
		}
		return "Closed a window"
	case human.FileOperation:
		return enFile(a.File)
	case human.Note:
		return "Note: " + clean(a.Text, 200)
	case human.Missing:
		return enGap(a.Gap)
	}
	if a.Page != nil {
		return enPage(a)
	}
	return title(strings.ReplaceAll(Name(string(a.Type)), "_", " "))
}

func enCount(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}

func enFile(f *human.FileChange) string {
	if f == nil {
		return "Changed a file"
	}
	in := func(words string) string {
		if dir := Name(folder(f.Path)); dir != "" {
			return words + " in " + dir
		}
		return words
	}
	name := Name(base(f.Path))
	if f.Dir {
		name = "folder " + name
	}
	switch f.Op {
	case "created":
		return in("Created " + name)
	case "deleted":
		return in("Deleted " + name)
	case "renamed":
		if from, to := folder(f.Path), folder(f.To); from != to {
			return "Moved " + name + " to " + Name(to)
		}
		return in("Renamed " + name + " to " + Name(base(f.To)))
	}
	return in("Saved " + name)
}

func enGap(g *human.Gap) string {
	if g == nil {
		return "Not recorded"
	}
	switch g.Reason {
	case "paused":
		return "Recording paused"
	case "excluded":
		return "Not recorded: an excluded program or window"
	case "lost", "overflow":
		if g.Count > 0 {
			return "Not recorded: " + enCount(int(g.Count), "event") + " lost"
		}
		return "Not recorded: events were lost"
	case "crash":
		return "Not recorded: Deskbell had ended"
	case "limit":
		return "Not recorded: a limit was reached"
	}
	return "Not recorded"
}
