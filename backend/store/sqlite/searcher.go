package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	"deskbell/backend/queue"
)

var _ human.Searcher = (*Store)(nil)

// searchTime is how long one search looks in each group; the groups are looked at side by side.
const searchTime = 200 * time.Millisecond

// lookedAt is how many of the newest and of the most urgent are looked at themselves. A word that so many of them have is common,
// and to ask the index for those costs most.
const lookedAt = 400

// mostOfATitle is how much of a hit's title and excerpt is given, in characters.
const mostOfATitle = 240

// Search implements human.Searcher. Of each group the newest matches are candidates, MaxHits at most, which are then ranked. What is
// newest or open is looked at itself; the index is asked only where that is not enough. So a common word or a short beginning
// costs no more than a rare one.
func (s *Store) Search(ctx context.Context, q human.SearchQuery) ([]human.HitList, error) {
	if q.Limit < 1 || q.Limit > human.MaxHits {
		return nil, human.BadField("limit", "is %d; it runs from 1 to %d", q.Limit, human.MaxHits)
	}
	match, err := matchText(q.Text)
	if err != nil || match == "" {
		return nil, err
	}
	var all [4]human.HitList
	var errs [len(all)]error
	var groups sync.WaitGroup
	for i, look := range [len(all)]func(*search, context.Context) error{(*search).operations, (*search).recordings, (*search).findings, (*search).decisions} {
		if group := human.HitGroups[i]; q.Group == "" || q.Group == group {
			groups.Go(func() {
				f := &search{Store: s, text: q.Text, match: match, words: searched(q.Text), until: time.Now().Add(s.seeks * 3 / 4)}
				all[i], errs[i] = f.list(ctx, group, q.Limit, look)
			})
		}
	}
	groups.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		return nil, s.fail(ctx, err)
	}
	return slices.DeleteFunc(all[:], func(l human.HitList) bool { return l.Count == 0 && !l.More }), nil
}

// list looks for one group's hits for as long as a search may take, and ranks them.
func (f *search) list(ctx context.Context, group human.HitGroup, limit int, look func(*search, context.Context) error) (human.HitList, error) {
	inTime, cancel := context.WithTimeout(ctx, f.seeks)
	defer cancel()
	err := look(f, inTime)
	if err != nil && inTime.Err() != nil && ctx.Err() == nil {
		f.cut, err = true, nil
	}
	l := human.HitList{Group: group, Hits: []human.Hit{}, Count: len(f.hits), More: len(f.hits) == human.MaxHits || f.cut}
	slices.SortStableFunc(f.hits, func(a, b ranked) int { return cmp.Or(cmp.Compare(b.rank, a.rank), b.At.Compare(a.At)) })
	for _, hit := range f.hits[:min(limit, len(f.hits))] {
		l.Hits = append(l.Hits, hit.Hit)
	}
	return l, err
}

