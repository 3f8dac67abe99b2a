package llm

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"deskbell/backend/agent"
	"deskbell/summarizers/prompt"
)

// toolName is what the tool is called that takes the answer, and the schema of it.
const toolName = "report"

// messagesVersion is the version of the protocol that is spoken: its fields do not change, but more may come.
const messagesVersion = "2023-06-01"

// messages speaks Anthropic's Messages.
type messages struct {
	model  string
	server server
}

func newMessages(model string, base *url.URL, client *http.Client) messages {
	return messages{model, server{base.JoinPath("v1/messages").String(), client}}
}

// cached marks the end of what the next request begins with as well: read from the cache, it costs a tenth.
var cached = object{"type": "ephemeral"}

func textBlock(text string) object { return object{"type": "text", "text": text} }

func (m messages) ask(ctx context.Context, key string, r prompt.Request, f form, tell func(text, input string)) (answer, error) {
	content := []object{textBlock(r.Text)}
	for _, p := range r.Pictures {
		content = append(content, textBlock(p.Name), object{"type": "image", "source": object{
			"type": "base64", "media_type": "image/jpeg", "data": base64.StdEncoding.EncodeToString(p.JPEG),
		}})
	}
	params := object{"messages": []object{{"role": "user", "content": content}}, "max_tokens": r.Tokens}
	if r.System != "" {
		params["system"] = []object{textBlock(r.System)}
	}
	switch f {
	case byTool:
		params["tools"] = []object{{"name": toolName, "description": "Takes your answer.", "input_schema": r.Schema}}
		params["tool_choice"] = object{"type": "tool", "name": toolName}
	case bySchema:
		params["output_config"] = object{"format": object{"type": "json_schema", "schema": r.Schema}}
	}
	return m.send(ctx, key, params, tell)
}

func (m messages) chat(ctx context.Context, key string, p agent.Prompt, tell func(text, input string)) (answer, error) {
	params := object{"max_tokens": p.Tokens}
	if p.System != "" {
		block := textBlock(p.System)
		block["cache_control"] = cached
		params["system"] = []object{block}
	}
	var tools []object
	for _, t := range p.Tools {
		tool := object{"name": t.Name, "input_schema": t.Schema}
		if t.Description != "" {
			tool["description"] = t.Description
		}
		tools = append(tools, tool)
	}
	if len(tools) > 0 {
		params["tools"] = tools
	}
	var all []object
	var last []object // blocks of the last message
	for _, one := range conversation(p.Turns) {
		if !one.ours {
			last = m.said(one)
			all = append(all, object{"role": "assistant", "content": last})
			continue
		}
		last = nil
		for _, r := range one.results {
			last = append(last, result(r))
		}
		if one.text != "" {
			last = append(last, textBlock(one.text))
		}
		all = append(all, object{"role": "user", "content": last})
	}
	if n := len(last); n > 0 && !thought(last[n-1]["type"]) {
		last[n-1]["cache_control"] = cached
	}
	params["messages"] = all
	return m.send(ctx, key, params, tell)
}

// thought says whether blocks of a type are what the model thinks. They cannot be marked.
func thought(kind any) bool { return kind == "thinking" || kind == "redacted_thinking" }

// result is the result of a call. The server returns an error for an empty text, and for a failure without a text.
func result(r agent.CallDone) object {
	text := r.Text
	if strings.TrimSpace(text) == "" {
		text = "(nothing)"
	}
	b := object{"type": "tool_result", "tool_use_id": r.CallID, "content": []object{textBlock(text)}}
	if r.Failed {
		b["is_error"] = true
	}
	return b
}

// said is a message of the model's own: as it came where that was kept, with what it thought.
func (m messages) said(one message) []object {
	var plain, whole []object
	if one.text != "" {
		plain = append(plain, textBlock(one.text))
	}
	byID := map[string]object{}
	for _, c := range one.calls {
		byID[c.ID] = object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": args(c)}
		plain = append(plain, byID[c.ID])
	}
	text, calls := "", 0
	for _, b := range keptOf(one, Anthropic, m.model).Blocks {
		switch b.Type {
		case "thinking":
			whole = append(whole, object{"type": b.Type, "thinking": b.Thinking, "signature": b.Signature})
		case "redacted_thinking":
			whole = append(whole, object{"type": b.Type, "data": b.Data})
		case "text":
			text += b.Text
			if strings.TrimSpace(b.Text) != "" {
				whole = append(whole, textBlock(b.Text))
			}
		case "tool_use":
			if call, ok := byID[b.ID]; ok {
				whole, calls = append(whole, call), calls+1
			}
		}
	}
	if len(whole) == 0 || calls != len(one.calls) || strings.TrimSpace(text) != strings.TrimSpace(one.text) {
		return plain // the turn is not what the model said
	}
	return whole
}

