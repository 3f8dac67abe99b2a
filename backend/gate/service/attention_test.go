package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"deskbell/backend/gate"
	"deskbell/backend/gate/service"
	"deskbell/backend/human"
)

// history writes decisions as the gatekeeper's log has them.
type history struct {
	store service.Store
	n     int
	at    time.Time
}

// put adds one; with the outcome of an answer, or of a question without one.
func (h *history) put(t testing.TB, agent, project, command string, outcome service.Outcome, change func(*service.Decision)) {
	h.n++
	h.at = h.at.Add(time.Second)
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	call := gate.Call{Tool: "Bash", Args: args, Cwd: project, Root: project}
	v := gate.Judge(call, gate.Balanced, nil)
	answered := h.at.Add(20 * time.Second)
	d := service.Decision{
		ID: fmt.Sprintf("dec_%06d", h.n), At: h.at, Agent: agent, Project: project, Cwd: project, Tool: "Bash", Call: command, Decision: human.Ask, Risk: v.Risk,
		HardLimit: v.HardLimit, Digest: v.Digest, OperationID: human.OperationID(fmt.Sprintf("op_%06d", h.n)), Outcome: outcome, By: "Ada", ReadFor: 20,
		Effects: v.Effects, Args: args,
	}
	if d.AnsweredAt = &answered; outcome != service.Allowed && outcome != service.Refused {
		d.AnsweredAt, d.By = nil, ""
	}
	if change != nil {
		change(&d)
	}
	if err := h.store.PutDecision(context.Background(), d, nil); err != nil {
		t.Fatal(err)
	}
}

func TestQuestionsThatNeverChangedAnOutcome(t *testing.T) {
	p := open(t, nil)
	begin := time.Now().Add(-20 * 24 * time.Hour)
	h := &history{store: p.store.Gate(), at: begin.Add(-40 * 24 * time.Hour)}
	const web, api = "/src/web", "/src/api"
	// Long ago one of them was denied.
	h.put(t, "claude", web, "npm install old-pad", service.Refused, nil)
	h.at = begin
	times := func(n int, agent, project, command string, outcome service.Outcome, change func(*service.Decision)) {
		for range n {
			h.put(t, agent, project, command, outcome, change)
		}
	}
	times(6, "claude", web, "npm install left-pad", service.Allowed, nil)
	times(2, "claude", web, "npm install right-pad", service.Refused, nil) // another call
	times(3, "codex", web, "npm install left-pad", service.Refused, nil)   // another agent
	times(1, "claude", api, "npm install left-pad", service.Refused, nil)  // another project
	times(1, "claude", web, "npm install left-pad", service.Expired, nil)  // no one answered
	times(5, "claude", web, "npm install old-pad", service.Allowed, nil)   // equal, lately
	times(5, "claude", web, "npm install a-pad", service.Allowed, func(d *service.Decision) { d.Reason = "fine, once" })
	times(4, "claude", web, "npm install b-pad", service.Allowed, nil) // too few
	times(5, "claude", web, "npm install c-pad", service.Allowed, func(d *service.Decision) { d.ReadFor = 0.1 })
	times(5, "claude", web, "npm install d-pad", service.Refused, nil) // always denied
	times(4, "claude", web, "npm install e-pad", service.Allowed, nil) // once otherwise
	times(1, "claude", web, "npm install e-pad", service.Refused, nil)
	times(5, "claude", web, "git push --force origin main", service.Allowed, nil) // dangerous
	times(5, "claude", web, "rm -rf /", service.Allowed, nil)                     // a hard limit

	list, err := p.Unchanged(t.Context(), ada, begin, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]service.UnchangedQuestion{}
	for _, q := range list {
		got[q.Call] = q
	}
	for call, want := range map[string]struct {
		times, covered, allowed, denied int
		rule                            human.Ruling
		whyNot                          string
	}{
		"npm install left-pad": {6, 7, 6, 0, human.Allow, ""},
		"npm install old-pad":  {5, 6, 5, 1, human.Allow, "otherwise"},
		"npm install c-pad":    {5, 5, 5, 0, human.Allow, "too_fast"},
		"npm install d-pad":    {5, 5, 0, 5, human.Deny, ""},
	} {
		q, listed := got[call]
		r := q.Replay
		if !listed || q.Times != want.times || r.Covered != want.covered || r.Allowed != want.allowed || r.Denied != want.denied || q.Rule.Decision != want.rule || string(q.WhyNot) != want.whyNot {
			t.Errorf("%s: listed %t: %+v", call, listed, q)
		}
		if q.Rule.Command != call || q.Rule.Agent != "claude" || q.Rule.Project != web {
			t.Errorf("%s: the rule is not the narrowest: %+v", call, q.Rule)
		}
	}
	for _, call := range []string{"npm install a-pad", "npm install b-pad", "npm install e-pad", "npm install right-pad"} {
		if q, listed := got[call]; listed {
			t.Errorf("%s is listed: %+v", call, q)
		}
	}
	for _, call := range []string{"git push --force origin main", "rm -rf /"} {
		if q, listed := got[call]; !listed || q.WhyNot == "" {
			t.Errorf("%s: dangerous, and offered, or not listed: %t %+v", call, listed, q)
		}
	}
	if q := got["npm install left-pad"]; q.Replay.Unanswered != 1 || len(q.Replay.Near) == 0 || q.Spent != 6*20_000 {
		t.Errorf("%+v", q)
	}
	if o := got["npm install old-pad"].Replay.Otherwise; len(o) != 1 || o[0].Times != 1 || o[0].Outcome != service.Refused || o[0].Last.After(begin) {
		t.Errorf("what was denied is not shown with its time: %+v", o)
	}

	// A rule that exists, and what was dismissed, is not offered again.
	if _, err := p.AddRule(t.Context(), ada, human.GateRule{Decision: human.Allow, Command: "npm install left-pad", Project: web}); err != nil {
		t.Fatal(err)
	}
	if err := p.DismissProposal(t.Context(), ada, got["npm install d-pad"].Key); err != nil {
		t.Fatal(err)
	}
	if list, err = p.Unchanged(t.Context(), ada, begin, time.Now()); err != nil {
		t.Fatal(err)
	}
	for _, q := range list {
		if want := map[string]string{"npm install left-pad": "has_rule", "npm install d-pad": "dismissed"}[q.Call]; want != "" && string(q.WhyNot) != want {
			t.Errorf("%s: %q, want %s", q.Call, q.WhyNot, want)
		}
	}
	if _, err := p.Unchanged(t.Context(), bot, begin, time.Now()); human.KindOf(err) != human.Denied {
		t.Errorf("an agent: %v", err)
	}
}

