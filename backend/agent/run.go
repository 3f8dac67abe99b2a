package agent

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"deskbell/backend/human"
)

// The engine's own tools.
const (
	proposePlan = "propose_plan"
	askHuman    = "ask_human"
	endTask     = "end_task"
	finishRun   = "finish"
)

const nothing = "(nothing)" // for a reply without words and calls: models refuse an empty turn

// A run is where the engine stands. Only apply changes it, and it reads nothing but the records, so that a run that was
// killed stands, after its records are applied again, where it stood.
type run struct {
	judge Judge

	info RunInfo
	conversation
	seen     ids
	open     []ToolUse           // calls of the last reply, until a turn with their results follows
	results  map[string]CallDone // of open, by id
	notes    []string            // for the model, with the next turn
	masked   bool                // of open and proposal: secrets are not in them any more
	proposal *Proposal           // that is not decided
	key      string              // of the plan that is carried out
	implicit bool                // the plan is the calls of one reply, which stand for themselves: one that fails stops no other
	bound    map[string]string   // of an implicit plan: the call that a task is
	tasks    []human.TaskRun     // of the plan
	current  *human.Task         // that has begun and not ended, as it is to be done
	tried    bool                // of current: its call was made
	lost     bool                // of current: its arguments were masked in the journal
	last     string              // of current: the outcome of its last call
	ending   *human.TaskProgress // how current ends, to be reported
	abandon  string              // why the tasks that wait are given up
	why      string              // why there has to be a new plan
	detour   bool                // a call was refused: another way is looked for
	asking   *ToolUse            // a question to people that has no answer yet
	using    *ToolUse            // a call that began and has no end
	final    string              // the model's last words
	outcome  string              // that goes with them
	doubted  bool                // the model was asked to say by a tool how it ends
	called   string              // the outcome of the last call of a tool
	worked   bool                // a tool ran, or a plan was confirmed
	barren   int                 // replies in a row that brought nothing
	plans    int                 // how often it was planned anew
	spent    Spent
	state    State
	ended    *Result
}

func newRun(judge Judge) *run {
	return &run{judge: judge, seen: ids{}, results: map[string]CallDone{}, state: Idle}
}

// apply takes one record.
func (r *run) apply(rec Record) {
	if rec.Turn != nil && rec.Turn.Role == Assistant && rec.Spent != nil {
		r.replied(rec.Spent.TokensIn - r.spent.TokensIn)
	}
	if rec.Spent != nil {
		r.spent = *rec.Spent
	}
	switch rec.Kind {
	case RunRecord:
		r.info = *rec.Run
		r.add(Turn{Role: User, Text: rec.Run.Task})
	case UpdateRecord:
		r.state = rec.Update.State
	case TurnRecord, AsideRecord:
		r.turn(rec)
	case ProposalRecord:
		r.propose(rec)
	case PlanRecord:
		r.decide(*rec.Plan, rec.Text)
	case TaskRecord:
		if rec.Doing != nil {
			r.begin(*rec.Doing, rec.Masked)
		} else {
			r.end(*rec.Progress, rec.Text)
		}
	case CutRecord:
		r.cut(*rec.Cut, r.info.Task, r.standing())
	case ChangeRecord:
		if rec.Text != "" {
			r.hear("An operator changed the plan: %s", rec.Text)
		}
		r.implicit = false
		r.tasks = r.merged(rec.Tasks)
		r.note("An operator changed the plan. %s\nIt now is:\n%s", rec.Text, listed(r.tasks))
		r.settle()
	case UseRecord:
		use := *rec.Use
		if use.Name == askHuman {
			r.asking = &use
		} else {
			r.using = &use
		}
	case DoneRecord:
		r.done(rec)
	case FinishRecord:
		r.answer(rec.Done.CallID, rec.Done.Text, false)
		r.drop("", "It did not run: you had finished.")
		r.final, r.outcome = rec.Text, rec.Outcome
	case EndRecord:
		r.ended = rec.Result
	case ResumeRecord:
		if rec.Run != nil { // one of an earlier version has none
			r.info = *rec.Run
		}
		r.resume()
	}
}

