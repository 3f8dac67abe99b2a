package api

import (
	"encoding/csv"
	"fmt"
	"strings"
	"testing"
	"time"

	"deskbell/backend/queue"
)

func TestStatistics(t *testing.T) {
	h := openFixture(t, nil)
	bot := h.agent("bot")
	op := h.post("/api/human/invoke", bot, `{"action_type":"approve","description":"go","details":{"action":"ls","risk_level":"low"},"context":{"project":"shop"}}`).operation(201)
	h.post("/api/human/complete", h.op, idBody(op.ID, `,"decision":"deny","human_input":"no","digest":"`+op.Digest+`"`)).operation(200)
	h.ring(bot, "open")
	var st queue.HistoryStatistics
	at := h.get("/api/human/operations/"+string(op.ID), h.op).operation(200).CreatedAt
	around := "from=" + at.Add(-time.Hour).Format(time.RFC3339) + "&to=" + at.Add(time.Hour).Format(time.RFC3339)
	for query, want := range map[string]int{
		"": 2, "&project=shop": 1, "&project=-": 1, "&risk=low": 1, "&risk=-": 1, "&end=denied": 1, "&end=open": 1, "&action_type=approve": 1, "&agent_id=nobody": 0,
		"&zone=Asia/Kathmandu": 2, "&zone=%2B05:45": 2,
		fmt.Sprintf("&hour=%d", (int(at.Weekday())+6)%7*24+at.Hour()+1): 2,
	} {
		r := h.get("/api/statistics?"+around+query, h.op)
		if r.status != 200 {
			t.Fatalf("%s: %s", query, r.body)
		}
		r.into(&st)
		var page Page
		h.get("/api/human/operations?"+around+query, h.op).into(&page)
		if st.Requests != want || len(page.Operations) != want {
			t.Errorf("%q counts %d and lists %d, want %d", query, st.Requests, len(page.Operations), want)
		}
	}
	for query, says := range map[string]string{
		"from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z": "before to",
		"from=2006-01-02T00:00:00Z&to=2026-01-01T00:00:00Z": "3700",
		"days=30&zone=../../etc/passwd":                     "time zone",
		"days=30&zone=Local":                                "time zone",
	} {
		h.get("/api/statistics?"+query, h.op).problem(422, says)
	}
}

// TestExport reads more than a page, in both formats: all of the list, nothing that was saved and not sent, no formula.
func TestExport(t *testing.T) {
	h := openFixture(t, nil)
	bot := h.agent("bot")
	texts := []string{"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "＝1", "quoted \"text\",\nand more", "plain"}
	for _, text := range texts {
		op := h.ring(bot, "x")
		h.post("/api/human/complete", h.op, idBody(op.ID, fmt.Sprintf(`,"human_input":%q`, text))).operation(200)
	}
	draft := h.ring(bot, "drafted")
	h.post("/api/human/input", h.op, idBody(draft.ID, `,"human_input":"not sent"`)).operation(200)

	r := h.get("/api/human/export?format=csv", h.op)
	if got := r.header.Get("Content-Disposition"); !strings.HasPrefix(got, `attachment; filename="deskbell-history-`) || !strings.HasSuffix(got, `.csv"`) {
		t.Errorf("Content-Disposition is %q", got)
	}
	rows, err := csv.NewReader(strings.NewReader(string(r.body))).ReadAll()
	if err != nil || len(rows) != len(texts)+2 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for i, text := range texts {
		got := rows[len(rows)-1-i][11]
		if want := map[bool]string{true: "'" + text, false: text}[i < 6]; got != want {
			t.Errorf("%q is exported as %q", text, got)
		}
	}
	lines := strings.Split(strings.TrimSpace(string(h.get("/api/human/export?state=closed", h.op).body)), "\n")
	if len(lines) != len(texts) {
		t.Errorf("%d lines, want %d", len(lines), len(texts))
	}
	if all := string(h.get("/api/human/export", h.op).body); strings.Contains(all, "not sent") || !strings.Contains(all, string(draft.ID)) {
		t.Errorf("a draft is exported, or its operation is not: %s", all)
	}
}
