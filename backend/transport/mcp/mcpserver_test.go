package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/transport/mcp"
)

func TestTheToolTeachesItself(t *testing.T) {
	c := inMemory(t, mcp.ForQueue(open(t), nil, bot), mcp.Options{}, modern)
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Tools) != 1 || list.Tools[0].Name != "human" {
		t.Fatalf("tools %v, want human alone", list.Tools)
	}
	tool := list.Tools[0]
	all, err := json.Marshal(list)
	// An agent pays for the list in each of its conversations. The estimate is on the high side: a tokenizer counts about 0.7 of it.
	if n := human.Tokens(all); err != nil || n > 1800 {
		t.Errorf("the list has about %d tokens (%v)", n, err)
	}
	if n := len(tool.Description); n > 2048 {
		t.Errorf("the description has %d bytes; some clients cut at 2048", n)
	}
	for _, word := range []string{"pending", "waiting_input", "declined", "deny", "action=wait", "overdue", "get_summary", "list_pending", "findings", "get_evidence", "max_tokens"} {
		if !strings.Contains(tool.Description, word) {
			t.Errorf("the description does not speak of %s", word)
		}
	}
	schema, err := json.Marshal(tool.InputSchema)
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Required             []string
		AdditionalProperties *bool
		Properties           map[string]struct {
			Type, Description string
			Enum              []string
		}
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.Properties["action"].Enum, " "); got != "invoke check_result wait reply cancel get_summary get_evidence list_pending" {
		t.Errorf("actions %q", got)
	}
	if got := strings.Join(s.Properties["action_type"].Enum, " "); got != "feedback bash desktop browser review approve" {
		t.Errorf("action types %q", got)
	}
	if len(s.Required) != 1 || s.AdditionalProperties == nil || *s.AdditionalProperties {
		t.Errorf("required %v, additionalProperties %v", s.Required, s.AdditionalProperties)
	}
	for name, p := range s.Properties {
		if p.Type == "" || p.Description == "" {
			t.Errorf("%s has no type or no description", name)
		}
	}
	if tool.Annotations.ReadOnlyHint || *tool.Annotations.DestructiveHint || !*tool.Annotations.OpenWorldHint {
		t.Errorf("annotations %+v", tool.Annotations)
	}
}

