package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"deskbell/backend/agent"
	"deskbell/backend/agent/runs"
	"deskbell/backend/agent/tools"
	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	"deskbell/backend/llm"
	"deskbell/backend/plan"
	"deskbell/backend/record/masking"
	"deskbell/backend/store/keychain"
	"deskbell/backend/store/settings"
	"deskbell/backend/transport/api"
	"deskbell/backend/transport/cli"
	"deskbell/backend/transport/client"
)

// agentsFolder is where the journals of the reference agent's runs are, in the data folder.
const agentsFolder = "agents"

func journals(dir string) *runs.Store { return runs.New(filepath.Join(dir, agentsFolder)) }

// agentRuns are the runs on this data folder, for the console.
type agentRuns struct{ *runs.Store }

// List implements api.Runs.
func (r agentRuns) List(ctx context.Context, most int) ([]api.RunView, error) {
	list, err := r.Store.List(ctx, most)
	out := make([]api.RunView, len(list))
	for i, run := range list {
		out[i] = api.RunView(run)
	}
	return out, err
}

// Read implements api.Runs.
func (r agentRuns) Read(ctx context.Context, id string, after int, wait time.Duration) (api.RunUpdates, error) {
	run, updates, next, err := r.Store.Read(ctx, id, after, wait)
	return api.RunUpdates{Run: api.RunView(run), Updates: append([]agent.Update{}, updates...), Next: next}, err
}

// agentProgram is the reference agent, for the command line.
func agentProgram(version string) cli.Agent {
	return cli.Agent{
		Run: func(ctx context.Context, r cli.AgentRun) (agent.Result, error) { return runAgent(ctx, version, r) },
		Chat: func(ctx context.Context, r cli.AgentRun, talk func(cli.Handle) error) error {
			return chatWithAgent(ctx, version, r, talk)
		},
		List: func(ctx context.Context, dir string, most int) ([]cli.RunLine, error) {
			list, err := journals(dir).List(ctx, most)
			out := make([]cli.RunLine, len(list))
			for i, run := range list {
				out[i] = cli.RunLine(run)
			}
			return out, err
		},
	}
}

// runAgent runs the reference agent in this process to the end of its task, or goes on with a run that was broken off.
func runAgent(ctx context.Context, version string, r cli.AgentRun) (result agent.Result, err error) {
	d := &desk{find: r.Find, key: r.Key, note: r.Note}
	defer d.close()
	confirms, err := d.confirms(ctx)
	if err != nil {
		return result, err
	}
	model, err := chat(r.Model)
	if err != nil {
		return result, err
	}
	store := journals(r.Dir)
	info := agent.RunInfo{
		ID: newRunID(), Agent: cli.ReferenceAgent, Task: r.Task, Cwd: r.Cwd, Model: r.Model.Name, At: time.Now().UTC(),
	}
	var journal *runs.Journal
	defer func() {
		if journal != nil {
			err = errors.Join(err, journal.Close())
		}
	}()
	var records []agent.Record
	if r.Resume != "" {
		if journal, records, err = store.Resume(r.Resume); err != nil {
			return result, err
		}
		if info, err = agent.InfoOf(records); err == nil && info.ID != r.Resume {
			err = human.Errorf(human.Invalid, "the journal of %s does not say what it was to do", r.Resume)
		}
		if err != nil {
			return result, err
		}
	}
	limits, err := r.Limits(info.Limits)
	if err != nil {
		return result, err
	}
	box, done, err := toolsOf(ctx, version, r, info.Cwd)
	defer done()
	if err != nil {
		return result, err
	}
	if r.Resume == "" {
		if journal, err = store.Create(info.ID); err != nil {
			return result, err
		}
	}
	r.Began(info.ID)
	d.begin(info.ID, info.Cwd, box)
	deps := d.deps(r, model, box, limits)
	deps.Asker, deps.Journal, deps.Mask = (*askDesk)(d), journal, masking.New().Mask
	if confirms {
		deps.Plans = &planDesk{desk: d}
	}
	engine, err := agent.NewEngine(deps)
	if err != nil {
		return result, err
	}
	if r.Resume != "" {
		result, err = engine.Resume(ctx, records)
	} else {
		result, err = engine.Run(ctx, info)
	}
	lastCall(ctx, d.delivered)
	return result, err
}

