package facts

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"deskbell/backend/human"
)

// Brief is a text of one line, cut where it is longer than most characters: not within a word, a number or what is
// quoted in it, so that what is left stands in the text as it is.
func Brief(s string, most int) string {
	whole := []rune(Clean(s, 4*most))
	if len(whole) <= most {
		return string(whole)
	}
	cut := whole[:most]
	if letterOrDigit(whole[most]) {
		for len(cut) > 0 && letterOrDigit(cut[len(cut)-1]) {
			cut = cut[:len(cut)-1]
		}
	}
	for len(cut) > 0 && strings.ContainsRune(".,:-/+%", cut[len(cut)-1]) {
		cut = cut[:len(cut)-1]
		for len(cut) > 0 && unicode.IsDigit(cut[len(cut)-1]) { // 12.5 is one number
			cut = cut[:len(cut)-1]
		}
	}
	for _, marks := range []string{"“”", "\"\"", "「」", "『』", "«»", "„“", "‘’", "''"} {
		pair := []rune(marks)
		open := -1
		for i, c := range cut {
			switch {
			case open >= 0 && c == pair[1]:
				open = -1
			case c == pair[0]:
				open = i
			}
		}
		if open >= 0 {
			cut = cut[:open]
		}
	}
	return strings.TrimSpace(string(cut)) + "…"
}

// letterOrDigit says whether a character is within a word that is written with others; Chinese ones stand alone.
func letterOrDigit(c rune) bool { return (unicode.IsLetter(c) || unicode.IsDigit(c)) && !Han(c) }

// How long texts within a sentence may be, in characters.
const (
	MaxName = 80  // a name from a page or screen
	MaxSaid = 300 // words of a person, or a value
)

// Han says whether a character is Chinese.
func Han(c rune) bool { return unicode.Is(unicode.Han, c) }

// Quote puts a name or words from elsewhere into quotation marks, cleaned and on one line; "" for nothing.
func Quote(s string) string {
	out, _, whole := Shorten(s, MaxName, true)
	if out == "" {
		return ""
	}
	return Quoted(out, whole)
}

// Name is what an element, window or application is called, made fit for a sentence.
func Name(s string) string {
	out, _, whole := Shorten(s, MaxName, true)
	if !whole {
		out += "…"
	}
	return out
}

// ElementName is what an element is called, a field without a name by what stands beside it; "" where there is neither, or it is hidden.
func ElementName(e *human.Element) string {
	switch {
	case e == nil || e.Hidden != "" && e.Hidden != "secret":
		return ""
	case e.Name == "" && takesInput(e):
		return Name(e.Beside)
	}
	return Name(e.Name)
}

// Beside is what stands beside an element that has no name of its own, or shares it.
func Beside(e *human.Element) string {
	if e == nil || e.Hidden != "" {
		return ""
	}
	return Name(e.Beside)
}

// takesInput says whether an element is a field, a box to tick or the like.
func takesInput(e *human.Element) bool {
	tag, _, _ := strings.Cut(e.Tag, "/")
	return tag == "input" && !IsButton(e) || tag == "textarea" || tag == "select" || slices.Contains(e.States, "editable") ||
		slices.Contains([]string{"textbox", "searchbox", "combobox", "spinbutton", "checkbox", "switch", "slider"}, e.Role)
}

// Clean makes a text from elsewhere fit for one line of plain text: spaces for line breaks, nothing that cannot be
// seen or that turns the line round, at most longest characters. It is not cut within a word or number where it has
// more than one: half a number is another one.
func Clean(s string, longest int) string {
	out, within, whole := Shorten(s, longest, false)
	if whole {
		return out
	}
	if at := strings.LastIndexFunc(out, func(c rune) bool { return unicode.IsSpace(c) || Han(c) }); within && at > 0 {
		_, size := utf8.DecodeRuneInString(out[at:])
		out = strings.TrimSpace(out[:at+size])
	}
	return out + "…"
}

// Shorten is the first characters of a text as clean shows them; within, whether it ends within a word, and whole,
// whether it is all of it. Of a text to be quoted only one line can be: its evidence has it in lines, too.
func Shorten(s string, longest int, line bool) (out string, within, whole bool) {
	if fit(s, longest) {
		return s, false, true
	}
	var b strings.Builder
	n, space, ended := 0, false, false
	for _, c := range s {
		switch {
		case unicode.IsSpace(c):
			space = b.Len() > 0
			ended = ended || space && strings.ContainsRune("\n\v\f\r\u0085\u2028\u2029", c)
			continue
		case unseenRune(c): // invalid bytes come as U+FFFD, which is seen
			continue
		}
		if n++; n > longest || line && ended {
			return b.String(), !space, false
		}
		if space {
			b.WriteByte(' ')
			n, space = n+1, false
		}
		b.WriteRune(c)
	}
	return b.String(), false, true
}

// fit says whether a text can be shown as it is, which most names can.
func fit(s string, longest int) bool {
	if len(s) > longest || s != "" && (s[0] == ' ' || s[len(s)-1] == ' ') {
		return false
	}
	space := false
	for _, c := range s {
		switch {
		case c == ' ':
			if space {
				return false
			}
		case c < ' ', c == 0x7f, c == utf8.RuneError, c > 0x7f && (unicode.IsSpace(c) || unseenRune(c)):
			return false
		}
		space = c == ' '
	}
	return true
}

// unseenRune finds what prints as nothing or turns a line round.
func unseenRune(c rune) bool {
	switch c {
	case '\u115f', '\u1160', '\u3164', '\uffa0':
		return true
	}
	return unicode.IsControl(c) || unicode.Is(unicode.Cf, c)
}

// Exactly is a text as it is, on one line; one that is longer than most characters is shortened, and quoted to show it. So is
// one with a quotation that has no end, so that it ends before what follows.
func Exactly(s string, most int) string {
	out, _, whole := Shorten(s, most, false)
	if whole && !leavesOpen(out) {
		return out
	}
	out, _, whole = Shorten(s, most, true)
	return Quoted(out, whole)
}

// Quoted puts a cleaned text into quotation marks; what it quotes itself gets others.
func Quoted(s string, whole bool) string {
	if !whole {
		s += "…"
	}
	return "“" + innerMarks.Replace(s) + "”"
}

var innerMarks = strings.NewReplacer("“", "‘", "”", "’", "„", "‘", "\"", "’")

// leavesOpen says whether a text has a sign that begins a quotation and none that ends it.
func leavesOpen(s string) bool {
	if !strings.ContainsAny(s, "\"“„「『«'‘`") {
		return false
	}
	r := []rune(s)
	for i := 0; i < len(r); i++ {
		end, ok := quotationEnds[r[i]]
		if !ok || (r[i] == '\'' || r[i] == '‘') && i > 0 && inWord(r[i-1]) { // it's
			continue
		}
		j := i + 1
		for j < len(r) && r[j] != end {
			j++
		}
		if j == len(r) {
			return true
		}
		i = j
	}
	return false
}

// inWord characters come before an apostrophe.
func inWord(c rune) bool {
	return unicode.IsLetter(c) && !unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || c >= '0' && c <= '9'
}

var quotationEnds = map[rune]rune{'"': '"', '“': '”', '„': '“', '「': '」', '『': '』', '«': '»', '\'': '\'', '‘': '’', '`': '`'}
