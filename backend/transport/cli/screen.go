package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/term"
)

// A screen is a terminal that one program prints on for a long time. It knows how far above the cursor a line stands that is not
// to stay there. It is safe for concurrent use.
type screen struct {
	out *os.File

	mu      sync.Mutex
	since   int // rows that were printed since the secret line began, itself included
	rows    int // of the secret line; 0: none is there
	instead string
	shown   int // how many secret lines there have been
}

func newScreen(out *os.File) *screen {
	understand(out)
	return &screen{out: out}
}

// Write implements io.Writer.
func (s *screen) Write(p []byte) (int, error) { return s.write(s.out, p) }

// beside is a writer to the same terminal.
func (s *screen) beside(w io.Writer) io.Writer { return other{s, w} }

type other struct {
	*screen
	to io.Writer
}

func (o other) Write(p []byte) (int, error) { return o.write(o.to, p) }

func (s *screen) write(to io.Writer, p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	width, _ := s.size()
	for line := range bytes.Lines(p) {
		s.since += rowsOf(string(line), width)
	}
	return to.Write(p)
}

// typed notes that a person pressed Enter.
func (s *screen) typed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.since++
}

// show prints a secret line, in place of which another stands as soon as the returned function is called or a new one is shown.
func (s *screen) show(secret, instead string) (hide func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hide()
	width, _ := s.size()
	s.rows = rowsOf(secret, width)
	s.since, s.instead = s.rows, instead
	s.shown++
	mine := s.shown
	_, _ = fmt.Fprintln(s.out, secret) // a terminal that is gone shows nothing
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if mine == s.shown {
			s.hide()
		}
	}
}

// clear takes the secret line off the screen.
func (s *screen) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.instead = ""
	s.hide()
}

// hide clears the secret line. The caller holds mu.
func (s *screen) hide() {
	width, height := s.size()
	if s.rows == 0 || s.since >= height { // it has left the screen
		s.rows = 0
		return
	}
	if runes := []rune(s.instead); len(runes) >= width {
		s.instead = string(runes[:width-1])
	}
	// DECSC and DECRC keep the cursor; CUU moves it up, EL clears a line.
	clear := "\x1b7" + fmt.Sprintf("\x1b[%dA\r", s.since) + strings.Repeat("\x1b[2K\x1b[1B", s.rows-1) + "\x1b[2K"
	if s.rows > 1 {
		clear += fmt.Sprintf("\x1b[%dA", s.rows-1)
	}
	_, _ = io.WriteString(s.out, clear+s.instead+"\x1b8")
	s.rows = 0
}

func (s *screen) size() (width, height int) {
	width, height, err := term.GetSize(int(s.out.Fd()))
	if err != nil || width < 2 || height < 2 {
		return 80, 24
	}
	return width, height
}

// rowsOf is how many rows of a terminal a line takes.
func rowsOf(line string, width int) int {
	return max(1, (utf8.RuneCountInString(strings.TrimRight(line, "\r\n"))+width-1)/width)
}
