// Package remote is Deskbell as the reference agent sees it from its own process: the gatekeeper, the operators who confirm its
// plans, and those who answer its questions. It waits while Deskbell is stopped and started again, or moves.
package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"deskbell/backend/agent"
	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	"deskbell/backend/plan"
	"deskbell/backend/transport/client"
)

const (
	longPoll = 25 * time.Second // one call that waits for people
	farewell = 5 * time.Second  // for what is worth saying after ctx has ended
)

// withdrawn is why a question of an agent that was ended is withdrawn; asked again after that, it is a new one.
const withdrawn = "The agent was ended while it waited."

// A Run describes a run of the agent to the server.
type Run struct {
	ID    string
	Agent string // its name
	Cwd   string // absolute
	Task  string // what the user asked for, which people see beside plans and questions
	// Tell fills in what is known of a tool's call beside its name and arguments, and says whether there is anything. May
	// be nil.
	Tell func(call *human.ToolCall) bool
	// Note tells people about the connection.
	Note func(text string)
}

// A Client asks the running Deskbell for one run. It implements agent.Gatekeeper, agent.Plans and agent.Asker, and is for one
// goroutine.
type Client struct {
	to   *client.Client
	run  Run
	read []human.OperationID // answers that the journal has once the agent does anything further

	plan  human.OperationID   // that runs; empty: the session's newest
	off   []human.Task        // of a plan that no one had to confirm, since the setting was switched off meanwhile
	asked func(string) string // how the agent answers an operator who asks about the plan
}

var (
	_ agent.Gatekeeper = (*Client)(nil)
	_ agent.Plans      = (*Client)(nil)
	_ agent.Asker      = (*Client)(nil)
)

// New makes the client of a run. to is closed by the caller.
func New(to *client.Client, run Run) *Client { return &Client{to: to, run: run} }

// Close marks as read what the agent got at last, for which it takes a moment even where ctx has ended.
func (c *Client) Close(ctx context.Context) { lastly(ctx, c.delivered) }

// delivered says that the answers which the agent got are in its journal now: until then, asking again gives them again.
func (c *Client) delivered(ctx context.Context) {
	for _, id := range c.read {
		if err := c.call(ctx, func() error { return c.to.MarkDelivered(ctx, id) }); err != nil {
			c.run.Note("The answer to " + string(id) + " could not be marked as read: " + human.SafeText(err))
		}
	}
	c.read = nil
}

// lastly does what is worth a moment when ctx has ended already.
func lastly(ctx context.Context, do func(context.Context)) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer stop()
	do(ctx)
}

// call makes a call that may be made twice, and waits while the server is away.
func (c *Client) call(ctx context.Context, do func() error) error {
	return client.Retry(ctx, client.Patience, func() { c.run.Note("Deskbell does not answer; waiting for it to come back.") }, do)
}

// ask makes a call by which something comes into the queue. Once it is under way it is not given up with ctx: whoever ends
// then has to know what to withdraw.
func (c *Client) ask(ctx context.Context, do func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.call(ctx, func() error {
		short, stop := context.WithTimeout(context.WithoutCancel(ctx), longPoll)
		defer stop()
		return do(short)
	})
}

// status is how a plan stands, after a wait.
func (c *Client) status(ctx context.Context, name string, wait time.Duration) (st plan.Status, err error) {
	err = c.call(ctx, func() (err error) {
		st, err = c.to.PlanStatus(ctx, name, wait, 0)
		return err
	})
	return st, err
}

// reply answers an operator's question about an operation. That it was answered without is no error.
func (c *Client) reply(ctx context.Context, id human.OperationID, text string) error {
	err := c.call(ctx, func() error {
		_, err := c.to.Reply(ctx, id, cmp.Or(strings.TrimSpace(text), "I cannot answer this."))
		return err
	})
	if human.KindOf(err) == human.Conflict {
		return nil
	}
	return err
}

