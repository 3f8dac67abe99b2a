package llm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"deskbell/backend/human"
	"deskbell/backend/llm"
	"deskbell/backend/llm/llmtest"
	"deskbell/summarizers/prompt"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const question = `What was done?
{"id":"r:description","kind":"request","text":"Look up the plan"}
{"id":"f:plan","kind":"field","name":"plan","text":"Team 12"}
{"id":"a1","kind":"action","did":"Clicked \"Billing\""}
{"id":"a7","kind":"action","did":"Picked Team 12 for plan","picked":"Team 12"}`

var schema = json.RawMessage(`{"type":"object","properties":{"line":{"type":"string"}},"required":["line"],"additionalProperties":false}`)

func key(context.Context, string) (string, error) { return llmtest.Key, nil }

func request() prompt.Request {
	return prompt.Request{System: "You summarize.", Text: question, Schema: schema, Tokens: 500}
}

var providers = []string{llm.Anthropic, llm.OpenAI}

// each runs a test for both providers, on a clock of its own: pauses and time limits take no time.
func each(t *testing.T, do []llmtest.Behavior, f func(t *testing.T, provider string, m prompt.Model, s *llmtest.Server)) {
	t.Helper()
	for _, provider := range providers {
		t.Run(provider, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, dial := llmtest.Pipe(t, do...)
				m, err := llm.New(llm.Config{Provider: provider, Model: llmtest.Model, BaseURL: "http://127.0.0.1:80/v1", Key: key, Pictures: true, MaxOutput: 800, Dial: dial})
				if err != nil {
					t.Fatal(err)
				}
				f(t, provider, m, s)
			})
		})
	}
}

