package rules

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"deskbell/backend/gate"
	"deskbell/backend/gate/shell"
	"deskbell/backend/human"
)

// maxBecause is how many reasons are given.
const maxBecause = 20

// Judge says what to do with a call. It does not block but for the evidence. The rules of one's own that took part are in
// the verdict's Rules as rule.ID, before those of the engine where they decided.
func (s *Set) Judge(call gate.Call, evidence gate.Evidence, c Circumstances) human.Verdict {
	j, v := s.judging(call, evidence, c)
	j.decide(&v)
	return v
}

// judging makes a call ready to be weighed, with what it would do.
func (s *Set) judging(call gate.Call, evidence gate.Evidence, c Circumstances) (*judging, human.Verdict) {
	policy := s.Policy(c.Project)
	v, traces := gate.Trace(call, evidence)
	j := newJudging(call, c, traces)
	j.set, j.evidence, j.policy = s, evidence, policy
	for _, r := range c.Standing {
		if made := j.standing(r); made != nil {
			if made.Decision == human.Allow {
				j.allowing = append(j.allowing, made)
			} else {
				j.tightening = append(j.tightening, made)
			}
		}
	}
	return j, v
}

// Matches says whether a rule is about a call, as far as the call alone shows: a rule that asks or blocks holds for it, or a
// rule that allows covers all of it that a balanced policy asks about.
func (s *Set) Matches(r human.GateRule, call gate.Call) bool {
	return len(Matcher([]human.GateRule{r})(call)) > 0
}

// Matcher makes rules ready to be tried on many calls. What it returns gives the indexes of those that Matches finds to be about a
// call; a call is read once for all of them.
func Matcher(list []human.GateRule) func(gate.Call) []int {
	all := make([]*rule, len(list))
	for i, r := range list {
		if made, err := ready(r); err == nil {
			all[i] = made
		}
	}
	return matcher(all)
}

func matcher(all []*rule) func(gate.Call) []int {
	return func(call gate.Call) (found []int) {
		c := Circumstances{Project: call.Root}
		var v human.Verdict
		var traces gate.Traces
		var probe *judging
		for i, r := range all {
			if r == nil || !r.scoped(c, true) || !r.forTool(call.Tool) {
				continue
			}
			if probe == nil {
				v, traces = gate.Trace(call, nil)
				probe = newJudging(call, c, traces)
			}
			// Most are of other commands, as for a call that is judged.
			if r.Decision == human.Allow && r.command != nil && len(r.command.words) > 0 && !r.command.words[0].one && !probe.runsProgram(strings.ToLower(r.command.words[0].text)) {
				continue
			}
			one := newJudging(call, c, traces)
			one.parts = probe.parts
			if one.matches(r, v) {
				found = append(found, i)
			}
		}
		return found
	}
}

func (r *rule) matches(call gate.Call) bool { return len(matcher([]*rule{r})(call)) > 0 }

func (j *judging) matches(r *rule, v human.Verdict) bool {
	j.policy, j.past = gate.Balanced, true
	if r.Decision != human.Allow {
		return j.holds(r, v.Effects)
	}
	j.allowing = []*rule{r}
	covered, taken := j.cover(v.Effects)
	for i, e := range v.Effects {
		if covered[i] == nil && gate.Decide(e, gate.Balanced) != human.Allow {
			return false
		}
	}
	return taken[r]
}

// judging is one call being judged.
type judging struct {
	set      *Set
	call     gate.Call
	evidence gate.Evidence
	c        Circumstances
	policy   gate.Policy
	ground   ground
	past     bool // only how a rule reads is asked: nothing is known of what there was

	allowing, tightening []*rule // rules

	roots, homes []string            // of ground
	paths        map[string][]string // of effects, as names
	toldAll      bool
	reads, named [][]string // paths as names
	scratch      []string

	traces gate.Traces
	names  map[string]bool     // of every program that would run, in lower case; nil before it is asked for
	parts  func() []shell.Part // the commands of the call; none where they are not all that it is
}

