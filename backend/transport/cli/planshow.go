package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"

	"deskbell/backend/human"
	"deskbell/backend/plan"
)

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// show prints all an operator needs to decide.
func (p *planDesk) show(ctx context.Context) {
	op, q, now := p.op, p.q, time.Now()
	what := "has a plan"
	if q.Of != "" {
		what = "asks about one task of the plan " + string(q.Of)
	}
	p.printf("%s %s: %s\n", visible(op.AgentID), what, strings.TrimSpace(indent(op.Description, "  ")))
	when := span(now.Sub(op.CreatedAt)) + " ago"
	if op.ExpiresAt != nil && !op.State.Terminal() {
		when += ", " + span(op.ExpiresAt.Sub(now)) + " left"
	}
	p.printf("%s, session %s, %s\n", op.ID, oneLine(op.SessionID, 80), when)
	p.printf("%s\n", summed(q.Summary))
	if q.Cwd != "" {
		p.printf("It would run in %s\n", oneLine(q.Cwd, 300))
	}
	if q.Why != "" {
		p.printf("A new plan, because: %s\n", strings.TrimSpace(indent(q.Why, "  ")))
	}
	if q.Together() {
		p.printf("%d operators have to agree%s.\n", q.Confirmations, among(q.Operators))
		for _, v := range op.Votes {
			action := "?"
			if v.Answer.Plan != nil {
				action = string(v.Answer.Plan.Action)
			}
			p.printf("  %s: %s\n", visible(name(v.By)), visible(action))
		}
	}
	p.printf("\n")
	for i, t := range q.Tasks {
		var sum human.TaskSummary
		if i < len(q.Summary.Tasks) {
			sum = q.Summary.Tasks[i]
		}
		p.showTask(cmp.Or(sum.Index, i+1), t, sum)
	}
	if care := needsCare(q.Summary); care != "" {
		p.printf("\nLook at %s.\n", care)
	}
	if line := p.history(ctx); line != "" {
		p.printf("\n%s\n", line)
	}
	if len(op.Context) > 0 {
		p.printf("\ncontext:\n")
		p.fields(op.Context)
	}
	if len(op.Messages) > 0 {
		p.printf("\nconversation:\n")
		for _, m := range op.Messages {
			p.printf("  %s: %s\n", visible(name(m.By)), strings.TrimSpace(indent(m.Text, "    ")))
		}
	}
	p.printf("\nThe answer counts for these bytes only: sha256 %s\n", op.Digest)
}

func among(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ", " + oneLine(strings.Join(names, ", "), 200) + " among them"
}

// showTask prints a task with every field it has.
func (s *shell) showTask(n int, t human.Task, sum human.TaskSummary) {
	s.printf("%2d. %s\n", n, strings.TrimSpace(indent(t.Description, "    ")))
	facts := []string{visible(t.ID)}
	if t.Tool != "" {
		facts = append(facts, "tool "+oneLine(t.Tool, 80))
	}
	if t.Type != "" {
		facts = append(facts, oneLine(t.Type, 80))
	}
	if t.Priority != 0 {
		facts = append(facts, fmt.Sprintf("priority %d", t.Priority))
	}
	s.printf("    %s\n", strings.Join(append(facts, taskFacts(sum)...), ", "))
	for _, e := range sum.Effects {
		s.printf("    would: %s (%s)\n", oneLine(cmp.Or(e.Words, string(e.Verb)), 200), e.Risk)
	}
	if t.ExpectedOutcome != "" {
		s.printf("    then: %s\n", strings.TrimSpace(indent(t.ExpectedOutcome, "      ")))
	}
	if len(t.Args) > 0 {
		var b bytes.Buffer
		inner := *s
		inner.out = &b
		inner.fields(t.Args)
		s.printf("%s\n", "    with"+strings.TrimRight(strings.ReplaceAll("\n"+strings.TrimRight(b.String(), "\n"), "\n", "\n    "), " "))
	}
}

