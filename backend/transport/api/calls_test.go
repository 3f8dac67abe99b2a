package api

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"deskbell/backend/gate/callers"
	"deskbell/backend/human"
	"deskbell/backend/platform/processes"
	"deskbell/backend/queue"
	"deskbell/backend/queue/asking"
	"deskbell/backend/queue/board"
	"deskbell/backend/queue/routing"
	"deskbell/backend/queue/stepup"
	"deskbell/backend/record/retention"
	"deskbell/backend/store/phones"
	"deskbell/backend/store/settings"
	"deskbell/backend/store/sqlite"
)

// fakeSettings are one setting. The real ones need a file and know nothing of HTTP.
type fakeSettings struct{ changed map[string]json.RawMessage }

func (f *fakeSettings) Values() []settings.Value {
	return []settings.Value{{Key: "ui.theme", Type: "text", Value: "dark", Default: "system", Source: "file"}}
}

func (f *fakeSettings) Update(c map[string]json.RawMessage) (bool, error) {
	if _, ok := c["ui.theme"]; !ok {
		return false, human.BadField("ui.colour", "no such setting")
	}
	f.changed = c
	return true, nil
}

func full(d *Deps, _ *queue.Options) {
	d.Settings = &fakeSettings{}
	d.Doctor = func(context.Context) ([]human.DoctorCheck, error) {
		return []human.DoctorCheck{{Name: "disk", Status: "ok", Detail: "fine"}}, nil
	}
	d.Phones = &Phones{Store: phones.New(os.TempDir(), time.Now), Door: func() (bool, string) { return false, "" }, Set: func(bool) error { return nil }}
	d.Sample = func(context.Context) error { return nil }
	d.Retention = off{}
	d.Data, d.Team = d.Keys.(*sqlite.Store), noTeam{}
	d.Archives = func(string) Archives { return noArchives{} }
	var err error
	if d.StepUp, err = stepup.New(context.Background(), stepup.Deps{Vault: new(memory), Now: time.Now, Log: slog.New(slog.DiscardHandler)}); err != nil {
		panic(err)
	}
	d.Callers, err = callers.New(context.Background(), callers.Deps{
		Processes: processes.System{}, Store: d.Keys.(*sqlite.Store).Attempts(), Now: time.Now, Mask: strings.ToLower,
		Load: func() ([]byte, error) { return nil, nil }, NewID: func(prefix string) string { return prefix + rand.Text() }, Off: true,
	})
	if err != nil {
		panic(err)
	}
}

// off is a retention that removes nothing.
type off struct{}

func (off) Preview(context.Context) (retention.Removal, error) {
	return retention.Removal{Off: true, Items: []retention.RemovalItem{}}, nil
}
func (off) Delete(_ context.Context, _ human.Actor, ids []human.OperationID, _ bool) (retention.Deletion, error) {
	return retention.Deletion{Operations: ids, Copies: retention.Copies{Backups: []string{}, Files: []string{}}}, nil
}

func (o off) Remove(ctx context.Context) (retention.Removal, error) { return o.Preview(ctx) }

// noArchives are no backups.
// noTeam is a desk that is in no team, and is given no good link.
type noTeam struct{}

func (noTeam) Check(context.Context) (human.TeamCheck, error) {
	return human.TeamCheck{}, human.Errorf(human.NotFound, "this desk is in no team")
}

func (noTeam) State() (human.DeskState, <-chan struct{}) { return human.DeskState{}, nil }

func (noTeam) Later(context.Context, human.OperationID) (*human.Later, bool) { return nil, false }

func (noTeam) Discard(_ context.Context, id human.OperationID) error {
	return human.Errorf(human.NotFound, "nothing waits on this desk for operation %s; it may have been sent meanwhile", id)
}

func (noTeam) Join(context.Context, human.Actor, string) error {
	return human.Errorf(human.Invalid, "the link is not whole; copy it again")
}

func (noTeam) Leave(context.Context, human.Actor, human.Leave) (human.LeftTeam, error) {
	return human.LeftTeam{}, human.Errorf(human.Conflict, "this desk is in no team; join one first")
}

func (noTeam) Board(context.Context, human.Actor, time.Time) (board.TeamBoard, error) {
	return board.TeamBoard{}, human.Errorf(human.NotFound, "this desk is in no team")
}

func (noTeam) Invite(context.Context, human.Actor, human.TeamInvite) (human.TeamInvitation, error) {
	return human.TeamInvitation{Member: "Mei", Link: "https://hub/join#x"}, nil
}

func (noTeam) Remove(context.Context, human.Actor, string) (human.TeamRemoval, error) {
	return human.TeamRemoval{Desks: 1}, nil
}

func (noTeam) Members(context.Context) (human.TeamMembers, error) { return human.TeamMembers{}, nil }
func (noTeam) Asking(human.Operation, time.Time) *asking.Asking   { return nil }

func (noTeam) Frozen(context.Context, human.OperationID) bool { return false }

func (noTeam) Rules() (human.TeamRules, error) { return human.TeamRules{}, nil }

func (noTeam) SetRules(context.Context, human.Actor, human.TeamRules) error {
	return human.Errorf(human.Invalid, "line 1: rules have no rool; correct or delete it")
}

func (noTeam) SetMember(_ context.Context, _ human.Actor, name string, c routing.MemberChange) (m routing.Member, err error) {
	m.Name = name
	c.Change(&m)
	return m, nil
}

func (noTeam) RecordingHolder(_ context.Context, _ human.OperationID, id human.RecordingID) (h human.RecordingHolder, err error) {
	return h, human.Errorf(human.NotFound, "no recording %s", id)
}

func (n noTeam) AskForRecording(ctx context.Context, _ human.Actor, op human.OperationID, id human.RecordingID, _ string) (human.RecordingHolder, error) {
	return n.RecordingHolder(ctx, op, id)
}

type noArchives struct{}

func (noArchives) State() (human.ArchiveState, error) {
	return human.ArchiveState{Archives: []human.Archive{}}, nil
}
func (noArchives) Make(context.Context, string) (human.Archive, error) { return human.Archive{}, nil }
func (noArchives) Show(context.Context, string, string) (d human.ArchiveDifference, err error) {
	return d, human.Errorf(human.NotFound, "no backup")
}
func (noArchives) Verify(context.Context, string) (a human.Archive, err error) {
	return a, human.Errorf(human.NotFound, "no backup")
}
func (noArchives) Restore(context.Context, string, []human.OperationID) (r human.ArchiveRestored, err error) {
	return r, human.Errorf(human.NotFound, "no backup")
}
func (noArchives) Delete(string) error { return human.Errorf(human.NotFound, "no backup") }

