package cli

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
	"deskbell/backend/queue/routing"
	"deskbell/backend/transport/client"
)

func (s *shell) joinCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "join LINK",
		Short: "Join a team by a one-time link",
		Long: "Join a team by the one-time link that its lead sent you. From the next start on, your agents' requests are in the queue of the\n" +
			"team, and you see and answer those of others. Deskbell has to run.",
		Args: cobra.ExactArgs(1),
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, args []string) error {
			state, err := operator.JoinTeam(ctx, args[0])
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(state)
			}
			s.printf("This desk is in the team %s as %s (%s). Start Deskbell again to connect.\n", visible(state.Team), visible(state.Member), visible(state.Role))
			return nil
		}),
	}
	return s.operatorFlags(c, "print how the desk stands as one line of JSON")
}

func (s *shell) teamCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "team",
		Short: "Say how this desk stands with its team",
		Args:  cobra.NoArgs,
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, _ []string) error {
			state, err := operator.Team(ctx)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(state)
			}
			s.printf("%s\n", teamLine(state, time.Now()))
			for _, l := range state.Later {
				s.printf("%s\n", laterLine(l))
			}
			return nil
		}),
	}
	c.AddCommand(s.teamCheckCommand(), s.teamMemberCommand(), s.teamRulesCommand())
	c.AddCommand(s.teamInviteCommand(), s.teamMembersCommand(), s.teamRemoveCommand(), s.teamLeaveCommand(), s.teamDiscardCommand())
	return s.operatorFlags(c, "print it as one line of JSON")
}

func (s *shell) teamCheckCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "check", Short: "Compare this desk's copy with the team's journal", Args: cobra.NoArgs,
		Long: "Compare this desk's copy with the team's journal, by counts and by a hash over the id, version and content of each event. Desks that have\n" +
			"the same print the same hash. It reads the whole journal, and exits with 1 if something differs. After this desk left its team it says what\n" +
			"it still has.",
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, _ []string) error {
			found, err := operator.CheckTeam(ctx)
			if err != nil {
				return err
			}
			if !found.Same && found.Team.Hash != "" {
				s.code = 1
			}
			if s.json {
				return s.printJSON(found)
			}
			s.printCopies("Here", found)
			for _, of := range []struct {
				what string
				ids  []human.OperationID
			}{{"missing here", found.Missing}, {"different", found.Different}, {"only here", found.OnlyHere}} {
				for _, id := range of.ids {
					s.printf("%s  %s\n", of.what, id)
				}
			}
			return nil
		}),
	}
	return s.operatorFlags(c, "print what was found as one line of JSON")
}

// printCopies prints what this desk has, and what the team's journal has, where it was read.
func (s *shell) printCopies(here string, found human.TeamCheck) {
	s.printCopy(here, found.Here)
	if found.Team.Hash != "" {
		s.printCopy("Team", found.Team)
	}
}

func (s *shell) printCopy(where string, c human.TeamCopy) {
	s.printf("%s  %s, %s, hash %s\n", where, counted(c.Operations, "request", "requests"), counted(c.Events, "event", "events"), c.Hash)
}

// keptLine says that a decision is kept.
func keptLine(id human.OperationID) string {
	return "This desk is offline. It waits on this desk and is sent once that is connected, unless another change comes first. To discard it: deskbell team discard " + string(id)
}

// laterLine is a decision that waits, or came too late.
func laterLine(l human.Later) string {
	does := map[human.Decided]string{human.Denies: "deny", human.Declines: "decline", human.HandsOver: "hand over to " + visible(l.To)}[l.Does]
	line := fmt.Sprintf("waits     %s  %s", l.Operation, does)
	if l.Late != nil {
		line = fmt.Sprintf("not sent  %s  %s: %s", l.Operation, does, visible(l.Late.Text))
	}
	if l.Description != "" {
		line += fmt.Sprintf("  %q", visible(l.Description))
	}
	if l.Text != "" {
		line += ": " + visible(l.Text)
	}
	return line
}

func (s *shell) teamDiscardCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "discard ID", Short: "Discard a denial, decline or hand-over that waits for the team", Args: cobra.ExactArgs(1),
		Long: "Discard what you decided about an operation while this desk was offline, so that it is not sent; or what came too late. `deskbell team` lists them.",
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, args []string) error {
			state, err := operator.DiscardLater(ctx, human.OperationID(args[0]))
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(state)
			}
			s.note("Discarded. It is not sent.")
			return nil
		}),
	}
	return s.operatorFlags(c, "print how the desk stands as one line of JSON")
}

