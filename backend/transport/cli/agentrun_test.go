package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"deskbell/backend/agent"
	"deskbell/backend/human"
)

// agentCommand runs the command line with an agent that does what the test says.
func runAgent(t *testing.T, do func(ctx context.Context, r AgentRun) (agent.Result, error), args ...string) (out, errs string, code int) {
	t.Helper()
	return agentProgram(t, do, "from standard input\n", args...)
}

func agentProgram(t *testing.T, do func(ctx context.Context, r AgentRun) (agent.Result, error), in string, args ...string) (out, errs string, code int) {
	t.Helper()
	t.Setenv("DESKBELL_KEY", "dbk_test")
	t.Setenv("DESKBELL_URL", "http://127.0.0.1:1")
	t.Setenv("DESKBELL_DATA", t.TempDir())
	var o, e bytes.Buffer
	chinese, err := os.ReadFile("../../../frontend/messages/server/zh-CN.json")
	if err != nil {
		t.Fatal(err)
	}
	p := Program{Version: "1", Chinese: chinese, Agent: Agent{Run: do, Chat: parrot, Agents: func(string) ([]agent.Profile, error) { return []agent.Profile{{Name: agent.ReferenceAgent}}, nil }, List: func(context.Context, string, int) ([]agent.RunView, error) {
		return []agent.RunView{
			{
				RunInfo: agent.RunInfo{ID: "run_3", Task: "go\x1b[2J on", Limits: &agent.Limits{Steps: 100, Tokens: 2_000_000, Time: time.Hour, Money: 2}},
				Alive:   true, State: agent.AwaitingConfirmation, Spent: agent.Spent{Steps: 12, TokensIn: 30_001, TokensOut: 400, Time: 3 * time.Minute, Money: 0.5},
			},
			{RunInfo: agent.RunInfo{ID: "run_2", Task: "two"}, State: agent.Executing},
			{RunInfo: agent.RunInfo{ID: "run_1", Task: "one"}, State: agent.Completed, Over: true, Ending: agent.EndDone},
			{RunInfo: agent.RunInfo{ID: "run_0", Task: "nought"}, State: agent.Failed, Ending: agent.EndNeedsInput},
		}, nil
	}}}
	code = Execute(t.Context(), p, append([]string{"agent"}, args...), strings.NewReader(in), &o, &e)
	return o.String(), e.String(), code
}

// parrot is an agent that asks about "which", fails at "fail", cannot at "error", and answers anything else.
func parrot(_ context.Context, r AgentRun, talk func(Handle) error) error {
	return talk(func(_ context.Context, m agent.Message) (agent.Response, error) {
		message, session := m.Text, m.Session
		out := agent.Response{Query: message, Status: agent.Success, Message: "You said " + message + "\x1b[2J"}
		switch {
		case message == "which":
			out.Status, out.SessionID, out.Message, out.Prompt = agent.WaitingInput, "chat_1", "Which one?", "Which one?"
		case message == "error":
			return agent.Response{}, errors.New("boom")
		case message == "fail":
			out.Status, out.SessionID, out.Message = agent.NotDone, session, "It could not be done."
		case session != "":
			out.Status, out.SessionID = agent.Done, session
		}
		if r.Emit != nil {
			r.Emit(agent.Update{Type: agent.TaskInit, Tool: "shell", Call: "shell ls\x1b"})
		}
		return out, nil
	})
}

