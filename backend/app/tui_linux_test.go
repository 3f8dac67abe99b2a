package app_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"deskbell/backend/human"
	"deskbell/backend/store/team"
)

// A pane is a terminal in a tmux of its own.
type pane struct {
	t    testing.TB
	sock string
}

func openPane(t testing.TB, dir string, env []string, script string) pane {
	t.Helper()
	p := pane{t, filepath.Join(t.TempDir(), "tmux")}
	cmd := program(t, dir, append(env, "TERM=screen", "LANG=C.UTF-8"), "-S", p.sock, "-f", "/dev/null", "new-session", "-d", "-x", "110", "-y", "30", "sh", "-c", script, os.Args[0])
	path, err := exec.LookPath("tmux")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path, cmd.Args[0] = path, "tmux"
	runWith(t, cmd).want(t, 0)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the terminal shows\n%s", p.text())
		}
		_ = exec.Command("tmux", "-S", p.sock, "kill-server").Run() // it may have ended
	})
	return p
}

func (p pane) text() string {
	said, _ := exec.Command("tmux", "-S", p.sock, "capture-pane", "-p").Output() // what waits for it says that it is empty
	return string(said)
}

// drawn is the text with its colors.
func (p pane) drawn() string {
	said, _ := exec.Command("tmux", "-S", p.sock, "capture-pane", "-p", "-e").Output() // an empty one has none
	return string(said)
}

// aColor is one that is not the terminal's own.
var aColor = regexp.MustCompile(`\x1b\[(\d+;)*(3[0-7]|9[0-7])[;m]`)

func (p pane) press(keys ...string) {
	p.t.Helper()
	if said, err := exec.Command("tmux", append([]string{"-S", p.sock, "send-keys"}, keys...)...).CombinedOutput(); err != nil {
		p.t.Fatalf("%v: %s", err, said)
	}
}

func (p pane) shows(part string) {
	p.t.Helper()
	waitFor(p.t, part, func() bool { return strings.Contains(p.text(), part) })
}

// A person reads and answers in the inbox on a whole terminal; what an agent sends neither draws nor answers there.
func TestTheInboxOnAWholeTerminal(t *testing.T) {
	t.Parallel()
	run(t, t.TempDir(), nil, "tui").want(t, 3, "needs a terminal")
	d := newFixture(t)
	term := openPane(t, d.dir, nil, `"$0" login && "$0" tui; echo over; read x`)
	code := ""
	waitFor(t, "a code", func() bool { code = aCode.FindString(term.text()); return code != "" })
	term.press(code, "Enter")
	term.shows("Nothing waits. Requests show here")
	details := `{"action":"DROP TABLE old","risk_level":"critical"}`
	answer := d.during(t, []string{"ring", "--type", "approve", "--details", details, "Drop it\x1b[2J\x1b]0;mine\a now"}, func(op human.Operation) {
		term.shows("Drop it⟨U+001B⟩[2J⟨U+001B⟩]0;mine⟨U+0007⟩ now")
		term.press("Enter")
		term.shows("sha256 " + op.Digest[:20])
		term.asks("a", "yes", "C-s")
		term.shows("! To continue, type: approve")
		if now := d.rung(t); now.State.Terminal() {
			t.Error("it was answered without the word")
		}
		term.press("C-u", "approve", "Tab", "do it", "C-s")
		term.shows("Approved.")
	})
	answer.want(t, 0, "approved by", "do it")
	term.press("Escape")
	term.shows("Nothing waits")
	// A narrow terminal, another language of the terminal, and no colors.
	if said, err := exec.Command("tmux", "-S", term.sock, "resize-window", "-x", "50", "-y", "12").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	term.press("Tab", "Tab")
	term.shows("Drop it⟨U+001B⟩")
	if drawn := term.drawn(); !aColor.MatchString(drawn) {
		t.Errorf("a critical risk has no color: %q", drawn)
	}
	term.press("q")
	term.shows("over")
	plain := openPane(t, d.dir, []string{"NO_COLOR=1", "LC_ALL=zh_CN.UTF-8"}, `"$0" tui --code `+d.invite(t)+`; echo over; read x`)
	plain.shows("没有等待的请求")
	plain.press("Tab", "Tab")
	plain.shows("Drop it⟨U+001B⟩")
	if drawn := plain.drawn(); aColor.MatchString(drawn) {
		t.Errorf("colors in spite of NO_COLOR: %q", drawn)
	}
	plain.press("q")
}

