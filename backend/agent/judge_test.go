package agent_test

import (
	"encoding/json"
	"testing"

	"deskbell/backend/agent"
)

func TestWordsThatAsk(t *testing.T) {
	for _, text := range []string{
		// The conversations of the specification.
		"好的，请问您想去哪里？", "好的，请问想听什么歌？", "好的，想听周杰伦的哪首歌？", "好的，请问是哪个车窗？",
		// Without a question mark, and with other ones.
		"请问您想去哪里", "请告诉我目的地", "请提供出发城市和日期。", "请您选择座位", "您想听什么歌", "你要去哪里呢", "需要打开主驾驶的车窗吗",
		"还差出发日期，麻烦您告诉我。", "没有问题，您想几点出发", "没问题。你想听谁的歌",
		"Where would you like to go?", "Which window should I open? Driver or passenger.", "Please tell me the destination.",
		"I can do that. Please provide the name of the song", "I need to know which window.", "Let me know which one you mean.",
		"Could you give me the address", "What time would suit you", "I still need your date of birth.", "¿A dónde quieres ir?", "إلى أين تريد الذهاب؟",
		"I found two:\n1. Palace Museum\n2. Palace Hotel\n\nWhich one do you mean?", "**Which song?**", "Sure (which song?)",
		"The address https://a.example/?q=1 does not answer. Do you have another one?", "How can I help you?", "有什么可以帮您的吗？",
	} {
		if q, asks := (agent.WordsJudge{}).Asks(agent.Reply{Text: text}, false); !asks || q != text {
			t.Errorf("%q asks, and was taken for an answer", text)
		}
	}
}

func TestWordsThatAnswer(t *testing.T) {
	for _, text := range []string{
		"", " \n", "已经打开主驾驶车窗。", "正在播放周杰伦的《晴天》。", "导航已开始，预计 25 分钟到达故宫。", "没什么问题，已经设好了。", "无论您去哪里，我都会提醒您。",
		"什么都没有找到。", "我知道您想听什么了，马上播放。", "已为您播放《你是谁？》。", "好的，“去哪儿？”这个应用已经打开。", "这说明了您的设备为什么变慢。",
		"已完成。还有什么可以帮您的吗？", "已经打开。如果有其他需要，请随时告诉我。", "车窗已打开，还需要我做别的吗？", "设置好了，有需要随时告诉我。",
		"The window is open.", "Playing Sunny Day by Jay Chou.", "Here is what you asked for.", "I told you which one it is.",
		"Opened https://a.example/?q=where&x=what for you.", "The file has `a ? b : c` in line 3.", "```\nwhat do you want?\n```",
		"The song \"Where Are You Now?\" is playing.", "Done. Is there anything else I can do for you?", "Done. Let me know if you need anything.",
		"All set! Feel free to ask if you have questions.", "Please note that the road is closed.", "What you asked for is in notes.txt.",
		"It asks for a name and how many copies to print.",
	} {
		if _, asks := (agent.WordsJudge{}).Asks(agent.Reply{Text: text}, false); asks {
			t.Errorf("%q is an answer, and was taken for a question", text)
		}
	}
}

func TestAReplyThatCallsAToolAsksNothing(t *testing.T) {
	r := agent.Reply{Text: "Which one?", Calls: []agent.ToolUse{{ID: "1", Name: "search", Args: json.RawMessage(`{}`)}}}
	if _, asks := (agent.WordsJudge{}).Asks(r, false); asks {
		t.Error("words beside a call were taken for a question")
	}
	if _, asks := (agent.StructuredJudge{Otherwise: agent.WordsJudge{}}).Asks(r, false); asks {
		t.Error("words beside a call were taken for a question, by the structured judge")
	}
}

func TestAfterToolsOnlyAQuestionAtTheEndAsks(t *testing.T) {
	for text, want := range map[string]bool{
		"I found two. Which one do you mean?":                                 true,
		"找到两个地点，您要去哪一个？":                                                      true,
		"Why did it fail? The disk was full. I removed the cache.":            false,
		"Next: please confirm the deployment in the console, as before.":      false,
		"请确认一下结果，文件在桌面上。":                                                     false,
		"Done. Would you like anything else?":                                 false,
		"The test asks: does it run? It does.":                                false,
		"It is done. Shall I push it?\n":                                      true,
		"Answered: \"who are you?\"":                                          false,
		"Fixed. The log says `ready?` and nothing else":                       false,
		"I looked at https://a.example/x?y=1 and https://a.example/z?where=2": false,
	} {
		if _, asks := (agent.WordsJudge{}).Asks(agent.Reply{Text: text}, true); asks != want {
			t.Errorf("%q: asks is %v", text, asks)
		}
	}
}

func TestTheModelSaysThatItAsks(t *testing.T) {
	call := func(name, args string) agent.Reply {
		return agent.Reply{Text: "Sure.", Calls: []agent.ToolUse{{ID: "1", Name: name, Args: json.RawMessage(args)}}}
	}
	two := call("ask_user", `{"question":"Where to?"}`)
	two.Calls = append(two.Calls, agent.ToolUse{ID: "2", Name: "ask_user", Args: json.RawMessage(`{"question":" When? "}`)})
	for name, tt := range map[string]struct {
		reply agent.Reply
		judge agent.Judge
		want  string
	}{
		"by the tool":                       {call("ask_user", `{"question":"哪个车窗"}`), agent.StructuredJudge{}, "哪个车窗"},
		"twice":                             {two, agent.StructuredJudge{}, "Where to?\nWhen?"},
		"another tool":                      {call("search", `{"question":"Where?"}`), agent.StructuredJudge{}, ""},
		"with no question":                  {call("ask_user", `{"question":""}`), agent.StructuredJudge{}, ""},
		"with no JSON":                      {call("ask_user", `{"question`), agent.StructuredJudge{Otherwise: agent.WordsJudge{}}, ""},
		"by words, and only the tool tells": {agent.Reply{Text: "Where to?"}, agent.StructuredJudge{}, ""},
		"by words":                          {agent.Reply{Text: "Where to?"}, agent.StructuredJudge{Otherwise: agent.WordsJudge{}}, "Where to?"},
	} {
		if got, asks := tt.judge.Asks(tt.reply, false); got != tt.want || asks != (tt.want != "") {
			t.Errorf("%s: %q, %v", name, got, asks)
		}
	}
}
