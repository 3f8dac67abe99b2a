package install

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"deskbell/backend/human"
	"deskbell/backend/store/disk"
)

// Apply makes the change, and keeps what was there before in the backup. It does nothing to a file that was changed since
// it was planned: then the error is Conflict.
func (p Plan) Apply() error {
	path := p.Path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // settings are often links into a folder under version control
	}
	now, err := read(path)
	if err != nil {
		return human.Wrap(human.Unavailable, err, "%s cannot be read: %v", path, err)
	}
	if string(now) != string(p.before) || (now == nil) != (p.before == nil) {
		return human.Errorf(human.Conflict, "%s was changed meanwhile; nothing was done", path)
	}
	// The backup is made before the change, and goes after it.
	if p.keep != nil {
		err = put(p.Path+backupEnding, p.keep, path)
	}
	if err == nil {
		err = put(path, p.after, path)
	}
	if err == nil && p.drop {
		err = put(p.Path+backupEnding, nil, path)
	}
	if err != nil {
		return human.Wrap(human.Unavailable, err, "%s cannot be written: %v", path, err)
	}
	return nil
}

// put writes a file in one step, with the permissions of another where that is there; no text deletes it.
func put(path string, text []byte, like string) error {
	if text == nil {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(like); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	_, err := disk.Replace(path, bytes.NewReader(text), mode)
	return err
}
