package facts

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Asks says whether a text asks for an answer.
func Asks(text string) bool {
	text = strings.TrimRight(strings.TrimSpace(text), "\"”'’）) ")
	if strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？") || strings.HasSuffix(text, "؟") || strings.HasSuffix(text, "吗") || strings.HasSuffix(text, "呢") {
		return true
	}
	return HasAny(text, enAskPhrases, zhAsks)
}

// Questions says whether something is asked in a text.
func Questions(text string) bool { return slices.ContainsFunc(Split(text), Asks) }

// Question is what a message asks, without what it says besides.
func Question(text string) string {
	all := slices.DeleteFunc(Split(text), func(s string) bool { return !Asks(s) })
	if len(all) == 0 || strings.ContainsAny(text, "\n\r\u0085\u2028\u2029\v\f") {
		return text
	}
	return all[0]
}

// HasEnd says whether a text ends as a sentence does.
func HasEnd(s string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, "”\""))
	return strings.ContainsRune(".?!。？！…", last)
}

// SpeaksOf says whether a text speaks of an area, in its words or in others for the same; sure is false where that
// cannot be told, since the text is in another language than the area.
func SpeaksOf(text, area string) (spoken, sure bool) {
	low, name := Flat(text), Flat(area)
	if strings.Contains(low, strings.TrimSpace(name)) || strings.Contains(text, strings.TrimSpace(area)) {
		return true, true
	}
	known := false
	for i := range enAreas {
		of := slices.ContainsFunc(enAreas[i], func(w string) bool { return strings.Contains(name, " "+w) }) ||
			slices.ContainsFunc(zhAreas[i], func(w string) bool { return strings.Contains(area, w) })
		if !of {
			continue
		}
		known = true
		if slices.ContainsFunc(enAreas[i], func(w string) bool { return strings.Contains(low, " "+w) }) ||
			slices.ContainsFunc(zhAreas[i], func(w string) bool { return strings.Contains(text, w) }) {
			return true, true
		}
	}
	han := []rune(area)
	if HasHan(area) {
		// Its first two characters, or its last, are mostly a word.
		if len(han) >= 2 && strings.Contains(text, string(han[:2])) || len(han) >= 4 && strings.Contains(text, string(han[len(han)-2:])) {
			return true, true
		}
		return false, known || HasHan(text)
	}
	words := strings.Fields(name)
	for _, w := range words {
		if enStop[w] || len(w) < 3 {
			continue
		}
		root := w[:min(len(w), 5)]
		if !utf8.ValidString(root) {
			root = w
		}
		if strings.Contains(low, " "+root) {
			return true, true
		}
	}
	return false, known || !HasHan(text)
}

// maxClauses of an expectation are read.
const maxClauses = 5

// Sentences takes an expectation apart into what can hold each for itself.
func Sentences(text string) []string {
	var out []string
	from := 0
	r := []rune(text)
	cut := func(to, next int) {
		if s := strings.TrimSpace(string(r[from:to])); s != "" {
			out = append(out, s)
		}
		from = next
	}
	for i, c := range r {
		switch c {
		case '。', '；', '\n', '！', ';', '!':
			cut(i, i+1)
		case '.':
			if stops(r, i) {
				cut(i, i+1)
			}
		}
	}
	cut(len(r), len(r))
	var parts []string
	for _, s := range out {
		parts = append(parts, joints(s)...)
	}
	return parts[:min(len(parts), maxClauses)]
}

// joints parts what is joined by and, where both sides can stand alone.
func joints(s string) []string {
	for _, and := range []string{", and ", " and ", "，并且", "，而且", "，同时", "，并", "，", "并且", ", "} {
		before, after, found := strings.Cut(s, and)
		if !found {
			continue
		}
		a, b := Claims(before), Claims(after)
		if a.stands() && b.stands() {
			return append([]string{strings.TrimSpace(before)}, joints(strings.TrimSpace(after))...)
		}
	}
	return []string{s}
}

// stops says whether a full stop ends a sentence: not after an initial, nor within a name or a number.
func stops(r []rune, i int) bool {
	if i+1 < len(r) && r[i+1] != ' ' && r[i+1] != '\n' {
		return false
	}
	from := i
	for from > 0 && unicode.IsLetter(r[from-1]) {
		from--
	}
	switch word := string(r[from:i]); {
	case i+1 == len(r):
		return true
	case len(word) == 1 && unicode.IsUpper(rune(word[0])), word == "Mr", word == "Mrs", word == "Ms", word == "Dr", word == "No", word == "St", word == "vs", word == "etc", word == "approx":
		return false
	}
	return true
}

// Split divides what a person said into sentences.
func Split(text string) []string {
	var out []string
	from := 0
	r := []rune(text)
	cut := func(to, next int) {
		if s := strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(string(r[from:to])), "-*•· ")); s != "" {
			out = append(out, s)
		}
		from = next
	}
	for i, c := range r {
		switch c {
		case '\n', '。', '！', '？', '；', '!', '?', ';':
			next := i + 1
			if c == '？' || c == '?' {
				cut(i+1, next) // a question is one by its mark
			} else {
				cut(i, next)
			}
		case '.':
			item := i > 0 && unicode.IsDigit(r[i-1]) && from >= i-2 // 1. of a list
			if stops(r, i) && !item {
				cut(i, i+1)
			}
		}
	}
	cut(len(r), len(r))
	return out
}
