package say

import (
	"cmp"
	"slices"
	"strings"

	"deskbell/backend/human"
	"deskbell/summarizers/builtin/facts"
	"deskbell/summarizers/builtin/find"
)

// maxAnswer characters of what was said go into the line.
const maxAnswer = 160

// answerLine tells an answer in one line: the decision or the result, in the operator's words, and how much else
// there is.
func answerLine(r *report, found []told) string {
	a := r.In.Answer
	said := ""
	if all := facts.Split(a.HumanInput); len(all) > 0 {
		said = facts.Exactly(all[0], maxAnswer)
	}
	result := facts.Exactly(human.OneLine(a.ExecutionResult, 4*maxLine), maxAnswer)
	var parts []string
	if d := r.Decided(); !d.None() {
		about := cmp.Or(said, result)
		if about == "" {
			about = facts.Exactly(cmp.Or(r.Detail("action"), r.In.Operation.Description), maxAnswer)
		}
		parts = append(parts, r.say("colon", d, about))
	} else if said != "" {
		parts = append(parts, said)
	}
	if result != "" && (len(parts) == 0 || a.Decision == "" && result != said) {
		parts = append(parts, result)
	}
	have, missing := r.Values()
	switch n := len(have); {
	case n > 0 && n <= 3:
		for _, v := range have {
			if v.Pick != nil && len(v.Pick.Pick.Rows) > 0 { // a table is no part of a line
				parts = append(parts, facts.Exactly(v.Field, find.MaxField))
			} else {
				parts = append(parts, r.say("colon", facts.Exactly(v.Field, find.MaxField), facts.Exactly(v.Text, facts.MaxName)))
			}
		}
	case n > 3:
		parts = append(parts, r.phrase(find.Count(n, "field-filled-in", "fields-filled-in")))
	}
	if len(missing) > 0 && len(have) > 0 {
		parts = append(parts, r.phrase(find.Count(len(missing), "field-is-missing", "fields-are-missing")))
	}
	for _, f := range of(found, human.FoundUndone) {
		counted := len(missing) > 0 && f.Evidence[0] == human.Ref{Kind: human.RefRequest, ID: facts.Extract}
		if !counted && f.Evidence[0] != facts.AnswerRef("human_input") {
			parts = append(parts, f.Text)
		}
	}
	for _, f := range of(found, human.FoundNote) {
		if len(parts) == 0 {
			parts = append(parts, f.Text)
		}
	}
	if len(parts) == 0 {
		return r.say("line-no-answer", facts.Exactly(cmp.Or(r.In.Operation.Description, string(r.In.Operation.Kind)), maxAnswer))
	}
	for i, p := range parts { // one after the other, they need no full stops
		parts[i] = strings.TrimRight(p, ".。;； ")
	}
	return r.fit("", parts)
}

// answerText is the longer account: what was asked, what was said and decided, what is open.
func answerText(r *report, found []told) string {
	begin := ""
	if d := r.In.Operation.Description; strings.TrimSpace(d) != "" {
		begin = r.say("asked", r.fullStop(facts.Exactly(d, facts.MaxSaid)))
	}
	words := facts.Exactly(r.In.Answer.HumanInput, 3*facts.MaxSaid)
	if words != "" {
		words = r.fullStop(r.say("operator-says", words))
	}
	talk := slices.DeleteFunc(slices.Clone(found), func(f told) bool { return f.Evidence[0] == facts.AnswerRef("human_input") })
	covered := ""
	if areas, _ := r.Areas(); len(areas) > 0 {
		var yes []string
		for _, area := range areas {
			if spoken, _ := facts.SpeaksOf(r.Spoken(), area); spoken {
				yes = append(yes, facts.Quote(area))
			}
		}
		if len(yes) > 0 {
			covered = r.say("areas-spoken", r.list(yes))
		}
	}
	return paragraphs(
		begin,
		r.paragraph("", found, human.FoundOutcome, human.FoundError),
		r.paragraph(r.say("begin-values"), found, human.FoundValue),
		words,
		r.paragraph("", talk, human.FoundNote),
		covered,
		r.paragraph(r.say("begin-open-points"), found, human.FoundUndone),
		r.leftOut(),
	)
}
