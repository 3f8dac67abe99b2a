package queue

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"deskbell/backend/human"
)

// A Summary is an agent's readable memory of what humans did (H4).
type Summary struct {
	Text       string            `json:"text" doc:"Markdown to put into a prompt."`
	Operations []human.Operation `json:"operations"`
}

// A SummaryQuery selects what a summary tells.
type SummaryQuery struct {
	Limit     int       // of finished operations, at most the setting max_history; 0 is that
	Since     time.Time // leaves out those that last changed before it; zero is no bound
	MaxTokens int       // of the text, by human.Tokens: LeastSummary to MostSummary; 0 is UsualSummary
}

// Bounds of SummaryQuery.MaxTokens.
const (
	LeastSummary = 100
	UsualSummary = 2000
	MostSummary  = 12000
)

// mostWaiting is how many open operations a summary tells of.
const mostWaiting = 50

// Summary tells what humans did lately and what waits: for an agent of its own operations, for an operator of all. Its
// operations are those that the text names.
func (q *Queue) Summary(ctx context.Context, by human.Actor, s SummaryQuery) (Summary, error) {
	switch {
	case s.Limit < 0:
		return Summary{}, human.BadField("limit", "is %d; it must be 0 or more", s.Limit)
	case s.MaxTokens == 0:
		s.MaxTokens = UsualSummary
	case s.MaxTokens < LeastSummary || s.MaxTokens > MostSummary:
		return Summary{}, human.BadField("max_tokens", "is %d; it runs from %d to %d", s.MaxTokens, LeastSummary, MostSummary)
	}
	limit := min(q.opts.MaxHistory, MaxPage)
	if s.Limit > 0 {
		limit = min(limit, s.Limit)
	}
	waiting, err := q.List(ctx, by, Filter{Open: true, Since: s.Since, Order: Recent, Limit: mostWaiting})
	if err != nil {
		return Summary{}, err
	}
	finished, err := q.List(ctx, by, Filter{
		States: []human.State{human.Completed, human.Declined, human.Cancelled}, Since: s.Since, Order: Recent, Limit: limit,
	})
	if err != nil {
		return Summary{}, err
	}
	ended := map[human.OperationID]bool{}
	for _, op := range finished.Operations {
		ended[op.ID] = true
	}
	open := slices.DeleteFunc(waiting.Operations, func(op human.Operation) bool { return ended[op.ID] }) // since the first list was read
	m := newMemory(append(open, finished.Operations...), by.Role != human.Agent)
	m.more = waiting.Next != "" || finished.Next != ""
	text, named := m.text(s.MaxTokens)
	return Summary{Text: text, Operations: named}, nil
}

// The groups of a summary, in their order.
const (
	groupWaiting = iota
	groupDecided
	groupDone
	groupNotDone
	groupAdvice
)

var groupTitles = [...]string{"Waiting", "Decided", "Done", "Not done", "Advice"}

// A memory is a summary before it is cut to its budget, the most useful first.
type memory struct {
	items []memoryItem
	more  bool // there are operations that were not read
}

type memoryItem struct {
	op    human.Operation
	group int
	head  string // what comes before the description
	lines []memoryLine
}

// A memoryLine is what others wrote, after words of ours.
type memoryLine struct {
	before string
	text   string
	advice bool // it stands among the advice, and not below its operation
}

func newMemory(ops []human.Operation, agents bool) memory {
	m := memory{items: make([]memoryItem, len(ops))}
	for i, op := range ops {
		m.items[i] = remember(op, agents)
	}
	return m
}

// Lengths of what others wrote, in sixths of a token: a line, a description, a name.
const (
	longestLine = 200 * 6
	leastLine   = 12 * 6
	longestHead = 60 * 6
	longestName = 20 * 6
	leastHead   = 8 * 6
)

const memoryTime = "2006-01-02 15:04"

// remember makes an operation's lines, the most useful first; with agents, it says whose the operation is.
func remember(op human.Operation, agents bool) memoryItem {
	item := memoryItem{op: op, group: groupDone}
	status, by := outcome(op), ""
	switch {
	case !op.State.Terminal():
		item.group = groupWaiting
		if op.Overdue {
			status += ", overdue"
		}
	case op.State != human.Completed || op.Result.Verdict == human.WorkCouldNot:
		item.group = groupNotDone
	case op.Result.Decision != "" || op.Kind == human.Plan:
		item.group = groupDecided
	}
	at := op.EndedAt()
	switch {
	case op.Result != nil:
		by = op.Result.By.Name
	case op.Ended != nil:
		by = op.Ended.By.Name
	default:
		at = op.CreatedAt
	}
	if by != "" {
		by = " by " + escape(by, longestName)
	}
	of := ""
	if agents {
		of = ", of " + escape(op.AgentID, longestName)
	}
	item.head = fmt.Sprintf("- **%s**%s, %s (%s, %s%s): ", status, by, at.UTC().Format(memoryTime), op.ID, op.Kind, of)
	item.tell(at)
	return item
}

