//go:build unix

package archive

import (
	"fmt"
	"os"
	"syscall"
)

// device names the disk that a folder is on; empty where that is not known.
func device(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	stat, is := info.Sys().(*syscall.Stat_t)
	if !is {
		return ""
	}
	return fmt.Sprint(stat.Dev)
}
