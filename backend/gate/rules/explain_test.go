package rules_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"deskbell/backend/gate"
	"deskbell/backend/gate/rules"
	"deskbell/backend/human"
)

// outline writes parts a line each: the text, what is decided with all that it runs, and by what about itself.
func outline(parts []*rules.CallPart, depth int) string {
	var b strings.Builder
	for _, p := range parts {
		var by []string
		for _, c := range p.Checks {
			if c.Decided {
				by = append(by, c.Rule)
			}
		}
		mark := ""
		if p.Unparsed {
			mark = " unparsed"
		}
		fmt.Fprintf(&b, "%s%s: %s%s", strings.Repeat(" ", depth), strings.TrimSpace(p.Language+" "+p.Text), p.Whole.Decision, mark)
		if len(p.Checks) > 0 {
			fmt.Fprintf(&b, ", itself %s %v", p.Decision, by)
		}
		b.WriteString("\n" + outline(p.Runs, depth+1))
	}
	return b.String()
}

func TestPartsSayWhatDecides(t *testing.T) {
	ask := func(r human.GateRule) human.GateRule { r.Decision = human.Ask; return r }
	distrust := func(c *rules.Circumstances) { c.Trust = func(human.EffectVerb) float64 { return 0.1 } }
	trusted := func(c *rules.Circumstances) { c.Trust = func(human.EffectVerb) float64 { return 0.9 } }
	for name, x := range map[string]struct {
		rules   []human.GateRule
		policy  gate.Policy
		at      func(*rules.Circumstances)
		command string
		want    string
	}{
		"wrappers, each with what is its own": {nil, "", nil, "sudo env A=1 bash -c 'rm -rf src'", `
sh sudo env A=1 bash -c 'rm -rf src': ask
 sudo env A=1 bash -c 'rm -rf src': ask, itself ask [policy]
  env A=1 bash -c 'rm -rf src': ask
   bash -c 'rm -rf src': ask
    sh rm -rf src: ask, itself ask [policy]`},
		"a hard limit": {nil, "", nil, "ls; rm -rf /", `
sh ls; rm -rf /: deny
 ls: allow, itself allow [policy]
 rm -rf /: deny, itself deny [rm]`},
		"what does not parse": {nil, "", nil, "ls; echo $(rm -rf x", `
sh ls; echo $(rm -rf x: ask unparsed, itself ask [policy]`},
		"a script within that does not parse": {nil, "", nil, "bash -c 'if'", `
sh bash -c 'if': ask
 bash -c if: ask unparsed, itself ask [policy]`},
		"a rule that allows": {[]human.GateRule{allow("git push origin main")}, "", nil, "ls && git push origin main", `
sh ls && git push origin main: allow
 ls: allow, itself allow [policy]
 git push origin main: allow, itself allow [rule.file.1]`},
		"a rule that asks about one part": {[]human.GateRule{ask(allow("git status **"))}, "", nil, "ls && env A=1 git status", `
sh ls && env A=1 git status: ask
 ls: allow, itself allow [policy]
 env A=1 git status: ask
  git status: ask, itself ask [rule.file.1]`},
		"a rule that blocks a path": {[]human.GateRule{{Decision: human.Deny, Path: "exports/**"}}, "", nil, "ls; touch exports/a", `
sh ls; touch exports/a: deny
 ls: allow, itself allow [policy]
 touch exports/a: deny, itself deny [rule.file.1]`},
		"a rule about the whole call": {[]human.GateRule{{Decision: human.Ask, Tool: "Bash"}}, "", nil, "ls; pwd", `
sh ls; pwd: ask, itself ask [rule.file.1]
 ls: allow, itself allow [policy]
 pwd: allow, itself allow [policy]`},
		"little trust": {[]human.GateRule{allow("npm ci")}, "", distrust, "npm ci", `
sh npm ci: ask
 npm ci: ask, itself ask [trust.package_install]`},
		"much trust": {nil, gate.Strict, trusted, "touch a", `
sh touch a: allow
 touch a: allow, itself allow [trust.filesystem_write]`},
	} {
		s := set(t, x.rules...)
		if x.policy != "" {
			s = s.Under(x.policy)
		}
		at := here()
		if x.at != nil {
			x.at(&at)
		}
		got := outline(s.Parts(bash(x.command), nil, at), 0)
		if !strings.HasPrefix("\n"+got, x.want) {
			t.Errorf("%s:\n%s\nnot%s", name, got, x.want)
		}
	}
}

