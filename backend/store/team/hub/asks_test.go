package hub

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"deskbell/backend/human"
	"deskbell/backend/store/team"
)

// asks has the hub do something, as a desk does past its Deskbell, and returns what it said.
func (p *peer) asks(desk, what, body string) (r team.OfficeReply, raw []byte) {
	p.t.Helper()
	m, err := p.Request(team.Office(desk, what), []byte(body), 10*time.Second)
	if err != nil {
		p.t.Fatal(what, body, err)
	}
	if err := json.Unmarshal(m.Data, &r); err != nil {
		p.t.Fatal(err)
	}
	return r, m.Data
}

// whole is a link as the desk that asked for it completes it.
func whole(r team.OfficeReply, c Credentials) string {
	return r.Invitation.Link + "." + base64.RawURLEncoding.EncodeToString(c.TeamKey)
}

// changed is what every desk reads of who is in the team, the first first.
func changed(t *testing.T, c Credentials) (all []string) {
	t.Helper()
	js := connect(t, c).streams()
	kv, err := js.KeyValue(t.Context(), team.Changes)
	if err != nil {
		t.Fatal(err)
	}
	w, err := kv.WatchAll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for e := range w.Updates() {
		if e == nil {
			break
		}
		var was human.MembershipChange
		if err := json.Unmarshal(e.Value(), &was); err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprint(was.By, " ", was.What, " ", was.Member, " ", was.Role, was.Desk))
	}
	if err := w.Stop(); err != nil {
		t.Error(err)
	}
	return all
}

