package app_test

import (
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A screen is a terminal of 24 lines of 80 characters with a session of its own, as a person sees it.
type screen struct {
	t      testing.TB
	leader *exec.Cmd
	master *os.File
	ended  chan struct{}

	mu           sync.Mutex
	lines        [24][80]rune
	x, y         int
	keptX, keptY int
	rest         string // the beginning of an escape sequence
	all          strings.Builder
}

// openScreen runs a command as the first process of a terminal.
func openScreen(t testing.TB, leader *exec.Cmd) *screen {
	t.Helper()
	s := &screen{t: t, leader: leader, ended: make(chan struct{})}
	var err error
	if s.master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	number := 0
	err = unix.IoctlSetPointerInt(int(s.master.Fd()), unix.TIOCSPTLCK, 0)
	if err == nil {
		number, err = unix.IoctlGetInt(int(s.master.Fd()), unix.TIOCGPTN)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(s.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
	}
	if err != nil {
		t.Fatal(err)
	}
	device, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	leader.Stdin, leader.Stdout, leader.Stderr = device, device, device
	leader.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := leader.Start(); err != nil {
		t.Fatal(err)
	}
	device.Close()
	go func() {
		defer close(s.ended)
		s.read()
		_ = leader.Wait() // how it ended is in its state
	}()
	t.Cleanup(func() {
		_ = syscall.Kill(-leader.Process.Pid, syscall.SIGKILL) // it may have ended
		<-s.ended
		s.master.Close()
		if t.Failed() {
			t.Logf("the terminal shows\n%s\nafter %q", s.text(), s.written())
		}
	})
	return s
}

func (s *screen) read() {
	part := make([]byte, 4096)
	for {
		n, err := s.master.Read(part)
		s.mu.Lock()
		s.all.Write(part[:n])
		s.rest += string(part[:n])
		s.draw()
		s.mu.Unlock()
		if err != nil { // the last program has gone
			return
		}
	}
}

var (
	sequence = regexp.MustCompile(`^\x1b(?:\[([\d;]*)([A-Za-z])|([78]))`)
	begun    = regexp.MustCompile(`^\x1b(\[[\d;]*)?$`)
)

// draw understands what Deskbell prints, and no more.
func (s *screen) draw() {
	for s.rest != "" {
		r, size := rune(s.rest[0]), 1
		if m := sequence.FindStringSubmatch(s.rest); m != nil {
			s.obey(m[1], m[2]+m[3])
			s.rest = s.rest[len(m[0]):]
			continue
		}
		if begun.MatchString(s.rest) {
			return
		}
		for _, r = range s.rest {
			size = len(string(r))
			break
		}
		s.rest = s.rest[size:]
		switch r {
		case '\r':
			s.x = 0
		case '\n':
			s.down()
		default:
			if s.x == len(s.lines[0]) {
				s.x = 0
				s.down()
			}
			s.lines[s.y][s.x] = r
			s.x++
		}
	}
}

func (s *screen) down() {
	if s.y++; s.y == len(s.lines) {
		copy(s.lines[:], s.lines[1:])
		s.y--
		s.lines[s.y] = [80]rune{}
	}
}

func (s *screen) obey(number, what string) {
	n, _ := strconv.Atoi(number)
	switch what {
	case "A":
		s.y = max(0, s.y-max(1, n))
	case "B":
		s.y = min(len(s.lines)-1, s.y+max(1, n))
	case "K":
		s.lines[s.y] = [80]rune{} // all of it, which is all that is used
	case "m": // a color
	case "7":
		s.keptX, s.keptY = s.x, s.y
	case "8":
		s.x, s.y = s.keptX, s.keptY
	default:
		s.t.Errorf("the terminal does not know %s%s", number, what)
	}
}

// text is what is to be seen.
func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, line := range s.lines {
		all = append(all, strings.TrimRight(strings.ReplaceAll(string(line[:]), "\x00", " "), " "))
	}
	return strings.TrimRight(strings.Join(all, "\n"), "\n")
}

// written is all that was written to it.
func (s *screen) written() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.String()
}

