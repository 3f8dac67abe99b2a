package human

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"
)

// Plan is the kind of operation by which an agent has its plan confirmed before it runs (P2). The plan is in details, as
// a PlanQuestion.
const Plan Kind = "plan"

// PlanStatus is where a plan stands (P3).
type PlanStatus string

// The statuses. All but the first are final.
const (
	PlanPending   PlanStatus = "pending"
	PlanConfirmed PlanStatus = "confirmed"
	PlanModified  PlanStatus = "modified"
	PlanCancelled PlanStatus = "cancelled"
	PlanTimeout   PlanStatus = "timeout"
)

// PlanSentBack is a PlanOutcome: what agents get as modified without tasks. An operator said in words what to change, so that
// nothing of the plan runs.
const PlanSentBack PlanStatus = "sent_back"

// PlanAction is what an operator does with a plan (P2).
type PlanAction string

// The actions.
const (
	ConfirmPlan PlanAction = "confirm"
	ModifyPlan  PlanAction = "modify"
	CancelPlan  PlanAction = "cancel"
)

// A Task is one step of a plan (P2). Its id is unique in its plan and stays the same when the task is changed or moved.
type Task struct {
	ID              string          `json:"id,omitempty" doc:"Unique in its plan; absent: t1, t2 ... in order."`
	Description     string          `json:"description"`
	Tool            string          `json:"tool_name,omitempty" doc:"The tool it would be done with."`
	Type            string          `json:"type,omitempty" doc:"The agent's own word for what sort of task it is."`
	Priority        int             `json:"priority,omitempty" doc:"The agent's own number; tasks run in their order, whatever it is."`
	ExpectedOutcome string          `json:"expected_outcome,omitempty"`
	Args            json.RawMessage `json:"args,omitempty" doc:"The tool's arguments, where they are known before: the task is then confirmed with just these."`
}

// Same says whether two tasks are alike but for their ids.
func (t Task) Same(o Task) bool {
	return t.Description == o.Description && t.Tool == o.Tool && t.Type == o.Type && t.Priority == o.Priority &&
		t.ExpectedOutcome == o.ExpectedOutcome && bytes.Equal(t.Args, o.Args)
}

// SameTasks says whether two lists have the same tasks in the same order.
func SameTasks(a, b []Task) bool {
	return slices.EqualFunc(a, b, func(x, y Task) bool { return x.ID == y.ID && x.Same(y) })
}

// A PlanQuestion is the details of an operation of kind plan. An answer is bound to its exact bytes.
type PlanQuestion struct {
	Risk          Risk         `json:"risk_level" enum:"none,low,medium,high,critical"`
	Tasks         []Task       `json:"tasks"`
	Summary       TasksSummary `json:"tasks_summary"`
	Options       []PlanAction `json:"options" enum:"confirm,modify,cancel"`
	Confirmations int          `json:"confirmations" doc:"How many operators have to agree."`
	Operators     []string     `json:"operators,omitempty" doc:"Who all have to be among them."`
	Cwd           string       `json:"cwd,omitempty" doc:"The folder that it would run in."`
	Of            OperationID  `json:"of,omitempty" doc:"The plan this task is of, where tasks are confirmed one by one."`
	Replaces      OperationID  `json:"replaces,omitempty" doc:"The plan before it, of the same session."`
	Why           string       `json:"why,omitempty" doc:"Why there is a new plan, in the agent's words."`
}

// Together says whether more than one operator has a say.
func (q PlanQuestion) Together() bool { return q.Confirmations > 1 || len(q.Operators) > 0 }

// A TasksSummary is what a plan comes to (P4).
type TasksSummary struct {
	Total     int           `json:"total_tasks"`
	Tasks     []TaskSummary `json:"tasks"`
	Risk      Risk          `json:"risk_level" enum:"none,low,medium,high,critical"`
	Writes    int           `json:"writes" doc:"How many tasks change something."`
	Seconds   float64       `json:"estimated_seconds,omitempty" doc:"From history; of the tasks that it knows."`
	Estimated int           `json:"estimated_tasks" doc:"How many tasks history knows."`
	Runs      int           `json:"runs" doc:"How many runs the estimate of the best known task is from."`
}

