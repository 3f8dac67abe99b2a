package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue/replica"
)

var _ replica.Storage = (*Store)(nil)

// Place implements replica.Storage.
func (s *Store) Place(ctx context.Context) (place uint64, stamp int64, err error) {
	err = s.rows(ctx, `SELECT place, stamp FROM team WHERE left_at = 0`, nil, func(rows *sql.Rows) error { return rows.Scan(&place, &stamp) })
	return place, stamp, s.fail(ctx, err)
}

// Standing implements replica.Storage.
func (s *Store) Standing(ctx context.Context, id human.OperationID) (at replica.Standing, err error) {
	err = s.rows(ctx, `SELECT coalesce((SELECT max(version) FROM journal WHERE operation_id = ?1), 0), coalesce((SELECT place FROM team_operations WHERE operation_id = ?1 AND place > folded), 0),
		coalesce((SELECT shared FROM team_operations WHERE operation_id = ?1), 0), coalesce((SELECT in_doubt FROM team_waiting WHERE operation_id = ?1), 0),
		EXISTS (SELECT 1 FROM team_operations JOIN team ON id = team WHERE operation_id = ?1 AND left_at > 0), coalesce((SELECT earlier FROM team_operations WHERE operation_id = ?1), 0)`,
		[]any{string(id)}, func(rows *sql.Rows) error {
			return rows.Scan(&at.Version, &at.Place, &at.Shared, &at.InDoubt, &at.Elsewhere, &at.Earlier)
		})
	return at, s.fail(ctx, err)
}

// Deliver implements replica.Storage. It blocks until the messages are on the disk.
func (s *Store) Deliver(ctx context.Context, messages []replica.Message, upTo uint64) ([]replica.Result, error) {
	ctx = context.WithoutCancel(ctx) // all of them, or the next call brings them again
	requests := make([]*request, len(messages))
	results := make([]replica.Result, len(messages))
	elsewhere, err := s.elsewhere(ctx, messages)
	if err != nil {
		return nil, err
	}
	whole := true
	for i, m := range messages {
		if elsewhere[m.ID] {
			m.Events = nil
		}
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
			if results[i].Gap = false; requests[i].err != nil && m.Before > 0 && !elsewhere[m.ID] {
				err = w.conn.QueryRowContext(ctx, `SELECT ?2 > max(coalesce((SELECT max(version) FROM journal WHERE operation_id = ?1), 0),
					coalesce((SELECT shared FROM team_operations WHERE operation_id = ?1), 0))`, string(m.ID), int64(m.Before)).Scan(&results[i].Gap)
			}
			if whole = whole && !results[i].Gap; err == nil && !results[i].Gap && !elsewhere[m.ID] {
				err = w.shared(ctx, m.ID, m.Before+uint64(len(m.Events)), m.Place)
			}
			if err != nil || i < len(messages)-1 || upTo == 0 || !whole {
				return err
			}
			_, err = w.conn.ExecContext(ctx, `INSERT INTO team (place, stamp) VALUES (?1, ?2)
				ON CONFLICT (left_at) WHERE left_at = 0 DO UPDATE SET place = ?1, stamp = ?2 WHERE ?1 > place`, int64(upTo), m.Stamp)
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
	_, err := w.conn.ExecContext(ctx, `INSERT INTO team_operations (operation_id, place, shared, team) VALUES (?1, ?2, ?3, coalesce((SELECT id FROM team WHERE left_at = 0), 1))
		ON CONFLICT (operation_id) DO UPDATE SET place = max(place, ?2), shared = max(shared, ?3)`, string(id), int64(place), int64(version))
	if err == nil {
		_, err = w.conn.ExecContext(ctx, `DELETE FROM team_waiting WHERE operation_id = ?1 AND ?2 >= (SELECT max(version) FROM journal WHERE operation_id = ?1)`, string(id), int64(version))
	}
	return err
}

// Snapshot implements replica.Storage.
func (s *Store) Snapshot(ctx context.Context) (revision uint64, err error) {
	err = s.rows(ctx, `SELECT snapshot FROM team WHERE left_at = 0`, nil, func(rows *sql.Rows) error { return rows.Scan(&revision) })
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
		_, err := w.conn.ExecContext(ctx, `INSERT INTO team (snapshot) VALUES (?1) ON CONFLICT (left_at) WHERE left_at = 0 DO UPDATE SET snapshot = max(snapshot, ?1)`, int64(revision))
		return err
	})
}

