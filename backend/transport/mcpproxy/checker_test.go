package mcpproxy

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

	"deskbell/backend/gate"
	"deskbell/backend/gate/service"
	"deskbell/backend/human"
)

// judgeFunc is a Judge.
type judgeFunc func(ctx context.Context, call human.ToolCall, how service.Asking) (human.Judgement, error)

func (f judgeFunc) Evaluate(ctx context.Context, call human.ToolCall, how service.Asking) (human.Judgement, error) {
	return f(ctx, call, how)
}

// says is a judge that always says the same.
func says(j human.Judgement) judgeFunc {
	return func(context.Context, human.ToolCall, service.Asking) (human.Judgement, error) { return j, nil }
}

// An operator is a judge that asks about every call, and answers when told to.
type operator struct {
	mu      sync.Mutex
	asked   []service.Asking
	calls   []human.ToolCall
	answers chan human.Judgement
}

func newOperator() *operator { return &operator{answers: make(chan human.Judgement, 10)} }

func (o *operator) Evaluate(ctx context.Context, call human.ToolCall, how service.Asking) (human.Judgement, error) {
	o.mu.Lock()
	o.asked, o.calls = append(o.asked, how), append(o.calls, call)
	o.mu.Unlock()
	ask := human.Judgement{Decision: human.Ask, OperationID: "op_1"}
	if how.Wait == 0 {
		select {
		case j := <-o.answers:
			if how.Question != "" {
				return j, nil
			}
			o.answers <- j
		default:
		}
		return ask, nil
	}
	t := time.NewTimer(how.Wait)
	defer t.Stop()
	select {
	case j := <-o.answers:
		return j, nil
	case <-t.C:
		return ask, nil
	case <-ctx.Done():
		return human.Judgement{}, ctx.Err()
	}
}

