//go:build unix

package procgroup

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// A Group is a process and those that it started and left in its process group.
type Group struct {
	pid   int
	ended chan struct{}
}

// Start starts a command in a process group of its own, which on Linux ends with this process, however that dies. Release
// must be called once the command has ended.
func Start(cmd *exec.Cmd) (*Group, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	withParent(cmd.SysProcAttr)
	g := &Group{ended: make(chan struct{})}
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

// Release releases what Start held.
func (g *Group) Release() { close(g.ended) }

// Signal passes a signal on to all of the group.
func (g *Group) Signal(s os.Signal) {
	if number, ok := s.(syscall.Signal); ok {
		_ = syscall.Kill(-g.pid, number) // there may be no one left
	}
}

// End asks all of the group to end.
func (g *Group) End() { g.Signal(syscall.SIGTERM) }

// Kill ends all of it.
func (g *Group) Kill() { g.Signal(syscall.SIGKILL) }

// ExitCode is that of an ended process, as shells tell it: 128 and the signal's number for one that a signal ended.
func ExitCode(p *os.ProcessState) int {
	if status, ok := p.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return p.ExitCode()
}
