//go:build unix

package mcpproxy

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// A group is a server's process and those that it started.
type group struct {
	pid   int
	ended chan struct{}
}

// start starts a command in a process group of its own.
func start(cmd *exec.Cmd) (*group, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	withParent(cmd.SysProcAttr)
	g := &group{ended: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The server is to end with this process. Linux goes by the thread that started it, which must stay, therefore.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			<-g.ended
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	g.pid = cmd.Process.Pid
	return g, nil
}

// release lets go of what start held.
func (g *group) release() { close(g.ended) }

// signal passes a signal on to all of the group.
func (g *group) signal(s os.Signal) {
	if number, ok := s.(syscall.Signal); ok {
		_ = syscall.Kill(-g.pid, number) // there may be nobody left
	}
}

func (g *group) end()  { g.signal(syscall.SIGTERM) }
func (g *group) kill() { g.signal(syscall.SIGKILL) }

// ends says whether a signal asks a process to end.
func ends(s os.Signal) bool {
	return s == syscall.SIGINT || s == syscall.SIGTERM || s == syscall.SIGHUP || s == syscall.SIGQUIT
}

func exitCode(p *os.ProcessState) int {
	if status, ok := p.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return p.ExitCode()
}

// passes says whether a signal is meant for the server.
func passes(s os.Signal) bool { return s != syscall.SIGPIPE }

// Signals are those that a proxy should be told of: those to pass on, and that of a client that has gone, which would
// otherwise end the process before it has ended the server.
func Signals() []os.Signal {
	return []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGPIPE}
}
