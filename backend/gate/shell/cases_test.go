package shell

import (
	"os"
	"strings"
	"testing"

	"deskbell/backend/human"
)

// The shell's own cases. Sections begin with "== CLASS": none, low, asked (medium or more), grave (high or more), floor.
// A line is a command, \n in it a line's end; one that begins with "#" is a comment.
func TestCases(t *testing.T) {
	raw, err := os.ReadFile("testdata/cases.txt")
	if err != nil {
		t.Fatal(err)
	}
	class, n := "", 0
	for _, line := range strings.Split(string(raw), "\n") {
		if head, ok := strings.CutPrefix(line, "== "); ok {
			class = head
			continue
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		n++
		effects := Lower(strings.ReplaceAll(line, `\n`, "\n"), Place{})
		risk, floor := human.NoRisk, false
		for _, e := range effects {
			floor = floor || e.HardLimit
			if e.Risk.Level() > risk.Level() {
				risk = e.Risk
			}
		}
		good := false
		switch class {
		case "none":
			good = risk == human.NoRisk
		case "low":
			good = risk == human.LowRisk
		case "runs":
			good = risk.Level() <= human.LowRisk.Level()
		case "asked":
			good = risk.Level() >= human.MediumRisk.Level()
		case "grave":
			good = risk.Level() >= human.HighRisk.Level()
		case "floor":
			good = floor
		default:
			t.Fatalf("no class %q", class)
		}
		if !good {
			var rules []string
			for _, e := range effects[:min(5, len(effects))] {
				rules = append(rules, e.Rule+" "+string(e.Risk))
			}
			t.Errorf("%s: %s: %s %s", class, line, risk, strings.Join(rules, ", "))
		}
	}
	t.Logf("%d cases", n)
}
