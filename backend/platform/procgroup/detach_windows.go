package procgroup

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// Detach lets a child outlive this process and its console.
func Detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}
