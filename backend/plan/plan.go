package plan

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"deskbell/backend/human"
)

// The bounds of a plan.
const (
	maxTasks   = 200
	maxText    = 8 << 10 // bytes of one text of a task
	maxMessage = 16 << 10
	maxSession = 256
	maxNames   = 20
	maxTries   = 16 // to begin a task while orders come in between
)

// A Service has plans confirmed. It is safe for concurrent use.
type Service struct {
	d    Deps
	past past
}

// New makes a service. It does nothing by itself.
func New(d Deps) *Service {
	return &Service{d: d, past: past{known: map[human.OperationID]record{}}}
}

// Submit takes a plan and waits for its answer, at the longest for wait. Where the settings ask for no confirmation it is
// confirmed at once, and nothing was stored. The same plan again, while it waits or before its end was read, joins the one
// that exists; another plan of the same session withdraws one that waits. That an end was read is for the caller to note, once
// it has left. Errors are Invalid and name the field.
func (s *Service) Submit(ctx context.Context, by human.Actor, sub Submission, wait time.Duration) (st Status, created bool, err error) {
	tasks, err := s.checked(sub)
	if err != nil {
		return Status{}, false, err
	}
	o := s.d.Options()
	if !o.Confirm {
		return Status{
			SessionID: sub.SessionID, Status: human.PlanConfirmed, CreatedAt: s.d.Now().UTC(), Auto: "off", Tasks: tasks,
			Message: "Plans need no confirmation here: no operator was asked, and nothing of this plan is kept. Continue.",
		}, false, nil
	}
	before, err := s.d.Queue.Newest(ctx, human.Plan, by.Name, sub.SessionID)
	if err != nil && human.KindOf(err) != human.NotFound {
		return Status{}, false, err
	}
	if before.ID != "" {
		if joins(before, sub, tasks) {
			st, err := s.wait(ctx, by, before.ID, wait, answered)
			return st, false, err
		}
		if err := s.withdraw(ctx, by, before); err != nil {
			return Status{}, false, err
		}
	}
	q := s.question(ctx, sub, tasks, o)
	if before.ID != "" {
		q.Replaces = before.ID
	}
	var decided *human.Answer
	if o.AutoSafe && safe(q.Summary) && !q.Together() {
		decided = &human.Answer{
			Decision: human.Approved, Summary: "Confirmed by itself: every task is safe.",
			Plan: &human.PlanAnswer{Action: human.ConfirmPlan, Tasks: tasks, Auto: true},
		}
	}
	timeout := o.Timeout.Seconds()
	if sub.Timeout > 0 {
		timeout = min(timeout, sub.Timeout)
	}
	op, created, err := s.ask(ctx, by, sub, q, timeout, decided)
	if err != nil {
		return Status{}, false, err
	}
	st, err = s.wait(ctx, by, op.ID, wait, answered)
	return st, created, err
}

// ask puts a question into the queue.
func (s *Service) ask(ctx context.Context, by human.Actor, sub Submission, q human.PlanQuestion, timeout float64, decided *human.Answer) (human.Operation, bool, error) {
	details, err := json.Marshal(q)
	if err != nil {
		return human.Operation{}, false, human.Wrap(human.Invalid, err, "the plan cannot be written as JSON")
	}
	priority := human.DefaultPriority
	if sub.Priority != nil {
		priority = *sub.Priority
	}
	return s.d.Queue.Submit(ctx, human.Request{
		Kind: human.Plan, Description: sub.Message, Details: details, Context: sub.Context, AgentID: by.Name, SessionID: sub.SessionID,
		IdempotencyKey: sub.IdempotencyKey, Priority: priority, Timeout: timeout,
	}, decided)
}

// joins says whether a plan that was handed in is the one that exists: it has its key; or it has the same tasks, and it
// waits, or its end was not read yet, or something of it is still to run.
func joins(op human.Operation, sub Submission, tasks []human.Task) bool {
	if op.IdempotencyKey != "" || sub.IdempotencyKey != "" {
		return op.IdempotencyKey == sub.IdempotencyKey
	}
	q, err := op.PlanQuestion()
	lives := !op.State.Terminal() || op.DeliveredAt == nil || op.Run != nil && !op.Run.Over()
	return err == nil && q.Of == "" && lives && human.SameTasks(q.Tasks, tasks) && op.Description == sub.Message
}

