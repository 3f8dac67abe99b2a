package procedure

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"deskbell/backend/human"
	"deskbell/backend/record/flow"
)

// A merger makes one procedure of aligned steps.
type merger struct {
	taught  []human.Procedure
	columns []column
	again   []*shown // steps that were done once more
	values  heldValues
}

// classify says which columns are left out.
func (m *merger) classify(drafts [][]*shown) {
	at := places(m.columns)
	for i := range m.columns {
		c := &m.columns[i]
		for _, k := range c.who() {
			if c.left = m.leftOut(c.of[k], drafts, at); c.left == nil {
				break
			}
		}
	}
}

// leftOut says why a step is no part of the work; nil where it may be. at are the columns of steps.
func (m *merger) leftOut(s *shown, drafts [][]*shown, at map[*shown]int) *human.Sentence {
	draft, all, why := drafts[s.draft], m.columns[at[s]].all(), human.Sentence{}
	once := again(s, draft)
	switch {
	case !all && once != nil && m.columns[at[once]].all():
		why = human.Sayf("it was done once more right afterwards")
	case broken(s, draft, m.columns, at) && (s.Writes || !quiet(s.ProcedureStep)):
		why = human.Sayf("it was done once more right afterwards")
	case broken(s, draft, m.columns, at):
		why = human.Sayf("it changed nothing and came back to the same page")
	case m.strayed(s, drafts, at):
		why = human.Sayf("it only opened a page that was not needed")
	case !all && looks(s.ProcedureStep):
		why = human.Sayf("it only looked at something")
	default:
		return nil
	}
	return &why
}

// broken says whether a step belongs to a part that changed nothing and that not all recordings began.
func broken(s *shown, draft []*shown, columns []column, at map[*shown]int) bool {
	first := slices.IndexFunc(draft, func(o *shown) bool { return o.detour == s.detour })
	return s.detour > 0 && !columns[at[draft[first]]].all()
}

// again is the step that does once more on the same page what s did, before anything was written: s filled a field that was wrong, or
// sent what was. nil where there is none.
func again(s *shown, draft []*shown) *shown {
	form := func(s *shown) bool { return fills(s.ProcedureStep) || s.Do == "click" || s.Do == "press" }
	filled := fills(s.ProcedureStep)
	if s.Writes || !form(s) {
		return nil
	}
	for _, o := range draft[slices.Index(draft, s)+1:] {
		if o.before != s.before || o.Page != s.Page || !sameWindow(o.Window, s.Window) {
			return nil
		}
		if filled && field(o.ProcedureStep) == field(s.ProcedureStep) {
			return o
		}
		if o.Writes || !form(o) && !looks(o.ProcedureStep) {
			return nil
		}
		filled = filled || fills(o.ProcedureStep)
	}
	return nil
}

// inVain says whether a step sent something that was written only when it was sent once more, or filled a field for that.
func inVain(s *shown, draft []*shown) bool {
	once := again(s, draft)
	if once == nil || once.Writes {
		return once != nil
	}
	return slices.ContainsFunc(draft[slices.Index(draft, s)+1:slices.Index(draft, once)], func(o *shown) bool {
		next := again(o, draft)
		return next != nil && next.Writes
	})
}

// places are the columns of steps.
func places(columns []column) map[*shown]int {
	at := map[*shown]int{}
	for i, c := range columns {
		for _, k := range c.who() {
			at[c.of[k]] = i
		}
	}
	return at
}

