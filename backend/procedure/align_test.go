package procedure

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/record/flow"
)

var (
	firstSeed = flag.Uint64("works.from", 1000, "the first seed of the works that are aligned")
	manyWorks = flag.Int("works.n", 150, "how many works are aligned, each with two and with three recordings")
)

// Works are shown two and three times with other values, detours and corrections. What comes of the recordings does the same as each
// of them with its values, and with values that no recording had the same as the work that was meant.
func TestAlignedRecordingsAreTheWorkThatWasMeant(t *testing.T) {
	bad := 0
	for seed := *firstSeed; seed < *firstSeed+uint64(*manyWorks); seed++ {
		for _, n := range []int{2, 3} {
			if wrong := try(seed, n); wrong != "" {
				if bad++; bad <= 5 {
					t.Errorf("seed %d, %d recordings: %s", seed, n, wrong)
				}
			}
		}
	}
	t.Logf("%d of %d are as meant", *manyWorks*2-bad, *manyWorks*2)
	if bad > 5 {
		t.Errorf("and %d more", bad-5)
	}
}

// The same work with other values and detours is known again; other work on the same site is not taken for it, nor the same work with
// another button at its end, or with one more thing done.
func TestTheSameWorkIsKnownAgain(t *testing.T) {
	missed, wrong, other := 0, 0, 0
	for seed := *firstSeed; seed < *firstSeed+uint64(*manyWorks); seed++ {
		w := generate(rand.New(rand.NewPCG(seed, 22)))
		values := w.draw()
		a, b := w.show(values, 0), w.show(w.draw(values), 1)
		if !alike(a, b) {
			missed++
			t.Logf("seed %d is not known again", seed)
		}
		next := generate(rand.New(rand.NewPCG(seed+1, 22)))
		if alike(a, next.show(next.draw(), 0)) {
			wrong++
			t.Logf("seed %d is taken for the next one", seed)
		}
		more := b
		more.Steps = append(slices.Clone(b.Steps), human.ProcedureStep{ID: "more", Do: "click", Writes: true, Target: target("button", "Remind them", "button")})
		if alike(a, more) {
			other++
		}
		if i := slices.IndexFunc(b.Steps, func(s human.ProcedureStep) bool { return s.Writes && s.Do == "click" }); i >= 0 {
			t := *b.Steps[i].Target
			t.Name = "Reject"
			b.Steps[i].Target = &t
			if alike(a, b) {
				other++
			}
		}
	}
	t.Logf("of %d works %d are missed, %d taken for others, %d for one with another or one more button", *manyWorks, missed, wrong, other)
	if missed > *manyWorks/20 || wrong+other > 0 {
		t.Errorf("%d are missed, %d taken for others, %d for one with another or one more button", missed, wrong, other)
	}
}

// Which row was meant is what was typed before, whatever cell of it that is, and also where it was the only one left.
func TestARowThatWasMeantByAnotherCell(t *testing.T) {
	show := func(customer, number, beside string) human.Procedure {
		field := &human.ProcedureTarget{Role: "textbox", Name: "Customer"}
		open := &human.ProcedureTarget{Role: "link", Name: "Open", Beside: beside, Row: []string{number, customer, "open"}}
		return human.Procedure{Steps: []human.ProcedureStep{{ID: "s1", Do: "change", Text: customer, Target: field}, {ID: "s2", Do: "click", Target: open}}}
	}
	p, _ := Align([]human.Procedure{show("Anna & Co", "RE-1", "RE-1"), show("Bert", "RE-7", "")})
	if len(p.Parameters) != 1 || p.Steps[1].Target.Beside != "{customer}" {
		t.Errorf("parameters %+v, beside %q", p.Parameters, p.Steps[1].Target.Beside)
	}
}

