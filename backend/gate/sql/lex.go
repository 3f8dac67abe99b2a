package sql

import (
	"slices"
	"strings"
)

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
	return t.kind == wordToken && slices.Contains(list, t.text)
}

// lex returns the tokens of a script, one more than maxTokens at most, and whether every quote and comment of it ends.
func lex(s string, d Dialect) (out []token, closed bool) {
	l := &lexer{s: s, d: d, closed: true}
	for l.i < len(s) && len(l.out) <= maxTokens {
		if !l.skip() {
			l.next()
		}
	}
	return l.out, l.closed && l.bang == 0
}

type lexer struct {
	s      string
	d      Dialect
	i      int // what is before it is read
	out    []token
	closed bool
	bang   int // comments whose text runs that are open
}

// skip goes over white space, or a comment; false where there is none.
func (l *lexer) skip() bool {
	s := l.s[l.i:]
	switch c := s[0]; {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v' || c == 0:
		l.i++
	case strings.HasPrefix(s, "\ufeff"):
		l.i += 3
	case strings.HasPrefix(s, "--") && (l.d != MySQL || len(s) == 2 || s[2] <= ' '), c == '#' && l.d == MySQL:
		line, _, _ := strings.Cut(s, "\n")
		l.i += len(line)
	case l.d == MySQL && (strings.HasPrefix(s, "/*!") || strings.HasPrefix(s, "/*M!")):
		// What stands in such a comment runs.
		s = s[strings.IndexByte(s, '!')+1:]
		l.i = len(l.s) - len(strings.TrimLeft(s, "0123456789"))
		l.bang++
	case l.bang > 0 && strings.HasPrefix(s, "*/"):
		l.bang--
		l.i += 2
	case strings.HasPrefix(s, "/*"):
		end, ok := comment(s, l.d == Postgres || l.d == TSQL)
		l.closed = l.closed && ok
		l.i += end
	default:
		return false
	}
	return true
}

// add adds a token that ends at an offset.
func (l *lexer) add(kind tokenKind, text string, end int) {
	l.out = append(l.out, token{kind: kind, text: text, raw: text, at: l.i, end: end})
	l.i = end
}

// quoted adds what is in quotes that begin at an offset.
func (l *lexer) quoted(kind tokenKind, at int, escapes bool) {
	text, n, ok := quoted(l.s[at:], escapes)
	l.closed = l.closed && ok
	l.add(kind, text, at+n)
}

// upTo adds what stands between an offset and a mark, or the end of the script, which does not close it.
func (l *lexer) upTo(kind tokenKind, from int, mark string) {
	text, _, ok := strings.Cut(l.s[from:], mark)
	if !ok {
		l.closed = false
		mark = ""
	}
	l.add(kind, text, from+len(text)+len(mark))
}

// next reads a token.
func (l *lexer) next() {
	s := l.s[l.i:]
	switch c := s[0]; {
	case c == '\'':
		l.quoted(textToken, l.i, l.d == MySQL)
	case c == '"' && l.d == MySQL:
		l.quoted(textToken, l.i, true)
	case c == '"', c == '`' && (l.d == MySQL || l.d == SQLite || l.d == Any):
		l.quoted(nameToken, l.i, false)
	case c == '[' && (l.d == TSQL || l.d == SQLite):
		end := strings.IndexByte(s, ']')
		for end >= 0 && strings.HasPrefix(s[end:], "]]") {
			next := strings.IndexByte(s[end+2:], ']')
			if next < 0 {
				end = -1
				break
			}
			end += 2 + next
		}
		if end < 0 {
			l.closed = false
			end = len(s) - 1
		}
		l.add(nameToken, s[1:max(1, end)], l.i+end+1)
	case c == '$' && l.d == Postgres && tag(s) != "":
		l.upTo(textToken, l.i+len(tag(s)), tag(s))
	case c >= '0' && c <= '9':
		j := 0
		for j < len(s) && (isWord(s[j]) || s[j] == '.') {
			j++
		}
		l.add(numberToken, s[:j], l.i+j)
	case isWord(c):
		l.word()
	default:
		l.add(markToken, s[:1], l.i+1)
	}
}

func (l *lexer) word() {
	s, j := l.s, l.i
	for j < len(s) && isWord(s[j]) {
		j++
	}
	word := strings.ToUpper(s[l.i:j])
	if j+1 < len(s) && s[j] == '\'' {
		switch {
		case word == "E" && l.d == Postgres:
			l.quoted(textToken, j, true)
			return
		case (word == "Q" || word == "NQ") && l.d == Oracle:
			shut := string(s[j+1])
			if k := strings.IndexByte("[{(<", s[j+1]); k >= 0 {
				shut = "]})>"[k : k+1]
			}
			l.upTo(textToken, j+2, shut+"'")
			return
		}
	}
	if word == "GO" && (l.d == TSQL || l.d == Any) && alone(s, l.i, j) {
		l.add(markToken, ";", j)
		return
	}
	l.out = append(l.out, token{kind: wordToken, text: word, raw: s[l.i:j], at: l.i, end: j})
	l.i = j
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
