//go:build linux || darwin

package pty

import (
	"os"
	"os/exec"
	"sync"
	"syscall"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"deskbell/backend/platform/procgroup"
	"deskbell/backend/record/term"
)

var names = []string{"bash", "zsh", "fish", "pwsh"}

func own() string { return os.Getenv("SHELL") }

// A terminal implements term.PTY.
type terminal struct {
	file *os.File
	cmd  *exec.Cmd

	mu     sync.Mutex
	waited bool // the shell's number may be another's
}

// Open implements term.Deps.Open. The program leads a session of its own, with the terminal as its controlling one.
func Open(p term.Program) (term.PTY, error) {
	cmd := exec.Command(p.Path, p.Args...)
	cmd.Dir, cmd.Env = p.Dir, p.Env
	file, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(p.Cols), Rows: uint16(p.Rows)})
	if err != nil {
		return nil, err
	}
	return &terminal{file: file, cmd: cmd}, nil
}

func (t *terminal) Read(b []byte) (int, error)  { return t.file.Read(b) }
func (t *terminal) Write(b []byte) (int, error) { return t.file.Write(b) }
func (t *terminal) Close() error                { return t.file.Close() }

// Resize implements term.PTY.
func (t *terminal) Resize(cols, rows int) error {
	return pty.Setsize(t.file, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)})
}

// control runs f with the terminal's descriptor, which stays open meanwhile.
func (t *terminal) control(f func(fd int) error) error {
	raw, err := t.file.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = f(int(fd)) }); err != nil {
		return err
	}
	return inner
}

// Echo implements term.PTY.
func (t *terminal) Echo() (on, known bool) {
	err := t.control(func(fd int) error {
		s, err := unix.IoctlGetTermios(fd, getTermios)
		if err == nil {
			on = s.Lflag&unix.ECHO != 0 || s.Lflag&unix.ICANON == 0
		}
		return err
	})
	return on || err != nil, err == nil
}

// Wait implements term.PTY.
func (t *terminal) Wait() int {
	_ = t.cmd.Wait() // its state says how it ended
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waited = true
	return procgroup.ExitCode(t.cmd.ProcessState)
}

// Hangup implements term.PTY.
func (t *terminal) Hangup() { t.signal(syscall.SIGHUP, syscall.SIGCONT) }

// Kill implements term.PTY.
func (t *terminal) Kill() { t.signal(syscall.SIGKILL) }

// signal sends signals to every process of the terminal's session.
func (t *terminal) signal(signals ...syscall.Signal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	pid := t.cmd.Process.Pid
	front := 0
	_ = t.control(func(fd int) (err error) { // without one there is none in front
		front, err = unix.IoctlGetInt(fd, unix.TIOCGPGRP)
		return err
	})
	for _, s := range signals {
		for _, p := range session(pid) {
			_ = syscall.Kill(p, s) // it may have ended
		}
		if front > 1 {
			_ = syscall.Kill(-front, s)
		}
		if !t.waited {
			_ = syscall.Kill(-pid, s)
		}
	}
}