// All that was typed and stands in the row has to be there again; a date alone does not say which row is meant.
func TestARowThatWasMeantByTwoCells(t *testing.T) {
	show := func(customer, month string, row ...string) human.Procedure {
		field := func(name string) *human.ProcedureTarget { return &human.ProcedureTarget{Role: "textbox", Name: name} }
		return human.Procedure{
			Outputs: []human.ProcedureOutput{{Name: "total", Type: "text", Pattern: month[:3] + "x"}, {Name: "number", Type: "text", Pattern: flow.AnyDigit}},
			Steps: []human.ProcedureStep{
				{ID: "s1", Do: "change", Text: customer, Target: field("Customer")}, {ID: "s2", Do: "change", Text: month, Target: field("Month")},
				{ID: "s3", Do: "click", Target: &human.ProcedureTarget{Role: "link", Name: "Open", Beside: row[0], Row: row}},
			},
		}
	}
	p, _ := Align([]human.Procedure{show("Anna & Co", "2026-02", "RE-1", "2026-02", "Anna & Co"), show("Bert", "2026-05", "RE-7", "2026-05", "Bert")})
	if at := p.Steps[2].Target; at.Beside != "{customer}" || !slices.Equal(at.Cells, []string{"{month}"}) {
		t.Errorf("beside %q, with %q", at.Beside, at.Cells)
	}
	filled, err := Fill(p, map[string]string{"customer": "Carl", "month": "2026-09"})
	if at := filled.Steps[2].Target; err != nil || at.Beside != "Carl" || !slices.Equal(at.Cells, []string{"2026-09"}) {
		t.Errorf("filled in, beside %q, with %q, %v", at.Beside, at.Cells, err)
	}
	if p.Outputs[0].Pattern != "202x" || p.Outputs[1].Pattern != flow.AnyDigit {
		t.Errorf("outputs %+v", p.Outputs)
	}
	if one, _ := Align([]human.Procedure{show("Bert", "2026-05", "RE-7")}); one.Outputs[0].Pattern != "202x" || one.Outputs[1].Pattern != "" {
		t.Errorf("of one recording, outputs %+v", one.Outputs)
	}
	if two, _ := Align([]human.Procedure{show("Bert", "2026-05", "RE-7"), show("Anna", "1999-05", "RE-1")}); two.Outputs[0].Pattern != flow.AnyDigit {
		t.Errorf("of two shapes, outputs %+v", two.Outputs)
	}
	p, _ = Align([]human.Procedure{show("Anna & Co", "2026-02", "RE-1", "2026-02"), show("Bert", "2026-05", "RE-7", "2026-05")})
	if at := p.Steps[2].Target; at.Beside != "{row}" || !slices.Equal(at.Cells, []string{"{month}"}) {
		t.Errorf("beside %q, with %q", at.Beside, at.Cells)
	}
}

// try says what is wrong with the procedure of n recordings of a work; "" for nothing.
func try(seed uint64, n int) string {
	w := generate(rand.New(rand.NewPCG(seed, 21)))
	var shown []map[string]string
	var drafts []human.Procedure
	for i := range n {
		shown = append(shown, w.draw(shown...))
		drafts = append(drafts, w.show(shown[i], i))
	}
	m := merge(drafts)
	p, rows := m.procedure()
	if wrong := accounted(drafts, p, rows); wrong != "" {
		return wrong
	}
	// A value that was the same in all recordings cannot be told from what is fixed, nor two that were always equal from one.
	fresh, like := w.draw(shown...), map[string]string{}
	for _, name := range w.names {
		tuple := ""
		for _, values := range shown {
			tuple += values[name] + "\x00"
		}
		if strings.Count(tuple, shown[0][name]+"\x00") == n {
			fresh[name] = shown[0][name]
		}
		if was, twice := like[tuple]; twice {
			fresh[name] = was
		}
		like[tuple] = fresh[name]
	}
	runs := append(slices.Clone(shown), fresh)
	for i, want := range runs {
		values := map[string]string{}
		for _, v := range m.values {
			if !slices.ContainsFunc(p.Parameters, func(q human.ProcedureParameter) bool { return q.Name == v.Name }) {
				continue
			}
			name := slices.IndexFunc(w.names, func(name string) bool {
				for k := range shown {
					if v.has[k] && shown[k][name] != v.held[k] {
						return false
					}
				}
				return true
			})
			if name < 0 {
				return fmt.Sprintf("no value is meant by the parameter %s: %q", v.Name, v.held)
			}
			values[v.Name] = want[w.names[name]]
		}
		filled, err := Fill(p, values)
		if err != nil {
			return err.Error()
		}
		var got []string
		for _, s := range filled.Steps {
			if looks(s) {
				continue // all happened to look
			}
			if !s.Optional {
				got = append(got, line(s))
			} else if !slices.ContainsFunc(w.steps, func(m meant) bool { return m.sometimes && s.Target != nil && m.Target.Name == s.Target.Name }) {
				return "optional: " + line(s)
			}
		}
		if expected := anyOrder(w.expected(want)); !slices.Equal(anyOrder(got), expected) {
			return fmt.Sprintf("with the values of run %d of %d:\n%s", i, len(runs), changes(expected, got))
		}
	}
	return ""
}

