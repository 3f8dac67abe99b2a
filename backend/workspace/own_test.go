package workspace

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"deskbell/backend/gate"
)

// built is Deskbell's smaller program, built from this source.
func built(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "anything")
	out, err := exec.Command("go", "build", "-o", program, "deskbell/backend/app/hookprogram/deskbell-hook").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

func put(t *testing.T, text string, path ...string) string {
	t.Helper()
	file := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestOurs(t *testing.T) {
	program, home, project, guard := built(t), t.TempDir(), t.TempDir(), t.TempDir()
	bytes, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	changed := put(t, string(bytes)+"more", t.TempDir(), "ls")
	for _, file := range []string{program, changed} {
		if err := os.Chmod(file, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(program, link); err != nil {
		t.Fatal(err)
	}
	script := put(t, "#!/bin/sh\n", t.TempDir(), "deskbell")
	facts := func() *Facts {
		return Within(t.Context(), gate.Call{Home: home, Root: project, Cwd: project, Guard: guard}, nil, 1<<40)
	}
	for file, want := range map[string]bool{program: true, changed: true, link: true, script: false, "sh": false, filepath.Join(home, "none"): false, home: false} {
		if is := facts().Ours(file); is != want {
			t.Errorf("%s: %v", file, is)
		}
	}
	t.Setenv("PATH", filepath.Dir(changed))
	if !facts().Ours("ls") {
		t.Error("a copy in the path is not found")
	}
	if s := facts().Server(); s != "" {
		t.Error("without a server:", s)
	}
	put(t, `{"pid":1,"url":"http://127.0.0.1:4000"}`, guard, "server.json")
	if s := facts().Server(); s != "127.0.0.1:4000" {
		t.Error(s)
	}

	// What a server calls itself says nothing; what it is does.
	json := func(command, more string) string {
		return fmt.Sprintf(`{"mcpServers": {"bell": {"command": %q, "args": ["mcp", "--agent", "x"]%s}}}`, command, more)
	}
	for name, tt := range map[string]struct {
		file, text string
		ours       bool
	}{
		"Claude Code":          {home + "/.claude.json", json(program, ""), true},
		"its project":          {home + "/.claude.json", fmt.Sprintf(`{"projects": {%q: %s}}`, project, json(program, "")), true},
		"another project":      {home + "/.claude.json", fmt.Sprintf(`{"projects": {"/x": %s}}`, json(program, "")), false},
		"Codex":                {home + "/.codex/config.toml", fmt.Sprintf("[mcp_servers.bell]\ncommand = %q\nargs = [\"mcp\"]\n", program), true},
		"opencode":             {project + "/opencode.json", fmt.Sprintf(`{"mcp": {"bell": {"type": "local", "command": [%q, "mcp"]}}}`, program), true},
		"Gemini CLI":           {project + "/.gemini/settings.json", json(changed, ""), true},
		"over HTTP":            {project + "/.mcp.json", `{"mcpServers": {"bell": {"type": "http", "url": "http://127.0.0.1:4000/mcp"}}}`, true},
		"another address":      {project + "/.mcp.json", `{"mcpServers": {"bell": {"type": "http", "url": "http://127.0.0.1:4001/mcp"}}}`, false},
		"another program":      {project + "/.mcp.json", json(script, ""), false},
		"another folder":       {project + "/.mcp.json", json(program, `, "env": {"DESKBELL_DATA": "/x"}`), false},
		"with a key":           {project + "/.mcp.json", json(program, `, "env": {"DESKBELL_KEY": "x"}`), true},
		"this folder":          {project + "/.mcp.json", fmt.Sprintf(`{"mcpServers": {"bell": {"command": %q, "args": ["mcp", "--agent", "x", "--data", %q]}}}`, program, guard), true},
		"another data folder":  {project + "/.mcp.json", fmt.Sprintf(`{"mcpServers": {"bell": {"command": %q, "args": ["mcp", "--agent", "x", "--data", "/x"]}}}`, program), false},
		"with its limits":      {project + "/.mcp.json", fmt.Sprintf(`{"mcpServers": {"bell": {"command": %q, "args": ["mcp", "--permission", "--patience", "59m"]}}}`, program), true},
		"other settings":       {project + "/.mcp.json", fmt.Sprintf(`{"mcpServers": {"bell": {"command": %q, "args": ["mcp", "--config", "/x"]}}}`, program), false},
		"with comments":        {home + "/.gemini/settings.json", "// mine\n" + json(program, ""), true},
		"Qwen Code":            {home + "/.qwen/settings.json", json(program, ""), true},
		"the proxy":            {project + "/.mcp.json", fmt.Sprintf(`{"mcpServers": {"bell": {"command": %q, "args": ["mcp-proxy", "--", "x"]}}}`, program), false},
		"another server":       {project + "/.mcp.json", fmt.Sprintf(`{"mcpServers": {"bell": {"command": %q, "args": ["mcp", "--url", "http://x"]}}}`, program), false},
		"what cannot be read":  {project + "/.mcp.json", json(program, "") + "bell", false},
		"nothing of that name": {project + "/.mcp.json", `{"mcpServers": {"deskbell": {"command": "x"}}}`, false},
	} {
		put(t, tt.text, tt.file)
		if is := facts().OurServer("bell"); is != tt.ours {
			t.Errorf("%s: %v", name, is)
		}
		if err := os.Remove(tt.file); err != nil {
			t.Fatal(err)
		}
	}
	put(t, json(program, ""), home, ".claude.json")
	put(t, json(script, ""), project, ".mcp.json")
	if facts().OurServer("bell") {
		t.Error("one of two that is another's")
	}
}

func TestRealPlaces(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	real := func(dir string) string {
		dir, err := filepath.EvalSymlinks(dir)
		if err != nil {
			t.Fatal(err)
		}
		return dir
	}
	guard, project := real(t.TempDir()), real(t.TempDir())
	db := put(t, "x", guard, "deskbell.db")
	put(t, "k", guard, "hooks", "x.key")
	link := func(to, from string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(project, from)); err != nil {
			t.Fatal(err)
		}
	}
	link(guard, "l")
	link("l/hooks", "m")
	link(filepath.Join(guard, "new"), "dangling")
	link("loop", "loop")
	if err := os.Link(db, filepath.Join(project, "hard")); err != nil {
		t.Fatal(err)
	}
	sessions := &Sessions{}
	facts := func(session string) *Facts {
		return Within(t.Context(), gate.Call{Root: project, Cwd: project, Guard: guard, Session: session}, nil, 1<<40).In(sessions)
	}
	facts("a").Linked(filepath.Join(project, "later"), guard)
	for path, want := range map[string]string{
		"l/deskbell.db": db, "m/x.key": guard + "/hooks/x.key", "m/../deskbell.db": project + "/deskbell.db", "l/none/of/it": guard + "/none/of/it", "dangling": guard + "/new", "hard": db, "a.txt": project + "/a.txt", "later/deskbell.db": db, "loop": project + "/loop",
	} {
		if got := facts("a").Real(filepath.Join(project, path), false); len(got) != 1 || got[0] != want {
			t.Errorf("%s leads to %s, not to %s", path, got, want)
		}
	}
	if got := facts("b").Real(filepath.Join(project, "later"), false); got[0] != filepath.Join(project, "later") {
		t.Error("another session's link counts:", got)
	}
	if got := facts("a").Real(filepath.Join(project, "*", "*.db"), true); !slices.Contains(got, db) {
		t.Error("a pattern:", got)
	}
}
