package pty

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"deskbell/backend/record/term"
)

// TestMain runs the tests, or is the program in their terminals.
func TestMain(m *testing.M) {
	if os.Getenv("DESKBELL_TEST_SHELL") != "" {
		shell()
	}
	goleak.VerifyTestMain(m)
}

// shell is a small shell. It opens the console itself: Wine's own programs take none from ConPTY.
func shell() {
	in, out := "/dev/tty", "/dev/tty"
	if runtime.GOOS == "windows" {
		in, out = "CONIN$", "CONOUT$"
	}
	r, err := os.OpenFile(in, os.O_RDWR, 0)
	if err != nil {
		os.Exit(90)
	}
	w, err := os.OpenFile(out, os.O_RDWR, 0)
	if err != nil {
		os.Exit(91)
	}
	if os.Getenv("DESKBELL_TEST_SHELL") == "child" {
		signal.Ignore(syscall.SIGHUP)                           // the end of its terminal alone does not end it
		_, _ = net.Dial("tcp", os.Getenv("DESKBELL_TEST_HOLD")) // the test waits for it in vain
		select {}
	}
	dir, _ := os.Getwd()
	fmt.Fprintf(w, "word %s in %s\r\n", os.Getenv("DESKBELL_TEST_SHELL"), dir)
	for lines := bufio.NewScanner(r); lines.Scan(); {
		switch name, arg, _ := strings.Cut(lines.Text(), " "); name {
		case "exit":
			code, _ := strconv.Atoi(arg)
			os.Exit(code)
		case "child":
			child := exec.Command(os.Args[0])
			child.Env = append(os.Environ(), "DESKBELL_TEST_SHELL=child")
			if err := child.Start(); err != nil {
				os.Exit(92)
			}
		default:
			fmt.Fprintf(w, "no %q\r\n", name)
		}
	}
	os.Exit(93)
}

// A screen is all that a program printed.
type screen struct {
	term.PTY
	t     *testing.T
	mu    sync.Mutex
	all   bytes.Buffer
	ended chan struct{} // there is no more to read
}

func open(t *testing.T, p term.Program) *screen {
	t.Helper()
	p.Path = os.Args[0]
	p.Env = append(os.Environ(), p.Env...)
	p.Cols, p.Rows = 80, 24
	opened, err := Open(p)
	if err != nil {
		t.Fatal(err)
	}
	s := &screen{PTY: opened, t: t, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		b := make([]byte, 4096)
		for {
			n, err := s.Read(b)
			s.mu.Lock()
			s.all.Write(b[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return s
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.String()
}

func (s *screen) waitFor(what string) {
	s.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !strings.Contains(s.text(), what); <-time.After(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("%q did not come: %q", what, s.text())
		}
	}
}

func (s *screen) say(line string) {
	s.t.Helper()
	if _, err := s.Write([]byte(line + "\r")); err != nil {
		s.t.Fatal(err)
	}
}

func (s *screen) wait() int {
	s.t.Helper()
	code := make(chan int, 1)
	go func() { code <- s.Wait() }()
	select {
	case c := <-code:
		return c
	case <-time.After(30 * time.Second):
		s.t.Fatalf("the program does not end: %q", s.text())
		return 0
	}
}

func (s *screen) close() {
	s.t.Helper()
	if err := s.Close(); err != nil {
		s.t.Error(err)
	}
	select {
	case <-s.ended:
	case <-time.After(30 * time.Second):
		s.t.Error("a Read that waits does not return when the terminal is closed")
	}
}

// H5: a program takes lines, is in the folder that it was given, has its environment, and says how it ended.
func TestAProgram(t *testing.T) {
	dir := os.TempDir() // Wine keeps a new folder from being removed again
	s := open(t, term.Program{Dir: dir, Env: []string{"DESKBELL_TEST_SHELL=pear"}})
	s.waitFor("word pear in ")
	s.waitFor(filepath.Base(dir))
	s.say("wh\u00e4t")
	s.waitFor(`no "wh`)
	if err := s.Resize(100, 30); err != nil {
		if runtime.GOOS != "windows" {
			t.Error(err)
		}
		t.Log(err) // Wine 8 has none
	}
	s.say("exit 7")
	if code := s.wait(); code != 7 {
		t.Errorf("the exit code is %d, not 7", code)
	}
	s.close()
}

// Kill ends the program with all that it started.
func TestKill(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s := open(t, term.Program{Env: []string{"DESKBELL_TEST_SHELL=pear", "DESKBELL_TEST_HOLD=" + l.Addr().String()}})
	s.waitFor("word pear in ")
	s.say("child")
	if err := l.(*net.TCPListener).SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	child, err := l.Accept() // it is connected as long as it runs
	if err != nil {
		t.Fatal(err)
	}
	defer child.Close()
	s.Kill()
	s.wait()
	if err := child.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := child.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("what the program started goes on")
	}
	s.close()
}
