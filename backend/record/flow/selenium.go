package flow

import (
	"fmt"
	"slices"
	"strings"

	"deskbell/backend/human"
)

// A command of a project of Selenium IDE, as its format 3.0 has it.
type command struct {
	ID      string      `json:"id"`
	Comment string      `json:"comment"`
	Command string      `json:"command"`
	Target  string      `json:"target"`
	Targets [][2]string `json:"targets"`
	Value   string      `json:"value"`
	Opens   bool        `json:"opensWindow,omitempty"`
	Handle  string      `json:"windowHandleName,omitempty"`
	Wait    int         `json:"windowTimeout,omitempty"` // ms
}

// A project is one of Selenium IDE while it is written.
type project struct {
	*plan
	commands []command
	words    string // of the move that is written, for its first command
	at       *tab   // that commands are for
	frame    []int
}

// selenium writes a project for Selenium IDE and selenium-side-runner, with one test. Variables are stored at its start, empty, to be filled in.
func selenium(p *plan) string {
	s := &project{plan: p}
	if p.w > 0 && p.h > 0 {
		s.add("setWindowSize", fmt.Sprintf("%dx%d", p.w, p.h), "")
	}
	for _, m := range s.moves {
		s.move(m)
	}
	var head []command
	for _, said := range s.said() {
		head = append(head, command{Command: "echo", Target: side(comment(said.Text))})
	}
	for _, v := range s.variables {
		head = append(head, command{Command: "store", Value: v.name, Comment: comment(v.stands.Text)})
	}
	url := ""
	for i, c := range slices.Concat(head, s.commands) {
		if c.Command == "open" && url == "" {
			url = c.Target
		}
		c.ID = fmt.Sprintf("c%d", i+1)
		if c.Targets == nil {
			c.Targets = [][2]string{}
		}
		head = append(head[:i:i], c)
	}
	type test struct {
		ID       string    `json:"id"`
		Name     string    `json:"name"`
		Commands []command `json:"commands"`
	}
	type suite struct {
		ID         string   `json:"id"`
		Name       string   `json:"name"`
		Persistent bool     `json:"persistSession"`
		Parallel   bool     `json:"parallel"`
		Timeout    int      `json:"timeout"` // s
		Tests      []string `json:"tests"`
	}
	return indented(struct {
		ID      string   `json:"id"`
		Version string   `json:"version"`
		Name    string   `json:"name"`
		URL     string   `json:"url"`
		URLs    []string `json:"urls"`
		Tests   []test   `json:"tests"`
		Suites  []suite  `json:"suites"`
		Plugins []string `json:"plugins"`
	}{"p1", "3.0", p.title, url, []string{url}, []test{{"t1", p.title, head}}, []suite{{"s1", p.title, false, false, 300, []string{"t1"}}}, []string{}})
}

// side is a text as an argument. Names of variables and keys in it stand for nothing; the runner leaves other names as they are.
var side = strings.NewReplacer("${DESKBELL_", "$ {DESKBELL_", "${tab", "$ {tab", "${field_", "$ {field_", "${KEY_", "$ {KEY_", "${nbsp", "$ {nbsp").Replace

func (s *project) add(name, target, value string) *command {
	s.commands = append(s.commands, command{Comment: s.words, Command: name, Target: target, Value: value})
	s.words = ""
	return &s.commands[len(s.commands)-1]
}

// handle is the variable that keeps a tab.
func handle(t *tab) string { return fmt.Sprintf("tab%d", t.number) }

// enter brings commands to the tab and frame of a move.
func (s *project) enter(m *move) {
	if s.at != m.tab {
		if s.at != nil {
			s.add("selectWindow", "handle=${"+handle(m.tab)+"}", "")
		}
		s.at, s.frame = m.tab, nil
	}
	if slices.Equal(s.frame, m.frame()) {
		return
	}
	if len(s.frame) > 0 {
		s.add("selectFrame", "relative=top", "")
	}
	for _, n := range m.frame() {
		s.add("selectFrame", fmt.Sprintf("index=%d", max(n, 0)), "")
	}
	s.frame = m.frame()
}

