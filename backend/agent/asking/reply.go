// Package asking tells by the words of an assistant's reply, in Chinese and English, whether it asks its user for something
// that the work needs. What stands in code, addresses, quotations, tables, titles, letters and lists that are the work
// itself does not count, nor does an offer of more once the work is done.
//
// The cues of cues.tsv, what they say together, and the words each have a learned weight; the sum decides. build/scripts/asking
// makes the weights, of texts written for that.
package asking

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Asks says whether a reply asks; worked: tools have been called before it.
func Asks(text string, worked bool) bool {
	return readReply(strings.TrimSpace(text)).weight(&learned, worked) > 0
}

// A statement is one sentence that is said to the reader of a reply. Its text is in lower case and simplified characters; what is quoted and the
// like is replaced by □.
type statement struct {
	text      string
	cues      cue
	asks      bool // it ends with a question mark
	item      bool // of a list
	title     bool // a heading, or leads in what follows
	made      bool // of what was made for the user: they are not asked
	closes    bool // nothing but courtesies, and parts of a list, follows
	paragraph int
}

// A parsed reply.
type said struct {
	sentences []statement
	cues      cue
	size      int  // of what is said, in columns
	shown     bool // there is code, a table, a quotation or a list of more than one part
}

const (
	hidden = "□" // stands for what is not said to the reader
	marks  = "?？؟"
)

var (
	fences  = regexp.MustCompile("(?s)```.*?(?:```|$)|~~~.*?(?:~~~|$)")
	masked  = regexp.MustCompile("`[^`\n]*`|(?i:https?)://[^\\s）)。，]+|\"[^\"\n]*\"|“[^”\n]*”|「[^」\n]*」|『[^』\n]*』|《[^》\n]*》|«[^»\n]*»|【[^】\n]*】|\\$\\$?[^$\n]*[=?][^$\n]*\\$")
	italic  = regexp.MustCompile(`(^|[\s(（，、,])[*_]([^\s*_][^*_\n]*)[*_]($|[\s)）.,:;!?，。！？、])`)
	quoted1 = regexp.MustCompile(`(^|[\s(:])'([^'\n]|\w'\w)+'($|[\s).,:;!?])`)
	bold    = regexp.MustCompile(`\*\*|__|~~`)
	bullet  = regexp.MustCompile(`^(?:[-*+•·▪●◦–]|\(?[0-9]{1,2}[.)、:：]|\(?[a-zA-Z][.)、:：]|[①-⑳]|（[0-9一二三四五六七八九十]{1,2}）|[一二三四五六七八九十]{1,2}、|[0-9]️⃣)\s*(?:\[[ xX]\]\s*)?`)
	rule    = regexp.MustCompile(`^(?:[-*_=]\s*){3,}$`)
	stop    = regexp.MustCompile(`[?？؟!！。；;\n…]+[)）"”’*_~～]*|\.+(?:[)"*_]*\s|$)`)
	clause  = regexp.MustCompile(`[，,：:—–] ?| but `)
	plain   = strings.NewReplacer("’", "'", "‘", "'", "＂", `"`, "　", " ", "\u00a0", " ", "＇", "'")
)

// readReply reads a reply line by line.
func readReply(text string) *said {
	r := &said{}
	text = plain.Replace(text)
	if fences.MatchString(text) {
		text, r.shown = fences.ReplaceAllString(text, "\n"), true
	}
	text = masked.ReplaceAllString(text, hidden)
	text = quoted1.ReplaceAllString(text, "$1"+hidden+"$3")
	text = bold.ReplaceAllString(text, "")
	text = italic.ReplaceAllStringFunc(text, hideTitle)
	text = theCues().simplified.Replace(strings.ToLower(text))
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSpace(l)
	}
	notSaid := r.notSaid(lines)
	paragraph := 0
	for i, l := range lines {
		if l == "" {
			paragraph++
		}
		if !notSaid[i] && l != "" {
			r.add(l, paragraph)
		}
	}
	r.weigh()
	return r
}

// hideTitle replaces what is in italics, but for a line of its own.
func hideTitle(s string) string {
	m := italic.FindStringSubmatch(s)
	if m[1] == "" && m[3] == "" {
		return m[2]
	}
	return m[1] + hidden + m[3]
}

