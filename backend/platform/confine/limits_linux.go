package confine

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// DropCapabilities gives up what a user called root may do. With no_new_privs nothing gives it back. It fails for
// those who have none.
func DropCapabilities() {
	for c := range uintptr(64) {
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	var none [2]unix.CapUserData
	_ = unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0])
}

// SetLimits sets what this process may use at most, by the numbers of setrlimit(2), and never more than it may already.
// That of processor time leaves a second between the signal that says what it was and the end.
func SetLimits(of map[int]uint64) error {
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
