package inline

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"deskbell/backend/gate/lazy"
)

// The kinds of tokens.
const (
	name    = 'n'
	text    = 's' // a string
	number  = 'd'
	sign    = 'o' // one character of an operator or a bracket, or one of twoSigns
	pattern = 'r' // a regular expression
	line    = ';' // the end of a line or of a statement
)

// A token is a word of a program. A string that has code in it holds the tokens of that code.
type token struct {
	kind  byte
	text  string // a string's value when lit
	lit   bool   // a string whose value is known
	space bool   // white space stands before it
	at    int    // where it begins, in bytes
	inner []token
	quote byte // that of a string, where it matters
}

// is says whether a token is one of some operators, or ends a line.
func (t token) is(signs ...string) bool {
	return (t.kind == sign || t.kind == line) && oneOf(t.text, signs...)
}

// word says whether a token is one of some names.
func (t token) word(names ...string) bool { return t.kind == name && oneOf(t.text, names...) }

func oneOf(s string, list ...string) bool { return slices.Contains(list, s) }

// A lexer reads one program. It stops at the first thing of which it is not sure how the language would read it, so that
// what it takes for the content of a string is never code.
type lexer struct {
	language string
	s        string
	i        int
	out      []token
	open     []int // for each open bracket, the index of the token before it
	deep     int
	inner    bool // the code is in a string
	newline  int  // where a line ended since the last token, plus one
	failed   string
}

const maxDeep = 8 // of code within strings within code

func lex(language, s string) ([]token, string) {
	l := &lexer{language: language, s: s}
	l.run(0)
	return l.out, l.failed
}

func (l *lexer) fail(at int) {
	if l.failed == "" {
		end := min(len(l.s), at+40)
		l.failed = l.s[at:end]
		if l.failed == "" {
			l.failed = "…"
		}
	}
	l.i = len(l.s)
}

func (l *lexer) add(kind byte, s string, at int) {
	l.endLine(s)
	space := at > 0 && strings.IndexByte(" \t\r\n", l.s[at-1]) >= 0
	l.out = append(l.out, token{kind: kind, text: s, at: at, space: space})
}

// endLine makes a token of the end of a line before another token, where it can end a statement. It may be called when none is
// due.
func (l *lexer) endLine(next string) {
	at := l.newline - 1
	if l.newline = 0; at < 0 {
		return
	}
	last := l.last()
	switch {
	case last.kind == line, l.language == "perl", l.language == "php", l.language == "lua",
		last.kind == sign && (oneOf(last.text, ".", ",", "&&", "||", "?.", "&.", "::", "->")):
		return
	case l.language == "python":
		if len(l.open) > 0 || l.inner {
			return
		}
	case l.language == "javascript":
		if last.kind == sign && last.text != ")" && last.text != "]" && last.text != "}" && last.text != "++" && last.text != "--" ||
			next != "" && strings.Contains(".([`?,+-*/%&|^<>=!)]:", next[:1]) && next != "++" && next != "--" {
			return
		}
	case l.language == "ruby":
		if next == "." || next == "&." || last.kind == sign && strings.Contains("+-*/=<>|&", last.text[:1]) {
			return
		}
	}
	l.out = append(l.out, token{kind: line, text: "\n", at: at})
}

func (l *lexer) last() token {
	if len(l.out) == 0 {
		return token{kind: line}
	}
	return l.out[len(l.out)-1]
}

// Operators of two characters that must not be taken for two.
var twoSigns = lazy.Set("== != <= >= => -> := ** // || && ?? ?. ?-> :: =~ !~ << >> ++ -- .. <=> &. += -= *= /= |= ")

func digit(c byte) bool { return c >= '0' && c <= '9' }

