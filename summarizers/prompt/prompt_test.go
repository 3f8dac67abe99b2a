package prompt_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"slices"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/llm"
	"deskbell/backend/llm/llmtest"
	"deskbell/backend/record/masking"
	"deskbell/summarizers"
	"deskbell/summarizers/prompt"
	"deskbell/summarizers/summarizertest"
)

const rec = human.RecordingID("rec_1")

// input is an operation with a bit of everything.
func input() summarizers.Input {
	page := &human.WebPage{Target: "t1", URL: "https://billing.example/plans?id=7", Title: "Plans – Billing"}
	exit := 2
	desktop := true
	return summarizers.Input{
		Version: 1, Language: "en",
		Operation: human.Operation{
			ID: "op_1", Kind: human.Browser, State: human.InProgress, AgentID: "scout", Description: "Look up our plan and what it costs",
			Details: json.RawMessage(`{"url":"https://billing.example/","data_to_extract":["plan_name","price"],"expected_outcome":"both values","limits":{"seats":25}}`),
			Messages: []human.Message{
				{By: human.Actor{Role: human.Agent, Name: "scout"}, Text: "It is under Settings."},
				{By: human.Actor{Role: human.Operator, Name: "kim"}, Text: "I see it."},
			},
		},
		Answer: human.Answer{
			HumanInput: "The price is before tax.", Fields: map[string]string{"plan_name": "Team 12", "price": "19.50 EUR"},
			FieldSources: map[string]human.FieldSource{"plan_name": {Recording: rec, Action: "a9", Picked: "Team 12", URL: page.URL}},
		},
		Checklist: []summarizers.Step{{Text: "Open billing", Done: true}, {Text: "Note the renewal date"}},
		Recordings: []summarizers.Recorded{{
			Recording: human.Recording{ID: rec, OperationID: "op_1", State: human.RecordingStopped, Span: int64(90 * time.Second), Complete: true,
				Options: human.RecordingOptions{Browser: &human.BrowserOptions{}, Desktop: &desktop}},
			Actions: []human.Action{
				{ID: "a1", Type: human.Navigate, At: 1e9, End: 2e9, Page: page, Navigation: &human.Navigation{Kind: "address", Status: 200}, Words: "Opened billing.example"},
				{ID: "a4", Type: human.Click, At: 8e9, End: 8e9, Page: page, Element: &human.Element{Role: "button", Name: "Show plans"}, Words: `Clicked "Show plans"`, After: "pic1"},
				{ID: "a6", Type: human.DialogEnded, At: 12e9, End: 15e9, Page: page, Dialog: &human.Dialog{Kind: "alert", Message: "Error 503: the plans could not be loaded"}, Words: "Answered a message", After: "pic2"},
				{ID: "a9", Type: human.Extract, At: 40e9, End: 41e9, Page: page, Pick: &human.Pick{Field: "plan_name", Take: "element", Text: "Team 12"}, Words: "Picked plan_name", After: "pic3"},
			},
			Commands: []summarizers.Command{{ID: "c1", At: 60e9, End: 64e9, Line: "curl -I https://billing.example/", Exit: &exit, Output: "could not resolve host"}},
		}},
		Pictures: pictures{},
	}
}

type pictures struct{}

func (pictures) Picture(_ context.Context, _ human.RecordingID, id string, width int) ([]byte, error) {
	if id == "pic1" {
		return nil, human.Errorf(human.NotFound, "no such picture")
	}
	var b bytes.Buffer
	err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 8+len(id), 8)), nil)
	return b.Bytes(), err
}

func same(text string) string { return text }

// fake is a model that answers as the test says.
type fake struct {
	info prompt.ModelInfo
	says func(prompt.Request) any // a string as it is, anything else as JSON; an error fails
	got  []prompt.Request
}

func (f *fake) About() prompt.ModelInfo {
	if f.info.Name == "" {
		f.info = prompt.ModelInfo{Provider: "anthropic", Name: "fake-1", Host: "model.example", Pictures: true}
	}
	return f.info
}

func (f *fake) Ask(ctx context.Context, r prompt.Request, tell func(string)) (prompt.Reply, error) {
	f.got = append(f.got, r)
	v := f.says(r)
	if err, ok := v.(error); ok {
		return prompt.Reply{}, err
	}
	data, ok := v.(string)
	if !ok {
		raw, err := json.Marshal(v)
		if err != nil {
			return prompt.Reply{}, err
		}
		data = string(raw)
	}
	tell(data)
	return prompt.Reply{JSON: json.RawMessage(data), Model: f.About().Name, TokensIn: 100, TokensOut: 10}, ctx.Err()
}

