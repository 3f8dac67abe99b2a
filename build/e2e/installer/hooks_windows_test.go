package installer

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// hookFiles are the settings, or the plug-in, that each coding agent has its hooks in.
func hookFiles() map[string]string {
	home, err := os.UserHomeDir()
	if err != nil {
		panic(err)
	}
	return map[string]string{
		"claude-code": filepath.Join(home, ".claude", "settings.json"),
		"codex":       filepath.Join(home, ".codex", "hooks.json"),
		"gemini":      filepath.Join(home, ".gemini", "settings.json"),
		"cursor":      filepath.Join(home, ".cursor", "hooks.json"),
		"opencode":    filepath.Join(home, ".config", "opencode", "plugins", "deskbell.js"),
	}
}

// hooks installs the hook for every coding agent, and asks each as the agent does.
func hooks(t *testing.T, i installation) {
	for client, file := range hookFiles() {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if said, code := i.said(t, "hook", "install", client, "--yes"); code != 0 {
			t.Errorf("%s: %s", client, said)
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), "deskbell-hook.exe") {
			t.Errorf("%s: %s: %v %s", client, file, err, text)
		}
	}
	for name, tt := range map[string]struct{ client, call, says string }{
		"a command of Bash that looks":       {"claude-code", `{"hook_event_name":"PreToolUse","cwd":"C:\\","tool_name":"Bash","tool_input":{"command":"git status"},"tool_use_id":"t"}`, `allow`},
		"a command of PowerShell that looks": {"claude-code", `{"hook_event_name":"PreToolUse","cwd":"C:\\","tool_name":"PowerShell","tool_input":{"command":"Get-ChildItem -Recurse | Select-String TODO"},"tool_use_id":"t"}`, `allow`},
		"PowerShell that deletes all":        {"claude-code", `{"hook_event_name":"PreToolUse","cwd":"C:\\","tool_name":"PowerShell","tool_input":{"command":"Remove-Item -Recurse -Force C:\\"},"tool_use_id":"t"}`, `deny`},
		"Codex looks":                        {"codex", `{"hook_event_name":"PreToolUse","cwd":"C:\\","tool_name":"Bash","tool_input":{"command":"git status"},"tool_use_id":"t"}`, ``},
		"Gemini looks":                       {"gemini", `{"hook_event_name":"BeforeTool","cwd":"C:\\","tool_name":"run_shell_command","tool_input":{"command":"git status"}}`, `allow`},
		"Cursor looks":                       {"cursor", `{"hook_event_name":"beforeShellExecution","cwd":"C:\\","command":"git status"}`, `allow`},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), i.program("deskbell-hook"), tt.client)
			cmd.Stdin = strings.NewReader(tt.call)
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), tt.says) {
				t.Errorf("%s %v", out, err)
			}
		})
	}
}
