package api

import (
	"bytes"
	"fmt"
	"image"
	"net/http"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/record/library"
)

// evidenced is a completed operation of the agent with this key, whose findings rest on both clicks of a recording
// that was not attached, on a field and on the agent's own words.
func (h *fixture) evidenced(key string) made {
	h.t.Helper()
	m := h.recorded(key, false)
	h.post("/api/human/complete", h.op, idBody(m.OperationID, `,"human_input":"done","fields":{"quota":`+quoted(strings.Repeat("long ", 500))+`},"summary_id":"sum_1","findings":[
		{"finding_id":"f1","kind":"done","text":"it was clicked","evidence":[{"kind":"action","recording_id":"`+string(m.ID)+`","id":"a1"},{"kind":"action","recording_id":"`+string(m.ID)+`","id":"a6"}]},
		{"finding_id":"f2","kind":"note","text":"a secret","evidence":[{"kind":"request","id":"context"}],"cut":true},
		{"finding_id":"f3","kind":"value","text":"the quota","evidence":[{"kind":"field","id":"quota"},{"kind":"request","id":"description"}]}]`)).operation(200)
	return m
}

func TestEvidenceIsReadByLabel(t *testing.T) {
	h := openFixture(t, nil)
	bot, stranger := h.agent("bot"), h.agent("stranger")
	m := h.evidenced(bot)
	path := "/api/human/operations/" + string(m.OperationID)

	seen := h.get(path, bot)
	if op := seen.operation(200); len(op.Result.Findings) != 2 || op.Result.SummaryID != "" || bytes.Contains(seen.body, []byte("secret")) || len(op.Recordings) != 0 {
		t.Errorf("the agent reads %s", seen.body)
	}
	if own := h.get(path, h.op).operation(200); own.Result.SummaryID != "sum_1" || own.Result.Findings[0].ID != "f1" {
		t.Errorf("the operator reads %+v", own.Result)
	}

	var list EvidenceList
	r := h.get(path+"/evidence", bot)
	r.into(&list)
	if len(list.Evidence) != 4 || list.Next != "" || bytes.Contains(r.body, []byte("null")) || list.Evidence[3].Text != "record this" || !strings.Contains(list.Evidence[0].Text, "One") {
		t.Errorf("all evidence: %s", r.body)
	}
	var e library.Evidence
	h.get(path+"/evidence/e2?language=zh-CN", bot).into(&e)
	if e.Action == nil || e.Action.ID != "a6" || e.Action.Seqs == nil || !strings.Contains(e.Text, "Two") || e.Text == list.Evidence[1].Text || len(e.Pictures) > 0 || !strings.Contains(e.Missing, "no pictures") {
		t.Errorf("the second click: %+v", e)
	}
	picture := path + "/evidence/e1/picture"
	h.get(picture, bot).problem(404, "its operator shares no pictures")
	if r := h.send("PUT", "/api/recordings/"+string(m.ID)+"/edits", h.op, `{"version":0,"share_pictures":true}`, nil); r.status != 200 {
		t.Fatalf("edits: %s", r.body)
	}
	h.get(path+"/evidence/e1", bot).into(&e)
	if len(e.Pictures) != 2 || e.Pictures[0].Which != "before" || e.Pictures[0].ID != m.picture {
		t.Errorf("its pictures are %+v", e.Pictures)
	}
	shot := h.get(picture+"?which=before&width=32&format=jpeg", bot)
	size, kind, err := image.DecodeConfig(bytes.NewReader(shot.body))
	if err != nil || kind != "jpeg" || size.Width != 32 || shot.header.Get("Content-Type") != "image/jpeg" {
		t.Errorf("its picture is %s %v (%s): %v", kind, size, shot.header.Get("Content-Type"), err)
	}
	have := func(r *http.Request) { r.Header.Set("If-None-Match", shot.header.Get("ETag")) }
	if r := h.send("GET", picture+"?which=before&width=32&format=jpeg", bot, "", have); r.status != 304 {
		t.Errorf("what one has is sent again: %d", r.status)
	}
	if r := h.send("PUT", "/api/recordings/"+string(m.ID)+"/edits", h.op, `{"version":1,"share_pictures":true,"cuts":["a1"]}`, nil); r.status != 200 {
		t.Fatalf("edits: %s", r.body)
	}

	elsewhere := h.get(path, stranger).problem(404, "").Detail
	for _, c := range []struct {
		path, key string
		status    int
		says      string
	}{
		{"/evidence", stranger, 404, elsewhere}, {"/evidence/e1", stranger, 404, elsewhere}, {"/evidence/e1/picture", stranger, 404, elsewhere},
		{"/evidence/e1", bot, 404, "the operator left it out"}, {"/evidence/e1/picture", bot, 404, "the operator left it out"},
		{"/evidence/e5", bot, 404, "its answer has e1 to e4"}, {"/evidence/e5/picture", h.op, 404, "its answer has e1 to e4"},
		{"/evidence/e3/picture", bot, 404, "no such picture"}, {"/evidence/e2/picture?which=picture", bot, 404, "no such picture"},
		{"/evidence/e2?language=fr", bot, 422, "language"}, {"/evidence/e2/picture?which=beside", bot, 422, "which"},
		{"/evidence?max_tokens=10", bot, 422, "max_tokens"}, {"/evidence?from=e9", bot, 422, `from: "e9"`},
	} {
		if p := h.get(path+c.path, c.key).problem(c.status, c.says); c.key == stranger && p.Detail != elsewhere {
			t.Errorf("%s tells a stranger %q, and elsewhere %q", c.path, p.Detail, elsewhere)
		}
	}
	if r := h.get(path+"/evidence/e1", h.op); r.status != 200 {
		t.Errorf("the operator reads of what is cut: %s", r.body)
	}
}