func TestAConversationInBothProtocols(t *testing.T) {
	for _, version := range []string{modern, legacy} {
		t.Run(version, func(t *testing.T) {
			q := open(t)
			c := inMemory(t, mcp.ForQueue(q, nil, bot), mcp.Options{}, version)
			if got := c.InitializeResult().ProtocolVersion; got != version {
				t.Fatalf("speaks %s", got)
			}

			r := c.use(ask("Which tone?").with(args{"details": args{"design": "plain"}, "wait_seconds": 0, "priority": 7, "timeout": 60}))
			if r.Status != "pending" || r.State != human.Pending || r.OperationID == "" || !strings.Contains(r.Next, "action=wait") {
				t.Fatalf("rung: %+v", r)
			}
			id := r.OperationID
			op, err := q.Get(t.Context(), mei, id)
			if err != nil || op.Priority != 7 || string(op.Details) != `{"design":"plain"}` || op.ExpiresAt == nil || op.AgentID != bot.Name {
				t.Fatalf("the queue has %+v, %v", op, err)
			}
			if r := c.use(args{"action": "check_result", "operation_id": id}); r.Status != "pending" {
				t.Errorf("check_result: %+v", r)
			}
			if r := c.use(args{"action": "list_pending"}); len(r.Pending) != 1 || r.Pending[0].OperationID != id || len(r.Unread) != 0 {
				t.Errorf("list_pending: %+v", r)
			}

			if _, err := q.Reply(t.Context(), mei, id, "For whom?"); err != nil {
				t.Fatal(err)
			}
			r = c.use(args{"action": "wait", "operation_id": id})
			if r.Status != "waiting_input" || r.Question != "For whom?" || len(r.Messages) != 1 || r.Messages[0].From != "Mei" || !strings.Contains(r.Next, "action=reply") {
				t.Errorf("the operator's question: %+v", r)
			}
			answered := c.start(args{"action": "reply", "operation_id": id, "text": "For newcomers"}, nil)
			until(t, "the reply is there", func() (bool, bool) {
				op, err := q.Get(t.Context(), mei, id)
				return true, err == nil && op.State == human.InProgress
			})
			answer(t, q, id, human.Answer{HumanInput: "Warm", KeyFindings: []string{"short words"}, Fields: map[string]string{"tone": "warm"}})
			r = <-answered
			if r.Status != "completed" || r.HumanInput != "Warm" || r.Fields["tone"] != "warm" || len(r.KeyFindings) != 1 || r.By != "Mei" || len(r.Messages) != 2 {
				t.Errorf("the answer: %+v", r)
			}
			if len(r.Sources) > 0 {
				t.Errorf("a value that was typed is said to come from %v", r.Sources)
			}
			if a, b := r.textAndJSON[0], r.textAndJSON[1]; !sameJSON(a, b) {
				t.Errorf("the text and the structured content differ:\n%s\n%s", a, b)
			}
			if !delivered(t, q, id) {
				t.Error("the answer was read and does not count as delivered")
			}
			if r := c.use(args{"action": "list_pending"}); len(r.Pending)+len(r.Unread) != 0 {
				t.Errorf("list_pending after the end: %+v", r)
			}
			if r := c.use(args{"action": "get_summary", "since": "1h", "limit": 5}); !strings.Contains(r.Text, "Said: Warm") {
				t.Errorf("get_summary: %q", r.Text)
			}

			id = c.use(ask("Another one").with(args{"wait_seconds": 0})).OperationID
			if r := c.use(args{"action": "cancel", "operation_id": id, "reason": "found it"}); r.Status != "cancelled" || r.Reason != "found it" || !delivered(t, q, id) {
				t.Errorf("cancel: %+v", r)
			}
		})
	}
}

func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && fmt.Sprint(x) == fmt.Sprint(y)
}

func TestAnAgentReadsHowTheWorkEndedAndWhatCameOfItsSteps(t *testing.T) {
	q := open(t)
	c := inMemory(t, mcp.ForQueue(q, nil, bot), mcp.Options{}, modern)
	steps := []human.StepResult{{Step: 1, Verdict: "done"}, {Step: 3, Verdict: "failed", Note: "the menu is gray"}}
	for verdict, next := range map[human.WorkVerdict]string{human.WorkDone: "", human.WorkPartly: "did a part", human.WorkCouldNot: "another way"} {
		id := c.use(args{"action": "invoke", "action_type": "desktop", "description": string(verdict), "details": args{"steps": []string{"a", "b", "c"}}, "wait_seconds": 0}).OperationID
		answer(t, q, id, human.Answer{HumanInput: "**it**", WorkAnswer: human.WorkAnswer{Verdict: verdict, Steps: steps}})
		r := c.use(args{"action": "check_result", "operation_id": id})
		if r.Status != "completed" || r.Verdict != string(verdict) || !reflect.DeepEqual(r.Steps, steps) || r.HumanInput != "**it**" || !strings.Contains(r.Next, next) || (next == "") != (r.Next == "") {
			t.Errorf("%s: %+v", verdict, r)
		}
		if read := c.use(args{"action": "check_result", "operation_id": id, "field": "steps"}); read.Text != "1. done\n3. failed: the menu is gray\n" {
			t.Errorf("the steps as text: %q", read.Text)
		}
	}
}

