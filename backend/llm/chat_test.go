package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"deskbell/backend/agent"
	"deskbell/backend/human"
	"deskbell/backend/llm"
	"deskbell/backend/llm/llmtest"
)

// talk runs a test in both protocols against a script, on a clock of its own.
func talk(t *testing.T, steps []llmtest.Step, f func(t *testing.T, provider string, m agent.Model, s *llmtest.Server)) {
	t.Helper()
	for _, provider := range providers {
		t.Run(provider, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, dial := llmtest.Pipe(t)
				s.Script(steps...)
				f(t, provider, chat(t, llm.Config{Provider: provider, Dial: dial}), s)
			})
		})
	}
}

func chat(t *testing.T, c llm.Config) agent.Model {
	t.Helper()
	c.Model, c.Key = llmtest.Model, key
	if c.BaseURL == "" {
		c.BaseURL = "http://127.0.0.1:80/v1"
	}
	m, err := llm.NewChat(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var tools = []agent.ToolSpec{
	{Name: "search_location", Description: "Finds a place.", Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"],"additionalProperties":false}`)},
	{Name: "now", Schema: json.RawMessage(`{"type":"object"}`)},
}

func said(text string) agent.Turn { return agent.Turn{Role: agent.User, Text: text} }

// became is the turn of a reply, as an agent keeps it: written to a journal and read again.
func became(t *testing.T, r agent.Reply) agent.Turn {
	t.Helper()
	data, err := json.Marshal(agent.Turn{Role: agent.Assistant, Text: r.Text, Calls: r.Calls, Kept: r.Kept})
	if err != nil {
		t.Fatal(err)
	}
	var turn agent.Turn
	if err := json.Unmarshal(data, &turn); err != nil {
		t.Fatal(err)
	}
	return turn
}

func results(r agent.Reply, done ...agent.CallDone) agent.Turn {
	for i := range done {
		done[i].CallID = r.Calls[i].ID
	}
	return agent.Turn{Role: agent.ToolTurn, Results: done}
}

// Two turns with several calls at a time, one of which failed, from a model that thinks: the server returns an error for the
// second turn without the thoughts, or with a result missing.
func TestChat(t *testing.T) {
	const text = "好的，我先找到故宫，再看看现在几点。"
	talk(t, []llmtest.Step{
		{TokensIn: 210, TokensOut: 34, Answer: llmtest.Answer{Thinking: "Where is it? And when?", Redacted: "b64", Text: text, Calls: []llmtest.Call{
			{Name: "search_location", Args: json.RawMessage(`{"query": "北京故宫，\"Palace\""}`)},
			{Name: "now"},
			{Name: "search_location", Args: json.RawMessage(`{"query":"午门"}`)},
		}}},
		{Answer: llmtest.Answer{Thinking: "Once more.", Text: "\n\n", Calls: []llmtest.Call{{Name: "now"}}}},
		{Answer: llmtest.Answer{Text: "到了。"}},
	}, func(t *testing.T, provider string, m agent.Model, s *llmtest.Server) {
		p := agent.Prompt{System: "你是导航助手。", Turns: []agent.Turn{said("导航到北京故宫")}, Tools: tools, Tokens: 700}
		var told []string
		r, err := m.Chat(t.Context(), p, func(soFar string) { told = append(told, soFar) })
		if err != nil {
			t.Fatal(err)
		}
		if r.Text != text || r.Cut || r.Model != llmtest.Model || r.TokensIn != 210 || r.TokensOut != 34 || len(r.Calls) != 3 ||
			r.Calls[0].Name != "search_location" || string(r.Calls[0].Args) != `{"query":"北京故宫，\"Palace\""}` ||
			r.Calls[1].Name != "now" || string(r.Calls[1].Args) != `{}` || string(r.Calls[2].Args) != `{"query":"午门"}` {
			t.Errorf("%+v", r)
		}
		if len(told) < 3 || told[len(told)-1] != text || !slices.IsSorted(told) || len(slices.Compact(slices.Clone(told))) != len(told) {
			t.Errorf("told %q", told)
		}
		p.Turns = append(p.Turns, became(t, r), results(r, agent.CallDone{Text: "39.9163,116.3972"}, agent.CallDone{Text: "no clock", Failed: true}, agent.CallDone{}))
		r, err = m.Chat(t.Context(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		p.Turns = append(p.Turns, became(t, r), results(r, agent.CallDone{Failed: true}), said("快一点"))
		if r, err = m.Chat(t.Context(), p, nil); err != nil || r.Text != "到了。" || len(r.Calls) != 0 || r.Kept != nil {
			t.Fatalf("%+v, %v", r, err)
		}
		all := s.Requests()
		last := all[2]
		if last.System != p.System || last.Tokens != 700 || len(last.Tools) != 2 || last.Tools[0].Description != "Finds a place." || !same(last.Tools[0].Schema, tools[0].Schema) {
			t.Errorf("%+v", last)
		}
		// What the server understood is the conversation, turn by turn.
		if len(last.Turns) != 6 || last.Turns[1].Text != text || !same(last.Turns[1].Calls[0].Args, json.RawMessage(`{"query":"北京故宫，\"Palace\""}`)) || last.Turns[5].Text != "快一点" {
			t.Errorf("%+v", last.Turns)
		}
		failed := last.Turns[2].Results[1]
		if provider == llm.Anthropic && (!failed.Failed || failed.Text != "no clock") || provider == llm.OpenAI && failed.Text != "This call failed. no clock" {
			t.Errorf("failed: %+v", failed)
		}
		if got := last.Thoughts[last.Turns[1].Calls[2].ID]; got.Thinking != "Where is it? And when?" || provider == llm.Anthropic && got.Redacted != "b64" {
			t.Errorf("thoughts: %+v", got)
		}
		if marks := strings.Count(string(last.Body), `"cache_control"`); provider == llm.Anthropic && marks != 2 || provider == llm.OpenAI && marks != 0 {
			t.Errorf("%d marks for the cache", marks)
		}
	})
}

func TestChatFailures(t *testing.T) {
	well := llmtest.Step{Answer: llmtest.Answer{Text: "There it is, and here is more of it.", Calls: []llmtest.Call{{Name: "now"}}}}
	do := func(all ...llmtest.Behavior) (steps []llmtest.Step) {
		for _, b := range all {
			step := well
			step.Do = b
			steps = append(steps, step)
		}
		return steps
	}
	for name, tt := range map[string]struct {
		steps  []llmtest.Step
		want   human.ErrorKind // 0: an answer
		within time.Duration
		says   string
	}{
		"right":              {steps: do(llmtest.Right), within: time.Second},
		"slow":               {steps: do(llmtest.Slow), within: 20 * time.Second},
		"rate limited":       {steps: do(llmtest.RateLimited, llmtest.Right), within: 3 * time.Second},
		"for long":           {steps: do(llmtest.RateLimitedLong), want: human.Exhausted, within: time.Second, says: "1h0m0s"},
		"no credit":          {steps: do(llmtest.NoCredit), want: human.Exhausted, within: time.Second, says: "no credit"},
		"overloaded":         {steps: do(llmtest.Overloaded, llmtest.OverloadedMidway, llmtest.BadGateway, llmtest.Right), within: 9 * time.Second},
		"overloaded for all": {steps: do(llmtest.Overloaded, llmtest.Overloaded, llmtest.Overloaded, llmtest.Overloaded), want: human.Unavailable, within: 9 * time.Second},
		"cut":                {steps: do(llmtest.Cut, llmtest.Short, llmtest.Right), within: 4 * time.Second},
		"stalled":            {steps: do(llmtest.Stall, llmtest.Right), within: 63 * time.Second},
		"silent":             {steps: do(llmtest.Silent), want: human.Unavailable, within: 241 * time.Second, says: "4 minutes"},
		"pings":              {steps: do(llmtest.Pings), want: human.Unavailable, within: 241 * time.Second, says: "4 minutes"},
		"denied":             {steps: do(llmtest.Denied), want: human.Denied, within: time.Second, says: "does not accept the key"},
		"unknown model":      {steps: do(llmtest.UnknownModel), want: human.Invalid, within: time.Second, says: llmtest.Model},
		"refusal":            {steps: do(llmtest.Refusal), want: human.Invalid, within: time.Second, says: "declined to answer"},
		"huge":               {steps: do(llmtest.Huge), want: human.Invalid, within: time.Second, says: "8 MB"},
		"a page":             {steps: do(llmtest.Page), want: human.Invalid, within: time.Second, says: "protocol"},
		"elsewhere":          {steps: do(llmtest.Elsewhere), want: human.Invalid, within: time.Second, says: "another address"},
	} {
		t.Run(name, func(t *testing.T) {
			talk(t, tt.steps, func(t *testing.T, _ string, m agent.Model, s *llmtest.Server) {
				begun := time.Now()
				r, err := m.Chat(t.Context(), agent.Prompt{Turns: []agent.Turn{said("Where?")}, Tools: tools}, nil)
				if took := time.Since(begun); took > tt.within {
					t.Errorf("it took %s", took)
				}
				if tt.want != 0 {
					if human.KindOf(err) != tt.want || !strings.Contains(human.SafeText(err), tt.says) {
						t.Errorf("kind %d, %q; want kind %d with %q", human.KindOf(err), err, tt.want, tt.says)
					}
					if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), llmtest.Key) {
						t.Errorf("the key is in %#v", err)
					}
					return
				}
				if err != nil || r.Text != well.Text || len(r.Calls) != 1 || string(r.Calls[0].Args) != "{}" {
					t.Errorf("%+v, %v", r, err) // nothing of the answers that broke off
				}
				if got := s.Requests(); got[0].Tokens != 8192 {
					t.Errorf("at most %d tokens", got[0].Tokens)
				}
			})
		})
	}
}

// That a conversation is too long is said by a code of OpenAI's, and by Anthropic's words alone.
func TestChatTooLong(t *testing.T) {
	talk(t, []llmtest.Step{{Do: llmtest.TooLong}}, func(t *testing.T, _ string, m agent.Model, s *llmtest.Server) {
		_, err := m.Chat(t.Context(), agent.Prompt{Turns: []agent.Turn{said("Where?")}, Tools: tools}, nil)
		if human.KindOf(err) != human.Exhausted || !errors.Is(err, agent.ErrTooLong) || !strings.Contains(human.SafeText(err), "begin another conversation") {
			t.Errorf("kind %d, %v", human.KindOf(err), err)
		}
		if n := len(s.Requests()); n != 1 {
			t.Errorf("%d requests", n)
		}
	})
}

// Arguments that are no JSON are passed on, and sent back in a form that servers take.
func TestChatInvalidArguments(t *testing.T) {
	const broken = `{"query": "北京`
	talk(t, []llmtest.Step{
		{Answer: llmtest.Answer{Calls: []llmtest.Call{{Name: "search_location", ArgsText: broken}, {Name: "now", ArgsText: `"now"`}}}},
		{Answer: llmtest.Answer{Text: "Sorry."}},
	}, func(t *testing.T, _ string, m agent.Model, s *llmtest.Server) {
		p := agent.Prompt{Turns: []agent.Turn{said("Where?")}, Tools: tools}
		r, err := m.Chat(t.Context(), p, nil)
		if err != nil || len(r.Calls) != 2 || string(r.Calls[0].Args) != broken || string(r.Calls[1].Args) != `"now"` {
			t.Fatalf("%+v, %v", r, err)
		}
		p.Turns = append(p.Turns, agent.Turn{Role: agent.Assistant, Calls: r.Calls}, results(r, agent.CallDone{Failed: true, Text: "no JSON"}, agent.CallDone{Failed: true, Text: "no object"}))
		if _, err = m.Chat(t.Context(), p, nil); err != nil {
			t.Fatal(err)
		}
		calls := s.Requests()[1].Turns[1].Calls
		var sent map[string]string
		if err := json.Unmarshal(calls[0].Args, &sent); err != nil || sent["INVALID_JSON"] != broken {
			t.Errorf("%s", calls[0].Args)
		}
		if err := json.Unmarshal(calls[1].Args, &sent); err != nil || sent["INVALID_JSON"] != `"now"` {
			t.Errorf("%s", calls[1].Args)
		}
	})
}

// A reply that the limit of tokens cut never has a whole call at its end: not even one without arguments.
func TestChatCut(t *testing.T) {
	for name, a := range map[string]llmtest.Answer{
		"in the text":          {Text: "There it is"},
		"in a call":            {Text: "There", Calls: []llmtest.Call{{Name: "now"}, {Name: "search_location", Args: json.RawMessage(`{"query":"x"}`)}}},
		"before the arguments": {Calls: []llmtest.Call{{Name: "now"}, {Name: "now", ArgsText: " "}}},
	} {
		t.Run(name, func(t *testing.T) {
			talk(t, []llmtest.Step{{Do: llmtest.Truncated, Answer: a}}, func(t *testing.T, _ string, m agent.Model, _ *llmtest.Server) {
				r, err := m.Chat(t.Context(), agent.Prompt{Turns: []agent.Turn{said("Where?")}, Tools: tools}, nil)
				if err != nil || !r.Cut || len(r.Calls) != len(a.Calls) {
					t.Fatalf("%+v, %v", r, err)
				}
				if n := len(r.Calls); n > 0 && (json.Valid(r.Calls[n-1].Args) || string(r.Calls[0].Args) != "{}") {
					t.Errorf("%+v", r.Calls)
				}
				if len(a.Calls) == 0 && r.Text != "There" {
					t.Errorf("%q", r.Text)
				}
			})
		})
	}
}

// What is sent has the user's side and the model's in turn, and nothing that says nothing.
func TestChatTurns(t *testing.T) {
	call := agent.ToolUse{ID: "c1", Name: "now", Args: json.RawMessage(`{}`)}
	talk(t, []llmtest.Step{{Answer: llmtest.Answer{Text: "Yes."}}}, func(t *testing.T, provider string, m agent.Model, s *llmtest.Server) {
		_, err := m.Chat(t.Context(), agent.Prompt{Turns: []agent.Turn{
			said("One"), said(" \n"), said("Two"),
			{Role: agent.Assistant}, {Role: agent.Assistant, Text: "Well"}, {Role: agent.Assistant, Calls: []agent.ToolUse{call}},
			{Role: agent.ToolTurn, Results: []agent.CallDone{{CallID: "c1", Text: "\n"}}},
			said("Three"), said("Four"), {Role: agent.Assistant, Text: " "}, said("Five"),
		}, Tools: tools}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, turn := range s.Requests()[0].Turns {
			fmt.Fprintf(&b, "%s %q %d %d|", turn.Role, turn.Text, len(turn.Calls), len(turn.Results))
		}
		if want := `user "One\n\nTwo" 0 0|assistant "Well" 1 0|tool "" 0 1|user "Three\n\nFour\n\nFive" 0 0|`; b.String() != want {
			t.Errorf("%s: %s\nwant %s", provider, b.String(), want)
		}
	})
}

// What a model thought is sent back to the same model, and with what it said: not where an agent changed that.
func TestChatKept(t *testing.T) {
	steps := []llmtest.Step{
		{Answer: llmtest.Answer{Thinking: "Hm.", Text: "So.", Calls: []llmtest.Call{{ID: "c1", Name: "now"}, {ID: "c2", Name: "now"}}}},
		{Answer: llmtest.Answer{Text: "Well."}},
	}
	for name, tt := range map[string]struct {
		change func(*agent.Turn)
		model  string
		back   bool
	}{
		"as it was":      {change: func(*agent.Turn) {}, back: true},
		"another model":  {change: func(*agent.Turn) {}, model: "other"},
		"another text":   {change: func(t *agent.Turn) { t.Text = "No." }},
		"a call less":    {change: func(t *agent.Turn) { t.Calls = t.Calls[:1] }, back: true},
		"nothing kept":   {change: func(t *agent.Turn) { t.Kept = nil }},
		"something else": {change: func(t *agent.Turn) { t.Kept = json.RawMessage(`"x"`) }},
		"another protocol": {change: func(t *agent.Turn) {
			t.Kept = json.RawMessage(strings.NewReplacer(`"anthropic"`, `"openai"`, `"openai"`, `"anthropic"`).Replace(string(t.Kept)))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, provider := range providers {
				s := llmtest.New()
				h := httptest.NewServer(s)
				defer h.Close()
				s.Script(steps...)
				p := agent.Prompt{Turns: []agent.Turn{said("Where?")}, Tools: tools}
				r, err := chat(t, llm.Config{Provider: provider, BaseURL: h.URL + "/v1"}).Chat(t.Context(), p, nil)
				if err != nil {
					t.Fatal(err)
				}
				turn := became(t, r)
				tt.change(&turn)
				done := agent.Turn{Role: agent.ToolTurn}
				for _, c := range turn.Calls {
					done.Results = append(done.Results, agent.CallDone{CallID: c.ID, Text: "12"})
				}
				p.Turns = append(p.Turns, turn, done)
				c := llm.Config{Provider: provider, Model: llmtest.Model, BaseURL: h.URL + "/v1", Key: key}
				if tt.model != "" {
					c.Model = tt.model
				}
				m, err := llm.NewChat(c)
				if err != nil {
					t.Fatal(err)
				}
				// The server wants the thoughts back in any case, and says so.
				_, err = m.Chat(t.Context(), p, nil)
				keeps := tt.back || provider == llm.OpenAI && name == "another text" // there they have no place among texts
				if keeps != (err == nil) || err != nil && !strings.Contains(err.Error(), "thinking") {
					t.Errorf("%s: %v", provider, err)
				}
			}
		})
	}
}

// odd is a server that answers with these events, and keeps what it was sent last.
func odd(t *testing.T, events ...string) (url string, sent func() string) {
	t.Helper()
	var last []byte
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		last, _ = io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			_, _ = fmt.Fprintf(w, "data: %s\n\n", e)
		}
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	}))
	t.Cleanup(h.Close)
	return h.URL + "/v1", func() string { return string(last) }
}