// accounted says which step of a recording no row tells of, or two.
func accounted(drafts []human.Procedure, p human.Procedure, rows []Row) string {
	next := 0
	for _, r := range rows {
		if (r.At < 0) != (r.State == RowLeftOut) || r.Why.Text == "" || r.At >= 0 && r.At != next {
			return fmt.Sprintf("a row %+v", r)
		}
		if r.At >= 0 {
			next++
		}
	}
	if next != len(p.Steps) {
		return "a step without a row"
	}
	for i, d := range drafts {
		for _, s := range d.Steps {
			n := 0
			for _, r := range rows {
				if r.From[i] == s.ID {
					n++
				}
			}
			if n != 1 {
				return fmt.Sprintf("%d rows tell of step %s of recording %d", n, s.ID, i)
			}
		}
	}
	return ""
}

// anyOrder sorts the fields of each form: recordings fill them in other orders.
func anyOrder(lines []string) []string {
	is := func(line string) bool { return fills(human.ProcedureStep{Do: strings.Fields(line)[0]}) }
	for i := 0; i < len(lines); i++ {
		j := i
		for j < len(lines) && is(lines[j]) {
			j++
		}
		slices.Sort(lines[i:j])
		i = max(i, j-1)
	}
	return lines
}

// changes are the lines in which two lists differ.
func changes(want, got []string) string {
	var b strings.Builder
	for _, w := range want {
		if !slices.Contains(got, w) {
			b.WriteString("- " + w + "\n")
		}
	}
	for _, g := range got {
		if !slices.Contains(want, g) {
			b.WriteString("+ " + g + "\n")
		}
	}
	if b.Len() == 0 {
		fmt.Fprintf(&b, "another order or number:\n- %s\n+ %s", strings.Join(want, "\n- "), strings.Join(got, "\n+ "))
	}
	return b.String()
}