// Summarize adds up what is known of the tasks of a plan.
func Summarize(tasks []TaskSummary) TasksSummary {
	sum := TasksSummary{Total: len(tasks), Tasks: slices.Clone(tasks), Risk: NoRisk}
	for i := range sum.Tasks {
		t := &sum.Tasks[i]
		t.Index = i + 1
		if t.Runs > 0 {
			sum.Seconds += t.Seconds
			sum.Estimated++
			sum.Runs = max(sum.Runs, t.Runs)
		}
		if t.Writes {
			sum.Writes++
		}
		if t.Risk.Level() > sum.Risk.Level() {
			sum.Risk = t.Risk
		}
	}
	return sum
}

// A TaskSummary is what is known of one task of a plan.
type TaskSummary struct {
	Index           int        `json:"index" doc:"From 1."`
	ID              string     `json:"id"`
	Description     string     `json:"description"`
	Tool            string     `json:"tool"`
	Type            string     `json:"type,omitempty"`
	Priority        int        `json:"priority,omitempty"`
	ExpectedOutcome string     `json:"expected_outcome,omitempty"`
	Risk            Risk       `json:"risk_level" enum:"none,low,medium,high,critical"`
	Effects         []Effect   `json:"effects,omitempty" doc:"What it would do, the most severe first, at most 8; from its arguments."`
	Said            []Sentence `json:"said,omitempty" doc:"Of high and critical risk: why."`
	Asked           bool       `json:"asked,omitempty" doc:"The gatekeeper will ask again before it runs."`
	Writes          bool       `json:"writes,omitempty" doc:"It changes something."`
	Reads           bool       `json:"reads,omitempty" doc:"It does nothing but read what is here, and no secret: a command can be tried."`
	Seconds         float64    `json:"estimated_seconds,omitempty" doc:"The median of earlier runs of such a task."`
	Runs            int        `json:"runs,omitempty" doc:"How many those were."`
}

// Tried is what came of a command of a plan that an operator had run before answering, confined so that it changes nothing.
type Tried struct {
	Output  string    `json:"output" doc:"What it wrote, both streams, secrets masked; the first 64 KB."`
	Code    int       `json:"exit_code"`
	Seconds float64   `json:"seconds"`
	Said    *Sentence `json:"said,omitempty" doc:"Why it was ended, where it was."`
}

// A PlanAnswer is the part of an answer that plans have beside the words.
type PlanAnswer struct {
	Action     PlanAction   `json:"action" enum:"confirm,modify,cancel"`
	Tasks      []Task       `json:"tasks,omitempty" doc:"Every task that may run, in order; none where human_input says what to change."`
	Changes    []TaskChange `json:"changes,omitempty" doc:"What that changed."`
	TaskByTask bool         `json:"task_by_task,omitempty" doc:"Each task is confirmed by itself before it runs."`

	Summary *TasksSummary `json:"tasks_summary,omitempty" doc:"Of modify with tasks: what they come to."`
	Auto    bool          `json:"auto,omitempty" doc:"No operator was asked: every task is safe, and the settings say that such plans need no answer."`
}

// Agrees says whether an answer lets the same tasks run in the same way: two operators who give such answers agree.
func (a PlanAnswer) Agrees(o PlanAnswer) bool {
	return a.Action == o.Action && a.TaskByTask == o.TaskByTask && SameTasks(a.Tasks, o.Tasks)
}

// ChangeKind is how a task differs between two lists.
type ChangeKind string

// The kinds of changes.
const (
	TaskAdded   ChangeKind = "added"
	TaskRemoved ChangeKind = "removed"
	TaskChanged ChangeKind = "changed"
	TaskMoved   ChangeKind = "moved"
)

// A TaskChange is one difference between two lists of tasks. A task that was both moved and changed has two.
type TaskChange struct {
	Kind        ChangeKind    `json:"change" enum:"added,removed,changed,moved"`
	ID          string        `json:"id"`
	Description string        `json:"description" doc:"As it is now; of a removed one, as it was."`
	From        int           `json:"from,omitempty" doc:"Its place before, from 1."`
	To          int           `json:"to,omitempty" doc:"Its place now, from 1."`
	Fields      []FieldChange `json:"fields,omitempty" doc:"Of changed."`
}

