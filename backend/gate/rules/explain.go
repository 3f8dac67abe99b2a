package rules

import (
	"cmp"
	"slices"

	"deskbell/backend/gate"
	"deskbell/backend/gate/shell"
	"deskbell/backend/human"
)

// A CallPart is a step of what a call would run, with what is decided about it; see shell.Node.
type CallPart struct {
	Text     string         `json:"text" doc:"The command with what is known of its words filled in, the script or the code; … stands for what is not known. Of a tool that runs no commands, its name."`
	Language string         `json:"language,omitempty" doc:"Of a script or of code: sh, python. Empty for a command."`
	Unparsed bool           `json:"unparsed,omitempty" doc:"It, or a script that it runs, is no shell command that can be read."`
	Effects  []human.Effect `json:"effects,omitempty" doc:"Its own, the most severe first."`
	Checks   []PartCheck    `json:"checks,omitempty" doc:"What has a say about its own effects, in order: hard limits, rules, trust, the policy. Empty where it does nothing by itself."`
	Decision human.Ruling   `json:"decision" enum:"allow,ask,deny" doc:"About its own effects."`
	Risk     human.Risk     `json:"risk" enum:"none,low,medium,high,critical" doc:"Of its own effects."`
	Whole    WholePart      `json:"whole" doc:"The same with all that it runs."`
	Runs     []*CallPart    `json:"runs,omitempty" doc:"What it runs in turn."`
}

// A WholePart is what is decided about a part with all that it runs.
type WholePart struct {
	Decision human.Ruling `json:"decision" enum:"allow,ask,deny"`
	Risk     human.Risk   `json:"risk" enum:"none,low,medium,high,critical"`
}

// CheckBy is what may decide about a part of a call.
type CheckBy string

// What may decide, in the order in which it is shown.
const (
	CheckHardLimit CheckBy = "hard_limit"
	CheckRule      CheckBy = "rule"
	CheckTrust     CheckBy = "trust"
	CheckPolicy    CheckBy = "policy"
)

// A PartCheck is what one hard limit, rule, kind of trust or the policy says about a part.
type PartCheck struct {
	By        CheckBy          `json:"by" enum:"hard_limit,rule,trust,policy"`
	Rule      string           `json:"rule_id" doc:"A hard limit's rule of the engine, rule.ID, trust.VERB or policy."`
	Verb      human.EffectVerb `json:"verb,omitempty" doc:"The kind of effect that a hard limit or trust is about."`
	Decision  human.Ruling     `json:"decision,omitempty" enum:"allow,ask,deny" doc:"What it says by itself. Absent: trust that says neither."`
	Decided   bool             `json:"decided,omitempty" doc:"The part's decision rests on it."`
	WholeCall bool             `json:"whole_call,omitempty" doc:"Of a rule: it is about the call, and not about one part of it."`
	Trust     float64          `json:"trust,omitempty" doc:"Of trust: between 0 and 1."`
	Under     float64          `json:"under,omitempty" doc:"Of trust: under this it asks about everything that does more than read."`
	Over      float64          `json:"over,omitempty" doc:"Of trust: over this it allows low risk."`
	Policy    gate.Policy      `json:"policy,omitempty" enum:"permissive,balanced,strict" doc:"Of the policy: which one holds."`
	AllowedBy []gate.Policy    `json:"allowed_by,omitempty" enum:"permissive,balanced,strict" doc:"Of the policy: which ones would allow by themselves."`
}