// notSaid finds the lines that are not said to the reader: quotations, tables, pairs of questions and answers, letters.
func (r *said) notSaid(lines []string) []bool {
	not := make([]bool, len(lines))
	answers, opened, made := false, -1, false
	kinds := make([]cue, len(lines))
	for i, l := range lines {
		if l == "" {
			continue
		}
		kinds[i] = cuesOf(l, cueFAQAsks|cueFAQAnswers|cueLetterOpens|cueLetterCloses|cueLead)
		answers = answers || kinds[i]&cueFAQAnswers != 0
	}
	for i, l := range lines {
		switch {
		case strings.HasPrefix(l, ">"), strings.HasPrefix(l, "|"), strings.Count(l, "|") > 2, rule.MatchString(l):
			not[i], r.shown = l != "", true
		case kinds[i]&(cueFAQAsks|cueFAQAnswers) != 0 && answers:
			not[i], r.shown = true, true
		case kinds[i]&cueLetterOpens != 0 && opened < 0 && (made || i == 0 && len(lines) > 2):
			opened = i
		case kinds[i]&cueLetterCloses != 0 && opened >= 0:
			for j := opened; j <= i; j++ {
				not[j] = true
			}
			if i+1 < len(lines) && utf8.RuneCountInString(lines[i+1]) < 30 && !stop.MatchString(lines[i+1]) {
				not[i+1] = true // the name
			}
			opened, r.shown = -1, true
		}
		made = made || kinds[i]&cueLead != 0
	}
	if opened >= 0 { // a letter that no one signs is its paragraph
		for j := opened; j < len(lines) && (lines[j] != "" || j <= opened+1); j++ {
			not[j] = true
		}
	}
	return not
}

// add adds the sentences of a line.
func (r *said) add(line string, paragraph int) {
	title := strings.HasPrefix(line, "#")
	line = strings.TrimLeft(line, "# ")
	item := false
	if at := bullet.FindString(line); at != "" && len(at) < len(line) {
		line, item = line[len(at):], true
	}
	from := 0
	put := func(s string, mark bool) {
		s = strings.TrimSpace(s)
		item := item || strings.HasPrefix(s, "(") && bullet.MatchString(s)
		if strings.IndexFunc(s, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) || c == '□' }) < 0 {
			if n := len(r.sentences); mark && n > 0 && s == "" {
				r.sentences[n-1].asks = true
			}
			return
		}
		r.sentences = append(r.sentences, statement{text: s, asks: mark, item: item, title: title || strings.HasSuffix(s, ":") || strings.HasSuffix(s, "："), paragraph: paragraph})
	}
	for _, at := range stop.FindAllStringIndex(line, -1) {
		mark := line[at[0]:at[1]]
		if next, _ := utf8.DecodeRuneInString(line[at[1]:]); mark == "?" && at[1] < len(line) && (next < utf8.RuneSelf && (unicode.IsLetter(next) || unicode.IsDigit(next)) || strings.ContainsRune("=/&.:[", next)) {
			continue // within a word
		}
		if mark == "?" && at[0] > 0 && line[at[0]-1] == ' ' && at[1] < len(line) {
			continue // a sign of its own
		}
		put(line[from:at[0]], strings.ContainsAny(mark, marks))
		from = at[1]
	}
	put(line[from:], false)
}

// weigh finds the cues of each sentence, and what stands where.
func (r *said) weigh() {
	items := 0
	for i := range r.sentences {
		s := &r.sentences[i]
		s.text = strings.TrimRight(s.text, " \t~～)）*_\"'”’.、，,")
		s.cues = cuesOf(s.text, ^(cueFAQAsks | cueFAQAnswers | cueLetterOpens | cueLetterCloses))
		r.size += columns(s.text)
		if s.item {
			items++
		}
	}
	for i := range r.sentences {
		s := &r.sentences[i]
		if s.item && !s.asks && s.cues&cueDone == 0 {
			continue
		}
		r.cues |= s.cues
	}
	r.shown = r.shown || items > 1
	r.markMade()
	closes := true
	for i := len(r.sentences) - 1; i >= 0; i-- {
		s := &r.sentences[i]
		s.closes = closes
		closes = closes && (s.item || s.cues&cueCourtesy != 0 && s.cues&cueDemand == 0)
	}
}

