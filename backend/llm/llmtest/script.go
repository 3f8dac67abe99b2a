package llmtest

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"deskbell/backend/agent"
)

// A Script is what a model does in a conversation with tools. Each request is answered by the first step that is not used
// up and whose When holds; a request that no step is for gets an error, and is a wrong one.
type Script struct {
	Steps []Step `json:"steps"`
}

// A Step is one answer: what is said, which tools are called, or what goes wrong.
type Step struct {
	When  When              `json:"when"`
	Times int               `json:"times"` // how many requests it answers; 0: one; negative: all that come
	Do    Behavior          `json:"do"`    // how it is answered; empty: right
	Take  map[string]string `json:"take"`  // regular expressions: ${NAME} is what the first group finds last in the conversation
	Answer

	Wait      int `json:"wait_ms"` // before the answer begins
	Pace      int `json:"pace_ms"` // between two pieces of it
	TokensIn  int `json:"tokens_in"`
	TokensOut int `json:"tokens_out"` // 0: 321

	// Make makes the answer of the request, where it is not known before.
	Make func(Request) Answer `json:"-"`
}

// An Answer is what a model says.
type Answer struct {
	Thinking string `json:"thinking"` // has to come back with the results of the calls
	Redacted string `json:"redacted"` // thoughts that only the server can read; of Anthropic's protocol
	Text     string `json:"text"`
	Calls    []Call `json:"calls"`
}

// A Call is of a tool. The arguments are Args, or what ArgsText says, which may be no JSON.
type Call struct {
	ID       string          `json:"id"` // empty: one that no other call has
	Name     string          `json:"name"`
	Args     json.RawMessage `json:"args"`
	ArgsText string          `json:"args_text"`
}

// A When says which requests a step is for: all that is not empty has to hold. "New" is what came since the model's last
// words.
type When struct {
	Provider string `json:"provider"` // anthropic or openai
	System   string `json:"system"`   // stands in the system prompt
	First    string `json:"first"`    // stands in the first message of the user, which tells conversations apart
	Says     string `json:"says"`     // stands in what is new of the user's
	Result   string `json:"result"`   // stands in a new result of a tool
	Anywhere string `json:"anywhere"` // stands in the conversation
	Tool     string `json:"tool"`     // this tool is on offer
}

// scriptable are the behaviours that a step may have: those that do not depend on a report.
var scriptable = []Behavior{
	Right, Slow, RateLimited, RateLimitedLong, NoCredit, Overloaded, OverloadedMidway, BadGateway, Denied, UnknownModel, TooLong,
	Cut, Short, Stall, Silent, Pings, Truncated, Refusal, Huge, Page, Elsewhere,
}