// A lead invites and removes at their desk; what the hub sends has not the team's key, and all desks read who did what.
func TestALeadSaysWhoIsInTheTeam(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	h, _ := start(t, Options{})
	lea := join(t, h, "Lea", team.LeadRole)
	lead := connect(t, lea)
	invites := func(p *peer, c Credentials, what, body string) string {
		t.Helper()
		r, raw := p.asks(c.Desk, what, body)
		if r.Problem != 0 || !strings.HasPrefix(r.Invitation.Link, h.URL()+"/join#") || time.Until(r.Invitation.Expires) < 23*time.Hour {
			t.Fatalf("%s %s: %s", what, body, raw)
		}
		if bytes.Contains(raw, []byte(h.keys.teamKey)) || bytes.Contains(raw, lea.TeamKey) {
			t.Errorf("the hub sends the team's key: %s", raw)
		}
		return whole(r, c)
	}
	link, second := invites(lead, lea, "invite", `{"member":"Mei","role":"operator"}`), invites(lead, lea, "invite", `{"member":"Mei","role":"lead"}`)
	mei, err := Join(ctx, link, "Mei")
	if err != nil || mei.Role != team.OperatorRole || !bytes.Equal(mei.TeamKey, lea.TeamKey) {
		t.Fatal(mei.Role, err)
	}
	// Whoever made another link for Mei does not become Mei by it.
	if _, err := Join(ctx, second, ""); human.KindOf(err) != human.Denied || !strings.Contains(err.Error(), "joined already") {
		t.Errorf("a second first desk: %v", err)
	}
	operator := connect(t, mei)
	own := invites(operator, mei, "desk", `{"member":"Lea","role":"lead"}`)
	if again, err := Join(ctx, own, ""); err != nil || again.Desk != "Mei=2" || again.Role != team.OperatorRole {
		t.Errorf("another desk of Mei is %s, %s, %v", again.Desk, again.Role, err)
	}
	open := invites(operator, mei, "desk", `{}`)
	bobs := invites(lead, lea, "invite", `{"member":"Bob","role":"auditor"}`)
	hubs := invite(t, h, "Mei", team.OperatorRole)

	before, err := h.Office().Desks(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		what, body string
		want       human.ErrorKind
		says       string
	}{
		{"remove", `{"member":"Lea"}`, human.Denied, "deskbell hub remove"},
		{"remove", `{"member":"Noor"}`, human.NotFound, "Noor"},
		{"remove", `{}`, human.NotFound, ""},
		{"remove", `"Mei"`, human.Invalid, "cannot be read"},
		{"remove", `{"member":"Mei`, human.Invalid, "cannot be read"},
		{"remove", `{"member":"Mei","x":"` + strings.Repeat("x", mostAsk) + `"}`, human.Invalid, "cannot be read"},
		{"invite", `{"member":"Mei","role":"operator"}`, human.Conflict, "is in the team already"},
		{"invite", `{"member":"Lea","role":"lead"}`, human.Conflict, "is in the team already"},
		{"invite", `{"member":" Mei","role":"operator"}`, human.Invalid, "visible text"},
		{"invite", `{"member":"mei","role":"operator"}`, human.Conflict, `looks like that of "Mei"`},
		{"invite", `{"member":"BOB","role":"operator"}`, human.Conflict, `looks like that of "Bob"`}, // who is invited
		{"invite", `{"member":"М\u0435i","role":"operator"}`, human.Invalid, "Cyrillic and Latin"},
		{"invite", `{"member":"Me\u200bi","role":"operator"}`, human.Invalid, "cannot be seen"},
		{"invite", `{"member":"Eve","role":"hub"}`, human.Invalid, "no role"},
		{"invite", `{"member":"Eve"}`, human.Invalid, "no role"},
		{"invite", ``, human.Invalid, "cannot be read"},
	} {
		if r, _ := lead.asks(lea.Desk, tt.what, tt.body); r.Problem != tt.want || !strings.Contains(r.Said.Text, tt.says) || r.Said.Code == "" {
			t.Errorf("%s %.50s: %+v", tt.what, tt.body, r)
		}
	}
	if after, err := h.Office().Desks(ctx); err != nil || !slices.Equal(after, before) {
		t.Errorf("desks are %+v, %v", after, err)
	}

	r, raw := lead.asks(lea.Desk, "members", `{}`)
	if len(r.Desks) != 3 || !r.Desks[0].Connected || r.Desks[2].Desk != "Mei=2" || r.Desks[2].Connected || len(r.Invitations) != 3 || r.Invitations[1].Member != "Bob" || r.Invitations[1].By != "Lea" || r.Invitations[2].By != "" {
		t.Errorf("members are %s", raw)
	}
	if r, raw := lead.asks(lea.Desk, "remove", `{"member":"Mei"}`); r.Removed != 2 {
		t.Errorf("Mei is removed: %s", raw)
	}
	select {
	case <-operator.denied:
	case <-time.After(10 * time.Second):
		t.Error("who was removed stays connected")
	}
	for name, link := range map[string]string{"a link that Mei made": open, "a link for Mei": hubs} {
		if _, err := Join(ctx, link, ""); human.KindOf(err) != human.Denied {
			t.Errorf("%s still works: %v", name, err)
		}
	}
	bob, err := Join(ctx, bobs, "Bob")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		" invited Lea lead", "Lea joined Lea leadLea=1", "Lea invited Mei operator", "Lea invited Mei lead", "Mei joined Mei operatorMei=1", "Mei invited Mei operator",
		"Mei joined Mei operatorMei=2", "Mei invited Mei operator", "Lea invited Bob auditor", " invited Mei operator", "Lea removed Mei ", "Bob joined Bob auditorBob=1",
	}
	if got := changed(t, bob); !slices.Equal(got, want) {
		t.Errorf("an auditor reads the changes %q", got)
	}
}

