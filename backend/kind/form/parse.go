package form

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"deskbell/backend/human"
)

const where = "details.response_schema"

// Parse reads a schema. Its errors are Invalid, name the property at fault and say what to send instead.
func Parse(raw json.RawMessage) (Schema, error) {
	var s Schema
	if len(raw) > maxSchema {
		return s, human.BadField(where, "is %d bytes, the limit is %d; ask for less at once", len(raw), maxSchema)
	}
	all, order, err := object(raw)
	if err != nil {
		return s, human.BadField(where, `must be a JSON Schema of an object: {"type": "object", "properties": {…}}`)
	}
	var kind string
	var required []string
	var properties json.RawMessage
	for _, name := range order {
		var into any
		switch name {
		case "type":
			into = &kind
		case "title":
			into = &s.Title
		case "description":
			into = &s.Description
		case "properties":
			into = &properties
		case "required":
			into = &required
		case "additionalProperties", "$schema", "$id", "$comment":
			continue
		default:
			if !strings.HasPrefix(name, "x-") {
				return s, human.BadField(where, "%q is not supported; a form is flat: an object whose properties are texts, numbers, yes or no, and choices", human.OneLine(name, 80))
			}
			continue
		}
		if json.Unmarshal(all[name], into) != nil {
			return s, human.BadField(where+"."+name, "is not what JSON Schema has there")
		}
	}
	if kind != "object" {
		return s, human.BadField(where+".type", `must be "object"`)
	}
	if max(len(s.Title), len(s.Description)) > maxText {
		return s, human.BadField(where, "has a title or a description of more than %d bytes; put long text into description or details", maxText)
	}
	return s, s.properties(properties, required)
}

func (s *Schema) properties(raw json.RawMessage, required []string) error {
	all, order, err := object(raw)
	if err != nil || len(order) == 0 {
		return human.BadField(where+".properties", "has no property; each is one question")
	}
	if len(order) > maxProperties {
		return human.BadField(where+".properties", "has %d properties, the limit is %d; ask for less at once", len(order), maxProperties)
	}
	for _, name := range order {
		p, err := property(name, all[name])
		if err != nil {
			return err
		}
		p.Required = slices.Contains(required, name)
		s.Properties = append(s.Properties, p)
	}
	for _, name := range required {
		if _, is := all[name]; !is {
			return human.BadField(where+".required", "%q is not one of the properties", human.OneLine(name, 80))
		}
	}
	return nil
}

// formats are those a text may have.
var formats = []string{"email", "uri", "date", "date-time"}

// A wire is a property's keywords that are not kept as they are.
type wire struct {
	Pattern   string
	Enum      []string
	EnumNames []string
	OneOf     []option
	Items     json.RawMessage
	WriteOnly bool
}

