package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"deskbell/backend/agent"
	"deskbell/backend/human"
)

func TestPlainTalk(t *testing.T) {
	s := newScene(t, says("你好，我是 Deskbell。"))
	res := s.run()
	equal(t, "status", res.Status, agent.Done)
	equal(t, "message", res.Message, "你好，我是 Deskbell。")
	equalList(t, "updates", s.types(), []string{"conversational_response"})
	equalList(t, "states", s.states(), []string{"reasoning", "completed"})
	equal(t, "plans", len(s.office.plans), 0)
}

// A run ends as what it came to, however nicely the model puts it: done only where nothing of its last plan failed and the
// model does not say otherwise, and never by a question.
func TestHowARunEnds(t *testing.T) {
	failing := func(s *scene) {
		s.tool(gadget{name: "read", category: agent.Files, returns: func(json.RawMessage) (agent.Output, error) { return agent.Output{Text: "exit 1", Failed: true}, nil }})
	}
	for name, tt := range map[string]struct {
		replies []agent.Reply
		change  func(*scene)
		ending  agent.Ending
		message string
	}{
		"it says so":                {[]agent.Reply{calls("read", `{"path":"a"}`), calls("finish", `{"outcome":"done","note":"Read."}`)}, nil, agent.EndDone, "Read."},
		"in words":                  {[]agent.Reply{calls("read", `{"path":"a"}`), says("Read.")}, nil, agent.EndDone, "Read."},
		"failed, it says so":        {[]agent.Reply{calls("finish", `{"outcome":"failed","note":"There is no file."}`)}, nil, agent.EndFailed, "There is no file."},
		"a failed task, nicely":     {[]agent.Reply{plan(readIt), calls("end_task", `{"outcome":"failed","note":"no"}`), says("Everything is prepared nicely."), says("Everything is prepared nicely.")}, failing, agent.EndFailed, "Everything is prepared nicely."},
		"a failed task, as done":    {[]agent.Reply{plan(readIt), calls("end_task", `{"outcome":"failed","note":"no"}`), calls("finish", `{"outcome":"done","note":"Fine."}`)}, failing, agent.EndFailed, "Fine."},
		"a failed call, nicely":     {[]agent.Reply{calls("read", `{"path":"a"}`), says("I have looked into it for you."), says("I have looked into it for you.")}, failing, agent.EndFailed, "I have looked into it for you."},
		"a failed call, done":       {[]agent.Reply{calls("read", `{"path":"a"}`), says("There is nothing to do."), calls("finish", `{"outcome":"done","note":"There is nothing to do."}`)}, failing, agent.EndDone, "There is nothing to do."},
		"a question alone":          {[]agent.Reply{says("Which file?"), says("Which file?")}, nil, agent.EndNeedsInput, "Which file?"},
		"a question by its tool":    {[]agent.Reply{says("Which file?"), calls("ask_human", `{"question":"Which file?"}`)}, nil, agent.EndNeedsInput, "Which file?"},
		"no question after all":     {[]agent.Reply{says("Anything you like?"), calls("finish", `{"outcome":"done","note":"Hello."}`)}, nil, agent.EndDone, "Hello."},
		"it says that it could not": {[]agent.Reply{says("I could not find it."), says("I could not find it.")}, nil, agent.EndFailed, "I could not find it."},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, tt.replies...)
			if !strings.HasPrefix(name, "a failed task") {
				s.office = nil
			}
			if tt.change != nil {
				tt.change(s)
			}
			res := s.run()
			equal(t, "ending", res.Ending, tt.ending)
			equal(t, "message", res.Message, tt.message)
			equal(t, "over", res.Over, tt.ending == agent.EndDone)
			equal(t, "model calls", len(s.model.prompts), len(tt.replies))
		})
	}
}

// A run that failed can be tried again.
func TestTryingAgain(t *testing.T) {
	s := newScene(t, calls("finish", `{"outcome":"failed","note":"The disk is full."}`), calls("read", `{"path":"a"}`), calls("finish", `{"outcome":"done","note":"Read."}`))
	if res := s.run(); res.Ending != agent.EndFailed || res.Over {
		t.Fatalf("%+v", res)
	}
	res, err := s.engine().Resume(t.Context(), slices.Clone(s.diary.records))
	if err != nil || res.Ending != agent.EndDone || len(s.ran) != 1 {
		t.Errorf("%+v, %v; ran %q", res, err, s.ran)
	}
}

func TestAPlanIsConfirmedAndCarriedOut(t *testing.T) {
	s := newScene(t, plan(readIt+","+fixIt), calls("write", `{"path":"c"}`), calls("end_task", `{"outcome":"done","note":"fixed"}`), says("It works."))
	res := s.run()
	equal(t, "status", res.Status, agent.Done)
	equalList(t, "ran", s.ran, []string{`read {"path":"a"}`, `write {"path":"c"}`})
	equalList(t, "the plan's run", s.office.log, []string{"begin r", "done r", "begin f", "done f"})
	equalList(t, "updates", s.types(), []string{
		"confirmation_request", "task_plan", "task_init r", "sub_task_result r done", "task_init f", "sub_task_result f done", "final_result",
	})
	equalList(t, "states", s.states(), []string{"reasoning", "planning", "awaiting_confirmation", "executing", "evaluating", "executing", "evaluating", "completed"})
	equal(t, "steps", res.Spent.Steps, 2)
	equal(t, "model calls", len(s.model.prompts), 4)
	if text := s.model.prompts[1].Turns[2].Results[0].Text; !strings.Contains(text, "The plan is confirmed") || !strings.Contains(text, "<tool_output tool=\"read\"") || !strings.Contains(text, "Now do task f: Fix it") {
		t.Errorf("the model was told %s", text)
	}
	equal(t, "note", res.Tasks[1].Note, "fixed")
	for _, u := range s.updates {
		if u.Type == agent.ConfirmationRequest && (u.Plan == nil || u.Plan.Status != human.PlanPending || len(u.Plan.Tasks) != 2) {
			t.Errorf("the request has %+v", u.Plan)
		}
	}
}

