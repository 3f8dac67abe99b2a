package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/record"
	"deskbell/backend/record/recordtest"
)

func recording(id human.RecordingID) human.Recording {
	return human.Recording{ID: id, OperationID: "op_1", By: "Ann", State: human.RecordingRuns, StartedAt: epoch}
}

func clicks(from, to uint64) (events []human.RecordedEvent) {
	for seq := from; seq <= to; seq++ {
		events = append(events, human.RecordedEvent{Seq: seq, At: int64(seq), Source: human.InputSource, Type: human.PointerDown, Button: 1})
	}
	return events
}

func TestARecordingOutlivesItsProcess(t *testing.T) {
	h := newHistory(t, Options{})
	ctx := context.Background()
	rec := recording("rec_1")
	if err := h.Recordings().Create(ctx, rec); err != nil {
		t.Fatal(err)
	}
	for from := uint64(1); from < 100; from += 10 {
		rec.Counts.Events = from + 9
		if err := h.Recordings().Append(ctx, rec, clicks(from, from+9)); err != nil {
			t.Fatal(err)
		}
	}
	h.reopen(Options{})
	running, err := h.Recordings().Running(ctx)
	if err != nil || len(running) != 1 || running[0].Counts.Events != 100 {
		t.Fatalf("running after a restart: %+v, %v", running, err)
	}
	seq := uint64(35)
	for e, err := range h.Recordings().Events(ctx, "rec_1", seq) {
		if err != nil {
			t.Fatal(err)
		}
		if seq++; e.Seq != seq {
			t.Fatalf("event %d stands where %d is due", e.Seq, seq)
		}
	}
	if seq != 100 {
		t.Errorf("the last event is %d, want 100", seq)
	}
}

func TestADeletedRecordingIsNotInTheFile(t *testing.T) {
	h := newHistory(t, Options{})
	ctx := context.Background()
	inFile := func(what []byte) (found []string) {
		for _, name := range []string{FileName, FileName + "-wal"} {
			data, err := os.ReadFile(filepath.Join(h.dir, name))
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			if bytes.Contains(data, what) {
				found = append(found, name)
			}
		}
		return found
	}
	rec := recording("rec_gone")
	rec.System = "a word that stands nowhere else"
	if err := h.Recordings().Create(ctx, rec); err != nil {
		t.Fatal(err)
	}
	// Large enough that SQLite spreads it over pages of its own.
	var events []human.RecordedEvent
	for seq := range uint64(5000) {
		events = append(events, human.RecordedEvent{Seq: seq + 1, Source: human.InputSource, Type: human.TextTyped, Text: fmt.Sprint("typed ", seq*7919)})
	}
	if err := h.Recordings().Append(ctx, rec, events); err != nil {
		t.Fatal(err)
	}
	var chunk []byte
	if err := h.reads.QueryRow(`SELECT events FROM recorded`).Scan(&chunk); err != nil {
		t.Fatal(err)
	}
	traces := [][]byte{[]byte(rec.System), chunk[len(chunk)/2 : len(chunk)/2+200]}
	for _, trace := range traces {
		if inFile(trace) == nil {
			t.Fatalf("%.40q is not in the file before", trace)
		}
	}
	if err := h.Recordings().Delete(ctx, rec.ID); err != nil {
		t.Fatal(err)
	}
	for _, trace := range traces {
		if found := inFile(trace); found != nil {
			t.Errorf("%.40q is still in %v", trace, found)
		}
	}
	if err := h.Recordings().Delete(ctx, rec.ID); human.KindOf(err) != human.NotFound {
		t.Errorf("deleted twice: %v", err)
	}
}

func TestADamagedChunkIsNamed(t *testing.T) {
	h := newHistory(t, Options{})
	ctx := context.Background()
	if err := h.Recordings().Create(ctx, recording("rec_1")); err != nil {
		t.Fatal(err)
	}
	if err := h.Recordings().Append(ctx, recording("rec_1"), clicks(1, 50)); err != nil {
		t.Fatal(err)
	}
	err := h.do(ctx, func(ctx context.Context, w *writer) error {
		_, err := w.conn.ExecContext(ctx, `UPDATE recorded SET events = CAST(substr(events, 1, 20) || x'ff' || substr(events, 22) AS BLOB)`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range h.Recordings().Events(ctx, "rec_1", 0) {
		if human.KindOf(err) != human.Internal {
			t.Fatalf("read %+v, %v from a damaged chunk", e, err)
		}
	}
}

func TestRecordingsKeepWhatTheyPromise(t *testing.T) {
	recordtest.Store(t, func(tb testing.TB, dir string) (record.Store, func() error) {
		s, err := Open(context.Background(), dir, Options{})
		if err != nil {
			tb.Fatal(err)
		}
		return s.Recordings(), s.Close
	})
}
