package app_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"deskbell/backend/gate"
	"deskbell/backend/human"
	"deskbell/backend/store/backups"
)

func TestServeSaysOneLineAndStopsInOrder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	s := serve(t, dir, nil)
	if s.console != s.url+"/#code="+s.code || s.code == "" {
		t.Errorf("console %q, code %q", s.console, s.code)
	}
	if s.said != `{"url":"`+s.url+`","console":"`+s.url+`/"}`+"\n" {
		t.Errorf("on standard output it says %q", s.said)
	}
	info, err := os.Stat(dir)
	if err != nil || (runtime.GOOS != "windows" && info.Mode().Perm() != 0o700) {
		t.Errorf("the data folder is %v, %v", info.Mode(), err)
	}
	public, err := os.ReadFile(serverFile(dir))
	if err != nil {
		t.Fatal(err)
	}
	told := decode[struct {
		PID     int
		URL     string
		Version string
		Started time.Time `json:"started_at"`
	}](t, string(public))
	if told.PID != s.cmd.Process.Pid || told.URL != s.url || told.Version != "1.0-test" || time.Since(told.Started) > time.Minute {
		t.Errorf("server.json: %s", public)
	}
	anybody := newCaller(t, s.url, "")
	anybody.good(t, "GET", "/healthz", nil, nil)
	page, err := anybody.http.Get(s.url + "/")
	if err != nil {
		t.Fatal(err)
	}
	html, _ := io.ReadAll(page.Body)
	page.Body.Close()
	if !strings.Contains(string(html), "<title>Deskbell</title>") {
		t.Errorf("the console is %q", html)
	}
	boss := operator(t, s.url, s.code)
	if status, err := anybody.call("POST", "/api/session", map[string]string{"code": s.code}, nil); err != nil || status != http.StatusUnauthorized {
		t.Errorf("the code works twice: %d, %v", status, err)
	}

	// A client waits while the server stops: it gets an answer, and the server does not wait for it.
	agent := newCaller(t, s.url, key(t, dir, "bot"))
	var op human.Operation
	agent.good(t, "POST", "/api/human/invoke", map[string]any{"action_type": "feedback", "description": "x"}, &op)
	answered := make(chan string, 1)
	go func() {
		status, err := agent.call("GET", fmt.Sprintf("/api/human/operations/%s?wait=60&after_version=%d", op.ID, op.Version), nil, nil)
		answered <- fmt.Sprint(status, err)
	}()
	waitFor(t, "the agent to be seen waiting", func() bool {
		var seen struct{ Presence struct{ Waiting bool } }
		boss.good(t, "GET", "/api/human/operations/"+string(op.ID), nil, &seen)
		return seen.Presence.Waiting
	})
	began := time.Now()
	s.stop(t)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("stopping took %s", took)
	}
	if got := <-answered; got != "200 <nil>" {
		t.Errorf("who waited got %s", got)
	}
	if _, err := os.Stat(serverFile(dir)); !os.IsNotExist(err) {
		t.Errorf("server.json is still there: %v", err)
	}
}

// waitFor asks until something is so.
func waitFor(t testing.TB, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !so(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func TestASecondServerIsToldWhoHoldsTheFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serve(t, dir, nil)
	run(t, dir, nil, "serve", "--addr", "127.0.0.1:0", "--json").
		want(t, 3, fmt.Sprintf("process %d, since ", s.cmd.Process.Pid), "listens on "+s.url, dir)
	newCaller(t, s.url, "").good(t, "GET", "/healthz", nil, nil)
	s.kill()
	serve(t, dir, nil).stop(t)
}

func TestATakenPortIsNamed(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dir := t.TempDir()
	addr := l.Addr().String()
	run(t, dir, nil, "serve", "--addr", addr).want(t, 3, addr+" is taken by another program", "--addr")
	run(t, dir, nil, "doctor", "--addr", addr).want(t, 1, "fail", addr, "port 0")
	serve(t, dir, nil).stop(t) // the failed start left nothing in the way
}

func TestAFolderThatCannotBeWrittenIsSaidPlainly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	switch {
	case os.Getuid() == 0 && runtime.GOOS == "linux":
		dir = "/proc/deskbell" // where not even root can write
	case runtime.GOOS == "windows":
		t.Skip("modes of folders mean nothing here")
	default:
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
	}
	if r := run(t, dir, nil, "serve", "--json").want(t, 3, dir); r.out != "" {
		t.Errorf("it says %q", r.out)
	}
	run(t, dir, nil, "doctor").want(t, 1, "fail", dir)
}

