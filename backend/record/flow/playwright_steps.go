package flow

import (
	"fmt"
	"strings"

	"deskbell/backend/human"
)

// does writes what a person did to an element.
func (t *test) does(m *move) {
	switch m.Type {
	case human.Click, human.DoubleClick, human.TripleClick:
		t.clicks(m)
	case human.Paste:
		if m.pastes() {
			t.types(m)
		} else {
			t.presses(m)
		}
	case human.Typing:
		t.types(m)
	case human.Copy:
		if m.Value != "" { // cut, and this is left
			t.types(m)
		} else {
			t.presses(m)
		}
	case human.Shortcut:
		t.presses(m)
	case human.Choose:
		t.chooses(m)
	case human.Check:
		if m.Element != nil && !strings.HasPrefix(m.Element.Tag, "input/") { // drawn by the page, which may not say what it is
			t.clicks(m)
		} else if on, ok := t.on(m); ok {
			t.checked = true
			t.line("await tick(%s, %t);", on, len(m.Values) == 0 || m.Values[0] != "unchecked")
		}
	case human.Hover:
		if on, ok := t.on(m); ok {
			t.line("await %s.hover(%s);", on, options(t.position(m)))
		}
	case human.PlayMedia:
		if on, ok := t.on(m); ok {
			t.line("await %s.evaluate((m: HTMLMediaElement) => { %s });", on, m.playing())
		}
	case human.Scroll:
		t.scrolls(m)
	case human.Drag:
		t.drags(m)
	case human.Extract:
		t.picks(m)
	default:
		t.note(human.Sayf("Steps of the kind %s are left out.", m.Type))
	}
}

// position is where in an element the pointer was, for those of which not any point is as good.
func (t *test) position(m *move) string {
	if m.Element != nil && direct(m.Element.Role) || strings.HasPrefix(locator(m.Element), ".getByText") {
		return ""
	}
	x, y, ok := m.offset(m.X, m.Y, m.Element)
	if !ok {
		return ""
	}
	return fmt.Sprintf("position: { x: %d, y: %d }", x, y)
}

// options are an object of those that are set, or nothing.
func options(list ...string) string {
	var set []string
	for _, o := range list {
		if o != "" {
			set = append(set, o)
		}
	}
	if len(set) == 0 {
		return ""
	}
	return "{ " + strings.Join(set, ", ") + " }"
}

func (t *test) clicks(m *move) {
	button, modifiers, count := "", "", ""
	switch m.Button {
	case 2:
		button = "button: 'middle'"
	case 3:
		button = "button: 'right'"
	}
	if keys := modifierKeys(m.Modifiers); len(keys) > 0 {
		modifiers = "modifiers: ['" + strings.Join(keys, "', '") + "']"
	}
	if m.Type == human.TripleClick {
		count = "clickCount: 3"
	}
	call := "click"
	if m.Type == human.DoubleClick {
		call = "dblclick"
	}
	if l := locator(m.Element); l == "" || m.drawn() {
		if l != "" {
			t.line("await %s%s.waitFor();", t.in(m), l)
		}
		t.note(human.Sayf("Some steps are done by their place in the window."))
		for _, k := range modifierKeys(m.Modifiers) {
			t.line("await %s.keyboard.down('%s');", t.page(m.tab), k)
		}
		t.line("await %s.mouse.%s(%s);", t.page(m.tab), call, strings.TrimSuffix(fmt.Sprintf("%d, %d, %s", m.X, m.Y, options(button, count)), ", "))
		for _, k := range modifierKeys(m.Modifiers) {
			t.line("await %s.keyboard.up('%s');", t.page(m.tab), k)
		}
		return
	}
	on, _ := t.on(m)
	t.line("await %s.%s(%s);", on, call, options(button, modifiers, count, t.position(m)))
}

func (t *test) types(m *move) {
	text, known := m.text()
	value := js(text)
	if !known {
		value = t.read(t.secret(m))
	}
	on := locator(m.Element)
	if on == "" {
		t.note(human.Sayf("Some elements cannot be found again; their steps are left out or done by their place."))
		t.line("await %s.keyboard.insertText(%s);", t.page(m.tab), value)
	} else {
		t.line("await %s%s.fill(%s);", t.in(m), on, value)
	}
	if m.Key != "" && m.Type == human.Typing {
		t.presses(m)
	}
}

// presses writes keys. They go to the element that had the focus, which is waited for by that.
func (t *test) presses(m *move) {
	keys, ok := chord(m)
	if !ok {
		t.line("// The key %s cannot be pressed by a program.", comment(m.Key))
		t.note(human.Sayf("Keys that a program cannot press are left out."))
		return
	}
	on := t.page(m.tab) + ".keyboard"
	if l := locator(m.Element); l != "" && !m.isTag("body", "html") {
		on = t.in(m) + l
	}
	times := m.Count
	if m.Type != human.Shortcut {
		times = 1
	}
	for range min(max(times, 1), 100) {
		t.line("await %s.press(%s);", on, js(keys))
	}
}

