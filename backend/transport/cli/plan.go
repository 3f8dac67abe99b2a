package cli

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
	"deskbell/backend/plan"
	"deskbell/backend/transport/client"
)

// exitChanged says that something may run, and that it is not what was handed in: it has to be read first.
const exitChanged = 4

func (s *shell) planCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "plan", Short: "Confirm agents' plans and follow them; for an agent, submit one",
		Long: "Confirm, change or cancel the plans that agents submit before they do something, and follow them while they run.\n" +
			"Name a plan by its session's id, or by its operation's. Agents without MCP submit theirs with `deskbell plan submit`.",
	}
	c.AddCommand(
		s.planConfirmCommand(), s.planListCommand(),
		s.planOrderCommand(human.Pause, "Pause a running plan: no further task starts", false),
		s.planOrderCommand(human.Resume, "Resume a paused plan", false),
		s.planOrderCommand(human.Skip, "Skip a task of a running plan that has not started", true),
		s.planOrderCommand(human.Stop, "Stop a running plan: no further task starts", false),
		s.planChangeCommand(), s.planPresetsCommand(), s.planStatsCommand(),
		s.planSubmitCommand(), s.planShowCommand(), s.planBeginCommand(), s.planEndCommand(),
	)
	return c
}

const jsonStatus = "print the state of the plan as one line of JSON"

// A verdict is what an operator does with a plan.
type planVerdict struct {
	plan.Response
	ask string

	confirm                       bool
	cancel, modify, words, digest string
}

func (s *shell) planConfirmCommand() *cobra.Command {
	var v planVerdict
	c := &cobra.Command{
		Use:   "confirm [SESSION|OPERATION]",
		Short: "Show a plan that waits, and confirm, change or cancel it",
		Long: "Show a plan that waits, and confirm, change or cancel it. Without an argument it is the one that waits, or you choose one.\n" +
			"Without a flag that answers, it asks; to change a plan, it opens the tasks in VISUAL or EDITOR, and shows what you changed\n" +
			"before that is sent. To confirm a high or critical risk, type the word confirm, or, in a script, give --confirm and the\n" +
			"--digest of what you read.",
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
			operator, err := s.operator(c.Context())
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
	f.StringVar(&v.Message, "message", "", "with --confirm or --modify: a message for the agent")
	f.StringVar(&v.digest, "digest", "", "the SHA-256 of what you read; the answer counts only for that")
	return s.operatorFlags(c, jsonStatus)
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
			return op, human.Errorf(human.Unavailable, "none was chosen; nothing was changed")
		}
		switch word := strings.TrimSpace(lines.Text()); word {
		case "":
		case "q", "quit":
			return op, human.Errorf(human.Unavailable, "nothing was changed")
		default:
			if n, err = strconv.Atoi(word); err != nil || n < 1 || n > len(waiting) {
				return op, human.Errorf(human.Invalid, "%q is not one of 1 to %d", word, len(waiting))
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
		stands = strings.ReplaceAll(string(op.PlanOutcome()), "_", " ")
	case op.ExpiresAt != nil:
		stands = span(op.ExpiresAt.Sub(now)) + " left"
	}
	return fmt.Sprintf("%s  %-12s  %-8s  %-16s  %s  %s", op.ID, stands, cmp.Or(string(op.Risk), "-"), oneLine(op.AgentID, 24), oneLine(op.SessionID, 32), oneLine(op.Description, 80))
}

func (s *shell) planListCommand() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "list", Short: "List plans that wait or run", Args: cobra.NoArgs,
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, _ []string) error {
			page, err := operator.List(ctx, client.Filter{Kind: human.Plan, Order: "newest", Limit: 200})
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
		}),
	}
	c.Flags().BoolVar(&all, "all", false, "also list plans that have ended")
	return s.operatorFlags(c, "print the page as one line of JSON")
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

// mayBlindly returns an error for a dangerous answer whose caller does not say what they read.
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
	if st.Response != nil && !p.json {
		st.Response.Changes = nil // they were shown before they were sent
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
	r := plan.Response{}
	for p.ask(p.verbs(), p.lines) {
		if done, err := p.act(ctx, strings.ToLower(strings.TrimSpace(p.lines.Text())), &r); done || err != nil {
			return err
		}
	}
	return human.Errorf(human.Unavailable, "no answer was given; nothing was changed")
}

