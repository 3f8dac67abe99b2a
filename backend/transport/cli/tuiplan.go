package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"deskbell/backend/human"
	"deskbell/backend/plan"
)

// plan is a plan that waits: each task with what is known of it.
func (p *readout) plan(op human.Operation, q human.PlanQuestion, history plan.History) {
	if q.Of != "" {
		p.add(stylePlain, p.t("One task of the plan %s", "计划 %s 中的一个任务", q.Of))
	}
	if q.Why != "" {
		p.item(0, 2, stylePlain, p.t("A new plan, because: %s", "新计划，原因：%s", visible(q.Why)))
	}
	p.item(0, 2, stylePlain, p.summed(q.Summary))
	if q.Cwd != "" {
		p.item(0, 2, stylePlain, p.t("It would run in %s", "将在此处执行：%s", visible(q.Cwd)))
	}
	if q.Together() {
		p.item(0, 2, stylePlain, p.t("%d operators have to agree", "需要 %d 位操作者同意", q.Confirmations)+cmp.Or(p.named(q.Operators), ""))
		for _, v := range op.Votes {
			if v.Answer.Plan != nil {
				p.item(2, 4, stylePlain, visible(name(v.By))+": "+p.pick(planActionWords[v.Answer.Plan.Action], string(v.Answer.Plan.Action)))
			}
		}
	}
	p.head("Tasks", "任务")
	for i, t := range q.Tasks {
		var sum human.TaskSummary
		if i < len(q.Summary.Tasks) {
			sum = q.Summary.Tasks[i]
		}
		p.task(cmp.Or(sum.Index, i+1), t, sum)
	}
	p.past(history)
}

func (p *readout) named(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return p.t(", %s among them", "，其中包括 %s", oneLine(strings.Join(list, ", "), 200))
}

var planActionWords = map[human.PlanAction]pair{
	human.ConfirmPlan: {"confirm", "确认"}, human.ModifyPlan: {"change", "修改"}, human.CancelPlan: {"cancel", "取消"},
}

// summed is what tasks come to, in a line.
func (p *readout) summed(sum human.TasksSummary) string {
	parts := []string{p.t("%d tasks", "%d 个任务", sum.Total), p.risk(sum.Risk, true)}
	if sum.Writes > 0 {
		parts = append(parts, p.t("changes something: %d", "%d 个会更改内容", sum.Writes))
	}
	if sum.Estimated > 0 {
		parts = append(parts, p.t("about %s, from %d earlier runs", "约 %s（依据 %d 次执行）", p.span(seconds(sum.Seconds)), sum.Runs))
	}
	return strings.Join(parts, " · ")
}

// task has every field of a task.
func (p *readout) task(n int, t human.Task, sum human.TaskSummary) {
	p.item(0, 4, styleBold, fmt.Sprintf("%2d. %s", n, strings.TrimSpace(indent(t.Description, "    "))))
	var facts []string
	if sum.Risk != "" {
		facts = append(facts, p.risk(sum.Risk, true))
	}
	if sum.Writes {
		facts = append(facts, p.t("changes something", "会更改内容"))
	}
	if sum.Asked {
		facts = append(facts, p.t("you will be asked again", "执行前会再次询问"))
	}
	if sum.Runs > 0 {
		facts = append(facts, p.t("about %s", "约 %s", p.span(seconds(sum.Seconds))))
	}
	if len(facts) > 0 {
		p.item(4, 4, styleRisk[sum.Risk], strings.Join(facts, " · "))
	}
	facts = nil
	if t.Tool != "" {
		facts = append(facts, p.t("tool %s", "工具 %s", oneLine(t.Tool, 80)))
	}
	if t.Type != "" {
		facts = append(facts, oneLine(t.Type, 80))
	}
	if t.Priority != 0 {
		facts = append(facts, p.t("priority %d", "优先级 %d", t.Priority))
	}
	p.item(4, 4, styleDim, strings.Join(append(facts, "id "+visible(t.ID)), " · "))
	for _, e := range sum.Effects {
		p.item(4, 6, styleRisk[e.Risk], "→ "+p.verb(e.Verb)+"  "+p.thing(e)+"  ("+p.risk(e.Risk, true)+")")
	}
	if t.ExpectedOutcome != "" {
		p.item(4, 6, stylePlain, p.t("expected: %s", "预期结果：%s", strings.TrimSpace(indent(t.ExpectedOutcome, "      "))))
	}
	if len(t.Args) > 0 {
		p.fields(6, t.Args)
	}
}

