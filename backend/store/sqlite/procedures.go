package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/procedure"
)

// Procedures keeps procedures and their runs in a Store's file. It implements procedure.Store.
type Procedures struct{ store *Store }

var _ procedure.Store = Procedures{}

// sortable is RFC 3339 with all digits, so that times sort as texts.
const sortable = "2006-01-02T15:04:05.000000000Z07:00"

// Procedures are this file's.
func (s *Store) Procedures() Procedures { return Procedures{s} }

// Versions implements procedure.Store.
func (p Procedures) Versions(ctx context.Context, name string) (all []procedure.Version, err error) {
	const query = `SELECT name, version, file, digest, saved_at, saved_by, note FROM procedures WHERE ?1 = '' OR name = ?1 ORDER BY name, version DESC`
	err = p.store.rows(ctx, query, []any{name}, func(rows *sql.Rows) error {
		var v procedure.Version
		var at string
		if err := rows.Scan(&v.Name, &v.Number, &v.File, &v.Digest, &at, &v.SavedBy, &v.Note); err != nil {
			return err
		}
		if v.SavedAt, err = time.Parse(sortable, at); err != nil || procedure.Digest(v.File) != v.Digest {
			return human.Errorf(human.Internal, "version %d of procedure %s was changed on the disk; import it again from its file, or restore a backup", v.Number, v.Name)
		}
		all = append(all, v)
		return nil
	})
	return all, p.store.fail(ctx, err)
}

// Save implements procedure.Store.
func (p Procedures) Save(ctx context.Context, v procedure.Version) error {
	return p.store.do(ctx, func(ctx context.Context, w *writer) error {
		done, err := w.conn.ExecContext(ctx, `INSERT INTO procedures (name, version, file, digest, saved_at, saved_by, note)
			SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE ?2 = 1 + (SELECT coalesce(max(version), 0) FROM procedures WHERE name = ?1)`,
			v.Name, v.Number, v.File, v.Digest, v.SavedAt.UTC().Format(sortable), v.SavedBy, v.Note)
		if err != nil {
			return err
		}
		n, err := done.RowsAffected()
		if err == nil && n == 0 {
			err = human.Errorf(human.Conflict, "procedure %s has another version since; look at that first", v.Name)
		}
		return err
	})
}

// Remove implements procedure.Store.
func (p Procedures) Remove(ctx context.Context, name string) error {
	return p.store.do(ctx, func(ctx context.Context, w *writer) error {
		done, err := w.conn.ExecContext(ctx, `DELETE FROM procedures WHERE name = ?`, name)
		if err != nil {
			return err
		}
		n, err := done.RowsAffected()
		if err == nil && n == 0 {
			err = human.Errorf(human.NotFound, "there is no procedure %q", human.OneLine(name, 60))
		}
		if err == nil {
			_, err = w.conn.ExecContext(ctx, `DELETE FROM unattended WHERE name = ?`, name)
		}
		if err == nil {
			_, err = w.conn.ExecContext(ctx, `DELETE FROM meta WHERE key = ?`, agentsKey+name)
		}
		return err
	})
}

// agentsKey begins what is in meta of the agents of a procedure, as JSON.
const agentsKey = "procedure_agents/"

// Agents implements procedure.Store.
func (p Procedures) Agents(ctx context.Context) (map[string]procedure.AgentsAllowed, error) {
	all := map[string]procedure.AgentsAllowed{}
	err := p.store.rows(ctx, `SELECT substr(key, ?), value FROM meta WHERE key GLOB ?`, []any{len(agentsKey) + 1, agentsKey + "*"}, func(rows *sql.Rows) error {
		var name string
		var data sql.RawBytes
		if err := rows.Scan(&name, &data); err != nil {
			return err
		}
		var a procedure.AgentsAllowed
		if err := json.Unmarshal(data, &a); err != nil {
			return p.store.damaged(err)
		}
		all[name] = a
		return nil
	})
	return all, p.store.fail(ctx, err)
}

