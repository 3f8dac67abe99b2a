package queue_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
)

func question(t testing.TB, v human.Verdict, key string) human.Request {
	t.Helper()
	details, err := json.Marshal(human.Question{Risk: human.HighRisk, ToolCall: human.ToolCall{Tool: "bash"}, Verdict: v})
	if err != nil {
		t.Fatal(err)
	}
	return human.Request{Kind: human.Permission, Description: "Deletes: build", Details: details, AgentID: bot.Name, Priority: human.DefaultPriority, Timeout: 60, IdempotencyKey: key}
}

// G9: only the gatekeeper asks in this way, and the same call asks no one twice, whatever is known of it by then.
func TestQuestionsOfTheGatekeeper(t *testing.T) {
	q, _ := open(t, t.TempDir(), queue.Options{})
	wrong := request(bot, "let me")
	wrong.Kind = human.Permission
	_, _, err := q.Ring(t.Context(), wrong, false)
	wantKind(t, err, human.Invalid)

	op, created, err := q.Submit(t.Context(), question(t, human.Verdict{Reason: "one"}, "gate:1"), nil)
	if err != nil || !created || op.Kind != human.Permission || op.Risk != human.HighRisk || op.OnTimeout != human.Cancel {
		t.Fatalf("created %t, %+v, %v", created, op, err)
	}
	again, created, err := q.Submit(t.Context(), question(t, human.Verdict{Reason: "two"}, "gate:1"), nil)
	if err != nil || created || again.ID != op.ID {
		t.Errorf("the same call: created %t, %s, %v", created, again.ID, err)
	}
	taken := request(bot, "hm")
	taken.IdempotencyKey = "mine"
	ring(t, q, taken)
	_, _, err = q.Submit(t.Context(), question(t, human.Verdict{}, "mine"), nil)
	wantKind(t, err, human.Conflict)

	open, err := q.OpenOf(t.Context(), human.Permission)
	if err != nil || len(open) != 1 || open[0].ID != op.ID {
		t.Errorf("open questions %+v, %v", open, err)
	}
	_, err = q.Complete(t.Context(), bot, op.ID, human.Answer{Decision: human.Approved}, "")
	wantKind(t, err, human.Denied)
	_, err = q.Complete(t.Context(), mei, op.ID, human.Answer{HumanInput: "sure"}, op.Digest)
	wantKind(t, err, human.Invalid)
	done, err := q.Complete(t.Context(), mei, op.ID, human.Answer{Decision: human.Approved}, op.Digest)
	if err != nil || done.Result.Decision != human.Approved {
		t.Errorf("answered %+v, %v", done, err)
	}
}

// G2: where more than a yes is asked for, a notification's button is not enough.
func TestAPlainYesIsNotEnoughWhereSomethingMustBeTyped(t *testing.T) {
	q, _ := open(t, t.TempDir(), queue.Options{})
	for name, v := range map[string]human.Question{
		"typed": {Verdict: human.Verdict{Form: human.Enter}},
		"read":  {Check: &human.ReadCheck{Options: []human.EffectVerb{human.FilesystemDelete}}},
	} {
		details, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		op, _, err := q.Submit(t.Context(), human.Request{Kind: human.Permission, Description: name, Details: details, AgentID: bot.Name}, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = q.Complete(t.Context(), mei, op.ID, human.Answer{Decision: human.Approved}, op.Digest)
		wantKind(t, err, human.Conflict)
		if _, err := q.Complete(t.Context(), mei, op.ID, human.Answer{Decision: human.Approved, PermissionAnswer: human.PermissionAnswer{Choice: human.ChooseAllow}}, op.Digest); err != nil {
			t.Error(name, err)
		}
	}
	op, _, err := q.Submit(t.Context(), question(t, human.Verdict{Form: human.Enter}, ""), nil)
	if err != nil {
		t.Fatal(err)
	}
	if done, err := q.Complete(t.Context(), mei, op.ID, human.Answer{Decision: human.Refused}, op.Digest); err != nil || done.State != human.Completed {
		t.Errorf("a plain no: %+v, %v", done, err)
	}
}

func TestAQuestionWhoseTimeIsUpIsARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, _ := open(t, t.TempDir(), queue.Options{})
		op, _, err := q.Submit(t.Context(), question(t, human.Verdict{}, ""), nil)
		if err != nil {
			t.Fatal(err)
		}
		hour, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if op, err = q.WaitFor(hour, bot, op.ID, func(human.Operation) bool { return false }); err != nil || op.State != human.Cancelled || op.Ended.By.Role != human.System {
			t.Errorf("after its time: %+v, %v", op, err)
		}
	})
}

func TestAnAnswerThatLetsAnAgentActSaysWhichRequestItIsFor(t *testing.T) {
	q, _ := open(t, t.TempDir(), queue.Options{})
	yes := human.Answer{Decision: human.Approved}
	for _, r := range []human.Request{
		{Kind: human.Approve, Details: json.RawMessage(`{"action":"make deploy"}`)},
		{Kind: human.Permission, Details: json.RawMessage(`{"tool":"bash"}`)},
		{Kind: human.Plan, Details: json.RawMessage(`{"tasks":[{"description":"x"}],"confirmations":1}`)},
	} {
		r.Description, r.AgentID, r.Timeout = "please", bot.Name, 60
		op, _, err := q.Submit(t.Context(), r, nil)
		if err != nil {
			t.Fatal(r.Kind, err)
		}
		for _, a := range []human.Answer{yes, {Decision: human.Refused}} {
			_, err = q.Complete(t.Context(), mei, op.ID, a, "")
			if wantKind(t, err, human.Invalid); !strings.Contains(err.Error(), "digest") {
				t.Errorf("%s without a digest: %v", r.Kind, err)
			}
		}
		if done, err := q.Complete(t.Context(), mei, op.ID, yes, op.Digest); err != nil || done.State != human.Completed {
			t.Errorf("%s with its digest: %s, %v", r.Kind, done.State, err)
		}
	}
	op := ring(t, q, request(bot, "what color?"))
	if _, err := q.Complete(t.Context(), mei, op.ID, human.Answer{HumanInput: "red"}, ""); err != nil {
		t.Errorf("words that let nobody act need no digest: %v", err)
	}
}

func TestANameTwiceInAnObjectIsRefusedWithItsPath(t *testing.T) {
	q, _ := open(t, t.TempDir(), queue.Options{})
	for sent, path := range map[string]string{
		`{"action":"ls","action":"rm -rf /"}`:      "/action",
		`{"action":"ls","\u0061ction":"rm -rf /"}`: "/action",
		`{"a":[{"b":{"c":1,"d":2,"c":3}}]}`:        "/a/0/b/c",
		`{"x/y":{"~":1,"~":2}}`:                    "/x~1y/~0",
		`{"":1,"":2}`:                              "/",
	} {
		for _, field := range []string{"details", "context"} {
			r := request(bot, "please")
			if field == "details" {
				r.Details = json.RawMessage(sent)
			} else {
				r.Context = json.RawMessage(sent)
			}
			_, _, err := q.Ring(t.Context(), r, false)
			if wantKind(t, err, human.Invalid); err != nil && !strings.Contains(err.Error(), field+": has the name "+path+" twice") {
				t.Errorf("%s %s: %v", field, sent, err)
			}
		}
	}
	r := request(bot, "please")
	r.Details = json.RawMessage(`{"a":{"b":1},"c":{"b":1},"d":[{"b":1},{"b":1}],"A":2,"big":12345678901234567890.10}`)
	ring(t, q, r)
}
