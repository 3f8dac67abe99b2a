package plugins

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
)

// What this program is called when it runs again to confine a plug-in.
const keeper = "deskbell-summarizer-keeper"

// couldNotBegin is the exit code with which the parent process says that the program was never begun; its words are on
// standard error.
const couldNotBegin = 0x0dbe11

func searchPath() string {
	dirs := []string{}
	if root := os.Getenv("SystemRoot"); root != "" {
		dirs = append(dirs, filepath.Join(root, "System32"), root)
	}
	// Interpreters are where the user put them.
	return strings.Join(append(dirs, os.Getenv("PATH")), string(os.PathListSeparator))
}

var programEnds = []string{"", ".exe", ".com"}

func executable(os.FileInfo) bool { return true }

// systemEnvironment is what programs need to begin at all.
func systemEnvironment(working string) []string {
	env := []string{"TEMP=" + working, "TMP=" + working, "USERPROFILE=" + working}
	for _, name := range []string{"SystemRoot", "SystemDrive", "windir", "PATHEXT", "NUMBER_OF_PROCESSORS"} {
		if v := os.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

func itself() (string, error) { return os.Executable() }

// Child does the part of a run that has to be done in a process of its own, and then does not return. In any other
// process it returns at once. main calls it before anything else.
func Child() {
	if len(os.Args) == 2 && os.Args[0] == keeper {
		os.Exit(keep(os.Args[1]))
	}
}

// keep waits until it is in its job, and then runs the plug-in there. The first byte of its input says so; the rest is
// the plug-in's.
func keep(text string) int {
	if n, err := os.Stdin.Read(make([]byte, 1)); n != 1 || err != nil {
		return couldNotBegin
	}
	var j jail
	err := json.Unmarshal([]byte(text), &j)
	if err == nil {
		cmd := exec.Command(j.Command[0], j.Command[1:]...)
		cmd.Dir, cmd.Env = j.Working, j.Env
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		err = cmd.Run()
		if exit := (*exec.ExitError)(nil); err == nil || errors.As(err, &exit) {
			return cmd.ProcessState.ExitCode()
		}
	}
	_, _ = fmt.Fprint(os.Stderr, reason(err))
	return couldNotBegin
}

// do runs the program in a job of its own to its end, or until it is killed. The end of the job is the end of all its
// processes.
func (r *running) do(in io.Reader, out, errs io.Writer) (ending, error) {
	job, err := newJob(r.jail)
	if err != nil {
		return ending{}, err
	}
	defer func() { _ = windows.CloseHandle(job) }()
	cmd, err := r.child(keeper)
	if err != nil {
		return ending{}, err
	}
	begin, begun := io.Pipe()
	last := &tail{}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = io.MultiReader(begin, in), out, io.MultiWriter(errs, last)
	if err := cmd.Start(); err != nil {
		return ending{}, err
	}
	if err := assign(job, cmd.Process.Pid); err != nil {
		_ = begun.CloseWithError(err)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return ending{}, err
	}
	done, guarded := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(guarded)
		select {
		case <-r.stopped:
			_ = windows.TerminateJobObject(job, 1)
			_ = begin.Close()
		case <-done:
		}
	}()
	_, _ = begun.Write([]byte{1})
	_ = begun.Close()
	err = cmd.Wait()
	close(done)
	<-guarded
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return ending{}, err
	}
	code := cmd.ProcessState.ExitCode()
	if code == couldNotBegin {
		return ending{Problem: last.words()}, nil
	}
	return ending{Code: code}, nil
}

// newJob makes a job whose processes end with it, with limits of their number, their memory and their time.
func newJob(j jail) (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
			PerJobUserTimeLimit: int64(j.Seconds) * 1e7, // in 100 ns
			ActiveProcessLimit:  maxProcesses + 1,
			PriorityClass:       windows.BELOW_NORMAL_PRIORITY_CLASS,
			LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS | windows.JOB_OBJECT_LIMIT_JOB_MEMORY |
				windows.JOB_OBJECT_LIMIT_JOB_TIME | windows.JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION | windows.JOB_OBJECT_LIMIT_PRIORITY_CLASS,
		},
		JobMemoryLimit: uintptr(j.Memory) + 256<<20, // with the parent process' own
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		_ = windows.CloseHandle(job)
		return 0, err
	}
	return job, nil
}

func assign(job windows.Handle, pid int) error {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(process) }()
	return windows.AssignProcessToJobObject(job, process)
}

// Confinement says what is kept from plug-ins on this machine.
func Confinement() Confined {
	return Confined{
		Processes: true,
		Enforced:  []string{"time on the clock and of the processor, memory, number of processes, size of output (a job object)", "nothing of Deskbell's environment but where the system is"},
		Missing:   []string{"plug-ins can read what you can read, and have your network: on Windows nothing keeps them from it yet"},
	}
}
