package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"

	"deskbell/backend/client"
	"deskbell/backend/human"
	"deskbell/backend/plan"
)

// exitChanged says that something may run, and that it is not what was handed in: it has to be read first.
const exitChanged = 4

func (s *shell) planCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "plan", Short: "Confirm agents' plans and follow them; for an agent, hand one in",
		Long: "Confirm, change or cancel the plans that agents hand in before they do something, and follow them while they run.\n" +
			"A plan goes by its session's id, or by its operation's. Agents without MCP hand in theirs with `deskbell plan submit`.",
	}
	c.AddCommand(
		s.planConfirmCommand(), s.planListCommand(),
		s.planOrderCommand(human.Pause, "Let no task of a running plan begin", false),
		s.planOrderCommand(human.Resume, "Let a paused plan go on", false),
		s.planOrderCommand(human.Skip, "Take a task that has not begun out of a running plan", true),
		s.planOrderCommand(human.Stop, "Let nothing more of a running plan begin", false),
		s.planChangeCommand(), s.planPresetsCommand(), s.planStatsCommand(),
		s.planSubmitCommand(), s.planShowCommand(), s.planBeginCommand(), s.planEndCommand(),
	)
	return c
}

// operatorFlags gives a command the flags of an operator's commands.
func (s *shell) operatorFlags(c *cobra.Command, code *string, json string) *cobra.Command {
	s.urlFlag(c)
	c.Flags().StringVar(code, "code", "", "a one-time code, instead of DESKBELL_TOKEN")
	s.jsonFlag(c, json)
	return c
}

const jsonStatus = "print how the plan stands as one line of JSON"

// A verdict is what an operator does with a plan.
type planVerdict struct {
	plan.Response
	ask string

	confirm                       bool
	cancel, modify, words, digest string
}

func (s *shell) planConfirmCommand() *cobra.Command {
	var v planVerdict
	var code string
	c := &cobra.Command{
		Use:   "confirm [SESSION|OPERATION]",
		Short: "Show a plan that waits, and confirm, change or cancel it",
		Long: "Show a plan that waits, and confirm, change or cancel it. Without an argument it is the one that waits, or you pick one.\n" +
			"Without a flag that answers, it asks; to change a plan, it opens the tasks in VISUAL or EDITOR, and shows what you changed\n" +
			"before that is sent. Confirming a high or critical risk takes typing the word confirm, or, in a script, --confirm together\n" +
			"with --digest of what was read.",
		Example: "  deskbell plan confirm\n" +
			"  deskbell plan confirm release-42 --words 'Run the tests before you push'\n" +
			"  deskbell plan confirm op_01... --modify tasks.toml --message 'Only the first two for now'",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			given := 0
			for _, flag := range []string{"confirm", "cancel", "modify", "words", "ask"} {
				if c.Flags().Changed(flag) {
					given++
				}
			}
			switch {
			case given > 1:
				return human.Errorf(human.Invalid, "give one of --confirm, --modify, --words, --cancel and --ask")
			case given > 0 && len(args) == 0:
				return human.Errorf(human.Invalid, "name the plan that you answer: it must be the one you have read")
			}
			operator, err := s.operator(c.Context(), code)
			if err != nil {
				return err
			}
			session := ""
			if len(args) > 0 {
				session = args[0]
			}
			lines := bufio.NewScanner(s.in)
			op, err := s.pickPlan(c.Context(), operator, session, lines)
			if err != nil || op.ID == "" {
				return err
			}
			p, err := s.planDesk(operator, op, lines)
			if err != nil {
				return err
			}
			if given == 0 {
				return p.converse(c.Context())
			}
			return p.answer(c.Context(), v, c.Flags().Changed("cancel"))
		},
	}
	f := c.Flags()
	f.BoolVar(&v.confirm, "confirm", false, "confirm it as it is")
	f.StringVar(&v.modify, "modify", "", "confirm the tasks in this `FILE` instead of its own: TOML as the editor shows it, or JSON; - is standard input")
	f.StringVar(&v.words, "words", "", "say what to change; the agent makes a new plan of it")
	f.StringVar(&v.cancel, "cancel", "", "cancel it, with the `REASON`")
	f.StringVar(&v.ask, "ask", "", "ask the agent something first")
	f.BoolVar(&v.TaskByTask, "task-by-task", false, "with --confirm or --modify: be asked again before each task")
	f.StringVar(&v.Message, "message", "", "with --confirm or --modify: a word to the agent")
	f.StringVar(&v.digest, "digest", "", "the sha256 of what was read; the answer counts only for that")
	return s.operatorFlags(c, &code, jsonStatus)
}

// pickPlan is the plan that is meant: the named one, the only one that waits, or the one that a person picks. Without any
// it says so, and the operation has no id.
func (s *shell) pickPlan(ctx context.Context, operator *client.Client, session string, lines *bufio.Scanner) (op human.Operation, err error) {
	if session != "" {
		st, err := operator.PlanStatus(ctx, session, 0, 0)
		if err != nil {
			return op, err
		}
		return operator.Operation(ctx, st.OperationID)
	}
	page, err := operator.List(ctx, client.Filter{Open: true, Kind: human.Plan, Limit: 100})
	if err != nil {
		return op, err
	}
	waiting := page.Operations
	if len(waiting) == 0 {
		s.note("No plan waits.")
		return op, nil
	}
	n := 1
	if len(waiting) > 1 {
		for i, op := range waiting {
			s.printf("%2d  %s\n", i+1, planLine(op, time.Now()))
		}
		if !s.ask("which one? Enter: the first, [q]uit> ", lines) {
			return op, human.Errorf(human.Unavailable, "none was picked; nothing was changed")
		}
		switch word := strings.TrimSpace(lines.Text()); word {
		case "":
		case "q", "quit":
			return op, human.Errorf(human.Unavailable, "nothing was changed")
		default:
			if n, err = strconv.Atoi(word); err != nil || n < 1 || n > len(waiting) {
				return op, human.Errorf(human.Invalid, "%q is none of 1 to %d", word, len(waiting))
			}
		}
	}
	return operator.Operation(ctx, waiting[n-1].ID)
}