func TestEveryCallByRole(t *testing.T) {
	h := openFixture(t, full)
	bot, stranger := h.agent("bot"), h.agent("stranger")
	fresh := func() string { return string(h.ring(bot, "please").ID) }
	claimed := func() string {
		id := fresh()
		h.post("/api/human/claim", h.op, idBody(human.OperationID(id), "")).operation(200)
		return id
	}
	held := func() string {
		id := fresh()
		h.post("/api/human/complete", h.op, idBody(human.OperationID(id), `,"human_input":"yes","undoable":true`)).operation(200)
		return id
	}
	body := func(make func() string, more string) func() string {
		return func() string { return idBody(human.OperationID(make()), more) }
	}
	text := func(s string) func() string { return func() string { return s } }
	released := h.recorded(bot, true)
	shared := "/api/recordings/" + string(released.ID)
	under := func(more string) func() string { return func() string { return shared + more } }
	rests := h.evidenced(bot).OperationID
	found := func(more string) func() string {
		return func() string { return "/api/human/operations/" + string(rests) + "/evidence" + more }
	}
	running := func(more string) func() string {
		return func() string { return "/api/recordings/" + string(h.recordingOf(claimed())) + more }
	}
	const rule = `{"decision":"allow","tool":"bash","command":"make lint"}`
	var question Operation
	asks := func(more string) func() string {
		return func() string {
			question = h.get("/api/human/operations/"+string(h.permission(bot).OperationID), h.op).operation(200)
			return "/api/gate/questions/" + string(question.ID) + more
		}
	}
	h.submitted(bot, "ours")
	var plans human.OperationID
	planned := func(more string) func() string {
		return func() string {
			plans = h.submitted(bot, rand.Text()).OperationID
			return "/api/plans/" + string(plans) + more
		}
	}
	runs := func(more string) func() string {
		return func() string { return "/api/plans/" + string(h.confirmed(bot, rand.Text()).OperationID) + more }
	}
	of := func(more string) func() string {
		return func() string { return "/api/human/operations/" + fresh() + more }
	}
	for _, c := range []struct {
		call                      string // as in the description
		path                      func() string
		body                      func() string
		nobody, agent, other, ada int // status for no key, the operation's agent, another agent, the operator
	}{
		{"POST /api/human/invoke", nil, text(`{"action_type":"bash","description":"look"}`), 401, 201, 201, 403},
		{"GET /api/human/operations", nil, nil, 401, 200, 200, 200},
		{"GET /api/human/export", nil, nil, 401, 403, 403, 200},
		{"POST /api/human/import", nil, text(`{"from":"a","operations":[{"operation_id":"op_theirs","action_type":"bash","description":"look","agent_id":"bot","created_at":"2026-01-01T00:00:00Z","state":"cancelled","ended":{"by":{"role":"agent"},"at":"2026-01-01T00:00:00Z"}}]}`), 401, 403, 403, 200},
		{"GET /api/statistics", nil, nil, 401, 403, 403, 200},
		{"GET /api/attention", text("/api/attention?days=7&zone=Asia/Kathmandu"), nil, 401, 403, 403, 200},
		{"GET /api/retention/preview", nil, nil, 401, 403, 403, 200},
		{"POST /api/retention/run", nil, nil, 401, 403, 403, 200},
		{"POST /api/human/delete", nil, text(`{"operations":["op_1"]}`), 401, 403, 403, 200},
		{"GET /api/data", nil, nil, 401, 403, 403, 200},
		{"POST /api/data/noted", nil, nil, 401, 403, 403, 200},
		{"GET /api/team", nil, nil, 401, 403, 403, 200},
		{"GET /api/team/board", nil, nil, 401, 403, 403, 404},
		{"GET /api/team/export", nil, nil, 401, 403, 403, 404},
		{"GET /api/team/check", nil, nil, 401, 403, 403, 404},
		{"POST /api/team/join", nil, text(`{"link":"https://127.0.0.1/join#none"}`), 401, 403, 403, 422},
		{"DELETE /api/team/later/{id}", func() string { return "/api/team/later/op_x" }, nil, 401, 403, 403, 404},
		{"POST /api/team/leave", nil, text(`{}`), 401, 403, 403, 409},
		{"GET /api/team/rules", nil, nil, 401, 403, 403, 200},
		{"PUT /api/team/rules", nil, text(`{"text":"[[rool]]","revision":0}`), 401, 403, 403, 422},
		{"GET /api/team/members", nil, nil, 401, 403, 403, 200},
		{"POST /api/team/invitations", nil, text(`{"member":"Mei","role":"operator"}`), 401, 403, 403, 200},
		{"DELETE /api/team/members/{name}", text("/api/team/members/Mei"), nil, 401, 403, 403, 200},
		{"GET /api/human/operations/{id}/recordings/{recording}/ask", text("/api/human/operations/op_1/recordings/rec_1/ask"), nil, 401, 403, 403, 404},
		{"POST /api/human/operations/{id}/recordings/{recording}/ask", text("/api/human/operations/op_1/recordings/rec_1/ask"), text(`{"reason":"to learn"}`), 401, 403, 403, 404},
		{"PUT /api/team/members/{name}", text("/api/team/members/Mei"), text(`{"skills":["databases"]}`), 401, 403, 403, 200},
		{"GET /api/archives", nil, nil, 401, 403, 403, 200},
		{"POST /api/archives", nil, nil, 401, 403, 403, 200},
		{"GET /api/archives/{id}", text("/api/archives/none"), nil, 401, 403, 403, 404},
		{"DELETE /api/archives/{id}", text("/api/archives/none"), nil, 401, 403, 403, 404},
		{"POST /api/archives/{id}/verify", text("/api/archives/none/verify"), nil, 401, 403, 403, 404},
		{"POST /api/archives/{id}/restore", text("/api/archives/none/restore"), text(`{"operations":["op_1"]}`), 401, 403, 403, 404},
		{"GET /api/human/operations/{id}", func() string { return "/api/human/operations/" + fresh() }, nil, 401, 200, 404, 200},
		{"GET /api/human/operations/{id}/events", func() string { return "/api/human/operations/" + fresh() + "/events" }, nil, 401, 200, 404, 200},
		{"GET /api/human/operations/{id}/evidence", found(""), nil, 401, 200, 404, 200},
		{"GET /api/human/operations/{id}/evidence/{label}", found("/e1"), nil, 401, 200, 404, 200},
		{"GET /api/human/operations/{id}/evidence/{label}/picture", found("/e1/picture"), nil, 401, 404, 404, 200}, // it is not shared
		{"GET /api/human/summary", nil, nil, 401, 200, 200, 200},
		{"POST /api/human/reply", nil, body(fresh, `,"text":"hm"`), 401, 200, 404, 200},
		{"POST /api/human/comment", nil, body(fresh, `,"text":"hm"`), 401, 403, 403, 200},
		{"POST /api/human/cancel", nil, body(fresh, `,"reason":"done"`), 401, 200, 404, 403},
		{"POST /api/human/delivered", nil, body(fresh, ""), 401, 200, 404, 403},
		{"POST /api/human/claim", nil, body(fresh, ""), 401, 403, 403, 200},
		{"POST /api/human/release", nil, body(claimed, `,"reason":"lunch"`), 401, 403, 403, 200},
		{"POST /api/operations/{id}/handover", func() string { return "/api/operations/" + fresh() + "/handover" }, text(`{"to":"Priya","note":"the backup is checked"}`), 401, 403, 403, 200},
		{"POST /api/human/start", nil, body(fresh, ""), 401, 403, 403, 200},
		{"POST /api/human/decline", nil, body(fresh, `,"reason":"no"`), 401, 403, 403, 200},
		{"POST /api/human/input", nil, body(fresh, `,"human_input":"dra"`), 401, 403, 403, 200},
		{"POST /api/human/complete", nil, body(fresh, `,"human_input":"yes"`), 401, 403, 403, 200},
		{"POST /api/human/undo", nil, body(held, ""), 401, 403, 403, 200},
		{"POST /api/human/edited", nil, body(fresh, `,"args":{}`), 401, 403, 403, 200},
		{"POST /api/human/snooze", nil, body(fresh, `,"until":null`), 401, 403, 403, 200},
		{"POST /api/human/shown", nil, body(fresh, `,"channel":"card"`), 401, 403, 403, 200},
		{"POST /api/human/seen", nil, body(fresh, `,"channel":"card"`), 401, 403, 403, 200},
		{"GET /api/human/operations/{id}/receipts", func() string { return "/api/human/operations/" + string(rests) + "/receipts" }, nil, 401, 200, 404, 200},
		{"GET /api/human/operations/{id}/chain", func() string { return "/api/human/operations/" + string(rests) + "/chain" }, nil, 401, 403, 403, 200},
		{"GET /api/human/operations/{id}/chain/report", func() string { return "/api/human/operations/" + string(rests) + "/chain/report" }, nil, 401, 403, 403, 200},
		{"GET /api/receipts/keys", nil, nil, 401, 200, 200, 200},
		{"POST /api/receipts/keys", nil, nil, 401, 403, 403, 201},
		{"POST /api/receipts/verify", nil, text(`{"receipt":{}}`), 401, 200, 200, 200},
		{"GET /api/receipts/audit", nil, nil, 401, 403, 403, 200},
		{"POST /api/session", nil, func() string { return `{"code":"` + h.NewCode() + `"}` }, 200, 200, 200, 200},
		{"DELETE /api/session", nil, nil, 401, 403, 403, 204},
		{"POST /api/session/codes", nil, nil, 401, 403, 403, 200},
		{"POST /api/session/terminal", nil, nil, 404, 404, 404, 404},
		{"GET /api/agents", nil, nil, 401, 403, 403, 200},
		{"POST /api/agents", nil, text(`{"name":"new"}`), 401, 403, 403, 201},
		{"GET /api/agents/clients", nil, nil, 401, 403, 403, 503}, // package app has them
		{"POST /api/agents/clients/{id}/connect", text("/api/agents/clients/codex/connect"), text(`{"hash":"x"}`), 401, 403, 403, 503},
		{"POST /api/agents/clients/{id}/undo", text("/api/agents/clients/codex/undo"), nil, 401, 403, 403, 503},
		{"POST /api/agents/clients/{id}/prove", text("/api/agents/clients/codex/prove"), nil, 401, 403, 403, 503},
		{"DELETE /api/agents/{name}", func() string { h.agent("gone"); return "/api/agents/gone" }, nil, 401, 403, 403, 204},
		{"GET /api/search", text("/api/search?q=shop"), nil, 401, 403, 403, 200},
		{"GET /api/attempts", text("/api/attempts?all=true"), nil, 401, 403, 403, 200},
		{"POST /api/attempts/{id}/dismiss", text("/api/attempts/at_none/dismiss"), nil, 401, 403, 403, 404},
		{"GET /api/settings", nil, nil, 401, 403, 403, 200},
		{"PUT /api/settings", nil, text(`{"ui.theme":"dark"}`), 401, 403, 403, 200},
		{"POST /api/attachments", text("/api/attachments?name=x.txt"), text("x"), 401, 503, 503, 503}, // attachments_test.go has them
		{"GET /api/attachments/{id}", text("/api/attachments/att_x"), nil, 401, 404, 404, 404},
		{"GET /api/attachments/{id}/info", text("/api/attachments/att_x/info"), nil, 401, 404, 404, 404},
		{"GET /api/human/operations/{id}/change", func() string { return "/api/human/operations/" + string(rests) + "/change" }, nil, 401, 403, 403, 503},
		{"GET /api/human/operations/{id}/change/{blob}", func() string { return "/api/human/operations/" + string(rests) + "/change/x" }, nil, 401, 403, 403, 503},
		{"GET /api/views", nil, nil, 401, 403, 403, 200},
		{"POST /api/views", nil, text(`{"name":"Risky","page":"inbox","query":"risk=high"}`), 401, 403, 403, 200},
		{"DELETE /api/views/{id}", text("/api/views/none"), nil, 401, 403, 403, 404},
		{"GET /api/sinks", nil, nil, 401, 403, 403, 503}, // package app has them
		{"POST /api/sinks/{name}/test", text("/api/sinks/log/test"), nil, 401, 403, 403, 503},
		{"GET /api/doctor", nil, nil, 401, 403, 403, 200},
		{"POST /api/sample", nil, nil, 401, 403, 403, 204},
		{"GET /api/recorder", nil, nil, 401, 403, 403, 200},
		{"POST /api/recordings", nil, body(func() string { h.stopRecording(); return claimed() }, ""), 401, 403, 403, 201},
		{"GET /api/captures", nil, nil, 401, 403, 403, 200},
		{"POST /api/captures", nil, text(`{"kind":"all"}`), 401, 403, 403, 200},
		{"GET /api/recordings", nil, nil, 401, 403, 403, 200},
		{"GET /api/recordings/{id}", under(""), nil, 401, 200, 404, 200},
		{"POST /api/recordings/{id}/pause", running("/pause"), nil, 401, 403, 403, 200},
		{"POST /api/recordings/{id}/resume", running("/resume"), nil, 401, 403, 403, 200},
		{"POST /api/recordings/{id}/mark", running("/mark"), text(`{"text":"here"}`), 401, 403, 403, 200},
		{"POST /api/recordings/{id}/pick", running("/pick"), text(`{"field":"price"}`), 401, 403, 403, 409}, // it has no browser
		{"POST /api/recordings/{id}/show", running("/show"), nil, 401, 403, 403, 409},
		{"POST /api/recordings/{id}/stop", running("/stop"), nil, 401, 403, 403, 200},
		{"POST /api/recordings/{id}/discard", running("/discard"), nil, 401, 403, 403, 204},
		{"GET /api/recordings/{id}/actions", under("/actions"), nil, 401, 200, 404, 200},
		{"GET /api/recordings/{id}/events", under("/events"), nil, 401, 403, 403, 200},
		{"GET /api/recordings/{id}/edits", under("/edits"), nil, 401, 403, 403, 200},
		{"PUT /api/recordings/{id}/edits", under("/edits"), text(`{"version":1,"share_pictures":true}`), 401, 403, 403, 200},
		{"GET /api/recordings/{id}/pictures/{picture}", under("/pictures/" + released.picture), nil, 401, 200, 404, 200},
		{"GET /api/recordings/{id}/exports", under("/exports"), nil, 401, 200, 404, 200},
		{"GET /api/recordings/{id}/export", under("/export"), nil, 401, 200, 404, 200},
		{"GET /api/recordings/{id}/cast", under("/cast"), nil, 401, 403, 404, 404},
		{"POST /api/recordings/{id}/replay", under("/replay"), text(`{}`), 401, 403, 403, 202},
		{"GET /api/recordings/{id}/replay", under("/replay"), nil, 401, 403, 403, 200},
		{"DELETE /api/recordings/{id}/replay", under("/replay"), nil, 401, 403, 403, 200},
		{"DELETE /api/recordings/{id}", func() string { return "/api/recordings/" + string(h.recorded(bot, false).ID) }, nil, 401, 403, 403, 204},
		{"GET /api/summarizers", nil, nil, 401, 403, 403, 200},
		{"DELETE /api/summarizers/consents/{id}", text("/api/summarizers/consents/x"), nil, 401, 403, 403, 404},
		{"GET /api/human/operations/{id}/summaries", of("/summaries"), nil, 401, 403, 403, 200},
		{"POST /api/human/operations/{id}/summaries", of("/summaries"), text(`{}`), 401, 403, 403, 202},
		{"POST /api/human/operations/{id}/summaries/{summary}/stop", of("/summaries/sum_x/stop"), nil, 401, 403, 403, 404},
		{"GET /api/human/operations/{id}/summaries/preview", of("/summaries/preview?with=model"), nil, 401, 403, 403, 404},
		{"POST /api/recordings/{id}/summary", under("/summary"), text(`{}`), 401, 403, 403, 200},
		{"POST /api/gate/evaluate", nil, text(`{"tool":"bash","args":{"command":"ls"}}`), 401, 200, 200, 403},
		{"POST /api/gate/try", nil, text(`{"tool":"bash","args":{"command":"rm -rf /"},"policy":"strict"}`), 401, 403, 403, 200},
		{"GET /api/gate", nil, nil, 401, 403, 403, 200},
		{"PUT /api/gate/policy", nil, text(`{"policy":"balanced"}`), 401, 403, 403, 200},
		{"GET /api/gate/questions/{id}", asks(""), nil, 401, 403, 403, 200},
		{"GET /api/gate/questions/{id}/difference", asks("/difference"), nil, 401, 403, 403, 200},
		{"POST /api/gate/questions/{id}/put-back", asks("/put-back"), func() string { return `{"digest":"` + question.Digest + `"}` }, 401, 403, 403, 409}, // nothing changed
		{"POST /api/gate/questions/{id}/answer", asks("/answer"), func() string { return `{"choice":"deny","digest":"` + question.Digest + `"}` }, 401, 403, 403, 200},
		{"GET /api/gate/decisions", text("/api/gate/decisions?limit=5&decision=ask"), nil, 401, 403, 403, 200},
		{"GET /api/gate/trust", text("/api/gate/trust?days=7"), nil, 401, 403, 403, 200},
		{"GET /api/gate/rules", nil, nil, 401, 403, 403, 200},
		{"POST /api/gate/rules", nil, text(rule), 401, 403, 403, 200},
		{"POST /api/gate/rules/preview", nil, text(rule), 401, 403, 403, 200},
		{"DELETE /api/gate/rules/{id}", text("/api/gate/rules/none"), nil, 401, 403, 403, 404},
		{"GET /api/gate/proposals", nil, nil, 401, 403, 403, 200},
		{"DELETE /api/gate/proposals/{key}", text("/api/gate/proposals/p_1"), nil, 401, 403, 403, 204},
		{"GET /api/backups", nil, nil, 401, 403, 403, 200},
		{"GET /api/backups/{id}", text("/api/backups/none"), nil, 401, 403, 403, 404},
		{"POST /api/backups/{id}/restore", text("/api/backups/none/restore"), nil, 401, 403, 403, 404},
		{"GET /api/procedures", nil, nil, 401, 403, 403, 200},
		{"POST /api/procedures", nil, text(`{"file":"{deskbell_procedure: 1, name: taught, title: T, where: browser, does: [reads], steps: [{id: s1, do: navigate, title: O, url: \"https://portal.example/\", then: [{is: title, text: P}]}]}"}`), 401, 403, 403, 201},
		{"POST /api/procedure-drafts", nil, text(`{"recordings":["rec_none"]}`), 401, 403, 403, 404},
		{"POST /api/procedure-checks", nil, text(`{"file":"deskbell_procedure: 1"}`), 401, 403, 403, 200},
		{"GET /api/procedure-tools", nil, nil, 401, 200, 200, 200},
		{"GET /api/procedures/{name}", text("/api/procedures/taught"), nil, 401, 403, 403, 200},
		{"POST /api/procedures/{name}/runs", text("/api/procedures/taught/runs"), text(`{}`), 401, 201, 201, 201},
		{"GET /api/procedures/{name}/file", text("/api/procedures/taught/file"), nil, 401, 403, 403, 200},
		{"GET /api/procedures/{name}/unattended", text("/api/procedures/taught/unattended"), nil, 401, 403, 403, 200},
		{"PUT /api/procedures/{name}/unattended", text("/api/procedures/taught/unattended"), text(`{"version":1,"sha256":"x","agents":["bot"],"most_a_day":1,"until":"2099-01-01T00:00:00Z"}`), 401, 403, 403, 409},
		{"DELETE /api/procedures/{name}/unattended", text("/api/procedures/taught/unattended"), nil, 401, 403, 403, 200},
		{"PUT /api/procedures/{name}/agents", text("/api/procedures/taught/agents"), text(`{"agents":["bot"]}`), 401, 403, 403, 200},
		{"DELETE /api/procedures/{name}", text("/api/procedures/taught"), nil, 401, 403, 403, 204},
		{"GET /api/procedure-proposals", nil, nil, 401, 403, 403, 200},
		{"DELETE /api/procedure-proposals/{id}", text("/api/procedure-proposals/op_none"), nil, 401, 403, 403, 404},
		{"GET /api/operations/{id}/offers", text("/api/operations/op_none/offers"), nil, 401, 403, 403, 404},
		{"POST /api/operations/{id}/offers", text("/api/operations/op_none/offers"), text(`{"procedure":"taught","version":1,"sha256":"x"}`), 401, 403, 403, 404},
		{"POST /api/operations/{id}/procedure", text("/api/operations/op_none/procedure"), nil, 401, 403, 403, 404},
		{"GET /api/operations/{id}/procedure", text("/api/operations/op_none/procedure"), nil, 401, 403, 403, 404},
		{"GET /api/operations/{id}/procedure/correction", text("/api/operations/op_none/procedure/correction"), nil, 401, 403, 403, 404},
		{"POST /api/operations/{id}/procedure/orders", text("/api/operations/op_none/procedure/orders"), text(`{"do":"pause"}`), 401, 403, 403, 404},
		{"POST /api/plans", nil, text(`{"session_id":"mine",` + twoTasks + `}`), 401, 201, 201, 403},
		{"GET /api/plans/{session_id}", text("/api/plans/ours"), nil, 401, 200, 404, 200},
		{"POST /api/plans/{session_id}/response", planned("/response"), func() string { return h.responds("confirm", plans) }, 401, 403, 403, 200},
		{"POST /api/plans/{session_id}/progress", runs("/progress"), text(`{"task_id":"t1","state":"running"}`), 401, 200, 404, 403},
		{"POST /api/plans/{session_id}/orders", runs("/orders"), text(`{"order":"pause"}`), 401, 403, 403, 200},
		{"POST /api/plans/{session_id}/assess", text("/api/plans/ours/assess"), text(`{"tasks":[{"description":"x"}]}`), 401, 403, 403, 200},
		{"POST /api/plans/{session_id}/try", text("/api/plans/ours/try"), text(`{"command":"ls"}`), 401, 403, 403, 409}, // it names no folder
		{"GET /api/plans/{session_id}/history", text("/api/plans/ours/history"), nil, 401, 403, 403, 200},
		{"GET /api/plan-confirming", nil, nil, 401, 200, 200, 200},
		{"GET /api/plan-presets", nil, nil, 401, 200, 200, 200},
		{"POST /api/plan-presets", nil, text(`{"name":"n","tasks":[{"description":"x"}]}`), 401, 403, 403, 200},
		{"DELETE /api/plan-presets/{id}", text("/api/plan-presets/none"), nil, 401, 403, 403, 404},
		{"GET /api/plan-statistics", text("/api/plan-statistics?days=7"), nil, 401, 403, 403, 200},
		{"GET /api/agent", nil, nil, 401, 200, 200, 200},
		{"POST /api/agent/{name}/messages", text("/api/agent/music/messages"), text(`{"message":"hello"}`), 401, 200, 200, 200},
		{"GET /api/agent/conversations", nil, nil, 401, 403, 403, 200},
		{"GET /api/agent/conversations/{id}", text("/api/agent/conversations/run_1"), nil, 401, 403, 403, 200},
		{"POST /api/agent/conversations/{id}/stop", text("/api/agent/conversations/chat_1/stop"), nil, 401, 403, 403, 200},
		{"POST /api/agent/runs", nil, text(`{"task":"go"}`), 401, 403, 403, 201},
		{"POST /api/agent/runs/{id}/stop", text("/api/agent/runs/run_1/stop"), nil, 401, 403, 403, 200},
		{"POST /api/agent/runs/{id}/resume", text("/api/agent/runs/run_1/resume"), nil, 401, 403, 403, 200},
		{"GET /api/agent/runs", nil, nil, 401, 403, 403, 200},
		{"GET /api/agent/runs/{id}", text("/api/agent/runs/run_1"), nil, 401, 403, 403, 200},
		{"GET /api/ws", nil, nil, 401, 426, 426, 426},
		{"POST /api/operations/{id}/terminal", text("/api/operations/op_x/terminal"), text(`{"cols":80,"rows":24}`), 401, 403, 403, 503}, // the tests of terminals have some
		{"GET /api/operations/{id}/terminal", text("/api/operations/op_x/terminal"), nil, 401, 403, 403, 503},
		{"DELETE /api/operations/{id}/terminal", text("/api/operations/op_x/terminal"), nil, 401, 403, 403, 503},
		{"GET /api/operations/{id}/terminal/socket", text("/api/operations/op_x/terminal/socket"), nil, 401, 403, 403, 503},
		{"GET /api/stepup", nil, nil, 401, 403, 403, 200},
		{"POST /api/stepup", nil, text(`{"challenge":"none","means":"pin"}`), 401, 403, 403, 404},
		{"PUT /api/stepup/policy", nil, text(`{"answers":"high","rules":false,"keys":false,"gatekeeper":false}`), 401, 403, 403, 200},
		{"PUT /api/stepup/system", nil, text(`{"on":false}`), 401, 403, 403, 200},
		{"POST /api/stepup/passkeys/options", nil, text("{}"), 401, 403, 403, 503},
		{"POST /api/stepup/passkeys", nil, text(`{"name":"key","credential":{}}`), 401, 403, 403, 503}, // no page asks
		{"DELETE /api/stepup/passkeys/{id}", text("/api/stepup/passkeys/none"), nil, 401, 403, 403, 404},
		{"GET /api/phone", nil, nil, 401, 403, 403, 200},
		{"POST /api/phone/pair", nil, text(`{"code":"x"}`), 404, 404, 404, 404}, // phones come in by their own door
		{"POST /api/phone/session", nil, text(`{}`), 404, 404, 404, 404},
		{"POST /api/phone/pairing", nil, text(`{}`), 401, 403, 403, 409},
		{"DELETE /api/phone/devices/{id}", text("/api/phone/devices/none"), nil, 401, 403, 403, 404},
		{"POST /api/phone/devices/{id}/confirm", text("/api/phone/devices/none/confirm"), text(`{}`), 401, 403, 403, 404},
		{"PUT /api/phone", nil, text(`{"on":false}`), 401, 403, 403, 200},
		{"POST /api/stepup/uninstall", nil, nil, 401, 403, 403, 200},
		{"DELETE /api/stepup/pin", nil, nil, 401, 403, 403, 200},
		{"DELETE /api/stepup/notices", nil, nil, 401, 403, 403, 200},
		{"PUT /api/stepup/pin", nil, text(`{"pin":"123456"}`), 401, 403, 403, 200},
		{"GET /healthz", nil, nil, 200, 200, 200, 200},
		{"GET /readyz", nil, nil, 200, 200, 200, 200},
		{"GET /metrics", nil, nil, 404, 404, 404, 404}, // off; monitoring_test.go has them
		{"GET /api/openapi.json", nil, nil, 200, 200, 200, 200},
	} {
		t.Run(c.call, func(t *testing.T) {
			method, path, _ := strings.Cut(c.call, " ")
			for who, want := range map[string]int{"": c.nobody, bot: c.agent, stranger: c.other, "ada": c.ada} {
				if who == "ada" {
					who = h.WindowToken() // DELETE /api/session ends it
				}
				to, send := path, ""
				if c.path != nil {
					to = c.path()
				}
				if c.body != nil {
					send = c.body()
				}
				r := h.send(method, to, who, send, nil)
				if r.status != want {
					t.Errorf("%.4s…: status %d, want %d: %s", who, r.status, want, r.body)
				}
				if r.status >= 400 {
					r.problem(want, "")
				}
				if r.status == 401 && !strings.HasPrefix(r.header.Get("WWW-Authenticate"), "Bearer") {
					t.Errorf("401 without WWW-Authenticate")
				}
			}
		})
		covered[c.call] = true
	}
	for path, item := range description(t).Paths {
		for method := range item {
			if call := strings.ToUpper(method) + " " + path; !covered[call] {
				t.Errorf("%s is described and not tested", call)
			}
		}
	}
}

