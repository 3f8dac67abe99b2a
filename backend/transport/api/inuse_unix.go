//go:build !windows

package api

import "syscall"

const errInUse = syscall.EADDRINUSE
