package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	words "mvdan.cc/sh/v3/shell"

	"deskbell/backend/agent"
	"deskbell/backend/human"
	"deskbell/backend/store/settings"
)

// An Agent is the reference agent, and those that are declared.
type Agent struct {
	// Run runs one in this process until its task is done, it cannot continue, or ctx ends. A run that ended before its end
	// can be resumed.
	Run func(ctx context.Context, r AgentRun) (agent.Result, error)
	// Chat begins conversations in this process, and ends what it has started when talk returns.
	Chat func(ctx context.Context, r AgentRun, talk func(Handle) error) error
	// Agents returns the reference agent, and those that a file declares, where it is there.
	Agents func(file string) ([]agent.Profile, error)
	// List returns the newest runs on a data folder, newest first.
	List func(ctx context.Context, dir string, most int) ([]agent.RunView, error)
}

// A Handle answers a message, as agent.ToolAgent.Answer does.
type Handle = func(ctx context.Context, m agent.Message) (agent.Response, error)

// An AgentRun is what a run of the reference agent is begun or resumed with.
type AgentRun struct {
	Resume string // the id of the run to continue with; then Agent, Task and Cwd are the journal's
	ID     string // of a new run; may be empty
	Agent  string // its name
	Task   string
	Cwd    string // absolute

	Agents []agent.Profile // that there are

	Dir         string // the data folder, for the journal
	Find        func() (string, error)
	Key         string
	Model       settings.Model
	Servers     []Proxied // MCP servers whose tools it gets
	PrivateHTTP bool      // its requests may go to this machine and to private networks

	// Limits are the limits of the run, where its journal has these; nil of a new run, and of one that has none there.
	Limits func(kept *agent.Limits) (agent.Limits, error)

	Began func(id string)
	Stop  func() // another process wants it to stop

	// Answers returns the line that someone at the terminal types as the answer to a question; nil where no one sits there. It
	// blocks until then, or until ctx ends.
	Answers func(ctx context.Context, question string) (string, error)

	Emit func(agent.Update)
	Tell func(soFar string) // what the model says, as it comes
	Note func(text string)  // for people, beside what the run tells
}

func (s *shell) agentRunCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "agent", Short: "Run the agent that comes with Deskbell on a task, continue its runs, and talk with it",
	}
	c.AddCommand(s.agentRunRunCommand(), s.agentResumeCommand(), s.agentChatCommand(), s.agentListCommand(), s.agentAgentsCommand(), s.agentServeCommand())
	return c
}

// runFlags are the flags of a run.
type runFlags struct {
	model, provider, base, cwd string
	agent, file, id            string
	servers                    []string
	private                    bool
	limits                     agent.Limits
	given                      func(flag string) bool
}

// limitFlags are the flags of limits: each copies its own from one to the other.
func (f *runFlags) limitFlags(to, from *agent.Limits) map[string]func() {
	return map[string]func(){
		"max-steps":  func() { to.Steps = from.Steps },
		"max-tokens": func() { to.Tokens = from.Tokens },
		"max-time":   func() { to.Time = from.Time },
		"max-cost":   func() { to.Money = from.Money },
		"price-in":   func() { to.In = from.In },
		"price-out":  func() { to.Out = from.Out },
		"max-plans":  func() { to.Plans = from.Plans },

		"max-context": func() { to.Context = from.Context },
	}
}

// prices takes those of the settings where none were given.
func (f *runFlags) prices(m settings.Model) {
	if p := m.PriceOf(); !f.given("price-in") && !f.given("price-out") && m.Price != "" {
		f.limits.In, f.limits.Out, f.limits.Currency = p.In, p.Out, p.Currency
	}
}

// limitsOf are the limits of a run: those that it has, with what was given now in their place.
func (f *runFlags) limitsOf(kept *agent.Limits) (agent.Limits, error) {
	l := f.limits
	if kept != nil {
		l = *kept
		for name, put := range f.limitFlags(&l, &f.limits) {
			if f.given(name) {
				put()
			}
		}
	}
	switch {
	case l.Steps < 0 || l.Tokens < 0 || l.Time < 0 || l.Money < 0 || l.In < 0 || l.Out < 0 || l.Plans < 0 || l.Context < 0:
		return l, human.Errorf(human.Invalid, "limits and prices must not be negative")
	case l.Money > 0 && l.In == 0 && l.Out == 0:
		return l, human.Errorf(human.Invalid, "--max-cost needs --price-in and --price-out: Deskbell does not know what the model costs (or set model.price)")
	}
	return l, nil
}

