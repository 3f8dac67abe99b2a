package agent

import (
	"encoding/json"
	"testing"
)

// What a model writes is kept as it wrote it, JSON or not.
func TestArgumentsThatAreNoJSONAreKept(t *testing.T) {
	for _, args := range []string{`{"a":1}`, `{"a": `, ``, `"text"`, `null`, `{"<":"\u003c"}`} {
		was := Record{Kind: TurnRecord, Turn: &Turn{Role: Assistant, Calls: []ToolUse{{ID: "c1", Name: "look", Args: json.RawMessage(args)}}}}
		data, err := json.Marshal(was)
		if err != nil {
			t.Errorf("%s: %v", args, err)
			continue
		}
		var is Record
		if err := json.Unmarshal(data, &is); err != nil || len(is.Turn.Calls) != 1 {
			t.Errorf("%s: %s, %v", args, data, err)
			continue
		}
		if got := is.Turn.Calls[0]; got.ID != "c1" || got.Name != "look" || string(got.Args) != args && !sameArgs(got.Args, json.RawMessage(args)) {
			t.Errorf("%s: came back as %s", args, got.Args)
		}
	}
}
