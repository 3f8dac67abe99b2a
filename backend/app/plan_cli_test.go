package app_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/human"
	"deskbell/backend/plan"
)

const (
	confirming = "DESKBELL_PLAN_CONFIRM_BY_HUMAN=true"
	buildPlan  = `{"session_id":"build","message":"Mend the build","tasks":[
		{"description":"Look","tool_name":"bash","args":{"command":"ls > list"}},
		{"description":"Tidy up","tool_name":"bash","args":{"command":"rm -rf build"},"expected_outcome":"No build/"},
		{"description":"Tell"}]}`
)

// planFixture is a fixture where plans are confirmed.
func planFixture(t testing.TB) *fixture {
	dir := t.TempDir()
	env := []string{"DESKBELL_KEY=" + key(t, dir, "bot")}
	s := serve(t, dir, []string{confirming})
	return &fixture{s, dir, env, operator(t, s.url, s.code)}
}

// as runs a command of `deskbell plan` with what is typed: the operator's, unless env says otherwise.
func (d *fixture) as(t testing.TB, env []string, typed string, args ...string) result {
	t.Helper()
	cmd := program(t, d.dir, env, append([]string{"plan"}, args...)...)
	cmd.Stdin = strings.NewReader(typed)
	return runWith(t, cmd)
}

func (d *fixture) operates(t testing.TB, typed string, args ...string) result {
	t.Helper()
	return d.as(t, []string{"EDITOR=" + os.Getenv("EDITOR"), "TMPDIR=" + os.TempDir()}, typed, append(args, "--code", d.invite(t))...)
}

// planning calls the tool confirm_plan.
func planning(t testing.TB, session *mcp.ClientSession, arguments map[string]any) (p struct {
	Status, Why, Next string
	ID                human.OperationID `json:"operation_id"`
	Session           string            `json:"session_id"`
	Go                bool
	Task              human.Task
	RunState          string `json:"run_state"`
	Orders            []struct{ Order, Text string }
	Tasks             []human.Task
}) {
	t.Helper()
	r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "confirm_plan", Arguments: arguments})
	if err != nil {
		t.Error(err)
		return p
	}
	text := r.Content[0].(*mcp.TextContent).Text
	if json.Unmarshal([]byte(text), &p) != nil || r.IsError {
		t.Error(text)
	}
	return p
}

