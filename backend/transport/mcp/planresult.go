package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/human"
	"deskbell/backend/plan"
)

// statusRunning is the status of a task that may be done now.
const statusRunning = "running"

// A planReading is a result of the tool confirm_plan: what an agent reads of its plan, or of one task.
type planReading struct {
	Status    string            `json:"status"`
	SessionID string            `json:"session_id"`
	ID        human.OperationID `json:"operation_id,omitempty"`
	Attached  bool              `json:"attached,omitempty"`
	Auto      string            `json:"auto,omitempty"`
	Go        *bool             `json:"go,omitempty"`
	Why       string            `json:"why,omitempty"`
	Waited    int               `json:"waited_seconds,omitempty"`
	Message   string            `json:"message,omitempty"`
	Next      string            `json:"next,omitempty"`

	Question    string `json:"question,omitempty"`
	UserMessage string `json:"user_message,omitempty"`
	By          string `json:"by,omitempty"`
	TaskByTask  bool   `json:"task_by_task,omitempty"`

	Task     *planTask   `json:"task,omitempty"`
	RunState string      `json:"run_state,omitempty"`
	Orders   []planOrder `json:"orders,omitempty"`
	Tasks    []planTask  `json:"tasks,omitempty"`
	Changes  []string    `json:"changes,omitempty"`
	Votes    []string    `json:"votes,omitempty"`
	Needs    int         `json:"confirmations,omitempty"`

	Text       string `json:"text,omitempty"`
	NextOffset int    `json:"next_offset,omitempty"`
	Total      int    `json:"total_characters,omitempty"`

	Cut []string `json:"cut,omitempty"`

	ended bool // the plan's answer is in it
}

// A planTask is a task as it stands, and how far it is once the plan runs.
type planTask struct {
	human.Task
	State human.TaskState `json:"state,omitempty"`
	Note  string          `json:"note,omitempty"`
}

// A planOrder is what a human ordered while the plan ran.
type planOrder struct {
	Kind    human.OrderKind `json:"order"`
	Task    string          `json:"task_id,omitempty"`
	Text    string          `json:"text,omitempty"`
	Changes []string        `json:"changes,omitempty"`
	By      string          `json:"by,omitempty"`
	At      time.Time       `json:"at"`
}

// planSchema names what every result has; the rest depends on status, and the tool's description says what.
var planSchema = map[string]any{
	"type":       "object",
	"required":   []string{"status"},
	"properties": map[string]any{"status": map[string]any{"type": "string"}},
}

// readPlan tells an agent how a plan of its own stands.
func (c *call) readPlan(st plan.Status) planReading {
	r := planReading{
		Status: string(st.Status), SessionID: st.SessionID, ID: st.OperationID, Auto: st.Auto, Question: st.Question,
		Waited: int(time.Since(c.began).Seconds()), ended: st.Status != human.PlanPending && st.OperationID != "",
	}
	if a := st.Response; a != nil {
		r.UserMessage, r.By, r.TaskByTask, r.Changes = a.Message, a.By, a.TaskByTask, changeLines(a.Changes)
	}
	if st.Needs > 1 || len(st.Votes) > 0 {
		r.Needs = st.Needs
	}
	for _, v := range st.Votes {
		r.Votes = append(r.Votes, v.By+": "+string(v.Action))
	}
	for _, t := range st.Tasks {
		r.Tasks = append(r.Tasks, planTask{Task: plainTask(t)})
	}
	r.follow(st.Run)
	r.advise(st)
	return r
}

// readStanding tells an agent whether it may do a task, or what is left after it.
func (c *call) readStanding(st plan.Standing, name string, a planArguments) planReading {
	r := planReading{
		Status: statusOK, SessionID: name, ID: st.OperationID, Waited: int(time.Since(c.began).Seconds()),
	}
	if a.Action == doBegin {
		r.Go, r.Why, r.Status = &st.Go, st.Why, st.Why
		switch {
		case st.Go:
			r.Status = statusRunning
		case held(st.Why):
			r.Status = statusPending
		}
		if st.Task != nil {
			r.Task = &planTask{Task: plainTask(*st.Task)}
		}
	}
	r.follow(st.Run)
	for i := range r.Tasks {
		r.Tasks[i].Args, r.Tasks[i].ExpectedOutcome = nil, "" // these come with begin
		r.Tasks[i].Description = human.OneLine(r.Tasks[i].Description, 160)
	}
	r.adviseTask(st, a)
	return r
}

