package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
)

// An MCP is what `deskbell mcp` serves: the Deskbell that Find finds, with an agent's key. The rest is as in the options
// of the MCP server.
type MCP struct {
	Find       func() (url string, err error)
	Key        string
	Permission bool
	Knowledge  bool
	Patience   time.Duration
}

func (s *shell) mcpCommand() *cobra.Command {
	var name string
	var serves MCP
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Serve MCP on standard input and output, for an agent that starts its tools",
		Long: "Serve MCP on standard input and output. It finds the Deskbell that runs on the data folder, or starts it hidden.\n" +
			"The agent gets its own key for as long as this runs, unless DESKBELL_KEY has one.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return s.mcp(ctx, agentName(name), serves)
		},
	}
	s.urlFlag(c)
	c.Flags().StringVar(&name, "agent", "", "the agent's name for the operator (DESKBELL_AGENT); default: the name of the program that starts it, or mcp")
	c.Flags().BoolVar(&serves.Permission, "permission", false, "list the tool permission, for a client that asks with it whether a call may run")
	c.Flags().DurationVar(&serves.Patience, "patience", 0, "how long a call may take, a little less than the client waits for a tool; default: 45 seconds, and without end for clients that progress keeps waiting")
	return c
}

func (s *shell) mcp(ctx context.Context, name string, serves MCP) (err error) {
	if serves.Patience < 0 {
		return human.Errorf(human.Invalid, "--patience is %s; it is a length of time such as 5m, or 0 for the default", serves.Patience)
	}
	key := os.Getenv("DESKBELL_KEY")
	if s.url != "" || os.Getenv("DESKBELL_URL") != "" {
		if key == "" {
			return human.Errorf(human.Unauthorized, "a Deskbell elsewhere needs a key: set DESKBELL_KEY to one that was made there")
		}
		serves.Knowledge = true // its settings are elsewhere, too
	} else {
		place, err := s.place()
		if err == nil {
			_, err = s.findOrStart(ctx, place)
		}
		if err != nil {
			return err
		}
		serves.Knowledge = place.Config.Settings().Sinks.Knowledge
	}
	if key == "" {
		var drop func() error
		if key, drop, err = s.mint(ctx, name); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, drop()) }()
	}
	serves.Find, serves.Key = s.server, key
	return s.ServeMCP(ctx, serves, s.in, s.out)
}

// mint makes a key that lives until drop.
func (s *shell) mint(ctx context.Context, name string) (key string, drop func() error, err error) {
	dir, err := s.dir()
	if err != nil {
		return "", nil, err
	}
	keys, err := s.Keys(ctx, dir)
	if err != nil {
		return "", nil, err
	}
	key, err = keys.AddKey(ctx, name, true)
	// The file is not kept open: it would keep its server from tidying up.
	if err = errors.Join(err, keys.Close()); err != nil {
		return "", nil, err
	}
	return key, func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		keys, err := s.Keys(ctx, dir)
		if err != nil {
			return err
		}
		return errors.Join(keys.DropKey(ctx, key), keys.Close())
	}, nil
}
