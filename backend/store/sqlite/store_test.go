package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
)

func TestModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	s, err := Open(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for path, want := range map[string]fs.FileMode{
		dir: 0o700, filepath.Join(dir, FileName): 0o600, filepath.Join(dir, FileName+"-wal"): 0o600, filepath.Join(dir, FileName+"-shm"): 0o600,
	} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", path, got, want)
		}
	}
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "5000", "application_id": fmt.Sprint(applicationID), "user_version": "23"} {
		var got string
		err := s.do(t.Context(), func(ctx context.Context, w *writer) error {
			return w.conn.QueryRowContext(ctx, "PRAGMA "+pragma).Scan(&got)
		})
		if err != nil || got != want {
			t.Errorf("%s = %s, %v, want %s", pragma, got, err, want)
		}
	}
}

// The side files go when the last one closes, so that a copy of the one file is a copy of everything; beside it is only what says where it ends.
func TestCloseLeavesOneFile(t *testing.T) {
	h := newHistory(t, Options{})
	h.add("op_1", ring("x"))
	h.ids(queue.Filter{})
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(h.dir)
	if err != nil || len(files) != 2 || files[0].Name() != FileName || files[1].Name() != HeadName {
		t.Errorf("the folder has %v, %v", files, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	write := func(t *testing.T, dir, text string) {
		if err := os.WriteFile(filepath.Join(dir, FileName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	exec := func(t *testing.T, dir, text string) {
		db, err := connect(filepath.Join(dir, FileName), 1)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		prepare func(t *testing.T, dir string) (sub string)
		kind    human.ErrorKind
		says    []string
	}{
		"a file that is no database": {
			func(t *testing.T, dir string) string { write(t, dir, strings.Repeat("dear diary ", 1000)); return "" },
			human.Internal, []string{"damaged", "backup"},
		},
		"a database cut short": {
			func(t *testing.T, dir string) string {
				s, err := Open(t.Context(), dir, Options{})
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				text, err := os.ReadFile(filepath.Join(dir, FileName))
				if err != nil {
					t.Fatal(err)
				}
				write(t, dir, string(text[:5000]))
				return ""
			},
			human.Internal, []string{"damaged", "backup"},
		},
		"another program's database": {
			func(t *testing.T, dir string) string { exec(t, dir, `CREATE TABLE recipes (name TEXT)`); return "" },
			human.Unavailable, []string{"another program", "another data folder"},
		},
		"a newer Deskbell's": {
			func(t *testing.T, dir string) string {
				exec(t, dir, fmt.Sprintf(`PRAGMA application_id = %d; PRAGMA user_version = 99; CREATE TABLE x (y)`, applicationID))
				return ""
			},
			human.Unavailable, []string{"newer Deskbell", "99", "knows 23"},
		},
		"a folder under a file": {
			func(t *testing.T, dir string) string { write(t, dir, ""); return FileName + "/data" },
			human.Unavailable, []string{"permissions", "choose another folder"},
		},
		"a folder in the file's place": {
			func(t *testing.T, dir string) string {
				if err := os.Mkdir(filepath.Join(dir, FileName), 0o700); err != nil {
					t.Fatal(err)
				}
				return ""
			},
			human.Unavailable, []string{"is a directory", "choose another folder"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			dir = filepath.Join(dir, tt.prepare(t, dir))
			before, _ := os.ReadFile(filepath.Join(dir, FileName))
			s, err := Open(t.Context(), dir, Options{})
			if err == nil {
				s.Close()
			}
			wantKind(t, err, tt.kind)
			for _, text := range append(tt.says, dir) {
				if !strings.Contains(human.SafeText(err), text) {
					t.Errorf("%q does not say %q", human.SafeText(err), text)
				}
			}
			if after, _ := os.ReadFile(filepath.Join(dir, FileName)); string(after) != string(before) {
				t.Error("a file that was refused was changed")
			}
		})
	}
}

// Damage that shows only once the store is open is reported, not ignored.
func TestDamagedJournal(t *testing.T) {
	h := newHistory(t, Options{})
	h.add("op_1", ring("one"), asked("a"), asked("b"))
	h.add("op_2", ring("two"))
	h.reopen(Options{})
	if err := h.do(t.Context(), func(ctx context.Context, w *writer) error {
		_, err := w.conn.ExecContext(ctx, `DELETE FROM journal WHERE seq = 2; UPDATE journal SET payload = '{' WHERE seq = 4`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	var last error
	n := 0
	for _, err := range h.Read(t.Context(), 0) {
		last = err
		n++
	}
	wantKind(t, last, human.Internal)
	if n != 1 || !strings.Contains(human.SafeText(last), "entry 2 is missing") {
		t.Errorf("Read ends after %d with %v", n, last)
	}
	_, err := h.Operation(t.Context(), "op_2")
	wantKind(t, err, human.Internal)
	before := h.dump()
	wantKind(t, h.Rebuild(t.Context()), human.Internal)
	if !slices.Equal(before, h.dump()) {
		t.Error("a Rebuild that failed changed the projection")
	}
	h.versions["op_3"] = 0
	h.add("op_3", ring("and it goes on"))
	h.wantIDs(queue.Filter{Text: "goes"}, "op_3")
}

// Each older version of the file opens, keeps its journal and keys, and gets what later versions have.
// failedUpgrade has the last step of an upgrade fail halfway: nothing of that step stays, and the copy from before is there.
func failedUpgrade(t *testing.T, dir string, version int, steps []string) {
	t.Helper()
	file := filepath.Join(dir, FileName)
	_, want := journalOf(t, file)
	broken := slices.Clone(steps)
	broken[len(broken)-1] += "\nDELETE FROM journal; INSERT INTO nowhere VALUES (1);"
	if s, err := open(t.Context(), dir, Options{}, broken); err == nil {
		_ = s.Close()
		t.Fatal("a broken step is no error")
	}
	if format, got := journalOf(t, file); format != len(steps)-1 || !slices.Equal(got, want) {
		t.Errorf("after a failed upgrade the format is %d and the journal %q", format, got)
	}
	if format, got := journalOf(t, keptAs(file, version)); format != version || !slices.Equal(got, want) {
		t.Errorf("the copy from before has the format %d and the journal %q", format, got)
	}
}

func TestMigrations(t *testing.T) {
	steps, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	// What the file of today says of a history, whatever version it was written as.
	h := newHistory(t, Options{})
	h.add("op_1", ring("one 一", details(`{ "a": "<text>" }`)))
	h.add("op_1", asked("two"), done("three"))
	h.add("op_2", ring("four"))
	var entries []human.Entry
	for e, err := range h.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
	for version := range steps {
		t.Run(fmt.Sprintf("version %d", version), func(t *testing.T) {
			old := &history{TB: t, dir: t.TempDir()}
			db, err := connect(filepath.Join(old.dir, FileName), 1, "journal_mode(WAL)")
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			exec := func(text string, args ...any) {
				t.Helper()
				if _, err := db.Exec(text, args...); err != nil {
					t.Fatal(err)
				}
			}
			for i, step := range steps[:version] {
				exec(step)
				exec(fmt.Sprintf(`PRAGMA application_id = %d; PRAGMA user_version = %d`, applicationID, i+1))
			}
			if version > 0 {
				exec(`INSERT INTO keys (id, name, hash, ephemeral, created_at) VALUES ('i', 'bot', x'00', 0, 5)`)
				exec(`INSERT INTO meta VALUES ('k', 'v')`)
				for _, e := range entries {
					var r row
					if err := r.encode(e); err != nil {
						t.Fatal(err)
					}
					exec(`INSERT INTO journal (seq, operation_id, version, type, at, payload, details, context) VALUES (?,?,?,?,?,?,?,?)`, e.Seq, e.ID, e.Version, e.Event.Type, micro(e.Event.At), r.payload, r.details, r.context)
				}
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if version > 0 {
				failedUpgrade(t, old.dir, version, steps)
			}
			for range 2 {
				old.open(Options{})
				defer old.Close()
				if version == 0 {
					if head := old.live.seq(); head != 0 {
						t.Errorf("a new file's head is %d", head)
					}
					return
				}
				var got []human.Entry
				for e, err := range old.Read(t.Context(), 0) {
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, e)
				}
				if !reflect.DeepEqual(got, entries) {
					t.Errorf("the journal reads\n%v\nwant\n%v", got, entries)
				}
				if !slices.Equal(old.dump(), h.dump()) {
					t.Errorf("the projection is\n%s\nwant\n%s", strings.Join(old.dump(), "\n"), strings.Join(h.dump(), "\n"))
				}
				keys, err := old.Keys(t.Context())
				if value, _ := old.Setting(t.Context(), "k"); err != nil || len(keys) != 1 || keys[0].Name != "bot" || value != "v" {
					t.Errorf("keys %v, setting %q, %v", keys, value, err)
				}
				if err := old.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// A migration that fails leaves the file at the version before.
func TestMigrationIsWhole(t *testing.T) {
	steps, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	h := newHistory(t, Options{})
	h.add("op_1", ring("x"))
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = open(t.Context(), h.dir, Options{}, append(slices.Clone(steps), `CREATE TABLE half (x); INSERT INTO nowhere VALUES (1)`))
	wantKind(t, err, human.Internal)
	h.open(Options{})
	var n int
	if err := h.reads.QueryRow(`SELECT count(*) FROM sqlite_schema WHERE name = 'half'`).Scan(&n); err != nil || n != 0 {
		t.Errorf("half a migration is there: %d, %v", n, err)
	}
	h.wantIDs(queue.Filter{}, "op_1")
}

// A projection of older rules, or one that is behind, is made anew.
func TestOpenRebuilds(t *testing.T) {
	for name, change := range map[string]string{
		"older rules": `UPDATE projected SET rules = 0; UPDATE operations SET state = 'odd'`,
		"behind":      `UPDATE projected SET seq = 1; DELETE FROM operations WHERE n > 1`,
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistory(t, Options{})
			h.add("op_1", ring("x"))
			h.add("op_2", ring("y"), done("z"))
			want := h.dump()
			if err := h.do(t.Context(), func(ctx context.Context, w *writer) error {
				_, err := w.conn.ExecContext(ctx, change)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			h.reopen(Options{})
			if got := h.dump(); !slices.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

func TestClose(t *testing.T) {
	h := newHistory(t, Options{})
	h.add("op_1", ring("x"))
	waited := make(chan error)
	go func() { waited <- h.Wait(context.Background(), 1000) }()
	var acked, refused sync.Map
	var wg sync.WaitGroup
	for n := range 40 {
		wg.Go(func() {
			id := human.OperationID(fmt.Sprintf("op_c%d", n))
			e := ring("closing")
			e.At = epoch
			switch _, err := h.Append(context.Background(), id, 0, e); {
			case err == nil:
				acked.Store(id, true)
			case human.KindOf(err) == human.Unavailable:
				refused.Store(id, true)
			default:
				t.Errorf("Append while closing: %v", err)
			}
		})
	}
	for range 3 {
		wg.Go(func() {
			if err := h.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
	wg.Wait()
	wantKind(t, <-waited, human.Unavailable)
	wantKind(t, h.try("op_1", done("late")), human.Unavailable)
	_, err := h.List(t.Context(), queue.Filter{})
	wantKind(t, err, human.Unavailable)
	_, err = h.Authenticate(t.Context(), keyPrefix+strings.Repeat("a", keyLength))
	wantKind(t, err, human.Unavailable)

	h.open(Options{})
	for _, id := range h.ids(queue.Filter{Text: "closing"}) {
		if _, ok := refused.Load(id); ok {
			t.Errorf("%s was refused and is there", id)
		}
		acked.Delete(id)
	}
	acked.Range(func(id, _ any) bool { t.Errorf("%s was acknowledged and is gone", id); return true })
}

// stuck holds the file's write lock as another process would, until the function it returns is called.
func (h *history) stuck() (release func()) {
	h.Helper()
	db, err := connect(h.file, 1, "busy_timeout(5000)")
	if err != nil {
		h.Fatal(err)
	}
	conn, err := db.Conn(context.Background())
	if err != nil {
		h.Fatal(err)
	}
	if _, err := conn.ExecContext(context.Background(), `BEGIN IMMEDIATE`); err != nil {
		h.Fatal(err)
	}
	return func() {
		if _, err := conn.ExecContext(context.Background(), `ROLLBACK`); err != nil {
			h.Error(err)
		}
		conn.Close()
		db.Close()
	}
}

// A lock that another process holds is waited for.
func TestBusy(t *testing.T) {
	h := newHistory(t, Options{})
	h.add("op_1", ring("one"))
	release := h.stuck()
	answered := make(chan error, 2)
	go func() { answered <- appendTo(h, context.Background(), "op_1", 1, done("two")) }()
	go func() { answered <- h.SetSetting(context.Background(), "k", "v") }()
	// Reading does not wait.
	h.wantIDs(queue.Filter{Text: "one"}, "op_1")
	select {
	case err := <-answered:
		t.Errorf("a write got past another's lock: %v", err)
	default:
	}
	release()
	for range 2 {
		if err := <-answered; err != nil {
			t.Error(err)
		}
	}
	h.wantIDs(queue.Filter{Text: "two"}, "op_1")
}

// One group: in order on one operation, without the append that lost its race, without the one whose caller
// went away, and all the others.
func TestGroup(t *testing.T) {
	h := newHistory(t, Options{})
	h.add("op_1", ring("one"))
	entered, release := make(chan bool), make(chan bool)
	var wg sync.WaitGroup
	wg.Go(func() {
		err := h.do(context.Background(), func(context.Context, *writer) error {
			close(entered)
			<-release
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-entered
	gone, leave := context.WithCancel(context.Background())
	errs := make([]error, 6)
	for i, f := range []func() error{
		func() error { return appendTo(h, context.Background(), "op_1", 1, asked("two")) },
		func() error { return appendTo(h, context.Background(), "op_1", 1, asked("lost")) },
		func() error { return appendTo(h, context.Background(), "op_1", 2, asked("three")) },
		func() error { return appendTo(h, gone, "op_1", 3, asked("gone")) },
		func() error { return appendTo(h, context.Background(), "op_2", 0, ring("new")) },
		func() error { return appendTo(h, context.Background(), "op_1", 3, done("four")) },
	} {
		wg.Go(func() { errs[i] = f() })
		for h.queue.len() <= i {
			runtime.Gosched()
		}
	}
	leave()
	close(release)
	wg.Wait()
	for i, err := range errs {
		switch i {
		case 1:
			wantKind(t, err, human.Conflict)
		case 3:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("who went away hears %v", err)
			}
		default:
			if err != nil {
				t.Errorf("append %d: %v", i, err)
			}
		}
	}
	entries, err := h.Operation(t.Context(), "op_1")
	if err != nil {
		t.Fatal(err)
	}
	op, err := human.Fold("op_1", entries)
	if err != nil || op.State != human.Completed || len(op.Messages) != 2 || op.Messages[1].Text != "three" {
		t.Errorf("the operation is %+v, %v", op, err)
	}
	if head := h.live.seq(); head != 5 {
		t.Errorf("the journal has %d entries, want 5", head)
	}
	h.wantIDs(queue.Filter{Text: "three"}, "op_1")
	h.wantIDs(queue.Filter{Text: "gone"})
	h.wantIDs(queue.Filter{Text: "new"}, "op_2")
}

func appendTo(h *history, ctx context.Context, id human.OperationID, expected uint64, e human.Event) error {
	e.At = epoch
	_, err := h.Append(ctx, id, expected, e)
	return err
}

func TestForeignWriter(t *testing.T) {
	h := newHistory(t, Options{})
	h.add("op_1", ring("one"))
	// No other program should append to the file; if one does, nothing is lost or overwritten.
	other, err := Open(t.Context(), h.dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Append(t.Context(), "op_1", 1, human.Event{Type: human.ClaimedBy, At: epoch, By: ann}); err != nil {
		t.Fatal(err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	wantKind(t, h.try("op_1", human.Event{Type: human.ClaimedBy, By: human.Actor{Role: human.Operator, Name: "Bob"}}), human.Conflict)
	h.versions["op_1"] = 2
	h.add("op_1", done("two"))
	n := uint64(0)
	for e, err := range h.Read(t.Context(), 0) {
		if n++; err != nil || e.Seq != n {
			t.Errorf("entry %v, %v, want seq %d", e, err, n)
		}
	}
	if n != 3 {
		t.Errorf("%d entries, want 3", n)
	}
}

func TestRebuildStops(t *testing.T) {
	h := newHistory(t, Options{})
	h.add("op_1", ring("one"))
	want := h.dump()
	ctx, cancel := context.WithCancel(context.Background())
	err := h.do(ctx, func(ctx context.Context, w *writer) error {
		cancel()
		return w.rebuild(ctx)
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled Rebuild returns %v", err)
	}
	if got := h.dump(); !slices.Equal(got, want) {
		t.Error("a cancelled Rebuild changed the projection")
	}
	h.add("op_2", ring("two"))
	h.wantIDs(queue.Filter{Text: "two"}, "op_2")
}

func TestKeys(t *testing.T) {
	now := epoch
	h := newHistory(t, Options{Now: func() time.Time { return now }})
	key, err := h.AddKey(t.Context(), "claude-1", false)
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Hour)
	// Another process, as deskbell keys is.
	cli, err := Open(t.Context(), h.dir, Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer cli.Close()
	second, err := cli.AddKey(t.Context(), "claude-1", true)
	if err != nil {
		t.Fatal(err)
	}
	other, err := cli.AddKey(t.Context(), "Z.9_", false)
	if err != nil {
		t.Fatal(err)
	}
	if key == second || len(key) != len("dbk_")+40 || !strings.HasPrefix(key, "dbk_") {
		t.Errorf("keys %q and %q", key, second)
	}
	for k, want := range map[string]string{key: "claude-1", second: "claude-1", other: "Z.9_"} {
		if name, err := h.Authenticate(t.Context(), k); err != nil || name != want {
			t.Errorf("Authenticate = %q, %v, want %q", name, err, want)
		}
	}
	flipped := []byte(key)
	flipped[len(flipped)-1] ^= 1
	for _, wrong := range []string{"", "dbk_", "dbk", key[4:], key[:len(key)-1], key + "a", string(flipped), "dbk_" + strings.Repeat("a", 40), strings.ToUpper(key), "dbk_" + key[4:12] + second[12:]} {
		_, err := h.Authenticate(t.Context(), wrong)
		wantKind(t, err, human.Unauthorized)
		if !strings.Contains(human.SafeText(err), "deskbell keys add") {
			t.Errorf("%q does not say what to do", human.SafeText(err))
		}
	}
	for _, name := range []string{"", ".a", "-", "a b", "a/b", "é", strings.Repeat("a", 65), "a\n"} {
		_, err := h.AddKey(t.Context(), name, false)
		wantKind(t, err, human.Invalid)
	}
	if _, err := h.AddKey(t.Context(), strings.Repeat("a", 64), false); err != nil {
		t.Error(err)
	}

	seen := now.Add(time.Minute)
	for _, at := range []time.Time{seen.Add(-time.Second), seen, seen.Add(-time.Hour)} {
		if err := h.TouchKeys(t.Context(), map[string]time.Time{"claude-1": at, "nobody": at}); err != nil {
			t.Fatal(err)
		}
	}
	now = now.Add(2 * time.Hour)
	if n, err := cli.RevokeKey(t.Context(), "claude-1"); err != nil || n != 2 {
		t.Errorf("RevokeKey = %d, %v", n, err)
	}
	if n, err := cli.RevokeKey(t.Context(), "claude-1"); err != nil || n != 0 {
		t.Errorf("RevokeKey again = %d, %v", n, err)
	}
	for _, k := range []string{key, second} {
		_, err := h.Authenticate(t.Context(), k)
		wantKind(t, err, human.Unauthorized)
		if !strings.Contains(human.SafeText(err), "revoked at 2026-01-02T06:04:05Z") {
			t.Errorf("%q does not say when it was revoked", human.SafeText(err))
		}
	}
	if name, err := h.Authenticate(t.Context(), other); err != nil || name != "Z.9_" {
		t.Errorf("another's key after a revocation: %q, %v", name, err)
	}

	keys, err := h.Keys(t.Context())
	if err != nil || len(keys) != 4 {
		t.Fatalf("Keys = %v, %v", keys, err)
	}
	first := keys[2]
	micros := func(at time.Time) time.Time { return at.Truncate(time.Microsecond) }
	want := human.Key{ID: key[4:12], Name: "claude-1", CreatedAt: micros(epoch), LastSeen: new(micros(seen)), RevokedAt: new(micros(now))}
	if !reflect.DeepEqual(first, want) {
		t.Errorf("key %+v, want %+v", first, want)
	}
	if !keys[3].Ephemeral || keys[0].LastSeen != nil || keys[0].RevokedAt != nil {
		t.Errorf("keys %+v", keys)
	}
	file, err := os.ReadFile(h.file + "-wal")
	if err != nil || strings.Contains(string(file), key[12:]) {
		t.Errorf("the secret is in the file, or the file cannot be read: %v", err)
	}
}

func TestSettings(t *testing.T) {
	h := newHistory(t, Options{})
	if value, err := h.Setting(t.Context(), "first run"); err != nil || value != "" {
		t.Errorf("Setting = %q, %v", value, err)
	}
	for _, value := range []string{"done", "", "again 再"} {
		if err := h.SetSetting(t.Context(), "first run", value); err != nil {
			t.Fatal(err)
		}
		if got, err := h.Setting(t.Context(), "first run"); err != nil || got != value {
			t.Errorf("Setting = %q, %v, want %q", got, err, value)
		}
	}
}

// Keys made while a server writes at full speed: both get through, nothing is lost.
func TestKeysBesideWrites(t *testing.T) {
	h := newHistory(t, Options{})
	cli, err := Open(t.Context(), h.dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer cli.Close()
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for n := range 25 {
				if err := appendTo(h, t.Context(), human.OperationID(fmt.Sprintf("op_%d_%d", w, n)), 0, ring("x")); err != nil {
					t.Errorf("Append: %v", err)
				}
			}
		})
	}
	wg.Go(func() {
		for n := range 10 {
			key, err := cli.AddKey(t.Context(), fmt.Sprintf("k%d", n), false)
			if err != nil {
				t.Errorf("AddKey: %v", err)
				return
			}
			if _, err := h.Authenticate(t.Context(), key); err != nil {
				t.Errorf("Authenticate: %v", err)
			}
		}
	})
	wg.Wait()
	if n := len(h.ids(queue.Filter{Limit: queue.MaxPage})); n != 200 {
		t.Errorf("%d operations, want 200", n)
	}
}

// A database that cannot be written is no database to start with: nothing could be acknowledged.
func TestAReadOnlyDatabaseDoesNotStart(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("permissions count for nothing here")
	}
	w := work(t, 3, false)
	if err := os.Chmod(filepath.Join(w.dir, FileName), 0o400); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), w.dir, signing)
	wantKind(t, err, human.Unavailable)
}
