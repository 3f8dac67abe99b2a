package x11

import (
	"fmt"
	"unicode"
)

// Keysyms with a meaning of their own here.
const (
	unicodeSym = 0x01000000 // and above: Unicode characters

	symAltL, symAltR     = 0xffe9, 0xffea
	symSuperL, symSuperR = 0xffeb, 0xffec
	symMultiKey          = 0xff20
)

// runeOf is the character a keysym stands for (X Window System Protocol, appendix A).
func runeOf(s uint32) (rune, bool) {
	var r rune
	switch {
	case s >= 0x20 && s <= 0x7e, s >= 0xa0 && s <= 0xff:
		r = rune(s)
	case s > unicodeSym && s <= unicodeSym+unicode.MaxRune:
		r = rune(s - unicodeSym)
	case s == 0xff80: // keypad
		r = ' '
	case s >= 0xffaa && s <= 0xffb9:
		r = rune(s - 0xff80)
	case s == 0xffbd:
		r = '='
	default:
		page := legacy[s>>8]
		i := int(s&0xff) - int(page.first)
		if s > 0xffff || i < 0 || i >= len(page.runes) || page.runes[i] == ' ' {
			return 0, false
		}
		r = page.runes[i]
	}
	return r, !unicode.IsControl(r)
}

// keyName is the W3C UI Events key value of a keysym that makes no text; "Unidentified" where it has none.
func keyName(s uint32) string {
	if name, ok := keyNames[s]; ok {
		return name
	}
	switch {
	case s >= 0xffbe && s <= 0xffe0: // F1 to F35
		return fmt.Sprintf("F%d", s-0xffbe+1)
	case s >= 0xff91 && s <= 0xff94: // on the keypad
		return fmt.Sprintf("F%d", s-0xff91+1)
	case s >= 0xfe50 && s <= 0xfe93:
		return "Dead"
	}
	return "Unidentified"
}

var keyNames = map[uint32]string{
	0xff08: "Backspace", 0xff09: "Tab", 0xfe20: "Tab", 0xff89: "Tab", 0xff0b: "Clear", 0xff0d: "Enter", 0xfe34: "Enter", 0xff8d: "Enter",
	0xff13: "Pause", 0xff6b: "Pause", 0xff14: "ScrollLock", 0xff15: "PrintScreen", 0xff61: "PrintScreen", 0xff1b: "Escape", 0xffff: "Delete",
	0xff9f: "Delete", 0xff50: "Home", 0xff95: "Home", 0xff51: "ArrowLeft", 0xff96: "ArrowLeft", 0xff52: "ArrowUp", 0xff97: "ArrowUp",
	0xff53: "ArrowRight", 0xff98: "ArrowRight", 0xff54: "ArrowDown", 0xff99: "ArrowDown", 0xff55: "PageUp", 0xff9a: "PageUp",
	0xff56: "PageDown", 0xff9b: "PageDown", 0xff57: "End", 0xff9c: "End", 0xff58: "Clear", 0xff9d: "Clear", 0xff63: "Insert", 0xff9e: "Insert",
	0xff60: "Select", 0xff62: "Execute", 0xff65: "Undo", 0xff66: "Redo", 0xff67: "ContextMenu", 0xff68: "Find", 0xff69: "Cancel", 0xff6a: "Help",
	0xff7f: "NumLock", 0xffe1: "Shift", 0xffe2: "Shift", 0xffe3: "Control", 0xffe4: "Control", 0xffe5: "CapsLock", 0xffe6: "CapsLock",
	0xffe7: "Meta", 0xffe8: "Meta", symAltL: "Alt", symAltR: "Alt", symSuperL: "Meta", symSuperR: "Meta", 0xffed: "Hyper", 0xffee: "Hyper",
	0xfe03: "AltGraph", 0xfe11: "AltGraph", 0xff7e: "AltGraph", 0xfe08: "ModeChange", 0xfe0a: "ModeChange", 0xfe0c: "ModeChange",
	0xfe0e: "ModeChange", symMultiKey: "Compose", 0xff21: "KanjiMode", 0xff22: "NonConvert", 0xff23: "Convert", 0xff27: "HiraganaKatakana",
	0xff2a: "ZenkakuHankaku", 0xff30: "Eisu", 0xff31: "HangulMode", 0xff34: "HanjaMode", 0xff37: "CodeInput",
	0x1008ff02: "BrightnessUp", 0x1008ff03: "BrightnessDown", 0x1008ff11: "AudioVolumeDown", 0x1008ff12: "AudioVolumeMute",
	0x1008ff13: "AudioVolumeUp", 0x1008ff14: "MediaPlayPause", 0x1008ff15: "MediaStop", 0x1008ff16: "MediaTrackPrevious",
	0x1008ff17: "MediaTrackNext", 0x1008ff18: "BrowserHome", 0x1008ff19: "LaunchMail", 0x1008ff1b: "BrowserSearch",
	0x1008ff1d: "LaunchApplication2", 0x1008ff26: "BrowserBack", 0x1008ff27: "BrowserForward", 0x1008ff29: "BrowserRefresh",
	0x1008ff57: "Copy", 0x1008ff58: "Cut", 0x1008ff6d: "Paste",
}

// dead are the accents that dead keys put on the next letter: as a combining character, and what stands
// alone when the space bar follows. Dead keys that are not here have no combining character.
var dead = map[uint32]struct{ combining, alone rune }{
	0xfe50: {'\u0300', '`'}, 0xfe51: {'\u0301', '\''}, 0xfe52: {'\u0302', '^'}, 0xfe53: {'\u0303', '~'}, 0xfe54: {'\u0304', '¯'},
	0xfe55: {'\u0306', '˘'}, 0xfe56: {'\u0307', '˙'}, 0xfe57: {'\u0308', '"'}, 0xfe58: {'\u030a', '°'}, 0xfe59: {'\u030b', '˝'},
	0xfe5a: {'\u030c', 'ˇ'}, 0xfe5b: {'\u0327', '¸'}, 0xfe5c: {'\u0328', '˛'}, 0xfe5d: {'\u0345', 0}, 0xfe60: {'\u0323', 0},
	0xfe61: {'\u0309', 0}, 0xfe62: {'\u031b', 0}, 0xfe64: {'\u0313', 0}, 0xfe65: {'\u0314', 0}, 0xfe66: {'\u030f', 0},
	0xfe67: {'\u0325', 0}, 0xfe68: {'\u0331', 0}, 0xfe69: {'\u032d', 0}, 0xfe6a: {'\u0330', 0}, 0xfe6b: {'\u032e', 0},
	0xfe6c: {'\u0324', 0}, 0xfe6d: {'\u0311', 0}, 0xfe6e: {'\u0326', 0},
}