func TestAConversationInATerminal(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		in   string
		code int
		out  []string
		errs string
	}{
		"one message":               {[]string{"hello"}, "never read\n", exitYes, []string{"shell ls⟨U+001B⟩", "You said hello⟨U+001B⟩[2J"}, ""},
		"it asks, and is answered":  {[]string{"--json", "which"}, "\n  the first \nnever read\n", exitYes, []string{`"session_id":"chat_1"`, `"query":"the first","message":"You said the first`}, ""},
		"it asks, and nobody is in": {[]string{"--json", "which"}, "", exitUnended, []string{`"waiting_input"`}, ""},
		"lines of standard input":   {[]string{"--json"}, "which\none\n/new\ntwo\n", exitYes, []string{`"waiting_input"`, `"completed"`, `"success"`}, ""},
		"an earlier conversation":   {[]string{"--json", "--session", "chat_7", "two"}, "", exitYes, []string{`"status":"completed"`}, ""},
		"it fails":                  {[]string{"--json", "fail"}, "", exitNo, []string{`"failed"`}, ""},
		"it fails between others":   {[]string{"--json"}, "which\nfail\none\n", exitYes, []string{`"waiting_input"`, `"failed"`, `"completed"`}, ""},
		"an error":                  {[]string{"error"}, "", exitError, nil, "boom"},
		"no message":                {[]string{" "}, "", exitError, nil, "the message is empty"},
		"no messages":               {nil, "", exitYes, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			out, errs, code := agentProgram(t, nil, tt.in, append([]string{"chat"}, tt.args...)...)
			got := strings.Split(strings.TrimSpace(out), "\n")
			if len(tt.out) == 0 {
				got = nil
			}
			if code != tt.code || !strings.Contains(errs, tt.errs) || strings.Contains(out, "never read") || len(got) != len(tt.out) {
				t.Fatalf("exit code %d, want %d\n%s\n%s", code, tt.code, out, errs)
			}
			for i, line := range got {
				if !strings.Contains(line, tt.out[i]) {
					t.Errorf("line %d is %q, want one with %q", i, line, tt.out[i])
				}
			}
		})
	}
}

func tasks(n int) []human.Task {
	return []human.Task{{ID: "t1", Description: "Look\x1b]0;x\x07", Tool: "read_file"}, {ID: "t2", Description: "Delete", Tool: "shell"}}[:n]
}

func TestARunInATerminal(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	updates := []agent.Update{
		{Type: agent.StatusUpdate, Content: "Thinking\x1b[31m"},
		{Type: agent.ConfirmationRequest, Content: "2 tasks are planned", Plan: &agent.Confirmation{
			Tasks: tasks(2), ExpiresAt: &at, Summary: &human.TasksSummary{Tasks: []human.TaskSummary{{ID: "t1", Risk: human.NoRisk}, {ID: "t2", Risk: human.HighRisk}}},
		}},
		{Type: agent.TaskPlan, Content: "Confirmed", Plan: &agent.Confirmation{
			Tasks: tasks(1), Message: "not that\u202e", Changes: []human.TaskChange{{Kind: human.TaskRemoved, ID: "t2", Description: "Delete"}},
		}},
		{Type: agent.TaskInit, Content: "Look", TaskID: "t1"},
		{Type: agent.StatusUpdate, Tool: "read_file", TaskID: "t1", Call: "read_file a\x1b", Content: "Calling read_file"},
		{Type: agent.StatusUpdate, Tool: "read_file", TaskID: "t1", Call: "read_file a\x1b", Outcome: "done", Content: "hidden"},
		{Type: agent.TaskInit, Tool: "shell", Call: "shell rm -rf x"},
		{Type: agent.SubTaskResult, Tool: "shell", Call: "shell rm -rf x", Outcome: "refused", Content: "an operator said no"},
		{Type: agent.SubTaskResult, TaskID: "t1", Outcome: "skipped", Content: "Look"},
		{Type: agent.ConfirmationTimeout, Content: "No operator answered"},
		{Type: agent.FinalResult, Content: "All\x1b is\nwell"},
	}
	var given AgentRun
	do := func(_ context.Context, r AgentRun) (agent.Result, error) {
		given = r
		r.Began("run_1")
		for _, u := range updates {
			r.Tell("this is not for a pipe")
			r.Emit(u)
		}
		r.Note("a note\x1b")
		return agent.Result{Ending: agent.EndDone, Spent: agent.Spent{Steps: 2, TokensIn: 10, TokensOut: 5}}, nil
	}
	dir := t.TempDir()
	out, errs, code := runAgent(t, do, "run", "--cwd", dir, "--max-time", "5m", "--max-steps", "7", "--max-cost", "2", "--price-in", "3", "--provider", "openai", "--model", "m",
		"--base-url", "http://127.0.0.1:9/v1", "--allow-http-private", "--mcp", "npx -y 'a server'", "--mcp", "http://127.0.0.1:3/mcp", "--mcp", "npx -y 'a server'", "mend it")
	if code != exitYes {
		t.Fatalf("%d: %s", code, errs)
	}
	if strings.ContainsAny(out+errs, "\x1b\x07\u202e") {
		t.Errorf("something is printed raw: %q %q", out, errs)
	}
	for _, want := range []string{
		"· Thinking⟨U+001B⟩[31m", "1. [none] Look", "2. [high] Delete (shell)", "removed: Delete", "The operator says: not that", "> t1: Look",
		"  read_file a⟨U+001B⟩\n  < done read_file", "  shell rm -rf x\n  < denied shell rm -rf x\n      an operator said no", "< skipped t1: Look", "! No operator answered", "All⟨U+001B⟩ is\nwell",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("it prints %q, which has no %q", out, want)
		}
	}
	for _, not := range []string{"not for a pipe", "hidden"} {
		if strings.Contains(out, not) {
			t.Errorf("it prints %q", not)
		}
	}
	if !strings.Contains(errs, "Run run_1") || !strings.Contains(errs, "Done; calls: 2, tokens: 15") {
		t.Errorf("it notes %q", errs)
	}
	if given.Task != "mend it" || given.Cwd != dir || given.Key != "dbk_test" || !given.PrivateHTTP || given.Model.Provider != "openai" || given.Model.Name != "m" || given.Model.BaseURL != "http://127.0.0.1:9/v1" {
		t.Errorf("given %+v", given)
	}
	want := agent.Limits{Steps: 7, Tokens: 2_000_000, Time: 5 * time.Minute, Money: 2, In: 3, Plans: 5, Context: 100_000}
	if limits, err := given.Limits(nil); err != nil || limits != want {
		t.Errorf("limits %+v, %v", limits, err)
	}
	var names []string
	for _, p := range given.Servers {
		names = append(names, p.Name)
	}
	if !reflect.DeepEqual(names, []string{"a-server", "127-0-0-1", "a-server-2"}) || !reflect.DeepEqual(given.Servers[0].Command, []string{"npx", "-y", "a server"}) {
		t.Errorf("servers %+v", given.Servers)
	}
}

