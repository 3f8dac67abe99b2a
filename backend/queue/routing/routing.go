// Package routing says who of a team is asked for a request, when and why: first one person, then more. It does no I/O and reads no
// clock; equal input has an equal result, on every machine of a team.
package routing

import (
	"cmp"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // Windows has no time zones by these names

	"deskbell/backend/human"
)

// A Role is what a member may do.
type Role string

// The roles. Only operators and leads are asked.
const (
	Agent    Role = "agent"
	Operator Role = "operator"
	Lead     Role = "lead"
	Auditor  Role = "auditor"
)

// A Member is one of a team.
type Member struct {
	Name      string   `json:"name"`
	Role      Role     `json:"role" enum:"agent,operator,lead,auditor"`
	Skills    []string `json:"skills,omitempty"`
	Languages []string `json:"languages,omitempty" doc:"Such as en or zh-CN; none: any."`
	Zone      string   `json:"zone,omitempty" doc:"Such as Europe/Berlin; absent: UTC."`
	Hours     []Hours  `json:"hours,omitempty" doc:"When they work; none: always."`
}

// Hours are a time of day on some days, of the clock on the wall.
type Hours struct {
	Days []string `json:"days,omitempty" doc:"mon, tue, wed, thu, fri, sat, sun; none: every day."`
	From string   `json:"from" doc:"Such as 09:00."`
	To   string   `json:"to" doc:"Such as 17:30. At or before from: on the next day."`
}

// A Presence is how a member is there now.
type Presence struct {
	Connected bool      `json:"connected"`
	AwayUntil time.Time `json:"away_until,omitzero"`
	Claims    int       `json:"claims" doc:"How many open requests they have claimed."`
	LastSeen  time.Time `json:"last_seen,omitzero"`
}

// A Team is who could be asked.
type Team struct {
	Members  []Member
	Presence map[string]Presence       // by name
	Before   map[string]map[string]int // how many requests members answered lately, by project and name
}

// Here says whether a member is connected, not away, and works at a time.
func (t Team) Here(m Member, at time.Time) bool {
	p := t.Presence[m.Name]
	return p.Connected && !p.AwayUntil.After(at) && m.Works(at)
}

// An Ask is what a request is like.
type Ask struct {
	Kind        human.Kind
	Project     string
	Risk        human.Risk
	Language    string // of its text
	Agent       string
	RequestedBy string // whose agent asked
	Approved    string // who gave the first of two approvals
	To          string // who alone can answer
}

// AskOf is what an operation is like at a time.
func AskOf(op human.Operation, at time.Time) Ask {
	ask := Ask{Kind: op.Kind, Project: op.Named().ProjectName, Risk: op.Risk, Language: human.LanguageOf(op.Description), Agent: op.AgentID, RequestedBy: op.RequestedBy, To: op.To}
	if first := op.FirstApproval(at); first != nil {
		ask.Approved = first.By.Name
	}
	if ask.Risk == "" && op.Kind != human.Approve { // an approval that names no risk counts as critical
		ask.Risk = human.NoRisk
	}
	return ask
}

// A Step is one of asking people, beside those of the steps before.
type Step struct {
	At     time.Time      `json:"at"`
	Names  []string       `json:"names"`
	Reason human.Sentence `json:"reason"`
}

// A Route is who is asked for a request, in order.
type Route struct {
	Steps []Step           `json:"steps"`
	Notes []human.Sentence `json:"notes,omitempty" doc:"What counts for all steps: who is not asked, and why."`
}

// Explain says why a member is asked; nothing for one who is not.
func (r Route) Explain(name string) []human.Sentence {
	i := slices.IndexFunc(r.Steps, func(s Step) bool { return slices.Contains(s.Names, name) })
	if i < 0 {
		return nil
	}
	return append([]human.Sentence{r.Steps[i].Reason}, r.Notes...)
}

// Route says who is asked for a request that came, or lost its approval, at a time.
func (r Rules) Route(ask Ask, team Team, at time.Time) Route {
	if ask.To != "" {
		return Route{Steps: []Step{{at, []string{ask.To}, human.Sayf("only %s can answer, whose recording it is", ask.To)}}}
	}
	c := chain{ask: ask, team: team, at: at, rule: r.match(ask), asked: map[string]bool{}}
	c.find()
	after := c.rule.Escalation.or(r.Escalation).or(defaults)
	c.first()
	c.everyone(at.Add(time.Duration(after.Everyone) * time.Minute))
	c.onCall(r.OnCall, at.Add(time.Duration(after.OnCall)*time.Minute))
	c.leads(at.Add(time.Duration(after.Leads) * time.Minute))
	if len(c.route.Steps) == 0 {
		c.step(at, c.people, human.Sayf("everyone who can answer is asked, because no one else is left"))
	}
	if len(c.route.Steps) > 0 {
		first := c.route.Steps[0].At
		for i := range c.route.Steps {
			if s := &c.route.Steps[i]; s.At.Equal(first) {
				s.At = at // there is no one before them to wait for
			}
		}
	}
	return c.route
}

// A chain is a route that is made.
type chain struct {
	ask    Ask
	team   Team
	at     time.Time
	rule   Rule
	people []Member // who may be asked at all, the best first
	suited []Member // of those, whom the rule means
	asked  map[string]bool
	route  Route
}

