package api

import (
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/queue"
)

func TestWrongCodesAndAnswersWithAnAgentsKeyAreAttempts(t *testing.T) {
	d := &place{at: ptsOne}
	h := openFixture(t, func(deps *Deps, o *queue.Options) {
		full(deps, o)
		deps.Terminal = d.terminal
	})
	bot := h.agent("bot")
	id := h.ring(bot, "please").ID
	last := func() (a human.Attempt, tried human.Try) {
		t.Helper()
		var list AttemptList
		h.get("/api/attempts", h.op).into(&list)
		if len(list.Attempts) == 0 {
			t.Fatal("there is no attempt")
		}
		a = list.Attempts[0]
		return a, a.Tries[len(a.Tries)-1]
	}

	h.post("/api/session", "", `{"code":"AAAAAAAAAAAAAAAAAAAAAAAAAA"}`).problem(401, "wrong") // a page of before a restart
	h.post("/api/human/reply", bot, idBody(id, `,"text":"hm"`)).operation(200)
	h.get("/api/agents", bot).problem(403, "operator")
	var none AttemptList
	if h.get("/api/attempts", h.op).into(&none); len(none.Attempts) != 0 {
		t.Fatalf("%+v", none)
	}

	h.post("/api/session", "", `{"code":"aaaaa-aaaaa"}`).problem(401, "wrong")
	if a, tried := last(); a.AgentID != "" || a.How != human.MarkNone || tried.What != human.TryCode {
		t.Errorf("%+v", a)
	}
	h.reconnect()
	h.post("/api/session/terminal", "", "")
	d.sit(ptsTwo, nil)
	h.reconnect()
	h.post("/api/session", "", `{"terminal":true,"code":`+quoted(d.code())+`}`).problem(403, "in the terminal that showed it")
	if a, tried := last(); a.Count != 2 || tried.What != human.TryTerminal {
		t.Errorf("%+v", a)
	}

	asked := h.permission(bot).OperationID
	plan := h.submitted(bot, "ours").OperationID
	for n, c := range []struct {
		path, body string
		about      human.OperationID
	}{
		{"/api/human/complete", idBody(id, `,"human_input":"yes"`), id},
		{"/api/human/complete", idBody("op_none", `,"human_input":"yes"`), ""},
		{"/api/gate/questions/" + string(asked) + "/answer", `{"choice":"allow"}`, asked},
		{"/api/plans/" + string(plan) + "/response", `{"action":"confirm"}`, plan},
	} {
		h.post(c.path, bot, c.body).problem(403, "operator")
		if a, tried := last(); a.AgentID != "bot" || a.Count != n+1 || tried.What != human.TryAnswer || tried.Limit != "key.answer" || tried.OperationID != c.about {
			t.Errorf("%s: %+v", c.path, a)
		}
	}
}
