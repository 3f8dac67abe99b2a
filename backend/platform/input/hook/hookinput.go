//go:build windows || darwin || hooktest

package hook

import (
	"cmp"
	"context"
	"runtime"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	hook "github.com/robotn/gohook"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

const (
	pollEvery = 10 // ms
	startsIn  = 5 * time.Second
	textIn    = 50 * time.Millisecond // how long after a key its text may come
)

// The library is one for the process, and so is what listens to it.
var library struct {
	sync.Mutex
	started bool
	enabled chan struct{} // closed when it delivers
	listen  func(hook.Event)
}

// A Source is a record.Source of pointer and keys.
type Source struct{ clock record.Clock }

// New makes a source. The hook is set at the first Run, and stays.
func New(clock record.Clock) *Source { return &Source{clock: clock} }

// Check says what holds on every system. Whether the system lets a hook be set (macOS wants the operator's
// permission) is asked of the system elsewhere.
func (s *Source) Check(context.Context) human.SourceState {
	return human.SourceState{Source: human.InputSource, Status: "partial", Code: "lost",
		Detail: "Pointer and keys are read every 10 ms; when more than 1,024 events come in between, some are lost unseen."}
}

// Run delivers what the library tells; see record.Source. It returns an Unavailable error when the hook cannot be
// set. A second Run at the same time gets a Conflict error.
func (s *Source) Run(ctx context.Context, ready func(), emit func(human.RecordedEvent)) (uint64, error) {
	if ctx.Err() != nil {
		return 0, nil
	}
	t := translator{now: func() int64 { _, mono := s.clock(); return mono }, emit: emit, down: map[uint16]pressed{}}
	events := make(chan hook.Event, 4096)
	if err := attach(ctx, func(e hook.Event) {
		select {
		case events <- e:
		case <-ctx.Done():
		}
	}); err != nil {
		return 0, err
	}
	defer detach()
	if ctx.Err() != nil {
		return 0, nil
	}
	ready()
	var late <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			t.flush()
			return t.seen, nil
		case e := <-events:
			t.take(e)
			if late = nil; t.pending != nil {
				late = time.After(textIn)
			}
		case <-late:
			t.flush()
			late = nil
		}
	}
}

func attach(ctx context.Context, listen func(hook.Event)) error {
	library.Lock()
	if library.listen != nil {
		library.Unlock()
		return human.Errorf(human.Conflict, "Mouse and keyboard are already being read.")
	}
	library.listen = listen
	if !library.started {
		library.started = true
		library.enabled = make(chan struct{})
		go deliver(hook.Start(pollEvery))
	}
	enabled := library.enabled
	library.Unlock()
	select {
	case <-enabled:
		return nil
	case <-ctx.Done():
		return nil
	case <-time.After(startsIn):
		detach()
		return human.Errorf(human.Unavailable, "The system does not let Deskbell read mouse and keyboard. Grant Deskbell that permission and restart it.")
	}
}

func detach() {
	library.Lock()
	defer library.Unlock()
	library.listen = nil
}

// deliver reads the library for as long as the process lives: a full channel would hold it up.
func deliver(events <-chan hook.Event) {
	for e := range events {
		library.Lock()
		listen := library.listen
		if e.Kind == hook.HookEnabled {
			select {
			case <-library.enabled:
			default:
				close(library.enabled)
			}
		}
		library.Unlock()
		if listen != nil {
			listen(e)
		}
	}
}

// pressed is what a key was when it went down.
type pressed struct{ key, text string }

// A translator makes recorded events of the library's.
type translator struct {
	now     func() int64
	emit    func(human.RecordedEvent)
	down    map[uint16]pressed // keys that are down, by code
	pending *human.RecordedEvent
	code    uint16 // of the pending one
	command bool   // whether it was pressed as a shortcut
	seen    uint64
}

func (t *translator) flush() {
	if t.pending == nil {
		return
	}
	e := *t.pending
	t.pending = nil
	if e.Text == "" && !t.command && utf8.RuneCountInString(e.Key) == 1 {
		e.Key = "Process" // a dead key: what it makes is not known, and not what a plain keyboard has there
	}
	t.down[t.code] = pressed{e.Key, e.Text}
	t.tell(e)
}

func (t *translator) tell(e human.RecordedEvent) {
	t.seen++
	t.emit(e)
}

func (t *translator) take(h hook.Event) {
	if h.Kind == hook.KeyHold { // the text of the key before
		if t.pending != nil && unicode.IsPrint(h.Keychar) && h.Keychar != hook.CharUndefined {
			char := string(h.Keychar)
			t.pending.Key = char
			if !shortcut(h.Mask) {
				t.pending.Text += char
				t.pending.Key = t.pending.Text
				if runtime.GOOS != "darwin" { // those of AltGr made the text; they are no command
					t.pending.Modifiers = modifiers(h.Mask & shiftMask)
				}
			}
		}
		return
	}
	t.flush()
	e := human.RecordedEvent{At: t.now(), Source: human.InputSource, Modifiers: modifiers(h.Mask)}
	switch h.Kind {
	case hook.KeyDown:
		_, held := t.down[h.Keycode]
		e.Type, e.Key, e.Repeat = human.KeyDown, keyNames[h.Keycode], held
		t.pending, t.code, t.command = &e, h.Keycode, shortcut(h.Mask)
	case hook.KeyUp:
		e.Type, e.Key = human.KeyUp, cmp.Or(keyNames[h.Keycode], "Process")
		if was, ok := t.down[h.Keycode]; ok {
			e.Key, e.Text = was.key, was.text
		}
		delete(t.down, h.Keycode)
		t.tell(e)
	case hook.MouseDown, hook.MouseHold:
		e.Type = human.PointerDown
		if h.Kind == hook.MouseHold {
			e.Type = human.PointerUp
		}
		e.X, e.Y, e.Button = int(h.X), int(h.Y), button(h.Button)
		t.tell(e)
	case hook.MouseMove, hook.MouseDrag:
		e.Type, e.Modifiers, e.X, e.Y = human.PointerMoved, nil, int(h.X), int(h.Y)
		t.tell(e)
	case hook.MouseWheel:
		e.Type, e.X, e.Y = human.Scrolled, int(h.X), int(h.Y)
		const horizontal = 4
		if h.Direction == horizontal {
			e.DeltaX = float64(h.Rotation)
		} else {
			e.DeltaY = float64(h.Rotation)
		}
		t.tell(e)
	}
}

