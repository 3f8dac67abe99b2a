//go:build !windows

package folders

import (
	"io/fs"
	"syscall"
)

// A fileID is one file's, whatever it is called, until it is deleted.
type fileID struct{ device, file uint64 }

func identify(_ string, info fs.FileInfo) fileID {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}
	}
	return fileID{uint64(s.Dev), s.Ino}
}
