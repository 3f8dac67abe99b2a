//go:build window

package e2e

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/procedure"
)

// otherValues are what other persons type, choose and click in a case: instead of the first text of each row, one has the second and one
// the third. "down N" are keys in a list.
var otherValues = map[string][][3]string{
	"a form is filled in and sent": {
		{"Anna Lovelace", "Maria Gomez", "Ole Berg"}, {"anna@example.org", "gomez@example.com", "ole.berg@example.net"},
		{"Ring twice.\nThen wait.", "Leave it\nat the door.", "Call\nfirst."}, {"down 2", "down 1", "down 3"},
	},
	"Enter sends a form":                 {{"lamp", "chair", "desk"}},
	"typing is corrected":                {{"Anma", "Bertxx", "Olxx"}, {"na", "ha", "af"}, {"Anna", "Bertha", "Olaf"}, {"anna@example.org", "b@example.com", "olaf@example.net"}},
	"numbers, sliders and colours":       {{"12", "7", "31"}},
	"a form is cleared":                  {{"Nobody", "Everyone", "Anyone"}},
	"a single-page app":                  {{"Chair", "Lamp", "Table"}},
	"a frame of the same site":           {{"inside", "within", "in here"}},
	"a frame of another site":            {{"far", "near", "away"}},
	"a sandboxed frame without scripts":  {{"boxed", "caged", "loose"}},
	"an open shadow root":                {{"12", "45", "8"}},
	"a popup":                            {{"in the popup", "in another", "in a third"}},
	"a prompt":                           {{"final", "draft", "agreed"}},
	"a page asks before it is left":      {{"half", "third", "most"}},
	"a strict policy with Trusted Types": {{"hello", "goodbye", "welcome"}},
	"a date by the browser's field":      {{"12242026", "11052027", "01312025"}, {"0945AM", "1130PM", "0715AM"}},
	"a date by the page's calendar":      {{"2026-04-17", "2026-04-09", "2026-04-24"}},
	"one of 5,000 rows":                  {{"Choose 120", "Choose 118", "Choose 123"}, {"Person 120", "Person 118", "Person 123"}},
	"Chinese by an input method":         {{"李雷", "韩梅", "王芳"}, {"你好", "再见", "早安"}, {"世界", "朋友", "同学"}},
	"shortcuts of the page":              {{"publish", "archive", "preview"}},
	"a list is chosen from by a click":   {{"lo", "lis", "lim"}, {"London", "Lisbon", "Lima"}},
	"messages are sent by Enter":         {{"first", "hello", "one more"}, {"second", "bye", "the last"}},
	"a password":                         {{"anna", "maria", "ole"}},
	"a page that would break a recorder": {{"!", "?", "#"}},
}

// says is what a person says instead of a text, who is the nth to do a case.
func (p *surfer) says(text string) string {
	for _, row := range p.others {
		if text == row[0] || text == row[0]+"\n" {
			return strings.Replace(text, row[0], row[p.nth], 1)
		}
	}
	return text
}

// shown is what the page shows of it.
func (p *surfer) shown(text string) string {
	var pairs []string
	for _, row := range p.others {
		pairs = append(pairs, row[0], row[p.nth])
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// done has the nth person do a case while it is recorded, and says what state that ends in.
func (s *study) done(t *testing.T, c browserCase, nth int) (rec human.RecordingID, state string) {
	t.Helper()
	_, r, p := s.record(t, c.name, s.site.url(c.page), human.BrowserOptions{})
	p.others, p.nth = otherValues[c.name], nth
	c.act(p)
	p.sees(c.sees)
	state, err := p.state(false)
	if err != nil {
		t.Fatal(err)
	}
	s.stop(t, &r)
	return r.ID, state
}

// TestBrowserOtherValues has two persons do each case, and Deskbell do it with the values of a third: it has to end in the state that
// the third person's work ends in. With -short, some of the cases; DESKBELL_VALUES is a file for the figures.
func TestBrowserOtherValues(t *testing.T) {
	idle := make(chan *study, 2)
	for range cap(idle) {
		idle <- newStudy(t, false, secretVariables()...)
	}
	names := slices.Sorted(maps.Keys(otherValues))
	wrong := make([]string, len(names))
	t.Run("cases", func(t *testing.T) {
		for i, name := range names {
			if testing.Short() && i%8 != 0 {
				continue
			}
			at := slices.IndexFunc(browserCases, func(c browserCase) bool { return c.name == name })
			if at < 0 {
				t.Fatalf("there is no case %s", name)
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				own := <-idle
				t.Cleanup(func() { idle <- own })
				s, c := own.in(t), browserCases[at]
				third, state := s.done(t, c, 0)
				first, _ := s.done(t, c, 1)
				second, _ := s.done(t, c, 2)
				draft, alone := s.draft(c, first, second), s.draft(c, third)
				values, err := valuesIn(draft, alone)
				if err != nil {
					wrong[i] = err.Error()
				} else {
					wrong[i] = s.carries(t, draft, values, state)
				}
				if wrong[i] != "" {
					t.Error(wrong[i])
				}
			})
		}
	})
	if path := os.Getenv("DESKBELL_VALUES"); path != "" {
		var b strings.Builder
		for i, name := range names {
			line, _, _ := strings.Cut(wrong[i], "\n")
			fmt.Fprintf(&b, "| %s | %s |\n", name, line)
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// spoken are the texts of a procedure that may hold values, in their order.
func spoken(p human.Procedure) (all []string) {
	for _, s := range p.Steps {
		all = append(all, s.Do, s.URL, s.Text, strings.Join(s.Options, "\n"))
		for _, d := range s.Dialogs {
			all = append(all, d.Input)
		}
		if s.Target != nil {
			all = append(all, s.Target.Name)
		}
	}
	return all
}

var placed = regexp.MustCompile(`\\\{(\w+)\\\}`)

// valuesIn are the values that the parameters of a procedure have in work that was recorded once.
func valuesIn(p, once human.Procedure) (map[string]string, error) {
	known := map[string]string{}
	for _, q := range once.Parameters {
		known[q.Name] = q.Examples[0]
	}
	once, err := procedure.Fill(once, known)
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	theirs, own := spoken(p), spoken(once)
	if len(theirs) != len(own) {
		return nil, fmt.Errorf("it has %d texts, and was done with %d", len(theirs), len(own))
	}
	for i, text := range theirs {
		names := procedure.Placeholders(text)
		if len(names) == 0 {
			continue
		}
		found := regexp.MustCompile("(?s)^" + placed.ReplaceAllString(regexp.QuoteMeta(text), "(.*)") + "$").FindStringSubmatch(own[i])
		if found == nil {
			return nil, fmt.Errorf("%q is not %q", own[i], text)
		}
		for n, name := range names {
			if values[name] == "" {
				values[name] = found[n+1]
			}
		}
	}
	for _, q := range p.Parameters {
		if _, has := values[q.Name]; !has {
			return nil, fmt.Errorf("the parameter %s has no value", q.Name)
		}
	}
	return values, nil
}
