package queue_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/queue/journaltest"
	"deskbell/backend/queue/receipt"
)

// inTeam are the options of Ann's desk, where two have to approve from a risk on.
func inTeam(from human.Risk) queue.Options {
	return queue.Options{SecondApproval: func() human.Risk { return from }, Member: func() string { return "Ann" }, Receipts: &receipt.Maker{Key: journaltest.Key}}
}

func dangerous(risk string) human.Request {
	r := request(bot, "drop a table")
	r.Kind, r.Details = human.Approve, json.RawMessage(`{"action":"DROP TABLE a","risk_level":"`+risk+`"}`)
	return r
}

func TestHandingOver(t *testing.T) {
	t.Parallel()
	q, _ := open(t, t.TempDir(), queue.Options{})
	op := ring(t, q, request(bot, "have a look"))
	_, err := q.HandOver(t.Context(), bot, op.ID, "Tom", "")
	wantKind(t, err, human.Denied)
	_, err = q.HandOver(t.Context(), mei, op.ID, " Mei ", "")
	wantKind(t, err, human.Invalid)
	_, err = q.HandOver(t.Context(), mei, op.ID, strings.Repeat("n", 101), "")
	wantKind(t, err, human.Invalid)
	got, err := q.HandOver(t.Context(), mei, op.ID, "Tom", "the backup is checked")
	if err != nil || got.ClaimedBy != "Mei" || got.HandOver == nil || got.HandOver.Note != "the backup is checked" {
		t.Fatalf("%+v, %v", got.HandOver, err)
	}
	if seen, err := q.Get(t.Context(), bot, op.ID); err != nil || seen.HandOver != nil || seen.ClaimedBy != "Mei" {
		t.Errorf("its agent sees %+v, %v", seen.HandOver, err)
	}
	if got, err = q.Claim(t.Context(), tom, op.ID); err != nil || got.ClaimedBy != "Tom" || got.HandOver != nil {
		t.Errorf("claimed by %s, %+v, %v", got.ClaimedBy, got.HandOver, err)
	}
	events, err := q.History(t.Context(), bot, op.ID)
	if err != nil || len(events) != 2 || events[1].Event.Type != human.ClaimedBy {
		t.Errorf("its agent reads %v, %v", events, err)
	}
}

func TestWhoHasToApproveIsInTheRequest(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		from human.Risk
		ask  human.Request
		want int
	}{
		"below":                   {human.HighRisk, dangerous("medium"), 0},
		"at the risk":             {human.HighRisk, dangerous("high"), 2},
		"above":                   {human.HighRisk, dangerous("critical"), 2},
		"no risk is named":        {human.CriticalRisk, dangerous(""), 2},
		"switched off":            {human.NoRisk, dangerous("critical"), 0},
		"a question of no danger": {human.LowRisk, request(bot, "which color?"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			q, _ := open(t, t.TempDir(), inTeam(tt.from))
			tt.ask.Approvals, tt.ask.RequestedBy = 1, "Tom" // only the desk sets these
			if op := ring(t, q, tt.ask); op.ApprovalsNeeded != tt.want || op.RequestedBy != "Ann" {
				t.Errorf("%d have to approve what %s asked", op.ApprovalsNeeded, op.RequestedBy)
			}
		})
	}
	q, _ := open(t, t.TempDir(), inTeam(human.HighRisk))
	op, _, err := q.Submit(t.Context(), question(t, human.Verdict{}, "k1"), nil)
	if err != nil || op.ApprovalsNeeded != 2 {
		t.Errorf("a tool call: %d, %v", op.ApprovalsNeeded, err)
	}
	op, _, err = q.Submit(t.Context(), question(t, human.Verdict{}, "k2"), &human.Answer{Decision: human.Approved})
	if err != nil || op.State != human.Completed {
		t.Errorf("what a rule decides: %s, %v", op.State, err)
	}
}

func TestTwoPeopleApprove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, store := open(t, t.TempDir(), inTeam(human.HighRisk))
		ctx, ann, priya := t.Context(), human.Actor{Role: human.Operator, Name: "Ann"}, human.Actor{Role: human.Operator, Name: "Priya"}
		yes := human.Answer{Decision: human.Approved, HumanInput: "the backup is checked"}
		op := ring(t, q, dangerous("critical"))
		_, err := q.Complete(ctx, ann, op.ID, yes, op.Digest)
		wantKind(t, err, human.Denied)
		if _, err := q.Claim(ctx, mei, op.ID); err != nil {
			t.Fatal(err)
		}
		got, err := q.Complete(ctx, mei, op.ID, yes, op.Digest)
		if err != nil || got.State != human.Pending || got.ClaimedBy != "" || len(got.Approvals) != 1 || got.Approvals[0].By != mei {
			t.Fatalf("after the first: %s, %+v, %v", got.State, got.Approvals, err)
		}
		_, err = q.Complete(ctx, mei, op.ID, yes, op.Digest)
		wantKind(t, err, human.Conflict)
		_, err = q.Complete(ctx, tom, op.ID, yes, strings.Repeat("0", 64))
		wantKind(t, err, human.Conflict)
		<-time.After(15*time.Minute + time.Second) // of the bubble's clock
		if got, err = q.Complete(ctx, tom, op.ID, yes, op.Digest); err != nil || got.State != human.Pending || got.Approvals[0].By != tom {
			t.Fatalf("the first lapsed, so the next is a first: %s, %v", got.State, err)
		}
		<-time.After(14 * time.Minute)
		if got, err = q.Hold(ctx, priya, op.ID, human.Answer{Decision: human.Approved}, op.Digest); err != nil || got.State != human.Completed || got.Result.By != priya {
			t.Fatalf("after the second: %s, %v", got.State, err)
		}
		raw, err := store.Receipts(ctx, op.ID)
		if err != nil || len(raw) != 3 {
			t.Fatalf("%d receipts, %v", len(raw), err)
		}
		trust := journaltest.Trust()
		for i, r := range raw {
			v := receipt.Verify(r.RawMessage, trust)
			names := []string{}
			for _, s := range v.Signers {
				names = append(names, s.Operator)
			}
			want := []string{"Mei", "Tom", "Tom Priya"}[i]
			if !v.Authentic || v.Authorizes != (i == 2) || strings.Join(names, " ") != want {
				t.Errorf("receipt %d of %s: authentic %t, authorizes %t\n%+v", i, names, v.Authentic, v.Authorizes, v.Checks)
			}
		}
		if audit, err := store.Audit(ctx, trust); err != nil || len(audit.Found) != 0 {
			t.Errorf("the audit finds %+v, %v", audit.Found, err)
		}
	})
}

