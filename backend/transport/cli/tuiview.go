package cli

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"deskbell/backend/human"
)

// Styles use the terminal's own sixteen colors, which its theme makes readable. Where NO_COLOR is set Bubble Tea leaves them out.
var (
	styleBar  = lipgloss.NewStyle().Reverse(true)
	styleDim  = lipgloss.NewStyle().Faint(true)
	styleBold = lipgloss.NewStyle().Bold(true)
	styleMark = lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Cyan)
	styleBad  = lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Red)
	styleGood = lipgloss.NewStyle().Foreground(lipgloss.Green)
	styleRisk = map[human.Risk]lipgloss.Style{
		human.MediumRisk: lipgloss.NewStyle().Foreground(lipgloss.Yellow), human.HighRisk: lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Red),
		human.CriticalRisk: lipgloss.NewStyle().Bold(true).Reverse(true).Foreground(lipgloss.Red),
	}
)

// View implements tea.Model.
func (d *inbox) View() tea.View {
	v := tea.NewView("")
	v.AltScreen = true
	v.WindowTitle = fmt.Sprintf("Deskbell (%d)", len(d.waiting))
	if d.width < 20 || d.height < 6 {
		v.Content = "Deskbell"
		return v
	}
	var body []string
	switch {
	case d.help:
		body = d.wrapped(d.words.help)
	case d.open != nil:
		body = d.page()
	default:
		body = d.rows()
	}
	var foot []string
	if d.form != nil && !d.help {
		foot = d.formLines()
	}
	room := max(1, d.height-2-len(foot))
	if len(body) > room {
		body = body[:room]
	}
	for len(body) < room {
		body = append(body, "")
	}
	lines := append([]string{d.bar()}, body...)
	lines = append(append(lines, foot...), d.status())
	for i, line := range lines {
		lines[i] = ansi.Truncate(line, d.width, "…")
	}
	v.Content = strings.Join(lines, "\n")
	return v
}

func (d *inbox) bar() string {
	live := d.words.live
	if d.away {
		live = d.words.away
	}
	text := fmt.Sprintf(" Deskbell  %s: %d  %s: %d  %s", d.words.waiting, len(d.waiting), d.words.recent, len(d.recent), live)
	if d.open != nil {
		text += "  " + string(d.open.op.ID)
	}
	text = ansi.Truncate(text, d.width, "…")
	return styleBar.Render(text + strings.Repeat(" ", max(0, d.width-ansi.StringWidth(text))))
}

// status is the last line: what happened, else the keys.
func (d *inbox) status() string {
	if d.note != "" {
		if d.bad {
			return styleBad.Render("! " + d.note)
		}
		return styleGood.Render(d.note)
	}
	w := d.words
	switch {
	case d.help:
		return styleDim.Render(w.anyKey)
	case d.form != nil:
		return styleDim.Render(w.formKeys)
	case d.open == nil:
		return styleDim.Render(w.listKeys)
	}
	var keys []string
	if !d.open.op.State.Terminal() {
		for _, a := range d.acts() {
			title := a.title
			if a.now != nil {
				title = w.claim
				if d.open.op.ClaimedBy != "" {
					title = w.release
				}
			}
			keys = append(keys, a.key+" "+title)
		}
	}
	return styleDim.Render(strings.Join(append(keys, w.pageKeys), "  "))
}

