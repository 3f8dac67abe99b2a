//go:build !windows

package cli

import (
	"os/exec"
	"syscall"
)

// detach lets a child outlive this process and the terminal it has.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
