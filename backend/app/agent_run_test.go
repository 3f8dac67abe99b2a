//go:build unix

package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/agent"
	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	"deskbell/backend/llm/llmtest"
	"deskbell/backend/plan"
	"deskbell/backend/transport/api"
)

// A workplace is a server, its operator, a scripted model and an agent's key.
type workplace struct {
	dir      string
	server   *server
	boss     *caller
	models   *llmtest.Server
	provider string
	modelURL string
	key      string
}

func newWorkplace(t *testing.T, provider string, env ...string) *workplace {
	t.Helper()
	d := &workplace{dir: t.TempDir(), provider: provider}
	d.models, d.modelURL = llmtest.Start(t)
	if provider == "openai" {
		d.modelURL += "/v1"
	}
	d.server = serve(t, d.dir, env)
	d.boss = operator(t, d.server.url, d.server.code)
	d.key = key(t, d.dir, "worker")
	return d
}

// script makes the model answer by a function of what is new for it: results, notes and words since its own last ones.
func (d *workplace) script(brain func(news string, q llmtest.Request) llmtest.Answer) {
	d.models.Script(llmtest.Step{Times: -1, Make: func(q llmtest.Request) llmtest.Answer {
		var news strings.Builder
		for i := len(q.Turns) - 1; i >= 0 && q.Turns[i].Role != agent.Assistant; i-- {
			for _, r := range q.Turns[i].Results {
				news.WriteString(r.Text + "\n")
			}
			news.WriteString(q.Turns[i].Text + "\n")
		}
		return brain(news.String(), q)
	}})
}

func calls(name string, args any) llmtest.Answer {
	text, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return llmtest.Answer{Calls: []llmtest.Call{{Name: name, Args: text}}}
}

type object = map[string]any

// A work is a running `deskbell agent run` or `resume`.
type work struct {
	cmd       *exec.Cmd
	out, errs bytes.Buffer
	ended     chan struct{}
}

func (d *workplace) agent(t *testing.T, cwd string, args ...string) *work {
	t.Helper()
	return d.agentWith(t, cwd, "", args...)
}

// agentWith starts it with something on standard input.
func (d *workplace) agentWith(t *testing.T, cwd, in string, args ...string) *work {
	t.Helper()
	w := &work{ended: make(chan struct{})}
	w.cmd = program(t, d.dir, []string{
		"DESKBELL_KEY=" + d.key, "DESKBELL_MODEL_PROVIDER=" + d.provider, "DESKBELL_MODEL_NAME=" + llmtest.Model, "DESKBELL_MODEL_BASE_URL=" + d.modelURL,
		"DESKBELL_MODEL_KEY=" + llmtest.Key,
	}, append([]string{"agent"}, args...)...)
	w.cmd.Dir, w.cmd.Stdin, w.cmd.Stdout, w.cmd.Stderr = cwd, strings.NewReader(in), &w.out, &w.errs
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(w.ended)
		_ = w.cmd.Wait()
	}()
	t.Cleanup(w.kill)
	return w
}

func (w *work) kill() {
	_ = w.cmd.Process.Kill()
	<-w.ended
}

// wait waits until it has ended.
func (w *work) wait(t *testing.T, code int) {
	t.Helper()
	select {
	case <-w.ended:
	case <-time.After(2 * time.Minute):
		t.Fatalf("the agent does not end\nout: %s\nerr: %s", &w.out, &w.errs)
	}
	if got := w.cmd.ProcessState.ExitCode(); got != code {
		t.Fatalf("exit code %d, want %d\nout: %s\nerr: %s", got, code, &w.out, &w.errs)
	}
}

func (w *work) says(t *testing.T, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(w.out.String()+w.errs.String(), part) {
			t.Errorf("it does not say %q\nout: %s\nerr: %s", part, &w.out, &w.errs)
		}
	}
}

// attend has an operator look at each operation that is open, each time it changed, until the test ends or done is called.
func (d *workplace) attend(t *testing.T, look func(op human.Operation)) (done func()) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var looking sync.WaitGroup
	looking.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		seen := map[string]bool{}
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			var page struct{ Operations []human.Operation }
			if status, err := d.boss.call("GET", "/api/human/operations?state=open", nil, &page); err != nil || status != 200 {
				continue
			}
			for _, op := range page.Operations {
				if is := fmt.Sprint(op.ID, op.Version); !seen[is] && ctx.Err() == nil {
					seen[is] = true
					if status, err := d.boss.call("GET", "/api/human/operations/"+string(op.ID), nil, &op); err == nil && status == 200 && !op.State.Terminal() {
						look(op)
					}
				}
			}
		}
	})
	done = sync.OnceFunc(func() { stop(); looking.Wait() })
	t.Cleanup(done)
	return done
}

// must is a call of the operator's that has to succeed.
func (d *workplace) must(t *testing.T, path string, body any) {
	t.Helper()
	if status, err := d.boss.call("POST", path, body, nil); err != nil || status/100 != 2 {
		t.Errorf("POST %s: %d, %v", path, status, err)
	}
}

func (d *workplace) answer(t *testing.T, op human.Operation, text string) {
	d.must(t, "/api/human/complete", object{"operation_id": op.ID, "human_input": text})
}

func (d *workplace) judge(t *testing.T, op human.Operation, choice human.ChoiceAction) {
	d.must(t, "/api/gate/questions/"+string(op.ID)+"/answer", object{"choice": choice, "digest": op.Digest})
}

