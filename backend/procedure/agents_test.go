package procedure_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/procedure"
)

// allow has an operator say who can call a procedure.
func (d *desk) allow(called string, agents ...string) procedure.ProcedureAgents {
	d.Helper()
	now, err := d.service.SetAgents(d.Context(), ann, called, procedure.AgentsAllowed{Agents: agents})
	must(d.T, err)
	return now
}

// TestAgentsOfAProcedure: whom it is not for is not offered it and cannot have it run, from the next call on, and people always can.
func TestAgentsOfAProcedure(t *testing.T) {
	d := newDesk(t)
	d.taught(0)
	waiting := d.call(bot, october)
	offered := func(by human.Actor) bool {
		t.Helper()
		tools, err := d.service.Tools(t.Context(), by)
		must(t, err)
		return len(tools) == 1
	}
	for _, c := range []struct {
		agents     string
		bot, other bool
	}{
		{"*", true, true}, {"bot", true, false}, {"b*t oth*", true, true}, {"Bot bo", false, false}, {"*er", false, true}, {"bot *", true, true}, {"", false, false},
	} {
		names := strings.Fields(c.agents)
		if now := d.allow("read_report", names...); !slices.Equal(now.Agents, names) && now.Agents[0] != "*" {
			t.Errorf("%q is kept as %q", c.agents, now.Agents)
		}
		d.begin() // it holds after a restart
		for _, can := range []struct {
			by   human.Actor
			want bool
		}{{bot, c.bot}, {other, c.other}, {ann, true}} {
			_, err := d.service.Ask(t.Context(), can.by, "read_report", procedure.Call{Parameters: october})
			if (err == nil) != can.want || offered(can.by) != can.want || err != nil && human.KindOf(err) != human.Denied {
				t.Errorf("for %q, %s: asking says %v, and it is offered: %v", c.agents, can.by.Name, err, offered(can.by))
			}
		}
	}

	// What waits is not started for an agent that cannot call it any more.
	if _, err := d.service.Run(t.Context(), ann, waiting.Operation); human.KindOf(err) != human.Denied || !strings.Contains(err.Error(), "agent bot cannot call procedure read_report") {
		t.Errorf("a request of before is started: %v", err)
	}
	// It learns nothing of a procedure that is not for it: no version, no parameter.
	for _, c := range []procedure.Call{{}, {Version: 7}, {Parameters: map[string]string{"month": "x"}}, {Parameters: map[string]string{"no": "1"}}} {
		_, err := d.service.Ask(t.Context(), bot, "read_report", c)
		if human.KindOf(err) != human.Denied || strings.Contains(err.Error(), "month") || strings.Contains(err.Error(), "version") {
			t.Errorf("%+v tells %v", c, err)
		}
	}
	// A new version is no way around it, and a file does not have it.
	shown, err := d.service.Save(t.Context(), ann, procedure.Change{File: strings.Replace(report, "Search", "Look", 1), After: 1})
	must(t, err)
	if offered(bot) || len(shown.Agents.Agents) != 0 || strings.Contains(shown.File, "agents") {
		t.Errorf("the new version is for %+v", shown.Agents)
	}

	d.allow("read_report", "bot")
	if _, err := d.service.Run(t.Context(), ann, waiting.Operation); err != nil {
		t.Fatal(err)
	}
	d.until(waiting.Operation, human.Succeeded)
	shown, err = d.service.Get(t.Context(), ann, "read_report", 0)
	must(t, err)
	if c := shown.Agents.Callers; len(c) != 1 || c[0].Agent != "bot" || c[0].Runs != 1 {
		t.Errorf("it was called by %+v", c)
	}
	d.set(func() { d.ahead = 31 * 24 * time.Hour })
	if now := d.allow("read_report"); len(now.Callers) != 0 {
		t.Errorf("a month later it was called by %+v", now.Callers)
	}

	// With the procedure goes what was said of it.
	must(t, d.service.Remove(t.Context(), ann, "read_report"))
	d.taught(0)
	if !offered(bot) {
		t.Error("another procedure of this name has its agents")
	}
}

// TestWhoChangesTheAgents: an operator, and with names that can be those of agents.
func TestWhoChangesTheAgents(t *testing.T) {
	d := newDesk(t)
	d.taught(0)
	for _, by := range []human.Actor{bot, {Role: human.Agent, Name: "Ann"}, {Role: human.System}, {}} {
		if _, err := d.service.SetAgents(t.Context(), by, "read_report", procedure.AgentsAllowed{Agents: []string{"*"}}); human.KindOf(err) != human.Denied {
			t.Errorf("%+v changes it: %v", by, err)
		}
	}
	many := make([]string, 201)
	for i := range many {
		many[i] = "bot-" + strconv.Itoa(i)
	}
	for _, names := range [][]string{{""}, {" bot"}, {"@Mei"}, {"bot, other"}, {"a\nb"}, {strings.Repeat("a", 65)}, many} {
		if _, err := d.service.SetAgents(t.Context(), ann, "read_report", procedure.AgentsAllowed{Agents: names}); human.KindOf(err) != human.Invalid {
			t.Errorf("%.40q is kept: %v", names, err)
		}
	}
	if _, err := d.service.SetAgents(t.Context(), ann, "other", procedure.AgentsAllowed{}); human.KindOf(err) != human.NotFound {
		t.Errorf("a procedure that is not there: %v", err)
	}
}

// TestNotOfferedForOthers: a request of an agent that cannot call a procedure is done by hand.
func TestNotOfferedForOthers(t *testing.T) {
	d := newDesk(t)
	d.effect = d.grows()
	id := d.requested(`"order number"`)
	o := d.taken(id)
	d.allow("place_order", "other")
	if offers, err := d.service.Offers(t.Context(), ann, id); err != nil || len(offers) > 0 {
		t.Errorf("it is offered: %+v, %v", offers, err)
	}
	if _, err := d.service.Take(t.Context(), ann, id, o); human.KindOf(err) != human.Denied {
		t.Errorf("it is run for it: %v", err)
	}
	d.allow("place_order", bot.Name)
	d.taken(id)

	// Nor is there a way to it but its own call.
	details, err := json.Marshal(human.ProcedureCall{Procedure: "place_order", Version: o.Version, Digest: o.Digest})
	must(t, err)
	if _, _, err := d.queue.Ring(t.Context(), human.Request{Kind: human.ProcedureRun, Description: "Run it", AgentID: "third", Details: details, Priority: human.DefaultPriority}, false); human.KindOf(err) != human.Invalid {
		t.Errorf("an agent asks for the kind of operation itself: %v", err)
	}
}
