package sqlite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Damage in a page that no start reads is found by the check that follows it.
func TestAllPagesAreChecked(t *testing.T) {
	closed := work(t, 60, false)
	info, err := os.Stat(filepath.Join(closed.dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	later := 0
	for page := int64(2); page <= info.Size()/4096; page++ {
		w := closed.copied(t)
		w.change(FileName, func(b []byte) []byte { clear(b[(page-1)*4096 : page*4096]); return b })
		s, err := Open(t.Context(), w.dir, signing)
		if err != nil {
			continue // found at once
		}
		r, err := s.CheckPages(t.Context())
		if err != nil {
			t.Errorf("page %d: %v", page, err)
		}
		now, _ := s.State()
		if c := now.Check; len(now.Damage) != len(r.Found) || (now.State == "damaged") != !r.Whole() || c.Finished.IsZero() || c.Done != c.Total || c.Total < 10 || int64(c.Pages) != info.Size()/4096 {
			t.Errorf("page %d: %+v, and the check found %v", page, now, r.Found)
		}
		if len(r.Found) > 0 {
			later++
		}
		if err := s.Close(); err != nil {
			t.Logf("page %d: %v", page, err)
		}
	}
	if later < 10 {
		t.Errorf("the check found damage in %d pages", later)
	}
	s, err := Open(t.Context(), closed.dir, signing)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := s.CheckPages(t.Context()); err != nil || !r.Whole() {
		t.Errorf("a database that is whole: %+v, %v", r.Found, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// A start without the database says where its rescued copy is, and works once that is in its place.
func TestAStartNamesTheRescuedCopy(t *testing.T) {
	w := work(t, 30, false)
	rescued := w.rescue(w.dir)
	remove(w, FileName)
	if _, err := Open(t.Context(), w.dir, signing); err == nil || !strings.Contains(err.Error(), "`deskbell repair` puts that in place") || !strings.Contains(err.Error(), rescued) {
		t.Errorf("a start without its database: %v", err)
	}
	w.repair()
}
