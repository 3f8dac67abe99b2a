package mcp

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/human"
	"deskbell/backend/plan"
	"deskbell/backend/transport/client"
)

// A Planner has agents' plans confirmed, and follows them; plan.Service is one. by is the agent whose plan it is, empty
// where the connection is of one agent only. A plan goes by its session's id, or by its operation's.
type Planner interface {
	// Submit hands in a plan, durable when it returns; the same plan of the same session again joins the one that exists.
	Submit(ctx context.Context, by human.Actor, s plan.Submission, wait time.Duration) (st plan.Status, created bool, err error)
	Status(ctx context.Context, by human.Actor, session string, wait time.Duration, after uint64) (plan.Status, error)
	// Progress begins a task, or says how it ended. Beginning blocks, at the longest for wait, while the plan is paused.
	Progress(ctx context.Context, by human.Actor, session string, p human.TaskProgress, wait time.Duration) (plan.Standing, error)
	// PlansConfirmed says whether plans have to be confirmed at present.
	PlansConfirmed(ctx context.Context) (bool, error)
}

// The actions of the tool confirm_plan, beside wait, reply and cancel.
const (
	doSubmit = "submit"
	doLook   = "check"
	doBegin  = "begin"
	doEnd    = "end"
)

var planActions = []string{doSubmit, doLook, doWait, doReply, doBegin, doEnd, doCancel}

// planArguments are a call's, as sent.
type planArguments struct {
	Action, SessionID, Message, Why, IdempotencyKey string
	Tasks                                           steps
	Context                                         object
	Timeout, Priority, Confirmations                *number
	Operators                                       labels
	TaskID, State, Note, Text, Reason               string
	WaitSeconds, Offset, MaxTokens                  *number
}

// planProperties are all arguments, in the order they are listed.
var planProperties = []property[planArguments]{
	{"action", describe("string", "What to do; submit by default.", "enum", planActions, "default", doSubmit),
		func(a *planArguments) any { return &a.Action }},
	{"message", describe("string", "submit: what the plan is for, in a line."),
		func(a *planArguments) any { return &a.Message }},
	{"tasks", describe("array", "submit: all tasks, in the order you would do them.", "items", map[string]any{
		"type": "object", "required": []string{"description"}, "additionalProperties": false,
		"properties": map[string]any{
			"id":               describe("string", "Your own name for it; t1, t2 ... by default."),
			"description":      describe("string", "What you would do."),
			"tool_name":        describe("string", "The tool for it."),
			"type":             describe("string", "A word of your own."),
			"priority":         describe("integer", "A number of your own."),
			"expected_outcome": describe("string", "How one sees that it is done."),
			"args":             describe("object", "The tool's exact arguments, if you know them: the human confirms exactly these."),
		},
	}),
		func(a *planArguments) any { return &a.Tasks }},
	{"session_id", describe("string", "Your conversation or task; it names the plan from then on. A new plan of it replaces one that still waits."),
		func(a *planArguments) any { return &a.SessionID }},
	{"context", describe("object", "submit: what else helps to decide; cwd is your folder."),
		func(a *planArguments) any { return &a.Context }},
	{"why", describe("string", "submit: why there is a new plan."),
		func(a *planArguments) any { return &a.Why }},
	{"timeout_seconds", describe("number", "submit: cancel the plan when it is not answered by then."),
		func(a *planArguments) any { return &a.Timeout }},
	{"priority", describe("integer", "submit: 0 to 9; 5 is usual, 9 most urgent."),
		func(a *planArguments) any { return &a.Priority }},
	{"confirmations", describe("integer", "submit: how many humans have to agree."),
		func(a *planArguments) any { return &a.Confirmations }},
	{"operators", describe("array", "submit: names of humans who all have to agree.", "items", map[string]any{"type": "string"}),
		func(a *planArguments) any { return &a.Operators }},
	{"idempotency_key", describe("string", "submit: the same key is the same plan."),
		func(a *planArguments) any { return &a.IdempotencyKey }},
	{"task_id", describe("string", "begin, end: the task. check: read all of this task, from offset."),
		func(a *planArguments) any { return &a.TaskID }},
	{"state", describe("string", "end: how it ended; done by default. skipped is for a task that you did not begin.",
		"enum", []human.TaskState{human.TaskDone, human.TaskFailed, human.TaskSkipped}),
		func(a *planArguments) any { return &a.State }},
	{"note", describe("string", "end: the result, in a line."),
		func(a *planArguments) any { return &a.Note }},
	{"text", describe("string", "reply, begin: your answer to the human's question."),
		func(a *planArguments) any { return &a.Text }},
	{"reason", describe("string", "cancel: why you withdraw the plan."),
		func(a *planArguments) any { return &a.Reason }},
	{"wait_seconds", describe("number", "submit, wait, reply, begin: wait at most this long; 0 returns at once."),
		func(a *planArguments) any { return &a.WaitSeconds }},
	{"offset", describe("integer", "check with task_id: the character to start at."),
		func(a *planArguments) any { return &a.Offset }},
	{"max_tokens", describe("integer", "About how long the result may be, from 200."),
		func(a *planArguments) any { return &a.MaxTokens }},
}