// chatWithAgent has messages answered by a ToolAgent in this process, while talk goes on.
func chatWithAgent(ctx context.Context, version string, r cli.AgentRun, talk func(cli.Handle) error) error {
	d := &desk{find: r.Find, key: r.Key, note: r.Note}
	defer d.close()
	if _, err := d.confirms(ctx); err != nil { // says what is missing
		return err
	}
	model, err := chat(r.Model)
	if err != nil {
		return err
	}
	limits, err := r.Limits(nil)
	if err != nil {
		return err
	}
	box, done, err := toolsOf(ctx, version, r, r.Cwd)
	defer done()
	if err != nil {
		return err
	}
	d.begin(newAgentID("chat_"), r.Cwd, box)
	deps := d.deps(r, model, box, limits)
	deps.About.Categories = []agent.Category{agent.Shell, agent.Files, agent.Web, agent.Remote}
	a, err := agent.NewToolAgent(deps.About, deps)
	if err != nil {
		return err
	}
	return talk(a.Handle)
}

// begin says whose calls are judged from here on.
func (d *desk) begin(session, cwd string, box []agent.Tool) {
	d.session, d.cwd, d.told = session, cwd, map[string]tools.Judged{}
	for _, t := range box {
		if judged, is := t.(tools.Judged); is {
			d.told[t.Spec().Name] = judged
		}
	}
	d.home, _ = os.UserHomeDir() // without it the gatekeeper is the more careful
}

// deps are what each of the reference agents stands on.
func (d *desk) deps(r cli.AgentRun, model agent.Model, box []agent.Tool, limits agent.Limits) agent.Deps {
	return agent.Deps{
		Model: model, Tools: box, Gate: (*gateDesk)(d), Limits: limits, Cwd: d.cwd, Now: time.Now, NewID: newAgentID,
		About: agent.About{Name: cli.ReferenceAgent, Description: "Deskbell's reference agent"},
		Tell:  r.Tell, Emit: r.Emit,
	}
}

func newRunID() string { return newAgentID("run_") }

func newAgentID(prefix string) string { return prefix + strings.ToLower(ulid.Make().String()) }

// leastOutput is how many tokens an answer may have, where the settings' limit, which is meant for summaries, is less: enough
// to write a file.
const leastOutput = 8192

// chat is the model that the settings name.
func chat(s settings.Model) (agent.Model, error) {
	if s.Provider == "none" {
		return nil, human.Errorf(human.Unavailable, "there is no model: set model.provider and model.name, or give --provider and --model")
	}
	about, err := model(s, "") // for the host that its key is kept for
	if err != nil {
		return nil, err
	}
	account := keychain.Account{Host: about.About().Host}
	return llm.NewChat(llm.Config{
		Provider: s.Provider, Model: s.Name, BaseURL: s.BaseURL, AllowHTTP: s.AllowHTTP, MaxInput: s.MaxInputTokens,
		MaxOutput: max(s.MaxOutputTokens, leastOutput), Key: account.Key(),
	})
}

// toolsOf are the tools of a run, with the MCP servers that it was given; done ends those.
func toolsOf(ctx context.Context, version string, r cli.AgentRun, cwd string) (box []agent.Tool, done func(), err error) {
	var servers []*tools.Connection
	done = func() {
		for _, s := range servers {
			_ = s.Close() // how it ends does not matter any more
		}
	}
	if box, err = tools.Files(cwd); err != nil {
		return nil, done, err
	}
	box = append(box, tools.Shell{Dir: cwd}, tools.Web{Private: r.PrivateHTTP, Agent: "deskbell/" + version})
	for _, p := range r.Servers {
		s, err := tools.ConnectMCP(ctx, tools.MCPServer{Name: p.Name, Command: p.Command, URL: p.URL, Dir: cwd, Version: version})
		if err != nil {
			return nil, done, err
		}
		servers = append(servers, s)
		box = append(box, s.Tools()...)
	}
	return box, done, nil
}

const (
	deskWait  = 25 * time.Second       // one long poll
	deskRetry = 500 * time.Millisecond // while the server is away
	deskAway  = 2 * time.Minute        // how long it may be
)