// A person decides plans and calls of agents on a terminal of 80 by 24, in both languages: all that the window shows is there, byte by
// byte, and a running plan is paused, changed by skipping, and stopped.
func TestPlansAndCallsOnATerminal(t *testing.T) {
	t.Parallel()
	for _, l := range []struct{ locale, waiting, asked, effect, choice, expected, confirmed, running, paused, skip, skipped, stopped, typed, denied, help string }{
		{"C.UTF-8", "Waiting 2", "Why you are asked", "Delete files", "e  Change it, then allow", "expected: the table\u27e8U+202E\u27e9 is gone", "Confirmed.", "The plan: running, 1 of 3", "The plan is paused", "Number of the task to skip",
			"The task is skipped", "The plan is stopped", "To continue, type: ", "Denied.", "A running plan:"},
		{"zh_CN.UTF-8", "等待中 2", "为何询问你", "删除文件", "e  修改后允许", "预期结果：the table\u27e8U+202E\u27e9 is gone", "已确认。", "计划：执行中，1/3", "计划已暂停", "要跳过的任务编号",
			"已跳过该任务", "计划已停止", "要继续，请输入：", "已拒绝。", "正在执行的计划："},
	} {
		t.Run(l.locale, func(t *testing.T) {
			t.Parallel()
			d := planFixture(t)
			agent := newCaller(t, d.url, strings.TrimPrefix(d.env[0], "DESKBELL_KEY="))
			var st struct {
				Operation human.OperationID `json:"operation_id"`
			}
			agent.good(t, "POST", "/api/plans", map[string]any{"session_id": "release-42", "message": "Release 42 发布第四十二版", "tasks": []map[string]any{
				{"id": "dump", "description": "备份数据库 before anything else", "tool_name": "Bash", "args": map[string]any{"command": "pg_dump shop > /backup/shop.sql"}},
				{"id": "drop", "description": "Drop the old table", "tool_name": "Bash", "args": map[string]any{"command": "psql -c 'DROP TABLE old'\x1b[2J", "timeout": 60}, "expected_outcome": "the table\u202e is gone"},
				{"id": "tell", "description": "Tell the team", "tool_name": "Bash", "args": map[string]any{"command": "echo done"}},
			}}, &st)
			var asked human.Judgement
			agent.good(t, "POST", "/api/gate/evaluate", bash(t, "rm -rf build 旧的文件 \u202egpj.exe"), &asked)

			term := openPane(t, d.dir, []string{"LC_ALL=" + l.locale}, `"$0" tui --code `+d.invite(t)+`; echo over; read x`)
			term.resize("80", "24")
			term.shows(l.waiting)
			term.look("list")
			term.opens("旧的文件")
			term.shows(l.asked)
			term.look("call")
			for _, part := range []string{"│ rm -rf build 旧的文件 ⟨U+202E⟩gpj.exe", l.effect, l.choice} {
				term.readsTo(part)
			}
			term.look("call-2")
			term.asks("d", "C-s")
			term.shows(l.denied)
			term.press("h")

			term.opens("Release 42")
			term.look("plan")
			for _, part := range []string{" 1. 备份数据库", "command: psql -c 'DROP TABLE old'⟨U+001B⟩[2J", "timeout: 60", l.expected, " 3. Tell the team"} {
				term.readsTo(part)
			}
			term.look("plan-2")
			term.asks("a")
			term.shows(l.typed + "confirm")
			term.look("confirm")
			term.press("confirm", "C-s")
			term.shows(l.confirmed)
			term.press("h")
			for _, state := range []string{"running", "done"} {
				agent.good(t, "POST", "/api/plans/release-42/progress", map[string]string{"task_id": "dump", "state": state, "note": "備份 ok"}, nil)
			}
			term.press("Tab")
			term.opens("Release 42")
			term.shows(l.running)
			term.look("run")
			term.asks("p", "C-s")
			term.shows(l.paused)
			term.asks("s")
			term.shows(l.skip)
			term.press("3", "C-s")
			term.shows(l.skipped)
			term.asks("x")
			term.shows(l.typed + "stop")
			term.press("stop", "C-s")
			term.shows(l.stopped)
			term.look("stopped")
			term.press("h", "?")
			term.shows(l.help)
			term.look("help")
			term.press("q", "q")
			var op human.Operation
			d.boss.good(t, "GET", "/api/human/operations/"+string(st.Operation), nil, &op)
			if op.Run == nil || op.Run.State != human.RunStopped || len(op.Run.Tasks) != 3 || op.Run.Tasks[2].State != human.TaskSkipped || len(op.Run.Orders) != 3 {
				t.Errorf("the plan stands as %+v", op.Run)
			}
		})
	}
}

