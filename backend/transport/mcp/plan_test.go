package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/human"
	"deskbell/backend/plan"
	"deskbell/backend/queue"
	mcpserver "deskbell/backend/transport/mcp"
)

// A fixture is a queue with plans, and a client of one agent's.
type fixture struct {
	t     testing.TB
	q     *queue.Queue
	plans *plan.Service
	*client
}

// planner has plans confirmed over a queue.
func planner(q *queue.Queue, o plan.Options) *plan.Service {
	o.Timeout = 5 * time.Minute
	return plan.New(plan.Deps{
		Queue: q, Options: func() plan.Options { return o }, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		NewID: func(prefix string) string { return prefix + "1" },
		Judge: func(_ context.Context, call human.ToolCall) (human.Verdict, error) {
			return human.Verdict{Decision: human.Ask, Risk: human.MediumRisk}, nil
		},
	})
}

var confirming = plan.Options{Confirm: true, Modify: true}

func newFixture(t testing.TB, o plan.Options, version string) *fixture {
	q := open(t)
	plans := planner(q, o)
	c := inMemory(t, mcpserver.ForQueue(q, nil, bot), mcpserver.Options{Plans: agents{plans}, Session: "thread"}, version)
	return &fixture{t, q, plans, c}
}

// agents are plans where the connection is of one agent.
type agents struct{ *plan.Service }

func (a agents) Submit(ctx context.Context, _ human.Actor, s plan.Submission, wait time.Duration) (plan.Status, bool, error) {
	return a.Service.Submit(ctx, bot, s, wait)
}

func (a agents) Status(ctx context.Context, _ human.Actor, session string, wait time.Duration, after uint64) (plan.Status, error) {
	return a.Service.Status(ctx, bot, session, wait, after)
}

func (a agents) Progress(ctx context.Context, _ human.Actor, session string, p human.TaskProgress, wait time.Duration) (plan.Standing, error) {
	return a.Service.Progress(ctx, bot, session, p, wait)
}

// planned is what the tests read of a result.
type planned struct {
	Status, Kind, Auto, Why, Message, Next, Question, By string
	SessionID                                            string            `json:"session_id"`
	OperationID                                          human.OperationID `json:"operation_id"`
	Attached                                             bool
	Go                                                   *bool
	UserMessage                                          string `json:"user_message"`
	Task                                                 *human.Task
	RunState                                             string `json:"run_state"`
	Orders                                               []struct {
		Order, Text, By string
		Task            string `json:"task_id"`
		Changes         []string
	}
	Tasks []struct {
		human.Task
		State, Note string
	}
	Changes, Votes, Cut []string
	Text, Field         string
	NextOffset          int `json:"next_offset"`
	Total               int `json:"total_characters"`

	failed bool
	size   int // of its text, in tokens
}

func (p planned) ids() string {
	var all []string
	for _, t := range p.Tasks {
		all = append(all, strings.TrimSuffix(t.ID+":"+t.State, ":"))
	}
	return strings.Join(all, " ")
}

func (c *client) tryPlan(ctx context.Context, a args, progress chan note) (planned, error) {
	params := &mcp.CallToolParams{Name: "confirm_plan", Arguments: map[string]any(a)}
	if progress != nil {
		c.mu.Lock()
		c.notes["plan"] = progress
		c.mu.Unlock()
		params.SetProgressToken("plan")
	}
	res, err := c.CallTool(ctx, params)
	if err != nil {
		return planned{}, err
	}
	text := res.Content[0].(*mcp.TextContent).Text
	if structured, err := json.Marshal(res.StructuredContent); err != nil || !sameJSON(string(structured), text) {
		c.t.Errorf("the text is %s, the structured content %s, %v", text, structured, err)
	}
	p := planned{failed: res.IsError, size: human.Tokens(text)}
	return p, json.Unmarshal([]byte(text), &p)
}

