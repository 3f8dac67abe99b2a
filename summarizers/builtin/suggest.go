package builtin

import (
	"strconv"

	"deskbell/backend/human"
)

// suggestNext is what the agent could do next, whatever was recorded; each rests on what was found. Pages have
// suggestions of their own.
func suggestNext(r *reading) []human.Finding {
	var out []human.Finding
	suggest := func(sure float64, text string, evidence ...human.Ref) {
		out = append(out, human.Finding{Kind: human.FoundNote, Text: text, Evidence: evidence, Confidence: sure})
	}
	if r.in.Answer.Decision == human.Refused {
		evidence := []human.Ref{answerRef("decision")}
		text := r.say("Do not go on with what was asked for", "不要继续执行所请求的操作")
		if r.in.Answer.HumanInput != "" {
			text = r.say("Do not go on; change the plan to what the operator says, and ask again", "不要继续执行；按操作者的意见修改方案后再次请求")
			evidence = append(evidence, answerRef("human_input"))
		}
		suggest(0.8, text, evidence...)
	}
	for _, t := range r.turns() {
		if t.answer < 0 && t.question >= 0 && r.in.Operation.Messages[t.question].By.Role == human.Operator {
			suggest(0.8, r.say("Answer the operator: %s", "回答操作者的提问：%s", r.exactly(question(r.in.Operation.Messages[t.question].Text), maxSaid/2)),
				human.Ref{Kind: human.RefMessage, ID: strconv.Itoa(t.question)})
			break
		}
	}
	// What was saved can be looked at, where that is on a machine the agent reaches.
	var made []*file
	for _, f := range r.files() {
		if f.now != "" && !f.dir && f.last().File.Op != "deleted" {
			made = append(made, f)
		}
	}
	switch n := len(made); {
	case n > 0 && n <= fewFiles:
		for _, f := range made {
			suggest(0.6, r.say("Check the file %s", "检查文件 %s", r.exactly(f.now, maxSaid)), f.last().ref())
		}
	case n > 0:
		suggest(0.6, r.say("Check the files in %s", "检查 %s 中的文件", r.exactly(folder(made[n-1].now), maxSaid)), made[n-1].last().ref())
	}
	told := map[human.FindingKind]bool{}
	for _, f := range r.found {
		if told[f.Kind] {
			continue
		}
		told[f.Kind] = true
		switch {
		case f.Kind == human.FoundError && !r.met() && f.Evidence[0].Kind != human.RefAnswer && !r.onPage(f.Evidence[0]):
			suggest(0.5, r.say("Look into this before relying on the result: %s", "采用结果之前，先查明这一问题：%s", r.exactly(f.Text, maxSaid)), f.Evidence...)
		case f.Kind == human.FoundUndone && f.Evidence[0].Kind == human.RefStep:
			suggest(0.6, r.say("Ask whether the steps that were not ticked are still to be done", "确认未勾选的步骤是否仍需完成"), f.Evidence...)
		case f.Kind == human.FoundUndone && f.Evidence[0].Kind == human.RefRequest && f.Evidence[0].ID != extract:
			suggest(0.5, r.say("Ask again for what was not spoken about", "就未提及的方面再次询问"), f.Evidence...)
		case f.Kind == human.FoundOutcome && len(f.Evidence) == 1 && f.Evidence[0].Kind == human.RefRequest:
			suggest(0.6, r.say("Check by other means whether what was expected came about", "用其他方式确认预期结果是否达成"), f.Evidence...)
		}
	}
	return out
}

// onPage says whether a reference is to an action in a page.
func (r *reading) onPage(ref human.Ref) bool {
	i := r.index(ref.Recording, ref.ID)
	return ref.Kind == human.RefAction && i >= 0 && r.acts[i].Page != nil
}