func (d *workplace) respond(t *testing.T, op human.Operation, r plan.Response) {
	r.Digest = op.Digest
	d.must(t, "/api/plans/"+string(op.ID)+"/response", r)
}

// all are all operations that there ever were, of a kind.
func (d *workplace) all(t *testing.T, kind human.Kind) []human.Operation {
	t.Helper()
	var page struct{ Operations []human.Operation }
	d.boss.good(t, "GET", "/api/human/operations?action_type="+string(kind), nil, &page)
	out := make([]human.Operation, len(page.Operations))
	for i, op := range page.Operations {
		d.boss.good(t, "GET", "/api/human/operations/"+string(op.ID), nil, &out[i])
	}
	return out
}

// runID is the newest run's, as the console lists it.
func (d *workplace) runID(t *testing.T) string {
	t.Helper()
	var list api.RunList
	d.boss.good(t, "GET", "/api/agent/runs", nil, &list)
	if len(list.Runs) == 0 {
		t.Fatal("there is no run")
	}
	return list.Runs[0].ID
}

func commandOf(args json.RawMessage) string {
	var a struct{ Command string }
	_ = json.Unmarshal(args, &a)
	return a.Command
}

const confirmsPlans = "DESKBELL_PLAN_CONFIRM_BY_HUMAN=true"

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func lines(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}

// Issue 7, end to end: the agent finds a failing test and fixes what it tests. Its plan is edited by an operator, one call
// of it is approved and one denied, people are asked once and ask back, and the project's test passes afterwards.
func TestTheAgentMendsAProject(t *testing.T) {
	t.Parallel()
	for _, provider := range []string{"openai", "anthropic"} {
		t.Run(provider, func(t *testing.T) {
			d := newWorkplace(t, provider, confirmsPlans)
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "sum.sh"), "echo $(($1 - $2))\n")
			writeFile(t, filepath.Join(dir, "test.sh"), "echo run >>runs.log\nis=$(sh sum.sh 2 40)\n[ \"$is\" = 42 ] || { echo \"FAIL: the sum of 2 and 40 is $is\"; exit 1; }\necho PASS\n")
			writeFile(t, filepath.Join(dir, "notes.txt"), "keep\n")
			d.script(func(news string, q llmtest.Request) llmtest.Answer {
				switch {
				case len(q.Turns) == 1:
					return calls("propose_plan", object{"message": "Find the failing test and mend it", "tasks": []object{
						{"description": "Run the tests", "tool_name": "shell", "args": object{"command": "sh test.sh"}},
						{"description": "Publish it", "tool_name": "shell", "args": object{"command": "git push --force"}},
						{"description": "Mend sum.sh", "tool_name": "edit_file", "expected_outcome": "it adds"},
						{"description": "Clean up", "tool_name": "shell", "args": object{"command": "rm -rf notes.txt ../elsewhere"}},
						{"description": "Run the tests again", "tool_name": "shell", "args": object{"command": "sh test.sh"}},
					}})
				case strings.Contains(news, "asks you back"):
					return llmtest.Answer{Text: "The test wants 42 for 2 and 40."}
				case strings.Contains(news, "The person answered"):
					if !strings.Contains(news, "add them") {
						return llmtest.Answer{Text: "I was told something else: " + news}
					}
					return calls("edit_file", object{"path": "sum.sh", "old_text": "$1 - $2", "new_text": "$1 + $2"})
				case strings.Contains(news, "changed at line 1"):
					return calls("end_task", object{"outcome": "done", "note": "sum.sh adds now"})
				case strings.Contains(news, "is what the task was to show"):
					if !strings.Contains(news, "FAIL: the sum of 2 and 40 is -38") {
						return llmtest.Answer{Text: "I do not see the failure: " + news}
					}
					return calls("end_task", object{"outcome": "done", "note": "the sum of 2 and 40 is -38"})
				case strings.Contains(news, "Now do task"):
					return calls("ask_human", object{"question": "Should sum.sh add its two numbers?"})
				case strings.Contains(news, "The plan is given up"):
					return calls("propose_plan", object{"message": "Run the tests, and leave the rest", "tasks": []object{
						{"description": "Run the tests again", "tool_name": "shell", "args": object{"command": "sh test.sh"}},
					}})
				case strings.Contains(news, "No task of the plan is left"):
					return llmtest.Answer{Text: "The test passes now: sum.sh adds."}
				}
				return llmtest.Answer{Text: "I do not know what to do with: " + news}
			})
			var mu sync.Mutex
			asked := map[string]int{}
			d.attend(t, func(op human.Operation) {
				mu.Lock()
				defer mu.Unlock()
				switch op.Kind {
				case human.Plan:
					q, err := op.PlanQuestion()
					if err != nil {
						t.Error(err)
						return
					}
					if asked["plan"]++; asked["plan"] > 1 {
						d.respond(t, op, plan.Response{Action: human.ConfirmPlan})
						return
					}
					if q.Risk.Level() < human.HighRisk.Level() {
						t.Errorf("the plan's risk is %s", q.Risk)
					}
					tasks := slices.Delete(slices.Clone(q.Tasks), 1, 2) // it is not to be published
					d.respond(t, op, plan.Response{Action: human.ModifyPlan, Tasks: tasks, Message: "Do not publish it."})
				case human.Permission:
					var q human.Question
					if err := json.Unmarshal(op.Details, &q); err != nil {
						t.Error(err)
						return
					}
					command := commandOf(q.Args)
					asked[command]++
					choice := human.ChooseAllow
					if strings.Contains(command, "rm -rf") {
						choice = human.ChooseDeny
					}
					d.judge(t, op, choice)
				case human.Feedback:
					switch {
					case op.State == human.WaitingInput:
					case len(op.Messages) == 0:
						asked["question"]++
						d.must(t, "/api/human/reply", object{"operation_id": op.ID, "text": "What does the test want?"})
					case op.Messages[len(op.Messages)-1].By.Role == human.Agent:
						if text := op.Messages[len(op.Messages)-1].Text; !strings.Contains(text, "42") {
							t.Errorf("asked back, the agent says %q", text)
						}
						d.answer(t, op, "Yes, add them.")
					}
				}
			})
			w := d.agent(t, dir, "run", "The test fails. Find out why, and fix it.")
			w.wait(t, 0)
			w.says(t, "[high]", "removed: Publish it", "The operator says: Do not publish it.", "refused", "The test passes now")
			if out, err := exec.Command("sh", "-c", "cd "+dir+" && sh test.sh").CombinedOutput(); err != nil {
				t.Errorf("the project's test: %v, %s", err, out)
			}
			if got := lines(t, filepath.Join(dir, "runs.log")); len(got) != 3 { // twice by the agent, and once here
				t.Errorf("the tests ran %d times", len(got))
			}
			if got := lines(t, filepath.Join(dir, "notes.txt")); len(got) != 1 {
				t.Error("the file that was not to be deleted is gone")
			}
			mu.Lock()
			defer mu.Unlock()
			if asked["plan"] != 2 || asked["question"] != 1 || asked["rm -rf notes.txt ../elsewhere"] != 1 || asked["git push --force"] != 0 {
				t.Errorf("asked %v", asked)
			}
			if feedback := d.all(t, human.Feedback); len(feedback) != 1 || feedback[0].DeliveredAt == nil {
				t.Errorf("questions: %+v", feedback)
			}
			plans := d.all(t, human.Plan)
			if len(plans) != 2 || plans[0].Run == nil || plans[0].Run.State != human.RunFinished || plans[1].Run == nil || plans[1].Run.Tasks[2].State != human.TaskFailed || plans[1].Run.Tasks[3].State != human.TaskSkipped {
				t.Errorf("plans: %+v", plans)
			}
			// The log of the gatekeeper has the block and its session.
			var page service.LogPage
			d.boss.good(t, "GET", "/api/gate/decisions", nil, &page)
			refused := slices.IndexFunc(page.Decisions, func(x service.Decision) bool { return x.Outcome == service.Refused })
			if id := d.runID(t); refused < 0 || page.Decisions[refused].Session != id || page.Decisions[refused].Client != "deskbell-agent" {
				t.Errorf("the log: %+v", page.Decisions)
			}
			// The console can follow the run.
			var run agent.RunUpdates
			d.boss.good(t, "GET", "/api/agent/runs/"+d.runID(t), nil, &run)
			if run.Run.State != agent.Completed || run.Run.Alive || run.Run.Spent.Steps == 0 || len(run.Updates) < 10 || run.Updates[len(run.Updates)-1].Type != agent.FinalResult {
				t.Errorf("the run: %+v", run.Run)
			}
		})
	}
}

