package kind

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"deskbell/backend/human"
	"deskbell/backend/kind/form"
)

// responseSchema is the field by which a request asks for its answer in a form.
var responseSchema = Field{Name: "response_schema", Type: Any, Doc: "the form of the answer you need: a flat JSON Schema as MCP's elicitation has it (texts, numbers, yes or no, choices, dates); the result then has response, valid by it"}

// maxRating is how far apart the ends of a rating may be.
const maxRating = 100

// Form is what an answer to an operation is filled in with: its response_schema, and of feedback first its options and its
// rating. False where the answer is in words alone. An error is Invalid and names the part of details at fault.
func Form(op human.Operation) (s form.Schema, is bool, err error) {
	if op.Kind == human.Feedback {
		if s, err = offered(op); err != nil {
			return s, false, err
		}
	}
	if raw := Value(op, responseSchema.Name); raw != nil && takesForm(op.Kind) {
		asked, err := form.Parse(raw)
		if err != nil {
			return s, false, err
		}
		own := s
		if s, is = own.Join(asked); !is {
			return s, false, human.BadField("details.response_schema", "has a property named choice or rating, which options and rating make too; use another name")
		}
	}
	return s, len(s.Properties) > 0, nil
}

func takesForm(name human.Kind) bool {
	k, _ := Of(name)
	return slices.Contains(k.Answer, "response")
}

// offered are the questions that the options and the rating of feedback stand for.
func offered(op human.Operation) (s form.Schema, err error) {
	choose := strings.ToLower(word(Value(op, "choose")))
	if choose != "" && !slices.Contains([]string{"one", "several", "rank"}, choose) {
		return s, human.BadField("details.choose", "%q is not one of one, several, rank", human.OneLine(choose, 80))
	}
	all, twice := choices(Value(op, "options"))
	switch {
	case choose != "" && (len(all) == 0 || twice || len(all) > 200 || choose == "rank" && len(all) < 2):
		return s, human.BadField("details.options", "must be a list of 1 to 200 texts, or objects with value and label, each value once; a ranking needs two")
	case len(all) > 0 && len(all) <= 200:
		p := form.Property{Name: "choice", Type: "string", Required: choose != "", Choices: all}
		if choose == "several" || choose == "rank" {
			least := 1
			if choose == "rank" {
				least = len(all)
			}
			p.Type, p.List = "array", form.List{MinItems: &least, Unique: true}
		}
		s.Properties = append(s.Properties, p)
	}
	raw := Value(op, "rating")
	if raw == nil {
		return s, nil
	}
	var scale struct{ Min, Max *float64 }
	if json.Unmarshal(raw, &scale) != nil || scale.Min == nil || scale.Max == nil || *scale.Min != math.Trunc(*scale.Min) || *scale.Max != math.Trunc(*scale.Max) ||
		math.Abs(*scale.Min) > maxRating || *scale.Max <= *scale.Min || *scale.Max-*scale.Min > maxRating {
		return s, human.BadField("details.rating", `must be an object with the ends of the scale, whole numbers at most %d apart, such as {"min": 1, "max": 5}`, maxRating)
	}
	p := form.Property{Name: "rating", Type: "integer", Required: true, Number: form.Number{Minimum: scale.Min, Maximum: scale.Max}}
	s.Properties = append(s.Properties, p)
	return s, nil
}

// choices reads options as the console does: texts, or objects with a value, label and description. twice says that a value
// stands there more than once; it is returned once.
func choices(raw json.RawMessage) (all []form.Choice, twice bool) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil, false
	}
	seen := map[string]bool{}
	for _, item := range list {
		label := word(item)
		c := form.Choice{Value: label, Title: label}
		var parts map[string]json.RawMessage
		if json.Unmarshal(item, &parts) == nil {
			for _, name := range []string{"value", "name", "title", "label"} {
				if text := word(parts[name]); text != "" {
					c.Title = text
				}
			}
			c.Value, c.Description = c.Title, word(parts["description"])
			if text := word(parts["value"]); text != "" {
				c.Value = text
			}
		}
		switch {
		case c.Title == "":
		case seen[c.Value]:
			twice = true
		default:
			seen[c.Value], all = true, append(all, c)
		}
	}
	return all, twice
}

// word is a text or a number as a text; "" for anything else.
func word(raw json.RawMessage) (text string) {
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var n float64
	if json.Unmarshal(raw, &n) == nil && string(raw) != "null" {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return ""
}

// Asks says what is wrong with what a request asks for: a form that no answer could be given with, or arguments that
// cannot be edited.
func Asks(r human.Request) error {
	op := human.Operation{Kind: r.Kind, Details: r.Details}
	if _, _, err := Form(op); err != nil {
		return err
	}
	if r.Kind != human.Approve {
		return nil
	}
	return op.CheckArguments()
}

// The kinds that take a form hold answers against it, before their own check.
func init() {
	for i, k := range All {
		if slices.Contains(k.Answer, "response") {
			All[i].Check = formed(k.Check)
		}
	}
}

// formed is a check that holds the response of an answer against the form of its operation first.
func formed(check func(human.Operation, *human.Answer) error) func(human.Operation, *human.Answer) error {
	return func(op human.Operation, a *human.Answer) error {
		if a.Decision == human.Refused { // whoever says no has nothing to fill in
			a.Response = nil
			return check(op, a)
		}
		s, is, err := Form(op)
		if err != nil || !is { // a request that came before there were forms has none that can be read
			if len(a.Response) > 0 {
				return human.BadField("response", "is given, and the request has no response_schema that it could be valid by")
			}
			return check(op, a)
		}
		fill(s, a)
		if err := s.Check(a.Response); err != nil {
			return err
		}
		if err := check(op, a); err != nil {
			return err
		}
		if Value(op, responseSchema.Name) != nil && len(a.Response) == 0 {
			a.Response = json.RawMessage("{}")
		}
		return nil
	}
}

// fill makes the response of a choice that was sent as a field, as clients did before there was a response, and the other way
// round; and says in words what was chosen, where nothing else was said.
func fill(s form.Schema, a *human.Answer) {
	i := slices.IndexFunc(s.Properties, func(p form.Property) bool { return p.Name == "choice" })
	if i >= 0 && len(a.Response) == 0 && s.Properties[i].Type == "string" {
		if value, is := a.Fields["choice"]; is && slices.ContainsFunc(s.Properties[i].Choices, func(c form.Choice) bool { return c.Value == value }) {
			a.Response, _ = json.Marshal(map[string]string{"choice": value})
		}
	}
	var given map[string]json.RawMessage
	var flat bytes.Buffer
	if json.Unmarshal(a.Response, &given) != nil || json.Compact(&flat, a.Response) != nil {
		return
	}
	a.Response = flat.Bytes()
	if i < 0 || given["choice"] == nil {
		return
	}
	if value := word(given["choice"]); value != "" && a.Fields["choice"] == "" {
		fields := maps.Clone(a.Fields)
		if fields == nil {
			fields = map[string]string{}
		}
		fields["choice"] = value
		a.Fields = fields
	}
	if a.HumanInput == "" {
		a.HumanInput = strings.Join(s.Chosen("choice", given["choice"]), ", ")
	}
}
