package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
)

var (
	epoch = time.Date(2026, 1, 2, 3, 4, 5, 678901234, time.UTC)
	ann   = human.Actor{Role: human.Operator, Name: "Ann"}
	bot   = human.Actor{Role: human.Agent, Name: "bot"}
)

// history is a Store with a clock of its own: each event comes a second after the one before.
type history struct {
	testing.TB
	*Store
	dir      string
	events   int
	versions map[human.OperationID]uint64
}

func newHistory(tb testing.TB, opts Options) *history {
	tb.Helper()
	h := &history{TB: tb, dir: tb.TempDir(), versions: map[human.OperationID]uint64{}}
	h.open(opts)
	tb.Cleanup(func() {
		if err := h.Close(); err != nil {
			tb.Errorf("Close: %v", err)
		}
	})
	return h
}

func (h *history) open(opts Options) {
	h.Helper()
	s, err := Open(context.Background(), h.dir, opts)
	if err != nil {
		h.Fatalf("Open: %v", err)
	}
	h.Store = s
}

func (h *history) reopen(opts Options) {
	h.Helper()
	if err := h.Close(); err != nil {
		h.Fatalf("Close: %v", err)
	}
	h.open(opts)
}

func (h *history) add(id human.OperationID, events ...human.Event) {
	h.Helper()
	if err := h.try(id, events...); err != nil {
		h.Fatalf("Append to %s: %v", id, err)
	}
}

func (h *history) try(id human.OperationID, events ...human.Event) error {
	for i := range events {
		if events[i].At.IsZero() {
			events[i].At = epoch.Add(time.Duration(h.events) * time.Second)
			h.events++
		}
	}
	_, err := h.Append(context.Background(), id, h.versions[id], events...)
	if err == nil {
		h.versions[id] += uint64(len(events))
	}
	return err
}

// ring is a request's event; change may alter the request.
func ring(description string, change ...func(*human.Request)) human.Event {
	r := &human.Request{Kind: human.Feedback, Description: description, AgentID: "bot", Priority: human.DefaultPriority}
	for _, c := range change {
		c(r)
	}
	return human.Event{Type: human.Invoked, By: human.Actor{Role: human.Agent, Name: r.AgentID}, Request: r}
}

func details(text string) func(*human.Request) {
	return func(r *human.Request) { r.Details = json.RawMessage(text) }
}

func by(agent string) func(*human.Request) { return func(r *human.Request) { r.AgentID = agent } }

func done(text string) human.Event {
	return human.Event{Type: human.Finished, By: ann, Answer: &human.Answer{HumanInput: text}}
}

func declined(text string) human.Event {
	return human.Event{Type: human.TurnedDown, By: ann, Text: text}
}

func asked(text string) human.Event { return human.Event{Type: human.Asked, By: ann, Text: text} }

// ids follows a list through all its pages.
func (h *history) ids(f queue.Filter) []human.OperationID {
	h.Helper()
	ids := []human.OperationID{}
	for {
		page, err := h.List(context.Background(), f)
		if err != nil {
			h.Fatalf("List(%+v): %v", f, err)
		}
		for _, op := range page.Operations {
			if op.Details != nil || op.Context != nil {
				h.Fatalf("List carries details of %s", op.ID)
			}
			ids = append(ids, op.ID)
		}
		if page.Next == "" {
			return ids
		}
		if len(page.Operations) != f.Limit && f.Limit != 0 {
			h.Fatalf("a page of %d, limit %d, is not the last", len(page.Operations), f.Limit)
		}
		f.Cursor = page.Next
	}
}

func (h *history) wantIDs(f queue.Filter, want ...human.OperationID) {
	h.Helper()
	if got := h.ids(f); !slices.Equal(got, want) {
		h.Errorf("List(%+v) = %v, want %v", f, got, want)
	}
}

func wantKind(tb testing.TB, err error, kind human.ErrorKind) {
	tb.Helper()
	if err == nil || human.KindOf(err) != kind {
		tb.Fatalf("error is %v, want kind %d", err, kind)
	}
}

// dump is everything the projection says after the index has caught up, word positions of the search index included.
func (h *history) dump() []string {
	h.Helper()
	if err := h.bare(context.Background(), func(ctx context.Context, w *writer) error { return w.index(ctx) }); err != nil {
		h.Fatal(err)
	}
	var lines []string
	query := func(text string) {
		rows, err := h.reads.Query(text)
		if err != nil {
			h.Fatal(err)
		}
		defer rows.Close()
		columns, err := rows.Columns()
		if err != nil {
			h.Fatal(err)
		}
		for rows.Next() {
			values := make([]any, len(columns))
			pointers := make([]any, len(columns))
			for i := range values {
				pointers[i] = &values[i]
			}
			if err := rows.Scan(pointers...); err != nil {
				h.Fatal(err)
			}
			lines = append(lines, fmt.Sprint(values...))
		}
		if err := rows.Err(); err != nil {
			h.Fatal(err)
		}
	}
	query(`SELECT * FROM operations ORDER BY n`)
	query(`SELECT * FROM search_parts ORDER BY part`)
	query(`SELECT * FROM projected`)
	firsts, err := h.searchParts(context.Background(), searchFirsts)
	if err != nil {
		h.Fatal(err)
	}
	db, err := connect(h.file, 1)
	if err != nil {
		h.Fatal(err)
	}
	defer db.Close()
	for part := range firsts {
		if _, err := db.Exec(fmt.Sprintf(`CREATE VIRTUAL TABLE temp.words_%d USING fts5vocab (main, search_%[1]d, instance)`, part+1)); err != nil {
			h.Fatal(err)
		}
		rows, err := db.Query(fmt.Sprintf(`SELECT term, doc, col, offset FROM temp.words_%d ORDER BY term, doc, offset`, part+1))
		if err != nil {
			h.Fatal(err)
		}
		for rows.Next() {
			var term, col string
			var doc, offset int
			if err := rows.Scan(&term, &doc, &col, &offset); err != nil {
				h.Fatal(err)
			}
			lines = append(lines, fmt.Sprint(part, term, doc, col, offset))
		}
		if err := rows.Err(); err != nil {
			h.Fatal(err)
		}
		rows.Close()
	}
	return lines
}
