package builtin

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"deskbell/backend/human"
	"deskbell/summarizers"
)

// answer tells what was said and decided: of operations without a recording (H4, H8).
func answer() summarizers.Summarizer {
	return &base{
		about:    about("answer", "Answer", "答复", summarizers.FromAnswer),
		finders:  answerFinders,
		suggests: []finder{suggestNext},
		line:     answerLine,
		text:     answerText,
	}
}

// answerFinders are what is looked for in an answer and the conversation.
var answerFinders = []finder{findDecision, findResult, findOutcome, findValues, findMissing, findUndone, findWords, findTalk, findUnspoken}

const (
	maxWords  = 6   // sentences of the operator with a finding each
	maxAnswer = 160 // of what was said, in the line
)

func answerRef(part string) human.Ref { return human.Ref{Kind: human.RefAnswer, ID: part} }

// decided says what was decided, in a word; "" for nothing.
func (r *reading) decided() string {
	switch r.in.Answer.Decision {
	case human.Approved:
		return r.say("Approved", "已批准")
	case human.Refused:
		return r.say("Denied", "已拒绝")
	}
	return ""
}

// detail is a text in details, as it was sent.
func (r *reading) detail(name string) string {
	var details map[string]json.RawMessage
	var text string
	if len(r.in.Operation.Details) == 0 || json.Unmarshal(r.in.Operation.Details, &details) != nil || json.Unmarshal(details[name], &text) != nil {
		return ""
	}
	return text
}

// findDecision tells how a request was decided, with the operator's words beside it: whether they are the reason, a
// reader sees better than we.
func findDecision(r *reading) []human.Finding {
	decided := r.decided()
	if decided == "" {
		return nil
	}
	evidence := []human.Ref{answerRef("decision")}
	text := decided
	if action := r.detail("action"); action != "" {
		text = r.say("%s: %s", "%s：%s", decided, r.exactly(action, maxSaid))
		evidence = append(evidence, human.Ref{Kind: human.RefRequest, ID: "action"})
	}
	if said := split(r.in.Answer.HumanInput); len(said) > 0 {
		text += r.say(" - the operator says: %s", "。操作者说：%s", r.exactly(said[0], maxSaid))
		evidence = append(evidence, answerRef("human_input"))
	}
	return []human.Finding{finding(human.FoundOutcome, 1, text, evidence...)}
}

// findResult tells what the operator gave as the result; where that speaks of an error, as an error.
func findResult(r *reading) []human.Finding {
	text := strings.TrimSpace(r.in.Answer.ExecutionResult)
	if text == "" {
		return nil
	}
	ref := answerRef("execution_result")
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
		if trouble(line) && !hasAny(line, enMended, zhMended) {
			return []human.Finding{finding(human.FoundError, 0.9, r.say("The result speaks of an error: %s", "执行结果中有错误：%s", r.exactly(line, maxSaid)), ref)}
		}
	}
	said := r.exactly(lines[0], maxSaid/2)
	if n := len(lines); n > 1 { // of output, how it begins and how it ends
		said += " … " + r.exactly(lines[n-1], maxSaid/2)
	}
	return []human.Finding{finding(human.FoundOutcome, 1, r.say("Result: %s", "执行结果：%s", said), ref)}
}

// findWords tells what the operator said, a sentence each. Questions of theirs are open.
func findWords(r *reading) []human.Finding {
	ref := answerRef("human_input")
	said := split(r.in.Answer.HumanInput)
	if r.decided() != "" && len(said) > 0 && !asks(said[0]) {
		said = said[1:] // it stands beside the decision
	}
	if len(said) > maxWords { // beyond that, sentences are joined
		rest := strings.Join(said[maxWords-1:], r.say("; ", "；"))
		said = append(slices.Clone(said[:maxWords-1]), rest)
	}
	var out []human.Finding
	for _, s := range said {
		if asks(s) {
			out = append(out, finding(human.FoundUndone, 0.9, r.say("The operator asks: %s", "操作者提问：%s", r.exactly(s, maxSaid)), ref))
			continue
		}
		out = append(out, finding(human.FoundNote, 1, r.say("The operator says: %s", "操作者说：%s", r.exactly(s, maxSaid)), ref))
	}
	return out
}