// withdraw ends what is left of a session's earlier plan: a question that waits. One that runs is its agent's to end.
func (s *Service) withdraw(ctx context.Context, by human.Actor, op human.Operation) error {
	if op.State.Terminal() {
		return nil
	}
	_, err := s.d.Queue.Cancel(ctx, by, op.ID, "The agent handed in another plan.")
	if human.KindOf(err) == human.Conflict {
		return nil // it was answered at this moment; the new plan is still asked about
	}
	return err
}

// checked says what is wrong with a plan, and returns its tasks, each with an id.
func (s *Service) checked(sub Submission) ([]human.Task, error) {
	switch {
	case strings.TrimSpace(sub.SessionID) == "":
		return nil, human.BadField("session_id", "is missing; choose a name for your session, by which the plan is found")
	case len(sub.SessionID) > maxSession:
		return nil, human.BadField("session_id", "is %d bytes long; the limit is %d", len(sub.SessionID), maxSession)
	case strings.HasPrefix(sub.SessionID, "op_"):
		return nil, human.BadField("session_id", "begins with op_, as the ids of operations do; choose another name")
	case strings.TrimSpace(sub.Message) == "":
		return nil, human.BadField("message", "is missing; say in a line what the plan is for")
	case len(sub.Message) > maxMessage:
		return nil, human.BadField("message", "is %d bytes long; the limit is %d", len(sub.Message), maxMessage)
	case len(sub.Why) > maxMessage:
		return nil, human.BadField("why", "is %d bytes long; the limit is %d", len(sub.Why), maxMessage)
	case len(sub.Tasks) == 0:
		return nil, human.BadField("tasks", "is empty; a plan has at least one task")
	case sub.Timeout < 0 || sub.Timeout != sub.Timeout:
		return nil, human.BadField("timeout_seconds", "is %g; it is how many seconds the plan waits, or 0 for the time in the settings", sub.Timeout)
	case sub.Confirmations < 0 || sub.Confirmations > 9:
		return nil, human.BadField("confirmations", "is %d; it runs from 0 to 9", sub.Confirmations)
	case len(sub.Operators) > maxNames:
		return nil, human.BadField("operators", "are more than %d", maxNames)
	}
	return checkTasks(sub.Tasks, "tasks", func(string) bool { return false })
}

// checkTasks says what is wrong with tasks, and gives an id to each that has none: one that is not taken.
func checkTasks(tasks []human.Task, field string, taken func(string) bool) ([]human.Task, error) {
	if len(tasks) > maxTasks {
		return nil, human.BadField(field, "are %d; a plan has at most %d", len(tasks), maxTasks)
	}
	for i, t := range tasks {
		for _, text := range []string{t.Description, t.Tool, t.Type, t.ExpectedOutcome, t.ID} {
			if len(text) > maxText || !utf8.ValidString(text) {
				return nil, human.BadField(field, "task %d has a text of %d bytes; the limit is %d, in valid UTF-8", i+1, len(text), maxText)
			}
		}
		if strings.TrimSpace(t.Description) == "" {
			return nil, human.BadField(field, "task %d has no description", i+1)
		}
		if args := bytes.TrimSpace(t.Args); len(args) > 0 && (args[0] != '{' || !json.Valid(args) || !utf8.Valid(args)) {
			return nil, human.BadField(field, "the args of task %d must be a JSON object", i+1)
		}
	}
	tasks, twice := identify(tasks, taken)
	if twice != "" {
		return nil, human.BadField(field, "two tasks have the id %q", human.OneLine(twice, 80))
	}
	for i := range tasks {
		if args := bytes.TrimSpace(tasks[i].Args); len(args) > 0 {
			// In the one spelling that the journal keeps, so that they stay the same when they are compared by their bytes.
			var short, kept bytes.Buffer
			_ = json.Compact(&short, args) // it is valid
			json.HTMLEscape(&kept, short.Bytes())
			tasks[i].Args = kept.Bytes()
		} else {
			tasks[i].Args = nil
		}
	}
	return tasks, nil
}

