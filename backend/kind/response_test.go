package kind_test

import (
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"slices"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/kind"
)

func operation(k human.Kind, details string) human.Operation {
	return human.Operation{ID: "op_1", Kind: k, Details: json.RawMessage(details)}
}

// The console reads the same file, in frontend/src/lib/form.test.ts.
func TestOptionsAndARatingStandForQuestions(t *testing.T) {
	text, err := os.ReadFile("testdata/offered.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Details   json.RawMessage
		Questions map[string]any
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for _, tt := range all {
		s, _, err := kind.Form(operation(human.Feedback, string(tt.Details)))
		if err != nil {
			t.Errorf("%s: %v", tt.Details, err)
		}
		got := map[string]any{}
		for _, p := range s.Properties {
			q := map[string]any{"type": p.Type, "required": p.Required, "ranking": p.Ranking()}
			var choices []any
			for _, c := range p.Choices {
				choices = append(choices, []any{c.Value, c.Title, c.Description})
			}
			if choices != nil {
				q["choices"] = choices
			}
			if p.MinItems != nil {
				q["minItems"] = float64(*p.MinItems)
			}
			if p.Minimum != nil {
				q["minimum"], q["maximum"] = *p.Minimum, *p.Maximum
			}
			got[p.Name] = q
		}
		if !reflect.DeepEqual(got, tt.Questions) {
			t.Errorf("%s: %v, want %v", tt.Details, got, tt.Questions)
		}
	}
}

func TestWhatCannotBeAsked(t *testing.T) {
	schema := `{"type":"object","properties":{"choice":{"type":"boolean"}}}`
	for name, tt := range map[string]struct {
		kind           human.Kind
		details, field string
	}{
		"another way to choose":     {human.Feedback, `{"options":["a"],"choose":"all"}`, "details.choose"},
		"nothing to choose from":    {human.Feedback, `{"choose":"one"}`, "details.options"},
		"a choice twice":            {human.Feedback, `{"options":["a","a"],"choose":"one"}`, "details.options"},
		"a ranking of one":          {human.Feedback, `{"options":["a"],"choose":"rank"}`, "details.options"},
		"a scale without an end":    {human.Feedback, `{"rating":{"min":1}}`, "details.rating"},
		"a scale upside down":       {human.Feedback, `{"rating":{"min":5,"max":1}}`, "details.rating"},
		"a scale of a thousand":     {human.Feedback, `{"rating":{"min":0,"max":1000}}`, "details.rating"},
		"a name twice":              {human.Feedback, `{"options":["a"],"response_schema":` + schema + `}`, "details.response_schema"},
		"no schema":                 {human.Bash, `{"response_schema":1}`, "details.response_schema"},
		"fixed, and not there":      {human.Approve, `{"action":"x","arguments":{"a":1},"fixed":["b"]}`, "details.fixed"},
		"fixed, and no list":        {human.Approve, `{"action":"x","arguments":{"a":1},"fixed":"a"}`, "details.fixed"},
		"a password in an approval": {human.Approve, `{"action":"x","response_schema":{"type":"object","properties":{"password":{"type":"string"}}}}`, "details.response_schema.properties.password"},
	} {
		var e *human.Error
		if err := kind.Asks(operation(tt.kind, tt.details).Request()); !errors.As(err, &e) || e.Kind != human.Invalid || e.Field != tt.field {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnswersAreHeldAgainstTheirForm(t *testing.T) {
	const schema = `{"response_schema":{"type":"object","properties":{"n":{"type":"integer"},"note":{"type":"string"}},"required":["n"]}}`
	const optional = `{"response_schema":{"type":"object","properties":{"note":{"type":"string"}}}}`
	for name, tt := range map[string]struct {
		kind    human.Kind
		details string
		answer  human.Answer
		field   string // of the error
		want    string // of the response
	}{
		"valid":                             {human.Bash, schema, respond(`{ "n": 1 }`), "", `{"n":1}`},
		"invalid":                           {human.Bash, schema, respond(`{"n":"x"}`), "response.n", ""},
		"in words alone":                    {human.Bash, schema, human.Answer{HumanInput: "done"}, "response.n", ""},
		"nothing required":                  {human.Review, optional, human.Answer{HumanInput: "fine"}, "", `{}`},
		"nothing at all":                    {human.Review, optional, human.Answer{}, "human_input", ""},
		"where none is asked for":           {human.Desktop, `{}`, respond(`{"n":1}`), "response", ""},
		"an approval":                       {human.Approve, schema, human.Answer{Decision: human.Approved}, "response.n", ""},
		"a denial needs nothing":            {human.Approve, schema, human.Answer{Decision: human.Refused}, "", ""},
		"a denial carries nothing":          {human.Approve, schema, human.Answer{Decision: human.Refused, WorkAnswer: respond(`{"n":"x"}`).WorkAnswer}, "", ""},
		"one choice, as a field":            {human.Feedback, `{"options":["a","b"],"choose":"one"}`, human.Answer{Fields: map[string]string{"choice": "a"}}, "", `{"choice":"a"}`},
		"options, and words":                {human.Feedback, `{"options":["a","b"]}`, human.Answer{HumanInput: "neither"}, "", ""},
		"a choice that must be made":        {human.Feedback, `{"options":["a","b"],"choose":"one"}`, human.Answer{HumanInput: "neither"}, "response.choice", ""},
		"half a ranking":                    {human.Feedback, `{"options":["a","b"],"choose":"rank"}`, respond(`{"choice":["b"]}`), "response.choice", ""},
		"a rating off the scale":            {human.Feedback, `{"rating":{"min":1,"max":5}}`, respond(`{"rating":6}`), "response.rating", ""},
		"a response to words from long ago": {human.Bash, `{"response_schema":"as you like"}`, human.Answer{HumanInput: "done"}, "", ""},
	} {
		k, _ := kind.Of(tt.kind)
		a := tt.answer
		err := k.Check(operation(tt.kind, tt.details), &a)
		var e *human.Error
		errors.As(err, &e)
		switch {
		case tt.field != "" && (e == nil || e.Field != tt.field), tt.field == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case err == nil && string(a.Response) != tt.want:
			t.Errorf("%s: %s, want %s", name, a.Response, tt.want)
		}
		if tt.answer.Fields != nil && len(tt.answer.Fields) != 1 {
			t.Errorf("%s: the caller's answer changed", name)
		}
	}
}

func respond(response string) human.Answer {
	return human.Answer{WorkAnswer: human.WorkAnswer{Response: json.RawMessage(response)}}
}

func TestAChoiceIsSaidInWordsToo(t *testing.T) {
	k, _ := kind.Of(human.Feedback)
	op := operation(human.Feedback, `{"options":[{"value":"b","label":"Blue"},{"value":"g","label":"Green"}],"choose":"several"}`)
	a := respond(`{"choice":["g","b"]}`)
	if err := k.Check(op, &a); err != nil || a.HumanInput != "Green, Blue" {
		t.Errorf("%q %v", a.HumanInput, err)
	}
	op.Details = json.RawMessage(`{"options":[{"value":"b","label":"Blue"}]}`)
	a = respond(`{"choice":"b"}`)
	if err := k.Check(op, &a); err != nil || a.HumanInput != "Blue" || a.Fields["choice"] != "b" {
		t.Errorf("%q %v %v", a.HumanInput, a.Fields, err)
	}
	a = respond(`{"choice":"b"}`)
	a.HumanInput = "because"
	if err := k.Check(op, &a); err != nil || a.HumanInput != "because" {
		t.Errorf("%q %v", a.HumanInput, err)
	}
}

// Every kind that an agent can ask for takes a form, in the same words.
func TestEveryKindForAgentsTakesAForm(t *testing.T) {
	for _, k := range kind.All {
		has := slices.ContainsFunc(k.Fields, func(f kind.Field) bool { return f.Name == "response_schema" })
		if has != k.Agents || slices.Contains(k.Answer, "response") != k.Agents {
			t.Errorf("%s: a form %v", k.Name, has)
		}
	}
}

func TestAnApprovalHoldsForTheArgumentsItWasGivenFor(t *testing.T) {
	k, _ := kind.Of(human.Approve)
	details := `{"action":"schedule","arguments":{"cluster":"eu", "minutes":4.50e1,"big":12345678901234567890, "notify":["a"], "ticket":"OPS-1"},"fixed":["ticket"]}`
	op := operation(human.Approve, details)
	op.Digest = op.Request().Digest()
	for name, tt := range map[string]struct{ args, want, field string }{
		"one argument":      {`{"minutes":20}`, `{"cluster":"eu","minutes":20,"big":12345678901234567890,"notify":["a"],"ticket":"OPS-1"}`, ""},
		"all of them":       {`{"ticket":"OPS-1","cluster":"eu","minutes":20,"big":12345678901234567890,"notify":["a"]}`, `{"cluster":"eu","minutes":20,"big":12345678901234567890,"notify":["a"],"ticket":"OPS-1"}`, ""},
		"as it was sent":    {`{"cluster":"\u0065u","notify":[ "a" ]}`, ``, ""},
		"none":              {`{}`, ``, ""},
		"one that is fixed": {`{"ticket":"OPS-2"}`, ``, "args"},
		"one there is not":  {`{"force":true}`, ``, "args"},
		"no object":         {`[]`, ``, "args"},
	} {
		a := human.Answer{Decision: human.Approved}
		a.Args = json.RawMessage(tt.args)
		err := k.Check(op, &a)
		var e *human.Error
		errors.As(err, &e)
		if tt.field == "" && err != nil || tt.field != "" && (e == nil || e.Field != tt.field) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && string(a.Args) != tt.want {
			t.Errorf("%s: %s", name, a.Args)
		}
		if err == nil && (op.AnswerDigest(a) == op.Digest) != (tt.want == "") {
			t.Errorf("%s: the digest is %s", name, op.AnswerDigest(a))
		}
	}
	a := human.Answer{Decision: human.Refused}
	a.Args = json.RawMessage(`{"force":true}`)
	if err := k.Check(op, &a); err != nil || a.Args != nil {
		t.Errorf("a denial runs %s: %v", a.Args, err)
	}
	other := operation(human.Approve, `{"action":"schedule","arguments":{"cluster":"us"}}`).Request()
	if other.Digest() == op.Digest || operation(human.Approve, `{"action":"schedule"}`).Request().Digest() == op.Digest {
		t.Error("the digest does not hold the arguments")
	}
	// An edit and a request of the same bytes are the same call.
	a = human.Answer{Decision: human.Approved}
	a.Args = json.RawMessage(`{"cluster":"us"}`)
	op = operation(human.Approve, `{"action":"schedule","arguments":{"cluster": "eu"}}`)
	if err := k.Check(op, &a); err != nil || op.AnswerDigest(a) != other.Digest() {
		t.Errorf("%v", err)
	}
}