// findInputs makes parameters of what was typed and chosen and differs, the shortest before those that may hold it.
func (m *merger) findInputs() {
	m.values = nil
	type input struct {
		who   []int
		held  []string
		label string
		do    string
		all   bool
	}
	var inputs []input
	for _, c := range m.columns {
		if c.left != nil {
			continue
		}
		add := func(of func(*shown) []string) {
			n := 0
			for _, k := range c.who() {
				n = max(n, len(of(c.of[k])))
			}
			for i := range n {
				in := input{who: c.who(), do: c.first().Do, all: c.all()}
				if t := c.first().Target; t != nil {
					in.label = t.Name
				}
				for _, k := range in.who {
					held := ""
					if all := of(c.of[k]); i < len(all) {
						held = all[i]
					}
					in.held = append(in.held, held)
				}
				inputs = append(inputs, in)
			}
		}
		switch c.first().Do {
		case "change":
			if c.hidden() == nil {
				add(func(s *shown) []string { return []string{s.Text} })
			}
		case "selectOption", "check":
			add(func(s *shown) []string { return s.Options })
		case "setInputFiles":
			add(func(s *shown) []string { return s.Files })
		}
		add(func(s *shown) []string {
			var typed []string
			for _, d := range s.Dialogs {
				if d.Kind == "prompt" {
					typed = append(typed, d.Input)
				}
			}
			return typed
		})
	}
	slices.SortStableFunc(inputs, func(a, b input) int {
		if a.all != b.all {
			return map[bool]int{true: -1, false: 1}[a.all]
		}
		return len(strings.Join(a.held, "")) - len(strings.Join(b.held, ""))
	})
	for _, in := range inputs {
		if in.all && !differ(in.held) {
			continue
		}
		if text, ok := m.values.explain(in.who, in.held); in.do != "change" || !ok || len(Placeholders(text)) == 0 {
			m.value(in.who, in.held, in.do, in.label)
		}
	}
}

func differ(held []string) bool {
	return slices.ContainsFunc(held, func(s string) bool { return s != held[0] })
}

// value is the parameter for what a place holds, a new one where none has the same values.
func (m *merger) value(who []int, held []string, do, label string) *heldValue {
	v := &heldValue{held: make([]string, len(m.taught)), has: make([]bool, len(m.taught)), apart: do == "check"}
	for k, i := range who {
		v.held[i], v.has[i] = held[k], true
	}
	for _, o := range m.values {
		if !o.apart && !v.apart && slices.Equal(o.held, v.held) && slices.Equal(o.has, v.has) {
			if do == "selectOption" {
				o.Type = "choice"
			}
			return o
		}
	}
	for _, s := range held {
		if !slices.Contains(v.Examples, s) {
			v.Examples = append(v.Examples, s)
		}
	}
	places := map[string]string{"change": "text", "selectOption": "option", "check": "checked", "setInputFiles": "file"}
	v.Name, v.Description = m.values.nameOf(label, cmp.Or(places[do], "value")), label
	switch do {
	case "selectOption":
		v.Type = "choice"
		if slices.Contains(v.Examples, "") {
			v.Type = "text"
		}
	case "check":
		v.Type, v.Choices = "choice", []string{"checked", "unchecked"}
	case "setInputFiles":
		v.Type = "file"
	default:
		v.Type = typeOf(held)
	}
	m.values = append(m.values, v)
	return v
}

// findNames makes parameters of what no known value explains in addresses and targets.
func (m *merger) findNames() {
	for _, c := range m.columns {
		if c.left == nil {
			m.findNamesIn(c)
		}
	}
}

func (m *merger) findNamesIn(c column) {
	who := c.who()
	if s := c.first(); s.Do == "navigate" {
		m.values.explainAddress(who, each(c, func(s *shown) string { return s.URL }), func(decoded, before []string) string {
			label := "part"
			if n := len(before); n > 1 && before[n-1] == "=" || n > 7 {
				label = before[n-2]
			}
			return "{" + m.value(who, decoded, "", label).Name + "}"
		})
	}
	for _, of := range []func(*shown) *human.ProcedureTarget{func(s *shown) *human.ProcedureTarget { return s.Target }, func(s *shown) *human.ProcedureTarget { return s.To }} {
		if slices.ContainsFunc(who, func(k int) bool { return of(c.of[k]) == nil }) {
			continue
		}
		t := of(c.first())
		names := each(c, func(s *shown) string { return of(s).Name })
		beside := each(c, func(s *shown) string { return of(s).Beside })
		if _, ok := m.values.explain(who, names); !ok && !fills(c.first().ProcedureStep) {
			m.nameParameter(c, names, cmp.Or(t.Beside, t.Role))
		} else if _, ok := m.values.explain(who, beside); !ok && !differ(names) && len(m.row(who, targets(c, of))) == 0 {
			m.nameParameter(c, beside, "row")
		}
	}
}

