package app_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"deskbell/backend/agent"
	"deskbell/backend/agent/runs"
	"deskbell/backend/human"
	"deskbell/backend/llm"
	"deskbell/backend/llm/llmtest"
	"deskbell/backend/plan"
	"deskbell/backend/queue"
	"deskbell/backend/store/sqlite"
)

// A talk is an agent's parts: the real client of a scripted model, and tools in memory that note what they did.
type talk struct {
	*testing.T
	provider string
	models   *llmtest.Server
	model    agent.Model
	ids      atomic.Int64

	mu  sync.Mutex
	ran []string // calls of tools, as name and arguments
}

// bothProtocols are the ones that are spoken.
var bothProtocols = []string{llm.Anthropic, llm.OpenAI}

// speaking runs a test on a clock of its own, once for each protocol.
func speaking(t *testing.T, protocols []string, f func(t *talk)) {
	t.Helper()
	for _, provider := range protocols {
		t.Run(provider, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &talk{T: t, provider: provider}
				var err error
				config := llm.Config{Provider: provider, Model: llmtest.Model, BaseURL: "http://127.0.0.1:80/v1", Key: func(context.Context, string) (string, error) { return llmtest.Key, nil }}
				d.models, config.Dial = llmtest.Pipe(t)
				if d.model, err = llm.NewChat(config); err != nil {
					t.Fatal(err)
				}
				f(d)
			})
		})
	}
}

func (d *talk) newID(prefix string) string { return fmt.Sprint(prefix, d.ids.Add(1)) }

func (d *talk) note(call string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ran = append(d.ran, call)
}

// did returns what ran since it was asked last.
func (d *talk) did() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := d.ran
	d.ran = nil
	return all
}

// A noted is a tool in memory.
type noted struct {
	d        *talk
	name     string
	category agent.Category
	params   []string
	do       func(args map[string]string) agent.Output
}

func (n noted) Category() agent.Category { return n.category }

func (n noted) Spec() agent.ToolSpec {
	properties := map[string]any{}
	for _, p := range n.params {
		properties[p] = map[string]string{"type": "string"}
	}
	schema, _ := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": n.params, "additionalProperties": false})
	return agent.ToolSpec{Name: n.name, Description: "The tool " + n.name + ".", Schema: schema}
}

func (n noted) Run(_ context.Context, raw json.RawMessage) (agent.Output, error) {
	n.d.note(n.name + string(raw))
	var args map[string]string
	if err := json.Unmarshal(raw, &args); err != nil {
		return agent.Output{}, err
	}
	return n.do(args), nil
}

// says is one answer of the model's.
func says(when llmtest.When, text string, tools ...llmtest.Call) llmtest.Step {
	return llmtest.Step{When: when, Answer: llmtest.Answer{Text: text, Calls: tools}}
}

func thought(s llmtest.Step, what string) llmtest.Step {
	s.Thinking = what
	return s
}

func calling(name, args string) llmtest.Call {
	return llmtest.Call{Name: name, Args: json.RawMessage(args)}
}

func user(text string) llmtest.When      { return llmtest.When{Says: text} }
func resulting(text string) llmtest.When { return llmtest.When{Result: text} }

// The categories of these conversations.
const (
	location      agent.Category = "location"
	entertainment agent.Category = "entertainment"
	vehicle       agent.Category = "vehicle"
)

// box has tools of all categories; an agent has to be given those that it declares, and no other.
func (d *talk) box() []agent.Tool {
	return []agent.Tool{
		noted{d, "search_location", location, []string{"query"}, func(args map[string]string) agent.Output {
			if args["query"] == "" {
				return agent.Output{Text: "no query", Failed: true}
			}
			return agent.Output{Text: args["query"] + " 位于 39.9163,116.3972"}
		}},
		noted{d, "play_music", entertainment, []string{"song", "artist"}, func(args map[string]string) agent.Output {
			return agent.Output{Text: "正在播放 " + args["artist"] + "《" + args["song"] + "》"}
		}},
		noted{d, "control_window", vehicle, []string{"window", "action"}, func(args map[string]string) agent.Output {
			if args["window"] != "driver" {
				return agent.Output{Text: "没有这个车窗：" + args["window"], Failed: true}
			}
			return agent.Output{Text: "driver " + args["action"] + " ok"}
		}},
	}
}

// A message of a conversation: what the user says, what the model does then, and what comes of it.
type message struct {
	user   string
	model  []llmtest.Step
	status agent.Status
	says   string // stands in the response's message; of waiting_input it is the prompt
	ran    string
}

