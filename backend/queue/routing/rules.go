package routing

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/kind"
)

// Rules say who is asked first, and who next.
type Rules struct {
	Rules      []Rule     `toml:"rule" json:"rules,omitempty"` // the first that matches counts
	Escalation Escalation `toml:"escalation" json:"escalation,omitzero"`
	OnCall     []OnCall   `toml:"on_call" json:"on_call,omitempty"`

	SecondApproval human.Risk `toml:"second_approval" json:"second_approval,omitempty" doc:"From this risk on two people approve; a desk may ask two earlier." enum:"none,low,medium,high,critical"`
}

// Stricter is the risk from which on two people approve, by the rules and by a desk's own setting.
func (r Rules) Stricter(own human.Risk) human.Risk {
	team, own := cmp.Or(r.SecondApproval, human.NoRisk), cmp.Or(own, human.NoRisk)
	if team != human.NoRisk && (own == human.NoRisk || team.Level() < own.Level()) {
		return team
	}
	return own
}

// A Rule says which requests it is for, by everything that it names, and who is suited to them.
type Rule struct {
	Kinds    []human.Kind `toml:"kinds" json:"kinds,omitempty"`
	Project  string       `toml:"project" json:"project,omitempty" doc:"* stands for any characters."`
	Risk     human.Risk   `toml:"risk" json:"risk,omitempty" doc:"From this risk on." enum:"low,medium,high,critical"`
	Language string       `toml:"language" json:"language,omitempty" doc:"Of the request's text." enum:"en,zh-CN"`
	Agent    string       `toml:"agent" json:"agent,omitempty" doc:"* stands for any characters."`

	Skill      string     `toml:"skill" json:"skill,omitempty" doc:"Who has it is suited."`
	Names      []string   `toml:"names" json:"names,omitempty" doc:"In place of a skill: who is suited."`
	Prefer     string     `toml:"prefer" json:"prefer,omitempty" doc:"Of those who are suited and here, the one who answered the most in the project is asked first." enum:"answered_before"`
	Escalation Escalation `toml:"escalation" json:"escalation,omitzero" doc:"In place of that for all."`
}

// AnsweredBefore is the one thing that a rule can prefer.
const AnsweredBefore = "answered_before"

// An Escalation says after how many minutes more people are asked; 0: as it is set for all, else 5, 10 and 15.
type Escalation struct {
	Everyone int `toml:"everyone_minutes" json:"everyone_minutes,omitempty"`
	OnCall   int `toml:"on_call_minutes" json:"on_call_minutes,omitempty"`
	Leads    int `toml:"leads_minutes" json:"leads_minutes,omitempty"`
}

var defaults = Escalation{Everyone: 5, OnCall: 10, Leads: 15}

func (e Escalation) or(o Escalation) Escalation {
	return Escalation{cmp.Or(e.Everyone, o.Everyone), cmp.Or(e.OnCall, o.OnCall), cmp.Or(e.Leads, o.Leads)}
}

// An OnCall is a list of members of whom each is on call for a week, in turn.
type OnCall struct {
	Skill string   `toml:"skill" json:"skill,omitempty" doc:"Absent: for every request."`
	Names []string `toml:"names" json:"names"`
	Start string   `toml:"start" json:"start" doc:"The day on which the first week of the first begins, such as 2026-11-30."`
	At    string   `toml:"at" json:"at,omitempty" doc:"The time at which weeks begin, such as 09:00; absent: 00:00."`
	Zone  string   `toml:"zone" json:"zone,omitempty" doc:"Such as Europe/Berlin; absent: UTC."`
}

