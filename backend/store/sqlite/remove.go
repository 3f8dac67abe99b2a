package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	"deskbell/backend/queue/receipt"
	"deskbell/backend/record/retention"
)

var _ retention.Requests = (*Store)(nil)

// Unchanged implements retention.Requests.
func (s *Store) Unchanged(ctx context.Context, since time.Time, each func(human.Operation, int64) error) error {
	const text = `SELECT data, (SELECT sum(octet_length(payload) + coalesce(octet_length(details), 0) + coalesce(octet_length(context), 0)) FROM journal WHERE operation_id = o.operation_id)
		FROM operations AS o WHERE ` + removeWhere + ` ORDER BY updated, n`
	return s.fail(ctx, s.built(ctx, text, []any{micro(since)}, func(rows *sql.Rows) error {
		var data sql.RawBytes
		var bytes int64
		if err := rows.Scan(&data, &bytes); err != nil {
			return err
		}
		var op human.Operation
		if err := json.Unmarshal(data, &op); err != nil {
			return s.damaged(err)
		}
		return each(op, bytes)
	}))
}

// scrubKey is in meta while words that were removed may still be in files.
const scrubKey = "words_removed"

// removeWhere are the conditions under which an operation may be removed once it has no recording: it is not open, did not change
// since a time, is not on its way out, and is in no attempt that no operator dismissed.
const removeWhere = `open = 0 AND updated < ?
	AND NOT EXISTS (SELECT 1 FROM outbox AS x WHERE x.operation_id = o.operation_id)
	AND NOT EXISTS (SELECT 1 FROM journal AS j WHERE j.operation_id = o.operation_id AND j.seq > (SELECT seq FROM outbox_read)
		AND j.type IN ('completed', 'cancelled', 'declined', 'overdue', 'voted'))
	AND NOT EXISTS (SELECT 1 FROM attempts AS a WHERE a.dismissed = 0 AND instr(a.data, o.operation_id) > 0)`

// RemoveRequests implements retention.Requests.
func (s *Store) RemoveRequests(ctx context.Context, ids []human.OperationID, since, at time.Time) ([]human.OperationID, error) {
	return s.removing(ctx, ids, human.Actor{Role: human.System}, at, func(ctx context.Context, w *writer, id human.OperationID) *sql.Row {
		return w.conn.QueryRowContext(ctx, selectOne+` AND `+removeWhere+`
			AND NOT EXISTS (SELECT 1 FROM recordings AS r WHERE r.operation_id = o.operation_id AND r.data ->> '$.removed_at' IS NULL)`, id, micro(since))
	})
}

const selectOne = `SELECT n, data FROM operations AS o WHERE n = (SELECT seq FROM journal WHERE operation_id = ? AND version = 1)`

// deletedKey begins what is in meta for a recording that was deleted with its operation, while its files may be there.
const deletedKey = "recording_deleted:"

// DeleteRequests implements retention.Requests.
func (s *Store) DeleteRequests(ctx context.Context, by human.Actor, ids []human.OperationID, at time.Time) error {
	_, err := s.removing(ctx, ids, by, at, func(ctx context.Context, w *writer, id human.OperationID) *sql.Row {
		return w.conn.QueryRowContext(ctx, selectOne, id)
	})
	return err
}

// DeletedRecordings implements retention.Requests.
func (s *Store) DeletedRecordings(ctx context.Context) (ids []human.RecordingID, err error) {
	err = s.rows(ctx, `SELECT substr(key, ?) FROM meta WHERE key GLOB ?`, []any{len(deletedKey) + 1, deletedKey + "*"}, func(rows *sql.Rows) error {
		ids = append(ids, "")
		return rows.Scan(&ids[len(ids)-1])
	})
	return ids, s.fail(ctx, err)
}

// removing removes the operations for which find has a row with n and data.
func (s *Store) removing(ctx context.Context, ids []human.OperationID, by human.Actor, at time.Time, find func(context.Context, *writer, human.OperationID) *sql.Row) ([]human.OperationID, error) {
	if s.key == nil {
		return nil, human.Errorf(human.Internal, "there is no key to sign with that requests were removed")
	}
	var removed []human.OperationID
	err := s.bare(ctx, func(ctx context.Context, w *writer) error {
		// The full-text index has all that it is to forget.
		if err := w.index(ctx); err != nil {
			return err
		}
		if _, err := w.conn.ExecContext(ctx, `PRAGMA secure_delete = ON`); err != nil {
			return err
		}
		var rows []*row
		err := w.transact(ctx, func() (err error) {
			removed, rows, err = w.removeAll(ctx, ids, by, at, find)
			return err
		})
		if err != nil {
			w.tip.log = nil
			return errors.Join(err, w.unsecure(ctx))
		}
		for _, r := range rows {
			w.cache.Drop(r.entry.ID)
		}
		w.live.forget()
		w.live.publish(rows)
		w.head.wrote(rows)
		return w.unsecure(ctx)
	})
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	return removed, nil
}

