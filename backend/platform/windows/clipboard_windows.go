package windows

import (
	"context"
	"sync"
	"time"
	"unicode/utf8"
	"unsafe"

	"golang.org/x/sys/windows"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

var (
	procRegisterClass      = user32.NewProc("RegisterClassExW")
	procCreateWindow       = user32.NewProc("CreateWindowExW")
	procDestroyWindow      = user32.NewProc("DestroyWindow")
	procDefWindowProc      = user32.NewProc("DefWindowProcW")
	procAddListener        = user32.NewProc("AddClipboardFormatListener")
	procRemoveListener     = user32.NewProc("RemoveClipboardFormatListener")
	procRegisterFormat     = user32.NewProc("RegisterClipboardFormatW")
	procFormatAvailable    = user32.NewProc("IsClipboardFormatAvailable")
	procCountFormats       = user32.NewProc("CountClipboardFormats")
	procOpenClipboard      = user32.NewProc("OpenClipboard")
	procCloseClipboard     = user32.NewProc("CloseClipboard")
	procGetClipboardData   = user32.NewProc("GetClipboardData")
	procGetClipboardSerial = user32.NewProc("GetClipboardSequenceNumber")
	procGlobalLock         = kernel32.NewProc("GlobalLock")
	procGlobalUnlock       = kernel32.NewProc("GlobalUnlock")
	procGlobalSize         = kernel32.NewProc("GlobalSize")
)

// maxClip is how many bytes of a text are reported; a longer text is shortened.
const maxClip = 64 << 10

// A Clipboard is a record.Source of changes of the clipboard. What a program marks as not for others to keep, as
// password managers do, is reported without its content, with Hidden set.
type Clipboard struct {
	clock   record.Clock
	content bool
}

// NewClipboard makes one; with content, it reports texts as well.
func NewClipboard(clock record.Clock, content bool) *Clipboard {
	return &Clipboard{clock: clock, content: content}
}

// Check has nothing to say against it.
func (c *Clipboard) Check(context.Context) human.SourceState {
	return human.SourceState{Source: human.ClipboardSource, Status: "complete"}
}

// clipWindows are those that listen, with what to call.
var clipWindows sync.Map

var clipProc = windows.NewCallback(func(h windows.HWND, number uint32, w, l uintptr) uintptr {
	const updated = 0x031D
	if changed, ok := clipWindows.Load(h); ok && number == updated {
		changed.(func())()
		return 0
	}
	result, _, _ := procDefWindowProc.Call(uintptr(h), uintptr(number), w, l)
	return result
})

var clipClass = sync.OnceValues(func() (*uint16, error) {
	name, err := windows.UTF16PtrFromString("DeskbellClipboard")
	if err != nil {
		return nil, err
	}
	module, _, _ := procGetModuleHandle.Call(0)
	class := struct {
		size, style                 uint32
		proc                        uintptr
		classExtra, windowExtra     int32
		module, icon, cursor, brush uintptr
		menu, name                  *uint16
		smallIcon                   uintptr
	}{proc: clipProc, module: module, name: name}
	class.size = uint32(unsafe.Sizeof(class))
	if ok, _, err := procRegisterClass.Call(uintptr(unsafe.Pointer(&class))); ok == 0 {
		return nil, err
	}
	return name, nil
})

// Run tells of changes; see record.Source.
func (c *Clipboard) Run(ctx context.Context, ready func(), emit func(human.RecordedEvent)) (uint64, error) {
	var window uintptr
	var seen uint64
	now := monotonic(c.clock)
	serial, _, _ := procGetClipboardSerial.Call()
	// Windows reports one change several times: once for each kind of content that is put there.
	changed := func() {
		n, _, _ := procGetClipboardSerial.Call()
		if n == serial {
			return
		}
		serial = n
		e := c.look(window)
		e.At, e.Source, e.Type = now(), human.ClipboardSource, human.ClipboardSet
		seen++
		emit(e)
	}
	err := loop(ctx, func() error {
		class, err := clipClass()
		if err != nil {
			return human.Wrap(human.Unavailable, err, "Windows does not let Deskbell open a window to watch the clipboard.")
		}
		const messageOnly = ^uintptr(2) // HWND_MESSAGE
		window, _, err = procCreateWindow.Call(0, uintptr(unsafe.Pointer(class)), 0, 0, 0, 0, 0, 0, messageOnly, 0, 0, 0)
		if window == 0 {
			return human.Wrap(human.Unavailable, err, "Windows does not let Deskbell open a window to watch the clipboard.")
		}
		clipWindows.Store(windows.HWND(window), changed)
		if ok, _, err := procAddListener.Call(window); ok == 0 {
			clipWindows.Delete(windows.HWND(window))
			_, _, _ = procDestroyWindow.Call(window)
			return human.Wrap(human.Unavailable, err, "Windows does not report the clipboard in this session.")
		}
		ready()
		return nil
	}, 0, nil, func() {
		_, _, _ = procRemoveListener.Call(window)
		clipWindows.Delete(windows.HWND(window))
		_, _, _ = procDestroyWindow.Call(window)
	})
	return seen, err
}

// Formats, from winuser.h.
const (
	formatBitmap, formatDIB, formatDIBV5 = 2, 8, 17
	formatUnicode, formatFiles           = 13, 15
)

func (c *Clipboard) look(window uintptr) human.RecordedEvent {
	var e human.RecordedEvent
	count, _, _ := procCountFormats.Call()
	switch {
	case count == 0:
		e.ContentKind = "empty"
	case has(formatFiles):
		e.ContentKind = "files"
	case has(formatUnicode):
		e.ContentKind = "text"
	case has(formatBitmap), has(formatDIB), has(formatDIBV5):
		e.ContentKind = "image"
	default:
		e.ContentKind = "other"
	}
	switch {
	case concealed(window):
		e.Hidden = "secret"
	case c.content && e.ContentKind == "text":
		e.Text, _ = read(window, formatUnicode, func(p unsafe.Pointer, size int) string {
			n := min(size/2, maxClip/2)
			text := windows.UTF16ToString(unsafe.Slice((*uint16)(p), n))
			end := min(len(text), maxClip)
			for end < len(text) && !utf8.RuneStart(text[end]) {
				end--
			}
			return text[:end]
		})
	}
	return e
}

func has(format uintptr) bool {
	yes, _, _ := procFormatAvailable.Call(format)
	return yes != 0
}

func format(name string) uintptr {
	p, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return 0
	}
	f, _, _ := procRegisterFormat.Call(uintptr(unsafe.Pointer(p)))
	return f
}

