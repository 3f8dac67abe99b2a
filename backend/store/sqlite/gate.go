package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
)

// Gate keeps the gatekeeper's log and the operators' rules in a Store's file. It implements service.Store.
type Gate struct{ store *Store }

var _ service.Store = Gate{}

// Gate is this file's.
func (s *Store) Gate() Gate { return Gate{s} }

// ruleID is how a verdict names a rule of the user's own.
const ruleID = "rule."

// PutDecision implements service.Store.
func (g Gate) PutDecision(ctx context.Context, d service.Decision, made []string) error {
	data, err := json.Marshal(d)
	if err != nil {
		return human.Wrap(human.Invalid, err, "decision %s cannot be written as JSON", d.ID)
	}
	return g.store.do(ctx, func(ctx context.Context, w *writer) error {
		if err := w.insertDecision(ctx, d, string(data)); err != nil {
			return err
		}
		for _, id := range d.Rules {
			id, own := strings.CutPrefix(id, ruleID)
			if !own {
				continue
			}
			_, err := w.conn.ExecContext(ctx, `INSERT INTO gate_rule_uses (rule_id, uses, last) VALUES (?,1,?)
				ON CONFLICT (rule_id) DO UPDATE SET uses = uses + 1, last = excluded.last`, id, d.At.UnixMicro())
			if err != nil {
				return err
			}
		}
		return putMade(ctx, w, d.Session, made)
	})
}

// insertDecision stores a new decision and makes it findable.
func (w *writer) insertDecision(ctx context.Context, d service.Decision, data string) error {
	if err := w.decided.load(ctx, w.conn); err != nil {
		return err
	}
	done, err := w.conn.ExecContext(ctx, `INSERT INTO decisions (decision_id, at, decision, agent_id, project, operation_id, outcome, answered, call, data)
		VALUES (?,?,?,?,?,?,?,?,?,?)`, d.ID, d.At.UnixMicro(), d.Decision, d.Agent, d.Project, d.OperationID, d.Outcome, answered(d), strings.ToLower(d.Call), data)
	if err != nil {
		return err
	}
	n, err := done.LastInsertId()
	if err != nil {
		return err
	}
	return w.decided.add(ctx, w.conn, uint64(n), decisionBody(d.Call, d.Agent, d.Project))
}

func answered(d service.Decision) int64 {
	if d.AnsweredAt == nil {
		return 0
	}
	return d.AnsweredAt.UnixMicro()
}

func putMade(ctx context.Context, w *writer, session string, made []string) error {
	for _, path := range made {
		if _, err := w.conn.ExecContext(ctx, `INSERT INTO made (session, path) VALUES (?,?) ON CONFLICT DO NOTHING`, session, path); err != nil {
			return err
		}
	}
	return nil
}

// EndDecision implements service.Store.
func (g Gate) EndDecision(ctx context.Context, d service.Decision, made []string) error {
	data, err := json.Marshal(d)
	if err != nil {
		return human.Wrap(human.Invalid, err, "decision %s cannot be written as JSON", d.ID)
	}
	return g.store.do(ctx, func(ctx context.Context, w *writer) error {
		_, err := w.conn.ExecContext(ctx, `UPDATE decisions SET outcome = ?, answered = ?, data = ? WHERE decision_id = ?`, d.Outcome, answered(d), string(data), d.ID)
		if err != nil {
			return err
		}
		return putMade(ctx, w, d.Session, made)
	})
}

// DecisionOf implements service.Store.
func (g Gate) DecisionOf(ctx context.Context, id human.OperationID) (service.Decision, error) {
	list, err := g.list(ctx, `SELECT n, data FROM decisions WHERE operation_id = ? AND operation_id <> ''`, id)
	if err == nil && len(list.Decisions) == 0 {
		return service.Decision{}, human.Errorf(human.NotFound, "there is no decision about operation %s", id)
	}
	if err != nil {
		return service.Decision{}, err
	}
	return list.Decisions[0], nil
}

