package agent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"deskbell/backend/human"
)

const mostTasks = 50 // of a plan that is proposed: more, no one reads

var (
	askHumanSpec = ToolSpec{
		Name: askHuman,
		Description: "Ask the person whose task this is, and wait for the answer. Use it instead of guessing where something that you need " +
			"is not said, could mean more than one thing, or is theirs to decide. It needs no plan. Do not ask for what you can look up.",
		Schema: json.RawMessage(`{"type":"object","properties":{"question":{"type":"string","description":"One question, with what one must know to answer it, in the person's language."}},"required":["question"],"additionalProperties":false}`),
	}
	proposePlanSpec = ToolSpec{
		Name: proposePlan,
		Description: "Propose what you are going to do, as tasks in order. A person confirms, changes or cancels it. Only then does it run, task by task, " +
			"and nothing else does. Give args where you know a tool's arguments now: the task then is that one call, made for you. Leave args out where " +
			"they follow from earlier tasks: you are asked for the calls when the task's turn has come. Keep a plan short, and propose another one when you know more.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"message":{"type":"string","description":"What the plan is for, in a line, in the person's language."},` +
			`"tasks":{"type":"array","minItems":1,"maxItems":50,"items":{"type":"object","properties":{` +
			`"description":{"type":"string","description":"What is done, so that a person can decide about it; in the person's language."},` +
			`"tool_name":{"type":"string","description":"The tool that it is done with. Leave it out for what you do in words alone."},` +
			`"args":{"type":"object","description":"The tool's arguments, complete, where they are known now."},` +
			`"type":{"type":"string","description":"What sort of task it is, in a word: read, write, run, search."},` +
			`"priority":{"type":"integer","description":"1 is the most urgent."},` +
			`"expected_outcome":{"type":"string","description":"How one sees that it worked."}` +
			`},"required":["description"]}}},"required":["message","tasks"],"additionalProperties":false}`),
	}
	finishSpec = ToolSpec{
		Name: finishRun,
		Description: "Say that you have finished, as the last thing you do: done, or failed where what you were asked for could not be done, or not all of it. " +
			"To ask for something, call " + askHuman + " instead.",
		Schema: json.RawMessage(`{"type":"object","properties":{"outcome":{"type":"string","enum":["done","failed"]},` +
			`"note":{"type":"string","description":"For the person: what came of it, in a few sentences; of failed, why, and what would help."}},"required":["outcome","note"],"additionalProperties":false}`),
	}
	endTaskSpec = ToolSpec{
		Name:        endTask,
		Description: "Say that the task you were told to do has ended: done, or failed where it cannot be done. The rest of a plan with a failed task does not run.",
		Schema: json.RawMessage(`{"type":"object","properties":{"outcome":{"type":"string","enum":["done","failed"]},` +
			`"note":{"type":"string","description":"What came of it, in a sentence."}},"required":["outcome","note"],"additionalProperties":false}`),
	}
)

// instructions is the system prompt of an engine.
func instructions(d Deps) string {
	var b strings.Builder
	fmt.Fprintf(&b, "You are %s", cmp.Or(d.About.Name, "an agent"))
	if d.About.Description != "" {
		fmt.Fprintf(&b, ", %s", d.About.Description)
	}
	b.WriteString(". You do a task for a person, with tools.")
	if len(d.About.Capabilities) > 0 {
		fmt.Fprintf(&b, "\nWhat you can do: %s.", strings.Join(d.About.Capabilities, ", "))
	}
	if d.Cwd != "" {
		fmt.Fprintf(&b, "\nTools work in the folder %s.", d.Cwd)
	}
	if d.About.System != "" {
		fmt.Fprintf(&b, "\n\n%s", d.About.System)
	}
	b.WriteString(`

How to work:
1. Think about what is asked. Where nothing has to be done, just answer.
2. Where something that you need is missing or could mean more than one thing, do not guess: ask with ask_human.
`)
	if d.Plans == nil {
		b.WriteString("3. Call the tools that you need, look at what comes of each, and continue until the task is done.\n")
	} else {
		b.WriteString(`3. Nothing runs but what a person has confirmed. Propose a plan with propose_plan before you call any other tool. To look first and decide then, propose a plan of the looking alone.
4. A confirmed plan is carried out task by task. Tasks with args run by themselves. For one without, you get a message to do it: call only its tool, and then end_task.
5. Where a task fails, or an operator wants it otherwise, propose another plan. What an operator changed or took out stays so.
`)
	}
	b.WriteString(`- Where a call fails, fix it or find another way. Where one was blocked or denied, do not try to get the same result another way.
- Never say that something was done that no tool has done. At the end call finish, and say in a few sentences what came of it.
- Write in the language that the task is written in.

` + dataRule)
	return b.String()
}

