// Package sealed keeps what a process has in its memory, such as tokens, from other processes of the same user.
package sealed

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// NoCore leaves no file of the memory when the process crashes, nor do the processes that it starts.
func NoCore() error { return unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) }

// Seal is NoCore, and other processes of the user cannot read the memory, where they otherwise could: with Yama's
// ptrace_scope they cannot anyway. Under Wayland it stays as it is: the desktop's portals, which recording needs, look into
// the process that asks them. Where it is sealed, no user namespaces can be made for processes that it starts.
func Seal() error {
	if err := NoCore(); err != nil || os.Getenv("WAYLAND_DISPLAY") != "" || guarded() {
		return err
	}
	return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}

// guarded says whether the kernel keeps processes from others that are not their parents.
func guarded() bool {
	scope, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	return err == nil && strings.TrimSpace(string(scope)) != "0"
}
