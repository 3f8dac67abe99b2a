package app

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/store/archive"
	"deskbell/backend/store/datadir"
	"deskbell/backend/store/receiptkeys"
	"deskbell/backend/store/settings"
	"deskbell/backend/store/sqlite"
	"deskbell/backend/transport/api"
	"deskbell/backend/transport/cli"
)

// archived is the database as backups know it.
type archived struct{ *sqlite.Store }

// OpenCopy implements archive.Journal.
func (archived) OpenCopy(ctx context.Context, dir string) (archive.Copy, error) {
	c, err := sqlite.OpenCopy(ctx, dir)
	if err != nil {
		return nil, err // not a nil *sqlite.Copy, which would be no nil archive.Copy
	}
	return c, nil
}

// Compare implements archive.Journal.
func (a archived) Compare(ctx context.Context, c archive.Copy, search string) (human.ArchiveDifference, error) {
	return a.Store.Compare(ctx, c.(*sqlite.Copy), search)
}

// Import implements archive.Journal.
func (a archived) Import(ctx context.Context, c archive.Copy, id human.OperationID, now time.Time) error {
	return a.Store.Import(ctx, c.(*sqlite.Copy), id, now)
}

// archivesOf are the backups of a data folder, by the settings as they are.
func archivesOf(dir, version string, journal archive.Journal, now func() settings.Settings, log *slog.Logger) *archive.Service {
	return archive.New(archive.Options{
		Dir: dir, Version: version, Journal: journal, Inspect: sqlite.InspectCopy, Now: time.Now, Log: log,
		Rules: func() archive.Rules {
			b := now().Backup
			folder := b.Folder
			if rest, home := strings.CutPrefix(folder, "~"); home {
				if dir, err := os.UserHomeDir(); err == nil {
					folder = filepath.Join(dir, rest)
				}
			}
			return archive.Rules{Folder: folder, Daily: b.Daily, At: b.At, Days: b.Days, Weeks: b.Weeks, Months: b.Months}
		},
	})
}

// openArchives makes what makes and restores backups of the data folder.
func (a *App) openArchives() {
	a.archives = archivesOf(a.Dir, a.Version, archived{a.store}, a.now, a.log)
}

// archivesIn are the backups for the API.
func (a *App) archivesIn(folder string) api.Archives { return a.archives.In(folder) }

// finishRestore finishes a restore of everything that was interrupted. The settings were read before it, so this start ends.
func (a *App) finishRestore() error {
	finished, err := archive.Finish(a.Dir)
	if err == nil && finished {
		err = human.Errorf(human.Unavailable, "the restore of a backup was interrupted, and is finished now; start Deskbell again")
	}
	return err
}

// archivesAway are the backups of a data folder that no server runs on. With journal, it locks the folder and opens the database; with
// lock alone, it only locks it.
func archivesAway(version string) func(context.Context, cli.Place, string, cli.ArchiveNeeds) (cli.Archives, func() error, error) {
	return func(ctx context.Context, p cli.Place, folder string, needs cli.ArchiveNeeds) (_ cli.Archives, done func() error, err error) {
		log := slog.New(slog.DiscardHandler)
		done = func() error { return nil }
		if needs == cli.ToRead {
			return archivesOf(p.Dir, version, nil, p.Config.Settings, log).In(folder), done, nil
		}
		claim, err := datadir.Take(p.Dir, version)
		if err != nil {
			return nil, nil, err
		}
		if needs == cli.ToReplace {
			return archivesOf(p.Dir, version, nil, p.Config.Settings, log).In(folder), claim.Release, nil
		}
		if _, err := archive.Finish(p.Dir); err != nil {
			return nil, nil, errors.Join(err, claim.Release())
		}
		keys, err := receiptkeys.Open(p.Dir, time.Now)
		if err != nil {
			return nil, nil, errors.Join(err, claim.Release())
		}
		store, err := sqlite.Open(ctx, p.Dir, sqlite.Options{Key: keys.Current, Mirror: mirrorIn(p.Dir)})
		if err != nil {
			return nil, nil, errors.Join(err, claim.Release())
		}
		done = func() error { return errors.Join(store.Close(), claim.Release()) }
		return archivesOf(p.Dir, version, archived{store}, p.Config.Settings, log).In(folder), done, nil
	}
}
