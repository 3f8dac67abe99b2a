// Package sqlite keeps Deskbell's journal, its projection for lists and search, the agents' keys and
// small settings in one SQLite file. It implements queue.Journal and queue.Index.
//
// One goroutine writes. It takes all the appends that are waiting, commits them with one fsync, makes
// them visible, and only then answers. Reads have connections of their own and never wait for it.
package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/queue/receipt"
	"deskbell/backend/queue/recent"
)

var (
	_ queue.Journal = (*Store)(nil)
	_ queue.Index   = (*Store)(nil)
)

// FileName is the name of the database in the data folder.
const FileName = "deskbell.db"

// Options are what Open may be told; the zero value is the default.
type Options struct {
	// Now is the clock; nil is time.Now. It dates keys, never events.
	Now func() time.Time

	// Key signs the log of receipts. Without it an event that has a receipt cannot be appended.
	Key func() *receipt.Key

	// Mirror writes down what hooks have to know while no Deskbell runs, before a change of it is committed; nil for none. An
	// error keeps the change from being made.
	Mirror func(Mirrored) error

	// Log takes what concerns no one call; nil is none.
	Log *slog.Logger

	// For tests: less of everything reaches every branch.
	narrow    int           // rows sorted at once; 0 is the constant narrow
	partSize  int           // operations in a part of the search index; 0 is the constant partSize
	searchFor time.Duration // how long one search looks; 0 is the constant searchTime
	lateTexts int           // texts that the search index may lack; 0 is the constant lateTexts
	unchecked bool          // opens what verify would not
}

// A Store is one open file. It is safe for concurrent use. One process at a time may append to the
// journal (Deskbell's server holds a lock for that); keys and settings may be written by others
// meanwhile.
type Store struct {
	file    string
	now     func() time.Time
	key     func() *receipt.Key
	mirror  func(Mirrored) error
	writes  *sql.DB // one connection, the writer's
	reads   *sql.DB
	prepped prepared
	narrow  int
	seeks   time.Duration // how long one search looks

	queue  pending
	writer sync.WaitGroup
	live   live
	late   late
	watch  watch
	head   headFile
}

// existing is an option of a connection that must not make a new file where the one of a store was deleted.
const existing = "&mode=rw"

// writerCache is how much of the file the writer has in memory, in KiB.
const writerCache = 16 << 10

// readers is the number of connections that read side by side.
const readers = 8

// Open opens DIR/deskbell.db and makes the folder (0700) and the file (0600) where they are missing.
// It brings an older file to this version and blocks while it does. A file that is damaged, newer,
// another program's, or not writable gives an Internal or Unavailable error that names the path and
// says what to do.
func Open(ctx context.Context, dir string, opts Options) (*Store, error) {
	steps, err := migrations()
	if err != nil {
		return nil, err
	}
	return open(ctx, dir, opts, steps)
}

