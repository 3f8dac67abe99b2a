package plan_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"deskbell/backend/human"
	"deskbell/backend/plan"
	"deskbell/backend/queue"
	"deskbell/backend/store/sqlite"
)

var (
	bot = human.Actor{Role: human.Agent, Name: "migrator"}
	ada = human.Actor{Role: human.Operator, Name: "ada"}
	mei = human.Actor{Role: human.Operator, Name: "Mei"}
)

// A fixture is plans over a real queue and a real SQLite file.
type fixture struct {
	*plan.Service
	t     testing.TB
	queue *queue.Queue
	store *sqlite.Store
	mu    sync.Mutex
	opts  plan.Options
	close func()
}

// verdicts is the gatekeeper of these tests: by the tool's name.
func verdicts(_ context.Context, call human.ToolCall) (human.Verdict, error) {
	switch call.Tool {
	case "read_file", "grep":
		return human.Verdict{Risk: human.NoRisk, Decision: human.Allow}, nil
	case "write_file":
		return human.Verdict{Risk: human.LowRisk, Decision: human.Allow, Effects: []human.Effect{{Verb: human.FilesystemWrite, Risk: human.LowRisk, Resource: "a"}}}, nil
	case "broken":
		return human.Verdict{}, human.Errorf(human.Internal, "no gatekeeper")
	}
	return human.Verdict{Risk: human.HighRisk, Decision: human.Ask, Reason: "It deletes files.", Effects: []human.Effect{{Verb: human.FilesystemDelete, Risk: human.HighRisk}}}, nil
}

