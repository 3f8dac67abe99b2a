package app_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"deskbell/backend/human"
	"deskbell/backend/store/team"
	"deskbell/backend/store/team/hub"
)

// ask sends a request of the fixture's agent, and does not wait for the answer.
func (d *fixture) ask(t *testing.T, words string, files ...human.AttachmentID) (op human.Operation) {
	t.Helper()
	d.bot(t).good(t, "POST", "/api/human/invoke", map[string]any{"action_type": "feedback", "description": words, "timeout": 0, "attachments": files}, &op)
	return op
}

// answers answers a request at the fixture, as soon as that is there.
func (d *fixture) answers(t testing.TB, op human.Operation, words string) {
	t.Helper()
	d.sees(t, op, func(human.Operation) bool { return true })
	d.boss.good(t, "POST", "/api/human/complete", map[string]any{"operation_id": op.ID, "human_input": words, "digest": op.Digest}, nil)
}

// sees waits until an operation is at the fixture, and stands so.
func (d *fixture) sees(t testing.TB, op human.Operation, is func(human.Operation) bool) {
	t.Helper()
	waitFor(t, "the request "+op.Description+" to stand so", func() bool {
		var now human.Operation
		status, _ := d.boss.call("GET", "/api/human/operations/"+string(op.ID), nil, &now)
		return status == 200 && is(now)
	})
}

// finds returns the words of all requests of a list.
func (d *fixture) finds(t testing.TB, query string) (found []string) {
	t.Helper()
	var page struct{ Operations []human.Operation }
	d.boss.good(t, "GET", "/api/human/operations?"+query, nil, &page)
	for _, op := range page.Operations {
		found = append(found, op.Description)
	}
	slices.Sort(found)
	return found
}

// here is what the fixture has of its team.
func (d *fixture) here(t testing.TB) human.TeamCopy {
	t.Helper()
	var found human.TeamCheck
	d.boss.good(t, "GET", "/api/team/check", nil, &found)
	return found.Here
}

// leaves gives the command, which has to work.
func (d *fixture) leaves(t testing.TB, flags ...string) human.LeftTeam {
	t.Helper()
	done := decode[human.LeftTeam](t, run(t, d.dir, nil, append([]string{"team", "leave", "--json", "--code", d.invite(t)}, flags...)...).want(t, 0).out)
	if !done.State.Left || done.After.Hash == "" {
		t.Errorf("it left as %+v", done)
	}
	if _, err := os.Stat(filepath.Join(d.dir, "team.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the credentials are there: %v", err)
	}
	return done
}

func hasEnded(op human.Operation) bool { return op.State.Terminal() }