// Parts tells what Judge decides about a call part by part. The most severe of them, with the rules that are about the whole
// call, is the call's decision. Every effect of the verdict is in one of them.
func (s *Set) Parts(call gate.Call, evidence gate.Evidence, c Circumstances) []*CallPart {
	j, v := s.judging(call, evidence, c)
	x := &explaining{judging: j, effects: slices.Clone(v.Effects), at: map[human.Effect]int{}, told: map[human.Effect]bool{}, placed: map[*rule]bool{}}
	nodes := gate.Tree(call, evidence)
	for _, n := range nodes {
		x.learn(n)
	}
	for i, e := range x.effects {
		x.at[bare(e)] = i
	}
	x.w = j.weigh(x.effects)
	if len(nodes) == 0 {
		nodes = []*shell.Node{{Text: call.Tool}}
	}
	// What is in no step is of the call as a whole, such as words that are not what they seem.
	for _, e := range v.Effects {
		if !x.told[bare(e)] {
			nodes[0].Effects = append(nodes[0].Effects, e)
		}
	}
	var parts []*CallPart
	for _, n := range nodes {
		parts = append(parts, x.part(n))
	}
	x.wholeCall(parts[0])
	return parts
}

// explaining tells of the parts of a call what decides about them.
type explaining struct {
	*judging
	effects []human.Effect       // all that w weighs
	at      map[human.Effect]int // where one is among effects
	told    map[human.Effect]bool
	placed  map[*rule]bool // rules that ask or block, and whose part is known
	w       weights
}

// learn adds effects of steps to those of the verdict.
func (x *explaining) learn(n *shell.Node) {
	for _, e := range n.Effects {
		if k := bare(e); !x.told[k] {
			x.told[k] = true
			if !slices.ContainsFunc(x.effects, func(o human.Effect) bool { return bare(o) == k }) {
				x.effects = append(x.effects, e)
			}
		}
	}
	for _, of := range n.Runs {
		x.learn(of)
	}
}

func (x *explaining) part(n *shell.Node) *CallPart {
	p := &CallPart{Text: n.Text, Language: n.Language, Effects: n.Effects, Decision: human.Allow, Risk: human.NoRisk}
	for _, e := range n.Effects {
		p.Unparsed = p.Unparsed || e.Rule == shell.UnparsedRule
		p.Decision = graver(p.Decision, x.w.rulings[x.at[bare(e)]])
		if e.Risk.Level() > p.Risk.Level() {
			p.Risk = e.Risk
		}
	}
	var hold []*rule
	for _, r := range x.w.hold {
		if x.holdsAt(r, n.Words, n.Effects) {
			hold = append(hold, r)
			x.placed[r] = true
			p.Decision = graver(p.Decision, r.Decision)
		}
	}
	p.Checks = x.checks(p, hold)
	p.Whole = WholePart{p.Decision, p.Risk}
	for _, of := range n.Runs {
		run := x.part(of)
		p.Runs = append(p.Runs, run)
		p.whole(run)
	}
	return p
}

func (p *CallPart) whole(of *CallPart) {
	p.Whole.Decision = graver(p.Whole.Decision, of.Whole.Decision)
	if of.Whole.Risk.Level() > p.Whole.Risk.Level() {
		p.Whole.Risk = of.Whole.Risk
	}
}

// holdsAt says whether a rule that asks or blocks is about one step. One of which that is not known is about the call.
func (x *explaining) holdsAt(r *rule, words []string, effects []human.Effect) bool {
	switch {
	case r.command == nil && r.Path == "" && len(r.Verbs) == 0:
		return false
	case r.command != nil && len(words) == 0,
		r.command != nil && r.pattern && !r.command.inside(words),
		r.command != nil && !r.pattern && !r.command.within(words):
		return false
	case r.Path == "" && len(r.Verbs) == 0:
		return true
	}
	return slices.ContainsFunc(effects, func(e human.Effect) bool {
		return r.ofVerb(e.Verb) && (r.path == nil || x.touches(r.path, e, true))
	})
}