// replaced checks the tasks that take the place of others: those of them stay as they were where they were not changed, and
// a new one has an id that no task of the plan ever had.
func replaced(was, now []human.Task, field string, taken func(string) bool) ([]human.Task, error) {
	for i, t := range now {
		if t.ID != "" && taken(t.ID) && !slices.ContainsFunc(was, func(o human.Task) bool { return o.ID == t.ID }) {
			return nil, human.BadField(field, "task %d has the id %q of a task that was removed; leave the id of a new task out", i+1, human.OneLine(t.ID, 80))
		}
	}
	now, err := checkTasks(now, field, taken)
	return asWas(was, now), err
}

// question is what operators are asked about a plan.
func (s *Service) question(ctx context.Context, sub Submission, tasks []human.Task, o Options) human.PlanQuestion {
	cwd := cwdOf(sub.Context)
	q := human.PlanQuestion{
		Tasks: tasks, Summary: s.assess(ctx, sub.SessionID, cwd, tasks), Cwd: cwd, Why: sub.Why,
		Options:       []human.PlanAction{human.ConfirmPlan, human.ModifyPlan, human.CancelPlan},
		Confirmations: max(1, o.Confirmations, sub.Confirmations),
	}
	if !o.Modify {
		q.Options = []human.PlanAction{human.ConfirmPlan, human.CancelPlan}
	}
	for _, name := range slices.Concat(o.Operators, sub.Operators) {
		if !slices.Contains(q.Operators, name) {
			q.Operators = append(q.Operators, name)
		}
	}
	q.Confirmations = max(q.Confirmations, len(q.Operators))
	q.Risk = q.Summary.Risk
	return q
}

func cwdOf(context json.RawMessage) string {
	var c struct {
		Cwd string `json:"cwd"`
	}
	if json.Unmarshal(context, &c) != nil {
		return ""
	}
	return c.Cwd
}

// safe says whether no one has to look at a plan (P1): every task names its tool, its risk is low, it changes nothing that
// is known, and the gatekeeper would not ask.
func safe(sum human.TasksSummary) bool {
	return !slices.ContainsFunc(sum.Tasks, func(t human.TaskSummary) bool {
		return t.Risk.Level() > human.LowRisk.Level() || t.Writes || t.Asked || strings.TrimSpace(t.Tool) == ""
	})
}

// answered says whether there is something for the agent: the plan has ended, or an operator asks.
func answered(op human.Operation) bool { return op.State.Terminal() || op.State == human.WaitingInput }

// wait waits until enough, at the longest for d, and tells how the plan stands.
func (s *Service) wait(ctx context.Context, by human.Actor, id human.OperationID, d time.Duration, enough func(human.Operation) bool) (Status, error) {
	if d > 0 {
		short, cancel := context.WithTimeout(ctx, d)
		defer cancel()
		if _, err := s.d.Queue.WaitUntil(short, by, id, enough); err != nil && short.Err() == nil {
			return Status{}, err
		}
	}
	op, err := s.d.Queue.Get(context.WithoutCancel(ctx), by, id)
	if err != nil {
		return Status{}, err
	}
	return StatusOf(op)
}

// find is the plan that a session's id, or an operation's, stands for: an agent finds its own.
func (s *Service) find(ctx context.Context, by human.Actor, session string) (human.Operation, error) {
	agent := ""
	if by.Role == human.Agent {
		agent = by.Name
	}
	op, err := human.Operation{}, error(nil)
	if strings.HasPrefix(session, "op_") {
		op, err = s.d.Queue.Get(ctx, by, human.OperationID(session))
	} else if op, err = s.d.Queue.Newest(ctx, human.Plan, agent, session); err == nil {
		op, err = s.d.Queue.Get(ctx, by, op.ID) // as by may see it
	}
	if err == nil && op.Kind != human.Plan {
		err = human.Errorf(human.NotFound, "operation %s is not a plan", op.ID)
	}
	return op, err
}