// A FieldChange is one field of a task before and after.
type FieldChange struct {
	Field string `json:"field" enum:"description,tool_name,type,priority,expected_outcome,args"`
	Was   string `json:"was"`
	Is    string `json:"is"`
}

// A Vote is one operator's answer to a plan that needs more than one.
type Vote struct {
	By     Actor     `json:"by"`
	At     time.Time `json:"at"`
	Answer Answer    `json:"answer"`
}

// PlanRunState is how the run of a plan stands.
type PlanRunState string

// The states of a run.
const (
	RunWaiting  PlanRunState = "waiting" // confirmed, and no task has begun
	RunRunning  PlanRunState = "running"
	RunPaused   PlanRunState = "paused" // by an operator; no task begins
	RunStopped  PlanRunState = "stopped"
	RunFinished PlanRunState = "finished" // every task has ended
)

// TaskState is how one task of a running plan stands.
type TaskState string

// The states of a task. The last three are final.
const (
	TaskWaiting TaskState = "waiting"
	TaskRunning TaskState = "running"
	TaskDone    TaskState = "done"
	TaskFailed  TaskState = "failed"
	TaskSkipped TaskState = "skipped"
)

// Over says whether a task in this state will not run any more.
func (s TaskState) Over() bool { return s == TaskDone || s == TaskFailed || s == TaskSkipped }

// A PlanRun is how far a confirmed plan has come.
type PlanRun struct {
	State  PlanRunState `json:"state" enum:"waiting,running,paused,stopped,finished"`
	Tasks  []TaskRun    `json:"tasks" doc:"All that are to run or have run, in order."`
	Orders []GivenOrder `json:"orders" doc:"What operators ordered meanwhile, in order."`

	Summary *TasksSummary `json:"tasks_summary,omitempty" doc:"What the tasks come to that are not skipped; absent where they are those that the agent submitted."`
}

// A TaskRun is one task of a running plan.
type TaskRun struct {
	Task
	State   TaskState  `json:"state" enum:"waiting,running,done,failed,skipped"`
	Began   *time.Time `json:"began_at,omitempty"`
	Ended   *time.Time `json:"ended_at,omitempty"`
	Note    string     `json:"note,omitempty" doc:"What came of it, in the agent's words; or why it was skipped."`
	Skipped string     `json:"skipped_by,omitempty"`
}

// TaskProgress is what an agent says about one task that it works on. That a task runs which runs already is only a note:
// what is to be known of it meanwhile.
type TaskProgress struct {
	Task  string    `json:"task_id"`
	State TaskState `json:"state" enum:"running,done,failed,skipped"`
	Note  string    `json:"note,omitempty"`
}

// OrderKind is what an operator orders while a plan runs (P9).
type OrderKind string

// The orders.
const (
	Pause  OrderKind = "pause"
	Resume OrderKind = "resume"
	Skip   OrderKind = "skip"   // one task that has not begun
	Stop   OrderKind = "stop"   // no task begins any more
	Change OrderKind = "change" // the tasks that have not begun are replaced
)

// An Order is an operator's, to an agent whose plan runs.
type Order struct {
	Kind    OrderKind    `json:"order" enum:"pause,resume,skip,stop,change"`
	Task    string       `json:"task_id,omitempty" doc:"Of skip."`
	Tasks   []Task       `json:"tasks,omitempty" doc:"Of change: every task that is still to run, in order."`
	Changes []TaskChange `json:"changes,omitempty" doc:"Of change: what it changed."`
	Moved   []string     `json:"moved,omitempty" doc:"Of change, as it is sent: ids of the tasks that were taken hold of. Where two can be said to have moved, it is these."`
	Text    string       `json:"text,omitempty" doc:"Words for the agent."`

	Summary *TasksSummary `json:"tasks_summary,omitempty" doc:"Of change: what the whole plan comes to with it."`
}

