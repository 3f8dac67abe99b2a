package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deskbell/backend/gate"
	"deskbell/backend/human"
	"deskbell/backend/store/settings/gatefile"
	"deskbell/backend/workspace"
)

// judge runs a command of the gatekeeper on a data folder, in an empty folder.
func judge(t *testing.T, data, in string, want int, args ...string) (out, errs string) {
	t.Helper()
	t.Chdir(t.TempDir())
	var o, e strings.Builder
	p := Program{Gate: Gate{
		Load: gatefile.Load, Project: gatefile.Project, Root: workspace.Root,
		Evidence: func(ctx context.Context, call gate.Call) gate.Evidence { return workspace.New(ctx, call, nil) },
	}}
	code := Execute(t.Context(), p, append([]string{"--data", data, "gate"}, args...), strings.NewReader(in), &o, &e)
	if code != want {
		t.Errorf("%q ends with %d, not %d: %s%s", args, code, want, o.String(), e.String())
	}
	return o.String(), e.String()
}

// The exit code is the decision, without a server.
func TestGateCheck(t *testing.T) {
	data := t.TempDir()
	for command, want := range map[string]int{"git status": exitAllowed, "git push --force": exitAsked, "rm -rf /": exitDenied} {
		judge(t, data, "", want, "check", command)
	}
	judge(t, data, "", exitAsked, "check", "mkdir out", "--policy", "strict")
	judge(t, data, "", exitAsked, "check", "--tool", "delete_file", "--args", `{"path": "/etc/hosts"}`)
	out, _ := judge(t, data, "", exitAsked, "check", "git push --force", "--json")
	var v human.Verdict
	must(t, json.Unmarshal([]byte(out), &v))
	if v.Decision != human.Ask || len(v.Effects) == 0 || v.Digest == "" || len(v.Because) == 0 {
		t.Errorf("it prints %s", out)
	}
	must(t, os.WriteFile(filepath.Join(data, gatefile.Name), []byte("policy = \"strict\"\n[[rules]]\nid = \"no-status\"\ndecision = \"deny\"\ncommand = \"git status\"\nreason = \"Use jj.\"\n"), 0o600))
	out, _ = judge(t, data, "", exitDenied, "check", "git status")
	if !strings.HasPrefix(out, "deny (no risk): ") || !strings.Contains(out, "Use jj.") {
		t.Errorf("it prints %q", out)
	}
	for want, rule := range map[string]string{
		"Your rule asks about every call of the tool bash.":          `tool = "bash"`,
		"Your rule asks about what touches `src/**`.":                `path = "src/**"`,
		"Your rule asks about `ls **` on `src/**` by the tool bash.": "command = \"ls **\"\npath = \"src/**\"\ntool = \"bash\"",
	} {
		file := filepath.Join(t.TempDir(), "gate.toml")
		must(t, os.WriteFile(file, []byte("[[rules]]\ndecision = \"ask\"\n"+rule+"\n"), 0o600))
		if out, _ := judge(t, data, "", exitAsked, "check", "ls src/a", "--gate", file); !strings.Contains(out, want) {
			t.Errorf("it prints %q, want %q", out, want)
		}
	}
	judge(t, data, "", exitAsked, "check", "mkdir out")
	for want, args := range map[string][]string{
		"two calls":           {"check", "ls", "--args", "{}"},
		"nothing to check":    {"check"},
		"must be a JSON":      {"check", "--tool", "x", "--args", "{"},
		"not \"lax\"":         {"check", "ls", "--policy", "lax"},
		"none.toml cannot be": {"check", "ls", "--gate", filepath.Join(data, "none.toml")},
	} {
		if _, errs := judge(t, data, "", exitError, args...); !strings.Contains(errs, want) {
			t.Errorf("%q prints %q, which does not say %q", args, errs, want)
		}
	}
}

