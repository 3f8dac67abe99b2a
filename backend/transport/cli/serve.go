package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
)

func (s *shell) serveCommand() *cobra.Command {
	codeFD := 0
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve the API and the console without a window",
		Long: "Serve the API and the console for a browser, without a window.\n" +
			"In a terminal it prints a link that signs you in; Enter prints a fresh one. Elsewhere it prints none: a program could read it.\n" +
			"Sign in with `deskbell login` in a terminal then.\n" +
			"With --json it prints one line {\"url\",\"console\"} when it is ready. With --code-fd it writes {\"url\",\"console\",\"code\"} to that\n" +
			"file descriptor and closes it, for a service manager or a test. On Windows it is the number of an inherited handle.\n" +
			"SIGINT or SIGTERM ends it in order.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var code *os.File
			if c.Flags().Changed("code-fd") {
				var err error
				if code, err = descriptor(codeFD); err != nil {
					return err
				}
			}
			return s.serve(c.Context(), code)
		},
	}
	s.settingFlags(c)
	s.jsonFlag(c, "print one line of JSON when ready, and nothing else")
	c.Flags().IntVar(&codeFD, "code-fd", 0, "write a one-time code to this file descriptor, 3 or higher")
	return c
}

// descriptor is a file descriptor that whoever started this program opened for it.
func descriptor(fd int) (*os.File, error) {
	if fd < 3 {
		return nil, human.BadField("code-fd", "is %d; a one-time code goes to a file descriptor of its own, 3 or higher", fd)
	}
	f := os.NewFile(uintptr(fd), "code")
	if f == nil {
		return nil, human.BadField("code-fd", "%d is not an open file descriptor", fd)
	}
	if _, err := f.Stat(); err != nil {
		return nil, human.BadField("code-fd", "%d is not an open file descriptor", fd)
	}
	own(f.Fd())
	return f, nil
}

func (s *shell) serve(ctx context.Context, code *os.File) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	place, err := s.place()
	if err != nil {
		return err
	}
	person := !s.json && inForeground(s.in, s.out)
	var on *screen
	if person {
		on = newScreen(s.out.(*os.File))
		s.out, s.err, place.Errors = on, on.beside(s.err), on.beside(os.Stderr)
	}
	server, err := s.Open(ctx, place)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-server.Ready():
	}
	if err := s.greet(server, place, on, code); err != nil {
		stop()
		return errors.Join(err, <-ended)
	}
	if person {
		// Reading a terminal cannot be called off; the goroutine ends with the process.
		go s.inviteOnEnter(server, on)
	}
	err = <-ended
	if on != nil {
		on.clear()
	}
	if err == nil && !s.json {
		s.note("Stopped. Everything is stored.")
	}
	return err
}

// greet says that the server is ready. A code is for a person: it goes to a terminal that they look at, or to the file that was
// opened for it, and to no output that a program may read by the way.
func (s *shell) greet(server Server, p Place, on *screen, code *os.File) error {
	if code != nil {
		word, link, _ := server.Invite()
		line, err := json.Marshal(map[string]string{"url": server.URL(), "console": link, "code": word})
		if err == nil {
			_, err = code.Write(append(line, '\n'))
		}
		if err := errors.Join(err, code.Close()); err != nil {
			return human.Wrap(human.Unavailable, err, "the one-time code could not be written to --code-fd")
		}
	}
	if s.json {
		return s.printJSON(struct {
			URL     string `json:"url"`
			Console string `json:"console"`
		}{server.URL(), server.URL() + "/"})
	}
	s.printf("Deskbell listens on %s\n", server.URL())
	s.printf("Data folder  %s\n", visible(p.Dir))
	if on == nil {
		s.printf("Console      %s/\n", server.URL())
		s.printf("             (to sign in, run `deskbell login` in a terminal of this machine)\n")
		return nil
	}
	s.printf("The link works once. Press Enter for a fresh one, Ctrl+C to stop.\n")
	s.invite(server, on)
	return nil
}

// invite shows a link for as long as it is good.
func (s *shell) invite(server Server, on *screen) {
	_, link, over := server.Invite()
	hide := on.show("Console      "+link, "Console      "+server.URL()+"/  (used or expired; Enter: a fresh link)")
	go func() { // ends with the code, or with the process
		<-over
		hide()
	}()
}

// inForeground says whether a person can be expected at both ends: they are terminals, and this program is the one that the
// terminal's keys go to.
func inForeground(in, out any) bool {
	if !isTerminal(in) || !isTerminal(out) {
		return false
	}
	return foreground(in.(*os.File).Fd()) && foreground(out.(*os.File).Fd())
}

func (s *shell) inviteOnEnter(server Server, on *screen) {
	for lines := bufio.NewScanner(s.in); lines.Scan(); {
		on.typed()
		s.invite(server, on)
	}
}

// hasDisplay says whether a window can be expected to open.
func hasDisplay() bool {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return true
	}
	return os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}
