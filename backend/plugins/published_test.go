package plugins

import (
	"encoding/json"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"deskbell/backend/human"
	"deskbell/summarizers/summarizertest"
)

// Another library than the one they are made with reads the schemas as JSON Schema means them.
func published(t *testing.T, name string) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(Schema(name), &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func asJSON(t *testing.T, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var back any
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	return back
}

func TestOthersReadTheSchemas(t *testing.T) {
	input, report := published(t, "input"), published(t, "report")
	for _, c := range summarizertest.Inputs("en") {
		if err := input.Validate(asJSON(t, c.Input)); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
	if err := input.Validate(map[string]any{"version": "1"}); err == nil {
		t.Error("any input is valid")
	}
	good := human.Report{Line: "x", Findings: []human.Finding{{Kind: human.FoundNote, Text: "y", Evidence: []human.Ref{{Kind: human.RefField, ID: "z"}}}}, Suggestions: []human.Finding{}}
	if err := report.Validate(asJSON(t, good)); err != nil {
		t.Error(err)
	}
	good.Findings[0].Kind = "hunch"
	if err := report.Validate(asJSON(t, good)); err == nil {
		t.Error("any report is valid")
	}
}
