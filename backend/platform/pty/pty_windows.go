package pty

import (
	"syscall"
	"unsafe"

	"github.com/charmbracelet/x/conpty"
	"golang.org/x/sys/windows"

	"deskbell/backend/record/term"
)

var names = []string{"pwsh", "powershell", "cmd", "bash"}

func own() string { return "" }

// A terminal implements term.PTY.
type terminal struct {
	*conpty.ConPty
	process windows.Handle
	job     windows.Handle
}

// Open implements term.Deps.Open. What the program starts is in a job with it, and ends with it.
func Open(p term.Program) (_ term.PTY, err error) {
	c, err := conpty.New(p.Cols, p.Rows, 0)
	if err != nil {
		return nil, err
	}
	t := &terminal{ConPty: c}
	defer func() {
		if err != nil {
			_ = c.Close() // the first error is the one that counts
			_ = windows.CloseHandle(t.job)
		}
	}()
	if t.job, err = windows.CreateJobObject(nil, nil); err != nil {
		return nil, err
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if _, err = windows.SetInformationJobObject(t.job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		return nil, err
	}
	_, handle, err := c.Spawn(p.Path, append([]string{p.Path}, p.Args...), &syscall.ProcAttr{Dir: p.Dir, Env: p.Env})
	if err != nil {
		return nil, err
	}
	t.process = windows.Handle(handle)
	if err = windows.AssignProcessToJobObject(t.job, t.process); err != nil {
		_ = windows.TerminateProcess(t.process, 1)
		return nil, err
	}
	return t, nil
}

// Echo implements term.PTY: ConPTY does not tell.
func (t *terminal) Echo() (on, known bool) { return true, false }

// Wait implements term.PTY.
func (t *terminal) Wait() int {
	_, _ = windows.WaitForSingleObject(t.process, windows.INFINITE) // it is ours
	var code uint32
	if err := windows.GetExitCodeProcess(t.process, &code); err != nil {
		return -1
	}
	return int(int32(code))
}

// Hangup implements term.PTY: Windows has no hangup to tell.
func (t *terminal) Hangup() {}

// Kill implements term.PTY.
func (t *terminal) Kill() { _ = windows.TerminateJobObject(t.job, 1) } // it may have ended

// Close implements term.PTY.
func (t *terminal) Close() error {
	err := t.ConPty.Close()
	_ = windows.CloseHandle(t.job)
	_ = windows.CloseHandle(t.process)
	return err
}
