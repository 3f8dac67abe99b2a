package summary

import (
	"slices"
	"strings"

	"deskbell/backend/human"
	"deskbell/backend/kind"
	"deskbell/summarizers"
)

// A Rule says which summarizers are asked about some operations. The first rule that fits counts; each of its
// summarizers makes a draft, and the first one's is shown first.
type Rule struct {
	What string // kind, agent, project, or * for all
	Is   string
	Use  []string
}

// ParseRule reads a rule as the settings have it: "kind:browser = browser model", "agent:NAME = ...",
// "project:NAME = ..." or "* = ...". Invalid says what is wrong with it.
func ParseRule(text string) (Rule, error) {
	which, use, is := strings.Cut(text, "=")
	var r Rule
	if is {
		r.What, r.Is, _ = strings.Cut(strings.TrimSpace(which), ":")
		r.What, r.Is = strings.TrimSpace(r.What), strings.TrimSpace(r.Is)
		for _, name := range strings.Fields(use) {
			if !slices.Contains(r.Use, name) {
				r.Use = append(r.Use, name)
			}
		}
	}
	all := r.What == "*" && r.Is == ""
	some := (r.What == "kind" || r.What == "agent" || r.What == "project") && r.Is != ""
	if len(r.Use) == 0 || !all && !some {
		return Rule{}, human.Errorf(human.Invalid, "%q is not a rule; write kind:KIND, agent:NAME, project:NAME or *, then = and summarizers' names with spaces between them", human.OneLine(text, 120))
	}
	if r.What == "kind" && !slices.Contains(kind.ForAgents(), human.Kind(r.Is)) {
		return Rule{}, human.Errorf(human.Invalid, "%q names no kind of operation; the kinds are %s", human.OneLine(text, 120), kind.Sentence(kind.ForAgents()))
	}
	return r, nil
}

func (r Rule) fits(op human.Operation) bool {
	switch r.What {
	case "kind":
		return string(op.Kind) == r.Is
	case "agent":
		return op.AgentID == r.Is
	case "project":
		return op.Project() == r.Is
	}
	return true
}

// choose names the summarizers for an input: by the rules, else the built-in one for what there is.
func choose(rules []Rule, in summarizers.Input) []string {
	for _, r := range rules {
		if r.fits(in.Operation) {
			return slices.Clone(r.Use)
		}
	}
	return []string{builtIn(in)}
}

// builtIn is the name of the built-in summarizer for what an input has.
func builtIn(in summarizers.Input) string {
	sources := in.Sources()
	switch {
	case len(in.Recordings) == 0:
		return string(summarizers.FromAnswer)
	case len(in.Recordings) > 1 || len(sources) > 2:
		return "joined"
	case len(sources) == 1: // a recording of nothing
		return string(summarizers.FromDesktop)
	}
	return string(sources[1])
}
