package llm

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"deskbell/backend/agent"
	"deskbell/summarizers/prompt"
)

// toolName is what the tool is called that takes the answer, and the schema of it.
const toolName = "report"

// messages speaks Anthropic's Messages.
type messages struct {
	model   string
	service anthropic.MessageService
}

func newMessages(model string, base *url.URL, client *http.Client) messages {
	// The service by itself: the SDK's client would look for keys, profiles and headers in the environment.
	return messages{model, anthropic.NewMessageService(
		option.WithBaseURL(base.String()), option.WithHTTPClient(client), option.WithMaxRetries(0), option.WithoutOpenTelemetry())}
}

func (m messages) ask(ctx context.Context, key string, r prompt.Request, f form, tell func(text, input string)) (answer, error) {
	content := []anthropic.ContentBlockParamUnion{anthropic.NewTextBlock(r.Text)}
	for _, p := range r.Pictures {
		content = append(content, anthropic.NewTextBlock(p.Name),
			anthropic.NewImageBlockBase64("image/jpeg", base64.StdEncoding.EncodeToString(p.JPEG)))
	}
	params := anthropic.MessageNewParams{
		Model: m.model, MaxTokens: int64(r.Tokens), Messages: []anthropic.MessageParam{anthropic.NewUserMessage(content...)},
	}
	if r.System != "" {
		params.System = []anthropic.TextBlockParam{{Text: r.System}}
	}
	var schema map[string]any
	if err := json.Unmarshal(r.Schema, &schema); err != nil {
		return answer{}, err
	}
	switch f {
	case byTool:
		t := anthropic.ToolUnionParamOfTool(inputSchema(schema), toolName)
		t.OfTool.Description = anthropic.String("Takes your answer.")
		params.Tools = []anthropic.ToolUnionParam{t}
		params.ToolChoice = anthropic.ToolChoiceParamOfTool(toolName)
	case bySchema:
		params.OutputConfig.Format.Schema = schema
	}
	return m.send(ctx, key, params, tell)
}

func (m messages) chat(ctx context.Context, key string, p agent.Prompt, tell func(text, input string)) (answer, error) {
	params := anthropic.MessageNewParams{Model: m.model, MaxTokens: int64(p.Tokens)}
	if p.System != "" {
		params.System = []anthropic.TextBlockParam{{Text: p.System, CacheControl: anthropic.NewCacheControlEphemeralParam()}}
	}
	for _, t := range p.Tools {
		var schema map[string]any
		if err := json.Unmarshal(t.Schema, &schema); err != nil {
			return answer{}, err
		}
		tool := anthropic.ToolUnionParamOfTool(inputSchema(schema), t.Name)
		if t.Description != "" {
			tool.OfTool.Description = anthropic.String(t.Description)
		}
		params.Tools = append(params.Tools, tool)
	}
	for _, one := range conversation(p.Turns) {
		if !one.ours {
			params.Messages = append(params.Messages, anthropic.NewAssistantMessage(m.said(one)...))
			continue
		}
		var content []anthropic.ContentBlockParamUnion
		for _, r := range one.results {
			content = append(content, result(r))
		}
		if one.text != "" {
			content = append(content, anthropic.NewTextBlock(one.text))
		}
		params.Messages = append(params.Messages, anthropic.NewUserMessage(content...))
	}
	// The conversation up to here is what the next request begins with: read from the cache, it costs a tenth.
	if n := len(params.Messages); n > 0 {
		if c := params.Messages[n-1].Content; len(c) > 0 {
			if mark := c[len(c)-1].GetCacheControl(); mark != nil {
				*mark = anthropic.NewCacheControlEphemeralParam()
			}
		}
	}
	return m.send(ctx, key, params, tell)
}

// result is the result of a call. The server returns an error for an empty text, and for a failure without a text.
func result(r agent.CallDone) anthropic.ContentBlockParamUnion {
	b := anthropic.ToolResultBlockParam{ToolUseID: r.CallID}
	if r.Failed {
		b.IsError = anthropic.Bool(true)
	}
	text := r.Text
	if strings.TrimSpace(text) == "" {
		text = "(nothing)"
	}
	b.Content = []anthropic.ToolResultBlockParamContentUnion{{OfText: &anthropic.TextBlockParam{Text: text}}}
	return anthropic.ContentBlockParamUnion{OfToolResult: &b}
}