// Nothing is done twice and no one is asked twice, wherever the agent is killed.
func TestTheAgentIsKilledAndResumed(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"the plan waits", "a question of the gatekeeper waits", "a person is asked", "a call runs"} {
		t.Run(at, func(t *testing.T) {
			d := newWorkplace(t, "openai", confirmsPlans)
			dir := t.TempDir()
			effects := filepath.Join(dir, "effects")
			slow := "echo two >>effects; test -e after || { echo $$ >pid; sleep 600; }"
			d.script(func(news string, q llmtest.Request) llmtest.Answer {
				switch {
				case len(q.Turns) == 1:
					return calls("propose_plan", object{"message": "Three effects", "tasks": []object{
						{"description": "One", "tool_name": "shell", "args": object{"command": "echo one >>effects"}},
						{"description": "Ask", "tool_name": "ask_human", "args": object{"question": "Shall I go on?"}},
						{"description": "Gate", "tool_name": "shell", "args": object{"command": "rm -rf ../nothing-of-this-name"}},
						{"description": "Two", "tool_name": "shell", "args": object{"command": slow}},
						{"description": "Three", "tool_name": "shell", "args": object{"command": "echo three >>effects"}},
					}})
				case strings.Contains(news, "call may have run"):
					return calls("end_task", object{"outcome": "failed", "note": "it may have run"})
				case strings.Contains(news, "The plan is given up"):
					return calls("propose_plan", object{"message": "Look, and go on", "tasks": []object{
						{"description": "Look", "tool_name": "read_file", "args": object{"path": "effects"}},
						{"description": "Three", "tool_name": "shell", "args": object{"command": "echo three >>effects"}},
					}})
				case strings.Contains(news, "No task of the plan is left"):
					return llmtest.Answer{Text: "All is done."}
				}
				return llmtest.Answer{Text: "I do not know what to do with: " + news}
			})
			if at != "a call runs" {
				writeFile(t, filepath.Join(dir, "after"), "")
			}
			reached := make(chan struct{})
			reach := sync.OnceFunc(func() { close(reached) })
			goOn := make(chan struct{})
			here := func(is string) {
				if is == at {
					reach()
					<-goOn
				}
			}
			d.attend(t, func(op human.Operation) {
				switch op.Kind {
				case human.Plan:
					here("the plan waits")
					d.respond(t, op, plan.Response{Action: human.ConfirmPlan})
				case human.Permission:
					here("a question of the gatekeeper waits")
					d.judge(t, op, human.ChooseAllow)
				case human.Feedback:
					here("a person is asked")
					d.answer(t, op, "Yes.")
				}
			})
			w := d.agent(t, dir, "run", "Make three effects.")
			var child string
			if at == "a call runs" {
				child = await(t, filepath.Join(dir, "pid"))
			} else {
				select {
				case <-reached:
				case <-time.After(time.Minute):
					t.Fatalf("it does not come so far\nout: %s\nerr: %s", &w.out, &w.errs)
				}
			}
			id := d.runID(t)
			var during agent.RunUpdates
			d.boss.good(t, "GET", "/api/agent/runs/"+id, nil, &during)
			if !during.Run.Alive {
				t.Error("the console takes it for dead")
			}
			twice := d.agent(t, dir, "resume", id)
			twice.wait(t, 3)
			twice.says(t, "another process runs "+id)
			w.kill()
			if child != "" {
				_ = exec.Command("kill", "-9", "--", "-"+child).Run() // what the command had started
				writeFile(t, filepath.Join(dir, "after"), "")
			}
			close(goOn) // the operator answers while no one runs it, or afterwards
			w = d.agent(t, dir, "resume", id)
			w.wait(t, 0)
			if got := strings.Join(lines(t, effects), " "); got != "one two three" {
				t.Errorf("the effects are %q", got)
			}
			plans, questions, permissions := d.all(t, human.Plan), d.all(t, human.Feedback), d.all(t, human.Permission)
			if wantPlans := map[bool]int{true: 2, false: 1}[at == "a call runs"]; len(plans) != wantPlans || len(questions) != 1 || len(permissions) != 1 {
				t.Errorf("%d plans, %d questions, %d permissions\nout: %s", len(plans), len(questions), len(permissions), &w.out)
			}
			// What is over is not continued with.
			again := d.agent(t, dir, "resume", id)
			again.wait(t, 3)
			again.says(t, "has ended")
		})
	}
}