// endCodes are the exit codes of the agent's commands.
var endCodes = map[agent.Ending]int{
	agent.EndDone: exitYes, agent.EndFailed: exitNo, agent.EndNeedsInput: exitUnended, agent.EndDenied: exitDeniedRun, agent.EndInterrupted: exitInterrupted,
}

const endHelp = "Exit codes: 0 done; 1 failed, the task could not be done; 2 it needs your input; 3 an error, nothing was begun or the program\n" +
	"cannot continue; 4 an operator denied it or did not confirm its plan in time; 5 interrupted, by a signal or a limit or because the\n" +
	"model or Deskbell did not answer."

const runHelp = "The gatekeeper of the running Deskbell checks every tool call. Its plans are confirmed there when the setting\n" +
	"plan.confirm_by_human is on, and its questions become requests. None of this can be switched off from here.\n\n" +
	endHelp + " After 1, 2 and 5 `deskbell agent resume` continues."

func (s *shell) agentRunRunCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run TASK",
		Short: "Have the agent do a task in a folder",
		Long:  "Have the agent do a task in a folder: with the shell, files, HTTP, MCP servers, and people. With - as TASK it reads standard input.\n\n" + runHelp,
		Example: "  deskbell agent run 'The tests fail. Find out why, and fix it.'\n" +
			"  deskbell agent run --mcp 'npx -y @modelcontextprotocol/server-everything' --max-time 10m --json 'Add 2 and 40'",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			r := AgentRun{Task: args[0]}
			if args[0] == "-" {
				text, err := io.ReadAll(s.in)
				if err != nil {
					return err
				}
				r.Task = string(text)
			}
			if r.Task = strings.TrimSpace(r.Task); r.Task == "" {
				return human.Errorf(human.Invalid, "there is no task; say what the agent should do")
			}
			return s.runAgent(c.Context(), r, f)
		},
	}
	f.given = c.Flags().Changed
	s.startFlags(c, &f)
	c.Flags().StringVar(&f.id, "id", "", "the id of the run")
	c.Flags().Lookup("id").Hidden = true
	return s.runFlags(c, &f)
}

func (s *shell) agentResumeCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "resume RUN",
		Short: "Continue an interrupted run",
		Long: "Continue an interrupted run where its journal ends. Nothing that was done is done again. A call that had started and has no\n" +
			"known end is not repeated by itself; the model gets the instruction to look first. Tokens and cost so far count, and the limits\n" +
			"still apply: a run that ended by a limit needs a higher one. MCP servers are not in the journal: give them again.\n\n" + runHelp,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return s.runAgent(c.Context(), AgentRun{Resume: args[0]}, f)
		},
	}
	f.given = c.Flags().Changed
	s.runFlags(c, &f)
	for name := range f.limitFlags(&f.limits, &f.limits) {
		flag := c.Flags().Lookup(name)
		flag.DefValue, flag.Usage = "0", flag.Usage+" (default: as before)" // 0 is not shown
	}
	return c
}

// startFlags are the flags of what begins.
func (s *shell) startFlags(c *cobra.Command, f *runFlags) {
	c.Flags().StringVar(&f.cwd, "cwd", "", "the folder to work in; default: this one")
	c.Flags().StringVar(&f.agent, "agent", agent.ReferenceAgent, "the `NAME` of an agent; deskbell agent agents lists them")
}