// plan calls the tool and expects it to work.
func (c *client) plan(a args) planned {
	c.t.Helper()
	p, err := c.tryPlan(context.Background(), a, nil)
	if err != nil || p.failed {
		c.t.Fatalf("%s: %+v %v", a["action"], p, err)
	}
	return p
}

// planning calls it on the side.
func (c *client) planning(a args, progress chan note) <-chan planned {
	done := make(chan planned, 1)
	go func() {
		p, err := c.tryPlan(context.Background(), a, progress)
		if err != nil || p.failed {
			c.t.Errorf("%s: %+v %v", a["action"], p, err)
		}
		done <- p
	}()
	return done
}

// respond answers the plan of the session as Mei.
func (d *fixture) respond(r plan.Response) {
	d.t.Helper()
	st, err := d.plans.Status(context.Background(), mei, "thread", 0, 0)
	if err == nil {
		r.Digest = digest(d.t, d.q, st.OperationID)
		_, err = d.plans.Respond(context.Background(), mei, "thread", r)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *fixture) order(o human.Order) {
	d.t.Helper()
	if _, err := d.plans.Order(context.Background(), mei, "thread", o); err != nil {
		d.t.Fatal(err)
	}
}

// confirmed is a fixture with aPlan confirmed.
func confirmed(t testing.TB, r plan.Response) *fixture {
	d := newFixture(t, confirming, modern)
	done := d.planning(aPlan, nil)
	requested(t, d.q, bot, 1)
	d.respond(r)
	<-done
	return d
}

var aPlan = args{"message": "Mend the build", "tasks": []any{
	map[string]any{"description": "Look", "tool_name": "bash", "args": map[string]any{"command": "make <all>"}},
	map[string]any{"description": "Mend", "tool_name": "edit", "expected_outcome": "It builds"},
	map[string]any{"description": "Try again", "priority": 3},
}}

func TestTheToolForPlansIsListedWherePlansAreConfirmed(t *testing.T) {
	for _, version := range []string{legacy, modern} {
		off := newFixture(t, plan.Options{}, version)
		if list, err := off.ListTools(t.Context(), nil); err != nil || len(list.Tools) != 1 || list.Tools[0].Name != "human" {
			t.Errorf("%+v %v", list, err)
		}
		d := newFixture(t, confirming, version)
		list, err := d.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range list.Tools {
			schema, err := json.Marshal(tool.InputSchema)
			if len(tool.Description) > 2048 || err != nil || strings.Contains(string(schema), ":null") {
				t.Errorf("%s: %d bytes, %s, %v", tool.Name, len(tool.Description), schema, err)
			}
		}
		if len(list.Tools) != 2 || list.Tools[0].Name != "confirm_plan" {
			t.Errorf("%+v", list.Tools)
		}
	}
}

func TestAPlanIsConfirmedAndRuns(t *testing.T) {
	for _, version := range []string{legacy, modern} {
		d := newFixture(t, confirming, version)
		done := d.planning(aPlan, nil)
		op := requested(t, d.q, bot, 1)
		if delivered(t, d.q, op.ID) {
			t.Error("it is delivered before it is answered")
		}
		d.respond(plan.Response{Action: human.ConfirmPlan, Message: "Go"})
		p := <-done
		if p.Status != "confirmed" || p.UserMessage != "Go" || p.By != "Mei" || p.SessionID != "thread" || p.RunState != "waiting" || p.ids() != "t1:waiting t2:waiting t3:waiting" ||
			string(p.Tasks[0].Args) != `{"command":"make <all>"}` || !strings.Contains(p.Next, "action=begin") || !strings.Contains(p.Next, "task_id=t1") {
			t.Errorf("%+v", p)
		}
		until(t, "it counts as delivered", func() (bool, bool) { return true, delivered(t, d.q, op.ID) })
		for i, id := range []string{"t1", "t2", "t3"} {
			p = d.plan(args{"action": "begin", "task_id": id})
			if p.Status != "running" || p.Go == nil || !*p.Go || p.Task == nil || p.Task.ID != id || p.RunState != "running" || !strings.Contains(p.Next, "action=end") {
				t.Errorf("%+v", p)
			}
			if p := d.plan(args{"action": "begin", "task_id": id}); *p.Go || !strings.Contains(p.Next, "started before") || !strings.Contains(p.Next, "action=end") {
				t.Errorf("%+v", p)
			}
			if i == 0 && string(p.Task.Args) != `{"command":"make <all>"}` {
				t.Errorf("%s", p.Task.Args)
			}
			state := []string{"", "failed", "done"}[i]
			p = d.plan(args{"action": "end", "task_id": id, "state": state, "note": "so " + id})
			if p.Status != "ok" || p.Tasks[i].Note != "so "+id {
				t.Errorf("%+v", p)
			}
		}
		if p.RunState != "finished" || p.ids() != "t1:done t2:failed t3:done" || !strings.Contains(p.Next, "nothing") {
			t.Errorf("%+v", p)
		}
		// A task does not run twice.
		again, err := d.tryPlan(t.Context(), args{"action": "begin", "task_id": "t1"}, nil)
		if err != nil || (again.Go != nil && *again.Go) || !strings.Contains(again.Next, "done before") || !strings.Contains(again.Next, "nothing is left") {
			t.Errorf("%+v %v", again, err)
		}
	}
}

func TestAChangedPlanIsToldAsItIsToRun(t *testing.T) {
	d := newFixture(t, confirming, modern)
	done := d.planning(aPlan, nil)
	requested(t, d.q, bot, 1)
	d.respond(plan.Response{Action: human.ModifyPlan, Message: "Carefully", Tasks: []human.Task{
		{ID: "t3", Description: "Try again", Priority: 3}, {ID: "t1", Description: "Look twice", Tool: "bash", Args: json.RawMessage(`{"command":"make one"}`)}, {Description: "Tell me"},
	}})
	p := <-done
	if p.Status != "modified" || p.ids() != "t3:waiting t1:waiting t4:waiting" && !strings.HasPrefix(p.ids(), "t3:waiting t1:waiting t") || p.UserMessage != "Carefully" || !strings.Contains(p.Next, "not as you wrote them") {
		t.Errorf("%+v", p)
	}
	changes := strings.Join(p.Changes, "\n")
	for _, want := range []string{"removed t2 (Mend)", `description was "Look", is "Look twice"`, "added", "moved"} {
		if !strings.Contains(changes, want) {
			t.Errorf("%q is not in %s", want, changes)
		}
	}
	// What the human took out does not begin.
	gone, err := d.tryPlan(t.Context(), args{"action": "begin", "task_id": "t2"}, nil)
	if err != nil || gone.Go == nil || *gone.Go || gone.Status == "running" || strings.Contains(gone.Next, "task_id=t2") {
		t.Errorf("%+v %v", gone, err)
	}
	if p := d.plan(args{"action": "begin", "task_id": "t1"}); !*p.Go || string(p.Task.Args) != `{"command":"make one"}` || p.Task.Description != "Look twice" {
		t.Errorf("%+v", p)
	}
}

// The tool human does not say yes to a plan that was changed.
func TestAPlanIsReadAsAPlan(t *testing.T) {
	d := newFixture(t, confirming, modern)
	id := d.plan(aPlan.with(args{"wait_seconds": 0})).OperationID
	d.respond(plan.Response{Action: human.ModifyPlan, Tasks: []human.Task{{Description: "Something else"}}})
	if r := d.use(args{"action": "wait", "operation_id": id}); r.Decision != "" || !strings.Contains(r.Next, "confirm_plan") {
		t.Errorf("%+v", r)
	}
}

func TestAPlanThatMustNotRun(t *testing.T) {
	for name, tt := range map[string]struct {
		r            plan.Response
		status, next string
	}{
		"cancelled":        {plan.Response{Action: human.CancelPlan, Message: "Not today"}, "cancelled", "do none of it"},
		"changed in words": {plan.Response{Action: human.ModifyPlan, Message: "Ask Ada first"}, "modified", "make a new plan"},
	} {
		d := newFixture(t, confirming, legacy)
		done := d.planning(aPlan, nil)
		requested(t, d.q, bot, 1)
		d.respond(tt.r)
		if p := <-done; p.Status != tt.status || len(p.Tasks) != 0 || p.UserMessage != tt.r.Message || !strings.Contains(p.Next, tt.next) {
			t.Errorf("%s: %+v", name, p)
		}
		p, err := d.tryPlan(t.Context(), args{"action": "begin", "task_id": "t1"}, nil)
		if err != nil || !p.failed || p.Kind != "conflict" {
			t.Errorf("%s: %+v %v", name, p, err)
		}
	}
}

func TestAPlanWaitsAsLongAsItsClientDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, confirming, modern)
		began := time.Now()
		p := d.plan(aPlan)
		if took := time.Since(began); p.Status != "pending" || took != 45*time.Second || p.Attached || !strings.Contains(p.Next, "action=wait") {
			t.Errorf("%+v after %s", p, took)
		}
		// The same plan again joins, and no one is asked twice.
		p = d.plan(aPlan.with(args{"wait_seconds": 0}))
		if !p.Attached || p.Status != "pending" {
			t.Errorf("%+v", p)
		}
		requested(t, d.q, bot, 1)
		notes := make(chan note, 100)
		done := d.planning(args{"action": "wait"}, notes)
		pass(3 * time.Minute)
		d.respond(plan.Response{Action: human.ConfirmPlan})
		if p := <-done; p.Status != "confirmed" {
			t.Errorf("%+v", p)
		}
		synctest.Wait() // notes may come after the result
		close(notes)
		n, last := 0, 0.0
		for one := range notes {
			if n++; one.Number <= last {
				t.Errorf("%+v after %v", one, last)
			}
			last = one.Number
		}
		if n < 12 || n > 14 {
			t.Errorf("%d notes", n)
		}
	})
}

func TestNobodyAnswersAPlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, confirming, modern)
		began := time.Now()
		p := <-d.planning(aPlan.with(args{"timeout_seconds": 100}), make(chan note, 100))
		if p.Status != "timeout" || time.Since(began) > 102*time.Second || len(p.Tasks) != 0 || !strings.Contains(p.Next, "no one answered") {
			t.Errorf("%+v after %s", p, time.Since(began))
		}
	})
}

func TestAnOperatorAsksAboutAPlan(t *testing.T) {
	d := newFixture(t, confirming, modern)
	done := d.planning(aPlan, nil)
	op := requested(t, d.q, bot, 1)
	if _, err := d.q.Reply(t.Context(), mei, op.ID, "Which branch?"); err != nil {
		t.Fatal(err)
	}
	p := <-done
	if p.Status != "waiting_input" || p.Question != "Which branch?" || !strings.Contains(p.Next, "action=reply") || delivered(t, d.q, op.ID) {
		t.Errorf("%+v", p)
	}
	done = d.planning(args{"action": "reply", "text": "main"}, nil)
	until(t, "the reply is there", func() (bool, bool) {
		now, err := d.q.Get(t.Context(), mei, op.ID)
		return true, err == nil && now.State != human.WaitingInput
	})
	d.respond(plan.Response{Action: human.ConfirmPlan})
	if p := <-done; p.Status != "confirmed" || p.Question != "" {
		t.Errorf("%+v", p)
	}
	if p, err := d.tryPlan(t.Context(), args{"action": "reply"}, nil); err != nil || p.Field != "text" {
		t.Errorf("%+v %v", p, err)
	}
}

func TestOrdersReachTheAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := confirmed(t, plan.Response{Action: human.ConfirmPlan})
		d.order(human.Order{Kind: human.Pause, Text: "Lunch"})
		began := time.Now()
		p := d.plan(args{"action": "begin", "task_id": "t1"})
		if p.Status != "pending" || *p.Go || p.Why != "paused" || time.Since(began) != 45*time.Second || p.RunState != "paused" ||
			len(p.Orders) != 1 || p.Orders[0].Order != "pause" || p.Orders[0].Text != "Lunch" || p.Orders[0].By != "Mei" {
			t.Errorf("%+v after %s", p, time.Since(began))
		}
		done := d.planning(args{"action": "begin", "task_id": "t1"}, make(chan note, 100))
		pass(2 * time.Minute)
		d.order(human.Order{Kind: human.Resume})
		if p := <-done; !*p.Go || p.Task.ID != "t1" || len(p.Orders) != 2 {
			t.Errorf("%+v", p)
		}
		d.order(human.Order{Kind: human.Skip, Task: "t2", Text: "No need"})
		p = d.plan(args{"action": "end", "task_id": "t1"})
		if p.ids() != "t1:done t2:skipped t3:waiting" || p.Orders[2].Order != "skip" || p.Orders[2].Task != "t2" || !strings.Contains(p.Next, "task_id=t3") {
			t.Errorf("%+v", p)
		}
		p = d.plan(args{"action": "begin", "task_id": "t2"})
		if *p.Go || p.Status != "skipped" || !strings.Contains(p.Next, "task_id=t3") {
			t.Errorf("%+v", p)
		}
		d.order(human.Order{Kind: human.Change, Tasks: []human.Task{{ID: "new", Description: "Something else"}}})
		p = d.plan(args{"action": "begin", "task_id": "t3"})
		if *p.Go || p.Status != "changed" || !strings.Contains(p.Next, "task_id=new") || len(p.Orders[3].Changes) == 0 {
			t.Errorf("%+v", p)
		}
		d.order(human.Order{Kind: human.Stop, Text: "Enough"})
		p = d.plan(args{"action": "begin", "task_id": "new"})
		if *p.Go || p.Status != "stopped" || !strings.Contains(p.Next, "do no more") || p.Orders[4].Text != "Enough" {
			t.Errorf("%+v", p)
		}
		if p = d.plan(args{"action": "check"}); p.RunState != "stopped" || len(p.Orders) != 5 || !strings.Contains(p.Next, "nothing") {
			t.Errorf("%+v", p)
		}
	})
}