// What a person changes in an editor, or in the arguments of a call, is shown before it is sent, and only that is sent.
func TestChangesOnATerminal(t *testing.T) {
	t.Parallel()
	d := planFixture(t)
	agent := newCaller(t, d.url, strings.TrimPrefix(d.env[0], "DESKBELL_KEY="))
	var st struct {
		Operation human.OperationID `json:"operation_id"`
	}
	agent.good(t, "POST", "/api/plans", map[string]any{"session_id": "s1", "message": "Tidy up", "tasks": []map[string]any{
		{"id": "one", "description": "Tell the team"}, {"id": "two", "description": "Remove it", "tool_name": "Bash", "args": map[string]any{"command": "rm -rf build"}},
	}}, &st)
	term := openPane(t, d.dir, []string{"EDITOR=sed -i s/team/boss/"}, `"$0" tui --code `+d.invite(t)+`; echo over; read x`)
	term.resize("80", "24")
	term.opens("Tidy up")
	term.asks("e")
	term.shows("Your changes")
	for _, part := range []string{"~ 1. Tell the boss", "- Tell the team", "+ Tell the boss", "Now: 2 tasks · high risk · changes something: 1", "To continue, type: modify"} {
		term.shows(part)
	}
	term.look("changes")
	term.press("modify", "Tab", "Only the boss", "C-s")
	term.shows("Sent.")
	var op human.Operation
	d.boss.good(t, "GET", "/api/human/operations/"+string(st.Operation), nil, &op)
	if op.Result == nil || op.Result.Plan == nil || op.Result.Plan.Action != human.ModifyPlan || op.Run.Tasks[0].Description != "Tell the boss" {
		t.Errorf("the plan was answered with %+v", op.Result)
	}
	term.press("h")
	var asked human.Judgement
	agent.good(t, "POST", "/api/gate/evaluate", bash(t, "frobnicate \u202eit"), &asked)
	term.opens("Hides what it does")
	term.asks("e")
	term.shows(`"command": "frobnicate \u202eit"`)
	term.press("C-u", "BSpace", "C-u", "BSpace", "C-u", `{"command":"frobnicate that"}`, "Tab", "change")
	term.look("arguments")
	term.press("C-s")
	term.shows("Allowed as you changed it.")
	d.boss.good(t, "GET", "/api/human/operations/"+string(asked.OperationID), nil, &op)
	if op.Result == nil || op.Result.Choice != human.ChooseChange || string(op.Result.Args) != `{"command":"frobnicate that"}` {
		t.Errorf("the call was answered with %+v", op.Result)
	}
	term.press("q", "q")
}

