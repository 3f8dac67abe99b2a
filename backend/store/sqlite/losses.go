package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"sync"
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
		return nil, human.Errorf(human.Internal, "the note of what was lost cannot be read in %s", s.file)
	}
	return all, nil
}

// ReadLosses notes that an operator has read what was lost.
func (s *Store) ReadLosses(ctx context.Context) error {
	return s.change(ctx, `DELETE FROM meta WHERE key = ?`, lossesKey)
}

// A Checker reads the whole database once, in the background. Its methods are safe for concurrent use.
type Checker struct {
	store *Store
	log   *slog.Logger

	mu     sync.Mutex
	report Report
	done   float64
	at     time.Time
}

// NewChecker makes one that has read nothing yet.
func (s *Store) NewChecker(log *slog.Logger) *Checker {
	return &Checker{store: s, log: log, report: Report{File: s.file}}
}

// Run reads the pages of every table, and then each entry of the journal. It returns nil; what it finds is in Report and in the log.
func (c *Checker) Run(ctx context.Context) error {
	r := Report{File: c.store.file}
	err := c.store.checkPages(ctx, &r, c.progress)
	if err == nil {
		err = c.store.checkChain(ctx, &r)
	}
	if damage(err) {
		r.found(human.Sayf("SQLite says: %s", sqliteSays(err)))
	} else if err != nil {
		if ctx.Err() == nil {
			c.log.Error("the database could not be checked", "err", err)
		}
		return nil
	}
	if len(r.Found) > 0 {
		c.log.Error("the database is damaged; run `deskbell doctor`", "first", r.Found[0].Text, "problems", len(r.Found)+r.More)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report, c.done, c.at = r, 1, c.store.now().UTC()
	return nil
}

// progress notes how much was read; the journal is read after the tables, once more.
func (c *Checker) progress(part float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done = part * 0.7
}

// Report is what was found, and how much was read, from 0 to 1; at is the zero time before all was.
func (c *Checker) Report() (r Report, done float64, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.report, c.done, c.at
}
