package tools

import (
	"encoding/base64"
	"encoding/binary"
	"os"
	"os/exec"
	"unicode/utf16"
	"unsafe"

	"golang.org/x/sys/windows"
)

const (
	shellName  = "powershell"
	shellWords = "with PowerShell"
)

// shellCommand gives PowerShell its command in the one form that needs no quoting.
func shellCommand(command string) []string {
	var text []byte
	for _, unit := range utf16.Encode([]rune(command)) {
		text = binary.LittleEndian.AppendUint16(text, unit)
	}
	return []string{"powershell.exe", "-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-EncodedCommand", base64.StdEncoding.EncodeToString(text)}
}

// A group is a job: its end is the end of all processes in it.
type group struct{ job windows.Handle }

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
	handle, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(cmd.Process.Pid))
	if err == nil {
		err = windows.AssignProcessToJobObject(job, handle)
		_ = windows.CloseHandle(handle)
	}
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = windows.CloseHandle(job)
		return nil, err
	}
	return &group{job}, nil
}

func (g *group) kill()    { _ = windows.TerminateJobObject(g.job, 1) }
func (g *group) release() { _ = windows.CloseHandle(g.job) }

func exitCode(p *os.ProcessState) int { return p.ExitCode() }

const unblocking = 0
