package install

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"deskbell/backend/human"
	"deskbell/backend/transport/hook"
)

var command = Command{Program: []string{"/opt/desk bell/deskbell-hook"}, Data: "/srv/it's data"}

func home(t testing.TB) Place {
	return Place{Home: t.TempDir(), Env: func(string) string { return "" }}
}

func path(t testing.TB, client string, at Place) string {
	t.Helper()
	s, err := Look(client, at, command)
	if err != nil {
		t.Fatal(err)
	}
	return s.Path
}

func apply(t testing.TB, p Plan, err error) {
	t.Helper()
	if err == nil {
		err = p.Apply()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func put2(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
}

// get is a file's text; none is "(none)".
func get(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return "(none)"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestEveryClientHasATarget(t *testing.T) {
	for _, name := range hook.Names() {
		if _, ok := targets[name]; !ok {
			t.Error(name)
		}
	}
	if _, err := Install("emacs", home(t), command); human.KindOf(err) != human.Invalid {
		t.Error(err)
	}
}

func TestWhatIsWrittenIntoNewFiles(t *testing.T) {
	const fallback = ` || sh -c 'echo \"Deskbell blocked this call: its hook did not answer. The call was not run; tell your user.\" >&2; exit 2'"`
	const start = `'/opt/desk bell/deskbell-hook' `
	const end = ` --data '/srv/it'\\''s data' --limit 3600`
	if runtime.GOOS == "windows" {
		t.Skip("commands are spelled otherwise there")
	}
	for client, want := range map[string]string{
		"claude-code": `.claude/settings.json
{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "*",
        "hooks": [
          {
            "type": "command",
            "command": "` + start + "claude-code" + end + fallback + `,
            "timeout": 3600,
            "onFailure": "block"
          }
        ]
      }
    ]
  }
}
`,
		"codex": `.codex/hooks.json
{
  "hooks": {
    "PreToolUse": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "` + start + "codex" + end + fallback + `,
            "timeout": 3600,
            "statusMessage": "Asking Deskbell"
          }
        ]
      }
    ]
  }
}
`,
		"gemini": `.gemini/settings.json
{
  "hooks": {
    "BeforeTool": [
      {
        "hooks": [
          {
            "name": "deskbell",
            "type": "command",
            "command": "` + start + "gemini" + end + fallback + `,
            "timeout": 3600000
          }
        ]
      }
    ]
  }
}
`,
		"cursor": `.cursor/hooks.json
{
  "version": 1,
  "hooks": {
    "beforeShellExecution": [
      {
        "command": "` + start + "cursor" + end + fallback + `,
        "timeout": 3600,
        "failClosed": true
      }
    ],
    "beforeMCPExecution": [
      {
        "command": "` + start + "cursor" + end + fallback + `,
        "timeout": 3600,
        "failClosed": true
      }
    ],
    "preToolUse": [
      {
        "command": "` + start + "cursor" + end + fallback + `,
        "matcher": "^(?!Shell$|MCP)",
        "timeout": 3600,
        "failClosed": true
      }
    ]
  }
}
`,
	} {
		at := home(t)
		p, err := Install(client, at, command)
		apply(t, p, err)
		file, text, _ := strings.Cut(want, "\n")
		if got := get(t, filepath.Join(at.Home, file)); got != text {
			t.Errorf("%s:\n%s", file, got)
		}
		s, err := Look(client, at, command)
		if err != nil || !s.Installed || !strings.Contains(s.Command, client) {
			t.Errorf("%s: %+v, %v", client, s, err)
		}
	}
}

func TestSettingsThatAreThereStayAsTheyAre(t *testing.T) {
	for name, tt := range map[string]struct{ was, want string }{
		"comments, a trailing comma, tabs": {
			was:  "// mine\n{\n\t\"model\": \"x\", // the good one\n\t\"hooks\": {\n\t\t\"PreToolUse\": [\n\t\t\t{ \"matcher\": \"Bash\", \"hooks\": [] }, /* first */\n\t\t],\n\t},\n}\n",
			want: "// mine\n{\n\t\"model\": \"x\", // the good one\n\t\"hooks\": {\n\t\t\"PreToolUse\": [\n\t\t\t{ \"matcher\": \"Bash\", \"hooks\": [] }, /* first */\n\t\t\t{\n\t\t\t\t\"a\": [\n\t\t\t\t\t1\n\t\t\t\t]\n\t\t\t},\n\t\t],\n\t},\n}\n",
		},
		"a comment behind the last": {
			was:  "{\n  \"model\": \"x\" // last\n  // end\n}",
			want: "{\n  \"model\": \"x\", // last\n  // end\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"a\": [\n          1\n        ]\n      }\n    ]\n  }\n}",
		},
		"a comment without an end of its line": {was: "{\"a\":1} // end", want: "{\"a\":1, \"hooks\": {\"PreToolUse\":[{\"a\":[1]}]}} // end"},
		"one line":                             {was: `{"a":1,"hooks":{"Stop":[]}}`, want: `{"a":1,"hooks":{"Stop":[], "PreToolUse": [{"a":[1]}]}}`},
		"nothing":                              {was: "{}", want: "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"a\": [\n          1\n        ]\n      }\n    ]\n  }\n}"},
		"Windows' lines":                       {was: "{\r\n    \"a\": 1\r\n}\r\n", want: "{\r\n    \"a\": 1,\r\n    \"hooks\": {\r\n        \"PreToolUse\": [\r\n            {\r\n                \"a\": [\r\n                    1\r\n                ]\r\n            }\r\n        ]\r\n    }\r\n}\r\n"},
	} {
		got, err := insert([]byte(tt.was), []entry{{event: "PreToolUse", value: json.RawMessage(`{"a":[1]}`)}})
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
}

func TestWhatCannotBeReadIsNotTouched(t *testing.T) {
	for _, text := range []string{"{", "[]", `{"hooks": []}`, `{"hooks": {"PreToolUse": {}}}`, `{"a": 1 "b": 2}`, `{"a": tru}`, `{} {}`, "{/*", `{"a`, "{\x00}", "{\"\xff\": 1}", `{a: 1}`, strings.Repeat(`{"a":`, 300)} {
		at := home(t)
		file := path(t, "claude-code", at)
		put2(t, file, text)
		_, err := Install("claude-code", at, command)
		if human.KindOf(err) != human.Invalid || !strings.Contains(err.Error(), file) {
			t.Errorf("%q: %v", text, err)
		}
		if get(t, file) != text {
			t.Errorf("%q was changed", text)
		}
	}
	at := home(t)
	put2(t, path(t, "opencode", at), "export const Mine = 1\n")
	if _, err := Install("opencode", at, command); human.KindOf(err) != human.Conflict {
		t.Error(err)
	}
}

// drawJSON draws a settings file: a JSON object with comments and odd white space, and hooks of all kinds.
func drawJSON(t *rapid.T, events []string) string {
	space := func(label string) string {
		return rapid.SampledFrom([]string{"", "", " ", "\n", "\n  ", "\n\t\t", "\r\n ", " // c\n", " /* c, } */ ", "\n\n// \"x\": {\n"}).Draw(t, label)
	}
	var value func(depth int) string
	list := func(open, end string, children []string) string {
		var b strings.Builder
		b.WriteString(open + space("s"))
		for i, c := range children {
			b.WriteString(c + space("s"))
			if i < len(children)-1 || rapid.IntRange(0, 4).Draw(t, "trailing") == 0 {
				b.WriteString("," + space("s"))
			}
		}
		return b.String() + end
	}
	value = func(depth int) string {
		switch k := rapid.IntRange(0, 6).Draw(t, "kind"); {
		case k <= 1 && depth < 3:
			var members []string
			for i := range rapid.IntRange(0, 3).Draw(t, "n") {
				members = append(members, fmt.Sprintf("%q%s:%s%s", fmt.Sprint("k", i), space("s"), space("s"), value(depth+1)))
			}
			return list("{", "}", members)
		case k == 2 && depth < 3:
			var elements []string
			for range rapid.IntRange(0, 3).Draw(t, "n") {
				elements = append(elements, value(depth+1))
			}
			return list("[", "]", elements)
		}
		return rapid.SampledFrom([]string{"1", "-2.5e3", "true", "null", `"a \" // b"`, `"é\u0041"`, `"{}[],:"`}).Draw(t, "v")
	}
	var members []string
	for i := range rapid.IntRange(0, 3).Draw(t, "n") {
		members = append(members, fmt.Sprintf("%q:%s%s", fmt.Sprint("m", i), space("s"), value(1)))
	}
	if rapid.Bool().Draw(t, "hooks") {
		var lists []string
		for _, event := range append([]string{"Stop"}, events...) {
			if rapid.Bool().Draw(t, event) {
				var groups []string
				for range rapid.IntRange(0, 2).Draw(t, "n") {
					groups = append(groups, `{"matcher":`+space("s")+`"Bash","hooks":`+list("[", "]", []string{`{"type":"command","command":"echo hi","timeout":5}`})+space("s")+"}")
				}
				lists = append(lists, fmt.Sprintf("%q: %s", event, list("[", "]", groups)))
			}
		}
		members = append(members, `"hooks":`+space("s")+list("{", "}", lists))
	}
	if rapid.Bool().Draw(t, "version") {
		members = append(members, `"version": 1`)
	}
	return rapid.SampledFrom([]string{"", "\n", "\ufeff", "// head\n"}).Draw(t, "head") + list("{", "}", members) + space("end")
}

func TestInstallAndUninstallGiveTheOriginalBytes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		client := rapid.SampledFrom([]string{"claude-code", "codex", "gemini", "cursor", "opencode", "copilot", "qwen"}).Draw(rt, "client")
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		at := Place{Home: dir, Env: func(string) string { return "" }}
		file := path(t, client, at)
		was := "(none)"
		if client != "opencode" && rapid.IntRange(0, 9).Draw(rt, "there") > 0 {
			was = rapid.OneOf(rapid.Custom(func(t *rapid.T) string {
				return drawJSON(t, []string{"PreToolUse", "BeforeTool", "preToolUse", "beforeShellExecution"})
			}), rapid.SampledFrom([]string{"", "\n", "{}", "{}\n", "{\n}\n", "{ }", `{"hooks":{}}`, "{\n  \"hooks\": {\n  }\n}\n", `{"hooks":{"PreToolUse":[]}}`})).Draw(rt, "file")
			put2(t, file, was)
		}
		p, err := Install(client, at, command)
		if err != nil {
			rt.Fatalf("%v in %q", err, was)
		}
		if !p.Changes() || p.Diff() == "" {
			rt.Fatal("no change")
		}
		apply(t, p, err)
		once := get(t, file)
		if client != "opencode" {
			if _, err := parse([]byte(once)); err != nil {
				rt.Fatalf("%v in %q", err, once)
			}
			if was != "(none)" && get(t, file+backupEnding) != was {
				rt.Fatalf("the backup is %q", get(t, file+backupEnding))
			}
		}
		if p, err := Install(client, at, command); err != nil || p.Changes() {
			rt.Fatalf("a second installation changes %s%v", p.Diff(), err)
		}
		if rapid.Bool().Draw(rt, "moved") {
			p, err := Install(client, at, Command{Program: []string{"/elsewhere/deskbell", "hook"}, Limit: 90 * time.Second})
			if err != nil || !p.Changes() {
				rt.Fatal("another program is not taken up: ", err)
			}
			apply(t, p, err)
		}
		p, err = Uninstall(client, at)
		apply(t, p, err)
		if got := get(t, file); got != was {
			rt.Fatalf("before: %q\nbetween: %q\nafter: %q", was, once, got)
		}
		if got := get(t, file+backupEnding); got != "(none)" {
			rt.Fatalf("a backup is left: %q", got)
		}
		if p, err := Uninstall(client, at); err != nil || p.Changes() {
			rt.Fatal("there is something left to uninstall: ", p.Diff(), err)
		}
	})
}

func TestWhatTheUserChangedMeanwhileStays(t *testing.T) {
	const was = "{\n  \"model\": \"x\",\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"echo\"}]}\n    ]\n  }\n}\n"
	for name, change := range map[string]func(string) string{
		"another setting": func(s string) string { return strings.Replace(s, `"model": "x"`, `"model": "y", "b": [1]`, 1) },
		"a hook before": func(s string) string {
			return strings.Replace(s, `[`+"\n      {\"m", "[\n      {\"hooks\": []},\n      {\"m", 1)
		},
		"a hook behind": func(s string) string {
			return strings.Replace(s, "\n    ]\n  }\n}\n", ",\n      {\"hooks\": []}\n    ]\n  }\n}\n", 1)
		},
		"another event": func(s string) string {
			return strings.Replace(s, "\n    ]\n  }\n}\n", "\n    ],\n    \"Stop\": []\n  }\n}\n", 1)
		},
	} {
		for _, backup := range []bool{true, false} {
			at := home(t)
			file := path(t, "claude-code", at)
			put2(t, file, was)
			p, err := Install("claude-code", at, command)
			apply(t, p, err)
			put2(t, file, change(get(t, file)))
			if !backup {
				_ = os.Remove(file + backupEnding)
			}
			p, err = Uninstall("claude-code", at)
			apply(t, p, err)
			if got := get(t, file); got != change(was) {
				t.Errorf("%s, backup %v: %s", name, backup, got)
			}
			if kept := get(t, file+backupEnding); backup && kept != was {
				t.Errorf("%s: the backup of what is not there any more is gone: %q", name, kept)
			}
		}
	}
}

func TestOurHandlerInAGroupOfTheUsersGoesAlone(t *testing.T) {
	at := home(t)
	file := path(t, "claude-code", at)
	put2(t, file, `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"a"},{"type":"command","command":"/opt/deskbell hook claude-code"},{"type":"command","command":"b || deskbell-hook"}]}]}}`)
	p, err := Uninstall("claude-code", at)
	apply(t, p, err)
	if got, want := get(t, file), `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"a"},{"type":"command","command":"b || deskbell-hook"}]}]}}`; got != want {
		t.Error(got)
	}
}

func TestWhatAUserEmptiesGoesAndWhatWasEmptyStays(t *testing.T) {
	for was, want := range map[string]string{
		"{\n  \"model\": 1\n}\n":                                                     "{\n  \"model\": 2\n}\n",
		"{\n  \"model\": 1,\n  \"hooks\": {\n  }\n}\n":                               "{\n  \"model\": 2,\n  \"hooks\": {\n  }\n}\n",
		"{\n  \"model\": 1,\n  \"hooks\": {\"Stop\": []}\n}\n":                       "{\n  \"model\": 2,\n  \"hooks\": {\"Stop\": []}\n}\n",
		"{\n  \"model\": 1,\n  \"hooks\": {\n    \"PreToolUse\": [\n    ]\n  }\n}\n": "{\n  \"model\": 2,\n  \"hooks\": {\n    \"PreToolUse\": [\n    ]\n  }\n}\n",
	} {
		at := home(t)
		file := path(t, "claude-code", at)
		put2(t, file, was)
		p, err := Install("claude-code", at, command)
		apply(t, p, err)
		put2(t, file, strings.Replace(get(t, file), `"model": 1`, `"model": 2`, 1))
		p, err = Uninstall("claude-code", at)
		apply(t, p, err)
		if got := get(t, file); got != want {
			t.Errorf("%q became %q", was, got)
		}
	}
}

func TestAFileThatWasChangedAfterThePlanIsNotOverwritten(t *testing.T) {
	at := home(t)
	file := path(t, "gemini", at)
	p, err := Install("gemini", at, command)
	if err != nil {
		t.Fatal(err)
	}
	put2(t, file, "{}")
	if err := p.Apply(); human.KindOf(err) != human.Conflict || get(t, file) != "{}" {
		t.Error(err, get(t, file))
	}
}

func TestLinksAndPermissionsStay(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	at := home(t)
	file := path(t, "claude-code", at)
	real := filepath.Join(at.Home, "dotfiles", "claude.json")
	put2(t, real, "{}\n")
	if err := os.Chmod(real, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, file); err != nil {
		t.Fatal(err)
	}
	p, err := Install("claude-code", at, command)
	apply(t, p, err)
	info, err := os.Lstat(file)
	if err != nil || info.Mode()&os.ModeSymlink == 0 || !strings.Contains(get(t, real), "deskbell-hook") {
		t.Error("the link is gone", err)
	}
	if info, err = os.Stat(real); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
}

func TestClientsOwnVariablesAndProjectsCount(t *testing.T) {
	at := Place{Home: "/h", Env: func(name string) string { return "/" + strings.ToLower(name) }}
	for client, want := range map[string]string{
		"claude-code": "/claude_config_dir/settings.json /p/.claude/settings.local.json",
		"codex":       "/codex_home/hooks.json /p/.codex/hooks.json",
		"gemini":      "/gemini_cli_home/.gemini/settings.json /p/.gemini/settings.json",
		"cursor":      "/h/.cursor/hooks.json /p/.cursor/hooks.json",
		"copilot":     "/copilot_home/hooks/deskbell.json /p/.github/hooks/deskbell.json",
		"qwen":        "/qwen_home/settings.json /p/.qwen/settings.json",
		"opencode":    "/xdg_config_home/opencode/plugins/deskbell.js /p/.opencode/plugins/deskbell.js",
	} {
		user := filepath.ToSlash(targets[client].path(at))
		project := filepath.ToSlash(targets[client].path(Place{Home: at.Home, Env: at.Env, Dir: "/p"}))
		if got := user + " " + project; got != want && runtime.GOOS != "windows" {
			t.Errorf("%s: %s", client, got)
		}
	}
}

func TestCommandsForWindows(t *testing.T) {
	c := Command{Program: []string{`C:\Program Files\Deskbell\deskbell-hook.exe`}, Limit: time.Minute}
	if got, want := c.line("codex", "windows"), `"C:\Program Files\Deskbell\deskbell-hook.exe" codex --limit 60`; got != want {
		t.Error(got)
	}
	if got := c.line("claude-code", "windows"); !strings.HasPrefix(got, `'C:/Program Files/Deskbell/deskbell-hook.exe' claude-code --limit 60 || sh -c`) {
		t.Error(got)
	}
}

// TestTheCommandBlocksWhateverBecomesOfTheHook runs the line in a shell, as clients do.
func TestTheCommandBlocksWhateverBecomesOfTheHook(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	for name, tt := range map[string]struct {
		program string
		code    int
	}{
		"answers":   {"#!/bin/sh\necho '{}'\n", 0},
		"crashes":   {"#!/bin/sh\nexit 1\n", 2},
		"is killed": {"#!/bin/sh\nkill -9 $$\n", 2},
		"is gone":   {"", 2},
	} {
		dir := filepath.Join(t.TempDir(), "it's $HOME \"here\"")
		program := filepath.Join(dir, "deskbell-hook")
		put2(t, program+".txt", tt.program)
		if tt.program != "" {
			put2(t, program, tt.program)
			if err := os.Chmod(program, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		var errs bytes.Buffer
		cmd := exec.Command("/bin/sh", "-c", Command{Program: []string{program}}.line("codex", "linux"))
		cmd.Stderr = &errs
		out, _ := cmd.Output()
		if cmd.ProcessState.ExitCode() != tt.code || (tt.code == 2) != strings.Contains(errs.String(), "Deskbell blocked this call") || (tt.code == 0) != (string(out) == "{}\n") {
			t.Errorf("%s: exit %d, %q, %q", name, cmd.ProcessState.ExitCode(), out, errs.String())
		}
	}
}

func TestDiff(t *testing.T) {
	for want, p := range map[string]Plan{
		"--- f\n+++ f\n@@ -1,2 +1,3 @@\n a\n+new\n b\n":      {Path: "f", before: []byte("a\nb\n"), after: []byte("a\nnew\nb\n")},
		"--- " + os.DevNull + "\n+++ f\n@@ -0,0 +1 @@\n+a\n": {Path: "f", after: []byte("a\n")},
		"--- f\n+++ " + os.DevNull + "\n@@ -1 +0,0 @@\n-a\n": {Path: "f", before: []byte("a\n")},
	} {
		if got := p.Diff(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
