package facts

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Words are looked for in all languages at once: an operator's pages are not in the language of their report.
var (
	sendWords   = newWords(sendEnglish, sendChinese)
	ChangeWords = newWords(changeEnglish, changeChinese)
	StepWords   = newWords(stepsEnglish, stepsChinese)
	passWords   = newWords(passEnglish, passChinese, passMore)
	signWords   = newWords(signEnglish, signChinese, signMore)
	greetWords  = newWords(greetEnglish, greetChinese, greetMore)
	aboutWords  = newWords(aboutEnglish, aboutChinese)
	clearWords  = newWords(clearEnglish, clearChinese)
	BackWords   = newWords(backEnglish, backChinese)
	retryWords  = newWords(retryEnglish, retryChinese)
	searchWords = newWords(searchEnglish, searchChinese, searchMore)
	strongWords = newWords(strongEnglish, strongChinese)
	weakWords   = newWords(weakEnglish, weakChinese, entries(moreTrouble))
	fineWords   = newWords(fineEnglish, fineChinese)
	titleWords  = newWords(errorTitlesEnglish, errorTitlesChinese)
)

// words are looked up by the letter they begin with.
type words map[rune][]string

func newWords(lists ...[]string) words {
	w := words{}
	for _, word := range slices.Concat(lists...) {
		c, _ := utf8.DecodeRuneInString(word)
		w[c] = append(w[c], word)
	}
	for _, list := range w { // the longest first
		slices.SortFunc(list, func(a, b string) int { return len(b) - len(a) })
	}
	return w
}

// longestSpeech is as much of a text, in bytes, as is read for what it speaks of.
const longestSpeech = 2000

func plain(s string) string {
	if len(s) > longestSpeech {
		s = s[:longestSpeech]
	}
	return strings.ToLower(s)
}

// spaceless says whether a letter is of a script that puts no spaces between words.
func spaceless(c rune) bool { return unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana) }

// at is the word that a text, in lower case, begins with; "" for none. Words of letters have to end there.
func (w words) at(text string) string {
	c, _ := utf8.DecodeRuneInString(text)
	for _, word := range w[c] {
		if rest, ok := strings.CutPrefix(text, word); ok {
			next, _ := utf8.DecodeRuneInString(rest)
			if spaceless(c) || rest == "" || !unicode.IsLetter(next) || unicode.Is(unicode.Han, next) {
				return word
			}
		}
	}
	return ""
}

// Begins says whether a name begins with one of the words.
func (w words) Begins(name string) bool {
	return w.at(strings.TrimLeftFunc(plain(name), func(r rune) bool { return !unicode.IsLetter(r) })) != ""
}

// in says whether a text, in lower case, has one of the words in it.
func (w words) in(text string) bool {
	found, _ := w.find(text)
	return found != ""
}

func (w words) find(text string) (word string, at int) {
	start := true
	for i, c := range text {
		if start || spaceless(c) {
			if word := w.at(text[i:]); word != "" {
				return word, i
			}
		}
		start = !unicode.IsLetter(c) || spaceless(c)
	}
	return "", -1
}

// without leaves the words out of a text in lower case.
func (w words) without(text string) string {
	for {
		word, at := w.find(text)
		if word == "" {
			return text
		}
		text = text[:at] + " " + text[at+len(word):]
	}
}

// SwitchedOn says whether a word of how a switch stands says that it is on.
func SwitchedOn(word string) bool {
	word = strings.ToLower(word)
	return !strings.HasPrefix(word, "un") && !strings.HasPrefix(word, "de") && !slices.Contains([]string{"off", "disable", "disabled", "inactive", "关闭", "停用", "禁用", "取消勾选"}, word)
}

// Greets says whether a message greets a person who has just signed in.
func Greets(text string) bool { return greetWords.Begins(text) }

// Searches says whether a name is of what is searched with.
func Searches(name string) bool { return name != "" && searchWords.in(plain(name)) }

// SpeaksOfError says whether a message tells of an error; strongly, whether it can mean nothing else.
func SpeaksOfError(text string, strongly bool) bool {
	text = fineWords.without(plain(text))
	return strongWords.in(text) || !strongly && weakWords.in(text)
}

// errorTitle says whether a page is one that tells of an error, by its title: Page not found - Shop.
func errorTitle(title string) bool {
	if title == "" || aboutWords.in(plain(title)) {
		return false
	}
	for _, part := range strings.FieldsFunc(separated.Replace(plain(title)), func(r rune) bool { return r == '\n' }) {
		if errorPart(strings.TrimFunc(part, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })) {
			return true
		}
	}
	return false
}

// separated puts each part of a title on a line of its own.
var separated = strings.NewReplacer(" - ", "\n", " – ", "\n", " — ", "\n", " | ", "\n", "|", "\n", "·", "\n", ": ", "\n", "：", "\n", "_", "\n", "•", "\n", " › ", "\n", "—", "\n", "，", "\n", "！", "\n", "!", "\n")

// Parts of titles that are longer speak about errors, not of one.
const (
	errorTitleWords = 7
	errorTitleHan   = 14
)

func errorPart(part string) bool {
	fields := strings.Fields(part)
	if len(fields) == 0 || len(fields) > errorTitleWords || utf8.RuneCountInString(part) > errorTitleHan && strings.ContainsFunc(part, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		return false
	}
	switch fields[0] {
	case "how", "what", "why", "when", "fix", "fixing", "handling", "about", "understanding", "troubleshooting", "如何", "怎么", "什么是":
		return false
	}
	if part == "error" || part == "错误" || part == "expired" || part == "oops" || part == "failed" {
		return true
	}
	for _, end := range []string{"错误", "有误"} {
		if strings.HasSuffix(part, end) && !strings.HasPrefix(part, "常见") {
			return true
		}
	}
	switch fields[0] {
	case "wrong", "invalid", "incorrect":
		return true
	}
	code := fields[0]
	if code == "error" || code == "http" || code == "错误" || code == "status" {
		if len(fields) == 1 {
			return false
		}
		code = fields[1]
	}
	if isErrorStatus(code) && (len(fields) <= 2 && code != fields[0] || len(fields) == 1) {
		return true
	}
	return titleWords.in(part)
}

// isErrorStatus says whether a text is a status of HTTP that is an error.
func isErrorStatus(s string) bool {
	return len(s) == 3 && (s[0] == '4' || s[0] == '5') && s[1] >= '0' && s[1] <= '9' && s[2] >= '0' && s[2] <= '9'
}

// NetworkError is the code of an error of the network, without what all of them begin with.
func NetworkError(failed string) string {
	_, code, ok := strings.Cut(failed, "::")
	if !ok {
		return failed
	}
	return code
}

// CommandWords are words on buttons that do more than lead somewhere else, in programs.
var CommandWords = newWords(enCommands, zhCommands, changeEnglish, changeChinese)