// Servers that take chat completions differ in how they number calls.
func TestChatOddServers(t *testing.T) {
	delta := func(s string) string {
		return `{"id":"x","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":` + s + `}]}`
	}
	end := `{"id":"x","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`
	for name, tt := range map[string]struct {
		events []string
		want   string
	}{
		"every call is the first": {[]string{
			delta(`{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"now","arguments":"{\"x\":1}"}}]}`),
			delta(`{"tool_calls":[{"index":0,"id":"b","type":"function","function":{"name":"now","arguments":"{\"x\":2}"}}]}`), end,
		}, `a now {"x":1}|b now {"x":2}|`},
		"in pieces, one among the other": {[]string{
			delta(`{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"now","arguments":""}},{"index":1,"id":"b","type":"function","function":{"name":"then","arguments":"{"}}]}`),
			delta(`{"tool_calls":[{"index":1,"function":{"arguments":"}"}},{"index":0,"function":{"arguments":"{\"x\":1}"}}]}`), end,
		}, `a now {"x":1}|b then {}|`},
		"the id in every piece": {[]string{
			delta(`{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"now","arguments":"{\"x\""}}]}`),
			delta(`{"tool_calls":[{"index":0,"id":"a","function":{"arguments":":1}"}}]}`), end,
		}, `a now {"x":1}|`},
		"no ids": {[]string{
			delta(`{"tool_calls":[{"index":0,"type":"function","function":{"name":"now","arguments":"{}"}},{"index":1,"type":"function","function":{"name":"then","arguments":"{}"}}]}`), end,
		}, `? now {}|? then {}|`},
		"the same id twice": {[]string{
			delta(`{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"now","arguments":"{}"}},{"index":1,"id":"a","type":"function","function":{"name":"then","arguments":""}}]}`), end,
		}, `a now {}|? then {}|`},
	} {
		t.Run(name, func(t *testing.T) {
			url, _ := odd(t, tt.events...)
			r, err := chat(t, llm.Config{Provider: llm.OpenAI, BaseURL: url}).Chat(t.Context(), agent.Prompt{Turns: []agent.Turn{said("Where?")}, Tools: tools}, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, ids := "", map[string]bool{}
			for _, c := range r.Calls {
				ids[c.ID] = true
				got += strings.ReplaceAll(fmt.Sprintf("%s %s %s|", map[bool]string{true: c.ID, false: "?"}[len(c.ID) == 1], c.Name, c.Args), "\n", "")
			}
			if got != tt.want || len(ids) != len(r.Calls) || ids[""] {
				t.Errorf("%s, ids %v; want %s", got, ids, tt.want)
			}
		})
	}
}

// Gemini signs its calls, and wants the signatures back; DeepSeek wants its thoughts back even where there were none.
func TestChatExtras(t *testing.T) {
	url, sent := odd(t,
		`{"id":"x","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"reasoning_content":"","tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"now","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s<1>"}}}]}}]}`,
		`{"id":"x","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"reasoning_content":null},"finish_reason":"tool_calls"}]}`)
	m := chat(t, llm.Config{Provider: llm.OpenAI, BaseURL: url})
	p := agent.Prompt{Turns: []agent.Turn{said("Where?")}, Tools: tools}
	r, err := m.Chat(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.Turns = append(p.Turns, became(t, r), results(r, agent.CallDone{Text: "12"}))
	if _, err := m.Chat(t.Context(), p, nil); err != nil {
		t.Fatal(err)
	}
	var body struct {
		Messages []struct {
			Reasoning *string `json:"reasoning_content"`
			Calls     []struct {
				Extra struct {
					Google struct {
						Signature string `json:"thought_signature"`
					}
				} `json:"extra_content"`
			} `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal([]byte(sent()), &body); err != nil {
		t.Fatal(err)
	}
	if got := body.Messages[1]; got.Reasoning == nil || *got.Reasoning != "" || got.Calls[0].Extra.Google.Signature != "s<1>" {
		t.Errorf("%s", sent())
	}
}

// Thoughts between texts and calls go back in the places where they were.
func TestChatOrder(t *testing.T) {
	block := func(at int, start, delta string) []string {
		return []string{
			fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, at, start),
			fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, at, delta),
			fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, at),
		}
	}
	events := []string{`{"type":"message_start","message":{"id":"x","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}`}
	events = append(events, block(0, `{"type":"text","text":""}`, `{"type":"text_delta","text":"First."}`)...)
	events = append(events, block(1, `{"type":"thinking","thinking":"","signature":""}`, `{"type":"signature_delta","signature":"s"}`)...)
	events = append(events, block(2, `{"type":"tool_use","id":"a","name":"now","input":{}}`, `{"type":"input_json_delta","partial_json":""}`)...)
	events = append(events, block(3, `{"type":"text","text":""}`, `{"type":"text_delta","text":" Then."}`)...)
	events = append(events, `{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"b","name":"now","input":{"x":1}}}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":2}}`, `{"type":"message_stop"}`)
	url, sent := odd(t, events...)
	m := chat(t, llm.Config{Provider: llm.Anthropic, BaseURL: url})
	p := agent.Prompt{Turns: []agent.Turn{said("Where?")}, Tools: tools}
	r, err := m.Chat(t.Context(), p, nil)
	if err != nil || r.Text != "First. Then." || string(r.Calls[1].Args) != `{"x":1}` {
		t.Fatalf("%+v, %v", r, err)
	}
	p.Turns = append(p.Turns, became(t, r), results(r, agent.CallDone{Text: "12"}, agent.CallDone{Text: "13"}))
	if _, err := m.Chat(t.Context(), p, nil); err != nil {
		t.Fatal(err)
	}
	var body struct {
		Messages []struct {
			Content []struct{ Type string }
		}
	}
	if err := json.Unmarshal([]byte(sent()), &body); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(body.Messages[1].Content); got != "[{text} {thinking} {tool_use} {text} {tool_use}]" {
		t.Errorf("%s", got)
	}
}

func TestChatEndsWithItsContext(t *testing.T) {
	talk(t, []llmtest.Step{{Do: llmtest.Stall, Answer: llmtest.Answer{Text: "There it is, at the end of the street."}}}, func(t *testing.T, _ string, m agent.Model, _ *llmtest.Server) {
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Second, stop)
		begun := time.Now()
		if _, err := m.Chat(ctx, agent.Prompt{Turns: []agent.Turn{said("Where?")}, Tools: tools}, nil); !errors.Is(err, context.Canceled) || time.Since(begun) > 6*time.Second {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
	})
}

func TestNewChat(t *testing.T) {
	if _, err := llm.NewChat(llm.Config{Provider: "other", Model: "m"}); human.KindOf(err) != human.Invalid || !strings.Contains(err.Error(), "model.provider") {
		t.Errorf("%v", err)
	}
	_, url := llmtest.Start(t)
	for _, provider := range providers {
		m := chat(t, llm.Config{Provider: provider, BaseURL: url + "/v1"})
		if m.Name() != llmtest.Model {
			t.Errorf("%s", m.Name())
		}
		// The server has no script, and would be wrong about it.
		for _, schema := range []string{"", `{"type":"string"}`, `[]`} {
			_, err := m.Chat(t.Context(), agent.Prompt{Turns: []agent.Turn{said("Where?")}, Tools: []agent.ToolSpec{{Name: "look", Schema: json.RawMessage(schema)}}}, nil)
			if human.KindOf(err) != human.Invalid || !strings.Contains(err.Error(), "look") {
				t.Errorf("%s: %v", schema, err)
			}
		}
	}
	m, err := llm.NewChat(llm.Config{Provider: llm.Anthropic, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Chat(t.Context(), agent.Prompt{Turns: []agent.Turn{said("Where?")}}, nil); human.KindOf(err) != human.Denied {
		t.Errorf("without a key: %v", err)
	}
}

// Whatever a conversation is like, both servers take it: every call answered, by turns that may be blank, repeated or cut.
func TestChatAnyConversation(t *testing.T) {
	s, url := llmtest.Start(t)
	s.Script(llmtest.Step{Times: -1, Answer: llmtest.Answer{Text: "Well."}})
	models := []agent.Model{chat(t, llm.Config{Provider: llm.Anthropic, BaseURL: url + "/v1"}), chat(t, llm.Config{Provider: llm.OpenAI, BaseURL: url + "/v1"})}
	text := rapid.SampledFrom([]string{"", " ", "\n\n", "Well.", "好的。", "<b>"})
	args := rapid.SampledFrom([]string{"", "{}", `{"query":"x"}`, `{"query`, "null", `"x"`, "[]", `{"a":{"b":[1,"\u2028"]}}`})
	rapid.Check(t, func(t *rapid.T) {
		turns, n := []agent.Turn{said("Begin.")}, 0
		for range rapid.IntRange(0, 6).Draw(t, "turns") {
			switch rapid.SampledFrom([]string{"user", "text", "calls"}).Draw(t, "kind") {
			case "user":
				turns = append(turns, said(text.Draw(t, "text")))
			case "text":
				turns = append(turns, agent.Turn{Role: agent.Assistant, Text: text.Draw(t, "text")})
			case "calls":
				calls, done := agent.Turn{Role: agent.Assistant, Text: text.Draw(t, "text")}, agent.Turn{Role: agent.ToolTurn}
				for range rapid.IntRange(1, 3).Draw(t, "calls") {
					n++
					id := fmt.Sprint("c", n)
					calls.Calls = append(calls.Calls, agent.ToolUse{ID: id, Name: "now", Args: json.RawMessage(args.Draw(t, "args"))})
					done.Results = append(done.Results, agent.CallDone{CallID: id, Text: text.Draw(t, "result"), Failed: rapid.Bool().Draw(t, "failed")})
				}
				turns = append(turns, calls, done)
			}
		}
		turns = append(turns, said("End."))
		for _, m := range models {
			if r, err := m.Chat(context.Background(), agent.Prompt{System: "Be brief.", Turns: turns, Tools: tools}, nil); err != nil || r.Text != "Well." {
				t.Fatalf("%+v, %v", r, err)
			}
		}
	})
}