func newJudging(call gate.Call, c Circumstances, traces gate.Traces) *judging {
	g := factsOf(call, c)
	j := &judging{call: call, c: c, ground: g, roots: split(g.absolute(g.root)), homes: split(g.absolute(g.home)), traces: traces}
	j.parts = sync.OnceValue(func() []shell.Part {
		parts, whole := gate.Parts(call, j.evidence)
		if !whole {
			return nil
		}
		return parts
	})
	return j
}

// runsProgram says whether a program of that name, in lower case, would run.
func (j *judging) runsProgram(name string) bool {
	if j.names == nil {
		j.names = map[string]bool{}
		for _, words := range j.traces.Runs {
			if len(words) > 0 {
				name := strings.ToLower(words[0])
				j.names[name], j.names[programName(name)] = true, true
			}
		}
	}
	return j.names[name]
}

// standing makes an operator's rule ready, or returns nil where it cannot be of this call.
func (j *judging) standing(r human.GateRule) *rule {
	probe := rule{GateRule: r, loose: r.Decision != human.Allow || r.Command != ""}
	if !probe.scoped(j.c, false) || !probe.forTool(j.call.Tool) {
		return nil
	}
	if r.Command != "" {
		// Most are of other commands, which their first word tells.
		if first, _, _ := strings.Cut(r.Command, " "); first != "*" && !strings.ContainsAny(first, "'\"\\") {
			if !j.runsProgram(strings.ToLower(first)) {
				return nil
			}
		}
	}
	made, err := ready(r)
	if err != nil || checkRule(made) != nil {
		if r.Decision == human.Allow {
			return nil
		}
		// A rule that cannot be read may have meant this call.
		return &rule{GateRule: human.GateRule{ID: r.ID, Decision: human.Ask, Source: r.Source, Reason: "it cannot be read"}}
	}
	return made
}

// scoped says whether a rule is of these circumstances. past leaves out who asks, and when.
func (r *rule) scoped(c Circumstances, past bool) bool {
	if r.Project != "" && r.Project != c.Project && path.Clean(r.Project) != path.Clean(cmp.Or(c.Project, ".")) {
		return false
	}
	if past {
		return true
	}
	if r.Session != "" && r.Session != c.Session || r.Agent != "" && r.Agent != c.Agent {
		return false
	}
	if r.Until != nil && !c.Now.Before(*r.Until) {
		return false
	}
	return r.Until == nil || !c.Now.IsZero() || r.Decision != human.Allow
}

func (r *rule) forTool(tool string) bool {
	switch {
	case r.Tool == "":
		return true
	case r.loose && gate.SameTool(r.Tool, tool):
		return true
	case r.loose:
		return human.Glob(strings.ToLower(r.Tool), strings.ToLower(tool))
	}
	return human.Glob(r.Tool, tool)
}