// proposed reads a plan that a model proposes. The error is Invalid, and for the model.
func proposed(args json.RawMessage, box toolbox) (Proposal, error) {
	var p Proposal
	if err := json.Unmarshal(args, &p); err != nil {
		return p, human.Errorf(human.Invalid, "it does not match the schema: %s", err)
	}
	p.Key, p.Why, p.Calls = "", "", nil // not the model's to say
	if len(p.Tasks) == 0 || len(p.Tasks) > mostTasks {
		return p, human.Errorf(human.Invalid, "it has %d tasks; it needs 1 to %d", len(p.Tasks), mostTasks)
	}
	taken := map[string]bool{}
	for i := range p.Tasks {
		t := &p.Tasks[i]
		if t.ID == "" || taken[t.ID] || len(t.ID) > 40 {
			t.ID = fmt.Sprintf("t%d", i+1)
			for n := len(p.Tasks) + 1; taken[t.ID]; n++ {
				t.ID = fmt.Sprintf("t%d", n)
			}
		}
		taken[t.ID] = true
		if t.Description = strings.TrimSpace(t.Description); t.Description == "" {
			return p, human.Errorf(human.Invalid, "task %d has no description", i+1)
		}
		if err := settleCall(t, box); err != nil {
			return p, human.Errorf(human.Invalid, "task %d: %s", i+1, human.SafeText(err))
		}
	}
	return p, nil
}

// settleCall brings a proposed task's call to one form.
func settleCall(t *human.Task, box toolbox) error {
	if bytes.Equal(bytes.TrimSpace(t.Args), []byte("null")) {
		t.Args = nil
	}
	tool := box.byName[t.Tool]
	switch {
	case t.Tool == "" && len(t.Args) > 0:
		return human.Errorf(human.Invalid, "it has arguments and no tool_name")
	case t.Tool == "":
		return nil
	case tool == nil && t.Tool != askHuman:
		return human.Errorf(human.Invalid, "there is no tool %q", t.Tool)
	case len(t.Args) == 0:
		return nil
	}
	args, err := object(t.Args)
	if err != nil {
		return err
	}
	t.Args = args
	if string(args) == "{}" && (tool == nil || needsArgs(tool.Spec())) {
		t.Args = nil // not known yet: many models write it so
	}
	return nil
}

func needsArgs(spec ToolSpec) bool {
	var schema struct {
		Required []string `json:"required"`
	}
	return json.Unmarshal(spec.Schema, &schema) == nil && len(schema.Required) > 0
}

// ended reads a call of end_task or finish.
func ended(args json.RawMessage) (p human.TaskProgress, err error) {
	var in struct {
		Outcome string `json:"outcome"`
		Note    string `json:"note"`
	}
	if err := json.Unmarshal(args, &in); err != nil || !slices.Contains([]string{OutcomeDone, OutcomeFailed}, in.Outcome) {
		return p, human.Errorf(human.Invalid, "The outcome must be done or failed.")
	}
	return human.TaskProgress{State: human.TaskState(in.Outcome), Note: in.Note}, nil
}
