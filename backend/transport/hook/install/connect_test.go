package install

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"deskbell/backend/human"
)

var setup = Setup{
	Server: func(client string) []string {
		return []string{"/opt/desk bell/deskbell", "mcp", "--agent", client, "--data", "/srv/it's \"data\""}
	},
	Hook: command,
}

func drawTOML(t *rapid.T) string {
	newline := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")
	var b strings.Builder
	for i := range rapid.IntRange(0, 4).Draw(t, "n") {
		b.WriteString(rapid.SampledFrom([]string{"a%d = 1", "# comment [mcp_servers.deskbell]", "\n", "b%d = \"\"\"\n[mcp_servers.deskbell]\n\"\"\""}).Draw(t, "line"))
		b.WriteString(newline)
		_ = i
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "tables") {
		b.WriteString(rapid.SampledFrom([]string{"[mcp_servers.other%d]", "[projects.\"/p%d\"]", "[[list%d]]"}).Draw(t, "table") + newline + "command = \"x\"" + newline)
		_ = i
	}
	lines := strings.Split(b.String(), newline)
	for i, line := range lines {
		if strings.Contains(line, "%d") {
			lines[i] = fmt.Sprintf(line, i)
		}
	}
	text := strings.Join(lines, newline)
	if rapid.Bool().Draw(t, "cut") {
		text = strings.TrimRight(text, "\r\n")
	}
	return text
}

func TestConnectAndDisconnectGiveTheOriginalBytes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := rapid.SampledFrom(clients).Draw(rt, "client")
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		at := Place{Home: dir, Env: func(string) string { return "" }}
		was := map[string]string{}
		for _, f := range c.files(at) {
			was[f.path] = "(none)"
			if f.target != nil && f.target.entries == nil || rapid.IntRange(0, 9).Draw(rt, "there") == 0 {
				continue
			}
			text := ""
			if filepath.Ext(f.path) == ".toml" {
				text = drawTOML(rt)
			} else {
				text = drawJSON(rt, []string{"PreToolUse", "BeforeTool", "preToolUse"})
			}
			was[f.path] = text
			put2(t, f.path, text)
		}
		first, err := Connect(c.id, at, setup)
		if err != nil || first.State == human.ClientTrouble {
			rt.Fatalf("%v %s in %q", err, first.Problem, was)
		}
		if err := first.Apply(); err != nil {
			rt.Fatal(err)
		}
		program, _, err := Started(c.id, at)
		if err != nil || strings.Join(program, "|") != strings.Join(setup.Server(c.id), "|") {
			rt.Fatal("it starts ", program, err)
		}
		again, err := Connect(c.id, at, setup)
		if err != nil || again.State != human.ClientConnected || len(again.Changes) > 0 {
			rt.Fatalf("connected twice: %+v %v", again.AgentClient, err)
		}
		if c.hook && rapid.Bool().Draw(rt, "the hook alone too") {
			p, err := Install(c.id, at, Command{Program: []string{"/elsewhere/deskbell-hook"}})
			apply(t, p, err)
			if now, err := Connect(c.id, at, setup); err != nil || now.State != human.ClientChanged {
				rt.Fatalf("%+v %v", now.AgentClient, err)
			}
			if now, err := Connect(c.id, at, setup); err != nil || now.Apply() != nil {
				rt.Fatal(err)
			}
		}
		undo, err := Disconnect(c.id, at, setup)
		if err == nil {
			err = undo.Apply()
		}
		if err != nil {
			rt.Fatal(err)
		}
		for path, text := range was {
			if got := get(t, path); got != text {
				rt.Fatalf("%s: before %q, after %q", path, text, got)
			}
			if got := get(t, path+backupEnding); got != "(none)" {
				rt.Fatalf("a backup is left: %q", got)
			}
		}
	})
}
