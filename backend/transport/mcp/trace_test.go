package mcp_test

import (
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/human"
	mcpserver "deskbell/backend/transport/mcp"
)

// The traceparent in a call's _meta is that of the request in the journal.
func TestTraceparentOfACall(t *testing.T) {
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for _, version := range []string{modern, legacy} {
		q, store := openStore(t)
		c := inMemory(t, mcpserver.ForQueue(q, nil, bot), mcpserver.Options{}, version)
		result, err := c.CallTool(t.Context(), &mcp.CallToolParams{
			Meta: mcp.Meta{"traceparent": parent}, Name: "human",
			Arguments: map[string]any{"action": "invoke", "action_type": "feedback", "description": "x", "wait_seconds": 0},
		})
		if err != nil || result.IsError {
			t.Fatalf("%s: %v, %+v", version, err, result)
		}
		var reading struct {
			ID human.OperationID `json:"operation_id"`
		}
		text, err := json.Marshal(result.StructuredContent)
		if err == nil {
			err = json.Unmarshal(text, &reading)
		}
		if err != nil {
			t.Fatal(err)
		}
		entries, err := store.Operation(t.Context(), reading.ID)
		if err != nil || len(entries) == 0 || entries[0].Event.Request.Traceparent != parent {
			t.Errorf("%s: in the journal of %q there is %+v (%v)", version, reading.ID, entries, err)
		}
	}
}
