//go:build unix

package serving

import (
	"os"
	"os/exec"
	"strconv"
)

// inherit has a command take over a file, and returns the number it has there.
func inherit(cmd *exec.Cmd, f *os.File) (string, error) {
	cmd.ExtraFiles = append(cmd.ExtraFiles, f)
	return strconv.Itoa(2 + len(cmd.ExtraFiles)), nil
}
