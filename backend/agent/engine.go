package agent

import (
	"cmp"
	"context"
	"errors"
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
		deps.Judge = StructuredJudge{Otherwise: WordsJudge{}}
	}
	e := &Engine{deps: deps}
	var err error
	may := func(c Category) bool { return len(deps.About.Categories) == 0 || deps.About.has(c) }
	if e.box, err = newToolbox(deps.Tools, may, proposePlan, askHuman, endTask, finishRun); err != nil {
		return nil, err
	}
	e.offers = append(slices.Clone(e.box.specs), askHumanSpec, finishSpec)
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
	info.Limits = &d.Limits
	if info.At.IsZero() {
		info.At = d.Now()
	}
	x := e.execution(newRun(d.Judge), info)
	if err := x.keep(ctx, Record{Kind: RunRecord, Run: &info}); err != nil {
		return x.brokenOff(ctx, err)
	}
	return x.goOn(ctx, human.Sayf("Thinking about the task"))
}

// Resume continues with a run, from what its journal kept; new records are appended to the same journal. What it has spent
// counts on, against the limits of this engine. A call that had
// begun and has no end there may have run: the engine tells the model so and does not make it again. Errors
// are as Run's; Invalid where the records are of no run, Conflict where it is over.
func (e *Engine) Resume(ctx context.Context, records []Record) (Result, error) {
	if _, err := InfoOf(records); err != nil {
		return Result{}, err
	}
	r := newRun(e.deps.Judge)
	for i, rec := range records {
		if !rec.whole() {
			return Result{}, human.Errorf(human.Invalid, "record %d of the journal (%q) is incomplete", i+1, rec.Kind)
		}
		r.apply(rec)
	}
	if r.ended != nil && r.ended.Over {
		return *r.ended, human.Errorf(human.Conflict, "the run %s has ended: %s", r.info.ID, r.ended.Message)
	}
	x := e.execution(r, r.info)
	info := r.info
	info.Model, info.Limits = e.deps.Model.Name(), &e.deps.Limits
	if err := x.keep(ctx, Record{Kind: ResumeRecord, Run: &info}); err != nil {
		return x.brokenOff(ctx, err)
	}
	if x.current != nil && x.deps.Plans != nil {
		x.deps.Plans.GoesOn(ctx, x.current.ID)
	}
	return x.goOn(ctx, human.Sayf("Continuing after %d calls of tools", r.spent.Steps))
}

// InfoOf is what a journal says of its run: what it was begun with, and the limits that it continued with last. The error
// is Invalid where the records are of no run.
func InfoOf(records []Record) (RunInfo, error) {
	if len(records) == 0 || records[0].Kind != RunRecord || records[0].Run == nil {
		return RunInfo{}, human.Errorf(human.Invalid, "this is not the journal of a run")
	}
	info := *records[0].Run
	for _, rec := range records {
		if rec.Kind == ResumeRecord && rec.Run != nil {
			info = *rec.Run
		}
	}
	return info, nil
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
	case DoneRecord, FinishRecord:
		return rec.Done != nil
	case CutRecord:
		return rec.Cut != nil
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

	shorter bool  // it was told that the conversation was made shorter
	broken  error // in a function that others called back
	stop    context.CancelFunc
}

func (e *Engine) execution(r *run, info RunInfo) *execution {
	d := e.deps
	d.Cwd = cmp.Or(info.Cwd, d.Cwd)
	return &execution{Engine: e, run: r, work: work{Deps: d, box: e.box, session: info.ID, task: info.Task, spent: r.spent}}
}

// brokenOff ends the run where it stands, for a time. The journal says so; that of a run that was killed has no end.
func (x *execution) brokenOff(ctx context.Context, err error) (Result, error) {
	x.stopped(ctx, "The agent was stopped in the middle of it.")
	res := x.result(NotDone, EndInterrupted, "The run was broken off; it can be resumed. "+x.soFar())
	_ = x.keep(ctx, Record{Kind: EndRecord, Result: &res, Spent: x.spentNow()}) // where it cannot be stored, err says why
	return res, err
}

// stopped tells the plan that the task at hand is left in its middle, for a time.
func (x *execution) stopped(ctx context.Context, why string) {
	if x.current != nil && x.deps.Plans != nil {
		x.deps.Plans.Stopped(context.WithoutCancel(ctx), x.current.ID, why)
	}
}