// candidates are the rules that can be of this call, by its programs' names.
func (j *judging) candidates(x *index, more []*rule) []*rule {
	out := more
	if x == nil {
		return out
	}
	if len(x.byName) > 0 {
		j.runsProgram("")
		names := make([]string, 0, len(j.names))
		for name := range j.names {
			if len(x.byName[name]) > 0 {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			out = append(out, x.byName[name]...)
		}
	}
	return append(out, x.any...)
}

// weights are what there is to be said for and against a call.
type weights struct {
	hold    []*rule                      // rules that ask or block, the most severe first
	covered []*rule                      // by effect: the rule that allows it
	rulings []human.Ruling               // by effect
	by      []decider                    // by effect
	trust   map[human.EffectVerb]float64 // in what does more than look
	effects human.Ruling                 // the most severe of rulings
	ruling  human.Ruling                 // with hold
}

// A decider is what decided about an effect.
type decider uint8

const (
	byPolicy decider = iota
	byRule
	byTrust    // there is much
	byDistrust // there is little
)

func (j *judging) weigh(effects []human.Effect) weights {
	w := weights{
		covered: make([]*rule, len(effects)), rulings: make([]human.Ruling, len(effects)), by: make([]decider, len(effects)),
		trust: map[human.EffectVerb]float64{}, effects: human.Allow,
	}
	for _, r := range j.candidates(&j.set.tighten, j.tightening) {
		if r.scoped(j.c, false) && r.forTool(j.call.Tool) && j.holds(r, effects) {
			w.hold = append(w.hold, r)
		}
	}
	slices.SortStableFunc(w.hold, func(a, b *rule) int { return gravity(b.Decision) - gravity(a.Decision) })
	if slices.ContainsFunc(effects, func(e human.Effect) bool { return e.Risk != human.NoRisk && !e.HardLimit }) {
		list := j.candidates(&j.set.allow, j.allowing)
		j.allowing = nil
		for _, r := range list {
			if r.scoped(j.c, false) && r.forTool(j.call.Tool) {
				j.allowing = append(j.allowing, r)
			}
		}
		if len(j.allowing) > 0 {
			w.covered, _ = j.cover(effects)
		}
	}
	th := j.set.config.Thresholds
	for i, e := range effects {
		w.rulings[i] = gate.Decide(e, j.policy)
		if !e.HardLimit && e.Risk != human.NoRisk {
			t, ok := w.trust[e.Verb]
			if !ok {
				t = j.trust(e.Verb)
				w.trust[e.Verb] = t
			}
			switch {
			case t < th.ParanoidMode:
				w.rulings[i], w.by[i], w.covered[i] = human.Ask, byDistrust, nil
			case w.covered[i] != nil:
				w.rulings[i], w.by[i] = human.Allow, byRule
			case e.Risk == human.LowRisk && t > th.LowRiskAutoApprove && w.rulings[i] == human.Ask:
				w.rulings[i], w.by[i] = human.Allow, byTrust
			}
		}
		w.effects = graver(w.effects, w.rulings[i])
	}
	w.ruling = w.effects
	for _, r := range w.hold {
		w.ruling = graver(w.ruling, r.Decision)
	}
	return w
}

// decide gives a verdict its decision, with how it is asked and why.
func (j *judging) decide(v *human.Verdict) {
	w := j.weigh(v.Effects)
	v.Decision = w.ruling
	gate.Explain(j.call, v, j.evidence)
	if len(j.set.tighten.any)+len(j.set.tighten.byName)+len(j.tightening) > 0 {
		v.Choices = slices.DeleteFunc(v.Choices, func(c human.Choice) bool { return c.Action == human.ChooseInstead && !j.offers(c.Command) })
	}

	why := &because{set: j.set, v: v}
	for _, r := range w.hold {
		if r.Decision == w.ruling && gravity(r.Decision) > gravity(w.effects) {
			why.rule(r, true)
		}
	}
	// What made it so, then what would have asked by itself.
	var most, rest []human.Effect
	for i, e := range v.Effects {
		switch w.rulings[i] {
		case human.Allow:
		case w.effects:
			most = append(most, e)
		default:
			rest = append(rest, e)
		}
	}
	why.list = append(why.list, gate.Why(append(most, rest...))...)
	for _, r := range w.hold {
		why.rule(r, true)
	}
	for i, e := range v.Effects {
		if t, ok := w.trust[e.Verb]; ok && w.ruling != human.Deny && e.Risk != human.NoRisk && !e.HardLimit && (w.rulings[i] != human.Allow || w.by[i] == byTrust) {
			why.trust(e, t)
		}
	}
	if w.ruling == human.Ask && w.effects == human.Ask {
		why.policy(j, v.Effects, w)
	}
	for _, r := range w.covered {
		if r != nil {
			why.rule(r, w.ruling == human.Allow)
		}
	}
	if w.ruling == human.Allow {
		var passed []human.Effect
		for i, e := range v.Effects {
			if w.by[i] == byPolicy && (e.Risk != human.NoRisk || v.Risk == human.NoRisk) {
				passed = append(passed, e)
			}
		}
		why.passed(passed, j.policy)
	}
	why.project()
	v.Because = why.list[:min(len(why.list), maxBecause)]
	if len(w.hold) > 0 || slices.ContainsFunc(w.by, func(d decider) bool { return d != byPolicy }) {
		if len(v.Because) > 0 {
			v.Reason, v.Said = v.Because[0].Text, v.Because[0].Said
		}
		v.Rules = slices.Concat(why.first, v.Rules, why.last)
	}
}

// offers says whether a command may be offered in place of the call's: no rule of one's own asks about it, or refuses it.
func (j *judging) offers(command string) bool {
	call, ok := gate.Instead(j.call, command)
	if !ok {
		return true // it is no command
	}
	v, traces := gate.Trace(call, j.evidence)
	other := newJudging(call, j.c, traces)
	other.set, other.evidence, other.policy = j.set, j.evidence, j.policy
	for _, r := range j.c.Standing {
		if made := other.standing(r); made != nil && made.Decision != human.Allow {
			other.tightening = append(other.tightening, made)
		}
	}
	return len(other.weigh(v.Effects).hold) == 0
}

func (j *judging) trust(verb human.EffectVerb) float64 {
	if j.c.Trust == nil {
		return j.set.config.Trust.Initial
	}
	return j.c.Trust(verb)
}

func gravity(r human.Ruling) int {
	return slices.Index([]human.Ruling{human.Allow, human.Ask, human.Deny}, r)
}

func graver(a, b human.Ruling) human.Ruling {
	if gravity(b) > gravity(a) {
		return b
	}
	return a
}

// holds says whether a rule that asks or refuses is of the call. Its command may stand anywhere: within wrappers, scripts
// and substitutions.
func (j *judging) holds(r *rule, effects []human.Effect) bool {
	if r.command != nil {
		found := slices.ContainsFunc(j.traces.Runs, func(words []string) bool {
			if r.pattern {
				return r.command.inside(words)
			}
			return r.command.within(words)
		})
		if !found && r.pattern && len(j.traces.Runs) == 0 {
			found = j.inArguments(r.command)
		}
		if !found {
			return false
		}
	}
	if r.Path == "" && len(r.Verbs) == 0 {
		return true
	}
	for _, e := range effects {
		if r.ofVerb(e.Verb) && (r.path == nil || j.touches(r.path, e, true)) {
			return true
		}
	}
	if r.Path == "" {
		return false
	}
	reads := r.ofVerb(human.FilesystemRead) && (len(j.traces.Reads) > 0 || len(j.traces.Runs) > 0)
	// Some effects do not tell their path by themselves.
	silent := slices.ContainsFunc(effects, func(e human.Effect) bool {
		return e.Risk != human.NoRisk && pathOf(e) == "" && r.ofVerb(e.Verb)
	})
	if !reads && !silent {
		return false
	}
	pattern := j.of(r.path)
	of := func(list [][]string) bool {
		return slices.ContainsFunc(list, func(have []string) bool { return len(have) > maxDepth || meet(pattern, have) })
	}
	j.told()
	return reads && of(j.reads) || of(j.named)
}

// told makes the paths ready that the call reads, and those that words of its commands may be, in the call's folder: what
// is only read is in no effect by itself.
func (j *judging) told() {
	if j.toldAll {
		return
	}
	j.toldAll = true
	for _, p := range j.traces.Reads {
		j.reads = append(j.reads, split(j.ground.absolute(p)))
	}
	for _, words := range j.traces.Runs {
		if len(words) == 0 || slices.Contains(talks, programName(words[0])) {
			continue
		}
		for i, w := range words {
			if i > 0 && slices.Contains(messages, words[i-1]) || strings.Contains(w, "…") {
				continue
			}
			if strings.HasPrefix(w, "-") {
				_, w, _ = strings.Cut(w, "=")
			}
			for _, w := range texts(w) {
				if w[0] != '/' && w[0] != '~' && j.call.Cwd != "" {
					w = j.call.Cwd + "/" + w
				}
				j.named = append(j.named, split(j.ground.absolute(w)))
			}
		}
	}
}

// texts are a word, or the texts in it where it is code.
func texts(w string) []string {
	if w == "" {
		return nil
	}
	if !strings.ContainsAny(w, "'\"`") {
		return []string{w}
	}
	var out []string
	for i := 0; i < len(w); i++ {
		if q := w[i]; q == '\'' || q == '"' || q == '`' {
			end := strings.IndexByte(w[i+1:], q)
			if end < 0 {
				break
			}
			if end > 0 {
				out = append(out, w[i+1:i+1+end])
			}
			i += end + 1
		}
	}
	return out
}

// inArguments says whether words stand in the arguments of a tool that runs no commands.
func (j *judging) inArguments(c *command) bool {
	for _, text := range gate.Texts(j.call) {
		words := strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || strings.ContainsRune(";,()\"'`", r) })
		next := 0
		for _, w := range words {
			if next < len(c.words) && (c.words[next].one || strings.EqualFold(c.words[next].text, w)) {
				next++
			}
		}
		if len(c.words) > 0 && next == len(c.words) {
			return true
		}
	}
	return false
}

