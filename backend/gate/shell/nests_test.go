package shell

import (
	"strings"
	"testing"
)

// What is deep is the script, not the text it holds; and what a deep script runs is listed as far as it can be read.
func TestNesting(t *testing.T) {
	deep := strings.Repeat("(", 200)
	for script, want := range map[string]bool{
		"echo '" + deep + "'":                   false,
		"git commit -m \"" + deep + "\" -m x":   false,
		`echo \'` + deep:                        true,
		"echo '" + deep + "'; " + deep:          true,
		"echo $'\\''" + deep + "'x'":            true,
		"echo \"$(echo " + deep + ")\"":         true,
		"cat <<X\nit's\nX\necho " + deep + "'x": true,
		"# it's\n" + deep + "'":                 true,
		"echo `echo '" + deep + "'`":            true,
		"echo it is":                            false,
	} {
		if got := nests(script); got != want {
			t.Errorf("%.40q: %v", script, got)
		}
	}
	if got, want := riskHere("echo ok; terraform destroy -auto-approve # "+deep), riskHere("terraform destroy -auto-approve"); got < want {
		t.Errorf("behind a deep comment it is %d, not %d", got, want)
	}
}