// await waits for a file with something in it.
func await(t *testing.T, path string) string {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(time.Minute)
	for {
		if text, err := os.ReadFile(path); err == nil && len(bytes.TrimSpace(text)) > 0 {
			return string(bytes.TrimSpace(text))
		}
		select {
		case <-limit:
			t.Fatalf("there is no %s", path)
		case <-tick.C:
		}
	}
}

// P8: where plans are not confirmed, a run makes no operation, and writes nothing of plans anywhere.
func TestARunWithoutConfirming(t *testing.T) {
	t.Parallel()
	d := newWorkplace(t, "openai")
	dir := t.TempDir()
	d.script(func(news string, q llmtest.Request) llmtest.Answer {
		for _, tool := range q.Tools {
			if tool.Name == "propose_plan" {
				t.Error("plans are on offer")
			}
		}
		if len(q.Turns) == 1 {
			return calls("shell", object{"command": "echo one >>effects"})
		}
		return llmtest.Answer{Text: "It is done."}
	})
	w := d.agent(t, dir, "run", "--json", "Make an effect.")
	w.wait(t, 0)
	if got := lines(t, filepath.Join(dir, "effects")); len(got) != 1 {
		t.Errorf("the effects are %q", got)
	}
	var page struct{ Operations []human.Operation }
	d.boss.good(t, "GET", "/api/human/operations", nil, &page)
	if len(page.Operations) != 0 {
		t.Errorf("it made operations: %+v", page.Operations)
	}
	id := d.runID(t)
	journal, err := os.ReadFile(filepath.Join(d.dir, "agents", id+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(journal)), "\n") {
		switch r := decode[agent.Record](t, line); r.Kind {
		case agent.ProposalRecord, agent.PlanRecord, agent.TaskRecord, agent.ChangeRecord:
			t.Errorf("the journal has %s", line)
		}
	}
	out := strings.Split(strings.TrimSpace(w.out.String()), "\n")
	for _, line := range out[:len(out)-1] {
		if u := decode[agent.Update](t, line); u.Type == "" || u.SessionID != id {
			t.Errorf("%s is no update", line)
		}
	}
	if r := decode[agent.Result](t, out[len(out)-1]); r.RunID != id || r.Status != agent.Done || r.Message != "It is done." {
		t.Errorf("the result %+v", r)
	}
	list := run(t, d.dir, nil, "agent", "list").want(t, 0, id, "done")
	if strings.Count(list.out, "\n") != 1 {
		t.Errorf("the list %q", list.out)
	}
}

