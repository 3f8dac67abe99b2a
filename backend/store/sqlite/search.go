package sqlite

import (
	"encoding/hex"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"deskbell/backend/human"
)

// Bounds of what is indexed of one operation, in bytes of text. What is beyond them is not found by search.
const (
	detailsText = 16 << 10
	bodyText    = 64 << 10
)

// Bounds of what can be searched for.
const (
	maxQuery = 1000 // bytes
	maxWords = 64
)

// Filters are searched for as words that no text contains: a private-use character starts them, and
// segment takes those out of everything else.
const mark = "\uE000"

func agentTag(name string) string { return mark + "a" + hex.EncodeToString([]byte(name)) }
func kindTag(k human.Kind) string { return mark + "k" + hex.EncodeToString([]byte(k)) }

// stateTag is the same for all states that are not terminal, so that a claim does not touch the index.
func stateTag(s human.State) string {
	if s.Terminal() {
		return mark + "s" + string(s)
	}
	return mark + "sopen"
}

// searchBody is the text the operation is found by, details being what jsonText made of its details.
func searchBody(o human.Operation, details string) string {
	texts := []string{o.Description, o.AgentID, details}
	for _, m := range o.Messages {
		texts = append(texts, m.Text)
	}
	if r := o.Result; r != nil {
		kept := r.Kept() // its key findings are its findings, too
		texts = append(texts, r.HumanInput, r.Summary, r.ExecutionResult)
		texts = append(texts, kept.KeyFindings...)
		for _, s := range kept.Suggestions {
			texts = append(texts, s.Text)
		}
		for _, s := range r.Steps {
			texts = append(texts, s.Note)
		}
		for _, field := range slices.Sorted(maps.Keys(r.Fields)) {
			texts = append(texts, r.Fields[field])
		}
	}
	if o.Result != nil && o.Result.Plan != nil { // what was changed; the tasks as they were are in details
		for _, c := range o.Result.Plan.Changes {
			if c.Kind == human.TaskAdded || c.Kind == human.TaskChanged {
				texts = append(texts, c.Description)
			}
		}
	}
	if o.Ended != nil {
		texts = append(texts, o.Ended.Reason)
	}
	var b strings.Builder
	b.WriteString(agentTag(o.AgentID) + " " + kindTag(o.Kind) + " " + stateTag(o.State))
	for _, t := range foundTexts(o) {
		b.WriteByte('\n')
		for word := range words(segment(t)) {
			if b.Len() >= bodyText/2 {
				break
			}
			b.WriteString(foundMark + word + " ")
		}
	}
	for _, t := range texts {
		if t == "" {
			continue
		}
		b.WriteByte('\n')
		b.WriteString(segment(human.FirstBytes(t, bodyText-b.Len())))
		if b.Len() >= bodyText {
			break
		}
	}
	return b.String()
}

// foundMark begins the words that findings and suggestions are found by, so that a search among them meets no other text.
const foundMark = mark + "f"

// foundTexts are what an operator found or suggested, as its agent reads it.
func foundTexts(o human.Operation) []string {
	if o.Result == nil {
		return nil
	}
	kept := o.Result.Kept()
	texts := slices.Clone(kept.KeyFindings)
	for _, s := range kept.Suggestions {
		texts = append(texts, s.Text)
	}
	return texts
}

// words yields the words of a segmented text, as the index's tokenizer would.
func words(segmented string) iter.Seq[string] {
	return strings.FieldsFuncSeq(segmented, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) })
}

// wordless says whether r belongs to a script that is written without spaces between words, or, as Korean,
// joins to its words what people leave out when they search.
func wordless(r rune) bool {
	const longVowel = 'ー' // Unicode has it as common to two scripts
	return r >= 0x1100 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r == longVowel)
}

