package window

import (
	"fmt"
	"strings"
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
	waiting, quitAsk    func(n int) string
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
			OpenApp: "打开 Deskbell", Quit: "退出",
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
		OpenApp: "Open Deskbell", Quit: "Quit",
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