// Everything of a run is in the language of the terminal; what the agent, the model and people say stays as it is.
func TestARunInChinese(t *testing.T) {
	for _, v := range []string{"LC_ALL", "LC_MESSAGES"} {
		t.Setenv(v, "")
	}
	t.Setenv("LANG", "zh_CN.UTF-8")
	said := human.Sayf("Working on task %s", "t1")
	failed := human.Sayf("Nothing was done.")
	do := func(_ context.Context, r AgentRun) (agent.Result, error) {
		r.Began("run_1")
		r.Emit(agent.Update{Type: agent.StatusUpdate, Content: said.Text, Said: []human.Sentence{said}})
		r.Emit(agent.Update{Type: agent.SubTaskResult, TaskID: "t1", Outcome: "refused", Content: "No, says Mei"})
		r.Emit(agent.Update{Type: agent.ErrorUpdate, Content: "No, says Mei\n" + failed.Text, Said: []human.Sentence{failed}})
		return agent.Result{Ending: agent.EndDenied, Message: "No, says Mei\n" + failed.Text, Spent: agent.Spent{Steps: 2}}, nil
	}
	out, errs, code := runAgent(t, do, "run", "x")
	if code != exitDeniedRun || out != "· 正在执行任务 t1\n< 已拒绝 t1: No, says Mei\n! No, says Mei\n  没有执行任何操作。\n" {
		t.Errorf("%d: %q", code, out)
	}
	if errs != "运行 run_1\n未完成；调用 2 次，0 个 token，用时 0 s。\n" {
		t.Errorf("it notes %q", errs)
	}
	out, _, _ = runAgent(t, nil, "list")
	for _, want := range []string{"等待确认", "12 / 100 次调用", "已中断", "完成", "等待输入"} {
		if !strings.Contains(out, want) {
			t.Errorf("the list does not say %q: %s", want, out)
		}
	}
}

