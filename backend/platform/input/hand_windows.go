package input

import (
	"strconv"

	"github.com/go-vgo/robotgo/win"
	"golang.org/x/sys/windows"

	"deskbell/backend/human"
)

// whand acts through robotgo's backend for Windows, in pure Go. Texts go as Unicode, whatever the layout.
type whand struct{}

var (
	user32              = windows.NewLazySystemDLL("user32.dll")
	getForegroundWindow = user32.NewProc("GetForegroundWindow")
	setForegroundWindow = user32.NewProc("SetForegroundWindow")
	getAsyncKeyState    = user32.NewProc("GetAsyncKeyState")
)

func newHand() (hand, error) {
	h := whand{}
	h.escape() // what was pressed before does not count
	return h, nil
}

func (whand) close() error { return nil }

func (whand) move(x, y int) error {
	win.Move(x, y)
	return nil
}

func (whand) location() (int, int, error) {
	x, y := win.Location()
	return x, y, nil
}

func (whand) button(n int, down bool) error { return toggle(win.Toggle, n, down) }

func (whand) wheel(dx, dy int) error {
	win.Scroll(-dx, -dy, 0)
	return nil
}

func (whand) toggle(key string, down bool) error {
	if down {
		return win.KeyToggle(key, "down")
	}
	return win.KeyToggle(key, "up")
}

func (whand) tap(key string, _ []string) error { return win.KeyTap(key) }

func (whand) text(text string) error {
	win.Type(text)
	return nil
}

func (whand) active() (string, error) {
	w, _, _ := getForegroundWindow.Call()
	if w == 0 {
		return "none", nil
	}
	return strconv.FormatUint(uint64(w), 10), nil
}

func (whand) activate(id, _ string) error {
	w, err := strconv.ParseUint(id, 0, 64)
	if err != nil {
		return err
	}
	if ok, _, _ := setForegroundWindow.Call(uintptr(w)); ok == 0 {
		return human.Errorf(human.Unavailable, "Windows does not let Deskbell bring that window to the front; click on it, and play the rest")
	}
	return nil
}

// escape asks for the key's state: down now (bit 15), or pressed since it was asked last (bit 0).
func (whand) escape() bool {
	const escape = 0x1B
	state, _, _ := getAsyncKeyState.Call(escape)
	return state&0x8001 != 0
}
