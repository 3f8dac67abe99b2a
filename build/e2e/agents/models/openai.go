package models

import (
	"encoding/json"
	"strings"
)

// responses is OpenAI's Responses, streamed: https://platform.openai.com/docs/api-reference/responses-streaming
type responses struct{}

func (responses) read(body []byte) (results []string, tools bool, err error) {
	var q struct {
		Model string
		Tools []json.RawMessage
		Input []struct {
			Type   string
			Output json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, false, err
	}
	if q.Model == "" {
		return nil, false, errNoModel
	}
	for _, item := range q.Input {
		switch {
		case strings.HasSuffix(item.Type, "_call_output"):
			results = append(results, text(item.Output))
		case item.Type == "additional_tools":
			tools = true
		}
	}
	return results, tools || len(q.Tools) > 0, nil
}

func (responses) call(w *stream, n int, c Call) {
	item := object{"type": "function_call", "id": "fc_" + id(n), "call_id": id(n), "name": c.Tool, "arguments": arguments(c), "status": "completed"}
	if c.Text != "" {
		item = object{"type": "custom_tool_call", "id": "ctc_" + id(n), "call_id": id(n), "name": c.Tool, "input": c.Text, "status": "completed"}
	}
	if c.Space != "" {
		item["namespace"] = c.Space
	}
	responses{}.answer(w, item)
}

func (responses) say(w *stream, text string) {
	responses{}.answer(w, object{"type": "message", "id": "msg_test", "role": "assistant", "status": "completed",
		"content": []any{object{"type": "output_text", "text": text, "annotations": []any{}}}})
}

func (responses) answer(w *stream, item object) {
	response := func(status string, output ...any) object {
		return object{"id": "resp_test", "object": "response", "created_at": 1, "model": "gpt-test", "status": status, "output": append([]any{}, output...),
			"usage": object{"input_tokens": 10, "input_tokens_details": object{"cached_tokens": 0}, "output_tokens": 20,
				"output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": 30}}
	}
	w.send("response.created", object{"type": "response.created", "sequence_number": 0, "response": response("in_progress")})
	w.send("response.output_item.added", object{"type": "response.output_item.added", "sequence_number": 1, "output_index": 0, "item": item})
	w.send("response.output_item.done", object{"type": "response.output_item.done", "sequence_number": 2, "output_index": 0, "item": item})
	w.send("response.completed", object{"type": "response.completed", "sequence_number": 3, "response": response("completed", item)})
}

// chat is OpenAI's chat completions, streamed: https://platform.openai.com/docs/api-reference/chat/streaming
type chat struct{}

func (chat) read(body []byte) (results []string, tools bool, err error) {
	var q struct {
		Model    string
		Tools    []json.RawMessage
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, false, err
	}
	if q.Model == "" {
		return nil, false, errNoModel
	}
	for _, m := range q.Messages {
		if m.Role == "tool" {
			results = append(results, text(m.Content))
		}
	}
	return results, len(q.Tools) > 0, nil
}

func (chat) call(w *stream, n int, c Call) {
	chat{}.answer(w, object{"tool_calls": []any{object{"index": 0, "id": id(n), "type": "function", "function": object{"name": c.Tool, "arguments": arguments(c)}}}}, "tool_calls")
}

func (chat) say(w *stream, text string) { chat{}.answer(w, object{"content": text}, "stop") }

func (chat) answer(w *stream, delta object, why string) {
	chunk := func(usage any, choices ...any) object {
		return object{"id": "chatcmpl-test", "object": "chat.completion.chunk", "created": 1, "model": "test", "choices": append([]any{}, choices...), "usage": usage}
	}
	choice := func(delta object, why any) object { return object{"index": 0, "delta": delta, "finish_reason": why} }
	w.send("", chunk(nil, choice(object{"role": "assistant", "content": ""}, nil)))
	w.send("", chunk(nil, choice(delta, nil)))
	w.send("", chunk(nil, choice(object{}, why)))
	w.send("", chunk(object{"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 30}))
	w.send("", "[DONE]")
}
