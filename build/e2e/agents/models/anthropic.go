package models

import "encoding/json"

// messages is Anthropic's Messages, streamed: https://docs.claude.com/en/api/messages-streaming
type messages struct{}

func (messages) read(body []byte) (results []string, tools bool, err error) {
	var q struct {
		Model    string
		Tools    []json.RawMessage
		Messages []struct{ Content json.RawMessage }
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, false, err
	}
	if q.Model == "" {
		return nil, false, errNoModel
	}
	for _, m := range q.Messages {
		var blocks []struct {
			Type    string
			Content json.RawMessage
		}
		_ = json.Unmarshal(m.Content, &blocks) // else it is a text
		for _, b := range blocks {
			if b.Type == "tool_result" {
				results = append(results, text(b.Content))
			}
		}
	}
	return results, len(q.Tools) > 0, nil
}

func (messages) call(w *stream, n int, c Call) {
	messages{}.answer(w, object{"type": "tool_use", "id": "toolu_" + id(n), "name": c.Tool, "input": object{}},
		object{"type": "input_json_delta", "partial_json": arguments(c)}, "tool_use")
}

func (messages) say(w *stream, text string) {
	messages{}.answer(w, object{"type": "text", "text": ""}, object{"type": "text_delta", "text": text}, "end_turn")
}

func (messages) answer(w *stream, block, delta object, why string) {
	w.send("message_start", object{"type": "message_start", "message": object{
		"id": "msg_test", "type": "message", "role": "assistant", "model": "claude-test", "content": []any{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": object{"input_tokens": 10, "output_tokens": 1},
	}})
	w.send("content_block_start", object{"type": "content_block_start", "index": 0, "content_block": block})
	w.send("content_block_delta", object{"type": "content_block_delta", "index": 0, "delta": delta})
	w.send("content_block_stop", object{"type": "content_block_stop", "index": 0})
	w.send("message_delta", object{"type": "message_delta", "delta": object{"stop_reason": why, "stop_sequence": nil}, "usage": object{"output_tokens": 20}})
	w.send("message_stop", object{"type": "message_stop"})
}
