package procgroup

import (
	"os"
	"os/exec"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A Group is a process and those that it started: a job, whose end is the end of all of them.
type Group struct {
	job     windows.Handle
	process *os.Process
}

// Start starts a command in a job of its own. What it starts in the moment before it is in the job is not. Release must be
// called once the command has ended.
func Start(cmd *exec.Cmd) (*Group, error) {
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
	g := &Group{job: job, process: cmd.Process}
	handle, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(cmd.Process.Pid))
	if err == nil {
		err = windows.AssignProcessToJobObject(job, handle)
		_ = windows.CloseHandle(handle)
	}
	if err != nil {
		g.Kill()
		_ = cmd.Wait()
		g.Release()
		return nil, err
	}
	return g, nil
}

// Release releases the job, and ends what is left in it.
func (g *Group) Release() { _ = windows.CloseHandle(g.job) }

// Signal ends the group: there are no signals to pass on here.
func (g *Group) Signal(os.Signal) { g.End() }

// End ends all of the group.
func (g *Group) End() { g.Kill() }

// Kill ends all of it.
func (g *Group) Kill() {
	_ = windows.TerminateJobObject(g.job, 1)
	_ = g.process.Kill() // it may have ended
}

// ExitCode is that of an ended process.
func ExitCode(p *os.ProcessState) int { return p.ExitCode() }