// steps are a plan's tasks. They also read what models make of them: a text that holds the list, a task that is only
// its description, an id that is a number, "tool" for "tool_name".
type steps []human.Task

func (s *steps) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		b = []byte(text)
	}
	var all []json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		return human.BadField("tasks", "must be a list of objects, each with a description")
	}
	*s = make(steps, 0, len(all))
	for i, raw := range all {
		t, err := step(raw)
		if err != nil {
			return human.BadField("tasks", "number %d: %s", i+1, err)
		}
		*s = append(*s, t)
	}
	return nil
}

func step(raw json.RawMessage) (t human.Task, err error) {
	if json.Unmarshal(raw, &t.Description) == nil {
		return t, nil
	}
	var sent struct {
		ID              json.RawMessage `json:"id"`
		Description     string          `json:"description"`
		Tool            string          `json:"tool_name"`
		AlsoTool        string          `json:"tool"`
		Type            string          `json:"type"`
		Priority        *number         `json:"priority"`
		ExpectedOutcome string          `json:"expected_outcome"`
		Args            object          `json:"args"`
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&sent); err != nil {
		return t, fmt.Errorf("%s; a task has id, description, tool_name, type, priority, expected_outcome, args", strings.TrimPrefix(err.Error(), "json: "))
	}
	t = human.Task{
		Description: sent.Description, Tool: cmp.Or(sent.Tool, sent.AlsoTool), Type: sent.Type,
		ExpectedOutcome: sent.ExpectedOutcome, Args: json.RawMessage(sent.Args),
	}
	if id := bytes.TrimSpace(sent.ID); string(id) != "null" && json.Unmarshal(id, &t.ID) != nil {
		t.ID = string(id)
	}
	if sent.Priority != nil {
		t.Priority, err = whole("priority", *sent.Priority)
	}
	return t, err
}

// submission is what submit hands in; session is the connection's, where the agent names none.
func (a planArguments) submission(session string) (plan.Submission, error) {
	s := plan.Submission{
		SessionID: cmp.Or(a.SessionID, session), Message: a.Message, Tasks: a.Tasks, Context: json.RawMessage(a.Context),
		Operators: a.Operators, Why: a.Why, IdempotencyKey: a.IdempotencyKey,
	}
	if len(s.Tasks) == 0 {
		return s, human.BadField("tasks", "is missing; it is the list of what you would do, each with a description")
	}
	if a.Timeout != nil {
		s.Timeout = float64(*a.Timeout)
	}
	if a.Priority != nil {
		p, err := whole("priority", *a.Priority)
		if err != nil {
			return s, err
		}
		s.Priority = &p
	}
	if a.Confirmations != nil {
		n, err := whole("confirmations", *a.Confirmations)
		if err != nil {
			return s, err
		}
		s.Confirmations = n
	}
	if s.SessionID == "" {
		// A connection without sessions: the plan names its own, by which the same plan again is found.
		words, err := json.Marshal(struct {
			Message string
			Tasks   []human.Task
		}{s.Message, s.Tasks})
		if err != nil {
			return s, human.Wrap(human.Invalid, err, "tasks: they cannot be read")
		}
		sum := sha256.Sum256(words)
		s.SessionID = "plan-" + hex.EncodeToString(sum[:6])
	}
	return s, nil
}

// named is the plan that an action names.
func (a planArguments) named(session string) (string, error) {
	if id := cmp.Or(strings.TrimSpace(a.SessionID), session); id != "" {
		return id, nil
	}
	return "", human.BadField("session_id", "is missing; action=%s needs the session_id that submit returned", a.Action)
}

// plan answers a call of the tool confirm_plan. Its error is for the protocol.
func (c *call) plan(ctx context.Context, raw json.RawMessage) (*mcp.CallToolResult, error) {
	a, err := read(raw, planProperties)
	if err == nil && a.Action == "" {
		a.Action = doSubmit
	}
	var r planReading
	var tokens int
	if err == nil {
		tokens, err = budget(a.MaxTokens)
	}
	if err == nil {
		r, err = c.planned(ctx, a)
	}
	if errors.Is(err, errGone) || ctx.Err() != nil {
		return nil, errGone
	}
	if err != nil {
		if human.KindOf(err) == human.Internal {
			c.opts.Log.Error("a call of the tool confirm_plan failed", "err", err)
		}
		return failureOf(err, planNext(human.KindOf(err), a.Action)), nil
	}
	if r.ended {
		c.deliver(ctx, r.ID)
	}
	return r.result(tokens)
}

