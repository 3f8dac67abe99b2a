package sqlite

import (
	"encoding/hex"
	"encoding/json"
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
		texts = append(texts, r.HumanInput, r.Summary, r.ExecutionResult)
		texts = append(texts, r.KeyFindings...)
		for _, field := range slices.Sorted(maps.Keys(r.Fields)) {
			texts = append(texts, r.Fields[field])
		}
	}
	if o.Ended != nil {
		texts = append(texts, o.Ended.Reason)
	}
	var b strings.Builder
	b.WriteString(agentTag(o.AgentID) + " " + kindTag(o.Kind) + " " + stateTag(o.State))
	for _, t := range texts {
		if t == "" {
			continue
		}
		b.WriteByte('\n')
		b.WriteString(segment(cut(t, bodyText-b.Len())))
		if b.Len() >= bodyText {
			break
		}
	}
	return b.String()
}

// cut returns at most n bytes of s, whole characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n = max(n, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// segment puts spaces around each character of the scripts that are written without spaces between words,
// so that the index has them one by one and finds any part of a sentence as a phrase.
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
	var b strings.Builder
	b.Grow(len(s) + len(s)/2)
	for _, r := range s {
		switch {
		case r == 0 || unicode.Is(unicode.Co, r):
			b.WriteByte(' ')
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// matchText turns what a person typed into an FTS5 query: each word a quoted phrase, the last also the
// beginning of a longer one. It is empty when the text has no letter and no digit.
func matchText(text string) (string, error) {
	if len(text) > maxQuery {
		return "", human.BadField("text", "is %d bytes long; search takes at most %d", len(text), maxQuery)
	}
	var phrases []string
	for word := range strings.FieldsSeq(text) {
		word = strings.TrimSpace(segment(word))
		if strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
			phrases = append(phrases, quote(word))
		}
	}
	if len(phrases) > maxWords {
		return "", human.BadField("text", "has %d words; search takes at most %d", len(phrases), maxWords)
	}
	if len(phrases) == 0 {
		return "", nil
	}
	// Words that FTS5 finds no token in drop out between spaces; an AND of them would match nothing.
	return strings.Join(phrases, " ") + " *", nil
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
			var s string
			if json.Unmarshal(raw[i:end+1], &s) == nil {
				b.WriteString(cut(s, limit-b.Len()))
				b.WriteByte('\n')
			}
		}
		i = end
	}
	return b.String()
}
