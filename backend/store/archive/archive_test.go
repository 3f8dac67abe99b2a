package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deskbell/backend/gate/shell/paths"
	"deskbell/backend/human"
	"deskbell/backend/store/sqlite"
)

// asBackup makes the test's own binary a program that makes one backup of the data folder in it.
const asBackup = "DESKBELL_TEST_AS_BACKUP"

func TestMain(m *testing.M) {
	if dir := os.Getenv(asBackup); dir != "" {
		store, err := sqlite.Open(context.Background(), dir, sqlite.Options{})
		if err == nil {
			fmt.Println("begins")
			_, err = service(dir, store, nil).Make(context.Background(), human.ArchiveAsked)
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

type journal struct{ *sqlite.Store }

func (journal) OpenCopy(ctx context.Context, dir string) (Copy, error) {
	return sqlite.OpenCopy(ctx, dir)
}
func (j journal) Compare(ctx context.Context, c Copy, search string) (human.ArchiveDifference, error) {
	return j.Store.Compare(ctx, c.(*sqlite.Copy), search)
}
func (j journal) Import(ctx context.Context, c Copy, id human.OperationID, now time.Time) error {
	return j.Store.Import(ctx, c.(*sqlite.Copy), id, now)
}

func service(dir string, store *sqlite.Store, change func(*Options)) *Service {
	o := Options{
		Dir: dir, Version: "1.0-test", Inspect: sqlite.InspectCopy, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Rules: func() Rules { return Rules{Days: 7, Weeks: 4, Months: 6} },
	}
	if store != nil {
		o.Journal = journal{store}
	}
	if change != nil {
		change(&o)
	}
	return New(o)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

func open(t testing.TB, dir string) *sqlite.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, store.Close()) })
	return store
}

func ring(t testing.TB, store *sqlite.Store, id string) {
	t.Helper()
	at := time.Now()
	_, err := store.Append(t.Context(), human.OperationID(id), 0, human.Event{
		Type: human.Invoked, At: at, By: human.Actor{Role: human.Agent, Name: "bot"},
		Request: &human.Request{Kind: human.Approve, Description: "about " + id, AgentID: "bot", Priority: 5},
	})
	must(t, err)
}

// contents are all files below a folder but those that no backup has.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must(t, fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || leaves(path) {
			if d != nil && d.IsDir() && path != "." && leaves(path) {
				return fs.SkipDir
			}
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, path))
		all[path] = string(text)
		return err
	}))
	return all
}

// entries are the events of all operations, as their journal has them.
func entries(t testing.TB, store *sqlite.Store) (all []string) {
	t.Helper()
	for e, err := range store.Read(t.Context(), 0) {
		must(t, err)
		all = append(all, fmt.Sprintf("%d %s %d %s %s", e.Seq, e.ID, e.Version, e.Event.Type, e.Event.At))
	}
	return all
}

func taken(t testing.TB, dir string) (bytes int64, files int) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var info fs.FileInfo
			if info, err = d.Info(); err == nil {
				bytes, files = bytes+info.Size(), files+1
			}
		}
		return err
	}))
	return bytes, files
}

func data(t testing.TB, dir string) {
	store, err := sqlite.Open(t.Context(), dir, sqlite.Options{}) // first: files without a database are a loss
	must(t, err)
	must(t, store.Close())
	for i := range 20 {
		write(t, filepath.Join(dir, "recordings", "rec_1", "pictures", fmt.Sprintf("%064d", i)), strings.Repeat(fmt.Sprint(i), 5000))
	}
	write(t, filepath.Join(dir, "attachments", strings.Repeat("a", 64), "data"), "attached")
	write(t, filepath.Join(dir, "attachments", strings.Repeat("a", 64), "for-op_1"), "")
	write(t, filepath.Join(dir, "config.toml"), "[ui]\ntheme = \"dark\"\n")
	write(t, filepath.Join(dir, "receipt-keys.json"), "{}")
	for _, left := range []string{"lock", "deskbell.log", "deskbell.head", "browser/Default/Cookies", "backups/b_1/manifest.json"} {
		write(t, filepath.Join(dir, left), "left out")
	}
}

