package summarizers

import (
	"math"
	"math/big"
	"slices"
	"strings"
	"unicode"
)

// A dim is what a number counts.
type dim uint8

const (
	plain   dim = iota
	percent     // value is of 100
	bytes       // value in bytes
	lapse       // value in seconds: a duration, or a time from the start
	hour        // key: a time of day, hh:mm or hh:mm:ss
	date        // y, m, d, of which some may be 0: not said
	other       // key: a version, an address, as it is written
)

// A num is one reading of a number in a text.
type num struct {
	dim     dim
	key     string  // the decimal number as dec writes it, whatever way it was written
	bare    string  // without its unit, where it has one
	value   float64 // in the unit of its dim
	last    float64 // what one more in its last digit is worth
	y, m, d int
}

// A token is a number as it stands in a text. It can often be read in more than one way ("1,5", "03:20"); each
// way is the numbers it then says.
type token struct {
	from, to int // runes
	text     string
	word     string // the whole word where it ends one that begins with letters: H264
	ordinal  bool
	ways     [][]num
}

// dec is a decimal number without regard to how it was written: digits, and the power of ten they are times.
type dec struct {
	minus  bool
	digits string // without zeros at either end; empty: zero
	exp    int
}

func newDec(whole, fraction string) dec {
	d := dec{digits: whole + fraction, exp: -len(fraction)}
	return d.trim()
}

func (d dec) trim() dec {
	d.digits = strings.TrimLeft(d.digits, "0")
	short := strings.TrimRight(d.digits, "0")
	d.exp += len(d.digits) - len(short)
	d.digits = short
	if short == "" {
		return dec{}
	}
	return d
}

func (d dec) times(power int) dec {
	if d.digits != "" {
		d.exp += power
	}
	return d
}

// plus adds two numbers that are not negative, of sizes that people write.
func (d dec) plus(e dec) dec {
	low := min(d.exp, e.exp)
	if max(d.exp, e.exp)-low > 100 {
		return d
	}
	a, _ := new(big.Int).SetString("0"+d.digits+strings.Repeat("0", d.exp-low), 10)
	b, _ := new(big.Int).SetString("0"+e.digits+strings.Repeat("0", e.exp-low), 10)
	return dec{digits: a.Add(a, b).String(), exp: low}.trim()
}

func (d dec) key() string {
	sign := ""
	if d.minus {
		sign = "-"
	}
	if d.digits == "" {
		return "0"
	}
	return sign + d.digits + "e" + itoa(d.exp)
}

func (d dec) float() float64 {
	v := 0.0
	for i, c := range d.digits {
		if i == 20 {
			v *= math.Pow10(len(d.digits) - 20)
			break
		}
		v = v*10 + float64(c-'0')
	}
	return v * math.Pow10(d.exp)
}

func itoa(n int) string { return big.NewInt(int64(n)).String() }

// scales are what a number is multiplied by, as a power of ten.
var scales = map[string]int{
	"thousand": 3, "k": 3, "million": 6, "millions": 6, "mln": 6, "mn": 6, "m": 6, "billion": 9, "billions": 9, "bn": 9, "b": 9, "trillion": 12,
	"hundred": 2,
}

// hanScales are those of Chinese, the longest first.
var hanScales = []struct {
	text  string
	power int
}{{"万亿", 12}, {"萬億", 12}, {"千万", 7}, {"百万", 6}, {"十万", 5}, {"亿", 8}, {"億", 8}, {"万", 4}, {"萬", 4}, {"千", 3}, {"百", 2}}

// A unit is what stands behind a number.
type unit struct {
	dim dim
	of  []float64 // in the dim's own unit; more than one where people mean different things by it
}

