package confine

import (
	"errors"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Forks are the processes and threads that a program begins. Where the kernel asks before each (see FilterCalls), there
// are never many more than the limits, and none is begun once they have to end: a program that forks faster than its
// processes are found and killed would never end.
type Forks struct {
	// Room counts how many may begin now.
	Room func() int

	ending atomic.Bool
	room   int // how many may begin before they are counted again; used by answer only
	work   sync.WaitGroup
}

// End lets no more begin.
func (f *Forks) End() { f.ending.Store(true) }

// Wait waits until the last that may ask is gone, where the kernel says so (Linux 5.10).
func (f *Forks) Wait() { f.work.Wait() }

// Listen reads what the process that becomes the program says, until it has become it: the file by which the kernel
// asks, or the problem that it returns. What the kernel asks is answered in a goroutine until the last that may ask is gone.
func (f *Forks) Listen(socket int) (problem string) {
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
				f.work.Go(func() { f.answer(files[0]) })
				continue
			}
		}
		problem += string(said[:n])
	}
}

// answer says to the kernel what becomes of each new process and thread.
func (f *Forks) answer(listener int) {
	defer func() { _ = unix.Close(listener) }()
	for {
		ready := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(ready, -1); errors.Is(err, unix.EINTR) {
			continue
		} else if err != nil || ready[0].Revents&unix.POLLIN == 0 { // the last is gone
			return
		}
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

func (f *Forks) may() bool {
	if f.ending.Load() {
		return false
	}
	if f.room <= 0 {
		f.room = f.Room()
	}
	f.room--
	return f.room >= 0
}
