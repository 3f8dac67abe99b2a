package llmtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"deskbell/backend/agent"
)

// How an answer ends.
type ending int

const (
	finished ending = iota
	truncated
	refused
)

// A part is one piece of an answer: a thought, one that is hidden, a text or a call.
type part struct {
	kind string // thinking, redacted, text, call
	data string // of a call its arguments
	id   string
	name string
	nth  int // among the calls
}

type usage struct{ in, out int }

// An api is one protocol: how requests are read and answers written. The parts of a streamed answer come one after the
// other, with their place in it.
type api interface {
	name() string
	key(http.Header) (key string, given bool)
	read(*json.Decoder, http.Header, *Request) error
	fail(w http.ResponseWriter, status int, kind, code, message string)
	noCredit() int
	overloaded() int
	begin(*stream, usage)
	open(*stream, int, part)
	piece(*stream, int, part, string)
	close(*stream, int, part)
	ping(*stream)
	event(*stream) // an error among the events
	end(*stream, Request, ending, usage, bool)
	whole(http.ResponseWriter, []part, ending, usage)
}

var nameShape = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// A block is a part of a message, in either protocol.
type block struct {
	Type   string `json:"type"`
	Text   string `json:"text"`
	Source *struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
	} `json:"source"`
	ImageURL *struct {
		URL    string `json:"url"`
		Detail string `json:"detail"`
	} `json:"image_url"`
	ID           string          `json:"id"` // of a call
	Name         string          `json:"name"`
	Input        json.RawMessage `json:"input"`
	ToolUseID    string          `json:"tool_use_id"` // of a result
	Content      json.RawMessage `json:"content"`
	IsError      bool            `json:"is_error"`
	Thinking     string          `json:"thinking"`
	Signature    string          `json:"signature"`
	Data         string          `json:"data"` // of a hidden thought
	CacheControl *struct {
		Type string `json:"type"`
		TTL  string `json:"ttl"`
	} `json:"cache_control"`
	Citations json.RawMessage `json:"citations"`
	Caller    json.RawMessage `json:"caller"`
}

// take reads what a user's message says: texts, and pictures, each after its name.
func (q *Request) take(blocks []block) (text string, err error) {
	if len(blocks) == 0 {
		return "", errors.New("all messages must have non-empty content")
	}
	for i, b := range blocks {
		var data, kind string
		switch {
		case b.Type == "text":
			if strings.TrimSpace(b.Text) == "" {
				return "", errors.New("text content blocks must contain non-whitespace text")
			}
			if i == len(blocks)-1 || blocks[i+1].Type == "text" { // else it is a picture's name
				text += b.Text
			}
			continue
		case b.Type == "image" && b.Source != nil && b.Source.Type == "base64":
			kind, data = b.Source.MediaType, b.Source.Data
		case b.Type == "image_url" && b.ImageURL != nil:
			head, rest, _ := strings.Cut(b.ImageURL.URL, ";base64,")
			kind, data = strings.TrimPrefix(head, "data:"), rest
		default:
			return "", fmt.Errorf("a part of a user's message of type %q", b.Type)
		}
		raw, err := base64.StdEncoding.DecodeString(data)
		if err != nil || kind != "image/jpeg" || !bytes.HasPrefix(raw, []byte{0xff, 0xd8, 0xff}) {
			return "", fmt.Errorf("picture %d is no %s", i, kind)
		}
		if i == 0 || blocks[i-1].Type != "text" {
			return "", fmt.Errorf("picture %d has no name", i)
		}
		q.Names, q.Pictures = append(q.Names, blocks[i-1].Text), append(q.Pictures, raw)
	}
	return text, nil
}

// content is a message's, which may be a plain string.
func content(raw json.RawMessage) ([]block, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []block{{Type: "text", Text: text}}, nil
	}
	var blocks []block
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return blocks, d.Decode(&blocks)
}

// texts is a content that has only texts.
func texts(raw json.RawMessage) (string, error) {
	blocks, err := content(raw)
	text := ""
	for _, b := range blocks {
		if b.Type != "text" {
			return "", fmt.Errorf("a part of type %q, where only text may be", b.Type)
		}
		text += b.Text
	}
	return text, err
}