// said is a message of the model's own: as it came where that was kept, with what it thought.
func (m messages) said(one message) []anthropic.ContentBlockParamUnion {
	var plain, whole []anthropic.ContentBlockParamUnion
	if one.text != "" {
		plain = append(plain, anthropic.NewTextBlock(one.text))
	}
	byID := map[string]anthropic.ContentBlockParamUnion{}
	for _, c := range one.calls {
		byID[c.ID] = anthropic.NewToolUseBlock(c.ID, args(c), c.Name)
		plain = append(plain, byID[c.ID])
	}
	text, calls := "", 0
	for _, b := range keptOf(one, Anthropic, m.model).Blocks {
		switch b.Type {
		case "thinking":
			whole = append(whole, anthropic.NewThinkingBlock(b.Signature, b.Thinking))
		case "redacted_thinking":
			whole = append(whole, anthropic.NewRedactedThinkingBlock(b.Data))
		case "text":
			text += b.Text
			if strings.TrimSpace(b.Text) != "" {
				whole = append(whole, anthropic.NewTextBlock(b.Text))
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

// send makes the request, and puts the answer together from its pieces.
func (m messages) send(ctx context.Context, key string, params anthropic.MessageNewParams, tell func(text, input string)) (answer, error) {
	var got answer
	var text strings.Builder
	var blocks []*came // in order
	at := map[int64]*came{}
	s := m.service.NewStreaming(ctx, params, option.WithAPIKey(key))
	defer func() { _ = s.Close() }()
	for s.Next() {
		switch e := s.Current(); e.Type {
		case "message_start":
			got.model = e.Message.Model
			got.in = int(e.Message.Usage.InputTokens + e.Message.Usage.CacheReadInputTokens + e.Message.Usage.CacheCreationInputTokens)
		case "content_block_start":
			c := e.ContentBlock
			b := &came{keptBlock: keptBlock{Type: c.Type, Data: c.Data}, call: called{id: c.ID, name: c.Name}}
			blocks, at[e.Index] = append(blocks, b), b
			text.WriteString(c.Text)
			b.text.WriteString(c.Text + c.Thinking) // one of them
			b.signature.WriteString(c.Signature)
			if input := c.JSON.Input.Raw(); input != "{}" && input != "null" {
				b.call.args.WriteString(input) // some send it at once
			}
		case "content_block_delta":
			b := at[e.Index]
			if b == nil {
				return answer{}, errCut // a piece of something that never began
			}
			text.WriteString(e.Delta.Text)
			b.text.WriteString(e.Delta.Text + e.Delta.Thinking)
			b.signature.WriteString(e.Delta.Signature)
			b.call.args.WriteString(e.Delta.PartialJSON)
			if e.Delta.Text != "" || e.Delta.PartialJSON != "" {
				tell(text.String(), b.call.args.String())
			}
		case "message_delta":
			got.out = int(e.Usage.OutputTokens)
			switch e.Delta.StopReason {
			case anthropic.StopReasonMaxTokens:
				got.cut = true
			case anthropic.StopReasonModelContextWindowExceeded:
				got.cut, got.full = true, true
			case anthropic.StopReasonRefusal:
				got.refused = true
			}
		case "message_stop":
			got.ended = true
		}
	}
	var said *anthropic.Error
	switch err := s.Err(); {
	case errors.As(err, &said):
		return answer{}, failureIn([]byte(said.RawJSON()))
	case err != nil:
		return answer{}, err
	case !got.ended:
		return answer{}, errCut
	}
	var calls []*called
	for _, b := range blocks {
		if b.Type == "tool_use" {
			calls = append(calls, &b.call)
		}
	}
	got.text, got.calls = text.String(), uses(calls, got.cut)
	k, thought := kept{Provider: Anthropic, Model: m.model}, false
	for _, b := range blocks {
		switch b.Type {
		case "text":
			b.Text = b.text.String()
		case "thinking":
			b.Thinking, b.Signature = b.text.String(), b.signature.String()
		case "tool_use":
			b.ID = b.call.id
		}
		thought = thought || b.Type == "thinking" || b.Type == "redacted_thinking"
		k.Blocks = append(k.Blocks, b.keptBlock)
	}
	if thought && len(calls) > 0 {
		got.kept = keep(k)
	}
	return got, nil
}

// came is a block of an answer as it comes, piece by piece.
type came struct {
	keptBlock
	text, signature strings.Builder // a text, or a thought
	call            called
}

// inputSchema is the schema in the SDK's type, which has the parts of an object's schema apart.
func inputSchema(schema map[string]any) anthropic.ToolInputSchemaParam {
	in := anthropic.ToolInputSchemaParam{ExtraFields: map[string]any{}}
	for k, v := range schema {
		switch k {
		case "type":
		case "properties":
			in.Properties = v
		default:
			in.ExtraFields[k] = v
		}
	}
	return in
}