// From is who is on call at a time, then those of the weeks after, in order.
func (o OnCall) From(at time.Time) []string {
	start, err := time.Parse(time.DateOnly, o.Start)
	if err != nil || len(o.Names) == 0 {
		return nil
	}
	clock, day := wall(at, o.Zone)
	days := int(day.Sub(start).Hours()) / 24
	if begins, _ := minutes(cmp.Or(o.At, "00:00")); clock < begins {
		days--
	}
	n := len(o.Names)
	week := days / 7
	if days < 0 {
		week = (days - 6) / 7
	}
	i := (week%n + n) % n
	return slices.Concat(o.Names[i:], o.Names[:i])
}

// Works says whether a member works at a time.
func (m Member) Works(at time.Time) bool {
	clock, day := wall(at, m.Zone)
	for _, h := range m.Hours {
		from, ok := minutes(h.From)
		to, ok2 := minutes(h.To)
		if !ok || !ok2 {
			continue
		}
		if from < to {
			if h.on(day) && from <= clock && clock < to {
				return true
			}
		} else if h.on(day) && from <= clock || h.on(day.AddDate(0, 0, -1)) && clock < to {
			return true
		}
	}
	return len(m.Hours) == 0
}

// ParseHours reads hours such as "mon-fri 09:00-17:30", "mon,wed 22:00-06:00" or, every day, "09:00-17:30".
func ParseHours(text string) (h Hours, err error) {
	on, clock, both := strings.Cut(strings.TrimSpace(text), " ")
	if !both {
		on, clock = "", on
	}
	for part := range strings.SplitSeq(strings.ToLower(on), ",") {
		first, last, span := strings.Cut(part, "-")
		if !span {
			last = first
		}
		i, end := slices.Index(days[:], first), slices.Index(days[:], last)
		for ; on != "" && i >= 0 && end >= 0; i = (i + 1) % len(days) {
			h.Days = append(h.Days, days[i])
			if i == end {
				break
			}
		}
		if on != "" && (i < 0 || end < 0) {
			return Hours{}, human.BadField("hours", "have the day %q; write mon, tue, wed, thu, fri, sat or sun", part)
		}
	}
	h.From, h.To, _ = strings.Cut(strings.TrimSpace(clock), "-")
	return h, Member{Hours: []Hours{h}}.Check()
}

func (h Hours) on(day time.Time) bool {
	return len(h.Days) == 0 || slices.Contains(h.Days, days[day.Weekday()])
}