func TestWhatTheOperatorChangedIsWhatRuns(t *testing.T) {
	s := newScene(t, plan(readIt+","+writeIt), says("done"))
	s.office.decide = func(p agent.Proposal, _ func(string) string) (agent.Confirmation, error) {
		changed := p.Tasks[1]
		changed.Args = json.RawMessage(`{"path":"elsewhere"}`)
		first := human.Task{ID: "new", Description: "Make a copy", Tool: "shell", Args: json.RawMessage(`{"command":"cp a a.bak"}`)}
		return agent.Confirmation{Status: human.PlanModified, Tasks: []human.Task{first, changed}, Message: "copy first"}, nil
	}
	s.run()
	equalList(t, "ran", s.ran, []string{`shell {"command":"cp a a.bak"}`, `write {"path":"elsewhere"}`})
	if text := s.model.last().Results[0].Text; !strings.Contains(text, "with changes of an operator's") || !strings.Contains(text, "copy first") || !strings.Contains(text, "elsewhere") {
		t.Errorf("the model was told %s", text)
	}
}

func TestAPlanThatIsNotConfirmed(t *testing.T) {
	for name, tt := range map[string]struct {
		decide  agent.Confirmation
		err     error
		updates []string
		says    string
		over    bool
	}{
		"cancelled": {agent.Confirmation{Status: human.PlanCancelled, Message: "not today"}, nil, []string{"confirmation_request", "error"}, "The operator says: not today", true},
		"timed out": {agent.Confirmation{Status: human.PlanTimeout}, nil, []string{"confirmation_request", "confirmation_timeout", "error"}, "No operator confirmed the plan in time", true},
		"an error":  {agent.Confirmation{}, human.Errorf(human.Unavailable, "the server is gone"), []string{"confirmation_request", "confirmation_error", "error"}, "The server is gone", false},
		"pending":   {agent.Confirmation{Status: human.PlanPending}, nil, []string{"confirmation_request", "confirmation_error", "error"}, "no confirmed plan", false},
		"pending with tasks": {agent.Confirmation{Status: human.PlanPending, Tasks: []human.Task{{ID: "r", Tool: "read", Args: json.RawMessage(`{}`)}}}, nil,
			[]string{"confirmation_request", "confirmation_error", "error"}, "no confirmed plan", false},
		"confirmed, and nothing may run": {agent.Confirmation{Status: human.PlanConfirmed}, nil, []string{"confirmation_request", "confirmation_error", "error"}, "no confirmed plan", false},
		"two tasks of one id": {agent.Confirmation{Status: human.PlanConfirmed, Tasks: []human.Task{{ID: "r", Tool: "read"}, {ID: "r", Tool: "shell"}}}, nil,
			[]string{"confirmation_request", "confirmation_error", "error"}, "no confirmed plan", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, plan(readIt))
			s.office.decide = func(agent.Proposal, func(string) string) (agent.Confirmation, error) { return tt.decide, tt.err }
			res := s.run()
			equal(t, "status", res.Status, agent.NotDone)
			equal(t, "over", res.Over, tt.over)
			equalList(t, "updates", s.types(), tt.updates)
			equal(t, "calls", len(s.ran), 0)
			if last := s.updates[len(s.updates)-1]; last.State != agent.Failed || !strings.Contains(last.Content, tt.says) || !strings.Contains(res.Message, tt.says) {
				t.Errorf("it ends with %+v", last)
			}
			if _, err := s.engine().Resume(t.Context(), s.diary.records); (human.KindOf(err) == human.Conflict) != tt.over {
				t.Errorf("resumed: %v", err)
			}
		})
	}
}

func TestWordsAloneMakeANewPlan(t *testing.T) {
	s := newScene(t, plan(writeIt), plan(readIt), says("read"))
	s.office.decide = func(p agent.Proposal, _ func(string) string) (agent.Confirmation, error) {
		if len(s.office.plans) == 1 {
			return agent.Confirmation{Status: human.PlanModified, Message: "only read"}, nil
		}
		return agent.Confirmation{Status: human.PlanConfirmed, Tasks: p.Tasks}, nil
	}
	s.run()
	equalList(t, "ran", s.ran, []string{`read {"path":"a"}`})
	equal(t, "why", s.office.plans[1].Why, "only read")
	equalList(t, "states", s.states(), []string{"reasoning", "planning", "awaiting_confirmation", "replanning", "planning", "awaiting_confirmation", "executing", "evaluating", "completed"})
	if text := s.model.prompts[1].Turns[2].Results[0]; !text.Failed || !strings.Contains(text.Text, "only read") {
		t.Errorf("the model was told %+v", text)
	}
}

func TestCallsWithoutAPlanAreOne(t *testing.T) {
	s := newScene(t, calls("read", `{"path":"a"}`, "nonsense", `{}`, "shell", `{"command":"ls"}`), says("done"))
	s.run()
	equalList(t, "ran", s.ran, []string{`read {"path":"a"}`, `shell {"command":"ls"}`})
	equal(t, "tasks", len(s.office.plans[0].Tasks), 2)
	results := s.model.last().Results
	if len(results) != 3 || results[0].Failed || !results[1].Failed || results[2].Failed || !strings.HasPrefix(results[0].Text, "<tool_output") {
		t.Errorf("the model was told %+v", results)
	}
}

func TestOneFailedCallOfManyStopsNoOther(t *testing.T) {
	s := newScene(t, calls("shell", `{"command":"false"}`, "read", `{}`), says("done"))
	s.tool(gadget{name: "shell", category: agent.Shell, returns: func(json.RawMessage) (agent.Output, error) { return agent.Output{Text: "no", Failed: true}, nil }})
	s.run()
	equal(t, "calls", len(s.ran), 2)
	equalList(t, "the plan's run", s.office.log, []string{"begin t1", "failed t1", "begin t2", "done t2"})
}

