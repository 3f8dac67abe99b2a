package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"path"

	"deskbell/backend/human"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// applicationID marks the file as Deskbell's ("Dbel"), for us and for the file command.
const applicationID = 0x4462656c

// migrations returns the text of each migration; the first takes an empty file to version 1. A
// migration that was released never changes.
func migrations() ([]string, error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(names))
	for i, name := range names {
		if want := fmt.Sprintf("%04d_", i+1); path.Base(name)[:len(want)] != want {
			return nil, fmt.Errorf("migration %s stands where %s is due", name, want)
		}
		text, err := migrationFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		texts[i] = string(text)
	}
	return texts, nil
}

// checkOwner returns an error when the file is another program's or a newer Deskbell's. It changes
// nothing, so that pointing Deskbell at a stranger's file does no harm.
func checkOwner(ctx context.Context, conn *sql.Conn, file string, known int) error {
	var app, version, tables int
	err := conn.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id),
		(SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)`).Scan(&app, &version, &tables)
	if err != nil {
		return storageError(err, file)
	}
	if app != applicationID && (app != 0 || tables > 0) {
		return human.Errorf(human.Unavailable, "%s is another program's database; move it away or give Deskbell another data folder", file)
	}
	if version > known {
		return newer(file, version, known)
	}
	return nil
}

// migrate brings the file to the newest version, one transaction per step.
func migrate(ctx context.Context, conn *sql.Conn, file string, steps []string) error {
	for {
		done, err := migrateOnce(ctx, conn, steps)
		if err != nil {
			return storageError(err, file)
		}
		if done {
			return nil
		}
	}
}

func migrateOnce(ctx context.Context, conn *sql.Conn, steps []string) (done bool, err error) {
	var version int
	if err := conn.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version); err != nil {
		return false, err
	}
	if version >= len(steps) {
		return true, nil
	}
	err = inTransaction(ctx, conn, func() error {
		// Another process may have taken this step while we waited for the lock.
		if err := conn.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version); err != nil || version >= len(steps) {
			return err
		}
		if _, err := conn.ExecContext(ctx, steps[version]); err != nil {
			return fmt.Errorf("migration %d: %w", version+1, err)
		}
		_, err := conn.ExecContext(ctx, fmt.Sprintf(`PRAGMA application_id = %d; PRAGMA user_version = %d`, applicationID, version+1))
		return err
	})
	return false, err
}

// inTransaction runs do between BEGIN IMMEDIATE and COMMIT, or rolls back.
func inTransaction(ctx context.Context, conn *sql.Conn, do func() error) error {
	if _, err := conn.ExecContext(ctx, `BEGIN IMMEDIATE`); err != nil {
		return err
	}
	err := do()
	if err == nil {
		_, err = conn.ExecContext(ctx, `COMMIT`)
	}
	if err != nil {
		// SQLite has rolled back by itself after some errors; then this one fails and does no harm.
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), `ROLLBACK`)
	}
	return err
}