const aCall = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"rm","arguments":{"path":"a"}}}`

// resultOf is the text of a blocked call.
func resultOf(t *testing.T, o outcome) string {
	t.Helper()
	var a answer
	if o.forward != nil || json.Unmarshal(o.reply, &a) != nil || a.Result == nil || !a.Result.IsError || string(a.ID) != "7" {
		t.Fatalf("it is not blocked: %s %s", o.forward, o.reply)
	}
	return a.Result.Content[0].Text
}

func TestWhatIsDecidedIsDone(t *testing.T) {
	digest := gate.Digest(gate.Call{Tool: "mcp__fs__rm", Args: json.RawMessage(`{"path":"a"}`), Cwd: "/w"})
	for name, tt := range map[string]struct {
		judgement human.Judgement
		err       error
		forward   string // empty: blocked
		says      string
	}{
		"allowed":                      {human.Judgement{Decision: human.Allow, Verdict: human.Verdict{Digest: digest}}, nil, aCall, ""},
		"allowed without a digest":     {human.Judgement{Decision: human.Allow}, nil, aCall, ""},
		"another call was allowed":     {human.Judgement{Decision: human.Allow, Verdict: human.Verdict{Digest: "sha256:0"}}, nil, "", "not what was called"},
		"with other arguments":         {human.Judgement{Decision: human.Allow, Args: json.RawMessage("{\n\"path\":\"b<\"}")}, nil, strings.Replace(aCall, `{"path":"a"}`, `{"path":"b\u003c"}`, 1), ""},
		"with arguments that are none": {human.Judgement{Decision: human.Allow, Args: json.RawMessage(`[1]`)}, nil, "", "no JSON object"},
		"with a piece of arguments":    {human.Judgement{Decision: human.Allow, Args: json.RawMessage(`{"a":1},"x":{}`)}, nil, "", "no JSON object"},
		"denied":                       {human.Judgement{Decision: human.Deny, Message: "It is the only copy."}, nil, "", "It is the only copy."},
		"denied without words":         {human.Judgement{Decision: human.Deny}, nil, "", "blocked"},
		"asked, and nobody there":      {human.Judgement{Decision: human.Ask}, nil, "", "did not run"},
		"no decision":                  {human.Judgement{}, nil, "", "blocked"},
		"another word":                 {human.Judgement{Decision: "maybe"}, nil, "", "blocked"},
		"no judge":                     {human.Judgement{}, human.Errorf(human.Unavailable, "no Deskbell answers"), "", "no Deskbell answers"},
		"an error beside a permission": {human.Judgement{Decision: human.Allow}, errors.New("lost"), "", "could not be judged"},
	} {
		t.Run(name, func(t *testing.T) {
			var got human.ToolCall
			d := newChecker(judgeFunc(func(_ context.Context, c human.ToolCall, _ service.Asking) (human.Judgement, error) {
				got = c
				return tt.judgement, tt.err
			}), Options{Server: "fs", Cwd: "/w", Session: "s"})
			o := d.decide(t.Context(), read([]byte(aCall)), caller{})
			if tt.forward == "" {
				if text := resultOf(t, o); !strings.Contains(text, tt.says) {
					t.Error(text)
				}
			} else if string(o.forward) != tt.forward || o.reply != nil {
				t.Errorf("%s %s", o.forward, o.reply)
			}
			if got.Tool != "mcp__fs__rm" || string(got.Args) != `{"path":"a"}` || got.Cwd != "/w" || got.Client != "mcp-proxy" || got.SessionID != "s" || got.CallID == "" {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestAClientIsToldThatAnOperatorIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		op := newOperator()
		d := newChecker(op, Options{})
		var told []time.Duration
		began := time.Now()
		time.AfterFunc(99*time.Second, func() { op.answers <- human.Judgement{Decision: human.Allow} })
		o := d.decide(t.Context(), read([]byte(aCall)), caller{name: "claude-code", tell: func(text string) {
			if !strings.Contains(text, "op_1") {
				t.Error(text)
			}
			told = append(told, time.Since(began))
		}})
		if string(o.forward) != aCall || o.asked == nil {
			t.Errorf("%+v", o)
		}
		if len(told) != 7 || told[0] != 0 || told[1] != 15*time.Second || told[6] != 90*time.Second {
			t.Errorf("told after %v", told)
		}
		if n := len(op.asked); n != 5 || op.asked[0].Wait != 0 || op.asked[1] != (service.Asking{Question: "op_1", Wait: 25 * time.Second}) {
			t.Errorf("asked %d times: %+v", n, op.asked)
		}
	})
}

func TestNotesOfProgressIncreaseAndLeaveRoomForTheServers(t *testing.T) {
	last := -2.0
	for n := 1; n < 10000; n++ {
		var got notification
		if err := json.Unmarshal(note(json.RawMessage(`"t"`), n, "x"), &got); err != nil {
			t.Fatal(err)
		}
		if p := got.Params.Progress; p <= last || p >= 0 {
			t.Fatalf("%v after %v", p, last)
		}
		last = got.Params.Progress
	}
}

func TestAClientIsAnsweredInTimeAndMayComeBack(t *testing.T) {
	t.Run("without progress", func(t *testing.T) { answeredInTime(t, caller{}) })
	t.Run("with progress that need not keep it waiting", func(t *testing.T) {
		answeredInTime(t, caller{name: "claude-ai", tell: func(string) {}})
	})
}

func answeredInTime(t *testing.T, by caller) {
	synctest.Test(t, func(t *testing.T) {
		op := newOperator()
		d := newChecker(op, Options{Session: "s"})
		began := time.Now()
		text := resultOf(t, d.decide(t.Context(), read([]byte(aCall)), by))
		if took := time.Since(began); took != 45*time.Second {
			t.Errorf("after %v", took)
		}
		if !strings.Contains(text, "has not run yet") || !strings.Contains(text, "op_1") {
			t.Error(text)
		}
		op.answers <- human.Judgement{Decision: human.Allow}
		again := strings.Replace(aCall, `"id":7`, `"id":8`, 1)
		if o := d.decide(t.Context(), read([]byte(again)), caller{}); string(o.forward) != again {
			t.Errorf("%s %s", o.forward, o.reply)
		}
		last := op.asked[len(op.asked)-1]
		if last.Question != "op_1" {
			t.Errorf("it was asked anew: %+v", last)
		}
		for _, c := range op.calls {
			if c.CallID != op.calls[0].CallID {
				t.Errorf("%s and %s", c.CallID, op.calls[0].CallID)
			}
		}
	})
}

func TestOnlyTheSameCallJoinsAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		op := newOperator()
		d := newChecker(op, Options{})
		resultOf(t, d.decide(t.Context(), read([]byte(aCall)), caller{}))
		op.answers <- human.Judgement{Decision: human.Allow}
		before := len(op.asked)
		other := strings.Replace(aCall, `"a"`, `"b"`, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		d.decide(ctx, read([]byte(other)), caller{})
		if op.asked[before].Question != "" {
			t.Errorf("%+v", op.asked[before])
		}
		// Nor does the same call, long after.
		resultOf(t, d.decide(t.Context(), read([]byte(strings.Replace(aCall, `"a"`, `"c"`, 1))), caller{}))
		<-time.After(freshFor + time.Second)
		before = len(op.asked)
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		d.decide(ctx, read([]byte(strings.Replace(aCall, `"a"`, `"c"`, 1))), caller{})
		if op.asked[before].Question != "" {
			t.Errorf("%+v", op.asked[before])
		}
	})
}

func TestACallThatWasGivenUpNeverGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		op := newOperator()
		d := newChecker(op, Options{})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Second, func() {
			cancel()
			op.answers <- human.Judgement{Decision: human.Allow}
		})
		if o := d.decide(ctx, read([]byte(aCall)), caller{tell: func(string) {}}); o.forward != nil || o.reply != nil {
			t.Errorf("%s %s", o.forward, o.reply)
		}
		// The answer comes in the same moment.
		ctx, cancel = context.WithCancel(t.Context())
		d = newChecker(judgeFunc(func(context.Context, human.ToolCall, service.Asking) (human.Judgement, error) {
			cancel()
			return human.Judgement{Decision: human.Allow}, nil
		}), Options{})
		if o := d.decide(ctx, read([]byte(aCall)), caller{}); o.forward != nil {
			t.Error("it went on")
		}
	})
}

func TestClosingEndsTheAsking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		op := newOperator()
		closing := make(chan struct{})
		time.AfterFunc(time.Second, func() { close(closing) })
		text := resultOf(t, newChecker(op, Options{}).decide(t.Context(), read([]byte(aCall)), caller{closing: closing}))
		if !strings.Contains(text, "ended the connection") {
			t.Error(text)
		}
	})
}

func TestAJudgeThatDoesNotWaitIsNotAskedWithoutAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		d := newChecker(judgeFunc(func(context.Context, human.ToolCall, service.Asking) (human.Judgement, error) {
			n++
			return human.Judgement{Decision: human.Ask, OperationID: "op_1"}, nil
		}), Options{})
		resultOf(t, d.decide(t.Context(), read([]byte(aCall)), caller{}))
		if n > 50 {
			t.Errorf("%d times", n)
		}
	})
}

func TestAJudgeThatGoesAwayRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newChecker(judgeFunc(func(_ context.Context, _ human.ToolCall, how service.Asking) (human.Judgement, error) {
			if how.Question != "" {
				return human.Judgement{}, human.Errorf(human.Unavailable, "Deskbell went away")
			}
			return human.Judgement{Decision: human.Ask, OperationID: "op_1"}, nil
		}), Options{})
		if text := resultOf(t, d.decide(t.Context(), read([]byte(aCall)), caller{})); !strings.Contains(text, "went away") {
			t.Error(text)
		}
	})
}

func TestAServerThatWantsInputDoesNotHaveTheOperatorAskedTwice(t *testing.T) {
	op := newOperator()
	d := newChecker(op, Options{})
	op.answers <- human.Judgement{Decision: human.Allow}
	m := read([]byte(aCall))
	o := d.decide(t.Context(), m, caller{})
	if o.asked == nil {
		t.Fatal("nobody was asked")
	}
	var w watches
	w.of(d, m, map[string]question{key(m.id): *o.asked})
	w.look([]byte(`{"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required","requestState":"s1","inputRequests":{}}}`))
	first := op.calls[0].CallID
	on := func(id int, state string) string {
		op.answers <- human.Judgement{Decision: human.Allow}
		raw := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"rm","arguments":{"path":"a"},"requestState":%q}}`, id, state)
		before := len(op.calls)
		d.decide(t.Context(), read([]byte(raw)), caller{})
		return op.calls[before].CallID
	}
	if got := on(8, "s0"); got == first {
		t.Error("a state that the server never gave belongs to the answer")
	}
	if got := on(9, "s1"); got != first {
		t.Errorf("%s is not %s", got, first)
	}
	if got := on(10, "s1"); got == first {
		t.Error("one answer is used twice")
	}
}

