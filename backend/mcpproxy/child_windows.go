package mcpproxy

import (
	"os"
	"os/exec"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A group is a server's process and those that it started: a job, whose end is the end of all of them.
type group struct {
	job     windows.Handle
	process *os.Process
}

// start starts a command in a job of its own. What it starts in the moment before it is in the job is not.
func start(cmd *exec.Cmd) (*group, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, err
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return nil, err
	}
	g := &group{job: job, process: cmd.Process}
	handle, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(cmd.Process.Pid))
	if err == nil {
		err = windows.AssignProcessToJobObject(job, handle)
		_ = windows.CloseHandle(handle)
	}
	if err != nil {
		g.kill()
		_ = cmd.Wait()
		g.release()
		return nil, err
	}
	return g, nil
}

// release lets go of the job, and ends what is left in it.
func (g *group) release() { _ = windows.CloseHandle(g.job) }

// signal ends the server: there are no signals to pass on here.
func (g *group) signal(os.Signal) { g.end() }

func (g *group) end() { g.kill() }

func (g *group) kill() {
	_ = windows.TerminateJobObject(g.job, 1)
	_ = g.process.Kill() // it may have ended
}

func passes(os.Signal) bool { return true }

func ends(os.Signal) bool { return true }

func exitCode(p *os.ProcessState) int { return p.ExitCode() }

// Signals are those that a proxy should be told of.
func Signals() []os.Signal { return []os.Signal{os.Interrupt} }
