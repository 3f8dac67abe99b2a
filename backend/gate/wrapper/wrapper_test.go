package wrapper_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"deskbell/backend/gate"
	"deskbell/backend/gate/service"
	"deskbell/backend/gate/wrapper"
	"deskbell/backend/human"
)

type judgeFunc func(context.Context, human.ToolCall, service.Asking) (human.Judgement, error)

func (f judgeFunc) Evaluate(ctx context.Context, call human.ToolCall, how service.Asking) (human.Judgement, error) {
	return f(ctx, call, how)
}

func says(j human.Judgement) judgeFunc {
	return func(context.Context, human.ToolCall, service.Asking) (human.Judgement, error) { return j, nil }
}

type removal struct {
	Path  string   `json:"path"`
	Also  []string `json:"also,omitempty"`
	Count any      `json:"count,omitempty"`
	quiet bool
}

func Example() {
	// The engine itself as the judge: nobody is asked, so what it would ask about does not run.
	judge := judgeFunc(func(_ context.Context, c human.ToolCall, _ service.Asking) (human.Judgement, error) {
		v := gate.Judge(gate.Call{Tool: c.Tool, Args: c.Args, Cwd: "/work", Root: "/work"}, gate.Balanced, nil)
		v.Digest = "" // it is of the folder, too, which the wrapper does not know
		return human.Judgement{Decision: v.Decision, Message: v.Reason, Verdict: v}, nil
	})
	type shell struct {
		Command string `json:"command"`
	}
	run := wrapper.Wrap(judge, "bash", func(_ context.Context, in shell) (string, error) {
		return "ran " + in.Command, nil
	})

	out, err := run(context.Background(), shell{"git status"})
	fmt.Println(out, err)
	_, err = run(context.Background(), shell{"rm -rf /"})
	var refused *wrapper.Refused
	fmt.Println(errors.As(err, &refused), refused.Tool, refused.Verdict.Risk)
	// Output:
	// ran git status <nil>
	// true bash critical
}

func TestOnlyWhatIsAllowedRuns(t *testing.T) {
	digest := gate.Digest(gate.Call{Tool: "remove", Args: json.RawMessage(`{"path":"a"}`)})
	for name, tt := range map[string]struct {
		j    human.Judgement
		err  error
		runs string // the path with which it runs; empty: not at all
		says string
	}{
		"allowed":                    {human.Judgement{Decision: human.Allow, Verdict: human.Verdict{Digest: digest}}, nil, "a", ""},
		"with other arguments":       {human.Judgement{Decision: human.Allow, Args: json.RawMessage(` {"path":"b"}`)}, nil, "b", ""},
		"another call was allowed":   {human.Judgement{Decision: human.Allow, Verdict: human.Verdict{Digest: "sha256:0"}}, nil, "", "not what was called"},
		"arguments of another type":  {human.Judgement{Decision: human.Allow, Args: json.RawMessage(`{"path":7}`)}, nil, "", "do not fit"},
		"more than it takes":         {human.Judgement{Decision: human.Allow, Args: json.RawMessage(`{"path":"b","force":true}`)}, nil, "", "do not fit"},
		"two of them":                {human.Judgement{Decision: human.Allow, Args: json.RawMessage(`{"path":"b"}{"path":"c"}`)}, nil, "", "do not fit"},
		"keys in another case":       {human.Judgement{Decision: human.Allow, Args: json.RawMessage(`{"PATH":"b"}`)}, nil, "", "not what was allowed"},
		"a list that reads as none":  {human.Judgement{Decision: human.Allow, Args: json.RawMessage(`{"path":"b","also":[]}`)}, nil, "", "not what was allowed"},
		"a number that is rounded":   {human.Judgement{Decision: human.Allow, Args: json.RawMessage(`{"path":"b","count":12345678901234567890}`)}, nil, "", "not what was allowed"},
		"refused":                    {human.Judgement{Decision: human.Deny, Message: "It is precious.", By: "Mei"}, nil, "", "It is precious."},
		"refused without a word":     {human.Judgement{Decision: human.Deny}, nil, "", "refused"},
		"nobody to ask":              {human.Judgement{Decision: human.Ask, Message: "Nobody is there."}, nil, "", "Nobody is there."},
		"no decision":                {human.Judgement{}, nil, "", "refused"},
		"an error beside a decision": {human.Judgement{Decision: human.Allow}, human.Errorf(human.Unavailable, "it went away"), "", "it went away"},
	} {
		t.Run(name, func(t *testing.T) {
			ran := ""
			tool := wrapper.Wrap(judgeFunc(func(_ context.Context, c human.ToolCall, _ service.Asking) (human.Judgement, error) {
				if c.Tool != "remove" || string(c.Args) != `{"path":"a"}` {
					t.Errorf("%+v", c)
				}
				return tt.j, tt.err
			}), "remove", func(_ context.Context, in removal) (string, error) {
				ran = in.Path
				return "removed", nil
			})
			out, err := tool(t.Context(), removal{Path: "a"})
			if ran != tt.runs {
				t.Fatalf("it ran with %q", ran)
			}
			if tt.runs != "" {
				if out != "removed" || err != nil {
					t.Errorf("%q %v", out, err)
				}
				return
			}
			var refused *wrapper.Refused
			if !errors.As(err, &refused) || out != "" || refused.Tool != "remove" || !strings.Contains(refused.Reason, tt.says) || refused.By != tt.j.By {
				t.Errorf("%v", err)
			}
			if tt.err != nil && human.KindOf(err) != human.Unavailable {
				t.Errorf("the reason is lost: %v", err)
			}
		})
	}
}

