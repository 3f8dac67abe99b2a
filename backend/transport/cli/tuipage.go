package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	"deskbell/backend/kind"
)

// A readout is what an operator reads of a request. Its texts are visible ones.
type readout struct {
	tongue
	lines []pageLine
}

type pageLine struct {
	text  string
	style lipgloss.Style
	hang  int  // how far its further lines on the screen stand in
	exact bool // it breaks at the edge and not between words
}

var (
	stylePlain = lipgloss.NewStyle()
	styleMinus = lipgloss.NewStyle().Foreground(lipgloss.Red)
)

func (p *readout) add(style lipgloss.Style, text string) {
	p.lines = append(p.lines, pageLine{text: text, style: style})
}

func (p *readout) gap() {
	if n := len(p.lines); n > 0 && p.lines[n-1].text != "" {
		p.add(stylePlain, "")
	}
}

// head begins a part.
func (p *readout) head(english, chinese string, args ...any) {
	p.gap()
	p.add(styleBold, p.t(english, chinese, args...))
}

// item is a line that stands in, as do its further lines.
func (p *readout) item(in, hang int, style lipgloss.Style, text string) {
	p.lines = append(p.lines, pageLine{text: strings.Repeat(" ", in) + text, style: style, hang: hang})
}

// prose is text from elsewhere.
func (p *readout) prose(in int, style lipgloss.Style, text string) {
	for line := range strings.SplitSeq(strings.TrimRight(visible(text), "\n"), "\n") {
		p.item(in, in, style, line)
	}
}

// bytes is text from elsewhere of which each character counts.
func (p *readout) bytes(in int, text string) {
	for line := range strings.SplitSeq(strings.TrimSuffix(visible(text), "\n"), "\n") {
		p.lines = append(p.lines, pageLine{text: strings.Repeat(" ", in) + "│ " + line, hang: in + 2, exact: true})
	}
}

// diff is a unified difference.
func (p *readout) diff(in int, text string) {
	for line := range strings.SplitSeq(strings.TrimRight(visible(text), "\n"), "\n") {
		style := stylePlain
		switch {
		case strings.HasPrefix(line, "+"):
			style = styleGood
		case strings.HasPrefix(line, "-"):
			style = styleMinus
		}
		p.lines = append(p.lines, pageLine{text: strings.Repeat(" ", in) + line, style: style, hang: in + 1, exact: true})
	}
}

// fields are a JSON object's, in the order sent: texts as text, all else as JSON.
func (p *readout) fields(in int, raw json.RawMessage, except ...string) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if _, err := decoder.Token(); err != nil {
		p.bytes(in, string(raw))
		return
	}
	for decoder.More() {
		key, err := decoder.Token()
		var value json.RawMessage
		if err == nil {
			err = decoder.Decode(&value)
		}
		if err != nil {
			return
		}
		name := fmt.Sprint(key)
		if slices.Contains(except, name) {
			continue
		}
		var text string
		if json.Unmarshal(value, &text) != nil {
			var pretty bytes.Buffer
			_ = json.Indent(&pretty, value, "", "  ") // it was decoded, so it is valid
			text = string(escapeLines(pretty.Bytes()))
		}
		if label := visible(name) + ": "; !strings.Contains(text, "\n") {
			p.lines = append(p.lines, pageLine{text: strings.Repeat(" ", in) + label + visible(text), hang: in + 2, exact: true})
		} else {
			p.item(in, in, stylePlain, strings.TrimSpace(label))
			p.bytes(in+2, text)
		}
	}
}

// escapeLines is escapeJSON for JSON of several lines.
func escapeLines(raw []byte) []byte {
	lines := bytes.Split(raw, []byte("\n"))
	for i, line := range lines {
		lines[i] = escapeJSON(line)
	}
	return bytes.Join(lines, []byte("\n"))
}

// laid are the lines for a screen.
func (p *readout) laid(width int) []string {
	var all []string
	for _, line := range p.lines {
		text := strings.ReplaceAll(line.text, "\t", "    ")
		rest := max(8, width-line.hang)
		first, more := breakLine(text, max(8, width), line.exact)
		all = append(all, line.style.Render(first))
		for more != "" {
			first, more = breakLine(more, rest, line.exact)
			all = append(all, line.style.Render(strings.Repeat(" ", line.hang)+first))
		}
	}
	return all
}