var days = [...]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// wall is what the clock on the wall shows in a zone, in minutes since midnight, and the day, as one of UTC: all days of that have
// 24 hours.
func wall(at time.Time, zone string) (clock int, day time.Time) {
	place, err := time.LoadLocation(zone)
	if err != nil || zone == "Local" {
		place = time.UTC // checkZone says so
	}
	local := at.In(place)
	y, m, d := local.Date()
	return local.Hour()*60 + local.Minute(), time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// minutes reads a time of day.
func minutes(text string) (int, bool) {
	t, err := time.Parse("15:04", text)
	return t.Hour()*60 + t.Minute(), err == nil
}

// match is the first rule that is for a request; the zero Rule, for which everyone is suited, where there is none.
func (r Rules) match(ask Ask) Rule {
	i := slices.IndexFunc(r.Rules, func(r Rule) bool {
		return (len(r.Kinds) == 0 || slices.Contains(r.Kinds, ask.Kind)) && glob(r.Project, ask.Project) && glob(r.Agent, ask.Agent) &&
			(r.Risk == "" || ask.Risk.Level() >= r.Risk.Level()) && (r.Language == "" || r.Language == ask.Language)
	})
	if i < 0 {
		return Rule{}
	}
	return r.Rules[i]
}

// Skill is the one that a request needs; empty where it needs none, or a rule names people.
func (r Rules) Skill(ask Ask) string { return r.match(ask).Skill }

// glob says whether a text is one of a pattern, in which * stands for any characters; of an empty one every text is.
func glob(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	last := len(parts) - 1
	if pattern == "" || last == 0 {
		return pattern == "" || pattern == text
	}
	rest, is := strings.CutPrefix(text, parts[0])
	for _, part := range parts[1:last] {
		if is {
			_, rest, is = strings.Cut(rest, part)
		}
	}
	return is && strings.HasSuffix(rest, parts[last])
}

// Check says what is wrong with rules: an Invalid error that names the place.
func (r Rules) Check() error {
	for i, rule := range r.Rules {
		for _, k := range rule.Kinds {
			if _, is := kind.Of(k); !is {
				return human.BadField("rule.kinds", "of rule %d has %q, which is not one of %s", i+1, k, kind.Sentence(kind.Names()))
			}
		}
		if rule.Risk != "" && !slices.Contains(human.Risks, rule.Risk) {
			return human.BadField("rule.risk", "of rule %d is %q, which is no risk", i+1, rule.Risk)
		}
		if rule.Prefer != "" && rule.Prefer != AnsweredBefore {
			return human.BadField("rule.prefer", "of rule %d is %q; write answered_before, or nothing", i+1, rule.Prefer)
		}
		if rule.Skill != "" && len(rule.Names) > 0 || rule.Skill == "" && len(rule.Names) == 0 && rule.Prefer == "" {
			return human.BadField("rule.skill", "of rule %d: give a skill or names, and not both", i+1)
		}
		if err := rule.Escalation.or(r.Escalation).check(); err != nil {
			return err
		}
	}
	for i, o := range r.OnCall {
		_, err := time.Parse(time.DateOnly, o.Start)
		_, timed := minutes(cmp.Or(o.At, "00:00"))
		if err != nil || !timed || len(o.Names) == 0 {
			return human.BadField("on_call", "number %d needs names, a start such as 2026-11-30 and a time such as 09:00", i+1)
		}
		if err := checkZone(o.Zone); err != nil {
			return err
		}
	}
	if risk := r.SecondApproval; risk != "" && !slices.Contains(human.Risks, risk) {
		return human.BadField("second_approval", "is %q, which is no risk; write none, low, medium, high or critical", risk)
	}
	return r.Escalation.check()
}

// check says what is wrong with times of which some may not be set.
func (e Escalation) check() error {
	e = e.or(defaults)
	if e.Everyone < 0 || e.OnCall < e.Everyone || e.Leads < e.OnCall {
		return human.BadField("escalation", "asks everyone after %d minutes, who is on call after %d and the leads after %d; each must be at or after the one before", e.Everyone, e.OnCall, e.Leads)
	}
	return nil
}

// MemberChange is what is different of a member; what is absent stays.
type MemberChange struct {
	Skills    *[]string `json:"skills,omitempty"`
	Languages *[]string `json:"languages,omitempty" doc:"Such as en or zh-CN; none: any."`
	Zone      *string   `json:"zone,omitempty" doc:"Such as Europe/Berlin; empty: UTC."`
	Hours     *[]Hours  `json:"hours,omitempty" doc:"When they work; none: always."`
}

// Change changes a member.
func (c MemberChange) Change(m *Member) {
	set(&m.Skills, c.Skills)
	set(&m.Languages, c.Languages)
	set(&m.Zone, c.Zone)
	set(&m.Hours, c.Hours)
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// Check says what is wrong with a member: an Invalid error that names the field.
func (m Member) Check() error {
	for _, h := range m.Hours {
		_, from := minutes(h.From)
		_, to := minutes(h.To)
		if !from || !to {
			return human.BadField("hours", "are from %q to %q; write times such as 09:00", h.From, h.To)
		}
		for _, day := range h.Days {
			if !slices.Contains(days[:], day) {
				return human.BadField("hours", "have the day %q; write mon, tue, wed, thu, fri, sat or sun", day)
			}
		}
	}
	return checkZone(m.Zone)
}

func checkZone(zone string) error {
	if _, err := time.LoadLocation(zone); err != nil || zone == "Local" {
		return human.BadField("zone", "%q is not a time zone such as Europe/Berlin", zone)
	}
	return nil
}
