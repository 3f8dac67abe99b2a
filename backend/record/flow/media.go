package flow

import (
	"fmt"
	"strconv"

	"deskbell/backend/human"
)

// playing is a statement that does to a player what a person did by its controls: m is the player (HTML, 4.8.11). It is "" where that
// is not known.
func (m *move) playing() string {
	if m.Type != human.PlayMedia || len(m.Values) == 0 {
		return ""
	}
	number := 0.0
	if len(m.Values) > 1 {
		number, _ = strconv.ParseFloat(m.Values[1], 64)
	}
	switch m.Values[0] {
	case "play":
		return "m.play();"
	case "pause":
		return "m.pause();"
	case "mute":
		return "m.muted = true;"
	case "unmute":
		return "m.muted = false;"
	case "seek":
		return fmt.Sprintf("m.currentTime = %g;", number)
	case "volume":
		return fmt.Sprintf("m.volume = %g;", min(max(number, 0), 100)/100)
	case "speed":
		return fmt.Sprintf("m.playbackRate = %g;", number)
	case "fullscreen":
		return "m.requestFullscreen();"
	case "window":
		return "document.exitFullscreen();"
	}
	return ""
}

// mediaScript does so as an expression that is true, with how to find the player by CSS.
const mediaScript = `((path) => { %s const m = find(path); if (!m) return false; %s return true; })(%s)`
