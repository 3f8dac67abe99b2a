// Package input acts in a person's place, through robotgo: it moves the pointer, presses buttons and keys and
// types text, for playing recordings back. What stands on the screen it asks the recorder's own sources.
package input

import (
	"context"
	"errors"
	"fmt"
	"image"
	"strings"
	"sync"

	"deskbell/backend/human"
	"deskbell/backend/record"
	"deskbell/backend/record/replay"
)

// A Player plays on this machine's desktop. It implements replay.Player. There is one pointer and one
// keyboard, so that there should be one Player at a time. Not for concurrent use, but for Interrupted.
type Player struct {
	windows  record.Windows
	elements record.Elements
	hand     hand

	mu      sync.Mutex
	buttons map[int]bool
	keys    []string // modifiers held, in order
	moved   bool
	put     image.Point // where it put the pointer
	reached image.Point // and where the pointer was then
}

var _ replay.Player = (*Player)(nil)

// A hand is one system's pointer and keyboard. Keys have robotgo's names.
type hand interface {
	move(x, y int) error
	location() (x, y int, err error)
	button(n int, down bool) error
	wheel(dx, dy int) error
	toggle(key string, down bool) error
	tap(key string, held []string) error
	text(text string) error
	active() (id string, err error) // "" when the system does not tell
	activate(id, title string) error
	escape() bool // a person presses Escape, or has since it was asked last
	close() error
}

// New makes a Player of the sources that know windows and elements; elements may be nil. It fails with an
// Unavailable error where there is no desktop that can be acted on, such as under Wayland. Close it.
func New(windows record.Windows, elements record.Elements) (*Player, error) {
	if windows == nil {
		return nil, human.Errorf(human.Unavailable, "recordings cannot be played back here: the system does not say which windows are open")
	}
	h, err := newHand()
	if err != nil {
		return nil, err
	}
	return &Player{windows: windows, elements: elements, hand: h, buttons: map[int]bool{}}, nil
}

// Close lets go of what is held and of the desktop.
func (p *Player) Close() error { return errors.Join(p.ReleaseAll(), p.hand.close()) }

