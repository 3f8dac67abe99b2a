package backups

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
)

// PutBack implements service.Files. It follows no link, and leaves alone what is not as the operator sees it, another user's, or
// Deskbell's own. What is written is complete, or nothing changed.
func (s *Store) PutBack(f service.ShownFile) (err error) {
	dir, name := filepath.Split(f.Path)
	dir = filepath.Clean(dir)
	if real, err := filepath.EvalSymlinks(dir); err != nil || real != dir || within(f.Path, filepath.Dir(s.dir)) {
		return human.Wrap(human.Denied, err, "%s is Deskbell's own or behind a link; change it yourself", f.Path)
	}
	// From here on all goes by the folder itself, whatever takes its place.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return unwritable(f.Path, err)
	}
	defer func() { _ = root.Close() }() // it was only held
	info, err := unchanged(root, name, f)
	if err != nil {
		return err
	}
	fresh := "." + name + "." + rand.Text()[:8]
	if err := create(root, fresh, f.Text, info.Mode().Perm()); err != nil {
		return unwritable(f.Path, errors.Join(err, root.Remove(fresh)))
	}
	if _, err := unchanged(root, name, f); err != nil {
		return errors.Join(err, root.Remove(fresh))
	}
	if err := root.Rename(fresh, name); err != nil {
		return unwritable(f.Path, errors.Join(err, root.Remove(fresh)))
	}
	return nil
}

// unchanged is the file as the operator sees it.
func unchanged(root *os.Root, name string, f service.ShownFile) (fs.FileInfo, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, unwritable(f.Path, err)
	}
	if user, _ := owner(info); !info.Mode().IsRegular() || user != os.Geteuid() {
		return nil, human.Errorf(human.Denied, "%s is no regular file of yours; change it yourself", f.Path)
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, unwritable(f.Path, err)
	}
	defer func() { _ = file.Close() }() // it was read
	if now, err := file.Stat(); err != nil || !os.SameFile(info, now) {
		return nil, moved(f.Path)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return nil, unwritable(f.Path, err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != f.Now {
		return nil, moved(f.Path)
	}
	return info, nil
}

func moved(path string) error {
	return human.Errorf(human.Conflict, "%s has changed again; answer, and you see the difference", path)
}

func unwritable(path string, err error) error {
	return human.Wrap(human.Conflict, err, "%s cannot be put back as it was: %s", path, human.Inner{Err: err})
}

func create(root *os.Root, name, text string, mode fs.FileMode) error {
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Chmod(mode), file.Sync(), file.Close())
}