// Everything that was acknowledged before a backup began is in it, whatever is appended meanwhile, and restoring it gives exactly what
// was there: every entry and every file.
func TestABackupUnderLoadIsRestoredAsItWas(t *testing.T) {
	dir := t.TempDir()
	data(t, dir)
	store, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
	must(t, err)
	stop, stopped := make(chan bool), make(chan bool)
	var acknowledged atomic.Int64
	go func() {
		defer close(stopped)
		for n := 1; ; n++ {
			select {
			case <-stop:
				return
			default:
				ring(t, store, fmt.Sprintf("op_%d", n))
				acknowledged.Store(int64(n))
			}
		}
	}()
	for acknowledged.Load() < 50 {
		runtime.Gosched()
	}
	before := acknowledged.Load()
	s := service(dir, store, nil)
	a, err := s.Make(t.Context(), human.ArchiveAsked)
	close(stop)
	<-stopped
	must(t, err)
	if int64(a.Database.Operations) < before || a.VerifiedAt.IsZero() || a.Files != 24 {
		t.Errorf("%d were acknowledged before, and the backup has %+v", before, a)
	}
	all, files := entries(t, store), contents(t, dir)
	must(t, store.Close())

	write(t, filepath.Join(dir, "config.toml"), "changed")
	write(t, filepath.Join(dir, "recordings", "rec_2", "pictures", "new"), "new")
	must(t, os.RemoveAll(filepath.Join(dir, "attachments")))
	_, err = service(dir, nil, nil).RestoreAll(t.Context(), a.ID)
	must(t, err)
	if exists(filepath.Join(dir, "deskbell.head")) {
		t.Error("the note of the last entry of a newer database is still there")
	}
	back := open(t, dir)
	if got := entries(t, back); !slices.Equal(got, all[:a.Database.Head]) {
		t.Errorf("%d entries were restored, not the first %d of %d", len(got), a.Database.Head, len(all))
	}
	if now := contents(t, dir); fmt.Sprint(now) != fmt.Sprint(files) {
		t.Error("the files are not those of the backup")
	}
	kept, err := filepath.Glob(filepath.Join(dir, beforePrefix+"*", "recordings", "rec_2", "pictures", "new"))
	if err != nil || len(kept) != 1 {
		t.Errorf("what was there is kept as %v, %v", kept, err)
	}
	info, err := os.Stat(filepath.Join(s.folder(), a.ID, packedName))
	if must(t, err); runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

// What did not change is stored once for all backups, and a second backup reads only what is new.
func TestUnchangedFilesAreStoredOnce(t *testing.T) {
	dir := t.TempDir()
	data(t, dir)
	store := open(t, dir)
	s := service(dir, store, nil)
	first, err := s.Make(t.Context(), human.ArchiveAsked)
	must(t, err)
	bytes, files := taken(t, filepath.Join(s.folder(), objectsName))
	write(t, filepath.Join(dir, "recordings", "rec_1", "pictures", "more"), "one more")
	write(t, filepath.Join(dir, "recordings", "rec_1", "pictures", "same"), "one more")
	// One that has its size and time, and may therefore not be read: its bytes are others.
	quiet := filepath.Join(dir, "config.toml")
	info, err := os.Stat(quiet)
	must(t, err)
	write(t, quiet, strings.Repeat("x", int(info.Size())))
	must(t, os.Chtimes(quiet, info.ModTime(), info.ModTime()))
	second, err := s.Make(t.Context(), human.ArchiveAsked)
	must(t, err)
	more, filesNow := taken(t, filepath.Join(s.folder(), objectsName))
	if filesNow != files+1 || more-bytes > 100 || second.ID == first.ID || second.Files != first.Files+2 {
		t.Errorf("%d more files of %d bytes for one that is new; %+v", filesNow-files, more-bytes, second)
	}
	shas := func(id string) string {
		_, files, err := s.read(id)
		must(t, err)
		return files[slices.IndexFunc(files, func(f file) bool { return f.Path == "config.toml" })].SHA256
	}
	if shas(first.ID) != shas(second.ID) {
		t.Error("a file that did not change, by its size and time, was read again")
	}
	// Deleting the first leaves what the second has.
	must(t, s.Delete(first.ID))
	if _, err := s.Verify(t.Context(), second.ID); err != nil {
		t.Error(err)
	}
	must(t, s.Delete(second.ID))
	if _, files := taken(t, filepath.Join(s.folder(), objectsName)); files != 0 {
		t.Errorf("%d files are left that no backup has", files)
	}
}

// One byte that flips in any file of a backup is found, and nothing of that backup is restored.
func TestAFlippedByteIsFound(t *testing.T) {
	dir := t.TempDir()
	data(t, dir)
	store, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
	must(t, err)
	ring(t, store, "op_1")
	s := service(dir, store, nil)
	a, err := s.Make(t.Context(), human.ArchiveAsked)
	must(t, err)
	must(t, store.Close())
	var paths []string
	must(t, filepath.WalkDir(s.folder(), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && d.Name() != markerName && d.Name() != ".lock" {
			paths = append(paths, path)
		}
		return err
	}))
	before := contents(t, dir)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		must(t, err)
		// Some compressed files have bytes that say nothing: the middle always does. Of the manifest, a digit.
		at := len(text) / 2
		if filepath.Base(path) == manifestName {
			at = bytes.Index(text, []byte(`"head": `)) + len(`"head": `)
		}
		flipped := bytes.Clone(text)
		flipped[at] ^= 1
		must(t, os.WriteFile(path, flipped, 0o600))
		if _, err := s.Verify(t.Context(), a.ID); err == nil {
			t.Errorf("byte %d of %s was flipped, and nothing is found", at, path)
		}
		if _, err := service(dir, nil, nil).RestoreAll(t.Context(), a.ID); err == nil {
			t.Errorf("byte %d of %s was flipped, and the backup is restored", at, path)
		}
		must(t, os.WriteFile(path, text, 0o600))
	}
	if now := contents(t, dir); fmt.Sprint(now) != fmt.Sprint(before) || exists(filepath.Join(dir, restoreStage)) || exists(filepath.Join(dir, restoreNote)) {
		t.Error("something was changed")
	}
	if _, err := s.Verify(t.Context(), a.ID); err != nil {
		t.Error(err)
	}
}

