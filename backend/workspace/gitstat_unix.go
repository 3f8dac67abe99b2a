//go:build linux || darwin

package workspace

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// statsKnown says whether numbers of files are compared with an index here as git does.
const statsKnown = true

// fileStat looks at a name in a folder, or at a path where the folder is nil, and follows no link.
func fileStat(folder *os.File, name string) (s stat, err error) {
	at := unix.AT_FDCWD
	if folder != nil {
		at = int(folder.Fd())
	}
	var now unix.Stat_t
	for {
		if err = unix.Fstatat(at, name, &now, unix.AT_SYMLINK_NOFOLLOW); err != unix.EINTR {
			break
		}
	}
	if err != nil {
		return s, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	s = stat{
		numbers: [8]uint32{uint32(now.Ctim.Sec), uint32(now.Ctim.Nsec), uint32(now.Mtim.Sec), uint32(now.Mtim.Nsec), uint32(now.Ino), now.Uid, now.Gid, uint32(now.Size)},
		size:    now.Size, runs: now.Mode&0o100 != 0,
	}
	switch now.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		s.file = true
	case unix.S_IFLNK:
		s.link = true
	case unix.S_IFDIR:
		s.folder = true
	}
	return s, nil
}
