package app_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deskbell/backend/transport/hook/install"
)

// aHome has settings of some clients in it, and is what a program is started with to find them.
func aHome(t *testing.T) (home string, env []string) {
	t.Helper()
	home = scratch(t)
	for path, text := range map[string]string{
		".claude.json":                        "{\n  \"numStartups\": 3, // a comment\n  \"mcpServers\": {}\n}",
		".claude/settings.json":               "{\"permissions\":{\"allow\":[\"Bash(ls)\"]}}\n",
		".codex/config.toml":                  "model = \"x\"\r\n[projects.\"/p\"]\r\ntrust_level = \"trusted\"",
		".gemini/settings.json":               "{\n\t\"security\": {}\n}\n",
		".config/opencode/opencode.jsonc":     "{ // mine\n  \"permission\": \"allow\",\n}\n",
		".config/zed/settings.json":           "// Zed\n{\n  \"theme\": \"One\",\n}\n",
		"project/.claude/settings.local.json": "{ }",
	} {
		path = filepath.Join(home, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return home, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "XDG_CONFIG_HOME=", "TERM=xterm"}
}

// connectAll puts Deskbell wherever it can be put.
func connectAll(t *testing.T, home, dir string, env []string) {
	t.Helper()
	for _, id := range install.ClientIDs() {
		run(t, dir, env, "connect", id, "--yes").want(t, 0)
	}
	run(t, dir, env, "hook", "install", "claude-code", "--dir", filepath.Join(home, "project"), "--yes").want(t, 0)
	run(t, dir, env, "service", "install") // no systemd is there to take it
	if _, err := os.Stat(filepath.Join(home, ".config/systemd/user/deskbell.service")); err != nil {
		t.Fatal(err)
	}
}

// listIn adds a project to those that Codex lists.
func listIn(t *testing.T, file, project string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString("\n[projects.\"" + project + "\"]\ntrust_level = \"trusted\"\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// copyHook has a hook in a project in which Deskbell did not write it.
func copyHook(t *testing.T, from, to string) (file string) {
	t.Helper()
	const name = ".claude/settings.local.json"
	text, err := os.ReadFile(filepath.Join(from, name))
	file = filepath.Join(to, name)
	if err = errors.Join(err, os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, text, 0o600)); err == nil && !strings.Contains(string(text), "hook") {
		err = errors.New("there is no hook in " + from)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// same compares a home with how it was, to the byte.
func same(t *testing.T, before, after map[string]string) {
	t.Helper()
	for path, text := range after {
		if was, there := before[path]; !there || was != text {
			t.Errorf("%s is %.300q, was %.300q", path, text, was)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d files are left, there were %d", len(after), len(before))
	}
}

// What Deskbell wrote is removed to the byte, its programs end, the data stays, and only an operator can do it while it runs.
func TestUninstall(t *testing.T) {
	t.Parallel()
	home, env := aHome(t)
	dir := filepath.Join(t.TempDir(), "data é")
	copied := filepath.Join(home, "copied 项目")
	listIn(t, filepath.Join(home, ".codex/config.toml"), copied)
	before := tree(t, home)
	connectAll(t, home, dir, env)
	settings := copyHook(t, filepath.Join(home, "project"), copied)
	s := serve(t, dir, env)
	boss := operator(t, s.url, s.code)
	boss.good(t, "PUT", "/api/settings", map[string]any{"ui.start_with_session": true}, nil)
	waitFor(t, "what starts it with the session", func() bool {
		found, _ := filepath.Glob(filepath.Join(home, ".config/autostart/deskbell-*"))
		return len(found) == 1
	})
	client := program(t, dir, env, "mcp", "--agent", "bot", "--data", dir)
	input, err := client.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	ended := make(chan struct{})
	go func() { _ = client.Wait(); close(ended) }() // how it ended does not matter
	connected := tree(t, home)
	listed := run(t, dir, env, "uninstall", "--dry-run").want(t, 0,
		"settings of Claude Code", "settings of Zed", filepath.Join(home, "project/.claude/settings.local.json"), settings, "deskbell.service", "when you log in", "which runs on "+dir, "Your data stays in "+dir, "To remove the program")
	if strings.Contains(listed.out, "Done.") {
		t.Error(listed.out)
	}
	liar := elsewhere(t)
	for _, args := range [][]string{{"uninstall"}, {"uninstall", "--yes"}, {"uninstall", "--remove-data"}, {"uninstall", "--remove-data", "--yes"}, {"uninstall", "--yes", "--code", "AAAAA-BBBBB"}} {
		cmd := program(t, dir, append(env, "DESKBELL_URL="+liar), args...)
		runWith(t, cmd).want(t, 3)
	}
	same(t, connected, tree(t, home))
	var made struct{ Code string }
	boss.good(t, "POST", "/api/session/codes", nil, &made)
	run(t, dir, env, "uninstall", "--yes", "--code", made.Code).want(t, 0, "Done.")
	<-s.ended
	<-ended
	if text, err := os.ReadFile(settings); err != nil || strings.Contains(string(text), "hook") {
		t.Errorf("of a project that Codex lists: %s, %v", text, err)
	}
	if err := os.RemoveAll(copied); err != nil {
		t.Fatal(err)
	}
	same(t, before, tree(t, home))
	if _, err := os.Stat(filepath.Join(dir, "deskbell.db")); err != nil {
		t.Error(err)
	}
	run(t, dir, env, "uninstall", "--yes").want(t, 0, "Nothing of Deskbell runs")
	// Where the data is gone already, nothing is made again.
	run(t, dir, env, "connect", "gemini", "--yes").want(t, 3, "revoked")
	other := filepath.Join(t.TempDir(), "other")
	run(t, other, env, "connect", "gemini", "--yes").want(t, 0)
	if err := os.RemoveAll(other); err != nil {
		t.Fatal(err)
	}
	run(t, other, env, "uninstall", "--yes").want(t, 0, "settings of Gemini CLI")
	if _, err := os.Stat(other); !os.IsNotExist(err) {
		t.Errorf("uninstalling made a data folder: %v", err)
	}
	same(t, before, tree(t, home))
}

// At a terminal a person signs in, and types what they mean. The data is deleted only so.
func TestUninstallWithTheDataAtATerminal(t *testing.T) {
	t.Parallel()
	home, env := aHome(t)
	dir := filepath.Join(t.TempDir(), "data")
	before := tree(t, home)
	connectAll(t, home, dir, env)
	serve(t, dir, env).stop(t)
	cmd := program(t, dir, env, "-c", `"$0" uninstall --remove-data; read x; "$0" uninstall --remove-data --dir project; echo over $?`, os.Args[0])
	cmd.Args[0], cmd.Path, cmd.Dir = "sh", "/bin/sh", home
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte("[server]\naddr = \"127.0.0.1:0\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	connected := tree(t, home)
	term := openScreen(t, cmd)
	term.types(strings.ToLower(term.code()) + "\n")
	term.shows("Type " + dir)
	term.types("yes\n")
	term.shows("Nothing was changed.")
	same(t, connected, tree(t, home))
	waitFor(t, "what was started to ask to stop", func() bool { _, err := os.Stat(serverFile(dir)); return err != nil })
	term.types("\n")
	waitFor(t, "the second run", func() bool { return strings.Count(term.written(), "Only an operator") == 2 })
	term.types(strings.ToLower(term.code()) + "\n")
	waitFor(t, "the question", func() bool { return strings.Count(term.written(), "Type "+dir) == 2 })
	term.types(dir + "\n")
	term.shows("over 0")
	same(t, before, tree(t, home))
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the data folder: %v", err)
	}
}

// Nothing but a data folder is deleted.
func TestUninstallDeletesNoOtherFolder(t *testing.T) {
	t.Parallel()
	home, env := aHome(t)
	dir := filepath.Join(home, ".local", "deskbell")
	key(t, dir, "bot")
	if err := os.WriteFile(filepath.Join(home, "deskbell.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	before := tree(t, home)
	for _, at := range []struct{ dir, says string }{{home, "holds your home folder"}, {filepath.Dir(home), "no database"}, {link, "is a link"}, {filepath.Join(home, "project"), "no database"}} {
		run(t, dir, env, "uninstall", "--remove-data", "--data", at.dir).want(t, 3, at.says)
	}
	same(t, before, tree(t, home))
}

// elsewhere is a server that is no Deskbell, and lets everybody do everything.
func elsewhere(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"token":"dbo_x","operator":"ada","terminal":true}`)
	}))
	t.Cleanup(s.Close)
	return s.URL
}
