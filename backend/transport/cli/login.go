package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"deskbell/backend/human"
	"deskbell/backend/transport/client"
)

const (
	oneTimeHelp = "a one-time code, where this terminal is not signed in"

	// elsewhere is where codes are to be had besides in a terminal that asks for one.
	elsewhere = "take a one-time code from Deskbell's window (Settings) or from the terminal of `deskbell serve`"
)

func (s *shell) loginCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "login [CODE]",
		Short: "Become an operator in this terminal",
		Long: "Become an operator in this terminal. Without CODE Deskbell shows one in the terminal itself, for you to type: programs that\n" +
			"read the output of this command do not get it. CODE is what the window or the terminal of `deskbell serve` shows.\n" +
			"The session counts in this terminal alone, until `deskbell logout`, or until the terminal is closed or Deskbell stops.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			at, err := s.server()
			if err != nil {
				return err
			}
			code := ""
			if len(args) > 0 {
				code = args[0]
			} else if code, err = s.askForCode(c.Context(), at); err != nil {
				return err
			}
			session, err := client.Login(c.Context(), at, code)
			if err != nil {
				return err
			}
			kept := session.Terminal && s.Sessions != nil
			if kept {
				err = s.Sessions.Save(c.Context(), at, session.Token)
				kept = err == nil
			}
			if !kept {
				_ = client.New(at, session.Token).Logout(c.Context()) // its token is lost
				return human.Wrap(human.Unavailable, err,
					"this system keeps no session for a terminal; the commands of an operator ask for a code each time, or take --code")
			}
			if s.json {
				return s.printJSON(map[string]string{"operator": session.Operator})
			}
			s.note("You are %s in this terminal. See `deskbell inbox`; `deskbell logout` ends the session.", visible(session.Operator))
			return nil
		},
	}
	s.urlFlag(c)
	s.jsonFlag(c, "print who you are as one line of JSON")
	return c
}

func (s *shell) logoutCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "logout",
		Short: "End this terminal's session",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			at, err := s.server()
			if err != nil || !s.signedIn(c.Context()) {
				return err
			}
			token, err := s.Sessions.Load(c.Context(), at)
			if err != nil {
				return err
			}
			if err := client.New(at, token).Logout(c.Context()); err != nil && human.KindOf(err) != human.Unauthorized {
				return err
			}
			return s.Sessions.Remove(c.Context(), at)
		},
	}
	s.urlFlag(c)
	return c
}

// signedIn says whether this terminal has a session.
func (s *shell) signedIn(ctx context.Context) bool {
	at, err := s.server()
	if err != nil || s.Sessions == nil {
		return false
	}
	token, err := s.Sessions.Load(ctx, at)
	return err == nil && token != ""
}

// operator is a client with an operator's session: a new one for the code of --code, else this terminal's. Where the system
// keeps none for terminals, it asks for a code.
func (s *shell) operator(ctx context.Context) (*client.Client, error) {
	at, err := s.server()
	if err != nil {
		return nil, err
	}
	code, token := s.oneTime, ""
	if code == "" && s.Sessions != nil {
		token, err = s.Sessions.Load(ctx, at)
		if human.KindOf(err) == human.Unavailable && s.interactive() {
			if code, err = s.askForCode(ctx, at); err != nil {
				return nil, err
			}
		}
	}
	if code != "" {
		session, err := client.Login(ctx, at, code)
		if err != nil {
			return nil, err
		}
		token = session.Token
	}
	if token == "" {
		return nil, human.Errorf(human.Unauthorized,
			"only an operator can do this: run `deskbell login` in this terminal and type the code that it shows. Or %s, and add --code CODE to this command", elsewhere)
	}
	return s.proving(client.New(at, token)), nil
}

// codeTime is how long a code can be typed: as long as it counts.
const codeTime = 10 * time.Minute

// askForCode asks for a one-time code, which the server draws on this terminal where it can, and clears the line.
func (s *shell) askForCode(ctx context.Context, at string) (string, error) {
	if !s.interactive() {
		return "", human.Errorf(human.Unauthorized, "`deskbell login` shows a code in the terminal that it runs in, for you to type, and this is none: run it in a terminal of this machine, or %s, and give that: deskbell login CODE", elsewhere)
	}
	// What it shows is not to outlive this program, and what is typed is not shown, from the start.
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	understand(s.err.(*os.File))
	fd := int(s.in.(*os.File).Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return "", err
	}
	defer func() {
		_, _ = io.WriteString(s.err, "\r\x1b[2K")
		_ = term.Restore(fd, before) // a terminal that is gone needs none
	}()
	err = client.ShowCode(ctx, at)
	if ctx.Err() != nil {
		return "", errNotTyped
	}
	switch human.KindOf(err) {
	case human.NotFound:
		s.note("Deskbell cannot show a code in this terminal: %s.\r", elsewhere)
		_, _ = io.WriteString(s.err, "Code: ")
	case human.Denied:
		return "", human.Wrap(human.Denied, err, "%v. Or %s, and give it: deskbell login CODE", err, elsewhere)
	default:
		if err != nil {
			return "", err
		}
	}
	typed := make(chan string, 1)
	go func() { // reading a terminal cannot be called off; it ends with the process
		code, _ := term.NewTerminal(struct {
			io.Reader
			io.Writer
		}{s.in, io.Discard}, "").ReadLine()
		typed <- strings.TrimSpace(code)
	}()
	late := time.NewTimer(codeTime)
	defer late.Stop()
	select {
	case code := <-typed:
		if code != "" {
			return code, nil
		}
	case <-late.C:
	case <-ctx.Done():
	}
	return "", errNotTyped
}

var errNotTyped = human.Errorf(human.Unauthorized, "no code was typed; you are not signed in")
