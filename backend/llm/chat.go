package llm

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"

	"deskbell/backend/agent"
	"deskbell/backend/human"
)

// defaultTurn is how many tokens a turn of a conversation may have where the settings do not say: enough to write a file.
const defaultTurn = 8192

// A chatter is an agent.Model.
type chatter struct{ line }

// NewChat returns a model to talk with, that may call tools. It connects to nothing. The error is Invalid and names the
// setting at fault. It may be used by several goroutines at a time.
//
// A reply that the limit of tokens may end in a call whose arguments are no JSON, as may any other: it is passed on as it
// came. A model that declines is an Invalid error; a conversation that is too long for the model one with agent.ErrTooLong.
func NewChat(c Config) (agent.Model, error) {
	l, err := newLine(c, defaultTurn)
	if err != nil {
		return nil, err
	}
	l.long = "begin another conversation, or use a model that takes more"
	return &chatter{l}, nil
}

func (m *chatter) Name() string { return m.info.Name }

func (m *chatter) String() string { return m.line.String() }

// Chat makes at most tries requests. Where an answer breaks off and is asked for again, tell begins anew as well.
func (m *chatter) Chat(ctx context.Context, p agent.Prompt, tell func(soFar string)) (agent.Reply, error) {
	if p.Tokens <= 0 || p.Tokens > m.info.MaxOutput {
		p.Tokens = m.info.MaxOutput
	}
	if err := sound(p); err != nil {
		return agent.Reply{}, err
	}
	got, err := m.persist(ctx, func(key string) (answer, error) {
		told := ""
		return m.speak.chat(ctx, key, p, func(text, _ string) {
			if text != told && tell != nil {
				told = text
				tell(text)
			}
		})
	}, nil)
	switch {
	case err != nil:
		return agent.Reply{}, err
	case got.full:
		return agent.Reply{TokensIn: got.in, TokensOut: got.out}, human.Wrap(human.Exhausted, agent.ErrTooLong, "the conversation and the answer together are too long for %s: %s", m.info.Name, m.long)
	case got.refused:
		return agent.Reply{}, human.Errorf(human.Invalid, "%s declined to answer: say it in another way, or use another model", m.info.Name)
	}
	return agent.Reply{Text: got.text, Calls: got.calls, Cut: got.cut, Model: got.model, TokensIn: got.in, TokensOut: got.out, Kept: got.kept}, nil
}

// sound says, as an Invalid error, which tool no model could be told of.
func sound(p agent.Prompt) error {
	for _, t := range p.Tools {
		var schema map[string]any
		if json.Unmarshal(t.Schema, &schema) != nil || schema["type"] != "object" {
			return human.Errorf(human.Invalid, "the schema of the tool %s must describe an object", human.OneLine(t.Name, 80))
		}
	}
	return nil
}

// A message is what is sent of one or more turns that follow each other and are of the same side: the model's, or the
// user's with the results of tools. Both protocols know only these two sides.
type message struct {
	ours    bool // the model's otherwise
	results []agent.CallDone
	text    string
	calls   []agent.ToolUse
	kept    json.RawMessage
}

// conversation puts turns into messages of the two sides in turn. What says nothing is left out: the server would return an
// error.
func conversation(turns []agent.Turn) []message {
	var all []message
	for _, t := range turns {
		text := t.Text
		if strings.TrimSpace(text) == "" {
			text = ""
		}
		if text == "" && len(t.Calls) == 0 && len(t.Results) == 0 {
			continue
		}
		ours := t.Role != agent.Assistant
		// Calls end a message of the model's, and results have to be the first thing after them.
		if n := len(all); n > 0 && all[n-1].ours == ours && len(t.Results) == 0 && len(all[n-1].calls) == 0 {
			last := &all[n-1]
			last.text = strings.Trim(last.text+"\n\n"+text, "\n")
			last.calls, last.kept = t.Calls, nil
			continue
		}
		all = append(all, message{ours: ours, results: t.Results, text: text, calls: t.Calls, kept: t.Kept})
	}
	return all
}

// failedText is what a model gets for a call, where the protocol has no mark for one that failed.
func failedText(r agent.CallDone) string {
	if !r.Failed {
		return r.Text
	}
	return "This call failed. " + r.Text
}

// args are a call's, as the object that has to be sent back. What the model wrote may be none: it is shown to the model as
// a text, under a name that says so.
func args(c agent.ToolUse) json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal(c.Args, &object) == nil && object != nil {
		return c.Args
	}
	data, _ := json.Marshal(map[string]string{"INVALID_JSON": string(c.Args)}) // of texts: cannot fail
	return data
}

// Kept is what a model wants back with the turn that its answer became: what it thought before it called tools. It is of
// use to the same model only.
type kept struct {
	Provider  string                     `json:"provider"`
	Model     string                     `json:"model"`
	Blocks    []keptBlock                `json:"blocks,omitempty"`            // of Anthropic's, all of the answer's, in order
	Reasoning *string                    `json:"reasoning_content,omitempty"` // of DeepSeek's and others that took it up; wanted back even where it is empty
	Extra     map[string]json.RawMessage `json:"extra_content,omitempty"`     // of calls by their ids: Gemini's signatures
}

// A keptBlock is a thought, or marks where among them a text or a call was.
type keptBlock struct {
	Type      string `json:"type"`
	Thinking  string `json:"thinking,omitempty"`
	Signature string `json:"signature,omitempty"`
	Data      string `json:"data,omitempty"`
	Text      string `json:"text,omitempty"`
	ID        string `json:"id,omitempty"`
}

// keptOf reads what was kept with a message; nothing where it is another model's.
func keptOf(m message, provider, model string) kept {
	var k kept
	if json.Unmarshal(m.kept, &k) != nil || k.Provider != provider || k.Model != model {
		return kept{}
	}
	return k
}

// keep is a Kept.
func keep(k kept) json.RawMessage {
	data, _ := json.Marshal(k) // texts, and JSON that was read before
	return data
}

// A called is a call as it comes, piece by piece.
type called struct {
	id, name string
	args     strings.Builder
}

// uses are the calls of an answer. Each gets an id that no other of it has: some servers send none, or the same.
// Arguments that are left out altogether are none, but for an answer that ended before they came.
func uses(calls []*called, cut bool) []agent.ToolUse {
	var all []agent.ToolUse
	for i, c := range calls {
		if c.id == "" || slices.ContainsFunc(all, func(o agent.ToolUse) bool { return o.ID == c.id }) {
			c.id = "call_" + rand.Text()
		}
		use := agent.ToolUse{ID: c.id, Name: c.name, Args: json.RawMessage(c.args.String())}
		if incomplete := cut && i == len(calls)-1; !incomplete && strings.TrimSpace(c.args.String()) == "" {
			use.Args = json.RawMessage("{}")
		}
		all = append(all, use)
	}
	return all
}