func TestARunInJSON(t *testing.T) {
	do := func(_ context.Context, r AgentRun) (agent.Result, error) {
		r.Began("run_1")
		r.Tell("not this")
		r.Emit(agent.Update{Type: agent.StatusUpdate, State: agent.Reasoning, Content: "a\x1bb\u202e"})
		return agent.Result{Status: agent.NotDone, Ending: agent.EndFailed, Message: "no"}, nil
	}
	out, _, code := runAgent(t, do, "run", "--json", "-")
	if code != exitNo || strings.ContainsAny(out, "\x1b\u202e") {
		t.Errorf("%d, %q", code, out)
	}
	lines := bufio.NewScanner(strings.NewReader(out))
	var u agent.Update
	var r agent.Result
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &u) != nil || u.Content != "a\x1bb\u202e" {
		t.Errorf("%q, %+v", lines.Text(), u)
	}
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &r) != nil || r.RunID != "run_1" || r.Message != "no" || lines.Scan() {
		t.Errorf("%q, %+v", lines.Text(), r)
	}
}

func TestHowARunEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		result agent.Result
		err    error
		code   int
		says   string
	}{
		"done":            {agent.Result{Ending: agent.EndDone}, nil, 0, "Done"},
		"failed":          {agent.Result{Ending: agent.EndFailed, Message: "there is no such file"}, nil, 1, "there is no such file"},
		"it asks":         {agent.Result{Ending: agent.EndNeedsInput, Prompt: "which\x1b one?"}, nil, 2, "It asks: which⟨U+001B⟩ one?"},
		"by an operator":  {agent.Result{Ending: agent.EndDenied, Message: "the plan was cancelled"}, nil, 4, "the plan was cancelled"},
		"by a limit":      {agent.Result{Ending: agent.EndInterrupted, Message: "the limit of 3 calls"}, nil, 5, "deskbell agent resume run_1"},
		"no one knows":    {agent.Result{}, nil, 5, "Not done"},
		"an error":        {agent.Result{}, human.Errorf(human.Unavailable, "the disk is full"), exitError, "the disk is full"},
		"no run":          {agent.Result{}, human.Errorf(human.NotFound, "there is no run"), exitError, "there is no run"},
		"an error in all": {agent.Result{}, errors.New("boom"), exitError, "Continue later with: deskbell agent resume run_1"},
	} {
		t.Run(name, func(t *testing.T) {
			_, errs, code := runAgent(t, func(_ context.Context, r AgentRun) (agent.Result, error) {
				r.Began("run_1")
				return tt.result, tt.err
			}, "run", "x")
			if code != tt.code || !strings.Contains(errs, tt.says) {
				t.Errorf("%d, %q", code, errs)
			}
			if again := strings.Contains(errs, "resume"); again != (tt.code == exitNo || tt.code == exitUnended || tt.code == exitInterrupted || name == "an error" || name == "an error in all") {
				t.Errorf("it says how to go on: %v; %q", again, errs)
			}
		})
	}
}

// A run that continues keeps the limits it has, but for those that are given anew.
func TestLimitsOfARunThatGoesOn(t *testing.T) {
	var given AgentRun
	resume := func(args ...string) {
		t.Helper()
		_, errs, code := runAgent(t, func(_ context.Context, r AgentRun) (agent.Result, error) {
			given = r
			return agent.Result{Ending: agent.EndDone}, nil
		}, append([]string{"resume", "run_1"}, args...)...)
		if code != exitYes {
			t.Fatalf("%d: %s", code, errs)
		}
	}
	kept := agent.Limits{Steps: 7, Money: 2, In: 3, Context: 9}
	resume("--max-steps", "20", "--max-time", "0", "--max-cost", "5", "--max-context", "8")
	if l, err := given.Limits(&kept); err != nil || l != (agent.Limits{Steps: 20, Money: 5, In: 3, Context: 8}) {
		t.Errorf("limits %+v, %v", l, err)
	}
	if l, err := given.Limits(nil); human.KindOf(err) != human.Invalid {
		t.Errorf("a cost without a price is taken: %+v, %v", l, err)
	}
	resume()
	if l, err := given.Limits(&kept); err != nil || l != kept {
		t.Errorf("limits %+v, %v", l, err)
	}
	if l, err := given.Limits(nil); err != nil || l.Steps != 100 || l.Plans != 5 {
		t.Errorf("limits of a journal that has none: %+v, %v", l, err)
	}
	help, _, _ := runAgent(t, nil, "resume", "--help")
	if strings.Contains(help, "(default 100)") || strings.Count(help, "(default: as before)") != 8 {
		t.Errorf("its help says %s", help)
	}
}

