package summarizers

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"deskbell/backend/human"
)

// What a report may hold at most; Check leaves out or cuts the rest. Lengths are in characters.
const (
	MaxFindings    = 40 // and as many suggestions
	MaxFindingText = 500
	MaxLine        = 200
	MaxText        = 4000
)

// readAtMost is how many characters of one text of a report are looked at. No summarizer writes so much; a plug-in
// may send anything.
const readAtMost = 16_000

// Check holds a report against the input it was made from. It returns what stands: texts cleaned of control and
// direction characters and cut to their limits, findings with ids f1, f2, ... (suggestions s1, s2, ...), and
// each reference that resolves once. A finding or suggestion is dropped whose references do not all resolve,
// that has none, or in whose evidence a number or a quoted text of its own is not found; so is a line or text
// with a number or quoted text that nothing in the input has (then empty). Deterministic: the same input and
// report give the same result.
//
// Numbers are compared as numbers, however they are written, and so are dates, times and sizes. What can be
// worked out from the evidence stands too: how many pieces there are, how long between two of them, a share of
// two numbers in percent.
func Check(in Input, r human.Report) (human.Report, []human.Dropped) {
	c := &checker{in: in, known: map[human.Ref]*piece{}, actions: named(in, r)}
	out := human.Report{Findings: []human.Finding{}, Suggestions: []human.Finding{}}
	out.Findings = c.findings(r.Findings, "f")
	out.Suggestions = c.findings(r.Suggestions, "s")
	out.Line = c.whole(oneLine(clean(r.Line)), MaxLine)
	out.Text = c.whole(paragraphs(clean(r.Text)), MaxText)
	if more := c.drops - len(c.dropped); more > 0 {
		why := "and " + itoa(more) + " more"
		if c.chinese() {
			why = "另有 " + itoa(more) + " 条"
		}
		c.dropped = append(c.dropped, human.Dropped{Text: "…", Why: why})
	}
	return out, c.dropped
}

// Stand says of each of a report's findings whether Check leaves it: what is not kept need not be written about either.
func Stand(in Input, all []human.Finding) []bool {
	c := &checker{in: in, known: map[human.Ref]*piece{}, actions: named(in, human.Report{Findings: all})}
	out := make([]bool, len(all))
	for i := range all {
		out[i] = len(c.findings(all[i:i+1], "f")) == 1
	}
	return out
}

// named are the actions that a report rests on, found in one pass: a recording may have a million.
func named(in Input, r human.Report) map[human.Ref]*human.Action {
	wanted := map[human.RecordingID]map[string]bool{}
	for _, f := range slices.Concat(r.Findings, r.Suggestions) {
		for _, ref := range f.Evidence {
			if ref.Kind != human.RefAction {
				continue
			}
			if wanted[ref.Recording] == nil {
				wanted[ref.Recording] = map[string]bool{}
			}
			wanted[ref.Recording][ref.ID] = true
		}
	}
	found := map[human.Ref]*human.Action{}
	for i := range in.Recordings {
		r := &in.Recordings[i]
		ids := wanted[r.ID]
		for j := range r.Actions {
			if a := &r.Actions[j]; ids[a.ID] && !a.Cut {
				found[human.Ref{Kind: human.RefAction, Recording: r.ID, ID: a.ID}] = a
			}
		}
	}
	return found
}

type checker struct {
	in      Input
	actions map[human.Ref]*human.Action // that the report names
	known   map[human.Ref]*piece
	kept    []*piece // what the findings kept rest on
	sizes   []int    // how much each of them rests on
	dropped []human.Dropped
	drops   int // all of them
}

// maxDropped is how many of the dropped are reported one by one. A plug-in may send any number.
const maxDropped = 200

func (c *checker) chinese() bool { return strings.HasPrefix(c.in.Language, "zh") }

// A piece is a piece of evidence that was looked up.
type piece struct {
	ok      bool
	action  *human.Action
	command *Command
	facts   facts
}

func (c *checker) drop(text, en, zh string) {
	if c.drops++; c.drops > maxDropped {
		return
	}
	why := en
	if c.chinese() {
		why = zh
	}
	c.dropped = append(c.dropped, human.Dropped{Text: human.Shorten(text, MaxFindingText), Why: why})
}