func TestAToolsOwnErrorIsItsOwn(t *testing.T) {
	own := errors.New("disk full")
	_, err := wrapper.Wrap(says(human.Judgement{Decision: human.Allow}), "remove", func(context.Context, removal) (int, error) { return 0, own })(t.Context(), removal{})
	if !errors.Is(err, own) || errors.As(err, new(*wrapper.Refused)) {
		t.Error(err)
	}
}

func TestWhatJSONDoesNotShowDoesNotGetBy(t *testing.T) {
	in := removal{Path: "a", Also: []string{"b"}, quiet: true}
	judge := judgeFunc(func(context.Context, human.ToolCall, service.Asking) (human.Judgement, error) {
		in.Also[0] = "/" // after it was judged
		return human.Judgement{Decision: human.Allow}, nil
	})
	_, err := wrapper.Wrap(judge, "remove", func(_ context.Context, in removal) (int, error) {
		if in.Also[0] != "b" || in.quiet {
			t.Errorf("it runs with %+v", in)
		}
		return 0, nil
	})(t.Context(), in)
	if err != nil {
		t.Error(err)
	}
	_, err = wrapper.Wrap(says(human.Judgement{Decision: human.Allow}), "f", func(context.Context, func()) (int, error) {
		t.Error("it ran")
		return 0, nil
	})(t.Context(), func() {})
	if !errors.As(err, new(*wrapper.Refused)) {
		t.Error(err)
	}
}

func TestARefusalTellsWhatWouldPass(t *testing.T) {
	instead := human.Choice{Action: human.ChooseInstead, Label: "Look first", Command: "ls"}
	backup := human.Choice{Action: human.ChooseBackup, Label: "Copy first"}
	j := human.Judgement{Decision: human.Deny, OperationID: "op_1", Verdict: human.Verdict{Choices: []human.Choice{{Action: human.ChooseDeny}, instead, backup}}}
	_, err := wrapper.Wrap(says(j), "remove", func(context.Context, removal) (int, error) { return 0, nil })(t.Context(), removal{})
	var refused *wrapper.Refused
	if !errors.As(err, &refused) || refused.Operation != "op_1" || len(refused.Alternatives) != 2 || refused.Alternatives[0] != instead || refused.Alternatives[1] != backup {
		t.Errorf("%+v", refused)
	}
}

func TestACallWaitsForTheOperator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		answer := func(after time.Duration, j human.Judgement) judgeFunc {
			return func(ctx context.Context, _ human.ToolCall, how service.Asking) (human.Judgement, error) {
				if how.Wait > 0 && how.Question != "op_1" {
					t.Errorf("%+v", how)
				}
				wait := time.NewTimer(min(how.Wait, time.Until(began.Add(after))))
				defer wait.Stop()
				select {
				case <-ctx.Done():
					return human.Judgement{}, ctx.Err()
				case <-wait.C:
				}
				if time.Since(began) >= after {
					return j, nil
				}
				return human.Judgement{Decision: human.Ask, OperationID: "op_1"}, nil
			}
		}
		n, err := wrapper.Wrap(answer(time.Hour, human.Judgement{Decision: human.Allow}), "remove", func(context.Context, removal) (int, error) { return 7, nil })(t.Context(), removal{})
		if n != 7 || err != nil || time.Since(began) < time.Hour || time.Since(began) > time.Hour+time.Minute {
			t.Errorf("%d %v after %v", n, err, time.Since(began))
		}
		// A caller that gives up never sees it run.
		began = time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = wrapper.Wrap(answer(time.Hour, human.Judgement{Decision: human.Allow}), "remove", func(context.Context, removal) (int, error) {
			t.Error("it ran")
			return 7, nil
		})(ctx, removal{})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}
