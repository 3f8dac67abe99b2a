package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// A server leaves no core file, and takes its folder from other users.
func TestAServerIsSealed(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "old.txt")
	if err := os.WriteFile(old, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{old: 0o666, dir: 0o755} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	s := serve(t, dir, nil)
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", s.cmd.Process.Pid))
	if err != nil || !regexp.MustCompile(`Max core file size\s+0\s+0\s`).Match(limits) {
		t.Errorf("%s %v", limits, err)
	}
	for path, want := range map[string]os.FileMode{old: 0o600, dir: 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
	}
}
