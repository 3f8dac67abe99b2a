package input

import (
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
	"github.com/jezek/xgb/xtest"

	"deskbell/backend/human"
)

// Symbols of keys (X11/keysymdef.h).
const (
	escapeSym = 0xff1b
	enterSym  = 0xff0d
	tabSym    = 0xff09
	shiftSym  = 0xffe1
)

// A typist types texts. robotgo gives a character that the layout lacks to a spare key and takes it away at
// once, and a program that is a little late then finds nothing on that key: of "Привет" one or two letters
// were lost. Here the spare keys stay as they are until the text has been read. Other characters are typed on
// their own keys, with the layout's first group in force and Caps Lock off meanwhile.
type typist struct {
	conn *xgb.Conn
	root xproto.Window
	xkb  byte // the extension's opcode; 0 without

	lent  map[xproto.Keysym]slot
	order []xproto.Keysym                     // longest lent first
	table map[xproto.Keycode][2]xproto.Keysym // what spare keys make, alone and with Shift
}

// A slot is a key, alone or with Shift.
type slot struct {
	code  xproto.Keycode
	shift bool
}

// How long keys are held, and how long programs are given to read what was typed before a key it was typed
// with is lent anew: they read a key's meaning when they come to it.
const (
	stroke   = 3 * time.Millisecond
	settle   = 50 * time.Millisecond
	read     = 300 * time.Millisecond
	readEach = 20 * time.Millisecond // more for each character
)

func newTypist(conn *xgb.Conn, root xproto.Window) *typist {
	t := &typist{conn: conn, root: root, lent: map[xproto.Keysym]slot{}, table: map[xproto.Keycode][2]xproto.Keysym{}}
	const name = "XKEYBOARD"
	if ext, err := xproto.QueryExtension(conn, uint16(len(name)), name).Reply(); err == nil && ext.Present {
		use := make([]byte, 8) // UseExtension 1.0
		use[0], use[1] = ext.MajorOpcode, 0
		xgb.Put16(use[2:], 2)
		xgb.Put16(use[4:], 1)
		cookie := conn.NewCookie(true, true)
		conn.NewRequest(use, cookie)
		if _, err := cookie.Reply(); err == nil {
			t.xkb = ext.MajorOpcode
		}
	}
	return t
}

// plain puts the layout's first group in force and Caps Lock off, and returns what undoes that.
func (t *typist) plain() (undo func(), err error) {
	state, err := xproto.QueryPointer(t.conn, t.root).Reply()
	if err != nil {
		return nil, err
	}
	group, caps := byte(state.Mask>>13&3), byte(state.Mask&xproto.ModMaskLock)
	if t.xkb == 0 || group == 0 && caps == 0 {
		return func() {}, nil
	}
	t.lock(0, 0)
	return func() { t.lock(group, caps) }, nil
}

// lock sends LatchLockState of the keyboard extension, for the core keyboard.
func (t *typist) lock(group, caps byte) {
	b := make([]byte, 16)
	b[0], b[1] = t.xkb, 5
	xgb.Put16(b[2:], 4)
	xgb.Put16(b[4:], 0x100)
	b[6], b[7] = xproto.ModMaskLock, caps
	b[8], b[9] = 1, group
	t.conn.NewRequest(b, t.conn.NewCookie(false, false))
}

// A keymap is the display's, as its server tells it.
type keymap struct {
	first xproto.Keycode
	per   int
	syms  []xproto.Keysym
}

func (t *typist) keymap() (*keymap, error) {
	setup := xproto.Setup(t.conn)
	reply, err := xproto.GetKeyboardMapping(t.conn, setup.MinKeycode, byte(setup.MaxKeycode-setup.MinKeycode)+1).Reply()
	if err != nil {
		return nil, err
	}
	k := &keymap{setup.MinKeycode, int(reply.KeysymsPerKeycode), reply.Keysyms}
	for code := range t.table { // what is lent is not the layout's
		i := int(code-k.first) * k.per
		clear(k.syms[i : i+k.per])
	}
	return k, nil
}

// find returns the key that makes a symbol in the first group, alone or with Shift.
func (k *keymap) find(sym xproto.Keysym) (code xproto.Keycode, shift, ok bool) {
	for column := range min(2, k.per) {
		for i := column; i < len(k.syms); i += k.per {
			if k.syms[i] == sym {
				return k.first + xproto.Keycode(i/k.per), column == 1, true
			}
		}
	}
	return 0, false, false
}

// empty lists the keys that make nothing.
func (k *keymap) empty() []xproto.Keycode {
	var out []xproto.Keycode
next:
	for i := 0; i+k.per <= len(k.syms); i += k.per {
		for _, s := range k.syms[i : i+k.per] {
			if s != 0 {
				continue next
			}
		}
		out = append(out, k.first+xproto.Keycode(i/k.per))
	}
	return out
}

