package app_test

import (
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

// TestADamagedDatabaseIsRepaired opens an App whose database is missing, empty or damaged: it says so, names the backups, says what a repair
// would do without doing it, and opens once it is repaired.
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
			if good := app.GoodBackups(t.Context(), cli.Place{Dir: dir, Config: config}); len(good) != 1 || good[0].Database.Operations != 1 {
				t.Errorf("the backups are %+v", good)
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
		})
	}
}
