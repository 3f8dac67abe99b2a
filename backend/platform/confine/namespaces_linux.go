package confine

import (
	"os/exec"
	"syscall"
)

// UserNamespaces says why the kernel makes no user namespace for this process, as in a chroot or where they are switched off;
// nil where it does. It tries it, which takes a moment.
func UserNamespaces() error {
	cmd := exec.Command("/bin/true")
	cmd.Env = []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}
	return cmd.Run()
}
