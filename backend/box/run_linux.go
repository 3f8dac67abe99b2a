package box

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"deskbell/backend/human"
	"deskbell/backend/platform/confine"
)

// The guard looks at a run so often. Between two looks the limits of each process hold, and those of the control group
// where one can be made.
const (
	lookAtProcesses = 50 * time.Millisecond
	lookAtDisk      = 500 * time.Millisecond
	measureDisk     = 20               // every so many looks the copy is measured, whatever the disk says of its free space
	beginning       = time.Minute      // for bubblewrap to make the box
	maxFiles        = 2_000_000        // in the copy
	ownMemory       = uint64(64 << 20) // of bubblewrap, in the control group
	ownThreads      = 16               // of bubblewrap and of the entrant
)

// Tests stand for a system in which there is none.
var groupParents = confine.GroupParents

// A run is one of a command.
type run struct {
	*Box
	cmd    *exec.Cmd
	init   int // a pidfd of the first process of the box, whose end is that of all
	group  confine.Group
	reason string
	code   int // for what was ended
}

// Run runs the command to its end, or until ctx or a limit ends it. No process of it is left then. An error means that
// there was no box; the command did not run.
func (b *Box) Run(ctx context.Context) (Ending, error) {
	r := &run{Box: b, init: -1}
	type result struct {
		ending Ending
		err    error
	}
	done := make(chan result, 1)
	go func() {
		runtime.LockOSThread() // bubblewrap ends with the thread that started it
		defer runtime.UnlockOSThread()
		e, err := r.do(ctx)
		done <- result{e, err}
	}()
	res := <-done
	return res.ending, res.err
}

// ends are this process's ends of what it shares with bubblewrap and the entrant.
type ends struct {
	socket    int
	job, info *os.File
}

func (e ends) close() {
	_ = unix.Close(e.socket)
	_ = e.job.Close()
	_ = e.info.Close()
}

// start starts bubblewrap, and returns this side's ends.
func (r *run) start(args []string) (ends, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return ends{}, err
	}
	var theirs []*os.File
	defer func() {
		for _, f := range theirs {
			_ = f.Close()
		}
	}()
	fail := func(err error) (ends, error) { return ends{}, errors.Join(err, unix.Close(pair[0])) }
	socket := os.NewFile(uintptr(pair[1]), "socket")
	self, err := os.Open("/proc/self/exe")
	if theirs = append(theirs, socket); err != nil {
		return fail(err)
	}
	theirs = append(theirs, self)
	job, ourJob, err := os.Pipe()
	if err != nil {
		return fail(err)
	}
	theirs = append(theirs, job)
	ourInfo, info, err := os.Pipe()
	if err != nil {
		_ = ourJob.Close()
		return fail(err)
	}
	theirs = append(theirs, info)
	r.cmd = exec.Command(program(), args...) //nolint:gosec // the command of whoever asks for it
	r.cmd.Env = []string{}
	r.cmd.ExtraFiles = []*os.File{self, socket, job, info}
	// Pipes, whatever there is: a file that the command had itself would be another way out.
	r.cmd.Stdout, r.cmd.Stderr = only(r.options.Out), only(r.options.Errs)
	var in io.WriteCloser
	if r.options.In != nil {
		if in, err = r.cmd.StdinPipe(); err != nil {
			_, _ = ourJob.Close(), ourInfo.Close()
			return fail(err)
		}
	}
	r.cmd.WaitDelay = time.Second
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := r.cmd.Start(); err != nil {
		_, _ = ourJob.Close(), ourInfo.Close()
		return fail(err)
	}
	if in != nil {
		go func() { // where it waits for more than the command read, it ends with whoever gives it
			_, _ = io.Copy(in, r.options.In)
			_ = in.Close()
		}()
	}
	return ends{pair[0], ourJob, ourInfo}, nil
}

func only(w io.Writer) io.Writer {
	if w == nil {
		w = io.Discard
	}
	return struct{ io.Writer }{w}
}

func (r *run) do(ctx context.Context) (Ending, error) {
	args, writable := r.bubblewrapped()
	e, err := r.start(args)
	if err != nil {
		return Ending{}, human.Wrap(human.Internal, err, "bubblewrap cannot be started: %s", reason(err))
	}
	defer e.close()
	done, guarded := make(chan struct{}), make(chan struct{})
	began := r.begin(e, writable)
	go func() {
		defer close(guarded)
		r.guard(ctx, done)
	}()
	problem := ""
	if began {
		problem = heard(e.socket) // until the command begins
	} else {
		_ = r.cmd.Process.Kill()
	}
	err = r.cmd.Wait()
	if r.init >= 0 {
		// What the command left behind ends with the first process, which bubblewrap does not wait for.
		_ = unix.PidfdSendSignal(r.init, unix.SIGKILL, nil, 0)
		awaitEnd(r.init)
	}
	close(done)
	<-guarded
	if r.init >= 0 {
		_ = unix.Close(r.init)
	}
	r.group.Remove()
	if !began {
		return Ending{}, human.Wrap(human.Unavailable, err, "bubblewrap could not make the box; what it says is above")
	}
	return r.ending(problem), nil
}

