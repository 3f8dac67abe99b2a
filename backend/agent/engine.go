package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"deskbell/backend/human"
)

// An Engine does a task (P5): it reasons, plans, has its plan confirmed, carries it out task by task, looks at what came of
// it, and plans anew where something failed or an operator wants it otherwise. With Plans, no call of a tool runs but as a
// task that was confirmed and has begun: with that task's tool, and with just its arguments where it has any. With Gate, no
// call runs that the gatekeeper did not allow. An Engine is for one run at a time, as its Journal is.
type Engine struct {
	deps   Deps
	box    toolbox
	offers []ToolSpec // to the model: the same throughout a run, which is what providers cache
	system string
}

// NewEngine returns an engine. The error is Invalid or Internal.
func NewEngine(deps Deps) (*Engine, error) {
	if err := deps.requires(); err != nil {
		return nil, err
	}
	if deps.Judge == nil {
		deps.Judge = StructuredJudge{} // ask_human says so; a greeting at the end of a run must ring nobody
	}
	e := &Engine{deps: deps}
	var err error
	may := func(c Category) bool { return len(deps.About.Categories) == 0 || deps.About.has(c) }
	if e.box, err = newToolbox(deps.Tools, may, proposePlan, askHuman, endTask); err != nil {
		return nil, err
	}
	e.offers = append(slices.Clone(e.box.specs), askHumanSpec)
	if deps.Plans != nil {
		e.offers = append(e.offers, proposePlanSpec, endTaskSpec)
	}
	e.system = instructions(deps)
	return e, nil
}

// Run does a task; of info only the task has to be given. It blocks until the run has ended: with a Result that is
// completed, failed or waiting_input, and no error; or broken off, with ctx's error or the journal's. What is broken off, or
// whose Result is not Over, can be resumed.
func (e *Engine) Run(ctx context.Context, info RunInfo) (Result, error) {
	info.Task = strings.TrimSpace(info.Task)
	if info.Task == "" {
		return Result{}, human.BadField("task", "say what is to be done")
	}
	d := e.deps
	if info.ID == "" {
		info.ID = d.NewID("run_")
	}
	info.Agent, info.Cwd, info.Model = cmp.Or(info.Agent, d.About.Name), cmp.Or(info.Cwd, d.Cwd), cmp.Or(info.Model, d.Model.Name())
	if info.At.IsZero() {
		info.At = d.Now()
	}
	x := e.execution(newRun(d.Judge), info)
	if err := x.keep(ctx, Record{Kind: RunRecord, Run: &info}); err != nil {
		return x.brokenOff(err)
	}
	return x.goOn(ctx, "Thinking about the task")
}

// Resume goes on with a run, from what its journal kept; new records are appended to the same journal. A call that had
// begun and has no end there is told to the model as one that may have run, and is not made again by the engine. Errors
// are as Run's; Invalid where the records are of no run, Conflict where it is over.
func (e *Engine) Resume(ctx context.Context, records []Record) (Result, error) {
	if len(records) == 0 || records[0].Kind != RunRecord || records[0].Run == nil {
		return Result{}, human.Errorf(human.Invalid, "this is no journal of a run")
	}
	r := newRun(e.deps.Judge)
	for i, rec := range records {
		if !rec.whole() {
			return Result{}, human.Errorf(human.Invalid, "record %d of the journal, of kind %q, is not whole", i+1, rec.Kind)
		}
		r.apply(rec)
	}
	if r.ended != nil && r.ended.Over {
		return *r.ended, human.Errorf(human.Conflict, "the run %s has ended: %s", r.info.ID, r.ended.Message)
	}
	x := e.execution(r, r.info)
	if err := x.keep(ctx, Record{Kind: ResumeRecord}); err != nil {
		return x.brokenOff(err)
	}
	return x.goOn(ctx, fmt.Sprintf("Going on after %d calls of tools", r.spent.Steps))
}

// whole says whether a record has what its kind needs.
func (rec Record) whole() bool {
	switch rec.Kind {
	case RunRecord:
		return rec.Run != nil
	case UpdateRecord:
		return rec.Update != nil
	case TurnRecord, AsideRecord:
		return rec.Turn != nil
	case ProposalRecord:
		return rec.Proposal != nil
	case PlanRecord:
		return rec.Plan != nil
	case TaskRecord:
		return rec.Doing != nil || rec.Progress != nil
	case UseRecord:
		return rec.Use != nil
	case DoneRecord:
		return rec.Done != nil
	case EndRecord:
		return rec.Result != nil
	}
	return true // of a later version, perhaps: it is left alone
}

