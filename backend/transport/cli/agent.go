package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
	"deskbell/backend/kind"
	"deskbell/backend/store/datadir"
	"deskbell/backend/transport/client"
)

// agentCommand gives a command the flags of an agent's commands.
func (s *shell) agentCommand(c *cobra.Command) *cobra.Command {
	s.urlFlag(c)
	c.Flags().StringVar(&s.key, "key", "", "the agent's key (DESKBELL_KEY)")
	s.jsonFlag(c, "print the operation as one line of JSON")
	return c
}

func (s *shell) urlFlag(c *cobra.Command) {
	c.Flags().StringVar(&s.url, "url", "", "where Deskbell listens (DESKBELL_URL); default: the one that runs on the data folder")
}

// server finds the URL of a running server: the flag, DESKBELL_URL, DESKBELL_ADDR, else whoever runs on
// the data folder.
func (s *shell) server() (string, error) {
	for _, given := range []string{s.url, os.Getenv("DESKBELL_URL")} {
		if given == "" {
			continue
		}
		if path, is := strings.CutPrefix(given, "unix:"); is && filepath.IsAbs(path) {
			return given, nil
		}
		u, err := url.Parse(given)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return "", human.Errorf(human.Invalid, "%q is not the URL of a server; one is like http://127.0.0.1:7717 or unix:/path/deskbell.sock", given)
		}
		return strings.TrimRight(given, "/"), nil
	}
	if addr := os.Getenv("DESKBELL_ADDR"); addr != "" && s.data == "" {
		if _, port, err := net.SplitHostPort(addr); err == nil && port != "0" {
			return "http://" + addr, nil
		}
	}
	dir, err := s.dir()
	if err != nil {
		return "", err
	}
	running, err := datadir.Find(dir)
	if err != nil {
		return "", human.Errorf(human.NotFound, "no Deskbell runs on the data folder %s; start `deskbell` or `deskbell serve`, or say where it is with --url", dir)
	}
	return running.At(), nil
}

// agent is a client with the agent's key.
func (s *shell) agent() (*client.Client, error) {
	key := s.key
	if key == "" {
		key = os.Getenv("DESKBELL_KEY")
	}
	if key == "" {
		return nil, human.Errorf(human.Unauthorized, "there is no key: set DESKBELL_KEY or --key; `deskbell keys add NAME` makes one")
	}
	if _, err := s.server(); err != nil {
		return nil, err
	}
	return client.Finding(s.server, key), nil
}

// object reads a flag that takes a JSON object: the text itself, @FILE, or - for standard input.
func (s *shell) object(flag, value string) (json.RawMessage, error) {
	var text []byte
	var err error
	switch {
	case value == "":
		return nil, nil
	case value == "-":
		text, err = io.ReadAll(s.in)
	case strings.HasPrefix(value, "@"):
		text, err = os.ReadFile(value[1:])
	default:
		text = []byte(value)
	}
	if err != nil {
		return nil, human.Wrap(human.Invalid, err, "--%s %s: %v", flag, value, err)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, human.Errorf(human.Invalid, "--%s must be a JSON object (%v), such as --%[1]s '{\"name\":\"value\"}'; @FILE reads one from a file", flag, err)
	}
	return text, nil
}

