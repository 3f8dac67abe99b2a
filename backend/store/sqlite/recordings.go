package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"iter"
	"strconv"
	"time"

	"github.com/klauspost/compress/zstd"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// Recordings keeps recordings and their events in a Store's file. It implements record.Store.
type Recordings struct{ store *Store }

var _ record.Store = Recordings{}

// Recordings are this file's.
func (s *Store) Recordings() Recordings { return Recordings{s} }

// maxChunk bounds what one chunk may unpack to, so that a damaged file cannot take all memory.
const maxChunk = 64 << 20

// Encoders and decoders are safe for concurrent use in this way; their only error is a wrong option.
var (
	packer, _   = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true))
	unpacker, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxChunk))
)

// Create implements record.Store.
func (r Recordings) Create(ctx context.Context, rec human.Recording) error {
	data, err := json.Marshal(rec)
	if err != nil {
		return human.Wrap(human.Invalid, err, "recording %s cannot be written as JSON", rec.ID)
	}
	return r.store.do(ctx, func(ctx context.Context, w *writer) error {
		done, err := w.conn.ExecContext(ctx, `INSERT INTO recordings (recording_id, operation_id, running, last, data, edits)
			VALUES (?,?,?,0,?,'') ON CONFLICT (recording_id) DO NOTHING`, rec.ID, rec.OperationID, rec.Running(), string(data))
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n > 0 {
			return err
		}
		return human.Errorf(human.Conflict, "recording %s exists already", rec.ID)
	})
}

// Append implements record.Store.
func (r Recordings) Append(ctx context.Context, rec human.Recording, events []human.RecordedEvent) error {
	data, err := json.Marshal(rec)
	if err != nil {
		return human.Wrap(human.Invalid, err, "recording %s cannot be written as JSON", rec.ID)
	}
	var lines bytes.Buffer
	line := json.NewEncoder(&lines)
	line.SetEscapeHTML(false)
	bySource := map[human.SourceName]uint64{}
	for i, e := range events {
		if e.Seq != events[0].Seq+uint64(i) {
			return human.Errorf(human.Conflict, "event %d of recording %s comes where event %d is expected", e.Seq, rec.ID, events[0].Seq+uint64(i))
		}
		if err := line.Encode(e); err != nil {
			return human.Wrap(human.Invalid, err, "event %d of recording %s cannot be written as JSON", e.Seq, rec.ID)
		}
		bySource[e.Source]++
	}
	counts, err := json.Marshal(bySource)
	if err != nil {
		return human.Wrap(human.Internal, err, "the events of recording %s cannot be counted", rec.ID)
	}
	chunk := packer.EncodeAll(lines.Bytes(), nil)
	err = r.store.do(ctx, func(ctx context.Context, w *writer) error {
		var n, last uint64
		err := w.conn.QueryRowContext(ctx, `SELECT n, last FROM recordings WHERE recording_id = ?`, rec.ID).Scan(&n, &last)
		if err != nil {
			return missing(err, rec.ID)
		}
		if len(events) > 0 {
			if events[0].Seq != last+1 {
				return human.Errorf(human.Conflict, "event %d of recording %s does not follow event %d", events[0].Seq, rec.ID, last)
			}
			last = events[len(events)-1].Seq
			if _, err := w.conn.ExecContext(ctx, `INSERT INTO recorded (recording, first, last, counts, events) VALUES (?,?,?,?,?)`,
				n, events[0].Seq, last, string(counts), chunk); err != nil {
				return err
			}
		}
		_, err = w.conn.ExecContext(ctx, `UPDATE recordings SET running = ?, last = ?, data = ? WHERE n = ?`, rec.Running(), last, string(data), n)
		return err
	})
	if err != nil || rec.Running() {
		return err
	}
	_ = r.index(ctx, rec.ID) // it is stored; the next Open makes up for this
	return nil
}

// missing makes a NotFound error of a row that is not there.
func missing(err error, id human.RecordingID) error {
	if errors.Is(err, sql.ErrNoRows) {
		return human.Errorf(human.NotFound, "no recording %s", id)
	}
	return err
}

// one reads a single value of a recording.
func (r Recordings) one(ctx context.Context, query string, id human.RecordingID, into any) error {
	stmt, err := r.store.query(ctx, query)
	if err == nil {
		err = stmt.QueryRowContext(context.WithoutCancel(ctx), id).Scan(into)
	}
	return r.store.fail(ctx, missing(err, id))
}

// Recording implements record.Store.
func (r Recordings) Recording(ctx context.Context, id human.RecordingID) (rec human.Recording, err error) {
	var data []byte
	if err := r.one(ctx, `SELECT data FROM recordings WHERE recording_id = ?`, id, &data); err != nil {
		return rec, err
	}
	if err := json.Unmarshal(data, &rec); err != nil {
		return rec, r.damaged(id, err)
	}
	return rec, nil
}

func (r Recordings) damaged(id human.RecordingID, err error) error {
	return human.Wrap(human.Internal, err, "recording %s is damaged in %s; delete it, or stop Deskbell and restore a backup", id, r.store.file)
}

