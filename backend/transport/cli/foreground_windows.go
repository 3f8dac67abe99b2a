package cli

import (
	"os"

	"golang.org/x/sys/windows"
)

// own does nothing: here programs inherit the handles that they are given, and no others.
func own(uintptr) {}

// foreground is true: a console of Windows has no groups of processes.
func foreground(uintptr) bool { return true }

// understand has a console obey the escape sequences that this program clears lines with.
func understand(f *os.File) {
	var mode uint32
	if windows.GetConsoleMode(windows.Handle(f.Fd()), &mode) == nil {
		_ = windows.SetConsoleMode(windows.Handle(f.Fd()), mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) // Windows 10 and newer
	}
}
