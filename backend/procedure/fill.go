package procedure

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"deskbell/backend/human"
)

// A textKind says how a value is put into a text.
type textKind int

const (
	plainText    textKind = iota
	listText              // one of a list: it is left out where its value is empty
	lineText              // a line that stands around an element: without numbers
	addressText           // values are percent-encoded
	selectorText          // a value that would end it early is not put into it: the element is then found by its role and name
	pathText              // a value is a part of one name
)

// A part of a text: characters, or the name of a parameter.
type part struct{ text, name string }

var placeholder = regexp.MustCompile(`\{\{|\}\}|\{[a-z][a-z0-9_]{0,47}\}|[{}]`)

// splitParts takes a text apart, without the second of doubled braces. stray says that a brace stands alone.
func splitParts(text string) (parts []part, stray bool) {
	add := func(s string) {
		if n := len(parts); n > 0 && parts[n-1].name == "" {
			parts[n-1].text += s
		} else if s != "" {
			parts = append(parts, part{text: s})
		}
	}
	end := 0
	for _, at := range placeholder.FindAllStringIndex(text, -1) {
		add(text[end:at[0]])
		end = at[1]
		switch found := text[at[0]:at[1]]; {
		case len(found) > 2:
			parts = append(parts, part{name: found[1 : len(found)-1]})
		default:
			stray = stray || len(found) == 1
			add(found[:1])
		}
	}
	add(text[end:])
	return parts, stray
}

// joinParts is the text that splitParts takes apart.
func joinParts(parts []part) string {
	var b strings.Builder
	for _, p := range parts {
		if p.name != "" {
			b.WriteString("{" + p.name + "}")
		} else {
			b.WriteString(escape(p.text))
		}
	}
	return b.String()
}

var braces = strings.NewReplacer("{", "{{", "}", "}}")

func escape(text string) string { return braces.Replace(text) }

// Placeholders are the names of the parameters in a text, in order, each once.
func Placeholders(text string) []string {
	var names []string
	parts, _ := splitParts(text)
	for _, p := range parts {
		if p.name != "" && !slices.Contains(names, p.name) {
			names = append(names, p.name)
		}
	}
	return names
}

// stepTexts is a copy of a step in which f has replaced each text that may hold parameters.
func stepTexts(s human.ProcedureStep, f func(textKind, string) string) human.ProcedureStep {
	s.Title, s.URL, s.Text = f(plainText, s.Title), f(addressText, s.URL), f(plainText, s.Text)
	s.Options, s.Files = listTexts(s.Options, f), listTexts(s.Files, f)
	s.Window, s.Target, s.To = windowTexts(s.Window, f), targetTexts(s.Target, f), targetTexts(s.To, f)
	s.Form = slices.Clone(s.Form)
	for i, x := range s.Form {
		s.Form[i].Name, s.Form[i].Holds = f(plainText, x.Name), f(plainText, x.Holds)
	}
	s.Says = slices.Clone(s.Says)
	for i, line := range s.Says {
		s.Says[i] = f(lineText, line)
	}
	s.Dialogs = slices.Clone(s.Dialogs)
	for i, d := range s.Dialogs {
		s.Dialogs[i].Message, s.Dialogs[i].Input = f(plainText, d.Message), f(plainText, d.Input)
	}
	s.Then = slices.Clone(s.Then)
	for i, c := range s.Then {
		of := plainText
		if c.Is == "address" {
			of = addressText
		}
		s.Then[i].Text, s.Then[i].Target, s.Then[i].Window = f(of, c.Text), targetTexts(c.Target, f), windowTexts(c.Window, f)
	}
	return s
}

func listTexts(all []string, f func(textKind, string) string) []string {
	var out []string
	for _, text := range all {
		if text = f(listText, text); text != "" {
			out = append(out, text)
		}
	}
	return out
}

func windowTexts(w *human.ProcedureWindow, f func(textKind, string) string) *human.ProcedureWindow {
	if w == nil {
		return nil
	}
	return &human.ProcedureWindow{Program: w.Program, Title: f(plainText, w.Title)}
}

func targetTexts(t *human.ProcedureTarget, f func(textKind, string) string) *human.ProcedureTarget {
	if t == nil {
		return nil
	}
	c := *t
	c.Name, c.Beside, c.Selectors = f(plainText, t.Name), f(plainText, t.Beside), nil
	c.Cells, c.Columns = nil, nil
	for i, cell := range append([]string{""}, t.Cells...) {
		if cell = f(listText, cell); i > 0 && cell != "" {
			c.Cells = append(c.Cells, cell)
		}
		if i < len(t.Columns) && (i == 0 || cell != "") {
			c.Columns = append(c.Columns, t.Columns[i])
		}
	}
	for _, selectors := range t.Selectors {
		if selectors = listTexts(selectors, func(_ textKind, s string) string { return f(selectorText, s) }); len(selectors) > 0 {
			c.Selectors = append(c.Selectors, selectors)
		}
	}
	return &c
}

// effectTexts is a copy of an effect in which f has replaced each text that may hold parameters. A query holds none: values are bound.
func effectTexts(e human.ProcedureEffect, f func(textKind, string) string) human.ProcedureEffect {
	e.Title, e.Path, e.URL = f(plainText, e.Title), f(pathText, e.Path), f(addressText, e.URL)
	e.Headers = maps.Clone(e.Headers)
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		e.Headers[name] = f(plainText, e.Headers[name])
	}
	e.Values, e.Has = slices.Clone(e.Values), slices.Clone(e.Has)
	for _, all := range [][]string{e.Values, e.Has} {
		for i := range all {
			all[i] = f(plainText, all[i])
		}
	}
	return e
}