var covered = map[string]bool{}

func TestBadRequests(t *testing.T) {
	h := openFixture(t, func(d *Deps, q *queue.Options) { full(d, q); d.MaxBody = 3 << 20 })
	bot, other := h.agent("bot"), h.agent("other")
	theirs := h.ring(other, "theirs")
	ended := h.ring(bot, "ended")
	h.post("/api/human/complete", h.op, idBody(ended.ID, `,"human_input":"ok"`)).operation(200)
	approval := h.post("/api/human/invoke", bot, `{"action_type":"approve","description":"deploy?"}`).operation(201)
	invoke := "/api/human/invoke"
	ring := func(more string) string { return `{"action_type":"feedback","description":"d"` + more + `}` }
	for name, c := range map[string]struct {
		path, key, body string
		status          int
		says, at        string
	}{
		"unknown action":            {invoke, bot, `{"action_type":"dance","description":"d"}`, 422, `"dance" is not one of`, "body.action_type"},
		"missing action":            {invoke, bot, `{"description":"d"}`, 422, "action_type", "body.action_type"},
		"missing description":       {invoke, bot, `{"action_type":"bash"}`, 422, "description: is missing", "body.description"},
		"blank description":         {invoke, bot, `{"action_type":"bash","description":" \n"}`, 422, "description: is missing", "body.description"},
		"wrong type":                {invoke, bot, ring(`,"priority":"high"`), 422, "priority: must be a whole number, not a string", "body.priority"},
		"wrong type of details":     {invoke, bot, ring(`,"details":[1]`), 422, "details: must be a JSON object", "body.details"},
		"priority out of range":     {invoke, bot, ring(`,"priority":10`), 422, "from 0 to 9", "body.priority"},
		"negative timeout":          {invoke, bot, ring(`,"timeout":-1`), 422, "seconds", "body.timeout"},
		"unknown on_timeout":        {invoke, bot, ring(`,"on_timeout":"explode"`), 422, "mark, cancel", "body.on_timeout"},
		"unknown field":             {invoke, bot, ring(`,"urgent":true`), 422, "urgent: no such field", "body.urgent"},
		"too long a description":    {invoke, bot, `{"action_type":"bash","description":"` + strings.Repeat("x", 16<<10+1) + `"}`, 422, "the limit is 16384", "body.description"},
		"too large details":         {invoke, bot, ring(`,"details":{"x":"` + strings.Repeat("x", 1<<20) + `"}`), 422, "the limit is", "body.details"},
		"too large a body":          {invoke, bot, ring(`,"details":{"x":"` + strings.Repeat("x", 3<<20) + `"}`), 413, "larger than 3145728 bytes", ""},
		"half a JSON":               {invoke, bot, `{"action_type":"bash","descr`, 400, "half a JSON object: it ends at byte 28", ""},
		"no JSON":                   {invoke, bot, `action=bash`, 400, "not JSON", ""},
		"two JSONs":                 {invoke, bot, ring("") + ring(""), 400, "something follows", ""},
		"an array":                  {invoke, bot, `[]`, 422, "must be a JSON object, not an array", ""},
		"nothing":                   {invoke, bot, ``, 400, "the body is missing", ""},
		"not UTF-8":                 {invoke, bot, "{\"action_type\":\"bash\",\"description\":\"\xff\"}", 400, "not valid UTF-8", ""},
		"no operation":              {"/api/human/reply", bot, `{"text":"x"}`, 422, "operation_id: is missing", "body.operation_id"},
		"unknown operation":         {"/api/human/reply", bot, idBody("op_none", `,"text":"x"`), 404, "op_none", ""},
		"somebody else's":           {"/api/human/reply", bot, idBody(theirs.ID, `,"text":"x"`), 404, string(theirs.ID), ""},
		"somebody else's to cancel": {"/api/human/cancel", bot, idBody(theirs.ID, ``), 404, string(theirs.ID), ""},
		"cancel what has ended":     {"/api/human/cancel", bot, idBody(ended.ID, ``), 409, "was completed by ada at", ""},
		"complete it again":         {"/api/human/complete", h.op, idBody(ended.ID, `,"human_input":"no"`), 409, "was completed by ada at", ""},
		"complete nothing":          {"/api/human/complete", h.op, idBody(theirs.ID, ``), 422, "human_input: is missing", "body.human_input"},
		"no decision":               {"/api/human/complete", h.op, idBody(approval.ID, `,"human_input":"sure","digest":"`+approval.Digest+`"`), 422, "decision: is missing", "body.decision"},
		"no digest":                 {"/api/human/complete", h.op, idBody(approval.ID, `,"decision":"approve"`), 422, "digest: is missing", "body.digest"},
		"unknown decision":          {"/api/human/complete", h.op, idBody(approval.ID, `,"decision":"maybe"`), 422, "approve, deny", "body.decision"},
		"decision of a wrong type":  {"/api/human/complete", h.op, idBody(approval.ID, `,"decision":true`), 422, "decision: must be a string", "body.decision"},
		"other bytes than shown":    {"/api/human/complete", h.op, idBody(approval.ID, `,"decision":"approve","digest":"00"`), 409, "another version", ""},
		"decline without a reason":  {"/api/human/decline", h.op, idBody(theirs.ID, ``), 422, "reason: is missing", "body.reason"},
		"snooze into the past":      {"/api/human/snooze", h.op, idBody(theirs.ID, `,"until":"2001-01-01T00:00:00Z"`), 422, "in the past", "body.until"},
		"no time":                   {"/api/human/snooze", h.op, idBody(theirs.ID, `,"until":"tomorrow"`), 422, `until: "tomorrow" is not a time`, "body.until"},
		"unknown field of a finding": {
			"/api/human/complete", h.op, idBody(theirs.ID, `,"human_input":"x","findings":[{"kind":"note","text":"a"},{"kind":"note","words":"b"}]`),
			422, "findings[1].words: no such field; there are finding_id, kind, text,", "body.findings[1].words",
		},
		"a finding that is a text": {
			"/api/human/complete", h.op, idBody(theirs.ID, `,"human_input":"x","findings":["a"]`), 422, "findings[0]: must be an object, not a string", "body.findings[0]",
		},
		"a finding's text of a wrong type": {
			"/api/human/complete", h.op, idBody(theirs.ID, `,"human_input":"x","findings":[{"kind":"note","text":3}]`), 422, "findings[0].text: must be a string", "body.findings[0].text",
		},
		"unknown channel":          {"/api/human/shown", h.op, idBody(theirs.ID, `,"channel":"pigeon"`), 422, "pigeon", "body.channel"},
		"release what is nobody's": {"/api/human/release", h.op, idBody(theirs.ID, ``), 409, "not claimed", ""},
		"bad agent name":           {"/api/agents", h.op, `{"name":"../etc"}`, 422, "letters, digits", "body.name"},
		"unknown setting":          {"/api/settings", h.op, `{"ui.colour":"dark"}`, 422, "no such setting", "body.ui.colour"},
		"no code":                  {"/api/session", "", `{}`, 422, "code: is missing", "body.code"},
		"wrong code":               {"/api/session", "", `{"code":"AAAAA-AAAAA"}`, 401, "wrong, used or expired", ""},
	} {
		t.Run(name, func(t *testing.T) {
			method := http.MethodPost
			if c.path == "/api/settings" {
				method = http.MethodPut
			}
			p := h.send(method, c.path, c.key, c.body, nil).problem(c.status, c.says)
			at := ""
			if len(p.Errors) > 0 {
				at = p.Errors[0].Location
			}
			if at != c.at {
				t.Errorf("the error is at %q, want %q", at, c.at)
			}
		})
	}
	var page Page
	h.get("/api/human/operations?limit=500", h.op).into(&page)
	if len(page.Operations) != 3 {
		t.Errorf("there are %d operations after only refusals, want 3", len(page.Operations))
	}
}