func TestEndingsSayWhatToDo(t *testing.T) {
	q := open(t)
	c := inMemory(t, mcp.ForQueue(q, nil, bot), mcp.Options{}, modern)
	approval := func(words string) args {
		return args{"action": "invoke", "action_type": "approve", "description": words, "details": args{"action": "rm -r build", "risk_level": "high"}, "wait_seconds": 0}
	}
	for name, tt := range map[string]struct {
		end    func(id human.OperationID) error
		status string
		next   string
		want   func(result) bool
	}{
		"approved": {func(id human.OperationID) error {
			_, err := q.Complete(t.Context(), mei, id, human.Answer{Decision: human.Approved}, digest(t, q, id))
			return err
		}, "completed", "to nothing else", func(r result) bool { return r.Decision == "approve" }},
		"denied": {func(id human.OperationID) error {
			_, err := q.Complete(t.Context(), mei, id, human.Answer{Decision: human.Refused, HumanInput: "not on a Friday"}, digest(t, q, id))
			return err
		}, "completed", "do not do it", func(r result) bool { return r.Decision == "deny" && r.HumanInput == "not on a Friday" }},
		"declined": {func(id human.OperationID) error {
			_, err := q.Decline(t.Context(), mei, id, "wrong desk")
			return err
		}, "declined", "another way", func(r result) bool { return r.Reason == "wrong desk" && r.By == "Mei" }},
	} {
		t.Run(name, func(t *testing.T) {
			id := c.use(approval(name)).OperationID
			if err := tt.end(id); err != nil {
				t.Fatal(err)
			}
			r := c.use(args{"action": "check_result", "operation_id": id})
			if r.Status != tt.status || !strings.Contains(r.Next, tt.next) || !tt.want(r) {
				t.Errorf("%+v", r)
			}
			late, err := c.try(t.Context(), args{"action": "reply", "operation_id": id, "text": "wait!"}, nil)
			if err != nil || !late.failed || late.Kind != "conflict" || !strings.Contains(late.Message, "by Mei at") {
				t.Errorf("a late reply: %+v, %v", late, err)
			}
		})
	}
}

func TestBadCallsSayWhatIsWrongWhereAndWhatToDo(t *testing.T) {
	q := open(t)
	c := inMemory(t, mcp.ForQueue(q, nil, bot), mcp.Options{}, modern)
	theirs, _, err := q.Ring(t.Context(), human.Request{Kind: human.Feedback, Description: "theirs", AgentID: other.Name}, false)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		a                    args
		kind, field, message string
	}{
		"no action":          {args{}, "invalid", "action", "invoke, check_result"},
		"unknown action":     {args{"action": "retry"}, "invalid", "action", `"retry" is not one of invoke`},
		"unknown argument":   {ask("x").with(args{"prioritty": 3}), "invalid", "prioritty", "there are action, action_type"},
		"no action type":     {args{"action": "invoke", "description": "x"}, "invalid", "action_type", "feedback, bash"},
		"unknown type":       {args{"action": "invoke", "action_type": "shell", "description": "x"}, "invalid", "action_type", `"shell"`},
		"no description":     {args{"action": "invoke", "action_type": "bash"}, "invalid", "description", "is missing"},
		"wrong type":         {ask("x").with(args{"description": 7}), "invalid", "description", "must be of type string; got 7"},
		"list for details":   {ask("x").with(args{"details": []int{1}}), "invalid", "details", "must be of type object"},
		"priority":           {ask("x").with(args{"priority": 12}), "invalid", "priority", "0 to 9"},
		"half a priority":    {ask("x").with(args{"priority": 1.5}), "invalid", "priority", "whole number"},
		"timeout":            {ask("x").with(args{"timeout": -1}), "invalid", "timeout", "seconds"},
		"words for a number": {ask("x").with(args{"timeout": "soon"}), "invalid", "timeout", "number"},
		"on_timeout":         {ask("x").with(args{"on_timeout": "explode"}), "invalid", "on_timeout", "mark, cancel"},
		"wait_seconds":       {ask("x").with(args{"wait_seconds": -3}), "invalid", "wait_seconds", "from 0"},
		"no operation":       {args{"action": "wait"}, "invalid", "operation_id", "action=list_pending"},
		"no such operation":  {args{"action": "wait", "operation_id": "op_nothing"}, "not_found", "", "op_nothing"},
		"another's":          {args{"action": "check_result", "operation_id": theirs.ID}, "not_found", "", "you have no operation"},
		"another's cancel":   {args{"action": "cancel", "operation_id": theirs.ID}, "not_found", "", "you have no operation"},
		"no text":            {args{"action": "reply", "operation_id": "op_1"}, "invalid", "text", "is missing"},
		"since":              {args{"action": "get_summary", "since": "yesterday"}, "invalid", "since", "24h"},
		"limit":              {args{"action": "get_summary", "limit": 0}, "invalid", "limit", "from 1"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := c.try(t.Context(), tt.a, nil)
			if err != nil {
				t.Fatalf("an error of the protocol, which no model sees: %v", err)
			}
			if !r.failed || r.Status != "error" || r.Kind != tt.kind || r.Field != tt.field || !strings.Contains(r.Message, tt.message) || r.Next == "" {
				t.Errorf("%s", r.textAndJSON[0])
			}
			if strings.Contains(strings.ToLower(r.textAndJSON[0]), "try again") {
				t.Errorf("it tells the agent to try again: %s", r.textAndJSON[0])
			}
		})
	}
	if n := q.PendingOf(bot.Name); n != 0 {
		t.Errorf("%d bad calls rang", n)
	}
}