// follow puts how far the plan has come into a result.
func (r *planReading) follow(run *human.PlanRun) {
	if run == nil {
		return
	}
	r.RunState, r.Tasks = string(run.State), nil
	for _, t := range run.Tasks {
		r.Tasks = append(r.Tasks, planTask{Task: plainTask(t.Task), State: t.State, Note: t.Note})
	}
	for _, o := range run.Orders {
		const longest = 2000
		words, _ := clip(o.Text, longest)
		r.Orders = append(r.Orders, planOrder{Kind: o.Kind, Task: o.Task, Text: words, Changes: changeLines(o.Changes), By: o.By.Name, At: o.At})
	}
}

// plainTask is a task whose arguments are spelled without escapes for HTML, which mean the same and are harder to read.
func plainTask(t human.Task) human.Task {
	var plain json.RawMessage
	for raw := t.Args; len(raw) > 0; {
		n := 1
		if raw[0] == '\\' && len(raw) > 1 {
			n = 2
		}
		if len(raw) >= 6 && raw[0] == '\\' && raw[1] == 'u' {
			if c, ok := map[string]byte{"003c": '<', "003e": '>', "0026": '&'}[strings.ToLower(string(raw[2:6]))]; ok {
				plain, raw = append(plain, c), raw[6:]
				continue
			}
		}
		plain, raw = append(plain, raw[:n]...), raw[n:]
	}
	t.Args = plain
	return t
}

// changeLines are changes in words.
func changeLines(all []human.TaskChange) (lines []string) {
	for _, ch := range all {
		what := fmt.Sprintf("%s %s (%s)", ch.Kind, ch.ID, human.OneLine(ch.Description, 120))
		if ch.Kind == human.TaskMoved {
			what += fmt.Sprintf(": from %d to %d", ch.From, ch.To)
		}
		for i, f := range ch.Fields {
			what += [2]string{": ", "; "}[min(i, 1)] + fmt.Sprintf("%s was %q, is %q", f.Field, human.OneLine(f.Was, 300), human.OneLine(f.Is, 300))
		}
		lines = append(lines, what)
	}
	return lines
}

// advise says what to do about a plan.
func (r *planReading) advise(st plan.Status) {
	use := func(action string) string {
		return fmt.Sprintf("call confirm_plan with action=%s and session_id=%s", action, st.SessionID)
	}
	first := func() string {
		switch {
		case st.Run == nil: // one task of a plan, confirmed by itself
			return "begin it with the session_id of its plan"
		case st.Run.Over():
			return "nothing is left to do"
		}
		for _, t := range st.Run.Tasks {
			if t.State == human.TaskWaiting {
				return use(doBegin) + ", task_id=" + t.ID
			}
			if t.State == human.TaskRunning {
				return fmt.Sprintf("task %s has started: once it is done, %s, task_id=%[1]s, state and note", t.ID, use(doEnd))
			}
		}
		return "nothing is left to do"
	}
	switch st.Status {
	case human.PlanConfirmed:
		if r.Next = first(); st.Auto == "off" {
			r.Next = "plans need no confirmation here: carry it out; begin and end are not needed"
		}
	case human.PlanModified:
		if len(st.Tasks) == 0 {
			r.Next = "do none of it: make a new plan as user_message says, and submit it with session_id=" + st.SessionID
			return
		}
		r.Next = "do the tasks as they are here, not as you wrote them: " + first()
	case human.PlanTimeout:
		r.Next = "no one answered in time, so the plan timed out: do none of it, and tell your user that no one answered"
	case human.PlanCancelled:
		r.Next = "do none of it, and not in any other way either; read user_message, tell your user, or ask what to do instead"
	default:
		if st.Question != "" {
			r.Status = statusWaiting
			r.Next = "answer the question: " + use(doReply) + ", text"
			return
		}
		r.Next = use(doWait) + " to continue waiting; do none of the plan meanwhile"
	}
}