func (p *planDesk) verbs() string {
	verbs := "[c]onfirm, "
	if p.q.Risk.Dangerous() {
		verbs = "the word confirm, "
	}
	if p.mayModify() {
		verbs += "[m]odify, change by [w]ords, "
	}
	if len(p.q.Tasks) > 1 {
		verbs += "[t]ask by task, "
	}
	return verbs + "ca[n]cel, as[k], [q]uit> "
}

func (p *planDesk) mayModify() bool { return slices.Contains(p.q.Options, human.ModifyPlan) }

// act does what a person typed. done is false where they are asked again.
func (p *planDesk) act(ctx context.Context, word string, r *plan.Response) (done bool, err error) {
	switch {
	case word == "q" || word == "quit":
		return true, human.Errorf(human.Unavailable, "nothing was changed")
	case word == "confirm" || (word == "c" && !p.q.Risk.Dangerous()):
		r.Action = human.ConfirmPlan
		if err := p.more(p.lines, "a message for the agent, or Enter> ", &r.Message); err != nil {
			return true, err
		}
		return true, p.send(ctx, *r)
	case word == "c":
		p.note("The risk is %s: type the whole word confirm.", p.q.Risk)
	case (word == "t" || word == "task by task") && len(p.q.Tasks) > 1:
		r.TaskByTask = !r.TaskByTask
		if r.TaskByTask {
			p.note("You will be asked again before each task. Now confirm or modify; t again undoes it.")
		} else {
			p.note("You will not be asked before each task.")
		}
	case p.mayModify() && (word == "m" || word == "modify"):
		return p.modify(ctx, *r)
	case p.mayModify() && (word == "w" || word == "words"):
		if err := p.more(p.lines, "what to change> ", &r.Message); err != nil {
			return true, err
		}
		if r.Message != "" {
			return true, p.send(ctx, plan.Response{Action: human.ModifyPlan, Message: r.Message})
		}
	case word == "n" || word == "cancel":
		if err := p.more(p.lines, "why (Enter: no reason)> ", &r.Message); err != nil {
			return true, err
		}
		return true, p.send(ctx, plan.Response{Action: human.CancelPlan, Message: r.Message})
	case word == "k" || word == "ask":
		var question string
		if err := p.more(p.lines, "your question> ", &question); err != nil {
			return true, err
		}
		if question != "" {
			op, err := p.operator.Reply(ctx, p.op.ID, question)
			return true, p.changed(op, err)
		}
	}
	return false, nil
}

// modify has the tasks edited and, once the person has seen what they changed, sent. sent is false where they went back.
func (p *planDesk) modify(ctx context.Context, r plan.Response) (sent bool, err error) {
	sheet, err := newSheet(p.editable(ctx))
	if err != nil {
		return false, err
	}
	keep := func(err error) (bool, error) {
		p.note("What you wrote is kept in %s; continue with: deskbell plan confirm %s --modify %[1]s", visible(sheet.file), p.op.ID)
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
				if err := p.more(p.lines, "a message for the agent, or Enter> ", &r.Message); err != nil {
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
	b.WriteString("# Change tasks, move them, remove some or add some; they run in this order. Then save the file and close it.\n" +
		"# A task begins with [[tasks]] and has id, description, tool_name, type, priority, expected_outcome, args.NAME.\n" +
		"# A task keeps its id when it is changed or moved; a new one needs none. Lines that begin with # do not count.\n" +
		"# To keep the plan as it is, change nothing. You see your changes before they are sent.\n")
	writeTasks(&b, p.q.Tasks, "", func(i int) []string {
		if i >= len(p.q.Summary.Tasks) {
			return nil
		}
		return []string{fmt.Sprintf("%d: %s", i+1, strings.Join(taskFacts(p.q.Summary.Tasks[i]), ", "))}
	})
	history, err := p.operator.PlanHistory(ctx, p.session())
	if err != nil {
		return b.String() // the plan can still be edited
	}
	for _, u := range history.Usual {
		if u.Task != nil {
			fmt.Fprintf(&b, "\n# People added this to such plans, %s. To add it, delete the #:", times(u.Times))
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
		fmt.Fprintf(&b, "\n# The preset %s. To add it, delete the #:", oneLine(preset.Name, 80))
		tasks := slices.Clone(preset.Tasks)
		for i := range tasks {
			tasks[i].ID = ""
		}
		writeTasks(&b, tasks, "# ", func(int) []string { return nil })
	}
	return b.String()
}