// Share implements replica.Storage.
func (s *Store) Share(ctx context.Context) (n int, err error) {
	err = s.do(ctx, func(ctx context.Context, w *writer) error {
		first, err := w.conn.ExecContext(ctx, `INSERT INTO team (whole) VALUES (1) ON CONFLICT (left_at) WHERE left_at = 0 DO UPDATE SET whole = 1 WHERE whole = 0`)
		if err != nil {
			return err
		}
		if before, err := first.RowsAffected(); err != nil || before == 0 {
			return err
		}
		done, err := w.conn.ExecContext(ctx, `INSERT INTO team_waiting (operation_id, in_doubt) SELECT operation_id, 0 FROM operations
			WHERE coalesce(data ->> '$.desk', '') = '' AND operation_id NOT IN (SELECT operation_id FROM team_operations) AND operation_id NOT IN (SELECT operation_id FROM team_waiting) ORDER BY n`)
		if err != nil {
			return err
		}
		added, err := done.RowsAffected()
		n = int(added)
		return err
	})
	return n, err
}

// elsewhere are those operations of messages that are in the journal of a team that this desk left: another team cannot change them.
func (s *Store) elsewhere(ctx context.Context, messages []replica.Message) (map[human.OperationID]bool, error) {
	ids := make([]human.OperationID, len(messages))
	for i, m := range messages {
		ids[i] = m.ID
	}
	asked, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	found := map[human.OperationID]bool{}
	err = s.rows(ctx, `SELECT operation_id FROM json_each(?) AS c CROSS JOIN team_operations ON operation_id = c.value CROSS JOIN team AS t ON t.id = team WHERE left_at > 0`, []any{string(asked)}, func(rows *sql.Rows) error {
		var id human.OperationID
		err := rows.Scan(&id)
		found[id] = true
		return err
	})
	return found, s.fail(ctx, err)
}

// closeLeft has requests of other desks that are open in a team that this desk left not be open here.
const closeLeft = `UPDATE operations SET open = 0 WHERE open = 1 AND data ->> '$.desk' <> ''
	AND EXISTS (SELECT 1 FROM team_operations AS p JOIN team AS t ON t.id = p.team WHERE p.operation_id = operations.operation_id AND t.left_at > 0)`

// Stand notes, at a time, in which team this desk is and what it is called there: identity is what no other team has, and empty for none.
// What is in the journal of a team that it is not in any more cannot change here, see replica.Standing. It returns whether there is such a team.
func (s *Store) Stand(ctx context.Context, identity, desk string, at time.Time) (left bool, err error) {
	err = s.do(ctx, func(ctx context.Context, w *writer) error {
		left, err = w.stand(ctx, identity, desk, at)
		return err
	})
	return left, err
}

