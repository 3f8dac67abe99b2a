package plugins

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What a plug-in may read beside its own folder: programs and libraries, and what those need to begin.
var readable = []string{
	"/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/nix/store", "/gnu/store",
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload", "/etc/alternatives", "/etc/localtime", "/etc/timezone",
	"/dev/zero", "/dev/random", "/dev/urandom",
}

// What it may write beside its working folder.
var writable = []string{"/dev/null", "/dev/full"}

func searchPath() string { return "/usr/local/bin:/usr/bin:/bin" }

var programEnds = []string{""}

func executable(info os.FileInfo) bool { return info.Mode()&0o111 != 0 }

func systemEnvironment(string) []string { return nil }

// confine takes from this thread what the plug-in may not have, and tells the process beside it by the socket beside
// what it needs to count processes. The order counts: what is given up first must not be needed later.
func confine(j jail, beside int) error {
	if err := os.Chdir(cmp.Or(j.Start, j.Working)); err != nil {
		return fmt.Errorf("its folder: %w", err)
	}
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, 10) // the operator's own work goes first
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	dropCapabilities()
	if j.Landlock > 0 {
		if err := landlock(j, j.Landlock); err != nil {
			return fmt.Errorf("landlock: %w", err)
		}
	}
	// What is refused from here on may have been needed above.
	if filtersCalls() {
		if err := filterCalls(j.Separate || j.Landlock >= 6, beside); err != nil {
			return fmt.Errorf("seccomp: %w", err)
		}
	}
	return limit(j) // last: the stacks of this program's own threads may take more memory than the plug-in gets
}

// filterCalls filters the calls of this thread and of what it becomes. Where the kernel can ask before each new process
// and thread, the file to answer it by goes to the socket beside.
func filterCalls(apart bool, beside int) error {
	if asksBeforeForks() {
		listener, err := install(callFilter(apart, unix.SECCOMP_RET_USER_NOTIF), unix.SECCOMP_FILTER_FLAG_NEW_LISTENER)
		if err == nil {
			defer func() { _ = unix.Close(listener) }()
			return unix.Sendmsg(beside, []byte("listener"), unix.UnixRights(listener), nil, 0)
		}
		if !errors.Is(err, unix.EBUSY) { // whoever runs us is asked already
			return err
		}
	}
	_, err := install(callFilter(apart, allowed), 0)
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

// dropCapabilities gives up what a user called root may do. With no_new_privs nothing gives it back. It fails for
// those who have none.
func dropCapabilities() {
	for c := range uintptr(64) {
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	var none [2]unix.CapUserData
	_ = unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0])
}

// limit sets what one process of the plug-in may use at most.
func limit(j jail) error {
	of := map[int]uint64{
		unix.RLIMIT_CPU: j.Seconds, unix.RLIMIT_FSIZE: j.File, unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: j.Files, unix.RLIMIT_MEMLOCK: 1 << 16,
		unix.RLIMIT_MSGQUEUE: 0,
		// Memory that is written to; and, since programs reserve much more than they use, far more addresses.
		unix.RLIMIT_DATA: j.Memory, unix.RLIMIT_AS: j.Memory + 8<<30,
	}
	if j.Separate {
		// In a namespace of its own user only its own threads, and those of the process beside it, count. It does not bind root: see guard.
		of[unix.RLIMIT_NPROC] = j.Threads + keeperThreads
	}
	for what, most := range of {
		var now syscall.Rlimit
		if err := syscall.Getrlimit(what, &now); err != nil {
			return fmt.Errorf("limits: %w", err)
		}
		most = min(most, now.Max)
		l := syscall.Rlimit{Cur: most, Max: most}
		if what == unix.RLIMIT_CPU {
			l.Max = min(most+1, now.Max) // SIGXCPU says what it was; a second later it is killed
		}
		if err := syscall.Setrlimit(what, &l); err != nil {
			return fmt.Errorf("limits: %w", err)
		}
	}
	return nil
}

// landlockABI is the version of Landlock that the kernel has; 0: none. Tests stand for such a kernel.
var landlockABI = func() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

const (
	readFiles = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	// Of a path that is a file and no folder.
	fileOnly = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	// Devices are made by no one.
	writeFiles = readFiles | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE
)