// An execution carries a run to its end.
type execution struct {
	*Engine
	*run
	work work

	broken error // in a function that others called back
	stop   context.CancelFunc
}

func (e *Engine) execution(r *run, info RunInfo) *execution {
	d := e.deps
	d.Cwd = cmp.Or(info.Cwd, d.Cwd)
	return &execution{Engine: e, run: r, work: work{Deps: d, box: e.box, session: info.ID, task: info.Task, spent: r.spent}}
}

func (x *execution) brokenOff(err error) (Result, error) {
	res := x.result(NotDone, "The run was broken off; it can be resumed. "+x.soFar())
	return res, err
}

// goOn takes one step after the other.
func (x *execution) goOn(ctx context.Context, words string) (Result, error) {
	ctx, x.stop = context.WithCancel(ctx)
	defer x.stop()
	if err := x.to(ctx, Reasoning, words); err != nil {
		return x.brokenOff(err)
	}
	for x.ended == nil {
		if err := ctx.Err(); err != nil {
			return x.brokenOff(cmp.Or(x.broken, err))
		}
		if err := x.step(ctx); err != nil {
			if x.broken != nil {
				err = x.broken
			}
			return x.brokenOff(err)
		}
	}
	return *x.ended, nil
}

// step does the next thing, which follows from where the run stands alone.
func (x *execution) step(ctx context.Context) error {
	switch left := x.unanswered(); {
	case x.using != nil:
		return x.mayHaveRun(ctx)
	case x.ending != nil:
		return x.endTask(ctx)
	case x.abandon != "" && x.waiting() != nil:
		return x.giveUp(ctx)
	case x.proposal != nil:
		return x.confirm(ctx)
	case x.asking != nil:
		return x.ask(ctx)
	case len(left) > 0:
		return x.takeCall(ctx, left)
	case x.current != nil && direct(*x.current) && !x.tried:
		return x.doTask(ctx)
	case x.current == nil && x.waiting() != nil:
		return x.beginTask(ctx)
	case x.final != "":
		return x.finish(ctx)
	}
	return x.think(ctx)
}

// keep writes a record to the journal, and then takes it. Its own context outlives ctx: what happened is kept even where
// the run is broken off.
func (x *execution) keep(ctx context.Context, rec Record) error {
	rec.At = x.deps.Now()
	if x.deps.Journal != nil {
		out := rec
		if x.deps.Mask != nil {
			out = (&masker{mask: x.deps.Mask}).record(rec)
		}
		if err := x.deps.Journal.Append(context.WithoutCancel(ctx), out); err != nil {
			return human.Wrap(human.Unavailable, err, "the journal of the run cannot be written, so it stops here")
		}
	}
	x.apply(rec)
	return nil
}

// emit tells an update, in the state at hand.
func (x *execution) emit(ctx context.Context, u Update) error {
	u.At, u.SessionID, u.State = x.deps.Now(), x.info.ID, cmp.Or(u.State, x.state)
	if x.deps.Mask != nil {
		u = *(&masker{mask: x.deps.Mask}).update(u)
	}
	u.Call = clipped(u.Call, maxLine)
	if err := x.keep(ctx, Record{Kind: UpdateRecord, Update: &u}); err != nil {
		return err
	}
	if x.deps.Emit != nil {
		x.deps.Emit(u)
	}
	return nil
}

func (x *execution) status(ctx context.Context, format string, args ...any) error {
	return x.emit(ctx, Update{Type: StatusUpdate, Content: fmt.Sprintf(format, args...)})
}

// to comes to another state.
func (x *execution) to(ctx context.Context, s State, words string) error {
	if x.state == s {
		return nil
	}
	if !x.state.Leads(s) {
		return human.Errorf(human.Internal, "the agent cannot come from %s to %s", x.state, s)
	}
	return x.emit(ctx, Update{Type: StatusUpdate, State: s, Content: words})
}

// called back notes what went wrong in a function that others call, and makes them end.
func (x *execution) calledBack(err error) {
	if err != nil && x.broken == nil {
		x.broken = err
		x.stop()
	}
}

// spentNow is what was spent, for a record.
func (x *execution) spentNow() *Spent {
	s := x.work.spent
	return &s
}

func (x *execution) result(s Status, message string) Result {
	return Result{RunID: x.info.ID, Status: s, Message: message, Tasks: slices.Clone(x.tasks), Spent: x.work.spent}
}