func TestDetailsMayComeAsText(t *testing.T) {
	q := open(t)
	c := inMemory(t, mcp.ForQueue(q, nil, bot), mcp.Options{}, modern)
	for text, want := range map[string]string{
		`{"file": "a.go",  "snippet":"x < y"}`: `{"file":"a.go","snippet":"x < y"}`,
		"just words":                           `{"text":"just words"}`,
		`[1, 2]`:                               `{"text":"[1, 2]"}`,
		`{"broken`:                             `{"text":"{\"broken"}`,
	} {
		r := c.use(ask("as text: " + text).with(args{"details": text, "context": text, "timeout": "60", "wait_seconds": "0"}))
		op, err := q.Get(t.Context(), bot, r.OperationID)
		if err != nil || !sameJSON(string(op.Details), want) || !sameJSON(string(op.Context), want) || op.Timeout != 60 {
			t.Errorf("%s became %s and %s, timeout %g, %v", text, op.Details, op.Context, op.Timeout, err)
		}
	}
}

// The ladder, on a clock of the test's own.
func TestWithoutProgressACallReturnsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := open(t)
		c := inMemory(t, mcp.ForQueue(q, nil, bot), mcp.Options{}, modern)
		began := time.Now()
		r := c.use(ask("Anybody?").with(args{"timeout": 30}))
		if took := time.Since(began); took != 45*time.Second {
			t.Errorf("returned after %s, want 45 s: clients give up at 50", took)
		}
		if r.Status != "pending" || !r.Overdue || !strings.Contains(r.Message, "still open") {
			t.Errorf("%+v", r)
		}
		began = time.Now()
		again := c.use(args{"action": "wait", "operation_id": r.OperationID, "wait_seconds": 600})
		if took := time.Since(began); took != 45*time.Second || again.Status != "pending" {
			t.Errorf("a long wait took %s, %+v", took, again)
		}
		began = time.Now()
		c.use(args{"action": "wait", "operation_id": r.OperationID, "wait_seconds": 7})
		if took := time.Since(began); took != 7*time.Second {
			t.Errorf("a wait of 7 s took %s", took)
		}
	})
}

func TestWithProgressACallWaitsAsLongAsItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := open(t)
		c := inMemory(t, mcp.ForQueue(q, nil, bot), mcp.Options{}, modern)
		notes := make(chan note, 1000)
		began := time.Now()
		done := c.start(ask("Take your time").with(args{"timeout": 60}), notes)
		pass(20*time.Minute + 2*time.Second)
		op := requested(t, q, bot, 1)
		if _, err := q.Claim(t.Context(), mei, op.ID); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		pass(time.Minute)
		answer(t, q, op.ID, human.Answer{HumanInput: "Done"})
		r := <-done
		if r.Status != "completed" || time.Since(began) != 21*time.Minute+2*time.Second {
			t.Errorf("after %s: %+v", time.Since(began), r)
		}
		synctest.Wait() // notes may come after the result
		close(notes)
		last, count, claimed, late := -1.0, 0, false, false
		for n := range notes {
			if n.Number <= last {
				t.Errorf("progress went from %g to %g", last, n.Number)
			}
			last = n.Number
			count++
			claimed = claimed || strings.Contains(n.Text, "Mei has claimed it")
			late = late || strings.Contains(n.Text, "overdue")
		}
		// every 15 s of 21 minutes, the first at once, and one at each change
		if count < 84 || count > 88 || !claimed || !late || last > 21*60+10 {
			t.Errorf("%d notes up to %g, claimed told: %t, overdue told: %t", count, last, claimed, late)
		}
	})
}

// A client with a clock of 60 s that no progress restarts reads where it stands before that clock ends, whatever it asks for; one whose
// patience is known waits that long.
func TestACallEndsBeforeTheClockOfItsClient(t *testing.T) {
	for _, version := range []string{legacy, modern} {
		synctest.Test(t, func(t *testing.T) {
			q := open(t)
			for _, tt := range []struct {
				opts  mcp.Options
				asked float64
				want  time.Duration
			}{
				{want: 45 * time.Second},
				{asked: 3600, want: 45 * time.Second},
				{asked: 20, want: 20 * time.Second},
				{opts: mcp.Options{Patience: 10 * time.Minute}, want: 10 * time.Minute},
				{opts: mcp.Options{Patience: 10 * time.Minute}, asked: 3600, want: 10 * time.Minute},
			} {
				c := inMemoryAs(t, "an-sdk", mcp.ForQueue(q, nil, bot), tt.opts, version)
				request := ask("Anybody?")
				if tt.asked > 0 {
					request["wait_seconds"] = tt.asked
				}
				began, notes := time.Now(), make(chan note, 100)
				r := <-c.start(request, notes)
				if took := time.Since(began); took != tt.want || r.Status != "pending" || r.OperationID == "" || !strings.Contains(r.Next, "action=wait") || len(notes) == 0 {
					t.Errorf("%s, %v: after %s %+v, %d notes", version, tt, took, r, len(notes))
				}
				_ = c.Close()
			}
		})
	}
}

func TestAClientThatLeavesEndsItsCallAndNotItsRequest(t *testing.T) {
	q := open(t)
	c := inMemory(t, mcp.ForQueue(q, nil, bot), mcp.Options{}, legacy)
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		_, err := c.try(ctx, ask("Still there?"), nil)
		gone <- err
	}()
	op := requested(t, q, bot, 1)
	until(t, "it waits", func() (bool, bool) { return true, q.PresenceOf(op.ID).Waiting })
	leave()
	if err := <-gone; err == nil {
		t.Error("the call outlived its client")
	}
	until(t, "nobody waits", func() (bool, bool) { return true, !q.PresenceOf(op.ID).Waiting })
	answer(t, q, op.ID, human.Answer{HumanInput: "Yes"})
	if delivered(t, q, op.ID) {
		t.Error("an answer nobody read counts as delivered")
	}
	if r := c.use(args{"action": "list_pending"}); len(r.Unread) != 1 || r.Unread[0].OperationID != op.ID {
		t.Errorf("list_pending: %+v", r)
	}
	r := c.use(ask("Still there?"))
	if !r.Attached || r.OperationID != op.ID || r.HumanInput != "Yes" || !delivered(t, q, op.ID) {
		t.Errorf("asked again: %+v", r)
	}
	if r := c.use(ask("Still there?").with(args{"wait_seconds": 0})); r.Attached || r.OperationID == op.ID {
		t.Errorf("asked once more, after it was read: %+v", r)
	}
}