// planLine is a plan in a line.
func planLine(op human.Operation, now time.Time) string {
	stands := strings.ReplaceAll(string(op.State), "_", " ")
	switch {
	case op.Run != nil:
		over := 0
		for _, t := range op.Run.Tasks {
			if t.State.Over() {
				over++
			}
		}
		stands = fmt.Sprintf("%s %d/%d", op.Run.State, over, len(op.Run.Tasks))
	case op.State.Terminal():
		stands = string(op.PlanStatus())
	case op.ExpiresAt != nil:
		stands = span(op.ExpiresAt.Sub(now)) + " left"
	}
	return fmt.Sprintf("%s  %-12s  %-8s  %-16s  %s  %s", op.ID, stands, cmp.Or(string(op.Risk), "-"), oneLine(op.AgentID, 24), oneLine(op.SessionID, 32), oneLine(op.Description, 80))
}

func (s *shell) planListCommand() *cobra.Command {
	var code string
	var all bool
	c := &cobra.Command{
		Use: "list", Short: "List plans that wait or run", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			operator, err := s.operator(c.Context(), code)
			if err != nil {
				return err
			}
			page, err := operator.List(c.Context(), client.Filter{Kind: human.Plan, Order: "newest", Limit: 200})
			if err != nil {
				return err
			}
			if !all {
				page.Operations = slices.DeleteFunc(page.Operations, func(op human.Operation) bool {
					return op.State.Terminal() && (op.Run == nil || op.Run.Over())
				})
			}
			if s.json {
				return s.printJSON(page)
			}
			if len(page.Operations) == 0 {
				s.note("No plan waits or runs.")
			}
			for _, op := range page.Operations {
				s.printf("%s\n", planLine(op, time.Now()))
			}
			return nil
		},
	}
	c.Flags().BoolVar(&all, "all", false, "list what has ended, too")
	return s.operatorFlags(c, &code, "print the page as one line of JSON")
}

// A planDesk is one plan in front of an operator.
type planDesk struct {
	*shell
	operator *client.Client
	op       human.Operation
	q        human.PlanQuestion
	lines    *bufio.Scanner
}

func (s *shell) planDesk(operator *client.Client, op human.Operation, lines *bufio.Scanner) (*planDesk, error) {
	q, err := op.PlanQuestion()
	return &planDesk{shell: s, operator: operator, op: op, q: q, lines: lines}, err
}

// answerPlan shows a plan and asks what to do, for `deskbell answer`.
func (s *shell) answerPlan(ctx context.Context, operator *client.Client, op human.Operation) error {
	p, err := s.planDesk(operator, op, bufio.NewScanner(s.in))
	if err != nil {
		return err
	}
	return p.converse(ctx)
}

// answer gives the answer of flags.
func (p *planDesk) answer(ctx context.Context, v planVerdict, cancels bool) error {
	v.Digest = cmp.Or(v.digest, p.op.Digest)
	switch {
	case v.ask != "":
		op, err := p.operator.Reply(ctx, p.op.ID, v.ask)
		return p.changed(op, err)
	case cancels:
		v.Action, v.Message = human.CancelPlan, cmp.Or(v.cancel, v.Message)
	case v.words != "":
		v.Action, v.Message = human.ModifyPlan, v.words
	case v.modify != "":
		text, err := p.readFile(v.modify)
		if err != nil {
			return err
		}
		_, sub, err := readPlan(text, p.q.Tasks)
		if err != nil {
			return human.Wrap(human.Invalid, err, "%s: %s", v.modify, human.SafeText(err))
		}
		v.Action, v.Tasks = human.ModifyPlan, sub.Tasks
		sum, err := p.operator.Assess(ctx, p.session(), sub.Tasks)
		if err != nil {
			return err
		}
		if !p.json {
			p.showChanges(plan.Compare(p.q.Tasks, sub.Tasks))
		}
		if err := p.mayBlindly(sum.Risk, v.digest, "modify"); err != nil {
			return err
		}
	case v.confirm:
		v.Action = human.ConfirmPlan
		if err := p.mayBlindly(p.q.Risk, v.digest, "confirm"); err != nil {
			return err
		}
	default:
		return human.Errorf(human.Invalid, "--words needs what to change, --ask a question, --modify a file")
	}
	return p.send(ctx, v.Response)
}

// mayBlindly refuses a dangerous answer of which nobody says what they read.
func (p *planDesk) mayBlindly(risk human.Risk, digest, word string) error {
	if !risk.Dangerous() || digest != "" {
		return nil
	}
	return human.Errorf(human.Invalid, "the risk is %s: run `deskbell plan confirm %s` and type the word %s, or add --digest %s after reading it", risk, p.op.ID, word, p.op.Digest)
}

func (p *planDesk) session() string { return string(p.op.ID) }

func (p *planDesk) send(ctx context.Context, r plan.Response) error {
	r.Digest = cmp.Or(r.Digest, p.op.Digest)
	st, err := p.operator.Respond(ctx, p.session(), r)
	if err != nil {
		return err
	}
	return p.planStands(st)
}

// planStands prints how a plan stands after an operator changed something.
func (s *shell) planStands(st plan.Status) error {
	if s.json {
		return s.printJSON(st)
	}
	s.showStatus(st)
	return nil
}

