package actions

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"deskbell/backend/human"
)

// A language is how an action is described in it.
type language struct {
	roles, keys map[string]string
	text        map[string]string // by what is said; a key with "/none" is for what has no name
}

// say is the text of a key with what is put into it.
func (l *language) say(key string, args ...any) string {
	if len(args) == 0 {
		return l.text[key]
	}
	return fmt.Sprintf(l.text[key], args...)
}

// or is the text of a key for what has a name, and another where it has none.
func (l *language) or(key, name string, more ...any) string {
	if name == "" {
		key += "/none"
		if len(more) == 0 {
			return l.text[key]
		}
	}
	return l.say(key, append([]any{name}, more...)...)
}

// count says how many of something there are: a key and its plural.
func (l *language) count(n uint64, one string) string {
	if n == 1 {
		return l.say(one)
	}
	return l.say(one+"s", n)
}

func (l *language) element(e *human.Element) string {
	what := l.called(e)
	switch {
	case e == nil || e.Beside == "" || e.Hidden != "" && e.Hidden != "secret":
		return what
	case what == "":
		return l.say("beside/none", Name(e.Beside))
	}
	return l.say("beside", what, Name(e.Beside))
}

// called names an element by its role and name alone.
func (l *language) called(e *human.Element) string {
	if e == nil {
		return ""
	}
	role := l.roles[e.Role]
	if role == "" && !plainRoles[e.Role] {
		role = Name(e.Role)
	}
	switch name := elementName(e); {
	case name == "" && role == "":
		return ""
	case name == "" && strings.ContainsRune("aeiou", rune(role[0])):
		return l.say("an", role)
	case name == "":
		return l.say("a", role)
	case role == "":
		return l.say("name", name)
	default:
		return l.say("element", role, name)
	}
}

// field names a field without saying that it is one.
func (l *language) field(e *human.Element) string {
	if name := elementName(e); name != "" {
		return l.say("name", name)
	}
	return l.element(e)
}

// within puts where it was done to what was done.
func (l *language) within(words, where string) string {
	if where == "" {
		return words
	}
	return l.say("in", words, where)
}

// window names the window of an action.
func (l *language) window(a human.Action) string {
	if name := windowName(a); name != "" {
		return l.say("name", name)
	}
	return ""
}

// with says which keys were held: what comes before the words, and what after them.
func (l *language) with(a human.Action) (before, after string) {
	if len(a.Modifiers) == 0 {
		return "", ""
	}
	held := strings.TrimSuffix(keys(human.Action{Modifiers: a.Modifiers}, nil), "+")
	fill := func(key string) string { return strings.ReplaceAll(l.text[key], "%s", held) }
	return fill("with before"), fill("with after")
}

func (l *language) words(a human.Action) string {
	switch a.Type {
	case human.Click, human.DoubleClick, human.TripleClick:
		return l.click(a)
	case human.Drag:
		return l.drag(a)
	case human.Scroll:
		before, after := l.with(a)
		words := before + l.say("scroll "+direction(a)) + after
		if what := l.element(a.Element); what != "" {
			return l.within(words, what)
		}
		return l.within(words, l.window(a))
	case human.Typing:
		return l.typing(a)
	case human.Shortcut:
		words := l.say("pressed", keys(a, l.keys))
		if pressedOn(a) {
			words = l.say("on", words, l.element(a.Element))
		}
		if a.Count > 1 {
			words = l.say("times", words, a.Count)
		}
		return words
	case human.Copy:
		if cut(a) {
			return l.within(l.or("cut", l.characters(a)), l.window(a))
		}
		return l.within(l.or("copied", l.characters(a)), l.window(a))
	case human.Paste:
		words := l.or("pasted", l.characters(a))
		if field := l.field(a.Element); field != "" {
			return l.say("into", words, field)
		}
		return l.within(words, l.window(a))
	case human.SwitchWindow:
		switch {
		case a.Element == nil:
			return l.or("switched", windowName(a))
		case a.Element.Role == "dialog":
			return l.or("dialog", elementName(a.Element))
		}
		return l.or("window", elementName(a.Element))
	case human.OpenApp:
		return l.or("opened", openedName(a))
	case human.CloseWindow:
		if name := elementName(a.Element); name != "" {
			return l.say("closed dialog", name)
		}
		return l.or("closed", windowName(a))
	case human.MoveWindow:
		return l.or("moved window", windowName(a))
	case human.ResizeWindow:
		return l.or("resized window", windowName(a))
	case human.FileOperation:
		return l.file(a.File)
	case human.ValueChange, human.Focus:
		return l.say("reported", l.within(l.reported(a), l.window(a)))
	case human.Note:
		return l.say("note", clean(a.Text, 200))
	case human.Missing:
		return l.gap(a.Gap)
	case human.CommandRun:
		return l.command(a)
	}
	if a.Page != nil {
		if words := l.page(a); words != "" {
			return words
		}
	}
	return title(strings.ReplaceAll(Name(string(a.Type)), "_", " "))
}

