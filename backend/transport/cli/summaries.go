package cli

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
	"deskbell/backend/summary"
	"deskbell/backend/transport/client"
)

func (s *shell) summarizeCommand() *cobra.Command {
	var r summary.DraftRequest
	c := &cobra.Command{
		Use: "summarize RECORDING", Short: "Try a summarizer on a recording, as an operator; nothing is kept or sent to the agent", Args: cobra.ExactArgs(1),
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, args []string) error {
			sum, err := operator.TrySummarizer(ctx, human.RecordingID(args[0]), r)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(sum)
			}
			return s.summarized(sum)
		}),
	}
	f := c.Flags()
	f.StringVar(&r.With, "with", "", "the summarizer's name, one of `deskbell summarizers`; default: the one for such operations")
	f.StringVar(&r.Language, "language", "", "en or zh-CN; default: as in the settings")
	f.StringVar(&r.Consent, "consent", "", "agree that its input is sent to another machine: once, or always for the operation's project")
	return s.operatorFlags(c, "print the summary as one line of JSON")
}

// summarized prints a draft.
func (s *shell) summarized(sum human.Summary) error {
	if sum.State != human.SummaryDone {
		return human.Errorf(human.Unavailable, "%s made no summary: %s", sum.Summarizer, cmp.Or(sum.Problem, string(sum.State)))
	}
	s.printf("%s\n\n%s\n", oneLine(sum.Report.Line, 400), visible(sum.Report.Text))
	s.findings("Findings", sum.Report.Findings)
	s.findings("Suggestions", sum.Report.Suggestions)
	for _, d := range sum.Dropped {
		s.note("Left out, because %s: %s", oneLine(d.Why, 200), oneLine(d.Text, 400))
	}
	s.note("%s, in %s.", visible(sum.Summarizer), time.Duration(sum.Took).Round(time.Millisecond))
	if sum.Model != "" {
		s.note("%s: %d tokens in, %d out.", visible(sum.Model), sum.TokensIn, sum.TokensOut)
	}
	return nil
}

func (s *shell) findings(title string, list []human.Finding) {
	if len(list) == 0 {
		return
	}
	s.printf("\n%s\n", title)
	for i, f := range list {
		var rests []string
		for _, ref := range f.Evidence {
			rests = append(rests, string(ref.Kind)+" "+ref.ID)
		}
		s.printf("%3d. %s\n     %s, rests on %s\n", i+1, oneLine(f.Text, 500), visible(string(f.Kind)), oneLine(cmp.Or(strings.Join(rests, ", "), "nothing"), 300))
	}
}

func (s *shell) summarizersCommand() *cobra.Command {
	return s.operatorFlags(&cobra.Command{
		Use: "summarizers", Short: "List summarizers, how operators used the drafts of each, and those with errors", Args: cobra.NoArgs,
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, _ []string) error {
			all, err := operator.Summarizers(ctx)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(all)
			}
			w := s.columns()
			w.row("NAME\tREADS\tSENDS TO\tDRAFTS\tKEPT\tEDITED\tREMOVED\tADDED\n")
			for _, k := range all.Summarizers {
				var reads []string
				for _, source := range k.Sources {
					reads = append(reads, string(source))
				}
				w.row("%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\n", visible(k.Name), visible(strings.Join(reads, ", ")), visible(cmp.Or(k.Sends, "nobody")),
					k.Score.Drafts, k.Score.Kept, k.Score.Edited, k.Score.Cut, k.Score.Added)
			}
			err = w.flush()
			for _, p := range all.Problems {
				s.note("%s cannot be used: %s", visible(p.Name), oneLine(p.Text, 400))
			}
			s.note("Your own ones go into %s.", visible(all.Folder))
			return err
		}),
	}, "print all as one line of JSON")
}
