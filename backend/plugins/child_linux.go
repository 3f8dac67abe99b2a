package plugins

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// What this program is called when it runs again to confine a plug-in.
const (
	keeper  = "deskbell-summarizer-keeper"  // stays beside the plug-in, and ends all that it leaves
	entrant = "deskbell-summarizer-entrant" // gives up what the plug-in may not have, and becomes it
)

// nothing is the job of a parent process that only tests whether it can start.
const nothing = "nothing"

// Files that the parent process has beside the standard ones.
const (
	leash   = 3 // a byte comes when it may begin; its end means that no one waits any more
	account = 4 // where it says how it ended
)

// Child does the part of a run that has to be done in a process of its own, and then does not return. In any other
// process it returns at once. main calls it before anything else.
func Child() {
	if len(os.Args) != 2 {
		return
	}
	switch os.Args[0] {
	case keeper:
		if os.Args[1] == nothing {
			os.Exit(0)
		}
		os.Exit(keep(os.Args[1]))
	case entrant:
		os.Exit(enter(os.Args[1]))
	}
}

func say(to *os.File, e ending) {
	if text, err := json.Marshal(e); err == nil {
		_, _ = to.Write(append(text, '\n')) // where no one reads there is no one to tell
	}
}

// keep starts the plug-in, waits for its end, and ends what it left behind.
func keep(text string) int {
	leash, account := os.NewFile(leash, "leash"), os.NewFile(account, "account")
	unix.CloseOnExec(3)
	unix.CloseOnExec(4)
	var j jail
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		say(account, ending{Problem: err.Error()})
		return 1
	}
	if n, err := leash.Read(make([]byte, 1)); n != 1 || err != nil {
		return 1
	}
	if !j.Separate {
		// What a plug-in leaves behind becomes this process's child, and not that of the system's first.
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			say(account, ending{Problem: "what it leaves behind cannot be ended: " + err.Error()})
			return 1
		}
	}
	go func() {
		_, _ = io.Copy(io.Discard, leash)
		sweep(j.Separate)
		os.Exit(1)
	}()
	failed, told, err := os.Pipe()
	if err != nil {
		say(account, ending{Problem: err.Error()})
		return 1
	}
	child, err := os.StartProcess("/proc/self/exe", []string{entrant, text}, &os.ProcAttr{
		Dir: j.Working, Env: j.Env, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr, told},
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	_ = told.Close()
	if err != nil {
		say(account, ending{Problem: reason(err)})
		return 1
	}
	// The plug-in's pipes are the plug-in's alone from here on.
	for _, f := range []*os.File{os.Stdin, os.Stdout, os.Stderr} {
		_ = f.Close()
	}
	problem, _ := io.ReadAll(failed) // ends when the program begins
	var status unix.WaitStatus
	for {
		var s unix.WaitStatus
		pid, err := unix.Wait4(-1, &s, 0, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			break
		}
		if pid == child.Pid {
			status = s
			break
		}
	}
	sweep(j.Separate)
	e := ending{Code: status.ExitStatus(), Problem: string(problem)}
	if status.Signaled() {
		e.Code, e.Signal = 0, unix.SignalName(status.Signal())
	}
	say(account, e)
	return 0
}

// sweep ends every process that the plug-in has left.
func sweep(separate bool) {
	if separate && os.Getpid() == 1 {
		_ = unix.Kill(-1, unix.SIGKILL) // all of the namespace but this one; its end would end them, too
		return
	}
	// A program that forks faster than it is killed is stopped first. The rounds have an end only so that nothing can
	// hold this process for ever.
	for range 1000 {
		left := descendants(os.Getpid())
		for pid := range left {
			_ = unix.Kill(pid, unix.SIGSTOP)
		}
		for pid := range left {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		for {
			if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); pid <= 0 || err != nil {
				break
			}
		}
		if len(left) == 0 {
			return
		}
		runtime.Gosched()
	}
}

// usage is what a process uses.
type usage struct{ resident int64 } // bytes

