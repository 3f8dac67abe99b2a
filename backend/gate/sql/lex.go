package sql

import "strings"

type tokenKind uint8

const (
	markToken tokenKind = iota
	wordToken           // a keyword or a name without quotes
	nameToken           // a name in quotes
	textToken           // a text
	numberToken
)

// A token is a piece of a script.
type token struct {
	kind    tokenKind
	text    string // of a word in upper case; of names and texts what is within the quotes
	raw     string // of a word, as it is written
	at, end int    // in the script, the quotes included
}

func (t token) is(mark string) bool { return t.kind == markToken && t.text == mark }

func (t token) word(list ...string) bool {
	if t.kind == wordToken {
		for _, w := range list {
			if t.text == w {
				return true
			}
		}
	}
	return false
}

// lex returns the tokens of a script, one more than maxTokens at the most, and whether every quote and comment of it ends.
func lex(s string, d Dialect) (out []token, closed bool) {
	closed = true
	var (
		escapes  = d == MySQL
		nested   = d == Postgres || d == TSQL
		hash     = d == MySQL
		brackets = d == TSQL || d == SQLite
		ticks    = d == MySQL || d == SQLite || d == Any
		dollars  = d == Postgres
	)
	bang := 0
	for i := 0; i < len(s) && len(out) <= maxTokens; {
		c := s[i]
		add := func(kind tokenKind, text string, end int) {
			out = append(out, token{kind: kind, text: text, raw: text, at: i, end: end})
			i = end
		}
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v' || c == 0:
			i++
		case strings.HasPrefix(s[i:], "\ufeff"):
			i += 3
		case strings.HasPrefix(s[i:], "--") && (d != MySQL || i+2 == len(s) || s[i+2] <= ' '), c == '#' && hash:
			if end := strings.IndexByte(s[i:], '\n'); end >= 0 {
				i += end
			} else {
				i = len(s)
			}
		case d == MySQL && (strings.HasPrefix(s[i:], "/*!") || strings.HasPrefix(s[i:], "/*M!")):
			// What stands in such a comment runs.
			i = strings.IndexByte(s[i:], '!') + i + 1
			for i < len(s) && s[i] >= '0' && s[i] <= '9' {
				i++
			}
			bang++
		case bang > 0 && strings.HasPrefix(s[i:], "*/"):
			bang--
			i += 2
		case strings.HasPrefix(s[i:], "/*"):
			end, ok := comment(s[i:], nested)
			closed = closed && ok
			i += end
		case c == '\'' || c == '"' || c == '`' && ticks:
			text, n, ok := quoted(s[i:], escapes && c != '`')
			closed = closed && ok
			kind := textToken
			if c == '`' || c == '"' && d != MySQL {
				kind = nameToken
			}
			add(kind, text, i+n)
		case c == '[' && brackets:
			end := strings.IndexByte(s[i:], ']')
			for end >= 0 && strings.HasPrefix(s[i+end:], "]]") {
				next := strings.IndexByte(s[i+end+2:], ']')
				if next < 0 {
					end = -1
					break
				}
				end += 2 + next
			}
			if end < 0 {
				closed = false
				end = len(s) - i - 1
			}
			add(nameToken, s[i+1:max(i+1, i+end)], i+end+1)
		case c == '$' && dollars && tag(s[i:]) != "":
			t := tag(s[i:])
			if stop := strings.Index(s[i+len(t):], t); stop >= 0 {
				add(textToken, s[i+len(t):i+len(t)+stop], i+2*len(t)+stop)
			} else {
				closed = false
				add(textToken, s[i+len(t):], len(s))
			}
		case c >= '0' && c <= '9':
			j := i
			for j < len(s) && (isWord(s[j]) || s[j] == '.') {
				j++
			}
			add(numberToken, s[i:j], j)
		case isWord(c):
			j := i
			for j < len(s) && isWord(s[j]) {
				j++
			}
			word := strings.ToUpper(s[i:j])
			if j+1 < len(s) && s[j] == '\'' {
				switch {
				case word == "E" && d == Postgres:
					text, n, ok := quoted(s[j:], true)
					closed = closed && ok
					add(textToken, text, j+n)
					continue
				case (word == "Q" || word == "NQ") && d == Oracle:
					shut := string(s[j+1])
					if k := strings.IndexByte("[{(<", s[j+1]); k >= 0 {
						shut = "]})>"[k : k+1]
					}
					stop := strings.Index(s[min(j+2, len(s)):], shut+"'")
					if stop < 0 {
						closed = false
						add(textToken, s[j:], len(s))
						continue
					}
					add(textToken, s[j+2:j+2+stop], j+2+stop+2)
					continue
				}
			}
			if word == "GO" && (d == TSQL || d == Any) && alone(s, i, j) {
				add(markToken, ";", j)
				continue
			}
			out = append(out, token{kind: wordToken, text: word, raw: s[i:j], at: i, end: j})
			i = j
		default:
			add(markToken, s[i:i+1], i+1)
		}
	}
	return out, closed && bang == 0
}

func isWord(c byte) bool {
	return c == '_' || c == '@' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// comment is the length of the comment that a text begins with.
func comment(s string, nested bool) (int, bool) {
	deep := 1
	for i := 2; i+1 < len(s); i++ {
		switch {
		case s[i] == '*' && s[i+1] == '/':
			if deep--; deep == 0 {
				return i + 2, true
			}
			i++
		case nested && s[i] == '/' && s[i+1] == '*':
			deep++
			i++
		}
	}
	return len(s), false
}

// quoted reads what a text begins with, up to the same quote; twice the quote stands for one.
func quoted(s string, escapes bool) (text string, n int, ok bool) {
	for j := 1; j < len(s); j++ {
		switch {
		case s[j] == '\\' && escapes:
			j++
		case s[j] == s[0] && j+1 < len(s) && s[j+1] == s[0]:
			j++
		case s[j] == s[0]:
			return strings.ReplaceAll(s[1:j], s[:1]+s[:1], s[:1]), j + 1, true
		}
	}
	return s[1:], len(s), false
}

// tag is the $tag$ that a text begins with.
func tag(s string) string {
	end := strings.IndexByte(s[1:min(len(s), 66)], '$')
	if end < 0 {
		return ""
	}
	for i, c := range s[1 : 1+end] {
		if c == '$' || c < 0x80 && !isWord(byte(c)) || i == 0 && c >= '0' && c <= '9' {
			return ""
		}
	}
	return s[:end+2]
}

// alone says whether a word stands alone on its line.
func alone(s string, from, to int) bool {
	before := strings.TrimRight(s[max(0, from-80):from], " \t\r")
	after := strings.TrimLeft(s[to:min(len(s), to+80)], " \t\r")
	return (before == "" || strings.HasSuffix(before, "\n")) && (after == "" || after[0] == '\n')
}