// checks are what has a say about a part, in order.
func (x *explaining) checks(p *CallPart, hold []*rule) []PartCheck {
	var list []PartCheck
	add := func(c PartCheck) {
		i := slices.IndexFunc(list, func(o PartCheck) bool { return o.By == c.By && o.Rule == c.Rule })
		if i < 0 {
			list = append(list, c)
			return
		}
		list[i].Decided = list[i].Decided || c.Decided
		list[i].Decision = graver(cmp.Or(list[i].Decision, c.Decision), c.Decision)
	}
	counts := func(e human.Effect) bool {
		return x.w.rulings[x.at[bare(e)]] == p.Decision && (p.Decision != human.Allow || e.Risk != human.NoRisk || p.Risk == human.NoRisk)
	}
	for _, e := range p.Effects {
		if e.HardLimit {
			add(PartCheck{By: CheckHardLimit, Rule: e.Rule, Verb: e.Verb, Decision: gate.Decide(e, x.policy), Decided: counts(e)})
		}
	}
	for _, r := range hold {
		add(PartCheck{By: CheckRule, Rule: "rule." + r.ID, Decision: r.Decision, Decided: r.Decision == p.Decision})
	}
	for _, e := range p.Effects {
		if i := x.at[bare(e)]; x.w.covered[i] != nil {
			add(PartCheck{By: CheckRule, Rule: "rule." + x.w.covered[i].ID, Decision: human.Allow, Decided: x.w.by[i] == byRule && counts(e)})
		}
	}
	for _, e := range p.Effects {
		if t, ok := x.w.trust[e.Verb]; ok && e.Risk != human.NoRisk && !e.HardLimit {
			by := x.w.by[x.at[bare(e)]]
			add(x.trusted(e, t, counts(e) && (by == byTrust || by == byDistrust)))
		}
	}
	policy := PartCheck{By: CheckPolicy, Rule: "policy", Policy: x.policy}
	for _, e := range p.Effects {
		if !e.HardLimit {
			policy.Decision = graver(cmp.Or(policy.Decision, human.Allow), gate.Decide(e, x.policy))
			policy.Decided = policy.Decided || counts(e) && x.w.by[x.at[bare(e)]] == byPolicy
		}
	}
	if policy.Decision != "" {
		for _, other := range gate.Policies {
			if !slices.ContainsFunc(p.Effects, func(e human.Effect) bool { return gate.Decide(e, other) != human.Allow }) {
				policy.AllowedBy = append(policy.AllowedBy, other)
			}
		}
		list = append(list, policy)
	}
	return list
}

// trusted is what trust says about an effect.
func (x *explaining) trusted(e human.Effect, t float64, decided bool) PartCheck {
	th := x.set.config.Thresholds
	c := PartCheck{By: CheckTrust, Rule: "trust." + string(e.Verb), Verb: e.Verb, Decided: decided, Trust: t, Under: th.ParanoidMode, Over: th.LowRiskAutoApprove}
	switch {
	case t < th.ParanoidMode:
		c.Decision = human.Ask
	case t > th.LowRiskAutoApprove && e.Risk == human.LowRisk:
		c.Decision = human.Allow
	}
	return c
}

// wholeCall adds the rules that ask about or block the call and are about no part of it by itself.
func (x *explaining) wholeCall(p *CallPart) {
	var of []PartCheck
	for _, r := range x.w.hold {
		if !x.placed[r] {
			of = append(of, PartCheck{By: CheckRule, Rule: "rule." + r.ID, Decision: r.Decision, WholeCall: true})
			p.Decision = graver(p.Decision, r.Decision)
		}
	}
	if len(of) == 0 {
		return
	}
	p.Whole.Decision = graver(p.Whole.Decision, p.Decision)
	for i, c := range p.Checks {
		p.Checks[i].Decided = c.Decided && c.Decision == p.Decision
	}
	for i, c := range of {
		of[i].Decided = c.Decision == p.Decision
	}
	at := slices.IndexFunc(p.Checks, func(c PartCheck) bool { return c.By != CheckHardLimit })
	if at < 0 {
		at = len(p.Checks)
	}
	p.Checks = slices.Insert(p.Checks, at, of...)
}
