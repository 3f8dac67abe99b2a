package routing_test

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pelletier/go-toml/v2"
	"pgregory.net/rapid"

	"deskbell/backend/human"
	"deskbell/backend/queue/routing"
)

// monday is a Monday at noon, UTC.
var monday = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func member(name string, role routing.Role, skills ...string) routing.Member {
	return routing.Member{Name: name, Role: role, Skills: skills}
}

// team has everyone connected, with that many claims in order.
func team(claims []int, members ...routing.Member) routing.Team {
	t := routing.Team{Members: members, Presence: map[string]routing.Presence{}, Before: map[string]map[string]int{}}
	for i, m := range members {
		t.Presence[m.Name] = routing.Presence{Connected: true, Claims: claims[i]}
	}
	return t
}

// says are the steps in a line: minutes and names.
func says(r routing.Route, from time.Time) string {
	var all []string
	for _, s := range r.Steps {
		all = append(all, fmt.Sprintf("%d %s", int(s.At.Sub(from).Minutes()), strings.Join(s.Names, "+")))
	}
	return strings.Join(all, ", ")
}

var databases = routing.Rules{
	Rules: []routing.Rule{{Kinds: []human.Kind{human.Approve}, Project: "billing*", Skill: "databases"}},
	OnCall: []routing.OnCall{
		{Skill: "payments", Names: []string{"Mei"}, Start: "2026-11-30"},
		{Names: []string{"Sam", "Priya"}, Start: "2026-11-30", At: "09:00"},
	},
}