func honest(r prompt.Request) any { return llmtest.Report(r.Text) }

func TestReport(t *testing.T) {
	for _, language := range []string{"en", "zh-CN"} {
		f := &fake{says: honest}
		in := input()
		in.Language = language
		var notes []string
		d, err := prompt.New(prompt.Default(), f, same).Draft(t.Context(), in, func(p human.Progress) { notes = append(notes, p.Note) })
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Dropped) > 0 {
			t.Errorf("%s: an honest report lost %v", language, d.Dropped)
		}
		refs := map[human.Ref]bool{}
		for _, one := range slices.Concat(d.Report.Findings, d.Report.Suggestions) {
			for _, ref := range one.Evidence {
				refs[ref] = true
			}
		}
		for _, want := range []human.Ref{
			{Kind: human.RefField, ID: "plan_name"}, {Kind: human.RefField, ID: "price"}, {Kind: human.RefAnswer, ID: "human_input"},
			{Kind: human.RefAction, Recording: rec, ID: "a6"}, {Kind: human.RefAction, Recording: rec, ID: "a9"},
		} {
			if !refs[want] {
				t.Errorf("nothing rests on %v", want)
			}
		}
		if d.Model != "fake-1" || d.TokensIn != 100 || d.TokensOut != 10 || len(notes) < 2 || !strings.HasSuffix(d.Report.Line, in.Operation.Description) {
			t.Errorf("%+v %q", d, notes)
		}
		if got := f.got[0]; !json.Valid(got.Schema) || !strings.Contains(got.System, map[string]string{"en": "Write in English.", "zh-CN": "请用简体中文书写。"}[language]) {
			t.Errorf("%s", got.System)
		}
	}
}

