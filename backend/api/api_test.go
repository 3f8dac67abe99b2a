package api

import (
	"encoding/json"
	"net/http"
	"os"
	"testing"
)

func TestSmoke(t *testing.T) {
	h := open1(t, nil)
	key := h.agent("bot")
	r := h.post("/api/human/invoke", key, `{"action_type":"approve","description":"x <b>","details":{"action":  "ls <&>", "n":1.0}}`)
	t.Logf("%d %s %s", r.status, r.header, r.body)
	op := r.operation(201)
	for _, x := range []reply{
		h.get("/api/human/operations/"+string(op.ID), h.op),
		h.get("/api/human/operations/"+string(op.ID)+"/events", h.op),
		h.get("/api/human/operations?state=open&order=urgent", h.op),
		h.get("/api/human/operations?state=foo&order=urgent", h.op),
		h.get("/api/human/operations/x?wait=61", h.op),
		h.get("/api/human/operations/x?wat=61", h.op),
		h.get("/api/nope", h.op),
		h.get("/api/human/invoke", key),
		h.get("/healthz", ""),
		h.get("/", ""),
		h.post("/api/human/complete", h.op, idBody(op.ID, `,"decision":1`)),
		h.post("/api/human/complete", h.op, idBody(op.ID, `,"decison":"approve"`)),
		h.post("/api/human/complete", h.op, idBody(op.ID, `,"decision":"approve"`)),
		h.post("/api/human/invoke", key, `{"action_type":"approve","desc`),
		h.post("/api/human/invoke", key, `{"action_type":"approve","description":1}`),
		h.post("/api/human/invoke", key, `{"action_type":"feedback","description":"x","priority":"high"}`),
		h.post("/api/human/invoke", "dbk_x", `{}`),
		h.post("/api/human/invoke", h.op, `{}`),
		h.post("/api/session/codes", h.op, ``),
	} {
		t.Logf("%d %s %s", x.status, x.header.Get("Content-Type"), x.body)
	}
	b, err := OpenAPI()
	must(t, err)
	must(t, os.WriteFile("/tmp/w/openapi.json", b, 0o644))
	var v map[string]any
	must(t, json.Unmarshal(b, &v))
	_ = http.StatusOK
}