// Decisions implements service.Store.
func (g Gate) Decisions(ctx context.Context, f service.LogFilter) (service.LogPage, error) {
	where, args := []string{"1"}, []any{}
	add := func(condition string, value any) {
		where, args = append(where, condition), append(args, value)
	}
	if f.Decision != "" {
		add("decision = ?", f.Decision)
	}
	if f.Project != "" {
		add("project = ?", f.Project)
	}
	if f.Agent != "" {
		add("agent_id = ?", f.Agent)
	}
	if f.Text != "" {
		add("instr(call, ?) > 0", strings.ToLower(f.Text))
	}
	if !f.Since.IsZero() {
		add("at >= ?", f.Since.UnixMicro())
	}
	if f.Cursor != "" {
		n, err := strconv.ParseInt(f.Cursor, 36, 64)
		if err != nil {
			return service.LogPage{}, human.BadField("cursor", "is not a cursor of the log; start again without it")
		}
		add("n < ?", n)
	}
	if f.Limit <= 0 {
		f.Limit = 50
	}
	args = append(args, f.Limit+1)
	return g.page(ctx, f.Limit, `SELECT n, data FROM decisions WHERE `+strings.Join(where, " AND ")+` ORDER BY n DESC LIMIT ?`, args...)
}

// Waiting implements service.Store.
func (g Gate) Waiting(ctx context.Context) ([]service.Decision, error) {
	p, err := g.list(ctx, `SELECT n, data FROM decisions WHERE outcome = 'waiting' ORDER BY n`)
	return p.Decisions, err
}

// Answered implements service.Store.
func (g Gate) Answered(ctx context.Context, since time.Time) ([]service.Decision, error) {
	p, err := g.list(ctx, `SELECT n, data FROM decisions WHERE answered <> 0 AND answered >= ? ORDER BY answered, n`, since.UnixMicro())
	return p.Decisions, err
}

func (g Gate) list(ctx context.Context, query string, args ...any) (service.LogPage, error) {
	return g.page(ctx, 1<<30, query, args...)
}

// page reads decisions, and what the next page begins after where there are more than limit.
func (g Gate) page(ctx context.Context, limit int, query string, args ...any) (service.LogPage, error) {
	page := service.LogPage{Decisions: []service.Decision{}}
	var last int64
	err := g.store.built(ctx, query, args, func(rows *sql.Rows) error {
		var n int64
		var data sql.RawBytes
		if err := rows.Scan(&n, &data); err != nil {
			return err
		}
		if len(page.Decisions) == limit {
			page.Next = strconv.FormatInt(last, 36)
			return nil
		}
		last = n
		var d service.Decision
		if err := json.Unmarshal(data, &d); err != nil {
			return damagedBy(human.Wrap(human.Internal, err, "the gatekeeper's log is damaged in %s; stop Deskbell and restore a backup", g.store.file))
		}
		page.Decisions = append(page.Decisions, d)
		return nil
	})
	return page, g.store.fail(ctx, err)
}

// Projects implements service.Store.
func (g Gate) Projects(ctx context.Context, most int) ([]string, error) {
	// Those of the last few thousand decisions: the whole log would be read for the rest.
	return g.texts(ctx, `SELECT project FROM (SELECT project, n FROM decisions ORDER BY n DESC LIMIT 5000) WHERE project <> ''
		GROUP BY project ORDER BY max(n) DESC LIMIT ?`, most)
}

// Made implements service.Store.
func (g Gate) Made(ctx context.Context, session, path string) (bool, error) {
	found, err := g.texts(ctx, `SELECT path FROM made WHERE session = ? AND path = ?`, session, path)
	return len(found) > 0, err
}

// Dismissed implements service.Store.
func (g Gate) Dismissed(ctx context.Context) ([]string, error) {
	return g.texts(ctx, `SELECT key FROM dismissed ORDER BY key`)
}

func (g Gate) texts(ctx context.Context, query string, args ...any) ([]string, error) {
	all := []string{}
	err := g.store.rows(ctx, query, args, func(rows *sql.Rows) error {
		var text string
		err := rows.Scan(&text)
		all = append(all, text)
		return err
	})
	return all, g.store.fail(ctx, err)
}

// Dismiss implements service.Store.
func (g Gate) Dismiss(ctx context.Context, key string) error {
	return g.store.do(ctx, func(ctx context.Context, w *writer) error {
		_, err := w.conn.ExecContext(ctx, `INSERT INTO dismissed (key) VALUES (?) ON CONFLICT DO NOTHING`, key)
		return err
	})
}