// M1 to M6 in a terminal: it asks for what is missing, does what it may, and each call is judged.
func TestAConversationWithTheAgent(t *testing.T) {
	t.Parallel()
	d := newWorkplace(t, "anthropic")
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "one.txt"), "one")
	writeFile(t, filepath.Join(dir, "two.txt"), "two")
	d.script(func(news string, q llmtest.Request) llmtest.Answer {
		switch {
		case strings.Contains(news, "Show me a file"):
			return calls("ask_user", object{"question": "Which file?"})
		case strings.Contains(news, "the second"):
			return calls("shell", object{"command": "cat two.txt"})
		case strings.Contains(news, "Clean up"):
			return calls("shell", object{"command": "rm one.txt"})
		case strings.Contains(news, "Keep it."):
			return llmtest.Answer{Text: "The operator keeps it."}
		}
		return llmtest.Answer{Text: "It says " + strings.TrimSpace(news)}
	})
	d.attend(t, func(op human.Operation) {
		if op.Kind == human.Permission {
			d.must(t, "/api/gate/questions/"+string(op.ID)+"/answer", service.AnswerRequest{Choice: human.ChooseDeny, Reason: "Keep it.", Digest: op.Digest})
		}
	})
	chat := func(in string, args ...string) []agent.Response {
		t.Helper()
		w := d.agentWith(t, dir, in, append([]string{"chat", "--json"}, args...)...)
		w.wait(t, 0)
		var all []agent.Response
		for line := range strings.Lines(w.out.String()) {
			all = append(all, decode[agent.Response](t, line))
		}
		return all
	}

	all := chat("the second\n", "Show me a file")
	if len(all) != 2 || all[0].Status != agent.WaitingInput || all[0].Prompt != "Which file?" || all[1].Status != agent.Done ||
		all[1].SessionID != all[0].SessionID || !strings.Contains(all[1].Message, "two") || len(all[1].Data.History) <= len(all[0].Data.History) {
		t.Errorf("%+v", all)
	}
	all = chat("Clean up\nHello\n")
	if len(all) != 2 || all[0].Message != "The operator keeps it." || all[1].Status != agent.Done || all[1].SessionID != all[0].SessionID || len(all[1].Data.History) != len(all[0].Data.History)+2 {
		t.Errorf("%+v", all)
	}
	if _, err := os.Stat(filepath.Join(dir, "one.txt")); err != nil {
		t.Error("what was denied has run: ", err)
	}
	d.agentWith(t, dir, "", "chat", "Show me a file").wait(t, 2) // no one answers it
	for message, shows := range map[string]string{"Clean up": "< denied shell {\"command\":\"rm one.txt\"}", "the second": "< done shell {\"command\":\"cat two.txt\"}"} {
		w := d.agentWith(t, dir, "", "chat", message)
		w.wait(t, 0)
		w.says(t, shows)
	}
}

// Ctrl-C ends it in order: what waits is withdrawn, what runs is ended and noted, and the run can be resumed.
func TestTheAgentIsInterrupted(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"the plan waits", "a question of the gatekeeper waits", "a person is asked", "a call runs"} {
		t.Run(at, func(t *testing.T) {
			d := newWorkplace(t, "anthropic", confirmsPlans)
			dir := t.TempDir()
			var task object
			switch at {
			case "a person is asked":
				task = object{"description": "Ask", "tool_name": "ask_human", "args": object{"question": "Shall I?"}}
			case "a question of the gatekeeper waits":
				task = object{"description": "Gate", "tool_name": "shell", "args": object{"command": "rm -rf ../nothing-of-this-name"}}
			default:
				task = object{"description": "Wait", "tool_name": "shell", "args": object{"command": "test -e after || { echo $$ >pid; sleep 600; }"}}
			}
			d.script(func(news string, q llmtest.Request) llmtest.Answer {
				switch {
				case len(q.Turns) == 1:
					return calls("propose_plan", object{"message": "One task", "tasks": []object{task}})
				case strings.Contains(news, "If that is what the task was to show"):
					return calls("shell", task["args"]) // once more, the same
				case strings.Contains(news, "No task of the plan is left"):
					return llmtest.Answer{Text: "It is done."}
				case strings.Contains(news, "status=\"done\""):
					return calls("end_task", object{"outcome": "done", "note": "done"})
				}
				return llmtest.Answer{Text: "I do not know what to do with: " + news}
			})
			reached := make(chan human.Operation, 1)
			var mu sync.Mutex
			stopped := false
			d.attend(t, func(op human.Operation) {
				mu.Lock()
				defer mu.Unlock()
				is := map[human.Kind]string{human.Plan: "the plan waits", human.Permission: "a question of the gatekeeper waits", human.Feedback: "a person is asked"}[op.Kind]
				if is == at && !stopped {
					stopped = true
					reached <- op
					return
				}
				switch op.Kind {
				case human.Plan:
					d.respond(t, op, plan.Response{Action: human.ConfirmPlan})
				case human.Permission:
					d.judge(t, op, human.ChooseAllow)
				case human.Feedback:
					d.answer(t, op, "Yes.")
				}
			})
			w := d.agent(t, dir, "run", "Do one thing.")
			var waiting human.Operation
			child := ""
			if at == "a call runs" {
				child = await(t, filepath.Join(dir, "pid"))
			} else {
				select {
				case waiting = <-reached:
				case <-time.After(time.Minute):
					t.Fatalf("it does not come so far\nout: %s\nerr: %s", &w.out, &w.errs)
				}
			}
			if err := w.cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			w.wait(t, 5)
			id := d.runID(t)
			w.says(t, "deskbell agent resume "+id)
			if waiting.ID != "" {
				var op human.Operation
				d.boss.good(t, "GET", "/api/human/operations/"+string(waiting.ID), nil, &op)
				if op.State != human.Cancelled {
					t.Errorf("what waited is %s", op.State)
				}
			}
			if at != "the plan waits" {
				if plans := d.all(t, human.Plan); len(plans) != 1 || plans[0].Run.Tasks[0].State != human.TaskRunning || !strings.Contains(plans[0].Run.Tasks[0].Note, "resume "+id) {
					t.Errorf("the plan: %+v", plans)
				}
			}
			if child != "" {
				if err := exec.Command("kill", "-0", child).Run(); err == nil {
					t.Errorf("process %s is still there", child)
				}
			}
			writeFile(t, filepath.Join(dir, "after"), "")
			w = d.agent(t, dir, "resume", id)
			w.wait(t, 0)
			w.says(t, "It is done.")
			if plans := d.all(t, human.Plan); !slices.ContainsFunc(plans, func(op human.Operation) bool {
				return op.Run != nil && op.Run.Tasks[0].State == human.TaskDone && !strings.Contains(op.Run.Tasks[0].Note, "resume")
			}) {
				t.Errorf("the plan, when it is done: %+v", plans)
			}
		})
	}
}

