package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"deskbell/backend/agent"
	"deskbell/backend/human"
)

// office is a queue with operators who decide plans. It outlives the agent, as a server does.
type office struct {
	decide  func(p agent.Proposal, asked func(string) string) (agent.Confirmation, error) // nil: confirmed
	order   func(o *office, task string) *agent.Standing                                  // before a task begins; nil, or nil returned: it may
	after   func(o *office, task string)                                                  // after a task has ended
	stands  func(o *office) []human.TaskRun                                               // what is said of the plan after a task; nil: as it is
	stopped string
	auto    string

	plans   []agent.Proposal
	decided map[string]agent.Confirmation
	tasks   []human.TaskRun
	log     []string // begin t1, done t1 ...
	remarks []string // stopped t1: why; continues t1
}

func (o *office) Confirm(ctx context.Context, p agent.Proposal, started func(agent.Confirmation), asked func(string) string) (agent.Confirmation, error) {
	if c, ok := o.decided[p.Key]; ok {
		return c, nil
	}
	if !slices.ContainsFunc(o.plans, func(q agent.Proposal) bool { return q.Key == p.Key }) {
		o.plans = append(o.plans, p)
	}
	if o.auto == "" {
		started(agent.Confirmation{Status: human.PlanPending, Tasks: p.Tasks})
	}
	c := agent.Confirmation{Status: human.PlanConfirmed, Tasks: p.Tasks, Auto: o.auto}
	if o.decide != nil {
		var err error
		if c, err = o.decide(p, asked); err != nil {
			return c, err
		}
	}
	if ctx.Err() != nil {
		return agent.Confirmation{}, ctx.Err()
	}
	if o.decided == nil {
		o.decided = map[string]agent.Confirmation{}
	}
	o.decided[p.Key] = c
	if len(c.Tasks) > 0 {
		o.tasks = nil
		for _, t := range c.Tasks {
			o.tasks = append(o.tasks, human.TaskRun{Task: t, State: human.TaskWaiting})
		}
	}
	return c, nil
}

func (o *office) find(id string) *human.TaskRun {
	if i := slices.IndexFunc(o.tasks, func(t human.TaskRun) bool { return t.ID == id }); i >= 0 {
		return &o.tasks[i]
	}
	return nil
}

func (o *office) standing() agent.Standing {
	if o.stands != nil {
		return agent.Standing{Tasks: o.stands(o)}
	}
	return agent.Standing{Tasks: slices.Clone(o.tasks)}
}

func (o *office) Begin(_ context.Context, id string) (agent.Standing, error) {
	if o.order != nil {
		if st := o.order(o, id); st != nil {
			if st.Tasks == nil {
				st.Tasks = slices.Clone(o.tasks)
			}
			return *st, nil
		}
	}
	st, t := o.standing(), o.find(id)
	switch {
	case t == nil:
		st.Why = "changed"
	case t.State == human.TaskSkipped:
		st.Why = "skipped"
	case t.State.Over():
		st.Why = "changed"
	default:
		if t.State == human.TaskWaiting {
			o.log = append(o.log, "begin "+id)
		}
		t.State = human.TaskRunning
		st.Go, st.Task, st.Tasks = true, t.Task, slices.Clone(o.tasks)
	}
	return st, nil
}

func (o *office) End(_ context.Context, p human.TaskProgress) (agent.Standing, error) {
	t := o.find(p.Task)
	if t == nil {
		return agent.Standing{}, human.Errorf(human.NotFound, "no task %s", p.Task)
	}
	if !t.State.Over() {
		t.State, t.Note = p.State, p.Note
		o.log = append(o.log, string(p.State)+" "+p.Task)
		if o.after != nil {
			o.after(o, p.Task)
		}
	}
	st := o.standing()
	if o.stopped != "" {
		st.Why, st.Message = "stopped", o.stopped
	}
	return st, nil
}

func (o *office) Stopped(ctx context.Context, task, why string) {
	if ctx.Err() == nil {
		o.remarks = append(o.remarks, "stopped "+task+": "+why)
	}
}

func (o *office) GoesOn(_ context.Context, task string) {
	o.remarks = append(o.remarks, "goes on "+task)
}

// asker answers questions in turn.
type asker struct {
	answers []string
	asked   []string
	back    string // what it asks back first
	heard   string
	err     error
}

func (a *asker) Ask(_ context.Context, q string, asked func(string) string) (string, error) {
	a.asked = append(a.asked, q)
	if a.back != "" {
		a.heard = asked(a.back)
		a.back = ""
	}
	if a.err != nil {
		return "", a.err
	}
	if len(a.answers) == 0 {
		return "", human.Errorf(human.Unavailable, "nobody is there")
	}
	answer := a.answers[0]
	a.answers = a.answers[1:]
	return answer, nil
}

// diary is a journal in memory. It fails once it has as many records as it may have.
type diary struct {
	records []agent.Record
	most    int // 0: no end
	tells   func(r agent.Record)
}

