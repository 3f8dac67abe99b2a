package cli

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
	"deskbell/backend/store/datadir"
)

// Archives are the backups of a data folder.
type Archives interface {
	State() (human.ArchiveState, error)
	Verify(ctx context.Context, id string) (human.Archive, error)
	// RestoreAll puts a backup in the place of what is there, which it keeps in a folder.
	RestoreAll(ctx context.Context, id string) (human.ArchiveRestored, error)
	archiving
}

// archiving is what a running server does itself, as it has the data folder's lock.
type archiving interface {
	Make(ctx context.Context, why string) (human.Archive, error)
	Show(ctx context.Context, id, search string) (human.ArchiveDifference, error)
	Restore(ctx context.Context, id string, ids []human.OperationID) (human.ArchiveRestored, error)
	Delete(id string) error
}

// ArchiveNeeds are what a command needs of a data folder.
type ArchiveNeeds int

// ToRead needs nothing, ToReplace the folder's lock, ToWrite its database as well.
const (
	ToRead ArchiveNeeds = iota
	ToReplace
	ToWrite
)

func (s *shell) backupCommand() *cobra.Command {
	var folder string
	c := &cobra.Command{
		Use:   "backup",
		Short: "Make a backup of Deskbell's data now, or list, verify and delete backups",
		Long: "Make a backup of Deskbell's data now: the database, attached files, recordings, settings and keys. The Deskbell that runs on the\n" +
			"data folder makes it; without one, this command does. It is verified before it counts.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.archiving(c.Context(), folder, func(all archiving) error {
				a, err := all.Make(c.Context(), human.ArchiveAsked)
				if err != nil {
					return err
				}
				if s.json {
					return s.printJSON(a)
				}
				s.printf("%s: %d operations, %s, %s; %s of it new. Verified.\n", visible(a.ID), a.Database.Operations, files(a.Files), size(a.Bytes), size(a.New))
				return nil
			})
		},
	}
	c.Flags().StringVar(&folder, "to", "", "the `FOLDER` for it, instead of backup.folder")
	s.operatorFlags(c, "print the backup as one line of JSON")
	list := &cobra.Command{
		Use: "list", Short: "List the backups, the newest first", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return s.listArchives(c.Context(), folder) },
	}
	verify := &cobra.Command{
		Use: "verify [ID]", Short: "Read all of a backup, by default the newest, and compare it with what was written", Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return s.verifyArchive(c.Context(), folder, args) },
	}
	remove := s.operatorFlags(&cobra.Command{
		Use: "delete ID", Short: "Delete a backup, and the files that no other one has", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return s.archiving(c.Context(), folder, func(all archiving) error {
				err := all.Delete(args[0])
				if err == nil && !s.json {
					s.printf("Deleted %s.\n", visible(args[0]))
				} else if err == nil {
					err = s.printJSON(map[string]string{"archive_id": args[0]})
				}
				return err
			})
		},
	}, "print one line of JSON")
	for _, sub := range []*cobra.Command{list, verify} {
		s.jsonFlag(sub, "print one line of JSON")
	}
	for _, sub := range []*cobra.Command{list, verify, remove} {
		sub.Flags().StringVar(&folder, "from", "", "the `FOLDER` of the backups, instead of backup.folder")
	}
	c.AddCommand(list, verify, remove)
	return c
}

// absolute is a folder as it is called everywhere; "" stays.
func absolute(folder string) (string, error) {
	if folder == "" {
		return "", nil
	}
	return filepath.Abs(folder)
}

// archivesAway calls do with the backups of the data folder, without a server.
func (s *shell) archivesAway(ctx context.Context, folder string, needs ArchiveNeeds, do func(Archives) error) error {
	folder, err := absolute(folder)
	if err != nil {
		return err
	}
	p, err := s.place()
	if err != nil {
		return err
	}
	all, done, err := s.Archives(ctx, p, folder, needs)
	if err != nil {
		return err
	}
	return errors.Join(do(all), done())
}