// What one recording hid is a secret, although another one has its text: that is no parameter, and stands nowhere.
func TestATextThatOneRecordingHid(t *testing.T) {
	show := func(name, code, secret string) human.Procedure {
		field := func(name string) *human.ProcedureTarget { return &human.ProcedureTarget{Role: "textbox", Name: name} }
		p := human.Procedure{Steps: []human.ProcedureStep{
			{ID: "s1", Do: "change", Title: "Typed " + name, Text: name, Target: field("Name")},
			{ID: "s2", Do: "change", Title: "Typed " + code + " into Code", Text: code, Target: field("Code"), Secret: secret, Then: []human.ProcedureCheckpoint{{Is: "value", Text: code, Target: field("Code")}}},
			{ID: "s3", Do: "click", Target: &human.ProcedureTarget{Role: "button", Name: "Open"}},
		}}
		if secret != "" {
			p.Secrets, p.Steps[1].Then = []human.ProcedureSecret{{Name: secret, Site: "https://a.example"}}, nil
		}
		return p
	}
	for name, taught := range map[string][]human.Procedure{
		"the first":  {show("Anna", "", "code"), show("Bert", "4711", "")},
		"the second": {show("Anna", "4711", ""), show("Bert", "", "code")},
		"one of 3":   {show("Anna", "4711", ""), show("Bert", "0815", ""), show("Carl", "", "code")},
	} {
		p, _ := Align(taught)
		file, err := Write(p)
		if err != nil || len(p.Steps) != 3 || p.Steps[1].Optional || p.Steps[1].Secret != "code" || p.Steps[1].Text != "" || len(p.Secrets) != 1 || strings.Contains(file, "4711") {
			t.Errorf("%s hid it: %v\n%s", name, err, file)
		}
		if len(p.Parameters) != 1 || p.Parameters[0].Name != "name" {
			t.Errorf("%s hid it: parameters %+v", name, p.Parameters)
		}
	}
	other := show("Bert", "", "code")
	other.Steps[1].Target.Name = "Password"
	if p, _ := Align([]human.Procedure{show("Anna", "4711", ""), other}); len(p.Steps) != 4 {
		t.Errorf("another field is taken for it: %+v", p.Steps)
	}
}

// A row that was meant has its cells under the headings that all recordings have for them.
func TestTheColumnsOfARow(t *testing.T) {
	show := func(customer, city string, heads ...string) human.Procedure {
		field := func(name string) *human.ProcedureTarget { return &human.ProcedureTarget{Role: "textbox", Name: name} }
		return human.Procedure{Steps: []human.ProcedureStep{
			{ID: "s1", Do: "change", Text: customer, Target: field("Customer")}, {ID: "s2", Do: "change", Text: city, Target: field("City")},
			{ID: "s3", Do: "click", Target: &human.ProcedureTarget{Role: "link", Name: "Open", Row: []string{customer, "x", city}, Heads: heads}},
		}}
	}
	p, _ := Align([]human.Procedure{show("Anna & Co", "Bonn", "Customer", "", "City"), show("Bert", "Kiel", "Customer", "", "Town")})
	at := p.Steps[2].Target
	if got := append([]string{at.Beside}, at.Cells...); len(got) != 2 || len(at.Columns) != 2 || at.Columns[slices.Index(got, "{customer}")] != "Customer" || at.Columns[slices.Index(got, "{city}")] != "" {
		t.Errorf("beside and cells %q under %q", got, at.Columns)
	}
	p.Steps[2].Target = &human.ProcedureTarget{Role: "link", Beside: "{customer}", Cells: []string{"{city}", "open"}, Columns: []string{"Customer", "City", "State"}}
	p.Parameters[1].Default, p.Parameters[1].Examples = "", []string{""}
	filled, err := Fill(p, map[string]string{"customer": "Carl", "city": ""})
	if at := filled.Steps[2].Target; err != nil || !slices.Equal(at.Cells, []string{"open"}) || !slices.Equal(at.Columns, []string{"Customer", "State"}) {
		t.Errorf("without a city %q under %q, %v", at.Cells, at.Columns, err)
	}
}