func TestRingingAgainRingsNobodyTwice(t *testing.T) {
	q := open(t)
	c := inMemory(t, mcp.ForQueue(q, nil, bot), mcp.Options{Session: "stdio"}, modern)
	now := args{"wait_seconds": 0}
	first := c.use(ask("Once").with(now))
	for name, tt := range map[string]struct {
		a    args
		same bool
	}{
		"the same words":                    {ask("Once").with(now), true},
		"the session's name":                {ask("Once").with(now).with(args{"session_id": "stdio"}), true},
		"another priority and time limit":   {ask("Once").with(now).with(args{"priority": 9, "timeout": 5}), true},
		"the same words in another session": {ask("Once").with(now).with(args{"session_id": "another"}), false},
		"other words":                       {ask("Twice").with(now), false},
		"the same words with details":       {ask("Once").with(now).with(args{"details": args{"a": 1}}), false},
		"the same words of another kind":    {args{"action": "invoke", "action_type": "review", "description": "Once", "wait_seconds": 0}, false},
		"a key that is new":                 {ask("Once, by key").with(now).with(args{"idempotency_key": "k"}), false},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.use(tt.a)
			if r.Attached != tt.same || (r.OperationID == first.OperationID) != tt.same {
				t.Errorf("attached %t to %s, the first is %s", r.Attached, r.OperationID, first.OperationID)
			}
		})
	}
	byKey := c.use(ask("Once, by key").with(now).with(args{"idempotency_key": "k"}))
	answer(t, q, byKey.OperationID, human.Answer{HumanInput: "ok"})
	for range 2 {
		if r := c.use(ask("Once, by key").with(args{"idempotency_key": "k"})); !r.Attached || r.HumanInput != "ok" {
			t.Errorf("the same key after the end: %+v", r)
		}
	}
	r, err := c.try(t.Context(), ask("Other words").with(args{"idempotency_key": "k"}), nil)
	if err != nil || r.Kind != "conflict" {
		t.Errorf("the key with other words: %+v, %v", r, err)
	}
}

// away is a Ringer whose queue is out of reach for some calls, as while the app restarts.
type away struct {
	mcp.Ringer
	calls int
}

func (a *away) gone() error {
	if a.calls--; a.calls >= 0 {
		return human.Errorf(human.Unavailable, "Deskbell is not running")
	}
	return nil
}

func (a *away) Ring(ctx context.Context, r mcp.Ring) (human.Operation, bool, error) {
	if err := a.gone(); err != nil {
		return human.Operation{}, false, err
	}
	return a.Ringer.Ring(ctx, r)
}

func (a *away) Wait(ctx context.Context, id human.OperationID, after uint64, most time.Duration) (human.Operation, error) {
	if err := a.gone(); err != nil {
		return human.Operation{}, err
	}
	return a.Ringer.Wait(ctx, id, after, most)
}

func TestAWaitSurvivesARestartOfTheApp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := open(t)
		ringer := &away{Ringer: mcp.ForQueue(q, nil, bot)}
		c := inMemory(t, ringer, mcp.Options{}, modern)
		ringer.calls = 3
		began := time.Now()
		id := c.use(ask("Here?").with(args{"wait_seconds": 0})).OperationID
		if took := time.Since(began); took != 700*time.Millisecond {
			t.Errorf("rang after %s", took)
		}

		ringer.calls = 10
		answered := c.start(args{"action": "wait", "operation_id": id}, nil)
		pass(20 * time.Second)
		answer(t, q, id, human.Answer{HumanInput: "Here"})
		if r := <-answered; r.HumanInput != "Here" {
			t.Errorf("after the restart: %+v", r)
		}

		id = c.use(ask("And now?").with(args{"wait_seconds": 0})).OperationID
		ringer.calls = 1000
		r := c.use(args{"action": "wait", "operation_id": id})
		if r.Status != "pending" || r.OperationID != id || !strings.Contains(r.Message, "nothing is lost") {
			t.Errorf("away all the time: %+v", r)
		}
		r, err := c.try(t.Context(), ask("Nobody home"), nil)
		if err != nil || r.Kind != "unavailable" || !strings.Contains(r.Next, "tell your user") {
			t.Errorf("ringing while away: %+v, %v", r, err)
		}
	})
}