// M1, M2, M3, M5: the conversations of the specification.
func TestDialogues(t *testing.T) {
	t.Parallel()
	navigation := agent.About{Name: "navigation_agent", Description: "导航助手", Capabilities: []string{"导航", "找地点"}, Categories: []agent.Category{location}}
	music := agent.About{Name: "music_agent", Description: "音乐播放助手", Capabilities: []string{"音乐", "播放"}, Categories: []agent.Category{entertainment}}
	car := agent.About{Name: "car_agent", Description: "车控助手", Capabilities: []string{"车窗"}, Categories: []agent.Category{vehicle}}
	words := agent.WordsJudge{}
	for name, tt := range map[string]struct {
		about    agent.About
		judge    agent.Judge // nil: the default
		offered  string
		dialogue []message
	}{
		"navigation, one turn": {navigation, words, "search_location", []message{
			{"导航到北京故宫", []llmtest.Step{
				thought(says(user("导航到北京故宫"), "", calling("search_location", `{"query":"北京故宫"}`)), "有目的地，可以直接查。"),
				says(resulting("39.9163"), "已为您规划到北京故宫的路线。"),
			}, agent.Success, "路线", `search_location{"query":"北京故宫"}`},
		}},
		"navigation, many turns": {navigation, words, "search_location", []message{
			{"我想去个地方", []llmtest.Step{says(user("我想去个地方"), "好的，请问您想去哪里？")}, agent.WaitingInput, "好的，请问您想去哪里？", ""},
			{"去故宫", []llmtest.Step{
				says(llmtest.When{First: "我想去个地方", Says: "去故宫", Anywhere: "请问您想去哪里"}, "", calling("search_location", `{"query":"故宫"}`)),
				says(resulting("故宫 位于"), "已找到故宫，开始导航。"),
			}, agent.Done, "开始导航", `search_location{"query":"故宫"}`},
		}},
		"navigation, asking by its tool": {navigation, nil, "search_location ask_user", []message{
			{"我想导航", []llmtest.Step{
				thought(says(user("我想导航"), "", calling("ask_user", `{"question":"好的，请问您想去哪里？"}`)), "缺少目的地。"),
			}, agent.WaitingInput, "好的，请问您想去哪里？", ""},
			{"去故宫", []llmtest.Step{
				thought(says(llmtest.When{First: "我想导航", Says: "去故宫", Result: "next message"}, "好的。", calling("search_location", `{"query":"故宫"}`)), "现在知道了。"),
				says(resulting("39.9163"), "到故宫的路线好了。"),
			}, agent.Done, "路线", `search_location{"query":"故宫"}`},
		}},
		"navigation, in English, by words where it has a tool": {navigation, nil, "search_location ask_user", []message{
			{"Take me somewhere", []llmtest.Step{says(user("somewhere"), "Sure. Where would you like to go?")}, agent.WaitingInput, "Sure. Where would you like to go?", ""},
			{"The Palace", []llmtest.Step{
				says(user("The Palace"), "", calling("search_location", `{"query":"The Palace"}`)),
				says(resulting("The Palace 位于"), "On the way."),
			}, agent.Done, "On the way.", `search_location{"query":"The Palace"}`},
		}},
		"music, one turn": {music, words, "play_music", []message{
			{"播放周杰伦的晴天", []llmtest.Step{
				says(user("播放周杰伦的晴天"), "好的。", calling("play_music", `{"song":"晴天","artist":"周杰伦"}`)),
				says(resulting("《晴天》"), "正在为您播放周杰伦的《晴天》。"),
			}, agent.Success, "正在为您播放", `play_music{"artist":"周杰伦","song":"晴天"}`},
		}},
		"music, three turns": {music, words, "play_music", []message{
			{"播放音乐", []llmtest.Step{says(user("播放音乐"), "好的，请问想听什么歌？")}, agent.WaitingInput, "好的，请问想听什么歌？", ""},
			{"周杰伦的", []llmtest.Step{says(llmtest.When{Says: "周杰伦的", Anywhere: "请问想听什么歌"}, "好的，想听周杰伦的哪首歌？")}, agent.WaitingInput, "好的，想听周杰伦的哪首歌？", ""},
			{"晴天", []llmtest.Step{
				says(llmtest.When{Says: "晴天", Anywhere: "周杰伦的\n"}, "", calling("play_music", `{"artist":"周杰伦","song":"晴天"}`)),
				says(resulting("正在播放"), "正在播放周杰伦的《晴天》。"),
			}, agent.Done, "《晴天》", `play_music{"artist":"周杰伦","song":"晴天"}`},
		}},
		"car, one turn": {car, words, "control_window", []message{
			{"打开主驾驶车窗", []llmtest.Step{
				says(user("打开主驾驶车窗"), "", calling("control_window", `{"window":"driver","action":"open"}`)),
				says(resulting("driver open ok"), "主驾驶车窗已打开。"),
			}, agent.Success, "已打开", `control_window{"action":"open","window":"driver"}`},
		}},
		"car, many turns, and the server in trouble": {car, words, "control_window", []message{
			{"打开车窗", []llmtest.Step{
				{Do: llmtest.Overloaded},
				says(user("打开车窗"), "好的，请问是哪个车窗？"),
			}, agent.WaitingInput, "好的，请问是哪个车窗？", ""},
			{"主驾驶", []llmtest.Step{
				{Do: llmtest.Cut, Answer: llmtest.Answer{Text: "好的，我来打开主驾驶的车窗。", Calls: []llmtest.Call{calling("control_window", `{"window":"driver","action":"open"}`)}}},
				says(llmtest.When{Says: "主驾驶", Anywhere: "请问是哪个车窗"}, "", calling("control_window", `{"window":"driver","action":"open"}`)),
				{Do: llmtest.OverloadedMidway, Answer: llmtest.Answer{Text: "主驾驶车窗已打开，请注意安全驾驶。"}},
				says(resulting("driver open ok"), "主驾驶车窗已打开。"),
			}, agent.Done, "已打开", `control_window{"action":"open","window":"driver"}`},
		}},
		"car, a call that is no JSON, one that fails, one of another's tool, two at a time": {car, words, "control_window", []message{
			{"打开所有车窗", []llmtest.Step{
				says(user("打开所有车窗"), "", llmtest.Call{Name: "control_window", ArgsText: `{"window": "driver", "acti`}),
				says(resulting("must be a JSON object"), "", calling("control_window", `{"window":"roof","action":"open"}`), calling("play_music", `{"song":"x","artist":"y"}`), calling("control_window", `{"window":"driver","action":"open"}`)),
				says(llmtest.When{Result: "没有这个车窗"}, "只有主驾驶车窗可以打开，已打开。"),
			}, agent.Success, "只有主驾驶", `control_window{"action":"open","window":"roof"} control_window{"action":"open","window":"driver"}`},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			speaking(t, bothProtocols, func(d *talk) {
				var steps []llmtest.Step
				for _, m := range tt.dialogue {
					steps = append(steps, m.model...)
				}
				d.models.Script(steps...)
				a, err := agent.NewToolAgent(tt.about, agent.Deps{Model: d.model, Tools: d.box(), Judge: tt.judge, Now: time.Now, NewID: d.newID})
				if err != nil {
					d.Fatal(err)
				}
				session, history := "", 0
				for _, m := range tt.dialogue {
					r, err := a.Handle(d.Context(), m.user, session)
					if err != nil {
						d.Fatalf("%s: %v", m.user, err)
					}
					if r.Agent != tt.about.Name || r.Query != m.user || r.Status != m.status || !strings.Contains(r.Message, m.says) {
						d.Errorf("%s: %s by %s: %q; want %s with %q", m.user, r.Status, r.Agent, r.Message, m.status, m.says)
					}
					if asks := r.Status == agent.WaitingInput; asks && r.Prompt != m.says || asks && r.SessionID == "" || session != "" && r.SessionID != session {
						d.Errorf("%s: prompt %q, session %q after %q", m.user, r.Prompt, r.SessionID, session)
					}
					if got := strings.Join(d.did(), " "); got != m.ran {
						d.Errorf("%s: ran %s; want %s", m.user, got, m.ran)
					}
					if n := len(r.Data.History); n <= history || r.Data.History[0].Text != tt.dialogue[0].user {
						d.Errorf("%s: a conversation of %d turns after %d", m.user, n, history)
					}
					session, history = r.SessionID, len(r.Data.History)
				}
				for _, q := range d.models.Requests() {
					var names []string
					for _, tool := range q.Tools {
						names = append(names, tool.Name)
					}
					if strings.Join(names, " ") != tt.offered || !strings.Contains(q.System, tt.about.Description) {
						d.Fatalf("offered %v by %q; want %s", names, q.System, tt.offered)
					}
				}
			})
		})
	}
}

