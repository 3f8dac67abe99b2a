package llmtest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// How an answer ends.
type ending int

const (
	finished ending = iota
	truncated
	refused
)

// An api is one protocol: how requests are read and answers written.
type api interface {
	name() string
	key(http.Header) (key string, given bool)
	read(*json.Decoder, http.Header, *Request) error
	fail(w http.ResponseWriter, status int, kind, code, message string)
	noCredit() int
	overloaded() int
	begin(*stream, Request)
	piece(*stream, Request, string)
	ping(*stream)
	event(*stream, Request) // an error among the events
	end(*stream, Request, ending)
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
}

// take reads the parts of a message: a text, then names and pictures.
func (q *Request) take(blocks []block) error {
	if len(blocks) == 0 || blocks[0].Type != "text" {
		return errors.New("a message has to begin with a text")
	}
	q.Text = blocks[0].Text
	for i, b := range blocks {
		var data, kind string
		switch {
		case b.Type == "text":
			if strings.TrimSpace(b.Text) == "" {
				return errors.New("text content blocks must be non-empty")
			}
			continue
		case b.Type == "image" && b.Source != nil && b.Source.Type == "base64":
			kind, data = b.Source.MediaType, b.Source.Data
		case b.Type == "image_url" && b.ImageURL != nil:
			head, rest, _ := strings.Cut(b.ImageURL.URL, ";base64,")
			kind, data = strings.TrimPrefix(head, "data:"), rest
		default:
			return fmt.Errorf("a part of a message of type %q", b.Type)
		}
		raw, err := base64.StdEncoding.DecodeString(data)
		if err != nil || kind != "image/jpeg" || !bytes.HasPrefix(raw, []byte{0xff, 0xd8, 0xff}) {
			return fmt.Errorf("picture %d is no %s", i, kind)
		}
		q.Names, q.Pictures = append(q.Names, blocks[i-1].Text), append(q.Pictures, raw)
	}
	return nil
}

// content is a message's, which may be a plain string.
func content(raw json.RawMessage) ([]block, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []block{{Type: "text", Text: text}}, nil
	}
	var blocks []block
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return blocks, d.Decode(&blocks)
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
	var v map[string]any
	if json.Unmarshal(schema, &v) != nil || v["type"] != "object" {
		return errors.New("a schema has to be of type object")
	}
	if q.Form != "" && q.Form != "text" {
		return errors.New("two ways to shape the answer")
	}
	q.Form, q.Schema = form, schema
	if form == "schema" {
		return closed(v, strict)
	}
	return nil
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
	key := h.Get("X-Api-Key")
	return key, key != ""
}

func (messages) read(d *json.Decoder, h http.Header, q *Request) error {
	var b struct {
		Model     string `json:"model"`
		MaxTokens int    `json:"max_tokens"`
		Stream    bool   `json:"stream"`
		System    []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"system"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			InputSchema json.RawMessage `json:"input_schema"`
		} `json:"tools"`
		ToolChoice *struct {
			Type string `json:"type"`
			Name string `json:"name"`
		} `json:"tool_choice"`
		OutputConfig *struct {
			Format struct {
				Type   string          `json:"type"`
				Schema json.RawMessage `json:"schema"`
			} `json:"format"`
		} `json:"output_config"`
	}
	if err := d.Decode(&b); err != nil {
		return err
	}
	switch {
	case h.Get("Anthropic-Version") != "2023-06-01":
		return errors.New("anthropic-version: header is required")
	case b.Model == "":
		return errors.New("model: field required")
	case b.MaxTokens < 1:
		return errors.New("max_tokens: must be greater than or equal to 1")
	case !b.Stream:
		return errors.New("a request that is not streamed")
	case len(b.Messages) != 1 || b.Messages[0].Role != "user":
		return errors.New("messages: one of the user was expected")
	}
	q.Tokens, q.Form = b.MaxTokens, "text"
	for _, s := range b.System {
		if s.Type != "text" || s.Text == "" {
			return errors.New("system: text content blocks must be non-empty")
		}
		q.System += s.Text
	}
	blocks, err := content(b.Messages[0].Content)
	if err != nil {
		return err
	}
	if err := q.take(blocks); err != nil {
		return err
	}
	if f := b.OutputConfig; f != nil {
		if f.Format.Type != "json_schema" {
			return fmt.Errorf("output_config.format.type: %q", f.Format.Type)
		}
		if err := q.shape("schema", f.Format.Schema, false); err != nil {
			return err
		}
	}
	if len(b.Tools) > 0 {
		t := b.Tools[0]
		if !nameShape.MatchString(t.Name) || b.ToolChoice == nil || b.ToolChoice.Type != "tool" || b.ToolChoice.Name != t.Name {
			return errors.New("tool_choice: the tool was expected to be forced")
		}
		return q.shape("tool", t.InputSchema, false)
	}
	return nil
}

func (messages) fail(w http.ResponseWriter, status int, kind, _, message string) {
	w.Header().Set("Request-Id", "req_test")
	write(w, status, object{"type": "error", "error": object{"type": kind, "message": message}, "request_id": "req_test"})
}