func TestWrongRuns(t *testing.T) {
	none := func(context.Context, AgentRun) (agent.Result, error) {
		return agent.Result{}, errors.New("it ran")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"there is no task":        {"run", "  "},
		"no such folder":          {"run", "--cwd", "/no/such/folder", "x"},
		"--cwd " + file:           {"run", "--cwd", file, "x"},
		"must not be negative":    {"run", "--max-steps", "-1", "x"},
		"--price-in":              {"run", "--max-cost", "1", "x"},
		"a command, or a URL":     {"run", "--mcp", " ", "x"},
		"--mcp 'a":                {"run", "--mcp", "'a", "x"},
		"is not the address":      {"run", "--mcp", "http://", "x"},
		"model.provider":          {"run", "--provider", "mine", "x"},
		"what is missing: RUN":    {"resume"},
		"--limit must be 1":       {"list", "--limit", "0"},
		"unknown flag: --no-gate": {"run", "--no-gate", "x"},
	} {
		if _, errs, code := runAgent(t, none, args...); code != exitError || !strings.Contains(errs, want) {
			t.Errorf("%v prints %q, which does not say %q", args, errs, want)
		}
	}
}

func TestRunsInATerminal(t *testing.T) {
	out, _, code := runAgent(t, nil, "list")
	if code != exitYes || strings.Contains(out, "\x1b") {
		t.Errorf("%d, %q", code, out)
	}
	for i, want := range []string{
		"run_3 awaiting confirmation 12 of 100 calls, 31k of 2000k tokens, 3 min of 1 h, 0.50 of 2.00 go⟨U+001B⟩[2J on",
		"run_2 interrupted 0 calls, 0 tokens, 0 s two", "run_1 done 0 calls, 0 tokens, 0 s one",
		"run_0 needs input 0 calls, 0 tokens, 0 s nought",
	} {
		fields := strings.Fields(strings.Split(out, "\n")[i])
		if got := strings.Join(append(fields[:1], fields[3:]...), " "); got != want {
			t.Errorf("line %d is %q", i, got)
		}
	}
	out, _, _ = runAgent(t, nil, "list", "--json")
	var list struct{ Runs []agent.RunView }
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list.Runs) != 4 || list.Runs[0].ID != "run_3" || !list.Runs[0].Alive {
		t.Errorf("%v, %+v", err, list)
	}
}

// What the model says is shown as it comes, letter by letter, and never twice.
func TestWhatTheModelSays(t *testing.T) {
	var out bytes.Buffer
	s := &shell{out: &out}
	p := &progress{shell: s, live: true}
	text := "héllo 世界\x1b[2J"
	for i := range len(text) + 1 {
		p.tell(text[:i])
	}
	p.update(agent.Update{Type: agent.StatusUpdate, Content: "between"})
	p.update(agent.Update{Type: agent.FinalResult, Content: text})
	p.tell(text[:1])
	p.update(agent.Update{Type: agent.StatusUpdate, Content: "between"})
	p.tell(text[:2])
	p.tell("an")
	p.tell("another")
	p.update(agent.Update{Type: agent.FinalResult, Content: "something else"})
	if want := "héllo 世界⟨U+001B⟩[2J\n· between\nh\n· between\nh\nanother\nsomething else\n"; out.String() != want {
		t.Errorf("it prints %q", out.String())
	}
}
