// Package runs keeps the journals of the reference agent's runs: a file of JSON lines each, in a folder of the data folder.
// The process that runs a run writes it; whoever may read the folder can read along.
package runs

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"deskbell/backend/agent"
	"deskbell/backend/human"
)

// The bounds of a journal, and of what is read of one at once.
const (
	maxJournal = 256 << 20 // bytes
	maxRecord  = 16 << 20
	maxUpdates = 500
	maxAnswer  = 4 << 20 // bytes of updates
	maxKnown   = 256     // journals whose outlines are kept in memory
)

const (
	extension = ".jsonl"
	lockEnd   = ".lock"
	stopEnd   = ".stop"
	lookEvery = 150 * time.Millisecond // for more, while a reader waits
	lockFor   = time.Second            // readers look at a lock for a moment, too
)

var ids = regexp.MustCompile(`^[a-z0-9_]{1,64}$`)

// A Store is the folder of the journals. Its methods are safe for concurrent use, by several processes, too.
type Store struct {
	dir string

	mu    sync.Mutex
	known map[string]*outline
}

// New makes a store of a folder, which need not be there.
func New(dir string) *Store { return &Store{dir: dir, known: map[string]*outline{}} }

func (s *Store) path(id, end string) (string, error) {
	if !ids.MatchString(id) {
		return "", human.Errorf(human.NotFound, "there is no run %q", human.OneLine(id, 80))
	}
	return filepath.Join(s.dir, id+end), nil
}

// A Journal is a run's that this process runs; it implements agent.Journal. It is not safe for concurrent use.
type Journal struct {
	file *os.File
	lock *flock.Flock
	size int64
	err  error // why nothing more is written
}

// Create begins the journal of a new run; Conflict where there is one already.
func (s *Store) Create(id string) (*Journal, error) {
	path, err := s.path(id, extension)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, human.Wrap(human.Unavailable, err, "the folder of runs %s cannot be made", s.dir)
	}
	lock, err := s.hold(id)
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		_ = lock.Unlock() // the first error is the one that counts
		if errors.Is(err, fs.ErrExist) {
			return nil, human.Errorf(human.Conflict, "there is a run %s already", id)
		}
		return nil, human.Wrap(human.Unavailable, err, "the journal %s cannot be written", path)
	}
	if dir, err := os.Open(s.dir); err == nil {
		_ = dir.Sync() // not every system can, and none needs it to continue
		_ = dir.Close()
	}
	return &Journal{file: file, lock: lock}, nil
}

// Resume opens the journal of a run to continue it, and returns what it holds. It removes what a crash left of a last line.
// Conflict where another process runs it; NotFound without.
func (s *Store) Resume(id string) (*Journal, []agent.Record, error) {
	path, err := s.path(id, extension)
	if err != nil {
		return nil, nil, err
	}
	if _, err := os.Stat(path); err != nil {
		return nil, nil, human.Wrap(human.NotFound, err, "there is no run %s on this data folder", id)
	}
	lock, err := s.hold(id)
	if err != nil {
		return nil, nil, err
	}
	j := &Journal{lock: lock}
	records, err := j.open(path)
	if err != nil {
		_ = j.Close() // the first error is the one that counts
		return nil, nil, err
	}
	return j, records, nil
}

// Continue opens the journal of a run as Resume does, and returns what the run is to do, too.
func (s *Store) Continue(id string) (*Journal, agent.RunInfo, []agent.Record, error) {
	j, records, err := s.Resume(id)
	if err != nil {
		return nil, agent.RunInfo{}, nil, err
	}
	info, err := agent.InfoOf(records)
	if err == nil && info.ID != id {
		err = human.Errorf(human.Invalid, "the journal of run %s does not say what its task was", id)
	}
	if err != nil {
		return nil, info, nil, errors.Join(err, j.Close())
	}
	return j, info, records, nil
}

// Sessions keep the conversations of agents as journals are kept.
func (s *Store) Sessions() agent.Sessions { return sessions{s} }

type sessions struct{ of *Store }

// Begin implements agent.Sessions.
func (s sessions) Begin(id string) (agent.SessionLog, error) { return s.of.Create(id) }

// Open implements agent.Sessions.
func (s sessions) Open(id string) (agent.SessionLog, []agent.Record, error) {
	j, records, err := s.of.Resume(id)
	switch human.KindOf(err) {
	case human.NotFound:
		err = human.Errorf(human.NotFound, "session %q is not known here: check the id, or send the message without one to start a new session", human.OneLine(id, 80))
	case human.Conflict:
		err = human.Errorf(human.Conflict, "session %s is still answering another message; wait for that answer", id)
	}
	return j, records, err
}

// Stop asks the process that runs a run to stop it, as Ctrl-C does. Conflict where none does.
func (s *Store) Stop(id string) error {
	path, err := s.path(id, stopEnd)
	if err != nil {
		return err
	}
	if !s.alive(id) {
		return human.Errorf(human.Conflict, "no process runs %s now", id)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return human.Wrap(human.Unavailable, err, "the file %s cannot be written", path)
	}
	return nil
}

