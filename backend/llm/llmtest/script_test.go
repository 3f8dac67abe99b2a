package llmtest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/llm/llmtest"
)

// post sends a request in JSON to a server that has a script, and returns what it answers.
func post(t *testing.T, s *llmtest.Server, protocol, body string) (status int, said string) {
	t.Helper()
	path := map[string]string{"anthropic": "/v1/messages", "openai": "/v1/chat/completions"}[protocol]
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Api-Key", llmtest.Key)
	r.Header.Set("Authorization", "Bearer "+llmtest.Key)
	r.Header.Set("Anthropic-Version", "2023-06-01")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// Parts of requests, to be put together: this server returns an error wherever the real ones do.
const (
	aTool   = `"tools":[{"name":"look","description":"Looks.","input_schema":{"type":"object","properties":{"at":{"type":"string"}}}}]`
	aHead   = `{"model":"m","max_tokens":9,"messages":[`
	aUser   = `{"role":"user","content":"Look there"}`
	aCall   = `{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"look","input":{"at":"x"}},{"type":"tool_use","id":"c2","name":"look","input":{}}]}`
	aResult = `{"type":"tool_result","tool_use_id":"c1","content":"a"},{"type":"tool_result","tool_use_id":"c2","content":[{"type":"text","text":"b"}],"is_error":true}`
	oTool   = `"tools":[{"type":"function","function":{"name":"look","description":"Looks.","parameters":{"type":"object","properties":{"at":{"type":"string"}}}}}]`
	oHead   = `{"model":"m","messages":[{"role":"system","content":"Be brief."},`
	oCall   = `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{\"at\":\"x\"}"}},{"id":"c2","type":"function","function":{"name":"look","arguments":"{}"}}]}`
	oResult = `{"role":"tool","tool_call_id":"c2","content":"b"},{"role":"tool","tool_call_id":"c1","content":"a"}`
)

func TestStrict(t *testing.T) {
	for _, tt := range []struct{ name, protocol, body, says string }{ // says "": taken
		{"one turn", "anthropic", aHead + aUser + `],` + aTool + `}`, ""},
		{"results", "anthropic", aHead + aUser + "," + aCall + `,{"role":"user","content":[` + aResult + `,{"type":"text","text":"Go on"}]}],` + aTool + `}`, ""},
		{"no version of its own field", "anthropic", aHead + aUser + `],"invented":1}`, "unknown field"},
		{"a result is missing", "anthropic", aHead + aUser + "," + aCall + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"a"}]}]}`, "without `tool_result` blocks immediately after: c2"},
		{"no result at all", "anthropic", aHead + aUser + "," + aCall + `,{"role":"user","content":"Go on"}]}`, "immediately after: c1"},
		{"results after the text", "anthropic", aHead + aUser + "," + aCall + `,{"role":"user","content":[{"type":"text","text":"Go on"},` + aResult + `]}]}`, "immediately after: c1"},
		{"a result twice", "anthropic", aHead + aUser + "," + aCall + `,{"role":"user","content":[` + aResult + "," + aResult + `]}]}`, "single result"},
		{"a result of nothing", "anthropic", aHead + aUser + `,{"role":"assistant","content":"Well"},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"a"}]}]}`, "unexpected `tool_use_id`"},
		{"an empty failure", "anthropic", aHead + aUser + "," + aCall + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","is_error":true}]}]}`, "content cannot be empty"},
		{"roles in a row", "anthropic", aHead + aUser + "," + aUser + `]}`, "roles must alternate"},
		{"the model first", "anthropic", aHead + aCall + `]}`, "first message"},
		{"the model last", "anthropic", aHead + aUser + `,{"role":"assistant","content":"Well"}]}`, "prefill"},
		{"empty content", "anthropic", aHead + `{"role":"user","content":[]}]}`, "non-empty"},
		{"blank text", "anthropic", aHead + `{"role":"user","content":[{"type":"text","text":" "}]}]}`, "non-whitespace"},
		{"the same id again", "anthropic", aHead + aUser + "," + aCall + `,{"role":"user","content":[` + aResult + `]},` + aCall + `,{"role":"user","content":[` + aResult + `]}]}`, "ids must be unique"},
		{"an id that none is", "anthropic", aHead + aUser + `,{"role":"assistant","content":[{"type":"tool_use","id":"c.1","name":"look","input":{}}]},` + aUser + `]}`, "tool_use.id"},
		{"input that is no object", "anthropic", aHead + aUser + `,{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"look","input":"{"}]},` + aUser + `]}`, "valid dictionary"},
		{"a thought of someone else's", "anthropic", aHead + aUser + `,{"role":"assistant","content":[{"type":"thinking","thinking":"Hm","signature":"x"},{"type":"text","text":"Well"}]},` + aUser + `]}`, "signature"},
		{"a schema of a text", "anthropic", aHead + aUser + `],"tools":[{"name":"look","input_schema":{"type":"string"}}]}`, "of type"},
		{"no schema", "anthropic", aHead + aUser + `],"tools":[{"name":"look"}]}`, "schema"},
		{"a property without a schema", "anthropic", aHead + aUser + `],"tools":[{"name":"look","input_schema":{"type":"object","properties":{"at":"string"}}}]}`, `property "at"`},
		{"a name with a dot", "anthropic", aHead + aUser + `],"tools":[{"name":"files.look","input_schema":{"type":"object"}}]}`, "does not match"},
		{"a name of 65 letters", "anthropic", aHead + aUser + `],"tools":[{"name":"` + strings.Repeat("n", 65) + `","input_schema":{"type":"object"}}]}`, "does not match"},
		{"two tools of a name", "anthropic", aHead + aUser + `],"tools":[{"name":"look","input_schema":{"type":"object"}},{"name":"look","input_schema":{"type":"object"}}]}`, "unique"},
		{"a choice that is not there", "anthropic", aHead + aUser + `],"tool_choice":{"type":"tool","name":"leap"},` + aTool + `}`, "no tool"},
		{"no limit", "anthropic", `{"model":"m","messages":[` + aUser + `]}`, "max_tokens"},

		{"one turn", "openai", oHead + aUser + `],` + oTool + `}`, ""},
		{"results, in any order", "openai", oHead + aUser + "," + oCall + "," + oResult + `,` + aUser + `],` + oTool + `}`, ""},
		{"the user twice", "openai", oHead + aUser + "," + aUser + `]}`, ""},
		{"a field of its own", "openai", oHead + aUser + `],"invented":1}`, "unknown field"},
		{"a result is missing", "openai", oHead + aUser + "," + oCall + `,{"role":"tool","tool_call_id":"c1","content":"a"}]}`, "none for c2"},
		{"words before the results", "openai", oHead + aUser + "," + oCall + "," + aUser + "," + oResult + `]}`, "must be followed by tool messages"},
		{"a result of nothing", "openai", oHead + aUser + `,{"role":"tool","tool_call_id":"c1","content":"a"}]}`, "must be a response"},
		{"a result twice", "openai", oHead + aUser + "," + oCall + "," + oResult + `,{"role":"tool","tool_call_id":"c1","content":"a"}]}`, "must be a response"},
		{"a result that says nothing", "openai", oHead + aUser + "," + oCall + `,{"role":"tool","tool_call_id":"c1"}]}`, "has to be text"},
		{"an answer without content", "openai", oHead + aUser + `,{"role":"assistant","content":null},` + aUser + `]}`, "got null"},
		{"arguments that are no string", "openai", oHead + aUser + `,{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":{}}}]}]}`, "cannot unmarshal object"},
		{"no arguments", "openai", oHead + aUser + `,{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"look"}}]}]}`, "arguments are required"},
		{"an id twice", "openai", oHead + aUser + `,` + strings.Replace(oCall, "c2", "c1", 1) + `]}`, "c1 twice"},
		{"another role", "openai", oHead + `{"role":"robot","content":"x"}]}`, "robot"},
		{"a schema of a text", "openai", oHead + aUser + `],"tools":[{"type":"function","function":{"name":"look","parameters":{"type":"string"}}}]}`, "of type"},
		{"a name with a dot", "openai", oHead + aUser + `],"tools":[{"type":"function","function":{"name":"files.look"}}]}`, "does not match"},
		{"strict, and open", "openai", oHead + aUser + `],"tools":[{"type":"function","function":{"name":"look","strict":true,"parameters":{"type":"object","properties":{}}}}]}`, "additionalProperties"},
		{"nothing", "openai", `{"model":"m","messages":[]}`, "too short"},
	} {
		t.Run(tt.protocol+" "+tt.name, func(t *testing.T) {
			s := llmtest.New()
			s.Script(llmtest.Step{Answer: llmtest.Answer{Text: "Well."}})
			status, said := post(t, s, tt.protocol, tt.body)
			if want := map[bool]int{true: 200, false: 400}[tt.says == ""]; status != want || !strings.Contains(said, quoted(tt.says)) {
				t.Errorf("%d %s; want %d with %s", status, said, want, tt.says)
			}
			if left := len(s.Left()); (left == 0) != (tt.says == "") {
				t.Errorf("%d steps left", left)
			}
		})
	}
}

