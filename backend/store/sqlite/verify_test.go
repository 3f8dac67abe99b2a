package sqlite

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/queue/journaltest"
)

// Whatever became of the files, the doctor says so, and a start either says so or, where only the end is lost, keeps a note.
func TestDamageIsFound(t *testing.T) {
	closed, killed := work(t, 60, false), work(t, 60, true)
	old := work(t, 40, false)
	for name, tt := range map[string]struct {
		of     *worked
		damage func(*worked)
		starts bool // with a note
		says   string
	}{
		"a truncated log":      {killed, func(w *worked) { w.change(FileName+"-wal", func(b []byte) []byte { return b[:len(b)/2] }) }, true, "were acknowledged and are missing at the end"},
		"no log":               {killed, func(w *worked) { w.without(FileName + "-wal") }, false, "missing"},
		"a flip in the log":    {killed, func(w *worked) { w.change(FileName+"-wal", func(b []byte) []byte { b[len(b)/2] ^= 1; return b }) }, false, "can still be read there"},
		"a truncated file":     {closed, func(w *worked) { w.change(FileName, func(b []byte) []byte { return b[:len(b)/2] }) }, false, "its end is missing"},
		"a missing file":       {closed, func(w *worked) { w.without(FileName) }, false, "the file is missing"},
		"an empty file":        {closed, func(w *worked) { w.change(FileName, func([]byte) []byte { return nil }) }, false, "the file is empty"},
		"an old copy":          {closed, func(w *worked) { w.put(old) }, true, "missing at the end"},
		"6,000 flips":          {closed, func(w *worked) { w.change(FileName, flips(7, 6000)) }, false, ""},
		"random bytes":         {closed, func(w *worked) { w.change(FileName, func([]byte) []byte { return flips(5, 9999)(make([]byte, 9000)) }) }, false, "does not begin as a database"},
		"a text not in UTF-8":  {closed, func(w *worked) { w.break1("please look at 59", "please look \xff\xfe 59") }, false, "not UTF-8"},
		"a request's own word": {closed, func(w *worked) { w.break1("please look at 30", "please look to 30") }, true, "not as it was written"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := tt.of.copied(t)
			tt.damage(w)
			before := w.files()
			report, err := Inspect(t.Context(), w.dir)
			if err != nil || report.Whole() {
				t.Fatalf("the doctor finds nothing: %+v, %v", report, err)
			}
			if text := fmt.Sprint(report.Found, report.Lost); !strings.Contains(text, tt.says) {
				t.Errorf("the doctor says %s, want %q", text, tt.says)
			}
			s, err := Open(t.Context(), w.dir, signing)
			if err == nil {
				defer s.Close()
			}
			if tt.starts {
				if err != nil {
					t.Fatalf("Open: %v", err)
				}
				if report.Lost != nil {
					w.wantNote(s)
				}
				return
			}
			var bad *Damaged
			if !errors.As(err, &bad) || bad.Report.Whole() || !strings.Contains(human.SafeText(err), "deskbell repair") {
				t.Fatalf("Open: %v", err)
			}
			if after := w.files(); after != before {
				t.Error("a start with a damaged database changed it")
			}
		})
	}
}

// SQLite deletes the log of an empty database, even where it only reads; what the log has must be left for a repair.
func TestTheDoctorLeavesTheLogOfAnEmptyDatabase(t *testing.T) {
	w := work(t, 60, true)
	w.change(FileName, func([]byte) []byte { return nil })
	before := w.files()
	if report, err := Inspect(t.Context(), w.dir); err != nil || report.Whole() {
		t.Errorf("Inspect: %+v, %v", report, err)
	}
	if _, err := AuditFile(t.Context(), w.dir, journaltest.Trust()); err == nil {
		t.Error("an empty database was audited")
	}
	if w.files() != before {
		t.Error("the doctor changed the files")
	}
}

func (w *worked) without(name string) {
	w.Helper()
	if err := os.Remove(filepath.Join(w.dir, name)); err != nil {
		w.Fatal(err)
	}
}

// put puts another folder's database in the place of this one's; the head stays.
func (w *worked) put(other *worked) {
	w.Helper()
	text, err := os.ReadFile(filepath.Join(other.dir, FileName))
	if err == nil {
		err = os.WriteFile(filepath.Join(w.dir, FileName), text, 0o600)
	}
	if err != nil {
		w.Fatal(err)
	}
}

