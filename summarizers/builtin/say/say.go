// Package say writes what package find found, as a report in English or Chinese, each written for itself. All sentences
// stand in one table.
package say

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"deskbell/backend/human"
	"deskbell/summarizers"
	"deskbell/summarizers/builtin/facts"
	"deskbell/summarizers/builtin/find"
)

// The languages that reports are written in.
const (
	English = "en"
	Chinese = "zh-CN"
)

// A report is what was found, on its way into a language.
type report struct {
	*find.Result
	lang string
}

// An Account is how the line and the text of a report are put together from its claims.
type Account struct {
	line func(r *report, found []told) string
	text func(r *report, found []told) string
}

// The accounts of the built-in summarizers.
var (
	Answer = Account{answerLine, answerText}
	Work   = Account{workLine, workText}
)

// A told is a claim as it is written.
type told struct {
	human.Finding
	claim find.Claim
}

// Of writes a report in the language that was asked for, or in English. What summarizers.Check would not leave is in none of its
// parts.
func (a Account) Of(found *find.Result) human.Report {
	r := &report{Result: found, lang: English}
	if found.In.Language == Chinese {
		r.lang = Chinese
	}
	all := r.told(found.Claims)
	findings := make([]human.Finding, len(all))
	for i, t := range all {
		findings[i] = t.Finding
	}
	suggestions := make([]human.Finding, 0, len(found.Suggestions))
	for _, t := range r.told(found.Suggestions) {
		suggestions = append(suggestions, t.Finding)
	}
	return human.Report{
		Line: cmp.Or(human.OneLine(a.line(r, all), maxLine), r.say("line-nothing")), Text: strings.TrimSpace(a.text(r, all)),
		Findings: findings, Suggestions: suggestions,
	}
}

// told writes claims, and leaves out those that their evidence does not bear out.
func (r *report) told(claims []find.Claim) []told {
	written := r.findings(claims)
	stand := summarizers.Stand(r.In, written)
	var out []told
	for i, f := range written {
		if stand[i] {
			out = append(out, told{f, claims[i]})
		}
	}
	return out
}

// fullStop puts a full stop to a sentence that has none.
func (r *report) fullStop(s string) string {
	if facts.HasEnd(s) {
		return s
	}
	return s + r.say("stop")
}

// of are the claims of some kinds.
func of(found []told, kinds ...human.FindingKind) []told {
	var out []told
	for _, f := range found {
		if slices.Contains(kinds, f.Kind) {
			out = append(out, f)
		}
	}
	return out
}

// bare is a sentence that others follow.
func bare(text string) string { return strings.TrimRight(text, ".。") }

// quoteShort is quote for what has little room.
func (r *report) quoteShort(s string) string {
	out, _, whole := facts.Shorten(s, maxShort, true)
	if out == "" {
		return ""
	}
	return facts.Quoted(out, whole)
}

// maxShort characters of a message go into the line.
const maxShort = 40

