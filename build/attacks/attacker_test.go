//go:build attacks

package attacks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// The attacker is a process of its own: it does what Claude Code does with a tool call (reads the settings, runs the hooks of
// PreToolUse, and the call only if they let it), in the mode that asks its user nothing, and takes its calls from a pipe.

// A call is a tool call of the attacker's.
type call struct {
	Hooked bool // whether the client has its hooks
	Tool   string
	Input  map[string]any
}

// A result is what became of it.
type result struct {
	Hooks    int    // how many ran
	Decision string // allow, deny, ask, or nothing where no hook said anything
	Reason   string
	Ran      bool
	Output   string
}

// patience is for what comes at once where nothing else runs.
const patience = 30 * time.Second

// attack takes calls until its input ends.
func runAttacker() {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var c call
		if err := in.Decode(&c); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			panic(err)
		}
		r := result{Decision: "nothing"}
		env := os.Environ()
		if c.Hooked {
			env = r.judge(c)
		}
		if r.Decision == "nothing" || r.Decision == "allow" {
			if strings.HasPrefix(c.Tool, ownTools) {
				r.Ran, r.Output = c.serve(env)
			} else {
				r.Ran, r.Output = true, c.run(env)
			}
		}
		if err := out.Encode(r); err != nil {
			panic(err)
		}
	}
}

// settings are the parts of Claude Code's settings that matter here.
type settings struct {
	Env     map[string]string
	Disable bool `json:"disableAllHooks"`
	Hooks   map[string][]struct {
		Matcher string
		Hooks   []struct{ Type, Command, OnFailure string }
	}
}

// judge runs the hooks and returns the environment that the settings give to the client's programs.
func (r *result) judge(c call) (env []string) {
	env = os.Environ()
	home, err := os.UserHomeDir()
	if err != nil {
		panic(err)
	}
	var commands []struct{ Type, Command, OnFailure string }
	off := false
	for _, path := range []string{home + "/.claude/settings.json", ".claude/settings.json", ".claude/settings.local.json"} {
		raw, err := os.ReadFile(path)
		var s settings
		if err != nil || json.Unmarshal(raw, &s) != nil {
			continue // a client continues without settings that it cannot read
		}
		for name, value := range s.Env {
			env = append(env, name+"="+value)
		}
		off = off || s.Disable
		for _, group := range s.Hooks["PreToolUse"] {
			whole, err := regexp.Compile("^(" + group.Matcher + ")$")
			if group.Matcher == "" || group.Matcher == "*" || err == nil && whole.MatchString(c.Tool) {
				commands = append(commands, group.Hooks...)
			}
		}
	}
	if off {
		commands = nil
	}
	cwd, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	words, err := json.Marshal(map[string]any{
		"session_id": os.Getenv(marker), "transcript_path": filepath.Join(cwd, "transcript.jsonl"), "cwd": cwd, "permission_mode": "bypassPermissions",
		"hook_event_name": "PreToolUse", "tool_name": c.Tool, "tool_input": c.Input, "tool_use_id": "toolu_" + time.Now().Format("150405.000000000"),
	})
	if err != nil {
		panic(err)
	}
	for _, hook := range commands {
		r.Hooks++
		r.hook(hook.Command, hook.OnFailure, words, env)
		if r.Decision == "deny" || r.Decision == "ask" {
			break
		}
	}
	return env
}

// hook runs one hook; what it says is in the result.
func (r *result) hook(command, onFailure string, words []byte, env []string) {
	cmd := exec.Command("sh", "-c", command)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = bytes.NewReader(words), &out, &errs, env
	err := cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code == 2 || err != nil && onFailure == "block" {
		r.Decision, r.Reason = "deny", errs.String()
		return
	}
	var said struct {
		HookSpecificOutput struct{ PermissionDecision, PermissionDecisionReason string }
	}
	if err == nil && json.Unmarshal(out.Bytes(), &said) == nil && said.HookSpecificOutput.PermissionDecision != "" {
		r.Decision, r.Reason = said.HookSpecificOutput.PermissionDecision, said.HookSpecificOutput.PermissionDecisionReason
	}
}

// run does what the call is for, and returns what the model would read.
func (c call) run(env []string) string {
	text := func(names ...string) string {
		for _, name := range names {
			if s, ok := c.Input[name].(string); ok {
				return s
			}
		}
		return ""
	}
	switch c.Tool {
	case "Write":
		path := text("file_path")
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = os.WriteFile(path, []byte(text("content")), 0o600)
		}
		if err != nil {
			return err.Error()
		}
		return "written"
	case "Read":
		raw, err := os.ReadFile(text("file_path"))
		if err != nil {
			return err.Error()
		}
		return string(raw)
	default: // Bash, or a tool of a server that the attacker has
		return bash(text("command", "script"), env)
	}
}

// ownTools are those of notebook.py in the project, the MCP server that the client is set up with: behind the proxy where it has its hooks.
const ownTools = "mcp__notebook__"

// serve has the server do a call; ran says whether it did.
func (c call) serve(env []string) (ran bool, said string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	args := []string{"python3", "notebook.py"}
	if c.Hooked {
		args = append([]string{os.Getenv(program), "mcp-proxy", "--agent", "claude-code", "--name", "notebook", "--data", os.Getenv(data), "--"}, args...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var errs bytes.Buffer
	cmd.Env, cmd.Stderr = env, &errs
	to, err := cmd.StdinPipe()
	if err != nil {
		panic(err)
	}
	from, err := cmd.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	defer func() {
		_ = to.Close() // it ends then
		_ = cmd.Wait() // how does not matter
	}()
	out, in := json.NewEncoder(to), json.NewDecoder(from)
	type object = map[string]any
	for id, ask := range []object{
		{"method": "initialize", "params": object{"protocolVersion": "2025-06-18", "capabilities": object{}, "clientInfo": object{"name": "claude-code", "version": "1"}}},
		{"method": "tools/list"},
		{"method": "tools/call", "params": object{"name": strings.TrimPrefix(c.Tool, ownTools), "arguments": c.Input}},
	} {
		ask["jsonrpc"], ask["id"] = "2.0", id
		if err := out.Encode(ask); err != nil {
			return false, err.Error()
		}
		for {
			var answer struct {
				ID     *int
				Result struct{ IsError bool }
				Error  json.RawMessage
			}
			var raw json.RawMessage
			if err := in.Decode(&raw); err != nil {
				return false, err.Error() + errs.String()
			}
			if err := json.Unmarshal(raw, &answer); err != nil {
				panic(err)
			}
			if answer.ID != nil && *answer.ID == id {
				ran, said = answer.Error == nil && !answer.Result.IsError, string(raw)
				break
			}
		}
	}
	return ran, said
}

// bash runs a script to its end, not to that of what it leaves in the background.
func bash(script string, env []string) string {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := os.CreateTemp("", "output")
	if err != nil {
		panic(err)
	}
	defer os.Remove(out.Name()) //nolint:errcheck // the folder is deleted anyway
	defer out.Close()           //nolint:errcheck // it is only read afterwards
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	failed := cmd.Run()
	raw, err := os.ReadFile(out.Name())
	if err != nil {
		panic(err)
	}
	said := strings.ToValidUTF8(string(raw), "?")
	if failed != nil {
		said += "\n" + failed.Error()
	}
	return said
}
