package builtin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"deskbell/backend/human"
	"deskbell/summarizers"
)

// How long texts of a report may be, in characters.
const (
	maxLine = 200 // the one line
	maxName = 80  // a name from a page or screen within a sentence
	maxSaid = 300 // words of a person, or a value
)

// A reading is what the finders read, built once from an input. It is of one report and of one goroutine.
type reading struct {
	in      summarizers.Input
	lang    string
	acts    []act           // of all recordings, in the order of time
	stopped func() bool     // nobody waits for the report any more
	found   []human.Finding // what was found, in the order of its weight: for suggestions

	at   map[actionKey]int // where actions are in acts; made when it is first asked for
	web  *web              // what was done in pages; likewise
	desk                   // what was done on the desktop; likewise
}

// An act is an action with the recording it is in. It points into the input: nobody changes it.
type act struct {
	*human.Action
	rec *summarizers.Recorded
}

type actionKey struct {
	rec human.RecordingID
	id  string
}

func read(ctx context.Context, in summarizers.Input) (*reading, error) {
	r := &reading{in: in, lang: english, stopped: func() bool { return ctx.Err() != nil }}
	if in.Language == chinese {
		r.lang = chinese
	}
	n := 0
	for i := range in.Recordings {
		n += len(in.Recordings[i].Actions)
	}
	r.acts = make([]act, 0, n)
	for i := range in.Recordings {
		rec := &in.Recordings[i]
		for j := range rec.Actions {
			if !rec.Actions[j].Cut { // what was cut is not there; an input made by hand may have it
				r.acts = append(r.acts, act{&rec.Actions[j], rec})
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	// Recordings follow each other, and actions are in order, so that there is mostly nothing to sort.
	earlier := func(a, b act) int { return a.began().Compare(b.began()) }
	if !slices.IsSortedFunc(r.acts, earlier) {
		slices.SortStableFunc(r.acts, earlier)
	}
	return r, ctx.Err()
}

// began is when an action began, by the wall clock.
func (a act) began() time.Time { return a.rec.StartedAt.Add(time.Duration(a.At)) }

// ended is when an action ended.
func (a act) ended() time.Time { return a.rec.StartedAt.Add(time.Duration(max(a.At, a.End))) }

// ref points at the action.
func (a act) ref() human.Ref {
	return human.Ref{Kind: human.RefAction, Recording: a.rec.ID, ID: a.ID}
}

// refs point at actions.
func refs(acts ...act) []human.Ref {
	out := make([]human.Ref, len(acts))
	for i, a := range acts {
		out[i] = a.ref()
	}
	return out
}

// index is where in r.acts an action of a recording is; -1 for one that is not there.
func (r *reading) index(rec human.RecordingID, id string) int {
	if r.at == nil {
		r.at = make(map[actionKey]int, len(r.acts))
		for i, a := range r.acts {
			r.at[actionKey{a.rec.ID, a.ID}] = i
		}
	}
	if i, ok := r.at[actionKey{rec, id}]; ok {
		return i
	}
	return -1
}

// cause is the action that led to a, where that is known.
func (r *reading) cause(a act) (act, bool) {
	if a.CausedBy == "" {
		return act{}, false
	}
	i := r.index(a.rec.ID, a.CausedBy)
	if i < 0 {
		return act{}, false
	}
	return r.acts[i], true
}

// say is a sentence in the language of the report. Both stand side by side where they are used, each written for
// itself; Chinese may take the arguments in its own order (%[2]s). It writes a space between Chinese and other letters
// or digits, which names from elsewhere may begin and end with or not: the format need not.
func (r *reading) say(en, zh string, args ...any) string {
	format := en
	if r.lang == chinese {
		format = zh
	}
	if len(args) == 0 {
		return format
	}
	if r.lang != chinese {
		return fmt.Sprintf(format, args...)
	}
	marked := make([]any, len(args))
	for i, arg := range args {
		marked[i] = arg
		if s, ok := arg.(string); ok {
			marked[i] = string(argument) + strings.Map(noMark, s) + string(argument)
		}
	}
	return spaced(fmt.Sprintf(format, marked...))
}

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
		case han(last) && narrow(first) || narrow(last) && han(first):
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

func han(c rune) bool { return unicode.Is(unicode.Han, c) }

// narrow characters are parted from Chinese by a space.
func narrow(c rune) bool {
	return c != utf8.RuneError && (unicode.IsLetter(c) || unicode.IsDigit(c)) && !han(c)
}

// wide punctuation has its space within it.
func wide(c rune) bool { return strings.ContainsRune("“”（）：；，。、《》", c) }

// finding makes one. Confidence is 1 for what stands in the evidence to the letter, less for what follows from it.
func finding(kind human.FindingKind, confidence float64, text string, evidence ...human.Ref) human.Finding {
	return human.Finding{Kind: kind, Text: text, Evidence: evidence[:min(len(evidence), maxRefs)], Confidence: confidence}
}

// quote puts a name or words from elsewhere into quotation marks, cleaned and on one line; "" for nothing.
func (r *reading) quote(s string) string {
	out, _, whole := shorten(s, maxName, true)
	if out == "" {
		return ""
	}
	return quoted(out, whole)
}

// name is what an element, window or application is called, made fit for a sentence.
func name(s string) string {
	out, _, whole := shorten(s, maxName, true)
	if !whole {
		out += "…"
	}
	return out
}

// elementName is what an element is called; "" where it has no name or that is hidden.
func elementName(e *human.Element) string {
	if e == nil || e.Hidden != "" && e.Hidden != "secret" {
		return ""
	}
	return name(e.Name)
}

// clean makes a text from elsewhere fit for one line of plain text: spaces for line breaks, nothing that cannot be
// seen or that turns the line round, at most longest characters. It is not cut within a word or number where it has
// more than one: half a number is another one.
func clean(s string, longest int) string {
	out, within, whole := shorten(s, longest, false)
	if whole {
		return out
	}
	if at := strings.LastIndexFunc(out, func(c rune) bool { return unicode.IsSpace(c) || han(c) }); within && at > 0 {
		_, size := utf8.DecodeRuneInString(out[at:])
		out = strings.TrimSpace(out[:at+size])
	}
	return out + "…"
}

// shorten is the first characters of a text as clean shows them; within, whether it was cut within a word, and whole,
// whether it is all of it. Of a text to be quoted only one line can be: its evidence has it in lines, too.
func shorten(s string, longest int, line bool) (out string, within, whole bool) {
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

// exactly is a text as it is, on one line; one that is longer than most characters is cut, and quoted to show it. So is
// one with a quotation that has no end, so that it ends before what follows.
func (r *reading) exactly(s string, most int) string {
	out, _, whole := shorten(s, most, false)
	if whole && !leavesOpen(out) {
		return out
	}
	out, _, whole = shorten(s, most, true)
	return quoted(out, whole)
}

// quoted puts a cleaned text into quotation marks; what it quotes itself gets others.
func quoted(s string, whole bool) string {
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

// findNotes tells what the operator said: in the answer, and while recording.
func findNotes(r *reading) []human.Finding {
	var out []human.Finding
	if text := r.exactly(r.in.Answer.HumanInput, maxSaid); text != "" {
		out = append(out, finding(human.FoundNote, 1, r.say("The operator says: %s", "操作者说明：%s", text), human.Ref{Kind: human.RefAnswer, ID: "human_input"}))
	}
	for _, a := range r.acts {
		if a.Type != human.Note {
			continue
		}
		if text := r.exactly(a.Text, maxSaid); text != "" {
			out = append(out, finding(human.FoundNote, 1, r.say("Noted on the way: %s", "操作者的备注：%s", text), a.ref()))
		}
	}
	return out
}

// count is a number with what it counts: English has two forms, Chinese a measure word.
func (r *reading) count(n int, one, many, zh string) string {
	if r.lang == chinese {
		return fmt.Sprintf("%d %s", n, zh)
	}
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// times says how often: twice, 3 times; 两次, 3 次 with the space that digits have in Chinese.
func (r *reading) times(n int, one, many string) string {
	switch {
	case n == 2 && r.lang == chinese:
		return "两次"
	case r.lang == chinese:
		return fmt.Sprintf(" %d 次", n)
	case n == 2 && one == "time":
		return "twice"
	}
	return r.count(n, one, many, "次")
}

// list joins parts of a sentence: a, b and c.
func (r *reading) list(parts []string) string {
	switch n := len(parts); {
	case n < 2:
		return strings.Join(parts, "")
	default:
		return r.say("%s and %s", "%s和%s", strings.Join(parts[:n-1], r.say(", ", "、")), parts[n-1])
	}
}

// duration is a time as people say it, to the second; parts of a second count below ten.
func (r *reading) duration(d time.Duration) string {
	d = max(d, 0)
	switch s := int(d.Round(time.Second) / time.Second); {
	case d < 10*time.Second && d%time.Second != 0:
		return r.say("%.1f s", "%.1f 秒", d.Seconds())
	case s < 60:
		return r.say("%d s", "%d 秒", s)
	case s < 3600:
		return r.say("%d min %d s", "%d 分 %d 秒", s/60, s%60)
	default:
		return r.say("%d h %d min", "%d 小时 %d 分", s/3600, s/60%60)
	}
}

// paragraphs joins those that say something.
func paragraphs(parts ...string) string {
	parts = slices.DeleteFunc(parts, func(s string) bool { return strings.TrimSpace(s) == "" })
	return strings.Join(parts, "\n\n")
}
