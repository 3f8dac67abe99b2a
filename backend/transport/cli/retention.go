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
			if !s.interactive() {
				return human.Errorf(human.Invalid, "what is removed is gone for good; confirm it with --yes")
			}
			_, _ = fmt.Fprintf(s.err, "Remove %s for good? [y/N] ", amounts(plan)) // there is nowhere else to ask
			answer := bufio.NewScanner(s.in)
			if !answer.Scan() || !strings.EqualFold(strings.TrimSpace(answer.Text()), "y") {
				s.note("Nothing was removed.")
				s.code = exitNo
				return answer.Err()
			}
		}
		return s.retained(operator.Retention(ctx, true))
	})
	c.AddCommand(s.operatorFlags(run, "print what was removed as one line of JSON"))
	return c
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
