package human

import "regexp"

// A Translation has the sentences of another language by their codes, with places like those of sentences.txt. The nil Translation
// is English.
type Translation map[Code]string

var placeInSentence = regexp.MustCompile(`\{(\w+)\}`)

// Say is the sentence in this language, as the console says it; as it is where the language has none of this code.
func (t Translation) Say(s Sentence) string {
	if text, ok := t.say(s.Code, s.Params, ""); ok {
		return text
	}
	return s.Text
}

// say is the sentence of a code whose parameters' names begin with within. A parameter may be a sentence or a word itself.
func (t Translation) say(code Code, params Params, within string) (string, bool) {
	text, ok := t[code]
	if !ok || code == "" {
		return "", false
	}
	return placeInSentence.ReplaceAllStringFunc(text, func(p string) string {
		at := within + p[1:len(p)-1]
		inner, ok := t.say(Code(params[at+".code"]), params, at+".")
		switch field := params[at+".field"]; {
		case !ok:
			return params[at]
		case field != "":
			return "“" + field + "”：" + inner
		}
		return inner
	}), true
}
