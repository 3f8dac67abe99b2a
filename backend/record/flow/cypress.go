package flow

import (
	"fmt"
	"strings"

	"deskbell/backend/human"
	"deskbell/backend/record/actions"
)

// A spec is one of Cypress while it is written.
type spec struct {
	*plan
	body strings.Builder
}

// cypress writes a spec in TypeScript for Cypress with the queries of @testing-library/cypress. What the recording does not
// hold is read by Cypress.env, which the environment's CYPRESS_DESKBELL_... set.
func cypress(p *plan) string {
	s := &spec{plan: p}
	for _, m := range s.moves {
		s.move(m)
	}
	var head strings.Builder
	fmt.Fprintf(&head, "// %s\n// A spec for Cypress, made with Deskbell from what a person did in a browser.\n", comment(s.title))
	for _, said := range s.said() {
		fmt.Fprintf(&head, "// %s\n", comment(actions.Line(said.Text, 300)))
	}
	if len(s.variables) > 0 {
		head.WriteString("// Set these in the environment, with CYPRESS_ before their names.\n")
	}
	fmt.Fprintf(&head, "import '@testing-library/cypress/add-commands';\n\nit(%s, () => {\n", js(s.title))
	if s.w > 0 && s.h > 0 {
		fmt.Fprintf(&head, "  cy.viewport(%d, %d);\n", s.w, s.h)
	}
	if s.shown != nil && s.shown.number == 1 && goable(s.shown.url) {
		s.arrives(s.shown.url)
	}
	return head.String() + s.body.String() + "});\n"
}

func (s *spec) line(format string, args ...any) {
	s.body.WriteString("  " + fmt.Sprintf(format, args...) + "\n")
}

func (s *spec) arrives(url string) {
	expression, _ := place(url)
	s.line("cy.location('href').should('match', %s);", expression)
}

// env is an expression for a variable.
func (s *spec) env(name string) string { return fmt.Sprintf("Cypress.env(%s)", js(name)) }

// move writes one step.
func (s *spec) move(m *move) {
	switch {
	case m.Type == human.Missing, m.Type == human.Note, m.Type == human.DialogEnded, m.Type == human.SwitchPage:
		return
	case m.tab.number > 1 || m.Type == human.ClosePage:
		s.note(human.Sayf("Cypress has one tab; what was done in others, and what closes it, is left out."))
		return
	case len(m.frame()) > 0:
		s.note(human.Sayf("Cypress does not look into frames; what was done in them is left out."))
		return
	case m.Type == human.Download:
		s.note(human.Sayf("Downloads are not waited for."))
		return
	}
	if words := comment(m.words()); words != "" && (m.Type != human.OpenPage || goable(m.Page.URL)) {
		s.body.WriteString("\n")
		s.line("// %s", words)
	}
	if m.Type != human.Navigate && !m.tab.went && goable(m.Page.URL) {
		s.visit(m)
	}
	for _, e := range m.effects {
		s.dialog(e)
	}
	switch m.Type {
	case human.OpenPage:
	case human.Navigate:
		s.navigates(m)
	default:
		s.does(m)
	}
}

func (s *spec) visit(m *move) {
	m.tab.went = true
	to := js(m.Page.URL)
	if masked(m.Page.URL) {
		to = s.env(s.address(m.Page.URL))
	}
	s.line("cy.visit(%s);", to)
}

// dialog says before a step how a dialog that comes of it is answered. Cypress itself confirms.
func (s *spec) dialog(e *move) {
	d := e.Dialog
	if e.Type != human.DialogEnded || d == nil {
		return
	}
	switch {
	case d.Kind == "prompt":
		reply := "null"
		if d.Accepted {
			reply = js(d.Input)
			if strings.Contains(d.Input, dots) || e.Masked {
				reply = s.env(s.answer(e))
			}
		}
		s.line("cy.window().then((page) => { page.prompt = () => %s; });", reply)
	case !d.Accepted:
		s.line("cy.once('window:confirm', () => false);")
	}
}