// adviseTask says what to do about a task.
func (r *planReading) adviseTask(st plan.Standing, a planArguments) {
	use := func(action, id string) string {
		return fmt.Sprintf("call confirm_plan with action=%s, session_id=%s, task_id=%s", action, r.SessionID, id)
	}
	after := func() string { // the next task
		if st.Run == nil {
			return "call confirm_plan with action=check and session_id=" + r.SessionID
		}
		for _, t := range st.Run.Tasks {
			if t.State == human.TaskWaiting && t.ID != a.TaskID {
				return use(doBegin, t.ID)
			}
		}
		return "nothing is left to do"
	}
	switch {
	case st.Why == "refused":
		r.Next = "a human said in words what to change: submit a new plan accordingly"
	case st.Run != nil && st.Run.State == human.RunStopped && !st.Go:
		r.Next = "a human stopped the plan: do no more of it, and tell your user"
	case a.Action == doEnd:
		r.Next = after()
	case !st.Go && begun(st, a.TaskID):
		r.Next = "it was started before: look at what it has done, then " + use(doEnd, a.TaskID) + ", state and note; do not do it twice"
	case st.Why == "begun":
		r.Next = "it was done before, as tasks says: do not do it again; " + after()
	case st.Go:
		r.Next = "do it as task says; then " + use(doEnd, a.TaskID) + ", state (done or failed) and note"
	case held(st.Why):
		r.Next = use(doBegin, a.TaskID) + " to continue waiting; do not do the task meanwhile"
	case st.Why == "skipped":
		r.Next = "a human removed this task: skip it; " + after()
	case st.Why == "changed":
		r.Next = "a human changed the tasks: use tasks; " + after()
	default:
		r.Next = "do not do this task; call confirm_plan with action=check and session_id=" + r.SessionID + ", or submit a new plan"
	}
}

// begun says whether a task runs already.
func begun(st plan.Standing, id string) bool {
	if st.Run == nil {
		return false
	}
	t, ok := st.Run.Task(id)
	return ok && t.State == human.TaskRunning
}

// asked puts the question of an operator into a result of begin.
func (r *planReading) asked(op human.Operation, a planArguments) {
	for _, m := range op.Messages {
		if m.By.Role == human.Operator {
			r.Question = m.Text
		}
	}
	r.Status = statusWaiting
	r.Next = fmt.Sprintf("answer the question: call confirm_plan with action=begin, session_id=%s, task_id=%s and text", r.SessionID, a.TaskID)
}

// result is the reading as a tool result of at most so many tokens.
func (r planReading) result(budget int) (*mcp.CallToolResult, error) {
	data, err := plainJSON(r.fit(budget))
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{
		Content:           []mcp.Content{&mcp.TextContent{Text: string(data)}},
		StructuredContent: json.RawMessage(data),
	}, nil
}

func (r planReading) cost() int {
	data, err := plainJSON(r)
	if err != nil {
		return maxBudget + 1
	}
	return human.Tokens(data)
}

