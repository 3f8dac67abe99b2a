package api

import "testing"

func TestSearch(t *testing.T) {
	h := openFixture(t, nil)
	bot := h.agent("bot")
	id := h.ring(bot, "deploy the shop").ID
	for path, want := range map[string]int{"?q=shop": 1, "?q=shop&group=operations&limit=1": 1, "?q=shop&group=findings": 0, "?q=nothing": 0} {
		var found SearchResult
		h.get("/api/search"+path, h.op).into(&found)
		if len(found.Groups) != want || want == 1 && found.Groups[0].Hits[0].Operation != id {
			t.Errorf("%s: %+v", path, found)
		}
	}
	h.get("/api/search?q=shop", bot).problem(403, "operator")
	h.get("/api/search", h.op).problem(422, "q")
	h.get("/api/search?q=shop&group=secrets", h.op).problem(422, "group")
	h.get("/api/search?q=shop&limit=101", h.op).problem(422, "limit")
}