func TestTaskByTask(t *testing.T) {
	d := confirmed(t, plan.Response{Action: human.ConfirmPlan, TaskByTask: true})
	one := func() human.Operation {
		return until(t, "a task is asked about", func() (human.Operation, bool) {
			page, err := d.q.List(t.Context(), mei, queue.Filter{Open: true})
			if err != nil || len(page.Operations) != 1 {
				return human.Operation{}, false
			}
			return page.Operations[0], true
		})
	}
	done := d.planning(args{"action": "begin", "task_id": "t1"}, nil)
	op := one()
	if _, err := d.q.Reply(t.Context(), mei, op.ID, "Why this one?"); err != nil {
		t.Fatal(err)
	}
	p := <-done
	if p.Status != "waiting_input" || p.Question != "Why this one?" || *p.Go || !strings.Contains(p.Next, "action=begin") {
		t.Errorf("%+v", p)
	}
	done = d.planning(args{"action": "begin", "task_id": "t1", "text": "It comes first"}, nil)
	until(t, "the reply is there", func() (bool, bool) {
		now, err := d.q.Get(t.Context(), mei, op.ID)
		return true, err == nil && now.State != human.WaitingInput
	})
	answer := func(r plan.Response) {
		r.Digest = one().Digest
		if _, err := d.plans.Respond(t.Context(), mei, string(one().ID), r); err != nil {
			t.Fatal(err)
		}
	}
	answer(plan.Response{Action: human.ConfirmPlan})
	if p := <-done; !*p.Go || p.Task.ID != "t1" {
		t.Errorf("%+v", p)
	}
	d.plan(args{"action": "end", "task_id": "t1"})
	done = d.planning(args{"action": "begin", "task_id": "t2"}, nil)
	answer(plan.Response{Action: human.CancelPlan, Message: "Not that"})
	if p := <-done; *p.Go || p.Status != "skipped" || !strings.Contains(p.Next, "task_id=t3") {
		t.Errorf("%+v", p)
	}
	done = d.planning(args{"action": "begin", "task_id": "t3"}, nil)
	answer(plan.Response{Action: human.ModifyPlan, Tasks: []human.Task{{ID: "t3", Description: "Try once"}}})
	if p := <-done; !*p.Go || p.Task.Description != "Try once" {
		t.Errorf("%+v", p)
	}
}

