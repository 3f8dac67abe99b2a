package gate_test

import (
	"os"
	"strings"
	"testing"

	"deskbell/backend/gate"
	"deskbell/backend/human"
)

func TestPowerShell(t *testing.T) {
	text, err := os.ReadFile("testdata/powershell.txt")
	if err != nil {
		t.Fatal(err)
	}
	class, count := "", map[string]int{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if head, ok := strings.CutPrefix(line, "== "); ok {
			class = head
		} else if line != "" && !strings.HasPrefix(line, "#") {
			count[class]++
			v := gate.Judge(tool("PowerShell", object{"command": line}), gate.Balanced, nil)
			if (v.Decision == human.Allow) != (class == "everyday") {
				t.Errorf("%s: %s: %s %v", class, line, v.Decision, v.Rules)
			}
		}
	}
	if count["everyday"] < 100 || count["dangerous"] < 100 {
		t.Errorf("%v", count)
	}
}