// procedureTexts is a copy of a procedure in which f has replaced each text that may hold parameters.
func procedureTexts(p human.Procedure, f func(textKind, string) string) human.Procedure {
	p.Steps, p.Effects = slices.Clone(p.Steps), slices.Clone(p.Effects)
	for i, s := range p.Steps {
		p.Steps[i] = stepTexts(s, f)
	}
	for i, e := range p.Effects {
		p.Effects[i] = effectTexts(e, f)
	}
	return p
}

// Fill puts values in the places of a procedure's parameters; what it returns has none any more. A parameter without a value has its
// default. An Invalid error names the field parameters.NAME whose value is missing, unknown or not as its parameter says.
func Fill(p human.Procedure, values map[string]string) (human.Procedure, error) {
	values = maps.Clone(values)
	known := map[string]bool{}
	for _, q := range p.Parameters {
		known[q.Name] = true
		if _, given := values[q.Name]; !given {
			if q.Default == "" {
				return p, human.BadField("parameters."+q.Name, "a value is missing: give one to run this procedure")
			}
			if values == nil {
				values = map[string]string{}
			}
			values[q.Name] = q.Default
		}
		if err := checkValue(q, values[q.Name]); err != nil {
			return p, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !known[name] {
			return p, human.BadField("parameters."+name, "this procedure has no such parameter: leave it out")
		}
	}
	var failed error
	for _, o := range p.Outputs {
		if !known[o.Name] && values == nil {
			values = map[string]string{}
		}
		if !known[o.Name] {
			values[o.Name] = toCome(o.Name)
		}
	}
	p = procedureTexts(p, func(of textKind, text string) string {
		filled, err := fillText(of, text, values)
		if failed == nil {
			failed = err
		}
		return filled
	})
	p.Parameters = nil
	return p, failed
}

// toCome stands for an output in the effects of a procedure that is run: it is known when its steps are done.
func toCome(output string) string { return "\x00" + output + "\x00" }

// withOutputs is an effect with the outputs of the run in their places.
func withOutputs(e human.ProcedureEffect, outputs map[string]string) human.ProcedureEffect {
	return effectTexts(e, func(of textKind, text string) string {
		for name, value := range outputs {
			if of == plainText && value != "" { // an empty text is in everything
				text = strings.ReplaceAll(text, toCome(name), value)
			}
		}
		return text
	})
}

// beforeOutputs is an effect as it can be looked at before the outputs are known: without what has them. has says whether there is any.
func beforeOutputs(e human.ProcedureEffect) (before human.ProcedureEffect, has bool) {
	before = e
	before.Has = slices.DeleteFunc(slices.Clone(e.Has), func(text string) bool { return strings.Contains(text, "\x00") })
	return before, len(before.Has) < len(e.Has)
}

// fillText is a text with values.
func fillText(of textKind, text string, values map[string]string) (string, error) {
	var b strings.Builder
	parts, _ := splitParts(text)
	for _, p := range parts {
		value := values[p.name]
		switch {
		case p.name == "":
			b.WriteString(p.text)
			continue
		case of == addressText && (value == "." || value == ".."):
			return "", human.BadField("parameters."+p.name, "a part of an address cannot be . or ..: give another value")
		case of == addressText && inQuery(b.String()):
			value = url.QueryEscape(value)
		case of == addressText:
			value = url.PathEscape(value)
		case of == selectorText && strings.ContainsAny(value, "\"'\\[]\n\r"):
			return "", nil
		case of == pathText && strings.ContainsAny(value, `*/\`):
			return "", human.BadField("parameters."+p.name, `a part of a file's path cannot have *, / or \: give another value`)
		}
		b.WriteString(value)
	}
	return b.String(), nil
}

// inQuery says whether an address that begins so has come to its query.
func inQuery(address string) bool {
	return strings.Contains(address, "?") && !strings.Contains(address, "#")
}

var numbers = map[string]*regexp.Regexp{
	"integer": regexp.MustCompile(`^[+-]?\d+$`),
	"number":  regexp.MustCompile(`^[+-]?\d+([.,]\d+)?$`),
}

var layouts = map[string]string{"date": "2006-01-02", "month": "2006-01"}

// checkValue says what is wrong with a parameter's value; nil for nothing.
func checkValue(q human.ProcedureParameter, value string) error {
	field := "parameters." + q.Name
	if value == "" && slices.Contains(q.Examples, "") {
		return nil
	}
	switch {
	case numbers[q.Type] != nil && !numbers[q.Type].MatchString(value):
		return human.BadField(field, "%q is no %s: give digits", value, q.Type)
	case layouts[q.Type] != "" && !isOf(q.Type, value):
		return human.BadField(field, "%q is no %s: write it as %s", value, q.Type, map[string]string{"date": "YYYY-MM-DD", "month": "YYYY-MM"}[q.Type])
	case len(q.Choices) > 0 && !slices.Contains(q.Choices, value):
		return human.BadField(field, "%q is none of its choices: give one of %s", value, strings.Join(q.Choices, ", "))
	case q.Type == "file" && value == "":
		return human.BadField(field, "the path of a file is missing: give one on this computer")
	}
	if q.Pattern != "" {
		pattern, err := wholly(q.Pattern)
		if err != nil {
			return human.BadField(field, "its pattern %s is no regular expression: change the procedure", q.Pattern)
		}
		if !pattern.MatchString(value) {
			return human.BadField(field, "%q does not match %s: give a value that does", value, q.Pattern)
		}
	}
	return nil
}

// isOf says whether a value is of a type.
func isOf(of, value string) bool {
	if layout := layouts[of]; layout != "" {
		_, err := time.Parse(layout, value)
		return err == nil
	}
	return numbers[of].MatchString(value)
}