// What stood in a form when it was sent is what may stand in it: what steps set, and what not all recordings had, may be missing.
func TestTheFormOfAStep(t *testing.T) {
	show := func(customer, way string, more ...human.Filled) human.Procedure {
		form := append([]human.Filled{{Role: "textbox", Name: "Customer"}, {Role: "combobox", Name: "Way", Holds: way}, {Role: "combobox", Name: "Country", Holds: "Malta"}, {Role: "checkbox", Name: "Notify " + customer}}, more...)
		return human.Procedure{Steps: []human.ProcedureStep{
			{ID: "s1", Do: "change", Text: customer, Target: &human.ProcedureTarget{Role: "textbox", Name: "Customer"}},
			{ID: "s2", Do: "selectOption", Options: []string{way}, Target: &human.ProcedureTarget{Role: "combobox", Name: "Way"}},
			{ID: "s3", Do: "click", Target: &human.ProcedureTarget{Role: "button", Name: "Send"}, Form: form},
		}}
	}
	p, _ := Align([]human.Procedure{show("Anna & Co", "Post"), show("Bert", "Mail", human.Filled{Role: "checkbox", Name: "Urgent"})})
	want := []human.Filled{
		{Role: "textbox", Name: "Customer", Optional: true}, {Role: "combobox", Name: "Way", Optional: true}, {Role: "combobox", Name: "Country", Holds: "Malta"},
		{Role: "checkbox", Name: "Notify {customer}"}, {Role: "checkbox", Name: "Urgent", Optional: true},
	}
	if !slices.Equal(p.Steps[2].Form, want) {
		t.Errorf("the form is %+v", p.Steps[2].Form)
	}
	empty, _ := Align([]human.Procedure{{Steps: []human.ProcedureStep{{ID: "s1", Do: "click", Target: &human.ProcedureTarget{Role: "button", Name: "Send"}, Form: []human.Filled{}}}}})
	unknown, _ := Align([]human.Procedure{show("Anna & Co", "Post"), {Steps: append(show("Bert", "Mail").Steps[:2:2], human.ProcedureStep{ID: "s3", Do: "click", Target: &human.ProcedureTarget{Role: "button", Name: "Send"}})}})
	if empty.Steps[0].Form == nil || unknown.Steps[2].Form != nil {
		t.Errorf("an empty form is %v, one that is not known of all %v", empty.Steps[0].Form, unknown.Steps[2].Form)
	}
	file, err := Write(empty)
	if err != nil || !strings.Contains(file, "form: []") {
		t.Errorf("an empty form is written as %s, %v", file, err)
	}
}

// Around a step may stand what all recordings had, and what differs between two lines that are the same.
func TestTheWordsAroundAStep(t *testing.T) {
	show := func(customer string, says ...string) human.Procedure {
		return human.Procedure{Steps: []human.ProcedureStep{
			{ID: "s1", Do: "change", Text: customer, Target: &human.ProcedureTarget{Role: "textbox", Name: "Customer"}},
			{ID: "s2", Do: "click", Target: &human.ProcedureTarget{Role: "button", Name: "Send"}, Says: says},
		}}
	}
	for _, tt := range []struct{ a, b, want []string }{
		{[]string{"Order", "To Anna & Co", "Contact", "Doris", "A mail is sent."}, []string{"Order", "To Bert", "Contact", "Egon Zorn", "A mail is sent."}, []string{"Order", "To {customer}", "Contact", "Contact › *", "A mail is sent."}},
		{[]string{"Order", "Amount", "#", "Bye"}, []string{"Order", "Amount", "# €", "Bye"}, []string{"Order", "Amount", "Amount › *", "Bye"}},
		{[]string{"Order", "Dear Doris Kiel,", "Bye"}, []string{"Order", "Dear Egon Zorn,", "Bye"}, []string{"Order", "Dear *,", "Bye"}},
		{[]string{"Order", "New", "Offer", "Bye"}, []string{"Order", "Late", "Bye"}, []string{"Order", "New", "Late", "Offer", "Bye"}},
		{[]string{"Doris", "Order"}, []string{"Egon", "Order"}, []string{"Doris", "Egon", "Order"}},
		{[]string{"Order"}, []string{"Order", "Bye"}, []string{"Order", "Bye"}},
		{[]string{}, []string{}, []string{}},
		{nil, []string{"Order"}, nil},
	} {
		p, _ := Align([]human.Procedure{show("Anna & Co", tt.a...), show("Bert", tt.b...)})
		if got := p.Steps[1].Says; !slices.Equal(got, tt.want) || (got == nil) != (tt.want == nil) {
			t.Errorf("of %q and %q came %q", tt.a, tt.b, got)
		}
	}
	signs := show("Anna", "Welcome back")
	signs.Steps = append(signs.Steps[:1:1], human.ProcedureStep{ID: "s3", Do: "change", Secret: "portal", Target: &human.ProcedureTarget{Role: "textbox", Name: "Password"}}, signs.Steps[1])
	for name, want := range map[string]bool{"Sign in": false, "Send": true} {
		signs.Steps[2].Target = &human.ProcedureTarget{Role: "button", Name: name}
		if p, _ := Align([]human.Procedure{signs}); (p.Steps[2].Says != nil) != want {
			t.Errorf("around %s the page says %q", name, p.Steps[2].Says)
		}
	}
	two, _ := Align([]human.Procedure{show("Paper A4", "For Paper A#", "Bye"), show("Envelopes C5", "For Envelopes C#", "Bye")})
	if got := two.Steps[1].Says; !slices.Equal(got, []string{"For {customer}", "Bye"}) {
		t.Errorf("a value with a number is %q", got)
	}
	p, _ := Align([]human.Procedure{show("Paper A4", "For Paper A#", "Bye")})
	p = Parameterize(p, "s1", "text", "customer")
	if got := p.Steps[1].Says; !slices.Equal(got, []string{"For {customer}", "Bye"}) {
		t.Errorf("of one recording it is %q", got)
	}
	if filled, err := Fill(human.Procedure{Parameters: []human.ProcedureParameter{{Name: "customer", Type: "text"}}, Steps: []human.ProcedureStep{{Do: "click", Says: []string{"To {customer}"}}}}, map[string]string{"customer": "Carl"}); err != nil || filled.Steps[0].Says[0] != "To Carl" {
		t.Errorf("filled in %q, %v", filled.Steps[0].Says, err)
	}
}

