package windows

import (
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"

	"deskbell/backend/human"
)

var (
	procGetWindowText   = user32.NewProc("GetWindowTextW")
	procGetClientRect   = user32.NewProc("GetClientRect")
	procGetWindowRect   = user32.NewProc("GetWindowRect")
	procClientToScreen  = user32.NewProc("ClientToScreen")
	procIsIconic        = user32.NewProc("IsIconic")
	procGetAncestor     = user32.NewProc("GetAncestor")
	procGetWindowLong   = user32.NewProc("GetWindowLongPtrW")
	procDwmGetAttribute = dwmapi.NewProc("DwmGetWindowAttribute")
	procQueryFullImage  = kernel32.NewProc("QueryFullProcessImageNameW")
	enumerate           = listed()
)

// listed makes the callback that collects windows: Windows keeps each for ever, so there is one.
func listed() func(parent windows.HWND) []windows.HWND {
	collect := windows.NewCallback(func(h windows.HWND, into *[]windows.HWND) uintptr {
		*into = append(*into, h)
		return 1
	})
	return func(parent windows.HWND) []windows.HWND {
		into := new([]windows.HWND)
		if parent == 0 {
			_ = windows.EnumWindows(collect, unsafe.Pointer(into))
		} else {
			windows.EnumChildWindows(parent, collect, unsafe.Pointer(into))
		}
		return *into
	}
}

func title(h windows.HWND) string {
	var text [512]uint16
	// Of another process' window this reads what the system keeps, and waits for no one.
	n, _, _ := procGetWindowText.Call(uintptr(h), uintptr(unsafe.Pointer(&text[0])), uintptr(len(text)))
	return windows.UTF16ToString(text[:n])
}

func bounds(h windows.HWND) human.Bounds {
	var r rect
	var p point
	if ok, _, _ := procGetClientRect.Call(uintptr(h), uintptr(unsafe.Pointer(&r))); ok == 0 {
		return human.Bounds{}
	}
	_, _, _ = procClientToScreen.Call(uintptr(h), uintptr(unsafe.Pointer(&p)))
	return human.Bounds{X: int(p.x), Y: int(p.y), W: int(r.right), H: int(r.bottom)}
}

// frame is where a window is with its title bar, as far as it can be seen: the system counts a shadow to it.
func frame(h windows.HWND) human.Bounds {
	const extendedFrame = 9
	var r rect
	if procDwmGetAttribute.Find() == nil {
		if failed, _, _ := procDwmGetAttribute.Call(uintptr(h), extendedFrame, uintptr(unsafe.Pointer(&r)), unsafe.Sizeof(r)); failed == 0 && r.right > r.left {
			return human.Bounds{X: int(r.left), Y: int(r.top), W: int(r.right - r.left), H: int(r.bottom - r.top)}
		}
	}
	_, _, _ = procGetWindowRect.Call(uintptr(h), uintptr(unsafe.Pointer(&r)))
	return human.Bounds{X: int(r.left), Y: int(r.top), W: int(r.right - r.left), H: int(r.bottom - r.top)}
}

// onScreen says whether a window is one that people see: visible, not minimized, not a Store application that is
// suspended or on another desktop (the system calls those cloaked).
func onScreen(h windows.HWND) bool {
	if !windows.IsWindowVisible(h) {
		return false
	}
	if minimised, _, _ := procIsIconic.Call(uintptr(h)); minimised != 0 {
		return false
	}
	const cloaked = 14
	var is uint32
	if procDwmGetAttribute.Find() == nil {
		_, _, _ = procDwmGetAttribute.Call(uintptr(h), cloaked, uintptr(unsafe.Pointer(&is)), unsafe.Sizeof(is))
	}
	return is == 0
}

// topLevel says whether a window is an application's, and no part of one, tool window or tooltip.
func topLevel(h windows.HWND) bool {
	const root, exStyle, toolWindow, appWindow = 2, ^uintptr(19), 0x80, 0x40000
	if r, _, _ := procGetAncestor.Call(uintptr(h), root); r != uintptr(h) {
		return false
	}
	style, _, _ := procGetWindowLong.Call(uintptr(h), exStyle)
	return style&toolWindow == 0 || style&appWindow != 0
}

// processes remembers programs by their process: looking one up opens files.
type processes struct {
	mu       sync.Mutex
	apps     map[string]human.App // by path
	own      uint32               // our own level of integrity
	ownKnown bool
}

