package flow

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"deskbell/backend/human"
)

// selectorsOf are the ways to find an element again, the best first, without empty ones.
func selectorsOf(e *human.Element) [][]string {
	if e == nil {
		return nil
	}
	var out [][]string
	for _, s := range e.Selectors {
		if len(s) > 0 && !slices.Contains(s, "") {
			out = append(out, s)
		}
	}
	if len(out) == 0 && e.Role != "" && e.Name != "" && e.Named == "" && roles[e.Role] {
		out = append(out, []string{"aria/" + e.Name + `[role="` + e.Role + `"]`})
	}
	return out
}

// steady leaves out paths and the text where there is anything better. A runner takes whichever is there
// first: a path fits the page from before, too, and a text is found in the innermost element, which may be smaller
// than the one meant. byText is true where only texts are left.
func steady(all [][]string) (best [][]string, byText bool) {
	var texts [][]string
	for _, s := range all {
		switch last := s[len(s)-1]; {
		case strings.HasPrefix(last, "text/"):
			texts = append(texts, s)
		case !isPath(last):
			best = append(best, s)
		}
	}
	switch {
	case len(best) > 0:
		return best, false
	case len(texts) > 0:
		return texts, true
	}
	return all, false
}

// isPath says whether a selector is a path, in CSS or in XPath.
func isPath(s string) bool {
	return stepped.MatchString(s) || !prefixed.MatchString(s) && (strings.Contains(s, ":nth-") || strings.Contains(s, " > ") || plainTag.MatchString(s))
}

var (
	prefixed  = regexp.MustCompile(`^(aria|text|xpath|pierce|css)/`)
	stepped   = regexp.MustCompile(`^xpath/.*[^/]/\*\[local-name\(\)=`)
	plainTag  = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	attribute = regexp.MustCompile(`^([a-z][a-z0-9-]*)?\[([a-z-]+)=(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([A-Za-z0-9_-]+))\]$`)
	roleOf    = regexp.MustCompile(`^(.*)\[role="([A-Za-z]+)"\]$`)
	escaped   = regexp.MustCompile(`\\([0-9a-fA-F]{1,6})[ \t\n]?|\\(.)`)
)

// roles are those that Playwright's getByRole looks for.
var roles = map[string]bool{}

func init() {
	for r := range strings.FieldsSeq(`alert alertdialog application article banner blockquote button caption cell checkbox code
		columnheader combobox complementary contentinfo definition deletion dialog directory document emphasis feed figure form
		generic grid gridcell group heading img insertion link list listbox listitem log main marquee math meter menu menubar
		menuitem menuitemcheckbox menuitemradio navigation none note option paragraph presentation progressbar radio radiogroup
		region row rowgroup rowheader scrollbar search searchbox separator slider spinbutton status strong subscript superscript
		switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem`) {
		roles[r] = true
	}
}

// direct are roles of which any point can be clicked.
func direct(role string) bool {
	switch role {
	case "button", "link", "checkbox", "radio", "switch", "tab", "option", "menuitem", "menuitemcheckbox", "menuitemradio", "textbox", "searchbox", "combobox", "spinbutton", "treeitem", "heading", "cell", "gridcell", "columnheader", "rowheader":
		return true
	}
	return false
}

// locator is Playwright's expression for an element, after the one for its page or frame; "" where it has none.
func locator(e *human.Element) string {
	for _, list := range literal(selectorsOf(e)) {
		var b strings.Builder
		for _, s := range list {
			l := locate(s, e)
			if l == "" {
				b.Reset()
				break
			}
			b.WriteString(l)
		}
		if b.Len() > 0 {
			return b.String()
		}
	}
	return ""
}

// literal puts the placeholder before the name that Chrome takes from it: others take the label instead where that is empty.
func literal(all [][]string) [][]string {
	if len(all) == 0 || len(all[0]) != 1 {
		return all
	}
	name, named := strings.CutPrefix(all[0][0], "aria/")
	if m := roleOf.FindStringSubmatch(name); m != nil {
		name = m[1]
	}
	i := slices.IndexFunc(all, func(list []string) bool {
		m := attribute.FindStringSubmatch(list[len(list)-1])
		return m != nil && m[2] == "placeholder" && m[3]+m[4]+m[5] == name
	})
	if !named || i < 0 {
		return all
	}
	return slices.Concat([][]string{all[i]}, all[:i], all[i+1:])
}

// locate turns one selector of @puppeteer/replay into a locator.
func locate(s string, e *human.Element) string {
	prefix, rest, _ := strings.Cut(s, "/")
	switch prefix {
	case "aria":
		if m := roleOf.FindStringSubmatch(rest); m != nil {
			role := m[2]
			if role == "image" {
				role = "img"
			}
			if !roles[role] || m[1] == "" {
				return "" // one that only Chrome's accessibility tree knows
			}
			if len(m[1]) > 1 && m[1] == strings.ToUpper(m[1]) && m[1] != strings.ToLower(m[1]) {
				// Capitals may be the style's: Chrome has them in the name, and Playwright has not.
				return fmt.Sprintf(".getByRole(%s, { name: new RegExp(%s, 'i') })", js(role), js("^"+regexp.QuoteMeta(m[1])+"$"))
			}
			return fmt.Sprintf(".getByRole(%s, { name: %s, exact: true })", js(role), js(m[1]))
		}
		switch tag, _, _ := strings.Cut(e.Tag, "/"); tag {
		case "input", "select", "textarea":
			return fmt.Sprintf(".getByLabel(%s, { exact: true })", js(rest))
		}
		return ""
	case "text":
		return fmt.Sprintf(".getByText(%s, { exact: true })", js(rest))
	case "xpath":
		return fmt.Sprintf(".locator(%s)", js("xpath="+rest))
	case "pierce", "css":
		return fmt.Sprintf(".locator(%s)", js("css="+rest))
	}
	if m := attribute.FindStringSubmatch(s); m != nil {
		value := unescaped(m[3] + m[4] + m[5])
		switch {
		case m[2] == "data-testid" && m[1] == "":
			return fmt.Sprintf(".getByTestId(%s)", js(value))
		case m[2] == "placeholder":
			return fmt.Sprintf(".getByPlaceholder(%s, { exact: true })", js(value))
		case m[2] == "alt":
			return fmt.Sprintf(".getByAltText(%s, { exact: true })", js(value))
		}
	}
	return fmt.Sprintf(".locator(%s)", js("css="+s))
}

// unescaped undoes the escapes of a CSS string.
func unescaped(s string) string {
	return escaped.ReplaceAllStringFunc(s, func(e string) string {
		m := escaped.FindStringSubmatch(e)
		if m[1] == "" {
			return m[2]
		}
		n, err := strconv.ParseUint(m[1], 16, 32)
		if err != nil || n == 0 || n > 0x10ffff {
			return "�"
		}
		return string(rune(n))
	})
}

// inside is Playwright's expression for a frame of a page.
func inside(path []int) string {
	var b strings.Builder
	for _, n := range path {
		fmt.Fprintf(&b, ".locator('iframe, frame').nth(%d).contentFrame()", max(n, 0))
	}
	return b.String()
}

// offset is where in the element the pointer was; false where the element's place is not known.
func (m *move) offset(x, y int, e *human.Element) (int, int, bool) {
	if e == nil || e.Bounds.W <= 0 || e.Bounds.H <= 0 {
		return 0, 0, false
	}
	return min(max(x-e.Bounds.X, 0), e.Bounds.W-1), min(max(y-e.Bounds.Y, 0), e.Bounds.H-1), true
}