func (c *checker) findings(all []human.Finding, prefix string) []human.Finding {
	out := []human.Finding{}
	for _, f := range all {
		f.Text = oneLine(clean(f.Text))
		switch {
		case f.Text == "":
			c.drop(f.Text, "it says nothing", "没有内容")
			continue
		case !slices.Contains(human.FindingKinds, f.Kind):
			c.drop(f.Text, "there is no kind of finding called "+quoted(string(f.Kind)), "没有这种发现："+quoted(string(f.Kind)))
			continue
		case len(out) == MaxFindings:
			c.drop(f.Text, "there are "+itoa(MaxFindings)+" already, and no more are taken", "已有 "+itoa(MaxFindings)+" 条，不再接受更多")
			continue
		}
		pieces, ok := c.evidence(&f)
		if !ok {
			continue
		}
		basis := together(pieces)
		f.Text, ok = c.stands(f.Text, MaxFindingText, basis.has, basis.quotes)
		if !ok {
			continue
		}
		c.kept = append(c.kept, pieces...)
		c.sizes = append(c.sizes, len(pieces))
		f.ID = prefix + itoa(len(out)+1)
		f.ByHand, f.Cut = false, false // only the operator does either
		if !(f.Confidence >= 0) {      // NaN too
			f.Confidence = 0
		}
		f.Confidence = min(f.Confidence, 1)
		out = append(out, f)
	}
	return out
}

// evidence looks up what a finding rests on, each once.
func (c *checker) evidence(f *human.Finding) ([]*piece, bool) {
	refs := make([]human.Ref, 0, len(f.Evidence))
	seen := make(map[human.Ref]bool, len(f.Evidence))
	var pieces []*piece
	for _, ref := range f.Evidence {
		if !ref.Recorded() {
			ref.Recording = ""
		}
		if seen[ref] {
			continue
		}
		seen[ref] = true
		p := c.piece(ref)
		if !p.ok {
			zh := kindsZh[ref.Kind]
			if zh == "" {
				zh = quoted(string(ref.Kind))
			}
			c.drop(f.Text, "there is no "+human.Shorten(oneLine(clean(string(ref.Kind))), 20)+" "+quoted(ref.ID), "没有这个"+zh+"："+quoted(ref.ID))
			return nil, false
		}
		refs = append(refs, ref)
		pieces = append(pieces, p)
	}
	if len(refs) == 0 {
		c.drop(f.Text, "it names no evidence", "没有说明依据")
		return nil, false
	}
	f.Evidence = refs
	return pieces, true
}

var kindsZh = map[human.RefKind]string{
	human.RefAction: "操作", human.RefPicture: "图片", human.RefCommand: "命令", human.RefField: "字段", human.RefStep: "步骤", human.RefMessage: "消息",
	human.RefAnswer: "回答部分", human.RefRequest: "请求部分",
}

func (c *checker) piece(ref human.Ref) *piece {
	if p := c.known[ref]; p != nil {
		return p
	}
	p := &piece{}
	c.known[ref] = p
	var text string
	if ref.Kind == human.RefAction {
		if p.action, p.ok = c.actions[ref]; p.ok {
			var s sheet
			s.action(p.action)
			text = s.String()
		}
	} else {
		text, p.ok = c.in.Resolve(ref)
		if ref.Kind == human.RefCommand && p.ok {
			p.command = c.command(ref)
		}
	}
	p.facts = newFacts(text)
	p.facts.words.add(strings.ToLower(ref.ID))
	return p
}

func (c *checker) command(ref human.Ref) *Command {
	for i := range c.in.Recordings {
		r := &c.in.Recordings[i]
		for j := range r.Commands {
			if r.ID == ref.Recording && r.Commands[j].ID == ref.ID {
				return &r.Commands[j]
			}
		}
	}
	return nil
}

