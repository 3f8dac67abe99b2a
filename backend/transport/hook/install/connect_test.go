package install

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// Deskbell may take a call as long as a client's own limit, where that is written with it; of Crush, whose calls have none, it is not.
func TestPatienceIsThatOfWhatIsWritten(t *testing.T) {
	for _, id := range ClientIDs() {
		_, text, err := Snippet(id, Place{Home: t.TempDir(), Env: func(string) string { return "" }, System: "linux"}, setup.Server(id))
		if err != nil {
			t.Fatal(err)
		}
		written := strings.Contains(text, "3600") || id == "crush"
		if is := Patience(id); is < 0 || is >= patience || written != (is > 0) {
			t.Errorf("%s: %s, with %s", id, is, text)
		}
	}
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
		for _, change := range first.Changes {
			if !slices.ContainsFunc(again.Written, func(w human.ClientChange) bool { return w.File == change.File && strings.Contains(w.Diff, "deskbell") }) {
				rt.Fatalf("%s was written, and is not shown: %+v", change.File, again.Written)
			}
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

// Where clients have their settings depends on the system, and on what is there.
func TestPlacesOfSettings(t *testing.T) {
	for name, tt := range map[string]struct {
		client, system, there string // a folder in the home
		env                   map[string]string
		want                  string // the file of the MCP server, in the home
	}{
		"Claude Desktop on macOS":                {"claude-desktop", "darwin", "", nil, "Library/Application Support/Claude/claude_desktop_config.json"},
		"Claude Desktop on Windows":              {"claude-desktop", "windows", "AppData/Roaming/Claude", nil, "AppData/Roaming/Claude/claude_desktop_config.json"},
		"Claude Desktop as a package":            {"claude-desktop", "windows", "AppData/Local/Packages/Claude_x1/LocalCache/Roaming/Claude", nil, "AppData/Local/Packages/Claude_x1/LocalCache/Roaming/Claude/claude_desktop_config.json"},
		"Claude Desktop as a package, elsewhere": {"claude-desktop", "windows", "l/Packages/Claude_x1/LocalCache/Roaming/Claude", map[string]string{"LOCALAPPDATA": "l"}, "l/Packages/Claude_x1/LocalCache/Roaming/Claude/claude_desktop_config.json"},
		"a package's folder on Linux":            {"claude-desktop", "linux", "AppData/Local/Packages/Claude_x1/LocalCache/Roaming/Claude", nil, ".config/Claude/claude_desktop_config.json"},
		"Windsurf":                               {"windsurf", "linux", ".codeium/windsurf", nil, ".codeium/windsurf/mcp_config.json"},
		"Devin Desktop":                          {"windsurf", "linux", ".config/devin", nil, ".config/devin/mcp_config.json"},
		"Devin Desktop on macOS":                 {"windsurf", "darwin", ".config/devin", nil, ".config/devin/mcp_config.json"},
		"Devin Desktop on Windows":               {"windsurf", "windows", "AppData/Roaming/devin", nil, "AppData/Roaming/devin/mcp_config.json"},
		"Crush":                                  {"crush", "windows", "", nil, ".config/crush/crush.json"},
		"Crush, elsewhere":                       {"crush", "linux", "", map[string]string{"CRUSH_GLOBAL_CONFIG": "c"}, "c/crush.json"},
		"Zed":                                    {"zed", "linux", "", map[string]string{"XDG_CONFIG_HOME": "c"}, "c/zed/settings.json"},
		"Zed on macOS":                           {"zed", "darwin", "", map[string]string{"XDG_CONFIG_HOME": "c"}, ".config/zed/settings.json"},
		"Zed on Windows":                         {"zed", "windows", "", nil, "AppData/Roaming/Zed/settings.json"},
	} {
		home := t.TempDir()
		if err := os.MkdirAll(filepath.Join(home, tt.there), 0o700); err != nil {
			t.Fatal(err)
		}
		env := func(name string) string {
			if dir := tt.env[name]; dir != "" {
				return filepath.Join(home, dir)
			}
			return ""
		}
		if got := find(tt.client).files(Place{Home: home, Env: env, System: tt.system})[0].path; got != filepath.Join(home, tt.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