func TestAsk(t *testing.T) {
	for _, tt := range []struct {
		do       []llmtest.Behavior
		want     human.ErrorKind // 0: an answer
		again    bool            // ErrAnswer: asking once more may help
		requests int
		within   time.Duration
		says     string
	}{
		{do: []llmtest.Behavior{llmtest.Right}, requests: 1, within: time.Second},
		{do: []llmtest.Behavior{llmtest.Slow}, requests: 1, within: 20 * time.Second},
		{do: []llmtest.Behavior{llmtest.Prose}, requests: 1, within: time.Second},
		{do: []llmtest.Behavior{llmtest.RateLimited, llmtest.Right}, requests: 2, within: 3 * time.Second},
		{do: []llmtest.Behavior{llmtest.RateLimited}, want: human.Exhausted, requests: 4, within: 12 * time.Second, says: "no more requests"},
		{do: []llmtest.Behavior{llmtest.RateLimitedLong}, want: human.Exhausted, requests: 1, within: time.Second, says: "1h0m0s"},
		{do: []llmtest.Behavior{llmtest.NoCredit}, want: human.Exhausted, requests: 1, within: time.Second, says: "no credit"},
		{do: []llmtest.Behavior{llmtest.Overloaded, llmtest.Overloaded, llmtest.Right}, requests: 3, within: 4 * time.Second},
		{do: []llmtest.Behavior{llmtest.Overloaded}, want: human.Unavailable, requests: 4, within: 9 * time.Second},
		{do: []llmtest.Behavior{llmtest.OverloadedMidway, llmtest.Right}, requests: 2, within: 2 * time.Second},
		{do: []llmtest.Behavior{llmtest.OverloadedMidway}, want: human.Unavailable, requests: 4, within: 9 * time.Second},
		{do: []llmtest.Behavior{llmtest.BadGateway, llmtest.Right}, requests: 2, within: 2 * time.Second},
		{do: []llmtest.Behavior{llmtest.BadGateway}, want: human.Unavailable, requests: 4, within: 9 * time.Second, says: "(502)"},
		{do: []llmtest.Behavior{llmtest.Denied}, want: human.Denied, requests: 1, within: time.Second, says: "does not accept the key"},
		{do: []llmtest.Behavior{llmtest.UnknownModel}, want: human.Invalid, requests: 1, within: time.Second, says: llmtest.Model},
		{do: []llmtest.Behavior{llmtest.NoSchema}, requests: 0, within: time.Second},
		{do: []llmtest.Behavior{llmtest.NoTools}, requests: 0, within: time.Second},
		{do: []llmtest.Behavior{llmtest.OnlyText}, requests: 3, within: time.Second},
		{do: []llmtest.Behavior{llmtest.Cut, llmtest.Right}, requests: 2, within: 2 * time.Second},
		{do: []llmtest.Behavior{llmtest.Cut}, want: human.Unavailable, requests: 4, within: 9 * time.Second, says: "broke off"},
		{do: []llmtest.Behavior{llmtest.Short}, want: human.Unavailable, requests: 4, within: 9 * time.Second, says: "broke off"},
		{do: []llmtest.Behavior{llmtest.Stall, llmtest.Right}, requests: 2, within: 63 * time.Second},
		{do: []llmtest.Behavior{llmtest.Stall}, want: human.Unavailable, requests: 4, within: 250 * time.Second, says: "60 seconds"},
		{do: []llmtest.Behavior{llmtest.Silent}, want: human.Unavailable, requests: 1, within: 241 * time.Second, says: "4 minutes"},
		{do: []llmtest.Behavior{llmtest.Pings}, want: human.Unavailable, requests: 1, within: 241 * time.Second, says: "4 minutes"},
		{do: []llmtest.Behavior{llmtest.Truncated}, want: human.Invalid, again: true, requests: 1, within: time.Second, says: "model.max_output_tokens"},
		{do: []llmtest.Behavior{llmtest.Refusal}, want: human.Invalid, requests: 1, within: time.Second, says: "declined to answer"},
		{do: []llmtest.Behavior{llmtest.Nonsense}, want: human.Invalid, again: true, requests: 1, within: time.Second, says: "JSON"},
		{do: []llmtest.Behavior{llmtest.WrongSchema}, requests: 1, within: time.Second}, // JSON it is; the prompt checks it
		{do: []llmtest.Behavior{llmtest.Huge}, want: human.Invalid, requests: 1, within: time.Second, says: "8 MB"},
		{do: []llmtest.Behavior{llmtest.Page}, want: human.Invalid, requests: 1, within: time.Second, says: "protocol"},
		{do: []llmtest.Behavior{llmtest.Elsewhere}, want: human.Invalid, requests: 1, within: time.Second, says: "another address"},
	} {
		t.Run(fmt.Sprint(tt.do), func(t *testing.T) {
			each(t, tt.do, func(t *testing.T, provider string, m prompt.Model, s *llmtest.Server) {
				want := tt.requests
				if want == 0 { // the first form of one provider is the second of the other
					want = 1
					if (tt.do[0] == llmtest.NoSchema) == (provider == llm.OpenAI) {
						want = 2
					}
				}
				begun, told := time.Now(), ""
				r, err := m.Ask(t.Context(), request(), func(soFar string) { told = soFar })
				if took := time.Since(begun); took > tt.within {
					t.Errorf("it took %s", took)
				}
				if got := len(s.Requests()); got != want {
					t.Errorf("%d requests, want %d", got, want)
				}
				if tt.want != 0 {
					if human.KindOf(err) != tt.want || errors.Is(err, prompt.ErrAnswer) != tt.again || !strings.Contains(human.SafeText(err), tt.says) {
						t.Errorf("kind %d, %q; want kind %d with %q", human.KindOf(err), err, tt.want, tt.says)
					}
					if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), llmtest.Key) {
						t.Errorf("the key is in %#v", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if !json.Valid(r.JSON) || r.Model != llmtest.Model || r.TokensIn == 0 || r.TokensOut != 321 {
					t.Errorf("%+v", r)
				}
				if !strings.Contains(told, string(r.JSON)) {
					t.Errorf("told %q of %q", told, r.JSON)
				}
			})
		})
	}
}

func TestFormIsRemembered(t *testing.T) {
	each(t, []llmtest.Behavior{llmtest.OnlyText}, func(t *testing.T, _ string, m prompt.Model, s *llmtest.Server) {
		for range 2 {
			if _, err := m.Ask(t.Context(), request(), nil); err != nil {
				t.Fatal(err)
			}
		}
		if got := s.Requests(); len(got) != 4 || got[3].Form != "text" {
			t.Errorf("%d requests", len(got))
		}
	})
}

func TestAskEndsWithItsContext(t *testing.T) {
	for _, b := range []llmtest.Behavior{llmtest.Stall, llmtest.Silent, llmtest.Pings, llmtest.Huge, llmtest.Slow} {
		t.Run(string(b), func(t *testing.T) {
			each(t, []llmtest.Behavior{b}, func(t *testing.T, _ string, m prompt.Model, s *llmtest.Server) {
				s.Pace = time.Minute
				ctx, stop := context.WithCancel(t.Context())
				if b == llmtest.Huge { // no time passes while it writes
					_, err := m.Ask(ctx, request(), func(string) { stop() })
					if !errors.Is(err, context.Canceled) {
						t.Errorf("%v", err)
					}
					return
				}
				time.AfterFunc(5*time.Second, stop)
				begun := time.Now()
				if _, err := m.Ask(ctx, request(), nil); !errors.Is(err, context.Canceled) {
					t.Errorf("%v", err)
				}
				if took := time.Since(begun); took > 6*time.Second {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
	t.Run("no pause beyond the deadline", func(t *testing.T) {
		each(t, []llmtest.Behavior{llmtest.RateLimited}, func(t *testing.T, _ string, m prompt.Model, _ *llmtest.Server) {
			ctx, stop := context.WithTimeout(t.Context(), time.Second)
			defer stop()
			begun := time.Now()
			_, err := m.Ask(ctx, request(), nil)
			if human.KindOf(err) != human.Exhausted || time.Since(begun) != 0 {
				t.Errorf("%v after %s", err, time.Since(begun))
			}
		})
	})
}

func TestWhatIsSent(t *testing.T) {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8)), nil); err != nil {
		t.Fatal(err)
	}
	for _, form := range []llmtest.Behavior{llmtest.Right, llmtest.NoSchema, llmtest.NoTools} {
		t.Run(string(form), func(t *testing.T) {
			each(t, []llmtest.Behavior{form}, func(t *testing.T, provider string, m prompt.Model, s *llmtest.Server) {
				r := request()
				r.Pictures = []prompt.Picture{{Name: "p1", JPEG: b.Bytes()}, {Name: "p2", JPEG: b.Bytes()}}
				r.Tokens = 0
				if _, err := m.Ask(t.Context(), r, nil); err != nil {
					t.Fatal(err)
				}
				all := s.Requests()
				got := all[len(all)-1]
				if got.Provider != provider || got.System != r.System || got.Text != r.Text || got.Tokens != 800 ||
					fmt.Sprint(got.Names) != "[p1 p2]" || !bytes.Equal(got.Pictures[1], b.Bytes()) {
					t.Errorf("%+v", got)
				}
				if got.Form == "text" {
					t.Error("no form at all")
				} else if !same(got.Schema, schema) {
					t.Errorf("%s: schema %s", got.Form, got.Schema)
				}
			})
		})
	}
}

func same(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && fmt.Sprint(x) == fmt.Sprint(y)
}

func TestEnvironmentIsNotRead(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"} {
		t.Setenv(name, "from-the-environment")
	}
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Planted: from-the-environment")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Planted: from-the-environment")
	for _, name := range []string{"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(name, "http://127.0.0.1:1")
	}
	for _, provider := range providers {
		s, url := llmtest.Start(t)
		m, err := llm.New(llm.Config{Provider: provider, Model: llmtest.Model, BaseURL: url + "/v1", Key: key})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Ask(t.Context(), request(), nil); err != nil {
			t.Fatal(err)
		}
		if got := s.Requests()[0]; strings.Contains(fmt.Sprint(got.Header), "from-the-environment") {
			t.Errorf("%s: %v", provider, got.Header)
		}
		if fmt.Sprint(m) != llmtest.Model+" at "+strings.TrimPrefix(url, "http://") {
			t.Errorf("%v", m)
		}
	}
}

func TestKey(t *testing.T) {
	for name, tt := range map[string]struct {
		key  func(context.Context, string) (string, error)
		want map[string]human.ErrorKind
	}{
		"none":          {nil, map[string]human.ErrorKind{llm.Anthropic: human.Denied}},
		"empty":         {func(context.Context, string) (string, error) { return " ", nil }, map[string]human.ErrorKind{llm.Anthropic: human.Denied}},
		"not allowed":   {func(context.Context, string) (string, error) { return "", human.Errorf(human.Unavailable, "no") }, map[string]human.ErrorKind{llm.Anthropic: human.Unavailable, llm.OpenAI: human.Unavailable}},
		"with a break":  {func(context.Context, string) (string, error) { return "sk\r\nX: y", nil }, map[string]human.ErrorKind{llm.Anthropic: human.Denied, llm.OpenAI: human.Denied}},
		"wrong":         {func(context.Context, string) (string, error) { return "sk-wrong", nil }, map[string]human.ErrorKind{llm.Anthropic: human.Denied, llm.OpenAI: human.Denied}},
		"with newlines": {func(context.Context, string) (string, error) { return llmtest.Key + "\n", nil }, nil},
	} {
		for _, provider := range providers {
			t.Run(name+" "+provider, func(t *testing.T) {
				_, url := llmtest.Start(t)
				m, err := llm.New(llm.Config{Provider: provider, Model: llmtest.Model, BaseURL: url + "/v1", Key: tt.key})
				if err != nil {
					t.Fatal(err)
				}
				_, err = m.Ask(t.Context(), request(), nil)
				if want := tt.want[provider]; want == 0 && err != nil || want != 0 && human.KindOf(err) != want {
					t.Errorf("%v, want kind %d", err, want)
				}
				if err != nil && strings.Contains(err.Error(), "sk") {
					t.Errorf("%v", err)
				}
			})
		}
	}
}

func TestNobodyThere(t *testing.T) {
	m, err := llm.New(llm.Config{Provider: llm.OpenAI, Model: "m", BaseURL: "http://127.0.0.1:1/v1"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 500*time.Millisecond) // less than the first pause
	defer stop()
	if _, err := m.Ask(ctx, request(), nil); human.KindOf(err) != human.Unavailable || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("%v", err)
	}
}

func TestNew(t *testing.T) {
	for name, tt := range map[string]struct {
		c    llm.Config
		host string
		says string
	}{
		"Anthropic's own":      {llm.Config{Provider: llm.Anthropic, Model: "m"}, "api.anthropic.com", ""},
		"OpenAI's own":         {llm.Config{Provider: llm.OpenAI, Model: "m"}, "api.openai.com", ""},
		"this machine":         {llm.Config{Provider: llm.OpenAI, Model: "m", BaseURL: "http://localhost:11434/v1"}, "localhost:11434", ""},
		"this machine, IPv6":   {llm.Config{Provider: llm.OpenAI, Model: "m", BaseURL: "http://[::1]:8000/v1/"}, "[::1]:8000", ""},
		"unencrypted":          {llm.Config{Provider: llm.OpenAI, Model: "m", BaseURL: "http://gpu.example:8000/v1"}, "", "unencrypted"},
		"unencrypted, allowed": {llm.Config{Provider: llm.OpenAI, Model: "m", BaseURL: "http://gpu.example:8000/v1", AllowHTTP: true}, "gpu.example:8000", ""},
		"looks like this one":  {llm.Config{Provider: llm.OpenAI, Model: "m", BaseURL: "http://localhost.example/v1"}, "", "unencrypted"},
		"a password":           {llm.Config{Provider: llm.OpenAI, Model: "m", BaseURL: "https://me:secret@gpu.example/v1"}, "", "without name"},
		"a key in the address": {llm.Config{Provider: llm.OpenAI, Model: "m", BaseURL: "https://gpu.example/v1?key=secret"}, "", "without name"},
		"no address":           {llm.Config{Provider: llm.OpenAI, Model: "m", BaseURL: "gpu.example"}, "", "model.base_url"},
		"another scheme":       {llm.Config{Provider: llm.OpenAI, Model: "m", BaseURL: "file:///etc/passwd"}, "", "model.base_url"},
		"no model":             {llm.Config{Provider: llm.OpenAI}, "", "model.name"},
		"no provider":          {llm.Config{Model: "m"}, "", "model.provider"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := llm.New(tt.c)
			if tt.says != "" {
				if human.KindOf(err) != human.Invalid || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "secret") {
					t.Errorf("%v, want %q", err, tt.says)
				}
				return
			}
			if err != nil || m.About().Host != tt.host {
				t.Errorf("%v, %v", m, err)
			}
		})
	}
}