// withdrawn is why a question of an agent that was ended is withdrawn; asked again after that, it is a new one.
const withdrawn = "The agent was ended while it waited."

// A desk is a running Deskbell as the agent's process sees it. It is for one goroutine.
type desk struct {
	find    func() (string, error)
	key     string
	note    func(string)
	session string
	home    string
	cwd     string
	told    map[string]tools.Judged // by the name that the model knows

	to   *client.Client
	read []human.OperationID // answers that the journal has once the agent does anything further
}

// delivered notes that the answers which the agent got are in its journal now: until then, asking again gives them again.
func (d *desk) delivered(ctx context.Context) {
	for _, id := range d.read {
		if err := d.call(ctx, func(c *client.Client) error { return c.MarkDelivered(ctx, id) }); err != nil {
			d.note("The answer to " + string(id) + " could not be marked as read: " + human.SafeText(err))
		}
	}
	d.read = nil
}

// call makes a call that may be made twice, and waits while the server is away or moves.
func (d *desk) call(ctx context.Context, do func(*client.Client) error) error {
	var away time.Time
	for {
		err := d.once(do)
		if human.KindOf(err) != human.Unavailable || ctx.Err() != nil {
			return err
		}
		switch {
		case away.IsZero():
			away = time.Now()
			if d.to != nil {
				d.note("Deskbell does not answer; waiting for it to come back.")
			}
		case time.Since(away) > deskAway:
			return err
		}
		t := time.NewTimer(deskRetry)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return err
		}
	}
}

// ask makes a call by which something comes into the queue. Once it is under way it is not given up with ctx: whoever ends
// then has to know what to withdraw.
func (d *desk) ask(ctx context.Context, do func(ctx context.Context, c *client.Client) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return d.call(ctx, func(c *client.Client) error {
		short, stop := context.WithTimeout(context.WithoutCancel(ctx), deskWait)
		defer stop()
		return do(short, c)
	})
}

func (d *desk) once(do func(*client.Client) error) error {
	at, err := d.find()
	switch {
	case err != nil && d.to == nil:
		return err // there never was one
	case err != nil:
		return human.Wrap(human.Unavailable, err, "Deskbell went away; the run can be resumed when it is back")
	case d.to == nil:
		d.to = client.New(at, d.key)
	}
	d.to.URL = at
	return do(d.to)
}

func (d *desk) close() {
	if d.to != nil {
		d.to.Close()
	}
}

// confirms finds out whether plans have to be confirmed.
func (d *desk) confirms(ctx context.Context) (yes bool, err error) {
	err = d.once(func(c *client.Client) (err error) {
		yes, err = c.PlansConfirmed(ctx)
		return err
	})
	return yes, err
}

// lastCall makes a call when ctx has ended already, that is worth a moment still.
func lastCall(ctx context.Context, do func(context.Context)) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer stop()
	do(ctx)
}

// withdraw takes a question back that nobody needs answered any more.
func (d *desk) withdraw(ctx context.Context, id human.OperationID) {
	if d.to == nil || id == "" {
		return
	}
	lastCall(ctx, func(ctx context.Context) {
		if _, err := d.to.Cancel(ctx, id, withdrawn); err == nil {
			_ = d.to.MarkDelivered(ctx, id) // nobody will ask for its end
		}
	})
}

// withdrew says whether a question was withdrawn by this run itself.
func (d *desk) withdrew(ctx context.Context, id human.OperationID) bool {
	if id == "" {
		return false
	}
	var op human.Operation
	err := d.call(ctx, func(c *client.Client) (err error) {
		op, err = c.Operation(ctx, id)
		return err
	})
	return err == nil && op.State == human.Cancelled && op.Ended != nil && op.Ended.By.Role == human.Agent && op.Ended.Reason == withdrawn
}

// A gateDesk asks the gatekeeper.
type gateDesk desk

