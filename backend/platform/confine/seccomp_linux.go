package confine

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Filter is which system calls a program may make. Those that look into other processes, make namespaces or change the
// system are never let through.
type Filter struct {
	Signals bool // to whatever process it can name; for one with a process namespace of its own
	Marks   bool // modes, owners, times and attributes of files, which Landlock lets everyone change
	// Inner is what stays within network and IPC namespaces of its own: sockets of the internet protocols, pairs of streams,
	// and semaphores and queues. Other sockets (of UNIX, of virtual machines) lead out of a namespace. Memory that is in no
	// folder and need not be in any process (memfd, System V) is not let through: only a control group's limit counts it.
	Inner bool
}

// FilterCalls filters the calls of this thread and of what it becomes. Where the kernel can ask before each new process
// and thread, and asks says so, the file to answer it by goes to the socket beside (see Forks). A signal may then interrupt a
// fork: a shell that learns at that moment that a child has ended may say that it cannot fork.
func FilterCalls(f Filter, asks bool, beside int) error {
	if asks {
		listener, err := install(f.program(unix.SECCOMP_RET_USER_NOTIF), unix.SECCOMP_FILTER_FLAG_NEW_LISTENER)
		if err == nil {
			defer func() { _ = unix.Close(listener) }()
			return unix.Sendmsg(beside, []byte("listener"), unix.UnixRights(listener), nil, 0)
		}
		if !errors.Is(err, unix.EBUSY) { // whoever runs us is asked already
			return err
		}
	}
	_, err := install(f.program(allowed), 0)
	return err
}

func install(filter []unix.SockFilter, flags uintptr) (listener int, err error) {
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(filter)
	if errno != 0 {
		return 0, errno
	}
	return int(fd), nil
}

// FiltersCalls says whether the kernel filters calls, and we know those of this processor.
func FiltersCalls() bool {
	_, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0)
	return err == nil && (Filter{}).program(allowed) != nil
}

// AsksBeforeForks says whether the kernel can ask another process about a call, and then let it happen (Linux 5.5).
func AsksBeforeForks() bool {
	action := uint32(unix.SECCOMP_RET_USER_NOTIF)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	return errno == 0 && atLeastLinux(5, 5)
}

func atLeastLinux(major, minor int) bool {
	var u unix.Utsname
	var a, b int
	_ = unix.Uname(&u)
	_, err := fmt.Sscanf(unix.ByteSliceToString(u.Release[:]), "%d.%d", &a, &b)
	return err == nil && (a > major || a == major && b >= minor)
}

// Places in what a filter of calls looks at, and what it answers.
const (
	atCall, atArch, atFirst, atSecond = 0, 4, 16, 24 // of struct seccomp_data; the low halves of two arguments

	allowed = unix.SECCOMP_RET_ALLOW
	denied  = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	unknown = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
)

// Calls that no filter lets through: those that look into other processes or change the system.
var neverCalls = []uintptr{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT,
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT,
	unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME,
	unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_SYSLOG,
}

// Calls that are not for every program.
var (
	socketCalls = []uintptr{
		unix.SYS_SOCKET, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN,
		unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SEMGET, unix.SYS_MSGGET, unix.SYS_MQ_OPEN,
	}
	markCalls = []uintptr{
		unix.SYS_TRUNCATE, // Landlock knows it from its third version on
		unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
		unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT,
		unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT, unix.SYS_FILE_SETATTR,
	}
	signalCalls = []uintptr{unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO}
)

// Requests of ioctl: FS_IOC_SETFLAGS and FS_IOC_FSSETXATTR mark files; TIOCSTI and TIOCLINUX type into a terminal.
var (
	markRequests = []uint32{0x40086602, 0x401c5820}
	typeRequests = []uint32{0x5412, 0x541c}
)

// Calls that only amd64 has: chmod, chown, lchown, utime, utimes and futimesat; fork and vfork.
var (
	oldMarks = []uintptr{90, 92, 94, 132, 235, 261}
	oldForks = []uintptr{57, 58}
)

// program is the filter as the kernel takes it; nil where we know no calls of the processor. fork is what happens to a
// call that begins a process or a thread.
func (o Filter) program(fork uint32) []unix.SockFilter {
	arch, ok := map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64, "riscv64": unix.AUDIT_ARCH_RISCV64}[runtime.GOARCH]
	if !ok {
		return nil
	}
	f := []unix.SockFilter{
		// Calls of another processor's numbers, or of x32, would pass by.
		load(atArch), jump(unix.BPF_JEQ, arch, 1, 0), ret(unix.SECCOMP_RET_KILL_PROCESS),
		load(atCall), jump(unix.BPF_JGE, 0x40000000, 0, 1), ret(unix.SECCOMP_RET_KILL_PROCESS),
	}
	refuse := func(how uint32, calls ...uintptr) {
		for _, call := range calls {
			f = append(f, jump(unix.BPF_JEQ, uint32(call), 0, 1), ret(how))
		}
	}
	refuse(denied, neverCalls...)
	// Libraries do without these: they ask in older ways, which are looked at.
	refuse(unknown, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_CLONE3)
	requests := slices.Clone(typeRequests)
	if !o.Marks {
		refuse(denied, markCalls...)
		requests = append(requests, markRequests...)
	}
	if !o.Signals {
		refuse(denied, signalCalls...)
	}
	if o.Inner {
		refuse(unknown, unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET, unix.SYS_SHMGET)
		f = append(f, innerSockets()...)
	} else {
		refuse(denied, socketCalls...)
	}
	if arch == unix.AUDIT_ARCH_X86_64 {
		if !o.Marks {
			refuse(denied, oldMarks...)
		}
		refuse(fork, oldForks...)
	}
	for _, request := range requests {
		f = append(f, load(atCall), jump(unix.BPF_JEQ, unix.SYS_IOCTL, 0, 3), load(atSecond), jump(unix.BPF_JEQ, request, 0, 1), ret(denied))
	}
	f = append(f, load(atCall))
	// clone, but not into namespaces of its own.
	const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	return append(f, jump(unix.BPF_JEQ, unix.SYS_CLONE, 0, 4), load(atFirst), jump(unix.BPF_JSET, namespaces, 0, 1), ret(denied), ret(fork), ret(allowed))
}

// innerSockets lets through what a network namespace holds, and pairs of streams. A pair of datagram sockets could be
// sent from to any socket in the file system.
func innerSockets() []unix.SockFilter {
	return []unix.SockFilter{
		jump(unix.BPF_JEQ, unix.SYS_SOCKET, 0, 5), load(atFirst),
		jump(unix.BPF_JEQ, unix.AF_INET, 3, 0), jump(unix.BPF_JEQ, unix.AF_INET6, 2, 0), jump(unix.BPF_JEQ, unix.AF_NETLINK, 1, 0), ret(denied),
		load(atCall), jump(unix.BPF_JEQ, unix.SYS_SOCKETPAIR, 0, 5), load(atSecond), {Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: 0xf}, // without flags
		jump(unix.BPF_JEQ, unix.SOCK_STREAM, 2, 0), jump(unix.BPF_JEQ, unix.SOCK_SEQPACKET, 1, 0), ret(denied),
		load(atCall),
	}
}

func load(at uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
}

func ret(what uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: what}
}

func jump(test uint16, k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, K: k, Jt: yes, Jf: no}
}