// chord is a key with its modifiers, as Playwright writes it. What is Control on one system and Command on the
// other is so where it is played, too.
func chord(m *move) (string, bool) {
	key := m.Key
	switch {
	case key != "":
	case m.Type == human.Paste:
		return "ControlOrMeta+v", true
	case m.Type == human.Copy && len(m.Values) > 0 && m.Values[0] == "cut":
		return "ControlOrMeta+x", true
	case m.Type == human.Copy:
		return "ControlOrMeta+c", true
	}
	switch {
	case key == " ":
		key = "Space"
	case !pressable(key):
		return "", false
	}
	return strings.Join(append(modifierKeys(m.Modifiers), key), "+"), true
}

func modifierKeys(list []string) (keys []string) {
	for _, m := range list {
		switch m {
		case "ctrl", "meta":
			keys = append(keys, "ControlOrMeta")
		case "alt":
			keys = append(keys, "Alt")
		case "shift":
			keys = append(keys, "Shift")
		}
	}
	return keys
}

func (t *test) chooses(m *move) {
	on, ok := t.on(m)
	if !ok {
		return
	}
	if !m.isTag("select") {
		value, known := m.value()
		set := js(value)
		if !known {
			set = t.read(t.secret(m))
		}
		t.line("await %s.fill(%s);", on, set)
		return
	}
	var labels []string
	for _, v := range m.Values {
		labels = append(labels, "{ label: "+js(v)+" }")
	}
	if len(labels) == 1 {
		t.line("await %s.selectOption(%s);", on, labels[0])
		return
	}
	t.line("await %s.selectOption([%s]);", on, strings.Join(labels, ", "))
}

func (t *test) scrolls(m *move) {
	on := t.in(m)
	if l := locator(m.Element); l != "" && !m.isTag("body", "html") {
		t.line("await %s%s.evaluate((e) => e.scrollTo(%d, %d));", on, l, m.ToX, m.ToY)
		return
	}
	t.line("await %s.locator(':root').evaluate(() => window.scrollTo(%d, %d));", on, m.ToX, m.ToY)
}

func (t *test) drags(m *move) {
	from, to := locator(m.Element), locator(m.Target)
	fx, fy, inFrom := m.offset(m.X, m.Y, m.Element)
	tx, ty, inTo := m.offset(m.ToX, m.ToY, m.Target)
	source, target := "", ""
	if inFrom {
		source = fmt.Sprintf("sourcePosition: { x: %d, y: %d }", fx, fy)
	}
	if inTo {
		target = fmt.Sprintf("targetPosition: { x: %d, y: %d }", tx, ty)
	}
	if from != "" && to != "" {
		// Pages that follow the pointer themselves do not take one long move for a drag.
		t.line("await %s%s.dragTo(%s%s, %s);", t.in(m), from, t.in(m), to, options(source, target, "steps: 8"))
		return
	}
	page := t.page(m.tab)
	t.note(human.Sayf("A drag without elements is done by its place."))
	t.line("await %s.mouse.move(%d, %d);", page, m.X, m.Y)
	t.line("await %s.mouse.down();", page)
	t.line("await %s.mouse.move(%d, %d, { steps: 8 });", page, m.ToX, m.ToY)
	t.line("await %s.mouse.up();", page)
}

// picks reads a field again.
func (t *test) picks(m *move) {
	if m.Pick == nil {
		return
	}
	if m.Pick.Take == human.TakeSelection {
		t.line("// What was selected on the page was picked for the field %s.", comment(m.Pick.Field))
		t.note(human.Sayf("Fields that were picked as a selection are not read again."))
		return
	}
	on, ok := t.on(m)
	if !ok {
		return
	}
	t.fields = true
	into := fmt.Sprintf("fields[%s]", js(m.Pick.Field))
	switch {
	case m.Pick.Take == human.TakeTable:
		t.line("%s = JSON.stringify(await %s.locator('xpath=ancestor-or-self::table[1]').locator('tr').evaluateAll((rows) =>", into, on)
		t.line("  rows.map((row) => Array.from((row as HTMLTableRowElement).cells, (cell) => cell.innerText.trim()))));")
	case m.Pick.Take == human.TakeList:
		t.line("%s = JSON.stringify(await %s.locator('xpath=ancestor-or-self::*[self::ul or self::ol][1]/li').evaluateAll((items) =>", into, on)
		t.line("  items.map((item) => [(item as HTMLElement).innerText.trim()])));")
	case m.isTag("select", "textarea") || m.Element != nil && strings.HasPrefix(m.Element.Tag, "input"):
		t.line("%s = await %s.inputValue();", into, on)
	default:
		t.line("%s = await %s.innerText();", into, on)
	}
}
