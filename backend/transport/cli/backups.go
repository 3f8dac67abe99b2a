package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
)

// Backups are the copies in a data folder that were made before calls ran, whether a server runs on it or not.
type Backups interface {
	// List returns them, the newest first.
	List() ([]human.Backup, error)
	// Show returns one with what is in it.
	Show(id string) (human.BackupContents, error)
	// Restore puts back what it holds, and overwrites nothing: a Conflict names what is in the way.
	Restore(ctx context.Context, id string) (human.Restored, error)
}

func (s *shell) backupsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "backups",
		Short: "List, show and restore the backups that \"Back up first, then allow\" made",
		Long: "List, show and restore the backups that \"Back up first, then allow\" made. It works whether Deskbell runs on the data folder or not.\n" +
			"A backup that is a git stash is git's to restore: git stash list, git stash apply.",
	}
	list := &cobra.Command{Use: "list", Short: "List the backups, the newest first", Args: cobra.NoArgs, RunE: s.withBackups(s.listBackups)}
	show := &cobra.Command{Use: "show ID", Short: "List the files in a backup", Args: cobra.ExactArgs(1), RunE: s.withBackups(s.showBackup)}
	restore := &cobra.Command{
		Use: "restore ID", Short: "Restore the files in a backup to where they were", Args: cobra.ExactArgs(1),
		Long: "Restore the files in a backup to where they were, with their permissions and times. Nothing is overwritten: if something\n" +
			"else is in the way, the command names it and restores nothing.",
		RunE: s.withBackups(s.restoreBackup),
	}
	for _, sub := range []*cobra.Command{list, show, restore} {
		s.jsonFlag(sub, "print one line of JSON")
	}
	c.AddCommand(list, show, restore)
	return c
}

func (s *shell) withBackups(do func(context.Context, Backups, []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		dir, err := s.dir()
		if err != nil {
			return err
		}
		return do(c.Context(), s.Backups(dir), args)
	}
}

func (s *shell) listBackups(_ context.Context, backups Backups, _ []string) error {
	all, err := backups.List()
	if err != nil {
		return human.Wrap(human.Internal, err, "the backups cannot be listed: %v", err)
	}
	if s.json {
		return s.printJSON(struct {
			Backups []human.Backup `json:"backups"`
		}{append([]human.Backup{}, all...)})
	}
	if len(all) == 0 {
		s.note("There are no backups.")
		return nil
	}
	w := s.columns()
	for _, b := range all {
		w.row("%s\tmade %s\tkept until %s\t%s\t%s\t%s\n", visible(b.ID), local(b.At), local(b.Until), files(b.Files), size(b.Bytes), oneLine(b.Tool, 40))
	}
	return w.flush()
}

func (s *shell) showBackup(_ context.Context, backups Backups, args []string) error {
	b, err := backups.Show(args[0])
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(b)
	}
	s.printf("%s, made %s before a call of %s, kept until %s\n%s\n%s, %s\n", visible(b.ID), local(b.At), oneLine(b.Tool, 40), local(b.Until), visible(b.Path), files(b.Files), size(b.Bytes))
	w := s.columns()
	for _, i := range b.Items {
		name := visible(i.Path)
		if i.Link != "" {
			name += " -> " + visible(i.Link)
		}
		w.row("%s\t%s\t%s\n", i.Mode, size(i.Size), name)
	}
	return w.flush()
}

func (s *shell) restoreBackup(ctx context.Context, backups Backups, args []string) error {
	r, err := backups.Restore(ctx, args[0])
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(r)
	}
	s.printf("Restored %s, %s.\n", files(r.Files), size(r.Bytes))
	if r.Kept > 0 {
		s.printf("Already there, unchanged: %s.\n", files(r.Kept))
	}
	return nil
}

func files(n int) string {
	if n == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}

func local(t time.Time) string { return t.Local().Format(time.DateTime) }
