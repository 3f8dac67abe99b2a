package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/agent"
	"deskbell/backend/human"
)

// measure is how long a prompt is, as a model would count it: four letters a token.
func measure(p agent.Prompt) int {
	data, err := json.Marshal([]any{p.System, p.Turns, p.Tools})
	if err != nil {
		panic(err)
	}
	return len(data) / 4
}

// narrow is a model that takes so much, and no more; what it says follows from a script.
type narrow struct {
	script
	takes   int // 0: all
	refused int
	counts  bool // it says how much it was
}

func (m *narrow) Chat(ctx context.Context, p agent.Prompt, tell func(string)) (agent.Reply, error) {
	n := measure(p)
	if m.takes > 0 && n > m.takes {
		m.refused++
		return agent.Reply{}, human.Wrap(human.Exhausted, agent.ErrTooLong, "too long")
	}
	r, err := m.script.Chat(ctx, p, tell)
	if r.TokensIn = 0; m.counts {
		r.TokensIn = n
	}
	return r, err
}

// talkative is a scene of a run that reads many long files, and writes some.
func talkative(t *testing.T, replies int) (*scene, *narrow) {
	t.Helper()
	m := &narrow{}
	for i := range replies {
		switch {
		case i == 1:
			m.replies = append(m.replies, calls("ask_human", `{"question":"Which colour?"}`))
		case i%5 == 4:
			m.replies = append(m.replies, calls("write", fmt.Sprintf(`{"path":"w%d","text":%q}`, i, strings.Repeat("long ", 500))))
		default:
			m.replies = append(m.replies, calls("read", fmt.Sprintf(`{"path":"f%d"}`, i), "read", fmt.Sprintf(`{"path":"g%d"}`, i)))
		}
	}
	m.replies = append(m.replies, says("All is read."))
	s := newScene(t)
	s.deps.Model, s.office, s.asker = m, nil, &asker{answers: []string{"Blue, and nothing but blue."}, back: "Why do you ask?"}
	m.replies = slices.Insert(m.replies, 2, says("For the wall."))
	s.tool(gadget{name: "read", category: agent.Files, returns: func(args json.RawMessage) (agent.Output, error) {
		return agent.Output{Text: "begin of " + string(args) + strings.Repeat(" word", 800) + " end of " + string(args)}, nil
	}})
	return s, m
}

func words(p agent.Prompt) string {
	data, _ := json.Marshal(p.Turns)
	return string(data)
}

func TestALongConversationIsMadeShorter(t *testing.T) {
	for name, tt := range map[string]struct {
		limit, takes int
		counts       bool
		drops        bool
	}{
		"by the limit":                           {limit: 20_000, counts: true},
		"by the limit, and nobody counts":        {limit: 20_000, drops: true},
		"by a small limit":                       {limit: 5_000, counts: true, drops: true},
		"by what the model refuses":              {takes: 12_000, counts: true, drops: true},
		"by what the model refuses, uncounted":   {takes: 5_000, drops: true},
		"by a limit that is more than it takes":  {limit: 40_000, takes: 6_000, counts: true, drops: true},
		"so much that only the latest are there": {limit: 2_000, counts: true, drops: true},
	} {
		t.Run(name, func(t *testing.T) {
			s, m := talkative(t, 39)
			m.takes, m.counts, s.deps.Limits.Context = tt.takes, tt.counts, tt.limit
			res, err := s.engine().Run(t.Context(), agent.RunInfo{ID: "run_a", Task: "Paint the house."})
			if err != nil || res.Status != agent.Done {
				t.Fatalf("%+v, %v", res, err)
			}
			least := measure(m.prompts[0])
			for i, p := range m.prompts {
				if why := orderly(p.Turns); why != "" {
					t.Fatalf("prompt %d is none that a model takes: %s", i, why)
				}
				closed(t, p.Turns)
				// The latest results may be more than is taken, where they alone are.
				if n := measure(p); tt.limit > 5_000 && n > tt.limit {
					t.Errorf("prompt %d has %d tokens, at least %d", i, n, least)
				}
				if !strings.HasPrefix(p.Turns[0].Text, "Paint the house.") {
					t.Errorf("prompt %d does not have the task: %.100s", i, p.Turns[0].Text)
				}
				if i > 3 && (!strings.Contains(words(p), "Blue, and nothing but blue.") || !strings.Contains(words(p), "Why do you ask?") || !strings.Contains(words(p), "For the wall.")) {
					t.Errorf("prompt %d does not have what people said", i)
				}
			}
			last := m.prompts[len(m.prompts)-1]
			if !strings.Contains(words(last), "left out") {
				t.Error("it is not said that something is left out")
			}
			if drops := strings.Contains(last.Turns[0].Text, "replies and what came of them were left out"); drops != tt.drops {
				t.Errorf("turns are gone: %v; %.300s", drops, last.Turns[0].Text)
			}
			if tt.limit != 2_000 {
				if r := last.Turns[len(last.Turns)-1].Results; !strings.Contains(r[0].Text, "end of") || tt.limit == 20_000 && strings.Contains(r[0].Text, "left out") {
					t.Errorf("the latest result is %.300s", r[0].Text)
				}
			}
			if tt.takes > 0 && (m.refused == 0 || m.refused > 6) {
				t.Errorf("%d prompts were too long", m.refused)
			}
			told := 0
			for _, u := range s.updates {
				if strings.Contains(u.Content, "became too long") {
					told++
				}
			}
			if cuts := s.cuts(); told != 1 || cuts == 0 || tt.limit == 20_000 && cuts > 12 {
				t.Errorf("%d times it was cut, and told %d times", cuts, told)
			}
		})
	}
}

