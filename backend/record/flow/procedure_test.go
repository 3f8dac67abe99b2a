package flow_test

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/record/flow"
)

// outline is a procedure in lines.
func outline(p human.Procedure) (lines []string) {
	for _, s := range p.Steps {
		line := []string{s.Do}
		if s.Page != "" {
			line = append(line, "in "+s.Page)
		}
		if s.Target != nil {
			line = append(line, fmt.Sprintf("%s %q", s.Target.Role, s.Target.Name))
		}
		for _, text := range []string{s.URL, s.Text, strings.Join(s.Options, "+"), s.Key, strings.Join(s.Files, "+")} {
			if text != "" {
				line = append(line, text)
			}
		}
		if s.Secret != "" {
			line = append(line, "secret "+s.Secret)
		}
		if s.Output != "" {
			line = append(line, "gives "+s.Output)
		}
		if s.Writes {
			line = append(line, "writes")
		}
		for _, d := range s.Dialogs {
			line = append(line, fmt.Sprintf("%s %q %t %s", d.Kind, d.Message, d.Accept, d.Input))
		}
		for _, c := range s.Then {
			line = append(line, strings.TrimSpace(fmt.Sprintf("-> %s %s %s", c.Is, c.Page, cmp.Or(c.Text))))
		}
		lines = append(lines, strings.Join(line, " "))
	}
	return lines
}