func TestWithoutConfirmingNothingIsAskedAndNothingIsKept(t *testing.T) {
	d := newFixture(t, plan.Options{}, modern)
	p := d.plan(aPlan)
	if p.Status != "confirmed" || p.Auto != "off" || p.OperationID != "" || p.ids() != "t1 t2 t3" || !strings.Contains(p.Next, "not needed") {
		t.Errorf("%+v", p)
	}
	if page, err := d.q.List(t.Context(), mei, queue.Filter{}); err != nil || len(page.Operations) != 0 {
		t.Errorf("%+v %v", page, err)
	}
}

func TestBigPlansAreCutAndCanBeReadWhole(t *testing.T) {
	d := newFixture(t, confirming, modern)
	var tasks []any
	for i := range 200 {
		tasks = append(tasks, map[string]any{"description": fmt.Sprintf("%d %s", i, strings.Repeat("long <words> ", 60)), "tool_name": "bash", "args": map[string]any{"command": strings.Repeat("x", 1000)}})
	}
	tasks[0].(map[string]any)["args"] = map[string]any{"content": strings.Repeat("长 \"y\"", 10000)}
	big := args{"message": "Much", "tasks": tasks}
	done := d.planning(big, nil)
	requested(t, d.q, bot, 1)
	d.respond(plan.Response{Action: human.ConfirmPlan, Message: strings.Repeat("Mind this. ", 1400)})
	p := <-done
	if p.size > 12000 || p.size < 8000 || len(p.Tasks) < 20 || p.Tasks[0].ID != "t1" || len(p.Cut) < 2 || !strings.Contains(p.Cut[0], "task_id") || !strings.HasPrefix(p.UserMessage, "Mind this.") || p.Next == "" {
		t.Errorf("%d tokens, %d tasks, cut %q, next %q", p.size, len(p.Tasks), p.Cut, p.Next)
	}
	p = d.plan(args{"action": "begin", "task_id": "t1"})
	if p.size > 12000 || !*p.Go || p.Task == nil || p.Task.Args != nil || !slices.ContainsFunc(p.Cut, func(l string) bool { return strings.Contains(l, "read all of it") }) {
		t.Errorf("%d tokens, cut %q", p.size, p.Cut)
	}
	whole, offset := "", 0
	for range 100 {
		part := d.plan(args{"action": "check", "task_id": "t1", "offset": offset})
		if part.size > 12000 {
			t.Fatalf("%d tokens", part.size)
		}
		whole += part.Text
		if offset = part.NextOffset; offset == 0 {
			break
		}
	}
	var task human.Task
	if err := json.Unmarshal([]byte(whole), &task); err != nil || task.ID != "t1" || len(task.Args) < 60000 {
		t.Errorf("%d bytes of args, %v", len(task.Args), err)
	}
	if p := d.plan(args{"action": "check", "max_tokens": 400}); p.size > 400 || p.Status != "confirmed" || p.Next == "" {
		t.Errorf("%d tokens: %+v", p.size, p)
	}
}

