package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"deskbell/backend/human"
)

// A tongue is the language of the terminal.
type tongue struct {
	chinese   bool
	sentences human.Translation // of what the server says
}

// t is a text in both languages; what stands in it is visible already.
func (l tongue) t(english, chinese string, args ...any) string {
	text := english
	if l.chinese {
		text = chinese
	}
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}

// said are sentences of the server, or the English text where there are none.
func (l tongue) said(text string, list ...human.Sentence) string {
	var all []string
	for _, s := range list {
		all = append(all, l.sentences.Say(s))
	}
	if len(all) == 0 || !l.chinese {
		return text
	}
	return strings.Join(all, "")
}

// A pair is a text in English and in Chinese.
type pair [2]string

func (l tongue) pick(p pair, otherwise string) string {
	switch {
	case p[0] == "":
		return visible(otherwise)
	case l.chinese:
		return p[1]
	}
	return p[0]
}

func (l tongue) verb(v human.EffectVerb) string        { return l.pick(verbWords[v], string(v)) }
func (l tongue) reversal(r human.Reversibility) string { return l.pick(reversalWords[r], string(r)) }
func (l tongue) blast(b human.BlastRadius) string      { return l.pick(blastWords[b], string(b)) }
func (l tongue) certainty(c human.Certainty) string    { return l.pick(certaintyWords[c], string(c)) }
func (l tongue) kept(k human.Kept) string              { return l.pick(keptWords[k], string(k)) }
func (l tongue) state(s human.State) string {
	return l.pick(stateWords[s], strings.ReplaceAll(string(s), "_", " "))
}
func (l tongue) kind(k human.Kind) string { return l.pick(kindWords[k], string(k)) }

// risk is a risk in a word, with "risk" where it is not in a column.
func (l tongue) risk(r human.Risk, long bool) string {
	if r == "" {
		return l.t("no risk given", "未说明风险")
	}
	word := l.pick(riskNames[r], string(r))
	if long {
		return word + l.t(" risk", "风险")
	}
	return word
}

// span is a length of time.
func (l tongue) span(d time.Duration) string {
	if !l.chinese {
		return span(d)
	}
	number, unit, _ := strings.Cut(span(d), " ")
	return number + " " + map[string]string{"s": "秒", "min": "分钟", "h": "小时", "days": "天"}[unit]
}

// who is an actor.
func (l tongue) who(by human.Actor) string {
	if by.Name == "" {
		return l.pick(map[human.Role]pair{human.Agent: {"the agent", "智能体"}, human.Operator: {"the operator", "操作者"}, human.System: {"Deskbell", "Deskbell"}}[by.Role], name(by))
	}
	return visible(by.Name)
}

// stands is how an operation stands or ended, in a line.
func (l tongue) stands(op human.Operation) string {
	switch {
	case op.Result != nil:
		how := pair{"Answered", "已回答"}
		switch op.Result.Decision {
		case human.Approved:
			how = pair{"Approved", "已批准"}
		case human.Refused:
			how = pair{"Denied", "已拒绝"}
		}
		if word, is := verdictWords[op.Result.Verdict]; is {
			how = word
		}
		return l.t("%s by %s after %s", "%s（%s，用时 %s）", l.pick(how, ""), l.who(op.Result.By), l.span(op.Result.At.Sub(op.CreatedAt)))
	case op.Ended != nil:
		return l.t("%s by %s after %s", "%s（%s，用时 %s）", l.state(op.State), l.who(op.Ended.By), l.span(op.Ended.At.Sub(op.CreatedAt)))
	}
	return l.state(op.State)
}