// tell adds what was said of an operation; at is when it ended, or began where it is open.
func (item *memoryItem) tell(at time.Time) {
	op := item.op
	if op.State == human.WaitingInput && len(op.Messages) > 0 {
		item.add("Asks you", op.Messages[len(op.Messages)-1].Text)
	}
	if r := op.Result; r != nil {
		item.add("Said", r.HumanInput)
		if r.Summary != r.OneLine() { // that is made of the rest
			item.add("Summary", r.Summary)
		}
		item.findings(r.Kept())
		for _, k := range sortedKeys(r.Fields) {
			item.add("Field "+k, r.Fields[k])
		}
		item.add("Response", string(r.Response))
		item.add("Result", r.ExecutionResult)
		for _, c := range r.Comments {
			item.add(strings.TrimSuffix(fmt.Sprintf("At %s:%d, %s", c.File, c.Line, c.Severity), ", "), c.Text)
		}
		for _, f := range r.Focus {
			item.add("Focus "+f.Area, strings.TrimSuffix(f.Verdict+": "+f.Note, ": "))
		}
		for _, s := range r.Steps {
			item.add(fmt.Sprintf("Step %d", s.Step), strings.TrimPrefix(s.Verdict+": "+s.Note, ": "))
		}
	} else if op.Ended != nil {
		item.add("Reason", op.Ended.Reason)
	}
	for _, msg := range op.Messages {
		if op.State.Terminal() && msg.By.Role == human.Operator && msg.At.After(at) {
			item.advise("", msg.Text)
		}
	}
}

// findings adds what an answer found, with the labels by which its agent can ask for the evidence.
func (item *memoryItem) findings(a human.Answer) {
	if len(a.Findings) == 0 {
		for _, text := range a.KeyFindings {
			item.add("Finding", text)
		}
	}
	labels := a.Labels()
	evidence := func(f human.Finding, before string) string {
		var rests []string
		for _, r := range f.Evidence {
			rests = append(rests, labels[r])
		}
		if len(rests) == 0 {
			return ""
		}
		return before + strings.Join(rests, ", ")
	}
	for _, f := range a.Findings {
		label := "Finding"
		if of := evidence(f, ""); of != "" {
			label += " (" + of + ")"
		}
		item.add(label, f.Text)
	}
	for _, f := range a.Suggestions {
		item.advise(evidence(f, ", "), f.Text)
	}
}

func (item *memoryItem) add(label, text string) {
	if escape(text, longestLine) != "" {
		item.lines = append(item.lines, memoryLine{before: fmt.Sprintf("  - %s: ", escape(label, longestName)), text: text})
	}
}

func (item *memoryItem) advise(evidence, text string) {
	if escape(text, longestLine) != "" {
		item.lines = append(item.lines, memoryLine{fmt.Sprintf("- Of %s%s: ", item.op.ID, evidence), text, true})
	}
}

func outcome(op human.Operation) string {
	if op.Kind == human.Plan && op.State.Terminal() {
		return string(op.PlanOutcome())
	}
	if op.Result != nil {
		switch op.Result.Decision {
		case human.Approved:
			return "approved"
		case human.Refused:
			return "denied"
		}
		switch op.Result.Verdict {
		case human.WorkPartly:
			return "partly done"
		case human.WorkCouldNot:
			return "could not be done"
		case human.RequestChanges:
			return "changes requested"
		case human.ReviewComment:
			return "commented"
		case human.ReviewApprove:
			return "approved"
		case "", human.WorkDone:
		}
	}
	if EndOf(op) == EndTimedOut {
		return "timed out"
	}
	return strings.ReplaceAll(string(op.State), "_", " ")
}

const memoryTitle = "# What humans did (times in UTC)\n"

// text is the memory as Markdown of at most so many tokens, with the operations it names. What does not fit is counted at its end.
func (m memory) text(budget int) (string, []human.Operation) {
	named := []human.Operation{}
	if len(m.items) == 0 {
		return "No human has finished anything for you yet.\n", named
	}
	lines := 0
	for _, item := range m.items {
		lines += len(item.lines)
	}
	p := memoryPage{memory: m, heads: make([]string, len(m.items)), lines: make([][]string, len(m.items))}
	p.left = budget*6 - human.TokenSixths(memoryTitle+m.leftOut(len(m.items), lines))
	for i, item := range m.items {
		if p.addHead(i) {
			named = append(named, item.op)
			p.addLines(i, p.left-p.left/3) // the rest is for the others, and for what is left over below
		}
	}
	for i := range m.items {
		if p.heads[i] != "" {
			p.addLines(i, 0)
		}
	}
	operations := len(m.items) - len(named)
	for i, item := range m.items {
		lines -= len(p.lines[i])
		if p.heads[i] == "" {
			lines -= len(item.lines)
		}
	}
	return memoryTitle + p.String() + m.leftOut(operations, lines), named
}

