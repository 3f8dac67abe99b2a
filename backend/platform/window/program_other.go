//go:build !windows

package window

// AsProgram is for Windows.
func AsProgram() {}
