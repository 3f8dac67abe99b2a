package cli

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
	"deskbell/backend/kind"
	"deskbell/backend/transport/client"
)

func (s *shell) inviteCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "invite [NAME]",
		Short: "Make a one-time code for another browser or terminal, or for another operator",
		Long: "Make a one-time code for another browser or terminal. With NAME its user becomes an operator of that name: when a plan needs\n" +
			"several operators, each needs a name of their own. Give the code only to them.",
		Args: cobra.MaximumNArgs(1),
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			made, console, err := operator.NewCode(ctx, name)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(map[string]string{"code": made, "console": console})
			}
			s.printf("%s\n", visible(made))
			s.note("In a browser: %s", visible(console))
			return nil
		}),
	}
	return s.operatorFlags(c, "print the code and the link as one line of JSON")
}

func (s *shell) handOverCommand() *cobra.Command {
	var to, note string
	c := &cobra.Command{
		Use:   "handover ID",
		Short: "Hand an operation over to another operator, with a note",
		Long:  "Hand an operation over to another operator. It stays with who has claimed it, or else with you, until they claim it.",
		Args:  cobra.ExactArgs(1),
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, args []string) error {
			op, err := operator.HandOver(ctx, human.OperationID(args[0]), to, note)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(op)
			}
			if op.Later != nil {
				s.note("%s", keptLine(op.ID))
				return nil
			}
			s.note("Handed over to %s. Until they claim it, %s has it.", visible(to), visible(op.ClaimedBy))
			return nil
		}),
	}
	c.Flags().StringVar(&to, "to", "", "the `NAME` of the other operator")
	c.Flags().StringVar(&note, "note", "", "what they should know, a `TEXT`")
	return s.operatorFlags(c, "print the operation as one line of JSON")
}

// operatorFlags gives a command the flags of an operator's commands.
func (s *shell) operatorFlags(c *cobra.Command, json string) *cobra.Command {
	s.urlFlag(c)
	c.Flags().StringVar(&s.oneTime, "code", "", oneTimeHelp)
	s.jsonFlag(c, json)
	return c
}

// asOperator is what a command does with an operator's client.
func (s *shell) asOperator(do func(ctx context.Context, operator *client.Client, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		operator, err := s.operator(c.Context())
		if err != nil {
			return err
		}
		return do(c.Context(), operator, args)
	}
}

func (s *shell) inboxCommand() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:   "inbox",
		Short: "List open requests, the most urgent first",
		Args:  cobra.NoArgs,
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, _ []string) error {
			page, err := operator.List(ctx, client.Filter{Open: !all, Limit: 100})
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(page)
			}
			if len(page.Operations) == 0 {
				s.note("Nothing waits.")
				return nil
			}
			return s.table(page.Operations, time.Now())
		}),
	}
	c.Flags().BoolVar(&all, "all", false, "also list requests that have ended, the newest first")
	return s.operatorFlags(c, "print the page as one line of JSON")
}

func (s *shell) table(ops []human.Operation, now time.Time) error {
	w := s.columns()
	for _, op := range ops {
		left := string(op.State)
		switch {
		case op.State.Terminal():
		case op.Overdue:
			left = "overdue"
		case op.ExpiresAt != nil:
			left = span(op.ExpiresAt.Sub(now)) + " left"
		}
		w.row("%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
			op.ID, span(now.Sub(op.CreatedAt)), left, cmp.Or(op.Risk, "-"), op.Kind, oneLine(op.AgentID, 24), oneLine(human.OneLine(op.Description, 200), 70))
	}
	return w.flush()
}

// A reply is what an operator does with an operation.
type reply struct {
	approve, deny bool
	answer        human.Answer
	decline, ask  string
	digest        string
	files         []string
}

func (s *shell) answerCommand() *cobra.Command {
	var r reply
	c := &cobra.Command{
		Use:   "answer ID",
		Short: "Answer an operation, as an operator",
		Long: "Show an operation and answer it. Without a flag that answers, it asks. To approve a high or critical risk,\n" +
			"type the word approve, or, in a script, give --approve and the --digest of what you read.",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			operator, err := s.operator(c.Context())
			if err != nil {
				return err
			}
			op, err := operator.Operation(c.Context(), human.OperationID(args[0]))
			if err != nil {
				return err
			}
			given := c.Flags().Changed("text") || c.Flags().Changed("result") || c.Flags().Changed("summary") || c.Flags().Changed("finding") || c.Flags().Changed("response") ||
				r.approve || r.deny || len(r.files) > 0 || c.Flags().Changed("decline") || c.Flags().Changed("ask")
			if !given {
				if op.Kind == human.Plan {
					return s.answerPlan(c.Context(), operator, op)
				}
				if op.State.Terminal() {
					s.showRequest(op, time.Now())
					s.showAnswer(op)
					return nil
				}
				if err := s.converse(op, &r); err != nil {
					return err
				}
			} else if err := r.checkFlags(op, c.Flags().Changed("decline"), c.Flags().Changed("ask")); err != nil {
				return err
			}
			ids, err := s.attach(c.Context(), operator, r.files)
			if err != nil {
				return err
			}
			for _, id := range ids {
				r.answer.Attachments = append(r.answer.Attachments, string(id))
			}
			op, err = r.send(c.Context(), operator, op)
			return s.changed(op, err)
		},
	}
	f := c.Flags()
	f.BoolVar(&r.approve, "approve", false, "approve")
	f.BoolVar(&r.deny, "deny", false, "deny; give the reason as --text")
	f.StringVar(&r.answer.HumanInput, "text", "", "your words")
	f.StringVar((*string)(&r.answer.Verdict), "verdict", "", "of work by hand: done, partly or could_not; of a review: approve, request_changes or comment")
	f.StringVar(&r.answer.ExecutionResult, "result", "", "the result of the work")
	f.StringVar(&r.answer.Summary, "summary", "", "what you did, in a line")
	f.StringArrayVar(&r.answer.KeyFindings, "finding", nil, "what the agent should know; may be given several times")
	f.Var((*jsonText)(&r.answer.Response), "response", "the values of the form the agent sent (details.response_schema), as a JSON object")
	f.StringArrayVar(&r.files, "attach", nil, "a `FILE` for the agent; secrets in texts are masked; may be given several times")
	f.StringVar(&r.decline, "decline", "", "decline to answer, with the reason")
	f.StringVar(&r.ask, "ask", "", "ask the agent something first")
	f.StringVar(&r.digest, "digest", "", "the SHA-256 of what you read; the answer counts only for that")
	return s.operatorFlags(c, "print the operation as one line of JSON")
}