// end ends the run, with a last update.
func (x *execution) end(ctx context.Context, u Update, res Result) error {
	if !u.State.Over() || !x.state.Leads(u.State) {
		return human.Errorf(human.Internal, "the agent cannot end from %s as %s", x.state, u.State)
	}
	u.Spent = x.spentNow()
	if err := x.emit(ctx, u); err != nil {
		return err
	}
	return x.keep(ctx, Record{Kind: EndRecord, Result: &res, Spent: x.spentNow()})
}

// fail ends the run as failed. over: for good, because an operator wants it so.
func (x *execution) fail(ctx context.Context, over bool, why string) error {
	res := x.result(NotDone, joined(why, x.soFar()))
	res.Over = over
	return x.end(ctx, Update{Type: ErrorUpdate, State: Failed, Content: res.Message}, res)
}

// soFar says how far the run has come.
func (x *execution) soFar() string {
	if len(x.tasks) > 0 {
		return "How the plan stands:\n" + listed(x.tasks)
	}
	switch n := x.work.spent.Steps; n {
	case 0:
		return "Nothing was done."
	case 1:
		return "One call of a tool ran before."
	default:
		return fmt.Sprintf("%d calls of tools ran before.", n)
	}
}

// finish ends the run with the model's last words.
func (x *execution) finish(ctx context.Context) error {
	u := Update{Type: FinalResult, State: Completed, Content: x.final}
	if !x.worked {
		u.Type = ConversationalResponse
	}
	res := x.result(Done, x.final)
	res.Over = true
	return x.end(ctx, u, res)
}

// think asks the model what to do next.
func (x *execution) think(ctx context.Context) error {
	if x.barren >= stalled {
		return x.fail(ctx, false, fmt.Sprintf("%s made no progress in %d replies.", x.deps.Model.Name(), stalled))
	}
	if err := x.thinking(ctx); err != nil {
		return err
	}
	if t, any := x.flush(""); any {
		if err := x.keep(ctx, Record{Kind: TurnRecord, Turn: &t}); err != nil {
			return err
		}
	}
	reply, err := x.work.chat(ctx, x.prompt())
	if err != nil {
		return x.modelFailed(ctx, err)
	}
	x.seen.settle(reply.Calls)
	rec := Record{Kind: TurnRecord, Turn: &Turn{Role: Assistant, Text: reply.Text, Calls: reply.Calls, Kept: reply.Kept}, Spent: x.spentNow()}
	switch {
	case reply.Cut && len(reply.Calls) > 0:
		rec.Turn.Text, rec.Turn.Calls, rec.Turn.Kept = cmp.Or(strings.TrimSpace(reply.Text), nothing), nil, nil
		rec.Text = "Your reply was cut off by the limit of tokens, so none of its calls was made. Make it shorter."
	case len(reply.Calls) == 0 && strings.TrimSpace(reply.Text) == "":
		rec.Turn.Text, rec.Turn.Kept = nothing, nil
		rec.Text = "You said nothing. Go on, or say what came of it."
	}
	return x.keep(ctx, rec)
}

// thinking comes to the state in which the model is asked.
func (x *execution) thinking(ctx context.Context) error {
	switch {
	case x.current != nil && x.detour, x.current == nil && (x.why != "" || x.detour):
		return x.to(ctx, Replanning, "Looking for another way")
	case x.current != nil && x.last == OutcomeFailed:
		return x.to(ctx, Evaluating, "Looking at what failed")
	case x.current != nil:
		return x.to(ctx, Executing, "Working on task "+x.current.ID)
	case x.state == Reasoning:
		return nil
	case x.state == Planning, x.state == AwaitingConfirmation:
		return x.to(ctx, Replanning, "The plan could not be taken as it is")
	}
	return x.to(ctx, Evaluating, "Looking at what came of it")
}

func (x *execution) prompt() Prompt {
	return Prompt{System: x.system, Turns: x.turns, Tools: x.offers}
}

// flush is the turn that tells the model what happened since its last one; false where nothing did, or nothing is to be
// said. Calls without a result are answered, too: with held, where they wait for people.
func (x *execution) flush(held string) (t Turn, any bool) {
	notes := strings.Join(x.notes, "\n\n")
	if len(x.open) == 0 {
		if notes == "" && len(x.turns) > 0 && x.turns[len(x.turns)-1].Role == Assistant {
			notes = "Go on."
		}
		return Turn{Role: User, Text: notes}, notes != ""
	}
	t.Role = ToolTurn
	for _, c := range x.open {
		done, has := x.results[c.ID]
		if !has {
			done = CallDone{CallID: c.ID, Failed: true, Text: "It did not run."}
			if held != "" && (x.isBound(c.ID) || x.proposal != nil && slices.Contains(x.proposal.Calls, c.ID) || c.ID == x.proposing() || x.asking != nil && x.asking.ID == c.ID) {
				done = CallDone{CallID: c.ID, Text: held}
			}
		}
		t.Results = append(t.Results, done)
	}
	last := &t.Results[len(t.Results)-1]
	last.Text = joined(last.Text, notes)
	return t, true
}