// taskFacts are what is known of a task, in a few words each.
func taskFacts(sum human.TaskSummary) []string {
	var facts []string
	if sum.Risk != "" {
		facts = append(facts, riskWords(sum.Risk))
	}
	if sum.Writes {
		facts = append(facts, "changes something")
	}
	if sum.Asked {
		facts = append(facts, "the gatekeeper will ask again")
	}
	if sum.Runs > 0 {
		facts = append(facts, fmt.Sprintf("about %s (%s)", span(seconds(sum.Seconds)), runs(sum.Runs)))
	}
	return facts
}

func riskWords(r human.Risk) string {
	if r == "" || r == human.NoRisk {
		return "no risk"
	}
	return visible(string(r)) + " risk"
}

func runs(n int) string {
	if n == 1 {
		return "1 run"
	}
	return fmt.Sprintf("%d runs", n)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// summed is what a plan comes to, in a line.
func summed(sum human.TasksSummary) string {
	line := fmt.Sprintf("%d tasks", sum.Total)
	if sum.Total == 1 {
		line = "1 task"
	}
	line += ", " + riskWords(sum.Risk)
	if sum.Writes > 0 {
		line += fmt.Sprintf(", %d to change something", sum.Writes)
	}
	if sum.Estimated > 0 {
		line += fmt.Sprintf(", about %s", span(seconds(sum.Seconds)))
		if sum.Estimated < sum.Total {
			line += fmt.Sprintf(" for the %d that are known", sum.Estimated)
		}
		line += fmt.Sprintf(" (%s before)", runs(sum.Runs))
	}
	return line
}

// needsCare names the tasks of a dangerous risk.
func needsCare(sum human.TasksSummary) string {
	var all []string
	for _, t := range sum.Tasks {
		if t.Risk.Dangerous() {
			all = append(all, fmt.Sprintf("%d (%s)", t.Index, t.Risk))
		}
	}
	switch {
	case len(all) == 0:
		return ""
	case len(all) == 1:
		return "task " + all[0]
	}
	return "tasks " + strings.Join(all, ", ")
}

// history is what was decided for plans like this one, in a line or two; empty where there were none.
func (p *planDesk) history(ctx context.Context) string {
	h, err := p.operator.PlanHistory(ctx, p.session())
	if err != nil {
		return ""
	}
	var parts []string
	n := 0
	for _, count := range []struct {
		n    int
		word string
	}{{h.Counts.Confirmed, "confirmed"}, {h.Counts.Modified, "changed"}, {h.Counts.SentBack, "sent back"}, {h.Counts.Cancelled, "cancelled"}, {h.Counts.Timeout, "timed out"}} {
		if n += count.n; count.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count.n, count.word))
		}
	}
	if n == 0 {
		return ""
	}
	line := fmt.Sprintf("Plans like this one: %s.", strings.Join(parts, ", "))
	for i, u := range h.Usual {
		if i == 3 {
			break
		}
		line += fmt.Sprintf("\n  often %s: %s (%s)", visible(string(u.Change)), oneLine(u.Text, 160), times(u.Times))
	}
	return line
}

// showChanges prints what was changed of a plan, as a difference.
func (s *shell) showChanges(changes []human.TaskChange) {
	for _, ch := range changes {
		what := oneLine(ch.Description, 160)
		switch ch.Kind {
		case human.TaskAdded:
			s.printf("+ %d. %s\n", ch.To, what)
		case human.TaskRemoved:
			s.printf("- %d. %s\n", ch.From, what)
		case human.TaskMoved:
			s.printf("> %d. %s (was %d)\n", ch.To, what, ch.From)
		default:
			s.printf("~ %d. %s\n", ch.To, what)
		}
		for _, f := range ch.Fields {
			was, is := f.Was, f.Is
			if f.Field == "args" {
				was, is = plainText(was), plainText(is)
			}
			s.printf("    %s\n", visible(f.Field))
			for _, line := range differing(was, is) {
				s.printf("    %s\n", visible(line))
			}
		}
	}
}

