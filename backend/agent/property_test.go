package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"deskbell/backend/agent"
	"deskbell/backend/human"
)

// world is everything around an engine, all of it hostile or careless: the model says anything, operators decide and order
// anything, the gatekeeper judges by chance. It outlives the engine, which may be killed at any record. It checks, at each
// call of a tool, that this call may run.
type world struct {
	*rapid.T
	confirming bool
	judging    bool

	diary   *diary
	tasks   []human.TaskRun // of the plan that the queue has as confirmed
	decided map[string]agent.Confirmation
	allowed *permit
	ran     map[string]bool // calls by id
	count   int
	asides  int
	names   int
	updates []agent.Update
	clock   *clock
}

// permit is a call that the gatekeeper allowed and that has not run yet.
type permit struct {
	id, tool   string
	asked, may json.RawMessage
}

var (
	toolNames = []string{"read", "write", "shell"}
	someArgs  = []string{`{}`, `{"path":"a"}`, `{"path":"b"}`, ` { "path" : "a" } `, `{"path":"a","force":true}`, `{"path":"a","path":"b"}`, `[]`, `{`, ``, `null`}
	someWords = []string{"", "ok", "Done: it is fixed.", "FAILED: no", "Which one?", "请问哪一个？", "It does not work.", "</tool_output>"}
)

func (w *world) pick(label string, from []string) string {
	return rapid.SampledFrom(from).Draw(w.T, label)
}
func (w *world) chance(label string, percent int) bool {
	return rapid.IntRange(0, 99).Draw(w.T, label) >= 100-percent // so that it shrinks to never
}

func (w *world) task(id string) human.Task {
	t := human.Task{ID: id, Description: "do " + id, Tool: w.pick("tool of a task", append(slices.Clone(toolNames), "", "nope", "ask_human"))}
	if w.chance("args of a task", 60) {
		t.Args = json.RawMessage(w.pick("args", someArgs[:5]))
	}
	return t
}

// Chat is the model.
func (w *world) Name() string { return "monkey" }

func (w *world) Chat(ctx context.Context, p agent.Prompt, tell func(string)) (agent.Reply, error) {
	open := p.Turns
	if err := orderly(open); err != "" {
		w.Fatalf("the model is asked with a conversation that none takes: %s\n%+v", err, open)
	}
	r := agent.Reply{TokensIn: 100, TokensOut: 10, Text: w.pick("words", someWords), Cut: w.chance("cut", 3)}
	for range rapid.IntRange(0, 3).Draw(w.T, "calls") {
		c := agent.ToolUse{ID: w.pick("id", []string{"", "c1", "call_2", "plan_1.t1", "plan_2.t1"}), Name: w.pick("call", []string{"read", "write", "shell", "read", "write", "propose_plan", "propose_plan", "end_task", "ask_human", "nope", ""})}
		switch c.Name {
		case "propose_plan":
			tasks := []human.Task{}
			for i := range rapid.IntRange(0, 4).Draw(w.T, "tasks") {
				tasks = append(tasks, w.task(w.pick("task", []string{"", "t1", fmt.Sprintf("t%d", i+1)})))
			}
			c.Args, _ = json.Marshal(map[string]any{"message": "m", "tasks": tasks, "key": "x", "calls": []string{"c1"}})
		case "end_task":
			c.Args = json.RawMessage(w.pick("outcome", []string{`{"outcome":"done","note":"n"}`, `{"outcome":"failed"}`, `{"outcome":"great"}`}))
		case "ask_human":
			c.Args = json.RawMessage(w.pick("question", []string{`{"question":"q"}`, `{}`}))
		default:
			c.Args = json.RawMessage(w.pick("args", someArgs))
		}
		r.Calls = append(r.Calls, c)
	}
	return r, nil
}

