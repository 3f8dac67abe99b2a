//go:build cgo

package window

// #cgo pkg-config: gtk+-3.0 x11 wayland-client
// #cgo LDFLAGS: -ldl
// #cgo CFLAGS: -Wall -Wno-deprecated-declarations
// #include "gtk_linux.h"
import "C"

import (
	"errors"
	"sync/atomic"
)

// NewWindow returns the hands on the program's window; see Window. There is one window in a process.
func NewWindow() Window { return gtkWindow{} }

type gtkWindow struct{}

// onHotkey is global because C calls it, and there is one window.
var onHotkey atomic.Pointer[func(Hotkey, bool)]

//export deskbellHotkey
func deskbellHotkey(key, shown C.int) {
	if f := onHotkey.Load(); f != nil {
		go (*f)(Hotkey(key), shown != 0) // GTK's main thread must not wait for a callback that may ask GTK something
	}
}

func gtkError(result C.int) error {
	switch result {
	case 0:
		return nil
	case -1:
		return errors.New("desktop: there is no window")
	default:
		return errors.New("desktop: the window system does not answer")
	}
}

func (gtkWindow) Prepare(startHidden bool) error {
	hidden := C.int(0)
	if startHidden {
		hidden = 1
	}
	if C.db_prepare(hidden) != 0 {
		return errors.New("desktop: there is no display to open a window on (neither DISPLAY nor WAYLAND_DISPLAY works)")
	}
	return nil
}

func (gtkWindow) Adopt(hotkey func(key Hotkey, shown bool)) error {
	onHotkey.Store(&hotkey)
	return gtkError(C.db_adopt())
}

func (gtkWindow) Abilities() Abilities {
	var a C.db_abilities
	if C.db_able(&a) != 0 {
		return Abilities{}
	}
	return Abilities{
		Place: a.place != 0, KeepAbove: a.keep_above != 0, NoFocus: a.no_focus != 0,
		Hotkey: a.hotkey != 0, RecordKeys: a.record_keys != 0, Transparent: a.transparent != 0,
	}
}

func (gtkWindow) Screen() (Screen, error) {
	var x, y, w, h C.int
	if err := gtkError(C.db_screen(&x, &y, &w, &h)); err != nil {
		return Screen{}, err
	}
	// GTK's pixels are logical, as CSS's are, whatever the monitor's scale.
	return Screen{Work: Rect{int(x), int(y), int(w), int(h)}, Unit: 1}, nil
}

func (gtkWindow) ShowPopup(p Popup) error {
	return gtkError(C.db_popup(C.int(p.At.X), C.int(p.At.Y), C.int(p.At.W), C.int(p.At.H), C.int(p.Pad)))
}

func (gtkWindow) ShowConsole(c Console) error {
	return gtkError(C.db_console(C.int(c.Width), C.int(c.Height), C.int(c.MinWidth), C.int(c.MinHeight)))
}

func (gtkWindow) Monitors() ([]Rect, error) {
	var all []Rect
	for n := range 64 {
		var x, y, w, h C.int
		if err := C.db_monitor(C.int(n), &x, &y, &w, &h); err != 0 {
			if len(all) == 0 {
				return nil, gtkError(err)
			}
			break
		}
		all = append(all, Rect{int(x), int(y), int(w), int(h)})
	}
	return all, nil
}

func (gtkWindow) SetPlace(p Place) error {
	maximized := C.int(0)
	if p.Maximized {
		maximized = 1
	}
	return gtkError(C.db_set_place(C.int(p.X), C.int(p.Y), C.int(p.W), C.int(p.H), maximized))
}

func (gtkWindow) Place() (Place, error) {
	var x, y, w, h, maximized C.int
	err := gtkError(C.db_get_place(&x, &y, &w, &h, &maximized))
	return Place{Rect{int(x), int(y), int(w), int(h)}, maximized != 0}, err
}

func (gtkWindow) Hide() error { return gtkError(C.db_hide()) }

func (gtkWindow) Focus() error {
	result := C.db_focus()
	if result == 2 { // NO_KEYS
		return ErrNoKeys
	}
	return gtkError(result)
}

func (gtkWindow) Close() {
	onHotkey.Store(nil)
	C.db_close()
}
