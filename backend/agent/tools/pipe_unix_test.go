//go:build unix

package tools_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe that nobody writes to must not be waited for.
func TestWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Skip(err)
	}
	tool := files(t, dir)
	for name, args := range map[string]with{
		"read_file": {"path": "pipe"}, "edit_file": {"path": "pipe", "old_text": "a", "new_text": "b"}, "write_file": {"path": "pipe", "content": "x"},
	} {
		if out := call(t, tool[name], args); !out.Failed || !strings.Contains(out.Text, "no ordinary file") {
			t.Errorf("%s: %+v", name, out)
		}
	}
	if out := call(t, tool["search_files"], with{"pattern": "x"}); out.Failed {
		t.Errorf("%+v", out)
	}
}
