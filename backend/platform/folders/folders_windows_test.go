package folders_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// do is what a test does with the files of a folder; the first error fails it.
type do struct {
	t    *testing.T
	root string
}

func (d do) path(name string) string { return filepath.Join(d.root, filepath.FromSlash(name)) }

func (d do) ok(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d do) write(name, text string) { d.ok(os.WriteFile(d.path(name), []byte(text), 0o600)) }
func (d do) mkdir(name string)       { d.ok(os.MkdirAll(d.path(name), 0o700)) }
func (d do) move(from, to string)    { d.ok(os.Rename(d.path(from), d.path(to))) }
func (d do) remove(name string)      { d.ok(os.Remove(d.path(name))) }

// scratch is a folder that is gone when the test ends. (t.TempDir deletes in a way that Wine 8 does not know.)
func scratch(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "watched")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		var all []string
		_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, _ error) error { all = append(all, path); return nil })
		for _, path := range slices.Backward(all) {
			if err := os.Remove(path); err != nil {
				t.Error(err)
			}
		}
	})
	return dir
}

func TestWhatPeopleDoOnWindows(t *testing.T) {
	for name, tt := range map[string]struct {
		before, do func(do)
		want       string
	}{
		"a file is made":              {func(do) {}, func(d do) { d.write("a.txt", "hello") }, "created a.txt 5"},
		"writing again is a change":   {func(d do) { d.write("a", "a") }, func(d do) { d.write("a", "bcd") }, "changed a 3"},
		"deleted":                     {func(d do) { d.write("a", "a") }, func(d do) { d.remove("a") }, "deleted a"},
		"renamed":                     {func(d do) { d.write("a", "abc") }, func(d do) { d.move("a", "b") }, "renamed a to b 3"},
		"moved to another folder":     {func(d do) { d.write("a", "abc"); d.mkdir("d") }, func(d do) { d.move("a", "d/a") }, "renamed a to d/a 3"},
		"a deep folder with a file":   {func(do) {}, func(d do) { d.mkdir("d/e"); d.write("d/e/f", "x") }, "created d (folder)|created d/e (folder)|created d/e/f 1"},
		"saved through a temporary":   {func(d do) { d.write("a.docx", "a") }, func(d do) { d.write("~WRD0001.tmp", "bcd"); d.move("~WRD0001.tmp", "a.docx") }, "changed a.docx 3"},
		"hidden folders are left out": {func(d do) { d.mkdir(".git/objects") }, func(d do) { d.write(".git/HEAD", "x"); d.write(".git/objects/a", "x"); d.write("b", "y") }, "created b 1"},
		// With a handle on every folder, Windows would return an error.
		"a folder with folders in it is renamed": {func(d do) { d.mkdir("d/e"); d.write("d/e/f", "x") }, func(d do) { d.move("d", "g") }, "renamed d to g (folder)"},
		"written to after that":                  {func(d do) { d.mkdir("d/e") }, func(d do) { d.move("d", "g"); d.write("g/e/h", "1") }, "renamed d to g (folder)|created g/e/h 1"},
	} {
		t.Run(name, func(t *testing.T) {
			d := do{t, scratch(t)}
			tt.before(d)
			w := start(t, d.root)
			tt.do(d)
			w.ends(strings.Split(tt.want, "|")...)
		})
	}
}
