package form

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"deskbell/backend/human"
)

// A Fault is what is wrong with the value of one property. Code is its name, the same in the console.
type Fault struct {
	Property, Code string
	Err            error // Invalid; its field is response.PROPERTY
}

// Check says what is wrong with the values of an answer: the first of Faults.
func (s Schema) Check(values json.RawMessage) error {
	faults := s.Faults(values)
	if len(faults) == 0 {
		return nil
	}
	return faults[0].Err
}

// Faults are all that is wrong with the values of an answer, in the order of the form.
func (s Schema) Faults(values json.RawMessage) (all []Fault) {
	if len(values) == 0 {
		values = json.RawMessage("{}")
	}
	given, order, err := object(values)
	if err != nil {
		return []Fault{{"", "object", human.BadField("response", "must be a JSON object with each name once")}}
	}
	for _, p := range s.Properties {
		value, is := given[p.Name]
		switch {
		case is:
			if f := p.fault(value); f != nil {
				all = append(all, *f)
			}
		case p.Required:
			all = append(all, *p.wrong("required", human.Sayf("is missing")))
		}
	}
	for _, name := range order {
		if !slices.ContainsFunc(s.Properties, func(p Property) bool { return p.Name == name }) {
			p := Property{Name: name}
			all = append(all, *p.wrong("unknown", human.Sayf("is no property of details.response_schema")))
		}
	}
	return all
}

func (p Property) wrong(code string, said human.Sentence) *Fault {
	field := "response." + human.OneLine(p.Name, 80)
	return &Fault{p.Name, code, &human.Error{Kind: human.Invalid, Field: field, Msg: field + ": " + said.Text, Said: said}}
}

// fault is what is wrong with a value; nil for nothing.
func (p Property) fault(raw json.RawMessage) *Fault {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return p.wrong("type", human.Sayf("must be of type %s", p.Type))
	}
	switch v := value.(type) {
	case string:
		if p.Type == "string" {
			return p.text(v)
		}
	case float64:
		if p.Type == "number" || p.Type == "integer" {
			return p.number(v)
		}
	case bool:
		if p.Type == "boolean" {
			return nil
		}
	case []any:
		if p.Type == "array" {
			return p.list(v)
		}
	}
	return p.wrong("type", human.Sayf("must be of type %s", p.Type))
}

func (p Property) text(v string) *Fault {
	if len(p.Choices) > 0 {
		if !p.has(v) {
			return p.wrong("choice", human.Sayf("%q is not one of its choices", human.OneLine(v, 80)))
		}
		return nil
	}
	switch n := utf8.RuneCountInString(v); {
	case p.MinLength != nil && n < *p.MinLength:
		return p.wrong("minLength", human.Sayf("is %d characters; it needs at least %d", n, *p.MinLength))
	case n > length(p.MaxLength, maxValue):
		return p.wrong("maxLength", human.Sayf("is %d characters; at most %d are allowed", n, length(p.MaxLength, maxValue)))
	case p.Format != "" && !formed(p.Format, v):
		return p.wrong("format", human.Sayf("is not of the format %s", p.Format))
	}
	at, _ := instant(p.Format, v)
	if first, is := instant(p.Format, p.FormatMinimum); is && at.Before(first) {
		return p.wrong("formatMinimum", human.Sayf("is before %s", p.FormatMinimum))
	}
	if last, is := instant(p.Format, p.FormatMaximum); is && at.After(last) {
		return p.wrong("formatMaximum", human.Sayf("is after %s", p.FormatMaximum))
	}
	if p.Pattern != nil && !p.Pattern.MatchString(v) {
		return p.wrong("pattern", human.Sayf("does not match the pattern %s", human.OneLine(p.Pattern.String(), 200)))
	}
	return nil
}

const maxInteger = 1<<53 - 1

func (p Property) number(v float64) *Fault {
	plain := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	switch {
	case p.Type == "integer" && (v != math.Trunc(v) || math.Abs(v) > maxInteger):
		return p.wrong("type", human.Sayf("must be of type %s", p.Type))
	case p.Minimum != nil && v < *p.Minimum:
		return p.wrong("minimum", human.Sayf("must be at least %s", plain(*p.Minimum)))
	case p.Maximum != nil && v > *p.Maximum:
		return p.wrong("maximum", human.Sayf("must be at most %s", plain(*p.Maximum)))
	case p.ExclusiveMinimum != nil && v <= *p.ExclusiveMinimum:
		return p.wrong("exclusiveMinimum", human.Sayf("must be more than %s", plain(*p.ExclusiveMinimum)))
	case p.ExclusiveMaximum != nil && v >= *p.ExclusiveMaximum:
		return p.wrong("exclusiveMaximum", human.Sayf("must be less than %s", plain(*p.ExclusiveMaximum)))
	case p.MultipleOf != nil && !multiple(v, *p.MultipleOf):
		return p.wrong("multipleOf", human.Sayf("must be a multiple of %s", plain(*p.MultipleOf)))
	}
	return nil
}

// multiple says whether v is a whole number of times m, as decimals: 0.3 is three times 0.1.
func multiple(v, m float64) bool {
	q := v / m
	return !math.IsInf(q, 0) && math.Abs(q-math.Round(q)) <= 1e-9*math.Max(1, math.Abs(q))
}