// A backup that is killed at any moment leaves no backup and nothing that the next one does not delete.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	data(t, dir)
	for i := range 300 {
		write(t, filepath.Join(dir, "recordings", "rec_3", "pictures", fmt.Sprint(i)), strings.Repeat(fmt.Sprint(i), 3000))
	}
	store, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
	must(t, err)
	ring(t, store, "op_1")
	must(t, store.Close())
	killed := 0
	for _, after := range []time.Duration{0, 5, 15, 40, 80, 150, 250, 400} {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), asBackup+"="+dir)
		out, err := c.StdoutPipe()
		must(t, err)
		must(t, c.Start())
		if _, err := out.Read(make([]byte, 16)); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(after*time.Millisecond, func() { _ = c.Process.Kill() })
		if c.Wait() != nil {
			killed++
		}
		timer.Stop()
		s := service(dir, nil, nil)
		all, err := s.list()
		must(t, err)
		for _, a := range all {
			if _, err := s.Verify(t.Context(), a.ID); err != nil {
				t.Errorf("killed after %s ms: %v", after, err)
			}
		}
	}
	if killed == 0 {
		t.Error("no backup was killed")
	}
	s := service(dir, open(t, dir), nil)
	_, err = s.Make(t.Context(), human.ArchiveAsked)
	must(t, err)
	parts, err := filepath.Glob(filepath.Join(s.folder(), "*"+partEnd))
	if err != nil || len(parts) > 0 {
		t.Errorf("left: %v, %v", parts, err)
	}
}