// past is what was decided for plans like this one.
func (p *readout) past(h plan.History) {
	var parts []string
	for _, c := range []struct {
		n    int
		word pair
	}{{h.Counts.Confirmed, pair{"%d confirmed", "确认 %d 次"}}, {h.Counts.Modified, pair{"%d changed", "修改 %d 次"}}, {h.Counts.SentBack, pair{"%d sent back", "退回 %d 次"}}, {h.Counts.Cancelled, pair{"%d canceled", "取消 %d 次"}}, {h.Counts.Timeout, pair{"%d timed out", "超时 %d 次"}}} {
		if c.n > 0 {
			parts = append(parts, p.t(c.word[0], c.word[1], c.n))
		}
	}
	if len(parts) == 0 {
		return
	}
	p.gap()
	p.item(0, 2, stylePlain, p.t("Plans like this one: %s", "类似的计划：%s", strings.Join(parts, p.t(", ", "，"))))
	for _, u := range h.Usual[:min(3, len(h.Usual))] {
		p.item(2, 4, stylePlain, p.t("often changed: %s (%d times)", "常见的修改：%s（%d 次）", oneLine(u.Text, 160), u.Times))
	}
}

// changes are what an operator changed of a plan.
func (p *readout) changes(list []human.TaskChange) {
	for _, ch := range list {
		what := oneLine(ch.Description, 160)
		switch ch.Kind {
		case human.TaskAdded:
			p.item(0, 4, styleGood, fmt.Sprintf("+ %d. %s", ch.To, what))
		case human.TaskRemoved:
			p.item(0, 4, styleMinus, fmt.Sprintf("- %d. %s", ch.From, what))
		case human.TaskMoved:
			p.item(0, 4, stylePlain, fmt.Sprintf("> %d. %s", ch.To, what)+p.t(" (was %d)", "（原为 %d）", ch.From))
		default:
			p.item(0, 4, stylePlain, fmt.Sprintf("~ %d. %s", ch.To, what))
		}
		for _, f := range ch.Fields {
			was, is := f.Was, f.Is
			if f.Field == "args" {
				was, is = plainText(was), plainText(is)
			}
			p.item(4, 4, styleDim, p.pick(fieldWords[f.Field], f.Field))
			p.diff(4, strings.Join(differing(was, is), "\n"))
		}
	}
}

// run is how far a plan has come, and what operators ordered meanwhile.
func (p *readout) run(run *human.PlanRun) {
	done := 0
	for _, t := range run.Tasks {
		if t.State.Over() {
			done++
		}
	}
	p.head("The plan: %s, %d of %d tasks have ended", "计划：%s，%d/%d 个任务已结束", p.pick(runStateWords[run.State], string(run.State)), done, len(run.Tasks))
	for i, t := range run.Tasks {
		style := stylePlain
		switch t.State {
		case human.TaskRunning:
			style = styleMark
		case human.TaskDone:
			style = styleGood
		case human.TaskFailed:
			style = styleBad
		}
		took := ""
		if t.Began != nil && t.Ended != nil {
			took = p.t(", ", "，") + p.span(t.Ended.Sub(*t.Began))
		}
		p.item(0, 7, style, fmt.Sprintf("[%s] %2d. %s", cmp.Or(marks[t.State], "?"), i+1, oneLine(t.Description, 300)))
		p.item(7, 7, styleDim, p.pick(taskStateWords[t.State], string(t.State))+took+" · id "+oneLine(t.ID, 40)+tool(t.Tool))
		if t.Note != "" {
			p.prose(7, stylePlain, t.Note)
		}
	}
	for _, o := range run.Orders {
		text := p.who(o.By) + " " + p.pick(orderWords[o.Kind], string(o.Kind))
		if o.Task != "" {
			text += " " + oneLine(o.Task, 60)
		}
		p.gap()
		p.item(0, 2, stylePlain, text)
		if o.Text != "" {
			p.prose(2, stylePlain, o.Text)
		}
		p.changes(o.Changes)
	}
}

func tool(name string) string {
	if name == "" {
		return ""
	}
	return " · " + oneLine(name, 60)
}

// plans are what a plan that waits is answered with.
func (d *inbox) plans() []act {
	op, w := d.open.op, d.words
	respond := func(action human.PlanAction, taskByTask bool) func(context.Context, []string) error {
		return func(ctx context.Context, v []string) error {
			_, err := d.operator.Respond(ctx, string(op.ID), plan.Response{Action: action, Message: v[len(v)-1], Digest: op.Digest, TaskByTask: taskByTask})
			return err
		}
	}
	confirm := d.deliberate(op.Risk, "confirm", "", field{label: w.optional})
	acts := []act{{key: "a", title: w.confirm, said: w.saidConfirm, ask: confirm, do: respond(human.ConfirmPlan, false)}}
	q := d.open.plan
	if len(q.Tasks) > 1 {
		acts = append(acts, act{key: "s", title: w.taskByTask, said: w.saidTaskByTask, ask: confirm, do: respond(human.ConfirmPlan, true)})
	}
	if slices.Contains(q.Options, human.ModifyPlan) {
		acts = append(acts, act{key: "e", title: w.edit, edit: d.editPlan},
			act{key: "t", title: w.change, said: w.saidSent, ask: []field{{label: w.change, need: true}}, do: respond(human.ModifyPlan, false)})
	}
	return append(acts, act{key: "d", title: w.cancelPlan, said: w.saidCancel, ask: []field{{label: w.reason}}, do: respond(human.CancelPlan, false)}, d.message())
}