// Recordings implements record.Store.
func (r Recordings) Recordings(ctx context.Context, op human.OperationID, limit int, cursor string) (record.RecordingPage, error) {
	page := record.RecordingPage{Recordings: []human.Recording{}}
	before := int64(1<<63 - 1)
	if cursor != "" {
		var err error
		if before, err = strconv.ParseInt(cursor, 10, 64); err != nil || before < 1 {
			return page, human.BadField("cursor", "is not a cursor of this list; start again without it")
		}
	}
	limit = cmp.Or(limit, 50)
	if limit < 1 || limit > 500 {
		return page, human.BadField("limit", "is %d; it runs from 1 to 500", limit)
	}
	last := int64(0)
	err := r.list(ctx, `SELECT n, data FROM recordings WHERE n < ?1 AND (?2 = '' OR operation_id = ?2) ORDER BY n DESC LIMIT ?3`,
		[]any{before, op, limit + 1}, func(n int64, rec human.Recording) {
			if len(page.Recordings) == limit {
				page.Next = strconv.FormatInt(last, 10)
				return
			}
			last = n
			page.Recordings = append(page.Recordings, rec)
		})
	return page, err
}

// Running implements record.Store.
func (r Recordings) Running(ctx context.Context) (all []human.Recording, err error) {
	err = r.list(ctx, `SELECT n, data FROM recordings WHERE running = 1 ORDER BY n`, nil, func(_ int64, rec human.Recording) {
		all = append(all, rec)
	})
	return all, err
}

func (r Recordings) list(ctx context.Context, query string, args []any, each func(n int64, rec human.Recording)) error {
	return r.store.fail(ctx, r.store.rows(ctx, query, args, func(rows *sql.Rows) error {
		var n int64
		var data sql.RawBytes
		if err := rows.Scan(&n, &data); err != nil {
			return err
		}
		var rec human.Recording
		if err := json.Unmarshal(data, &rec); err != nil {
			return r.damaged(rec.ID, err)
		}
		each(n, rec)
		return nil
	}))
}

// Events implements record.Store. It reads a chunk at a time, so a long recording needs little memory and a
// running one can be read meanwhile.
func (r Recordings) Events(ctx context.Context, id human.RecordingID, after uint64) iter.Seq2[human.RecordedEvent, error] {
	return func(yield func(human.RecordedEvent, error) bool) {
		var n int64
		if err := r.one(ctx, `SELECT n FROM recordings WHERE recording_id = ?`, id, &n); err != nil {
			yield(human.RecordedEvent{}, err)
			return
		}
		for {
			events, err := r.chunk(ctx, id, n, after)
			if err != nil {
				yield(human.RecordedEvent{}, err)
				return
			}
			if len(events) == 0 {
				return
			}
			for _, e := range events {
				if e.Seq > after && !yield(e, nil) {
					return
				}
			}
			after = events[len(events)-1].Seq
		}
	}
}

// chunk returns the events of the first chunk that has one after a seq.
func (r Recordings) chunk(ctx context.Context, id human.RecordingID, n int64, after uint64) (events []human.RecordedEvent, err error) {
	var packed []byte
	// The chunk that has the next seq, if there is one: seqs have no gaps. By last it would be looked for in all.
	err = r.store.rows(ctx, `SELECT events FROM (SELECT last, events FROM recorded WHERE recording = ? AND first <= ? ORDER BY first DESC LIMIT 1)
		WHERE last > ?`, []any{n, after + 1, after},
		func(rows *sql.Rows) error { return rows.Scan(&packed) })
	if err != nil || packed == nil {
		return nil, r.store.fail(ctx, err)
	}
	lines, err := unpacker.DecodeAll(packed, nil)
	if err != nil {
		return nil, r.damaged(id, err)
	}
	for d := json.NewDecoder(bytes.NewReader(lines)); d.More(); {
		var e human.RecordedEvent
		if err := d.Decode(&e); err != nil {
			return nil, r.damaged(id, err)
		}
		events = append(events, e)
	}
	return events, nil
}

// CountEvents implements record.Store. The counts were stored in the transactions that stored the events.
func (r Recordings) CountEvents(ctx context.Context, id human.RecordingID) (map[human.SourceName]uint64, error) {
	if _, err := r.Recording(ctx, id); err != nil {
		return nil, err
	}
	counts := map[human.SourceName]uint64{}
	err := r.store.rows(ctx, `SELECT c.key, sum(c.value) FROM recorded, json_each(recorded.counts) AS c
		WHERE recording = (SELECT n FROM recordings WHERE recording_id = ?) GROUP BY c.key`, []any{id}, func(rows *sql.Rows) error {
		var source human.SourceName
		var count uint64
		err := rows.Scan(&source, &count)
		counts[source] = count
		return err
	})
	return counts, r.store.fail(ctx, err)
}

// Edits implements record.Store.
func (r Recordings) Edits(ctx context.Context, id human.RecordingID) (human.Edits, error) {
	var data []byte
	if err := r.one(ctx, `SELECT edits FROM recordings WHERE recording_id = ?`, id, &data); err != nil {
		return human.Edits{}, err
	}
	return r.edits(id, data)
}