// TestEveryLabel looks whether each id in a record resolves to what it is about.
func TestEveryLabel(t *testing.T) {
	f := &fake{says: func(r prompt.Request) any {
		m := llmtest.Made{Line: "x"}
		did := map[string]string{}
		for _, it := range llmtest.Items(r.Text) {
			did[it["id"]] = it["did"]
			m.Findings = append(m.Findings, llmtest.Finding{Kind: "note", Text: "This: " + it["name"] + " " + it["text"] + it["did"] + did[it["of"]], Evidence: []string{it["id"]}, Confidence: 1})
		}
		return m
	}}
	in := input()
	second := in.Recordings[0]
	second.ID, second.Commands = "rec_2", nil
	in.Recordings = append(in.Recordings, second)
	in.Answer.Fields["套餐"] = "团队"
	in.Answer.Fields[`odd "name" {}`] = "x"
	in.Answer.Fields[`odd "name" []`] = "y"
	d, err := prompt.New(prompt.Default(), f, same).Draft(t.Context(), in, nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[human.Ref]int{}
	for _, one := range d.Report.Findings {
		for _, ref := range one.Evidence {
			if _, ok := in.Resolve(ref); !ok {
				t.Errorf("%q rests on %v", one.Text, ref)
			}
			seen[ref]++
		}
	}
	kinds := map[human.RefKind]int{}
	for ref, n := range seen {
		kinds[ref.Kind]++
		if n > 1 {
			t.Errorf("%v has %d labels", ref, n)
		}
	}
	want := map[human.RefKind]int{human.RefAction: 8, human.RefPicture: 4, human.RefCommand: 1, human.RefField: 5, human.RefStep: 2, human.RefMessage: 2, human.RefAnswer: 1, human.RefRequest: 5}
	if fmt.Sprint(kinds) != fmt.Sprint(want) {
		t.Errorf("%v, want %v; dropped %v", kinds, want, d.Dropped)
	}
}

func TestPreviewIsWhatIsSent(t *testing.T) {
	masker := masking.New()
	mask := func(text string) string { masked, _ := masker.Mask(text); return masked }
	for _, provider := range []string{llm.Anthropic, llm.OpenAI} {
		for _, do := range []llmtest.Behavior{llmtest.Right, llmtest.NoSchema, llmtest.OnlyText} {
			t.Run(provider+" "+string(do), func(t *testing.T) {
				server, url := llmtest.Start(t, do)
				m, err := llm.New(llm.Config{Provider: provider, Model: llmtest.Model, BaseURL: url + "/v1", Pictures: true,
					Key: func(context.Context, string) (string, error) { return llmtest.Key, nil }})
				if err != nil {
					t.Fatal(err)
				}
				in := input()
				in.Operation.Description = "Odd <b>\"text\"</b> & \u2028 \\u0041 \x00 \u202e 😀\r\n\t{}\nEND"
				in.Answer.HumanInput = "password: hunter2!x"
				s := prompt.New(prompt.Default(), m, mask)
				p, err := s.Preview(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				if n := len(server.Requests()); n != 0 {
					t.Fatalf("the preview made %d requests", n)
				}
				if _, err := s.Summarize(t.Context(), in, nil); err != nil {
					t.Fatal(err)
				}
				for _, q := range server.Requests() {
					if q.System != p.System || q.Text != p.Text {
						t.Errorf("sent\n%q\nshown\n%q", q.Text, p.Text)
					}
					if len(q.Pictures) != len(p.Pictures) || len(p.Pictures) != 2 || q.Names[1] != "p2" {
						t.Fatalf("sent %q, shown %v", q.Names, p.Pictures)
					}
					for i, ref := range p.Pictures {
						if data, _ := in.Pictures.Picture(t.Context(), ref.Recording, ref.ID, 0); !bytes.Equal(data, q.Pictures[i]) {
							t.Errorf("picture %d is another", i)
						}
					}
					if strings.Contains(string(q.Body), "hunter2") {
						t.Error("a password was sent")
					}
				}
				if p.Host != strings.TrimPrefix(url, "http://") || p.Model != llmtest.Model || p.Tokens < 500 {
					t.Errorf("%s %s %d", p.Host, p.Model, p.Tokens)
				}
			})
		}
	}
}

// TestServers runs the summarizer against servers that behave badly.
func TestServers(t *testing.T) {
	for do, tt := range map[llmtest.Behavior]struct {
		kind     human.ErrorKind // 0: a report
		dropped  int
		requests int
	}{
		llmtest.Right:             {0, 0, 1},
		llmtest.Prose:             {0, 0, 1},
		llmtest.Denied:            {human.Denied, 0, 1},
		llmtest.NoCredit:          {human.Exhausted, 0, 1},
		llmtest.Refusal:           {human.Invalid, 0, 1},
		llmtest.Truncated:         {human.Invalid, 0, 2},
		llmtest.Nonsense:          {human.Invalid, 0, 2},
		llmtest.WrongSchema:       {human.Invalid, 0, 2},
		llmtest.InventedReference: {0, 1, 1},
		llmtest.InventedNumber:    {0, 1, 1},
		llmtest.InventedQuote:     {0, 1, 1},
		llmtest.Planted:           {human.Invalid, 4, 1},
	} {
		for _, provider := range []string{llm.Anthropic, llm.OpenAI} {
			t.Run(string(do)+" "+provider, func(t *testing.T) {
				server, url := llmtest.Start(t, do)
				m, err := llm.New(llm.Config{Provider: provider, Model: llmtest.Model, BaseURL: url, Key: func(context.Context, string) (string, error) { return llmtest.Key, nil }})
				if err != nil {
					t.Fatal(err)
				}
				d, err := prompt.New(prompt.Default(), m, same).Draft(t.Context(), input(), nil)
				if tt.kind == 0 && err != nil || tt.kind != 0 && human.KindOf(err) != tt.kind {
					t.Fatalf("%v, want kind %d", err, tt.kind)
				}
				if n := len(server.Requests()); n != tt.requests {
					t.Errorf("%d requests, want %d", n, tt.requests)
				}
				if len(d.Dropped) != tt.dropped {
					t.Errorf("dropped %v, want %d", d.Dropped, tt.dropped)
				}
				if text := fmt.Sprint(d.Report); strings.Contains(text, "98,765") || strings.Contains(text, "reactor") || strings.Contains(text, "invoice") || strings.Contains(text, "collect.example") {
					t.Errorf("invented: %s", text)
				}
			})
		}
	}
}

func TestRepair(t *testing.T) {
	bad := human.Wrap(human.Invalid, prompt.ErrAnswer, "no JSON")
	for name, tt := range map[string]struct {
		first any
		says  string
	}{
		"no JSON":       {error(bad), "one whole JSON object"},
		"another shape": {map[string]any{"summary": 1}, "line, text, findings"},
		"another type":  {`{"line":"x","text":"y","findings":[{"kind":"note","text":"z","evidence":"a1","confidence":1}],"suggestions":[]}`, "line, text, findings"},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{}
			f.says = func(r prompt.Request) any {
				if len(f.got) == 1 {
					return tt.first
				}
				return honest(r)
			}
			if _, err := prompt.New(prompt.Default(), f, same).Summarize(t.Context(), input(), nil); err != nil {
				t.Fatal(err)
			}
			rest, ok := strings.CutPrefix(f.got[1].Text, f.got[0].Text)
			if !ok || !strings.Contains(rest, tt.says) || f.got[1].System != f.got[0].System || len(f.got) != 2 {
				t.Errorf("asked again with %q", rest)
			}
			f = &fake{says: func(prompt.Request) any { return tt.first }}
			if _, err := prompt.New(prompt.Default(), f, same).Summarize(t.Context(), input(), nil); human.KindOf(err) != human.Invalid || len(f.got) != 2 {
				t.Errorf("%v after %d requests", err, len(f.got))
			}
		})
	}
	f := &fake{says: func(prompt.Request) any { return human.Errorf(human.Denied, "no") }}
	if _, err := prompt.New(prompt.Default(), f, same).Summarize(t.Context(), input(), nil); human.KindOf(err) != human.Denied || len(f.got) != 1 {
		t.Errorf("%v after %d requests", err, len(f.got))
	}
}

