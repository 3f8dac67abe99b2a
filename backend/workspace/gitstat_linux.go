package workspace

import (
	"os"
	"syscall"
)

// statsKnown says whether numbers of files are compared with an index here as git does.
const statsKnown = true

// numbersOf are what an index holds of a file, in its order: times of change with their nanoseconds, inode, owner, group and size.
func numbersOf(info os.FileInfo) (n [8]uint32, ok bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return n, false
	}
	return [8]uint32{uint32(s.Ctim.Sec), uint32(s.Ctim.Nsec), uint32(s.Mtim.Sec), uint32(s.Mtim.Nsec), uint32(s.Ino), s.Uid, s.Gid, uint32(s.Size)}, true
}
