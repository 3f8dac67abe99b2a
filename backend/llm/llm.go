// Package llm asks language models for one answer of a given shape (New), and talks with them, who may call tools
// (NewChat), over Anthropic's Messages or OpenAI's chat completions; the second is also what Ollama, vLLM, DashScope and
// others speak. It takes nothing from the environment: neither keys nor addresses nor proxies.
package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"deskbell/backend/agent"
	"deskbell/backend/human"
	"deskbell/summarizers/prompt"
)

// The protocols that are spoken.
const (
	Anthropic = "anthropic" // Messages
	OpenAI    = "openai"    // chat completions
)

// The bounds of one Ask, and of one Chat.
const (
	tries       = 4                // requests that are made where the first fails for a while
	firstPause  = time.Second      // before the second; each further one is twice as long
	longestWait = time.Minute      // a provider that asks for a longer pause is not waited for
	idle        = 60 * time.Second // without a byte, an answer that has begun is given up
	longest     = 4 * time.Minute  // of one request, from first to last byte
	mostBytes   = 8 << 20          // of one answer
)

const defaultOutput = 4096 // tokens of an answer, where neither the request nor the settings say

// A Config says which model to ask, where, and how.
type Config struct {
	Provider  string // Anthropic or OpenAI, by the protocol
	Model     string
	BaseURL   string // empty: the provider's own; https, but for this machine
	AllowHTTP bool   // plain http to other machines as well
	// Key is asked for the key of the host once for each Ask and Chat; nil, or an empty key: none is sent.
	Key       func(ctx context.Context, host string) (string, error)
	Pictures  bool // the model takes them
	MaxInput  int  // tokens of a request; 0: not known
	MaxOutput int  // tokens of an answer; 0: 4,096, of a turn of a conversation 8,192

	// Dial connects; nil: over the network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// A form is how a model is told the shape of its answer.
type form string

const (
	bySchema form = "schema" // the provider's structured output
	byTool   form = "tool"   // a tool it has to call, with the answer as its input
	byText   form = "text"   // only the words of the prompt
)

// An answer is what one request brought.
type answer struct {
	text    string
	calls   []agent.ToolUse
	kept    json.RawMessage
	cut     bool // by the limit of tokens
	full    bool // of cut: request and answer together are longer than the model takes
	refused bool // the model would not
	ended   bool // the provider said that this was all
	model   string
	in, out int
}

// A protocol sends one request, once. tell is called with what has come so far: of the text, and of a call's arguments.
type protocol interface {
	ask(ctx context.Context, key string, r prompt.Request, f form, tell func(text, input string)) (answer, error)
	chat(ctx context.Context, key string, p agent.Prompt, tell func(text, input string)) (answer, error)
}

// A line is what asking and talking have in common: whom to, with which key, and how often it is tried.
type line struct {
	info  prompt.ModelInfo
	key   func(ctx context.Context, host string) (string, error)
	speak protocol
	long  string // what to do about a request that is too long
}

// newLine connects to nothing; output is the limit of tokens where the settings have none.
func newLine(c Config, output int) (line, error) {
	if strings.TrimSpace(c.Model) == "" {
		return line{}, human.BadField("model.name", "say which model to ask")
	}
	base, err := c.base()
	if err != nil {
		return line{}, err
	}
	if c.MaxOutput > 0 {
		output = c.MaxOutput
	}
	l := line{key: c.Key, info: prompt.ModelInfo{
		Provider: c.Provider, Name: c.Model, Host: base.Host, Pictures: c.Pictures, MaxInput: c.MaxInput, MaxOutput: output,
	}}
	if client := newClient(c.Dial); c.Provider == Anthropic {
		l.speak = newMessages(c.Model, base, client)
	} else {
		l.speak = newCompletions(c.Model, base, client)
	}
	return l, nil
}

// model is a prompt.Model.
type model struct {
	line
	forms []form       // the best first
	takes atomic.Int32 // index of the first form that it does not refuse, as far as is known
}

// New returns a model to ask. It connects to nothing. The error is Invalid and names the setting at fault.
func New(c Config) (prompt.Model, error) {
	l, err := newLine(c, defaultOutput)
	if err != nil {
		return nil, err
	}
	l.long = "lower model.max_input_tokens"
	m := &model{line: l, forms: []form{bySchema, byTool, byText}}
	if c.Provider == Anthropic {
		m.forms = []form{byTool, bySchema, byText}
	}
	return m, nil
}

// base is where requests go, without the paths that are part of the protocol.
func (c Config) base() (*url.URL, error) {
	address := strings.TrimSpace(c.BaseURL)
	switch c.Provider {
	case Anthropic:
		if address == "" {
			address = "https://api.anthropic.com"
		}
		address = strings.TrimSuffix(strings.TrimRight(address, "/"), "/v1") // newMessages adds it
	case OpenAI:
		if address == "" {
			address = "https://api.openai.com/v1"
		}
	default:
		return nil, human.BadField("model.provider", "%q is neither %s nor %s", c.Provider, Anthropic, OpenAI)
	}
	u, err := url.Parse(strings.TrimRight(address, "/") + "/")
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, human.BadField("model.base_url", "write an address such as https://example.org/v1")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, human.BadField("model.base_url", "write it without name, password, ? and #; set the key separately")
	case u.Scheme == "http" && !loopback(u.Hostname()) && !c.AllowHTTP:
		return nil, human.BadField("model.base_url", "requests to %s would go over the network unencrypted; use https", u.Host)
	}
	return u, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (m *model) About() prompt.ModelInfo { return m.info }

func (m *line) String() string { return m.info.Name + " at " + m.info.Host }

// Ask makes at most tries requests, and one more for each form of answer that the server does not take.
func (m *model) Ask(ctx context.Context, r prompt.Request, tell func(soFar string)) (prompt.Reply, error) {
	if r.Tokens <= 0 || r.Tokens > m.info.MaxOutput {
		r.Tokens = m.info.MaxOutput
	}
	if !m.info.Pictures {
		r.Pictures = nil
	}
	at := int(m.takes.Load())
	got, err := m.persist(ctx, func(key string) (answer, error) {
		return m.speak.ask(ctx, key, r, m.forms[at], func(text, input string) {
			switch {
			case tell == nil:
			case input != "":
				tell(input)
			default:
				tell(text)
			}
		})
	}, func() bool {
		at++
		return at < len(m.forms)
	})
	if err != nil {
		return prompt.Reply{}, err
	}
	m.takes.Store(int32(at))
	return m.reply(got)
}

// persist makes a request, again where that may work, with pauses between. Where the form of the answer is not taken,
// other says whether there is another: that was said at once and for good, so there is no pause, and it is none of the
// tries. A nil other is none. The error is for people, or ctx's.
func (m *line) persist(ctx context.Context, once func(key string) (answer, error), other func() bool) (answer, error) {
	key, err := m.secret(ctx)
	if err != nil {
		return answer{}, err
	}
	for try := 1; ; {
		got, err := once(key)
		if ended := ctx.Err(); ended != nil {
			return answer{}, ended
		}
		if err == nil {
			return got, nil
		}
		f := m.failed(err, key)
		if f.form && other != nil && other() {
			continue
		}
		if !f.again || try == tries {
			return answer{}, f.err
		}
		wait := max(f.wait, pause(try))
		if end, ok := ctx.Deadline(); f.wait > longestWait || ok && time.Until(end) <= wait {
			return answer{}, f.err
		}
		if err := sleep(ctx, wait); err != nil {
			return answer{}, err
		}
		try++
	}
}

// secret is the key; "" for none.
func (m *line) secret(ctx context.Context) (string, error) {
	if m.key == nil {
		if m.info.Provider == Anthropic {
			return "", human.Errorf(human.Denied, "there is no key for %s: set one in the settings", m.info.Host)
		}
		return "", nil
	}
	key, err := m.key(ctx, m.info.Host)
	if err != nil {
		return "", err
	}
	key = strings.TrimSpace(key)
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", human.Errorf(human.Denied, "the key for %s has a character that is not allowed in a key: set it again", m.info.Host)
	}
	if key == "" && m.info.Provider == Anthropic {
		return "", human.Errorf(human.Denied, "there is no key for %s: set one in the settings", m.info.Host)
	}
	return key, nil
}

