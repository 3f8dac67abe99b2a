package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"

	"deskbell/backend/human"
	"deskbell/backend/plan"
)

// Plans keeps presets in a Store's file. It implements plan.Store.
type Plans struct{ store *Store }

var _ plan.Store = Plans{}

// Plans are this file's.
func (s *Store) Plans() Plans { return Plans{s} }

// Presets implements plan.Store.
func (p Plans) Presets(ctx context.Context) ([]plan.Preset, error) {
	var all []plan.Preset
	err := p.store.rows(ctx, `SELECT data FROM plan_presets ORDER BY name`, nil, func(rows *sql.Rows) error {
		var data sql.RawBytes
		if err := rows.Scan(&data); err != nil {
			return err
		}
		var one plan.Preset
		if err := json.Unmarshal(data, &one); err != nil {
			return p.store.damaged(err)
		}
		all = append(all, one)
		return nil
	})
	return all, err
}

// PutPreset implements plan.Store.
func (p Plans) PutPreset(ctx context.Context, preset plan.Preset) error {
	data, err := json.Marshal(preset)
	if err != nil {
		return human.Wrap(human.Invalid, err, "the preset cannot be written as JSON")
	}
	return p.store.do(ctx, func(ctx context.Context, w *writer) error {
		_, err := w.conn.ExecContext(ctx, `INSERT INTO plan_presets (preset_id, name, data) VALUES (?,?,?)
			ON CONFLICT (preset_id) DO UPDATE SET name = excluded.name, data = excluded.data`, preset.ID, preset.Name, string(data))
		return err
	})
}

// DropPreset implements plan.Store.
func (p Plans) DropPreset(ctx context.Context, id string) error {
	return p.store.do(ctx, func(ctx context.Context, w *writer) error {
		done, err := w.conn.ExecContext(ctx, `DELETE FROM plan_presets WHERE preset_id = ?`, id)
		if err != nil {
			return err
		}
		n, err := done.RowsAffected()
		if err == nil && n == 0 {
			return human.Errorf(human.NotFound, "there is no preset %q", human.OneLine(id, 64))
		}
		return err
	})
}