// quoted is a text as it stands in JSON.
func quoted(text string) string {
	data, _ := json.Marshal(text)
	return strings.Trim(string(data), `"`)
}

func TestSteps(t *testing.T) {
	s := llmtest.New()
	var wrong []string
	s.Wrong = func(p string) { wrong = append(wrong, p) }
	s.Script(
		llmtest.Step{When: llmtest.When{Result: "二"}, Answer: llmtest.Answer{Text: "saw two"}},
		llmtest.Step{When: llmtest.When{Says: "Look"}, Do: llmtest.Overloaded},
		llmtest.Step{When: llmtest.When{Says: "Look", Tool: "look"}, Take: map[string]string{"where": `Look (\S+)`},
			Answer: llmtest.Answer{Text: "At ${where}.", Calls: []llmtest.Call{{ID: "c1", Name: "look", Args: json.RawMessage(`{"at": ["<${where}\">"]}`)}, {ID: "c2", Name: "look", ArgsText: `{"at": "${where}`}}}},
		llmtest.Step{When: llmtest.When{Provider: "anthropic"}, Answer: llmtest.Answer{Text: "not for this"}},
		llmtest.Step{Times: 2, Answer: llmtest.Answer{Text: "and then"}},
	)
	for i, want := range []string{
		`503 server_overloaded`,
		`200 "content":"At there."`,
		`200 "content":"saw two"`, // the step was not used while it did not fit
		`200 "content":"and then"`,
		`200 "content":"and then"`,
		`400 no step of the script`,
	} {
		body := oHead + `{"role":"user","content":"Look there"}],` + oTool + `}`
		if i == 2 {
			body = oHead + aUser + "," + oCall + "," + strings.Replace(oResult, `"b"`, `"一二三"`, 1) + `],` + oTool + `}`
		}
		status, said := post(t, s, "openai", body)
		if code, text, _ := strings.Cut(want, " "); fmt.Sprint(status) != code || !strings.Contains(said, text) {
			t.Errorf("%d: %d %s, want %s", i, status, said, want)
		}
		if i == 1 {
			var got struct {
				Choices []struct {
					Message struct {
						Calls []struct{ Function struct{ Arguments string } } `json:"tool_calls"`
					}
				}
			}
			if err := json.Unmarshal([]byte(said), &got); err != nil {
				t.Fatal(err)
			}
			calls := got.Choices[0].Message.Calls
			var args struct{ At []string }
			if err := json.Unmarshal([]byte(calls[0].Function.Arguments), &args); err != nil || args.At[0] != `<there">` {
				t.Errorf("%s, %v", calls[0].Function.Arguments, err)
			}
			if got := calls[1].Function.Arguments; got != `{"at": "there` {
				t.Errorf("arguments that are no JSON: %q", got)
			}
		}
	}
	if got := s.Left(); !slices.Equal(got, []int{4}) {
		t.Errorf("left: %v", got)
	}
	if len(wrong) != 1 || !strings.Contains(wrong[0], "Look there") {
		t.Errorf("wrong: %q", wrong)
	}
	if got := s.Requests(); len(got) != 5 || got[2].Turns[2].Results[1].CallID != "c1" {
		t.Errorf("%d requests", len(got))
	}
}