// A whole plan, with a server, an agent's commands and an operator's, all in processes of their own; the server is killed
// in the middle.
func TestAPlanFromTerminalToTerminal(t *testing.T) {
	t.Parallel()
	d := planFixture(t)
	cmd := program(t, d.dir, d.env, "plan", "submit", "-", "--wait", "--json")
	cmd.Stdin = strings.NewReader(buildPlan)
	ended := make(chan result, 1)
	go func() { ended <- runWith(t, cmd) }()
	op := d.rung(t)
	if op.Kind != human.Plan || op.Risk != human.HighRisk {
		t.Errorf("%s risk, %s", op.Risk, op.Kind)
	}
	tasks := filepath.Join(t.TempDir(), "tasks.toml")
	if err := os.WriteFile(tasks, []byte("[[tasks]]\nid = \"t1\"\ndescription = \"Look\"\ntool_name = \"bash\"\nargs.command = \"ls > list\"\n[[tasks]]\nid = \"t3\"\ndescription = \"Tell everybody\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.operates(t, "q\n", "confirm").want(t, 3, "Look at task 2 (high).", "command: rm -rf build", "then: No build/", "the word confirm")
	d.operates(t, "", "confirm", "build", "--modify", tasks, "--message", "Leave build/").want(t, 0, "- 2. Tidy up", "Tell everybody", "modified by")
	r := (<-ended).want(t, 4)
	st := decode[plan.Status](t, r.out)
	if st.Status != human.PlanModified || len(st.Tasks) != 2 || st.Tasks[1].Description != "Tell everybody" || st.Response.Message != "Leave build/" {
		t.Errorf("%+v", st)
	}
	d.as(t, d.env, "", "begin", "build", "t1").want(t, 0, "command: ls > list")
	d.as(t, d.env, "", "begin", "build", "t2").want(t, 1)

	d.kill()
	again := serve(t, d.dir, []string{confirming})
	d.server, d.boss = again, operator(t, again.url, again.code)
	d.as(t, d.env, "", "show", "build").want(t, 4, "[>]  1. t1", "[ ]  2. t3", "Leave build/")
	d.as(t, d.env, "", "end", "build", "t1", "done", "3 files").want(t, 0, "[x]  1. t1", "3 files")
	d.operates(t, "", "pause", "build", "--text", "Lunch").want(t, 0, "paused")
	d.as(t, d.env, "", "begin", "build", "t3", "--for", "0").want(t, 2, "Lunch")
	d.operates(t, "", "resume", "build").want(t, 0)
	d.as(t, d.env, "", "begin", "build", "t3").want(t, 4, "Tell everybody")
	d.as(t, d.env, "", "end", "build", "t3", "failed", "Nobody there").want(t, 0, "The run is finished.")
	d.operates(t, "", "stats").want(t, 0, "1 plan in 30 days", "changed")
}

// The same with a client of MCP, whose server is killed while it waits.
func TestAPlanOverMCPOutlivesItsServer(t *testing.T) {
	t.Parallel()
	d := planFixture(t)
	session := speak(t, d.dir, nil, "--agent", "claude-code")
	var arguments map[string]any
	if err := json.Unmarshal([]byte(buildPlan), &arguments); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if p := planning(t, session, arguments); p.Status != "confirmed" || len(p.Tasks) != 3 || string(p.Tasks[0].Args) != `{"command":"ls > list"}` {
			t.Errorf("%+v", p)
		}
	}()
	op := d.rung(t)
	d.kill()
	again := serve(t, d.dir, []string{confirming})
	d.server, d.boss = again, operator(t, again.url, again.code)
	if d.rung(t).ID != op.ID {
		t.Error("it rings twice")
	}
	d.operates(t, "confirm\n\n", "confirm").want(t, 0, "confirmed by")
	<-done
	if p := planning(t, session, map[string]any{"action": "begin", "session_id": "build", "task_id": "t1"}); !p.Go || p.Task.ID != "t1" {
		t.Errorf("%+v", p)
	}
	d.operates(t, "", "pause", "build", "--text", "Wait for me").want(t, 0)
	if p := planning(t, session, map[string]any{"action": "end", "session_id": "build", "task_id": "t1"}); p.RunState != "paused" || len(p.Orders) != 1 || p.Orders[0].Text != "Wait for me" {
		t.Errorf("%+v", p)
	}
	begun := make(chan struct{})
	go func() {
		defer close(begun)
		if p := planning(t, session, map[string]any{"action": "begin", "session_id": "build", "task_id": "t2"}); !p.Go || p.Task.Description != "Tidy up" {
			t.Errorf("%+v", p)
		}
	}()
	d.operates(t, "", "resume", "build").want(t, 0)
	<-begun
	d.operates(t, "", "stop", "build").want(t, 0, "stopped")
	if p := planning(t, session, map[string]any{"action": "begin", "session_id": "build", "task_id": "t3"}); p.Go || p.Status != "stopped" {
		t.Errorf("%+v", p)
	}
}

// Confirming is off unless it is switched on: a plan asks no one, and nothing is kept.
func TestPlansNeedNobodyUnlessTheSettingsSaySo(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.as(t, d.env, buildPlan, "submit", "-", "--wait").want(t, 0, "plans need no confirmation here")
	d.as(t, d.env, "", "show", "build").want(t, 3, "no plan")
	session := speak(t, d.dir, nil)
	if p := planning(t, session, map[string]any{"message": "x", "tasks": []string{"y"}}); p.Status != "confirmed" || p.ID != "" {
		t.Errorf("%+v", p)
	}
	d.operates(t, "", "list", "--all").want(t, 0, "No plan")
}

// In an editor that is a program of its own, with a terminal's environment.
func TestAPlanIsChangedInTheUsersEditor(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the editor of this test is sed")
	}
	d := planFixture(t)
	d.as(t, d.env, buildPlan, "submit", "-").want(t, 2)
	t.Setenv("EDITOR", `sed -i -e 's/^args.command = "rm -rf build"/args.command = "ls build"/'`)
	d.operates(t, "m\ns\nBetter so\n", "confirm", "build").want(t, 0, `+   "command": "ls build"`, "modified by", "Better so")
	d.as(t, d.env, "", "begin", "build", "t2").want(t, 4, "command: ls build")
}