func TestWhatModelsMakeOfTasks(t *testing.T) {
	d := newFixture(t, plan.Options{}, modern)
	for name, tt := range map[string]struct {
		tasks any
		want  string // of the tasks, as JSON; or the field at fault
	}{
		"texts":        {[]any{"Look", "Mend"}, `[{"id":"t1","description":"Look"},{"id":"t2","description":"Mend"}]`},
		"a text":       {`[{"id":1,"description":"Look","tool":"bash","priority":"2","args":"{\"a\": 1}"}]`, `[{"id":"1","description":"Look","tool_name":"bash","priority":2,"args":{"a":1}}]`},
		"null":         {[]any{map[string]any{"id": nil, "description": "Look", "args": nil}}, `[{"id":"t1","description":"Look"}]`},
		"none":         {[]any{}, "tasks"},
		"no list":      {map[string]any{"description": "Look"}, "tasks"},
		"another word": {[]any{map[string]any{"title": "Look"}}, "tasks"},
		"half a task":  {[]any{map[string]any{"description": "Look", "priority": 1.5}}, "tasks"},
	} {
		p, err := d.tryPlan(t.Context(), args{"message": "x", "tasks": tt.tasks}, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		if !strings.HasPrefix(tt.want, "[") {
			if name == "another word" && !strings.Contains(p.Message, "a task has id, description") {
				t.Errorf("%s: %s", name, p.Message)
			}
			if !p.failed || p.Field != tt.want || p.Kind != "invalid" {
				t.Errorf("%s: %+v", name, p)
			}
			continue
		}
		var tasks []human.Task
		for _, t := range p.Tasks {
			tasks = append(tasks, t.Task)
		}
		if got, err := json.Marshal(tasks); err != nil || !sameJSON(string(got), tt.want) {
			t.Errorf("%s: %s %v", name, got, err)
		}
	}
	for field, a := range map[string]args{
		"action":       {"action": "confirm"},
		"task_id":      {"action": "begin"},
		"state":        {"action": "end", "task_id": "t1", "state": "running"},
		"wait_seconds": {"action": "wait", "wait_seconds": -1},
		"priority":     {"tasks": []any{"x"}, "priority": 1.5},
		"later":        {"later": 1},
	} {
		if p, err := d.tryPlan(t.Context(), a, nil); err != nil || !p.failed || p.Field != field {
			t.Errorf("%v: %+v %v", a, p, err)
		}
	}
}

// gone is a planner that is away for so many calls.
type gone struct {
	mcpserver.Planner
	calls int
}

func (g *gone) Submit(ctx context.Context, by human.Actor, s plan.Submission, wait time.Duration) (plan.Status, bool, error) {
	if g.calls--; g.calls >= 0 {
		return plan.Status{}, false, human.Errorf(human.Unavailable, "it is away")
	}
	return g.Planner.Submit(ctx, by, s, wait)
}

func TestAPlanSurvivesARestartOfTheApp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := open(t)
		g := &gone{Planner: agents{planner(q, confirming)}, calls: 3}
		c := inMemory(t, mcpserver.ForQueue(q, nil, bot), mcpserver.Options{Plans: g, Session: "thread"}, modern)
		if p := c.plan(aPlan.with(args{"wait_seconds": 0})); p.Status != "pending" {
			t.Errorf("%+v", p)
		}
		g.calls = 100
		p, err := c.tryPlan(t.Context(), aPlan, nil)
		if err != nil || p.Kind != "unavailable" || !strings.Contains(p.Next, "do none of a plan") {
			t.Errorf("%+v %v", p, err)
		}
	})
}

