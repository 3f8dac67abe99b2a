// Package macos records on macOS: windows, accessible elements, the clipboard, and what the system permits. It calls
// the system's frameworks without C, so that it is at least compiled wherever the tests run.
//
// It has not been run: no one who wrote it had a Mac. Everything here should be tried on one before it is relied on;
// docs/platforms.md says so to people, too.
package macos
