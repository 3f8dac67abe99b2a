package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	"deskbell/backend/queue"
)

var _ human.Searcher = (*Store)(nil)

// searchTime is how long one search looks, all groups together.
const searchTime = 200 * time.Millisecond

// mostOfATitle is how much of a hit's title and excerpt is given, in characters.
const mostOfATitle = 240

// Search implements human.Searcher. Of each group the newest matches are candidates, MaxHits at most, which are then ranked: what
// a common word or a short beginning matches besides costs nothing.
func (s *Store) Search(ctx context.Context, q human.SearchQuery) ([]human.HitList, error) {
	if q.Limit < 1 || q.Limit > human.MaxHits {
		return nil, human.BadField("limit", "is %d; it runs from 1 to %d", q.Limit, human.MaxHits)
	}
	match, err := matchText(q.Text)
	if err != nil || match == "" {
		return nil, err
	}
	f := &search{Store: s, text: q.Text, match: match, words: searched(q.Text), until: time.Now().Add(s.seeks)}
	var all []human.HitList
	for _, group := range human.HitGroups {
		if q.Group != "" && q.Group != group {
			continue
		}
		list := human.HitList{Group: group}
		var hits []ranked
		switch group {
		case human.FoundOperations:
			hits, err = f.operations(ctx)
		case human.FoundRecordings:
			hits, err = f.recordings(ctx)
		case human.FoundFindings:
			hits, err = f.findings(ctx)
		case human.FoundDecisions:
			hits, err = f.decisions(ctx)
		}
		if err != nil {
			return nil, s.fail(ctx, err)
		}
		if list.Count = len(hits); list.Count == 0 {
			continue
		}
		list.More = list.Count == human.MaxHits || f.cut
		slices.SortStableFunc(hits, func(a, b ranked) int { return cmp.Or(cmp.Compare(b.rank, a.rank), b.At.Compare(a.At)) })
		for _, hit := range hits[:min(q.Limit, len(hits))] {
			list.Hits = append(list.Hits, hit.Hit)
		}
		all = append(all, list)
	}
	return all, nil
}

// A search is one text that is looked for.
type search struct {
	*Store
	text, match string
	words       []string // in lower case, as the person typed them
	until       time.Time
	cut         bool
}

// A ranked is a hit and how well it fits; more is better.
type ranked struct {
	human.Hit
	rank int
}

