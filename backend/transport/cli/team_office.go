package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
	"deskbell/backend/transport/client"
)

func (s *shell) teamInviteCommand() *cobra.Command {
	var q human.TeamInvite
	c := &cobra.Command{
		Use: "invite NAME", Short: "Print a link by which a new member joins the team, as a lead", Args: cobra.ExactArgs(1),
		Long: "Print a link by which a new member joins the team, as a lead; or, with your own name, one for another desk of yours. It works once,\n" +
			"for 24 hours. It has the team's key in it: send it by a way that only they read.",
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, args []string) error {
			q.Member = args[0]
			made, err := operator.InviteToTeam(ctx, q)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(made)
			}
			s.printf("%s\n", visible(made.Link))
			return nil
		}),
	}
	c.Flags().StringVar(&q.Role, "role", "operator", "agent (only agents work there), operator, lead or auditor (reads only); another desk of yours has your role")
	return s.operatorFlags(c, "print the invitation as one line of JSON")
}

func (s *shell) teamRemoveCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "remove NAME", Short: "Remove a member from the team, as a lead", Args: cobra.ExactArgs(1),
		Long: "Remove a member from the team, as a lead: the connections of their desks end at once, and their keys are never good again. What they\n" +
			"did stays. Links that they made stop working.",
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, args []string) error {
			removed, err := operator.RemoveFromTeam(ctx, args[0])
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(removed)
			}
			s.noteRemoved(args[0], removed.Desks)
			return nil
		}),
	}
	return s.operatorFlags(c, "print how many desks there were as one line of JSON")
}

func (s *shell) noteRemoved(member string, desks int) {
	s.note("%s is removed, with %s.", visible(member), counted(desks, "desk", "desks"))
}

func (s *shell) teamMembersCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "members", Short: "List who was invited, joined and was removed; for leads also the desks", Args: cobra.NoArgs,
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, _ []string) error {
			m, err := operator.TeamMembers(ctx)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(m)
			}
			s.printDesks(m.Desks)
			by := func(name string) string {
				if name == "" {
					return "on the hub's machine"
				}
				return "by " + visible(name)
			}
			for _, i := range m.Invitations {
				s.printf("%s  %s  invited %s, until %s\n", visible(i.Member), i.Role, by(i.By), i.Expires.Local().Format(time.DateTime))
			}
			s.printf("\nChanges, the latest first\n")
			for _, c := range m.Changes {
				line := visible(c.Member) + " was " + c.What + " " + by(c.By)
				if c.What == "joined" {
					line = visible(c.Member) + " joined"
				}
				s.printf("%s  %s\n", c.At.Local().Format(time.DateTime), line)
			}
			return nil
		}),
	}
	return s.operatorFlags(c, "print it as one line of JSON")
}