// What a rule let through counts only where the policy would have asked.
func TestSpared(t *testing.T) {
	p := open(t, nil)
	begin := time.Now().Add(-time.Hour)
	h := &history{store: p.store.Gate(), at: begin}
	let := func(rules ...string) func(*service.Decision) {
		return func(d *service.Decision) {
			d.Decision, d.Outcome, d.OperationID, d.AnsweredAt, d.Rules = human.Allow, "", "", nil, rules
		}
	}
	h.put(t, "claude", "/src/web", "npm install left-pad", "", let("rule.r_1", "npm"))
	h.put(t, "claude", "/src/web", "npm install left-pad", "", let("npm"))
	h.put(t, "claude", "/src/web", "ls", "", let("rule.r_1"))
	all, err := p.Spared(t.Context(), ada, begin, time.Now())
	if err != nil || len(all) != 1 || all[0].Agent != "claude" || all[0].Kind != human.Permission || all[0].Run {
		t.Errorf("%+v %v", all, err)
	}
}

// BenchmarkUnchanged is over 10,000 questions of 20 agents about 2,000 calls.
func BenchmarkUnchanged(b *testing.B) {
	p := open(b, nil)
	begin := time.Now().Add(-29 * 24 * time.Hour)
	h := &history{store: p.store.Gate(), at: begin}
	for i := range 10_000 {
		h.put(b, fmt.Sprintf("agent-%d", i%20), "/src/web", fmt.Sprintf("npm install pad-%d", i%2000), service.Allowed, nil)
	}
	for b.Loop() {
		list, err := p.Unchanged(b.Context(), ada, begin, time.Now())
		if err != nil || len(list) == 0 {
			b.Fatal(len(list), err)
		}
	}
}