// converse shows the plan and asks what to do, until that is an answer.
func (p *planDesk) converse(ctx context.Context) error {
	p.show(ctx)
	if p.op.State.Terminal() {
		st, err := p.operator.PlanStatus(ctx, p.session(), 0, 0)
		if err == nil {
			p.showStatus(st)
		}
		return err
	}
	verbs := "[c]onfirm, "
	if p.q.Risk.Dangerous() {
		verbs = "the word confirm, "
	}
	mayModify := slices.Contains(p.q.Options, human.ModifyPlan)
	if mayModify {
		verbs += "[m]odify, change by [w]ords, "
	}
	if len(p.q.Tasks) > 1 {
		verbs += "[t]ask by task, "
	}
	verbs += "ca[n]cel, as[k], [q]uit> "
	r := plan.Response{}
	for p.ask(verbs, p.lines) {
		switch word := strings.ToLower(strings.TrimSpace(p.lines.Text())); {
		case word == "q" || word == "quit":
			return human.Errorf(human.Unavailable, "nothing was changed")
		case word == "confirm" || (word == "c" && !p.q.Risk.Dangerous()):
			r.Action = human.ConfirmPlan
			if err := p.more(p.lines, "a word to the agent, or Enter> ", &r.Message); err != nil {
				return err
			}
			return p.send(ctx, r)
		case word == "c":
			p.note("The risk is %s: type the whole word confirm.", p.q.Risk)
		case (word == "t" || word == "task by task") && len(p.q.Tasks) > 1:
			r.TaskByTask = !r.TaskByTask
			if r.TaskByTask {
				p.note("You will be asked again before each task. Now confirm or modify; t again takes it back.")
			} else {
				p.note("You will not be asked before each task.")
			}
		case mayModify && (word == "m" || word == "modify"):
			sent, err := p.modify(ctx, r)
			if sent || err != nil {
				return err
			}
		case mayModify && (word == "w" || word == "words"):
			if err := p.more(p.lines, "what to change> ", &r.Message); err != nil {
				return err
			}
			if r.Message != "" {
				return p.send(ctx, plan.Response{Action: human.ModifyPlan, Message: r.Message})
			}
		case word == "n" || word == "cancel":
			if err := p.more(p.lines, "why (Enter: no reason)> ", &r.Message); err != nil {
				return err
			}
			return p.send(ctx, plan.Response{Action: human.CancelPlan, Message: r.Message})
		case word == "k" || word == "ask":
			var question string
			if err := p.more(p.lines, "your question> ", &question); err != nil {
				return err
			}
			if question != "" {
				op, err := p.operator.Reply(ctx, p.op.ID, question)
				return p.changed(op, err)
			}
		}
	}
	return human.Errorf(human.Unavailable, "no answer was given; nothing was changed")
}

// modify has the tasks edited and, once the person has seen what they changed, sent. sent is false where they went back.
func (p *planDesk) modify(ctx context.Context, r plan.Response) (sent bool, err error) {
	sheet, err := newSheet(p.editable(ctx))
	if err != nil {
		return false, err
	}
	keep := func(err error) (bool, error) {
		p.note("What you wrote is kept in %s; go on with: deskbell plan confirm %s --modify %[1]s", visible(sheet.file), p.op.ID)
		return false, err
	}
	for {
		var sum human.TasksSummary
		changed, err := p.edit(ctx, sheet, func(text string) error {
			_, sub, err := readPlan([]byte(text), p.q.Tasks)
			if err != nil {
				return err
			}
			r.Tasks = sub.Tasks
			sum, err = p.operator.Assess(ctx, p.session(), sub.Tasks)
			return err
		})
		if err != nil {
			return keep(err)
		}
		changes := plan.Compare(p.q.Tasks, r.Tasks)
		if (!changed && r.Tasks == nil) || len(changes) == 0 {
			p.note("You changed nothing.")
			sheet.drop()
			return false, nil
		}
		p.showChanges(changes)
		p.printf("\nNow: %s\n", summed(sum))
		verbs, dangerous := "[s]end, [e]dit again, [b]ack> ", sum.Risk.Dangerous()
		if dangerous {
			verbs = "the word modify to send it, [e]dit again, [b]ack> "
		}
		again := false
		for !again {
			if !p.ask(verbs, p.lines) {
				return keep(human.Errorf(human.Unavailable, "no answer was given; nothing was sent"))
			}
			switch word := strings.ToLower(strings.TrimSpace(p.lines.Text())); {
			case word == "e" || word == "edit":
				again = true
			case word == "b" || word == "back":
				sheet.drop()
				return false, nil
			case word == "modify" || (!dangerous && (word == "s" || word == "send")):
				r.Action = human.ModifyPlan
				if err := p.more(p.lines, "a word to the agent, or Enter> ", &r.Message); err != nil {
					return keep(err)
				}
				if err := p.send(ctx, r); err != nil {
					return keep(err)
				}
				sheet.drop()
				return true, nil
			}
		}
	}
}

// editable is the plan as a text to edit, with what could be added to it.
func (p *planDesk) editable(ctx context.Context) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s has this plan: %s\n#\n", oneLine(p.op.AgentID, 64), oneLine(p.op.Description, 200))
	b.WriteString("# Change tasks, move them, take some out or add some; they run in this order. Then save the file and close it.\n" +
		"# A task begins with [[tasks]] and has id, description, tool_name, type, priority, expected_outcome, args.NAME.\n" +
		"# A task keeps its id when it is changed or moved; a new one needs none. Lines that begin with # do not count.\n" +
		"# To leave the plan as it is, change nothing. What you changed is shown to you before it is sent.\n")
	writeTasks(&b, p.q.Tasks, "", func(i int) []string {
		if i >= len(p.q.Summary.Tasks) {
			return nil
		}
		return []string{fmt.Sprintf("%d: %s", i+1, strings.Join(taskFacts(p.q.Summary.Tasks[i]), ", "))}
	})
	history, err := p.operator.PlanHistory(ctx, p.session())
	if err != nil {
		return b.String() // the plan can be edited all the same
	}
	for _, u := range history.Usual {
		if u.Task != nil {
			fmt.Fprintf(&b, "\n# People added this to such plans, %s. To add it, take the # away:", times(u.Times))
			task := *u.Task
			task.ID = ""
			writeTasks(&b, []human.Task{task}, "# ", func(int) []string { return nil })
		}
	}
	presets := history.Presets // that fit, then the others
	if all, err := p.operator.Presets(ctx); err == nil {
		for _, one := range all {
			if !slices.ContainsFunc(presets, func(o plan.Preset) bool { return o.ID == one.ID }) {
				presets = append(presets, one)
			}
		}
	}
	const most = 8
	for _, preset := range presets[:min(most, len(presets))] {
		fmt.Fprintf(&b, "\n# The preset %s. To add it, take the # away:", oneLine(preset.Name, 80))
		tasks := slices.Clone(preset.Tasks)
		for i := range tasks {
			tasks[i].ID = ""
		}
		writeTasks(&b, tasks, "# ", func(int) []string { return nil })
	}
	return b.String()
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// show prints all an operator needs to decide.
func (p *planDesk) show(ctx context.Context) {
	op, q, now := p.op, p.q, time.Now()
	what := "has a plan"
	if q.Of != "" {
		what = "asks about one task of the plan " + string(q.Of)
	}
	p.printf("%s %s: %s\n", visible(op.AgentID), what, strings.TrimSpace(indent(op.Description, "  ")))
	when := span(now.Sub(op.CreatedAt)) + " ago"
	if op.ExpiresAt != nil && !op.State.Terminal() {
		when += ", " + span(op.ExpiresAt.Sub(now)) + " left"
	}
	p.printf("%s, session %s, %s\n", op.ID, oneLine(op.SessionID, 80), when)
	p.printf("%s\n", summed(q.Summary))
	if q.Cwd != "" {
		p.printf("It would run in %s\n", oneLine(q.Cwd, 300))
	}
	if q.Why != "" {
		p.printf("A new plan, because: %s\n", strings.TrimSpace(indent(q.Why, "  ")))
	}
	if q.Together() {
		p.printf("%d operators have to agree%s.\n", q.Confirmations, among(q.Operators))
		for _, v := range op.Votes {
			action := "?"
			if v.Answer.Plan != nil {
				action = string(v.Answer.Plan.Action)
			}
			p.printf("  %s: %s\n", visible(name(v.By)), visible(action))
		}
	}
	p.printf("\n")
	for i, t := range q.Tasks {
		var sum human.TaskSummary
		if i < len(q.Summary.Tasks) {
			sum = q.Summary.Tasks[i]
		}
		p.showTask(cmp.Or(sum.Index, i+1), t, sum)
	}
	if care := needsCare(q.Summary); care != "" {
		p.printf("\nLook at %s.\n", care)
	}
	if line := p.history(ctx); line != "" {
		p.printf("\n%s\n", line)
	}
	if len(op.Context) > 0 {
		p.printf("\ncontext:\n")
		p.fields(op.Context)
	}
	if len(op.Messages) > 0 {
		p.printf("\nconversation:\n")
		for _, m := range op.Messages {
			p.printf("  %s: %s\n", visible(name(m.By)), strings.TrimSpace(indent(m.Text, "    ")))
		}
	}
	p.printf("\nThe answer is bound to these bytes: sha256 %s\n", op.Digest)
}

