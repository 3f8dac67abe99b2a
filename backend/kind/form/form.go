// Package form is the flat JSON Schema that a request may ask for its answer with (details.response_schema): what MCP's
// elicitation allows, and choices in an order and bounds of dates. It reads a schema, says what is wrong with it, and holds
// the values of an answer against it. The console does the same in frontend/src/lib/form.ts; both are held to one list of
// cases, testdata/cases.json.
package form

import (
	"encoding/json"
	"regexp"
	"slices"
)

// Bounds of a schema. A form is for a person to fill in.
const (
	maxSchema     = 64 << 10 // bytes
	maxProperties = 50
	maxChoices    = 200
	maxPattern    = 500    // bytes
	maxText       = 2000   // bytes of a title or a description
	maxName       = 120    // bytes
	maxValue      = 20_000 // characters of a text, where the schema has no limit
)

// A Schema is a form: questions in the order they were sent.
type Schema struct {
	Title, Description string
	Properties         []Property
}

// A Property is one question.
type Property struct {
	Name, Title, Description string

	Type     string // string, number, integer, boolean or array
	Required bool
	Default  json.RawMessage // valid by the rest; nil for none
	Text
	Number
	Choices []Choice // of a string, or of the elements of an array
	List
}

// Text is what bounds a string without choices.
type Text struct {
	MinLength, MaxLength         *int   // in characters
	Format                       string // email, uri, date or date-time; "" for any
	Pattern                      *regexp.Regexp
	FormatMinimum, FormatMaximum string // of a date or a date-time
}

// Number is what bounds a number.
type Number struct {
	Minimum, Maximum, ExclusiveMinimum, ExclusiveMaximum, MultipleOf *float64
}

// List is what bounds an array, whose elements are some of Choices.
type List struct {
	MinItems, MaxItems *int
	Unique             bool
}

// A Choice is one that can be chosen.
type Choice struct {
	Value, Title, Description string
}

// Ranking says whether an array can only differ by its order: it has each choice once.
func (p Property) Ranking() bool {
	return p.Type == "array" && p.Unique && p.MinItems != nil && *p.MinItems == len(p.Choices) && len(p.Choices) > 1
}

// Label is what the question is called: its title, else its name.
func (p Property) Label() string {
	if p.Title != "" {
		return p.Title
	}
	return p.Name
}

// Join is a schema with the questions of another after its own; false where one has the name of one of its own.
func (s Schema) Join(o Schema) (Schema, bool) {
	for _, p := range o.Properties {
		if slices.ContainsFunc(s.Properties, func(q Property) bool { return q.Name == p.Name }) {
			return s, false
		}
	}
	joined := o
	joined.Properties = slices.Concat(s.Properties, o.Properties)
	return joined, true
}
