package app_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/store/team"
)

// A lead invites and removes members from their own desk; a member invites their own second desk, and all see what changed.
func TestALeadInvitesAndRemoves(t *testing.T) {
	t.Parallel()
	h, stopHub := startHub(t, t.TempDir(), "127.0.0.1:0", "127.0.0.1:0")
	defer stopHub()
	lea := joined(t, h, "Lea", team.LeadRole)
	at := func(d *fixture, args ...string) result {
		t.Helper()
		return run(t, d.dir, nil, append(append([]string{"team"}, args...), "--code", d.invite(t))...)
	}
	link := func(d *fixture, args ...string) string {
		t.Helper()
		got := at(d, append([]string{"invite"}, args...)...)
		got.want(t, 0, "/join#")
		return strings.TrimSpace(got.out)
	}
	mei := joinedBy(t, link(lea, "Mei"), "Mei", team.OperatorRole)
	joinedBy(t, link(mei, "Mei", "--role", "lead"), "Mei", team.OperatorRole)
	at(mei, "invite", "Sam").want(t, 3, "only a lead")
	at(mei, "remove", "Lea").want(t, 3, "only a lead")
	at(lea, "invite", "Mei").want(t, 3, "in the team already")
	at(lea, "invite", "Sam", "--role", "boss").want(t, 3, "no role")
	at(lea, "remove", "Lea").want(t, 3, "another lead")
	at(lea, "remove", "Sam").want(t, 3, "no desk")
	unused := link(lea, "Sam", "--role", "auditor")

	var now human.TeamMembers
	lea.boss.good(t, "GET", "/api/team/members", nil, &now)
	if len(now.Desks) != 3 || !now.Desks[2].Connected || len(now.Invitations) != 1 || now.Invitations[0].Member != "Sam" || now.Invitations[0].Link != "" {
		t.Errorf("a lead sees %+v", now)
	}
	at(lea, "members").want(t, 0, "Mei  operator  Mei=2", "connected", "Sam  auditor  invited by Lea", "Mei joined")
	got := at(mei, "members", "--json")
	got.want(t, 0)
	now = human.TeamMembers{}
	if err := json.Unmarshal([]byte(got.out), &now); err != nil {
		t.Fatal(err)
	}
	if len(now.Desks)+len(now.Invitations) != 0 || len(now.Changes) != 7 || now.Changes[0].Member != "Sam" || now.Changes[0].By != "Lea" {
		t.Errorf("an operator sees %+v", now)
	}

	at(lea, "remove", "Mei").want(t, 0, "2 desks")
	mei.team(t, func(s human.DeskState) bool {
		return !s.Online && strings.Contains(s.Problem, "does not take this desk any more")
	})
	at(mei, "members").want(t, 3, "no connection")
	at(lea, "remove", "Sam").want(t, 0, "0 desks")
	alone := newFixture(t)
	run(t, alone.dir, nil, "join", unused, "--code", alone.invite(t)).want(t, 3, "was used, or never was one")
	at(alone, "members").want(t, 3, "in no team")
	lea.boss.good(t, "GET", "/api/team/members", nil, &now)
	if !slices.ContainsFunc(now.Changes, func(c human.MembershipChange) bool {
		return c.What == "removed" && c.Member == "Mei" && c.By == "Lea"
	}) {
		t.Errorf("the changes are %+v", now.Changes)
	}
}
