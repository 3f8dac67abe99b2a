package facts

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// A Claim is what a text says, as far as words tell it: what it is about, what has happened or has not, and the
// numbers and files it names. Two claims can be held against each other, whichever language they are in.
type Claim struct {
	Words   map[string]float64 // with their weights; verbs by what they mean, after an exclamation mark
	not     map[string]bool    // words it says that there is none of
	Says    map[string]Saying  // by verb; "is" where there is none
	numbers []string
	counted []string // words that a number stands before: what there are so many of
	Paths   []string
	Unreal  bool // it says what is wanted, or will be
}

// A Saying is how a text says that something happened, or that it did not.
type Saying struct {
	Contrary bool // it says that it has not happened
	happened bool // and not only what it is called
}

var (
	pathShape   = regexp.MustCompile(`(?:~|[A-Za-z]:|[\p{L}\p{N}._@+-]+)?(?:[/\\][\p{L}\p{N}._@+~-]+)+[/\\]?|[\p{L}\p{N}_@+~-][\p{L}\p{N}._@+~-]*\.[A-Za-z][A-Za-z0-9]{0,5}\b`)
	numberShape = regexp.MustCompile(`\d+(?:[.,:]\d+)*%?`)
	countShape  = regexp.MustCompile(`\d(?: of \d+)?(?:\s*[个条项名位]\s*|\s*%|\s+)(\pL*)`)
	thousands   = regexp.MustCompile(`,(\d{3})\b`)
)

