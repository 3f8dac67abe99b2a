package term

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// A piece is a part of a cast: an event of asciicast v3 ("o" output, "r" size, "m" marker, "x" exit), or a comment ("#").
type piece struct {
	at   int64 // ns from the start of the recording
	code byte
	data string
}

// A tape writes a cast. It holds output back until it has been looked through for secrets as text: whole lines of it, and all
// of it at the end of a command. Of what a command printed it keeps the beginning and the end. Not for concurrent use.
type tape struct {
	write  func([]byte) error // appends to the file
	hide   func(string) string
	known  func() []string // what was typed without echo, and must not be seen anywhere
	last   int64           // time of the last event written
	space  int             // bytes that may still be written
	failed error

	head, tail []piece
	held       int   // bytes of head
	tailed     int   // of tail
	room       int   // bytes of the segment that may still go into head
	most       int   // of tail
	left       int64 // bytes between head and tail that are gone

	excerpt excerpt
	masked  int
	key     bool // within a private key whose end has not come
}

// begin starts a segment: the output of one command, or what comes between two.
func (t *tape) begin(hide func(string) string) {
	t.hide, t.key = hide, false
	t.room = min(maxHead, t.space/8)
	t.most = t.room
	t.excerpt, t.masked = excerpt{}, 0
}

// output takes what was printed.
func (t *tape) output(at int64, data string) {
	t.excerpt.saw(data)
	if t.left == 0 && t.tailed == 0 && len(data) <= t.room {
		t.room -= len(data)
		t.held += len(data)
		t.head = append(t.head, piece{at, 'o', data})
		if t.held >= 64<<10 {
			t.flush(true)
		}
		return
	}
	t.room = 0
	t.tail = append(t.tail, piece{at, 'o', data})
	t.tailed += len(data)
	drop := 0
	for t.tailed > t.most && drop < len(t.tail) {
		if t.tail[drop].code == 'o' {
			t.tailed -= len(t.tail[drop].data)
			t.left += int64(len(t.tail[drop].data))
			t.tail[drop].data = ""
		}
		drop++
	}
	if drop > len(t.tail)/2 || drop > 1024 {
		rest := t.tail[drop:]
		kept := make([]piece, 0, 2*len(rest))
		for _, p := range t.tail[:drop] {
			if p.code != 'o' {
				kept = append(kept, p)
			}
		}
		t.tail = append(kept, rest...)
	}
}

// put takes an event that is no output.
func (t *tape) put(p piece) {
	if len(t.tail) > 0 {
		t.tail = append(t.tail, p)
	} else {
		t.head = append(t.head, p)
	}
}

// end writes what is held of the segment.
func (t *tape) end() {
	t.flush(t.left > 0)
	if t.left > 0 {
		at := t.last
		for _, p := range t.head { // half a line, whose rest is gone
			t.left += int64(len(p.data))
			at = p.at
		}
		t.head, t.held = nil, 0
		rest, gone := afterLine(t.tail)
		t.left += int64(gone)
		t.emit([]piece{{at, 'm', strconv.FormatInt(t.left, 10) + " bytes of output left out"}})
		t.excerpt.hole()
		t.key = false
		t.head = rest
	} else {
		t.head = append(t.head, t.tail...)
	}
	t.tail, t.tailed, t.left = nil, 0, 0
	t.flush(false)
	t.key = false
}

// afterLine is what comes after the first line of output, and how many bytes that had.
func afterLine(all []piece) (rest []piece, gone int) {
	for i, p := range all {
		if p.code != 'o' {
			rest = append(rest, p)
			continue
		}
		if n := strings.IndexByte(p.data, '\n'); n >= 0 {
			rest = append(rest, piece{p.at, 'o', p.data[n+1:]})
			return append(rest, all[i+1:]...), gone + n + 1
		}
		gone += len(p.data)
	}
	return rest, gone
}

// flush masks and writes what is held of the head: whole lines only, or all.
func (t *tape) flush(lines bool) {
	ready := t.head
	t.head = nil
	if lines {
		ready, t.head = wholeLines(ready)
	}
	t.held = 0
	for _, p := range t.head {
		t.held += len(p.data)
	}
	if len(ready) > 0 {
		t.emit(t.secured(ready))
	}
}

// wholeLines parts pieces after the last line feed of their output.
func wholeLines(all []piece) (ready, rest []piece) {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].code != 'o' {
			continue
		}
		if n := strings.LastIndexByte(all[i].data, '\n'); n >= 0 {
			ready = append(ready, all[:i]...)
			ready = append(ready, piece{all[i].at, 'o', all[i].data[:n+1]})
			if n+1 < len(all[i].data) {
				rest = append(rest, piece{all[i].at, 'o', all[i].data[n+1:]})
			}
			return ready, append(rest, all[i+1:]...)
		}
	}
	return nil, all
}

