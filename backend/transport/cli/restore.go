package cli

import (
	"context"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
)

func (s *shell) restoreCommand() *cobra.Command {
	var folder, search string
	var all bool
	c := &cobra.Command{
		Use:   "restore [ID] [OPERATION...]",
		Short: "Restore a backup of Deskbell's data, all of it or single operations",
		Long: "Without arguments it lists the backups. With the ID of one it says what that has and how it differs from today, and changes nothing.\n" +
			"With operations it brings back those that are missing today, also while Deskbell runs. With --all it puts the whole backup in the\n" +
			"place of the data, which it keeps in a folder before-restore-TIME; Deskbell must not run.",
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			switch {
			case len(args) == 0 && !all:
				return s.listArchives(ctx, folder)
			case all && len(args) != 1:
				return human.Errorf(human.Invalid, "--all needs the ID of a backup and no operations; `deskbell restore` lists the backups")
			case all:
				return s.archivesAway(ctx, folder, ToReplace, func(archives Archives) error {
					r, err := archives.RestoreAll(ctx, args[0])
					if err != nil || s.json {
						return s.jsonOr(r, err)
					}
					s.printf("Restored %s: the database and %s. What was there is in %s.\n", visible(args[0]), files(r.Files), visible(r.Kept))
					return nil
				})
			}
			return s.archiving(ctx, folder, func(archives archiving) error { return s.restore(ctx, archives, args[0], search, args[1:]) })
		},
	}
	c.Flags().BoolVar(&all, "all", false, "restore everything: the database and all files")
	c.Flags().StringVar(&search, "search", "", "list only missing operations with this `TEXT` in their description, agent or id")
	c.Flags().StringVar(&folder, "from", "", "the `FOLDER` of the backups, instead of backup.folder")
	return s.operatorFlags(c, "print one line of JSON")
}

func (s *shell) jsonOr(v any, err error) error {
	if err != nil {
		return err
	}
	return s.printJSON(v)
}

func (s *shell) restore(ctx context.Context, archives archiving, id, search string, ops []string) error {
	if len(ops) > 0 {
		ids := make([]human.OperationID, len(ops))
		for i, op := range ops {
			ids[i] = human.OperationID(op)
		}
		r, err := archives.Restore(ctx, id, ids)
		if err != nil || s.json {
			return s.jsonOr(r, err)
		}
		s.printf("Restored %d operations and %s.\n", len(r.Operations), files(r.Files))
		return nil
	}
	d, err := archives.Show(ctx, id, search)
	if err != nil || s.json {
		return s.jsonOr(d, err)
	}
	a := d.Archive
	s.printf("%s, made %s by Deskbell %s (%s): %d operations, %d entries, %d recordings, %s, %s\n",
		visible(a.ID), local(a.At), visible(a.Version), a.Why, a.Database.Operations, a.Database.Entries, a.Database.Recordings, files(a.Files), size(a.Bytes))
	missing := "Missing today"
	if search != "" {
		missing += ", with this text"
	}
	s.printf("%s: %d. Only in today's database: %d. Changed since: %d.\n", missing, len(d.Missing)+d.More, d.Newer, d.Changed)
	w := s.columns()
	for _, m := range d.Missing {
		w.row("%s\t%s\t%s\t%s\t%s\n", visible(string(m.ID)), local(m.CreatedAt), m.State, oneLine(m.AgentID, 24), oneLine(m.Description, 70))
	}
	if err := w.flush(); err != nil {
		return err
	}
	s.note("`deskbell restore %s OPERATION` brings one back. `deskbell restore %[1]s --all` restores everything, while Deskbell does not run.", visible(a.ID))
	return nil
}
