package sqlite

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
)

// Mirrored is what hooks have to know while no Deskbell runs.
type Mirrored struct {
	Rules []human.GateRule  // the operators', those that ask or deny
	Keys  map[string]string // the agents' names, by the SHA-256 of their keys that count, in hex
	Tools []service.ToolKnown
}

// Mirror has written what hooks have to know as it is now.
func (s *Store) Mirror(ctx context.Context) error {
	return s.do(ctx, func(ctx context.Context, w *writer) error { return w.mirrors(ctx) })
}

// mirrors writes what hooks have to know, as it is with the changes of this transaction. No other process changes the
// database meanwhile.
func (w *writer) mirrors(ctx context.Context) error {
	if w.mirror == nil {
		return nil
	}
	m := Mirrored{Keys: map[string]string{}}
	err := w.each(ctx, `SELECT data FROM gate_rules ORDER BY rule_id`, func(rows *sql.Rows) error {
		var data sql.RawBytes
		var r human.GateRule
		if err := rows.Scan(&data); err != nil {
			return err
		}
		if err := json.Unmarshal(data, &r); err != nil {
			return err
		}
		if r.Decision != human.Allow {
			m.Rules = append(m.Rules, r)
		}
		return nil
	})
	if err == nil {
		err = w.each(ctx, `SELECT name, hash FROM keys WHERE revoked_at IS NULL`, func(rows *sql.Rows) error {
			var name string
			var hash []byte
			err := rows.Scan(&name, &hash)
			m.Keys[hex.EncodeToString(hash)] = name
			return err
		})
	}
	if err == nil {
		err = w.each(ctx, `SELECT agent, tool, text FROM gate_tools ORDER BY at`, func(rows *sql.Rows) error {
			var t service.ToolKnown
			err := rows.Scan(&t.Agent, &t.Tool, &t.Definition)
			m.Tools = append(m.Tools, t)
			return err
		})
	}
	if err != nil {
		return err
	}
	return w.mirror(m)
}

func (w *writer) each(ctx context.Context, query string, row func(*sql.Rows) error) error {
	rows, err := w.conn.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	for rows.Next() {
		if err := row(rows); err != nil {
			return errors.Join(err, rows.Close())
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}
