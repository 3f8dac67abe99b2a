package cli

import "golang.org/x/sys/unix"

// forgetTyped drops what was typed before a question was asked.
func forgetTyped(fd uintptr) { _ = unix.IoctlSetInt(int(fd), unix.TCFLSH, unix.TCIFLUSH) }
