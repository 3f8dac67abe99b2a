package procgroup

import "syscall"

// withParent makes the process end when this one is killed.
func withParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