func letter(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// run reads until the closing brace of code in a string, or to the end when until is 0.
func (l *lexer) run(until byte) {
	depth := 0
	if l.inner = until != 0; l.i == 0 {
		l.lineStart()
	}
	for l.i < len(l.s) && l.failed == "" {
		c, at := l.s[l.i], l.i
		switch {
		case c == ' ' || c == '\t' || c == '\r' && strings.HasPrefix(l.s[l.i:], "\r\n"):
			l.i++
		case c == '\n':
			l.i++
			l.newline = at + 1
			l.lineStart()
		case c == ':' && until != 0 && depth == 0 && l.language == "python":
			l.format()
		case c == '\\' && strings.HasPrefix(l.s[l.i:], "\\\n"):
			l.i += 2
		case until != 0 && c == until && depth == 0:
			return
		case l.comment(), l.quoted(), l.special():
		case letter(c) || c == '$' && l.language == "javascript":
			l.word(c, at)
		case l.foreign(c):
			l.fail(at)
		default:
			if depth += l.operator(c, at); depth < 0 {
				l.fail(at)
				return
			}
		}
	}
	if until != 0 && l.failed == "" {
		l.fail(max(0, len(l.s)-40))
	}
	l.endLine("")
}

// foreign says whether a character is one outside of strings that languages read in more than one way: names of other letters
// are normalized, or spelled with escapes.
func (l *lexer) foreign(c byte) bool {
	return c == '#' && l.language == "javascript" || c >= utf8.RuneSelf || c < ' ' || c == '\\' && l.language != "perl" && l.language != "php"
}

// word reads a name or a number.
func (l *lexer) word(c byte, at int) {
	if digit(c) {
		for l.i++; l.i < len(l.s) && (letter(l.s[l.i]) || l.s[l.i] == '.' && l.i+1 < len(l.s) && digit(l.s[l.i+1])); l.i++ {
		}
		l.add(number, l.s[at:l.i], at)
		return
	}
	for l.i++; l.i < len(l.s) && (letter(l.s[l.i]) || l.s[l.i] == '$' && l.language == "javascript"); l.i++ {
	}
	if l.i < len(l.s) && l.language == "ruby" && (l.s[l.i] == '?' || l.s[l.i] == '!') && !strings.HasPrefix(l.s[l.i+1:], "=") {
		l.i++
	}
	l.add(name, l.s[at:l.i], at)
}

// operator reads an operator or a bracket, and returns by how much brackets nest deeper after it.
func (l *lexer) operator(c byte, at int) (deeper int) {
	l.i++
	if l.i < len(l.s) && twoSigns()[l.s[at:l.i+1]] {
		l.i++
	}
	l.endLine(l.s[at:l.i])
	kind := byte(sign)
	switch c {
	case ';':
		kind = line
	case '(', '[', '{':
		deeper = 1
		l.open = append(l.open, len(l.out)-1)
	case ')', ']', '}':
		deeper = -1
		if n := len(l.open) - 1; n >= 0 {
			before := l.open[n]
			l.open = l.open[:n]
			defer func() { l.closed(c, before) }()
		}
	}
	l.add(kind, l.s[at:l.i], at)
	return deeper
}

// format reads what follows the colon in the braces of Python's strings: text, with code in braces of its own.
func (l *lexer) format() {
	for l.i++; l.i < len(l.s); l.i++ {
		switch c := l.s[l.i]; {
		case c == '}':
			return
		case c == '{':
			var t token
			if l.i = l.code(&t, l.i+1, '}') - 1; l.i < 0 {
				return
			}
			l.out = append(l.out, t.inner...)
		case strings.IndexByte("\"'\\#\n\r", c) >= 0:
			l.fail(l.i)
			return
		}
	}
}

// closed remembers on a closing bracket what stood before its opening one: after the condition of an if, a slash begins a
// pattern.
func (l *lexer) closed(c byte, before int) {
	if before < 0 || l.out[before].kind != name || before > 0 && l.out[before-1].kind == sign && strings.Contains("$@%&.->::", l.out[before-1].text) && l.language != "javascript" {
		return
	}
	switch t := &l.out[len(l.out)-1]; l.out[before].text {
	case "if", "while", "for", "with", "unless", "until", "await":
		t.lit = c == ')'
	case "map", "grep", "sort":
		t.lit = c == '}' && l.language == "perl"
	}
}

// lineStart looks at what only the beginning of a line can be.
func (l *lexer) lineStart() {
	rest := l.s[l.i:]
	switch {
	case l.language == "perl" && len(rest) > 1 && rest[0] == '=' && letter(rest[1]):
		l.fail(l.i)
	case l.language == "ruby" && strings.HasPrefix(rest, "=begin"):
		l.fail(l.i)
	case (l.language == "perl" || l.language == "ruby") && (strings.HasPrefix(rest, "__END__") || strings.HasPrefix(rest, "__DATA__")):
		if end := strings.IndexByte(rest+"\n", '\n'); strings.TrimSpace(rest[:end]) != "__END__" && strings.TrimSpace(rest[:end]) != "__DATA__" {
			l.fail(l.i)
			return
		}
		l.i = len(l.s)
	}
}

func (l *lexer) comment() bool {
	rest := l.s[l.i:]
	switch l.language {
	case "lua":
		if !strings.HasPrefix(rest, "--") {
			return false
		}
		if strings.HasPrefix(rest, "--[") {
			l.fail(l.i)
			return true
		}
	case "javascript", "php", "go":
		switch {
		case l.language == "php" && rest[0] == '#' && !strings.HasPrefix(rest, "#["):
		case l.language == "php" && (strings.HasPrefix(rest, "?>") || strings.HasPrefix(rest, "<<<") || rest[0] == '#'):
			l.fail(l.i)
			return true
		case l.language == "php" && strings.HasPrefix(rest, "<?php") && l.i == 0:
			l.i += len("<?php")
			return true
		case strings.HasPrefix(rest, "//"):
			// A pattern is never empty.
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				l.fail(l.i)
				return true
			}
			l.i += end + 4
			return true
		case l.language == "javascript" && (strings.HasPrefix(rest, "<!--") || strings.HasPrefix(rest, "-->")):
			l.fail(l.i)
			return true
		default:
			return false
		}
	default:
		if rest[0] != '#' {
			return false
		}
		if l.language == "perl" && l.i > 0 && (l.s[l.i-1] == '$' || l.s[l.i-1] == '@') {
			return false
		}
	}
	end := strings.IndexAny(rest, "\n\u2028\u2029\r")
	if end < 0 {
		end = len(rest)
	}
	if end < len(rest) && rest[end] != '\n' && !strings.HasPrefix(rest[end:], "\r\n") {
		l.fail(l.i) // languages differ in what ends a line
		return true
	}
	l.i += end
	return true
}

