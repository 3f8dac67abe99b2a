package cli

import (
	"bufio"
	"cmp"
	"context"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"deskbell/backend/agent"
	"deskbell/backend/human"
)

func (s *shell) agentChatCommand() *cobra.Command {
	var f runFlags
	var session string
	c := &cobra.Command{
		Use:   "chat [MESSAGE]",
		Short: "Talk with the agent in a folder; it asks for what you have not said",
		Long: "Talk with the agent in a folder: it does what a message says with the shell, files, HTTP and MCP servers, and asks where that\n" +
			"is not enough. Your answer is the next line. With MESSAGE it ends when that is answered; without it, each line of standard\n" +
			"input is a message, until its end; /new starts a new conversation. Conversations are stored on this machine: --session continues\n" +
			"one, from here or from the console, also after this program or the machine was stopped in the middle of an answer.\n\n" +
			"The gatekeeper of the running Deskbell checks every tool call. It makes no plans, so none are confirmed.\n\n" +
			"The last message decides. " + endHelp,
		Example: "  deskbell agent chat\n" +
			"  deskbell agent chat --json 'How many tests are in this folder?'",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 && strings.TrimSpace(args[0]) == "" {
				return human.Errorf(human.Invalid, "the message is empty; say what the agent should do")
			}
			r := AgentRun{}
			done, err := s.beginAgent(c.Context(), &r, f)
			if err != nil {
				return err
			}
			defer done()
			t := chat{progress: newProgress(s), lines: bufio.NewScanner(s.in), first: args, session: session}
			t.lines.Buffer(nil, longestMessage)
			r.Note = func(text string) { t.line(); s.note("%s", visible(text)) }
			r.Tell = t.tell
			if !s.json {
				r.Emit = func(u agent.Update) {
					if u.Tool != "" { // the rest is shown as an answer
						t.update(u)
					}
				}
			}
			return s.Agent.Chat(c.Context(), r, func(handle Handle) error { return t.talk(c.Context(), handle) })
		},
	}
	f.given = c.Flags().Changed
	s.startFlags(c, &f)
	c.Flags().StringVar(&session, "session", "", "continue the conversation of this id")
	s.runFlags(c, &f)
	c.Flags().Lookup("max-plans").Hidden = true
	c.Flags().Lookup("json").Usage = "print each answer as one line of JSON, with the conversation"
	return c
}

// longestMessage is how many bytes a line of standard input may have.
const longestMessage = 1 << 20

// A chat is the side of conversations that writes messages: a person's, or a script's.
type chat struct {
	*progress
	lines *bufio.Scanner
	first []string // MESSAGE

	session string
}

// next returns the next message; empty after the last.
func (t *chat) next() string {
	if len(t.first) > 0 {
		message := strings.TrimSpace(t.first[0])
		t.first = nil
		return message
	}
	prompt := ""
	if isTerminal(t.in) {
		prompt = "> "
	}
	for t.ask(prompt, t.lines) {
		if message := strings.TrimSpace(t.lines.Text()); message != "" {
			return message
		}
	}
	return ""
}

// talk has messages answered until there are no more.
func (t *chat) talk(ctx context.Context, handle Handle) error {
	once := len(t.first) > 0
	for message := t.next(); message != ""; message = t.next() {
		if message == "/new" {
			t.session = ""
			continue
		}
		r, err := t.answered(ctx, handle, message)
		if err != nil {
			return err
		}
		t.session = cmp.Or(r.SessionID, t.session)
		switch r.Status {
		case agent.WaitingInput:
			t.code = exitUnended
			continue
		case agent.NotDone:
			t.code = exitNo
		case agent.Done:
			t.code = exitYes
		case agent.Success:
			t.code = exitYes
		default: // interrupted
			t.code = exitInterrupted
			return nil
		}
		if once {
			return nil
		}
	}
	return t.lines.Err()
}

// answered has a message answered, and shows the answer. Where it is interrupted, the Response has no status.
func (t *chat) answered(ctx context.Context, handle Handle, message string) (r agent.Response, err error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	defer context.AfterFunc(ctx, stop)() // a second Ctrl-C ends it at once
	t.said, t.over = "", true
	r, err = handle(ctx, agent.Message{Text: message, Session: t.session})
	t.line()
	switch {
	case ctx.Err() != nil:
		return agent.Response{}, nil
	case err != nil:
		return r, err
	case t.json:
		return r, t.printJSON(r)
	case strings.TrimSpace(r.Message) != strings.TrimSpace(t.said): // it was shown as it came
		t.printf("%s\n", visible(strings.TrimRight(r.Message, "\n")))
	}
	return r, nil
}
