package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"deskbell/backend/app"
	"deskbell/backend/transport/cli"
)

// deskbell runs the command line in this process.
func deskbell(t *testing.T, in string, args ...string) (out, errs string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	code = cli.Execute(context.Background(), app.Program("test", "", nil), args, strings.NewReader(in), &o, &e)
	return o.String(), e.String(), code
}

func TestHooksArePutIntoSettingsWithAKeyOfTheirOwn(t *testing.T) {
	home, data := t.TempDir(), t.TempDir()
	for _, name := range []string{"HOME", "USERPROFILE"} {
		t.Setenv(name, home)
	}
	for _, name := range []string{"DESKBELL_DATA", "DESKBELL_KEY", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME", "OPENCODE_CONFIG_DIR", "COPILOT_HOME", "QWEN_HOME"} {
		t.Setenv(name, "")
	}
	keyOf := func(client string) string {
		text, err := os.ReadFile(filepath.Join(data, "hooks", client+".key"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(text))
	}
	for _, client := range []string{"claude-code", "codex", "gemini", "cursor", "opencode", "copilot", "qwen"} {
		if _, errs, code := deskbell(t, "y\n", "hook", "install", client, "--data", data); code != 3 || !strings.Contains(errs, "--yes") {
			t.Errorf("%s: without a person and without --yes: exit %d, %s", client, code, errs)
		}
		out, errs, code := deskbell(t, "", "hook", "install", client, "--data", data, "--yes")
		if code != 0 || !strings.Contains(out, "+++ "+home) || !strings.Contains(errs, "Changed "+home) {
			t.Errorf("%s: exit %d, %s%s", client, code, out, errs)
		}
		key := keyOf(client)
		info, err := os.Stat(filepath.Join(data, "hooks", client+".key"))
		if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 || !strings.HasPrefix(key, "dbk_") {
			t.Errorf("%s: its key is %q, %v", client, key, err)
		}
		var answer struct {
			Hooks []struct {
				Client, Path, Scope, Command string
				Installed, Key               bool
			}
		}
		status, _, _ := deskbell(t, "", "hook", "status", "--data", data, "--json", "--dir", home)
		if err := json.Unmarshal([]byte(status), &answer); err != nil {
			t.Fatal(err, status)
		}
		for _, h := range answer.Hooks {
			if h.Client != client || h.Scope != "user" {
				continue
			}
			if text, err := os.ReadFile(h.Path); err != nil || !h.Installed || !h.Key || strings.Contains(string(text), key) || !strings.Contains(h.Command, data) {
				t.Errorf("%s: %+v, %v", client, h, err)
			}
		}
		if out, errs, code := deskbell(t, "", "hook", "install", client, "--data", data); code != 0 || out != "" || !strings.Contains(errs, "already") || keyOf(client) != key {
			t.Errorf("%s, again: exit %d, %s%s", client, code, out, errs)
		}
		revoke(t, data, client)
		if _, errs, code := deskbell(t, "", "hook", "install", client, "--data", data); code == 0 || !strings.Contains(errs, "revoked") || keyOf(client) != key {
			t.Errorf("%s: revoked, it lets itself in again: exit %d, %s", client, code, errs)
		}
		if _, errs, code := deskbell(t, "", "hook", "install", client, "--data", data, "--yes", "--uninstall"); code != 0 {
			t.Error(errs)
		}
	}
	var left []string
	_ = filepath.WalkDir(home, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			left = append(left, path)
		}
		return err
	})
	if left != nil {
		t.Error("left behind:", left)
	}
}

func TestTheBigProgramAnswersHooksToo(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	const in = `{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t"}`
	for _, args := range [][]string{{"hook", "claude-code", "--data", data}, {"--data", data, "hook", "claude-code", "--limit", "5"}} {
		if out, errs, code := deskbell(t, in, args...); code != 0 || !strings.Contains(out, `"allow"`) {
			t.Errorf("%q: exit %d, %s%s", args, code, out, errs)
		}
	}
	for _, args := range [][]string{{"hook"}, {"hook", "emacs"}, {"hook", "claude-code", "--what"}} {
		if out, errs, code := deskbell(t, in, args...); code != 2 || out != "" || !strings.Contains(errs, "usage") {
			t.Errorf("%q: exit %d, %s%s", args, code, out, errs)
		}
	}
	if out, _, code := deskbell(t, "", "hook", "--help"); code != 0 || !strings.Contains(out, "status") {
		t.Errorf("exit %d, %s", code, out)
	}
}