// The policy's check says which policies would allow a part, and those do.
func TestPartsUnderEachPolicy(t *testing.T) {
	for command, want := range map[string][]gate.Policy{
		"ls": {gate.Permissive, gate.Balanced, gate.Strict}, "mkdir build": {gate.Permissive, gate.Balanced}, "pip install requests": {gate.Permissive}, "git push": nil,
	} {
		for _, policy := range gate.Policies {
			parts := set(t).Under(policy).Parts(bash(command), nil, here())
			checks := parts[0].Runs[0].Checks
			c := checks[len(checks)-1]
			if c.By != rules.CheckPolicy || c.Policy != policy || !slices.Equal(c.AllowedBy, want) {
				t.Errorf("%s under %s: %+v", command, policy, c)
			}
			if allowed := parts[0].Whole.Decision == human.Allow; allowed != slices.Contains(want, policy) {
				t.Errorf("%s under %s: %s", command, policy, parts[0].Whole.Decision)
			}
		}
	}
}

// A tool that runs no commands is one part.
func TestPartsOfATool(t *testing.T) {
	call := gate.Call{Tool: "write_file", Args: json.RawMessage(`{"path":"a.txt","content":"b"}`), Cwd: root, Root: root}
	parts := set(t).Parts(call, nil, here())
	if len(parts) != 1 || parts[0].Text != "write_file" || len(parts[0].Effects) == 0 || parts[0].Decision != human.Allow || len(parts[0].Checks) == 0 {
		t.Errorf("%s", outline(parts, 0))
	}
}

// Parts say neither more nor less than the verdict: the most severe of them is its decision, its effects are theirs, and of each
// part that decides for itself it is known what decided.
func TestPartsAreTheVerdict(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rules.Defaults()
		c.Policy = rapid.SampledFrom(gate.Policies).Draw(t, "policy")
		for range rapid.IntRange(0, 3).Draw(t, "rules") {
			c.Rules = append(c.Rules, someRule(human.Allow, human.Ask, human.Deny).Draw(t, "rule"))
		}
		s := compiled(t, c)
		at := here()
		at.Trust = someTrust(t)
		call := bash(script().Draw(t, "script"))
		v, parts := s.Judge(call, nil, at), s.Parts(call, nil, at)
		whole, effects := human.Allow, map[string]bool{}
		var walk func(p *rules.CallPart)
		walk = func(p *rules.CallPart) {
			for _, e := range p.Effects {
				effects[fmt.Sprint(e.Rule, e.Resource, e.Target)] = true
			}
			if len(p.Checks) > 0 && !slices.ContainsFunc(p.Checks, func(c rules.PartCheck) bool { return c.Decided && c.Decision == p.Decision }) {
				t.Fatalf("nothing decides about %s: %+v", p.Text, p.Checks)
			}
			if gravity(p.Decision) > gravity(whole) {
				whole = p.Decision
			}
			for _, of := range p.Runs {
				if gravity(of.Whole.Decision) > gravity(p.Whole.Decision) {
					t.Fatalf("%s is %s with all it runs, and runs %s", p.Text, p.Whole.Decision, of.Text)
				}
				walk(of)
			}
		}
		for _, p := range parts {
			walk(p)
		}
		if whole != v.Decision {
			t.Fatalf("%s of parts, %s of the verdict\n%s", whole, v.Decision, outline(parts, 0))
		}
		for _, e := range v.Effects {
			if !effects[fmt.Sprint(e.Rule, e.Resource, e.Target)] {
				t.Fatalf("%+v is in no part", e)
			}
		}
	})
}
