package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
)

func (s *shell) keysCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "keys",
		Short: "Make, list and revoke agents' keys",
		Long:  "Make, list and revoke agents' keys. It works whether Deskbell runs on the data folder or not, and counts at once.",
	}
	add := &cobra.Command{
		Use: "add NAME", Short: "Make a key for an agent and print it, once", Args: cobra.ExactArgs(1),
		RunE: s.withKeys(s.addKey),
	}
	list := &cobra.Command{Use: "list", Short: "List the keys", Args: cobra.NoArgs, RunE: s.withKeys(s.listKeys)}
	revoke := &cobra.Command{
		Use: "revoke NAME", Short: "Revoke all keys of an agent", Args: cobra.ExactArgs(1),
		RunE: s.withKeys(s.revokeKeys),
	}
	for _, sub := range []*cobra.Command{add, list, revoke} {
		s.jsonFlag(sub, "print one line of JSON")
	}
	c.AddCommand(add, list, revoke)
	return c
}

func (s *shell) withKeys(do func(context.Context, Keys, []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		dir, err := s.dir()
		if err != nil {
			return err
		}
		keys, err := s.Keys(c.Context(), dir)
		if err != nil {
			return err
		}
		return errors.Join(do(c.Context(), keys, args), keys.Close())
	}
}

func (s *shell) addKey(ctx context.Context, keys Keys, args []string) error {
	key, err := keys.AddKey(ctx, args[0], false)
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(struct {
			Name string `json:"name"`
			Key  string `json:"key"`
		}{args[0], key})
	}
	s.printf("%s\n", key)
	s.note("This is the key of %s. It is not shown again. Give it to the agent as DESKBELL_KEY.", visible(args[0]))
	return nil
}

func (s *shell) listKeys(ctx context.Context, keys Keys, _ []string) error {
	all, err := keys.Keys(ctx)
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(struct {
			Keys []human.Key `json:"keys"`
		}{all})
	}
	if len(all) == 0 {
		s.note("There are no keys yet. `deskbell keys add NAME` makes one.")
		return nil
	}
	w := s.columns()
	for _, k := range all {
		seen, state := "never seen", "valid"
		if k.LastSeen != nil {
			seen = "seen " + span(time.Since(*k.LastSeen)) + " ago"
		}
		switch {
		case k.RevokedAt != nil:
			state = "revoked " + k.RevokedAt.Local().Format(time.DateTime)
		case k.Ephemeral:
			state = "for one session"
		}
		w.row("%s\tdbk_%s…\tmade %s\t%s\t%s\n", visible(k.Name), visible(k.ID), k.CreatedAt.Local().Format(time.DateTime), seen, state)
	}
	return w.flush()
}

func (s *shell) revokeKeys(ctx context.Context, keys Keys, args []string) error {
	n, err := keys.RevokeKey(ctx, args[0])
	if err != nil {
		return err
	}
	if n == 0 {
		return human.Errorf(human.NotFound, "no valid key has the name %q; `deskbell keys list` shows them", args[0])
	}
	if s.json {
		return s.printJSON(struct {
			Name    string `json:"name"`
			Revoked int    `json:"revoked"`
		}{args[0], n})
	}
	s.printf("revoked %d of %s\n", n, visible(args[0]))
	return nil
}