func TestEvidenceWithinABudget(t *testing.T) {
	h := openFixture(t, nil)
	bot := h.agent("bot")
	m := h.evidenced(bot)
	path := "/api/human/operations/" + string(m.OperationID) + "/evidence?max_tokens=400"
	var labels []string
	for from, pages := "", 0; ; pages++ {
		r := h.get(path+from, bot)
		if n := human.Tokens(r.body); n > 400 || pages > 4 {
			t.Fatalf("page %d has about %d tokens: %s", pages, n, r.body)
		}
		var list EvidenceList
		r.into(&list)
		for _, e := range list.Evidence {
			labels = append(labels, fmt.Sprint(e.Label, ":", len(e.Text) > 0))
			if e.Label == "e3" && (len(e.Text) < 500 || !strings.Contains(e.Missing, "of 2500 characters")) {
				t.Errorf("a long one is %d characters, %q", len(e.Text), e.Missing)
			}
		}
		if list.Next == "" {
			break
		}
		from = "&from=" + list.Next
	}
	if got := strings.Join(labels, " "); got != "e1:true e2:true e3:true e4:true" {
		t.Errorf("page by page one reads %s", got)
	}
}

func TestFindingsOfDraftsStayOffTheAgentsSocket(t *testing.T) {
	h := openFixture(t, nil)
	bot := h.agent("bot")
	op := h.ring(bot, "x")
	agent, operator := h.dial("?after=0", bot), h.dial("?after=0", h.op)
	finding := func(text, more string) string { return `{"kind":"note","text":` + quoted(text) + more + `}` }
	draft := h.post("/api/human/input", h.op, idBody(op.ID, `,"findings":[`+finding("a quagga", "")+`],"summary_id":"sum_1"`)).operation(200)
	if draft.Draft == nil || len(draft.Draft.Findings) != 1 || draft.Draft.Findings[0].Evidence == nil {
		t.Fatalf("a draft of findings alone is %+v", draft.Draft)
	}
	h.post("/api/human/complete", h.op, idBody(op.ID, `,"summary_id":"sum_1","findings":[`+finding("a zebra", "")+`,`+finding("a quagga", `,"cut":true`)+`]`)).operation(200)
	is := func(m message) bool { return m.Type == "completed" }
	end := agent.until("the end", func(m message) bool {
		if strings.Contains(m.raw, "quagga") || strings.Contains(m.raw, "sum_1") {
			t.Errorf("the agent is told %s", m.raw)
		}
		return is(m)
	})
	if a := end.Data.Answer; len(a.Findings) != 1 || a.Findings[0].Text != "a zebra" || len(a.KeyFindings) != 1 {
		t.Errorf("the agent is told %s", end.raw)
	}
	if own := operator.until("the end", is); strings.Contains(own.raw, "quagga") || !strings.Contains(own.raw, "sum_1") {
		t.Errorf("the operator is told %s", own.raw)
	}
	events := h.get("/api/human/operations/"+string(op.ID)+"/events", bot)
	if bytes.Contains(events.body, []byte("quagga")) || bytes.Contains(events.body, []byte("sum_1")) || !bytes.Contains(events.body, []byte("a zebra")) {
		t.Errorf("the history tells the agent %s", events.body)
	}
}
