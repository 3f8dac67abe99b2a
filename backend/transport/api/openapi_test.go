package api

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/gate"
)

type document struct {
	OpenAPI    string `json:"openapi"`
	Info       struct{ Title, Version string }
	Paths      map[string]map[string]describedCall
	Components struct {
		Schemas         map[string]schema
		SecuritySchemes map[string]any
	}
}

type describedCall struct {
	OperationID string `json:"operationId"`
	Summary     string
	RequestBody *struct{ Content map[string]any }
	Responses   map[string]struct{ Content map[string]any }
}

type schema struct {
	Type       any
	Properties map[string]struct {
		Type any
		Enum []any
		Ref  string `json:"$ref"`
	}
	Required []string
}

func description(t *testing.T) document {
	t.Helper()
	data, err := OpenAPI("1.2.3")
	must(t, err)
	var d document
	must(t, json.Unmarshal(data, &d))
	return d
}

func TestDescription(t *testing.T) {
	data, err := OpenAPI("1.2.3")
	must(t, err)
	d := description(t)
	if !strings.HasPrefix(d.OpenAPI, "3.1") || d.Info.Title != "Deskbell" || d.Info.Version != "1.2.3" || d.Components.SecuritySchemes["bearer"] == nil {
		t.Errorf("openapi %q, title %q, version %q", d.OpenAPI, d.Info.Title, d.Info.Version)
	}
	for _, m := range regexp.MustCompile(`"\$ref": "([^"]*)"`).FindAllSubmatch(data, -1) {
		name, local := strings.CutPrefix(string(m[1]), "#/components/schemas/")
		if _, there := d.Components.Schemas[name]; !local || !there {
			t.Errorf("%s leads nowhere", m[1])
		}
	}
	ids := map[string]bool{}
	for path, calls := range d.Paths {
		for method, call := range calls {
			if call.OperationID == "" || ids[call.OperationID] || call.Summary == "" {
				t.Errorf("%s %s: id %q, summary %q", method, path, call.OperationID, call.Summary)
			}
			ids[call.OperationID] = true
			if path != "/api/openapi.json" && call.Responses["default"].Content["application/problem+json"] == nil {
				t.Errorf("%s %s does not say how it fails", method, path)
			}
		}
	}
	for _, gone := range []string{"ErrorModel", "None"} {
		if _, there := d.Components.Schemas[gone]; there {
			t.Errorf("%s is described and never sent", gone)
		}
	}
	op := d.Components.Schemas["Operation"]
	for _, name := range []string{"operation_id", "version", "action_type", "state", "messages", "digest"} {
		if !slices.Contains(op.Required, name) {
			t.Errorf("an operation need not have %s", name)
		}
	}
	for name, want := range map[string]int{"action_type": 10, "state": 7, "risk": 4, "on_timeout": 2} {
		if got := len(op.Properties[name].Enum); got != want {
			t.Errorf("%s has %d values, want %d", name, got, want)
		}
	}
	if op.Properties["messages"].Type != "array" || op.Properties["details"].Type != "object" {
		t.Errorf("messages are %v, details %v", op.Properties["messages"].Type, op.Properties["details"].Type)
	}
	if call := d.Paths["/api/human/invoke"]["post"]; call.RequestBody == nil || len(call.Responses) != 3 {
		t.Errorf("invoke is described as %+v", call)
	}
	for call, want := range map[string]map[string][]string{
		"/api/recordings/{id}/pictures/{picture}": {"200": {"image/jpeg", "image/png"}, "304": nil},
		"/api/recordings/{id}/export":             {"200": {"application/json", "application/zip", "text/html"}},
	} {
		for status, media := range want {
			answer, there := d.Paths[call]["get"].Responses[status]
			if got := slices.Sorted(maps.Keys(answer.Content)); !there || !slices.Equal(got, media) {
				t.Errorf("%s answers %s with %v, want %v", call, status, got, media)
			}
		}
	}
	if replay := d.Paths["/api/recordings/{id}/replay"]["post"].Responses; len(replay) != 2 || replay["202"].Content["application/json"] == nil {
		t.Errorf("a replay begins with %v", replay)
	}
	if !regexp.MustCompile(`"current": \{\s*"description": "[^"]*",\s*"oneOf": \[\s*\{\s*"\$ref": "#/components/schemas/Recording"\s*\},\s*\{\s*"type": "null"`).Match(data) {
		t.Error("it is not said that there may be no current recording")
	}
	h := openFixture(t, nil)
	r := h.get("/api/openapi.json", "")
	if string(r.body) != string(data) {
		t.Error("the server describes itself differently from OpenAPI()")
	}
}

// The gatekeeper knows which calls an agent's key is for. All others are an operator's, and no agent makes them unasked.
func TestTheGatekeeperKnowsWhoseCallsTheyAre(t *testing.T) {
	data, err := OpenAPI("1.2.3")
	must(t, err)
	var d struct {
		Paths map[string]map[string]struct{ Description string }
	}
	must(t, json.Unmarshal(data, &d))
	agents, operators := 0, 0
	for path, calls := range d.Paths {
		for method, call := range calls {
			target := "http://127.0.0.1:7717" + regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, "x_1")
			args, err := json.Marshal(map[string]string{"method": strings.ToUpper(method), "url": target})
			must(t, err)
			limit := gate.Judge(gate.Call{Tool: "http_request", Args: args}, gate.Permissive, nil).HardLimit
			own := slices.Contains([]string{"/api/ws", "/healthz", "/readyz", "/api/openapi.json"}, path) || strings.HasPrefix(call.Description, "For: agent")
			if own {
				agents++
			} else {
				operators++
			}
			if own == limit {
				t.Errorf("%s %s (%s): a hard limit: %v", method, path, call.Description, limit)
			}
		}
	}
	if agents < 20 || operators < 30 {
		t.Errorf("%d calls of agents, %d of operators", agents, operators)
	}
}
