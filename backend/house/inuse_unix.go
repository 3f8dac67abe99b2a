//go:build !windows

package house

import "syscall"

const errInUse = syscall.EADDRINUSE
