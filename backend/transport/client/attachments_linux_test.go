package client

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"deskbell/backend/human"
)

// Only regular files are read, without waiting for anyone, and never more than may be attached.
func TestReadAttachment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{"log.txt": "words", "empty": "", "locked": "x"} {
		must(t, os.WriteFile(in(name), []byte(text), 0o600))
	}
	must(t, os.Chmod(in("locked"), 0))
	must(t, os.Symlink("log.txt", in("link")))
	must(t, os.Symlink("nowhere", in("dangling")))
	must(t, os.Symlink("loop", in("loop")))
	must(t, os.Symlink("/dev/zero", in("zero")))
	must(t, syscall.Mkfifo(in("fifo"), 0o600))
	must(t, os.WriteFile(in("huge"), nil, 0o600))
	must(t, os.Truncate(in("huge"), human.LargestAttachment+1))
	for path, says := range map[string]string{
		in("log.txt"): "", in("link"): "", in("../" + filepath.Base(dir) + "/log.txt"): "",
		in("missing"): "no file", in("dangling"): "no file", in("log.txt/x"): "cannot be read", in("loop"): "cannot be read",
		dir: "no regular file", in("fifo"): "no regular file", in("zero"): "no regular file", "/dev/null": "no regular file",
		in("empty"): "is empty", "/proc/self/environ": "is empty", in("huge"): "more than 10000000 bytes",
		"": "no file", in("a\x00b"): "cannot be read",
	} {
		name, data, err := ReadAttachment(path)
		if says == "" {
			if err != nil || string(data) != "words" || name != filepath.Base(path) {
				t.Errorf("%s: %q %q %v", path, name, data, err)
			}
			continue
		}
		if human.KindOf(err) != human.Invalid || !strings.Contains(human.SafeText(err), says) || data != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if os.Getuid() != 0 {
		if _, _, err := ReadAttachment(in("locked")); human.KindOf(err) != human.Invalid || !strings.Contains(err.Error(), "cannot be read by the user") {
			t.Errorf("locked: %v", err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