// left withdraws what was asked, where the run ends, and returns why.
func (c *Client) left(ctx context.Context, id human.OperationID, err error) error {
	if ctx.Err() == nil {
		return err
	}
	if id != "" {
		lastly(ctx, func(ctx context.Context) {
			if _, err := c.to.Cancel(ctx, id, withdrawn); err == nil {
				_ = c.to.MarkDelivered(ctx, id) // nobody will ask for its end
			}
		})
	}
	return ctx.Err()
}

// withdrew says whether a question was withdrawn by this run itself.
func (c *Client) withdrew(ctx context.Context, id human.OperationID) bool {
	if id == "" {
		return false
	}
	var op human.Operation
	err := c.call(ctx, func() (err error) {
		op, err = c.to.Operation(ctx, id)
		return err
	})
	return err == nil && op.State == human.Cancelled && op.Ended != nil && op.Ended.By.Role == human.Agent && op.Ended.Reason == withdrawn
}

// Check implements agent.Gatekeeper.
func (c *Client) Check(ctx context.Context, call human.ToolCall) (j human.Judgement, err error) {
	c.delivered(ctx)
	call.Cwd = cmp.Or(call.Cwd, c.run.Cwd)
	if c.run.Tell == nil || !c.run.Tell(&call) {
		call.Schema, call.About = nil, "" // our own tool, which the gatekeeper knows
	}
	if call.CallID != "" { // models' ids are their conversation's own
		call.CallID = call.SessionID + ":" + call.CallID
		call.CallID = call.CallID[:min(len(call.CallID), 128)]
	}
	how := service.Asking{} // at first without waiting, to know which question there is
	for n := 1; ; {
		evaluate := func(ctx context.Context) (err error) {
			j, err = c.to.Evaluate(ctx, call, how)
			return err
		}
		if how.Question == "" {
			err = c.ask(ctx, evaluate)
		} else {
			err = c.call(ctx, func() error { return evaluate(ctx) })
		}
		switch {
		case ctx.Err() != nil:
			if how.Question == "" && j.Decision == human.Ask {
				how.Question = j.OperationID
			}
			return human.Judgement{}, c.left(ctx, how.Question, err)
		case err != nil:
			return human.Judgement{}, err
		case j.Decision == human.Deny && j.By == "" && n < 8 && c.withdrew(ctx, j.OperationID):
			n++ // an earlier process of this run was ended while it was asked
			call.CallID = fmt.Sprintf("%.120s#%d", call.CallID, n)
			how = service.Asking{}
			continue
		case j.Decision != human.Ask || j.OperationID == "":
			return j, nil
		}
		how = service.Asking{Question: j.OperationID, Wait: longPoll}
	}
}

// Confirm implements agent.Plans.
func (c *Client) Confirm(ctx context.Context, proposal agent.Proposal, started func(agent.Confirmation), asked func(string) string) (agent.Confirmation, error) {
	c.delivered(ctx)
	c.asked = asked
	sub := plan.Submission{SessionID: c.run.ID, Message: proposal.Message, Tasks: proposal.Tasks, Context: c.about(), Why: proposal.Why}
	for n := 1; ; n++ {
		sub.IdempotencyKey = fmt.Sprintf("%.100s:%.100s", c.run.ID, proposal.Key)
		if n > 1 {
			sub.IdempotencyKey += fmt.Sprintf("#%d", n)
		}
		var st plan.Status
		var created bool
		if err := c.ask(ctx, func(ctx context.Context) (err error) {
			st, created, err = c.to.Submit(ctx, sub, 0)
			return err
		}); err != nil {
			return agent.Confirmation{}, err
		}
		if !created && st.Response != nil && st.Response.Message == withdrawn && n < 8 {
			continue // an earlier process of this run was ended while this was asked
		}
		return c.decided(ctx, st, started)
	}
}

// about is what people see of the run beside what it asks.
func (c *Client) about() json.RawMessage {
	text, _ := json.Marshal(map[string]string{"cwd": c.run.Cwd, "agent": c.run.Agent, "task": human.Shorten(c.run.Task, longQuestion)}) // texts
	return text
}