// resume takes that the run continues after it was broken off. What had secrets in it that the journal does not have is not
// done as it stands there.
func (r *run) resume() {
	if r.ended != nil && r.ended.Ending == EndFailed && r.final != "" {
		r.final, r.outcome, r.doubted, r.called = "", "", false, ""
		r.note("A person wants you to try again: see what is different now, and continue.")
	}
	r.ended, r.barren, r.state = nil, 0, Idle
	if !r.masked {
		return
	}
	const again = "It did not run: the agent was restarted, and what is secret in it was not kept. Say it again."
	if r.proposal != nil {
		r.answer(r.proposing(), again, true)
		for _, id := range r.proposal.Calls {
			r.answer(id, again, true)
		}
		r.proposal = nil
	}
	r.drop("", again)
}

func (r *run) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// merged is the plan as it is now, where nothing that has begun here waits again. A task that runs there and has not begun
// here still waits: the agent was killed before it could note it, and begins it again.
func (r *run) merged(now []human.TaskRun) []human.TaskRun {
	now = slices.Clone(now)
	for i := range now {
		if now[i].State == human.TaskRunning {
			now[i].State = human.TaskWaiting
		}
		for _, was := range r.tasks {
			if was.ID == now[i].ID && was.State != human.TaskWaiting {
				now[i] = was
			}
		}
	}
	return now
}

// turn takes a turn of the conversation. One that the model says aside, to an operator, decides nothing.
func (r *run) turn(rec Record) {
	t := *rec.Turn
	r.add(t)
	r.open, r.results = t.Calls, map[string]CallDone{}
	if t.Role != Assistant {
		r.notes = nil
		if rec.Text != "" {
			r.hear("A person asked you: %s", rec.Text)
		}
		return
	}
	for _, c := range t.Calls {
		r.seen[c.ID] = true
	}
	r.masked = rec.Masked
	if rec.Kind == AsideRecord {
		r.hear("You answered: %s", t.Text)
		return
	}
	r.barren++
	r.detour = false
	if len(t.Calls) > 0 {
		return
	}
	if rec.Text != "" { // what the model gets for a reply that cannot be used
		r.note("%s", rec.Text)
		return
	}
	judge := r.judge
	if r.current != nil {
		judge = WordsJudge{} // a question in the middle of a task would be taken for its end
	}
	q, asks := judge.Asks(Reply{Text: t.Text}, r.worked)
	failed := outcomeOf(t.Text, r.called)
	if r.current == nil && !r.doubted && (asks || failed == human.TaskFailed) {
		r.doubted = true // which of them it is, a tool says better than words
		r.note("Nothing was called, so it is not clear how this ends. Where you need an answer, call %s. Where you have finished, call %s and say whether it is done or failed.", askHuman, finishRun)
	} else if asks {
		args, _ := json.Marshal(map[string]string{"question": q}) // of a string: cannot fail
		r.asking = &ToolUse{Name: askHuman, Args: args}
	} else if r.current != nil {
		r.ending = &human.TaskProgress{Task: r.current.ID, State: outcomeOf(t.Text, r.last), Note: human.OneLine(t.Text, 300)}
	} else {
		r.final, r.outcome = t.Text, string(failed)
	}
}

var (
	saysFailed = regexp.MustCompile(`(?i)^\W*(?:failed|failure|not done|unable|(?:sorry, )?(?:i |it |this |the task )?(?:could not|couldn't|cannot|can't|can not|was not able|am not able|did not work))|^\P{Han}*(?:任务)?(?:失败|无法|没能|不能|未能|做不到)`)
	saysDone   = regexp.MustCompile(`(?i)^\W*(?:(?:it|that|this|all|everything)(?:\W+(?:is|was|has been|s))?\W+)?(?:now )?(?:done|succeeded|success|completed)\b|^\P{Han}*(?:任务)?(?:已?完成|成功)`)
)

// outcomeOf says whether a task is done, by the model's words at its end. After a call that failed only clear words count:
// what comes next was confirmed in the belief that this works.
func outcomeOf(text, last string) human.TaskState {
	failed := saysFailed.MatchString(text)
	if last == OutcomeFailed || last == OutcomeRefused {
		failed = !saysDone.MatchString(text)
	}
	if failed {
		return human.TaskFailed
	}
	return human.TaskDone
}

