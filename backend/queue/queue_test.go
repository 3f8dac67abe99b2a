package queue_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/queue/journaltest"
	"deskbell/backend/store/sqlite"
)

var (
	bot   = human.Actor{Role: human.Agent, Name: "release-bot"}
	other = human.Actor{Role: human.Agent, Name: "migrator"}
	mei   = human.Actor{Role: human.Operator, Name: "Mei"}
	tom   = human.Actor{Role: human.Operator, Name: "Tom"}
)

// open makes a running queue over a real SQLite file, stopped when the test ends.
func open(t testing.TB, dir string, opts queue.Options) (*queue.Queue, *sqlite.Store) {
	t.Helper()
	ctx := context.Background()
	store, err := sqlite.Open(ctx, dir, sqlite.Options{Key: journaltest.Key})
	if err != nil {
		t.Fatal(err)
	}
	q := queue.New(store, store, opts)
	if err := q.Load(ctx); err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { _ = q.Run(running) })
	t.Cleanup(func() {
		stop()
		wg.Wait()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return q, store
}

func request(by human.Actor, description string) human.Request {
	return human.Request{Kind: human.Feedback, Description: description, AgentID: by.Name, Priority: human.DefaultPriority, Timeout: 300}
}

func ring(t testing.TB, q *queue.Queue, r human.Request) human.Operation {
	t.Helper()
	op, created, err := q.Ring(t.Context(), r, false)
	if err != nil || !created {
		t.Fatalf("ring: created %t, %v", created, err)
	}
	return op
}

func wantKind(t testing.TB, err error, want human.ErrorKind) {
	t.Helper()
	if err == nil || human.KindOf(err) != want {
		t.Errorf("error %v, want kind %d", err, want)
	}
}

func TestRingAnswerWait(t *testing.T) {
	q, _ := open(t, t.TempDir(), queue.Options{})
	op := ring(t, q, request(bot, "Which tone?"))
	if op.State != human.Pending || op.Version != 1 || !strings.HasPrefix(string(op.ID), "op_") {
		t.Fatalf("rung: %+v", op)
	}
	answered := make(chan human.Operation)
	go func() {
		got, err := q.WaitFor(t.Context(), bot, op.ID, func(o human.Operation) bool { return o.State == human.Completed })
		if err != nil {
			t.Error(err)
		}
		answered <- got
	}()
	if _, err := q.Complete(t.Context(), mei, op.ID, human.Answer{HumanInput: "Plain", KeyFindings: []string{"short"}}, op.Digest); err != nil {
		t.Fatal(err)
	}
	got := <-answered
	if got.Result == nil || got.Result.HumanInput != "Plain" || got.Result.By != mei || got.Result.Summary != "Plain: 1 key finding" {
		t.Errorf("the agent read %+v", got.Result)
	}
	summary, err := q.Summary(t.Context(), bot, queue.SummaryQuery{})
	if err != nil || !strings.Contains(summary.Text, "Said: Plain") || len(summary.Operations) != 1 {
		t.Errorf("summary (H4) %q, %v", summary.Text, err)
	}
	if theirs, err := q.Summary(t.Context(), other, queue.SummaryQuery{}); err != nil || len(theirs.Operations) != 0 {
		t.Errorf("another agent's summary has %d operations, %v", len(theirs.Operations), err)
	}
}

func TestBadRingsAreRefusedByField(t *testing.T) {
	q, _ := open(t, t.TempDir(), queue.Options{MaxDetails: 100})
	for field, change := range map[string]func(*human.Request){
		"action_type": func(r *human.Request) { r.Kind = "dance" },
		"description": func(r *human.Request) { r.Description = " \n" },
		"details":     func(r *human.Request) { r.Details = json.RawMessage(`{"a":"` + strings.Repeat("x", 200) + `"}`) },
		"context":     func(r *human.Request) { r.Context = json.RawMessage(`[1]`) },
		"priority":    func(r *human.Request) { r.Priority = 10 },
		"timeout":     func(r *human.Request) { r.Timeout = -1 },
		"on_timeout":  func(r *human.Request) { r.OnTimeout = "explode" },
		"session_id":  func(r *human.Request) { r.SessionID = "\xff" },
	} {
		r := request(bot, "ok?")
		change(&r)
		_, _, err := q.Ring(t.Context(), r, false)
		wantKind(t, err, human.Invalid)
		if e, ok := err.(*human.Error); !ok || e.Field != field {
			t.Errorf("%s: %v names another field", field, err)
		}
	}
	r := request(bot, strings.Repeat("x", queue.DefaultMaxDescription+1))
	_, _, err := q.Ring(t.Context(), r, false)
	if err == nil || !strings.Contains(err.Error(), "16385 bytes, the limit is 16384") {
		t.Errorf("too long a description: %v", err)
	}
	if n := q.Pending(); n != 0 {
		t.Errorf("%d operations after bad rings only", n)
	}
}

func TestMaxPendingIsPerAgent(t *testing.T) {
	q, _ := open(t, t.TempDir(), queue.Options{MaxPending: 2})
	first := ring(t, q, request(bot, "1"))
	ring(t, q, request(bot, "2"))
	_, _, err := q.Ring(t.Context(), request(bot, "3"), false)
	wantKind(t, err, human.Exhausted)
	if err == nil || !strings.Contains(err.Error(), "2 of your requests wait") {
		t.Errorf("the refusal does not say how many wait: %v", err)
	}
	ring(t, q, request(other, "1"))
	if _, err := q.Cancel(t.Context(), bot, first.ID, "no longer"); err != nil {
		t.Fatal(err)
	}
	ring(t, q, request(bot, "3"))
}

func TestIdempotencyKeys(t *testing.T) {
	q, _ := open(t, t.TempDir(), queue.Options{MaxPending: 100})
	r := request(bot, "once")
	r.IdempotencyKey = "k1"
	ids := make([]human.OperationID, 16)
	made := make([]bool, len(ids))
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			op, created, err := q.Ring(t.Context(), r, false)
			if err != nil {
				t.Error(err)
			}
			ids[i], made[i] = op.ID, created
		})
	}
	wg.Wait()
	if slices.Sort(ids); ids[0] != ids[len(ids)-1] {
		t.Errorf("one key made several operations: %v", ids)
	}
	if n := len(slices.DeleteFunc(made, func(b bool) bool { return !b })); n != 1 {
		t.Errorf("%d rings say that they made it", n)
	}
	changed := r
	changed.Description = "something else"
	_, _, err := q.Ring(t.Context(), changed, false)
	wantKind(t, err, human.Conflict)
	elsewhere := r
	elsewhere.SessionID = "after a reconnect"
	if op, created, err := q.Ring(t.Context(), elsewhere, false); err != nil || created || op.ID != ids[0] {
		t.Errorf("the same key from another session: %s, created %t, %v", op.ID, created, err)
	}
	theirs := request(other, "once")
	theirs.IdempotencyKey = "k1"
	if op, created, err := q.Ring(t.Context(), theirs, false); err != nil || !created || op.ID == ids[0] {
		t.Errorf("another agent's same key: %s, created %t, %v", op.ID, created, err)
	}
}