func (s *spec) navigates(m *move) {
	if m.failed() {
		return
	}
	by := m.tab.visit(m)
	switch {
	case m.goes():
		if goable(m.Page.URL) {
			s.visit(m)
		}
		return
	case m.passing:
		return
	case m.done() && m.kind() == "reload":
		s.line("cy.reload();")
	case m.done() && by != 0:
		s.line("cy.go(%d);", by)
	}
	if goable(m.Page.URL) {
		s.arrives(m.Page.URL)
	}
}

// queries are Testing Library's and Cypress's names for Playwright's locators.
var queries = map[string]string{".getByRole": "findByRole", ".getByLabel": "findByLabelText", ".getByText": "findByText", ".getByTestId": "findByTestId",
	".getByPlaceholder": "findByPlaceholderText", ".getByAltText": "findByAltText", ".getByTitle": "findByTitle", ".locator": "get"}

// query is Cypress's expression for an element; "" where it has none.
func query(e *human.Element) string {
next:
	for _, list := range selectorsOf(e) {
		out := "cy"
		for i, one := range list {
			name, args, _ := strings.Cut(locate(one, e), "(")
			call := queries[name]
			switch {
			case call == "" || strings.HasPrefix(args, "'xpath="):
				continue next
			case i > 0:
				out += ".shadow()"
				if call == "get" {
					call = "find"
				}
			}
			args = strings.Replace(args, "'css=", "'", 1)
			if name == ".getByRole" {
				args = strings.Replace(args, ", exact: true })", " })", 1) // it is exact
			}
			out += "." + call + "(" + args
		}
		return out
	}
	return ""
}

// on is the expression for the element of a move; where it has none, that is noted.
func (s *spec) on(m *move) string {
	q := query(m.Element)
	if q == "" {
		s.line("// There is no way to find the element of this step again.")
		s.note(human.Sayf("Some elements cannot be found again; their steps are left out."))
	}
	return q
}

// do writes a step on the element of a move.
func (s *spec) do(m *move, format string, args ...any) {
	if on := s.on(m); on != "" {
		s.line("%s.%s;", on, fmt.Sprintf(format, args...))
	}
}

// does writes what a person did to an element.
func (s *spec) does(m *move) {
	switch m.Type {
	case human.Click, human.DoubleClick, human.TripleClick:
		s.clicks(m)
	case human.Check:
		if call := "check"; strings.HasPrefix(m.Element.Tag, "input/") {
			if len(m.Values) > 0 && m.Values[0] == "unchecked" {
				call = "uncheck"
			}
			s.do(m, "%s({ force: true })", call) // by its label, where that is all that is seen
		} else {
			s.do(m, "click()")
		}
	case human.Choose:
		s.chooses(m)
	case human.Typing, human.Paste, human.Copy:
		if m.Type == human.Typing || m.Value != "" || m.Type == human.Paste && m.pastes() {
			s.types(m)
		} else {
			s.note(human.Sayf("Copying and pasting by keys is left out."))
		}
	case human.Shortcut:
		s.presses(m)
	case human.Hover:
		s.note(human.Sayf("The pointer over an element is an event of a script; styles do not follow it."))
		s.do(m, "trigger('mouseover')")
	case human.PlayMedia:
		s.do(m, "then(($m) => { const m = $m[0] as HTMLMediaElement; %s })", m.playing())
	case human.Scroll:
		if m.Element != nil && !m.isTag("body", "html") {
			s.do(m, "scrollTo(%d, %d)", m.ToX, m.ToY)
		} else {
			s.line("cy.scrollTo(%d, %d);", m.ToX, m.ToY)
		}
	case human.Upload:
		var paths []string
		for _, f := range m.Transfers {
			paths = append(paths, s.env(s.file(m, f)))
		}
		action := ""
		if !m.isTag("input/file", "input") {
			action = ", action: 'drag-drop'"
		}
		s.do(m, "selectFile([%s], { force: true%s })", strings.Join(paths, ", "), action)
	case human.Extract:
		s.note(human.Sayf("Picked fields are not read again."))
	default:
		s.note(human.Sayf("Steps of the kind %s are left out.", m.Type))
	}
}

