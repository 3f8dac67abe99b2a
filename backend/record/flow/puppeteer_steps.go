package flow

import (
	"fmt"
	"strings"

	"deskbell/backend/human"
)

// does adds what a person did to an element.
func (f *userFlow) does(m *move) {
	switch m.Type {
	case human.Click, human.DoubleClick, human.TripleClick:
		f.clicks(m)
	case human.Check:
		f.checks(m)
	case human.Paste:
		if m.pastes() {
			f.types(m)
		} else {
			f.presses(m)
		}
	case human.Typing:
		f.types(m)
	case human.Copy:
		if m.Value != "" { // cut, and this is left
			f.types(m)
		} else {
			f.presses(m)
		}
	case human.Shortcut:
		f.presses(m)
	case human.Choose:
		f.chooses(m)
	case human.Hover:
		if s, ok := f.find(m, "hover"); ok {
			f.add(s)
		}
	case human.PlayMedia:
		if css := styled(m.Element); len(css) > 0 {
			s := f.on(m, "waitForExpression")
			s.Expression = fmt.Sprintf(mediaScript, descend, m.playing(), jsonText(css))
			f.add(s)
		} else {
			f.custom(m, actionStep, details{}, human.Sayf("Some elements cannot be found again; their steps are left out or done by their place."))
		}
	case human.Scroll:
		s := f.on(m, "scroll")
		s.X, s.Y = &m.ToX, &m.ToY
		if m.Element != nil && !m.isTag("body", "html") {
			s.Selectors = selectors(m.Element)
		} else if len(m.frame()) == 0 {
			m.tab.scrolled = [2]int{m.ToX, m.ToY}
		}
		f.add(s)
	case human.Drag:
		f.custom(m, dragStep, details{From: []int{m.X, m.Y}, To: []int{m.ToX, m.ToY}, Target: selectors(m.Target)}, human.Sayf("A user flow has no step for a drag."))
	case human.Extract:
		if m.Pick != nil {
			f.custom(m, pickStep, details{Field: m.Pick.Field, Take: m.Pick.Take}, human.Sayf("Picked fields are not read again."))
		}
	default:
		f.note(human.Sayf("Steps of the kind %s are left out.", m.Type))
	}
}

// inset is where an element is clicked whose place is not known: within the smallest boxes and the roundest corners.
const inset = 8

// at says where in the element the pointer was.
func (f *userFlow) at(m *move, s *step) {
	x, y, ok := m.offset(m.X, m.Y, m.Element)
	if _, byText := steady(selectorsOf(m.Element)); !ok || byText {
		x, y = inset, inset
	}
	s.OffsetX, s.OffsetY = &x, &y
}

func (f *userFlow) clicks(m *move) {
	if m.effect(human.Upload) != nil && m.effect(human.Upload).cause == m {
		return // it only brought up the chooser of files
	}
	kind := "click"
	if m.Type != human.Click {
		kind = "doubleClick"
	}
	s, ok := f.find(m, kind)
	if !ok {
		return
	}
	switch m.Button {
	case 2:
		s.Button = "auxiliary"
	case 3:
		s.Button = "secondary"
	}
	f.at(m, &s)
	if m.drawn() && len(m.frame()) == 0 {
		wait := s
		wait.Type, wait.Button, wait.OffsetX, wait.OffsetY = "waitForElement", "", nil, nil
		f.add(wait)
		x, y := m.X+m.tab.scrolled[0], m.Y+m.tab.scrolled[1]
		s.Selectors, s.OffsetX, s.OffsetY = []any{"html"}, &x, &y
	}
	if m.Type == human.TripleClick {
		f.note(human.Sayf("A user flow has no triple click; it has a double click instead."))
	}
	if m.tab.number > 1 && len(m.Modifiers) > 0 {
		f.note(human.Sayf("The runner holds keys in the first page only."))
	}
	f.hold(m.Modifiers, "keyDown")
	f.add(s)
	f.hold(m.Modifiers, "keyUp")
}

func (f *userFlow) hold(list []string, kind string) {
	names := map[string]string{"ctrl": "Control", "alt": "Alt", "shift": "Shift", "meta": "Meta"}
	for _, m := range list {
		if key := names[m]; key != "" {
			f.add(step{Type: kind, Key: key})
		}
	}
}

func (f *userFlow) types(m *move) {
	text, known := m.text()
	if !known {
		f.custom(m, secretStep, details{Env: []string{f.secret(m)}}, human.Sayf("What the recording does not hold (secret texts) is left out; an extension of the runner may type it."))
	} else if s, ok := f.find(m, "change"); ok {
		s.Value = &text
		f.add(s)
	}
	if m.Key != "" && m.Type == human.Typing {
		f.presses(m)
	}
}