// answer gives the result of a call: as that, while the calls of its reply are open; as a note, later.
func (r *run) answer(id, text string, failed bool) {
	if r.isOpen(id) {
		r.results[id] = CallDone{CallID: id, Text: text, Failed: failed}
		return
	}
	r.notes = append(r.notes, text)
}

func (r *run) isOpen(id string) bool {
	return slices.ContainsFunc(r.open, func(c ToolUse) bool { return c.ID == id })
}

// unanswered returns the calls of the last reply that nothing has come of and that stand for no task of the plan.
func (r *run) unanswered() []ToolUse {
	var left []ToolUse
	for _, c := range r.open {
		_, has := r.results[c.ID]
		if !has && !r.isBound(c.ID) && (r.asking == nil || r.asking.ID != c.ID) {
			left = append(left, c)
		}
	}
	return left
}

func (r *run) isBound(call string) bool {
	for _, id := range r.bound {
		if id == call {
			return true
		}
	}
	return false
}

// drop answers the calls that are left, but for one.
func (r *run) drop(but, why string) {
	for _, c := range r.unanswered() {
		if c.ID != but {
			r.answer(c.ID, why, true)
		}
	}
}

// proposing is the call by which the plan at hand was proposed; empty without.
func (r *run) proposing() string {
	for _, c := range r.unanswered() {
		if c.Name == proposePlan {
			return c.ID
		}
	}
	return ""
}

func (r *run) propose(rec Record) {
	p := *rec.Proposal
	r.masked = r.masked || rec.Masked
	r.proposal = &p
	if len(p.Calls) == 0 {
		r.drop(r.proposing(), "It did not run: in a reply with a plan only the plan counts.")
	}
	if p.Why != "" {
		r.plans++
	}
	r.why = ""
	if r.current != nil {
		r.ending = &human.TaskProgress{Task: r.current.ID, State: human.TaskFailed, Note: "another plan was proposed"}
	}
}

// decide takes how the plan at hand was decided.
func (r *run) decide(c Confirmation, unfit string) {
	p := r.proposal
	if p == nil {
		p = &Proposal{}
	}
	call := r.proposing()
	r.proposal, r.bound, r.implicit = nil, nil, false
	if unfit != "" {
		for _, id := range append(slices.Clip(p.Calls), call) {
			r.answer(id, "This is no plan that can be confirmed, so nothing of it runs: "+unfit, true)
		}
		return
	}
	r.barren = 0
	if c.Message != "" {
		r.hear("About the plan %q an operator said: %s", p.Message, c.Message)
	}
	if len(c.Tasks) == 0 {
		r.why = c.Message
		if r.why == "" {
			r.why = "an operator wants another plan"
		}
		text := "The plan was not confirmed, and nothing of it runs. The operator wants it changed: " + r.why + "\nPropose a plan that does so."
		for _, id := range p.Calls {
			r.answer(id, "It did not run: an operator was asked, and wants something else.", true)
		}
		r.answer(call, text, true)
		return
	}
	r.worked, r.key = true, p.Key
	r.tasks = make([]human.TaskRun, len(c.Tasks))
	for i, t := range c.Tasks {
		r.tasks[i] = human.TaskRun{Task: t, State: human.TaskWaiting}
	}
	said := operatorSays(c.Message)
	if len(p.Calls) > 0 && sameTasks(p.Tasks, c.Tasks) {
		r.implicit, r.bound = true, map[string]string{}
		for i, id := range p.Calls {
			r.bound[p.Tasks[i].ID] = id
		}
		if said != "" {
			r.notes = append(r.notes, said)
		}
		return
	}
	for _, id := range p.Calls {
		r.answer(id, "It did not run as it is: an operator was asked, and changed it into the plan that follows.", true)
	}
	how := "The plan is confirmed."
	if !sameTasks(p.Tasks, c.Tasks) {
		how = "The plan is confirmed with changes of an operator's. Only this runs:\n" + listed(r.tasks)
	}
	r.answer(call, joined(how, said, "Its tasks are now carried out one after the other; you learn what comes of each, and where one needs you."), false)
}

