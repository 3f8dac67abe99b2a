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

// completions speaks OpenAI's chat completions, which others speak as well.
type completions struct {
	model  string
	own    bool // it is OpenAI's own server, or Azure's
	server server
}

func newCompletions(model string, base *url.URL, client *http.Client) completions {
	host := base.Hostname()
	own := strings.HasSuffix(host, ".openai.com") || strings.HasSuffix(host, ".openai.azure.com")
	return completions{model, own, server{base.JoinPath("chat/completions").String(), client}}
}

func saidBy(role string, content any) object { return object{"role": role, "content": content} }

func (c completions) ask(ctx context.Context, key string, r prompt.Request, f form, tell func(text, input string)) (answer, error) {
	params := c.params(r.Tokens)
	var all []object
	if r.System != "" {
		all = append(all, saidBy("system", r.System))
	}
	if len(r.Pictures) == 0 {
		all = append(all, saidBy("user", r.Text)) // some take no list of parts
	} else {
		parts := []object{textBlock(r.Text)}
		for _, p := range r.Pictures {
			parts = append(parts, textBlock(p.Name), object{"type": "image_url", "image_url": object{
				"url": "data:image/jpeg;base64," + base64.StdEncoding.EncodeToString(p.JPEG),
			}})
		}
		all = append(all, saidBy("user", parts))
	}
	params["messages"] = all
	switch f {
	case bySchema:
		params["response_format"] = object{"type": "json_schema", "json_schema": object{"name": toolName, "strict": true, "schema": r.Schema}}
	case byTool:
		params["tools"] = []object{function(toolName, "Takes your answer.", r.Schema)}
		params["tool_choice"] = object{"type": "function", "function": object{"name": toolName}}
	}
	return c.send(ctx, key, params, tell)
}

func (c completions) params(tokens int) object {
	params := object{"stream_options": object{"include_usage": true}}
	// The newer name is the only one that OpenAI's reasoning models take, and others do not know it.
	if c.own {
		params["max_completion_tokens"] = tokens
	} else {
		params["max_tokens"] = tokens
	}
	return params
}

// function is a tool. An empty description is left out.
func function(name, description string, schema json.RawMessage) object {
	f := object{"name": name, "parameters": schema}
	if description != "" {
		f["description"] = description
	}
	return object{"type": "function", "function": f}
}

func (c completions) chat(ctx context.Context, key string, p agent.Prompt, tell func(text, input string)) (answer, error) {
	params := c.params(p.Tokens)
	var all, tools []object
	if p.System != "" {
		all = append(all, saidBy("system", p.System))
	}
	for _, t := range p.Tools {
		tools = append(tools, function(t.Name, t.Description, t.Schema))
	}
	if len(tools) > 0 {
		params["tools"] = tools
	}
	for _, one := range conversation(p.Turns) {
		if !one.ours {
			all = append(all, c.said(one))
			continue
		}
		for _, r := range one.results {
			m := saidBy("tool", failedText(r))
			m["tool_call_id"] = r.CallID
			all = append(all, m)
		}
		if one.text != "" {
			all = append(all, saidBy("user", one.text))
		}
	}
	params["messages"] = all
	return c.send(ctx, key, params, tell)
}

// said is a message of the model's own, with what it thought where its server wants that back.
func (c completions) said(one message) object {
	k := keptOf(one, OpenAI, c.model)
	m := object{"role": "assistant"}
	if one.text != "" {
		m["content"] = one.text
	}
	var calls []object
	for _, call := range one.calls {
		f := object{"id": call.ID, "type": "function", "function": object{"name": call.Name, "arguments": string(args(call))}}
		if extra := k.Extra[call.ID]; extra != nil {
			f["extra_content"] = extra
		}
		calls = append(calls, f)
	}
	if len(calls) > 0 {
		m["tool_calls"] = calls
	}
	if k.Reasoning != nil {
		m["reasoning_content"] = *k.Reasoning
	}
	return m
}

