package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"deskbell/backend/human"
)

// did stores what a person did for a request of an agent: a field filled and a button pressed, in a recorded browser, some time ago.
func (h *fixture) did(agent, description, site, typed, button string, ago time.Duration) (human.OperationID, human.RecordingID) {
	h.t.Helper()
	ctx, ada := h.t.Context(), human.Actor{Role: human.Operator, Name: "ada"}
	op, _, err := h.queue.Submit(ctx, human.Request{
		Kind: human.Browser, Description: description, AgentID: agent, Priority: human.DefaultPriority, Details: json.RawMessage(fmt.Sprintf(`{"url":%q}`, "https://"+site+"/")),
	}, nil)
	must(h.t, err)
	_, err = h.queue.Claim(ctx, ada, op.ID)
	must(h.t, err)
	r := human.Recording{
		ID: human.RecordingID("rec_" + string(op.ID)[3:]), OperationID: op.ID, By: "ada", State: human.RecordingStopped, StartedAt: time.Now().Add(-ago),
		Elapsed: int64(time.Minute), Options: human.RecordingOptions{Browser: &human.BrowserOptions{}},
	}
	_, err = h.queue.RecordingBegan(ctx, ada, op.ID, r.ID)
	must(h.t, err)
	must(h.t, h.store.Recordings().Create(ctx, r))
	page := &human.WebPage{Target: "t1", URL: "https://" + site + "/", Title: "Portal", W: 800, H: 600}
	element := func(role, name string) *human.Element {
		return &human.Element{Role: role, Name: name, Tag: "input/text", Selectors: [][]string{{"aria/" + name + `[role="` + role + `"]`}}}
	}
	var events []human.RecordedEvent
	add := func(kind human.RecordedType, e *human.Element, b human.Browsing) *human.RecordedEvent {
		b.Page = page
		events = append(events, human.RecordedEvent{Source: human.BrowserSource, Type: kind, Browsing: b, Element: e})
		return &events[len(events)-1]
	}
	add(human.PageOpened, nil, human.Browsing{})
	add(human.PageNavigated, nil, human.Browsing{Navigation: &human.Navigation{Kind: "address", Status: 200}})
	field := add(human.PageInput, element("textbox", "Customer"), human.Browsing{})
	field.Text, field.Count = typed, len(typed)
	add(human.PagePress, element("button", button), human.Browsing{}).Button = 1
	click := add(human.PageClick, element("button", button), human.Browsing{})
	click.Button, click.Count = 1, 1
	add(human.PageRequest, nil, human.Browsing{Request: &human.WebRequest{Method: "POST", URL: "https://" + site + "/do", At: r.StartedAt}})
	for i := range events {
		events[i].Seq, events[i].At = uint64(i+1), int64(i)*int64(100*time.Millisecond)
	}
	must(h.t, h.store.Recordings().Append(ctx, r, events))
	_, err = h.queue.Complete(ctx, ada, op.ID, human.Answer{ExecutionResult: "done"}, "")
	must(h.t, err)
	return op.ID, r.ID
}

// TestWorkDoneAgainIsProposed whatever words asked for it, where it was done with other values by hand, and was not dismissed.
func TestWorkDoneAgainIsProposed(t *testing.T) {
	h := openFixture(t, nil)
	type proposals struct {
		Proposals []struct {
			Title      string
			Site       string
			Agents     []string
			Times      int
			Took       int64             `json:"took_ms"`
			Operation  human.OperationID `json:"operation_id"`
			Recordings []human.RecordingID
		}
	}
	list := func() (p proposals) {
		t.Helper()
		h.get("/api/procedure-proposals", h.op).into(&p)
		return p
	}
	const day = 24 * time.Hour
	h.did("ib", "Order for Halde & Co", "portal.example", "Halde & Co", "Send", 200*day) // too long ago
	_, first := h.did("ib", "Place an order for Kestrel Ltd", "portal.example", "Kestrel Ltd", "Send", 20*day)
	h.did("ib", "Cancel the order of Kestrel Ltd", "portal.example", "Kestrel Ltd", "Cancel", 15*day)
	h.did("ib", "Place an order for Kestrel Ltd", "shop.example", "Kestrel Ltd", "Send", 14*day)
	h.did("ib", "请给北风公司下单", "portal.example", "北风公司", "Send", 9*day)
	if p := list(); len(p.Proposals) != 0 {
		t.Fatalf("after two times: %+v", p)
	}
	latest, last := h.did("bot", "Nordwind wants the usual", "portal.example", "Nordwind", "Send", day)
	p := list()
	if len(p.Proposals) != 1 {
		t.Fatalf("%+v", p)
	}
	one := p.Proposals[0]
	if one.Title != "Nordwind wants the usual" || one.Site != "https://portal.example" || fmt.Sprint(one.Agents) != "[bot ib]" || one.Times != 3 || one.Took != 180_000 ||
		one.Operation != latest || len(one.Recordings) != 3 || one.Recordings[0] != first || one.Recordings[2] != last {
		t.Errorf("%+v", one)
	}
	// What they make is taught: then it is not proposed, and is again when it is deleted.
	var draft struct{ File string }
	h.post("/api/procedure-drafts", h.op, fmt.Sprintf(`{"recordings":[%q,%q]}`, one.Recordings[0], one.Recordings[2])).into(&draft)
	var shown struct{ Procedure human.Procedure }
	h.post("/api/procedures", h.op, fmt.Sprintf(`{"file":%q}`, draft.File)).into(&shown)
	if p := list(); shown.Procedure.Name == "" || len(p.Proposals) != 0 {
		t.Errorf("after %q was taught: %+v", shown.Procedure.Name, p)
	}
	h.send(http.MethodDelete, "/api/procedures/"+shown.Procedure.Name, h.op, "", nil)
	// Dismissed, it stays so when the work is done once more; an agent dismisses nothing.
	h.send(http.MethodDelete, "/api/procedure-proposals/"+string(latest), h.agent("bot"), "", nil).problem(http.StatusForbidden, "")
	if p := list(); len(p.Proposals) != 1 {
		t.Errorf("an agent dismissed it: %+v", p)
	}
	h.send(http.MethodDelete, "/api/procedure-proposals/"+string(latest), h.op, "", nil)
	h.did("ib", "Order for Aldus", "portal.example", "Aldus", "Send", time.Hour)
	if p := list(); len(p.Proposals) != 0 {
		t.Errorf("after it was dismissed: %+v", p)
	}
}