func TestCallsThatAnOperatorChangedIntoAnotherPlan(t *testing.T) {
	s := newScene(t, calls("read", `{"path":"a"}`, "write", `{"path":"b"}`), says("done"))
	s.office.decide = func(p agent.Proposal, _ func(string) string) (agent.Confirmation, error) {
		return agent.Confirmation{Status: human.PlanModified, Tasks: p.Tasks[:1]}, nil
	}
	s.run()
	equalList(t, "ran", s.ran, []string{`read {"path":"a"}`})
	results := s.model.last().Results
	if !results[0].Failed || !results[1].Failed || !strings.Contains(results[1].Text, "Task t1, read") {
		t.Errorf("the model was told %+v", results)
	}
}

func TestOnlyTheTasksOwnCallsRun(t *testing.T) {
	s := newScene(t, plan(fixIt+","+readIt), calls("shell", `{}`, "write", `{"path":"x"}`), says("done: fixed"), says("ready"))
	s.run()
	equalList(t, "ran", s.ran, []string{`write {"path":"x"}`, `read {"path":"a"}`})
	if r := s.model.prompts[2].Turns[4].Results; !r[0].Failed || !strings.Contains(r[0].Text, "not in the confirmed plan") || r[1].Failed {
		t.Errorf("the model was told %+v", r)
	}
	equal(t, "plans", len(s.office.plans), 1)
}

func TestAFailedTaskLeadsToANewPlan(t *testing.T) {
	s := newScene(t, plan(`{"id":"x","description":"Try","tool_name":"shell","args":{"command":"false"}},`+writeIt),
		calls("end_task", `{"outcome":"failed","note":"no such program"}`), plan(readIt), says("read instead"))
	s.tool(gadget{name: "shell", category: agent.Shell, returns: func(json.RawMessage) (agent.Output, error) { return agent.Output{Text: "exit 1", Failed: true}, nil }})
	res := s.run()
	equal(t, "status", res.Status, agent.Done)
	equalList(t, "ran", s.ran, []string{`shell {"command":"false"}`, `read {"path":"a"}`})
	equalList(t, "the plans' runs", s.office.log, []string{"begin x", "failed x", "skipped w", "begin r", "done r"})
	equal(t, "why", s.office.plans[1].Why, "task x failed: no such program")
	equalList(t, "updates", s.types(), []string{
		"confirmation_request", "task_plan", "task_init x", "sub_task_result x failed", "sub_task_result w skipped",
		"confirmation_request", "task_plan", "task_init r", "sub_task_result r done", "final_result",
	})
	if !slices.Contains(s.states(), "replanning") {
		t.Errorf("states: %v", s.states())
	}
}

func TestAFailedCallIsTheModelsToJudge(t *testing.T) {
	for words, log := range map[string][]string{
		"Done: TestX is the one that fails.": {"begin x", "done x", "begin r", "done r"},
		"TestX fails.":                       {"begin x", "failed x", "skipped r"},
	} {
		s := newScene(t, plan(`{"id":"x","description":"Find the failing test","tool_name":"shell","args":{"command":"go test"}},`+readIt), says(words), says("over"))
		s.tool(gadget{name: "shell", category: agent.Shell, returns: func(json.RawMessage) (agent.Output, error) {
			return agent.Output{Text: "FAIL TestX", Failed: true}, nil
		}})
		s.run()
		equalList(t, words, s.office.log, log)
	}
}

func TestWordsAtTheEndOfATask(t *testing.T) {
	for words, want := range map[string]string{
		"It is fixed.": "done f", "FAILED: there is no file": "failed f", "I could not find it.": "failed f", "无法完成": "failed f", "任务失败，没有权限": "failed f",
		"已修复。": "done f", "The failing test passes now.": "done f",
	} {
		s := newScene(t, plan(fixIt), says(words), says("over"))
		s.run()
		equal(t, words, s.office.log[1], want)
	}
}

func TestAQuestionInATaskIsNotItsEnd(t *testing.T) {
	s := newScene(t, plan(fixIt), says("Should I overwrite b?"), calls("write", `{"path":"b"}`), says("It is fixed."), says("over"))
	s.asker = &asker{answers: []string{"yes"}}
	s.run()
	equalList(t, "asked", s.asker.asked, []string{"Should I overwrite b?"})
	equalList(t, "ran", s.ran, []string{`write {"path":"b"}`})
	if text := s.model.prompts[2].Turns[4].Text; !strings.Contains(text, "The person answered: yes") {
		t.Errorf("the model was told %q", text)
	}
}

func TestARefusedCallAndAnotherWay(t *testing.T) {
	s := newScene(t, plan(writeIt+","+thinkIt), plan(readIt), says("read instead"))
	s.gate = func(c human.ToolCall) (human.Judgement, error) {
		if c.Tool == "write" {
			return human.Judgement{Decision: human.Deny, Message: "no writing", Reason: "freeze"}, nil
		}
		return human.Judgement{Decision: human.Allow}, nil
	}
	s.run()
	equalList(t, "ran", s.ran, []string{`read {"path":"a"}`})
	equalList(t, "the plans' runs", s.office.log, []string{"begin w", "failed w", "skipped k", "begin r", "done r"})
	if !strings.Contains(s.office.plans[1].Why, "refused") || !strings.Contains(s.office.plans[1].Why, "no writing") {
		t.Errorf("why: %q", s.office.plans[1].Why)
	}
	if !slices.Contains(s.types(), "sub_task_result w refused") {
		t.Errorf("updates: %q", s.types())
	}
}