// How languages quote: c where a string holds code or variables, e where it holds escapes, r where it holds neither and no way
// to write its quote, x where what runs is quoted.
var quotes = sync.OnceValue(func() map[string]map[byte]string {
	words := map[byte]string{'"': "ce", '\'': "", '`': "x"}
	return map[string]map[byte]string{
		"javascript": {'"': "e", '\'': "e", '`': "ce"}, "lua": {'"': "e", '\'': "e"}, "awk": {'"': "e"}, "go": {'"': "e", '\'': "e", '`': "r"},
		"perl": words, "ruby": words, "php": words,
	}
})

// quoted reads a string or a pattern, where one begins.
func (l *lexer) quoted() bool {
	c := l.s[l.i]
	if l.newline > 0 && strings.IndexByte("\"'`/", c) >= 0 {
		l.endLine(l.s[l.i : l.i+1])
	}
	if l.language == "python" {
		return l.pythonString()
	}
	how, ok := quotes()[l.language][c]
	switch {
	case c == '/':
		return l.slash()
	case l.language == "lua" && c == '[' && l.i+1 < len(l.s) && (l.s[l.i+1] == '[' || l.s[l.i+1] == '='), how == "x":
		l.fail(l.i)
		return true
	case !ok:
		return false
	case how == "r":
		end := strings.IndexByte(l.s[l.i+1:], c)
		if end < 0 {
			l.fail(l.i)
			return true
		}
		l.out = append(l.out, token{kind: text, text: l.s[l.i+1 : l.i+1+end], lit: true, at: l.i})
		l.i += end + 2
		return true
	}
	l.str(l.i, l.i+1, c, c, strings.Contains(how, "c"), strings.Contains(how, "e"))
	return true
}