// heard is the problem that the entrant reports; none when it has become the command.
func heard(socket int) (problem string) {
	said := make([]byte, 4096)
	for {
		n, _, err := unix.Recvfrom(socket, said, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n == 0 {
			return problem
		}
		problem += string(said[:n])
	}
}

// begin waits until the entrant waits, and gives it its job.
func (r *run) begin(e ends, writable []string) bool {
	wait := unix.NsecToTimeval(int64(beginning))
	_ = unix.SetsockoptTimeval(e.socket, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait)
	said := make([]byte, 64)
	n, _, _, _, err := unix.Recvmsg(e.socket, said, nil, 0)
	for errors.Is(err, unix.EINTR) {
		n, _, _, _, err = unix.Recvmsg(e.socket, said, nil, 0)
	}
	if err != nil || string(said[:n]) != waiting {
		return false
	}
	_ = unix.SetsockoptTimeval(e.socket, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{})
	var info struct {
		PID int `json:"child-pid"`
	}
	if err := json.NewDecoder(e.info).Decode(&info); err != nil {
		return false
	}
	if r.init, err = unix.PidfdOpen(info.PID, 0); err != nil {
		return false
	}
	l := r.options.Limits
	r.group = confine.NewGroup("deskbell-box", r.cmd.Process.Pid, confine.GroupLimits{
		Memory: uint64(l.Memory)*2 + ownMemory, Threads: uint64(l.Processes) + ownThreads, Processors: true, // with what is in folders of memory
	}, groupParents())
	for pid := range confine.Descendants(r.cmd.Process.Pid) {
		r.group.Add(pid)
	}
	err = json.NewEncoder(e.job).Encode(job{
		Command: r.options.Command, Writable: writable,
		Memory: uint64(l.Memory), Disk: uint64(l.Disk), Processes: uint64(l.Processes),
	})
	return err == nil
}

func awaitEnd(pidfd int) {
	for {
		if n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, -1); n > 0 || err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// guard ends a run that takes more than its share, or that has to end, and returns when the run is done.
func (r *run) guard(ctx context.Context, done <-chan struct{}) {
	processes, folder := time.NewTicker(lookAtProcesses), time.NewTicker(lookAtDisk)
	late := time.NewTimer(r.options.Limits.Time)
	defer processes.Stop()
	defer folder.Stop()
	defer late.Stop()
	l, stopped := r.options.Limits, ctx.Done()
	for looks := 1; ; {
		select {
		case <-done:
			return
		case <-stopped:
			stopped = nil
			r.end(interrupt, "it was stopped")
		case <-late.C:
			r.end(TimedOut, fmt.Sprintf("it took longer than its limit of %s (--time)", l.Time))
		case <-processes.C:
			all := confine.Descendants(r.cmd.Process.Pid)
			resident, threads := int64(0), 0
			for _, u := range all {
				resident += u.Resident
				threads += u.Threads
			}
			if threads > l.Processes+ownThreads { // of root, where no control group can be made
				r.end(bySignal+int(unix.SIGKILL), fmt.Sprintf("it had more processes than its limit of %d (--processes)", l.Processes))
			}
			if resident > l.Memory+int64(ownMemory) {
				r.end(bySignal+int(unix.SIGKILL), fmt.Sprintf("it used more memory than its limit of %s (--memory)", bytesOf(l.Memory)))
			}
		case <-folder.C:
			looks++
			if r.written() > l.Disk/2 || looks%measureDisk == 0 {
				if size, ok := measured(r.tree(), r.size+l.Disk); !ok || size > r.size+l.Disk {
					r.end(bySignal+int(unix.SIGKILL), fmt.Sprintf("it wrote more than its limit of %s (--disk)", bytesOf(l.Disk)))
				}
			}
		}
	}
}

// end ends all processes of the box, once.
func (r *run) end(code int, why string) {
	if r.reason != "" {
		return
	}
	r.reason, r.code = why, code
	r.group.Kill()
	if r.init < 0 || unix.PidfdSendSignal(r.init, unix.SIGKILL, nil, 0) != nil {
		_ = r.cmd.Process.Kill() // and with it the box
	}
}

// written is about what was written on the copy's disk since the run began.
func (r *run) written() int64 {
	var stat unix.Statfs_t
	if unix.Statfs(r.tree(), &stat) != nil {
		return 0
	}
	return r.free - int64(stat.Bavail)*stat.Bsize
}

// measured is the size of the files in a folder; ok is false where there are too many to count.
func measured(dir string, most int64) (size int64, ok bool) {
	files := 0
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if files++; files > maxFiles || size > most {
			return fs.SkipAll
		}
		if err != nil {
			return nil //nolint:nilerr // what is gone again takes nothing
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			// A sparse file takes less than it says, and may have as much to copy.
			size += min(info.Size(), max(info.Sys().(*syscall.Stat_t).Blocks*512, 1))
		}
		return nil
	})
	return size, err == nil && files <= maxFiles
}

// ending says how the command ended, after its end.
func (r *run) ending(problem string) Ending {
	state := r.cmd.ProcessState
	switch {
	case r.reason != "":
		return Ending{Code: r.code, Reason: r.reason}
	case problem != "":
		return Ending{Code: state.ExitCode(), Reason: problem}
	}
	code := state.ExitCode()
	if code < 0 {
		return Ending{Code: NotBoxed, Reason: "the box was ended from outside"}
	}
	e := Ending{Code: code}
	if code > bySignal && code < bySignal+65 { // bubblewrap says a signal as shells do
		e.Signal = unix.SignalName(syscall.Signal(code - bySignal))
	}
	return e
}