func (s *spec) clicks(m *move) {
	if up := m.effect(human.Upload); up != nil && up.cause == m {
		return // it only brought up the chooser of files
	}
	call := map[human.ActionType]string{human.Click: "click", human.DoubleClick: "dblclick", human.TripleClick: "dblclick"}[m.Type]
	var args []string
	switch m.Button {
	case 3:
		call = "rightclick"
	case 2:
		s.note(human.Sayf("Clicks with the middle button are left out."))
		return
	}
	if x, y, placed := m.offset(m.X, m.Y, m.Element); placed && !direct(m.Element.Role) {
		args = append(args, fmt.Sprint(x), fmt.Sprint(y))
	}
	var held []string
	for _, k := range m.Modifiers {
		held = append(held, k+"Key: true")
	}
	if len(held) > 0 {
		args = append(args, options(held...))
	}
	s.do(m, "%s(%s)", call, strings.Join(args, ", "))
}

func (s *spec) types(m *move) {
	on := s.on(m)
	if on == "" {
		return
	}
	text, known := m.text()
	value := js(text)
	if !known {
		value = s.env(s.secret(m))
	}
	s.line("%s.clear();", on)
	if !known || text != "" {
		s.line("%s.type(%s, { delay: 0, parseSpecialCharSequences: false });", on, value)
	}
	if m.Key != "" && m.Type == human.Typing {
		s.presses(m)
	}
}

// cypressKeys are its names of keys that make no text, and of those that are held.
var cypressKeys = map[string]string{"ArrowDown": "{downArrow}", "ArrowUp": "{upArrow}", "ArrowLeft": "{leftArrow}", "ArrowRight": "{rightArrow}", "PageDown": "{pageDown}",
	"PageUp": "{pageUp}", "Enter": "{enter}", "Escape": "{esc}", "Backspace": "{backspace}", "Delete": "{del}", "Home": "{home}", "End": "{end}", "Insert": "{insert}", "{": "{{}",
	"ctrl": "{ctrl}", "alt": "{alt}", "shift": "{shift}", "meta": "{meta}"}

func (s *spec) presses(m *move) {
	times := 1
	if m.Type == human.Shortcut {
		times = min(max(m.Count, 1), 100)
	}
	if m.Key == "Tab" && len(m.Modifiers) == 0 {
		for range times {
			s.line("cy.press(Cypress.Keyboard.Keys.TAB);")
		}
		return
	}
	key := cypressKeys[m.Key]
	if key == "" && len([]rune(m.Key)) == 1 {
		key = m.Key
	}
	if key == "" {
		s.note(human.Sayf("Keys that a program cannot press are left out."))
		return
	}
	var keys strings.Builder
	for _, k := range m.Modifiers {
		keys.WriteString(cypressKeys[k])
	}
	on := query(m.Element)
	if on == "" || m.isTag("html") {
		on = "cy.get('body')"
	}
	for range times {
		s.line("%s.type(%s);", on, js(keys.String()+key))
	}
}

func (s *spec) chooses(m *move) {
	value, known := m.value()
	switch {
	case m.isTag("select"):
		var labels []string
		for _, v := range m.Values {
			labels = append(labels, js(v))
		}
		s.do(m, "select([%s])", strings.Join(labels, ", "))
	case !known:
		s.do(m, "invoke('val', %s).trigger('input').trigger('change')", s.env(s.secret(m)))
	default:
		s.do(m, "invoke('val', %s).trigger('input').trigger('change')", js(value))
	}
}