func among(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ", " + oneLine(strings.Join(names, ", "), 200) + " among them"
}

// showTask prints a task with every field it has.
func (s *shell) showTask(n int, t human.Task, sum human.TaskSummary) {
	s.printf("%2d. %s\n", n, strings.TrimSpace(indent(t.Description, "    ")))
	facts := []string{visible(t.ID)}
	if t.Tool != "" {
		facts = append(facts, "tool "+oneLine(t.Tool, 80))
	}
	if t.Type != "" {
		facts = append(facts, oneLine(t.Type, 80))
	}
	if t.Priority != 0 {
		facts = append(facts, fmt.Sprintf("priority %d", t.Priority))
	}
	s.printf("    %s\n", strings.Join(append(facts, taskFacts(sum)...), ", "))
	for _, e := range sum.Effects {
		s.printf("    would: %s (%s)\n", oneLine(cmp.Or(e.Words, string(e.Verb)), 200), e.Risk)
	}
	if t.ExpectedOutcome != "" {
		s.printf("    then: %s\n", strings.TrimSpace(indent(t.ExpectedOutcome, "      ")))
	}
	if len(t.Args) > 0 {
		var b bytes.Buffer
		inner := *s
		inner.out = &b
		inner.fields(t.Args)
		s.printf("%s\n", "    with"+strings.TrimRight(strings.ReplaceAll("\n"+strings.TrimRight(b.String(), "\n"), "\n", "\n    "), " "))
	}
}

// taskFacts are what is known of a task, in a few words each.
func taskFacts(sum human.TaskSummary) []string {
	var facts []string
	if sum.Risk != "" {
		facts = append(facts, riskWords(sum.Risk))
	}
	if sum.Writes {
		facts = append(facts, "changes something")
	}
	if sum.Asked {
		facts = append(facts, "the gatekeeper will ask again")
	}
	if sum.Runs > 0 {
		facts = append(facts, fmt.Sprintf("about %s (%s)", span(seconds(sum.Seconds)), runs(sum.Runs)))
	}
	return facts
}

func riskWords(r human.Risk) string {
	if r == "" || r == human.NoRisk {
		return "no risk"
	}
	return visible(string(r)) + " risk"
}

func runs(n int) string {
	if n == 1 {
		return "1 run"
	}
	return fmt.Sprintf("%d runs", n)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// summed is what a plan comes to, in a line.
func summed(sum human.TasksSummary) string {
	line := fmt.Sprintf("%d tasks", sum.Total)
	if sum.Total == 1 {
		line = "1 task"
	}
	line += ", " + riskWords(sum.Risk)
	if sum.Writes > 0 {
		line += fmt.Sprintf(", %d to change something", sum.Writes)
	}
	if sum.Estimated > 0 {
		line += fmt.Sprintf(", about %s", span(seconds(sum.Seconds)))
		if sum.Estimated < sum.Total {
			line += fmt.Sprintf(" for the %d that are known", sum.Estimated)
		}
		line += fmt.Sprintf(" (%s before)", runs(sum.Runs))
	}
	return line
}

// needsCare names the tasks of a dangerous risk.
func needsCare(sum human.TasksSummary) string {
	var all []string
	for _, t := range sum.Tasks {
		if t.Risk.Dangerous() {
			all = append(all, fmt.Sprintf("%d (%s)", t.Index, t.Risk))
		}
	}
	switch {
	case len(all) == 0:
		return ""
	case len(all) == 1:
		return "task " + all[0]
	}
	return "tasks " + strings.Join(all, ", ")
}

// history is what was decided for plans like this one, in a line or two; empty where there were none.
func (p *planDesk) history(ctx context.Context) string {
	h, err := p.operator.PlanHistory(ctx, p.session())
	if err != nil {
		return ""
	}
	var parts []string
	n := 0
	for _, count := range []struct {
		n    int
		word string
	}{{h.Counts.Confirmed, "confirmed"}, {h.Counts.Modified, "changed"}, {h.Counts.Cancelled, "cancelled"}, {h.Counts.Timeout, "timed out"}} {
		if n += count.n; count.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count.n, count.word))
		}
	}
	if n == 0 {
		return ""
	}
	line := fmt.Sprintf("Plans like this one: %s.", strings.Join(parts, ", "))
	for i, u := range h.Usual {
		if i == 3 {
			break
		}
		line += fmt.Sprintf("\n  often %s: %s (%s)", visible(string(u.Change)), oneLine(u.Text, 160), times(u.Times))
	}
	return line
}