// searched are the words of a text that count.
func searched(text string) []string {
	return slices.DeleteFunc(strings.Fields(strings.ToLower(text)), func(w string) bool {
		return !strings.ContainsFunc(w, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
	})
}

// fits says how well a text fits what is searched for: for each word that it has 1, 2 at the beginning of one of its own, and 4 more
// where it has all of them as they were typed. whole says that it has every word.
func (f *search) fits(text string) (rank int, whole bool) {
	text = strings.ToLower(text)
	whole = true
	for _, word := range f.words {
		switch at := strings.Index(text, word); {
		case at < 0:
			whole = false
		case begins(text, at):
			rank += 2
		default:
			rank++
		}
	}
	if strings.Contains(text, strings.Join(f.words, " ")) {
		rank += 4
	}
	return rank, whole
}

// begins says whether a word of text begins at a place.
func begins(text string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	return at == 0 || !unicode.IsLetter(before) && !unicode.IsNumber(before)
}

// excerpt is where in the texts the words stand; "" where none has them.
func (f *search) excerpt(texts ...string) string {
	best, most := "", 0
	for _, t := range texts {
		if rank, _ := f.fits(t); rank > most {
			best, most = t, rank
		}
	}
	if best == "" {
		return ""
	}
	best = strings.Join(strings.Fields(best), " ")
	lower := strings.ToLower(best)
	first := len(best)
	for _, word := range f.words {
		if at := strings.Index(lower, word); at >= 0 {
			first = min(first, at)
		}
	}
	if len(lower) != len(best) { // letters whose other case is longer: the place is another
		first = 0
	}
	const before = 60
	start := max(0, first-before)
	for start > 0 && start < len(best) && !utf8.RuneStart(best[start]) {
		start--
	}
	if start > 0 {
		return "…" + human.Shorten(best[start:], mostOfATitle)
	}
	return human.Shorten(best, mostOfATitle)
}

// newest returns the newest operations that an FTS5 query finds.
func (f *search) newest(ctx context.Context, match string, open bool) ([]human.Operation, error) {
	l, err := f.newList(queue.Filter{Open: open})
	if err != nil {
		return nil, err
	}
	l.match, l.until = match, f.until
	places, err := l.find(ctx, human.MaxHits)
	if err != nil {
		return nil, err
	}
	f.cut = f.cut || l.cut
	return f.fetch(ctx, places)
}

func (f *search) operations(ctx context.Context) ([]ranked, error) {
	// What is open is among the candidates however old it is.
	open, err := f.newest(ctx, f.match, true)
	if err != nil {
		return nil, err
	}
	ops, err := f.newest(ctx, f.match, false)
	if err != nil {
		return nil, err
	}
	known := map[human.OperationID]bool{}
	var hits []ranked
	for _, op := range slices.Concat(open, ops) {
		if known[op.ID] || len(hits) == human.MaxHits {
			continue
		}
		known[op.ID] = true
		r := ranked{Hit: hitOf(op)}
		var whole bool
		if r.rank, whole = f.fits(op.Description); !whole {
			r.Excerpt = f.excerpt(textsOf(op)...)
		}
		if !op.State.Terminal() {
			r.rank += 3
		}
		hits = append(hits, r)
	}
	return hits, nil
}

func hitOf(op human.Operation) human.Hit {
	h := human.Hit{
		Operation: op.ID, Kind: op.Kind, State: op.State, Risk: op.Risk, Agent: op.AgentID, At: op.UpdatedAt,
		Title: human.OneLine(op.Description, mostOfATitle),
	}
	if op.Result != nil {
		h.Answer = op.Result.Decision
	}
	return h
}

// textsOf are what an operation is found by besides its description, as far as lists have it.
func textsOf(op human.Operation) []string {
	var texts []string
	for _, m := range op.Messages {
		texts = append(texts, m.Text)
	}
	if r := op.Result; r != nil {
		texts = append(texts, r.HumanInput, r.Summary, r.ExecutionResult)
		texts = append(texts, foundTexts(op)...)
		for _, field := range slices.Sorted(maps.Keys(r.Fields)) {
			texts = append(texts, r.Fields[field])
		}
	}
	if op.Ended != nil {
		texts = append(texts, op.Ended.Reason)
	}
	return append(texts, op.AgentID)
}

func (f *search) findings(ctx context.Context) ([]ranked, error) {
	match, err := matchFound(f.text)
	if err != nil || match == "" {
		return nil, err
	}
	ops, err := f.newest(ctx, match, false)
	if err != nil {
		return nil, err
	}
	var hits []ranked
	for _, op := range ops {
		kept := op.Result.Kept()
		for _, finding := range slices.Concat(kept.Findings, kept.Suggestions) {
			hits = f.found(hits, op, finding.Text, len(finding.Evidence))
		}
		if len(kept.Findings) == 0 {
			for _, text := range kept.KeyFindings {
				hits = f.found(hits, op, text, 0)
			}
		}
	}
	return hits, nil
}

// found adds a finding to the hits if it has a word of what is searched for.
func (f *search) found(hits []ranked, op human.Operation, text string, evidence int) []ranked {
	rank, whole := f.fits(text)
	if rank == 0 || len(hits) == human.MaxHits {
		return hits
	}
	if whole {
		rank += 4
	}
	r := ranked{Hit: hitOf(op), rank: rank}
	r.Excerpt, r.Title, r.Evidence = r.Title, human.OneLine(text, mostOfATitle), evidence
	return append(hits, r)
}

func (f *search) recordings(ctx context.Context) ([]ranked, error) {
	var hits []ranked
	err := f.rows(ctx, `SELECT r.data, t.moments, coalesce(o.data, '')
		FROM (SELECT rowid AS n FROM recorded_search WHERE recorded_search MATCH ? ORDER BY rowid DESC LIMIT ?) AS s
		CROSS JOIN recordings AS r ON r.n = s.n CROSS JOIN recorded_texts AS t ON t.recording = s.n
		LEFT JOIN operations AS o ON o.n = (SELECT seq FROM journal WHERE operation_id = r.operation_id AND version = 1)`,
		[]any{f.match, human.MaxHits}, func(rows *sql.Rows) error {
			var data, moments, about sql.RawBytes
			if err := rows.Scan(&data, &moments, &about); err != nil {
				return err
			}
			var rec human.Recording
			var all []instant
			if json.Unmarshal(data, &rec) != nil || json.Unmarshal(moments, &all) != nil {
				return f.damaged(fmt.Errorf("a recording, or what it is found by"))
			}
			r := ranked{Hit: human.Hit{Operation: rec.OperationID, Recording: rec.ID, At: rec.StartedAt}}
			var op human.Operation
			if len(about) > 0 && json.Unmarshal(about, &op) == nil {
				r.Kind, r.Agent, r.Title = op.Kind, op.AgentID, human.OneLine(op.Description, mostOfATitle)
			}
			for _, one := range all { // the first of the best
				if rank, _ := f.fits(one.Text); rank > r.rank {
					r.rank, r.Offset, r.Excerpt = rank, one.At, one.Text
				}
			}
			r.Excerpt = f.excerpt(r.Excerpt)
			hits = append(hits, r)
			return nil
		})
	return hits, err
}

func (f *search) decisions(ctx context.Context) ([]ranked, error) {
	firsts, err := f.searchParts(ctx, decidedFirsts)
	if err != nil {
		return nil, err
	}
	var hits []ranked
	for part := len(firsts); part > 0 && len(hits) < human.MaxHits; part-- {
		if f.cut = f.cut || time.Now().After(f.until); f.cut {
			break
		}
		err := f.built(ctx, fmt.Sprintf(`SELECT d.data FROM decided_%d AS s CROSS JOIN decisions AS d ON d.n = s.rowid
			WHERE decided_%[1]d MATCH ? ORDER BY s.rowid DESC LIMIT ?`, part), []any{f.match, human.MaxHits - len(hits)}, func(rows *sql.Rows) error {
			var data sql.RawBytes
			if err := rows.Scan(&data); err != nil {
				return err
			}
			var d service.Decision
			if err := json.Unmarshal(data, &d); err != nil {
				return f.damaged(err)
			}
			rank, _ := f.fits(d.Call)
			hits = append(hits, ranked{rank: rank, Hit: human.Hit{
				Operation: d.OperationID, Decision: d.ID, Ruling: d.Decision, Risk: d.Risk, Agent: d.Agent, At: d.At,
				Title: human.OneLine(d.Call, mostOfATitle), Excerpt: human.OneLine(d.Project, mostOfATitle),
			}})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return hits, nil
}
