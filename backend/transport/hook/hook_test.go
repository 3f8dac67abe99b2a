package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
)

// A bench is a Judge of which the test says what it does.
type bench struct {
	evaluate func(ctx context.Context, call human.ToolCall, how service.Asking) (human.Judgement, error)
	calls    []human.ToolCall
	hows     []service.Asking
	gone     []human.OperationID
}

func (b *bench) Evaluate(ctx context.Context, call human.ToolCall, how service.Asking) (human.Judgement, error) {
	b.calls, b.hows = append(b.calls, call), append(b.hows, how)
	return b.evaluate(ctx, call, how)
}

func (b *bench) Withdraw(_ context.Context, q human.OperationID, _ string) error {
	b.gone = append(b.gone, q)
	return nil
}

func says(j human.Judgement) *bench {
	return &bench{evaluate: func(context.Context, human.ToolCall, service.Asking) (human.Judgement, error) { return j, nil }}
}

var judgements = map[string]human.Judgement{
	"allow":   {Decision: human.Allow, Message: "It only looks."},
	"told":    {Decision: human.Allow, Message: "Ada allowed it. A copy is in /backups/7.", OperationID: "op_1", Backup: &human.Backup{Path: "/backups/7"}},
	"changed": {Decision: human.Allow, Message: "Ada changed it.", OperationID: "op_1", Args: []byte(`{"command":"rm -r build"}`)},
	"deny":    {Decision: human.Deny, Message: "Ada refused it: not today.", OperationID: "op_1"},
	"client":  {Decision: human.Ask, Message: "Deskbell does not run."},
}

// conversation reads a file of what a client says and what it is answered.
func conversation(t *testing.T, path string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	parts, name := map[string]string{}, ""
	for line := range strings.Lines(string(text)) {
		if head, ok := strings.CutPrefix(strings.TrimSpace(line), "-- "); ok {
			name = strings.TrimSuffix(head, " --")
		} else if name != "" {
			parts[name] += line
		}
	}
	return parts
}

func run(t *testing.T, client, in string, j Judge) (out, errs string, code int) {
	t.Helper()
	c, err := Find(client)
	if err != nil {
		t.Fatal(err)
	}
	var o, e bytes.Buffer
	code = Run(t.Context(), c, c.Limit, strings.NewReader(in), &o, &e, j)
	return o.String(), e.String(), code
}

func TestEachClientIsReadAndAnsweredInItsOwnWords(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		client, _, _ := strings.Cut(filepath.Base(file), "_")
		said := conversation(t, file)
		answers := 0
		for name, j := range judgements {
			want, given := said[name]
			if !given {
				continue
			}
			answers++
			b := says(j)
			got, errs, code := run(t, client, said["in"], b)
			if got != want || errs != "" || code != 0 {
				t.Errorf("%s, %s: exit %d, %s\n got %s want %s", file, name, code, errs, got, want)
			}
			var call bytes.Buffer
			e := json.NewEncoder(&call)
			e.SetEscapeHTML(false)
			if err := e.Encode(b.calls[0]); err != nil || call.String() != said["call"] {
				t.Errorf("%s: judged was\n %s not\n %s (%v)", file, call.String(), said["call"], err)
			}
		}
		if answers+2 != len(said) {
			t.Errorf("%s: %d answers in %d parts", file, answers, len(said))
		}
	}
}

func TestArgumentsArriveAsTheyAre(t *testing.T) {
	const args = `{"n":12345678901234567890.10,"n":1,"s":"\u202e\ud800 <&> é","list":[null,{}]}`
	b := says(judgements["allow"])
	run(t, "claude-code", `{"hook_event_name":"PreToolUse","tool_name":"T","tool_input":`+args+`}`, b)
	if string(b.calls[0].Args) != args {
		t.Errorf("%s became %s", args, b.calls[0].Args)
	}
}

// denied says whether an answer of a client holds a call back.
func denied(client, out string) bool {
	var a struct {
		Decision   string
		Permission string
		Specific   struct {
			Permission string `json:"permissionDecision"`
			Reason     string `json:"permissionDecisionReason"`
			Decision   struct{ Behavior string }
		} `json:"hookSpecificOutput"`
	}
	if json.Unmarshal([]byte(out), &a) != nil {
		return false
	}
	switch client {
	case "claude-code", "codex", "copilot", "qwen":
		return a.Specific.Permission == "deny" && a.Specific.Reason != ""
	case "cursor":
		return a.Permission == "deny"
	}
	return a.Decision == "deny"
}