// segment prepares text for the index. Characters of wordless scripts become words of their own, one by one,
// and once more, after the text, as overlapping pairs. So any part of a sentence is found: a single
// character as a word, more as a phrase of pairs, which is much rarer than one of single characters and
// as much faster to find.
func segment(s string) string {
	plain := true
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf || s[i] == 0 {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	var b, pairs strings.Builder
	b.Grow(len(s) + len(s)/2)
	var last rune
	for _, r := range s {
		switch {
		case separates(r):
			b.WriteByte(' ')
		case wordless(r):
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
			if wordless(last) {
				pairs.WriteByte(' ')
				pairs.WriteRune(last)
				pairs.WriteRune(r)
			}
		default:
			b.WriteRune(r)
		}
		last = r
	}
	return b.String() + pairs.String()
}

// separates says whether r must not reach the index: NUL, and what only filters' words may have.
func separates(r rune) bool { return r == 0 || unicode.Is(unicode.Co, r) }

// matchText turns what a person typed into an FTS5 query: each word a quoted phrase, the last also the
// beginning of a longer one. It is empty when the text has no letter and no digit.
func matchText(text string) (string, error) { return matchMarked(text, "") }

// matchFound is matchText among the findings.
func matchFound(text string) (string, error) { return matchMarked(text, foundMark) }

func matchMarked(text, before string) (string, error) {
	if len(text) > maxQuery {
		return "", human.BadField("text", "is %d bytes long; search takes at most %d", len(text), maxQuery)
	}
	var phrases []string
	star := ""
	for word := range strings.FieldsSeq(text) {
		for part, whole := range runs(word) {
			if !strings.ContainsFunc(part, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
				continue
			}
			if before != "" {
				var b strings.Builder
				for word := range words(part) {
					b.WriteString(before + word + " ")
				}
				part = strings.TrimSpace(b.String())
			}
			phrases, star = append(phrases, quote(part)), ""
			if !whole {
				star = " *"
			}
		}
	}
	if len(phrases) > maxWords {
		return "", human.BadField("text", "has %d words; search takes at most %d", len(phrases), maxWords)
	}
	if len(phrases) == 0 {
		return "", nil
	}
	// Words that FTS5 finds no token in drop out between spaces; an AND of them would match nothing.
	return strings.Join(phrases, " ") + star, nil
}

// runs yields the parts of a word as the index has them: what is of wordless scripts as pairs, which stand
// for themselves whole, and what is not.
func runs(word string) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		text := []rune(word)
		for len(text) > 0 {
			whole, n := wordless(text[0]), 1
			for n < len(text) && wordless(text[n]) == whole {
				n++
			}
			var b strings.Builder
			for i, r := range text[:n] {
				switch {
				case whole && n > 1 && i > 0:
					b.WriteRune(text[i-1])
					b.WriteRune(r)
					b.WriteByte(' ')
				case whole && n > 1:
				case separates(r):
					b.WriteByte(' ')
				default:
					b.WriteRune(r)
				}
			}
			if !yield(b.String(), whole) {
				return
			}
			text = text[n:]
		}
	}
}

// quote makes an FTS5 string of s: nothing in it has a meaning there but the quote itself.
func quote(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// jsonText joins the strings in a JSON text that are values, not names, up to about limit bytes. What is
// not valid JSON gives what can be read of it.
func jsonText(raw json.RawMessage, limit int) string {
	var b strings.Builder
	for i := 0; i < len(raw) && b.Len() < limit; i++ {
		if raw[i] != '"' {
			continue
		}
		end := i + 1
		for end < len(raw) && raw[end] != '"' {
			if raw[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(raw) {
			break
		}
		after := end + 1
		for after < len(raw) && (raw[after] == ' ' || raw[after] == '\n' || raw[after] == '\r' || raw[after] == '\t') {
			after++
		}
		if after == len(raw) || raw[after] != ':' {
			if s, is := human.JSONString(raw[i : end+1]); is {
				b.WriteString(human.FirstBytes(s, limit-b.Len()))
				b.WriteByte('\n')
			}
		}
		i = end
	}
	return b.String()
}