// closed says whether a schema is one that structured output takes: objects name all that they have, and with
// strict all of it is required.
func closed(v any, strict bool) error {
	switch v := v.(type) {
	case map[string]any:
		if properties, ok := v["properties"].(map[string]any); ok && v["type"] == "object" {
			if v["additionalProperties"] != false {
				return errors.New("'additionalProperties' is required to be supplied and to be false")
			}
			required, _ := v["required"].([]any)
			for name := range properties {
				if strict && !slices.Contains(required, any(name)) {
					return fmt.Errorf("'required' has to name %s", name)
				}
			}
		}
		for _, one := range v {
			if err := closed(one, strict); err != nil {
				return err
			}
		}
	case []any:
		for _, one := range v {
			if err := closed(one, strict); err != nil {
				return err
			}
		}
	}
	return nil
}

func (q *Request) shape(form string, schema json.RawMessage, strict bool) error {
	if err := objectSchema(schema); err != nil {
		return err
	}
	if q.Form != "" && q.Form != "text" {
		return errors.New("two ways to shape the answer")
	}
	q.Form, q.Schema = form, schema
	if form == "schema" {
		return shut(schema, strict)
	}
	return nil
}

func shut(schema json.RawMessage, strict bool) error {
	var v any
	if err := json.Unmarshal(schema, &v); err != nil {
		return err
	}
	return closed(v, strict)
}

