package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
)

// A Connecting puts Deskbell into the settings of programs that run agents. Errors are of package human.
type Connecting interface {
	// IDs are those of all clients that are known.
	IDs() []string
	// List looks at each of them.
	List(ctx context.Context) ([]human.AgentClient, error)
	// Connect makes the changes that List named, by their hash; Conflict when the files were changed since.
	Connect(ctx context.Context, id, hash string) (human.AgentClient, error)
	// Apart is what Undo would change.
	Apart(ctx context.Context, id string) (human.AgentClient, error)
	Undo(ctx context.Context, id string) (human.AgentClient, error)
	// Snippet is what a person puts into a client's settings by hand: the file, and the text. Without an id it is the command.
	Snippet(id string) (file, text string, err error)
	Close()
}

func (s *shell) connectCommand() *cobra.Command {
	var yes, undo, stdio bool
	c := &cobra.Command{
		Use:   "connect [CLIENT]",
		Short: "Put Deskbell into a coding agent's settings, or take it out; alone: list the agents that are here",
		Long: "Put Deskbell into the settings of a program that runs agents, after showing the changes: the MCP server for all of your\n" +
			"projects, the permission to call it, and the hook of the gatekeeper, as far as the program has them. Everything else in its\n" +
			"files stays as it is. --undo takes it out again. Without CLIENT it lists the programs that are known.",
		Example: "  deskbell connect\n  deskbell connect claude-code\n  deskbell connect codex --undo\n  deskbell connect --stdio",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := s.dir()
			if err != nil {
				return err
			}
			with := s.Connecting(dir, s.admit)
			defer with.Close()
			id := ""
			if len(args) > 0 {
				id = args[0]
			}
			switch {
			case stdio:
				return s.snippet(with, id)
			case id == "" && (undo || yes):
				return human.Errorf(human.Invalid, "name the client: deskbell connect CLIENT")
			case id == "":
				return s.listClients(c.Context(), with)
			case undo:
				return s.takeApart(c.Context(), with, id, yes)
			}
			return s.connect(c.Context(), with, id, yes)
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	c.Flags().BoolVar(&undo, "undo", false, "take Deskbell out of its settings")
	c.Flags().BoolVar(&stdio, "stdio", false, "print what to put into its settings by hand, and change nothing; without CLIENT: the command that serves MCP")
	s.jsonFlag(c, "print one line of JSON; with --yes or --undo, the client as it is afterwards")
	return c
}

func (s *shell) listClients(ctx context.Context, with Connecting) error {
	list, err := with.List(ctx)
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(struct {
			Clients []human.AgentClient `json:"clients"`
		}{list})
	}
	w := s.columns()
	for _, c := range list {
		if c.State == human.ClientAbsent {
			continue
		}
		state := map[human.ClientState]string{human.ClientReady: "not connected", human.ClientConnected: "connected", human.ClientChanged: "connected otherwise: connect it again", human.ClientTrouble: "trouble"}[c.State]
		if c.Problem != "" {
			state += "; " + c.Problem
		}
		w.row("%s\t%s\t%s\t%s\n", c.ID, c.Name, visible(state), visible(c.Program))
	}
	if err := w.flush(); err != nil {
		return err
	}
	s.note("Connect one: deskbell connect CLIENT")
	return nil
}

func find(list []human.AgentClient, id string) (human.AgentClient, error) {
	var names []string
	for _, c := range list {
		if c.ID == id {
			return c, nil
		}
		names = append(names, c.ID)
	}
	return human.AgentClient{}, human.NoClient(id, names)
}

func (s *shell) connect(ctx context.Context, with Connecting, id string, yes bool) error {
	list, err := with.List(ctx)
	if err != nil {
		return err
	}
	c, err := find(list, id)
	switch {
	case err != nil:
		return err
	case c.State == human.ClientTrouble:
		return human.Errorf(human.Conflict, "%s", c.Problem)
	case c.State != human.ClientConnected:
		if !s.agreed(c, yes) {
			return s.unchanged(yes)
		}
		if c, err = with.Connect(ctx, id, c.Hash); err != nil {
			return err
		}
	}
	if s.json {
		return s.printJSON(c)
	}
	s.note("%s is connected.", c.Name)
	for _, text := range []string{c.Problem, c.Next} {
		if text != "" {
			s.note("%s", visible(text))
		}
	}
	return nil
}

func (s *shell) takeApart(ctx context.Context, with Connecting, id string, yes bool) error {
	c, err := with.Apart(ctx, id)
	if err != nil {
		return err
	}
	if len(c.Changes) > 0 {
		if !s.agreed(c, yes) {
			return s.unchanged(yes)
		}
		if c, err = with.Undo(ctx, id); err != nil {
			return err
		}
	}
	if s.json {
		return s.printJSON(c)
	}
	s.note("Nothing of Deskbell is in the settings of %s.", c.Name)
	return nil
}

// agreed shows changes and asks whether to make them.
func (s *shell) agreed(c human.AgentClient, yes bool) bool {
	if !s.json {
		for _, change := range c.Changes {
			for line := range strings.Lines(change.Diff) {
				s.printf("%s\n", visible(strings.TrimSuffix(line, "\n")))
			}
		}
	}
	if yes || !s.interactive() {
		return yes
	}
	_, _ = fmt.Fprint(s.err, "Make these changes? [y/N] ") // there is nowhere else to ask
	line, _ := bufio.NewReader(s.in).ReadString('\n')      // no answer is no
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes"
}

func (s *shell) unchanged(yes bool) error {
	if !yes && !s.interactive() {
		return human.Errorf(human.Invalid, "nothing was changed; --yes changes it without a question")
	}
	s.note("Nothing was changed.")
	s.code = exitNo
	return nil
}

func (s *shell) snippet(with Connecting, id string) error {
	file, text, err := with.Snippet(id)
	if err != nil {
		return err
	}
	if s.json {
		raw, err := json.Marshal(map[string]string{"file": file, "text": text})
		s.printf("%s\n", raw)
		return err
	}
	if file != "" {
		s.note("Put this into %s:", visible(file))
	}
	for line := range strings.Lines(text) {
		s.printf("%s\n", visible(strings.TrimRight(line, "\r\n")))
	}
	return nil
}