// Check implements agent.Gatekeeper.
func (g *gateDesk) Check(ctx context.Context, call human.ToolCall) (j human.Judgement, err error) {
	d := (*desk)(g)
	d.delivered(ctx)
	call.Home = d.home
	if call.Cwd == "" {
		call.Cwd = d.cwd
	}
	if t := d.told[call.Tool]; t != nil {
		t.Tell(&call)
	} else {
		call.Schema, call.About = nil, "" // our own, which the gatekeeper knows
	}
	if call.CallID != "" { // models' ids are their conversation's own
		call.CallID = call.SessionID + ":" + call.CallID
		call.CallID = call.CallID[:min(len(call.CallID), 128)]
	}
	how := service.Asking{} // at first without waiting, to know which question there is
	for n := 1; ; {
		if how.Question == "" {
			err = d.ask(ctx, func(ctx context.Context, c *client.Client) (err error) {
				j, err = c.Evaluate(ctx, call, how)
				return err
			})
		} else {
			err = d.call(ctx, func(c *client.Client) (err error) {
				j, err = c.Evaluate(ctx, call, how)
				return err
			})
		}
		switch {
		case ctx.Err() != nil:
			if how.Question == "" && j.Decision == human.Ask {
				how.Question = j.OperationID
			}
			d.withdraw(ctx, how.Question)
			return human.Judgement{}, ctx.Err()
		case err != nil:
			return human.Judgement{}, err
		case j.Decision == human.Deny && j.By == "" && n < 8 && d.withdrew(ctx, j.OperationID):
			n++ // an earlier process of this run was ended while it was asked
			call.CallID = fmt.Sprintf("%.120s#%d", call.CallID, n)
			how = service.Asking{}
			continue
		case j.Decision != human.Ask || j.OperationID == "":
			return j, nil
		}
		how = service.Asking{Question: j.OperationID, Wait: deskWait}
	}
}

// A planDesk has plans confirmed.
type planDesk struct {
	*desk
	id    human.OperationID   // of the plan that runs; empty: the session's newest
	off   []human.Task        // of a plan that nobody had to confirm, since the setting was switched off meanwhile
	asked func(string) string // how the agent answers an operator who asks about it
}

// Confirm implements agent.Plans.
func (p *planDesk) Confirm(ctx context.Context, proposal agent.Proposal, started func(agent.Confirmation), asked func(string) string) (agent.Confirmation, error) {
	p.delivered(ctx)
	p.asked = asked
	about, err := json.Marshal(map[string]any{"cwd": p.cwd, "agent": cli.ReferenceAgent})
	if err != nil {
		return agent.Confirmation{}, human.Wrap(human.Internal, err, "the plan cannot be written as JSON")
	}
	sub := plan.Submission{SessionID: p.session, Message: proposal.Message, Tasks: proposal.Tasks, Context: about, Why: proposal.Why}
	for n := 1; ; n++ {
		sub.IdempotencyKey = fmt.Sprintf("%.100s:%.100s", p.session, proposal.Key)
		if n > 1 {
			sub.IdempotencyKey += fmt.Sprintf("#%d", n)
		}
		var st plan.Status
		var created bool
		if err := p.ask(ctx, func(ctx context.Context, c *client.Client) (err error) {
			st, created, err = c.Submit(ctx, sub, 0)
			return err
		}); err != nil {
			return agent.Confirmation{}, err
		}
		if !created && st.Response != nil && st.Response.Message == withdrawn && n < 8 {
			continue // an earlier process of this run was ended while this was asked
		}
		return p.decided(ctx, st, started)
	}
}

// decided waits until operators have decided a plan.
func (p *planDesk) decided(ctx context.Context, st plan.Status, started func(agent.Confirmation)) (agent.Confirmation, error) {
	p.id, p.off = st.OperationID, nil
	if st.OperationID == "" {
		p.off = st.Tasks
	}
	if st.Status == human.PlanPending {
		started(confirmation(st))
	}
	for st.Status == human.PlanPending {
		if st.Question != "" {
			if err := p.answer(ctx, st.OperationID, st.Question); err != nil {
				return agent.Confirmation{}, p.left(ctx, err)
			}
		}
		err := p.call(ctx, func(c *client.Client) (err error) {
			st, err = c.PlanStatus(ctx, string(p.id), deskWait, 0)
			return err
		})
		if err != nil || ctx.Err() != nil {
			return agent.Confirmation{}, p.left(ctx, err)
		}
	}
	return confirmation(st), nil
}