// A project's own file counts, and cannot loosen.
func TestGateCheckInAProject(t *testing.T) {
	project := t.TempDir()
	must(t, os.Mkdir(filepath.Join(project, ".deskbell"), 0o700))
	own := filepath.Join(project, ".deskbell", gatefile.Name)
	must(t, os.WriteFile(own, []byte("[[rules]]\ndecision = \"deny\"\npath = \"generated/**\"\n"), 0o600))
	judge(t, t.TempDir(), "", exitDenied, "check", "touch generated/x", "--cwd", project)
	must(t, os.WriteFile(own, []byte("policy = \"permissive\"\n"), 0o600))
	out, _ := judge(t, t.TempDir(), "", exitYes, "explain", "mkdir x", "--cwd", project)
	if !strings.Contains(out, "Asked about under the policy strict") || !strings.Contains(out, "would loosen yours") {
		t.Errorf("it prints %q", out)
	}
	out, _ = judge(t, t.TempDir(), "", exitNo, "test", "--cwd", project)
	if !strings.Contains(out, "can only make the policy stricter") {
		t.Errorf("it prints %q", out)
	}
}

func TestGateExplain(t *testing.T) {
	out, _ := judge(t, t.TempDir(), "", exitYes, "explain", "cat a\x1b.txt; git push --force origin main")
	for _, want := range []string{"Asked about under the policy balanced: high risk", "git push --force origin main", "trust.git_", "(0.50)", "Choices\n", "What runs what\n", "  git push --force origin main (ask)\n    - Rewrites or deletes history", "Deny", "sha256:"} {
		if !strings.Contains(out, want) {
			t.Errorf("it prints %q, which has no %q", out, want)
		}
	}
	if strings.Contains(out, "\x1b") {
		t.Errorf("it prints a control character: %q", out)
	}
}

// Figures are shares of each class, by source, whatever the length of a line.
func TestGateEval(t *testing.T) {
	long, err := json.Marshal("echo " + strings.Repeat("x", 200<<10))
	must(t, err)
	in := `{"command": "rm -rf /", "expect": "block", "source": "one:a"}
{"command": "git status", "expect": "block", "source": "one:b"}

{"command": "ls", "expect": "allow", "source": "two"}
{"command": "git push --force", "expect": "allow", "source": "two"}
{"command": "rm -rf ~", "expect": "not_block", "source": "two"}
{"command": "pwd", "expect": "ask"}
{"tool": "delete_file", "args": {"path": "a.txt"}, "expect": "ask"}
{"tool": "read_file", "args": {"path": "a.txt"}, "expect": "allow"}
` + fmt.Sprintf(`{"command": %s, "expect": "ask"}`, long) + "\n"
	out, _ := judge(t, t.TempDir(), in, exitYes, "eval", "-", "--json", "--failures")
	var got struct {
		scores
		BySource map[string]scores `json:"by_source"`
		Failures []struct {
			Command  string       `json:"command"`
			Decision human.Ruling `json:"decision"`
		} `json:"failures"`
	}
	must(t, json.Unmarshal([]byte(out), &got))
	if got.N["block"] != 2 || got.N["allow"] != 3 || got.N["ask"] != 3 || got.BlockExecuted != 0.5 || got.AllowAsked != 1.0/3 || got.NotBlockRejected != 1 || got.AskExecuted != 1.0/3 {
		t.Errorf("figures %+v", got.scores)
	}
	if got.BySource["one"].BlockExecuted != 0.5 || got.BySource["two"].N["allow"] != 2 || len(got.Failures) != 4 || got.Failures[0].Command != "git status" || got.Failures[0].Decision != human.Allow {
		t.Errorf("by source %+v, failures %+v", got.BySource, got.Failures)
	}
	out, _ = judge(t, t.TempDir(), in, exitYes, "eval", "-", "--failures", "--policy", "strict")
	for _, want := range []string{"allow, not block: git status", "1 of 2, 50.00 %", "policy strict"} {
		if !strings.Contains(out, want) {
			t.Errorf("it prints %q, which has no %q", out, want)
		}
	}
	for want, row := range map[string]string{
		"line 2: expect must be": "\n" + `{"command": "ls", "expect": "maybe"}`,
		"line 1: it has neither": `{"expect": "allow"}`,
		"line 1: unexpected end": `{"command": `,
	} {
		if _, errs := judge(t, t.TempDir(), row, exitError, "eval", "-"); !strings.Contains(errs, want) {
			t.Errorf("%q prints %q, which does not say %q", row, errs, want)
		}
	}
}