var (
	verdictWords = map[human.WorkVerdict]pair{
		human.WorkDone: {"Done", "已完成"}, human.WorkPartly: {"Partly done", "部分完成"}, human.WorkCouldNot: {"Could not be done", "未能完成"},
		human.ReviewApprove: {"Approved", "已批准"}, human.RequestChanges: {"Changes requested", "已要求修改"}, human.ReviewComment: {"Commented", "已评论"},
	}
	stepWords = map[string]pair{"done": {"done", "已完成"}, "skipped": {"skipped", "已跳过"}, "failed": {"failed", "失败"}}
	verbWords = map[human.EffectVerb]pair{
		"filesystem_read": {"Read files", "读取文件"}, "filesystem_write": {"Write files", "写入文件"}, "filesystem_delete": {"Delete files", "删除文件"},
		"git_read": {"Read the repository", "读取仓库"}, "git_write": {"Change the repository", "更改仓库"}, "git_discard": {"Discard uncommitted work", "丢弃未提交的工作"},
		"git_remote_write": {"Push to a remote repository", "推送到远程仓库"}, "git_history_rewrite": {"Rewrite history", "改写历史"},
		"network_read": {"Read from the network", "从网络读取"}, "network_write": {"Send to the network", "向网络发送"},
		"package_install": {"Install packages", "安装软件包"}, "package_run": {"Run a project program", "运行项目中的程序"}, "lang_exec": {"Run code", "运行代码"},
		"process_signal": {"Stop or signal processes", "停止进程或发送信号"}, "container": {"Change containers", "更改容器"}, "service": {"Change a service", "更改服务"},
		"database": {"Work on a database", "操作数据库"}, "credential_access": {"Read secrets", "读取密钥"}, "persistence": {"Set up something that runs later", "设置以后自动运行的内容"},
		"privilege_escalation": {"Use higher privileges", "以更高权限执行"}, "security_weakening": {"Weaken security", "削弱防护"}, "cost": {"Cost money", "产生费用"},
		"obfuscated": {"Hide what it does", "隐藏其行为"}, "unknown": {"Unknown effect", "未知影响"},
	}
	reversalWords = map[human.Reversibility]pair{
		human.Reversible: {"can be undone", "可撤销"}, human.Costly: {"hard to undo", "难以撤销"}, human.Irreversible: {"cannot be undone", "不可撤销"},
	}
	blastWords = map[human.BlastRadius]pair{
		human.FileBlast: {"affects one file", "影响单个文件"}, human.ProjectBlast: {"affects the project", "影响整个项目"}, human.MachineBlast: {"affects this machine", "影响本机"},
		human.SharedBlast: {"affects shared resources", "影响共享资源"}, human.ProductionBlast: {"affects production", "影响生产环境"}, human.PublicBlast: {"affects the public", "影响公众"},
	}
	certaintyWords = map[human.Certainty]pair{human.Certain: {"certain", "确定"}, human.Likely: {"likely", "很可能"}, human.Possible: {"possible", "可能"}}
	keptWords      = map[human.Kept]pair{
		human.KeptAbsent: {"doesn't exist", "不存在"}, human.KeptNowhere: {"not committed, no copy", "未提交，无副本"}, human.KeptMadeHere: {"created in this session", "本次会话中创建"},
		human.KeptCommitted: {"committed", "已提交"}, human.KeptIgnored: {"ignored", "已忽略"},
	}
	riskNames = map[human.Risk]pair{
		human.NoRisk: {"no", "无"}, human.LowRisk: {"low", "低"}, human.MediumRisk: {"medium", "中"}, human.HighRisk: {"high", "高"}, human.CriticalRisk: {"critical", "极高"},
	}
	kindWords = map[human.Kind]pair{
		human.Approve: {"approval", "审批"}, human.Permission: {"permission", "权限"}, human.Box: {"box", "沙箱"}, human.Plan: {"plan", "计划"}, human.Feedback: {"feedback", "反馈"},
		human.Review: {"review", "评审"}, human.Bash: {"terminal", "终端"}, human.Desktop: {"desktop", "桌面"}, human.Browser: {"browser", "浏览器"},
	}
	stateWords = map[human.State]pair{
		human.Pending: {"pending", "待处理"}, human.Claimed: {"claimed", "已认领"}, human.InProgress: {"in progress", "处理中"}, human.WaitingInput: {"waiting for the agent", "等待智能体"},
		human.Completed: {"completed", "已完成"}, human.Declined: {"declined", "不处理"}, human.Cancelled: {"canceled", "已取消"},
	}
	taskStateWords = map[human.TaskState]pair{
		human.TaskWaiting: {"waiting", "等待中"}, human.TaskRunning: {"running", "执行中"}, human.TaskDone: {"done", "已完成"}, human.TaskFailed: {"failed", "失败"}, human.TaskSkipped: {"skipped", "已跳过"},
	}
	runStateWords = map[human.PlanRunState]pair{
		"waiting": {"not started", "未开始"}, "running": {"running", "执行中"}, "paused": {"paused", "已暂停"}, "stopped": {"stopped", "已停止"}, "finished": {"finished", "已结束"},
	}
	orderWords = map[human.OrderKind]pair{
		human.Pause: {"paused the plan", "已暂停计划"}, human.Resume: {"resumed the plan", "已恢复计划"}, human.Skip: {"skipped a task", "跳过了任务"},
		human.Stop: {"stopped the plan", "已停止计划"}, human.Change: {"changed the remaining tasks", "修改了剩余任务"},
	}
	fieldWords = map[string]pair{
		"description": {"what", "内容"}, "tool_name": {"tool", "工具"}, "type": {"type", "类型"}, "priority": {"priority", "优先级"}, "expected_outcome": {"expected", "预期结果"}, "args": {"arguments", "参数"},
	}
)

