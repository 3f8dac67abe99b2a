package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
)

// A Hub is the server of a team.
type Hub struct {
	// Open opens the hub of a folder; Close it after Run.
	Open func(ctx context.Context, o HubOptions) (HubServer, error)
	// MakeKeys makes the keys of a team in a folder, where there are none.
	MakeKeys func(dir, team string) error
	// Office says who is in the team, whether the hub of a folder runs or not.
	Office func(ctx context.Context, dir string) (HubOffice, error)
}

// HubOptions are how a hub runs.
type HubOptions struct {
	Dir           string // its folder
	Keys          string // the folder that has its keys; empty: its own
	Team          string // needed at the first start
	Addr, WebAddr string // host:port, for desks and for the web page
	Hosts         []string
	Name, Cluster string        // in a cluster: the hub's name, and its address for other hubs
	Routes        []string      // theirs
	FoldAfter     time.Duration // see hub.Options
	Errors        io.Writer
}

// A HubServer is an open hub.
type HubServer interface {
	Run(ctx context.Context) error
	Ready() <-chan struct{}
	// URL is the web page's.
	URL() string
	// Office is there once the hub is ready, and ends with it.
	Office() HubOffice
	Close() error
}

// A HubOffice says who is in a team.
type HubOffice interface {
	// Invite makes a link by which one desk of a member joins, once.
	Invite(ctx context.Context, member, role string) (link string, err error)
	Desks(ctx context.Context) ([]human.TeamDesk, error)
	// Remove ends the connections of a member's desks for ever.
	Remove(ctx context.Context, member string) (desks int, err error)
	// Login makes a link to the web page that works once.
	Login(ctx context.Context) (link string, err error)
	// Empty says whether no desk has joined and none is invited.
	Empty(ctx context.Context) (bool, error)
	Close() error
}

func (s *shell) hubCommand() *cobra.Command {
	o, lead, days := HubOptions{}, "", 0
	c := &cobra.Command{
		Use: "hub", Short: "Run the hub of a team, or say who is in it",
		Long: "Run the hub of a team: the server that the team's desks share (docs/teams.md). Its first start needs --team, makes all keys, and\n" +
			"prints a link for the first lead, as which that desk then joins. SIGINT or SIGTERM ends it in order.\n" +
			"The other commands are for the same user on the same machine, whether the hub runs or not.",
		Example: "  deskbell hub --team Blue                                          # to try it, on this machine\n" +
			"  deskbell hub --team Blue --addr :4222 --web :8443 --host hub.example.org",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			dir, err := s.hubDir()
			if err != nil {
				return err
			}
			if days < 0 {
				return human.Errorf(human.Invalid, "--fold-days is a number of days, or 0 for never")
			}
			o.Dir, o.Errors, o.FoldAfter = dir, os.Stderr, time.Duration(days)*24*time.Hour
			return s.runHub(c.Context(), o, lead)
		},
	}
	c.Flags().StringVar(&o.Keys, "keys", "", "the folder that has the team's keys, as `hub keys` made them, if not the hub's own")
	c.Flags().StringVar(&o.Team, "team", "", "the team's name, at the first start")
	c.Flags().StringVar(&lead, "lead", "", "the first lead's name, at the first start, if not this user's")
	c.Flags().StringVar(&o.Addr, "addr", "127.0.0.1:4222", "the address for desks")
	c.Flags().StringVar(&o.WebAddr, "web", "127.0.0.1:8443", "the address of the web page, on which desks join")
	c.Flags().StringSliceVar(&o.Hosts, "host", nil, "names and addresses under which desks reach this hub; the first stands in links")
	c.Flags().StringVar(&o.Name, "name", "", "in a cluster: this hub's name")
	c.Flags().StringVar(&o.Cluster, "cluster", "", "in a cluster: the address for the other hubs")
	c.Flags().StringSliceVar(&o.Routes, "routes", nil, "in a cluster: the other hubs' addresses")
	c.Flags().IntVar(&days, "fold-days", 30, "days after which a request that ended is moved from the journal into a snapshot; 0: never")
	c.AddCommand(s.hubKeysCommand(), s.hubInviteCommand(), s.hubMembersCommand(), s.hubRemoveCommand(), s.hubLoginCommand())
	return c
}

// ExecuteHub is Execute for a program that is a hub and nothing else: `hub` is its root. p needs Version, Built and Hub only.
func ExecuteHub(ctx context.Context, p Program, args []string, out, errs io.Writer) int {
	s := &shell{Program: p, out: out, err: errs}
	c := s.hubCommand()
	c.Use, c.Version, c.SilenceErrors, c.SilenceUsage = "deskbell-hub", p.Version, true, true
	c.Example = "  deskbell-hub --data /data --team Blue --addr :4222 --web :8443 --host hub.example.org"
	c.PersistentFlags().StringVar(&s.data, "data", "", "the data folder; the hub has the folder hub in it")
	c.SetArgs(args)
	c.SetOut(out)
	c.SetErr(errs)
	if err := c.ExecuteContext(ctx); err != nil {
		s.complain(err)
		return exitError
	}
	return s.code
}