func TestWhoIsAsked(t *testing.T) {
	drop := routing.Ask{Kind: human.Approve, Project: "billing-eu", Risk: human.CriticalRisk, Language: "en", Agent: "migrator"}
	people := []routing.Member{
		member("Aylin", routing.Lead, "databases"), member("Mei", routing.Operator, "kubernetes", "databases"), member("Priya", routing.Operator, "databases"),
		member("Sam", routing.Operator, "security"), member("Lin", routing.Auditor, "databases"), member("ci", routing.Agent, "databases"),
	}
	with := func(change func(*routing.Team, *routing.Ask)) (routing.Team, routing.Ask) {
		all, ask := team([]int{3, 2, 1, 0, 0, 0}, slices.Clone(people)...), drop
		change(&all, &ask)
		return all, ask
	}
	presence := func(name string, change func(*routing.Presence)) func(*routing.Team, *routing.Ask) {
		return func(t *routing.Team, _ *routing.Ask) {
			p := t.Presence[name]
			change(&p)
			t.Presence[name] = p
		}
	}
	for name, tt := range map[string]struct {
		change func(*routing.Team, *routing.Ask)
		want   string
		why    string // of the first step
	}{
		"the fewest claims, then all with the skill, then on call": {func(*routing.Team, *routing.Ask) {}, "0 Priya, 5 Mei+Aylin, 10 Sam",
			"it needs the skill databases, and of those who have it and are here, Priya has the fewest claims"},
		"not who is away":         {presence("Priya", func(p *routing.Presence) { p.AwayUntil = monday.Add(time.Minute) }), "0 Mei, 5 Aylin+Priya, 10 Sam", ""},
		"who comes back is here":  {presence("Priya", func(p *routing.Presence) { p.AwayUntil = monday }), "0 Priya, 5 Mei+Aylin, 10 Sam", ""},
		"not who is disconnected": {presence("Priya", func(p *routing.Presence) { p.Connected = false }), "0 Mei, 5 Aylin+Priya, 10 Sam", ""},
		"not outside of their hours": {func(t *routing.Team, _ *routing.Ask) {
			t.Members[2].Hours = []routing.Hours{{From: "13:00", To: "17:00"}}
		}, "0 Mei, 5 Aylin+Priya, 10 Sam", ""},
		"who answered before, of equal claims": {func(t *routing.Team, _ *routing.Ask) {
			t.Presence["Mei"] = t.Presence["Priya"]
			t.Before["billing-eu"] = map[string]int{"Priya": 3}
		}, "0 Priya, 5 Mei+Aylin, 10 Sam", ""},
		"else by name": {func(t *routing.Team, _ *routing.Ask) {
			t.Presence["Mei"] = t.Presence["Priya"]
			slices.Reverse(t.Members)
		}, "0 Mei, 5 Priya+Aylin, 10 Sam", ""},
		"who reads the language": {func(t *routing.Team, a *routing.Ask) {
			a.Language = "zh-CN"
			t.Members[0].Languages, t.Members[1].Languages, t.Members[2].Languages = []string{"de"}, []string{"zh"}, []string{"en"}
		}, "0 Mei, 5 Priya+Aylin, 10 Sam", ""},
		"not who asked":    {func(_ *routing.Team, a *routing.Ask) { a.RequestedBy = "Priya" }, "0 Mei, 5 Aylin, 10 Sam", ""},
		"for one member":   {func(_ *routing.Team, a *routing.Ask) { a.To = "Mei" }, "0 Mei", "only Mei can answer, whose recording it is"},
		"not who approved": {func(_ *routing.Team, a *routing.Ask) { a.Approved = "Priya" }, "0 Mei, 5 Aylin, 10 Sam", ""},
		"no one with it is here": {func(t *routing.Team, _ *routing.Ask) { clear(t.Presence) }, "0 Aylin+Mei+Priya, 10 Sam",
			"no one with the skill databases is here, so everyone who has it is asked"},
		"no one has it": {func(t *routing.Team, _ *routing.Ask) {
			for i := range t.Members {
				t.Members[i].Skills = nil
			}
		}, "0 Sam, 15 Aylin", "Sam is on call"},
		"the next on call, where they asked": {func(_ *routing.Team, a *routing.Ask) { a.RequestedBy = "Sam" }, "0 Priya, 5 Mei+Aylin", ""},
		"no rule":                            {func(_ *routing.Team, a *routing.Ask) { a.Project = "docs" }, "0 Sam, 5 Priya+Mei+Aylin", "of those who are here, Sam has the fewest claims"},
		"one operator":                       {func(t *routing.Team, _ *routing.Ask) { t.Members = t.Members[3:] }, "0 Sam", "Sam is on call"},
		"an empty team":                      {func(t *routing.Team, _ *routing.Ask) { *t = routing.Team{} }, "", ""},
		"only agents and auditors":           {func(t *routing.Team, _ *routing.Ask) { t.Members = t.Members[4:] }, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			all, ask := with(tt.change)
			r := databases.Route(ask, all, monday)
			if got := says(r, monday); got != tt.want {
				t.Errorf("%s\nwant %s", got, tt.want)
			}
			if tt.why != "" && r.Steps[0].Reason.Text != tt.why {
				t.Errorf("because %s", r.Steps[0].Reason.Text)
			}
		})
	}
	all, ask := with(func(_ *routing.Team, a *routing.Ask) { a.Approved, a.RequestedBy = "Mei", "Aylin" })
	var why []string
	for _, s := range databases.Route(ask, all, monday).Explain("Priya") {
		why = append(why, s.Text)
	}
	if want := []string{
		"it needs the skill databases, and of those who have it and are here, Priya has the fewest claims",
		"Aylin is not asked, because their own agent sent the request", "Mei approved first, so another person has to approve",
	}; !slices.Equal(why, want) {
		t.Errorf("explained by %q", why)
	}
	if why := databases.Route(ask, all, monday).Explain("Lin"); why != nil {
		t.Errorf("an auditor is asked because %v", why)
	}
	escalation := databases
	escalation.Escalation = routing.Escalation{Everyone: 1, OnCall: 2, Leads: 3}
	escalation.Rules = append([]routing.Rule{{Agent: "*grat*", Names: []string{"Mei", "Lin"}, Escalation: routing.Escalation{OnCall: 4, Leads: 60}}}, databases.Rules...)
	if got := says(escalation.Route(drop, all, monday), monday); got != "0 Mei, 4 Sam, 60 Aylin" {
		t.Errorf("with a rule that names people: %s", got)
	}
}