// Each modifier has a bit for its left and one for its right key.
const (
	shiftMask = 1<<0 | 1<<4
	ctrlMask  = 1<<1 | 1<<5
	metaMask  = 1<<2 | 1<<6
	altMask   = 1<<3 | 1<<7
	altGrMask = 1 << 7
)

func modifiers(mask uint16) []string {
	var names []string
	for _, m := range []struct {
		mask uint16
		name string
	}{{ctrlMask, "ctrl"}, {altMask, "alt"}, {shiftMask, "shift"}, {metaMask, "meta"}} {
		if mask&m.mask != 0 {
			names = append(names, m.name)
		}
	}
	return names
}

// shortcut says whether a key pressed with these is a command and no text. AltGr, which Windows takes for Ctrl
// and Alt, and Option on macOS make text.
func shortcut(mask uint16) bool {
	switch {
	case mask&metaMask != 0:
		return true
	case runtime.GOOS == "darwin":
		return mask&ctrlMask != 0
	case mask&altGrMask != 0, mask&ctrlMask != 0 && mask&altMask != 0:
		return false
	}
	return mask&(ctrlMask|altMask) != 0
}

// button gives ours (1 left, 2 middle, 3 right, 8 back, 9 forward); the library counts as each system does.
func button(b uint16) int {
	switch {
	case b >= 4:
		return int(b) + 4
	case runtime.GOOS != "linux" && b == 2:
		return 3
	case runtime.GOOS != "linux" && b == 3:
		return 2
	}
	return int(b)
}

// keyNames are the W3C key values of the library's key codes for keys that make no text.
var keyNames = map[uint16]string{
	0x0001: "Escape", 0x000E: "Backspace", 0x000F: "Tab", 0x001C: "Enter", 0x0E1C: "Enter", 0x003A: "CapsLock",
	0x003B: "F1", 0x003C: "F2", 0x003D: "F3", 0x003E: "F4", 0x003F: "F5", 0x0040: "F6", 0x0041: "F7", 0x0042: "F8",
	0x0043: "F9", 0x0044: "F10", 0x0057: "F11", 0x0058: "F12", 0x005B: "F13", 0x005C: "F14", 0x005D: "F15",
	0x0063: "F16", 0x0064: "F17", 0x0065: "F18", 0x0066: "F19", 0x0067: "F20",
	0x0E37: "PrintScreen", 0x0046: "ScrollLock", 0x0E45: "Pause", 0x0045: "NumLock",
	0x0E52: "Insert", 0x0E53: "Delete", 0x0E47: "Home", 0x0E4F: "End", 0x0E49: "PageUp", 0x0E51: "PageDown",
	0xE048: "ArrowUp", 0xE04B: "ArrowLeft", 0xE04D: "ArrowRight", 0xE050: "ArrowDown", 0xE04C: "Clear",
	0xEE4F: "End", 0xEE50: "ArrowDown", 0xEE51: "PageDown", 0xEE4B: "ArrowLeft", 0xEE4D: "ArrowRight",
	0xEE47: "Home", 0xEE48: "ArrowUp", 0xEE49: "PageUp", 0xEE52: "Insert", 0xEE53: "Delete",
	0x002A: "Shift", 0x0036: "Shift", 0x001D: "Control", 0x0E1D: "Control", 0x0038: "Alt", 0x0E38: "Alt",
	0x0E5B: "Meta", 0x0E5C: "Meta", 0x0E5D: "ContextMenu",
	0xE020: "AudioVolumeMute", 0xE030: "AudioVolumeUp", 0xE02E: "AudioVolumeDown",
	0xE022: "MediaPlayPause", 0xE024: "MediaStop", 0xE010: "MediaTrackPrevious", 0xE019: "MediaTrackNext",

	// Keys that make text, for when they are pressed with Ctrl and the library gives no character for them.
	0x0039: " ", 0x0002: "1", 0x0003: "2", 0x0004: "3", 0x0005: "4", 0x0006: "5", 0x0007: "6", 0x0008: "7", 0x0009: "8",
	0x000A: "9", 0x000B: "0", 0x000C: "-", 0x000D: "=", 0x001A: "[", 0x001B: "]", 0x002B: "\\", 0x0027: ";", 0x0028: "'",
	0x0029: "`", 0x0033: ",", 0x0034: ".", 0x0035: "/",
	0x001E: "a", 0x0030: "b", 0x002E: "c", 0x0020: "d", 0x0012: "e", 0x0021: "f", 0x0022: "g", 0x0023: "h", 0x0017: "i",
	0x0024: "j", 0x0025: "k", 0x0026: "l", 0x0032: "m", 0x0031: "n", 0x0018: "o", 0x0019: "p", 0x0010: "q", 0x0013: "r",
	0x001F: "s", 0x0014: "t", 0x0016: "u", 0x002F: "v", 0x0011: "w", 0x002D: "x", 0x0015: "y", 0x002C: "z",
}