func (c *call) planned(ctx context.Context, a planArguments) (planReading, error) {
	if !slices.Contains(planActions, a.Action) {
		return planReading{}, human.BadField("action", "%q is not one of %s", a.Action, strings.Join(planActions, ", "))
	}
	if _, err := most(a.WaitSeconds); err != nil {
		return planReading{}, err
	}
	session := cmp.Or(c.session, c.opts.Session)
	if a.Action == doSubmit {
		return c.submit(ctx, a, session)
	}
	name, err := a.named(session)
	if err != nil {
		return planReading{}, err
	}
	switch a.Action {
	case doBegin:
		return c.begin(ctx, a, name)
	case doEnd:
		return c.end(ctx, a, name)
	}
	st, err := c.opts.Plans.Status(ctx, c.by, name, 0, 0)
	if err != nil {
		return planReading{}, err
	}
	switch a.Action {
	case doWait:
		return c.waitForPlan(ctx, a, st)
	case doReply:
		if strings.TrimSpace(a.Text) == "" {
			return planReading{}, human.BadField("text", "is missing; it is what you say to the human")
		}
		if _, err := c.ringer.Reply(ctx, st.OperationID, a.Text); err != nil {
			return planReading{}, err
		}
		return c.waitForPlan(ctx, a, st)
	case doCancel:
		if st.Run != nil && !st.Run.Over() {
			return planReading{}, human.Errorf(human.Conflict, "the plan is confirmed and can no longer be withdrawn; skip what is left of it: action=end with state=skipped for each task that waits")
		}
		if _, err := c.ringer.Cancel(ctx, st.OperationID, a.Reason); err != nil {
			return planReading{}, err
		}
		st, err = c.opts.Plans.Status(ctx, c.by, string(st.OperationID), 0, 0)
		return c.readPlan(st), err
	}
	if a.TaskID != "" {
		return taskExcerpt(st, a)
	}
	return c.readPlan(st), nil
}

func (c *call) submit(ctx context.Context, a planArguments, session string) (planReading, error) {
	s, err := a.submission(session)
	if err != nil {
		return planReading{}, err
	}
	c.onTheirWay.wait(ctx)
	var st plan.Status
	var created bool
	err = client.Retry(ctx, grace, nil, func() error {
		st, created, err = c.opts.Plans.Submit(ctx, c.by, s, 0)
		return err
	})
	if err != nil {
		return planReading{}, err
	}
	r, err := c.waitForPlan(ctx, a, st)
	r.Attached = !created && st.OperationID != ""
	return r, err
}

// waitForPlan waits until a plan is answered or its operator asks something.
func (c *call) waitForPlan(ctx context.Context, a planArguments, st plan.Status) (planReading, error) {
	longest, err := most(a.WaitSeconds)
	if err != nil {
		return planReading{}, err
	}
	if st.Status != human.PlanPending || st.OperationID == "" {
		return c.readPlan(st), nil
	}
	_, why, err := c.await(ctx, human.Operation{ID: st.OperationID}, longest)
	if err != nil {
		return planReading{}, err
	}
	if now, err := c.opts.Plans.Status(ctx, c.by, string(st.OperationID), 0, 0); err == nil {
		st = now
	} else if human.KindOf(err) != human.Unavailable {
		return planReading{}, err
	}
	r := c.readPlan(st)
	r.Message = cmp.Or(why, r.Message)
	return r, nil
}

// begin begins a task, and waits while the plan is paused or an operator is asked about the task.
func (c *call) begin(ctx context.Context, a planArguments, name string) (planReading, error) {
	longest, err := most(a.WaitSeconds)
	if err != nil {
		return planReading{}, err
	}
	p, err := a.progress(human.TaskRunning)
	if err != nil {
		return planReading{}, err
	}
	st, err := c.opts.Plans.Progress(ctx, c.by, name, p, 0)
	if err != nil {
		return planReading{}, err
	}
	if a.Text != "" && st.Asking != "" {
		if _, err := c.ringer.Reply(ctx, st.Asking, a.Text); err != nil {
			return planReading{}, err
		}
	}
	var asked human.Operation // the one by which an operator is asked about this task
	why, err := c.climb(ctx, longest, waited{
		over: func() bool { return st.Go || !held(st.Why) || asked.State == human.WaitingInput },
		standing: func() string {
			if st.Asking != "" {
				return "a human is asked about task " + p.Task
			}
			return "a human paused the plan"
		},
		wait: func(ctx context.Context, longest time.Duration) (err error) {
			if st.Asking == "" {
				st, err = keep(st, func() (plan.Standing, error) { return c.opts.Plans.Progress(ctx, c.by, name, p, longest) })
				return err
			}
			if asked.ID != st.Asking {
				asked = human.Operation{ID: st.Asking}
			}
			asked, err = keep(asked, func() (human.Operation, error) { return c.ringer.Wait(ctx, asked.ID, asked.Version, longest) })
			if err != nil || !asked.State.Terminal() {
				return err
			}
			st, err = keep(st, func() (plan.Standing, error) { return c.opts.Plans.Progress(ctx, c.by, name, p, 0) })
			return err
		},
	})
	if err != nil {
		return planReading{}, err
	}
	r := c.readStanding(st, name, a)
	if asked.State == human.WaitingInput {
		r.asked(asked, a)
	}
	r.Message = cmp.Or(why, r.Message)
	return r, nil
}