func (w *writer) unsecure(ctx context.Context) error {
	if w.conn == nil {
		return nil
	}
	_, err := w.conn.ExecContext(context.WithoutCancel(ctx), `PRAGMA secure_delete = OFF`)
	return err
}

// removeAll removes those operations that find finds, and returns the entries that say so. What an operator deletes must all be found.
func (w *writer) removeAll(ctx context.Context, ids []human.OperationID, by human.Actor, at time.Time, find func(context.Context, *writer, human.OperationID) *sql.Row) (removed []human.OperationID, said []*row, err error) {
	head, err := scanTip(w.stmts.head.QueryRowContext(ctx), &w.tip.link)
	if err != nil {
		return nil, nil, err
	}
	if head != w.live.seq() { // another process wrote; what we remember may be old
		w.cache.Clear()
		w.facts.forget()
		w.tip.log = nil
	}
	if err := w.parts.load(ctx, w.conn); err != nil {
		return nil, nil, err
	}
	if err := w.decided.load(ctx, w.conn); err != nil {
		return nil, nil, err
	}
	for _, id := range ids {
		var n uint64
		var data string
		err := find(ctx, w, id).Scan(&n, &data)
		if errors.Is(err, sql.ErrNoRows) && by.Role == human.Operator {
			return nil, nil, human.Errorf(human.NotFound, "no operation %s", id)
		}
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		var op human.Operation
		if err == nil {
			err = json.Unmarshal([]byte(data), &op)
		}
		if err != nil {
			return nil, nil, err
		}
		r, err := w.remove(ctx, n, op, head+1, by, at)
		if err != nil {
			return nil, nil, err
		}
		if r == nil && by.Role == human.Operator {
			return nil, nil, human.Errorf(human.Conflict, "the journal's entries of operation %s were changed outside of Deskbell, so they stay; run `deskbell doctor`", id)
		}
		if r != nil {
			head++
			removed, said = append(removed, id), append(said, r)
		}
	}
	if len(said) == 0 {
		return nil, nil, nil
	}
	if _, err := w.conn.ExecContext(ctx, `INSERT INTO meta (key, value) VALUES (?, 'due') ON CONFLICT DO NOTHING`, scrubKey); err != nil {
		return nil, nil, err
	}
	_, err = w.stmts.projected.ExecContext(ctx, int64(head))
	return removed, said, err
}

// remove removes the words of an operation, and writes the entry at seq that says so. It returns nil where the entries are not as
// they were written: they stay, for whoever looks into that. What an operator deletes is removed with its recordings, its deliveries
// and the name of its project.
func (w *writer) remove(ctx context.Context, n uint64, op human.Operation, seq uint64, by human.Actor, at time.Time) (*row, error) {
	if by.Role == human.Operator {
		op.ProjectName = ""
	}
	removal, err := w.removal(ctx, op)
	if err != nil || removal == nil {
		return nil, err
	}
	e := human.Event{Type: human.Erased, At: at.UTC().Truncate(time.Microsecond), By: by, Removal: removal}
	if err := w.key().SignRemoval(op.ID, e.At, removal); err != nil {
		return nil, err
	}
	r := &request{id: op.ID, expected: op.Version, rows: make([]row, 1)}
	if err := r.rows[0].encode(human.Entry{Seq: seq, ID: op.ID, Version: op.Version + 1, Event: e}); err != nil {
		return nil, err
	}
	if err := w.insertEvents(ctx, r); err != nil {
		return nil, err
	}
	if by.Role == human.Operator {
		if err := w.deleteRest(ctx, n, op.ID); err != nil {
			return nil, err
		}
	}
	for _, statement := range []string{
		`UPDATE journal SET payload = '', details = NULL, context = NULL WHERE operation_id = ? AND type <> 'removed'`,
		`DELETE FROM team_waiting WHERE operation_id = ?`, `DELETE FROM later WHERE operation_id = ?`, `DELETE FROM procedure_runs WHERE operation_id = ?`,
		`DELETE FROM operations WHERE n = (SELECT seq FROM journal WHERE operation_id = ? AND version = 1)`, `DELETE FROM summaries WHERE operation_id = ?`, `DELETE FROM recordings WHERE operation_id = ?`,
	} {
		if _, err := w.conn.ExecContext(ctx, statement, op.ID); err != nil {
			return nil, err
		}
	}
	if err := w.parts.remove(ctx, w.conn, n); err != nil {
		return nil, err
	}
	return &r.rows[0], cmp.Or(w.removeFromLog(ctx, op.ID, by), w.removeFromAttempts(ctx, op.ID))
}