// modelFailed ends the run where the model did not answer; it can be resumed.
func (x *execution) modelFailed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	why := human.SafeText(err)
	if e := (*human.Error)(nil); !errors.As(err, &e) {
		why = "the model failed: " + err.Error()
	}
	return x.fail(ctx, false, sentence(why))
}

// sentence begins with a capital letter and ends with a mark.
func sentence(s string) string {
	if s == "" {
		return s
	}
	s = strings.ToUpper(s[:1]) + s[1:]
	if !strings.ContainsAny(s[len(s)-1:], ".!?") && !strings.HasSuffix(s, "。") {
		s += "."
	}
	return s
}

// takeCall takes the next call of a reply.
func (x *execution) takeCall(ctx context.Context, left []ToolUse) error {
	use := left[0]
	if i := slices.IndexFunc(left, func(c ToolUse) bool { return c.Name == proposePlan }); i >= 0 && x.deps.Plans != nil {
		use = left[i] // what stands beside a plan does not run
	}
	no := func(why string) error {
		return x.keep(ctx, Record{Kind: DoneRecord, Done: &CallDone{CallID: use.ID, Text: why, Failed: true}})
	}
	args, err := object(use.Args)
	if err != nil {
		return no("It did not run: " + human.SafeText(err) + ".")
	}
	use.Args = args
	switch {
	case use.Name == askHuman:
		if question(use) == "" {
			return no("Nothing was asked: give the question.")
		}
		return x.keep(ctx, Record{Kind: UseRecord, Use: &use})
	case use.Name == endTask && x.deps.Plans != nil:
		if x.current == nil {
			return no("There is no task to end: none has begun.")
		}
		p, err := ended(use.Args)
		if err != nil {
			return no(human.SafeText(err))
		}
		p.Task = x.current.ID
		return x.keep(ctx, Record{Kind: DoneRecord, Done: &CallDone{CallID: use.ID, Text: "Noted."}, Task: p.Task, Progress: &p})
	case use.Name == proposePlan && x.deps.Plans != nil:
		p, err := proposed(use.Args, x.box)
		if err != nil {
			return no("This is no plan that can be confirmed: " + human.SafeText(err) + ".")
		}
		return x.propose(ctx, p)
	case x.box.byName[use.Name] == nil:
		return no("There is no tool of this name here.")
	case x.deps.Plans == nil || x.current != nil:
		return x.perform(ctx, use)
	}
	return x.imply(ctx, left)
}

// imply makes a plan of the calls that the model made without one.
func (x *execution) imply(ctx context.Context, left []ToolUse) error {
	p := Proposal{Message: human.OneLine(cmp.Or(x.turns[len(x.turns)-1].Text, x.info.Task), 300)}
	for _, use := range left {
		args, err := object(use.Args)
		if err != nil || x.box.byName[use.Name] == nil {
			continue // told so in its turn
		}
		p.Tasks = append(p.Tasks, human.Task{
			ID: fmt.Sprintf("t%d", len(p.Tasks)+1), Description: human.OneLine(callLine(use.Name, args), 200), Tool: use.Name, Type: "tool_call", Args: args,
		})
		p.Calls = append(p.Calls, use.ID)
	}
	return x.propose(ctx, p)
}

// propose notes a plan that is to be confirmed.
func (x *execution) propose(ctx context.Context, p Proposal) error {
	why := x.why
	if x.current != nil {
		why = fmt.Sprintf("the agent found another plan while it worked on task %s", x.current.ID)
	}
	if l := x.deps.Limits.Plans; l > 0 && why != "" && x.plans >= l {
		return x.fail(ctx, false, fmt.Sprintf("The limit of %d new plans is reached.", l))
	}
	p.Key, p.Why = x.deps.NewID("plan_"), why
	return x.keep(ctx, Record{Kind: ProposalRecord, Proposal: &p})
}