func (r Recordings) edits(id human.RecordingID, data []byte) (human.Edits, error) {
	e := human.Edits{Cuts: []string{}, MaskedTexts: []string{}, Masks: []human.Mask{}}
	if len(data) == 0 {
		return e, nil
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return e, r.damaged(id, err)
	}
	return e, nil
}

// SetEdits implements record.Store.
func (r Recordings) SetEdits(ctx context.Context, id human.RecordingID, e human.Edits) (human.Edits, error) {
	next := e
	next.Version++
	data, err := json.Marshal(next)
	if err != nil {
		return human.Edits{}, human.Wrap(human.Invalid, err, "these edits cannot be written as JSON")
	}
	err = r.store.do(ctx, func(ctx context.Context, w *writer) error {
		var old []byte
		if err := w.conn.QueryRowContext(ctx, `SELECT edits FROM recordings WHERE recording_id = ?`, id).Scan(&old); err != nil {
			return missing(err, id)
		}
		is, err := r.edits(id, old)
		if err != nil {
			return err
		}
		if is.Version != e.Version {
			return human.Errorf(human.Conflict, "the edits of recording %s are at version %d, not %d: another change came first; read them again", id, is.Version, e.Version)
		}
		_, err = w.conn.ExecContext(ctx, `UPDATE recordings SET edits = ? WHERE recording_id = ?`, string(data), id)
		return err
	})
	if err != nil {
		return human.Edits{}, err
	}
	return next, nil
}

// Expire implements record.Store. What is removed is overwritten, as by Delete.
func (r Recordings) Expire(ctx context.Context, id human.RecordingID, at time.Time, whole bool) error {
	return r.erasing(ctx, func(ctx context.Context, w *writer) error {
		var n int64
		var data []byte
		if err := w.conn.QueryRowContext(ctx, `SELECT n, data FROM recordings WHERE recording_id = ?`, id).Scan(&n, &data); err != nil {
			return missing(err, id)
		}
		var rec human.Recording
		if err := json.Unmarshal(data, &rec); err != nil {
			return r.damaged(id, err)
		}
		if rec.Running() {
			return human.Errorf(human.Conflict, "recording %s is still being made; stop it first, or discard it", id)
		}
		at = at.UTC()
		if rec.PicturesRemoved == nil {
			rec.PicturesRemoved = &at
		}
		if whole && rec.Removed == nil {
			rec.Removed = &at
		}
		data, err := json.Marshal(rec)
		if err == nil {
			_, err = w.conn.ExecContext(ctx, `UPDATE recordings SET data = ? WHERE n = ?`, string(data), n)
		}
		if err != nil || !whole {
			return err
		}
		for _, remove := range []string{
			`UPDATE recordings SET edits = '' WHERE n = ?`, `DELETE FROM recorded WHERE recording = ?`,
			`DELETE FROM recorded_texts WHERE recording = ?`, `INSERT INTO recorded_texts (recording, moments, body) VALUES (?, '[]', '')`,
		} {
			if _, err := w.conn.ExecContext(ctx, remove, n); err != nil {
				return err
			}
		}
		return nil
	})
}

// EventBytes implements record.Store.
func (r Recordings) EventBytes(ctx context.Context) (map[human.RecordingID]int64, error) {
	all := map[human.RecordingID]int64{}
	err := r.store.rows(ctx, `SELECT r.recording_id, sum(length(e.events)) FROM recorded AS e JOIN recordings AS r ON r.n = e.recording GROUP BY e.recording`, nil,
		func(rows *sql.Rows) error {
			var id human.RecordingID
			var bytes int64
			err := rows.Scan(&id, &bytes)
			all[id] = bytes
			return err
		})
	return all, r.store.fail(ctx, err)
}

// Delete implements record.Store. What is deleted is overwritten with zeros in the file, and the write-ahead
// log, which has it as well, is emptied.
func (r Recordings) Delete(ctx context.Context, id human.RecordingID) error {
	return r.erasing(ctx, func(ctx context.Context, w *writer) error {
		done, err := w.conn.ExecContext(ctx, `DELETE FROM recordings WHERE recording_id = ?`, id)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n > 0 {
			return err
		}
		return missing(sql.ErrNoRows, id)
	})
}

// erasing runs work, which overwrites what it deletes, in a transaction, and empties the write-ahead log.
func (r Recordings) erasing(ctx context.Context, work func(context.Context, *writer) error) error {
	err := r.store.do(ctx, func(ctx context.Context, w *writer) error {
		if _, err := w.conn.ExecContext(ctx, `PRAGMA secure_delete = ON`); err != nil {
			return err
		}
		return work(ctx, w)
	})
	if err != nil {
		return err
	}
	return r.store.bare(ctx, func(ctx context.Context, w *writer) error {
		if _, err := w.conn.ExecContext(ctx, `PRAGMA secure_delete = OFF`); err != nil {
			return err
		}
		// A reader that is still at work keeps it from being emptied; the next checkpoint overwrites it.
		_, err := w.conn.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
		return err
	})
}