// A team's expectations are checked, each by its line; a file with errors says where.
func TestGateExpectations(t *testing.T) {
	data := t.TempDir()
	file := filepath.Join(data, "expect.txt")
	must(t, os.WriteFile(filepath.Join(data, gatefile.Name), []byte("[[rules]]\nid = \"e2e\"\ndecision = \"allow\"\ncommand = \"docker compose up -d db\"\n"), 0o600))
	must(t, os.WriteFile(file, []byte("# what we live by\nallow docker compose up -d db\n\nask git push\nask {\"tool\": \"delete_file\", \"args\": {\"path\": \"a.txt\"}}\ndeny rm -rf /\n"), 0o600))
	out, _ := judge(t, data, "", exitYes, "test", file)
	if !strings.Contains(out, "4 of 4 expectations are met.") {
		t.Errorf("it prints %q", out)
	}
	must(t, os.WriteFile(file, []byte("allow git push\nallow ls\n"), 0o600))
	out, _ = judge(t, data, "", exitNo, "test", file)
	if !strings.Contains(out, "expect.txt:1: allow is expected, not ask: git push") || !strings.Contains(out, "1 of 2 expectations are met.") {
		t.Errorf("it prints %q", out)
	}
	out, _ = judge(t, data, "", exitNo, "test", file, "--json")
	if !strings.Contains(out, `"ok":false`) || !strings.Contains(out, `"expected":"allow","decision":"ask"`) {
		t.Errorf("it prints %q", out)
	}
	for text, want := range map[string]string{
		"ls\nperhaps rm":          "expect.txt:1: a line is allow, ask or deny",
		"allow ls\nallow":         "expect.txt:2: a line is",
		"ask {\"tol\": \"bash\"}": "expect.txt:1: a tool call is",
	} {
		must(t, os.WriteFile(file, []byte(text), 0o600))
		if _, errs := judge(t, data, "", exitError, "test", file); !strings.Contains(errs, want) {
			t.Errorf("%q prints %q, which does not say %q", text, errs, want)
		}
	}
}

// Examples are checked, and a failing one is named with its line.
func TestGateTest(t *testing.T) {
	data := t.TempDir()
	out, _ := judge(t, data, "", exitYes, "test")
	if !strings.Contains(out, "the defaults count") {
		t.Errorf("it prints %q", out)
	}
	file := filepath.Join(data, gatefile.Name)
	good := "[[rules]]\nid = \"tests\"\ndecision = \"allow\"\ncommand = \"go test **\"\nmatch = [\"go test ./...\"]\ndiffer = [\"go vet ./...\"]\n"
	must(t, os.WriteFile(file, []byte(good), 0o600))
	out, _ = judge(t, data, "", exitYes, "test")
	if !strings.Contains(out, "has no errors") || !strings.Contains(out, "1 rules, which pass 2 examples") || !strings.Contains(out, "go test **") {
		t.Errorf("it prints %q", out)
	}
	must(t, os.WriteFile(file, []byte(strings.Replace(good, "go vet ./...", "go test -v", 1)), 0o600))
	out, _ = judge(t, data, "", exitNo, "test")
	if !strings.Contains(out, `line 6: the rule tests: it must not match "go test -v", and does`) || strings.Contains(out, "The policy here") || !strings.Contains(out, "strict") {
		t.Errorf("it prints %q", out)
	}
	if _, errs := judge(t, data, "", exitError, "check", "ls"); !strings.Contains(errs, "line 6") {
		t.Errorf("it prints %q", errs)
	}
}