func (s *shell) ringCommand() *cobra.Command {
	var asked, details, about, session, idempotency, onTimeout string
	var timeout float64
	var priority int
	var files []string
	c := &cobra.Command{
		Use:   "ring DESCRIPTION",
		Short: "Ask a human and wait for the answer",
		Long: "Ask a human and wait for the answer. The exit code is 0 when it was answered or approved, 1 when it was\n" +
			"denied or declined, 2 when it was canceled or timed out, 3 for an error.\n" +
			"With - as DESCRIPTION it reads standard input.",
		Example: "  deskbell ring --type approve --details '{\"action\":\"make deploy\",\"risk_level\":\"medium\"}' 'Deploy to staging?' && make deploy",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			r := client.Ring{
				Kind: human.Kind(asked), Description: args[0], SessionID: session, IdempotencyKey: idempotency, OnTimeout: human.OnTimeout(onTimeout),
			}
			if args[0] == "-" {
				text, err := io.ReadAll(s.in)
				if err != nil {
					return err
				}
				r.Description = strings.TrimRight(string(text), "\n")
			}
			var err error
			if r.Details, err = s.object("details", details); err != nil {
				return err
			}
			if r.Context, err = s.object("context", about); err != nil {
				return err
			}
			if c.Flags().Changed("timeout") {
				r.Timeout = &timeout
			}
			if c.Flags().Changed("priority") {
				r.Priority = &priority
			}
			agent, err := s.agent()
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			if r.Attachments, err = s.attach(ctx, agent, files); err != nil {
				return err
			}
			op, _, err := agent.Invoke(ctx, r)
			if err != nil {
				return err
			}
			if !s.json {
				s.note("sent: %s", op.ID)
			}
			return s.await(ctx, agent, op, 0)
		},
	}
	f := c.Flags()
	f.StringVarP(&asked, "type", "t", string(human.Feedback), "what is asked for: "+kind.Sentence(kind.ForAgents()))
	f.StringVarP(&details, "details", "d", "", "details as a JSON object, @FILE, or - for standard input")
	f.StringVar(&about, "context", "", "context as a JSON object, @FILE, or - for standard input")
	f.StringArrayVar(&files, "attach", nil, "a `FILE` for the human to see; may be given several times")
	f.Float64Var(&timeout, "timeout", 0, "seconds until it is overdue; 0 is never (default: the setting human.default_timeout)")
	f.IntVar(&priority, "priority", human.DefaultPriority, "0 to 9; higher comes first")
	f.StringVar(&onTimeout, "on-timeout", "", "mark or cancel (default mark: it stays open, overdue)")
	f.StringVar(&idempotency, "idempotency-key", "", "the same key again joins the same request")
	f.StringVar(&session, "session", "", "the thread of work this belongs to")
	return s.agentCommand(c)
}

func (s *shell) waitCommand() *cobra.Command {
	var most float64
	c := &cobra.Command{
		Use:   "wait ID",
		Short: "Wait for the answer to an earlier request",
		Long:  "Wait for the answer to an earlier request. Exit codes are those of `deskbell ring`.",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			agent, err := s.agent()
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			op, err := agent.Operation(ctx, human.OperationID(args[0]))
			if err != nil {
				return err
			}
			return s.await(ctx, agent, op, time.Duration(most*float64(time.Second)))
		},
	}
	c.Flags().Float64Var(&most, "for", 0, "seconds to wait at most; 0 waits for the end, however long")
	return s.agentCommand(c)
}

func (s *shell) replyCommand() *cobra.Command {
	return s.agentCommand(&cobra.Command{
		Use: "reply ID TEXT", Short: "Answer an operator's question about an operation", Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			agent, err := s.agent()
			if err != nil {
				return err
			}
			op, err := agent.Reply(c.Context(), human.OperationID(args[0]), args[1])
			return s.changed(op, err)
		},
	})
}

func (s *shell) cancelCommand() *cobra.Command {
	var why string
	c := &cobra.Command{
		Use: "cancel ID", Short: "Withdraw an operation", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			agent, err := s.agent()
			if err != nil {
				return err
			}
			op, err := agent.Cancel(c.Context(), human.OperationID(args[0]), why)
			return s.changed(op, err)
		},
	}
	c.Flags().StringVar(&why, "reason", "", "why, for the operator")
	return s.agentCommand(c)
}

// changed prints an operation after a command changed it.
func (s *shell) changed(op human.Operation, err error) error {
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(op)
	}
	s.printf("%s %s\n", op.ID, visible(outcome(op)))
	if op.Later != nil {
		s.note("%s", keptLine(op.ID))
	}
	if !op.State.Terminal() {
		for _, first := range op.Approvals {
			s.note("Approved by %s. Another person has to approve by %s.", visible(first.By.Name), first.Until.Local().Format(time.TimeOnly))
		}
	}
	return nil
}

// pollFor is how long one call waits for an answer.
const pollFor = 50 * time.Second

// await follows an operation, prints what came of it and sets the exit code.
func (s *shell) await(ctx context.Context, agent *client.Client, op human.Operation, most time.Duration) error {
	op, err := s.follow(ctx, agent, op, most)
	if err != nil {
		return err
	}
	return s.conclude(agent, op)
}