func (r *rule) ofVerb(v human.EffectVerb) bool {
	return len(r.Verbs) == 0 || slices.Contains(r.Verbs, v)
}

// cover says which effects the allowing rules remove, and by which. An effect that several commands have is removed
// only where each of them is.
func (j *judging) cover(effects []human.Effect) (covered []*rule, taken map[*rule]bool) {
	taken = map[*rule]bool{}
	covered = make([]*rule, len(effects))
	var byCommand, others []*rule
	for _, r := range j.allowing {
		if r.command != nil {
			byCommand = append(byCommand, r)
		} else {
			others = append(others, r)
		}
	}
	if len(byCommand) > 0 {
		// By what an effect is; the evidence and the words for it are not told of parts.
		by := map[human.Effect]*rule{}
		open := map[human.Effect]bool{}
		for _, p := range j.parts() {
			var of []*rule
			for _, r := range byCommand {
				if j.runs(r, p) {
					of = append(of, r)
					taken[r] = true
				}
			}
			for _, e := range p.Effects {
				i := slices.IndexFunc(of, func(r *rule) bool { return j.covers(r, e) })
				if i < 0 {
					open[bare(e)] = true
				} else if by[bare(e)] == nil {
					by[bare(e)] = of[i]
				}
			}
		}
		for i, e := range effects {
			if k := bare(e); !open[k] && !e.HardLimit {
				covered[i] = by[k]
			}
		}
	}
	code := gate.RunsCode(j.call.Tool)
	for i, e := range effects {
		if covered[i] != nil || e.HardLimit || code && e.Certainty == human.Possible {
			continue
		}
		for _, r := range others {
			if code && r.Path == "" && len(r.Verbs) == 0 {
				continue // a tool that runs anything is not allowed whole
			}
			if j.covers(r, e) {
				covered[i] = r
				taken[r] = true
				break
			}
		}
	}
	return covered, taken
}

