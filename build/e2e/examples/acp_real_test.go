//go:build examples && agents

package examples

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/build/e2e/agents/models"
)

// Coding agents that speak ACP, as their makers publish them, with a model of the test's: they ask the client of the examples
// before they run a command, and a person answers.
func TestACPAgents(t *testing.T) {
	const prompt = "Tidy up this folder."
	packaged := func(t *testing.T, patterns ...string) string {
		t.Helper()
		for _, p := range patterns {
			if found, err := filepath.Glob(filepath.Join("../../agents/node_modules", p)); err == nil && len(found) > 0 {
				path, err := filepath.Abs(found[0])
				if err != nil {
					t.Fatal(err)
				}
				return path
			}
		}
		t.Fatalf("there is none of %q in build/agents/node_modules; run this with `make agents`", patterns)
		return ""
	}
	for name, tt := range map[string]struct {
		tool  string
		agent func(t *testing.T, d *fixture, model string) (command, env []string)
	}{
		"opencode": {"bash", func(t *testing.T, d *fixture, model string) (command, env []string) {
			write(t, filepath.Join(d.home, ".config", "opencode", "opencode.json"), map[string]any{
				"autoupdate": false, "snapshot": false, "share": "disabled", "permission": "ask", "model": "test/test", "small_model": "test/test",
				"provider": map[string]any{"test": map[string]any{
					"npm": "@ai-sdk/openai-compatible", "name": "Test", "options": map[string]any{"baseURL": model + "/v1", "apiKey": "none"},
					"models": map[string]any{"test": map[string]any{"name": "Test", "tool_call": true, "limit": map[string]any{"context": 100000, "output": 10000}}},
				}},
			})
			return []string{packaged(t, "opencode-linux-x64-baseline/bin/opencode", "opencode-linux-arm64/bin/opencode"), "acp"},
				[]string{"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "OPENCODE_EXPERIMENTAL_DISABLE_FILEWATCHER=1"}
		}},
		"gemini": {"run_shell_command", func(t *testing.T, d *fixture, model string) (command, env []string) {
			write(t, filepath.Join(d.home, ".gemini", "settings.json"), map[string]any{
				"general":  map[string]any{"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
				"privacy":  map[string]any{"usageStatisticsEnabled": false},
				"security": map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}},
			})
			return []string{"node", packaged(t, "@google/gemini-cli/bundle/gemini.js"), "--model", "gemini-2.5-flash", "--skip-trust", "--experimental-acp"},
				[]string{"GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL=" + model, "GEMINI_CLI_NO_RELAUNCH=true"}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			var calls []models.Call
			for _, folder := range []string{"letters", "sounds"} {
				if err := os.Mkdir(filepath.Join(d.work, folder), 0o700); err != nil {
					t.Fatal(err)
				}
				calls = append(calls, models.Call{Tool: tt.tool, Args: map[string]any{"command": "rmdir " + folder, "description": "Remove " + folder}})
			}
			model := models.Serve(prompt, calls, nil)
			t.Cleanup(model.Close)
			command, env := tt.agent(t, d, model.URL)
			// What is not on this machine is not there for it.
			env = append(env, "HTTP_PROXY="+model.URL, "HTTPS_PROXY="+model.URL, "NO_PROXY=127.0.0.1,localhost")
			p := d.runWith(env, compiled(t, "adapters", "acp-client"), slices.Concat([]string{prompt}, command)...)
			asked := func(command string) human.Operation {
				op := d.asked(p)
				if q := details(t, op); op.Kind != human.Approve || q.Risk != "high" || !strings.Contains(q.Action, command) {
					t.Errorf("of %q it asked with %s %q, %+v", command, op.Kind, op.Description, q)
				}
				return op
			}
			first := asked("rmdir letters")
			d.approve(first, "")
			d.wait("the second ring", func() bool { return len(d.all()) == 2 || p.over() })
			d.deny(asked("rmdir sounds"), "")
			d.ends(p, 0)
			for folder, there := range map[string]bool{"letters": false, "sounds": true} {
				if _, err := os.Stat(filepath.Join(d.work, folder)); (err == nil) != there {
					t.Errorf("%s: %v\n%s", folder, err, p)
				}
			}
		})
	}
}

func write(t *testing.T, path string, v any) {
	t.Helper()
	raw, err := json.Marshal(v)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = os.WriteFile(path, raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
