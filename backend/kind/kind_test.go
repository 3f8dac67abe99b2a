package kind_test

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/kind"
)

func TestEveryKindIsComplete(t *testing.T) {
	word := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	var answer []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[human.Answer]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		answer = append(answer, name)
	}
	for _, k := range kind.All {
		if found, is := kind.Of(k.Name); !is || found.Name != k.Name {
			t.Errorf("%s is not found by its name", k.Name)
		}
		if k.Doc == "" || k.Check == nil || len(k.Fields) == 0 || len(k.Answer) == 0 {
			t.Errorf("%s lacks a part", k.Name)
		}
		seen := map[string]string{}
		for _, f := range k.Fields {
			if f.Doc == "" || f.Type == "" {
				t.Errorf("%s.%s has no documentation or no type", k.Name, f.Name)
			}
			for _, name := range append([]string{f.Name}, f.Aliases...) {
				if !word.MatchString(name) {
					t.Errorf("%s.%s is read as %q, which is no name of a field", k.Name, f.Name, name)
				}
				if seen[name] != "" {
					t.Errorf("%s: %q stands for both %s and %s", k.Name, name, seen[name], f.Name)
				}
				seen[name] = f.Name
			}
		}
		for _, name := range k.Answer {
			if !slices.Contains(answer, name) {
				t.Errorf("%s: an answer has no %q", k.Name, name)
			}
		}
	}
}

func TestFieldsAreReadUnderAnyOfTheirNames(t *testing.T) {
	for name, tt := range map[string]struct {
		kind    human.Kind
		details string
		field   string
		want    string
	}{
		"its own name":                            {human.Browser, `{"requires_human":"a passkey"}`, "requires_human", `"a passkey"`},
		"another name":                            {human.Browser, `{"why_human":"a passkey"}`, "requires_human", `"a passkey"`},
		"its own name comes first":                {human.Review, `{"snippet":"b","code_snippet":"a"}`, "code_snippet", `"a"`},
		"an empty one is passed over":             {human.Review, `{"code_snippet":"","snippet":"b"}`, "code_snippet", `"b"`},
		"null is passed over":                     {human.Bash, `{"why_agent_cant":null,"why_agent_cannot":"no key"}`, "why_agent_cant", `"no key"`},
		"of two others the first in the list":     {human.Bash, `{"cmd":"b","commands":"a"}`, "command", `"a"`},
		"of one name twice the last":              {human.Bash, `{"cmd":"b","cmd":"a"}`, "command", `"a"`},
		"names are compared exactly":              {human.Bash, `{"Command":"ls"}`, "command", ``},
		"an alias of another kind does not count": {human.Feedback, `{"snippet":"x"}`, "design", ``},
		"a field of another kind does not count":  {human.Feedback, `{"url":"x"}`, "url", ``},
		"details that are no object":              {human.Bash, `[1]`, "command", ``},
	} {
		t.Run(name, func(t *testing.T) {
			op := human.Operation{Kind: tt.kind, Details: json.RawMessage(tt.details)}
			if got := string(kind.Value(op, tt.field)); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestStepsAreLines(t *testing.T) {
	for details, want := range map[string][]string{
		`{"action_sequence":["Open","Save"]}`:                   {"Open", "Save"},
		`{"steps":[{"description":"Open"},{"title":"Save"},3]}`: {"Open", "Save", "3"},
		`{"steps":[{"click":1}]}`:                               {`{"click":1}`},
		`{"steps":"Open and save"}`:                             {"Open and save"},
		`{}`:                                                    nil,
		`{"steps":4}`:                                           nil,
	} {
		if got := kind.Steps(human.Operation{Kind: human.Desktop, Details: json.RawMessage(details)}); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", details, got, want)
		}
	}
}