// showChanges prints what was changed of a plan, as a difference.
func (s *shell) showChanges(changes []human.TaskChange) {
	for _, ch := range changes {
		what := oneLine(ch.Description, 160)
		switch ch.Kind {
		case human.TaskAdded:
			s.printf("+ %d. %s\n", ch.To, what)
		case human.TaskRemoved:
			s.printf("- %d. %s\n", ch.From, what)
		case human.TaskMoved:
			s.printf("> %d. %s (was %d)\n", ch.To, what, ch.From)
		default:
			s.printf("~ %d. %s\n", ch.To, what)
		}
		for _, f := range ch.Fields {
			was, is := f.Was, f.Is
			if f.Field == "args" {
				was, is = plainText(was), plainText(is)
			}
			s.printf("    %s\n", visible(f.Field))
			for _, line := range differing(was, is) {
				s.printf("    %s\n", visible(line))
			}
		}
	}
}

// differing are the lines of two texts that are not the same, with a little of what is around them.
func differing(was, is string) (lines []string) {
	if !strings.Contains(was+is, "\n") {
		return []string{"- " + cmp.Or(was, "(nothing)"), "+ " + cmp.Or(is, "(nothing)")}
	}
	_, hunks, _ := strings.Cut(udiff.Unified("was", "is", was+"\n", is+"\n"), "\n+++ is\n")
	for line := range strings.Lines(hunks) {
		if line = strings.TrimSuffix(line, "\n"); !strings.HasPrefix(line, "@@ ") {
			lines = append(lines, line[:1]+" "+line[1:])
		}
	}
	return lines
}

// plainText is JSON laid out for people.
func plainText(text string) string {
	v, err := decodeNumbers(json.RawMessage(text))
	if err != nil {
		return text
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if e.Encode(v) != nil {
		return text
	}
	return strings.TrimSpace(b.String())
}

// planCode is the exit code that tells a script how a plan stands.
func planCode(st plan.Status) int {
	switch {
	case st.Status == human.PlanConfirmed:
		return exitYes
	case st.Status == human.PlanModified && len(st.Tasks) > 0:
		return exitChanged
	case st.Status == human.PlanModified, st.Status == human.PlanCancelled:
		return exitNo
	}
	return exitUnended
}

// showStatus prints how a plan stands, with what may run of it.
func (s *shell) showStatus(st plan.Status) {
	head := string(st.Status)
	switch {
	case st.Auto == "off":
		head = "confirmed: plans need no confirmation here"
	case st.Auto == "safe":
		head = "confirmed by itself: every task is safe"
	case st.Response != nil && st.Response.By != "":
		head += " by " + st.Response.By
	case st.Status == human.PlanPending && st.ExpiresAt != nil:
		head += ", " + span(time.Until(*st.ExpiresAt)) + " left"
	}
	s.printf("%s\n", oneLine(strings.TrimSpace(string(st.OperationID)+" "+head), 300))
	if st.Question != "" {
		s.part("An operator asks", st.Question)
	}
	for _, v := range st.Votes {
		s.printf("  %s: %s\n", visible(v.By), visible(string(v.Action)))
	}
	if len(st.Votes) > 0 && st.Status == human.PlanPending {
		s.printf("  %d have to agree\n", st.Needs)
	}
	if r := st.Response; r != nil {
		s.part("", r.Message)
		if r.TaskByTask {
			s.printf("  Each task is confirmed by itself before it runs.\n")
		}
		s.showChanges(r.Changes)
	}
	if st.Run == nil {
		for i, t := range st.Tasks {
			s.showTask(i+1, t, human.TaskSummary{})
		}
		return
	}
	s.showRun(st.Run)
}

// marks show at a glance how a task stands.
var marks = map[human.TaskState]string{
	human.TaskWaiting: " ", human.TaskRunning: ">", human.TaskDone: "x", human.TaskFailed: "!", human.TaskSkipped: "-",
}

func (s *shell) showRun(run *human.PlanRun) {
	s.printf("The run is %s.\n", visible(string(run.State)))
	for i, t := range run.Tasks {
		s.printf("[%s] %2d. %s  %s", cmp.Or(marks[t.State], "?"), i+1, oneLine(t.ID, 40), oneLine(t.Description, 160))
		if t.Tool != "" {
			s.printf(" (%s)", oneLine(t.Tool, 60))
		}
		if t.Began != nil && t.Ended != nil {
			s.printf(", %s", span(t.Ended.Sub(*t.Began)))
		}
		s.printf("\n")
		if t.Note != "" {
			s.printf("%s\n", indent(t.Note, "        "))
		}
	}
	for _, o := range run.Orders {
		s.printf("%s ordered: %s", visible(name(o.By)), visible(string(o.Kind)))
		if o.Task != "" {
			s.printf(" %s", oneLine(o.Task, 60))
		}
		s.printf("\n")
		s.part("", o.Text)
		s.showChanges(o.Changes)
	}
}

func (s *shell) planOrderCommand(kind human.OrderKind, short string, ofTask bool) *cobra.Command {
	var code, text string
	use, n := string(kind)+" SESSION", 1
	if ofTask {
		use, n = use+" TASK", 2
	}
	c := &cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(n),
		RunE: func(c *cobra.Command, args []string) error {
			operator, err := s.operator(c.Context(), code)
			if err != nil {
				return err
			}
			o := human.Order{Kind: kind, Text: text}
			if ofTask {
				o.Task = args[1]
			}
			st, err := operator.Order(c.Context(), args[0], o)
			if err != nil {
				return err
			}
			return s.planStands(st)
		},
	}
	c.Flags().StringVar(&text, "text", "", "words for the agent")
	return s.operatorFlags(c, &code, jsonStatus)
}