// Stopped returns once Stop was called for the run, or ctx has ended; it says which.
func (j *Journal) Stopped(ctx context.Context) bool {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	path := strings.TrimSuffix(j.file.Name(), extension) + stopEnd
	for {
		if os.Remove(path) == nil {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
}

// hold takes the lock of a run.
func (s *Store) hold(id string) (*flock.Flock, error) {
	path, err := s.path(id, lockEnd)
	if err != nil {
		return nil, err
	}
	lock := flock.New(path, flock.SetPermissions(0o600))
	ctx, stop := context.WithTimeout(context.Background(), lockFor)
	defer stop()
	got, err := lock.TryLockContext(ctx, 10*time.Millisecond)
	switch {
	case err != nil && !errors.Is(err, context.DeadlineExceeded):
		return nil, human.Wrap(human.Unavailable, err, "the lock %s cannot be taken", path)
	case !got:
		return nil, human.Errorf(human.Conflict, "another process runs %s now", id)
	}
	return lock, nil
}

// open reads a journal, and cuts off what is no whole line at its end.
func (j *Journal) open(path string) ([]agent.Record, error) {
	var err error
	if j.file, err = os.OpenFile(path, os.O_RDWR, 0); err != nil {
		return nil, human.Wrap(human.Unavailable, err, "the journal %s cannot be opened", path)
	}
	if info, err := j.file.Stat(); err != nil || info.Size() > maxJournal {
		return nil, human.Wrap(human.Invalid, err, "the journal %s is too large, so the run cannot continue", path)
	}
	var records []agent.Record
	var whole int64
	lines := bufio.NewReaderSize(j.file, 256<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break // what is left has no end
		}
		if err != nil {
			return nil, human.Wrap(human.Unavailable, err, "the journal %s cannot be read", path)
		}
		var r agent.Record
		if err := json.Unmarshal(line, &r); err != nil {
			if _, more := lines.Peek(1); more == nil {
				return nil, human.Wrap(human.Invalid, err, "the journal %s is damaged after %d bytes; Deskbell cannot know what ran, so the run cannot continue", path, whole)
			}
			break // the last one: its place was made, and what was to be in it was not written
		}
		records, whole = append(records, r), whole+int64(len(line))
	}
	if len(records) == 0 {
		return nil, human.Errorf(human.Invalid, "the journal %s is empty, so the run cannot continue", path)
	}
	if err := j.file.Truncate(whole); err != nil {
		return nil, human.Wrap(human.Unavailable, err, "the journal %s cannot be written", path)
	}
	j.size = whole
	return records, nil
}

// Append writes a record and returns when it is durable. After an error nothing more is written.
func (j *Journal) Append(_ context.Context, r agent.Record) error {
	if j.err != nil {
		return j.err
	}
	line, err := json.Marshal(r)
	if err != nil {
		return human.Wrap(human.Internal, err, "a record of the journal cannot be written as JSON")
	}
	if line = append(line, '\n'); len(line) > maxRecord || j.size+int64(len(line)) > maxJournal {
		return human.Errorf(human.Invalid, "the run's journal is too large; the limit is %d MiB, and %d MiB for one record", maxJournal>>20, maxRecord>>20)
	}
	if _, err = j.file.WriteAt(line, j.size); err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		_ = j.file.Truncate(j.size) // as good as it goes: whoever resumes the run cuts it off as well
		j.err = human.Wrap(human.Unavailable, err, "the run's journal %s cannot be written: %v", j.file.Name(), err)
		return j.err
	}
	j.size += int64(len(line))
	return nil
}

// Close releases the journal and of its lock.
func (j *Journal) Close() error {
	if j == nil {
		return nil
	}
	var err error
	if j.file != nil {
		err = j.file.Close()
	}
	return errors.Join(err, j.lock.Unlock())
}

// An outline is what is known of a journal: of its whole lines, up to size.
type outline struct {
	mu      sync.Mutex
	size    int64
	run     agent.RunView
	updates []span
}

type span struct{ from, to int64 }

// List returns the latest runs, or conversations, as the prefix of their ids says; that of the latest record first.
func (s *Store) List(ctx context.Context, prefix string, most int) ([]agent.RunView, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, human.Wrap(human.Unavailable, err, "the folder of runs %s cannot be read", s.dir)
	}
	last := map[string]time.Time{}
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), extension); ok && strings.HasPrefix(id, prefix) && ids.MatchString(id) && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil { // else it was removed meanwhile
				last[id] = info.ModTime()
			}
		}
	}
	found := slices.SortedFunc(maps.Keys(last), func(a, b string) int { return cmp.Or(last[b].Compare(last[a]), cmp.Compare(b, a)) })
	var list []agent.RunView
	for _, id := range found[:min(len(found), max(most, 0))] {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if run, _, err := s.look(id); err == nil && run.Task != "" { // one that has just begun has no first line yet
			list = append(list, run)
		}
	}
	return list, nil
}