// of returns the application of a window. A Store application's window belongs to a host process; the program is
// that of a window within.
func (p *processes) of(h windows.HWND) human.App {
	pid := owner(h)
	path := image(pid)
	if strings.EqualFold(filepath.Base(path), "ApplicationFrameHost.exe") {
		for _, child := range enumerate(h) {
			if other := owner(child); other != 0 && other != pid {
				pid, path = other, image(other)
				break
			}
		}
	}
	if path == "" {
		return human.App{PID: int(pid)}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	app, ok := p.apps[path]
	if !ok {
		exe := filepath.Base(path)
		app = human.App{Name: described(path), Exe: exe}
		if app.Name == "" {
			app.Name = strings.TrimSuffix(exe, filepath.Ext(exe))
		}
		if p.apps == nil {
			p.apps = map[string]human.App{}
		}
		p.apps[path] = app
	}
	app.PID = int(pid)
	return app
}

func owner(h windows.HWND) uint32 {
	var pid uint32
	_, _ = windows.GetWindowThreadProcessId(h, &pid)
	return pid
}

// image is the path of a process' executable, or nothing.
func image(pid uint32) string {
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return ""
	}
	defer func() { _ = windows.CloseHandle(process) }()
	path := make([]uint16, windows.MAX_LONG_PATH)
	n := uint32(len(path))
	if ok, _, _ := procQueryFullImage.Call(uintptr(process), 0, uintptr(unsafe.Pointer(&path[0])), uintptr(unsafe.Pointer(&n))); ok == 0 {
		return ""
	}
	return windows.UTF16ToString(path[:n])
}

// described is what a program's version information calls it.
func described(path string) string {
	var none windows.Handle
	size, err := windows.GetFileVersionInfoSize(path, &none)
	if err != nil || size == 0 {
		return ""
	}
	info := make([]byte, size)
	if windows.GetFileVersionInfo(path, 0, size, unsafe.Pointer(&info[0])) != nil {
		return ""
	}
	var pages *[1]struct{ language, page uint16 }
	var n uint32
	if windows.VerQueryValue(unsafe.Pointer(&info[0]), `\VarFileInfo\Translation`, unsafe.Pointer(&pages), &n) != nil || n < 4 {
		return ""
	}
	var text *[128]uint16
	key := `\StringFileInfo\` + hex4(pages[0].language) + hex4(pages[0].page) + `\FileDescription`
	if windows.VerQueryValue(unsafe.Pointer(&info[0]), key, unsafe.Pointer(&text), &n) != nil || n == 0 {
		return ""
	}
	return strings.TrimSpace(windows.UTF16ToString(unsafe.Slice(&text[0], n)))
}

func hex4(n uint16) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[n>>12], digits[n>>8&15], digits[n>>4&15], digits[n&15]})
}

// above says whether a process has more rights than we have: then Windows shows us nothing of its input.
func (p *processes) above(pid uint32) bool {
	p.mu.Lock()
	if !p.ownKnown {
		p.own, _ = integrity(windows.GetCurrentProcessId())
		p.ownKnown = true
	}
	own := p.own
	p.mu.Unlock()
	level, err := integrity(pid)
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		return own < highIntegrity // it may not even be asked
	}
	return err == nil && level > own
}

// highIntegrity is the level of a program that was started as administrator.
const highIntegrity = 0x3000

// integrity is a process' mandatory integrity level: 0x2000 for ordinary programs.
func integrity(pid uint32) (uint32, error) {
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return 0, err
	}
	defer func() { _ = windows.CloseHandle(process) }()
	var token windows.Token
	if err := windows.OpenProcessToken(process, windows.TOKEN_QUERY, &token); err != nil {
		return 0, err
	}
	defer func() { _ = token.Close() }()
	var n uint32
	if err := windows.GetTokenInformation(token, windows.TokenIntegrityLevel, nil, 0, &n); n == 0 {
		return 0, err
	}
	info := make([]byte, n)
	if err := windows.GetTokenInformation(token, windows.TokenIntegrityLevel, &info[0], n, &n); err != nil {
		return 0, err
	}
	sid := (*windows.Tokenmandatorylabel)(unsafe.Pointer(&info[0])).Label.Sid
	if count := sid.SubAuthorityCount(); count > 0 {
		return sid.SubAuthority(uint32(count) - 1), nil
	}
	return 0, windows.ERROR_INVALID_SID
}
