package service

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"deskbell/backend/gate"
	"deskbell/backend/gate/rules"
	"deskbell/backend/human"
)

// Bounds of the questions that never changed an outcome.
const (
	mostUnchanged = 50 // questions that are listed
	listUnchanged = 5  // calls that are listed of one
)

// Why no rule is proposed, beside those of rules.Doubt.
const (
	hasRule      rules.Doubt = "has_rule"     // one of the operator's own covers it already
	wasOtherwise rules.Doubt = "otherwise"    // the rule would have overruled a person
	wasDismissed rules.Doubt = "dismissed"    // an operator did not want it
	mattered     rules.Doubt = "not_the_same" // is never listed
)

// An UnchangedQuestion was answered the same way every time, without a word or a change.
type UnchangedQuestion struct {
	Key     string         `json:"key"`
	Agent   string         `json:"agent_id"`
	Project string         `json:"project,omitempty"`
	Tool    string         `json:"tool"`
	Call    string         `json:"call" doc:"The latest; secrets are masked."`
	Answer  Outcome        `json:"answer" enum:"allowed,refused" doc:"What it was every time."`
	Times   int            `json:"times" doc:"How often, in the time asked for."`
	Spent   int64          `json:"spent_ms" doc:"How long people had it before they answered; each at most 5 minutes."`
	Last    time.Time      `json:"last"`
	Rule    human.GateRule `json:"rule,omitzero" doc:"The narrowest that covers it: of this agent, this project and these words. It is not in force."`
	WhyNot  rules.Doubt    `json:"why_not,omitempty" enum:"hard_limit,high_risk,no_rule,partly,too_fast,has_rule,otherwise,dismissed" doc:"Why the rule is not offered; absent: it is. otherwise: a person had answered a request differently that the rule covers."`
	Replay  RuleReplay     `json:"replay" doc:"The rule over all questions there ever were, whoever asked first."`
}

// A RuleReplay is what a rule would have decided of the past. The gatekeeper's own matcher reads each call.
type RuleReplay struct {
	Asked      int        `json:"asked" doc:"Questions of this agent in this project."`
	Covered    int        `json:"covered" doc:"Of them, those that the rule would have decided."`
	Allowed    int        `json:"allowed" doc:"Of those covered: a person had allowed it."`
	Denied     int        `json:"denied" doc:"Of those covered: a person had denied it."`
	Unanswered int        `json:"unanswered" doc:"Of those covered: no person had answered it."`
	Unknown    int        `json:"unknown" doc:"Questions whose arguments the log does not have, so that no rule can be tried on them."`
	Since      *time.Time `json:"since,omitempty" doc:"The first question."`
	Otherwise  []PastCall `json:"otherwise,omitempty" doc:"Those that a person had answered differently than the rule would; at most 5."`
	Near       []PastCall `json:"near,omitempty" doc:"Questions of the same program that the rule leaves to people; at most 5."`
}

// asked is all questions about the same call, by the same agent in the same project.
type asked struct {
	latest                      Decision // the latest that was answered, else the latest
	call                        gate.Call
	allowed, denied, unanswered int
	last                        map[Outcome]time.Time
}

// Spared gives the calls of a time that a rule let through and that the policy of now would have asked about.
func (k *Service) Spared(ctx context.Context, by human.Actor, from, to time.Time) (all []human.Spared, err error) {
	if err := onlyOperators(by); err != nil {
		return nil, err
	}
	set := k.d.File().Rules
	err = k.d.Store.Ruled(ctx, from, to, func(d Decision) {
		policy := set.Policy(d.Project)
		own := slices.ContainsFunc(d.Rules, func(id string) bool { return strings.HasPrefix(id, "rule.") })
		if own && slices.ContainsFunc(d.Effects, func(e human.Effect) bool { return gate.Decide(e, policy) != human.Allow }) {
			all = append(all, human.Spared{Kind: human.Permission, Agent: d.Agent, At: d.At})
		}
	})
	return all, err
}

// Unchanged are the questions of a time that never changed an outcome: at least rules.AtLeast equal answers of people, none
// with a word or a change; each with the rule that would have spared it, tried on all questions there ever were.
func (k *Service) Unchanged(ctx context.Context, by human.Actor, from, to time.Time) ([]UnchangedQuestion, error) {
	if err := onlyOperators(by); err != nil {
		return nil, err
	}
	own, err := k.rules(ctx)
	if err != nil {
		return nil, err
	}
	now := k.d.Now()
	own = slices.DeleteFunc(slices.Clone(own), func(r human.GateRule) bool { return r.Session != "" || r.Until != nil && !now.Before(*r.Until) })
	dismissed, err := k.d.Store.Dismissed(ctx)
	if err != nil {
		return nil, err
	}
	groups := map[string]*UnchangedQuestion{}
	suggest := rules.Suggester()
	past := map[string]*asked{}
	var since time.Time
	unknown := map[string]int{}
	err = k.d.Store.Asked(ctx, func(d Decision) {
		if since.IsZero() {
			since = d.At
		}
		if len(d.Args) == 0 {
			unknown[d.Agent+"\n"+d.Project]++
			return
		}
		key := strings.Join([]string{d.Agent, d.Project, d.Tool, d.Cwd, string(d.Args)}, "\n")
		a := past[key]
		if a == nil {
			a = &asked{call: d.toolCall(), last: map[Outcome]time.Time{}}
			past[key] = a
		}
		a.add(d)
		if d.AnsweredAt != nil && !d.At.Before(from) && d.At.Before(to) {
			r, doubt, ok := suggest(rules.PastCall{
				Call: a.call, Project: d.Project, Risk: d.Risk, HardLimit: d.HardLimit, Effects: d.Effects,
				Read: time.Duration(d.ReadFor * float64(time.Second)), Words: words(d.Call),
			})
			collect(groups, d, r, doubt, ok)
		}
	})
	if err != nil {
		return nil, err
	}
	list := []UnchangedQuestion{}
	for _, q := range groups {
		if q.Times >= rules.AtLeast && q.WhyNot != mattered {
			list = append(list, *q)
		}
	}
	slices.SortFunc(list, func(a, b UnchangedQuestion) int { return cmp.Or(b.Times-a.Times, cmp.Compare(a.Key, b.Key)) })
	list = list[:min(mostUnchanged, len(list))]
	replay(list, own, past)
	for i := range list {
		q := &list[i]
		q.Replay.Since, q.Replay.Unknown = &since, unknown[q.Agent+"\n"+q.Project]
		if q.WhyNot == "" && slices.Contains(dismissed, q.Key) {
			q.WhyNot = wasDismissed
		}
	}
	return list, nil
}