// A messagesEvent is a piece of an answer, with the fields of all kinds of it that are looked at.
type messagesEvent struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Model string `json:"model"`
		Usage struct {
			Input        int `json:"input_tokens"`
			CacheRead    int `json:"cache_read_input_tokens"`
			CacheWritten int `json:"cache_creation_input_tokens"`
		} `json:"usage"`
	} `json:"message"`
	ContentBlock struct {
		keptBlock
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	} `json:"content_block"`
	Delta struct {
		keptBlock
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
	Usage struct {
		Output int `json:"output_tokens"`
	} `json:"usage"`
}

// A messagesAnswer is put together from its pieces.
type messagesAnswer struct {
	answer
	said   strings.Builder
	blocks []*came // in order
	at     map[int]*came
}

// take adds a piece.
func (got *messagesAnswer) take(e messagesEvent, tell func(text, input string)) error {
	switch e.Type {
	case "message_start":
		got.model = e.Message.Model
		got.in = e.Message.Usage.Input + e.Message.Usage.CacheRead + e.Message.Usage.CacheWritten
	case "content_block_start":
		c := e.ContentBlock
		b := &came{keptBlock: keptBlock{Type: c.Type, Data: c.Data}, call: called{id: c.ID, name: c.Name}}
		got.blocks, got.at[e.Index] = append(got.blocks, b), b
		got.said.WriteString(c.Text)
		b.text.WriteString(c.Text + c.Thinking) // one of them
		b.signature.WriteString(c.Signature)
		if input := string(c.Input); input != "{}" && input != "null" {
			b.call.args.WriteString(input) // some send it at once
		}
	case "content_block_delta":
		b := got.at[e.Index]
		if b == nil {
			return errCut // a piece of something that never began
		}
		got.said.WriteString(e.Delta.Text)
		b.text.WriteString(e.Delta.Text + e.Delta.Thinking)
		b.signature.WriteString(e.Delta.Signature)
		b.call.args.WriteString(e.Delta.PartialJSON)
		if e.Delta.Text != "" || e.Delta.PartialJSON != "" {
			tell(got.said.String(), b.call.args.String())
		}
	case "message_delta":
		got.out = e.Usage.Output
		switch e.Delta.StopReason {
		case "max_tokens":
			got.cut = true
		case "model_context_window_exceeded":
			got.cut, got.full = true, true
		case "refusal":
			got.refused = true
		}
	case "message_stop":
		got.ended = true
	}
	return nil
}

// send makes the request, and puts the answer together from its pieces.
func (m messages) send(ctx context.Context, key string, params object, tell func(text, input string)) (answer, error) {
	params["model"], params["stream"] = m.model, true
	got := messagesAnswer{at: map[int]*came{}}
	header := http.Header{"X-Api-Key": {key}, "Anthropic-Version": {messagesVersion}}
	for data, err := range m.server.events(ctx, header, params) {
		var e messagesEvent
		if err == nil {
			err = decode(data, &e)
		}
		if err == nil {
			if e.Type == "error" {
				err = failureIn(data)
			} else {
				err = got.take(e, tell)
			}
		}
		if err != nil {
			return answer{}, err
		}
		if got.ended {
			return got.whole(m.model), nil // without waiting for the end of the stream
		}
	}
	return answer{}, errCut
}

// whole is the answer after its last piece.
func (got *messagesAnswer) whole(model string) answer {
	var calls []*called
	k, thinks := kept{Provider: Anthropic, Model: model}, false
	for _, b := range got.blocks {
		switch b.Type {
		case "text":
			b.Text = b.text.String()
		case "thinking":
			b.Thinking, b.Signature = b.text.String(), b.signature.String()
		case "tool_use":
			calls = append(calls, &b.call)
		}
		thinks = thinks || thought(b.Type)
	}
	got.text, got.calls = got.said.String(), uses(calls, got.cut)
	for _, b := range got.blocks {
		if b.Type == "tool_use" {
			b.ID = b.call.id // which uses may have given it
		}
		k.Blocks = append(k.Blocks, b.keptBlock)
	}
	if thinks && len(calls) > 0 {
		got.kept = keep(k)
	}
	return got.answer
}

// came is a block of an answer as it comes, piece by piece.
type came struct {
	keptBlock
	text, signature strings.Builder // a text, or a thought
	call            called
}
