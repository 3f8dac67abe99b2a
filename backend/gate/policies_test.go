package gate_test

import (
	"os"
	"strings"
	"testing"

	"deskbell/backend/gate"
	"deskbell/backend/human"
)

// The table of the same calls under each policy says what truly happens (G10).
func TestPoliciesAreAsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/gatekeeper.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "| call | `permissive` | `balanced` | `strict` |\n")
	if !ok {
		t.Fatal("there is no such table")
	}
	words := map[human.Ruling]string{human.Allow: "runs", human.Ask: "**asks**", human.Deny: "**blocked**"}
	n := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		call, isCall := strings.CutPrefix(strings.TrimSpace(cells[0]), "`")
		if len(cells) != 4 {
			break
		}
		if !isCall {
			continue
		}
		n++
		call = strings.TrimSuffix(call, "`")
		for i, policy := range []gate.Policy{gate.Permissive, gate.Balanced, gate.Strict} {
			if got := words[gate.Judge(bash(call), policy, nil).Decision]; got != strings.TrimSpace(cells[i+1]) {
				t.Errorf("%s under %s: %s, and the document says %s", call, policy, got, cells[i+1])
			}
		}
	}
	if n != 20 {
		t.Errorf("%d calls", n)
	}
}
