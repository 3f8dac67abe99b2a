package cli

import (
	"github.com/spf13/cobra"

	"deskbell/backend/human"
)

// A Repaired is what became, or would become, of a database that was repaired. It is printed as JSON, too.
type Repaired interface {
	// Lines say it in words, one thing each.
	Lines() []human.Sentence
}

func (s *shell) repairCommand() *cobra.Command {
	var yes, read bool
	var rescued []string
	c := &cobra.Command{
		Use:   "repair",
		Short: "Save what can be read of a damaged database",
		Long: "Save what can be read of a damaged database, while Deskbell does not run. Without --yes it only shows what would be saved\n" +
			"and what not. With --yes it puts the new database in the place of the old one, keeps the old files beside it, and writes\n" +
			"a report. Entries of the journal come back only where its chain of hashes proves them. Files that Deskbell saved beside the\n" +
			"database while it ran (deskbell.db.rescued-…) are used, too.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			dir, err := s.dir()
			if err != nil {
				return err
			}
			if read {
				return s.ReadLosses(c.Context(), dir)
			}
			repaired, err := s.Repair(c.Context(), dir, yes, rescued)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(repaired)
			}
			place, _ := s.place() // broken settings are no reason to repair nothing
			words := s.language(place)
			for _, line := range repaired.Lines() {
				s.printf("%s\n", visible(words.Say(line)))
			}
			if !yes {
				s.printf("%s\n", words.Say(human.Sayf("Nothing was changed. `deskbell repair --yes` does it.")))
			}
			return nil
		},
	}
	s.settingFlags(c)
	s.jsonFlag(c, "print the report as one line of JSON")
	c.Flags().BoolVar(&read, "noted", false, "note that you read what doctor says is missing; repair nothing")
	c.Flags().BoolVar(&yes, "yes", false, "put the repaired database in place")
	c.Flags().StringArrayVar(&rescued, "rescued", nil, "use this file, too, which Deskbell saved in another folder; may be repeated")
	c.MarkFlagsMutuallyExclusive("noted", "yes")
	return c
}
