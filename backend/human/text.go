package human

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Shorten is text of at most n characters; where it is longer, the last of these is an ellipsis.
func Shorten(text string, n int) string {
	if len(text) <= n || utf8.RuneCountInString(text) <= n {
		return text
	}
	end := 0
	for range n - 1 {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	return text[:end] + "…"
}

// FirstBytes is the first characters of text that fit into n bytes.
func FirstBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	n = max(n, 0)
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// JSONString reads a JSON string, its quotes included, as encoding/json does; false where raw is no string and not null. Most
// need no decoder: they have no escapes.
func JSONString(raw []byte) (text string, is bool) {
	if n := len(raw); n >= 2 && raw[0] == '"' && raw[n-1] == '"' &&
		!bytes.ContainsFunc(raw[1:n-1], func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r >= utf8.RuneSelf }) {
		return string(raw[1 : n-1]), true
	}
	if json.Unmarshal(raw, &text) != nil {
		return "", false
	}
	return text, true
}

// OneLine is the first non-empty line of text, cut to at most n runes with an ellipsis.
func OneLine(text string, n int) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		return Shorten(line, n)
	}
	return ""
}

// Tokens estimates, on the high side, how many tokens a language model makes of a text: three letters of English
// each, and no more than one and a half for any other character.
func Tokens[T string | []byte](text T) int {
	ascii, rest := 0, 0
	for _, r := range string(text) {
		if r < utf8.RuneSelf {
			ascii++
		} else {
			rest++
		}
	}
	return ascii/3 + rest*3/2
}

// TokenSixths is what Tokens estimates, in sixths of a token and without rounding: it adds up over the pieces of a text.
func TokenSixths(text string) int {
	sixths := 0
	for _, r := range text {
		if r < utf8.RuneSelf {
			sixths += 2
		} else {
			sixths += 9
		}
	}
	return sixths
}

// OneLine tells an answer in one line, from the parts it has: the decision, the operator's own words
// or the result, and how much else there is.
func (a Answer) OneLine() string {
	const longest = 160
	var parts []string
	switch a.Decision {
	case Approved:
		parts = append(parts, "Approved")
	case Refused:
		parts = append(parts, "Denied")
	}
	switch a.Verdict {
	case WorkDone:
		parts = append(parts, "Done")
	case WorkPartly:
		parts = append(parts, "Partly done")
	case WorkCouldNot:
		parts = append(parts, "Could not be done")
	case ReviewApprove:
		parts = append(parts, "Approved")
	case RequestChanges:
		parts = append(parts, "Changes requested")
	case ReviewComment:
		parts = append(parts, "Commented")
	case "":
	}
	for _, text := range []string{a.HumanInput, a.ExecutionResult} {
		if line := OneLine(text, longest); line != "" {
			parts = append(parts, line)
			break
		}
	}
	if n := len(a.Fields); n > 0 {
		parts = append(parts, count(n, "field filled in", "fields filled in"))
	}
	if n := len(a.Comments); n > 0 {
		parts = append(parts, count(n, "comment", "comments"))
	}
	if n := len(a.KeyFindings); n > 0 {
		parts = append(parts, count(n, "key finding", "key findings"))
	}
	return strings.Join(parts, ": ")
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// ShellWords are words as one types them for a shell, each in quotes where that is needed.
func ShellWords(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		plain := w != "" && !strings.ContainsFunc(w, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_-./:=@%+,", r)
		})
		if quoted[i] = w; !plain {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// Cells keeps a spreadsheet from running the texts of a row that others wrote (OWASP, CSV Injection): the apostrophe makes each a text. It changes
// row, and returns it.
func Cells(row []string) []string {
	for i, text := range row {
		if text != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", []rune(text)[0]) {
			row[i] = "'" + text
		}
	}
	return row
}

// LanguageOf is the language of the window in which a text is written, mostly: en or zh-CN.
func LanguageOf(text string) string {
	letters, han := 0, 0
	for _, r := range text {
		if unicode.Is(unicode.Han, r) {
			han++
		} else if unicode.IsLetter(r) {
			letters++
		}
	}
	if han*3 > letters { // a word is one or two characters in Chinese and five or six letters in English
		return "zh-CN"
	}
	return "en"
}

// Glob says whether a name is of a pattern, in which * stands for any letters.
func Glob(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == name
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(name) < len(first)+len(last) || !strings.HasPrefix(name, first) || !strings.HasSuffix(name, last) {
		return false
	}
	name = name[len(first) : len(name)-len(last)]
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(name, p)
		if i < 0 {
			return false
		}
		name = name[i+len(p):]
	}
	return true
}

// HasAll says whether a text has all of others, which may be no parts of longer numbers: 500 is not in 1500, 1,500 or 500,000.
func HasAll(text string, others []string) bool {
	return !slices.ContainsFunc(others, func(other string) bool { return !has(text, other) })
}

func has(text, other string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], other)
		if i < 0 {
			return false
		}
		if at += i; !partOfNumber(text[:at], other, text[at+len(other):]) {
			return true
		}
		if at++; at > len(text) {
			return false
		}
	}
}

func partOfNumber(before, other, after string) bool {
	digit := func(text string, i int) bool { return i >= 0 && i < len(text) && text[i] >= '0' && text[i] <= '9' }
	separates := func(text string, i int) bool {
		return i >= 0 && i < len(text) && strings.IndexByte(".,'", text[i]) >= 0
	}
	if n := len(before); digit(other, 0) && (digit(before, n-1) || separates(before, n-1) && digit(before, n-2)) {
		return true
	}
	thousands := separates(after, 0) && digit(after, 1) && digit(after, 2) && digit(after, 3) && !digit(after, 4)
	return digit(other, len(other)-1) && (digit(after, 0) || thousands)
}

// Digested is what something is known again by that is not kept: 12 characters.
func Digested(parts ...any) string {
	sum := sha256.Sum256(fmt.Append(nil, parts...))
	return base64.RawStdEncoding.EncodeToString(sum[:9])
}

// DigestedLine is a digest of a text that is the whole of a line; Digested is another one, of a text that is anywhere.
func DigestedLine(text string) string { return Digested("line\n" + text) }