// find sorts out who may be asked, and who is suited.
func (c *chain) find() {
	for _, m := range c.team.Members {
		switch {
		case m.Role != Operator && m.Role != Lead || m.Name == "":
		case m.Name == c.ask.RequestedBy:
			c.route.Notes = append(c.route.Notes, human.Sayf("%s is not asked, because their own agent sent the request", m.Name))
		case m.Name == c.ask.Approved:
		default:
			c.people = append(c.people, m)
		}
	}
	if c.ask.Approved != "" {
		c.route.Notes = append(c.route.Notes, human.Sayf("%s approved first, so another person has to approve", c.ask.Approved))
	}
	slices.SortFunc(c.people, c.order)
	for _, m := range c.people {
		if c.suits(m) {
			c.suited = append(c.suited, m)
		}
	}
}

func (c *chain) suits(m Member) bool {
	if len(c.rule.Names) > 0 {
		return slices.Contains(c.rule.Names, m.Name)
	}
	return c.rule.Skill == "" || slices.Contains(m.Skills, c.rule.Skill)
}

// order puts first who is here and reads the language; then who has the fewest claims, and of those who answered the most in the project,
// or the other way round where the rule prefers that.
func (c *chain) order(a, b Member) int {
	rank := func(m Member) int {
		n := 0
		if !c.here(m) {
			n += 2
		}
		if !m.reads(c.ask.Language) {
			n++
		}
		return n
	}
	claims := cmp.Compare(c.team.Presence[a.Name].Claims, c.team.Presence[b.Name].Claims)
	before := cmp.Compare(c.before(b), c.before(a))
	if c.rule.Prefer == AnsweredBefore {
		claims, before = before, claims
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), claims, before, cmp.Compare(a.Name, b.Name))
}

func (c *chain) here(m Member) bool { return c.team.Here(m, c.at) }

// before is how many requests of the project a member answered.
func (c *chain) before(m Member) int { return c.team.Before[c.ask.Project][m.Name] }

func (m Member) reads(language string) bool {
	base := func(l string) string { l, _, _ = strings.Cut(strings.ToLower(l), "-"); return l }
	return language == "" || len(m.Languages) == 0 || slices.ContainsFunc(m.Languages, func(l string) bool { return base(l) == base(language) })
}

// step adds one of those who were not asked before, if there are any.
func (c *chain) step(at time.Time, members []Member, reason human.Sentence) {
	var names []string
	for _, m := range members {
		if !c.asked[m.Name] {
			c.asked[m.Name] = true
			names = append(names, m.Name)
		}
	}
	if len(names) > 0 {
		c.route.Steps = append(c.route.Steps, Step{At: at, Names: names, Reason: reason})
	}
}

// first asks the one person who suits best, if anyone who suits is here.
func (c *chain) first() {
	if len(c.suited) == 0 || !c.here(c.suited[0]) {
		return
	}
	best := c.suited[0]
	reason := human.Sayf("of those who are here, %s has the fewest claims", best.Name)
	switch {
	case c.rule.Prefer == AnsweredBefore && c.before(best) > 0:
		reason = human.Sayf("of those who suit and are here, %s has answered the most in this project", best.Name)
	case len(c.rule.Names) > 0:
		reason = human.Sayf("a rule names %s, who has the fewest claims of those who are here", best.Name)
	case c.rule.Skill != "":
		reason = human.Sayf("it needs the skill %s, and of those who have it and are here, %s has the fewest claims", c.rule.Skill, best.Name)
	}
	c.step(c.at, []Member{best}, reason)
}

// everyone asks all who suit.
func (c *chain) everyone(at time.Time) {
	reason := human.Sayf("everyone in the team is asked")
	switch {
	case len(c.rule.Names) > 0:
		reason = human.Sayf("everyone whom the rule names is asked")
	case c.rule.Skill != "" && len(c.suited) == 0:
		c.route.Notes = append(c.route.Notes, human.Sayf("no one who can be asked has the skill %s", c.rule.Skill))
	case c.rule.Skill != "" && !c.here(c.suited[0]):
		reason = human.Sayf("no one with the skill %s is here, so everyone who has it is asked", c.rule.Skill)
	case c.rule.Skill != "":
		reason = human.Sayf("everyone with the skill %s is asked", c.rule.Skill)
	}
	c.step(at, c.suited, reason)
}

// onCall asks who is on call for the skill, then who is for everything.
func (c *chain) onCall(weeks []OnCall, at time.Time) {
	weeks = slices.Clone(weeks)
	slices.SortStableFunc(weeks, func(a, b OnCall) int { return strings.Compare(b.Skill, a.Skill) })
	for _, w := range weeks {
		if w.Skill != "" && w.Skill != c.rule.Skill {
			continue
		}
		for _, name := range w.From(at) { // whoever cannot be asked is replaced by the next
			i := slices.IndexFunc(c.people, func(m Member) bool { return m.Name == name })
			if i < 0 {
				continue
			}
			reason := human.Sayf("%s is on call", name)
			if w.Skill != "" {
				reason = human.Sayf("%s is on call for %s", name, w.Skill)
			}
			c.step(at, c.people[i:i+1], reason)
			break
		}
	}
}

func (c *chain) leads(at time.Time) {
	var leads []Member
	for _, m := range c.people {
		if m.Role == Lead {
			leads = append(leads, m)
		}
	}
	c.step(at, leads, human.Sayf("the leads are asked, because no one has answered"))
}