// held says whether a task may yet begin without more ado.
func held(why string) bool { return why == "paused" || why == "asking" }

// keep is what do returns, or where it fails what there was before.
func keep[T any](before T, do func() (T, error)) (T, error) {
	now, err := do()
	if err != nil {
		return before, err
	}
	return now, nil
}

func (c *call) end(ctx context.Context, a planArguments, name string) (planReading, error) {
	state := human.TaskState(cmp.Or(a.State, string(human.TaskDone)))
	if !state.Over() {
		return planReading{}, human.BadField("state", "%q is not one of done, failed, skipped", a.State)
	}
	p, err := a.progress(state)
	if err != nil {
		return planReading{}, err
	}
	st, err := c.opts.Plans.Progress(ctx, c.by, name, p, 0)
	if err != nil {
		return planReading{}, err
	}
	return c.readStanding(st, name, a), nil
}

func (a planArguments) progress(state human.TaskState) (human.TaskProgress, error) {
	if strings.TrimSpace(a.TaskID) == "" {
		return human.TaskProgress{}, human.BadField("task_id", "is missing; it is the id of one of tasks, as submit returned them")
	}
	return human.TaskProgress{Task: strings.TrimSpace(a.TaskID), State: state, Note: a.Note}, nil
}

// planNext is what an agent does after an error.
func planNext(kind human.ErrorKind, action string) string {
	switch kind {
	case human.NotFound:
		return "use session_id and task_id as results have them (action=check with session_id shows the tasks); if no plan was submitted, submit one"
	case human.Conflict:
		if action == doBegin {
			return "call confirm_plan with action=check to see the state of the tasks. One that is running was started before: look at what it has done, then action=end; do not do it twice"
		}
		return "call confirm_plan with action=check to see the state of the plan"
	case human.Exhausted:
		return "call human with action=list_pending, then wait for one of those requests or cancel one you no longer need"
	case human.Unavailable:
		return "tell your user that Deskbell accepts no plans now (is the app running?); do none of a plan that is not confirmed. One that was submitted is kept"
	case human.Internal:
		return "tell your user that Deskbell failed; do none of a plan that is not confirmed"
	case human.Invalid:
		return "correct the arguments and call confirm_plan again"
	}
	return kinds[kind].next
}

func planDefinition() *mcp.Tool {
	no, yes := false, true
	return &mcp.Tool{
		Name:         "confirm_plan",
		Title:        "Have a plan confirmed",
		Description:  planDescription,
		InputSchema:  schemaOf(planProperties),
		OutputSchema: planSchema,
		Annotations:  &mcp.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &yes},
	}
}

// planDescription is under 2 KB, because some clients cut what is longer.
const planDescription = `Have a human confirm your plan before you carry it out, and get their orders while it runs. Use it before work of several steps that changes things: they see every task with its risk, and confirm, change or cancel it.

action=submit (the default) with message and tasks submits the plan and waits. The same plan again joins the existing one. Then read status:
- confirmed: do the tasks as they are in tasks.
- modified: the human changed the plan. Do the tasks as they are in the result, not as you wrote them. Without tasks, user_message says what to change: make a new plan and submit that.
- cancelled, timeout: do none of it; read user_message, tell your user.
- pending: no answer yet. Nothing is lost; call again with action=wait and the session_id. Do none of the plan meanwhile.
- waiting_input: the human asks you something (question). Answer with action=reply and text; the wait then continues.

For each task in order: action=begin with task_id. Do it only if the result has go=true, exactly as task says; the human may have changed it. Otherwise why says: paused or asking (call begin again; it waits), skipped (go to the next task), changed (use tasks), stopped (do nothing more). Then action=end with task_id, state (done or failed) and a note. Every result has orders from humans while it runs (pause, resume, skip, stop, change): obey the newest.

A task failed, or things are not as you thought? Submit a new plan with the same session_id, and why. action=check shows the state of everything, for instance after a restart; action=cancel withdraws the plan.`