// ready opens the tab of a move and its page, where nothing recorded did.
func (s *project) ready(m *move) {
	if !m.tab.opened && m.tab.number > 1 {
		m.tab.went = true
		c := s.add("executeScript", "window.open("+jsonText(m.Page.URL)+")", "")
		c.Opens, c.Handle, c.Wait = true, handle(m.tab), doubt
	}
	if m.tab.went = m.tab.went || m.tab.opened; !m.tab.went && goable(m.Page.URL) {
		s.open(m)
	}
	if !m.tab.opened && m.tab.number == 1 && len(s.tabs) > 1 {
		s.add("storeWindowHandle", handle(m.tab), "")
	}
	m.tab.opened = true
}

func (s *project) open(m *move) {
	m.tab.went = true
	if masked(m.Page.URL) {
		s.add("open", "${"+s.address(m.Page.URL)+"}", "")
	} else {
		s.add("open", side(m.Page.URL), "")
	}
	s.frame = nil
}

// move adds the commands of one move.
func (s *project) move(m *move) {
	s.words = comment(m.words())
	switch m.Type {
	case human.Missing, human.Note, human.DialogEnded, human.SwitchPage:
		return
	case human.OpenPage:
		if m.cause == nil && goable(m.Page.URL) {
			s.ready(m)
		}
		m.tab.opened, m.tab.went = m.tab.opened || m.cause != nil, m.tab.went || m.cause != nil
		return
	case human.ClosePage:
		if m.cause == nil && m.tab.opened {
			s.enter(m)
			s.add("close", "", "")
		}
		return
	case human.Download:
		s.note(human.Sayf("Downloads are not waited for."))
		return
	case human.Navigate:
		s.navigates(m)
		return
	}
	s.ready(m)
	s.enter(m)
	first := len(s.commands)
	s.does(m)
	if len(s.commands) > first {
		s.comes(m, &s.commands[len(s.commands)-1])
	}
}

// comes waits for what comes of a move: the window that its last command opens, and dialogs.
func (s *project) comes(m *move, last *command) {
	for _, e := range m.effects {
		if e.Type == human.OpenPage {
			last.Opens, last.Handle, last.Wait = true, handle(e.tab), doubt
		}
	}
	for _, e := range m.effects {
		d := e.Dialog
		switch {
		case e.Type != human.DialogEnded || d == nil:
		case d.Kind == "prompt" && d.Accepted && (strings.Contains(d.Input, dots) || e.Masked):
			s.add("answerPrompt", "${"+s.answer(e)+"}", "")
		case d.Kind == "prompt" && d.Accepted:
			s.add("answerPrompt", side(d.Input), "")
		case d.Kind == "alert":
			s.add("acceptAlert", "", "")
		case d.Accepted:
			s.add("acceptConfirmation", "", "")
		default:
			s.add("dismissConfirmation", "", "")
		}
	}
}

func (s *project) navigates(m *move) {
	if !m.whole() || m.failed() {
		return
	}
	by := m.tab.visit(m)
	switch {
	case m.goes() && goable(m.Page.URL):
		again := m.tab.went
		s.ready(m)
		s.enter(m)
		if again {
			s.open(m)
		}
	case m.cause != nil || m.passing || !m.done():
	case m.kind() == "reload":
		s.enter(m)
		s.add("executeScript", "location.reload()", "")
	case by != 0:
		s.enter(m)
		s.add("executeScript", fmt.Sprintf("history.go(%d)", by), "")
	}
	if m.loads() && s.at == m.tab {
		s.frame = nil
	}
}

// on adds a command for the element of a move; without one that can be found, that is noted.
func (s *project) on(m *move, name, value string) *command {
	all := sideTargets(m.Element)
	if len(all) == 0 {
		s.note(human.Sayf("Selenium IDE cannot look into shadow roots, and some elements cannot be found again; their steps are left out."))
		return nil
	}
	c := s.add(name, all[0][0], value)
	c.Targets = all
	return c
}