// Status tells how a plan stands; that its end was read is for the caller to note. With wait it waits for its version to pass
// after, or, where after is 0, for its answer.
func (s *Service) Status(ctx context.Context, by human.Actor, session string, wait time.Duration, after uint64) (Status, error) {
	op, err := s.find(ctx, by, session)
	if err != nil {
		return Status{}, err
	}
	enough := answered
	if after > 0 {
		enough = func(op human.Operation) bool { return op.Version > after }
	}
	return s.wait(ctx, by, op.ID, wait, enough)
}

// Respond gives an operator's answer. Where several have to agree, it counts as one of theirs. A Conflict error where the
// plan has ended, or is not what the digest says; Denied where tasks must not be changed.
func (s *Service) Respond(ctx context.Context, by human.Actor, session string, r Response) (Status, error) {
	op, full, err := s.Answer(ctx, by, session, r)
	if err != nil {
		return Status{}, err
	}
	if op, err = s.d.Queue.Complete(ctx, by, op.ID, full, r.Digest); err != nil {
		return Status{}, err
	}
	return StatusOf(op)
}

// Answer is what a response says as an answer to the plan's operation. Nothing is changed.
func (s *Service) Answer(ctx context.Context, by human.Actor, session string, r Response) (human.Operation, human.Answer, error) {
	op, err := s.find(ctx, by, session)
	if err != nil {
		return op, human.Answer{}, err
	}
	q, err := op.PlanQuestion()
	if err != nil {
		return op, human.Answer{}, err
	}
	answer := human.PlanAnswer{Action: r.Action, TaskByTask: r.TaskByTask && q.Of == ""}
	switch r.Action {
	case human.ConfirmPlan:
		if len(r.Tasks) > 0 {
			return op, human.Answer{}, human.BadField("modified_tasks", "are given, but the action is confirm; use modify to change tasks")
		}
	case human.CancelPlan:
		answer.TaskByTask = false
	case human.ModifyPlan:
		if !slices.Contains(q.Options, human.ModifyPlan) {
			return op, human.Answer{}, human.Errorf(human.Denied, "plans cannot be changed (the setting plan.allow_task_modification is false); confirm or cancel this one")
		}
		taken := func(id string) bool {
			return slices.ContainsFunc(q.Tasks, func(t human.Task) bool { return t.ID == id })
		}
		if q.Of != "" {
			whole, err := s.d.Queue.Get(ctx, by, q.Of)
			if err != nil {
				return op, human.Answer{}, err
			}
			taken = whole.UsedTask
		}
		if answer.Tasks, err = s.modified(q.Tasks, taken, r, &answer); err != nil {
			return op, human.Answer{}, err
		}
		if len(answer.Tasks) > 0 {
			sum := s.assess(ctx, op.SessionID, q.Cwd, answer.Tasks)
			answer.Summary = &sum
		}
	default:
		return op, human.Answer{}, human.BadField("action", "%q is not one of confirm, modify, cancel", human.OneLine(string(r.Action), 40))
	}
	return op, human.Answer{HumanInput: strings.TrimSpace(r.Message), Plan: &answer}, nil
}

// modified checks the tasks that a plan was changed into; none where words say what to change.
// taken says which ids were used.
func (s *Service) modified(was []human.Task, taken func(string) bool, r Response, answer *human.PlanAnswer) ([]human.Task, error) {
	if len(r.Tasks) == 0 {
		if strings.TrimSpace(r.Message) == "" {
			return nil, human.BadField("user_message", "is missing, and so are tasks; say what to change")
		}
		answer.TaskByTask = false
		return nil, nil
	}
	tasks, err := replaced(was, r.Tasks, "modified_tasks", taken)
	if err != nil {
		return nil, err
	}
	if answer.Changes = Compare(was, tasks, r.Moved...); len(answer.Changes) == 0 {
		answer.Action = human.ConfirmPlan // nothing was changed after all
		return nil, nil
	}
	return tasks, nil
}

