package plugins

import (
	"cmp"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"deskbell/backend/platform/confine"
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

// confineTo takes from this thread what the plug-in may not have, and tells the process beside it by the socket beside
// what it needs to count processes. The order counts: what is given up first must not be needed later.
func confineTo(j jail, beside int) error {
	if err := os.Chdir(cmp.Or(j.Start, j.Working)); err != nil {
		return fmt.Errorf("its folder: %w", err)
	}
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, 10) // the operator's own work goes first
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	confine.DropCapabilities()
	if j.Landlock > 0 {
		if err := confine.Landlock(j.Landlock, false, rules(j)); err != nil {
			return fmt.Errorf("landlock: %w", err)
		}
	}
	// What is refused from here on may have been needed above.
	if confine.FiltersCalls() {
		// Where other processes are out of reach, signals may be sent; else a plug-in could end the operator's own.
		if err := confine.FilterCalls(confine.Filter{Signals: j.Separate || j.Landlock >= 6}, asksBeforeForks(), beside); err != nil {
			return fmt.Errorf("seccomp: %w", err)
		}
	}
	return limit(j) // last: the stacks of this program's own threads may take more memory than the plug-in gets
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
	return confine.SetLimits(of)
}

// Tests stand for kernels that have less.
var (
	landlockABI     = confine.LandlockABI
	asksBeforeForks = confine.AsksBeforeForks
)

// rules are the files that a plug-in may have.
func rules(j jail) []confine.Rule {
	var all []confine.Rule
	for _, path := range readable {
		all = append(all, confine.Rule{Path: path, Access: confine.ReadFiles})
	}
	for _, path := range writable {
		all = append(all, confine.Rule{Path: path, Access: confine.UseDevice})
	}
	return append(all, confine.Rule{Path: j.Folder, Access: confine.ReadFiles, Needed: true}, confine.Rule{Path: j.Working, Access: confine.WriteFiles, Needed: true})
}