// errorText is an error for people.
func (l tongue) errorText(err error) string {
	var e *human.Error
	if errors.As(err, &e) && e.Said.Code != "" {
		return visible(l.said(human.SafeText(err), e.Said))
	}
	return visible(human.SafeText(err))
}

// phrases are what the inbox says itself. What a request says is the agent's.
type phrases struct {
	waiting, running, recent, live, away, reading, none, noneRunning, noneRecent, overdue, gone, more                          string
	approve, deny, confirm, taskByTask, change, cancelPlan, edit, editRest, editHint, answer, decline, message, claim, release string
	pause, resume, skip, skipWhich, stop, noTask, yourChanges, sendChanges, unchanged, keptIn                                  string
	reason, optional, args, badArgs, typeWord, check, missing, sending, askedAgain                                             string
	keep, discard, saidKeep, saidDiscard, handOver, handOverTo, handOverNote, saidHandOver, saidKept                           string
	saidApprove, saidDeny, saidSent, saidDecline, saidMessage, saidClaim, saidRelease, saidConfirm, saidTaskByTask, saidCancel string
	saidAllow, saidBackup, saidBox, saidChange, saidInstead, saidPause, saidResume, saidSkip, saidStop                         string
	listKeys, pageKeys, formKeys, anyKey, help                                                                                 string
}

func (w phrases) lists() [3]string {
	return [...]string{waiting: w.waiting, running: w.running, recent: w.recent}
}

// tuiWords are those of a language of the settings; "system" and "" go by the environment.
func tuiWords(language string) phrases {
	if isChinese(language) {
		return chinese
	}
	return english
}