func bare(e human.Effect) human.Effect {
	e.Words, e.FileCounts = "", human.FileCounts{}
	return e
}

// runs says whether a part is the command that a rule allows, word by word, and in the rule's project.
func (j *judging) runs(r *rule, p shell.Part) bool {
	if !p.Known || !r.command.exactly(p.Words) {
		return false
	}
	if r.Project != "" {
		for _, dir := range p.Dirs {
			if strings.Contains(dir, "…") {
				return false
			}
			root, at := path.Clean(r.Project), j.ground.absolute(dir)
			if at != root && !strings.HasPrefix(at, strings.TrimSuffix(root, "/")+"/") && !windowsPath(root) {
				return false
			}
		}
	}
	if obeysInput(p) {
		return false // of that the rule says nothing
	}
	if !r.command.wild() {
		return true
	}
	// A word that stands for others must not bring a command with it.
	for i, words := range p.Runs {
		if i == 0 || len(words) == 0 {
			continue
		}
		for k, w := range p.Words {
			if (k >= len(r.command.words) || r.command.words[k].one) && strings.Contains(w, words[0]) {
				return false
			}
		}
	}
	return true
}

// obeysInput says whether a command may do what it is fed.
func obeysInput(p shell.Part) bool {
	return p.Fed && slices.ContainsFunc(p.Runs, func(words []string) bool { return len(words) > 0 && obeys()[programName(words[0])] })
}

