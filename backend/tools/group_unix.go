//go:build unix

package tools

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

const (
	shellName  = "shell"
	shellWords = "with /bin/sh"
)

func shellCommand(command string) []string { return []string{"/bin/sh", "-c", command} }

// A group is a process and those that it started and left in its process group.
type group struct {
	pid   int
	ended chan struct{}
}

// start starts a command in a process group of its own, which on Linux ends with this process, however that dies.
func start(cmd *exec.Cmd) (*group, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	withParent(cmd.SysProcAttr)
	g := &group{ended: make(chan struct{})}
	started := make(chan error)
	go func() {
		// Linux goes by the thread that started it, which must stay, therefore.
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

func (g *group) kill()    { _ = syscall.Kill(-g.pid, syscall.SIGKILL) } // there may be nobody left
func (g *group) release() { close(g.ended) }

func exitCode(p *os.ProcessState) int {
	if status, ok := p.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return p.ExitCode()
}

// unblocking opens what is no file without waiting for whoever is at its other end.
const unblocking = syscall.O_NONBLOCK
