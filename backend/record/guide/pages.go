package guide

import (
	"encoding/json"
	"strings"

	"deskbell/backend/human"
	"deskbell/backend/record/actions"
)

// A where is the page that a step was done on.
type where struct{ Title, URL string }

func whereOf(p *human.WebPage) *where {
	if p == nil || p.URL == "" {
		return nil
	}
	w := &where{line(p.Title, 200), line(p.URL, 500)}
	if w.Title == w.URL {
		w.Title = ""
	}
	return w
}

// An effect is what came of an action by itself: a page, a dialog, a file.
type effect struct{ Words, Time string }

// isEffect says whether an action is shown beneath the one that led to it.
func isEffect(a human.Action) bool {
	switch a.Type {
	case human.Navigate, human.OpenPage, human.ClosePage, human.SwitchPage, human.DialogEnded, human.PageSaid, human.Download, human.Upload:
		return a.CausedBy != ""
	}
	return false
}

// A picked field is what was picked from a page last for a name.
type picked struct {
	Field    string
	Value    string
	Rows     [][]string
	Header   bool
	More     int // rows that are not shown
	Step     int
	Where    *where
	Selector string
	Hidden   bool
	*step
}

// mostRows of a table are shown in a guide; all of them are in the JSON.
const mostRows = 200

// fields are the last picks of each field, in the order of the first.
func (g *guide) fields() []picked {
	var out []picked
	at := map[string]int{}
	for i := range g.Steps {
		s := &g.Steps[i]
		p := s.action.Pick
		if s.action.Type != human.Extract || p == nil || s.Heading != "" {
			continue
		}
		f := picked{Field: line(p.Field, 200), Step: s.Number, Where: whereOf(s.action.Page), Selector: line(selectorOf(s.action.Element), 300), Hidden: s.action.Masked, step: s}
		for n, row := range p.Rows {
			if n == mostRows {
				f.More = len(p.Rows) - n
				break
			}
			cells := make([]string, len(row))
			for j, c := range row {
				cells[j] = line(c, 1000)
			}
			f.Rows = append(f.Rows, cells)
		}
		if f.Header = p.Header && len(f.Rows) > 0; len(f.Rows) == 0 {
			f.Value = line(p.Text, 5000)
		}
		if n, is := at[f.Field]; is {
			out[n] = f
			continue
		}
		at[f.Field] = len(out)
		out = append(out, f)
	}
	return out
}

// selectorOf is the best way to find an element again, through shadow roots.
func selectorOf(e *human.Element) string {
	if e == nil || len(e.Selectors) == 0 {
		return ""
	}
	return strings.Join(e.Selectors[0], " >>> ")
}

// A jsonField is a field in the JSON of a guide.
type jsonField struct {
	Field    string     `json:"field"`
	Value    string     `json:"value"`
	Rows     [][]string `json:"rows,omitempty"`
	Header   bool       `json:"header,omitempty"`
	URL      string     `json:"url,omitempty"`
	Selector string     `json:"selector,omitempty"`
	Action   string     `json:"action_id"`
	Picture  string     `json:"picture,omitempty"`
}

func jsonFields(list []human.Action) []jsonField {
	var out []jsonField
	at := map[string]int{}
	for _, a := range list {
		if a.Type != human.Extract || a.Pick == nil {
			continue
		}
		f := jsonField{Field: a.Pick.Field, Value: a.Pick.Text, Rows: a.Pick.Rows, Header: a.Pick.Header, Selector: selectorOf(a.Element), Action: a.ID, Picture: a.After}
		if a.Page != nil {
			f.URL = a.Page.URL
		}
		if n, is := at[f.Field]; is {
			out[n] = f
			continue
		}
		at[f.Field] = len(out)
		out = append(out, f)
	}
	return out
}

// flat is a table as one line of JSON, for a cell of Markdown.
func flat(rows [][]string) string {
	text, _ := json.Marshal(rows) // texts: cannot fail
	return actions.Line(string(text), 5000)
}

// sameField says whether two looks at fields of pages were at one field.
func sameField(a, b human.Action) bool {
	x, y := selectorOf(a.Element), selectorOf(b.Element)
	return a.Page != nil && b.Page != nil && a.Page.Target == b.Page.Target && x != "" && x == y
}
