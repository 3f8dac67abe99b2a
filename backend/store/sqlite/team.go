package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"

	"deskbell/backend/human"
	"deskbell/backend/queue/replica"
)

var _ replica.Storage = (*Store)(nil)

// Place implements replica.Storage.
func (s *Store) Place(ctx context.Context) (place uint64, stamp int64, err error) {
	err = s.rows(ctx, `SELECT place, stamp FROM team`, nil, func(rows *sql.Rows) error { return rows.Scan(&place, &stamp) })
	return place, stamp, s.fail(ctx, err)
}

// Standing implements replica.Storage.
func (s *Store) Standing(ctx context.Context, id human.OperationID) (at replica.Standing, err error) {
	err = s.rows(ctx, `SELECT coalesce((SELECT max(version) FROM journal WHERE operation_id = ?1), 0), coalesce((SELECT place FROM team_operations WHERE operation_id = ?1 AND place > folded), 0),
		coalesce((SELECT shared FROM team_operations WHERE operation_id = ?1), 0), coalesce((SELECT in_doubt FROM team_waiting WHERE operation_id = ?1), 0)`,
		[]any{string(id)}, func(rows *sql.Rows) error { return rows.Scan(&at.Version, &at.Place, &at.Shared, &at.InDoubt) })
	return at, s.fail(ctx, err)
}

// Deliver implements replica.Storage. It blocks until the messages are on the disk.
func (s *Store) Deliver(ctx context.Context, messages []replica.Message, upTo uint64) ([]replica.Result, error) {
	ctx = context.WithoutCancel(ctx) // all of them, or the next call brings them again
	requests := make([]*request, len(messages))
	results := make([]replica.Result, len(messages))
	whole := true
	for i, m := range messages {
		var err error
		if requests[i], err = s.appendOf(ctx, m.ID, m.Before, m.Events); err != nil { // such as an answer without a request
			results[i].Refused = err
			requests[i] = &request{ctx: ctx, id: m.ID, done: make(chan error, 1)}
		}
		requests[i].always = true
		requests[i].note = func(ctx context.Context, w *writer) error {
			if i == 0 { // the first time, or again
				whole = true
			}
			var err error
			if results[i].Gap = false; requests[i].err != nil && m.Before > 0 {
				err = w.conn.QueryRowContext(ctx, `SELECT ?2 > max(coalesce((SELECT max(version) FROM journal WHERE operation_id = ?1), 0),
					coalesce((SELECT shared FROM team_operations WHERE operation_id = ?1), 0))`, string(m.ID), int64(m.Before)).Scan(&results[i].Gap)
			}
			if whole = whole && !results[i].Gap; err == nil && !results[i].Gap {
				err = w.shared(ctx, m.ID, m.Before+uint64(len(m.Events)), m.Place)
			}
			if err != nil || i < len(messages)-1 || upTo == 0 || !whole {
				return err
			}
			_, err = w.conn.ExecContext(ctx, `INSERT INTO team (id, place, stamp) VALUES (1, ?1, ?2)
				ON CONFLICT (id) DO UPDATE SET place = ?1, stamp = ?2 WHERE ?1 > place`, int64(upTo), m.Stamp)
			return err
		}
	}
	if err := s.stopped(); err != nil {
		return nil, err
	}
	for _, r := range requests {
		if !s.queue.add(r) {
			return nil, closedError()
		}
	}
	var failed error
	for i, r := range requests {
		err := <-r.done
		var reason *human.Error
		if errors.As(err, &reason) && (reason.Kind == human.Conflict || reason.Kind == human.Invalid || reason.Kind == human.Denied) {
			results[i].Refused = cmp.Or(results[i].Refused, err)
		} else if err != nil {
			failed = err
		} else {
			results[i].Seq = r.rows[len(r.rows)-1].entry.Seq
		}
	}
	return results, failed
}

