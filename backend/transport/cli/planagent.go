package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
	"deskbell/backend/plan"
	"deskbell/backend/transport/client"
)

// planAgent gives a command the flags of an agent's commands, with its own help for --json.
func (s *shell) planAgent(c *cobra.Command, json string) *cobra.Command {
	s.urlFlag(c)
	c.Flags().StringVar(&s.key, "key", "", "the agent's key (DESKBELL_KEY)")
	s.jsonFlag(c, json)
	return c
}

const planCodes = "The exit code is 0 when it was confirmed as it is, 4 when it was changed and the printed tasks may run instead,\n" +
	"1 when it was canceled or a new plan is needed, 2 when it has no answer yet or timed out, 3 for an error."

func (s *shell) planSubmitCommand() *cobra.Command {
	var wait bool
	var most float64
	var session, message, why, idempotency string
	var timeout float64
	var priority, confirmations int
	c := &cobra.Command{
		Use: "submit FILE|-", Short: "Submit a plan, as an agent, to be confirmed before it runs", Args: cobra.ExactArgs(1),
		Long: "Submit a plan, as an agent. FILE has message, tasks and the other fields of POST /api/plans, in JSON or TOML.\n" +
			"The same plan of the same session again joins the one that exists. A plan without session_id gets one from its content.\n" + planCodes,
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
				s.note("submitted: %s, session %s", st.OperationID, visible(st.SessionID))
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
	f.Float64Var(&most, "for", 0, "wait this many seconds at most")
	f.StringVar(&session, "session", "", "the thread of work this belongs to; it names the plan")
	f.StringVar(&message, "message", "", "what the plan is for, in a line")
	f.StringVar(&why, "why", "", "why there is a new plan")
	f.StringVar(&idempotency, "idempotency-key", "", "the same key again is the same plan")
	f.Float64Var(&timeout, "timeout", 0, "seconds until it times out (default: the setting plan.confirmation_timeout)")
	f.IntVar(&priority, "priority", human.DefaultPriority, "0 to 9; higher comes first")
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
		s.note("There is no answer yet, so none of it may run. Look again with `deskbell plan show %s`.", oneLine(st.SessionID, 200))
	}
	return nil
}

func (s *shell) planShowCommand() *cobra.Command {
	var most float64
	c := &cobra.Command{
		Use: "show SESSION", Short: "Show the state of a plan, as its agent or as an operator", Args: cobra.ExactArgs(1),
		Long: "Show the state of a plan: as its agent with DESKBELL_KEY or --key, else as an operator.\n" + planCodes,
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			who, err := s.eitherSide(ctx)
			if err != nil {
				return err
			}
			st, err := who.PlanStatus(ctx, args[0], seconds(min(most, client.MaxWait.Seconds())), 0)
			if err != nil {
				return err
			}
			if err := s.tellPlan(st); err != nil || s.json || st.Status != human.PlanPending || st.Summary == nil {
				return err
			}
			s.printf("%s\n", summed(*st.Summary))
			for _, t := range st.Summary.Tasks {
				s.showTask(t.Index, human.Task{ID: t.ID, Description: t.Description, Tool: t.Tool, ExpectedOutcome: t.ExpectedOutcome}, t)
			}
			return nil
		},
	}
	c.Flags().StringVar(&s.oneTime, "code", "", "an operator's one-time code, where this terminal is not signed in")
	c.Flags().Float64Var(&most, "for", 0, "wait this many seconds for the answer at most, up to 60")
	return s.planAgent(c, jsonStatus)
}

// eitherSide is a client of an agent where there is a key, else an operator's.
func (s *shell) eitherSide(ctx context.Context) (*client.Client, error) {
	if s.oneTime == "" && (s.key != "" || os.Getenv("DESKBELL_KEY") != "") {
		return s.agent()
	}
	return s.operator(ctx)
}

func (s *shell) planBeginCommand() *cobra.Command {
	var most float64
	c := &cobra.Command{
		Use: "begin SESSION TASK", Short: "Begin a task of a confirmed plan, as its agent", Args: cobra.ExactArgs(2),
		Long: "Begin a task of a confirmed plan, as its agent. It waits while the plan is paused or an operator is asked about the task.\n" +
			"The exit code is 0 when the task has started as it was submitted, 4 when it has started as an operator changed it and as it is\n" +
			"printed, 1 when it must not run, 2 when it must wait, 3 for an error.",
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
	c.Flags().Float64Var(&most, "for", 0, "wait this many seconds at most; 0 does not wait (default: as long as it takes)")
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
			err = nil // the time limit has passed; the task waits
			break
		}
		st = next
	}
	if err != nil {
		return notKept(err)
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

// notKept adds to the error of a plan that is not there why that may be.
func notKept(err error) error {
	if human.KindOf(err) != human.NotFound {
		return err
	}
	return human.Wrap(human.NotFound, err, "%s. When plans need no confirmation, as submit says, they are not stored: there is nothing to begin or to end", human.SafeText(err))
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
				return notKept(err)
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
