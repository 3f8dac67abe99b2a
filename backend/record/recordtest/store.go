package recordtest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

// A StoreOpener opens the store kept in dir, or fails the test. close gives the folder free to be opened again;
// the suite closes what it opened.
type StoreOpener func(tb testing.TB, dir string) (store record.Store, close func() error)

// Store puts a store through everything that record.Store promises.
func Store(t *testing.T, open StoreOpener) {
	for _, tt := range []struct {
		name string
		test func(*testing.T, *fixture)
	}{
		{"a recording reads back as it was created", createdReadsBack},
		{"an id is used once", createdOnce},
		{"every event reads back as it was appended, in order", eventsReadBack},
		{"a recording and its events outlive the store that was closed", outlives},
		{"the recording is stored with its events, and without any", headerIsStored},
		{"events that do not follow the last fail, all of them", gapsAreRefused},
		{"what there is not is not found", notFound},
		{"a context that has ended appends nothing", endedContext},
		{"reading begins where it should, and ends when it should", readingBounds},
		{"a reader beside a writer sees a prefix", readWhileAppending},
		{"many recordings at once", manyAtOnce},
		{"the list: newest first, of one operation, page by page", lists},
		{"running are those that run or are paused", running},
		{"events are counted by source", counts},
		{"edits go from version to version", edits},
		{"what is deleted is gone, and only that", deletes},
		{"what expires leaves a note, and of the whole nothing else", expires},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &fixture{t: t, dir: t.TempDir(), open: open}
			s.store, s.close = open(t, s.dir)
			defer func() {
				if err := s.close(); err != nil {
					t.Errorf("close: %v", err)
				}
			}()
			tt.test(t, s)
		})
	}
}

type fixture struct {
	t     *testing.T
	dir   string
	open  StoreOpener
	store record.Store
	close func() error
}

var begun = time.Date(2026, 11, 21, 5, 0, 0, 123456000, time.UTC)

func newRecording(n int) human.Recording {
	no := false
	return human.Recording{
		ID: human.RecordingID(fmt.Sprintf("rec_%03d", n)), OperationID: "op_1", By: "Ann", State: human.RecordingRuns,
		StartedAt: begun.Add(time.Duration(n) * time.Minute), System: "linux/x11",
		Screens: []human.Screen{{X: -1920, W: 1920, H: 1080, Scale: 1.5}}, Options: human.RecordingOptions{Folders: []string{"/tmp/ä b"}, Clipboard: "kind", Pictures: &no},
		Sources: []human.SourceState{{Source: human.InputSource, Status: "complete"}}, Gaps: []human.Gap{},
		MaxBytes: 1 << 40, MaxElapsed: int64(time.Hour),
	}
}

// everyField is an event in which nothing is zero.
func everyField(seq uint64) human.RecordedEvent {
	step := 0
	element := human.Element{Role: "textbox", Name: "Name <b>&\u2028", Bounds: human.Bounds{X: -3, Y: 4, W: 5, H: 6}, States: []string{"focused"}, Ancestry: []human.Element{{Role: "window", Name: "名"}}, Secret: true, Hidden: "secret"}
	return human.RecordedEvent{
		Seq: seq, At: int64(seq) * 1e15, Source: human.InputSource, Type: human.PointerDown, X: -1, Y: 2, Button: 3, DeltaX: 0.5, DeltaY: -1.25,
		Modifiers: []string{"ctrl", "shift"}, Key: "c", Repeat: true, Text: "ä\n\x01\"\\💡", Count: 7, Until: 8, App: &human.App{Name: "a", PID: 9, Exe: "a.exe"},
		Window: &human.Window{ID: "0x1", Title: "t", Bounds: human.Bounds{W: 1, H: 2}}, Element: &element, Picture: "ff", When: "before",
		File: &human.FileChange{Op: "renamed", Path: "/a", To: "/b", Dir: true, Size: 1 << 40}, ContentKind: "text", Step: &step, Done: true,
		Gap: &human.Gap{From: 1, To: 2, Source: human.ScreenSource, Reason: "lost", Count: 3}, Hidden: "secret", CausedBy: 4,
	}
}

func events(from, to uint64) (all []human.RecordedEvent) {
	for seq := from; seq <= to; seq++ {
		all = append(all, human.RecordedEvent{Seq: seq, At: int64(seq), Source: human.InputSource, Type: human.PointerMoved, X: int(seq)})
	}
	return all
}

