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

	"deskbell/backend/agent"
	"deskbell/summarizers/prompt"
)

// completions speaks OpenAI's chat completions, which others speak as well.
type completions struct {
	model   string
	own     bool // it is OpenAI's own server, or Azure's
	service openai.ChatCompletionService
}

func newCompletions(model string, base *url.URL, client *http.Client) completions {
	host := base.Hostname()
	// The service by itself: the SDK's client would take keys, organizations and headers from the environment.
	return completions{model, strings.HasSuffix(host, ".openai.com") || strings.HasSuffix(host, ".openai.azure.com"), openai.NewChatCompletionService(
		option.WithBaseURL(base.String()), option.WithHTTPClient(client), option.WithMaxRetries(0))}
}

func (c completions) ask(ctx context.Context, key string, r prompt.Request, f form, tell func(text, input string)) (answer, error) {
	params := c.params(r.Tokens)
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
	return c.send(ctx, key, params, tell)
}

func (c completions) params(tokens int) openai.ChatCompletionNewParams {
	params := openai.ChatCompletionNewParams{
		Model:         c.model,
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	}
	// The newer name is the only one that OpenAI's reasoning models take, and others do not know it.
	if c.own {
		params.MaxCompletionTokens = openai.Int(int64(tokens))
	} else {
		params.MaxTokens = openai.Int(int64(tokens))
	}
	return params
}

func (c completions) chat(ctx context.Context, key string, p agent.Prompt, tell func(text, input string)) (answer, error) {
	params := c.params(p.Tokens)
	if p.System != "" {
		params.Messages = append(params.Messages, openai.SystemMessage(p.System))
	}
	for _, t := range p.Tools {
		f := shared.FunctionDefinitionParam{Name: t.Name}
		if err := json.Unmarshal(t.Schema, &f.Parameters); err != nil {
			return answer{}, err
		}
		if t.Description != "" {
			f.Description = openai.String(t.Description)
		}
		params.Tools = append(params.Tools, openai.ChatCompletionFunctionTool(f))
	}
	for _, one := range conversation(p.Turns) {
		if !one.ours {
			params.Messages = append(params.Messages, c.said(one))
			continue
		}
		for _, r := range one.results {
			params.Messages = append(params.Messages, openai.ToolMessage(failedText(r), r.CallID))
		}
		if one.text != "" {
			params.Messages = append(params.Messages, openai.UserMessage(one.text))
		}
	}
	return c.send(ctx, key, params, tell)
}

// said is a message of the model's own, with what it thought where its server wants that back.
func (c completions) said(one message) openai.ChatCompletionMessageParamUnion {
	k := keptOf(one, OpenAI, c.model)
	var m openai.ChatCompletionAssistantMessageParam
	if one.text != "" {
		m.Content.OfString = openai.String(one.text)
	}
	for _, call := range one.calls {
		f := openai.ChatCompletionMessageFunctionToolCallParam{
			ID: call.ID, Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: call.Name, Arguments: string(args(call))},
		}
		if extra := k.Extra[call.ID]; extra != nil {
			f.SetExtraFields(map[string]any{"extra_content": extra})
		}
		m.ToolCalls = append(m.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{OfFunction: &f})
	}
	if k.Reasoning != nil {
		m.SetExtraFields(map[string]any{"reasoning_content": *k.Reasoning})
	}
	return openai.ChatCompletionMessageParamUnion{OfAssistant: &m}
}

// send makes the request, and puts the answer together from its pieces.
func (c completions) send(ctx context.Context, key string, params openai.ChatCompletionNewParams, tell func(text, input string)) (answer, error) {
	var opts []option.RequestOption
	if key != "" {
		opts = append(opts, option.WithAPIKey(key))
	}
	var got answer
	var text strings.Builder
	var calls []*called
	at, extra := map[int64]*called{}, map[*called]json.RawMessage{}
	var thought strings.Builder
	thinks := false // the server says what it thinks, be it nothing
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
			d, input := choice.Delta, ""
			text.WriteString(d.Content)
			var piece *string // what the SDK does not know counts as not valid there
			if json.Unmarshal([]byte(d.JSON.ExtraFields["reasoning_content"].Raw()), &piece) == nil && piece != nil {
				thinks = true
				thought.WriteString(*piece)
			}
			for _, piece := range d.ToolCalls {
				call := at[piece.Index]
				// Some count every call as the first.
				if call == nil || piece.ID != "" && call.id != "" && piece.ID != call.id {
					call = &called{}
					calls, at[piece.Index] = append(calls, call), call
				}
				if piece.ID != "" {
					call.id = piece.ID
				}
				call.name += piece.Function.Name
				call.args.WriteString(piece.Function.Arguments)
				if x := piece.JSON.ExtraFields["extra_content"].Raw(); x != "" && x != "null" {
					extra[call] = json.RawMessage(x)
				}
				input = call.args.String()
			}
			got.refused = got.refused || d.Refusal != "" || choice.FinishReason == "content_filter"
			got.cut = got.cut || choice.FinishReason == "length"
			got.ended = got.ended || choice.FinishReason != ""
			if d.Content != "" || input != "" {
				tell(text.String(), input)
			}
		}
	}
	var failed *ssestream.StreamError
	switch err := s.Err(); {
	case errors.As(err, &failed):
		return answer{}, failureIn(failed.Event.Data)
	case err != nil:
		return answer{}, err
	case !got.ended:
		return answer{}, errCut
	}
	got.text, got.calls = text.String(), uses(calls, got.cut)
	if len(calls) > 0 && (thinks || len(extra) > 0) {
		k := kept{Provider: OpenAI, Model: c.model, Extra: map[string]json.RawMessage{}}
		if thinks {
			said := thought.String()
			k.Reasoning = &said
		}
		for call, raw := range extra {
			k.Extra[call.id] = raw
		}
		got.kept = keep(k)
	}
	return got, nil
}