// obeys are programs that can do what their standard input says.
var obeys = sync.OnceValue(func() map[string]bool {
	m := maps.Clone(runners())
	for _, name := range strings.Fields("psql mysql mariadb sqlite3 redis-cli mongo mongosh sqlplus sqlcmd bq cqlsh duckdb clickhouse-client influx " +
		"git patch crontab at batch tar cpio pax sftp ftp lftp nc ncat socat telnet curl wget http gh glab aws gcloud az helm terraform tofu oc dd tee ed ex vi vim nvim emacs gdb lldb gpg openssl make m4 dc bc expect mail sendmail ssh-add iptables-restore nft sysctl chpasswd passwd visudo debconf-set-selections") {
		m[name] = true
	}
	return m
})

// covers says whether a rule of this call takes an effect away.
func (j *judging) covers(r *rule, e human.Effect) bool {
	if e.HardLimit || !r.ofVerb(e.Verb) {
		return false
	}
	if r.Path != "" && (strings.Contains(pathOf(e), "…") || !j.touches(r.path, e, false)) {
		return false
	}
	// Nobody has read all that a path or kinds of effects stand for, nor what * does.
	if r.command == nil && e.Risk == human.CriticalRisk {
		return false
	}
	if r.command != nil && r.command.wild() && len(r.Verbs) == 0 && e.Risk.Level() >= human.HighRisk.Level() {
		return false
	}
	return r.Source != human.RuleOperator || j.past || j.kept(e)
}

// kept says whether what an effect takes away is to be had elsewhere. No standing permission covers what is not.
func (j *judging) kept(e human.Effect) bool {
	switch e.Verb {
	case human.GitDiscard:
		return j.evidence != nil && j.evidence.Clean()
	case human.FilesystemDelete:
		if e.Risk == human.LowRisk {
			return true
		}
		p := pathOf(e)
		if p == "" || j.evidence == nil || strings.Contains(p, "…") {
			return false
		}
		switch j.evidence.File(j.ground.absolute(strings.TrimSuffix(p, "/*"))) {
		case gate.Absent, gate.MadeHere, gate.Committed, gate.Ignored:
			return true
		}
		return false
	}
	return true
}

// because collects reasons.
type because struct {
	set         *Set
	v           *human.Verdict
	list        []human.Because
	first, last []string // ids of rules of one's own, and of trust, that decided and that did not
}

func (b *because) has(id string) bool {
	return slices.ContainsFunc(b.list, func(x human.Because) bool { return x.Rule == id })
}

func (b *because) rule(r *rule, decided bool) {
	id := "rule." + r.ID
	if b.has(id) {
		return
	}
	b.list = append(b.list, human.Reasoned(human.Because{Rule: id}, r.says()))
	if decided {
		b.first = append(b.first, id)
	} else {
		b.last = append(b.last, id)
	}
}

// OwnRule says whether a reason is a rule of one's own, or the project's own file.
func OwnRule(id string) bool {
	return strings.HasPrefix(id, "rule.") || strings.HasPrefix(id, "project.")
}

// Settled says whether rules of one's own, a project's own file or trust took part in a verdict: what no judgement by
// others overrides.
func Settled(v human.Verdict) bool {
	for _, id := range v.Rules {
		if OwnRule(id) || strings.HasPrefix(id, "trust.") {
			return true
		}
	}
	return slices.ContainsFunc(v.Because, func(b human.Because) bool { return OwnRule(b.Rule) })
}

