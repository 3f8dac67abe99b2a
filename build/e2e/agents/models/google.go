package models

import "encoding/json"

// gemini is Gemini's streamGenerateContent: https://ai.google.dev/api/generate-content
type gemini struct{}

func (gemini) read(body []byte) (results []string, tools bool, err error) {
	var q struct {
		Contents []struct {
			Parts []struct {
				FunctionResponse *struct{ Response json.RawMessage }
			}
		}
		Tools []struct{ FunctionDeclarations []json.RawMessage }
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, false, err
	}
	for _, c := range q.Contents {
		for _, p := range c.Parts {
			if p.FunctionResponse != nil {
				var r struct{ Output, Error string }
				_ = json.Unmarshal(p.FunctionResponse.Response, &r) // else it has another shape
				results = append(results, r.Output+r.Error)
			}
		}
	}
	return results, len(q.Tools) > 0, nil
}

func (gemini) call(w *stream, n int, c Call) {
	gemini{}.answer(w, object{"functionCall": object{"id": id(n), "name": c.Tool, "args": c.Args}})
}

func (gemini) say(w *stream, text string) { gemini{}.answer(w, object{"text": text}) }

func (gemini) answer(w *stream, part object) {
	w.send("", object{
		"candidates":    []any{object{"index": 0, "content": object{"role": "model", "parts": []any{part}}, "finishReason": "STOP"}},
		"usageMetadata": object{"promptTokenCount": 10, "candidatesTokenCount": 20, "totalTokenCount": 30},
		"modelVersion":  "gemini-test", "responseId": "test",
	})
}
