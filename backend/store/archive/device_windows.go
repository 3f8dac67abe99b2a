package archive

import (
	"path/filepath"
	"strings"
)

// device names the disk that a folder is on; empty where that is not known.
func device(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	return strings.ToLower(filepath.VolumeName(path))
}