func (s *shell) runFlags(c *cobra.Command, f *runFlags) *cobra.Command {
	flags := c.Flags()
	flags.StringVar(&f.provider, "provider", "", "the protocol of the model, anthropic or openai; default: the setting model.provider")
	flags.StringVar(&f.model, "model", "", "the model's name; default: the setting model.name")
	flags.StringVar(&f.base, "base-url", "", "where the model is asked; default: the setting model.base_url")
	flags.StringVar(&f.file, "agents", "", "the file in which agents are declared; default: agents.toml of the data folder")
	flags.StringArrayVar(&f.servers, "mcp", nil, "give it the tools of an MCP server: a `COMMAND`, or a URL; may be given more than once")
	flags.BoolVar(&f.private, "allow-http-private", false, "let its HTTP requests go to this machine and to private networks")
	flags.IntVar(&f.limits.Steps, "max-steps", 100, "end after this many tool calls; 0: no limit")
	flags.IntVar(&f.limits.Tokens, "max-tokens", 2_000_000, "end after this many tokens, in and out; 0: no limit")
	flags.DurationVar(&f.limits.Time, "max-time", time.Hour, "end after this much time of models and tools; waiting for people does not count; 0: no limit")
	flags.Float64Var(&f.limits.Money, "max-cost", 0, "end when the tokens cost this much, by --price-in and --price-out; 0: no limit")
	flags.Float64Var(&f.limits.In, "price-in", 0, "the price of a million tokens of input; default: the setting model.price")
	flags.Float64Var(&f.limits.Out, "price-out", 0, "the price of a million tokens of output; default: the setting model.price")
	flags.IntVar(&f.limits.Plans, "max-plans", 5, "how often it may make a new plan")
	flags.IntVar(&f.limits.Context, "max-context", 100_000, "send the model at most this many tokens of the conversation, and leave out older ones; 0: as many as it accepts")
	flags.StringArrayVar(&s.set, "set", nil, "override a setting, as `KEY=VALUE`; deskbell config lists them")
	s.agentCommand(c)
	flags.Lookup("json").Usage = "print each update, and finally the result, as one line of JSON"
	return c
}

// complete checks what was given and fills in the rest.
func (f runFlags) complete(r *AgentRun) (err error) {
	if r.Resume == "" {
		if _, err := f.limitsOf(nil); err != nil {
			return err
		}
	}
	r.Limits, r.PrivateHTTP = f.limitsOf, f.private
	taken := map[string]bool{}
	for _, text := range f.servers {
		p, err := mcpServer(text)
		if err != nil {
			return err
		}
		for n, name := 2, p.Name; taken[p.Name]; n++ {
			p.Name = fmt.Sprintf("%s-%d", name, n)
		}
		taken[p.Name] = true
		r.Servers = append(r.Servers, p)
	}
	if r.Resume != "" {
		return nil
	}
	if r.Cwd, err = filepath.Abs(f.cwd); err == nil {
		var info os.FileInfo
		if info, err = os.Stat(r.Cwd); err == nil && !info.IsDir() {
			err = syscall.ENOTDIR
		}
	}
	if err != nil {
		return human.Wrap(human.Invalid, err, "--cwd %s: there is no such folder", f.cwd)
	}
	return nil
}

// mcpServer reads --mcp: a URL, or a command with its words as a shell reads them. Variables stand for the environment's.
func mcpServer(text string) (p Proxied, err error) {
	if strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://") {
		p.URL = text
		return p, p.complete(nil)
	}
	if p.Command, err = words.Fields(text, os.Getenv); err != nil || len(p.Command) == 0 {
		return p, human.Wrap(human.Invalid, err, "--mcp %s: it must be a command, or a URL", text)
	}
	return p, p.complete(nil)
}

// beginAgent fills in with what the agent works; done is called when it has ended.
func (s *shell) beginAgent(ctx context.Context, r *AgentRun, f runFlags) (done func(), err error) {
	done = func() {}
	for key, text := range map[string]string{"model.provider": f.provider, "model.name": f.model, "model.base_url": f.base} {
		if text != "" {
			s.named[key] = text
		}
	}
	place, err := s.place()
	if err != nil {
		return done, err
	}
	f.prices(place.Config.Settings().Model)
	if err := f.complete(r); err != nil {
		return done, err
	}
	r.ID, r.Agent = f.id, f.agent
	if r.Agents, err = s.agentsOf(place.Dir, f.file); err != nil {
		return done, err
	}
	if r.Resume == "" {
		if _, err = agent.FindProfile(r.Agents, r.Agent); err != nil {
			return done, err
		}
	}
	if _, err := s.server(); err != nil {
		return done, err
	}
	if s.key = cmp.Or(s.key, os.Getenv("DESKBELL_KEY")); s.key == "" {
		var drop func() error
		if s.key, drop, err = s.mint(ctx, cmp.Or(r.Agent, agent.ReferenceAgent)); err != nil {
			return done, err
		}
		done = func() {
			if err := drop(); err != nil {
				s.note("the key of this run could not be deleted: %s", visible(human.SafeText(err)))
			}
		}
	}
	r.Dir, r.Model, r.Find, r.Key = place.Dir, place.Config.Settings().Model, s.server, s.key
	return done, nil
}

