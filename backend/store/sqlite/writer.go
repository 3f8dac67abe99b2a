package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue/recent"
)

// maxGroup is how many appends share one commit at most: enough to spread the fsync thin, few enough that
// the first of them does not wait long.
const maxGroup = 256

// maxPatience bounds how long the writer lets callers come back before it takes those that are there.
const maxPatience = 5 * time.Millisecond

// A request is one append, or another piece of work for the writer.
type request struct {
	ctx      context.Context
	id       human.OperationID
	expected uint64
	rows     []row
	fresh    *projected                           // of a new operation
	note     func(context.Context, *writer) error // of an append: what else its transaction stores; nil is nothing
	always   bool                                 // note is stored where the append is left out, too
	work     func(context.Context, *writer) error // instead of an append; runs in a transaction of its own
	bare     bool                                 // work runs outside of any transaction
	err      error                                // the writer's own note: why it stored nothing
	done     chan error
}

// pending is the line of requests before the writer. Each caller waits for its own, so callers bound it.
type pending struct {
	mu     sync.Mutex
	line   []*request
	want   int // how many the writer waits for before it wants to be woken
	closed bool
	wake   chan struct{}
}

func (p *pending) init() { p.wake = make(chan struct{}, 1) }

func (p *pending) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

func (p *pending) len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.line)
}

func (p *pending) signal() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *pending) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.signal()
}

func (p *pending) add(r *request) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	if p.line = append(p.line, r); len(p.line) >= p.want {
		p.signal()
	}
	return true
}

// take blocks for the next group: appends, or one other piece of work. It is empty after close, once
// nothing waits any more, at a tick of idle, and when suspect is sent to; more is false after close. The callers of the group before were answered just now and many come back at once;
// take lets them, for at most patience, until there are as many as expected. Without that, every other group
// would be the one or two who were quickest, and cost an fsync all the same.
func (p *pending) take(expected int, patience time.Duration, idle <-chan time.Time, suspect <-chan struct{}) (group []*request, more bool) {
	if expected > 0 {
		p.await(min(expected, maxGroup), patience)
	}
	for {
		p.mu.Lock()
		n := 0
		for n < len(p.line) && n < maxGroup && p.line[n].work == nil {
			n++
		}
		if n == 0 && len(p.line) > 0 {
			n = 1
		}
		group = p.line[:n:n]
		p.line = p.line[n:]
		if len(p.line) == 0 {
			p.line = nil
		}
		closed := p.closed
		p.mu.Unlock()
		if n > 0 || closed {
			return group, n > 0
		}
		select {
		case <-p.wake:
		case <-idle:
			return nil, true
		case <-suspect:
			return nil, true
		}
	}
}

// await blocks until n requests wait, for at most patience.
func (p *pending) await(n int, patience time.Duration) {
	late := time.NewTimer(patience)
	defer late.Stop()
	for patient := true; ; {
		p.mu.Lock()
		p.want = n
		if len(p.line) >= n || p.closed || !patient {
			p.want = 0
			p.mu.Unlock()
			return
		}
		p.mu.Unlock()
		select {
		case <-p.wake:
		case <-late.C:
			patient = false
		}
	}
}

func (s *Store) submit(ctx context.Context, r *request) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.stopped(); err != nil {
		return err
	}
	if !s.queue.add(r) {
		return closedError()
	}
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// do runs work on the writer's connection, in a transaction of its own.
func (s *Store) do(ctx context.Context, work func(context.Context, *writer) error) error {
	return s.submit(ctx, &request{ctx: ctx, work: work, done: make(chan error, 1)})
}

// bare runs work on the writer's connection, outside of any transaction.
func (s *Store) bare(ctx context.Context, work func(context.Context, *writer) error) error {
	return s.submit(ctx, &request{ctx: ctx, work: work, bare: true, done: make(chan error, 1)})
}

// A writer is the one goroutine that writes.
type writer struct {
	*Store
	conn  *sql.Conn
	stmts struct {
		begin, commit, head, load, details, event, remove, insert, state, data, projected, receipt, lastReceipt, unseal, name, chunk, putChunk *sql.Stmt
	}
	cache   *recent.Cache[human.OperationID, *folded] // the operations that changed last, so that they need not be read again
	parts   parts                                     // of operations
	decided parts                                     // of the gatekeeper's decisions
	facts   facts
	tip     tip // within a transaction that appends; between them, log alone is kept

	indexed  uint64 // projected.indexed, as this writer knows it
	appended bool   // something of ours
}