// breakLine cuts a line at a width in cells.
func breakLine(text string, width int, exact bool) (first, more string) {
	if ansi.StringWidth(text) <= width {
		return text, ""
	}
	first = ansi.Truncate(text, width, "")
	if first == "" { // a character that is wider
		return text, ""
	}
	if at := strings.LastIndexByte(first, ' '); !exact && text[len(first)] != ' ' && at > len(first)/2 {
		return first[:at], text[at+1:]
	}
	more = text[len(first):]
	if !exact {
		more = strings.TrimLeft(more, " ")
	}
	return first, more
}

// top is what stands above every request.
func (p *readout) top(op human.Operation, title string, now time.Time) {
	facts := []string{oneLine(op.AgentID, 64), p.kind(op.Kind), p.risk(op.Risk, true), p.t("%s ago", "%s前", p.span(now.Sub(op.CreatedAt)))}
	style := stylePlain
	if s, is := styleRisk[op.Risk]; is {
		style = s
	}
	switch {
	case op.State.Terminal():
	case op.Overdue:
		facts = append(facts, p.t("overdue", "已超时"))
	case op.ExpiresAt != nil:
		facts = append(facts, p.t("%s left", "剩余 %s", p.span(op.ExpiresAt.Sub(now))))
	}
	p.prose(0, styleBold, title)
	p.item(0, 0, style, strings.Join(facts, " · "))
	if op.Frozen {
		p.prose(0, stylePlain, p.t("This is from before this desk left its team. You can read it, and not change it.", "这是此工作台退出团队之前的请求，只能查看，不能更改。"))
	}
	if op.ClaimedBy != "" && !op.State.Terminal() {
		p.add(stylePlain, p.t("claimed by %s", "已由 %s 认领", visible(op.ClaimedBy)))
	}
	if asked := op.Asked(); len(asked) > 0 && op.State == human.Pending {
		p.prose(0, stylePlain, p.t("asked: %s", "已询问：%s", strings.Join(asked, p.t(", ", "、"))))
	}
	if h := op.HandOver; h != nil {
		text := p.t("%s handed over to %s", "%s 已转交给 %s", h.By, h.To)
		if h.Note != "" {
			text += p.t(": ", "：") + h.Note
		}
		p.prose(0, stylePlain, text)
	}
	if op.Later != nil {
		p.later(*op.Later)
	}
}

// later is what was decided about it while the desk was offline.
func (p *readout) later(l human.Later) {
	text := p.t("decided offline: ", "离线时的决定：")
	switch l.Does {
	case human.Denies:
		text += p.t("deny", "拒绝")
	case human.Declines:
		text += p.t("decline", "不处理")
	default:
		text += p.t("hand over to %s", "转交给 %s", l.To)
	}
	if l.Text != "" {
		text += p.t(" (%s)", "（%s）", l.Text)
	}
	if l.Late != nil {
		p.prose(0, stylePlain, text+p.t(". Not sent: ", "。未发送：")+p.said(l.Late.Text, *l.Late))
		return
	}
	p.prose(0, stylePlain, text+p.t(". It is sent once this desk is connected.", "。此工作台连接后发送。"))
}

// bottom is what stands below every request.
func (p *readout) bottom(op human.Operation) {
	if len(op.Attachments) > 0 {
		p.head("Files", "文件")
		p.prose(2, stylePlain, attached(op.Attachments))
		p.item(2, 2, styleDim, "deskbell attachments save "+string(op.ID))
	}
	if len(op.Context) > 0 {
		p.head("Context", "上下文")
		p.fields(2, op.Context)
	}
	if len(op.Messages) > 0 {
		p.head("Conversation", "对话")
		for _, m := range op.Messages {
			p.item(2, 4, stylePlain, p.who(m.By)+": "+strings.TrimSpace(indent(m.Text, "    ")))
		}
	}
	p.gap()
	p.add(styleDim, string(op.ID))
	p.lines = append(p.lines, pageLine{text: p.t("The answer counts for these bytes only: sha256 %s", "回答只对这些字节有效：sha256 %s", op.Digest), style: styleDim, exact: true})
}

