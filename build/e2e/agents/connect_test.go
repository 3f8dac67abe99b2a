//go:build agents

package agents

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	"deskbell/backend/transport/client"
	"deskbell/build/e2e/agents/models"
)

// A connected is one of the agents as connecting leaves it: with its own approvals on.
type connected struct {
	client  string // as Deskbell knows it
	program string // as its maker calls it
	kind    kind
	ask     models.Call // of the tool human
}

func asking(tool, space string) models.Call {
	return models.Call{Tool: tool, Space: space, Args: object{"action": "invoke", "action_type": "feedback", "description": "Which colour?"}}
}

// usual is an agent without the options that switch its approvals off.
func usual(name string, less ...string) kind {
	k := kinds[slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })]
	k.bare = true // connecting puts the hook in
	prepare := k.prepare
	k.prepare = func(d *fixture, model string) (args, env []string) {
		args, env = prepare(d, model)
		return slices.DeleteFunc(args, func(a string) bool { return slices.Contains(less, a) }), env
	}
	return k
}

// copilot prepares GitHub Copilot CLI as it is started in an environment of its own.
func copilot(d *fixture, model string) (args, env []string) {
	return []string{packaged(d.t, "@github/copilot-linux-*/copilot"), "--model", "test", "--allow-tool", "deskbell", "-p", task},
		[]string{"COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=" + model + "/v1", "COPILOT_PROVIDER_API_KEY=none", "COPILOT_MODEL=test", "COPILOT_AUTO_UPDATE=false"}
}

// qwen prepares Qwen Code as it is started without a person at it. Its own approvals stay on.
func qwen(d *fixture, model string) (args, env []string) {
	d.write(filepath.Join(d.home, ".qwen", "settings.json"), jsonText(object{
		"general":  object{"enableAutoUpdate": false},
		"privacy":  object{"usageStatisticsEnabled": false},
		"security": object{"auth": object{"selectedType": "openai"}},
	}))
	return []string{"node", packaged(d.t, "@qwen-code/qwen-code/cli-entry.js"), "--model", "test", "-p", task},
		[]string{"OPENAI_BASE_URL=" + model + "/v1", "OPENAI_API_KEY=none"}
}

var everyConnected = []connected{
	{"claude-code", "claude", usual("claude-code", "--permission-mode", "bypassPermissions"), asking("mcp__deskbell__human", "")},
	{"codex", "codex", usual("codex", "--dangerously-bypass-approvals-and-sandbox"), asking("human", "mcp__deskbell")},
	{"gemini", "gemini", usual("gemini", "--approval-mode", "yolo"), asking("mcp_deskbell_human", "")},
	{"opencode", "opencode", usual("opencode"), asking("deskbell_human", "")},
	{"copilot", "copilot", kind{name: "copilot", bare: true, prepare: copilot}, asking("deskbell-human", "")},
	{"qwen", "qwen", kind{name: "qwen", bare: true, prepare: qwen}, asking("mcp__deskbell__human", "")},
}

// call makes one request as the operator.
func (d *fixture) call(method, path string, body, into any) {
	d.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		d.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(d.t.Context(), method, d.url+path, bytes.NewReader(text))
	if err != nil {
		d.t.Fatal(err)
	}
	if body == nil {
		r.Body, r.ContentLength = nil, 0
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+d.token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }() // it was read
	raw, err := io.ReadAll(answer.Body)
	if err == nil && into != nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil || answer.StatusCode/100 != 2 {
		d.t.Fatalf("%s %s: %d %s %v", method, path, answer.StatusCode, raw, err)
	}
}

