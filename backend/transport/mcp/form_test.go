package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/human"
	"deskbell/backend/transport/mcp"
)

// What an agent reads of a form and of an edited call, whole or by its field.
func TestAnAgentReadsWhatWasFilledInAndWhatWasEdited(t *testing.T) {
	q := open(t)
	c := inMemory(t, mcp.ForQueue(q, nil, bot), mcp.Options{}, modern)
	id := c.use(args{"action": "invoke", "action_type": "approve", "description": "move?", "wait_seconds": 0, "details": args{
		"action": "move", "arguments": args{"to": "eu", "minutes": 45}, "response_schema": args{"type": "object", "properties": args{"note": args{"type": "string"}}},
	}}).OperationID
	op, err := q.Get(t.Context(), mei, id)
	if err != nil {
		t.Fatal(err)
	}
	a := human.Answer{Decision: human.Approved}
	a.Args, a.Response = json.RawMessage(`{"minutes":20}`), json.RawMessage(`{"note":"`+strings.Repeat("slowly ", 400)+`"}`)
	full := a
	if full.Args, err = op.Edited(a.Args); err != nil {
		t.Fatal(err)
	}
	// What was shown is what is answered: the digest of the edited call, and no other.
	if _, err := q.Complete(t.Context(), mei, id, a, op.Digest); human.KindOf(err) != human.Conflict {
		t.Errorf("an edit with the digest of what was sent: %v", err)
	}
	if _, err := q.Complete(t.Context(), mei, id, a, op.AnswerDigest(full)); err != nil {
		t.Fatal(err)
	}
	for _, budget := range []int{12000, 700} {
		r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "human", Arguments: map[string]any(args{"action": "check_result", "operation_id": id, "max_tokens": budget})})
		if err != nil {
			t.Fatal(err)
		}
		text, _ := json.Marshal(r.StructuredContent)
		var read struct {
			Next, Decision string
			Response       map[string]string
			Edited         struct {
				Arguments  map[string]any
				Difference []struct{ Name string }
			}
			Cut []string
		}
		if err := json.Unmarshal(text, &read); err != nil {
			t.Fatal(err)
		}
		if read.Decision != "approve" || !strings.Contains(read.Next, "edited.arguments") || read.Edited.Arguments["minutes"] != 20.0 || len(read.Edited.Difference) != 1 {
			t.Errorf("%d: %s", budget, text)
		}
		if cut := strings.Contains(strings.Join(read.Cut, " "), "response"); cut != (budget == 700) || cut == (read.Response != nil) {
			t.Errorf("%d: %v, %d characters", budget, read.Cut, len(read.Response["note"]))
		}
	}
	r := c.use(args{"action": "check_result", "operation_id": id, "field": "edited"})
	if !strings.Contains(r.Text, `"minutes":20`) || !strings.Contains(r.Text, op.Digest) {
		t.Error(r.Text)
	}
}