func TestADamagedDatabaseIsSaidPlainly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "deskbell.db"), []byte(strings.Repeat("this is no database. ", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, dir, nil, "serve", "--addr", "127.0.0.1:0").want(t, 3, "deskbell.db")
	run(t, dir, nil, "doctor").want(t, 1, "fail", "deskbell.db")
}

func TestSettingsStopTheStartWhenTheyAreWrong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(file, []byte("[human]\nmax_history = 5\nmax_histroy = 6\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, dir, nil, "serve", "--addr", "127.0.0.1:0", "--json").want(t, 3, file, "line 3", "human.max_histroy", "human.max_history")
	run(t, dir, nil, "doctor").want(t, 1, "fail", "line 3")
	if _, err := os.Stat(filepath.Join(dir, "deskbell.db")); err == nil {
		t.Error("it began to start")
	}
	if err := os.WriteFile(file, []byte("[human]\nmax_history = 5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	type listed struct {
		File     string
		Settings []struct {
			Key, Source, From string
			Value             any
		}
	}
	r := run(t, dir, []string{"DESKBELL_HUMAN_DEFAULT_TIMEOUT=7"}, "config", "--json", "--set", "ui.theme=dark", "--allow-remote", "--addr", "0.0.0.0:1").want(t, 0)
	got := map[string]string{}
	for _, v := range decode[listed](t, r.out).Settings {
		got[v.Key] = fmt.Sprint(v.Value, " ", v.Source)
	}
	for k, want := range map[string]string{
		"human.max_history": "5 file", "human.default_timeout": "7 environment", "ui.theme": "dark flag", "server.allow_remote": "true flag",
		"server.addr": "0.0.0.0:1 flag", "human.enabled": "true default",
	} {
		if got[k] != want {
			t.Errorf("%s is %q, want %q", k, got[k], want)
		}
	}
	run(t, dir, nil, "config").want(t, 0, "human.max_history", "file ("+file+":2)")
	run(t, dir, nil, "config", "--set", "ui.them=dark").want(t, 3, "ui.them", "ui.theme")
	run(t, dir, nil, "serve", "--addr", "0.0.0.0:0").want(t, 3, "allow_remote")
}

func TestChangedSettingsAreWrittenAndKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(file, []byte("# mine\n[ui]\ntheme = \"dark\" # at night\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, dir, nil)
	boss := operator(t, s.url, s.code)
	var after struct {
		Restart bool `json:"restart_required"`
	}
	boss.good(t, "PUT", "/api/settings", map[string]any{"ui.theme": "light", "human.max_history": 9}, &after)
	if text, _ := os.ReadFile(file); string(text) != "# mine\n[ui]\ntheme = \"light\" # at night\n\n[human]\nmax_history = 9\n" || !after.Restart {
		t.Errorf("restart %v, file %s", after.Restart, text)
	}
	if status, err := boss.call("PUT", "/api/settings", map[string]any{"server.addr": "127.0.0.1:1"}, nil); err != nil || status != http.StatusConflict {
		t.Errorf("what a flag overrides was changed: %d, %v", status, err)
	}
	s.stop(t)
	run(t, dir, nil, "config").want(t, 0, `"light"`)
}

// Only a session of an operator makes and revokes keys; a program that can write the data folder asks in vain.
func TestKeysAreAnOperators(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run(t, dir, nil, "keys", "add", "early").want(t, 3, "no Deskbell runs", "deskbell serve")
	s := serve(t, dir, nil)
	boss := operator(t, s.url, s.code)
	code := func() string {
		var made struct{ Code string }
		boss.good(t, "POST", "/api/session/codes", nil, &made)
		return made.Code
	}
	for _, args := range [][]string{{"add", "bot"}, {"revoke", "bot"}} {
		run(t, dir, nil, append([]string{"keys"}, args...)...).want(t, 3, "only an operator", "deskbell login")
		run(t, dir, nil, append([]string{"keys", "--code", "AAAAA-AAAAA"}, args...)...).want(t, 3)
	}
	if list := run(t, dir, nil, "keys", "list", "--json").want(t, 0); strings.Contains(list.out, "bot") {
		t.Errorf("there is a key: %s", list.out)
	}
	made := run(t, dir, nil, "keys", "add", "bot", "--json", "--code", code()).want(t, 0)
	agent := newCaller(t, s.url, decode[struct{ Key string }](t, made.out).Key)
	agent.good(t, "GET", "/api/human/operations", nil, nil)
	run(t, dir, nil, "keys", "add", "a\x1b[31m", "--code", code()).want(t, 3, "name", `\x1b`)
	run(t, dir, nil, "keys", "list").want(t, 0, "bot", "valid")
	run(t, dir, nil, "keys", "revoke", "bot", "--code", code()).want(t, 0, "bot")
	if status, err := agent.call("GET", "/api/human/operations", nil, nil); err != nil || status != http.StatusUnauthorized {
		t.Errorf("a revoked key: %d, %v", status, err)
	}
	run(t, dir, nil, "keys", "revoke", "bot", "--code", code()).want(t, 3, "bot has no valid key")
	s.stop(t)
	if list := run(t, dir, nil, "keys", "list", "--json").want(t, 0, "bot"); strings.Contains(list.out, agent.token) {
		t.Error("a key is shown twice")
	}
}

// A fixture is a running server with one agent and an operator.
type fixture struct {
	*server
	dir  string
	env  []string // of the agent's commands
	boss *caller
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	dir := t.TempDir()
	env := []string{"DESKBELL_KEY=" + key(t, dir, "bot")}
	s := serve(t, dir, nil)
	return &fixture{s, dir, env, operator(t, s.url, s.code)}
}

// invite is a one-time code for an operator.
func (d *fixture) invite(t testing.TB) string {
	t.Helper()
	var made struct{ Code string }
	d.boss.good(t, "POST", "/api/session/codes", map[string]any{}, &made)
	return made.Code
}

// rung waits until something rings and returns it.
func (d *fixture) rung(t testing.TB) human.Operation {
	t.Helper()
	var page struct{ Operations []human.Operation }
	waitFor(t, "a ring", func() bool {
		d.boss.good(t, "GET", "/api/human/operations?state=open", nil, &page)
		return len(page.Operations) > 0
	})
	return page.Operations[0]
}

// during runs a command, and does something while it runs.
func (d *fixture) during(t testing.TB, args []string, do func(human.Operation)) result {
	t.Helper()
	ended := make(chan result, 1)
	cmd := program(t, d.dir, d.env, args...)
	go func() { ended <- runWith(t, cmd) }()
	do(d.rung(t))
	return <-ended
}

func TestRingsExitCodeIsTheAnswer(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	answer := func(path string, body map[string]any) func(human.Operation) {
		return func(op human.Operation) {
			body["operation_id"] = op.ID
			if path == "complete" {
				body["digest"] = op.Digest
			}
			d.boss.good(t, "POST", "/api/human/"+path, body, nil)
		}
	}
	approve := []string{"ring", "--type", "approve", "--details", `{"action":"make deploy","risk_level":"low"}`, "Deploy?"}
	for name, tt := range map[string]struct {
		args []string
		do   func(human.Operation)
		code int
		says string
	}{
		"approved": {approve, answer("complete", map[string]any{"decision": "approve"}), 0, "approved by"},
		"denied":   {approve, answer("complete", map[string]any{"decision": "deny", "human_input": "not on a Friday"}), 1, "not on a Friday"},
		"answered": {
			[]string{"ring", "Which colour?"},
			answer("complete", map[string]any{"human_input": "red\x1b[31m", "key_findings": []string{"it is red"}}), 0, "red⟨U+001B⟩[31m",
		},
		"declined": {[]string{"ring", "-t", "review", "Read this"}, answer("decline", map[string]any{"reason": "no time"}), 1, "no time"},
		"overdue":  {[]string{"ring", "--timeout", "0.01", "Quick!"}, func(op human.Operation) {}, 2, "deskbell wait op_"},
	} {
		t.Run(name, func(t *testing.T) {
			r := d.during(t, tt.args, tt.do).want(t, tt.code, tt.says)
			if strings.Contains(r.out, "\x1b") {
				t.Errorf("a control character reaches the terminal: %q", r.out)
			}
			if name == "overdue" {
				op := d.rung(t)
				run(t, d.dir, d.env, "wait", "--for", "0.01", string(op.ID)).want(t, 2, "deskbell cancel")
				run(t, d.dir, d.env, "cancel", string(op.ID), "--reason", "too late").want(t, 0, "cancelled")
				run(t, d.dir, d.env, "wait", string(op.ID)).want(t, 2, "too late")
			}
		})
	}
	run(t, d.dir, d.env, "ring", "--timeout", "0.01", "--on-timeout", "cancel", "x").want(t, 2, "cancelled")
	run(t, d.dir, nil, "ring", "x").want(t, 3, "DESKBELL_KEY")
	run(t, d.dir, []string{"DESKBELL_KEY=dbk_wrong"}, "ring", "x").want(t, 3, "key")
	run(t, d.dir, d.env, "ring", "--details", "[1]", "x").want(t, 3, "--details must be a JSON object")
	run(t, d.dir, d.env, "ring", "--details", "@/no/such/file", "x").want(t, 3, "/no/such/file")
	run(t, d.dir, d.env, "ring", "--type", "dance", "x").want(t, 3, "action_type")
	run(t, d.dir, d.env, "ring").want(t, 3, "what is missing: DESCRIPTION")
	run(t, d.dir, d.env, "wait", "op_nothing").want(t, 3, "op_nothing")
	run(t, t.TempDir(), d.env, "ring", "x").want(t, 3, "no Deskbell runs")
	run(t, d.dir, d.env, "--url", "http://127.0.0.1:1", "x").want(t, 3)
	run(t, d.dir, append(d.env, "DESKBELL_URL=http://127.0.0.1:1"), "ring", "x").want(t, 3, "http://127.0.0.1:1")
}

func TestRingReadsFilesAndPrintsJSON(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	file := filepath.Join(t.TempDir(), "details.json")
	if err := os.WriteFile(file, []byte("{\"design\": \"two  spaces\u202e\", \"n\": 1.50}"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := program(t, d.dir, d.env, "ring", "--json", "--details", "@"+file, "--priority", "9", "--session", "s", "--idempotency-key", "k", "-")
	cmd.Stdin = strings.NewReader("from standard input\n")
	ended := make(chan result, 1)
	go func() { ended <- runWith(t, cmd) }()
	op := d.rung(t)
	if op.Description != "from standard input" || op.Priority != 9 || op.SessionID != "s" || op.IdempotencyKey != "k" {
		t.Errorf("rang %+v", op)
	}
	d.boss.good(t, "POST", "/api/human/complete", map[string]any{"operation_id": op.ID, "human_input": "yes"}, nil)
	r := (<-ended).want(t, 0)
	if got := decode[human.Operation](t, r.out); got.Result == nil || got.Result.HumanInput != "yes" || !strings.Contains(r.out, `"details":{"design":"two  spaces\u202e","n":1.50}`) {
		t.Errorf("printed %s", r.out)
	}
	waitFor(t, "the operator to be told that it was read", func() bool {
		var now human.Operation
		d.boss.good(t, "GET", "/api/human/operations/"+string(op.ID), nil, &now)
		return now.DeliveredAt != nil
	})
}

func TestAQuestionReachesTheAgentsTerminal(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	cmd := program(t, d.dir, d.env, "ring", "Which colour?")
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	op := d.rung(t)
	d.boss.good(t, "POST", "/api/human/reply", map[string]any{"operation_id": op.ID, "text": "for \u202ewhom?"}, nil)
	lines := bufio.NewScanner(errs)
	var said string
	for !strings.Contains(said, "deskbell reply "+string(op.ID)) && lines.Scan() {
		said += lines.Text() + "\n"
	}
	if !strings.Contains(said, "for ⟨U+202E⟩whom?") {
		t.Errorf("said %q", said)
	}
	run(t, d.dir, d.env, "reply", string(op.ID), "for children").want(t, 0, "in progress")
	d.boss.good(t, "POST", "/api/human/complete", map[string]any{"operation_id": op.ID, "human_input": "red"}, nil)
	_, _ = io.Copy(io.Discard, errs)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestARingOutlivesACrashOfTheServer(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	r := d.during(t, []string{"ring", "Still there?"}, func(op human.Operation) {
		waitFor(t, "the agent to wait", func() bool {
			var seen struct{ Presence struct{ Waiting bool } }
			d.boss.good(t, "GET", "/api/human/operations/"+string(op.ID), nil, &seen)
			return seen.Presence.Waiting
		})
		d.kill()
		again := serve(t, d.dir, nil) // on another port
		operator(t, again.url, again.code).good(t, "POST", "/api/human/complete", map[string]any{"operation_id": op.ID, "human_input": "yes"}, nil)
	})
	r.want(t, 0, "waiting for it to come back", "yes")
}

func TestAnOperatorInATerminal(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	agent := newCaller(t, d.url, strings.TrimPrefix(d.env[0], "DESKBELL_KEY="))
	asOperator := func(args ...string) result {
		t.Helper()
		return run(t, d.dir, nil, append(args, "--code", d.invite(t))...)
	}
	used := d.invite(t)
	run(t, d.dir, nil, "inbox", "--code", used).want(t, 0, "Nothing waits")
	run(t, d.dir, nil, "inbox", "--code", used).want(t, 3, "used or expired")
	run(t, d.dir, nil, "inbox").want(t, 3, "run `deskbell login` in this terminal", "--code")
	run(t, d.dir, []string{"DESKBELL_TOKEN=" + d.boss.token}, "inbox").want(t, 3, "only an operator")

	ring := func(body map[string]any) (op human.Operation) {
		agent.good(t, "POST", "/api/human/invoke", body, &op)
		return op
	}
	now := func(op human.Operation) (after human.Operation) {
		d.boss.good(t, "GET", "/api/human/operations/"+string(op.ID), nil, &after)
		return after
	}
	danger := ring(map[string]any{
		"action_type": "approve", "description": "Drop \u202egpj.txt\x1b[2J?",
		"details": map[string]any{"action": "rm -rf /\x07", "risk_level": "critical", "lines": "a\nb", "more": map[string]any{"deep": []int{1}}},
	})
	r := asOperator("inbox").want(t, 0, string(danger.ID), "critical", "bot", "Drop ⟨U+202E⟩gpj.txt⟨U+001B⟩[2J?")
	if strings.ContainsAny(r.out, "\x1b\u202e") {
		t.Errorf("the inbox prints control characters: %q", r.out)
	}
	asOperator("inbox", "--json").want(t, 0, `"operations"`)

	// A dangerous one is approved by typing the word, or in a script by naming what was read.
	id := string(danger.ID)
	talk := func(input string, id string) result {
		cmd := program(t, d.dir, nil, "answer", id, "--code", d.invite(t))
		cmd.Stdin = strings.NewReader(input)
		return runWith(t, cmd)
	}
	r = talk("a\n", id).want(t, 3, "rm -rf /⟨U+0007⟩", "critical risk", "a\n    b", `"deep"`, danger.Digest, "nothing was changed")
	if strings.ContainsAny(r.out+r.err, "\x1b\x07\u202e") {
		t.Errorf("the operation is printed with control characters: %q", r.out)
	}
	asOperator("answer", id, "--approve").want(t, 3, "--digest "+danger.Digest)
	asOperator("answer", id, "--approve", "--digest", strings.Repeat("0", 64)).want(t, 3, "another version")
	asOperator("answer", id, "--approve", "--deny").want(t, 3, "one of")
	if op := now(danger); op.State != human.Pending {
		t.Fatalf("it is %s already", op.State)
	}
	talk("approve\nmind the cat\n", id).want(t, 0, "approved")
	if op := now(danger); op.Result == nil || op.Result.Decision != human.Approved || op.Result.HumanInput != "mind the cat" {
		t.Errorf("answered %+v", op.Result)
	}
	talk("", id).want(t, 0, "approved by", "mind the cat")
	asOperator("answer", id, "--deny").want(t, 3, "was completed")

	scripted := ring(map[string]any{"action_type": "approve", "description": "x", "details": map[string]any{"risk_level": "high"}})
	asOperator("answer", string(scripted.ID), "--approve", "--digest", scripted.Digest).want(t, 0, "approved")

	question := ring(map[string]any{"action_type": "feedback", "description": "Which colour?"})
	talk("k\nfor whom?\n", string(question.ID)).want(t, 0, "waiting input")
	agent.good(t, "POST", "/api/human/reply", map[string]any{"operation_id": question.ID, "text": "children"}, nil)
	talk("t\nred\n", string(question.ID)).want(t, 0, "children", "answered")
	if op := now(question); op.Result == nil || op.Result.HumanInput != "red" {
		t.Errorf("answered %+v", op.Result)
	}

	work := ring(map[string]any{"action_type": "desktop", "description": "Click there"})
	asOperator("answer", string(work.ID), "--text", "done", "--result", "ok", "--summary", "clicked", "--finding", "one", "--finding", "two").want(t, 0, "answered")
	if op := now(work); op.Result == nil || op.Result.ExecutionResult != "ok" || op.Result.Summary != "clicked" || len(op.Result.KeyFindings) != 2 {
		t.Errorf("answered %+v", op.Result)
	}
	refused := ring(map[string]any{"action_type": "review", "description": "Read"})
	asOperator("answer", string(refused.ID), "--decline", "no time").want(t, 0, "declined", "no time")
	asOperator("inbox", "--all").want(t, 0, string(refused.ID), "declined")

	// An agent's key is no operator's session.
	run(t, d.dir, d.env, "answer", string(ring(map[string]any{"action_type": "review", "description": "y"}).ID), "--decline", "z").want(t, 3, "operator")
}

func TestTheDoctorReports(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	type report struct {
		OK     bool
		Checks []struct{ Name, Status, Detail, Fix string }
	}
	r := run(t, dir, nil, "doctor", "--json", "--addr", "127.0.0.1:0").want(t, 0)
	got := decode[report](t, r.out)
	names := map[string]string{}
	for _, c := range got.Checks {
		names[c.Name] = c.Status
	}
	for _, name := range []string{"program", "settings", "data folder", "space", "database", "journal", "server", "display", "notifications", "record keys", "record browser"} {
		if names[name] == "" {
			t.Errorf("there is no check %q", name)
		}
	}
	if !got.OK || (runtime.GOOS == "linux" && names["display"] != "warn") {
		t.Errorf("reports %+v", got)
	}
	if runtime.GOOS == "linux" && names["session bus"] != "warn" { // it would have had to start one
		t.Errorf("there is a session bus: %+v", got)
	}
	for _, c := range got.Checks {
		if c.Status != "ok" && c.Fix == "" {
			t.Errorf("%q is not ok, and no fix is named", c.Name)
		}
	}
	s := serve(t, dir, nil)
	run(t, dir, nil, "doctor").want(t, 0, fmt.Sprintf("process %d listens on %s", s.cmd.Process.Pid, s.url))
	run(t, dir, []string{"LANG=zh_CN.UTF-8"}, "doctor").want(t, 0, "数据文件夹", fmt.Sprintf("进程 %d 正在 %s 上监听", s.cmd.Process.Pid, s.url))
	run(t, dir, []string{"LANG=zh_CN.UTF-8"}, "doctor", "--set", "ui.language=en").want(t, 0, "data folder")
	run(t, dir, nil, "doctor", "--set", "ui.language=zh-CN").want(t, 0, "数据文件夹")
	var seen report
	operator(t, s.url, s.code).good(t, "GET", "/api/doctor", nil, &seen)
	if len(seen.Checks) != len(got.Checks) {
		t.Errorf("the API's doctor reports %+v", seen)
	}
}

func TestTheSampleAgentIsARealClient(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.boss.good(t, "POST", "/api/sample", map[string]any{}, nil)
	first := d.rung(t)
	if first.Kind != human.Feedback || first.AgentID != "sample-agent" {
		t.Fatalf("rang %+v", first)
	}
	d.boss.good(t, "POST", "/api/human/reply", map[string]any{"operation_id": first.ID, "text": "who are you?"}, nil)
	waitFor(t, "its reply", func() bool {
		var op human.Operation
		d.boss.good(t, "GET", "/api/human/operations/"+string(first.ID), nil, &op)
		return len(op.Messages) == 2 && op.State == human.InProgress
	})
	d.boss.good(t, "POST", "/api/human/complete", map[string]any{"operation_id": first.ID, "human_input": "Ahoy, it's me"}, nil)
	second := d.rung(t)
	var whole human.Operation
	d.boss.good(t, "GET", "/api/human/operations/"+string(second.ID), nil, &whole)
	if whole.Kind != human.Approve || whole.Risk != human.LowRisk || !strings.Contains(string(whole.Details), "Ahoy") {
		t.Fatalf("rang %+v", whole)
	}
	d.boss.good(t, "POST", "/api/human/complete", map[string]any{"operation_id": second.ID, "decision": "approve", "digest": whole.Digest}, nil)
	waitFor(t, "its key to be dropped", func() bool {
		return !strings.Contains(run(t, d.dir, nil, "keys", "list").out, "sample-agent")
	})
	d.stop(t)
}

func TestWithoutADisplayTheAppSaysWhatToDo(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("there is always a display")
	}
	run(t, t.TempDir(), nil).want(t, 3, "no display", "deskbell serve")
	run(t, t.TempDir(), []string{"DISPLAY=:1"}).want(t, 3, "this test has no window")
}

func TestSmallCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run(t, dir, nil, "version").want(t, 0, "deskbell 1.0-test (0123456789ab, 2026-01-31)")
	run(t, dir, nil, "--version").want(t, 0, "deskbell 1.0-test (0123456789ab, 2026-01-31)")
	spec := decode[struct {
		OpenAPI string
		Info    struct{ Version string }
	}](t, run(t, dir, nil, "openapi").want(t, 0).out)
	if !strings.HasPrefix(spec.OpenAPI, "3.1") || spec.Info.Version != "1.0-test" {
		t.Errorf("OpenAPI %q of version %q", spec.OpenAPI, spec.Info.Version)
	}
	run(t, dir, nil, "dance").want(t, 3, "dance")
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("these commands left %v", left)
	}
}

// Files that a call deleted come back in a terminal, with no server.
func TestBackupsInATerminal(t *testing.T) {
	t.Parallel()
	dir, tree := t.TempDir(), t.TempDir()
	run(t, dir, nil, "backups", "list").want(t, 0, "There are no backups")
	lost := filepath.Join(tree, "notes", "a.txt")
	if err := errors.Join(os.Mkdir(filepath.Dir(lost), 0o755), os.WriteFile(lost, []byte("mine"), 0o600)); err != nil {
		t.Fatal(err)
	}
	args, _ := json.Marshal(map[string]string{"command": "rm -rf notes"})
	call := gate.Call{Tool: "Bash", Args: args, Cwd: tree, Root: tree, Home: tree}
	b, err := backups.New(dir, time.Now, nil, nil).Backup(t.Context(), call, gate.Judge(call, gate.Balanced, nil))
	if err != nil {
		t.Fatal(err)
	}
	run(t, dir, nil, "backups", "list").want(t, 0, b.ID, "1 file", "1 kB", "Bash")
	run(t, dir, nil, "backups", "show", b.ID).want(t, 0, lost, "-rw-------")
	run(t, dir, nil, "backups", "restore", "20200101T000000Z-00000000").want(t, 3, "deskbell backups list")
	if err := os.WriteFile(lost, []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, dir, nil, "backups", "restore", b.ID).want(t, 3, lost, "nothing was restored")
	if err := os.RemoveAll(filepath.Dir(lost)); err != nil {
		t.Fatal(err)
	}
	run(t, dir, nil, "backups", "restore", b.ID).want(t, 0, "Restored 1 file")
	if data, err := os.ReadFile(lost); err != nil || string(data) != "mine" {
		t.Errorf("%q, %v", data, err)
	}
	if again := decode[human.Restored](t, run(t, dir, nil, "backups", "restore", "--json", b.ID).want(t, 0).out); again != (human.Restored{Kept: 1}) {
		t.Errorf("once more: %+v", again)
	}
}

// What names nothing says so, and which command lists what there is.
func TestWrongIDsNameTheNextCommand(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	for line, says := range map[string][2]string{
		"phone forget ph_nosuch":     {"there is no such phone", "`deskbell phone` lists"},
		"answer op_nosuch --approve": {"no operation op_nosuch", "`deskbell inbox --all` lists"},
		"plan pause nosuch":          {`there is no plan in the session "nosuch"`, "`deskbell plan list` lists"},
		"plan presets remove nosuch": {`there is no preset "nosuch"`, "`deskbell plan presets` lists"},
		"keys revoke nosuch":         {"agent nosuch has no valid key", "`deskbell keys list` lists"},
		"recordings show rec_nosuch": {"there is no recording rec_nosuch", "`deskbell recordings"},
		"receipts show op_nosuch":    {"no operation op_nosuch", "`deskbell inbox --all` lists"},
	} {
		run(t, d.dir, d.env, append(strings.Fields(line), "--code", d.invite(t))...).want(t, 3, says[0], says[1])
	}
	for _, line := range []string{"wait op_nosuch", "reply op_nosuch hi", "cancel op_nosuch"} {
		run(t, d.dir, d.env, strings.Fields(line)...).want(t, 3, "no operation op_nosuch", "`deskbell ring` prints the id")
	}
}
