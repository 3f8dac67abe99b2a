package processes

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func own(p Process) bool {
	k, err := kernelInfo(p.PID)
	return err == nil && int(k.Eproc.Ucred.Uid) == os.Geteuid()
}

// device is the path of a terminal of this number, which has to be that terminal now.
func device(tty int32) string {
	path := fmt.Sprintf("/dev/ttys%03d", unix.Minor(uint64(uint32(tty))))
	var s syscall.Stat_t
	if syscall.Stat(path, &s) != nil || s.Rdev != tty {
		return ""
	}
	return path
}
