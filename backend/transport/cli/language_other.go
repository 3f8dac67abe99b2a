//go:build !windows

package cli

// systemLocale is what the environment does not say; here it says all there is.
func systemLocale() string { return "" }
