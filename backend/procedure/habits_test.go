package procedure_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/procedure"
)

// shownBy is a recording of a form: a step is "open", "Name=text", "Name=text KEY", "Button -> address", or "link Name -> address".
func shownBy(steps ...string) human.Procedure {
	p := human.Procedure{Format: 1, Name: "x", Title: "X", Where: "browser"}
	for i, line := range steps {
		s := human.ProcedureStep{ID: fmt.Sprintf("s%d", i+1), Title: line}
		what, to, leads := strings.Cut(line, " -> ")
		name, text, types := strings.Cut(what, "=")
		switch {
		case line == "open":
			s.Do, s.URL = "navigate", "https://a.example/form"
			to, leads = s.URL, true
		case types:
			s.Do, s.Target = "change", &human.ProcedureTarget{Role: "textbox", Name: name}
			s.Text, s.Key, _ = strings.Cut(text, " ")
			if name == "Password" {
				s.Secret, s.Text = "password", ""
			}
			s.Writes = s.Key == "Enter"
		case strings.HasPrefix(what, "link "):
			s.Do, s.Target = "click", &human.ProcedureTarget{Role: "link", Name: strings.TrimPrefix(what, "link ")}
		default:
			s.Do, s.Target, s.Writes = "click", &human.ProcedureTarget{Role: "button", Name: name}, true
		}
		if leads {
			s.Then = []human.ProcedureCheckpoint{{Is: "address", Text: to}}
		} else if s.Text != "" {
			s.Then = []human.ProcedureCheckpoint{{Is: "value", Text: s.Text, Target: s.Target}}
		}
		p.Steps = append(p.Steps, s)
	}
	return p
}

// inShort is what the steps of a procedure do, and their ids.
func inShort(p human.Procedure) (got, ids []string) {
	for _, s := range p.Steps {
		line := s.Do
		if s.Target != nil {
			line += " " + s.Target.Name
		}
		if s.Key != "" {
			line += " " + s.Key
		}
		if s.Optional {
			line += " optional"
		}
		if s.Writes {
			line += " writes"
		}
		got, ids = append(got, line), append(ids, s.ID)
	}
	return got, ids
}

// TestHabits: Tab, Enter and a sign-in in vain make no other procedure than the usual way does, and what only looks like them does.
func TestHabits(t *testing.T) {
	const saved, form = "https://a.example/saved", "https://a.example/form"
	usual := []string{"open", "Street=Elm", "City=Bonn", "Save -> " + saved}
	for name, tt := range map[string]struct{ one, other, want []string }{
		"Tab":                   {usual, []string{"open", "Street=Oak Tab", "City=Kiel", "Save -> " + saved}, []string{"navigate", "change Street", "change City", "click Save writes"}},
		"Enter":                 {usual, []string{"open", "Street=Oak", "City=Kiel Enter -> " + saved}, []string{"navigate", "change Street", "change City", "click Save writes"}},
		"Enter first":           {[]string{"open", "Street=Oak", "City=Kiel Enter -> " + saved}, usual, []string{"navigate", "change Street", "change City", "click Save writes"}},
		"both by Enter":         {[]string{"open", "City=Bonn Enter -> " + saved}, []string{"open", "City=Kiel Enter -> " + saved}, []string{"navigate", "change City Enter writes"}},
		"Enter leads elsewhere": {usual, []string{"open", "Street=Oak", "City=Kiel Enter -> https://a.example/found"}, []string{"navigate", "change Street", "change City Enter optional writes", "change City optional", "click Save optional writes"}},
		"a wrong password": {
			[]string{"open", "User=mira", "Password=*", "Sign in -> " + saved},
			[]string{"open", "User=mira", "Password=*", "Sign in -> " + form, "User=mira", "Password=*", "Sign in -> " + saved},
			[]string{"navigate", "change User", "change Password", "click Sign in writes"},
		},
		"the same form twice, without a password": {
			[]string{"open", "Name=a", "Add -> " + form, "Name=b", "Add -> " + saved}, []string{"open", "Name=c", "Add -> " + form, "Name=d", "Add -> " + saved},
			[]string{"navigate", "change Name", "click Add writes", "change Name", "click Add writes"},
		},
	} {
		p, _ := procedure.Align([]human.Procedure{shownBy(tt.one...), shownBy(tt.other...)})
		got, ids := inShort(p)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: it is\n\t%s\nnot\n\t%s", name, strings.Join(got, "\n\t"), strings.Join(tt.want, "\n\t"))
		}
		if slices.Sort(ids); len(slices.Compact(ids)) < len(p.Steps) {
			t.Errorf("%s: ids are there twice: %q", name, ids)
		}
	}
}

// TestWhatWasTypedStays where the page that a row opens says it, and nothing explains how the row was known.
func TestWhatWasTypedStays(t *testing.T) {
	of := func(customer, number string) human.Procedure {
		p := shownBy("open", "Customer="+customer)
		p.Steps = append(p.Steps, human.ProcedureStep{
			ID: "s3", Do: "click", Target: &human.ProcedureTarget{Role: "link", Name: "Open", Beside: number},
			Then: []human.ProcedureCheckpoint{{Is: "text", Text: customer}},
		})
		return p
	}
	p, _ := procedure.Align([]human.Procedure{of("Nordwind", "A-17"), of("Aldus", "A-20")})
	if got := p.Steps[1].Text; got != "{customer}" {
		t.Errorf("%q is typed: %+v", got, p.Parameters)
	}
}
