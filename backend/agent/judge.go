package agent

import (
	"encoding/json"
	"strings"

	"deskbell/backend/agent/asking"
)

// askUser is the tool by which a model tells a StructuredJudge that it asks.
const askUser = "ask_user"

// A StructuredJudge lets the model say itself that it asks, by calling a tool: that is never mistaken for a rhetorical
// question, an offer or a quotation, in whatever language. It is the default.
type StructuredJudge struct {
	// Otherwise judges a reply that calls no tool at all; nil: that is an answer. Small models write their question as
	// text even where they have a tool for it. A ToolAgent's default is WordsJudge: a conversation that stays open for
	// nothing costs a little memory, one that ends on its own question has lost what was said.
	Otherwise Judge
}

// Tool is ask_user.
func (StructuredJudge) Tool() *ToolSpec {
	return &ToolSpec{
		Name: askUser,
		Description: "Ask the user for what is missing. Call it instead of guessing, where what the user said is not enough to call a tool. " +
			"The user's answer is their next message.",
		Schema: json.RawMessage(`{"type":"object","properties":{"question":{"type":"string","description":"One short question, in the user's language."}},"required":["question"],"additionalProperties":false}`),
	}
}

// Asks says so of a reply with a call of ask_user; of one without any call what Otherwise says.
func (j StructuredJudge) Asks(r Reply, worked bool) (string, bool) {
	var questions []string
	for _, c := range r.Calls {
		if q := question(c); c.Name == askUser && q != "" {
			questions = append(questions, q)
		}
	}
	if len(questions) > 0 {
		return strings.Join(questions, "\n"), true
	}
	if len(r.Calls) > 0 || j.Otherwise == nil {
		return "", false
	}
	return j.Otherwise.Asks(r, worked)
}

// question is what a call of ask_user or ask_human asks; empty where its arguments are none.
func question(c ToolUse) string {
	var args struct {
		Question string `json:"question"`
	}
	if json.Unmarshal(c.Args, &args) != nil {
		return ""
	}
	return strings.TrimSpace(args.Question)
}

// A WordsJudge tells by the words, in Chinese and English, whether a reply that calls no tool asks its user for something
// that the work needs. See package asking.
type WordsJudge struct{}

// Tool is nil.
func (WordsJudge) Tool() *ToolSpec { return nil }

// Asks returns the whole text as the question.
func (WordsJudge) Asks(r Reply, worked bool) (string, bool) {
	text := strings.TrimSpace(r.Text)
	if len(r.Calls) > 0 || text == "" {
		return "", false
	}
	return text, asking.Asks(text, worked)
}