// request is one of the kinds that have no page of their own.
func (p *readout) request(op human.Operation) {
	asked, is, err := kind.Form(op)
	if len(op.Details) > 0 {
		p.head("Details", "详情")
		var shown []string
		if err == nil && is {
			shown = []string{"response_schema"}
		}
		p.fields(2, op.Details, shown...)
	}
	if err == nil && is && !op.State.Terminal() {
		p.form(asked)
	}
}

// answer is what an operator gave back.
func (p *readout) answer(op human.Operation) {
	p.gap()
	p.add(styleBold, p.stands(op))
	if op.Ended != nil {
		p.prose(2, stylePlain, op.Ended.Reason)
	}
	if op.Result == nil {
		return
	}
	a := op.Result.Answer
	labels := a.Labels()
	findings := listed(a.Findings, labels)
	if findings == "" && len(a.KeyFindings) > 0 {
		findings = "- " + strings.Join(a.KeyFindings, "\n- ")
	}
	for _, part := range []struct{ label, text string }{
		{"", a.HumanInput}, {p.t("Result", "结果"), a.ExecutionResult}, {p.t("Summary", "总结"), a.Summary},
		{p.t("Findings", "要点"), findings}, {p.t("Suggestions", "建议"), listed(a.Suggestions, labels)},
		{p.t("Focus", "重点"), focused(a.Focus)}, {p.t("Comments", "评论"), commented(a.Comments)},
		{p.t("Files", "文件"), attached(a.Files)},
	} {
		if part.text == "" {
			continue
		}
		if part.label != "" {
			p.add(stylePlain, part.label+p.t(":", "："))
		}
		p.prose(2, stylePlain, part.text)
	}
	if asked, _, err := kind.Form(op); err == nil {
		for _, line := range asked.Words(a.Response) {
			p.prose(2, stylePlain, line)
		}
	}
	for _, step := range a.Steps {
		p.item(2, 4, stylePlain, fmt.Sprintf("%d. %s", step.Step, visible(stepLine(p.pick(stepWords[step.Verdict], ""), step.Note))))
	}
	for _, key := range sortedKeys(a.Fields) {
		p.item(2, 4, stylePlain, visible(key)+": "+visible(a.Fields[key]))
	}
}

// callTitle is what a call would do, in a line; in English it is the server's.
func (p *readout) callTitle(q human.Question, english string) string {
	if !p.chinese || len(q.Verdict.Effects) == 0 {
		return english
	}
	title := p.verb(q.Verdict.Effects[0].Verb) + "：" + p.thing(q.Verdict.Effects[0])
	if n := len(q.Verdict.Effects); n > 1 {
		title += fmt.Sprintf("，另有 %d 项", n-1)
	}
	return title
}

// thing is what an effect is on, visible.
func (p *readout) thing(e human.Effect) string {
	if e.Thing != "" {
		return visible(p.said(e.Resource, human.Sentence{Code: e.Thing, Text: e.Resource}))
	}
	return visible(e.Resource)
}

