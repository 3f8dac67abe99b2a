package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue/journaltest"
)

// more adds operations to a folder that was closed.
func (w *worked) more(name string, n int) {
	w.Helper()
	ctx := context.Background()
	h := &history{TB: w.TB, dir: w.dir, versions: map[human.OperationID]uint64{}}
	h.open(signing)
	for i := range n {
		id := human.OperationID(fmt.Sprintf("op_%s%d", name, i))
		h.add(id, ring("and "+name, details(`{"text":"<b>&amp; `+strings.Repeat("x", 500)+`"}`)))
		h.add(id, journaltest.Answered(w.TB, id, 2))
	}
	w.entries = map[uint64]string{}
	for e, err := range h.Read(ctx, 0) {
		if err != nil {
			w.Fatal(err)
		}
		w.entries[e.Seq] = say(e)
	}
	if err := h.Close(); err != nil {
		w.Fatal(err)
	}
}

// rescue is what Deskbell saves when the database is lost: a complete copy of it.
func (w *worked) rescue(to string) string {
	w.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, FileName))
	if err != nil {
		w.Fatal(err)
	}
	file := filepath.Join(to, FileName+".rescued-20261129T010203Z")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		w.Fatal(err)
	}
	return file
}

// H8: what was rescued while Deskbell ran comes back by the same command as everything else.
func TestARepairTakesWhatWasRescued(t *testing.T) {
	old := work(t, 60, false)
	now := old.copied(t)
	now.more("new", 20)
	branch := old.copied(t) // the old copy was put back, and worked with
	branch.more("other", 40)
	for name, damage := range map[string]func(w *worked){
		"deleted":    func(w *worked) { remove(w, FileName) },
		"the folder": func(w *worked) { remove(w, FileName); remove(w, HeadName) },
		"emptied":    func(w *worked) { w.change(FileName, func([]byte) []byte { return nil }) },
		"old copy":   func(w *worked) { copyOver(w, old, FileName) },
		"garbage": func(w *worked) {
			w.change(FileName, func([]byte) []byte { return []byte(strings.Repeat("no database ", 9000)) })
		},
		"flipped": func(w *worked) { w.change(FileName, flips(7, 3000)) },
		"cut":     func(w *worked) { w.change(FileName, func(b []byte) []byte { return b[:len(b)/2] }) },
	} {
		t.Run(name, func(t *testing.T) {
			w := now.copied(t)
			w.rescue(w.dir)
			damage(w)
			if r := w.repair(); r.Entries != uint64(len(w.entries)) || r.Due != r.Entries || len(r.Gaps)+len(r.LeftOut) > 0 {
				t.Errorf("%v", r.Lines())
			} else if r.Rescues[0].Whole && r.Tables["keys"].Rows != 1 || name == "the folder" && !r.Rescues[0].Whole {
				t.Errorf("keys: %+v", r.Tables["keys"])
			}
		})
	}
	t.Run("elsewhere", func(t *testing.T) {
		w := now.copied(t)
		file := w.rescue(t.TempDir())
		remove(w, FileName)
		r, err := RepairDatabase(t.Context(), w.dir, time.Now(), false, file)
		if err != nil || r.Entries != uint64(len(w.entries)) || !r.Rescues[0].Whole {
			t.Errorf("%v: %v", r.Lines(), err)
		}
		_, err = RepairDatabase(t.Context(), w.dir, time.Now(), false, file+"no")
		wantKind(t, err, human.Invalid)
	})
	t.Run("no head", func(t *testing.T) {
		w := now.copied(t)
		w.rescue(w.dir)
		copyOver(w, old, FileName)
		remove(w, HeadName)
		if r := w.repair(); r.Entries != uint64(len(w.entries)) || r.Rescues[0].Entries != 40 {
			t.Errorf("%v", r.Lines())
		}
	})
	t.Run("unreadable", func(t *testing.T) {
		w := now.copied(t)
		if err := os.WriteFile(w.rescue(w.dir), []byte("no database"), 0o600); err != nil {
			t.Fatal(err)
		}
		w.change(FileName, flips(3, 1))
		if r := w.repair(); r.Rescues[0].Problem == "" {
			t.Errorf("%v", r.Lines())
		}
	})
	// A rescued file of what followed before an old copy was put back is of another history, even where it goes further.
	for name, damage := range map[string]func(w *worked){
		"whole":   func(*worked) {},
		"flipped": func(w *worked) { w.change(FileName, flips(5, 300)) },
		"cut":     func(w *worked) { w.change(FileName, func(b []byte) []byte { return b[:len(b)*9/10] }) },
		"end":     func(w *worked) { w.change(FileName, func(b []byte) []byte { flips(1, 3000)(b[len(b)/2:]); return b }) },
		"no head": func(w *worked) { remove(w, HeadName) },
	} {
		t.Run("another history, "+name, func(t *testing.T) {
			alone, beside := now.copied(t), now.copied(t)
			damage(alone)
			damage(beside)
			branch.rescue(beside.dir)
			a, b := alone.repair(), beside.repair()
			t.Logf("%d of %d, %d of %d with it", a.Entries, a.Due, b.Entries, b.Due)
			if a.Entries > b.Entries || a.Due != b.Due || len(a.LeftOut) < len(b.LeftOut) || b.Rescues[0].Whole {
				t.Errorf("without it:\n%v\nwith it:\n%v", a.Lines(), b.Lines())
			}
		})
	}
}

// A start without the end that was rescued would append entries in its place, and the rescued ones would never come back.
func TestAStartLeavesWhatWasRescued(t *testing.T) {
	old := work(t, 60, false)
	w := old.copied(t)
	w.more("new", 20)
	rescued := w.rescue(w.dir)
	copyOver(w, old, FileName)
	var bad *Damaged
	if _, err := Open(t.Context(), w.dir, signing); !errors.As(err, &bad) || !strings.Contains(err.Error(), rescued+", which Deskbell saved while it ran, has the missing entries") {
		t.Errorf("Open: %v", err)
	}
	if report, err := Inspect(t.Context(), w.dir); err != nil || len(report.Found) != 1 {
		t.Errorf("the doctor says %v, %v", report.Found, err)
	}
	if r := w.repair(); r.Entries != uint64(len(w.entries)) {
		t.Errorf("%v", r.Lines())
	}
}

func remove(w *worked, name string) {
	w.Helper()
	if err := os.Remove(filepath.Join(w.dir, name)); err != nil {
		w.Fatal(err)
	}
}

func copyOver(w, from *worked, name string) {
	w.Helper()
	text, err := os.ReadFile(filepath.Join(from.dir, name))
	if err == nil {
		err = os.WriteFile(filepath.Join(w.dir, name), text, 0o600)
	}
	if err != nil {
		w.Fatal(err)
	}
}
