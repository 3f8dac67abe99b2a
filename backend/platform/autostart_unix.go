//go:build !windows

package platform

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Set writes or removes the file. What stands in its place already stays.
func (a Autostart) Set(on bool, dir string) (where string, err error) {
	path, text, err := entry(dir)
	if err != nil {
		return path, err
	}
	if !on {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return path, err
		}
		return path, nil
	}
	if is, _, err := a.On(dir); is || err != nil {
		return path, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return path, err
	}
	return path, os.WriteFile(path, text, 0o600)
}

// On says whether the file is there, for this program.
func (Autostart) On(dir string) (on bool, where string, err error) {
	path, text, err := entry(dir)
	if err != nil {
		return false, path, err
	}
	found, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, path, nil
	}
	return bytes.Equal(found, text), path, err
}
