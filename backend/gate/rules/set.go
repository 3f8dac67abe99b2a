package rules

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"deskbell/backend/gate"
	"deskbell/backend/human"
)

// Defaults are what holds where gate.toml says nothing.
func Defaults() Config {
	return Config{
		Policy:     gate.Balanced,
		Trust:      Trust{Initial: 0.5, Increment: 0.01, Decrement: 0.05, HalfLife: 30 * 24 * time.Hour},
		Thresholds: Thresholds{LowRiskAutoApprove: 0.8, ParanoidMode: 0.2},
		Timeout:    5 * time.Minute,
		Away:       Refuse,
	}
}

// A Set is rules that were checked and made ready. It is safe for concurrent use.
type Set struct {
	config  Config
	policy  gate.Policy // the least strict that the project's own file lets hold; empty without
	problem string      // why the project's own file does not count
	list    []*rule
	allow   index
	tighten index // rules that ask or block
}

// An index finds rules by the first word of their command. Those in any name other, or none.
type index struct {
	byName map[string][]*rule
	any    []*rule
}

func (x *index) add(r *rule) {
	if r.command == nil || r.pattern || len(r.command.words) == 0 || r.command.words[0].one {
		x.any = append(x.any, r)
		return
	}
	if x.byName == nil {
		x.byName = map[string][]*rule{}
	}
	name := strings.ToLower(r.command.words[0].text)
	x.byName[name] = append(x.byName[name], r)
}

// A rule is a GateRule made ready.
type rule struct {
	human.GateRule
	command *command // nil: any
	path    *route   // nil: any
	pattern bool     // the command's words may stand anywhere
	loose   bool     // the tool's kind counts, not its name
}

// A Fault is what of a Config is at fault; it is the cause of Compile's errors.
type Fault struct {
	Rule    int    // in Config.Rules; -1 for none
	Tool    string // in Config.Tools; of a rule for none
	List    string // safe_commands or dangerous_patterns of the tool, match or differ of the rule
	Index   int    // in List
	Example string // of match or differ
	Msg     string
}

func (f *Fault) Error() string { return f.Msg }

// Compile checks a user's rules, with those of a project's own file, which may only tighten; nil is none. The error is
// Invalid, names the rule and the example that it fails, and wraps a Fault. Where only the project's file is wrong, it also
// returns a Set: strict, with what of the file tightens, and with verdicts that say why.
func Compile(own Config, project *Config) (*Set, error) {
	s := &Set{config: own}
	if own.Policy != "" && !slices.Contains(gate.Policies, own.Policy) {
		return nil, invalid(&Fault{Rule: -1, Msg: fmt.Sprintf("there is no policy %q", own.Policy)})
	}
	if own.Policy == "" {
		s.config.Policy = gate.Balanced
	}
	compiled, err := compileAll(own, human.RuleFile)
	if err != nil {
		return nil, invalid(err)
	}
	s.list = compiled
	var loosens error
	if project != nil {
		loosens = s.tightenWith(*project)
	}
	for _, r := range s.list {
		if r.Decision == human.Allow {
			s.allow.add(r)
		} else {
			s.tighten.add(r)
		}
	}
	return s, loosens
}

func invalid(f *Fault) error { return human.Wrap(human.Invalid, f, "%s", f.Msg) }