func TestPlansOverHTTPAreTheirAgents(t *testing.T) {
	q := open(t)
	s, h := serve(t, q, mcpserver.Options{Plans: planner(q, confirming)})
	c := overHTTP(t, s, "dbk_bot", modern)
	first := c.plan(aPlan.with(args{"wait_seconds": 0}))
	if !strings.HasPrefix(first.SessionID, "plan-") || !strings.Contains(first.Next, first.SessionID) {
		t.Errorf("%+v", first)
	}
	// A connection without sessions finds its plan by the plan, or by its name.
	if p := overHTTP(t, s, "dbk_bot", modern).plan(aPlan.with(args{"wait_seconds": 0})); !p.Attached || p.OperationID != first.OperationID {
		t.Errorf("%+v", p)
	}
	if p, err := c.tryPlan(t.Context(), args{"action": "check"}, nil); err != nil || p.Field != "session_id" {
		t.Errorf("%+v %v", p, err)
	}
	stranger := overHTTP(t, s, "dbk_other", modern)
	for _, name := range []string{first.SessionID, string(first.OperationID)} {
		if p := c.plan(args{"action": "check", "session_id": name}); p.Status != "pending" || p.OperationID != first.OperationID {
			t.Errorf("%+v", p)
		}
		if p, err := stranger.tryPlan(t.Context(), args{"action": "check", "session_id": name}, nil); err != nil || p.Kind != "not_found" {
			t.Errorf("%+v %v", p, err)
		}
	}
	notes := make(chan note, 10)
	done := c.planning(args{"action": "wait", "session_id": first.SessionID}, notes)
	<-notes
	h.EndWaits()
	if p := <-done; p.Status != "pending" || !strings.Contains(p.Message, "closing") {
		t.Errorf("%+v", p)
	}
}

func TestAClientThatLeavesEndsItsCallAndNotItsPlan(t *testing.T) {
	d := newFixture(t, confirming, legacy)
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := d.tryPlan(ctx, aPlan, nil)
		ended <- err
	}()
	op := requested(t, d.q, bot, 1)
	until(t, "it waits", func() (bool, bool) { return true, d.q.PresenceOf(op.ID).Waiting })
	leave()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	until(t, "nobody waits", func() (bool, bool) { return true, !d.q.PresenceOf(op.ID).Waiting })
	d.respond(plan.Response{Action: human.ConfirmPlan})
	if delivered(t, d.q, op.ID) {
		t.Error("an answer nobody read counts as delivered")
	}
	// The same plan again hears it, and rings no one.
	if p := d.plan(aPlan); p.Status != "confirmed" || !p.Attached || p.OperationID != op.ID {
		t.Errorf("%+v", p)
	}
}

func TestAnAgentTakesItsPlanBack(t *testing.T) {
	d := newFixture(t, confirming, modern)
	d.plan(aPlan.with(args{"wait_seconds": 0}))
	if p := d.plan(args{"action": "cancel", "reason": "I know better"}); p.Status != "cancelled" {
		t.Errorf("%+v", p)
	}
	second := d.plan(aPlan.with(args{"message": "Again", "wait_seconds": 0, "why": "It failed"}))
	third := d.plan(aPlan.with(args{"message": "Once more", "wait_seconds": 0}))
	if second.Attached || third.Attached || second.OperationID == third.OperationID {
		t.Errorf("%+v %+v", second, third)
	}
	if op := requested(t, d.q, bot, 1); op.ID != third.OperationID {
		t.Errorf("%s waits, not %s", op.ID, third.OperationID)
	}
}

// A plan that is confirmed cannot be withdrawn; its agent leaves the tasks that wait, and the result says how.
func TestAConfirmedPlanIsLeftTaskByTask(t *testing.T) {
	d := confirmed(t, plan.Response{Action: human.ConfirmPlan})
	for says, a := range map[string]args{
		"state=skipped":                {"action": "cancel", "reason": "I know better"},
		"running first":                {"action": "end", "task_id": "t1"},
		"has no confirmed task \"t9\"": {"action": "end", "task_id": "t9"},
	} {
		if p, err := d.tryPlan(t.Context(), a, nil); err != nil || !p.failed || !strings.Contains(p.Message, says) {
			t.Errorf("%+v %v, which does not say %q", p, err, says)
		}
	}
	for _, id := range []string{"t1", "t2"} {
		d.plan(args{"action": "end", "task_id": id, "state": "skipped"})
	}
	if p := d.plan(args{"action": "end", "task_id": "t3", "state": "skipped"}); p.RunState != "finished" {
		t.Errorf("%+v", p)
	}
}
