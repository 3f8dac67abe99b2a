package procedure

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"deskbell/backend/human"
)

// A readValue is what a request says a parameter is. Value is empty where it says nothing, or more than one thing; From then says which
// of both.
type readValue struct {
	Value string
	From  *human.Sentence
}

// readValues reads the parameters of a procedure from a request, each only where it stands there: nothing is guessed, and a person sees
// what it was read from.
func readValues(p human.Procedure, op human.Operation) map[string]readValue {
	a, _ := askingOf(op)
	all := map[string]readValue{}
	free := 0 // parameters of which the text says nothing that is known by its form
	for _, q := range p.Parameters {
		found := candidates(q, op, a.text)
		if len(found) == 0 && q.Type == "text" && q.Pattern == "" {
			free++
		}
		all[q.Name] = picked(q, found)
	}
	if free != 1 {
		return all
	}
	for _, q := range p.Parameters { // the only one that a name in the text can be
		if v := all[q.Name]; q.Type == "text" && q.Pattern == "" && v.Value == "" && v.From == nil {
			all[q.Name] = picked(q, namedIn(a.text))
		}
	}
	return all
}

// A candidate is a value, and the words that it was read from.
type candidate struct{ value, words string }

// picked is the only value of all that fit a parameter.
func picked(q human.ProcedureParameter, found []candidate) readValue {
	var fit []candidate
	for _, c := range found {
		known := slices.ContainsFunc(fit, func(x candidate) bool { return x.value == c.value })
		if !known && checkValue(q, c.value) == nil {
			fit = append(fit, c)
		}
	}
	switch len(fit) {
	case 0:
		return readValue{}
	case 1:
		return readValue{fit[0].value, new(human.Sayf("from %q", human.OneLine(fit[0].words, 60)))}
	}
	return readValue{From: new(human.Sayf("%d values fit: choose", len(fit)))}
}

// candidates are the values that a request has for a parameter: under its name, else in its text.
func candidates(q human.ProcedureParameter, op human.Operation, text string) (found []candidate) {
	for _, raw := range []json.RawMessage{op.Details, op.Context} {
		found = append(found, member(raw, q.Name, true)...)
	}
	if len(found) > 0 {
		return found
	}
	switch q.Type {
	case "month":
		return months(text, op.CreatedAt)
	case "date":
		return dates(text)
	case "file":
		return nil
	}
	for _, known := range slices.Concat(q.Choices, q.Examples) {
		if known != "" && q.Type != "integer" && q.Type != "number" && hasWhole(text, known) {
			found = append(found, candidate{known, known})
		}
	}
	if q.Type == "choice" || len(found) > 0 {
		return found
	}
	if q.Pattern != "" {
		if pattern, err := regexp.Compile(`^(?:` + q.Pattern + `)$`); err == nil {
			for _, word := range strings.FieldsFunc(text, func(r rune) bool {
				return unicode.IsSpace(r) || strings.ContainsRune(`,;:!?"“”，。；：（）()`, r)
			}) {
				if word = strings.TrimRight(word, "."); pattern.MatchString(word) {
					found = append(found, candidate{word, word})
				}
			}
		}
		return found
	}
	if q.Type == "text" {
		for _, example := range q.Examples {
			if shape := shapeOf(example); shape != nil {
				for _, word := range shape.FindAllString(text, -1) {
					found = append(found, candidate{word, word})
				}
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return after(q, text)
}

// member are the values of a name in an object, and in the objects in it.
func member(raw json.RawMessage, name string, deep bool) (found []candidate) {
	same := strings.NewReplacer("-", "", "_", "", " ", "")
	human.Members(raw, func(key []byte, value json.RawMessage) {
		if !strings.EqualFold(same.Replace(string(key)), same.Replace(name)) {
			if deep {
				found = append(found, member(value, name, false)...)
			}
			return
		}
		text := string(value)
		if json.Unmarshal(value, &text) == nil || len(value) > 0 && (value[0] == '-' || unicode.IsDigit(rune(value[0]))) {
			found = append(found, candidate{text, string(key)})
		}
	})
	return found
}

// hasWhole says whether a text has another one, not as a part of a word.
func hasWhole(text, part string) bool {
	wordy := func(r rune) bool {
		return (unicode.IsLetter(r) || unicode.IsDigit(r)) && !unicode.Is(unicode.Han, r)
	}
	runes := []rune(part)
	for rest, before := text, ' '; ; {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		if i > 0 {
			before = []rune(rest[:i])[len([]rune(rest[:i]))-1]
		}
		after := []rune(rest[i+len(part):] + " ")[0]
		if (!wordy(before) || !wordy(runes[0])) && (!wordy(after) || !wordy(runes[len(runes)-1])) {
			return true
		}
		before, rest = runes[len(runes)-1], rest[i+len(part):]
	}
}

// shapeOf finds texts like an example that has letters and digits: of R-20881, one or more letters, the dash, and digits. nil for others.
func shapeOf(example string) *regexp.Regexp {
	if !strings.ContainsFunc(example, unicode.IsDigit) || !strings.ContainsFunc(example, unicode.IsLetter) || strings.ContainsFunc(example, unicode.IsSpace) {
		return nil
	}
	var b strings.Builder
	last := ""
	for _, r := range example {
		part := regexp.QuoteMeta(string(r))
		switch {
		case unicode.IsDigit(r):
			part = `\d+`
		case unicode.IsLetter(r):
			part = fmt.Sprintf(`[%c%c]`, unicode.ToUpper(r), unicode.ToLower(r))
		}
		if part != last || part != `\d+` {
			b.WriteString(part)
		}
		last = part
	}
	return regexp.MustCompile(`\b` + b.String() + `\b`)
}

// after are the values that stand after the parameter's name: "quantity 7", "customer: Kestrel", "日期：…".
func after(q human.ProcedureParameter, text string) (found []candidate) {
	value := `["“「]([^"”」]{1,80})["”」]|(\p{Lu}[\p{L}\p{N}-]*(?: (?:& )?\p{Lu}[\p{L}\p{N}-]*)*)`
	if q.Type == "integer" || q.Type == "number" {
		value = `([+-]?\d+(?:[.,]\d+)?)\b`
	}
	for _, name := range []string{strings.ReplaceAll(q.Name, "_", " "), q.Description} {
		if name == "" || len(name) > 60 {
			continue
		}
		at := regexp.MustCompile(`(?:^|[^\p{L}\p{N}])(?i:` + regexp.QuoteMeta(name) + `)\s*(?:is|为|是|[:：=])?\s*(?:` + value + `)`)
		for _, m := range at.FindAllStringSubmatch(text, -1) {
			found = append(found, candidate{strings.Join(m[1:], ""), strings.Trim(m[0], " ,;\n")})
		}
	}
	return found
}

var quotedOrNamed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`["“「]([^"”」]{1,80})["”」]|\b(?:of|for|from|by) (\p{Lu}[\p{L}\p{N}-]*(?: (?:& )?\p{Lu}[\p{L}\p{N}-]*)*)|(\p{Lu}[\p{L}\p{N}-]*)['’]s\b`)
})

