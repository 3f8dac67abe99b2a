package app_test

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/danieljoos/wincred"
	"golang.org/x/sys/windows"

	"deskbell/backend/human"
)

// scratch is a folder that is deleted when the test ends. (t.TempDir deletes in a way that Wine 8 does not know.)
func scratch(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "deskbell")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		var all []string
		_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, _ error) error { all = append(all, path); return nil })
		for _, path := range slices.Backward(all) {
			if err := os.Remove(path); err != nil {
				t.Error(err)
			}
		}
	})
	return dir
}

// otherProgram is a program of its own that does the same.
func otherProgram(t testing.TB, program string) string {
	t.Helper()
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(scratch(t), "agent.exe")
	if err := os.WriteFile(other, text, 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	return other
}

// newCode is a one-time code that an operator has made.
func newCode(t testing.TB, me *caller) string {
	t.Helper()
	var made struct{ Code string }
	if status, err := me.call("POST", "/api/session/codes", struct{}{}, &made); err != nil || status != 200 {
		t.Fatal(status, err)
	}
	return made.Code
}

func TestAnAgentsProcessCannotBeTheOperatorOnWindows(t *testing.T) {
	const hookInput = `{"hook_event_name":"PreToolUse","cwd":"C:\\","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t1"}`
	for name, as := range map[string]struct {
		key, hook bool // what the agent does first
		how       human.AgentMark
		check     string
		says      string
	}{
		"it called":              {key: true, how: human.MarkKey, check: "true", says: "only a person can do this, and an AI agent (bot)"},
		"its hook ran":           {hook: true, how: human.MarkHook, check: "true", says: "only a person can do this, and an AI agent (bot)"},
		"nothing was seen of it": {check: "true", says: "in this terminal"},
		"the check is off":       {key: true, hook: true, check: "false", says: "in this terminal"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := scratch(t)
			key := key(t, dir, "bot")
			s := serve(t, dir, nil, "--set", "server.check_callers="+as.check)
			me := operator(t, s.url, s.code)
			agent := program(t, dir, []string{asProgram + "=", asPoster + "=" + s.url + "/api/human/invoke", "DESKBELL_KEY=" + key})
			self, token := agent.Path, "none"
			agent.Path = otherProgram(t, self)
			if as.key {
				token = key
			}
			agent.Args = append(agent.Args, token, `{"action_type":"feedback","description":"hello"}`)
			if as.hook {
				agent.Args = append(agent.Args, self, "hook", "claude-code", "then")
			}
			agent.Args = append(agent.Args, "cmd", "/c", self, "login", newCode(t, me))
			agent.Stdin = strings.NewReader(hookInput)
			runWith(t, agent).want(t, 0, as.says)

			var list struct{ Attempts []human.Attempt }
			if status, err := me.call("GET", "/api/attempts", nil, &list); err != nil || status != 200 {
				t.Fatal(status, err)
			}
			if as.how == "" {
				if len(list.Attempts) != 0 {
					t.Errorf("%+v", list)
				}
				return
			}
			if len(list.Attempts) != 1 || len(list.Attempts[0].Tries) != 1 {
				t.Fatalf("%+v", list)
			}
			a := list.Attempts[0]
			line := a.Tries[0].Line
			if a.AgentID != "bot" || a.How != as.how || a.Tries[0].What != human.TrySignIn || !slices.ContainsFunc(line, func(p human.Ancestor) bool { return p.Agent && p.PID == agent.Process.Pid }) {
				t.Errorf("%+v", a)
			}
			// Wine does not tell the arguments of another process.
			if last := line[len(line)-1].Command; !strings.Contains(last, filepath.Base(self)) || !underWine() && !strings.Contains(last, "login") {
				t.Errorf("who called ran %q", last)
			}
		})
	}
}

func TestAShellKeepsItsSessionOnWindows(t *testing.T) {
	dir := scratch(t)
	s := serve(t, dir, nil)
	me := operator(t, s.url, s.code)
	shell := func(words ...string) string {
		t.Helper()
		cmd := program(t, dir, nil)
		self := cmd.Path
		cmd.Path, cmd.Args = filepath.Join(os.Getenv("SYSTEMROOT"), "system32", "cmd.exe"), []string{"cmd", "/c"}
		for i, word := range words {
			if i > 0 {
				cmd.Args = append(cmd.Args, "&")
			}
			cmd.Args = append(append(cmd.Args, self), strings.Fields(word)...)
		}
		r := runWith(t, cmd)
		return r.out + r.err
	}
	kept := func() []*wincred.Credential {
		t.Helper()
		all, err := wincred.FilteredList("deskbell:session *")
		if err != nil && err != windows.ERROR_NOT_FOUND { //nolint:errorlint // it is returned as it is
			t.Fatal(err)
		}
		return all
	}
	before := len(kept())
	if said := shell("login "+newCode(t, me), "inbox"); !strings.Contains(said, "in this terminal") || !strings.Contains(said, "Nothing waits") {
		t.Errorf("signed in it says %q", said)
	}
	all := kept()
	if len(all) != before+1 {
		t.Fatalf("%d sessions are kept, there were %d", len(all), before)
	}
	one := all[len(all)-1]
	defer func() { _ = wincred.NewGenericCredential(one.TargetName).Delete() }()
	if status, err := newCaller(t, s.url, string(one.CredentialBlob)).call("GET", "/api/agents", nil, nil); err != nil || status != http.StatusUnauthorized {
		t.Errorf("elsewhere its token gives %d, %v", status, err)
	}
	if said := shell("inbox"); !strings.Contains(said, "only an operator") {
		t.Errorf("in another shell it says %q", said)
	}
	if said := shell("login "+newCode(t, me), "logout", "inbox"); !strings.Contains(said, "only an operator") || len(kept()) != before+1 {
		t.Errorf("signed out it says %q", said)
	}
}

func underWine() bool {
	return windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil
}
