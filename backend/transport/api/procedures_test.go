package api

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"testing"

	"deskbell/backend/procedure"
)

var update = flag.Bool("update", false, "write the published schema")

// TestThePublishedSchemaOfProcedures is that of the API's description, and the published example fits it.
func TestThePublishedSchemaOfProcedures(t *testing.T) {
	const file = "../../../docs/procedures/procedure.schema.json"
	spec, err := OpenAPI("1.2.3")
	must(t, err)
	var d struct {
		Components struct {
			Schemas map[string]json.RawMessage
		}
	}
	must(t, json.Unmarshal(spec, &d))
	defs := map[string]json.RawMessage{}
	ref := regexp.MustCompile(`"#/components/schemas/([A-Za-z]+)"`)
	var take func(name string)
	take = func(name string) {
		if defs[name] != nil {
			return
		}
		raw := d.Components.Schemas[name]
		defs[name] = ref.ReplaceAll(raw, []byte(`"#/$$defs/$1"`))
		for _, m := range ref.FindAllSubmatch(raw, -1) {
			take(string(m[1]))
		}
	}
	take("Procedure")
	want, err := json.MarshalIndent(struct {
		Schema string                     `json:"$schema"`
		Title  string                     `json:"title"`
		Ref    string                     `json:"$ref"`
		Defs   map[string]json.RawMessage `json:"$defs"`
	}{"https://json-schema.org/draft/2020-12/schema", "A procedure of Deskbell", "#/$defs/Procedure", defs}, "", "  ")
	must(t, err)
	want = append(want, '\n')
	if *update {
		must(t, os.WriteFile(file, want, 0o644))
	}
	published, err := os.ReadFile(file)
	must(t, err)
	if !bytes.Equal(published, want) {
		t.Errorf("%s is stale: go test ./backend/transport/api -run TestThePublishedSchema -update", file)
	}
	for _, name := range []string{"ProcedureStep", "ProcedureCheckpoint", "ProcedureEffect", "ProcedureTarget"} {
		if defs[name] == nil {
			t.Errorf("the schema has no %s", name)
		}
	}
	example, err := os.ReadFile("../../../docs/procedures/export_invoice.yaml")
	must(t, err)
	p, err := procedure.Read(string(example))
	must(t, err)
	for _, f := range procedure.Lint(p) {
		if f.Level == procedure.LintError {
			t.Errorf("the published example has an error: %s", f.Said.Text)
		}
	}
	again, err := procedure.Write(p)
	must(t, err)
	if back, err := procedure.Read(again); err != nil || len(back.Steps) != len(p.Steps) {
		t.Errorf("what was written is read as %d steps, %v", len(back.Steps), err)
	}
}
