//go:build unix && !linux

package tools

import "syscall"

func withParent(*syscall.SysProcAttr) {}
