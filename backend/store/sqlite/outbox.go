package sqlite

import (
	"context"
	"database/sql"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue/outbox"
)

// An Outbox keeps in a Store's file what is to be delivered outside of it. It implements outbox.Store.
type Outbox struct{ store *Store }

var _ outbox.Store = Outbox{}

// Outbox is this file's.
func (s *Store) Outbox() Outbox { return Outbox{s} }

// OutboxSeq implements outbox.Store.
func (o Outbox) OutboxSeq(ctx context.Context) (seq uint64, err error) {
	err = o.store.rows(ctx, `SELECT seq FROM outbox_read`, nil, func(rows *sql.Rows) error { return rows.Scan(&seq) })
	return seq, err
}

// Post implements outbox.Store.
func (o Outbox) Post(ctx context.Context, seq uint64, id human.OperationID, to []string, now time.Time) error {
	return o.store.do(ctx, func(ctx context.Context, w *writer) error {
		if _, err := w.conn.ExecContext(ctx, `UPDATE outbox_read SET seq = ?`, int64(seq)); err != nil {
			return err
		}
		for _, sink := range to {
			_, err := w.conn.ExecContext(ctx, `INSERT INTO outbox (sink, operation_id, seq, noted) VALUES (?,?,?,?) ON CONFLICT DO NOTHING`, sink, string(id), int64(seq), micro(now))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Outbox implements outbox.Store.
func (o Outbox) Outbox(ctx context.Context, sink string, most int) (items []outbox.Item, err error) {
	err = o.store.rows(ctx, `SELECT operation_id, attempts FROM outbox WHERE sink = ? ORDER BY attempts, seq LIMIT ?`, []any{sink, most}, func(rows *sql.Rows) error {
		var item outbox.Item
		err := rows.Scan(&item.Operation, &item.Attempts)
		items = append(items, item)
		return err
	})
	return items, err
}

// Delivered implements outbox.Store.
func (o Outbox) Delivered(ctx context.Context, sink string, id human.OperationID) error {
	return o.store.change(ctx, `DELETE FROM outbox WHERE sink = ? AND operation_id = ?`, sink, string(id))
}

// Failed implements outbox.Store.
func (o Outbox) Failed(ctx context.Context, sink string, item outbox.Item, problem string) error {
	return o.store.change(ctx, `UPDATE outbox SET attempts = ?, problem = ? WHERE sink = ? AND operation_id = ?`, item.Attempts+1, problem, sink, string(item.Operation))
}

// Discard implements outbox.Store.
func (o Outbox) Discard(ctx context.Context, sink string) error {
	return o.store.change(ctx, `DELETE FROM outbox WHERE sink = ?`, sink)
}

// Outboxes implements outbox.Store.
func (o Outbox) Outboxes(ctx context.Context) (all []outbox.SinkState, err error) {
	const text = `SELECT sink, count(*), min(noted), coalesce((SELECT problem FROM outbox p WHERE p.sink = o.sink AND problem <> '' ORDER BY attempts DESC, seq LIMIT 1), '')
		FROM outbox o GROUP BY sink`
	err = o.store.rows(ctx, text, nil, func(rows *sql.Rows) error {
		var s outbox.SinkState
		var noted int64
		err := rows.Scan(&s.Name, &s.Waiting, &noted, &s.Problem)
		since := time.UnixMicro(noted).UTC()
		s.Since = &since
		all = append(all, s)
		return err
	})
	return all, err
}

// change runs one statement that writes.
func (s *Store) change(ctx context.Context, text string, args ...any) error {
	return s.do(ctx, func(ctx context.Context, w *writer) error {
		_, err := w.conn.ExecContext(ctx, text, args...)
		return err
	})
}
