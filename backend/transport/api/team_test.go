package api

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/queue/asking"
)

// inTeam is a desk that knows how the asking stands.
type inTeam struct{ noTeam }

func (inTeam) Asking(human.Operation, time.Time) *asking.Asking {
	return &asking.Asking{Away: []string{"Mei"}, Next: &human.Routing{Step: 2, Names: []string{"Tom"}}}
}

// An operator reads of one operation who is asked next, and of all whether they are for others. Its agent reads nothing of that.
func TestAsking(t *testing.T) {
	h := openFixture(t, func(d *Deps, o *queue.Options) {
		full(d, o)
		d.Team, o.Member = inTeam{}, func() string { return "ada" }
	})
	bot := h.agent("bot")
	op := h.ring(bot, "Which color?")
	if _, err := h.queue.Route(t.Context(), op.ID, human.Routing{Step: 1, Names: []string{"Mei"}, Reason: human.Sayf("everyone in the team is asked")}); err != nil {
		t.Fatal(err)
	}
	path := "/api/human/operations/" + string(op.ID)
	if got := h.get(path, h.op).operation(http.StatusOK); !got.Others || got.Asking == nil || !slices.Equal(got.Asking.Away, []string{"Mei"}) || got.Asking.Next.Names[0] != "Tom" {
		t.Errorf("an operator reads %t, %+v", got.Others, got.Asking)
	}
	var page struct{ Operations []Operation }
	h.get("/api/human/operations?state=open", h.op).into(&page)
	if len(page.Operations) != 1 || !page.Operations[0].Others || page.Operations[0].Asking != nil {
		t.Errorf("in a list it is %+v", page.Operations)
	}
	if got := h.get(path, bot).operation(http.StatusOK); got.Others || got.Asking != nil || got.Routing != nil {
		t.Errorf("its agent reads %t, %+v", got.Others, got.Asking)
	}
}