func openFixture(t testing.TB, dir string, opts plan.Options) *fixture {
	t.Helper()
	ctx := context.Background()
	store, err := sqlite.Open(ctx, dir, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	d := &fixture{t: t, store: store, queue: queue.New(store, store, queue.Options{MaxPending: 1000, Log: log}), opts: opts}
	if err := d.queue.Load(ctx); err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { _ = d.queue.Run(running) })
	d.close = sync.OnceFunc(func() {
		stop()
		wg.Wait()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	var n atomic.Int64
	d.Service = plan.New(plan.Deps{
		Queue: d.queue, Store: store.Plans(), Judge: verdicts, Now: time.Now, Log: log,
		NewID: func(prefix string) string { return fmt.Sprint(prefix, n.Add(1)) },
		Options: func() plan.Options {
			d.mu.Lock()
			defer d.mu.Unlock()
			return d.opts
		},
	})
	return d
}

func newFixture(t testing.TB, change func(*plan.Options)) *fixture {
	opts := plan.Options{Confirm: true, Timeout: time.Hour, Modify: true}
	if change != nil {
		change(&opts)
	}
	d := openFixture(t, t.TempDir(), opts)
	t.Cleanup(d.close)
	return d
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func wantKind(t testing.TB, err error, want human.ErrorKind, says string) {
	t.Helper()
	if err == nil || human.KindOf(err) != want || !strings.Contains(err.Error(), says) {
		t.Errorf("error %v, want kind %d that says %q", err, want, says)
	}
}

func task(id, description, tool string) human.Task {
	return human.Task{ID: id, Description: description, Tool: tool}
}

var three = []human.Task{task("a", "Dump the database", "pg_dump"), task("b", "Set it read-only", "psql"), task("c", "Report", "write_file")}

func (d *fixture) submit(session string, tasks ...human.Task) plan.Status {
	d.t.Helper()
	st, created, err := d.Submit(d.t.Context(), bot, plan.Submission{SessionID: session, Message: "Move the billing database", Tasks: tasks}, 0)
	if err != nil || !created {
		d.t.Fatalf("submit: created %t, %v", created, err)
	}
	return st
}

// Respond answers the plan as it is now, unless the response says for which it is.
func (d *fixture) Respond(ctx context.Context, by human.Actor, session string, r plan.Response) (plan.Status, error) {
	if st, err := d.Status(ctx, by, session, 0, 0); err == nil && r.Digest == "" && by.Role == human.Operator {
		r.Digest = d.digest(st.OperationID)
	}
	return d.Service.Respond(ctx, by, session, r)
}

func (d *fixture) digest(id human.OperationID) string {
	d.t.Helper()
	return must[human.Operation](d.t)(d.queue.Get(context.Background(), ada, id)).Digest
}

func (d *fixture) respond(by human.Actor, session string, r plan.Response) plan.Status {
	d.t.Helper()
	return must[plan.Status](d.t)(d.Respond(d.t.Context(), by, session, r))
}

func (d *fixture) progress(session, task string, state human.TaskState) plan.Standing {
	d.t.Helper()
	return must[plan.Standing](d.t)(d.Progress(d.t.Context(), bot, session, human.TaskProgress{Task: task, State: state}, 0))
}

// P2, P4: what a plan comes to.
func TestSubmit(t *testing.T) {
	d := newFixture(t, nil)
	st := d.submit("s", human.Task{Description: "Look", Tool: "read_file"}, human.Task{Description: "Delete", Tool: "bash", Args: json.RawMessage(` {"command": "rm -rf build"} `)}, human.Task{Description: "Think"})
	if st.Status != human.PlanPending || st.Version != 1 || st.ExpiresAt == nil || st.ExpiresAt.Sub(st.CreatedAt) != time.Hour {
		t.Errorf("status %+v", st)
	}
	sum := st.Summary
	if sum.Total != 3 || sum.Writes != 1 || sum.Risk != human.HighRisk || sum.Tasks[0].Risk != human.NoRisk || sum.Tasks[2].Risk != human.LowRisk || !sum.Tasks[1].Asked || sum.Tasks[1].Index != 2 {
		t.Errorf("summary %+v", sum)
	}
	op := must[human.Operation](t)(d.queue.Get(t.Context(), ada, st.OperationID))
	q := must[human.PlanQuestion](t)(op.PlanQuestion())
	if op.Kind != human.Plan || op.Risk != human.HighRisk || op.OnTimeout != human.Cancel || q.Tasks[0].ID != "t1" || string(q.Tasks[1].Args) != `{"command":"rm -rf build"}` || len(q.Options) != 3 {
		t.Errorf("operation %+v, %+v", op, q)
	}
	// A task that cannot be judged counts as dangerous.
	st = d.submit("broken", task("", "x", "broken"))
	if st.Summary.Risk != human.HighRisk || !st.Summary.Tasks[0].Asked {
		t.Errorf("without a verdict: %+v", st.Summary)
	}
}

func TestBadPlans(t *testing.T) {
	d := newFixture(t, nil)
	many := make([]human.Task, 201)
	for i := range many {
		many[i].Description = "x"
	}
	ok := plan.Submission{SessionID: "s", Message: "m", Tasks: three}
	for name, c := range map[string]struct {
		change func(*plan.Submission)
		says   string
	}{
		"no session":         {func(s *plan.Submission) { s.SessionID = " " }, "session_id"},
		"an operation's id":  {func(s *plan.Submission) { s.SessionID = "op_x" }, "begins with op_"},
		"a long session":     {func(s *plan.Submission) { s.SessionID = strings.Repeat("x", 300) }, "session_id: is 300 bytes long"},
		"a long why":         {func(s *plan.Submission) { s.Why = strings.Repeat("x", 70_000) }, "why: is 70000 bytes long"},
		"no message":         {func(s *plan.Submission) { s.Message = "" }, "message"},
		"no tasks":           {func(s *plan.Submission) { s.Tasks = nil }, "one task"},
		"too many tasks":     {func(s *plan.Submission) { s.Tasks = many }, "201"},
		"no description":     {func(s *plan.Submission) { s.Tasks = []human.Task{{Tool: "bash"}} }, "task 1 has no description"},
		"the same id twice":  {func(s *plan.Submission) { s.Tasks = []human.Task{task("x", "a", ""), task("x", "b", "")} }, `"x"`},
		"args are a list":    {func(s *plan.Submission) { s.Tasks = []human.Task{{Description: "a", Args: json.RawMessage(`[1]`)}} }, "args of task 1"},
		"args are half JSON": {func(s *plan.Submission) { s.Tasks = []human.Task{{Description: "a", Args: json.RawMessage(`{"a`)}} }, "args of task 1"},
		"a negative timeout": {func(s *plan.Submission) { s.Timeout = -1 }, "timeout_seconds"},
		"too many operators": {func(s *plan.Submission) { s.Confirmations = 10 }, "confirmations"},
		"a long description": {func(s *plan.Submission) { s.Tasks = []human.Task{task("x", strings.Repeat("x", 9000), "")} }, "the limit is 8192"},
	} {
		s := ok
		c.change(&s)
		_, _, err := d.Submit(t.Context(), bot, s, 0)
		if human.KindOf(err) != human.Invalid || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if head := must[uint64](t)(d.queue.Head(t.Context())); head != 0 {
		t.Errorf("%d events were written", head)
	}
}

// P8: off, nothing is asked and nothing is written.
func TestConfirmingOff(t *testing.T) {
	d := newFixture(t, func(o *plan.Options) { o.Confirm = false })
	st, created, err := d.Submit(t.Context(), bot, plan.Submission{SessionID: "s", Message: "m", Tasks: three}, time.Minute)
	if err != nil || created || st.Status != human.PlanConfirmed || st.Auto != "off" || len(st.Tasks) != 3 || st.OperationID != "" {
		t.Errorf("%+v, %v", st, err)
	}
	if head := must[uint64](t)(d.queue.Head(t.Context())); head != 0 {
		t.Errorf("%d events were written", head)
	}
	_, err = d.Status(t.Context(), bot, "s", 0, 0)
	wantKind(t, err, human.NotFound, "s")
}

// P1: safe plans are confirmed by themselves where the settings say so, are marked, and ring no one.
func TestSafePlans(t *testing.T) {
	d := newFixture(t, func(o *plan.Options) { o.AutoSafe = true })
	st := d.submit("safe", task("", "Look", "read_file"), task("", "Find", "grep"))
	if st.Status != human.PlanConfirmed || st.Auto != "safe" || len(st.Tasks) != 2 || st.Run == nil {
		t.Errorf("safe: %+v", st)
	}
	if n := d.queue.Pending() + d.queue.PendingOf(bot.Name); n != 0 {
		t.Errorf("%d are open", n)
	}
	op := must[human.Operation](t)(d.queue.Get(t.Context(), ada, st.OperationID))
	if op.Result.By.Role != human.System || !op.Result.Plan.Auto {
		t.Errorf("marked as %+v", op.Result)
	}
	if st = d.submit("writes", task("", "Write", "write_file")); st.Status != human.PlanPending {
		t.Errorf("one that writes is %s", st.Status)
	}
	if st = d.submit("no tool", task("", "Delete everything", "")); st.Status != human.PlanPending {
		t.Errorf("one that names no tool is %s", st.Status)
	}
	if st = d.submit("dangerous", task("", "Look", "read_file"), task("", "Delete", "bash")); st.Status != human.PlanPending {
		t.Errorf("a dangerous one is %s", st.Status)
	}
	d.mu.Lock()
	d.opts.Operators = []string{"Mei"}
	d.mu.Unlock()
	if st = d.submit("together", task("", "Look", "read_file")); st.Status != human.PlanPending {
		t.Errorf("one that needs Mei is %s", st.Status)
	}
}

// P3: a plan that no one answers is canceled, and the agent learns it.
func TestTimeout(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		d := openFixture(t, dir, plan.Options{Confirm: true, Timeout: time.Hour, Modify: true})
		defer d.close()
		st, _, err := d.Submit(t.Context(), bot, plan.Submission{SessionID: "s", Message: "m", Tasks: three, Timeout: 40}, time.Minute)
		if err != nil || st.Status != human.PlanTimeout || len(st.Tasks) != 0 || st.Run != nil || !strings.Contains(st.Message, "No operator answered in time") {
			t.Errorf("%+v, %v", st, err)
		}
		_, err = d.Respond(t.Context(), ada, "s", plan.Response{Action: human.ConfirmPlan})
		wantKind(t, err, human.Conflict, "canceled")
		_, err = d.Progress(t.Context(), bot, "s", human.TaskProgress{Task: "a", State: human.TaskRunning}, 0)
		wantKind(t, err, human.Conflict, "timeout")
	})
}

// The same plan again joins; another one takes its place.
func TestTheSamePlanAgain(t *testing.T) {
	d := newFixture(t, nil)
	first := d.submit("s", three...)
	again, created, err := d.Submit(t.Context(), bot, plan.Submission{SessionID: "s", Message: "Move the billing database", Tasks: three}, 0)
	if err != nil || created || again.OperationID != first.OperationID {
		t.Errorf("again: %+v, %t, %v", again, created, err)
	}
	next := d.submit("s", three[0])
	if next.OperationID == first.OperationID {
		t.Fatal("another plan joined")
	}
	old := must[plan.Status](t)(d.Status(t.Context(), ada, string(first.OperationID), 0, 0))
	if old.Status != human.PlanCancelled || !strings.Contains(old.Response.Message, "another plan") {
		t.Errorf("the old one is %+v", old)
	}
	q := must[human.PlanQuestion](t)(must[human.Operation](t)(d.queue.Get(t.Context(), ada, next.OperationID)).PlanQuestion())
	if q.Replaces != first.OperationID {
		t.Errorf("replaces %q", q.Replaces)
	}
	d.respond(ada, "s", plan.Response{Action: human.ConfirmPlan})
	// Its end was not read yet: a client that comes back hears it, and no one is asked twice.
	back, created, err := d.Submit(t.Context(), bot, plan.Submission{SessionID: "s", Message: "Move the billing database", Tasks: three[:1]}, 0)
	if err != nil || created || back.Status != human.PlanConfirmed {
		t.Errorf("back: %+v, %t, %v", back, created, err)
	}
	if running, created, err := d.Submit(t.Context(), bot, plan.Submission{SessionID: "s", Message: "Move the billing database", Tasks: three[:1]}, 0); err != nil || created || running.OperationID != back.OperationID {
		t.Errorf("while it may run: %+v, %t, %v", running, created, err)
	}
	d.progress("s", "a", human.TaskRunning)
	d.progress("s", "a", human.TaskDone)
	if told, created, err := d.Submit(t.Context(), bot, plan.Submission{SessionID: "s", Message: "Move the billing database", Tasks: three[:1]}, 0); err != nil || created || !told.Unread {
		t.Errorf("over, and nobody said that its end was read: %+v, %t, %v", told, created, err)
	}
	if err := d.queue.MarkDelivered(t.Context(), bot, back.OperationID); err != nil {
		t.Fatal(err)
	}
	if anew := d.submit("s", three[0]); anew.OperationID == back.OperationID {
		t.Error("a plan whose end was read was joined")
	}
	other := human.Actor{Role: human.Agent, Name: "other"}
	_, err = d.Status(t.Context(), other, "s", 0, 0)
	wantKind(t, err, human.NotFound, "s")
	_, err = d.Status(t.Context(), other, string(first.OperationID), 0, 0)
	wantKind(t, err, human.NotFound, string(first.OperationID))
	_, err = d.Status(t.Context(), bot, "", 0, 0)
	wantKind(t, err, human.Invalid, "session_id")
	key := plan.Submission{SessionID: "k", Message: "m", Tasks: three, IdempotencyKey: "one"}
	a, _, err := d.Submit(t.Context(), bot, key, 0)
	must[plan.Status](t)(a, err)
	retold := key
	retold.Tasks = three[:1] // said in other words by a client that comes back: it is the same plan by its key
	if b, created, err := d.Submit(t.Context(), bot, retold, 0); err != nil || created || b.OperationID != a.OperationID || b.Status != human.PlanPending {
		t.Errorf("by its key, in other words: %+v, %t, %v", b, created, err)
	}
	d.respond(ada, "k", plan.Response{Action: human.CancelPlan})
	must[plan.Status](t)(d.Status(t.Context(), bot, "k", 0, 0))
	b, created, err := d.Submit(t.Context(), bot, key, 0)
	if err != nil || created || b.OperationID != a.OperationID || b.Status != human.PlanCancelled {
		t.Errorf("by its key: %+v, %t, %v", b, created, err)
	}
}

// P2, P7: what is changed is kept, told, and all that may run.
func TestModify(t *testing.T) {
	d := newFixture(t, nil)
	d.submit("s", three...)
	st := d.respond(ada, "s", plan.Response{Action: human.ModifyPlan, Message: "not all of it", Tasks: []human.Task{
		three[0], {Description: "Restore it elsewhere", Tool: "shell"}, task("b", "Set billing-eu read-only", "psql"),
	}})
	if st.Status != human.PlanModified || len(st.Tasks) != 3 || st.Tasks[1].ID != "t1" || st.Response.By != "ada" || !strings.Contains(st.Message, "not all of it") {
		t.Errorf("modified: %+v", st)
	}
	var kinds []string
	for _, c := range st.Response.Changes {
		kinds = append(kinds, string(c.Kind)+" "+c.ID)
	}
	if got := strings.Join(kinds, ", "); got != "added t1, changed b, removed c" {
		t.Errorf("changes %s", got)
	}
	if found, err := d.queue.List(t.Context(), ada, queue.Filter{Text: "restore elsewhere"}); err != nil || len(found.Operations) != 1 {
		t.Errorf("the search finds %d plans by what was added, %v", len(found.Operations), err)
	}
	if got := d.progress("s", "c", human.TaskRunning); got.Go || got.Why != "unknown" {
		t.Errorf("a task that was taken out: %+v", got)
	}
	if got := d.progress("s", "b", human.TaskRunning); !got.Go || got.Task.Description != "Set billing-eu read-only" {
		t.Errorf("a task that was changed: %+v", got)
	}

	d.submit("same", three...)
	if st = d.respond(ada, "same", plan.Response{Action: human.ModifyPlan, Tasks: three}); st.Status != human.PlanConfirmed || len(st.Response.Changes) != 0 {
		t.Errorf("changed into itself: %+v", st)
	}
	// Two that changed places: the one that was taken hold of is the one that moved.
	for _, id := range []string{"a", "b"} {
		d.submit("swap "+id, three...)
		st = d.respond(ada, "swap "+id, plan.Response{Action: human.ModifyPlan, Tasks: []human.Task{three[1], three[0], three[2]}, Moved: []string{id}})
		if len(st.Response.Changes) != 1 || st.Response.Changes[0].ID != id {
			t.Errorf("%s was moved, and the changes are %+v", id, st.Response.Changes)
		}
	}
	d.submit("words", three...)
	if st = d.respond(ada, "words", plan.Response{Action: human.ModifyPlan, Message: "test the restore first"}); st.Status != human.PlanModified || len(st.Tasks) != 0 || st.Run != nil || !strings.Contains(st.Message, "new plan") {
		t.Errorf("in words: %+v", st)
	}
	_, err := d.Progress(t.Context(), bot, "words", human.TaskProgress{Task: "a", State: human.TaskRunning}, 0)
	wantKind(t, err, human.Conflict, "modified")

	d.submit("x", three...)
	for _, c := range []struct {
		r    plan.Response
		kind human.ErrorKind
		says string
	}{
		{plan.Response{Action: "nod"}, human.Invalid, `"nod"`},
		{plan.Response{Action: human.ModifyPlan}, human.Invalid, "say what to change"},
		{plan.Response{Action: human.ConfirmPlan, Tasks: three}, human.Invalid, "modified_tasks"},
		{plan.Response{Action: human.ModifyPlan, Tasks: []human.Task{{}}}, human.Invalid, "no description"},
		{plan.Response{Action: human.ConfirmPlan, Digest: "other"}, human.Conflict, "another version"},
	} {
		_, err := d.Respond(t.Context(), ada, "x", c.r)
		wantKind(t, err, c.kind, c.says)
	}
	_, err = d.Respond(t.Context(), bot, "x", plan.Response{Action: human.ConfirmPlan})
	wantKind(t, err, human.Denied, "operator")
	d.mu.Lock()
	d.opts.Modify = false
	d.mu.Unlock()
	d.submit("x", three[0])
	_, err = d.Respond(t.Context(), ada, "x", plan.Response{Action: human.ModifyPlan, Message: "no"})
	wantKind(t, err, human.Denied, "allow_task_modification")
	d.respond(ada, "x", plan.Response{Action: human.ConfirmPlan})
	_, err = d.Order(t.Context(), ada, "x", human.Order{Kind: human.Change, Tasks: three})
	wantKind(t, err, human.Denied, "allow_task_modification")
}

// A plain yes or no, as a notification gives it, is an answer to a plan; nothing else is.
func TestPlainAnswers(t *testing.T) {
	d := newFixture(t, nil)
	for decision, want := range map[human.Decision]human.PlanStatus{human.Approved: human.PlanConfirmed, human.Refused: human.PlanCancelled} {
		st := d.submit(string(decision), three...)
		must[human.Operation](t)(d.queue.Complete(t.Context(), ada, st.OperationID, human.Answer{Decision: decision}, d.digest(st.OperationID)))
		if st = must[plan.Status](t)(d.Status(t.Context(), bot, string(decision), 0, 0)); st.Status != want || (len(st.Tasks) == 3) != (want == human.PlanConfirmed) {
			t.Errorf("%s: %+v", decision, st)
		}
	}
	st := d.submit("x", three...)
	_, err := d.queue.Complete(t.Context(), ada, st.OperationID, human.Answer{HumanInput: "hm"}, d.digest(st.OperationID))
	wantKind(t, err, human.Invalid, "decision")
	must[human.Operation](t)(d.queue.Decline(t.Context(), ada, st.OperationID, "not today"))
	if st = must[plan.Status](t)(d.Status(t.Context(), bot, "x", 0, 0)); st.Status != human.PlanCancelled || st.Response.Message != "not today" {
		t.Errorf("declined: %+v", st)
	}
}

// M6: an operator asks, and the agent sees it as something to answer.
func TestAQuestionAboutAPlan(t *testing.T) {
	d := newFixture(t, nil)
	st := d.submit("s", three...)
	must[human.Operation](t)(d.queue.Reply(t.Context(), ada, st.OperationID, "Do reads go on?"))
	if st = must[plan.Status](t)(d.Status(t.Context(), bot, "s", time.Minute, 0)); st.Status != human.PlanPending || st.Question != "Do reads go on?" {
		t.Errorf("asked: %+v", st)
	}
	must[human.Operation](t)(d.queue.Reply(t.Context(), bot, st.OperationID, "All the time."))
	if st = must[plan.Status](t)(d.Status(t.Context(), bot, "s", 0, 0)); st.Question != "" {
		t.Errorf("answered: %+v", st)
	}
}

// P9: two operators agree on the same tasks, or nothing runs.
func TestTogether(t *testing.T) {
	d := newFixture(t, nil)
	_, _, err := d.Submit(t.Context(), bot, plan.Submission{SessionID: "s", Message: "m", Tasks: three, Confirmations: 2, Operators: []string{"Mei"}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	tom := human.Actor{Role: human.Operator, Name: "Tom"}
	d.respond(ada, "s", plan.Response{Action: human.ConfirmPlan})
	if st := d.respond(tom, "s", plan.Response{Action: human.ConfirmPlan}); st.Status != human.PlanPending || len(st.Votes) != 2 {
		t.Errorf("two of two, and not Mei: %+v", st)
	}
	must[human.Operation](t)(d.queue.SaveInput(t.Context(), ada, must[plan.Status](t)(d.Status(t.Context(), ada, "s", 0, 0)).OperationID, &human.Answer{HumanInput: "draft"}))
	changed := []human.Task{three[0], three[2]}
	if st := d.respond(mei, "s", plan.Response{Action: human.ModifyPlan, Tasks: changed}); st.Status != human.PlanPending || len(st.Votes) != 3 {
		t.Errorf("Mei wants another: %+v", st)
	}
	if st := d.respond(mei, "s", plan.Response{Action: human.ModifyPlan, Tasks: changed}); st.Status != human.PlanPending || len(st.Votes) != 3 {
		t.Errorf("Mei twice: %+v", st)
	}
	st := d.respond(tom, "s", plan.Response{Action: human.ModifyPlan, Tasks: changed})
	if st.Status != human.PlanModified || !human.SameTasks(st.Tasks, changed) || st.Response.By != "Tom" {
		t.Errorf("Tom agrees with Mei: %+v", st)
	}
	_, _, err = d.Submit(t.Context(), bot, plan.Submission{SessionID: "c", Message: "m", Tasks: three, Confirmations: 3}, 0)
	if err != nil {
		t.Fatal(err)
	}
	d.respond(ada, "c", plan.Response{Action: human.ConfirmPlan})
	if st = d.respond(mei, "c", plan.Response{Action: human.CancelPlan, Message: "no"}); st.Status != human.PlanCancelled {
		t.Errorf("one cancels: %+v", st)
	}
}

// P9: orders while a plan runs, each of which reaches the agent.
func TestOrders(t *testing.T) {
	d := newFixture(t, nil)
	d.submit("s", three...)
	_, err := d.Order(t.Context(), ada, "s", human.Order{Kind: human.Pause})
	wantKind(t, err, human.Conflict, "pending")
	d.respond(ada, "s", plan.Response{Action: human.ConfirmPlan})
	order := func(o human.Order) plan.Status {
		t.Helper()
		return must[plan.Status](t)(d.Order(t.Context(), ada, "s", o))
	}
	if got := d.progress("s", "a", human.TaskRunning); !got.Go || got.Run.State != human.RunRunning {
		t.Fatalf("begins: %+v", got)
	}
	if got := d.progress("s", "a", human.TaskRunning); got.Go || got.Why != "begun" {
		t.Errorf("twice: %+v", got)
	}
	order(human.Order{Kind: human.Pause, Text: "standup"})
	if got := d.progress("s", "b", human.TaskRunning); got.Go || got.Why != "paused" || !strings.Contains(got.Message, "standup") {
		t.Errorf("paused: %+v", got)
	}
	if got := d.progress("s", "a", human.TaskRunning); got.Why != "begun" || strings.Contains(got.Message, "standup") {
		t.Errorf("what was said with the pause is not why a does not begin: %+v", got)
	}
	d.progress("s", "a", human.TaskDone) // what has begun can end
	order(human.Order{Kind: human.Skip, Task: "b", Text: "done by hand"})
	order(human.Order{Kind: human.Resume})
	if got := d.progress("s", "b", human.TaskRunning); got.Go || got.Why != "skipped" || !strings.Contains(got.Message, "done by hand") {
		t.Errorf("skipped: %+v", got)
	}
	_, err = d.Order(t.Context(), ada, "s", human.Order{Kind: human.Change, Tasks: []human.Task{three[0]}})
	wantKind(t, err, human.Conflict, "task a is done")
	st := order(human.Order{Kind: human.Change, Tasks: []human.Task{task("", "Count rows", "psql"), three[2]}})
	if len(st.Run.Tasks) != 4 || st.Run.Tasks[2].Description != "Count rows" || st.Run.Tasks[2].State != human.TaskWaiting || len(st.Run.Orders) != 4 || len(st.Run.Orders[3].Changes) != 1 || st.Run.Orders[3].Changes[0].To != 3 {
		t.Errorf("changed: %+v", st.Run)
	}
	swapped := order(human.Order{Kind: human.Change, Tasks: []human.Task{three[2], st.Run.Tasks[2].Task}, Moved: []string{"c"}}).Run.Orders[4]
	if len(swapped.Changes) != 1 || swapped.Changes[0].ID != "c" || swapped.Changes[0].From != 4 || swapped.Changes[0].To != 3 || swapped.Moved != nil {
		t.Errorf("c was moved, and the order is %+v", swapped)
	}
	if got := d.progress("s", st.Run.Tasks[2].ID, human.TaskRunning); !got.Go {
		t.Errorf("the new task: %+v", got)
	}
	order(human.Order{Kind: human.Stop, Text: "enough"})
	if got := d.progress("s", "c", human.TaskRunning); got.Go || got.Why != "stopped" || !strings.Contains(got.Message, "enough") {
		t.Errorf("stopped: %+v", got)
	}
	if got := d.progress("s", st.Run.Tasks[2].ID, human.TaskFailed); got.Run.State != human.RunStopped {
		t.Errorf("what ran can end: %+v", got)
	}
	for _, o := range []human.Order{{Kind: human.Resume}, {Kind: human.Pause}, {Kind: human.Skip, Task: "c"}, {Kind: human.Stop}} {
		_, err := d.Order(t.Context(), ada, "s", o)
		wantKind(t, err, human.Conflict, "stopped")
	}
	_, err = d.Order(t.Context(), bot, "s", human.Order{Kind: human.Resume})
	wantKind(t, err, human.Denied, "operator")
}

// P7, P9: after an order, what a plan's status says of its tasks is what may run now; and a new task never has the id of one
// that was removed, so that what was said of that one is not taken for it.
func TestTheStatusIsOfTheTasksThereAre(t *testing.T) {
	d := newFixture(t, nil)
	read := func(id string) human.Task { return task(id, "Look at "+id, "grep") }
	st := d.submit("s", task("t1", "Drop the table", "psql"), read("t2"), read("t3"))
	if st.Summary.Risk != human.HighRisk {
		t.Fatalf("submitted: %+v", st.Summary)
	}
	// P4: a high risk says why, also where no one could judge it.
	for tool, why := range map[string]string{"psql": "It deletes files.", "broken": "could not judge it"} {
		sum := must[human.TasksSummary](t)(d.Assess(t.Context(), ada, "s", []human.Task{task("", "Do it", tool), task("", "Look", "grep")}))
		if len(sum.Tasks[0].Said) != 1 || !strings.Contains(sum.Tasks[0].Said[0].Text, why) || len(sum.Tasks[1].Said) != 0 {
			t.Errorf("%s: why %+v, %+v", tool, sum.Tasks[0].Said, sum.Tasks[1].Said)
		}
	}
	check := func(what string, st plan.Status, risk human.Risk, ids ...string) {
		t.Helper()
		is := func(list []human.Task) (ids []string) {
			for _, t := range list {
				ids = append(ids, t.ID)
			}
			return ids
		}
		var known []string
		for _, t := range st.Summary.Tasks {
			known = append(known, t.ID)
		}
		if !slices.Equal(is(st.Tasks), ids) || !slices.Equal(known, ids) || st.Summary.Total != len(ids) || st.Summary.Risk != risk {
			t.Errorf("%s: tasks %v, summary of %v (%d), risk %s; want %v, %s", what, is(st.Tasks), known, st.Summary.Total, st.Summary.Risk, ids, risk)
		}
	}
	st = d.respond(ada, "s", plan.Response{Action: human.ModifyPlan, Tasks: []human.Task{read("t2"), read("t3")}})
	check("changed before it ran", st, human.NoRisk, "t2", "t3")
	order := func(tasks ...human.Task) plan.Status {
		t.Helper()
		return must[plan.Status](t)(d.Order(t.Context(), ada, "s", human.Order{Kind: human.Change, Tasks: tasks}))
	}
	d.progress("s", "t2", human.TaskRunning)
	check("one added", order(read("t3"), task("", "Drop the view", "psql")), human.HighRisk, "t2", "t3", "t4")
	check("that one removed", order(read("t3")), human.NoRisk, "t2", "t3")
	check("another added", order(read("t3"), task("", "Drop the index", "psql")), human.HighRisk, "t2", "t3", "t5")
	check("skipped", must[plan.Status](t)(d.Order(t.Context(), ada, "s", human.Order{Kind: human.Skip, Task: "t5"})), human.NoRisk, "t2", "t3")
	for _, id := range []string{"t1", "t4"} {
		_, err := d.Order(t.Context(), ada, "s", human.Order{Kind: human.Change, Tasks: []human.Task{task(id, "Something else", "psql")}})
		wantKind(t, err, human.Invalid, "was removed")
	}
	check("stopped", must[plan.Status](t)(d.Order(t.Context(), ada, "s", human.Order{Kind: human.Stop})), human.NoRisk, "t2")
}

// P9: task by task, a task that is added to the one asked about gets an id that no task of the plan has.
func TestATaskAddedToOneOfAPlan(t *testing.T) {
	d := newFixture(t, nil)
	d.submit("s", task("t1", "Dump the database", "pg_dump"), task("t2", "Report", "write_file"))
	d.respond(ada, "s", plan.Response{Action: human.ConfirmPlan, TaskByTask: true})
	d.respond(ada, string(d.progress("s", "t1", human.TaskRunning).Asking), plan.Response{Action: human.ConfirmPlan})
	d.progress("s", "t1", human.TaskRunning)
	d.progress("s", "t1", human.TaskDone)
	asked := d.progress("s", "t2", human.TaskRunning)
	d.respond(ada, string(asked.Asking), plan.Response{Action: human.ModifyPlan, Tasks: []human.Task{task("", "Count rows", "grep"), task("t2", "Report", "write_file")}})
	got := d.progress("s", "t2", human.TaskRunning)
	if len(got.Run.Tasks) != 3 || got.Run.Tasks[1].Description != "Count rows" || got.Run.Tasks[1].ID != "t3" {
		t.Errorf("the plan: %+v", got.Run.Tasks)
	}
}

// A paused plan holds the agent that waits to begin, and lets it go when it continues.
func TestPauseHoldsTheAgent(t *testing.T) {
	d := newFixture(t, nil)
	d.submit("s", three...)
	d.respond(ada, "s", plan.Response{Action: human.ConfirmPlan})
	must[plan.Status](t)(d.Order(t.Context(), ada, "s", human.Order{Kind: human.Pause}))
	got := make(chan plan.Standing, 1)
	go func() {
		st, err := d.Progress(t.Context(), bot, "s", human.TaskProgress{Task: "a", State: human.TaskRunning}, time.Minute)
		if err != nil {
			t.Error(err)
		}
		got <- st
	}()
	must[plan.Status](t)(d.Order(t.Context(), ada, "s", human.Order{Kind: human.Resume}))
	if st := <-got; !st.Go {
		t.Errorf("%+v", st)
	}
}

// P9: task by task, each is a question of its own; what is said there is what happens in the plan.
func TestTaskByTask(t *testing.T) {
	d := newFixture(t, nil)
	begin := func(session, id string) plan.Standing {
		t.Helper()
		return d.progress(session, id, human.TaskRunning)
	}
	answer := func(asked plan.Standing, r plan.Response) {
		t.Helper()
		d.respond(ada, string(asked.Asking), r)
	}
	open := func(session string) {
		t.Helper()
		d.submit(session, three...)
		d.respond(ada, session, plan.Response{Action: human.ConfirmPlan, TaskByTask: true})
	}
	open("s")
	asked := begin("s", "a")
	if asked.Go || asked.Why != "asking" || asked.Asking == "" {
		t.Fatalf("the first: %+v", asked)
	}
	if again := begin("s", "a"); again.Asking != asked.Asking {
		t.Errorf("asked twice: %s and %s", again.Asking, asked.Asking)
	}
	op := must[human.Operation](t)(d.queue.Get(t.Context(), ada, asked.Asking))
	if op.PartOf == "" || op.Description != "Dump the database" || op.Run != nil {
		t.Errorf("the question: %+v", op)
	}
	must[human.Operation](t)(d.queue.Reply(t.Context(), ada, asked.Asking, "Which dump?"))
	if q, err := d.Progress(t.Context(), bot, "s", human.TaskProgress{Task: "a", State: human.TaskRunning}, time.Minute); err != nil || q.Why != "asking" || q.Question != "Which dump?" {
		t.Errorf("an operator asks: %+v, %v", q, err)
	}
	must[human.Operation](t)(d.queue.Reply(t.Context(), bot, asked.Asking, "The nightly one."))
	answer(asked, plan.Response{Action: human.ConfirmPlan})
	if got := begin("s", "a"); !got.Go {
		t.Errorf("confirmed: %+v", got)
	}
	d.progress("s", "a", human.TaskDone)
	answer(begin("s", "b"), plan.Response{Action: human.ModifyPlan, Tasks: []human.Task{task("b", "Set billing-eu read-only", "psql")}})
	if got := begin("s", "b"); !got.Go || got.Task.Description != "Set billing-eu read-only" {
		t.Errorf("changed: %+v", got)
	}
	d.progress("s", "b", human.TaskDone)
	answer(begin("s", "c"), plan.Response{Action: human.CancelPlan, Message: "no report"})
	if got := begin("s", "c"); got.Go || got.Why != "skipped" || got.Run.State != human.RunFinished || got.Run.Tasks[2].Note != "no report" || got.Run.Tasks[2].Skipped != "ada" {
		t.Errorf("cancelled: %+v", got)
	}
	open("w")
	answer(begin("w", "a"), plan.Response{Action: human.ModifyPlan, Message: "use pg_dumpall"})
	if got := begin("w", "a"); got.Go || got.Why != "refused" || got.Run.State != human.RunStopped || !strings.Contains(got.Message, "pg_dumpall") {
		t.Errorf("words: %+v", got)
	}
}

// P3, P9: task by task, what no one answers stops the plan.
func TestTaskByTaskTimeout(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		d := openFixture(t, dir, plan.Options{Confirm: true, Timeout: 30 * time.Second, Modify: true})
		defer d.close()
		d.t = t
		d.submit("s", three...)
		d.respond(ada, "s", plan.Response{Action: human.ConfirmPlan, TaskByTask: true})
		st, err := d.Progress(t.Context(), bot, "s", human.TaskProgress{Task: "a", State: human.TaskRunning}, time.Minute)
		if err != nil || st.Go || st.Why != "stopped" || st.Run.State != human.RunStopped || st.Run.Orders[0].By.Role != human.System {
			t.Errorf("%+v, %v", st, err)
		}
	})
}

// P4, P6, P9: earlier plans tell how long tasks take, what people changed, and how they answered.
func TestHistory(t *testing.T) {
	d := newFixture(t, nil)
	for i := range 3 {
		session := fmt.Sprint("s", i)
		d.submit(session, three...)
		d.respond(ada, session, plan.Response{Action: human.ModifyPlan, Tasks: append(slices.Clone(three), task("", "Restore it on a scratch server", "shell"))})
		must[plan.Status](t)(d.Status(t.Context(), bot, session, 0, 0))
		d.progress(session, "a", human.TaskRunning)
		d.progress(session, "a", human.TaskDone)
		d.progress(session, "b", human.TaskRunning)
		d.progress(session, "b", human.TaskFailed)
	}
	d.submit("no", three[1])
	d.respond(ada, "no", plan.Response{Action: human.CancelPlan})
	unlike, _, err := d.Submit(t.Context(), bot, plan.Submission{SessionID: "unlike", Message: "Water the plants", Tasks: []human.Task{task("", "Fill a can", "")}}, 0)
	must[plan.Status](t)(unlike, err)
	d.respond(ada, "unlike", plan.Response{Action: human.ConfirmPlan})
	preset := must[plan.Preset](t)(d.PutPreset(t.Context(), ada, plan.Preset{Name: "Database move", Tasks: []human.Task{task("", "Restore the database on a scratch server", "shell"), task("", "Dump the database", "pg_dump")}}))

	st := d.submit("now", three...)
	if a := st.Summary.Tasks[0]; a.Runs != 3 || a.Seconds < 0 || st.Summary.Estimated != 1 || st.Summary.Tasks[1].Runs != 0 {
		t.Errorf("estimated %+v", st.Summary)
	}
	h := must[plan.History](t)(d.History(t.Context(), ada, "now"))
	if len(h.Alike) != 4 || h.Counts.Modified != 3 || h.Counts.Cancelled != 1 || h.Counts.Confirmed != 0 || h.Alike[0].Alike < h.Alike[3].Alike {
		t.Errorf("alike %+v, counts %+v", h.Alike, h.Counts)
	}
	if len(h.Usual) != 1 || h.Usual[0].Change != human.TaskAdded || h.Usual[0].Times != 3 || h.Usual[0].Task.Tool != "shell" || h.Usual[0].Task.ID != "" {
		t.Errorf("usual %+v", h.Usual)
	}
	if len(h.Presets) != 1 || h.Presets[0].ID != preset.ID {
		t.Errorf("presets %+v", h.Presets)
	}
	// Sent back with words: nothing of it ran, so it is no plan that was confirmed after a change.
	back := d.submit("back", three...)
	d.respond(ada, "back", plan.Response{Action: human.ModifyPlan, Message: "test the restore first"})
	h = must[plan.History](t)(d.History(t.Context(), ada, "now"))
	i := slices.IndexFunc(h.Alike, func(p plan.Past) bool { return p.OperationID == back.OperationID })
	if h.Counts.SentBack != 1 || i < 0 || h.Alike[i].Status != human.PlanSentBack {
		t.Errorf("sent back: counts %+v, alike %+v", h.Counts, h.Alike)
	}
	for status, n := range map[human.PlanStatus]int{human.PlanSentBack: 1, human.PlanModified: 3} {
		list := must[queue.Page](t)(d.queue.List(t.Context(), ada, queue.Filter{Plan: status, Order: queue.Newest, Limit: 10}))
		if len(list.Operations) != n || list.Operations[0].PlanOutcome() != status {
			t.Errorf("%s: a list of %d", status, len(list.Operations))
		}
	}
	s := must[plan.Statistics](t)(d.Statistics(t.Context(), ada, 7))
	if s.Plans != 6 || s.Outcomes != (plan.Outcomes{Confirmed: 1, Modified: 3, SentBack: 1, Cancelled: 1}) || len(s.PerDay) != 7 || s.PerDay[6].Modified != 3 || s.Changes[0].Times != 3 {
		t.Errorf("statistics %+v", s)
	}
	if len(s.Tools) != 2 || s.Tools[0].Tool != "pg_dump" || s.Tools[0].Runs != 3 || s.Tools[1].Failed != 3 {
		t.Errorf("tools %+v", s.Tools)
	}
	_, err = d.Statistics(t.Context(), bot, 7)
	wantKind(t, err, human.Denied, "operator")
}

func TestPresets(t *testing.T) {
	d := newFixture(t, nil)
	one := must[plan.Preset](t)(d.PutPreset(t.Context(), ada, plan.Preset{Name: " b ", Tasks: three}))
	two := must[plan.Preset](t)(d.PutPreset(t.Context(), ada, plan.Preset{Name: "a", About: "when", Tasks: three[:1]}))
	_, err := d.PutPreset(t.Context(), ada, plan.Preset{Name: "a", Tasks: three})
	wantKind(t, err, human.Conflict, `"a"`)
	_, err = d.PutPreset(t.Context(), ada, plan.Preset{ID: "none", Name: "c", Tasks: three})
	wantKind(t, err, human.NotFound, "none")
	_, err = d.PutPreset(t.Context(), bot, plan.Preset{Name: "c", Tasks: three})
	wantKind(t, err, human.Denied, "operator")
	one.Name = "c"
	one = must[plan.Preset](t)(d.PutPreset(t.Context(), ada, one))
	if all := must[[]plan.Preset](t)(d.Presets(t.Context(), bot)); !reflect.DeepEqual(all, []plan.Preset{two, one}) {
		t.Errorf("presets %+v", all)
	}
	if err := d.DropPreset(t.Context(), ada, two.ID); err != nil {
		t.Error(err)
	}
	wantKind(t, d.DropPreset(t.Context(), ada, two.ID), human.NotFound, two.ID)
	wantKind(t, d.DropPreset(t.Context(), bot, one.ID), human.Denied, "operator")
}

// Whatever agents and operators do, in whatever order, and across restarts: no task begins that operators did not let run
// as it stands, none begins twice, and none while the plan is paused or stopped.
func TestNoTaskRunsThatWasNotConfirmed(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		opts := plan.Options{Confirm: true, Timeout: time.Hour, Modify: true, Confirmations: rapid.IntRange(1, 2).Draw(rt, "confirmations")}
		d := openFixture(t, dir, opts)
		defer func() { d.close() }()
		ids := []string{"a", "b", "c", "d"}
		tasks := rapid.Custom(func(t *rapid.T) []human.Task {
			list := rapid.Permutation(ids).Draw(t, "ids")[:rapid.IntRange(1, 4).Draw(t, "n")]
			var all []human.Task
			for _, id := range list {
				all = append(all, task(id, rapid.SampledFrom([]string{"one way", "another"}).Draw(t, "words"), "bash"))
			}
			return all
		})
		var allowed map[string]string // what operators let run, by id: its words
		begun := map[string]bool{}
		paused, stopped, together := false, false, map[string][]human.Task{}
		state := human.PlanPending
		submitted := tasks.Draw(rt, "plan")
		_, _, err := d.Submit(t.Context(), bot, plan.Submission{SessionID: "s", Message: "m", Tasks: submitted}, 0)
		if err != nil {
			rt.Fatal(err)
		}
		let := func(list []human.Task) {
			if allowed == nil {
				allowed = map[string]string{}
			}
			for id := range allowed {
				if !begun[id] {
					delete(allowed, id)
				}
			}
			for _, t := range list {
				allowed[t.ID] = t.Description
			}
		}
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			who := rapid.SampledFrom([]human.Actor{ada, mei}).Draw(rt, "who")
			id := rapid.SampledFrom(ids).Draw(rt, "id")
			switch rapid.SampledFrom([]string{"confirm", "modify", "cancel", "begin", "begin", "begin", "end", "pause", "resume", "skip", "stop", "change", "restart"}).Draw(rt, "step") {
			case "confirm":
				if st, err := d.Respond(t.Context(), who, "s", plan.Response{Action: human.ConfirmPlan}); err == nil {
					together[who.Name] = submitted
					if state = st.Status; state != human.PlanPending {
						let(submitted)
					}
				}
			case "modify":
				list := tasks.Draw(rt, "modified")
				if st, err := d.Respond(t.Context(), who, "s", plan.Response{Action: human.ModifyPlan, Tasks: list}); err == nil {
					together[who.Name] = list
					if state = st.Status; state != human.PlanPending {
						let(list)
					}
				}
			case "cancel":
				if st, err := d.Respond(t.Context(), who, "s", plan.Response{Action: human.CancelPlan}); err == nil {
					state = st.Status
				}
			case "begin":
				st, err := d.Progress(t.Context(), bot, "s", human.TaskProgress{Task: id, State: human.TaskRunning}, 0)
				if err != nil || !st.Go {
					continue
				}
				words, ok := allowed[id]
				if !ok || words != st.Task.Description || begun[id] || paused || stopped || state == human.PlanPending || state == human.PlanCancelled {
					rt.Fatalf("%s began: allowed %v, begun %v, paused %t, stopped %t, %s", id, allowed, begun, paused, stopped, state)
				}
				begun[id] = true
			case "end":
				_, _ = d.Progress(t.Context(), bot, "s", human.TaskProgress{Task: id, State: rapid.SampledFrom([]human.TaskState{human.TaskDone, human.TaskFailed, human.TaskSkipped}).Draw(rt, "end")}, 0)
			case "pause":
				if _, err := d.Order(t.Context(), who, "s", human.Order{Kind: human.Pause}); err == nil {
					paused = true
				}
			case "resume":
				if _, err := d.Order(t.Context(), who, "s", human.Order{Kind: human.Resume}); err == nil {
					paused = false
				}
			case "skip":
				if _, err := d.Order(t.Context(), who, "s", human.Order{Kind: human.Skip, Task: id}); err == nil {
					delete(allowed, id)
				}
			case "stop":
				if _, err := d.Order(t.Context(), who, "s", human.Order{Kind: human.Stop}); err == nil {
					stopped = true
				}
			case "change":
				list := tasks.Draw(rt, "changed")
				if _, err := d.Order(t.Context(), who, "s", human.Order{Kind: human.Change, Tasks: list}); err == nil {
					let(list)
				}
			case "restart":
				d.close()
				d = openFixture(t, dir, opts)
			}
		}
		if opts.Confirmations == 2 && allowed != nil && !human.SameTasks(together[ada.Name], together[mei.Name]) {
			rt.Fatalf("it runs, and they said %v and %v", together[ada.Name], together[mei.Name])
		}
	})
}