// break1 changes a text wherever it stands in the file, byte for byte.
func (w *worked) break1(from, to string) {
	w.change(FileName, func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), from, to)) })
}

func (w *worked) files() string {
	var all []string
	for _, name := range []string{FileName, FileName + "-wal", HeadName} {
		text, _ := os.ReadFile(filepath.Join(w.dir, name))
		all = append(all, string(text))
	}
	return strings.Join(all, "\x00")
}

// wantNote looks at the note of what was lost, which stays until it was read.
func (w *worked) wantNote(s *Store) {
	w.Helper()
	ctx := context.Background()
	for range 2 {
		all, err := s.Losses(ctx)
		if err != nil || len(all) != 1 {
			w.Fatalf("the note of what was lost is %v, %v", all, err)
		}
		if err := s.Close(); err != nil {
			w.Fatal(err)
		}
		if s, err = Open(ctx, w.dir, signing); err != nil {
			w.Fatal(err)
		}
	}
	if err := s.ReadLosses(ctx); err != nil {
		w.Fatal(err)
	}
	if all, err := s.Losses(ctx); err != nil || len(all) != 0 {
		w.Errorf("what was read is still there: %v, %v", all, err)
	}
	if err := s.Close(); err != nil {
		w.Fatal(err)
	}
	if report, err := Inspect(ctx, w.dir); err != nil || report.Lost != nil {
		w.Errorf("after it was read: %+v, %v", report, err)
	}
}

// A flip anywhere is found, or changes nothing that is read.
func TestEveryFlipIsFoundOrHarmless(t *testing.T) {
	closed := work(t, 60, false)
	places := 240
	if testing.Short() {
		places = 60
	}
	found, harmless := 0, 0
	for seed := range uint64(places) {
		w := closed.copied(t)
		w.change(FileName, flips(1000+seed, 1))
		report, err := Inspect(t.Context(), w.dir)
		if err != nil {
			t.Fatal(err)
		}
		if !report.Whole() {
			found++
			continue
		}
		s, err := Open(t.Context(), w.dir, signing)
		if err != nil {
			t.Fatalf("place %d: %v", seed, err)
		}
		if n := w.wantEntries(s); n != uint64(len(w.entries)) {
			t.Errorf("place %d: %d entries", seed, n)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		harmless++
	}
	t.Logf("%d places: %d found, %d harmless", places, found, harmless)
}

func TestTheHeadIsWhereTheJournalEnds(t *testing.T) {
	h := newHistory(t, signing)
	for i := range 5 {
		h.add(human.OperationID(fmt.Sprintf("op_%d", i)), ring("one"), asked("which?"))
		head, ok, err := readHead(h.dir)
		end, _ := h.end(t.Context())
		if err != nil || !ok || head.Seq != end.seq || head.Link != hex.EncodeToString(end.link[:]) || head.At != end.at || head.Operations != uint64(i+1) {
			t.Fatalf("the head is %+v, %v, %v; the journal ends at %+v", head, ok, err, end)
		}
	}
	h.reopen(signing)
	h.add("op_5", ring("one"))
	if head, _, _ := readHead(h.dir); head.Operations != 6 || head.Seq != 11 {
		t.Errorf("after another start it is %+v", head)
	}
	path := filepath.Join(h.dir, HeadName)
	text, err := os.ReadFile(path)
	if err != nil || len(text) != 2*slotSize {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	newest, _, _ := readHead(h.dir)
	text[int(newest.Turn%2)*slotSize+20] ^= 1
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if head, ok, _ := readHead(h.dir); !ok || head.Turn != newest.Turn-1 {
		t.Errorf("with a torn line it is %+v, %v", head, ok)
	}
}

// What a start loads is read although the check before it leaves it out: damage is said the same way.
func TestALoadFindsDamage(t *testing.T) {
	h := newHistory(t, Options{})
	h.add("op_1", ring("one"))
	h.add("op_2", ring("two"))
	if err := h.do(t.Context(), func(ctx context.Context, w *writer) error {
		_, err := w.conn.ExecContext(ctx, `UPDATE operations SET data = substr(data, 2) WHERE operation_id = 'op_2'`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	loaded := 0
	err := h.Open(t.Context(), func(queue.Standing) error { loaded++; return nil })
	var bad *Damaged
	if !errors.As(err, &bad) || loaded != 1 || len(bad.Report.Found) != 1 || bad.Report.Found[0].Text != "operation op_2 cannot be read: its text is not JSON" {
		t.Errorf("after %d: %v", loaded, err)
	}
}
