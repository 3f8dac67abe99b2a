package form_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"deskbell/backend/human"
	"deskbell/backend/kind/form"
)

var update = flag.Bool("update", false, "write testdata/cases.json again")

// A conformance case is a schema and values of its form, with what is wrong with each. The console runs the same in
// frontend/src/lib/form.test.ts.
type conformance struct {
	Schema json.RawMessage `json:"schema"`
	Values []value         `json:"values"`
}

type value struct {
	Response json.RawMessage `json:"response"`
	Faults   []string        `json:"faults"`
}

func faultsOf(t testing.TB, s form.Schema, response json.RawMessage) []string {
	t.Helper()
	all := []string{}
	for _, f := range s.Faults(response) {
		var e *human.Error
		if !errors.As(f.Err, &e) || e.Kind != human.Invalid || e.Field != "response."+f.Property {
			t.Errorf("%s says nothing of its property: %v", f.Property, f.Err)
		}
		all = append(all, f.Property+" "+f.Code)
	}
	return all
}

func read(t testing.TB, file string) (all []conformance) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestValues(t *testing.T) {
	for _, file := range []string{"testdata/hard.json", "testdata/cases.json"} {
		valid := 0
		for _, c := range read(t, file) {
			s, err := form.Parse(c.Schema)
			if err != nil {
				t.Errorf("%s: %v", c.Schema, err)
				continue
			}
			for _, v := range c.Values {
				if got := faultsOf(t, s, v.Response); !slices.Equal(got, v.Faults) {
					t.Errorf("%s of %s: %q, want %q", v.Response, c.Schema, got, v.Faults)
				}
				if len(v.Faults) == 0 {
					valid++
				}
			}
		}
		if valid == 0 {
			t.Errorf("%s has no valid value", file)
		}
	}
}

// A validator of others says the same, of all that JSON Schema itself has.
func TestAnotherValidatorAgrees(t *testing.T) {
	ours := func(fault string) bool {
		return strings.HasSuffix(fault, " format") || strings.HasSuffix(fault, " formatMinimum") || strings.HasSuffix(fault, " formatMaximum") || strings.HasSuffix(fault, " unknown")
	}
	compared := 0
	for _, file := range []string{"testdata/hard.json", "testdata/cases.json"} {
		for _, c := range read(t, file) {
			var s jsonschema.Schema
			if err := json.Unmarshal(c.Schema, &s); err != nil {
				t.Fatal(err)
			}
			for _, p := range s.Properties {
				if p.Type == "array" {
					p.UniqueItems = true // of choices each is made or not
				}
			}
			other, err := s.Resolve(nil)
			if err != nil {
				t.Fatalf("%s: %v", c.Schema, err)
			}
			for _, v := range c.Values {
				// Decimals, and integers that a program in JavaScript cannot hold, are our own matter.
				if slices.ContainsFunc(v.Faults, ours) || bytes.Contains(v.Response, []byte("9007199254740993")) || bytes.Contains(c.Schema, []byte(`"multipleOf":0.`)) || bytes.Contains(c.Schema, []byte(`"multipleOf": 0.`)) {
					continue
				}
				var any any
				if err := json.Unmarshal(v.Response, &any); err != nil {
					t.Fatal(err)
				}
				compared++
				if err := other.Validate(any); (err == nil) != (len(v.Faults) == 0) {
					t.Errorf("%s of %s: the other says %v, the case %q", v.Response, c.Schema, err, v.Faults)
				}
			}
		}
	}
	if compared < 500 {
		t.Errorf("only %d values were compared", compared)
	}
}