var english = phrases{
	waiting: "Waiting", running: "Running", recent: "Ended", live: "live", away: "Deskbell does not answer; trying again", reading: "Reading ...",
	none: "Nothing waits. Requests show here as they come.", noneRunning: "No plan runs.", noneRecent: "Nothing has ended yet.", overdue: "overdue", gone: "It ended meanwhile:",
	more:    "... %d more lines, PgDn",
	approve: "approve", deny: "deny", confirm: "confirm", taskByTask: "confirm, ask before each task", change: "say what to change", cancelPlan: "cancel the plan",
	edit: "change the tasks in an editor", editRest: "change the remaining tasks", editHint: "These tasks have not started. Change them, move them, remove some or add some; then save the file and close it.",
	answer: "answer", decline: "decline", message: "message", claim: "claim", release: "release",
	pause: "pause", resume: "resume", skip: "skip a task", skipWhich: "Number of the task to skip; only one that has not started", stop: "stop the plan", noTask: "%s is no task; give a number from 1 to %d",
	yourChanges: "Your changes", sendChanges: "send these changes", unchanged: "You changed nothing.", keptIn: "What you wrote is kept in %s",
	reason: "Reason", optional: "A message for the agent, or nothing", args: "The arguments, in JSON", badArgs: "these arguments are not JSON; correct them, or press Esc",
	typeWord: "To continue, type: ", check: "What would the call do? One of:", missing: "Missing:", sending: "Sending ...",
	askedAgain: "What would run has changed: your answer was not used, and you are asked again.",
	keep:       "keep what does not run by itself or lead out", discard: "discard everything", saidKeep: "Kept.", saidDiscard: "Discarded.",
	saidApprove: "Approved.", saidDeny: "Denied.", saidSent: "Sent.", saidDecline: "Declined.", saidMessage: "The agent has your message.", saidClaim: "It is yours.", saidRelease: "Released.",
	handOver: "hand over", handOverTo: "Name of the other operator", handOverNote: "A note for them, or nothing", saidHandOver: "Handed over. It stays where it is until they claim it.", saidKept: "This desk is offline. It waits here, and is sent once that is connected.",
	saidConfirm: "Confirmed.", saidTaskByTask: "Confirmed. You are asked again before each task.", saidCancel: "The plan is canceled.",
	saidAllow: "Allowed once.", saidBackup: "Backed up, then allowed.", saidBox: "It runs in a box. You are asked which files to keep.", saidChange: "Allowed as you changed it.", saidInstead: "Denied, with the other command as a suggestion.",
	saidPause: "The plan is paused: no task starts.", saidResume: "The plan continues.", saidSkip: "The task is skipped.", saidStop: "The plan is stopped: no further task starts.",
	listKeys: "Enter open  Tab next list  ↑↓ move  r read again  ? help  q quit", pageKeys: "↑↓ PgUp PgDn read  Esc back  ? help",
	formKeys: "Ctrl+S send  Tab next field  PgUp PgDn read  Esc cancel", anyKey: "Any key goes back.",
	help: `Deskbell on the terminal

The list
  Enter  open       Tab  waiting, running plans, ended     ↑ ↓  move
  r  read again     q  quit

A request           ↑ ↓ PgUp PgDn  read on     Esc  back
  a  approve, allow once, confirm a plan     m  message the agent; it waits
  d  deny, decline, cancel a plan            c  claim it, or release it
  t  answer, also in its form; or what to    o  hand it over, with a note;
     change of a plan                        r  then releases it
  A permission also:  b back up first   i suggest another command   e change it
  A plan also:        e change its tasks   s confirm, ask before each task
  A running plan:     p pause, resume   s skip a task   e change   x stop

No single key answers. Each opens a form, and Ctrl+S sends it; of what is
dangerous you type a word first. Keys that answer do nothing for half a second
after a request has come up or changed.
A form is filled in one field at a time: Enter checks a field and goes to the
next, Tab goes there without, Ctrl+S checks all.
Rules, recordings and settings are in the console: deskbell invite.
`,
}