// asks says whether a text asks for an answer.
func asks(text string) bool {
	text = strings.TrimRight(strings.TrimSpace(text), "\"”'’）) ")
	if strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？") || strings.HasSuffix(text, "吗") || strings.HasSuffix(text, "呢") {
		return true
	}
	return hasAny(text, enAskPhrases, zhAsks)
}

// A turn is a question in the conversation and its answer; no answer where it is open.
type turn struct {
	question, answer int // index of messages; -1
}

func (r *reading) turns() []turn {
	var out []turn
	open := -1
	for i, m := range r.in.Operation.Messages {
		if strings.TrimSpace(m.Text) == "" || m.By.Role == human.System {
			continue
		}
		if open >= 0 && m.By.Role != r.in.Operation.Messages[out[open].question].By.Role {
			out[open].answer = i
			open = -1
			if !questions(m.Text) {
				continue
			}
		}
		if questions(m.Text) {
			if open >= 0 {
				out = append(out, turn{i, -1}) // one more of the same side: the next answer is to this
			} else {
				out = append(out, turn{i, -1})
			}
			open = len(out) - 1
		} else if open < 0 && m.By.Role == human.Operator {
			out = append(out, turn{-1, i})
		}
	}
	return out
}

// findTalk tells of the conversation: what was asked and answered, what is open, what the operator wrote besides.
func findTalk(r *reading) []human.Finding {
	var out []human.Finding
	ref := func(i int) human.Ref { return human.Ref{Kind: human.RefMessage, ID: strconv.Itoa(i)} }
	said := func(i int) string { return r.exactly(r.in.Operation.Messages[i].Text, maxSaid/2) }
	asked := func(i int) string { return r.exactly(question(r.in.Operation.Messages[i].Text), maxSaid/2) }
	for _, t := range r.turns() {
		switch {
		case t.question < 0:
			out = append(out, finding(human.FoundNote, 1, r.say("The operator wrote: %s", "操作者写道：%s", said(t.answer)), ref(t.answer)))
		case t.answer < 0 && r.in.Operation.Messages[t.question].By.Role == human.Agent && r.anyAnswer():
			// The answer of the operation itself may be one to it.
		case t.answer < 0:
			who := r.say("The operator's question is open: %s", "操作者的提问尚未得到回答：%s", asked(t.question))
			if r.in.Operation.Messages[t.question].By.Role == human.Agent {
				who = r.say("The agent's question is open: %s", "智能体的提问尚未得到回答：%s", asked(t.question))
			}
			out = append(out, finding(human.FoundUndone, 0.9, who, ref(t.question)))
		case r.in.Operation.Messages[t.question].By.Role == human.Agent:
			out = append(out, finding(human.FoundNote, 1, r.say("The agent asked: %s The operator answered: %s", "智能体问：%s 操作者答：%s", r.fullStop(asked(t.question)), said(t.answer)), ref(t.answer), ref(t.question)))
		default:
			out = append(out, finding(human.FoundNote, 1, r.say("The operator asked: %s The agent answered: %s", "操作者问：%s 智能体答：%s", r.fullStop(asked(t.question)), said(t.answer)), ref(t.question), ref(t.answer)))
		}
	}
	return out
}

// questions says whether something is asked in a text.
func questions(text string) bool { return slices.ContainsFunc(split(text), asks) }

// question is what a message asks, without what it says besides.
func question(text string) string {
	all := slices.DeleteFunc(split(text), func(s string) bool { return !asks(s) })
	if len(all) == 0 || strings.ContainsAny(text, "\n\r\u0085\u2028\u2029\v\f") {
		return text
	}
	return all[0]
}

// fullStop puts a full stop to a sentence that has none.
func (r *reading) fullStop(s string) string {
	if last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, "”\"")); strings.ContainsRune(".?!。？！…", last) {
		return s
	}
	return s + r.say(".", "。")
}

