package app_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/transport/hook/install"
)

// clientsOf is what the server says of all clients, by their ids.
func (d *fixture) clientsOf(t *testing.T) map[string]human.AgentClient {
	t.Helper()
	var list struct{ Clients []human.AgentClient }
	d.boss.good(t, "GET", "/api/agents/clients", nil, &list)
	all := map[string]human.AgentClient{}
	for _, c := range list.Clients {
		all[c.ID] = c
	}
	return all
}

// A home with some settings in it, and a server that has it for its user's.
func connecting(t *testing.T) (d *fixture, home string) {
	t.Helper()
	home, dir := t.TempDir(), t.TempDir()
	s := serve(t, dir, []string{"HOME=" + home, "USERPROFILE=" + home, "APPDATA=" + filepath.Join(home, "AppData", "Roaming"), "PATH=" + home})
	return &fixture{s, dir, []string{"DESKBELL_KEY=" + key(t, dir, "bot")}, operator(t, s.url, s.code)}, home
}

func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			var text []byte
			text, err = os.ReadFile(path)
			all[path] = string(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Each client is connected by the operator's call, sends a request through its own settings, which is answered, and is taken out
// again to the byte.
func TestClientsAreConnectedProvedAndTakenOut(t *testing.T) {
	d, home := connecting(t)
	for path, text := range map[string]string{
		".claude.json":                     "{\n  \"numStartups\": 3, // a comment\n  \"mcpServers\": {}\n}",
		".claude/settings.json":            "{\"permissions\":{\"allow\":[\"Bash(ls)\"]}}\n",
		".codex/config.toml":               "model = \"x\"\r\n[projects.\"/p\"]\r\ntrust_level = \"trusted\"",
		".gemini/settings.json":            "{\n\t\"security\": {}\n}\n",
		".config/opencode/opencode.jsonc":  "{ // mine\n  \"permission\": \"allow\",\n}\n",
		"AppData/Roaming/Code/User/x.json": "{}",
		".config/Code/User/x.json":         "{}",
		".config/zed/settings.json":        "// Zed\n{\n  \"theme\": \"One\",\n}\n",
	} {
		path = filepath.Join(home, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := tree(t, home)
	for _, id := range install.ClientIDs() {
		c := d.clientsOf(t)[id]
		if c.State != human.ClientReady && c.State != human.ClientAbsent || len(c.Changes) == 0 || c.Undo || !strings.Contains(c.Changes[0].Diff, "deskbell") {
			t.Fatalf("%s before: %+v", id, c)
		}
		if status, err := d.boss.call("POST", "/api/agents/clients/"+id+"/connect", map[string]string{"hash": "another"}, nil); status != 409 || err != nil {
			t.Errorf("%s: other changes than were seen: %d, %v", id, status, err)
		}
		d.boss.good(t, "POST", "/api/agents/clients/"+id+"/connect", map[string]string{"hash": c.Hash}, &c)
		if c.State != human.ClientConnected || len(c.Changes) > 0 || !c.Undo || c.Key != id {
			t.Fatalf("%s connected: %+v", id, c)
		}
		var proved struct {
			Proof       human.ClientProof
			OperationID human.OperationID `json:"operation_id"`
		}
		d.boss.good(t, "POST", "/api/agents/clients/"+id+"/prove", nil, &proved)
		if !proved.Proof.OK || proved.OperationID == "" {
			t.Fatalf("%s: %+v", id, proved)
		}
		op := d.rung(t)
		if op.ID != proved.OperationID || op.AgentID != id || !strings.HasPrefix(op.Description, "Test: "+c.Name) {
			t.Errorf("%s: %+v", id, op)
		}
		d.boss.good(t, "POST", "/api/human/complete", map[string]any{"operation_id": op.ID, "human_input": "It works"}, nil)
		waitFor(t, "the answer to go back", func() bool {
			p := d.clientsOf(t)[id].Proof
			return p != nil && strings.Contains(p.Text, "your answer went back")
		})
		d.boss.good(t, "POST", "/api/agents/clients/"+id+"/undo", nil, &c)
		if c.Undo || c.Proof != nil || c.State != human.ClientReady && c.State != human.ClientAbsent {
			t.Errorf("%s taken out: %+v", id, c)
		}
		for path, text := range tree(t, home) {
			if before[path] != text {
				t.Errorf("%s left %s: %q, was %q", id, path, text, before[path])
			}
		}
	}
	if after := tree(t, home); len(after) != len(before) {
		t.Errorf("%d files are left, there were %d", len(after), len(before))
	}
}

// Nothing but this Deskbell is started by the test of a client, whatever its settings say.
func TestASettingsFileCannotMakeDeskbellStartAnotherProgram(t *testing.T) {
	d, home := connecting(t)
	c := d.clientsOf(t)["gemini"]
	d.boss.good(t, "POST", "/api/agents/clients/gemini/connect", map[string]string{"hash": c.Hash}, &c)
	file := filepath.Join(home, ".gemini", "settings.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{`"--agent"`, `"--config", "/tmp/x", "--agent"`},
		{`"trust": true`, `"trust": true, "env": {"LD_PRELOAD": "/tmp/x.so"}`},
		{`"args"`, `"command": "/bin/sh", "args"`},
	} {
		if err := os.WriteFile(file, bytes.Replace(text, []byte(change[0]), []byte(change[1]), 1), 0o600); err != nil {
			t.Fatal(err)
		}
		if c = d.clientsOf(t)["gemini"]; c.State != human.ClientChanged || len(c.Changes) != 1 || !slices.Contains(c.Changes[0].What, "server") {
			t.Errorf("%s: %+v", change[1], c)
		}
		if status, err := d.boss.call("POST", "/api/agents/clients/gemini/prove", nil, nil); status != 409 || err != nil {
			t.Errorf("%s: %d, %v", change[1], status, err)
		}
	}
}

func TestAgentsCannotConnectClients(t *testing.T) {
	d, home := connecting(t)
	agent := newCaller(t, d.url, strings.TrimPrefix(d.env[0], "DESKBELL_KEY="))
	hash := d.clientsOf(t)["claude-code"].Hash
	for call, body := range map[string]any{"connect": map[string]string{"hash": hash}, "undo": nil, "prove": nil} {
		if status, err := agent.call("POST", "/api/agents/clients/claude-code/"+call, body, nil); status != 403 || err != nil {
			t.Errorf("%s: %d, %v", call, status, err)
		}
	}
	if status, err := agent.call("GET", "/api/agents/clients", nil, nil); status != 403 || err != nil {
		t.Errorf("the list: %d, %v", status, err)
	}
	if left := tree(t, home); len(left) > 0 {
		t.Error(left)
	}
}

// A client that was revoked, or taken apart, gets no key by itself: not by the command in its settings, and not by putting itself in again.
// An operator lets it in.
func TestARevokedClientStaysOut(t *testing.T) {
	d, _ := connecting(t)
	env := []string{"HOME=" + os.Getenv("HOME")}
	stays := func(why string) {
		t.Helper()
		run(t, d.dir, env, "mcp", "--agent", "zed").want(t, 3, "an operator revoked zed")
		for _, again := range [][]string{{"connect", "zed", "--yes"}, {"hook", "install", "codex", "--yes"}} {
			before := run(t, d.dir, nil, "keys", "list").out
			run(t, d.dir, []string{"HOME=" + t.TempDir()}, again...).want(t, 3, "an operator revoked")
			if now := run(t, d.dir, nil, "keys", "list").out; now != before {
				t.Errorf("%s, %q: the keys are %s, not %s", why, again, now, before)
			}
		}
	}
	connect := func(id string) {
		t.Helper()
		var c human.AgentClient
		d.boss.good(t, "POST", "/api/agents/clients/"+id+"/connect", map[string]string{"hash": d.clientsOf(t)[id].Hash}, &c)
		if c.State != human.ClientConnected || c.Revoked {
			t.Fatalf("%s: %+v", id, c)
		}
	}
	connect("codex")
	d.boss.good(t, "DELETE", "/api/agents/codex", nil, nil)
	connect("zed")
	session := speak(t, d.dir, env, "--agent", "zed")
	if _, err := ask(t.Context(), session, map[string]any{"action": "invoke", "action_type": "feedback", "description": "Which colour?", "wait_seconds": 0}); err != nil {
		t.Fatal(err)
	}
	d.boss.good(t, "DELETE", "/api/agents/zed", nil, nil)
	// What runs has ended, and its end forgets nothing.
	if s, err := ask(t.Context(), session, map[string]any{"action": "invoke", "action_type": "feedback", "description": "And now?", "wait_seconds": 0}); err == nil && s.OperationID != "" {
		t.Errorf("revoked, it still sends: %+v", s)
	}
	_ = session.Close() // it may have ended by itself
	stays("revoked")
	if c := d.clientsOf(t)["zed"]; c.State != human.ClientChanged || !c.Revoked || c.Problem == "" || len(c.Changes) > 0 {
		t.Errorf("revoked: %+v", c)
	}
	connect("zed")
	session = speak(t, d.dir, env, "--agent", "zed")
	if s, err := ask(t.Context(), session, map[string]any{"action": "invoke", "action_type": "feedback", "description": "Which colour?", "wait_seconds": 0}); err != nil || s.OperationID == "" {
		t.Fatalf("connected again: %+v, %v", s, err)
	}
	d.boss.good(t, "POST", "/api/agents/clients/zed/undo", nil, nil)
	if s, err := ask(t.Context(), session, map[string]any{"action": "invoke", "action_type": "feedback", "description": "And now?", "wait_seconds": 0}); err == nil && s.OperationID != "" {
		t.Errorf("taken apart, it still sends: %+v", s)
	}
	_ = session.Close()
	stays("taken apart")
	// So does a key that the operator makes.
	var key struct{ Key string }
	d.boss.good(t, "POST", "/api/agents", map[string]string{"name": "zed"}, &key)
	_ = speak(t, d.dir, env, "--agent", "zed").Close()
}

// From a terminal, as the page does it.
func TestConnectFromATerminal(t *testing.T) {
	home, data := t.TempDir(), t.TempDir()
	env := []string{"HOME=" + home, "USERPROFILE=" + home, "PATH=" + home}
	file := filepath.Join(home, ".codex", "config.toml")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("model = \"x\""), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, data, env, "connect").want(t, 0, "codex", "not connected", "deskbell connect CLIENT")
	for _, args := range [][]string{{"connect", "codx"}, {"connect", "codx", "--undo"}, {"connect", "codx", "--stdio"}, {"hook", "install", "codx", "--yes"}} {
		run(t, data, env, args...).want(t, 3, "did you mean codex?")
	}
	run(t, data, env, "open", "setings").want(t, 3, "did you mean settings?")
	run(t, data, env, "connect", "emacs").want(t, 3, "there is no client emacs", "codex")
	run(t, data, env, "connect", "codex").want(t, 3, "+[mcp_servers.deskbell]", "--yes")
	run(t, data, env, "connect", "codex", "--stdio").want(t, 0, "[mcp_servers.deskbell]", file)
	run(t, data, env, "connect", "--stdio").want(t, 0, `"mcp"`, data)
	run(t, data, env, "connect", "codex", "--yes").want(t, 0, "+[mcp_servers.deskbell]", "Codex is connected", "/hooks")
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), data) {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(data, "hooks", "codex.key")); err != nil {
		t.Error(err)
	}
	if c := decode[human.AgentClient](t, run(t, data, env, "connect", "codex", "--json").want(t, 0).out); c.State != human.ClientConnected {
		t.Errorf("%+v", c)
	}
	run(t, data, env, "connect", "codex", "--undo").want(t, 3, "-[mcp_servers.deskbell]", "--yes")
	run(t, data, env, "connect", "codex", "--undo", "--yes").want(t, 0, "Nothing of Deskbell")
	if text, err := os.ReadFile(file); err != nil || string(text) != "model = \"x\"" {
		t.Errorf("%q, %v", text, err)
	}
}
