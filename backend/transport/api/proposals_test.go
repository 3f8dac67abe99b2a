package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"deskbell/backend/human"
)

// TestWorkDoneAgainIsProposed where it is the same work with other values, done by hand, and not dismissed.
func TestWorkDoneAgainIsProposed(t *testing.T) {
	h := openFixture(t, nil)
	ada := human.Actor{Role: human.Operator, Name: "ada"}
	var made []human.OperationID
	did := func(agent, description, url string, ago time.Duration) {
		t.Helper()
		op, _, err := h.queue.Submit(t.Context(), human.Request{
			Kind: human.Browser, Description: description, AgentID: agent, Priority: human.DefaultPriority, Details: json.RawMessage(fmt.Sprintf(`{"url":%q}`, url)),
		}, nil)
		must(t, err)
		_, err = h.queue.Claim(t.Context(), ada, op.ID)
		must(t, err)
		rec := human.RecordingID("rec_" + string(op.ID)[3:])
		_, err = h.queue.RecordingBegan(t.Context(), ada, op.ID, rec)
		must(t, err)
		must(t, h.store.Recordings().Create(t.Context(), human.Recording{
			ID: rec, OperationID: op.ID, By: "ada", State: human.RecordingStopped, StartedAt: time.Now().Add(-ago), Elapsed: int64(time.Minute),
			Options: human.RecordingOptions{Browser: &human.BrowserOptions{}},
		}))
		_, err = h.queue.Complete(t.Context(), ada, op.ID, human.Answer{ExecutionResult: "done"}, "")
		must(t, err)
		made = append(made, op.ID)
	}
	const day, portal, shop = 24 * time.Hour, "https://billing.portal.example/invoices", "https://shop.example/admin"
	did("ib", "Download the September invoice of Halde & Co", portal, 200*day) // too long ago
	did("ib", "Download the October invoice of Halde & Co", portal, 20*day)
	did("ib", "Get the invoice of Kestrel Ltd for November", portal, 10*day)
	did("other", "Delete the invoice of Kestrel Ltd", portal, 9*day)
	did("ib", "Download the price list", portal, 8*day)
	did("ib", "Download the invoice of Nordwind, please", shop, 7*day)
	type proposals struct {
		Proposals []struct {
			Title      string
			Site       string
			Agents     []string
			Times      int
			Took       int64 `json:"took_ms"`
			Operation  human.OperationID
			Recordings []human.RecordingID
		}
	}
	list := func() (p proposals) {
		t.Helper()
		h.get("/api/procedure-proposals", h.op).into(&p)
		return p
	}
	if p := list(); len(p.Proposals) != 0 {
		t.Fatalf("after two times: %+v", p)
	}
	did("helper", "Please fetch the invoice of Aldus for 2026-11 from the portal", portal, 2*day)
	did("bot", "导出北风公司十月的发票", "https://fapiao.example.cn/", 3*day)
	did("bot", "导出黑石贸易九月的发票", "https://fapiao.example.cn/", 2*day)
	did("bot", "导出远山公司十一月的发票", "https://fapiao.example.cn/", day)
	p := list()
	if len(p.Proposals) != 2 {
		t.Fatalf("%+v", p)
	}
	one := p.Proposals[1]
	if one.Title != "Please fetch the invoice of Aldus for 2026-11 from the portal" || one.Site != "billing.portal.example" || fmt.Sprint(one.Agents) != "[helper ib]" ||
		one.Times != 3 || one.Took != 180_000 || len(one.Recordings) != 3 || one.Recordings[0] != human.RecordingID("rec_"+string(made[1])[3:]) {
		t.Errorf("%+v", one)
	}
	// Dismissed, it stays so when the work is done once more.
	h.send(http.MethodDelete, "/api/procedure-proposals/"+string(made[6]), h.agent("bot"), "", nil).problem(http.StatusForbidden, "")
	h.send(http.MethodDelete, "/api/procedure-proposals/"+string(made[6]), h.op, "", nil)
	did("ib", "Download the December invoice of Nordwind", portal, time.Hour)
	if p := list(); len(p.Proposals) != 1 || p.Proposals[0].Site != "fapiao.example.cn" {
		t.Errorf("after it was dismissed: %+v", p)
	}
	// What is taught is not proposed.
	h.post("/api/procedures", h.op, `{"file":"{deskbell_procedure: 1, name: export_fapiao, title: 导出发票, where: browser, does: [reads], steps: [{id: s1, do: navigate, title: O, url: \"https://fapiao.example.cn/\", then: [{is: title, text: P}]}]}"}`)
	if p := list(); len(p.Proposals) != 0 {
		t.Errorf("after it was taught: %+v", p)
	}
}
