package app_test

import (
	"net/http"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/store/team"
)

// What a lead deletes everywhere is on no desk any more: also not on one that was away, for which the request is still open, nor on one that joins later.
func TestALeadDeletesEverywhere(t *testing.T) {
	t.Parallel()
	h, stopHub := startHub(t, t.TempDir(), "127.0.0.1:0", "127.0.0.1:0")
	defer stopHub()
	lead, mei, sam := joined(t, h, "Lea", team.LeadRole), joined(t, h, "Mei", team.OperatorRole), joined(t, h, "Sam", team.OperatorRole)
	const secret = "zq7hunter2everywhere"
	rings := func(question string) (op human.Operation) {
		t.Helper()
		mei.during(t, []string{"ring", "--type", "feedback", question}, func(asked human.Operation) {
			op = asked
			waitFor(t, "the request at Sam's desk", func() bool {
				status, _ := sam.boss.call("GET", "/api/human/operations/"+string(op.ID), nil, nil)
				return status == http.StatusOK
			})
			if question == secret { // Sam's desk does not see the end of it
				sam.stop(t)
			}
			mei.boss.good(t, "POST", "/api/human/complete", map[string]any{"operation_id": op.ID, "human_input": "I do not know: " + question, "digest": op.Digest}, nil)
		}).want(t, 0)
		return op
	}
	kept, op := rings("Which color?"), rings(secret)
	has := func(d *fixture, id human.OperationID) bool {
		t.Helper()
		status, _ := d.boss.call("GET", "/api/human/operations/"+string(id), nil, nil)
		if status != http.StatusOK && status != http.StatusNotFound {
			t.Errorf("the request is read with %d", status)
		}
		return status == http.StatusOK
	}
	waitFor(t, "the end at the lead's desk", func() bool {
		var there human.Operation
		status, _ := lead.boss.call("GET", "/api/human/operations/"+string(op.ID), nil, &there)
		return status == http.StatusOK && there.State == human.Completed && there.DeliveredAt != nil
	})

	run(t, mei.dir, nil, "delete", string(op.ID), "--everywhere", "--yes", "--code", mei.invite(t)).want(t, 3, "only a lead")
	if !has(mei, op.ID) || !has(lead, op.ID) {
		t.Fatal("an operator deleted it")
	}
	waitFor(t, "the deletion", func() bool { // the log of finished requests may be behind
		return run(t, lead.dir, nil, "delete", string(op.ID), "--everywhere", "--yes", "--code", lead.invite(t)).code == 0
	})
	waitFor(t, "the deletion at Mei's desk", func() bool { return !has(mei, op.ID) })
	if text := mei.boss.text(t, "/api/human/operations/"+string(op.ID)); !strings.Contains(text, "by Lea") {
		t.Errorf("who deleted it: %s", text)
	}
	sam.server = serve(t, sam.dir, nil)
	sam.boss = operator(t, sam.url, sam.code)
	waitFor(t, "the deletion at Sam's desk", func() bool { return !has(sam, op.ID) })
	ben := joined(t, h, "Ben", team.AuditorRole)
	for _, d := range []*fixture{lead, mei, sam, ben} {
		if !has(d, kept.ID) || has(d, op.ID) {
			t.Errorf("%s: the other request is there: %v; the deleted one: %v", d.dir, has(d, kept.ID), has(d, op.ID))
		}
		waitFor(t, "the words to be in no file", func() bool { return where(folder(t, d.dir), secret) == nil })
		run(t, d.dir, nil, "team", "check", "--code", d.invite(t)).want(t, 0)
		run(t, d.dir, nil, "doctor").want(t, 0)
	}
}
