package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deskbell/backend/human"
)

// faults is what another program can do to the files of a database, and the file that each is about.
var faults = map[string]struct {
	do    func(h *history) error
	fault Fault
	log   bool
}{
	"the database is deleted": {do: func(h *history) error { return os.Remove(h.file) }, fault: Deleted},
	"the folder is deleted":   {do: func(h *history) error { return os.RemoveAll(h.dir) }, fault: Deleted},
	"the folder is moved":     {do: func(h *history) error { return os.Rename(h.dir, h.dir+".moved") }, fault: Deleted},
	"an older copy takes its place": {do: func(h *history) error {
		older := h.file + ".older"
		if err := os.WriteFile(older, []byte("an older copy"), 0o600); err != nil {
			return err
		}
		return os.Rename(older, h.file)
	}, fault: Replaced},
	"the log is deleted": {do: func(h *history) error { return os.Remove(h.logFile()) }, fault: Deleted, log: true},
	"another log takes its place": {do: func(h *history) error {
		other := h.logFile() + ".other"
		if err := os.WriteFile(other, nil, 0o600); err != nil {
			return err
		}
		return os.Rename(other, h.logFile())
	}, fault: Replaced, log: true},
	"the log is cut off":      {do: func(h *history) error { return os.Truncate(h.logFile(), 40_000) }, fault: Truncated, log: true},
	"the log is emptied":      {do: func(h *history) error { return os.Truncate(h.logFile(), 0) }, fault: Truncated, log: true},
	"the database is cut off": {do: func(h *history) error { return os.Truncate(h.file, 20*4096) }, fault: Truncated},
	"the database is emptied": {do: func(h *history) error { return os.Truncate(h.file, 0) }, fault: Truncated},
}

// After each fault nothing is acknowledged, what was acknowledged is in the rescued file, and reads continue.
func TestFaults(t *testing.T) {
	for name, tt := range faults {
		t.Run(name, func(t *testing.T) {
			h := newHistory(t, Options{})
			var acknowledged []human.OperationID
			for i := range 60 {
				id := human.OperationID(fmt.Sprintf("op_%d", i))
				h.add(id, ring("text "+strings.Repeat("x", 3000)))
				acknowledged = append(acknowledged, id)
				if i == 30 {
					h.checkpointNow(`TRUNCATE`)
				}
			}
			before, changed := h.Trouble()
			if before != nil {
				t.Fatalf("there is trouble before the fault: %v", before.Err())
			}
			if err := tt.do(h); err != nil {
				t.Fatal(err)
			}
			err := h.try("op_late", ring("late"))
			wantKind(t, err, human.Unavailable)
			trouble := h.awaitRescue(changed)
			want := h.file
			if tt.log {
				want = h.logFile()
			}
			if trouble.Fault != tt.fault || trouble.File != want {
				t.Errorf("the trouble is %d of %s, want %d of %s", trouble.Fault, trouble.File, tt.fault, want)
			}
			for _, write := range []error{
				h.try("op_later", ring("later")),
				h.try("op_0", done("done")),
				h.SetSetting(t.Context(), "a", "b"),
			} {
				wantKind(t, write, human.Unavailable)
				for _, text := range []string{want, trouble.Rescue.Path, "Stop Deskbell"} {
					if !strings.Contains(human.SafeText(write), text) {
						t.Errorf("%q does not say %q", human.SafeText(write), text)
					}
				}
			}
			if trouble.Rescue.Path == "" {
				t.Fatalf("nothing was rescued: %v", trouble.Rescue.Err)
			}
			checkRescued(t, trouble.Rescue, acknowledged)
			if tt.fault != Truncated {
				if page, err := h.Operation(t.Context(), "op_3"); err != nil || len(page) != 1 {
					t.Errorf("reading after the fault: %v, %v", page, err)
				}
			}
		})
	}
}

func (h *history) checkpointNow(mode string) {
	h.Helper()
	if err := h.bare(context.Background(), func(ctx context.Context, w *writer) error {
		_, err := w.conn.ExecContext(ctx, `PRAGMA wal_checkpoint(`+mode+`)`)
		return err
	}); err != nil {
		h.Fatal(err)
	}
}

// awaitRescue blocks until what can be saved is saved.
func (h *history) awaitRescue(changed <-chan struct{}) *Trouble {
	h.Helper()
	deadline := time.After(30 * time.Second)
	for {
		select {
		case <-changed:
		case <-deadline:
			h.Fatal("no rescue")
		}
		var trouble *Trouble
		if trouble, changed = h.Trouble(); trouble != nil && trouble.Rescue != nil {
			return trouble
		}
	}
}

// checkRescued opens a rescued file as a person would use it: alone, with the database's name.
func checkRescued(t *testing.T, r *Rescue, acknowledged []human.OperationID) {
	t.Helper()
	info, err := os.Stat(r.Path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the rescued file has mode %v", info.Mode())
	}
	h := &history{TB: t, dir: t.TempDir()}
	content, err := os.ReadFile(r.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.dir, FileName), content, 0o600); err != nil {
		t.Fatal(err)
	}
	h.open(Options{})
	defer h.Close()
	if err := h.CheckHead(t.Context()); err != nil {
		t.Error(err)
	}
	if head, _ := h.Head(t.Context()); head != r.Head || head < uint64(len(acknowledged)) {
		t.Errorf("the rescued file ends at %d; it was said to at %d; %d were acknowledged", head, r.Head, len(acknowledged))
	}
	for _, id := range acknowledged {
		if entries, err := h.Operation(t.Context(), id); err != nil || len(entries) == 0 {
			t.Fatalf("%s was acknowledged and is not in the rescued file: %v", id, err)
		}
	}
}

// Without any write the fault is found as well.
func TestFaultWhileIdle(t *testing.T) {
	t.Parallel()
	h := newHistory(t, Options{})
	h.add("op_1", ring("text"))
	_, changed := h.Trouble()
	if err := os.Remove(h.file); err != nil {
		t.Fatal(err)
	}
	checkRescued(t, h.awaitRescue(changed).Rescue, []human.OperationID{"op_1"})
}

// What cannot be read completely is said, and the last events are in a file of their own.
func TestRescueOfWhatIsLeft(t *testing.T) {
	h := newHistory(t, Options{})
	for i := range 50 {
		h.add(human.OperationID(fmt.Sprintf("op_%d", i)), ring("text "+strings.Repeat("x", 9000)))
	}
	_, changed := h.Trouble()
	// A connection that has no page in memory cannot read what was cut off.
	if err := h.bare(t.Context(), func(ctx context.Context, w *writer) error {
		_, err := w.conn.ExecContext(ctx, `PRAGMA shrink_memory`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(h.logFile(), 40_000); err != nil {
		t.Fatal(err)
	}
	wantKind(t, h.try("op_late", ring("late")), human.Unavailable)
	r := h.awaitRescue(changed).Rescue
	if r.Path != "" || r.Entries == "" || r.Err == nil || r.First != 1 || r.Last != 50 {
		t.Fatalf("rescued: %+v", r)
	}
	err := h.try("op_later", ring("later"))
	for _, text := range []string{r.Entries, "1 to 50", "cannot be read completely"} {
		if !strings.Contains(human.SafeText(err), text) {
			t.Errorf("%q does not say %q", human.SafeText(err), text)
		}
	}
	content, err := os.ReadFile(r.Entries)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	for i, line := range lines {
		var e struct {
			Seq       uint64
			Operation string `json:"operation_id"`
			Event     string
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Seq != uint64(i)+1 || e.Operation != fmt.Sprintf("op_%d", i) || !strings.Contains(e.Event, `"type":"invoked"`) {
			t.Errorf("line %d is %.100s: %v", i, line, err)
		}
	}
	if len(lines) != 50 {
		t.Errorf("there are %d lines", len(lines))
	}
	if err := h.Close(); err != nil {
		t.Log(err) // the log is what was shortened
	}
	repaired, err := RepairDatabase(t.Context(), h.dir, time.Now(), true)
	if err != nil || repaired.Entries != 50 || len(repaired.Rescues) != 1 || repaired.Rescues[0].Entries == 0 {
		t.Errorf("the repair gives %+v: %v", repaired, err)
	}
}

// Where the data folder cannot be made again, its parent takes the rescued file.
func TestRescueElsewhere(t *testing.T) {
	h := &history{TB: t, dir: filepath.Join(t.TempDir(), "data"), versions: map[human.OperationID]uint64{}}
	h.open(Options{})
	defer h.Close()
	h.add("op_1", ring("text"))
	_, changed := h.Trouble()
	if err := os.RemoveAll(h.dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(h.dir, nil, 0o600); err != nil { // nothing can be made in it
		t.Fatal(err)
	}
	r := h.awaitRescue(changed).Rescue
	if filepath.Dir(r.Path) != filepath.Dir(h.dir) {
		t.Errorf("the rescued file is %q", r.Path)
	}
	checkRescued(t, r, []human.OperationID{"op_1"})
}

// A copy of the database file alone, after a pause, has everything.
func TestCopyOfFileAlone(t *testing.T) {
	t.Parallel()
	h := newHistory(t, Options{})
	var all []human.OperationID
	for i := range 40 {
		id := human.OperationID(fmt.Sprintf("op_%d", i))
		all = append(all, id)
		h.add(id, ring("text"))
	}
	deadline := time.After(30 * time.Second)
	for emptied := false; !emptied; {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-deadline:
			t.Fatal("the write-ahead log is not emptied")
		}
		info, err := os.Stat(h.logFile())
		if err != nil {
			t.Fatal(err)
		}
		emptied = info.Size() == 0
	}
	// Another process copies it: reading it here would end SQLite's locks.
	copied := filepath.Join(t.TempDir(), FileName)
	if out, err := exec.Command("cp", h.file, copied).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	other := &history{TB: t, dir: filepath.Dir(copied)}
	other.open(Options{})
	defer other.Close()
	if got, want := other.dump(), h.dump(); !slices.Equal(got, want) {
		t.Errorf("the copy has %d lines, the database %d", len(got), len(want))
	}
	for _, id := range all {
		if entries, err := other.Operation(t.Context(), id); err != nil || len(entries) != 1 {
			t.Errorf("%s in the copy: %v, %v", id, entries, err)
		}
	}
}

// While writes never pause, the database file is at most 4 MB behind.
func TestBehindUnderLoad(t *testing.T) {
	h := newHistory(t, Options{})
	for i := range 400 {
		h.add(human.OperationID(fmt.Sprintf("op_%d", i)), ring("text "+strings.Repeat("x", 60_000)))
		info, err := os.Stat(h.logFile())
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > 5<<20 {
			t.Fatalf("the write-ahead log has %d bytes after %d appends", info.Size(), i)
		}
	}
}

// Other processes that write, empty the log and rewrite the whole file are no trouble, nor is anything that Deskbell does itself.
func TestNoFalseAlarm(t *testing.T) {
	if dir := os.Getenv("DESKBELL_TEST_WRITER"); dir != "" {
		writeFromOutside(t, dir)
		return
	}
	h := newHistory(t, Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	var others sync.WaitGroup
	for range 2 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestNoFalseAlarm$")
		cmd.Env = append(os.Environ(), "DESKBELL_TEST_WRITER="+h.dir)
		others.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("the other process: %v: %s", err, out)
			}
		})
	}
	for w := range 3 {
		others.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				id := human.OperationID(fmt.Sprintf("op_%d_%d", w, i))
				if err := appendTo(h, context.Background(), id, 0, ring("text "+strings.Repeat("x", 5000))); err != nil {
					t.Errorf("append: %v", err)
					return
				}
				if w == 0 && i%20 == 0 {
					_ = h.bare(context.Background(), func(ctx context.Context, w *writer) error {
						_, err := w.conn.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
						return err
					})
				}
				if w == 1 && i%100 == 0 {
					if err := h.bare(context.Background(), func(ctx context.Context, w *writer) error { return w.rewrite(ctx) }); err != nil && !strings.Contains(err.Error(), "locked") {
						t.Errorf("rewriting: %v", err)
					}
				}
			}
		})
	}
	others.Wait()
	if trouble, _ := h.Trouble(); trouble != nil {
		t.Errorf("a false alarm: %v", trouble.Err())
	}
}

// writeFromOutside is the other process of TestNoFalseAlarm: it makes keys, empties the log, and comes and goes.
func writeFromOutside(t *testing.T, dir string) {
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); {
		s, err := Open(t.Context(), dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			if _, err := s.AddKey(t.Context(), "other", false); err != nil {
				t.Fatal(err)
			}
			_ = s.bare(t.Context(), func(ctx context.Context, w *writer) error {
				_, err := w.conn.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
				return err
			})
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A file that was overwritten has its size: SQLite sees it first. Then the memory is saved, and a repair brings all of it back.
func TestAnOverwrittenDatabaseEndsWriting(t *testing.T) {
	h := newHistory(t, Options{})
	n := uint64(0)
	for ; n < 60; n++ {
		h.add(human.OperationID(fmt.Sprintf("op_%d", n)), ring("text "+strings.Repeat("x", 3000)))
	}
	h.checkpointNow(`TRUNCATE`)
	_, changed := h.Trouble()
	info, err := os.Stat(h.file)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(h.file, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.Write(make([]byte, info.Size())) // it stays open: closing it would end SQLite's locks
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := h.bare(t.Context(), func(ctx context.Context, w *writer) error {
		_, err := w.conn.ExecContext(ctx, `PRAGMA shrink_memory`) // else the writer has all that it needs
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for err == nil && n < 100 {
		if err = h.try(human.OperationID(fmt.Sprintf("op_%d", n)), ring("late")); err == nil {
			n++
		}
	}
	wantKind(t, err, human.Unavailable)
	trouble := h.awaitRescue(changed)
	if trouble.Fault != Overwritten || trouble.Rescue.Entries == "" || trouble.Rescue.Last != n || !strings.Contains(human.SafeText(trouble.Err()), "overwritten while it ran") {
		t.Errorf("the trouble is %v, %+v", trouble.Err(), trouble.Rescue)
	}
	if err := errors.Join(h.Close(), f.Close()); err != nil {
		t.Log(err)
	}
	if r, err := RepairDatabase(t.Context(), h.dir, time.Now(), true); err != nil || r.Entries != n {
		t.Errorf("%v, %v", r.Lines(), err)
	}
}

// After work, a process that rests gives memory back, once.
func TestMemoryIsGivenBackAtRest(t *testing.T) {
	h := newHistory(t, Options{})
	given := func() uint64 {
		m := []metrics.Sample{{Name: "/memory/classes/heap/released:bytes"}}
		metrics.Read(m)
		return m[0].Value.Uint64()
	}
	const size = 512 << 20
	var before uint64
	if err := h.bare(t.Context(), func(ctx context.Context, w *writer) error { // at once, without looks of its own
		var looks []uint64 // what was allocated when memory was given back last
		look := func() {
			w.release(ctx)
			looks = append(looks, w.watch.released)
		}
		look()
		garbage := make([]byte, size)
		for i := 0; i < len(garbage); i += 4096 {
			garbage[i] = 1
		}
		before = given()
		look()
		look()
		look()
		if looks[0] != looks[1] || looks[1] == looks[2] || looks[2] != looks[3] {
			t.Errorf("memory was given back at other looks than the third: %d", looks)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if more := int64(given() - before); more < size*3/4 {
		t.Errorf("%d bytes more are given back, of %d", more, size)
	}
}
