package find

import (
	"strconv"
	"strings"

	"deskbell/backend/human"
	"deskbell/summarizers/builtin/facts"
)

// maxWords sentences of the operator have a finding each.
const maxWords = 6

// Decided says what was decided, in a word; "" for nothing.
func (r *Result) Decided() Phrase {
	switch r.In.Answer.Decision {
	case human.Approved:
		return say("approved")
	case human.Refused:
		return say("denied")
	}
	return Phrase{}
}

// findDecision tells how a request was decided, with the operator's words beside it: whether they are the reason, a
// reader sees better than we.
func findDecision(r *Result) []Claim {
	decided := r.Decided()
	if decided.None() {
		return nil
	}
	evidence := []human.Ref{facts.AnswerRef("decision")}
	text := decided
	if action := r.Detail("action"); action != "" {
		text = say("colon", decided, facts.Exactly(action, facts.MaxSaid))
		evidence = append(evidence, human.Ref{Kind: human.RefRequest, ID: "action"})
	}
	if said := facts.Split(r.In.Answer.HumanInput); len(said) > 0 {
		text = text.then(say("and-operator-says", facts.Exactly(said[0], facts.MaxSaid)))
		evidence = append(evidence, facts.AnswerRef("human_input"))
	}
	return []Claim{claim(human.FoundOutcome, 1, text, evidence...)}
}

// findResult tells what the operator gave as the result; where that speaks of an error, as an error.
func findResult(r *Result) []Claim {
	text := strings.TrimSpace(r.In.Answer.ExecutionResult)
	if text == "" {
		return nil
	}
	ref := facts.AnswerRef("execution_result")
	var lines []string
	for _, line := range strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune("\n\v\f\r\u0085\u2028\u2029", c) }) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	for _, line := range lines {
		if facts.Trouble(line) && !facts.HasAny(line, facts.EnFixed, facts.ZhFixed) {
			return []Claim{claim(human.FoundError, 0.9, say("result-is-error", facts.Exactly(line, facts.MaxSaid)), ref)}
		}
	}
	said := facts.Exactly(lines[0], facts.MaxSaid/2)
	if n := len(lines); n > 1 { // of output, how it begins and how it ends
		said += " … " + facts.Exactly(lines[n-1], facts.MaxSaid/2)
	}
	return []Claim{claim(human.FoundOutcome, 1, say("result", said), ref)}
}

// findWords tells what the operator said, a sentence each. Questions of theirs are open.
func findWords(r *Result) []Claim {
	ref := facts.AnswerRef("human_input")
	said := facts.Split(r.In.Answer.HumanInput)
	if !r.Decided().None() && len(said) > 0 && !facts.Asks(said[0]) {
		said = said[1:] // it stands beside the decision
	}
	var out []Claim
	add := func(s Phrase, question bool) {
		if question {
			out = append(out, claim(human.FoundUndone, 0.9, say("operator-asks", Exact{s, facts.MaxSaid}), ref))
			return
		}
		out = append(out, claim(human.FoundNote, 1, say("operator-says", Exact{s, facts.MaxSaid}), ref))
	}
	single := len(said)
	if single > maxWords { // beyond that, sentences are joined
		single = maxWords - 1
	}
	for _, s := range said[:single] {
		add(literal(s), facts.Asks(s))
	}
	if rest := said[single:]; len(rest) > 0 {
		joined := Phrase{Args: []any{joinedBy("semicolon", rest)}}
		add(joined, facts.Asks(strings.Join(rest, "; ")))
	}
	return out
}

