//go:build agents

package agents

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	"deskbell/build/e2e/agents/models"
)

// A kind is one maker's coding agent.
type kind struct {
	name  string // as Deskbell knows it
	label string // of its tests, where that is another
	bare  bool   // it gets no hook
	asks  string // the tool that its hook names
	// call is what its model asks for to have a command run in a shell.
	call func(command string) models.Call
	// write is what its model asks for to have a file written, and writes the tool that its hook names then.
	write  func(d *fixture, path, text string) models.Call
	writes string
	// spawn is what its model asks for to have a sub-agent do a part.
	spawn func(task string) models.Call
	// changed is in what its model is told where the operator lets a call list letters instead of deleting it.
	changed string
	// prepare writes its settings, and returns its command line and what its environment has besides.
	prepare func(d *fixture, model string) (args, env []string)
}

const task = "Tidy up this folder."

// packaged is the path of a file in one of the packages in build/agents; the first that is there.
func packaged(t *testing.T, patterns ...string) string {
	t.Helper()
	for _, p := range patterns {
		found, err := filepath.Glob(filepath.Join("../../agents/node_modules", p))
		if err == nil && len(found) > 0 {
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

func jsonText(v any) string {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic(err) // texts and numbers always can be
	}
	return string(text)
}

type object = map[string]any

var kinds = []kind{
	{
		name: "claude-code", asks: "Bash", changed: "chapter.txt",
		call: func(command string) models.Call {
			return models.Call{Tool: "Bash", Args: object{"command": command, "description": "Tidy up"}}
		},
		writes: "Write",
		write: func(d *fixture, path, text string) models.Call {
			return models.Call{Tool: "Write", Args: object{"file_path": filepath.Join(d.project, path), "content": text}}
		},
		spawn: func(task string) models.Call {
			return models.Call{Tool: "Agent", Args: object{"description": "A part", "prompt": task, "subagent_type": "general-purpose"}}
		},
		prepare: func(d *fixture, model string) (args, env []string) {
			return claude(d, model, "--permission-mode", "bypassPermissions")
		},
	},
	{
		name: "codex", asks: "Bash", changed: `again with exactly these: {"command":"ls letters"}`,
		call: func(command string) models.Call {
			return models.Call{Tool: "exec_command", Args: object{"cmd": command}}
		},
		writes: "apply_patch",
		write: func(_ *fixture, path, text string) models.Call {
			return models.Call{Tool: "apply_patch", Text: patch(path, text)}
		},
		spawn: func(task string) models.Call {
			return models.Call{Tool: "spawn_agent", Space: "multi_agent_v1", Args: object{"message": task}}
		},
		prepare: func(d *fixture, model string) (args, env []string) { return codex(d, model, "gpt-5.5") },
	},
	{
		// Its newer models have one tool, which runs JavaScript that calls the others.
		name: "codex", label: "codex-script", asks: "Bash", changed: `again with exactly these: {"command":"ls letters"}`,
		call: func(command string) models.Call {
			return script("exec_command", object{"cmd": command})
		},
		writes: "apply_patch",
		write: func(_ *fixture, path, text string) models.Call {
			return script("apply_patch", patch(path, text))
		},
		spawn: func(task string) models.Call {
			return models.Call{Tool: "spawn_agent", Space: "collaboration", Args: object{"message": task, "task_name": "part", "fork_turns": "none"}}
		},
		prepare: func(d *fixture, model string) (args, env []string) { return codex(d, model, "gpt-6.1-sol") },
	},
	{
		name: "gemini", asks: "run_shell_command", changed: "chapter.txt",
		call: func(command string) models.Call {
			return models.Call{Tool: "run_shell_command", Args: object{"command": command, "description": "Tidy up"}}
		},
		writes: "write_file",
		write: func(d *fixture, path, text string) models.Call {
			return models.Call{Tool: "write_file", Args: object{"file_path": filepath.Join(d.project, path), "content": text}}
		},
		spawn: func(task string) models.Call {
			return models.Call{Tool: "invoke_agent", Args: object{"agent_name": "generalist", "prompt": task}}
		},
		prepare: func(d *fixture, model string) (args, env []string) {
			d.write(filepath.Join(d.home, ".gemini", "settings.json"), jsonText(object{
				"general":  object{"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
				"privacy":  object{"usageStatisticsEnabled": false},
				"security": object{"auth": object{"selectedType": "gemini-api-key"}},
			}))
			return []string{"node", packaged(d.t, "@google/gemini-cli/bundle/gemini.js"), "--model", "gemini-2.5-flash", "--approval-mode", "yolo", "--skip-trust", "-p", task},
				[]string{"GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL=" + model, "GEMINI_CLI_NO_RELAUNCH=true"}
		},
	},
	{
		name: "opencode", asks: "bash", changed: "chapter.txt",
		call: func(command string) models.Call {
			return models.Call{Tool: "bash", Args: object{"command": command, "description": "Tidy up"}}
		},
		writes: "write",
		write: func(d *fixture, path, text string) models.Call {
			return models.Call{Tool: "write", Args: object{"filePath": filepath.Join(d.project, path), "content": text}}
		},
		spawn: func(task string) models.Call {
			return models.Call{Tool: "task", Args: object{"description": "A part", "prompt": task, "subagent_type": "general"}}
		},
		prepare: func(d *fixture, model string) (args, env []string) {
			d.write(filepath.Join(d.home, ".config", "opencode", "opencode.json"), jsonText(object{
				"autoupdate": false, "snapshot": false, "share": "disabled", "permission": "allow",
				"model": "test/test", "small_model": "test/test",
				"provider": object{"test": object{
					"npm": "@ai-sdk/openai-compatible", "name": "Test",
					"options": object{"baseURL": model + "/v1", "apiKey": "none"},
					"models":  object{"test": object{"name": "Test", "tool_call": true, "limit": object{"context": 100000, "output": 10000}}},
				}},
			}))
			return []string{packaged(d.t, "opencode-linux-x64-baseline/bin/opencode", "opencode-linux-arm64/bin/opencode"), "run", "--title", "Tidying", task},
				[]string{"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "OPENCODE_EXPERIMENTAL_DISABLE_FILEWATCHER=1"}
		},
	},
}

func claude(d *fixture, model string, more ...string) (args, env []string) {
	return append([]string{packaged(d.t, "@anthropic-ai/claude-code-linux-*/claude"), "-p", task}, more...),
		[]string{"ANTHROPIC_BASE_URL=" + model, "ANTHROPIC_API_KEY=none", "IS_SANDBOX=1", // it does not bypass as root elsewhere
			"MCP_CONNECTION_NONBLOCKING=no", "MCP_CONNECT_TIMEOUT_MS=60000", // a script cannot call again what has not connected yet
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"}
}

func patch(path, text string) string {
	return "*** Begin Patch\n*** Add File: " + path + "\n+" + text + "\n*** End Patch\n"
}

// script calls a tool in JavaScript.
func script(tool string, args any) models.Call {
	return models.Call{Tool: "exec", Space: "functions", Text: fmt.Sprintf("try { text(await tools.%s(%s)) } catch (e) { text(String(e)) }\n", tool, jsonText(args))}
}

// codex prepares Codex, which tells by the model's name which tools it is to be given.
func codex(d *fixture, url, model string) (args, env []string) {
	d.write(filepath.Join(d.home, ".codex", "config.toml"), fmt.Sprintf(`
model = %q
model_provider = "test"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.test]
name = "Test"
base_url = "%s/v1"
wire_api = "responses"
env_key = "TEST_KEY"
`, model, url))
	// Where no one is asked it blocks rm -f by itself.
	d.write(filepath.Join(d.home, ".codex", "rules", "default.rules"), `prefix_rule(pattern = ["rm"], decision = "allow")`+"\n")
	return []string{packaged(d.t, "@openai/codex-linux-*/vendor/*/bin/codex"), "exec", "--skip-git-repo-check",
		"--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", task}, []string{"TEST_KEY=none"}
}

// An agent is one that runs.
type agent struct {
	kind
	*process
	d     *fixture
	model *models.Server
}

// agent starts one whose model asks for these calls.
func (d *fixture) agent(k kind, calls ...models.Call) *agent {
	d.t.Helper()
	return d.withSub(k, calls, nil)
}

// withSub is agent; the models of its sub-agents ask for sub.
func (d *fixture) withSub(k kind, calls, sub []models.Call) *agent {
	d.t.Helper()
	model := models.Serve(task, calls, sub)
	d.t.Cleanup(model.Close)
	args, env := k.prepare(d, model.URL)
	if !k.bare {
		d.run(d.bin, "hook", "install", k.name, "--yes")
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		env = append(env, name+"="+model.URL, strings.ToLower(name)+"="+model.URL)
	}
	env = append(env, "NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost")
	a := &agent{k, d.begin(append(d.env(), env...), d.project, args...), d, model}
	d.t.Cleanup(func() {
		if d.t.Failed() {
			d.t.Logf("%s said:\n%s\n%s\nwas told: %q\nlooked for: %q", k.name, a.out, a.errs, model.Told(), model.Odd())
		}
	})
	return a
}

// told waits until the model was told the result of call n, and checks what is in it.
func (a *agent) told(n int, parts ...string) {
	a.d.t.Helper()
	a.d.wait(fmt.Sprintf("the result of call %d", n), func() bool { return len(a.model.Told()) > n || a.over() })
	told := a.model.Told()
	if len(told) <= n {
		a.d.t.Fatalf("%s ended before its model was told the result of call %d", a.name, n)
	}
	for _, part := range parts {
		if !strings.Contains(told[n], part) {
			a.d.t.Errorf("its model was told of call %d %q, without %q", n, told[n], part)
		}
	}
}

// finished waits until it has ended by itself, having said what its model said last.
func (a *agent) finished() {
	a.d.t.Helper()
	a.d.wait(a.name+" to end", a.over)
	if a.cmd.ProcessState.ExitCode() != 0 || !strings.Contains(a.out.String(), models.Goodbye) {
		a.d.t.Errorf("%s ended with %s", a.name, a.cmd.ProcessState)
	}
}

func each(t *testing.T, test func(d *fixture, k kind)) {
	for _, k := range kinds {
		if testing.Short() && k.name != "claude-code" && k.name != "codex" {
			continue // what the most used two do is enough for a quick run
		}
		label := k.label
		if label == "" {
			label = k.name
		}
		t.Run(label, func(t *testing.T) { test(newFixture(t), k) })
	}
}

func TestTheOperatorDecides(t *testing.T) {
	each(t, func(d *fixture, k kind) {
		for _, folder := range []string{"drafts", "old", "novel", "letters", "diary"} {
			d.treasure(folder)
		}
		d.start()
		a := d.agent(k, k.call("rm -rf drafts"), k.call("rm -rf old"), k.call("rm -rf novel"), k.call("rm -rf letters"), k.call("rm -rf diary"), k.call("cat README.md"))

		d.answer(d.asked(a, "rm -rf drafts"), service.AnswerRequest{Choice: human.ChooseDeny, Reason: "They are read on Friday."})
		a.told(0, "They are read on Friday.")
		d.still("drafts")

		q := d.asked(a, "rm -rf old")
		d.still("old")
		d.answer(q, service.AnswerRequest{Choice: human.ChooseAllow})
		a.told(1)
		d.gone("old")

		d.answer(d.asked(a, "rm -rf novel"), service.AnswerRequest{Choice: human.ChooseBackup})
		a.told(2)
		d.gone("novel")
		if copies := d.copies("about novel"); len(copies) != 1 {
			d.t.Errorf("the copies are %q", copies)
		}

		q = d.asked(a, "rm -rf letters")
		d.answer(q, service.AnswerRequest{Choice: human.ChooseChange, Args: d.changed(q, "rm -rf letters", "ls letters")})
		a.told(3, k.changed)
		d.still("letters")

		q = d.asked(a, "rm -rf diary")
		d.killHook()
		a.told(4, "Deskbell blocked this call: its hook")
		d.still("diary")
		d.answer(q, service.AnswerRequest{Choice: human.ChooseAllow}) // which comes too late

		a.told(5, strings.TrimSpace(readme)) // without a question
		a.finished()
		if left := d.waiting(); len(left) > 0 {
			d.t.Errorf("%d questions are left", len(left))
		}
		d.still("drafts")
		d.still("diary")
	})
}

// What would let an agent answer itself is asked about, and does not run when it is denied. build/attacks has more ways.
func TestNoAgentAnswersItself(t *testing.T) {
	each(t, func(d *fixture, k kind) {
		d.start()
		tries := []string{
			d.bin + " keys add mine --data " + d.data,
			d.bin + " --data=" + d.data + " serve --json --code-fd 3 3>code",
			"ln -s " + d.data + " notes && cat notes/hooks/" + k.name + ".key",
		}
		calls := make([]models.Call, len(tries))
		for i, command := range tries {
			calls[i] = k.call(command)
		}
		a := d.agent(k, calls...)
		for i, command := range tries {
			d.answer(d.asked(a, command), service.AnswerRequest{Choice: human.ChooseDeny, Reason: "That is for me."})
			a.told(i, "That is for me.")
		}
		a.finished()
		if keys, err := exec.Command(d.bin, "keys", "list", "--json", "--data", d.data).Output(); err != nil || strings.Contains(string(keys), "mine") {
			d.t.Errorf("the keys are %s (%v)", keys, err)
		}
		for _, name := range []string{"code", "notes"} {
			if _, err := os.Lstat(filepath.Join(d.project, name)); err == nil {
				d.t.Errorf("there is %s", name)
			}
		}
	})
}

// The same effect by another tool is asked about as well.
func TestFilesThatRunByThemselvesAreAskedAbout(t *testing.T) {
	each(t, func(d *fixture, k kind) {
		d.start()
		const trap = ".husky/pre-commit"
		a := d.agent(k, k.write(d, "notes.txt", "Nothing but words."), k.write(d, trap, "rm -rf drafts"))
		a.told(0)
		if text, err := os.ReadFile(filepath.Join(d.project, "notes.txt")); err != nil || !strings.Contains(string(text), "Nothing but words.") {
			d.t.Errorf("the harmless file holds %q, %v", text, err)
		}
		op, q := d.asks(a)
		if q.Tool != k.writes || !strings.Contains(string(q.Args), trap) {
			d.t.Errorf("the question is %s with %s", q.Tool, q.Args)
		}
		d.answer(op, service.AnswerRequest{Choice: human.ChooseDeny, Reason: "Such files are mine."})
		a.told(1, "Such files are mine.")
		a.finished()
		d.gone(trap)
	})
}

func TestSubAgentsAreAskedAboutToo(t *testing.T) {
	each(t, func(d *fixture, k kind) {
		d.treasure("drafts")
		d.start()
		refused := make(chan struct{})
		last := k.call("cat README.md") // a sub-agent may continue when its parent has ended, or end with it
		last.After = refused
		a := d.withSub(k, []models.Call{k.spawn("Do this part alone."), last}, []models.Call{k.call("rm -rf drafts")})
		d.answer(d.asked(a, "rm -rf drafts"), service.AnswerRequest{Choice: human.ChooseDeny})
		close(refused)
		a.told(1, strings.TrimSpace(readme))
		a.finished()
		d.still("drafts")
		if left := d.waiting(); len(left) > 0 {
			d.t.Errorf("%d questions are left", len(left))
		}
	})
}

// Without a hook, Claude Code asks Deskbell over MCP in place of its user.
func TestClaudeCodeAsksThePermissionTool(t *testing.T) {
	d := newFixture(t)
	d.treasure("drafts")
	d.treasure("old")
	d.start()
	k := kinds[slices.IndexFunc(kinds, func(k kind) bool { return k.name == "claude-code" })]
	k.bare = true
	k.prepare = func(d *fixture, model string) (args, env []string) {
		return claude(d, model, "--permission-prompt-tool", "mcp__deskbell__permission", "--mcp-config", jsonText(object{
			"mcpServers": object{"deskbell": object{"command": d.bin, "args": []string{"mcp", "--permission"}, "env": object{"DESKBELL_DATA": d.data}}},
		}))
	}
	a := d.agent(k, k.call("rm -rf drafts"), k.call("rm -rf old"), k.call("cat README.md"))
	for _, answer := range []service.AnswerRequest{{Choice: human.ChooseDeny, Reason: "They are read on Friday."}, {Choice: human.ChooseAllow}} {
		d.wait("a question", func() bool { return len(d.waiting()) == 1 || a.over() })
		for _, op := range d.waiting() {
			d.answer(op, answer)
		}
	}
	a.told(0, "They are read on Friday.")
	a.told(1)
	a.told(2, strings.TrimSpace(readme))
	a.finished()
	d.still("drafts")
	d.gone("old")
}

// Codex asks no hook about what its model types into a program that runs. With this setting there is nothing to type into.
func TestCodexWithoutATerminalTypesNothing(t *testing.T) {
	d := newFixture(t)
	d.start()
	k := kinds[slices.IndexFunc(kinds, func(k kind) bool { return k.name == "codex" })]
	prepare := k.prepare
	k.prepare = func(d *fixture, model string) (args, env []string) {
		args, env = prepare(d, model)
		return append(args, "-c", "features.unified_exec_tty=false"), env
	}
	cat := k.call("cat")
	cat.Args["tty"] = true
	a := d.agent(k, cat, k.call("cat"))
	a.told(0, "TTY execution is disabled")
	a.told(1, "exited with code 0") // at once: its input is closed
	a.finished()
}

func TestWithoutDeskbellOnlyWhatIsHarmlessRuns(t *testing.T) {
	each(t, func(d *fixture, k kind) {
		d.treasure("drafts")
		started := make(chan struct{})
		asked := k.call("rm -rf drafts")
		asked.After = started
		a := d.agent(k, k.call("rm -rf drafts"), k.call("cat README.md"), asked, k.call("cat README.md"))

		a.told(0, "Deskbell blocked this call", "Deskbell does not run")
		d.still("drafts")
		a.told(1, strings.TrimSpace(readme))

		d.start()
		close(started)
		q := d.asked(a, "rm -rf drafts")
		d.server.kill()
		a.told(2, "Deskbell blocked this call: Deskbell", "stopped", "is kept", "The call was not run")
		a.told(3, strings.TrimSpace(readme))
		a.finished()
		d.still("drafts")

		d.start()
		if again := d.asked(a, "rm -rf drafts"); again.ID != q.ID || again.Digest != q.Digest {
			d.t.Errorf("the question is %s, and was %s", again.ID, q.ID)
		}
	})
}
