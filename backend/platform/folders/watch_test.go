package folders_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"deskbell/backend/human"
	"deskbell/backend/platform/folders"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var began = time.Now()

func clock() (time.Time, int64) { return time.Now(), int64(time.Since(began)) }

// A watch is a source at work.
type watch struct {
	t      *testing.T
	root   string
	mu     sync.Mutex
	events []human.RecordedEvent
	stop   func() uint64
}

// start watches root, which may hold something by then.
func start(t *testing.T, root string, more ...string) *watch {
	t.Helper()
	w := &watch{t: t, root: root}
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan struct{}), make(chan struct{})
	var seen uint64
	var err error
	go func() {
		defer close(done)
		seen, err = folders.New(clock, append([]string{root}, more...), filepath.Join(root, "own data")).Run(ctx, func() { close(ready) }, func(e human.RecordedEvent) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.events = append(w.events, e)
		})
	}()
	w.stop = sync.OnceValue(func() uint64 {
		cancel()
		<-done
		if err != nil {
			t.Errorf("the source was lost: %v", err)
		}
		return seen
	})
	t.Cleanup(func() { w.stop() })
	select {
	case <-ready:
	case <-time.After(10 * time.Second):
		t.Fatal("not ready within 10 s")
	}
	return w
}

// told are the events so far, in words, with paths below the root.
func (w *watch) told() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var lines []string
	for _, e := range w.events {
		if e.File == nil {
			lines = append(lines, "gap "+e.Gap.Reason)
			continue
		}
		line := e.File.Op + " " + w.below(e.File.Path)
		if e.File.To != "" {
			line += " to " + w.below(e.File.To)
		}
		if e.File.Dir {
			line += " (folder)"
		} else if e.File.Op != "deleted" {
			line += fmt.Sprintf(" %d", e.File.Size)
		}
		lines = append(lines, line)
	}
	return lines
}

// ends with exactly these, in this order: waits for the last one, and stops, which tells of all that is left.
func (w *watch) ends(want ...string) {
	w.t.Helper()
	w.until(func(told []string) bool { return len(told) >= len(want) })
	seen := w.stop()
	if got := w.told(); !slices.Equal(got, want) {
		w.t.Errorf("told\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
	if seen != uint64(len(want)) {
		w.t.Errorf("counted %d, told of %d", seen, len(want))
	}
}

func (w *watch) until(enough func([]string) bool) {
	w.t.Helper()
	deadline := time.After(30 * time.Second)
	for !enough(w.told()) {
		select {
		case <-deadline:
			w.t.Errorf("after 30 s only\n\t%s", strings.Join(w.told(), "\n\t"))
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// below is a path's part below the root, with slashes.
func (w *watch) below(path string) string {
	return filepath.ToSlash(strings.TrimPrefix(strings.TrimPrefix(path, w.root), string(filepath.Separator)))
}
