package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

// TestMistyped: what is mistyped is an error that says what is meant, never help and success: a script would take that
// for an answer.
func TestMistyped(t *testing.T) {
	for says, args := range map[string][]string{
		`there is no command "submt" of deskbell plan; did you mean submit?`: {"plan", "submt", "plan.json"},
		`there is no command "chek" of deskbell gate; did you mean check?`:   {"--data", "x", "gate", "chek", "ls"},
		`there is no command "dance" of deskbell agent. See`:                 {"agent", "--data=x", "dance"},
		`unknown command "rign"`: {"rign"},
		"accepts 2 arg(s), received 1; the command is: deskbell plan skip SESSION TASK": {"plan", "skip", "s"},
		"unknown flag: --wiat; see `deskbell plan submit --help`":                       {"plan", "submit", "plan.json", "--wiat"},
	} {
		var out, errs bytes.Buffer
		if code := Execute(context.Background(), Program{}, args, strings.NewReader(""), &out, &errs); code != exitError || !strings.Contains(errs.String(), says) {
			t.Errorf("deskbell %s: exit code %d, %q, want %d and %q", strings.Join(args, " "), code, errs.String(), exitError, says)
		}
	}
	for _, args := range [][]string{{"plan"}, {"plan", "--help"}, {"help", "plan"}, {"agent", "--data", "x"}} {
		var out, errs bytes.Buffer
		if code := Execute(context.Background(), Program{}, args, strings.NewReader(""), &out, &errs); code != exitYes || !strings.Contains(out.String(), "Available Commands") {
			t.Errorf("deskbell %s: exit code %d, %q %q, want help", strings.Join(args, " "), code, out.String(), errs.String())
		}
	}
}