// The cases are made from a seed: schemas of each type, and values at their bounds.
func TestCasesAreThoseOfTheirSeed(t *testing.T) {
	r := rand.New(rand.NewPCG(20261126, 1))
	var all []conformance
	for range 160 {
		all = append(all, randomCase(t, r))
	}
	var text bytes.Buffer
	text.WriteString("[\n")
	for i, c := range all {
		line, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(line)
		if i < len(all)-1 {
			text.WriteByte(',')
		}
		text.WriteByte('\n')
	}
	text.WriteString("]\n")
	if *update {
		if err := os.WriteFile("testdata/cases.json", text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if old, err := os.ReadFile("testdata/cases.json"); err != nil || !bytes.Equal(old, text.Bytes()) {
		t.Errorf("testdata/cases.json is stale (%v); run this test with -update", err)
	}
}

func randomCase(t *testing.T, r *rand.Rand) conformance {
	properties, values := map[string]any{}, map[string][]any{}
	var required []string
	for i := range 1 + r.IntN(4) {
		name := fmt.Sprintf("p%d", i)
		properties[name], values[name] = randomProperty(r)
		if r.IntN(2) == 0 {
			required = append(required, name)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	raw, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	s, err := form.Parse(raw)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	c := conformance{Schema: raw}
	for range 6 {
		response := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			if all := values[name]; r.IntN(6) > 0 {
				response[name] = all[r.IntN(len(all))]
			}
		}
		if r.IntN(12) == 0 {
			response["other"] = "x"
		}
		raw, err := json.Marshal(response)
		if err != nil {
			t.Fatal(err)
		}
		c.Values = append(c.Values, value{raw, faultsOf(t, s, raw)})
	}
	return c
}

// randomProperty is a property, and values some of which are valid.
func randomProperty(r *rand.Rand) (p map[string]any, values []any) {
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	odd := []any{"", "x", 0, 1.5, true, nil, []any{}, []any{"x"}, map[string]any{}}
	switch r.IntN(6) {
	case 0:
		least, most := r.IntN(3), 3+r.IntN(4)
		p = map[string]any{"type": "string", "minLength": least, "maxLength": most}
		for n := range most + 2 {
			values = append(values, strings.Repeat(pick("a", "é", "漢", "🙂"), n))
		}
	case 1:
		low := r.IntN(20) - 10
		p = map[string]any{"type": pick("number", "integer"), pick("minimum", "exclusiveMinimum"): low, pick("maximum", "exclusiveMaximum"): low + 5}
		if r.IntN(3) == 0 {
			p["multipleOf"] = 1 + r.IntN(3)
		}
		for n := -1; n < 7; n++ {
			values = append(values, low+n, float64(low+n)+0.5)
		}
	case 2:
		all := []string{"a", "b", "c", "d"}[:2+r.IntN(3)]
		options := []any{}
		for _, one := range all {
			options = append(options, map[string]any{"const": one, "title": strings.ToUpper(one)})
		}
		p = map[string]any{"type": "string", "oneOf": options}
		values = []any{"a", "b", "c", "d", "A", 1}
	case 3:
		least := r.IntN(3)
		p = map[string]any{"type": "array", "minItems": least, "uniqueItems": true, "items": map[string]any{"type": "string", "enum": []string{"a", "b", "c"}}}
		if r.IntN(2) == 0 {
			p["maxItems"] = max(least, 2)
		}
		values = []any{[]any{}, []any{"a"}, []any{"c", "a"}, []any{"a", "b", "c"}, []any{"a", "a"}, []any{"d"}, []any{1}}
	case 4:
		p = map[string]any{"type": "string", "pattern": pick("^[a-c]+$", "b", `^\d{2,3}$`, "^(?:ab|c)*$", "^[^x]$", `\bfoo\b`)}
		values = []any{"abc", "b", "12", "1234", "abab", "c", "é", "foo bar", "x"}
	default:
		p = map[string]any{"type": "boolean"}
		values = []any{true, false, "true", 0}
	}
	return p, append(values, odd[r.IntN(len(odd))])
}

func TestSchemasThatNoFormIsMadeOf(t *testing.T) {
	property := func(schema string) string { return `{"type":"object","properties":{"it":` + schema + `}}` }
	many := make([]string, 5000)
	for i := range many {
		many[i] = fmt.Sprintf(`"p%d":{"type":"boolean"}`, i)
	}
	for name, tt := range map[string]struct{ schema, field string }{
		"not an object":         {`[]`, ""},
		"a list":                {`{"type":"array"}`, ".type"},
		"no properties":         {`{"type":"object"}`, ".properties"},
		"a bomb":                {`{"type":"object","properties":{` + strings.Join(many[:900], ",") + `}}`, ".properties"},
		"a larger bomb":         {`{"type":"object","properties":{` + strings.Join(many, ",") + `}}`, ""},
		"a reference":           {property(`{"$ref":"#/x"}`), ".properties.it.type"},
		"a reference besides":   {property(`{"type":"string","$ref":"#/x"}`), ".properties.it"},
		"an object in it":       {property(`{"type":"object","properties":{}}`), ".properties.it.type"},
		"two types":             {property(`{"type":["string","null"]}`), ".properties.it.type"},
		"conditions":            {`{"type":"object","properties":{"a":{"type":"boolean"}},"if":{}}`, ""},
		"a password by format":  {property(`{"type":"string","format":"password"}`), ".properties.it"},
		"a password by title":   {property(`{"type":"string","title":"Your database Password"}`), ".properties.it"},
		"a password in Chinese": {property(`{"type":"string","title":"数据库密码"}`), ".properties.it"},
		"a key":                 {`{"type":"object","properties":{"openaiApiKey":{"type":"string"}}}`, ".properties.openaiApiKey"},
		"a token":               {`{"type":"object","properties":{"github_token":{"type":"string"}}}`, ".properties.github_token"},
		"a code":                {property(`{"type":"integer","title":"PIN"}`), ".properties.it"},
		"write only":            {property(`{"type":"string","writeOnly":true}`), ".properties.it"},
		"lookahead":             {property(`{"type":"string","pattern":"(?=a)b"}`), ".properties.it.pattern"},
		"a backreference":       {property(`{"type":"string","pattern":"(a)\\1"}`), ".properties.it.pattern"},
		"a huge pattern":        {property(`{"type":"string","pattern":"((a{1000}){1000}){1000}"}`), ".properties.it.pattern"},
		"limits crossed":        {property(`{"type":"string","minLength":3,"maxLength":2}`), ".properties.it"},
		"numbers crossed":       {property(`{"type":"number","minimum":3,"maximum":2}`), ".properties.it"},
		"dates crossed":         {property(`{"type":"string","format":"date","formatMinimum":"2026-02-01","formatMaximum":"2026-01-01"}`), ".properties.it"},
		"no date":               {property(`{"type":"string","format":"date","formatMinimum":"soon"}`), ".properties.it"},
		"another format":        {property(`{"type":"string","format":"ipv4"}`), ".properties.it.format"},
		"a choice twice":        {property(`{"type":"string","enum":["a","a"]}`), ".properties.it"},
		"no choice":             {property(`{"type":"string","enum":[]}`), ".properties.it"},
		"choices of numbers":    {property(`{"type":"string","enum":[1]}`), ".properties.it.enum"},
		"more than there are":   {property(`{"type":"array","minItems":3,"items":{"enum":["a","b"]}}`), ".properties.it"},
		"a list of texts":       {property(`{"type":"array","items":{"type":"string"}}`), ".properties.it.items"},
		"a wrong default":       {property(`{"type":"integer","default":"x"}`), ".properties.it.default"},
		"a keyword of another":  {property(`{"type":"boolean","minimum":1}`), ".properties.it"},
		"required, not there":   {`{"type":"object","properties":{"a":{"type":"boolean"}},"required":["b"]}`, ".required"},
		"a name with a line":    {`{"type":"object","properties":{"a\nb":{"type":"boolean"}}}`, ".properties"},
		"a long title":          {property(`{"type":"boolean","title":"` + strings.Repeat("x", 3000) + `"}`), ".properties.it"},
	} {
		_, err := form.Parse(json.RawMessage(tt.schema))
		var e *human.Error
		if !errors.As(err, &e) || e.Kind != human.Invalid || e.Field != "details.response_schema"+tt.field {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatIsNoSecretMayBeAsked(t *testing.T) {
	for _, p := range []string{
		`"rotate_secret":{"type":"boolean"}`, `"which_token":{"type":"string","enum":["old","new"]}`, `"max_tokens":{"type":"integer"}`,
		`"key":{"type":"string","title":"Key of the map"}`, `"pinned":{"type":"string"}`, `"secretary":{"type":"string"}`, `"x":{"type":"string","description":"Never a password."}`,
	} {
		if _, err := form.Parse(json.RawMessage(`{"type":"object","properties":{` + p + `}}`)); err != nil {
			t.Errorf("%s: %v", p, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{`{"type":"object","properties":{"a":{"type":"string","default":"x","pattern":"a|b"}}}`, `{"type":"object","properties":{"a":{"type":"array","items":{"enum":["x"]}}}}`, `{`, `null`} {
		f.Add([]byte(text), []byte(`{"a":"x"}`))
	}
	f.Fuzz(func(t *testing.T, schema, response []byte) {
		s, err := form.Parse(schema)
		if err != nil {
			if human.KindOf(err) != human.Invalid {
				t.Error(err)
			}
			return
		}
		s.Faults(response)
		s.Words(response)
	})
}
