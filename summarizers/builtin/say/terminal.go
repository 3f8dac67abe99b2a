package say

import (
	"cmp"
	"strings"

	"deskbell/backend/human"
	"deskbell/summarizers/builtin/facts"
)

// terminalLine says the most that fits one line: what failed and stayed so, what was left out, how the terminal was left.
func terminalLine(r *report, found []human.Finding) string {
	var parts []string
	for _, f := range of(found, human.FoundError, human.FoundUndone) {
		parts = append(parts, bare(f.Text))
	}
	for _, f := range of(found, human.FoundOutcome) {
		parts = append(parts, bare(f.Text))
	}
	if len(parts) == 0 {
		if said := facts.Split(r.In.Answer.HumanInput); len(said) > 0 {
			return facts.Exactly(said[0], maxAnswer)
		}
		return r.say("line-no-commands", facts.Exactly(cmp.Or(r.In.Operation.Description, string(r.In.Operation.Kind)), maxAnswer))
	}
	for i := range parts {
		parts[i] = within(parts[i], i > 0)
	}
	return r.fit("", parts)
}

// terminalText is a hand-over: what was run in its order, what came of it, what went wrong, what is open.
func terminalText(r *report, found []human.Finding, left map[human.FindingKind]int) string {
	return paragraphs(r.ran(), r.all(found, left))
}

// ran tells which commands were run, folder after folder, with the exit codes of those that failed.
func (r *report) ran() string {
	var lines, in []string
	folder, most := "", maxActions
	end := func() {
		if len(in) == 0 {
			return
		}
		what := strings.Join(in, r.say("clause"))
		if folder != "" {
			what = r.say("colon", folder, what)
		}
		lines, in = append(lines, r.fullStop(what)), nil
	}
	for _, c := range r.Commands() {
		text := facts.Quote(c.Line)
		if text == "" {
			continue
		}
		if c.Exit != nil && *c.Exit != 0 {
			text += r.say("with-exit-code", *c.Exit)
		}
		if c.Dir != folder {
			end()
			folder = c.Dir
		}
		if n := len(in); n > 0 && in[n-1] == text {
			continue
		}
		if most--; most < 0 {
			end()
			return r.say("ran", strings.Join(append(lines, r.say("more-commands")), r.say("space")))
		}
		in = append(in, text)
	}
	end()
	if len(lines) == 0 {
		return ""
	}
	return r.say("ran", strings.Join(lines, r.say("space")))
}

// all are the findings as paragraphs, kind after kind.
func (r *report) all(found []human.Finding, left map[human.FindingKind]int) string {
	return paragraphs(
		r.paragraph("", r.withoutOutcomes(found), human.FoundOutcome, human.FoundValue, human.FoundDone),
		r.paragraph(r.say("begin-errors"), found, human.FoundError),
		r.paragraph(r.say("begin-detours"), found, human.FoundDetour),
		r.paragraph(r.say("begin-slow"), found, human.FoundSlow),
		r.paragraph(r.say("begin-open"), found, human.FoundUndone),
		r.paragraph(r.say("begin-unseen"), found, human.FoundUnseen),
		r.paragraph("", found, human.FoundNote),
		r.leftOut(left),
	)
}