// follow follows an operation until its end, until it becomes overdue, or for most where that is not 0. On the way it
// prints the operator's questions, and on a terminal takes the replies. A server that stops and starts again meanwhile
// costs nothing.
func (s *shell) follow(ctx context.Context, agent *client.Client, op human.Operation, most time.Duration) (human.Operation, error) {
	wait, cancel := ctx, context.CancelFunc(func() {})
	if most > 0 {
		wait, cancel = context.WithTimeout(ctx, most)
	}
	defer cancel()
	lateAtFirst, told := op.Overdue, 0
	typed := s.typed(wait)
	for !op.State.Terminal() && (lateAtFirst || !op.Overdue) && wait.Err() == nil {
		for ; told < len(op.Messages); told++ {
			if m := op.Messages[told]; m.By.Role == human.Operator {
				s.note("%s asks:\n%s", visible(name(m.By)), indent(m.Text, "  "))
				if typed == nil {
					s.note("  answer with: deskbell reply %s TEXT", op.ID)
				} else {
					s.note("Type your reply, then Enter.")
				}
			}
		}
		next, err := s.change(wait, agent, op, typed)
		switch {
		case err == nil:
			op = next
		case wait.Err() == nil:
			return op, err
		}
	}
	return op, nil
}

// typed gives the lines a person types; nil where nobody sits there.
func (s *shell) typed(ctx context.Context) <-chan string {
	if !s.interactive() {
		return nil
	}
	lines := make(chan string)
	// Reading a terminal cannot be called off; after ctx the goroutine ends with the process, or at the next line.
	go func() {
		for scanner := bufio.NewScanner(s.in); scanner.Scan(); {
			select {
			case lines <- strings.TrimSpace(scanner.Text()):
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}

// change waits until the operation changes, if need be by a reply that was typed to the operator's question.
func (s *shell) change(ctx context.Context, agent *client.Client, op human.Operation, typed <-chan string) (human.Operation, error) {
	type polled struct {
		op  human.Operation
		err error
	}
	polling, stop := context.WithCancel(ctx)
	defer stop()
	result := make(chan polled, 1)
	go func() {
		next, err := s.poll(polling, agent, op)
		result <- polled{next, err}
	}()
	for {
		select {
		case p := <-result:
			return p.op, p.err
		case line := <-typed:
			if line != "" && op.State == human.WaitingInput {
				stop()
				<-result
				return agent.Reply(ctx, op.ID, line)
			}
		}
	}
}

// poll waits once for a change, over interruptions of the server.
func (s *shell) poll(ctx context.Context, agent *client.Client, op human.Operation) (next human.Operation, err error) {
	err = client.Retry(ctx, client.Patience, func() {
		s.note("Deskbell does not answer; waiting for it to come back. The request is stored.")
	}, func() (err error) {
		next, err = agent.Wait(ctx, op.ID, op.Version, pollFor)
		return err
	})
	if human.KindOf(err) == human.Unavailable && ctx.Err() == nil {
		s.note("Continue later with: deskbell wait %s", op.ID)
	}
	return next, err
}

// conclude prints an operation that is waited for no more.
func (s *shell) conclude(agent *client.Client, op human.Operation) error {
	s.code = code(op)
	if s.json {
		if err := s.printJSON(op); err != nil {
			return err
		}
	} else if op.State.Terminal() {
		s.showAnswer(op)
	}
	switch {
	case op.State.Terminal():
		// The agent has read it: mark it as read for the operator. If that fails, the next command marks it.
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := agent.MarkDelivered(ctx, op.ID); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			s.note("the answer could not be marked as read: %s", visible(human.SafeText(err)))
		}
	case op.Overdue:
		s.note("No answer in time. The request stays open: continue with `deskbell wait %s`, or withdraw it with `deskbell cancel %s`.", op.ID, op.ID)
	default:
		s.note("No answer yet. The request stays open: continue with `deskbell wait %s`, or withdraw it with `deskbell cancel %s`.", op.ID, op.ID)
	}
	return nil
}

// agentName is what an agent that did not say its name is called.
func agentName(given string) string {
	for _, n := range []string{given, os.Getenv("DESKBELL_AGENT"), parentName()} {
		if n = plainName(n); n != "" && !slices.Contains(shells, n) {
			return n
		}
	}
	return "mcp"
}

// shells start MCP servers for others; their names tell nothing.
var shells = []string{"sh", "bash", "zsh", "dash", "fish", "cmd", "powershell", "pwsh", "node", "npx", "python", "python3", "systemd", "init", "deskbell"}

// plainName keeps what the name of a key may have.
func plainName(n string) string {
	n = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-', r == '_':
			return r
		}
		return '-'
	}, strings.TrimSuffix(n, ".exe"))
	n = strings.Trim(n, ".-_")
	return n[:min(len(n), 64)]
}
