package procedure

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
)

func TestPlaceholders(t *testing.T) {
	for text, want := range map[string][]string{
		"":                   nil,
		"no {{braces}}":      nil,
		"{a} and {b_2}, {a}": {"a", "b_2"},
		"{{{a}}}":            {"a"},
		"{A} { a } {1} {}":   nil,
		"{aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}": nil, // longer than a name
	} {
		if got := Placeholders(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q", text, got)
		}
		if parts, stray := splitParts(text); !stray && joinParts(parts) != text {
			t.Errorf("%q: %q", text, joinParts(parts))
		}
	}
}

func TestFill(t *testing.T) {
	p := human.Procedure{
		Parameters: []human.ProcedureParameter{{Name: "v", Type: "text"}, {Name: "d", Type: "text", Default: "none"}},
		Steps: []human.ProcedureStep{{
			Do: "change", URL: origin + "/{v}/x?q={v}&{{}}#/{v}", Text: "{{v}} is {v}", Options: []string{"{v}", "x"},
			Target: &human.ProcedureTarget{Name: "row {v}", Selectors: [][]string{{`aria/{v}[role="row"]`}, {"#x"}}},
			Then:   []human.ProcedureCheckpoint{{Is: "address", Text: origin + "/{v}/*"}, {Is: "text", Text: "{v}, {d}"}},
		}},
		Effects: []human.ProcedureEffect{{Is: "sql", Query: "SELECT '{v}'", Values: []string{"{v}"}, Headers: map[string]string{"X": "{d}"}}},
	}
	before := p.Steps[0].Target.Name
	got, err := Fill(p, map[string]string{"v": `a/b "c" & {d}`})
	if err != nil {
		t.Fatal(err)
	}
	s := got.Steps[0]
	for said, want := range map[string]string{
		s.URL:                origin + "/a%2Fb%20%22c%22%20&%20%7Bd%7D/x?q=a%2Fb+%22c%22+%26+%7Bd%7D&{}#/a%2Fb%20%22c%22%20&%20%7Bd%7D",
		s.Text:               `{v} is a/b "c" & {d}`,
		s.Target.Name:        `row a/b "c" & {d}`,
		s.Then[0].Text:       origin + "/a%2Fb%20%22c%22%20&%20%7Bd%7D/*",
		s.Then[1].Text:       `a/b "c" & {d}, none`,
		got.Effects[0].Query: "SELECT '{v}'", // values are bound, never a part of the query
	} {
		if said != want {
			t.Errorf("%q, not %q", said, want)
		}
	}
	if !reflect.DeepEqual(s.Target.Selectors, [][]string{{"#x"}}) {
		t.Errorf("a value ends a selector early: %q", s.Target.Selectors)
	}
	if p.Steps[0].Target.Name != before || got.Effects[0].Values[0] != `a/b "c" & {d}` || got.Effects[0].Headers["X"] != "none" || len(got.Parameters) > 0 {
		t.Errorf("%+v", got)
	}
	if got, err := Fill(p, map[string]string{"v": ""}); err != nil || !slices.Equal(got.Steps[0].Options, []string{"x"}) {
		t.Errorf("an option without a text is left out: %v %v", got.Steps, err)
	}
}