func (p Property) list(v []any) *Fault {
	seen := map[string]bool{}
	for _, one := range v {
		text, is := one.(string)
		switch {
		case !is || !p.has(text):
			return p.wrong("choice", human.Sayf("has an element that is not one of its choices"))
		case seen[text]:
			return p.wrong("uniqueItems", human.Sayf("has %q twice", human.OneLine(text, 80)))
		}
		seen[text] = true
	}
	switch {
	case p.Ranking() && len(v) < len(p.Choices):
		return p.wrong("minItems", human.Sayf("needs all %d choices, in an order", len(p.Choices)))
	case p.MinItems != nil && len(v) < *p.MinItems:
		return p.wrong("minItems", human.Sayf("has %d choices; it needs at least %d", len(v), *p.MinItems))
	case p.MaxItems != nil && len(v) > *p.MaxItems:
		return p.wrong("maxItems", human.Sayf("has %d choices; at most %d are allowed", len(v), *p.MaxItems))
	}
	return nil
}

func (p Property) has(value string) bool {
	return slices.ContainsFunc(p.Choices, func(c Choice) bool { return c.Value == value })
}

// What formats look like, made ready at their first use: the hook's program links them and needs none. Each matches in time in
// proportion to the text, in the console as well.
var (
	emailForm = once(`^[A-Za-z0-9.!#$%&'*+/=?^_{|}~-]{1,64}@[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63}){0,8}$`)
	uriForm   = once(`^[A-Za-z][A-Za-z0-9+.-]*:[!#-;=?-\[\]_a-z~]+$`)
	dateForm  = once(`^\d{4}-\d{2}-\d{2}$`)
	timeForm  = once(`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)
)

func once(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

func formed(format, v string) bool {
	switch format {
	case "email":
		return emailForm().MatchString(v)
	case "uri":
		return uriForm().MatchString(v)
	}
	_, is := instant(format, v)
	return is
}

// instant is when a date begins, or what a date-time names; false for anything else.
func instant(format, v string) (time.Time, bool) {
	layout := time.DateOnly
	switch {
	case format == "date" && dateForm().MatchString(v):
	case format == "date-time" && timeForm().MatchString(v):
		layout = time.RFC3339Nano
	default:
		return time.Time{}, false
	}
	at, err := time.Parse(layout, v)
	return at, err == nil
}

// JSON is the schema as it is sent to a client: for each property what it was made of.
func (s Schema) JSON() json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	put := func(v any) {
		_ = e.Encode(v) // of texts and numbers
		b.Truncate(b.Len() - 1)
	}
	b.WriteString(`{"type":"object","properties":{`)
	var required []string
	for i, p := range s.Properties {
		if i > 0 {
			b.WriteByte(',')
		}
		put(p.Name)
		b.WriteByte(':')
		put(p.wire())
		if p.Required {
			required = append(required, p.Name)
		}
	}
	b.WriteByte('}')
	if len(required) > 0 {
		b.WriteString(`,"required":`)
		put(required)
	}
	b.WriteByte('}')
	return b.Bytes()
}

func (p Property) wire() map[string]any {
	m := map[string]any{"type": p.Type}
	set := func(name string, is bool, v any) {
		if is {
			m[name] = v
		}
	}
	set("title", p.Title != "", p.Title)
	set("description", p.Description != "", p.Description)
	set("default", p.Default != nil, p.Default)
	set("minimum", p.Minimum != nil, p.Minimum)
	set("maximum", p.Maximum != nil, p.Maximum)
	set("minItems", p.MinItems != nil, p.MinItems)
	set("maxItems", p.MaxItems != nil, p.MaxItems)
	var options []map[string]string
	for _, c := range p.Choices {
		o := map[string]string{"const": c.Value, "title": c.Title}
		if c.Description != "" {
			o["description"] = c.Description
		}
		options = append(options, o)
	}
	if p.Type == "array" {
		set("uniqueItems", p.Unique, true)
		m["items"] = map[string]any{"anyOf": options}
	} else {
		set("oneOf", len(options) > 0, options)
	}
	return m
}

// Words are the values of an answer as a person reads them, a line for each: the question, and what was chosen or written.
func (s Schema) Words(values json.RawMessage) (lines []string) {
	given, _, err := object(values)
	if err != nil {
		return nil
	}
	for _, p := range s.Properties {
		if raw, is := given[p.Name]; is {
			lines = append(lines, p.Label()+": "+strings.Join(s.Chosen(p.Name, raw), ", "))
		}
	}
	return lines
}

// Chosen is a value of a property as a person reads it, one text for each element: the titles of what was chosen, else what was
// written.
func (s Schema) Chosen(name string, raw json.RawMessage) []string {
	i := slices.IndexFunc(s.Properties, func(p Property) bool { return p.Name == name })
	var all []string
	if json.Unmarshal(raw, &all) != nil {
		var one string
		if json.Unmarshal(raw, &one) != nil {
			one = string(raw)
		}
		all = []string{one}
	}
	for n, value := range all {
		if i < 0 {
			break
		}
		if c := slices.IndexFunc(s.Properties[i].Choices, func(c Choice) bool { return c.Value == value }); c >= 0 {
			all[n] = s.Properties[i].Choices[c].Title
		}
	}
	return all
}
