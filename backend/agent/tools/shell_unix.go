//go:build unix

package tools

import "syscall"

const (
	shellName  = "shell"
	shellWords = "with /bin/sh"
)

func shellCommand(command string) []string { return []string{"/bin/sh", "-c", command} }

// unblocking opens what is no file without waiting for whoever is at its other end.
const unblocking = syscall.O_NONBLOCK