func TestBadQueries(t *testing.T) {
	h := openFixture(t, nil)
	bot := h.agent("bot")
	op := h.ring(bot, "x")
	for path, says := range map[string]string{
		"/api/human/operations?state=lost":                                       "expected value to be one of",
		"/api/human/operations?order=random":                                     "order: ",
		"/api/human/operations?limit=0":                                          "limit: ",
		"/api/human/operations?limit=501":                                        "limit: ",
		"/api/human/operations?limit=many":                                       "limit: ",
		"/api/human/operations?cursor=garbage":                                   "cursor",
		"/api/human/operations?sort=up":                                          "sort: unknown query parameter",
		"/api/human/operations/" + string(op.ID) + "?wait=61":                    "wait: expected number <= 60",
		"/api/human/operations/" + string(op.ID) + "?wait=long":                  "wait: ",
		"/api/human/operations/" + string(op.ID) + "?after_version=-1":           "after_version: ",
		"/api/human/operations/" + string(op.ID) + "?ack=maybe":                  "ack: ",
		"/api/human/operations?zone=Mars":                                        "zone",
		"/api/human/operations?hour=169":                                         "hour: ",
		"/api/human/operations?risk=odd":                                         "risk: ",
		"/api/human/summary?since=yesterday":                                     "since: ",
		"/api/human/operations?q=" + strings.Repeat("x", 501):                    "q: ",
		"/api/human/operations?action_type=dance":                                "action_type: ",
		"/api/human/operations/" + string(op.ID) + "/events?after=" + "anything": "after: unknown query parameter",
	} {
		h.get(path, bot).problem(422, says)
	}
	h.get("/api/human/operations/op_none", bot).problem(404, "op_none")
	h.get("/api/nothing", bot).problem(404, "no call /api/nothing")
	p := h.get("/api/human/claim", h.op)
	p.problem(405, "use POST")
	if p.header.Get("Allow") != "POST" {
		t.Errorf("Allow is %q", p.header.Get("Allow"))
	}
	h.send("PATCH", "/api/agents", h.op, "{}", nil).problem(405, "use GET or POST")
	h.send("POST", "/api/human/invoke", bot, "{}", func(r *http.Request) {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}).problem(415, "Content-Type: application/json")
}