// decided waits until operators have decided a plan.
func (c *Client) decided(ctx context.Context, st plan.Status, started func(agent.Confirmation)) (agent.Confirmation, error) {
	c.plan, c.off = st.OperationID, nil
	if st.OperationID == "" {
		c.off = st.Tasks
	}
	if st.Status == human.PlanPending {
		started(confirmation(st))
	}
	for st.Status == human.PlanPending {
		err := c.explain(ctx, st.OperationID, st.Question)
		if err == nil {
			st, err = c.status(ctx, string(c.plan), longPoll)
		}
		if err != nil || ctx.Err() != nil {
			return agent.Confirmation{}, c.left(ctx, c.plan, err)
		}
	}
	return confirmation(st), nil
}

// explain answers what an operator asks about a plan, or about a task of it; nothing where they ask nothing.
func (c *Client) explain(ctx context.Context, id human.OperationID, question string) error {
	switch {
	case question == "":
		return nil
	case c.asked == nil:
		return c.reply(ctx, id, "I was started again since, and cannot answer. Decide by what stands here.")
	}
	return c.reply(ctx, id, c.asked(question))
}

func confirmation(st plan.Status) agent.Confirmation {
	c := agent.Confirmation{OperationID: st.OperationID, Status: st.Status, Tasks: st.Tasks, Summary: st.Summary, ExpiresAt: st.ExpiresAt, Auto: st.Auto}
	if r := st.Response; r != nil {
		c.Message, c.Changes = r.Message, r.Changes
	}
	return c
}

// name is what the plan that runs goes by.
func (c *Client) name() string { return cmp.Or(string(c.plan), c.run.ID) }

// Begin implements agent.Plans.
func (c *Client) Begin(ctx context.Context, task string) (agent.Standing, error) {
	c.delivered(ctx)
	if c.off != nil {
		return c.free(task), nil
	}
	wait := time.Duration(0)
	for {
		st, err := c.progress(ctx, human.TaskProgress{Task: task, State: human.TaskRunning}, wait)
		wait = 0
		asking := err == nil && !st.Go && st.Why == "asking"
		if asking {
			err = c.aboutTask(ctx, st.Asking)
		}
		switch {
		case ctx.Err() != nil:
			// A question about the task stays: withdrawn, it would stand for skipping it.
			return agent.Standing{}, ctx.Err()
		case err != nil:
			return agent.Standing{}, err
		case asking:
			continue
		case !st.Go && st.Why == "paused":
			wait = longPoll
			continue
		}
		out := standingOf(st)
		if i := slices.IndexFunc(out.Tasks, func(t human.TaskRun) bool { return t.ID == task }); !st.Go && i >= 0 && out.Tasks[i].State == human.TaskRunning {
			out.Go, out.Why, out.Task = true, "", out.Tasks[i].Task // this run's own, which was ended before it could note it
		}
		return out, nil
	}
}

// progress begins a task, or says how it ended.
func (c *Client) progress(ctx context.Context, p human.TaskProgress, wait time.Duration) (st plan.Standing, err error) {
	err = c.call(ctx, func() (err error) {
		st, err = c.to.Progress(ctx, c.name(), p, wait)
		return err
	})
	return st, err
}

// aboutTask waits while an operator is asked about a task, and answers what they ask.
func (c *Client) aboutTask(ctx context.Context, id human.OperationID) error {
	st, err := c.status(ctx, string(id), longPoll)
	if err != nil {
		return err
	}
	return c.explain(ctx, id, st.Question)
}

// End implements agent.Plans.
func (c *Client) End(ctx context.Context, progress human.TaskProgress) (agent.Standing, error) {
	c.delivered(ctx)
	if c.off != nil {
		return c.free(progress.Task), nil
	}
	st, err := c.progress(ctx, progress, 0)
	if human.KindOf(err) == human.Conflict {
		return c.ended(ctx, progress, err)
	}
	return standingOf(st), err
}

// Stopped implements agent.Plans.
func (c *Client) Stopped(ctx context.Context, task, why string) {
	if err := c.remark(ctx, task, why+" `deskbell agent resume "+c.run.ID+"` continues it."); err != nil {
		c.run.Note("That the task " + task + " was stopped could not be told: " + human.SafeText(err))
	}
}