// Progress says that a task begins, or how it ended. A task that is to begin waits, at the longest for wait, while the plan
// is paused or an operator is asked about it; whether it may run is Standing.Go.
func (s *Service) Progress(ctx context.Context, by human.Actor, session string, p human.TaskProgress, wait time.Duration) (Standing, error) {
	if len(p.Note) > maxMessage || !utf8.ValidString(p.Note) {
		return Standing{}, human.BadField("note", "is %d bytes; the limit is %d, in valid UTF-8", len(p.Note), maxMessage)
	}
	op, err := s.find(ctx, by, session)
	if err != nil {
		return Standing{}, err
	}
	if op.Run == nil {
		return Standing{}, human.Errorf(human.Conflict, "the plan %s is %s, so its tasks cannot run", op.ID, op.PlanStatus())
	}
	if p.State != human.TaskRunning {
		if op, err = s.d.Queue.Note(ctx, by, op.ID, human.Event{Type: human.Progressed, Progress: &p}); err != nil {
			return Standing{}, err
		}
		return standing(op, p.Task, "", "Noted."), nil
	}
	if t, ok := op.Run.Task(p.Task); ok && t.State == human.TaskRunning && p.Note != "" {
		if op, err = s.d.Queue.Note(ctx, by, op.ID, human.Event{Type: human.Progressed, Progress: &p}); err != nil {
			return Standing{}, err
		}
		return standing(op, p.Task, "begun", "Noted. The task has begun already."), nil
	}
	p.Note = "" // with one, a task that another call begins meanwhile would seem to begin twice
	return s.begin(ctx, by, op, p, s.d.Now().Add(wait))
}

// begin has a task begin as soon as nothing hinders it, and until end at the latest says what does.
func (s *Service) begin(ctx context.Context, by human.Actor, op human.Operation, p human.TaskProgress, end time.Time) (_ Standing, err error) {
	for tries := 0; ; tries++ {
		why := hindrance(op, p.Task)
		var asking human.Operation
		if why == "" && taskByTask(op) {
			if asking, why, err = s.cleared(ctx, by, op, p.Task, end.Sub(s.d.Now())); err != nil {
				return Standing{}, err
			}
		}
		if why == "" {
			next, err := s.d.Queue.Note(ctx, by, op.ID, human.Event{Type: human.Progressed, Progress: &p})
			if err == nil {
				st := standing(next, p.Task, "", "It has begun. Do it as it stands here.")
				st.Go = true
				return st, nil
			}
			if human.KindOf(err) != human.Conflict && human.KindOf(err) != human.NotFound {
				return Standing{}, err
			}
			// An order came between; what it was is seen below.
		}
		left := end.Sub(s.d.Now())
		if op, err = s.d.Queue.Get(ctx, by, op.ID); err != nil {
			return Standing{}, err
		}
		if now := hindrance(op, p.Task); now != "" || why == "" {
			if why = now; why == "" && tries < maxTries {
				continue // it may begin after all
			}
		}
		if left <= 0 || why != "paused" {
			st := standing(op, p.Task, why, words[why])
			if why == "asking" {
				st.Asking, st.Question = asking.ID, question(asking)
			}
			return st, nil
		}
		if op, err = s.unpaused(ctx, by, op.ID, p.Task, left); err != nil {
			return Standing{}, err
		}
	}
}

// unpaused waits while a task cannot begin because its plan is paused.
func (s *Service) unpaused(ctx context.Context, by human.Actor, id human.OperationID, task string, wait time.Duration) (human.Operation, error) {
	short, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	op, err := s.d.Queue.WaitUntil(short, by, id, func(op human.Operation) bool { return hindrance(op, task) != "paused" })
	switch {
	case ctx.Err() != nil:
		return op, human.Wrap(human.Unavailable, ctx.Err(), "the request was canceled while the plan was paused")
	case errors.Is(err, context.DeadlineExceeded):
		return op, nil
	}
	return op, err
}