// each is what a function says of each step of a column.
func each[T any](c column, of func(*shown) T) []T {
	var out []T
	for _, k := range c.who() {
		out = append(out, of(c.of[k]))
	}
	return out
}

// nameParameter makes a parameter of names that differ: of what the page says afterwards and they hold, such as the heading of what was
// opened; else of a number, where only that differs; else of all.
func (m *merger) nameParameter(c column, names []string, label string) {
	who := c.who()
	for i, check := range c.first().Then {
		held := each(c, func(s *shown) string {
			if i >= len(s.Then) || s.Then[i].Is != check.Is {
				return ""
			}
			if s.Then[i].Target != nil {
				return s.Then[i].Target.Name
			}
			return s.Then[i].Text
		})
		if slices.Contains(held, "") || !differ(held) || check.Is == "address" {
			continue
		}
		known := len(m.values)
		m.value(who, held, "", label)
		if _, ok := m.values.explain(who, names); ok {
			return
		}
		m.values = m.values[:known] // what was typed stays
	}
	m.value(who, middle(names), "", label)
}

// middle is the one word with digits that texts differ in; the texts where they differ in anything else.
func middle(texts []string) []string {
	words := strings.Fields(texts[0])
	if at := slices.IndexFunc(words, func(w string) bool { return strings.ContainsAny(w, "0123456789") }); at >= 0 {
		var out []string
		for _, text := range texts {
			other := strings.Fields(text)
			if len(other) != len(words) || !slices.Equal(other[:at], words[:at]) || !slices.Equal(other[at+1:], words[at+1:]) {
				return texts
			}
			out = append(out, other[at])
		}
		return out
	}
	return texts
}

// patterns are outputs with the patterns that the values of both recordings have.
func (m *merger) patterns(own, others []human.ProcedureOutput) []human.ProcedureOutput {
	own = slices.Clone(own)
	for i, o := range own {
		if at := slices.IndexFunc(others, func(x human.ProcedureOutput) bool { return x.Name == o.Name }); at >= 0 && others[at].Pattern != o.Pattern {
			own[i].Pattern = ""
			if o.Pattern != "" && others[at].Pattern != "" {
				own[i].Pattern = flow.AnyDigit
			}
		}
	}
	return own
}

// procedure is what comes of it.
func (m *merger) procedure() (human.Procedure, []Row) {
	out := m.taught[0]
	out.Parameters, out.Steps, out.Effects = nil, nil, m.effects()
	for _, p := range m.taught[1:] {
		out.Secrets = union(out.Secrets, p.Secrets, func(s human.ProcedureSecret) string { return s.Name })
		out.Outputs = union(m.patterns(out.Outputs, p.Outputs), p.Outputs, func(o human.ProcedureOutput) string { return o.Name })
		out.Does = union(out.Does, p.Does, func(s string) string { return s })
		out.Taught = append(slices.Clone(out.Taught), p.Taught...)
	}
	if len(m.taught) == 1 { // one value may have a digit by chance
		out.Outputs = slices.Clone(out.Outputs)
		for i, o := range out.Outputs {
			if o.Pattern == flow.AnyDigit {
				out.Outputs[i].Pattern = ""
			}
		}
	}
	var rows []Row
	ids := map[string]bool{}
	for _, c := range m.columns {
		for _, s := range m.again {
			if o := c.of[s.draft]; o != nil && o.at > s.at && !slices.ContainsFunc(rows, func(r Row) bool { return r.From[s.draft] == s.ID }) {
				row := Row{State: RowLeftOut, At: -1, From: make([]string, len(m.taught)), Why: human.Sayf("it was done once more right afterwards")}
				row.From[s.draft] = s.ID
				rows = append(rows, row)
			}
		}
		row := Row{State: RowSame, At: len(out.Steps), Why: human.Sayf("it is the same in each recording")}
		for _, s := range c.of {
			id := ""
			if s != nil {
				id = s.ID
			}
			row.From = append(row.From, id)
		}
		if c.left != nil {
			row.State, row.At, row.Why = RowLeftOut, -1, *c.left
			rows = append(rows, row)
			continue
		}
		step := m.step(c)
		for n := len(m.columns); step.ID == "" || ids[step.ID]; n++ {
			step.ID = "s" + strconv.Itoa(n+1)
		}
		ids[step.ID] = true
		if names := m.used(&out, step); !c.all() {
			row.State, row.Why = RowOptional, human.Sayf("%d of %d recordings have it: it is done where its element is there", len(c.who()), len(m.taught))
		} else if len(names) > 0 {
			row.State, row.Why = RowParameter, human.Sayf("it differs in %s", strings.Join(names, ", "))
		}
		out.Steps, rows = append(out.Steps, step), append(rows, row)
	}
	settable(out.Steps)
	for i := range out.Steps {
		if signsIn(out.Steps, i) {
			out.Steps[i].Says = nil // pages to sign in at have news, and nothing more is sent there
		}
	}
	return out, rows
}