func (s *shell) runAgent(ctx context.Context, r AgentRun, f runFlags) (err error) {
	done, err := s.beginAgent(ctx, &r, f)
	if err != nil {
		return err
	}
	defer done()
	show := newProgress(s)
	if limits, err := r.Limits(nil); err == nil {
		show.currency = limits.Currency
	}
	id := ""
	r.Began = func(began string) { id = began; show.began(id, r.Resume != "") }
	r.Note = func(text string) { show.line(); s.note("%s", visible(text)) }
	r.Emit, r.Tell = show.update, show.tell

	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	defer context.AfterFunc(ctx, stop)() // a second Ctrl-C ends it at once
	r.Stop = stop
	if s.interactive() && !s.json {
		r.Answers = show.answers(s.typed(ctx))
	}
	result, err := s.Agent.Run(ctx, r)
	show.line()
	stopped := ctx.Err() != nil
	if err != nil && !stopped {
		if id != "" && human.KindOf(err) != human.Conflict && human.KindOf(err) != human.NotFound {
			s.note("%s", show.t("Continue later with: %s", "稍后继续：%s", f.again(id)))
		}
		return err
	}
	if stopped {
		result.Ending = agent.EndInterrupted
	}
	s.code = endCodes[cmp.Or(result.Ending, agent.EndInterrupted)]
	if s.json {
		result.RunID = id
		return s.printJSON(result)
	}
	show.result(result, stopped)
	if !result.Ending.Over() && id != "" {
		s.note("%s", show.t("Continue with: %s", "继续：%s", f.again(id)))
	}
	return nil
}

// agentsOf are the agents that a file declares, or the data folder's.
func (s *shell) agentsOf(dir, file string) ([]agent.Profile, error) {
	if file == "" {
		return s.Agent.Agents(filepath.Join(dir, agent.ProfilesFile))
	}
	if _, err := os.Stat(file); err != nil {
		return nil, human.Wrap(human.NotFound, err, "--agents %s: there is no such file", file)
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, human.Wrap(human.Invalid, err, "--agents %s: its folder is not known", file)
	}
	return s.Agent.Agents(path)
}

// again is the command that continues with a run.
func (f runFlags) again(id string) string {
	command := "deskbell agent resume " + id
	for _, server := range f.servers {
		command += " --mcp '" + strings.ReplaceAll(visible(server), "'", `'\''`) + "'"
	}
	if f.private {
		command += " --allow-http-private"
	}
	return command
}