func (s *scene) cuts() (n int) {
	for _, r := range s.diary.records {
		if r.Kind == agent.CutRecord {
			n++
		}
	}
	return n
}

// What tools returned goes first, from the oldest on; long arguments next; and what cannot be left out is sent as it is.
func TestWhatIsLeftOutFirst(t *testing.T) {
	s, m := talkative(t, 24)
	m.counts, s.deps.Limits.Context = true, 20_000
	s.run()
	for _, r := range s.diary.records {
		if c := r.Cut; c != nil && (c.Results == 0 || c.Calls > 0 && c.Results < c.Calls || c.Turns > 0 && c.Calls == 0 || c.Longest > 0 && c.Turns == 0) {
			t.Errorf("cut %+v", *c)
		}
	}
	last := m.prompts[len(m.prompts)-1]
	if first := last.Turns[2].Results[0].Text; s.cuts() == 0 || !strings.Contains(first, "begin of") || !strings.Contains(first, "end of") || len(first) > 500 {
		t.Errorf("the first result is %s", first)
	}
	s, m = talkative(t, 3)
	s.deps.Limits.Context = 10 // less than the task alone
	if res := s.run(); res.Status != agent.Done || s.cuts() > len(m.prompts) {
		t.Errorf("%+v, %d cuts", res, s.cuts())
	}
}

// The plan, the current task, and what operators said and denied remain when the turns that held them are gone.
func TestWhatIsNeverLeftOut(t *testing.T) {
	m := &narrow{counts: true}
	m.replies = []agent.Reply{plan(`{"id":"l","description":"Look around","tool_name":"read"},` + thinkIt), calls("read", `{"path":"secrets"}`), calls("read", `{"path":"changed"}`)}
	for i := range 30 {
		m.replies = append(m.replies, calls("read", fmt.Sprintf(`{"path":"f%d"}`, i)))
	}
	m.replies = append(m.replies, calls("end_task", `{"outcome":"done","note":"looked"}`), says("Done: thought."), says("over"))
	s := newScene(t)
	s.deps.Model = m
	s.office.decide = func(p agent.Proposal, _ func(string) string) (agent.Confirmation, error) {
		return agent.Confirmation{Status: human.PlanConfirmed, Tasks: p.Tasks, Message: "Leave the garden alone."}, nil
	}
	s.gate = func(c human.ToolCall) (human.Judgement, error) {
		switch {
		case strings.Contains(string(c.Args), "secrets"):
			return human.Judgement{Decision: human.Deny, Reason: "not the secrets"}, nil
		case strings.Contains(string(c.Args), "changed"):
			return human.Judgement{Decision: human.Allow, Args: json.RawMessage(`{"path":"other"}`), Reason: "rather this"}, nil
		}
		return human.Judgement{Decision: human.Allow}, nil
	}
	s.tool(gadget{name: "read", category: agent.Files, returns: func(json.RawMessage) (agent.Output, error) {
		return agent.Output{Text: strings.Repeat("word ", 400)}, nil
	}})
	s.deps.Limits.Context = 4_000
	if res := s.run(); res.Status != agent.Done {
		t.Fatalf("%+v", res)
	}
	p := m.prompts[32] // in the middle of the task
	if why := orderly(p.Turns); why != "" || !strings.Contains(p.Turns[0].Text, "left out") {
		t.Fatalf("%s: %s", why, p.Turns[0].Text)
	}
	for _, want := range []string{"make it work", "Leave the garden alone.", "not the secrets", "rather this", "- l, running: Look around", "- k, waiting", "You are doing task l now", "call end_task", `read {"path":"f2`} {
		if !strings.Contains(p.Turns[0].Text, want) {
			t.Errorf("it does not have %q: %s", want, p.Turns[0].Text)
		}
	}
	if n := strings.Count(p.Turns[0].Text, "You are doing task"); n != 1 {
		t.Errorf("how things stand is there %d times", n)
	}
}