// differing are the lines of two texts that are not the same, with a little of what is around them.
func differing(was, is string) (lines []string) {
	if !strings.Contains(was+is, "\n") {
		return []string{"- " + cmp.Or(was, "(nothing)"), "+ " + cmp.Or(is, "(nothing)")}
	}
	_, hunks, _ := strings.Cut(udiff.Unified("was", "is", was+"\n", is+"\n"), "\n+++ is\n")
	for line := range strings.Lines(hunks) {
		if line = strings.TrimSuffix(line, "\n"); !strings.HasPrefix(line, "@@ ") {
			lines = append(lines, line[:1]+" "+line[1:])
		}
	}
	return lines
}

// plainText is JSON laid out for people.
func plainText(text string) string {
	v, err := decodeNumbers(json.RawMessage(text))
	if err != nil {
		return text
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if e.Encode(v) != nil {
		return text
	}
	return strings.TrimSpace(b.String())
}

// planCode is the exit code that tells a script how a plan stands.
func planCode(st plan.Status) int {
	changed := st.Run != nil && slices.ContainsFunc(st.Run.Orders, func(o human.GivenOrder) bool { return o.Kind == human.Change || o.Kind == human.Skip })
	switch {
	case changed && len(st.Tasks) > 0:
		return exitChanged
	case st.Status == human.PlanConfirmed:
		return exitYes
	case st.Status == human.PlanModified && len(st.Tasks) > 0:
		return exitChanged
	case st.Status == human.PlanModified, st.Status == human.PlanCancelled:
		return exitNo
	}
	return exitUnended
}

// showStatus prints how a plan stands, with what may run of it.
func (s *shell) showStatus(st plan.Status) {
	head := string(st.Status)
	switch {
	case st.Auto == "off":
		head = "confirmed: plans need no confirmation here"
	case st.Auto == "safe":
		head = "confirmed automatically: every task is safe"
	case st.Response != nil && st.Response.By != "":
		head += " by " + st.Response.By
	case st.Status == human.PlanPending && st.ExpiresAt != nil:
		head += ", " + span(time.Until(*st.ExpiresAt)) + " left"
	}
	s.printf("%s\n", oneLine(strings.TrimSpace(string(st.OperationID)+" "+head), 300))
	if st.Question != "" {
		s.part("An operator asks", st.Question)
	}
	for _, v := range st.Votes {
		s.printf("  %s: %s\n", visible(v.By), visible(string(v.Action)))
	}
	if len(st.Votes) > 0 && st.Status == human.PlanPending {
		s.printf("  %d have to agree\n", st.Needs)
	}
	if r := st.Response; r != nil {
		s.part("", r.Message)
		if r.TaskByTask {
			s.printf("  Each task is confirmed separately before it runs.\n")
		}
		s.showChanges(r.Changes)
	}
	if st.Run == nil {
		for i, t := range st.Tasks {
			s.showTask(i+1, t, human.TaskSummary{})
		}
		return
	}
	s.showRun(st.Run)
}

// marks show at a glance how a task stands.
var marks = map[human.TaskState]string{
	human.TaskWaiting: " ", human.TaskRunning: ">", human.TaskDone: "x", human.TaskFailed: "!", human.TaskSkipped: "-",
}

func (s *shell) showRun(run *human.PlanRun) {
	s.printf("The run is %s.\n", visible(string(run.State)))
	for i, t := range run.Tasks {
		s.printf("[%s] %2d. %s  %s", cmp.Or(marks[t.State], "?"), i+1, oneLine(t.ID, 40), oneLine(t.Description, 160))
		if t.Tool != "" {
			s.printf(" (%s)", oneLine(t.Tool, 60))
		}
		if t.Began != nil && t.Ended != nil {
			s.printf(", %s", span(t.Ended.Sub(*t.Began)))
		}
		s.printf("\n")
		if t.Note != "" {
			s.printf("%s\n", indent(t.Note, "        "))
		}
	}
	for _, o := range run.Orders {
		s.printf("%s ordered: %s", visible(name(o.By)), visible(string(o.Kind)))
		if o.Task != "" {
			s.printf(" %s", oneLine(o.Task, 60))
		}
		s.printf("\n")
		s.part("", o.Text)
		s.showChanges(o.Changes)
	}
}
