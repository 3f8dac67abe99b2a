package retention_test

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
	"deskbell/backend/record/retention"
)

// A fixture is a world of recordings, files and operations in memory. What may be removed is decided here; that it is removed in
// one piece is tested with the real stores, in package app.
type fixture struct {
	record.Store
	recordings []human.Recording
	events     map[human.RecordingID]int64
	pictures   map[human.RecordingID]int64
	files      []retention.File
	young      map[human.AttachmentID]bool
	ops        map[human.OperationID]human.Operation
	rules      retention.Rules
	fail       error
	scrubs     bool // words may be in files
	forgot     int
}

const day = 24 * time.Hour

var now = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

func (f *fixture) Recordings(context.Context, human.OperationID, int, string) (record.RecordingPage, error) {
	return record.RecordingPage{Recordings: slices.Clone(f.recordings)}, nil
}

func (f *fixture) EventBytes(context.Context) (map[human.RecordingID]int64, error) {
	return f.events, nil
}

func (f *fixture) Bytes(id human.RecordingID) (int64, error) { return f.pictures[id], nil }

func (f *fixture) Held(context.Context) ([]retention.File, error) { return slices.Clone(f.files), nil }

func (f *fixture) Get(_ context.Context, _ human.Actor, id human.OperationID) (human.Operation, error) {
	op, is := f.ops[id]
	if !is {
		return op, human.Errorf(human.NotFound, "no operation %s", id)
	}
	return op, nil
}

// Expire stops where a test wants it to: after the note.
func (f *fixture) Expire(_ context.Context, id human.RecordingID, at time.Time, whole bool) error {
	i := slices.IndexFunc(f.recordings, func(r human.Recording) bool { return r.ID == id })
	r := &f.recordings[i]
	r.PicturesRemoved = &at
	if whole {
		r.Removed = &at
		delete(f.events, id)
	}
	if f.fail != nil {
		return f.fail
	}
	delete(f.pictures, id)
	return nil
}

func (f *fixture) Remove(ctx context.Context, id human.AttachmentID, _ time.Time, may func(context.Context, []human.OperationID) (bool, error)) (bool, error) {
	file := &f.files[slices.IndexFunc(f.files, func(file retention.File) bool { return file.ID == id })]
	if !file.Removed {
		if ok, err := may(ctx, file.Operations); err != nil || !ok || f.young[id] {
			return false, err
		}
	}
	file.Removed = true
	if f.fail != nil {
		return false, f.fail
	}
	file.Bytes = 0
	return true, nil
}

