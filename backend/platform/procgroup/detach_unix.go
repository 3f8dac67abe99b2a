//go:build !windows

package procgroup

import (
	"os/exec"
	"syscall"
)

// Detach lets a child outlive this process and the terminal it has.
func Detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