// question is what the gatekeeper asks: the call exactly, why it is asked, what it would do, and the choices.
func (p *readout) question(q human.Question, difference service.Difference) {
	v := q.Verdict
	if q.Task != "" {
		p.item(0, 0, stylePlain, p.t("The agent's task: %s", "智能体的任务：%s", oneLine(q.Task, 400)))
	}
	p.changed(q.Changed)
	p.head("What would run: %s", "将要执行：%s", oneLine(q.Tool, 80))
	var args struct {
		Command *string `json:"command"`
	}
	if json.Unmarshal(q.Args, &args) == nil && args.Command != nil {
		p.bytes(2, *args.Command)
		p.fields(2, q.Args, "command")
	} else if len(q.Args) > 0 {
		p.fields(2, q.Args)
	}
	if q.Cwd != "" {
		p.item(2, 4, stylePlain, p.t("in %s", "位于 %s", visible(q.Cwd)))
	}
	p.head("Why you are asked", "为何询问你")
	facts := []string{p.risk(v.Risk, true)}
	if v.Risk != human.NoRisk {
		facts = append(facts, p.reversal(v.Reversibility), p.blast(v.Blast))
	}
	p.item(2, 4, styleRisk[v.Risk], strings.Join(facts, " · "))
	if v.HardLimit {
		p.item(2, 4, styleBad, p.t("Hard limit: no trust or rule can override it.", "硬性限制：任何信任或规则都不能放宽。"))
	}
	if len(v.Because) == 0 {
		p.item(2, 4, stylePlain, "- "+visible(p.said(v.Reason, v.Said...)))
	}
	for _, b := range v.Because {
		text := visible(p.said(b.Text, b.Said...)) + "  (" + visible(b.Rule) + ")"
		for _, e := range v.Effects {
			if e.Thing != "" && e.Verb == b.Verb && e.Resource == b.Resource {
				text = strings.Replace(text, visible(e.Resource), p.thing(e), 1)
			}
		}
		if b.Trust != nil {
			text += p.t(" trust %.2f", " 信任度 %.2f", *b.Trust)
		}
		p.item(2, 4, stylePlain, "- "+text)
	}
	p.effects(v.Effects)
	p.files(q)
	p.choices(v)
	if len(difference.Files)+len(difference.Text) > 0 {
		p.head("What would change", "将会更改的内容")
		p.prose(2, stylePlain, difference.Text)
		for _, f := range difference.Files {
			p.item(2, 4, styleBold, p.pick(map[string]pair{"added": {"added", "新增"}, "changed": {"changed", "修改"}, "deleted": {"deleted", "删除"}, "moved": {"moved", "移动"}}[f.What], f.What)+" "+visible(f.Path))
			if f.Diff != "" {
				p.diff(2, f.Diff)
			}
		}
		if difference.More > 0 {
			p.item(2, 4, stylePlain, p.t("and %d more files", "另有 %d 个文件", difference.More))
		}
	}
}

// effects are what a call would do, the most severe first.
func (p *readout) effects(list []human.Effect) {
	p.head("What it would do (%d)", "会做什么（%d 项）", len(list))
	widest := 0
	for _, e := range list {
		widest = max(widest, ansi.StringWidth(p.verb(e.Verb)))
	}
	for _, e := range list {
		p.lines = append(p.lines, pageLine{text: "  " + pad(p.verb(e.Verb), widest) + "  " + p.thing(e), style: styleRisk[e.Risk], hang: widest + 4, exact: true})
		facts := []string{p.risk(e.Risk, true), p.certainty(e.Certainty)}
		if e.Risk != human.NoRisk && e.Risk != "" {
			facts = append(facts, p.reversal(e.Reversibility), p.blast(e.Blast))
		}
		if e.Files > 0 {
			facts = append(facts, p.t("%d files", "%d 个文件", e.Files))
		}
		if e.Kept != "" {
			facts = append(facts, p.kept(e.Kept))
		}
		if e.HardLimit {
			facts = append(facts, p.t("hard limit", "硬性限制"))
		}
		if e.Target != "" && e.Target != e.Resource {
			facts = append(facts, visible(e.Target))
		}
		p.item(6, 6, styleDim, strings.Join(facts, " · "))
	}
}

// files are those that the verdict rests on: what runs is what is in them.
func (p *readout) files(q human.Question) {
	if len(q.Files) == 0 || q.Changed != nil {
		return
	}
	p.head("Files that it runs", "它会运行的文件")
	for _, f := range q.Files {
		state := p.pick(map[human.FileState]pair{human.FileRead: {"read", "已读取"}, human.FileAbsent: {"does not exist", "不存在"}, human.FileUnreadable: {"cannot be read", "无法读取"}}[f.State], string(f.State))
		p.item(2, 4, stylePlain, visible(f.Path)+" ("+state+p.t(", %d bytes)", "，%d 字节）", f.Size))
		if f.Text != "" {
			p.bytes(4, f.Text)
		}
	}
}

