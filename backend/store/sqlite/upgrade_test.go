package sqlite

import (
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/queue"
)

// older puts the database of testdata/NAME.db.gz into a new folder: one that an older Deskbell wrote, with two requests.
func older(t *testing.T, name string) (dir string) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".db.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, FileName), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// journalOf reads the journal of a database of any format.
func journalOf(t *testing.T, file string) (format int, entries []string) {
	t.Helper()
	db, err := connect(file, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(`PRAGMA user_version`).Scan(&format); err != nil {
		t.Fatal(err)
	}
	rows, err := db.Query(`SELECT format('%d %s %s %s', seq, operation_id, type, payload) FROM journal ORDER BY seq`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var entry string
		if err := rows.Scan(&entry); err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return format, entries
}

// An upgrade keeps a copy; the older program names it when it meets the newer database, and works on after what it says
// was done.
func TestUpgradeCanBeUndone(t *testing.T) {
	steps, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	const format = 7
	dir := older(t, "format-7")
	file := filepath.Join(dir, FileName)
	was, want := journalOf(t, file)
	if was != format || len(want) != 3 {
		t.Fatalf("the older database has format %d and the entries %q", was, want)
	}
	for _, left := range []int{3} { // of an upgrade before this one
		if err := os.WriteFile(keptAs(file, left), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	h := &history{TB: t, dir: dir, versions: map[human.OperationID]uint64{}}
	h.open(Options{})
	h.add("op_new", ring("after the upgrade"))
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if now, got := journalOf(t, file); now != len(steps) || !slices.Equal(got[:len(want)], want) || len(got) != len(want)+1 {
		t.Errorf("after the upgrade the format is %d and the journal\n%s\nwant\n%s", now, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	kept := keptAs(file, format)
	info, err := os.Stat(kept)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 && os.PathSeparator == '/' {
		t.Errorf("the copy has mode %v", mode)
	}
	if _, err := os.Stat(keptAs(file, 3)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an older copy is still there: %v", err)
	}
	if parts, _ := filepath.Glob(filepath.Join(dir, "*.part*")); len(parts) > 0 {
		t.Errorf("%q was left", parts)
	}

	_, err = open(t.Context(), dir, Options{}, steps[:format])
	wantKind(t, err, human.Unavailable)
	for _, text := range []string{"newer Deskbell", "before the upgrade", kept, file, FileName + "-wal", "stop Deskbell"} {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("the error does not say %q: %v", text, err)
		}
	}

	aside := t.TempDir()
	for _, name := range []string{FileName, FileName + "-wal", FileName + "-shm"} {
		if err := os.Rename(filepath.Join(dir, name), filepath.Join(aside, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if now, got := journalOf(t, file); now != format || !slices.Equal(got, want) {
		t.Errorf("back again the format is %d and the journal\n%s\nwant\n%s", now, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	h.open(Options{}) // and the newer program upgrades it again
	defer h.Close()
	h.wantIDs(queue.Filter{Text: "upgrade comes"}, idsOf(t, h.Store)[2])
}

// Without a copy there is no upgrade: here its name is taken by a folder.
func TestNoUpgradeWithoutACopy(t *testing.T) {
	dir := older(t, "format-7")
	file := filepath.Join(dir, FileName)
	if err := os.MkdirAll(filepath.Join(keptAs(file, 7), "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), dir, Options{})
	wantKind(t, err, human.Unavailable)
	if !strings.Contains(err.Error(), "was not upgraded") {
		t.Errorf("the error is %v", err)
	}
	if err := os.RemoveAll(keptAs(file, 7)); err != nil {
		t.Fatal(err)
	}
	h := &history{TB: t, dir: dir}
	h.open(Options{})
	defer h.Close()
	h.wantIDs(queue.Filter{Text: "升级之前"}, idsOf(t, h.Store)[0])
}

// idsOf are the operations of the journal's entries.
func idsOf(t *testing.T, s *Store) (ids []human.OperationID) {
	t.Helper()
	for e, err := range s.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, e.ID)
	}
	return ids
}

// Damage that only an upgrade meets ends the start as one that is found before it, and a repair is possible.
func TestDamageInAnUpgrade(t *testing.T) {
	for _, table := range []string{"journal", "operations", "decisions"} {
		t.Run(table, func(t *testing.T) {
			dir := older(t, "format-7")
			file := filepath.Join(dir, FileName)
			db, err := connect(file, 1)
			if err != nil {
				t.Fatal(err)
			}
			var page, size int64
			err = db.QueryRow(`SELECT rootpage, page_size FROM sqlite_schema, pragma_page_size WHERE name = ?`, table).Scan(&page, &size)
			if err = errors.Join(err, db.Close()); err != nil {
				t.Fatal(err)
			}
			w := &worked{TB: t, dir: dir}
			w.change(FileName, func(b []byte) []byte { clear(b[(page-1)*size : page*size]); return b })
			_, err = Open(t.Context(), dir, signing)
			var bad *Damaged
			if !errors.As(err, &bad) || !strings.HasPrefix(bad.Report.Found[0].Text, "SQLite says: ") {
				t.Fatalf("Open: %v", err)
			}
			if _, err := RepairDatabase(t.Context(), dir, epoch, true); err != nil {
				t.Fatalf("repair: %v", err)
			}
			s, err := Open(t.Context(), dir, signing)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// So does an entry that cannot be read, where an upgrade makes the lists new.
func TestADamagedEntryInAnUpgrade(t *testing.T) {
	w := work(t, 12, false)
	db, err := connect(filepath.Join(w.dir, FileName), 1)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(`UPDATE projected SET rules = 0`)
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	w.break1("please look at 3", `please" ook at 3`)
	_, err = Open(t.Context(), w.dir, signing)
	var bad *Damaged
	if !errors.As(err, &bad) || !strings.HasPrefix(bad.Report.Found[0].Text, "the journal is damaged at seq ") {
		t.Fatalf("Open: %v", err)
	}
}