// A GivenOrder is an order with who gave it and when.
type GivenOrder struct {
	Order
	By Actor     `json:"by"`
	At time.Time `json:"at"`
}

// PlanState is the part of an operation that plans have beside what every kind has. Their own events change it.
type PlanState struct {
	Votes    []Vote      `json:"votes,omitempty" doc:"Of a plan that several operators have to confirm: what each said last."`
	Run      *PlanRun    `json:"run,omitempty" doc:"Of a confirmed plan: how far it has come."`
	Together bool        `json:"together,omitempty" doc:"Of a plan: more than one operator has a say."`
	PartOf   OperationID `json:"part_of,omitempty" doc:"Of one task of a plan, which is confirmed by itself: the plan."`
}

// planLife is what plans add to the life cycle: operators vote, and the run of a confirmed plan continues after its end.
var planLife = life{
	invoked: func(o Operation) Operation {
		if q, err := o.PlanQuestion(); err == nil { // what is folded later has no details
			o.Together, o.PartOf = q.Together(), q.Of
		}
		return o
	},
	finished: (*Operation).begin,
	events: map[EventType]lifeEvent{
		Voted:      {allows: Operation.mayVote, apply: (*Operation).vote},
		Progressed: {allows: Operation.mayProgress, apply: (*Operation).progress},
		Ordered:    {allows: Operation.mayOrder, apply: (*Operation).order},
	},
}

// PlanQuestion reads the details of an operation of kind plan; the error is Internal where they are none.
func (o Operation) PlanQuestion() (q PlanQuestion, err error) {
	if o.Kind != Plan {
		return q, Errorf(Internal, "operation %s is not a plan", o.ID)
	}
	if err := json.Unmarshal(o.Details, &q); err != nil {
		return q, Wrap(Internal, err, "the plan of operation %s cannot be read", o.ID)
	}
	return q, nil
}

// PlanStatus says where a plan stands. A plan that its agent withdrew, or an operator declined, is canceled.
func (o Operation) PlanStatus() PlanStatus {
	switch o.State {
	case Cancelled, Declined:
		if o.Overdue && o.Ended != nil && o.Ended.By.Role == System {
			return PlanTimeout
		}
		return PlanCancelled
	case Completed:
		switch a := o.planAnswer(); a.Action {
		case ConfirmPlan:
			return PlanConfirmed
		case ModifyPlan:
			return PlanModified
		default:
			return PlanCancelled
		}
	}
	return PlanPending
}

// PlanOutcome is PlanStatus as people get it and plans are counted: sent_back where words sent a plan back.
func (o Operation) PlanOutcome() PlanStatus {
	status := o.PlanStatus()
	if status == PlanModified && len(o.planAnswer().Tasks) == 0 {
		return PlanSentBack
	}
	return status
}

// planAnswer is what the operator did with a plan.
func (o Operation) planAnswer() PlanAnswer {
	switch {
	case o.Result == nil:
		return PlanAnswer{}
	case o.Result.Plan != nil:
		return *o.Result.Plan
	}
	return PlanAnswer{Action: CancelPlan}
}

// Confirmed returns the tasks that may run, and whether any may: those of the plan, or those it was changed into.
func (o Operation) Confirmed() (tasks []Task, may bool) {
	if o.Kind != Plan || o.State != Completed {
		return nil, false
	}
	tasks = o.planAnswer().Tasks
	return tasks, len(tasks) > 0
}

// begin makes the run of a plan that was just confirmed. One task of a plan has none: it runs in that plan.
func (o *Operation) begin() {
	tasks, may := o.Confirmed()
	if !may || o.PartOf != "" {
		return
	}
	run := &PlanRun{State: RunWaiting, Tasks: make([]TaskRun, len(tasks)), Orders: []GivenOrder{}, Summary: o.planAnswer().Summary}
	for i, t := range tasks {
		run.Tasks[i] = TaskRun{Task: t, State: TaskWaiting}
	}
	o.Run = run
	o.comesTo(run.Summary)
}

// comesTo takes what a plan comes to whose tasks were changed.
func (o *Operation) comesTo(sum *TasksSummary) {
	if sum != nil {
		o.Risk = sum.Risk
	}
}