// A search is one text that is looked for in one group.
type search struct {
	*Store
	text, match string
	words       []string // in lower case, as the person typed them
	until       time.Time
	cut         bool
	hits        []ranked
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

// What counts for the rank of a hit, the weightiest first: how its least fitting word stands in the text, that all stand as they were
// typed, that it is open, and how the other words stand.
const (
	leastWord = 1 << 10
	asTyped   = 1 << 9
	isOpen    = 1 << 8
	mostWords = isOpen - 1
)

// fits says how well a text fits what is searched for. whole says that it has every word. 0 is none of them.
func (f *search) fits(text string) (rank int, whole bool) {
	text = strings.ToLower(text)
	least, sum := 3, 0
	for _, word := range f.words {
		at := standing(text, word)
		least, sum = min(least, at), sum+at
	}
	rank = least*leastWord + min(sum, mostWords)
	if strings.Contains(text, strings.Join(f.words, " ")) {
		rank += asTyped
	}
	return rank, least > 0
}

// standing says how a word stands in a text, both in lower case: 3 as a word of its own, 2 at the beginning of a longer one, 1 inside one,
// 0 nowhere. In scripts without spaces a word may begin at each character.
func standing(text, word string) (best int) {
	first, _ := utf8.DecodeRuneInString(word)
	for from := 0; word != ""; {
		at := strings.Index(text[from:], word)
		if at < 0 {
			break
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(word):])
		ends := wordless(first) || wordless(after) || !unicode.IsLetter(after) && !unicode.IsNumber(after)
		switch starts := begins(text, at) || wordless(before) && !wordless(first); {
		case starts && ends:
			return 3
		case starts, wordless(first):
			best = 2
		default:
			best = max(best, 1)
		}
		from = at + len(word)
	}
	return best
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

// has says whether texts have every word: each a whole one, and the last at least the beginning of one.
func (f *search) has(texts ...string) bool {
	all := strings.ToLower(strings.Join(texts, "\n"))
	for i, word := range f.words {
		if !holds(all, word, i+1 < len(f.words)) {
			return false
		}
	}
	return true
}

// holds says whether a word begins in text, and where whole is asked for also ends with it.
func holds(text, word string, whole bool) bool {
	first, _ := utf8.DecodeRuneInString(word)
	for from := 0; ; {
		at := strings.Index(text[from:], word)
		if at < 0 {
			return false
		}
		at += from
		after, _ := utf8.DecodeRuneInString(text[at+len(word):])
		if wordless(first) || begins(text, at) && (!whole || !unicode.IsLetter(after) && !unicode.IsNumber(after)) {
			return true
		}
		from = at + len(word)
	}
}

const (
	urgentOperations = `SELECT data FROM operations INDEXED BY operations_urgent WHERE open = 1 ORDER BY priority DESC, n LIMIT ?`
	newestOperations = `SELECT data FROM operations ORDER BY n DESC LIMIT ?`
	newestDecisions  = `SELECT data FROM decisions ORDER BY n DESC LIMIT ?`
)

// look calls each for the rows of a query whose data may have all words, until it returns false.
func (f *search) look(ctx context.Context, query string, each func(data []byte) (more bool, err error)) error {
	done := false
	return f.rows(ctx, query, []any{lookedAt}, func(rows *sql.Rows) error {
		var data sql.RawBytes
		if done {
			return nil
		}
		if err := rows.Scan(&data); err != nil {
			return err
		}
		// Most are left out without being decoded: of what JSON writes in another way only less is found here.
		lower := bytes.ToLower(data)
		for _, word := range f.words {
			if !bytes.Contains(lower, []byte(word)) {
				return nil
			}
		}
		more, err := each(data)
		done = !more
		return err
	})
}

// each calls take, once, for the operations that the index finds with a query, or that are looked at themselves and may have the
// words; those that are open first, then the newest. take says whether to continue.
func (f *search) each(ctx context.Context, match string, take func(op human.Operation, indexed bool) (more bool)) error {
	known := map[human.OperationID]bool{}
	more := true
	for _, query := range []string{urgentOperations, newestOperations} {
		if !more {
			return nil
		}
		err := f.look(ctx, query, func(data []byte) (bool, error) {
			var op human.Operation
			if err := json.Unmarshal(data, &op); err != nil {
				return false, f.damaged(err)
			}
			before := len(f.hits)
			if !known[op.ID] {
				more = take(op, false)
			}
			known[op.ID] = known[op.ID] || len(f.hits) > before
			return more, nil
		})
		if err != nil {
			return err
		}
	}
	l, err := f.newList(queue.Filter{})
	if err != nil || !more {
		return err
	}
	l.match, l.until = match, f.until
	places, err := l.find(ctx, human.MaxHits)
	if err != nil {
		return err
	}
	f.cut = f.cut || l.cut
	ops, err := f.fetch(ctx, places)
	for _, op := range ops {
		if !known[op.ID] && !take(op, true) {
			break
		}
	}
	return err
}

func (f *search) operations(ctx context.Context) error {
	return f.each(ctx, f.match, func(op human.Operation, indexed bool) bool {
		texts := textsOf(op)
		if !indexed && !f.has(append(texts, op.Description)...) {
			return true
		}
		r := ranked{Hit: hitOf(op)}
		var whole bool
		if r.rank, whole = f.fits(op.Description); !whole {
			r.Excerpt = f.excerpt(texts...)
		}
		if !op.State.Terminal() {
			r.rank += isOpen
		}
		f.hits = append(f.hits, r)
		return len(f.hits) < human.MaxHits
	})
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

func (f *search) findings(ctx context.Context) error {
	match, err := matchFound(f.text)
	if err != nil || match == "" {
		return err
	}
	return f.each(ctx, match, func(op human.Operation, indexed bool) bool {
		if op.Result == nil || !indexed && !f.has(foundTexts(op)...) {
			return true
		}
		kept := op.Result.Kept()
		for _, finding := range slices.Concat(kept.Findings, kept.Suggestions) {
			f.found(op, finding.Text, len(finding.Evidence))
		}
		if len(kept.Findings) == 0 {
			for _, text := range kept.KeyFindings {
				f.found(op, text, 0)
			}
		}
		return len(f.hits) < human.MaxHits
	})
}

// found adds a finding to the hits if it has a word of what is searched for.
func (f *search) found(op human.Operation, text string, evidence int) {
	rank, _ := f.fits(text)
	if rank == 0 || len(f.hits) == human.MaxHits {
		return
	}
	r := ranked{Hit: hitOf(op), rank: rank}
	r.Excerpt, r.Title, r.Evidence = r.Title, human.OneLine(text, mostOfATitle), evidence
	f.hits = append(f.hits, r)
}

func (f *search) recordings(ctx context.Context) error {
	return f.built(ctx, `SELECT r.data, t.moments, coalesce(o.data, '')
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
			f.hits = append(f.hits, r)
			return nil
		})
}

func (f *search) decisions(ctx context.Context) error {
	known := map[string]bool{}
	take := func(data []byte, indexed bool) (more bool, err error) {
		var d service.Decision
		if err := json.Unmarshal(data, &d); err != nil {
			return false, f.damaged(err)
		}
		if known[d.ID] || !indexed && !f.has(d.Call, d.Agent, d.Project) {
			return true, nil
		}
		known[d.ID] = true
		rank, _ := f.fits(d.Call)
		f.hits = append(f.hits, ranked{rank: rank, Hit: human.Hit{
			Operation: d.OperationID, Decision: d.ID, Ruling: d.Decision, Risk: d.Risk, Agent: d.Agent, At: d.At,
			Title: human.OneLine(d.Call, mostOfATitle), Excerpt: human.OneLine(d.Project, mostOfATitle),
		}})
		return len(f.hits) < human.MaxHits, nil
	}
	if err := f.look(ctx, newestDecisions, func(data []byte) (bool, error) { return take(data, false) }); err != nil {
		return err
	}
	firsts, err := f.searchParts(ctx, decidedFirsts)
	if err != nil {
		return err
	}
	for part := len(firsts); part > 0 && len(f.hits) < human.MaxHits; part-- {
		if f.cut = time.Now().After(f.until); f.cut {
			return nil
		}
		err := f.built(ctx, fmt.Sprintf(`SELECT d.data FROM decided_%d AS s CROSS JOIN decisions AS d ON d.n = s.rowid
			WHERE decided_%[1]d MATCH ? ORDER BY s.rowid DESC LIMIT ?`, part), []any{f.match, human.MaxHits}, func(rows *sql.Rows) error {
			var data sql.RawBytes
			err := rows.Scan(&data)
			if err == nil && len(f.hits) < human.MaxHits {
				_, err = take(data, true)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