// A run that is killed anywhere continues with just the conversation that it had.
func TestACutConversationIsTheSameAfterAKill(t *testing.T) {
	for _, limit := range []int{3_000, 12_000} {
		s, m := talkative(t, 16)
		m.counts, s.deps.Limits.Context = true, limit
		if _, err := s.engine().Run(t.Context(), agent.RunInfo{ID: "run_a", Task: "Paint the house."}); err != nil {
			t.Fatal(err)
		}
		records, cuts := s.diary.records, s.cuts()
		if cuts < 2 {
			t.Fatalf("only %d cuts", cuts)
		}
		asked := 0 // prompts before the record
		for i, r := range records {
			if r.Turn == nil || r.Turn.Role != agent.Assistant {
				continue
			}
			if asked++; r.Kind == agent.AsideRecord {
				continue
			}
			again, model := talkative(t, 16)
			model.replies, model.counts = []agent.Reply{says("over")}, true
			again.deps.Limits.Context = limit
			var written []agent.Record
			for _, r := range records[:i] {
				line, err := json.Marshal(r)
				if err != nil {
					t.Fatal(err)
				}
				var read agent.Record
				if err := json.Unmarshal(line, &read); err != nil {
					t.Fatal(err)
				}
				written = append(written, read)
			}
			if _, err := again.engine().Resume(t.Context(), written); err != nil {
				t.Fatal(err)
			}
			if got, want := model.prompts[0].Turns, m.prompts[asked-1].Turns; !reflect.DeepEqual(got, want) {
				t.Fatalf("limit %d: before record %d it goes on with\n%.3000s\nand had\n%.3000s", limit, i, words(model.prompts[0]), words(m.prompts[asked-1]))
			}
		}
	}
}

// A conversation of a ToolAgent is made shorter for the model; what its user is shown of it stays whole.
func TestALongTalk(t *testing.T) {
	m := &narrow{counts: true}
	for i := range 12 {
		m.replies = append(m.replies, calls("play_music", fmt.Sprintf(`{"n":%d}`, i)))
	}
	m.replies = append(m.replies, calls("ask_user", `{"question":"more?"}`), says("over"))
	a, _ := talk(t, &m.script, func(d *agent.Deps) {
		d.Model, d.Limits.Context = m, 3_000
		d.Tools = []agent.Tool{gadget{name: "play_music", category: fun, ran: &[]string{}, returns: func(json.RawMessage) (agent.Output, error) {
			return agent.Output{Text: strings.Repeat("la ", 700)}, nil
		}}}
	})
	first := handle(t, a, "play all of it, softly", "")
	r := handle(t, a, "yes, more", first.SessionID)
	equal(t, "status", r.Status, agent.Done)
	for i, p := range m.prompts {
		if why := orderly(p.Turns); why != "" {
			t.Fatalf("prompt %d: %s", i, why)
		}
	}
	last := words(m.prompts[len(m.prompts)-1])
	if !strings.Contains(last, "play all of it, softly") || !strings.Contains(last, "yes, more") || !strings.Contains(last, "left out") || len(last) > 12_000 {
		t.Errorf("the model was given %d letters: %.2000s", len(last), last)
	}
	history, _ := json.Marshal(r.Data.History)
	if strings.Contains(string(history), "left out") || len(r.Data.History) != 29 {
		t.Errorf("%d turns of history", len(r.Data.History))
	}
}
