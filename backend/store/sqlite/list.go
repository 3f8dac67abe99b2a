package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	fast "github.com/go-json-experiment/json"

	"deskbell/backend/human"
	"deskbell/backend/queue"
)

// narrow is how many rows may be sorted to answer a list. A filter that leaves more is dense enough for a
// walk in the list's order to fill a page soon.
const narrow = 4096

// List implements queue.Index. A page's Next is empty on the last page. A first page, or a search for the
// newest, is answered within milliseconds however many operations there are; see the benchmarks.
func (s *Store) List(ctx context.Context, f queue.Filter) (queue.Page, error) {
	none := queue.Page{Operations: []human.Operation{}}
	switch {
	case f.Limit < 0 || f.Limit > queue.MaxPage:
		return none, human.BadField("limit", "is %d; it runs from 1 to %d", f.Limit, queue.MaxPage)
	case f.Limit == 0:
		f.Limit = queue.DefaultPage
	}
	if f.Order > queue.Recent {
		return none, human.BadField("order", "no such order: %d", f.Order)
	}
	l, err := s.newList(f)
	if err != nil || l == nil {
		return none, err
	}
	// One more than asked for says whether there is a next page.
	places, err := l.find(ctx, f.Limit+1)
	if err != nil {
		return none, s.fail(ctx, err)
	}
	next := ""
	if len(places) > f.Limit {
		places = places[:f.Limit]
		next = places[f.Limit-1].cursor(f.Order)
	}
	ops, err := s.fetch(ctx, places)
	if err != nil {
		return none, s.fail(ctx, err)
	}
	return queue.Page{Operations: ops, Next: next}, nil
}

// A place is where an operation stands in every order.
type place struct{ n, priority, updated int64 }

// fetch reads the operations at these places, in their order.
func (s *Store) fetch(ctx context.Context, places []place) ([]human.Operation, error) {
	ops := make([]human.Operation, len(places))
	at := make(map[int64]int, len(places))
	for i, p := range places {
		at[p.n] = i
	}
	return ops, s.rows(ctx, `SELECT o.n, o.data FROM json_each(?) AS c CROSS JOIN operations AS o ON o.n = c.value`, []any{numbers(places)}, func(rows *sql.Rows) error {
		var n int64
		var data sql.RawBytes
		if err := rows.Scan(&n, &data); err != nil {
			return err
		}
		if err := json.Unmarshal(data, &ops[at[n]]); err != nil {
			return s.damaged(err)
		}
		return nil
	})
}

func numbers(places []place) string {
	text := []byte{'['}
	for i, p := range places {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, p.n, 10)
	}
	return string(append(text, ']'))
}

func (s *Store) damaged(err error) error {
	return damagedBy(human.Wrap(human.Internal, err, "the lists in %s are damaged; stop Deskbell and restore a backup", s.file))
}

// A list finds the places of a page. Where the filter leaves few rows it sorts those; else it walks in the
// order asked for and tests each.
type list struct {
	*Store
	filter queue.Filter
	where  []string // what a row of operations (o) must satisfy, the text aside; begins after the cursor
	args   []any
	open   bool      // only open ones
	until  time.Time // when to stop looking; the zero time is never
	cut    bool      // it stopped before all was looked at
	match  string    // FTS5 query of the text, or empty
	from   place     // the cursor's; 0 without
	tags   string    // FTS5 query of agent, kind and ends, or empty
}

// newList returns nil for a list that is known to be empty.
func (s *Store) newList(f queue.Filter) (*list, error) {
	l := &list{Store: s, filter: f}
	if f.Text != "" {
		var err error
		if l.match, err = matchText(f.Text); err != nil || l.match == "" {
			return nil, err
		}
	}
	if f.Cursor != "" {
		p, err := parseCursor(f)
		if err != nil {
			return nil, err
		}
		l.from = p
		l.after(p)
	}
	if f.Plan != "" {
		if f.Kind != "" && f.Kind != human.Plan {
			return nil, nil
		}
		f.Kind = human.Plan
		l.and(planOutcome+" = ?", f.Plan)
	}
	var terms []string
	if f.AgentID != "" {
		l.and("o.agent_id = ?", f.AgentID)
		terms = append(terms, quote(agentTag(f.AgentID)))
	}
	if f.SessionID != "" {
		l.and("json_extract(o.data, '$.session_id') = ?", f.SessionID)
	}
	if f.Kind != "" {
		l.and("o.kind = ?", f.Kind)
		terms = append(terms, quote(kindTag(f.Kind)))
	}
	if len(f.States) > 0 || f.Open {
		var ends []string
		var states []any
		for _, state := range human.States {
			if len(f.States) > 0 && !slices.Contains(f.States, state) || f.Open && state.Terminal() {
				continue
			}
			states = append(states, state)
			if state.Terminal() {
				ends = append(ends, quote(stateTag(state)))
			}
		}
		if len(states) == 0 {
			return nil, nil
		}
		l.open = len(ends) == 0
		if l.open {
			l.and("o.open = 1")
		}
		l.and("o.state IN (?"+strings.Repeat(",?", len(states)-1)+")", states...)
		if len(ends) == len(states) {
			terms = append(terms, "("+strings.Join(ends, " OR ")+")")
		}
	}
	if !f.Since.IsZero() {
		l.and("o.updated >= ?", micro(f.Since))
	}
	l.tags = strings.Join(terms, " AND ")
	return l, nil
}

