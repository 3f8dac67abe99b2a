package sqlite

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"deskbell/backend/human"
	"deskbell/backend/queue"
)

// narrow is how many rows may be sorted to answer a list. A filter that leaves fewer is answered from its
// own index; one that leaves more is dense enough for a walk along the order's index to fill a page soon.
const narrow = 4096

// List implements queue.Index. A page's Next is empty on the last page.
func (s *Store) List(ctx context.Context, f queue.Filter) (queue.Page, error) {
	page := queue.Page{Operations: []human.Operation{}}
	switch {
	case f.Limit < 0 || f.Limit > queue.MaxPage:
		return page, human.BadField("limit", "is %d; it runs from 1 to %d", f.Limit, queue.MaxPage)
	case f.Limit == 0:
		f.Limit = queue.DefaultPage
	}
	if f.Order > queue.Recent {
		return page, human.BadField("order", "no such order: %d", f.Order)
	}
	sel, err := s.selection(ctx, f)
	if err != nil {
		return page, s.fail(ctx, err)
	}
	if sel == nil {
		return page, nil
	}
	var last position
	rows, err := s.reads.QueryContext(ctx, sel.sql(f), sel.args...)
	if err != nil {
		return page, s.fail(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		if len(page.Operations) == f.Limit {
			page.Next = last.String()
			break
		}
		var data sql.RawBytes
		var priority, updated int64
		last = position{Order: f.Order}
		if err := rows.Scan(&last.N, &priority, &updated, &data); err != nil {
			return page, s.fail(ctx, err)
		}
		switch f.Order {
		case queue.Urgent:
			last.Key = priority
		case queue.Recent:
			last.Key = updated
		case queue.Newest:
		}
		var op human.Operation
		if err := json.Unmarshal(data, &op); err != nil {
			return page, s.damaged(err)
		}
		page.Operations = append(page.Operations, op)
	}
	return page, s.fail(ctx, rows.Err())
}

func (s *Store) damaged(err error) error {
	return human.Wrap(human.Internal, err, "the lists in %s are damaged; stop Deskbell and restore a backup", s.file)
}

// A selection is the part of a list's query that finds the rows' numbers.
type selection struct {
	from  string
	where []string
	args  []any
}

func (q *selection) and(condition string, args ...any) {
	q.where = append(q.where, condition)
	q.args = append(q.args, args...)
}

// sql is the query. The inner part touches as little of each row as it can; only the page's own rows are
// read whole. One row more than asked for says whether there is a next page.
func (q *selection) sql(f queue.Filter) string {
	order := map[queue.Order]string{queue.Newest: "o.n DESC", queue.Urgent: "o.priority DESC, o.n", queue.Recent: "o.updated DESC, o.n DESC"}[f.Order]
	inner := order
	if f.Order == queue.Newest && strings.HasPrefix(q.from, "search") {
		inner = "s.rowid DESC" // this is the order in which the index itself can deliver
	}
	where := ""
	if len(q.where) > 0 {
		where = " WHERE " + strings.Join(q.where, " AND ")
	}
	return fmt.Sprintf(`SELECT o.n, o.priority, o.updated, o.data FROM (SELECT o.n FROM %s%s ORDER BY %s LIMIT %d) AS p CROSS JOIN operations AS o ON o.n = p.n ORDER BY %s`,
		q.from, where, inner, f.Limit+1, order)
}

// A condition is one filter, with the index that finds its rows; index is empty where none does.
type condition struct {
	text  string
	args  []any
	index string
}

// selection plans the query of a list; nil when it is known to be empty.
func (s *Store) selection(ctx context.Context, f queue.Filter) (*selection, error) {
	states := statesOf(f)
	if states != nil && len(states) == 0 {
		return nil, nil
	}
	from, err := parsePosition(f)
	if err != nil {
		return nil, err
	}
	var q selection
	if f.Text != "" {
		q.from = "search AS s CROSS JOIN operations AS o ON o.n = s.rowid"
		match, err := matchFilter(f, states)
		if err != nil || match == "" {
			return nil, err
		}
		q.and("search MATCH ?", match)
		for _, c := range conditions(queue.Filter{Since: f.Since}, openOnly(states)) {
			q.and(c.text, c.args...)
		}
	} else {
		all := conditions(f, states)
		index, err := s.index(ctx, f, all)
		if err != nil {
			return nil, err
		}
		q.from = "operations AS o " + index
		if f.Order == queue.Urgent && states == nil && index == "" {
			// Two walks along one index, open and ended, that SQLite merges.
			q.from = `(SELECT * FROM (SELECT n, priority, updated FROM operations WHERE open = 1 ORDER BY priority DESC, n)
				UNION ALL SELECT * FROM (SELECT n, priority, updated FROM operations WHERE open = 0 ORDER BY priority DESC, n)) AS o`
		}
		for _, c := range all {
			q.and(c.text, c.args...)
		}
	}
	if from != nil {
		from.after(&q)
	}
	return &q, nil
}

// statesOf joins the two filters of states: nil selects all of them.
func statesOf(f queue.Filter) []human.State {
	if len(f.States) == 0 && !f.Open {
		return nil
	}
	states := []human.State{}
	for _, state := range human.States {
		if (len(f.States) == 0 || slices.Contains(f.States, state)) && (!f.Open || !state.Terminal()) {
			states = append(states, state)
		}
	}
	return states
}

// openOnly returns the states that search's words cannot tell apart: nil when there are none among these.
func openOnly(states []human.State) []human.State {
	open := 0
	for _, state := range states {
		if !state.Terminal() {
			open++
		}
	}
	if open == 0 || open == 4 {
		return nil
	}
	return states
}

func conditions(f queue.Filter, states []human.State) []condition {
	var all []condition
	if states != nil {
		c := condition{text: "o.state IN (" + strings.TrimSuffix(strings.Repeat("?,", len(states)), ",") + ")"}
		open, ended := false, false
		for _, state := range states {
			c.args = append(c.args, state)
			open, ended = open || !state.Terminal(), ended || state.Terminal()
		}
		switch {
		case open && !ended:
			c.text, c.index = "o.open = 1 AND "+c.text, "operations_urgent"
		case ended && !open:
			c.text, c.index = "o.open = 0 AND "+c.text, "operations_ended"
		}
		all = append(all, c)
	}
	if f.AgentID != "" {
		all = append(all, condition{"o.agent_id = ?", []any{f.AgentID}, "operations_agent"})
	}
	if f.Kind != "" {
		all = append(all, condition{"o.kind = ?", []any{f.Kind}, "operations_kind"})
	}
	if !f.Since.IsZero() {
		all = append(all, condition{"o.updated >= ?", []any{micro(f.Since)}, "operations_recent"})
	}
	return all
}

// index chooses the index for a list without text.
func (s *Store) index(ctx context.Context, f queue.Filter, all []condition) (string, error) {
	if len(all) == 0 && f.Order == queue.Urgent {
		return "", nil
	}
	if i := straight(f, all); i != "" {
		return i, nil
	}
	best, least := "", narrow
	for _, c := range all {
		if c.index == "" {
			continue
		}
		var n int
		stmt, err := s.query(ctx, fmt.Sprintf(`SELECT count(*) FROM (SELECT 1 FROM operations AS o INDEXED BY %s WHERE %s LIMIT %d)`, c.index, c.text, narrow))
		if err != nil {
			return "", err
		}
		if err := stmt.QueryRowContext(ctx, c.args...).Scan(&n); err != nil {
			return "", err
		}
		if n < least {
			best, least = c.index, n
		}
	}
	if best != "" {
		return "INDEXED BY " + best, nil
	}
	switch f.Order {
	case queue.Urgent:
		if slices.ContainsFunc(all, func(c condition) bool { return c.index == "operations_urgent" }) {
			return "INDEXED BY operations_urgent", nil
		}
		return "", nil
	case queue.Recent:
		return "INDEXED BY operations_recent", nil
	case queue.Newest:
	}
	return "NOT INDEXED", nil
}

// straight returns the index that delivers the filter's rows and no others in the order asked for.
func straight(f queue.Filter, all []condition) string {
	if len(all) == 0 {
		return map[queue.Order]string{queue.Newest: "NOT INDEXED", queue.Recent: "INDEXED BY operations_recent"}[f.Order]
	}
	if len(all) > 1 || all[0].index == "" {
		return ""
	}
	c := all[0]
	switch {
	case f.Order == queue.Newest && (c.index == "operations_agent" || c.index == "operations_kind"),
		f.Order == queue.Newest && c.index == "operations_ended" && len(c.args) == 1,
		f.Order == queue.Urgent && c.index == "operations_urgent",
		f.Order == queue.Recent && c.index == "operations_recent":
		return "INDEXED BY " + c.index
	}
	return ""
}

// matchFilter is the FTS5 query for the text and for what other filters the index knows as words; empty
// when the text has nothing that can be searched for.
func matchFilter(f queue.Filter, states []human.State) (string, error) {
	match, err := matchText(f.Text)
	if err != nil || match == "" {
		return "", err
	}
	terms := []string{"(" + match + ")"}
	if f.AgentID != "" {
		terms = append(terms, quote(agentTag(f.AgentID)))
	}
	if f.Kind != "" {
		terms = append(terms, quote(kindTag(f.Kind)))
	}
	var tags []string
	for _, state := range states {
		if tag := quote(stateTag(state)); !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	if tags != nil {
		terms = append(terms, "("+strings.Join(tags, " OR ")+")")
	}
	return strings.Join(terms, " AND "), nil
}

// A position is where a page ends: the last row's number and, where the order has one, its key.
type position struct {
	Order queue.Order `json:"o"`
	Key   int64       `json:"k,omitempty"`
	N     int64       `json:"n"`
}

func (p position) String() string {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // three numbers
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

func parsePosition(f queue.Filter) (*position, error) {
	if f.Cursor == "" {
		return nil, nil
	}
	var p position
	text, err := base64.RawURLEncoding.DecodeString(f.Cursor)
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil || p.Order != f.Order {
		return nil, human.BadField("cursor", "was not made by this list; start again without it")
	}
	return &p, nil
}

// after adds the condition that a row comes after the position.
func (p position) after(q *selection) {
	switch p.Order {
	case queue.Newest:
		if strings.HasPrefix(q.from, "search") {
			q.and("s.rowid < ?", p.N)
		} else {
			q.and("o.n < ?", p.N)
		}
	case queue.Urgent:
		q.and("o.priority <= ? AND (o.priority < ? OR o.n > ?)", p.Key, p.Key, p.N)
	case queue.Recent:
		q.and("o.updated <= ? AND (o.updated < ? OR o.n < ?)", p.Key, p.Key, p.N)
	}
}

// Open implements queue.Index. The most urgent comes first.
func (s *Store) Open(ctx context.Context) ([]human.Operation, error) {
	open := []human.Operation{}
	err := s.rows(ctx, `SELECT o.data, j.details, j.context FROM operations AS o INDEXED BY operations_urgent CROSS JOIN journal AS j ON j.seq = o.n
		WHERE o.open = 1 ORDER BY o.priority DESC, o.n`, nil, func(rows *sql.Rows) error {
		var data sql.RawBytes
		var details, context []byte
		if err := rows.Scan(&data, &details, &context); err != nil {
			return err
		}
		var op human.Operation
		if err := json.Unmarshal(data, &op); err != nil {
			return s.damaged(err)
		}
		op.Details, op.Context = details, context
		open = append(open, op)
		return nil
	})
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	return open, nil
}

// ByKey implements queue.Index.
func (s *Store) ByKey(ctx context.Context, agentID, key string) (id human.OperationID, err error) {
	// The index knows only keys that are not empty; the query must say so to be allowed to use it.
	stmt, err := s.query(ctx, `SELECT operation_id FROM operations WHERE agent_id = ? AND idempotency_key = ? AND idempotency_key <> ''`)
	if err == nil {
		err = stmt.QueryRowContext(ctx, agentID, key).Scan(&id)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return "", human.Errorf(human.NotFound, "agent %s has no operation with the idempotency key %q", agentID, key)
	}
	return id, s.fail(ctx, err)
}

// Undelivered implements queue.Index.
func (s *Store) Undelivered(ctx context.Context, agentID string) ([]human.OperationID, error) {
	ids := []human.OperationID{}
	err := s.rows(ctx, `SELECT operation_id FROM operations INDEXED BY operations_undelivered WHERE agent_id = ? AND open = 0 AND delivered = 0 ORDER BY n DESC`,
		[]any{agentID}, func(rows *sql.Rows) error {
			var id human.OperationID
			err := rows.Scan(&id)
			ids = append(ids, id)
			return err
		})
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	return ids, nil
}
