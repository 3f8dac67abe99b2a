//go:build unix && !linux

package plugins

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// What this program is called when it runs again to confine a plug-in.
const entrant = "deskbell-summarizer-entrant"

func searchPath() string { return "/usr/local/bin:/opt/homebrew/bin:/usr/bin:/bin" }

var programEnds = []string{""}

func executable(info os.FileInfo) bool { return info.Mode()&0o111 != 0 }

func systemEnvironment(string) []string { return nil }

func itself() (string, error) { return os.Executable() }

// Child does the part of a run that has to be done in a process of its own, and then does not return. In any other
// process it returns at once. main calls it before anything else.
func Child() {
	if len(os.Args) == 2 && os.Args[0] == entrant {
		os.Exit(enter(os.Args[1]))
	}
}

// enter sets the limits of this process and becomes the plug-in. It returns where that fails.
func enter(text string) int {
	told := os.NewFile(3, "told")
	syscall.CloseOnExec(3)
	var j jail
	err := json.Unmarshal([]byte(text), &j)
	for what, most := range map[int]uint64{
		syscall.RLIMIT_CPU: j.Seconds, syscall.RLIMIT_FSIZE: j.File, syscall.RLIMIT_CORE: 0, syscall.RLIMIT_NOFILE: j.Files,
		syscall.RLIMIT_DATA: j.Memory,
	} {
		if err == nil {
			var now syscall.Rlimit
			if err = syscall.Getrlimit(what, &now); err == nil {
				most = min(most, now.Max)
				err = syscall.Setrlimit(what, &syscall.Rlimit{Cur: most, Max: most})
			}
		}
	}
	if err == nil {
		err = &os.PathError{Op: "exec", Path: j.Command[0], Err: syscall.Exec(j.Command[0], j.Command, j.Env)}
	}
	_, _ = fmt.Fprintf(told, "%s: %s", filepath.Base(j.Command[0]), reason(err))
	return 127
}

// do runs the program to its end, or until it is killed, and ends what is left of its process group.
func (r *running) do(in io.Reader, out, errs io.Writer) (ending, error) {
	cmd, err := r.child(entrant)
	if err != nil {
		return ending{}, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errs
	failed, told, err := os.Pipe()
	if err != nil {
		return ending{}, err
	}
	defer func() { _ = failed.Close() }()
	cmd.ExtraFiles = []*os.File{told}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = cmd.Start()
	_ = told.Close()
	if err != nil {
		return ending{}, err
	}
	end := func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	done, guarded := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(guarded)
		select {
		case <-r.stopped:
			end()
		case <-done:
		}
	}()
	problem, _ := io.ReadAll(failed) // ends when the program begins
	err = cmd.Wait()
	close(done)
	<-guarded
	end()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return ending{}, err
	}
	e := ending{Code: cmd.ProcessState.ExitCode(), Problem: string(problem)}
	if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		e.Code, e.Signal = 0, signalName(s.Signal())
	}
	return e, nil
}

// signalName is what the limits' own signals are called.
func signalName(s syscall.Signal) string {
	switch s {
	case syscall.SIGXCPU:
		return "SIGXCPU"
	case syscall.SIGXFSZ:
		return "SIGXFSZ"
	case syscall.SIGKILL:
		return "SIGKILL"
	}
	return "signal " + s.String()
}

// Confinement says what is kept from plug-ins on this machine.
func Confinement() Confined {
	return Confined{
		Enforced: []string{"time on the clock and of the processor, memory of each process, size of output and files, open files", "nothing of Deskbell's environment"},
		Missing: []string{
			"this system lets no program confine another without rights of its own: plug-ins can read what you can read, and have your network",
			"processes that leave the plug-in's process group are not ended with it",
		},
	}
}
