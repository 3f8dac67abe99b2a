package main

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"deskbell/backend/store/sqlite"
)

// forgetPages has the system forget what it has in memory of a folder's database.
func forgetPages(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, sqlite.FileName+"*"))
	for _, name := range files {
		f, openErr := os.Open(name)
		if openErr != nil {
			return openErr
		}
		err = errors.Join(err, f.Sync(), unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED), f.Close())
	}
	return err
}
