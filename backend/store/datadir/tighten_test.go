//go:build !windows

package datadir_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"deskbell/backend/store/datadir"
)

func TestOldFilesAreTightened(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "other")
	for path, mode := range map[string]os.FileMode{
		outside: 0o644, filepath.Join(dir, "deskbell.db"): 0o644, filepath.Join(dir, "summarizers", "own", "run"): 0o777, filepath.Join(dir, "kept"): 0o400,
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "deskbell.log")); err != nil {
		t.Fatal(err)
	}
	links, err := datadir.Tighten(dir)
	if err != nil || !slices.Equal(links, []string{"deskbell.log"}) {
		t.Errorf("%q %v", links, err)
	}
	for path, want := range map[string]os.FileMode{
		".": 0o700, "summarizers": 0o700, "summarizers/own": 0o700, "summarizers/own/run": 0o700, "deskbell.db": 0o600, "kept": 0o400, "deskbell.log": 0o644,
	} {
		if info, err := os.Stat(filepath.Join(dir, path)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, want %v (%v)", path, info.Mode(), want, err)
		}
	}
}