func TestARefusedCallInATaskOfTheModels(t *testing.T) {
	s := newScene(t, plan(fixIt), calls("write", `{"path":"/etc"}`), calls("write", `{"path":"b"}`), calls("end_task", `{"outcome":"done","note":"ok"}`), says("over"))
	s.gate = func(c human.ToolCall) (human.Judgement, error) {
		if strings.Contains(string(c.Args), "etc") {
			return human.Judgement{Decision: human.Deny}, nil
		}
		return human.Judgement{Decision: human.Allow, Args: json.RawMessage(`{"path":"c"}`)}, nil
	}
	s.run()
	equalList(t, "ran", s.ran, []string{`write {"path":"c"}`})
	equalList(t, "states", s.states(), []string{"reasoning", "planning", "awaiting_confirmation", "executing", "replanning", "executing", "evaluating", "completed"})
	equalList(t, "the plan's run", s.office.log, []string{"begin f", "done f"})
}

func TestOrdersWhileItRuns(t *testing.T) {
	change := func(o *office) {
		o.tasks = slices.DeleteFunc(o.tasks, func(t human.TaskRun) bool { return t.State == human.TaskWaiting })
		o.tasks = append(o.tasks, human.TaskRun{Task: human.Task{ID: "n", Description: "New", Tool: "shell", Args: json.RawMessage(`{"n":1}`)}, State: human.TaskWaiting})
	}
	for name, tt := range map[string]struct {
		order  func(o *office, task string) *agent.Standing
		after  func(o *office, task string)
		log    []string
		status agent.Status
		told   string
	}{
		"skipped": {func(o *office, task string) *agent.Standing {
			if task == "w" {
				o.find("w").State = human.TaskSkipped
			}
			return nil
		}, nil, []string{"begin r", "done r", "begin k", "done k"}, agent.Done, "skipped task w"},
		"skipped while another runs": {nil, func(o *office, task string) {
			if task == "r" {
				o.find("w").State = human.TaskSkipped
			}
		}, []string{"begin r", "done r", "begin k", "done k"}, agent.Done, "- w, skipped"},
		"stopped": {func(_ *office, task string) *agent.Standing {
			if task == "w" {
				return &agent.Standing{Why: "stopped", Message: "enough"}
			}
			return nil
		}, nil, []string{"begin r", "done r"}, agent.NotDone, ""},
		"stopped while a task runs": {nil, func(o *office, _ string) { o.stopped = "enough" }, []string{"begin r", "done r"}, agent.NotDone, ""},
		"changed before a task": {func(o *office, task string) *agent.Standing {
			if task == "w" {
				change(o)
				return &agent.Standing{Why: "changed", Message: "do n"}
			}
			return nil
		}, nil, []string{"begin r", "done r", "begin n", "done n"}, agent.Done, "do n"},
		"changed after a task": {nil, func(o *office, task string) {
			if task == "r" {
				change(o)
			}
		}, []string{"begin r", "done r", "begin n", "done n"}, agent.Done, "An operator changed the plan"},
		"a task of its own is refused": {func(_ *office, task string) *agent.Standing {
			if task == "w" {
				return &agent.Standing{Why: "refused", Message: "use pg_dumpall"}
			}
			return nil
		}, nil, []string{"begin r", "done r", "skipped w", "skipped k"}, agent.Done, "use pg_dumpall"},
		"never let go": {func(*office, string) *agent.Standing { return &agent.Standing{Why: "unknown"} }, nil, nil, agent.NotDone, ""},
		"another task is let go": {func(o *office, _ string) *agent.Standing {
			return &agent.Standing{Go: true, Task: human.Task{ID: "w", Tool: "shell", Args: json.RawMessage(`{}`)}}
		}, nil, nil, agent.NotDone, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, plan(readIt+","+writeIt+","+thinkIt), says("Done: thought."), says("over"), says("over"))
			s.office.order, s.office.after = tt.order, tt.after
			res := s.run()
			equalList(t, "the plan's run", s.office.log, tt.log)
			equal(t, "status", res.Status, tt.status)
			if strings.HasPrefix(name, "stopped") && (!res.Over || !strings.Contains(res.Message, "An operator stopped the plan.\nenough") || !strings.Contains(res.Message, "- r, done")) {
				t.Errorf("it ends with %+v", res)
			}
			if strings.HasPrefix(name, "skipped") && !slices.Contains(s.types(), "sub_task_result w skipped") {
				t.Errorf("it was not told: %q", s.types())
			}
			if tt.told != "" && !strings.Contains(all(s.model), tt.told) {
				t.Errorf("the model was not told %q, but\n%s", tt.told, all(s.model))
			}
			for _, call := range s.ran {
				if strings.HasPrefix(call, "write") && !slices.Contains(s.office.log, "begin w") {
					t.Error("a task ran that had not begun")
				}
			}
		})
	}
}

// all is everything that a model was told.
func all(m *script) string {
	var b strings.Builder
	for _, turn := range m.prompts[len(m.prompts)-1].Turns {
		b.WriteString(turn.Text + "\n")
		for _, r := range turn.Results {
			b.WriteString(r.Text + "\n")
		}
	}
	return b.String()
}

func TestAPausedPlanWaits(t *testing.T) {
	s := newScene(t, plan(readIt), says("over"))
	n := 0
	s.office.order = func(*office, string) *agent.Standing {
		if n++; n < 30 {
			return &agent.Standing{Why: "paused", Message: "lunch"}
		}
		return nil
	}
	s.run()
	equalList(t, "ran", s.ran, []string{`read {"path":"a"}`})
	waits := 0
	for _, u := range s.updates {
		if strings.Contains(u.Content, "lunch") {
			waits++
		}
	}
	equal(t, "times it was told", waits, 1)
}

func TestInterruptedWhileAPlanIsPaused(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := newScene(t, plan(readIt))
	n := 0
	s.office.order = func(*office, string) *agent.Standing {
		if n++; n == 3 {
			cancel()
		}
		return &agent.Standing{Why: "paused"}
	}
	if _, err := s.engine().Run(ctx, agent.RunInfo{Task: "go"}); !errors.Is(err, context.Canceled) || n != 3 {
		t.Errorf("got %v after asking %d times", err, n)
	}
}