// goOn takes one step after the other.
func (x *execution) goOn(ctx context.Context, words human.Sentence) (Result, error) {
	ctx, x.stop = context.WithCancel(ctx)
	defer x.stop()
	if err := x.to(ctx, Reasoning, words); err != nil {
		return x.brokenOff(ctx, err)
	}
	for x.ended == nil {
		if err := ctx.Err(); err != nil {
			return x.brokenOff(ctx, cmp.Or(x.broken, err))
		}
		if err := x.step(ctx); err != nil {
			if x.broken != nil {
				err = x.broken
			}
			return x.brokenOff(ctx, err)
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
			return human.Wrap(human.Unavailable, err, "the journal of the run cannot be written, so the run stops here")
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
	u.Call = human.Shorten(u.Call, maxLine)
	if err := x.keep(ctx, Record{Kind: UpdateRecord, Update: &u}); err != nil {
		return err
	}
	if x.deps.Emit != nil {
		x.deps.Emit(u)
	}
	return nil
}

func (x *execution) status(ctx context.Context, words human.Sentence) error {
	u := Update{Type: StatusUpdate}
	u.says(words)
	return x.emit(ctx, u)
}

// to comes to another state.
func (x *execution) to(ctx context.Context, s State, words human.Sentence) error {
	if x.state == s {
		return nil
	}
	if !x.state.Leads(s) {
		return human.Errorf(human.Internal, "the agent cannot come from %s to %s", x.state, s)
	}
	u := Update{Type: StatusUpdate, State: s}
	u.says(words)
	return x.emit(ctx, u)
}

// says makes the content of an update of sentences, each on a line of its own.
func (u *Update) says(all ...human.Sentence) {
	for _, s := range all {
		if s.Text == "" {
			continue
		}
		u.Content = joined(u.Content, s.Text)
		if s.Code != "" {
			u.Said = append(u.Said, s)
		}
	}
}

// own are words that are not Deskbell's.
func own(text string) human.Sentence { return human.Sentence{Text: text} }

// saidBy is what an error says, as a sentence.
func saidBy(err error) human.Sentence {
	var e *human.Error
	if errors.As(err, &e) && e.Said.Text == human.SafeText(err) {
		said := e.Said
		said.Text = sentence(said.Text)
		return said
	}
	return own(sentence(human.SafeText(err)))
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

func (x *execution) result(s Status, e Ending, message string) Result {
	return Result{RunID: x.info.ID, Status: s, Ending: e, Over: e.Over(), Message: message, Tasks: slices.Clone(x.tasks), Spent: x.work.spent}
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

// fail ends the run before its task is done.
func (x *execution) fail(ctx context.Context, e Ending, why ...human.Sentence) error {
	u := Update{Type: ErrorUpdate, State: Failed}
	u.says(why...)
	if !e.Over() {
		x.stopped(ctx, "The agent ended in the middle of it. "+u.Content)
	}
	u.says(x.howFar()...)
	return x.end(ctx, u, x.result(NotDone, e, u.Content))
}

// howFar says how far the run has come.
func (x *execution) howFar() []human.Sentence {
	switch n := x.work.spent.Steps; {
	case len(x.tasks) > 0:
		return []human.Sentence{human.Sayf("How the plan stands:"), own(listed(x.tasks))}
	case n == 0:
		return []human.Sentence{human.Sayf("Nothing was done.")}
	default:
		return []human.Sentence{human.Sayf("Calls of tools that ran before: %d", n)}
	}
}

// soFar is howFar as a text.
func (x *execution) soFar() string {
	var u Update
	u.says(x.howFar()...)
	return u.Content
}

// finish ends the run with the model's last words: as done only where no task of the last plan failed.
func (x *execution) finish(ctx context.Context) error {
	if x.outcome == OutcomeFailed || !x.implicit && slices.ContainsFunc(x.tasks, func(t human.TaskRun) bool { return t.State == human.TaskFailed }) {
		return x.end(ctx, Update{Type: ErrorUpdate, State: Failed, Content: x.final}, x.result(NotDone, EndFailed, x.final))
	}
	u := Update{Type: FinalResult, State: Completed, Content: x.final}
	if !x.worked {
		u.Type = ConversationalResponse
	}
	res := x.result(Done, EndDone, x.final)
	return x.end(ctx, u, res)
}