type option struct {
	Const       string `json:"const"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Type        string `json:"type"`
}

// A keyword is one that properties of some types may have.
type keyword struct {
	types string // "" for all
	into  func(*Property, *wire) any
}

var keywords = map[string]keyword{
	"type":             {"", func(p *Property, _ *wire) any { return &p.Type }},
	"title":            {"", func(p *Property, _ *wire) any { return &p.Title }},
	"description":      {"", func(p *Property, _ *wire) any { return &p.Description }},
	"default":          {"", func(p *Property, _ *wire) any { return &p.Default }},
	"writeOnly":        {"", func(_ *Property, w *wire) any { return &w.WriteOnly }},
	"minLength":        {"string", func(p *Property, _ *wire) any { return &p.MinLength }},
	"maxLength":        {"string", func(p *Property, _ *wire) any { return &p.MaxLength }},
	"pattern":          {"string", func(_ *Property, w *wire) any { return &w.Pattern }},
	"format":           {"string", func(p *Property, _ *wire) any { return &p.Format }},
	"formatMinimum":    {"string", func(p *Property, _ *wire) any { return &p.FormatMinimum }},
	"formatMaximum":    {"string", func(p *Property, _ *wire) any { return &p.FormatMaximum }},
	"enum":             {"string", func(_ *Property, w *wire) any { return &w.Enum }},
	"enumNames":        {"string", func(_ *Property, w *wire) any { return &w.EnumNames }},
	"oneOf":            {"string", func(_ *Property, w *wire) any { return &w.OneOf }},
	"minimum":          {"number integer", func(p *Property, _ *wire) any { return &p.Minimum }},
	"maximum":          {"number integer", func(p *Property, _ *wire) any { return &p.Maximum }},
	"exclusiveMinimum": {"number integer", func(p *Property, _ *wire) any { return &p.ExclusiveMinimum }},
	"exclusiveMaximum": {"number integer", func(p *Property, _ *wire) any { return &p.ExclusiveMaximum }},
	"multipleOf":       {"number integer", func(p *Property, _ *wire) any { return &p.MultipleOf }},
	"items":            {"array", func(_ *Property, w *wire) any { return &w.Items }},
	"minItems":         {"array", func(p *Property, _ *wire) any { return &p.MinItems }},
	"maxItems":         {"array", func(p *Property, _ *wire) any { return &p.MaxItems }},
	"uniqueItems":      {"array", func(p *Property, _ *wire) any { return &p.Unique }},
}

func property(name string, raw json.RawMessage) (Property, error) {
	p := Property{Name: name}
	at := where + ".properties." + human.OneLine(name, 80)
	if name == "" || len(name) > maxName || strings.ContainsFunc(name, unicode.IsControl) {
		return p, human.BadField(where+".properties", "has a name that is empty, longer than %d bytes, or has control characters: %q", maxName, human.OneLine(name, 80))
	}
	all, order, err := object(raw)
	if err != nil {
		return p, human.BadField(at, "must be a JSON Schema: an object with a type")
	}
	_ = json.Unmarshal(all["type"], &p.Type) // what is no text is none of these
	if !slices.Contains([]string{"string", "number", "integer", "boolean", "array"}, p.Type) {
		return p, human.BadField(at+".type", "must be one of string, number, integer, boolean, array; a form has no objects in it, so send their parts as properties of their own")
	}
	var w wire
	for _, key := range order {
		known, is := keywords[key]
		switch {
		case !is && strings.HasPrefix(key, "x-"), slices.Contains([]string{"$comment", "examples", "readOnly"}, key):
			continue
		case !is || known.types != "" && !slices.Contains(strings.Fields(known.types), p.Type):
			return p, human.BadField(at, "%q is not supported for a property of type %s; leave it out", human.OneLine(key, 80), p.Type)
		}
		if string(all[key]) == "null" || json.Unmarshal(all[key], known.into(&p, &w)) != nil {
			return p, human.BadField(at+"."+key, "is not what JSON Schema has there")
		}
	}
	if max(len(p.Title), len(p.Description)) > maxText {
		return p, human.BadField(at, "has a title or a description of more than %d bytes; put long text into description or details", maxText)
	}
	if err := p.choices(w, at); err != nil {
		return p, err
	}
	if len(p.Choices) == 0 && p.Type != "boolean" && (w.WriteOnly || p.Format == "password" || asksForSecret(p.Name) || asksForSecret(p.Title)) {
		return p, human.BadField(at, "asks for a password, a key or another secret; answers are stored and read by models, so ask the human to put it where it is needed, or send a link with action_type browser")
	}
	if err := p.bounds(w, at); err != nil {
		return p, err
	}
	if p.Default != nil {
		if f := p.fault(p.Default); f != nil {
			return p, human.BadField(at+".default", "is not valid by its own property: %s", human.Inner{Err: f.Err})
		}
	}
	return p, nil
}

// choices reads what can be chosen.
func (p *Property) choices(w wire, at string) error {
	enum, names, options := w.Enum, w.EnumNames, w.OneOf
	if p.Type == "array" {
		var items struct {
			Type  string   `json:"type"`
			Enum  []string `json:"enum"`
			Names []string `json:"enumNames"`
			OneOf []option `json:"oneOf"`
			AnyOf []option `json:"anyOf"`
		}
		d := json.NewDecoder(bytes.NewReader(w.Items))
		d.DisallowUnknownFields()
		if d.Decode(&items) != nil || items.Type != "" && items.Type != "string" || len(items.Enum)+len(items.OneOf)+len(items.AnyOf) == 0 {
			return human.BadField(at+".items", "must be choices: a type string with enum, or with anyOf of const and title")
		}
		enum, names, options = items.Enum, items.Names, slices.Concat(items.AnyOf, items.OneOf)
	} else if w.Enum == nil && w.OneOf == nil {
		return nil
	}
	if len(enum) > 0 && len(options) > 0 || len(names) > 0 && len(names) != len(enum) {
		return human.BadField(at, "has choices in two ways, or not a name for each; send either enum or const with title")
	}
	for i, value := range enum {
		c := Choice{Value: value}
		if len(names) > 0 {
			c.Title = names[i]
		}
		p.Choices = append(p.Choices, c)
	}
	for _, o := range options {
		p.Choices = append(p.Choices, Choice{o.Const, o.Title, o.Description})
	}
	if n := len(p.Choices); n == 0 || n > maxChoices {
		return human.BadField(at, "has %d choices; there must be from 1 to %d", n, maxChoices)
	}
	seen := map[string]bool{}
	for i, c := range p.Choices {
		if c.Title == "" {
			p.Choices[i].Title = c.Value
		}
		if seen[c.Value] || c.Value == "" || len(c.Value) > maxText || max(len(c.Title), len(c.Description)) > maxText {
			return human.BadField(at, "has a choice that is empty, too long or there twice: %q", human.OneLine(c.Value, 80))
		}
		seen[c.Value] = true
	}
	return nil
}

// bounds reads what values must be like, and says where no value could be.
func (p *Property) bounds(w wire, at string) error {
	if p.Format != "" && !slices.Contains(formats, p.Format) {
		return human.BadField(at+".format", "%q is not supported; there are %s", human.OneLine(p.Format, 80), strings.Join(formats, ", "))
	}
	if len(p.Choices) > 0 && p.Type == "string" && (p.Format != "" || w.Pattern != "" || p.MinLength != nil || p.MaxLength != nil) {
		return human.BadField(at, "has choices, so it takes neither format, pattern nor length")
	}
	if w.Pattern != "" {
		var err error
		if len(w.Pattern) > maxPattern {
			return human.BadField(at+".pattern", "is %d bytes, the limit is %d", len(w.Pattern), maxPattern)
		}
		// RE2 takes time in proportion to the text, whatever the pattern.
		if p.Pattern, err = regexp.Compile(w.Pattern); err != nil {
			return human.BadField(at+".pattern", "is no regular expression in RE2's syntax, which has no lookaround and no backreferences")
		}
	}
	for _, bound := range []string{p.FormatMinimum, p.FormatMaximum} {
		if _, is := instant(p.Format, bound); bound != "" && !is {
			return human.BadField(at, "formatMinimum and formatMaximum must be of the property's format, date or date-time")
		}
	}
	first, _ := instant(p.Format, p.FormatMinimum)
	last, _ := instant(p.Format, p.FormatMaximum)
	low := math.Max(number(p.Minimum, math.Inf(-1)), number(p.ExclusiveMinimum, math.Inf(-1)))
	high := math.Min(number(p.Maximum, math.Inf(1)), number(p.ExclusiveMaximum, math.Inf(1)))
	most := length(p.MaxItems, len(p.Choices))
	switch {
	case length(p.MinLength, 0) < 0, length(p.MinLength, 0) > length(p.MaxLength, maxValue), length(p.MaxLength, 0) > maxValue,
		low > high, number(p.MultipleOf, 1) <= 0,
		length(p.MinItems, 0) < 0, most < 0, length(p.MinItems, 0) > most, p.Type == "array" && length(p.MinItems, 0) > len(p.Choices),
		p.FormatMinimum != "" && p.FormatMaximum != "" && first.After(last):
		return human.BadField(at, "has limits that no value can meet, or that allow more than %d characters", maxValue)
	}
	if p.Type == "array" { // a choice is made or not
		p.Unique = true
	}
	return nil
}

func number(n *float64, otherwise float64) float64 {
	if n == nil {
		return otherwise
	}
	return *n
}

func length(n *int, otherwise int) int {
	if n == nil {
		return otherwise
	}
	return *n
}

// secrets are words that stand for something no form may ask for, where they stand alone.
var secrets = []string{"password", "passwords", "passwd", "pwd", "passphrase", "passcode", "secret", "secrets", "credential", "credentials", "token", "apikey", "otp", "cvv", "cvc", "pin"}

// asksForSecret says whether a name or a title asks for a password, a key or another secret.
func asksForSecret(text string) bool {
	var words []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			words, word = append(words, strings.ToLower(string(word))), nil
		}
	}
	var before rune
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) || unicode.IsUpper(r) && unicode.IsLower(before) {
			end()
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			word = append(word, r)
		}
		before = r
	}
	end()
	for i, w := range words {
		if slices.Contains(secrets, w) || i > 0 && w == "key" && slices.Contains([]string{"api", "access", "private", "secret", "recovery", "license", "encryption", "ssh"}, words[i-1]) {
			return true
		}
	}
	for _, part := range []string{"密码", "口令", "密钥", "令牌", "验证码", "助记词"} {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// object reads a JSON object: its members, and their names in order. A name twice is an error.
func object(raw json.RawMessage) (all map[string]json.RawMessage, order []string, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	first, err := d.Token()
	if err != nil || first != json.Delim('{') || !utf8.Valid(raw) {
		return nil, nil, human.Errorf(human.Invalid, "must be a JSON object")
	}
	all = map[string]json.RawMessage{}
	for d.More() {
		token, err := d.Token()
		name, is := token.(string)
		if err != nil || !is {
			return nil, nil, human.Errorf(human.Invalid, "must be a JSON object")
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, nil, human.Errorf(human.Invalid, "must be a JSON object")
		}
		if _, twice := all[name]; twice {
			return nil, nil, human.Errorf(human.Invalid, "%q stands there twice", human.OneLine(name, 80))
		}
		all[name], order = value, append(order, name)
	}
	if _, err := d.Token(); err != nil || d.More() {
		return nil, nil, human.Errorf(human.Invalid, "must be a JSON object")
	}
	return all, order, nil
}
