package sqlite

import (
	"bufio"
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	driversqlite "modernc.org/sqlite"

	"deskbell/backend/human"
)

const (
	// lookEvery is how often the files are looked at while nothing is written.
	lookEvery = 2 * time.Second

	// checkpointEvery is how far the database file may be behind the write-ahead log while writes never pause.
	checkpointEvery = 20 * time.Second
)

// A Fault is what another program did to a file that is open.
type Fault uint8

// The faults.
const (
	_ Fault = iota
	Deleted
	Replaced
	Truncated
	Overwritten // only SQLite sees it, in the pages that it reads
)

// A Trouble is the end of writing: a file of the database is not what it was. It lasts until Deskbell starts again.
type Trouble struct {
	At     time.Time
	Fault  Fault
	File   string // what it happened to: the database or its write-ahead log
	Rescue *Rescue

	database string
}

// A Rescue is what was saved of the database. Path is empty where it could not be read completely, Entries where that was not needed.
type Rescue struct {
	Path       string // a complete database
	Operations int    // in it
	Head       uint64 // seq of its last event

	Entries     string // a file with a line of JSON for each of the last events
	First, Last uint64 // their seqs

	Err error // why there is no Path
}

// Err says in plain words what happened, what is saved, where, and what to do. Its kind is Unavailable.
func (t *Trouble) Err() *human.Error {
	happened := map[Fault]*human.Error{
		Deleted:     human.Errorf(human.Unavailable, "%s was deleted", t.File),
		Replaced:    human.Errorf(human.Unavailable, "another file was put in the place of %s", t.File),
		Truncated:   human.Errorf(human.Unavailable, "another program cut off the end of %s", t.File),
		Overwritten: human.Errorf(human.Unavailable, "what is in %s was damaged or overwritten", t.File),
	}[t.Fault]
	what := human.Inner{Err: happened}
	switch r := t.Rescue; {
	case r == nil:
		return human.Errorf(human.Unavailable, "Deskbell stores nothing more until it starts again: %s while it ran. "+
			"All that it acknowledged is being saved to a new file now; do not stop it yet", what)
	case r.Path != "":
		return human.Errorf(human.Unavailable, "Deskbell stores nothing more until it starts again: %s while it ran. "+
			"Everything that it acknowledged is safe in %s (operations: %d, events: %d). Stop Deskbell, run `deskbell repair --yes --rescued '%[2]s'`, "+
			"and start it again", what, r.Path, r.Operations, r.Head)
	case r.Entries != "":
		return human.Errorf(human.Unavailable, "Deskbell stores nothing more until it starts again: %s while it ran. "+
			"The database cannot be read completely any more (%s). The last events that were acknowledged (%d to %d) are safe in %s; of those before, "+
			"%s has what is left. Stop Deskbell, copy its data folder to another disk, and run `deskbell repair --rescued '%[5]s'`, which says what comes back",
			what, reason(r.Err), r.First, r.Last, r.Entries, t.database)
	default:
		return human.Errorf(human.Unavailable, "Deskbell stores nothing more until it starts again: %s while it ran. "+
			"No copy of it could be saved (%s). Before you stop Deskbell, copy what you need from its window", what, reason(r.Err))
	}
}

// A watch is what a Store knows of its files on the disk. Only os.Stat looks at them: when a process closes any descriptor of a
// file, the locks that SQLite has on it are gone. The writer alone uses what is not guarded.
type watch struct {
	main, log os.FileInfo // as they were when the Store opened
	bytes     int64       // of the database with its log, when its file had another size last
	least     int64       // bytes that the file of the database has at least
	logged    int64       // bytes that the write-ahead log had
	page      int64       // bytes of a page

	checkpointed time.Time
	frames       int64 // in the write-ahead log when nothing was written last

	allocated, released uint64 // bytes that this process had allocated so far: when nothing was written last, when it gave memory back last

	suspect chan struct{} // a reader found damage: look now

	trouble atomic.Pointer[Trouble]
	mu      sync.Mutex
	changed chan struct{} // closed and replaced whenever trouble or state changes
	state   human.DataState
	audit   []human.Sentence // what the last audit found
	pin     driver.Conn      // see hold
}

// Trouble returns what ended writing, or nil, and a channel that is closed when that changes. It does not block.
func (s *Store) Trouble() (*Trouble, <-chan struct{}) {
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	return s.watch.trouble.Load(), s.watch.changed
}