// used are the names of the parameters in a step; those that the procedure does not have yet are added to it.
func (m *merger) used(p *human.Procedure, s human.ProcedureStep) []string {
	var names []string
	stepTexts(s, func(_ textKind, text string) string {
		for _, name := range Placeholders(text) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
			if slices.ContainsFunc(p.Parameters, func(q human.ProcedureParameter) bool { return q.Name == name }) {
				continue
			}
			for _, v := range m.values {
				if v.Name == name {
					p.Parameters = append(p.Parameters, v.ProcedureParameter)
				}
			}
		}
		return text
	})
	return names
}

func union[T any](all, more []T, key func(T) string) []T {
	all = slices.Clone(all)
	for _, m := range more {
		if !slices.ContainsFunc(all, func(t T) bool { return key(t) == key(m) }) {
			all = append(all, m)
		}
	}
	return all
}

// step is the step that comes of a column.
func (m *merger) step(c column) human.ProcedureStep {
	who, s := c.who(), c.first().ProcedureStep
	s.Optional, s.From = !c.all(), nil
	for _, k := range who {
		o := c.of[k]
		s.Optional, s.Writes, s.Within = s.Optional || o.Optional, s.Writes || o.Writes, max(s.Within, o.Within)
		s.From = append(s.From, o.From...)
		if len(o.Dialogs) > len(s.Dialogs) {
			s.Dialogs = o.Dialogs
		}
	}
	s.Page = m.page(who[0], s.Page)
	s.Window = m.window(who, each(c, func(s *shown) *human.ProcedureWindow { return s.Window }))
	s.Title = m.title(c, func(s *shown) string { return s.Title })
	if hidden := c.hidden(); hidden != nil { // what one recording hid is hidden, whatever others show
		s.Text, s.Secret, s.Title = "", hidden.Secret, hidden.Title
	} else if s.Do == "change" {
		s.Text = m.input(c, func(s *shown) []string { return []string{s.Text} })[0]
	}
	s.Options = m.input(c, func(s *shown) []string { return s.Options })
	s.Files = m.input(c, func(s *shown) []string { return s.Files })
	s.URL, _ = m.values.explainAddress(who, each(c, func(s *shown) string { return s.URL }), nil)
	s.Target = m.target(who, targets(c, func(s *shown) *human.ProcedureTarget { return s.Target }))
	s.To = m.target(who, targets(c, func(s *shown) *human.ProcedureTarget { return s.To }))
	s.Form, s.Says = m.form(c), m.says(c)
	s.Dialogs = slices.Clone(s.Dialogs)
	for i := range s.Dialogs {
		at := func(of func(human.ProcedureDialog) string) func(*shown) string {
			return func(s *shown) string {
				if i < len(s.Dialogs) {
					return of(s.Dialogs[i])
				}
				return ""
			}
		}
		s.Dialogs[i].Message, _ = m.values.explain(who, each(c, at(func(d human.ProcedureDialog) string { return d.Message })))
		if s.Dialogs[i].Kind == "prompt" {
			input := at(func(d human.ProcedureDialog) string { return d.Input })
			s.Dialogs[i].Input = m.input(c, func(s *shown) []string { return []string{input(s)} })[0]
		}
	}
	s.Then = m.checkpoints(c)
	return s
}