// A rule may prefer who answered the most in the project, over who has fewer claims.
func TestWhoAnsweredBeforeIsPreferred(t *testing.T) {
	all := team([]int{0, 1, 5, 9}, member("Ann", routing.Operator, "web"), member("Bo", routing.Operator, "web"), member("Mei", routing.Operator, "web"), member("Tom", routing.Operator, "web"))
	all.Before["shop"] = map[string]int{"Bo": 2, "Mei": 7, "Tom": 7}
	for name, tt := range map[string]struct {
		rule    routing.Rule
		project string
		away    string
		want    string
		why     string
	}{
		"preferred":                    {routing.Rule{Skill: "web", Prefer: routing.AnsweredBefore}, "shop", "", "0 Mei, 5 Tom+Bo+Ann", "of those who suit and are here, Mei has answered the most in this project"},
		"of those who are here":        {routing.Rule{Skill: "web", Prefer: routing.AnsweredBefore}, "shop", "Mei", "0 Tom, 5 Bo+Ann+Mei", ""},
		"of those whom the rule names": {routing.Rule{Names: []string{"Ann", "Bo"}, Prefer: routing.AnsweredBefore}, "shop", "", "0 Bo, 5 Ann", ""},
		"of everyone":                  {routing.Rule{Prefer: routing.AnsweredBefore}, "shop", "", "0 Mei, 5 Tom+Bo+Ann", ""},
		"in this project only":         {routing.Rule{Skill: "web", Prefer: routing.AnsweredBefore}, "docs", "", "0 Ann, 5 Bo+Mei+Tom", "it needs the skill web, and of those who have it and are here, Ann has the fewest claims"},
		"where the rule says nothing":  {routing.Rule{Skill: "web"}, "shop", "", "0 Ann, 5 Bo+Mei+Tom", ""},
	} {
		t.Run(name, func(t *testing.T) {
			now := all
			now.Presence = maps.Clone(all.Presence)
			delete(now.Presence, tt.away)
			rules := routing.Rules{Rules: []routing.Rule{tt.rule}}
			if err := rules.Check(); err != nil {
				t.Fatal(err)
			}
			r := rules.Route(routing.Ask{Kind: human.Feedback, Project: tt.project}, now, monday)
			if got := says(r, monday); got != tt.want || tt.why != "" && r.Steps[0].Reason.Text != tt.why {
				t.Errorf("%s, because %s\nwant %s", got, r.Steps[0].Reason.Text, tt.want)
			}
		})
	}
}