// stands holds the numbers and quoted texts of a text against has and quotes; it returns the text cut to its limit.
func (c *checker) stands(text string, most int, has func(token) bool, quotes func(string) bool) (string, bool) {
	whole := text
	if r := []rune(text); len(r) > readAtMost {
		text = string(r[:readAtMost])
	}
	r := []rune(text)
	var whole2 [][2]int // what must not be cut in two
	for _, q := range quotations(r) {
		said := string(r[q[0]+1 : q[1]])
		if norm(said) == "" {
			continue
		}
		if !quotes(said) {
			if quotes(within(r, q[0])) && quotes(within(r, q[1])) {
				continue // the marks are the evidence's own, and only look like a pair
			}
			c.drop(whole, "its evidence does not say "+quoted(said), "依据中没有这样的文字："+quoted(said))
			return "", false
		}
		whole2 = append(whole2, [2]int{q[0], q[1] + 1})
		for i := q[0]; i <= q[1]; i++ {
			r[i] = ' ' // its numbers are in the evidence as they stand
		}
	}
	var missing string
	n := 0 // of the items of a list
	s := scanner{r: plainRunes(r), claims: true}
	s.all(func(t token) {
		whole2 = append(whole2, [2]int{t.from, t.to})
		if item(s.r, t) == n+1 {
			n++
			return
		}
		if missing == "" && !has(t) {
			missing = strings.TrimSpace(string(s.r[t.from:t.to]))
		}
	})
	if missing != "" {
		c.drop(whole, "its evidence does not have "+missing, "依据中没有 "+missing)
		return "", false
	}
	return cut(text, most, whole2), true
}

// item returns the number of an item of a list: "2. " at the beginning of a line; 0 for any other number.
func item(r []rune, t token) int {
	for i := t.from - 1; i >= 0 && r[i] != '\n'; i-- {
		if r[i] != ' ' {
			return 0
		}
	}
	if t.from > 0 && !slices.Contains(r[:t.from], '\n') || t.to >= len(r) || !strings.ContainsRune(".)、", r[t.to]) {
		return 0
	}
	n := 0
	for _, d := range r[t.from:t.to] {
		if n = n*10 + int(d-'0'); !digit(d) || n > 99 {
			return 0
		}
	}
	return n
}

// cut shortens a text to most characters, not within a number or a quoted text.
func cut(text string, most int, keep [][2]int) string {
	r := []rune(text)
	if len(r) <= most {
		return text
	}
	at := most - 1
	for again := true; again; {
		again = false
		for _, k := range keep {
			if k[0] < at && at < k[1] {
				at, again = k[0], true
			}
		}
	}
	return strings.TrimSpace(string(r[:at])) + "…"
}

// quoted names something that came from elsewhere in a message.
func quoted(text string) string { return "“" + human.Shorten(oneLine(clean(text)), 80) + "”" }

// clean takes control and direction characters out, but line ends.
func clean(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "�"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' || r == '\u0085':
			return '\n'
		case r == '\t' || r == '\v' || r == '\f':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u115f' || r == '\u1160' || r == '\u3164' || r == '\uffa0':
			return -1
		}
		return r
	}, text)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// paragraphs leaves line ends, at most one empty line between paragraphs.
