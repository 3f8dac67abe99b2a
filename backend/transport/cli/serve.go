package cli

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
)

func (s *shell) serveCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve the API and the console without a window",
		Long: "Serve the API and the console for a browser, without a window.\n" +
			"With --json it prints one line {\"url\",\"console\",\"code\"} when it is ready. On a terminal, Enter prints a fresh link.\n" +
			"SIGINT or SIGTERM ends it in order.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return s.serve(c.Context()) },
	}
	s.settingFlags(c)
	s.jsonFlag(c, "print one line of JSON when ready, and nothing else")
	return c
}

func (s *shell) serve(ctx context.Context) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	place, err := s.place()
	if err != nil {
		return err
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
	if err := s.greet(server, place); err != nil {
		stop()
		return errors.Join(err, <-ended)
	}
	if !s.json && isTerminal(s.in) && isTerminal(s.out) {
		s.note("Press Enter for a fresh link, Ctrl+C to stop.")
		// Reading a terminal cannot be called off; the goroutine ends with the process.
		go s.inviteOnEnter(server)
	}
	err = <-ended
	if err == nil && !s.json {
		s.note("Stopped. Everything is stored.")
	}
	return err
}

// greet says that the server is ready and how to open the console.
func (s *shell) greet(server Server, p Place) error {
	code, link := server.Invite()
	if s.json {
		return s.printJSON(struct {
			URL     string `json:"url"`
			Console string `json:"console"`
			Code    string `json:"code"`
		}{server.URL(), link, code})
	}
	s.printf("Deskbell listens on %s\n", server.URL())
	s.printf("Data folder  %s\n", visible(p.Dir))
	s.printf("Console      %s\n", link)
	s.printf("             (works once, for ten minutes; or `deskbell login %s` in a terminal)\n", code)
	return nil
}

func (s *shell) inviteOnEnter(server Server) {
	for lines := bufio.NewScanner(s.in); lines.Scan(); {
		_, link := server.Invite()
		s.printf("Console      %s\n", link)
	}
}

func (s *shell) window(hidden bool) error {
	dir, err := s.dir()
	if err != nil {
		return err
	}
	if !hasDisplay() {
		return human.Errorf(human.Unavailable,
			"there is no display here, so no window. Run `deskbell serve` and open the link it prints in a browser, "+
				"from elsewhere through an SSH tunnel (ssh -L 7717:127.0.0.1:7717 THIS-MACHINE)")
	}
	return s.Window(dir, s.place, hidden)
}

// hasDisplay says whether a window can be expected to open.
func hasDisplay() bool {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return true
	}
	return os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}
