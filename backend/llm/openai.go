package llm

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/shared"

	"deskbell/summarizers/prompt"
)

// chat speaks OpenAI's chat completions, which others speak as well.
type chat struct {
	model   string
	own     bool // it is OpenAI's own server, or Azure's
	service openai.ChatCompletionService
}

func newChat(model string, base *url.URL, client *http.Client) chat {
	host := base.Hostname()
	// The service by itself: the SDK's client would take keys, organizations and headers from the environment.
	return chat{model, strings.HasSuffix(host, ".openai.com") || strings.HasSuffix(host, ".openai.azure.com"), openai.NewChatCompletionService(
		option.WithBaseURL(base.String()), option.WithHTTPClient(client), option.WithMaxRetries(0))}
}

func (c chat) once(ctx context.Context, key string, r prompt.Request, f form, tell func(string)) (answer, error) {
	params := openai.ChatCompletionNewParams{
		Model:         c.model,
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	}
	// The newer name is the only one that OpenAI's reasoning models take, and others do not know it.
	if c.own {
		params.MaxCompletionTokens = openai.Int(int64(r.Tokens))
	} else {
		params.MaxTokens = openai.Int(int64(r.Tokens))
	}
	if r.System != "" {
		params.Messages = append(params.Messages, openai.SystemMessage(r.System))
	}
	if len(r.Pictures) == 0 {
		params.Messages = append(params.Messages, openai.UserMessage(r.Text)) // some take no list of parts
	} else {
		parts := []openai.ChatCompletionContentPartUnionParam{openai.TextContentPart(r.Text)}
		for _, p := range r.Pictures {
			parts = append(parts, openai.TextContentPart(p.Name), openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{
				URL: "data:image/jpeg;base64," + base64.StdEncoding.EncodeToString(p.JPEG),
			}))
		}
		params.Messages = append(params.Messages, openai.UserMessage(parts))
	}
	var schema map[string]any
	if err := json.Unmarshal(r.Schema, &schema); err != nil {
		return answer{}, err
	}
	switch f {
	case bySchema:
		params.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
			Name: toolName, Strict: openai.Bool(true), Schema: schema,
		}}
	case byTool:
		params.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: toolName, Description: openai.String("Takes your answer."), Parameters: schema,
		})}
		params.ToolChoice = openai.ToolChoiceOptionFunctionToolChoice(openai.ChatCompletionNamedToolChoiceFunctionParam{Name: toolName})
	}
	var opts []option.RequestOption
	if key != "" {
		opts = append(opts, option.WithAPIKey(key))
	}
	var got answer
	var text, input strings.Builder
	s := c.service.NewStreaming(ctx, params, opts...)
	defer func() { _ = s.Close() }()
	for s.Next() {
		e := s.Current()
		if e.Model != "" {
			got.model = e.Model
		}
		if e.Usage.TotalTokens > 0 {
			got.in, got.out = int(e.Usage.PromptTokens), int(e.Usage.CompletionTokens)
		}
		for _, choice := range e.Choices {
			if choice.Index != 0 {
				continue
			}
			d := choice.Delta
			text.WriteString(d.Content)
			for _, call := range d.ToolCalls {
				if call.Index == 0 {
					input.WriteString(call.Function.Arguments)
				}
			}
			got.refused = got.refused || d.Refusal != "" || choice.FinishReason == "content_filter"
			got.cut = got.cut || choice.FinishReason == "length"
			got.ended = got.ended || choice.FinishReason != ""
			if input.Len() > 0 {
				tell(input.String())
			} else {
				tell(text.String())
			}
		}
	}
	if got.text = input.String(); got.text == "" {
		got.text = text.String()
	}
	var said *ssestream.StreamError
	switch err := s.Err(); {
	case errors.As(err, &said):
		return answer{}, failureIn(said.Event.Data)
	case err != nil:
		return answer{}, err
	case !got.ended:
		return answer{}, errCut
	}
	return got, nil
}
