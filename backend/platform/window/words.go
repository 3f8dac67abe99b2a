package window

import (
	"fmt"
	"strings"
	"time"

	"deskbell/backend/human"
)

// Words are the few texts the system shows for the program while no page is there to translate them.
type Words struct {
	Approve, Deny, Open string // buttons of a notification
	OpenApp, Quit       string // tray menu
	Recording, Paused   string // the tray, while work is recorded
	Pause, GoOn         string
	Stop, Discard       string
	NotRecorded         string // title of the notification that recording did not do what a key or the tray asked
	NotSent             string // title of the notification that an answer did not arrive
	Failed              string // title of the dialog when the program cannot start
	QuitTitle           string
	DiscardQuestion     string
	Quiet, quietOff     string
	quietFor            [3]string // QuietTimes
	quietUntil          string    // with a time
	quietSystem         string
	critical, record    string
	gatekeeper          string
	settings, more      string // more: with a number
	newer               string // with a version
	shortcuts           [3]string
	policies            map[string]string
	someAgents          string // with a number
	noAgents            string
	Crashed, crashed    string // title and text of the notification that the last run did not end well; the text with a path
	risks               map[human.Risk]string
	waiting, quitAsk    func(n int) string
}

// CrashText says where the report of a crash is.
func (w Words) CrashText(path string) string { return fmt.Sprintf(w.crashed, path) }

// QuietNow says until when the operator is not to be disturbed, or why.
func (w Words) QuietNow(q Quiet, now time.Time) string {
	if !q.Until.After(now) {
		return w.quietSystem
	}
	layout := "15:04"
	if until := q.Until.In(now.Location()); until.YearDay() != now.YearDay() || until.Year() != now.Year() {
		layout = "01-02 15:04"
	}
	return fmt.Sprintf(w.quietUntil, q.Until.In(now.Location()).Format(layout))
}

// request is a line about a request that waits: what an agent wrote is shortened to what can be read.
func (w Words) request(op human.Operation) string {
	line := Plain(human.OneLine(op.Description, 200), 48)
	if line == "" {
		line = string(op.ID)
	}
	line += " · " + Plain(op.AgentID, 24)
	if risk := w.risks[op.Risk]; risk != "" {
		line += " · " + risk
	}
	return line
}

// policy is the entry of the gatekeeper.
func (w Words) policy(name string) string {
	if says := w.policies[name]; says != "" {
		return says
	}
	return w.gatekeeper
}

// connected is the entry of the agents.
func (w Words) connected(n int) string {
	if n == 0 {
		return w.noAgents
	}
	return fmt.Sprintf(w.someAgents, n)
}

// Waiting says how many operations wait for an answer.
func (w Words) Waiting(n int) string { return w.waiting(n) }

// QuitQuestion asks whether to quit although n operations wait.
func (w Words) QuitQuestion(n int) string { return w.quitAsk(n) }

// WordsFor returns the words of a locale such as "zh-CN" or "en_GB.UTF-8"; English for those it has not.
func WordsFor(locale string) Words {
	if l := strings.ToLower(locale); l == "zh" || strings.HasPrefix(l, "zh-") || strings.HasPrefix(l, "zh_") {
		return Words{
			Approve: "批准", Deny: "拒绝", Open: "打开",
			OpenApp: "打开 Deskbell", Quit: "退出…",
			Quiet: "免打扰", quietOff: "关闭免打扰", quietFor: [3]string{"30 分钟", "2 小时", "到明天 08:00"}, quietUntil: "免打扰至 %s", quietSystem: "免打扰（跟随系统）",
			critical: "仍显示极高风险的请求", record: "开始录制…", gatekeeper: "守门人", settings: "设置", more: "还有 %d 个",
			shortcuts: [3]string{"键盘交给卡片，或打开 Deskbell", "开始、暂停或继续录制", "停止录制"},
			newer:     "新版本 %s 可用…", someAgents: "智能体：已连接 %d 个", noAgents: "智能体：尚未连接",
			policies: map[string]string{
				"permissive": "守门人：宽松，高风险或超出本机时询问", "balanced": "守门人：平衡，中风险及以上时询问", "strict": "守门人：严格，除只读外都询问",
			},
			Crashed: "Deskbell 上次意外停止", crashed: "请求都已保存。报告（不含密钥）：%s",
			risks:     map[human.Risk]string{human.LowRisk: "低风险", human.MediumRisk: "中风险", human.HighRisk: "高风险", human.CriticalRisk: "极高风险"},
			Recording: "正在录制", Paused: "录制已暂停", Pause: "暂停录制", GoOn: "继续录制", Stop: "停止录制", Discard: "丢弃录制",
			NotRecorded: "录制",
			NotSent:     "回答未送达", Failed: "Deskbell 无法启动", QuitTitle: "退出 Deskbell？",
			DiscardQuestion: "要丢弃这次录制吗？已记录的内容会被删除，无法恢复。",
			waiting: func(n int) string {
				if n == 0 {
					return "没有待处理的请求"
				}
				return fmt.Sprintf("%d 个请求等待处理", n)
			},
			quitAsk: func(n int) string {
				return fmt.Sprintf("还有 %d 个请求等待处理。它们会保留在队列中，但在 Deskbell 再次启动之前，智能体得不到回答。要退出吗？", n)
			},
		}
	}
	return Words{
		Approve: "Approve", Deny: "Deny", Open: "Open",
		OpenApp: "Open Deskbell", Quit: "Quit…",
		Quiet: "Do not disturb", quietOff: "Turn off", quietFor: [3]string{"For 30 minutes", "For 2 hours", "Until tomorrow 08:00"},
		quietUntil: "Do not disturb until %s", quietSystem: "Do not disturb, as the system",
		critical: "Still show critical ones", record: "Start recording…", gatekeeper: "Gatekeeper", settings: "Settings", more: "%d more",
		shortcuts: [3]string{"Give the keyboard to the card, or open Deskbell", "Start, pause or continue a recording", "Stop the recording"},
		newer:     "Version %s is available…", someAgents: "Agents: %d connected", noAgents: "Agents: none connected",
		policies: map[string]string{
			"permissive": "Gatekeeper: permissive, asks at high risk or beyond this machine", "balanced": "Gatekeeper: balanced, asks at medium risk and above",
			"strict": "Gatekeeper: strict, asks unless it only reads",
		},
		Crashed: "Deskbell stopped unexpectedly", crashed: "Every request is stored. The report, without secrets: %s",
		risks:     map[human.Risk]string{human.LowRisk: "low risk", human.MediumRisk: "medium risk", human.HighRisk: "high risk", human.CriticalRisk: "critical risk"},
		Recording: "Recording", Paused: "Recording paused", Pause: "Pause recording", GoOn: "Continue recording", Stop: "Stop recording", Discard: "Discard recording",
		NotRecorded: "Recording",
		NotSent:     "Answer not delivered", Failed: "Deskbell cannot start", QuitTitle: "Quit Deskbell?",
		DiscardQuestion: "Discard this recording? What was recorded is deleted and cannot be brought back.",
		waiting: func(n int) string {
			switch n {
			case 0:
				return "Nothing is waiting"
			case 1:
				return "1 request is waiting"
			default:
				return fmt.Sprintf("%d requests are waiting", n)
			}
		},
		quitAsk: func(n int) string {
			waiting := "1 request is"
			if n != 1 {
				waiting = fmt.Sprintf("%d requests are", n)
			}
			return waiting + " still waiting. They stay in the queue, but their agents get no answer until Deskbell runs again. Quit anyway?"
		},
	}
}