func (l *language) click(a human.Action) string {
	verb := l.text[string(a.Type)]
	switch a.Button {
	case 2, 3:
		verb = l.text[string(a.Type)+" "+strconv.Itoa(a.Button)]
	case 8:
		return l.within(l.say("mouse back"), l.window(a))
	case 9:
		return l.within(l.say("mouse forward"), l.window(a))
	}
	before, after := l.with(a)
	if a.Button == 1 && a.Type == human.Click && len(a.Modifiers) == 0 {
		if path := menuPath(a.Element); path != "" {
			return l.say("menu item", path)
		}
		if a.Element != nil && a.Element.Role == "menu" && elementName(a.Element) != "" {
			return l.say("menu", elementName(a.Element))
		}
	}
	if what := l.element(a.Element); what != "" {
		return before + l.say("clicked", verb, what) + after
	}
	return l.within(before+verb, l.window(a)) + after
}

func (l *language) drag(a human.Action) string {
	from, to := l.element(a.Element), l.element(a.Target)
	before, after := l.with(a)
	switch {
	case from != "" && to != "" && from != to:
		return before + l.say("drag to", from, to) + after
	case from != "" && (to == from || a.Target == nil):
		return l.say("drag in", from, before) + after
	case from != "":
		return before + l.say("drag from", from) + after
	}
	return l.within(before+l.say("drag"), l.window(a)) + after
}

// characters is how many were typed, copied or pasted; "" where that is not known or hidden.
func (l *language) characters(a human.Action) string {
	if a.Count <= 0 || a.Hidden != "" {
		return ""
	}
	return l.count(uint64(a.Count), "character")
}

func (l *language) typing(a human.Action) string {
	if cleared(a) {
		return l.or("cleared", l.field(a.Element))
	}
	if outcome := displayed(a); outcome != "" {
		if sum := sum(a.Text); sum != "" {
			return l.say("sum", sum, outcome)
		}
		a.Value = ""
		return l.say("then showed", l.typing(a), outcome)
	}
	verb, sent, key := l.say("typed"), "", "type"
	if filled(a) {
		verb = l.say("filled")
	}
	if a.Page != nil && a.Key == "Enter" {
		sent = l.say("sent")
	}
	text := shown(a)
	if text == "" {
		text = l.characters(a)
	}
	if text == "" {
		key = "type hidden"
	}
	into := l.field(a.Element)
	if into == "" {
		into = l.window(a)
	}
	if into != "" {
		key += " into"
	}
	return l.say(key, verb, text, into, sent)
}

func (l *language) file(f *human.FileChange) string {
	if f == nil {
		return l.say("file")
	}
	key := "a file"
	if f.Dir {
		key = "folder"
	}
	name := l.say(key, Name(base(f.Path)))
	var words string
	switch from, to := folder(f.Path), folder(f.To); {
	case f.Op == "renamed" && from != to:
		return l.say("moved", name, Name(to))
	case f.Op == "renamed":
		words = l.say("renamed", name, Name(base(f.To)))
	case f.Op == "created", f.Op == "deleted":
		words = l.say(f.Op, name)
	default:
		words = l.say("saved", name)
	}
	if dir := Name(folder(f.Path)); dir != "" {
		return l.say("file in", words, dir)
	}
	return words
}

func (l *language) gap(g *human.Gap) string {
	if g == nil {
		return l.say("gap")
	}
	switch g.Reason {
	case "paused", "excluded", "crash", "limit", "unreported":
		return l.say("gap " + g.Reason)
	case "lost", "overflow":
		if g.Count == 0 {
			return l.or("gap lost", "")
		}
		return l.say("gap lost", l.count(g.Count, "event"))
	}
	return l.say("gap")
}