// A request streamed and one that is not say the same, in either protocol.
func TestWhole(t *testing.T) {
	for protocol, tt := range map[string]struct{ body, whole, streamed string }{
		"anthropic": {aHead + aUser + `],` + aTool, `"name":"look","type":"tool_use"`, `"partial_json":"{\"at\":"`},
		"openai":    {oHead + aUser + `],` + oTool, `"arguments":"{\"at\":\"here\"}"`, `"arguments":"{\"at\":"`},
	} {
		s := llmtest.New()
		s.Script(llmtest.Step{Times: 2, Answer: llmtest.Answer{Thinking: "Hm.", Text: "Well.", Calls: []llmtest.Call{{Name: "look", Args: json.RawMessage(`{"at":"here"}`)}}}})
		for _, stream := range []bool{false, true} {
			status, said := post(t, s, protocol, fmt.Sprintf(`%s,"stream":%t}`, tt.body, stream))
			want, not := tt.whole, "data:"
			if stream {
				want, not = tt.streamed, "chat.completion\","
			}
			if status != 200 || !strings.Contains(said, want) || strings.Contains(said, not) || !strings.Contains(said, "Hm.") || !strings.Contains(said, "Well.") {
				t.Errorf("%s, streamed %t: %d %s", protocol, stream, status, said)
			}
		}
	}
}