// A restore that is interrupted after any of its moves is finished by the next start.
func TestARestoreIsFinished(t *testing.T) {
	for stop := range 6 {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "config.toml"), "old")
		write(t, filepath.Join(dir, databaseName), "old")
		write(t, filepath.Join(dir, "gone"), "old")
		write(t, filepath.Join(dir, restoreStage, databaseName), "new")
		write(t, filepath.Join(dir, restoreStage, "config.toml"), "new")
		r := restore{Before: beforePrefix + "-1", Old: []string{"config.toml", databaseName, "gone"}, New: []string{databaseName, "config.toml"}}
		must(t, writeJSON(filepath.Join(dir, restoreNote), r))
		part := r
		part.Old = r.Old[:min(stop, 3)]
		part.New = r.New[:max(0, stop-3)]
		for _, path := range part.Old {
			must(t, move(filepath.Join(dir, path), filepath.Join(dir, r.Before, path)))
		}
		for _, path := range part.New {
			must(t, move(filepath.Join(dir, restoreStage, path), filepath.Join(dir, path)))
		}
		if finished, err := Finish(dir); err != nil || !finished {
			t.Fatal(finished, err)
		}
		want := map[string]string{"config.toml": "new"}
		if now := contents(t, dir); fmt.Sprint(now) != fmt.Sprint(want) {
			t.Errorf("after %d moves: %v", stop, now)
		}
		for path, text := range map[string]string{databaseName: "new", r.Before + "/" + databaseName: "old", r.Before + "/gone": "old", r.Before + "/config.toml": "old"} {
			if is, err := os.ReadFile(filepath.Join(dir, path)); err != nil || string(is) != text {
				t.Errorf("after %d moves: %s is %q, %v", stop, path, is, err)
			}
		}
		if finished, err := Finish(dir); err != nil || finished {
			t.Error(finished, err)
		}
	}
}

// Over two years of daily backups, what the rules keep is there each day.
func TestThinning(t *testing.T) {
	times := map[string]time.Time{}
	start := time.Date(2025, 1, 1, 3, 0, 0, 0, time.Local)
	for day := range 730 {
		now := start.AddDate(0, 0, day)
		times[now.UTC().Format(timeFormat)] = now
		if day%3 == 0 { // and one that was asked for
			asked := now.Add(5 * time.Hour)
			times[asked.UTC().Format(timeFormat)] = asked
		}
		for _, id := range surplus(times, 7, 4, 6) {
			delete(times, id)
		}
		has := func(what string, within func(time.Time) bool) {
			for _, at := range times {
				if within(at) {
					return
				}
			}
			t.Fatalf("%s: no backup of %s", now, what)
		}
		for back := range min(day+1, 7) {
			d := now.AddDate(0, 0, -back)
			has(fmt.Sprintf("%d days before", back), func(at time.Time) bool { return at.YearDay() == d.YearDay() && at.Year() == d.Year() })
		}
		for back := range min(day/7+1, 4) {
			year, week := now.AddDate(0, 0, -7*back).ISOWeek()
			has(fmt.Sprintf("%d weeks before", back), func(at time.Time) bool { y, w := at.ISOWeek(); return y == year && w == week })
		}
		for back := range 6 {
			m := time.Date(now.Year(), now.Month()-time.Month(back), 1, 0, 0, 0, 0, time.Local)
			if m.Before(time.Date(2025, 1, 1, 0, 0, 0, 0, time.Local)) {
				break
			}
			has(fmt.Sprintf("%d months before", back), func(at time.Time) bool { return at.Year() == m.Year() && at.Month() == m.Month() })
		}
		if len(times) > 7+4+6+2 {
			t.Fatalf("%s: %d backups are kept", now, len(times))
		}
	}
	if ids := surplus(times, 0, 0, 0); len(times)-len(ids) < 1 || len(times)-len(ids) > 2 {
		t.Errorf("without rules %d of %d go: those of the last day stay", len(ids), len(times))
	}
}