// title is a text for people: where known values do not explain how it differs, the first one, with those that it has.
func (m *merger) title(c column, of func(*shown) string) string {
	if text, ok := m.values.explain(c.who(), each(c, of)); ok {
		return text
	}
	text, _ := m.values.explain(c.who()[:1], []string{of(c.first())})
	return text
}

// input are the texts that were typed or chosen, with the parameters that findInputs made of them.
func (m *merger) input(c column, of func(*shown) []string) []string {
	var out []string
	for i := 0; ; i++ {
		var held []string
		more := false
		for _, k := range c.who() {
			text := ""
			if all := of(c.of[k]); i < len(all) {
				text, more = all[i], true
			}
			held = append(held, text)
		}
		if !more {
			return out
		}
		v := m.values.of(c, held)
		text, ok := m.values.explain(c.who(), held)
		if v != nil && (c.first().Do != "change" || !ok || len(Placeholders(text)) == 0) {
			text = "{" + v.Name + "}"
		}
		out = append(out, text)
	}
}

// of is the value that what a place holds became; nil where that became none.
func (vs heldValues) of(c column, held []string) *heldValue {
	for _, v := range vs {
		fits := !c.all() || differ(held)
		for k, i := range c.who() {
			fits = fits && v.has[i] && v.held[i] == held[k]
		}
		if fits && v.apart == (c.first().Do == "check") && (!v.apart || v.Description == c.first().Target.Name) {
			return v
		}
	}
	return nil
}

func targets(c column, of func(*shown) *human.ProcedureTarget) []*human.ProcedureTarget {
	var out []*human.ProcedureTarget
	for _, k := range c.who() {
		out = append(out, of(c.of[k]))
	}
	return out
}

// target is what finds the element in each recording; nil where nothing says it.
func (m *merger) target(who []int, all []*human.ProcedureTarget) *human.ProcedureTarget {
	if slices.Contains(all, nil) {
		return nil
	}
	t := *all[0]
	var names, beside []string
	for _, o := range all {
		names, beside = append(names, o.Name), append(beside, o.Beside)
		if o.Tag != t.Tag {
			t.Tag = ""
		}
	}
	name, named := m.values.explain(who, names)
	t.Beside, _ = m.values.explain(who, beside)
	if t.Name = name; !named {
		t.Name = ""
	}
	if slices.ContainsFunc(all, func(o *human.ProcedureTarget) bool { return o.Inside != t.Inside }) {
		t.Inside = ""
	}
	if row := m.row(who, all); len(row) > 0 {
		t.Beside, t.Cells, t.Columns = row[0].text, nil, nil
		for _, c := range row {
			t.Columns = append(t.Columns, c.head)
		}
		for _, c := range row[1:] {
			t.Cells = append(t.Cells, c.text)
		}
		if strings.Join(t.Columns, "") == "" {
			t.Columns = nil
		}
	}
	t.Selectors = nil
	for _, s := range all[0].Selectors {
		if merged := m.selectors(who, s, all); merged != nil && (len(Placeholders(name)) == 0 || !isPath(s)) {
			t.Selectors = append(t.Selectors, merged)
		}
	}
	nameless := t.Tag == "" && t.Role != "" && !differ(append(names, "")) // a field of a window that has no name
	if t.Name == "" && len(t.Selectors) == 0 && !nameless {
		return nil
	}
	return &t
}

// A rowCell is a parameter that a cell of a row holds, with the heading of its column where all recordings have it.
type rowCell struct{ text, head string }

func headOf(t *human.ProcedureTarget, cell int) string {
	if cell < len(t.Heads) {
		return t.Heads[cell]
	}
	return ""
}

