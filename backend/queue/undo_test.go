package queue_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/queue/receipt"
	"deskbell/backend/store/sqlite"
)

// hold answers with time to undo it.
func hold(t *testing.T, q *queue.Queue, op human.Operation, words string) human.Operation {
	t.Helper()
	held, err := q.Hold(t.Context(), mei, op.ID, human.Answer{HumanInput: words}, op.Digest)
	if err != nil || held.Leaving == nil || held.Leaving.HumanInput != words || held.Leaving.By != mei || held.State.Terminal() {
		t.Fatalf("held: %+v, %v", held, err)
	}
	return held
}

// ended waits, at most an hour, for an operation's end, as its agent does.
func ended(t *testing.T, q *queue.Queue, id human.OperationID) human.Operation {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	op, err := q.WaitFor(ctx, bot, id, func(human.Operation) bool { return false })
	if err != nil || !op.State.Terminal() {
		t.Fatalf("it is %s: %v", op.State, err)
	}
	return op
}

func TestAnAnswerLeavesAfterItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, _ := open(t, t.TempDir(), queue.Options{})
		op := ring(t, q, request(bot, "Which tone?"))
		start := time.Now()
		hold(t, q, op, "Plain")
		seen, err := q.Get(t.Context(), bot, op.ID)
		if raw, _ := json.Marshal(seen); err != nil || seen.Leaving != nil || strings.Contains(string(raw), "Plain") || strings.Contains(string(raw), "leav") {
			t.Errorf("the agent reads %s, %v", raw, err)
		}
		entries, err := q.History(t.Context(), bot, op.ID)
		if err != nil || len(entries) != 1 {
			t.Errorf("the agent was told %v, %v", entries, err)
		}
		for name, do := range map[string]func() (human.Operation, error){
			"answered": func() (human.Operation, error) {
				return q.Complete(t.Context(), mei, op.ID, human.Answer{HumanInput: "Loud"}, "")
			},
			"held again": func() (human.Operation, error) {
				return q.Hold(t.Context(), mei, op.ID, human.Answer{HumanInput: "Loud"}, "")
			},
			"released":         func() (human.Operation, error) { return q.Release(t.Context(), mei, op.ID, "") },
			"claimed":          func() (human.Operation, error) { return q.Claim(t.Context(), mei, op.ID) },
			"declined":         func() (human.Operation, error) { return q.Decline(t.Context(), mei, op.ID, "no") },
			"snoozed":          func() (human.Operation, error) { return q.Snooze(t.Context(), mei, op.ID, nil) },
			"asked":            func() (human.Operation, error) { return q.Reply(t.Context(), mei, op.ID, "why?") },
			"drafted":          func() (human.Operation, error) { return q.SaveInput(t.Context(), mei, op.ID, nil) },
			"recorded":         func() (human.Operation, error) { return q.RecordingBegan(t.Context(), mei, op.ID, "rec_1") },
			"undone by others": func() (human.Operation, error) { return q.Undo(t.Context(), tom, op.ID) },
		} {
			_, err := do()
			wantKind(t, err, human.Conflict)
			if err == nil || !strings.Contains(err.Error(), "was answered by Mei, and the answer is sent at") {
				t.Errorf("%s: %v", name, err)
			}
		}
		_, err = q.Undo(t.Context(), bot, op.ID)
		wantKind(t, err, human.Denied)
		got := ended(t, q, op.ID)
		if took := time.Since(start); got.Result.HumanInput != "Plain" || got.Result.By != mei || got.Result.Summary != "Plain" || took != queue.DefaultUndoTime {
			t.Errorf("after %s the agent reads %+v", took, got.Result)
		}
		_, err = q.Undo(t.Context(), mei, op.ID)
		wantKind(t, err, human.Conflict)
	})
}