func TestTaskByTaskAnOperatorChangesTheTask(t *testing.T) {
	s := newScene(t, plan(readIt), says("over"))
	s.office.order = func(o *office, id string) *agent.Standing {
		o.find(id).Args = json.RawMessage(`{"path":"z"}`)
		return nil
	}
	s.run()
	equalList(t, "ran", s.ran, []string{`read {"path":"z"}`})
	if !strings.Contains(all(s.model), "An operator changed task r") {
		t.Error("the model was not told")
	}
}

func TestANewPlanInTheMiddleOfATask(t *testing.T) {
	s := newScene(t, plan(fixIt+","+readIt), calls("propose_plan", `{"message":"m","tasks":[`+writeIt+`]}`, "write", `{}`), says("over"))
	s.run()
	equalList(t, "ran", s.ran, []string{`write {"path":"b"}`})
	equalList(t, "the plans' runs", s.office.log, []string{"begin f", "failed f", "skipped r", "begin w", "done w"})
}

func TestPlansThatAreNone(t *testing.T) {
	for _, tasks := range []string{
		``, `{"description":" "}`, `{"description":"x","tool_name":"nope"}`, `{"description":"x","args":{"a":1}}`, `{"description":"x","tool_name":"read","args":[1]}`,
		`{"description":"x","tool_name":"read","args":{"a":1,"A":2}}`, `{"description":7}`, strings.TrimSuffix(strings.Repeat(readIt+",", 51), ","),
	} {
		s := newScene(t, plan(tasks), says("over"))
		s.run()
		equal(t, "plans of "+human.OneLine(tasks, 60), len(s.office.plans), 0)
		if !s.model.last().Results[0].Failed {
			t.Errorf("%s was taken", tasks)
		}
	}
	s := newScene(t, plan(readIt+","+readIt+`,{"description":"x","tool_name":"read","args":null},{"id":"t2","description":"y"}`), says("thought"), says("thought"), says("over"))
	s.run()
	var names []string
	for _, task := range s.office.plans[0].Tasks {
		names = append(names, task.ID)
	}
	equalList(t, "ids", names, []string{"r", "t2", "t3", "t4"})
}

func TestAPlanThatTheQueueDoesNotTake(t *testing.T) {
	s := newScene(t, plan(writeIt), plan(readIt), says("over"))
	s.office.decide = func(p agent.Proposal, _ func(string) string) (agent.Confirmation, error) {
		if p.Tasks[0].ID == "w" {
			return agent.Confirmation{}, human.BadField("tasks", "are too long")
		}
		return agent.Confirmation{Status: human.PlanConfirmed, Tasks: p.Tasks}, nil
	}
	equal(t, "status", s.run().Status, agent.Done)
	equalList(t, "ran", s.ran, []string{`read {"path":"a"}`})
	if r := s.model.prompts[1].Turns[2].Results[0]; !r.Failed || !strings.Contains(r.Text, "are too long") {
		t.Errorf("the model was told %+v", r)
	}
}

func TestPeopleAreAskedAndAskBack(t *testing.T) {
	s := newScene(t, calls("ask_human", `{"question":"Which file?"}`), says("The one for the report."), says("Thank you."))
	s.asker = &asker{answers: []string{"b.txt"}, back: "What is it for?"}
	res := s.run()
	equal(t, "status", res.Status, agent.Done)
	equal(t, "what the person heard", s.asker.heard, "The one for the report.")
	if text := s.model.prompts[1].Turns[2].Results[0].Text; !strings.Contains(text, "What is it for?") {
		t.Errorf("the model was told %q", text)
	}
	if last := s.model.last(); last.Role != agent.User || !strings.Contains(last.Text, "The person answered: b.txt") {
		t.Errorf("the model was told %+v", last)
	}
}

func TestAnOperatorAsksAboutAPlan(t *testing.T) {
	s := newScene(t, plan(readIt), agent.Reply{Text: "To see it.", Calls: calls("shell", `{}`).Calls}, says("over"))
	s.office.decide = func(p agent.Proposal, asked func(string) string) (agent.Confirmation, error) {
		equal(t, "the answer", asked("Why read?"), "To see it.")
		return agent.Confirmation{Status: human.PlanConfirmed, Tasks: p.Tasks}, nil
	}
	s.run()
	equalList(t, "ran", s.ran, []string{`read {"path":"a"}`})
	equalList(t, "states", s.states(), []string{"reasoning", "planning", "awaiting_confirmation", "executing", "evaluating", "completed"})
	if last := s.model.last(); last.Role != agent.User || !strings.Contains(last.Text, "The plan is confirmed") || !strings.Contains(last.Text, "Task r, Read it") {
		t.Errorf("the model was told %+v", last)
	}
}

func TestAQuestionThatNobodyAnswers(t *testing.T) {
	s := newScene(t, calls("ask_human", `{"question":"Which file?"}`), says("Then not."))
	s.asker = &asker{err: human.Errorf(human.Unavailable, "it was declined")}
	equal(t, "status", s.run().Status, agent.Done)
	if r := s.model.last().Results[0]; !r.Failed || !strings.Contains(r.Text, "it was declined") {
		t.Errorf("the model was told %+v", r)
	}
}

func TestWithNobodyToAskTheRunWaits(t *testing.T) {
	s := newScene(t, calls("ask_human", `{"question":"Which file?"}`), says("b it is."))
	res := s.run()
	equal(t, "status", res.Status, agent.WaitingInput)
	equal(t, "prompt", res.Prompt, "Which file?")
	s.asker = &asker{answers: []string{"b"}}
	res, err := s.engine().Resume(t.Context(), s.diary.records)
	if err != nil || res.Status != agent.Done || res.Message != "b it is." {
		t.Errorf("resumed: %+v, %v", res, err)
	}
	s.sound()
}