func TestSecretsStayOutOfAddresses(t *testing.T) {
	h := openFixture(t, nil)
	bot := h.agent("bot")
	for _, name := range []string{"token", "access_token", "key", "api_key", "KEY", "code"} {
		p := h.get("/api/human/operations?"+name+"="+bot, "").problem(400, "Authorization: Bearer")
		if strings.Contains(p.Detail, bot) {
			t.Errorf("the refusal repeats the key")
		}
	}
	h.get("/?token=x", "").problem(400, "logs and histories")
}

func TestWhoRingsWithWhichKey(t *testing.T) {
	h := openFixture(t, nil)
	bot := h.agent("bot")
	for name, header := range map[string]string{
		"basic": "Basic " + bot, "bare": bot, "empty": "Bearer ", "half": "Bearer " + bot[:20], "wrong": "Bearer " + altered(bot), "no session": "Bearer dbo_x",
	} {
		t.Run(name, func(t *testing.T) {
			h.send("GET", "/api/human/operations", "", "", func(r *http.Request) { r.Header.Set("Authorization", header) }).problem(401, "")
		})
	}
	h.send("DELETE", "/api/agents/bot", h.op, "", nil)
	h.get("/api/human/operations", bot).problem(401, "revoked")
	h.send("DELETE", "/api/agents/bot", h.op, "", nil).problem(404, "bot")
}

