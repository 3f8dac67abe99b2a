//go:build !linux

package window

// Single leaves it to Wails, which ends a second process well on these systems.
func Single(string, []string, func([]string)) (first bool, err error) { return true, nil }