// effectsOf is a plan of a shell command for each word, which writes it down.
func effectsOf(words ...string) llmtest.Answer {
	tasks := make([]object, len(words))
	for i, w := range words {
		tasks[i] = object{"description": "Write " + w, "tool_name": "shell", "args": object{"command": "echo " + w + " >>effects"}}
	}
	return calls("propose_plan", object{"message": "Some effects", "tasks": tasks})
}

// ready is a model that proposes a plan, and is content with what comes of it.
func ready(first llmtest.Answer) func(string, llmtest.Request) llmtest.Answer {
	return func(news string, q llmtest.Request) llmtest.Answer {
		switch {
		case len(q.Turns) == 1:
			return first
		case strings.Contains(news, "asks you back"):
			return llmtest.Answer{Text: "Because it was asked for."}
		}
		return llmtest.Answer{Text: "That is all."}
	}
}

// P9: each task is confirmed by itself: one after asking back, one changed, one denied, one as it is.
func TestTheAgentTaskByTask(t *testing.T) {
	t.Parallel()
	d := newWorkplace(t, "openai", confirmsPlans)
	dir := t.TempDir()
	d.script(ready(effectsOf("one", "two", "three", "four")))
	d.attend(t, func(op human.Operation) {
		q, err := op.PlanQuestion()
		if err != nil {
			t.Errorf("%+v: %v", op, err)
			return
		}
		if q.Of == "" {
			d.respond(t, op, plan.Response{Action: human.ConfirmPlan, TaskByTask: true})
			return
		}
		task := q.Tasks[0]
		switch {
		case op.State == human.WaitingInput:
		case task.Description == "Write one" && len(op.Messages) == 0:
			d.must(t, "/api/human/reply", object{"operation_id": op.ID, "text": "Why?"})
		case task.Description == "Write one" && !strings.Contains(op.Messages[len(op.Messages)-1].Text, "asked for"):
			t.Errorf("it answers %+v", op.Messages)
		case task.Description == "Write two":
			task.Args = json.RawMessage(`{"command":"echo 2 >>effects"}`)
			d.respond(t, op, plan.Response{Action: human.ModifyPlan, Tasks: []human.Task{task}})
		case task.Description == "Write three":
			d.respond(t, op, plan.Response{Action: human.CancelPlan, Message: "Not that one."})
		default:
			d.respond(t, op, plan.Response{Action: human.ConfirmPlan})
		}
	})
	w := d.agent(t, dir, "run", "Write.")
	w.wait(t, 0)
	if got := strings.Join(lines(t, filepath.Join(dir, "effects")), " "); got != "one 2 four" {
		t.Errorf("the effects are %q\nout: %s", got, &w.out)
	}
	w.says(t, "skipped", "Not that one.")
}

