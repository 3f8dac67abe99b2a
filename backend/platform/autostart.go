package platform

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
)

// Autostart starts a data folder's Deskbell, hidden, when the user logs in: an XDG autostart file, a value of the Run key of Windows'
// registry, or a LaunchAgent. Each data folder has one of its own.
type Autostart struct{}

// program is this program, and what it is started with. Inside a package that is mounted again each time, such as an AppImage, the
// package is the program.
func program(dir string) (path string, args []string, err error) {
	if path = os.Getenv("APPIMAGE"); path == "" {
		if path, err = os.Executable(); err == nil {
			path, err = filepath.EvalSymlinks(path)
		}
	}
	return path, []string{"--hidden", "--data", dir}, err
}

// entryName is the name of a data folder's entry.
func entryName(dir string) string {
	sum := sha256.Sum256([]byte(filepath.Clean(dir)))
	return "deskbell-" + hex.EncodeToString(sum[:4])
}