func (messages) begin(s *stream, q Request) {
	s.send("message_start", object{"type": "message_start", "message": object{
		"id": "msg_test", "type": "message", "role": "assistant", "model": Model, "content": []any{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": object{"input_tokens": len(q.Body) / 4, "output_tokens": 1},
	}})
	block := object{"type": "text", "text": ""}
	if q.Form == "tool" {
		block = object{"type": "tool_use", "id": "toolu_test", "name": "report", "input": object{}}
	}
	s.send("content_block_start", object{"type": "content_block_start", "index": 0, "content_block": block})
	s.send("ping", object{"type": "ping"})
	if q.Form == "tool" {
		messages{}.piece(s, q, "")
	}
}

func (messages) piece(s *stream, q Request, text string) {
	delta := object{"type": "text_delta", "text": text}
	if q.Form == "tool" {
		delta = object{"type": "input_json_delta", "partial_json": text}
	}
	s.send("content_block_delta", object{"type": "content_block_delta", "index": 0, "delta": delta})
}

func (messages) ping(s *stream) { s.send("ping", object{"type": "ping"}) }

func (messages) event(s *stream, _ Request) {
	s.send("error", object{"type": "error", "error": object{"type": "overloaded_error", "message": "Overloaded"}})
}

func (messages) end(s *stream, q Request, e ending) {
	s.send("content_block_stop", object{"type": "content_block_stop", "index": 0})
	why := map[ending]string{finished: "end_turn", truncated: "max_tokens", refused: "refusal"}[e]
	if e == finished && q.Form == "tool" {
		why = "tool_use"
	}
	s.send("message_delta", object{"type": "message_delta", "delta": object{"stop_reason": why, "stop_sequence": nil}, "usage": object{"output_tokens": 321}})
	s.send("message_stop", object{"type": "message_stop"})
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

func (chat) read(d *json.Decoder, _ http.Header, q *Request) error {
	var b struct {
		Model               string `json:"model"`
		MaxTokens           int    `json:"max_tokens"`
		MaxCompletionTokens int    `json:"max_completion_tokens"`
		Stream              bool   `json:"stream"`
		StreamOptions       *struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Type     string `json:"type"`
			Function struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Parameters  json.RawMessage `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
		ToolChoice *struct {
			Type     string `json:"type"`
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tool_choice"`
		ResponseFormat *struct {
			Type       string `json:"type"`
			JSONSchema struct {
				Name   string          `json:"name"`
				Strict bool            `json:"strict"`
				Schema json.RawMessage `json:"schema"`
			} `json:"json_schema"`
		} `json:"response_format"`
	}
	if err := d.Decode(&b); err != nil {
		return err
	}
	switch {
	case b.Model == "":
		return errors.New("you must provide a model parameter")
	case b.MaxTokens < 1 && b.MaxCompletionTokens < 1 || b.MaxTokens > 0 && b.MaxCompletionTokens > 0:
		return errors.New("one of max_tokens and max_completion_tokens was expected")
	case !b.Stream || b.StreamOptions == nil:
		return errors.New("a request that is not streamed, or without its usage")
	case len(b.Messages) == 0 || b.Messages[len(b.Messages)-1].Role != "user":
		return errors.New("messages: the last is the user's")
	}
	q.Tokens, q.Form = b.MaxTokens+b.MaxCompletionTokens, "text"
	for _, m := range b.Messages {
		blocks, err := content(m.Content)
		if err != nil {
			return err
		}
		switch m.Role {
		case "system":
			q.System += blocks[0].Text
		case "user":
			if err := q.take(blocks); err != nil {
				return err
			}
		default:
			return fmt.Errorf("a message of %q", m.Role)
		}
	}
	if f := b.ResponseFormat; f != nil {
		if f.Type != "json_schema" || !nameShape.MatchString(f.JSONSchema.Name) {
			return fmt.Errorf("response_format of type %q called %q", f.Type, f.JSONSchema.Name)
		}
		if err := q.shape("schema", f.JSONSchema.Schema, f.JSONSchema.Strict); err != nil {
			return err
		}
	}
	if len(b.Tools) > 0 {
		t := b.Tools[0]
		if t.Type != "function" || !nameShape.MatchString(t.Function.Name) || b.ToolChoice == nil || b.ToolChoice.Function.Name != t.Function.Name {
			return errors.New("tool_choice: the tool was expected to be forced")
		}
		return q.shape("tool", t.Function.Parameters, false)
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

func (c chat) begin(s *stream, q Request) {
	c.delta(s, object{"role": "assistant", "content": ""}, nil)
	if q.Form == "tool" {
		c.delta(s, object{"tool_calls": []any{object{"index": 0, "id": "call_test", "type": "function", "function": object{"name": "report", "arguments": ""}}}}, nil)
	}
}

func (c chat) piece(s *stream, q Request, text string) {
	if q.Form == "tool" {
		c.delta(s, object{"tool_calls": []any{object{"index": 0, "function": object{"arguments": text}}}}, nil)
		return
	}
	c.delta(s, object{"content": text}, nil)
}

func (c chat) ping(s *stream) { c.delta(s, object{}, nil) }

func (chat) event(s *stream, _ Request) {
	s.send("", object{"error": object{"message": "The server is overloaded", "type": "server_error", "code": nil}})
}

func (c chat) end(s *stream, q Request, e ending) {
	if e == refused {
		c.delta(s, object{"refusal": "I cannot help with that."}, nil)
	}
	why := map[ending]string{finished: "stop", truncated: "length", refused: "stop"}[e]
	if e == finished && q.Form == "tool" {
		why = "tool_calls"
	}
	c.delta(s, object{}, why)
	s.send("", chunk([]any{}, object{"prompt_tokens": len(q.Body) / 4, "completion_tokens": 321, "total_tokens": len(q.Body)/4 + 321}))
	s.send("", "[DONE]")
}
