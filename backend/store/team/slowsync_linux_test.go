package team_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// slowSync has each fsync of this process take so much longer, for ever: the kernel asks a goroutine of its own before it does one. It needs
// no privileges. A nil error says that a sync in dir took that long.
func slowSync(dir string, by time.Duration) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	jump := func(call uint32, yes uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: call, Jt: yes}
	}
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the call's number
		jump(unix.SYS_FSYNC, 2), jump(unix.SYS_FDATASYNC, 1),
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	asked, _, code := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_TSYNC|unix.SECCOMP_FILTER_FLAG_TSYNC_ESRCH|unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&program)))
	if code != 0 {
		return fmt.Errorf("seccomp: %w", code)
	}
	go func() {
		for {
			var question struct { // struct seccomp_notif
				id         uint64
				pid, flags uint32
				data       [64]byte
			}
			if _, _, code := unix.Syscall(unix.SYS_IOCTL, asked, unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&question))); code != 0 {
				continue // who asked is gone
			}
			id := question.id
			time.AfterFunc(by, func() {
				answer := struct { // struct seccomp_notif_resp
					id           uint64
					value        int64
					error, flags uint32
				}{id: id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
				_, _, _ = unix.Syscall(unix.SYS_IOCTL, asked, unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&answer)))
			})
		}
	}()
	f, err := os.Create(filepath.Join(dir, "sync"))
	if err != nil {
		return err
	}
	defer f.Close()
	began := time.Now()
	if err := f.Sync(); err != nil {
		return err
	}
	if took := time.Since(began); took < by {
		return fmt.Errorf("a sync took %v", took)
	}
	return nil
}