// deleteRest deletes what retention leaves until nothing of it is there or open any more.
func (w *writer) deleteRest(ctx context.Context, n uint64, id human.OperationID) error {
	var recorded, leaves bool
	err := w.conn.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM recordings WHERE operation_id = ?1 AND running = 1), EXISTS (SELECT 1 FROM outbox WHERE operation_id = ?1 AND sink = 'log')
		OR EXISTS (SELECT 1 FROM journal WHERE operation_id = ?1 AND seq > (SELECT seq FROM outbox_read) AND type IN ('completed', 'cancelled', 'declined', 'overdue', 'voted'))`, id).Scan(&recorded, &leaves)
	switch {
	case err != nil:
		return err
	case recorded:
		return human.Errorf(human.Conflict, "a recording of operation %s is still being made; stop it first", id)
	case leaves:
		return human.Errorf(human.Conflict, "operation %s is being written to the log of finished requests; delete it in a moment", id)
	}
	for _, statement := range []string{
		`INSERT INTO meta SELECT '` + deletedKey + `' || recording_id, '' FROM recordings WHERE operation_id = ? ON CONFLICT DO NOTHING`,
		`DELETE FROM outbox WHERE operation_id = ?`,
	} {
		if _, err := w.conn.ExecContext(ctx, statement, id); err != nil {
			return err
		}
	}
	return w.forgetProject(ctx, n)
}

// removal names the entries of an operation; nil where one of them is not as it was written.
func (w *writer) removal(ctx context.Context, op human.Operation) (*human.Removal, error) {
	stub, err := json.Marshal(op.Stub())
	if err != nil {
		return nil, err
	}
	removal := &human.Removal{Operation: stub}
	sound := true
	rows, err := w.conn.QueryContext(ctx, `SELECT seq, operation_id, version, payload, details, context, type, at, link,
		coalesce((SELECT link FROM journal AS before WHERE before.seq = journal.seq - 1), (SELECT link FROM gaps WHERE last = journal.seq - 1)) FROM journal WHERE operation_id = ? ORDER BY version`, op.ID)
	if err != nil {
		return nil, err
	}
	err = eachRow(rows, func(rows *sql.Rows) error {
		var r row
		var raw, rawBefore []byte
		if err := rows.Scan(&r.entry.Seq, &r.entry.ID, &r.entry.Version, &r.payload, &r.details, &r.context, &r.kind, &r.at, &raw, &rawBefore); err != nil {
			return err
		}
		var link, before receipt.Link
		copy(link[:], raw)
		copy(before[:], rawBefore)
		sound = sound && r.links(before) == link
		r.payload, r.details, r.context = "", nil, nil
		removal.Entries = append(removal.Entries, human.RemovedEntry{Seq: r.entry.Seq, Link: receipt.RemovedLink(link), Left: receipt.RemovedLink(r.links(before))})
		return nil
	})
	if err != nil || !sound || uint64(len(removal.Entries)) != op.Version {
		return nil, err
	}
	return removal, nil
}

// removeFromLog removes what the gatekeeper's log says of the call that an operation asked about. What was decided, and how long that
// took, stays: trust and counts are made of it.
func (w *writer) removeFromLog(ctx context.Context, id human.OperationID, by human.Actor) error {
	var n uint64
	var data string
	err := w.conn.QueryRowContext(ctx, `SELECT n, data FROM decisions WHERE operation_id = ? AND operation_id <> ''`, id).Scan(&n, &data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	var d service.Decision
	if err == nil {
		err = json.Unmarshal([]byte(data), &d)
	}
	if err != nil {
		return err
	}
	for _, path := range d.Makes {
		if _, err := w.conn.ExecContext(ctx, `DELETE FROM made WHERE session = ? AND path = ?`, d.Session, path); err != nil {
			return err
		}
	}
	d.Session, d.Cwd, d.Call, d.Words, d.Digest, d.Reason = "", "", "", "", "", ""
	d.Because, d.Effects, d.Args, d.Makes = nil, nil, nil, nil
	if by.Role == human.Operator {
		d.Project = ""
	}
	left, err := json.Marshal(d)
	if err == nil {
		_, err = w.conn.ExecContext(ctx, `UPDATE decisions SET call = '', project = ?, data = ? WHERE n = ?`, d.Project, string(left), int64(n))
	}
	if err != nil {
		return err
	}
	return w.decided.remove(ctx, w.conn, n)
}

// removeFromAttempts removes what attempts about an operation called.
func (w *writer) removeFromAttempts(ctx context.Context, id human.OperationID) error {
	changed := map[human.AttemptID]string{}
	rows, err := w.conn.QueryContext(ctx, `SELECT data FROM attempts WHERE instr(data, ?) > 0`, id)
	if err != nil {
		return err
	}
	err = eachRow(rows, func(rows *sql.Rows) error {
		var data string
		if err := rows.Scan(&data); err != nil {
			return err
		}
		var a human.Attempt
		if err := json.Unmarshal([]byte(data), &a); err != nil {
			return err
		}
		for i := range a.Tries {
			if a.Tries[i].OperationID == id {
				a.Tries[i].Detail = ""
			}
		}
		left, err := json.Marshal(a)
		changed[a.ID] = string(left)
		return err
	})
	for attempt, data := range changed {
		if err == nil {
			_, err = w.conn.ExecContext(ctx, `UPDATE attempts SET data = ? WHERE attempt_id = ?`, data, attempt)
		}
	}
	return err
}

// addRemoved counts an operation that was removed, as a rebuild meets it.
func (w *writer) addRemoved(ctx context.Context, n uint64, r human.Removal) error {
	var stub human.Operation
	if err := json.Unmarshal(r.Operation, &stub); err != nil {
		return w.damaged(err)
	}
	return w.addFact(ctx, n, stub, stub.ProjectName)
}

// scrubTries is how often the write-ahead log is emptied again where a reader is at work.
const scrubTries = 5

// Scrub implements retention.Requests. SQLite leaves words on pages that it uses again and in merged parts of an index, so all of
// the file is written anew; appends wait meanwhile.
func (s *Store) Scrub(ctx context.Context, others func(context.Context, func(human.OperationID) (bool, error)) error) error {
	if due, err := s.Setting(ctx, scrubKey); err != nil || due == "" {
		return err
	}
	err := others(ctx, func(id human.OperationID) (gone bool, err error) {
		err = s.rows(ctx, `SELECT 1 FROM journal WHERE operation_id = ? AND type = 'removed'`, []any{id}, func(*sql.Rows) error {
			gone = true
			return nil
		})
		return gone, s.fail(ctx, err)
	})
	if err == nil {
		err = s.optimize(ctx)
	}
	if err == nil {
		err = s.bare(ctx, func(ctx context.Context, w *writer) error { return w.rewrite(ctx) })
	}
	if err != nil {
		return err
	}
	for range scrubTries {
		var busy, pages, done int
		err = s.bare(ctx, func(ctx context.Context, w *writer) error {
			return w.conn.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &pages, &done)
		})
		if err == nil && busy != 0 {
			err = human.Errorf(human.Unavailable, "what was removed is still in the write-ahead log of %s, because another program reads it; it is emptied later", s.file)
		}
		if err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return err
	}
	// Copies from before an upgrade have what was removed since.
	copies, err := filepath.Glob(s.file + ".format-*")
	for _, name := range copies {
		if err == nil {
			err = os.Remove(name)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return storageError(err, s.file)
	}
	return s.change(ctx, `DELETE FROM meta WHERE key = ? OR key GLOB ?`, scrubKey, deletedKey+"*")
}

// optimize writes the parts of the full-text indexes anew, one at a time: what is appended waits for one.
func (s *Store) optimize(ctx context.Context) error {
	for _, of := range []func(*writer) *parts{func(w *writer) *parts { return &w.parts }, func(w *writer) *parts { return &w.decided }} {
		for part, last := 1, 1; part <= last; part++ {
			err := s.bare(ctx, func(ctx context.Context, w *writer) error {
				p := of(w)
				if err := p.load(ctx, w.conn); err != nil {
					return err
				}
				if last = len(p.firsts); part > last {
					return nil
				}
				return p.optimize(ctx, w.conn, part)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// rewrite writes the whole file anew, with nothing in it that was deleted.
func (w *writer) rewrite(ctx context.Context) error {
	// In memory, the copy that SQLite makes would take as much of it as the file is large.
	if _, err := w.conn.ExecContext(ctx, `PRAGMA temp_store = FILE`); err != nil {
		return err
	}
	_, err := w.conn.ExecContext(ctx, `VACUUM`)
	_, back := w.conn.ExecContext(context.WithoutCancel(ctx), `PRAGMA temp_store = MEMORY`)
	return errors.Join(err, back)
}
