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

const (
	previewDays = 30
	previewMost = 5_000 // past calls that a preview looks at
	previewList = 20
)

// Try judges a call under a policy, or the one that holds; nothing is run, logged or asked, no model either.
func (k *Service) Try(ctx context.Context, by human.Actor, call human.ToolCall, policy gate.Policy) (Trial, error) {
	if err := onlyOperators(by); err != nil {
		return Trial{}, err
	}
	if err := check(call); err != nil {
		return Trial{}, err
	}
	if policy != "" && !slices.Contains(gate.Policies, policy) {
		return Trial{}, human.BadField("policy", "%q is not one of permissive, balanced, strict", human.OneLine(string(policy), 40))
	}
	var set *rules.Set
	agent := cmp.Or(call.Client, by.Name)
	j, err := k.judge(ctx, agent, call, func(f File, root string) *rules.Set {
		if set = k.d.Project(f, root); policy != "" {
			set = set.Under(policy)
		}
		return set
	})
	if err != nil {
		return Trial{}, err
	}
	j.count()
	t := Trial{Verdict: j.verdict, Micros: j.micros, Policy: set.Policy(j.call.Root), Agent: agent, Project: j.call.Root, Parts: set.Parts(j.call, j.facts, j.at)}
	counted(t.Parts, j.verdict.Effects)
	return t, nil
}

// counted gives parts the counts of files that were taken for the verdict.
func counted(parts []*rules.CallPart, effects []human.Effect) {
	for _, p := range parts {
		for i, e := range p.Effects {
			at := slices.IndexFunc(effects, func(o human.Effect) bool {
				return o.Rule == e.Rule && o.Target == e.Target && o.Resource == e.Resource && o.Verb == e.Verb
			})
			if at >= 0 {
				p.Effects[i].FileCounts = effects[at].FileCounts
			}
		}
		counted(p.Runs, effects)
	}
}

// State says how the gatekeeper stands.
func (k *Service) State(ctx context.Context, by human.Actor) (State, error) {
	if err := onlyOperators(by); err != nil {
		return State{}, err
	}
	f := k.d.File()
	s := State{Policy: f.Config.Policy, File: f.Path, Problem: f.Problem}
	if k.d.Model != nil && f.Config.Model {
		s.Model = k.d.Model.Name()
	}
	now := k.d.Now()
	year, month, day := now.Date()
	var err error
	if s.Today, err = k.d.Store.Count(ctx, time.Date(year, month, day, 0, 0, 0, 0, now.Location())); err != nil {
		return s, err
	}
	if s.Projects, err = k.d.Store.Projects(ctx, 50); err != nil {
		return s, err
	}
	own, err := k.rules(ctx)
	s.Rules = RuleCounts{Operator: len(own), File: len(f.Rules.List())}
	return s, err
}

// SetPolicy writes the policy into gate.toml; it holds from the next call on.
func (k *Service) SetPolicy(ctx context.Context, by human.Actor, policy gate.Policy) (State, error) {
	if err := onlyOperators(by); err != nil {
		return State{}, err
	}
	if !slices.Contains(gate.Policies, policy) {
		return State{}, human.BadField("policy", "%q is not one of permissive, balanced, strict", human.OneLine(string(policy), 40))
	}
	if err := k.d.SetPolicy(policy); err != nil {
		return State{}, err
	}
	k.d.Log.Info("the gatekeeper's policy was changed", "policy", policy, "by", by.Name)
	return k.State(ctx, by)
}

// Log returns a page of the log, newest first.
func (k *Service) Log(ctx context.Context, by human.Actor, f LogFilter) (LogPage, error) {
	if err := onlyOperators(by); err != nil {
		return LogPage{}, err
	}
	return k.d.Store.Decisions(ctx, f)
}

// Trust tells how trust moved in a project; without one, in that of the latest call.
func (k *Service) Trust(ctx context.Context, by human.Actor, project string, days int) (TrustReport, error) {
	if err := onlyOperators(by); err != nil {
		return TrustReport{}, err
	}
	if project == "" {
		roots, err := k.d.Store.Projects(ctx, 1)
		if err != nil {
			return TrustReport{}, err
		}
		if len(roots) > 0 {
			project = roots[0]
		}
	}
	c := k.d.File().Config
	to := k.d.Now().UTC()
	from := to.Add(-time.Duration(cmp.Or(days, 30)) * 24 * time.Hour)
	report := TrustReport{
		Operator: k.d.Operator.Name, Project: project, From: from, To: to, Initial: c.Trust.Initial,
		High: c.Thresholds.LowRiskAutoApprove, Low: c.Thresholds.ParanoidMode, Lines: []TrustLine{},
	}
	for _, line := range k.ledger.Series(k.d.Operator.Name, project, from, to) {
		points := []TrustPoint{}
		for _, p := range line.Points {
			points = append(points, TrustPoint{At: p.At.UTC(), Value: p.Value, Before: p.Before, Why: string(p.Why)})
		}
		report.Lines = append(report.Lines, TrustLine{Verb: line.Verb, Points: points})
	}
	return report, nil
}