func TestTheSameWordsAttachUntilDelivered(t *testing.T) {
	q, _ := open(t, t.TempDir(), queue.Options{})
	r := request(bot, "deploy?")
	r.SessionID = "s1"
	first := ring(t, q, r)
	again, created, err := q.Ring(t.Context(), r, true)
	if err != nil || created || again.ID != first.ID {
		t.Fatalf("asked again: %s, created %t, %v", again.ID, created, err)
	}
	elsewhere := r
	elsewhere.SessionID = "s2"
	if op, created, err := q.Ring(t.Context(), elsewhere, true); err != nil || !created || op.ID == first.ID {
		t.Errorf("another session attached: %v", err)
	}
	meant := r
	meant.SessionID = "s3"
	for _, key := range []string{"k1", "k2"} {
		meant.IdempotencyKey = key
		if _, created, err := q.Ring(t.Context(), meant, true); err != nil || !created {
			t.Errorf("key %s: created %t, %v; another key means another ring", key, created, err)
		}
	}
	meant.IdempotencyKey = ""
	if _, created, err := q.Ring(t.Context(), meant, true); err != nil || created {
		t.Errorf("the same words without a key rang again: %v", err)
	}
	if _, err := q.Complete(t.Context(), mei, first.ID, human.Answer{HumanInput: "yes"}, ""); err != nil {
		t.Fatal(err)
	}
	again, created, err = q.Ring(t.Context(), r, true)
	if err != nil || created || again.ID != first.ID || again.State != human.Completed {
		t.Errorf("an undelivered answer was not attached to: %+v, %v", again.State, err)
	}
	if err := q.MarkDelivered(t.Context(), bot, first.ID); err != nil {
		t.Fatal(err)
	}
	if op, created, err := q.Ring(t.Context(), r, true); err != nil || !created || op.ID == first.ID {
		t.Errorf("a delivered answer was given again: created %t, %v", created, err)
	}
}

