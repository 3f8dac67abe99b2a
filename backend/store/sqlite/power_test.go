package sqlite

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/queue/journaltest"
	"deskbell/backend/store/sqlite/faulty"
)

// A logged is a store whose every write is written down, and what it acknowledged.
type logged struct {
	t    *testing.T
	dir  string
	disk *faulty.Disk
	stop func() // no longer writes down

	mu     sync.Mutex
	acked  []ack
	failed int
}

// An ack is one acknowledged append: its last entry, and the position of the disk when it was acknowledged.
type ack struct {
	seq      uint64
	position int
	text     string
}

func newLogged(t *testing.T) *logged {
	t.Helper()
	l := &logged{t: t, dir: t.TempDir()}
	disk, stop, err := faulty.Watch(l.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	l.disk, l.stop = disk, stop
	return l
}

func (l *logged) open() *Store {
	l.t.Helper()
	s, err := Open(l.t.Context(), l.dir, Options{Key: journaltest.Key})
	if err != nil {
		l.t.Fatal(err)
	}
	return s
}

func (l *logged) close(s *Store) {
	l.t.Helper()
	if err := s.Close(); err != nil {
		l.t.Fatal(err)
	}
}

// work appends from four goroutines; each makes operations and answers half of them. Those that fail are counted.
func (l *logged) work(s *Store, round, each int) {
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for n := range each {
				id := human.OperationID(fmt.Sprintf("op_%d_%d_%d", round, w, n))
				text := fmt.Sprintf("ring %s %s", id, strings.Repeat("é", n*97%3000))
				if !l.append(s, id, 0, text, ring(text)) || n%2 == 1 {
					continue
				}
				l.append(s, id, 1, "answer "+string(id), done("answer "+string(id)))
			}
		})
	}
	all.Wait()
}

func (l *logged) append(s *Store, id human.OperationID, expected uint64, text string, e human.Event) bool {
	e.At = epoch
	seq, err := s.Append(context.Background(), id, expected, e)
	position := l.disk.Position()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.failed++
		return false
	}
	l.acked = append(l.acked, ack{seq, position, text})
	return true
}

// checkpoint copies the log into the main file, as the writer does when the log has grown.
func (l *logged) checkpoint(mode string) {
	l.t.Helper()
	db, err := connect(filepath.Join(l.dir, FileName), 1, "busy_timeout(5000)")
	if err != nil {
		l.t.Fatal(err)
	}
	defer db.Close()
	var busy, pages, done int
	if err := db.QueryRowContext(l.t.Context(), `PRAGMA wal_checkpoint(`+mode+`)`).Scan(&busy, &pages, &done); err != nil || busy != 0 {
		l.t.Fatalf("checkpoint: busy %d, %d of %d pages, %v", busy, done, pages, err)
	}
}

// lacks opens a folder and names what was acknowledged before a position and is not there, or what else is wrong with it.
func (l *logged) lacks(dir string, position int) (wrong string) {
	s, err := Open(l.t.Context(), dir, Options{Key: journaltest.Key})
	if err != nil {
		return err.Error()
	}
	defer s.Close()
	texts := map[uint64]string{}
	for e, err := range s.Read(l.t.Context(), 0) {
		if err != nil {
			return err.Error()
		}
		raw, err := json.Marshal(e)
		if err != nil {
			return err.Error()
		}
		if e.Seq != uint64(len(texts)+1) {
			return fmt.Sprintf("entry %d stands behind entry %d", e.Seq, len(texts))
		}
		texts[e.Seq] = string(raw)
	}
	for _, a := range l.acked {
		if a.position <= position && !strings.Contains(texts[a.seq], a.text) {
			return fmt.Sprintf("entry %d of %d was acknowledged at %d and is %.100q", a.seq, len(texts), a.position, texts[a.seq])
		}
	}
	return ""
}