// altered is the key with another last character.
func altered(key string) string {
	last := "a"
	if strings.HasSuffix(key, last) {
		last = "b"
	}
	return key[:len(key)-1] + last
}

func TestAgents(t *testing.T) {
	h := openFixture(t, nil)
	var key NewKey
	h.post("/api/agents", h.op, `{"name":"bot"}`).into(&key)
	h.ring(key.Key, "x")
	h.agent("idle")
	var list AgentList
	h.get("/api/agents", h.op).into(&list)
	if len(list.Agents) != 2 || list.Agents[0].Name != "bot" || list.Agents[1].Name != "idle" {
		t.Fatalf("agents %+v", list.Agents)
	}
	bot, idle := list.Agents[0], list.Agents[1]
	if bot.Pending != 1 || bot.LastSeen == nil || bot.RevokedAt != nil || idle.LastSeen != nil || idle.Pending != 0 {
		t.Errorf("agents %+v", list.Agents)
	}
	h.send("DELETE", "/api/agents/idle", h.op, "", nil)
	h.get("/api/agents", h.op).into(&list)
	if list.Agents[1].RevokedAt == nil {
		t.Errorf("a revoked agent does not show it: %+v", list.Agents[1])
	}
}

func TestExactBytes(t *testing.T) {
	h := openFixture(t, nil)
	bot := h.agent("bot")
	details := `{"action":  "rm -rf <tmp> && echo ü & \u003c","n":1.0, "big":12345678901234567890,"action2":"a","e":{ }}`
	about := "{ \"a\" :\n [1,  2] }"
	op := h.post("/api/human/invoke", bot, `{"action_type":"bash","description":"<x>","details": `+details+` ,"context":`+about+`}`).operation(201)
	got, err := h.queue.Get(t.Context(), human.Actor{Role: human.Operator}, op.ID)
	must(t, err)
	for name, body := range map[string][]byte{
		"invoke": h.post("/api/human/invoke", bot, `{"action_type":"bash","description":"<x>","idempotency_key":"k","details":`+details+`,"context":`+about+`}`).body,
		"get":    h.get("/api/human/operations/"+string(op.ID), bot).body,
		"events": h.get("/api/human/operations/"+string(op.ID)+"/events", h.op).body,
	} {
		if !bytes.Contains(body, []byte(`"details":`+details)) || !bytes.Contains(body, []byte(`"context":`+about)) || !json.Valid(body) {
			t.Errorf("%s: not the bytes that were sent: %s", name, body)
		}
	}
	if op.Digest != got.Request().Digest() {
		t.Errorf("digest %s is not that of the stored request", op.Digest)
	}
}