func (s *fixture) create(n int) human.Recording {
	s.t.Helper()
	r := newRecording(n)
	if err := s.store.Create(context.Background(), r); err != nil {
		s.t.Fatalf("create %s: %v", r.ID, err)
	}
	return r
}

func (s *fixture) append(r human.Recording, events ...human.RecordedEvent) {
	s.t.Helper()
	if err := s.store.Append(context.Background(), r, events); err != nil {
		s.t.Fatalf("append to %s: %v", r.ID, err)
	}
}

func (s *fixture) reopen() {
	s.t.Helper()
	if err := s.close(); err != nil {
		s.t.Fatal(err)
	}
	s.store, s.close = s.open(s.t, s.dir)
}

func (s *fixture) recording(id human.RecordingID) human.Recording {
	s.t.Helper()
	r, err := s.store.Recording(context.Background(), id)
	if err != nil {
		s.t.Fatalf("recording %s: %v", id, err)
	}
	return r
}

func (s *fixture) events(id human.RecordingID, after uint64) (all []human.RecordedEvent) {
	s.t.Helper()
	for e, err := range s.store.Events(context.Background(), id, after) {
		if err != nil {
			s.t.Fatalf("events of %s: %v", id, err)
		}
		all = append(all, e)
	}
	return all
}

// same compares as a reader would see them.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	a, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if string(a) != string(b) {
		t.Errorf("%s:\n%s, want\n%s", what, a, b)
	}
}

func wants(t *testing.T, what string, err error, kind human.ErrorKind) {
	t.Helper()
	if err == nil || human.KindOf(err) != kind {
		t.Errorf("%s: error %v, want one of kind %d", what, err, kind)
	}
}

func createdReadsBack(t *testing.T, s *fixture) {
	r := s.create(1)
	same(t, "the recording", s.recording(r.ID), r)
	if all := s.events(r.ID, 0); len(all) > 0 {
		t.Errorf("a new recording has events: %+v", all)
	}
}

func createdOnce(t *testing.T, s *fixture) {
	r := s.create(1)
	other := r
	other.By = "Bob"
	wants(t, "a second of its id", s.store.Create(context.Background(), other), human.Conflict)
	same(t, "the first", s.recording(r.ID), r)
}

func eventsReadBack(t *testing.T, s *fixture) {
	r := s.create(1)
	want := []human.RecordedEvent{everyField(1), {Seq: 2, Source: human.RecorderSource, Type: human.RecordingHeld}, everyField(3)}
	s.append(r, want[:1]...)
	s.append(r, want[1:]...)
	same(t, "the events", s.events(r.ID, 0), want)
	many := events(4, 3003)
	s.append(r, many...)
	same(t, "many at once", s.events(r.ID, 3), many)
}

func outlives(t *testing.T, s *fixture) {
	r := s.create(1)
	s.append(r, everyField(1), everyField(2))
	r.Counts.Events, r.State = 2, human.RecordingPaused
	s.append(r, everyField(3))
	s.reopen()
	same(t, "the recording", s.recording(r.ID), r)
	same(t, "the events", s.events(r.ID, 0), []human.RecordedEvent{everyField(1), everyField(2), everyField(3)})
	s.append(r, everyField(4))
}

func headerIsStored(t *testing.T, s *fixture) {
	r := s.create(1)
	r.Counts = human.RecordingCounts{Events: 2, Clicks: 1, Lost: 3}
	r.Gaps = []human.Gap{{From: 1, To: 2, Reason: "paused"}}
	s.append(r, events(1, 2)...)
	same(t, "with events", s.recording(r.ID), r)
	ended := begun.Add(time.Hour)
	r.State, r.Reason, r.EndedAt, r.Complete = human.RecordingStopped, "operator", &ended, true
	s.append(r)
	same(t, "without", s.recording(r.ID), r)
	same(t, "the events", s.events(r.ID, 0), events(1, 2))
}

func gapsAreRefused(t *testing.T, s *fixture) {
	r := s.create(1)
	s.append(r, events(1, 3)...)
	changed := r
	changed.Reason = "operator"
	for what, bad := range map[string][]human.RecordedEvent{
		"a gap":           events(5, 6),
		"an event twice":  events(3, 4),
		"from the start":  events(1, 1),
		"without a seq":   {{Source: human.InputSource, Type: human.PointerMoved}},
		"a gap in itself": append(events(4, 5), events(7, 7)...),
		"backwards":       {{Seq: 5, Type: human.KeyDown}, {Seq: 4, Type: human.KeyDown}},
	} {
		wants(t, what, s.store.Append(context.Background(), changed, bad), human.Conflict)
	}
	same(t, "the events", s.events(r.ID, 0), events(1, 3))
	same(t, "the recording", s.recording(r.ID), r)
	s.append(r, events(4, 4)...)
}