// An operation that today's database lost comes back with its recording and its file, also while others come; what is there, or
// was never in the backup, does not.
func TestSingleOperations(t *testing.T) {
	dir := t.TempDir()
	data(t, dir)
	ctx := t.Context()
	store, err := sqlite.Open(ctx, dir, sqlite.Options{})
	must(t, err)
	ring(t, store, "op_1")
	rec := human.Recording{ID: "rec_1", OperationID: "op_1", State: human.RecordingStopped, StartedAt: time.Now()}
	must(t, store.Recordings().Create(ctx, rec))
	must(t, store.Recordings().Append(ctx, rec, []human.RecordedEvent{{Seq: 1, At: 1e9, Source: human.InputSource, Type: human.PointerDown}}))
	then, err := store.Operation(ctx, "op_1")
	must(t, err)
	a, err := service(dir, store, nil).Make(ctx, human.ArchiveAsked)
	must(t, err)
	before := contents(t, dir)
	must(t, store.Close())
	for _, lost := range []string{databaseName, "recordings", "attachments"} {
		must(t, os.RemoveAll(filepath.Join(dir, lost)))
	}
	_, err = sqlite.RepairDatabase(ctx, dir, time.Now(), true) // without it, Deskbell does not start
	must(t, err)
	now := open(t, dir)
	ring(t, now, "op_2")
	s := service(dir, now, nil)
	for search, found := range map[string]int{"": 1, "ABOUT op_": 1, "op_2": 0} {
		d, err := s.Show(ctx, a.ID, search)
		if must(t, err); len(d.Missing) != found || found == 1 && (d.Missing[0].ID != "op_1" || d.Missing[0].Description != "about op_1") || d.Newer != 1 {
			t.Errorf("%q: %+v", search, d)
		}
	}
	r, err := s.Restore(ctx, a.ID, []human.OperationID{"op_1"})
	if must(t, err); r.Files != 22 {
		t.Errorf("%+v", r)
	}
	if after := contents(t, dir); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Error("its files are not back")
	}
	got, err := now.Operation(ctx, "op_1")
	must(t, err)
	if len(got) != len(then)+1 || !got[0].Event.At.Equal(then[0].Event.At) || got[0].Event.Request.Description != "about op_1" || got[1].Event.Type != human.Withdrawn {
		t.Errorf("its events are %+v", got)
	}
	if counts, err := now.Recordings().CountEvents(ctx, "rec_1"); err != nil || counts[human.InputSource] != 1 {
		t.Errorf("its recording has %v, %v", counts, err)
	}
	for id, kind := range map[human.OperationID]human.ErrorKind{"op_1": human.Conflict, "op_2": human.NotFound, "op_none": human.NotFound} {
		if _, err := s.Restore(ctx, a.ID, []human.OperationID{id}); human.KindOf(err) != kind {
			t.Errorf("%s: %v", id, err)
		}
	}
	must(t, now.CheckHead(ctx))
}

// A folder that had backups and is empty now is an error and stays empty: its disk is not there.
func TestAnUnmountedFolder(t *testing.T) {
	dir, folder := t.TempDir(), t.TempDir()
	s := service(dir, open(t, dir), func(o *Options) {
		o.Rules = func() Rules { return Rules{Folder: folder, Days: 1, Daily: true, At: "03:00"} }
	})
	_, err := s.Make(t.Context(), human.ArchiveAsked)
	must(t, err)
	if inner := filepath.Join(folder, "deskbell-backups"); !paths.HoldsSecrets(inner) || !exists(filepath.Join(inner, markerName)) {
		t.Errorf("the gatekeeper does not know %s by its name, or nothing is there", inner)
	}
	if st, err := s.In(filepath.Join(folder, "deskbell-backups")).State(); err != nil || len(st.Archives) != 1 {
		t.Errorf("named itself: %+v, %v", st, err)
	}
	must(t, os.Rename(folder, folder+"-away"))
	for _, there := range []bool{false, true} {
		if there {
			must(t, os.Mkdir(folder, 0o700))
		}
		if _, err := s.Make(t.Context(), human.ArchiveDaily); human.KindOf(err) != human.Unavailable || !strings.Contains(err.Error(), folder) {
			t.Errorf("folder there: %v; %v", there, err)
		}
		if st, err := s.State(); err != nil || st.Problem == "" {
			t.Errorf("%+v, %v", st, err)
		}
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
		t.Errorf("made in it: %v, %v", left, err)
	}
	must(t, os.Remove(folder))
	must(t, os.Rename(folder+"-away", folder))
	_, err = s.Make(t.Context(), human.ArchiveDaily)
	must(t, err)
	other := t.TempDir()
	if _, err := service(other, open(t, other), func(o *Options) { o.Rules = s.o.Rules }).Make(t.Context(), human.ArchiveAsked); err != nil {
		t.Errorf("a new data folder takes over backups: %v", err)
	}
	write(t, filepath.Join(other, stateName), `{"id":"another"}`)
	if _, err := service(other, nil, func(o *Options) { o.Rules = s.o.Rules }).Make(t.Context(), human.ArchiveAsked); human.KindOf(err) != human.Conflict {
		t.Errorf("another's folder: %v", err)
	}
}