func TestATaskThatIsAQuestion(t *testing.T) {
	s := newScene(t, plan(`{"id":"q","description":"Ask","tool_name":"ask_human","args":{"question":"Which?"}},`+readIt), says("over"))
	s.asker = &asker{answers: []string{"b"}}
	s.run()
	equalList(t, "asked", s.asker.asked, []string{"Which?"})
	equalList(t, "the plan's run", s.office.log, []string{"begin q", "done q", "begin r", "done r"})
	if !strings.Contains(all(s.model), "The person answered: b") {
		t.Error("the model was not told")
	}
}

func TestConfirmingOff(t *testing.T) {
	s := newScene(t, calls("read", `{"path":"a"}`), calls("shell", `{}`, "write", `{"x":1}`), says("It works."))
	s.office = nil
	s.gate = func(c human.ToolCall) (human.Judgement, error) {
		if c.Tool == "shell" {
			return human.Judgement{Decision: human.Deny}, nil
		}
		return human.Judgement{Decision: human.Allow}, nil
	}
	s.run()
	equalList(t, "ran", s.ran, []string{`read {"path":"a"}`, `write {"x":1}`})
	equalList(t, "updates", s.types(), []string{
		"task_init", "sub_task_result done", "task_init", "sub_task_result refused", "task_init", "sub_task_result done", "final_result",
	})
	var offered []string
	for _, tool := range s.model.prompts[0].Tools {
		offered = append(offered, tool.Name)
	}
	equalList(t, "offered", offered, []string{"read", "write", "shell", "ask_human", "finish"})
	if strings.Contains(s.model.prompts[0].System, "propose_plan") {
		t.Error("the model is told of plans")
	}
}

func TestConfirmingOffWithoutAJournalKeepsNothing(t *testing.T) {
	s := newScene(t, calls("read", `{}`), calls("propose_plan", `{}`, "end_task", `{}`), says("over"))
	s.office, s.diary = nil, nil
	equal(t, "status", s.run().Status, agent.Done)
	for _, r := range s.model.last().Results {
		if !r.Failed || !strings.Contains(r.Text, "no tool") {
			t.Errorf("the model was told %+v", r)
		}
	}
}

func TestAPlanThatNobodyHadToConfirm(t *testing.T) {
	s := newScene(t, plan(readIt), says("over"))
	s.office.auto = "safe"
	s.run()
	equalList(t, "updates", s.types(), []string{"task_plan", "task_init r", "sub_task_result r done", "final_result"})
	equalList(t, "states", s.states(), []string{"reasoning", "planning", "executing", "evaluating", "completed"})
}

func TestLimitsEndARun(t *testing.T) {
	c := newClock()
	for name, tt := range map[string]struct {
		limits agent.Limits
		want   string
	}{
		"calls":  {agent.Limits{Steps: 2}, "limit of 2 tool calls"},
		"tokens": {agent.Limits{Tokens: 250}, "limit of 250 tokens"},
		"time":   {agent.Limits{Time: 30 * time.Second}, "limit of 30s"},
		"money":  {agent.Limits{Money: 0.001, In: 5, Out: 25}, "limit of 0.00"},
		"plans":  {agent.Limits{Plans: 2}, "limit of 2 new plans"},
	} {
		t.Run(name, func(t *testing.T) {
			var replies []agent.Reply
			for range 20 {
				replies = append(replies, plan(`{"id":"x","description":"Try","tool_name":"shell","args":{}}`), calls("end_task", `{"outcome":"failed","note":"no"}`))
			}
			s := newScene(t, replies...)
			s.tool(gadget{name: "shell", category: agent.Shell, returns: func(json.RawMessage) (agent.Output, error) {
				c.pass(11 * time.Second)
				return agent.Output{Failed: true}, nil
			}})
			s.deps.Limits, s.deps.Now = tt.limits, c.now
			res := s.run()
			equal(t, "status", res.Status, agent.NotDone)
			if !strings.Contains(res.Message, tt.want) || !strings.Contains(res.Message, "- x, ") || res.Over {
				t.Errorf("it ends with %+v", res)
			}
			if n := len(s.ran); n < 1 || n > 3 {
				t.Errorf("%d calls ran", n)
			}
			if last := s.updates[len(s.updates)-1]; last.Spent == nil || *last.Spent != res.Spent {
				t.Errorf("the last update has %+v, the result %+v", last.Spent, res.Spent)
			}
			s.deps.Limits = agent.Limits{Plans: 5}
			before := len(s.ran)
			if res, err := s.engine().Resume(t.Context(), s.diary.records); err != nil || len(s.ran) <= before {
				t.Errorf("with wider limits it does not go on: %+v, %v", res, err)
			}
		})
	}
}

// What a run was begun with is in its journal, and what it continues with is there as well; what it has spent counts on.
func TestLimitsAreKept(t *testing.T) {
	s := newScene(t, calls("read", `{}`), calls("read", `{}`), says("over"))
	s.office = nil
	s.deps.Limits = agent.Limits{Steps: 1, Tokens: 900}
	if res := s.run(); res.Over || res.Spent.Steps != 1 {
		t.Fatalf("it ends with %+v", res)
	}
	begun, err := agent.InfoOf(s.diary.records)
	if err != nil || begun.Limits == nil || *begun.Limits != s.deps.Limits {
		t.Fatalf("the journal has %+v, %v", begun.Limits, err)
	}
	s.deps.Limits.Steps = 3
	res, err := s.engine().Resume(t.Context(), s.diary.records)
	if err != nil || res.Status != agent.Done || res.Spent.Steps != 2 || res.Spent.TokensIn != 300 {
		t.Errorf("resumed: %+v, %v", res, err)
	}
	went, err := agent.InfoOf(s.diary.records)
	if err != nil || *went.Limits != s.deps.Limits || went.Task != begun.Task || !went.At.Equal(begun.At) || went.ID != begun.ID {
		t.Errorf("the journal has %+v, %v", went, err)
	}
	if _, err := agent.InfoOf(s.diary.records[1:]); human.KindOf(err) != human.Invalid {
		t.Errorf("records of no run: %v", err)
	}
}