// concealed says whether the content is marked as not to be kept: by Windows' own two formats for that, or the older
// one of the first clipboard managers.
func concealed(window uintptr) bool {
	if has(format("ExcludeClipboardContentFromMonitorProcessing")) || has(format("Clipboard Viewer Ignore")) {
		return true
	}
	history := format("CanIncludeInClipboardHistory")
	if !has(history) {
		return false
	}
	may, ok := read(window, history, func(p unsafe.Pointer, size int) bool { return size >= 4 && *(*uint32)(p) != 0 })
	return !ok || !may
}

// read takes one format out of the clipboard. Another program may have it open for a moment.
func read[T any](window, format uintptr, take func(p unsafe.Pointer, size int) T) (result T, ok bool) {
	for try := range 10 {
		if opened, _, _ := procOpenClipboard.Call(window); opened != 0 {
			break
		}
		if try == 9 {
			return result, false
		}
		time.Sleep(5 * time.Millisecond)
	}
	defer func() { _, _, _ = procCloseClipboard.Call() }()
	data, _, _ := procGetClipboardData.Call(format)
	if data == 0 {
		return result, false
	}
	size, _, _ := procGlobalSize.Call(data)
	p, _, _ := procGlobalLock.Call(data)
	if p == 0 {
		return result, false
	}
	defer func() { _, _, _ = procGlobalUnlock.Call(data) }()
	return take(*(*unsafe.Pointer)(unsafe.Pointer(&p)), int(size)), true
}
