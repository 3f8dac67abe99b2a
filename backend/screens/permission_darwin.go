package screens

// #cgo LDFLAGS: -framework CoreGraphics
// #include <CoreGraphics/CoreGraphics.h>
import "C"

import "deskbell/backend/human"

// permitted says whether the operator lets this program see other programs' windows. Without, pictures show
// the desktop's background and nothing else.
func permitted(state human.SourceState) human.SourceState {
	if !bool(C.CGPreflightScreenCaptureAccess()) {
		state.Status, state.Code = "missing", "no_permission"
		state.Detail = "macOS does not let Deskbell see the screen."
		state.Fix = "Allow it in System Settings, Privacy & Security, Screen & System Audio Recording, then start Deskbell again."
	}
	return state
}
