package input

import (
	"github.com/go-vgo/robotgo/darwin"
)

// mhand acts through robotgo's backend for macOS, which needs no C compiler. macOS asks the person once
// whether Deskbell may control the machine. While a button is held robotgo's moves are no drags here, which
// some programs do not take for one; Escape cannot be told, so that only the mouse stops a replay.
type mhand struct{}

func newHand() (hand, error) { return mhand{}, nil }

func (mhand) close() error { return nil }

func (mhand) move(x, y int) error {
	darwin.Move(x, y)
	return nil
}

func (mhand) location() (int, int, error) {
	x, y := darwin.Location()
	return x, y, nil
}

func (mhand) button(n int, down bool) error { return toggle(darwin.Toggle, n, down) }

func (mhand) wheel(dx, dy int) error {
	darwin.Scroll(-dx, -dy, 0)
	return nil
}

func (mhand) toggle(key string, down bool) error {
	if down {
		return darwin.KeyToggle(key, "down")
	}
	return darwin.KeyToggle(key, "up")
}

// tap names the modifiers again: an event of macOS carries them itself.
func (mhand) tap(key string, held []string) error { return darwin.KeyTap(key, held) }

func (mhand) text(text string) error {
	darwin.Type(text)
	return nil
}

func (mhand) active() (string, error) { return "", nil }

func (mhand) activate(_, title string) error { return darwin.ActiveName(title) }

func (mhand) escape() bool { return false }