// checkFlags returns an error for flags that contradict each other, and for a dangerous approval whose caller does not say
// what they read.
func (r *reply) checkFlags(op human.Operation, declines, asks bool) error {
	ways := 0
	for _, way := range []bool{r.approve, r.deny, declines, asks} {
		if way {
			ways++
		}
	}
	a := r.answer
	if ways > 1 || ((declines || asks) && (a.HumanInput != "" || a.Verdict != "" || len(a.Response) > 0 || a.ExecutionResult != "" || a.Summary != "" || len(a.KeyFindings)+len(r.files) > 0)) {
		return human.Errorf(human.Invalid, "give one of --approve, --deny, --decline and --ask; an answer's words and files do not go with the last two")
	}
	if (declines && r.decline == "") || (asks && r.ask == "") {
		return human.Errorf(human.Invalid, "--decline needs a reason, --ask a question")
	}
	if r.approve && op.Risk.Dangerous() && r.digest == "" {
		return human.Errorf(human.Invalid, "the risk is %s: run `deskbell answer %s` and type the word approve, or add --digest %s after reading it", op.Risk, op.ID, op.Digest)
	}
	switch {
	case r.approve:
		r.answer.Decision = human.Approved
	case r.deny:
		r.answer.Decision = human.Refused
	}
	return nil
}

// send does it. The answer is bound to the bytes that were shown.
func (r *reply) send(ctx context.Context, operator *client.Client, op human.Operation) (human.Operation, error) {
	switch {
	case r.ask != "":
		return operator.Reply(ctx, op.ID, r.ask)
	case r.decline != "":
		return operator.Decline(ctx, op.ID, r.decline)
	}
	if op.Kind == human.Box && r.answer.Decision == human.Approved { // one by one they are chosen in the window
		r.answer.Keep = kind.Harmless(kind.BoxFiles(op))
	}
	digest := r.digest
	if digest == "" {
		digest = op.Digest
	}
	return operator.Complete(ctx, op.ID, r.answer, digest)
}

// converse shows the operation and asks what to do, until that is an answer.
func (s *shell) converse(op human.Operation, r *reply) error {
	s.showRequest(op, time.Now())
	lines := bufio.NewScanner(s.in)
	verbs := "[t]ext answer, [d]ecline, as[k], [q]uit"
	approval := slices.Contains([]human.Kind{human.Approve, human.Box}, op.Kind)
	if approval {
		verbs = "[a]pprove, [d]eny, as[k], [q]uit"
		if op.Risk.Dangerous() {
			verbs = "the word approve, [d]eny, as[k], [q]uit"
		}
	}
	for s.ask(verbs+"> ", lines) {
		word := strings.ToLower(strings.TrimSpace(lines.Text()))
		switch {
		case word == "q" || word == "quit":
			return human.Errorf(human.Unavailable, "nothing was changed")
		case approval && (word == "approve" || (word == "a" && !op.Risk.Dangerous())):
			r.answer.Decision = human.Approved
			if err := s.fillIn(lines, op, &r.answer); err != nil {
				return err
			}
			return s.more(lines, "a message for the agent, or Enter> ", &r.answer.HumanInput)
		case approval && (word == "d" || word == "deny"):
			r.answer.Decision = human.Refused
			return s.more(lines, "why> ", &r.answer.HumanInput)
		case !approval && (word == "t" || word == "text"):
			if err := s.fillIn(lines, op, &r.answer); err != nil {
				return err
			}
			if len(r.answer.Response) > 0 {
				return s.more(lines, "your words, or Enter> ", &r.answer.HumanInput)
			}
			if err := s.more(lines, "your answer> ", &r.answer.HumanInput); err != nil || r.answer.HumanInput != "" {
				return err
			}
		case !approval && (word == "d" || word == "decline"):
			if err := s.more(lines, "why (needed)> ", &r.decline); err != nil || r.decline != "" {
				return err
			}
		case word == "k" || word == "ask":
			if err := s.more(lines, "your question> ", &r.ask); err != nil || r.ask != "" {
				return err
			}
		}
	}
	return human.Errorf(human.Unavailable, "no answer was given; nothing was changed")
}

// ask prompts for a line and says whether there is one.
func (s *shell) ask(prompt string, lines *bufio.Scanner) bool {
	_, err := io.WriteString(s.err, prompt)
	return err == nil && lines.Scan()
}

// more reads one line into text.
func (s *shell) more(lines *bufio.Scanner, prompt string, text *string) error {
	if !s.ask(prompt, lines) {
		return human.Errorf(human.Unavailable, "no answer was given; nothing was changed")
	}
	*text = strings.TrimSpace(lines.Text())
	return nil
}
