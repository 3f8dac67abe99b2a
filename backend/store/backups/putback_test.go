package backups

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
	"time"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
)

func TestPutBack(t *testing.T) {
	sum := func(text string) string {
		s := sha256.Sum256([]byte(text))
		return hex.EncodeToString(s[:])
	}
	const shown, now = "shown\n", "now\n"
	for name, c := range map[string]struct {
		lay  func(t *testing.T, dir string) (path string)
		want human.ErrorKind // 0: it is put back
	}{
		"a file": {lay: func(_ *testing.T, dir string) string { return filepath.Join(dir, "x.sh") }},
		"a link in its place": {want: human.Denied, lay: func(t *testing.T, dir string) string {
			linkAt(t, "x.sh", filepath.Join(dir, "link.sh"))
			return filepath.Join(dir, "link.sh")
		}},
		"behind a link": {want: human.Denied, lay: func(t *testing.T, dir string) string {
			linkAt(t, dir, dir+"-link")
			return filepath.Join(dir+"-link", "x.sh")
		}},
		"another version": {want: human.Conflict, lay: func(t *testing.T, dir string) string {
			scriptAt(t, filepath.Join(dir, "other.sh"), "third\n")
			return filepath.Join(dir, "other.sh")
		}},
		"a folder": {want: human.Denied, lay: func(t *testing.T, dir string) string { return folderAt(t, filepath.Join(dir, "folder")) }},
		"none":     {want: human.Conflict, lay: func(_ *testing.T, dir string) string { return filepath.Join(dir, "none.sh") }},
		"Deskbell's own": {want: human.Denied, lay: func(t *testing.T, dir string) string {
			own := filepath.Join(filepath.Dir(dir), "data", "x.sh")
			scriptAt(t, own, now)
			return own
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			folderAt(t, filepath.Join(dir, "data"))
			tree := folderAt(t, filepath.Join(dir, "tree"))
			scriptAt(t, filepath.Join(tree, "x.sh"), now)
			other := filepath.Join(dir, "same.sh") // a second name of the file stays as it is
			if err := os.Link(filepath.Join(tree, "x.sh"), other); err != nil {
				t.Fatal(err)
			}
			path := c.lay(t, tree)
			before := everything(t, dir)
			err = New(filepath.Join(dir, "data"), time.Now, nil, nil).PutBack(service.ShownFile{Path: path, Now: sum(now), Text: shown})
			if c.want != 0 {
				if human.KindOf(err) != c.want {
					t.Errorf("%v", err)
				}
				if after := everything(t, dir); after != before {
					t.Errorf("there is now\n%s\nand was\n%s", after, before)
				}
				return
			}
			text, readErr := os.ReadFile(path)
			info, statErr := os.Stat(path)
			if err != nil || readErr != nil || statErr != nil || string(text) != shown || info.Mode().Perm() != 0o750 {
				t.Errorf("%q %v, %v", text, info, err)
			}
			if text, err := os.ReadFile(other); err != nil || string(text) != now {
				t.Errorf("its other name has %q, %v", text, err)
			}
		})
	}
}

func linkAt(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

func folderAt(t *testing.T, dir string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	return dir
}

func scriptAt(t *testing.T, path, text string) {
	t.Helper()
	folderAt(t, filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), 0o750); err != nil { //nolint:gosec // a script
		t.Fatal(err)
	}
}

// everything is every file below a folder with its text.
func everything(t *testing.T, dir string) (all string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			all += path + " " + e.Type().String() + "\n"
			return err
		}
		text, err := os.ReadFile(path) //nolint:gosec // of the test's own
		all += path + " " + string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