func TestRolesAreApart(t *testing.T) {
	q, _ := open(t, t.TempDir(), queue.Options{})
	ctx := t.Context()
	op := ring(t, q, request(bot, "mine"))
	for name, try := range map[string]func() error{
		"complete": func() error { _, err := q.Complete(ctx, bot, op.ID, human.Answer{HumanInput: "yes"}, ""); return err },
		"claim":    func() error { _, err := q.Claim(ctx, bot, op.ID); return err },
		"release":  func() error { _, err := q.Release(ctx, bot, op.ID, ""); return err },
		"decline":  func() error { _, err := q.Decline(ctx, bot, op.ID, "no"); return err },
		"input":    func() error { _, err := q.SaveInput(ctx, bot, op.ID, &human.Answer{}); return err },
		"snooze":   func() error { _, err := q.Snooze(ctx, bot, op.ID, nil); return err },
		"seen":     func() error { _, err := q.Seen(ctx, bot, op.ID, "card"); return err },
	} {
		t.Run("an agent cannot "+name, func(t *testing.T) { wantKind(t, try(), human.Denied) })
	}
	for name, try := range map[string]func() error{
		"get":     func() error { _, err := q.Get(ctx, other, op.ID); return err },
		"wait":    func() error { _, err := q.Wait(ctx, other, op.ID, 0); return err },
		"reply":   func() error { _, err := q.Reply(ctx, other, op.ID, "hi"); return err },
		"cancel":  func() error { _, err := q.Cancel(ctx, other, op.ID, ""); return err },
		"history": func() error { _, err := q.History(ctx, other, op.ID); return err },
	} {
		t.Run("another agent cannot "+name, func(t *testing.T) { wantKind(t, try(), human.NotFound) })
	}
	_, err := q.Cancel(ctx, mei, op.ID, "")
	wantKind(t, err, human.Denied)
	if now, _ := q.Get(ctx, mei, op.ID); now.Version != 1 {
		t.Errorf("refused commands changed it to version %d", now.Version)
	}
	if p := q.PresenceOf(op.ID); p.Waiting {
		t.Error("another agent's try counts as its agent waiting")
	}
}

func TestApprovals(t *testing.T) {
	q, _ := open(t, t.TempDir(), queue.Options{})
	r := request(bot, "deploy?")
	r.Kind, r.Details = human.Approve, json.RawMessage(`{"action":"make deploy"}`)
	op := ring(t, q, r)
	_, err := q.Complete(t.Context(), mei, op.ID, human.Answer{HumanInput: "fine"}, "")
	wantKind(t, err, human.Invalid)
	_, err = q.Complete(t.Context(), mei, op.ID, human.Answer{Decision: human.Approved}, strings.Repeat("0", 64))
	wantKind(t, err, human.Conflict)
	done, err := q.Complete(t.Context(), mei, op.ID, human.Answer{Decision: human.Approved}, op.Digest)
	if err != nil || done.Result.Digest != op.Digest {
		t.Errorf("approved: %+v, %v", done.Result, err)
	}
	_, err = q.Complete(t.Context(), tom, op.ID, human.Answer{Decision: human.Refused}, op.Digest)
	wantKind(t, err, human.Conflict)
	if err == nil || !strings.Contains(err.Error(), "completed by Mei") {
		t.Errorf("the loser is not told who decided: %v", err)
	}
}

