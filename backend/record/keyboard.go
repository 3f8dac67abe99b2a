package record

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"deskbell/backend/human"
)

// A keyboard takes keys: it hides which made text, and leaves out those that are for the recorder. Only the loop uses it.
type keyboard struct {
	system      string // see Deps
	loop        *loop
	status      *status
	writer      *writer
	typing      *typing
	screenshots *screenshots

	own     []Chord
	ownDown map[string]bool // of these, those that are down
	named   map[string]bool // keys that are down and may be shown by name
}

// isOwn says whether a key is pressed or released for the recorder itself.
func (k *keyboard) isOwn(e human.RecordedEvent) bool {
	name := strings.ToLower(e.Key)
	if e.Type == human.KeyUp {
		held := k.ownDown[name]
		delete(k.ownDown, name)
		return held
	}
	is := slices.ContainsFunc(k.own, func(c Chord) bool {
		return strings.EqualFold(c.Key, e.Key) && slices.Equal(c.Modifiers, e.Modifiers)
	})
	if is {
		k.ownDown[name] = true
	}
	return is
}

// up takes a key that was released.
func (k *keyboard) up(e human.RecordedEvent) {
	e.Text = ""
	if name := strings.ToLower(e.Key); k.named[name] {
		delete(k.named, name)
	} else {
		e.Key, e.Modifiers = "", nil
	}
	k.writer.add(e)
}

// down takes a key that was pressed.
func (k *keyboard) down(e human.RecordedEvent) {
	k.status.rec.Counts.Keys++
	if text, makes := textOf(e, k.system); makes {
		e.Key, e.Text, e.Modifiers = "", "", nil
		// A key may come up under another name than it went down with.
		for name := range k.named {
			if utf8.RuneCountInString(name) == 1 {
				delete(k.named, name)
			}
		}
		k.typing.typed(k.writer.add(e), e.At, text)
		return
	}
	if e.Text = ""; e.Key == "" {
		e.Key = "Unidentified" // a shortcut of a key without a name; none at all would say that it made text
	}
	k.named[strings.ToLower(e.Key)] = true
	switch {
	case modifierKeys[e.Key]:
		k.writer.add(e)
	case e.Key == "Backspace" && !command(e.Modifiers, k.system):
		k.typing.erased(k.writer.add(e), e.At)
	case e.Key == "Enter" && len(e.Modifiers) == 0:
		k.typing.close(byEnter)
		k.pressed(e)
	default:
		k.typing.close(byPerson)
		k.pressed(e)
	}
}

// pressed stores a key that makes no text, and has pictures taken of what it does.
func (k *keyboard) pressed(e human.RecordedEvent) {
	seq := k.writer.add(e)
	if acts(e) && !e.Repeat && k.loop.now()-k.screenshots.last >= apart {
		k.screenshots.before(seq, e.At)
	}
	k.screenshots.wish("after", "key", seq, afterTyping)
}

// acts says whether a key is one that makes something happen, and does not only move within a field.
func acts(e human.RecordedEvent) bool {
	if e.Key == "Enter" || e.Key == "Escape" || len(e.Key) > 1 && e.Key[0] == 'F' && e.Key[1] >= '0' && e.Key[1] <= '9' {
		return true
	}
	return slices.ContainsFunc(e.Modifiers, func(m string) bool { return m != "shift" })
}

// modifierKeys neither end typing nor do anything alone.
var modifierKeys = map[string]bool{
	"Shift": true, "Control": true, "Alt": true, "AltGraph": true, "Meta": true, "CapsLock": true, "NumLock": true,
	"ScrollLock": true, "Fn": true, "FnLock": true, "Hyper": true, "Super": true, "Symbol": true, "SymbolLock": true,
}

// command says whether modifiers make a shortcut of a key that else makes text. AltGr, which makes text, is
// Ctrl+Alt on Windows and Alt (Option) on macOS, and none of these elsewhere.
func command(modifiers []string, system string) bool {
	ctrl, alt, meta := slices.Contains(modifiers, "ctrl"), slices.Contains(modifiers, "alt"), slices.Contains(modifiers, "meta")
	switch {
	case strings.HasPrefix(system, "windows"):
		return meta || ctrl != alt
	case strings.HasPrefix(system, "macos"):
		return ctrl || meta
	}
	return ctrl || alt || meta
}

// textOf says whether a key that went down makes text, and which, as far as that is known. In doubt it does:
// what makes text is stored without its name.
func textOf(e human.RecordedEvent, system string) (text string, makes bool) {
	text = e.Text
	if text == "" && utf8.RuneCountInString(e.Key) == 1 {
		text = e.Key
	}
	if strings.ContainsFunc(text, unicode.IsControl) {
		text = "" // Enter, Tab, Escape, Backspace, and Ctrl with a letter
	}
	if command(e.Modifiers, system) {
		// Alt and digits of the number pad make a character on Windows.
		digits := strings.HasPrefix(system, "windows") && slices.Equal(e.Modifiers, []string{"alt"}) && text != "" && strings.Trim(text, "0123456789") == ""
		return "", digits
	}
	if text != "" {
		return text, true
	}
	return "", composing[e.Key] || !isName(e.Key)
}

// composing keys are on the way to a text, which is not always known.
var composing = map[string]bool{"Dead": true, "Compose": true, "Process": true}

// isName says whether a key has a name of UI Events: Enter, ArrowLeft, F5.
func isName(key string) bool {
	if len(key) < 2 || key[0] < 'A' || key[0] > 'Z' {
		return false
	}
	return !strings.ContainsFunc(key, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
}
