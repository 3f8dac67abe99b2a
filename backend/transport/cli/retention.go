package cli

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
	"deskbell/backend/record/retention"
	"deskbell/backend/transport/client"
)

func (s *shell) retentionCommand() *cobra.Command {
	c := s.operatorFlags(&cobra.Command{
		Use:   "retention",
		Short: "Show what retention would remove, and remove it now",
		Long: "Show what retention would remove now: pictures, what terminals printed, attached files and recordings that are older, or\n" +
			"take more space, than the settings retention.* allow, and what was asked and answered that is older. A Deskbell that runs\n" +
			"removes them once a day.",
		Args: cobra.NoArgs,
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, _ []string) error {
			return s.retained(operator.Retention(ctx, false))
		}),
	}, "print it as one line of JSON")
	run := &cobra.Command{Use: "run", Short: "Remove it now, for good", Args: cobra.NoArgs}
	yes := run.Flags().Bool("yes", false, "do not ask")
	run.RunE = s.asOperator(func(ctx context.Context, operator *client.Client, _ []string) error {
		if !*yes {
			plan, err := operator.Retention(ctx, false)
			if err != nil || plan.Off || len(plan.Items) == 0 {
				return s.retained(plan, err)
			}
			if is, err := s.confirmed(false, fmt.Sprintf("Remove %s for good?", amounts(plan)), "Nothing was removed."); err != nil || !is {
				return err
			}
		}
		return s.retained(operator.Retention(ctx, true))
	})
	c.AddCommand(s.operatorFlags(run, "print what was removed as one line of JSON"))
	return c
}

func (s *shell) deleteCommand() *cobra.Command {
	var yes, everywhere bool
	c := &cobra.Command{
		Use:   "delete ID...",
		Short: "Delete finished requests with all that belongs to them",
		Long: "Delete finished requests for good, with their answers, messages, recordings, pictures and files. Afterwards none of that is in\n" +
			"the data folder. The journal still proves that the requests were there, and says who deleted them and when. Older\n" +
			"backups still have them: they are listed. In a team the other desks keep them; with --everywhere a lead deletes them on all.",
		Args: cobra.RangeArgs(1, 100),
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, args []string) error {
			ids := make([]human.OperationID, len(args))
			for i := range args {
				ids[i] = human.OperationID(args[i])
			}
			where := ""
			if everywhere {
				where = " on all desks of the team"
			}
			if is, err := s.confirmed(yes, fmt.Sprintf("Delete %d requests with all that belongs to them%s, for good?", len(ids), where), "Nothing was deleted."); err != nil || !is {
				return err
			}
			d, err := operator.Delete(ctx, ids, everywhere)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(d)
			}
			s.printf("Deleted: %d\n", len(d.Operations))
			if len(d.Copies.Backups)+len(d.Copies.Files) > 0 {
				s.printf("Older copies still have them. Delete those that you do not need, when there is a new backup:\n")
			}
			for _, id := range d.Copies.Backups {
				s.printf("  deskbell backup delete %s\n", visible(id))
			}
			for _, path := range d.Copies.Files {
				s.printf("  %s\n", visible(path))
			}
			return nil
		}),
	}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	c.Flags().BoolVar(&everywhere, "everywhere", false, "on all desks of the team; those that are not connected delete them when they connect")
	return s.operatorFlags(c, "print what was deleted, and which copies have it, as one line of JSON")
}

// confirmed asks whether to do what cannot be undone, unless yes says so. Where there is no terminal to ask in, it is an error.
func (s *shell) confirmed(yes bool, question, not string) (bool, error) {
	if yes {
		return true, nil
	}
	if !s.interactive() {
		return false, human.Errorf(human.Invalid, "what is removed is gone for good; confirm it with --yes")
	}
	_, _ = fmt.Fprintf(s.err, "%s [y/N] ", question) // there is nowhere else to ask
	answer := bufio.NewScanner(s.in)
	if answer.Scan() && strings.EqualFold(strings.TrimSpace(answer.Text()), "y") {
		return true, nil
	}
	s.note("%s", not)
	s.code = exitNo
	return false, answer.Err()
}

// retained prints what would be removed, or was.
func (s *shell) retained(p retention.Removal, err error) error {
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(p)
	}
	switch {
	case p.Off:
		s.printf("Retention is off: nothing is removed. The settings retention.* turn it on.\n")
	case len(p.Items) == 0:
		s.printf("There is nothing to remove.\n")
	default:
		s.printf("%s\n", amounts(p))
	}
	s.printf("Recordings and attached files take %s.\n", size(p.Bytes))
	w := s.columns()
	for _, i := range p.Items {
		w.row("  %s\t%s\t%s\t%s\tended %s\t%s\n", i.What, visible(cmp.Or(string(i.Recording), string(i.File))), visible(string(i.Operation)), size(i.Bytes), local(i.Ended), i.Why)
	}
	if p.More > 0 {
		w.row("  and %d more\n", p.More)
	}
	return w.flush()
}

// amounts are what a plan removes, in words.
func amounts(p retention.Removal) string {
	var parts []string
	for _, n := range []struct {
		retention.RemovalCount
		one, many string
	}{{p.Pictures, "recording's pictures", "recordings' pictures"}, {p.Attachments, "attached file", "attached files"}, {p.Recordings, "whole recording", "whole recordings"}, {p.Requests, "request's words", "requests' words"}} {
		name := n.many
		if n.Count == 1 {
			name = n.one
		}
		if n.Count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s (%s)", n.Count, name, size(n.Bytes)))
		}
	}
	return strings.Join(parts, ", ")
}