func (w *writer) stand(ctx context.Context, identity, desk string, at time.Time) (left bool, err error) {
	var was, name sql.NullString
	if err := w.conn.QueryRowContext(ctx, `SELECT (SELECT identity FROM team WHERE left_at = 0), (SELECT desk FROM team WHERE left_at = 0), EXISTS (SELECT 1 FROM team WHERE left_at > 0)`).Scan(&was, &name, &left); err != nil {
		return false, err
	}
	if was.Valid == (identity != "") && was.String == identity && name.String == desk {
		return left, nil
	}
	type step struct {
		text string
		args []any
	}
	var steps []step
	do := func(text string, args ...any) { steps = append(steps, step{text, args}) }
	switch known := was.Valid && (was.String == identity || was.String == ""); {
	case known && identity != "": // from before desks left teams, or another name
	case was.Valid:
		left = true
		// What was sent, without an answer, may be there. What was not is this desk's own.
		do(`INSERT INTO team_operations (operation_id, place, shared, team) SELECT operation_id, 0, 1, (SELECT id FROM team WHERE left_at = 0) FROM team_waiting WHERE in_doubt = 1 ON CONFLICT DO NOTHING`)
		do(`DELETE FROM team_waiting`)
		do(`UPDATE team SET left_at = ?, whole = 0 WHERE left_at = 0`, micro(at))
	}
	if identity != "" {
		do(`UPDATE team SET left_at = 0 WHERE identity = ? AND left_at > 0`, identity)
		do(`UPDATE team_operations SET earlier = 1 WHERE team = (SELECT id FROM team WHERE left_at = 0 AND desk <> '' AND desk <> ?)`, desk)
		do(`INSERT INTO team (identity, desk) VALUES (?1, ?2) ON CONFLICT (left_at) WHERE left_at = 0 DO UPDATE SET identity = ?1, desk = ?2`, identity, desk)
	}
	do(`UPDATE operations SET open = 1 WHERE open = 0 AND state NOT IN ('completed', 'cancelled', 'declined')`)
	do(closeLeft)
	for _, s := range steps {
		if _, err := w.conn.ExecContext(ctx, s.text, s.args...); err != nil {
			return false, err
		}
	}
	return left, w.conn.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM team WHERE left_at > 0)`).Scan(&left)
}

// OwnInTeam are the open requests of this desk's agents that are in the journal of the team that it is in or, with left, of one that it left.
func (s *Store) OwnInTeam(ctx context.Context, left bool) ([]human.OperationID, error) {
	return s.openWhere(ctx, `coalesce(data ->> '$.desk', '') = ''
		AND EXISTS (SELECT 1 FROM team_operations AS p JOIN team AS t ON t.id = p.team WHERE p.operation_id = o.operation_id AND (t.left_at > 0) = ?)`, left)
}

// HeldHere are the open requests of other desks' agents to which this desk is about to send an answer.
func (s *Store) HeldHere(ctx context.Context) ([]human.OperationID, error) {
	return s.openWhere(ctx, `data ->> '$.desk' <> '' AND data ->> '$.leaving' IS NOT NULL AND coalesce(data ->> '$.leaving.desk', '') = ''`)
}

func (s *Store) openWhere(ctx context.Context, condition string, args ...any) (ids []human.OperationID, err error) {
	err = s.rows(ctx, `SELECT operation_id FROM operations AS o WHERE open = 1 AND `+condition, args, func(rows *sql.Rows) error {
		var id human.OperationID
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	})
	return ids, s.fail(ctx, err)
}

// Copied implements replica.Storage.
func (s *Store) Copied(ctx context.Context) (ops map[human.OperationID]bool, desk string, err error) {
	const last = `(SELECT id FROM team ORDER BY left_at = 0 DESC, left_at DESC LIMIT 1)`
	ops = map[human.OperationID]bool{}
	err = s.rows(ctx, `SELECT operation_id, team = `+last+` FROM team_operations`, nil, func(rows *sql.Rows) error {
		var id human.OperationID
		var is bool
		err := rows.Scan(&id, &is)
		ops[id] = is
		return err
	})
	if err == nil {
		err = s.rows(ctx, `SELECT desk FROM team WHERE id = `+last, nil, func(rows *sql.Rows) error { return rows.Scan(&desk) })
	}
	return ops, desk, s.fail(ctx, err)
}

// NoteRead implements replica.Storage.
func (s *Store) NoteRead(ctx context.Context, id human.OperationID) error {
	return s.change(ctx, `UPDATE operations SET delivered = 1 WHERE n = (SELECT seq FROM journal WHERE operation_id = ? AND version = 1)`, string(id))
}