// start connects, brings the file up to date and reads where the journal ends.
func (w *writer) start(ctx context.Context, steps []string) error {
	var err error
	if w.conn, err = w.writes.Conn(ctx); err != nil {
		return storageError(err, w.file)
	}
	if err := checkOwner(ctx, w.conn, w.file, len(steps)); err != nil {
		return err
	}
	if err := w.enterWAL(ctx); err != nil {
		return storageError(err, w.file)
	}
	if err := keepBefore(ctx, w.conn, w.file, len(steps)); err != nil {
		return err
	}
	if err := migrate(ctx, w.conn, w.file, steps); err != nil {
		return err
	}
	if err := w.prepare(ctx); err != nil {
		return storageError(err, w.file)
	}
	if _, err := w.conn.ExecContext(ctx, `DELETE FROM meta WHERE 0`); err != nil { // SQLite opens a file that is read-only, too
		return storageError(err, w.file)
	}
	if err := w.linkOld(ctx); err != nil {
		return storageError(err, w.file)
	}
	var seq uint64
	var rules int
	if err := w.conn.QueryRowContext(ctx, `SELECT (SELECT coalesce(max(seq), 0) FROM journal), seq, rules FROM projected`).
		Scan(&w.live.head, &seq, &rules); err != nil {
		return storageError(err, w.file)
	}
	if seq != w.live.head || rules != projectionRules {
		if err := w.transact(ctx, func() error { return w.rebuild(ctx) }); err != nil {
			return storageError(err, w.file)
		}
	}
	if err := w.factsOfOld(ctx); err != nil {
		return storageError(err, w.file)
	}
	if err := w.indexOld(ctx); err != nil {
		return storageError(err, w.file)
	}
	if err := w.conn.QueryRowContext(ctx, `SELECT indexed FROM projected`).Scan(&w.indexed); err != nil {
		return storageError(err, w.file)
	}
	lacks, err := w.readLate(ctx)
	if err == nil {
		w.late.set(lacks)
		err = w.beginWatch(ctx)
	}
	return storageError(err, w.file)
}

