package flow

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"

	"deskbell/backend/human"
)

// A Format is one that what was done in a browser can be written in, to be played by others.
type Format struct {
	Name   string // in requests
	Ending string // of a file's name, with its dot
	Media  string
	write  func(*plan) string
}

// Formats are all of them, in the order in which they are offered.
var Formats = []Format{
	{"playwright", ".spec.ts", "text/plain; charset=utf-8", playwright},
	{"puppeteer", ".flow.json", "application/json", puppeteer},
	{"selenium", ".side", "application/json", selenium},
	{"cypress", ".cy.ts", "text/plain; charset=utf-8", cypress},
}

// Write writes the actions. It blocks for as long as w does, and returns w's error.
func (f Format) Write(w io.Writer, in Input) error {
	_, err := io.WriteString(w, f.write(newPlan(in)))
	return err
}

// Says is what has to be known before the file is played: what the format cannot say of the actions and is left
// out or done in another way, and the variables that it reads. They stand at the head of the file, too.
func (f Format) Says(in Input) []human.Sentence {
	p := newPlan(in)
	f.write(p)
	return p.said()
}

// said is what stands at the head of a file: the notes, then what each variable stands for.
func (p *plan) said() []human.Sentence {
	all := slices.Clone(p.notes)
	for _, v := range p.variables {
		all = append(all, v.stands)
	}
	return all
}

// indented is a value as JSON for people to read. <, > and U+2028 are escaped.
func indented(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	_ = enc.Encode(v) // of texts and numbers: cannot fail
	return b.String()
}
