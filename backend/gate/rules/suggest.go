package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"deskbell/backend/gate"
	"deskbell/backend/gate/shell"
	"deskbell/backend/gate/trust"
	"deskbell/backend/human"
)

// Suggest is the rule that 'always allow' would make of a call that is asked about: the words of its most severe command as
// they stand, or one path of a file tool, in its project. It never covers a hard limit, or an effect that removes what no
// commit holds. leftOut says what of the call it would not cover, and why; ok is false where it would cover
// nothing.
func Suggest(call gate.Call, v human.Verdict, c Circumstances) (r human.GateRule, leftOut []human.Sentence, ok bool) {
	r = human.GateRule{Decision: human.Allow, Project: factsOf(call, c).root, Source: human.RuleOperator}
	var out []human.Sentence
	for _, e := range v.Effects {
		if e.HardLimit {
			out = append(out, about(e, "left_floor"))
		}
	}
	if gate.RunsCode(call.Tool) {
		words, why := suggestCommand(call, v)
		out = append(out, why...)
		if len(words) == 0 {
			return human.GateRule{}, out, false
		}
		r.Command = command{words: words}.String()
	} else {
		found, why := suggestTool(&r, call, v)
		out = append(out, why...)
		if !found {
			return human.GateRule{}, out, false
		}
	}
	if made, err := ready(r); err != nil || checkRule(made) != nil {
		return human.GateRule{}, []human.Sentence{human.Say("left_more_said")}, false
	}
	return r, out, true
}

// about is a note on an effect that no rule covers.
func about(e human.Effect, code human.Code) human.Sentence {
	return human.Say(code, "what", e.Words, "verb", e.Verb, "resource", e.Resource, "thing", e.Thing)
}

// suggestCommand are the words of the most severe command of a call that a rule may cover.
func suggestCommand(call gate.Call, v human.Verdict) (best []word, leftOut []human.Sentence) {
	parts, whole := gate.Parts(call, nil)
	if !whole {
		return nil, []human.Sentence{human.Say("left_beside")}
	}
	risk := human.NoRisk
	var of string
	for _, p := range parts {
		worst := p.Effects[0]
		if worst.HardLimit || worst.Risk == human.NoRisk {
			continue
		}
		words, why := suggestWords(p, v)
		leftOut = append(leftOut, why...)
		if len(words) == 0 {
			continue
		}
		text := command{words: words}.String()
		switch {
		case best == nil || worst.Risk.Level() > risk.Level():
			if best != nil && text != of {
				leftOut = append(leftOut, human.Say("left_own_command", "what", "`"+of+"`"))
			}
			best, risk, of = words, worst.Risk, text
		case text != of:
			leftOut = append(leftOut, human.Say("left_own_command", "what", "`"+text+"`"))
		}
	}
	return best, leftOut
}

// suggestWords are the words of one command without those that name what no commit holds.
func suggestWords(p shell.Part, v human.Verdict) (words []word, leftOut []human.Sentence) {
	if !p.Known {
		if len(p.Words) == 0 {
			return nil, []human.Sentence{human.Say("left_unknown")}
		}
		return nil, []human.Sentence{human.Say("left_unknown_command", "what", "`"+strings.Join(p.Words, " ")+"`")}
	}
	if obeysInput(p) {
		return nil, []human.Sentence{human.Say("left_fed", "what", "`"+strings.Join(p.Words, " ")+"`")}
	}
	drop := map[string]bool{}
	for _, e := range v.Effects {
		if e.HardLimit || !loses(e) || !slices.ContainsFunc(p.Effects, func(o human.Effect) bool { return o.Verb == e.Verb && o.Resource == e.Resource }) {
			continue
		}
		if slices.Contains(p.Words[1:], e.Resource) {
			drop[e.Resource] = true
			leftOut = append(leftOut, human.Say("left_commit", "what", "`"+e.Resource+"`"))
			continue
		}
		return nil, append(leftOut, about(e, "left_commit"))
	}
	operands := 0
	for i, w := range p.Words {
		if i > 0 && drop[w] {
			continue
		}
		if i > 0 && !strings.HasPrefix(w, "-") {
			operands++
		}
		words = append(words, word{text: w})
	}
	if len(drop) > 0 && operands == 0 {
		return nil, leftOut
	}
	return words, leftOut
}

// loses says whether an effect removes what may be nowhere else.
func loses(e human.Effect) bool {
	switch e.Verb {
	case human.FilesystemDelete:
		return e.Risk != human.LowRisk && (e.Kept == human.KeptNowhere || e.Kept == "")
	case human.GitDiscard:
		return e.Kept != human.KeptCommitted
	}
	return false
}

