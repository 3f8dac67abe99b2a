package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	"deskbell/backend/queue"
)

// Asked implements queue.Index.
func (s *Store) Asked(ctx context.Context, to time.Time, each func(queue.Asked)) error {
	names := map[uint32]string{0: ""}
	err := s.rows(ctx, `SELECT id, name FROM fact_names`, nil, func(rows *sql.Rows) error {
		var id uint32
		var name string
		err := rows.Scan(&id, &name)
		names[id] = name
		return err
	})
	if err == nil {
		end := to.UnixMilli()
		err = s.eachFact(ctx, -farAway, end, "ORDER BY chunk", false, func(_ int64, f fact) error {
			if f.requested() >= end {
				return nil
			}
			kind, known := names[f.kind()]
			agent, is := names[f.agent()]
			if !known || !is {
				return s.damaged(errors.New("a name of facts is missing"))
			}
			a := queue.Asked{Kind: human.Kind(kind), Agent: agent, At: time.UnixMilli(f.requested()), Popped: f.has(factInterrupted) > 0, Seen: -1, Answered: -1}
			if f.has(factSeen) > 0 {
				a.Seen = f.after(24)
			}
			if f.has(factAnswered) > 0 {
				a.Answered = f.after(28)
			}
			each(a)
			return nil
		})
	}
	return s.fail(ctx, err)
}

// Asked implements service.Store.
func (g Gate) Asked(ctx context.Context, each func(service.Decision)) error {
	return g.each(ctx, each, `SELECT data FROM decisions WHERE decision = 'ask' ORDER BY n`)
}

// Ruled implements service.Store.
func (g Gate) Ruled(ctx context.Context, from, to time.Time, each func(service.Decision)) error {
	// Most of what was let through names no rule of one's own: that is not worth reading.
	return g.each(ctx, each, `SELECT data FROM decisions WHERE decision = 'allow' AND at >= ? AND at < ? AND instr(data, '"`+ruleID+`') > 0`, from.UnixMicro(), to.UnixMicro())
}

func (g Gate) each(ctx context.Context, each func(service.Decision), query string, args ...any) error {
	err := g.store.built(ctx, query, args, func(rows *sql.Rows) error {
		var data sql.RawBytes
		var d service.Decision
		if err := rows.Scan(&data); err != nil {
			return err
		}
		if err := json.Unmarshal(data, &d); err != nil {
			return damagedBy(human.Wrap(human.Internal, err, "the gatekeeper's log is damaged in %s; stop Deskbell and restore a backup", g.store.file))
		}
		each(d)
		return nil
	})
	return g.store.fail(ctx, err)
}

// Ended implements procedure.Store.
func (p Procedures) Ended(ctx context.Context, from, to time.Time) ([]human.RunOfProcedure, error) {
	return p.selected(ctx, `SELECT data FROM procedure_runs WHERE over = 1 AND started_at >= ? AND started_at < ? ORDER BY started_at`, from.UTC().Format(sortable), to.UTC().Format(sortable))
}
