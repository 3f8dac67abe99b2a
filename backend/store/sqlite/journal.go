package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue/receipt"
)

// Append implements queue.Journal. It blocks until the group it became part of is on the disk. An event
// that the operation's life cycle does not allow gives Apply's error; nothing is stored then.
func (s *Store) Append(ctx context.Context, id human.OperationID, expected uint64, events ...human.Event) (uint64, error) {
	r, err := s.appendOf(ctx, id, expected, events)
	if err != nil {
		return 0, err
	}
	if err := s.submit(ctx, r); err != nil {
		return 0, err
	}
	return r.rows[len(r.rows)-1].entry.Seq, nil
}

// appendOf makes the request of an append.
func (s *Store) appendOf(ctx context.Context, id human.OperationID, expected uint64, events []human.Event) (*request, error) {
	if id == "" || len(events) == 0 {
		return nil, human.Errorf(human.Invalid, "an append needs an operation's id and at least one event")
	}
	r := &request{ctx: ctx, id: id, expected: expected, rows: make([]row, len(events)), done: make(chan error, 1)}
	for i, e := range events {
		if err := r.rows[i].encode(human.Entry{ID: id, Version: expected + uint64(i) + 1, Event: e}); err != nil {
			return nil, err
		}
		if err := s.hashReceipt(&r.rows[i]); err != nil {
			return nil, err
		}
	}
	// A new operation depends on nothing in the file, so its projection is made here, where many can be
	// made at once, and not by the one writer.
	if expected == 0 {
		next, err := (&folded{op: human.Operation{ID: id}}).apply(r.rows)
		if err != nil {
			return nil, err
		}
		if r.fresh, err = next.project(); err != nil {
			return nil, err
		}
		r.fresh.projectName = projectOf(r.rows[0].context)
	}
	return r, nil
}

// A row is an entry and its columns in the journal.
type row struct {
	entry            human.Entry
	payload          string
	details, context []byte // nil or not empty
	kind             string // the event's type and time, as their columns have them
	at               int64
	leaf             string       // of the receipt of an event that is being appended
	link             receipt.Link // of an event that was appended
}

func (r *row) bytes() int { return 256 + len(r.payload) + len(r.details) + len(r.context) }

// encode makes r the row of an entry. The row's own entry is what reading the row back gives, and shares no
// memory with the caller's.
func (r *row) encode(e human.Entry) error {
	given := e.Event.Receipt
	e.Event.Receipt = nil
	if err := r.encodeBare(e); err != nil || given == nil {
		return err
	}
	// It is most of an event, so it is put in as it is, without reading it back.
	kept := human.Receipt{RawMessage: slices.Clone(given.RawMessage)}
	r.payload = strings.TrimSuffix(r.payload, "}") + `,"receipt":` + string(kept.RawMessage) + "}"
	r.entry.Event.Receipt = &kept
	return nil
}

// encodeBare encodes an entry without a receipt.
func (r *row) encodeBare(e human.Entry) error {
	ev := e.Event
	ev.At = ev.At.UTC()
	if ev.Until != nil {
		until := ev.Until.UTC()
		ev.Until = &until
	}
	if ev.Request != nil {
		request := *ev.Request
		r.details, r.context = exact(request.Details), exact(request.Context)
		request.Details, request.Context, request.Attachments = nil, nil, slices.Clone(request.Attachments)
		ev.Request = &request
	}
	payload, err := json.Marshal(&ev)
	if err != nil {
		return human.Wrap(human.Invalid, err, "event %s of operation %s cannot be written as JSON", ev.Type, e.ID)
	}
	r.payload = string(payload)
	r.entry = human.Entry{Seq: e.Seq, ID: e.ID, Version: e.Version}
	ev.At = ev.At.Round(0)
	// Most events are requests and nothing else. Such a one is read back as it is here, unless JSON had to fix its texts.
	if alone := (human.Event{Type: ev.Type, At: ev.At, By: ev.By, Request: ev.Request}); ev.Request == nil || ev != alone || strings.Contains(r.payload, `\ufffd`) {
		return r.decode()
	}
	ev.Request.Details, ev.Request.Context = r.details, r.context
	r.entry.Event = ev
	return nil
}

