package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
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

// doctorSays checks what the doctor of the fixture's server says of the team.
func (d *fixture) doctorSays(t *testing.T, texts ...string) {
	t.Helper()
	var report struct{ Checks []human.DoctorCheck }
	d.boss.good(t, "GET", "/api/doctor", nil, &report)
	at := slices.IndexFunc(report.Checks, func(c human.DoctorCheck) bool { return c.Name == "team" })
	for _, text := range texts {
		if at < 0 || !strings.Contains(report.Checks[at].Detail, text) || !strings.Contains(report.Checks[at].Fix, "deskbell team check") {
			t.Errorf("of the team the doctor does not say %q: %+v", text, report.Checks)
		}
	}
}

func online(s human.DeskState) bool { return s.Online }

// joined is a desk of a hub's team.
func joined(t testing.TB, h *hub.Hub, member string, role team.Role) *fixture {
	t.Helper()
	link, err := h.Office().Invite(t.Context(), member, role)
	if err != nil {
		t.Fatal(err)
	}
	return joinedBy(t, link, member, role)
}

func joinedBy(t testing.TB, link, member string, role team.Role) *fixture {
	t.Helper()
	d := newFixture(t)
	run(t, d.dir, nil, "join", link, "--code", d.invite(t)).want(t, 0, "Platform", member, "Start Deskbell again")
	run(t, d.dir, nil, "join", link, "--code", d.invite(t)).want(t, 3, "can be in one only")
	d.again(t)
	if s := d.team(t, online); s.Member != member || s.Role != string(role) || s.Team != "Platform" {
		t.Errorf("the desk stands as %+v", s)
	}
	return d
}

// Members, rules and the second approval, as a lead and an operator set them at their desks.
func TestALeadSetsRules(t *testing.T) {
	t.Parallel()
	h, stopHub := startHub(t, t.TempDir(), "127.0.0.1:0", "127.0.0.1:0")
	defer func() { stopHub() }()
	lead, mei, sam := joined(t, h, "Lea", team.LeadRole), joined(t, h, "Mei", team.OperatorRole), joined(t, h, "Sam", team.OperatorRole)
	must := func(d *fixture, code int, want string, args ...string) {
		t.Helper()
		run(t, d.dir, nil, append(args, "--code", d.invite(t))...).want(t, code, want)
	}
	file := func(text string) string {
		name := filepath.Join(t.TempDir(), "rules.toml")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	const rules = "# ours\nsecond_approval = \"high\"\n\n[[rule]]\nkinds = [\"feedback\"]\nskill = \"databases\"\n"

	// Sam says of himself what he can, the lead what Mei can; neither Mei nor the server lets one write of another.
	must(sam, 0, "Sam is changed", "team", "member", "Sam", "--skills", "databases", "--hours", "mon-sun 00:00-00:00", "--zone", "Europe/Berlin")
	must(lead, 0, "Mei is changed", "team", "member", "Mei", "--skills", "billing")
	must(mei, 3, "only a lead", "team", "member", "Sam", "--skills", "none")
	must(lead, 3, "not in the team", "team", "member", "Noor", "--skills", "none")
	must(lead, 3, "time zone such as", "team", "member", "Mei", "--zone", "Mars")
	must(mei, 3, "only a lead", "team", "rules", file(rules))
	must(lead, 3, "line 5: rule.kinds", "team", "rules", file(strings.Replace(rules, "feedback", "wishes", 1)))
	must(lead, 3, "line 6: rules have no rule.skil;", "team", "rules", file(strings.Replace(rules, "skill", "skil", 1)))
	must(lead, 0, "no rules", "team", "rules")
	must(lead, 0, "goes by these", "team", "rules", file(rules))
	waitFor(t, "the rules at another desk", func() bool {
		return strings.Contains(run(t, mei.dir, nil, "team", "rules", "--code", mei.invite(t)).out, "# ours")
	})
	var now human.TeamRules
	lead.boss.good(t, "GET", "/api/team/rules", nil, &now)
	if status, err := lead.boss.call("PUT", "/api/team/rules", human.TeamRules{Text: "", Revision: now.Revision - 1}, nil); status != 409 {
		t.Errorf("rules of an earlier revision are replaced: %d, %v", status, err)
	}

	// By the rule Sam is asked, who has no fewer claims than others.
	lead.during(t, []string{"ring", "--type", "feedback", "Which index?"}, func(op human.Operation) {
		waitFor(t, "who is asked", func() bool {
			status, _ := sam.boss.call("GET", "/api/human/operations/"+string(op.ID), nil, &op)
			return status == 200 && len(op.Routing) > 0
		})
		if names := op.Routing[0].Names; !slices.Equal(names, []string{"Sam"}) {
			t.Errorf("asked are %v", names)
		}
		sam.boss.good(t, "POST", "/api/human/complete", map[string]any{"operation_id": op.ID, "human_input": "none", "digest": op.Digest}, nil)
	}).want(t, 0, "none")

	// Mei's desk asks no second person; the team's rule is stricter, also while her desk is away, and from its start on.
	needs := func(risk string, want int) {
		t.Helper()
		mei.during(t, []string{"ring", "--type", "approve", "--details", `{"action":"make deploy","risk_level":"` + risk + `"}`, "Deploy?"}, func(op human.Operation) {
			mei.boss.good(t, "GET", "/api/human/operations/"+string(op.ID), nil, &op)
			if op.ApprovalsNeeded != want {
				t.Errorf("of a risk that is %s, %d have to approve", risk, op.ApprovalsNeeded)
			}
			mei.boss.good(t, "POST", "/api/human/complete", map[string]any{"operation_id": op.ID, "decision": "deny", "human_input": "no", "digest": op.Digest}, nil)
		})
	}
	needs("high", 2)
	needs("medium", 0)
	stopHub()
	stopHub = func() {}
	mei.again(t)
	mei.team(t, func(s human.DeskState) bool { return !s.Online })
	needs("high", 2)
	must(mei, 0, "# ours", "team", "rules")
	must(lead, 3, "no connection", "team", "rules", file(""))
}

// Two desks of a team: what an agent asks at one is answered at the other, with a receipt that both have.
func TestATeamAnswers(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	h, stopHub := startHub(t, folder, "127.0.0.1:0", "127.0.0.1:0")
	defer func() { stopHub() }()
	alone := newFixture(t)
	run(t, alone.dir, nil, "team", "--code", alone.invite(t)).want(t, 0, "in no team")
	ann, mei := joined(t, h, "Ann", team.OperatorRole), joined(t, h, "王芳", team.OperatorRole)

	// Whose agent asked is not asked.
	asked := ann.during(t, []string{"ring", "--type", "feedback", "Who is asked?"}, func(op human.Operation) {
		for _, d := range []*fixture{ann, mei} {
			waitFor(t, "who is asked", func() bool {
				status, _ := d.boss.call("GET", "/api/human/operations/"+string(op.ID), nil, &op)
				return status == 200 && len(op.Routing) == 1
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
		run(t, d.dir, nil, "doctor").want(t, 0, "whether it is connected was not asked")
		d.doctorSays(t, "connected since")
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
	ann.doctorSays(t, "not connected since", "cannot be reached", "requests that wait here: 1")
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
