package gate

import (
	"strconv"
	"strings"

	"deskbell/backend/human"
)

var sentences = map[human.EffectVerb]string{
	human.FilesystemRead:      "Reads",
	human.FilesystemWrite:     "Writes",
	human.FilesystemDelete:    "Deletes",
	human.GitRead:             "Reads the repository",
	human.GitWrite:            "Changes the repository",
	human.GitDiscard:          "Throws away work that no commit holds",
	human.GitRemoteWrite:      "Pushes to a remote repository",
	human.GitHistoryRewrite:   "Rewrites or deletes history",
	human.NetworkRead:         "Reads from the network",
	human.NetworkWrite:        "Sends to the network",
	human.PackageInstall:      "Installs packages",
	human.PackageRun:          "Runs a program of the project or of a package",
	human.LangExec:            "Runs code",
	human.ProcessSignal:       "Stops or signals processes",
	human.ContainerEffect:     "Changes containers",
	human.ServiceEffect:       "Changes a service",
	human.DatabaseEffect:      "Works on a database",
	human.CredentialAccess:    "Reads secrets",
	human.PersistenceEffect:   "Sets up what runs by itself later",
	human.PrivilegeEscalation: "Acts with more rights",
	human.SecurityWeakening:   "Weakens protections",
	human.CostEffect:          "Costs money",
	human.ObfuscatedEffect:    "Hides what it does",
	human.UnknownEffect:       "Does something that is not known",
}

// words says an effect in a sentence.
func words(e human.Effect) string {
	s := sentences[e.Verb]
	if s == "" {
		s = sentences[human.UnknownEffect]
	}
	if e.Resource != "" {
		s += ": " + visible(e.Resource)
	}
	if e.Target != "" && e.Target != e.Resource && !strings.HasSuffix(e.Target, "/"+e.Resource) {
		s += " (" + visible(e.Target) + ")"
	}
	return s
}

// visible shows characters that would not be seen, or would turn the text around, by their numbers.
func visible(s string) string {
	if !disguised(s) {
		return strings.NewReplacer("\n", "⏎", "\r", "", "\t", " ").Replace(s)
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

func reason(v human.Verdict) string {
	if v.Risk == human.NoRisk {
		return "It only looks."
	}
	worst := v.Effects[0]
	switch v.Decision {
	case human.Deny:
		return worst.Words + ". That is never done."
	case human.Ask:
		if worst.Certainty == human.Possible {
			return worst.Words + ". What it does is known only when it runs."
		}
		return worst.Words + "."
	}
	return worst.Words + ", which the policy lets through."
}

// maxWhy is how many reasons are told.
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
		said := e.Words
		if said == "" {
			said = words(e)
		}
		b := human.Because{Rule: e.Rule, Verb: e.Verb, Resource: e.Resource, Risk: e.Risk, Text: strings.TrimSuffix(said, ".") + "."}
		if e.Risk != human.NoRisk {
			for _, s := range []string{certainties[e.Certainty], reversals[e.Reversibility], reaches[e.Blast]} {
				if s != "" {
					b.Text += " " + s
				}
			}
		}
		if e.Floor {
			b.Text += " Nothing lowers this: no trust, no rule, no standing permission."
		}
		out = append(out, b)
	}
	for i := range out {
		if n := more[out[i].Rule] - 1; n > 0 {
			out[i].Text += " The same of " + strconv.Itoa(n) + " more."
		}
	}
	return out
}

var certainties = map[human.Certainty]string{
	human.Likely:   "Its name says so; what it does is not known for certain.",
	human.Possible: "What it does is known only when it runs.",
}

var reversals = map[human.Reversibility]string{
	human.Costly:       "Undoing it takes work, or a copy.",
	human.Irreversible: "It cannot be undone.",
}

var reaches = map[human.BlastRadius]string{
	human.SharedBlast:     "It reaches what others work with.",
	human.ProductionBlast: "It reaches production.",
	human.PublicBlast:     "It can be seen or taken by anybody.",
}

func (p Policy) words() string {
	switch p {
	case Permissive:
		return "The policy is permissive: high risk is asked about, and medium risk that reaches further than this machine."
	case Strict:
		return "The policy is strict: all that does more than look is asked about."
	}
	return "The policy is balanced: medium risk and more is asked about."
}