// landlock leaves this thread, and what it becomes, only the files that a plug-in may have, no connection by TCP, no
// socket of others, and no process of others to signal.
func landlock(j jail, abi int) error {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: 1<<13 - 1}
	size := uintptr(8)
	if abi >= 2 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi >= 3 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi >= 4 {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		size = 16
	}
	if abi >= 5 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if abi >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
		size = 24
	}
	set, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return errno
	}
	defer func() { _ = unix.Close(int(set)) }()
	allow := func(path string, access uint64, needed bool) error {
		fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			if needed {
				return &os.PathError{Op: "open", Path: path, Err: err}
			}
			return nil // not every system has every folder
		}
		defer func() { _ = unix.Close(fd) }()
		var stat unix.Stat_t
		if err := unix.Fstat(fd, &stat); err != nil {
			return err
		}
		if access &= attr.Handled_access_fs; stat.Mode&unix.S_IFMT != unix.S_IFDIR {
			access &= fileOnly
		}
		rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
		if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, set, unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
			return fmt.Errorf("%s: %w", path, errno)
		}
		return nil
	}
	for _, path := range readable {
		if err := allow(path, readFiles, false); err != nil {
			return err
		}
	}
	for _, path := range writable {
		if err := allow(path, readFiles|unix.LANDLOCK_ACCESS_FS_WRITE_FILE|unix.LANDLOCK_ACCESS_FS_TRUNCATE, false); err != nil {
			return err
		}
	}
	if err := allow(j.Folder, readFiles, true); err != nil {
		return err
	}
	if err := allow(j.Working, writeFiles, true); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, set, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// filtersCalls says whether the kernel filters calls, and we know those of this processor.
func filtersCalls() bool {
	_, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0)
	return err == nil && callFilter(true, allowed) != nil
}

// asksBeforeForks says whether the kernel can ask another process about a call, and then let it happen (Linux 5.5).
// Tests stand for a kernel that cannot.
var asksBeforeForks = func() bool {
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

// refusedCalls are those that no summarizer needs: all that begins with a socket, that looks into other processes, or
// that changes the system, or what a file is marked with: its mode, owner, times and attributes, which Landlock lets
// everybody change.
var refusedCalls = []uintptr{
	unix.SYS_SOCKET, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN,
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT,
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT,
	unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME,
	unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_SYSLOG,
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SEMGET, unix.SYS_MSGGET, unix.SYS_MQ_OPEN,
	unix.SYS_TRUNCATE, // Landlock knows it from its third version on
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT,
	unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT, unix.SYS_FILE_SETATTR,
}

// Calls that only amd64 has: chmod, chown, lchown, utime, utimes and futimesat; fork and vfork.
var (
	oldMarks = []uintptr{90, 92, 94, 132, 235, 261}
	oldForks = []uintptr{57, 58}
)

// callFilter is a program for seccomp; nil where we know none for the processor. Where other processes are out of
// reach (apart), signals may be sent; else a plug-in could end the operator's own. fork is what happens to a call that
// begins a process or a thread.
func callFilter(apart bool, fork uint32) []unix.SockFilter {
	arch, ok := map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64, "riscv64": unix.AUDIT_ARCH_RISCV64}[runtime.GOARCH]
	if !ok {
		return nil
	}
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	ret := func(what uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: what} }
	jump := func(test uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, K: k, Jt: yes, Jf: no}
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
	refuse(denied, refusedCalls...)
	// Libraries do without these two: they ask in older ways, which are looked at.
	refuse(unknown, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_CLONE3)
	if !apart {
		refuse(denied, unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO)
	}
	if arch == unix.AUDIT_ARCH_X86_64 {
		refuse(denied, oldMarks...)
		refuse(fork, oldForks...)
	}
	for _, marks := range []uint32{0x40086602, 0x401c5820} { // FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR
		f = append(f, load(atCall), jump(unix.BPF_JEQ, unix.SYS_IOCTL, 0, 3), load(atSecond), jump(unix.BPF_JEQ, marks, 0, 1), ret(denied))
	}
	f = append(f, load(atCall))
	// clone, but not into namespaces of its own.
	const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	return append(f, jump(unix.BPF_JEQ, unix.SYS_CLONE, 0, 4), load(atFirst), jump(unix.BPF_JSET, namespaces, 0, 1), ret(denied), ret(fork), ret(allowed))
}
