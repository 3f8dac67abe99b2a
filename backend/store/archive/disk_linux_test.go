package archive

import (
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"deskbell/backend/human"
)

// A disk that is full in the middle of a backup leaves the backups from before as they were, and the next one works once there is space.
func TestFullDisk(t *testing.T) {
	dir, folder := t.TempDir(), t.TempDir()
	err := syscall.Mount("deskbell-test", folder, "tmpfs", 0, "size=4m,mode=700")
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		t.Skip("a disk of its own cannot be mounted here")
	}
	must(t, err)
	t.Cleanup(func() { must(t, syscall.Unmount(folder, 0)) })
	s := service(dir, open(t, dir), func(o *Options) {
		o.Rules = func() Rules { return Rules{Folder: folder, Days: 7} }
	})
	first, err := s.Make(t.Context(), human.ArchiveAsked)
	must(t, err)
	large := filepath.Join(dir, "attachments", "large", "data")
	must(t, os.MkdirAll(filepath.Dir(large), 0o700))
	f, err := os.Create(large)
	must(t, err)
	_, err = io.CopyN(f, rand.Reader, 8<<20)
	must(t, errors.Join(err, f.Close()))
	if _, err := s.Make(t.Context(), human.ArchiveAsked); human.KindOf(err) != human.Internal || !strings.Contains(err.Error(), "space") {
		t.Errorf("on a full disk: %v", err)
	}
	st, err := s.State()
	if must(t, err); len(st.Archives) != 1 || !strings.Contains(st.Problem, "space") {
		t.Errorf("%+v", st)
	}
	if _, err := s.Verify(t.Context(), first.ID); err != nil {
		t.Error(err)
	}
	must(t, os.Remove(large))
	_, err = s.Make(t.Context(), human.ArchiveAsked)
	must(t, err)
}
