package flow

import (
	"slices"
	"strings"
)

// named are the keys without a text that both runners know, by W3C UI Events.
var named = strings.Fields(`Backspace Tab Enter Escape Delete Insert Home End PageUp PageDown ArrowLeft ArrowUp ArrowRight ArrowDown
	F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 F12 CapsLock ContextMenu Pause PrintScreen NumLock ScrollLock Shift Control Alt Meta`)

// pressable says whether a runner can press a key: a named one, or a character of an American keyboard.
func pressable(key string) bool {
	return slices.Contains(named, key) || len(key) == 1 && key[0] >= ' ' && key[0] <= '~'
}