// words say to an agent what to do where a task must not begin.
var words = map[string]string{
	"paused":  "An operator paused the plan. Do nothing, and ask to begin the task again.",
	"stopped": "An operator stopped the plan. Do nothing more of it.",
	"skipped": "An operator skipped this task. Continue with the next one of run.tasks that waits.",
	"begun":   "This task has begun already, and has perhaps ended: see run.tasks. If you do not know what became of it, look before you do it again.",
	"changed": "The plan was changed and no longer has this task as one that waits. Continue with the next one of run.tasks that waits.",
	"asking":  "An operator is being asked about this task. Do nothing, and ask to begin it again.",
	"refused": "An operator said in words what to change. Hand in a new plan that does as it says.",
	"unknown": "The plan has no such task that may run.",
}

// hindrance is why a task of a plan's run cannot begin now; empty where it can.
func hindrance(op human.Operation, id string) string {
	if op.Run == nil {
		return "unknown"
	}
	t, ok := op.Run.Task(id)
	switch {
	case op.Run.State == human.RunStopped && op.Run.Orders[len(op.Run.Orders)-1].Task != "":
		return "refused" // in words about one task, which ended the plan as it was
	case op.Run.State == human.RunStopped:
		return "stopped"
	case !ok && slices.ContainsFunc(op.Run.Orders, func(o human.GivenOrder) bool { return o.Kind == human.Change }):
		return "changed"
	case !ok:
		return "unknown"
	case t.State == human.TaskSkipped:
		return "skipped"
	case t.State != human.TaskWaiting:
		return "begun"
	case op.Run.State == human.RunPaused:
		return "paused"
	}
	return ""
}

func taskByTask(op human.Operation) bool {
	return op.Result != nil && op.Result.Plan != nil && op.Result.Plan.TaskByTask
}

// cleared has an operator asked about one task of a plan whose tasks are confirmed one by one, and waits for the answer.
// why is empty once the task may begin, as it then stands in the plan's run.
func (s *Service) cleared(ctx context.Context, by human.Actor, op human.Operation, id string, wait time.Duration) (one human.Operation, why string, err error) {
	task, _ := op.Run.Task(id)
	whole, err := op.PlanQuestion()
	if err != nil {
		return one, "", err
	}
	o := s.d.Options()
	n := slices.IndexFunc(op.Run.Tasks, func(t human.TaskRun) bool { return t.ID == id }) + 1
	sub := Submission{
		SessionID: op.SessionID + ".task", Message: task.Description, Context: op.Context,
		IdempotencyKey: "task:" + string(op.ID) + ":" + id + ":" + digest(task.Task), Priority: &op.Priority,
	}
	q := s.question(ctx, sub, []human.Task{task.Task}, o)
	q.Of, q.Cwd, q.Confirmations, q.Operators = op.ID, whole.Cwd, whole.Confirmations, whole.Operators
	q.Summary.Tasks[0].Index = n
	if one, _, err = s.ask(ctx, by, sub, q, o.Timeout.Seconds(), nil); err != nil {
		return one, "", err
	}
	if wait > 0 {
		short, cancel := context.WithTimeout(ctx, wait)
		one, err = s.d.Queue.WaitUntil(short, by, one.ID, answered)
		cancel()
		if err != nil && ctx.Err() == nil && !errors.Is(err, context.DeadlineExceeded) {
			return one, "", err
		}
	}
	if !one.State.Terminal() {
		return one, "asking", nil
	}
	if err := s.d.Queue.MarkDelivered(ctx, by, one.ID); err != nil {
		return one, "", err
	}
	return one, "", s.carry(ctx, op, task, one)
}