// The rules match by everything they name.
func TestRulesMatch(t *testing.T) {
	ask := routing.Ask{Kind: human.Approve, Project: "billing/eu", Risk: human.HighRisk, Language: "zh-CN", Agent: "migrator"}
	all := team([]int{0, 0}, member("Ann", routing.Operator), member("Bo", routing.Operator))
	for name, tt := range map[string]struct {
		rule routing.Rule
		want bool
	}{
		"everything":        {routing.Rule{Kinds: []human.Kind{human.Bash, human.Approve}, Project: "billing/*", Risk: human.HighRisk, Language: "zh-CN", Agent: "mig*or"}, true},
		"nothing":           {routing.Rule{}, true},
		"another kind":      {routing.Rule{Kinds: []human.Kind{human.Bash}}, false},
		"another project":   {routing.Rule{Project: "bill"}, false},
		"a part of it":      {routing.Rule{Project: "*ll*g*eu"}, true},
		"not a part of it":  {routing.Rule{Project: "*x*eu"}, false},
		"not twice the end": {routing.Rule{Project: "billing/eu*u"}, false},
		"a lower risk":      {routing.Rule{Risk: human.LowRisk}, true},
		"a higher risk":     {routing.Rule{Risk: human.CriticalRisk}, false},
		"another language":  {routing.Rule{Language: "en"}, false},
		"another agent":     {routing.Rule{Agent: "*bot"}, false},
	} {
		tt.rule.Names = []string{"Bo"}
		r := routing.Rules{Rules: []routing.Rule{tt.rule}}.Route(ask, all, monday)
		if got := r.Steps[0].Names[0] == "Bo"; got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestAskOf(t *testing.T) {
	op := human.Operation{Kind: human.Feedback, Description: "要不要删除？", Context: []byte(`{"project":"billing"}`), AgentID: "bot", TeamState: human.TeamState{
		RequestedBy: "Ann", Approvals: []human.Approval{{By: human.Actor{Name: "Bo"}, At: monday}},
	}}
	if got := routing.AskOf(op, monday.Add(15*time.Minute)); got != (routing.Ask{human.Feedback, "billing", human.NoRisk, "zh-CN", "bot", "Ann", "Bo", ""}) {
		t.Errorf("%+v", got)
	}
	op.Kind = human.Approve
	if got := routing.AskOf(op, monday.Add(16*time.Minute)); got.Approved != "" || got.Risk != "" {
		t.Errorf("after the first approval lapsed: %+v", got)
	}
}

func TestHours(t *testing.T) {
	week := []string{"mon", "tue", "wed", "thu", "fri"}
	at := func(text string) time.Time {
		moment, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return moment
	}
	for name, tt := range map[string]struct {
		zone  string
		hours routing.Hours
		at    string
		want  bool
	}{
		"from the first minute":                {"", routing.Hours{week, "09:00", "17:00"}, "2026-11-30T09:00:00Z", true},
		"until the last":                       {"", routing.Hours{week, "09:00", "17:00"}, "2026-11-30T17:00:00Z", false},
		"another day":                          {"", routing.Hours{week, "09:00", "17:00"}, "2026-11-29T12:00:00Z", false},
		"the day of the zone":                  {"Pacific/Auckland", routing.Hours{week, "00:00", "08:00"}, "2026-11-29T12:00:00Z", true},
		"past midnight":                        {"", routing.Hours{[]string{"sun"}, "22:00", "06:00"}, "2026-11-30T05:59:00Z", true},
		"not before midnight of another day":   {"", routing.Hours{[]string{"sun"}, "22:00", "06:00"}, "2026-11-30T23:00:00Z", false},
		"a whole day":                          {"", routing.Hours{nil, "00:00", "00:00"}, "2026-11-30T23:59:00Z", true},
		"in winter":                            {"Europe/Berlin", routing.Hours{nil, "09:00", "17:00"}, "2026-03-28T08:00:00Z", true},
		"in summer an hour earlier":            {"Europe/Berlin", routing.Hours{nil, "09:00", "17:00"}, "2026-03-29T07:00:00Z", true},
		"and not longer":                       {"Europe/Berlin", routing.Hours{nil, "09:00", "17:00"}, "2026-03-29T15:00:00Z", false},
		"in the hour that is left out":         {"Europe/Berlin", routing.Hours{nil, "02:00", "03:00"}, "2026-03-29T01:00:00Z", false},
		"in the hour that comes twice, first":  {"Europe/Berlin", routing.Hours{nil, "02:00", "03:00"}, "2026-10-25T00:30:00Z", true},
		"in the hour that comes twice, second": {"Europe/Berlin", routing.Hours{nil, "02:00", "03:00"}, "2026-10-25T01:30:00Z", true},
		"not the machine's zone":               {"Local", routing.Hours{nil, "09:00", "17:00"}, "2026-11-30T09:00:00Z", true},
	} {
		m := routing.Member{Zone: tt.zone, Hours: []routing.Hours{tt.hours}}
		if got := m.Works(at(tt.at)); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	weeks := routing.OnCall{Names: []string{"a", "b", "c"}, Start: "2026-03-23", At: "09:00", Zone: "Europe/Berlin"}
	for text, want := range map[string]string{
		"2026-03-23T08:00:00Z": "a", "2026-03-23T07:59:00Z": "c", "2026-03-30T06:59:00Z": "a", // summer time began on the 29th
		"2026-03-30T07:00:00Z": "b", "2026-04-06T07:00:00Z": "c", "2026-04-13T07:00:00Z": "a", "2026-03-16T08:00:00Z": "c", "2026-03-16T07:59:00Z": "b",
	} {
		if got := weeks.From(at(text)); len(got) != 3 || got[0] != want {
			t.Errorf("on call at %s: %v, want %s", text, got, want)
		}
	}
}

// Whatever the team is like: someone is asked where anyone may be, no one is asked who may not, no one twice, times do not go back, and
// the order of the members does not matter.
func TestRoutesOfAnyTeam(t *testing.T) {
	skills := []string{"databases", "payments", "unknown"}
	zones := []string{"", "Europe/Berlin", "Asia/Shanghai", "America/New_York", "Australia/Lord_Howe", "nowhere"}
	clock := []string{"00:00", "02:30", "09:00", "17:00", "23:59"}
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SliceOfN(rapid.SampledFrom(skills[:2]), 0, 2)
		at := time.Date(2026, 3, 27, 0, 0, 0, 0, time.UTC).Add(time.Duration(rapid.IntRange(0, 250*24*60).Draw(t, "minute")) * time.Minute)
		before := map[string]int{}
		all := routing.Team{Presence: map[string]routing.Presence{}, Before: map[string]map[string]int{"shop": before}}
		var names []string
		for i := range rapid.IntRange(0, 7).Draw(t, "members") {
			m := member(fmt.Sprintf("m%d", i), rapid.SampledFrom([]routing.Role{routing.Operator, routing.Operator, routing.Lead, routing.Auditor, routing.Agent}).Draw(t, "role"), some.Draw(t, "skills")...)
			m.Zone = rapid.SampledFrom(zones).Draw(t, "zone")
			m.Languages = rapid.SliceOfN(rapid.SampledFrom([]string{"en", "zh-CN"}), 0, 2).Draw(t, "languages")
			for range rapid.IntRange(0, 2).Draw(t, "hours") {
				m.Hours = append(m.Hours, routing.Hours{From: rapid.SampledFrom(clock).Draw(t, "from"), To: rapid.SampledFrom(clock).Draw(t, "to")})
			}
			if rapid.Bool().Draw(t, "known") {
				all.Presence[m.Name] = routing.Presence{Connected: rapid.Bool().Draw(t, "connected"), Claims: rapid.IntRange(0, 2).Draw(t, "claims"), AwayUntil: at.Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, "away")) * time.Hour)}
			}
			before[m.Name] = rapid.IntRange(0, 1).Draw(t, "before")
			all.Members, names = append(all.Members, m), append(names, m.Name)
		}
		name := rapid.SampledFrom(append([]string{"", "gone"}, names...))
		rules := routing.Rules{
			Rules:  []routing.Rule{{Skill: rapid.SampledFrom(skills).Draw(t, "skill")}},
			OnCall: []routing.OnCall{{Names: rapid.SliceOfN(name, 1, 3).Draw(t, "on call"), Start: "2026-03-30", At: "09:00", Zone: rapid.SampledFrom(zones).Draw(t, "on call in")}},
		}
		if rapid.Bool().Draw(t, "by name") {
			rules.Rules = []routing.Rule{{Names: rapid.SliceOfN(name, 1, 3).Draw(t, "names")}}
		}
		rules.Rules[0].Prefer = rapid.SampledFrom([]string{"", routing.AnsweredBefore}).Draw(t, "prefer")
		ask := routing.Ask{Project: "shop", RequestedBy: name.Draw(t, "asked by"), Approved: name.Draw(t, "approved by"), Language: rapid.SampledFrom([]string{"en", "zh-CN"}).Draw(t, "language")}
		r := rules.Route(ask, all, at)
		last, asked := at, map[string]bool{}
		for _, s := range r.Steps {
			if s.At.Before(last) || len(s.Names) == 0 || s.Reason.Text == "" {
				t.Fatalf("the step %+v after %s", s, last)
			}
			last = s.At
			for _, n := range s.Names {
				i := slices.Index(names, n)
				if asked[n] || i < 0 || n == ask.RequestedBy || n == ask.Approved || all.Members[i].Role == routing.Auditor || all.Members[i].Role == routing.Agent {
					t.Fatalf("%s is asked: %+v", n, r.Steps)
				}
				asked[n] = true
			}
		}
		may := slices.ContainsFunc(all.Members, func(m routing.Member) bool {
			return (m.Role == routing.Operator || m.Role == routing.Lead) && m.Name != ask.RequestedBy && m.Name != ask.Approved
		})
		if may != (len(r.Steps) > 0) || may && !r.Steps[0].At.Equal(at) {
			t.Fatalf("steps %+v, and someone may be asked: %t", r.Steps, may)
		}
		all.Members = rapid.Permutation(all.Members).Draw(t, "in another order")
		if again := rules.Route(ask, all, at); !reflect.DeepEqual(again.Steps, r.Steps) {
			t.Fatalf("%+v\nand in another order\n%+v", r.Steps, again.Steps)
		}
	})
}