// descendants are the processes that come from one, but those that have ended, by what they use.
func descendants(of int) map[int]usage {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	parents, used := map[int]int{}, map[int]usage{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		text, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		// The name, in brackets, may hold anything.
		_, rest, ok := strings.Cut(string(text[strings.LastIndexByte(string(text), ')')+1:]), " ")
		f := strings.Fields(rest)
		if !ok || len(f) < 22 || f[0] == "Z" || f[0] == "X" {
			continue
		}
		parents[pid], _ = strconv.Atoi(f[1])
		pages, _ := strconv.ParseInt(f[21], 10, 64)
		used[pid] = usage{resident: pages * int64(os.Getpagesize())}
	}
	out := map[int]usage{}
	for pid := range parents {
		seen := 0
		for at := pid; at != 0 && seen < 10_000; at, seen = parents[at], seen+1 {
			if at == of && pid != of {
				out[pid] = used[pid]
				break
			}
		}
	}
	return out
}

// enter gives up all that a plug-in may not have, and becomes the plug-in. It returns where that fails.
func enter(text string) int {
	runtime.LockOSThread() // what is given up is given up by this thread, which then becomes the program
	told := os.NewFile(3, "told")
	unix.CloseOnExec(3)
	var j jail
	err := json.Unmarshal([]byte(text), &j)
	if err == nil {
		err = confine(j)
	}
	if err == nil {
		err = &os.PathError{Op: "exec", Path: j.Command[0], Err: syscall.Exec(j.Command[0], j.Command, j.Env)}
	}
	_, _ = fmt.Fprintf(told, "%s: %s", filepath.Base(j.Command[0]), reason(err))
	return 127
}

// itself is this program's file, also after it was replaced by a newer one.
func itself() (string, error) { return "/proc/self/exe", nil }

// do runs the program to its end, or until it is killed.
func (r *running) do(in io.Reader, out, errs io.Writer) (ending, error) {
	for _, how := range separations() {
		end, err := r.try(how, in, out, errs)
		if errors.Is(err, errNotSeparate) {
			continue
		}
		return end, err
	}
	return ending{}, errNotSeparate
}

var errNotSeparate = errors.New("the system does not allow it")

func (r *running) try(how separation, in io.Reader, out, errs io.Writer) (ending, error) {
	r.jail.Landlock = landlockABI()
	r.jail.Separate = how.flags&unix.CLONE_NEWPID != 0
	cmd, err := r.child(keeper)
	if err != nil {
		return ending{}, err
	}
	cmd.Dir = "/"
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errs
	theirs, ours, err := os.Pipe()
	if err != nil {
		return ending{}, err
	}
	said, told, err := os.Pipe()
	if err != nil {
		closeAll(theirs, ours)
		return ending{}, err
	}
	cmd.ExtraFiles = []*os.File{theirs, told}
	cmd.SysProcAttr = how.attributes()
	err = cmd.Start()
	closeAll(theirs, told)
	if err != nil {
		closeAll(ours, said)
		if how.flags != 0 && refused(err) {
			return ending{}, errNotSeparate
		}
		return ending{}, err
	}
	group := newGroup(cmd.Process.Pid, r.jail)
	done := make(chan struct{})
	guarded := make(chan struct{})
	go func() {
		defer close(guarded)
		r.guard(cmd, how, group, ours, done)
	}()
	_, _ = ours.Write([]byte{1}) // where this fails the parent process has died, and Wait reports it
	var e ending
	unread := json.NewDecoder(said).Decode(&e)
	err = cmd.Wait()
	close(done)
	<-guarded
	closeAll(ours, said)
	group.remove()
	if unread != nil && r.violation() == "" {
		return ending{}, fmt.Errorf("it was ended from outside (%v)", err)
	}
	return e, nil
}

// closeAll closes ends of pipes, where nothing can fail that matters.
func closeAll(files ...*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

func refused(err error) bool {
	for _, no := range []error{unix.EPERM, unix.EACCES, unix.ENOSPC, unix.EINVAL, unix.ENOSYS, unix.EUSERS} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}

// A separation is a way to part a run from the rest of the system: namespaces.
type separation struct{ flags uintptr }

const apart = unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC

// separations are the ways to try, the best first.
var separations = func() []separation {
	return []separation{{apart | unix.CLONE_NEWUSER}, {apart}, {0}}
}

func (s separation) attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setsid: true, Cloneflags: s.flags}
	if s.flags&unix.CLONE_NEWUSER != 0 {
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	}
	return a
}

// allowed says whether this separation can be had here, by trying it on a program that does nothing.
func (s separation) allowed() bool {
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{keeper, nothing}
	cmd.SysProcAttr = s.attributes()
	if err := cmd.Start(); err != nil {
		return false
	}
	_ = cmd.Wait()
	return true
}