// What a desk may not ask for, by the server or by the hub; and who was removed leaves nothing behind that works.
func TestAttacksOnTheOffice(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	h, _ := start(t, Options{})
	lea, mei := join(t, h, "Lea", team.LeadRole), join(t, h, "Mei", team.OperatorRole)
	mallory := connect(t, mei)
	for _, what := range []string{"invite", "remove", "members", "other"} {
		for _, desk := range []string{mei.Desk, lea.Desk} {
			if mallory.publishes(team.Office(desk, what)) {
				t.Errorf("an operator asks for %s as %s", what, desk)
			}
		}
	}
	if mallory.publishes(team.Office(lea.Desk, "desk")) || mallory.publishes("$KV.changes.x") || mallory.hears("office.*.*") {
		t.Error("an operator asks in a lead's name, writes changes, or hears what others ask for")
	}
	// Were the server to let them: the hub knows each desk's role.
	for _, tt := range []struct{ desk, what string }{{mei.Desk, "invite"}, {mei.Desk, "remove"}, {mei.Desk, "members"}, {"Noor=1", "invite"}} {
		if r, err := h.ask(ctx, h.o.Log, tt.desk, tt.what, []byte(`{"member":"Eve","role":"lead"}`)); err == nil {
			t.Errorf("%s gets %s: %+v", tt.desk, tt.what, r)
		}
	}
	// An answer goes to the desk that asked, or nothing is done.
	lead := connect(t, lea)
	if err := lead.PublishMsg(&nats.Msg{Subject: team.Office(lea.Desk, "remove"), Reply: team.Inbox(mei.Desk) + ".x", Data: []byte(`{"member":"Mei"}`)}); err != nil {
		t.Fatal(err)
	}
	if err := lead.PublishMsg(&nats.Msg{Subject: team.Office(lea.Desk, "remove"), Data: []byte(`{"member":"Mei"}`)}); err != nil {
		t.Fatal(err)
	}
	if r, _ := lead.asks(lea.Desk, team.OfficeRemove, `{`); r.Problem != human.Invalid { // in turn
		t.Errorf("%+v", r)
	}
	if in, err := h.Office().active(ctx, "Mei"); err != nil || len(in) != 1 {
		t.Errorf("Mei has the desks %v, %v", in, err)
	}

	// A removed lead's connection ends. A link that was being used or made meanwhile lets no one in.
	r, _ := lead.asks(lea.Desk, "invite", `{"member":"Eve","role":"lead"}`)
	if _, err := h.Office().Remove(ctx, "Lea"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-lead.denied:
	case <-time.After(10 * time.Second):
		t.Error("a lead who was removed stays connected")
	}
	if _, err := Join(ctx, whole(r, lea), ""); human.KindOf(err) != human.Denied {
		t.Errorf("a link of a lead who was removed: %v", err)
	}
	if r, err := h.ask(ctx, h.o.Log, lea.Desk, "invite", []byte(`{"member":"Eve","role":"lead"}`)); human.KindOf(err) != human.Denied {
		t.Errorf("a lead who was removed invites: %+v, %v", r, err)
	}
	late := invitation{Member: "Eve", Role: team.LeadRole, Maker: lea.Desk, First: true}
	link, _, err := h.Office().invite(ctx, late)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Join(ctx, link+"."+h.keys.teamKey, ""); human.KindOf(err) != human.Denied || !strings.Contains(err.Error(), "another lead") {
		t.Errorf("a link that was made meanwhile: %v", err)
	}
	if in, err := h.Office().active(ctx, "Eve"); err != nil || len(in) != 0 {
		t.Errorf("it left the desks %v, %v", in, err)
	}
}

// No one new gets a name that looks like another's, at the hub's machine neither. Who is in has their name, and a name is free again once no one has it.
func TestNamesThatLookAlike(t *testing.T) {
	t.Parallel()
	h, _ := start(t, Options{})
	f := h.Office()
	join(t, h, "Ann Lee", team.LeadRole)
	for name, want := range map[string]human.ErrorKind{
		"Ann Lee": 0, "Anna Lee": 0, "李雷 Lei": 0, "Дмитрий 2": 0, "さとう太郎 サム": 0, "Zoë": 0, "Zoe\u0308": human.Conflict,
		"ann LEE": human.Conflict, "Ａｎｎ Ｌｅｅ": human.Conflict, "Ann  Lee": human.Conflict, "Ann\u00a0Lee": human.Conflict,
		"Аnn Lee": human.Invalid, "Ann Lεe": human.Invalid, "Ann\u200dLee": human.Invalid, "\u202eeeL nnA": human.Invalid, "Ann\u00adLee": human.Invalid,
	} {
		if name == "Zoe\u0308" {
			invite(t, h, "Zoë", team.LeadRole)
		}
		if _, err := f.Invite(t.Context(), name, team.LeadRole); err == nil != (want == 0) || err != nil && human.KindOf(err) != want {
			t.Errorf("%+q: %v", name, err)
		}
	}
	if _, err := f.Remove(t.Context(), "Ann Lee"); err != nil {
		t.Fatal(err)
	}
	invite(t, h, "ann lee", team.OperatorRole)
}
