//go:build window

package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/procedure"
)

// After five good runs an agent's calls run without an operator, within what was permitted, and no more once two of them stopped.
func TestBrowserRunsUnattended(t *testing.T) {
	s := newStudy(t, false)
	url, changed := orders(t)
	var shown procedure.Shown
	s.call("POST", "/api/procedures", procedure.Change{File: `deskbell_procedure: 1
name: find_orders
title: Find the orders of a customer
where: browser
does: [reads]
parameters: [{name: customer, type: text, examples: [Nordwind, Aldus]}]
outputs: [{name: found, type: text}]
steps:
  - {id: s1, do: navigate, title: Open, url: "` + url + `", then: [{is: title, text: Orders}]}
  - {id: s2, do: change, within: 1, title: Type the customer, text: "{customer}", target: {role: textbox, name: Customer}, then: [{is: value, text: "{customer}", target: {role: textbox, name: Customer}}]}
  - {id: s3, do: click, within: 1, title: Find, target: {role: button, name: Find}, then: [{is: text, text: "Orders of {customer}"}]}
  - {id: s4, do: pick, title: Read what was found, output: found, target: {role: status, selectors: [["[role=status]"]]}, then: [{is: text, text: "Orders of {customer}"}]}
`}, &shown)
	const path = "/api/procedures/find_orders/unattended"
	grant := procedure.UnattendedGrant{
		Version: 1, Digest: shown.Digest, Agents: []string{"qa-runner"}, Values: map[string]procedure.UnattendedValues{"customer": {Values: []string{"Nordwind"}}},
		Most: 5, Until: time.Now().Add(time.Hour),
	}
	for range 4 {
		if run := s.performs(t, "find_orders", map[string]string{"customer": "Nordwind"}); run.r.State != human.Succeeded {
			t.Fatalf("%+v", run.r)
		}
	}
	if status, said := s.ask("PUT", path, grant); status != http.StatusConflict || !strings.Contains(string(said), "4 of 5 good runs") {
		t.Fatalf("after four runs: %d %s", status, said)
	}
	s.performs(t, "find_orders", map[string]string{"customer": "Aldus"})
	if status, said := s.ask("PUT", path, grant, s.key); status != http.StatusForbidden {
		t.Fatalf("an agent permits itself: %d %s", status, said)
	}
	var state procedure.UnattendedState
	s.call("PUT", path, grant, &state)
	if !state.On {
		t.Fatalf("%+v", state)
	}

	asks := func(customer string) *performance {
		var asked procedure.Asked
		s.call("POST", "/api/procedures/find_orders/runs", map[string]any{"parameters": map[string]string{"customer": customer}}, &asked, s.key)
		return &performance{study: s, op: asked.Operation}
	}
	run := asks("Nordwind")
	run.until(t)
	var op human.Operation
	eventually(t, "the answer", func() bool {
		op = human.Operation{}
		s.call("GET", "/api/human/operations/"+string(run.op), nil, &op)
		return op.State == human.Completed
	})
	if op.Result.Fields["found"] != "Orders of Nordwind" || !strings.Contains(op.Result.ExecutionResult, "It ran unattended, permitted by ") {
		t.Errorf("the agent gets %+v", op.Result.Answer)
	}
	waits := asks("Aldus")
	op = human.Operation{}
	s.call("GET", "/api/human/operations/"+string(waits.op), nil, &op)
	if op.State != human.Pending {
		t.Errorf("what was not permitted is %s", op.State)
	}

	changed.Store(true)
	for range 2 {
		run := asks("Nordwind")
		run.until(t)
		if run.r.State != human.Halted || run.r.Unattended == nil {
			t.Fatalf("a page that has changed: %+v", run.r)
		}
		s.call("POST", run.path()+"/orders", procedure.RunOrder{Do: "end"}, nil)
		eventually(t, "the run to end", func() bool {
			run.read()
			return run.r.State.Over()
		})
	}
	state = procedure.UnattendedState{}
	s.call("GET", path, nil, &state)
	if state.On || state.Off == nil || !strings.Contains(state.Off.Text, "2 runs in a row stopped") {
		t.Errorf("after two stops: %+v", state)
	}
	op = human.Operation{}
	s.call("GET", "/api/human/operations/"+string(asks("Nordwind").op), nil, &op)
	if op.State != human.Pending {
		t.Errorf("once it is off, a call is %s", op.State)
	}
}