// left withdraws the plan that waits, where the run ends, and returns why.
func (p *planDesk) left(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	p.withdraw(ctx, p.id)
	return ctx.Err()
}

// answer answers what an operator asks about a plan, or about a task of it.
func (p *planDesk) answer(ctx context.Context, id human.OperationID, question string) error {
	text := "I was started again since, and cannot answer. Decide by what stands here."
	if p.asked != nil {
		text = cmp.Or(strings.TrimSpace(p.asked(question)), "I cannot answer this.")
	}
	err := p.call(ctx, func(c *client.Client) error {
		_, err := c.Reply(ctx, id, text)
		return err
	})
	if human.KindOf(err) == human.Conflict {
		return nil // it was answered without
	}
	return err
}

func confirmation(st plan.Status) agent.Confirmation {
	c := agent.Confirmation{OperationID: st.OperationID, Status: st.Status, Tasks: st.Tasks, Summary: st.Summary, ExpiresAt: st.ExpiresAt, Auto: st.Auto}
	if r := st.Response; r != nil {
		c.Message, c.Changes = r.Message, r.Changes
	}
	return c
}

// name is what the plan that runs goes by.
func (p *planDesk) name() string { return cmp.Or(string(p.id), p.session) }

// Begin implements agent.Plans.
func (p *planDesk) Begin(ctx context.Context, task string) (agent.Standing, error) {
	p.delivered(ctx)
	if p.off != nil {
		return p.free(task), nil
	}
	wait := time.Duration(0)
	for {
		var st plan.Standing
		err := p.call(ctx, func(c *client.Client) (err error) {
			st, err = c.Progress(ctx, p.name(), human.TaskProgress{Task: task, State: human.TaskRunning}, wait)
			return err
		})
		if wait = 0; err == nil && !st.Go && st.Why == "asking" {
			err = p.aboutTask(ctx, st.Asking)
		}
		switch {
		case ctx.Err() != nil:
			// A question about the task stays: withdrawn, it would stand for skipping it.
			return agent.Standing{}, ctx.Err()
		case err != nil:
			return agent.Standing{}, err
		case !st.Go && st.Why == "asking":
			continue
		case !st.Go && st.Why == "paused":
			wait = deskWait
			continue
		}
		out := standingOf(st)
		if i := slices.IndexFunc(out.Tasks, func(t human.TaskRun) bool { return t.ID == task }); !st.Go && i >= 0 && out.Tasks[i].State == human.TaskRunning {
			out.Go, out.Why, out.Task = true, "", out.Tasks[i].Task // this run's own, which was ended before it could note it
		}
		return out, nil
	}
}

// aboutTask waits while an operator is asked about a task, and answers what they ask.
func (p *planDesk) aboutTask(ctx context.Context, id human.OperationID) error {
	var st plan.Status
	err := p.call(ctx, func(c *client.Client) (err error) {
		st, err = c.PlanStatus(ctx, string(id), deskWait, 0)
		return err
	})
	if err != nil || st.Question == "" {
		return err
	}
	return p.answer(ctx, id, st.Question)
}

// End implements agent.Plans.
func (p *planDesk) End(ctx context.Context, progress human.TaskProgress) (agent.Standing, error) {
	p.delivered(ctx)
	if p.off != nil {
		return p.free(progress.Task), nil
	}
	var st plan.Standing
	err := p.call(ctx, func(c *client.Client) (err error) {
		st, err = c.Progress(ctx, p.name(), progress, 0)
		return err
	})
	if human.KindOf(err) == human.Conflict {
		return p.ended(ctx, progress, err)
	}
	return standingOf(st), err
}

// Stopped implements agent.Plans.
func (p *planDesk) Stopped(ctx context.Context, task, why string) {
	if err := p.remark(ctx, task, why+" `deskbell agent resume "+p.session+"` goes on with it."); err != nil {
		p.note("That the task " + task + " was stopped could not be told: " + human.SafeText(err))
	}
}

// GoesOn implements agent.Plans. Where that cannot be told, the next word about the task says it, or says why not.
func (p *planDesk) GoesOn(ctx context.Context, task string) {
	_ = p.remark(ctx, task, "The agent was stopped in the middle of it, and goes on with it now.")
}

