package tools

import "syscall"

func withParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