// State says how the data stands, and returns a channel that is closed when that changes. It does not block.
func (s *Store) State() (human.DataState, <-chan struct{}) {
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	now := s.watch.state
	now.Damage = slices.Concat(now.Damage, s.watch.audit)
	if t := s.watch.trouble.Load(); t != nil {
		now.Trouble = &human.DataTrouble{At: t.At, Sentence: t.Err().Said}
		if t.Rescue != nil {
			now.Trouble.Rescued = cmp.Or(t.Rescue.Path, t.Rescue.Entries)
		}
	}
	return now.Judged(), s.watch.changed
}

// Audited notes what an audit of the journal found.
func (s *Store) Audited(found []human.Sentence) {
	s.setState(func(now *human.DataState) {
		now.Check.Journal = time.Now().UTC()
		s.watch.audit = found
	})
}

// setState changes what State says. What it has is replaced, never changed.
func (s *Store) setState(change func(*human.DataState)) {
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	change(&s.watch.state)
	close(s.watch.changed)
	s.watch.changed = make(chan struct{})
}

func (s *Store) setTrouble(t *Trouble) {
	s.setState(func(*human.DataState) { s.watch.trouble.Store(t) })
}

// stopped is the error of every write while there is trouble, and nil without.
func (s *Store) stopped() error {
	if t := s.watch.trouble.Load(); t != nil {
		return t.Err()
	}
	return nil
}

// beginWatch notes which files are open.
func (w *writer) beginWatch(ctx context.Context) (err error) {
	if w.watch.main, err = os.Stat(w.file); err != nil {
		return err
	}
	if w.watch.log, err = os.Stat(w.logFile()); err != nil {
		return err
	}
	for _, f := range []os.FileInfo{w.watch.main, w.watch.log} {
		os.SameFile(f, f) // Windows reads what identifies a file when that is compared first
	}
	w.watch.logged = w.watch.log.Size()
	if err := w.conn.QueryRowContext(ctx, `PRAGMA page_size`).Scan(&w.watch.page); err != nil {
		return err
	}
	w.watch.bytes, err = w.bytes(ctx)
	w.watch.least = min(w.watch.main.Size(), w.watch.bytes)
	w.watch.checkpointed = time.Now()
	return err
}

func (s *Store) logFile() string { return s.file + "-wal" }

// bytes is how large the database is with what is in the write-ahead log.
func (w *writer) bytes(ctx context.Context) (int64, error) {
	var pages int64
	err := w.conn.QueryRowContext(ctx, `PRAGMA page_count`).Scan(&pages)
	return pages * w.watch.page, err
}

// look compares the files on the disk with those that are open. After a fault it returns the error of every write from then on.
func (w *writer) look(ctx context.Context) error {
	if err := w.stopped(); err != nil || w.watch.main == nil {
		return err
	}
	if err := w.fails(w.lookAtMain(ctx), w.file); err != nil {
		return err
	}
	return w.fails(w.lookAtLog(ctx, false), w.logFile())
}

// lookWithin looks only at the write-ahead log, at the end of a transaction: what is written behind the end of a shortened file hides
// that it was shortened.
func (w *writer) lookWithin(ctx context.Context) error {
	if err := w.stopped(); err != nil || w.watch.main == nil {
		return err
	}
	fault := w.lookAtLog(ctx, true)
	if fault != 0 { // both, where the folder was deleted: the database says more
		if _, _, main := compare(w.file, w.watch.main); main != 0 {
			return w.fails(main, w.file)
		}
	}
	return w.fails(fault, w.logFile())
}

// fails notes a fault, and returns the error of every write from then on; nil without a fault.
func (w *writer) fails(fault Fault, file string) error {
	if fault == 0 {
		return nil
	}
	w.setTrouble(&Trouble{At: time.Now(), Fault: fault, File: file, database: w.file})
	return w.stopped()
}

// compare looks at one file. What cannot be looked at says nothing: the file is open, and writing to it says whether it works.
func compare(file string, opened os.FileInfo) (size int64, known bool, fault Fault) {
	now, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR): // the folder may be a file by now
		return 0, false, Deleted
	case err != nil:
		return 0, false, 0
	case !os.SameFile(now, opened):
		return 0, false, Replaced
	}
	return now.Size(), true, 0
}

func (w *writer) lookAtMain(ctx context.Context) Fault {
	size, known, fault := compare(w.file, w.watch.main)
	if !known || size == w.watch.least || w.conn == nil {
		return fault
	}
	// It grows with checkpoints, and shrinks only with one after VACUUM, to what SQLite has then, which only grows until the next
	// VACUUM. SQLite comes first: between the two another process may write.
	bytes, err := w.bytes(ctx)
	if size < w.watch.least && (unread(err) || err == nil && bytes == 0) {
		return Truncated // SQLite cannot even read how large it is
	}
	if err != nil {
		return 0
	}
	if size, known, fault = compare(w.file, w.watch.main); !known {
		return fault
	}
	vacuumed := bytes < w.watch.bytes
	if size < w.watch.least && size < bytes && !vacuumed {
		return Truncated
	}
	w.watch.bytes, w.watch.least = bytes, min(size, bytes)
	return 0
}