// orderly is closed, for rapid.
func orderly(turns []agent.Turn) string {
	seen := map[string]bool{}
	for i, turn := range turns {
		if len(turn.Calls) > 0 && (i+1 == len(turns) || len(turns[i+1].Results) != len(turn.Calls)) {
			return fmt.Sprintf("turn %d has calls without results", i)
		}
		for n, c := range turn.Calls {
			if turns[i+1].Results[n].CallID != c.ID || c.ID == "" || seen[c.ID] {
				return fmt.Sprintf("call %d of turn %d", n, i)
			}
			seen[c.ID] = true
		}
		if turn.Role == agent.ToolTurn && (i == 0 || len(turns[i-1].Calls) == 0) {
			return fmt.Sprintf("turn %d has results of no calls", i)
		}
		if i > 0 && turn.Role == agent.Assistant && turns[i-1].Role == agent.Assistant || i == len(turns)-1 && turn.Role == agent.Assistant {
			return fmt.Sprintf("the assistant speaks twice, at turn %d", i)
		}
		if turn.Text == "" && len(turn.Calls) == 0 && len(turn.Results) == 0 {
			return fmt.Sprintf("turn %d is empty", i)
		}
	}
	return ""
}

// Check is the gatekeeper.
func (w *world) Check(_ context.Context, c human.ToolCall) (human.Judgement, error) {
	w.allowed = nil
	switch rapid.IntRange(0, 9).Draw(w.T, "judgement") {
	case 8:
		return human.Judgement{Decision: human.Deny, Message: "no"}, nil
	case 9:
		return human.Judgement{Decision: human.Allow}, human.Errorf(human.Unavailable, "gone")
	case 7:
		return human.Judgement{Decision: human.Ask}, nil
	case 6:
		changed := json.RawMessage(`{"path":"changed"}`)
		w.allowed = &permit{c.CallID, c.Tool, c.Args, changed}
		return human.Judgement{Decision: human.Allow, Args: changed}, nil
	}
	w.allowed = &permit{c.CallID, c.Tool, c.Args, c.Args}
	return human.Judgement{Decision: human.Allow}, nil
}

// called checks the property: at this moment, this call may run.
func (w *world) called(tool string, args json.RawMessage) {
	w.count++
	asked := args
	if w.judging {
		p := w.allowed
		if p == nil || p.tool != tool || !bytes.Equal(p.may, args) {
			w.Fatalf("%s %s runs; the gatekeeper allowed %+v", tool, args, p)
		}
		if w.ran[p.id] {
			w.Fatalf("the call %s runs a second time", p.id)
		}
		w.ran[p.id] = true
		asked, w.allowed = p.asked, nil
	}
	if !w.confirming {
		return
	}
	i := slices.IndexFunc(w.tasks, func(t human.TaskRun) bool { return t.State == human.TaskRunning })
	switch {
	case i < 0:
		w.Fatalf("%s %s runs, and no confirmed task does; the plan is %+v", tool, asked, w.tasks)
	case w.tasks[i].Tool != tool:
		w.Fatalf("%s runs in a task of %q", tool, w.tasks[i].Tool)
	case len(w.tasks[i].Args) > 0 && !sameJSON(w.tasks[i].Args, asked):
		w.Fatalf("%s runs in a task that was confirmed with %s", asked, w.tasks[i].Args)
	}
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	x1, _ := json.Marshal(x)
	y1, _ := json.Marshal(y)
	return bytes.Equal(x1, y1)
}

// monkeyTool is a tool that reports to the world.
type monkeyTool struct {
	*world
	name string
}

func (m monkeyTool) Spec() agent.ToolSpec {
	return agent.ToolSpec{Name: m.name, Schema: json.RawMessage(`{"type":"object"}`)}
}
func (monkeyTool) Category() agent.Category { return agent.Files }
func (m monkeyTool) Run(_ context.Context, args json.RawMessage) (agent.Output, error) {
	m.called(m.name, args)
	return agent.Output{Text: m.pick("output", someWords), Failed: m.chance("failed", 30)}, nil
}

// monkeyOffice is the queue with its operators.
type monkeyOffice struct{ *world }

func (w *world) fresh() string { w.names++; return fmt.Sprintf("n%d", w.names) }

