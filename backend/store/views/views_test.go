package views

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"deskbell/backend/human"
)

func open(dir string) *Store {
	n := 0
	return New(dir, func(prefix string) string { n++; return fmt.Sprint(prefix, n, "_", len(dir)) })
}

func put(t *testing.T, s *Store, v human.View) human.View {
	t.Helper()
	v, err := s.Put(v)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func all(t *testing.T, s *Store) []human.View {
	t.Helper()
	list, err := s.Views()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestWhatWasKeptIsThereAfterARestart(t *testing.T) {
	dir := t.TempDir()
	s := open(dir)
	if got := all(t, s); got == nil || len(got) != 0 {
		t.Fatalf("a new folder has %v", got)
	}
	risky := put(t, s, human.View{Name: "  Risky  ", Page: "inbox", Query: "risk=high"})
	old := put(t, s, human.View{Name: "Denied", Page: "history", Query: "end=denied&days=30"})
	if risky.Name != "Risky" || risky.ID == "" || risky.ID == old.ID {
		t.Fatalf("kept %+v and %+v", risky, old)
	}
	risky.Name = "Very risky"
	put(t, s, risky)
	if err := s.Delete(old.ID); err != nil {
		t.Fatal(err)
	}
	last := put(t, s, human.View{Name: "denied", Page: "statistics"})
	if got, want := all(t, open(dir)), []human.View{risky, last}; !slices.Equal(got, want) {
		t.Errorf("after a restart there are %+v, want %+v", got, want)
	}
	if info, err := os.Stat(filepath.Join(dir, File)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
}

func TestRefused(t *testing.T) {
	s := open(t.TempDir())
	mine := put(t, s, human.View{Name: "Mine", Page: "inbox"})
	for name, tt := range map[string]struct {
		view human.View
		want human.ErrorKind
	}{
		"no name":           {human.View{Name: " ", Page: "inbox"}, human.Invalid},
		"two lines":         {human.View{Name: "a\nb", Page: "inbox"}, human.Invalid},
		"a long name":       {human.View{Name: strings.Repeat("x", human.MaxViewName+1), Page: "inbox"}, human.Invalid},
		"bytes, not text":   {human.View{Name: "\xff", Page: "inbox"}, human.Invalid},
		"another page":      {human.View{Name: "x", Page: "settings"}, human.Invalid},
		"a long query":      {human.View{Name: "x", Page: "inbox", Query: strings.Repeat("q", human.MaxViewQuery+1)}, human.Invalid},
		"no query":          {human.View{Name: "x", Page: "inbox", Query: "kind=%zz"}, human.Invalid},
		"a name that is":    {human.View{Name: "MINE", Page: "inbox"}, human.Conflict},
		"an id that is not": {human.View{ID: "view_x", Name: "x", Page: "inbox"}, human.NotFound},
	} {
		if _, err := s.Put(tt.view); human.KindOf(err) != tt.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.Delete("view_x"); human.KindOf(err) != human.NotFound {
		t.Errorf("deleting what is not there: %v", err)
	}
	if got := all(t, s); !slices.Equal(got, []human.View{mine}) {
		t.Errorf("there are %+v", got)
	}
	for i := range human.MaxViews - 1 {
		put(t, s, human.View{Name: fmt.Sprint(i), Page: "inbox"})
	}
	if _, err := s.Put(human.View{Name: "one more", Page: "inbox"}); human.KindOf(err) != human.Exhausted {
		t.Errorf("one more than %d: %v", human.MaxViews, err)
	}
}

func TestADamagedFileIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, File)
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(dir)
	if _, err := s.Views(); human.KindOf(err) != human.Unavailable || !strings.Contains(err.Error(), path) {
		t.Errorf("read: %v", err)
	}
	if _, err := s.Put(human.View{Name: "x", Page: "inbox"}); human.KindOf(err) != human.Unavailable {
		t.Errorf("put: %v", err)
	}
	if raw, _ := os.ReadFile(path); string(raw) != "{" {
		t.Errorf("the file is %q now", raw)
	}
}

func TestManyAtOnce(t *testing.T) {
	s := open(t.TempDir())
	var calls sync.WaitGroup
	for i := range 20 {
		calls.Go(func() {
			if _, err := s.Put(human.View{Name: fmt.Sprint("view ", i), Page: "inbox"}); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	if got := len(all(t, s)); got != 20 {
		t.Errorf("%d of 20 are kept", got)
	}
}