func (w *writer) lookAtLog(ctx context.Context, within bool) Fault {
	size, known, fault := compare(w.logFile(), w.watch.log)
	if !known || size >= w.watch.logged {
		w.watch.logged = max(w.watch.logged, size)
		return fault
	}
	// It was emptied, by us or another process that has the right to, or shortened by a fault. SQLite knows how much of it counts. Another
	// process may write between two looks; within a transaction it cannot.
	var conn querier = w.reads
	if !within && w.conn != nil {
		conn = w.conn
	}
	before, err := w.logBytes(ctx, conn)
	if err != nil {
		return 0
	}
	for range 3 {
		if size, known, fault = compare(w.logFile(), w.watch.log); !known {
			return fault
		}
		after, err := w.logBytes(ctx, conn)
		if err != nil {
			return 0
		}
		if size >= min(before, after) {
			w.watch.logged = size
			return 0
		}
		before = after
	}
	return Truncated
}

type querier interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

// logBytes is how large the write-ahead log is at least, with what SQLite knows to be in it.
func (w *writer) logBytes(ctx context.Context, conn querier) (int64, error) {
	var busy, frames, done int64
	if err := conn.QueryRowContext(ctx, `PRAGMA wal_checkpoint(NOOP)`).Scan(&busy, &frames, &done); err != nil || frames <= 0 {
		return 0, err
	}
	return logHeader + frames*(w.watch.page+frameHeader), nil
}

// idle is what the writer does while nothing waits: it looks at the files, and brings what was written to the database file once
// there was a pause, so that a copy of that file alone is complete.
func (w *writer) idle(ctx context.Context) {
	if w.conn == nil || w.look(ctx) != nil {
		return
	}
	if _, err := w.end(ctx); damage(err) { // a reader has not what the writer has in memory
		_ = w.fails(Overwritten, w.file) // the next write says it
		return
	}
	var busy, frames, done int64
	if err := w.conn.QueryRowContext(ctx, `PRAGMA wal_checkpoint(NOOP)`).Scan(&busy, &frames, &done); err != nil {
		return
	}
	paused := frames == w.watch.frames
	w.watch.frames = frames
	if frames > 0 && paused {
		w.checkpoint(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
		w.watch.frames = 0
	}
	w.release(ctx)
}

// release gives memory back to the system after work, such as many requests or a start, once this process rests: the pages of a large
// database that SQLite has in memory, and what Go keeps for the next garbage.
func (w *writer) release(ctx context.Context) {
	const work, rest = 64 << 20, 1 << 20
	now := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(now)
	allocated := now[0].Value.Uint64()
	rests := allocated-w.watch.allocated < rest
	w.watch.allocated = allocated
	if !rests || allocated-w.watch.released < work {
		return
	}
	w.watch.released = allocated
	// A database that fits into memory stays there: it can be rescued from it.
	if bytes, err := w.bytes(ctx); err == nil && bytes > writerCache<<10 {
		_, _ = w.conn.ExecContext(ctx, `PRAGMA shrink_memory`) // of all connections
	}
	w.writer.Go(debug.FreeOSMemory) // a request need not wait for it
}

// checkpointDue brings what was written to the database file while writes never pause.
func (w *writer) checkpointDue(ctx context.Context) {
	if w.conn != nil && time.Since(w.watch.checkpointed) >= checkpointEvery && w.stopped() == nil {
		w.checkpoint(ctx, `PRAGMA wal_checkpoint(PASSIVE)`)
	}
}

// checkpoint does as much as it can without waiting for readers. What it cannot do, a later one does.
func (w *writer) checkpoint(ctx context.Context, statement string) {
	w.watch.checkpointed = time.Now()
	_, _ = w.conn.ExecContext(ctx, `PRAGMA busy_timeout(0)`)
	_, _ = w.conn.ExecContext(ctx, statement)
	_, _ = w.conn.ExecContext(ctx, `PRAGMA busy_timeout(5000)`)
	_ = w.look(ctx) // the log is empty now; what it finds, the next write says
}

// rescue saves what the open files and the memory have, once, after a fault. It blocks until that is written.
func (w *writer) rescue(ctx context.Context) {
	t := w.watch.trouble.Load()
	if t == nil || t.Rescue != nil {
		return
	}
	// A new connection would open whatever is at the path now.
	w.reads.SetMaxOpenConns(max(1, w.reads.Stats().OpenConnections))
	w.hold(t.Fault)
	rescued := *t
	rescued.Rescue = w.save(ctx, t.At)
	w.setTrouble(&rescued)
}

// hold keeps a file that another program shortened or overwrote from the checkpoint that the last connection makes when it closes: it would mix pages of
// different ages. The connection stays open until the process ends. Of a file that was deleted or replaced, SQLite makes none.
func (w *writer) hold(fault Fault) {
	if fault != Truncated && fault != Overwritten {
		return
	}
	pin, err := (&driversqlite.Driver{}).Open(address(w.file, "query_only(ON)") + "&mode=rw")
	if err != nil {
		return
	}
	w.watch.pin = pin
	if q, ok := pin.(driver.QueryerContext); ok {
		if rows, err := q.QueryContext(context.Background(), `SELECT 1 FROM projected`, nil); err == nil {
			_ = rows.Close() // it has its lock
		}
	}
}

// save writes the rescued file beside the database, or where that cannot be, as near as possible.
func (w *writer) save(ctx context.Context, at time.Time) *Rescue {
	dir := filepath.Dir(w.file)
	name := filepath.Base(w.file) + ".rescued-" + at.UTC().Format("20060102T150405Z")
	var errs []error
	for _, to := range []string{dir, filepath.Dir(dir), os.TempDir()} {
		r, err := w.saveDatabase(ctx, filepath.Join(to, name))
		if err == nil {
			return r
		}
		errs = append(errs, err)
	}
	failed := errors.Join(errs...)
	for _, to := range []string{dir, filepath.Dir(dir), os.TempDir()} {
		if r, err := w.live.save(filepath.Join(to, name+".jsonl")); err == nil {
			r.Err = errs[0]
			return r
		}
	}
	return &Rescue{Err: failed}
}

// saveDatabase copies the open database to a new file, all of it or nothing, and checks the copy.
func (w *writer) saveDatabase(ctx context.Context, to string) (_ *Rescue, err error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return nil, err
	}
	conn := w.conn
	if conn == nil {
		if conn, err = w.reads.Conn(ctx); err != nil {
			return nil, err
		}
		defer conn.Close()
	}
	f, err := os.CreateTemp(filepath.Dir(to), filepath.Base(to)+".*.part") // mode 0600
	if err != nil {
		return nil, err
	}
	part := f.Name()
	defer func() {
		if err != nil {
			_ = os.Remove(part) // the first error is the one that counts
		}
	}()
	if err := f.Close(); err != nil {
		return nil, err
	}
	if err := conn.Raw(func(c any) error { return backUp(ctx, c.(driver.Conn), part) }); err != nil {
		return nil, err
	}
	r, err := checkCopy(ctx, part, w.live.seq())
	if err != nil {
		return nil, err
	}
	if err := os.Rename(part, to); err != nil {
		return nil, err
	}
	r.Path = to
	return r, syncFolder(filepath.Dir(to))
}