func TestSameKeySameOperation(t *testing.T) {
	h := openFixture(t, nil)
	bot := h.agent("bot")
	body := `{"action_type":"feedback","description":"once","idempotency_key":"k1"}`
	first := h.post("/api/human/invoke", bot, body).operation(http.StatusCreated)
	again := h.post("/api/human/invoke", bot, body).operation(http.StatusOK)
	if first.ID != again.ID {
		t.Errorf("two operations for one key: %s, %s", first.ID, again.ID)
	}
	h.post("/api/human/invoke", bot, `{"action_type":"feedback","description":"other","idempotency_key":"k1"}`).problem(409, "k1")
	h.post("/api/human/invoke", h.agent("other"), body).operation(http.StatusCreated)

	words := `{"action_type":"feedback","description":"same words","session_id":"s","attach":true}`
	first = h.post("/api/human/invoke", bot, words).operation(http.StatusCreated)
	if again = h.post("/api/human/invoke", bot, words).operation(http.StatusOK); again.ID != first.ID {
		t.Errorf("attach rang twice")
	}
}

func TestDefaultsOfARing(t *testing.T) {
	h := openFixture(t, func(_ *Deps, q *queue.Options) { q.DefaultTimeout = 120 * time.Second; q.MaxPending = 2 })
	bot := h.agent("bot")
	op := h.ring(bot, "x")
	if op.Priority != 5 || op.Timeout != 120 || op.OnTimeout != human.Mark || op.ExpiresAt == nil || op.State != human.Pending {
		t.Errorf("defaults: %+v", op)
	}
	op = h.post("/api/human/invoke", bot, `{"action_type":"feedback","description":"x","timeout":0,"priority":0}`).operation(201)
	if op.Timeout != 0 || op.ExpiresAt != nil || op.Priority != 0 {
		t.Errorf("explicit zeros: %+v", op)
	}
	h.post("/api/human/invoke", bot, `{"action_type":"feedback","description":"third"}`).problem(429, "max_pending_requests is 2")
}

func TestListsAndSummary(t *testing.T) {
	h := openFixture(t, nil)
	bot, other := h.agent("bot"), h.agent("other")
	low := h.post("/api/human/invoke", bot, `{"action_type":"bash","description":"low","priority":1,"details":{"x":1}}`).operation(201)
	high := h.post("/api/human/invoke", other, `{"action_type":"review","description":"high","priority":9}`).operation(201)
	done := h.ring(bot, "finished thing")
	h.post("/api/human/complete", h.op, idBody(done.ID, `,"human_input":"it is blue"`)).operation(200)
	list := func(query, key string) string {
		var page Page
		r := h.get("/api/human/operations"+query, key)
		if r.status != 200 {
			t.Fatalf("%s: %s", query, r.body)
		}
		r.into(&page)
		var ids []string
		for _, op := range page.Operations {
			if op.Details != nil {
				t.Errorf("a list carries details")
			}
			ids = append(ids, string(op.ID))
		}
		return strings.Join(ids, " ")
	}
	l, hi, d := string(low.ID), string(high.ID), string(done.ID)
	for query, want := range map[string]string{
		"":                            d + " " + hi + " " + l,
		"?order=urgent&state=open":    hi + " " + l,
		"?state=closed":               d,
		"?state=completed,pending":    d + " " + hi + " " + l,
		"?action_type=bash":           l,
		"?agent_id=other":             hi,
		"?q=finish":                   d,
		"?order=recent&limit=1":       d,
		"?state=pending&agent_id=bot": l,
		"?state=declined":             "",
	} {
		if got := list(query, h.op); got != want {
			t.Errorf("%q gives %q, want %q", query, got, want)
		}
	}
	if got := list("?agent_id=other", bot); got != d+" "+l {
		t.Errorf("an agent sees %q", got)
	}
	var page Page
	h.get("/api/human/operations?limit=2", h.op).into(&page)
	if got := list("?limit=2&cursor="+page.Next, h.op); got != l {
		t.Errorf("the second page is %q, want %q", got, l)
	}
	if p := h.get("/api/human/operations", bot); bytes.Contains(p.body, []byte("presence")) {
		t.Errorf("an agent sees presence: %s", p.body)
	}
	var sum Memory
	h.get("/api/human/summary", bot).into(&sum)
	if !strings.Contains(sum.Text, "it is blue") || len(sum.Operations) != 2 {
		t.Errorf("summary %+v", sum)
	}
	h.get("/api/human/summary?since=2100-01-01T00:00:00Z", bot).into(&sum)
	if len(sum.Operations) != 0 {
		t.Errorf("since leaves %d operations", len(sum.Operations))
	}
}

