package summarizers

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// closing are the signs that quote, each with the one that ends it.
var closing = map[rune]rune{'"': '"', '“': '”', '„': '“', '「': '」', '『': '』', '«': '»', '\'': '\'', '‘': '’', '`': '`'}

// quotations returns where the quoted texts of a text begin and end: the places of their signs. Of those within
// others only the outer ones.
func quotations(r []rune) [][2]int {
	var out [][2]int
	for i := 0; i < len(r); i++ {
		end, ok := closing[r[i]]
		if !ok || (apostrophe(r[i]) && i > 0 && wordish(r[i-1])) {
			continue
		}
		depth := 1
		for j := i + 1; j < len(r); j++ {
			if r[j] == end && (!apostrophe(end) || j+1 >= len(r) || !wordish(r[j+1])) {
				if depth--; depth == 0 {
					out = append(out, [2]int{i, j})
					i = j
					break
				}
			} else if r[j] == r[i] && r[i] != end {
				depth++
			}
		}
	}
	return out
}

// apostrophe says whether a sign stands in words, too: it's.
func apostrophe(r rune) bool { return r == '\'' || r == '’' || r == '‘' }

// asItStands begins what is looked for as a part of evidence that has the marks, too.
const asItStands = '\x00'

// within is a quotation mark with the words around it, as it would have to stand in evidence that has it itself, such
// as the second of 5" and 3.5"; then with what follows it, as a piece would begin, and with what stands before it, as
// one would end.
func within(r []rune, i int) string {
	// A word ends where other marks begin: they may be those of the finding.
	word := func(from, by int) int {
		at, said := from+by, false
		for at >= 0 && at < len(r) && unicode.IsSpace(r[at]) {
			at += by
		}
		for n := 0; at >= 0 && at < len(r) && !unicode.IsSpace(r[at]) && n < 20; n++ {
			mark := r[at] == '…' || plainRune(r[at]) == '\''
			if said && mark {
				break
			}
			said = said || !mark
			at += by
		}
		return at
	}
	from, to := word(i, -1)+1, word(i, 1)
	return string(asItStands) + string(r[from:to]) + string(asItStands) + string(r[i:to]) + string(asItStands) + string(r[from:i+1])
}

// plainRune is a character as it is compared: of full width as the plain one, every space and every quotation
// mark alike.
func plainRune(r rune) rune {
	switch {
	case r >= '！' && r <= '～':
		r -= '！' - '!'
	case r == '\n':
		return r
	case unicode.IsSpace(r) || r == '\u3000':
		return ' '
	}
	switch r {
	case '"', '“', '”', '„', '「', '」', '『', '』', '«', '»', '‘', '’', '‚', '`', '´', '′':
		return '\''
	case '‐', '‑':
		return '-'
	}
	return r
}

func plainRunes(r []rune) []rune {
	out := make([]rune, len(r))
	for i, c := range r {
		out[i] = plainRune(c)
	}
	return out
}

// norm is a text as it is compared: plain characters, one space between words and none beside Chinese, where some
// people put one and some do not. Line ends stay.
func norm(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	space, last := false, '\n'
	for _, r := range clean(text) {
		r = plainRune(r)
		if r == ' ' {
			space = true
			continue
		}
		if space && last != '\n' && r != '\n' && !han(last) && !han(r) {
			b.WriteByte(' ')
		}
		space = false
		if r == '\n' && last == '\n' {
			continue
		}
		b.WriteRune(r)
		last = r
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// quotes says whether one piece of the text has what is quoted: word for word, where it stands for itself. What an
// ellipsis leaves out may be anything.
func (f *facts) quotes(said string) bool {
	if context, ok := strings.CutPrefix(said, string(asItStands)); ok {
		of := strings.Split(strings.ReplaceAll(context, "\n", " "), string(asItStands))
		for i := range of {
			of[i] = norm(of[i])
		}
		text := "\n" + f.text + "\n"
		return strings.Contains(text, of[0]) || strings.Contains(text, "\n"+of[1]) || strings.Contains(text, of[2]+"\n")
	}
	said = norm(strings.ReplaceAll(said, "\n", " "))
	if f.contains(said) {
		return true
	}
	// In English a comma or full stop is often put within the marks.
	if short := strings.TrimRight(said, ",.;"); short != said && short != "" && f.contains(short) {
		return true
	}
	parts := strings.FieldsFunc(strings.ReplaceAll(said, "...", "…"), func(r rune) bool { return r == '…' })
	if len(parts) == 0 || (len(parts) == 1 && parts[0] == said) {
		return false
	}
	for line := range strings.Lines(f.text) {
		at, all := 0, true
		for _, p := range parts {
			p = strings.TrimSpace(p)
			i := strings.Index(line[at:], p)
			if all = i >= 0; !all {
				break
			}
			at += i + len(p)
		}
		if all {
			return true
		}
	}
	return false
}

// contains finds a text where no word or number of it is a part of a longer one.
func (f *facts) contains(said string) bool {
	for at := 0; ; {
		i := strings.Index(f.text[at:], said)
		if i < 0 || said == "" {
			return said == ""
		}
		from, to := at+i, at+i+len(said)
		before, _ := utf8.DecodeLastRuneInString(f.text[:from])
		after, size := utf8.DecodeRuneInString(f.text[to:])
		next, _ := utf8.DecodeRuneInString(f.text[to+size:])
		first, _ := utf8.DecodeRuneInString(said)
		last, _ := utf8.DecodeLastRuneInString(said)
		broken := (wordish(first) && wordish(before)) || (wordish(last) && wordish(after)) ||
			(digit(last) && (after == '.' || after == ',') && digit(next))
		if !broken {
			return true
		}
		at = from + 1
		for at < len(f.text) && !utf8.RuneStart(f.text[at]) {
			at++
		}
	}
}
