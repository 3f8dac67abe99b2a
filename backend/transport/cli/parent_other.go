//go:build !linux

package cli

// parentName is not asked for here.
func parentName() string { return "" }