// symbol is that of a character: itself in Latin 1, else in the range for Unicode.
func symbol(r rune) xproto.Keysym {
	switch {
	case r == '\n' || r == '\r':
		return enterSym
	case r == '\t':
		return tabSym
	case r <= 0xff:
		return xproto.Keysym(r)
	}
	return 0x01000000 | xproto.Keysym(r)
}

// text types a text and returns when it was sent. It blocks for a few ms a character.
func (t *typist) text(text string) error {
	undo, err := t.plain()
	if err != nil {
		return err
	}
	defer undo()
	keys, err := t.keymap()
	if err != nil {
		return err
	}
	for runes := []rune(text); len(runes) > 0; {
		n, err := t.lend(keys, runes)
		if err != nil {
			return err
		}
		for _, r := range runes[:n] {
			at, _ := t.find(keys, symbol(r))
			t.tap(keys, at)
		}
		if err := t.sent(); err != nil {
			return err
		}
		if runes = runes[n:]; len(runes) > 0 {
			time.Sleep(read + time.Duration(n)*readEach)
		}
	}
	return nil
}

// press taps the key of a character without any other: for shortcuts, whose modifiers are held.
func (t *typist) press(r rune) error {
	undo, err := t.plain()
	if err != nil {
		return err
	}
	defer undo()
	keys, err := t.keymap()
	if err != nil {
		return err
	}
	if _, err := t.lend(keys, []rune{r}); err != nil {
		return err
	}
	at, _ := t.find(keys, symbol(r))
	t.tap(keys, slot{code: at.code})
	return t.sent()
}

// sent waits until the server has all that was sent.
func (t *typist) sent() error {
	_, err := xproto.GetInputFocus(t.conn).Reply()
	return err
}

// find returns the key that makes a symbol, the layout's own or a lent one.
func (t *typist) find(keys *keymap, sym xproto.Keysym) (slot, bool) {
	if at, ok := t.lent[sym]; ok {
		return at, true
	}
	code, shift, ok := keys.find(sym)
	return slot{code, shift}, ok
}

// lend gives spare keys to the characters at the beginning of a text that the layout lacks, and returns how
// many characters can be typed then.
func (t *typist) lend(keys *keymap, runes []rune) (n int, err error) {
	free := t.free(keys)
	used := map[xproto.Keysym]bool{}
	given := false
	for ; n < len(runes); n++ {
		sym := symbol(runes[n])
		if _, ok := t.find(keys, sym); !ok {
			var at slot
			switch {
			case len(free) > 0:
				at, free = free[0], free[1:]
			case len(t.order) > 0 && !used[t.order[0]]:
				at = t.lent[t.order[0]]
				delete(t.lent, t.order[0])
				t.order = t.order[1:]
			}
			if at.code == 0 {
				break
			}
			makes := t.table[at.code]
			if at.shift {
				makes[1] = sym
			} else {
				makes[0] = sym
			}
			if err := t.give(at.code, makes); err != nil {
				return 0, err
			}
			t.table[at.code], t.lent[sym], t.order, given = makes, at, append(t.order, sym), true
		}
		used[sym] = true
	}
	if n == 0 {
		return 0, human.Errorf(human.Unavailable, "the keyboard layout has no free key for the character %q", runes[0])
	}
	if given {
		time.Sleep(settle)
	}
	return n, nil
}

// free lists the spare keys' slots that are not lent, those without Shift first.
func (t *typist) free(keys *keymap) []slot {
	taken := map[slot]bool{}
	for _, at := range t.lent {
		taken[at] = true
	}
	var out []slot
	for _, shift := range []bool{false, true} {
		for _, code := range keys.empty() {
			if at := (slot{code, shift}); !taken[at] {
				out = append(out, at)
			}
		}
	}
	return out
}

func (t *typist) give(code xproto.Keycode, makes [2]xproto.Keysym) error {
	return xproto.ChangeKeyboardMappingChecked(t.conn, 1, code, 2, makes[:]).Check()
}

func (t *typist) tap(keys *keymap, at slot) {
	send := func(kind byte, code xproto.Keycode) {
		xtest.FakeInput(t.conn, kind, byte(code), 0, t.root, 0, 0, 0)
	}
	shift, _, _ := keys.find(shiftSym)
	if at.shift {
		send(xproto.KeyPress, shift)
	}
	send(xproto.KeyPress, at.code)
	time.Sleep(stroke)
	send(xproto.KeyRelease, at.code)
	if at.shift {
		send(xproto.KeyRelease, shift)
	}
	time.Sleep(stroke)
}

// restore takes from the spare keys what they were lent, once programs had time to read it.
func (t *typist) restore() error {
	if len(t.table) == 0 {
		return nil
	}
	time.Sleep(read)
	for code := range t.table {
		if err := t.give(code, [2]xproto.Keysym{}); err != nil {
			return err
		}
	}
	clear(t.lent)
	clear(t.table)
	t.order = nil
	return nil
}