func TestWhateverGoesWrongIsARefusal(t *testing.T) {
	broken := errors.New("broken")
	for _, client := range Names() {
		in := conversation(t, firstOf(t, client))["in"]
		for name, tt := range map[string]struct {
			in   string
			j    *bench
			code int
		}{
			"nothing":        {in: "", code: blocked},
			"half a line":    {in: in[:len(in)/2], code: blocked},
			"two objects":    {in: in + in, code: blocked},
			"not an object":  {in: `["` + client + `"]`, code: blocked},
			"another event":  {in: `{"hook_event_name":"PostToolUse","event":"x","tool_name":"Bash"}`, code: blocked},
			"bytes":          {in: "\xff\x00\x7f", code: blocked},
			"a broken judge": {in: in, j: &bench{evaluate: func(context.Context, human.ToolCall, service.Asking) (human.Judgement, error) { panic("oh") }}, code: blocked},
			"an error": {in: in, j: &bench{evaluate: func(context.Context, human.ToolCall, service.Asking) (human.Judgement, error) {
				return human.Judgement{}, broken
			}}},
			"an error, and an allow": {in: in, j: &bench{evaluate: func(context.Context, human.ToolCall, service.Asking) (human.Judgement, error) {
				return judgements["allow"], broken
			}}},
			"no decision": {in: in, j: says(human.Judgement{})},
			"a new word":  {in: in, j: says(human.Judgement{Decision: "perhaps"})},
		} {
			if tt.j == nil {
				tt.j = says(judgements["allow"])
			}
			out, errs, code := run(t, client, tt.in, tt.j)
			if !denied(client, out) || code != tt.code || (code == blocked) != (errs != "") {
				t.Errorf("%s, %s: exit %d, %q, %q", client, name, code, out, errs)
			}
		}
	}
}

func firstOf(t *testing.T, client string) string {
	t.Helper()
	files, err := filepath.Glob("testdata/" + client + "_*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(client, err)
	}
	return files[0]
}

func TestAWriterThatIsGoneIsARefusal(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	defer func() { _ = w.Close() }()
	var errs bytes.Buffer
	code := Run(t.Context(), claudeCode, time.Minute, strings.NewReader(conversation(t, "testdata/claude-code_bash.txt")["in"]), w, &errs, says(judgements["allow"]))
	if code != blocked || errs.Len() == 0 {
		t.Error(code, errs.String())
	}
}

func TestAnOperatorIsWaitedFor(t *testing.T) {
	in := conversation(t, "testdata/claude-code_bash.txt")["in"]
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		b := &bench{}
		b.evaluate = func(ctx context.Context, _ human.ToolCall, how service.Asking) (human.Judgement, error) {
			if time.Since(began) > 5*time.Minute {
				return judgements["told"], nil
			}
			rest(ctx, how.Wait)
			return human.Judgement{Decision: human.Ask, OperationID: "op_1"}, nil
		}
		out, _, code := run(t, "claude-code", in, b)
		if code != 0 || !strings.Contains(out, `"permissionDecision":"allow"`) {
			t.Error(out)
		}
		if b.hows[0].Question != "" || b.hows[1].Question != "op_1" || b.hows[1].Wait != laterWait || b.hows[0].Wait != firstWait {
			t.Errorf("asked with %+v", b.hows[:2])
		}
		if got := b.hows[0].Timeout; got != 580*time.Second {
			t.Error("the question may wait", got)
		}
		if n := len(b.calls); n != 14 {
			t.Error("asked", n, "times in five minutes")
		}
		if b.gone != nil {
			t.Error("withdrawn", b.gone)
		}
	})
}

