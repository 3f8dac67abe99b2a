// Package disk writes files so that a reader, or a crash, never meets half of one, and tells how much space is left.
package disk

import (
	"crypto/rand"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Replace writes a file in one step: others see the old bytes or the new, also after a crash. A file that is there keeps its
// permissions, and a link to a file stays one; mode is a new file's. It blocks until the bytes are on the disk, and returns
// how many there are.
func Replace(path string, from io.Reader, mode fs.FileMode) (int64, error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	folder, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return 0, err
	}
	n, err := ReplaceIn(folder, filepath.Base(path), from, mode)
	return n, errors.Join(err, folder.Close())
}

// ReplaceIn is Replace for a name below a folder, which nothing leads out of. A link is replaced.
func ReplaceIn(root *os.Root, name string, from io.Reader, mode fs.FileMode) (n int64, err error) {
	temporary := filepath.Join(filepath.Dir(name), temporaryFor(name)+rand.Text()[:12])
	out, err := root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return 0, err
	}
	n, err = io.Copy(out, from)
	if was, statErr := root.Stat(name); err == nil && statErr == nil && was.Mode().IsRegular() {
		err = keepMode(out, was.Mode().Perm())
	}
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err == nil {
		err = root.Rename(temporary, name)
	}
	if err != nil {
		_ = root.Remove(temporary) // the first error is the one that counts
		return n, err
	}
	return n, SyncFolder(filepath.Join(root.Name(), filepath.Dir(name)))
}

// temporaryFor is what the name of a temporary file for another begins with.
func temporaryFor(name string) string {
	return fmt.Sprintf(".deskbell-%08x-", crc32.ChecksumIEEE([]byte(filepath.Base(name))))
}

// Tidy removes what a Replace of this path left that was killed. There must be no other Replace of it meanwhile.
func Tidy(path string) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), temporaryFor(path)) {
			err = errors.Join(err, os.Remove(filepath.Join(filepath.Dir(path), e.Name())))
		}
	}
	return err
}

// RemoveAll removes a folder in which anything may have been made, such as folders that may not be read.
func RemoveAll(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	if again := os.RemoveAll(dir); again != nil {
		return errors.Join(err, again)
	}
	return nil
}