// The example in the documents is read, is right, and asks whom the documents say.
func TestTheExample(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/routing.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(doc), "```toml\n")
	text, _, is := strings.Cut(text, "```")
	var rules routing.Rules
	if err := toml.NewDecoder(strings.NewReader(text)).DisallowUnknownFields().Decode(&rules); err != nil || !is {
		t.Fatal(err)
	}
	if err := rules.Check(); err != nil || len(rules.Rules) != 3 || len(rules.OnCall) != 2 {
		t.Fatalf("%+v, %v", rules, err)
	}
	all := team([]int{2, 1, 0, 0}, member("Aylin", routing.Lead), member("Mei", routing.Operator, "databases"), member("Priya", routing.Operator, "databases"), member("Sam", routing.Operator))
	ask := routing.Ask{Kind: human.Approve, Project: "billing-eu", Risk: human.CriticalRisk, Language: "en", RequestedBy: "Priya"}
	if got := says(rules.Route(ask, all, monday), monday); got != "0 Mei, 5 Sam, 10 Aylin" {
		t.Errorf("the example asks %s", got)
	}
	all.Members = append(all.Members, member("Lin", routing.Operator))
	review := rules.Route(routing.Ask{Kind: human.Review, RequestedBy: "Sam"}, all, monday)
	if got := says(review, monday); got != "0 Lin, 0 Priya, 120 Aylin" || review.Steps[0].Reason.Text != "Lin is on call for code review" {
		t.Errorf("the example asks %s, because %s", got, review.Steps[0].Reason.Text)
	}
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	for want, r := range map[string]routing.Rules{
		"rule.kinds":  {Rules: []routing.Rule{{Kinds: []human.Kind{"nap"}, Skill: "s"}}},
		"rule.risk":   {Rules: []routing.Rule{{Risk: "huge", Skill: "s"}}},
		"rule.skill":  {Rules: []routing.Rule{{}}},
		"rule.prefer": {Rules: []routing.Rule{{Skill: "s", Prefer: "speed"}}},
		"on_call":     {OnCall: []routing.OnCall{{Names: []string{"a"}, Start: "monday"}}},
		"zone":        {OnCall: []routing.OnCall{{Names: []string{"a"}, Start: "2026-11-30", Zone: "Local"}}},
		"escalation":  {Rules: []routing.Rule{{Skill: "s", Escalation: routing.Escalation{Everyone: 20}}}},
	} {
		if err := r.Check(); human.KindOf(err) != human.Invalid || !strings.HasPrefix(err.Error(), want+":") {
			t.Errorf("%s: %v", want, err)
		}
	}
	for want, m := range map[string]routing.Member{
		"hours: are":  {Hours: []routing.Hours{{From: "9", To: "17:00"}}},
		"hours: have": {Hours: []routing.Hours{{Days: []string{"Monday"}, From: "09:00", To: "17:00"}}},
		"zone":        {Zone: "Middle/Earth"},
	} {
		if err := m.Check(); human.KindOf(err) != human.Invalid || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if err := (routing.Member{Zone: "Europe/Berlin", Hours: []routing.Hours{{Days: []string{"mon"}, From: "09:00", To: "17:00"}}}).Check(); err != nil {
		t.Error(err)
	}
}