// planOutcome is human.Operation.PlanOutcome of a row.
const planOutcome = `CASE
	WHEN o.state IN ('cancelled', 'declined') THEN
		iif(json_extract(o.data, '$.overdue') AND json_extract(o.data, '$.ended.by.role') = 'system', 'timeout', 'cancelled')
	WHEN o.state = 'completed' THEN
		CASE json_extract(o.data, '$.result.plan.action') WHEN 'confirm' THEN 'confirmed' 
			WHEN 'modify' THEN iif(json_array_length(o.data, '$.result.plan.tasks') > 0, 'modified', 'sent_back') ELSE 'cancelled' END
	ELSE 'pending' END`

func (l *list) and(condition string, args ...any) {
	l.where = append(l.where, condition)
	l.args = append(l.args, args...)
}

// after makes the list begin after a place.
func (l *list) after(p place) {
	switch l.filter.Order {
	case queue.Newest:
		l.and("o.n < ?", p.n)
	case queue.Urgent:
		l.and("o.priority <= ? AND (o.priority < ? OR o.n > ?)", p.priority, p.priority, p.n)
	case queue.Recent:
		l.and("o.updated <= ? AND (o.updated < ? OR o.n < ?)", p.updated, p.updated, p.n)
	}
}

func (l *list) conditions() string {
	if len(l.where) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(l.where, " AND ")
}

// find returns the first limit places of the list.
func (l *list) find(ctx context.Context, limit int) ([]place, error) {
	if l.filter.Counts() {
		return l.counted(ctx, limit)
	}
	walks := l.match == "" // a filter that is the walk's own index needs no narrowing
	if l.open && (!walks || l.filter.Order != queue.Urgent) {
		places, err := l.few(ctx, `SELECT n, priority, updated FROM operations INDEXED BY operations_urgent WHERE open = 1 LIMIT ?`, l.narrow)
		if err != nil || places != nil {
			return l.sift(ctx, places, limit, err)
		}
	}
	if !l.filter.Since.IsZero() && (!walks || l.filter.Order != queue.Recent) {
		places, err := l.few(ctx, `SELECT n, priority, updated FROM operations INDEXED BY operations_recent WHERE updated >= ? LIMIT ?`, micro(l.filter.Since), l.narrow)
		if err != nil || places != nil {
			return l.sift(ctx, places, limit, err)
		}
	}
	if terms := l.terms(); terms != "" {
		if l.filter.Order == queue.Newest {
			return l.indexed(ctx, terms, true, limit)
		}
		places, err := l.indexed(ctx, terms, false, l.narrow)
		if err != nil {
			return nil, err
		}
		if len(places) < l.narrow {
			return l.sorted(ctx, places, limit)
		}
	}
	if walks {
		return l.walk(ctx, limit)
	}
	return l.walkMatching(ctx, limit)
}

func (l *list) terms() string {
	switch {
	case l.match == "":
		return l.tags
	case l.tags == "":
		return l.match
	}
	return "(" + l.match + ") AND " + l.tags
}

// few returns the rows of a query that ends with LIMIT narrow; nil when they are not few.
func (l *list) few(ctx context.Context, text string, args ...any) ([]place, error) {
	places := make([]place, 0, 64)
	err := l.rows(ctx, text, args, scanPlace(&places))
	if len(places) == l.narrow {
		return nil, err
	}
	return places, err
}

func scanPlace(places *[]place) func(*sql.Rows) error {
	return func(rows *sql.Rows) error {
		var p place
		err := rows.Scan(&p.n, &p.priority, &p.updated)
		*places = append(*places, p)
		return err
	}
}

// sift keeps those of few places that the filter selects, in order.
func (l *list) sift(ctx context.Context, places []place, limit int, err error) ([]place, error) {
	if err == nil {
		places, err = l.sorted(ctx, places, len(places))
	}
	if err == nil && l.match != "" {
		places, err = l.matching(ctx, places, limit)
	}
	if err != nil {
		return nil, err
	}
	return places[:min(limit, len(places))], nil
}

