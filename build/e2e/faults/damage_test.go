//go:build faults && linux

package faults

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// The files that faults damage.
const (
	main = "deskbell.db"
	wal  = "deskbell.db-wal"
)

// A scene is where a fault happens.
type scene struct {
	dir    string // the data folder
	older  string // a copy of it, made earlier
	random *rand.Rand
	server *server // nil: it is stopped
	ledger *ledger
	undo   func() error // ends a fault of the surroundings, such as a full disk; nil: nothing to end
}

func (s *scene) file(name string) string { return filepath.Join(s.dir, name) }

// A fault is what happens to a data folder.
type fault struct {
	name string
	stopped,
	killed, // the server was killed, so that the WAL is beside the main file
	load bool // where it is tried
	seeded  bool // it differs from seed to seed
	private bool // the server may not write where the mode of a file says so, even where the tests run as root
	mounted func(top, dir string) (unmount func() error, err error)
	do      func(*scene) error
}

var faults = []fault{
	{name: "nothing", stopped: true, killed: true, load: true, do: func(*scene) error { return nil }},
	{name: "main file deleted", stopped: true, killed: true, load: true, do: remove(main)},
	{name: "WAL deleted", killed: true, load: true, do: remove(wal)},
	{name: "main file and WAL deleted", killed: true, load: true, do: remove(main, wal, main+"-shm")},
	{name: "folder deleted", stopped: true, load: true, do: removeAll},
	{name: "folder moved away", load: true, do: func(s *scene) error { return os.Rename(s.dir, s.dir+".moved") }},
	{name: "main file replaced by an older copy", stopped: true, killed: true, load: true, do: func(s *scene) error {
		raw, err := os.ReadFile(filepath.Join(s.older, main))
		if err != nil {
			return err
		}
		return replace(s.file(main), raw)
	}},
	{name: "main file replaced by an empty one", stopped: true, killed: true, load: true, do: func(s *scene) error { return replace(s.file(main), nil) }},
	{name: "WAL replaced by an empty one", killed: true, load: true, do: func(s *scene) error { return replace(s.file(wal), nil) }},
	{name: "main file truncated", stopped: true, killed: true, load: true, seeded: true, do: truncate(main)},
	{name: "WAL truncated", killed: true, load: true, seeded: true, do: truncate(wal)},
	{name: "main file: 1 byte flipped", stopped: true, killed: true, load: true, seeded: true, do: flip(main, 1)},
	{name: "main file: 40 bytes flipped", stopped: true, killed: true, load: true, seeded: true, do: flip(main, 40)},
	{name: "main file: 6,000 bytes flipped", stopped: true, killed: true, load: true, seeded: true, do: flip(main, 6000)},
	{name: "WAL: 1 byte flipped", killed: true, load: true, seeded: true, do: flip(wal, 1)},
	{name: "WAL: 40 bytes flipped", killed: true, load: true, seeded: true, do: flip(wal, 40)},
	{name: "WAL: 6,000 bytes flipped", killed: true, load: true, seeded: true, do: flip(wal, 6000)},
	{name: "killed", load: true, seeded: true, do: func(s *scene) error {
		if err := s.server.cmd.Process.Kill(); err != nil {
			return err
		}
		<-s.server.ended
		return nil
	}},
	{name: "halted and continued", load: true, do: func(s *scene) error {
		if err := s.server.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			return err
		}
		<-time.After(200 * time.Millisecond)
		return s.server.cmd.Process.Signal(syscall.SIGCONT)
	}},
	{name: "read-only by mode", stopped: true, killed: true, load: true, private: true, do: readOnly},
	{name: "disk full", load: true, mounted: tmpfs, do: fill},
	{name: "disk read-only", stopped: true, mounted: tmpfs, do: func(s *scene) error {
		s.undo = func() error { return remount(s.dir, 0) }
		return remount(s.dir, syscall.MS_RDONLY)
	}},
	{name: "disk unmounted, and mounted again before the start", load: true, mounted: bind, do: func(s *scene) error {
		s.undo = func() error { return syscall.Mount(s.dir+".disk", s.dir, "", syscall.MS_BIND, "") }
		return syscall.Unmount(s.dir, syscall.MNT_DETACH)
	}},
}

func remove(names ...string) func(*scene) error {
	return func(s *scene) error {
		for _, name := range names {
			if err := os.Remove(s.file(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return nil
	}
}

// removeAll deletes the folder. A server that runs may make a file in it meanwhile.
func removeAll(s *scene) error {
	for {
		if err := os.RemoveAll(s.dir); !errors.Is(err, syscall.ENOTEMPTY) {
			return err
		}
	}
}

// replace puts another file in the place of one, as programs that synchronize folders do.
func replace(path string, raw []byte) error {
	if err := os.WriteFile(path+".new", raw, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func truncate(name string) func(*scene) error {
	return func(s *scene) error {
		info, err := os.Stat(s.file(name))
		if err != nil {
			return err
		}
		return os.Truncate(s.file(name), s.random.Int64N(max(info.Size(), 1)))
	}
}

func flip(name string, n int) func(*scene) error {
	return func(s *scene) error {
		f, err := os.OpenFile(s.file(name), os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		for range n {
			if err != nil {
				break
			}
			at, b := s.random.Int64N(max(info.Size(), 1)), make([]byte, 1)
			if _, err = f.ReadAt(b, at); err == nil {
				b[0] ^= byte(1 + s.random.IntN(255))
				_, err = f.WriteAt(b, at)
			}
		}
		return err
	}
}

// readOnly removes the right to write to the folder and to each of its files.
func readOnly(s *scene) error {
	modes := func(file, dir fs.FileMode) error {
		paths, err := filepath.Glob(s.file("deskbell.db*"))
		for _, path := range paths {
			err = errors.Join(err, os.Chmod(path, file))
		}
		return errors.Join(err, os.Chmod(s.dir, dir))
	}
	s.undo = func() error { return modes(0o600, 0o700) }
	return modes(0o400, 0o500)
}

// fill writes to the disk until it is full.
func fill(s *scene) error {
	ballast := s.file("ballast")
	s.undo = func() error { return os.Remove(ballast) }
	f, err := os.Create(ballast)
	if err != nil {
		return err
	}
	defer f.Close()
	for block := make([]byte, 4096); ; {
		if _, err := f.Write(block); errors.Is(err, syscall.ENOSPC) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// tmpfs mounts a small disk of its own at the data folder.
func tmpfs(_, dir string) (unmount func() error, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := syscall.Mount("deskbell-faults", dir, "tmpfs", 0, "size=48m,mode=700"); err != nil {
		return nil, fmt.Errorf("mount: %w", err)
	}
	return func() error { return syscall.Unmount(dir, syscall.MNT_DETACH) }, nil
}

func remount(dir string, flags uintptr) error {
	return syscall.Mount("deskbell-faults", dir, "tmpfs", syscall.MS_REMOUNT|flags, "size=48m,mode=700")
}

// bind mounts another folder at the data folder, which stays when it is unmounted, as an external disk does.
func bind(_, dir string) (unmount func() error, err error) {
	for _, path := range []string{dir, dir + ".disk"} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return nil, err
		}
	}
	if err := syscall.Mount(dir+".disk", dir, "", syscall.MS_BIND, ""); err != nil {
		return nil, fmt.Errorf("mount: %w", err)
	}
	return func() error { return syscall.Unmount(dir, syscall.MNT_DETACH) }, nil
}