// carry carries what was decided about one task over to its plan. In the plan the answer stands as an order of the one who
// gave it; where an order was given at the same time, that one holds.
func (s *Service) carry(ctx context.Context, op human.Operation, task human.TaskRun, one human.Operation) error {
	var who human.Actor
	order := human.Order{Kind: human.Skip, Task: task.ID}
	if one.Result != nil {
		who, order.Text = one.Result.By, one.Result.HumanInput
	}
	switch one.PlanStatus() {
	case human.PlanConfirmed:
		return nil
	case human.PlanModified:
		tasks, may := one.Confirmed()
		if !may { // words only: the agent plans anew
			order = human.Order{Kind: human.Stop, Task: task.ID, Text: order.Text}
			break
		}
		var rest []human.Task
		for _, t := range op.Run.Tasks {
			switch {
			case t.ID == task.ID:
				rest = append(rest, tasks...)
			case t.State == human.TaskWaiting:
				rest = append(rest, t.Task)
			}
		}
		if slices.ContainsFunc(rest, func(t human.Task) bool { return t.ID == task.ID && t.Same(task.Task) }) && len(tasks) == 1 {
			return nil
		}
		sum, err := s.withChange(ctx, op, rest)
		if err != nil {
			return err
		}
		order = human.Order{Kind: human.Change, Tasks: rest, Changes: inRun(op.Run, Compare(waiting(op), rest)), Summary: sum, Text: order.Text}
	case human.PlanTimeout:
		who = human.Actor{Role: human.System}
		order = human.Order{Kind: human.Stop, Text: "No operator answered about the task \"" + human.OneLine(task.Description, 80) + "\" in time."}
	}
	if one.Ended != nil && who.Role == "" {
		order.Text, who = one.Ended.Reason, one.Ended.By
	}
	if who.Role == human.Agent { // it withdrew its own question
		who = human.Actor{Role: human.System}
	}
	_, err := s.d.Queue.Note(ctx, who, op.ID, human.Event{Type: human.Ordered, Order: &order})
	if human.KindOf(err) == human.Conflict {
		return nil
	}
	return err
}

// waiting are the tasks of a run that have not begun.
func waiting(op human.Operation) []human.Task {
	var all []human.Task
	for _, t := range op.Run.Tasks {
		if t.State == human.TaskWaiting {
			all = append(all, t.Task)
		}
	}
	return all
}

// inRun gives changes of what waits in a run the places that the tasks have in the whole of it, before and after.
func inRun(run *human.PlanRun, changes []human.TaskChange) []human.TaskChange {
	begun, was := 0, map[string]int{}
	for i, t := range run.Tasks {
		was[t.ID] = i + 1
		if t.State != human.TaskWaiting {
			begun++
		}
	}
	for i := range changes {
		if c := &changes[i]; c.From > 0 {
			c.From = was[c.ID]
		}
		if c := &changes[i]; c.To > 0 {
			c.To += begun
		}
	}
	return changes
}

// withChange is what a plan that runs comes to, once these are its tasks that wait.
func (s *Service) withChange(ctx context.Context, op human.Operation, rest []human.Task) (*human.TasksSummary, error) {
	q, err := op.PlanQuestion()
	if err != nil {
		return nil, err
	}
	run := human.PlanRun{State: op.Run.State, Tasks: slices.DeleteFunc(slices.Clone(op.Run.Tasks), func(t human.TaskRun) bool { return t.State == human.TaskWaiting })}
	sum := s.assess(ctx, op.SessionID, q.Cwd, append(run.Left(), rest...))
	return &sum, nil
}

// Order gives an order to the agent whose plan runs (P9).
func (s *Service) Order(ctx context.Context, by human.Actor, session string, o human.Order) (Status, error) {
	op, err := s.find(ctx, by, session)
	if err != nil {
		return Status{}, err
	}
	if op.Run == nil {
		return Status{}, human.Errorf(human.Conflict, "the plan %s is %s; only a confirmed plan can be paused, changed or stopped", op.ID, op.PlanStatus())
	}
	if len(o.Text) > maxMessage || !utf8.ValidString(o.Text) {
		return Status{}, human.BadField("text", "is %d bytes; the limit is %d, in valid UTF-8", len(o.Text), maxMessage)
	}
	o.Changes = nil
	if o.Kind == human.Change {
		if !s.d.Options().Modify {
			return Status{}, human.Errorf(human.Denied, "plans cannot be changed (the setting plan.allow_task_modification is false); skip tasks, or stop this one")
		}
		begun := func(id string) bool { t, is := op.Run.Task(id); return is && t.State != human.TaskWaiting }
		if i := slices.IndexFunc(o.Tasks, func(t human.Task) bool { return begun(t.ID) }); i >= 0 {
			t, _ := op.Run.Task(o.Tasks[i].ID)
			return Status{}, human.Errorf(human.Conflict, "task %s is %s; only tasks that have not started can be changed", t.ID, t.State)
		}
		if o.Tasks, err = replaced(waiting(op), o.Tasks, "tasks", op.UsedTask); err != nil {
			return Status{}, err
		}
		if o.Changes = Compare(waiting(op), o.Tasks, o.Moved...); len(o.Changes) == 0 {
			return Status{}, human.BadField("tasks", "are the same as the tasks that wait now")
		}
		o.Changes = inRun(op.Run, o.Changes)
		if o.Summary, err = s.withChange(ctx, op, o.Tasks); err != nil {
			return Status{}, err
		}
	} else {
		o.Tasks, o.Summary = nil, nil
	}
	o.Moved = nil // the changes tell
	if o.Kind != human.Skip {
		o.Task = ""
	}
	if op, err = s.d.Queue.Note(ctx, by, op.ID, human.Event{Type: human.Ordered, Order: &o}); err != nil {
		return Status{}, err
	}
	return StatusOf(op)
}