// AppendWaiting implements replica.Storage.
func (s *Store) AppendWaiting(ctx context.Context, id human.OperationID, expected uint64, inDoubt bool, events ...human.Event) (uint64, error) {
	r, err := s.appendOf(ctx, id, expected, events)
	if err != nil {
		return 0, err
	}
	r.note = func(ctx context.Context, w *writer) error {
		_, err := w.conn.ExecContext(ctx, `INSERT INTO team_waiting (operation_id, in_doubt) VALUES (?1, ?2) ON CONFLICT (operation_id) DO UPDATE SET in_doubt = in_doubt OR ?2`, string(id), inDoubt)
		return err
	}
	if err := s.submit(ctx, r); err != nil {
		return 0, err
	}
	return r.rows[len(r.rows)-1].entry.Seq, nil
}

// Waiting implements replica.Storage.
func (s *Store) Waiting(ctx context.Context, n int) (ids []human.OperationID, err error) {
	err = s.rows(ctx, `SELECT operation_id FROM team_waiting ORDER BY n LIMIT ?`, []any{n}, func(rows *sql.Rows) error {
		var id human.OperationID
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	})
	return ids, s.fail(ctx, err)
}

// Doubt implements replica.Storage.
func (s *Store) Doubt(ctx context.Context, id human.OperationID, inDoubt bool) error {
	return s.change(ctx, `UPDATE team_waiting SET in_doubt = ? WHERE operation_id = ?`, inDoubt, string(id))
}

// Sent implements replica.Storage.
func (s *Store) Sent(ctx context.Context, id human.OperationID, version, place uint64) error {
	return s.do(ctx, func(ctx context.Context, w *writer) error { return w.shared(ctx, id, version, place) })
}

// shared notes that the versions of an operation up to version are in the team's journal.
func (w *writer) shared(ctx context.Context, id human.OperationID, version, place uint64) error {
	_, err := w.conn.ExecContext(ctx, `INSERT INTO team_operations (operation_id, place, shared) VALUES (?1, ?2, ?3)
		ON CONFLICT (operation_id) DO UPDATE SET place = max(place, ?2), shared = max(shared, ?3)`, string(id), int64(place), int64(version))
	if err == nil {
		_, err = w.conn.ExecContext(ctx, `DELETE FROM team_waiting WHERE operation_id = ?1 AND ?2 >= (SELECT max(version) FROM journal WHERE operation_id = ?1)`, string(id), int64(version))
	}
	return err
}

// Snapshot implements replica.Storage.
func (s *Store) Snapshot(ctx context.Context) (revision uint64, err error) {
	err = s.rows(ctx, `SELECT snapshot FROM team`, nil, func(rows *sql.Rows) error { return rows.Scan(&revision) })
	return revision, s.fail(ctx, err)
}

// Folded implements replica.Storage.
func (s *Store) Folded(ctx context.Context, upTo map[human.OperationID]uint64, revision uint64) error {
	return s.do(ctx, func(ctx context.Context, w *writer) error {
		for id, place := range upTo {
			if _, err := w.conn.ExecContext(ctx, `UPDATE team_operations SET folded = max(folded, ?2) WHERE operation_id = ?1`, string(id), int64(place)); err != nil {
				return err
			}
		}
		_, err := w.conn.ExecContext(ctx, `INSERT INTO team (id, place, stamp, snapshot) VALUES (1, 0, 0, ?1) ON CONFLICT (id) DO UPDATE SET snapshot = max(snapshot, ?1)`, int64(revision))
		return err
	})
}

// Share implements replica.Storage.
func (s *Store) Share(ctx context.Context) (n int, err error) {
	err = s.do(ctx, func(ctx context.Context, w *writer) error {
		first, err := w.conn.ExecContext(ctx, `INSERT INTO team (id, place, stamp, whole) VALUES (1, 0, 0, 1) ON CONFLICT (id) DO UPDATE SET whole = 1 WHERE whole = 0`)
		if err != nil {
			return err
		}
		if before, err := first.RowsAffected(); err != nil || before == 0 {
			return err
		}
		done, err := w.conn.ExecContext(ctx, `INSERT INTO team_waiting (operation_id, in_doubt) SELECT operation_id, 0 FROM operations
			WHERE operation_id NOT IN (SELECT operation_id FROM team_operations) AND operation_id NOT IN (SELECT operation_id FROM team_waiting) ORDER BY n`)
		if err != nil {
			return err
		}
		added, err := done.RowsAffected()
		n = int(added)
		return err
	})
	return n, err
}
