package disk_test

import (
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"deskbell/backend/store/disk"
)

// A file that is replaced keeps its mode, a link stays one, and nothing is left beside it.
func TestReplace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, link := filepath.Join(dir, "a.toml"), filepath.Join(t.TempDir(), "b.toml")
	if err := os.WriteFile(path, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err) // Windows without the right to make them
	}
	mode := func() os.FileMode {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}
	before := mode()
	if n, err := disk.Replace(link, strings.NewReader("new"), 0o600); err != nil || n != 3 {
		t.Fatal(n, err)
	}
	data, err := os.ReadFile(path)
	if err != nil || string(data) != "new" || mode() != before {
		t.Errorf("%q, %s, %v", data, mode(), err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("beside it %v, %v", entries, err)
	}
	if _, err := disk.Replace(filepath.Join(dir, "none", "c.toml"), strings.NewReader(""), 0o600); err == nil {
		t.Error("a file in a folder that is not there")
	}
	broken := io.MultiReader(strings.NewReader("half"), iotest.ErrReader(errors.New("the line is cut")))
	if _, err := disk.Replace(path, broken, 0o600); err == nil {
		t.Error("half a file")
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "new" {
		t.Errorf("what was there is %q, %v", data, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("beside it %v, %v", entries, err)
	}
}

func TestFree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if n, err := disk.Free(dir); err != nil || n == 0 {
		t.Errorf("%d bytes, %v", n, err)
	}
	if _, err := disk.Free(filepath.Join(dir, "none")); err == nil {
		t.Error("space in a folder that is not there")
	}
}

// A leaver leaves the temporary file that it is written to, as a process does that is killed.
type leaver struct{ dir string }

func (l leaver) Read([]byte) (int, error) {
	temporary, err := filepath.Glob(filepath.Join(l.dir, ".deskbell-*"))
	for _, name := range temporary {
		err = errors.Join(err, os.Link(name, name+"X"))
	}
	return 0, cmp.Or(err, io.EOF)
}

// What a Replace that was killed left of one file goes; what others left stays.
func TestTidy(t *testing.T) {
	dirs := []string{t.TempDir(), t.TempDir()}
	for _, dir := range dirs {
		path := filepath.Join(dir, "a.log")
		if _, err := disk.Replace(path, leaver{dir}, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i, tidied := range []string{"a.log", "b.log"} {
		if err := disk.Tidy(filepath.Join(dirs[i], tidied)); err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(dirs[i]); err != nil || len(left) != 1+i {
			t.Errorf("beside %s are %v, %v", tidied, left, err)
		}
	}
}