// clone is a copy that can be changed.
func (r *PlanRun) clone() *PlanRun {
	c := *r
	c.Tasks, c.Orders = slices.Clone(r.Tasks), slices.Clone(r.Orders)
	return &c
}

func (r *PlanRun) find(id string) int {
	return slices.IndexFunc(r.Tasks, func(t TaskRun) bool { return t.ID == id })
}

// Task returns a task of the run; false without.
func (r *PlanRun) Task(id string) (TaskRun, bool) {
	if i := r.find(id); i >= 0 {
		return r.Tasks[i], true
	}
	return TaskRun{}, false
}

// Left are the tasks that have run, run, or may still run, in order.
func (r *PlanRun) Left() []Task {
	left := []Task{}
	for _, t := range r.Tasks {
		if t.State != TaskSkipped && (t.State != TaskWaiting || r.State != RunStopped) {
			left = append(left, t.Task)
		}
	}
	return left
}

// UsedTask says whether a task of a confirmed plan has, or once had, this id.
func (o Operation) UsedTask(id string) bool {
	answer := o.planAnswer()
	used := func(tasks []Task, changes []TaskChange) bool {
		return slices.ContainsFunc(tasks, func(t Task) bool { return t.ID == id }) ||
			slices.ContainsFunc(changes, func(c TaskChange) bool { return c.ID == id })
	}
	if used(answer.Tasks, answer.Changes) {
		return true
	}
	return o.Run != nil && slices.ContainsFunc(o.Run.Orders, func(g GivenOrder) bool { return used(g.Tasks, g.Changes) })
}

// Over says whether no task will begin any more.
func (r *PlanRun) Over() bool { return r.State == RunStopped || r.State == RunFinished }

// settle brings the run's state up to what its tasks are.
func (r *PlanRun) settle() {
	if r.State == RunStopped {
		return
	}
	if !slices.ContainsFunc(r.Tasks, func(t TaskRun) bool { return !t.State.Over() }) {
		r.State = RunFinished
	}
}

// mayProgress says, as a Conflict, NotFound or Invalid error, why a task cannot come to this state now. It is where
// "no task runs that was not confirmed" is held: a task begins only in the run of a confirmed plan, that is neither
// paused nor stopped, and only once.
func (o Operation) mayProgress(e Event) error {
	p := e.Progress
	if !o.State.Terminal() {
		return o.openError()
	}
	if e.By.Role != Agent {
		return Errorf(Denied, "only its agent can report the progress of plan %s", o.ID)
	}
	if o.Run == nil || p == nil {
		return Errorf(Conflict, "operation %s is not a confirmed plan", o.ID)
	}
	i := o.Run.find(p.Task)
	if i < 0 {
		return Errorf(NotFound, "the plan %s has no confirmed task %q", o.ID, OneLine(p.Task, 80))
	}
	is := o.Run.Tasks[i].State
	switch {
	case p.State == TaskRunning && is == TaskRunning && p.Note != "": // only a note
		return nil
	case p.State == TaskRunning && is != TaskWaiting:
		return Errorf(Conflict, "task %s is %s already", p.Task, is)
	case p.State == TaskRunning && o.Run.State == RunPaused:
		return Errorf(Conflict, "an operator paused the plan; wait until it continues")
	case p.State == TaskRunning && o.Run.State == RunStopped:
		return Errorf(Conflict, "an operator stopped the plan; do not run its other tasks")
	case p.State == TaskRunning:
		return nil
	case p.State == TaskSkipped && is == TaskWaiting:
		return nil
	case p.State.Over() && is == TaskRunning:
		return nil
	case p.State.Over() && is == TaskWaiting:
		return Errorf(Conflict, "task %s has not started, so it cannot become %s; report it as running first", p.Task, p.State)
	case p.State.Over():
		return Errorf(Conflict, "task %s is %s, so it cannot become %s", p.Task, is, p.State)
	}
	return BadField("state", "%q is not one of running, done, failed, skipped", p.State)
}

