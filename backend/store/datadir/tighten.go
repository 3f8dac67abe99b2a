package datadir

import (
	"errors"
	"io/fs"
	"os"
	"runtime"

	"deskbell/backend/human"
)

// Tighten takes from other users what they may do with a data folder and all that is in it, also where an older or
// another program made it. It follows no symbolic links, and returns those that it found.
func Tighten(dir string) (links []string, err error) {
	root, err := os.OpenRoot(dir)
	if err == nil {
		links, err = tighten(root)
		err = errors.Join(err, root.Close())
	}
	if err != nil {
		return links, human.Wrap(human.Unavailable, err, "the data folder %s cannot be kept from other users: %v; it and all that is in it must be yours", dir, reason(err))
	}
	return links, nil
}

func tighten(root *os.Root) (links []string, err error) {
	if runtime.GOOS == "windows" {
		return nil, nil // a folder of a profile is the user's own there, and modes say nothing
	}
	err = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type() == fs.ModeSymlink {
			links = append(links, path)
			return nil
		}
		var info fs.FileInfo
		if err == nil {
			info, err = d.Info()
		}
		if err == nil && info.Mode()&0o077 != 0 {
			err = root.Chmod(path, info.Mode().Perm()&^0o077)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was there for a moment
		}
		return err
	})
	return links, err
}