func (s *shell) planChangeCommand() *cobra.Command {
	var code, text, file string
	c := &cobra.Command{
		Use: "change SESSION", Short: "Change the tasks of a running plan that have not begun", Args: cobra.ExactArgs(1),
		Long: "Change the tasks of a running plan that have not begun: in VISUAL or EDITOR, or by --tasks. What has begun stays.",
		RunE: func(c *cobra.Command, args []string) error {
			operator, err := s.operator(c.Context(), code)
			if err != nil {
				return err
			}
			return s.changeRun(c.Context(), operator, args[0], file, text)
		},
	}
	c.Flags().StringVar(&file, "tasks", "", "a `FILE` with all tasks that are still to run: TOML or JSON; - is standard input")
	c.Flags().StringVar(&text, "text", "", "words for the agent")
	return s.operatorFlags(c, &code, jsonStatus)
}

func (s *shell) changeRun(ctx context.Context, operator *client.Client, session, file, text string) error {
	st, err := operator.PlanStatus(ctx, session, 0, 0)
	if err != nil {
		return err
	}
	if st.Run == nil {
		return human.Errorf(human.Conflict, "the plan is %s; only one that runs can be changed this way", st.Status)
	}
	var waiting, now []human.Task
	for _, t := range st.Run.Tasks {
		if t.State == human.TaskWaiting {
			waiting = append(waiting, t.Task)
		}
	}
	read := func(text []byte) error {
		_, sub, err := readPlan(text, waiting)
		now = sub.Tasks
		return err
	}
	var sheet *sheet
	if file != "" {
		data, err := s.readFile(file)
		if err == nil {
			err = read(data)
		}
		if err != nil {
			return err
		}
	} else {
		var b strings.Builder
		b.WriteString("# These tasks have not begun. Change them, move them, take some out or add some; then save the file and close it.\n")
		writeTasks(&b, waiting, "", func(int) []string { return nil })
		if sheet, err = newSheet(b.String()); err != nil {
			return err
		}
		changed, err := s.edit(ctx, sheet, func(text string) error { return read([]byte(text)) })
		if err != nil {
			s.note("What you wrote is kept in %s", visible(sheet.file))
			return err
		}
		if !changed {
			sheet.drop()
			s.note("You changed nothing.")
			return nil
		}
	}
	if !s.json {
		s.showChanges(plan.Compare(waiting, now))
	}
	if st, err = operator.Order(ctx, session, human.Order{Kind: human.Change, Tasks: now, Text: text}); err != nil {
		if sheet != nil {
			s.note("What you wrote is kept in %s; go on with: deskbell plan change %s --tasks %[1]s", visible(sheet.file), oneLine(session, 200))
		}
		return err
	}
	if sheet != nil {
		sheet.drop()
	}
	return s.planStands(st)
}

// readFile reads a file that is named on the command line; - is standard input.
func (s *shell) readFile(file string) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(s.in)
	}
	data, err := os.ReadFile(file) //nolint:gosec // named by the user
	if err != nil {
		return nil, human.Wrap(human.Invalid, err, "%s cannot be read: %v", file, errors.Unwrap(err))
	}
	return data, nil
}

func (s *shell) planPresetsCommand() *cobra.Command {
	var code string
	c := &cobra.Command{
		Use: "presets", Short: "List, add and remove presets: tasks to put into plans", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			operator, err := s.operator(c.Context(), code)
			if err != nil {
				return err
			}
			all, err := operator.Presets(c.Context())
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(all)
			}
			if len(all) == 0 {
				s.note("There is no preset; keep one with: deskbell plan presets add FILE --name NAME")
			}
			for _, p := range all {
				s.printf("%s  %s", visible(p.ID), oneLine(p.Name, 80))
				if p.About != "" {
					s.printf(": %s", oneLine(p.About, 160))
				}
				s.printf("\n")
				for i, t := range p.Tasks {
					s.printf("  %2d. %s\n", i+1, oneLine(t.Description, 160))
				}
			}
			return nil
		},
	}
	c.AddCommand(s.presetAddCommand(), s.presetRemoveCommand())
	return s.operatorFlags(c, &code, "print the presets as one line of JSON")
}

func (s *shell) presetAddCommand() *cobra.Command {
	var code string
	var p plan.Preset
	c := &cobra.Command{
		Use: "add FILE", Short: "Keep the tasks in a file as a preset", Args: cobra.ExactArgs(1),
		Long: "Keep the tasks in a file, TOML or JSON, as a preset. The file may say name and about, too; - is standard input.",
		RunE: func(c *cobra.Command, args []string) error {
			data, err := s.readFile(args[0])
			if err != nil {
				return err
			}
			f, sub, err := readPlan(data, nil)
			if err != nil {
				return human.Wrap(human.Invalid, err, "%s: %s", args[0], human.SafeText(err))
			}
			p.Tasks, p.Name, p.About = sub.Tasks, cmp.Or(p.Name, f.Name), cmp.Or(p.About, f.About)
			operator, err := s.operator(c.Context(), code)
			if err != nil {
				return err
			}
			kept, err := operator.PutPreset(c.Context(), p)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(kept)
			}
			s.printf("%s %s\n", visible(kept.ID), oneLine(kept.Name, 80))
			return nil
		},
	}
	c.Flags().StringVar(&p.Name, "name", "", "what it is called")
	c.Flags().StringVar(&p.About, "about", "", "when to use it")
	c.Flags().StringVar(&p.ID, "replace", "", "the id of the preset whose place it takes")
	return s.operatorFlags(c, &code, "print the preset as one line of JSON")
}

func (s *shell) presetRemoveCommand() *cobra.Command {
	var code string
	c := &cobra.Command{
		Use: "remove ID", Short: "Delete a preset", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			operator, err := s.operator(c.Context(), code)
			if err != nil {
				return err
			}
			return operator.DropPreset(c.Context(), args[0])
		},
	}
	s.urlFlag(c)
	c.Flags().StringVar(&code, "code", "", "a one-time code, instead of DESKBELL_TOKEN")
	return c
}