// pathsIn are the paths and names of files that a text has. A name with a dot is one only where its end is that of a
// file: example.com is a site.
func pathsIn(text string) []string {
	if !strings.ContainsAny(text, `./\`) {
		return nil
	}
	var out []string
	for _, at := range pathShape.FindAllStringIndex(text, -1) {
		p := strings.TrimRight(text[at[0]:at[1]], ".,;:!?")
		// Chinese has no space before a file's name.
		if i := strings.LastIndexFunc(p, func(r rune) bool { return unicode.Is(unicode.Han, r) }); i >= 0 && !strings.ContainsAny(p, `/\`) {
			if rest := p[i:]; strings.IndexByte(rest, '.') > 3 {
				if stem := hanBefore(p); stem != "" {
					p = stem
				}
			}
		}
		if strings.HasPrefix(text[max(0, at[0]-1):], ":/") || strings.Contains(p, "//") || at[0] > 0 && text[at[0]-1] == '/' {
			continue // of an address
		}
		if !strings.ContainsAny(p, `/\`) && (!fileEnd(p) || strings.HasPrefix(text[at[1]:], "/")) || isPair(p) {
			continue
		}
		if len(p) > 2 {
			out = append(out, p)
		}
	}
	return out
}

// isPair says whether something with a stroke in it is no path: PDF/A, and/or, 读/写.
func isPair(p string) bool {
	before, after, found := strings.Cut(p, "/")
	if !found || before == "" || before == "~" || strings.Contains(after, "/") || after == "" || fileEnd(p) || strings.HasSuffix(before, ":") {
		return false
	}
	return len([]rune(before)) <= 3 || len([]rune(after)) <= 2 || before == strings.ToUpper(before)
}

// hanBefore takes the Chinese off the front of a name of a file that goes on in other letters: 保存report.pdf.
func hanBefore(p string) string {
	rest := strings.TrimLeftFunc(p, func(r rune) bool { return unicode.Is(unicode.Han, r) })
	if rest != "" && rest[0] != '.' && !strings.ContainsFunc(rest, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		return rest
	}
	return ""
}

var fileEnds = set(`pdf csv tsv txt md png jpg jpeg gif svg webp bmp xls xlsx doc docx ppt pptx odt ods odp odg rtf json xml html htm zip gz tar tgz 7z mp3 mp4
	wav mov log ini conf cfg toml yaml yml py go js ts java c h cpp rs sh rb php sql db sqlite bak ics eml vcf tex epub ps kt swift css deb rpm exe msi dmg iso key pem crt
	ogg oga flac m4a aac webm mkv avi ogv tif tiff heic avif ico eps xz bz2 rar iml lock env ipynb parquet feather dat bin img apk jar war wasm map patch diff srt vtt
	vsdx drawio fig sketch psd ai indd xcf kra dwg stl obj rst adoc pages odb mdb accdb dbf shp kml gpx geojson ttf otf woff woff2 torrent pub`)

// fileEnd says whether a name ends like a file's.
func fileEnd(p string) bool {
	i := strings.LastIndexByte(p, '.')
	return i > 0 && fileEnds[strings.ToLower(p[i+1:])]
}

// Flat is a text in lower case with single spaces between its words and around it, for phrases to be found in.
func Flat(text string) string {
	var b strings.Builder
	b.WriteByte(' ')
	space := true
	for _, r := range strings.ToLower(text) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(r)
			space = false
		} else if !space {
			b.WriteByte(' ')
			space = true
		}
	}
	if !space {
		b.WriteByte(' ')
	}
	return b.String()
}

// HasAny says whether a text has one of the phrases of either language.
func HasAny(text string, en, zh []string) bool {
	if text == "" {
		return false
	}
	low := Flat(text)
	for _, p := range en {
		if strings.Contains(low, p) {
			return true
		}
	}
	return HasHan(text) && slices.ContainsFunc(zh, func(w string) bool { return strings.Contains(text, w) })
}

// StartsWith says whether a name begins with one of the phrases: Cancel, but not How to cancel.
func StartsWith(name string, en, zh []string) bool {
	low := Flat(name)
	return slices.ContainsFunc(en, func(p string) bool { return strings.HasPrefix(low, p) }) ||
		slices.ContainsFunc(zh, func(w string) bool { return strings.HasPrefix(strings.TrimSpace(name), w) })
}

// IsOne says whether a name is one of the phrases, and no more: Cancel, but not Cancel order.
func IsOne(name string, en, zh []string) bool {
	return slices.Contains(en, Flat(name)) || slices.Contains(zh, strings.TrimRight(strings.TrimSpace(name), "….(&) "))
}

// HasHan says whether a text has a Chinese character.
func HasHan(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

// Trouble says whether a text speaks of an error or a warning. Names of files do not: errors.log is none.
func Trouble(text string) bool {
	if text == "" {
		return false
	}
	for _, p := range pathsIn(text) {
		text = strings.ReplaceAll(text, p, " ")
	}
	low := Flat(text)
	for _, p := range enQuiet {
		low = strings.ReplaceAll(low, p, " ; ")
	}
	for _, p := range enTrouble {
		if strings.Contains(low, p) {
			return true
		}
	}
	if !HasHan(text) {
		return false
	}
	for _, w := range zhQuiet {
		text = strings.ReplaceAll(text, w, " ")
	}
	return slices.ContainsFunc(zhTrouble, func(w string) bool { return strings.Contains(text, w) })
}

// Counts says whether it names numbers, beside those in names of files.
func (c Claim) Counts() bool { return len(c.numbers) > 0 }

// Claims reads a text.
func Claims(text string) Claim {
	c := Claim{Words: map[string]float64{}, not: map[string]bool{}, Says: map[string]Saying{}, Paths: pathsIn(text)}
	rest := text
	for _, p := range c.Paths {
		rest = strings.ReplaceAll(rest, p, " ")
	}
	for _, n := range numberShape.FindAllString(rest, -1) {
		n = strings.TrimSuffix(thousands.ReplaceAllString(n, "$1"), "%")
		if n != "0" { // which turns round what it stands before
			c.numbers = append(c.numbers, n)
		}
	}
	for _, m := range countShape.FindAllStringSubmatch(rest, -1) {
		c.counted = append(c.counted, stem(strings.ToLower(m[1])))
	}
	for _, clause := range clauses(rest) {
		c.read(clause)
	}
	return c
}

// clauses takes a text apart where another thing begins to be said.
func clauses(text string) []string {
	var out []string
	from := 0
	runes := []rune(text)
	cut := func(to, next int) {
		if s := strings.TrimSpace(string(runes[from:to])); s != "" {
			out = append(out, s)
		}
		from = next
	}
	for i, r := range runes {
		switch r {
		case '，', '。', '；', '：', '！', '？', '、', '\n', '|', '•', '—', '–', ';', '!', '?', '(', ')', '（', '）':
			cut(i, i+1)
		case ',', '.', ':', '-':
			if i+1 == len(runes) || unicode.IsSpace(runes[i+1]) {
				cut(i, i+1)
			}
		}
	}
	cut(len(runes), len(runes))
	return out
}

// oneWord makes one word of what is written as two or three, and two of what is written as one.
var oneWord = strings.NewReplacer("couldn't", "cannot", "couldn’t", "cannot", "could not", "cannot", "n't", " not", "n’t", " not", "logged in", "logged-in", "signed in", "signed-in", "logged out", "logged-out", "signed out", "signed-out",
	"log in", "log-in", "sign in", "sign-in", "switched on", "switched-on", "turned on", "switched-on", " now live", " published", " is live", " is published", " now online", " published",
	" est en ligne", " est publié", " maintenant en ligne", " publié", " ist online", " ist veröffentlicht", " jetzt online", " veröffentlicht", " está en línea", " está publicado", "email", "mail", "e-mail", "mail")

// A clause is what is read of one so far.
type clause struct {
	into    *Claim
	verbs   []said
	negated bool
	past    bool
	words   map[string]float64
}

// A said is a verb that a clause has.
type said struct {
	verb
	negated bool
}

// read takes in one clause.
func (c *Claim) read(text string) {
	r := clause{into: c, words: map[string]float64{}}
	for _, part := range runs(oneWord.Replace(strings.ToLower(text))) {
		if HasHan(part) {
			r.chinese(part)
		} else {
			r.english(part)
		}
	}
	r.end()
}

func (r *clause) weigh(w string, weight float64) {
	r.words[w] = max(r.words[w], weight)
	if r.negated && w[0] != '!' {
		r.into.not[w] = true
	}
}

func (r *clause) add(v verb) {
	if v.what == "done" {
		v.what = "ok" // who finished without trouble says either
	}
	r.verbs = append(r.verbs, said{v, r.negated})
}

func (r *clause) english(word string) {
	switch v, isVerb := enVerbs[word]; {
	case word == "but" || word == "however":
		r.end()
	case enUnreal[word]:
		r.into.Unreal = true
	case enNot[word]:
		r.negated = !r.negated
	case isVerb:
		r.add(v)
	case enStop[word]:
	case enFaint[word]:
		r.weigh(stem(word), 0.3)
	case numberShape.MatchString(word) && !strings.ContainsFunc(word, unicode.IsLetter):
	default:
		r.weigh(stem(word), 1)
	}
}

// chinese reads a run of characters: words that mean something here, and pairs of the characters between them.
func (r *clause) chinese(run string) {
	var loose []rune
	pairs := func() {
		for i := 0; i+1 < len(loose); i++ {
			r.weigh(string(loose[i:i+2]), 0.5)
		}
		if len(loose) == 1 {
			r.weigh(string(loose), 0.5)
		}
		loose = loose[:0]
	}
	for rest := []rune(run); len(rest) > 0; {
		kind, n := zhKind(rest)
		if n == 0 {
			loose = append(loose, rest[0])
			rest = rest[1:]
			continue
		}
		pairs()
		w := string(rest[:n])
		switch kind {
		case zhIsVerb:
			r.add(zhVerbs[w])
		case zhIsNot:
			r.negated = !r.negated
		case zhIsUnreal:
			r.into.Unreal = true
		case zhIsFaint:
			r.weigh(w, 0.3)
		case zhIsNoun:
			r.weigh(stem(zhNouns[w]), 1)
		case zhIsWhole:
			r.weigh(w, 0.5)
		case zhIsBut:
			r.end()
		}
		r.past = r.past || slices.Contains(zhPast, w)
		rest = rest[n:]
	}
	pairs()
}

// end puts what was read into the claim, and begins anew.
func (r *clause) end() {
	c, sure, bad, received := r.into, r.past, false, false
	for _, v := range r.verbs {
		if v.what == "ok" && v.happened {
			sure = true
			bad = bad || v.contrary != v.negated
		}
		received = received || v.what == "receive" && v.happened && !v.negated
	}
	for _, v := range r.verbs {
		s := Saying{Contrary: v.contrary != v.negated, happened: v.happened || v.negated || sure || v.what == "pay" && received}
		if v.what != "ok" && bad {
			s.Contrary = true // saving failed
		}
		if was, ok := c.Says[v.what]; ok && was.happened && !s.happened {
			continue
		} else if ok && was.happened == s.happened {
			s.Contrary = s.Contrary || was.Contrary // said both ways, it is not said
		}
		c.Says[v.what] = s
		r.weigh("!"+v.what, 1)
	}
	if len(r.verbs) == 0 && len(r.words) > 0 {
		c.Says["is"] = Saying{Contrary: c.Says["is"].Contrary || r.negated, happened: true}
	}
	for w, weight := range r.words {
		c.Words[w] = max(c.Words[w], weight)
	}
	*r = clause{into: c, words: map[string]float64{}}
}

// runs are the words of a clause in lower case; a run of Chinese is one.
func runs(s string) []string {
	var out []string
	from, kind := 0, 0 // 1 Latin and digits, 2 Chinese
	end := func(i int) {
		if kind != 0 {
			if w := strings.Trim(s[from:i], "-._"); w != "" {
				out = append(out, w)
			}
		}
	}
	for i, r := range s {
		now := 0
		switch {
		case unicode.Is(unicode.Han, r):
			now = 2
		case unicode.IsLetter(r), unicode.IsDigit(r):
			now = 1
		case kind == 1 && (r == '-' || r == '_' || r == '.' || r == '%'):
			now = 1
		}
		if now != kind {
			end(i)
			from, kind = i, now
		}
	}
	end(len(s))
	return out
}

// What a Chinese word is.
const (
	zhIsPlain = iota + 1
	zhIsVerb
	zhIsNot
	zhIsUnreal
	zhIsStop
	zhIsFaint
	zhIsNoun
	zhIsBut
	zhIsPast
	zhIsWhole
)

// zhAll is what each Chinese word is that means something here, and how long the longest is.
var zhAll, zhLongest = func() (map[string]int, int) {
	all := map[string]int{}
	put := func(kind int, words []string) {
		for _, w := range words {
			all[w] = kind
		}
	}
	put(zhIsPast, zhPast)
	put(zhIsStop, zhStop)
	put(zhIsFaint, zhFaint)
	put(zhIsUnreal, zhUnreal)
	put(zhIsNot, zhNot)
	for w := range zhNouns {
		all[w] = zhIsNoun
	}
	for w := range zhVerbs {
		all[w] = zhIsVerb
	}
	put(zhIsPlain, zhPlain)
	put(zhIsWhole, zhWhole)
	put(zhIsBut, zhBut)
	longest := 0
	for w := range all {
		longest = max(longest, len([]rune(w)))
	}
	return all, longest
}()

// zhKind is what the word is that a run of Chinese begins with, and how many characters it has; 0 for none.
func zhKind(r []rune) (kind, n int) {
	for n := min(zhLongest, len(r)); n > 0; n-- {
		if kind, ok := zhAll[string(r[:n])]; ok {
			return kind, n
		}
	}
	return 0, 0
}

// stem takes English endings off, lightly.
func stem(w string) string {
	if len(w) < 4 || strings.ContainsFunc(w, func(r rune) bool { return r < 'a' || r > 'z' }) {
		return w
	}
	for _, end := range []string{"ing", "ed", "es", "s"} {
		if s, ok := strings.CutSuffix(w, end); ok && len(s) >= 3 && !strings.HasSuffix(w, "ss") {
			w = s
			break
		}
	}
	return strings.TrimSuffix(w, "e")
}

// A Verdict is what holding one claim against another says.
type Verdict int

// The verdicts.
const (
	Unsaid Verdict = iota
	Agrees
	Differs
	OtherNumber // it says the same of another number
)

// Compare says what an observation shows about an expectation.
func (e Claim) Compare(w Claim) Verdict {
	if w.Unreal || len(e.Words) == 0 {
		return Unsaid
	}
	share, about := e.share(w)
	if !about || e.otherDeed(w) {
		return Unsaid
	}
	yes, no, only := false, false, true
	for what, s := range e.Says {
		only = only && what == "is"
		if said := w.saying(what); said.happened {
			yes, no = yes || said.Contrary == s.Contrary, no || said.Contrary != s.Contrary
		}
	}
	enough := 0.6
	if only {
		yes, no = e.exists(w)
		enough = 0.75
	}
	switch {
	case no && share >= 0.5 && e.ofOther(w):
		return Unsaid
	case no && share >= 0.5:
		return Differs
	case !yes || no || share < enough:
		return Unsaid
	}
	for _, n := range e.numbers {
		if !slices.Contains(w.numbers, n) {
			if common(e.counted, w.counted) {
				return OtherNumber
			}
			return Unsaid // of something else, as far as is known
		}
	}
	return Agrees
}

// ofOther says whether both claims have numbers, none of them the same, which do not count anything: they are about different things.
func (e Claim) ofOther(w Claim) bool {
	return len(e.numbers) > 0 && len(w.numbers) > 0 && !common(e.numbers, w.numbers) && (len(e.counted) == 0 || len(w.counted) == 0)
}

func common(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// saying is what a claim says of a verb. What was created exists, and what was deleted does not.
func (c Claim) saying(what string) Saying {
	said, ok := c.Says[what]
	if ok || what != "exist" {
		return said
	}
	for _, deed := range []string{"create", "add", "delete"} {
		if is := c.Says[deed]; is.happened {
			return Saying{Contrary: is.Contrary != (deed == "delete"), happened: !is.Contrary}
		}
	}
	return said
}

// otherDeed says whether both claims say what was done, and none of it is the same: what came of one tells nothing of the other.
func (e Claim) otherDeed(w Claim) bool {
	mine, theirs := false, false
	for what := range e.Says {
		if !states[what] {
			if _, both := w.Says[what]; both {
				return false
			}
			mine = true
		}
	}
	for what := range w.Says {
		theirs = theirs || !states[what]
	}
	return mine && theirs
}

// states are verbs of how things stand, beside those of what is done.
var states = map[string]bool{"is": true, "ok": true, "done": true, "exist": true}

// share is how much of the words of a claim another has too, by weight, and whether they are about the same.
func (e Claim) share(w Claim) (share float64, about bool) {
	all, has, subject := 0.0, 0.0, false
	for word, weight := range e.Words {
		all += weight
		found := w.Words[word] > 0 || word == "!exist" && w.saying("exist").happened
		if found {
			has += weight
		}
		if word[0] != '!' && weight >= 0.5 {
			subject, about = true, about || found
		}
	}
	return has / all, about || !subject
}

// exists compares claims where nothing has come about: it is, or there is none of it.
func (e Claim) exists(w Claim) (yes, no bool) {
	contrary := e.Says["is"].Contrary
	for word, weight := range e.Words {
		if contrary && !e.not[word] {
			continue // what it is said of
		}
		if weight >= 0.5 && w.Words[word] > 0 {
			same := w.not[word] == e.not[word]
			// A name does not say that there is something: Errors, but 3 errors does.
			yes, no = yes || same, no || !same && (w.not[word] || len(w.numbers) > 0)
		}
	}
	for what, said := range w.Says { // what failed is not
		no = no || what != "is" && said.happened && said.Contrary && !contrary
	}
	return yes, no
}

// Happened says whether a message says of anything that it has happened, and of nothing that it has not.
func Happened(text string) bool {
	c := Claims(text)
	if c.Unreal || Asks(text) || Trouble(text) || SpeaksOfError(text, false) || c.Contrary() {
		return false
	}
	for what, s := range c.Says {
		if s.happened && what != "is" {
			return true
		}
	}
	return false
}

// stands says whether a claim says something by itself.
func (c Claim) stands() bool {
	verb, noun := false, len(c.Paths) > 0
	for w := range c.Words {
		if w[0] == '!' {
			verb = true
		} else {
			noun = true
		}
	}
	return verb && noun
}

// Contrary says whether a claim says of anything that it is not.
func (c Claim) Contrary() bool {
	for _, s := range c.Says {
		if s.Contrary {
			return true
		}
	}
	return false
}
