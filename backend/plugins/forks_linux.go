package plugins

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// forks are the processes and threads that a plug-in begins. Where the kernel asks before each (see filterCalls), there
// are never many more than the limits, and none is begun once they have to end: a program that forks faster than its
// processes are found and killed would never end.
type forks struct {
	jail   jail
	ending atomic.Bool
	room   int // how many may begin before they are counted again; used by answer only
}

// listen reads what the process that becomes the plug-in says, until it has become it: the file by which the kernel
// asks, or the problem that it returns.
func (f *forks) listen(socket int) (problem string) {
	said, rights := make([]byte, 4096), make([]byte, unix.CmsgSpace(4))
	for {
		n, with, _, _, err := unix.Recvmsg(socket, said, rights, unix.MSG_CMSG_CLOEXEC)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n == 0 {
			return problem
		}
		if messages, _ := unix.ParseSocketControlMessage(rights[:with]); len(messages) == 1 {
			if files, _ := unix.ParseUnixRights(&messages[0]); len(files) == 1 {
				go f.answer(files[0])
				continue
			}
		}
		problem += string(said[:n])
	}
}

// answer tells the kernel what becomes of each new process and thread. It is not told when the last is gone, and ends
// with this process.
func (f *forks) answer(listener int) {
	for {
		var asked struct { // seccomp_notif
			id    uint64
			_     [2]uint32
			about [64]byte
		}
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&asked))); errno != 0 {
			if errno == unix.EINTR || errno == unix.ENOENT { // the one that asked is gone
				continue
			}
			return
		}
		said := struct { // seccomp_notif_resp
			id    uint64
			value int64
			errno int32
			flags uint32
		}{id: asked.id}
		if f.may() {
			said.flags = unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE
		} else {
			said.errno = -int32(unix.EAGAIN)
		}
		_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&said)))
	}
}

// may says whether one more may begin. One process more than allowed may, for which the guard ends the run.
func (f *forks) may() bool {
	if f.ending.Load() {
		return false
	}
	if f.room <= 0 {
		all, threads := descendants(ownPID()), 0
		for _, u := range all {
			threads += u.threads
		}
		f.room = min(maxProcesses+1-len(all), int(f.jail.Threads)-threads)
	}
	f.room--
	return f.room >= 0
}

// ownPID is this process's id as /proc has it, which is not that of its own namespace.
func ownPID() int {
	own, _ := os.Readlink("/proc/self")
	pid, _ := strconv.Atoi(own)
	return pid
}

// sweep ends every process that the plug-in has left, and lets it begin no more.
func (f *forks) sweep() {
	f.ending.Store(true)
	if f.jail.Separate && os.Getpid() == 1 {
		_ = unix.Kill(-1, unix.SIGKILL) // all of the namespace but this one; its end would end them, too
		return
	}
	// Whoever loses its parent becomes a child of this process, so that without children nothing is left. What /proc lists
	// does not show that: one that forked and ended while the list was read is not in it, and its child neither. Where the
	// kernel does not ask, one that forks faster than it is killed is stopped first. The rounds have an end only so that
	// nothing can hold this process for ever.
	for range 1000 {
		left := descendants(os.Getpid())
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

// usage is what a process uses.
type usage struct {
	resident  int64 // bytes
	threads   int
	processor time.Duration // what those that it has waited for used, too
}

// A tick is the unit of the kernel's processor times.
const tick = time.Second / 100

// descendants are the processes that come from one, but those that have ended, by what they use.
func descendants(of int) map[int]usage {
	out, _ := family(of)
	return out
}

// family is descendants, and what the one itself uses.
func family(of int) (map[int]usage, usage) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, usage{}
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
		number := func(at int) int64 { n, _ := strconv.ParseInt(f[at], 10, 64); return n }
		parents[pid] = int(number(1))
		used[pid] = usage{
			resident: number(21) * int64(os.Getpagesize()), threads: int(number(17)),
			processor: time.Duration(number(11)+number(12)+number(13)+number(14)) * tick,
		}
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
	return out, used[of]
}
