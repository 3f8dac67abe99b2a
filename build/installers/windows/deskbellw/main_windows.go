// Deskbellw is what shortcuts, links and the start of the session run: it starts deskbell.exe beside it without a console, with
// the same arguments, and ends. In a terminal deskbell.exe itself is run, which prints and is waited for.
package main

import (
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/windows"
)

// allowSetForegroundWindow lets the window that is already there come to the front, which Windows grants only to what a person started.
var allowSetForegroundWindow = windows.NewLazySystemDLL("user32.dll").NewProc("AllowSetForegroundWindow")

func main() {
	if err := start(); err != nil {
		_, _ = windows.MessageBox(0, windows.StringToUTF16Ptr("Deskbell could not be started: "+err.Error()),
			windows.StringToUTF16Ptr("Deskbell"), windows.MB_ICONERROR|windows.MB_SETFOREGROUND)
		os.Exit(1)
	}
}

// start passes the arguments on as they came, since the two programs read them alike.
func start() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	program := filepath.Join(filepath.Dir(self), "deskbell.exe")
	line := windows.EscapeArg(program) + arguments(windows.UTF16PtrToString(windows.GetCommandLine()))
	startup := windows.StartupInfo{}
	startup.Cb = uint32(unsafe.Sizeof(startup))
	var process windows.ProcessInformation
	name, err := windows.UTF16PtrFromString(program)
	if err != nil {
		return err
	}
	text, err := windows.UTF16PtrFromString(line)
	if err != nil {
		return err
	}
	_, _, _ = allowSetForegroundWindow.Call(0xffffffff) // any process
	err = windows.CreateProcess(name, text, nil, nil, false, windows.DETACHED_PROCESS|windows.CREATE_NEW_PROCESS_GROUP, nil, nil, &startup, &process)
	if err != nil {
		return err
	}
	_ = windows.CloseHandle(process.Thread)
	return windows.CloseHandle(process.Process)
}

// arguments is what stands in a command line after the program, with the space before it.
func arguments(line string) string {
	quoted := false
	for i := range len(line) {
		switch c := line[i]; {
		case c == '"':
			quoted = !quoted
		case (c == ' ' || c == '\t') && !quoted:
			return line[i:]
		}
	}
	return ""
}