// Read returns a run and its updates after the first so many. Where there are none it waits for one, at most for the time
// given; it returns, too, when the run's process comes or goes. NotFound without the run.
func (s *Store) Read(ctx context.Context, id string, after int, wait time.Duration) (agent.RunUpdates, error) {
	ctx, stop := context.WithTimeout(ctx, max(wait, 0))
	defer stop()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var alive *bool // when it began
	for {
		run, spans, err := s.look(id)
		if err != nil {
			return agent.RunUpdates{}, err
		}
		if alive == nil {
			alive = &run.Alive
		}
		if after = max(0, min(after, len(spans))); after < len(spans) {
			updates, err := s.updates(id, spans[after:])
			return agent.RunUpdates{Run: run, Updates: updates, Next: after + len(updates)}, err
		}
		if run.Alive != *alive {
			return agent.RunUpdates{Run: run, Updates: []agent.Update{}, Next: after}, nil
		}
		select {
		case <-ctx.Done():
			return agent.RunUpdates{Run: run, Updates: []agent.Update{}, Next: after}, nil
		case <-tick.C:
		}
	}
}

// look brings what is known of a journal up to date.
func (s *Store) look(id string) (agent.RunView, []span, error) {
	path, err := s.path(id, extension)
	if err != nil {
		return agent.RunView{}, nil, err
	}
	s.mu.Lock()
	o := s.known[id]
	if o == nil {
		if len(s.known) >= maxKnown {
			clear(s.known)
		}
		o = &outline{}
		s.known[id] = o
	}
	s.mu.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.read(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return agent.RunView{}, nil, human.Wrap(human.NotFound, err, "there is no run %s", id)
		}
		return agent.RunView{}, nil, human.Wrap(human.Unavailable, err, "the journal %s cannot be read", path)
	}
	run := o.run
	run.ID, run.Alive = id, s.alive(id)
	if run.State == "" {
		run.State, run.Last = agent.Idle, run.At
	}
	return run, o.updates, nil
}

// read reads the lines that came since it was called last.
func (o *outline) read(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Size() < o.size { // the file is shorter, which means another file of that name
		o.size, o.run, o.updates = 0, agent.RunView{}, nil
	}
	if info.Size() == o.size {
		return nil
	}
	lines := bufio.NewReaderSize(io.NewSectionReader(file, o.size, min(info.Size(), maxJournal)-o.size), 256<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return nil //nolint:nilerr // the rest is not written yet, or is not there any more
		}
		o.take(line)
		o.size += int64(len(line))
	}
}

func (o *outline) take(line []byte) {
	var r struct {
		Run    *agent.RunInfo
		Update *agent.Update
		Spent  *agent.Spent
		Result *agent.Result
	}
	if json.Unmarshal(bytes.TrimSpace(line), &r) != nil {
		return // a line that a crash left; whoever resumes the run cuts it off
	}
	if r.Run != nil { // the first, or as it continues
		o.run.RunInfo, o.run.Over, o.run.Ending = *r.Run, false, ""
	}
	if r.Update != nil {
		o.run.State, o.run.Last, o.run.Content = r.Update.State, r.Update.At, r.Update.Content
		o.updates = append(o.updates, span{o.size, o.size + int64(len(line))})
		if r.Update.Spent != nil {
			o.run.Spent = *r.Update.Spent
		}
	}
	if r.Spent != nil {
		o.run.Spent = *r.Spent
	}
	if r.Result != nil {
		o.run.Spent, o.run.Over, o.run.Ending = r.Result.Spent, r.Result.Over, r.Result.Ending
	}
}

// updates reads updates of a journal: not too many at once.
func (s *Store) updates(id string, spans []span) ([]agent.Update, error) {
	path, err := s.path(id, extension)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, human.Wrap(human.Unavailable, err, "the journal %s cannot be read", path)
	}
	defer func() { _ = file.Close() }()
	var out []agent.Update
	left := int64(maxAnswer)
	for _, at := range spans[:min(len(spans), maxUpdates)] {
		if left -= at.to - at.from; left < 0 && len(out) > 0 {
			break
		}
		line := make([]byte, at.to-at.from)
		var r struct{ Update *agent.Update }
		if _, err := file.ReadAt(line, at.from); err != nil || json.Unmarshal(line, &r) != nil || r.Update == nil {
			return nil, human.Wrap(human.Unavailable, err, "the journal %s changed while it was read", path)
		}
		out = append(out, *r.Update)
	}
	return out, nil
}

// alive says whether a process holds the lock of a run.
func (s *Store) alive(id string) bool {
	path, err := s.path(id, lockEnd)
	if err != nil {
		return false
	}
	if _, err := os.Stat(path); err != nil {
		return false
	}
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY))
	got, err := lock.TryRLock()
	if err == nil && got {
		_ = lock.Unlock() // closing the file would do the same
	}
	return err == nil && !got
}
