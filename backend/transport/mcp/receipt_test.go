package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/queue/journaltest"
	"deskbell/backend/queue/receipt"
	"deskbell/backend/transport/mcp"
)

func TestAnAgentReadsItsReceipts(t *testing.T) {
	q := open(t)
	c := inMemory(t, mcp.ForQueue(q, nil, bot), mcp.Options{}, modern)
	id := c.use(args{"action": "invoke", "action_type": "approve", "description": "push?", "details": args{"action": "git push"}, "wait_seconds": 0}).OperationID
	op, err := q.Get(t.Context(), mei, id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := q.Complete(t.Context(), mei, id, human.Answer{Decision: human.Approved}, op.Digest); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for offset := 0; ; {
		r := c.use(args{"action": "check_result", "operation_id": id, "field": "receipts", "offset": offset})
		text.WriteString(r.Text)
		if offset = r.NextOffset; offset == 0 {
			break
		}
	}
	var list struct{ Receipts []json.RawMessage }
	if err := json.Unmarshal([]byte(text.String()), &list); err != nil || len(list.Receipts) != 1 {
		t.Fatalf("%v: %s", err, text.String())
	}
	if v := receipt.Verify(list.Receipts[0], journaltest.Trust()); !v.Authorizes || v.Operation != string(id) {
		t.Errorf("%+v", v)
	}
}
