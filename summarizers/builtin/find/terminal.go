package find

import (
	"encoding/json"
	"slices"

	"deskbell/backend/human"
	"deskbell/summarizers/builtin/facts"
)

// findLastCommand tells of the state that a terminal was left in. A command that failed is an error.
func findLastCommand(r *Result) []Claim {
	all := r.Commands()
	if len(all) == 0 {
		return nil
	}
	last := all[len(all)-1]
	called := facts.Quote(last.Line)
	if called == "" || last.Exit == nil || last.Failed() {
		return nil
	}
	text := say("command-last", called, *last.Exit)
	if last.Dir != "" {
		text = say("command-last-in", called, last.Dir, *last.Exit)
	}
	if said := facts.Quote(facts.LastLine(last.Output)); said != "" && !last.Screen {
		text = text.then(say("command-printed", said))
	}
	return []Claim{claim(human.FoundOutcome, 1, text, last.Ref())}
}

// findSuggested tells what became of the commands that the agent suggested: run, changed, left out.
func findSuggested(r *Result) []Claim {
	request, ok := r.suggestion()
	if !ok {
		return nil
	}
	runs := make([][]facts.Command, len(r.In.Suggested))
	for _, c := range r.Commands() {
		if i := c.Suggestion; i != nil && *i >= 0 && *i < len(runs) {
			runs[*i] = append(runs[*i], c)
		}
	}
	var ran, left []string
	var passed, changed []Claim
	evidence := []human.Ref{}
	for i, text := range r.In.Suggested {
		called := facts.Quote(text)
		if called == "" {
			continue
		}
		if len(runs[i]) == 0 {
			left = append(left, called)
			continue
		}
		last := runs[i][len(runs[i])-1]
		switch {
		case last.Edited:
			changed = append(changed, claim(human.FoundNote, 1, say("suggested-changed", called, facts.Quote(last.Line)), last.Ref(), request))
		case last.Exit != nil && *last.Exit == 0:
			ran = append(ran, called)
			evidence = append(evidence, last.Ref())
		}
	}
	if len(ran) > 0 {
		passed = []Claim{claim(human.FoundDone, 1, say("suggested-run", some(ran)), evidence...)}
	}
	if len(left) > 0 {
		passed = append(passed, claim(human.FoundUndone, 0.9, say("suggested-not-run", some(left)), request))
	}
	return slices.Concat(passed, changed)
}

// some are the first few of many, as a list.
func some(all []string) any {
	if len(all) > namedFiles {
		return say("and-more", series(all[:namedFiles]))
	}
	return all
}

// suggestion is the part of the request that suggests commands.
func (r *Result) suggestion() (human.Ref, bool) {
	var details map[string]json.RawMessage
	if len(r.In.Suggested) == 0 || json.Unmarshal(r.In.Operation.Details, &details) != nil {
		return human.Ref{}, false
	}
	for _, name := range []string{"command", "commands", "cmd", "script"} {
		if raw := details[name]; len(raw) > 0 && string(raw) != "null" && string(raw) != `""` {
			return human.Ref{Kind: human.RefRequest, ID: name}, true
		}
	}
	return human.Ref{}, false
}