// anyAnswer says whether the operator has answered at all.
func (r *reading) anyAnswer() bool {
	a := r.in.Answer
	return a.HumanInput != "" || a.ExecutionResult != "" || a.Decision != "" || len(a.Fields) > 0
}

// areas are what the agent asked to be looked at or has concerns about, with their name in details.
func (r *reading) areas() (areas []string, part string) {
	var details map[string]json.RawMessage
	if len(r.in.Operation.Details) == 0 || json.Unmarshal(r.in.Operation.Details, &details) != nil {
		return nil, ""
	}
	for _, part := range []string{"focus_areas", "focus", "concerns", "questions"} {
		var list []any
		var one string
		switch {
		case json.Unmarshal(details[part], &list) == nil:
			for _, x := range list {
				if s, ok := x.(string); ok && strings.TrimSpace(s) != "" {
					areas = append(areas, s)
				}
			}
		case json.Unmarshal(details[part], &one) == nil && strings.TrimSpace(one) != "":
			areas = []string{one}
		}
		if len(areas) > 0 {
			return areas[:min(len(areas), maxWanted)], part
		}
	}
	return nil, ""
}

// spoken is all that the operator said.
func (r *reading) spoken() string {
	parts := []string{r.in.Answer.HumanInput, r.in.Answer.ExecutionResult}
	for _, m := range r.in.Operation.Messages {
		if m.By.Role == human.Operator {
			parts = append(parts, m.Text)
		}
	}
	for _, a := range r.acts {
		if a.Type == human.Note {
			parts = append(parts, a.Text)
		}
	}
	for name, value := range r.in.Answer.Fields {
		if value != "" {
			parts = append(parts, name, value)
		}
	}
	return strings.Join(parts, "\n")
}

// findUnspoken tells which areas nothing was said about. Where it is not sure, it says nothing.
func findUnspoken(r *reading) []human.Finding {
	areas, part := r.areas()
	said := r.spoken()
	if len(areas) == 0 || strings.TrimSpace(said) == "" {
		return nil
	}
	var not []string
	for _, area := range areas {
		if spoken, sure := speaksOf(said, area); !spoken && sure {
			not = append(not, r.quote(area))
		}
	}
	if len(not) == 0 {
		return nil
	}
	return []human.Finding{finding(human.FoundUndone, 0.7, r.say("Nothing was said about %s", "没有提到%s", r.list(not[:min(len(not), maxMissing)])), human.Ref{Kind: human.RefRequest, ID: part})}
}

// speaksOf says whether a text speaks of an area, in its words or in others for the same; sure is false where that
// cannot be told, since the text is in another language than the area.
func speaksOf(text, area string) (spoken, sure bool) {
	low, name := flat(text), flat(area)
	if strings.Contains(low, strings.TrimSpace(name)) || strings.Contains(text, strings.TrimSpace(area)) {
		return true, true
	}
	known := false
	for i := range enAreas {
		of := slices.ContainsFunc(enAreas[i], func(w string) bool { return strings.Contains(name, " "+w) }) ||
			slices.ContainsFunc(zhAreas[i], func(w string) bool { return strings.Contains(area, w) })
		if !of {
			continue
		}
		known = true
		if slices.ContainsFunc(enAreas[i], func(w string) bool { return strings.Contains(low, " "+w) }) ||
			slices.ContainsFunc(zhAreas[i], func(w string) bool { return strings.Contains(text, w) }) {
			return true, true
		}
	}
	han := []rune(area)
	if hasHan(area) {
		// Its first two characters, or its last, are mostly a word.
		if len(han) >= 2 && strings.Contains(text, string(han[:2])) || len(han) >= 4 && strings.Contains(text, string(han[len(han)-2:])) {
			return true, true
		}
		return false, known || hasHan(text)
	}
	words := strings.Fields(name)
	for _, w := range words {
		if enStop[w] || len(w) < 3 {
			continue
		}
		root := w[:min(len(w), 5)]
		if !utf8.ValidString(root) {
			root = w
		}
		if strings.Contains(low, " "+root) {
			return true, true
		}
	}
	return false, known || !hasHan(text)
}

