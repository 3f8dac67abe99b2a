package box

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"syscall"

	"golang.org/x/sys/unix"

	"deskbell/backend/platform/confine"
)

// entrant is what this program is called when it runs within bubblewrap, to give up the rest and become the command.
const entrant = "deskbell-box-entrant"

// Files of the entrant beside the standard ones, which bubblewrap passes on.
const (
	programFD = 3 // this program's own file, since its path may not be in the box
	socketFD  = 4 // where it says that it waits, and what went wrong
	jobFD     = 5 // what to do; its end without that means that no one waits any more
	infoFD    = 6 // bubblewrap's own
)

// A job is what the entrant does.
type job struct {
	Command   []string `json:"command"`
	Writable  []string `json:"writable"`
	Memory    uint64   `json:"memory"`
	Disk      uint64   `json:"disk"`
	Processes uint64   `json:"processes"`
}

// Child becomes the command of a box, and then does not return, in a process that was begun for that. In any other process
// it returns at once. main calls it before anything else.
func Child() {
	if len(os.Args) == 2 && os.Args[1] == entrant && os.Args[0] == fmt.Sprintf("/proc/self/fd/%d", programFD) {
		os.Exit(enter())
	}
}

// enter gives up all that a command may not have, and becomes the command. It returns where that fails.
func enter() int {
	runtime.LockOSThread() // what is given up is given up by this thread, which then becomes the command
	// A garbage collection begins threads, for which there may be no room in the limits.
	debug.SetGCPercent(-1)
	// Nothing that Deskbell's own parent left open is the command's.
	err := unix.CloseRange(programFD, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
	if err == nil {
		err = unix.Sendmsg(socketFD, []byte(waiting), nil, nil, 0)
	}
	var j job
	if err == nil {
		err = json.NewDecoder(os.NewFile(jobFD, "job")).Decode(&j)
		if errors.Is(err, io.EOF) {
			return NotBoxed
		}
	}
	if err == nil {
		err = j.confine()
	}
	if err != nil {
		_ = unix.Sendmsg(socketFD, []byte("the box could not be made: "+err.Error()), nil, nil, 0)
		return NotBoxed
	}
	program, err := exec.LookPath(j.Command[0])
	if err == nil {
		err = syscall.Exec(program, j.Command, os.Environ())
	}
	if errors.Is(err, exec.ErrNotFound) {
		err = errors.New("there is no such program in the box")
	}
	_ = unix.Sendmsg(socketFD, []byte(j.Command[0]+": "+reason(err)), nil, nil, 0)
	return NotFound
}

// waiting is what the entrant says when it is ready for its job.
const waiting = "waiting"

// confine takes from this thread what bubblewrap has left. The order counts: what is given up first must not be needed later.
func (j job) confine() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	confine.DropCapabilities()
	rules := []confine.Rule{{Path: "/", Access: confine.ReadFiles, Needed: true}}
	for _, path := range j.Writable {
		rules = append(rules, confine.Rule{Path: path, Access: confine.WriteFiles, Needed: true})
	}
	// Nothing of /proc: who runs as root owns the kernel's settings there.
	for _, path := range []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"} {
		rules = append(rules, confine.Rule{Path: path, Access: confine.UseDevice})
	}
	for _, path := range []string{"/dev/pts", "/dev/ptmx", "/dev/tty"} {
		rules = append(rules, confine.Rule{Path: path, Access: confine.UseTerminal})
	}
	if err := confine.Landlock(confine.LandlockABI(), true, rules); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	if err := confine.FilterCalls(confine.Filter{Signals: true, Marks: true, Inner: true}, false, -1); err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	return confine.SetLimits(map[int]uint64{ // last: the stacks of this program's own threads may take more
		unix.RLIMIT_DATA: j.Memory, unix.RLIMIT_FSIZE: j.Disk, unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: 1 << 14, unix.RLIMIT_MEMLOCK: 1 << 16,
		unix.RLIMIT_NPROC: j.Processes + ownThreads, // counted in its own namespace since Linux 5.14; it does not bind root: see guard
	})
}