// reply is what an answer that came whole says.
func (m *model) reply(got answer) (prompt.Reply, error) {
	bad := func(format string, args ...any) (prompt.Reply, error) {
		return prompt.Reply{}, human.Wrap(human.Invalid, prompt.ErrAnswer, "%s %s", m.info.Name, fmt.Sprintf(format, args...))
	}
	switch {
	case got.refused:
		return prompt.Reply{}, human.Errorf(human.Invalid, "%s declined to answer this request; use another summarizer for it", m.info.Name)
	case got.cut:
		return bad("needed more than the %d tokens it may answer with: raise model.max_output_tokens", m.info.MaxOutput)
	}
	text := got.text
	if len(got.calls) > 0 {
		text = string(got.calls[0].Args)
	}
	data := jsonIn(text)
	if data == nil {
		return bad("answered with something else than JSON")
	}
	if got.model == "" {
		got.model = m.info.Name
	}
	return prompt.Reply{JSON: data, Model: got.model, TokensIn: got.in, TokensOut: got.out}, nil
}

// jsonIn finds the JSON object in an answer: all of it, or the longest that stands between other words, as models
// write where nothing holds them to JSON. nil without.
func jsonIn(text string) json.RawMessage {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	var best json.RawMessage
	for range 64 { // looks; each may read to the end
		at := strings.IndexByte(text, '{')
		if at < 0 {
			break
		}
		text = text[at:]
		var one json.RawMessage
		d := json.NewDecoder(strings.NewReader(text))
		if d.Decode(&one) != nil {
			text = text[1:]
			continue
		}
		if len(one) > len(best) {
			best = one
		}
		text = text[d.InputOffset():]
	}
	return best
}

// pause is how long to wait after a try: twice as long each time, and never in step with others.
func pause(try int) time.Duration {
	d := firstPause << (try - 1)
	return d - d/8 + rand.N(d/4)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// failed says what became of a request that failed, in words that have no key in them.
func (m *line) failed(err error, key string) *failure {
	f := new(failure)
	if !errors.As(err, &f) {
		f = m.unreachable(err)
	}
	if f.err == nil {
		f.err = m.errorOf(f, key)
	}
	return f
}
