package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"deskbell/backend/agent"
	"deskbell/backend/human"
)

// script is a model that answers with one reply after the other, and then fails.
type script struct {
	replies []agent.Reply
	prompts []agent.Prompt // what it was asked
	late    int            // how often it was asked when it was too late
	before  func(n int)    // called before the n-th answer, from 1
	answer  func(agent.Prompt) agent.Reply
	notes   func(agent.Prompt) agent.Reply // nil: it takes none
}

func (*script) Name() string { return "script" }

func (s *script) Chat(ctx context.Context, p agent.Prompt, tell func(string)) (agent.Reply, error) {
	if len(p.Tools) == 1 && p.Tools[0].Name == "take_notes" {
		if s.notes == nil {
			return agent.Reply{Text: "I take no notes."}, nil
		}
		return s.notes(p), nil
	}
	p.Turns = slices.Clone(p.Turns)
	s.prompts = append(s.prompts, p)
	n := len(s.prompts)
	if ctx.Err() != nil {
		s.late++
	}
	if s.before != nil {
		s.before(n)
	}
	if ctx.Err() != nil {
		return agent.Reply{}, ctx.Err()
	}
	if s.answer != nil {
		return s.answer(p), nil
	}
	if n > len(s.replies) {
		return agent.Reply{}, human.Errorf(human.Unavailable, "the script has no reply %d", n)
	}
	r := s.replies[n-1]
	tell(r.Text)
	r.Calls = slices.Clone(r.Calls)
	if r.TokensIn == 0 {
		r.TokensIn, r.TokensOut = 100, 10
	}
	return r, nil
}

// last is the turn that the model was asked with at last.
func (s *script) last() agent.Turn {
	turns := s.prompts[len(s.prompts)-1].Turns
	return turns[len(turns)-1]
}

func says(text string) agent.Reply { return agent.Reply{Text: text} }

// calls is a reply with calls: names and arguments in turn.
func calls(namesAndArgs ...string) agent.Reply {
	var r agent.Reply
	for i := 0; i < len(namesAndArgs); i += 2 {
		r.Calls = append(r.Calls, agent.ToolUse{Name: namesAndArgs[i], Args: json.RawMessage(namesAndArgs[i+1])})
	}
	return r
}

// gadget is a tool that notes what it was called with.
type gadget struct {
	name     string
	category agent.Category
	ran      *[]string // of several, as NAME ARGS
	returns  func(args json.RawMessage) (agent.Output, error)
}

func (g gadget) Spec() agent.ToolSpec {
	return agent.ToolSpec{Name: g.name, Description: "does " + g.name, Schema: json.RawMessage(`{"type":"object"}`)}
}

func (g gadget) Category() agent.Category { return g.category }

func (g gadget) Run(_ context.Context, args json.RawMessage) (agent.Output, error) {
	*g.ran = append(*g.ran, g.name+" "+string(args))
	if g.returns != nil {
		return g.returns(args)
	}
	return agent.Output{Text: "ok"}, nil
}

// gate is a gatekeeper.
type gate func(call human.ToolCall) (human.Judgement, error)

func (g gate) Check(_ context.Context, call human.ToolCall) (human.Judgement, error) { return g(call) }

// clock is a clock that only tests move.
type clock struct{ at time.Time }

func newClock() *clock                { return &clock{time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)} }
func (c *clock) now() time.Time       { return c.at }
func (c *clock) pass(d time.Duration) { c.at = c.at.Add(d) }

// numbered makes ids in order.
func numbered() func(string) string {
	n := 0
	return func(prefix string) string { n++; return fmt.Sprintf("%s%d", prefix, n) }
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func equalList(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}