func notFound(t *testing.T, s *fixture) {
	ctx := context.Background()
	s.create(1)
	const id = "rec_none"
	r := newRecording(2)
	r.ID = id
	wants(t, "append", s.store.Append(ctx, r, events(1, 1)), human.NotFound)
	wants(t, "append of none", s.store.Append(ctx, r, nil), human.NotFound)
	_, err := s.store.Recording(ctx, id)
	wants(t, "recording", err, human.NotFound)
	_, err = s.store.CountEvents(ctx, id)
	wants(t, "count", err, human.NotFound)
	_, err = s.store.Edits(ctx, id)
	wants(t, "edits", err, human.NotFound)
	_, err = s.store.SetEdits(ctx, id, human.Edits{})
	wants(t, "set edits", err, human.NotFound)
	wants(t, "delete", s.store.Delete(ctx, id), human.NotFound)
	wants(t, "expire", s.store.Expire(ctx, id, begun, true), human.NotFound)
	n := 0
	for _, err := range s.store.Events(ctx, id, 0) {
		wants(t, "events", err, human.NotFound)
		n++
	}
	if n != 1 {
		t.Errorf("events of none yield %d times, want an error once", n)
	}
}

func endedContext(t *testing.T, s *fixture) {
	r := s.create(1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.store.Append(ctx, r, events(1, 1)); err == nil {
		t.Error("it appends")
	}
	if all := s.events(r.ID, 0); len(all) > 0 {
		t.Errorf("it has appended %+v", all)
	}
	s.append(r, events(1, 1)...)
}

func readingBounds(t *testing.T, s *fixture) {
	r := s.create(1)
	for seq := uint64(1); seq < 100; seq += 10 {
		s.append(r, events(seq, seq+9)...)
	}
	for _, after := range []uint64{0, 1, 9, 10, 11, 55, 99, 100, 1000} {
		same(t, fmt.Sprint("after ", after), s.events(r.ID, after), events(after+1, 100))
	}
	var some []human.RecordedEvent
	for e, err := range s.store.Events(context.Background(), r.ID, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if some = append(some, e); len(some) == 15 {
			break
		}
	}
	same(t, "the first", some, events(1, 15))
	s.append(r, events(101, 101)...) // a reader that left holds nothing up
}

func readWhileAppending(t *testing.T, s *fixture) {
	r := s.create(1)
	var writer sync.WaitGroup
	writer.Go(func() {
		for seq := uint64(1); seq <= 1000; seq += 5 {
			if err := s.store.Append(context.Background(), r, events(seq, seq+4)); err != nil {
				t.Errorf("append: %v", err)
				return
			}
		}
	})
	for n := uint64(0); n < 1000 && !t.Failed(); {
		n = 0
		for e, err := range s.store.Events(context.Background(), r.ID, 0) {
			if n++; err != nil || e.Seq != n {
				t.Errorf("event %d stands where %d is due: %v", e.Seq, n, err)
				break
			}
		}
		if n%5 != 0 {
			t.Errorf("a part of an append is seen: %d events", n)
			break
		}
	}
	writer.Wait()
}

func manyAtOnce(t *testing.T, s *fixture) {
	var writers sync.WaitGroup
	for n := range 8 {
		writers.Go(func() {
			r := newRecording(n)
			if err := s.store.Create(context.Background(), r); err != nil {
				t.Error(err)
				return
			}
			for seq := uint64(1); seq < 100; seq += 3 {
				if err := s.store.Append(context.Background(), r, events(seq, seq+2)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	writers.Wait()
	for n := range 8 {
		same(t, "the events", s.events(newRecording(n).ID, 0), events(1, 99))
	}
}

func lists(t *testing.T, s *fixture) {
	ctx := context.Background()
	if page, err := s.store.Recordings(ctx, "", 10, ""); err != nil || len(page.Recordings) != 0 || page.Recordings == nil || page.Next != "" {
		t.Errorf("an empty list: %+v, %v", page, err)
	}
	for n := range 7 {
		r := newRecording(n)
		if n%2 == 1 {
			r.OperationID = "op_2"
		}
		if err := s.store.Create(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	read := func(op human.OperationID, limit int) (ids []human.RecordingID) {
		for cursor, pages := "", 0; ; pages++ {
			page, err := s.store.Recordings(ctx, op, limit, cursor)
			if err != nil || len(page.Recordings) > limit || pages > 7 {
				t.Fatalf("a page of %d from %q: %+v, %v", limit, cursor, page, err)
			}
			for _, r := range page.Recordings {
				ids = append(ids, r.ID)
			}
			if cursor = page.Next; cursor == "" {
				return ids
			}
		}
	}
	all := []human.RecordingID{"rec_006", "rec_005", "rec_004", "rec_003", "rec_002", "rec_001", "rec_000"}
	for _, limit := range []int{1, 2, 6, 7, 8} {
		if got := read("", limit); !slices.Equal(got, all) {
			t.Errorf("by %d: %v", limit, got)
		}
		if got := read("op_2", limit); !slices.Equal(got, []human.RecordingID{"rec_005", "rec_003", "rec_001"}) {
			t.Errorf("of one operation, by %d: %v", limit, got)
		}
	}
	if got := read("op_none", 3); len(got) > 0 {
		t.Errorf("of no operation: %v", got)
	}
	_, err := s.store.Recordings(ctx, "", 3, "no cursor")
	wants(t, "a cursor that was never given out", err, human.Invalid)
}

func running(t *testing.T, s *fixture) {
	for n, state := range []human.RecordingState{human.RecordingRuns, human.RecordingPaused, human.RecordingStopped, human.RecordingInterrupted} {
		r := s.create(n)
		r.State = state
		s.append(r)
	}
	s.reopen()
	all, err := s.store.Running(context.Background())
	var ids []human.RecordingID
	for _, r := range all {
		ids = append(ids, r.ID)
	}
	slices.Sort(ids)
	if err != nil || !slices.Equal(ids, []human.RecordingID{"rec_000", "rec_001"}) {
		t.Errorf("running: %v, %v", ids, err)
	}
}

func counts(t *testing.T, s *fixture) {
	r, other := s.create(1), s.create(2)
	if got, err := s.store.CountEvents(context.Background(), r.ID); err != nil || len(got) > 0 {
		t.Errorf("of none: %v, %v", got, err)
	}
	s.append(r, events(1, 5)...)
	s.append(r, human.RecordedEvent{Seq: 6, Source: human.RecorderSource, Type: human.RecordingHeld}, events(7, 7)[0])
	s.append(other, events(1, 9)...)
	got, err := s.store.CountEvents(context.Background(), r.ID)
	if err != nil || len(got) != 2 || got[human.InputSource] != 6 || got[human.RecorderSource] != 1 {
		t.Errorf("counted %v, %v", got, err)
	}
}

func edits(t *testing.T, s *fixture) {
	ctx := context.Background()
	r, other := s.create(1), s.create(2)
	none, err := s.store.Edits(ctx, r.ID)
	if err != nil || none.Version != 0 || len(none.Cuts)+len(none.MaskedTexts)+len(none.Masks)+len(none.Words) > 0 || len(none.PicturesOf) > 0 || none.ShareText || none.SharePictures {
		t.Errorf("none: %+v, %v", none, err)
	}
	want := human.Edits{
		Cuts: []string{"a1"}, MaskedTexts: []string{"a2", "a3"}, Masks: []human.Mask{{Picture: "ff", X: 1, Y: 2, W: 3, H: 4}, {W: 5, H: 6}},
		Words: map[string]string{"a4": "Öffne „<es>“"}, ShareText: true, SharePictures: true, PicturesOf: []string{"a2"},
	}
	got, err := s.store.SetEdits(ctx, r.ID, want)
	if want.Version = 1; err != nil {
		t.Fatal(err)
	}
	same(t, "as returned", got, want)
	stale := human.Edits{Cuts: []string{"a9"}, MaskedTexts: []string{}, Masks: []human.Mask{}}
	_, err = s.store.SetEdits(ctx, r.ID, stale)
	wants(t, "edits of an older version", err, human.Conflict)
	stale.Version = 5
	_, err = s.store.SetEdits(ctx, r.ID, stale)
	wants(t, "edits of a version there is not", err, human.Conflict)
	s.append(r, events(1, 1)...) // leaves the edits as they are
	s.reopen()
	if got, err = s.store.Edits(ctx, r.ID); err != nil {
		t.Fatal(err)
	}
	same(t, "as stored", got, want)
	if got, err = s.store.Edits(ctx, other.ID); err != nil || got.Version != 0 {
		t.Errorf("another's: %+v, %v", got, err)
	}
	won := make(chan bool, 8)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			_, err := s.store.SetEdits(ctx, r.ID, want)
			won <- err == nil
		})
	}
	all.Wait()
	close(won)
	winners := 0
	for w := range won {
		if w {
			winners++
		}
	}
	if winners != 1 {
		t.Errorf("%d of 8 at once were stored, want 1", winners)
	}
}

func deletes(t *testing.T, s *fixture) {
	ctx := context.Background()
	r, other := s.create(1), s.create(2)
	s.append(r, events(1, 2000)...)
	s.append(other, events(1, 3)...)
	if _, err := s.store.SetEdits(ctx, r.ID, human.Edits{ShareText: true}); err != nil {
		t.Fatal(err)
	}
	if err := s.store.Delete(ctx, r.ID); err != nil {
		t.Fatal(err)
	}
	_, err := s.store.Recording(ctx, r.ID)
	wants(t, "a deleted recording", err, human.NotFound)
	wants(t, "deleting it again", s.store.Delete(ctx, r.ID), human.NotFound)
	wants(t, "appending to it", s.store.Append(ctx, r, events(2001, 2001)), human.NotFound)
	if page, err := s.store.Recordings(ctx, "", 10, ""); err != nil || len(page.Recordings) != 1 || page.Recordings[0].ID != other.ID {
		t.Errorf("the list: %+v, %v", page, err)
	}
	same(t, "another's events", s.events(other.ID, 0), events(1, 3))
	s.reopen()
	_, err = s.store.Recording(ctx, r.ID)
	wants(t, "after a restart", err, human.NotFound)
}

func expires(t *testing.T, s *fixture) {
	ctx := context.Background()
	r, other := s.create(1), s.create(2)
	s.append(r, events(1, 2000)...)
	s.append(other, events(1, 3)...)
	wants(t, "expiring one that runs", s.store.Expire(ctx, r.ID, begun, true), human.Conflict)
	r.State = human.RecordingStopped
	s.append(r)
	if _, err := s.store.SetEdits(ctx, r.ID, human.Edits{ShareText: true}); err != nil {
		t.Fatal(err)
	}
	bytes, err := s.store.EventBytes(ctx)
	if err != nil || bytes[r.ID] <= bytes[other.ID] || bytes[other.ID] == 0 {
		t.Errorf("the events have %v bytes: %v", bytes, err)
	}
	first, later := begun.Add(time.Hour), begun.Add(2*time.Hour)
	expire := func(at time.Time, whole bool) human.Recording {
		t.Helper()
		if err := s.store.Expire(ctx, r.ID, at, whole); err != nil {
			t.Fatal(err)
		}
		got, err := s.store.Recording(ctx, r.ID)
		if err != nil || got.PicturesRemoved == nil || !got.PicturesRemoved.Equal(first) {
			t.Fatalf("its pictures were removed at %v: %v", got.PicturesRemoved, err)
		}
		return got
	}
	if got := expire(first, false); got.Removed != nil {
		t.Errorf("it was removed at %v", got.Removed)
	}
	same(t, "without its pictures", s.events(r.ID, 0), events(1, 2000))
	for _, at := range []time.Time{later, later.Add(time.Hour)} {
		if got := expire(at, true); got.Removed == nil || !got.Removed.Equal(later) || got.OperationID != r.OperationID {
			t.Errorf("expired it is %+v", got)
		}
	}
	s.reopen()
	if all := s.events(r.ID, 0); len(all) > 0 {
		t.Errorf("%d events are left", len(all))
	}
	if e, err := s.store.Edits(ctx, r.ID); err != nil || e.Version != 0 || e.ShareText {
		t.Errorf("edits are left: %+v, %v", e, err)
	}
	same(t, "another's events", s.events(other.ID, 0), events(1, 3))
	if bytes, err := s.store.EventBytes(ctx); err != nil || bytes[r.ID] != 0 || bytes[other.ID] == 0 {
		t.Errorf("afterwards the events have %v bytes: %v", bytes, err)
	}
}