func TestBigResultsAreCutAndCanBeReadOn(t *testing.T) {
	q := open(t)
	c := inMemory(t, mcp.ForQueue(q, nil, bot), mcp.Options{}, modern)
	long := strings.Repeat("Zeile mit <Zeichen> & \"mehr\".\n", 3000)
	chinese := strings.Repeat("长", 25000)
	var findings []string
	for i := range 3000 {
		findings = append(findings, fmt.Sprintf("finding %d", i))
	}
	for name, a := range map[string]human.Answer{
		"long":         {HumanInput: long, ExecutionResult: "short"},
		"chinese":      {HumanInput: chinese, Summary: chinese},
		"many":         {HumanInput: "see findings", KeyFindings: findings},
		"long and all": {HumanInput: long, ExecutionResult: long, Summary: long, KeyFindings: findings, Fields: map[string]string{"all": long}},
	} {
		t.Run(name, func(t *testing.T) {
			id := c.use(ask("Long: " + name).with(args{"wait_seconds": 0})).OperationID
			answer(t, q, id, a)
			r := c.use(args{"action": "wait", "operation_id": id})
			size := len(r.textAndJSON[0]) / 3
			if name == "chinese" {
				size = len([]rune(r.textAndJSON[0])) * 3 / 2
			}
			if size > 13000 || size < 400 {
				t.Errorf("about %d tokens", size)
			}
			if len(r.Cut) == 0 || !strings.Contains(r.Cut[0], "action=check_result") || r.OperationID != id {
				t.Errorf("what was cut: %v", r.Cut)
			}
			if got := readAll(c, id, "human_input"); got != a.HumanInput {
				t.Errorf("read on, human_input has %d bytes, want %d", len(got), len(a.HumanInput))
			}
			if got := readAll(c, id, "key_findings"); strings.Count(got, "- finding") != len(a.KeyFindings) {
				t.Errorf("read on, there are %d findings", strings.Count(got, "- finding"))
			}
		})
	}
}

// readAll reads one text of a result, part by part.
func readAll(c *client, id human.OperationID, field string) string {
	c.t.Helper()
	var b strings.Builder
	for offset := 0; ; {
		r := c.use(args{"action": "check_result", "operation_id": id, "field": field, "offset": offset})
		if n := len(r.textAndJSON[0]) / 3; n > 25000 && !strings.Contains(r.Text, "长") {
			c.t.Fatalf("a part has about %d tokens", n)
		}
		b.WriteString(r.Text)
		if r.NextOffset == 0 {
			if got := len([]rune(b.String())); got != r.Total {
				c.t.Errorf("%s: read %d of %d characters", field, got, r.Total)
			}
			return b.String()
		}
		if r.NextOffset <= offset {
			c.t.Fatalf("%s does not go on after %d", field, offset)
		}
		offset = r.NextOffset
	}
}

func TestTooManyRequestsSayWhichLimit(t *testing.T) {
	q := open(t)
	c := inMemory(t, mcp.ForQueue(q, nil, bot), mcp.Options{}, modern)
	for i := range 10 {
		c.use(ask(fmt.Sprint("request ", i)).with(args{"wait_seconds": 0}))
	}
	r, err := c.try(t.Context(), ask("one more"), nil)
	if err != nil || r.Kind != "exhausted" || !strings.Contains(r.Message, "max_pending_requests is 10") || !strings.Contains(r.Next, "list_pending") {
		t.Errorf("%+v, %v", r, err)
	}
	if r := c.use(args{"action": "list_pending", "limit": 4}); len(r.Pending) != 4 {
		t.Errorf("a list of 4 has %d", len(r.Pending))
	}
}
