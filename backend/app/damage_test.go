package app_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deskbell/backend/app"
	"deskbell/backend/human"
	"deskbell/backend/store/settings"
	"deskbell/backend/store/sqlite"
	"deskbell/backend/transport/cli"
)

// breakTable makes the first page of a table unreadable.
func breakTable(name string) func(file string) error {
	return func(file string) error {
		db, err := sql.Open("sqlite", file)
		if err != nil {
			return err
		}
		var page, size int64
		err = db.QueryRow(`SELECT rootpage, page_size FROM sqlite_schema, pragma_page_size WHERE name = ?`, name).Scan(&page, &size)
		if err = errors.Join(err, db.Close()); err != nil {
			return err
		}
		f, err := os.OpenFile(file, os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteAt(make([]byte, size), (page-1)*size)
			err = errors.Join(err, f.Close())
		}
		return err
	}
}

// TestADamagedDatabaseIsRepaired opens an App whose database is missing, empty or damaged: it says so, names the backups, says what a repair
// would do without doing it, and opens once it is repaired, or once a backup is restored, with the damaged file kept.
func TestADamagedDatabaseIsRepaired(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		damage func(file string) error
		says   string
		back   bool
	}{
		"missing": {os.Remove, "the file is missing", false},
		"empty":   {func(file string) error { return os.Truncate(file, 0) }, "the file is empty", false},
		"damaged": {func(file string) error {
			b, err := os.ReadFile(file)
			if err == nil {
				copy(b, "no database here")
				err = os.WriteFile(file, b, 0o600)
			}
			return err
		}, "does not begin as a database does", true},
		"damaged in a table that only the app reads": {breakTable("gate_rules"), "SQLite says: ", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			bot := key(t, dir, "bot")
			s := serve(t, dir, nil)
			newCaller(t, s.url, bot).good(t, "POST", "/api/human/invoke", map[string]any{"action_type": "feedback", "description": "kept"}, nil)
			operator(t, s.url, s.code).good(t, "POST", "/api/archives", map[string]any{}, nil)
			s.stop(t)
			file := filepath.Join(dir, sqlite.FileName)
			if err := tt.damage(file); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(file)
			config, err := settings.Load(settings.Options{Dir: dir, Flags: map[string]string{"server.addr": "127.0.0.1:0"}})
			if err != nil {
				t.Fatal(err)
			}
			open := func() ([]human.Sentence, error) {
				a, err := app.Open(t.Context(), app.Config{Dir: dir, Config: config, Version: "1.0-test"})
				if err != nil {
					return app.Damage(err), err
				}
				return nil, a.Close()
			}
			found, err := open()
			if len(found) == 0 || !strings.Contains(found[0].Text, tt.says) {
				t.Fatalf("it says %v, %v", found, err)
			}
			place := cli.Place{Dir: dir, Config: config}
			good := app.GoodBackups(t.Context(), place)
			if len(good) != 1 || good[0].Database.Operations != 1 {
				t.Fatalf("the backups are %+v", good)
			}
			for _, replace := range []bool{false, true} {
				lines, err := app.Repair(t.Context(), dir, "1.0-test", replace)
				if err != nil || strings.HasPrefix(lines[0].Text, "1 of 1 entries") != tt.back {
					t.Errorf("repair says %v, %v", lines, err)
				}
				if after, _ := os.ReadFile(file); !replace && string(after) != string(before) {
					t.Error("saying what a repair would do changed the file")
				}
			}
			if _, err := open(); err != nil {
				t.Errorf("after the repair: %v", err)
			}

			if err := tt.damage(file); err != nil {
				t.Fatal(err)
			}
			damaged, _ := os.ReadFile(file)
			if err := app.Restore(t.Context(), place, "1.0-test", "2001-01-01T000000Z"); human.KindOf(err) != human.NotFound {
				t.Errorf("a backup that is not there: %v", err)
			}
			if _, err := open(); app.Damage(err) == nil {
				t.Errorf("after a restore that failed: %v", err)
			}
			if err := app.Restore(t.Context(), place, "1.0-test", good[0].ID); err != nil {
				t.Errorf("the backup: %v", err)
			}
			if report, err := sqlite.Inspect(t.Context(), dir); err != nil || !report.Whole() || report.Entries != 1 {
				t.Errorf("after the restore: %+v, %v", report, err)
			}
			if _, err := open(); err != nil {
				t.Errorf("after the restore: %v", err)
			}
			kept, err := filepath.Glob(filepath.Join(dir, "before-restore-*", sqlite.FileName))
			if err != nil || (len(kept) == 0) != (name == "missing") {
				t.Errorf("what was there is in %v, %v", kept, err)
			}
			for _, file := range kept {
				if is, _ := os.ReadFile(file); string(is) != string(damaged) {
					t.Error("the damaged file is not kept as it was")
				}
			}
		})
	}
}