// begin takes that a task has begun.
func (r *run) begin(t human.Task, masked bool) {
	i := slices.IndexFunc(r.tasks, func(o human.TaskRun) bool { return o.ID == t.ID && !o.State.Over() })
	if i >= 0 {
		if !sameTask(r.tasks[i].Task, t) && !masked {
			r.note("An operator changed task %s: %s", t.ID, described(t))
		}
		r.tasks[i].Task, r.tasks[i].State = t, human.TaskRunning
	}
	r.current, r.tried, r.lost, r.last = &t, false, masked && direct(t), ""
	if !direct(t) {
		r.note("Now do task %s: %s\n%s", t.ID, described(t), howToDo(t))
	}
}

func howToDo(t human.Task) string {
	tool := "It has no tool: do it in words."
	if t.Tool != "" {
		tool = "For it you may call only " + t.Tool + "."
	}
	return tool + " When it is done, call " + endTask + " and say what came of it; where it cannot be done, say so in the same way."
}

// end takes how a task has ended.
func (r *run) end(p human.TaskProgress, words string) {
	i := slices.IndexFunc(r.tasks, func(o human.TaskRun) bool { return o.ID == p.Task && !o.State.Over() })
	if i >= 0 {
		r.tasks[i].State, r.tasks[i].Note = p.State, p.Note
	}
	if r.current != nil && r.current.ID == p.Task {
		r.current, r.ending, r.tried, r.lost, r.last, r.barren = nil, nil, false, false, "", 0
	}
	if p.State == human.TaskDone {
		r.called = "" // what failed on the way did not matter
	}
	switch {
	case p.State == human.TaskFailed && !r.implicit:
		r.abandon = fmt.Sprintf("task %s failed: %s", p.Task, p.Note)
	case p.State == human.TaskSkipped && words != "": // refused by an operator
		r.hear("An operator denied task %s: %s", p.Task, words)
		r.abandon = fmt.Sprintf("an operator denied task %s: %s", p.Task, words)
	case p.State == human.TaskSkipped && r.abandon == "":
		r.skipped(p)
	}
	r.settle()
}

func (r *run) skipped(p human.TaskProgress) {
	text := joined(fmt.Sprintf("An operator skipped task %s; it did not run.", p.Task), p.Note)
	r.hear("%s", text)
	if id, ok := r.bound[p.Task]; ok {
		r.answer(id, text, true)
	} else {
		r.notes = append(r.notes, text)
	}
}

// settle tells the model, once no task of the plan is left, what to do now.
func (r *run) settle() {
	if r.current != nil || r.waiting() != nil {
		return
	}
	switch {
	case r.abandon != "":
		if r.proposal == nil {
			r.why = r.abandon
			r.note("The plan is given up, because %s\nIt stands like this:\n%s\nPropose another plan, or say what was done and why the rest cannot be.", r.abandon, listed(r.tasks))
		}
		r.abandon = ""
	case !r.implicit:
		r.note("No task of the plan is left. See whether what you were asked for is done. If it is, say what came of it; if more is needed, propose a plan for that.")
	}
}

// waiting is the next task that has not begun; nil without.
func (r *run) waiting() *human.TaskRun {
	for i := range r.tasks {
		if r.tasks[i].State == human.TaskWaiting {
			return &r.tasks[i]
		}
	}
	return nil
}