// shows waits until a text is to be seen.
func (s *screen) shows(part string) {
	s.t.Helper()
	waitFor(s.t, fmt.Sprintf("%q in the terminal", part), func() bool { return strings.Contains(s.text(), part) })
}

func (s *screen) types(text string) {
	s.t.Helper()
	if _, err := s.master.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

// aCode is how codes look.
var aCode = regexp.MustCompile(`\b[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}\b`)

// code waits until a code is to be seen.
func (s *screen) code() (code string) {
	s.t.Helper()
	waitFor(s.t, "a code", func() bool { code = aCode.FindString(s.text()); return code != "" })
	return code
}

// in is a shell in a terminal of its own, in which "$0" is the program on the data folder.
func in(t testing.TB, dir, script string) *screen {
	t.Helper()
	cmd := program(t, dir, nil, "-c", script, os.Args[0])
	cmd.Args[0], cmd.Path = "sh", "/bin/sh"
	return openScreen(t, cmd)
}

func TestAPersonSignsInInATerminal(t *testing.T) {
	t.Parallel()
	dir, apart := t.TempDir(), t.TempDir()
	s := serve(t, dir, nil)
	out := filepath.Join(apart, "out")
	term := in(t, dir, `"$0" inbox; "$0" login > `+out+`; "$0" inbox; read x; sh -c '{ while kill -0 $$ 2>/dev/null; do :; done; "$1" inbox; echo left; } 2>&1 &' sh "$0"; read x; "$0" logout; "$0" inbox; echo over`)
	term.shows("run `deskbell login` in this terminal")
	code := term.code()
	if status, err := newCaller(t, s.url, "").call("POST", "/api/session", map[string]string{"code": code}, nil); err != nil || status != http.StatusForbidden {
		t.Errorf("elsewhere the code gives %d, %v", status, err)
	}
	term.types(strings.ToLower(code) + "\n")
	term.shows("You are ")
	term.shows("Nothing waits")
	if text := term.text(); aCode.MatchString(text) {
		t.Errorf("the code is still there:\n%s", text)
	}
	if printed, err := os.ReadFile(out); err != nil || len(printed) > 0 {
		t.Errorf("the program's output is %q, %v", printed, err)
	}
	// Another terminal is not signed in, and a copy of the token is of no use to another program.
	other := in(t, dir, `"$0" inbox; echo over`)
	other.shows("only an operator")
	token := keptToken(t, term.leader.Process.Pid)
	if status, err := newCaller(t, s.url, token).call("GET", "/api/agents", nil, nil); err != nil || status != http.StatusUnauthorized {
		t.Errorf("the copied token gives %d, %v", status, err)
	}
	// Nor to one in that terminal whose parents have ended: no one sees who started it.
	term.types("\n")
	term.shows("left")
	if text := term.text(); strings.Count(text, "Nothing waits") != 1 || !strings.Contains(text, "belongs to another terminal") {
		t.Errorf("a program that was left behind is shown\n%s", text)
	}
	term.types("\n")
	term.shows("over")
	if text := term.text(); strings.Count(text, "only an operator") != 2 {
		t.Errorf("signed out it shows\n%s", text)
	}
	holdsNoCode(t, dir, code)
}

// keptToken is the token that the kernel keeps for a terminal's session.
func keptToken(t testing.TB, session int) string {
	t.Helper()
	list, err := os.ReadFile("/proc/keys")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(fmt.Sprintf(`(?m)^([0-9a-f]+) .*deskbell session %d-`, session)).FindSubmatch(list)
	if found == nil {
		t.Fatalf("no session of %d is kept:\n%s", session, list)
	}
	id, err := strconv.ParseUint(string(found[1]), 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	token := make([]byte, 200)
	n, err := unix.KeyctlBuffer(unix.KEYCTL_READ, int(id), token, 0)
	if err != nil || !strings.HasPrefix(string(token), "dbo_") {
		t.Fatalf("%q, %v", token, err)
	}
	return string(token[:n])
}

func TestACodeThatIsNotTypedLeavesTheScreen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	serve(t, dir, nil)
	term := in(t, dir, `trap : INT; "$0" login; stty -a | tr ' ' '\n' | grep -x -e -echo -e echo`)
	term.code()
	term.types("\x03") // Ctrl C
	term.shows("you are not signed in")
	term.shows("\necho")
	if text := term.text(); aCode.MatchString(text) {
		t.Errorf("the code is still there:\n%s", text)
	}
}

func TestServeShowsAPersonALinkForAsLongAsItIsGood(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	term := openScreen(t, program(t, dir, nil, "serve", "--addr", "127.0.0.1:0"))
	first := term.code()
	url := "http://" + regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(term.text())
	term.types("\n")
	waitFor(t, "another link in place of the first", func() bool {
		codes := aCode.FindAllString(term.text(), -1)
		return len(codes) == 1 && codes[0] != first
	})
	boss := operator(t, url, term.code())
	waitFor(t, "no link to be shown", func() bool { return !aCode.MatchString(term.text()) })
	if text := term.text(); strings.Count(text, "used or expired") != 2 || strings.Count(text, "listens on") != 1 || !strings.Contains(text, "Data folder") || !strings.Contains(text, "Ctrl+C") {
		t.Errorf("it shows\n%s", text)
	}
	boss.good(t, "GET", "/api/agents", nil, nil)
	term.types("\n")
	term.code()
	term.types("\x03")
	<-term.ended
	if text := term.text(); aCode.MatchString(text) || !strings.Contains(text, "Stopped") {
		t.Errorf("stopped it shows\n%s", text)
	}
	holdsNoCode(t, dir, first)
}

// A program that starts the server gets no code, whatever it reads.
func TestAProgramGetsNoCode(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{"plain": nil, "json": {"--json"}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			cmd := program(t, dir, nil, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
			var out, errs strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &errs
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended, or the test failed
			waitFor(t, "the server", func() bool { _, err := os.Stat(serverFile(dir)); return err == nil })
			_, _ = io.WriteString(in, "\n\n\n") // which asks for a link in a terminal
			holdsNoCode(t, dir, "")
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Fatal(err)
			}
			if said := out.String() + errs.String(); !strings.Contains(said, "http://127.0.0.1:") || aCode.MatchString(said) || strings.Contains(said, "#") {
				t.Errorf("it says %q", said)
			}
			holdsNoCode(t, dir, "")
		})
	}
	t.Run("in the background of a terminal", func(t *testing.T) {
		term := in(t, t.TempDir(), `set -m; "$0" serve --addr 127.0.0.1:0 & read x; kill $!; wait $!; echo over`)
		term.shows("to sign in, run `deskbell login`")
		term.types("\n")
		term.shows("over")
		if aCode.MatchString(term.written()) {
			t.Errorf("it shows %q", term.written())
		}
	})
	t.Run("started by a client", func(t *testing.T) {
		dir := t.TempDir()
		session := speak(t, dir, []string{"DESKBELL_ADDR=127.0.0.1:0"}, "--agent", "claude-code")
		running, err := os.ReadFile(serverFile(dir))
		if err != nil {
			t.Fatal(err)
		}
		pid := decode[struct{ PID int }](t, string(running)).PID
		t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) }) // it outlives who started it
		if _, err := session.ListTools(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		waitFor(t, "what it prints, in start.log", func() bool {
			text, err := os.ReadFile(filepath.Join(dir, "start.log"))
			return err == nil && strings.Contains(string(text), "to sign in, run `deskbell login`")
		})
		holdsNoCode(t, dir, "")
	})
}

// holdsNoCode looks for anything like a code in all files of a data folder, and for this one in any spelling.
func holdsNoCode(t testing.TB, dir, code string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if found := aCode.Find(text); found != nil || strings.Contains(string(text), "#code=") ||
			code != "" && strings.Contains(strings.ToUpper(string(text)), strings.ReplaceAll(code, "-", "")) {
			t.Errorf("%s has a code: %s", path, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
