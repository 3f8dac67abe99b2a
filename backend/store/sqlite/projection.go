package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"
	"time"

	"deskbell/backend/human"
)

// projectionRules names the way the projection is made. Raise it whenever Apply, the columns' meaning or
// the text that is indexed changes: the next Open then makes the projection anew.
const projectionRules = 3

// A folded is an operation after its last event, as the projection needs it: without details and context.
type folded struct {
	n       uint64 // the seq of its first event; 0 before it is known
	op      human.Operation
	details *string // what search reads of details; nil when not yet loaded
	size    int     // in memory, roughly
}

// apply returns the operation after the rows' events; f itself is unchanged.
func (f *folded) apply(rows []row) (*folded, error) {
	next := *f
	for _, r := range rows {
		var err error
		if next.op, err = next.op.Apply(r.entry.Event); err != nil {
			return nil, err
		}
		if r.entry.Event.Type == human.Invoked {
			text := jsonText(r.details, detailsText)
			next.details = &text
			next.op = next.op.Brief()
		}
	}
	return &next, nil
}

// A projected is everything the projection's tables say of one operation.
type projected struct {
	*folded
	data string
	body string // of the search table; only where the text changed

	projectName string // of a new operation
}

// project makes the columns, with the search text.
func (f *folded) project() (*projected, error) {
	data, err := json.Marshal(&f.op)
	if err != nil {
		return nil, human.Wrap(human.Invalid, err, "operation %s cannot be written as JSON", f.op.ID)
	}
	p := &projected{folded: f, data: string(data)}
	f.size = len(data)
	if f.details != nil {
		p.body = searchBody(f.op, *f.details)
		f.size += len(*f.details)
	}
	return p, nil
}

// changesText says whether what search finds an operation by is different after the rows.
func changesText(rows []row) bool {
	for _, r := range rows {
		switch r.entry.Event.Type {
		case human.Invoked, human.Asked, human.Replied, human.Commented, human.Finished, human.Withdrawn, human.TurnedDown:
			return true
		case human.ClaimedBy, human.Released, human.Started, human.InputSaved, human.Held, human.Undone, human.Snoozed, human.Shown, human.Seen, human.Expired, human.Delivered,
			human.Recorded, human.Unrecorded, human.Erased:
		}
	}
	return false
}

const (
	insertOperation = `INSERT INTO operations (n, operation_id, version, agent_id, kind, state, open, priority, updated, delivered, idempotency_key, data)
		VALUES (?,?,?,?,?,?,?,?,?,?,?,?)
		ON CONFLICT (agent_id, idempotency_key) WHERE idempotency_key <> '' DO NOTHING`
	updateState = `UPDATE operations SET version=?, state=?, open=?, delivered=?, updated=?, data=? WHERE n=?`
	updateData  = `UPDATE operations SET version=?, updated=?, data=? WHERE n=?`
)

// insertArgs has the types of the driver: database/sql converts others by reflection.
func (p *projected) insertArgs() []any {
	o := &p.op
	return []any{int64(p.n), string(o.ID), int64(o.Version), o.AgentID, string(o.Kind), string(o.State), !o.State.Terminal(), int64(o.Priority),
		micro(o.UpdatedAt), o.DeliveredAt != nil, o.IdempotencyKey, p.data}
}

func micro(t time.Time) int64 { return t.UnixMicro() }

// Rebuild drops the projection and makes it anew from the journal, in one transaction: lists show the old
// one until it is done, and keep it when ctx ends or storage fails before. It blocks, and so does every
// Append meanwhile; a million operations take minutes.
func (s *Store) Rebuild(ctx context.Context) error {
	return s.do(ctx, func(ctx context.Context, w *writer) error { return w.rebuild(ctx) })
}

func (w *writer) rebuild(ctx context.Context) error {
	w.cache.Clear()
	if _, err := w.conn.ExecContext(ctx, `DELETE FROM operations`); err != nil {
		return err
	}
	if err := w.parts.load(ctx, w.conn); err != nil {
		return err
	}
	if err := w.parts.drop(ctx, w.conn); err != nil {
		return err
	}
	w.facts.forget()
	if _, err := w.conn.ExecContext(ctx, `DELETE FROM facts; DELETE FROM fact_names`); err != nil {
		return err
	}
	insert, err := w.conn.PrepareContext(ctx, insertOperation)
	if err != nil {
		return err
	}
	defer insert.Close()

	// Each operation is folded whole and written once. The readers' side supplies the journal, whose
	// committed rows do not change.
	firsts, err := w.reads.QueryContext(ctx, `SELECT seq, operation_id FROM journal WHERE version = 1 ORDER BY seq`)
	if err != nil {
		return err
	}
	defer firsts.Close()
	for firsts.Next() {
		var f folded
		if err := firsts.Scan(&f.n, &f.op.ID); err != nil {
			return err
		}
		var rows []row
		err := w.rows(ctx, selectRows+`WHERE operation_id = ? ORDER BY version`, []any{f.op.ID}, func(found *sql.Rows) error {
			var r row
			err := r.scan(found)
			rows = append(rows, r)
			return err
		})
		if err != nil {
			return err
		}
		if last := rows[len(rows)-1].entry.Event; last.Removal != nil {
			if err := w.addRemoved(ctx, f.n, *last.Removal); err != nil {
				return err
			}
			continue
		}
		whole, err := f.apply(rows)
		if err != nil {
			return damagedBy(human.Wrap(human.Internal, err, "the journal in %s is damaged at operation %s; restore a backup", w.file, f.op.ID))
		}
		p, err := whole.project()
		if err != nil {
			return err
		}
		if _, err := insert.ExecContext(ctx, p.insertArgs()...); err != nil {
			return err
		}
		if err := w.parts.add(ctx, w.conn, p.n, p.body); err != nil {
			return err
		}
		if err := w.addFact(ctx, p.n, p.op, projectOf(rows[0].context)); err != nil {
			return err
		}
	}
	if err := firsts.Err(); err != nil {
		return err
	}
	if err := w.writeFacts(ctx); err != nil {
		return err
	}
	if _, err := w.conn.ExecContext(ctx, closeLeft); err != nil {
		return err
	}
	_, err = w.conn.ExecContext(ctx, `UPDATE projected SET without_facts = 0, (seq, indexed) = (SELECT coalesce(max(seq), 0), coalesce(max(seq), 0) FROM journal), rules = ?`, projectionRules)
	return err
}

// load returns the operation as the projection has it; nil when there is none.
func (w *writer) load(ctx context.Context, id human.OperationID) (*folded, error) {
	var f folded
	var data string
	err := w.stmts.load.QueryRowContext(ctx, id).Scan(&f.n, &data)
	if err == sql.ErrNoRows {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &f, json.NewDecoder(strings.NewReader(data)).Decode(&f.op)
}