// row are the values by which the row was chosen that an element is in: texts that were typed or chosen, each of which is all of one of
// its cells. A date or number may be one by chance, so that the first is none.
func (m *merger) row(who []int, all []*human.ProcedureTarget) (row []rowCell) {
	texts := func(v *heldValue) bool { return v.Type == "text" || v.Type == "choice" }
	first := false
	for at, cell := range all[0].Row {
		for _, v := range m.values {
			if v.apart || v.held[who[0]] != cell {
				continue
			}
			held, placed := []string{}, rowCell{"{" + v.Name + "}", headOf(all[0], at)}
			for k, i := range who {
				n := slices.Index(all[k].Row, v.held[i])
				if !v.has[i] || v.held[i] == "" || n < 0 {
					break
				}
				if held = append(held, v.held[i]); headOf(all[k], n) != placed.head {
					placed.head = ""
				}
			}
			if len(held) < len(who) || !differ(held) || slices.ContainsFunc(row, func(c rowCell) bool { return c.text == placed.text }) {
				continue
			}
			if texts(v) {
				row, first = append([]rowCell{placed}, row...), true
			} else {
				row = append(row, placed)
			}
		}
	}
	if !first {
		return nil
	}
	return row
}

// form is what may stand in the form around a step in any recording: what not all have may be missing. nil where it is not known of one.
func (m *merger) form(c column) []human.Filled {
	out := []human.Filled{}
	who := c.who()
	in := func(k int, f human.Filled, o int) int {
		return slices.IndexFunc(c.of[o].Form, func(g human.Filled) bool {
			return g.Role == f.Role && m.same([]int{k, o}, []string{f.Name}, []string{g.Name})
		})
	}
	for n, k := range who {
		if c.of[k].Form == nil {
			return nil
		}
		for _, f := range c.of[k].Form {
			of, names, holds := []int{k}, []string{f.Name}, []string{f.Holds}
			for i, o := range who {
				if at := in(k, f, o); i != n && at >= 0 {
					of, names, holds = append(of, o), append(names, c.of[o].Form[at].Name), append(holds, c.of[o].Form[at].Holds)
				}
			}
			if slices.ContainsFunc(of, func(o int) bool { return slices.Index(who, o) < n }) {
				continue // it was taken with an earlier one
			}
			f.Name, _ = m.values.explain(of, names)
			f.Holds, _ = m.values.explain(of, holds)
			f.Optional = len(of) < len(who)
			out = append(out, f)
		}
	}
	return out
}

// says are the lines that may stand around a step: those of all recordings. nil where they are not known of one.
func (m *merger) says(c column) []string {
	who := c.who()
	if slices.ContainsFunc(who, func(k int) bool { return c.of[k].Says == nil }) {
		return nil
	}
	known := m.values.numberless()
	out := c.of[who[0]].Says
	for _, k := range who[1:] {
		out = blend(out, c.of[k].Says, func(a, b string) string {
			if text, ok := known.explain([]int{who[0], k}, []string{a, b}); ok {
				return text
			}
			return common([]string{a, b})
		})
	}
	if len(who) == 1 {
		out = slices.Clone(out)
		for i, line := range out {
			out[i], _ = known.explain(who, []string{line})
		}
	}
	return orEmpty(compacted(out))
}

// blend are the lines of two lists. Those that differ between two that are the same become one each, by pair; a line that has nothing in
// common with its like is known by the one before it.
func blend(a, b []string, pair func(a, b string) string) (out []string) {
	for {
		n := slices.IndexFunc(a, func(line string) bool { return slices.Contains(b, line) })
		to := len(b)
		if n < 0 {
			n = len(a)
		} else {
			to = slices.Index(b, a[n])
		}
		last := len(out) - 1
		for i := 0; i < n || i < to; i++ {
			text := "*"
			if n == to {
				text = pair(a[i], b[i])
			}
			switch {
			case strings.Trim(text, "* #") != "":
				out = append(out, text)
			case n == to && i == 0 && last >= 0:
				out = append(out, out[last]+" › *")
			default:
				out = append(append(out, a[min(i, n):min(i+1, n)]...), b[min(i, to):min(i+1, to)]...)
			}
		}
		if n == len(a) {
			return out
		}
		out = append(out, a[n])
		a, b = a[n+1:], b[to+1:]
	}
}

