package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"

	"deskbell/backend/human"
	"deskbell/backend/summary"
)

// Summaries keeps drafts of summaries, and consents, in a Store's file. It implements summary.Store.
type Summaries struct{ store *Store }

var _ summary.Store = Summaries{}

// Summaries are this file's.
func (s *Store) Summaries() Summaries { return Summaries{s} }

// PutSummary implements summary.Store.
func (s Summaries) PutSummary(ctx context.Context, sum human.Summary) error {
	data, err := json.Marshal(sum)
	if err != nil {
		return human.Wrap(human.Invalid, err, "summary %s cannot be written as JSON", sum.ID)
	}
	return s.store.do(ctx, func(ctx context.Context, w *writer) error {
		done, err := w.conn.ExecContext(ctx, `INSERT INTO summaries (summary_id, operation_id, data) VALUES (?,?,?)`, sum.ID, sum.OperationID, string(data))
		if err != nil {
			return err
		}
		n, err := done.LastInsertId()
		if err != nil {
			return err
		}
		for _, rec := range sum.Recordings {
			done, err := w.conn.ExecContext(ctx, `INSERT INTO summarized (recording_id, summary) SELECT recording_id, ? FROM recordings WHERE recording_id = ?`, n, rec)
			if err != nil {
				return err
			}
			there, err := done.RowsAffected()
			if err != nil {
				return err
			}
			if there == 0 {
				return missing(sql.ErrNoRows, rec)
			}
		}
		return nil
	})
}

// Summaries implements summary.Store.
func (s Summaries) Summaries(ctx context.Context, op human.OperationID) ([]human.Summary, error) {
	return s.list(ctx, `SELECT data FROM summaries WHERE operation_id = ? ORDER BY n`, op)
}

// Recent implements summary.Store.
func (s Summaries) Recent(ctx context.Context, most int) ([]human.Summary, error) {
	return s.list(ctx, `SELECT data FROM summaries ORDER BY n DESC LIMIT ?`, most)
}

func (s Summaries) list(ctx context.Context, query string, args ...any) ([]human.Summary, error) {
	all := []human.Summary{}
	err := s.store.rows(ctx, query, args, func(rows *sql.Rows) error {
		var sum human.Summary
		err := s.scan(rows, &sum)
		all = append(all, sum)
		return err
	})
	return all, s.store.fail(ctx, err)
}

func (s Summaries) scan(rows *sql.Rows, into any) error {
	var data sql.RawBytes
	if err := rows.Scan(&data); err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return human.Wrap(human.Internal, err, "a summary is damaged in %s; stop Deskbell and restore a backup", s.store.file)
	}
	return nil
}

// Consents implements summary.Store.
func (s Summaries) Consents(ctx context.Context) ([]summary.Consent, error) {
	all := []summary.Consent{}
	err := s.store.rows(ctx, `SELECT data FROM consents ORDER BY consent_id`, nil, func(rows *sql.Rows) error {
		var c summary.Consent
		err := s.scan(rows, &c)
		all = append(all, c)
		return err
	})
	return all, s.store.fail(ctx, err)
}

// PutConsent implements summary.Store.
func (s Summaries) PutConsent(ctx context.Context, c summary.Consent) error {
	data, err := json.Marshal(c)
	if err != nil {
		return human.Wrap(human.Invalid, err, "this consent cannot be written as JSON")
	}
	return s.store.do(ctx, func(ctx context.Context, w *writer) error {
		_, err := w.conn.ExecContext(ctx, `INSERT INTO consents (consent_id, data) VALUES (?,?) ON CONFLICT (consent_id) DO UPDATE SET data = excluded.data`, c.ID, string(data))
		return err
	})
}

// DropConsent implements summary.Store.
func (s Summaries) DropConsent(ctx context.Context, id string) error {
	return s.store.do(ctx, func(ctx context.Context, w *writer) error {
		done, err := w.conn.ExecContext(ctx, `DELETE FROM consents WHERE consent_id = ?`, id)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n > 0 {
			return err
		}
		return human.Errorf(human.NotFound, "there is no consent %s", human.OneLine(id, 40))
	})
}
