package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue/board"
	"deskbell/backend/store/team"
	"deskbell/backend/store/team/hub"
)

// startHub runs a hub until stop is called.
func startHub(t testing.TB, dir, addr, web string) (h *hub.Hub, stop func()) {
	t.Helper()
	h, err := hub.Open(t.Context(), hub.Options{Dir: dir, Team: "Platform", Addr: addr, WebAddr: web})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	select {
	case <-h.Ready():
	case err := <-ended:
		t.Fatal(err)
	case <-time.After(30 * time.Second):
		t.Fatal("the hub is not ready")
	}
	return h, func() {
		cancel()
		if err := errors.Join(<-ended, h.Close()); err != nil {
			t.Error(err)
		}
	}
}

// again starts the server of a fixture once more.
func (d *fixture) again(t testing.TB) {
	t.Helper()
	d.stop(t)
	d.server = serve(t, d.dir, nil)
	d.boss = operator(t, d.url, d.code)
}

// team waits until the desk stands so with its team.
func (d *fixture) team(t testing.TB, is func(human.DeskState) bool) (now human.DeskState) {
	t.Helper()
	waitFor(t, "the desk to stand so with its team", func() bool {
		d.boss.good(t, "GET", "/api/team", nil, &now)
		return is(now)
	})
	return now
}

func online(s human.DeskState) bool { return s.Online }

