//go:build !windows && (!linux || !cgo)

package window

// NewWindow returns a Window that can do none of it: on macOS, and in a build without cgo, the caller
// uses what Wails offers (a popup there takes the keyboard, because Wails has no other way to show one).
func NewWindow() Window { return plainWindow{} }

type plainWindow struct{}

func (plainWindow) Prepare(bool) error             { return nil }
func (plainWindow) Adopt(func(Hotkey, bool)) error { return nil }
func (plainWindow) Abilities() Abilities           { return Abilities{} }
func (plainWindow) Screen() (Screen, error)        { return Screen{}, ErrUnsupported }
func (plainWindow) ShowPopup(Popup) error          { return ErrUnsupported }
func (plainWindow) ShowConsole(Console) error      { return ErrUnsupported }
func (plainWindow) Monitors() ([]Rect, error)      { return nil, ErrUnsupported }
func (plainWindow) Place() (Place, error)          { return Place{}, ErrUnsupported }
func (plainWindow) SetPlace(Place) error           { return ErrUnsupported }
func (plainWindow) Hide() error                    { return ErrUnsupported }
func (plainWindow) Focus() error                   { return ErrUnsupported }
func (plainWindow) Close()                         {}
