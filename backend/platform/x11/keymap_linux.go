package x11

import (
	"encoding/binary"
	"errors"
	"unicode"
)

// The bits of an event's state.
const (
	shiftBit   = 1 << 0
	lockBit    = 1 << 1
	controlBit = 1 << 2
)

// A keymap is the keyboard's map: what XkbGetMap tells (X Keyboard Extension protocol, 16.4.1). It is not
// changed once it is made.
type keymap struct {
	types []keyType
	keys  [256]keySyms
	alt   byte // the real modifier that is Alt
	meta  byte // the one that is Super, called Meta in web browsers
}

// A keyType says which modifiers choose which level of a key.
type keyType struct {
	mask    byte
	entries []typeEntry
}

type typeEntry struct {
	mods     byte
	level    byte
	preserve byte // modifiers that stay in force though they chose the level
}

// keySyms are the symbols of one key: for each group, width levels.
type keySyms struct {
	types  [4]byte
	groups byte // how many
	beyond byte // what is done about a group that the key does not have
	width  byte
	syms   []uint32
}

var errMap = errors.New("the X server's keyboard map is incomplete")

// parseKeymap reads a reply to the request getMap makes.
func parseKeymap(b []byte) (*keymap, error) {
	if len(b) < 40 {
		return nil, errMap
	}
	m := &keymap{types: make([]keyType, 0, b[15])}
	nTypes, firstKey, nKeys, nMods := int(b[15]), int(b[17]), int(b[20]), int(b[33])
	b = b[40:]
	for range nTypes {
		if len(b) < 8 {
			return nil, errMap
		}
		t := keyType{mask: b[0]}
		n, preserve := int(b[5]), b[6] != 0
		b = b[8:]
		size := 8 * n
		if preserve {
			size += 4 * n
		}
		if len(b) < size {
			return nil, errMap
		}
		for i := range n {
			e := b[8*i:]
			if e[0] == 0 { // not active: it needs a modifier that no key has
				continue
			}
			entry := typeEntry{mods: e[1], level: e[2]}
			if preserve {
				entry.preserve = b[8*n+4*i]
			}
			t.entries = append(t.entries, entry)
		}
		m.types = append(m.types, t)
		b = b[size:]
	}
	for i := range nKeys {
		if len(b) < 8 {
			return nil, errMap
		}
		k := keySyms{types: [4]byte(b[:4]), groups: b[4] & 15, beyond: b[4] >> 4, width: b[5]}
		n := int(binary.LittleEndian.Uint16(b[6:]))
		b = b[8:]
		if len(b) < 4*n {
			return nil, errMap
		}
		for s := range n {
			k.syms = append(k.syms, binary.LittleEndian.Uint32(b[4*s:]))
		}
		b = b[4*n:]
		if firstKey+i < len(m.keys) {
			m.keys[firstKey+i] = k
		}
	}
	if len(b) < 2*nMods {
		return nil, errMap
	}
	for i := range nMods {
		m.modifier(b[2*i], b[2*i+1])
	}
	return m, nil
}

// modifier learns which modifiers are Alt and Meta from the keys that set them.
func (m *keymap) modifier(code, mods byte) {
	for _, s := range m.keys[code].syms {
		switch s {
		case symAltL, symAltR:
			m.alt |= mods
		case symSuperL, symSuperR:
			m.meta |= mods
		}
	}
}

// group is which of a key's groups an event's state chooses; false when the key has none.
func (k keySyms) group(state uint16) (int, bool) {
	g, n := int(state>>13&3), int(k.groups)
	switch {
	case n == 0:
		return 0, false
	case g < n:
		return g, true
	case k.beyond&0xc == 4: // clamp
		return n - 1, true
	case k.beyond&0xc == 8: // redirect
		if to := int(k.beyond & 3); to < n {
			return to, true
		}
		return 0, true
	}
	return g % n, true
}

// sym is the symbol that a key makes in a group at a state; 0 for none.
func (m *keymap) sym(code byte, group int, state uint16) uint32 {
	k := m.keys[code]
	if group >= int(k.groups) || group >= len(k.types) || int(k.types[group]) >= len(m.types) {
		return 0
	}
	t := m.types[k.types[group]]
	level, consumed := 0, t.mask
	for _, e := range t.entries {
		if byte(state)&t.mask == e.mods {
			level, consumed = int(e.level), t.mask&^e.preserve
			break
		}
	}
	i := group*int(k.width) + level
	if level >= int(k.width) || i >= len(k.syms) {
		return 0
	}
	s := k.syms[i]
	// Caps Lock works on all letters whose type does not care about it.
	if state&lockBit != 0 && consumed&lockBit == 0 {
		if r, ok := runeOf(s); ok && unicode.ToUpper(r) != r {
			return unicodeSym | uint32(unicode.ToUpper(r))
		}
	}
	return s
}

// modifiers are those in force in an event's state, as recorded events name them.
func (m *keymap) modifiers(state uint16) []string {
	var names []string
	if state&controlBit != 0 {
		names = append(names, "ctrl")
	}
	if byte(state)&m.alt != 0 {
		names = append(names, "alt")
	}
	if state&shiftBit != 0 {
		names = append(names, "shift")
	}
	if byte(state)&m.meta != 0 {
		names = append(names, "meta")
	}
	return names
}

// command says whether a modifier is held that makes a key a command instead of text.
func (m *keymap) command(state uint16) bool {
	return state&controlBit != 0 || byte(state)&(m.alt|m.meta) != 0
}