// rows are the list.
func (d *inbox) rows() []string {
	list := d.list()
	title := d.words.waiting
	if d.ended {
		title = d.words.recent
	}
	lines := []string{styleBold.Render(title), ""}
	switch {
	case !d.loaded:
		return append(lines, d.words.reading)
	case len(list) == 0 && d.ended:
		return append(lines, d.words.noneRecent)
	case len(list) == 0:
		return append(lines, d.words.none)
	}
	room := max(1, d.height-2-len(lines))
	first := max(0, min(d.at-room/2, len(list)-room))
	now := time.Now()
	for i := first; i < len(list) && i < first+room; i++ {
		op := list[i]
		left := strings.ReplaceAll(string(op.State), "_", " ")
		switch {
		case op.State.Terminal():
		case op.Overdue:
			left = d.words.overdue
		case op.ClaimedBy != "":
			left = oneLine(op.ClaimedBy, 12)
		case op.ExpiresAt != nil:
			left = span(op.ExpiresAt.Sub(now))
		}
		mark := "  "
		if i == d.at {
			mark = styleMark.Render("> ")
		}
		risk := pad(string(cmp.Or(op.Risk, "-")), 8)
		if style, is := styleRisk[op.Risk]; is {
			risk = style.Render(risk)
		}
		text := human.OneLine(op.Description, 200)
		line := mark + pad(span(now.Sub(op.CreatedAt)), 6) + " " + risk + " "
		if d.width >= 90 {
			line = mark + pad(span(now.Sub(op.CreatedAt)), 8) + " " + pad(left, 10) + " " + risk + " " + pad(string(op.Kind), 10) + " " + pad(oneLine(op.AgentID, 16), 16) + " "
		}
		text = oneLine(text, 200)
		if i == d.at {
			text = styleBold.Render(text)
		}
		lines = append(lines, line+text)
	}
	return lines
}

// pad cuts or fills a visible text to a width in cells.
func pad(text string, width int) string {
	text = ansi.Truncate(text, width, "…")
	return text + strings.Repeat(" ", max(0, width-ansi.StringWidth(text)))
}

// body is how many lines the open request has.
func (d *inbox) body() int {
	foot := 0
	if d.form != nil {
		foot = len(d.formLines())
	}
	return max(1, d.height-2-foot)
}

// lay breaks the open request's lines for the screen, and sizes the form.
func (d *inbox) lay() {
	if d.form != nil {
		for i := range d.form.fields {
			f := &d.form.fields[i]
			f.SetWidth(max(10, d.width-2))
			f.SetHeight(1)
			if f.must == "" && len(d.form.fields) <= 2 && d.height > 16 {
				f.SetHeight(3)
			}
		}
	}
	if d.open != nil {
		d.lines = d.wrapped(d.open.text)
	}
	d.scroll = max(0, min(d.scroll, len(d.lines)-d.body()))
}

// wrapped breaks visible text into lines of the screen. It has no escape sequences: visible brackets them.
func (d *inbox) wrapped(text string) []string {
	text = strings.ReplaceAll(strings.TrimRight(text, "\n"), "\t", "    ")
	return strings.Split(ansi.Hardwrap(text, max(10, d.width-1), true), "\n")
}

func (d *inbox) page() []string {
	room := d.body()
	last := min(len(d.lines), d.scroll+room)
	lines := append([]string{}, d.lines[min(d.scroll, last):last]...)
	for i, line := range lines {
		switch trimmed := strings.TrimLeft(line, " "); {
		case strings.HasPrefix(trimmed, "+") && !strings.HasPrefix(trimmed, "+++"):
			lines[i] = styleGood.Render(line)
		case strings.HasPrefix(line, "-") && !strings.HasPrefix(line, "---"):
			lines[i] = lipgloss.NewStyle().Foreground(lipgloss.Red).Render(line)
		case d.scroll == 0 && i == 0:
			lines[i] = styleBold.Render(line)
		}
	}
	if more := len(d.lines) - last; more > 0 && room > 2 && len(lines) > 0 {
		lines[len(lines)-1] = styleDim.Render(fmt.Sprintf(d.words.more, more+1))
	}
	return lines
}

func (d *inbox) formLines() []string {
	lines := []string{styleBold.Render(strings.Repeat("─", 2) + " " + d.form.title + " ")}
	for i := range d.form.fields {
		f := &d.form.fields[i]
		lines = append(lines, f.label+":")
		lines = append(lines, strings.Split(f.View(), "\n")...)
	}
	return lines
}

// phrases are what it says itself. What a request says is the agent's.
type phrases struct {
	waiting, recent, live, away, reading, none, noneRecent, overdue, claimed, gone, more        string
	approve, deny, allow, confirm, change, cancelPlan, answer, decline, message, claim, release string
	reason, optional, typeWord, check, missing, sending                                         string
	saidApprove, saidDeny, saidSent, saidDecline, saidMessage, saidClaim, saidRelease           string
	listKeys, pageKeys, formKeys, anyKey, help                                                  string
}

// tuiWords are those of a language of the settings; "system" and "" go by the environment.
func tuiWords(language string) phrases {
	if isChinese(language) {
		return chinese
	}
	return english
}

