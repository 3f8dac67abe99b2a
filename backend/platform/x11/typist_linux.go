package x11

import (
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// process is the W3C key value of a key that an input method takes: what it makes cannot be known here.
const process = "Process"

// A typist knows what keys make: names, and text as an application would get it from Xlib.
type typist struct {
	combining []rune // of dead keys that wait for their letter
	alone     rune   // the last of them, when the space bar follows
	unknown   int    // keys to come that belong to a sequence we do not know
	down      map[byte]stroke
}

// A stroke is what pressing a key made.
type stroke struct{ key, text string }

// press is what a key makes that is pressed, or repeats, at an event's state.
func (t *typist) press(m *keymap, code byte, state uint16) stroke {
	s := t.make(m, code, state)
	if t.down == nil {
		t.down = map[byte]stroke{}
	}
	t.down[code] = s
	return s
}

// release is what the key made when it was pressed. The name of one that was held before we listened may
// be that of a character, which would tell of it: it is kept back.
func (t *typist) release(m *keymap, code byte, state uint16) stroke {
	s, ok := t.down[code]
	delete(t.down, code)
	if ok {
		return s
	}
	g, _ := m.keys[code].group(state)
	sym := m.sym(code, g, state)
	if _, isText := runeOf(sym); isText {
		return stroke{key: process}
	}
	return stroke{key: keyName(sym)}
}

func (t *typist) make(m *keymap, code byte, state uint16) stroke {
	g, ok := m.keys[code].group(state)
	if !ok {
		return stroke{key: "Unidentified"}
	}
	sym := m.sym(code, g, state)
	r, isText := runeOf(sym)
	switch {
	case m.command(state):
		t.forget()
		return stroke{key: commandKey(m, code, g, state, sym)}
	case sym == symMultiKey:
		t.forget()
		t.unknown = 2 // most sequences have two keys
		return stroke{key: keyName(sym)}
	case !isText:
		if d, ok := dead[sym]; ok && t.unknown == 0 {
			return t.dead(d.combining, d.alone)
		}
		name := keyName(sym)
		if name == "Dead" {
			t.forget()
			t.unknown = 1
		} else if !isModifier(name) {
			t.forget()
		}
		return stroke{key: name}
	case t.unknown > 0:
		t.unknown--
		return stroke{key: process}
	case len(t.combining) > 0:
		return t.compose(r)
	}
	return stroke{key: string(r), text: string(r)}
}

// dead puts an accent in store. The same one twice stands for itself, as far as it has a shape of its own.
func (t *typist) dead(combining, alone rune) stroke {
	if len(t.combining) == 1 && t.combining[0] == combining {
		t.forget()
		if alone == 0 {
			return stroke{key: process}
		}
		// Xlib and GTK give the accent's own character here, not the one on the space bar.
		if spacing, ok := spacing[combining]; ok {
			alone = spacing
		}
		return stroke{key: string(alone), text: string(alone)}
	}
	t.combining, t.alone = append(t.combining, combining), alone
	return stroke{key: "Dead"}
}

// spacing are the accents whose own character is not what dead key and space bar make.
var spacing = map[rune]rune{'\u0301': '´', '\u0308': '¨'}

// compose puts the accents in store on a character. Applications differ in what they make of a pair that
// Unicode has no character for; then no text is better than a wrong one.
func (t *typist) compose(r rune) stroke {
	accents, alone := t.combining, t.alone
	t.forget()
	if r == ' ' || r == '\u00a0' {
		if len(accents) == 1 && alone != 0 {
			return stroke{key: string(alone), text: string(alone)}
		}
		return stroke{key: process}
	}
	// The accent pressed last is the innermost.
	marked := []rune{r}
	for i := len(accents) - 1; i >= 0; i-- {
		marked = append(marked, accents[i])
	}
	text := norm.NFC.String(string(marked))
	if utf8.RuneCountInString(text) != 1 {
		return stroke{key: process}
	}
	return stroke{key: text, text: text}
}

func (t *typist) forget() { t.combining, t.alone, t.unknown = nil, 0, 0 }

func isModifier(name string) bool {
	switch name {
	case "Shift", "Control", "Alt", "AltGraph", "Meta", "Hyper", "CapsLock", "NumLock", "ModeChange":
		return true
	}
	return false
}

// commandKey names a key pressed with ctrl, alt or meta. In a layout without Latin letters applications
// take the letter that another group has on the key: so do we, or a copy would not be known for one.
func commandKey(m *keymap, code byte, group int, state uint16, sym uint32) string {
	r, ok := runeOf(sym)
	if !ok {
		return keyName(sym)
	}
	if r < 0x80 {
		return string(r)
	}
	for g := range int(m.keys[code].groups) {
		if latin, ok := runeOf(m.sym(code, g, state)); ok && g != group && latin < 0x80 {
			return string(latin)
		}
	}
	return string(r)
}