var units = map[string]unit{
	"%": {percent, []float64{1}}, "‰": {percent, []float64{0.1}}, "percent": {percent, []float64{1}}, "pct": {percent, []float64{1}},
	"byte": {bytes, []float64{1}}, "bytes": {bytes, []float64{1}}, "b": {bytes, []float64{1}},
	"k": {bytes, []float64{1e3, 1 << 10}}, "kb": {bytes, []float64{1e3, 1 << 10}}, "kib": {bytes, []float64{1 << 10}},
	"m": {bytes, []float64{1e6, 1 << 20}}, "mb": {bytes, []float64{1e6, 1 << 20}}, "mib": {bytes, []float64{1 << 20}},
	"g": {bytes, []float64{1e9, 1 << 30}}, "gb": {bytes, []float64{1e9, 1 << 30}}, "gib": {bytes, []float64{1 << 30}},
	"tb": {bytes, []float64{1e12, 1 << 40}}, "tib": {bytes, []float64{1 << 40}},
	"ns": {lapse, []float64{1e-9}}, "us": {lapse, []float64{1e-6}}, "µs": {lapse, []float64{1e-6}}, "ms": {lapse, []float64{1e-3}},
	"s": {lapse, []float64{1}}, "sec": {lapse, []float64{1}}, "secs": {lapse, []float64{1}}, "second": {lapse, []float64{1}}, "seconds": {lapse, []float64{1}},
	"min": {lapse, []float64{60}}, "mins": {lapse, []float64{60}}, "minute": {lapse, []float64{60}}, "minutes": {lapse, []float64{60}},
	"h": {lapse, []float64{3600}}, "hr": {lapse, []float64{3600}}, "hrs": {lapse, []float64{3600}}, "hour": {lapse, []float64{3600}}, "hours": {lapse, []float64{3600}},
	"day": {lapse, []float64{86400}}, "days": {lapse, []float64{86400}},
}

// minutes is for "m" behind a number, which is a scale, bytes or minutes.
var minutes = unit{lapse, []float64{60}}

// hanUnits are those of Chinese, the longest first.
var hanUnits = []struct {
	text string
	unit unit
}{
	{"个小时", unit{lapse, []float64{3600}}}, {"小时", unit{lapse, []float64{3600}}}, {"分钟", unit{lapse, []float64{60}}},
	{"毫秒", unit{lapse, []float64{1e-3}}}, {"微秒", unit{lapse, []float64{1e-6}}}, {"秒钟", unit{lapse, []float64{1}}}, {"秒", unit{lapse, []float64{1}}},
	{"字节", unit{bytes, []float64{1}}}, {"天", unit{lapse, []float64{86400}}}, {"分", unit{lapse, []float64{60}}},
}

var months = map[string]int{
	"jan": 1, "january": 1, "feb": 2, "february": 2, "mar": 3, "march": 3, "apr": 4, "april": 4, "may": 5, "jun": 6, "june": 6, "jul": 7, "july": 7,
	"aug": 8, "august": 8, "sep": 9, "sept": 9, "september": 9, "oct": 10, "october": 10, "nov": 11, "november": 11, "dec": 12, "december": 12,
}

var numberWords = map[string]int{
	"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13,
	"fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
	"sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "twice": 2, "thrice": 3,
}

// A scanner finds the numbers of a text that was normalised.
type scanner struct {
	r []rune
	// claims: only what surely is a number, and not every sign that may be one. A Chinese numeral is a part of many
	// words that count nothing.
	claims bool
}

func digit(r rune) bool { return r >= '0' && r <= '9' }
func latin(r rune) bool { return unicode.IsLetter(r) && !han(r) }
func han(r rune) bool {
	return r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) // none comes before the Jamo
}
func wordish(r rune) bool { return latin(r) || digit(r) || r == '_' }

func (s *scanner) at(i int) rune {
	if i < 0 || i >= len(s.r) {
		return 0
	}
	return s.r[i]
}

// digits returns where a run of digits from i ends.
func (s *scanner) digits(i int) int {
	for digit(s.at(i)) {
		i++
	}
	return i
}

// number reads digits from i to j as an int; -1 where they are too many.
func (s *scanner) number(i, j int) int {
	if j <= i || j-i > 9 {
		return -1
	}
	n := 0
	for _, r := range s.r[i:j] {
		n = n*10 + int(r-'0')
	}
	return n
}

// letters returns the Latin word or percent sign at i in lower case, and where it ends; "" where it is no word of a
// unit's length.
func (s *scanner) letters(i int) (string, int) {
	if r := s.at(i); r == '%' || r == '‰' {
		return string(r), i + 1
	}
	j := i
	for j < i+12 && latin(s.at(j)) {
		j++
	}
	if latin(s.at(j)) || s.at(j) == '_' {
		return "", i
	}
	return strings.ToLower(string(s.r[i:j])), j
}

func (s *scanner) has(i int, text string) bool {
	for _, r := range text {
		if s.at(i) != r {
			return false
		}
		i++
	}
	return true
}