// decline declines with time to undo it.
func decline(t *testing.T, q *queue.Queue, op human.Operation, why string) human.Operation {
	t.Helper()
	held, err := q.HoldDecline(t.Context(), mei, op.ID, why)
	if err != nil || held.Leaving == nil || held.Leaving.Declined != why || held.Leaving.By != mei || held.State.Terminal() {
		t.Fatalf("held: %+v, %v", held, err)
	}
	return held
}

func TestADeclineLeavesAfterItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, _ := open(t, t.TempDir(), queue.Options{})
		op := ring(t, q, request(bot, "Which tone?"))
		if _, err := q.SaveInput(t.Context(), mei, op.ID, &human.Answer{HumanInput: "half"}); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		decline(t, q, op, "not my desk")
		seen, err := q.Get(t.Context(), bot, op.ID)
		if raw, _ := json.Marshal(seen); err != nil || strings.Contains(string(raw), "desk") || strings.Contains(string(raw), "leav") || strings.Contains(string(raw), "decl") {
			t.Errorf("the agent reads %s, %v", raw, err)
		}
		entries, err := q.History(t.Context(), bot, op.ID)
		if raw, _ := json.Marshal(entries); err != nil || strings.Contains(string(raw), "desk") {
			t.Errorf("the agent was told %s, %v", raw, err)
		}
		for name, do := range map[string]func() (human.Operation, error){
			"answered": func() (human.Operation, error) {
				return q.Complete(t.Context(), mei, op.ID, human.Answer{HumanInput: "Loud"}, "")
			},
			"declined":         func() (human.Operation, error) { return q.Decline(t.Context(), mei, op.ID, "not my desk") },
			"declined again":   func() (human.Operation, error) { return q.HoldDecline(t.Context(), mei, op.ID, "no time") },
			"released":         func() (human.Operation, error) { return q.Release(t.Context(), mei, op.ID, "") },
			"undone by others": func() (human.Operation, error) { return q.Undo(t.Context(), tom, op.ID) },
		} {
			_, err := do()
			wantKind(t, err, human.Conflict)
			if err == nil || !strings.Contains(err.Error(), "was declined by Mei, and the reason is sent at") {
				t.Errorf("%s: %v", name, err)
			}
		}
		<-time.After(queue.DefaultUndoTime - time.Second)
		back, err := q.Undo(t.Context(), mei, op.ID)
		if err != nil || back.Leaving != nil || back.State.Terminal() || back.Draft == nil || back.Draft.HumanInput != "half" {
			t.Fatalf("undone: %+v, %v", back, err)
		}
		<-time.After(time.Second / 2)
		decline(t, q, op, "no time") // the time of the first passes meanwhile
		if got := ended(t, q, op.ID); got.State != human.Declined || got.Ended.Reason != "no time" || got.Ended.By != mei || time.Since(start) != 2*queue.DefaultUndoTime-time.Second/2 {
			t.Errorf("after %s the agent reads %+v", time.Since(start), got.Ended)
		}
		_, err = q.Undo(t.Context(), mei, op.ID)
		wantKind(t, err, human.Conflict)
	})
}