// M4: a session that is not known, has expired, or is over is a clear error, and nothing is asked of the model.
func TestSessionsThatAreNot(t *testing.T) {
	t.Parallel()
	speaking(t, bothProtocols, func(d *talk) {
		d.models.Script(
			says(user("打开车窗"), "好的，请问是哪个车窗？"),
			says(user("关车窗"), "请问是哪个车窗？"),
			says(llmtest.When{First: "关车窗", Says: "主驾驶"}, "好的，已关闭。"),
		)
		a, err := agent.NewToolAgent(agent.About{Name: "car_agent", Categories: []agent.Category{vehicle}},
			agent.Deps{Model: d.model, Tools: d.box(), Judge: agent.WordsJudge{}, Now: time.Now, NewID: d.newID, TTL: 10 * time.Minute})
		if err != nil {
			d.Fatal(err)
		}
		wants := func(session, says string) {
			d.Helper()
			_, err := a.Handle(d.Context(), "主驾驶", session)
			if human.KindOf(err) != human.NotFound || !strings.Contains(human.SafeText(err), says) {
				d.Errorf("%v, want one that says %q", err, says)
			}
		}
		wants("chat_of_nobody", "not known")
		first, err := a.Handle(d.Context(), "打开车窗", "")
		if err != nil {
			d.Fatal(err)
		}
		<-time.After(9 * time.Minute)
		second, err := a.Handle(d.Context(), "关车窗", "")
		if err != nil {
			d.Fatal(err)
		}
		<-time.After(2 * time.Minute)
		wants(first.SessionID, "expired")
		if r, err := a.Handle(d.Context(), "主驾驶", second.SessionID); err != nil || r.Status != agent.Done {
			d.Fatalf("%+v, %v", r, err)
		}
		<-time.After(11 * time.Minute)
		wants(second.SessionID, "expired")
		if n := len(d.models.Requests()); n != 3 {
			d.Errorf("%d requests", n)
		}
	})
}

// A rehearsal is an engine with plans on a real queue in a real SQLite file, and an operator.
type rehearsal struct {
	*talk
	plans   *plan.Service
	queue   *queue.Queue
	dir     string
	gate    agent.Gatekeeper
	session string

	// What the operator does, in a goroutine of theirs: about a plan, and about one task of it.
	onPlan func(n int, id human.OperationID)
	onTask func(n int, id human.OperationID, task human.Task)
	asked  map[human.OperationID]bool
	plan   int
	op     human.OperationID // the plan that runs
	handed []human.OperationID
	people sync.WaitGroup
	heard  []agent.Update
	during func(u agent.Update) // what an operator does when they hear it
}

var (
	worker = human.Actor{Role: human.Agent, Name: "worker"}
	ada    = human.Actor{Role: human.Operator, Name: "ada"}
)

// withPlans runs a test with an engine and an empty queue.
func withPlans(t *testing.T, protocols []string, f func(p *rehearsal)) {
	t.Helper()
	speaking(t, protocols, func(d *talk) {
		p := &rehearsal{talk: d, dir: d.TempDir(), session: "run_1", asked: map[human.OperationID]bool{}}
		defer p.open()()
		f(p)
		p.people.Wait()
	})
}

