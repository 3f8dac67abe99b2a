package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"deskbell/backend/human"
)

// lossesKey is in meta while an operator has not read what was lost.
const lossesKey = "losses"

// noteLoss keeps what a start found missing until an operator has read it, and has the head file follow the database again.
func (s *Store) noteLoss(ctx context.Context, l *Loss) error {
	if l == nil {
		return nil
	}
	return s.bare(ctx, func(ctx context.Context, w *writer) error {
		err := w.transact(ctx, func() error { return w.addLoss(ctx, *l) })
		if err == nil {
			w.head.now.Turn++
			w.head.put()
		}
		return err
	})
}

func (w *writer) addLoss(ctx context.Context, l Loss) error {
	var had string
	var all []Loss
	err := w.conn.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = ?`, lossesKey).Scan(&had)
	if err == nil {
		_ = json.Unmarshal([]byte(had), &all) // a note that cannot be read gives way to this one
	} else if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if slices.ContainsFunc(all, func(had Loss) bool { return had.First == l.First && had.Last == l.Last }) {
		return nil
	}
	text, err := json.Marshal(append(all, l))
	if err == nil {
		_, err = w.conn.ExecContext(ctx, `INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`, lossesKey, string(text))
	}
	return err
}

// Losses are what was acknowledged and is missing, as starts and repairs found it, until ReadLosses.
func (s *Store) Losses(ctx context.Context) (all []Loss, err error) {
	text, err := s.Setting(ctx, lossesKey)
	if err != nil || text == "" {
		return nil, err
	}
	if json.Unmarshal([]byte(text), &all) != nil {
		return nil, damagedBy(human.Errorf(human.Internal, "the note of what was lost cannot be read in %s", s.file))
	}
	return all, nil
}

// showLosses has State say what is missing.
func (s *Store) showLosses(ctx context.Context) error {
	all, err := s.Losses(ctx)
	if err == nil {
		s.setState(func(now *human.DataState) { now.Losses = all })
	}
	return err
}

// ReadLosses notes that an operator has read what was lost.
func (s *Store) ReadLosses(ctx context.Context) error {
	err := s.change(ctx, `DELETE FROM meta WHERE key = ?`, lossesKey)
	if err == nil {
		err = s.showLosses(ctx)
	}
	return err
}

// CheckPages reads every page of the database, and State follows it. It blocks for as long as that takes, and holds nothing up. The chain of
// the journal is the audit's.
func (s *Store) CheckPages(ctx context.Context) (Report, error) {
	r := Report{File: s.file}
	var pages int
	err := s.reads.QueryRowContext(ctx, `PRAGMA page_count`).Scan(&pages)
	if err == nil {
		err = s.checkPages(ctx, &r, func(done, total int) {
			s.setState(func(now *human.DataState) {
				now.Check.Done, now.Check.Total, now.Check.Pages = done, total, pages
				now.Damage, now.More = slices.Clone(r.Found), r.More
			})
		})
	}
	if err == nil {
		s.setState(func(now *human.DataState) { now.Check.Finished = time.Now().UTC() })
	}
	return r, s.fail(ctx, err)
}