// installed puts an agent's program where its user has programs.
func (d *fixture) installed(name, program string) {
	d.t.Helper()
	dir := filepath.Join(d.home, ".local", "bin")
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = os.Symlink(program, filepath.Join(dir, name))
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// settings are the files in the home, but for programs: their texts by path.
func (d *fixture) settings() map[string]string {
	d.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(d.home, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		all[path] = string(text)
		return err
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return all
}

// Each agent, connected by the operator's click and started in another folder with its own approvals on, asks, is answered in the
// console, and continues. A click takes all of it out again.
func TestConnectedAgentsAsk(t *testing.T) {
	browser := browser(t)
	for _, c := range everyConnected {
		if testing.Short() && c.client != "claude-code" && c.client != "codex" {
			continue
		}
		t.Run(c.client, func(t *testing.T) {
			d := newFixture(t)
			d.start()
			page := d.console(browser)
			var before, written map[string]string
			k := c.kind
			prepare := k.prepare
			k.prepare = func(d *fixture, model string) (args, env []string) {
				args, env = prepare(d, model)
				program := args[0]
				if program == "node" {
					program = args[1]
				}
				d.installed(c.program, program)
				before = d.settings()
				page.goes("agents")
				page.clicks(c.client, "Connect")
				page.stands(c.client, "Connected")
				page.clicks(c.client, "Undo")
				page.stands(c.client, "Found")
				if after := d.settings(); !maps.Equal(after, before) {
					d.t.Errorf("after the click on Undo the home has %q, not %q", after, before)
				}
				page.clicks(c.client, "Connect")
				page.stands(c.client, "Connected")
				if written = d.settings(); maps.Equal(written, before) {
					d.t.Error("nothing was written")
				}
				d.project = filepath.Join(filepath.Dir(d.home), "elsewhere")
				if err := os.Mkdir(d.project, 0o700); err != nil {
					d.t.Fatal(err)
				}
				return args, env
			}
			a := d.agent(k, c.ask, c.ask)
			for n, word := range []string{"vermilion", "cerulean"} {
				op := d.requested(a)
				if op.Kind != human.Feedback || op.AgentID != c.client {
					d.t.Fatalf("it is a %s of %s: %s", op.Kind, op.AgentID, op.Description)
				}
				page.answers(op.ID, word)
				a.told(n, word)
			}
			a.finished()
			now := d.settings()
			page.goes("agents")
			page.clicks(c.client, "Undo")
			page.stands(c.client, "Found")
			d.restored(before, written, now)
		})
	}
}

// requested waits for an agent's request.
func (d *fixture) requested(a *agent) (op human.Operation) {
	d.t.Helper()
	d.wait("a request of "+a.name, func() bool {
		page, err := d.operator.List(d.t.Context(), client.Filter{Open: true})
		if err != nil {
			d.t.Fatal(err)
		}
		for _, o := range page.Operations {
			op = o
		}
		return len(page.Operations) > 0 || a.over()
	})
	if op.ID == "" {
		d.t.Fatalf("%s ended without a request", a.name)
	}
	return op
}

// restored checks what Undo left: what the agent had not changed while it was connected is as it was before, to the byte; what it had is
// without anything of Deskbell.
func (d *fixture) restored(before, written, changed map[string]string) {
	d.t.Helper()
	after := d.settings()
	for path, text := range written {
		settings := strings.TrimSuffix(path, ".before-deskbell")
		switch was, there := before[path]; {
		case text == was || changed[settings] != written[settings] && settings != path: // a copy stays where the agent wrote
		case changed[path] == text && after[path] != was:
			d.t.Errorf("%s is %q after the click on Undo, not %q", path, after[path], was)
		case !there && changed[path] == text:
			if _, left := after[path]; left {
				d.t.Errorf("%s is left", path)
			}
		case strings.Contains(after[path], d.bin):
			d.t.Errorf("%s still starts Deskbell: %s", path, after[path])
		}
	}
}

// Two that speak Claude Code's hook protocol: what their hook denies does not run, what it allows does, and nothing runs when it is
// killed.
func TestAgentsWithClaudeCodesProtocol(t *testing.T) {
	if testing.Short() {
		t.Skip("the two most used are enough for a quick run")
	}
	for _, c := range everyConnected {
		if c.client != "qwen" && c.client != "copilot" {
			continue
		}
		t.Run(c.client, func(t *testing.T) {
			d := newFixture(t)
			for _, folder := range []string{"drafts", "old", "diary"} {
				d.treasure(folder)
			}
			d.start()
			k := c.kind
			k.bare, k.asks = false, map[string]string{"qwen": "run_shell_command", "copilot": "Bash"}[c.client]
			tool := map[string]string{"qwen": "run_shell_command", "copilot": "bash"}[c.client]
			prepare := k.prepare
			k.prepare = func(d *fixture, model string) (args, env []string) {
				args, env = prepare(d, model)
				return append(args, map[string]string{"qwen": "--yolo", "copilot": "--allow-all-tools"}[c.client]), env
			}
			run := func(command string) models.Call {
				args := object{"command": command, "description": "Tidy up"}
				if c.client == "qwen" {
					args["is_background"] = false
				}
				return models.Call{Tool: tool, Args: args}
			}
			a := d.agent(k, run("rm -rf drafts"), run("rm -rf old"), run("rm -rf diary"), run("cat README.md"))
			d.answer(d.asked(a, "rm -rf drafts"), service.AnswerRequest{Choice: human.ChooseDeny, Reason: "They are read on Friday."})
			a.told(0, "They are read on Friday.")
			d.still("drafts")
			d.answer(d.asked(a, "rm -rf old"), service.AnswerRequest{Choice: human.ChooseAllow})
			a.told(1)
			d.gone("old")
			d.asked(a, "rm -rf diary")
			d.killHook()
			a.told(2)
			d.still("diary")
			a.told(3, strings.TrimSpace(readme))
			a.finished()
		})
	}
}