// all calls yield with each number of the text.
func (s *scanner) all(yield func(token)) {
	for i := 0; i < len(s.r); {
		t, ok := s.next(i)
		if !ok {
			i++
			continue
		}
		t.from = i
		t.text = strings.ReplaceAll(string(s.r[t.from:t.to]), " ", "")
		yield(t)
		i = max(t.to, i+1)
	}
}

func (s *scanner) next(i int) (token, bool) {
	r := s.at(i)
	switch {
	case digit(r):
		return s.figure(i), true
	case r == '.' && digit(s.at(i+1)) && !wordish(s.at(i-1)) && s.at(i-1) != '.':
		return s.figure(i), true
	case latin(r) && !wordish(s.at(i-1)):
		return s.spelled(i)
	case han(r):
		return s.numeral(i)
	}
	return token{}, false
}

// figure reads the number in digits at i.
func (s *scanner) figure(i int) token {
	var t token
	t.to = i + 1
	take := func(to int, way ...num) {
		if len(way) == 0 {
			return
		}
		t.to = max(t.to, to)
		t.ways = append(t.ways, way)
	}
	if wordish(s.at(i-1)) && !digit(s.at(i-1)) {
		from, to := i, i
		for wordish(s.at(from - 1)) {
			from--
		}
		for wordish(s.at(to)) {
			to++
		}
		t.word = strings.ToLower(string(s.r[from:to]))
	}
	if s.dates(i, take) {
		return t
	}
	if s.clocks(i, take) {
		return t
	}
	s.decimals(i, take)
	if end := s.suffix(t.to); end > t.to {
		t.ordinal, t.to = true, end
	}
	t.ordinal = t.ordinal || s.at(i-1) == '第' || (s.at(i-1) == ' ' && s.at(i-2) == '第')
	return t
}

// dates reads a date in figures, or a day and a month by name.
func (s *scanner) dates(i int, take func(int, ...num)) bool {
	j := s.digits(i)
	n := s.number(i, j)
	found := false
	give := func(to, y, m, d int) {
		if m >= 0 && m <= 12 && d >= 0 && d <= 31 {
			found = true
			take(to, num{dim: date, y: y, m: m, d: d})
		}
	}
	short := j-i <= 2 && n > 0
	k := s.digits(j + 1)
	l := s.digits(k + 1)
	a, b := s.number(j+1, k), s.number(k+1, l)
	switch sep := s.at(j); sep {
	case '-', '/', '.':
		switch {
		case s.at(k) != sep || k-j > 3 || a <= 0:
		case j-i == 4 && l-k <= 3 && b > 0:
			give(l, n, a, b)
		case short && l-k == 5:
			give(l, b, a, n)
			give(l, b, n, a)
		}
	case '年', '月', '日', '号':
		s.hanDate(i, j, give, take)
	}
	switch {
	case j-i == 8 && n > 19000101 && n < 22000000:
		give(j, n/10000, n/100%100, n%100)
		found = false // and as a number
	case short && n <= 31:
		if m, at := s.monthAfter(j); m > 0 {
			y, to := s.year(at)
			give(to, y, m, n)
			take(j, plainNum(newDec(string(s.r[i:j]), "")))
		}
	}
	return found
}

// hanDate reads a date that has 年, 月 or 日 behind its first digits, which are from i to j.
func (s *scanner) hanDate(i, j int, give func(to, y, m, d int), take func(int, ...num)) {
	k := s.digits(j + 1)
	l := s.digits(k + 1)
	n, a, b := s.number(i, j), s.number(j+1, k), s.number(k+1, l)
	isDay := func(r rune) bool { return r == '日' || r == '号' }
	switch sep := s.at(j); {
	case sep == '年' && j-i == 4 && a > 0 && s.at(k) == '月':
		if b > 0 && isDay(s.at(l)) {
			give(l+1, n, a, b)
		} else {
			give(k+1, n, a, 0)
		}
	case j-i > 2 || n <= 0:
	case sep == '月' && a > 0 && isDay(s.at(k)):
		give(k+1, 0, n, a)
	case sep == '月':
		give(j+1, 0, n, 0)
	case isDay(sep) && n <= 31:
		give(j+1, 0, 0, n)
		take(j+1, plainNum(newDec(string(s.r[i:j]), "")))
	}
}