// GoesOn implements agent.Plans. Where that cannot be told, the next word about the task says it, or says why not.
func (c *Client) GoesOn(ctx context.Context, task string) {
	_ = c.remark(ctx, task, "The agent was stopped in the middle of it, and continues it now.")
}

// remark notes something about a task that runs.
func (c *Client) remark(ctx context.Context, task, note string) (err error) {
	if c.off != nil {
		return nil
	}
	lastly(ctx, func(ctx context.Context) {
		_, err = c.to.Progress(ctx, c.name(), human.TaskProgress{Task: task, State: human.TaskRunning, Note: note}, 0)
	})
	return err
}

// ended is how things stand where a task has ended already; otherwise the error holds.
func (c *Client) ended(ctx context.Context, progress human.TaskProgress, was error) (agent.Standing, error) {
	st, err := c.status(ctx, c.name(), 0)
	if err != nil || st.Run == nil {
		return agent.Standing{}, was
	}
	t, ok := st.Run.Task(progress.Task)
	if !ok || !t.State.Over() {
		return agent.Standing{}, was
	}
	return agent.Standing{Task: t.Task, Tasks: st.Run.Tasks}, nil
}

// free is how a task of a plan stands that no one had to confirm.
func (c *Client) free(task string) agent.Standing {
	out := agent.Standing{}
	for _, t := range c.off {
		out.Tasks = append(out.Tasks, human.TaskRun{Task: t, State: human.TaskWaiting})
		if t.ID == task {
			out.Go, out.Task = true, t
		}
	}
	return out
}

func standingOf(st plan.Standing) agent.Standing {
	out := agent.Standing{Go: st.Go, Why: st.Why, Message: st.Message}
	if st.Task != nil {
		out.Task = *st.Task
	}
	if st.Run != nil {
		out.Tasks = st.Run.Tasks
	}
	return out
}

// longQuestion is how much of a question is its description; of more, the whole is in its details.
const longQuestion = 2000

// Ask implements agent.Asker: it rings with a request of kind feedback.
func (c *Client) Ask(ctx context.Context, question string, asked func(string) string) (string, error) {
	c.delivered(ctx)
	ring := client.Ring{Kind: human.Feedback, Description: question, SessionID: c.run.ID, Attach: true}
	if len(question) > longQuestion {
		ring.Description = human.OneLine(question, 300)
		ring.Details, _ = json.Marshal(map[string]string{"question": question}) // a text
	}
	ring.Context = c.about()
	var op human.Operation
	if err := c.ask(ctx, func(ctx context.Context) (err error) {
		op, _, err = c.to.Invoke(ctx, ring)
		return err
	}); err != nil {
		return "", err
	}
	id, told := op.ID, 0
	for !op.State.Terminal() {
		var err error
		if last := len(op.Messages) - 1; last >= told {
			told = last + 1
			if m := op.Messages[last]; m.By.Role == human.Operator && op.State == human.WaitingInput {
				err = c.reply(ctx, id, asked(m.Text))
			}
		}
		if err == nil {
			err = c.call(ctx, func() (err error) {
				op, err = c.to.Wait(ctx, id, op.Version, longPoll)
				return err
			})
		}
		if err != nil || ctx.Err() != nil {
			return "", c.left(ctx, id, err)
		}
	}
	c.read = append(c.read, id)
	return said(op), nil
}

// said is what people answered, in words for the model.
func said(op human.Operation) string {
	if op.Result == nil {
		why := ""
		if op.Ended != nil && op.Ended.Reason != "" {
			why = ": " + op.Ended.Reason
		}
		return "No operator answered; the question is " + string(op.State) + why + "."
	}
	a := op.Result.Answer
	var parts []string
	for _, p := range []struct{ label, text string }{
		{"", a.HumanInput}, {"", string(a.Decision)}, {"", string(a.Verdict)}, {"Result: ", a.ExecutionResult}, {"Summary: ", a.Summary}, {"Findings: ", strings.Join(a.KeyFindings, "; ")},
	} {
		if p.text != "" {
			parts = append(parts, p.label+p.text)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.Fields)) {
		parts = append(parts, name+": "+a.Fields[name])
	}
	return strings.Join(parts, "\n")
}