// orders are what an operator may order of a plan that runs.
func (d *inbox) orders() []act {
	op, w, run := d.open.op, d.words, d.open.op.Run
	order := func(kind human.OrderKind) func(context.Context, []string) error {
		return func(ctx context.Context, v []string) error {
			o := human.Order{Kind: kind, Text: v[len(v)-1]}
			if kind == human.Skip {
				n, err := strconv.Atoi(v[0])
				if err != nil || n < 1 || n > len(run.Tasks) {
					return human.Errorf(human.Invalid, "%s", fmt.Sprintf(w.noTask, visible(v[0]), len(run.Tasks)))
				}
				o.Task = run.Tasks[n-1].ID
			}
			_, err := d.operator.Order(ctx, string(op.ID), o)
			return err
		}
	}
	words := []field{{label: w.optional}}
	hold := act{key: "p", title: w.pause, said: w.saidPause, ask: words, do: order(human.Pause)}
	if run.State == human.RunPaused {
		hold = act{key: "p", title: w.resume, said: w.saidResume, ask: words, do: order(human.Resume)}
	}
	return []act{
		hold,
		{key: "s", title: w.skip, said: w.saidSkip, ask: []field{{label: w.skipWhich, need: true}, words[0]}, do: order(human.Skip)},
		{key: "e", title: w.editRest, edit: d.editRest},
		{key: "x", title: w.stop, said: w.saidStop, ask: d.deliberate(human.HighRisk, "stop", "", words...), do: order(human.Stop)},
	}
}

// edited is what came of an editor.
type edited struct {
	sheet *sheet
	was   []human.Task
	tasks []human.Task
	sum   human.TasksSummary
	rest  bool // of a plan that runs
	err   error
}

// editPlan has the plan's tasks changed in the user's editor. What was changed is shown before it is sent.
func (d *inbox) editPlan() tea.Cmd {
	p := &planDesk{shell: d.shell, operator: d.operator, op: d.open.op, q: d.open.plan}
	return d.editTasks(d.open.plan.Tasks, func() string { return p.editable(d.ctx) }, false)
}

// editRest is editPlan for the tasks of a running plan that have not started.
func (d *inbox) editRest() tea.Cmd {
	var waiting []human.Task
	for _, t := range d.open.op.Run.Tasks {
		if t.State == human.TaskWaiting {
			waiting = append(waiting, t.Task)
		}
	}
	return d.editTasks(waiting, func() string {
		var b strings.Builder
		b.WriteString("# " + d.words.editHint + "\n")
		writeTasks(&b, waiting, "", func(int) []string { return nil })
		return b.String()
	}, true)
}

func (d *inbox) editTasks(was []human.Task, text func() string, rest bool) tea.Cmd {
	done, id := edited{was: was, rest: rest}, string(d.open.op.ID)
	return tea.Exec(&atTerminal{func() (err error) {
		if done.sheet, err = newSheet(text()); err != nil {
			return err
		}
		_, err = d.edit(d.ctx, done.sheet, func(text string) error {
			_, sub, err := readPlan([]byte(text), was)
			if err == nil {
				done.tasks = sub.Tasks
				done.sum, err = d.operator.Assess(d.ctx, id, sub.Tasks)
			}
			return err
		})
		return err
	}}, func(err error) tea.Msg {
		done.err = err
		return done
	})
}

// review shows what was changed in the editor, with the form that sends it.
func (d *inbox) review(e edited) tea.Cmd {
	w := d.words
	changes := plan.Compare(e.was, e.tasks)
	switch {
	case e.err != nil:
		text := human.SafeText(e.err)
		if e.sheet != nil {
			text += " " + fmt.Sprintf(w.keptIn, e.sheet.file)
		}
		d.say(visible(text), true)
		return nil
	case len(e.tasks) == 0 || len(changes) == 0:
		e.sheet.drop()
		d.say(w.unchanged, false)
		return nil
	case d.open == nil:
		return nil
	}
	op, p := d.open.op, readout{tongue: d.tongue}
	p.add(styleBold, w.yourChanges)
	p.changes(changes)
	p.gap()
	p.item(0, 2, stylePlain, p.t("Now: %s", "现在：%s", p.summed(e.sum)))
	do := func(ctx context.Context, v []string) (err error) {
		if e.rest {
			_, err = d.operator.Order(ctx, string(op.ID), human.Order{Kind: human.Change, Tasks: e.tasks, Text: v[len(v)-1]})
		} else {
			_, err = d.operator.Respond(ctx, string(op.ID), plan.Response{Action: human.ModifyPlan, Tasks: e.tasks, Message: v[len(v)-1], Digest: op.Digest})
		}
		if err == nil {
			e.sheet.drop()
		}
		return err
	}
	d.reviewed, d.scroll = &p, 0
	d.form = d.newForm(act{title: w.sendChanges, said: w.saidSent, ask: d.deliberate(e.sum.Risk, "modify", "", field{label: w.optional}), do: do})
	d.lay()
	return d.focus(0)
}