// A chunk is a piece of an answer, with the fields that are looked at.
type chunk struct {
	Model string `json:"model"`
	Usage struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
	} `json:"usage"`
	Choices []struct {
		Index        int    `json:"index"`
		FinishReason string `json:"finish_reason"`
		Delta        struct {
			Content   string  `json:"content"`
			Refusal   string  `json:"refusal"`
			Reasoning *string `json:"reasoning_content"`
			ToolCalls []struct {
				Index    int    `json:"index"`
				ID       string `json:"id"`
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
				Extra json.RawMessage `json:"extra_content"`
			} `json:"tool_calls"`
		} `json:"delta"`
	} `json:"choices"`
	Error json.RawMessage `json:"error"` // instead of a piece
}

// A completion is put together from its pieces.
type completion struct {
	answer
	said, thought strings.Builder
	thinks        bool // the server says what it thinks, be it nothing
	made          []*called
	at            map[int]*called
	extra         map[*called]json.RawMessage
}

// take adds a piece.
func (got *completion) take(e chunk, tell func(text, input string)) {
	if e.Model != "" {
		got.model = e.Model
	}
	if e.Usage.Total > 0 {
		got.in, got.out = e.Usage.Prompt, e.Usage.Completion
	}
	for _, choice := range e.Choices {
		if choice.Index != 0 {
			continue
		}
		d, input := choice.Delta, ""
		got.said.WriteString(d.Content)
		if d.Reasoning != nil {
			got.thinks = true
			got.thought.WriteString(*d.Reasoning)
		}
		for _, piece := range d.ToolCalls {
			call := got.at[piece.Index]
			// Some count every call as the first.
			if call == nil || piece.ID != "" && call.id != "" && piece.ID != call.id {
				call = &called{}
				got.made, got.at[piece.Index] = append(got.made, call), call
			}
			if piece.ID != "" {
				call.id = piece.ID
			}
			call.name += piece.Function.Name
			call.args.WriteString(piece.Function.Arguments)
			if x := piece.Extra; len(x) > 0 && string(x) != "null" {
				got.extra[call] = x
			}
			input = call.args.String()
		}
		got.refused = got.refused || d.Refusal != "" || choice.FinishReason == "content_filter"
		got.cut = got.cut || choice.FinishReason == "length"
		got.ended = got.ended || choice.FinishReason != ""
		if d.Content != "" || input != "" {
			tell(got.said.String(), input)
		}
	}
}

// send makes the request, and puts the answer together from its pieces.
func (c completions) send(ctx context.Context, key string, params object, tell func(text, input string)) (answer, error) {
	params["model"], params["stream"] = c.model, true
	header := http.Header{}
	if key != "" {
		header.Set("Authorization", "Bearer "+key)
	}
	got := completion{at: map[int]*called{}, extra: map[*called]json.RawMessage{}}
	for data, err := range c.server.events(ctx, header, params) {
		if err == nil && strings.HasPrefix(string(data), "[DONE]") {
			break // without waiting for the end of the stream
		}
		var e chunk
		if err == nil {
			err = decode(data, &e)
		}
		if err == nil && len(e.Error) > 0 && string(e.Error) != "null" {
			err = failureIn(data)
		}
		if err != nil {
			return answer{}, err
		}
		got.take(e, tell)
	}
	if !got.ended {
		return answer{}, errCut
	}
	got.text, got.calls = got.said.String(), uses(got.made, got.cut)
	if len(got.made) > 0 && (got.thinks || len(got.extra) > 0) {
		k := kept{Provider: OpenAI, Model: c.model, Extra: map[string]json.RawMessage{}}
		if got.thinks {
			said := got.thought.String()
			k.Reasoning = &said
		}
		for call, raw := range got.extra {
			k.Extra[call.id] = raw
		}
		got.kept = keep(k)
	}
	return got.answer, nil
}