// monthAfter reads the name of the month behind a day: 21 November, 21st of Nov.; 0 without.
func (s *scanner) monthAfter(at int) (month, end int) {
	at = s.suffix(at)
	if s.at(at) != ' ' && s.at(at) != '-' {
		return 0, at
	}
	at++
	if s.has(at, "of ") {
		at += 3
	}
	name, e := s.letters(at)
	if s.at(at) == 'm' && name == "may" {
		return 0, at
	}
	if s.at(e) == '.' {
		e++
	}
	return months[name], e
}

// suffix returns where the st, nd, rd or th at i ends, or i.
func (s *scanner) suffix(i int) int {
	if w, e := s.letters(i); w == "st" || w == "nd" || w == "rd" || w == "th" {
		return e
	}
	return i
}

// year reads ", 2026" or " 2026" at i; 0 without.
func (s *scanner) year(i int) (int, int) {
	j := i
	if s.at(j) == ',' {
		j++
	}
	if s.at(j) == ' ' || s.at(j) == '-' {
		j++
	}
	if k := s.digits(j); k-j == 4 && j > i {
		return s.number(j, k), k
	}
	return 0, i
}

// clocks reads hh:mm, mm:ss and h:mm:ss.
func (s *scanner) clocks(i int, take func(int, ...num)) bool {
	j := s.digits(i)
	k := s.digits(j + 1)
	if s.at(j) != ':' || j-i > 3 || k-j != 3 {
		return false
	}
	a, b := s.number(i, j), s.number(j+1, k)
	to, c, three := k, 0, false
	if l := s.digits(k + 1); s.at(k) == ':' && l-k == 3 {
		to, c, three = l, s.number(k+1, l), true
	}
	if b > 59 || c > 59 || (s.at(to) == ':' && digit(s.at(to+1))) {
		return false
	}
	fraction := 0.0
	if s.at(to) == '.' && digit(s.at(to+1)) {
		end := s.digits(to + 1)
		fraction = newDec("", string(s.r[to+1:min(end, to+10)])).float()
		to = end
	}
	at := to
	if s.at(at) == ' ' {
		at++
	}
	half, e := s.letters(at)
	switch {
	case half == "pm" && a < 12:
		take(e, num{dim: hour, key: hourKey(a+12, b, c, three)})
	case half == "am" || half == "pm":
		take(e, num{dim: hour, key: hourKey(a%12+map[string]int{"pm": 12}[half], b, c, three)})
	case three:
		take(to, num{dim: lapse, value: float64(a*3600+b*60+c) + fraction, last: 1})
		take(to, num{dim: hour, key: hourKey(a, b, c, true)})
	default:
		take(to, num{dim: lapse, value: float64(a*60+b) + fraction, last: 1})
		take(to, num{dim: hour, key: hourKey(a, b, 0, false)})
	}
	return true
}

func hourKey(h, m, s int, withSeconds bool) string {
	key := itoa(h) + ":" + itoa(m)
	if withSeconds {
		key += ":" + itoa(s)
	}
	return key
}

// decimals reads a number with its groups, fraction, power, scale, sign and unit.
func (s *scanner) decimals(i int, take func(int, ...num)) {
	minus := (s.at(i-1) == '-' || s.at(i-1) == '−') && !wordish(s.at(i-2)) && !han(s.at(i-2)) && s.at(i-2) != ')' && s.at(i-2) != '-'
	groups, seps, end := s.groups(i)
	one := func(d dec, last int) {
		d.minus = minus && d.digits != ""
		s.finish(d, last, end, take)
	}
	join := func(upTo int) string { return strings.Join(groups[:upTo], "") }
	n := len(seps)
	same := n > 0 && !slices.ContainsFunc(seps, func(r rune) bool { return r != seps[0] })
	switch {
	case n == 0:
		one(newDec(groups[0], ""), 0)
	case same && seps[0] == '.' && n == 1:
		one(newDec(groups[0], groups[1]), -len(groups[1]))
	case same && seps[0] == '.':
		if grouped(groups) {
			one(newDec(join(n+1), ""), 0)
		}
		take(end, num{dim: other, key: strings.Join(groups, ".")})
	case same && grouped(groups):
		one(newDec(join(n+1), ""), 0)
		if seps[0] == ' ' {
			take(end, list(groups)...)
		}
	case same && seps[0] == ',' && n == 1:
		one(newDec(groups[0], groups[1]), -len(groups[1]))
		take(end, list(groups)...)
	case !same && (seps[n-1] == '.' || seps[n-1] == ',') && !slices.Contains(seps[:n-1], seps[n-1]) && grouped(groups[:n]):
		one(newDec(join(n), groups[n]), -len(groups[n]))
	default:
		take(end, list(groups)...)
	}
}