// changed says why it is asked again.
func (p *readout) changed(c *human.Changed) {
	if c == nil {
		return
	}
	p.head("Asked again: it is not as it was", "再次询问：内容已不同")
	p.item(2, 4, stylePlain, p.pick(map[human.ChangedSince]pair{
		human.SinceQuestion: {"It changed since you were asked. The answer that you gave was not used.", "在询问你之后发生了更改。你之前的回答没有使用。"},
		human.SinceVerdict:  {"It changed since it was judged, a moment ago.", "在刚才判断之后发生了更改。"},
		human.SinceRule:     {"It changed since the rule that allowed it was made.", "在建立允许它的规则之后发生了更改。"},
		human.SinceTool:     {"The tool's server says something else about the tool than before.", "工具的服务器对该工具的说明与之前不同。"},
	}[c.Since], string(c.Since)))
	if c.By != nil {
		p.item(2, 4, stylePlain, p.t("Last written by %s with %s: %s", "最后由 %s 用 %s 写入：%s", visible(c.By.Agent), visible(c.By.Tool), visible(c.By.Path)))
	}
	for _, f := range c.Files {
		p.item(2, 4, styleBold, visible(f.Path)+fmt.Sprintf("  +%d -%d", f.Added, f.Removed))
		if f.Diff != "" {
			p.diff(2, f.Diff)
		}
	}
}

// choices are the answers that there are, with their keys.
func (p *readout) choices(v human.Verdict) {
	p.head("Your choice", "你的选择")
	for _, c := range permissionChoices(v) {
		text := c.key + "  " + p.pick(c.name, "") + p.t(": ", "：") + p.pick(c.does, "")
		if c.Default {
			text += p.t(" (default)", "（默认）")
		}
		p.item(2, 5, stylePlain, text)
		if c.Command != "" {
			p.bytes(5, c.Command)
		}
		if c.Description != "" && c.Action == human.ChooseInstead {
			p.item(5, 5, styleDim, visible(p.said(c.Description, human.Sentence{Code: c.Code, Text: c.Description})))
		}
	}
	if v.Input != nil {
		prompt := human.Sentence{Code: v.Input.Code, Params: human.Params{"must": v.Input.Must}, Text: v.Input.Prompt}
		p.item(2, 5, stylePlain, visible(p.said(v.Input.Prompt, prompt)))
	}
}

// A permissionChoice is a choice with its key and words.
type permissionChoice struct {
	human.Choice
	key        string
	name, does pair
}

// permissionChoices are those that a verdict has, what stops the call first. Denying is always one, and where the call may be allowed
// it may be changed.
func permissionChoices(v human.Verdict) (list []permissionChoice) {
	for _, c := range []permissionChoice{
		{human.Choice{Action: human.ChooseDeny}, "d", pair{"Deny", "拒绝"}, pair{"nothing runs; the agent gets your reason", "不执行任何内容；智能体会收到你的理由"}},
		{human.Choice{Action: human.ChooseInstead}, "i", pair{"Deny and suggest another command", "拒绝，并建议另一条命令"}, pair{"nothing runs; the agent gets this command as a suggestion, which is checked again", "不执行任何内容；智能体会收到下面这条建议命令，调用时会重新检查"}},
		{human.Choice{Action: human.ChooseBackup}, "b", pair{"Back up first, then allow", "先备份，再允许"}, pair{"makes a copy, checks it, then runs exactly this call", "先复制并核对副本，再执行这一次调用"}},
		{human.Choice{Action: human.ChooseBox}, "x", pair{"Run in a box", "在沙箱中运行"}, pair{"runs on a copy of the project, without a network or secrets; then you choose which files to keep", "在项目的副本上运行，没有网络，也没有机密；之后由你选择保留哪些文件"}},
		{human.Choice{Action: human.ChooseChange}, "e", pair{"Change it, then allow", "修改后允许"}, pair{"runs exactly what you write", "只执行你所写的内容"}},
		{human.Choice{Action: human.ChooseAllow}, "a", pair{"Allow once", "允许一次"}, pair{"runs exactly this call, once", "只执行这一次调用"}},
	} {
		at := slices.IndexFunc(v.Choices, func(o human.Choice) bool { return o.Action == c.Action })
		allows := len(v.Choices) == 0 || slices.ContainsFunc(v.Choices, func(o human.Choice) bool { return o.Action == human.ChooseAllow })
		switch {
		case at >= 0:
			c.Choice = v.Choices[at]
			list = append(list, c)
		case c.Action == human.ChooseDeny, allows && (c.Action == human.ChooseChange || c.Action == human.ChooseAllow):
			list = append(list, c)
		}
	}
	return list
}