// markMade finds the lists and texts that were made for the user: what follows a sentence which says so.
func (r *said) markMade() {
	lead, before, titled, posed := -1, cueIntro, false, -1
	for i := range r.sentences {
		s := &r.sentences[i]
		if !s.item {
			before, titled = s.cues, s.title
		} else if titled && s.asks && before&(cueIntro|cueDemand|cueToUser) == 0 || before&cueOffer != 0 || before&cueDone != 0 && before&(cueIntro|cueDemand) == 0 {
			s.made = true
		}
		if s.cues&cuePoses != 0 {
			posed = s.paragraph
		}
		s.made = s.made || s.asks && s.paragraph == posed
		switch {
		case s.cues&cueIntro != 0 && !s.item:
			lead = -1
		case s.cues&cueLead != 0 && !s.item && (lead < 0 || s.title):
			lead = i
		case lead >= 0 && s.item:
			s.made = true
		case lead >= 0 && r.sentences[lead].title && (s.paragraph <= r.sentences[lead].paragraph+1 || !r.last(s.paragraph)) && s.cues&cueDemand == 0:
			s.made = true
		}
	}
}

func (r *said) last(paragraph int) bool {
	return paragraph == r.sentences[len(r.sentences)-1].paragraph
}

func han(s string) bool {
	return strings.IndexFunc(s, func(c rune) bool { return unicode.Is(unicode.Han, c) }) >= 0
}

// columns is how wide a text is: a Chinese character takes two.
func columns(s string) (n int) {
	for _, c := range s {
		n++
		if c > 0x2E80 {
			n++
		}
	}
	return n
}

// asks decides.
func (r *said) asks(worked bool) bool {
	for i := range r.sentences {
		s := &r.sentences[i]
		if s.made {
			continue
		}
		if r.sentenceAsks(i, s, worked) {
			return true
		}
	}
	return false
}

func (r *said) sentenceAsks(i int, s *statement, worked bool) bool {
	has := func(c cue) bool { return s.cues&c != 0 }
	switch {
	case has(cueCourtesy):
		return false
	case has(cueSure) && !has(cueOffer|cueAssumed):
		return true
	case has(cueOffer) || has(cueOfferAsked) && (s.asks || has(cueUnmarked)) && !has(cueChoice):
		return s.closes && r.open(i, worked)
	case has(cueDemand) && !has(cueAssumed|cueHowto) && !r.assumedAfter(i) && (!has(cueTold) || demandsLater(s.text)):
		return true
	case has(cueWeak) && !worked && s.closes && !s.item && !r.finished():
		return true
	case has(cueRhetorical), has(cueTold) && !s.closes:
		return false
	case s.asks:
		return r.realQuestion(i, s)
	case s.title && !s.closes || s.item || has(cueEmbedded|cueTold|cueAssumed):
		return false
	case has(cueUnmarked):
		return s.closes || has(cueToUser)
	}
	return false
}

// demandsLater says whether a later part of a sentence demands something, whatever its beginning tells.
func demandsLater(text string) bool {
	for {
		at := clause.FindStringIndex(text)
		if at == nil {
			return false
		}
		text = text[at[1]:]
		if cuesOf(text, cueDemand|cueTold) == cueDemand {
			return true
		}
	}
}

// open says whether what a sentence offers is the work itself: nothing has been done.
func (r *said) open(i int, worked bool) bool {
	if r.cues&cueHeld != 0 {
		return true
	}
	if r.sentences[i].cues&cueGate == 0 || r.finished() {
		return false
	}
	return worked || r.size-columns(r.sentences[i].text) < 160 && !r.shown
}

func (r *said) finished() bool { return r.cues&cueDone != 0 && r.cues&cueHeld == 0 }

// assumedAfter says whether the reply itself settled what a sentence says is missing.
func (r *said) assumedAfter(i int) bool {
	return i+1 < len(r.sentences) && r.sentences[i+1].cues&cueAssumed != 0
}

// realQuestion says whether a sentence with a question mark wants an answer.
func (r *said) realQuestion(i int, s *statement) bool {
	if s.closes {
		return true
	}
	next := &r.sentences[i+1]
	switch {
	case s.cues&cueOpener != 0, s.cues&(cueToUser|cueMatter|cueChoice) == cueMatter, next.cues&cueAnswer != 0 && next.cues&cueThen == 0:
		return next.asks && r.realQuestion(i+1, next)
	case next.cues&cueThen != 0, s.cues&(cueToUser|cueChoice) != 0:
		return true
	case next.asks:
		return r.realQuestion(i+1, next)
	}
	return !han(s.text)
}
