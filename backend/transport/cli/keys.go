package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
	"deskbell/backend/transport/client"
)

func (s *shell) keysCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "keys",
		Short: "Make, list and revoke agents' keys",
		Long: "Make, list and revoke agents' keys. To make and to revoke is an operator's, by a server that runs, and counts at once; sign in with\n" +
			"`deskbell login` first. To list works whether Deskbell runs on the data folder or not.",
	}
	add := s.operatorFlags(&cobra.Command{
		Use: "add NAME", Short: "Make a key for an agent and print it, once, as an operator", Args: cobra.ExactArgs(1),
		RunE: s.asOperator(s.addKey),
	}, "print one line of JSON")
	list := &cobra.Command{Use: "list", Short: "List the keys", Args: cobra.NoArgs, RunE: s.listKeys}
	s.jsonFlag(list, "print one line of JSON")
	revoke := s.operatorFlags(&cobra.Command{
		Use: "revoke NAME", Short: "Revoke all keys of an agent, as an operator", Args: cobra.ExactArgs(1),
		RunE: s.asOperator(s.revokeKeys),
	}, "print one line of JSON")
	c.AddCommand(add, list, revoke)
	return c
}

func (s *shell) addKey(ctx context.Context, operator *client.Client, args []string) error {
	key, err := operator.AddAgent(ctx, args[0])
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

func (s *shell) listKeys(c *cobra.Command, _ []string) error {
	dir, err := s.dir()
	if err != nil {
		return err
	}
	keys, err := s.Keys(c.Context(), dir)
	if err != nil {
		return err
	}
	all, err := keys.Keys(c.Context())
	if err = errors.Join(err, keys.Close()); err != nil {
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

func (s *shell) revokeKeys(ctx context.Context, operator *client.Client, args []string) error {
	if err := operator.RevokeAgent(ctx, args[0]); err != nil {
		return err
	}
	if s.json {
		return s.printJSON(map[string]string{"revoked": args[0]})
	}
	s.printf("revoked the keys of %s\n", visible(args[0]))
	return nil
}