// sideTargets are the ways to find an element, the best first, each with the name of its sort.
func sideTargets(e *human.Element) (all [][2]string) {
	best, _ := steady(selectorsOf(e))
	for _, list := range slices.Concat(best, selectorsOf(e)) {
		prefix, rest, prefixes := strings.Cut(list[0], "/")
		t := [2]string{"css=" + list[0], "css:finder"}
		switch {
		case len(list) > 1 || prefix == "aria" || prefix == "text":
			continue
		case prefix == "xpath":
			t = [2]string{"xpath=" + rest, "xpath:position"}
		case prefixes && (prefix == "css" || prefix == "pierce"):
			t[0] = "css=" + rest
		}
		if !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	return all
}

// does adds what a person did to an element.
func (s *project) does(m *move) {
	switch m.Type {
	case human.Click, human.DoubleClick, human.TripleClick:
		s.clicks(m)
	case human.Check:
		if css := styled(m.Element); len(css) == 1 {
			s.add("executeScript", "return "+fmt.Sprintf(checkScript, descend, jsonText(css), len(m.Values) == 0 || m.Values[0] != "unchecked"), "")
		} else {
			s.on(m, "click", "")
		}
	case human.Choose:
		s.chooses(m)
	case human.Typing, human.Paste, human.Copy:
		if m.Type == human.Typing || m.Value != "" || m.Type == human.Paste && m.pastes() {
			s.types(m)
		} else {
			s.presses(m)
		}
	case human.Shortcut:
		s.presses(m)
	case human.Hover:
		s.on(m, "mouseOver", "")
	case human.PlayMedia:
		if css := styled(m.Element); len(css) > 0 {
			s.add("executeScript", "return "+fmt.Sprintf(mediaScript, descend, m.playing(), jsonText(css)), "")
		}
	case human.Scroll:
		if m.Element == nil || m.isTag("body", "html") {
			s.add("executeScript", fmt.Sprintf("window.scrollTo(%d, %d)", m.ToX, m.ToY), "")
		}
	case human.Drag:
		s.drags(m)
	case human.Upload:
		var paths []string
		for _, f := range m.Transfers {
			paths = append(paths, "${"+s.file(m, f)+"}")
		}
		s.on(m, "sendKeys", strings.Join(paths, "\n"))
	case human.Extract:
		if m.Pick != nil && m.Pick.Take == human.TakeElement {
			s.on(m, "storeText", "field_"+side(comment(m.Pick.Field)))
		} else {
			s.note(human.Sayf("Picked tables, lists and selections are not read again."))
		}
	default:
		s.note(human.Sayf("Steps of the kind %s are left out.", m.Type))
	}
}

func (s *project) clicks(m *move) {
	if up := m.effect(human.Upload); up != nil && up.cause == m {
		return // it only brought up the chooser of files
	}
	if m.Button > 1 || len(m.Modifiers) > 0 {
		s.note(human.Sayf("Selenium IDE clicks with the first button alone and holds no keys; other clicks are left out."))
		return
	}
	name := "click"
	if m.Type != human.Click {
		name = "doubleClick"
	}
	if x, y, placed := m.offset(m.X, m.Y, m.Element); placed && !direct(m.Element.Role) && m.isTag("canvas", "svg", "img") {
		// Selenium counts from the middle.
		s.on(m, name+"At", fmt.Sprintf("%d,%d", x-m.Element.Bounds.W/2, y-m.Element.Bounds.H/2))
		return
	}
	s.on(m, name, "")
}

func (s *project) types(m *move) {
	text, known := m.text()
	value := side(text)
	if !known {
		value = "${" + s.secret(m) + "}"
	}
	name := "type"
	if m.Element != nil && slices.Contains(m.Element.States, "editable") && !m.isTag("input", "textarea") && !strings.HasPrefix(m.Element.Tag, "input/") {
		name = "editContent"
	}
	s.on(m, name, value)
	if m.Key != "" && m.Type == human.Typing {
		s.presses(m)
	}
}

// sideKeys are Selenium's names of keys that make no text, and of those that are held.
var sideKeys = map[string]string{"ArrowDown": "ARROW_DOWN", "ArrowUp": "ARROW_UP", "ArrowLeft": "ARROW_LEFT", "ArrowRight": "ARROW_RIGHT", "PageDown": "PAGE_DOWN", "PageUp": "PAGE_UP",
	"Enter": "ENTER", "Tab": "TAB", "Escape": "ESCAPE", "Backspace": "BACK_SPACE", "Delete": "DELETE", "Home": "HOME", "End": "END", "Insert": "INSERT",
	"ctrl": "CONTROL", "alt": "ALT", "shift": "SHIFT", "meta": "META"}

func (s *project) presses(m *move) {
	key := m.Key
	switch {
	case m.Type == human.Typing || m.Type == human.Shortcut:
	case m.Type == human.Paste:
		key = "v"
	case len(m.Values) > 0 && m.Values[0] == "cut":
		key = "x"
	default:
		key = "c"
	}
	var keys strings.Builder
	if m.Type == human.Paste || m.Type == human.Copy {
		keys.WriteString("${KEY_CONTROL}")
	}
	for _, held := range m.Modifiers {
		keys.WriteString("${KEY_" + sideKeys[held] + "}")
	}
	switch name := sideKeys[key]; {
	case name != "":
		keys.WriteString("${KEY_" + name + "}")
	case len([]rune(key)) == 1:
		keys.WriteString(key)
	default:
		s.note(human.Sayf("Keys that a program cannot press are left out."))
		return
	}
	times := 1
	if m.Type == human.Shortcut {
		times = min(max(m.Count, 1), 100)
	}
	for range times {
		if len(sideTargets(m.Element)) == 0 {
			s.add("sendKeys", "css=body", keys.String())
		} else {
			s.on(m, "sendKeys", keys.String())
		}
	}
}

func (s *project) chooses(m *move) {
	css := styled(m.Element)
	switch value, known := m.value(); {
	case m.isTag("select") && len(m.Values) == 1:
		s.on(m, "select", "label="+side(m.Values[0]))
	case css == nil || len(css) > 1:
		s.note(human.Sayf("Selenium IDE cannot look into shadow roots, and some elements cannot be found again; their steps are left out."))
	case m.isTag("select"):
		s.add("executeScript", "return "+side(fmt.Sprintf(chooseScript, descend, jsonText(css), jsonText(m.Values))), "")
	case known:
		s.add("executeScript", "return "+side(fmt.Sprintf(setScript, descend, jsonText(css), jsonText(value))), "")
	default:
		s.on(m, "type", "${"+s.secret(m)+"}")
	}
}

// setScript sets a field whose value is not typed: a date, a color, a range.
const setScript = `((path, value) => { %s const field = find(path); if (!field) return false; field.focus(); ` +
	`Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, value); ` +
	`for (const type of ['input', 'change']) field.dispatchEvent(new Event(type, { bubbles: true })); return true; })(%s, %s)`

// drags presses, moves and releases the button, where the pointer was in both elements. Selenium counts from their middles.
func (s *project) drags(m *move) {
	to, over := m.Target, sideTargets(m.Target)
	if len(over) == 0 {
		to, over = m.Element, sideTargets(m.Element)
	}
	if len(sideTargets(m.Element)) == 0 || to == nil {
		s.note(human.Sayf("Drags of elements that cannot be found again are left out."))
		return
	}
	middle := func(x, y int, e *human.Element) string {
		if e.Bounds.W <= 0 {
			return "0,0"
		}
		return fmt.Sprintf("%d,%d", x-e.Bounds.X-e.Bounds.W/2, y-e.Bounds.Y-e.Bounds.H/2)
	}
	from := middle(m.X, m.Y, m.Element)
	s.on(m, "mouseMoveAt", from)
	s.on(m, "mouseDownAt", from)
	end := middle(m.ToX, m.ToY, to)
	for _, name := range []string{"mouseMoveAt", "mouseMoveAt", "mouseUpAt"} {
		c := s.add(name, over[0][0], end)
		c.Targets = over
	}
}