func (s *shell) planStatsCommand() *cobra.Command {
	var code string
	var days int
	c := &cobra.Command{
		Use: "stats", Short: "How plans were answered, how fast, and what people change", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			operator, err := s.operator(c.Context(), code)
			if err != nil {
				return err
			}
			st, err := operator.PlanStatistics(c.Context(), days)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(st)
			}
			return s.showStatistics(st)
		},
	}
	c.Flags().IntVar(&days, "days", 30, "of how many days")
	return s.operatorFlags(c, &code, "print the figures as one line of JSON")
}

func (s *shell) showStatistics(st plan.Statistics) error {
	o := st.Outcomes
	plans := "plans"
	if st.Plans == 1 {
		plans = "plan"
	}
	s.printf("%d %s in %d days\n", st.Plans, plans, st.Days)
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for _, line := range []struct {
		name string
		n    int
	}{{"confirmed", o.Confirmed}, {"  of these by themselves", o.Auto}, {"changed", o.Modified}, {"cancelled", o.Cancelled}, {"timed out", o.Timeout}} {
		share := ""
		if st.Plans > 0 {
			share = fmt.Sprintf("%.0f %%", 100*float64(line.n)/float64(st.Plans))
		}
		if _, err := fmt.Fprintf(w, "%s\t%d\t%s\n", line.name, line.n, share); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if st.Median > 0 {
		s.printf("Answered after %s in the middle, 9 of 10 within %s\n", span(seconds(st.Median)), span(seconds(st.P90)))
	}
	if len(st.Changes) > 0 {
		s.printf("\nWhat people change most\n")
	}
	for _, u := range st.Changes {
		s.printf("  %s: %s (%s)\n", visible(string(u.Change)), oneLine(u.Text, 160), times(u.Times))
	}
	if len(st.Tools) == 0 {
		return nil
	}
	s.printf("\nHow long tasks take\n")
	w = tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for _, t := range st.Tools {
		if _, err := fmt.Fprintf(w, "  %s\t%s\t%s\t%d failed\n", cmp.Or(oneLine(t.Tool, 40), "(no tool)"), span(seconds(t.Median)), runs(t.Runs), t.Failed); err != nil {
			return err
		}
	}
	return w.Flush()
}

// planAgent gives a command the flags of an agent's commands, with its own help for --json.
func (s *shell) planAgent(c *cobra.Command, json string) *cobra.Command {
	s.urlFlag(c)
	c.Flags().StringVar(&s.key, "key", "", "the agent's key (DESKBELL_KEY)")
	s.jsonFlag(c, json)
	return c
}

const planCodes = "The exit code is 0 when it was confirmed as it is, 4 when it was changed and the tasks that are printed may run in its place,\n" +
	"1 when it was cancelled or is to be made anew as the words say, 2 when nobody has answered or its time is up, 3 for an error."

func (s *shell) planSubmitCommand() *cobra.Command {
	var wait bool
	var most float64
	var session, message, why, idempotency string
	var timeout float64
	var priority, confirmations int
	c := &cobra.Command{
		Use: "submit FILE|-", Short: "Hand in a plan, as an agent, to be confirmed before it runs", Args: cobra.ExactArgs(1),
		Long: "Hand in a plan, as an agent. FILE has message, tasks and what else POST /api/plans takes, in JSON or TOML.\n" +
			"The same plan of the same session again joins the one that exists. A plan without session_id gets one from what it says.\n" + planCodes,
		Example: "  deskbell plan submit plan.json --wait && ./do-it\n" +
			"  echo '{\"message\":\"Tidy up\",\"tasks\":[{\"description\":\"Remove build/\",\"tool_name\":\"bash\",\"args\":{\"command\":\"rm -r build\"}}]}' | deskbell plan submit - --wait",
		RunE: func(c *cobra.Command, args []string) error {
			data, err := s.readFile(args[0])
			if err != nil {
				return err
			}
			_, sub, err := readPlan(data, nil)
			if err != nil {
				return human.Wrap(human.Invalid, err, "%s: %s", args[0], human.SafeText(err))
			}
			sub.Message, sub.Why, sub.IdempotencyKey = cmp.Or(message, sub.Message), cmp.Or(why, sub.Why), cmp.Or(idempotency, sub.IdempotencyKey)
			if c.Flags().Changed("timeout") {
				sub.Timeout = timeout
			}
			if c.Flags().Changed("priority") {
				sub.Priority = &priority
			}
			if c.Flags().Changed("confirmations") {
				sub.Confirmations = confirmations
			}
			if sub.SessionID = cmp.Or(session, sub.SessionID); sub.SessionID == "" {
				sum := sha256.Sum256(data)
				sub.SessionID = "cli-" + hex.EncodeToString(sum[:6])
			}
			if len(sub.Context) == 0 {
				if dir, err := os.Getwd(); err == nil {
					sub.Context, _ = json.Marshal(map[string]string{"cwd": dir}) // a text: cannot fail
				}
			}
			agent, err := s.agent()
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			st, _, err := agent.Submit(ctx, sub, 0)
			if err != nil {
				return err
			}
			if !s.json && st.OperationID != "" {
				s.note("handed in: %s, session %s", st.OperationID, visible(st.SessionID))
			}
			if (wait || most > 0) && st.OperationID != "" && st.Status == human.PlanPending {
				if st, err = s.followPlan(ctx, agent, st, most); err != nil {
					return err
				}
			}
			return s.tellPlan(st)
		},
	}
	f := c.Flags()
	f.BoolVar(&wait, "wait", false, "wait until operators have answered")
	f.Float64Var(&most, "for", 0, "wait so many seconds at the longest")
	f.StringVar(&session, "session", "", "the thread of work this belongs to; it names the plan")
	f.StringVar(&message, "message", "", "what the plan is for, in a line")
	f.StringVar(&why, "why", "", "why there is a new plan")
	f.StringVar(&idempotency, "idempotency-key", "", "the same key again is the same plan")
	f.Float64Var(&timeout, "timeout", 0, "seconds until it is cancelled (default: the setting plan.confirmation_timeout)")
	f.IntVar(&priority, "priority", human.DefaultPriority, "0 to 9; higher rings first")
	f.IntVar(&confirmations, "confirmations", 1, "how many operators have to agree")
	return s.planAgent(c, jsonStatus)
}

// followPlan waits for the answer to a plan; on the way it prints the operator's questions, and on a terminal takes the
// replies.
func (s *shell) followPlan(ctx context.Context, agent *client.Client, st plan.Status, most float64) (plan.Status, error) {
	if _, err := s.follow(ctx, agent, human.Operation{ID: st.OperationID}, seconds(most)); err != nil {
		return st, err
	}
	return agent.PlanStatus(context.WithoutCancel(ctx), string(st.OperationID), 0, 0)
}

// tellPlan prints how a plan stands and sets the exit code.
func (s *shell) tellPlan(st plan.Status) error {
	s.code = planCode(st)
	if s.json {
		return s.printJSON(st)
	}
	s.showStatus(st)
	if st.Status == human.PlanPending {
		s.note("Nobody has answered yet, so nothing of it may run. See again with `deskbell plan show %s`.", oneLine(st.SessionID, 200))
	}
	return nil
}

func (s *shell) planShowCommand() *cobra.Command {
	var code string
	var most float64
	c := &cobra.Command{
		Use: "show SESSION", Short: "Show how a plan stands, as its agent or as an operator", Args: cobra.ExactArgs(1),
		Long: "Show how a plan stands: as its agent with DESKBELL_KEY or --key, else as an operator.\n" + planCodes,
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			who, err := s.eitherSide(ctx, code)
			if err != nil {
				return err
			}
			st, err := who.PlanStatus(ctx, args[0], seconds(min(most, client.MaxWait.Seconds())), 0)
			if err != nil {
				return err
			}
			return s.tellPlan(st)
		},
	}
	c.Flags().StringVar(&code, "code", "", "an operator's one-time code")
	c.Flags().Float64Var(&most, "for", 0, "wait so many seconds for the answer at the longest, up to 60")
	return s.planAgent(c, jsonStatus)
}

