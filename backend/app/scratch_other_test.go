//go:build !windows

package app_test

import "testing"

// scratch is a folder that is deleted when the test ends.
func scratch(t testing.TB) string { return t.TempDir() }