// Two desks of a team: what an agent asks at one is answered at the other, with a receipt that both have.
func TestATeamAnswers(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	h, stopHub := startHub(t, folder, "127.0.0.1:0", "127.0.0.1:0")
	defer func() { stopHub() }()
	join := func(member string, role team.Role) *fixture {
		d := newFixture(t)
		link, err := h.Office().Invite(t.Context(), member, role)
		if err != nil {
			t.Fatal(err)
		}
		run(t, d.dir, nil, "join", link, "--code", d.invite(t)).want(t, 0, "Platform", member, "Start Deskbell again")
		run(t, d.dir, nil, "join", link, "--code", d.invite(t)).want(t, 3, "can be in one only")
		d.again(t)
		if s := d.team(t, online); s.Member != member || s.Role != string(role) || s.Team != "Platform" {
			t.Errorf("the desk stands as %+v", s)
		}
		return d
	}
	alone := newFixture(t)
	run(t, alone.dir, nil, "team", "--code", alone.invite(t)).want(t, 0, "in no team")
	ann, mei := join("Ann", team.OperatorRole), join("王芳", team.OperatorRole)

	// Whose agent asked is not asked.
	asked := ann.during(t, []string{"ring", "--type", "feedback", "Who is asked?"}, func(op human.Operation) {
		for _, d := range []*fixture{ann, mei} {
			waitFor(t, "who is asked", func() bool {
				d.boss.good(t, "GET", "/api/human/operations/"+string(op.ID), nil, &op)
				return len(op.Routing) == 1
			})
			if names := op.Routing[0].Names; len(names) != 1 || names[0] != "王芳" || op.RequestedBy != "Ann" {
				t.Errorf("asked are %v, for %s", names, op.RequestedBy)
			}
		}
		mei.boss.good(t, "POST", "/api/human/complete", map[string]any{"operation_id": op.ID, "human_input": "I am", "digest": op.Digest}, nil)
	})
	asked.want(t, 0, "I am")

	// The request of an agent at Ann's desk, answered at Mei's.
	var rung human.Operation
	ended := ann.during(t, []string{"ring", "--type", "approve", "--details", `{"action":"make  deploy <b>","risk_level":"low"}`, "Deploy?"}, func(op human.Operation) {
		rung = op
		there := mei.rung(t)
		if there.ID != op.ID || there.AgentID != "bot@Ann" || there.Digest != op.Digest {
			t.Errorf("the request is there as %+v", there)
		}
		mei.boss.good(t, "POST", "/api/human/claim", map[string]any{"operation_id": op.ID}, nil)
		if status, err := ann.boss.call("POST", "/api/human/claim", map[string]any{"operation_id": op.ID}, nil); status != 409 {
			t.Errorf("claimed twice: %d, %v", status, err)
		}
		mei.boss.good(t, "POST", "/api/human/complete", map[string]any{"operation_id": op.ID, "decision": "approve", "digest": there.Digest, "human_input": "looks good"}, nil)
	})
	ended.want(t, 0, "looks good")
	for _, d := range []*fixture{ann, mei} {
		waitFor(t, "the end of the request on both desks", func() bool {
			var op human.Operation
			d.boss.good(t, "GET", "/api/human/operations/"+string(rung.ID), nil, &op)
			return op.State == human.Completed && op.Result.By.Name == "王芳" && op.DeliveredAt != nil
		})
		var receipts struct{ Receipts []json.RawMessage }
		d.boss.good(t, "GET", "/api/human/operations/"+string(rung.ID)+"/receipts", nil, &receipts)
		if len(receipts.Receipts) != 1 || !strings.Contains(string(receipts.Receipts[0]), `approver`) {
			t.Errorf("the receipts are %s", receipts.Receipts)
		}
		run(t, d.dir, nil, "doctor").want(t, 0)
	}

	// Both desks count the same.
	for _, d := range []*fixture{ann, mei} {
		waitFor(t, "the board of the team", func() bool {
			var b board.TeamBoard
			d.boss.good(t, "GET", "/api/team/board?zone=Europe/Berlin", nil, &b)
			return len(b.People) == 2 && b.People[0].Name == "Ann" && b.People[0].Answered == 0 && b.People[1].Answered == 2 && b.People[0].Connected && b.People[1].Connected &&
				b.Claimed+b.Waiting == 0 && len(b.Weeks) == 8 && b.Weeks[6].Requests+b.Weeks[7].Requests == 2
		})
	}
	if status, err := alone.boss.call("GET", "/api/team/board", nil, nil); status != 404 {
		t.Errorf("the board of no team: %d, %v", status, err)
	}
	for _, d := range []*fixture{ann, mei} {
		run(t, d.dir, nil, "team", "check", "--code", d.invite(t)).want(t, 0, "Here", "Team")
	}

	// An agent of the same name at the other desk does not see it.
	if got := run(t, mei.dir, mei.env, "show", string(rung.ID)); got.code == 0 {
		t.Errorf("an agent of another desk reads the request: %s", got.out)
	}

	// Away and back: each desk continues with its own requests, and tells.
	addr, web := h.Addrs()
	stopHub()
	ann.team(t, func(s human.DeskState) bool { return !s.Online && strings.Contains(s.Problem, "cannot be reached") })
	run(t, ann.dir, nil, "team", "--code", ann.invite(t)).want(t, 0, "offline")
	var alone1 human.Operation
	ann.during(t, []string{"ring", "--type", "feedback", "While away?"}, func(op human.Operation) {
		alone1 = op
		ann.boss.good(t, "POST", "/api/human/complete", map[string]any{"operation_id": op.ID, "human_input": "answered away", "digest": op.Digest}, nil)
	}).want(t, 0, "answered away")
	if s := ann.team(t, func(human.DeskState) bool { return true }); s.Waiting != 1 {
		t.Errorf("away, the desk stands as %+v", s)
	}
	h, stopHub = startHub(t, folder, addr, web)
	ann.team(t, online)
	mei.team(t, online)
	waitFor(t, "what was done away", func() bool {
		var op human.Operation
		status, _ := mei.boss.call("GET", "/api/human/operations/"+string(alone1.ID), nil, &op)
		return status == 200 && op.State == human.Completed && op.Result.HumanInput == "answered away"
	})

	// The desk of a member who was removed says so.
	if n, err := h.Office().Remove(t.Context(), "王芳"); err != nil || n != 1 {
		t.Fatalf("Remove: %d, %v", n, err)
	}
	mei.team(t, func(s human.DeskState) bool {
		return !s.Online && strings.Contains(s.Problem, "does not take this desk any more")
	})

	// Credentials that Deskbell did not write count for nothing.
	mei.stop(t)
	file := filepath.Join(mei.dir, "team.json")
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, []byte(strings.Replace(string(text), `"Platform"`, `"Evil"`, 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	mei.server = serve(t, mei.dir, nil)
	mei.boss = operator(t, mei.url, mei.code)
	mei.team(t, func(s human.DeskState) bool { return s.Team == "" })
}
