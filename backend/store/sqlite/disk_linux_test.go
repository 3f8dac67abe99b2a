package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/queue"
)

// mount puts a small file system of its own at a new folder, or returns false where that is not allowed.
func mount(t *testing.T, bytes int) (dir string, remount func(flags uintptr), ok bool) {
	t.Helper()
	dir = t.TempDir()
	size := fmt.Sprintf("size=%d,mode=700", bytes)
	err := syscall.Mount("deskbell-test", dir, "tmpfs", 0, size)
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		return "", nil, false
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir, func(flags uintptr) {
		if err := syscall.Mount("deskbell-test", dir, "tmpfs", syscall.MS_REMOUNT|flags, size); err != nil {
			t.Fatal(err)
		}
	}, true
}

// On a full disk every append of the group fails in plain words and none is stored; once there is space
// again the same store continues.
func TestFullDisk(t *testing.T) {
	const size = 8 << 20
	h := &history{TB: t, versions: map[human.OperationID]uint64{}}
	var fill, free func()
	dir, _, mounted := mount(t, size)
	if mounted {
		h.dir = dir
		ballast := filepath.Join(dir, "ballast")
		fill = func() {
			f, err := os.Create(ballast)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			for block := make([]byte, 4096); ; {
				if _, err := f.Write(block); errors.Is(err, syscall.ENOSPC) {
					return
				} else if err != nil {
					t.Fatal(err)
				}
			}
		}
		free = func() {
			if err := os.Remove(ballast); err != nil {
				t.Fatal(err)
			}
		}
	} else {
		h.dir = t.TempDir()
		limit := func(pages int) {
			if err := h.do(context.Background(), func(ctx context.Context, w *writer) error {
				var got int
				return w.conn.QueryRowContext(ctx, fmt.Sprintf(`PRAGMA max_page_count = %d`, pages)).Scan(&got)
			}); err != nil {
				t.Fatal(err)
			}
		}
		fill, free = func() { limit(1) }, func() { limit(1 << 30) }
	}
	h.open(Options{})
	defer h.Close()
	h.add("op_1", ring("before"))
	fill()
	var failed sync.Map
	for n := 0; ; n++ {
		var wg sync.WaitGroup
		full := false
		for w := range 4 {
			id := human.OperationID(fmt.Sprintf("op_%d_%d", n, w))
			wg.Go(func() {
				err := appendTo(h, context.Background(), id, 0, ring("text "+strings.Repeat("x", 10000)))
				if err == nil {
					return
				}
				failed.Store(id, err)
			})
		}
		wg.Wait()
		failed.Range(func(id, err any) bool {
			full = true
			wantKind(t, err.(error), human.Internal)
			for _, text := range []string{h.file, "space", "nothing was stored", "try again"} {
				if !strings.Contains(human.SafeText(err.(error)), text) {
					t.Fatalf("%q does not say %q", human.SafeText(err.(error)), text)
				}
			}
			return true
		})
		if full {
			break
		}
		if n > size/10000 {
			t.Fatal("the disk does not fill")
		}
	}
	if h.Ready(t.Context()) == nil {
		t.Error("it is ready without space")
	}
	head := h.live.seq()
	lacking, _ := h.late.snapshot()
	for n := range lacking {
		if n > head {
			t.Errorf("search has the text of operation %d, which was not stored: the journal ends at %d", n, head)
		}
	}
	h.wantIDs(queue.Filter{Text: "before"}, "op_1")
	free()
	h.add("op_1", done("after"))
	if got := h.live.seq(); got != head+1 {
		t.Errorf("the first append after the full disk has seq %d, want %d", got, head+1)
	}
	failed.Range(func(id, _ any) bool {
		if entries, err := h.Operation(context.Background(), id.(human.OperationID)); err != nil || len(entries) != 0 {
			t.Errorf("%s failed and is there: %v, %v", id, entries, err)
		}
		if err := appendTo(h, context.Background(), id.(human.OperationID), 0, ring("again")); err != nil {
			t.Errorf("%s, again: %v", id, err)
		}
		return true
	})
	grown := h.dump()
	if err := h.Rebuild(context.Background()); err != nil {
		t.Fatal(err)
	}
	if made := h.dump(); strings.Join(made, "\n") != strings.Join(grown, "\n") {
		t.Error("after a full disk the projection is not the journal's")
	}
}

func TestReadOnlyFolder(t *testing.T) {
	dir, remount, mounted := mount(t, 8<<20)
	if !mounted {
		// Without the right to mount we have no right to write where the mode forbids it, either.
		dir = t.TempDir()
		remount = func(flags uintptr) {
			mode := os.FileMode(0o700)
			if flags != 0 {
				mode = 0o500
			}
			if err := os.Chmod(dir, mode); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(filepath.Join(dir, FileName), mode&0o600); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		}
	}
	defer remount(0)
	for _, before := range []string{"an empty folder", "a folder with a database"} {
		remount(syscall.MS_RDONLY)
		_, err := Open(t.Context(), dir, Options{})
		wantKind(t, err, human.Unavailable)
		for _, text := range []string{dir, "permissions", "choose another"} {
			if !strings.Contains(human.SafeText(err), text) {
				t.Errorf("%s: %q does not say %q", before, human.SafeText(err), text)
			}
		}
		remount(0)
		s, err := Open(t.Context(), dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A disk that is full is not ready, and one with space again is.
func TestReadyNeedsSpace(t *testing.T) {
	dir, _, mounted := mount(t, 40<<20)
	if !mounted {
		t.Skip("it may not mount a file system of its own")
	}
	h := &history{TB: t, dir: dir, versions: map[human.OperationID]uint64{}}
	h.open(Options{})
	defer h.Close()
	if err := h.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 30<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	wantKind(t, h.Ready(t.Context()), human.Exhausted)
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := h.Ready(t.Context()); err != nil {
		t.Error(err)
	}
}