// A form is filled in one field at a time, and what is wrong is said at the field, as the server would say it.
func TestAFormOnATerminal(t *testing.T) {
	t.Parallel()
	schema := `{"type":"object","title":"Release","properties":{
		"channel":{"type":"string","title":"Which channel?","description":"Where it goes first","oneOf":[{"const":"s","title":"stable\u001b[2J"},{"const":"b","title":"beta"}]},
		"days":{"type":"array","title":"Which days?","items":{"type":"string","enum":["Mon","Tue","Wed"]},"maxItems":2},
		"announce":{"type":"boolean","title":"Announce it?","default":true},
		"users":{"type":"integer","title":"How many users?","minimum":1,"maximum":9},
		"from":{"type":"string","format":"date","title":"From when?","formatMinimum":"2026-11-01"},
		"note":{"type":"string","title":"Release note","minLength":3}},"required":["channel","users","from","note"]}`
	for _, l := range []struct{ locale, form, optional, whole, days, users, missing, date, approved string }{
		{"C.UTF-8", "Form", "optional", "must be of type integer", "at most 2 are allowed", "must be at most 9", "is missing", "is before 2026-11-01", "Approved."},
		{"zh_CN.UTF-8", "表单", "可不填", "", "", "", "", "", "已批准。"},
	} {
		t.Run(l.locale, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			agent := newCaller(t, d.url, strings.TrimPrefix(d.env[0], "DESKBELL_KEY="))
			var op human.Operation
			agent.good(t, "POST", "/api/human/invoke", map[string]any{"action_type": "feedback", "description": "Plan the release", "details": map[string]any{
				"question": "How?", "options": []string{"small", "large", "none"}, "choose": "rank", "rating": map[string]int{"min": 1, "max": 5}, "response_schema": json.RawMessage(schema)}}, &op)
			term := openPane(t, d.dir, []string{"LC_ALL=" + l.locale}, `"$0" tui --code `+d.invite(t)+`; echo over; read x`)
			term.resize("80", "24")
			term.opens("Plan the release")
			term.readsTo("1  stable⟨U+001B⟩[2J")
			term.look("page")
			term.asks("t")
			fill := func(at, typed, wrong string) { // a field, and what is said at it
				term.shows(" " + at + "/9")
				term.press("C-u", typed, "Enter")
				if wrong != "" {
					term.shows("! ")
					term.shows(wrong)
				}
			}
			fill("1", "2，1", "3") // all of a ranking
			term.look("ranking")
			fill("1", "2，1、3", "")
			fill("2", "6", "5")
			fill("2", "4", "")
			fill("3", "3", `"3"`)
			term.look("choice")
			fill("3", "2", "")
			fill("4", "1,2,3", l.days)
			fill("4", "3,1", "")
			term.shows("yes") // what it begins with
			fill("5", "perhaps", "")
			term.shows("! ")
			fill("5", "n", "")
			fill("6", "many", l.whole)
			fill("6", "12", l.users)
			fill("6", "7", "")
			fill("7", "2026-10-31", l.date)
			fill("7", "2026-12-01", "")
			term.shows(" 8/9")
			term.press("ok", "C-s")
			term.shows("3")
			term.shows("! ")
			term.look("text")
			term.press("C-u", "Faster 更快", "Tab")
			term.shows(" 9/9")
			term.press("BTab", "BTab", "BTab", "C-u", "C-s") // a needed one left out
			term.shows(" 6/9")
			term.shows("! " + l.missing)
			term.press("7", "C-s")
			waitFor(t, "an answer", func() bool {
				d.boss.good(t, "GET", "/api/human/operations/"+string(op.ID), nil, &op)
				return op.State == human.Completed
			})
			if want := `{"announce":false,"channel":"b","choice":["large","small","none"],"days":["Wed","Mon"],"from":"2026-12-01","note":"Faster 更快","rating":4,"users":7}`; string(op.Result.Response) != want {
				t.Errorf("%s, want %s", op.Result.Response, want)
			}
			term.press("h")
			// An approval with a form asks it before it approves.
			agent.good(t, "POST", "/api/human/invoke", map[string]any{"action_type": "approve", "description": "Drop it", "details": map[string]any{"action": "drop", "risk_level": "critical",
				"response_schema": json.RawMessage(`{"type":"object","properties":{"backup":{"type":"string","enum":["yes","no"]}},"required":["backup"]}`)}}, &op)
			term.opens("Drop it")
			term.asks("a", "approve", "Tab")
			term.shows(" 2/3")
			term.press("1", "Enter")
			term.shows(" 3/3")
			term.press("C-s")
			term.shows(l.approved)
			d.boss.good(t, "GET", "/api/human/operations/"+string(op.ID), nil, &op)
			if op.Result == nil || string(op.Result.Response) != `{"backup":"yes"}` {
				t.Errorf("%+v", op.Result)
			}
			term.press("q", "q")
		})
	}
}

// A request is handed over on one terminal and claimed on another's.
func TestHandingOverOnATerminal(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	var priya struct{ Code string }
	d.boss.good(t, "POST", "/api/session/codes?operator=Priya", nil, &priya)
	open := func(code string) pane {
		term := openPane(t, d.dir, nil, `"$0" tui --code `+code+`; echo over; read x`)
		term.opens("Is it restored?")
		return term
	}
	d.during(t, []string{"ring", "--type", "feedback", "Is it restored?"}, func(op human.Operation) {
		giver := open(d.invite(t))
		giver.asks("o", "C-s")
		giver.shows("Missing: Name of the other operator")
		giver.press("Priya", "Tab", "I can't check it", "C-s")
		giver.shows("Handed over. It stays where it is until they claim it.")
		giver.shows("handed over to Priya: I can't check it")
		giver.shows("c claim   r release")
		taker := open(priya.Code)
		taker.shows("handed over to Priya: I can't check it")
		waitFor(t, "Priya's claim", func() bool {
			taker.try("c", func() bool { return strings.Contains(taker.text(), "It is yours.") })
			d.boss.good(t, "GET", "/api/human/operations/"+string(op.ID), nil, &op)
			return op.ClaimedBy == "Priya"
		})
		giver.shows("claimed by Priya")
		taker.asks("t", "It is", "C-s")
	}).want(t, 0, "It is")
}