func (p *rehearsal) open() (done func()) {
	ctx := context.Background() // it ends after the test's own
	store, err := sqlite.Open(ctx, p.dir, sqlite.Options{})
	if err != nil {
		p.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	p.queue = queue.New(store, store, queue.Options{MaxPending: 100, Log: log})
	if err := p.queue.Load(ctx); err != nil {
		p.Fatal(err)
	}
	running, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { _ = p.queue.Run(running) })
	p.plans = plan.New(plan.Deps{
		Queue: p.queue, Store: store.Plans(), Now: time.Now, NewID: p.newID, Log: log,
		Judge: func(context.Context, human.ToolCall) (human.Verdict, error) {
			return human.Verdict{Risk: human.HighRisk, Decision: human.Ask}, nil
		},
		Options: func() plan.Options { return plan.Options{Confirm: true, Timeout: 5 * time.Minute, Modify: true} },
	})
	return func() {
		stop()
		wg.Wait()
		if err := store.Close(); err != nil {
			p.Error(err)
		}
	}
}

// respond is the operator's.
func (p *rehearsal) respond(id human.OperationID, r plan.Response) {
	op, err := p.queue.Get(context.Background(), ada, id)
	if err == nil {
		r.Digest = op.Digest
		_, err = p.plans.Respond(context.Background(), ada, string(id), r)
	}
	if err != nil {
		p.Errorf("the operator's answer: %v", err)
	}
}

// confirms is an operator who agrees to every plan.
func (p *rehearsal) confirms(_ int, id human.OperationID) {
	p.respond(id, plan.Response{Action: human.ConfirmPlan})
}

// Confirm implements agent.Plans.
func (p *rehearsal) Confirm(ctx context.Context, proposal agent.Proposal, started func(agent.Confirmation), asked func(string) string) (agent.Confirmation, error) {
	st, _, err := p.plans.Submit(ctx, worker, plan.Submission{
		SessionID: p.session, Message: proposal.Message, Tasks: proposal.Tasks, Why: proposal.Why, IdempotencyKey: p.session + ":" + proposal.Key,
	}, 0)
	if err != nil {
		return agent.Confirmation{}, err
	}
	p.op = st.OperationID
	if !slices.Contains(p.handed, p.op) {
		p.handed = append(p.handed, p.op)
	}
	if st.Status == human.PlanPending {
		started(agent.Confirmation{OperationID: st.OperationID, Status: st.Status, Tasks: proposal.Tasks, Summary: st.Summary, ExpiresAt: st.ExpiresAt})
		if !p.asked[st.OperationID] && p.onPlan != nil {
			p.asked[st.OperationID] = true
			p.plan++
			n, id := p.plan, st.OperationID
			p.people.Go(func() { p.onPlan(n, id) })
		}
	}
	for st.Status == human.PlanPending && err == nil {
		if st.Question != "" {
			if _, err := p.queue.Reply(ctx, worker, p.op, asked(st.Question)); err != nil {
				return agent.Confirmation{}, err
			}
		}
		st, err = p.plans.Status(ctx, worker, string(p.op), 25*time.Second, 0)
	}
	c := agent.Confirmation{OperationID: st.OperationID, Status: st.Status, Tasks: st.Tasks, Summary: st.Summary, Auto: st.Auto}
	if r := st.Response; r != nil {
		c.Message, c.Changes = r.Message, r.Changes
	}
	return c, err
}

// Begin implements agent.Plans.
func (p *rehearsal) Begin(ctx context.Context, task string) (agent.Standing, error) {
	for wait := time.Duration(0); ; wait = 25 * time.Second {
		st, err := p.plans.Progress(ctx, worker, string(p.op), human.TaskProgress{Task: task, State: human.TaskRunning}, wait)
		if err != nil {
			return agent.Standing{}, err
		}
		if id := st.Asking; id != "" && !p.asked[id] {
			p.asked[id] = true
			n, about := len(p.asked), *st.Task
			p.people.Go(func() { p.onTask(n, id, about) })
		}
		out := agent.Standing{Go: st.Go, Why: st.Why, Message: st.Message, Tasks: st.Run.Tasks}
		if st.Task != nil {
			out.Task = *st.Task
		}
		if is, ok := st.Run.Task(task); !st.Go && ok && is.State == human.TaskRunning {
			out.Go, out.Task = true, is.Task // begun by this run before it was killed
		}
		if out.Go || st.Why != "asking" && st.Why != "paused" {
			return out, nil
		}
	}
}

// End implements agent.Plans.
func (*rehearsal) Stopped(context.Context, string, string) {}
func (*rehearsal) GoesOn(context.Context, string)          {}

func (p *rehearsal) End(ctx context.Context, progress human.TaskProgress) (agent.Standing, error) {
	st, err := p.plans.Progress(ctx, worker, string(p.op), progress, 0)
	if human.KindOf(err) == human.Conflict { // it was told before the agent was killed
		now, err := p.plans.Status(ctx, worker, string(p.op), 0, 0)
		return agent.Standing{Tasks: now.Run.Tasks}, err
	}
	if err != nil {
		return agent.Standing{}, err
	}
	return agent.Standing{Why: st.Why, Message: st.Message, Tasks: st.Run.Tasks}, nil
}

// tools of a folder that is not there.
func (p *rehearsal) tools() []agent.Tool {
	ok := func(map[string]string) agent.Output { return agent.Output{Text: "well done"} }
	return []agent.Tool{
		noted{p.talk, "read_file", agent.Files, []string{"path"}, func(args map[string]string) agent.Output {
			if args["path"] == "missing.txt" {
				return agent.Output{Text: "no such file", Failed: true}
			}
			return agent.Output{Text: "the text of " + args["path"]}
		}},
		noted{p.talk, "write_file", agent.Files, []string{"path", "text"}, ok},
		noted{p.talk, "shell", agent.Shell, []string{"command"}, ok},
	}
}