// confirm has the plan at hand confirmed.
func (x *execution) confirm(ctx context.Context) error {
	p := *x.proposal
	if err := x.to(ctx, Planning, fmt.Sprintf("A plan of %s: %s", counted(len(p.Tasks), "task"), p.Message)); err != nil {
		return err
	}
	c, err := x.deps.Plans.Confirm(ctx, p, func(c Confirmation) {
		if len(c.Tasks) == 0 {
			c.Tasks = p.Tasks
		}
		c.Status = cmp.Or(c.Status, human.PlanPending)
		x.calledBack(x.to(ctx, AwaitingConfirmation, "Waiting for a person to confirm the plan"))
		if x.broken == nil {
			x.calledBack(x.emit(ctx, Update{Type: ConfirmationRequest, Content: p.Message, Plan: &c}))
		}
	}, func(q string) string { return x.askedBack(ctx, q) })
	if human.KindOf(err) == human.Invalid && x.broken == nil {
		return x.keep(ctx, Record{Kind: PlanRecord, Plan: &Confirmation{}, Text: human.SafeText(err)})
	}
	if err != nil || x.broken != nil {
		return x.plansFailed(ctx, err)
	}
	switch {
	case c.Status == human.PlanCancelled:
		return x.fail(ctx, true, joined("An operator cancelled the plan.", operatorSays(c.Message)))
	case c.Status == human.PlanTimeout:
		if err := x.emit(ctx, Update{Type: ConfirmationTimeout, Content: "Nobody confirmed the plan in time, so nothing of it runs."}); err != nil {
			return err
		}
		return x.fail(ctx, true, "Nobody confirmed the plan in time.")
	case c.Status == human.PlanModified && len(c.Tasks) == 0:
		return x.keep(ctx, Record{Kind: PlanRecord, Plan: &c})
	case c.Status != human.PlanConfirmed && c.Status != human.PlanModified, !sound(c.Tasks):
		return x.confirmationError(ctx, "what came back is no confirmed plan")
	}
	if err := x.keep(ctx, Record{Kind: PlanRecord, Plan: &c}); err != nil {
		return err
	}
	return x.emit(ctx, Update{Type: TaskPlan, Content: planned(c), Plan: &c})
}

// sound says whether each task has an id of its own.
func sound(tasks []human.Task) bool {
	seen := map[string]bool{"": true}
	for _, t := range tasks {
		if seen[t.ID] {
			return false
		}
		seen[t.ID] = true
	}
	return len(tasks) > 0
}