func TestToolsAreRememberedAsTheClientWasToldOfThem(t *testing.T) {
	d := newChecker(says(human.Judgement{Decision: human.Allow}), Options{})
	var w watches
	list := func(params string) {
		w.of(d, read([]byte(`{"jsonrpc":"2.0","id":"l","method":"tools/list"`+params+`}`)), nil)
	}
	list("")
	w.look([]byte(`{"jsonrpc":"2.0","id":"other","result":{"tools":[{"name":"c"}]}}`))
	w.look([]byte(`{"jsonrpc":"2.0","id":"\u006c","result":{"nextCursor":"2","tools":[
		{"name":"a","description":"Reads","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},
		{"name":"b","description":7,"inputSchema":[],"annotations":"none"}, null]}}`))
	a, b := d.tools.get("a"), d.tools.get("b")
	if a.about != "Reads" || string(a.schema) != `{"type":"object"}` || a.annotations.ReadOnly == nil || !*a.annotations.ReadOnly {
		t.Errorf("%+v", a)
	}
	if b.about != "" || b.schema != nil || b.annotations.ReadOnly != nil {
		t.Errorf("%+v", b)
	}
	list(`,"params":{"cursor":"2"}`)
	w.look([]byte(`[{"jsonrpc":"2.0","id":"l","result":{"tools":[{"name":"c","description":"More"}]}}]`))
	if d.tools.get("a").about != "Reads" || d.tools.get("c").about != "More" {
		t.Error("a second page replaced the first")
	}
	list("")
	w.look([]byte(`{"jsonrpc":"2.0","id":"l","result":{"tools":[{"name":"a","annotations":{"destructiveHint":true}}]}}`))
	if a := d.tools.get("a"); a.about != "" || a.annotations.Destructive == nil || d.tools.get("c").about != "" {
		t.Errorf("%+v", a)
	}
	if len(w.all) != 0 {
		t.Errorf("%d answers are waited for", len(w.all))
	}
	if was := d.tools.get("a").was; string(was) != `{"annotations":{"readOnlyHint":true},"description":"Reads","inputSchema":{"type":"object"}}` {
		t.Errorf("a tool that its server describes otherwise now was %s", was)
	}
	if was := d.tools.get("b").was; was != nil {
		t.Errorf("a tool that is no more was %s", was)
	}
}

