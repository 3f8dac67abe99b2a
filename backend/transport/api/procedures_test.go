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

// TestAProcedureThatIsNotForAnAgent: it cannot list it, call it, learn its parameters, or make it its own.
func TestAProcedureThatIsNotForAnAgent(t *testing.T) {
	h := openFixture(t, nil)
	bot, other := h.agent("bot"), h.agent("other")
	file := `{deskbell_procedure: 1, name: hidden, title: Very Secret, where: browser, does: [reads], parameters: [{name: account, type: text}],
		steps: [{id: s1, do: navigate, title: O, url: "https://portal.example/{account}", then: [{is: title, text: P}]}]}`
	saved := h.post("/api/procedures", h.op, `{"file":`+quoted(file)+`}`)
	var shown procedure.Shown
	saved.into(&shown)
	if saved.status != 201 || len(shown.Agents.Agents) != 1 || shown.Agents.Agents[0] != "*" {
		t.Fatalf("saved: %d %s", saved.status, saved.body)
	}
	const run = "/api/procedures/hidden/runs"
	if r := h.post(run, other, `{"parameters":{"account":"7"}}`); r.status != 201 {
		t.Fatalf("before, all can call it: %d %s", r.status, r.body)
	}
	if r := h.send("PUT", "/api/procedures/hidden/agents", h.op, `{"agents":["bo*"]}`, nil); r.status != 200 {
		t.Fatalf("%d %s", r.status, r.body)
	}

	for _, way := range []struct{ method, path, body string }{
		{"GET", "/api/procedure-tools", ""}, {"GET", "/api/procedures", ""}, {"GET", "/api/procedures/hidden", ""}, {"GET", "/api/procedures/hidden/file", ""},
		{"POST", run, `{}`}, {"POST", run, `{"version":1,"parameters":{"account":"1"}}`}, {"POST", run, `{"version":9,"parameters":{"no":"1"}}`},
		{"POST", run, `{"session_id":"bot","idempotency_key":"bot","parameters":{"account":"1"}}`},
		{"PUT", "/api/procedures/hidden/agents", `{"agents":["*"]}`}, {"POST", "/api/procedures", `{"after":1,"file":` + quoted(file) + `}`},
		{"POST", "/api/human/invoke", `{"action_type":"procedure","description":"x","details":{"procedure":"hidden","version":1,"digest":"` + shown.Digest + `","parameters":{}}}`},
		{"POST", "/api/human/invoke", `{"action_type":"procedure","agent_id":"bot","description":"x","details":{"procedure":"hidden","version":1,"digest":"` + shown.Digest + `","parameters":{}}}`},
	} {
		r := h.send(way.method, way.path, other, way.body, nil)
		if listed := way.path == "/api/procedure-tools" && r.status == 200; !listed && r.status != 403 && r.status != 422 && r.status != 400 {
			t.Errorf("%s %s %s: %d %s", way.method, way.path, way.body, r.status, r.body)
		}
		if bytes.Contains(r.body, []byte("account")) || bytes.Contains(r.body, []byte("Secret")) || bytes.Contains(r.body, []byte("portal")) {
			t.Errorf("%s %s tells %s", way.method, way.path, r.body)
		}
	}
	h.post(run, other, `{"parameters":{"account":"1"}}`).problem(403, "agent other cannot call procedure hidden; an operator can let it, under Agents on the procedure's page")
	if r := h.get("/api/procedure-tools", bot); !bytes.Contains(r.body, []byte("account")) {
		t.Errorf("whom it is for gets %s", r.body)
	}
	if r := h.post(run, bot, `{"parameters":{"account":"1"}}`); r.status != 201 {
		t.Errorf("whom it is for calls it: %d %s", r.status, r.body)
	}
	h.get("/api/procedures/hidden", h.op).into(&shown)
	if len(shown.Agents.Agents) != 1 || shown.Agents.Agents[0] != "bo*" || shown.Version != 1 {
		t.Errorf("it was changed: %+v", shown.Agents)
	}
}