// groups reads runs of digits with what people put between them: 12,000,000 or 12 000 000.50.
func (s *scanner) groups(i int) (groups []string, seps []rune, end int) {
	j := s.digits(i)
	groups, end = []string{string(s.r[i:j])}, j
	if i == j {
		groups[0] = "0" // .5
	}
	for {
		sep := s.at(end)
		k := s.digits(end + 1)
		if k == end+1 {
			return groups, seps, end
		}
		switch sep {
		case '.', ',':
		case ' ', '\'', '_':
			// A space parts words, too: only what looks like thousands goes together.
			if k-end != 4 || len(groups[0]) > 3 || (len(seps) > 0 && seps[len(seps)-1] != sep) || wordish(s.at(k)) {
				return groups, seps, end
			}
		default:
			return groups, seps, end
		}
		seps = append(seps, sep)
		groups = append(groups, string(s.r[end+1:k]))
		end = k
	}
}

// grouped says whether these are the groups of one number: of three digits, of four, or of two and at the end three.
func grouped(groups []string) bool {
	first, rest := groups[0], groups[1:]
	if len(rest) == 0 {
		return true
	}
	of := func(n int, of []string) bool {
		return len(first) <= n && !slices.ContainsFunc(of, func(g string) bool { return len(g) != n })
	}
	return first != "0" && (of(3, rest) || of(4, rest) || (len(rest) > 1 && of(2, rest[:len(rest)-1]) && len(rest[len(rest)-1]) == 3))
}

func list(groups []string) []num {
	way := make([]num, 0, len(groups))
	for _, g := range groups {
		way = append(way, plainNum(newDec(g, "")))
	}
	return way
}

func plainNum(d dec) num { return num{dim: plain, key: d.key(), value: d.float()} }

// finish reads what follows the digits of a number, to its unit. last is the power of ten of its last digit.
func (s *scanner) finish(d dec, last, end int, take func(int, ...num)) {
	power, end := s.power(end)
	d, last = d.times(power), last+power
	d, last, end = s.hanScale(d, last, end)
	at := end
	if s.at(at) == ' ' || (s.at(at) == '-' && latin(s.at(at+1))) {
		at++
	}
	word, e := s.letters(at)
	if p := scales[word]; p > 0 {
		take(e, plainNum(d.times(p)))
		if u, ok := units[word]; ok {
			s.measure(d, last, e, u, take)
		}
		if word == "m" {
			s.measure(d, last, e, minutes, take)
		}
		return
	}
	if word == "per" && s.has(e, " cent") {
		word, e = "percent", e+5
	}
	if u, ok := units[word]; ok {
		s.measure(d, last, e, u, take)
		return
	}
	for _, u := range hanUnits {
		if s.has(at, u.text) {
			s.measure(d, last, at+len([]rune(u.text)), u.unit, take)
			return
		}
	}
	n := plainNum(d)
	n.last = math.Pow10(last)
	if s.percentBefore(end) {
		n = num{dim: percent, key: n.key, bare: n.key, value: n.value, last: n.last}
	}
	take(end, n)
}

// percentBefore says whether 百分之 stands before the digits that end at end.
func (s *scanner) percentBefore(end int) bool {
	i := end
	for i > 0 && (digit(s.at(i-1)) || s.at(i-1) == '.' || s.at(i-1) == ',') {
		i--
	}
	return i >= 3 && s.has(i-3, "百分之")
}

// power reads e-4, E+06 and ×10^-4.
func (s *scanner) power(i int) (int, int) {
	j := i
	switch {
	case s.at(i) == 'e' || s.at(i) == 'E':
		j++
	default:
		if s.at(j) == ' ' {
			j++
		}
		if s.at(j) != '×' && s.at(j) != 'x' {
			return 0, i
		}
		if j++; s.at(j) == ' ' {
			j++
		}
		if !s.has(j, "10") {
			return 0, i
		}
		if j += 2; s.at(j) == '^' {
			j++
		}
	}
	sign := 1
	if r := s.at(j); r == '-' || r == '−' || r == '+' || r == '⁻' {
		if r != '+' {
			sign = -1
		}
		j++
	}
	k, n := j, 0
	for ; k < j+4; k++ {
		switch r := s.at(k); {
		case digit(r):
			n = n*10 + int(r-'0')
			continue
		case strings.ContainsRune("⁰¹²³⁴⁵⁶⁷⁸⁹", r) && r != 0:
			n = n*10 + slices.Index([]rune("⁰¹²³⁴⁵⁶⁷⁸⁹"), r)
			continue
		}
		break
	}
	if k == j || wordish(s.at(k)) || n > 300 {
		return 0, i
	}
	return sign * n, k
}

