package window

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// applicationID is the id that the installer gives the shortcut (build/installers/windows/deskbell.nsi).
const applicationID = "Deskbell.Deskbell"

var (
	setApplicationID = windows.NewLazySystemDLL("shell32.dll").NewProc("SetCurrentProcessExplicitAppUserModelID")
	consoleProcesses = windows.NewLazySystemDLL("kernel32.dll").NewProc("GetConsoleProcessList")
	leaveConsole     = windows.NewLazySystemDLL("kernel32.dll").NewProc("FreeConsole")
)

// AsProgram makes this process one that has a window and no console: the taskbar knows its windows by the shortcut that starts
// it, and the console that Windows opened for it alone, after a double click, closes. A terminal's it keeps, and prints there.
// To be called before the first window.
func AsProgram() {
	if id, err := windows.UTF16PtrFromString(applicationID); err == nil && setApplicationID.Find() == nil {
		_, _, _ = setApplicationID.Call(uintptr(unsafe.Pointer(id)))
	}
	var first [2]uint32
	if n, _, _ := consoleProcesses.Call(uintptr(unsafe.Pointer(&first[0])), uintptr(len(first))); n == 1 {
		_, _, _ = leaveConsole.Call()
	}
}
