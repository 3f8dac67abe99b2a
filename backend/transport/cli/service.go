package cli

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
	"deskbell/backend/store/datadir"
)

// A Service has the server started by itself, by what starts a user's programs here. Errors are of package human.
type Service interface {
	// About is the name of what starts it, where Install writes, and what.
	About() (manager, where, text string)
	State(ctx context.Context) (ServiceState, error)
	// Install can be called again. With start the service is started, too, or started again.
	Install(ctx context.Context, start bool) error
	// Uninstall stops the service, too. That there is none is no error.
	Uninstall(ctx context.Context) error
}

// ServiceState is how the service stands.
type ServiceState struct {
	Manager string   `json:"manager"`
	Where   string   `json:"where"`
	Written bool     `json:"installed"`
	Same    bool     `json:"current"` // it is what Install would write now
	Enabled bool     `json:"enabled"`
	Running bool     `json:"running"`
	Away    string   `json:"unreachable,omitempty"`
	Hints   []string `json:"hints,omitempty"`
}

func (s *shell) serviceCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "service", Short: "Have the server started by itself, without a window", Args: cobra.NoArgs,
		Long: "Have `deskbell serve` started by itself: by systemd for your user on Linux, by launchd on macOS, at log-on on Windows.\n" +
			"Such a server prints no codes. `deskbell login` in a terminal of the machine, over SSH too, signs you in.",
		RunE: func(c *cobra.Command, _ []string) error { return s.serviceStatus(c.Context()) },
	}
	s.jsonFlag(c, "print one line of JSON")
	printed := false
	install := &cobra.Command{
		Use: "install", Short: "Write, enable and start it; again after the program or a flag has changed", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return s.serviceInstall(c.Context(), printed) },
	}
	s.settingFlags(install)
	install.Flags().BoolVar(&printed, "print", false, "print what would be written, and do nothing")
	status := &cobra.Command{
		Use: "status", Short: "Print how it stands", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return s.serviceStatus(c.Context()) },
	}
	s.jsonFlag(status, "print one line of JSON")
	c.AddCommand(install, status, &cobra.Command{
		Use: "uninstall", Short: "Stop it and remove it; your data stays", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return s.serviceUninstall(c.Context()) },
	})
	return c
}

// service is that of this program, for the data folder and the settings of this command line.
func (s *shell) service() (Service, string, error) {
	dir, err := s.dir()
	if err != nil {
		return nil, "", err
	}
	self, err := ownPath()
	if err != nil {
		return nil, "", human.Wrap(human.Internal, err, "Deskbell cannot find its own program: %v", err)
	}
	args := []string{"serve", "--data", dir}
	if s.config != "" {
		file, err := filepath.Abs(s.config)
		if err != nil {
			return nil, "", err
		}
		args = append(args, "--config", file)
	}
	flags, err := s.flags()
	if err != nil {
		return nil, "", err
	}
	for _, key := range sortedKeys(flags) {
		args = append(args, "--set", key+"="+flags[key])
	}
	service, err := s.Service(self, args)
	return service, dir, err
}

// ownPath is where this program is. Where a name in PATH leads to it, that name is: it stays when another version is installed.
func ownPath() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	named, err := exec.LookPath(filepath.Base(self))
	if err != nil || !filepath.IsAbs(named) {
		return self, nil
	}
	there, err := filepath.EvalSymlinks(named)
	if real, err2 := filepath.EvalSymlinks(self); err != nil || err2 != nil || there != real {
		return self, nil
	}
	return named, nil
}

func (s *shell) serviceInstall(ctx context.Context, printed bool) error {
	service, dir, err := s.service()
	if err != nil {
		return err
	}
	manager, where, text := service.About()
	if printed {
		s.printf("%s\n", indent(text, ""))
		return nil
	}
	before, err := service.State(ctx)
	if err != nil {
		return err
	}
	if before.Written && before.Same {
		s.printf("Written already: %s\n", visible(where))
	} else {
		s.printf("Writes %s:\n\n%s\n\n", visible(where), indent(text, "  "))
	}
	other, err := datadir.Find(dir)
	elsewhere := err == nil && !before.Running
	runs := before.Same && before.Running && err == nil && other.Version == s.Version
	if err := service.Install(ctx, !elsewhere && !runs); err != nil {
		return err
	}
	if elsewhere {
		s.note("Deskbell runs on %s already, started otherwise (process %d), so %s has not started it now. It does when you log in next. Or quit that one and run `deskbell service install` again.", visible(dir), other.PID, manager)
		return nil
	}
	url, err := s.awaitServer(ctx, dir)
	if err != nil {
		return err
	}
	s.printf("Deskbell runs, and listens on %s\n", url)
	if after, err := service.State(ctx); err == nil {
		for _, hint := range after.Hints {
			s.printf("%s\n", visible(hint))
		}
	}
	s.note("Sign in with `deskbell login`, then: `deskbell inbox`, `deskbell tui`. `deskbell service status` prints how it stands.")
	return nil
}

// awaitServer blocks until a server answers on a data folder.
func (s *shell) awaitServer(ctx context.Context, dir string) (url string, err error) {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if server, err := datadir.Find(dir); err == nil && healthy(ctx, server.URL) == nil {
			return server.URL, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return "", human.Errorf(human.Unavailable, "the service is installed, but Deskbell does not answer; see %s", filepath.Join(dir, datadir.Log))
		}
	}
}

func (s *shell) serviceStatus(ctx context.Context) error {
	service, dir, err := s.service()
	if err != nil {
		return err
	}
	st, err := service.State(ctx)
	if err != nil || s.json {
		if err != nil {
			return err
		}
		return s.printJSON(st)
	}
	w := s.columns()
	word := map[bool]string{true: "yes", false: "no"}
	switch {
	case !st.Written:
		w.row("service\tnone: `deskbell service install` has %s start Deskbell\n", st.Manager)
	case !st.Same:
		w.row("service\tinstalled, for another program, data folder or flags than this command has; `deskbell service install --print` prints what it would write\n")
	default:
		w.row("service\tinstalled\n")
	}
	w.row("where\t%s\n", visible(st.Where))
	if st.Away != "" {
		w.row("%s\tcannot be reached from here: %s\n", st.Manager, visible(st.Away))
	} else if st.Written {
		w.row("starts by itself\t%s\n", word[st.Enabled])
	}
	if server, err := datadir.Find(dir); err == nil {
		how := "otherwise"
		if st.Running {
			how = "by " + st.Manager
		}
		w.row("server\truns, started %s (process %d), on %s: `deskbell login`, then `deskbell inbox` or `deskbell tui`\n", how, server.PID, server.URL)
	} else {
		w.row("server\tdoes not run on %s\n", visible(dir))
	}
	for _, hint := range st.Hints {
		w.row("\t%s\n", visible(hint))
	}
	return w.flush()
}

func (s *shell) serviceUninstall(ctx context.Context) error {
	service, dir, err := s.service()
	if err != nil {
		return err
	}
	st, err := service.State(ctx)
	if err != nil {
		return err
	}
	if !st.Written {
		s.note("There is no service; nothing was changed.")
		return nil
	}
	if err := service.Uninstall(ctx); err != nil {
		return err
	}
	s.note("Stopped, and removed %s. Your data stays in %s. Without it, run `deskbell serve` or `deskbell`.", visible(st.Where), visible(dir))
	return nil
}
