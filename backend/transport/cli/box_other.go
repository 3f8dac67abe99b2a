//go:build !linux

package cli

// forgetTyped does nothing, where there is no box to ask about.
func forgetTyped(uintptr) {}