// compacted are texts, each once.
func compacted(all []string) (out []string) {
	return union(nil, all, func(s string) string { return s })
}

// settable says of what steps fill in and choose that it may be missing, and hold anything: those steps say what it holds.
func settable(steps []human.ProcedureStep) {
	for _, s := range steps {
		for i, f := range s.Form {
			if slices.ContainsFunc(steps, func(o human.ProcedureStep) bool {
				return (fills(o) || o.Do == "change") && o.Target != nil && o.Target.Role == f.Role && o.Target.Name == f.Name
			}) {
				s.Form[i].Holds, s.Form[i].Optional = "", true
			}
		}
	}
}

// selectors is a selector of the first recording as all have it; nil where one has not.
func (m *merger) selectors(who []int, first []string, all []*human.ProcedureTarget) []string {
	lists := [][]string{first}
	for k, o := range all[1:] {
		i := slices.IndexFunc(o.Selectors, func(s []string) bool {
			return len(s) == len(first) && m.same([]int{who[0], who[k+1]}, first, s)
		})
		if i < 0 {
			return nil
		}
		lists = append(lists, o.Selectors[i])
	}
	var out []string
	for i := range first {
		var held []string
		for _, l := range lists {
			held = append(held, l[i])
		}
		text, ok := m.values.explain(who, held)
		if !ok {
			return nil
		}
		out = append(out, text)
	}
	return out
}

func (m *merger) same(who []int, a, b []string) bool {
	for i := range a {
		if _, ok := m.values.explain(who, []string{a[i], b[i]}); !ok {
			return false
		}
	}
	return true
}

// checkpoints are those that hold in each recording. A part of an address that no known value explains may be anything.
func (m *merger) checkpoints(c column) []human.ProcedureCheckpoint {
	var out []human.ProcedureCheckpoint
	who := c.who()
	taken := map[int]map[int]bool{}
	for _, first := range c.first().Then {
		held, at := []human.ProcedureCheckpoint{first}, []int{-1}
		for _, k := range who[1:] {
			for i, o := range c.of[k].Then {
				if o.Is == first.Is && !taken[k][i] && m.holds([]int{who[0], k}, []human.ProcedureCheckpoint{first, o}) != nil {
					held, at = append(held, o), append(at, i)
					break
				}
			}
		}
		if len(held) < len(who) {
			continue
		}
		merged := m.holds(who, held)
		if merged == nil {
			continue
		}
		for n, k := range who[1:] {
			if taken[k] == nil {
				taken[k] = map[int]bool{}
			}
			taken[k][at[n+1]] = true
		}
		merged.Page = m.page(who[0], merged.Page)
		out = append(out, *merged)
	}
	return slices.DeleteFunc(slices.Clone(out), func(c human.ProcedureCheckpoint) bool { // a line of its own says more
		return c.Is == "text" && slices.ContainsFunc(out, func(o human.ProcedureCheckpoint) bool {
			return o.Is == "line" && o.Text == c.Text && o.Page == c.Page && slices.Equal(o.Frame, c.Frame)
		})
	})
}

// holds is a checkpoint that holds wherever those of the recordings did; nil where there is none.
func (m *merger) holds(who []int, all []human.ProcedureCheckpoint) *human.ProcedureCheckpoint {
	c := all[0]
	var held []string
	var at []*human.ProcedureTarget
	var windows []*human.ProcedureWindow
	for _, o := range all {
		held, at, windows = append(held, o.Text), append(at, o.Target), append(windows, o.Window)
	}
	ok := false
	switch c.Is {
	case "address":
		c.Text, ok = m.values.explainAddress(who, held, func([]string, []string) string { return "*" })
	case "download":
		if c.Text, ok = m.values.explain(who, held); !ok {
			c.Text, ok = escape(common(held)), true
		}
	default:
		c.Text, ok = m.values.explain(who, held)
	}
	c.Window = m.window(who, windows)
	if c.Target != nil {
		c.Target = m.target(who, at)
		ok = ok && c.Target != nil && (all[0].Target.Name == "" || c.Target.Name != "")
	}
	if !ok {
		return nil
	}
	return &c
}

