//go:build examples

package examples

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/plan"
)

// A planned is a plan's example that runs.
type planned struct {
	*fixture
	p       *process
	session string
}

func say(id, text string) human.Task {
	return task(id, "say", map[string]any{"text": text})
}

func command(id string, args ...string) human.Task {
	return task(id, "run", map[string]any{"command": args})
}

func task(id, tool string, args map[string]any) human.Task {
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err) // texts always can be
	}
	return human.Task{ID: id, Description: "Do " + id, Tool: tool, Args: raw}
}

// plan has an example hand in a plan, and waits until an operator is asked about it.
func (d *fixture) plan(how []string, tasks ...human.Task) (planned, human.Operation) {
	d.t.Helper()
	p := d.run(how, d.planFile(0, tasks...))
	op := d.asked(p)
	q, err := op.PlanQuestion()
	if err != nil || op.Description != "A plan to try" || len(q.Tasks) != len(tasks) {
		d.t.Errorf("it asked with %s %q, %d tasks (%v)", op.Kind, op.Description, len(q.Tasks), err)
	}
	return planned{d, p, op.SessionID}, op
}

func (d *fixture) planFile(seconds float64, tasks ...human.Task) string {
	d.t.Helper()
	all := map[string]any{"message": "A plan to try", "tasks": tasks}
	if seconds > 0 {
		all["timeout_seconds"] = seconds
	}
	raw, err := json.Marshal(all)
	path := filepath.Join(d.work, "plan.json")
	if err == nil {
		err = os.WriteFile(path, raw, 0o600)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return path
}

func (d *fixture) confirming(on bool) {
	d.t.Helper()
	if restart, err := d.operator.SetSettings(d.t.Context(), map[string]any{"plan.confirm_by_human": on}); err != nil || restart {
		d.t.Fatalf("the setting: %v, restart %v", err, restart)
	}
}

func (p planned) respond(r plan.Response) {
	p.t.Helper()
	st, err := p.operator.PlanStatus(p.t.Context(), p.session, 0, 0)
	if err == nil {
		r.Digest = p.get(st.OperationID).Digest
		_, err = p.operator.Respond(p.t.Context(), p.session, r)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p planned) order(o human.Order) {
	p.t.Helper()
	if _, err := p.operator.Order(p.t.Context(), p.session, o); err != nil {
		p.t.Fatal(err)
	}
}

// is waits until a task is in a state.
func (p planned) is(id string, state human.TaskState) {
	p.t.Helper()
	p.wait(fmt.Sprintf("task %s to be %s", id, state), func() bool {
		st, err := p.operator.PlanStatus(p.t.Context(), p.session, 0, 0)
		if err != nil {
			p.t.Fatal(err)
		}
		if st.Run == nil {
			return false
		}
		t, _ := st.Run.Task(id)
		return t.State == state
	})
}

// came checks what came of each task, in order, and how the run stands.
func (p planned) came(run human.PlanRunState, tasks ...string) {
	p.t.Helper()
	st, err := p.operator.PlanStatus(p.t.Context(), p.session, 0, 0)
	if err != nil || st.Run == nil {
		p.t.Fatalf("the plan has no run (%v)", err)
	}
	var got []string
	for _, t := range st.Run.Tasks {
		got = append(got, t.ID+" "+string(t.State))
	}
	if st.Run.State != run || !slices.Equal(got, tasks) {
		p.t.Errorf("the run is %s with %q, not %s with %q", st.Run.State, got, run, tasks)
	}
}

// A gate is a task that runs until it is opened.
type gate struct {
	t    *testing.T
	path string
}

func (d *fixture) gate(name string) (gate, human.Task) {
	d.t.Helper()
	g := gate{d.t, filepath.Join(d.work, name)}
	if err := syscall.Mkfifo(g.path, 0o600); err != nil {
		d.t.Fatal(err)
	}
	return g, command(name, "cat", g.path)
}

func (g gate) open() {
	g.t.Helper()
	f, err := os.OpenFile(g.path, os.O_WRONLY, 0) // waits until the task reads
	if err == nil {
		_, err = io.WriteString(f, "through the gate")
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		g.t.Fatal(err)
	}
}

func TestPlan(t *testing.T) {
	inEach(t, "plan", func(t *testing.T, d *fixture, how []string) {
		d.confirming(true)

		// Confirmed as it is, after a question.
		p, op := d.plan(how, say("a", "one"), command("b", "echo", "two"))
		if got := d.asks(op, "What for?"); got != "I am a small example: all that I know is in the plan." {
			t.Errorf("the agent replied %q", got)
		}
		p.respond(plan.Response{Action: human.ConfirmPlan, Message: "go on"})
		says(t, d.ends(p.p, 0), "plan: "+string(op.ID), "confirmed: go on\n", "says: one\n", "done: a: said\n", "done: b: two\n", "finished\n")
		p.came(human.RunFinished, "a done", "b done")

		// Changed: other words, another order, one more, one less.
		p, _ = d.plan(how, say("a", "one"), say("b", "two"), say("c", "three"))
		p.respond(plan.Response{Action: human.ModifyPlan, Tasks: []human.Task{say("c", "three"), say("a", "uno"), say("", "more")}})
		out := d.ends(p.p, 0)
		says(t, out, "modified: ", "says: three\n", "says: uno\n", "says: more\n", "finished\n")
		saysNot(t, out, "says: one", "says: two")

		// What does not let it run.
		for _, tt := range []struct {
			response plan.Response
			says     string
		}{
			{plan.Response{Action: human.CancelPlan, Message: "not on a Friday"}, "cancelled: not on a Friday\n"},
			{plan.Response{Action: human.ModifyPlan, Message: "say it in Chinese"}, "modified: say it in Chinese\n"},
		} {
			p, _ = d.plan(how, say("a", "one"))
			p.respond(tt.response)
			out := d.ends(p.p, 1)
			says(t, out, tt.says)
			saysNot(t, out, "says:")
		}
		out = d.ends(d.run(how, d.planFile(0.3, say("a", "one"))), 2)
		says(t, out, "timeout: ")
		saysNot(t, out, "says:")

		// A task that fails.
		p, _ = d.plan(how, command("a", "false"), say("b", "two"), say("c", "three"))
		p.respond(plan.Response{Action: human.ConfirmPlan})
		saysNot(t, d.ends(p.p, 1), "says:")
		p.came(human.RunFinished, "a failed", "b skipped", "c skipped")

		// Where nobody has to confirm, nothing is kept.
		d.confirming(false)
		before := len(d.all())
		out = d.ends(d.run(how, d.planFile(0, say("a", "one"), command("b", "echo", "two"))), 0)
		says(t, out, "plan: needs no answer\n", "confirmed: \n", "says: one\n", "done: b: two\n")
		if now := len(d.all()); now != before {
			t.Errorf("%d operations were made", now-before)
		}
	})
}

func TestPlanOrders(t *testing.T) {
	inEach(t, "plan", func(t *testing.T, d *fixture, how []string) {
		d.confirming(true)
		first, a := d.gate("first")
		second, b := d.gate("second")
		p, _ := d.plan(how, a, say("skip", "skipped words"), say("change", "old words"), b, say("last", "last words"))
		p.respond(plan.Response{Action: human.ConfirmPlan})
		p.is("first", human.TaskRunning)
		p.order(human.Order{Kind: human.Skip, Task: "skip", Text: "no need"})
		p.order(human.Order{Kind: human.Pause})
		first.open()
		p.is("first", human.TaskDone)
		p.order(human.Order{Kind: human.Change, Tasks: []human.Task{say("change", "new words"), b, say("last", "last words")}})
		p.order(human.Order{Kind: human.Resume})
		p.is("second", human.TaskRunning)
		p.order(human.Order{Kind: human.Stop, Text: "that is enough"})
		second.open()
		out := d.ends(p.p, 1)
		says(t, out, "done: first: through the gate\n", "says: new words\n", "done: second: through the gate\n", "stopped: ", "that is enough")
		saysNot(t, out, "skipped words", "old words", "last words")
		p.came(human.RunStopped, "first done", "skip skipped", "change done", "second done", "last waiting")
	})
}

func TestPlanTaskByTask(t *testing.T) {
	inEach(t, "plan", func(t *testing.T, d *fixture, how []string) {
		d.confirming(true)
		p, whole := d.plan(how, say("a", "one"), say("b", "two"), say("c", "three"), say("d", "four"))
		p.respond(plan.Response{Action: human.ConfirmPlan, TaskByTask: true})
		one := func(id string, r plan.Response) {
			t.Helper()
			op := d.asked(p.p)
			if id == "d" {
				if got := d.asks(op, "What is it for?"); got != "I am a small example: all that I know is in the plan." {
					t.Errorf("about a task the agent replied %q", got)
				}
			}
			q, err := op.PlanQuestion()
			if err != nil || q.Of != whole.ID || len(q.Tasks) != 1 || q.Tasks[0].ID != id {
				t.Fatalf("it asks about %+v of %s (%v), not about %s", q.Tasks, q.Of, err, id)
			}
			r.Digest = op.Digest
			if _, err := d.operator.Respond(t.Context(), string(op.ID), r); err != nil {
				t.Fatal(err)
			}
			d.wait("its end", func() bool { return d.get(op.ID).State.Terminal() })
		}
		one("a", plan.Response{Action: human.ConfirmPlan})
		one("b", plan.Response{Action: human.ModifyPlan, Tasks: []human.Task{say("b", "zwei")}})
		one("c", plan.Response{Action: human.CancelPlan, Message: "not that one"})
		one("d", plan.Response{Action: human.ConfirmPlan})
		out := d.ends(p.p, 0)
		says(t, out, "says: one\n", "says: zwei\n", "skipped: ", "not that one", "says: four\n", "finished\n")
		saysNot(t, out, "says: two", "says: three")
		p.came(human.RunFinished, "a done", "b done", "c skipped", "d done")
	})
}

// Where the answer to a call is lost on its way, and the call is made again, nothing rings or runs twice.
func TestLostAnswers(t *testing.T) {
	inEach(t, "plan", func(t *testing.T, d *fixture, how []string) {
		d.confirming(true)
		behind := d.url
		d.url = lossy(t, behind)
		p, op := d.plan(how, say("a", "one"), say("b", "two"))
		d.asks(op, "What for?")
		p.respond(plan.Response{Action: human.ConfirmPlan})
		says(t, d.ends(p.p, 0), "says: one\n", "done: a", "says: two\n", "done: b", "finished\n")
		p.came(human.RunFinished, "a done", "b done")

		ask := languages[filepath.Base(t.Name())](t, "ask")
		r := d.run(ask)
		op = d.asked(r)
		d.asks(op, "How many rows?")
		d.approve(op, "yes")
		says(t, d.ends(r, 0), "replied: 48,210", "approved: yes")
		if all := d.all(); len(all) != 2 {
			t.Errorf("there are %d operations", len(all))
		}
	})
}

// lossy passes calls on to a server, and loses the first answer to each POST.
func lossy(t *testing.T, server string) string {
	t.Helper()
	target, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	var lock sync.Mutex
	seen := map[string]int{}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }} // with the server's own Host
	proxy.ModifyResponse = func(res *http.Response) error {
		lock.Lock()
		defer lock.Unlock()
		if res.Request.Method != http.MethodPost {
			return nil
		}
		if seen[res.Request.URL.Path]++; seen[res.Request.URL.Path]%2 == 1 {
			panic(http.ErrAbortHandler)
		}
		return nil
	}
	h := httptest.NewServer(proxy)
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	return h.URL
}