func (o monkeyOffice) Confirm(_ context.Context, p agent.Proposal, started func(agent.Confirmation), asked func(string) string) (agent.Confirmation, error) {
	if c, ok := o.decided[p.Key]; ok {
		return c, nil
	}
	if !o.chance("by itself", 20) {
		started(agent.Confirmation{})
	}
	if o.asides < 5 && o.chance("asked back", 20) {
		o.asides++
		asked("why?")
	}
	c := agent.Confirmation{Status: human.PlanConfirmed, Tasks: p.Tasks}
	switch rapid.IntRange(0, 19).Draw(o.T, "decision") {
	case 19:
		c = agent.Confirmation{Status: human.PlanCancelled}
	case 18:
		c = agent.Confirmation{Status: human.PlanTimeout}
	case 17:
		return c, human.Errorf(human.Unavailable, "gone")
	case 16:
		c = agent.Confirmation{Status: human.PlanPending, Tasks: p.Tasks}
	case 15:
		return c, human.BadField("tasks", "are bad")
	case 13, 14:
		c = agent.Confirmation{Status: human.PlanModified, Message: o.pick("words", []string{"", "otherwise"})}
	case 10, 11, 12:
		c.Status = human.PlanModified
		c.Tasks = append(slices.Clone(p.Tasks[1:]), o.task(o.fresh()))
	}
	o.decided[p.Key] = c
	o.tasks = nil
	if c.Status == human.PlanConfirmed || c.Status == human.PlanModified {
		for _, t := range c.Tasks {
			o.tasks = append(o.tasks, human.TaskRun{Task: t, State: human.TaskWaiting})
		}
	}
	return c, nil
}

func (o monkeyOffice) at(id string) int {
	return slices.IndexFunc(o.tasks, func(t human.TaskRun) bool { return t.ID == id })
}

func (o monkeyOffice) change() {
	o.tasks = slices.DeleteFunc(o.tasks, func(t human.TaskRun) bool { return t.State == human.TaskWaiting && o.chance("taken out", 50) })
	if o.chance("put in", 50) {
		o.tasks = append(o.tasks, human.TaskRun{Task: o.task(o.fresh()), State: human.TaskWaiting})
	}
}

func (o monkeyOffice) standing(why string) agent.Standing {
	return agent.Standing{Why: why, Tasks: slices.Clone(o.tasks), Message: "words"}
}

func (o monkeyOffice) Begin(_ context.Context, id string) (agent.Standing, error) {
	i := o.at(id)
	switch rapid.IntRange(0, 29).Draw(o.T, "order") {
	case 29:
		return o.standing("stopped"), nil
	case 28:
		return o.standing("refused"), nil
	case 27:
		return o.standing("paused"), nil
	case 26:
		return o.standing("unknown"), nil
	case 25:
		return agent.Standing{}, human.Errorf(human.Unavailable, "gone")
	case 24:
		return agent.Standing{Go: true, Task: o.task("t9")}, nil // never begun
	case 23:
		return agent.Standing{Go: true}, nil
	case 20, 21, 22:
		o.change()
		if i = o.at(id); i < 0 {
			return o.standing("changed"), nil
		}
	case 18, 19:
		if i >= 0 && o.tasks[i].State == human.TaskWaiting {
			o.tasks[i].State = human.TaskSkipped
		}
	case 17:
		if i >= 0 && o.tasks[i].State == human.TaskWaiting {
			o.tasks[i].Task = o.task(id)
		}
	}
	if i >= 0 && o.chance("not now", 5) {
		st := o.standing("asking")
		st.Task = o.tasks[i].Task
		return st, nil
	}
	switch {
	case i < 0 || o.tasks[i].State != human.TaskWaiting && o.tasks[i].State != human.TaskRunning && o.tasks[i].State != human.TaskSkipped:
		return o.standing("changed"), nil
	case o.tasks[i].State == human.TaskSkipped:
		return o.standing("skipped"), nil
	}
	o.tasks[i].State = human.TaskRunning
	st := o.standing("")
	st.Go, st.Task = true, o.tasks[i].Task
	return st, nil
}

func (monkeyOffice) Stopped(context.Context, string, string) {}
func (monkeyOffice) GoesOn(context.Context, string)          {}

func (o monkeyOffice) End(_ context.Context, p human.TaskProgress) (agent.Standing, error) {
	i := o.at(p.Task)
	if i < 0 {
		return agent.Standing{}, human.Errorf(human.NotFound, "no such task")
	}
	if !o.tasks[i].State.Over() {
		o.tasks[i].State = p.State
	}
	if o.chance("changed meanwhile", 15) {
		o.change()
	}
	return o.standing(""), nil
}

func (w *world) Ask(_ context.Context, _ string, asked func(string) string) (string, error) {
	if w.asides < 5 && w.chance("asked back", 20) {
		w.asides++
		asked("what?")
	}
	if w.chance("nobody answers", 30) {
		return "", human.Errorf(human.Unavailable, "nobody")
	}
	return w.pick("answer", someWords[1:]), nil
}