func (l *lexer) pythonString() bool {
	j := l.i
	for j < len(l.s) && j-l.i < 3 && strings.IndexByte("rRbBfFuUtT", l.s[j]) >= 0 {
		j++
	}
	if j >= len(l.s) || l.s[j] != '"' && l.s[j] != '\'' {
		return false
	}
	l.endLine(l.s[j : j+1])
	prefix, at := strings.ToLower(l.s[l.i:j]), l.i
	q := l.s[j : j+1]
	if strings.HasPrefix(l.s[j:], strings.Repeat(q, 3)) {
		q = strings.Repeat(q, 3)
	}
	j += len(q)
	f, raw := strings.ContainsAny(prefix, "ft"), strings.Contains(prefix, "r")
	t := token{kind: text, at: at, lit: true}
	var b strings.Builder
	for {
		switch {
		case j >= len(l.s) || len(q) == 1 && l.s[j] == '\n':
			l.fail(at)
			return true
		case strings.HasPrefix(l.s[j:], q):
			t.text = b.String()
			l.i, l.out = j+len(q), append(l.out, t)
			return true
		case f && l.s[j] == '\\' && j+1 < len(l.s) && (l.s[j+1] == '{' || l.s[j+1] == '}'):
			t.lit = false
			j++
		case l.s[j] == '\\' && raw && j+1 < len(l.s):
			b.WriteString(l.s[j : j+2])
			j += 2
		case l.s[j] == '\\':
			v, n := escape(l.s[j:])
			if n == 0 {
				t.lit = false
				n = min(2, len(l.s)-j)
			}
			b.WriteString(v)
			j += n
		case f && (strings.HasPrefix(l.s[j:], "{{") || strings.HasPrefix(l.s[j:], "}}")):
			b.WriteByte(l.s[j])
			j += 2
		case f && l.s[j] == '{':
			t.lit = false
			if j = l.code(&t, j+1, '}'); j < 0 {
				return true
			}
		default:
			b.WriteByte(l.s[j])
			j++
		}
	}
}

// code reads code within a string, from a position to the closing brace, and returns the position after it; -1 when it fails.
// What follows a colon in Python's braces is a format, which may hold code again; it reads like code.
func (l *lexer) code(t *token, from int, until byte) int {
	if l.deep++; l.deep > maxDeep {
		l.fail(from)
		return -1
	}
	in := &lexer{language: l.language, s: l.s, i: from, deep: l.deep}
	in.run(until)
	l.deep--
	if in.failed != "" {
		l.failed, l.i = in.failed, len(l.s)
		return -1
	}
	t.inner = append(t.inner, token{kind: line, text: "\n", at: from})
	t.inner = append(t.inner, in.out...)
	return in.i + 1
}

