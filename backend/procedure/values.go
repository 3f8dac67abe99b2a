package procedure

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"deskbell/backend/human"
)

// A heldValue is what becomes a parameter: what one place held in each of several recordings.
type heldValue struct {
	human.ProcedureParameter
	held  []string // one for each recording
	has   []bool   // where it is known
	apart bool     // it stands for nothing else that reads the same: a box that is checked
}

// heldValues are those found so far.
type heldValues []*heldValue

// wholeWords says whether text[from:to] begins and ends where words do. Characters of scripts that are written without spaces are words
// of their own; a number's digits before and after a point, a comma or the like belong together.
func wholeWords(text string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	first, _ := utf8.DecodeRuneInString(text[from:])
	last, _ := utf8.DecodeLastRuneInString(text[:to])
	after, n := utf8.DecodeRuneInString(text[to:])
	if from > 0 && inWord(before) && inWord(first) || to < len(text) && inWord(last) && inWord(after) {
		return false
	}
	joins := func(r rune) bool { return strings.ContainsRune(".,:-/", r) }
	if from > 1 && unicode.IsDigit(first) && joins(before) {
		if r, _ := utf8.DecodeLastRuneInString(text[:from-1]); unicode.IsDigit(r) {
			return false
		}
	}
	if to < len(text) && unicode.IsDigit(last) && joins(after) {
		if r, _ := utf8.DecodeRuneInString(text[to+n:]); unicode.IsDigit(r) {
			return false
		}
	}
	return true
}