// Rules returns the user's own rules: the operators', then those of gate.toml, with how often each was used.
func (k *Service) Rules(ctx context.Context, by human.Actor) ([]human.GateRule, error) {
	if err := onlyOperators(by); err != nil {
		return nil, err
	}
	own, err := k.rules(ctx)
	if err != nil {
		return nil, err
	}
	uses, err := k.d.Store.Uses(ctx)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(own, k.d.File().Rules.List())
	for i, r := range all {
		if use, used := uses[r.ID]; used {
			all[i].Matched, all[i].LastUsed = use.Times, &use.Last
		}
	}
	return all, nil
}

// PreviewRule says which calls of the last days a rule would have matched.
func (k *Service) PreviewRule(ctx context.Context, by human.Actor, r human.GateRule) (RulePreview, error) {
	if err := onlyOperators(by); err != nil {
		return RulePreview{}, err
	}
	if err := rules.Check(r); err != nil {
		return RulePreview{}, err
	}
	return k.preview(ctx, r)
}

func (k *Service) preview(ctx context.Context, r human.GateRule) (RulePreview, error) {
	p := RulePreview{Rule: r, Days: previewDays, Calls: []PastCall{}}
	set := k.d.File().Rules
	known := map[string]bool{} // by the call's digest: the same calls come again and again
	err := k.past(ctx, func(d Decision) {
		if r.Project != "" && r.Project != d.Project || r.Session != "" && r.Session != d.Session || r.Agent != "" && r.Agent != d.Agent {
			return
		}
		matched, is := known[d.Digest]
		if !is {
			matched = set.Matches(r, d.toolCall())
			known[d.Digest] = matched
		}
		if !matched {
			return
		}
		if d.Outcome == Waiting {
			return
		}
		c := PastCall{Call: d.Call, Times: 1, Outcome: d.outcome(), Last: d.At}
		p.Total++
		if c.Outcome == Refused {
			p.Refused++
		}
		for i, other := range p.Calls {
			if other.Call == c.Call && other.Outcome == c.Outcome {
				p.Calls[i].Times++
				return
			}
		}
		p.Calls = append(p.Calls, c)
	})
	slices.SortStableFunc(p.Calls, func(a, b PastCall) int { return b.Times - a.Times })
	p.Calls = p.Calls[:min(previewList, len(p.Calls))]
	return p, err
}

// past goes through the calls of the last days whose arguments are known, the latest first.
func (k *Service) past(ctx context.Context, each func(Decision)) error {
	f := LogFilter{Since: k.d.Now().Add(-previewDays * 24 * time.Hour), Limit: 500}
	for n := 0; n < previewMost; n += f.Limit {
		page, err := k.d.Store.Decisions(ctx, f)
		if err != nil {
			return err
		}
		for _, d := range page.Decisions {
			if len(d.Args) > 0 {
				each(d)
			}
		}
		if f.Cursor = page.Next; f.Cursor == "" {
			break
		}
	}
	return nil
}

func (d Decision) toolCall() gate.Call {
	return gate.Call{Tool: d.Tool, Args: d.Args, Cwd: d.Cwd, Root: d.Project}
}

// outcome is what became of the call.
func (d Decision) outcome() Outcome {
	switch {
	case d.Outcome != "":
		return d.Outcome
	case d.Decision == human.Allow:
		return Allowed
	}
	return Refused
}

// Proposals are rules that the operators' own answers suggest and no one has dismissed.
func (k *Service) Proposals(ctx context.Context, by human.Actor) ([]Proposal, error) {
	if err := onlyOperators(by); err != nil {
		return nil, err
	}
	dismissed, err := k.d.Store.Dismissed(ctx)
	if err != nil {
		return nil, err
	}
	own, err := k.rules(ctx)
	if err != nil {
		return nil, err
	}
	answered, err := k.d.Store.Answered(ctx, k.d.Now().Add(-previewDays*24*time.Hour))
	if err != nil {
		return nil, err
	}
	var past []rules.PastCall
	set := k.d.File().Rules
	for _, d := range answered {
		if len(d.Args) == 0 || d.Choice == human.ChooseBox || slices.ContainsFunc(own, func(r human.GateRule) bool {
			return (r.Project == "" || r.Project == d.Project) && set.Matches(r, d.toolCall())
		}) {
			continue
		}
		past = append(past, rules.PastCall{
			Call: d.toolCall(), Agent: d.Agent, Session: d.Session, Project: d.Project, At: d.At, Risk: d.Risk, HardLimit: d.HardLimit, Effects: d.Effects,
			Allowed: d.Outcome == Allowed, Read: time.Duration(d.ReadFor * float64(time.Second)), Words: words(d.Call),
		})
	}
	all := []Proposal{}
	for _, p := range rules.Propose(past, dismissed) {
		all = append(all, Proposal{Key: p.Key, Rule: p.Rule, Times: p.Times, LeastRead: p.LeastRead.Seconds()})
	}
	return all, nil
}

// DismissProposal keeps a proposal from being made again.
func (k *Service) DismissProposal(ctx context.Context, by human.Actor, key string) error {
	if err := onlyOperators(by); err != nil {
		return err
	}
	if strings.TrimSpace(key) == "" || len(key) > 200 {
		return human.BadField("key", "is not the key of a proposed rule")
	}
	return k.d.Store.Dismiss(ctx, key)
}