// A desk leaves its team with all that it has of it, joins again and lacks nothing, and gives another team nothing of the first.
func TestADeskLeavesItsTeam(t *testing.T) {
	t.Parallel()
	h, stopHub := startHub(t, t.TempDir(), "127.0.0.1:0", "127.0.0.1:0")
	defer func() { stopHub() }()
	ann, mei := joined(t, h, "Ann", team.OperatorRole), joined(t, h, "Mei", team.OperatorRole)
	same := func(desks ...*fixture) {
		t.Helper()
		for _, d := range desks {
			waitFor(t, "the same at all desks", func() bool {
				var found human.TeamCheck
				status, _ := d.boss.call("GET", "/api/team/check", nil, &found)
				return status == 200 && found.Same && found.Here == found.Team
			})
		}
	}

	// Both have answered, and a request of Ann's agent is open. Mei has one, too: it keeps her, or is canceled.
	file, _ := ann.bot(t).attached(t, 100)
	m1, a1, a2 := mei.ask(t, "m1"), ann.ask(t, "a1", file), ann.ask(t, "a2")
	ann.answers(t, m1, "yes")
	mei.answers(t, a1, "no")
	mei.sees(t, m1, hasEnded)
	ann.sees(t, a1, hasEnded)
	mei.sees(t, a2, func(human.Operation) bool { return true })
	same(ann, mei)
	var done human.LeftTeam
	mei.during(t, []string{"ring", "m2"}, func(human.Operation) {
		waitFor(t, "both open requests", func() bool { return len(mei.finds(t, "state=open")) == 2 })
		run(t, mei.dir, nil, "team", "leave", "--code", mei.invite(t)).want(t, 3, "1 requests of this desk's agents are open")
		mei.team(t, online)
		done = mei.leaves(t, "--cancel-open")
	}).want(t, 2, "left its team")
	if done.Canceled != 1 || !done.Before.Same || done.Before.Here != done.Before.Team || done.After != done.Before.Here || done.After.Operations != 4 {
		t.Errorf("it left as %+v", done)
	}
	waitFor(t, "the canceled request at the other desk", func() bool { return slices.Equal(ann.finds(t, "state=open"), []string{"a2"}) })

	// Before and after the next start nothing of the team can be changed, and this desk has its own queue. The same words are a new request.
	cannot := func(op human.Operation, path string, body map[string]any) {
		t.Helper()
		body["operation_id"] = op.ID
		if status, err := mei.boss.call("POST", "/api/human/"+path, body, nil); status != 403 {
			t.Errorf("%s of what the team has: %d, %v", path, status, err)
		}
	}
	cannot(a2, "complete", map[string]any{"human_input": "yes", "digest": a2.Digest})
	frozen := func(op human.Operation) bool { return op.Frozen }
	mei.sees(t, a2, frozen)
	run(t, mei.dir, nil, "team", "--code", mei.invite(t)).want(t, 0, "left the team Platform", "Start Deskbell again")
	run(t, mei.dir, nil, "team", "leave", "--code", mei.invite(t)).want(t, 3, "start Deskbell again first")
	n1 := mei.ask(t, "m2")
	mei.answers(t, n1, "here")
	mei.again(t)
	run(t, mei.dir, nil, "team", "--code", mei.invite(t)).want(t, 0, "in no team")
	run(t, mei.dir, nil, "team", "check", "--code", mei.invite(t)).want(t, 0, "Here  4 requests", done.After.Hash)
	cannot(a2, "claim", map[string]any{})
	cannot(a1, "reply", map[string]any{"text": "a word"})
	cannot(m1, "reply", map[string]any{"text": "a word"})
	mei.sees(t, a2, frozen)
	mei.sees(t, m1, frozen)
	mei.sees(t, n1, func(op human.Operation) bool { return !op.Frozen })
	if open, all, found := mei.finds(t, "state=open"), mei.finds(t, ""), mei.finds(t, "q=a2"); len(open) > 0 || !slices.Equal(all, []string{"a1", "a2", "m1", "m2", "m2"}) || len(found) != 1 {
		t.Errorf("it has %v, of which %v are open, and finds %v", all, open, found)
	}
	n2 := mei.ask(t, "n2")
	mei.answers(t, n2, "alone")
	ann.answers(t, a2, "without Mei")

	// Back in the team, the desk has what was done meanwhile, and the team what was done here, once.
	mei.joins(t, h, "Mei", team.OperatorRole)
	mei.sees(t, a2, func(op human.Operation) bool { return op.State.Terminal() && !op.Frozen })
	ann.sees(t, n2, hasEnded)
	same(ann, mei)
	mei.boss.good(t, "POST", "/api/human/reply", map[string]any{"operation_id": m1.ID, "text": "a late word"}, nil)
	ann.sees(t, m1, func(op human.Operation) bool { return len(op.Messages) == 1 })
	same(ann, mei)
	if mine, theirs := mei.finds(t, ""), ann.finds(t, ""); !slices.Equal(mine, theirs) || len(mine) != 6 {
		t.Errorf("Mei has %v, Ann %v", mine, theirs)
	}

	// Another team gets what no other desk of the first had.
	mei.leaves(t)
	mei.again(t)
	n3 := mei.ask(t, "n3")
	mei.answers(t, n3, "alone again")
	other, stopOther := startHub(t, t.TempDir(), "127.0.0.1:0", "127.0.0.1:0")
	defer func() { stopOther() }()
	zoe := joined(t, other, "Zoe", team.LeadRole)
	mei.joins(t, other, "Mei", team.OperatorRole)
	waitFor(t, "what is Mei's own", func() bool { return len(zoe.finds(t, "")) > 0 })
	same(zoe, mei)
	if found := zoe.finds(t, ""); !slices.Equal(found, []string{"n3"}) || mei.here(t) != zoe.here(t) {
		t.Errorf("the other team has %v", found)
	}
	cannot(m1, "reply", map[string]any{"text": "a word"})
	if status, data := mei.boss.bytes(t, file); status != 404 {
		t.Errorf("a file of the first team: %d, %s", status, data)
	}

	// A lead of the other team can have deleted what is that team's, and nothing else, whatever their desk publishes.
	c, err := hub.Load(zoe.dir)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := c.Connect(team.Settings(c.Desk)...)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	bucket, err := js.KeyValue(t.Context(), team.Deletions)
	for _, id := range []human.OperationID{m1.ID, n3.ID} {
		if err == nil {
			_, err = bucket.Put(t.Context(), c.Desk+"."+string(id), nil)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the deletion of what is the team's", func() bool { return !slices.Contains(mei.finds(t, ""), "n3") })
	if found := mei.finds(t, ""); !slices.Contains(found, "m1") {
		t.Errorf("left are %v", found)
	}

	// Without a connection it says what may be missing.
	n4 := mei.ask(t, "n4")
	zoe.sees(t, n4, func(op human.Operation) bool { return len(op.Routing) > 0 })
	stopOther()
	stopOther = func() {}
	mei.team(t, func(s human.DeskState) bool { return !s.Online })
	n5 := mei.ask(t, "n5")
	run(t, mei.dir, nil, "team", "leave", "--code", mei.invite(t)).want(t, 3, "not connected to its team", "--offline")
	run(t, mei.dir, nil, "team", "leave", "--offline", "--code", mei.invite(t)).want(t, 3, "1 requests of this desk's agents are open")
	if done := mei.leaves(t, "--offline", "--cancel-open"); done.Canceled != 1 || done.Before.Team.Hash != "" {
		t.Errorf("it left as %+v", done)
	}
	mei.again(t)
	mei.sees(t, n4, func(op human.Operation) bool { return op.State == human.Cancelled })
	mei.bot(t).good(t, "POST", "/api/human/delivered", map[string]any{"operation_id": n4.ID}, nil) // its agent has read that
	mei.answers(t, n5, "mine")
}

// A desk whose credentials another program deleted, or that was killed once they were deleted, left its team. The rest is done at its next start.
func TestADeskWithoutCredentialsLeft(t *testing.T) {
	t.Parallel()
	h, stopHub := startHub(t, t.TempDir(), "127.0.0.1:0", "127.0.0.1:0")
	defer stopHub()
	ann, mei := joined(t, h, "Ann", team.OperatorRole), joined(t, h, "Mei", team.OperatorRole)
	theirs, mine := ann.ask(t, "theirs"), mei.ask(t, "mine")
	mei.sees(t, theirs, func(human.Operation) bool { return true })
	ann.sees(t, mine, func(human.Operation) bool { return true })
	if err := mei.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-mei.ended
	if err := os.Remove(filepath.Join(mei.dir, "team.json")); err != nil {
		t.Fatal(err)
	}
	mei.server = serve(t, mei.dir, nil)
	mei.boss = operator(t, mei.url, mei.code)
	mei.team(t, func(s human.DeskState) bool { return s.Team == "" })
	mei.sees(t, mine, func(op human.Operation) bool { return op.State == human.Cancelled })
	if open := mei.finds(t, "state=open"); len(open) > 0 {
		t.Errorf("open are %v", open)
	}
	if status, err := mei.boss.call("POST", "/api/human/complete", map[string]any{"operation_id": theirs.ID, "human_input": "x", "digest": theirs.Digest}, nil); status != 403 {
		t.Errorf("answered for another desk: %d, %v", status, err)
	}
	if status, err := mei.bot(t).call("POST", "/api/team/leave", human.Leave{Cancel: true}, nil); status != 403 {
		t.Errorf("an agent has its desk leave: %d, %v", status, err)
	}
}