// PutAgents implements procedure.Store.
func (p Procedures) PutAgents(ctx context.Context, name string, a procedure.AgentsAllowed) error {
	data, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return p.store.SetSetting(ctx, agentsKey+name, string(data))
}

// Unattended implements procedure.Store.
func (p Procedures) Unattended(ctx context.Context, name string) (u procedure.Unattended, err error) {
	err = human.Errorf(human.NotFound, "procedure %q was never let run unattended", human.OneLine(name, 60))
	failed := p.store.rows(ctx, `SELECT data FROM unattended WHERE name = ?`, []any{name}, func(rows *sql.Rows) error {
		var data sql.RawBytes
		if err := rows.Scan(&data); err != nil {
			return err
		}
		if err = json.Unmarshal(data, &u); err != nil {
			return p.store.damaged(err)
		}
		return nil
	})
	return u, cmp.Or(p.store.fail(ctx, failed), err)
}

// PutUnattended implements procedure.Store.
func (p Procedures) PutUnattended(ctx context.Context, u procedure.Unattended) error {
	data, err := json.Marshal(u)
	if err != nil {
		return err
	}
	return p.store.change(ctx, `INSERT INTO unattended (name, data) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET data = ?2`, u.Procedure, string(data))
}

// Runs implements procedure.Store.
func (p Procedures) Runs(ctx context.Context, name string, limit int) ([]human.RunOfProcedure, error) {
	return p.selected(ctx, `SELECT data FROM procedure_runs WHERE ?1 = '' OR name = ?1 ORDER BY started_at DESC, operation_id LIMIT ?2`, name, limit)
}

// Open implements procedure.Store.
func (p Procedures) Open(ctx context.Context) ([]human.RunOfProcedure, error) {
	return p.selected(ctx, `SELECT data FROM procedure_runs WHERE over = 0 ORDER BY started_at`)
}

// Run implements procedure.Store.
func (p Procedures) Run(ctx context.Context, id human.OperationID) (human.RunOfProcedure, error) {
	all, err := p.selected(ctx, `SELECT data FROM procedure_runs WHERE operation_id = ?`, string(id))
	if err == nil && len(all) == 0 {
		err = human.Errorf(human.NotFound, "operation %s is no run of a procedure, or was not started yet", human.OneLine(string(id), 60))
	}
	if err != nil {
		return human.RunOfProcedure{}, err
	}
	return all[0], nil
}

func (p Procedures) selected(ctx context.Context, query string, args ...any) (all []human.RunOfProcedure, err error) {
	err = p.store.rows(ctx, query, args, func(rows *sql.Rows) error {
		var data sql.RawBytes
		if err := rows.Scan(&data); err != nil {
			return err
		}
		var r human.RunOfProcedure
		if err := json.Unmarshal(data, &r); err != nil {
			return p.store.damaged(err)
		}
		all = append(all, r)
		return nil
	})
	return all, p.store.fail(ctx, err)
}

// Dismissed implements procedure.Store. What the gatekeeper proposes has keys of its own.
func (p Procedures) Dismissed(ctx context.Context) ([]string, error) { return Gate(p).Dismissed(ctx) }

// Dismiss implements procedure.Store.
func (p Procedures) Dismiss(ctx context.Context, key string) error { return Gate(p).Dismiss(ctx, key) }

// PutRun implements procedure.Store.
func (p Procedures) PutRun(ctx context.Context, r human.RunOfProcedure) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	over := 0
	if r.State.Over() {
		over = 1
	}
	return p.store.change(ctx, `INSERT INTO procedure_runs (operation_id, name, started_at, over, data) VALUES (?1, ?2, ?3, ?4, ?5)
		ON CONFLICT (operation_id) DO UPDATE SET over = ?4, data = ?5`, string(r.Operation), r.Procedure, r.StartedAt.UTC().Format(sortable), over, string(data))
}