func TestThoughtsComeBack(t *testing.T) {
	thought := llmtest.Step{Answer: llmtest.Answer{Thinking: "Hm.", Calls: []llmtest.Call{{ID: "c1", Name: "look"}, {ID: "c2", Name: "look"}}}}
	s := llmtest.New()
	s.Script(thought, llmtest.Step{Answer: llmtest.Answer{Text: "Well."}})
	_, said := post(t, s, "anthropic", aHead+aUser+`],`+aTool+`}`)
	var m struct{ Content json.RawMessage }
	if err := json.Unmarshal([]byte(said), &m); err != nil {
		t.Fatal(err)
	}
	without := aHead + aUser + "," + aCall + `,{"role":"user","content":[` + aResult + `]}],` + aTool + `}`
	if status, said := post(t, s, "anthropic", without); status != 400 || !strings.Contains(said, "thinking") {
		t.Errorf("without: %d %s", status, said)
	}
	with := aHead + aUser + `,{"role":"assistant","content":` + string(m.Content) + `},{"role":"user","content":[` + aResult + `]}],` + aTool + `}`
	if status, said := post(t, s, "anthropic", with); status != 200 {
		t.Errorf("with: %d %s", status, said)
	}

	s.Script(thought, llmtest.Step{Answer: llmtest.Answer{Text: "Well."}})
	post(t, s, "openai", oHead+aUser+`],`+oTool+`}`)
	without = oHead + aUser + "," + oCall + "," + oResult + `],` + oTool + `}`
	if status, said := post(t, s, "openai", without); status != 400 || !strings.Contains(said, "reasoning_content") {
		t.Errorf("without: %d %s", status, said)
	}
	with = strings.Replace(without, `"content":null`, `"content":null,"reasoning_content":"Hm."`, 1)
	if status, said := post(t, s, "openai", with); status != 200 {
		t.Errorf("with: %d %s", status, said)
	}
}

func TestLoad(t *testing.T) {
	for _, tt := range []struct{ script, says string }{
		{`{"steps":[{"when":{"says":"北京"},"text":"好","calls":[{"name":"look","args":{}}],"take":{"a":"(.)"},"do":"cut","times":-1,"wait_ms":1}]}`, ""},
		{`{"steps":[]}`, "no steps"},
		{`{"steps":[{"tekst":"x"}]}`, "unknown field"},
		{`{"steps":[{"text":"x"},{"do":"planted"}]}`, "step 2: do:"},
		{`{"steps":[{"calls":[{"name":"a.b"}]}]}`, "no name of a tool"},
		{`{"steps":[{"calls":[{"name":"a","args":"x"}]}]}`, "no object"},
		{`{"steps":[{"calls":[{"name":"a","args":{},"args_text":"{"}]}]}`, "args and args_text"},
		{`{"steps":[{"take":{"a":"("}}]}`, "take: a:"},
		{`{"steps":[{"take":{"a":"x"}}]}`, "no group"},
	} {
		s, err := llmtest.Load(strings.NewReader(tt.script))
		if tt.says == "" && (err != nil || s.Steps[0].Calls[0].Name != "look" || s.Steps[0].Do != llmtest.Cut) || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%s: %+v, %v; want %q", tt.script, s, err, tt.says)
		}
	}
}

// What summarizers and the gatekeeper ask for is not the script's to answer.
func TestOneAnswerBesideAScript(t *testing.T) {
	s := llmtest.New()
	s.Script(llmtest.Step{Answer: llmtest.Answer{Text: "Well."}})
	body := `{"model":"m","max_tokens":9,"stream":true,"stream_options":{"include_usage":true},"messages":[` + aUser + `],` +
		`"response_format":{"type":"json_schema","json_schema":{"name":"report","strict":true,"schema":{"type":"object","properties":{},"additionalProperties":false}}}}`
	if status, said := post(t, s, "openai", body); status != 200 || !strings.Contains(said, "suggestions") || len(s.Left()) != 1 {
		t.Errorf("%d %s, left %v", status, said, s.Left())
	}
}