// What was answered does not wait any more while the answer can be undone; what is undone waits again.
func TestWhatIsHeldDoesNotWait(t *testing.T) {
	q, _ := open(t, t.TempDir(), queue.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	counts := make(chan int, 16)
	go func() {
		for n := range q.FollowPending(ctx) {
			counts <- n
		}
		close(counts)
	}()
	waits := func(want ...human.OperationID) {
		t.Helper()
		for n := range counts {
			if n == len(want) {
				break
			}
		}
		var got []human.OperationID
		for _, op := range q.Waiting(10) {
			got = append(got, op.ID)
		}
		if q.Pending() != len(want) || !slices.Equal(got, want) {
			t.Errorf("%d wait: %v, want %v", q.Pending(), got, want)
		}
	}
	first := ring(t, q, request(bot, "Which tone?"))
	urgent := request(bot, "Which name?")
	urgent.Priority = 9
	second := ring(t, q, urgent)
	waits(second.ID, first.ID)
	hold(t, q, second, "Plain")
	waits(first.ID)
	decline(t, q, first, "not my desk")
	waits()
	for _, id := range []human.OperationID{first.ID, second.ID} {
		if _, err := q.Undo(ctx, mei, id); err != nil {
			t.Fatal(err)
		}
	}
	waits(second.ID, first.ID)
	if top := q.Waiting(1); len(top) != 1 || top[0].ID != second.ID {
		t.Errorf("the most urgent is %+v", top)
	}
}

func TestAWithdrawalBeatsAHeldDecline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, _ := open(t, t.TempDir(), queue.Options{})
		op := ring(t, q, request(bot, "Which tone?"))
		decline(t, q, op, "not my desk")
		if _, err := q.Cancel(t.Context(), bot, op.ID, "never mind"); err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * queue.DefaultUndoTime)
		if got, err := q.Get(t.Context(), mei, op.ID); err != nil || got.State != human.Cancelled || got.Leaving != nil || got.Draft != nil {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

func TestAnUndoneAnswerIsADraft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, _ := open(t, t.TempDir(), queue.Options{})
		op := ring(t, q, request(bot, "Which tone?"))
		hold(t, q, op, "Plain")
		<-time.After(queue.DefaultUndoTime - time.Second)
		back, err := q.Undo(t.Context(), mei, op.ID)
		if err != nil || back.Leaving != nil || back.Draft == nil || back.Draft.HumanInput != "Plain" || back.Draft.Summary != "" || back.ClaimedBy != mei.Name || back.State.Terminal() {
			t.Fatalf("undone: %+v, %v", back, err)
		}
		<-time.After(time.Second / 2)
		hold(t, q, op, "Loud") // the time of the first passes meanwhile
		<-time.After(queue.DefaultUndoTime - time.Second)
		if now, err := q.Get(t.Context(), bot, op.ID); err != nil || now.State.Terminal() {
			t.Fatalf("the second answer left with the time of the first: %+v, %v", now.Result, err)
		}
		got := ended(t, q, op.ID)
		all, err := q.History(t.Context(), mei, op.ID)
		finished := 0
		for _, e := range all {
			if e.Event.Type == human.Finished {
				finished++
			}
		}
		if err != nil || got.Result.HumanInput != "Loud" || finished != 1 {
			t.Errorf("%d answers left, the agent read %q: %v", finished, got.Result.HumanInput, err)
		}
	})
}

func TestWhatBecomesOverdueWhileItsAnswerIsHeldIsAnswered(t *testing.T) {
	for name, onTimeout := range map[string]human.OnTimeout{"marked": human.Mark, "canceled": human.Cancel} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q, _ := open(t, t.TempDir(), queue.Options{})
				r := request(bot, "now or never")
				r.Timeout, r.OnTimeout = 10, onTimeout
				op := ring(t, q, r)
				start := time.Now()
				<-time.After(8 * time.Second)
				if held := hold(t, q, op, "now"); !held.Leaving.LeavesAt.Equal(*op.ExpiresAt) {
					t.Errorf("it leaves at %s, and is overdue at %s", held.Leaving.LeavesAt, op.ExpiresAt)
				}
				if got := ended(t, q, op.ID); got.State != human.Completed || got.Overdue || got.Result.HumanInput != "now" || time.Since(start) != 10*time.Second {
					t.Errorf("after %s: %s, overdue is %t", time.Since(start), got.State, got.Overdue)
				}
			})
		})
	}
}

func TestAWithdrawalBeatsAHeldAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, _ := open(t, t.TempDir(), queue.Options{})
		op := ring(t, q, request(bot, "Which tone?"))
		hold(t, q, op, "Plain")
		if _, err := q.Cancel(t.Context(), bot, op.ID, "never mind"); err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * queue.DefaultUndoTime)
		got, err := q.Get(t.Context(), mei, op.ID)
		if err != nil || got.State != human.Cancelled || got.Leaving != nil || got.Draft == nil || got.Draft.HumanInput != "Plain" {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

func TestOnlyWhatMayBeUndoneIsHeld(t *testing.T) {
	q, _ := open(t, t.TempDir(), queue.Options{})
	approve := func(details string) human.Request {
		r := request(bot, "may I?")
		r.Kind, r.Details = human.Approve, json.RawMessage(details)
		return r
	}
	proved := human.WithProof(t.Context(), human.Proof{Means: human.ByPIN, At: time.Now()})
	for name, tt := range map[string]struct {
		ctx     context.Context
		request human.Request
		answer  human.Answer
		held    bool
	}{
		"words":                     {t.Context(), request(bot, "which?"), human.Answer{HumanInput: "this"}, true},
		"an approval of low risk":   {t.Context(), approve(`{"action":"ls","risk_level":"low"}`), human.Answer{Decision: human.Approved}, true},
		"of a risk nobody named":    {t.Context(), approve(`{"action":"ls"}`), human.Answer{Decision: human.Approved}, false},
		"of medium risk":            {t.Context(), approve(`{"action":"ls","risk_level":"medium"}`), human.Answer{Decision: human.Approved}, false},
		"of critical risk":          {t.Context(), approve(`{"action":"ls","risk_level":"critical"}`), human.Answer{Decision: human.Approved}, false},
		"a denial":                  {t.Context(), approve(`{"action":"ls","risk_level":"high"}`), human.Answer{Decision: human.Refused}, false},
		"what was proved":           {proved, request(bot, "which one?"), human.Answer{HumanInput: "this"}, false},
		"an approval that was low ": {proved, approve(`{"action":"ls -a","risk_level":"low"}`), human.Answer{Decision: human.Approved}, false},
	} {
		op := ring(t, q, tt.request)
		digest := op.Digest
		got, err := q.Hold(tt.ctx, mei, op.ID, tt.answer, digest)
		if err != nil || (got.Leaving != nil) != tt.held || got.State.Terminal() == tt.held {
			t.Errorf("%s: leaving %v, state %s, %v", name, got.Leaving != nil, got.State, err)
		}
		op = ring(t, q, tt.request)
		got, err = q.HoldDecline(tt.ctx, mei, op.ID, "no time")
		if err != nil || (got.Leaving != nil) != tt.held || got.State.Terminal() != (got.Leaving == nil) {
			t.Errorf("%s, declined: leaving %v, state %s, %v", name, got.Leaving != nil, got.State, err)
		}
	}
}

func TestNothingIsHeldWithoutTimeToUndo(t *testing.T) {
	q, _ := open(t, t.TempDir(), queue.Options{UndoTime: func() time.Duration { return 0 }})
	op := ring(t, q, request(bot, "Which tone?"))
	if got, err := q.Hold(t.Context(), mei, op.ID, human.Answer{HumanInput: "Plain"}, op.Digest); err != nil || got.State != human.Completed {
		t.Errorf("%s, %v", got.State, err)
	}
}

// The queue that is stopped sends what it holds, and one that was killed sends it when it runs again.
func TestNoHeldAnswerIsLost(t *testing.T) {
	dir := t.TempDir()
	var stopped, killed human.Operation
	t.Run("stopped", func(t *testing.T) {
		q, _ := open(t, dir, queue.Options{})
		stopped = hold(t, q, ring(t, q, request(bot, "one")), "yes")
	})
	store, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	q := queue.New(store, store, queue.Options{Now: func() time.Time { return time.Now().Add(-time.Minute) }}) // so that its time is past
	if err := q.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := q.Get(t.Context(), bot, stopped.ID); err != nil || got.State != human.Completed || got.Result.HumanInput != "yes" {
		t.Errorf("after an orderly end: %s, %v", got.State, err)
	}
	killed = hold(t, q, ring(t, q, request(bot, "two")), "no") // it never runs
	declined := decline(t, q, ring(t, q, request(bot, "three")), "not my desk")
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	q, _ = open(t, dir, queue.Options{})
	if got := ended(t, q, killed.ID); got.State != human.Completed || got.Result.HumanInput != "no" {
		t.Errorf("after a crash: %s, %+v", got.State, got.Result)
	}
	if got := ended(t, q, declined.ID); got.State != human.Declined || got.Ended.Reason != "not my desk" {
		t.Errorf("after a crash: %s, %+v", got.State, got.Ended)
	}
}

// What another program writes into the storage has no seal of the server's, and is not sent in the operator's name.
func TestAnAnswerThatTheServerDidNotHoldIsADraft(t *testing.T) {
	own := receipt.NewKey(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	other := receipt.NewKey(ed25519.NewKeyFromSeed(append(make([]byte, ed25519.SeedSize-1), 1)))
	for name, tt := range map[string]struct {
		later *receipt.Key
		want  human.State
	}{"by this server": {own, human.Completed}, "by another": {other, human.InProgress}} {
		t.Run(name, func(t *testing.T) {
			store, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{Key: func() *receipt.Key { return own }})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() })
			with := func(key *receipt.Key) *queue.Queue {
				q := queue.New(store, store, queue.Options{Receipts: &receipt.Maker{Key: func() *receipt.Key { return key }}})
				if err := q.Load(t.Context()); err != nil {
					t.Fatal(err)
				}
				return q
			}
			q := with(own)
			declined := decline(t, q, ring(t, q, request(bot, "Is it yours?")), "not my desk <&>")
			r := request(bot, "Export it")
			r.Kind, r.Details = human.Desktop, json.RawMessage(`{"action_sequence":["<Open>","Save"],"response_schema":{"type":"object","properties":{"when":{"type":"string"},"n":{"type":"number"}}}}`)
			op := ring(t, q, r)
			answer := human.Answer{HumanInput: "a < b\u2028", KeyFindings: []string{"&"}, WorkAnswer: human.WorkAnswer{
				Verdict: human.WorkDone, Response: json.RawMessage(`{"n": 0.10, "when": "<soon>"}`), Steps: []human.StepResult{{Step: 2, Note: "\u0001"}},
			}}
			if _, err := q.Hold(t.Context(), mei, op.ID, answer, op.Digest); err != nil {
				t.Fatal(err)
			}
			if _, err := q.Seen(t.Context(), mei, op.ID, "card"); err != nil {
				t.Fatal(err)
			}
			ended, end := context.WithCancel(t.Context())
			end()
			q = with(tt.later)
			if err := q.Run(ended); err != nil {
				t.Fatal(err)
			}
			got, err := q.Get(t.Context(), mei, op.ID)
			if err != nil || got.State != tt.want || got.Leaving != nil {
				t.Fatalf("%s, %v", got.State, err)
			}
			back, err := q.Get(t.Context(), mei, declined.ID)
			if err != nil || (back.State == human.Declined) != (tt.want == human.Completed) || back.Leaving != nil {
				t.Errorf("declined: %s, %v", back.State, err)
			}
			if receipts, err := q.Receipts(t.Context(), mei, declined.ID); err != nil || (len(receipts) == 1) != (tt.want == human.Completed) {
				t.Errorf("declined: %d receipts, %v", len(receipts), err)
			}
			if receipts, err := q.Receipts(t.Context(), mei, op.ID); err != nil || (len(receipts) == 1) != (tt.want == human.Completed) {
				t.Errorf("%d receipts, %v", len(receipts), err)
			}
			if tt.want == human.InProgress && (got.Draft == nil || got.Draft.HumanInput != answer.HumanInput) {
				t.Errorf("the draft is %+v", got.Draft)
			}
		})
	}
}