func TestAnswersComeBeforeTheClientsLimit(t *testing.T) {
	in := conversation(t, "testdata/gemini_shell.txt")["in"]
	for _, limit := range []time.Duration{time.Second, 10 * time.Second, time.Minute, time.Hour} {
		for name, answer := range map[string]func(context.Context, service.Asking) (human.Judgement, error){
			"it waits as told": func(ctx context.Context, how service.Asking) (human.Judgement, error) {
				rest(ctx, how.Wait)
				return human.Judgement{Decision: human.Ask, OperationID: "op_1"}, ctx.Err()
			},
			"it does not wait": func(context.Context, service.Asking) (human.Judgement, error) {
				return human.Judgement{Decision: human.Ask, OperationID: "op_1"}, nil
			},
			"it never answers": func(ctx context.Context, _ service.Asking) (human.Judgement, error) {
				<-ctx.Done()
				return human.Judgement{}, ctx.Err()
			},
			"it waits too long": func(ctx context.Context, _ service.Asking) (human.Judgement, error) {
				<-ctx.Done()
				return human.Judgement{Decision: human.Ask, OperationID: "op_1"}, nil
			},
		} {
			synctest.Test(t, func(t *testing.T) {
				b := &bench{evaluate: func(ctx context.Context, _ human.ToolCall, how service.Asking) (human.Judgement, error) {
					return answer(ctx, how)
				}}
				began := time.Now()
				var out, errs bytes.Buffer
				code := Run(t.Context(), gemini, limit, strings.NewReader(in), &out, &errs, b)
				took := time.Since(began)
				if code != 0 || !denied("gemini", out.String()) || took >= limit || took < limit/2 {
					t.Errorf("limit %s, %s: after %s exit %d, %s", limit, name, took, code, out.String())
				}
				if name != "it never answers" && !slices.Equal(b.gone, []human.OperationID{"op_1"}) {
					t.Errorf("limit %s, %s: the question was not withdrawn", limit, name)
				}
				if len(b.calls) > int(limit/pause)+2 {
					t.Errorf("limit %s, %s: asked %d times", limit, name, len(b.calls))
				}
				if b.hows[0].Timeout <= 0 || b.hows[0].Timeout >= limit {
					t.Errorf("limit %s: the question may wait %s", limit, b.hows[0].Timeout)
				}
			})
		}
	}
}

func TestAHookThatIsStoppedRefusesAndWithdraws(t *testing.T) {
	in := conversation(t, "testdata/opencode_bash.txt")["in"]
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		b := &bench{}
		b.evaluate = func(ctx context.Context, _ human.ToolCall, how service.Asking) (human.Judgement, error) {
			if how.Question == "" {
				return human.Judgement{Decision: human.Ask, OperationID: "op_1"}, nil
			}
			stop()
			<-ctx.Done()
			return human.Judgement{}, human.Wrap(human.Unavailable, ctx.Err(), "gone")
		}
		var out, errs bytes.Buffer
		code := Run(ctx, opencode, time.Minute, strings.NewReader(in), &out, &errs, b)
		if code != 0 || !denied("opencode", out.String()) || !strings.Contains(out.String(), "stopped before") || len(b.gone) != 1 {
			t.Error(code, out.String(), b.gone)
		}
	})
}

func TestADeskbellThatStopsInTheMiddleSaysThatTheQuestionIsKept(t *testing.T) {
	in := conversation(t, "testdata/cursor_shell.txt")["in"]
	synctest.Test(t, func(t *testing.T) {
		b := &bench{}
		b.evaluate = func(_ context.Context, _ human.ToolCall, how service.Asking) (human.Judgement, error) {
			if how.Question == "" {
				return human.Judgement{Decision: human.Ask, OperationID: "op_1"}, nil
			}
			return human.Judgement{}, human.Errorf(human.Unavailable, "reset")
		}
		out, _, code := run(t, "cursor", in, b)
		if code != 0 || !denied("cursor", out) || !strings.Contains(out, "The question is kept") {
			t.Error(code, out)
		}
	})
}

func TestMessagesDoNothingToATerminal(t *testing.T) {
	out, _, _ := run(t, "opencode", conversation(t, "testdata/opencode_bash.txt")["in"],
		says(human.Judgement{Decision: human.Deny, Message: "no\x1b[2J\u202eevil\u0000\nreally"}))
	if want := `{"decision":"deny","message":"no[2Jevil\nreally"}` + "\n"; out != want {
		t.Errorf("%q", out)
	}
}

func FuzzWhateverIsReadIsAnsweredWithOneObject(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txt")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		_, in, _ := bytes.Cut(text, []byte("-- in --\n"))
		in, _, _ = bytes.Cut(in, []byte("\n"))
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, c := range Clients {
			for _, j := range judgements {
				var out, errs bytes.Buffer
				code := Run(t.Context(), c, time.Minute, bytes.NewReader(in), &out, &errs, says(j))
				var object map[string]any
				if err := json.Unmarshal(out.Bytes(), &object); err != nil {
					t.Fatalf("%s: %q: %v", c.Name, out.String(), err)
				}
				if j.Decision == human.Deny && code == 0 && !denied(c.Name, out.String()) && !strings.Contains(out.String(), `"behavior":"deny"`) {
					t.Fatalf("%s: %s", c.Name, out.String())
				}
				if code != 0 && !denied(c.Name, out.String()) {
					t.Fatalf("%s: exit %d and %s", c.Name, code, fmt.Sprint(object))
				}
			}
		}
	})
}
