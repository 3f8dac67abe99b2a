package screens

import (
	"os"

	"deskbell/backend/human"
)

// hindered says what stands in the way of pictures.
func hindered(state *human.SourceState) {
	if os.Getenv("WAYLAND_DISPLAY") == "" && os.Getenv("XDG_SESSION_TYPE") != "wayland" {
		return
	}
	state.Status, state.Code = "partial", "wayland"
	state.Detail = "This is a Wayland session: pictures are asked of the desktop portal, which may ask you each time."
	state.Fix = "Log out, choose a session \"on Xorg\" (X11) on the log-in screen, and log in again."
}
