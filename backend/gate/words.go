package gate

import (
	"slices"
	"strings"

	"deskbell/backend/human"
)

// does says an effect in a sentence.
func does(e human.Effect) human.Sentence {
	verb := e.Verb
	if !slices.Contains(human.EffectVerbs, verb) {
		verb = human.UnknownEffect
	}
	what := ""
	if e.Resource != "" {
		what = ": " + visible(e.Resource)
	}
	if e.Target != "" && e.Target != e.Resource && !strings.HasSuffix(e.Target, "/"+e.Resource) {
		what += " (" + visible(e.Target) + ")"
	}
	if e.Thing != "" {
		return human.Say("does_"+human.Code(verb), "what", what, "thing", e.Thing)
	}
	return human.Say("does_"+human.Code(verb), "what", what)
}

func words(e human.Effect) string { return strings.TrimSuffix(does(e).Text, ".") }

var unbroken = strings.NewReplacer("\n", "⏎", "\r", "", "\t", " ")

// visible shows characters that would not be seen, or would turn the text around, by their numbers.
func visible(s string) string {
	if !disguised(s) {
		return unbroken.Replace(s)
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString("⏎")
		case r < 0x20 || r == 0x7f || r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2060 && r <= 0x2069 || r == 0xfeff || r == 0xad || r >= 0xe0000:
			b.WriteString("<U+")
			const digits = "0123456789ABCDEF"
			for shift := 16; shift >= 0; shift -= 4 {
				if n := r >> shift; n > 0 || shift <= 12 {
					b.WriteByte(digits[n&15])
				}
			}
			b.WriteString(">")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// reason is the weightiest reason of a verdict.
func reason(v human.Verdict) []human.Sentence {
	if v.Risk == human.NoRisk {
		return []human.Sentence{human.Say("only_looks")}
	}
	worst := v.Effects[0]
	said := []human.Sentence{does(worst)}
	switch {
	case v.Decision == human.Deny:
		said = append(said, human.Say("never_done"))
	case v.Decision == human.Allow:
		said = append(said, human.Say("policy_lets"))
	case worst.Certainty == human.Possible:
		said = append(said, human.Say("certainty_possible"))
	}
	return said
}

// maxWhy is how many reasons are given.
const maxWhy = 20

// Why tells the reasons that effects are, the weightiest first, in sentences: one for each rule that found something that no
// other had found. Effects come in the order of a verdict.
func Why(effects []human.Effect) []human.Because {
	type found struct {
		verb     human.EffectVerb
		resource string
	}
	var out []human.Because
	more, seen := map[string]int{}, map[found]bool{}
	for _, e := range effects {
		if f := (found{e.Verb, e.Resource}); seen[f] {
			continue
		} else {
			seen[f] = true
		}
		if more[e.Rule]++; more[e.Rule] > 1 || len(out) == maxWhy {
			continue
		}
		said := []human.Sentence{does(e)}
		if e.Risk != human.NoRisk {
			if e.Certainty == human.Likely || e.Certainty == human.Possible {
				said = append(said, human.Say("certainty_"+human.Code(e.Certainty)))
			}
			if e.Reversibility == human.Costly || e.Reversibility == human.Irreversible {
				said = append(said, human.Say("reversal_"+human.Code(e.Reversibility)))
			}
			if !e.Blast.Near() {
				said = append(said, human.Say("reach_"+human.Code(e.Blast)))
			}
		}
		if e.HardLimit {
			said = append(said, human.Say("nothing_lowers"))
		}
		out = append(out, human.Reasoned(human.Because{Rule: e.Rule, Verb: e.Verb, Resource: e.Resource, Risk: e.Risk}, said...))
	}
	for i, b := range out {
		if n := more[b.Rule] - 1; n > 0 {
			out[i] = human.Reasoned(b, append(b.Said, human.Say("same_of_more", "n", n))...)
		}
	}
	return out
}