// archiving calls do with the server that runs on the data folder, as an operator; without one it does the same itself.
func (s *shell) archiving(ctx context.Context, folder string, do func(archiving) error) error {
	dir, err := s.dir()
	if err != nil {
		return err
	}
	if s.url == "" && !datadir.Held(dir) {
		return s.archivesAway(ctx, folder, ToWrite, func(all Archives) error { return do(all) })
	}
	if folder, err = absolute(folder); err != nil {
		return err
	}
	operator, err := s.operator(ctx)
	if err != nil {
		return err
	}
	return do(operator.Archives(folder))
}

func (s *shell) listArchives(ctx context.Context, folder string) error {
	return s.archivesAway(ctx, folder, ToRead, func(all Archives) error {
		st, err := all.State()
		if err != nil {
			return err
		}
		if s.json {
			return s.printJSON(st)
		}
		s.printf("%s\n", visible(st.Folder))
		if st.Problem != "" {
			s.note("%s", visible(st.Problem))
		}
		if len(st.Archives) == 0 {
			s.note("There are no backups. `deskbell backup` makes one.")
		}
		if st.SameDisk {
			s.note("The folder is on the same disk as the data: a disk that breaks takes both. The setting backup.folder names another.")
		}
		w := s.columns()
		for _, a := range st.Archives {
			if a.Problem != "" {
				w.row("%s\t%s\t\t\t\t\n", visible(a.ID), visible(a.Problem))
				continue
			}
			w.row("%s\t%s\t%s\t%d operations\t%s\t%s, %s new\n", visible(a.ID), local(a.At), a.Why, a.Database.Operations, files(a.Files), size(a.Bytes), size(a.New))
		}
		return w.flush()
	})
}

func (s *shell) verifyArchive(ctx context.Context, folder string, args []string) error {
	return s.archivesAway(ctx, folder, ToRead, func(all Archives) error {
		id := ""
		if len(args) > 0 {
			id = args[0]
		} else {
			st, err := all.State()
			if err != nil {
				return err
			}
			if len(st.Archives) == 0 {
				return human.Errorf(human.NotFound, "there is no backup in %s; `deskbell backup` makes one", st.Folder)
			}
			id = st.Archives[0].ID
		}
		a, err := all.Verify(ctx, id)
		if err != nil {
			return err
		}
		if s.json {
			return s.printJSON(a)
		}
		s.printf("%s is complete: %d operations, %s, %s.\n", visible(a.ID), a.Database.Operations, files(a.Files), size(a.Bytes))
		return nil
	})
}

// lateArchive is how old the last good backup may be before the doctor warns.
const lateArchive = 3 * 24 * time.Hour

// checkArchives is about the last good backup.
func checkArchives(ctx context.Context, program Program, p Place) []human.Diagnosis {
	if program.Archives == nil {
		return nil
	}
	name := human.Sayf("backups")
	all, done, err := program.Archives(ctx, p, "", ToRead)
	var st human.ArchiveState
	if err == nil {
		st, err = all.State()
		err = errors.Join(err, done())
	}
	fix := human.Sayf("run `deskbell backup`; it says what is wrong")
	switch {
	case err != nil:
		return []human.Diagnosis{human.Limited(name, human.Sayf("%s", human.Inner{Err: err}), fix)}
	case st.Problem != "":
		return []human.Diagnosis{human.Limited(name, human.Sayf("%s", st.Problem), fix)}
	case st.Last.IsZero() && !st.Daily:
		return []human.Diagnosis{human.Limited(name, human.Sayf("there is none, and backup.daily is off"), fix)}
	case st.Last.IsZero():
		return []human.Diagnosis{human.Healthy(name, human.Sayf("there is none yet; Deskbell makes the first when it has run for an hour"))}
	case time.Since(st.Last) > lateArchive:
		return []human.Diagnosis{human.Limited(name, human.Sayf("the last good one is of %s, in %s", local(st.Last), st.Folder), fix)}
	}
	d := human.Healthy(name, human.Sayf("the last good one is of %s, in %s", local(st.Last), st.Folder))
	if st.SameDisk {
		d = d.Hint(human.Sayf("this folder is on the same disk as the data; set backup.folder to one on another disk"))
	}
	return []human.Diagnosis{d}
}