// findTalk tells of the conversation: what was asked and answered, what is open, what the operator wrote besides.
func findTalk(r *Result) []Claim {
	var out []Claim
	ref := func(i int) human.Ref { return human.Ref{Kind: human.RefMessage, ID: strconv.Itoa(i)} }
	said := func(i int) string { return facts.Exactly(r.In.Operation.Messages[i].Text, facts.MaxSaid/2) }
	asked := func(i int) string {
		return facts.Exactly(facts.Question(r.In.Operation.Messages[i].Text), facts.MaxSaid/2)
	}
	for _, t := range r.Turns() {
		switch {
		case t.Question < 0:
			out = append(out, claim(human.FoundNote, 1, say("operator-wrote", said(t.Answer)), ref(t.Answer)))
		case t.Answer < 0 && r.In.Operation.Messages[t.Question].By.Role == human.Agent && r.AnyAnswer():
			// The answer of the operation itself may be one to it.
		case t.Answer < 0:
			who := say("operator-question-open", asked(t.Question))
			if r.In.Operation.Messages[t.Question].By.Role == human.Agent {
				who = say("agent-question-open", asked(t.Question))
			}
			out = append(out, claim(human.FoundUndone, 0.9, who, ref(t.Question)))
		case r.In.Operation.Messages[t.Question].By.Role == human.Agent:
			out = append(out, claim(human.FoundNote, 1, say("agent-asked", ended(asked(t.Question)), said(t.Answer)), ref(t.Answer), ref(t.Question)))
		default:
			out = append(out, claim(human.FoundNote, 1, say("operator-asked", ended(asked(t.Question)), said(t.Answer)), ref(t.Question), ref(t.Answer)))
		}
	}
	return out
}

// ended is a text as a sentence: with a full stop where it has no end.
func ended(s string) Phrase {
	if facts.HasEnd(s) {
		return literal(s)
	}
	return literal(s).then(say("stop"))
}

// findUnspoken tells which areas nothing was said about. Where it is not sure, it says nothing.
func findUnspoken(r *Result) []Claim {
	areas, part := r.Areas()
	said := r.Spoken()
	if len(areas) == 0 || strings.TrimSpace(said) == "" {
		return nil
	}
	var not []string
	for _, area := range areas {
		if spoken, sure := facts.SpeaksOf(said, area); !spoken && sure {
			not = append(not, facts.Quote(area))
		}
	}
	if len(not) == 0 {
		return nil
	}
	return []Claim{claim(human.FoundUndone, 0.7, say("areas-unspoken", not[:min(len(not), maxMissing)]), human.Ref{Kind: human.RefRequest, ID: part})}
}

// findNotes tells what the operator said: in the answer, and while recording.
func findNotes(r *Result) []Claim {
	var out []Claim
	if text := facts.Exactly(r.In.Answer.HumanInput, facts.MaxSaid); text != "" {
		out = append(out, claim(human.FoundNote, 1, say("operator-says-besides", text), human.Ref{Kind: human.RefAnswer, ID: "human_input"}))
	}
	for _, a := range r.Actions {
		if a.Type != human.Note {
			continue
		}
		if text := facts.Exactly(a.Text, facts.MaxSaid); text != "" {
			out = append(out, claim(human.FoundNote, 1, say("noted", text), a.Ref()))
		}
	}
	return out
}

// ended tells of recordings that end before the work does.
func (r *Result) ended() []Claim {
	var out []Claim
	last := map[human.RecordingID]facts.Action{}
	for _, a := range r.Actions {
		last[a.Rec.ID] = a
	}
	for i := range r.In.Recordings {
		rec := &r.In.Recordings[i]
		a, ok := last[rec.ID]
		if !ok {
			continue
		}
		crashed := a.Type == human.Missing && a.Gap != nil && a.Gap.Reason == "crash"
		switch {
		case rec.State == human.RecordingInterrupted && !crashed:
			out = append(out, claim(human.FoundUnseen, 1, say("recording-interrupted"), a.Ref()))
		case rec.Reason == "limit" || rec.Reason == "failed":
			out = append(out, claim(human.FoundUnseen, 0.9, say("recording-ended-early"), a.Ref()))
		}
		if rec.More > 0 {
			out = append(out, claim(human.FoundUnseen, 1, say("recording-too-long"), a.Ref()))
		}
	}
	return out
}