// secured are pieces with secrets hidden. Where there are any, the lines that have them are written as plain text; where they
// reach over lines, all of it is.
func (t *tape) secured(all []piece) []piece {
	var raw strings.Builder
	var others []piece
	at := t.last
	for _, p := range all {
		if p.code == 'o' {
			raw.WriteString(p.data)
			at = p.at
		} else {
			others = append(others, p)
		}
	}
	text := plain(raw.String())
	masked := t.masks(text)
	t.excerpt.add(masked)
	if masked == text {
		return all
	}
	t.masked += max(strings.Count(masked, hidden)-strings.Count(text, hidden), 1)
	old, lines, rawLines := strings.Split(text, "\n"), strings.Split(masked, "\n"), strings.Split(raw.String(), "\n")
	whole := len(old) == len(lines) && len(old) == len(rawLines)
	for i := range lines {
		switch {
		case whole && lines[i] == old[i]:
			lines[i] = rawLines[i]
		case i < len(lines)-1:
			lines[i] += "\r"
		}
	}
	return append(others, piece{at, 'o', strings.Join(lines, "\n")})
}

const (
	hidden   = "•••"
	keyBegin = "-----BEGIN"
	keyEnd   = "-----END"
)

// masks hides secrets, those that were typed without echo, and what is between the lines around a private key.
func (t *tape) masks(text string) string {
	if t.key {
		i := strings.Index(text, keyEnd)
		if i < 0 {
			if strings.TrimSpace(text) == "" {
				return text
			}
			return hidden + text[len(strings.TrimRight(text, "\n")):]
		}
		t.key = false
		text = hidden + "\n" + text[i:]
	}
	if i := strings.Index(text, keyEnd); i >= 0 && strings.Contains(text[i:], "PRIVATE KEY") && !strings.Contains(text[:i], keyBegin) {
		text = hidden + "\n" + text[i:] // its beginning was left out
	}
	if i := strings.LastIndex(text, keyBegin); i >= 0 && strings.Contains(text[i:], "PRIVATE KEY") && !strings.Contains(text[i:], keyEnd) {
		t.key = true
	}
	out := t.hide(text)
	for _, s := range t.known() {
		out = strings.ReplaceAll(out, s, hidden)
	}
	return out
}

// emit writes events and comments, as far as there is room.
func (t *tape) emit(all []piece) {
	var b []byte
	for _, p := range all {
		if p.code == '#' {
			b = append(b, "# "+p.data+"\n"...)
			continue
		}
		if p.data == "" {
			continue
		}
		if p.code == 'o' {
			if t.space < len(p.data) {
				continue
			}
			t.space -= len(p.data)
		}
		p.at = max(p.at, t.last)
		data, _ := json.Marshal(strings.ToValidUTF8(p.data, "�")) // a string has no error
		b = append(b, '[')
		b = strconv.AppendFloat(b, time.Duration(p.at-t.last).Seconds(), 'f', 6, 64)
		b = append(b, `, "`+string(p.code)+`", `...)
		b = append(b, data...)
		b = append(b, "]\n"...)
		t.last = p.at
	}
	if len(b) > 0 && t.failed == nil {
		t.failed = t.write(b)
	}
}

// An excerpt is the beginning and the end of what a command printed, as text.
type excerpt struct {
	first, last []string
	open        string // a line that continues
	cut         bool   // between first and last
	gone        bool   // something was left out before last
	screen      bool   // it drew on the whole screen: its output is no text
	lines       int64
	bytes       int64
}

const (
	firstLines  = 5
	lastLines   = 20
	longestLine = 400 // bytes
)

func (e *excerpt) saw(raw string) {
	e.bytes += int64(len(raw))
	e.lines += int64(strings.Count(raw, "\n"))
	e.screen = e.screen || strings.Contains(raw, "\x1b[?1049h")
}

func (e *excerpt) add(text string) {
	text = e.open + text
	e.open = ""
	for line := range strings.Lines(text) {
		if !strings.HasSuffix(line, "\n") {
			e.open = line[:min(len(line), 16<<10)]
			break
		}
		e.line(strings.TrimRight(line, "\n"))
	}
}

func (e *excerpt) line(s string) {
	s = strings.TrimRight(s, " \t")
	if len(s) > longestLine {
		s = strings.ToValidUTF8(s[:longestLine], "") + "…"
	}
	if len(e.first) < firstLines && !e.gone {
		e.first = append(e.first, s)
		return
	}
	if e.last = append(e.last, s); len(e.last) > lastLines {
		e.last, e.cut = e.last[1:], true
	}
}

func (e *excerpt) hole() { e.open, e.gone, e.cut = "", true, true }

// text is the excerpt; a line with an ellipsis stands for what was left out.
func (e *excerpt) text() string {
	if e.screen {
		return ""
	}
	if e.open != "" {
		e.line(e.open)
		e.open = ""
	}
	all := append([]string{}, e.first...)
	if e.cut {
		all = append(all, "…")
	}
	return strings.Trim(strings.Join(append(all, e.last...), "\n"), "\n")
}