// str reads a string that ends with a character; opening is the one that nests in it, where it is another.
func (l *lexer) str(at, from int, opening, closing byte, codes, escapes bool) {
	l.endLine(l.s[at : at+1])
	t := token{kind: text, at: at, lit: true, quote: closing, space: at > 0 && l.s[at-1] == ' '}
	var b strings.Builder
	depth := 0
	for j := from; ; {
		if j >= len(l.s) {
			l.fail(at)
			return
		}
		switch c := l.s[j]; {
		case c == '\\' && j+1 < len(l.s):
			v, n := escape(l.s[j:])
			if !escapes {
				v, n = l.s[j+1:j+2], 2
				if v != string(closing) && v != `\` {
					v = `\` + v
				}
			}
			if n == 0 {
				t.lit, n = false, 2
			}
			b.WriteString(v)
			j += n
		case c == closing && depth == 0:
			t.text = b.String()
			l.i, l.out = j+1, append(l.out, t)
			return
		case c == '\n' && l.language == "javascript" && closing != '`':
			l.fail(at)
			return
		case opening != closing && c == opening:
			depth++
			b.WriteByte(c)
			j++
		case opening != closing && c == closing:
			depth--
			b.WriteByte(c)
			j++
		case codes && l.inserts(&t, &j):
			if j < 0 {
				return
			}
		default:
			b.WriteByte(c)
			j++
		}
	}
}

// inserts reads what is put into a string at j: a variable, or code. It says whether there is any, and sets j to -1 where it is
// not sure.
func (l *lexer) inserts(t *token, j *int) bool {
	rest := l.s[*j:]
	next := byte(0)
	if len(rest) > 1 {
		next = rest[1]
	}
	sure, skip := true, 1
	switch c := rest[0]; {
	case l.language == "ruby" && c == '#' && (next == '@' || next == '$'):
		skip = 2
	case l.begins(*j) > 0:
		t.lit = false
		*j = l.code(t, *j+l.begins(*j), '}')
		return true
	case l.language == "php" && (c == '{' && next == '$' || c == '$' && next == '{'):
		end := strings.IndexByte(rest, '}')
		sure, skip = end >= 0 && !strings.ContainsAny(rest[:end+1], "()`") && c != '$', end+1
	case l.language == "php" && c == '$':
	case l.language == "perl" && (c == '$' || c == '@') && next != 0:
		sure = strings.IndexByte("{$&", next) < 0 || plainBraces(rest[1:])
	case l.language == "perl" && !t.lit && (c == '[' || c == '{'):
		sure = plainIndex(rest)
	default:
		return false
	}
	if t.lit = false; !sure {
		l.fail(*j)
		*j = -1
		return true
	}
	*j += skip
	return true
}

// begins is how long the mark is that begins code in a string, at a position; 0 where none does.
func (l *lexer) begins(j int) int {
	if l.language == "javascript" && strings.HasPrefix(l.s[j:], "${") || l.language == "ruby" && strings.HasPrefix(l.s[j:], "#{") {
		return 2
	}
	return 0
}

// plainIndex says whether an index begins, after a variable in a string, that is a number, a word or a variable.
func plainIndex(s string) bool {
	end := strings.IndexByte(s, map[bool]byte{true: '}', false: ']'}[s[0] == '{'])
	if end < 0 {
		return false
	}
	in := strings.TrimLeft(s[1:end], "$-")
	return strings.Trim(in, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_,") == ""
}

// plainVariables says whether the variables in a pattern of Perl have only plain indices, or none.
func plainVariables(s string) bool {
	for i := 0; i+1 < len(s); i++ {
		if s[i] == '\\' {
			i++
			continue
		}
		if s[i] != '$' && s[i] != '@' || !letter(s[i+1]) && s[i+1] != ':' {
			continue
		}
		j := i + 1
		for j < len(s) && (letter(s[j]) || s[j] == ':') {
			j++
		}
		for j < len(s) && (s[j] == '[' || s[j] == '{') {
			if !plainIndex(s[j:]) {
				return false
			}
			j += strings.IndexAny(s[j:], "]}") + 1
		}
	}
	return true
}

// plainBraces says whether a name in braces follows, or a variable.
func plainBraces(s string) bool {
	s = strings.TrimLeft(s, "$")
	if !strings.HasPrefix(s, "{") {
		return s == "" || letter(s[0]) || s[0] == '&' || s[0] == ' ' || s[0] == '"'
	}
	end := strings.IndexByte(s, '}')
	return end > 0 && strings.Trim(s[1:end], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$") == ""
}

// escape is what a backslash and what follows stand for, and how many bytes they are; 0 where this differs between languages.
func escape(s string) (value string, n int) {
	if len(s) < 2 {
		return "", 0
	}
	number := func(from, most int) (string, int) {
		end := from
		for end < len(s) && end < from+most && strings.IndexByte("0123456789abcdefABCDEF", s[end]) >= 0 {
			end++
		}
		v, err := strconv.ParseUint(s[from:end], 16, 32)
		if err != nil || end-from < most || v > 0x7e && most == 2 {
			return "", 0
		}
		return string(rune(v)), end
	}
	switch s[1] {
	case 'n':
		return "\n", 2
	case 't':
		return "\t", 2
	case 'r':
		return "\r", 2
	case '\n':
		return "", 2
	case '\\', '\'', '"':
		return s[1:2], 2
	case 'x':
		return number(2, 2)
	case 'u':
		if len(s) > 2 && s[2] != '{' {
			return number(2, 4)
		}
	}
	return "", 0
}

// slash reads a pattern where one begins, and what is quoted in other ways.
func (l *lexer) slash() bool {
	if oneOf(l.language, "go", "lua", "php") {
		return false // which have none
	}
	prev := l.last()
	next := byte(' ')
	if l.i+1 < len(l.s) {
		next = l.s[l.i+1]
	}
	spaced := l.i > 0 && strings.IndexByte(" \t\n", l.s[l.i-1]) >= 0
	keyword := prev.kind == name && startsPattern()[l.language][prev.text] && (len(l.out) < 2 || l.out[len(l.out)-2].kind != sign || !strings.Contains("$@%&.->::?.", l.out[len(l.out)-2].text))
	switch {
	case prev.kind == number, prev.kind == text, prev.kind == pattern, prev.is("]"), prev.is(")") && !prev.lit:
		return false // divides
	case keyword, prev.is("}") && prev.lit && l.language == "perl", prev.is(")") && prev.lit && l.language == "awk":
	case prev.kind == name && l.language == "awk", prev.kind == name && l.language == "perl" && len(l.out) > 1 && strings.Contains("$@%", l.out[len(l.out)-2].text):
		return false
	case prev.kind == name && l.language == "javascript" && !mayStart()[prev.text], prev.kind == name && l.language == "ruby" && (!spaced || next == ' ' || next == '='):
		return false
	case prev.kind == name, prev.is("}") && l.language != "awk", prev.is("++"), prev.is("--"), prev.is(")") && l.language != "awk":
		l.fail(l.i)
		return true
	}
	l.regex(l.i, l.i+1, '/', '/', false)
	return true
}

// Words after which a slash begins a pattern, and those after which it may.
var (
	startsPattern = sync.OnceValue(func() map[string]map[string]bool {
		all := map[string]map[string]bool{}
		for language, words := range map[string]string{
			"javascript": "return typeof case in delete void instanceof new do else throw",
			"perl":       "split grep map join if unless while until and or not x lt gt le ge eq ne cmp return print push unshift elsif xor foreach for when",
			"ruby":       "if unless while until and or not when return in elsif then do else case",
			"awk":        "in return print printf exit case",
		} {
			all[language] = lazy.Words(words)
		}
		return all
	})
	mayStart = lazy.Set("return typeof case in of delete void instanceof new do else throw await yield let async get set")
)

// regex reads a pattern up to its end, and its flags. What it holds is no code, except where a language allows it.
func (l *lexer) regex(at, from int, opening, closing byte, substitute bool) {
	l.endLine(l.s[at : at+1])
	j := l.patternEnd(from, opening, closing)
	if j < 0 || !l.plainPattern(l.s[from:j]) {
		l.fail(at)
		return
	}
	var replacement [2]int
	end := j + 1
	if substitute {
		if replacement, end = l.second(at, end, opening, closing); l.failed != "" {
			return
		}
	}
	flags := end
	for end < len(l.s) && letter(l.s[end]) {
		end++
	}
	t := token{kind: pattern, text: l.s[from:j], at: at}
	switch f := l.s[flags:end]; {
	case l.language == "perl" && strings.Trim(f, "msixpodualngcre") != "" || strings.Count(f, "e") > 1:
		l.fail(at)
		return
	case substitute:
		l.replacement(&t, replacement, strings.Contains(f, "e"))
		if l.failed != "" {
			return
		}
	}
	l.i = end
	l.out = append(l.out, t)
}

// patternEnd is where a pattern ends; -1 where it does not.
func (l *lexer) patternEnd(from int, opening, closing byte) int {
	class, depth := false, 0
	classes := closing == '/' && l.language != "perl" && l.language != "ruby"
	for j := from; j < len(l.s) && (l.s[j] != '\n' || l.language == "perl" || l.language == "ruby"); j++ {
		switch c := l.s[j]; {
		case c == '\\':
			j++
		case c == '[' && classes:
			class = true
		case c == ']':
			class = false
		case opening != closing && c == opening:
			depth++
		case opening != closing && c == closing && depth > 0:
			depth--
		case c == closing && !class:
			return j
		}
	}
	return -1
}

// plainPattern says whether a pattern holds no code.
func (l *lexer) plainPattern(body string) bool {
	if _, rest, ok := strings.Cut(body, "${"); ok && !plainBraces("{"+rest) {
		return false
	}
	switch l.language {
	case "ruby":
		return !strings.Contains(body, "#{")
	case "perl":
		return !strings.Contains(body, "(?{") && !strings.Contains(body, "(??{") && !strings.Contains(body, "@{") &&
			(!strings.Contains(body, "$") || !strings.Contains(body, "->")) && plainVariables(body)
	}
	return true
}

// second reads what a pattern is replaced by, and returns where it begins and ends, and what follows it.
func (l *lexer) second(at, end int, opening, closing byte) (where [2]int, after int) {
	if opening != closing {
		for end < len(l.s) && space(l.s[end]) {
			end++
		}
		if end >= len(l.s) || l.s[end] != opening {
			l.fail(at)
			return where, end
		}
		end++
	}
	n := len(l.out)
	if l.str(at, end, opening, closing, false, true); l.failed != "" {
		return where, end
	}
	l.out = l.out[:n]
	return [2]int{end, l.i - 1}, l.i
}

// replacement reads what a pattern is replaced by: code, or a string that may hold variables.
func (l *lexer) replacement(t *token, where [2]int, code bool) {
	if l.deep >= maxDeep {
		l.fail(where[0])
		return
	}
	in := &lexer{language: l.language, s: l.s[:where[1]], i: where[0], deep: l.deep + 1}
	if code {
		in.run(0)
	} else {
		in.s += "\x00"
		in.str(where[0], where[0], 0, 0, true, true)
	}
	if in.failed != "" {
		l.fail(where[0])
		return
	}
	t.inner = append([]token{{kind: line, text: "\n", at: where[0]}}, in.out...)
}

// special reads what only Perl and Ruby have: quotes of one's own choice, variables of signs, symbols.
func (l *lexer) special() bool {
	if l.language != "perl" && l.language != "ruby" {
		return false
	}
	rest, prev := l.s[l.i:], l.last()
	if l.language == "ruby" {
		return l.rubySpecial(rest, prev)
	}
	switch c := rest[0]; {
	case strings.HasPrefix(rest, "<<") && len(rest) > 2 && (letter(rest[2]) && rest[2] > '9' || strings.IndexByte("\"'~`", rest[2]) >= 0):
		l.fail(l.i)
		return true
	case c == '$' && l.perlVariable(rest):
		return true
	case c == '<' && (prev.kind == sign && !prev.is(")", "]", "}") || prev.kind == line || prev.is("(") || prev.kind == name && startsPattern()[l.language][prev.text]):
		end := strings.IndexByte(rest, '>')
		if end < 0 || strings.Trim(rest[1:end], "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_$0123456789") != "" {
			l.fail(l.i)
			return true
		}
		l.add(number, rest[:end+1], l.i) // a line of a file that is open
		l.i += end + 1
		return true
	case strings.IndexByte("qmsty", c) >= 0 && (l.i == 0 || !letter(l.s[l.i-1])) && strings.IndexByte("$@%&:>", before(l.s, l.i)) < 0:
		return l.perlQuote(rest)
	}
	return false
}

// perlVariable reads a variable whose name is a sign.
func (l *lexer) perlVariable(rest string) bool {
	after := byte(' ')
	if len(rest) > 2 {
		after = rest[2]
	}
	switch {
	case rest == "$":
		return false
	case rest[1] == '$': // the number of the process, or what a variable refers to
		if letter(after) || after == '{' {
			return false
		}
		if strings.IndexByte(" ;,)\n", after) < 0 {
			l.fail(l.i)
			return true
		}
	case rest[1] == '_' && letter(after), strings.IndexByte("_!@/,;.&0\\|\"^+-<>()[]?:'`~#=", rest[1]) < 0:
		return false
	case rest[1] == '#': // the last index of an array
		l.add(sign, "$", l.i)
		l.i += 2
		return true
	}
	l.add(number, rest[:2], l.i)
	if l.i += 2; rest[1] == '^' {
		l.i++
	}
	return true
}

func before(s string, i int) byte {
	if i == 0 {
		return ' '
	}
	return s[i-1]
}

func (l *lexer) perlQuote(rest string) bool {
	for _, op := range []string{"qq", "qw", "qr", "qx", "tr", "q", "m", "s", "y"} {
		after, ok := strings.CutPrefix(rest, op)
		if !ok || after == "" || letter(after[0]) {
			continue
		}
		if strings.IndexByte("\t\n\r\f\v", after[0]) >= 0 || before(l.s, l.i) == '-' {
			l.fail(l.i)
			return true
		}
		skipped := 0
		for skipped < len(after) && after[skipped] == ' ' {
			skipped++
		}
		after = after[skipped:]
		if after == "" || strings.HasPrefix(after, "=>") || after[0] == '}' || after[0] == ';' || after[0] == ',' || after[0] == ')' || after[0] == '=' || skipped > 0 && (letter(after[0]) || after[0] == '#') {
			return false
		}
		opening, closing := after[0], after[0]
		if k := strings.IndexByte("([{<", opening); k >= 0 {
			closing = ")]}>"[k]
		}
		at, from := l.i, l.i+len(op)+skipped+1
		switch op {
		case "qx":
			l.fail(at)
		case "q", "qw":
			l.str(at, from, opening, closing, false, false)
		case "qq":
			l.str(at, from, opening, closing, true, true)
		case "m", "qr":
			l.regex(at, from, opening, closing, false)
		case "s":
			l.regex(at, from, opening, closing, true)
		case "tr", "y":
			l.transliterate(at, from, opening, closing)
		}
		return true
	}
	return false
}

// transliterate reads Perl's tr, neither part of which is code.
func (l *lexer) transliterate(at, from int, opening, closing byte) {
	n := len(l.out)
	l.str(at, from, opening, closing, false, false)
	if l.failed == "" && opening != closing {
		for l.i < len(l.s) && l.s[l.i] == ' ' {
			l.i++
		}
		if l.i >= len(l.s) || l.s[l.i] != opening {
			l.fail(at)
			return
		}
		l.i++
	}
	if l.failed == "" {
		l.str(at, l.i, opening, closing, false, false)
	}
	if l.failed != "" {
		return
	}
	l.out = append(l.out[:n], token{kind: pattern, at: at})
	for l.i < len(l.s) && strings.IndexByte("cdsr", l.s[l.i]) >= 0 {
		l.i++
	}
}

func (l *lexer) rubySpecial(rest string, prev token) bool {
	next := byte(' ')
	if len(rest) > 1 {
		next = rest[1]
	}
	operand := prev.kind == number || prev.kind == text || prev.is(")", "]", "}")
	switch c := rest[0]; {
	case strings.HasPrefix(rest, "<<") && len(rest) > 2 && (letter(rest[2]) && rest[2] > '9' || strings.IndexByte("~-\"'`", rest[2]) >= 0) && !operand:
		l.fail(l.i)
		return true
	case c == '%' && len(rest) > 2 && !operand && (prev.kind != name || !strings.HasPrefix(rest, "% ")):
		l.rubyPercent(rest)
		return true
	case c == '?' && !operand && (prev.kind != name || space(before(l.s, l.i)) && !space(next)):
		l.fail(l.i)
		return true
	case c == ':' && letter(next) && !digit(next) && (prev.kind != name || space(before(l.s, l.i))):
		l.symbol(rest)
		return true
	case c == '$' && len(rest) > 1:
		l.sigiled(name, 2, letter(next))
		return true
	case c == '@':
		l.sigiled(number, 1+btoi(strings.HasPrefix(rest, "@@")), true)
		return true
	}
	return false
}

// symbol reads the name of a method or a key, which keeps its colon.
func (l *lexer) symbol(rest string) {
	end := 1
	for end < len(rest) && (letter(rest[end]) || strings.IndexByte("?!=", rest[end]) >= 0 && end+1 < len(rest) && !letter(rest[end+1])) {
		end++
	}
	l.add(name, rest[:end], l.i)
	l.i += end
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// sigiled reads a variable that begins with a sign: some characters, and more where its name is a word.
func (l *lexer) sigiled(kind byte, first int, isWord bool) {
	end := min(l.i+first, len(l.s))
	for end < len(l.s) && isWord && letter(l.s[end]) {
		end++
	}
	l.add(kind, l.s[l.i:end], l.i)
	l.i = end
}

// rubyPercent reads what is quoted after a percent sign.
func (l *lexer) rubyPercent(rest string) {
	op, opening, closing := rest[1], rest[2], rest[2]
	if strings.IndexByte("wWiIqQr", op) < 0 || letter(opening) || opening == ' ' {
		l.fail(l.i)
		return
	}
	if k := strings.IndexByte("([{<", opening); k >= 0 {
		closing = ")]}>"[k]
	}
	if op == 'r' {
		l.regex(l.i, l.i+3, opening, closing, false)
	} else {
		l.str(l.i, l.i+3, opening, closing, op == 'Q' || op == 'W' || op == 'I', false)
	}
}

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }
