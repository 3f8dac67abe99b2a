package sqlite

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue/journaltest"
)

// A worked folder has a database with answered, open and removed operations, details over many pages, and other tables.
type worked struct {
	testing.TB
	dir     string
	entries map[uint64]string // as they were acknowledged
	removed human.OperationID
	secret  string
}

func say(e human.Entry) string {
	text, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// work makes one; killed leaves everything in the write-ahead log, as a process that was killed does.
func work(t testing.TB, n int, killed bool) *worked {
	t.Helper()
	w := &worked{TB: t, dir: t.TempDir(), entries: map[uint64]string{}, removed: "op_0", secret: "the words that were removed"}
	h := &history{TB: t, dir: w.dir, versions: map[human.OperationID]uint64{}}
	h.open(signing)
	ctx := context.Background()
	reader, err := h.reads.BeginTx(ctx, nil) // while it reads, the log keeps all that follows
	if err != nil {
		t.Fatal(err)
	}
	var none int
	if err := reader.QueryRowContext(ctx, `SELECT count(*) FROM journal`).Scan(&none); err != nil {
		t.Fatal(err)
	}
	if !killed {
		if err := reader.Rollback(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		id := human.OperationID(fmt.Sprintf("op_%d", i))
		text := fmt.Sprintf("please look at %d", i)
		if i == 0 {
			text = w.secret
		}
		h.add(id, ring(text, details(fmt.Sprintf(`{"text":%q}`, strings.Repeat(fmt.Sprintf("%d ", i), i*7%3000)))))
		switch i % 3 {
		case 0:
			h.add(id, journaltest.Answered(t, id, 2))
		case 1:
			h.add(id, asked("which?"))
		}
		if i == 20 {
			w.remove(h)
		}
	}
	if _, err := h.AddKey(ctx, "bot", false); err != nil {
		t.Fatal(err)
	}
	if err := h.SetSetting(ctx, "kept", "yes"); err != nil {
		t.Fatal(err)
	}
	for e, err := range h.Read(ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		w.entries[e.Seq] = say(e)
	}
	if !killed {
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
		return w
	}
	to := t.TempDir()
	w.copyTo(to)
	if err := errors.Join(reader.Rollback(), h.Close()); err != nil {
		t.Fatal(err)
	}
	w.dir = to
	return w
}

// remove removes the words of one operation.
func (w *worked) remove(h *history) {
	w.Helper()
	ctx := context.Background()
	if err := h.Outbox().Post(ctx, h.live.seq(), "", nil, epoch); err != nil {
		w.Fatal(err)
	}
	if gone, err := h.RemoveRequests(ctx, []human.OperationID{w.removed}, epoch.Add(1e6*time.Hour), epoch.Add(1e6*time.Hour)); err != nil || len(gone) != 1 {
		w.Fatal(gone, err)
	}
}

func (w *worked) copyTo(dir string) {
	w.Helper()
	if err := copyFiles(w.dir, dir); err != nil {
		w.Fatal(err)
	}
}

// copyFiles copies what a killed process leaves: the lock of the log's index is not of it.
func copyFiles(from, to string) error {
	for _, name := range []string{FileName, FileName + "-wal", HeadName} {
		text, err := os.ReadFile(filepath.Join(from, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), text, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// change is the file with its bytes changed.
func (w *worked) change(name string, to func([]byte) []byte) {
	w.Helper()
	path := filepath.Join(w.dir, name)
	text, err := os.ReadFile(path)
	if err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(path, to(text), 0o600); err != nil {
		w.Fatal(err)
	}
}

func flips(seed uint64, n int) func([]byte) []byte {
	return func(b []byte) []byte {
		random := rand.New(rand.NewPCG(seed, 1))
		for range n {
			b[random.IntN(len(b))] ^= byte(1 + random.IntN(255))
		}
		return b
	}
}

// copied is the folder once more, for one damage.
func (w *worked) copied(t testing.TB) *worked {
	t.Helper()
	c := *w
	c.TB, c.dir = t, t.TempDir()
	w.copyTo(c.dir)
	return &c
}

// wantEntries reads the whole journal and fails where an entry is not as it was acknowledged; it returns how many there are.
func (w *worked) wantEntries(s *Store) (n uint64) {
	w.Helper()
	for e, err := range s.Read(context.Background(), 0) {
		if err != nil {
			w.Errorf("after entry %d: %v", n, err)
			return n
		}
		n++
		if got := say(e); got != w.entries[e.Seq] {
			w.Errorf("entry %d is\n%s\nand was\n%s", e.Seq, got, w.entries[e.Seq])
		}
	}
	return n
}

// repair repairs, opens, and compares all that is there; it returns what the repair says.
func (w *worked) repair() Repair {
	w.Helper()
	ctx := context.Background()
	r, err := RepairDatabase(ctx, w.dir, time.Now(), true)
	if err != nil {
		w.Fatalf("repair: %v", err)
	}
	s, err := Open(ctx, w.dir, signing)
	if err != nil {
		w.Fatalf("Open after a repair: %v", err)
	}
	defer s.Close()
	if n := w.wantEntries(s); n != r.Entries {
		w.Errorf("%d entries, and the repair says %d", n, r.Entries)
	}
	audit, err := s.Audit(ctx, journaltest.Trust())
	if err != nil {
		w.Fatal(err)
	}
	for _, f := range audit.Found {
		if strings.Contains(f.Text, "receipt") && (r.Entries < uint64(len(w.entries)) || r.Tables["receipts"].Rows < 20) {
			continue // a receipt may be damaged where its answer is not
		}
		w.Errorf("the audit of a repaired journal finds: %s", f.Text)
	}
	if len(audit.Gaps) != len(r.Gaps) {
		w.Errorf("the audit has gaps %v, the repair %v", audit.Gaps, r.Gaps)
	}
	if err := s.Close(); err != nil {
		w.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(w.dir, FileName))
	if err != nil || bytes.Contains(text, []byte(w.secret)) {
		w.Errorf("words that were removed are back, %v", err)
	}
	if report, err := Inspect(ctx, w.dir); err != nil || !report.Whole() {
		w.Errorf("after a repair the doctor finds %v, %v", report.text().Text, err)
	}
	if d, err := InspectCopy(ctx, filepath.Join(w.dir, FileName)); err != nil || uint64(d.Entries) != r.Entries { // as a backup of it is checked
		w.Errorf("a copy of a repaired database has %d entries, the repair %d, %v", d.Entries, r.Entries, err)
	}
	if _, err := checkCopy(ctx, filepath.Join(w.dir, FileName), 0); err != nil { // as what is rescued is
		w.Errorf("what is rescued of a repaired database: %v", err)
	}
	return r
}

func TestARepairBringsBackWhatCanBeRead(t *testing.T) {
	closed, killed := work(t, 200, false), work(t, 200, true)
	for name, tt := range map[string]struct {
		of     *worked
		damage func(*worked)
		least  uint64 // entries that are back, of a hundred
	}{
		"nothing":                 {closed, func(*worked) {}, 100},
		"nothing, killed":         {killed, func(*worked) {}, 100},
		"40 bytes":                {closed, func(w *worked) { w.change(FileName, flips(1, 40)) }, 80},
		"6,000 bytes":             {closed, func(w *worked) { w.change(FileName, flips(2, 6000)) }, 0},
		"40 bytes of the log":     {killed, func(w *worked) { w.change(FileName+"-wal", flips(3, 40)) }, 90},
		"half of the log":         {killed, func(w *worked) { w.change(FileName+"-wal", func(b []byte) []byte { return b[:len(b)/2] }) }, 30},
		"the end of the file":     {closed, func(w *worked) { w.change(FileName, func(b []byte) []byte { return b[:len(b)*3/4] }) }, 20},
		"an empty file":           {closed, func(w *worked) { w.change(FileName, func([]byte) []byte { return nil }) }, 0},
		"an empty file and a log": {killed, func(w *worked) { w.change(FileName, func([]byte) []byte { return nil }) }, 100},
		"its first page":          {closed, func(w *worked) { w.change(FileName, func(b []byte) []byte { clear(b[:4096]); return b }) }, 100},
		"random bytes": {closed, func(w *worked) {
			w.change(FileName, func(b []byte) []byte { return flips(4, 100)(make([]byte, 5000)) })
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := tt.of.copied(t)
			tt.damage(w)
			r := w.repair()
			t.Logf("%d of %d entries, %d of them outside of SQLite's reach, %d gaps, %d operations left out, %d unproven", r.Entries, r.Due, r.Raw, len(r.Gaps), len(r.LeftOut), r.Unproven)
			if all := uint64(len(w.entries)); r.Entries*100 < all*tt.least {
				t.Errorf("%d of %d entries are back, want %d in a hundred: %+v", r.Entries, all, tt.least, r)
			}
			if _, err := os.Stat(r.Broken); err != nil && tt.damage != nil {
				t.Errorf("the old file is not kept: %v", err)
			}
		})
	}
}

// Where nothing can be read, and nothing says how much there was, a repair still says that something is missing.
func TestARepairOfNothingIsALoss(t *testing.T) {
	w := work(t, 60, false)
	w.change(FileName, func([]byte) []byte { return nil })
	remove(w, HeadName)
	left := filepath.Join(w.dir, stagePrefix+"1")
	if err := os.Mkdir(left, 0o700); err != nil {
		t.Fatal(err)
	}
	w.repair()
	if _, err := os.Stat(left); err == nil {
		t.Error("what a repair left that was killed is still there")
	}
	s, err := Open(t.Context(), w.dir, signing)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if now, _ := s.State(); now.State != "loss" {
		t.Errorf("the state is %+v", now)
	}
}

// Entries that are left out are not counted as found outside of SQLite's reach.
func TestARepairCountsWhatItKeeps(t *testing.T) {
	w := work(t, 60, true)
	w.change(FileName, func([]byte) []byte { return nil })
	w.change(FileName+"-wal", flips(4, 300)) // where these are, an operation cannot be kept
	if r := w.repair(); r.Raw != r.Entries || r.Raw == 0 || len(r.LeftOut) == 0 {
		t.Errorf("%v, %d left out", r.Lines()[0].Text, len(r.LeftOut))
	}
}
