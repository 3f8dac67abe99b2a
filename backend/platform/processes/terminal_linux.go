package processes

import (
	"os"
	"strconv"
	"syscall"
)

func own(p Process) bool {
	var s syscall.Stat_t
	return syscall.Stat("/proc/"+strconv.Itoa(p.PID), &s) == nil && int(s.Uid) == os.Geteuid()
}