func inWord(r rune) bool {
	return r == '_' || (unicode.IsLetter(r) || unicode.IsDigit(r)) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// shortest is how many characters a value has at least that is looked for within other texts where only one recording shows it.
const shortest = 3

// number is a number, time or date in digits, as the lines around an element have # in its place.
var number = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\p{Nd}+(?:[.,:/’' -]\p{Nd}+)*`) })

// numberless are the values as lines around an element have them.
func (vs heldValues) numberless() (out heldValues) {
	for _, v := range vs {
		plain := *v
		plain.held = slices.Clone(v.held)
		for i, text := range plain.held {
			plain.held[i] = number().ReplaceAllString(text, "#")
		}
		if !slices.ContainsFunc(plain.held, func(text string) bool { return strings.Trim(text, "# ") == "" && text != "" }) {
			out = append(out, &plain)
		}
	}
	return out
}

// explain is the text with parameters that gives what stood in a place in the recordings who; ok is false where no known value says
// how those differ. Texts of one recording, or that are the same, are searched for values that are long enough not to be there by chance.
func (vs heldValues) explain(who []int, held []string) (text string, ok bool) {
	byLength := slices.DeleteFunc(slices.Clone(vs), func(v *heldValue) bool {
		return v.apart || slices.ContainsFunc(who, func(i int) bool { return !v.has[i] || v.held[i] == "" })
	})
	slices.SortStableFunc(byLength, func(a, b *heldValue) int { return len(b.held[who[0]]) - len(a.held[who[0]]) })
	failed := map[string]bool{}
	var walk func(at []int) ([]part, bool)
	walk = func(at []int) ([]part, bool) {
		start := at[0]
		for at = slices.Clone(at); ; {
			literal := part{text: held[0][start:at[0]]}
			for _, v := range byLength {
				if to, fits := v.follows(who, held, at); fits && !failed[fmt.Sprint(to)] {
					if rest, ok := walk(to); ok {
						return append([]part{literal, {name: v.Name}}, rest...), true
					}
					failed[fmt.Sprint(to)] = true
				}
			}
			r, n := utf8.DecodeRuneInString(held[0][at[0]:])
			for k := range held {
				if q, _ := utf8.DecodeRuneInString(held[k][at[k]:]); q != r || (at[k] == len(held[k])) != (n == 0) {
					return nil, false
				}
			}
			if n == 0 {
				return []part{literal}, true
			}
			for k := range at {
				at[k] += n
			}
		}
	}
	parts, ok := walk(make([]int, len(held)))
	return joinParts(parts), ok
}

// follows says whether the value stands there in each of the texts as whole words, and where it ends.
func (v *heldValue) follows(who []int, held []string, at []int) (to []int, ok bool) {
	differ := false
	for k, i := range who {
		end := at[k] + len(v.held[i])
		if !strings.HasPrefix(held[k][at[k]:], v.held[i]) || !wholeWords(held[k], at[k], end) {
			return nil, false
		}
		differ = differ || v.held[i] != v.held[who[0]]
		to = append(to, end)
	}
	return to, differ || utf8.RuneCountInString(v.held[who[0]]) >= shortest
}

// pieces takes an address apart at its delimiters, which are pieces of their own at odd places.
func pieces(address string) []string {
	var out []string
	from, delimiters := 0, "/?#"
	for i, r := range address {
		if strings.ContainsRune(delimiters, r) {
			out = append(out, address[from:i], string(r))
			from = i + 1
		}
		switch r {
		case '?':
			delimiters = "&=#"
		case '#':
			delimiters = "/?&="
		}
	}
	return append(out, address[from:])
}

// explainAddress is explain for addresses, in whose parts values are percent-encoded. otherwise says what becomes of a part that no
// known value explains, which stands after the pieces before; nil: the address is not explained.
func (vs heldValues) explainAddress(who []int, held []string, otherwise func(decoded, before []string) string) (string, bool) {
	var split [][]string
	for _, text := range held {
		split = append(split, pieces(text))
		if len(split[0]) != len(split[len(split)-1]) {
			return "", false
		}
	}
	var b strings.Builder
	for i, piece := range split[0] {
		raw := make([]string, len(held))
		for k := range held {
			raw[k] = split[k][i]
		}
		same := !slices.ContainsFunc(raw, func(s string) bool { return s != piece })
		switch text, decoded, ok := vs.explainPiece(who, raw, inQuery(b.String())); {
		case i%2 == 1 || i < 4 && strings.Contains(held[0], "://"): // another host is another site
			if !same {
				return "", false
			}
			b.WriteString(escape(piece))
		case ok:
			b.WriteString(text)
		case otherwise == nil:
			return "", false
		default:
			b.WriteString(otherwise(decoded, split[0][:i]))
		}
	}
	return b.String(), true
}

// explainPiece is explain for a part of an address.
func (vs heldValues) explainPiece(who []int, raw []string, query bool) (text string, decoded []string, ok bool) {
	for _, r := range raw {
		decoded = append(decoded, decodePiece(r, query))
	}
	text, ok = vs.explain(who, decoded)
	if len(Placeholders(text)) == 0 {
		return escape(raw[0]), decoded, ok && !slices.ContainsFunc(raw, func(s string) bool { return s != raw[0] })
	}
	parts, _ := splitParts(text)
	for i, p := range parts {
		if p.name == "" {
			parts[i].text = encodePiece(p.text, query)
		}
	}
	return joinParts(parts), decoded, ok
}

func decodePiece(piece string, query bool) string {
	unescape := url.PathUnescape
	if query {
		unescape = url.QueryUnescape
	}
	if text, err := unescape(piece); err == nil {
		return text
	}
	return piece
}

func encodePiece(piece string, query bool) string {
	if query {
		return url.QueryEscape(piece)
	}
	return url.PathEscape(piece)
}

// typeOf is the narrowest type that all values have.
func typeOf(held []string) string {
	for _, of := range []string{"integer", "number", "date", "month"} {
		if !slices.ContainsFunc(held, func(v string) bool { return !isOf(of, v) }) {
			return of
		}
	}
	return "text"
}

// nameOf is a parameter's name that none of vs has, from words; otherwise where those have no letters of a to z.
func (vs heldValues) nameOf(words, otherwise string) string {
	words = strings.Join(strings.FieldsFunc(strings.ToLower(words), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }), "_")
	words = strings.TrimLeft(words, "0123456789_")
	words = strings.TrimRight(words[:min(len(words), 40)], "_")
	if words == "" {
		words = otherwise
	}
	name := words
	for n := 2; slices.ContainsFunc(vs, func(v *heldValue) bool { return v.Name == name }); n++ {
		name = fmt.Sprintf("%s_%d", words, n)
	}
	return name
}

// Parameterize makes what a step of a procedure holds in a field a parameter, there and wherever else it stands in whole words: text,
// name, options or files (the first of them). It returns the procedure as it is where there is no such step, nothing in
// the field, or a parameter of that name already. A value of less than three characters, which may stand anywhere by chance, is replaced in
// its step alone, where it is all that a text has.
func Parameterize(p human.Procedure, step, field, name string) human.Procedure {
	i := slices.IndexFunc(p.Steps, func(s human.ProcedureStep) bool { return s.ID == step })
	if i < 0 || slices.ContainsFunc(p.Parameters, func(q human.ProcedureParameter) bool { return q.Name == name }) {
		return p
	}
	s, held, of := p.Steps[i], "", ""
	switch {
	case field == "text":
		held = s.Text
	case field == "name" && s.Target != nil:
		held = s.Target.Name
	case field == "options" && len(s.Options) > 0 && s.Do == "selectOption":
		held, of = s.Options[0], "choice"
	case field == "files" && len(s.Files) > 0:
		held, of = s.Files[0], "file"
	}
	parts, _ := splitParts(held)
	if len(parts) != 1 || parts[0].name != "" {
		return p
	}
	held = parts[0].text
	if of == "" {
		of = typeOf([]string{held})
	}
	v := &heldValue{ProcedureParameter: human.ProcedureParameter{Name: name, Type: of, Examples: []string{held}}, held: []string{held}, has: []bool{true}}
	p.Parameters = append(slices.Clone(p.Parameters), v.ProcedureParameter)
	if utf8.RuneCountInString(held) < shortest {
		p.Steps = slices.Clone(p.Steps)
		p.Steps[i] = stepTexts(s, func(_ textKind, text string) string {
			if text == escape(held) {
				return "{" + name + "}"
			}
			return text
		})
		return p
	}
	return procedureTexts(p, func(of textKind, text string) string { return heldValues{v}.within(of, text) })
}

// within is a text with parameters in which further values of the one recording have become parameters, too.
func (vs heldValues) within(of textKind, text string) string {
	var out strings.Builder
	if of == addressText {
		for i, piece := range pieces(text) {
			if parts, _ := splitParts(piece); i%2 == 0 && len(parts) == 1 && parts[0].name == "" {
				piece, _, _ = vs.explainPiece([]int{0}, []string{parts[0].text}, inQuery(out.String()))
			}
			out.WriteString(piece)
		}
		return out.String()
	}
	if of == lineText {
		vs = vs.numberless()
	}
	parts, _ := splitParts(text)
	for _, p := range parts {
		if p.name != "" {
			out.WriteString("{" + p.name + "}")
		} else {
			explained, _ := vs.explain([]int{0}, []string{p.text})
			out.WriteString(explained)
		}
	}
	return out.String()
}