func (a *asked) add(d Decision) {
	switch {
	case d.AnsweredAt == nil:
		a.unanswered++
	case d.Outcome == Allowed:
		a.allowed++
	default:
		a.denied++
	}
	a.last[d.Outcome] = d.At
	if a.latest.ID == "" || d.AnsweredAt != nil || a.latest.AnsweredAt == nil {
		a.latest = d
	}
}

// plain says whether an answer was a yes or a no and nothing more.
func (d Decision) plain() bool {
	return d.Reason == "" && (d.Choice == "" || d.Choice == human.ChooseAllow || d.Choice == human.ChooseDeny)
}

// collect counts an answer of a person to the question that a rule would spare; ok is false where there is no rule.
func collect(groups map[string]*UnchangedQuestion, d Decision, r human.GateRule, doubt rules.Doubt, ok bool) {
	answer := Refused
	if d.Outcome == Allowed {
		answer = Allowed
	} else if ok {
		// What tightens may be said of anything, and needs no reading.
		r.Decision, doubt = human.Deny, rules.NoDoubt
	}
	if r.Agent = d.Agent; !ok {
		r = human.GateRule{Agent: d.Agent, Tool: d.Tool, Command: d.Call, Project: d.Project} // only to tell it from others
	}
	same := r
	same.Decision = ""
	id := rules.KeyOf(same)
	q := groups[id]
	if q == nil {
		q = &UnchangedQuestion{Key: rules.KeyOf(r), Agent: d.Agent, Project: d.Project, Answer: answer}
		if groups[id] = q; ok {
			q.Rule = r
		}
	}
	q.Times++
	q.Tool, q.Call, q.Last = d.Tool, d.Call, d.At
	q.Spent += min(time.Duration(d.ReadFor*float64(time.Second)), human.MostReading).Milliseconds()
	switch {
	case q.Answer != answer || !d.plain():
		q.WhyNot = mattered
	case q.WhyNot == "" || q.WhyNot == rules.TooFast:
		q.WhyNot = cmp.Or(doubt, q.WhyNot)
	}
}

// replay tries the rules of questions on all questions there ever were.
func replay(list []UnchangedQuestion, own []human.GateRule, past map[string]*asked) {
	tried := make([]human.GateRule, 0, len(list)+len(own))
	for _, q := range list {
		tried = append(tried, q.Rule)
	}
	match := rules.Matcher(append(tried, own...))
	here := map[string][]int{}
	for i, q := range list {
		here[q.Agent+"\n"+q.Project] = append(here[q.Agent+"\n"+q.Project], i)
	}
	sorted := make([]*asked, 0, len(past))
	for _, a := range past {
		sorted = append(sorted, a)
	}
	slices.SortFunc(sorted, func(a, b *asked) int {
		return cmp.Or(b.latest.At.Compare(a.latest.At), cmp.Compare(a.latest.ID, b.latest.ID))
	})
	for _, a := range sorted {
		at := here[a.latest.Agent+"\n"+a.latest.Project]
		if len(at) == 0 {
			continue
		}
		found := match(a.call)
		for _, i := range at {
			q := &list[i]
			q.Replay.Asked += a.allowed + a.denied + a.unanswered
			if q.Rule.Decision == "" {
				continue
			}
			if slices.Contains(found, i) {
				q.cover(a)
			} else if len(q.Replay.Near) < listUnchanged && program(a.latest.Call) == program(q.Call) {
				q.Replay.Near = append(q.Replay.Near, PastCall{Call: a.latest.Call, Times: a.allowed + a.denied + a.unanswered, Outcome: a.latest.outcome(), Last: a.latest.At})
			}
			if q.WhyNot == "" && a.latest.Call == q.Call && slices.ContainsFunc(found, func(n int) bool {
				return n >= len(list) && (own[n-len(list)].Agent == "" || own[n-len(list)].Agent == q.Agent)
			}) {
				q.WhyNot = hasRule
			}
		}
	}
}

func (q *UnchangedQuestion) cover(a *asked) {
	q.Replay.Covered += a.allowed + a.denied + a.unanswered
	q.Replay.Allowed += a.allowed
	q.Replay.Denied += a.denied
	q.Replay.Unanswered += a.unanswered
	otherwise, times := Refused, a.denied
	if q.Rule.Decision == human.Deny {
		otherwise, times = Allowed, a.allowed
	}
	if times == 0 {
		return
	}
	if q.WhyNot == "" || q.WhyNot == rules.TooFast {
		q.WhyNot = wasOtherwise
	}
	if len(q.Replay.Otherwise) < listUnchanged {
		q.Replay.Otherwise = append(q.Replay.Otherwise, PastCall{Call: a.latest.Call, Times: times, Outcome: otherwise, Last: a.last[otherwise]})
	}
}

// program is the first word of a call.
func program(call string) string {
	first, _, _ := strings.Cut(call, " ")
	return first
}