func TestRecordingsAreTheClaimersToBegin(t *testing.T) {
	q, _ := open(t, t.TempDir(), queue.Options{})
	ctx := t.Context()
	op := ring(t, q, request(bot, "show me how"))
	began := func(by human.Actor, want human.ErrorKind) {
		t.Helper()
		_, err := q.RecordingBegan(ctx, by, op.ID, "rec_1")
		wantKind(t, err, want)
	}
	began(mei, human.Conflict) // not claimed
	claim := func(by human.Actor, id human.OperationID) {
		t.Helper()
		if _, err := q.Claim(ctx, by, id); err != nil {
			t.Fatal(err)
		}
	}
	claim(mei, op.ID)
	began(tom, human.Conflict)
	began(bot, human.Denied)
	if now, _ := q.Get(ctx, mei, op.ID); now.Version != 2 || len(now.Recordings) != 0 {
		t.Errorf("refused recordings changed it to version %d, with %v", now.Version, now.Recordings)
	}
	now, err := q.RecordingBegan(ctx, mei, op.ID, "rec_1")
	if err != nil || now.State != human.InProgress || now.Version != 3 || !slices.Equal(now.Recordings, []human.RecordingID{"rec_1"}) {
		t.Errorf("recording began: %s, version %d, %v, %v", now.State, now.Version, now.Recordings, err)
	}
	if _, err := q.Complete(ctx, mei, op.ID, human.Answer{HumanInput: "done"}, ""); err != nil {
		t.Fatal(err)
	}
	began(mei, human.Conflict) // ended
	_, err = q.RecordingBegan(ctx, mei, "op_none", "rec_1")
	wantKind(t, err, human.NotFound)
}

func TestARecordingIsDroppedHoweverItsOperationStands(t *testing.T) {
	q, _ := open(t, t.TempDir(), queue.Options{})
	ctx := t.Context()
	op := ring(t, q, request(bot, "show me how"))
	if _, err := q.Claim(ctx, mei, op.ID); err != nil {
		t.Fatal(err)
	}
	for _, id := range []human.RecordingID{"rec_1", "rec_2", "rec_3"} {
		if _, err := q.RecordingBegan(ctx, mei, op.ID, id); err != nil {
			t.Fatal(err)
		}
	}
	version := uint64(5) // the request, the claim, three recordings
	for _, tt := range []struct {
		truth  string
		change func() error
		by     human.Actor
		drop   human.RecordingID
		kind   human.ErrorKind
		left   []human.RecordingID
		events uint64
	}{
		{"an agent drops none", nil, bot, "rec_1", human.Denied, []human.RecordingID{"rec_1", "rec_2", "rec_3"}, 0},
		{"one that it does not have is no error", nil, mei, "rec_4", 0, []human.RecordingID{"rec_1", "rec_2", "rec_3"}, 0},
		{"who claimed it drops one", nil, mei, "rec_1", 0, []human.RecordingID{"rec_2", "rec_3"}, 1},
		{"a second time changes nothing", nil, mei, "rec_1", 0, []human.RecordingID{"rec_2", "rec_3"}, 0},
		{"so does another operator", nil, tom, "rec_2", 0, []human.RecordingID{"rec_3"}, 1},
		{"after the end as well", func() error {
			_, err := q.Complete(ctx, mei, op.ID, human.Answer{HumanInput: "done", Attachments: []string{"rec_3"}}, "")
			return err
		}, tom, "rec_3", 0, nil, 2},
	} {
		if tt.change != nil {
			if err := tt.change(); err != nil {
				t.Fatal(err)
			}
		}
		err := q.RecordingDropped(ctx, tt.by, op.ID, tt.drop)
		if tt.kind != 0 {
			wantKind(t, err, tt.kind)
		} else if err != nil {
			t.Errorf("%s: %v", tt.truth, err)
		}
		version += tt.events
		now, err := q.Get(ctx, mei, op.ID)
		if err != nil || now.Version != version || !slices.Equal(now.Recordings, tt.left) {
			t.Errorf("%s: version %d, want %d; %v is left, want %v; %v", tt.truth, now.Version, version, now.Recordings, tt.left, err)
		}
	}
	if seen, err := q.Get(ctx, bot, op.ID); err != nil || len(seen.Recordings) != 0 {
		t.Errorf("the agent sees %v of what was dropped, %v", seen.Recordings, err)
	}
	wantKind(t, q.RecordingDropped(ctx, mei, "op_none", "rec_1"), human.NotFound)
}