// What several pages show when they are loaded tells of no step, unless it is what the page is called.
func TestMessagesOfAllPages(t *testing.T) {
	var r tape
	r.add(human.Action{Type: human.OpenPage, Page: at("/")})
	for i, said := range [][]string{{"We use cookies", "Signed in"}, {"We use cookies", "Saved"}} {
		did := r.add(human.Action{Type: human.Click, Page: at("/"), Element: element("button", fmt.Sprint("Send ", i))})
		r.add(human.Action{Type: human.Navigate, Page: at("/"), CausedBy: did, Navigation: &human.Navigation{Kind: "form", Status: 200}})
		r.add(human.Action{Type: human.PageSaid, Page: at("/"), CausedBy: did, Element: element("heading", ""), Values: []string{"loaded"}, Dialog: &human.Dialog{Kind: "message", Message: "Office"}})
		for _, text := range said {
			r.add(human.Action{Type: human.PageSaid, Page: at("/"), CausedBy: did, Element: element("status", ""), Values: []string{"loaded"}, Dialog: &human.Dialog{Kind: "message", Message: text}})
		}
	}
	var got []string
	for _, s := range flow.Procedure(flow.Input{Title: "Office", Actions: r.list}, "rec_1").Steps {
		for _, c := range s.Then {
			if c.Is == "text" {
				got = append(got, c.Text)
			}
		}
	}
	if want := []string{"Office", "Signed in", "Office", "Saved"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestProcedure is what the steps of a procedure are, with what came of them.
func TestProcedure(t *testing.T) {
	var r tape
	r.add(human.Action{Type: human.OpenPage, Page: at("/")})
	r.add(human.Action{Type: human.Navigate, Page: at("/orders"), Navigation: &human.Navigation{Kind: "address", Status: 200}})
	name := tagged(element("textbox", "Name"), "input/text")
	r.add(human.Action{Type: human.Click, Page: at("/orders"), Element: name})
	r.add(human.Action{Type: human.Typing, Page: at("/orders"), Element: name, Text: "Ann {Lee}", Value: "Ann {Lee}", Count: 9})
	secret := tagged(element("textbox", "PIN of the card"), "input/password")
	secret.Secret = true
	for range 2 {
		r.add(human.Action{Type: human.Typing, Page: at("/orders"), Element: secret, Hidden: "password", SecretID: 1, Count: 4, Key: "Tab"})
	}
	r.add(human.Action{Type: human.Choose, Page: at("/orders"), Element: tagged(element("combobox", "Size"), "select"), Values: []string{"Large"}})
	r.add(human.Action{Type: human.Check, Page: at("/orders"), Element: tagged(element("checkbox", "Gift"), "input/checkbox"), Values: []string{"unchecked"}})
	order := r.add(human.Action{Type: human.Click, Page: at("/orders"), Element: element("button", "Order"), Answers: []human.WebAnswer{{Method: "POST", Status: 201}}})
	r.add(human.Action{Type: human.DialogEnded, Page: at("/orders"), CausedBy: order, Dialog: &human.Dialog{Kind: "confirm", Message: "Sure?", Accepted: true}})
	r.add(human.Action{Type: human.PageSaid, Page: at("/orders"), CausedBy: order, Dialog: &human.Dialog{Kind: "message", Message: "Thank you"}})
	r.add(human.Action{Type: human.PageSaid, Page: at("/orders"), CausedBy: order, Dialog: &human.Dialog{Kind: "message", Message: "Order 20881 was placed"}})
	r.add(human.Action{Type: human.Navigate, Page: at("/orders/0b1c2d3e4f5a6b7c8d"), CausedBy: order, Navigation: &human.Navigation{Kind: "script", Status: 200}})
	link := r.add(human.Action{Type: human.Click, Page: at("/orders/0b1c2d3e4f5a6b7c8d"), Element: element("link", "Invoice")})
	r.add(human.Action{Type: human.OpenPage, Page: popup("/invoice"), CausedBy: link})
	file := r.add(human.Action{Type: human.Click, Page: popup("/invoice"), Element: element("button", "PDF")})
	r.add(human.Action{Type: human.Download, Page: popup("/invoice"), CausedBy: file, Transfers: []human.Transfer{{Name: "R-1.pdf"}}})
	r.add(human.Action{Type: human.Extract, Page: popup("/invoice"), Element: element("cell", "9.90"), Pick: &human.Pick{Field: "total", Take: "element", Text: "9.90"}})
	back := r.add(human.Action{Type: human.Navigate, Page: at("/orders"), Navigation: &human.Navigation{Kind: "back_forward"}})
	r.add(human.Action{Type: human.PageSaid, Page: at("/orders"), CausedBy: file, Dialog: &human.Dialog{Kind: "message", Message: "of the page that came back"}})
	r.add(human.Action{Type: human.Upload, Page: at("/orders"), Element: element("button", "Documents"), Transfers: []human.Transfer{{Name: "letter.txt"}}})
	r.add(human.Action{Type: human.Click, Page: at("/orders"), Element: element("button", "Removed"), Cut: true})

	p := flow.Procedure(flow.Input{Title: "Order", Actions: r.list}, "rec_1")
	want := []string{
		"navigate " + host + "/ -> address  " + host + "/",
		"navigate " + host + "/orders -> address  " + host + "/orders",
		`change textbox "Name" Ann {{Lee}} -> value  Ann {{Lee}}`,
		`change textbox "PIN of the card" Tab secret pin-of-the-card`,
		`change textbox "PIN of the card" Tab secret pin-of-the-card`,
		`selectOption combobox "Size" Large -> value  Large`,
		`check checkbox "Gift" unchecked -> value  unchecked`,
		`click button "Order" writes confirm "Sure?" true  -> address  ` + host + `/orders/* -> text  Thank you`,
		`click link "Invoice" -> opened t2`,
		`click in t2 button "PDF" gives file -> download  R-1.pdf`,
		`pick in t2 cell "9.90" gives total`,
		`back -> address  ` + host + `/orders`,
		`setInputFiles button "Documents" letter.txt`,
	}
	if got := outline(p); !slices.Equal(got, want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
	if len(p.Secrets) != 1 || p.Secrets[0].Name != "pin-of-the-card" || p.Secrets[0].Site != host || p.Secrets[0].Around != nil {
		t.Errorf("secrets %+v", p.Secrets)
	}
	if got := p.Steps[11].From; len(got) != 1 || got[0] != (human.ProcedureSource{Recording: "rec_1", Action: back}) {
		t.Errorf("going back came from %+v", got)
	}
	if len(p.Outputs) != 2 || p.Outputs[0].Type != "file" || p.Outputs[1].Name != "total" || p.Outputs[1].Pattern == "" {
		t.Errorf("outputs %+v", p.Outputs)
	}
}

// TestShapesOfOutputs is what is known of a value that was picked: others of the kind are of its pattern, and what a page shows instead is not.
func TestShapesOfOutputs(t *testing.T) {
	shape := func(text string) *regexp.Regexp {
		t.Helper()
		var r tape
		r.add(human.Action{Type: human.OpenPage, Page: at("/")})
		r.add(human.Action{Type: human.Extract, Page: at("/"), Element: element("cell", "x"), Pick: &human.Pick{Field: "total", Take: "element", Text: text}})
		p := flow.Procedure(flow.Input{Title: "Total", Actions: r.list}, "rec_1")
		if p.Outputs[0].Pattern == "" {
			return nil
		}
		return regexp.MustCompile("^(?:" + p.Outputs[0].Pattern + ")$")
	}
	for _, tt := range []struct {
		taught   string
		yes, not []string
	}{
		{"2,265.13 €", []string{"268.80 €", "12,345,678.00 €", "0.10 €", "€ 7.00", "1'234.50 CHF", "-3.00"}, []string{"2,26513 €", "2.265,13 €", "••••", "", "12", "1.234 €"}},
		{"268,80", []string{"1.268,80", "5 268,80"}, []string{"268.80", "268"}},
		{"A-701", []string{"A-7", "77"}, []string{"••••", "-", ""}},
		{"Filed as D-12\non Monday", []string{"Filed as D-13\ntoday"}, []string{"…"}},
		{"1,234", []string{"5"}, []string{"none"}},
	} {
		pattern := shape(tt.taught)
		for _, text := range tt.yes {
			if !pattern.MatchString(text) {
				t.Errorf("%q: %q is not of it", tt.taught, text)
			}
		}
		for _, text := range tt.not {
			if pattern.MatchString(text) {
				t.Errorf("%q: %q is of it", tt.taught, text)
			}
		}
	}
	if shape("paid") != nil {
		t.Error("a text without digits has no shape")
	}
}

// What was typed and then stands on a page that something led to has to stand there each time.
func TestWhatAPageHasToShow(t *testing.T) {
	page := &human.WebPage{Target: "t1", URL: "https://portal.example/list"}
	shows := func(texts ...string) (all []string) {
		for _, text := range texts {
			line, is := strings.CutPrefix(text, "line: ")
			if all = append(all, human.Digested(line)); is {
				all = append(all, human.DigestedLine(line))
			}
		}
		return all
	}
	typed := func(id, text string) human.Action {
		return human.Action{ID: id, Type: human.Typing, Page: page, Value: text, Text: text, Element: &human.Element{Role: "textbox", Name: "Field " + id}}
	}
	click := func(id string, shown ...string) human.Action {
		return human.Action{ID: id, Type: human.Click, Button: 1, Page: page, Element: &human.Element{Role: "button", Name: "Button " + id, Shows: shows(shown...), Form: []human.Filled{{Role: "checkbox", Name: "A {b}"}}}}
	}
	p := flow.Procedure(flow.Input{Actions: []human.Action{
		typed("a1", "Anna & {Co}"), click("a2", "Anna & {Co}"), typed("a3", "124.24"), click("a4", "Anna & {Co}", "124.24"), click("a5", "line: 124.24", "elsewhere"),
	}}, "rec_1")
	texts := map[string][]string{}
	for _, s := range p.Steps {
		for _, c := range s.Then {
			texts[s.From[0].Action] = append(texts[s.From[0].Action], c.Is+" "+c.Text)
		}
	}
	want := map[string][]string{"a1": {"address https://portal.example/list", "value Anna & {{Co}}"}, "a2": {"text Anna & {{Co}}"}, "a3": {"value 124.24"}, "a4": {"text 124.24", "line 124.24"}}
	if !reflect.DeepEqual(texts, want) {
		t.Errorf("the pages have to show %q", texts)
	}
	if f := p.Steps[2].Form; len(f) != 1 || f[0].Name != "A {{b}}" {
		t.Errorf("the form is %+v", f)
	}
}

// A step that only puts the caret into a field, or selects what stands in it, is none; what a dialog asks before it is sent is a step that writes.
func TestStepsThatAreNone(t *testing.T) {
	page := &human.WebPage{Target: "t1", URL: "https://portal.example/list"}
	field := &human.Element{Role: "textbox", Name: "Street"}
	p := flow.Procedure(flow.Input{Actions: []human.Action{
		{ID: "a1", Type: human.Click, Button: 1, Page: page, Element: field},
		{ID: "a2", Type: human.Shortcut, Key: "a", Modifiers: []string{"ctrl"}, Page: page, Element: field},
		{ID: "a3", Type: human.Typing, Page: page, Value: "Hill 1", Text: "Hill 1", Element: field},
		{ID: "a4", Type: human.Shortcut, Key: "a", Modifiers: []string{"ctrl"}, Page: page, Element: &human.Element{Role: "document", Name: "All"}},
		{ID: "a5", Type: human.Click, Button: 1, Page: page, Element: &human.Element{Role: "button", Name: "Save"}},
		{ID: "a6", Type: human.DialogEnded, Page: page, CausedBy: "a5", Dialog: &human.Dialog{Kind: "confirm", Message: "Save?", Accepted: true}, Answers: []human.WebAnswer{{Method: "POST", URL: "https://portal.example/api", Status: 200}}},
	}}, "rec_1")
	did := ""
	for _, s := range p.Steps {
		if did += " " + s.Do; s.Writes {
			did += " writes"
		}
	}
	if did != " navigate change press click writes" {
		t.Errorf("the steps are%s", did)
	}
}