// cleared says whether a field was left empty.
func cleared(a human.Action) bool {
	return a.Page != nil && a.Type == human.Typing && a.Value == "" && a.Count == 0 && a.Hidden == ""
}

// displayed is what stood there after typing, where that is another text than was typed: what a program made of it.
func displayed(a human.Action) string {
	if a.Page != nil || a.Type != human.Typing || a.Hidden != "" || a.Text == "" || a.Value == "" || utf8.RuneCountInString(a.Value) > longestName ||
		a.Element != nil && slices.Contains(a.Element.States, "multiline") || strings.Contains(strings.ToLower(a.Value), strings.ToLower(strings.TrimSpace(a.Text))) {
		return ""
	}
	return clean(a.Value, longestName)
}

// sum writes something to be worked out as people do: 120 + 15; "" for any other text.
func sum(text string) string {
	text = strings.TrimRight(strings.ReplaceAll(text, " ", ""), "=")
	var b strings.Builder
	for i, r := range text {
		switch {
		case r >= '0' && r <= '9', strings.ContainsRune(".,()%", r):
			b.WriteRune(r)
		case i > 0 && strings.ContainsRune("+-*/^×÷−", r):
			b.WriteString(" " + string(r) + " ")
		default:
			return ""
		}
	}
	if !strings.Contains(b.String(), " ") {
		return ""
	}
	return b.String()
}

// pressedOn says whether a key was pressed on something that it may have worked, like a button.
func pressedOn(a human.Action) bool {
	if a.Page == nil || a.Key != "Enter" && a.Key != " " || elementName(a.Element) == "" {
		return false
	}
	switch a.Element.Role {
	case "document", "textbox", "searchbox", "heading", "main", "article":
		return false
	}
	return !plainRoles[a.Element.Role]
}

// page says what is done in browsers only; "" for anything else.
func (l *language) page(a human.Action) string {
	switch a.Type {
	case human.OpenPage:
		switch {
		case a.Page.Opener != "":
			return l.or("popup", pageName(a.Page))
		case a.Navigation != nil && a.Navigation.Failed != "":
			return l.went(a)
		}
		return l.or("tab", host(a.Page.URL))
	case human.ClosePage:
		if a.Page.Opener != "" {
			return l.or("closed popup", pageName(a.Page))
		}
		return l.or("closed tab", pageName(a.Page))
	case human.SwitchPage:
		return l.or("switched tab", pageName(a.Page))
	case human.Navigate:
		return l.went(a)
	case human.Choose:
		field := l.field(a.Element)
		switch chosen := values(a); {
		case chosen == "":
			return l.or("changed choice", field)
		case field == "":
			return l.say("chose", chosen)
		default:
			return l.say("chose in", chosen, field)
		}
	case human.Check:
		key := "checked"
		switch {
		case len(a.Values) == 0:
			key = "changed check"
		case isRadio(a.Element):
			key = "radio"
		case a.Values[0] == "unchecked":
			key = "unchecked"
		}
		return l.or(key, l.field(a.Element))
	case human.Hover:
		if what := l.element(a.Element); what != "" {
			return l.say("hovered", what)
		}
		return l.or("hovered at", place(a))
	case human.PlayMedia:
		return l.media(a)
	case human.PageSaid:
		return l.or("page said", said(a.Dialog))
	case human.DialogEnded:
		return l.dialog(a.Dialog)
	case human.Upload:
		if field := l.field(a.Element); field != "" {
			return l.say("upload to", field, l.files("upload this", a))
		}
		return l.files("upload", a)
	case human.Download:
		if len(a.Transfers) > 0 && a.Transfers[0].State == "canceled" {
			return l.files("download canceled", a)
		}
		return l.files("download", a)
	case human.Extract:
		if a.Pick == nil {
			return l.or("picked", "")
		}
		return l.or("picked", Name(a.Pick.Field))
	}
	return ""
}

