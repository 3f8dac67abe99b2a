package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	driversqlite "modernc.org/sqlite"

	"deskbell/backend/human"
)

// keptAs is the name of the copy of a database that was made before its format became a newer one.
func keptAs(file string, format int) string { return file + ".format-" + strconv.Itoa(format) }

// keepBefore copies a database of an older format, before the first migration changes it, so that there is a way back to
// the older program. A new file and one of today's format need no copy. Copies of still older formats are deleted once the
// new one is whole. It blocks while it copies; without a copy there is no upgrade.
func keepBefore(ctx context.Context, conn *sql.Conn, file string, known int) error {
	var format int
	if err := conn.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&format); err != nil {
		return storageError(err, file)
	}
	if format == 0 || format >= known {
		return nil
	}
	whole, err := copyDatabase(ctx, conn, keptAs(file, format), format)
	if err != nil {
		return human.Wrap(human.Unavailable, err,
			"%s was not upgraded, because no copy of it could be made in its folder first (%s); free as much space as it takes, then start Deskbell again", file, reason(err))
	}
	if !whole {
		return nil // another process upgraded meanwhile, and made the copy
	}
	for older := range format {
		if err := os.Remove(keptAs(file, older)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return storageError(err, file)
		}
	}
	return nil
}

// copyDatabase writes the database that conn is of to a file, all of it or nothing. It returns false when the database's
// format is another one by now.
func copyDatabase(ctx context.Context, conn *sql.Conn, to string, format int) (whole bool, err error) {
	f, err := os.CreateTemp(filepath.Dir(to), filepath.Base(to)+".*.part") // mode 0600
	if err != nil {
		return false, err
	}
	part := f.Name()
	defer func() {
		if !whole {
			_ = os.Remove(part) // nothing may be left of it, and the first error is the one that counts
		}
	}()
	if err := f.Close(); err != nil {
		return false, err
	}
	if err := conn.Raw(func(c any) error { return backUp(ctx, c.(driver.Conn), part) }); err != nil {
		return false, err
	}
	copied, err := connect(part, 1)
	if err != nil {
		return false, err
	}
	var now int
	err = copied.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&now)
	if err = errors.Join(err, copied.Close()); err != nil || now != format {
		return false, err
	}
	return true, os.Rename(part, to)
}

// backUp copies all pages to a file, a few at a time, so that ctx can end it. SQLite syncs the file.
func backUp(ctx context.Context, c driver.Conn, to string) error {
	source, ok := c.(interface {
		NewBackup(dst string) (*driversqlite.Backup, error)
	})
	if !ok {
		return fmt.Errorf("the driver %T makes no backups", c)
	}
	b, err := source.NewBackup(address(to))
	if err != nil {
		return err
	}
	for more := true; more && err == nil; {
		if err = ctx.Err(); err == nil {
			more, err = b.Step(4096)
		}
	}
	return errors.Join(err, b.Finish())
}

// newer is the error for a database of a format newer than known. It names the copy from before the upgrade, if there is one.
func newer(file string, format, known int) error {
	for f := known; f > 0; f-- {
		kept := keptAs(file, f)
		info, err := os.Stat(kept)
		if err != nil {
			continue
		}
		return human.Errorf(human.Unavailable, "%s was written by a newer Deskbell (its format is %d, this one knows %d); start the newer Deskbell again. "+
			"Or return to the copy from before the upgrade, without anything newer: stop Deskbell, move %[1]s, %[1]s-wal and %[1]s-shm to another folder, "+
			"and copy %[4]s (of %[5]s) to %[1]s", file, format, known, kept, info.ModTime().Local().Format(time.DateTime))
	}
	return human.Errorf(human.Unavailable, "%s was written by a newer Deskbell (its format is %d, this one knows %d), and there is no copy from before an upgrade; "+
		"start the newer Deskbell, or give this one another data folder", file, format, known)
}