func (s *shell) teamLeaveCommand() *cobra.Command {
	var how human.Leave
	c := &cobra.Command{
		Use: "leave", Short: "Leave the team", Args: cobra.NoArgs,
		Long: "Leave the team. This desk deletes its credentials, and keeps what it has of the team's requests and history, to be read. It prints how many requests and\n" +
			"events those are, with their hash, before and after. Start Deskbell again afterwards. A lead's `deskbell hub remove` ends the access for good.",
	}
	c.Flags().BoolVar(&how.Offline, "offline", false, "also while this desk is not connected: then it may lack changes of others, and the team changes of this desk")
	c.Flags().BoolVar(&how.Cancel, "cancel-open", false, "cancel the open requests of this desk's agents first")
	c.RunE = s.asOperator(func(ctx context.Context, operator *client.Client, _ []string) error {
		done, err := operator.LeaveTeam(ctx, how)
		if err != nil {
			return err
		}
		if s.json {
			return s.printJSON(done)
		}
		if done.State.Team == "" {
			s.note("This desk is in no team, as if it had not joined.")
			return nil
		}
		s.printCopies("Before", done.Before)
		s.printCopy("After", done.After)
		if done.Canceled > 0 {
			s.printf("Canceled  %s of this desk's agents\n", counted(done.Canceled, "request", "requests"))
		}
		s.printf("This desk left the team %s. Start Deskbell again. To end its access at the hub, remove %s there: deskbell hub remove\n", visible(done.State.Team), visible(done.State.Member))
		return nil
	})
	return s.operatorFlags(c, "print what this desk keeps as one line of JSON")
}

func (s *shell) teamMemberCommand() *cobra.Command {
	var skills, languages, hours []string
	zone := ""
	c := &cobra.Command{
		Use: "member NAME", Short: "Change what the team knows of a member", Args: cobra.ExactArgs(1),
		Long: "Change a member's skills, languages, working hours or time zone: a lead of all members, others their own. What isn't given stays;\n" +
			"an empty value deletes.",
		Example: `  deskbell team member Mei --skills databases,billing --hours "mon-fri 09:00-17:30" --zone Europe/Berlin`,
	}
	c.Flags().StringSliceVar(&skills, "skills", nil, "what they can judge, such as databases,billing")
	c.Flags().StringSliceVar(&languages, "languages", nil, "which they read, such as en,zh-CN; none: any")
	c.Flags().StringArrayVar(&hours, "hours", nil, `when they work, such as "mon-fri 09:00-17:30"; more than once for more; none: always`)
	c.Flags().StringVar(&zone, "zone", "", "their time zone, such as Europe/Berlin; none: UTC")
	c.RunE = s.asOperator(func(ctx context.Context, operator *client.Client, args []string) error {
		var change routing.MemberChange
		given := c.Flags().Changed
		if given("skills") {
			change.Skills = &skills
		}
		if given("languages") {
			change.Languages = &languages
		}
		if given("zone") {
			change.Zone = &zone
		}
		if given("hours") {
			change.Hours = new([]routing.Hours)
			for _, text := range hours {
				if text == "" {
					continue
				}
				h, err := routing.ParseHours(text)
				if err != nil {
					return err
				}
				*change.Hours = append(*change.Hours, h)
			}
		}
		if change == (routing.MemberChange{}) {
			return human.Errorf(human.Invalid, "say what is different: --skills, --languages, --hours or --zone")
		}
		m, err := operator.SetTeamMember(ctx, args[0], change)
		if err != nil {
			return err
		}
		if s.json {
			return s.printJSON(m)
		}
		s.printf("%s is changed.\n", visible(m.Name))
		return nil
	})
	return s.operatorFlags(c, "print the member as one line of JSON")
}

func (s *shell) teamRulesCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "rules [FILE]", Short: "Print the team's rules, or replace them, as a lead", Args: cobra.MaximumNArgs(1),
		Long: "Print the team's rules: who is asked, and where two people approve (docs/routing.md). With a file, a lead replaces them; a file with\n" +
			"a mistake changes nothing.",
		Example: "  deskbell team rules > rules.toml\n  deskbell team rules rules.toml",
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, args []string) error {
			rules, err := operator.TeamRules(ctx)
			if err != nil {
				return err
			}
			if len(args) > 0 {
				text, err := os.ReadFile(args[0]) //nolint:gosec // the file that the operator names
				if err != nil {
					return human.Wrap(human.Invalid, err, "the file cannot be read: %v", err)
				}
				rules.Text = string(text)
				if rules, err = operator.SetTeamRules(ctx, rules); err != nil {
					return err
				}
			}
			switch {
			case s.json:
				return s.printJSON(rules)
			case len(args) > 0:
				s.note("The team goes by these rules.")
			case rules.Text == "":
				s.note("The team has no rules: everyone is suited to everything.")
			default:
				s.printf("%s\n", strings.TrimSuffix(visible(rules.Text), "\n"))
			}
			return nil
		}),
	}
	return s.operatorFlags(c, "print the rules as one line of JSON")
}

// teamLine says in words how a desk stands with its team.
func teamLine(t human.DeskState, now time.Time) string {
	who := fmt.Sprintf("%s (%s) of the team %s", visible(t.Member), visible(t.Role), visible(t.Team))
	switch {
	case t.Team == "":
		return "This desk is in no team."
	case t.Left:
		return "This desk left the team " + visible(t.Team) + ". Start Deskbell again."
	case t.Restart:
		return who + ", once Deskbell is started again"
	case t.Online:
		return who + ", connected for " + span(now.Sub(t.Since))
	}
	line := fmt.Sprintf("%s, offline for %s: %s", who, span(now.Sub(t.Since)), visible(t.Problem))
	if t.Behind > 0 {
		line += fmt.Sprintf("; %d changes are not here yet", t.Behind)
	}
	if t.Waiting > 0 {
		line += fmt.Sprintf("; %d requests wait here until then", t.Waiting)
	}
	return line
}