func (l *language) went(a human.Action) string {
	n := a.Navigation
	if n == nil {
		n = &human.Navigation{}
	}
	if n.Failed != "" {
		return l.or("go failed", place(a), Name(n.Failed))
	}
	key := "go"
	if special := "go " + n.Kind; l.text[special] != "" && n.Kind != "failed" {
		key = special
	}
	words := l.or(key, place(a))
	if n.Status >= 400 {
		return l.say("status", words, n.Status)
	}
	return words
}

// media says what was done to a player.
func (l *language) media(a human.Action) string {
	if len(a.Values) == 0 || l.text["media "+a.Values[0]] == "" {
		return l.or("media", l.element(a.Element))
	}
	what := l.element(a.Element)
	if what == "" {
		what = l.say("a player")
	}
	if len(a.Values) == 1 {
		return l.say("media "+a.Values[0], what)
	}
	value := clean(a.Values[1], longestText)
	if a.Values[0] == "seek" {
		seconds, _ := strconv.ParseFloat(value, 64)
		value = playerTime(seconds)
	}
	return l.say("media "+a.Values[0], what, value)
}

// playerTime is a time in a film as players show it: 1:05, 1:02:03.
func playerTime(seconds float64) string {
	s := int(max(0, min(seconds, 1e6)))
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

func (l *language) dialog(d *human.Dialog) string {
	switch {
	case d == nil:
		return l.say("asked")
	case d.Kind == "beforeunload" && d.Accepted:
		return l.say("left")
	case d.Kind == "beforeunload":
		return l.say("stayed")
	}
	message := l.or("message", said(d))
	switch {
	case d.Kind == "prompt" && d.Accepted && d.Input != "":
		return l.say("answered", message, clean(d.Input, longestText))
	case d.Accepted:
		return l.say("accepted", message)
	}
	return l.say("canceled", message)
}

// files says what was done with them, by the key of the verb.
func (l *language) files(verb string, a human.Action) string {
	name, more := files(a)
	key := "one file"
	if more > 0 {
		key = "more files"
	}
	if name == "" {
		key += "/none"
	}
	return l.say(key, l.text[verb], name, more+1, more)
}

// reported is what a program said was done in it.
func (l *language) reported(a human.Action) string {
	what := l.element(a.Element)
	switch {
	case a.Type == human.Focus:
		return l.or("reported focus", what)
	case a.Element != nil && (a.Element.Role == "checkbox" || a.Element.Role == "switch" || a.Element.Role == "radio" ||
		a.Element.Role == "menuitemcheckbox" || a.Element.Role == "menuitemradio"):
		if slices.Contains(a.Element.States, "checked") {
			return l.or("reported checked", what)
		}
		return l.or("reported unchecked", what)
	case a.Hidden != "" && a.Hidden != "secret":
		return l.or("reported hidden", what)
	case a.Count > 0 && typedInto(a.Element):
		return l.or("reported text", what, l.count(uint64(a.Count), "character"))
	}
	return l.or("reported change", what)
}

// command is a command with its exit code, how long it took, and its folder: $ make (exit 0, 1.2 s, ~/infra).
func (l *language) command(a human.Action) string {
	c := a.Command
	if c == nil {
		return l.say("command hidden")
	}
	words := "$ " + clean(c.Text, longestCommand)
	switch {
	case c.Text == "" && a.Hidden != "":
		words = l.say("command hidden")
	case c.Text == "":
		words = l.say("command unknown")
	}
	var said []string
	if c.Exit != nil {
		said = append(said, l.say("exit", *c.Exit), l.say("took", float64(a.End-a.At)/1e9))
	} else {
		said = append(said, l.say("no exit"))
	}
	if c.Folder != "" {
		said = append(said, clean(tilde(c.Folder), longestName))
	}
	return l.say("command", words, strings.Join(said, l.say("command comma")))
}

// longestCommand is how much of a command a line of words carries, in characters.
const longestCommand = 160

// tilde is a folder with ~ for the home folder of whoever's it is.
func tilde(folder string) string {
	for _, homes := range []string{"/home/", "/Users/"} {
		if rest, is := strings.CutPrefix(folder, homes); is && rest != "" {
			_, below, deeper := strings.Cut(rest, "/")
			if !deeper {
				return "~"
			}
			return "~/" + below
		}
	}
	if rest, is := strings.CutPrefix(folder, "/root"); is && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return folder
}