// enterWAL switches a new file to the write-ahead log. SQLite does not wait by itself for another process
// that is doing the same.
func (w *writer) enterWAL(ctx context.Context) error {
	deadline := time.NewTimer(5 * time.Second)
	defer deadline.Stop()
	for {
		_, err := w.conn.ExecContext(ctx, `PRAGMA journal_mode = WAL`)
		if !busy(err) {
			return err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-deadline.C:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// prepare makes the statements of the connection.
func (w *writer) prepare(ctx context.Context) error {
	st := &w.stmts
	for _, p := range []struct {
		stmt **sql.Stmt
		text string
	}{
		{&st.begin, `BEGIN IMMEDIATE`},
		{&st.commit, `COMMIT`},
		{&st.head, `SELECT seq, link FROM journal ORDER BY seq DESC LIMIT 1`},
		{&st.load, `SELECT n, data FROM operations WHERE n = (SELECT seq FROM journal WHERE operation_id = ? AND version = 1)`},
		{&st.details, `SELECT details FROM journal WHERE seq = ?`},
		{&st.event, `INSERT INTO journal (seq, operation_id, version, type, at, payload, details, context, link) VALUES (?,?,?,?,?,?,?,?,?)
			ON CONFLICT (operation_id, version) DO NOTHING`},
		{&st.remove, `DELETE FROM journal WHERE seq >= ?`},
		{&st.insert, insertOperation},
		{&st.state, updateState},
		{&st.data, updateData},
		{&st.projected, `UPDATE projected SET seq = ?`},
		{&st.receipt, `INSERT INTO receipts (seq, proof) VALUES (?,?)`},
		{&st.lastReceipt, `SELECT proof FROM receipts ORDER BY seq DESC LIMIT 1`},
		{&st.unseal, `DELETE FROM receipts WHERE seq >= ?`},
		{&st.name, `INSERT INTO fact_names (name) VALUES (?) ON CONFLICT (name) DO UPDATE SET name = name RETURNING id`},
		{&st.chunk, `SELECT facts FROM facts WHERE chunk = ?`},
		{&st.putChunk, `INSERT INTO facts (chunk, first, last, facts) VALUES (?,?,?,?)
			ON CONFLICT (chunk) DO UPDATE SET first = excluded.first, last = excluded.last, facts = excluded.facts`},
	} {
		var err error
		if *p.stmt, err = w.conn.PrepareContext(ctx, p.text); err != nil {
			return err
		}
	}
	return nil
}

// disconnect gives the connection back, without its statements, for Close to close.
func (w *writer) disconnect() error {
	if w.conn == nil {
		return nil
	}
	err := errors.Join(w.closeStatements(), w.conn.Close())
	w.conn = nil
	return err
}

// discard closes the connection for good: after a storage error a new one starts from what the disk has.
func (w *writer) discard() error {
	err := w.closeStatements() // first: closing one of a closed connection crashes the driver
	// Raw closes a connection that is called bad, and reports just that.
	_ = w.conn.Raw(func(any) error { return driver.ErrBadConn })
	w.conn = nil
	return err
}

func (w *writer) closeStatements() error {
	st := &w.stmts
	errs := []error{w.parts.forget(), w.decided.forget()}
	for _, s := range []**sql.Stmt{&st.begin, &st.commit, &st.head, &st.load, &st.details, &st.event, &st.remove, &st.insert, &st.state, &st.data, &st.projected,
		&st.receipt, &st.lastReceipt, &st.unseal, &st.name, &st.chunk, &st.putChunk} {
		if *s != nil {
			errs = append(errs, (*s).Close())
			*s = nil
		}
	}
	return errors.Join(errs...)
}

func (w *writer) run() {
	// Callers' contexts end their waiting, never a transaction that others share.
	ctx := context.Background()
	var expected int
	var took time.Duration
	idle := time.NewTicker(lookEvery)
	defer idle.Stop()
	for {
		w.rescue(ctx)
		group, more := w.queue.take(expected, min(took/2, maxPatience), idle.C, w.watch.suspect)
		if !more {
			break
		}
		if len(group) == 0 {
			w.idle(ctx)
			expected = 0
			continue
		}
		start := time.Now()
		if work := group[0].work; work != nil {
			group[0].done <- w.runWork(group[0].ctx, work, group[0].bare)
			continue
		}
		stored, err := w.commit(ctx, group)
		if err == nil {
			err = w.look(ctx)
		}
		if damage(err) { // no event can be stored any more
			err = w.fails(Overwritten, w.file)
		}
		if err != nil {
			err = storageError(err, w.file)
		} else {
			w.head.wrote(stored)
			w.live.publish(stored)
		}
		// Those who wait by now, and those who may come back.
		if expected = 0; len(group) > 1 {
			expected = w.queue.len() + len(group)
		}
		for _, r := range group {
			if r.err == nil {
				r.err = err
			}
			r.done <- r.err
		}
		took = time.Since(start)
		if w.late.due() {
			_ = w.index(ctx) // after an error the texts stay where they are, and the next group's end tries again
		}
		w.checkpointDue(ctx)
	}
	w.rescue(ctx)
	if w.appended && w.stopped() == nil {
		_ = w.index(ctx) // as above: the next Open reads the texts from the journal
	}
	// What a broken connection says on closing was said to those whose writes it broke.
	_ = w.disconnect()
	w.head.close()
}

func (w *writer) runWork(ctx context.Context, work func(context.Context, *writer) error, bare bool) error {
	if err := w.look(ctx); err != nil {
		return err
	}
	if err := w.connected(ctx); err != nil {
		return storageError(err, w.file)
	}
	do := func() error { return work(ctx, w) }
	var err error
	if bare {
		err = do()
		w.watch.bytes, w.watch.least = 0, 0 // it may have made the database smaller
	} else {
		err = w.transact(ctx, do)
	}
	if err == nil {
		err = w.look(context.WithoutCancel(ctx))
	}
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return storageError(err, w.file)
}

// connected makes a new connection after one was given up.
func (w *writer) connected(ctx context.Context) (err error) {
	if w.conn != nil {
		return nil
	}
	if err := w.look(ctx); err != nil { // the new one opens what is at the path
		return err
	}
	if w.conn, err = w.writes.Conn(ctx); err != nil {
		w.conn = nil
		return err
	}
	if err := w.prepare(ctx); err != nil {
		return errors.Join(err, w.discard())
	}
	return nil
}

// busyRounds is how often a lock that another process holds is waited for, five seconds each time.
const busyRounds = 6

// transact runs do in a transaction. After an error nothing of it is stored, and the connection is ready
// for the next one.
func (w *writer) transact(ctx context.Context, do func() error) error {
	// Before anything changes: what fails is then not stored, and undoing it would take pages out of memory that a file may have no more.
	err := w.look(ctx)
	if err != nil {
		return err
	}
	for range busyRounds {
		if _, err = w.stmts.begin.ExecContext(ctx); !busy(err) {
			break
		}
	}
	if err == nil {
		if err = do(); err == nil {
			err = w.lookWithin(ctx)
		}
		if err == nil {
			_, err = w.stmts.commit.ExecContext(ctx)
		}
		if err != nil {
			err = errors.Join(err, w.parts.forget(), w.decided.forget())
			w.facts.forget()
			// SQLite has rolled back by itself after some errors; then this one fails and does no harm.
			_, _ = w.conn.ExecContext(context.WithoutCancel(ctx), `ROLLBACK`)
		}
	}
	var e *human.Error
	if err != nil && !errors.As(err, &e) && !busy(err) {
		if fault := w.look(ctx); fault != nil { // the reason; what the connection has in memory may be all there is
			return fault
		}
		w.cache.Clear()
		err = errors.Join(err, w.discard())
	}
	return err
}

// commit stores a group and returns what to publish. An append that cannot be stored for a reason of its
// own has it in err and is left out. An error means that nothing of the group is stored.
func (w *writer) commit(ctx context.Context, group []*request) ([]*row, error) {
	if err := w.connected(ctx); err != nil {
		return nil, err
	}
	stored := make([]*row, 0, len(group))
	changed := make(map[human.OperationID]*folded, len(group))
	bodies := make(map[uint64]string, len(group))
	var before map[uint64]string // what late had in the place of bodies
	err := w.transact(ctx, func() error {
		head, err := scanTip(w.stmts.head.QueryRowContext(ctx), &w.tip.link)
		if err != nil {
			return err
		}
		if head != w.live.seq() { // another process wrote; what we remember may be old
			w.cache.Clear()
			w.facts.forget()
			w.tip.log = nil
			if bodies, err = w.readLate(ctx); err != nil {
				return err
			}
		}
		for _, r := range group {
			if r.err = r.ctx.Err(); r.err != nil {
				continue
			}
			before := w.tip
			next, body, err := w.append(ctx, r, head+1, changed)
			var refused *human.Error
			if errors.As(err, &refused) {
				r.err, w.tip = refused, before
			} else if err != nil {
				return err
			}
			if r.note != nil && (refused == nil || r.always) {
				if err := r.note(ctx, w); err != nil {
					return err
				}
			}
			if refused != nil {
				continue
			}
			changed[r.id] = next
			if body != "" {
				bodies[next.n] = body
			}
			head += uint64(len(r.rows))
			for i := range r.rows {
				stored = append(stored, &r.rows[i])
			}
		}
		// Before the commit: lists that search must not miss an operation that others show.
		before = w.late.set(bodies)
		if len(stored) == 0 {
			return nil
		}
		if err := w.writeFacts(ctx); err != nil {
			return err
		}
		_, err = w.stmts.projected.ExecContext(ctx, head)
		return err
	})
	if err != nil {
		w.tip.log = nil
		w.late.set(before)
		for _, r := range group {
			r.err = nil // why one was left out depended on what is now undone
		}
		return nil, err
	}
	for id, f := range changed {
		w.cache.Put(id, f, f.size)
	}
	w.appended = true
	return stored, nil
}

// append writes one request's events from seq on. It returns the operation, and its text for the index where that changed. A
// human.Error means that it wrote nothing.
func (w *writer) append(ctx context.Context, r *request, seq uint64, changed map[human.OperationID]*folded) (_ *folded, body string, err error) {
	for i := range r.rows {
		r.rows[i].entry.Seq = seq + uint64(i)
	}
	if len(r.rows) == 0 {
		return nil, "", human.Errorf(human.Invalid, "an append needs an operation's id and at least one event") // only its note counts
	}
	if r.fresh != nil {
		return r.fresh.folded, r.fresh.body, w.appendNew(ctx, r, seq)
	}
	current := changed[r.id]
	if current == nil {
		current, _ = w.cache.Get(r.id)
	}
	if current == nil {
		if current, err = w.load(ctx, r.id); err != nil {
			return nil, "", err
		}
	}
	if current == nil {
		return nil, "", human.Errorf(human.Conflict, "operation %s does not exist, so it is not at version %d", r.id, r.expected)
	}
	if current.op.Version != r.expected {
		return nil, "", versionError(r.id, current.op.Version, r.expected)
	}
	next, err := current.apply(r.rows)
	if err != nil {
		return nil, "", err
	}
	text := changesText(r.rows)
	if text && next.details == nil {
		var details []byte
		if err := w.stmts.details.QueryRowContext(ctx, next.n).Scan(&details); err != nil {
			return nil, "", err
		}
		readable := jsonText(details, detailsText)
		next.details = &readable
	}
	p, err := next.project()
	if err != nil {
		return nil, "", err
	}
	if err := w.insertEvents(ctx, r); err != nil {
		return nil, "", err
	}
	o := next.op
	if o.State == current.op.State && (o.DeliveredAt == nil) == (current.op.DeliveredAt == nil) {
		_, err = w.stmts.data.ExecContext(ctx, o.Version, micro(o.UpdatedAt), p.data, next.n)
	} else {
		_, err = w.stmts.state.ExecContext(ctx, o.Version, o.State, !o.State.Terminal(), o.DeliveredAt != nil, micro(o.UpdatedAt), p.data, next.n)
	}
	if err == nil {
		err = w.changeFact(ctx, next.n, o)
	}
	if err != nil || !text {
		return next, "", err
	}
	return next, p.body, nil
}

// appendNew writes the first events of an operation.
func (w *writer) appendNew(ctx context.Context, r *request, seq uint64) error {
	if err := w.insertEvents(ctx, r); err != nil {
		return err
	}
	r.fresh.n = seq
	done, err := w.stmts.insert.ExecContext(ctx, r.fresh.insertArgs()...)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil {
		return err
	} else if n == 0 {
		for _, undo := range []*sql.Stmt{w.stmts.remove, w.stmts.unseal} {
			if _, err := undo.ExecContext(ctx, seq); err != nil {
				return err
			}
		}
		return human.Errorf(human.Conflict, "agent %s has already used the idempotency key %q", r.fresh.op.AgentID, r.fresh.op.IdempotencyKey)
	}
	return w.addFact(ctx, seq, r.fresh.op, r.fresh.projectName)
}

// insertEvents writes the request's journal rows; a Conflict where the first version is taken.
func (w *writer) insertEvents(ctx context.Context, r *request) error {
	for i := range r.rows {
		row := &r.rows[i]
		e := &row.entry
		row.kind, row.at = string(e.Event.Type), micro(e.Event.At)
		link := row.links(w.tip.link)
		done, err := w.stmts.event.ExecContext(ctx, int64(e.Seq), string(e.ID), int64(e.Version), row.kind, row.at,
			row.payload, row.details, row.context, link[:])
		if err != nil {
			return err
		}
		n, err := done.RowsAffected()
		if err != nil {
			return err
		}
		if n == 0 && i == 0 && r.expected == 0 {
			return human.Errorf(human.Conflict, "operation %s exists already", r.id)
		}
		if n == 0 {
			return errDamaged
		}
		w.tip.link, row.link = link, link
		if row.leaf != "" {
			if err := w.seal(ctx, row); err != nil {
				return err
			}
		}
	}
	return nil
}

var errDamaged = errors.New("the journal has a version that the projection does not know")

func versionError(id human.OperationID, is, expected uint64) error {
	return human.Errorf(human.Conflict, "operation %s is at version %d, not %d: another change came first; read it again", id, is, expected)
}