// Load reads a script from JSON. The error says what is wrong with it.
func Load(r io.Reader) (Script, error) {
	var s Script
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return Script{}, fmt.Errorf("the script: %w", err)
	}
	if len(s.Steps) == 0 {
		return Script{}, errors.New("the script has no steps")
	}
	for i, step := range s.Steps {
		if err := step.check(); err != nil {
			return Script{}, fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return s, nil
}

func (s Step) check() error {
	if s.Do != "" && !slices.Contains(scriptable, s.Do) {
		return fmt.Errorf("do: %q is not one of %q", s.Do, scriptable)
	}
	for name, expression := range s.Take {
		re, err := regexp.Compile(expression)
		if err != nil {
			return fmt.Errorf("take: %s: %w", name, err)
		}
		if re.NumSubexp() == 0 {
			return fmt.Errorf("take: %s: %q has no group", name, expression)
		}
	}
	for _, c := range s.Calls {
		if !nameShape.MatchString(c.Name) {
			return fmt.Errorf("calls: %q is no name of a tool", c.Name)
		}
		if c.Args != nil && c.ArgsText != "" {
			return fmt.Errorf("calls: %s: args and args_text", c.Name)
		}
		if c.Args != nil && !isObject(c.Args) {
			return fmt.Errorf("calls: %s: args is no object", c.Name)
		}
	}
	return nil
}

// Script gives the server its steps, and takes back those it had.
func (s *Server) Script(steps ...Step) {
	for i, step := range steps {
		if err := step.check(); err != nil {
			panic(fmt.Sprintf("step %d: %v", i+1, err)) // a test's own
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps, s.used = slices.Clone(steps), make([]int, len(steps))
}

// Left are the steps, from 1, that would still answer a request and have not answered all that they are for.
func (s *Server) Left() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := []int{}
	for i, step := range s.steps {
		if s.used[i] < max(1, step.Times) {
			left = append(left, i+1)
		}
	}
	return left
}

// scripted says whether the script answers a request. The others are those that summarizers and the gatekeeper make,
// who want one answer of a given shape.
func (s *Server) scripted(q Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.steps) > 0 && (q.Form == "chat" || q.Form == "text")
}

// take finds the step for a request, and uses it.
func (s *Server) take(q Request) (Step, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, step := range s.steps {
		if times := max(1, step.Times); step.Times >= 0 && s.used[i] >= times || !step.When.holds(q) {
			continue
		}
		s.used[i]++
		return step, nil
	}
	last := ""
	if n := len(q.Turns); n > 0 {
		data, _ := json.Marshal(q.Turns[n-1])
		last = string(data)
	}
	return Step{}, fmt.Errorf("no step of the script is for this request: turn %d, %s", len(q.Turns), last)
}

func (w When) holds(q Request) bool {
	var first, said, results, all strings.Builder
	old := len(q.Turns) // turns up to the model's last words
	for old > 0 && q.Turns[old-1].Role != agent.Assistant {
		old--
	}
	for i, t := range q.Turns {
		if t.Role == agent.User && first.Len() == 0 {
			first.WriteString(t.Text)
		}
		all.WriteString(t.Text + "\n")
		for _, c := range t.Calls {
			all.WriteString(string(c.Args) + "\n")
		}
		if i >= old && t.Role == agent.User {
			said.WriteString(t.Text + "\n")
		}
		for _, r := range t.Results {
			all.WriteString(r.Text + "\n")
			if i >= old {
				results.WriteString(r.Text + "\n")
			}
		}
	}
	return (w.Provider == "" || w.Provider == q.Provider) &&
		strings.Contains(q.System, w.System) &&
		strings.Contains(first.String(), w.First) &&
		strings.Contains(said.String(), w.Says) &&
		strings.Contains(results.String(), w.Result) &&
		strings.Contains(all.String(), w.Anywhere) &&
		(w.Tool == "" || slices.ContainsFunc(q.Tools, func(t agent.ToolSpec) bool { return t.Name == w.Tool }))
}

// answer is what a step says to a request.
func (s Step) answer(q Request) Answer {
	if s.Make != nil {
		return s.Make(q)
	}
	if len(s.Take) == 0 {
		return s.Answer
	}
	var all bytes.Buffer
	for _, t := range q.Turns {
		all.WriteString(t.Text + "\n")
		for _, r := range t.Results {
			all.WriteString(r.Text + "\n")
		}
	}
	var pairs []string
	for name, expression := range s.Take {
		found := regexp.MustCompile(expression).FindAllStringSubmatch(all.String(), -1)
		is := ""
		if len(found) > 0 {
			is = found[len(found)-1][1]
		}
		pairs = append(pairs, "${"+name+"}", is)
	}
	fill := strings.NewReplacer(pairs...)
	a := s.Answer
	a.Text = fill.Replace(a.Text)
	a.Calls = slices.Clone(a.Calls)
	for i, c := range a.Calls {
		a.Calls[i].ArgsText = fill.Replace(c.ArgsText)
		var v any
		if c.Args == nil || json.Unmarshal(c.Args, &v) != nil {
			continue
		}
		a.Calls[i].Args = must(json.Marshal(filled(v, fill)))
	}
	return a
}

func filled(v any, fill *strings.Replacer) any {
	switch v := v.(type) {
	case string:
		return fill.Replace(v)
	case []any:
		for i := range v {
			v[i] = filled(v[i], fill)
		}
	case map[string]any:
		for k := range v {
			v[k] = filled(v[k], fill)
		}
	}
	return v
}

// play answers a request with a step of the script.
func (s *Server) play(out *stream, a api, q Request, step Step) {
	out.wait(time.Duration(step.Wait) * time.Millisecond)
	used := usage{cmp.Or(step.TokensIn, len(q.Body)/4), cmp.Or(step.TokensOut, 321)}
	said := step.answer(q)
	var parts []part
	if said.Thinking != "" {
		parts = append(parts, part{kind: "thinking", data: said.Thinking})
	}
	if said.Redacted != "" && a.name() == "anthropic" {
		parts = append(parts, part{kind: "redacted", data: said.Redacted})
	}
	if said.Text != "" {
		parts = append(parts, part{kind: "text", data: said.Text})
	}
	for i, c := range said.Calls {
		p := part{kind: "call", id: c.ID, name: c.Name, data: c.ArgsText, nth: i}
		if p.id == "" {
			p.id = "call_" + rand.Text()
		}
		if c.Args != nil {
			var tight bytes.Buffer
			if json.Compact(&tight, c.Args) == nil {
				p.data = tight.String()
			}
		} else if c.ArgsText == "" {
			p.data = "{}"
		}
		parts = append(parts, p)
		s.owe(p.id, said)
	}
	pace := time.Duration(step.Pace) * time.Millisecond
	if step.Do == Slow && pace == 0 {
		pace = cmp.Or(s.Pace, 200*time.Millisecond)
	}
	s.answer(out, a, q, step.Do, parts, used, pace)
}

// owe keeps what was thought before a call.
func (s *Server) owe(id string, said Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.owed == nil {
		s.owed = map[string]Answer{}
	}
	s.owed[id] = said
}

// paid says whether what was thought before calls came back with them: at Anthropic's in the last turn of the model's,
// at others' in all.
func (s *Server) paid(q Request) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := true
	for _, t := range slices.Backward(q.Turns) {
		if t.Role != agent.Assistant {
			continue
		}
		for _, c := range t.Calls {
			was, known := s.owed[c.ID]
			back := q.Thoughts[c.ID]
			switch {
			case !known: // of another server's
			case q.Provider == "openai" && was.Thinking != back.Thinking:
				return errors.New("the `reasoning_content` in the thinking mode must be passed back to the API")
			case q.Provider == "anthropic" && last && (was.Thinking != back.Thinking || was.Redacted != back.Redacted):
				return errors.New("expected `thinking` or `redacted_thinking`, but found `tool_use`: a final `assistant` message must start with a thinking block")
			}
		}
		last = false
	}
	return nil
}

func isObject(raw json.RawMessage) bool {
	var v map[string]any
	return json.Unmarshal(raw, &v) == nil && v != nil
}

func must(data []byte, err error) []byte {
	if err != nil {
		panic(err) // what was just read, or shapes of our own
	}
	return data
}
