//go:build !windows

package backups

import "golang.org/x/sys/unix"

// freeSpace is how many bytes this user can still write in dir.
func freeSpace(dir string) (uint64, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return 0, err
	}
	return uint64(fs.Bavail) * uint64(fs.Bsize), nil
}
