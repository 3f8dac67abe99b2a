package builtin

import (
	"slices"
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/summarizers"
	"deskbell/summarizers/builtin/say"
)

func TestWhatAnAnswerSays(t *testing.T) {
	ask := func(kind human.Kind, description, details string) summarizers.Input {
		return summarizers.Input{Version: 1, Operation: human.Operation{ID: "op_1", Kind: kind, Description: description, Details: []byte(details)}}
	}
	talk := func(in summarizers.Input, messages ...string) summarizers.Input {
		for _, m := range messages {
			role := human.Operator
			if rest, ok := strings.CutPrefix(m, "agent: "); ok {
				role, m = human.Agent, rest
			}
			in.Operation.Messages = append(in.Operation.Messages, human.Message{By: human.Actor{Role: role}, Text: m})
		}
		return in
	}
	with := func(in summarizers.Input, a human.Answer) summarizers.Input { in.Answer = a; return in }
	deploy := ask(human.Approve, "确认是否部署到生产环境？", `{"action":"执行 kubectl apply -f prod-deployment.yaml","impact":"将更新 5 个微服务","risk_level":"high","rollback_plan":"执行 rollback.sh"}`)
	review := ask(human.Review, "请审查这段用户认证代码", `{"file_path":"/workspace/auth.py","focus_areas":["安全性","性能","可读性"],"tests_passed":true}`)
	psql := ask(human.Bash, "请手动配置数据库连接", `{"why_agent_cant":"需要交互式输入密码","required_action":"运行 psql 命令并输入密码"}`)
	navigate := ask(human.Feedback, "我想导航", `{}`)
	for name, tt := range map[string]struct {
		in             summarizers.Input
		line, found    string // in English
		lineZh         string
		never, suggest string
	}{
		"approved, with words": {
			in:    with(deploy, human.Answer{Decision: human.Approved, HumanInput: "可以，晚上八点以后。"}),
			line:  "Approved: 可以，晚上八点以后",
			found: "outcome: Approved: 执行 kubectl apply -f prod-deployment.yaml - the operator says: 可以，晚上八点以后", lineZh: "已批准：可以，晚上八点以后"},
		"approved, without": {
			in:    with(deploy, human.Answer{Decision: human.Approved}),
			line:  "Approved: 执行 kubectl apply -f prod-deployment.yaml",
			found: "outcome: Approved: 执行 kubectl apply -f prod-deployment.yaml", lineZh: "已批准：执行 kubectl apply -f prod-deployment.yaml"},
		"denied": {
			in:      with(deploy, human.Answer{Decision: human.Refused, HumanInput: "Not on a Friday. Ask again on Monday."}),
			line:    "Denied: Not on a Friday",
			found:   "outcome: Denied: 执行 kubectl apply -f prod-deployment.yaml - the operator says: Not on a Friday\nnote: The operator says: Ask again on Monday",
			suggest: "Do not go on; change the plan to what the operator says, and ask again", lineZh: "已拒绝：Not on a Friday"},
		"a review, of which a part is not spoken about": {
			in:    with(review, human.Answer{HumanInput: "1. 密码比较存在时序攻击，不安全\n2. 函数太长，可读性差"}),
			line:  "1. 密码比较存在时序攻击，不安全; Nothing was said about “性能”",
			found: "undone: Nothing was said about “性能”\nnote: The operator says: 1. 密码比较存在时序攻击，不安全\nnote: The operator says: 2. 函数太长，可读性差",
			never: "“安全性”没有", lineZh: "1. 密码比较存在时序攻击，不安全；没有提到“性能”"},
		"a review in another language": {
			in:    with(review, human.Answer{HumanInput: "The password check is vulnerable to timing; it is fast enough. Clear code."}),
			line:  "The password check is vulnerable to timing",
			found: "note: The operator says: The password check is vulnerable to timing\nnote: The operator says: it is fast enough\nnote: The operator says: Clear code", lineZh: ""},
		"a command that was run": {
			in:    with(psql, human.Answer{ExecutionResult: "psql (16.2)\nSSL connection\nappdb=>"}),
			line:  "psql (16.2)",
			found: "outcome: Result: psql (16.2) … appdb=>", lineZh: "psql (16.2)"},
		"a command that failed": {
			in:    with(psql, human.Answer{ExecutionResult: "psql: error: connection to server failed: FATAL: password authentication failed"}),
			line:  "psql: error: connection to server failed: FATAL: password authentication failed",
			found: "error: The result speaks of an error: psql: error: connection to server failed: FATAL: password authentication failed", lineZh: ""},
		"a command that went without errors": {
			in:    with(psql, human.Answer{ExecutionResult: "done, no errors"}),
			line:  "done, no errors",
			found: "outcome: Result: done, no errors", lineZh: ""},
		"a page that was checked": {
			in:    with(ask(human.Browser, "请检查登录页面", `{"url":"https://example.com","action":"login"}`), human.Answer{HumanInput: "登录页面正常，验证码在右下角。密码最小 8 位。", ExecutionResult: "成功"}),
			line:  "登录页面正常，验证码在右下角; 成功",
			found: "outcome: Result: 成功\nnote: The operator says: 登录页面正常，验证码在右下角\nnote: The operator says: 密码最小 8 位", lineZh: "登录页面正常，验证码在右下角；成功"},
		"a plan that is to be changed": {
			in:    with(ask(human.Approve, "规划了 3 个任务，请确认是否执行", `{"tasks":[{"description":"删除旧日志","tool":"bash"}],"risk_level":"high"}`), human.Answer{Decision: human.Refused, HumanInput: "先备份，再删除"}),
			line:  "Denied: 先备份，再删除",
			found: "outcome: Denied - the operator says: 先备份，再删除", suggest: "Do not go on; change the plan to what the operator says, and ask again", lineZh: "已拒绝：先备份，再删除"},
		"a wait for what was expected": {
			in:    with(ask(human.Feedback, "在测试环境验证流程是否正确", `{"expected_result":"收到测试短信并成功验证"}`), human.Answer{HumanInput: "收到了测试短信，验证成功。"}),
			line:  "收到了测试短信，验证成功",
			found: "outcome: As expected (“收到测试短信并成功验证”): the operator says “收到了测试短信，验证成功”\nnote: The operator says: 收到了测试短信，验证成功", lineZh: ""},
		"fields": {
			in:    with(ask(human.Feedback, "Fill in", `{"data_to_extract":["total","plan"]}`), human.Answer{Fields: map[string]string{"total": "41"}}),
			line:  "total: 41; 1 field is missing",
			found: "value: total: 41 (filled in by hand)\nundone: plan: not found; it was asked for and no value was given", lineZh: ""},
		"a conversation": {
			in:    talk(navigate, "agent: 好的，请问您想去哪里？", "去故宫"),
			line:  "The agent asked: 好的，请问您想去哪里？ The operator answered: 去故宫",
			found: "note: The agent asked: 好的，请问您想去哪里？ The operator answered: 去故宫", lineZh: "智能体问：好的，请问您想去哪里？ 操作者答：去故宫"},
		"two questions of the agent": {
			in:    talk(navigate, "agent: 好的，请问想听什么歌？", "周杰伦的", "agent: 好的，想听周杰伦的哪首歌？", "晴天"),
			line:  "The agent asked: 好的，请问想听什么歌？ The operator answered: 周杰伦的",
			found: "note: The agent asked: 好的，请问想听什么歌？ The operator answered: 周杰伦的\nnote: The agent asked: 好的，想听周杰伦的哪首歌？ The operator answered: 晴天", lineZh: ""},
		"a question left open": {
			in:      talk(deploy, "agent: Shall I go on?", "On which cluster? I have two."),
			line:    "The operator's question is open: On which cluster?",
			found:   "undone: The operator's question is open: On which cluster?\nnote: The agent asked: Shall I go on? The operator answered: On which cluster? I have two.",
			suggest: "Answer the operator: On which cluster?", lineZh: "操作者的提问尚未得到回答：On which cluster?"},
		"nothing": {
			in: deploy, line: "No answer yet: 确认是否部署到生产环境？", found: "", lineZh: "尚未答复：确认是否部署到生产环境？"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, lang := range []string{say.English, say.Chinese} {
				in := tt.in
				in.Language = lang
				for _, s := range []summarizers.Summarizer{answer(), joined()} {
					r := report(t, s, in)
					line := tt.line
					if lang == say.Chinese {
						line = tt.lineZh
					}
					if line != "" && r.Line != line {
						t.Errorf("%s, %s: the line is %q, want %q", s.About().Name, lang, r.Line, line)
					}
					if got := said(r.Findings); lang == say.English && s.About().Name == "answer" && lines(got) != lines(tt.found) {
						t.Errorf("found\n%s\nwant\n%s", got, tt.found)
					}
					if tt.suggest != "" && lang == say.English && !slices.ContainsFunc(r.Suggestions, func(f human.Finding) bool { return f.Text == tt.suggest }) {
						t.Errorf("%s suggests %s", s.About().Name, said(r.Suggestions))
					}
					if tt.never != "" && strings.Contains(r.Line+r.Text+said(r.Findings), tt.never) {
						t.Errorf("says %s", tt.never)
					}
				}
			}
		})
	}
}

// What is said in one line now is never less than what was said before.
func TestTheLineOfAnAnswerSaysWhatItSaidBefore(t *testing.T) {
	for _, a := range []human.Answer{
		{Decision: human.Approved, HumanInput: "go\nahead"}, {Decision: human.Refused}, {ExecutionResult: "exported", Fields: map[string]string{"x": "1"}},
		{HumanInput: "It works. Two tests are skipped."},
	} {
		in := summarizers.Input{Version: 1, Language: say.English, Operation: human.Operation{ID: "op_1", Kind: human.Feedback, Description: "What do you think"}, Answer: a}
		line := report(t, answer(), in).Line
		for part := range strings.SplitSeq(a.OneLine(), ": ") {
			if part = strings.Split(part, ".")[0]; !strings.Contains(line, part) && part != "1 field filled in" {
				t.Errorf("%q does not say %q", line, part)
			}
		}
	}
}