var english = phrases{
	waiting: "Waiting", recent: "Ended", live: "live", away: "Deskbell does not answer; trying again", reading: "Reading ...",
	none: "Nothing waits. Requests show here as they come.", noneRecent: "Nothing has ended yet.", overdue: "overdue", claimed: "claimed by", gone: "It ended meanwhile:",
	more:    "... %d more lines, PgDn",
	approve: "approve", deny: "deny", allow: "allow once", confirm: "confirm", change: "say what to change", cancelPlan: "cancel the plan", answer: "answer", decline: "decline",
	message: "message", claim: "claim", release: "release",
	reason: "Reason", optional: "A message for the agent, or nothing", typeWord: "To continue, type:", check: "What would the call do? One of:", missing: "Missing:", sending: "Sending ...",
	saidApprove: "Approved.", saidDeny: "Denied.", saidSent: "Sent.", saidDecline: "Declined.", saidMessage: "The agent has your message.", saidClaim: "It is yours.", saidRelease: "Released.",
	listKeys: "Enter open  Tab waiting/ended  ↑↓ move  r read again  ? help  q quit", pageKeys: "↑↓ PgUp PgDn  Esc back  ? help",
	formKeys: "Ctrl+S send  Tab next field  Esc cancel", anyKey: "Any key goes back.",
	help: `Deskbell on the terminal

The list
  ↑ ↓ j k        move
  Enter          open a request
  Tab            those that wait, those that have ended
  r              read everything again
  q              quit

A request
  ↑ ↓ PgUp PgDn  read on
  a              approve, allow once, confirm a plan
  d              deny, decline, cancel a plan
  t              answer in words; of a plan, say what to change
  m              send the agent a message and let it wait
  c              claim it, or release it
  Esc            back

No single key answers. Each opens a form, and Ctrl+S sends it; of what is dangerous you type a word first.
Keys that answer do nothing for half a second after a request has come up or changed.
Rules, recordings and settings are in the console: deskbell invite makes a link for a browser.
`,
}

var chinese = phrases{
	waiting: "等待中", recent: "已结束", live: "已连接", away: "Deskbell 没有响应，正在重试", reading: "正在读取……",
	none: "没有等待的请求。新请求会显示在这里。", noneRecent: "还没有已结束的请求。", overdue: "已超时", claimed: "已由以下操作者认领", gone: "此请求已结束：",
	more:    "…… 还有 %d 行，按 PgDn",
	approve: "批准", deny: "拒绝", allow: "允许一次", confirm: "确认", change: "说明要修改什么", cancelPlan: "取消计划", answer: "回答", decline: "谢绝",
	message: "消息", claim: "认领", release: "放回",
	reason: "原因", optional: "给智能体的话，可不填", typeWord: "要继续，请输入：", check: "此调用会做什么？请选一项：", missing: "缺少：", sending: "正在发送……",
	saidApprove: "已批准。", saidDeny: "已拒绝。", saidSent: "已发送。", saidDecline: "已谢绝。", saidMessage: "消息已发给智能体。", saidClaim: "已认领。", saidRelease: "已放回。",
	listKeys: "Enter 打开  Tab 等待中/已结束  ↑↓ 移动  r 重新读取  ? 帮助  q 退出", pageKeys: "↑↓ PgUp PgDn  Esc 返回  ? 帮助",
	formKeys: "Ctrl+S 发送  Tab 下一栏  Esc 取消", anyKey: "按任意键返回。",
	help: `终端中的 Deskbell

列表
  ↑ ↓ j k        移动
  Enter          打开请求
  Tab            等待中的、已结束的
  r              全部重新读取
  q              退出

请求
  ↑ ↓ PgUp PgDn  继续阅读
  a              批准、允许一次、确认计划
  d              拒绝、谢绝、取消计划
  t              用文字回答；对计划则说明要修改什么
  m              给智能体发消息并让它等待
  c              认领或放回
  Esc            返回

没有任何单个按键会作出回答：每个按键只打开表单，按 Ctrl+S 才发送；危险的操作要先输入一个词。
请求刚出现或有变化后的半秒内，用来回答的按键不起作用。
规则、录制和设置在控制台中：deskbell invite 会生成浏览器链接。
`,
}