// presses adds keys. The runner presses them in the first page, in the element that has the focus there.
func (f *userFlow) presses(m *move) {
	key, modifiers := m.Key, m.Modifiers
	switch {
	case key != "":
	case m.Type == human.Paste:
		key, modifiers = "v", []string{"ctrl"}
	case m.Type == human.Copy && len(m.Values) > 0 && m.Values[0] == "cut":
		key, modifiers = "x", []string{"ctrl"}
	case m.Type == human.Copy:
		key, modifiers = "c", []string{"ctrl"}
	}
	if !pressable(key) || m.tab.number > 1 {
		note := human.Sayf("Keys that the runner cannot press are left out.")
		if m.tab.number > 1 {
			note = human.Sayf("The runner presses keys in the first page only; those in others are left out.")
		}
		f.custom(m, keyStep, details{Keys: append(append([]string{}, modifiers...), key)}, note)
		return
	}
	times := 1
	if m.Type == human.Shortcut {
		times = min(max(m.Count, 1), 100)
	}
	f.hold(modifiers, "keyDown")
	for range times {
		f.add(step{Type: "keyDown", Key: key}, step{Type: "keyUp", Key: key})
	}
	f.hold(modifiers, "keyUp")
}

// checks sets a box. One whose place is not known was set by its label, and may not be seen itself: then the
// page is asked to click it.
func (f *userFlow) checks(m *move) {
	s, ok := f.find(m, "click")
	if !ok {
		return
	}
	css := styled(m.Element)
	if _, _, placed := m.offset(m.X, m.Y, m.Element); placed || css == nil || !strings.HasPrefix(m.Element.Tag, "input/") {
		f.at(m, &s)
		f.add(s)
		return
	}
	s.Type, s.Selectors = "waitForExpression", nil
	s.Expression = fmt.Sprintf(checkScript, descend, jsonText(css), len(m.Values) == 0 || m.Values[0] != "unchecked")
	f.add(s)
}

// descend finds an element by CSS, through shadow roots.
const descend = `const find = (path) => path.reduce((at, css) => at && (at.shadowRoot ?? at).querySelector(css), document);`

const checkScript = `((path, on) => { %s const box = find(path); if (!box) return false; if (box.checked !== on) box.click(); return true; })(%s, %t)`

// chooses sets a field. A select is set by the labels of its options, as the person saw them; the runner itself
// knows only their values.
func (f *userFlow) chooses(m *move) {
	if !m.isTag("select") {
		value, known := m.value()
		if !known {
			f.custom(m, secretStep, details{Env: []string{f.secret(m)}}, human.Sayf("What the recording does not hold (secret texts) is left out; an extension of the runner may type it."))
			return
		}
		if s, ok := f.find(m, "change"); ok {
			s.Value = &value
			f.add(s)
		}
		return
	}
	s, ok := f.find(m, "change")
	if !ok {
		return
	}
	css := styled(m.Element)
	if css == nil {
		f.note(human.Sayf("An option is chosen by its value; the recording has its label."))
		label := ""
		if len(m.Values) > 0 {
			label = m.Values[0]
		}
		s.Value = &label
		f.add(s)
		return
	}
	wait := s
	wait.Type, wait.Value = "waitForElement", nil
	s.Type, s.Selectors = "waitForExpression", nil
	s.Expression = fmt.Sprintf(chooseScript, descend, jsonText(css), jsonText(m.Values))
	f.add(wait, s)
}

// chooseScript does what the runner does to a select, but by labels.
const chooseScript = `((path, labels) => { %s const list = find(path), flat = (text) => text.replace(/\s+/g, ' ').trim(), wanted = labels.map(flat); ` +
	`const all = Array.from(list?.options ?? []); if (!wanted.every((l) => all.some((o) => flat(o.label) === l))) return false; ` +
	`list.focus(); for (const o of all) o.selected = wanted.includes(flat(o.label)); ` +
	`for (const type of ['input', 'change']) list.dispatchEvent(new Event(type, { bubbles: true })); return true; })(%s, %s)`

// styled are CSS selectors that find an element, through shadow roots; nil where there are none.
func styled(e *human.Element) []string {
	for _, list := range selectorsOf(e) {
		ok := true
		for _, s := range list {
			ok = ok && !prefixed.MatchString(s)
		}
		if ok {
			return list
		}
	}
	return nil
}
