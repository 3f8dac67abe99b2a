package processes

import (
	"sync"

	"golang.org/x/sys/windows"

	"deskbell/backend/gate/callers"
)

// leader is the first of the nearest shells that a process descends from: Windows has no sessions of terminals, and does not say
// whose console another process has.
func leader(p Process) (first Process, err error) {
	for _, a := range Lineage(p)[1:] {
		if callers.IsShell(a.Program) {
			first = a
		} else if first.PID != 0 {
			break
		}
	}
	if first.PID == 0 {
		err = ErrUnknown
	}
	return first, err
}

func own(p Process) bool {
	handle, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(p.PID))
	if err != nil {
		return false
	}
	defer func() { _ = windows.CloseHandle(handle) }()
	var token windows.Token
	if windows.OpenProcessToken(handle, windows.TOKEN_QUERY, &token) != nil {
		return false
	}
	defer func() { _ = token.Close() }()
	theirs, err := token.GetTokenUser()
	if err != nil {
		return false
	}
	ours, err := windows.GetCurrentProcessToken().GetTokenUser()
	return err == nil && theirs.User.Sid.Equals(ours.User.Sid)
}

var (
	kernel32              = windows.NewLazySystemDLL("kernel32.dll")
	attachConsole         = kernel32.NewProc("AttachConsole")
	freeConsole           = kernel32.NewProc("FreeConsole")
	setConsoleCtrlHandler = kernel32.NewProc("SetConsoleCtrlHandler")

	// attached is held while this process has another's console.
	attached sync.Mutex
)

// draw takes part in the console of the process meanwhile: a process has one at most.
func draw(p Process, text string) error {
	attached.Lock()
	defer attached.Unlock()
	_, _, _ = setConsoleCtrlHandler.Call(0, 1) // Ctrl+C there is not for this process
	defer func() { _, _, _ = setConsoleCtrlHandler.Call(0, 0) }()
	if done, _, err := attachConsole.Call(uintptr(p.PID)); done == 0 {
		return err
	}
	defer func() { _, _, _ = freeConsole.Call() }()
	screen, err := windows.CreateFile(windows.StringToUTF16Ptr("CONOUT$"), windows.GENERIC_READ|windows.GENERIC_WRITE,
		windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE, nil, windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(screen) }()
	var mode, written uint32
	if err := windows.GetConsoleMode(screen, &mode); err != nil {
		return err
	}
	if err := windows.SetConsoleMode(screen, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING); err == nil {
		defer func() { _ = windows.SetConsoleMode(screen, mode) }()
	}
	letters := windows.StringToUTF16(text)
	return windows.WriteConsole(screen, &letters[0], uint32(len(letters)-1), &written, nil)
}
