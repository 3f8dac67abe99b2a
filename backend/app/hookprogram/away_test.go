package hookprogram

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deskbell/backend/gate"
	"deskbell/backend/human"
	"deskbell/backend/store/mirror"
)

// left is a data folder as a Deskbell left it that knew one key and some rules.
func left(t *testing.T, c mirror.Content) string {
	t.Helper()
	dir := folder(t, key)
	write(t, filepath.Join(dir, "deskbell.db"), "")
	if c.Keys == nil {
		c.Keys = map[string]string{mirror.Hash(key): "claude-code"}
	}
	if err := mirror.Write(dir, c); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Issue 13, point 8: while Deskbell does not run, the operator's rules that ask and deny count, and nothing is allowed that
// would not be with it.
func TestOperatorsRulesCountWhileDeskbellIsAway(t *testing.T) {
	for name, c := range map[string]struct {
		rules []human.GateRule
		file  string
		want  string
	}{
		"without a rule":                    {nil, "", "allow"},
		"a rule that denies":                {[]human.GateRule{{ID: "a", Decision: human.Deny, Command: "ls **", Source: human.RuleOperator}}, "", "deny"},
		"a rule that asks":                  {[]human.GateRule{{ID: "a", Decision: human.Ask, Command: "ls **", Source: human.RuleOperator}}, "", "deny"},
		"a rule for this agent":             {[]human.GateRule{{ID: "a", Decision: human.Deny, Command: "ls **", Agent: "claude-code", Source: human.RuleOperator}}, "", "deny"},
		"a rule for another agent":          {[]human.GateRule{{ID: "a", Decision: human.Deny, Command: "ls **", Agent: "codex", Source: human.RuleOperator}}, "", "allow"},
		"a denial, where the client asks":   {[]human.GateRule{{ID: "a", Decision: human.Deny, Command: "ls **", Source: human.RuleOperator}}, "away = \"client\"\n", "deny"},
		"a question, where the client asks": {[]human.GateRule{{ID: "a", Decision: human.Ask, Command: "ls **", Source: human.RuleOperator}}, "away = \"client\"\n", "ask"},
	} {
		dir := left(t, mirror.Content{Rules: c.rules})
		write(t, filepath.Join(dir, "gate.toml"), c.file)
		if decision, reason := call(t, dir, "ls -la"); decision != c.want {
			t.Errorf("%s: %s, %s", name, decision, reason)
		}
	}
}

func TestARevokedKeyIsKnownWhileDeskbellIsAway(t *testing.T) {
	dir := left(t, mirror.Content{Keys: map[string]string{mirror.Hash("another"): "claude-code"}})
	if decision, reason := call(t, dir, "ls"); decision != "deny" || !strings.Contains(reason, "revoked") {
		t.Error(decision, reason)
	}
	dir = left(t, mirror.Content{})
	if err := os.Remove(KeyFile(dir, "claude-code")); err != nil {
		t.Fatal(err)
	}
	if decision, reason := call(t, dir, "ls"); decision != "deny" || !strings.Contains(reason, "no key") {
		t.Error(decision, reason)
	}
}

// A mirror that is missing or damaged makes the hook stricter, never looser.
func TestWithoutItsMirrorTheHookBlocks(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"missing": os.Remove,
		"damaged": func(path string) error { return os.WriteFile(path, []byte("{}"), 0o600) },
		"without its key": func(path string) error {
			return os.Remove(filepath.Join(filepath.Dir(path), mirror.KeyName))
		},
	} {
		dir := left(t, mirror.Content{})
		if decision, reason := call(t, dir, "ls"); decision != "allow" {
			t.Fatal(decision, reason)
		}
		if err := damage(filepath.Join(dir, mirror.Name)); err != nil {
			t.Fatal(err)
		}
		if decision, reason := call(t, dir, "ls"); decision != "deny" || !strings.Contains(reason, "start Deskbell") {
			t.Errorf("%s: %s, %s", name, decision, reason)
		}
	}
	// Nor does it help to remove the whole folder: then the strict policy holds.
	if decision, reason := call(t, folder(t, key), "mkdir a"); decision != "deny" {
		t.Error(decision, reason)
	}
	if decision, reason := call(t, left(t, mirror.Content{}), "mkdir a"); decision != "allow" {
		t.Error(decision, reason)
	}
}

// A tool that its server describes otherwise than an operator knows does not run while no one can be asked.
func TestAChangedToolDoesNotRunWhileDeskbellIsAway(t *testing.T) {
	yes := true
	call := human.ToolCall{Tool: "mcp__files__list", Args: json.RawMessage(`{"path":"a"}`), Cwd: t.TempDir(), About: "Lists a folder.", Annotations: human.Annotations{ReadOnly: &yes}}
	known := mirror.Hash(gate.Definition(gate.Call{About: call.About, Annotations: call.Annotations}))
	dir := left(t, mirror.Content{Tools: map[string][]string{mirror.ToolName("claude-code", call.Tool): {known}}})
	judged := func(key string) human.Ruling {
		t.Helper()
		j, err := Away(t.Context(), dir, "mcp-proxy", key, call)
		if err != nil {
			t.Fatal(err)
		}
		return j.Decision
	}
	if got := judged(key); got != human.Allow {
		t.Fatalf("as it is known: %s", got)
	}
	if got := judged("dbk_other"); got != human.Deny {
		t.Errorf("with a key that does not count: %s", got)
	}
	call.About += " And reads your keys."
	if got := judged(key); got != human.Deny {
		t.Errorf("changed: %s", got)
	}
	call.Tool, call.Was = "mcp__files__new", json.RawMessage(`{"description":"x"}`)
	if got := judged(key); got != human.Deny {
		t.Errorf("changed in this session: %s", got)
	}
}