// Move puts the pointer at a place of the desktop.
func (p *Player) Move(x, y int) error {
	if err := p.hand.move(x, y); err != nil {
		return failed("move the pointer", err)
	}
	rx, ry, err := p.hand.location()
	if err != nil {
		return failed("move the pointer", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.put, p.reached, p.moved = image.Pt(x, y), image.Pt(rx, ry), true
	return nil
}

// Press holds a button.
func (p *Player) Press(button int) error {
	p.buttons[button] = true
	return failed("press the mouse's button", p.hand.button(button, true))
}

// Release lets it go.
func (p *Player) Release(button int) error {
	err := p.hand.button(button, false)
	if err == nil {
		delete(p.buttons, button)
	}
	return failed("release the mouse's button", err)
}

// Scroll turns the wheel, positive is right and down.
func (p *Player) Scroll(dx, dy int) error {
	if dx == 0 && dy == 0 {
		return nil
	}
	return failed("scroll", p.hand.wheel(dx, dy))
}

// Text types a text.
func (p *Player) Text(text string) error {
	if text == "" {
		return nil
	}
	return failed("type", p.hand.text(text))
}

// Hold presses a modifier.
func (p *Player) Hold(modifier string) error {
	key, ok := modifiers[modifier]
	if !ok {
		return human.Errorf(human.Invalid, "%q is not a modifier key; use ctrl, alt, shift or meta", modifier)
	}
	p.keys = append(p.keys, key)
	return failed("hold "+modifier, p.hand.toggle(key, true))
}

// LetGo releases a modifier.
func (p *Player) LetGo(modifier string) error {
	key := modifiers[modifier]
	err := p.hand.toggle(key, false)
	if err == nil {
		for i := len(p.keys) - 1; i >= 0; i-- {
			if p.keys[i] == key {
				p.keys = append(p.keys[:i], p.keys[i+1:]...)
				break
			}
		}
	}
	return failed("release "+modifier, err)
}

// Key presses and releases a key.
func (p *Player) Key(key string) error {
	name, ok := keyName(key)
	if !ok {
		return human.Errorf(human.Invalid, "the key %q cannot be played on this system", key)
	}
	return failed("press "+key, p.hand.tap(name, p.keys))
}

// ReleaseAll lets go of every button and key it holds.
func (p *Player) ReleaseAll() error {
	var all error
	for b := range p.buttons {
		all = errors.Join(all, p.Release(b))
	}
	for len(p.keys) > 0 {
		key := p.keys[len(p.keys)-1]
		p.keys = p.keys[:len(p.keys)-1]
		all = errors.Join(all, failed("release "+key, p.hand.toggle(key, false)))
	}
	return all
}

// Interrupted says how the person took the desktop back: by moving the mouse, or by Escape.
func (p *Player) Interrupted() string {
	if p.hand.escape() {
		return "Escape was pressed"
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	x, y, err := p.hand.location()
	const tremble = 3
	near := func(at image.Point) bool { return max(x-at.X, at.X-x) <= tremble && max(y-at.Y, at.Y-y) <= tremble }
	// A place outside the screens is never reached. Others may be reached later than the pointer was asked for: after a
	// press it stands still until the window manager has seen that press.
	if err == nil && p.moved && !near(p.put) && !near(p.reached) {
		return "the mouse was moved by hand"
	}
	return ""
}

// Windows are those on the screen, topmost first.
func (p *Player) Windows(ctx context.Context) ([]record.Placed, error) { return p.windows.Visible(ctx) }

// Active is the window that has the keyboard.
func (p *Player) Active(ctx context.Context) (record.Placed, error) {
	all, err := p.windows.Visible(ctx)
	if err != nil {
		return record.Placed{}, err
	}
	id, err := p.hand.active()
	if err != nil {
		return record.Placed{}, failed("ask which window is active", err)
	}
	for _, w := range all {
		if w.Window.ID == id || id == "" {
			return w, nil
		}
	}
	return record.Placed{}, human.Errorf(human.NotFound, "no window on the screen has the keyboard focus")
}

// Activate asks for a window to have the keyboard.
func (p *Player) Activate(_ context.Context, w record.Placed) error {
	return failed("bring the window to the front", p.hand.activate(w.Window.ID, w.Window.Title))
}

// At is the innermost element at a place.
func (p *Player) At(ctx context.Context, x, y int, in record.Placed) (human.Element, error) {
	if p.elements == nil {
		return human.Element{}, human.Errorf(human.Unavailable, "elements cannot be found on this desktop")
	}
	return p.elements.At(ctx, x, y, in)
}

// Focused is the element that has the keyboard.
func (p *Player) Focused(ctx context.Context, in record.Placed) (human.Element, error) {
	if p.elements == nil {
		return human.Element{}, human.Errorf(human.Unavailable, "elements cannot be found on this desktop")
	}
	return p.elements.Focused(ctx, in)
}

func failed(what string, err error) error {
	if err == nil {
		return nil
	}
	var e *human.Error
	if errors.As(err, &e) {
		return err
	}
	return human.Wrap(human.Internal, err, "could not %s on this desktop; the replay cannot continue", what)
}

// modifiers in robotgo's names.
var modifiers = map[string]string{"ctrl": "ctrl", "alt": "alt", "shift": "shift", "meta": "cmd"}

var names = map[string]string{
	"Enter": "enter", "Tab": "tab", "Escape": "escape", "Backspace": "backspace", "Delete": "delete", "Insert": "insert",
	"ArrowLeft": "left", "ArrowRight": "right", "ArrowUp": "up", "ArrowDown": "down", "Home": "home", "End": "end",
	"PageUp": "pageup", "PageDown": "pagedown", "ContextMenu": "menu", "PrintScreen": "print", "CapsLock": "capslock",
	"Meta": "cmd", "Control": "ctrl", "Shift": "shift", "Alt": "alt", " ": "space", "NumLock": "num_lock",
}

// keyName turns a UI Events key value into robotgo's name.
func keyName(key string) (string, bool) {
	if name, ok := names[key]; ok {
		return name, true
	}
	if n := 0; len(key) > 1 && key[0] == 'F' {
		if _, err := fmt.Sscanf(key[1:], "%d", &n); err == nil && n >= 1 && n <= 24 && key == fmt.Sprintf("F%d", n) {
			return strings.ToLower(key), true
		}
	}
	if r := []rune(key); len(r) == 1 && r[0] > ' ' {
		return strings.ToLower(key), true // with Shift held where it was
	}
	return "", false
}