func TestContextEnds(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	f := &fake{says: func(prompt.Request) any { stop(); return context.Canceled }}
	if _, err := prompt.New(prompt.Default(), f, same).Summarize(ctx, input(), nil); !errors.Is(err, context.Canceled) || len(f.got) != 1 {
		t.Errorf("%v", err)
	}
}

// TestMasked puts a secret into every text of an input.
func TestMasked(t *testing.T) {
	const secret = "SECRET-a1b2c3"
	in := input()
	in.Operation.Description, in.Operation.AgentID = secret+" 1", "agent "+secret
	in.Operation.Details = json.RawMessage(`{"url":"https://x.example/?k=` + secret + `","` + secret + `":"x","deep":{"er":["` + secret + `"]}}`)
	in.Operation.Messages[0].Text = secret
	in.Answer.HumanInput, in.Answer.ExecutionResult = secret, secret
	in.Answer.Fields = map[string]string{secret: secret, "plan": secret}
	in.Answer.FieldSources = map[string]human.FieldSource{"plan": {Picked: "was " + secret, URL: "https://x.example/" + secret}}
	in.Checklist[0].Text = secret
	step := 0
	in.Recordings[0].Actions = []human.Action{{
		ID: "a1", Type: human.DialogEnded, Words: "Saw " + secret, Text: secret, Value: "v " + secret, Values: []string{secret}, Step: &step,
		Element: &human.Element{Name: secret}, App: &human.App{Name: secret}, Window: &human.Window{Title: secret},
		Page:       &human.WebPage{URL: "https://x.example/" + secret, Title: secret + " title"},
		Navigation: &human.Navigation{Failed: secret}, Dialog: &human.Dialog{Message: secret, Input: secret + " in"},
		Pick: &human.Pick{Field: secret, Text: secret}, Transfers: []human.Transfer{{Name: secret, URL: "https://x.example/" + secret}},
		File: &human.FileChange{Path: "/home/" + secret, To: "/home/x" + secret},
	}, {ID: "a2", Type: human.OpenApp, Words: "Opened", App: &human.App{Name: "An " + secret}, Window: &human.Window{Title: "The " + secret}}}
	in.Recordings[0].Commands[0].Line, in.Recordings[0].Commands[0].Output, in.Recordings[0].Commands[0].Dir = "run "+secret, secret, "/"+secret
	f := &fake{says: honest}
	mask := func(text string) string { return strings.ReplaceAll(text, secret, "•••") }
	p, err := prompt.New(prompt.Default(), f, mask).Preview(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if at := strings.Index(p.System+p.Text, "a1b2c3"); at >= 0 {
		t.Errorf("sent: %s", (p.System + p.Text)[max(0, at-200):at+20])
	}
	if n := strings.Count(p.Text, "•••"); n < 25 {
		t.Errorf("only %d of them are there at all:\n%s", n, p.Text)
	}
}

// long is a recording of n actions, one in a thousand of which matters.
func long(n int) summarizers.Input {
	in := input()
	actions := make([]human.Action, n)
	for i := range actions {
		a := human.Action{ID: fmt.Sprintf("a%d", i+1), Type: human.Click, At: int64(i) * 1e8, End: int64(i) * 1e8, Words: fmt.Sprintf("Clicked row %d of the list", i)}
		switch {
		case i%1000 == 500:
			a.Type, a.Dialog, a.Words = human.DialogEnded, &human.Dialog{Kind: "alert", Message: fmt.Sprintf("Row %d is locked", i)}, "Answered a message"
		case i%3 == 0:
			a.Type, a.Words = human.Scroll, "Scrolled"
		}
		actions[i] = a
	}
	in.Recordings[0].Actions = actions
	return in
}

func TestBudget(t *testing.T) {
	many := input()
	many.Answer.Fields = map[string]string{}
	for i := range 2000 {
		many.Answer.Fields[fmt.Sprintf("field_%04d", i)] = strings.Repeat("value ", 20)
	}
	wordy := long(300)
	wordy.Operation.Description = strings.Repeat("很长的说明。", 5000)
	wordy.Recordings[0].Actions[0].Words = strings.Repeat("x", 100_000)
	for name, in := range map[string]summarizers.Input{"short": input(), "long": long(10_000), "many fields": many, "wordy": wordy} {
		for _, most := range []int{2500, 4000, 8000, 24_000, 100_000} {
			t.Run(fmt.Sprint(name, " ", most), func(t *testing.T) {
				f := &fake{says: honest, info: prompt.ModelInfo{Name: "fake-1", Host: "h", Pictures: true, MaxInput: most}}
				p, err := prompt.New(prompt.Default(), f, same).Preview(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				if got := p.Tokens + 1600*len(p.Pictures); got > most {
					t.Errorf("%d tokens", got)
				}
				if !strings.Contains(p.Text, `"r:description"`) {
					t.Error("the request itself is missing")
				}
				// What is left out is said, and adds up.
				actions := strings.Count(p.Text, `"kind":"action"`)
				left := 0
				for line := range strings.Lines(p.Text) {
					var l struct{ Kind, Count, What string }
					if json.Unmarshal([]byte(line), &l) == nil && l.Kind == "left_out" && !strings.HasPrefix(l.What, "further") {
						_, _ = fmt.Sscan(l.Count, &left)
					}
				}
				commands := strings.Count(p.Text, `"kind":"command"`)
				if all := len(in.Recordings[0].Actions) + len(in.Recordings[0].Commands); actions+commands+left != all {
					t.Errorf("%d and %d of %d actions, %d left out", actions, commands, all, left)
				}
				if name == "long" && most >= 4000 {
					if n := strings.Count(p.Text, "is locked"); n != 10 {
						t.Errorf("%d of 10 messages", n)
					}
				}
			})
		}
	}
	f := &fake{says: honest, info: prompt.ModelInfo{Name: "fake-1", Host: "h", MaxInput: 800}}
	if _, err := prompt.New(prompt.Default(), f, same).Preview(t.Context(), input()); human.KindOf(err) != human.Exhausted || !strings.Contains(err.Error(), "model.max_input_tokens") {
		t.Errorf("%v", err)
	}
}

func TestPicturesOnlyWhereTheyAreTaken(t *testing.T) {
	without := strings.Replace("---\nname: t\npictures: true\n---\nDo it.", "pictures: true", "pictures: false", 1)
	plain, err := prompt.Parse("t", []byte(without))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		t     prompt.Template
		takes bool
		want  int
	}{
		"both":             {prompt.Default(), true, 2},
		"not the model":    {prompt.Default(), false, 0},
		"not the template": {plain, true, 0},
	} {
		f := &fake{says: honest, info: prompt.ModelInfo{Name: "fake-1", Host: "h", Pictures: tt.takes}}
		s := prompt.New(tt.t, f, same)
		p, err := s.Preview(t.Context(), input())
		if err != nil || len(p.Pictures) != tt.want || s.About().Pictures != (tt.want > 0) || strings.Count(p.Text, `"kind":"picture"`) != tt.want {
			t.Errorf("%s: %v, %v", name, p.Pictures, err)
		}
	}
}

func TestConformance(t *testing.T) {
	for _, provider := range []string{llm.Anthropic, llm.OpenAI} {
		t.Run(provider, func(t *testing.T) {
			_, url := llmtest.Start(t, llmtest.Right)
			m, err := llm.New(llm.Config{Provider: provider, Model: llmtest.Model, BaseURL: url, Key: func(context.Context, string) (string, error) { return llmtest.Key, nil }})
			if err != nil {
				t.Fatal(err)
			}
			summarizertest.Run(t, prompt.New(prompt.Default(), m, same))
		})
	}
}

func BenchmarkPreview(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			in := long(n)
			mask := masking.New()
			s := prompt.New(prompt.Default(), &fake{says: honest}, func(text string) string { masked, _ := mask.Mask(text); return masked })
			for b.Loop() {
				if _, err := s.Preview(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