// hanScale reads 1200万, 3万5千 and 1.2亿.
func (s *scanner) hanScale(d dec, last, end int) (dec, int, int) {
	scale := func(i int) (int, int) {
		for _, h := range hanScales {
			if s.has(i, h.text) {
				return h.power, i + len([]rune(h.text))
			}
		}
		return 0, i
	}
	at := end
	if s.at(at) == ' ' {
		at++
	}
	p, e := scale(at)
	if p == 0 {
		return d, last, end
	}
	d, last, end = d.times(p), last+p, e
	for digit(s.at(end)) {
		j := s.digits(end)
		q, e := scale(j)
		if q == 0 || q >= p {
			break
		}
		d, last, end, p = d.plus(newDec(string(s.r[end:j]), "").times(q)), q, e, q
	}
	return d, last, end
}

// measure gives a number with its unit, and of a time what follows in smaller units: 1 min 23 s.
func (s *scanner) measure(d dec, last, end int, u unit, take func(int, ...num)) {
	key := d.key()
	for i, of := range u.of {
		if i > 0 && !s.claims {
			break // a claim is read both ways, which is enough
		}
		n := num{dim: u.dim, key: key, bare: key, value: d.float() * of, last: math.Pow10(last) * of}
		if u.dim == percent && of != 1 {
			n.key = d.times(-1).key()
		}
		if u.dim == lapse {
			if sum, to := s.smaller(n, end); to > end {
				take(to, sum)
				continue
			}
		}
		take(end, n)
	}
}

// smaller adds to a time what follows it in a smaller unit.
func (s *scanner) smaller(n num, end int) (num, int) {
	for of := n.last; ; {
		at := end
		for s.at(at) == ' ' || s.at(at) == '零' || s.has(at, "and ") {
			if s.at(at) == 'a' {
				at += 4
				continue
			}
			at++
		}
		j := s.digits(at)
		if j == at || j-at > 4 {
			return n, end
		}
		v := float64(s.number(at, j))
		if s.at(j) == '.' {
			k := s.digits(j + 1)
			v += newDec("", string(s.r[j+1:k])).float()
			j = k
		}
		if s.at(j) == ' ' {
			j++
		}
		u, e := unit{}, j
		if word, k := s.letters(j); word != "" {
			u, e = units[word], k
			if word == "m" {
				u = minutes
			}
		} else {
			for _, h := range hanUnits {
				if s.has(j, h.text) {
					u, e = h.unit, j+len([]rune(h.text))
					break
				}
			}
		}
		if u.dim != lapse || len(u.of) == 0 || u.of[0] >= of {
			return n, end
		}
		of = u.of[0]
		n.value, n.last, n.bare, n.key, end = n.value+v*of, of, "", "", e
	}
}

// spelled reads a number in English words, and a date that begins with its month.
func (s *scanner) spelled(i int) (token, bool) {
	j := i
	for latin(s.at(j)) {
		j++
	}
	if j-i > 12 || wordish(s.at(j)) {
		return token{}, false
	}
	word := strings.ToLower(string(s.r[i:j]))
	if m := months[word]; m > 0 && (word != "may" || s.at(i) == 'M') {
		return s.monthFirst(j, m)
	}
	n, ok := numberWords[word]
	if word == "one" && !s.claims {
		n, ok = 1, true
	}
	if !ok {
		return token{}, false
	}
	if s.at(j) == '-' || s.at(j) == ' ' {
		// twenty-one
		k := j + 1
		for latin(s.at(k)) {
			k++
		}
		next := strings.ToLower(string(s.r[j+1 : min(k, j+13)]))
		one := numberWords[next]
		if next == "one" {
			one = 1
		}
		if n >= 20 && one > 0 && one < 10 && (n%10 == 0 || next == "one") {
			n, j = n+one, k
		} else if s.at(j) == '-' && k > j+1 && units[next].dim != lapse {
			return token{}, false // two-factor
		}
	}
	return s.counting(newDec(itoa(n), ""), j, token{}), true
}