var chinese = phrases{
	waiting: "等待中", running: "正在执行", recent: "已结束", live: "已连接", away: "Deskbell 没有响应，正在重试", reading: "正在读取……",
	none: "没有等待的请求。新请求会显示在这里。", noneRunning: "没有正在执行的计划。", noneRecent: "还没有已结束的请求。", overdue: "已超时", gone: "此请求已结束：",
	more:    "…… 还有 %d 行，按 PgDn",
	approve: "批准", deny: "拒绝", confirm: "确认", taskByTask: "确认，并在每个任务前询问", change: "告诉智能体要改什么", cancelPlan: "取消计划",
	edit: "在编辑器中修改任务", editRest: "修改剩余任务", editHint: "这些任务尚未开始。可以修改、移动、移除或添加任务；然后保存并关闭文件。",
	answer: "回答", decline: "不处理", message: "消息", claim: "认领", release: "退回队列",
	pause: "暂停", resume: "恢复", skip: "跳过任务", skipWhich: "要跳过的任务编号；只能是尚未开始的任务", stop: "停止计划", noTask: "%s 不是任务；请输入 1 到 %d 之间的编号",
	yourChanges: "你的修改", sendChanges: "发送这些修改", unchanged: "你没有修改任何内容。", keptIn: "你写的内容保存在 %s",
	reason: "理由", optional: "给智能体的话，可不填", args: "参数（JSON）", badArgs: "这些参数不是 JSON；请改正，或按 Esc",
	typeWord: "要继续，请输入：", check: "此调用会做什么？请选一项：", missing: "缺少：", sending: "正在发送……",
	askedAgain: "将要执行的内容已更改：你的回答没有使用，现在再次询问你。",
	keep:       "保留不会自行运行、也不指向项目之外的内容", discard: "全部丢弃", saidKeep: "已保留。", saidDiscard: "已丢弃。",
	saidApprove: "已批准。", saidDeny: "已拒绝。", saidSent: "已发送。", saidDecline: "已标记为不处理。", saidMessage: "消息已发给智能体。", saidClaim: "已认领。", saidRelease: "已退回队列。",
	handOver: "转交", handOverTo: "另一位操作者的名字", handOverNote: "给对方的备注，可不填", saidHandOver: "已转交。在对方认领之前，归属不变。", saidKept: "此工作台处于离线状态。它在这里等待，连接后发送。",
	saidConfirm: "已确认。", saidTaskByTask: "已确认。每个任务执行前都会询问你。", saidCancel: "计划已取消。",
	saidAllow: "已允许一次。", saidBackup: "已备份，并已允许。", saidBox: "在沙箱中运行。之后会询问你保留哪些文件。", saidChange: "已按你的修改允许。", saidInstead: "已拒绝，并建议了另一条命令。",
	saidPause: "计划已暂停：不会开始新的任务。", saidResume: "计划继续执行。", saidSkip: "已跳过该任务。", saidStop: "计划已停止：不会再开始任务。",
	listKeys: "Enter 打开  Tab 下一个列表  ↑↓ 移动  r 重新读取  ? 帮助  q 退出", pageKeys: "↑↓ PgUp PgDn 阅读  Esc 返回  ? 帮助",
	formKeys: "Ctrl+S 发送  Tab 下一栏  PgUp PgDn 阅读  Esc 取消", anyKey: "按任意键返回。",
	help: `终端中的 Deskbell

列表
  Enter  打开       Tab  等待中、正在执行的计划、已结束     ↑ ↓  移动
  r  重新读取       q  退出

请求                ↑ ↓ PgUp PgDn  继续阅读     Esc  返回
  a  批准、允许一次、确认计划          m  给智能体发消息，让它等待
  d  拒绝、不处理、取消计划            c  认领或退回队列
  t  用文字或表单回答；                o  转交，可附备注；
     或告诉智能体要改什么              r  将已转交的退回队列
  权限还有：        b 先备份   i 建议另一条命令   e 修改
  计划还有：        e 修改任务   s 确认，并在每个任务前询问
  正在执行的计划：  p 暂停、恢复   s 跳过任务   e 修改   x 停止

没有任何单个按键会作出回答：每个按键只打开表单，按 Ctrl+S 才发送；
危险的操作要先输入一个词。请求刚出现或有变化后的半秒内，
用来回答的按键不起作用。
表单每次填写一栏：Enter 检查此栏并到下一栏，Tab 不检查，
Ctrl+S 检查全部。
规则、录制和设置在控制台中：deskbell invite。
`,
}
