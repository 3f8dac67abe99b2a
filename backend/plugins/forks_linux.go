package plugins

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"deskbell/backend/platform/confine"
)

// forks are the processes and threads that a plug-in begins.
type forks struct {
	confine.Forks
	jail jail
}

func newForks(j jail) *forks {
	f := &forks{jail: j}
	f.Room = func() int {
		all, threads := confine.Descendants(confine.OwnPID()), 0
		for _, u := range all {
			threads += u.Threads
		}
		// One process more than allowed may begin, for which the guard ends the run.
		return min(maxProcesses+1-len(all), int(j.Threads)-threads)
	}
	return f
}

// sweep ends every process that the plug-in has left, and lets it begin no more.
func (f *forks) sweep() {
	f.End()
	if f.jail.Separate && os.Getpid() == 1 {
		_ = unix.Kill(-1, unix.SIGKILL) // all of the namespace but this one; its end would end them, too
		return
	}
	// Whoever loses its parent becomes a child of this process, so that without children nothing is left. What /proc lists
	// does not show that: one that forked and ended while the list was read is not in it, and its child neither. Where the
	// kernel does not ask, one that forks faster than it is killed is stopped first. The rounds have an end only so that
	// nothing can hold this process for ever.
	for range 1000 {
		left := confine.Descendants(os.Getpid())
		for pid := range left {
			_ = unix.Kill(pid, unix.SIGSTOP)
		}
		for pid := range left {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		for {
			pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
			if errors.Is(err, unix.ECHILD) {
				return
			}
			if pid <= 0 && !errors.Is(err, unix.EINTR) {
				break
			}
		}
		if len(left) == 0 {
			<-time.After(time.Millisecond) // there is one that has just begun, or is ending
		}
	}
}