// A backup of a newer format is not restored, and says so.
func TestANewerBackup(t *testing.T) {
	dir := t.TempDir()
	s := service(dir, open(t, dir), nil)
	a, err := s.Make(t.Context(), human.ArchiveAsked)
	must(t, err)
	m, err := s.manifest(a.ID)
	must(t, err)
	m.Format++
	m.Sum, err = m.sum()
	must(t, err)
	must(t, writeJSON(filepath.Join(s.folder(), a.ID, manifestName), m))
	if _, err := s.RestoreAll(t.Context(), a.ID); human.KindOf(err) != human.Unavailable || !strings.Contains(err.Error(), "newer") {
		t.Error(err)
	}
	if st, err := s.State(); err != nil || len(st.Archives) != 1 || st.Archives[0].Problem == "" || !st.Last.IsZero() {
		t.Errorf("%+v, %v", st, err)
	}
}

// The daily one is due at its time, at once where that was missed, and an hour after the first start.
func TestNext(t *testing.T) {
	at := func(text string) time.Time {
		when, err := time.ParseInLocation("2006-01-02 15:04", text, time.Local)
		must(t, err)
		return when
	}
	for name, tt := range map[string]struct{ last, now, want string }{
		"after the daily one":      {"2026-03-05 03:00", "2026-03-05 09:00", "2026-03-06 03:00"},
		"after one that was asked": {"2026-03-05 01:00", "2026-03-05 02:00", "2026-03-05 03:00"},
		"missed for days":          {"2026-03-05 03:00", "2026-03-09 09:00", "2026-03-06 03:00"},
	} {
		if got := next(at(tt.last), at(tt.now), at(tt.now), "03:00"); !got.Equal(at(tt.want)) {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := next(time.Time{}, at("2026-03-05 09:00"), at("2026-03-05 09:30"), "03:00"); !got.Equal(at("2026-03-05 10:00")) {
		t.Errorf("the first: %s", got)
	}
}

// An error in the middle, such as a full disk, leaves no backup and says so; the next one works.
func TestACopyThatFails(t *testing.T) {
	dir := t.TempDir()
	data(t, dir)
	store := open(t, dir)
	s := service(dir, store, nil)
	_, err := s.Make(t.Context(), human.ArchiveAsked)
	must(t, err)
	s.o.Journal = full{journal{store}}
	if _, err := s.Make(t.Context(), human.ArchiveDaily); human.KindOf(err) != human.Internal || !strings.Contains(err.Error(), "space") {
		t.Error(err)
	}
	st, err := s.State()
	if err != nil || len(st.Archives) != 1 || st.Running || !strings.Contains(st.Problem, "space") {
		t.Errorf("%+v, %v", st, err)
	}
	parts, err := filepath.Glob(filepath.Join(s.folder(), "*"+partEnd))
	if err != nil || len(parts) > 0 {
		t.Errorf("left: %v, %v", parts, err)
	}
	s.o.Journal = journal{store}
	_, err = s.Make(t.Context(), human.ArchiveDaily)
	must(t, err)
}

type full struct{ journal }

func (full) CopyTo(context.Context, string) error { return errors.New("no space left on device") }