func (s *shell) hubKeysCommand() *cobra.Command {
	name := ""
	c := &cobra.Command{
		Use: "keys", Short: "Make the keys of a team for the hubs of a cluster", Args: cobra.NoArgs,
		Long: "Make the keys of a team in the folder hub of the data folder, and start nothing. Keys that are there stay. The hubs of a cluster get the\n" +
			"same ones, by --keys or as copies in their own folders. Whoever has them can be any desk: keep them as you keep a password.",
		RunE: func(*cobra.Command, []string) error {
			dir, err := s.hubDir()
			if err != nil {
				return err
			}
			if err := s.Hub.MakeKeys(dir, name); err != nil {
				return err
			}
			s.note("The keys are in %s.", dir)
			return nil
		},
	}
	c.Flags().StringVar(&name, "team", "", "the team's name")
	return c
}

func (s *shell) hubDir() (string, error) {
	dir, err := s.dir()
	return filepath.Join(dir, "hub"), err
}

func (s *shell) runHub(ctx context.Context, o HubOptions, lead string) (err error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	h, err := s.Hub.Open(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-h.Ready():
	}
	if err := s.greetTeam(ctx, h, lead); err != nil {
		stop()
		return errors.Join(err, <-ended)
	}
	if err := <-ended; err != nil {
		return err
	}
	s.note("Stopped. Everything is stored.")
	return nil
}

func (s *shell) greetTeam(ctx context.Context, h HubServer, lead string) error {
	office := h.Office()
	login, err := office.Login(ctx)
	if err != nil {
		return err
	}
	s.printf("The hub is ready\nWeb page     %s\n             (the link works once; `deskbell hub login` prints another)\n", login)
	empty, err := office.Empty(ctx)
	if err != nil || !empty {
		return err
	}
	if lead == "" {
		lead = thisUser()
	}
	link, err := office.Invite(ctx, lead, "lead")
	if err != nil {
		return err
	}
	s.printf("First lead   %s: on their machine, run\n             deskbell join '%s'\n", visible(lead), link)
	return nil
}

// thisUser is how this system calls the user.
func thisUser() string {
	u, err := user.Current()
	if err != nil {
		return "lead"
	}
	return u.Username[strings.LastIndex(u.Username, `\`)+1:] // without Windows' domain
}

// atHub is what a command does with the hub of the data folder.
func (s *shell) atHub(do func(ctx context.Context, office HubOffice, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		dir, err := s.hubDir()
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(c.Context(), 30*time.Second)
		defer cancel()
		office, err := s.Hub.Office(ctx, dir)
		if err != nil {
			return err
		}
		return errors.Join(do(ctx, office, args), office.Close())
	}
}

func (s *shell) hubInviteCommand() *cobra.Command {
	role := ""
	c := &cobra.Command{
		Use: "invite NAME", Short: "Print a link by which a desk of a member joins the team", Args: cobra.ExactArgs(1),
		Long: "Print a link by which a desk of a member joins the team. It works once, for 24 hours. It has the team's key in it: send it by a way\n" +
			"that only they read. A member's second desk needs a second link.",
		RunE: s.atHub(func(ctx context.Context, office HubOffice, args []string) error {
			link, err := office.Invite(ctx, args[0], role)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(map[string]string{"link": link})
			}
			s.printf("%s\n", link)
			return nil
		}),
	}
	c.Flags().StringVar(&role, "role", "operator", "agent (only agents work there), operator, lead or auditor (reads only)")
	s.jsonFlag(c, "print the link as one line of JSON")
	return c
}

func (s *shell) hubMembersCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "members", Short: "List the desks of the team", Args: cobra.NoArgs,
		RunE: s.atHub(func(ctx context.Context, office HubOffice, _ []string) error {
			desks, err := office.Desks(ctx)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(desks)
			}
			s.printDesks(desks)
			return nil
		}),
	}
	s.jsonFlag(c, "print the desks as one line of JSON")
	return c
}

func (s *shell) printDesks(desks []human.TeamDesk) {
	for _, d := range desks {
		state := "joined " + d.Joined.Local().Format(time.DateTime)
		if d.Removed != nil {
			state = "removed " + d.Removed.Local().Format(time.DateTime)
		} else if d.Connected {
			state += ", connected"
		}
		s.printf("%s  %s  %s  %s  %s\n", visible(d.Member), d.Role, d.Desk, visible(d.Machine), state)
	}
}

func (s *shell) hubRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Remove a member from the team", Args: cobra.ExactArgs(1),
		Long: "Remove a member from the team: the connections of their desks end at once, and their keys are never good again. What they did stays.",
		RunE: s.atHub(func(ctx context.Context, office HubOffice, args []string) error {
			n, err := office.Remove(ctx, args[0])
			if err != nil {
				return err
			}
			s.noteRemoved(args[0], n)
			return nil
		}),
	}
}

func (s *shell) hubLoginCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "login", Short: "Print a link to the hub's web page that works once, for ten minutes", Args: cobra.NoArgs,
		RunE: s.atHub(func(ctx context.Context, office HubOffice, _ []string) error {
			link, err := office.Login(ctx)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(map[string]string{"link": link})
			}
			s.printf("%s\n", link)
			return nil
		}),
	}
	s.jsonFlag(c, "print the link as one line of JSON")
	return c
}