// live runs the engine to its end, through as many deaths as it dies.
func (w *world) live(deaths int) agent.Result {
	w.decided, w.ran, w.clock = map[string]agent.Confirmation{}, map[string]bool{}, newClock()
	ids := 0
	d := agent.Deps{
		Model: w, Asker: w, Now: w.clock.now, Emit: func(u agent.Update) { w.updates = append(w.updates, u) }, Judge: agent.StructuredJudge{Otherwise: agent.WordsJudge{}},
		NewID:  func(prefix string) string { ids++; return fmt.Sprintf("%s%d", prefix, ids) },
		Limits: agent.Limits{Steps: 12, Tokens: 110 * 40, Plans: 6, Context: 120}, Output: 50, // many conversations are cut
	}
	for _, name := range toolNames {
		d.Tools = append(d.Tools, monkeyTool{w, name})
	}
	if w.confirming {
		d.Plans = monkeyOffice{w}
	}
	if w.judging {
		d.Gate = w
	}
	w.diary = &diary{}
	d.Journal = w.diary
	if w.chance("masked", 20) {
		d.Mask = func(s string) (string, bool) {
			return strings.ReplaceAll(s, "force", "•••"), strings.Contains(s, "force")
		}
	}
	e, err := agent.NewEngine(d)
	if err != nil {
		w.Fatalf("%v", err)
	}
	var res agent.Result
	for life := 0; ; life++ {
		w.diary.most = 0
		if life < deaths {
			w.diary.most = len(w.diary.records) + rapid.IntRange(1, 40).Draw(w.T, "records until it dies")
		}
		if kept := w.diary.records; len(kept) == 0 {
			res, err = e.Run(context.Background(), agent.RunInfo{Task: "monkey about"})
		} else {
			res, err = e.Resume(context.Background(), slices.Clone(kept))
		}
		if !errors.Is(err, errDiary) {
			break
		}
	}
	if err != nil {
		w.Fatalf("the run broke off: %v", err)
	}
	if w.count > d.Limits.Steps {
		w.Fatalf("%d calls ran", w.count)
	}
	lawful(w, w.updates)
	if last := w.updates[len(w.updates)-1]; (res.Status == agent.Done) != (last.State == agent.Completed) || (res.Status == agent.NotDone) != (last.State == agent.Failed) {
		w.Fatalf("a run that is %s ends with %+v", res.Status, last)
	}
	return res
}

// Whatever the model says and whatever operators do: no call of a tool runs that no confirmed task has that has begun, and
// none that the gatekeeper did not allow; what it changed is what runs.
func TestNothingRunsUnconfirmedOrRefused(t *testing.T) {
	calls, cuts, ends := 0, 0, map[agent.Status]int{}
	rapid.Check(t, func(rt *rapid.T) {
		w := &world{T: rt, confirming: true, judging: rapid.Bool().Draw(rt, "judging")}
		ends[w.live(0).Status]++
		calls += w.count
		for _, r := range w.diary.records {
			if r.Kind == agent.CutRecord {
				cuts++
			}
		}
	})
	least := 20
	if testing.Short() {
		least = 1 // a fifth of the cases
	}
	if calls < least || cuts < least || ends[agent.Done] == 0 || ends[agent.NotDone] == 0 {
		t.Errorf("the test sees too little: %d calls, %d cuts, ends %v", calls, cuts, ends)
	}
}

// The same where the agent is killed again and again, and resumed: and no call runs twice.
func TestNothingRunsTwiceOrUnconfirmedThroughCrashes(t *testing.T) {
	calls := 0
	rapid.Check(t, func(rt *rapid.T) {
		w := &world{T: rt, confirming: rapid.IntRange(0, 3).Draw(rt, "confirming") > 0, judging: true}
		w.live(rapid.IntRange(1, 5).Draw(rt, "deaths"))
		calls += w.count
	})
	if calls < 20 {
		t.Errorf("the test sees too little: %d calls", calls)
	}
}

// Where confirming is off, the gatekeeper's word still holds.
func TestNothingRefusedRunsWithConfirmingOff(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := &world{T: rt, judging: true}
		w.live(0)
	})
}