// window is the window of each recording: its title with * for what no known value explains.
func (m *merger) window(who []int, all []*human.ProcedureWindow) *human.ProcedureWindow {
	if slices.Contains(all, nil) {
		return nil
	}
	w := *all[0]
	var titles []string
	for _, o := range all {
		titles = append(titles, o.Title)
	}
	title, ok := m.values.explain(who, titles)
	if w.Title = title; !ok {
		w.Title = escape(common(titles))
	}
	return &w
}

// common is a pattern of texts: the whole words that they begin and end with, with * for what is between. What is the same in a part of a
// word or number is so by chance.
func common(held []string) string {
	inWord := func(before, after string) bool {
		a, _ := utf8.DecodeLastRuneInString(before)
		b, _ := utf8.DecodeRuneInString(after)
		return unicode.IsLetter(a) && unicode.IsLetter(b) || unicode.IsDigit(a) && unicode.IsDigit(b)
	}
	cuts := func(at int, whole func(s string, at int) (string, string)) bool {
		return slices.ContainsFunc(held, func(s string) bool { before, after := whole(s, at); return inWord(before, after) })
	}
	front := func(s string, n int) (string, string) { return s[:n], s[n:] }
	back := func(s string, n int) (string, string) { return s[:len(s)-n], s[len(s)-n:] }
	from := 0
	for n := range held[0] + " " {
		if slices.ContainsFunc(held, func(s string) bool { return !strings.HasPrefix(s, held[0][:n]) }) {
			break
		}
		if !cuts(n, front) {
			from = n
		}
	}
	to := 0
	for n := range len(held[0]) - from + 1 {
		end := held[0][len(held[0])-n:]
		if slices.ContainsFunc(held, func(s string) bool { return len(s)-n < from || !strings.HasSuffix(s, end) }) {
			break
		}
		if (end == "" || utf8.RuneStart(end[0])) && !cuts(n, back) {
			to = n
		}
	}
	return held[0][:from] + "*" + held[0][len(held[0])-to:]
}

// page is the name of a tab of a recording without those that opened in what was left out.
func (m *merger) page(draft int, page string) string {
	n, err := strconv.Atoi(strings.TrimPrefix(page, "t"))
	if err != nil {
		return page
	}
	less := 0
	for _, c := range m.columns {
		if s := c.of[draft]; s != nil && c.left != nil {
			for _, check := range s.Then {
				if k, err := strconv.Atoi(strings.TrimPrefix(check.Page, "t")); check.Is == "opened" && err == nil && k < n {
					less++
				}
			}
		}
	}
	return fmt.Sprintf("t%d", n-less)
}

// effects are those of all drafts that known values explain.
func (m *merger) effects() []human.ProcedureEffect {
	var out []human.ProcedureEffect
	who := make([]int, len(m.taught))
	for i := range who {
		who[i] = i
	}
	for i, first := range m.taught[0].Effects {
		ok := true
		var held [][]string
		for _, p := range m.taught {
			if ok = ok && i < len(p.Effects) && p.Effects[i].Is == first.Is && p.Effects[i].Query == first.Query; ok {
				var texts []string
				effectTexts(p.Effects[i], func(_ textKind, text string) string { texts = append(texts, text); return text })
				held = append(held, texts)
			}
		}
		for _, texts := range held {
			ok = ok && len(texts) == len(held[0])
		}
		if !ok {
			continue
		}
		n := 0
		merged := effectTexts(first, func(of textKind, _ string) string {
			var texts []string
			for _, h := range held {
				texts = append(texts, h[n])
			}
			n++
			text, fits := "", false
			if of == addressText {
				text, fits = m.values.explainAddress(who, texts, nil)
			} else {
				text, fits = m.values.explain(who, texts)
			}
			ok = ok && fits
			return text
		})
		if ok {
			out = append(out, merged)
		}
	}
	return out
}