// A call in whose middle the agent is killed counts: it may have run.
func TestACallThatWasKilledCounts(t *testing.T) {
	s := newScene(t, calls("read", `{}`))
	s.office = nil
	s.diary.tells = func(r agent.Record) {
		if r.Kind == agent.UseRecord {
			s.diary.most = len(s.diary.records)
		}
	}
	if _, err := s.engine().Run(t.Context(), agent.RunInfo{ID: "run_a", Task: "go"}); !errors.Is(err, errDiary) {
		t.Fatal(err)
	}
	s.diary.most, s.deps.Limits = 0, agent.Limits{Steps: 1}
	s.model.replies = append(s.model.replies, calls("read", `{}`))
	res, err := s.engine().Resume(t.Context(), s.diary.records)
	if err != nil || !strings.Contains(res.Message, "limit of 1 tool calls") || len(s.ran) != 1 {
		t.Errorf("resumed: %+v, %v, ran %v", res, err, s.ran)
	}
}

func TestNoProgressEndsARun(t *testing.T) {
	s := newScene(t, make([]agent.Reply, 20)...)
	res := s.run()
	equal(t, "replies", len(s.model.prompts), 8)
	equal(t, "status", res.Status, agent.NotDone)
}

func TestAReplyThatWasCutOff(t *testing.T) {
	cut := calls("read", `{"path":"a"}`)
	cut.Cut = true
	s := newScene(t, cut, says("over"))
	s.office = nil
	s.run()
	equal(t, "calls", len(s.ran), 0)
	if last := s.model.last(); !strings.Contains(last.Text, "longer than the limit") {
		t.Errorf("the model was told %+v", last)
	}
}

func TestAModelThatFailsCanBeResumed(t *testing.T) {
	s := newScene(t, plan(readIt))
	res := s.run()
	equal(t, "status", res.Status, agent.NotDone)
	s.model.replies = append(s.model.replies, agent.Reply{}, says("It works."))
	res, err := s.engine().Resume(t.Context(), s.diary.records)
	if err != nil || res.Status != agent.Done || len(s.ran) != 1 {
		t.Errorf("resumed: %+v, %v, ran %v", res, err, s.ran)
	}
	s.sound()
	if _, err := s.engine().Resume(t.Context(), s.diary.records); human.KindOf(err) != human.Conflict {
		t.Errorf("a run that is completed: %v", err)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := newScene(t, plan(readIt+","+writeIt), says("over"))
	s.tool(gadget{name: "read", category: agent.Files, returns: func(json.RawMessage) (agent.Output, error) {
		cancel()
		return agent.Output{Text: "half"}, ctx.Err()
	}})
	if _, err := s.engine().Run(ctx, agent.RunInfo{ID: "run_a", Task: "go"}); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	equal(t, "calls", len(s.ran), 1)
	if !slices.ContainsFunc(s.diary.records, func(r agent.Record) bool { return r.Done != nil && strings.Contains(r.Done.Text, "half") }) {
		t.Error("what the call had done by then was not kept")
	}
	equalList(t, "the plan's run", s.office.log, []string{"begin r"}) // it has not failed
	equalList(t, "the plan was told", s.office.remarks, []string{"stopped r: The agent was stopped in the middle of it."})
	if last := s.diary.records[len(s.diary.records)-1]; last.Kind != agent.EndRecord || last.Result.Ending != agent.EndInterrupted || last.Result.Over {
		t.Errorf("the journal ends with %+v", last)
	}
	s.model.replies = append([]agent.Reply{{}}, says("Done: it was read."), says("over"))
	res, err := s.engine().Resume(t.Context(), s.diary.records)
	if err != nil || res.Status != agent.Done {
		t.Fatalf("resumed: %+v, %v", res, err)
	}
	equalList(t, "ran", s.ran, []string{`read {"path":"a"}`, `write {"path":"b"}`})
	equalList(t, "the plan was told", s.office.remarks[1:], []string{"goes on r"})
	equalList(t, "the plan's run", s.office.log, []string{"begin r", "done r", "begin w", "done w"})
}

// A run that ends by a limit in the middle of a task tells the plan so, and not that the task failed.
func TestALimitInTheMiddleOfATask(t *testing.T) {
	s := newScene(t, plan(fixIt), calls("write", `{"path":"a"}`), calls("write", `{"path":"b"}`))
	s.deps.Limits.Steps = 1
	s.run()
	equalList(t, "the plan's run", s.office.log, []string{"begin f"})
	equalList(t, "the plan was told", s.office.remarks, []string{"stopped f: The agent ended in the middle of it. The limit of 1 tool calls is reached."})
}

func TestSecretsAreNotKept(t *testing.T) {
	const secret = "hunter2"
	s := newScene(t, plan(`{"id":"x","description":"Log in","tool_name":"shell","args":{"command":"login hunter2"}}`), calls("shell", `{"command":"echo hunter2"}`), says("I used hunter2."))
	s.tool(gadget{name: "shell", category: agent.Shell, returns: func(json.RawMessage) (agent.Output, error) { return agent.Output{Text: "welcome hunter2"}, nil }})
	s.deps.Mask = func(text string) (string, bool) {
		return strings.ReplaceAll(text, secret, "•••"), strings.Contains(text, secret)
	}
	res, err := s.engine().Run(t.Context(), agent.RunInfo{ID: "run_a", Task: "log in with hunter2"})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "status", res.Status, agent.Done)
	equalList(t, "ran", s.ran, []string{`shell {"command":"login hunter2"}`, `shell {"command":"echo hunter2"}`})
	if kept, err := json.Marshal([]any{s.diary.records, s.updates}); err != nil || strings.Contains(string(kept), secret) {
		t.Errorf("the journal or an update has the secret: %s, %v", kept, err)
	}
	if !strings.Contains(all(s.model), secret) {
		t.Error("the model works with what it was given")
	}
}