// What a run read stands in its effects, and nowhere else.
func TestOutputsInEffects(t *testing.T) {
	p := human.Procedure{
		Outputs: []human.ProcedureOutput{{Name: "number", Type: "text"}}, Steps: []human.ProcedureStep{{ID: "s1", Do: "pick", Output: "number", Target: &human.ProcedureTarget{Name: "x"}}},
		Effects: []human.ProcedureEffect{{Is: "sql", Path: "/db", Query: "SELECT ?", Values: []string{"no {number}"}}},
	}
	errors := func() (n int) {
		for _, f := range Lint(p) {
			if f.Level == LintError {
				n++
			}
		}
		return n
	}
	if n := errors(); n > 0 {
		t.Errorf("it has %d errors: %+v", n, Lint(p))
	}
	filled, err := Fill(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := filled.Effects[0]
	if got := withOutputs(e, map[string]string{"number": "{7}"}).Values[0]; got != "no {7}" {
		t.Errorf("the value is %q", got)
	}
	if got := withOutputs(e, nil).Values[0]; got == "no " || got == "no {number}" {
		t.Errorf("an output that is missing is %q", got)
	}
	if got := withOutputs(e, map[string]string{"number": ""}).Values[0]; got == "no " {
		t.Error("an output that is empty is as good as any")
	}
	p.Steps[0].Target.Name = "{number}"
	if errors() != 1 {
		t.Errorf("a step with an output as a parameter: %+v", Lint(p))
	}
}

// Before a run it is not known what its outputs will be: then all that there is counts, and afterwards what was not among it.
func TestWhatIsNewWithAnOutput(t *testing.T) {
	e := human.ProcedureEffect{Is: "sql", Has: []string{"Nordwind", "no " + toCome("number")}}
	if before, has := beforeOutputs(e); !has || !slices.Equal(before.Has, []string{"Nordwind"}) || len(e.Has) != 2 {
		t.Errorf("before: %v %v; %v", before.Has, has, e.Has)
	}
	if before, has := beforeOutputs(withOutputs(e, map[string]string{"number": "7"})); has || len(before.Has) != 2 {
		t.Errorf("afterwards: %v %v", before.Has, has)
	}
	for _, tt := range []struct {
		before, after string
		want          int
	}{{"", "a b", 2}, {"a b c", "b", 0}, {"a", "a a", 1}, {"a a b", "a c", 1}, {"a", "", 0}} {
		if got := newOnes(strings.Fields(tt.after), strings.Fields(tt.before)); got != tt.want {
			t.Errorf("%q, then %q: %d", tt.before, tt.after, got)
		}
	}
}

func TestFillSaysWhatIsWrong(t *testing.T) {
	of := func(q human.ProcedureParameter) human.Procedure {
		q.Name = "v"
		return human.Procedure{Parameters: []human.ProcedureParameter{q}, Steps: []human.ProcedureStep{{URL: origin + "/{v}"}}, Effects: []human.ProcedureEffect{{Path: "/out/{v}.pdf"}}}
	}
	for _, tt := range []struct {
		parameter human.ProcedureParameter
		bad, good []string
	}{
		{human.ProcedureParameter{Type: "text"}, []string{"..", ".", "a/b", "*", `..\x`}, []string{"", "...", "a b"}},
		{human.ProcedureParameter{Type: "integer"}, []string{"", "1.5", "one", "1 2"}, []string{"0", "-12", "007"}},
		{human.ProcedureParameter{Type: "integer", Examples: []string{"", "1"}}, []string{"x"}, []string{""}},
		{human.ProcedureParameter{Type: "number"}, []string{"1.2.3", "", "1e5"}, []string{"1.5", "1,5", "3"}},
		{human.ProcedureParameter{Type: "date"}, []string{"2026-02-30", "1.2.2026", "2026-2-3"}, []string{"2028-02-29"}},
		{human.ProcedureParameter{Type: "month"}, []string{"2026-13", "2026"}, []string{"2026-12"}},
		{human.ProcedureParameter{Type: "choice", Choices: []string{"a", "b"}}, []string{"c", ""}, []string{"b"}},
		{human.ProcedureParameter{Type: "choice"}, nil, []string{"anything that the page has"}},
		{human.ProcedureParameter{Type: "text", Pattern: "a|b+"}, []string{"ab", "xbb", ""}, []string{"a", "bbb"}},
		{human.ProcedureParameter{Type: "text", Pattern: "("}, []string{"a"}, nil},
	} {
		for _, v := range tt.bad {
			var e *human.Error
			if _, err := Fill(of(tt.parameter), map[string]string{"v": v}); !errors.As(err, &e) || e.Field != "parameters.v" || e.Kind != human.Invalid {
				t.Errorf("%+v %q: %v", tt.parameter, v, err)
			}
		}
		for _, v := range tt.good {
			if _, err := Fill(of(tt.parameter), map[string]string{"v": v}); err != nil {
				t.Errorf("%+v %q: %v", tt.parameter, v, err)
			}
		}
	}
	var e *human.Error
	if _, err := Fill(of(human.ProcedureParameter{Type: "file"}), nil); !errors.As(err, &e) || e.Field != "parameters.v" {
		t.Errorf("a value is missing: %v", err)
	}
	if _, err := Fill(human.Procedure{}, map[string]string{"w": "1"}); !errors.As(err, &e) || e.Field != "parameters.w" {
		t.Errorf("a value is unknown: %v", err)
	}
}

func TestParameterize(t *testing.T) {
	row := &human.ProcedureTarget{Role: "link", Name: "Acme Ltd, 1 order", Selectors: [][]string{{`aria/Acme Ltd, 1 order[role="link"]`}}}
	p := human.Procedure{Steps: []human.ProcedureStep{
		{ID: "s1", Do: "change", Title: "Type Acme Ltd", Text: "Acme Ltd", Target: &human.ProcedureTarget{Role: "textbox", Name: "Customer"}},
		{ID: "s2", Do: "click", Target: row, Then: []human.ProcedureCheckpoint{{Is: "address", Text: origin + "/Acme%20Ltd?q=Acme+Ltd&page=1"}, {Is: "title", Text: "Acme Ltds, 12 of 1"}}},
		{ID: "s3", Do: "change", Text: "1", Target: &human.ProcedureTarget{Role: "textbox", Name: "Amount {{net}}"}},
	}}
	p, rows := Align([]human.Procedure{p})
	if len(p.Parameters) > 0 || len(p.Steps) != 3 || len(rows) != 3 || rows[1].State != RowSame || rows[1].At != 1 || !slices.Equal(rows[1].From, []string{"s2"}) || p.Steps[2].Target.Name != "Amount {{{{net}}}}" {
		t.Fatalf("%+v %+v", p, rows)
	}
	q := Parameterize(Parameterize(p, "s1", "text", "customer"), "s3", "text", "amount")
	for said, want := range map[string]string{
		q.Steps[0].Text:                   "{customer}",
		q.Steps[0].Title:                  "Type {customer}",
		q.Steps[1].Target.Name:            "{customer}, 1 order", // an amount of 1 is not any 1
		q.Steps[1].Target.Selectors[0][0]: `aria/{customer}, 1 order[role="link"]`,
		q.Steps[1].Then[0].Text:           origin + "/{customer}?q={customer}&page=1",
		q.Steps[1].Then[1].Text:           "Acme Ltds, 12 of 1",
		q.Steps[2].Text:                   "{amount}",
		q.Steps[2].Target.Name:            "Amount {{{{net}}}}",
		q.Parameters[1].Type:              "integer",
		p.Steps[0].Text:                   "Acme Ltd",
	} {
		if said != want {
			t.Errorf("%q, not %q", said, want)
		}
	}
	for _, same := range []human.Procedure{Parameterize(q, "s9", "text", "x"), Parameterize(q, "s1", "text", "x"), Parameterize(q, "s2", "name", "amount"), Parameterize(q, "s2", "files", "x")} {
		if len(same.Parameters) != 2 {
			t.Errorf("%+v", same.Parameters)
		}
	}
}

// What a row says of a few recordings, and which parameters they give.
func TestRows(t *testing.T) {
	draft := func(customer, priority string, more ...human.ProcedureStep) human.Procedure {
		field := func(label, tag string) *human.ProcedureTarget { return target("textbox", label, tag) }
		steps := []human.ProcedureStep{
			{ID: "s1", Do: "navigate", URL: origin + "/new", Then: []human.ProcedureCheckpoint{{Is: "address", Text: origin + "/new"}}},
			{ID: "s2", Do: "change", Target: field("Customer name", "input/text"), Text: customer},
			{ID: "s3", Do: "selectOption", Target: field("级别", "select"), Options: []string{priority}},
		}
		return human.Procedure{Steps: append(append(steps, more...), human.ProcedureStep{ID: "s9", Do: "click", Writes: true, Target: target("button", "Save", "button"), Then: []human.ProcedureCheckpoint{{Is: "text", Text: customer + " is saved"}, {Is: "text", Text: "only " + priority + customer}}})}
	}
	p, rows := Align([]human.Procedure{
		draft("1", "Low", human.ProcedureStep{ID: "s4", Do: "scroll"}),
		draft("2", "High", human.ProcedureStep{ID: "s4", Do: "change", Target: target("textbox", "Note", "textarea"), Text: "urgent"}),
	})
	var states []string
	for _, r := range rows {
		states = append(states, r.State)
	}
	slices.Sort(states)
	if !slices.Equal(states, []string{RowLeftOut, RowOptional, RowParameter, RowParameter, RowParameter, RowSame}) {
		t.Errorf("%q", states)
	}
	want := []human.ProcedureParameter{
		{Name: "customer_name", Type: "integer", Description: "Customer name", Examples: []string{"1", "2"}},
		{Name: "option", Type: "choice", Description: "级别", Examples: []string{"Low", "High"}},
		{Name: "note", Type: "text", Description: "Note", Examples: []string{"urgent"}},
	}
	if !reflect.DeepEqual(p.Parameters, want) {
		t.Errorf("%+v", p.Parameters)
	}
	if last := p.Steps[len(p.Steps)-1]; len(last.Then) != 1 || last.Then[0].Text != "{customer_name} is saved" {
		t.Errorf("%+v", last)
	}
}

// A selector that says where one row stood finds another one next time: only those with the value, or of an id of its own, are kept.
func TestSelectorsOfRows(t *testing.T) {
	draft := func(name, id string) human.Procedure {
		row := &human.ProcedureTarget{Role: "link", Name: name, Tag: "a", Selectors: [][]string{{`aria/` + name + `[role="link"]`}, {"#row-" + id}, {"tr:nth-of-type(2) > td > a"}, {"#list", "#only"}, {"text/" + name}}}
		save := &human.ProcedureTarget{Role: "button", Name: "Save", Selectors: [][]string{{"#save-" + id}, {"form > button"}}}
		return human.Procedure{Steps: []human.ProcedureStep{{ID: "s1", Do: "click", Target: row}, {ID: "s2", Do: "click", Target: save}}}
	}
	p, _ := Align([]human.Procedure{draft("Acme", "17"), draft("North", "4")})
	if got, want := p.Steps[0].Target.Selectors, [][]string{{`aria/{link}[role="link"]`}, {"#list", "#only"}, {"text/{link}"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
	if got := p.Steps[1].Target.Selectors; !reflect.DeepEqual(got, [][]string{{"form > button"}}) {
		t.Errorf("%q", got)
	}
}

func TestExplain(t *testing.T) {
	two := func(name, a, b string) *heldValue {
		return &heldValue{ProcedureParameter: human.ProcedureParameter{Name: name}, held: []string{a, b}, has: []bool{true, true}}
	}
	vs := heldValues{two("n", "1", "2"), two("customer", "Acme", "North"), two("long", "Acme East", "North West"), two("month", "2026-01", "2026-02"), two("word", "客户", "公司")}
	for _, tt := range []struct{ a, b, want string }{ // want is empty where it cannot be explained
		{"same {1}", "same {1}", "same {{1}}"},
		{"no. 1 of 10", "no. 2 of 10", "no. {n} of 10"},
		{"no. 11", "no. 12", ""},
		{"x1", "x2", ""},
		{"1st", "2st", ""},
		{"1.50", "2.50", ""},
		{"2026-01-15", "2026-02-15", ""},
		{"report-2026-01.pdf", "report-2026-02.pdf", "report-{month}.pdf"},
		{"Acme East, Acme", "North West, North", "{long}, {customer}"},
		{"Acme East, 1", "North East, 2", "{customer} East, {n}"},
		{"Acmes", "Norths", ""},
		{"Acme", "Acme", "Acme"},
		{"Acme", "North!", ""},
		{"新客户页", "新公司页", "新{word}页"}, // words are not apart in every script
		{"Acme 5", "North 7", ""},
		{"", "1", ""},
	} {
		got, ok := vs.explain([]int{0, 1}, []string{tt.a, tt.b})
		if ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("%q and %q: %q %v", tt.a, tt.b, got, ok)
		}
	}
	// A text that may be read in many ways, and in none to its end, takes no longer than others.
	vs = heldValues{two("a", "x", "y"), two("b", "x x", "y y"), two("c", "x x x", "y y y")}
	if _, ok := vs.explain([]int{0, 1}, []string{strings.Repeat("x ", 200) + "p", strings.Repeat("y ", 200) + "q"}); ok {
		t.Error("explained")
	}
}

func TestWhichStepIsMeant(t *testing.T) {
	typed := func(text string) human.ProcedureStep {
		return human.ProcedureStep{Do: "change", Text: text, Target: target("searchbox", "Search", "input/search")}
	}
	row := func(name string) human.ProcedureStep {
		return human.ProcedureStep{Do: "click", Target: target("link", name, "a")}
	}
	send := human.ProcedureStep{Do: "click", Target: target("button", "Go", "button")}
	draft := func(steps ...human.ProcedureStep) human.Procedure {
		for i := range steps {
			steps[i].ID = string(rune('a' + i))
		}
		return human.Procedure{Steps: steps}
	}
	for name, tt := range map[string]struct {
		a, b human.Procedure
		want [][]string
	}{
		"the row that was searched for": {draft(typed("Acme"), row("Acme"), row("West")), draft(typed("North"), row("North")), [][]string{{"a", "a", RowParameter}, {"b", "b", RowParameter}, {"c", "", RowOptional}}},
		"what was searched for last":    {draft(typed("Acm"), send, typed("Acme"), send), draft(typed("North"), send), [][]string{{"a", "", RowLeftOut}, {"b", "", RowLeftOut}, {"c", "a", RowParameter}, {"d", "b", RowSame}}},
		"other buttons":                 {draft(send, human.ProcedureStep{Do: "click", Target: target("button", "Print", "button")}), draft(send, human.ProcedureStep{Do: "click", Target: target("button", "Help", "button")}), [][]string{{"a", "a", RowSame}, {"", "b", RowOptional}, {"b", "", RowOptional}}},
	} {
		_, rows := Align([]human.Procedure{tt.a, tt.b})
		var got [][]string
		for _, r := range rows {
			got = append(got, append(slices.Clone(r.From), r.State))
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Long recordings with much that is alike do not take long.
func TestLongRecordings(t *testing.T) {
	var long human.Procedure
	for i := range 300 {
		s := human.ProcedureStep{ID: fmt.Sprint("s", i), Do: "click", Target: target("link", "Next", "a")}
		if i%40 == 0 {
			s = human.ProcedureStep{ID: s.ID, Do: "change", Text: fmt.Sprint("text ", i), Target: target("textbox", "Note", "textarea")}
		}
		long.Steps = append(long.Steps, s)
	}
	p, rows := Align([]human.Procedure{long, long, long})
	if len(p.Steps) != 300 || len(rows) != 300 || len(p.Parameters) > 0 {
		t.Errorf("%d steps, %d rows, %+v", len(p.Steps), len(rows), p.Parameters)
	}
}

// What is typed into a prompt is a parameter; a confirmation that asks about it has it, too.
func TestPrompts(t *testing.T) {
	draft := func(name string) human.Procedure {
		dialogs := []human.ProcedureDialog{{Kind: "prompt", Message: "Name?", Accept: true, Input: name}, {Kind: "confirm", Message: "Add " + name + "?", Accept: true}}
		tags := human.ProcedureStep{ID: "s2", Do: "selectOption", Target: target("listbox", "Tags", "select"), Options: []string{name, "b"}[:len(name)-3]}
		return human.Procedure{Steps: []human.ProcedureStep{{ID: "s1", Do: "click", Target: target("button", "Add", "button"), Dialogs: dialogs}, tags}}
	}
	p, _ := Align([]human.Procedure{draft("Acme"), draft("North")})
	s, tags := p.Steps[0], p.Steps[1]
	if s.Dialogs[0].Input != "{add}" || s.Dialogs[0].Message != "Name?" || s.Dialogs[1].Message != "Add {add}?" || s.Dialogs[1].Input != "" || s.Text != "" {
		t.Errorf("%+v", s)
	}
	if len(tags.Options) != 2 || tags.Text != "" {
		t.Errorf("%+v", tags)
	}
}
