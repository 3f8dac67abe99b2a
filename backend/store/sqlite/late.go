package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"

	"deskbell/backend/human"
)

// The full-text index follows the journal some operations behind, so that no request waits for it and many texts are indexed
// at a time. projected.indexed is how far it has come; what it does not have yet is kept in memory, where search looks, too.
const (
	lateTexts = 256     // that the index may lack before the writer brings it up to date
	lateBytes = 4 << 20 // the same of their size
)

// late is what the full-text index does not have yet.
type late struct {
	most int // texts before it is due

	mu      sync.Mutex
	bodies  map[uint64]string // by operations.n
	bytes   int
	changes int // of bodies so far

	scratch sync.Mutex // held while the database of searched is used
	db      *sql.DB    // in memory; nil before the first search that needs it
	made    int        // the changes that its table was made after
}

// set notes the texts of operations, none where a text is empty, and returns those it had, to set again where a commit fails.
func (l *late) set(bodies map[uint64]string) (before map[uint64]string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bodies == nil {
		l.bodies = map[uint64]string{}
	}
	before = make(map[uint64]string, len(bodies))
	for n, body := range bodies {
		before[n] = l.bodies[n]
		l.bytes += len(body) - len(before[n])
		if body == "" {
			delete(l.bodies, n)
		} else {
			l.bodies[n] = body
		}
	}
	l.changes++
	return before
}

// clear forgets all, after the index has it.
func (l *late) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bodies, l.bytes = nil, 0
	l.changes++
}

// due says whether the index lacks so much that it is time to write it.
func (l *late) due() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.bodies) >= l.most || l.bytes >= lateBytes
}

// snapshot returns a copy of the texts, and the changes it was made after.
func (l *late) snapshot() (map[uint64]string, int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.bodies), l.changes
}

// search returns the operations that the index must not be asked about, and of those the ones that match the FTS5 query:
// their numbers, in no order. They are matched by an index of the same kind, in memory, so that search neither writes to the file nor
// waits for who does.
func (l *late) search(ctx context.Context, terms string) (all, matching []place, err error) {
	l.scratch.Lock()
	defer l.scratch.Unlock()
	bodies, changes := l.snapshot()
	if len(bodies) == 0 {
		return nil, nil, nil
	}
	if l.db == nil {
		if l.db, err = sql.Open("sqlite", ":memory:"); err != nil {
			return nil, nil, err
		}
		l.db.SetMaxOpenConns(1)
		l.made = -1
	}
	ctx = context.WithoutCancel(ctx) // a connection given up would take the database with it; this takes milliseconds
	if l.made != changes {
		if err := l.make(ctx, bodies); err != nil {
			return nil, nil, errors.Join(err, l.drop())
		}
		l.made = changes
	}
	for n := range bodies {
		all = append(all, place{n: int64(n)})
	}
	rows, err := l.db.QueryContext(ctx, `SELECT rowid FROM late WHERE late MATCH ?`, terms)
	if err != nil {
		return nil, nil, err
	}
	err = eachRow(rows, func(rows *sql.Rows) error {
		var p place
		err := rows.Scan(&p.n)
		matching = append(matching, p)
		return err
	})
	return all, matching, err
}

// make rebuilds the search table. The caller holds scratch.
func (l *late) make(ctx context.Context, bodies map[uint64]string) error {
	return inConnection(ctx, l.db, func(conn *sql.Conn) error {
		if _, err := conn.ExecContext(ctx, `DROP TABLE IF EXISTS late; `+createIndex("late")); err != nil {
			return err
		}
		return inTransaction(ctx, conn, func() error {
			insert, err := conn.PrepareContext(ctx, `INSERT INTO late (rowid, body) VALUES (?, ?)`)
			if err != nil {
				return err
			}
			defer insert.Close()
			for n, body := range bodies {
				if _, err := insert.ExecContext(ctx, n, body); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

func inConnection(ctx context.Context, db *sql.DB, do func(*sql.Conn) error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	return errors.Join(do(conn), conn.Close())
}

// drop closes the database of search. The caller holds scratch.
func (l *late) drop() error {
	if l.db == nil {
		return nil
	}
	err := l.db.Close()
	l.db = nil
	return err
}

func (l *late) close() error {
	l.scratch.Lock()
	defer l.scratch.Unlock()
	return l.drop()
}

// selectLate finds the operations of all entries that follow what is indexed, not only of those that change texts: to index one again
// does no harm. NOT INDEXED still looks entries up by seq; with an index SQLite would read the whole of it, for the sake of DISTINCT.
const selectLate = `SELECT o.n, o.data, first.details
	FROM (SELECT DISTINCT operation_id FROM journal NOT INDEXED WHERE seq > (SELECT indexed FROM projected)) AS changed
	CROSS JOIN journal AS first ON first.operation_id = changed.operation_id AND first.version = 1
	CROSS JOIN operations AS o ON o.n = first.seq`

// readLate reads from the journal what the index lacks.
func (w *writer) readLate(ctx context.Context) (bodies map[uint64]string, err error) {
	rows, err := w.conn.QueryContext(ctx, selectLate)
	if err != nil {
		return nil, err
	}
	bodies = map[uint64]string{}
	return bodies, eachRow(rows, func(rows *sql.Rows) error {
		var n uint64
		var data, details sql.RawBytes
		if err := rows.Scan(&n, &data, &details); err != nil {
			return err
		}
		var op human.Operation
		if err := json.Unmarshal(data, &op); err != nil {
			return w.damaged(err)
		}
		bodies[n] = searchBody(op, jsonText(json.RawMessage(details), detailsText))
		return nil
	})
}

// index brings the full-text index up to the journal's head.
func (w *writer) index(ctx context.Context) error {
	if err := w.connected(ctx); err != nil {
		return err
	}
	bodies, _ := w.late.snapshot()
	var indexed, head uint64
	err := w.transact(ctx, func() (err error) {
		if err := w.conn.QueryRowContext(ctx, `SELECT indexed, seq FROM projected`).Scan(&indexed, &head); err != nil {
			return err
		}
		if indexed != w.indexed || head != w.live.seq() { // another process wrote; what we remember may be old
			if err := w.parts.forget(); err != nil {
				return err
			}
			if bodies, err = w.readLate(ctx); err != nil {
				return err
			}
		}
		if err := w.parts.load(ctx, w.conn); err != nil {
			return err
		}
		for _, n := range slices.Sorted(maps.Keys(bodies)) {
			write := w.parts.replace
			if n > indexed {
				write = w.parts.add
			}
			if err := write(ctx, w.conn, n, bodies[n]); err != nil {
				return err
			}
		}
		_, err = w.conn.ExecContext(ctx, `UPDATE projected SET indexed = ?`, head)
		return err
	})
	if err == nil {
		w.indexed = head
		w.late.clear()
	}
	return err
}
