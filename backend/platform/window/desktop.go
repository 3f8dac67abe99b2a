// Package window does to the window and the session around it what Wails cannot: a popup that stands at
// a corner without taking the keyboard, a key that brings the keyboard to it, a tray icon with a count,
// and notifications that tell a dismissal from a click. It knows nothing of operations and does
// not import Wails; each operating system has files of its own behind the same few names.
package window

import "errors"

// ErrUnsupported says that this operating system, or this session, cannot do what was asked. The caller
// falls back to what it has; nothing has changed.
var ErrUnsupported = errors.New("desktop: not supported by this system")

// ErrNoKeys says that a popup cannot have the keyboard in this session.
var ErrNoKeys = errors.New("desktop: a popup gets no keyboard in this session")

// A Rect is a part of the desktop in logical pixels (physical pixels divided by the monitor's scale on
// Linux and macOS, physical pixels on Windows), with the origin of the whole desktop.
type Rect struct {
	X, Y, W, H int
}

// A Screen is one monitor: the part of it that panels leave free, and how many units of a
// Rect one CSS pixel is (1 where those are logical pixels; the scale of the monitor on Windows).
type Screen struct {
	Work Rect
	Unit float64
}

// Abilities says what this session lets a window do, so that the page and `doctor` can be honest about it.
type Abilities struct {
	Place       bool `json:"place"`       // put the popup at a corner of the screen
	KeepAbove   bool `json:"keep_above"`  // keep it above other windows
	NoFocus     bool `json:"no_focus"`    // show it without taking the keyboard
	Hotkey      bool `json:"hotkey"`      // Ctrl Alt B works in every program
	RecordKeys  bool `json:"record_keys"` // and so do Ctrl Alt R and Ctrl Alt Shift R
	Transparent bool `json:"transparent"` // what the page leaves unpainted shows the desktop
}

// A Hotkey is a key that works in every program while Deskbell runs.
type Hotkey int

// The hot keys.
const (
	BellKey    Hotkey = iota // Ctrl Alt B: the keyboard to the window
	RecordKey                // Ctrl Alt R: begin a recording, or pause the one that runs, or go on with it
	StopKey                  // Ctrl Alt Shift R: stop the recording
	Moved                    // no key: the console stands still after it was moved or resized
	Rearranged               // no key: a monitor came, went or changed
)

// A Popup is where a popup shall stand. Pad is the transparent rim around the cards, through which clicks
// fall; it is 0 without transparency.
type Popup struct {
	At  Rect
	Pad int
}

// A Console is the size a console opens with, and the smallest it may have.
type Console struct {
	Width, Height       int
	MinWidth, MinHeight int
}

// Window is the program's one window, made by Wails. All methods may be called from any goroutine but
// the main thread's, block until the window system has been told (not until it has obeyed), and return
// ErrUnsupported where the session cannot do it.
type Window interface {
	// Prepare is called once on the main thread before Wails starts. It fails when there is no display.
	// A window that is to start hidden never appears, not even for one frame.
	Prepare(startHidden bool) error
	// Adopt finds Wails' window, waiting for the main loop to run. When it returns, Wails' check for an
	// earlier instance of the program is over. The callback comes on a goroutine of its own when a hot key
	// was pressed; shown tells whether the window was there, and then BellKey has given it the keyboard.
	Adopt(hotkey func(key Hotkey, shown bool)) error
	Abilities() Abilities
	// Screen is the monitor the pointer is on.
	Screen() (Screen, error)
	// ShowPopup makes the window a bare popup: no frame, in no task bar, on every desktop, above others,
	// and without the keyboard, which stays where it is until Focus. Called again it moves and resizes.
	ShowPopup(Popup) error
	// ShowConsole makes it an ordinary window again, where and how large it last was, with the keyboard.
	ShowConsole(Console) error
	// Monitors are the parts of all monitors that panels leave free.
	Monitors() ([]Rect, error)
	// Place is where the console stands, or last stood; SetPlace is where it stands from now on, or when it is next shown.
	Place() (Place, error)
	SetPlace(Place) error
	Hide() error
	// Focus gives the keyboard to the window. A popup gives it back when it loses it. It returns ErrNoKeys where a popup
	// cannot have it.
	Focus() error
	// Close releases the hot key. The window itself stays Wails'.
	Close()
}

// TopRight is where a popup of w by h goes: at the top right of the work area, margin away from both of
// its edges, and never larger than what is left.
func TopRight(work Rect, w, h, margin int) Rect {
	w = max(1, min(w, work.W-2*margin))
	h = max(1, min(h, work.H-2*margin))
	return Rect{X: work.X + work.W - margin - w, Y: work.Y + margin, W: w, H: h}
}

// Grow returns r made larger by n on every side.
func (r Rect) Grow(n int) Rect {
	return Rect{X: r.X - n, Y: r.Y - n, W: r.W + 2*n, H: r.H + 2*n}
}
