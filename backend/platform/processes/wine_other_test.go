//go:build !windows

package processes_test

// lacks says whether this system is Wine and lacks something that Windows has.
func lacks(string) bool { return false }
