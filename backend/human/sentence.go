package human

import (
	_ "embed" // the sentences
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The gatekeeper's sentences stand in a text: lines of a code, a space and the English sentence, in which {name} is the place of a
// parameter. The most frequent ones stand first, because a sentence is looked for from the start.
//
//go:embed sentences.txt
var sentences string

// A Code names a sentence: clients say the sentence in another language by it. Those of sentences.txt stay the same when the words
// change; those that Sayf makes do not.
type Code string

// Params are the values in a sentence's places, as they are shown.
type Params map[string]string

// A Sentence is a sentence for people. Notes recorded before there were codes have a text alone.
type Sentence struct {
	Text   string `json:"text" doc:"In English."`
	Code   Code   `json:"code,omitempty" doc:"Names the sentence, for clients that say it in another language."`
	Params Params `json:"params,omitempty" doc:"The values in the sentence's places."`
}

// A Word is a value that people know by a word of sentences.txt, such as a unit.
type Word string

// Say makes a sentence. Pairs are the names of the parameters and their values, in turn.
func Say(code Code, pairs ...any) Sentence {
	n := Sentence{Code: code}
	for i := 0; i+1 < len(pairs); i += 2 {
		if n.Params == nil {
			n.Params = Params{}
		}
		n.Params[fmt.Sprint(pairs[i])] = fmt.Sprint(pairs[i+1])
	}
	n.Text = n.Params.fill(code.sentence())
	return n
}

var (
	verb = regexp.MustCompile(`%([-+# 0]*)(?:\[(\d+)\])?(\d*(?:\.\d+)?)([a-zA-Z%])`)
	word = regexp.MustCompile(`[a-z0-9]+`)
)

// Sayf makes a sentence from a format of package fmt that stands where it is said, as those of errors do. Its code is made of the
// format's words; its parameters are called 1, 2, ... in the order of args. Where an argument is Inner, the code of that error is the
// parameter 1.code, its field 1.field and its own parameters 1.1, 1.2, ...; where it is a state, a risk or a Word, 1.code names it.
// Widths and indexes that are arguments (*) are not known.
func Sayf(format string, args ...any) Sentence {
	s := Sentence{Text: fmt.Sprintf(format, args...), Code: codeOf(format)}
	replaceVerbs(format, func(n int, spec string) string {
		if s.Params == nil {
			s.Params = Params{}
		}
		name := strconv.Itoa(n)
		s.Params[name] = fmt.Sprintf(spec, args[n-1])
		switch v := args[n-1].(type) {
		case State, TaskState, PlanRunState, PlanStatus, Risk, Word:
			s.Params[name+".code"] = "word_" + fmt.Sprint(v)
		case Inner:
			s.contain(name, v)
		}
		return ""
	})
	return s
}

// contain adds the sentence of an error that is shown in the place with that name. Without words around it, it is the whole sentence.
func (s *Sentence) contain(name string, shown Inner) {
	var inner *Error
	if !errors.As(shown.Err, &inner) || inner.Said.Code == "" {
		return
	}
	if s.Code == "" && s.Text == inner.Said.Text {
		s.Code, s.Params = inner.Said.Code, inner.Said.Params
		return
	}
	s.Params[name+".code"] = string(inner.Said.Code)
	if inner.Field != "" {
		s.Params[name+".field"] = inner.Field
	}
	for of, value := range inner.Said.Params {
		s.Params[name+"."+of] = value
	}
}

// replaceVerbs puts what with says in place of each verb of a format: of its argument's number, from 1, and of the verb as it formats
// that argument alone.
func replaceVerbs(format string, with func(n int, spec string) string) string {
	n := 0
	return verb.ReplaceAllStringFunc(format, func(v string) string {
		m := verb.FindStringSubmatch(v)
		if m[4] == "%" {
			return "%"
		}
		n++
		if m[2] != "" {
			n, _ = strconv.Atoi(m[2])
		}
		return with(n, "%"+m[1]+m[3]+m[4])
	})
}

// codeOf is the code of a format: its words, with x for each verb, as far as they have room in 80 bytes. A format of verbs alone has none.
func codeOf(format string) Code {
	words := word.FindAllString(strings.ToLower(replaceVerbs(format, func(int, string) string { return " x " })), -1)
	if !slices.ContainsFunc(words, func(w string) bool { return w != "x" }) {
		return ""
	}
	code := words[0]
	for _, w := range words[1:] {
		if len(code)+1+len(w) > 80 {
			break
		}
		code += "_" + w
	}
	return Code(code)
}

// sentence is a code's sentence with its places; the code itself where there is none, which a test rules out. The text is searched,
// in about a microsecond: a table of it would be made at each start of a hook.
func (c Code) sentence() string {
	_, from, found := strings.Cut(sentences, "\n"+string(c)+" ")
	if !found {
		return string(c)
	}
	sentence, _, _ := strings.Cut(from, "\n")
	return sentence
}

func (p Params) fill(sentence string) string {
	if len(p) == 0 {
		return sentence
	}
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(sentence, "{")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		name, after, _ := strings.Cut(rest, "}")
		b.WriteString(p[name])
		sentence = after
	}
}

// TextOf joins the texts of sentences.
func TextOf(sentences []Sentence) string {
	texts := make([]string, len(sentences))
	for i, n := range sentences {
		texts[i] = n.Text
	}
	return strings.Join(texts, " ")
}

// Masked are the sentences with mask applied to all that came from elsewhere.
func Masked(sentences []Sentence, mask func(string) string) []Sentence {
	out := make([]Sentence, len(sentences))
	for i, n := range sentences {
		out[i] = Sentence{Text: mask(n.Text), Code: n.Code}
		for name, value := range n.Params {
			if out[i].Params == nil {
				out[i].Params = Params{}
			}
			out[i].Params[name] = mask(value)
		}
	}
	return out
}