func planned(c Confirmation) string {
	how := "confirmed"
	switch {
	case c.Auto == "safe":
		how = "confirmed by itself, since every task is safe"
	case c.Auto != "":
		how = "not to be confirmed here"
	case c.Status == human.PlanModified:
		how = "confirmed with changes"
	}
	return fmt.Sprintf("A plan of %s, %s", counted(len(c.Tasks), "task"), how)
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// plansFailed ends the run where plans cannot be confirmed or followed; it can be resumed.
func (x *execution) plansFailed(ctx context.Context, err error) error {
	if x.broken != nil {
		return x.broken
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return x.confirmationError(ctx, human.SafeText(err))
}

func (x *execution) confirmationError(ctx context.Context, why string) error {
	if err := x.emit(ctx, Update{Type: ConfirmationError, Content: "The plan could not be confirmed or followed: " + why}); err != nil {
		return err
	}
	return x.fail(ctx, false, "The plan could not be confirmed or followed: "+why+".")
}

// beginTask begins the next task that waits.
func (x *execution) beginTask(ctx context.Context) error {
	t := *x.waiting()
	if err := x.to(ctx, Executing, "Carrying out the plan"); err != nil {
		return err
	}
	for asked := 0; ; asked++ {
		st, err := x.deps.Plans.Begin(ctx, t.ID)
		if err != nil || x.broken != nil {
			return x.plansFailed(ctx, err)
		}
		changed, err := x.follow(ctx, st, t.ID)
		if err != nil {
			return err
		}
		switch {
		case st.Go && st.Task.ID != t.ID:
			return x.confirmationError(ctx, "another task than "+t.ID+" was let go")
		case st.Go:
			return x.begun(ctx, st.Task)
		case st.Why == "stopped":
			return x.fail(ctx, true, joined("An operator stopped the plan.", st.Message))
		case st.Why == "skipped":
			if err := x.keep(ctx, Record{Kind: TaskRecord, Progress: &human.TaskProgress{Task: t.ID, State: human.TaskSkipped, Note: st.Message}}); err != nil {
				return err
			}
			return x.emit(ctx, Update{Type: SubTaskResult, Content: cmp.Or(st.Message, t.Description), TaskID: t.ID, Tool: t.Tool, Outcome: OutcomeSkipped})
		case st.Why == "refused":
			return x.skip(ctx, t.ID, cmp.Or(st.Message, "it was refused"))
		case changed:
			return nil
		case st.Why == "paused", st.Why == "asking":
			if asked == 0 {
				err = x.status(ctx, "Task %s waits: %s", t.ID, cmp.Or(st.Message, st.Why))
			}
		case asked >= stalled:
			return x.confirmationError(ctx, "task "+t.ID+" was neither let go nor taken out")
		}
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
	}
}

// begun notes that a task has begun.
func (x *execution) begun(ctx context.Context, t human.Task) error {
	if direct(t) {
		if args, err := object(t.Args); err == nil {
			t.Args = args
		}
	}
	if err := x.to(ctx, Executing, "Carrying out the plan as it is now"); err != nil {
		return err
	}
	if err := x.keep(ctx, Record{Kind: TaskRecord, Task: t.ID, Doing: &t}); err != nil {
		return err
	}
	u := Update{Type: TaskInit, Content: t.Description, TaskID: t.ID, Tool: t.Tool}
	if direct(t) {
		u.Call = wholeLine(t.Tool, t.Args)
	}
	return x.emit(ctx, u)
}

// follow takes what an operator changed of the tasks that wait, beside the one that is about to begin.
func (x *execution) follow(ctx context.Context, st Standing, but string) (changed bool, err error) {
	if st.Tasks == nil {
		return false, nil
	}
	now := x.merged(st.Tasks)
	ours, theirs := waitingOf(x.tasks, but), waitingOf(now, but)
	// That the task about to begin is gone says itself where it was skipped or refused.
	gone := but != "" && !st.Go && st.Why != "skipped" && st.Why != "refused" &&
		!slices.ContainsFunc(now, func(t human.TaskRun) bool { return t.ID == but && t.State == human.TaskWaiting })
	if sameTasks(ours, theirs) && !gone {
		return false, nil
	}
	if err := x.to(ctx, Replanning, "An operator changed the plan"); err != nil {
		return false, err
	}
	if err := x.keep(ctx, Record{Kind: ChangeRecord, Tasks: st.Tasks, Text: st.Message}); err != nil {
		return false, err
	}
	for _, t := range x.tasks {
		if t.State != human.TaskSkipped || !slices.ContainsFunc(ours, func(o human.Task) bool { return o.ID == t.ID }) {
			continue
		}
		if err := x.emit(ctx, Update{Type: SubTaskResult, Content: cmp.Or(t.Note, t.Description), TaskID: t.ID, Tool: t.Tool, Outcome: OutcomeSkipped}); err != nil {
			return false, err
		}
	}
	c := Confirmation{Status: human.PlanModified, Message: st.Message}
	for _, t := range x.tasks {
		c.Tasks = append(c.Tasks, t.Task)
	}
	if err := x.emit(ctx, Update{Type: TaskPlan, Content: "An operator changed the plan", Plan: &c}); err != nil {
		return false, err
	}
	return true, nil
}

func waitingOf(tasks []human.TaskRun, but string) []human.Task {
	var list []human.Task
	for _, t := range tasks {
		if t.State == human.TaskWaiting && t.ID != but {
			list = append(list, t.Task)
		}
	}
	return list
}

// doTask makes the one call that a task with arguments is.
func (x *execution) doTask(ctx context.Context) error {
	t := *x.current
	use := ToolUse{ID: x.callID(), Name: t.Tool, Args: t.Args}
	no := func(why string) error {
		return x.keep(ctx, Record{Kind: DoneRecord, Done: &CallDone{CallID: use.ID, Text: why, Failed: true}, Task: t.ID, Outcome: OutcomeFailed, Text: why})
	}
	switch {
	case x.lost:
		return no("It did not run: the agent was restarted, and what is secret in the call was not kept.")
	case t.Tool == askHuman && question(use) != "":
		return x.keep(ctx, Record{Kind: UseRecord, Use: &use, Task: t.ID})
	case x.box.byName[t.Tool] == nil:
		return no("It did not run: there is no tool of the name " + t.Tool + " here.")
	}
	return x.perform(ctx, use)
}

// perform has a call judged and runs it, between its two records. It is the only way to a tool.
func (x *execution) perform(ctx context.Context, use ToolUse) error {
	rec := Record{Kind: DoneRecord, Done: &CallDone{CallID: use.ID, Failed: true}, Outcome: OutcomeRefused}
	u := Update{Tool: use.Name, Call: wholeLine(use.Name, use.Args)}
	if x.current != nil {
		rec.Task, u.TaskID = x.current.ID, x.current.ID
	}
	if x.deps.Plans != nil {
		if why := notConfirmed(x.current, use); why != "" {
			rec.Done.Text, rec.Text = why, why
			return x.tell(ctx, rec, u)
		}
	}
	if err := x.work.over(); err != nil {
		return x.fail(ctx, false, sentence(human.SafeText(err)))
	}
	if err := x.before(ctx, u); err != nil {
		return err
	}
	tool := x.box.byName[use.Name]
	args, changed, no, err := x.work.judged(ctx, use, tool)
	if err != nil {
		return err
	}
	if no != "" {
		rec.Done.Text, rec.Text = string(no), "refused: "+human.OneLine(strings.TrimPrefix(string(no), "This call was refused and did not run."), 300)
		return x.tell(ctx, rec, u)
	}
	use.Args = args
	if err := x.keep(ctx, Record{Kind: UseRecord, Use: &use, Task: rec.Task}); err != nil {
		return err
	}
	out, err := x.work.perform(ctx, tool, args)
	rec.Outcome = OutcomeDone
	if out.Failed {
		rec.Outcome = OutcomeFailed
	}
	rec.Done.Text, rec.Done.Failed = joined(changed, x.work.data(use.Name, out)), out.Failed
	rec.Text, rec.Spent = human.OneLine(out.Text, 300), x.spentNow()
	u.Call = wholeLine(use.Name, args)
	if told := x.tell(ctx, rec, u); told != nil {
		return told
	}
	return err
}

// notConfirmed says why a call is none of the task that runs; empty where it is.
func notConfirmed(t *human.Task, use ToolUse) string {
	const instead = " It did not run. Propose another plan with it, or do without."
	switch {
	case t == nil:
		return "This call is in no confirmed plan." + instead
	case t.Tool != use.Name:
		return fmt.Sprintf("This call is not in the confirmed plan: task %s is done with %s.", t.ID, cmp.Or(t.Tool, "no tool")) + instead
	case direct(*t) && !sameArgs(t.Args, use.Args):
		return fmt.Sprintf("This call is not in the confirmed plan: task %s was confirmed with just the arguments %s.", t.ID, t.Args) + instead
	}
	return ""
}

// before tells that a call is about to be made, where no update about a task has told it.
func (x *execution) before(ctx context.Context, u Update) error {
	switch {
	case x.current == nil:
		if err := x.to(ctx, Executing, "Working"); err != nil {
			return err
		}
		u.Type, u.Content = TaskInit, human.OneLine(u.Call, 200)
	case direct(*x.current):
		return nil
	default:
		if err := x.to(ctx, Executing, "Working on task "+x.current.ID); err != nil {
			return err
		}
		u.Type, u.Content = StatusUpdate, "Calling "+u.Tool
	}
	return x.emit(ctx, u)
}

// tell notes what came of a call, and tells it where no update about the task will.
func (x *execution) tell(ctx context.Context, rec Record, u Update) error {
	u.Outcome, u.Content = rec.Outcome, rec.Text
	u.Type = StatusUpdate
	if x.current == nil {
		u.Type = SubTaskResult
	}
	told := x.current != nil && direct(*x.current) && rec.Done.CallID == x.callID() && rec.Outcome == OutcomeDone
	if err := x.keep(ctx, rec); err != nil {
		return err
	}
	if told {
		return nil
	}
	return x.emit(ctx, u)
}

// mayHaveRun takes a call that had begun when the agent was killed.
func (x *execution) mayHaveRun(ctx context.Context) error {
	line := callLine(x.using.Name, x.using.Args)
	why := "The agent was stopped while it called " + line + ". The call may have run, in part or whole, or not at all: look before you do it again."
	rec := Record{Kind: DoneRecord, Done: &CallDone{CallID: x.using.ID, Text: why, Failed: true}, Outcome: OutcomeFailed, Text: "it may have run; the agent was stopped meanwhile"}
	u := Update{Tool: x.using.Name, Call: line}
	if x.current != nil {
		rec.Task, u.TaskID = x.current.ID, x.current.ID
	}
	return x.tell(ctx, rec, u)
}

// endTask reports how the task at hand has ended.
func (x *execution) endTask(ctx context.Context) error {
	p, t := *x.ending, *x.current
	if err := x.to(ctx, Evaluating, "Task "+p.Task+" has ended"); err != nil {
		return err
	}
	refused := x.last == OutcomeRefused
	st, err := x.deps.Plans.End(ctx, p)
	if err != nil || x.broken != nil {
		return x.plansFailed(ctx, err)
	}
	if _, err := x.follow(ctx, st, ""); err != nil {
		return err
	}
	if err := x.keep(ctx, Record{Kind: TaskRecord, Progress: &p}); err != nil {
		return err
	}
	u := Update{Type: SubTaskResult, Content: cmp.Or(p.Note, t.Description), TaskID: p.Task, Tool: t.Tool, Outcome: string(p.State)}
	if direct(t) {
		u.Call = wholeLine(t.Tool, t.Args)
	}
	if refused && p.State == human.TaskFailed {
		u.Outcome = OutcomeRefused
	}
	if err := x.emit(ctx, u); err != nil {
		return err
	}
	if st.Why == "stopped" {
		return x.fail(ctx, true, joined("An operator stopped the plan.", st.Message))
	}
	return nil
}

// giveUp takes out the next task that waits, of a plan that is not gone on with.
func (x *execution) giveUp(ctx context.Context) error {
	return x.skip(ctx, x.waiting().ID, "")
}

// skip takes a task out that waits; refused are an operator's words, where they refused it.
func (x *execution) skip(ctx context.Context, id, refused string) error {
	p := human.TaskProgress{Task: id, State: human.TaskSkipped, Note: cmp.Or(refused, x.abandon)}
	_, err := x.deps.Plans.End(ctx, p)
	if kind := human.KindOf(err); x.broken != nil || err != nil && (ctx.Err() != nil || kind != human.Conflict && kind != human.NotFound) {
		return x.plansFailed(ctx, err)
	}
	if err := x.keep(ctx, Record{Kind: TaskRecord, Progress: &p, Text: refused}); err != nil {
		return err
	}
	return x.emit(ctx, Update{Type: SubTaskResult, Content: p.Note, TaskID: id, Outcome: OutcomeSkipped})
}

// ask puts a question to people.
func (x *execution) ask(ctx context.Context) error {
	use := *x.asking
	q := question(use)
	if err := x.status(ctx, "Asking: %s", q); err != nil {
		return err
	}
	if x.deps.Asker == nil {
		res := x.result(WaitingInput, q)
		res.Prompt = q
		return x.keep(ctx, Record{Kind: EndRecord, Result: &res, Spent: x.spentNow()})
	}
	answer, err := x.deps.Asker.Ask(ctx, q, func(q string) string { return x.askedBack(ctx, q) })
	if x.broken != nil {
		return x.broken
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	rec := Record{Kind: DoneRecord, Done: &CallDone{CallID: use.ID, Text: "You asked: " + q + "\nThe person answered: " + answer}}
	if err != nil {
		rec.Done.Text, rec.Done.Failed = "You asked: "+q+"\nNobody answered: "+human.SafeText(err), true
	}
	if x.current != nil && use.ID == x.callID() { // the task is the question
		rec.Task, rec.Outcome, rec.Text = x.current.ID, OutcomeDone, human.OneLine(answer, 300)
		if err != nil {
			rec.Outcome = OutcomeFailed
		}
	}
	return x.keep(ctx, rec)
}

// askedBack has the model answer what an operator asks while they are asked (M6). Its answer decides nothing: calls in it
// are not made.
func (x *execution) askedBack(ctx context.Context, q string) string {
	t, _ := x.flush("It waits for a person.")
	words := "A person who was asked asks you back: " + q + "\nAnswer them now, in a few plain words. Call no tools: only your text is shown to them."
	if t.Role == ToolTurn {
		last := &t.Results[len(t.Results)-1]
		last.Text = joined(last.Text, words)
	} else {
		t.Text = joined(t.Text, words)
	}
	err := x.keep(ctx, Record{Kind: AsideRecord, Turn: &t})
	if err == nil {
		err = x.status(ctx, "An operator asks: %s", q)
	}
	if err != nil {
		x.calledBack(err)
		return ""
	}
	reply, err := x.work.chat(ctx, x.prompt())
	if err != nil {
		reply.Text = "The agent cannot answer now: " + human.SafeText(err)
	}
	text := strings.TrimSpace(reply.Text)
	for _, c := range reply.Calls {
		text = joined(text, question(c))
	}
	if text == "" {
		text = "I have no answer to this."
	}
	err = x.keep(ctx, Record{Kind: AsideRecord, Turn: &Turn{Role: Assistant, Text: text}, Spent: x.spentNow()})
	if err == nil {
		err = x.status(ctx, "Answered: %s", text)
	}
	x.calledBack(err)
	return text
}