// counting is a number in words that end at end, with the unit that follows.
func (s *scanner) counting(d dec, end int, t token) token {
	s.finish(d, 0, end, func(to int, way ...num) {
		t.to = max(t.to, to)
		t.ways = append(t.ways, way)
	})
	return t
}

// monthFirst reads what follows a month: November 2026, Nov. 21st, 2026.
func (s *scanner) monthFirst(j, month int) (token, bool) {
	at := j
	if s.at(at) == '.' {
		at++
	}
	if s.at(at) == ' ' {
		at++
	}
	k := s.digits(at)
	n := s.number(at, k)
	switch {
	case k-at == 4:
		return token{to: k, ways: [][]num{{{dim: date, y: n, m: month}}}}, true
	case at > j && k > at && k-at <= 2 && n > 0 && n <= 31:
		y, to := s.year(s.suffix(k))
		return token{to: to, ways: [][]num{{{dim: date, y: y, m: month, d: n}}}}, true
	}
	return token{}, false
}

var hanDigits = map[rune]int64{
	'零': 0, '〇': 0, '一': 1, '二': 2, '两': 2, '兩': 2, '三': 3, '四': 4, '五': 5, '六': 6, '七': 7, '八': 8, '九': 9,
}

var hanPowers = map[rune]int64{'十': 10, '百': 100, '千': 1000, '万': 1e4, '萬': 1e4, '亿': 1e8, '億': 1e8}

// counted are the words that follow a numeral that counts.
const counted = "次个個条條行列项項步页頁张張份秒天元处遍轮封名位家段件台倍成月年日号款只笔组台字场层栏格户"

// numeral reads a number in Chinese signs at i.
func (s *scanner) numeral(i int) (token, bool) {
	is := func(r rune) bool { _, d := hanDigits[r]; _, p := hanPowers[r]; return d || p }
	if !is(s.at(i)) || is(s.at(i-1)) || digit(s.at(i-1)) {
		return token{}, false
	}
	j := i
	for is(s.at(j)) && j-i < 20 {
		j++
	}
	n, ok := hanNumber(s.r[i:j])
	if !ok {
		return token{}, false
	}
	t := token{ordinal: s.at(i-1) == '第'}
	percents := i >= 3 && s.has(i-3, "百分之")
	if s.claims && !percents {
		next := s.at(j)
		timed := s.has(j, "分钟") || s.has(j, "小时") || s.has(j, "毫秒")
		if n < 2 || (!timed && !strings.ContainsRune(counted, next)) || next == 0 || s.at(i-1) == '几' || s.at(i-1) == '数' {
			return token{}, false
		}
	}
	if percents {
		d := newDec(itoa(int(n)), "")
		t.to, t.ways = j, [][]num{{{dim: percent, key: d.key(), bare: d.key(), value: d.float(), last: 1}}}
		return t, true
	}
	return s.counting(newDec(itoa(int(n)), ""), j, t), true
}

// hanNumber reads 三, 十二, 三百零五, 一万两千 and 二〇二六; not 三四, which is about three or four.
func hanNumber(r []rune) (int64, bool) {
	powers := false
	for _, c := range r {
		powers = powers || hanPowers[c] > 0
	}
	var total, section, digitNow int64
	if !powers {
		for _, c := range r {
			total = total*10 + hanDigits[c]
		}
		return total, len(r) == 1 || (len(r) >= 3 && len(r) <= 15)
	}
	seen := false // a digit that waits for its power
	for i, c := range r {
		d, isDigit := hanDigits[c]
		switch p := hanPowers[c]; {
		case isDigit && d == 0:
		case isDigit && seen:
			return 0, false
		case isDigit:
			digitNow, seen = d, true
		case p >= 1e4:
			if section += digitNow; p == 1e8 {
				total = (total + section) * p
			} else {
				total += section * p
			}
			section, digitNow, seen = 0, 0, false
			if total == 0 || total > 1e12 {
				return 0, false
			}
		default:
			if !seen {
				if p != 10 || i > 0 && hanPowers[r[i-1]] > 0 && hanPowers[r[i-1]] < 1e4 {
					return 0, false
				}
				digitNow = 1
			}
			section += digitNow * p
			digitNow, seen = 0, false
		}
	}
	return total + section + digitNow, true
}