// Assess says what tasks come to, for an editor of the plan. Nothing is changed.
func (s *Service) Assess(ctx context.Context, by human.Actor, session string, tasks []human.Task) (human.TasksSummary, error) {
	op, err := s.find(ctx, by, session)
	if err != nil {
		return human.TasksSummary{}, err
	}
	q, err := op.PlanQuestion()
	if err != nil {
		return human.TasksSummary{}, err
	}
	if tasks, err = checkTasks(tasks, "tasks", func(string) bool { return false }); err != nil {
		return human.TasksSummary{}, err
	}
	return s.assess(ctx, op.SessionID, q.Cwd, tasks), nil
}

// Presets are open to agents, too: a plan can begin with one.
func (s *Service) Presets(ctx context.Context, _ human.Actor) ([]Preset, error) {
	return s.d.Store.Presets(ctx)
}

// PutPreset keeps a preset; one with the id of another takes its place.
func (s *Service) PutPreset(ctx context.Context, by human.Actor, p Preset) (Preset, error) {
	p.Name, p.About = strings.TrimSpace(p.Name), strings.TrimSpace(p.About)
	switch {
	case by.Role != human.Operator:
		return p, human.Errorf(human.Denied, "only an operator can save presets")
	case p.Name == "" || len(p.Name) > 200 || !utf8.ValidString(p.Name):
		return p, human.BadField("name", "is empty, or longer than 200 bytes")
	case len(p.About) > maxText || !utf8.ValidString(p.About):
		return p, human.BadField("about", "is longer than %d bytes", maxText)
	case len(p.Tasks) == 0:
		return p, human.BadField("tasks", "is empty; a preset has at least one task")
	case len(p.ID) > 64:
		return p, human.BadField("preset_id", "is not the id of a preset")
	}
	var err error
	if p.Tasks, err = checkTasks(p.Tasks, "tasks", func(string) bool { return false }); err != nil {
		return p, err
	}
	all, err := s.d.Store.Presets(ctx)
	if err != nil {
		return p, err
	}
	if p.ID != "" && !slices.ContainsFunc(all, func(o Preset) bool { return o.ID == p.ID }) {
		return p, human.Errorf(human.NotFound, "there is no preset %q; leave the id out to make a new one", human.OneLine(p.ID, 64))
	}
	if slices.ContainsFunc(all, func(o Preset) bool { return o.ID != p.ID && o.Name == p.Name }) {
		return p, human.Errorf(human.Conflict, "there is a preset %q already", human.OneLine(p.Name, 80))
	}
	p.ID, p.By, p.At = cmp.Or(p.ID, s.d.NewID("preset_")), by.Name, s.d.Now().UTC().Truncate(time.Microsecond)
	return p, s.d.Store.PutPreset(ctx, p)
}

// DropPreset deletes one.
func (s *Service) DropPreset(ctx context.Context, by human.Actor, id string) error {
	if by.Role != human.Operator {
		return human.Errorf(human.Denied, "only an operator can delete presets")
	}
	return s.d.Store.DropPreset(ctx, id)
}