// says is a rule in a sentence.
func (r *rule) says() human.Sentence {
	whose := human.Code("rule_mine_")
	switch {
	case r.Source == human.RuleProject:
		whose = "rule_project_"
	case r.Source == human.RuleOperator && r.By != "":
		whose = "rule_by_"
	case r.Source == human.RuleOperator:
		whose = "rule_standing_"
	}
	var what, match []string
	add := func(value, said string) {
		match, what = append(match, value), append(what, said)
	}
	if r.Command != "" {
		add("`"+r.Command+"`", "`"+r.Command+"`")
	}
	if len(r.Verbs) > 0 {
		var verbs []string
		for _, v := range r.Verbs {
			verbs = append(verbs, string(v))
		}
		add(strings.Join(verbs, ", "), strings.Join(verbs, ", "))
	}
	switch {
	case r.Path != "" && len(what) > 0:
		add("`"+r.Path+"`", "on `"+r.Path+"`")
	case r.Path != "":
		add("`"+r.Path+"`", "what touches `"+r.Path+"`")
	}
	switch {
	case r.Tool != "" && len(what) > 0:
		add(r.Tool, "by the tool "+r.Tool)
	case r.Tool != "":
		add(r.Tool, "every call of the tool "+r.Tool)
	}
	why := ""
	if r.Reason != "" {
		why = ": " + strings.TrimSuffix(r.Reason, ".")
	}
	return human.Say(whose+human.Code(r.Decision), "by", r.By, "what", cmp.Or(strings.Join(what, " "), "this"), "match", strings.Join(match, ", "), "why", why)
}

// passed is why effects need no one.
func (b *because) passed(effects []human.Effect, policy gate.Policy) {
	if len(effects) == 0 {
		return
	}
	if effects[0].Risk == human.NoRisk {
		effects = effects[:1]
	}
	said := gate.Why(effects)
	b.list = append(b.list, said[:min(len(said), 5)]...)
	if effects[0].Risk != human.NoRisk {
		b.list = append(b.list, human.Reasoned(human.Because{Rule: "policy"}, human.Say("policy_passes_"+human.Code(policy))))
	}
}

func (b *because) trust(e human.Effect, t float64) {
	id := "trust." + string(e.Verb)
	if b.has(id) {
		return
	}
	th := b.set.config.Thresholds
	var said human.Code
	least := th.LowRiskAutoApprove
	switch {
	case t < th.ParanoidMode:
		said, least = "trust_low", th.ParanoidMode
		b.first = append(b.first, id)
	case t <= th.LowRiskAutoApprove:
		said = "trust_under"
	case e.Risk == human.LowRisk:
		said = "trust_over"
		b.first = append(b.first, id)
	default:
		said = "trust_over_risk"
	}
	b.list = append(b.list, human.Reasoned(human.Because{Rule: id, Verb: e.Verb, Trust: &t}, human.Say(said, "least", fmt.Sprintf("%.2f", least))))
}

// policy says which policy asks, where a more permissive one would not.
func (b *because) policy(j *judging, effects []human.Effect, w weights) {
	at := level(j.policy)
	if at == 0 {
		return
	}
	for i, e := range effects {
		if w.rulings[i] == human.Ask && w.by[i] == byPolicy && gate.Decide(e, gate.Policies[at-1]) == human.Allow {
			said := []human.Sentence{human.Say("policy_asks_" + human.Code(j.policy))}
			if b.set.importance(j.c.Project) == High {
				said = append(said, human.Say("project_important"))
			}
			b.list = append(b.list, human.Reasoned(human.Because{Rule: "policy"}, said...))
			return
		}
	}
}

func (b *because) project() {
	if b.set.problem != "" {
		b.list = append(b.list, human.Reasoned(human.Because{Rule: "project.file"}, human.Say("project_file", "problem", b.set.problem)))
	}
}