// objectSchema says whether a schema is an object's, as those of tools have to be.
func objectSchema(schema json.RawMessage) error {
	var v struct {
		Type       string                     `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if err := json.Unmarshal(schema, &v); err != nil {
		return fmt.Errorf("JSON schema is invalid: %w", err)
	}
	if v.Type != "object" {
		return fmt.Errorf(`a schema has to be of type "object", not %q`, v.Type)
	}
	for name, one := range v.Properties {
		if !isObject(one) && string(one) != "true" && string(one) != "false" {
			return fmt.Errorf("JSON schema is invalid: the property %q is no schema", name)
		}
	}
	return nil
}

// offer reads a tool.
func (q *Request) offer(name, description string, schema json.RawMessage) error {
	if !nameShape.MatchString(name) {
		return fmt.Errorf("tools.%d.name: %q does not match %s", len(q.Tools), name, nameShape)
	}
	if slices.ContainsFunc(q.Tools, func(t agent.ToolSpec) bool { return t.Name == name }) {
		return fmt.Errorf("tools: tool names must be unique: %s", name)
	}
	if err := objectSchema(schema); err != nil {
		return fmt.Errorf("tools.%d: %s: %w", len(q.Tools), name, err)
	}
	q.Tools = append(q.Tools, agent.ToolSpec{Name: name, Description: description, Schema: schema})
	return nil
}

// choose reads which tool has to be called; "" for any or none.
func (q *Request) choose(name string) error {
	if name == "" {
		if len(q.Tools) > 0 {
			q.Form = "chat"
		}
		return nil
	}
	for _, t := range q.Tools {
		if t.Name == name {
			q.Form = "text"
			return q.shape("tool", t.Schema, false)
		}
	}
	return fmt.Errorf("tool_choice: there is no tool %q", name)
}

// converse takes a turn, and holds it against those before it.
func (q *Request) converse(t agent.Turn) { q.Turns = append(q.Turns, t) }

// think keeps what was thought before calls.
func (q *Request) think(calls []agent.ToolUse, a Answer) {
	if q.Thoughts == nil {
		q.Thoughts = map[string]Answer{}
	}
	for _, c := range calls {
		q.Thoughts[c.ID] = a
	}
}

func write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may have gone
}

type object = map[string]any

// messages is Anthropic's Messages.
type messages struct{}

func (messages) name() string    { return "anthropic" }
func (messages) noCredit() int   { return http.StatusPaymentRequired }
func (messages) overloaded() int { return 529 }

func (messages) key(h http.Header) (string, bool) {
	if key := h.Get("X-Api-Key"); key != "" {
		return key, true
	}
	return chat{}.key(h) // a token, or a key as newer SDKs send it
}

func (messages) read(d *json.Decoder, h http.Header, q *Request) error {
	var b struct {
		Model     string          `json:"model"`
		MaxTokens int             `json:"max_tokens"`
		Stream    bool            `json:"stream"`
		System    json.RawMessage `json:"system"`
		Messages  []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Type         string          `json:"type"`
			Name         string          `json:"name"`
			Description  string          `json:"description"`
			InputSchema  json.RawMessage `json:"input_schema"`
			CacheControl json.RawMessage `json:"cache_control"`
			Strict       bool            `json:"strict"`
		} `json:"tools"`
		ToolChoice *struct {
			Type    string `json:"type"`
			Name    string `json:"name"`
			OneOnly bool   `json:"disable_parallel_tool_use"`
		} `json:"tool_choice"`
		OutputConfig *struct {
			Effort string `json:"effort"`
			Format *struct {
				Type   string          `json:"type"`
				Schema json.RawMessage `json:"schema"`
			} `json:"format"`
		} `json:"output_config"`

		// Taken, and of no consequence here.
		Temperature   json.RawMessage `json:"temperature"`
		TopP          json.RawMessage `json:"top_p"`
		TopK          json.RawMessage `json:"top_k"`
		StopSequences json.RawMessage `json:"stop_sequences"`
		Metadata      json.RawMessage `json:"metadata"`
		ServiceTier   json.RawMessage `json:"service_tier"`
		Thinking      json.RawMessage `json:"thinking"`
		CacheControl  json.RawMessage `json:"cache_control"`
	}
	if err := d.Decode(&b); err != nil {
		return err
	}
	switch {
	case h.Get("Anthropic-Version") != "2023-06-01": // the one whose shapes these are
		return fmt.Errorf("anthropic-version: %q, where 2023-06-01 is spoken", h.Get("Anthropic-Version"))
	case b.Model == "":
		return errors.New("model: field required")
	case b.MaxTokens < 1:
		return errors.New("max_tokens: must be greater than or equal to 1")
	}
	q.Tokens, q.Form, q.Stream, q.usage = b.MaxTokens, "text", b.Stream, true
	system, err := content(b.System)
	if err != nil {
		return fmt.Errorf("system: %w", err)
	}
	for _, s := range system {
		if s.Type != "text" || strings.TrimSpace(s.Text) == "" {
			return errors.New("system: text content blocks must be non-empty")
		}
		q.System += s.Text
	}
	if len(b.Messages) == 0 {
		return errors.New("messages: at least one message is required")
	}
	ids := map[string]bool{}
	var open []agent.ToolUse // the calls of the message before
	for i, m := range b.Messages {
		switch {
		case m.Role != "user" && m.Role != "assistant":
			return fmt.Errorf("messages.%d.role: input should be 'user' or 'assistant', not %q", i, m.Role)
		case i == 0 && m.Role != "user":
			return errors.New(`messages: first message must use the "user" role`)
		case i > 0 && m.Role == b.Messages[i-1].Role:
			return fmt.Errorf(`messages: roles must alternate between "user" and "assistant", but found multiple %q roles in a row`, m.Role)
		}
		blocks, err := content(m.Content)
		if err != nil {
			return fmt.Errorf("messages.%d: %w", i, err)
		}
		if len(blocks) == 0 {
			return fmt.Errorf("messages.%d: all messages must have non-empty content", i)
		}
		if m.Role == "user" {
			err = q.user(blocks, open)
			open = nil
		} else {
			open, err = q.assistant(blocks, ids)
		}
		if err != nil {
			return fmt.Errorf("messages.%d: %w", i, err)
		}
	}
	if b.Messages[len(b.Messages)-1].Role != "user" {
		return errors.New("this model does not support assistant message prefill: the conversation must end with a user message")
	}
	if f := b.OutputConfig; f != nil && f.Format != nil {
		if f.Format.Type != "json_schema" {
			return fmt.Errorf("output_config.format.type: %q", f.Format.Type)
		}
		if err := q.shape("schema", f.Format.Schema, false); err != nil {
			return err
		}
	}
	for _, t := range b.Tools {
		if t.Type != "" && t.Type != "custom" {
			return fmt.Errorf("tools: of type %q", t.Type)
		}
		if err := q.offer(t.Name, t.Description, t.InputSchema); err != nil {
			return err
		}
	}
	switch c := b.ToolChoice; {
	case c == nil:
		return q.choose("")
	case len(q.Tools) == 0:
		return errors.New("tool_choice: may only be specified while providing tools")
	case c.Type == "tool" && c.Name != "":
		return q.choose(c.Name)
	case c.Type == "auto" || c.Type == "any" || c.Type == "none":
		return q.choose("")
	default:
		return fmt.Errorf("tool_choice: of type %q", c.Type)
	}
}

// user reads a message of the user's in Anthropic's protocol: the results of the calls first, then what the user says.
func (q *Request) user(blocks []block, calls []agent.ToolUse) error {
	var results []agent.CallDone
	for len(blocks) > 0 && blocks[0].Type == "tool_result" {
		b := blocks[0]
		blocks = blocks[1:]
		text, err := texts(b.Content)
		switch {
		case err != nil:
			return err
		case !slices.ContainsFunc(calls, func(c agent.ToolUse) bool { return c.ID == b.ToolUseID }):
			return fmt.Errorf("unexpected `tool_use_id` found in `tool_result` blocks: %s: each `tool_result` block must have a corresponding `tool_use` block in the previous message", b.ToolUseID)
		case slices.ContainsFunc(results, func(r agent.CallDone) bool { return r.CallID == b.ToolUseID }):
			return fmt.Errorf("each tool_use must have a single result: found multiple `tool_result` blocks with id %s", b.ToolUseID)
		case b.IsError && strings.TrimSpace(text) == "":
			return errors.New("tool_result: content cannot be empty if `is_error` is true")
		}
		results = append(results, agent.CallDone{CallID: b.ToolUseID, Text: text, Failed: b.IsError})
	}
	for _, c := range calls {
		if !slices.ContainsFunc(results, func(r agent.CallDone) bool { return r.CallID == c.ID }) {
			return fmt.Errorf("`tool_use` ids were found without `tool_result` blocks immediately after: %s: each `tool_use` block must have a corresponding `tool_result` block in the next message", c.ID)
		}
	}
	if len(results) > 0 {
		q.converse(agent.Turn{Role: agent.ToolTurn, Results: results})
	}
	if len(blocks) == 0 {
		return nil
	}
	text, err := q.take(blocks)
	q.converse(agent.Turn{Role: agent.User, Text: text})
	return err
}

var idShape = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// assistant reads a message of the model's in Anthropic's protocol. ids are those of all calls so far.
func (q *Request) assistant(blocks []block, ids map[string]bool) ([]agent.ToolUse, error) {
	t, thought := agent.Turn{Role: agent.Assistant}, Answer{}
	for _, b := range blocks {
		switch b.Type {
		case "thinking":
			if b.Signature != sign(b.Thinking) {
				return nil, errors.New("invalid `signature` in `thinking` block")
			}
			thought.Thinking += b.Thinking
		case "redacted_thinking":
			thought.Redacted += b.Data
		case "text":
			if strings.TrimSpace(b.Text) == "" {
				return nil, errors.New("text content blocks must contain non-whitespace text")
			}
			t.Text += b.Text
		case "tool_use":
			switch {
			case !idShape.MatchString(b.ID):
				return nil, fmt.Errorf("tool_use.id: %q does not match %s", b.ID, idShape)
			case ids[b.ID]:
				return nil, fmt.Errorf("`tool_use` ids must be unique: %s", b.ID)
			case !nameShape.MatchString(b.Name):
				return nil, fmt.Errorf("tool_use.name: %q does not match %s", b.Name, nameShape)
			case !isObject(b.Input):
				return nil, fmt.Errorf("tool_use.input: input should be a valid dictionary, not %s", b.Input)
			}
			ids[b.ID] = true
			t.Calls = append(t.Calls, agent.ToolUse{ID: b.ID, Name: b.Name, Args: b.Input})
		default:
			return nil, fmt.Errorf("a part of the assistant's message of type %q", b.Type)
		}
	}
	q.think(t.Calls, thought)
	q.converse(t)
	return t.Calls, nil
}

// sign is what proves that a thought is the server's own.
func sign(thought string) string {
	sum := sha256.Sum256([]byte(thought))
	return "sig_" + hex.EncodeToString(sum[:8])
}

func (messages) fail(w http.ResponseWriter, status int, kind, _, message string) {
	w.Header().Set("Request-Id", "req_test")
	write(w, status, object{"type": "error", "error": object{"type": kind, "message": message}, "request_id": "req_test"})
}

func (messages) message(content []any, why any, used usage) object {
	return object{
		"id": "msg_test", "type": "message", "role": "assistant", "model": Model, "content": content, "stop_reason": why, "stop_sequence": nil,
		"usage": object{"input_tokens": used.in, "output_tokens": used.out, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
	}
}

func (m messages) begin(s *stream, used usage) {
	s.send("message_start", object{"type": "message_start", "message": m.message([]any{}, nil, usage{used.in, 1})})
}

func (messages) block(p part, whole bool) object {
	data := ""
	if whole {
		data = p.data
	}
	switch p.kind {
	case "thinking":
		signature := ""
		if whole {
			signature = sign(data)
		}
		return object{"type": "thinking", "thinking": data, "signature": signature}
	case "redacted":
		return object{"type": "redacted_thinking", "data": p.data}
	case "call":
		input := object{}
		_ = json.Unmarshal([]byte(data), &input) // what is no JSON cannot be said here
		return object{"type": "tool_use", "id": p.id, "name": p.name, "input": input}
	default:
		return object{"type": "text", "text": data}
	}
}

func (m messages) open(s *stream, at int, p part) {
	s.send("content_block_start", object{"type": "content_block_start", "index": at, "content_block": m.block(p, false)})
	if at == 0 {
		m.ping(s)
	}
	if p.kind == "call" {
		m.piece(s, at, p, "")
	}
}

func (messages) delta(s *stream, at int, delta object) {
	s.send("content_block_delta", object{"type": "content_block_delta", "index": at, "delta": delta})
}

func (m messages) piece(s *stream, at int, p part, text string) {
	switch p.kind {
	case "thinking":
		m.delta(s, at, object{"type": "thinking_delta", "thinking": text})
	case "text":
		m.delta(s, at, object{"type": "text_delta", "text": text})
	case "call":
		if p.data != "{}" { // no arguments are no pieces
			m.delta(s, at, object{"type": "input_json_delta", "partial_json": text})
		}
	}
}

func (m messages) close(s *stream, at int, p part) {
	if p.kind == "thinking" {
		m.delta(s, at, object{"type": "signature_delta", "signature": sign(p.data)})
	}
	s.send("content_block_stop", object{"type": "content_block_stop", "index": at})
}

func (messages) ping(s *stream) { s.send("ping", object{"type": "ping"}) }

func (messages) event(s *stream) {
	s.send("error", object{"type": "error", "error": object{"type": "overloaded_error", "message": "Overloaded"}})
}

func (messages) why(e ending, called bool) string {
	if e == finished && called {
		return "tool_use"
	}
	return map[ending]string{finished: "end_turn", truncated: "max_tokens", refused: "refusal"}[e]
}

func (m messages) end(s *stream, _ Request, e ending, used usage, called bool) {
	s.send("message_delta", object{"type": "message_delta", "delta": object{"stop_reason": m.why(e, called), "stop_sequence": nil}, "usage": object{"output_tokens": used.out}})
	s.send("message_stop", object{"type": "message_stop"})
}

func (m messages) whole(w http.ResponseWriter, parts []part, e ending, used usage) {
	blocks, called := []any{}, false
	for _, p := range parts {
		blocks, called = append(blocks, m.block(p, true)), called || p.kind == "call"
	}
	write(w, http.StatusOK, m.message(blocks, m.why(e, called), used))
}

// chat is OpenAI's chat completions.
type chat struct{}

func (chat) name() string    { return "openai" }
func (chat) noCredit() int   { return http.StatusTooManyRequests }
func (chat) overloaded() int { return http.StatusServiceUnavailable }

func (chat) key(h http.Header) (string, bool) {
	said := h.Get("Authorization")
	key, ok := strings.CutPrefix(said, "Bearer ")
	return key, ok || said != ""
}

// A message of chat completions.
type message struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
	Reasoning  *string         `json:"reasoning_content"` // DeepSeek's
	ToolCalls  []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string          `json:"name"`
			Arguments *string         `json:"arguments"`
			Parsed    json.RawMessage `json:"parsed_arguments"`
		} `json:"function"`
		Index json.RawMessage `json:"index"`
		Extra json.RawMessage `json:"extra_content"` // Gemini's
	} `json:"tool_calls"`

	// Taken, and of no consequence here.
	Name         json.RawMessage `json:"name"`
	Refusal      json.RawMessage `json:"refusal"`
	Audio        json.RawMessage `json:"audio"`
	Annotations  json.RawMessage `json:"annotations"`
	FunctionCall json.RawMessage `json:"function_call"`
	Parsed       json.RawMessage `json:"parsed"`
}

func (chat) read(d *json.Decoder, _ http.Header, q *Request) error {
	var b struct {
		Model               string `json:"model"`
		MaxTokens           int    `json:"max_tokens"`
		MaxCompletionTokens int    `json:"max_completion_tokens"`
		Stream              bool   `json:"stream"`
		StreamOptions       *struct {
			IncludeUsage       bool `json:"include_usage"`
			IncludeObfuscation bool `json:"include_obfuscation"`
		} `json:"stream_options"`
		Messages []message `json:"messages"`
		Tools    []struct {
			Type     string `json:"type"`
			Function struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Parameters  json.RawMessage `json:"parameters"`
				Strict      bool            `json:"strict"`
			} `json:"function"`
		} `json:"tools"`
		ToolChoice     json.RawMessage `json:"tool_choice"`
		ResponseFormat *struct {
			Type       string `json:"type"`
			JSONSchema struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Strict      bool            `json:"strict"`
				Schema      json.RawMessage `json:"schema"`
			} `json:"json_schema"`
		} `json:"response_format"`

		// Taken, and of no consequence here.
		N                json.RawMessage `json:"n"`
		Temperature      json.RawMessage `json:"temperature"`
		TopP             json.RawMessage `json:"top_p"`
		Stop             json.RawMessage `json:"stop"`
		Seed             json.RawMessage `json:"seed"`
		User             json.RawMessage `json:"user"`
		PresencePenalty  json.RawMessage `json:"presence_penalty"`
		FrequencyPenalty json.RawMessage `json:"frequency_penalty"`
		LogitBias        json.RawMessage `json:"logit_bias"`
		Logprobs         json.RawMessage `json:"logprobs"`
		TopLogprobs      json.RawMessage `json:"top_logprobs"`
		ParallelCalls    json.RawMessage `json:"parallel_tool_calls"`
		Store            json.RawMessage `json:"store"`
		Metadata         json.RawMessage `json:"metadata"`
		ReasoningEffort  json.RawMessage `json:"reasoning_effort"`
		Verbosity        json.RawMessage `json:"verbosity"`
		ServiceTier      json.RawMessage `json:"service_tier"`
		SafetyIdentifier json.RawMessage `json:"safety_identifier"`
		PromptCacheKey   json.RawMessage `json:"prompt_cache_key"`
		CacheRetention   json.RawMessage `json:"prompt_cache_retention"`
		Modalities       json.RawMessage `json:"modalities"`
		Prediction       json.RawMessage `json:"prediction"`
	}
	if err := d.Decode(&b); err != nil {
		return err
	}
	switch {
	case b.Model == "":
		return errors.New("you must provide a model parameter")
	case b.MaxTokens > 0 && b.MaxCompletionTokens > 0:
		return errors.New("one of max_tokens and max_completion_tokens was expected")
	case len(b.Messages) == 0:
		return errors.New("[] is too short - 'messages'")
	case b.StreamOptions != nil && !b.Stream:
		return errors.New("the 'stream_options' parameter is only allowed when 'stream' is enabled")
	}
	q.Tokens, q.Form, q.Stream = b.MaxTokens+b.MaxCompletionTokens, "text", b.Stream
	q.usage = b.StreamOptions != nil && b.StreamOptions.IncludeUsage
	if err := q.messages(b.Messages); err != nil {
		return err
	}
	if f := b.ResponseFormat; f != nil && f.Type == "json_schema" {
		if !nameShape.MatchString(f.JSONSchema.Name) {
			return fmt.Errorf("response_format called %q", f.JSONSchema.Name)
		}
		if err := q.shape("schema", f.JSONSchema.Schema, f.JSONSchema.Strict); err != nil {
			return err
		}
	} else if f != nil && f.Type != "text" && f.Type != "json_object" {
		return fmt.Errorf("response_format of type %q", f.Type)
	}
	for i, t := range b.Tools {
		if t.Type != "function" {
			return fmt.Errorf("tools.%d.type: %q", i, t.Type)
		}
		schema := t.Function.Parameters
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		if err := q.offer(t.Function.Name, t.Function.Description, schema); err != nil {
			return err
		}
		if t.Function.Strict {
			if err := shut(schema, true); err != nil {
				return fmt.Errorf("invalid schema for function %q: %w", t.Function.Name, err)
			}
		}
	}
	return q.chooseOf(b.ToolChoice)
}

func (q *Request) chooseOf(raw json.RawMessage) error {
	if len(raw) == 0 || string(raw) == "null" {
		return q.choose("")
	}
	if len(q.Tools) == 0 {
		return errors.New("'tool_choice' is only allowed when 'tools' are specified")
	}
	var word string
	if json.Unmarshal(raw, &word) == nil {
		if word != "auto" && word != "none" && word != "required" {
			return fmt.Errorf("tool_choice: %q", word)
		}
		return q.choose("")
	}
	var named struct {
		Type     string `json:"type"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	if json.Unmarshal(raw, &named) != nil || named.Type != "function" || named.Function.Name == "" {
		return fmt.Errorf("tool_choice: %s", raw)
	}
	return q.choose(named.Function.Name)
}

// messages reads a conversation of chat completions.
func (q *Request) messages(all []message) error {
	var open []agent.ToolUse // calls that wait for their results
	for i, m := range all {
		if len(open) > 0 && m.Role != "tool" {
			return fmt.Errorf("an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'; there is none for %s", open[0].ID)
		}
		blocks, err := content(m.Content)
		if err != nil {
			return fmt.Errorf("messages.%d: %w", i, err)
		}
		switch m.Role {
		case "system", "developer":
			text, err := texts(m.Content)
			if err != nil {
				return err
			}
			q.System += text
		case "user":
			text, err := q.take(blocks)
			if err != nil {
				return fmt.Errorf("messages.%d: %w", i, err)
			}
			q.converse(agent.Turn{Role: agent.User, Text: text})
		case "assistant":
			t, thought := agent.Turn{Role: agent.Assistant}, Answer{}
			if t.Text, err = texts(m.Content); err != nil {
				return err
			}
			if len(blocks) == 0 && len(m.ToolCalls) == 0 {
				return fmt.Errorf("messages.%d: invalid value for 'content': expected a string, got null", i)
			}
			for _, c := range m.ToolCalls {
				switch {
				case c.ID == "" || c.Type != "function" || c.Function.Arguments == nil:
					return fmt.Errorf("messages.%d.tool_calls: an id, the type 'function' and arguments are required", i)
				case !nameShape.MatchString(c.Function.Name):
					return fmt.Errorf("messages.%d.tool_calls: the name %q does not match %s", i, c.Function.Name, nameShape)
				case slices.ContainsFunc(t.Calls, func(o agent.ToolUse) bool { return o.ID == c.ID }):
					return fmt.Errorf("messages.%d.tool_calls: %s twice", i, c.ID)
				}
				args := json.RawMessage(*c.Function.Arguments)
				if !json.Valid(args) {
					args = must(json.Marshal(*c.Function.Arguments))
				}
				t.Calls = append(t.Calls, agent.ToolUse{ID: c.ID, Name: c.Function.Name, Args: args})
			}
			if m.Reasoning != nil {
				thought.Thinking = *m.Reasoning
			}
			q.think(t.Calls, thought)
			q.converse(t)
			open = slices.Clone(t.Calls)
		case "tool":
			at := slices.IndexFunc(open, func(c agent.ToolUse) bool { return c.ID == m.ToolCallID })
			if at < 0 {
				return fmt.Errorf("messages.%d: messages with role 'tool' must be a response to a preceding message with 'tool_calls'; %q is none of it", i, m.ToolCallID)
			}
			open = slices.Delete(open, at, at+1)
			text, err := texts(m.Content)
			if err != nil || m.Content == nil {
				return fmt.Errorf("messages.%d: a result has to be text", i)
			}
			if n := len(q.Turns); q.Turns[n-1].Role != agent.ToolTurn {
				q.converse(agent.Turn{Role: agent.ToolTurn})
			}
			t := &q.Turns[len(q.Turns)-1]
			t.Results = append(t.Results, agent.CallDone{CallID: m.ToolCallID, Text: text})
		default:
			return fmt.Errorf("messages.%d.role: %q", i, m.Role)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'; there is none for %s", open[0].ID)
	}
	return nil
}

func (chat) fail(w http.ResponseWriter, status int, kind, code, message string) {
	write(w, status, object{"error": object{"message": message, "type": kind, "param": nil, "code": code}})
}

func chunk(choices []any, usage any) object {
	return object{"id": "chatcmpl-test", "object": "chat.completion.chunk", "created": 1, "model": Model, "choices": choices, "usage": usage}
}

func (chat) delta(s *stream, delta object, why any) {
	s.send("", chunk([]any{object{"index": 0, "delta": delta, "finish_reason": why}}, nil))
}

func (c chat) begin(s *stream, _ usage) {
	c.delta(s, object{"role": "assistant", "content": ""}, nil)
}

func (c chat) open(s *stream, _ int, p part) {
	if p.kind == "call" {
		c.delta(s, object{"tool_calls": []any{object{"index": p.nth, "id": p.id, "type": "function", "function": object{"name": p.name, "arguments": ""}}}}, nil)
	}
}

func (c chat) piece(s *stream, _ int, p part, text string) {
	switch p.kind {
	case "thinking":
		c.delta(s, object{"reasoning_content": text}, nil)
	case "text":
		c.delta(s, object{"content": text}, nil)
	case "call":
		c.delta(s, object{"tool_calls": []any{object{"index": p.nth, "function": object{"arguments": text}}}}, nil)
	}
}

func (chat) close(*stream, int, part) {}

func (c chat) ping(s *stream) { c.delta(s, object{}, nil) }

func (chat) event(s *stream) {
	s.send("", object{"error": object{"message": "The server is overloaded", "type": "server_error", "code": nil}})
}

const refusal = "I cannot help with that."

func (chat) why(e ending, called bool) string {
	if e == finished && called {
		return "tool_calls"
	}
	return map[ending]string{finished: "stop", truncated: "length", refused: "stop"}[e]
}

func (chat) used(u usage) object {
	return object{"prompt_tokens": u.in, "completion_tokens": u.out, "total_tokens": u.in + u.out}
}

func (c chat) end(s *stream, q Request, e ending, used usage, called bool) {
	if e == refused {
		c.delta(s, object{"refusal": refusal}, nil)
	}
	c.delta(s, object{}, c.why(e, called))
	if q.usage {
		s.send("", chunk([]any{}, c.used(used)))
	}
	s.send("", "[DONE]")
}

func (c chat) whole(w http.ResponseWriter, parts []part, e ending, used usage) {
	m, calls := object{"role": "assistant", "content": nil, "refusal": nil}, []any{}
	for _, p := range parts {
		switch p.kind {
		case "thinking":
			m["reasoning_content"] = p.data
		case "text":
			m["content"] = p.data
		case "call":
			calls = append(calls, object{"id": p.id, "type": "function", "function": object{"name": p.name, "arguments": p.data}})
		}
	}
	if len(calls) > 0 {
		m["tool_calls"] = calls
	}
	if e == refused {
		m["refusal"] = refusal
	}
	write(w, http.StatusOK, object{"id": "chatcmpl-test", "object": "chat.completion", "created": 1, "model": Model,
		"choices": []any{object{"index": 0, "message": m, "finish_reason": c.why(e, len(calls) > 0), "logprobs": nil}}, "usage": c.used(used)})
}