// checkCopy says what a copy has; an error, when it is damaged or lacks an event up to head.
func checkCopy(ctx context.Context, file string, head uint64) (_ *Rescue, err error) {
	db, err := connect(file, 1)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var said string
	if err := db.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&said); err != nil {
		return nil, err
	}
	if said != "ok" {
		return nil, errors.New(said)
	}
	r := &Rescue{}
	var entries uint64
	err = db.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM operations), (SELECT count(*) FROM journal) + (SELECT coalesce(sum(last - first + 1), 0) FROM gaps),
		(SELECT coalesce(max(seq), 0) FROM journal)`).
		Scan(&r.Operations, &entries, &r.Head)
	if err == nil && (entries != r.Head || r.Head < head) {
		err = fmt.Errorf("events are missing: %d can be read, up to %d, of %d", entries, r.Head, head)
	}
	return r, err
}

// save writes the entries in memory to a new file, a line of JSON for each.
func (l *live) save(to string) (_ *Rescue, err error) {
	l.mu.RLock()
	recent, head := l.recent, l.head
	l.mu.RUnlock()
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	out := bufio.NewWriter(f)
	lines := json.NewEncoder(out)
	for _, r := range recent {
		e := &r.entry
		if err := lines.Encode(savedEntry{e.Seq, e.ID, e.Version, r.kind, r.at, r.payload, string(r.details), string(r.context), r.link[:]}); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(out.Flush(), f.Sync()); err != nil {
		return nil, err
	}
	return &Rescue{Entries: to, First: head - uint64(len(recent)) + 1, Last: head}, syncFolder(filepath.Dir(to))
}

// syncFolder makes a new name in a folder durable, where the system can.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync() // Windows cannot
	return d.Close()
}
