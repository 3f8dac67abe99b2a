package input

import "github.com/jezek/xgb/xproto"

// Held are the buttons and modifiers that the display says are held, locks left out.
func (p *Player) Held() (uint16, error) {
	h := p.hand.(*xhand)
	at, err := xproto.QueryPointer(h.conn, h.root).Reply()
	if err != nil {
		return 0, err
	}
	return at.Mask & (xproto.KeyButMaskShift | xproto.KeyButMaskControl | xproto.KeyButMaskMod1 | xproto.KeyButMaskMod4 |
		xproto.KeyButMaskButton1 | xproto.KeyButMaskButton2 | xproto.KeyButMaskButton3), nil
}

// Tap presses and releases a key by its code.
func (p *Player) Tap(code byte) {
	p.hand.(*xhand).typist.tap(&keymap{per: 1}, slot{code: xproto.Keycode(code)})
}