func exact(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return slices.Clone(b)
}

// emptied says whether the words of the entry were removed.
func (r *row) emptied() bool { return r.payload == "" }

// decode sets the entry's event from the columns.
func (r *row) decode() error {
	if r.emptied() {
		r.entry.Event = human.Skeleton(r.kind, time.UnixMicro(r.at))
		return nil
	}
	if err := json.Unmarshal([]byte(r.payload), &r.entry.Event); err != nil {
		return damagedBy(human.Wrap(human.Internal, err, "the journal is damaged at seq %d (operation %s, version %d); restore a backup", r.entry.Seq, r.entry.ID, r.entry.Version))
	}
	if q := r.entry.Event.Request; q != nil {
		q.Details, q.Context = r.details, r.context
	}
	return nil
}

func (r *row) scan(rows *sql.Rows) error {
	*r = row{}
	if err := rows.Scan(&r.entry.Seq, &r.entry.ID, &r.entry.Version, &r.payload, &r.details, &r.context, &r.kind, &r.at); err != nil {
		return err
	}
	return r.decode()
}

const selectRows = `SELECT seq, operation_id, version, payload, details, context, type, at FROM journal `

// Operation implements queue.Journal.
func (s *Store) Operation(ctx context.Context, id human.OperationID) ([]human.Entry, error) {
	var entries []human.Entry
	err := s.rows(ctx, selectRows+`WHERE operation_id = ? ORDER BY version`, []any{id}, func(rows *sql.Rows) error {
		var r row
		err := r.scan(rows)
		entries = append(entries, r.entry)
		return err
	})
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	return entries, nil
}

// Sizes of the pages in which Read reads: a slow consumer holds no transaction open, and large entries do
// not pile up.
const (
	readEntries = 256
	readBytes   = 4 << 20
)

// Read implements queue.Journal. The last few thousand entries come from memory. What an entry points to
// is shared with other readers and must not be changed.
func (s *Store) Read(ctx context.Context, after uint64) iter.Seq2[human.Entry, error] {
	return func(yield func(human.Entry, error) bool) {
		for head := s.live.seq(); after < head; {
			page, err := s.page(ctx, after, head)
			if err != nil {
				yield(human.Entry{}, err)
				return
			}
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
				after = e.Seq
			}
		}
	}
}

// page returns the entries that follow after, at least one and none past head.
func (s *Store) page(ctx context.Context, after, head uint64) ([]human.Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n := int(min(readEntries, head-after))
	if page, ok := s.live.page(after, n); ok {
		return page, nil
	}
	gaps, err := s.readGaps(ctx)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	page, bytes, next := make([]human.Entry, 0, n), 0, after+1
	err = s.rows(ctx, selectRows+`WHERE seq > ? ORDER BY seq LIMIT ?`, []any{after, n}, func(rows *sql.Rows) error {
		if bytes >= readBytes {
			return errEnough
		}
		var r row
		if err := r.scan(rows); err != nil {
			return err
		}
		if want := next; r.entry.Seq != want && gaps.across(position{seq: want - 1}, r.entry.Seq).seq+1 != r.entry.Seq {
			return damagedBy(human.Errorf(human.Internal, "the journal in %s is damaged: entry %d is missing; run `deskbell repair`, or restore a backup", s.file, want))
		}
		next = r.entry.Seq + 1
		bytes += r.bytes()
		page = append(page, r.entry)
		return nil
	})
	if err != nil && err != errEnough {
		return nil, s.fail(ctx, err)
	}
	if len(page) == 0 {
		return nil, damagedBy(human.Errorf(human.Internal, "the journal in %s is damaged: entry %d is missing; run `deskbell repair`, or restore a backup", s.file, after+1))
	}
	return page, nil
}

// errEnough ends a query early.
var errEnough = fmt.Errorf("enough")

// Head implements queue.Journal. It never touches the disk.
func (s *Store) Head(ctx context.Context) (uint64, error) { return s.live.seq(), ctx.Err() }

// Wait implements queue.Journal.
func (s *Store) Wait(ctx context.Context, after uint64) error { return s.live.wait(ctx, after) }