// tightenWith adds a project's own file.
func (s *Set) tightenWith(p Config) error {
	var wrong []string
	refuse := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if p.Problem != "" {
		refuse("%s", p.Problem)
	}
	switch {
	case p.Policy == "":
	case !slices.Contains(gate.Policies, p.Policy):
		refuse("there is no policy %q", p.Policy)
	case level(p.Policy) < level(s.config.Policy):
		refuse("its policy %s would loosen yours, which is %s", p.Policy, s.config.Policy)
	default:
		s.policy = p.Policy
	}
	for _, t := range []struct {
		name string
		own  *float64
		its  float64
	}{
		{"low_risk_auto_approve", &s.config.Thresholds.LowRiskAutoApprove, p.Thresholds.LowRiskAutoApprove},
		{"paranoid_mode", &s.config.Thresholds.ParanoidMode, p.Thresholds.ParanoidMode},
	} {
		switch {
		case t.its == 0: // not said
		case t.its < *t.own:
			refuse("its threshold %s = %g would loosen yours, which is %g", t.name, t.its, *t.own)
		default:
			*t.own = t.its
		}
	}
	if p.Trust != (Trust{}) || p.Timeout != 0 || p.ReadCheck != 0 || p.Away != "" || p.Model || len(p.Projects) > 0 {
		refuse("trust, projects, timeout, read_check, away and model are for the user's own file to say")
	}
	tightens := Config{Tools: map[string]Tool{}}
	for _, name := range slices.Sorted(maps.Keys(p.Tools)) {
		t := p.Tools[name]
		if len(t.SafeCommands) > 0 {
			refuse("safe_commands of the tool %s would loosen", name)
		}
		t.SafeCommands = nil
		tightens.Tools[name] = t
	}
	for i, r := range p.Rules {
		r.ID = "project." + cmp.Or(r.ID, fmt.Sprint(i+1)) // never one of the user's
		if r.Decision == human.Allow {
			refuse("its rule %s allows, which would loosen", r.ID)
			continue
		}
		if r.Project != "" {
			refuse("its rule %s names a project", r.ID)
			r.Project = ""
		}
		tightens.Rules = append(tightens.Rules, r)
	}
	for len(tightens.Rules) >= 0 {
		list, fault := compileAll(tightens, human.RuleProject)
		if fault == nil {
			s.list = append(s.list, list...)
			break
		}
		refuse("%s", fault.Msg)
		if fault.Rule < 0 {
			delete(tightens.Tools, fault.Tool)
		} else {
			tightens.Rules = slices.Delete(tightens.Rules, fault.Rule, fault.Rule+1)
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	s.problem = strings.Join(wrong, "; ")
	s.policy = gate.Strict
	return human.Errorf(human.Invalid, "the project's own file can only make the policy stricter: %s", s.problem)
}

// compileAll makes the rules of one file ready.
func compileAll(c Config, source human.RuleSource) ([]*rule, *Fault) {
	var out []*rule
	prefix := ""
	if source == human.RuleProject {
		prefix = "project."
	}
	for _, name := range slices.Sorted(maps.Keys(c.Tools)) {
		t := c.Tools[name]
		base := human.GateRule{Tool: name, Source: source}
		add := func(list string, index int, ruling human.Ruling, text string) *Fault {
			r := base
			r.Decision, r.Command = ruling, text
			r.ID = prefix + "tools." + name + "." + list
			if text != "" {
				r.ID += "." + fmt.Sprint(index+1)
			}
			made, err := ready(r)
			if err == nil && list != "dangerous_patterns" {
				err = checkRule(made)
			}
			if err != nil {
				return &Fault{Rule: -1, Tool: name, List: list, Index: index, Msg: fmt.Sprintf("%s of the tool %s: %q: %v", list, name, text, err)}
			}
			made.pattern = list == "dangerous_patterns"
			out = append(out, made)
			return nil
		}
		if t.AlwaysConfirm {
			if f := add("always_confirm", 0, human.Ask, ""); f != nil {
				return nil, f
			}
		}
		for i, text := range t.SafeCommands {
			if f := add("safe_commands", i, human.Allow, text); f != nil {
				return nil, f
			}
		}
		for i, text := range t.DangerousPatterns {
			if strings.TrimSpace(text) == "" {
				return nil, &Fault{Rule: -1, Tool: name, List: "dangerous_patterns", Index: i, Msg: fmt.Sprintf("dangerous_patterns of the tool %s: one is empty", name)}
			}
			if f := add("dangerous_patterns", i, human.Ask, text); f != nil {
				return nil, f
			}
		}
	}
	seen := map[string]bool{}
	for _, r := range out {
		seen[r.ID] = true
	}
	for i, r := range c.Rules {
		r.Source = source
		if r.ID == "" {
			r.ID = fmt.Sprint(source, ".", i+1)
		}
		if seen[r.ID] {
			return nil, &Fault{Rule: i, Msg: fmt.Sprintf("there are two rules %q", r.ID)}
		}
		seen[r.ID] = true
		made, err := ready(r)
		if err == nil {
			err = checkRule(made)
		}
		if err != nil {
			return nil, &Fault{Rule: i, Msg: fmt.Sprintf("the rule %s: %v", r.ID, err)}
		}
		if f := made.examples(); f != nil {
			f.Rule, f.Msg = i, fmt.Sprintf("the rule %s: %s", r.ID, f.Msg)
			return nil, f
		}
		out = append(out, made)
	}
	return out, nil
}

// ready reads a rule's command.
func ready(r human.GateRule) (*rule, error) {
	out := &rule{GateRule: r, path: routeOf(r.Path)}
	if r.Command != "" {
		c, err := parseCommand(r.Command)
		if err != nil {
			return nil, fmt.Errorf("its command %q: %w", r.Command, err)
		}
		out.command = &c
	}
	// A tool that runs commands is known by many names; one that is allowed whole is only the one that is named.
	out.loose = r.Decision != human.Allow || r.Command != ""
	return out, nil
}

func level(p gate.Policy) int { return slices.Index(gate.Policies, p) }

// AtLeast is the set under a policy at least as strict as one.
func (s *Set) AtLeast(p gate.Policy) *Set {
	other := *s
	if other.policy == "" || level(other.policy) < level(p) {
		other.policy = p
	}
	return &other
}

// Under is the set as if gate.toml had another policy. A project's own file counts as before.
func (s *Set) Under(p gate.Policy) *Set {
	other := *s
	other.config.Policy = p
	return &other
}

// Policy is what holds in a project: the file's policy, moved by how important the project is, and by its own file.
func (s *Set) Policy(project string) gate.Policy {
	at := level(s.config.Policy)
	switch s.importance(project) {
	case High:
		at = min(at+1, len(gate.Policies)-1)
	case Low:
		at = max(at-1, 0)
	}
	if s.policy != "" {
		at = max(at, level(s.policy))
	}
	return gate.Policies[at]
}

func (s *Set) importance(project string) Importance {
	if project == "" || len(s.config.Projects) == 0 {
		return Normal
	}
	if i, ok := s.config.Projects[project]; ok {
		return i
	}
	return s.config.Projects[path.Clean(project)]
}

// List returns the rules of the files, in the order in which they stand; those of [tools] first.
func (s *Set) List() []human.GateRule {
	out := make([]human.GateRule, len(s.list))
	for i, r := range s.list {
		out[i] = r.GateRule
	}
	return out
}
