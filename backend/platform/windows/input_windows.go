package windows

import (
	"cmp"
	"context"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/text/unicode/norm"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

var (
	procSetHook         = user32.NewProc("SetWindowsHookExW")
	procUnhook          = user32.NewProc("UnhookWindowsHookEx")
	procNextHook        = user32.NewProc("CallNextHookEx")
	procAsyncKeyState   = user32.NewProc("GetAsyncKeyState")
	procKeyState        = user32.NewProc("GetKeyState")
	procToUnicode       = user32.NewProc("ToUnicodeEx")
	procMapKey          = user32.NewProc("MapVirtualKeyExW")
	procKeyboardLayout  = user32.NewProc("GetKeyboardLayout")
	procLastInput       = user32.NewProc("GetLastInputInfo")
	procGetTickCount    = kernel32.NewProc("GetTickCount")
	procGetModuleHandle = kernel32.NewProc("GetModuleHandleW")
)

const (
	hookKeyboard = 13
	hookMouse    = 14
)

// keyStruct and mouseStruct are KBDLLHOOKSTRUCT and MSLLHOOKSTRUCT.
type keyStruct struct {
	vk, scan, flags, time uint32
	extra                 uintptr
}

type mouseStruct struct {
	at                point
	data, flags, time uint32
	extra             uintptr
}

// listening is the one run that hears the hooks: their callbacks are not told which hook called them.
var listening atomic.Pointer[inputRun]

// The system keeps each callback for ever, so there is one for each kind of hook.
var (
	mouseProc = windows.NewCallback(func(code int32, event uintptr, m *mouseStruct) uintptr {
		if r := listening.Load(); r != nil && code >= 0 {
			r.mouse(uint32(event), m)
		}
		next, _, _ := procNextHook.Call(0, uintptr(code), event, uintptr(unsafe.Pointer(m)))
		return next
	})
	keyProc = windows.NewCallback(func(code int32, event uintptr, k *keyStruct) uintptr {
		if r := listening.Load(); r != nil && code >= 0 {
			r.key(uint32(event), k)
		}
		next, _, _ := procNextHook.Call(0, uintptr(code), event, uintptr(unsafe.Pointer(k)))
		return next
	})
)

// Input is a record.Source of pointer and keys: low-level hooks, which the system calls with every event before
// any program gets it, so that events are stamped as they happen and none is dropped on the way. Input into programs
// with more rights than Deskbell has, and into the secure desktop, does not come.
//
// The text of a key is that of the active window's keyboard layout; a dead key's comes with the key after it, composed.
// Reading them does not disturb them (on Windows 10 1607 and newer). What an input method composes is not known.
type Input struct{ clock record.Clock }

// NewInput makes one.
func NewInput(clock record.Clock) *Input {
	seePixels()
	return &Input{clock: clock}
}

// Check says that all is seen, elevated windows aside.
func (i *Input) Check(context.Context) human.SourceState {
	state := human.SourceState{Source: human.InputSource, Status: "complete"}
	if own, err := integrity(windows.GetCurrentProcessId()); err == nil && own < highIntegrity {
		state.Detail = "What is typed and clicked in programs that run as administrator cannot be seen; the recording has a gap then."
	}
	return state
}

// Run delivers pointer and keys; see record.Source. It returns an Unavailable error when the system does not allow the
// hooks, and Conflict when another Run has them. A hook that the system has removed, as it does when one takes too
// long, is set again, and the gap told.
func (i *Input) Run(ctx context.Context, ready func(), emit func(human.RecordedEvent)) (uint64, error) {
	r := &inputRun{now: monotonic(i.clock), emit: emit, down: map[uint32]pressed{}}
	if !listening.CompareAndSwap(nil, r) {
		return 0, human.Errorf(human.Conflict, "Mouse and keyboard are already being read.")
	}
	defer listening.Store(nil)
	err := loop(ctx, func() error {
		for _, vk := range []uint32{vkLShift, vkRShift, vkLControl, vkRControl, vkLMenu, vkRMenu, vkLWin, vkRWin} {
			if state, _, _ := procAsyncKeyState.Call(uintptr(vk)); state&0x8000 != 0 {
				r.held |= modifierBits[vk]
			}
		}
		if err := r.hook(); err != nil {
			return err
		}
		ready()
		return nil
	}, 1000, r.check, r.unhook)
	return r.seen, err
}

// pressed is what a key was when it went down.
type pressed struct{ key, text string }

// inputRun is one Run's state; only its thread touches it: hooks are called on the thread that set them.
type inputRun struct {
	now    func() int64
	emit   func(human.RecordedEvent)
	hooks  [2]uintptr
	held   uint16
	down   map[uint32]pressed // keys that are down
	dead   rune               // the mark of a dead key that waits for the next
	last   uint32             // tick count of the last event
	lastAt int64
	seen   uint64
}

func (r *inputRun) hook() error {
	module, _, _ := procGetModuleHandle.Call(0)
	for i, h := range []struct{ id, proc uintptr }{{hookMouse, mouseProc}, {hookKeyboard, keyProc}} {
		set, _, err := procSetHook.Call(h.id, h.proc, module, 0)
		if set == 0 {
			r.unhook()
			return human.Wrap(human.Unavailable, err, "Windows does not let Deskbell read mouse and keyboard in this session.")
		}
		r.hooks[i] = set
	}
	tick, _, _ := procGetTickCount.Call()
	r.last, r.lastAt = uint32(tick), r.now()
	return nil
}

func (r *inputRun) unhook() {
	for i, h := range r.hooks {
		if h != 0 {
			_, _, _ = procUnhook.Call(h)
		}
		r.hooks[i] = 0
	}
}

// check sets the hooks again when the system has had input of which they were not told.
func (r *inputRun) check() {
	info := struct{ size, tick uint32 }{size: 8}
	if ok, _, _ := procLastInput.Call(uintptr(unsafe.Pointer(&info))); ok == 0 || int32(info.tick-r.last) < 2000 {
		return
	}
	from := r.lastAt
	r.unhook()
	if r.hook() == nil {
		r.tell(human.RecordedEvent{At: r.now(), Type: human.GapOpened,
			Gap: &human.Gap{From: from, To: r.now(), Source: human.InputSource, Reason: "lost"}})
	}
}

func (r *inputRun) tell(e human.RecordedEvent) {
	e.Source = human.InputSource
	r.seen++
	r.emit(e)
}

// Messages, from winuser.h.
const (
	msgKeyDown, msgKeyUp       = 0x0100, 0x0101
	msgSysKeyDown, msgSysKeyUp = 0x0104, 0x0105
	msgMouseMove               = 0x0200
	msgLeftDown, msgLeftUp     = 0x0201, 0x0202
	msgRightDown, msgRightUp   = 0x0204, 0x0205
	msgMiddleDown, msgMiddleUp = 0x0207, 0x0208
	msgWheel                   = 0x020A
	msgXDown, msgXUp           = 0x020B, 0x020C
	msgHWheel                  = 0x020E
)

func (r *inputRun) mouse(event uint32, m *mouseStruct) {
	e := human.RecordedEvent{At: r.now(), X: int(m.at.x), Y: int(m.at.y)}
	r.last, r.lastAt = m.time, e.At
	// The high word of data is the notches times 120, or which of the buttons at the side.
	const notch = 120
	high := m.data >> 16
	switch event {
	case msgMouseMove:
		e.Type = human.PointerMoved
		r.tell(e)
		return
	case msgLeftDown, msgRightDown, msgMiddleDown, msgXDown:
		e.Type = human.PointerDown
	case msgLeftUp, msgRightUp, msgMiddleUp, msgXUp:
		e.Type = human.PointerUp
	case msgWheel:
		e.Type, e.DeltaY = human.Scrolled, -float64(int16(high))/notch
	case msgHWheel:
		e.Type, e.DeltaX = human.Scrolled, float64(int16(high))/notch
	default:
		return
	}
	switch event {
	case msgLeftDown, msgLeftUp:
		e.Button = 1
	case msgMiddleDown, msgMiddleUp:
		e.Button = 2
	case msgRightDown, msgRightUp:
		e.Button = 3
	case msgXDown, msgXUp:
		e.Button = 7 + int(high)
	}
	e.Modifiers = r.modifiers("")
	r.tell(e)
}

func (r *inputRun) key(event uint32, k *keyStruct) {
	e := human.RecordedEvent{At: r.now(), Type: human.KeyDown}
	r.last, r.lastAt = k.time, e.At
	const altGrControl = 0x21D // the scan code of the Ctrl that the system adds to AltGr, and nobody pressed
	if k.vk == vkLControl && k.scan == altGrControl {
		return
	}
	switch event {
	case msgKeyDown, msgSysKeyDown:
		r.held |= modifierBits[k.vk]
		_, e.Repeat = r.down[k.vk]
		e.Key, e.Text = r.name(k)
		e.Modifiers = r.modifiers(e.Text)
		r.down[k.vk] = pressed{e.Key, e.Text}
	case msgKeyUp, msgSysKeyUp:
		r.held &^= modifierBits[k.vk]
		was, ok := r.down[k.vk]
		if !ok { // it went down before the recording
			was.key = cmp.Or(keyNames[k.vk], "Process")
		}
		delete(r.down, k.vk)
		e.Type, e.Key, e.Text = human.KeyUp, was.key, was.text
		e.Modifiers = r.modifiers(was.text)
	default:
		return
	}
	r.tell(e)
}

// name is a key's W3C value, and the text it makes.
func (r *inputRun) name(k *keyStruct) (key, text string) {
	if name := keyNames[k.vk]; name != "" {
		return name, ""
	}
	if k.vk == vkPacket { // a character that a program sent; no key
		text = string(utf16.Decode([]uint16{uint16(k.scan)}))
		return text, text
	}
	h := windows.GetForegroundWindow()
	thread, _ := windows.GetWindowThreadProcessId(h, nil)
	layout, _, _ := procKeyboardLayout.Call(uintptr(thread))
	const toChar = 2
	base, _, _ := procMapKey.Call(uintptr(k.vk), toChar, layout)
	key = strings.ToLower(string(rune(base & 0xFFFF)))
	altGr := r.held&heldRMenu != 0 || r.held&heldCtrl != 0 && r.held&heldAlt != 0
	if r.held&heldWin != 0 || !altGr && r.held&(heldCtrl|heldAlt) != 0 {
		return key, ""
	}
	var state [256]byte
	if r.held&heldShift != 0 {
		state[vkShift] = 0x80
	}
	if altGr {
		state[vkControl], state[vkMenu] = 0x80, 0x80
	}
	if caps, _, _ := procKeyState.Call(vkCapital); caps&1 != 0 {
		state[vkCapital] = 1
	}
	var chars [8]uint16
	const leaveState = 4 // without it, a dead key's mark would be taken from the operator
	n, _, _ := procToUnicode.Call(uintptr(k.vk), uintptr(k.scan), uintptr(unsafe.Pointer(&state[0])),
		uintptr(unsafe.Pointer(&chars[0])), uintptr(len(chars)), leaveState, layout)
	switch {
	case int32(n) < 0:
		r.dead = rune(chars[0])
		return "Dead", ""
	case int32(n) > 0:
		text = string(utf16.Decode(chars[:int32(n)]))
	}
	if text == "" || !unicode.IsPrint([]rune(text)[0]) {
		return key, ""
	}
	text, r.dead = composed(r.dead, text), 0
	return text, text
}

// marks are the combining characters for the marks of dead keys.
var marks = map[rune]rune{'`': 0x300, '´': 0x301, '\'': 0x301, '^': 0x302, '~': 0x303, '¯': 0x304, '˘': 0x306, '˙': 0x307, '¨': 0x308,
	'"': 0x308, '˚': 0x30A, '°': 0x30A, '˝': 0x30B, 'ˇ': 0x30C, '¸': 0x327, '˛': 0x328}

// composed is what a dead key and the key after it make: one character, or the mark before what does not take it.
func composed(dead rune, text string) string {
	switch {
	case dead == 0:
		return text
	case text == " ":
		return string(dead)
	}
	if mark, ok := marks[dead]; ok {
		if one := norm.NFC.String(text + string(mark)); utf8.RuneCountInString(one) == utf8.RuneCountInString(text) {
			return one
		}
	}
	return string(dead) + text
}

// Virtual keys, from winuser.h.
const (
	vkShift, vkControl, vkMenu = 0x10, 0x11, 0x12
	vkCapital                  = 0x14
	vkLWin, vkRWin             = 0x5B, 0x5C
	vkLShift, vkRShift         = 0xA0, 0xA1
	vkLControl, vkRControl     = 0xA2, 0xA3
	vkLMenu, vkRMenu           = 0xA4, 0xA5
	vkPacket                   = 0xE7
)

const (
	heldLShift = 1 << iota
	heldRShift
	heldLControl
	heldRControl
	heldLMenu
	heldRMenu
	heldLWin
	heldRWin

	heldShift = heldLShift | heldRShift
	heldCtrl  = heldLControl | heldRControl
	heldAlt   = heldLMenu | heldRMenu
	heldWin   = heldLWin | heldRWin
)

var modifierBits = map[uint32]uint16{vkLShift: heldLShift, vkRShift: heldRShift, vkLControl: heldLControl, vkRControl: heldRControl,
	vkLMenu: heldLMenu, vkRMenu: heldRMenu, vkLWin: heldLWin, vkRWin: heldRWin}

// modifiers are those held, without those of AltGr when they made text: they are no command then.
func (r *inputRun) modifiers(text string) []string {
	held := r.held
	if text != "" {
		held &= heldShift
	}
	var names []string
	for _, m := range []struct {
		bits uint16
		name string
	}{{heldCtrl, "ctrl"}, {heldAlt, "alt"}, {heldShift, "shift"}, {heldWin, "meta"}} {
		if held&m.bits != 0 {
			names = append(names, m.name)
		}
	}
	return names
}

// keyNames are the W3C key values of keys that make no text.
var keyNames = map[uint32]string{
	0x08: "Backspace", 0x09: "Tab", 0x0C: "Clear", 0x0D: "Enter", 0x10: "Shift", 0x11: "Control", 0x12: "Alt", 0x13: "Pause",
	0x14: "CapsLock", 0x1B: "Escape", 0x21: "PageUp", 0x22: "PageDown", 0x23: "End", 0x24: "Home", 0x25: "ArrowLeft",
	0x26: "ArrowUp", 0x27: "ArrowRight", 0x28: "ArrowDown", 0x2C: "PrintScreen", 0x2D: "Insert", 0x2E: "Delete",
	0x5B: "Meta", 0x5C: "Meta", 0x5D: "ContextMenu", 0x5F: "Standby",
	0x70: "F1", 0x71: "F2", 0x72: "F3", 0x73: "F4", 0x74: "F5", 0x75: "F6", 0x76: "F7", 0x77: "F8", 0x78: "F9", 0x79: "F10",
	0x7A: "F11", 0x7B: "F12", 0x7C: "F13", 0x7D: "F14", 0x7E: "F15", 0x7F: "F16", 0x80: "F17", 0x81: "F18", 0x82: "F19",
	0x83: "F20", 0x84: "F21", 0x85: "F22", 0x86: "F23", 0x87: "F24", 0x90: "NumLock", 0x91: "ScrollLock",
	0xA0: "Shift", 0xA1: "Shift", 0xA2: "Control", 0xA3: "Control", 0xA4: "Alt", 0xA5: "AltGraph",
	0xA6: "BrowserBack", 0xA7: "BrowserForward", 0xA8: "BrowserRefresh", 0xA9: "BrowserStop", 0xAA: "BrowserSearch",
	0xAB: "BrowserFavorites", 0xAC: "BrowserHome", 0xAD: "AudioVolumeMute", 0xAE: "AudioVolumeDown", 0xAF: "AudioVolumeUp",
	0xB0: "MediaTrackNext", 0xB1: "MediaTrackPrevious", 0xB2: "MediaStop", 0xB3: "MediaPlayPause", 0xE5: "Process",
}