var orderBy = map[queue.Order]string{queue.Newest: "n DESC", queue.Urgent: "priority DESC, n", queue.Recent: "updated DESC, n DESC"}

// sorted keeps those of few places that satisfy the conditions, in order, at most limit.
func (l *list) sorted(ctx context.Context, places []place, limit int) ([]place, error) {
	found := make([]place, 0, min(limit, len(places)))
	err := l.built(ctx, `SELECT o.n, o.priority, o.updated FROM json_each(?) AS c CROSS JOIN operations AS o ON o.n = c.value`+l.conditions()+
		` ORDER BY o.`+strings.ReplaceAll(orderBy[l.filter.Order], ", ", ", o.")+` LIMIT ?`,
		slices.Concat([]any{numbers(places)}, l.args, []any{limit}), scanPlace(&found))
	return found, err
}

// walk goes through all operations in the list's order until it has limit of those that satisfy the conditions.
func (l *list) walk(ctx context.Context, limit int) ([]place, error) {
	const from = `SELECT o.n AS n, o.priority AS priority, o.updated AS updated FROM operations AS o `
	var text string
	args := l.args
	switch {
	case l.filter.Order == queue.Newest:
		text = from + "NOT INDEXED" + l.conditions()
	case l.filter.Order == queue.Recent:
		text = from + "INDEXED BY operations_recent" + l.conditions()
	case l.open:
		text = from + "INDEXED BY operations_urgent" + l.conditions()
	default:
		// Two walks along one index, which SQLite merges.
		and := strings.Replace(l.conditions(), " WHERE ", " AND ", 1)
		text = from + "INDEXED BY operations_urgent WHERE o.open = 1" + and + " UNION ALL " + from + "INDEXED BY operations_urgent WHERE o.open = 0" + and
		args = slices.Concat(args, args)
	}
	found := make([]place, 0, min(limit, queue.MaxPage+1))
	err := l.built(ctx, text+" ORDER BY "+orderBy[l.filter.Order]+" LIMIT ?", slices.Concat(args, []any{limit}), scanPlace(&found))
	return found, err
}

// walkMatching is walk for a text that matches many: it walks without the text, and asks the full-text
// index about a few thousand at a time.
func (l *list) walkMatching(ctx context.Context, limit int) ([]place, error) {
	return l.batches(ctx, limit, func(rest *list) ([]place, bool, error) {
		batch, err := rest.walk(ctx, l.narrow)
		more := len(batch) == l.narrow
		if more {
			*rest = *l.beyond(batch[len(batch)-1])
		}
		return batch, more, err
	})
}

