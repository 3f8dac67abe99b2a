// Package installer tests the installer for Windows, with all that it installs: `make test-installer-windows` runs it under Wine,
// `go test ./build/e2e/installer` on Windows.
package installer