// eitherSide is a client of an agent where there is a key, else an operator's.
func (s *shell) eitherSide(ctx context.Context, code string) (*client.Client, error) {
	if code == "" && (s.key != "" || os.Getenv("DESKBELL_KEY") != "") {
		return s.agent()
	}
	return s.operator(ctx, code)
}

func (s *shell) planBeginCommand() *cobra.Command {
	var most float64
	c := &cobra.Command{
		Use: "begin SESSION TASK", Short: "Begin a task of a confirmed plan, as its agent", Args: cobra.ExactArgs(2),
		Long: "Begin a task of a confirmed plan, as its agent. It waits while the plan is paused or an operator is asked about the task.\n" +
			"The exit code is 0 when the task has begun as it was handed in, 4 when it has begun as an operator changed it and as it is\n" +
			"printed, 1 when it must not be done, 2 when it must wait, 3 for an error.",
		RunE: func(c *cobra.Command, args []string) error {
			agent, err := s.agent()
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return s.beginTask(ctx, agent, args[0], args[1], c.Flags().Changed("for"), most)
		},
	}
	c.Flags().Float64Var(&most, "for", 0, "wait so many seconds at the longest; 0 does not wait (default: as long as it takes)")
	return s.planAgent(c, "print the answer as one line of JSON")
}

func (s *shell) beginTask(ctx context.Context, agent *client.Client, session, task string, bounded bool, most float64) error {
	wait, cancel := ctx, context.CancelFunc(func() {})
	if bounded {
		wait, cancel = context.WithTimeout(ctx, seconds(most))
	}
	defer cancel()
	p := human.TaskProgress{Task: task, State: human.TaskRunning}
	st, err := agent.Progress(ctx, session, p, 0)
	for told := ""; err == nil && !st.Go && (st.Why == "paused" || st.Why == "asking") && wait.Err() == nil; {
		if told != st.Why && !s.json {
			s.note("%s", visible(st.Message))
			told = st.Why
		}
		next := st
		if st.Asking != "" {
			if _, err = s.follow(wait, agent, human.Operation{ID: st.Asking}, 0); err == nil && wait.Err() == nil {
				next, err = agent.Progress(wait, session, p, 0)
			}
		} else {
			next, err = agent.Progress(wait, session, p, pollFor)
		}
		if err != nil && wait.Err() != nil {
			err = nil // time is up; the task waits
			break
		}
		st = next
	}
	if err != nil {
		return err
	}
	switch {
	case st.Go:
		s.code = exitYes
		if changed, err := s.changedTask(ctx, agent, st); err != nil || changed {
			s.code = exitChanged // where it is not known, whoever reads the task is on the safe side
		}
	case st.Why == "paused" || st.Why == "asking":
		s.code = exitUnended
	default:
		s.code = exitNo
	}
	if s.json {
		return s.printJSON(st)
	}
	s.printf("%s\n", oneLine(st.Message, 600))
	if st.Go && st.Task != nil {
		s.showTask(1, *st.Task, human.TaskSummary{})
	}
	return nil
}

// changedTask says whether a task is not what its agent handed in.
func (s *shell) changedTask(ctx context.Context, agent *client.Client, st plan.Standing) (bool, error) {
	op, err := agent.Operation(ctx, st.OperationID)
	if err != nil {
		return false, err
	}
	q, err := op.PlanQuestion()
	if err != nil || st.Task == nil {
		return true, err
	}
	return !slices.ContainsFunc(q.Tasks, func(t human.Task) bool { return t.ID == st.Task.ID && t.Same(*st.Task) }), nil
}

func (s *shell) planEndCommand() *cobra.Command {
	return s.planAgent(&cobra.Command{
		Use: "end SESSION TASK done|failed|skipped [NOTE]", Short: "Say how a task of a plan ended, as its agent", Args: cobra.RangeArgs(3, 4),
		RunE: func(c *cobra.Command, args []string) error {
			p := human.TaskProgress{Task: args[1], State: human.TaskState(args[2])}
			if !p.State.Over() {
				return human.Errorf(human.Invalid, "%q is not one of done, failed, skipped", args[2])
			}
			if len(args) == 4 {
				p.Note = args[3]
			}
			agent, err := s.agent()
			if err != nil {
				return err
			}
			st, err := agent.Progress(c.Context(), args[0], p, 0)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(st)
			}
			if st.Run != nil {
				s.showRun(st.Run)
			}
			return nil
		},
	}, "print the answer as one line of JSON")
}
