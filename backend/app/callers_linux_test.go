package app_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/store/datadir"
)

// A scripted is an agent: a program that runs commands.
type scripted struct {
	t   testing.TB
	in  io.Writer
	out *bufio.Reader
}

func agentProcess(t testing.TB, dir string, env ...string) *scripted {
	t.Helper()
	script := filepath.Join(t.TempDir(), "agent.sh")
	if err := os.WriteFile(script, []byte(`while read -r line; do eval "$line"; echo; echo done; done`), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", script)
	cmd.Env = append(program(t, dir, env).Env, "PROGRAM="+self)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &scripted{t, in, bufio.NewReader(out)}
}

// runs has the agent run a line, and returns what that wrote.
func (a *scripted) runs(line string) (said string) {
	a.t.Helper()
	if _, err := fmt.Fprintln(a.in, line); err != nil {
		a.t.Fatal(err)
	}
	for {
		line, err := a.out.ReadString('\n')
		if err != nil {
			a.t.Fatalf("the agent ended: %v, after %s", err, said)
		}
		if line == "done\n" {
			return strings.TrimSpace(said)
		}
		said += line
	}
}

// signIn is a line of a script that signs in with a code.
func signIn(url, code string) string {
	return fmt.Sprintf(`DESKBELL_TEST_AS_PROGRAM= %s=%s/api/session "$PROGRAM" none '{"code":%q}'`, asPoster, url, code)
}

const ringing = `{"action_type":"feedback","description":"hello"}`

func TestAnAgentsProcessCannotBeTheOperator(t *testing.T) {
	hookInput := filepath.Join(t.TempDir(), "in.json")
	if err := os.WriteFile(hookInput, []byte(`{"hook_event_name":"PreToolUse","cwd":"/","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t1"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, as := range map[string]struct {
		become string // what makes it known
		how    human.AgentMark
		check  string
		status string
	}{
		"its hook ran":           {`"$PROGRAM" hook claude-code < ` + hookInput, human.MarkHook, "true", "403"},
		"it called":              {`"$PROGRAM" cancel op_none 2> /dev/null`, human.MarkKey, "true", "403"},
		"nothing was seen of it": {"", "", "true", "200"},
		"the check is off":       {`"$PROGRAM" hook claude-code < ` + hookInput, "", "false", "200"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			key := key(t, dir, "bot")
			s := serve(t, dir, nil, "--set", "server.check_callers="+as.check)
			me := operator(t, s.url, s.code)
			agent := agentProcess(t, dir, "DESKBELL_KEY="+key)
			code := func() string {
				t.Helper()
				var made struct{ Code string }
				if status, err := me.call("POST", "/api/session/codes", struct{}{}, &made); err != nil || status != 200 {
					t.Fatal(status, err)
				}
				return made.Code
			}
			of := func(name string) (found []human.Attempt) {
				t.Helper()
				var list struct{ Attempts []human.Attempt }
				if _, err := me.call("GET", "/api/attempts", nil, &list); err != nil {
					t.Fatal(err)
				}
				for _, a := range list.Attempts {
					if a.AgentID == name {
						found = append(found, a)
					}
				}
				return found
			}
			tries := func(count int) human.Attempt {
				t.Helper()
				list := of("bot")
				if len(list) != 1 || list[0].Count != count {
					t.Fatalf("%+v", list)
				}
				return list[0]
			}
			if as.become != "" {
				agent.runs(as.become)
			}
			given := code()
			if said := agent.runs(signIn(s.url, given)); !strings.HasPrefix(said, as.status) {
				t.Fatal(said)
			}
			if as.status == "200" {
				if list := of("bot"); len(list) != 0 {
					t.Errorf("%+v", list)
				}
				return
			}
			if status, _ := newCaller(t, s.url, "").call("POST", "/api/session", map[string]string{"code": given}, nil); status != http.StatusUnauthorized {
				t.Error("a code that an agent had is still good:", status)
			}
			if list := of(""); len(list) != 1 || list[0].How != human.MarkNone || list[0].Tries[0].What != human.TryCode || len(list[0].Tries[0].Line) == 0 {
				t.Errorf("a code that is used no more is no attempt: %+v", list)
			}
			a := tries(1)
			last := a.Tries[0].Line[len(a.Tries[0].Line)-1]
			if a.AgentID != "bot" || a.How != as.how || !a.Running || a.Tries[0].What != human.TrySignIn || !strings.Contains(last.Command, "none") || strings.Contains(last.Command, given) {
				t.Errorf("%+v", a)
			}

			// An operator's token, however the agent got it, is of no use to it.
			posts := func(token, path, body string) string {
				t.Helper()
				return agent.runs(fmt.Sprintf(`DESKBELL_TEST_AS_PROGRAM= %s=%s/api/%s "$PROGRAM" %s '%s'`, asPoster, s.url, path, token, body))
			}
			var op human.Operation
			said := posts(key, "human/invoke", ringing) // the status, and what came with it
			if raw, found := strings.CutPrefix(said, "201"); !found || json.Unmarshal([]byte(raw), &op) != nil {
				t.Fatal(said)
			}
			for n, path := range []string{"session/codes", "agents", "human/complete"} {
				said := posts(me.token, path, fmt.Sprintf(`{"name":"x","operation_id":%q}`, op.ID))
				if !strings.HasPrefix(said, "403") || !strings.Contains(said, `"code":"only_a_person_can_do_this`) {
					t.Error(path, said)
				}
				if strings.Contains(fmt.Sprint(tries(n+2)), me.token) {
					t.Error("the token is shown")
				}
			}

			if last := tries(4).Tries[3]; last.What != human.TryAnswer || last.OperationID != op.ID {
				t.Errorf("the answer is not seen as one: %+v", last)
			}

			// Killing the server makes it forget neither the agent nor that it tried.
			s.kill()
			s = serve(t, dir, nil, "--set", "server.check_callers=true")
			me = operator(t, s.url, s.code)
			if said := agent.runs(signIn(s.url, code())); !strings.HasPrefix(said, "403") {
				t.Error("after a restart:", said)
			}
			if list := of("bot"); len(list) != 1 || list[0].ID != a.ID || list[0].Count < 2 {
				t.Fatalf("%+v", list)
			}
			if status, err := me.call("POST", "/api/attempts/"+string(a.ID)+"/dismiss", struct{}{}, nil); err != nil || status != 204 {
				t.Error(status, err)
			}
			if list := of("bot"); len(list) != 0 {
				t.Errorf("%+v", list)
			}
			info, err := os.Stat(filepath.Join(dir, datadir.Agents))
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Error(info, err)
			}
		})
	}
}

