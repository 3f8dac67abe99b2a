package term

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"deskbell/backend/human"
	"deskbell/backend/kind"
)

// A session is one shell and what watches it.
type session struct {
	*Service
	op     human.Operation
	by     human.Actor
	shell  Shell
	nonce  string
	pty    PTY
	ended  chan struct{} // the shell has ended, and all is stored
	scrap  string        // folder with the integration's files, until the first prompt
	start  time.Time
	mono   int64
	log    *logbook
	reason string // why it ends; guarded by mu

	mu       sync.Mutex
	filter   filter
	live     []byte // the last output, as it was passed on
	client   *Connection
	told     bool // the integration has spoken
	phase    phase
	echo     []byte // of the line being typed
	partial  []byte // of a character that was cut
	secrets  []string
	typed    []byte // without echo, of a line that has not ended
	echoOn   bool
	known    bool // what the system says of the echo counts
	running  bool
	exit     *int
	folder   string
	commands []Command
	bytes    int64
	lines    int64
}

// A phase is what the shell is at.
type phase uint8

const (
	printing phase = iota // a command runs, or it is not known what
	prompting
	typing // the operator is at the prompt
)

func (s *session) at() int64 {
	_, mono := s.deps.Clock()
	return mono - s.mono
}

// pump reads what the shell prints until it ends.
func (s *session) pump() {
	buf := make([]byte, 32<<10)
	for {
		s.mu.Lock()
		c := s.client
		s.mu.Unlock()
		if c != nil {
			c.room() // blocks while the page has too much before it
		}
		s.log.room()
		n, err := s.pty.Read(buf)
		if n > 0 {
			s.printed(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

// printed takes what the shell or a program printed.
func (s *session) printed(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes += int64(len(b))
	var out []byte
	recorded := 0 // bytes of out
	record := func() {
		s.record(out[recorded:])
		recorded = len(out)
	}
	s.filter.feed(b,
		func(b []byte) { out = append(out, b...) },
		func(kind byte, body []byte) {
			if kind == ']' {
				if m, ours := readMark(s.nonce, body); ours {
					record()
					out = append(out, s.marked(m)...)
					recorded = len(out)
					return
				}
			}
			if !foreign(kind, body) {
				out = append(append(append(out, esc, kind), body...), esc, '\\')
			}
		})
	record()
	s.show(out)
}

// show passes output on. The caller holds mu.
func (s *session) show(out []byte) {
	if len(out) == 0 {
		return
	}
	if s.live = append(s.live, out...); len(s.live) > 2*maxSnapshot {
		s.live = append(s.live[:0], s.live[len(s.live)-maxSnapshot:]...)
	}
	if s.client != nil {
		s.client.output(out)
	}
}

// record passes output on to the recording, in whole characters. The caller holds mu.
func (s *session) record(b []byte) {
	if s.phase == typing {
		if len(s.echo) < longestString {
			s.echo = append(s.echo, b...)
		}
		return
	}
	s.lines += int64(bytes.Count(b, []byte{'\n'}))
	if len(s.partial) > 0 {
		b = slices.Concat(s.partial, b)
		s.partial = s.partial[:0]
	}
	if n := cutShort(b); n > 0 {
		s.partial = append(s.partial[:0], b[len(b)-n:]...)
		b = b[:len(b)-n]
	}
	if len(b) > 0 {
		s.log.output(s.at(), string(b))
	}
}

// cutShort is how many bytes at the end of b begin a character that is not whole.
func cutShort(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// marked takes a mark of the shell's integration, and returns what goes to the page in its place: the same without the nonce,
// and with the command's id where there is one. The caller holds mu.
func (s *session) marked(m mark) []byte {
	if !s.told {
		s.told = true
		s.sweep() // the shell has read its files
	}
	switch m.letter {
	case "A":
		if s.phase == typing {
			s.record0("\r\n") // a line that was given up
		}
		s.phase = prompting
	case "B":
		s.phase, s.echo = typing, s.echo[:0]
	case "C":
		if s.phase != typing {
			return nil
		}
		text := m.text
		if !m.kept && !retyped(text, string(s.echo)) {
			text = ""
		}
		s.phase = printing
		c := Command{Text: text, Folder: s.folder}
		c.Suggestion, c.Edited = matched(kind.Commands(s.op), text)
		return []byte("\x1b]133;C;aid=" + s.log.begin(s.at(), c) + "\a")
	case "D":
		if id := s.log.end(s.at(), &m.exit); id != "" {
			return []byte("\x1b]133;D;" + itoa(m.exit) + ";aid=" + id + "\a")
		}
		return nil
	case "P":
		s.folder = m.text
		return nil
	}
	return []byte("\x1b]133;" + m.letter + "\a")
}

func (s *session) record0(text string) { s.log.output(s.at(), text) }

// retyped says whether a line that the shell has not added to its history is its last one again: a shell that leaves out
// repetitions does not say so. One that begins with a space was kept out of the history by intention.
func retyped(last, echo string) bool {
	typed := plain(echo)
	first, _, _ := strings.Cut(last, "\n")
	return first != "" && !strings.HasPrefix(typed, " ") && strings.Contains(typed, first)
}

// sweep removes the integration's files. The caller holds mu.
func (s *session) sweep() {
	if s.scrap != "" {
		s.remove(s.scrap)
		s.scrap = ""
	}
}

// type_ passes on what the operator typed. What is typed without echo is remembered in memory alone, so that it can be hidden
// where a program prints it.
func (s *session) type_(b []byte) {
	s.look()
	s.mu.Lock()
	if s.known && !s.echoOn {
		for _, c := range b {
			switch {
			case c == '\r' || c == '\n':
				s.keep(string(s.typed))
				s.typed = s.typed[:0]
			case c == 0x7f || c == '\b':
				if n := len(s.typed); n > 0 {
					_, size := utf8.DecodeLastRune(s.typed)
					s.typed = s.typed[:n-size]
				}
			case c == 0x15 || c == 0x03: // Ctrl+U, Ctrl+C
				s.typed = s.typed[:0]
			case c >= 0x20 && len(s.typed) < 4096:
				s.typed = append(s.typed, c)
			}
		}
		s.log.unseen(string(s.typed))
	}
	s.mu.Unlock()
	for len(b) > 0 { // a terminal in line mode takes 4095 bytes at a time
		n, err := s.pty.Write(b[:min(len(b), 1024)])
		if err != nil {
			return
		}
		b = b[n:]
	}
}

// leastSecret is how long what was typed without echo must be to be hidden wherever it stands: a y is everywhere.
const leastSecret = 4

// keep remembers what was typed without echo. The caller holds mu.
func (s *session) keep(secret string) {
	if len(secret) < leastSecret || slices.Contains(s.secrets, secret) {
		return
	}
	s.secrets = append(s.secrets, secret)
	s.log.secret(secret)
}

// look finds out whether what is typed is shown.
func (s *session) look() {
	on, known := s.pty.Echo()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = known
	if known && on != s.echoOn {
		s.echoOn = on
		if on {
			s.keep(string(s.typed)) // some programs read a number of bytes and no line
			s.typed = s.typed[:0]
		}
		s.tell(Event{Type: "echo", On: &on})
	}
}

// tell sends an event to the page. The caller holds mu.
func (s *session) tell(e Event) {
	if s.client != nil {
		s.client.tell(e)
	}
}

// noted is called when a command began, or has ended and all about it is known.
func (s *session) noted(c Command) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.commands, func(o Command) bool { return o.ID == c.ID })
	if i < 0 {
		s.commands = append(s.commands, c)
		if len(s.commands) > maxCommands {
			s.commands = slices.Clone(s.commands[1:])
		}
	} else {
		s.commands[i] = c
	}
	s.tell(Event{Type: "command", Command: &c})
}

// resize changes the terminal's size.
func (s *session) resize(cols, rows int) error {
	if cols < 2 || rows < 1 || cols > 1000 || rows > 1000 {
		return human.BadField("cols", "and rows are %d and %d; a terminal has 2 to 1000 columns and 1 to 1000 rows", cols, rows)
	}
	s.mu.Lock()
	s.log.size(s.at(), cols, rows)
	s.mu.Unlock()
	return s.pty.Resize(cols, rows)
}

// watch looks at the echo and writes the recording on, until the shell has ended.
func (s *session) watch(over <-chan struct{}) {
	echo, flush := time.NewTicker(echoPause), time.NewTicker(flushPause)
	defer echo.Stop()
	defer flush.Stop()
	for {
		select {
		case <-over:
			return
		case <-echo.C:
			s.look()
		case <-flush.C:
			s.log.flush()
		}
	}
}

// run is the life of a session.
func (s *session) run() {
	over, read := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() { s.watch(over) })
	go func() {
		s.pump()
		close(read)
	}()
	exit := s.pty.Wait()
	// What it started goes with it; else a program in the background would hold the terminal.
	s.pty.Hangup()
	late := time.AfterFunc(killAfter, s.pty.Kill)
	s.mu.Lock()
	c := s.client
	s.mu.Unlock()
	if c != nil {
		c.free() // the rest comes without flow control
	}
	select {
	case <-read:
	case <-time.After(killAfter + time.Second):
	}
	late.Stop()
	s.pty.Kill()
	_ = s.pty.Close() // there is no one left in it
	<-read
	close(over)
	all.Wait()
	s.mu.Lock()
	s.sweep()
	reason := s.reason
	if reason == "" {
		s.exit = &exit
		reason = "operator"
	}
	s.mu.Unlock()
	s.log.close(s.at(), exit, reason)
	s.mu.Lock()
	s.running = false
	no := false
	s.tell(Event{Type: "state", Running: &no, ExitCode: &exit})
	if s.client != nil {
		s.client.end()
		s.client = nil
	}
	s.mu.Unlock()
	close(s.ended)
}

// stop ends the shell, and returns once it is gone and all is stored.
func (s *session) stop(reason string) {
	s.mu.Lock()
	if s.reason == "" {
		s.reason = reason
	}
	s.mu.Unlock()
	s.pty.Hangup()
	late := time.AfterFunc(killAfter, s.pty.Kill)
	defer late.Stop()
	<-s.ended
}

func (s *session) state() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := State{
		Running: s.running, ExitCode: s.exit, RecordingID: s.log.id, Shell: strings.TrimSpace(s.shell.Name + " " + s.shell.Version), Folder: s.folder,
		Told: s.told, Echo: s.echoOn, EchoKnown: s.known, Commands: slices.Clone(s.commands),
		OutputBytes: s.bytes, OutputLines: s.lines, Masked: s.log.maskedNow(),
	}
	if p := s.log.problem(); p != nil {
		st.Problem = p
	}
	return st
}
