// Package windows records on Windows: pointer and keys, windows, accessible elements, and the clipboard. It calls the
// system directly, without C.
//
// The parts that do not need a graphical session of Windows' own have been tested under Wine; UI Automation in
// applications, elevated windows and the secure desktop have not been seen at work (docs/platforms.md).
package windows