var errDiary = errors.New("the diary is full")

func (d *diary) Append(ctx context.Context, r agent.Record) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if d.most > 0 && len(d.records) >= d.most {
		return errDiary
	}
	d.records = append(d.records, r)
	if d.tells != nil {
		d.tells(r)
	}
	return nil
}

// scene is an engine with everything around it.
type scene struct {
	t       *testing.T
	model   *script
	office  *office
	asker   *asker
	diary   *diary
	gate    gate
	deps    agent.Deps
	ran     []string
	updates []agent.Update
}

func newScene(t *testing.T, replies ...agent.Reply) *scene {
	s := &scene{t: t, model: &script{replies: replies}, office: &office{}, diary: &diary{}}
	s.deps = agent.Deps{
		Model: s.model, Now: newClock().now, NewID: numbered(), Cwd: "/home/mei/notes", About: agent.About{Name: "tester"},
		Emit: func(u agent.Update) { s.updates = append(s.updates, u) },
		Tools: []agent.Tool{
			gadget{name: "read", category: agent.Files, ran: &s.ran},
			gadget{name: "write", category: agent.Files, ran: &s.ran},
			gadget{name: "shell", category: agent.Shell, ran: &s.ran},
		},
	}
	return s
}

func (s *scene) tool(g gadget) {
	g.ran = &s.ran
	s.deps.Tools = slices.DeleteFunc(s.deps.Tools, func(t agent.Tool) bool { return t.Spec().Name == g.name })
	s.deps.Tools = append(s.deps.Tools, g)
}

func (s *scene) engine() *agent.Engine {
	s.t.Helper()
	d := s.deps
	if s.office != nil {
		d.Plans = s.office
	}
	if s.asker != nil {
		d.Asker = s.asker
	}
	if s.diary != nil {
		d.Journal = s.diary
	}
	if s.gate != nil {
		d.Gate = s.gate
	}
	e, err := agent.NewEngine(d)
	if err != nil {
		s.t.Fatal(err)
	}
	return e
}

func (s *scene) run() agent.Result {
	s.t.Helper()
	res, err := s.engine().Run(s.t.Context(), agent.RunInfo{ID: "run_a", Task: "make it work"})
	if err != nil {
		s.t.Fatal(err)
	}
	s.sound()
	return res
}

// sound checks what holds of every run: legal states, an order of updates, and a conversation that a model takes.
func (s *scene) sound() {
	s.t.Helper()
	lawful(s.t, s.updates)
	equal(s.t, "times the model was asked when it was too late", s.model.late, 0)
	for _, p := range s.model.prompts {
		open := p.Turns
		if len(open) > 0 {
			closed(s.t, open)
		}
	}
}

// fataler is a test, or a check of rapid's.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// lawful checks that each state leads to the next, and that nothing follows the end.
func lawful(t fataler, updates []agent.Update) {
	t.Helper()
	state := agent.Idle
	for i, u := range updates {
		if u.SessionID == "" || u.At.IsZero() || u.Type == "" {
			t.Fatalf("update %d is not whole: %+v", i, u)
		}
		if u.State == agent.Reasoning && u.Type == agent.StatusUpdate && i > 0 && state != agent.Reasoning {
			state = agent.Idle // resumed
		}
		if u.State != state && !state.Leads(u.State) {
			t.Fatalf("update %d comes from %s to %s", i, state, u.State)
		}
		state = u.State
		if state.Over() && i < len(updates)-1 && updates[i+1].State != agent.Reasoning {
			t.Fatalf("update %d is after the end: %+v", i+1, updates[i+1])
		}
	}
}

// types are the types of updates in order, without the ones about the state, and with outcomes.
func (s *scene) types() []string {
	var list []string
	for _, u := range s.updates {
		if u.Type == agent.StatusUpdate {
			continue
		}
		line := string(u.Type)
		if u.TaskID != "" {
			line += " " + u.TaskID
		}
		if u.Outcome != "" {
			line += " " + u.Outcome
		}
		list = append(list, line)
	}
	return list
}

// states are the states in order, each once.
func (s *scene) states() []string {
	var list []string
	for _, u := range s.updates {
		if len(list) == 0 || list[len(list)-1] != string(u.State) {
			list = append(list, string(u.State))
		}
	}
	return list
}

// plan is a reply that proposes a plan: tasks as JSON.
func plan(tasks string) agent.Reply {
	return calls("propose_plan", fmt.Sprintf(`{"message":"a plan","tasks":[%s]}`, tasks))
}

const (
	readIt  = `{"id":"r","description":"Read it","tool_name":"read","args":{"path":"a"}}`
	writeIt = `{"id":"w","description":"Write it","tool_name":"write","args":{"path":"b"}}`
	fixIt   = `{"id":"f","description":"Fix it","tool_name":"write"}`
	thinkIt = `{"id":"k","description":"Think about it"}`
)