// remark notes something about a task that runs.
func (p *planDesk) remark(ctx context.Context, task, note string) (err error) {
	if p.off != nil {
		return nil
	}
	lastCall(ctx, func(ctx context.Context) {
		err = p.once(func(c *client.Client) error {
			_, err := c.Progress(ctx, p.name(), human.TaskProgress{Task: task, State: human.TaskRunning, Note: note}, 0)
			return err
		})
	})
	return err
}

// ended is how things stand where a task has ended already; otherwise the error holds.
func (p *planDesk) ended(ctx context.Context, progress human.TaskProgress, was error) (agent.Standing, error) {
	var st plan.Status
	if err := p.call(ctx, func(c *client.Client) (err error) {
		st, err = c.PlanStatus(ctx, p.name(), 0, 0)
		return err
	}); err != nil || st.Run == nil {
		return agent.Standing{}, was
	}
	t, ok := st.Run.Task(progress.Task)
	if !ok || !t.State.Over() {
		return agent.Standing{}, was
	}
	return agent.Standing{Task: t.Task, Tasks: st.Run.Tasks}, nil
}

// free is how a task of a plan stands that nobody had to confirm.
func (p *planDesk) free(task string) agent.Standing {
	out := agent.Standing{}
	for _, t := range p.off {
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

// An askDesk asks people, by rings of kind feedback.
type askDesk desk

// longQuestion is how much of a question is its description; of more, the whole is in its details.
const longQuestion = 2000

// Ask implements agent.Asker.
func (a *askDesk) Ask(ctx context.Context, question string, asked func(string) string) (string, error) {
	d := (*desk)(a)
	d.delivered(ctx)
	ring := client.Ring{Kind: human.Feedback, Description: question, SessionID: d.session, Attach: true}
	if len(question) > longQuestion {
		ring.Description = human.OneLine(question, 300)
		ring.Details, _ = json.Marshal(map[string]string{"question": question}) // a text
	}
	ring.Context, _ = json.Marshal(map[string]string{"cwd": d.cwd}) // a text
	var op human.Operation
	if err := d.ask(ctx, func(ctx context.Context, c *client.Client) (err error) {
		op, _, err = c.Invoke(ctx, ring)
		return err
	}); err != nil {
		return "", err
	}
	told := 0
	for !op.State.Terminal() {
		for ; told < len(op.Messages); told++ {
			if m := op.Messages[told]; m.By.Role != human.Operator || op.State != human.WaitingInput || told < len(op.Messages)-1 {
				continue
			}
			text := cmp.Or(strings.TrimSpace(asked(op.Messages[told].Text)), "I cannot answer this.")
			err := d.call(ctx, func(c *client.Client) error {
				_, err := c.Reply(ctx, op.ID, text)
				return err
			})
			if err != nil && human.KindOf(err) != human.Conflict {
				return "", a.left(ctx, op.ID, err)
			}
		}
		id := op.ID
		err := d.call(ctx, func(c *client.Client) (err error) {
			op, err = c.Wait(ctx, id, op.Version, deskWait)
			return err
		})
		if err != nil || ctx.Err() != nil {
			return "", a.left(ctx, id, err)
		}
	}
	d.read = append(d.read, op.ID)
	return said(op), nil
}

func (a *askDesk) left(ctx context.Context, id human.OperationID, err error) error {
	if ctx.Err() == nil {
		return err
	}
	(*desk)(a).withdraw(ctx, id)
	return ctx.Err()
}

// said is what people answered, in words for the model.
func said(op human.Operation) string {
	if op.Result == nil {
		why := ""
		if op.Ended != nil && op.Ended.Reason != "" {
			why = ": " + op.Ended.Reason
		}
		return "Nobody answered; the question is " + string(op.State) + why + "."
	}
	a := op.Result.Answer
	var parts []string
	for _, p := range []struct{ label, text string }{
		{"", a.HumanInput}, {"", string(a.Decision)}, {"Result: ", a.ExecutionResult}, {"Summary: ", a.Summary}, {"Findings: ", strings.Join(a.KeyFindings, "; ")},
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
