//go:build unix

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// own has programs that this one starts not inherit a file descriptor.
func own(fd uintptr) { unix.CloseOnExec(int(fd)) }

// foreground says whether this process is in the group that the terminal's keys go to (tcgetpgrp(3)).
func foreground(fd uintptr) bool {
	group, err := unix.IoctlGetInt(int(fd), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// understand does nothing: terminals obey escape sequences.
func understand(*os.File) {}
