package processes_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/windows"

	"deskbell/backend/platform/processes"
)

// Of this test's program in the environment: to be one that draws on the console of the process of this number, and one that tells
// what stands in its own.
const (
	drawOn = "DESKBELL_TEST_DRAW_ON"
	look   = "DESKBELL_TEST_LOOK"
)

func init() {
	if pid, err := strconv.Atoi(os.Getenv(drawOn)); err == nil {
		p, err := processes.Find(pid)
		if err == nil {
			err = processes.Draw(p, "Code AAAAA-BBBBB")
		}
		if err != nil {
			_, _ = fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if to := os.Getenv(look); to != "" {
		if err := tellScreen(to); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// tellScreen sends the first line of the console once it is asked to.
func tellScreen(to string) error {
	conn, err := net.Dial("tcp4", to)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		return err
	}
	screen, err := os.OpenFile("CONOUT$", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer screen.Close()
	var line [40]uint16
	var count uint32
	read := windows.NewLazySystemDLL("kernel32.dll").NewProc("ReadConsoleOutputCharacterW")
	_, _, _ = read.Call(screen.Fd(), uintptr(unsafe.Pointer(&line[0])), uintptr(len(line)), 0, uintptr(unsafe.Pointer(&count)))
	_, err = fmt.Fprintln(conn, windows.UTF16ToString(line[:count]))
	return err
}

func TestDrawOnAConsole(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for name, as := range map[string]struct {
		flags uint32
		drawn bool
	}{"in a console": {windows.CREATE_NEW_CONSOLE, true}, "in none": {windows.DETACHED_PROCESS, false}} {
		t.Run(name, func(t *testing.T) {
			person := exec.Command(self)
			person.Env = append(os.Environ(), look+"="+l.Addr().String())
			person.SysProcAttr = &syscall.SysProcAttr{CreationFlags: as.flags, HideWindow: true}
			if err := person.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = person.Wait() }() // without a console it fails
			conn, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			server := exec.Command(self) // as an agent's client starts it: without a console of its own
			server.Env = append(os.Environ(), fmt.Sprintf("%s=%d", drawOn, person.Process.Pid))
			server.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS}
			if said, err := server.Output(); (err == nil) != as.drawn {
				t.Errorf("it ended with %v, %s", err, said)
			}
			if _, err := conn.Write([]byte{1}); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(conn).ReadString('\n')
			if as.drawn && (err != nil || !strings.Contains(line, "Code AAAAA-BBBBB")) {
				t.Errorf("the console shows %q, %v", line, err)
			}
		})
	}
}

// What is typed into one shell runs in one session, also below a shell that this one starts; another shell is another session.
func TestSessionOfAShell(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	shell := func(args ...string) (names []string) {
		t.Helper()
		cmd := exec.Command("cmd.exe", append([]string{"/c"}, args...)...)
		cmd.Env, cmd.Stderr = append(os.Environ(), call+"=tcp4 "+l.Addr().String()), os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			conn, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			p, err := processes.Peer(conn)
			if err != nil {
				t.Fatal(err)
			}
			first, name, err := processes.SessionOf(p)
			if err != nil || first.PID != cmd.Process.Pid || !strings.EqualFold(filepath.Base(first.Program), "cmd.exe") {
				t.Errorf("the session is that of %+v, %v", first, err)
			}
			if !processes.Own(p) {
				t.Error("it is said to be another user's")
			}
			names = append(names, name)
			conn.Close()
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		return names
	}
	one, other := shell(self, "&", self), shell(self, "&", "cmd", "/c", self)
	if one[0] != one[1] || other[0] != other[1] || one[0] == other[0] {
		t.Errorf("the sessions are %q, and %q of another shell", one, other)
	}
	me, err := processes.Find(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if first, _, err := processes.SessionOf(me); err == nil && first.PID == me.PID || err != nil && !errors.Is(err, processes.ErrUnknown) {
		t.Errorf("this process runs in the session of %+v, %v", first, err)
	}
}
