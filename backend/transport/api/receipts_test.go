package api

import (
	"encoding/json"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/queue/receipt"
)

// receiptsOf reads the receipts of an operation as who sees them.
func (h *fixture) receiptsOf(id human.OperationID, who string) (all []json.RawMessage) {
	h.t.Helper()
	r := h.get("/api/human/operations/"+string(id)+"/receipts", who)
	var list struct{ Receipts []json.RawMessage }
	if r.status != 200 || json.Unmarshal([]byte(r.body), &list) != nil {
		h.t.Fatalf("receipts: %d %s", r.status, r.body)
	}
	return list.Receipts
}

// trust is what the server says its keys are.
func (h *fixture) trust(who string) (trust receipt.Trust) {
	h.t.Helper()
	r := h.get("/api/receipts/keys", who)
	if err := json.Unmarshal([]byte(r.body), &trust); err != nil || len(trust.LogKeys) == 0 {
		h.t.Fatalf("keys: %v %s", err, r.body)
	}
	return trust
}

func TestEveryAnswerHasAReceiptThatItsAgentCanCheck(t *testing.T) {
	h := openFixture(t, full)
	bot := h.agent("bot")
	answered := map[human.OperationID]receipt.Decision{}
	answer := func(d receipt.Decision, call, more string) {
		t.Helper()
		op := h.ring(bot, "please")
		h.post(call, h.op, idBody(op.ID, more)).operation(200)
		answered[op.ID] = d
	}
	answer(receipt.Answered, "/api/human/complete", `,"human_input":"yes"`)
	answer(receipt.Declined, "/api/human/decline", `,"reason":"no"`)
	for word, d := range map[string]receipt.Decision{"allow": receipt.Approved, "deny": receipt.Denied} {
		op := h.get("/api/human/operations/"+string(h.permission(bot).OperationID), h.op).operation(200)
		if r := h.post("/api/gate/questions/"+string(op.ID)+"/answer", h.op, `{"choice":"`+word+`","digest":"`+op.Digest+`"}`); r.status != 200 {
			t.Fatalf("%s: %s", word, r.body)
		}
		answered[op.ID] = d
	}
	trust := h.trust(bot)
	for id, decision := range answered {
		all := h.receiptsOf(id, bot)
		if len(all) != 1 {
			t.Fatalf("operation %s has %d receipts", id, len(all))
		}
		v := receipt.Verify(all[0], trust)
		if !v.Authentic || v.Authorizes != (decision == receipt.Approved) || v.Operation != string(id) || v.Signers[0].Decision != decision || v.Signers[0].KeyClass != "C" || v.Signers[0].Operator != "ada" {
			t.Errorf("%s: %+v", decision, v)
		}
		var r receipt.Receipt
		op := h.get("/api/human/operations/"+string(id), bot).operation(200)
		if err := json.Unmarshal(all[0], &r); err != nil || r.Action.Parameters.Digest != "sha256:"+op.Digest {
			t.Errorf("%s: the receipt is for %q, the operation's digest is %s, %v", decision, r.Action.Parameters.Digest, op.Digest, err)
		}
		if op.Result == nil {
			continue
		}
		if hash, err := receipt.AnswerHash(op.Result.Answer); err != nil || hash != r.Contexts[0].AnswerHash {
			t.Errorf("%s: the agent's result has the hash %s, the receipt %s, %v", decision, hash, r.Contexts[0].AnswerHash, err)
		}
	}
	open := h.ring(bot, "not yet")
	if all := h.receiptsOf(open.ID, bot); len(all) != 0 {
		t.Errorf("an open operation has %d receipts", len(all))
	}
	r := h.get("/api/receipts/audit", h.op)
	var audit receipt.Audit
	if err := json.Unmarshal([]byte(r.body), &audit); err != nil || audit.Receipts != uint64(len(answered)) || len(audit.Found) > 0 {
		t.Errorf("the audit: %s, %v", r.body, err)
	}
}

func TestReceiptsAreCheckedAgainstTheServersKeysOldOnesToo(t *testing.T) {
	h := openFixture(t, full)
	bot := h.agent("bot")
	op := h.ring(bot, "please")
	h.post("/api/human/complete", h.op, idBody(op.ID, `,"human_input":"yes"`)).operation(200)
	first := h.receiptsOf(op.ID, bot)[0]
	if r := h.post("/api/receipts/keys", h.op, ""); r.status != 201 {
		t.Fatalf("rotating: %d %s", r.status, r.body)
	}
	later := h.ring(bot, "again")
	h.post("/api/human/complete", h.op, idBody(later.ID, `,"human_input":"yes"`)).operation(200)
	for _, raw := range []json.RawMessage{first, h.receiptsOf(later.ID, bot)[0]} {
		var v receipt.Verification
		r := h.post("/api/receipts/verify", bot, `{"receipt":`+string(raw)+`}`)
		if err := json.Unmarshal([]byte(r.body), &v); err != nil || !v.Authentic {
			t.Errorf("after rotating: %s", r.body)
		}
	}
	if trust := h.trust(bot); len(trust.LogKeys) != 2 {
		t.Errorf("the server trusts %v", trust.LogKeys)
	}
}

func TestAReportOfTheChainHasNoWordsOfRequests(t *testing.T) {
	h := openFixture(t, full)
	bot := h.agent("bot")
	var ids []human.OperationID
	for _, text := range []string{"hunter2 one", "hunter2 two", "hunter2 three"} {
		op := h.ring(bot, text)
		h.post("/api/human/complete", h.op, idBody(op.ID, `,"human_input":"hunter2"`)).operation(200)
		ids = append(ids, op.ID)
	}
	r := h.get("/api/human/operations/"+string(ids[1])+"/chain/report", h.op)
	var report struct {
		Operator string
		Journal  receipt.Audit
		Chain    receipt.Chain
		Receipts []json.RawMessage
		Keys     receipt.Trust
	}
	if err := json.Unmarshal([]byte(r.body), &report); err != nil || strings.Contains(string(r.body), "hunter2") || report.Operator != "ada" {
		t.Fatalf("%v, %s", err, r.body)
	}
	if report.Journal.Receipts != 3 || report.Journal.Head == nil || report.Journal.Head.TreeSize != 3 || len(report.Chain.Neighbors) != 3 || len(report.Receipts) != 3 {
		t.Errorf("%+v", report)
	}
	for i, raw := range report.Receipts {
		if v := receipt.Verify(raw, report.Keys); !v.Authentic || v.Operation != string(ids[i]) || v.Hash != report.Chain.Neighbors[i].Hash {
			t.Errorf("receipt %d: %+v", i, v)
		}
	}
}
