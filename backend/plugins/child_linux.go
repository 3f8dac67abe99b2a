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
	"runtime/debug"
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
	forks := newForks(j)
	go func() {
		_, _ = io.Copy(io.Discard, leash)
		forks.sweep()
		os.Exit(1)
	}()
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		say(account, ending{Problem: err.Error()})
		return 1
	}
	told := os.NewFile(uintptr(ends[1]), "told")
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
	problem := forks.Listen(ends[0]) // until the program begins
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
	forks.sweep()
	e := ending{Code: status.ExitStatus(), Problem: problem}
	if status.Signaled() {
		e.Code, e.Signal = 0, unix.SignalName(status.Signal())
	}
	say(account, e)
	return 0
}

// enter gives up all that a plug-in may not have, and becomes the plug-in. It returns where that fails.
func enter(text string) int {
	runtime.LockOSThread() // what is given up is given up by this thread, which then becomes the program
	// A garbage collection begins threads. In the plug-in's limits there may be no memory for their stacks, and this program
	// would end in its place. This call also waits for a collection that has begun.
	debug.SetGCPercent(-1)
	told := os.NewFile(3, "told") // a socket
	unix.CloseOnExec(3)
	var j jail
	err := json.Unmarshal([]byte(text), &j)
	if err == nil {
		err = confineTo(j, 3)
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
	group.Remove()
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