func (p *rehearsal) engine(j agent.Journal) *agent.Engine {
	e, err := agent.NewEngine(agent.Deps{
		Model: p.model, Tools: p.tools(), Gate: p.gate, Plans: p, Journal: j, Now: time.Now, NewID: p.newID,
		About: agent.About{Name: "worker"},
		Emit: func(u agent.Update) {
			if p.heard = append(p.heard, u); p.during != nil {
				p.during(u)
			}
		},
	})
	if err != nil {
		p.Fatal(err)
	}
	return e
}

// run runs the task to its end, with a journal in a file.
func (p *rehearsal) run(task string) agent.Result {
	p.Helper()
	j, err := runs.New(filepath.Join(p.dir, "agents")).Create(p.session)
	if err != nil {
		p.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	r, err := p.engine(j).Run(p.Context(), agent.RunInfo{ID: p.session, Task: task})
	if err != nil {
		p.Fatalf("%v: %s", err, r.Message)
	}
	return r
}

// stands is how a plan stands in the queue, its tasks with them.
func (p *rehearsal) stands(id human.OperationID) string {
	p.Helper()
	op, err := p.queue.Get(context.Background(), ada, id)
	if err != nil {
		p.Fatal(err)
	}
	s := string(op.PlanStatus())
	if op.Run != nil {
		s += ", " + string(op.Run.State)
		for _, t := range op.Run.Tasks {
			s += fmt.Sprintf(" %s=%s", t.ID, t.State)
		}
	}
	return s
}

// all are the plans that there were, without those of one task, in the order in which they were handed in.
func (p *rehearsal) all() []human.OperationID {
	p.Helper()
	ops, err := p.queue.Recent(context.Background(), human.Plan, 100)
	if err != nil {
		p.Fatal(err)
	}
	for _, op := range ops {
		op, err := p.queue.Get(context.Background(), ada, op.ID)
		if err != nil {
			p.Fatal(err)
		}
		if q, err := op.PlanQuestion(); err != nil || q.Of == "" && !slices.Contains(p.handed, op.ID) {
			p.Errorf("a plan that was not handed in: %s, %v", op.ID, err)
		}
	}
	return p.handed
}

// told says whether an update of a type came, in this order.
func (p *rehearsal) told(types ...agent.UpdateType) bool {
	for _, u := range p.heard {
		if len(types) > 0 && u.Type == types[0] {
			types = types[1:]
		}
	}
	return len(types) == 0
}

func proposing(message string, tasks ...string) llmtest.Call {
	return calling("propose_plan", fmt.Sprintf(`{"message":%q,"tasks":[%s]}`, message, strings.Join(tasks, ",")))
}

const (
	taskRead  = `{"description":"读取日志","tool_name":"read_file","args":{"path":"log.txt"},"expected_outcome":"看到错误"}`
	taskWrite = `{"description":"写报告","tool_name":"write_file","args":{"path":"report.md","text":"一切正常"}}`
	taskShell = `{"description":"发布","tool_name":"shell","args":{"command":"git push"}}`

	ranRead  = `read_file{"path":"log.txt"}`
	ranWrite = `write_file{"path":"report.md","text":"一切正常"}`
	ranShell = `shell{"command":"git push"}`
)

func arguments(v map[string]string) json.RawMessage {
	data, _ := json.Marshal(v)
	return data
}

// What an operator does with a plan is what runs.
func TestPlansOfTheAgent(t *testing.T) {
	t.Parallel()
	three := thought(says(user("整理日志"), "我先提出计划。", proposing("整理日志", taskRead, taskWrite, taskShell)), "要先有计划。")
	for name, tt := range map[string]struct {
		model    []llmtest.Step
		operator func(p *rehearsal, n int, id human.OperationID)
		task     func(p *rehearsal, n int, id human.OperationID, task human.Task)
		during   func(p *rehearsal, u agent.Update)
		gate     agent.Gatekeeper
		want     agent.Status
		says     string
		ran      string
		stands   []string // the plans, the oldest first
		told     []agent.UpdateType
	}{
		"confirmed": {
			model: []llmtest.Step{three, says(resulting("No task of the plan is left"), "日志整理好了。")},
			want:  agent.Done, says: "日志整理好了", ran: ranRead + " " + ranWrite + " " + ranShell,
			stands: []string{"confirmed, finished t1=done t2=done t3=done"},
			told:   []agent.UpdateType{agent.ConfirmationRequest, agent.TaskPlan, agent.TaskInit, agent.SubTaskResult, agent.TaskInit, agent.SubTaskResult, agent.FinalResult},
		},
		"changed": {
			model: []llmtest.Step{three, says(llmtest.When{Result: "notes.md"}, "按您改的计划做完了。")},
			operator: func(p *rehearsal, _ int, id human.OperationID) {
				p.respond(id, plan.Response{Action: human.ModifyPlan, Message: "不要发布", Tasks: []human.Task{
					{ID: "t2", Description: "写报告", Tool: "write_file", Args: arguments(map[string]string{"path": "notes.md", "text": "查过了"})},
					{ID: "t1", Description: "读取日志", Tool: "read_file", Args: arguments(map[string]string{"path": "log.txt"}), ExpectedOutcome: "看到错误"},
					{Description: "再读一遍", Tool: "read_file", Args: arguments(map[string]string{"path": "notes.md"})},
				}})
			},
			want: agent.Done, says: "按您改的计划", ran: `write_file{"path":"notes.md","text":"查过了"} ` + ranRead + ` read_file{"path":"notes.md"}`,
			stands: []string{"modified, finished t2=done t1=done t4=done"},
			told:   []agent.UpdateType{agent.ConfirmationRequest, agent.TaskPlan, agent.FinalResult},
		},
		"changed in words": {
			model: []llmtest.Step{three,
				says(llmtest.When{Result: "先别发布"}, "", proposing("只读日志", taskRead)),
				says(resulting("No task of the plan is left"), "只读了日志。")},
			operator: func(p *rehearsal, n int, id human.OperationID) {
				if n == 1 {
					p.respond(id, plan.Response{Action: human.ModifyPlan, Message: "先别发布，只看日志"})
				} else {
					p.confirms(n, id)
				}
			},
			want: agent.Done, says: "只读了日志", ran: ranRead,
			stands: []string{"modified", "confirmed, finished t1=done"},
			told:   []agent.UpdateType{agent.ConfirmationRequest, agent.ConfirmationRequest, agent.TaskPlan, agent.FinalResult},
		},
		"cancelled": {
			model: []llmtest.Step{three},
			operator: func(p *rehearsal, _ int, id human.OperationID) {
				p.respond(id, plan.Response{Action: human.CancelPlan, Message: "今天不行"})
			},
			want: agent.NotDone, says: "今天不行", ran: "", stands: []string{"cancelled"},
			told: []agent.UpdateType{agent.ConfirmationRequest, agent.ErrorUpdate},
		},
		"timed out": {
			model:    []llmtest.Step{three},
			operator: func(*rehearsal, int, human.OperationID) {}, // away
			want:     agent.NotDone, says: "in time", ran: "", stands: []string{"timeout"},
			told: []agent.UpdateType{agent.ConfirmationRequest, agent.ConfirmationTimeout, agent.ErrorUpdate},
		},
		"task by task": {
			model: []llmtest.Step{three,
				says(llmtest.When{Result: "不发布"}, "读了日志，写了报告，没有发布。")},
			operator: func(p *rehearsal, _ int, id human.OperationID) {
				p.respond(id, plan.Response{Action: human.ConfirmPlan, TaskByTask: true})
			},
			task: func(p *rehearsal, _ int, id human.OperationID, task human.Task) {
				switch task.ID {
				case "t1":
					p.respond(id, plan.Response{Action: human.ConfirmPlan})
				case "t2":
					task.Args = arguments(map[string]string{"path": "report.md", "text": "有错误"})
					p.respond(id, plan.Response{Action: human.ModifyPlan, Tasks: []human.Task{task}})
				default:
					p.respond(id, plan.Response{Action: human.CancelPlan, Message: "不发布"})
				}
			},
			want: agent.Done, says: "没有发布", ran: ranRead + ` write_file{"path":"report.md","text":"有错误"}`,
			stands: []string{"confirmed, finished t1=done t2=done t3=skipped"},
			told:   []agent.UpdateType{agent.ConfirmationRequest, agent.TaskInit, agent.SubTaskResult, agent.TaskInit, agent.SubTaskResult, agent.FinalResult},
		},
		"task by task, and one that nobody answers": {
			model: []llmtest.Step{three},
			operator: func(p *rehearsal, _ int, id human.OperationID) {
				p.respond(id, plan.Response{Action: human.ConfirmPlan, TaskByTask: true})
			},
			task: func(p *rehearsal, n int, id human.OperationID, task human.Task) {
				if task.ID == "t1" {
					p.respond(id, plan.Response{Action: human.ConfirmPlan})
				}
			},
			want: agent.NotDone, says: "stopped", ran: ranRead,
			stands: []string{"confirmed, stopped t1=done t2=waiting t3=waiting"},
			told:   []agent.UpdateType{agent.TaskInit, agent.SubTaskResult, agent.ErrorUpdate},
		},
		"a task fails, and there is a new plan": {
			model: []llmtest.Step{
				says(user("整理日志"), "", proposing("整理日志", strings.Replace(taskRead, "log.txt", "missing.txt", 1), taskWrite)),
				says(resulting("no such file"), "", calling("end_task", `{"outcome":"failed","note":"没有这个文件"}`)),
				thought(says(resulting("The plan is given up"), "换一个文件。", proposing("读另一个日志", taskRead, taskWrite)), "那就换一个。"),
				says(resulting("No task of the plan is left"), "从另一个日志写了报告。"),
			},
			want: agent.Done, says: "另一个日志", ran: `read_file{"path":"missing.txt"} ` + ranRead + " " + ranWrite,
			stands: []string{"confirmed, finished t1=failed t2=skipped", "confirmed, finished t1=done t2=done"},
			told:   []agent.UpdateType{agent.ConfirmationRequest, agent.TaskInit, agent.SubTaskResult, agent.ConfirmationRequest, agent.TaskInit, agent.FinalResult},
		},
		"a call is refused, and there is another way": {
			model: []llmtest.Step{
				says(user("整理日志"), "", proposing("整理日志", taskShell, taskWrite)),
				says(resulting("不许推送"), "", proposing("不推送，只写报告", taskWrite)),
				says(resulting("No task of the plan is left"), "没有推送，只写了报告。"),
			},
			gate: blocking{"shell", "不许推送"},
			want: agent.Done, says: "没有推送", ran: ranWrite,
			stands: []string{"confirmed, finished t1=failed t2=skipped", "confirmed, finished t1=done"},
			told:   []agent.UpdateType{agent.ConfirmationRequest, agent.SubTaskResult, agent.ConfirmationRequest, agent.FinalResult},
		},
		"a task whose calls are left to the model, who wants more than was confirmed": {
			model: []llmtest.Step{
				says(user("整理日志"), "", proposing("整理日志", `{"description":"读需要的文件","tool_name":"read_file"}`)),
				says(resulting("Now do task t1"), "", calling("read_file", `{"path":"a.txt"}`), calling("shell", `{"command":"rm -rf /"}`), calling("read_file", `{"path":"b.txt"}`)),
				says(llmtest.When{Result: "not in the confirmed plan"}, "", calling("end_task", `{"outcome":"done","note":"读完了"}`)),
				says(resulting("No task of the plan is left"), "读完了两个文件。"),
			},
			want: agent.Done, says: "读完了", ran: `read_file{"path":"a.txt"} read_file{"path":"b.txt"}`,
			stands: []string{"confirmed, finished t1=done"},
		},
		"calls without a plan are one": {
			model: []llmtest.Step{
				thought(says(user("整理日志"), "", calling("read_file", `{"path":"log.txt"}`), calling("shell", `{"command":"git push"}`)), "直接做。"),
				says(llmtest.When{Result: "the text of log.txt"}, "", calling("write_file", `{"path":"x","text":"y"}`)),
			},
			operator: func(p *rehearsal, n int, id human.OperationID) {
				if n == 1 {
					p.confirms(n, id)
				} else {
					p.respond(id, plan.Response{Action: human.CancelPlan})
				}
			},
			want: agent.NotDone, says: "canceled", ran: ranRead + " " + ranShell,
			stands: []string{"confirmed, finished t1=done t2=done", "cancelled"},
		},
		"asked about": {
			model: []llmtest.Step{three,
				thought(says(llmtest.When{Result: "为什么要发布？"}, "因为别人在等。", calling("shell", `{"command":"sneak"}`)), "有人问。"),
				says(user("No task of the plan is left"), "做完了。")},
			operator: func(p *rehearsal, n int, id human.OperationID) {
				if _, err := p.queue.Reply(context.Background(), ada, id, "为什么要发布？"); err != nil {
					p.Error(err)
				}
				op, err := p.queue.WaitUntil(context.Background(), ada, id, func(op human.Operation) bool { return op.State != human.WaitingInput })
				if err != nil || op.Messages[len(op.Messages)-1].Text != "因为别人在等。" {
					p.Errorf("the answer: %+v, %v", op.Messages, err)
				}
				p.confirms(n, id)
			},
			want: agent.Done, says: "做完了", ran: ranRead + " " + ranWrite + " " + ranShell,
			stands: []string{"confirmed, finished t1=done t2=done t3=done"},
		},
		"skipped while it runs": {
			model:  []llmtest.Step{three, says(resulting("An operator skipped task t2"), "跳过了报告。")},
			during: ordered("t1", human.Order{Kind: human.Skip, Task: "t2"}),
			want:   agent.Done, says: "跳过了报告", ran: ranRead + " " + ranShell,
			stands: []string{"confirmed, finished t1=done t2=skipped t3=done"},
		},
		"changed while it runs": {
			model: []llmtest.Step{three, says(resulting("notes.md"), "按新计划做完了。")},
			during: ordered("t1", human.Order{Kind: human.Change, Tasks: []human.Task{
				{ID: "t2", Description: "写到别处", Tool: "write_file", Args: arguments(map[string]string{"path": "notes.md", "text": "短"})},
			}}),
			want: agent.Done, says: "按新计划", ran: ranRead + ` write_file{"path":"notes.md","text":"短"}`,
			stands: []string{"confirmed, finished t1=done t2=done"},
		},
		"stopped while it runs": {
			model:  []llmtest.Step{three},
			during: ordered("t1", human.Order{Kind: human.Stop, Text: "够了"}),
			want:   agent.NotDone, says: "stopped", ran: ranRead,
			stands: []string{"confirmed, stopped t1=done t2=waiting t3=waiting"},
		},
		"paused for an hour while it runs": {
			model: []llmtest.Step{three, says(resulting("No task of the plan is left"), "好了。")},
			during: func(p *rehearsal, u agent.Update) {
				if ordered("t1", human.Order{Kind: human.Pause})(p, u); u.Type != agent.SubTaskResult || u.TaskID != "t1" {
					return
				}
				p.people.Go(func() {
					<-time.After(time.Hour)
					if got := len(p.did()); got != 1 {
						p.Errorf("%d calls ran before and in the pause", got)
					}
					ordered("t1", human.Order{Kind: human.Resume})(p, u)
				})
			},
			want: agent.Done, says: "好了", ran: ranWrite + " " + ranShell,
			stands: []string{"confirmed, finished t1=done t2=done t3=done"},
		},
		"a plan that is no JSON": {
			model: []llmtest.Step{
				says(user("整理日志"), "", llmtest.Call{Name: "propose_plan", ArgsText: `{"message":"整理","tasks":[{"descr`}),
				says(resulting("JSON"), "", proposing("整理日志", taskRead)),
				says(resulting("No task of the plan is left"), "好了。"),
			},
			want: agent.Done, says: "好了", ran: ranRead,
			stands: []string{"confirmed, finished t1=done"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			withPlans(t, bothProtocols, func(p *rehearsal) {
				p.models.Script(tt.model...)
				p.onPlan, p.gate = p.confirms, tt.gate
				if tt.operator != nil {
					p.onPlan = func(n int, id human.OperationID) { tt.operator(p, n, id) }
				}
				if tt.task != nil {
					p.onTask = func(n int, id human.OperationID, task human.Task) { tt.task(p, n, id, task) }
				}
				if tt.during != nil {
					p.during = func(u agent.Update) { tt.during(p, u) }
				}
				r := p.run("整理日志")
				p.people.Wait()
				if r.Status != tt.want || !strings.Contains(r.Message, tt.says) {
					p.Errorf("%s: %q; want %s with %q", r.Status, r.Message, tt.want, tt.says)
				}
				if got := strings.Join(p.did(), " "); got != tt.ran {
					p.Errorf("ran  %s\nwant %s", got, tt.ran)
				}
				var stands []string
				for _, id := range p.all() {
					stands = append(stands, p.stands(id))
				}
				if !slices.Equal(stands, tt.stands) {
					p.Errorf("plans %q\nwant  %q", stands, tt.stands)
				}
				if !p.told(tt.told...) {
					for _, u := range p.heard {
						p.Logf("%s %s %s", u.Type, u.State, u.Content)
					}
					p.Errorf("not told %v", tt.told)
				}
			})
		})
	}
}

// ordered is an operator who orders something once a task is done.
func ordered(after string, o human.Order) func(*rehearsal, agent.Update) {
	return func(p *rehearsal, u agent.Update) {
		if u.Type == agent.SubTaskResult && u.TaskID == after {
			if _, err := p.plans.Order(context.Background(), ada, string(p.op), o); err != nil {
				p.Errorf("the order: %v", err)
			}
		}
	}
}

// blocking is a gatekeeper that blocks one tool.
type blocking struct{ tool, why string }

func (r blocking) Check(_ context.Context, call human.ToolCall) (human.Judgement, error) {
	if call.Tool == r.tool {
		return human.Judgement{Decision: human.Deny, Message: r.why}, nil
	}
	return human.Judgement{Decision: human.Allow}, nil
}

// A dying journal is that of an agent which is killed after so many records: what it does from then on no one hears.
type dying struct {
	*runs.Journal
	left int
}

var errKilled = errors.New("killed")

func (j *dying) Append(ctx context.Context, r agent.Record) error {
	if j.left == 0 {
		return errKilled
	}
	j.left--
	return j.Journal.Append(ctx, r)
}

// Killed after each of its records, and resumed from the file by another process: no call runs twice, no operator is asked
// twice about the same, and the task gets done.
func TestKilledAnywhereAndResumed(t *testing.T) {
	t.Parallel()
	// The same may be asked again, so the model goes by what is new to it.
	brain := llmtest.Step{Times: -1, Make: func(q llmtest.Request) llmtest.Answer {
		news := q.Text
		if last := q.Turns[len(q.Turns)-1]; last.Role == agent.ToolTurn {
			news = last.Results[len(last.Results)-1].Text
		}
		switch {
		case strings.Contains(news, "No task of the plan is left"):
			return llmtest.Answer{Text: "都做好了。"}
		case strings.Contains(news, "may have run"): // it looked, and it had
			return llmtest.Answer{Thinking: "看一下。", Calls: []llmtest.Call{calling("end_task", `{"outcome":"done","note":"看过了，已经做了"}`)}}
		case strings.Contains(news, "well done"):
			return llmtest.Answer{Calls: []llmtest.Call{calling("end_task", `{"outcome":"done","note":"写好了"}`)}}
		case strings.Contains(news, "Now do task t2"):
			return llmtest.Answer{Thinking: "现在写。", Calls: []llmtest.Call{calling("write_file", `{"path":"report.md","text":"一切正常"}`)}}
		case len(q.Turns) == 1:
			return llmtest.Answer{Thinking: "要先有计划。", Calls: []llmtest.Call{proposing("整理日志", taskRead, `{"description":"写报告","tool_name":"write_file"}`, taskShell)}}
		}
		return llmtest.Answer{Text: "What is this? " + news}
	}}
	once := []string{ranRead, ranWrite, ranShell}
	records := 0
	for kill := 1; kill <= cmp.Or(records, kill); kill++ {
		t.Run(fmt.Sprint("after record ", kill), func(t *testing.T) {
			withPlans(t, bothProtocols[kill%2:kill%2+1], func(p *rehearsal) { // in turn: there are many records
				p.onPlan = p.confirms
				p.models.Script(brain)
				store := runs.New(filepath.Join(p.dir, "agents"))
				j, err := store.Create(p.session)
				if err != nil {
					p.Fatal(err)
				}
				_, err = p.engine(&dying{j, kill}).Run(p.Context(), agent.RunInfo{ID: p.session, Task: "整理日志"})
				if err := j.Close(); err != nil {
					p.Fatal(err)
				}
				p.people.Wait()
				j, kept, err2 := store.Resume(p.session)
				if err2 != nil {
					p.Fatal(err2)
				}
				defer func() { _ = j.Close() }()
				if err == nil { // it came to its end
					records = len(kept)
					return
				}
				if len(kept) != kill {
					p.Fatalf("%d records were kept", len(kept))
				}
				before := len(p.asked)
				r, err := p.engine(j).Resume(p.Context(), kept)
				if err != nil || r.Status != agent.Done || r.Message != "都做好了。" {
					p.Fatalf("%+v, %v", r, err)
				}
				if all := p.did(); !slices.Equal(all, once) {
					p.Errorf("ran %q, want %q", all, once)
				}
				if ids := p.all(); len(ids) != 1 || before == 1 && len(p.asked) != 1 {
					p.Errorf("%d plans", len(ids))
				} else if got := p.stands(ids[0]); got != "confirmed, finished t1=done t2=done t3=done" {
					p.Errorf("the plan: %s", got)
				}
			})
		})
	}
	if records < 15 {
		t.Errorf("only %d records: too few to be the whole run", records)
	}
}