func TestLongPoll(t *testing.T) {
	h := openFixture(t, nil)
	bot := h.agent("bot")
	op := h.ring(bot, "wait for me")
	path := "/api/human/operations/" + string(op.ID)
	got := make(chan reply, 1)
	go func() { got <- h.get(path+"?wait=60&after_version=1", bot) }()
	until(t, "the agent is shown as waiting", func() bool { return h.queue.PresenceOf(op.ID).Waiting })
	var seen Operation
	h.get(path, h.op).into(&seen)
	if seen.Presence == nil || !seen.Presence.Waiting || seen.Presence.LastContact == nil {
		t.Errorf("the operator does not see that the agent waits: %+v", seen.Presence)
	}
	h.post("/api/human/claim", h.op, idBody(op.ID, "")).operation(200)
	if r := <-got; r.operation(200).State != human.Claimed {
		t.Errorf("the wait ended with %s", r.body)
	}
	if v := h.get(path+"?wait=60", bot).operation(200).Version; v != 2 {
		t.Errorf("a wait for a version that is there gave %d", v)
	}
	start := time.Now()
	if v := h.get(path+"?wait=0.95&after_version=2", bot).operation(200).Version; v != 2 || time.Since(start) < 900*time.Millisecond {
		t.Errorf("a wait of 1 s ended after %s with version %d", time.Since(start), v)
	}
}

func TestDeliveryOfTheEnd(t *testing.T) {
	h := openFixture(t, nil)
	bot := h.agent("bot")
	op := h.ring(bot, "x")
	path := "/api/human/operations/" + string(op.ID)
	delivered := func() bool { return h.get(path, h.op).operation(200).DeliveredAt != nil }
	h.get(path, bot)
	h.post("/api/human/delivered", bot, idBody(op.ID, "")).operation(200)
	h.post("/api/human/complete", h.op, idBody(op.ID, `,"human_input":"y"`)).operation(200)
	h.get(path+"?ack=explicit", bot).operation(200)
	h.work.Wait()
	if delivered() {
		t.Fatal("delivered before the agent has read it")
	}
	h.get(path+"?wait=5", bot).operation(200)
	until(t, "delivered once the agent has read it", delivered)

	late := h.post("/api/human/reply", h.op, idBody(op.ID, `,"text":"one more thing"`)).operation(200)
	if late.State != human.Completed || late.DeliveredAt != nil || len(late.Messages) != 1 {
		t.Errorf("a word after the end: %+v", late)
	}
	h.post("/api/human/delivered", bot, idBody(op.ID, "")).operation(200)
	if !delivered() {
		t.Error("the agent's own word does not count")
	}
}

func TestDraftsAreTheOperatorsOwn(t *testing.T) {
	h := openFixture(t, nil)
	bot := h.agent("bot")
	op := h.ring(bot, "x")
	until := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	h.post("/api/human/snooze", h.op, idBody(op.ID, `,"until":"`+until+`"`)).operation(200)
	h.post("/api/human/shown", h.op, idBody(op.ID, `,"channel":"notification","failed":"no daemon"`)).operation(200)
	saved := h.post("/api/human/input", h.op, idBody(op.ID, `,"human_input":"secret draft"`)).operation(200)
	if saved.Draft == nil || saved.Draft.HumanInput != "secret draft" || len(saved.Deliveries) != 1 {
		t.Fatalf("the operator sees %+v", saved)
	}
	for _, path := range []string{"", "/events"} {
		r := h.get("/api/human/operations/"+string(op.ID)+path, bot)
		for _, word := range []string{"secret", "snooze", "no daemon", "deliveries", "presence"} {
			if bytes.Contains(r.body, []byte(word)) {
				t.Errorf("%s tells the agent of %q: %s", path, word, r.body)
			}
		}
	}
	if op := h.post("/api/human/input", h.op, idBody(op.ID, "")).operation(200); op.Draft != nil {
		t.Errorf("an empty draft is kept: %+v", op.Draft)
	}
}

func TestAnAnswerIsUndone(t *testing.T) {
	h := openFixture(t, nil)
	bot := h.agent("bot")
	op := h.ring(bot, "x")
	held := h.post("/api/human/complete", h.op, idBody(op.ID, `,"human_input":"too quick","undoable":true`)).operation(200)
	if held.Leaving == nil || held.Leaving.HumanInput != "too quick" || held.Leaving.LeavesAt.Sub(held.Leaving.At).Round(time.Second) != queue.DefaultUndoTime {
		t.Fatalf("held: %+v", held.Leaving)
	}
	for _, path := range []string{"", "/events"} {
		if r := h.get("/api/human/operations/"+string(op.ID)+path, bot); bytes.Contains(r.body, []byte("quick")) || bytes.Contains(r.body, []byte("leav")) || bytes.Contains(r.body, []byte("held")) {
			t.Errorf("%s tells the agent: %s", path, r.body)
		}
	}
	h.post("/api/human/release", h.op, idBody(op.ID, "")).problem(409, "undo it to change anything")
	if back := h.post("/api/human/undo", h.op, idBody(op.ID, "")).operation(200); back.Draft == nil || back.Draft.HumanInput != "too quick" || back.Leaving != nil {
		t.Errorf("undone: %+v", back)
	}
	h.post("/api/human/undo", h.op, idBody(op.ID, "")).problem(409, "no answer that can be undone")
	held = h.post("/api/human/decline", h.op, idBody(op.ID, `,"reason":"not my desk","undoable":true`)).operation(200)
	if held.Leaving == nil || held.Leaving.Declined != "not my desk" {
		t.Fatalf("held: %+v", held.Leaving)
	}
	for _, path := range []string{"", "/events"} {
		if r := h.get("/api/human/operations/"+string(op.ID)+path, bot); bytes.Contains(r.body, []byte("desk")) || bytes.Contains(r.body, []byte("held")) {
			t.Errorf("%s tells the agent: %s", path, r.body)
		}
	}
	if back := h.post("/api/human/undo", h.op, idBody(op.ID, "")).operation(200); back.Draft == nil || back.Draft.HumanInput != "too quick" || back.Leaving != nil {
		t.Errorf("undone: %+v", back)
	}
	if done := h.post("/api/human/complete", h.op, idBody(op.ID, `,"human_input":"better"`)).operation(200); done.State != human.Completed {
		t.Errorf("an answer that did not ask for it is held: %s", done.State)
	}
}

func TestInsideStaysInside(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		status int
		says   string
	}{
		"a foreign error": {errors.New("secret path /home/x"), 500, "its log has the details"},
		"our own error":   {human.Wrap(human.Internal, errors.New("secret path /home/x"), "storage failed"), 500, "storage failed"},
		"a full disk":     {human.Wrap(human.Internal, fmt.Errorf("write: %w", syscall.ENOSPC), "no space is left"), 507, "no space is left"},
		"not now":         {human.Errorf(human.Unavailable, "shutting down"), 503, "shutting down"},
		"a panic":         {nil, 500, "its log has the details"},
	} {
		t.Run(name, func(t *testing.T) {
			h := openFixture(t, func(d *Deps, _ *queue.Options) {
				d.Doctor = func(context.Context) ([]human.DoctorCheck, error) {
					if c.err == nil {
						panic("secret path /home/x")
					}
					return nil, c.err
				}
			})
			r := h.get("/api/doctor", h.op)
			r.problem(c.status, c.says)
			if bytes.Contains(r.body, []byte("secret")) {
				t.Errorf("the cause got out: %s", r.body)
			}
			if strings.HasPrefix(fmt.Sprint(c.status), "500") && !strings.Contains(h.logs.String(), "secret path") {
				t.Errorf("the log does not tell the cause: %s", h.logs)
			}
			h.get("/healthz", "").into(new(Health))
		})
	}
	h := openFixture(t, nil)
	h.get("/api/doctor", h.op).problem(503, "without a doctor")
	h.get("/api/settings", h.op).problem(503, "without settings")
	h.post("/api/sample", h.op, "").problem(503, "without a sample agent")
}