// suggestTool fills in what a rule for a tool that runs no commands would say.
func suggestTool(r *human.GateRule, call gate.Call, v human.Verdict) (found bool, leftOut []human.Sentence) {
	g := factsOf(call, Circumstances{Project: r.Project})
	r.Tool = call.Tool
	for _, e := range v.Effects {
		if e.HardLimit || e.Risk == human.NoRisk {
			continue
		}
		if loses(e) {
			leftOut = append(leftOut, about(e, "left_commit"))
			continue
		}
		switch p := pathOf(e); {
		case e.Verb == human.NetworkRead || e.Verb == human.NetworkWrite:
			leftOut = append(leftOut, about(e, "left_address"))
		case p == "" && e.Verb == human.UnknownEffect && e.Resource == call.Tool && !found:
			found = true // the tool itself
		case p == "":
			leftOut = append(leftOut, about(e, "left_plain"))
		case !found:
			found = true
			r.Path = p
			if rel, ok := strings.CutPrefix(g.absolute(p), strings.TrimSuffix(g.root, "/")+"/"); ok && g.root != "" {
				r.Path = rel
			}
			r.Verbs = []human.EffectVerb{e.Verb}
		case slices.Contains(r.Verbs, e.Verb) && g.absolute(r.Path) == g.absolute(p):
		default:
			leftOut = append(leftOut, about(e, "left_own"))
		}
	}
	return found, leftOut
}

// A PastCall is a call that an operator answered for.
type PastCall struct {
	Call           gate.Call
	Agent, Session string
	Project        string
	At             time.Time
	Risk           human.Risk
	HardLimit      bool
	Effects        []human.Effect // as they were judged, with what there was; without, the call alone tells
	Allowed        bool
	Read           time.Duration // between the question being seen and the answer
	Words          int           // that there were to be read
	Bulk           bool          // answered together with others
}

// A Proposal is a rule that the operator's own answers suggest.
type Proposal struct {
	Key       string // the same for the same rule
	Rule      human.GateRule
	Times     int           // how often it was allowed: every time that it was asked
	LeastRead time.Duration // of the fastest answer
}

// AtLeast is how often a call must have been allowed before a rule is proposed for it.
const AtLeast = 5

// Doubt is why no rule is proposed from an answer.
type Doubt string

// The doubts, the most serious first.
const (
	NoDoubt     Doubt = ""
	HardLimited Doubt = "hard_limit"
	TooRisky    Doubt = "high_risk"
	NoRule      Doubt = "no_rule" // a rule cannot say it
	InPart      Doubt = "partly"  // a rule would cover only a part
	TooFast     Doubt = "too_fast"
)

// A suggestion is what would have spared the questions about a call.
type suggestion struct {
	effects []human.Effect
	rule    human.GateRule
	inPart  bool
	ok      bool
}

// Suggester makes what gives for each call the rule that would have spared the question, as 'always allow' would make it; ok is false
// where there is none. doubt is why it must not be proposed. The rule of a call is made once, however often it was asked about.
func Suggester() func(PastCall) (r human.GateRule, doubt Doubt, ok bool) {
	made := map[string]suggestion{}
	return func(p PastCall) (human.GateRule, Doubt, bool) {
		key := strings.Join([]string{p.Project, p.Call.Tool, p.Call.Cwd, p.Call.Root, string(p.Call.Args)}, "\x00")
		s, is := made[key]
		if !is || !slices.Equal(s.effects, p.Effects) {
			s = p.suggest()
			made[key] = s
		}
		return s.rule, p.doubt(s), s.ok
	}
}

func (p PastCall) suggest() suggestion {
	v := human.Verdict{Effects: p.Effects}
	if v.Effects == nil {
		v = gate.Judge(p.Call, gate.Balanced, nil)
	}
	r, leftOut, ok := Suggest(p.Call, v, Circumstances{Project: p.Project})
	return suggestion{p.Effects, r, len(leftOut) > 0, ok}
}

func (p PastCall) doubt(s suggestion) Doubt {
	switch {
	case p.HardLimit:
		return HardLimited
	case p.Risk.Level() >= human.HighRisk.Level():
		return TooRisky
	case !s.ok:
		return NoRule
	case s.inPart:
		return InPart
	case p.Bulk || p.Read < trust.Reading(p.Words):
		return TooFast
	}
	return NoDoubt
}

// Propose makes rules of what operators always allow. It proposes nothing that was denied once, answered faster than it can
// be read, of high risk, a hard limit, or covered only in part. The most frequent are first.
func Propose(past []PastCall, dismissed []string) []Proposal {
	type tally struct {
		Proposal
		no bool
	}
	byKey := map[string]*tally{}
	var order []string
	suggest := Suggester()
	for _, p := range past {
		r, doubt, ok := suggest(p)
		if !ok {
			continue
		}
		key := KeyOf(r)
		t := byKey[key]
		if t == nil {
			t = &tally{Proposal: Proposal{Key: key, Rule: r, LeastRead: p.Read}}
			byKey[key] = t
			order = append(order, key)
		}
		if !p.Allowed || doubt != NoDoubt {
			t.no = true
		}
		t.Times++
		t.LeastRead = min(t.LeastRead, p.Read)
	}
	out := []Proposal{}
	for _, key := range order {
		if t := byKey[key]; !t.no && t.Times >= AtLeast && !slices.Contains(dismissed, key) {
			out = append(out, t.Proposal)
		}
	}
	slices.SortStableFunc(out, func(a, b Proposal) int { return b.Times - a.Times })
	return out
}

// KeyOf is the same for rules that say the same.
func KeyOf(r human.GateRule) string {
	says := []any{r.Decision, r.Tool, r.Command, r.Path, r.Verbs, r.Project}
	if r.Agent != "" {
		says = append(says, r.Agent)
	}
	text, err := json.Marshal(says)
	if err != nil {
		return r.Command // texts are always JSON
	}
	sum := sha256.Sum256(text)
	return "p_" + hex.EncodeToString(sum[:10])
}