// A program that calls the API itself is looked up while it continues.
func TestWhatTheUserOfAKeyStartsIsTheAgents(t *testing.T) {
	dir := t.TempDir()
	key := key(t, dir, "bot")
	s := serve(t, dir, nil, "--set", "server.check_callers=true")
	me := operator(t, s.url, s.code)
	var made struct{ Code string }
	if _, err := me.call("POST", "/api/session/codes", struct{}{}, &made); err != nil {
		t.Fatal(err)
	}
	agent := agentProcess(t, dir)
	wait := `while [ ! -s "` + filepath.Join(dir, datadir.Agents) + `" ]; do :; done; `
	agent.runs(`export DESKBELL_TEST_AS_PROGRAM=`)
	said := agent.runs(fmt.Sprintf(`%s=%s/api/human/invoke "$PROGRAM" %s '%s' /bin/sh -c '%s'`, asPoster, s.url, key, ringing,
		wait+strings.NewReplacer("'", `'\''`).Replace(signIn(s.url, made.Code))))
	if lines := strings.Split(said, "\n"); len(lines) != 2 || !strings.HasPrefix(lines[0], "201") || !strings.HasPrefix(lines[1], "403") {
		t.Error(said)
	}
}

func TestTheSocketServesTheSameAPI(t *testing.T) {
	dir := t.TempDir()
	key := key(t, dir, "bot")
	s := serve(t, dir, nil)
	path := filepath.Join(dir, datadir.Socket)
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != os.ModeSocket|0o600 {
		t.Fatal(info, err)
	}
	found, err := datadir.Find(dir)
	if err != nil || found.At() != "unix:"+path || found.URL != s.url {
		t.Errorf("%+v, %v", found, err)
	}
	// By the folder, by the socket's address, and by TCP as before.
	for _, more := range [][]string{nil, {"--url", "unix:" + path}, {"--url", s.url}} {
		run(t, dir, []string{"DESKBELL_KEY=" + key}, append([]string{"cancel", "op_none"}, more...)...).want(t, 3, "no operation")
		run(t, dir, []string{"DESKBELL_KEY=dbk_wrong"}, append([]string{"cancel", "op_none"}, more...)...).want(t, 3, "not a Deskbell key")
	}
	me := operator(t, s.url, s.code)
	var made struct{ Code string }
	if _, err := me.call("POST", "/api/session/codes", struct{}{}, &made); err != nil {
		t.Fatal(err)
	}
	r := run(t, dir, nil, "invite", "--code", made.Code, "--json").want(t, 0)
	if link := decode[struct{ Console string }](t, r.out).Console; !strings.HasPrefix(link, s.url+"/#code=") {
		t.Error("a link that was asked for over the socket:", link)
	}
	// A server that died leaves its socket behind, and that is no hindrance; one that ends takes it away.
	s.kill()
	if _, err := os.Lstat(path); err != nil {
		t.Error(err)
	}
	s = serve(t, dir, nil)
	run(t, dir, []string{"DESKBELL_KEY=" + key}, "cancel", "op_none").want(t, 3, "no operation")
	s.stop(t)
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Error("the socket is still there:", err)
	}
	// A folder whose path a socket's address has no room for.
	long := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	s = serve(t, long, nil)
	if found, err := datadir.Find(long); err != nil || found.At() != s.url {
		t.Errorf("%+v, %v", found, err)
	}
	s.kill()
	var log struct{ Msg string }
	text, err := os.ReadFile(filepath.Join(long, datadir.Log))
	if err != nil || json.Unmarshal([]byte(strings.SplitN(string(text), "\n", 2)[0]), &log) != nil && !strings.Contains(string(text), "no Unix socket") {
		t.Errorf("%s, %v", text, err)
	}
}