func open(ctx context.Context, dir string, opts Options, steps []string) (_ *Store, err error) {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	var found Report
	if !opts.unchecked {
		if found, err = verify(ctx, dir, len(steps)); err != nil {
			return nil, err
		}
	}
	file, err := touch(dir)
	if err != nil {
		return nil, human.Wrap(human.Unavailable, err, "the data folder %s cannot be used (%s); check its permissions and its disk, or choose another folder",
			dir, reason(err))
	}
	s := &Store{file: file, now: opts.Now, key: opts.Key, mirror: opts.Mirror, narrow: cmp.Or(opts.narrow, narrow), seeks: cmp.Or(opts.searchFor, searchTime)}
	s.late.most = cmp.Or(opts.lateTexts, lateTexts)
	if s.now == nil {
		s.now = time.Now
	}
	s.head.dir, s.head.log = filepath.Dir(file), opts.Log
	s.live.init()
	s.watch.changed, s.watch.suspect = make(chan struct{}), make(chan struct{}, 1)
	s.queue.init()
	defer func() {
		if err != nil {
			err = errors.Join(err, s.closeFiles())
		}
	}()
	if s.writes, err = connectTo(address(file,
		"busy_timeout(5000)", "synchronous(FULL)", "foreign_keys(ON)", fmt.Sprintf("cache_size(-%d)", writerCache), "temp_store(MEMORY)",
		// The database file is at most so many pages (4 MB) behind the write-ahead log.
		"wal_autocheckpoint(1000)", "journal_size_limit(67108864)")+existing, 1); err != nil {
		return nil, err
	}
	if s.reads, err = connectTo(address(file, "busy_timeout(5000)", "query_only(ON)", "cache_size(-4096)", "temp_store(MEMORY)")+existing, readers); err != nil {
		return nil, err
	}
	if err = s.opened(); err != nil {
		return nil, err
	}
	w := &writer{Store: s, cache: &recent.Cache[human.OperationID, *folded]{},
		parts:   parts{name: "search", used: `SELECT count(*) FROM operations WHERE n >= ? AND n <= (SELECT indexed FROM projected)`, size: cmp.Or(opts.partSize, partSize)},
		decided: parts{name: "decided", used: `SELECT count(*) FROM decisions WHERE n >= ?`, size: cmp.Or(opts.partSize, partSize)}}
	if err := w.start(ctx, steps); err != nil {
		return nil, errors.Join(err, w.disconnect())
	}
	if err := w.startHead(ctx); err != nil {
		return nil, errors.Join(err, w.disconnect())
	}
	s.writer.Go(w.run)
	if err := s.noteLoss(ctx, found.Lost); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.showLosses(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.Recordings().indexOld(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// reason is the cause at the bottom of a file error, without the path, which the message has already.
func reason(err error) string {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err.Error()
	}
	return err.Error()
}

// touch makes the folder and the file, so that both have their modes before anything is in them.
// SQLite gives its side files the mode of the main one. A file that is there is not opened: when a process that has it open
// closes another descriptor of it, as the server's doctor would, the server's locks on it are gone.
func touch(dir string) (file string, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	file = filepath.Join(dir, FileName)
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		if info, err := os.Stat(file); err != nil || !info.IsDir() {
			return file, err
		}
		err = &fs.PathError{Op: "open", Path: file, Err: syscall.EISDIR}
	}
	if err != nil {
		return "", err
	}
	return file, f.Close()
}

func connect(file string, conns int, pragmas ...string) (*sql.DB, error) {
	return connectTo(address(file, pragmas...), conns)
}

func connectTo(address string, conns int) (*sql.DB, error) {
	db, err := sql.Open("sqlite", address)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

// address is a file's URI, which may have any character in its path.
func address(file string, pragmas ...string) string {
	path := filepath.ToSlash(file)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive letter
	}
	uri := url.URL{Scheme: "file", Path: path, RawQuery: url.Values{"_pragma": pragmas}.Encode()}
	return uri.String()
}

// Close stops taking writes, commits those that are waiting, wakes every Wait with an Unavailable error,
// and closes the file. It blocks until that is done. Closing twice does no harm.
func (s *Store) Close() error {
	s.queue.close()
	s.writer.Wait()
	s.live.close()
	return errors.Join(s.late.close(), s.closeFiles())
}

func (s *Store) closeFiles() error {
	var errs []error
	// Readers first: the last connection to go tidies up the log file, and that takes one that may write.
	for _, db := range []*sql.DB{s.reads, s.writes} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(append(errs, s.closed())...)
}

func closedError() error { return human.Errorf(human.Unavailable, "Deskbell is shutting down") }

// fail makes err fit to show, and leaves a canceled context recognizable.
func (s *Store) fail(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("read stopped: %w", ctx.Err())
	case s.queue.isClosed():
		return closedError()
	}
	if unread(err) {
		if stopped := s.stopped(); stopped != nil {
			return stopped
		}
		select {
		case s.watch.suspect <- struct{}{}:
		default:
		}
	}
	return storageError(err, s.file)
}

// A prepared keeps the statements of the readers that never change their text.
type prepared struct {
	mu    sync.RWMutex
	stmts map[string]*sql.Stmt
}

// query returns the prepared statement for a constant text.
func (s *Store) query(ctx context.Context, text string) (*sql.Stmt, error) {
	s.prepped.mu.RLock()
	stmt := s.prepped.stmts[text]
	s.prepped.mu.RUnlock()
	if stmt != nil {
		return stmt, nil
	}
	s.prepped.mu.Lock()
	defer s.prepped.mu.Unlock()
	if stmt := s.prepped.stmts[text]; stmt != nil {
		return stmt, nil
	}
	stmt, err := s.reads.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	if s.prepped.stmts == nil {
		s.prepped.stmts = map[string]*sql.Stmt{}
	}
	s.prepped.stmts[text] = stmt
	return stmt, nil
}

// rows runs a query whose text is constant, prepared once, and calls each for every row; it stops at
// each's first error. It is for queries that end at once: the driver starts a goroutine for each that can be
// canceled, and that costs more than such a query.
func (s *Store) rows(ctx context.Context, text string, args []any, each func(*sql.Rows) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	stmt, err := s.query(ctx, text)
	if err != nil {
		return err
	}
	rows, err := stmt.QueryContext(context.WithoutCancel(ctx), args...)
	if err != nil {
		return err
	}
	return eachRow(rows, each)
}

// built is rows for a query whose text was put together.
func (s *Store) built(ctx context.Context, text string, args []any, each func(*sql.Rows) error) error {
	rows, err := s.reads.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	return eachRow(rows, each)
}

func eachRow(rows *sql.Rows, each func(*sql.Rows) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