// counted returns the first limit places of what statistics count: by the facts, and then by the rest of the filter.
func (l *list) counted(ctx context.Context, limit int) ([]place, error) {
	v, err := l.newSieve(ctx, l.filter)
	if err != nil || v.none {
		return nil, err
	}
	if found, whole, err := l.near(ctx, &v, limit); whole || err != nil {
		return found, err
	}
	places := []place{} // the newest first
	err = l.eachFact(ctx, v.from, v.to, "ORDER BY chunk DESC", true, func(n int64, f fact) error {
		if v.takes(f) && v.inTime(f.requested()) && (l.filter.Order != queue.Newest || l.from.n == 0 || n < l.from.n) {
			places = append(places, place{n: n})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(places) <= l.narrow {
		return l.sift(ctx, places, limit, nil)
	}
	if !l.filter.When.From.IsZero() {
		l.and("o.updated >= ?", micro(l.filter.When.From))
	}
	return l.batches(ctx, limit, func(rest *list) ([]place, bool, error) {
		if l.filter.Order == queue.Newest {
			n := min(l.narrow, len(places))
			batch, err := l.sorted(ctx, places[:n], n)
			places = places[n:]
			return batch, len(places) > 0, err
		}
		batch, err := rest.walk(ctx, l.narrow)
		if err != nil || len(batch) == 0 {
			return nil, false, err
		}
		more := len(batch) == l.narrow
		if more {
			*rest = *l.beyond(batch[len(batch)-1])
		}
		return slices.DeleteFunc(batch, func(p place) bool {
			_, found := slices.BinarySearchFunc(places, p, func(a, b place) int { return cmp.Compare(b.n, a.n) })
			return !found
		}), more, nil
	})
}

// near is counted where it needs few facts: those of what is open, or of what comes first in the list's order. whole says that
// this was enough for an answer.
func (l *list) near(ctx context.Context, v *sieve, limit int) (found []place, whole bool, err error) {
	if l.open {
		found, err = l.few(ctx, `SELECT n, priority, updated FROM operations INDEXED BY operations_urgent WHERE open = 1 LIMIT ?`, l.narrow)
		if err == nil && found != nil {
			found, err = l.taken(ctx, v, found)
			found, err = l.sift(ctx, found, limit, err)
			return found, true, err
		}
	}
	if err != nil || !l.filter.When.To.IsZero() {
		return nil, false, err
	}
	// Without the conditions: with them it would walk on and on where few satisfy them.
	first := *l
	first.where, first.args, first.open = nil, nil, false
	if l.from.n > 0 {
		first.after(l.from)
	}
	if found, err = first.walk(ctx, l.narrow); err != nil {
		return nil, false, err
	}
	whole = len(found) < l.narrow
	found, err = l.taken(ctx, v, found)
	found, err = l.sift(ctx, found, limit, err)
	return found, whole || len(found) >= limit, err
}

// taken keeps those places whose facts the sieve selects. It reuses the slice.
func (l *list) taken(ctx context.Context, v *sieve, places []place) ([]place, error) {
	chunks := map[int64]bool{}
	for _, p := range places {
		chunks[p.n/factChunk] = true
	}
	var asked []place
	for number := range chunks {
		asked = append(asked, place{n: number})
	}
	is := make(map[int64]bool, len(places))
	err := l.facts(ctx, `SELECT f.chunk, f.facts FROM json_each(?) AS c CROSS JOIN facts AS f ON f.chunk = c.value`, []any{numbers(asked)}, false, func(n int64, f fact) error {
		if v.takes(f) && v.inTime(f.requested()) {
			is[n] = true
		}
		return nil
	})
	return slices.DeleteFunc(places, func(p place) bool { return !is[p.n] }), err
}

// beyond is the list after a place of it.
func (l *list) beyond(p place) *list {
	rest := *l
	rest.where, rest.args = slices.Clone(l.where), slices.Clone(l.args)
	rest.after(p)
	return &rest
}

// batches collects the first limit places that match the text out of what next returns, until it has no more.
func (l *list) batches(ctx context.Context, limit int, next func(rest *list) (batch []place, more bool, err error)) ([]place, error) {
	var found []place
	rest := *l
	for {
		batch, more, err := next(&rest)
		if err == nil && l.match != "" {
			batch, err = l.matching(ctx, batch, limit-len(found))
		}
		if err != nil {
			return nil, err
		}
		if found = append(found, batch...); len(found) >= limit || !more {
			return found[:min(limit, len(found))], nil
		}
	}
}

const (
	searchFirsts  = `SELECT first FROM search_parts ORDER BY part`
	decidedFirsts = `SELECT first FROM decided_parts ORDER BY part`
)

// searchParts returns where each part of a full-text index begins, part 1 first.
func (s *Store) searchParts(ctx context.Context, query string) ([]int64, error) {
	var firsts []int64
	return firsts, s.rows(ctx, query, nil, func(rows *sql.Rows) error {
		var first int64
		err := rows.Scan(&first)
		firsts = append(firsts, first)
		return err
	})
}

// indexed returns up to limit places that match the FTS5 query, newest first; those that satisfy the
// conditions, or, without, only the numbers of all.
func (l *list) indexed(ctx context.Context, terms string, satisfying bool, limit int) ([]place, error) {
	// Before the parts: a text that is indexed meanwhile is in both, and counts here.
	late, found, err := l.late.search(ctx, terms)
	if err != nil {
		return nil, err
	}
	firsts, err := l.searchParts(ctx, searchFirsts)
	if err != nil {
		return nil, err
	}
	columns, join, and, args := "s.rowid, 0, 0", "", "", []any{terms}
	if satisfying {
		if found, err = l.sorted(ctx, found, len(found)); err != nil {
			return nil, err
		}
		columns, join = "s.rowid, o.priority, o.updated", " CROSS JOIN operations AS o ON o.n = s.rowid"
		// The index must know where to begin, too: it has no use for a condition on o.
		and = strings.Replace(strings.ReplaceAll(l.conditions(), "o.n ", "s.rowid "), " WHERE ", " AND ", 1)
		args = append(args, l.args...)
	}
	if len(late) > 0 {
		and += " AND s.rowid NOT IN (SELECT value FROM json_each(?))"
		args = append(args, numbers(late))
	}
	none := len(found)
	for part := len(firsts); part > 0 && len(found)-none < limit; part-- {
		if l.cut = !l.until.IsZero() && time.Now().After(l.until); l.cut {
			break
		}
		err := l.built(ctx, fmt.Sprintf(`SELECT %s FROM search_%d AS s%s WHERE search_%[2]d MATCH ?%[4]s ORDER BY s.rowid DESC LIMIT ?`, columns, part, join, and),
			slices.Concat(args, []any{limit - len(found) + none}), scanPlace(&found))
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(found, func(a, b place) int { return cmp.Compare(b.n, a.n) })
	return found[:min(limit, len(found))], nil
}

// matching keeps those places, which stand in the list's order, whose operations match the text, the first
// limit of them or more. It reuses the slice.
func (l *list) matching(ctx context.Context, places []place, limit int) ([]place, error) {
	late, found, err := l.late.search(ctx, l.match) // before the parts, as in indexed
	if err != nil {
		return nil, err
	}
	firsts, err := l.searchParts(ctx, searchFirsts)
	if err != nil {
		return nil, err
	}
	type span struct{ low, high int64 }
	spans := map[int]span{}
	at := make(map[int64]bool, len(places))
	for _, p := range places {
		at[p.n] = true
	}
	for _, p := range late {
		delete(at, p.n)
	}
	for n := range at {
		part := sort.Search(len(firsts), func(i int) bool { return firsts[i] > n })
		s, ok := spans[part]
		if !ok {
			s = span{n, n}
		}
		spans[part] = span{min(s.low, n), max(s.high, n)}
	}
	hits := map[int64]bool{}
	for part := len(firsts); part > 0; part-- {
		span, ok := spans[part]
		if !ok {
			continue
		}
		if l.filter.Order == queue.Newest && len(hits) >= limit {
			break
		}
		err := l.built(ctx, fmt.Sprintf(`SELECT rowid FROM search_%d WHERE search_%[1]d MATCH ? AND rowid BETWEEN ? AND ?`, part), []any{l.match, span.low, span.high}, func(rows *sql.Rows) error {
			var n int64
			err := rows.Scan(&n)
			if at[n] {
				hits[n] = true
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	for _, p := range found {
		hits[p.n] = true
	}
	return slices.DeleteFunc(places, func(p place) bool { return !hits[p.n] }), nil
}

// cursor is the opaque form of the place in an order.
func (p place) cursor(o queue.Order) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d %d %d %d", o, p.n, p.priority, p.updated))
}

func parseCursor(f queue.Filter) (p place, err error) {
	var order queue.Order
	text, err := base64.RawURLEncoding.DecodeString(f.Cursor)
	if err == nil {
		_, err = fmt.Sscanf(string(text), "%d %d %d %d", &order, &p.n, &p.priority, &p.updated)
	}
	if err != nil || order != f.Order {
		return p, human.BadField("cursor", "is not a cursor of this list; start again without it")
	}
	return p, nil
}

// Open implements queue.Index.
func (s *Store) Open(ctx context.Context, each func(queue.Standing) error) error {
	// In the table's own order, or the same pages are read for each priority; and by several at once, each some pages in turn, because a
	// start waits for it.
	const open = `SELECT operation_id, data FROM operations
		WHERE n IN (SELECT n FROM operations INDEXED BY operations_urgent WHERE open = 1 AND (n >> 6) % ?1 = ?2)`
	errs := make([]error, min(runtime.GOMAXPROCS(0), readers/2))
	var loading sync.WaitGroup
	var one sync.Mutex
	var stopped error
	for part := range errs {
		loading.Go(func() {
			errs[part] = s.rows(ctx, open, []any{len(errs), part}, func(rows *sql.Rows) error {
				var id, data sql.RawBytes
				if err := rows.Scan(&id, &data); err != nil {
					return err
				}
				var standing queue.Standing
				if err := fast.Unmarshal(data, &standing); err != nil {
					return damaged(Report{File: s.file, Found: []human.Sentence{unreadOperation(id, cmp.Or(unreadable(data), notJSON))}}, err)
				}
				one.Lock()
				defer one.Unlock()
				if stopped == nil {
					stopped = each(standing)
				}
				return stopped
			})
		})
	}
	loading.Wait()
	return s.fail(ctx, cmp.Or(errs...))
}

// ByKey implements queue.Index.
func (s *Store) ByKey(ctx context.Context, agentID, key string) (id human.OperationID, err error) {
	// The index knows only keys that are not empty; the query must say so to be allowed to use it.
	stmt, err := s.query(ctx, `SELECT operation_id FROM operations WHERE agent_id = ? AND idempotency_key = ? AND idempotency_key <> ''`)
	if err == nil {
		err = stmt.QueryRowContext(context.WithoutCancel(ctx), agentID, key).Scan(&id)
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
