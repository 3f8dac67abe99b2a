package actions

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"deskbell/backend/human"
)

func utoa(n uint64) string { return strconv.FormatUint(n, 10) }

// How much of a name or a text a line of words carries, in characters.
const (
	longestName = 48
	longestText = 60
)

// Words says in one line what was done, in English or ("zh", "zh-CN") Simplified Chinese. Names of windows,
// elements and files are shown with nothing in them that a reader would not see or that would turn the line
// round. Typed text is in the words where the action has it and it is not hidden.
func Words(a human.Action, lang string) string {
	if chinese(lang) {
		return simplifiedChinese.words(a)
	}
	return english.words(a)
}

func chinese(lang string) bool { return strings.HasPrefix(strings.ToLower(lang), "zh") }

// Name makes a text from elsewhere fit for one line: spaces for line breaks, code points in brackets for
// what cannot be seen, and the middle left out of a long one.
func Name(s string) string { return clean(s, longestName) }

// Line is Name for texts that may be longer: at most longest characters.
func Line(s string, longest int) string { return clean(s, longest) }

func clean(s string, longest int) string {
	var b strings.Builder
	space, n := false, 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		if unicode.IsSpace(r) {
			space = b.Len() > 0
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
			n++
		}
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteRune('�')
		case unicode.IsPrint(r) && !unseen(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		}
		if n++; n > longest*4 { // no need to look at a page to show a line of it
			b.WriteString("…")
			break
		}
	}
	out := []rune(b.String())
	if len(out) <= longest {
		return string(out)
	}
	// Files and pages often differ in their end.
	tail := longest / 4
	return strings.TrimSpace(string(out[:longest-tail-1])) + "…" + strings.TrimSpace(string(out[len(out)-tail:]))
}

// unseen finds letters and marks that print as nothing.
func unseen(r rune) bool {
	switch {
	case r == 0x034F, r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0, r == 0x2800, r == 0x17B4, r == 0x17B5:
		return true
	case r >= 0x180B && r <= 0x180F, r >= 0xFE00 && r <= 0xFE0E, r >= 0xE0000 && r <= 0xE0FFF:
		return true
	}
	return false
}

// elementName is what the element is called, "" where it has no name or that is hidden. The text says
// where a secret was masked in it.
func elementName(e *human.Element) string {
	if e == nil || e.Hidden != "" && e.Hidden != "secret" {
		return ""
	}
	return Name(e.Name)
}

func windowName(a human.Action) string {
	if a.Page != nil {
		return pageName(a.Page)
	}
	if a.Window != nil {
		if name := Name(a.Window.Title); name != "" {
			return name
		}
	}
	return appName(a)
}

func appName(a human.Action) string {
	if a.App == nil {
		return ""
	}
	if name := Name(a.App.Name); name != "" {
		return name
	}
	return Name(a.App.Exe)
}

// openedName is what an opened application is called: as people know it, else by its window.
func openedName(a human.Action) string {
	if name := appName(a); name != "" {
		return name
	}
	return windowName(a)
}

// menuPath is File > Export as… for an item of a menu whose menus are known, else "".
func menuPath(e *human.Element) string {
	if e == nil || !strings.HasPrefix(e.Role, "menuitem") || elementName(e) == "" {
		return ""
	}
	path := elementName(e)
	found := false
	for i := range e.Ancestry {
		up := &e.Ancestry[i]
		if !isMenu(up.Role) {
			if up.Role == "menubar" || found {
				break
			}
			continue
		}
		// Some toolkits name a menu twice: the item that opens it, and the menu it opens.
		if name := elementName(up); name != "" && !strings.HasPrefix(path, name+" > ") {
			path = name + " > " + path
			found = true
		}
	}
	if !found {
		return ""
	}
	return path
}

// keys are the keys of a shortcut as people write them: Ctrl+Shift+S.
func keys(a human.Action, names map[string]string) string {
	var parts []string
	for _, m := range a.Modifiers {
		parts = append(parts, title(m))
	}
	key := a.Key
	if name, ok := names[key]; ok {
		key = name
	} else if len([]rune(key)) == 1 {
		key = strings.ToUpper(key)
	}
	return strings.Join(append(parts, Name(key)), "+")
}

func title(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func shown(a human.Action) string {
	if a.Hidden != "" && a.Hidden != "secret" {
		return ""
	}
	if a.Page != nil && a.Type == human.Typing && a.Value != "" {
		return clean(a.Value, longestText)
	}
	return clean(a.Text, longestText)
}

// where a scroll went: the direction it went farther in.
func direction(a human.Action) string {
	x, y := a.DeltaX, a.DeltaY
	if x*x > y*y {
		if x < 0 {
			return "left"
		}
		return "right"
	}
	if y < 0 {
		return "up"
	}
	return "down"
}

// plainRoles say nothing to a reader: their name stands alone.
var plainRoles = map[string]bool{
	"": true, "generic": true, "group": true, "filler": true, "panel": true, "unknown": true, "none": true, "presentation": true,
	"paragraph": true, "label": true, "static": true, "text": true, "section": true, "application": true, "frame": true, "pane": true,
	"redundant object": true, "viewport": true, "scroll pane": true, "layered pane": true, "client": true, "custom": true,
}

// --- pages

// host is where a page comes from: the name of its site, the file, or the browser's own address; "" for an empty page.
func host(address string) string {
	if blank(address) {
		return ""
	}
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	switch {
	case u.Scheme == "file":
		return Name(base(u.Path))
	case u.Host != "" && (u.Scheme == "http" || u.Scheme == "https"):
		return Name(u.Host)
	case u.Scheme != "":
		return Name(u.Scheme + ":" + u.Opaque + u.Host + u.Path)
	}
	return ""
}

// pageTitle is the title of a page, "" where it has none and the browser shows its address instead.
func pageTitle(p *human.WebPage) string {
	title := Name(p.Title)
	if title == "" || len(p.Frame) > 0 && p.FrameURL != "" {
		return ""
	}
	if _, after, found := strings.Cut(p.URL, "://"); title == Name(p.URL) || found && title == Name(strings.TrimRight(after, "/")) || title == Name(after) {
		return ""
	}
	return title
}

// pageName names a page shortly: by its title, else by where it comes from.
func pageName(p *human.WebPage) string {
	if title := pageTitle(p); title != "" {
		return title
	}
	return host(p.URL)
}

// place names a page with where it comes from; what a title says a page may choose.
func place(a human.Action) string {
	p := a.Page
	address := p.URL
	if len(p.Frame) > 0 && p.FrameURL != "" {
		address = p.FrameURL
	}
	at := host(address)
	if a.Navigation != nil && a.Navigation.Kind == "fragment" {
		if _, fragment, found := strings.Cut(address, "#"); found && fragment != "" {
			at += Name("#" + fragment)
		}
	}
	title := pageTitle(p)
	if title == "" || at == "" {
		return title + at
	}
	return title + " (" + at + ")"
}

// values are options as a line shows them.
func values(a human.Action) string { return clean(strings.Join(a.Values, ", "), longestText) }

// files names what was uploaded or downloaded: the first of it, and how many there are.
func files(a human.Action) (name string, more int) {
	if len(a.Transfers) == 0 {
		return "", 0
	}
	return Name(a.Transfers[0].Name), len(a.Transfers) - 1
}

func said(d *human.Dialog) string { return clean(d.Message, longestText) }

func isRadio(e *human.Element) bool {
	return e != nil && (e.Role == "radio" || e.Role == "menuitemradio" || e.Tag == "input/radio")
}