// namedIn are the names in a text: what is quoted, and what is written like one after "of" and "for".
func namedIn(text string) (found []candidate) {
	for _, m := range quotedOrNamed().FindAllStringSubmatch(text, -1) {
		value := strings.Join(m[1:], "")
		if monthOf(value) == 0 {
			found = append(found, candidate{value, m[0]})
		}
	}
	return found
}

const monthNames = `January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec`

// times finds dates and months; each pattern has the groups year, month and day that it has.
var times = sync.OnceValue(func() (all struct{ dates, months []*regexp.Regexp }) {
	month := `(?P<month>` + monthNames + `)\.?`
	for _, p := range []string{
		`\b(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)\b`, `\b(?P<day>\d{1,2})(?:st|nd|rd|th)?(?: of)? ` + month + `,? (?P<year>\d{4})\b`,
		`\b` + month + ` (?P<day>\d{1,2})(?:st|nd|rd|th)?,? (?P<year>\d{4})\b`, `(?P<year>\d{4}) ?年 ?(?P<month>\d{1,2}) ?月 ?(?P<day>\d{1,2}) ?[日号]`,
	} {
		all.dates = append(all.dates, regexp.MustCompile(p))
	}
	for _, p := range []string{
		`\b(?P<year>\d{4})-(?P<month>\d\d)\b`, `\b` + month + `,? (?P<year>\d{4})\b`, `(?P<year>\d{4}) ?年 ?(?P<month>\d{1,2}) ?月`,
		`\b` + month + `\b`, `(?P<month>\d{1,2}) ?月`, `(?P<month>十[一二]?|[一二三四五六七八九])月`,
	} {
		all.months = append(all.months, regexp.MustCompile(p))
	}
	return all
})

// eachTime calls f for what patterns find, and returns the text without that.
func eachTime(patterns []*regexp.Regexp, text string, f func(year, month, day int, words string)) string {
	for _, p := range patterns {
		text = p.ReplaceAllStringFunc(text, func(found string) string {
			m := p.FindStringSubmatch(found)
			number := func(group string) int {
				i := p.SubexpIndex(group)
				if i < 0 || m == nil {
					return 0
				}
				n, err := strconv.Atoi(m[i])
				if err != nil {
					n = monthOf(m[i])
				}
				return n
			}
			f(number("year"), number("month"), number("day"), strings.TrimSpace(found))
			return " "
		})
	}
	return text
}

// monthOf is the number of a month's name; 0 for none.
func monthOf(name string) int {
	chinese := []string{"一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二"}
	if i := slices.Index(chinese, name); i >= 0 {
		return i + 1
	}
	for m := time.January; m <= time.December; m++ {
		if len(name) >= 3 && (strings.EqualFold(name, m.String()) || strings.EqualFold(name, m.String()[:3]) || strings.EqualFold(name, "sept") && m == time.September) {
			return int(m)
		}
	}
	return 0
}

func dates(text string) (found []candidate) {
	eachTime(times().dates, text, func(year, month, day int, words string) {
		found = append(found, candidate{fmt.Sprintf("%04d-%02d-%02d", year, month, day), words})
	})
	return found
}

// months are those that a text names. One without a year is the last one before the request.
func months(text string, now time.Time) (found []candidate) {
	rest := eachTime(times().dates, text, func(int, int, int, string) {})
	eachTime(times().months, rest, func(year, month, _ int, words string) {
		if year == 0 {
			if year = now.Year(); month > int(now.Month()) {
				year--
			}
		}
		found = append(found, candidate{fmt.Sprintf("%04d-%02d", year, month), words})
	})
	first := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	for words, at := range map[string]time.Time{"last month": first.AddDate(0, -1, 0), "this month": first, "上个月": first.AddDate(0, -1, 0), "上月": first.AddDate(0, -1, 0), "本月": first} {
		if strings.Contains(strings.ToLower(text), words) {
			found = append(found, candidate{at.Format("2006-01"), words})
		}
	}
	return found
}