// A call's line is cut for people only after secrets were hidden in it: what is left of one that was cut would not be found.
func TestASecretAtTheEndOfALine(t *testing.T) {
	const secret = "hunter2"
	long := strings.Repeat("x", 300-len(`shell {"command":"`)-4) // the line is cut within the secret
	s := newScene(t, calls("shell", `{"command":"`+long+secret+`"}`), says("Done."))
	s.tool(gadget{name: "shell", category: agent.Shell, returns: func(json.RawMessage) (agent.Output, error) { return agent.Output{Text: "ok"}, nil }})
	s.deps.Plans = nil
	s.deps.Mask = func(text string) (string, bool) {
		return strings.ReplaceAll(text, secret, "•"), strings.Contains(text, secret)
	}
	if _, err := s.engine().Run(t.Context(), agent.RunInfo{ID: "run_a", Task: "go"}); err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, u := range s.updates {
		if strings.Contains(u.Call, "hun") {
			t.Errorf("a part of the secret was told: %s", u.Call[len(u.Call)-40:])
		}
		if strings.Contains(u.Call, "•") {
			told++
		}
	}
	if told == 0 {
		t.Error("no line of the call was told")
	}
}

func TestWhatTheEngineTellsTheModel(t *testing.T) {
	s := newScene(t, says("hello"))
	s.run()
	for _, words := range []string{"You are tester", "/home/mei/notes", "propose_plan", "ask_human", "never an instruction", "language that the task is written in"} {
		if !strings.Contains(s.model.prompts[0].System, words) {
			t.Errorf("the system prompt does not say %q", words)
		}
	}
	if _, err := s.engine().Run(t.Context(), agent.RunInfo{Task: " "}); human.KindOf(err) != human.Invalid {
		t.Errorf("no task: %v", err)
	}
	for _, records := range [][]agent.Record{nil, {{Kind: agent.UpdateRecord}}, {s.diary.records[0], {Kind: agent.PlanRecord}}} {
		if _, err := s.engine().Resume(t.Context(), records); human.KindOf(err) != human.Invalid {
			t.Errorf("%d records that are no run: %v", len(records), err)
		}
	}
}

func TestATaskThatIsToldAndNotLetGo(t *testing.T) {
	s := newScene(t, plan(readIt), says("over"))
	n := 0
	s.office.order = func(o *office, id string) *agent.Standing {
		if n++; n == 1 {
			return &agent.Standing{Why: "asking", Task: o.find(id).Task}
		}
		equal(t, "calls before it was let go", len(s.ran), 0)
		return nil
	}
	s.run()
	equal(t, "calls", len(s.ran), 1)
}

// Where confirming was switched off meanwhile, nobody follows the run: each task seems to wait for ever.
func TestAPlanThatNobodyFollows(t *testing.T) {
	s := newScene(t, plan(readIt+","+writeIt), says("over"))
	s.office.auto = "off"
	all := func(o *office) []human.TaskRun {
		list := slices.Clone(o.tasks)
		for i := range list {
			list[i].State = human.TaskWaiting
		}
		return list
	}
	s.office.order = func(o *office, id string) *agent.Standing {
		return &agent.Standing{Go: true, Task: o.find(id).Task, Tasks: all(o)}
	}
	s.office.stands = all
	s.run()
	equalList(t, "ran", s.ran, []string{`read {"path":"a"}`, `write {"path":"b"}`})
}

func TestTheLimitOnTimeEndsACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, calls("slow", `{}`), says("over"))
		s.office = nil
		s.deps.Now, s.deps.Limits = time.Now, agent.Limits{Time: time.Minute}
		s.deps.Tools = []agent.Tool{endless{}}
		began := time.Now()
		res := s.run()
		if took := time.Since(began); took != time.Minute || res.Status != agent.NotDone || !strings.Contains(res.Message, "limit of 1m0s") || res.Spent.Time != time.Minute {
			t.Errorf("after %v: %+v", took, res)
		}
	})
}

// endless is a tool that ends only when it has to.
type endless struct{}

func (endless) Spec() agent.ToolSpec     { return agent.ToolSpec{Name: "slow"} }
func (endless) Category() agent.Category { return agent.Shell }
func (endless) Run(ctx context.Context, _ json.RawMessage) (agent.Output, error) {
	<-ctx.Done()
	return agent.Output{}, ctx.Err()
}

// An id with which a call could pass for one of the engine's own is no id.
func TestAModelsIDsAreItsOwn(t *testing.T) {
	r := calls("read", `{"path":"a"}`, "read", `{"path":"b"}`, "read", `{"path":"c"}`)
	r.Calls[0].ID, r.Calls[1].ID, r.Calls[2].ID = "plan_1.t1", "ok-1", "ok-1"
	s := newScene(t, r, says("over"))
	s.office = nil
	var ids []string
	s.gate = func(c human.ToolCall) (human.Judgement, error) {
		ids = append(ids, c.CallID)
		return human.Judgement{Decision: human.Allow}, nil
	}
	s.run()
	equalList(t, "ids", ids, []string{"call_1", "ok-1", "call_3"})
}

// held is a queue in which no one ever decides.
type held struct{ *office }

func (held) Confirm(ctx context.Context, _ agent.Proposal, started func(agent.Confirmation), _ func(string) string) (agent.Confirmation, error) {
	started(agent.Confirmation{})
	<-ctx.Done()
	return agent.Confirmation{}, ctx.Err()
}

func TestAJournalThatFailsWhileAPlanWaits(t *testing.T) {
	s := newScene(t, plan(readIt))
	s.diary.tells = func(r agent.Record) {
		if r.Update != nil && r.Update.State == agent.AwaitingConfirmation {
			s.diary.most = len(s.diary.records)
		}
	}
	s.deps.Plans = held{s.office}
	s.office = nil
	if _, err := s.engine().Run(t.Context(), agent.RunInfo{Task: "go"}); !errors.Is(err, errDiary) {
		t.Errorf("got %v", err)
	}
}
