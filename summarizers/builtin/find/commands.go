package find

import (
	"slices"
	"strings"
	"time"

	"deskbell/backend/human"
	"deskbell/summarizers/builtin/facts"
)

// findCommands tells of commands of a terminal: those that failed, those that were run until they passed, and those
// that took long.
func findCommands(r *Result) []Claim {
	all := r.Commands()
	if len(all) == 0 {
		return nil
	}
	runs := map[string][]facts.Command{}
	var order []string
	var took []time.Duration
	for _, c := range all {
		line := strings.Join(strings.Fields(c.Line), " ")
		if line == "" {
			continue
		}
		key := line + "\x00" + c.Dir
		if runs[key] == nil {
			order = append(order, key)
		}
		runs[key] = append(runs[key], c)
		if c.Exit != nil {
			took = append(took, c.Took())
		}
	}
	usual := facts.Middle(took)
	var errors, detours, slow, unseen []Claim
	for _, key := range order {
		tries := runs[key]
		var bad []facts.Command
		passed := false
		for _, c := range tries {
			switch {
			case c.Failed():
				bad, passed = append(bad, c), false
			case c.Exit != nil && *c.Exit == 0:
				passed = true
			}
		}
		first := tries[0]
		called := facts.Quote(first.Line)
		switch n := len(bad); {
		case n == 0:
		case passed:
			pass := first
			for _, c := range tries {
				if c.Exit != nil && *c.Exit == 0 {
					pass = c
				}
			}
			detours = append(detours, claim(human.FoundDetour, 1, say("command-passed-after", called, min(n+1, maxRefs)),
				append(facts.CommandRefs(bad[:min(n, maxRefs-1)]), pass.Ref())...))
		default:
			last := bad[n-1]
			text := say("command-failed", called, *last.Exit)
			if n > 1 {
				text = say("command-failed-often", called, often(min(n, maxRefs)), *last.Exit)
			}
			if said := facts.LastLine(last.Output); strings.TrimSpace(said) != "" {
				text = text.then(say("command-printed", facts.Quote(said)))
			}
			slices.Reverse(bad) // the last is the most telling
			errors = append(errors, claim(human.FoundError, 1, text, facts.CommandRefs(bad)...))
		}
		for _, c := range tries {
			switch {
			case c.Stopped():
				detours = append(detours, claim(human.FoundDetour, 0.9, say("command-stopped", called, *c.Exit), c.Ref()))
			case c.Exit == nil:
				unseen = append(unseen, claim(human.FoundUnseen, 0.9, say("command-end-unknown", called), c.Ref()))
			case c.Took() >= facts.LongWait && c.Took() >= facts.MuchMore*usual:
				slow = append(slow, claim(human.FoundSlow, 1, say("command-took", called, c.Took()), c.Ref()))
			}
		}
	}
	return slices.Concat(errors, detours, slow[:min(len(slow), facts.FewSlow)], unseen[:min(len(unseen), facts.FewSlow)])
}

// often is how many times something failed.
func often(n int) Phrase {
	if n == 2 {
		return say("failed-twice")
	}
	return say("times", n)
}
