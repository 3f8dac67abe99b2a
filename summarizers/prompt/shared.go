package prompt

import (
	"strings"
	"unicode"

	"deskbell/backend/human"
)

// A model that was talked into something says it of whatever evidence is at hand. What a finding says of its evidence
// has some word of it: numbers and quotations are looked up by Check, and here all other words.

// empty are words that stand everywhere and show nothing.
var empty = func() map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(`about after again also been before being both could does done from have into just more most much only other
		over said same shall should some such than that their them then there these they this those through under very were what when where
		which while will with without would your operator agent human user`) {
		out[w] = true
	}
	return out
}()

// common are characters that stand in every Chinese sentence; a pair with one of them shows nothing.
const common = "的了是在有和与或也都不没这那个们就要把被对为以及其到从上下中后前时已我你他它"

// terms are what can be shared: words of four letters and more by their first five, so that plural and singular meet;
// shorter ones with a digit; pairs of Chinese characters.
func terms(text string) map[string]bool {
	out := map[string]bool{}
	var word, pair []rune
	digit := false
	end := func() {
		if w := strings.ToLower(string(word)); (len(word) >= 4 || digit) && !empty[w] {
			out[string([]rune(w)[:min(5, len([]rune(w)))])] = true
		}
		word, digit = word[:0], false
	}
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			end()
			if strings.ContainsRune(common, r) {
				pair = pair[:0]
				continue
			}
			if pair = append(pair, r); len(pair) == 2 {
				out[string(pair)] = true
				pair = append(pair[:0], r)
			}
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			pair = pair[:0]
			digit = digit || unicode.IsDigit(r)
			word = append(word, r)
		default:
			pair = pair[:0]
			end()
		}
	}
	end()
	return out
}

// shares says whether a text has anything in common with its evidence. Evidence that does not resolve is left to Check,
// which says so.
func (a *atlas) shares(text string, refs []human.Ref) bool {
	has := terms(text)
	short := " " + strings.ToLower(strings.Join(split(text), " ")) + " "
	for _, ref := range refs {
		said, ok := a.text(ref)
		if !ok {
			return true
		}
		own := terms(said)
		for t := range own {
			if has[t] {
				return true
			}
		}
		// An answer such as "ok" has short words only.
		for _, w := range split(said) {
			if len(own) == 0 && strings.Contains(short, " "+strings.ToLower(w)+" ") {
				return true
			}
		}
	}
	return len(refs) == 0
}

func split(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// text is all that a piece of evidence says.
func (a *atlas) text(ref human.Ref) (string, bool) {
	if said, ok := a.read[ref]; ok {
		return said, true
	}
	said, ok := a.in.Resolve(ref)
	if ok {
		a.read[ref] = said
	}
	return said, ok
}