// What is the same in a part of a word or number is so by chance.
func TestWhatTextsHaveInCommon(t *testing.T) {
	for _, tt := range []struct{ want, a, b string }{
		{"Invoice-RE-2026-*.pdf", "Invoice-RE-2026-0512.pdf", "Invoice-RE-2026-0517.pdf"}, {"Report *.csv", "Report Acme.csv", "Report Acorn.csv"}, {"*1.pdf", "a1.pdf", "b1.pdf"},
		{"*", "", "x"}, {"*", "abc", "abd"}, {"發票 *。pdf", "發票 12。pdf", "發票 13。pdf"}, {"a-* a", "a-a a", "a-b a"}, {"x *", "x ", "x y"}, {"same*", "same", "same"},
	} {
		if got := common([]string{tt.a, tt.b}); got != tt.want {
			t.Errorf("%q and %q: %q, want %q", tt.a, tt.b, got, tt.want)
		}
	}
}

// What was a line of its own in each recording has to be one; in one of them alone, it has to be somewhere on the page.
func TestLinesOfTheirOwn(t *testing.T) {
	shown := func(value string, kinds ...string) human.Procedure {
		var then []human.ProcedureCheckpoint
		for _, is := range kinds {
			then = append(then, human.ProcedureCheckpoint{Is: is, Text: value})
		}
		return human.Procedure{Format: 1, Name: "x", Where: "browser", Steps: []human.ProcedureStep{
			{ID: "s1", Do: "change", Target: &human.ProcedureTarget{Role: "textbox", Name: "Customer", Selectors: [][]string{{"#c"}}}, Text: value},
			{ID: "s2", Do: "click", Target: &human.ProcedureTarget{Role: "button", Name: "Search", Selectors: [][]string{{"#s"}}}, Then: then},
		}}
	}
	both := []string{"text", "line"}
	for _, tt := range []struct{ first, second, want []string }{{both, both, []string{"line"}}, {both, []string{"text"}, []string{"text"}}, {[]string{"text"}, both, []string{"text"}}} {
		p, _ := Align([]human.Procedure{shown("Acme", tt.first...), shown("North", tt.second...)})
		var got []string
		for _, c := range p.Steps[1].Then {
			if got = append(got, c.Is); c.Text != "{customer}" {
				t.Errorf("%+v", c)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q and %q become %q", tt.first, tt.second, got)
		}
	}
}