// P9: an operator pauses a plan that runs, changes and skips what has not begun, and lets it continue; or stops it.
func TestOrdersReachTheAgent(t *testing.T) {
	t.Parallel()
	for _, stop := range []bool{false, true} {
		t.Run(fmt.Sprintf("stop is %v", stop), func(t *testing.T) {
			d := newWorkplace(t, "anthropic", confirmsPlans)
			dir := t.TempDir()
			hold := func(n string) object {
				return object{"description": n, "tool_name": "shell", "args": object{"command": "echo " + n + " >>effects; echo x >began; while ! test -e go; do sleep 0.02; done"}}
			}
			d.script(ready(calls("propose_plan", object{"message": "Some effects", "tasks": []object{hold("one"), hold("two"), hold("three")}})))
			d.attend(t, func(op human.Operation) { d.respond(t, op, plan.Response{Action: human.ConfirmPlan}) })
			w := d.agent(t, dir, "run", "Write.")
			await(t, filepath.Join(dir, "began"))
			id := d.runID(t)
			order := func(o human.Order) { d.must(t, "/api/plans/"+id+"/orders", o) }
			if stop {
				order(human.Order{Kind: human.Stop, Text: "Enough."})
				writeFile(t, filepath.Join(dir, "go"), "")
				w.wait(t, 4)
				w.says(t, "An operator stopped the plan", "Enough.")
				if got := strings.Join(lines(t, filepath.Join(dir, "effects")), " "); got != "one" {
					t.Errorf("the effects are %q", got)
				}
				return
			}
			order(human.Order{Kind: human.Pause})
			writeFile(t, filepath.Join(dir, "go"), "")
			var st plan.Status
			for deadline := time.Now().Add(time.Minute); st.Run == nil || st.Run.Tasks[0].State != human.TaskDone; {
				d.boss.good(t, "GET", "/api/plans/"+id+"?wait=1&after_version="+fmt.Sprint(st.Version), nil, &st)
				if time.Now().After(deadline) {
					t.Fatalf("the first task does not end: %+v", st.Run)
				}
			}
			changed := []human.Task{st.Run.Tasks[1].Task, st.Run.Tasks[2].Task}
			changed[1].Args = json.RawMessage(`{"command":"echo 3 >>effects"}`)
			order(human.Order{Kind: human.Change, Tasks: changed})
			order(human.Order{Kind: human.Skip, Task: changed[0].ID})
			if got := strings.Join(lines(t, filepath.Join(dir, "effects")), " "); got != "one" {
				t.Errorf("while it is paused, the effects are %q", got)
			}
			order(human.Order{Kind: human.Resume})
			w.wait(t, 0)
			if got := strings.Join(lines(t, filepath.Join(dir, "effects")), " "); got != "one 3" {
				t.Errorf("the effects are %q\nout: %s", got, &w.out)
			}
		})
	}
}

// A plan that an operator cancels ends the run, and nothing of it ran.
func TestACancelledPlan(t *testing.T) {
	t.Parallel()
	d := newWorkplace(t, "openai", confirmsPlans)
	dir := t.TempDir()
	d.script(ready(effectsOf("one")))
	d.attend(t, func(op human.Operation) { d.respond(t, op, plan.Response{Action: human.CancelPlan, Message: "No."}) })
	w := d.agent(t, dir, "run", "Write.")
	w.wait(t, 4)
	w.says(t, "An operator canceled the plan", "No.")
	if _, err := os.Stat(filepath.Join(dir, "effects")); err == nil {
		t.Error("it ran")
	}
}

// The server is killed while the agent waits, and another one on the same folder takes its place, at another address.
func TestTheServerOfAnAgentIsKilled(t *testing.T) {
	t.Parallel()
	d := newWorkplace(t, "openai", confirmsPlans)
	dir := t.TempDir()
	d.script(ready(effectsOf("one", "two")))
	reached := make(chan struct{})
	reach := sync.OnceFunc(func() { close(reached) })
	done := d.attend(t, func(human.Operation) { reach() })
	w := d.agent(t, dir, "run", "Write.")
	select {
	case <-reached:
	case <-time.After(time.Minute):
		t.Fatalf("it does not come so far\nout: %s\nerr: %s", &w.out, &w.errs)
	}
	done()
	d.server.kill()
	d.server = serve(t, d.dir, []string{confirmsPlans})
	d.boss = operator(t, d.server.url, d.server.code)
	d.attend(t, func(op human.Operation) { d.respond(t, op, plan.Response{Action: human.ConfirmPlan}) })
	w.wait(t, 0)
	if got := strings.Join(lines(t, filepath.Join(dir, "effects")), " "); got != "one two" {
		t.Errorf("the effects are %q", got)
	}
	if plans := d.all(t, human.Plan); len(plans) != 1 {
		t.Errorf("%d plans", len(plans))
	}
}

// The tools of an MCP server are judged by what it says of them, and one that may destroy something is asked about.
func TestTheAgentsMCPServers(t *testing.T) {
	t.Parallel()
	d := newWorkplace(t, "anthropic")
	var mu sync.Mutex
	dropped := []string{}
	server := mcp.NewServer(&mcp.Implementation{Name: "shelf", Version: "1"}, nil)
	type book struct {
		Name string `json:"name"`
	}
	mcp.AddTool(server, &mcp.Tool{Name: "drop_book", Annotations: &mcp.ToolAnnotations{}}, func(_ context.Context, _ *mcp.CallToolRequest, in book) (*mcp.CallToolResult, any, error) {
		mu.Lock()
		defer mu.Unlock()
		dropped = append(dropped, in.Name)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Name + " is gone"}}}, nil, nil
	})
	h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	defer h.Close()
	d.script(func(news string, q llmtest.Request) llmtest.Answer {
		switch {
		case len(q.Turns) == 1:
			return calls("mcp__127-0-0-1__drop_book", object{"name": "a"})
		case strings.Contains(news, "a is gone"):
			return calls("mcp__127-0-0-1__drop_book", object{"name": "b"})
		case strings.Contains(news, "was blocked"):
			return calls("finish", object{"outcome": "failed", "note": "Only one is gone."})
		}
		return llmtest.Answer{Text: "I do not know what to do with: " + news}
	})
	d.attend(t, func(op human.Operation) {
		var q human.Question
		if err := json.Unmarshal(op.Details, &q); err != nil || q.Tool != "mcp__127-0-0-1__drop_book" || len(q.Schema) == 0 {
			t.Errorf("asked about %+v: %v", q, err)
		}
		choice := human.ChooseAllow
		if strings.Contains(string(q.Args), `"b"`) {
			choice = human.ChooseDeny
		}
		d.judge(t, op, choice)
	})
	w := d.agent(t, t.TempDir(), "run", "--mcp", h.URL, "Drop two books.")
	w.wait(t, 1)
	w.says(t, "Only one is gone.")
	mu.Lock()
	defer mu.Unlock()
	if len(dropped) != 1 || dropped[0] != "a" {
		t.Errorf("dropped %q", dropped)
	}
}