// answers takes a typed line as the answer to a question.
func (p *progress) answers(lines <-chan string) func(context.Context, string) (string, error) {
	return func(ctx context.Context, _ string) (string, error) {
		p.line()
		p.note("%s", p.t("Answer here, then Enter; or in Deskbell's inbox.", "在此输入回答并按回车；也可以在 Deskbell 的收件箱中回答。"))
		for {
			select {
			case line := <-lines:
				if line != "" {
					return line, nil
				}
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}
	}
}

// A progress shows a run while it goes.
type progress struct {
	*shell
	tongue
	colours bool
	live    bool   // what the model says is shown as it comes
	said    string // of it, what is shown
	over    bool   // something else was shown since: what comes next begins anew
	open    bool   // the last line has no end yet
	last    string // the last update's content

	currency string // of what it costs
}

func newProgress(s *shell) *progress {
	terminal := isTerminal(s.out)
	return &progress{shell: s, tongue: s.tongueOf(), live: terminal && !s.json, colours: terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

// Colors, as a terminal takes them.
const (
	dim    = "2"
	bold   = "1"
	red    = "31"
	green  = "32"
	yellow = "33"
)

// tongueOf is the language that a person is spoken to in, by the settings or the system.
func (s *shell) tongueOf() tongue {
	place, err := s.place()
	if err != nil {
		place = Place{}
	}
	sentences := s.language(place)
	return tongue{chinese: sentences != nil, sentences: sentences}
}

// words are an update's content, with Deskbell's own sentences in the language of the terminal.
func (p *progress) words(u agent.Update) string {
	text := u.Content
	for _, s := range u.Said {
		text = strings.Replace(text, s.Text, p.sentences.Say(s), 1)
	}
	return text
}

// paint colors text that is visible already.
func (p *progress) paint(colour, text string) string {
	if !p.colours || colour == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

func (p *progress) began(id string, again bool) {
	if p.json {
		return
	}
	if again {
		p.note("%s", p.t("Continuing run %s", "继续运行 %s", visible(id)))
		return
	}
	p.note("%s", p.t("Run %s", "运行 %s", visible(id)))
}

// line ends a line that is open.
func (p *progress) line() {
	if p.open {
		p.printf("\n")
		p.open = false
	}
}

// tell shows what the model says, as it comes.
func (p *progress) tell(soFar string) {
	if !p.live {
		return
	}
	if p.over || !strings.HasPrefix(soFar, p.said) {
		p.line()
		p.said, p.over = "", false
	}
	fresh := soFar[len(p.said):]
	if cut := len(fresh) - unfinished(fresh); cut > 0 {
		p.printf("%s", visible(fresh[:cut]))
		p.said, p.open = soFar[:len(p.said)+cut], !strings.HasSuffix(fresh[:cut], "\n")
	}
}

// unfinished is how many bytes at the end of a text are the beginning of a letter.
func unfinished(text string) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if b := text[len(text)-n]; utf8.RuneStart(b) {
			if !utf8.FullRuneInString(text[len(text)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// update shows one thing that the run tells about itself.
func (p *progress) update(u agent.Update) {
	p.line()
	p.over, p.last = true, u.Content
	if p.json {
		if err := p.printJSON(u); err != nil {
			p.code = exitError
		}
		return
	}
	switch u.Type {
	case agent.StatusUpdate:
		if u.Tool != "" {
			p.call(u)
			break
		}
		p.printf("%s\n", p.paint(dim, "· "+oneLine(p.words(u), 300)))
	case agent.ConfirmationRequest:
		p.printf("%s\n", p.paint(yellow, "? "+oneLine(p.words(u), 300)))
		p.plan(u.Plan)
		if u.Plan != nil && u.Plan.ExpiresAt != nil {
			p.printf("%s\n", p.paint(dim, "  "+p.t("It waits until %s; answer it in the app, or with `deskbell plan confirm`.", "等待到 %s；请在应用中或用 `deskbell plan confirm` 回答。", u.Plan.ExpiresAt.Local().Format(time.TimeOnly))))
		}
	case agent.TaskPlan:
		p.printf("%s\n", p.paint(bold, "= "+oneLine(p.words(u), 300)))
		p.plan(u.Plan)
	case agent.TaskInit:
		if u.TaskID == "" {
			p.call(u)
			break
		}
		p.printf("%s\n", p.paint(bold, "> "+oneLine(u.TaskID+": "+u.Content, 300)))
		if u.Call != "" {
			p.call(u)
		}
	case agent.SubTaskResult:
		if u.TaskID == "" {
			p.call(u)
			break
		}
		p.printf("%s %s\n", p.mark(u.Outcome), oneLine(u.TaskID+": "+u.Content, 300))
	case agent.ConfirmationTimeout, agent.ConfirmationError, agent.ErrorUpdate:
		p.printf("%s\n", p.paint(red, "! "+strings.TrimPrefix(indent(p.words(u), "  "), "  ")))
	case agent.ConversationalResponse, agent.FinalResult:
		if strings.TrimSpace(u.Content) != strings.TrimSpace(p.said) { // it was shown as it came
			p.printf("%s\n", visible(strings.TrimRight(u.Content, "\n")))
		}
	default:
		p.printf("%s\n", oneLine(p.words(u), 300))
	}
}

// mark is how something ended.
func (p *progress) mark(outcome string) string {
	switch outcome {
	case "failed":
		return p.paint(red, "< "+p.t("failed", "失败"))
	case "refused":
		return p.paint(yellow, "< "+p.t("denied", "已拒绝"))
	case "skipped":
		return p.paint(dim, "< "+p.t("skipped", "已跳过"))
	}
	return p.paint(green, "< "+p.t("done", "完成"))
}

// call shows a call that is about to be made, or how it ended.
func (p *progress) call(u agent.Update) {
	line := oneLine(u.Call, 200)
	if line == "" {
		line = oneLine(u.Tool, 80)
	}
	if u.Outcome == "" {
		p.printf("  %s\n", p.paint(dim, line))
		return
	}
	p.printf("  %s %s\n", p.mark(u.Outcome), line)
	if u.Outcome != "done" && u.Content != "" {
		p.printf("%s\n", p.paint(dim, indent(oneLine(u.Content, 300), "      ")))
	}
}

// plan shows the tasks of a plan, each with how risky it is.
func (p *progress) plan(c *agent.Confirmation) {
	if c == nil {
		return
	}
	risks := map[string]human.TaskSummary{}
	if c.Summary != nil {
		for _, t := range c.Summary.Tasks {
			risks[t.ID] = t
		}
	}
	for i, t := range c.Tasks {
		risk := ""
		if known, ok := risks[t.ID]; ok {
			risk = fmt.Sprintf("[%s] ", known.Risk)
			switch {
			case known.Risk.Level() >= human.HighRisk.Level():
				risk = p.paint(red, risk)
			case known.Risk.Level() >= human.MediumRisk.Level():
				risk = p.paint(yellow, risk)
			default:
				risk = p.paint(dim, risk)
			}
		}
		tool := ""
		if t.Tool != "" {
			tool = p.paint(dim, " ("+oneLine(t.Tool, 60)+")")
		}
		p.printf("  %d. %s%s%s\n", i+1, risk, oneLine(t.Description, 200), tool)
	}
	for _, change := range c.Changes {
		p.printf("%s\n", p.paint(yellow, "  "+string(change.Kind)+": "+oneLine(change.Description, 200)))
	}
	if c.Message != "" {
		p.printf("%s\n", p.paint(yellow, "  "+p.t("The operator says: %s", "操作员说：%s", oneLine(c.Message, 500))))
	}
}

// result shows how the run ended.
func (p *progress) result(r agent.Result, stopped bool) {
	spent := p.t("calls: %d, tokens: %d, time: %s", "调用 %d 次，%d 个 token，用时 %s", r.Spent.Steps, r.Spent.TokensIn+r.Spent.TokensOut, span(r.Spent.Time))
	if r.Spent.Money > 0 {
		spent += fmt.Sprintf(", %.4f%s", r.Spent.Money, currency(p.currency))
	}
	switch {
	case stopped:
		p.note("%s", p.t("Stopped; %s.", "已停止；%s。", spent))
	case p.code == exitYes:
		p.note("%s", p.t("Done; %s.", "完成；%s。", spent))
	default:
		if r.Message != "" && r.Message != p.last { // what was told already is not told again
			p.note("%s", visible(strings.TrimSpace(r.Message)))
		}
		if r.Prompt != "" {
			p.note("%s", p.t("It asks: %s", "询问：%s", visible(strings.TrimSpace(r.Prompt))))
		}
		p.note("%s", p.t("Not done; %s.", "未完成；%s。", spent))
	}
}

func (s *shell) agentListCommand() *cobra.Command {
	var most int
	c := &cobra.Command{
		Use: "list", Short: "List the agent's runs on this data folder", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			dir, err := s.dir()
			if err != nil {
				return err
			}
			if most < 1 || most > 1000 {
				return human.Errorf(human.Invalid, "--limit must be 1 to 1000")
			}
			list, err := s.Agent.List(c.Context(), dir, most)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(struct {
					Runs []agent.RunView `json:"runs"`
				}{append([]agent.RunView{}, list...)})
			}
			if len(list) == 0 {
				s.note("%s", s.tongueOf().t("There are no runs yet. `deskbell agent run TASK` starts one.", "还没有运行。`deskbell agent run TASK` 可以启动一个。"))
				return nil
			}
			w, l := s.columns(), s.tongueOf()
			for _, r := range list {
				w.row("%s\t%s\t%s\t%s\t%s\n", visible(r.ID), r.At.Local().Format(time.DateTime), standingOf(r, l), used(r, l), oneLine(r.Task, 60))
			}
			return w.flush()
		},
	}
	c.Flags().IntVar(&most, "limit", 20, "how many, the newest")
	s.jsonFlag(c, "print one line of JSON")
	return c
}

// endWords are how runs stand.
var endWords = map[agent.Ending]pair{
	agent.EndDone: {"done", "完成"}, agent.EndFailed: {"failed", "失败"}, agent.EndNeedsInput: {"needs input", "等待输入"},
	agent.EndDenied: {"denied", "已拒绝"}, agent.EndInterrupted: {"interrupted", "已中断"},
}

var agentStateWords = map[agent.State]pair{
	agent.Idle: {"idle", "空闲"}, agent.Reasoning: {"reasoning", "思考中"}, agent.Planning: {"planning", "规划中"}, agent.AwaitingConfirmation: {"awaiting confirmation", "等待确认"},
	agent.Executing: {"executing", "执行中"}, agent.Evaluating: {"evaluating", "评估中"}, agent.Replanning: {"replanning", "重新规划"},
	agent.Completed: {"completed", "完成"}, agent.Failed: {"failed", "失败"},
}

// standingOf says in a word how a run stands.
func standingOf(r agent.RunView, l tongue) string {
	switch {
	case r.Alive:
		return l.pick(agentStateWords[r.State], string(r.State))
	case r.Ending == "" && r.Over: // of an earlier version
		return l.pick(agentStateWords[r.State], string(r.State))
	case r.Ending == "":
		return l.pick(endWords[agent.EndInterrupted], "")
	}
	return l.pick(endWords[r.Ending], string(r.Ending))
}

// used is what a run has spent, each beside its limit.
func used(r agent.RunView, in tongue) string {
	var l agent.Limits
	if r.Limits != nil {
		l = *r.Limits
	}
	of := func(spent, limit string, limited bool) string {
		if !limited {
			return spent
		}
		return in.t("%s of %s", "%s / %s", spent, limit)
	}
	parts := []string{
		of(strconv.Itoa(r.Spent.Steps), strconv.Itoa(l.Steps), l.Steps > 0) + in.t(" calls", " 次调用"),
		of(thousands(r.Spent.TokensIn+r.Spent.TokensOut), thousands(l.Tokens), l.Tokens > 0) + in.t(" tokens", " 个 token"),
		of(span(r.Spent.Time), span(l.Time), l.Time > 0),
	}
	if r.Spent.Money > 0 || l.Money > 0 {
		parts = append(parts, of(fmt.Sprintf("%.2f", r.Spent.Money), fmt.Sprintf("%.2f", l.Money), l.Money > 0)+currency(l.Currency))
	}
	return strings.Join(parts, ", ")
}

// currency is what stands behind an amount.
func currency(code string) string {
	if code == "" {
		return ""
	}
	return " " + visible(code)
}

// thousands is a number of tokens, rounded up where they are many.
func thousands(n int) string {
	if n < 10_000 {
		return strconv.Itoa(n)
	}
	return strconv.Itoa((n+999)/1000) + "k"
}

func (s *shell) agentAgentsCommand() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use: "agents", Short: "List the agents that there are", Args: cobra.NoArgs,
		Long: "List the agents that there are: the one that comes with Deskbell, and those that are declared in agents.toml of the data folder.",
		RunE: func(*cobra.Command, []string) error {
			dir, err := s.dir()
			if err != nil {
				return err
			}
			all, err := s.agentsOf(dir, file)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(struct {
					Agents []agent.Profile `json:"agents"`
				}{all})
			}
			w := s.columns()
			for _, a := range all {
				open := ""
				if a.Open {
					open = "open to agents"
				}
				w.row("%s\t%s\t%s\t%s\n", visible(a.Name), visible(strings.Join(a.Categories, ", ")), open, oneLine(a.Description, 100))
			}
			return w.flush()
		},
	}
	c.Flags().StringVar(&file, "agents", "", "the file in which agents are declared; default: agents.toml of the data folder")
	s.jsonFlag(c, "print one line of JSON")
	return c
}
