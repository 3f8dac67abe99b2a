package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"

	"deskbell/backend/gate/callers"
	"deskbell/backend/human"
)

// Attempts keeps what agents tried in a Store's file. It implements callers.Store.
type Attempts struct{ store *Store }

var _ callers.Store = Attempts{}

// Attempts are this file's.
func (s *Store) Attempts() Attempts { return Attempts{s} }

// mostAttempts are kept; the oldest that operators have dismissed go first.
const mostAttempts = 500

// PutAttempt implements callers.Store.
func (a Attempts) PutAttempt(ctx context.Context, attempt human.Attempt) error {
	data, err := json.Marshal(attempt)
	if err != nil {
		return human.Wrap(human.Invalid, err, "attempt %s cannot be written as JSON", attempt.ID)
	}
	dismissed := int64(0)
	if attempt.DismissedAt != nil {
		dismissed = micro(*attempt.DismissedAt)
	}
	return a.store.do(ctx, func(ctx context.Context, w *writer) error {
		if _, err := w.conn.ExecContext(ctx, `INSERT INTO attempts (attempt_id, last, dismissed, data) VALUES (?,?,?,?)
			ON CONFLICT (attempt_id) DO UPDATE SET last = excluded.last, dismissed = excluded.dismissed, data = excluded.data`,
			attempt.ID, micro(attempt.LastAt), dismissed, string(data)); err != nil {
			return err
		}
		_, err := w.conn.ExecContext(ctx, `DELETE FROM attempts WHERE attempt_id IN
			(SELECT attempt_id FROM attempts ORDER BY dismissed = 0 DESC, last DESC LIMIT -1 OFFSET ?)`, mostAttempts)
		return err
	})
}

// Attempts implements callers.Store.
func (a Attempts) Attempts(ctx context.Context, all bool) ([]human.Attempt, error) {
	list := []human.Attempt{}
	err := a.store.rows(ctx, `SELECT data FROM attempts WHERE ? OR dismissed = 0 ORDER BY last DESC`, []any{all}, func(rows *sql.Rows) error {
		var data string
		if err := rows.Scan(&data); err != nil {
			return err
		}
		var attempt human.Attempt
		if err := json.Unmarshal([]byte(data), &attempt); err != nil {
			return err
		}
		list = append(list, attempt)
		return nil
	})
	if err != nil {
		return nil, a.store.fail(ctx, err)
	}
	return list, nil
}