// done takes what came of a call. An outcome says that the call was one of a tool; without one it was refused as no call
// at all, or is one of the engine's own.
func (r *run) done(rec Record) {
	d := *rec.Done
	r.using = nil
	if r.asking != nil && r.asking.ID == d.CallID {
		r.asking, r.barren = nil, 0
		if !d.Failed {
			r.hear("%s", d.Text)
		}
	}
	r.hearOf(rec)
	if rec.Outcome != "" {
		r.called = rec.Outcome
	}
	if rec.Outcome == OutcomeDone || rec.Outcome == OutcomeFailed {
		r.worked, r.barren = true, 0
	}
	mine := r.current != nil && rec.Task == r.current.ID
	if mine && rec.Outcome != "" {
		r.last = rec.Outcome
	}
	id, text := d.CallID, d.Text
	if mine && direct(*r.current) && id == r.callID() {
		if bound, ok := r.bound[rec.Task]; ok && r.isOpen(bound) {
			id = bound
		} else {
			text = fmt.Sprintf("Task %s, %s\n%s", rec.Task, described(*r.current), text)
		}
		r.tried = true
		r.direct(rec)
	} else if rec.Outcome == OutcomeRefused {
		r.detour = true
	}
	r.answer(id, text, d.Failed)
	if rec.Progress != nil {
		p := *rec.Progress
		r.ending = &p
		r.drop("", "It did not run: the task had ended.")
	}
	if r.ending == nil && mine && direct(*r.current) && rec.Outcome == OutcomeFailed {
		r.note("The call of task %s failed. If that is what the task was to show, it is done: call %s with outcome done. "+
			"You may make the same call once more, after looking whether it has run. Otherwise call %s with outcome failed.", rec.Task, endTask, endTask)
	}
}

// hearOf keeps what an operator said about a call.
func (r *run) hearOf(rec Record) {
	line := "a call"
	if i := slices.IndexFunc(r.open, func(c ToolUse) bool { return c.ID == rec.Done.CallID }); i >= 0 {
		line = callLine(r.open[i].Name, r.open[i].Args)
	} else if r.current != nil && rec.Done.CallID == r.callID() {
		line = callLine(r.current.Tool, r.current.Args)
	}
	said, _, ran := strings.Cut(rec.Done.Text, "<tool_output ")
	if strings.HasPrefix(rec.Text, refusedBy) || ran && strings.TrimSpace(said) != "" {
		r.hear("Of %s: %s", line, said)
	}
}

// standing is how things stand, for a model whose conversation does not say so any more.
func (r *run) standing() string {
	var parts []string
	if len(r.tasks) > 0 {
		parts = append(parts, "How the plan stands now:\n"+listed(r.tasks))
	}
	if r.current != nil && !direct(*r.current) {
		parts = append(parts, fmt.Sprintf("You are doing task %s now: %s\n%s", r.current.ID, described(*r.current), howToDo(*r.current)))
	}
	if r.why != "" {
		parts = append(parts, "There has to be another plan, because "+r.why)
	}
	return joined(parts...)
}

// direct takes what came of the one call that a task with arguments is.
func (r *run) direct(rec Record) {
	p := human.TaskProgress{Task: rec.Task, State: human.TaskDone, Note: rec.Text}
	switch {
	case rec.Outcome == OutcomeDone:
	case rec.Outcome == OutcomeRefused, r.implicit:
		p.State = human.TaskFailed
	default:
		return // the model looks whether that is a failure of the task: a test that shows a fault fails, too
	}
	r.ending = &p
}

// callID is the id of the call of a task with arguments. It is the same after a restart, so that the gatekeeper asks
// no one twice.
func (r *run) callID() string { return r.key + "." + r.current.ID }

// direct says whether a task is one call, known to the last letter, that needs no model to be made.
func direct(t human.Task) bool { return t.Tool != "" && len(t.Args) > 0 }

// sameTask compares what matters for carrying out.
func sameTask(a, b human.Task) bool {
	if direct(a) != direct(b) || direct(a) && !sameArgs(a.Args, b.Args) {
		return false
	}
	return a.ID == b.ID && a.Tool == b.Tool && a.Description == b.Description && a.ExpectedOutcome == b.ExpectedOutcome
}

func sameTasks(a, b []human.Task) bool { return slices.EqualFunc(a, b, sameTask) }

// described is a task in words for the model.
func described(t human.Task) string {
	s := t.Description
	if t.ExpectedOutcome != "" {
		s += " (expected: " + t.ExpectedOutcome + ")"
	}
	if direct(t) {
		s += " [" + callLine(t.Tool, t.Args) + "]"
	}
	return s
}

// listed is a plan in lines.
func listed(tasks []human.TaskRun) string {
	var b strings.Builder
	for _, t := range tasks {
		fmt.Fprintf(&b, "- %s, %s: %s", t.ID, t.State, described(t.Task))
		if t.Note != "" {
			fmt.Fprintf(&b, " - %s", t.Note)
		}
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n")
}
