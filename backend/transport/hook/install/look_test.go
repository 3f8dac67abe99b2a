package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestLookSaysWhatIsWrong(t *testing.T) {
	for name, tt := range map[string]struct {
		client, old, new string // in the file that was installed
		want             string // in what is said; empty: nothing is wrong
	}{
		"as it is":                     {"claude-code", "", "", ""},
		"another event":                {"claude-code", `"PreToolUse"`, `"PostToolUse"`, "under PostToolUse instead of PreToolUse"},
		"a narrower matcher":           {"claude-code", `"matcher": "*"`, `"matcher": "Bash"`, `its matcher under PreToolUse is "Bash"`},
		"another program":              {"claude-code", "/opt/desk bell/deskbell-hook", "/tmp/x/deskbell-hook", "its command under PreToolUse is not that"},
		"another data folder":          {"claude-code", "data", "dada", "its command under PreToolUse is not that"},
		"what does not block":          {"claude-code", "exit 2", "exit 0", "its command under PreToolUse is not that"},
		"a failure that allows":        {"claude-code", `"onFailure": "block"`, `"onFailure": "allow"`, "was changed"},
		"all hooks switched off":       {"claude-code", "{\n", "{\n  \"disableAllHooks\": true,\n", "disableAllHooks"},
		"Gemini CLI":                   {"gemini", "", "", ""},
		"Gemini CLI, another event":    {"gemini", `"BeforeTool"`, `"AfterTool"`, "under AfterTool instead of BeforeTool"},
		"Gemini CLI, a matcher":        {"gemini", `"hooks": [`, `"matcher": "none", "hooks": [`, `its matcher under BeforeTool is "none" instead of none`},
		"Gemini CLI, switched off":     {"gemini", "{\n", "{\n  \"hooksConfig\": {\"disabled\": [\"deskbell\"]},\n", "hooksConfig"},
		"Cursor":                       {"cursor", "", "", ""},
		"Cursor, one that is missing":  {"cursor", `"beforeMCPExecution"`, `"afterMCPExecution"`, "under afterMCPExecution instead of beforeMCPExecution"},
		"Cursor, a failure that lets":  {"cursor", `"failClosed": true`, `"failClosed": false`, "was changed"},
		"opencode":                     {"opencode", "", "", ""},
		"opencode, a changed plug-in":  {"opencode", "if (answer.args === undefined) return", "return", "was changed"},
		"Codex, which has not been on": {"codex", "", "", "Codex does not trust the hook yet"},
	} {
		at := home(t)
		p, err := Install(tt.client, at, Command{Program: command.Program, Data: command.Data, Limit: 10 * time.Minute})
		apply(t, p, err)
		file := path(t, tt.client, at)
		was := get(t, file)
		if tt.old != "" && !strings.Contains(was, tt.old) {
			t.Fatalf("%s: no %s in %s", name, tt.old, was)
		}
		put2(t, file, strings.Replace(was, tt.old, tt.new, 1))
		s, err := Look(tt.client, at, command)
		if err != nil || !s.Installed || tt.want == "" && s.Problem != "" || !strings.Contains(s.Problem, tt.want) {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}

func TestLookAtTrust(t *testing.T) {
	at := home(t)
	p, err := Install("codex", at, command)
	apply(t, p, err)
	config := filepath.Join(at.Home, ".codex", "config.toml")
	for text, want := range map[string]string{
		"[hooks.state.\"" + p.Path + ":pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:1\"\n":                  "",
		"[hooks.state.\"" + p.Path + ":pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:1\"\nenabled = false\n": "switched off",
		"[hooks.state.\"/other/hooks.json:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:1\"\n":               "does not trust",
		"not = toml =": "does not trust",
	} {
		put2(t, config, text)
		if s, err := Look("codex", at, command); err != nil || !strings.Contains(s.Problem, want) || want == "" && s.Problem != "" {
			t.Errorf("%s: %+v, %v", text, s, err)
		}
	}
	project := at
	project.Dir = filepath.Join(at.Home, "p")
	p, err = Install("gemini", project, command)
	apply(t, p, err)
	if s, err := Look("gemini", project, command); err != nil || !strings.Contains(s.Problem, "does not trust this folder") {
		t.Errorf("%+v, %v", s, err)
	}
	put2(t, filepath.Join(at.Home, ".gemini", "trustedFolders.json"), `{"`+project.Dir+`": "TRUST_FOLDER"}`)
	if s, err := Look("gemini", project, command); err != nil || s.Problem != "" {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := os.Stat(project.Dir); err != nil {
		t.Fatal(err)
	}
}
