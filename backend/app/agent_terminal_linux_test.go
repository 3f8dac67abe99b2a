package app_test

import (
	"strings"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/llm/llmtest"
)

// A run that asks continues whoever answers first: the person at its terminal, or one in the inbox; in the terminal's language.
func TestARunIsAnsweredInItsTerminal(t *testing.T) {
	t.Parallel()
	d := newWorkplace(t, "anthropic")
	d.script(func(news string, q llmtest.Request) llmtest.Answer {
		switch {
		case len(q.Turns) == 1:
			return calls("ask_human", object{"question": "Which port?"})
		case strings.Contains(news, "8080"):
			return calls("ask_human", object{"question": "And which host?"})
		case strings.Contains(news, "db1"):
			return llmtest.Answer{Text: "It is db1:8080."}
		}
		return llmtest.Answer{Text: "I do not know what to do with: " + news}
	})
	env := []string{
		"DESKBELL_KEY=" + d.key, "DESKBELL_MODEL_PROVIDER=" + d.provider, "DESKBELL_MODEL_NAME=" + llmtest.Model, "DESKBELL_MODEL_BASE_URL=" + d.modelURL,
		"DESKBELL_MODEL_KEY=" + llmtest.Key,
	}
	for lang, here := range map[string]string{"en_US.UTF-8": "Answer here", "zh_CN.UTF-8": "在此输入回答"} {
		t.Run(lang, func(t *testing.T) {
			term := openPane(t, d.dir, append(env, "LC_ALL="+lang), `"$0" agent run --cwd /tmp "Find the server"; echo "over $?"; read x`)
			term.shows("Which port?")
			term.shows(here)
			waitFor(t, "the question in the inbox", func() bool { return len(d.all(t, human.Feedback))%2 == 1 })
			term.press("80", "80", "Enter")
			term.shows("And which host?")
			waitFor(t, "the second question in the inbox", func() bool { return len(d.all(t, human.Feedback))%2 == 0 })
			typed := d.all(t, human.Feedback)[1]
			if !typed.State.Terminal() || typed.Result != nil {
				t.Errorf("the question that was answered in the terminal: %+v", typed)
			}
			d.answer(t, d.all(t, human.Feedback)[0], "db1")
			term.shows("It is db1:8080.")
			term.shows("over 0")
		})
	}
}
