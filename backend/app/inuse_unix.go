//go:build !windows

package app

import "syscall"

const errInUse = syscall.EADDRINUSE