func paragraphs(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		if line != "" || (len(lines) > 0 && lines[len(lines)-1] != "") {
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// Facts.

// facts are the numbers and texts of evidence.
type facts struct {
	text   string // normalised, one piece to a line
	plain  set
	bare   set       // of numbers with units
	shares set       // percent
	values []float64 // of plain numbers, each once
	sizes  []num
	lapses []num
	keys   set // other, hours
	dates  []num
	tokens set // numbers as they stand
	words  set // with digits in them
}

// A set is made when the first is added: most evidence has few numbers, of few kinds.
type set map[string]bool

func (s *set) add(name string) {
	if *s == nil {
		*s = set{}
	}
	(*s)[name] = true
}

func newFacts(text string) facts {
	f := facts{text: norm(text)}
	s := scanner{r: []rune(f.text)}
	s.all(func(t token) {
		f.tokens.add(t.text)
		if t.word != "" {
			f.words.add(t.word)
		}
		for _, way := range t.ways {
			for _, n := range way {
				f.add(n)
			}
		}
	})
	return f
}

func (f *facts) add(n num) {
	if n.bare != "" {
		f.bare.add(n.bare)
	}
	switch n.dim {
	case plain:
		if !f.plain[n.key] {
			f.values = append(f.values, n.value)
		}
		f.plain.add(n.key)
		f.plain.add(strings.TrimPrefix(n.key, "-")) // fell by 5
	case percent:
		f.shares.add(n.key)
		f.shares.add(strings.TrimPrefix(n.key, "-"))
	case bytes:
		f.sizes = append(f.sizes, n)
	case lapse:
		f.lapses = append(f.lapses, n)
	case hour, other:
		f.keys.add(n.key)
	case date:
		f.dates = append(f.dates, n)
		if n.y > 0 {
			f.plain.add(plainNum(newDec(itoa(n.y), "")).key)
		}
	}
}

// says looks for one reading of a number.
func (f *facts) says(n num) bool {
	switch n.dim {
	case plain:
		return f.plain[n.key] || f.bare[n.key]
	case percent:
		return f.shares[n.key] || f.plain[n.bare] || (n.bare != "" && f.plain[shift(n.key, -2)])
	case bytes:
		return f.plain[n.bare] || near(f.sizes, n)
	case lapse:
		return (n.bare != "" && f.plain[n.bare]) || near(f.lapses, n)
	case hour, other:
		return f.keys[n.key]
	case date:
		return slices.ContainsFunc(f.dates, func(d num) bool {
			return (n.y == 0 || n.y == d.y) && (n.m == 0 || n.m == d.m) && (n.d == 0 || n.d == d.d)
		})
	}
	return false
}

// shift moves the point of a decimal's key.
func shift(key string, by int) string {
	digits, exp, ok := strings.Cut(key, "e")
	if !ok {
		return key
	}
	minus := strings.HasPrefix(exp, "-")
	n := 0
	for _, r := range strings.TrimPrefix(exp, "-") {
		n = n*10 + int(r-'0')
	}
	if minus {
		n = -n
	}
	return digits + "e" + itoa(n+by)
}

// near says whether one of the values is what a person would write as n: rounded to its last digit, or cut there.
// What was rounded itself is not rounded again, but to a coarser digit.
func near(values []num, n num) bool {
	last := n.last
	if n.dim == lapse && last == 1 && n.value >= 20 && math.Mod(n.value, 10) == 0 {
		last = 5 // about 40 seconds
	}
	for _, v := range values {
		d := v.value - n.value
		if math.Abs(d) <= 1e-9*n.value {
			return true
		}
		if v.last > last/2 {
			continue
		}
		if math.Abs(d) <= last/2*(1+1e-9) || (n.last == last && d >= 0 && d < last*(1-1e-9)) {
			return true
		}
	}
	return false
}

// A basis is what one finding rests on, all of it together.
type basis struct {
	pieces []*piece
	counts map[string]bool // how many of something there are
	most   int             // the largest of counts that number the pieces
	lapses []num           // between actions
}

func together(pieces []*piece) *basis {
	b := &basis{pieces: pieces, counts: map[string]bool{}}
	var k kindsOf
	var from, to []float64
	sum := 0.0
	for _, p := range pieces {
		if a := p.action; a != nil {
			k.action(a)
			from, to = append(from, float64(a.At)/1e9), append(to, float64(max(a.At, a.End))/1e9)
			sum += float64(max(0, a.End-a.At)) / 1e9
		}
		if c := p.command; c != nil {
			k.commands++
			from, to = append(from, float64(c.At)/1e9), append(to, float64(max(c.At, c.End))/1e9)
			sum += float64(max(0, c.End-c.At)) / 1e9
		}
	}
	b.count(len(pieces))
	k.count(b)
	b.most = len(pieces)
	b.lapses = append(b.lapses, num{value: sum})
	few := len(from)
	if few > 64 {
		from, to = append(from[:32:32], from[few-32:]...), append(to[:32:32], to[few-32:]...)
	}
	for i := range from {
		for j := range from {
			if i != j {
				b.lapses = append(b.lapses, num{value: math.Abs(from[i] - from[j])}, num{value: math.Abs(to[i] - from[j])}, num{value: math.Abs(to[i] - to[j])})
			}
		}
	}
	return b
}

// kindsOf counts actions by type, and what they differ in, so that "3 clicks in 2 windows" can be said.
type kindsOf struct {
	types    map[human.ActionType]int
	commands int
	failed   int // pages and commands
	distinct [10]map[[2]string]struct{}
}

func (k *kindsOf) of(what int, name, more string) {
	if name == "" && more == "" {
		return
	}
	if k.distinct[what] == nil {
		k.distinct[what] = map[[2]string]struct{}{}
	}
	k.distinct[what][[2]string{name, more}] = struct{}{}
}

func (k *kindsOf) action(a *human.Action) {
	if k.types == nil {
		k.types = map[human.ActionType]int{}
	}
	k.types[a.Type]++
	if a.Navigation != nil && (a.Navigation.Failed != "" || a.Navigation.Status >= 400) {
		k.failed++
	}
	if a.App != nil {
		k.of(0, a.App.Name, "")
	}
	if a.Window != nil {
		k.of(1, a.Window.Title, "")
	}
	if a.Element != nil {
		k.of(2, a.Element.Name, a.Element.Role)
	}
	if a.Page != nil {
		k.of(3, a.Page.Target, "")
		k.of(4, a.Page.URL, "")
		_, rest, _ := strings.Cut(a.Page.URL, "://")
		host, _, _ := strings.Cut(rest, "/")
		k.of(5, host, "")
	}
	if a.File != nil {
		k.of(6, a.File.Path, "")
	}
	if a.Dialog != nil {
		k.of(7, a.Dialog.Message, "")
	}
	for _, t := range a.Transfers {
		k.of(8, t.Name, "")
	}
	if a.Pick != nil {
		k.of(9, a.Pick.Field, "")
	}
}

// count adds how many there are of each; not that there are none of something, which is no evidence.
func (k *kindsOf) count(b *basis) {
	all := []int{k.types[human.Click] + k.types[human.DoubleClick] + k.types[human.TripleClick], k.commands, k.failed}
	for _, n := range k.types {
		all = append(all, n)
	}
	for _, names := range k.distinct {
		all = append(all, len(names))
	}
	for _, n := range all {
		if n > 0 {
			b.count(n)
		}
	}
}

func (b *basis) count(n int) { b.counts[plainNum(newDec(itoa(n), "")).key] = true }

// has says whether the evidence has a number, in any way it can be read.
func (b *basis) has(t token) bool {
	for _, p := range b.pieces {
		if p.facts.tokens[t.text] || (t.word != "" && p.facts.words[t.word]) {
			return true
		}
	}
	return slices.ContainsFunc(t.ways, func(way []num) bool {
		return !slices.ContainsFunc(way, func(n num) bool { return !b.says(n, t.ordinal) })
	})
}

func (b *basis) says(n num, ordinal bool) bool {
	for _, p := range b.pieces {
		if p.facts.says(n) {
			return true
		}
	}
	switch n.dim {
	case plain:
		return b.counts[n.key] || (ordinal && n.value >= 1 && n.value <= float64(b.most))
	case lapse:
		return near(b.lapses, n)
	case percent:
		return b.share(n)
	}
	return false
}

// fewNumbers is how many numbers evidence may have for shares of them to be worked out: with more of them, nearly
// every percentage is one of some two.
const fewNumbers = 16

// share says whether n is what one number is of another in percent, or what it grew or fell by.
func (b *basis) share(n num) bool {
	var values []float64
	for _, p := range b.pieces {
		if values = append(values, p.facts.values...); len(values) > 4*fewNumbers {
			return false
		}
	}
	slices.Sort(values)
	values = slices.Compact(values)
	if len(values) > fewNumbers {
		return false
	}
	right := func(v float64) bool { return math.Abs(math.Abs(v)-math.Abs(n.value)) <= n.last/2*(1+1e-9) }
	for _, x := range values {
		for _, y := range values {
			if x != y && y != 0 && (right(x/y*100) || right((x-y)/y*100)) {
				return true
			}
		}
	}
	return false
}

// quotes says whether one of the pieces has the text.
func (b *basis) quotes(text string) bool {
	return slices.ContainsFunc(b.pieces, func(p *piece) bool { return p.facts.quotes(text) })
}