// leftOut says of which kinds there was more than the report has room for.
func (r *report) leftOut() string {
	names := map[human.FindingKind]string{
		human.FoundOutcome: r.say("outcomes"), human.FoundValue: r.say("values"), human.FoundError: r.say("errors"),
		human.FoundUndone: r.say("open-points"), human.FoundDone: r.say("changes"), human.FoundDetour: r.say("detours"),
		human.FoundSlow: r.say("waits"), human.FoundUnseen: r.say("blind-spots"), human.FoundNote: r.say("notes"),
	}
	var parts []string
	for _, kind := range find.Weight {
		if r.Left[kind] > 0 {
			parts = append(parts, names[kind])
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return r.say("left-out", r.list(parts))
}

// fit joins parts to a line, as many as it has room for.
func (r *report) fit(begin string, parts []string) string {
	line := begin
	for i, p := range parts {
		next := r.say("and-then", line, p)
		if i == 0 {
			next = p
			if begin != "" {
				next = r.say("colon", begin, p)
			}
		}
		if utf8.RuneCountInString(next) > maxLine {
			if i == 0 {
				return facts.Brief(next, maxLine)
			}
			continue
		}
		line = next
	}
	return line
}

// lower is a sentence for the middle of a line.
func (r *report) lower(s string) string {
	if r.lang == Chinese || len(s) < 2 || s[1] < 'a' || s[1] > 'z' {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// paragraph are claims of some kinds, or all, as a paragraph, after what it begins with.
func (r *report) paragraph(begin string, found []told, kinds ...human.FindingKind) string {
	text := ""
	if len(kinds) > 0 {
		found = of(found, kinds...)
	}
	for _, f := range found {
		if last, _ := utf8.DecodeLastRuneInString(text); text != "" && (r.lang != Chinese || last < utf8.RuneSelf) {
			text += " "
		}
		text += r.fullStop(f.Text)
	}
	if text == "" {
		return ""
	}
	return begin + text
}

// maxLine is how long the one line of a report may be, in characters.
const maxLine = 200

// argument stands around the arguments of a sentence until their spaces are known. Texts from elsewhere have none:
// it is no character that can be seen.
const argument = '\x00'

func noMark(c rune) rune {
	if c == argument {
		return -1
	}
	return c
}

// spaced puts the spaces of Chinese where arguments begin and end: one between a Chinese character and another letter
// or digit, none beside the wide punctuation. What stands within arguments stays as it is.
func spaced(marked string) string {
	var b strings.Builder
	b.Grow(len(marked))
	last := rune(0)
	parts := strings.Split(marked, string(argument))
	for _, part := range parts {
		first, _ := utf8.DecodeRuneInString(part)
		if first == ' ' && wide(last) || b.Len() == 0 {
			part = strings.TrimLeft(part, " ")
			first, _ = utf8.DecodeRuneInString(part)
		}
		if part == "" {
			continue
		}
		switch {
		case facts.Han(last) && narrow(first) || narrow(last) && facts.Han(first):
			b.WriteByte(' ')
		case last == ' ' && wide(first):
			s := strings.TrimRight(b.String(), " ")
			b.Reset()
			b.WriteString(s)
		}
		b.WriteString(part)
		last, _ = utf8.DecodeLastRuneInString(part)
	}
	return b.String()
}

// narrow characters are parted from Chinese by a space.
func narrow(c rune) bool {
	return c != utf8.RuneError && (unicode.IsLetter(c) || unicode.IsDigit(c)) && !facts.Han(c)
}

// wide punctuation has its space within it.
func wide(c rune) bool { return strings.ContainsRune("“”（）：；，。、《》", c) }

// paragraphs joins those that say something.
func paragraphs(parts ...string) string {
	parts = slices.DeleteFunc(parts, func(s string) bool { return strings.TrimSpace(s) == "" })
	return strings.Join(parts, "\n\n")
}

// say is the sentence of a key in the language of the report. A space between Chinese and other letters or digits, which
// names from elsewhere may begin and end with or not, is put where it belongs: the sentence need not have it.
func (r *report) say(key string, args ...any) string {
	format := sentences[key].english
	if r.lang == Chinese {
		format = sentences[key].chinese
	}
	if len(args) == 0 {
		return format
	}
	written := make([]any, len(args))
	for i, arg := range args {
		written[i] = r.written(arg)
		if s, ok := written[i].(string); ok && r.lang == Chinese {
			written[i] = string(argument) + strings.Map(noMark, s) + string(argument)
		}
	}
	if r.lang != Chinese {
		return fmt.Sprintf(format, written...)
	}
	return spaced(fmt.Sprintf(format, written...))
}

// phrase writes what was found.
func (r *report) phrase(p find.Phrase) string {
	s := ""
	if p.Key != "" {
		s = r.say(p.Key, p.Args...)
	} else {
		for _, arg := range p.Args {
			s += fmt.Sprint(r.written(arg))
		}
	}
	for _, next := range p.Then {
		s += r.phrase(next)
	}
	return s
}

// written is an argument of a sentence: a number as it is, anything else as a string.
func (r *report) written(arg any) any {
	switch arg := arg.(type) {
	case find.Phrase:
		return r.phrase(arg)
	case []find.Phrase:
		return r.list(r.phrases(arg))
	case []string:
		return r.list(arg)
	case find.Series:
		return strings.Join(r.phrases(arg.Parts), r.say(arg.By))
	case find.Exact:
		return facts.Exactly(r.phrase(arg.Phrase), arg.Most)
	case find.Words:
		return r.lower(string(arg))
	case find.NetworkError:
		if explained := r.say("network " + string(arg)); explained != "" {
			return r.say("in-brackets", explained)
		}
		return ""
	case time.Duration:
		return r.duration(arg)
	}
	return arg
}

func (r *report) phrases(all []find.Phrase) []string {
	out := make([]string, len(all))
	for i, p := range all {
		out[i] = r.phrase(p)
	}
	return out
}

// findings writes what was found.
func (r *report) findings(found []find.Claim) []human.Finding {
	out := make([]human.Finding, len(found))
	for i, f := range found {
		out[i] = human.Finding{Kind: f.Kind, Text: r.phrase(f.Text), Evidence: f.Evidence, Confidence: f.Confidence}
	}
	return out
}

// list joins parts of a sentence: a, b and c.
func (r *report) list(parts []string) string {
	n := len(parts)
	if n < 2 {
		return strings.Join(parts, "")
	}
	return r.say("and", strings.Join(parts[:n-1], r.say("comma")), parts[n-1])
}

// duration is a time as people say it, to the second; parts of a second count below ten.
func (r *report) duration(d time.Duration) string {
	d = max(d, 0)
	switch s := int(d.Round(time.Second) / time.Second); {
	case d < 10*time.Second && d%time.Second != 0:
		return r.say("parts-of-seconds", d.Seconds())
	case s < 60:
		return r.say("seconds", s)
	case s < 3600:
		return r.say("minutes", s/60, s%60)
	default:
		return r.say("hours", s/3600, s/60%60)
	}
}