func TestOneDenies(t *testing.T) {
	t.Parallel()
	q, _ := open(t, t.TempDir(), inTeam(human.LowRisk))
	op := ring(t, q, dangerous("low"))
	if _, err := q.Hold(t.Context(), mei, op.ID, human.Answer{Decision: human.Approved}, op.Digest); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Claim(t.Context(), tom, op.ID); err != nil {
		t.Fatal(err)
	}
	got, err := q.Complete(t.Context(), mei, op.ID, human.Answer{Decision: human.Refused}, op.Digest)
	if err != nil || got.State != human.Completed || got.Result.Decision != human.Refused {
		t.Errorf("%s, %v", got.State, err)
	}
}

func TestRoutingIsNotedOnce(t *testing.T) {
	t.Parallel()
	q, _ := open(t, t.TempDir(), queue.Options{})
	op := ring(t, q, request(bot, "have a look"))
	step := human.Routing{Step: 1, Names: []string{"Mei"}, Reason: human.Sentence{Text: "Routed to Mei."}}
	for range 2 {
		got, err := q.Route(t.Context(), op.ID, step)
		if err != nil || len(got.Routing) != 1 || got.Version != 2 {
			t.Fatalf("%+v, %v", got.Routing, err)
		}
	}
	step.Step = 3
	_, err := q.Route(t.Context(), op.ID, step)
	wantKind(t, err, human.Conflict)
}

// In a team Pending counts what the desk's own operator is asked for or has, and so it does after a start.
func TestPendingInATeam(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	q, store := open(t, dir, inTeam(human.NoRisk))
	ann := human.Actor{Role: human.Operator, Name: "Ann"}
	op := ring(t, q, request(bot, "which color?"))
	ring(t, q, request(bot, "which size?"))
	wants := func(when string, want int) {
		t.Helper()
		again := queue.New(store, store, inTeam(human.NoRisk))
		if err := again.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		for name, q := range map[string]*queue.Queue{"": q, ", after a start": again} {
			if n, list := q.Pending(), q.Waiting(5); n != want || len(list) != want {
				t.Errorf("%s%s: %d wait and %d are listed, want %d", when, name, n, len(list), want)
			}
		}
	}
	do := func(_ human.Operation, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	wants("no one is asked yet", 2)
	do(q.Route(t.Context(), op.ID, human.Routing{Step: 1, Names: []string{"Mei"}, Reason: human.Sayf("everyone in the team is asked")}))
	wants("Mei is asked", 1)
	do(q.Route(t.Context(), op.ID, human.Routing{Step: 2, Names: []string{"Ann", "Tom"}, Reason: human.Sayf("everyone in the team is asked")}))
	wants("Ann is asked, too", 2)
	do(q.Claim(t.Context(), mei, op.ID))
	wants("Mei has it", 1)
	do(q.HandOver(t.Context(), mei, op.ID, "Ann", ""))
	wants("Mei handed it over to Ann", 2)
	do(q.Claim(t.Context(), ann, op.ID))
	wants("Ann has it", 2)
}

// What a team has which this desk left counts no more, and does not become overdue.
func TestForgetting(t *testing.T) {
	t.Parallel()
	q, _ := open(t, t.TempDir(), queue.Options{})
	r := request(bot, "theirs")
	r.Timeout = 1
	theirs := ring(t, q, r)
	r.Description = "own"
	own := ring(t, q, r) // due after the other
	q.Forget(func(id human.OperationID) bool { return id == theirs.ID })
	if q.Pending() != 1 || q.PendingOf(bot.Name) != 1 {
		t.Errorf("%d wait, %d of the agent", q.Pending(), q.PendingOf(bot.Name))
	}
	if got, err := q.Wait(t.Context(), mei, own.ID, own.Version); err != nil || !got.Overdue {
		t.Errorf("the other is overdue: %t, %v", got.Overdue, err)
	}
	if got, err := q.Get(t.Context(), mei, theirs.ID); err != nil || got.Overdue {
		t.Errorf("it is overdue: %t, %v", got.Overdue, err)
	}
}