// Without what it needs it begins nothing, and says what to do.
func TestAnAgentThatCannotBegin(t *testing.T) {
	t.Parallel()
	d := newWorkplace(t, "openai")
	dir := t.TempDir()
	for want, cmd := range map[string]*exec.Cmd{
		"there is no model":         program(t, d.dir, []string{"DESKBELL_KEY=" + d.key}, "agent", "run", "x"),
		"no Deskbell runs":          program(t, t.TempDir(), []string{"DESKBELL_KEY=" + d.key}, "agent", "run", "x"),
		"no Deskbell answers":       program(t, d.dir, []string{"DESKBELL_KEY=" + d.key, "DESKBELL_URL=http://127.0.0.1:1"}, "agent", "run", "--provider", "openai", "--model", "m", "x"),
		"there is no agent":         program(t, d.dir, nil, "agent", "run", "--agent", "bus", "x"),
		"the MCP server none could": program(t, d.dir, []string{"DESKBELL_KEY=" + d.key}, "agent", "run", "--provider", "openai", "--model", "m", "--mcp", "/no/such/none", "x"),
		"there is no run run_1 on":  program(t, d.dir, []string{"DESKBELL_KEY=" + d.key}, "agent", "resume", "--provider", "openai", "--model", "m", "run_1"),
		"key":                       program(t, d.dir, []string{"DESKBELL_KEY=dbk_wrong"}, "agent", "run", "--provider", "openai", "--model", "m", "x"),
	} {
		cmd.Dir = dir
		runWith(t, cmd).want(t, 3, want)
	}
	if list := run(t, d.dir, nil, "agent", "list").want(t, 0); list.out != "" {
		t.Errorf("it began %q", list.out)
	}
}

// Secrets that a tool returns reach the model, and neither the journal nor the terminal nor the console.
func TestSecretsOfARun(t *testing.T) {
	t.Parallel()
	d := newWorkplace(t, "openai")
	dir := t.TempDir()
	secret := strings.Join([]string{"gh", "p_", "x7Kd92mQpLr4TzVb8NwYc3HsJf6GaE1uRo5D"}, "")
	writeFile(t, filepath.Join(dir, "settings.txt"), "token = "+secret+"\n")
	saw := false
	d.script(func(news string, q llmtest.Request) llmtest.Answer {
		switch {
		case len(q.Turns) == 1:
			return calls("read_file", object{"path": "settings.txt"})
		case strings.Contains(news, "token = "):
			saw = strings.Contains(news, secret)
			return calls("shell", object{"command": "echo " + secret + " >/dev/null"})
		}
		return llmtest.Answer{Text: "The token is " + secret + "."}
	})
	d.attend(t, func(op human.Operation) { d.judge(t, op, human.ChooseAllow) })
	w := d.agent(t, dir, "run", "What is the token?")
	w.wait(t, 0)
	if !saw {
		t.Error("the model was not given it")
	}
	id := d.runID(t)
	journal, err := os.ReadFile(filepath.Join(d.dir, "agents", id+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var run json.RawMessage
	d.boss.good(t, "GET", "/api/agent/runs/"+id, nil, &run)
	for where, text := range map[string]string{"the journal": string(journal), "the terminal": w.out.String() + w.errs.String(), "the console": string(run)} {
		if strings.Contains(text, secret) || !strings.Contains(text, "The token is") {
			t.Errorf("%s has %s", where, text)
		}
	}
}

// Confirming is switched off while a run goes: its next plan needs no one, and makes no operation.
func TestConfirmingIsSwitchedOffMeanwhile(t *testing.T) {
	t.Parallel()
	d := newWorkplace(t, "anthropic")
	d.boss.good(t, "PUT", "/api/settings", object{"plan.confirm_by_human": true}, nil)
	dir := t.TempDir()
	d.script(func(news string, q llmtest.Request) llmtest.Answer {
		if len(q.Turns) == 1 {
			return effectsOf("one")
		}
		if len(lines(t, filepath.Join(dir, "effects"))) == 1 {
			return effectsOf("two", "three")
		}
		return llmtest.Answer{Text: "That is all."}
	})
	d.attend(t, func(op human.Operation) {
		if status, err := d.boss.call("PUT", "/api/settings", object{"plan.confirm_by_human": false}, nil); err != nil || status != 200 {
			t.Errorf("settings: %d, %v", status, err)
		}
		d.respond(t, op, plan.Response{Action: human.ConfirmPlan})
	})
	w := d.agent(t, dir, "run", "Write.")
	w.wait(t, 0)
	w.says(t, "A plan, not to be confirmed here; tasks: 2")
	if got := strings.Join(lines(t, filepath.Join(dir, "effects")), " "); got != "one two three" {
		t.Errorf("the effects are %q", got)
	}
	if plans := d.all(t, human.Plan); len(plans) != 1 {
		t.Errorf("%d plans", len(plans))
	}
}