// leftOut says what is not there, and how to read it; "" where that is nothing. For less it is not longer.
func (m memory) leftOut(operations, lines int) string {
	var what []string
	for _, n := range []struct {
		n    int
		name string
	}{{operations, "request"}, {lines, "line"}} {
		switch {
		case n.n == 1:
			what = append(what, "1 "+n.name)
		case n.n > 1:
			what = append(what, fmt.Sprintf("%d %ss", n.n, n.name))
		}
	}
	text := ""
	if len(what) > 0 {
		text = fmt.Sprintf("\nLeft out: %s. More with max_tokens up to %d, or check_result and an operation_id.\n", strings.Join(what, ", "), MostSummary)
	}
	if m.more {
		text += "\nOlder requests were not read; limit says how many are.\n"
	}
	return text
}

// A memoryPage is what is shown of a memory.
type memoryPage struct {
	memory
	heads []string   // of each item; "" where it is left out
	lines [][]string // of each item, the first ones
	begun [len(groupTitles)]bool
	left  int // sixths of a token
}

func groupTitle(group int) string { return "\n## " + groupTitles[group] + "\n" }

// put returns a line with as much of its text as there is room for, and takes what it costs, with the title of its group where that is
// new. It is "" where that is less than least, or less than keep were left then.
func (p *memoryPage) put(group int, before, text string, least, most, keep int) string {
	cost := func(line string) int {
		line += "\n"
		if !p.begun[group] {
			line += groupTitle(group)
		}
		return human.TokenSixths(line)
	}
	room := min(p.left-keep-cost(before), most)
	if text = escape(text, room); room < least && strings.HasSuffix(text, ellipsis) {
		return ""
	}
	if p.left -= cost(before + text); p.left < 0 {
		p.left += cost(before + text)
		return ""
	}
	p.begun[group] = true
	return before + text
}

// addHead shows an item without its lines.
func (p *memoryPage) addHead(i int) bool {
	item := p.items[i]
	p.heads[i] = p.put(item.group, item.head, item.op.Description, leastHead, longestHead, 0)
	return p.heads[i] != ""
}

// addLines shows the next lines of an item, while no less than keep is left.
func (p *memoryPage) addLines(i, keep int) {
	for _, line := range p.items[i].lines[len(p.lines[i]):] {
		group := p.items[i].group
		if line.advice {
			group = groupAdvice
		}
		text := p.put(group, line.before, line.text, leastLine, longestLine, keep)
		if text == "" {
			return
		}
		p.lines[i] = append(p.lines[i], text)
	}
}

func (p *memoryPage) String() string {
	var b strings.Builder
	for group := range groupTitles {
		if p.begun[group] {
			b.WriteString(groupTitle(group))
		}
		for i, item := range p.items {
			if item.group == group && p.heads[i] != "" {
				b.WriteString(p.heads[i] + "\n")
			}
			for n, line := range p.lines[i] {
				if of := item.lines[n]; of.advice && group == groupAdvice || !of.advice && group == item.group {
					b.WriteString(line + "\n")
				}
			}
		}
	}
	return b.String()
}

const ellipsis = "…"

// escape is text of others as one line of Markdown that is nothing but text, of at most so many sixths of a token. It must not
// stand at the start of a line.
func escape(text string, most int) string {
	runes := []rune(strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Cf) && !unicode.IsSpace(r) {
			return -1 // some of them change how the rest is shown
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))), " "))
	var b strings.Builder
	room := most - human.TokenSixths(ellipsis)
	fits := 0 // bytes of b that leave room for an ellipsis
	for i, r := range runes {
		var before, after rune
		if i > 0 {
			before = runes[i-1]
		}
		if i+1 < len(runes) {
			after = runes[i+1]
		}
		cost := human.TokenSixths(string(r))
		if special(before, r, after) {
			b.WriteByte('\\')
			cost += human.TokenSixths(`\`)
		}
		b.WriteRune(r)
		most -= cost
		room -= cost
		if most < 0 {
			return b.String()[:fits] + ellipsis
		}
		if room >= 0 {
			fits = b.Len()
		}
	}
	return b.String()
}

// special says whether Markdown may read a character, between two others (0 where there is none), as more than itself.
func special(before, r, after rune) bool {
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	switch r {
	case '`', '*', '[', '<', '~':
		return true
	case '_':
		return !word(before) || !word(after)
	case '&':
		return after == '#' || word(after)
	case '\\':
		return after == 0 || after < unicode.MaxASCII && (unicode.IsPunct(after) || unicode.IsSymbol(after))
	}
	return false
}