func TestABatchGoesOnWithoutWhatIsRefused(t *testing.T) {
	d := newChecker(judgeFunc(func(_ context.Context, c human.ToolCall, _ service.Asking) (human.Judgement, error) {
		switch c.Tool {
		case "mcp__server__no":
			return human.Judgement{Decision: human.Deny, Message: "no"}, nil
		case "mcp__server__other":
			return human.Judgement{Decision: human.Allow, Args: json.RawMessage(`{"x":2}`)}, nil
		}
		return human.Judgement{Decision: human.Allow}, nil
	}), Options{})
	call := func(id int, name string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q}}`, id, name)
	}
	for _, tt := range []struct {
		in      []string
		forward string
		refused []string
	}{
		{[]string{call(1, "yes"), ` {"jsonrpc":"2.0","id":2,"method":"ping"}`}, "[" + call(1, "yes") + `, {"jsonrpc":"2.0","id":2,"method":"ping"}]`, nil},
		{[]string{call(1, "no"), call(2, "yes")}, "[" + call(2, "yes") + "]", []string{"1"}},
		{[]string{call(1, "no"), call(2, "no")}, "", []string{"1", "2"}},
		{[]string{call(1, "other")}, `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"x":2},"name":"other"}}]`, nil},
		{[]string{call(1, "yes"), `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{}}`}, "[" + call(1, "yes") + "]", []string{"2"}},
	} {
		m := read([]byte("[" + strings.Join(tt.in, ",") + "]"))
		b := d.decideAll(t.Context(), m, caller{})
		if string(b.forward) != tt.forward {
			t.Errorf("%s", b.forward)
		}
		var replies []answer
		if r := b.reply(); r != nil && json.Unmarshal(r, &replies) != nil {
			t.Errorf("%s", r)
		}
		var ids []string
		for _, r := range replies {
			ids = append(ids, string(r.ID))
		}
		if !slices.Equal(ids, tt.refused) {
			t.Errorf("refused %v, want %v", ids, tt.refused)
		}
	}
}

// BenchmarkJudged is what the proxy itself does for a call that is allowed, without its judge and its pipes.
func BenchmarkJudged(b *testing.B) {
	line := []byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"notes/today.md","content":"` + strings.Repeat("word ", 200) + `"},"_meta":{"progressToken":7}}}`)
	d := newChecker(says(human.Judgement{Decision: human.Allow}), Options{})
	for b.Loop() {
		if o := d.decide(b.Context(), read(line), caller{}); o.forward == nil {
			b.Fatal(string(o.reply))
		}
	}
}
