package agent

import (
	"encoding/json"
	"regexp"
	"strings"
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

// A WordsJudge tells by the words, in Chinese and English: a reply asks where it calls no tool and one of its sentences
// ends with a question mark, or asks for something. What stands in code, addresses and quotation marks does not count,
// nor does the offer of further help at the end of an answer. Where tools have worked before, only a last sentence with a
// question mark counts: reports are full of words that ask.
type WordsJudge struct{}

// Tool is nil.
func (WordsJudge) Tool() *ToolSpec { return nil }

// Asks returns the whole text as the question.
func (WordsJudge) Asks(r Reply, worked bool) (string, bool) {
	text := strings.TrimSpace(r.Text)
	if len(r.Calls) > 0 || text == "" {
		return "", false
	}
	all := sentences(notSaid.ReplaceAllString(text, " "))
	if worked && len(all) > 0 {
		last := all[len(all)-1]
		return text, strings.ContainsAny(last, marks) && !offer.MatchString(last)
	}
	for _, s := range all {
		if !offer.MatchString(s) && (strings.ContainsAny(s, marks) || asking.MatchString(s) || asksWhat(s)) {
			return text, true
		}
	}
	return "", false
}

const marks = "?？؟"

var (
	// notSaid is what stands in a text without being said to its reader.
	notSaid = regexp.MustCompile("(?s)```.*?(?:```|$)|`[^`\n]*`|(?i:https?)://[^\\s）)。，]+|\"[^\"\n]*\"|“[^”\n]*”|「[^」\n]*」|『[^』\n]*』|《[^》\n]*》")

	// ends is where a sentence ends. A mark within a word or an address, as in a?b=1, ends none.
	ends = regexp.MustCompile(`[?？؟!！。；;\n]+|\.(?:\s|$)`)

	offer = regexp.MustCompile(`(?i)(?:anything|something|what) else\b|any (?:other|further|more) (?:questions?|help|requests?)|let me know if\b|if you (?:need|have|want|would like)\b|feel free` +
		`|还有(?:什么|其他|其它|别的|啥)|还需要(?:我|什么|其他|别的)|(?:其他|其它|别的)(?:什么)?(?:需要|问题|帮助|吩咐|要求)|如果?有(?:任何|什么|其他)?(?:问题|需要)|随时(?:告诉|联系|找|问|吩咐)|有需要(?:再|随时|请)`)

	// asking is how something is asked for without a question mark.
	asking = regexp.MustCompile(`(?i)\bplease,? (?:also )?(?:tell me|provide|specify|give me|choose|confirm|share|let me know|enter|name|say|pick|select|clarify|state)\b` +
		`|\b(?:let me know|tell me) (?:which|what|where|when|who|whose|how|whether|your|the)\b` +
		`|\bI(?: still|'ll| will|'d)? need (?:to know|more (?:information|details)|your|you to (?:tell|say|choose|confirm|give))\b` +
		`|^(?:and |so |ok(?:ay)?,? |sure,? )?(?:which|what|where|when|who|whose|how)(?: \w+){0,3} (?:would|should|shall|do|can|could|will|are|is) (?:you|your|I|we|suit)\b` +
		`|^(?:could|can|would|will|do|did|are|have) you\b|^(?:should|shall|may|can) I\b` +
		`|请问|请(?:您|你)?(?:先|再)?(?:告诉|说明|说一下|说说|说出|提供|选择|确认|输入|补充|指定|描述|给出|明确|回复)|麻烦(?:您|你)?(?:先|再)?(?:告诉|提供|说|确认|补充)|(?:需要|想|要)(?:您|你)(?:先|再)?(?:告诉|提供|确认|选择|补充|说)|告诉我(?:一下)?(?:您|你|具体|想|要|哪|什么)`)

	// what are Chinese words that ask, or stand for something not said: 没什么, 哪里都, 知道您想听什么.
	what = regexp.MustCompile(`(什么|哪里|哪儿|哪个|哪位|哪首|哪家|哪一|哪些|哪种|哪天|多少|几点|几个|几位|怎么|如何|是否|谁)(都|也|的时候)?`)

	// notAsked stands before such a word, or anywhere before it in the sentence, where it asks nothing.
	notAsked = regexp.MustCompile(`(?:没|没有|不管|无论|不论|为|知道|明白|了解|清楚|记得|记住|记下|说明|解释|介绍|显示|查看|教)[^，,]*$`)

	toYou = regexp.MustCompile(`您|你`)
)

// asksWhat says whether a Chinese sentence without a question mark asks: by a word that asks, to 'you', or with a
// particle at the end.
func asksWhat(s string) bool {
	s = strings.TrimRight(s, " \t。！!；;\n…~")
	at := what.FindStringSubmatchIndex(s)
	if strings.HasSuffix(s, "吗") || strings.HasSuffix(s, "呢") && at != nil {
		return true
	}
	return at != nil && at[4] < 0 && toYou.MatchString(s) && !notAsked.MatchString(s[:at[0]])
}

// sentences splits a text; each has the mark it ends with.
func sentences(text string) []string {
	var all []string
	add := func(s string) {
		if s = strings.TrimSpace(s); strings.Trim(s, " ?？؟!！。；;.\n)）]】\"'*_") != "" {
			all = append(all, s)
		}
	}
	from := 0
	for _, at := range ends.FindAllStringIndex(text, -1) {
		if mark := text[at[0]:at[1]]; mark == "?" && at[1] < len(text) && letter(text[at[1]]) {
			continue
		}
		add(text[from:at[1]])
		from = at[1]
	}
	add(text[from:])
	return all
}

func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '=' || c == '/' || c == '&'
}