// answerLine tells an answer in one line: the decision or the result, in the operator's words, and how much else
// there is.
func answerLine(r *reading, found []human.Finding) string {
	a := r.in.Answer
	said := ""
	if all := split(a.HumanInput); len(all) > 0 {
		said = r.exactly(all[0], maxAnswer)
	}
	result := r.exactly(human.OneLine(a.ExecutionResult, 4*maxLine), maxAnswer)
	var parts []string
	if d := r.decided(); d != "" {
		about := cmp.Or(said, result)
		if about == "" {
			about = r.exactly(cmp.Or(r.detail("action"), r.in.Operation.Description), maxAnswer)
		}
		parts = append(parts, r.say("%s: %s", "%s：%s", d, about))
	} else if said != "" {
		parts = append(parts, said)
	}
	if result != "" && (len(parts) == 0 || a.Decision == "" && result != said) {
		parts = append(parts, result)
	}
	have, missing := r.values()
	switch n := len(have); {
	case n > 0 && n <= 3:
		for _, v := range have {
			if v.pick != nil && len(v.pick.Pick.Rows) > 0 { // a table is no part of a line
				parts = append(parts, r.exactly(v.field, maxField))
			} else {
				parts = append(parts, r.say("%s: %s", "%s：%s", r.exactly(v.field, maxField), r.exactly(v.text, maxName)))
			}
		}
	case n > 3:
		parts = append(parts, r.count(n, "field filled in", "fields filled in", "个字段已填写"))
	}
	if len(missing) > 0 && len(have) > 0 {
		parts = append(parts, r.count(len(missing), "field is missing", "fields are missing", "个字段缺失"))
	}
	for _, f := range of(found, human.FoundUndone) {
		counted := len(missing) > 0 && f.Evidence[0] == human.Ref{Kind: human.RefRequest, ID: extract}
		if !counted && f.Evidence[0] != answerRef("human_input") {
			parts = append(parts, f.Text)
		}
	}
	for _, f := range of(found, human.FoundNote) {
		if len(parts) == 0 {
			parts = append(parts, f.Text)
		}
	}
	if len(parts) == 0 {
		return r.say("No answer yet: %s", "尚未答复：%s", r.exactly(cmp.Or(r.in.Operation.Description, string(r.in.Operation.Kind)), maxAnswer))
	}
	for i, p := range parts { // one after the other, they need no full stops
		parts[i] = strings.TrimRight(p, ".。;； ")
	}
	return r.fit("", parts)
}

// answerText is the longer account: what was asked, what was said and decided, what is open.
func answerText(r *reading, found []human.Finding, left map[human.FindingKind]int) string {
	begin := ""
	if d := r.in.Operation.Description; strings.TrimSpace(d) != "" {
		begin = r.say("Asked: %s", "请求：%s", r.fullStop(r.exactly(d, maxSaid)))
	}
	words := r.exactly(r.in.Answer.HumanInput, 3*maxSaid)
	if words != "" {
		words = r.fullStop(r.say("The operator says: %s", "操作者说：%s", words))
	}
	talk := slices.DeleteFunc(slices.Clone(found), func(f human.Finding) bool { return f.Evidence[0] == answerRef("human_input") })
	covered := ""
	if areas, _ := r.areas(); len(areas) > 0 {
		var yes []string
		for _, area := range areas {
			if spoken, _ := speaksOf(r.spoken(), area); spoken {
				yes = append(yes, r.quote(area))
			}
		}
		if len(yes) > 0 {
			covered = r.say("Spoken about: %s.", "谈到了：%s。", r.list(yes))
		}
	}
	return paragraphs(
		begin,
		r.told("", found, human.FoundOutcome, human.FoundError),
		r.told(r.say("Values: ", "取得的内容："), found, human.FoundValue),
		words,
		r.told("", talk, human.FoundNote),
		covered,
		r.told(r.say("Open: ", "尚未完成："), found, human.FoundUndone),
		r.leftOut(left),
	)
}