// In a team the terminal counts what is for its operator, and lists the rest below.
func TestATeamOnATerminal(t *testing.T) {
	t.Parallel()
	h, stopHub := startHub(t, t.TempDir(), "127.0.0.1:0", "127.0.0.1:0")
	defer func() { stopHub() }()
	ann, mei := joined(t, h, "Ann", team.OperatorRole), joined(t, h, "Mei", team.OperatorRole)
	// routed is a request with this text, once it is known at Ann's desk who is asked.
	routed := func(text string) (found human.Operation) {
		t.Helper()
		waitFor(t, "who is asked: "+text, func() bool {
			var page struct{ Operations []human.Operation }
			ann.boss.good(t, "GET", "/api/human/operations?state=open", nil, &page)
			for _, op := range page.Operations {
				if op.Description == text {
					found = op
				}
			}
			return len(found.Routing) == 1
		})
		return found
	}
	answer := func(d *fixture, op human.Operation) {
		t.Helper()
		d.boss.good(t, "POST", "/api/human/complete", map[string]any{"operation_id": op.ID, "human_input": "yes", "digest": op.Digest}, nil)
	}
	ann.during(t, []string{"ring", "Asked of Mei?"}, func(human.Operation) {
		ofMei := routed("Asked of Mei?")
		mei.during(t, []string{"ring", "Asked of Ann?"}, func(human.Operation) {
			ofAnn := routed("Asked of Ann?")
			term := openPane(t, ann.dir, nil, `"$0" tui --code `+ann.invite(t)+`; echo over; read x`)
			term.shows("Waiting 1/2")
			term.opens("Asked of Ann?")
			term.shows("asked: Ann")
			answer(ann, ofAnn)
			term.press("Escape")
			term.shows("Waiting 0/1")
			answer(mei, ofMei)
			term.shows("Waiting 0 ")
		}).want(t, 0, "yes")
	}).want(t, 0, "yes")

	// What is declined offline waits.
	mei.bot(t).good(t, "POST", "/api/human/invoke", map[string]any{"action_type": "feedback", "description": "Asked offline?", "timeout": 0}, nil)
	routed("Asked offline?")
	stopHub()
	stopHub = func() {}
	ann.team(t, func(s human.DeskState) bool { return !s.Online })
	term := openPane(t, ann.dir, nil, `"$0" tui --code `+ann.invite(t)+`; echo over; read x`)
	term.opens("Asked offline?")
	term.asks("d", "not now", "C-s")
	term.shows("It waits here, and is sent once that is connected.")
	term.shows("decided offline: decline (not now). It is sent once this desk is connected.")
}

func (p pane) resize(width, height string) {
	p.t.Helper()
	if said, err := exec.Command("tmux", "-S", p.sock, "resize-window", "-x", width, "-y", height).CombinedOutput(); err != nil {
		p.t.Fatalf("%v: %s", err, said)
	}
}

// look keeps what is shown in the folder that DESKBELL_TUI_LOOKS names, and checks that no line is wider than the terminal.
func (p pane) look(name string) {
	p.t.Helper()
	text := p.text()
	for line := range strings.Lines(text) {
		if w := ansi.StringWidth(strings.TrimRight(line, "\n")); w > 80 {
			p.t.Errorf("%s: a line is %d wide: %s", name, w, line)
		}
	}
	if dir := os.Getenv("DESKBELL_TUI_LOOKS"); dir != "" {
		file := filepath.Join(dir, strings.ReplaceAll(p.t.Name(), "/", "-")+"-"+name+".txt")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
}

// opens opens a request of the list.
func (p pane) opens(part string) {
	p.t.Helper()
	p.press("g")
	waitFor(p.t, "the mark at "+part, func() bool {
		text := p.text()
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "> ") && strings.Contains(line, part) {
				return true
			}
		}
		p.try("j", func() bool { return p.text() != text })
		return false
	})
	p.press("Enter")
	p.shows("Esc ")
}

// readsTo goes down until a text is there.
func (p pane) readsTo(part string) {
	p.t.Helper()
	p.press("g")
	waitFor(p.t, part, func() bool {
		if strings.Contains(p.text(), part) {
			return true
		}
		p.press("Down")
		return false
	})
}

// asks presses a key that opens a form until it does, which is half a second after what is open came up, and then others.
func (p pane) asks(key string, then ...string) {
	p.t.Helper()
	form := func() bool { return strings.Contains(p.text(), "── ") && strings.Contains(p.text(), "Ctrl+S") }
	waitFor(p.t, "the form of "+key, func() bool {
		p.try(key, form)
		return form()
	})
	p.press(append([]string{"C-u"}, then...)...) // it may have been pressed more often
}

// try presses a key and gives it a second: on a busy machine, one that is pressed again and again meets what the first one opened.
func (p pane) try(key string, worked func() bool) {
	p.t.Helper()
	p.press(key)
	for end := time.Now().Add(time.Second); !worked() && time.Now().Before(end); {
		<-time.After(20 * time.Millisecond)
	}
}