// fit is the reading within a budget of tokens. Status, next and run_state stay; of the rest, each part takes at most two
// thirds of what is left, in the order of their weight. It names what it leaves out, with how to read it.
func (r planReading) fit(budget int) planReading {
	whole := r
	if whole.cost() <= budget {
		return whole
	}
	check := "call confirm_plan with action=check, session_id=" + r.SessionID
	r.Question, r.UserMessage, r.Task, r.Orders, r.Tasks, r.Changes, r.Votes, r.Text = "", "", nil, nil, nil, nil, nil, ""
	r.Cut = []string{check + ", task_id=... reads all of one task"}
	const note = 20 // tokens of a line in Cut
	notes := 7      // that may yet come
	// most finds how much of a part there is room for.
	most := func(size int, put func(n int)) int {
		limit := r.cost() + max(budget-r.cost()-notes*note, 0)*2/3
		n := sort.Search(size, func(n int) bool { put(n + 1); return r.cost() > limit })
		put(n)
		return n
	}
	cut := func(format string, args ...any) { r.Cut = append(r.Cut, fmt.Sprintf(format, args...)) }
	if t := whole.Task; t != nil {
		forms := []planTask{{Task: human.Task{ID: t.ID}, State: t.State}, cutTask(*t, 40), cutTask(*t, 120), *t}
		if n := most(len(forms)-1, func(n int) { r.Task = &forms[n] }); n < len(forms)-1 {
			cut("task: read all of it before you do it")
		}
	}
	notes--
	text := func(name, all string, into *string) {
		size := utf8.RuneCountInString(all)
		if n := most(min(size, budget*3), func(n int) { *into, _ = clip(all, n) }); n < size {
			cut("%s: %d of %d characters", name, n, size)
		}
		notes--
	}
	text("question", whole.Question, &r.Question)
	text("user_message", whole.UserMessage, &r.UserMessage)
	if all := whole.Orders; most(len(all), func(n int) { r.Orders = all[len(all)-n:] }) < len(all) {
		cut("orders: the last %d of %d", len(r.Orders), len(all))
	}
	notes--
	if all := whole.Tasks; most(len(all), func(n int) { r.Tasks = all[:n] }) < len(all) {
		short := slices.Clone(all)
		for i := range short {
			short[i] = cutTask(short[i], 120)
		}
		if n := most(len(all), func(n int) { r.Tasks = short[:n] }); n < len(all) {
			cut("tasks: the first %d of %d, shortened", n, len(all))
		} else {
			cut("tasks: shortened, without args")
		}
	}
	notes--
	for _, lines := range []struct {
		name string
		all  []string
		into *[]string
	}{{"changes", whole.Changes, &r.Changes}, {"votes", whole.Votes, &r.Votes}} {
		if n := most(len(lines.all), func(n int) { *lines.into = lines.all[:n] }); n < len(lines.all) {
			cut("%s: %d of %d", lines.name, n, len(lines.all))
		}
		notes--
	}
	return r
}

// cutTask is a task in a line, of a description of at most so many characters.
func cutTask(t planTask, most int) planTask {
	t.Description, t.ExpectedOutcome, t.Args = human.OneLine(t.Description, most), "", nil
	t.Tool, t.Type, t.Note = human.OneLine(t.Tool, most/2), "", human.OneLine(t.Note, most/2)
	return t
}

// taskExcerpt is one task as JSON, from a character.
func taskExcerpt(st plan.Status, a planArguments) (planReading, error) {
	tasks := st.Tasks
	if st.Run != nil {
		tasks = nil
		for _, t := range st.Run.Tasks {
			tasks = append(tasks, t.Task)
		}
	}
	i := slices.IndexFunc(tasks, func(t human.Task) bool { return t.ID == strings.TrimSpace(a.TaskID) })
	if i < 0 {
		return planReading{}, human.Errorf(human.NotFound, "the plan has no confirmed task %q", human.OneLine(a.TaskID, 80))
	}
	data, err := plainJSON(plainTask(tasks[i]))
	if err != nil {
		return planReading{}, err
	}
	offset := 0
	if a.Offset != nil {
		if offset, err = whole("offset", *a.Offset); err != nil {
			return planReading{}, err
		}
	}
	tokens, err := budget(a.MaxTokens)
	if err != nil {
		return planReading{}, err
	}
	runes := []rune(string(data))
	if offset < 0 || offset > len(runes) {
		return planReading{}, human.BadField("offset", "is %d; the task has %d characters", offset, len(runes))
	}
	rest := runes[offset:]
	part := func(n int) planReading {
		r := planReading{Status: statusOK, SessionID: st.SessionID, ID: st.OperationID, Text: string(rest[:n]), Total: len(runes)}
		if n < len(rest) {
			r.NextOffset = offset + n
			r.Next = fmt.Sprintf("call confirm_plan with action=check, session_id=%s, task_id=%s, offset=%d to read more", st.SessionID, tasks[i].ID, r.NextOffset)
		}
		return r
	}
	n := sort.Search(min(len(rest), tokens*3), func(n int) bool { return part(n+1).cost() > tokens })
	return part(n), nil
}
