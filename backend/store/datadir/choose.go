package datadir

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"

	"deskbell/backend/human"
)

// Choose returns the folder of the database, the lock and the settings file: flag where it is not empty, else
// DESKBELL_DATA, else the system's place for a program's data. It is made absolute, not made.
func Choose(flag string) (string, error) {
	dir := flag
	if dir == "" {
		dir = os.Getenv("DESKBELL_DATA")
	}
	if dir == "" {
		var err error
		if dir, err = usualDir(); err != nil {
			return "", human.Wrap(human.Invalid, err, "no data folder is known: set DESKBELL_DATA or --data")
		}
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", human.Wrap(human.Invalid, err, "the data folder %q cannot be found", dir)
	}
	return abs, nil
}

// Usual is the folder where nothing is chosen, "" where the system has none.
func Usual() string {
	dir, err := usualDir()
	if err != nil {
		return ""
	}
	return dir
}

func usualDir() (string, error) {
	switch runtime.GOOS {
	case "windows":
		if dir := os.Getenv("LOCALAPPDATA"); dir != "" {
			return filepath.Join(dir, "Deskbell"), nil
		}
		return "", errors.New("LOCALAPPDATA is not set")
	case "darwin":
		dir, err := os.UserConfigDir()
		return filepath.Join(dir, "Deskbell"), err
	}
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "deskbell"), nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "share", "deskbell"), err
}
