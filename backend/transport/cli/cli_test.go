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
		`there is no command "submt" of deskbell plan; did you mean submit?`:                                                     {"plan", "submt", "plan.json"},
		`there is no command "chek" of deskbell gate; did you mean check?`:                                                       {"--data", "x", "gate", "chek", "ls"},
		`there is no command "dance" of deskbell agent; it has `:                                                                 {"agent", "--data=x", "dance"},
		`there is no command "rign" of deskbell; did you mean ring? See`:                                                         {"rign"},
		`there is no command "xyzzy" of deskbell. See`:                                                                           {"xyzzy"},
		`there is no command "foget" of deskbell phone; did you mean forget? See`:                                                {"phone", "foget", "ph_1"},
		`there is no command "sett" of deskbell proof; it has `:                                                                  {"proof", "sett"},
		`there is no command "phones" of deskbell; did you mean phone? See`:                                                      {"help", "phones"},
		"what is missing: TASK; the command is: deskbell plan skip SESSION TASK":                                                 {"plan", "skip", "s"},
		"what is missing: ID (`deskbell phone` lists them); the command is: deskbell phone forget ID":                            {"phone", "forget"},
		"what is missing: ID (`deskbell inbox --all` lists them); the command is: deskbell answer ID":                            {"answer"},
		"what is missing: DESCRIPTION; the command is: deskbell ring DESCRIPTION":                                                {"ring"},
		`"the" is more than it takes; put a text with spaces in quotes; the command is: deskbell ring DESCRIPTION`:               {"ring", "Deploy", "the", "site"},
		`"now" is more than it takes; the command is: deskbell inbox [flags]`:                                                    {"inbox", "now"},
		"what is missing: NAME; the command is: deskbell keys add NAME":                                                          {"keys", "add"},
		"what is missing: NAME (`deskbell keys list` lists them)":                                                                {"keys", "revoke"},
		"accepts between 3 and 4 arg(s), received 1; the command is: deskbell plan end SESSION TASK":                             {"plan", "end", "s"},
		"this only lists the settings and names their file; change them there or in the window; the command is: deskbell config": {"config", "set", "ui.language", "en"},
		"unknown flag: --wiat; did you mean --wait? See `deskbell plan submit --help`":                                           {"plan", "submit", "plan.json", "--wiat"},
		"unknown flag: --dryrun; did you mean --dry-run? See `deskbell uninstall --help`":                                        {"uninstall", "--dryrun"},
		"unknown flag: --frobnicate. See `deskbell inbox --help`":                                                                {"inbox", "--frobnicate"},
		"--dir /no/such: there is no such folder; give the root of a project, such as --dir .":                                   {"hook", "install", "claude-code", "--dir", "/no/such"},
	} {
		var out, errs bytes.Buffer
		if code := Execute(context.Background(), Program{}, args, strings.NewReader(""), &out, &errs); code != exitError || !strings.Contains(errs.String(), says) {
			t.Errorf("deskbell %s: exit code %d, %q, want %d and %q", strings.Join(args, " "), code, errs.String(), exitError, says)
		}
	}
	for says, args := range map[string][]string{"bash completion": {"completion", "bash"}, "phone\t": {"__complete", "pho"}, "pair": {"__completeNoDesc", "phone", "pa"}} {
		var out, errs bytes.Buffer
		if code := Execute(context.Background(), Program{}, args, strings.NewReader(""), &out, &errs); code != exitYes || !strings.Contains(out.String(), says) {
			t.Errorf("deskbell %s: exit code %d, %q %q, want %s", strings.Join(args, " "), code, out.String(), errs.String(), says)
		}
	}
	for _, args := range [][]string{{"plan"}, {"plan", "--help"}, {"help", "plan"}, {"agent", "--data", "x"}} {
		var out, errs bytes.Buffer
		if code := Execute(context.Background(), Program{}, args, strings.NewReader(""), &out, &errs); code != exitYes || !strings.Contains(out.String(), "Available Commands") {
			t.Errorf("deskbell %s: exit code %d, %q %q, want help", strings.Join(args, " "), code, out.String(), errs.String())
		}
	}
}