// An agent reads what is among an answer's attachments, so a recording there must be of the work it asked for.
func TestOnlyRecordingsOfTheOperationAreGiven(t *testing.T) {
	q, _ := open(t, t.TempDir(), queue.Options{})
	ctx := t.Context()
	op, another := ring(t, q, request(bot, "show me how")), ring(t, q, request(other, "and me"))
	for id, recordings := range map[human.OperationID][]human.RecordingID{op.ID: {"rec_mine", "rec_kept", "rec_dropped"}, another.ID: {"rec_theirs"}} {
		if _, err := q.Claim(ctx, mei, id); err != nil {
			t.Fatal(err)
		}
		for _, r := range recordings {
			if _, err := q.RecordingBegan(ctx, mei, id, r); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := q.RecordingDropped(ctx, mei, op.ID, "rec_dropped"); err != nil {
		t.Fatal(err)
	}
	before, err := q.Get(ctx, mei, op.ID)
	if err != nil {
		t.Fatal(err)
	}
	for truth, attachments := range map[string][]string{
		"another operation's":           {"rec_theirs"},
		"one that was dropped":          {"rec_dropped"},
		"one that never was":            {"rec_none"},
		"a bad one behind a good one":   {"rec_mine", "rec_theirs"},
		"a bad one behind another file": {"/tmp/contract.pdf", "rec_theirs"},
		"the prefix alone":              {human.RecordingPrefix},
	} {
		_, err := q.Complete(ctx, mei, op.ID, human.Answer{HumanInput: "done", Attachments: attachments}, "")
		var known *human.Error
		if !errors.As(err, &known) || known.Kind != human.Invalid || known.Field != "attachments" || !strings.Contains(known.Msg, attachments[len(attachments)-1]) {
			t.Errorf("%s: %v", truth, err)
		}
	}
	if now, err := q.Get(ctx, mei, op.ID); err != nil || now.Version != before.Version {
		t.Errorf("refused answers changed version %d to %d, %v", before.Version, now.Version, err)
	}

	// Nor may a value be said to come from another's recording, or be of a field that is not there.
	picked := func(field string, r human.RecordingID) human.Answer {
		return human.Answer{Fields: map[string]string{"price": "12"}, FieldSources: map[string]human.FieldSource{field: {Recording: r, Action: "a7"}}}
	}
	for truth, answer := range map[string]human.Answer{"another's recording": picked("price", "rec_theirs"), "no such field": picked("cost", "rec_mine")} {
		_, err := q.Complete(ctx, mei, op.ID, answer, "")
		var known *human.Error
		if !errors.As(err, &known) || known.Kind != human.Invalid || known.Field != "field_sources" {
			t.Errorf("%s: %v", truth, err)
		}
	}

	// A recording is an answer without any word, and beside it other things may be given.
	given := []string{"/tmp/contract.pdf", "rec_mine"}
	done, err := q.Complete(ctx, mei, op.ID, human.Answer{Attachments: given, Fields: picked("price", "rec_mine").Fields, FieldSources: picked("price", "rec_mine").FieldSources}, "")
	if err != nil || done.Result == nil || !slices.Equal(done.Result.Attachments, given) || done.Result.FieldSources["price"].Action != "a7" {
		t.Fatalf("answered: %+v, %v", done.Result, err)
	}
	seen, err := q.Get(ctx, bot, op.ID)
	if err != nil || !slices.Equal(seen.Recordings, []human.RecordingID{"rec_mine"}) {
		t.Errorf("the agent was given %v, %v; want the one among the attachments", seen.Recordings, err)
	}
}

func TestTimeOuts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, _ := open(t, t.TempDir(), queue.Options{})
		marked := request(bot, "take your time")
		marked.Timeout = 60
		cancels := request(bot, "now or never")
		cancels.Timeout, cancels.OnTimeout = 30, human.Cancel
		never := request(bot, "whenever")
		never.Timeout = 0
		a, b, c := ring(t, q, marked), ring(t, q, cancels), ring(t, q, never)
		start := time.Now()
		hour, cancelHour := context.WithTimeout(t.Context(), time.Hour)
		defer cancelHour()
		got, err := q.WaitFor(hour, bot, b.ID, func(human.Operation) bool { return false })
		if err != nil || got.State != human.Cancelled || time.Since(start) != 30*time.Second {
			t.Errorf("on_timeout=cancel: %s after %s, %v", got.State, time.Since(start), err)
		}
		got, err = q.WaitFor(hour, bot, a.ID, func(o human.Operation) bool { return o.Overdue })
		if err != nil || got.State != human.Pending || !got.Overdue || time.Since(start) != 60*time.Second {
			t.Errorf("overdue (H14): %s %t after %s, %v", got.State, got.Overdue, time.Since(start), err)
		}
		day, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
		defer cancel()
		if got, err = q.Wait(day, bot, c.ID, 1); err != nil || got.Overdue {
			t.Errorf("timeout 0 became overdue: %v", err)
		}
		if _, err := q.Complete(t.Context(), mei, a.ID, human.Answer{HumanInput: "late"}, ""); err != nil {
			t.Errorf("an overdue operation cannot be answered (H14): %v", err)
		}
	})
}

func TestWhatIsOpenComesBackAfterARestart(t *testing.T) {
	dir := t.TempDir()
	var kept human.Operation
	t.Run("before", func(t *testing.T) {
		q, _ := open(t, dir, queue.Options{})
		r := request(bot, "still there?")
		r.Timeout = 0.02
		kept = ring(t, q, r)
		if _, err := q.SaveInput(t.Context(), mei, kept.ID, &human.Answer{HumanInput: "half a th"}); err != nil {
			t.Fatal(err)
		}
	})
	q, _ := open(t, dir, queue.Options{MaxPending: 1})
	op, err := q.WaitFor(t.Context(), mei, kept.ID, func(o human.Operation) bool { return o.Overdue })
	if err != nil || op.State != human.InProgress || op.Draft == nil || op.Draft.HumanInput != "half a th" {
		t.Errorf("after the restart: %+v, %v", op, err)
	}
	_, _, err = q.Ring(t.Context(), request(bot, "one too many"), false)
	wantKind(t, err, human.Exhausted)
}

func TestFollowReplaysThenGoesOnLive(t *testing.T) {
	q, _ := open(t, t.TempDir(), queue.Options{MaxPending: 100})
	for i := range 5 {
		ring(t, q, request(bot, fmt.Sprint("old ", i)))
	}
	ring(t, q, request(other, "not yours"))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var got []string
	last := uint64(0)
	for e, err := range q.Follow(ctx, bot, 2) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Seq <= last {
			t.Errorf("seq %d after %d", e.Seq, last)
		}
		last = e.Seq
		got = append(got, e.Event.Request.Description)
		if len(got) == 3 {
			go func() {
				ring(t, q, request(other, "not yours either"))
				ring(t, q, request(bot, "new"))
			}()
		}
		if len(got) == 4 {
			break
		}
	}
	if want := []string{"old 2", "old 3", "old 4", "new"}; !slices.Equal(got, want) {
		t.Errorf("followed %q, want %q", got, want)
	}
}

func TestPresenceSaysWhetherTheAgentStillWaits(t *testing.T) {
	q, _ := open(t, t.TempDir(), queue.Options{})
	op := ring(t, q, request(bot, "are you there?"))
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second) // so that silence fails, and does not hang
	defer stop()
	waiting, leave := context.WithCancel(ctx)
	defer leave()
	var seen []bool
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = q.Wait(waiting, bot, op.ID, op.Version) })
	for p := range q.FollowPresence(ctx) {
		if p.ID != op.ID || (len(seen) == 0 && !p.Waiting) {
			continue
		}
		seen = append(seen, p.Waiting)
		leave()
		if !p.Waiting {
			break
		}
	}
	wg.Wait()
	if !slices.Equal(seen, []bool{true, false}) {
		t.Errorf("presence went %v", seen)
	}
	done := q.AgentOnline(bot.Name)
	if !q.PresenceOf(op.ID).Waiting || !q.Online(bot.Name) {
		t.Error("a live connection does not count as waiting")
	}
	done()
	if q.PresenceOf(op.ID).Waiting || q.Online(bot.Name) {
		t.Error("a closed connection still counts as waiting")
	}
}

// The proof of presence that came with an answer is in the event that answered, and in no agent's event.
func TestAProofStaysWithTheAnswer(t *testing.T) {
	t.Parallel()
	q, _ := open(t, t.TempDir(), queue.Options{})
	op := ring(t, q, request(bot, "may I?"))
	proof := human.Proof{Means: human.ByPIN, At: time.Unix(1, 0).UTC()}
	if _, err := q.Complete(human.WithProof(t.Context(), proof), mei, op.ID, human.Answer{HumanInput: "yes"}, ""); err != nil {
		t.Fatal(err)
	}
	for _, of := range []human.Actor{mei, bot} {
		events, err := q.History(t.Context(), of, op.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			want := e.Event.Type == human.Finished && of == mei
			if got := e.Event.Proof != nil && e.Event.Proof.Means == human.ByPIN; got != want {
				t.Errorf("%s, for %s: proof %+v", e.Event.Type, of.Role, e.Event.Proof)
			}
		}
	}
}
