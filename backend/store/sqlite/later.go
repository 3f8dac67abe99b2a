package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"

	"deskbell/backend/human"
)

// Laters implements later.Store. What cannot be read has no seal, and no operation it is about.
func (s *Store) Laters(ctx context.Context) (all []human.Later, err error) {
	err = s.rows(ctx, `SELECT operation_id, decided FROM later ORDER BY n`, nil, func(rows *sql.Rows) error {
		var id, text string
		if err := rows.Scan(&id, &text); err != nil {
			return err
		}
		var l human.Later
		if json.Unmarshal([]byte(text), &l) != nil {
			l = human.Later{}
		}
		l.Operation = human.OperationID(id)
		all = append(all, l)
		return nil
	})
	return all, s.fail(ctx, err)
}

// KeepLater implements later.Store.
func (s *Store) KeepLater(ctx context.Context, l human.Later) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return s.change(ctx, `INSERT INTO later (operation_id, decided) VALUES (?1, ?2) ON CONFLICT (operation_id) DO UPDATE SET decided = ?2`, string(l.Operation), string(text))
}

// DropLater implements later.Store.
func (s *Store) DropLater(ctx context.Context, id human.OperationID) error {
	return s.change(ctx, `DELETE FROM later WHERE operation_id = ?`, string(id))
}