// Count implements service.Store.
func (g Gate) Count(ctx context.Context, since time.Time) (c service.Counts, err error) {
	err = g.store.rows(ctx, `SELECT decision, count(*) FROM decisions WHERE at >= ? GROUP BY decision`, []any{since.UnixMicro()}, func(rows *sql.Rows) error {
		var decision human.Ruling
		var n int
		err := rows.Scan(&decision, &n)
		switch decision {
		case human.Allow:
			c.Allowed = n
		case human.Ask:
			c.Asked = n
		case human.Deny:
			c.Refused = n
		}
		return err
	})
	return c, g.store.fail(ctx, err)
}

// Rules implements service.Store.
func (g Gate) Rules(ctx context.Context) ([]human.GateRule, error) {
	all := []human.GateRule{}
	err := g.store.rows(ctx, `SELECT data FROM gate_rules ORDER BY rule_id`, nil, func(rows *sql.Rows) error {
		var data sql.RawBytes
		var r human.GateRule
		if err := rows.Scan(&data); err != nil {
			return err
		}
		err := json.Unmarshal(data, &r)
		all = append(all, r)
		return err
	})
	return all, g.store.fail(ctx, err)
}

// Uses implements service.Store.
func (g Gate) Uses(ctx context.Context) (map[string]service.Use, error) {
	all := map[string]service.Use{}
	err := g.store.rows(ctx, `SELECT rule_id, uses, last FROM gate_rule_uses`, nil, func(rows *sql.Rows) error {
		var id string
		var use service.Use
		var last int64
		err := rows.Scan(&id, &use.Times, &last)
		use.Last = time.UnixMicro(last).UTC()
		all[id] = use
		return err
	})
	return all, g.store.fail(ctx, err)
}

// Tools implements service.Store.
func (g Gate) Tools(ctx context.Context) ([]service.ToolKnown, error) {
	var all []service.ToolKnown
	err := g.store.rows(ctx, `SELECT agent, tool, at, text FROM gate_tools ORDER BY at`, nil, func(rows *sql.Rows) error {
		var t service.ToolKnown
		var at int64
		err := rows.Scan(&t.Agent, &t.Tool, &at, &t.Definition)
		t.At = time.UnixMicro(at).UTC()
		all = append(all, t)
		return err
	})
	return all, g.store.fail(ctx, err)
}

// PutTool implements service.Store.
func (g Gate) PutTool(ctx context.Context, t service.ToolKnown) error {
	return g.store.do(ctx, func(ctx context.Context, w *writer) error {
		_, err := w.conn.ExecContext(ctx, `INSERT INTO gate_tools (agent, tool, at, text) VALUES (?,?,?,?)
			ON CONFLICT (agent, tool, text) DO UPDATE SET at = excluded.at`, t.Agent, t.Tool, t.At.UnixMicro(), t.Definition)
		if err == nil {
			err = w.mirrors(ctx)
		}
		return err
	})
}

// PutRule implements service.Store.
func (g Gate) PutRule(ctx context.Context, r human.GateRule) error {
	data, err := json.Marshal(r)
	if err != nil {
		return human.Wrap(human.Invalid, err, "this rule cannot be written as JSON")
	}
	return g.store.do(ctx, func(ctx context.Context, w *writer) error {
		_, err := w.conn.ExecContext(ctx, `INSERT INTO gate_rules (rule_id, data) VALUES (?,?)`, r.ID, string(data))
		if err == nil {
			err = w.mirrors(ctx)
		}
		return err
	})
}

// DropRule implements service.Store.
func (g Gate) DropRule(ctx context.Context, id string) error {
	return g.store.do(ctx, func(ctx context.Context, w *writer) error {
		done, err := w.conn.ExecContext(ctx, `DELETE FROM gate_rules WHERE rule_id = ?`, id)
		if err != nil {
			return err
		}
		n, err := done.RowsAffected()
		if err == nil && n == 0 {
			return human.Errorf(human.NotFound, "there is no operator's rule %s; change a rule of a file in that file", human.OneLine(id, 40))
		}
		if err == nil {
			err = w.mirrors(ctx)
		}
		return err
	})
}