// progress takes what the agent says about a task; mayProgress has allowed it.
func (o *Operation) progress(e Event) {
	run, at := o.Run.clone(), e.At
	t := &run.Tasks[run.find(e.Progress.Task)]
	switch {
	case e.Progress.State != TaskRunning:
		t.Ended = &at
	case t.State == TaskWaiting:
		t.Began = &at
		run.State = RunRunning
	}
	t.State, t.Note = e.Progress.State, e.Progress.Note
	run.settle()
	o.Run = run
}

// mayOrder says why an order cannot be given now.
func (o Operation) mayOrder(e Event) error {
	r := e.Order
	if !o.State.Terminal() {
		return o.openError()
	}
	if e.By.Role == Agent {
		return Errorf(Denied, "only an operator can pause, change or stop the plan %s", o.ID)
	}
	if o.Run == nil || r == nil {
		return Errorf(Conflict, "operation %s is not a confirmed plan", o.ID)
	}
	if o.Run.Over() {
		return Errorf(Conflict, "the plan is %s, so it can no longer be changed", o.Run.State)
	}
	switch r.Kind {
	case Pause:
		if o.Run.State == RunPaused {
			return Errorf(Conflict, "the plan is paused already")
		}
	case Resume:
		if o.Run.State != RunPaused {
			return Errorf(Conflict, "the plan is not paused")
		}
	case Skip:
		t, ok := o.Run.Task(r.Task)
		if !ok {
			return Errorf(NotFound, "the plan has no task %q", OneLine(r.Task, 80))
		}
		if t.State != TaskWaiting {
			return Errorf(Conflict, "task %s is %s; only a task that has not started can be skipped", r.Task, t.State)
		}
	case Stop:
	case Change:
		for _, t := range r.Tasks {
			if was, ok := o.Run.Task(t.ID); ok && was.State != TaskWaiting {
				return Errorf(Conflict, "task %s is %s; only tasks that have not started can be changed", t.ID, was.State)
			}
		}
	default:
		return BadField("order", "%q is not one of pause, resume, skip, stop, change", r.Kind)
	}
	return nil
}

// order carries out an order; mayOrder has allowed it.
func (o *Operation) order(e Event) {
	run, at := o.Run.clone(), e.At
	switch e.Order.Kind {
	case Pause:
		run.State = RunPaused
	case Resume:
		run.State = RunWaiting
		if slices.ContainsFunc(run.Tasks, func(t TaskRun) bool { return t.State != TaskWaiting }) {
			run.State = RunRunning
		}
	case Skip:
		t := &run.Tasks[run.find(e.Order.Task)]
		t.State, t.Ended, t.Note, t.Skipped = TaskSkipped, &at, e.Order.Text, e.By.Name
	case Stop:
		run.State = RunStopped
	case Change:
		run.Tasks = slices.DeleteFunc(run.Tasks, func(t TaskRun) bool { return t.State == TaskWaiting })
		for _, t := range e.Order.Tasks {
			run.Tasks = append(run.Tasks, TaskRun{Task: t, State: TaskWaiting})
		}
		run.Summary = e.Order.Summary
		o.comesTo(run.Summary)
	}
	run.Orders = append(run.Orders, GivenOrder{Order: *e.Order, By: e.By, At: at})
	run.settle()
	o.Run = run
}

// mayVote says why a vote cannot be given now.
func (o Operation) mayVote(e Event) error {
	if o.State.Terminal() {
		return o.overError()
	}
	if e.Answer == nil || e.Answer.Plan == nil {
		return Errorf(Invalid, "only a plan can be answered by several operators, each with an answer to the plan")
	}
	return nil
}

// vote keeps an operator's answer to a plan that needs several; a later one of the same operator replaces it.
func (o *Operation) vote(e Event) {
	o.Votes = slices.DeleteFunc(slices.Clone(o.Votes), func(v Vote) bool { return v.By == e.By })
	o.Votes = append(o.Votes, Vote{By: e.By, At: e.At, Answer: *e.Answer})
	if o.DraftOf(e.By) != nil {
		o.saveDraft(Event{By: e.By}) // it is sent
	}
	o.SnoozedUntil = nil
}