func (f *fixture) Unchanged(_ context.Context, since time.Time, each func(human.Operation, int64) error) error {
	ops := slices.SortedFunc(maps.Values(f.ops), func(a, b human.Operation) int { return a.UpdatedAt.Compare(b.UpdatedAt) })
	for _, op := range ops {
		if op.State.Terminal() && op.UpdatedAt.Before(since) {
			if err := each(op, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *fixture) RemoveRequests(_ context.Context, ids []human.OperationID, _, _ time.Time) ([]human.OperationID, error) {
	for _, id := range ids {
		delete(f.ops, id)
		f.recordings = slices.DeleteFunc(f.recordings, func(r human.Recording) bool { return r.OperationID == id })
	}
	f.scrubs = true
	return ids, nil
}

func (f *fixture) Scrub(ctx context.Context, others func(context.Context, func(human.OperationID) (bool, error)) error) error {
	if !f.scrubs {
		return nil
	}
	f.scrubs = f.fail != nil
	return cmp.Or(f.fail, others(ctx, func(human.OperationID) (bool, error) { return true, nil }))
}

func (f *fixture) Erase(context.Context, human.RecordingID) error { return nil }

func (f *fixture) DeletedRecordings(context.Context) ([]human.RecordingID, error) { return nil, nil }

func (f *fixture) DeleteRequests(_ context.Context, _ human.Actor, ids []human.OperationID, _ time.Time) error {
	for _, id := range ids {
		delete(f.ops, id)
	}
	f.scrubs = true
	return nil
}

func (f *fixture) Forget(context.Context, func(human.OperationID) (bool, error)) error {
	f.forgot++
	return nil
}

func (f *fixture) service() *retention.Service {
	return retention.New(retention.Deps{
		Store: f, Sizes: f, Library: f, Files: f, Operations: f, Requests: f, Finished: f, Rules: func() retention.Rules { return f.rules }, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
	})
}

// world has operations that ended 40, 20 and 2 days ago and an hour ago, and an open one, each with a recording (10 of pictures, 5
// of events) and a file (3) of its own.
func world() *fixture {
	f := &fixture{events: map[human.RecordingID]int64{}, pictures: map[human.RecordingID]int64{}, young: map[human.AttachmentID]bool{}, ops: map[human.OperationID]human.Operation{}}
	for name, age := range map[string]time.Duration{"40": 40 * day, "20": 20 * day, "2": 2 * day, "hour": time.Hour, "open": -1} {
		op := human.Operation{ID: human.OperationID("op_" + name), State: human.Pending}
		if age > 0 {
			op.State, op.Ended, op.UpdatedAt = human.Declined, &human.Ending{At: now.Add(-age)}, now.Add(-age)
		}
		f.ops[op.ID] = op
		id := human.RecordingID("rec_" + name)
		f.recordings = append(f.recordings, human.Recording{ID: id, OperationID: op.ID, State: human.RecordingStopped})
		f.pictures[id], f.events[id] = 10, 5
		f.files = append(f.files, retention.File{ID: human.AttachmentID("att_" + name), Bytes: 3, Operations: []human.OperationID{op.ID}})
	}
	slices.SortFunc(f.recordings, func(a, b human.Recording) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return f
}

// said is what is removed, in order.
func said(r retention.Removal) string {
	var all []string
	for _, i := range r.Items {
		name := string(i.Recording)
		if i.File != "" {
			name = string(i.File)
		}
		if i.What == retention.Request {
			name = string(i.Operation)
		}
		all = append(all, i.What+" "+name+" "+i.Why)
	}
	return strings.Join(all, ", ")
}

func TestWhatIsRemoved(t *testing.T) {
	for name, tt := range map[string]struct {
		rules  retention.Rules
		change func(*fixture)
		want   string
		bytes  int64
	}{
		"nothing, where it is off": {},
		"pictures and files by age": {rules: retention.Rules{Pictures: 10 * day},
			want: "attachment att_40 age, pictures rec_40 age, attachment att_20 age, pictures rec_20 age", bytes: 26},
		"recordings by a longer age": {rules: retention.Rules{Pictures: 10 * day, Recordings: 30 * day},
			want: "attachment att_40 age, recording rec_40 age, attachment att_20 age, pictures rec_20 age", bytes: 31},
		"recordings alone": {rules: retention.Rules{Recordings: 30 * day}, want: "recording rec_40 age", bytes: 15},
		"by size pictures before words, the oldest first": {rules: retention.Rules{Bytes: 75},
			want: "attachment att_40 size, pictures rec_40 size, attachment att_20 size", bytes: 16},
		"by size at last the words, and nothing that ended today": {rules: retention.Rules{Bytes: 1},
			want: "attachment att_40 size, recording rec_40 size, attachment att_20 size, recording rec_20 size, attachment att_2 size, recording rec_2 size", bytes: 54},
		"only as much as it takes, after what is too old": {rules: retention.Rules{Recordings: 30 * day, Bytes: 72},
			want: "attachment att_40 size, recording rec_40 age", bytes: 18},
		"not of a plan that still runs": {rules: retention.Rules{Pictures: day}, change: func(f *fixture) {
			for _, id := range []human.OperationID{"op_40", "op_20"} {
				op := f.ops[id]
				op.State, op.Ended, op.Result = human.Completed, nil, &human.Result{At: now.Add(-40 * day)}
				op.Run = &human.PlanRun{State: human.RunRunning}
				if id == "op_20" {
					op.Run = nil
					op.PartOf = "op_40"
				}
				f.ops[id] = op
			}
		}, want: "attachment att_2 age, pictures rec_2 age", bytes: 13},
		"not a file that an open operation names, too": {rules: retention.Rules{Pictures: 30 * day}, change: func(f *fixture) {
			for i := range f.files {
				f.files[i].Operations = append(f.files[i].Operations, "op_open")
			}
		}, want: "pictures rec_40 age", bytes: 10},
		"what is gone already counts no more, and what runs stays": {rules: retention.Rules{Pictures: day, Recordings: day}, change: func(f *fixture) {
			for i := range f.recordings {
				switch f.recordings[i].ID {
				case "rec_40":
					f.recordings[i].PicturesRemoved, f.recordings[i].Removed = &now, &now
					delete(f.pictures, "rec_40")
					delete(f.events, "rec_40")
				case "rec_20":
					f.recordings[i].State = human.RecordingRuns
				}
			}
			f.files = nil
		}, want: "recording rec_2 age", bytes: 15},
		"a recording of no operation by its own age": {rules: retention.Rules{Pictures: day}, change: func(f *fixture) {
			clear(f.ops)
			for i := range f.recordings {
				f.recordings[i].StartedAt = now
			}
			f.recordings[0].StartedAt = now.Add(-2 * day)
		}, want: "pictures rec_2 age", bytes: 10},
		"requests at last, without recording and file": {rules: retention.Rules{Pictures: 10 * day, Recordings: 30 * day, Requests: 15 * day},
			want: "attachment att_40 age, recording rec_40 age, attachment att_20 age, pictures rec_20 age, request op_40 age", bytes: 31},
		"no request that keeps its recording or file": {rules: retention.Rules{Requests: day}},
		"requests alone, where there is nothing else": {rules: retention.Rules{Requests: day}, change: func(f *fixture) { f.recordings, f.files = nil, nil },
			want: "request op_40 age, request op_20 age, request op_2 age"},
		"no request by its size, nor one that was commented on": {rules: retention.Rules{Requests: 10 * day, Bytes: 1}, change: func(f *fixture) {
			f.recordings, f.files = nil, nil
			op := f.ops["op_40"]
			op.UpdatedAt = now.Add(-day)
			f.ops["op_40"] = op
		}, want: "request op_20 age"},
		"no request whose plan still runs": {rules: retention.Rules{Requests: day}, change: func(f *fixture) {
			f.recordings, f.files = nil, nil
			for _, id := range []human.OperationID{"op_40", "op_20"} {
				op := f.ops[id]
				op.State, op.Ended, op.Result = human.Completed, nil, &human.Result{At: now.Add(-40 * day)}
				op.Run = &human.PlanRun{State: human.RunRunning}
				if id == "op_20" {
					op.Run = nil
					op.PartOf = "op_40"
				}
				f.ops[id] = op
			}
		}, want: "request op_2 age"},
	} {
		t.Run(name, func(t *testing.T) {
			f := world()
			f.rules = tt.rules
			if tt.change != nil {
				tt.change(f)
			}
			s := f.service()
			plan, err := s.Preview(t.Context())
			if err != nil || said(plan) != tt.want || plan.Removed != tt.bytes || plan.Off != tt.rules.Off() {
				t.Fatalf("it would remove %q, %d bytes (%v), want %q, %d", said(plan), plan.Removed, err, tt.want, tt.bytes)
			}
			done, err := s.Remove(t.Context())
			if err != nil || said(done) != tt.want || done.Removed != tt.bytes {
				t.Errorf("it removed %q, %d bytes: %v", said(done), done.Removed, err)
			}
			if f.scrubs || (f.forgot > 0) != (done.Requests.Count > 0) {
				t.Errorf("scrubbed: %v, %d times", f.scrubs, f.forgot)
			}
			if again, err := s.Preview(t.Context()); err != nil || len(again.Items) > 0 || again.Bytes != plan.Bytes-plan.Removed {
				t.Errorf("afterwards it would remove %q of %d bytes: %v", said(again), again.Bytes, err)
			}
		})
	}
}

// A run that ends in between, after the note, is finished by the next, also where retention is off by then.
func TestWhatWasCutShortIsFinished(t *testing.T) {
	f := world()
	f.rules, f.fail = retention.Rules{Pictures: 30 * day, Recordings: 30 * day}, errors.New("killed")
	s := f.service()
	for range 2 { // the file, and then the recording
		if _, err := s.Remove(t.Context()); !errors.Is(err, f.fail) {
			t.Fatalf("it ended with %v", err)
		}
		f.fail = nil
		if _, err := s.Remove(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.fail = errors.New("killed again")
		f.files = slices.DeleteFunc(f.files, func(file retention.File) bool { return file.ID == "att_40" })
		f.rules.Pictures, f.rules.Recordings = 10*day, 0
	}
	f.fail, f.rules = nil, retention.Rules{}
	if done, err := s.Remove(t.Context()); err != nil || len(done.Items) > 0 {
		t.Fatalf("%+v, %v", done, err)
	}
	for _, file := range f.files {
		if file.Removed && file.Bytes > 0 {
			t.Errorf("%s is removed, and has %d bytes", file.ID, file.Bytes)
		}
	}
	for _, r := range f.recordings {
		if r.PicturesRemoved != nil && f.pictures[r.ID] > 0 {
			t.Errorf("the pictures of %s are removed, and have %d bytes", r.ID, f.pictures[r.ID])
		}
	}
}

// Words that were removed and may still be in files are looked for again, also where retention is off by then.
func TestScrubbingIsFinished(t *testing.T) {
	f := world()
	f.rules, f.recordings, f.files = retention.Rules{Requests: day}, nil, nil
	s := f.service()
	f.fail = errors.New("killed")
	if done, err := s.Remove(t.Context()); !errors.Is(err, f.fail) || done.Requests.Count != 3 {
		t.Fatalf("%+v, %v", done, err)
	}
	f.fail, f.rules = nil, retention.Rules{}
	if _, err := s.Remove(t.Context()); err != nil || f.scrubs {
		t.Errorf("still to be scrubbed: %v, %v", f.scrubs, err)
	}
}

// Run removes when it begins, and a day later what has become old by then.
func TestItRunsOnceADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := world()
		f.rules = retention.Rules{Pictures: 30 * day}
		began := time.Now()
		var mu sync.Mutex // a run begins with the rules: what is looked at here comes before it
		s := retention.New(retention.Deps{
			Store: f, Sizes: f, Library: f, Files: f, Operations: f, Requests: f, Finished: f,
			Rules: func() retention.Rules {
				mu.Lock()
				defer mu.Unlock()
				return f.rules
			},
			Now: func() time.Time { return now.Add(time.Since(began)) }, Log: slog.New(slog.DiscardHandler),
		})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		synctest.Wait()
		if f.pictures["rec_40"] != 0 || f.pictures["rec_20"] == 0 {
			t.Errorf("at the start: %v", f.pictures)
		}
		mu.Lock()
		f.rules.Pictures = 20*day + 12*time.Hour
		mu.Unlock()
		<-time.After(23 * time.Hour)
		synctest.Wait()
		mu.Lock()
		if f.pictures["rec_20"] == 0 {
			t.Error("it removed before a day was over")
		}
		mu.Unlock()
		<-time.After(2 * time.Hour)
		synctest.Wait()
		if f.pictures["rec_20"] != 0 || f.pictures["rec_2"] == 0 {
			t.Errorf("a day later: %v", f.pictures)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