// TestPowerLoss has the power fail at many moments, with each rule of what a disk may then hold. DESKBELL_POWER_MOMENTS says how many moments
// by chance besides those around syncs; DESKBELL_POWER_SEED repeats them.
func TestPowerLoss(t *testing.T) {
	l := newLogged(t)
	s := l.open()
	l.work(s, 0, 6)
	l.checkpoint("PASSIVE") // the log is then written again from its beginning
	l.work(s, 1, 6)
	l.checkpoint("TRUNCATE")
	l.work(s, 2, 4)
	l.close(s)
	s = l.open()
	l.work(s, 3, 4)
	l.close(s)
	if l.failed > 0 {
		t.Fatalf("%d appends failed on a disk without faults", l.failed)
	}
	end := l.disk.Position()
	random, most := rand.New(rand.NewPCG(powerSetting(t, "DESKBELL_POWER_SEED", 1), 0)), powerSetting(t, "DESKBELL_POWER_MOMENTS", 10)
	moments := append(l.disk.Moments(), end)
	if most <= 10 { // all of them take minutes
		random.Shuffle(len(moments), func(i, j int) { moments[i], moments[j] = moments[j], moments[i] })
		moments = moments[:min(len(moments), 20)]
	}
	for range most {
		moments = append(moments, random.IntN(end+1))
	}
	slices.Sort(moments)
	moments = slices.Compact(moments)
	top, tried, images := t.TempDir(), 0, map[string]bool{}
	for _, position := range moments {
		for i, rule := range faulty.Rules(FileName, FileName+"-wal") {
			dir := filepath.Join(top, fmt.Sprintf("%d-%d", position, i))
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := l.disk.Restore(dir, position, rule); err != nil {
				t.Fatal(err)
			}
			image := fingerprint(t, dir)
			if !images[image] {
				images[image] = true
				tried++
				if wrong := l.lacks(dir, position); wrong != "" {
					t.Errorf("the power failed at %d of %d, behind %s; %s: %s", position, end, l.disk.At(position), rule.Name, wrong)
				}
			}
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d operations on the files, %d acknowledged appends, %d moments, %d states of the disk", end, len(l.acked), len(moments), tried)
}

func powerSetting(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// fingerprint is the content of all files of a folder: many moments leave the same.
func fingerprint(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	hash := sha256.New()
	for _, e := range entries {
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(hash, "%s %d\n", e.Name(), len(raw))
		_, _ = hash.Write(raw) // it never fails
	}
	return string(hash.Sum(nil))
}

// TestDiskFails has writes and syncs fail once, or from some moment on for a while, under load. What fails must be an error to its caller; all
// that was acknowledged is there after the next start, also when the power fails after it and the disk has forgotten what it could not sync.
func TestDiskFails(t *testing.T) {
	for name, tt := range map[string]struct {
		kind   faulty.Kind
		result int32
		short  bool
		times  int
	}{
		"a write fails":                         {faulty.Write, faulty.WriteFailed, false, 1},
		"a short write, and an error":           {faulty.Write, faulty.WriteFailed, true, 1},
		"the disk is full":                      {faulty.Write, faulty.Full, false, 40},
		"the disk is full after half of a page": {faulty.Write, faulty.Full, true, 40},
		"a sync fails":                          {faulty.Sync, faulty.SyncFailed, false, 1},
		"some syncs fail":                       {faulty.Sync, faulty.SyncFailed, false, 5},
	} {
		t.Run(name, func(t *testing.T) {
			for _, at := range []int{1, 5} {
				l := newLogged(t)
				s := l.open()
				l.work(s, 0, 2)
				n := 0
				l.disk.Fail(func(op faulty.Op) (int32, bool) {
					if op.Kind != tt.kind || op.File != FileName+"-wal" {
						return faulty.OK, false
					}
					n++
					if n <= at || n > at+tt.times {
						return faulty.OK, false
					}
					return tt.result, tt.short
				})
				l.work(s, 1, 6)
				l.disk.Fail(nil)
				if l.failed == 0 {
					t.Errorf("at %d: no append failed", at)
				}
				before := len(l.acked)
				l.work(s, 2, 2)
				if len(l.acked) == before {
					t.Errorf("at %d: nothing is accepted once the disk works again", at)
				}
				end := l.disk.Position()
				for i, rule := range faulty.Rules(FileName, FileName+"-wal") {
					dir := filepath.Join(t.TempDir(), strconv.Itoa(i))
					if err := os.Mkdir(dir, 0o700); err != nil {
						t.Fatal(err)
					}
					if err := l.disk.Restore(dir, end, rule); err != nil {
						t.Fatal(err)
					}
					if wrong := l.lacks(dir, end); wrong != "" {
						t.Errorf("at %d, then the power failed; %s: %s", at, rule.Name, wrong)
					}
				}
				l.close(s)
				if wrong := l.lacks(l.dir, l.disk.Position()); wrong != "" {
					t.Errorf("at %d: %s", at, wrong)
				}
				l.stop()
			}
		})
	}
}
