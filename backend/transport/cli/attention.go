package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"deskbell/backend/transport/client"
)

func (s *shell) attentionCommand() *cobra.Command {
	var days int
	c := &cobra.Command{
		Use: "attention", Short: "Interruptions and time of people, spent and spared, and questions that never changed an outcome", Args: cobra.NoArgs,
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, _ []string) error {
			a, err := operator.Attention(ctx, days, time.Now().Format("-07:00"))
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(a)
			}
			return s.showAttention(a)
		}),
	}
	c.Flags().IntVar(&days, "days", 30, "the number of days, today included")
	return s.operatorFlags(c, "print the figures as one line of JSON")
}

func (s *shell) showAttention(a client.Attention) error {
	millis := func(n int64) string { return span(time.Duration(n) * time.Millisecond) }
	s.printf("%d interruptions in %d days", a.Interruptions, len(a.Days))
	if a.Before != nil {
		s.printf(", %d in as many days before", a.Before.Interruptions)
	}
	s.printf("\n%s spent on %d measured of %d answers\n", millis(a.Spent), a.Measured, a.Answered)
	s.printf("%s saved by %d rule hits and %d runs (an estimate", millis(a.Saved), a.RuleHits, a.Runs)
	if a.Unpriced > 0 {
		s.printf("; %d left out, too few were measured by hand", a.Unpriced)
	}
	s.printf(")\n")
	for _, part := range []struct{ title, by string }{{"By kind", "kind"}, {"By agent", "agent"}} {
		list := a.Kinds
		if part.by == "agent" {
			list = a.Agents
		}
		if len(list) == 0 {
			continue
		}
		s.printf("\n%s\n", part.title)
		w := s.columns()
		for _, g := range list {
			w.row("  %s\t%d\t%s spent\t%s saved\n", oneLine(g.Name, 40), g.Interruptions, millis(g.Spent), millis(g.Saved))
		}
		if err := w.flush(); err != nil {
			return err
		}
	}
	s.printf("\nQuestions that never changed an outcome: %d\n", len(a.Questions))
	for _, q := range a.Questions {
		s.printf("  %s (%s): %s, %s\n", oneLine(q.Call, 120), oneLine(q.Agent, 40), visible(string(q.Answer)), times(q.Times))
		if q.WhyNot == "" {
			s.printf("    a rule would have decided %d: allowed %d, denied %d, not answered %d\n", q.Replay.Covered, q.Replay.Allowed, q.Replay.Denied, q.Replay.Unanswered)
		} else {
			s.printf("    no rule is offered: %s (would have covered: allowed %d, denied %d)\n", visible(string(q.WhyNot)), q.Replay.Allowed, q.Replay.Denied)
		}
	}
	return nil
}
