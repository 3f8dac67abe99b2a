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

func (m messages) once(ctx context.Context, key string, r prompt.Request, f form, tell func(string)) (answer, error) {
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
	var got answer
	var text strings.Builder
	s := m.service.NewStreaming(ctx, params, option.WithAPIKey(key))
	defer func() { _ = s.Close() }()
	for s.Next() {
		switch e := s.Current(); e.Type {
		case "message_start":
			got.model = e.Message.Model
			got.in = int(e.Message.Usage.InputTokens + e.Message.Usage.CacheReadInputTokens + e.Message.Usage.CacheCreationInputTokens)
		case "content_block_delta":
			// Of the two kinds one stays empty, and so do both where the model thinks.
			text.WriteString(e.Delta.Text + e.Delta.PartialJSON)
			tell(text.String())
		case "message_delta":
			got.out = int(e.Usage.OutputTokens)
			switch e.Delta.StopReason {
			case anthropic.StopReasonMaxTokens, anthropic.StopReasonModelContextWindowExceeded:
				got.cut = true
			case anthropic.StopReasonRefusal:
				got.refused = true
			}
		case "message_stop":
			got.ended = true
		}
	}
	got.text = text.String()
	var said *anthropic.Error
	switch err := s.Err(); {
	case errors.As(err, &said):
		return answer{}, failureIn([]byte(said.RawJSON()))
	case err != nil:
		return answer{}, err
	case !got.ended:
		return answer{}, errCut
	}
	return got, nil
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
